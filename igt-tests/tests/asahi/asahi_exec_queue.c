// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"
#include "sw_sync.h"

/**
 * TEST: asahi exec queue
 * Description: Queues as shaders and fences see them: order, more clients than the
 *	hardware has contexts and events, and what happens when work fails.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: queues
 * Test category: functionality test
 *
 * SUBTEST: in-order
 * Description: Jobs of a queue complete in order, and not before they are over.
 *
 * SUBTEST: timeline-across-queues
 * Description: Points of a timeline are waited for and signalled by two queues.
 *
 * SUBTEST: barriers
 * Description: A submission with barriers of all kinds completes.
 *
 * SUBTEST: own-fence
 * Description: A job may wait for an earlier one of its queue.
 *
 * SUBTEST: priorities
 * Description: All priorities that the driver allows do work.
 *
 * SUBTEST: full-ring
 * Description: More work than the ring holds.
 *
 * SUBTEST: many-clients
 * Description: More address spaces than the hardware has contexts.
 *
 * SUBTEST: thousand-clients
 * Description: A thousand open files with a job each, most of which have to wait. The
 *	variable ASAHI_FILES of the environment may name another number.
 *
 * SUBTEST: many-queues
 * Description: More busy queues than there are events.
 *
 * SUBTEST: rare-beside-flood
 * Description: A client submits a job now and then, beside one that submits to more queues
 *	than there are events without end. It never waits for long.
 *
 * SUBTEST: many-wait-for-one
 * Description: A hundred address spaces that wait for the hundred-and-first.
 *
 * SUBTEST: fault
 * Description: A fault takes along what is behind it on its queue; other queues go on.
 *
 * SUBTEST: queue-after-fault
 * Description: A queue works after a fault, also with a job in front that was cancelled;
 *	so does a second queue of the address space.
 *
 * SUBTEST: timeout
 * Description: So with work that takes too long.
 *
 * SUBTEST: destroy-busy
 * Description: A job that runs when its queue is destroyed runs to its end.
 *
 * SUBTEST: destroy-waiting
 * Description: A job that waits when its queue is destroyed is cancelled.
 *
 * SUBTEST: many-files-%s
 * Description: %arg[1] open files with a job each are closed at once.
 * arg[1]:
 * @100: 100
 * @300: 300
 *
 * SUBTEST: clients-that-die
 * Description: Clients that open the device, submit a render and compute work and die
 *	without waiting, one after the other: 100 of them, or as many as the variable
 *	ASAHI_CLIENTS of the environment says. Nothing of them is left.
 */

/* What a variable of the environment says, if there is one */
static unsigned int exec_queue_number(const char *variable, unsigned int otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

static void exec_queue_test_in_order(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 1, 2);
	const uint32_t first = syncobj_create(client->fd, 0);
	const uint32_t second = syncobj_create(client->fd, 0);

	igt_asahi_submit_one(client, &gate, first);
	igt_asahi_submit_one(client, &store, second);
	usleep(100000);
	igt_assert(!igt_asahi_signalled(client->fd, first));
	igt_assert(!igt_asahi_signalled(client->fd, second));
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, second), 0);
	/* When the second is signalled, so is the first. */
	igt_assert(igt_asahi_signalled(client->fd, first));
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 1);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 2);
}

/* Each job writes the word that the next one must not write before. */
static void exec_queue_test_timeline(struct asahi_client *client)
{
	const unsigned int steps = 20;
	uint32_t queues[] = {
		client->queue,
		igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_LOW, 0),
	};
	uint32_t timeline = syncobj_create(client->fd, 0);
	uint64_t last = steps;
	unsigned int i;

	for (i = 0; i < steps; i++) {
		struct asahi_command command =
			i ? igt_asahi_store_word(client, ASAHI_RESULT, i) :
			    igt_asahi_gate(client, ASAHI_RESULT, 77);

		igt_asahi_submit(client->fd, queues[i % 2], &command, 1,
				 &(struct asahi_sync){ .in = i ? timeline : 0, .in_point = i,
						       .out = timeline, .out_point = i + 1 });
	}
	client->words[ASAHI_GATE] = 1;
	igt_assert(syncobj_timeline_wait(client->fd, &timeline, &last, 1, INT64_MAX, 0, NULL));
	igt_assert_eq_u32(client->words[ASAHI_RESULT], steps - 1);
}

static void exec_queue_test_barriers(struct asahi_client *client)
{
	struct asahi_command commands[] = {
		igt_asahi_gate(client, ASAHI_RESULT, 100),
		igt_asahi_after(igt_asahi_store_word(client, ASAHI_RESULT + 1, 1), 0),
		igt_asahi_after(igt_asahi_store_word(client, ASAHI_RESULT + 2, 2), 1),
		igt_asahi_after(igt_asahi_store_word(client, ASAHI_RESULT + 3, 3), 3),
	};
	const uint32_t sync = syncobj_create(client->fd, 0);
	unsigned int i;

	commands[1].header.vdm_barrier = 0;
	commands[2].header.vdm_barrier = 0;
	client->words[ASAHI_GATE] = 1;
	igt_asahi_submit(client->fd, client->queue, commands, ARRAY_SIZE(commands),
			 &(struct asahi_sync){ .out = sync });
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		igt_assert_eq_u32(client->words[ASAHI_RESULT + i], i ? i : 100);
	/* Jobs that were submitted before are complete already. */
	igt_assert_eq(igt_asahi_run(client, &commands[1]), 0);
}

static void exec_queue_test_own_fence(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 2);
	const uint32_t first = syncobj_create(client->fd, 0);
	const uint32_t second = syncobj_create(client->fd, 0);

	igt_asahi_submit_one(client, &gate, first);
	igt_asahi_submit(client->fd, client->queue, &store, 1,
			 &(struct asahi_sync){ .in = first, .out = second });
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, second), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 2);
}

static void exec_queue_test_priorities(struct asahi_client *client)
{
	const uint32_t sync = syncobj_create(client->fd, 0);
	uint32_t priority;

	for (priority = DRM_ASAHI_PRIORITY_LOW; priority <= DRM_ASAHI_PRIORITY_REALTIME;
	     priority++) {
		const bool allowed = priority < DRM_ASAHI_PRIORITY_HIGH || igt_asahi_allows("priority");
		uint32_t queue = igt_asahi_queue_create(client->fd, client->vm, priority,
							allowed ? 0 : EOPNOTSUPP);
		struct asahi_command store =
			igt_asahi_store_word(client, ASAHI_RESULT + priority, priority + 1);

		if (!allowed)
			continue;
		igt_asahi_submit(client->fd, queue, &store, 1,
				 &(struct asahi_sync){ .out = sync });
		igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
		igt_asahi_queue_destroy(client->fd, queue, 0);
		igt_assert_eq_u32(client->words[ASAHI_RESULT + priority], priority + 1);
	}
}

/* More commands than stamps may be outstanding, and more than the ring holds. */
static void exec_queue_test_full_ring(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct asahi_command store =
		igt_asahi_after(igt_asahi_store_word(client, ASAHI_RESULT + 1, 2), 0);
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct asahi_command commands[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		commands[i] = store;
	igt_asahi_submit_one(client, &gate, 0);
	/* More than may be outstanding, one by one, so that there is no gap before the limit. */
	for (i = 0; i < 130; i++)
		igt_asahi_submit_one(client, &store, 0);
	for (i = 0; i < 24; i++)
		igt_asahi_submit(client->fd, client->queue, commands, ARRAY_SIZE(commands),
				 &(struct asahi_sync){ .out = sync });
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 2);
}

#define CLIENTS		150

/* They all have something to do at once. */
/* The first one keeps its context and its event until all have submitted. */
static void exec_queue_clients(int fd, unsigned int count, unsigned int rounds)
{
	struct asahi_client **clients = calloc(count, sizeof(*clients));
	struct asahi_command *commands = calloc(count, sizeof(*commands));
	uint32_t *syncs = calloc(count, sizeof(*syncs));
	unsigned int i, round;

	igt_assert(clients && commands && syncs);
	for (i = 0; i < count; i++) {
		clients[i] = igt_asahi_client_open(fd);
		syncs[i] = syncobj_create(clients[i]->fd, 0);
		commands[i] = i ? igt_asahi_store_word(clients[i], ASAHI_RESULT, i + 1) :
				  igt_asahi_gate(clients[i], ASAHI_RESULT, i + 1);
	}
	for (round = 0; round < rounds; round++) {
		clients[0]->words[ASAHI_GATE] = 0;
		for (i = 0; i < count; i++) {
			clients[i]->words[ASAHI_RESULT] = 0;
			igt_asahi_submit_one(clients[i], &commands[i], syncs[i]);
		}
		clients[0]->words[ASAHI_GATE] = 1;
		for (i = 0; i < count; i++) {
			igt_assert_eq(igt_asahi_wait(clients[i]->fd, syncs[i]), 0);
			igt_assert_eq_u32(clients[i]->words[ASAHI_RESULT], i + 1);
		}
	}
	free(syncs);
	free(commands);
	free(clients);
}

static void exec_queue_test_many_clients(struct asahi_client *client)
{
	exec_queue_clients(client->fd, CLIENTS, 3);
}

#define THOUSAND	1000

static void exec_queue_test_thousand_clients(struct asahi_client *client)
{
	const unsigned int count = exec_queue_number("ASAHI_FILES", THOUSAND);
	struct rlimit files;

	igt_assert_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = 2 * count + 64;
	if (files.rlim_max < files.rlim_cur)
		files.rlim_max = files.rlim_cur;
	igt_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	exec_queue_clients(client->fd, count, 2);
}

#define QUEUES		200

static void exec_queue_test_many_queues(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 1, 2);
	uint32_t queues[QUEUES], syncs[QUEUES];
	unsigned int i;

	for (i = 0; i < QUEUES; i++) {
		queues[i] = igt_asahi_queue_create(client->fd, client->vm,
						   DRM_ASAHI_PRIORITY_MEDIUM, 0);
		syncs[i] = syncobj_create(client->fd, 0);
	}
	igt_asahi_submit_one(client, &gate, 0);
	for (i = 0; i < QUEUES; i++)
		igt_asahi_submit(client->fd, queues[i], &store, 1,
				 &(struct asahi_sync){ .out = syncs[i] });
	client->words[ASAHI_GATE] = 1;
	for (i = 0; i < QUEUES; i++)
		igt_assert_eq(igt_asahi_wait(client->fd, syncs[i]), 0);
	for (i = 0; i < QUEUES; i++)
		igt_asahi_queue_destroy(client->fd, queues[i], 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 2);
}

/* Until it is killed */
static void exec_queue_flood(int fd)
{
	struct asahi_client *client = igt_asahi_client_open(fd);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	uint32_t queues[QUEUES];
	unsigned int i;

	for (i = 0; i < QUEUES; i++)
		queues[i] = igt_asahi_queue_create(client->fd, client->vm,
						   DRM_ASAHI_PRIORITY_MEDIUM, 0);
	for (;;)
		for (i = 0; i < QUEUES; i++)
			igt_asahi_submit(client->fd, queues[i], &store, 1, &(struct asahi_sync){});
}

#define RARE_JOBS	10
/* Far more than a turn takes, and far less than for ever */
#define RARE_S		10

static bool exec_queue_is_over_in_time(int fd, uint32_t sync)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return syncobj_wait_err(fd, &sync, 1, (now.tv_sec + RARE_S) * INT64_C(1000000000), 0) == 0;
}

static void exec_queue_test_rare_beside_flood(struct asahi_client *client)
{
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct igt_helper_process flood = {};
	unsigned int i;

	igt_fork_helper(&flood) {
		exec_queue_flood(client->fd);
	}
	/* It has filled its queues. */
	sleep(1);
	for (i = 0; i < RARE_JOBS; i++) {
		igt_asahi_submit_one(client, &store, sync);
		igt_assert(exec_queue_is_over_in_time(client->fd, sync));
		usleep(10000);
	}
	igt_stop_helper(&flood);
}

#define WAITING		100

/* The last one waits for the gate, all others for the last one. */
static void exec_queue_test_many_wait_for_one(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t opened = syncobj_create(client->fd, 0);
	struct asahi_client *clients[WAITING + 1], *last;
	struct asahi_command commands[WAITING + 1];
	uint32_t done[WAITING + 1];
	unsigned int i;

	for (i = 0; i <= WAITING; i++) {
		clients[i] = igt_asahi_client_open(client->fd);
		done[i] = syncobj_create(clients[i]->fd, 0);
		commands[i] = igt_asahi_store_word(clients[i], ASAHI_RESULT, i + 1);
	}
	last = clients[WAITING];
	igt_asahi_submit_one(client, &gate, opened);
	igt_asahi_submit(last->fd, last->queue, &commands[WAITING], 1,
			 &(struct asahi_sync){
				 .in = igt_asahi_pass_fence(client->fd, opened, last->fd),
				 .out = done[WAITING] });
	for (i = 0; i < WAITING; i++)
		igt_asahi_submit(clients[i]->fd, clients[i]->queue, &commands[i], 1,
				 &(struct asahi_sync){
					 .in = igt_asahi_pass_fence(last->fd, done[WAITING],
								    clients[i]->fd),
					 .out = done[i] });
	client->words[ASAHI_GATE] = 1;
	for (i = 0; i < WAITING; i++) {
		igt_assert_eq(igt_asahi_wait(clients[i]->fd, done[i]), 0);
		igt_assert_eq_u32(clients[i]->words[ASAHI_RESULT], i + 1);
	}
}

static void exec_queue_test_fault(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct asahi_command bad =
		igt_asahi_after(igt_asahi_store(client, ASAHI_UNMAPPED, 2), 0);
	const struct asahi_command good =
		igt_asahi_after(igt_asahi_store_word(client, ASAHI_RESULT + 1, 3), 0);
	const struct asahi_command elsewhere = igt_asahi_store_word(other, ASAHI_RESULT, 4);
	const uint32_t theirs = syncobj_create(other->fd, 0);
	uint32_t syncs[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		syncs[i] = syncobj_create(client->fd, 0);
	igt_asahi_submit_one(client, &gate, syncs[0]);
	igt_asahi_submit_one(client, &bad, syncs[1]);
	igt_asahi_submit_one(client, &good, syncs[2]);
	igt_asahi_submit_one(other, &elsewhere, theirs);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, syncs[0]), 0);
	igt_assert_eq(igt_asahi_wait(client->fd, syncs[1]), -EIO);
	igt_assert_eq(igt_asahi_wait(client->fd, syncs[2]), -ECANCELED);
	/* It was at work when the GPU stopped, or was over. */
	igt_asahi_assert_bystander(igt_asahi_wait(other->fd, theirs));
	igt_assert_eq(igt_asahi_run(other, &elsewhere), 0);
	igt_assert_eq_u32(other->words[ASAHI_RESULT], 4);
	/* Only what had been submitted by then is cancelled, and may have run all the same. */
	client->words[ASAHI_RESULT + 1] = 0;
	igt_assert_eq(igt_asahi_run(client, &good), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 3);
}

/*
 * What decides is when a job was submitted, not when it could begin: one that waits for
 * somebody else when the queue fails never runs, and the one behind it that came later
 * does.
 */
static void exec_queue_fault_before_waiting(struct asahi_client *client)
{
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 2);
	const struct asahi_command early = igt_asahi_store_word(client, ASAHI_RESULT + 1, 4);
	const struct asahi_command later = igt_asahi_store_word(client, ASAHI_RESULT + 2, 5);
	const int begin = sw_sync_timeline_create(), go_on = sw_sync_timeline_create();
	const uint32_t held = igt_asahi_late_fence(client->fd, begin);
	const uint32_t waits = igt_asahi_late_fence(client->fd, go_on);
	uint32_t syncs[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		syncs[i] = syncobj_create(client->fd, 0);
	igt_asahi_submit(client->fd, client->queue, &bad, 1,
			 &(struct asahi_sync){ .in = held, .out = syncs[0] });
	igt_asahi_submit(client->fd, client->queue, &early, 1,
			 &(struct asahi_sync){ .in = waits, .out = syncs[1] });
	sw_sync_timeline_inc(begin, 1);
	igt_assert_eq(igt_asahi_wait(client->fd, syncs[0]), -EIO);
	igt_asahi_submit_one(client, &later, syncs[2]);
	sw_sync_timeline_inc(go_on, 1);
	igt_assert_eq(igt_asahi_wait(client->fd, syncs[1]), -ECANCELED);
	igt_assert_eq(igt_asahi_wait(client->fd, syncs[2]), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 2], 5);
	close(begin);
	close(go_on);
}

static void exec_queue_test_queue_after_fault(struct asahi_client *client)
{
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 2);
	const struct asahi_command good = igt_asahi_store_word(client, ASAHI_RESULT, 3);
	const uint32_t sync = syncobj_create(client->fd, 0);
	uint32_t second;

	igt_assert_eq(igt_asahi_run(client, &bad), -EIO);
	igt_assert_eq(igt_asahi_run(client, &good), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 3);
	client->words[ASAHI_RESULT] = 0;
	second = igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	igt_asahi_submit(client->fd, second, &good, 1, &(struct asahi_sync){ .out = sync });
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 3);
	igt_require_sw_sync();
	exec_queue_fault_before_waiting(client);
}

/* A gate that stays closed. */
static void exec_queue_test_timeout(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct asahi_command elsewhere = igt_asahi_store_word(other, ASAHI_RESULT, 4);
	const uint32_t ours = syncobj_create(client->fd, 0);
	const uint32_t theirs = syncobj_create(other->fd, 0);

	igt_asahi_submit_one(client, &gate, ours);
	igt_asahi_submit_one(other, &elsewhere, theirs);
	igt_assert_eq(igt_asahi_wait(client->fd, ours), -ETIMEDOUT);
	igt_assert_eq(igt_asahi_wait(other->fd, theirs), 0);
	igt_assert_eq_u32(other->words[ASAHI_RESULT], 4);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_run(client, &gate), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 1);
}

static void exec_queue_test_destroy_busy(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 1, 2);
	const uint32_t queue =
		igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	const uint32_t sync = syncobj_create(client->fd, 0);

	igt_asahi_submit(client->fd, queue, &gate, 1, &(struct asahi_sync){ .out = 0 });
	igt_asahi_submit(client->fd, queue, &store, 1, &(struct asahi_sync){ .out = sync });
	igt_asahi_queue_destroy(client->fd, queue, 0);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 1);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 2);
}

/* The fence of a job that is cancelled comes behind that of one that runs, which has not waited. */
static void exec_queue_destroy_behind_running(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 1, 2);
	const uint32_t queue =
		igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	const uint32_t running = syncobj_create(client->fd, 0);
	const uint32_t waiting = syncobj_create(client->fd, 0);
	int timeline;

	igt_require_sw_sync();
	timeline = sw_sync_timeline_create();
	client->words[ASAHI_GATE] = 0;
	igt_asahi_submit(client->fd, queue, &gate, 1, &(struct asahi_sync){ .out = running });
	igt_asahi_submit(client->fd, queue, &store, 1,
			 &(struct asahi_sync){ .in = igt_asahi_late_fence(client->fd, timeline),
					       .out = waiting });
	igt_asahi_queue_destroy(client->fd, queue, 0);
	sw_sync_timeline_inc(timeline, 1);
	close(timeline);
	usleep(200000);
	igt_assert(!igt_asahi_signalled(client->fd, waiting));
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, waiting), -ESRCH);
	igt_assert(igt_asahi_signalled(client->fd, running));
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 0);
}

static void exec_queue_test_destroy_waiting(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 1, 2);
	const uint32_t queue =
		igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	const uint32_t first = syncobj_create(client->fd, 0);
	const uint32_t second = syncobj_create(client->fd, 0);

	igt_asahi_submit_one(client, &gate, first);
	igt_asahi_submit(client->fd, queue, &store, 1,
			 &(struct asahi_sync){ .in = first, .out = second });
	/* Returns while the gate is closed. */
	igt_asahi_queue_destroy(client->fd, queue, 0);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, first), 0);
	igt_assert_eq(igt_asahi_wait(client->fd, second), -ESRCH);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 0);
	exec_queue_destroy_behind_running(client);
}

/* The kernel closes them at once, as it does for a client that is killed. */
static void exec_queue_many_files(int fd, unsigned int count)
{
	const struct rlimit limit = { count * 2 + 64, count * 2 + 64 };
	unsigned int i;

	igt_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (i = 0; i < count; i++) {
		struct asahi_client *client = igt_asahi_client_open(fd);
		struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 9);

		igt_assert_eq(igt_asahi_run(client, &store), 0);
		igt_assert_eq_u32(client->words[ASAHI_RESULT], 9);
	}
}

/* Death closes the file with all that is on it. */
static void exec_queue_die_at_work(int fd)
{
	struct asahi_client *client = igt_asahi_client_open(fd);
	const struct asahi_render render = igt_asahi_render(client, 256);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 9);

	igt_assert_eq(igt_asahi_submit_render(client, client->queue, &render, 0), 0);
	igt_asahi_submit_one(client, &store, 0);
}

/* The kernel frees what is left of clients when it gets to it. */
static void exec_queue_assert_objects_become(const char *kind, int count)
{
	struct timespec start = { 0 };

	igt_nsec_elapsed(&start);
	while (igt_asahi_objects(kind) > count) {
		igt_assert_f(igt_nsec_elapsed(&start) < ASAHI_PATIENCE_NS, "%d %s are left, not %d\n",
			     igt_asahi_objects(kind), kind, count);
		usleep(10000);
	}
}

static void exec_queue_test_clients_that_die(struct asahi_client *client)
{
	static const char *const kinds[] = { "files", "vms", "queues", "jobs" };
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 9);
	const unsigned int count = exec_queue_number("ASAHI_CLIENTS", 100);
	int before[ARRAY_SIZE(kinds)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		before[i] = igt_asahi_objects(kinds[i]);
	for (i = 0; i < count; i++) {
		igt_fork(child, 1) {
			exec_queue_die_at_work(client->fd);
		}
		igt_waitchildren();
	}
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		exec_queue_assert_objects_become(kinds[i], before[i]);
	igt_assert_eq(igt_asahi_run(client, &store), 0);
}

static const struct asahi_client_test exec_queue_tests[] = {
	{"in-order", "Jobs of a queue complete in order.", exec_queue_test_in_order},
	{"timeline-across-queues", "Points that two queues wait for and signal.",
	 exec_queue_test_timeline},
	{"barriers", "A submission with barriers of all kinds.", exec_queue_test_barriers},
	{"own-fence", "A job that waits for an earlier one of its queue.",
	 exec_queue_test_own_fence},
	{"priorities", "All priorities that the driver allows.", exec_queue_test_priorities},
	{"full-ring", "More work than the ring holds.", exec_queue_test_full_ring},
	{"many-clients", "More address spaces than contexts.", exec_queue_test_many_clients},
	{"thousand-clients", "A thousand clients.", exec_queue_test_thousand_clients},
	{"many-queues", "More busy queues than events.", exec_queue_test_many_queues},
	{"rare-beside-flood", "A client that submits rarely beside one that floods.",
	 exec_queue_test_rare_beside_flood},
	{"many-wait-for-one", "A hundred address spaces that wait for one.",
	 exec_queue_test_many_wait_for_one},
	{"fault", "A fault takes along what is behind it.", exec_queue_test_fault},
	{"queue-after-fault", "Another queue of the address space works.",
	 exec_queue_test_queue_after_fault},
	{"timeout", "Work that takes too long.", exec_queue_test_timeout},
	{"destroy-busy", "A queue is destroyed while it works.", exec_queue_test_destroy_busy},
	{"destroy-waiting", "A queue is destroyed while it waits.",
	 exec_queue_test_destroy_waiting},
	{"clients-that-die", "Clients that submit work and die.", exec_queue_test_clients_that_die},
};

int igt_main()
{
	static const unsigned int files[] = { 100, 300 };
	unsigned int i;
	int fd;

	igt_asahi_client_tests(exec_queue_tests, ARRAY_SIZE(exec_queue_tests));

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	igt_describe("Many files with a job each, closed at once.");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		igt_subtest_f("many-files-%u", files[i]) {
			igt_fork(child, 1) {
				exec_queue_many_files(fd, files[i]);
			}
			igt_waitchildren();
		}
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}
