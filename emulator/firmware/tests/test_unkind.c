// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * What the firmware does on request to bring defects of a driver to light: all of it is
 * allowed, so none of it is the consequence of a broken rule, or breaks one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../fw_internal.h"
#include "rig.h"

#define CROWD		0x1600000000ULL
#define RINGS		6
#define COMMANDS	8
#define SEEDS		64

static void add(struct rig *rig, struct rig_queue *queue, uint64_t base)
{
	struct rig_command command;

	rig_compute_new(rig, queue, &command);
	rig_compute_base(&command, base);
	rig_count(rig, queue);
	rig_push(rig, queue, command.command.va);
}

/* Rings */

/* Rings of one pipe, each with a full window, in a firmware without threads and memory */
struct crowd {
	struct vagx_firmware fw;
	struct fw_worker worker;
	struct fw_queue queue[RINGS];
	unsigned int picked[RINGS * COMMANDS];	/* rings in their turn */
	unsigned int count;
};

static struct crowd crowd;

static void fill_window(struct fw_queue *queue)
{
	for (queue->taken = 0; queue->taken < COMMANDS; queue->taken++) {
		struct fw_command *command = &queue->window[queue->count++];

		command->type = FW_COMMAND_COMPUTE;
		command->order = fw_schedule_order(&crowd.fw, queue);
	}
}

static void add_ring(unsigned int number, unsigned int priority)
{
	struct fw_queue *queue = &crowd.queue[number];

	*queue = (struct fw_queue){
		.number = number,
		.pipe = FW_PIPE_COMPUTE,
		.priority = priority,
		.size = 0x100,
		.active = true,
		.active_next = crowd.fw.active[FW_PIPE_COMPUTE],
	};
	fill_window(queue);
	crowd.fw.active[FW_PIPE_COMPUTE] = queue;
}

static void new_crowd(uint64_t seed, bool unfair, unsigned int rings)
{
	memset(&crowd, 0, sizeof(crowd));
	crowd.fw.config.seed = seed;
	crowd.fw.config.unfair = unfair;
	crowd.worker.fw = &crowd.fw;
	crowd.worker.pipe = FW_PIPE_COMPUTE;
	for (unsigned int i = 0; i < rings; i++)
		add_ring(i, 2);
}

/* Return: the ring whose command has its turn */
static unsigned int pick(void)
{
	struct fw_queue *queue = NULL;
	uint64_t again;
	struct fw_command *command = fw_schedule_pick(&crowd.worker, &queue, &again);

	assert_non_null(command);
	command->state = FW_COMMAND_RUNS;
	crowd.picked[crowd.count++] = queue->number;
	return queue->number;
}

static void pick_all(void)
{
	while (crowd.count < RINGS * COMMANDS)
		pick();
}

/* How many commands of others have their turn between the first and the last one of a ring */
static unsigned int foreign(unsigned int ring)
{
	unsigned int between = 0, own = 0;

	for (unsigned int n = 0; own < COMMANDS; n++) {
		if (crowd.picked[n] == ring)
			own++;
		else if (own)
			between++;
	}
	return between;
}

/* Some rings run to their end before another one has its turn; others do not */
static void test_ring_keeps_pipe(void **state)
{
	unsigned int keepers = 0, others = 0, mixed = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		new_crowd(seed, true, RINGS);
		pick_all();
		for (unsigned int i = 0; i < RINGS; i++) {
			if (fw_schedule_share(&crowd.fw, i) == FW_SHARE_ALL) {
				keepers++;
				assert_int_equal(foreign(i), 0);
			} else {
				others++;
				mixed += foreign(i) > 0;
			}
		}
	}
	assert_in_range(keepers, SEEDS * RINGS / 6, SEEDS * RINGS / 3);
	assert_true(mixed > others / 2);
}

/* Without the option none does */
static void test_fair_rings(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		new_crowd(seed, false, RINGS);
		pick_all();
		for (unsigned int i = 0; i < RINGS; i++)
			assert_true(foreign(i) > COMMANDS);
	}
}

/* Among two rings: how many of nine turns a favoured one has beside a plain one */
static void test_ring_is_favoured(void **state)
{
	unsigned int pairs = 0, turns[2] = { 0 };

	(void)state;
	for (uint64_t seed = 1; pairs < 200; seed++) {
		for (unsigned int unfair = 0; unfair < 2; unfair++) {
			new_crowd(seed, unfair, 2);
			if (fw_schedule_share(&crowd.fw, 0) != FW_SHARE_MORE ||
			    fw_schedule_share(&crowd.fw, 1) != FW_SHARE_PLAIN)
				continue;
			pairs += unfair;
			turns[unfair] += pick() == 0;
		}
	}
	assert_in_range(turns[0], 70, 130);
	/* The first turn is that of the best of eight commands with eight draws each */
	assert_in_range(turns[1], 160, 195);
}

/* The first ring keeps the pipe, the second one does not */
static uint64_t seed_of_keeper(void)
{
	uint64_t seed = 0;

	do {
		crowd.fw.config.seed = ++seed;
	} while (fw_schedule_share(&crowd.fw, 0) != FW_SHARE_ALL ||
		 fw_schedule_share(&crowd.fw, 1) == FW_SHARE_ALL);
	return seed;
}

/* A ring that keeps the pipe keeps it from others of its priority only */
static void test_priority_stays(void **state)
{
	(void)state;
	for (unsigned int priority = 1; priority <= 3; priority++) {
		new_crowd(seed_of_keeper(), true, 1);
		assert_int_equal(pick(), 0);
		add_ring(1, priority);
		for (unsigned int i = 1; i < COMMANDS; i++)
			assert_int_equal(pick(), priority < 2);
	}
}

/* What is announced after a ring's turn has come waits for the next one */
static void test_keeper_has_an_end(void **state)
{
	(void)state;
	new_crowd(seed_of_keeper(), true, 2);
	while (pick() != 0)
		;
	assert_ptr_equal(crowd.fw.keeper[FW_PIPE_COMPUTE], &crowd.queue[0]);
	crowd.queue[0].limit = 50;
	for (unsigned int i = 1; i < COMMANDS; i++)
		assert_int_equal(pick(), 0);
	while (crowd.count < 2 * COMMANDS)
		assert_int_equal(pick(), 1);
}

/* A ring that waits at a barrier does not keep the pipe from the ring that opens it */
static void test_keeper_waits(void **state)
{
	const struct rig_options options = { .seed = seed_of_keeper(), .unfair = true };
	struct rig *rig = rig_new_with(&options);
	struct rig_queue queue[2];

	(void)state;
	rig_boot(rig);
	rig_queue_new(rig, &queue[0], 2, 0);
	add(rig, &queue[0], CROWD);
	rig_push(rig, &queue[0], rig_barrier_new(rig, 1, COMMANDS * 0x100).va);
	add(rig, &queue[0], CROWD);
	rig_queue_new(rig, &queue[1], 2, 1);
	for (unsigned int i = 0; i < COMMANDS; i++)
		add(rig, &queue[1], CROWD);
	rig_announce(rig, &queue[0], 2);
	assert_true(rig_wait_stamp(rig, 0, 0x100));
	rig_announce(rig, &queue[1], 2);
	assert_true(rig_wait_stamp(rig, 0, 2 * 0x100));
	assert_int_equal(rig_stamp(rig, 1), COMMANDS * 0x100);
	rig_assert_clean(rig);
	rig_free(rig);
}

/* Nothing gets lost, with more commands than a window has */
static void test_all_come_to_their_end(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		const struct rig_options options = { .seed = seed, .unfair = true,
						     .doorbell_delay_ms = 1 };
		struct rig *rig = rig_new_with(&options);
		struct rig_queue queue[RINGS];

		rig_boot(rig);
		for (unsigned int i = 0; i < RINGS; i++) {
			rig_queue_new(rig, &queue[i], 2, i);
			for (unsigned int j = 0; j < 2 * COMMANDS; j++)
				add(rig, &queue[i], CROWD);
			rig_announce(rig, &queue[i], 2);
		}
		for (unsigned int i = 0; i < RINGS; i++)
			assert_true(rig_wait_stamp(rig, i, 2 * COMMANDS * 0x100));
		rig_assert_clean(rig);
		rig_free(rig);
	}
}

/* Events */

#define SLOT		7
#define FAULTY		0x1700000000ULL
#define EVENT_DELAY_MS	400

/* The first command of an event slot is told of late enough for a busy host */
static uint64_t seed_of_late_event(void)
{
	static struct vagx_firmware fw;
	uint64_t delay;

	do {
		fw.config.seed++;
		delay = fw_draw(&fw, FW_DRAW_EVENT, SLOT, 0x100) % (EVENT_DELAY_MS * 1000000UL + 1);
	} while (delay < EVENT_DELAY_MS * 750000UL);
	return fw.config.seed;
}

static struct rig *rig_of_late_event(struct rig_queue *queue)
{
	struct rig_options options = { .seed = seed_of_late_event(),
				       .event_delay_ms = EVENT_DELAY_MS };
	struct rig *rig = rig_new_with(&options);

	rig_boot(rig);
	rig_queue_new(rig, queue, 2, SLOT);
	add(rig, queue, CROWD);
	rig_announce(rig, queue, 2);
	assert_true(rig_wait_stamp(rig, SLOT, 0x100));
	assert_null(rig_event(rig).host);
	return rig;
}

static void expect_flag(struct rig *rig)
{
	struct rig_ptr event = rig_wait_event(rig);

	assert_non_null(event.host);
	assert_int_equal(get(event, FW_EventMsg_msg_type), FW_EVENT_FLAG);
	assert_int_equal(event.host[fw_fields[FW_EventFlag_firing].offset[RIG_ABI]], 1 << SLOT);
}

/* The stamp of the second command joins the event that is on its way; there is only one */
static void test_event_comes_late(void **state)
{
	struct rig_queue queue;
	struct rig *rig = rig_of_late_event(&queue);

	(void)state;
	add(rig, &queue, CROWD);
	rig_announce(rig, &queue, 2);
	assert_true(rig_wait_stamp(rig, SLOT, 0x200));
	assert_null(rig_event(rig).host);
	expect_flag(rig);
	usleep(EVENT_DELAY_MS * 1000);
	assert_null(rig_event(rig).host);
	rig_assert_clean(rig);
	rig_free(rig);
}

/* A fault overtakes the event, which is not sent while the firmware has halted */
static void test_late_event_waits_for_resume(void **state)
{
	struct rig_queue queue, other;
	struct rig *rig = rig_of_late_event(&queue);

	(void)state;
	pthread_mutex_lock(&rig->lock);
	rig->units.faults = FAULTY;
	pthread_mutex_unlock(&rig->lock);
	rig_queue_new(rig, &other, 2, SLOT + 1);
	add(rig, &other, FAULTY);
	rig_announce(rig, &other, 2);
	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), FW_EVENT_FAULT);
	usleep(EVENT_DELAY_MS * 1000 + 50000);
	assert_null(rig_event(rig).host);
	rig_resume(rig);
	expect_flag(rig);
	rig_assert_clean(rig);
	rig_free(rig);
}

/* Statistics */

static struct rig *rig_of_statistics(bool on)
{
	const struct rig_options options = { .statistics = on };
	struct rig *rig = rig_new_with(&options);

	rig_boot(rig);
	return rig;
}

/* The last word of compute's statistics */
static uint32_t counter(struct rig *rig)
{
	return __atomic_load_n((uint32_t *)(rig->own[0].host + 0x17c), __ATOMIC_ACQUIRE);
}

static bool counted(struct rig *rig, const void *before)
{
	return counter(rig) >= *(const uint32_t *)before + 5;
}

static void expect_counting(struct rig *rig, bool on)
{
	uint32_t before = counter(rig);

	if (on)
		assert_true(rig_wait(rig, counted, &before));
	usleep(50000);
	assert_int_equal(counter(rig) != before, on);
}

/* Without work, while it has halted, and when it has been put to rest, until power is cut */
static void test_statistics(void **state)
{
	struct rig *rig = rig_of_statistics(true);

	(void)state;
	expect_counting(rig, true);
	pthread_mutex_lock(&rig->fw->lock);
	assert_int_equal(fw_event_inject_timeout(rig->fw, 0), 0);
	pthread_mutex_unlock(&rig->fw->lock);
	assert_int_equal(get(rig_wait_event(rig), FW_EventMsg_msg_type), FW_EVENT_TIMEOUT);
	expect_counting(rig, true);
	rig_resume(rig);
	vagx_fw_quiesce(rig->fw);
	expect_counting(rig, true);
	vagx_fw_cut(rig->fw);
	expect_counting(rig, false);
	/* What starts now knows nothing of that memory */
	vagx_fw_start(rig->fw);
	expect_counting(rig, false);
	rig_assert_clean(rig);
	rig_free(rig);
}

static void test_no_statistics(void **state)
{
	struct rig *rig = rig_of_statistics(false);

	(void)state;
	expect_counting(rig, false);
	rig_assert_clean(rig);
	rig_free(rig);
}

/* A page that goes while the firmware is alive: that is no crash, but it has been written to */
static void test_statistics_that_go(void **state)
{
	struct rig *rig = rig_of_statistics(true);

	(void)state;
	expect_counting(rig, true);
	vagx_fw_quiesce(rig->fw);
	*rig_pte(rig, rig->root, rig->own[0].va) = 0;
	assert_true(rig_wait_rule(rig, VAGX_RULE_FW_CACHED_LATE));
	expect_counting(rig, false);
	assert_false(vagx_fw_is_crashed(rig->fw));
	rig_free(rig);
}

/* Doorbells */

#define STAY_MS		400
#define FIRST_BELL	3	/* Initialize and KICK come before */

static bool stays(const struct vagx_firmware *fw, uint64_t bell)
{
	return fw_draw(fw, FW_DRAW_STAY, bell, 0) % 4 == 0;
}

static bool stays_long(const struct vagx_firmware *fw, uint64_t bell)
{
	uint64_t delay = fw_draw(fw, FW_DRAW_STAY, bell, 0) / 4 % (STAY_MS * 1000000UL + 1);

	return stays(fw, bell) && delay > STAY_MS * 750000UL;
}

/*
 * The firmware stays at the ring of the first command, long enough for a busy host. It leaves the
 * next doorbell to an equal one, and stays long again after the one behind that.
 */
static uint64_t seed_of_stay(void)
{
	static struct vagx_firmware fw;

	do {
		fw.config.seed++;
	} while (stays(&fw, 1) || stays(&fw, 2) || !stays_long(&fw, FIRST_BELL) ||
		 fw_draw(&fw, FW_DRAW_LEAVE, FIRST_BELL + 1, 0) % 2 == 0 ||
		 !stays_long(&fw, FIRST_BELL + 2));
	return fw.config.seed;
}

/* The firmware is at the ring of @queue, whose first command is complete */
static struct rig *rig_that_stays(struct rig_queue *queue)
{
	const struct rig_options options = { .seed = seed_of_stay(), .doorbell_delay_ms = STAY_MS };
	struct rig *rig = rig_new_with(&options);

	rig_boot(rig);
	rig_queue_new(rig, queue, 2, SLOT);
	add(rig, queue, CROWD);
	rig_announce(rig, queue, 2);
	assert_true(rig_wait_stamp(rig, SLOT, 0x100));
	return rig;
}

/* A message is found before its doorbell has come, as the firmware was still at that ring */
static void test_looks_before_the_doorbell(void **state)
{
	struct rig_queue queue;
	struct rig *rig = rig_that_stays(&queue);

	(void)state;
	add(rig, &queue, CROWD);
	rig_message(rig, &queue, 2);
	assert_int_equal(rig_stamp(rig, SLOT), 0x100);
	assert_true(rig_wait_stamp(rig, SLOT, 0x200));
	rig_doorbell(rig, 2 << 2 | 2);
	add(rig, &queue, CROWD);
	rig_announce(rig, &queue, 2);
	assert_true(rig_wait_stamp(rig, SLOT, 0x300));
	rig_assert_clean(rig);
	rig_free(rig);
}

/* A doorbell is left to an equal one, so that the one between them is taken before it */
static void test_equal_doorbells_become_one(void **state)
{
	struct rig_queue queue, twin, other;
	struct rig *rig = rig_that_stays(&queue);

	(void)state;
	rig_queue_new(rig, &twin, 2, SLOT + 1);
	rig_queue_new(rig, &other, 2, SLOT + 2);
	add(rig, &twin, CROWD);
	rig_announce(rig, &twin, 1);
	add(rig, &other, CROWD);
	rig_announce(rig, &other, 3);
	add(rig, &twin, CROWD);
	rig_announce(rig, &twin, 1);
	assert_true(rig_wait_stamp(rig, SLOT + 2, 0x100));
	usleep(50000);
	assert_int_equal(rig_stamp(rig, SLOT + 1), 0);
	assert_true(rig_wait_stamp(rig, SLOT + 1, 0x200));
	rig_assert_clean(rig);
	rig_free(rig);
}

/* Those that were left count: three doorbells for two messages */
static void test_doorbells_that_are_left_count(void **state)
{
	struct rig_queue queue;
	struct rig *rig = rig_that_stays(&queue);

	(void)state;
	add(rig, &queue, CROWD);
	rig_announce(rig, &queue, 2);
	rig_doorbell(rig, 2 << 2 | 2);
	assert_true(rig_wait_rule(rig, VAGX_RULE_FW_DOORBELL_EMPTY));
	assert_true(rig_wait_stamp(rig, SLOT, 0x200));
	assert_int_equal(rig_findings(rig), 1);
	rig_free(rig);
}

/* A change of power is taken after the messages that came before it */
static void test_rest_ends_the_stay(void **state)
{
	struct rig_queue queue;
	struct rig *rig = rig_that_stays(&queue);

	(void)state;
	add(rig, &queue, CROWD);
	rig_announce(rig, &queue, 2);
	vagx_fw_quiesce(rig->fw);
	assert_int_equal(rig->fw->pipe[2 * 3 + 2].doorbells, 2);
	rig_assert_clean(rig);
	rig_free(rig);
}

/* A threshold that counts nothing: the event comes with each command, and that is no violation */
static void test_threshold_is_late(void **state)
{
	const struct rig_options options = { .late_threshold = true };
	struct rig *rig = rig_new_with(&options);
	struct rig_queue queue;

	(void)state;
	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, SLOT);
	for (unsigned int i = 0; i < 3; i++) {
		add(rig, &queue, CROWD);
		*(uint32_t *)queue.threshold.host = 0;
		rig_announce(rig, &queue, 2);
		expect_flag(rig);
	}
	assert_true(rig_wait_stamp(rig, SLOT, 0x300));
	rig_assert_clean(rig);
	rig_free(rig);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_keeps_pipe),
		cmocka_unit_test(test_fair_rings),
		cmocka_unit_test(test_ring_is_favoured),
		cmocka_unit_test(test_priority_stays),
		cmocka_unit_test(test_keeper_has_an_end),
		cmocka_unit_test(test_keeper_waits),
		cmocka_unit_test(test_all_come_to_their_end),
		cmocka_unit_test(test_event_comes_late),
		cmocka_unit_test(test_late_event_waits_for_resume),
		cmocka_unit_test(test_threshold_is_late),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_no_statistics),
		cmocka_unit_test(test_statistics_that_go),
		cmocka_unit_test(test_looks_before_the_doorbell),
		cmocka_unit_test(test_equal_doorbells_become_one),
		cmocka_unit_test(test_doorbells_that_are_left_count),
		cmocka_unit_test(test_rest_ends_the_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
