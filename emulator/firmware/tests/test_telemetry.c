// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * What the firmware tells through the ring of statistics: which messages there are, that they
 * follow the load, and that nobody has to read them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../soc_figures.h"
#include "../fw_internal.h"
#include "rig.h"

#define RING	16
#define ENTRIES	0x100

static int setup(void **state)
{
	*state = rig_new();
	rig_boot(*state);
	return 0;
}

static int teardown(void **state)
{
	rig_free(*state);
	return 0;
}

static uint32_t *pointer(struct rig *rig, unsigned int offset)
{
	return (uint32_t *)(rig->channel[RING].state.host + offset);
}

static uint32_t written(struct rig *rig)
{
	return *pointer(rig, 0x20);
}

static const uint8_t *message(struct rig *rig, unsigned int index)
{
	return rig->channel[RING].entries.host +
	       index * fw_structs[FW_S_StatsMsg].size[RIG_ABI];
}

static uint64_t field(const uint8_t *msg, enum fw_field_id id)
{
	uint64_t value = 0;

	memcpy(&value, msg + fw_fields[id].offset[RIG_ABI], fw_kind_size(fw_fields[id].kind));
	return value;
}

/* Runs a command that is on the units for so many milliseconds */
static void run(struct rig *rig, struct rig_queue *queue, unsigned int ms)
{
	struct rig_command command;

	rig_hang(rig, true);
	rig_compute_new(rig, queue, &command);
	rig_submit(rig, queue, command.command.va);
	usleep(ms * 1000);
	rig_hang(rig, false);
	assert_true(rig_wait_stamp(rig, 0, command.stamp));
}

/* Reads all messages. Return: the last one of that type, or NULL. */
static const uint8_t *read_all(struct rig *rig, uint32_t type)
{
	const uint8_t *last = NULL;

	while (*pointer(rig, 0) != written(rig)) {
		const uint8_t *msg = message(rig, *pointer(rig, 0));

		if (field(msg, FW_StatsMsg_msg_type) == type)
			last = msg;
		*pointer(rig, 0) = (*pointer(rig, 0) + 1) % ENTRIES;
	}
	return last;
}

/* Return: the first message of that type from the index on, or NULL */
static const uint8_t *first_of(struct rig *rig, unsigned int index, uint32_t type)
{
	for (; index < written(rig); index++)
		if (field(message(rig, index), FW_StatsMsg_msg_type) == type)
			return message(rig, index);
	return NULL;
}

static void test_first_messages(void **state)
{
	static const uint32_t types[] = { 0xc, 0xd, 0xb, 0x4, 0x0, 0x9, 0xa, 0xe };
	struct rig *rig = *state;
	struct rig_queue queue;

	rig_queue_new(rig, &queue, 2, 0);
	run(rig, &queue, 1);
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		assert_int_equal(field(message(rig, i), FW_StatsMsg_msg_type), types[i]);
	assert_int_equal(field(message(rig, 1), FW_StatsPState_ps_min), 1);
	assert_int_equal(field(message(rig, 1), FW_StatsPState_ps_max),
			 vagx_soc_figures(rig->soc)->num_pstates - 1);
	assert_int_equal(field(message(rig, 2), FW_StatsPowerState_pstate), 1);
	/* 30 degrees */
	assert_int_equal(field(message(rig, 6), FW_StatsTemp_raw_value) /
			 field(message(rig, 6), FW_StatsTemp_scale) / 64, 30);
	rig_assert_clean(rig);
}

static void test_state_follows_load(void **state)
{
	struct rig *rig = *state;
	uint64_t busy = 0, top;
	struct rig_queue queue;
	const uint8_t *msg;
	uint32_t first;

	top = vagx_soc_figures(rig->soc)->num_pstates - 1;
	rig_queue_new(rig, &queue, 2, 0);
	for (unsigned int i = 0; i < 2 * top && busy < top; i++) {
		run(rig, &queue, 20);
		msg = read_all(rig, 0xb);
		if (msg)
			busy = field(msg, FW_StatsPowerState_pstate);
		assert_in_range(busy, 1, top);
	}
	assert_in_range(busy, 2, top);

	/*
	 * The announcement of work tells of the time before it, in which there was hardly any.
	 * The end of that work may tell of itself, so the first message counts.
	 */
	first = written(rig);
	usleep(400000);
	run(rig, &queue, 20);
	msg = first_of(rig, first, 0x4);
	assert_non_null(msg);
	assert_in_range(field(msg, FW_StatsUtil_util), 0, 20);
	rig_assert_clean(rig);
}

static void test_rest_switches_off(void **state)
{
	static const uint32_t types[] = { 0x3, 0x2, 0xc, 0xd, 0xb };
	struct rig *rig = *state;
	struct rig_queue queue;
	uint32_t first;

	rig_queue_new(rig, &queue, 2, 0);
	run(rig, &queue, 20);
	first = written(rig);
	usleep(1200000);
	run(rig, &queue, 20);
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		assert_int_equal(field(message(rig, first + i), FW_StatsMsg_msg_type), types[i]);
	/* It was on for a second, and off for a fifth of one; the machine may be slow. */
	assert_in_range(field(message(rig, first), FW_StatsPowerSwitch_ticks), 24000000, 72000000);
	assert_in_range(field(message(rig, first + 1), FW_StatsPowerSwitch_ticks), 2400000,
			72000000);
	/* The GPU begins anew in the lowest state, whatever it goes to during that work. */
	assert_int_equal(field(message(rig, first + 4), FW_StatsPowerState_pstate), 1);
	rig_assert_clean(rig);
}

/* What finds no room is lost, and nothing else happens */
static void test_unread(void **state)
{
	struct rig *rig = *state;
	struct rig_queue queue;

	rig_queue_new(rig, &queue, 2, 0);
	for (unsigned int i = 0; i < 1000 && written(rig) != ENTRIES - 1; i++)
		run(rig, &queue, 9);
	assert_int_equal(written(rig), ENTRIES - 1);
	for (unsigned int i = 0; i < 3; i++)
		run(rig, &queue, 9);
	assert_int_equal(written(rig), ENTRIES - 1);
	*pointer(rig, 0) = ENTRIES - 1;
	run(rig, &queue, 9);
	assert_int_not_equal(written(rig), ENTRIES - 1);
	rig_assert_clean(rig);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(first_messages),
		TEST(state_follows_load),
		TEST(rest_switches_off),
		TEST(unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
