// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The firmware at its worst: what is injected happens, and a driver that acts
 * as it should breaks no rule by it.
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

static int teardown(void **state)
{
	rig_free(*state);
	return 0;
}

static void clean(struct rig *rig)
{
	vagx_report_summary(rig->report);
	assert_int_equal(rig_findings(rig), 0);
}

static int inject(struct rig *rig, enum vagx_fw_injection_kind kind, int64_t value)
{
	struct vagx_fw_injection what = { .kind = kind, .value = value, .text = "injected" };

	return vagx_fw_inject(rig->fw, &what);
}

static uint64_t now_ms(void)
{
	return vagx_clock_host_ns() / 1000000;
}

static bool is_deaf(struct rig *rig)
{
	bool deaf;

	pthread_mutex_lock(&rig->lock);
	deaf = rig->deaf;
	pthread_mutex_unlock(&rig->lock);
	return deaf;
}

static bool turned_deaf(struct rig *rig, const void *arg)
{
	return is_deaf(rig);
}

static bool hears_again(struct rig *rig, const void *arg)
{
	return !is_deaf(rig);
}

static unsigned int jobs(struct rig *rig)
{
	unsigned int count;

	pthread_mutex_lock(&rig->lock);
	count = rig->units.jobs;
	pthread_mutex_unlock(&rig->lock);
	return count;
}

static bool one_job_runs(struct rig *rig, const void *arg)
{
	return jobs(rig) == 1;
}

static void hang(struct rig *rig, bool hang)
{
	pthread_mutex_lock(&rig->lock);
	rig->units.hang = hang;
	pthread_cond_broadcast(&rig->changed);
	pthread_mutex_unlock(&rig->lock);
}

static uint32_t stamp(struct rig *rig, unsigned int slot)
{
	return __atomic_load_n((uint32_t *)(rig->stamps.host + 4 * slot), __ATOMIC_ACQUIRE);
}

static uint8_t *handoff(struct rig *rig)
{
	return rig->ram + (rig->handoff - RIG_RAM_BASE);
}

static void test_needs_firmware(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(inject(rig, VAGX_FW_INJECT_CRASH, 0), -ENODEV);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_TIMEOUT, 0), -ENODEV);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_EVENT, 0), -ENODEV);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_BREAK_EVENT_RING, 0), -ENODEV);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_LOG, 0), -ENODEV);
	assert_int_equal(inject(rig, 1000, 0), -EINVAL);
	rig_boot(rig);
	clean(rig);
}

static void test_bad_pipe(void **state)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_HANG, .pipe = 3 };
	struct rig *rig = *state;

	assert_int_equal(vagx_fw_inject(rig->fw, &what), -EINVAL);
	what.kind = VAGX_FW_INJECT_CHANNEL_ERROR;
	assert_int_equal(vagx_fw_inject(rig->fw, &what), -EINVAL);
}

/* Neither a doorbell nor the end of a job gets through */
static void test_silence(void **state)
{
	struct rig *rig = *state;
	struct rig_command command[2];
	struct rig_queue queue[2];

	rig_boot(rig);
	for (unsigned int i = 0; i < 2; i++) {
		rig_queue_new(rig, &queue[i], 2, i);
		rig_compute_new(rig, &queue[i], &command[i]);
	}
	hang(rig, true);
	rig_submit(rig, &queue[0], command[0].command.va);
	assert_true(rig_wait(rig, one_job_runs, NULL));
	assert_int_equal(inject(rig, VAGX_FW_INJECT_SILENCE, true), 0);
	assert_true(is_deaf(rig));
	hang(rig, false);
	rig_submit(rig, &queue[1], command[1].command.va);
	usleep(50000);
	assert_int_equal(stamp(rig, 0), 0);
	assert_int_equal(jobs(rig), 1);
	assert_null(rig_event(rig).host);

	assert_int_equal(inject(rig, VAGX_FW_INJECT_SILENCE, false), 0);
	assert_false(is_deaf(rig));
	assert_true(rig_wait_stamp(rig, 0, 0x100));
	assert_true(rig_wait_stamp(rig, 1, 0x100));
	clean(rig);
}

/*
 * A driver that has given the firmware up takes contexts away meanwhile. The firmware goes on
 * with its rings, and finds commands without a context.
 */
static void test_silence_and_contexts_go(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_SILENCE, true), 0);
	rig_submit(rig, &queue, command.command.va);
	rig_forget_context(rig);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_SILENCE, false), 0);
	assert_true(rig_wait_rule(rig, VAGX_RULE_FW_COMMAND_CONTEXT));
	assert_false(vagx_fw_is_crashed(rig->fw));
}

static bool is_pending(struct rig *rig, const void *arg)
{
	return rig_is_pending(rig, 0, 0x100);
}

/*
 * A command that hangs goes on as long as its context has the tables that it began with, and
 * faults where these are others without its memory
 */
static void test_hang_misses_memory(void **state)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_HANG, .pipe = 2 };
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
	rig_submit(rig, &queue, command.command.va);
	/*
	 * The worker holds the firmware's lock from the write of the pending stamp until the
	 * command waits for the first time. It knows its tables by then.
	 */
	assert_true(rig_wait(rig, is_pending, NULL));
	assert_false(vagx_fw_is_crashed(rig->fw));
	usleep(50000);
	assert_null(rig_event(rig).host);

	rig_empty_context(rig);
	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), 0);
	assert_true(rig_wait(rig, turned_deaf, NULL));
	rig_resume(rig);
	assert_true(rig_wait_stamp(rig, 0, 0x100));
	clean(rig);
}

/* Power gets through to a silent firmware, and ends its silence */
static void test_silence_ends_with_power(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	hang(rig, true);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait(rig, one_job_runs, NULL));
	assert_int_equal(inject(rig, VAGX_FW_INJECT_SILENCE, true), 0);
	hang(rig, false);
	for (unsigned int i = 0; i < 100; i++)
		rig_doorbell(rig, 0x10);
	vagx_fw_cut(rig->fw);
	assert_false(is_deaf(rig));
	assert_int_equal(stamp(rig, 0), 0);
	rig_forget(rig);
	rig_boot(rig);
	clean(rig);
}

static bool none_runs(struct rig *rig, const void *arg)
{
	return !rig_units_of(rig).running;
}

static void test_crash(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	hang(rig, true);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait(rig, one_job_runs, NULL));
	assert_int_equal(inject(rig, VAGX_FW_INJECT_CRASH, 0), 0);
	assert_true(rig_wait_crash(rig));
	/* The job goes with it, and its end is told to nobody */
	assert_true(rig_wait(rig, none_runs, NULL));
	assert_int_equal(rig_units_of(rig).cancelled, 1);
	usleep(20000);
	assert_int_equal(stamp(rig, 0), 0);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_CRASH, 0), -ENODEV);
	rig_submit(rig, &queue, command.command.va);
	usleep(20000);
	assert_int_equal(jobs(rig), 1);
	/* Starting is no restart */
	vagx_fw_start(rig->fw);
	vagx_fw_wake(rig->fw);
	assert_true(vagx_fw_is_crashed(rig->fw));

	hang(rig, false);
	vagx_fw_cut(rig->fw);
	pthread_mutex_lock(&rig->lock);
	rig->crashed = false;
	pthread_mutex_unlock(&rig->lock);
	rig_forget(rig);
	rig_boot(rig);
	assert_false(vagx_fw_is_crashed(rig->fw));
	clean(rig);
}

static void test_timeout(void **state)
{
	static const int slots[] = { 5, -1, 1000, INT32_MIN };
	struct rig *rig = *state;
	struct rig_ptr event;

	rig_boot(rig);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(inject(rig, VAGX_FW_INJECT_TIMEOUT, slots[i]), 0);
		assert_int_equal(inject(rig, VAGX_FW_INJECT_TIMEOUT, slots[i]), -EBUSY);
		event = rig_wait_event(rig);
		assert_int_equal(get(event, FW_EventMsg_msg_type), 4);
		assert_int_equal(get(event, FW_EventTimeout_counter), i);
		assert_int_equal((int32_t)get(event, FW_EventTimeout_stamp_index), slots[i]);
		assert_int_equal(get(rig->status, FW_FwStatus_halted), 1);
		/* A halt is told of before the firmware's thread knows that it is deaf. */
		assert_true(rig_wait(rig, turned_deaf, NULL));
		rig_resume(rig);
		assert_true(rig_wait(rig, hears_again, NULL));
	}
	clean(rig);
}

/* While it is halted, doorbells wait; what has come is found when it goes on */
static void test_halted_is_deaf(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_TIMEOUT, 0), 0);
	assert_true(rig_wait(rig, turned_deaf, NULL));
	rig_submit(rig, &queue, command.command.va);
	rig_control(rig, 0x18);
	rig_control_send(rig);
	usleep(30000);
	assert_int_equal(get((struct rig_ptr){ .host = rig->channel[12].state.host },
			     FW_RingState_read_ptr), 1);
	rig_resume(rig);
	assert_true(rig_wait_stamp(rig, 0, 0x100));
	assert_true(rig_wait_control(rig));
	assert_false(is_deaf(rig));
}

/* ... also when a job has halted it */
static void test_fault_is_deaf(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	pthread_mutex_lock(&rig->lock);
	rig->units.status = VAGX_GPU_FAULT;
	pthread_mutex_unlock(&rig->lock);
	rig_submit(rig, &queue, command.command.va);
	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), 0);
	assert_true(rig_wait(rig, turned_deaf, NULL));
	rig_resume(rig);
	assert_true(rig_wait(rig, hears_again, NULL));
	assert_true(rig_wait_stamp(rig, 0, 0x100));
	clean(rig);
}

static bool has_halted(struct rig *rig, const void *arg)
{
	(void)arg;
	return get(rig->status, FW_FwStatus_halted);
}

/* It tells first, reads on, and halts later. With this seed that is after 0.3 s. */
static void test_late_halt(void **state)
{
	struct rig_options options = { .halt_delay_ms = 400, .seed = 1 };
	struct rig *rig = rig_new_with(&options);
	struct rig_command command;
	struct rig_queue queue;
	struct rig_ptr message;

	(void)state;
	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	pthread_mutex_lock(&rig->lock);
	rig->units.status = VAGX_GPU_FAULT;
	pthread_mutex_unlock(&rig->lock);
	rig_submit(rig, &queue, command.command.va);
	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), 0);
	assert_int_equal(get(rig->status, FW_FwStatus_halted), 0);
	assert_true(rig_is_pending(rig, 0, 0x100));
	message = rig_control(rig, 0x18);
	put(message, FW_DcDestroyContext_ctx_0, 0xff);
	put(message, FW_DcDestroyContext_ctx_1, 0xff);
	rig_control_send(rig);
	assert_true(rig_wait_control(rig));
	assert_int_equal(get(rig->status, FW_FwStatus_halted), 0);
	assert_int_equal(((uint32_t *)rig->stamps.host)[0], 0);
	assert_true(rig_wait(rig, has_halted, NULL));
	rig_resume(rig);
	assert_true(rig_wait_stamp(rig, 0, 0x100));
	clean(rig);
	rig_free(rig);
}

static void test_event(void **state)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_EVENT };
	struct rig *rig = *state;
	struct rig_ptr event;

	rig_boot(rig);
	for (unsigned int i = 0; i < VAGX_FW_EVENT_WORDS; i++)
		what.word[i] = 0x11111111 * i;
	assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
	event = rig_wait_event(rig);
	assert_memory_equal(event.host, what.word, sizeof(what.word));
	clean(rig);
}

/* Words that the driver does not understand go into each ring, and it is told of them */
static void test_message(void **state)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_MESSAGE, .value = -1 };
	static const struct {
		enum vagx_fw_ring ring;
		unsigned int channel, at;
	} rings[] = {
		{ VAGX_FW_RING_LOG, 14, 0x30 },
		{ VAGX_FW_RING_KTRACE, 15, 0 },
		{ VAGX_FW_RING_STATISTICS, 16, 0 },
	};
	struct rig *rig = *state;
	uint32_t *entry, index;

	assert_int_equal(inject(rig, VAGX_FW_INJECT_MESSAGE, 0), -ENODEV);
	rig_boot(rig);
	for (unsigned int i = 0; i < VAGX_FW_EVENT_WORDS; i++)
		what.word[i] = 0x11111111 * i + 9;
	for (unsigned int i = 0; i < 3; i++) {
		struct rig_ring *ring = &rig->channel[rings[i].channel];
		uint32_t *wptr = (uint32_t *)(ring->state.host + rings[i].at + 0x20);
		uint32_t before = *wptr;

		what.value = rings[i].ring;
		assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
		assert_int_equal(*wptr, before + 1);
		entry = (uint32_t *)(ring->entries.host +
				     (rings[i].at / 0x30 * 0x100 + before) * 0x38);
		if (rings[i].ring != VAGX_FW_RING_STATISTICS)
			assert_memory_equal(entry, what.word, sizeof(what.word));
	}
	assert_memory_equal(rig->channel[16].entries.host, what.word, sizeof(what.word));
	what.value = VAGX_FW_RING_LOG_TEXT;
	assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
	index = *(uint32_t *)(rig->channel[14].state.host + 0x30 + 0x20) - 1;
	entry = (uint32_t *)(rig->channel[14].entries.host + (0x100 + index) * 0x38);
	assert_int_equal(entry[0], 2);
	assert_int_equal(entry[2], index);
	assert_memory_equal(rig->log_payload.host + (0x100 + index) * 0xd8, what.word,
			    sizeof(what.word));
	clean(rig);
}

static void test_broken_event_ring(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;
	uint32_t *wptr = (uint32_t *)(rig->channel[13].state.host + 0x20);

	rig_boot(rig);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_BREAK_EVENT_RING, 0), 0);
	assert_int_equal(*wptr, UINT32_MAX);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait_stamp(rig, 0, 0x100));
	assert_int_equal(*wptr, UINT32_MAX);
	vagx_fw_cut(rig->fw);
	clean(rig);
	/* The next firmware has a good one */
	rig_forget(rig);
	rig_boot(rig);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_EVENT, 0), 0);
	rig_wait_event(rig);
	clean(rig);
}

static void test_log(void **state)
{
	struct rig *rig = *state;
	struct rig_ring *log = &rig->channel[14];

	rig_boot(rig);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_LOG, 5), 0);
	assert_int_equal(*(uint32_t *)(log->state.host + 5 * 0x30 + 0x20), 1);
	assert_string_equal((char *)rig->log_payload.host + 5 * 0x100 * 0xd8 + 0x10, "injected");
	clean(rig);
}

/* The firmware keeps its side of the lock: its own jobs wait, too */
static void test_hold_lock(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_HOLD_LOCK, true), 0);
	assert_int_equal(handoff(rig)[AGX_HANDOFF_LOCK_FW], 1);
	assert_int_equal(handoff(rig)[AGX_HANDOFF_TURN], 1);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	usleep(30000);
	assert_int_equal(jobs(rig), 0);
	assert_int_equal(handoff(rig)[AGX_HANDOFF_LOCK_FW], 1);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_HOLD_LOCK, false), 0);
	assert_true(rig_wait_stamp(rig, 0, 0x100));
	assert_int_equal(handoff(rig)[AGX_HANDOFF_LOCK_FW], 0);
	clean(rig);
}

/* Power takes the firmware away under a job that waits; the lock stays as it was left */
static void test_hold_lock_and_power(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;
	uint64_t before;

	rig_boot(rig);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_HOLD_LOCK, true), 0);
	rig_queue_new(rig, &queue, 2, 0);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	usleep(30000);
	before = now_ms();
	vagx_fw_cut(rig->fw);
	assert_true(now_ms() - before < 1000);
	assert_int_equal(handoff(rig)[AGX_HANDOFF_LOCK_FW], 1);
	clean(rig);
}

static uint64_t flush_state(struct rig *rig)
{
	uint64_t *entry = (uint64_t *)(handoff(rig) + AGX_HANDOFF_FLUSH_ENTRY(0x40));

	return __atomic_load_n(entry, __ATOMIC_ACQUIRE);
}

static bool flush_has_state(struct rig *rig, const void *arg)
{
	return flush_state(rig) == *(const uint64_t *)arg;
}

static void make_uncached(struct rig *rig, uint64_t va)
{
	uint64_t *pte = rig_pte(rig, rig->root, va);

	*pte = (*pte & ~AGX_PTE_ATTR_MASK) | AGX_PTE_ATTR_SHARED << AGX_PTE_ATTR_SHIFT;
}

static void test_late_flush(void **state)
{
	static const uint64_t done = 2;
	struct rig *rig = *state;
	uint64_t before;

	rig_boot(rig);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_LATE_FLUSH, 60), 0);
	make_uncached(rig, rig->hwdata_b.va);
	before = now_ms();
	rig_flush(rig, rig->hwdata_b.va & ~AGX_PAGE_MASK, AGX_PAGE_SIZE);
	usleep(20000);
	assert_int_equal(flush_state(rig), 1);
	assert_true(rig_wait(rig, flush_has_state, &done));
	assert_true(now_ms() - before >= 59);
	clean(rig);
}

static void test_flush_state(void **state)
{
	static const uint64_t states[] = { 7, 2 };
	struct rig *rig = *state;

	rig_boot(rig);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_FLUSH_STATE, 7), 0);
	make_uncached(rig, rig->hwdata_b.va);
	for (unsigned int i = 0; i < 2; i++) {
		rig_flush(rig, rig->hwdata_b.va & ~AGX_PAGE_MASK, AGX_PAGE_SIZE);
		assert_true(rig_wait(rig, flush_has_state, &states[i]));
	}
	clean(rig);
}

static void block_send(struct rig *rig, bool block)
{
	pthread_mutex_lock(&rig->lock);
	rig->block_send = block;
	pthread_cond_broadcast(&rig->changed);
	pthread_mutex_unlock(&rig->lock);
}

static bool send_blocked(struct rig *rig, const void *arg)
{
	bool blocked;

	pthread_mutex_lock(&rig->lock);
	blocked = rig->blocked;
	pthread_mutex_unlock(&rig->lock);
	return blocked;
}

/* The firmware waits for the driver, and whoever injects must not wait for it */
static void test_busy(void **state)
{
	struct rig *rig = *state;
	struct vagx_fw_status status;
	uint64_t before;

	rig_boot(rig);
	block_send(rig, true);
	before = now_ms();
	assert_int_equal(inject(rig, VAGX_FW_INJECT_LOG, 0), -ETIMEDOUT);
	assert_true(rig_wait(rig, send_blocked, NULL));
	assert_false(vagx_fw_get_status(rig->fw, &status));
	assert_int_equal(inject(rig, VAGX_FW_INJECT_SILENCE, true), -EBUSY);
	assert_true(now_ms() - before < 3000);
	block_send(rig, false);
	for (unsigned int i = 0; i < 20000 && inject(rig, VAGX_FW_INJECT_LATE_FLUSH, 0) == -EBUSY;
	     i++)
		usleep(1000);
	assert_int_equal(inject(rig, VAGX_FW_INJECT_LATE_FLUSH, 0), 0);
	assert_true(vagx_fw_get_status(rig->fw, &status));
	assert_string_equal(status.state, "ready");
	assert_false(status.silent);
	clean(rig);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(needs_firmware),
		TEST(bad_pipe),
		TEST(silence),
		TEST(silence_and_contexts_go),
		TEST(hang_misses_memory),
		TEST(silence_ends_with_power),
		TEST(crash),
		TEST(timeout),
		TEST(halted_is_deaf),
		cmocka_unit_test(test_late_halt),
		TEST(fault_is_deaf),
		TEST(event),
		TEST(message),
		TEST(broken_event_ring),
		TEST(log),
		TEST(hold_lock),
		TEST(hold_lock_and_power),
		TEST(late_flush),
		TEST(flush_state),
		TEST(busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
