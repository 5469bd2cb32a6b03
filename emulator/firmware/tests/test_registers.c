// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Lists of registers, which only G14S, G14C and G14D have, and the clauses about them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../fw_registers.h"
#include "rig_render.h"

static unsigned int put_list(struct rig_ptr at, enum fw_register_list list)
{
	unsigned int count = 0;

#define FW_REGISTER(list_, name, number, row, source)				\
	if (FW_REGISTERS_##list_ == list) {					\
		const uint32_t number_ = number;				\
		const uint64_t value = 0x100 + count;				\
										\
		memcpy(at.host + 12 * count, &number_, sizeof(number_));	\
		memcpy(at.host + 12 * count++ + 4, &value, sizeof(value));	\
	}
#include "../registers_g14x.def"
#undef FW_REGISTER
	return count;
}

static void swap_first(uint8_t *list)
{
	uint8_t first[12];

	memcpy(first, list, sizeof(first));
	memcpy(list, list + sizeof(first), sizeof(first));
	memcpy(list + sizeof(first), first, sizeof(first));
}

/* One that is missing or too many changes the number as well */
static const enum vagx_rule list_count[] = { VAGX_CLAUSE_FW_REGISTER_LIST_count, VAGX_KEPT };

static void test_registers(void **state)
{
	struct rig *rig = rig_new();
	struct fw_access access = {
		.uat = rig->uat,
		.report = rig->report,
		.abi = FW_ABI_13_5_G14X,
	};
	struct rig_ptr at = rig_alloc(rig, RIG_PRIVATE, 0x600);
	struct fw_registers registers = { 0 };
	struct fw_view view = fw_view(&access, FW_S_TaStruct2, 0);
	unsigned int count;

	count = put_list(at, FW_REGISTERS_VERTEX);
	assert_int_equal(count, 57);
	fw_registers_load(&registers, FW_REGISTERS_VERTEX, at.va, count, &access);
	assert_int_equal(rig_findings(rig), 0);
	assert_int_equal(fw_registers_get(&registers, 0x1c880), 0x100 + 19);
	assert_int_equal(fw_registers_word(&registers, &view, FW_TaStruct2_encoder_addr),
			 0x100 + 19);
	assert_int_equal(put_list(at, FW_REGISTERS_FRAGMENT), 67);
	count = put_list(at, FW_REGISTERS_COMPUTE);
	assert_int_equal(count, 12);
	fw_registers_load(&registers, FW_REGISTERS_COMPUTE, at.va, count - 1, &access);
	rig_saw(rig, VAGX_CLAUSE_FW_REGISTER_LIST_missing, list_count);
	put_list(at, FW_REGISTERS_COMPUTE);
	swap_first(at.host);
	assert_false(vagx_report_count(rig->report, VAGX_RULE_FW_REGISTER_ORDER));
	fw_registers_load(&registers, FW_REGISTERS_COMPUTE, at.va, count, &access);
	assert_true(vagx_report_count(rig->report, VAGX_RULE_FW_REGISTER_ORDER));
	rig_free(rig);
}

/* Loads compute's list after @edit had a look at it, or with a register more */
static struct rig *load_changed(void (*edit)(uint8_t *list), unsigned int more)
{
	struct rig *rig = rig_new();
	struct fw_access access = {
		.uat = rig->uat,
		.report = rig->report,
		.abi = FW_ABI_13_5_G14X,
	};
	struct rig_ptr at = rig_alloc(rig, RIG_PRIVATE, 0x600);
	struct fw_registers registers = { 0 };
	unsigned int count = put_list(at, FW_REGISTERS_COMPUTE);

	if (edit)
		edit(at.host);
	fw_registers_load(&registers, FW_REGISTERS_COMPUTE, at.va, count + more, &access);
	return rig;
}

/* The first again behind the last, in the place of nothing */
static void repeat_first(uint8_t *list)
{
	memcpy(list + 12 * 12, list, 12);
}

static void test_register_lists(void **state)
{
	struct rig *rig = load_changed(swap_first, 0);

	rig_saw(rig, VAGX_RULE_FW_REGISTER_ORDER, NULL);
	rig_free(rig);
	rig = load_changed(NULL, 1);
	rig_saw(rig, VAGX_CLAUSE_FW_REGISTER_LIST_count, NULL);
	rig_free(rig);
	rig = load_changed(repeat_first, 1);
	rig_saw(rig, VAGX_CLAUSE_FW_REGISTER_LIST_twice, list_count);
	rig_free(rig);
}

/* Commands that are made of registers do what those of structures do, and break no rule */
static void test_commands(void **state)
{
	const struct rig_options options = { .soc = "t6021", .seed = 1, .timeout_ms = RIG_TIMEOUT_MS };
	struct rig *rig = rig_new_with(&options);
	static struct rig_renderer renderer;
	struct rig_render render;
	struct rig_command command;
	struct rig_queue queue;

	assert_int_equal(RIG_ABI, FW_ABI_13_5_G14X);
	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait_stamp(rig, queue.slot, command.stamp));
	assert_int_equal(rig->units.last.cdm_base, 0x1500000000);
	assert_int_equal(rig->units.last.usc_base, 0x1100000000);
	assert_int_equal(rig->units.last.helper_program, 0x11);
	assert_int_equal(rig->units.last.helper_data, 0x22);
	assert_int_equal(rig->units.last.helper_cfg, 0x33);

	rig_renderer_new(rig, &renderer, 1, 8);
	rig_render_new(rig, &renderer, &render, 200, 100);
	rig_render_submit(rig, &renderer, &render);
	assert_true(rig_render_wait(rig, &renderer, &render));
	assert_int_equal(rig->units.last_vertex.geometry.width, 200);
	assert_int_equal(rig->units.last_vertex.geometry.height, 100);
	assert_int_equal(rig->units.last_fragment.geometry.width, 200);
	assert_int_equal(rig->units.last_fragment.geometry.height, 100);
	assert_int_equal(rig->units.last_fragment.tvb.tilemap, render.tilemap.va);
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

static bool is_provoked_here(const char *id)
{
	return !strncmp(id, "FW_REGISTER_", strlen("FW_REGISTER_"));
}

static void test_all_provoked(void **state)
{
	rig_assert_seen(is_provoked_here);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_register_lists),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_all_provoked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
