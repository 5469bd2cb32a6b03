// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"
#include "sw_sync.h"

/**
 * TEST: asahi exec fence
 * Description: Busy queues: when fences signal, and how much may be queued.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: fences
 * Test category: functionality test
 *
 * SUBTEST: on-time
 * Description: A fence signals when its own work is complete, and does not wait for
 *	later jobs of the queue.
 *
 * SUBTEST: two-in-flight
 * Description: So it is with just two jobs: the firmware tells of nothing before both are
 *	complete, and the driver has to look for the first one by itself.
 *
 * SUBTEST: backpressure
 * Description: A queue takes so many jobs and no more: SUBMIT waits, and goes on.
 *
 * SUBTEST: full-ends
 * Description: A SUBMIT that waits for room is interrupted by a signal, and then outlived by
 *	its queue: each time it fails, says why, and has submitted nothing.
 */

/* Gates and results of many jobs, in words. */
#define GATES		64
#define RESULTS		256
#define JOBS		64

/* Jobs of a queue, as the driver's documentation says */
#define QUEUED_JOBS	1024

/* The driver's part is 2 ms; a slow kernel or a busy host add theirs. */
#define MEDIAN_NS	2000000000ULL

/* Opens one job's gate; by how much its fence comes later than its word. */
static uint64_t exec_fence_delay(struct asahi_client *client, unsigned int job, uint32_t syncobj)
{
	const uint64_t patience = igt_asahi_patience_ns();
	struct timespec start = { 0 };

	igt_nsec_elapsed(&start);
	client->words[GATES + job] = 1;
	while (!client->words[RESULTS + job])
		igt_assert_lt_u64(igt_nsec_elapsed(&start), patience);
	start = (struct timespec){ 0 };
	igt_nsec_elapsed(&start);
	igt_assert_eq(igt_asahi_wait(client->fd, syncobj), 0);
	return igt_nsec_elapsed(&start);
}

static int exec_fence_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Each waits for the one before it, and for a gate of its own. */
static void exec_fence_submit_gates(struct asahi_client *client, uint32_t *syncs,
				    unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct asahi_command gate =
			igt_asahi_gate_at(client, igt_asahi_word_addr(client, GATES + i),
					  igt_asahi_word_addr(client, RESULTS + i), 1);

		gate = igt_asahi_after(gate, 0);
		syncs[i] = syncobj_create(client->fd, 0);
		igt_asahi_submit_one(client, &gate, syncs[i]);
	}
}

/*
 * Behind each job but the last is one that does not end before its gate is opened:
 * waiting for the queue to drain would take for ever.
 */
static void exec_fence_test_on_time(struct asahi_client *client)
{
	uint32_t syncs[JOBS];
	uint64_t delays[JOBS];
	unsigned int i;

	exec_fence_submit_gates(client, syncs, JOBS);
	for (i = 0; i < JOBS; i++) {
		delays[i] = exec_fence_delay(client, i, syncs[i]);
		igt_assert(i + 1 == JOBS || !igt_asahi_signalled(client->fd, syncs[i + 1]));
	}
	qsort(delays, JOBS, sizeof(delays[0]), exec_fence_compare);
	igt_info("fences after their words: median %.2f ms, at most %.2f ms\n",
		 delays[JOBS / 2] / 1e6, delays[JOBS - 1] / 1e6);
	igt_assert_lt_u64(delays[JOBS / 2], MEDIAN_NS);
}

static void exec_fence_test_two_in_flight(struct asahi_client *client)
{
	uint32_t syncs[2];
	unsigned int i;

	exec_fence_submit_gates(client, syncs, 2);
	/* The driver hands over both while this waits. */
	usleep(100000);
	for (i = 0; i < 2; i++) {
		igt_assert_lt_u64(exec_fence_delay(client, i, syncs[i]), MEDIAN_NS);
		igt_assert(i == 1 || !igt_asahi_signalled(client->fd, syncs[1]));
	}
}

/**
 * struct flood - a thread that submits more than a queue takes
 * @client: whose queue
 * @command: what it submits
 * @out: sync object that the last submission signals
 * @done: how many have been submitted
 * @err: of the last one
 */
struct flood {
	struct asahi_client *client;
	struct asahi_command command;
	uint32_t out;
	atomic_uint done;
	int err;
};

/* One SUBMIT, which is not made again after a signal */
static int exec_fence_flood_submit(struct flood *flood)
{
	const struct drm_asahi_sync out = { .handle = flood->out };
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)&out,
		.cmdbuf = (uintptr_t)&flood->command,
		.queue_id = flood->client->queue,
		.out_sync_count = 1,
		.cmdbuf_size = sizeof(flood->command),
	};

	return ioctl(flood->client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args) ? -errno : 0;
}

static void *exec_fence_flood_run(void *data)
{
	struct flood *flood = data;

	while (flood->done < QUEUED_JOBS + 100 && !flood->err) {
		flood->err = exec_fence_flood_submit(flood);
		if (!flood->err)
			flood->done++;
	}
	return NULL;
}

/* Until the queue is full; and then there is time enough for more than it takes. */
static unsigned int exec_fence_flood_settles(struct flood *flood)
{
	struct timespec start = { 0 };

	igt_nsec_elapsed(&start);
	while (flood->done + 1 < QUEUED_JOBS && !flood->err &&
	       igt_nsec_elapsed(&start) < 2 * ASAHI_PATIENCE_NS)
		usleep(10000);
	sleep(2);
	return flood->done;
}

/*
 * The first job waits for a fence of user space, and all others behind it: nothing
 * is on the GPU that could take too long.
 */
static void exec_fence_flood_begin(struct flood *flood, int timeline)
{
	struct asahi_client *client = flood->client;

	flood->out = syncobj_create(client->fd, 0);
	flood->command = igt_asahi_after(igt_asahi_store_word(client, ASAHI_RESULT, 2), 0);
	igt_asahi_submit(client->fd, client->queue, &flood->command, 1,
			 &(struct asahi_sync){ .in = igt_asahi_late_fence(client->fd, timeline) });
}

static void exec_fence_test_backpressure(struct asahi_client *client)
{
	struct flood flood = { .client = client };
	unsigned int settled;
	pthread_t thread;
	int timeline;

	igt_require_sw_sync();
	timeline = sw_sync_timeline_create();
	exec_fence_flood_begin(&flood, timeline);
	igt_assert_eq(pthread_create(&thread, NULL, exec_fence_flood_run, &flood), 0);
	settled = exec_fence_flood_settles(&flood);
	sw_sync_timeline_inc(timeline, 1);
	pthread_join(thread, NULL);
	close(timeline);
	igt_assert_eq(settled + 1, QUEUED_JOBS);
	igt_assert_eq(flood.err, 0);
	igt_assert_eq(igt_asahi_wait(client->fd, flood.out), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 2);
}

static void exec_fence_do_nothing(int number)
{
}

/* A thread that waits for room in its queue; it has submitted all but one of the jobs. */
static void exec_fence_flood_wait(struct flood *flood, pthread_t *thread)
{
	flood->err = 0;
	igt_assert_eq(pthread_create(thread, NULL, exec_fence_flood_run, flood), 0);
	igt_assert_eq(exec_fence_flood_settles(flood) + 1, QUEUED_JOBS);
	igt_assert_eq(flood->err, 0);
}

/* The thread's SUBMIT has failed, and has left the number of jobs as it was. */
static void exec_fence_flood_assert_failed(struct flood *flood, pthread_t thread, int err)
{
	pthread_join(thread, NULL);
	igt_assert_eq(flood->err, err);
	igt_assert_eq(flood->done + 1, QUEUED_JOBS);
}

static void exec_fence_test_full_ends(struct asahi_client *client)
{
	const struct sigaction interrupt = { .sa_handler = exec_fence_do_nothing };
	struct flood flood = { .client = client };
	pthread_t thread;
	int timeline;

	igt_require_sw_sync();
	timeline = sw_sync_timeline_create();
	exec_fence_flood_begin(&flood, timeline);
	igt_assert_eq(sigaction(SIGUSR1, &interrupt, NULL), 0);
	exec_fence_flood_wait(&flood, &thread);
	pthread_kill(thread, SIGUSR1);
	exec_fence_flood_assert_failed(&flood, thread, -EINTR);

	/* Its jobs are cancelled, so there is room, but there is no queue any more. */
	exec_fence_flood_wait(&flood, &thread);
	igt_asahi_queue_destroy(client->fd, client->queue, 0);
	sw_sync_timeline_inc(timeline, 1);
	exec_fence_flood_assert_failed(&flood, thread, -ENOENT);
	igt_assert_eq(igt_asahi_wait(client->fd, flood.out), -ESRCH);
	close(timeline);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 0);
}

int igt_main()
{
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	igt_describe("A fence does not wait for later jobs.");
	igt_subtest("on-time") {
		exec_fence_test_on_time(igt_asahi_client_open(fd));
	}
	igt_fixture() {
		igt_asahi_clients_close();
	}

	igt_describe("Nor with just two jobs.");
	igt_subtest("two-in-flight") {
		exec_fence_test_two_in_flight(igt_asahi_client_open(fd));
	}
	igt_fixture() {
		igt_asahi_clients_close();
	}

	igt_describe("SUBMIT waits when too much is queued.");
	igt_subtest("backpressure") {
		exec_fence_test_backpressure(igt_asahi_client_open(fd));
	}
	igt_fixture() {
		igt_asahi_clients_close();
	}

	igt_describe("What waits for that fails when it is interrupted, or its queue goes.");
	igt_subtest("full-ends") {
		exec_fence_test_full_ends(igt_asahi_client_open(fd));
	}

	igt_fixture() {
		igt_asahi_clients_close();
		drm_close_driver(fd);
	}
}
