// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <string.h>

#include "calibration.h"
#include "sgx.h"

/* The control loops' settings: m1n1 rust/src/gpu/hw/t8103.rs */
#define PERIOD_MS		8
#define PERIOD_S		(PERIOD_MS / 1000.0f)
#define CLOCK_KHZ		24000
#define CLOCKS_PER_PERIOD	(CLOCK_KHZ * PERIOD_MS)
#define MIN_DUTY_CYCLE		40
#define FAST_DIE0_RELEASE_TEMP	80
#define FAST_DIE0_KI_DT		(200.0f * PERIOD_S)
#define PWR_FILTER_A		(1.0f / 313)
#define PPM_FILTER_MS		100
#define PPM_FILTER_PERIODS	(PPM_FILTER_MS / PERIOD_MS)
#define PPM_FILTER_A		(1.0f / PPM_FILTER_PERIODS)
#define PPM_KI_DT		(91.5f * PERIOD_S)
#define PERF_FILTER_A		(1.0f / 5)
#define PERF_FILTER_A2		(1.0f / 50)
#define AVG_TARGET_FILTER_TC	125
#define AVG_TARGET_FILTER_A	(1.0f / AVG_TARGET_FILTER_TC)
#define AVG_FILTER_MS		1000
#define AVG_FILTER_PERIODS	(AVG_FILTER_MS / PERIOD_MS)
#define AVG_FILTER_A		(1.0f / AVG_FILTER_PERIODS)
#define AVG_POWER_KI_DT		(7.5f * PERIOD_S)
#define ZONE_TARGET		30000
#define ZONE_OFFSET		100
#define ZONE_FILTER_TC		6875
#define ZONE_FILTER_A		(1.0f / ZONE_FILTER_TC)
#define SE_FILTER_TC		9
#define SE_FILTER_1_TC		3
#define SE_FILTER_A		(1.0f / SE_FILTER_TC)
#define SE_FILTER_1_A		(1.0f / SE_FILTER_1_TC)
#define MIN_SRAM_MV		850

/*
 * Performance states. The frequencies are an M1's; voltages differ from chip
 * to chip and are made up. Power is voltage times a weight per state, as in
 * m1n1 src/kboot_gpu.c.
 */
#define PSTATES			7
#define MAX_PSTATE		(PSTATES - 1)
#define MAX_PSTATE_SCALED	(100 * MAX_PSTATE)
#define BASE_PSTATE		1
#define BASE_PSTATE_SCALED	(100 * BASE_PSTATE)
#define MAX_FREQ_MHZ		1278
#define MAX_MV			910
#define MAX_WEIGHT		210
#define MAX_POWER_MW		(MAX_MV * MAX_WEIGHT / 10)

static const struct {
	uint32_t mhz, mv, weight;
} pstates[PSTATES] = {
	{ 0, 400, 0 },
	{ 396, 610, 63 },
	{ 528, 650, 80 },
	{ 720, 700, 108 },
	{ 924, 770, 150 },
	{ 1128, 850, 198 },
	{ MAX_FREQ_MHZ, MAX_MV, MAX_WEIGHT },
};

/* Offsets in hw-cal-b */
#define B_CHIP_ID		0x968
#define B_NUM_FRAGS		0xa5c
#define B_UAT_TTB_BASE		0xa78
#define B_GPU_CORE_ID		0xa80
#define B_GPU_REV_ID		0xa84
#define B_NUM_CORES		0xa88
#define B_FREQUENCIES		0xa90
#define B_VOLTAGES		0xad0
#define B_VOLTAGES_SRAM		0xcd0
#define B_VOLTAGE_CLUSTERS	8
#define B_REL_MAX_POWERS	0xf90
#define B_REL_BOOST_FREQS	0xfd0
#define B_UNK_ARR_0		0x1010

#define CHIP_T8103		0x8103
#define CORE_G13G		11

static void put16(uint8_t *p, uint16_t value)
{
	p[0] = value;
	p[1] = value >> 8;
}

static void put32(uint8_t *p, uint32_t value)
{
	put16(p, value);
	put16(p + 2, value >> 16);
}

static void put64(uint8_t *p, uint64_t value)
{
	put32(p, value);
	put32(p + 4, value >> 32);
}

static void put_float(uint8_t *p, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put32(p, bits);
}

enum kind { KIND_U16, KIND_U32, KIND_U64, KIND_F32 };
enum region { REGION_HW_CAL_A, REGION_HW_CAL_B, REGION_GLOBALS };

static const struct constant {
	enum region region;
	enum kind kind;
	uint32_t offset;
	uint32_t count;
	int64_t integer;
	float real;
} constants[] = {
#define CAL(region, kind, offset, count, value, field) \
	{ REGION_##region, KIND_##kind, offset, count, (int64_t)(value), (value) },
#include "calibration_t8103_13_5.def"
#undef CAL
};

static void put_constant(uint8_t *base, const struct constant *c)
{
	uint8_t *p = base + c->offset;

	for (uint32_t i = 0; i < c->count; i++) {
		switch (c->kind) {
		case KIND_U16:
			put16(p + 2 * i, c->integer);
			break;
		case KIND_U32:
			put32(p + 4 * i, c->integer);
			break;
		case KIND_U64:
			put64(p + 8 * i, c->integer);
			break;
		case KIND_F32:
			put_float(p + 4 * i, c->real);
			break;
		}
	}
}

/* The firmware counts steppings: A0 is 1, A1 is 2, B0 is 3, ... */
static uint32_t revision_id(uint8_t revision)
{
	return (revision >> 4) * 2 + (revision & 1) + 1;
}

static void put_pstate(uint8_t *b, unsigned int i)
{
	uint32_t power = pstates[i].mv * pstates[i].weight / 10;
	uint32_t sram_mv = pstates[i].mv;
	uint32_t boost = 0;

	if (sram_mv < MIN_SRAM_MV)
		sram_mv = MIN_SRAM_MV;
	if (i > BASE_PSTATE)
		boost = (pstates[i].mhz - pstates[BASE_PSTATE].mhz) * 100 /
			(MAX_FREQ_MHZ - pstates[BASE_PSTATE].mhz);

	put32(b + B_FREQUENCIES + 4 * i, pstates[i].mhz);
	put32(b + B_REL_MAX_POWERS + 4 * i, power * 100 / MAX_POWER_MW);
	put32(b + B_REL_BOOST_FREQS + 4 * i, boost);
	for (unsigned int j = 0; j < B_VOLTAGE_CLUSTERS; j++) {
		unsigned int at = 4 * (i * B_VOLTAGE_CLUSTERS + j);

		put32(b + B_VOLTAGES + at, pstates[i].mv);
		put32(b + B_VOLTAGES_SRAM + at, sram_mv);
	}
}

void vagx_calibration_fill(struct vagx_calibration *cal,
			   const struct vagx_gpu_id *id, uint64_t ttbs,
			   bool soft_faults)
{
	uint8_t *const bases[] = {
		[REGION_HW_CAL_A] = cal->hw_cal_a,
		[REGION_HW_CAL_B] = cal->hw_cal_b,
		[REGION_GLOBALS] = cal->globals,
	};
	uint32_t cores = id->cores * id->clusters;
	uint8_t *b = cal->hw_cal_b;

	memset(cal, 0, sizeof(*cal));
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		put_constant(bases[constants[i].region], &constants[i]);

	put32(b + B_CHIP_ID, CHIP_T8103);
	put32(b + B_NUM_FRAGS, cores);
	put64(b + B_UAT_TTB_BASE, ttbs);
	put32(b + B_GPU_CORE_ID, CORE_G13G);
	put32(b + B_GPU_REV_ID, revision_id(id->revision));
	put32(b + B_NUM_CORES, cores);
	for (unsigned int i = 0; i < 16; i++)
		put32(b + B_UNK_ARR_0 + 4 * i, i);
	for (unsigned int i = 0; i < PSTATES; i++)
		put_pstate(b, i);

	put32(cal->globals + VAGX_FAULT_CONTROL,
	      soft_faults ? VAGX_FAULT_CONTROL_SOFT : 0);
}
