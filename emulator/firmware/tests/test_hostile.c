// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * A guest that writes nonsense wherever the firmware looks: this process
 * lives, whatever the virtual firmware makes of it, and its threads come back.
 * Seeded, so that a failure can be repeated: FW_SEED=n runs one round only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../fw_internal.h"
#include "rig.h"

#define ROUNDS		120
#define QUEUES		4
#define STEPS		60

struct hostile {
	struct rig *rig;
	uint64_t random;
	struct rig_queue queue[QUEUES];
	struct rig_command command[QUEUES];
};

/* xorshift64 */
static uint32_t next(struct hostile *hostile)
{
	hostile->random ^= hostile->random << 13;
	hostile->random ^= hostile->random >> 7;
	hostile->random ^= hostile->random << 17;
	return hostile->random >> 16;
}

static uint64_t nonsense(struct hostile *hostile)
{
	static const uint64_t nice[] = {
		0, 1, 3, 4, 0x7f, 0x100, 0x4ff, 0x500, 0x7fffffff, 0x80000000, 0xffffffff,
		UINT64_MAX, AGX_VA_PRIVATE_START, AGX_VA_SHARED_START, AGX_VA_KERNEL_END - 4,
		0x8000000000000000, 0xffffffffffffc000,
	};

	switch (next(hostile) % 4) {
	case 0:
		return nice[next(hostile) % (sizeof(nice) / sizeof(nice[0]))];
	case 1:
		return AGX_VA_SHARED_START + next(hostile) % (8 << 20);
	case 2:
		return next(hostile) % 0x600;
	default:
		return (uint64_t)next(hostile) << 32 | next(hostile);
	}
}

/* Rows of the table tell where it hurts */
static void spoil(struct hostile *hostile, struct rig_ptr at, enum fw_struct_id type)
{
	for (unsigned int tries = 0; tries < 1000; tries++) {
		unsigned int field = next(hostile) % FW_FIELD_COUNT;
		uint64_t value = nonsense(hostile);
		uint32_t offset = fw_fields[field].offset[RIG_ABI];

		if (fw_fields[field].structure != type || offset == FW_ABSENT)
			continue;
		memcpy(at.host + offset, &value,
		       fw_field_size(field) < 8 ? fw_field_size(field) : 8);
		return;
	}
}

static void spoil_initdata(struct hostile *hostile)
{
	struct rig *rig = hostile->rig;

	switch (next(hostile) % 6) {
	case 0:
		spoil(hostile, rig->init, FW_S_InitData);
		break;
	case 1:
		spoil(hostile, rig->runtime, FW_S_RuntimePointers);
		break;
	case 2:
		spoil(hostile,
		      sub(rig->runtime, FW_RuntimePointers_channels, FW_S_ChannelInfo,
			  next(hostile) % 17),
		      FW_S_ChannelInfo);
		break;
	case 3:
		spoil(hostile,
		      sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping,
			  next(hostile) % 25),
		      FW_S_IoMapping);
		break;
	case 4:
		spoil(hostile, rig->status, FW_S_FwStatus);
		break;
	default:
		spoil(hostile, rig->globals, FW_S_Globals);
		break;
	}
}

static void spoil_work(struct hostile *hostile)
{
	unsigned int i = next(hostile) % QUEUES;
	struct rig_queue *queue = &hostile->queue[i];
	struct rig_command *command = &hostile->command[i];
	struct rig_ptr at = command->sequence;

	switch (next(hostile) % 8) {
	case 0:
		spoil(hostile, queue->info, FW_S_QueueInfo);
		break;
	case 1:
		spoil(hostile, queue->pointers, FW_S_QueuePointers);
		break;
	case 2:
		spoil(hostile, queue->notifier, FW_S_EventControl);
		break;
	case 3:
		spoil(hostile, command->command, FW_S_RunCompute);
		break;
	case 4:
		spoil(hostile, sub(command->command, FW_RunCompute_job_meta, FW_S_JobMeta, 0),
		      FW_S_JobMeta);
		break;
	case 5:
		spoil(hostile, at, FW_S_StartCompute);
		break;
	case 6:
		at.host += command->finalize;
		spoil(hostile, at, FW_S_FinalizeCompute);
		break;
	default:
		memcpy(at.host + next(hostile) % 0x300, &(uint32_t){ next(hostile) }, 4);
		break;
	}
}

static void spoil_ring(struct hostile *hostile)
{
	struct rig *rig = hostile->rig;
	struct rig_ring *ring = &rig->channel[next(hostile) % 15];

	switch (next(hostile) % 3) {
	case 0:
		spoil(hostile, ring->state, FW_S_RingState);
		break;
	case 1:
		spoil(hostile, rig->fwctl.state, FW_S_FwCtlRingState);
		break;
	default:
		memcpy(ring->entries.host + next(hostile) % 0x300, &(uint32_t){ next(hostile) }, 4);
		break;
	}
}

static void spoil_tables(struct hostile *hostile)
{
	struct rig *rig = hostile->rig;
	uint64_t va = AGX_VA_PRIVATE_START + (next(hostile) % 64) * AGX_PAGE_SIZE;
	uint64_t value = (uint64_t)next(hostile) << 32 | next(hostile);

	if (next(hostile) % 2)
		va = AGX_VA_SHARED_START + (next(hostile) % 64) * AGX_PAGE_SIZE;
	__atomic_store_n(rig_pte(rig, rig->root, va), next(hostile) % 2 ? 0 : value,
			 __ATOMIC_RELEASE);
}

static void act(struct hostile *hostile)
{
	struct rig *rig = hostile->rig;
	unsigned int i = next(hostile) % QUEUES;
	struct rig_ptr msg;

	switch (next(hostile) % 13) {
	case 0:
		spoil_ring(hostile);
		break;
	case 1:
		spoil_work(hostile);
		break;
	case 2:
		if (!(next(hostile) % 8))
			spoil_tables(hostile);
		break;
	case 3:
		rig_doorbell(rig, next(hostile) % 32);
		break;
	case 4:
		vagx_fw_message(rig->fw, 0x20 + next(hostile) % 2,
				(uint64_t)(0x80 + next(hostile) % 8) << 48 | next(hostile));
		break;
	case 5:
		msg = rig_control(rig, next(hostile) % 0x28);
		spoil(hostile, msg, FW_S_DcDestroyContext);
		rig_control_send(rig);
		break;
	case 6:
		rig_flush(rig, nonsense(hostile), nonsense(hostile));
		break;
	case 7:
		rig_resume(rig);
		break;
	case 8:
		pthread_mutex_lock(&rig->lock);
		rig->units.status = next(hostile) % 3;
		rig->units.fault.va = nonsense(hostile);
		pthread_mutex_unlock(&rig->lock);
		break;
	case 9:
		/* The monitor takes the guest's memory away, and may give it back */
		if (next(hostile) % 8)
			break;
		vagx_mem_unmap_all(rig->mem);
		if (next(hostile) % 2)
			rig_map_ram(rig);
		break;
	default:
		rig_submit(rig, &hostile->queue[i], hostile->command[i].command.va);
		break;
	}
}

static void round_of(uint64_t seed, bool early)
{
	struct hostile hostile = { .random = seed * 0x9e3779b97f4a7c15 + 1 };
	struct rig *rig = rig_new();

	hostile.rig = rig;
	for (unsigned int i = 0; early && i < 1 + seed % 4; i++)
		spoil_initdata(&hostile);
	vagx_fw_start(rig->fw);
	rig_init(rig);
	rig_initialize(rig);
	for (unsigned int i = 0; i < QUEUES; i++) {
		rig_queue_new(rig, &hostile.queue[i], next(&hostile) % 8 ? 2 : i % 3, i);
		rig_compute_new(rig, &hostile.queue[i], &hostile.command[i]);
	}
	for (unsigned int i = 0; i < STEPS && !vagx_fw_is_crashed(rig->fw); i++) {
		act(&hostile);
		if (!(i % 8))
			usleep(200);
	}
	if (seed % 3 == 0)
		vagx_fw_quiesce(rig->fw);
	rig_free(rig);
}

static void run(bool early)
{
	const char *only = getenv("FW_SEED");

	if (only) {
		round_of(strtoull(only, NULL, 0), early);
		return;
	}
	for (uint64_t seed = 1; seed <= ROUNDS; seed++)
		round_of(seed, early);
}

static void test_spoiled_initdata(void **state)
{
	run(true);
}

static void test_spoiled_work(void **state)
{
	run(false);
}

static bool job_runs(struct rig *rig, const void *arg)
{
	bool runs;

	pthread_mutex_lock(&rig->lock);
	runs = rig->units.jobs;
	pthread_mutex_unlock(&rig->lock);
	return runs;
}

/* All of it, the handoff page included, while a job is on the units */
static void test_memory_goes_away(void **state)
{
	struct rig *rig = rig_new();
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig->units.hang = true;
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait(rig, job_runs, NULL));
	vagx_mem_unmap_all(rig->mem);
	pthread_mutex_lock(&rig->lock);
	rig->units.hang = false;
	pthread_cond_broadcast(&rig->changed);
	pthread_mutex_unlock(&rig->lock);
	assert_true(rig_wait_crash(rig));
	assert_int_equal(vagx_report_count(rig->report, VAGX_RULE_FW_HANDOFF_LOCK), 0);
	rig_free(rig);
}

static bool lock_wanted(struct rig *rig, const void *arg)
{
	const uint8_t *page = rig->ram + (rig->handoff - RIG_RAM_BASE);

	return __atomic_load_n(page + AGX_HANDOFF_LOCK_FW, __ATOMIC_SEQ_CST);
}

/* The worker gives up when the reset has begun: it does not end what starts afterwards */
static void test_reset_while_locked(void **state)
{
	struct rig *rig = rig_new();
	uint8_t *page = rig->ram + (rig->handoff - RIG_RAM_BASE);
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	__atomic_store_n((uint32_t *)(page + AGX_HANDOFF_TURN), 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(page + AGX_HANDOFF_LOCK_AP, 1, __ATOMIC_SEQ_CST);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait(rig, lock_wanted, NULL));
	/* What waits for the lock gives up, and it is nobody's fault */
	vagx_fw_reset(rig->fw);
	assert_int_equal(vagx_report_count(rig->report, VAGX_RULE_FW_HANDOFF_LOCK), 0);
	assert_false(rig->crashed);
	assert_false(vagx_fw_is_crashed(rig->fw));
	rig_free(rig);
}

/* Each command names another notifier, and none of them ever has to fire */
static void test_endless_notifiers(void **state)
{
	struct rig *rig = rig_new();
	struct rig_command command;
	struct rig_queue queue;
	struct rig_ptr notifiers;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	notifiers = rig_alloc(rig, RIG_SHARED, (FW_MAX_NOTIFIERS + 1) * 0x100);
	*(uint32_t *)queue.threshold.host = 1000000;
	for (unsigned int i = 0; i <= FW_MAX_NOTIFIERS; i++) {
		assert_false(vagx_fw_is_crashed(rig->fw));
		memcpy(notifiers.host + i * 0x100, queue.notifier.host, 0x100);
		rig_compute_new(rig, &queue, &command);
		put(command.command, FW_RunCompute_event_control_addr, notifiers.va + i * 0x100);
		rig_submit(rig, &queue, command.command.va);
		assert_true(rig_wait_stamp(rig, 0, command.stamp));
	}
	assert_true(rig_wait_crash(rig));
	rig_free(rig);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spoiled_initdata),
		cmocka_unit_test(test_spoiled_work),
		cmocka_unit_test(test_memory_goes_away),
		cmocka_unit_test(test_reset_while_locked),
		cmocka_unit_test(test_endless_notifiers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
