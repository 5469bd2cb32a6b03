// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The virtual firmware as a driver sees it, from INIT to stamps, events and
 * recovery. None of this breaks a rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "rig.h"

static int setup(void **state)
{
	*state = rig_new();
	return 0;
}

static int setup_serial(void **state)
{
	static const struct rig_options options = { .serial = true };

	*state = rig_new_with(&options);
	return 0;
}

static int setup_timeout(void **state)
{
	static const struct rig_options options = { .timeout_ms = RIG_TIMEOUT_MS };

	*state = rig_new_with(&options);
	return 0;
}

static int teardown(void **state)
{
	rig_free(*state);
	return 0;
}

static void assert_flags(struct rig_ptr event, unsigned int slot)
{
	uint32_t mask[4];

	assert_int_equal(get(event, FW_EventMsg_msg_type), 1);
	memcpy(mask, event.host + 4, sizeof(mask));
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(mask[i], i == slot / 32 ? 1U << slot % 32 : 0);
}

/* DestroyContext without a context */
static void flush_all(struct rig *rig)
{
	struct rig_ptr msg = rig_control(rig, 0x18);

	put(msg, FW_DcDestroyContext_ctx_0, 0xff);
	put(msg, FW_DcDestroyContext_ctx_1, 0xff);
	rig_control_send(rig);
	assert_true(rig_wait_control(rig));
}

static void test_abis(void **state)
{
	struct vagx_fw_config config = { .soc = vagx_soc_find("t8103"), .abi = "12.4" };

	errno = 0;
	assert_null(vagx_fw_new(&config));
	assert_int_equal(errno, EINVAL);
	config.abi = "14.0";
	assert_null(vagx_fw_new(&config));
	assert_int_equal(errno, EINVAL);
}

static void test_boot(void **state)
{
	struct rig *rig = *state;
	uint64_t *magic =
		(uint64_t *)(rig->ram + (rig->handoff - RIG_RAM_BASE) + AGX_HANDOFF_MAGIC_FW);
	struct rig_ring *log = &rig->channel[14];

	assert_int_equal(*magic, 0);
	rig_boot(rig);
	assert_int_equal(*magic, AGX_HANDOFF_MAGIC);
	rig_assert_clean(rig);

	/* The second log channel tells about it, in both of its rings */
	assert_true(*(uint32_t *)(log->state.host + 0x30 + 0x20) >= 1);
	assert_int_equal(*(uint32_t *)(log->entries.host + 0x100 * 0x38), 2);
	assert_int_equal(*(uint32_t *)(rig->log_payload.host + 0x100 * 0xd8), 3);
	assert_memory_equal(rig->log_payload.host + 0x100 * 0xd8 + 0x10, "vagx firmware 13.5", 18);
	pthread_mutex_lock(&rig->lock);
	assert_true(rig->notifications > 0);
	pthread_mutex_unlock(&rig->lock);
}

static void test_compute(void **state)
{
	struct rig *rig = *state;
	struct rig_units units;
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 77);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	assert_flags(rig_wait_event(rig), 77);
	assert_true(rig_wait_stamp(rig, 77, 0x100));
	assert_int_equal(((uint32_t *)rig->fw_stamps.host)[77], 0x100);
	assert_int_equal(get(queue.pointers, FW_QueuePointers_gpu_rptr), 1);
	assert_int_equal(get(queue.pointers, FW_QueuePointers_gpu_doneptr), 1);
	assert_int_equal(get(queue.notifier, FW_EventControl_cur_count), 1);
	assert_int_not_equal(get(command.command, FW_RunCompute_ts1), 0);

	units = rig_units_of(rig);
	assert_int_equal(units.jobs, 1);
	assert_int_equal(units.last_slot, RIG_CONTEXT);
	assert_int_equal(units.last.cdm_base, 0x1500000000);
	assert_int_equal(units.last.cdm_end, 0x1500000100);
	assert_int_equal(units.last.usc_base, 0x1100000000);
	assert_int_equal(units.last.sampler_base, 0x1600000000);
	assert_int_equal(units.last.sampler_count, 4);
	assert_int_equal(units.last.helper_program, 0x11);
	assert_int_equal(units.last.helper_data, 0x22);
	assert_int_equal(units.last.helper_cfg, 0x33);
	rig_assert_clean(rig);
}

/* User timestamps are written where they are asked for, in ns, while the driver's are in ticks */
static void test_timestamps(void **state)
{
	struct rig *rig = *state;
	struct rig_ptr times = rig_alloc(rig, RIG_TIMESTAMP, 16), pointers;
	struct rig_command command;
	struct rig_queue queue;
	uint64_t *time = (uint64_t *)times.host;
	uint64_t ticks = vagx_clock_now(rig->clock);

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	pointers = sub(command.command, FW_RunCompute_user_ts_pointers, FW_S_TimestampPointers, 0);
	put(pointers, FW_TimestampPointers_start_addr, times.va);
	put(pointers, FW_TimestampPointers_end_addr, times.va + 8);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait_stamp(rig, 0, 0x100));
	/* 24 MHz */
	assert_true(time[0] >= ticks * 125 / 3);
	assert_true(time[1] >= time[0]);
	assert_true(time[1] <= vagx_clock_now(rig->clock) * 125 / 3);
	ticks = get(command.command, FW_RunCompute_ts1);
	assert_int_equal(time[1], ticks * 125 / 3);
	rig_assert_clean(rig);
}

/* More commands than the queue's ring and the pipe's ring have entries */
static void test_wrap(void **state)
{
	struct rig *rig = *state;
	struct rig_queue queue;
	struct rig_command command;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 3);
	rig_compute_new(rig, &queue, &command);
	for (unsigned int i = 0; i < 0x500 + 20; i++) {
		struct rig_ptr meta = sub(command.command, FW_RunCompute_job_meta, FW_S_JobMeta, 0);
		uint32_t stamp = (i + 1) * 0x100;

		put(meta, FW_JobMeta_stamp_value, stamp);
		put(meta, FW_JobMeta_queue_cmd_count, i);
		put(command.sequence, FW_StartCompute_counter2, i);
		put((struct rig_ptr){ .host = command.sequence.host + command.finalize },
		    FW_FinalizeCompute_stamp_value, stamp);
		rig_submit(rig, &queue, command.command.va);
		assert_true(rig_wait_stamp(rig, 3, stamp));
		assert_flags(rig_wait_event(rig), 3);
		/* The same command again needs what a driver does before it reuses memory */
		flush_all(rig);
	}
	assert_int_equal(get(queue.pointers, FW_QueuePointers_gpu_doneptr), 20);
	rig_assert_clean(rig);
}

/* One message for several commands, one event once the threshold is reached */
static void test_threshold(void **state)
{
	struct rig *rig = *state;
	struct rig_command command[3];
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 9);
	for (unsigned int i = 0; i < 3; i++) {
		rig_compute_new(rig, &queue, &command[i]);
		rig_count(rig, &queue);
		rig_push(rig, &queue, command[i].command.va);
	}
	rig_announce(rig, &queue, 2);
	assert_flags(rig_wait_event(rig), 9);
	assert_int_equal(((uint32_t *)rig->stamps.host)[9], 0x300);
	assert_null(rig_event(rig).host);
	rig_assert_clean(rig);
}

/* A barrier holds its own queue only, until the other queue's stamp */
static void test_barrier(void **state)
{
	struct rig *rig = *state;
	struct rig_queue waits, other, vertex;
	struct rig_command command, first;

	rig_boot(rig);
	rig_queue_new(rig, &waits, 2, 1);
	rig_queue_new(rig, &other, 2, 2);
	rig_queue_new(rig, &vertex, 0, 4);
	rig_push(rig, &waits, rig_barrier_new(rig, 2, 0x100).va);
	rig_compute_new(rig, &waits, &command);
	rig_count(rig, &waits);
	rig_push(rig, &waits, command.command.va);
	rig_announce(rig, &waits, 0);
	/* A queue of another pipe waits for the one that waits */
	rig_push(rig, &vertex, rig_barrier_new(rig, 1, 0x100).va);
	rig_announce(rig, &vertex, 3);
	usleep(20000);
	assert_int_equal(rig_units_of(rig).jobs, 0);

	rig_compute_new(rig, &other, &first);
	rig_submit(rig, &other, first.command.va);
	assert_true(rig_wait_stamp(rig, 2, 0x100));
	assert_true(rig_wait_stamp(rig, 1, 0x100));
	for (unsigned int i = 0; i < 20000 && !get(vertex.pointers, FW_QueuePointers_gpu_doneptr);
	     i++)
		usleep(1000);
	assert_int_equal(get(vertex.pointers, FW_QueuePointers_gpu_doneptr), 1);
	assert_int_equal(get(waits.pointers, FW_QueuePointers_gpu_doneptr), 2);
	rig_assert_clean(rig);
}


static bool one_job_runs(struct rig *rig, const void *arg)
{
	return rig_units_of(rig).jobs == 1;
}

/* The firmware has read the only command of a ring: its turn is what it waits for */
static bool is_taken(struct rig *rig, const void *arg)
{
	const struct rig_queue *queue = arg;

	return get(queue->pointers, FW_QueuePointers_gpu_rptr) == 1;
}

/* While one command runs, those that wait are taken by priority */
static void test_priority(void **state)
{
	struct rig *rig = *state;
	struct rig_queue queue[3];
	struct rig_command command[3];

	rig_boot(rig);
	rig_hang(rig, true);
	for (unsigned int i = 0; i < 3; i++) {
		rig_queue_new(rig, &queue[i], 2, i);
		rig_compute_new(rig, &queue[i], &command[i]);
		put(sub(command[i].command, FW_RunCompute_compute_info, FW_S_ComputeInfo, 0),
		    FW_ComputeInfo_encoder, i);
	}
	rig_submit(rig, &queue[0], command[0].command.va);
	assert_true(rig_wait(rig, one_job_runs, NULL));
	rig_count(rig, &queue[1]);
	rig_push(rig, &queue[1], command[1].command.va);
	rig_announce(rig, &queue[1], 3);
	rig_count(rig, &queue[2]);
	rig_push(rig, &queue[2], command[2].command.va);
	rig_announce(rig, &queue[2], 1);
	assert_true(rig_wait(rig, is_taken, &queue[1]));
	assert_true(rig_wait(rig, is_taken, &queue[2]));
	/* the most that a turn is put off by */
	usleep(5000);
	rig_hang(rig, false);
	assert_true(rig_wait_stamp(rig, 1, 0x100));
	assert_true(rig_wait_stamp(rig, 2, 0x100));
	assert_int_equal(rig_units_of(rig).last.cdm_base, 1);
	rig_assert_clean(rig);
}

static void test_fault(void **state)
{
	struct rig *rig = *state;
	struct rig_command command[2];
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 12);
	pthread_mutex_lock(&rig->lock);
	rig->units.status = VAGX_GPU_FAULT;
	rig->units.unit = 0xe6;
	rig->units.fault = (struct vagx_uat_fault){ .va = 0xdead000,
						    .slot = RIG_CONTEXT,
						    .access = VAGX_WRITE };
	pthread_mutex_unlock(&rig->lock);
	rig_compute_new(rig, &queue, &command[0]);
	rig_compute_new(rig, &queue, &command[1]);
	rig_submit(rig, &queue, command[0].command.va);
	rig_submit(rig, &queue, command[1].command.va);

	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), 0);
	assert_int_equal(get(rig->status, FW_FwStatus_halted), 1);
	assert_int_equal(get(rig->status, FW_FwStatus_halt_count), 1);
	pthread_mutex_lock(&rig->lock);
	assert_true(rig->fault_set);
	assert_int_equal(rig->fault.va, 0xdead000);
	assert_int_equal(rig->fault_unit, 0xe6);
	pthread_mutex_unlock(&rig->lock);
	assert_true(rig_is_pending(rig, 12, 0x100));
	usleep(10000);
	assert_int_equal(((uint32_t *)rig->stamps.host)[12], 0);
	assert_int_equal(rig_units_of(rig).jobs, 1);

	rig_resume(rig);
	assert_true(rig_wait_stamp(rig, 12, 0x200));
	assert_int_equal(get(rig->status, FW_FwStatus_resume), 0);
	assert_int_equal(rig_units_of(rig).jobs, 2);
	pthread_mutex_lock(&rig->lock);
	assert_false(rig->fault_set);
	pthread_mutex_unlock(&rig->lock);
	rig_assert_clean(rig);
}

static void test_timeout(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;
	struct rig_ptr event;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 20);
	for (unsigned int i = 0; i < 2; i++) {
		rig_hang(rig, true);
		rig_compute_new(rig, &queue, &command);
		rig_submit(rig, &queue, command.command.va);
		event = rig_wait_event(rig);
		assert_int_equal(get(event, FW_EventMsg_msg_type), 4);
		assert_int_equal(get(event, FW_EventTimeout_counter), i);
		assert_int_equal(get(event, FW_EventTimeout_stamp_index), 20);
		assert_true(rig_is_pending(rig, 20, command.stamp));
		rig_hang(rig, false);
		rig_resume(rig);
		assert_true(rig_wait_stamp(rig, 20, command.stamp));
		assert_flags(rig_wait_event(rig), 20);
	}
	rig_assert_clean(rig);
}

/* Power goes away under a running job, comes back, and INIT is sent again */
static void test_second_init(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_hang(rig, true);
	rig_queue_new(rig, &queue, 2, 1);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait(rig, one_job_runs, NULL));
	vagx_fw_quiesce(rig->fw);
	assert_int_equal(((uint32_t *)rig->stamps.host)[1], 0);
	rig_hang(rig, false);

	rig_forget_rings(rig);
	vagx_fw_wake(rig->fw);
	rig_init(rig);
	rig_initialize(rig);
	assert_true(rig_wait_control(rig));
	rig_queue_new(rig, &queue, 2, 1);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait_stamp(rig, 1, 0x100));
	rig_assert_clean(rig);
}

/* A job runs to its end after each of a hundred power cycles, in memory as it was left */
static void test_power_cycles(void **state)
{
	struct rig *rig = *state;
	uint64_t *magic =
		(uint64_t *)(rig->ram + (rig->handoff - RIG_RAM_BASE) + AGX_HANDOFF_MAGIC_FW);
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 1);
	rig_compute_new(rig, &queue, &command);
	for (unsigned int i = 0; i < 100; i++) {
		rig_hang(rig, i % 4 == 0);
		rig_submit(rig, &queue, command.command.va);
		if (i % 4)
			assert_true(rig_wait_stamp(rig, 1, 0x100));
		vagx_fw_cut(rig->fw);
		assert_int_equal(((uint32_t *)rig->stamps.host)[1], i % 4 ? 0x100 : 0);

		rig_forget(rig);
		memset(queue.pointers.host, 0, 0x50);
		memset(rig->stamps.host, 0, 128 * 4);
		memset(rig->fw_stamps.host, 0, 128 * 4);
		put(queue.notifier, FW_EventControl_cur_count, 0);
		*(uint32_t *)queue.threshold.host = 0;
		queue.wptr = 0;
		queue.known = false;
		queue.sequence = 0;
		*magic = 0;
		vagx_fw_start(rig->fw);
		rig_init(rig);
		rig_initialize(rig);
		assert_true(rig_wait_control(rig));
		assert_int_equal(*magic, AGX_HANDOFF_MAGIC);
	}
	rig_assert_clean(rig);
}

#define DIRTY_COMMANDS	64
/* Longer than a test takes, so that lines come to memory only when power goes */
#define DIRTY_MS	600000

/* How many of the timestamps that the firmware wrote overwrite what was there when power went */
static unsigned int written_back(enum vagx_power_off how)
{
	const struct rig_options options = { .power_off = how, .dirty_ms = DIRTY_MS };
	struct rig *rig = rig_new_with(&options);
	struct rig_command command[DIRTY_COMMANDS];
	struct rig_queue queue;
	unsigned int count = 0;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	for (unsigned int i = 0; i < DIRTY_COMMANDS; i++) {
		rig_compute_new(rig, &queue, &command[i]);
		rig_submit(rig, &queue, command[i].command.va);
	}
	assert_true(rig_wait_stamp(rig, 0, DIRTY_COMMANDS * 0x100));
	for (unsigned int i = 0; i < DIRTY_COMMANDS; i++)
		put(command[i].command, FW_RunCompute_ts1, 0);
	vagx_fw_cut(rig->fw);
	for (unsigned int i = 0; i < DIRTY_COMMANDS; i++)
		count += !!get(command[i].command, FW_RunCompute_ts1);
	rig_assert_clean(rig);
	rig_free(rig);
	return count;
}

static void test_dirty_lines(void **state)
{
	unsigned int random;

	assert_int_equal(written_back(VAGX_POWER_OFF_LOSE), 0);
	/* Some had to make room for others */
	assert_true(written_back(VAGX_POWER_OFF_LATE) > DIRTY_COMMANDS / 2);
	random = written_back(VAGX_POWER_OFF_RANDOM);
	assert_true(random > 0 && random < DIRTY_COMMANDS);
}

static bool one_is_written(struct rig *rig, const void *arg)
{
	const struct rig_command *command = arg;

	for (unsigned int i = 0; i < 8; i++) {
		if (get(command[i].command, FW_RunCompute_ts1))
			return true;
	}
	return false;
}

/* Dirty lines come to memory some time, also when the firmware has gone to sleep */
static void test_eviction(void **state)
{
	/* Longer than the commands take, so that some line is written after them */
	static const struct rig_options options = { .power_off = VAGX_POWER_OFF_LOSE, .dirty_ms = 4000 };
	struct rig *rig = rig_new_with(&options);
	struct rig_command command[8];
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	for (unsigned int i = 0; i < 8; i++) {
		rig_compute_new(rig, &queue, &command[i]);
		rig_submit(rig, &queue, command[i].command.va);
	}
	assert_true(rig_wait_stamp(rig, 0, 0x800));
	vagx_fw_quiesce(rig->fw);
	for (unsigned int i = 0; i < 8; i++)
		put(command[i].command, FW_RunCompute_ts1, 0);
	assert_true(rig_wait(rig, one_is_written, command));
	rig_assert_clean(rig);
	rig_free(rig);
}

static void test_flush(void **state)
{
	struct rig *rig = *state;
	uint64_t *entry =
		(uint64_t *)(rig->ram + (rig->handoff - RIG_RAM_BASE) + AGX_HANDOFF_FLUSH_ENTRY(0x40));
	uint64_t *pte;

	rig_boot(rig);
	/* Remap uncached, flush, unmap: as m1n1's handoff.py has it */
	pte = rig_pte(rig, rig->root, rig->hwdata_b.va);
	*pte = (*pte & ~AGX_PTE_ATTR_MASK) | AGX_PTE_ATTR_SHARED << AGX_PTE_ATTR_SHIFT;
	rig_flush(rig, rig->hwdata_b.va & ~AGX_PAGE_MASK, AGX_PAGE_SIZE);
	for (unsigned int i = 0; i < 20000 && __atomic_load_n(entry, __ATOMIC_ACQUIRE) != 2; i++)
		usleep(1000);
	assert_int_equal(*entry, 2);
	*pte = 0;
	*entry = 0;
	flush_all(rig);
	rig_assert_clean(rig);
}

static void test_destroy_context(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;
	struct rig_ptr msg;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	for (unsigned int i = 0; i < 2; i++) {
		rig_compute_new(rig, &queue, &command);
		rig_submit(rig, &queue, command.command.va);
		assert_true(rig_wait_stamp(rig, 0, command.stamp));
		assert_flags(rig_wait_event(rig), 0);
		msg = rig_control(rig, 0x18);
		put(msg, FW_DcDestroyContext_ctx_23, 2);
		put(msg, FW_DcDestroyContext_ctx_0, 0xff);
		put(msg, FW_DcDestroyContext_ctx_1, 0xff);
		put(msg, FW_DcDestroyContext_context_addr, queue.context.va);
		rig_control_send(rig);
		assert_true(rig_wait_control(rig));
		/* The queue may come again as a new one, at the same address */
		memset(queue.pointers.host, 0, 0x50);
		queue.wptr = 0;
		queue.known = false;
		queue.sequence = 0;
	}
	rig_assert_clean(rig);
}

static void test_write32(void **state)
{
	struct rig *rig = *state;
	struct rig_ptr msg;

	rig_boot(rig);
	msg = rig_control(rig, 0x19);
	put(msg, FW_DcWrite32_addr, rig->stamps.va + 4);
	put(msg, FW_DcWrite32_data, 0x12345678);
	rig_control_send(rig);
	assert_true(rig_wait_control(rig));
	assert_int_equal(((uint32_t *)rig->stamps.host)[0], 0);
	assert_int_equal(((uint32_t *)rig->stamps.host)[1], 0x12345678);
	assert_int_equal(((uint32_t *)rig->stamps.host)[2], 0);
	rig_assert_clean(rig);
}

/* Read-only register ranges may be mapped writable */
static void test_io_mappings(void **state)
{
	struct rig *rig = *state;
	struct rig_ptr io = sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping, 1);
	uint64_t *pte = rig_pte(rig, rig->root, get(io, FW_IoMapping_virt_addr));

	*pte = (*pte & ~AGX_PTE_PROT_MASK) | AGX_PROT_FW_MMIO_RW;
	rig_boot(rig);
	rig_assert_clean(rig);
}

/* Ranges of several elements and of two dies are looked at to their end */
static void test_io_mappings_of_dies(void **state)
{
	static const struct rig_options options = { .soc = "t6002" };
	static const struct {
		unsigned int index;
		uint64_t offset;
	} last[] = { { 7, 0x4000 }, { 11, 15 * 0xd8000 }, { 11, 16 * 0xd8000 - 0x4000 } };
	struct rig *rig = rig_new_with(&options);

	rig_boot(rig);
	rig_assert_clean(rig);
	rig_free(rig);
	for (unsigned int i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		struct rig_ptr io;

		rig = rig_new_with(&options);
		io = sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping, last[i].index);
		*rig_pte(rig, rig->root, get(io, FW_IoMapping_virt_addr) + last[i].offset) ^=
			VAGX_DIE_STRIDE;
		rig_boot(rig);
		assert_int_equal(vagx_report_count(rig->report, VAGX_RULE_FW_INIT_IO_MAPPING), 1);
		rig_free(rig);
	}
}

/* On each SoC, machines run with the Rust driver's register ranges and with m1n1's */
static void test_io_mappings_of_socs(void **state)
{
	const struct vagx_soc *soc;

	for (unsigned int i = 0; (soc = vagx_soc_at(i)); i++) {
		for (unsigned int as_m1n1 = 0; as_m1n1 < 2; as_m1n1++) {
			const struct rig_options options = { .soc = soc->name, .as_m1n1 = as_m1n1 };
			struct rig *rig = rig_new_with(&options);

			rig_boot(rig);
			rig_assert_clean(rig);
			rig_free(rig);
		}
	}
}

/* The ranges of m1n1 that differ from the Rust driver's, as agx/initdata.py has them */
static void test_ranges_of_m1n1(void **state)
{
	static const struct {
		const char *soc;
		unsigned int index;
		uint64_t phys;
		uint32_t size, range_size;
		bool write;
	} ranges[] = {
		{ "t8112", 16, 0x204e00000, 0x10000, 0x10000, false },
		{ "t8112", 17, 0x27d050000, 0x4000, 0x4000, false },
		{ "t8112", 18, 0x23b3d0000, 0x1000, 0x1000, false },
		{ "t6000", 7, 0x28e494000, 0x1000, 0x1000, false },
		{ "t6000", 11, 0x200000000, 4 * 0xd8000, 0xd8000, true },
		{ "t6002", 11, 0x200000000, 16 * 0xd8000, 0xd8000, true },
		{ "t6020", 7, 0x28e478000, 0x4000, 0x4000, false },
		{ "t6021", 11, 0x200000000, 8 * 0xd8000, 0xd8000, true },
		{ "t6022", 7, 0x28e478000, 0x4000, 0x4000, false },
		{ "t6022", 21, 0x404eac000, 0x4000, 0x4000, true },
	};

	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		const struct rig_options options = { .soc = ranges[i].soc, .as_m1n1 = true };
		struct rig *rig = rig_new_with(&options);
		struct rig_ptr io = sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping,
					ranges[i].index);
		uint64_t va = get(io, FW_IoMapping_virt_addr), last = ranges[i].size - 1;

		assert_int_equal(get(io, FW_IoMapping_phys_addr), ranges[i].phys);
		assert_int_equal(get(io, FW_IoMapping_size), ranges[i].size);
		assert_int_equal(get(io, FW_IoMapping_range_size), ranges[i].range_size);
		assert_int_equal(get(io, FW_IoMapping_readwrite), ranges[i].write);
		/* It has no gaps */
		assert_int_equal(*rig_pte(rig, rig->root, va + last) & AGX_TTBR_ADDR_MASK,
				 (ranges[i].phys + last) & ~AGX_PAGE_MASK);
		rig_free(rig);
	}
	assert_null(vagx_soc_io_m1n1(vagx_soc_find("t8103"), 11));
}

/* m1n1's ranges are looked at to their end, too, and what neither of the two has is reported */
static void test_io_mappings_of_m1n1(void **state)
{
	static const struct {
		const char *soc;
		unsigned int index;
		uint64_t offset;
	} wrong[] = {
		{ "t8112", 16, 0xc000 }, { "t6000", 7, 0 }, { "t6021", 11, 8 * 0xd8000 - 0x4000 },
		{ "t6022", 21, 0 },
	};

	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct rig_options options = { .soc = wrong[i].soc, .as_m1n1 = true };
		struct rig *rig = rig_new_with(&options);
		struct rig_ptr io = sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping,
					wrong[i].index);

		*rig_pte(rig, rig->root, get(io, FW_IoMapping_virt_addr) + wrong[i].offset) ^=
			VAGX_DIE_STRIDE;
		rig_boot(rig);
		assert_int_equal(vagx_report_count(rig->report, VAGX_RULE_FW_INIT_IO_MAPPING), 1);
		assert_int_equal(rig_findings(rig), 1);
		rig_free(rig);
	}
}

static uint32_t wptr_of(struct rig *rig, unsigned int channel)
{
	return *(uint32_t *)(rig->channel[channel].state.host + 0x20);
}

/* Trace moves now and then, and is lost when nobody reads it */
static void test_trace(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	for (unsigned int i = 0; i < 40; i++) {
		rig_compute_new(rig, &queue, &command);
		rig_submit(rig, &queue, command.command.va);
		assert_true(rig_wait_stamp(rig, 0, command.stamp));
	}
	assert_int_equal(wptr_of(rig, 15), 3);
	assert_int_equal(*(uint32_t *)rig->channel[15].entries.host, 5);
	rig_assert_clean(rig);
}

/* What is in a ring before a message is written there: no poison, and no value of a field */
#define GARBAGE	0xd5

static void fill_with_garbage(struct rig *rig)
{
	for (unsigned int i = 13; i < 17; i++)
		memset(rig->channel[i].entries.host, GARBAGE,
		       (i == 14 ? 6 : 2) * 0x100 * fw_structs[FW_S_EventMsg].size[RIG_ABI]);
	memset(rig->log_payload.host, GARBAGE, 6 * 0x100 * fw_structs[FW_S_FwLogMsg].size[RIG_ABI]);
}

/*
 * The message at @at has the words of @expected and zeroes, whatever was there. Its time, in
 * @time if there is one, is none of garbage.
 */
static void assert_whole(uint8_t *at, enum fw_struct_id type, enum fw_field_id time,
			 struct rig_ptr expected)
{
	struct rig_ptr msg = { .host = at };

	if (time != FW_FIELD_COUNT) {
		assert_true(get(msg, time) < UINT64_C(1) << 60);
		put(expected, time, get(msg, time));
	}
	assert_memory_equal(at, expected.host, fw_structs[type].size[RIG_ABI]);
}

/* Messages are written whole: no byte is left of what was in the ring before */
static void test_whole_messages(void **state)
{
	uint8_t entry[0x40] = { 0 }, trace[0x40] = { 0 }, stats[0x40] = { 0 }, log[0xd8] = { 0 };
	struct rig *rig = *state;
	size_t second = 0x100 * fw_structs[FW_S_FwLogEntry].size[RIG_ABI];
	struct rig_command command;
	struct rig_queue queue;
	struct rig_ptr at = { 0 };

	fill_with_garbage(rig);
	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 77);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait_stamp(rig, 77, 0x100));
	assert_int_equal(wptr_of(rig, 15), 1);
	assert_true(wptr_of(rig, 16) > 0);

	/* m1n1's parser wants pad to be 0 and looks the thread up among six */
	at.host = trace;
	put(at, FW_KTraceMsg_msg_type, 5);
	put(at, FW_KTraceMsg_code, 0x0e);
	put(at, FW_KTraceMsg_channel, 0);
	put(at, FW_KTraceMsg_pad, 0);
	put(at, FW_KTraceMsg_thread, 1);
	put(at, FW_KTraceMsg_unk_flag, 0);
	put_at(at, FW_KTraceMsg_args, 0, 1);
	assert_whole(rig->channel[15].entries.host, FW_S_KTraceMsg, FW_KTraceMsg_timestamp, at);

	at.host = stats;
	put(at, FW_StatsMsg_msg_type, 12);
	put(at, FW_StatsFwBusy_flag, 1);
	assert_whole(rig->channel[16].entries.host, FW_S_StatsFwBusy,
		     FW_StatsFwBusy_timestamp, at);

	at.host = entry;
	put(at, FW_FwLogEntry_msg_type, 2);
	assert_whole(rig->channel[14].entries.host + second, FW_S_FwLogEntry, FW_FIELD_COUNT, at);
	at.host = log;
	put(at, FW_FwLogMsg_msg_type, 3);
	memcpy(log + 0x10, "vagx firmware 13.5 is up", 24);
	assert_whole(rig->log_payload.host + 0x100 * sizeof(log), FW_S_FwLogMsg,
		     FW_FwLogMsg_timestamp, at);

	memset(entry, 0, sizeof(entry));
	at.host = entry;
	put(at, FW_EventFlag_msg_type, 1);
	put_at(at, FW_EventFlag_firing, 1, 1 << (77 - 64));
	assert_whole(rig_wait_event(rig).host, FW_S_EventFlag, FW_FIELD_COUNT, at);
	rig_assert_clean(rig);
}

/* The driver reads no events for a while; none gets lost */
static void test_full_event_ring(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;
	unsigned int events = 0;
	struct rig_ptr event;
	uint32_t last = 0;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	for (unsigned int i = 0; i < 300; i++) {
		rig_compute_new(rig, &queue, &command);
		rig_submit(rig, &queue, command.command.va);
		assert_true(rig_wait_stamp(rig, 0, command.stamp));
		last = command.stamp;
	}
	for (unsigned int i = 0; i < 200; i++) {
		for (event = rig_event(rig); event.host; event = rig_event(rig), events++)
			assert_flags(event, 0);
		usleep(1000);
	}
	assert_int_equal(last, 300 * 0x100);
	assert_true(events >= 256 && events < 300);
	rig_assert_clean(rig);
}

static uint64_t used_in_300_ms(void)
{
	struct timespec before, after;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	usleep(300000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	return (after.tv_sec - before.tv_sec) * 1000000000ULL + after.tv_nsec - before.tv_nsec;
}

/* Nothing to do costs nothing */
static void test_idle(void **state)
{
	struct rig *rig = *state;
	unsigned int tries = 10;
	uint64_t used;

	rig_boot(rig);
	/* what the boot has left to do is done late where others keep the processor busy */
	do {
		used = used_in_300_ms();
		if (used >= 2000000 && tries > 1)
			print_message("# retried: firmware: test_idle\n");
	} while (used >= 2000000 && --tries);
	assert_true(used < 2000000);
	rig_assert_clean(rig);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
#define SERIAL(name) cmocka_unit_test_setup_teardown(test_##name, setup_serial, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_abis),
		TEST(boot),
		TEST(compute),
		TEST(timestamps),
		TEST(wrap),
		TEST(threshold),
		TEST(barrier),
		SERIAL(priority),
		SERIAL(fault),
		cmocka_unit_test_setup_teardown(test_timeout, setup_timeout, teardown),
		TEST(second_init),
		TEST(power_cycles),
		cmocka_unit_test(test_dirty_lines),
		cmocka_unit_test(test_eviction),
		TEST(flush),
		TEST(destroy_context),
		TEST(write32),
		TEST(io_mappings),
		cmocka_unit_test(test_io_mappings_of_dies),
		cmocka_unit_test(test_io_mappings_of_socs),
		cmocka_unit_test(test_ranges_of_m1n1),
		cmocka_unit_test(test_io_mappings_of_m1n1),
		TEST(trace),
		TEST(whole_messages),
		TEST(full_event_ring),
		TEST(idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
