// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The calibration regions of each SoC and firmware. Where VAGX_CALIBRATION names a
 * folder with the boot loader's own regions, in folders as "t8103-13.5", they are
 * made again from the figures of the chip that they are of, and compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibration.h"
#include "helpers.h"
#include "soc.h"

enum file { HW_CAL_A, HW_CAL_B, GLOBALS, FILES };

static const char *const names[FILES] = { "hw-cal-a", "hw-cal-b", "globals" };

/* Where the chip's own figures are, in the layout of 12, of 13.5, and of 13.5 on G14X */
struct offsets {
	uint32_t base_scaled, max_mw, core_leak, sram_leak, cs_leak, afr_leak;
	uint32_t cores, frags, revision, ttbs, last_state, mhz, mv, percent, cs, afr;
	uint32_t fault_control;
};

static const struct offsets layouts[] = {
	{ 0x3c, 0x698, 0x3cf4, 0x3d14, 0, 0, 0x568, 0x53c, 0x564, 0x558, 0x56c, 0x574, 0x5b4,
	  0xa34, 0, 0, 0x10e80 },
	{ 0x44, 0x6a4, 0x416c, 0x418c, 0, 0, 0xa88, 0xa5c, 0xa84, 0xa78, 0xa8c, 0xa90, 0xad0,
	  0xf90, 0, 0, 0x10fd8 },
	{ 0x44, 0x6a4, 0x6b84, 0x6ba4, 0x6bc4, 0x6bcc, 0xa88, 0xa5c, 0xa84, 0xa78, 0xa8c, 0xa90,
	  0xad0, 0xf90, 0x1090, 0x11d8, 0x15820 },
};

static uint32_t get32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static float get_float(const uint8_t *p)
{
	float value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static const struct offsets *layout_of(enum fw_abi abi)
{
	return &layouts[abi < FW_ABI_13_5 ? 0 : abi == FW_ABI_13_5_G14X ? 2 : 1];
}

static uint8_t *region_of(struct vagx_calibration *cal, enum file file, size_t *size)
{
	uint8_t *const data[FILES] = { cal->hw_cal_a, cal->hw_cal_b, cal->globals };
	const size_t sizes[FILES] = { cal->hw_cal_a_size, cal->hw_cal_b_size, cal->globals_size };

	*size = sizes[file];
	return data[file];
}

/* What every region has, whatever the SoC */
static void check_regions(const struct vagx_soc *soc, const char *firmware, enum fw_abi abi)
{
	static const uint32_t sizes[][FILES] = {
		{ 0x3d6c, 0xb6c, 0x11d40 }, { 0x421c, 0x1884, 0x12394 }, { 0x6c34, 0x1884, 0x1715c },
	};
	const struct offsets *o = layout_of(abi);
	struct vagx_calibration cal;
	struct vagx_power power;
	uint32_t last, max;

	vagx_power_default(&power, soc);
	vagx_calibration_fill(&cal, soc, abi, &power, 0x80000000, true);
	print_message("%s, firmware %s\n", soc->name, firmware);
	assert_int_equal(cal.hw_cal_a_size, sizes[o - layouts][HW_CAL_A]);
	assert_int_equal(cal.hw_cal_b_size, sizes[o - layouts][HW_CAL_B]);
	assert_int_equal(cal.globals_size, sizes[o - layouts][GLOBALS]);
	assert_int_equal(get32(cal.globals + o->fault_control), VAGX_FAULT_CONTROL_SOFT);
	assert_int_equal(cal.fault_control, o->fault_control);

	last = get32(cal.hw_cal_b + o->last_state);
	max = get32(cal.hw_cal_b + o->mhz + 4 * last);
	assert_in_range(last, 6, 15);
	assert_in_range(max, 1278, 1398);
	assert_int_equal(get32(cal.hw_cal_b + o->percent + 4 * last), 100);
	assert_int_equal(get32(cal.hw_cal_b + o->cores), vagx_soc_cores(soc));
	assert_int_equal(get32(cal.hw_cal_b + o->ttbs), 0x80000000);
	assert_int_equal(get32(cal.hw_cal_a + 4), soc->id.generation == 6 ? 200000 : 192000);
	assert_int_equal(get32(cal.hw_cal_b + (abi < FW_ABI_13_5 ? 0x450 : 0x968)), soc->chip_id);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(!!get32(cal.hw_cal_a + o->core_leak + 4 * i),
				 i < soc->id.clusters);
}

static void each_combination(void **state)
{
	const struct vagx_soc *soc;
	unsigned int combinations = 0;

	for (unsigned int i = 0; (soc = vagx_soc_at(i)); i++) {
		const char *firmware;
		enum fw_abi abi;

		for (unsigned int j = 0; (firmware = vagx_soc_firmware(soc, j)); j++) {
			assert_true(vagx_soc_abi(soc, firmware, &abi));
			check_regions(soc, firmware, abi);
			combinations++;
		}
		assert_false(vagx_soc_abi(soc, "14.0", &abi));
	}
	assert_int_equal(combinations, 13);
}

/* Frequencies and voltages of public logs, and those of the memories, at least as much */
static void states_of_machines(void **state)
{
	static const struct {
		const char *soc;
		uint32_t last, min_sram;
		uint32_t mhz[9], mv[9];
	} logs[] = {
		{ "t8103", 6, 850, { 0, 396, 528, 720, 924, 1128, 1278 },
		  { 400, 612, 650, 687, 778, 871, 943 } },
		{ "t6021", 8, 790, { 0, 444, 612, 808, 968, 1110, 1236, 1338, 1398 },
		  { 400, 628, 653, 690, 728, 800, 862, 906, 937 } },
		{ "t6022", 8, 790, { 0, 444, 612, 808, 968, 1110, 1236, 1338, 1398 },
		  { 400, 618, 640, 671, 712, 778, 837, 890, 928 } },
	};

	for (unsigned int i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		const struct vagx_soc *soc = vagx_soc_find(logs[i].soc);
		struct vagx_calibration cal;
		struct vagx_power power;
		const struct offsets *o;
		enum fw_abi abi;

		assert_true(vagx_soc_abi(soc, "13.5", &abi));
		o = layout_of(abi);
		vagx_power_default(&power, soc);
		vagx_calibration_fill(&cal, soc, abi, &power, 0, false);
		assert_int_equal(get32(cal.hw_cal_b + o->last_state), logs[i].last);
		assert_int_equal(get32(cal.hw_cal_a + o->base_scaled), 100);
		for (unsigned int n = 0; n <= logs[i].last; n++) {
			const uint8_t *mv = cal.hw_cal_b + o->mv + 4 * 8 * n;

			assert_int_equal(get32(cal.hw_cal_b + o->mhz + 4 * n), logs[i].mhz[n]);
			assert_int_equal(get32(mv), logs[i].mv[n]);
			assert_int_equal(get32(mv + 4 * 8 * 16),
					 logs[i].mv[n] < logs[i].min_sram ? logs[i].min_sram :
									    logs[i].mv[n]);
		}
	}
}

static bool load(const char *folder, const char *soc, const char *firmware, enum file file,
		 uint8_t *to, size_t size)
{
	char path[4096];
	FILE *stream;
	size_t got;

	snprintf(path, sizeof(path), "%s/%s-%s/%s.bin", folder, soc, firmware, names[file]);
	stream = fopen(path, "rb");
	if (!stream)
		return false;
	got = fread(to, 1, size + 1, stream);
	fclose(stream);
	if (got != size)
		fail_msg("%s has %zu bytes, not %zu", path, got, size);
	return true;
}

static void aux_of(struct vagx_aux_power *aux, const uint8_t *b, unsigned int room,
		   const uint8_t *leak)
{
	aux->count = get32(b) + 1;
	for (unsigned int i = 0; i < aux->count; i++) {
		aux->mhz[i] = get32(b + 4 + 4 * i);
		for (unsigned int die = 0; die < VAGX_MAX_DIES; die++)
			aux->mv[i][die] = get32(b + 4 + 4 * room + 4 * (2 * i + die));
	}
	for (unsigned int die = 0; die < VAGX_MAX_DIES; die++)
		aux->leak[die] = get_float(leak + 4 * die);
}

/* The chip that the regions are of. Of a state's power they have only the percentage. */
static void chip_of(struct vagx_power *power, const struct offsets *o,
		    const struct vagx_calibration *theirs)
{
	const uint8_t *a = theirs->hw_cal_a, *b = theirs->hw_cal_b;
	uint32_t max_mw = get32(a + o->max_mw);

	*power = (struct vagx_power) {
		.count = get32(b + o->last_state) + 1,
		.base = get32(a + o->base_scaled) / 100,
	};
	assert_in_range(power->count, 2, VAGX_MAX_PSTATES);
	for (unsigned int i = 0; i < power->count; i++) {
		power->mhz[i] = get32(b + o->mhz + 4 * i);
		power->mw[i] = (get32(b + o->percent + 4 * i) * (uint64_t)max_mw + 99) / 100;
		for (unsigned int j = 0; j < VAGX_MAX_TABLES; j++)
			power->mv[i][j] = get32(b + o->mv + 4 * (8 * i + j));
	}
	for (unsigned int i = 0; i < VAGX_MAX_TABLES; i++) {
		power->core_leak[i] = get_float(a + o->core_leak + 4 * i);
		power->sram_leak[i] = get_float(a + o->sram_leak + 4 * i);
	}
	if (o->cs) {
		aux_of(&power->cs, b + o->cs, 16, a + o->cs_leak);
		aux_of(&power->afr, b + o->afr, 8, a + o->afr_leak);
	}
}

/*
 * The boot loader has its own floats. One difference of one unit in the last place is
 * known: it rounds 1 - 1/3, a tie, up.
 */
static bool is_rounding(uint32_t ours, uint32_t theirs)
{
	return ours == 0x3f2aaaaa && theirs == 0x3f2aaaab;
}

static unsigned int compare(struct vagx_calibration *ours, struct vagx_calibration *theirs)
{
	unsigned int different = 0;
	size_t size;

	for (unsigned int file = 0; file < FILES; file++) {
		const uint8_t *mine = region_of(ours, file, &size);
		const uint8_t *other = region_of(theirs, file, &size);

		for (size_t i = 0; i < size; i += 4) {
			if (get32(mine + i) == get32(other + i))
				continue;
			print_message("  %s+%#zx: ours %#x, theirs %#x%s\n", names[file], i,
				      get32(mine + i), get32(other + i),
				      is_rounding(get32(mine + i), get32(other + i)) ?
				      " (rounding)" : "");
			different += !is_rounding(get32(mine + i), get32(other + i));
		}
	}
	return different;
}

static bool compare_combination(const char *folder, const struct vagx_soc *soc,
				const char *firmware, enum fw_abi abi, unsigned int *different)
{
	const struct offsets *o = layout_of(abi);
	struct vagx_calibration ours = { 0 }, theirs = { 0 };
	struct vagx_power power;

	vagx_power_default(&power, soc);
	vagx_calibration_fill(&ours, soc, abi, &power, 0, true);
	for (unsigned int file = 0; file < FILES; file++) {
		size_t size;
		uint8_t *to;

		region_of(&ours, file, &size);
		to = region_of(&theirs, file, &(size_t){ 0 });
		if (!load(folder, soc->name, firmware, file, to, size))
			return false;
	}
	theirs.hw_cal_a_size = ours.hw_cal_a_size;
	theirs.hw_cal_b_size = ours.hw_cal_b_size;
	theirs.globals_size = ours.globals_size;
	chip_of(&power, o, &theirs);
	vagx_calibration_fill(&ours, soc, abi, &power, get32(theirs.hw_cal_b + o->ttbs), true);
	/* Which cores there are, and which stepping, is this emulator's choice */
	memcpy(ours.hw_cal_b + o->cores, theirs.hw_cal_b + o->cores, 4);
	memcpy(ours.hw_cal_b + o->frags, theirs.hw_cal_b + o->frags, 4);
	memcpy(ours.hw_cal_b + o->revision, theirs.hw_cal_b + o->revision, 4);
	memcpy(ours.hw_cal_b + o->ttbs, theirs.hw_cal_b + o->ttbs, 8);
	print_message("%s, firmware %s: compared\n", soc->name, firmware);
	*different += compare(&ours, &theirs);
	return true;
}

static void as_the_boot_loader(void **state)
{
	const char *folder = getenv("VAGX_CALIBRATION");
	unsigned int different = 0, compared = 0;
	const struct vagx_soc *soc;

	for (unsigned int i = 0; (soc = vagx_soc_at(i)); i++) {
		const char *firmware;
		enum fw_abi abi;

		for (unsigned int j = 0; (firmware = vagx_soc_firmware(soc, j)); j++) {
			vagx_soc_abi(soc, firmware, &abi);
			compared += compare_combination(folder, soc, firmware, abi, &different);
		}
	}
	print_message("%u combinations compared, %u words differ\n", compared, different);
	assert_int_not_equal(compared, 0);
	assert_int_equal(different, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_combination),
		cmocka_unit_test(states_of_machines),
	};
	const struct CMUnitTest comparison[] = {
		cmocka_unit_test(as_the_boot_loader),
	};

	if (getenv("VAGX_CALIBRATION"))
		return cmocka_run_group_tests_name("boot loader", comparison, NULL, NULL);
	return cmocka_run_group_tests_name("calibration", tests, NULL, NULL);
}
