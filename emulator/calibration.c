// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Builds the calibration regions hw-cal-a, hw-cal-b and globals. A word is a row of
 * calibration.def, which has its offset in each of three layouts and the formula of its value:
 * over the SoC's figures (soc_figures.c), and over what calibration_derive() makes of them. Tables
 * have a function each, and only their place there. Layouts are those of m1n1 rust/src/gpu/raw.rs,
 * the formulas those of rust/src/gpu/initdata.rs.
 *
 * Depends on nothing but the arguments: any thread, no lock.
 */
#include <string.h>

#include "agx/agx_regs.h"
#include "calibration.h"
#include "soc.h"
#include "soc_figures.h"

/* What all SoCs have in common */
#define PERIOD_MS		8
#define PERIOD_S		(PERIOD_MS / 1000.0f)
#define CLOCK_KHZ		24000
#define CLOCKS_PER_PERIOD	(CLOCK_KHZ * PERIOD_MS)
#define MIN_DUTY_CYCLE		40
#define FAST_DIE0_RELEASE_TEMP	80
#define PERF_FILTER_A		(1.0f / 5)
#define PWR_FILTER_TC		313
#define SE_FILTER_TC		9
#define SE_FILTER_1_TC		3
#define SE_FILTER_A		(1.0f / SE_FILTER_TC)
#define SE_FILTER_1_A		(1.0f / SE_FILTER_1_TC)
#define SRAM_K			1.02f

/* Offsets in tables that are in hw-cal-a and in globals */
#define SHARED1_A4		0xa0
#define SHARED2_28		0x28
#define SHARED2_14		0x4c
#define SHARED2_CURVE_1		0x70
#define SHARED2_CURVE_2		0x2b8
#define SHARED2_508		0x508
#define SHARED3_4		0x4
#define SHARED3_8		0x8
#define SHARED3_TABLE		0xc
#define SHARED3_4C		0x4c
#define CURVE_4			0x4
#define CURVE_T1		0x8
#define CURVE_T2		0x28
#define CURVE_T3		0x48
#define CURVE_LENGTH		16
#define CURVE_T3_ROWS		8
#define CURVE_T3_NONE		0x3ffffff

/* Columns of calibration.def */
enum layout { LAYOUT_12, LAYOUT_13, LAYOUT_13_G14X, LAYOUT_COUNT };

#define NO			UINT32_MAX
#define ALL(offset)		{ offset, offset, offset }
#define AT(...)			{ __VA_ARGS__ }

enum region { REGION_HW_CAL_A, REGION_HW_CAL_B, REGION_GLOBALS, REGION_COUNT };

#define CAL(region, kind, offsets, value, field)
#define PLACE(region, name, offsets, field) PLACE_##name,
enum place {
#include "calibration.def"
	PLACE_COUNT
};
#undef PLACE

#define PLACE(region, name, offsets, field) [PLACE_##name] = { REGION_##region, offsets },
static const struct {
	enum region region;
	uint32_t offset[LAYOUT_COUNT];
} calibration_places[PLACE_COUNT] = {
#include "calibration.def"
};
#undef PLACE
#undef CAL

/* The regions under construction */
struct image {
	enum layout layout;
	uint8_t *region[REGION_COUNT];
};

/* Values that several formulas need, derived from figures and performance states */
struct derived {
	bool before_13, g14x, t81xx;
	uint32_t base_pstate, max_pstate, base_scaled, max_scaled;
	uint32_t max_mw, max_mhz;
	uint32_t revision;
	uint32_t ppm_periods, avg_periods;
	float ppm_filter_a, avg_filter_a, avg_target_filter_a, perf_filter_a2, pwr_filter_a;
	float zone_filter_a;
};

static void calibration_put16(uint8_t *p, uint16_t value)
{
	p[0] = value;
	p[1] = value >> 8;
}

static void calibration_put32(uint8_t *p, uint32_t value)
{
	calibration_put16(p, value);
	calibration_put16(p + 2, value >> 16);
}

static void calibration_put64(uint8_t *p, uint64_t value)
{
	calibration_put32(p, value);
	calibration_put32(p + 4, value >> 32);
}

static void calibration_put_float(uint8_t *p, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	calibration_put32(p, bits);
}

static uint8_t *calibration_word_at(const struct image *image, enum region region,
				    const uint32_t *offsets)
{
	uint32_t offset = offsets[image->layout];

	return offset == NO ? NULL : image->region[region] + offset;
}

/* Where a table goes; NULL if the layout has none */
static uint8_t *calibration_place(const struct image *image, enum place id)
{
	return calibration_word_at(image, calibration_places[id].region,
				   calibration_places[id].offset);
}

static void calibration_put_floats(uint8_t *p, const float *values, unsigned int count)
{
	for (unsigned int i = 0; p && i < count; i++)
		calibration_put_float(p + 4 * i, values[i]);
}

static void calibration_fill_floats(uint8_t *p, float value, unsigned int count)
{
	for (unsigned int i = 0; p && i < count; i++)
		calibration_put_float(p + 4 * i, value);
}

/* The firmware counts steppings: A0 is 1, A1 is 2, B0 is 3, ... On G14X, B1 is B0. */
static uint32_t calibration_revision_id(const struct vagx_gpu_id *id)
{
	uint8_t revision = id->revision;

	if (id->generation == AGX_ID_GENERATION_G14X && revision == 0x11)
		revision = 0x10;
	return (revision >> 4) * 2 + (revision & 1) + 1;
}

static struct derived calibration_derive(const struct vagx_soc *soc, enum fw_abi abi,
					 const struct vagx_soc_figures *f,
					 const struct vagx_power *power)
{
	struct derived d = {
		.before_13 = abi < FW_ABI_13_5,
		.g14x = abi == FW_ABI_13_5_G14X,
		.t81xx = soc->id.variant == AGX_ID_VARIANT_G,
		.base_pstate = power->base,
		.max_pstate = power->count - 1,
		.base_scaled = 100 * power->base,
		.max_scaled = 100 * (power->count - 1),
		.revision = calibration_revision_id(&soc->id),
		.ppm_periods = f->ppm_filter_ms / PERIOD_MS,
		.avg_periods = f->avg_filter_ms / PERIOD_MS,
		.avg_target_filter_a = 1.0f / f->avg_target_filter_tc,
		.perf_filter_a2 = 1.0f / f->perf_filter_tc2,
		.pwr_filter_a = 1.0f / PWR_FILTER_TC,
	};

	d.ppm_filter_a = 1.0f / d.ppm_periods;
	d.avg_filter_a = 1.0f / d.avg_periods;
	if (f->zone.filter_tc)
		d.zone_filter_a = 1.0f / f->zone.filter_tc;
	for (unsigned int i = 0; i < power->count; i++) {
		if (power->mw[i] > d.max_mw)
			d.max_mw = power->mw[i];
		if (power->mhz[i] > d.max_mhz)
			d.max_mhz = power->mhz[i];
	}
	return d;
}

#define PUT_U16	calibration_put16
#define PUT_U32	calibration_put32
#define PUT_U64	calibration_put64
#define PUT_F32	calibration_put_float

#define CAL(region, kind, offsets, value, field) {			\
	static const uint32_t at[LAYOUT_COUNT] = offsets;		\
	uint8_t *word = calibration_word_at(image, REGION_##region, at);		\
									\
	if (word)							\
		PUT_##kind(word, value);				\
}
#define PLACE(region, name, offsets, field)
static void calibration_put_words(const struct image *image, const struct vagx_soc *soc,
				  const struct vagx_soc_figures *f, const struct derived *d,
				  uint64_t ttbs, bool soft_faults)
{
#include "calibration.def"
}
#undef CAL
#undef PLACE

static uint32_t calibration_max_mv(const struct vagx_power *power, unsigned int state)
{
	uint32_t mv = 0;

	for (unsigned int i = 0; i < VAGX_MAX_TABLES; i++) {
		if (power->mv[state][i] > mv)
			mv = power->mv[state][i];
	}
	return mv;
}

/* Writes a flat curve, to which calibration_put_curve_states() adds the performance states */
static void calibration_put_curve(uint8_t *p, uint32_t unk_0, uint32_t unk_4)
{
	calibration_put32(p, unk_0);
	calibration_put32(p + CURVE_4, unk_4);
	for (unsigned int i = 0; i < CURVE_LENGTH; i++) {
		calibration_put16(p + CURVE_T1 + 2 * i, 0xffff);
		calibration_put16(p + CURVE_T2 + 2 * i, 0xf07);
	}
	for (unsigned int i = 0; i < CURVE_T3_ROWS * CURVE_LENGTH; i++)
		calibration_put32(p + CURVE_T3 + 4 * i, CURVE_T3_NONE);
}

static void calibration_put_curve_states(uint8_t *p, const struct vagx_soc_figures *f,
					 const struct vagx_power *power)
{
	static const uint32_t scales[] = { 9, 3209, 10400 };

	for (unsigned int i = 0; i < VAGX_CURVE_POINTS; i++)
		calibration_put16(p + CURVE_T2 + 2 * i, f->curve_t2[i]);
	for (unsigned int i = 0; i < power->count && i < VAGX_CURVE_POINTS; i++) {
		uint64_t product = 1000ULL * power->mhz[i] * calibration_max_mv(power, i);

		if (!f->curve_t3[i])
			continue;
		calibration_put16(p + CURVE_T1 + 2 * i, 1000000000ULL * f->curve_t1 / product);
		for (unsigned int j = 0; j < sizeof(scales) / sizeof(scales[0]); j++)
			calibration_put32(p + CURVE_T3 + 4 * (j * CURVE_LENGTH + i),
					  f->curve_t3[i] * 1000000100ULL * scales[j] /
						  (6 * product));
	}
}

static void calibration_put_shared1(uint8_t *p, const struct vagx_soc_figures *f)
{
	for (unsigned int i = 0; i < 16; i++)
		calibration_put32(p + 4 * i, f->shared1[i]);
	calibration_put32(p + SHARED1_A4, f->shared1_a4);
}

static void calibration_put_shared2(uint8_t *p, const struct vagx_soc_figures *f,
				    const struct vagx_power *power)
{
	for (unsigned int i = 0; i < 10; i++)
		calibration_put32(p + 4 * i, f->shared2[i]);
	memset(p + SHARED2_28, 0xff, 16);
	calibration_put32(p + SHARED2_508, f->shared2_508);
	if (!f->curve_t1)
		return;
	calibration_put32(p + SHARED2_14, 0x6000000);
	calibration_put_curve(p + SHARED2_CURVE_1, 0, 0x20000000);
	calibration_put_curve(p + SHARED2_CURVE_2, 7, 0x80000000);
	calibration_put_curve_states(p + SHARED2_CURVE_2, f, power);
}

static void calibration_put_shared3(uint8_t *p, const struct vagx_soc_figures *f)
{
	if (!f->shared3_8)
		return;
	calibration_put32(p, 1);
	calibration_put32(p + SHARED3_4, 500);
	calibration_put32(p + SHARED3_8, f->shared3_8);
	for (unsigned int i = 0; i < 16; i++)
		calibration_put32(p + SHARED3_TABLE + 4 * i, f->shared3[i]);
	calibration_put32(p + SHARED3_4C, 1);
}

static void calibration_put_shared(const struct image *image, const struct vagx_soc_figures *f,
				   const struct vagx_power *power)
{
	calibration_put_shared1(calibration_place(image, PLACE_A_HWS1), f);
	calibration_put_shared2(calibration_place(image, PLACE_A_HWS2), f, power);
	calibration_put_shared3(calibration_place(image, PLACE_A_HWS3), f);
	calibration_put_shared1(calibration_place(image, PLACE_G_HWS1), f);
	calibration_put_shared2(calibration_place(image, PLACE_G_HWS2), f, power);
	calibration_put_shared3(calibration_place(image, PLACE_G_HWS3), f);
}

/* G14X has the second curve's first table again, halved */
static void calibration_put_unk_hws2(const struct image *image)
{
	const uint8_t *t1 = calibration_place(image, PLACE_A_HWS2) + SHARED2_CURVE_2 + CURVE_T1;
	uint8_t *p = calibration_place(image, PLACE_A_UNK_HWS2);

	for (unsigned int i = 0; i < CURVE_LENGTH; i++) {
		uint16_t value = t1[2 * i] | t1[2 * i + 1] << 8;

		calibration_put16(p + 2 * i, value == 0xffff ? 0 : value / 2);
	}
}

static void calibration_put_coefficients(const struct image *image, const struct vagx_soc *soc,
					 const struct vagx_soc_figures *f)
{
	size_t row = image->layout == LAYOUT_13_G14X ? 16 * 4 : 8 * 4;

	for (unsigned int i = 0; i < soc->id.clusters; i++) {
		calibration_put_floats(calibration_place(image, PLACE_A_COEF_A1) + i * row,
				       f->coef_a[i], VAGX_COEFFICIENTS);
		calibration_put_floats(calibration_place(image, PLACE_A_COEF_A2) + i * row,
				       f->coef_a[i], VAGX_COEFFICIENTS);
		calibration_put_floats(calibration_place(image, PLACE_A_COEF_B1) + i * row,
				       f->coef_b[i], VAGX_COEFFICIENTS);
		calibration_put_floats(calibration_place(image, PLACE_A_COEF_B2) + i * row,
				       f->coef_b[i], VAGX_COEFFICIENTS);
	}
}

static uint32_t calibration_at_least(uint32_t value, uint32_t min)
{
	return value < min ? min : value;
}

static void calibration_put_pstate(const struct image *image, const struct vagx_soc_figures *f,
				   const struct derived *d, const struct vagx_power *power,
				   unsigned int i)
{
	uint32_t base = power->mhz[d->base_pstate];
	uint32_t max = power->mhz[d->max_pstate];
	uint32_t boost = 0;

	if (i > d->base_pstate)
		boost = (power->mhz[i] - base) * 100 / (max - base);
	calibration_put32(calibration_place(image, PLACE_B_FREQUENCIES) + 4 * i, power->mhz[i]);
	calibration_put32(calibration_place(image, PLACE_B_REL_MAX_POWERS) + 4 * i,
			  power->mw[i] * 100ULL / d->max_mw);
	calibration_put32(calibration_place(image, PLACE_B_REL_BOOST_FREQS) + 4 * i, boost);
	for (unsigned int j = 0; j < VAGX_MAX_TABLES; j++) {
		unsigned int at = 4 * (i * VAGX_MAX_TABLES + j);
		uint32_t mv = power->mv[i][j];

		calibration_put32(calibration_place(image, PLACE_B_VOLTAGES) + at, mv);
		calibration_put32(calibration_place(image, PLACE_B_VOLTAGES_SRAM) + at,
				  calibration_at_least(mv, f->min_sram_mv));
	}
}

/* The index of the last state, then clocks, voltages and voltages of memories of @room states */
static void calibration_put_aux(uint8_t *p, const struct vagx_aux_power *aux, uint32_t min_sram_mv,
				unsigned int dies, unsigned int room)
{
	uint8_t *voltages = p + 4 + 4 * room;
	uint8_t *sram = voltages + 4 * room * VAGX_MAX_DIES;

	calibration_put32(p, aux->count - 1);
	for (unsigned int i = 0; i < aux->count && i < room; i++) {
		calibration_put32(p + 4 + 4 * i, aux->mhz[i]);
		for (unsigned int die = 0; die < dies; die++) {
			unsigned int at = 4 * (i * VAGX_MAX_DIES + die);

			calibration_put32(voltages + at, aux->mv[i][die]);
			calibration_put32(sram + at,
					  calibration_at_least(aux->mv[i][die], min_sram_mv));
		}
	}
}

/* The boot loader gives each the other's leakage */
static void calibration_put_aux_leak(const struct image *image, const struct vagx_power *power,
				     unsigned int dies)
{
	calibration_put_floats(calibration_place(image, PLACE_A_CS_LEAK), power->cs.leak, dies);
	calibration_put_floats(calibration_place(image, PLACE_A_CS_LEAK_2), power->cs.leak, dies);
	calibration_put_floats(calibration_place(image, PLACE_A_AFR_LEAK), power->afr.leak, dies);
	calibration_put_floats(calibration_place(image, PLACE_A_AFR_LEAK_2), power->afr.leak, dies);
}

static void calibration_put_power(const struct image *image, const struct vagx_soc *soc,
				  const struct vagx_soc_figures *f, const struct derived *d,
				  const struct vagx_power *power)
{
	unsigned int tables = soc->id.clusters;

	for (unsigned int i = 0; i < power->count; i++)
		calibration_put_pstate(image, f, d, power, i);
	calibration_fill_floats(calibration_place(image, PLACE_A_SRAM_K), SRAM_K, power->count);
	calibration_fill_floats(calibration_place(image, PLACE_B_SRAM_K), SRAM_K, power->count);
	calibration_put_floats(calibration_place(image, PLACE_A_CORE_LEAK), power->core_leak,
			       tables);
	calibration_put_floats(calibration_place(image, PLACE_A_SRAM_LEAK), power->sram_leak,
			       tables);
	if (!f->min_aux_sram_mv)
		return;
	calibration_put_aux(calibration_place(image, PLACE_B_CS), &power->cs, f->min_aux_sram_mv,
			    soc->id.dies, 16);
	calibration_put_aux(calibration_place(image, PLACE_B_AFR), &power->afr, f->min_aux_sram_mv,
			    soc->id.dies, 8);
	calibration_put_aux_leak(image, power, soc->id.dies);
}

/* Writes the tables that have nothing to do with power management */
static void calibration_put_tables(const struct image *image, const struct vagx_soc_figures *f)
{
	uint8_t *numbers = calibration_place(image, PLACE_B_UNK_ARR_0);

	for (unsigned int i = 0; numbers && i < 16; i++)
		calibration_put32(numbers + 4 * i, i);
	memset(calibration_place(image, PLACE_B_UNK_B38), 0xff, 12 * 4);
	calibration_put_floats(calibration_place(image, PLACE_G_UNK_HWS2_4), f->g_hws2_4, 8);
	if (f->g_table)
		memcpy(calibration_place(image, PLACE_G_TABLE), f->g_table, f->g_table_size);
}

static void calibration_set_sizes(struct vagx_calibration *cal, enum layout layout)
{
	static const uint32_t sizes[LAYOUT_COUNT][REGION_COUNT] = {
		[LAYOUT_12] = { 0x3d6c, 0xb6c, 0x11d40 },
		[LAYOUT_13] = { 0x421c, 0x1884, 0x12394 },
		[LAYOUT_13_G14X] = { 0x6c34, 0x1884, 0x1715c },
	};

	cal->hw_cal_a_size = sizes[layout][REGION_HW_CAL_A];
	cal->hw_cal_b_size = sizes[layout][REGION_HW_CAL_B];
	cal->globals_size = sizes[layout][REGION_GLOBALS];
}

void vagx_calibration_fill(struct vagx_calibration *cal, const struct vagx_soc *soc,
			   enum fw_abi abi, const struct vagx_power *power, uint64_t ttbs,
			   bool soft_faults)
{
	const struct vagx_soc_figures *f = vagx_soc_figures(soc);
	struct derived d = calibration_derive(soc, abi, f, power);
	struct image image = {
		.layout = d.before_13 ? LAYOUT_12 : d.g14x ? LAYOUT_13_G14X : LAYOUT_13,
		.region = { cal->hw_cal_a, cal->hw_cal_b, cal->globals },
	};

	memset(cal, 0, sizeof(*cal));
	calibration_set_sizes(cal, image.layout);
	cal->fault_control = calibration_place(&image, PLACE_G_FAULT_CONTROL) - cal->globals;
	calibration_put_words(&image, soc, f, &d, ttbs, soft_faults);
	calibration_put_shared(&image, f, power);
	if (d.g14x)
		calibration_put_unk_hws2(&image);
	calibration_put_coefficients(&image, soc, f);
	calibration_put_power(&image, soc, f, &d, power);
	calibration_put_tables(&image, f);
}

static void calibration_default_aux(struct vagx_aux_power *aux, const struct vagx_soc *soc,
				    uint32_t mhz, float leak)
{
	aux->count = 4;
	for (unsigned int i = 0; i < aux->count; i++) {
		aux->mhz[i] = mhz * (i + 1);
		for (unsigned int die = 0; die < soc->id.dies; die++)
			aux->mv[i][die] = 640 + 70 * i;
	}
	for (unsigned int die = 0; die < soc->id.dies; die++)
		aux->leak[die] = leak;
}

void vagx_power_default(struct vagx_power *power, const struct vagx_soc *soc)
{
	const struct vagx_soc_figures *f = vagx_soc_figures(soc);

	/* State 1 is the base in the one public log that says it, of a MacBook Air with an M1 */
	*power = (struct vagx_power) { .count = f->num_pstates, .base = 1 };
	for (unsigned int i = 0; i < f->num_pstates; i++) {
		const struct vagx_pstate_figures *state = &f->pstates[i];

		power->mhz[i] = state->mhz;
		power->mw[i] = state->mv * state->weight / 10 * soc->id.clusters;
		for (unsigned int j = 0; j < VAGX_MAX_TABLES; j++)
			power->mv[i][j] = state->mv;
	}
	for (unsigned int i = 0; i < soc->id.clusters; i++) {
		power->core_leak[i] = f->core_leak;
		power->sram_leak[i] = f->sram_leak;
	}
	if (f->min_aux_sram_mv) {
		calibration_default_aux(&power->cs, soc, 250, 120.0f);
		calibration_default_aux(&power->afr, soc, 200, 90.0f);
	}
}
