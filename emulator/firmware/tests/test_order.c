// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Commands side by side: what may overlap does, and in changing orders; what a
 * barrier forbids never happens; stamps come in the order of their ring; and
 * what goes wrong has bystanders. None of this breaks a rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../fw_internal.h"
#include "rig.h"

#define A	0x1500000000ULL
#define B	0x1500001000ULL
#define C	0x1500002000ULL
#define SEEDS	24

static struct rig *rig_of_seed(uint64_t seed)
{
	const struct rig_options options = { .seed = seed };

	return rig_new_with(&options);
}

static int setup(void **state)
{
	*state = rig_new();
	rig_boot(*state);
	return 0;
}

static int setup_timeout(void **state)
{
	static const struct rig_options options = { .timeout_ms = RIG_TIMEOUT_MS };

	*state = rig_new_with(&options);
	rig_boot(*state);
	return 0;
}

static int teardown(void **state)
{
	rig_free(*state);
	return 0;
}

/* Into the ring, not announced yet */
static void add(struct rig *rig, struct rig_queue *queue, struct rig_command *command,
		uint64_t base)
{
	rig_compute_new(rig, queue, command);
	rig_compute_base(command, base);
	rig_count(rig, queue);
	rig_push(rig, queue, command->command.va);
}

static bool running(struct rig *rig, const void *arg)
{
	return rig_units_of(rig).running >= *(const unsigned int *)arg;
}

static void wait_running(struct rig *rig, unsigned int count)
{
	assert_true(rig_wait(rig, running, &count));
}

static void set_units(struct rig *rig, uint64_t only, enum vagx_gpu_status status, bool hang)
{
	pthread_mutex_lock(&rig->lock);
	rig->units.only = only;
	rig->units.status = status;
	rig->units.hang = hang;
	pthread_mutex_unlock(&rig->lock);
}

/* With the firmware's lock held, as the control socket does it */
static void inject(struct rig *rig, void (*set)(struct vagx_firmware *fw))
{
	pthread_mutex_lock(&rig->fw->lock);
	set(rig->fw);
	fw_wake(rig->fw);
	pthread_mutex_unlock(&rig->fw->lock);
}

static void no_event(struct rig *rig)
{
	usleep(10000);
	assert_null(rig_event(rig).host);
}

/* Nothing forbids it: commands of one ring, and of several, run at once */
static void test_side_by_side(void **state)
{
	struct rig *rig = *state;
	struct rig_queue queue[2];
	struct rig_command command[4];

	set_units(rig, 0, VAGX_GPU_DONE, true);
	for (unsigned int i = 0; i < 2; i++) {
		rig_queue_new(rig, &queue[i], 2, i);
		add(rig, &queue[i], &command[2 * i], A);
		add(rig, &queue[i], &command[2 * i + 1], B);
		rig_announce(rig, &queue[i], 2);
	}
	wait_running(rig, 4);
	for (unsigned int i = 0; i < 4; i++)
		assert_true(rig_is_pending(rig, i / 2, command[i].stamp));
	rig_hang(rig, false);
	for (unsigned int i = 0; i < 2; i++)
		assert_true(rig_wait_stamp(rig, i, 0x200));
	rig_assert_clean(rig);
}

/* The second is over first: neither its stamp nor its event comes before the first one's */
static void test_stamps_in_order(void **state)
{
	struct rig *rig = *state;
	struct rig_queue queue, other;
	struct rig_command command[3];

	set_units(rig, A, VAGX_GPU_DONE, true);
	rig_queue_new(rig, &queue, 2, 1);
	rig_queue_new(rig, &other, 2, 2);
	add(rig, &queue, &command[0], A);
	add(rig, &queue, &command[1], B);
	rig_announce(rig, &queue, 2);
	add(rig, &other, &command[2], C);
	rig_announce(rig, &other, 2);
	assert_true(rig_wait_stamp(rig, 2, 0x100));
	while (rig_units_of(rig).over < 2)
		usleep(1000);
	usleep(5000);
	assert_int_equal(rig_stamp(rig, 1), 0);
	assert_int_equal(get(queue.pointers, FW_QueuePointers_gpu_doneptr), 0);
	assert_int_equal(get(queue.pointers, FW_QueuePointers_gpu_rptr), 2);
	rig_hang(rig, false);
	assert_true(rig_wait_stamp(rig, 1, 0x200));
	assert_int_equal(get(queue.pointers, FW_QueuePointers_gpu_doneptr), 2);
	rig_assert_clean(rig);
}

/* Whether B is over although A stays on its units */
static bool overtakes(struct rig *rig, bool barrier)
{
	const unsigned int patience_ms = barrier ? 5 : 5000;
	struct rig_command command[2];
	struct rig_queue queue;
	bool over = false;

	rig_boot(rig);
	set_units(rig, A, VAGX_GPU_DONE, true);
	rig_queue_new(rig, &queue, 2, 3);
	add(rig, &queue, &command[0], A);
	if (barrier)
		rig_push(rig, &queue, rig_barrier_new(rig, 3, command[0].stamp).va);
	add(rig, &queue, &command[1], B);
	rig_announce(rig, &queue, 2);
	for (unsigned int ms = 0; ms < patience_ms && !over; ms++) {
		usleep(1000);
		over = rig_units_of(rig).over;
	}
	rig_hang(rig, false);
	assert_true(rig_wait_stamp(rig, 3, 0x200));
	rig_assert_clean(rig);
	return over;
}

/* A barrier that is left out is noticed, one that is there holds, whatever the seed */
static void test_barriers_matter(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct rig *rig = rig_of_seed(seed);

		assert_true(overtakes(rig, false));
		rig_free(rig);
		rig = rig_of_seed(seed);
		assert_false(overtakes(rig, true));
		rig_free(rig);
	}
}

/* One at a time, in order, though nothing forbids more */
static void test_serial(void **state)
{
	static const struct rig_options options = { .serial = true };
	struct rig *rig = rig_new_with(&options);
	struct rig_command command[24];
	struct rig_queue queue[3];
	struct rig_units units;

	rig_boot(rig);
	for (unsigned int i = 0; i < 3; i++) {
		rig_queue_new(rig, &queue[i], 2, i);
		for (unsigned int j = 0; j < 8; j++)
			add(rig, &queue[i], &command[8 * i + j], A + 0x1000 * i + j);
		rig_announce(rig, &queue[i], 2);
	}
	for (unsigned int i = 0; i < 3; i++)
		assert_true(rig_wait_stamp(rig, i, 0x800));
	units = rig_units_of(rig);
	assert_int_equal(units.most, 1);
	for (unsigned int i = 0; i < 3; i++) {
		for (unsigned int j = 0, n = 0; j < 24; j++) {
			if (units.began[j] >> 12 == (A + 0x1000 * i) >> 12)
				assert_int_equal(units.began[j] & 0xfff, n++);
		}
	}
	rig_assert_clean(rig);
	rig_free(rig);
}

/* Draws depend on the seed and on what they are for, and on nothing else */
static void test_draws(void **state)
{
	static struct vagx_firmware one, same, other;
	unsigned int equal = 0;

	one.config.seed = same.config.seed = 7;
	other.config.seed = 8;
	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t draw = fw_draw(&one, FW_DRAW_DELAY, i % 10, i / 10);

		assert_int_equal(fw_draw(&same, FW_DRAW_DELAY, i % 10, i / 10), draw);
		equal += (fw_draw(&other, FW_DRAW_DELAY, i % 10, i / 10) & 3) == (draw & 3);
		assert_int_not_equal(fw_draw(&one, FW_DRAW_ORDER, i % 10, i / 10), draw);
	}
	assert_in_range(equal, 180, 320);
}

/* A barrier that waits for what comes later in another ring, which waits for nothing */
static void test_blocked_ring(void **state)
{
	struct rig *rig = *state;
	struct rig_command command[3];
	struct rig_queue queue[2];

	rig_queue_new(rig, &queue[0], 2, 0);
	rig_queue_new(rig, &queue[1], 2, 1);
	rig_push(rig, &queue[0], rig_barrier_new(rig, 1, 0x200).va);
	add(rig, &queue[0], &command[0], A);
	rig_announce(rig, &queue[0], 0);
	add(rig, &queue[1], &command[1], B);
	rig_announce(rig, &queue[1], 3);
	assert_true(rig_wait_stamp(rig, 1, 0x100));
	assert_int_equal(rig_units_of(rig).jobs, 1);
	add(rig, &queue[1], &command[2], B);
	rig_announce(rig, &queue[1], 3);
	assert_true(rig_wait_stamp(rig, 0, 0x100));
	rig_assert_clean(rig);
}

/* Many commands, few of them at once, a ring that wraps, and barriers among them */
static void test_long_ring(void **state)
{
	struct rig *rig = *state;
	struct rig_command command[120];
	struct rig_units units;
	struct rig_queue queue;

	rig_queue_new(rig, &queue, 2, 5);
	for (unsigned int i = 0; i < 120; i++) {
		if (i % 7 == 6)
			rig_push(rig, &queue, rig_barrier_new(rig, 5, command[i - 1].stamp).va);
		add(rig, &queue, &command[i], A + i);
	}
	rig_announce(rig, &queue, 2);
	assert_true(rig_wait_stamp(rig, 5, 120 * 0x100));
	units = rig_units_of(rig);
	assert_int_equal(units.jobs, 120);
	assert_true(units.most <= FW_PIPE_WORKERS);
	/* nobody crosses a barrier: those before it have begun earlier */
	for (unsigned int i = 0; i < 120; i++) {
		unsigned int n = units.began[i] - A;

		for (unsigned int j = 0; j < i; j++)
			assert_true((units.began[j] - A + 1) / 7 <= (n + 1) / 7);
	}
	rig_assert_clean(rig);
}

/* The threshold counts three: their stamps are written, but there is no event before the third */
static void test_withheld_event(void **state)
{
	struct rig *rig = *state;
	struct rig_command command[3];
	struct rig_queue queue;

	rig_queue_new(rig, &queue, 2, 9);
	set_units(rig, C, VAGX_GPU_DONE, true);
	add(rig, &queue, &command[0], A);
	add(rig, &queue, &command[1], B);
	add(rig, &queue, &command[2], C);
	rig_announce(rig, &queue, 2);
	assert_true(rig_wait_stamp(rig, 9, 0x200));
	no_event(rig);
	rig_hang(rig, false);
	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), 1);
	assert_int_equal(rig_stamp(rig, 9), 0x300);
	no_event(rig);
	rig_assert_clean(rig);
}

/* Failures */

/* A in one queue faults while B in another runs: both are pending, both are retired */
static void test_bystander(void **state)
{
	struct rig *rig = *state;
	struct rig_command guilty, bystander, later;
	struct rig_queue queue[2];
	struct rig_units units;

	rig_queue_new(rig, &queue[0], 2, 10);
	rig_queue_new(rig, &queue[1], 2, 11);
	set_units(rig, B, VAGX_GPU_DONE, true);
	add(rig, &queue[1], &bystander, B);
	rig_announce(rig, &queue[1], 2);
	wait_running(rig, 1);
	pthread_mutex_lock(&rig->lock);
	rig->units.faults = A;
	pthread_mutex_unlock(&rig->lock);
	add(rig, &queue[0], &guilty, A);
	rig_announce(rig, &queue[0], 2);

	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), 0);
	/* everything is off the units by now, and nothing begins */
	units = rig_units_of(rig);
	assert_int_equal(units.running, 0);
	assert_int_equal(units.cancelled, 1);
	assert_true(rig_is_pending(rig, 10, guilty.stamp));
	assert_true(rig_is_pending(rig, 11, bystander.stamp));
	add(rig, &queue[1], &later, C);
	rig_announce(rig, &queue[1], 2);
	no_event(rig);
	assert_int_equal(rig_stamp(rig, 10), 0);
	assert_int_equal(rig_stamp(rig, 11), 0);
	assert_int_equal(rig_units_of(rig).jobs, 2);

	rig_resume(rig);
	assert_true(rig_wait_stamp(rig, 10, guilty.stamp));
	assert_true(rig_wait_stamp(rig, 11, later.stamp));
	assert_false(rig_is_pending(rig, 10, guilty.stamp));
	assert_false(rig_is_pending(rig, 11, bystander.stamp));
	rig_assert_clean(rig);
}

/* Two queues fault at the same time: one event, two pending stamps, nothing gets lost */
static void test_two_faults(void **state)
{
	struct rig *rig = *state;
	struct rig_command command[2];
	struct rig_queue queue[2];
	struct rig_ptr event;

	set_units(rig, 0, VAGX_GPU_DONE, true);
	for (unsigned int i = 0; i < 2; i++) {
		rig_queue_new(rig, &queue[i], 2, i);
		add(rig, &queue[i], &command[i], A);
		rig_announce(rig, &queue[i], 2);
	}
	wait_running(rig, 2);
	pthread_mutex_lock(&rig->lock);
	rig->units.faults = A;
	rig->units.hang = false;
	pthread_cond_broadcast(&rig->changed);
	pthread_mutex_unlock(&rig->lock);
	event = rig_wait_event(rig);
	assert_int_equal(get(event, FW_EventMsg_msg_type), 0);
	rig_resume(rig);
	assert_true(rig_wait_stamp(rig, 0, 0x100));
	assert_true(rig_wait_stamp(rig, 1, 0x100));
	assert_int_equal(get(rig->status, FW_FwStatus_halt_count), 1);
	rig_assert_clean(rig);
}

/* Which of two takes too long: the one that is executed, not the one that is just there */
static void test_timeout_counts_work(void **state)
{
	struct rig *rig = *state;
	struct rig_command command[2];
	struct rig_queue queue[2];
	struct rig_ptr event;

	set_units(rig, 0, VAGX_GPU_DONE, true);
	rig->units.idle = true;
	rig_queue_new(rig, &queue[0], 2, 20);
	rig_queue_new(rig, &queue[1], 2, 21);
	add(rig, &queue[0], &command[0], A);
	rig_announce(rig, &queue[0], 2);
	wait_running(rig, 1);
	usleep(450000);
	assert_null(rig_event(rig).host);
	pthread_mutex_lock(&rig->lock);
	rig->units.idle = false;
	pthread_mutex_unlock(&rig->lock);
	add(rig, &queue[1], &command[1], B);
	rig_announce(rig, &queue[1], 2);
	event = rig_wait_event(rig);
	assert_int_equal(get(event, FW_EventMsg_msg_type), 4);
	assert_int_equal(get(event, FW_EventTimeout_stamp_index), 21);
	assert_true(rig_is_pending(rig, 20, 0x100));
	assert_true(rig_is_pending(rig, 21, 0x100));
	rig_hang(rig, false);
	rig_resume(rig);
	assert_true(rig_wait_stamp(rig, 20, 0x100));
	assert_true(rig_wait_stamp(rig, 21, 0x100));
	rig_assert_clean(rig);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* What uses no processor time does not last for ever either */
static void test_wall_bound(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;
	double begin = seconds();

	set_units(rig, 0, VAGX_GPU_DONE, true);
	rig->units.idle = true;
	rig_queue_new(rig, &queue, 2, 20);
	add(rig, &queue, &command, A);
	rig_announce(rig, &queue, 2);
	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), 4);
	assert_true(seconds() - begin >= RIG_TIMEOUT_MS / 1000.0 * VAGX_FW_WALL_FACTOR);
	rig_hang(rig, false);
	rig_resume(rig);
	assert_true(rig_wait_stamp(rig, 20, 0x100));
	rig_assert_clean(rig);
}

/* A bad command between good ones: it is reported when its turn comes, once */
static void test_bad_between(void **state)
{
	struct rig *rig = *state;
	struct rig_command command[3];
	struct rig_queue queue;
	struct rig_ptr event, msg;

	set_units(rig, A, VAGX_GPU_DONE, true);
	rig_queue_new(rig, &queue, 2, 6);
	add(rig, &queue, &command[0], A);
	add(rig, &queue, &command[1], B);
	command[1].sequence.host[command[1].finalize] = 0x3f;
	add(rig, &queue, &command[2], C);
	rig_announce(rig, &queue, 2);
	assert_true(rig_wait_rule(rig, VAGX_RULE_FW_MSEQ_OPERATION));
	no_event(rig);
	rig_hang(rig, false);
	event = rig_wait_event(rig);
	/* the threshold is not reached, so this is no stamp's */
	assert_int_equal(get(event, FW_EventMsg_msg_type), 8);
	assert_int_equal(get(event, FW_EventChannelError_event_value), 0x200);
	assert_int_equal(get(event, FW_EventChannelError_error_type), 2);
	assert_int_equal(rig_stamp(rig, 6), 0x100);
	no_event(rig);
	msg = rig_control(rig, 0x0f);
	put(msg, FW_DcRecoverChannel_pipe_type, 2);
	put(msg, FW_DcRecoverChannel_work_queue, queue.info.va);
	put(msg, FW_DcRecoverChannel_event_value, 0x200);
	rig_control_send(rig);
	assert_true(rig_wait_stamp(rig, 6, 0x300));
	assert_int_equal(rig_findings(rig), 1);
}

/* What the control socket asks for */

static void want_error(struct vagx_firmware *fw)
{
	fw->inject.channel_error[FW_PIPE_COMPUTE] = 1;
}

static void want_hang(struct vagx_firmware *fw)
{
	fw->inject.hang[FW_PIPE_COMPUTE] = true;
}

static void want_held_stamps(struct vagx_firmware *fw)
{
	fw->inject.hold_stamps = true;
}

static void want_stamps(struct vagx_firmware *fw)
{
	fw->inject.hold_stamps = false;
}

static void want_timeout(struct vagx_firmware *fw)
{
	fw_event_inject_timeout(fw, -1);
}

static void want_odd_slot(struct vagx_firmware *fw)
{
	fw->inject.timeout_slot_set = true;
	fw->inject.timeout_slot = 99;
}

static void want_odd_register(struct vagx_firmware *fw)
{
	fw->inject.fault_register_set = true;
	fw->inject.fault_register = 0xacce5515abad1dea;
}

static void want_lies(struct vagx_firmware *fw)
{
	fw->inject.stamp_step = -2;
	fw->inject.ring_pointers_set = true;
	fw->inject.ring_pointers = 0xfffffff0;
}

static void want_true_stamps(struct vagx_firmware *fw)
{
	fw->inject.stamp_step = 0;
}

static void test_injected_error(void **state)
{
	struct rig *rig = *state;
	struct rig_command command[2];
	struct rig_queue queue;
	struct rig_ptr event, msg;

	inject(rig, want_error);
	rig_queue_new(rig, &queue, 2, 6);
	add(rig, &queue, &command[0], A);
	add(rig, &queue, &command[1], B);
	rig_announce(rig, &queue, 2);
	event = rig_wait_event(rig);
	assert_int_equal(get(event, FW_EventMsg_msg_type), 8);
	assert_int_equal(get(event, FW_EventChannelError_error_type), 1);
	assert_int_equal(get(event, FW_EventChannelError_event_value), 0x100);
	msg = rig_control(rig, 0x0f);
	put(msg, FW_DcRecoverChannel_pipe_type, 2);
	put(msg, FW_DcRecoverChannel_work_queue, queue.info.va);
	put(msg, FW_DcRecoverChannel_event_value, 0x100);
	rig_control_send(rig);
	assert_true(rig_wait_stamp(rig, 6, 0x200));
	/* one command only, and that never ran */
	assert_int_equal(rig_units_of(rig).jobs, 1);
	rig_assert_clean(rig);
}

static void test_injected_hang(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;
	struct rig_ptr event;

	inject(rig, want_hang);
	inject(rig, want_odd_slot);
	rig_queue_new(rig, &queue, 2, 6);
	add(rig, &queue, &command, A);
	rig_announce(rig, &queue, 2);
	event = rig_wait_event(rig);
	assert_int_equal(get(event, FW_EventMsg_msg_type), 4);
	assert_int_equal(get(event, FW_EventTimeout_stamp_index), 99);
	assert_true(rig_is_pending(rig, 6, 0x100));
	rig_resume(rig);
	assert_true(rig_wait_stamp(rig, 6, 0x100));
	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), 1);
	add(rig, &queue, &command, A);
	rig_announce(rig, &queue, 2);
	assert_true(rig_wait_stamp(rig, 6, 0x200));
	assert_int_equal(rig_units_of(rig).jobs, 1);
	rig_assert_clean(rig);
}

/* Of one command only: the next one puts things right */
static void test_injected_lies(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	inject(rig, want_lies);
	rig_queue_new(rig, &queue, 2, 6);
	add(rig, &queue, &command, A);
	rig_announce(rig, &queue, 2);
	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), 1);
	assert_int_equal(rig_stamp(rig, 6), 0xfe);
	assert_int_equal(get(queue.pointers, FW_QueuePointers_gpu_doneptr), 0xfffffff0);
	assert_int_equal(get(queue.pointers, FW_QueuePointers_gpu_rptr), 0xfffffff0);
	add(rig, &queue, &command, A);
	rig_announce(rig, &queue, 2);
	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), 1);
	assert_int_equal(rig_stamp(rig, 6), 0x1fe);
	inject(rig, want_true_stamps);
	add(rig, &queue, &command, A);
	rig_announce(rig, &queue, 2);
	assert_true(rig_wait_stamp(rig, 6, 0x300));
	assert_int_equal(get(queue.pointers, FW_QueuePointers_gpu_doneptr), 3);
	assert_int_equal(get(queue.pointers, FW_QueuePointers_gpu_rptr), 3);
	rig_assert_clean(rig);
}

/* Power may go while a command hangs */
static void test_quiesce_while_hanging(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	inject(rig, want_hang);
	rig_queue_new(rig, &queue, 2, 6);
	add(rig, &queue, &command, A);
	rig_announce(rig, &queue, 2);
	while (!rig_is_pending(rig, 6, 0x100))
		usleep(1000);
	vagx_fw_quiesce(rig->fw);
	assert_int_equal(rig_stamp(rig, 6), 0);
}

static void test_held_stamps(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	inject(rig, want_held_stamps);
	rig_queue_new(rig, &queue, 2, 6);
	add(rig, &queue, &command, A);
	rig_announce(rig, &queue, 2);
	while (!rig_units_of(rig).over)
		usleep(1000);
	no_event(rig);
	assert_int_equal(rig_stamp(rig, 6), 0);
	inject(rig, want_stamps);
	assert_true(rig_wait_stamp(rig, 6, 0x100));
	rig_assert_clean(rig);
}

/* Nothing runs, or something does that is not named */
static void test_injected_timeout(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;
	struct rig_ptr event;

	inject(rig, want_timeout);
	event = rig_wait_event(rig);
	assert_int_equal(get(event, FW_EventMsg_msg_type), 4);
	assert_int_equal((int32_t)get(event, FW_EventTimeout_stamp_index), -1);
	assert_int_equal(get(rig->status, FW_FwStatus_halted), 1);
	rig_resume(rig);

	set_units(rig, 0, VAGX_GPU_DONE, true);
	rig_queue_new(rig, &queue, 2, 6);
	add(rig, &queue, &command, A);
	rig_announce(rig, &queue, 2);
	wait_running(rig, 1);
	inject(rig, want_timeout);
	event = rig_wait_event(rig);
	assert_int_equal(get(event, FW_EventMsg_msg_type), 4);
	assert_true(rig_is_pending(rig, 6, 0x100));
	assert_int_equal(rig_units_of(rig).running, 0);
	rig_hang(rig, false);
	rig_resume(rig);
	assert_true(rig_wait_stamp(rig, 6, 0x100));
	rig_assert_clean(rig);
}

static void test_injected_register(void **state)
{
	struct rig *rig = *state;
	struct rig_command command;
	struct rig_queue queue;

	inject(rig, want_odd_register);
	set_units(rig, 0, VAGX_GPU_FAULT, false);
	rig_queue_new(rig, &queue, 2, 6);
	add(rig, &queue, &command, A);
	rig_announce(rig, &queue, 2);
	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), 0);
	pthread_mutex_lock(&rig->lock);
	assert_int_equal(rig->fault_value, 0xacce5515abad1dea);
	assert_false(rig->fault_set);
	pthread_mutex_unlock(&rig->lock);
	rig_resume(rig);
	assert_true(rig_wait_stamp(rig, 6, 0x100));
	rig_assert_clean(rig);
}

/* Operations */

/* An operation that writes a word where it is told to, before the end */
static void test_write32(void **state)
{
	struct rig *rig = *state;
	struct rig_ptr word = rig_alloc(rig, RIG_SHARED, 4);
	struct rig_command command;
	struct rig_queue queue;
	uint8_t *op;

	rig_queue_new(rig, &queue, 2, 6);
	rig_compute_new(rig, &queue, &command);
	op = command.sequence.host + command.end;
	memmove(op + 16, op, 4);
	memset(op, 0, 16);
	op[0] = 0x0e;
	op[3] = 0x20;
	memcpy(op + 4, &word.va, 8);
	memcpy(op + 12, &(uint32_t){ 0x12345678 }, 4);
	put(command.command, FW_RunCompute_microsequence_size, command.end + 16 + 4);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait_stamp(rig, 6, 0x100));
	assert_int_equal(*(uint32_t *)word.host, 0x12345678);
	rig_assert_clean(rig);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
#define TIMEOUT_TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup_timeout, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(side_by_side),
		TEST(stamps_in_order),
		cmocka_unit_test(test_barriers_matter),
		cmocka_unit_test(test_serial),
		cmocka_unit_test(test_draws),
		TEST(blocked_ring),
		TEST(long_ring),
		TEST(withheld_event),
		TEST(bystander),
		TEST(two_faults),
		TIMEOUT_TEST(timeout_counts_work),
		TIMEOUT_TEST(wall_bound),
		TEST(bad_between),
		TEST(injected_error),
		TIMEOUT_TEST(injected_hang),
		TEST(injected_lies),
		TEST(quiesce_while_hanging),
		TEST(held_stamps),
		TEST(injected_timeout),
		TEST(injected_register),
		TEST(write32),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
