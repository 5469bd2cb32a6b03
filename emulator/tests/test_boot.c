// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agx/agx_regs.h"
#include "boot.h"
#include "calibration.h"
#include "helpers.h"
#include "soc.h"

/* Of firmware 13.5 on T8103 */
#define HW_CAL_B_SIZE	0x1884
#define GLOBALS_SIZE	0x12394
#define FAULT_CONTROL	0x10fd8

#define BASE	TEST_RAM

static const struct vagx_regions regions = {
	.region = {
		[VAGX_REGION_TTBS] = { BASE, 0x4000 },
		[VAGX_REGION_PAGETABLES] = { BASE + 0x4000, 0x10000 },
		[VAGX_REGION_HANDOFF] = { BASE + 0x14000, 0x4000 },
		[VAGX_REGION_HW_CAL_A] = { BASE + 0x18000, 0x8000 },
		[VAGX_REGION_HW_CAL_B] = { BASE + 0x20000, 0x4000 },
		[VAGX_REGION_GLOBALS] = { BASE + 0x24000, 0x18000 },
	},
};

static int setup(void **state)
{
	*state = machine_new();
	return 0;
}

static int teardown(void **state)
{
	machine_free(*state);
	return 0;
}

static struct vagx_boot *boot_new(struct machine *m,
				  struct vagx_boot_config config)
{
	config.report = m->report;
	config.soc = vagx_soc_find("t8103");
	config.firmware = "13.5";
	return vagx_boot_new(&config);
}

static uint8_t *at(struct machine *m, enum vagx_region_id id)
{
	return vagx_mem_ptr(m->mem, regions.region[id].base,
			    regions.region[id].size);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static float get_float(const uint8_t *p)
{
	float value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static void assert_zeroed(const uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size; i++)
		assert_int_equal(p[i], 0);
}

static void fills_the_regions(void **state)
{
	struct machine *m = *state;
	struct vagx_boot *boot = boot_new(m, (struct vagx_boot_config) {
		.regions = regions });
	const uint8_t *a, *b, *g;

	assert_non_null(boot);
	memset(at(m, VAGX_REGION_TTBS), 0x55, 0x3c000);
	assert_true(vagx_boot_run(boot, m->mem));

	assert_int_equal(get64(at(m, VAGX_REGION_TTBS)), 0);
	assert_int_equal(get64(at(m, VAGX_REGION_HANDOFF)), 0);
	assert_zeroed(at(m, VAGX_REGION_PAGETABLES), 0x10000);

	a = at(m, VAGX_REGION_HW_CAL_A);
	assert_int_equal(get32(a + 0x4), 24000 * 8);
	assert_int_equal(get32(a + 0x844), 1278);
	assert_true(get_float(a + 0x7d0) > 6.85f && get_float(a + 0x7d0) < 6.86f);
	b = at(m, VAGX_REGION_HW_CAL_B);
	assert_int_equal(get64(b + 0x28), AGX_VA_TIMESTAMP_START);
	assert_int_equal(get64(b + 0x20), AGX_VA_DUMMY_PAGE);
	assert_int_equal(get32(b + 0x968), 0x8103);
	assert_int_equal(get64(b + 0xa78), BASE);
	assert_int_equal(get32(b + 0xa84), 4);
	assert_int_equal(get32(b + 0xa88), 8);
	assert_int_equal(get32(b + 0xa90 + 6 * 4), 1278);
	assert_int_equal(get32(b + 0xf90 + 6 * 4), 100);
	assert_int_equal(get32(b + 0xfd0 + 6 * 4), 100);
	g = at(m, VAGX_REGION_GLOBALS);
	assert_int_equal(get32(g + FAULT_CONTROL), 0);
	assert_int_equal(get32(g + 0x10fdc), 1);
	assert_int_equal(g[GLOBALS_SIZE], 0);
	assert_false(vagx_boot_soft_faults(boot));
	vagx_boot_free(boot);
}

/*
 * The firmware's two entries of the root appear when its CPU starts, at each start. What the
 * driver has there, and the tables, stay as they are.
 */
static void firmware_enters_its_tables(void **state)
{
	struct machine *m = *state;
	struct vagx_boot *boot = boot_new(m, (struct vagx_boot_config) {
		.regions = regions });
	uint8_t *root = at(m, VAGX_REGION_PAGETABLES);
	uint64_t ours = 0x123456789;

	assert_true(vagx_boot_run(boot, m->mem));
	assert_zeroed(root, 0x10000);
	for (unsigned int i = 0; i < 2; i++) {
		memcpy(root + 16, &ours, sizeof(ours));
		vagx_boot_start(boot, m->mem);
		assert_int_equal(get64(root), (BASE + 0x8000) | AGX_PTE_TYPE);
		assert_int_equal(get64(root + 8), (BASE + 0xc000) | AGX_PTE_TYPE);
		assert_int_equal(get64(root + 16), ours);
		assert_zeroed(root + 24, 0x10000 - 24);
		memset(root, 0, 16);
	}

	vagx_boot_start(boot, m->mem);
	vagx_boot_again(boot);
	assert_true(vagx_boot_run(boot, m->mem));
	assert_zeroed(root, 0x10000);
	/* Memory that is gone is no reason to go with it */
	assert_int_equal(vagx_mem_unmap(m->mem, TEST_RAM, TEST_RAM_SIZE), 0);
	vagx_boot_start(boot, m->mem);
	vagx_boot_free(boot);
}

static void soft_faults(void **state)
{
	struct machine *m = *state;
	struct vagx_boot *boot = boot_new(m, (struct vagx_boot_config) {
		.regions = regions, .soft_faults = true });

	assert_true(vagx_boot_soft_faults(boot));
	vagx_boot_run(boot, m->mem);
	assert_int_equal(get32(at(m, VAGX_REGION_GLOBALS) + FAULT_CONTROL),
			 VAGX_FAULT_CONTROL_SOFT);
	vagx_boot_free(boot);
}

static void once_until_reset(void **state)
{
	struct machine *m = *state;
	struct vagx_boot *boot = boot_new(m, (struct vagx_boot_config) {
		.regions = regions });
	uint8_t *ttbs = at(m, VAGX_REGION_TTBS);

	assert_true(vagx_boot_run(boot, m->mem));
	ttbs[0] = 1;
	assert_true(vagx_boot_run(boot, m->mem));
	assert_int_equal(ttbs[0], 1);
	vagx_boot_again(boot);
	assert_true(vagx_boot_run(boot, m->mem));
	assert_int_equal(ttbs[0], 0);
	vagx_boot_free(boot);
}

static void waits_for_memory(void **state)
{
	struct machine *m = *state;
	struct vagx_regions far = regions;
	struct vagx_boot *boot;

	far.region[VAGX_REGION_GLOBALS].base = BASE + TEST_RAM_SIZE;
	boot = boot_new(m, (struct vagx_boot_config) { .regions = far });
	assert_false(vagx_boot_run(boot, m->mem));
	assert_int_equal(vagx_mem_map(m->mem, BASE + TEST_RAM_SIZE, 0x18000,
				      m->fd, 0x100000,
				      VAGX_MEM_READ | VAGX_MEM_WRITE), 0);
	assert_true(vagx_boot_run(boot, m->mem));
	vagx_boot_free(boot);
}

static void regions_have_to_fit(void **state)
{
	struct machine *m = *state;
	struct vagx_regions bad = regions;

	bad.region[VAGX_REGION_HW_CAL_A].size = 0x4000;
	assert_null(boot_new(m, (struct vagx_boot_config) { .regions = bad }));
	bad = regions;
	bad.region[VAGX_REGION_HANDOFF].base += 8;
	assert_null(boot_new(m, (struct vagx_boot_config) { .regions = bad }));
}

static void file_of(char *path, size_t size, uint8_t value)
{
	uint8_t *data = malloc(size);
	int fd;

	strcpy(path, "/tmp/vagx-test-XXXXXX");
	fd = mkstemp(path);
	memset(data, value, size);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
	free(data);
}

static void files(void **state)
{
	static const size_t wrong[] = {
		0, HW_CAL_B_SIZE - 1, HW_CAL_B_SIZE + 1,
	};
	struct machine *m = *state;
	struct vagx_boot_config config = { .regions = regions };
	char path[32];
	struct vagx_boot *boot;

	config.hw_cal_b = "/nonexistent/file";
	assert_null(boot_new(m, config));
	config.hw_cal_b = path;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		file_of(path, wrong[i], 0);
		assert_null(boot_new(m, config));
		unlink(path);
	}
	file_of(path, HW_CAL_B_SIZE, 0x77);
	boot = boot_new(m, config);
	assert_non_null(boot);
	vagx_boot_run(boot, m->mem);
	assert_int_equal(get32(at(m, VAGX_REGION_HW_CAL_B)), 0x77777777);
	vagx_boot_free(boot);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fills_the_regions, setup, teardown),
		cmocka_unit_test_setup_teardown(firmware_enters_its_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(soft_faults, setup, teardown),
		cmocka_unit_test_setup_teardown(once_until_reset, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_for_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(regions_have_to_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(files, setup, teardown),
	};

	return cmocka_run_group_tests_name("boot", tests, NULL, NULL);
}
