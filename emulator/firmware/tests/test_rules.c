// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Every clause of every rule of the firmware, broken by itself. Where the real firmware could not
 * go on, the virtual one must have ended; otherwise it still works. test_render.c has those about
 * rendering.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "provoke.h"

/* Parts that most of them share */

void flip(struct rig_ptr at, enum fw_field_id field)
{
	put(at, field, get(at, field) ^ 1);
}

void clear_pte(struct rig *rig, uint64_t va)
{
	*rig_pte(rig, rig->root, va) = 0;
}

void make_cached(struct rig *rig, uint64_t va)
{
	*rig_pte(rig, rig->root, va) &= ~AGX_PTE_ATTR_MASK;
}

void run_changed(struct rig *rig, void (*change)(struct rig *rig, struct rig_queue *queue,
						 struct rig_command *command))
{
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_compute_new(rig, &queue, &command);
	change(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
}

struct rig_ptr info_of(struct rig_command *command)
{
	return sub(command->command, FW_RunCompute_compute_info, FW_S_ComputeInfo, 0);
}

struct rig_ptr meta_of(struct rig_command *command)
{
	return sub(command->command, FW_RunCompute_job_meta, FW_S_JobMeta, 0);
}

struct rig_ptr finalize_of(struct rig_command *command)
{
	return (struct rig_ptr){ .host = command->sequence.host + command->finalize };
}

void recover(struct rig *rig, struct rig_queue *queue, uint32_t value)
{
	struct rig_ptr msg = rig_control(rig, 0x0f);

	put(msg, FW_DcRecoverChannel_pipe_type, queue->pipe);
	put(msg, FW_DcRecoverChannel_work_queue, queue->info.va);
	put(msg, FW_DcRecoverChannel_event_value, value);
	rig_control_send(rig);
}

static void test_provocation(void **state)
{
	const struct provocation *provocation = *state;
	const struct rig_options options = {
		.soc = provocation->soc,
		.timeout_ms = provocation->timeout_ms,
		.power_off = VAGX_POWER_OFF_LATE,
	};
	struct rig *rig = rig_new_with(&options);

	provocation->provoke(rig);
	rig_saw(rig, provocation->rule, provocation->also);
	if (provocation->outcome == CRASHES)
		assert_true(rig_wait_crash(rig));
	else
		assert_false(vagx_fw_is_crashed(rig->fw));
	rig_free(rig);
}

/* test_render.c provokes those */
static bool is_about_rendering(const char *id)
{
	static const char *const starts[] = { "FW_BUFFER_", "FW_GROW_", "FW_REGISTER_", "FW_RENDER_",
					      "FW_SCENE" };

	for (unsigned int i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (!strncmp(id, starts[i], strlen(starts[i])))
			return true;
	}
	return false;
}

static bool is_provoked_here(const char *id)
{
	return !strncmp(id, "FW_", 3) && !is_about_rendering(id);
}

/* A clause that no test has seen by itself may be one that nothing looks at */
static void test_all_provoked(void **state)
{
	rig_assert_seen(is_provoked_here);
}

/* A malformed command stalls its own queue only, until the driver recovers it */
static void test_channel_error(void **state)
{
	struct rig *rig = rig_new();
	struct rig_queue queue, other;
	struct rig_command bad, good, elsewhere;
	struct rig_ptr event;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_queue_new(rig, &other, 2, 7);
	rig_compute_new(rig, &queue, &bad);
	rig_compute_new(rig, &queue, &good);
	rig_compute_new(rig, &other, &elsewhere);
	bad.sequence.host[bad.finalize] = 0x3f;
	rig_submit(rig, &queue, bad.command.va);
	rig_submit(rig, &queue, good.command.va);
	event = rig_wait_event(rig);
	assert_int_equal(get(event, FW_EventMsg_msg_type), 8);
	assert_int_equal(get(event, FW_EventChannelError_pipe_type), 2);
	assert_int_equal(get(event, FW_EventChannelError_event_slot), 6);
	assert_int_equal(get(event, FW_EventChannelError_event_value), 0x100);
	rig_submit(rig, &other, elsewhere.command.va);
	assert_true(rig_wait_stamp(rig, 7, 0x100));
	assert_int_equal(((uint32_t *)rig->stamps.host)[6], 0);
	recover(rig, &queue, 0x100);
	assert_true(rig_wait_stamp(rig, 6, 0x200));
	assert_int_equal(vagx_report_count(rig->report, VAGX_RULE_FW_DC_RECOVER), 0);
	rig_free(rig);
}

#define MAX_TESTS	512
#define MAX_NAME	96

static void add_provocation(struct CMUnitTest *test, char *name,
			    const struct provocation *provocation)
{
	snprintf(name, MAX_NAME, "%s by %s", vagx_rule_info(provocation->rule)->id,
		 provocation->name);
	*test = (struct CMUnitTest){
		.name = name,
		.test_func = test_provocation,
		.initial_state = (void *)provocation,
	};
}

int main(void)
{
	static struct CMUnitTest tests[MAX_TESTS];
	static char names[MAX_TESTS][MAX_NAME];
	unsigned int count = 0;

	assert_true(provoke_boot_count + provoke_commands_count + 2 <= MAX_TESTS);
	for (unsigned int i = 0; i < provoke_boot_count; i++)
		add_provocation(&tests[count++], names[i], &provoke_boot[i]);
	for (unsigned int i = 0; i < provoke_commands_count; i++)
		add_provocation(&tests[count++], names[provoke_boot_count + i],
				&provoke_commands[i]);
	tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_all_provoked);
	tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_channel_error);
	return _cmocka_run_group_tests("rules", tests, count, NULL, NULL);
}
