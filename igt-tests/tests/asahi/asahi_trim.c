// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "asahi/asahi_empty.h"
#include "igt.h"
#include "igt_syncobj.h"
#include "sw_sync.h"

/**
 * TEST: asahi trim
 * Description: A queue that renders no more gives its large vertex buffer back, and
 *	renders again, by the client's memory in fdinfo. Nothing is drawn.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management
 * Functionality: vertex buffers
 * Test category: functionality test
 *
 * SUBTEST: idle-queue
 * Description: The memory goes back, again and again, and renders in between work.
 *
 * SUBTEST: small-buffer
 * Description: The buffer of a small framebuffer stays.
 *
 * SUBTEST: waiting-render
 * Description: A render that waits for a fence keeps the buffer of its queue, while
 *	another queue's is given back; then it runs.
 *
 * SUBTEST: idle-jobs
 * Description: What a queue keeps for its next jobs goes back, after compute jobs that have
 *	taken of it, and the queue works on.
 *
 * SUBTEST: many-queues
 * Description: So do many queues of several address spaces at once, which render
 *	again meanwhile.
 */

#define MB		(1ULL << 20)
#define LARGE		4096	/* pixels: 16384 tiles need 128 blocks of 128 KiB */
#define LARGE_BYTES	(16 * MB)
#define SMALL		64	/* 8 blocks, and 10 to spare */
#define SMALL_BYTES	(2 * MB)
#define ROUNDS		2
#define CLIENTS		4
#define QUEUES		3
#define JOBS		40
#define WAIT_MS		180000

static void trim_draw(struct asahi_client *client, uint32_t queue, unsigned int size)
{
	igt_asahi_finish(client, igt_asahi_submit_empty(client, queue, size, 0));
}

static uint64_t trim_internal(struct asahi_client *client)
{
	return igt_asahi_memory(client->fd, "drm-total-internal");
}

static void trim_wait_below(struct asahi_client *client, uint64_t bytes)
{
	unsigned int i;

	for (i = 0; i < WAIT_MS / 100 && trim_internal(client) >= bytes; i++)
		usleep(100000);
	igt_assert_lt_u64(trim_internal(client), bytes);
}

static uint32_t trim_another_queue(struct asahi_client *client)
{
	return igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
}

/*
 * A large render that waits until the timeline goes on: its queue is not idle. The
 * client has at least so much memory then, whatever of others' comes back meanwhile.
 */
static uint32_t trim_submit_held(struct asahi_client *client, uint32_t queue, int timeline,
				 uint64_t least)
{
	const uint32_t late = igt_asahi_late_fence(client->fd, timeline);
	const uint32_t sync = igt_asahi_submit_empty(client, queue, LARGE, late);

	syncobj_destroy(client->fd, late);
	igt_assert_lte_u64(least, trim_internal(client));
	return sync;
}

static void trim_grow(struct asahi_client *client, uint32_t queue, uint64_t least)
{
	const int timeline = sw_sync_timeline_create();
	const uint32_t sync = trim_submit_held(client, queue, timeline, least);

	sw_sync_timeline_inc(timeline, 1);
	igt_asahi_finish(client, sync);
	close(timeline);
}

static void trim_test_idle_queue(struct asahi_client *client)
{
	const uint64_t before = trim_internal(client);
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		trim_grow(client, client->queue, before + LARGE_BYTES);
		trim_wait_below(client, before + LARGE_BYTES / 2);
		trim_draw(client, client->queue, SMALL);
	}
}

/* The other queue's buffer is freed: the trimmer has visited all queues. */
static void trim_test_small_buffer(struct asahi_client *client)
{
	const uint32_t queue = trim_another_queue(client);
	const uint64_t before = trim_internal(client);

	trim_draw(client, client->queue, SMALL);
	trim_grow(client, queue, before + LARGE_BYTES);
	trim_wait_below(client, before + LARGE_BYTES / 2);
	igt_assert_lte_u64(before + SMALL_BYTES, trim_internal(client));
}

static void trim_test_waiting_render(struct asahi_client *client)
{
	const uint32_t queue = trim_another_queue(client);
	const int timeline = sw_sync_timeline_create();
	const uint64_t before = trim_internal(client);
	const uint32_t sync = trim_submit_held(client, queue, timeline, before + LARGE_BYTES);

	trim_grow(client, client->queue, before + 2 * LARGE_BYTES);
	trim_wait_below(client, before + 3 * LARGE_BYTES / 2);
	igt_assert_lte_u64(before + LARGE_BYTES, trim_internal(client));
	igt_assert(!igt_asahi_signalled(client->fd, sync));
	sw_sync_timeline_inc(timeline, 1);
	igt_asahi_finish(client, sync);
	trim_wait_below(client, before + LARGE_BYTES / 2);
	trim_grow(client, queue, before + LARGE_BYTES);
	close(timeline);
}

static void trim_test_many_queues(struct asahi_client *client)
{
	struct asahi_client *clients[CLIENTS];
	uint32_t queues[CLIENTS][QUEUES], sync[CLIENTS][QUEUES];
	uint64_t before[CLIENTS];
	unsigned int i, j;

	for (i = 0; i < CLIENTS; i++) {
		clients[i] = igt_asahi_client_open(client->fd);
		before[i] = trim_internal(clients[i]);
		for (j = 0; j < QUEUES; j++)
			queues[i][j] = trim_another_queue(clients[i]);
	}
	for (i = 0; i < CLIENTS * QUEUES; i++)
		sync[i % CLIENTS][i / CLIENTS] =
			igt_asahi_submit_empty(clients[i % CLIENTS],
					       queues[i % CLIENTS][i / CLIENTS], LARGE >> i % 3, 0);
	for (i = 0; i < CLIENTS * QUEUES; i++)
		igt_asahi_finish(clients[i % CLIENTS], sync[i % CLIENTS][i / CLIENTS]);
	/* One after the other: the next ones may be trimmed while this one renders. */
	for (i = 0; i < CLIENTS; i++) {
		trim_wait_below(clients[i], before[i] + LARGE_BYTES / 2);
		trim_draw(clients[i], queues[i][0], LARGE >> 1);
	}
	for (i = 0; i < CLIENTS; i++)
		igt_asahi_client_close(clients[i]);
}

/* How many allocations the driver has when what others have left behind is gone */
static int trim_settled_nodes(void)
{
	int last = -1, now = igt_asahi_objects("heap-nodes");

	while (now != last) {
		last = now;
		sleep(2);
		now = igt_asahi_objects("heap-nodes");
	}
	return now;
}

static void trim_test_idle_jobs(struct asahi_client *client)
{
	const struct asahi_command store = igt_asahi_store_word(client, 0, 1);
	const int before = trim_settled_nodes();
	unsigned int i, j;

	for (i = 0; i < ROUNDS; i++) {
		for (j = 0; j < JOBS; j++)
			igt_assert_eq(igt_asahi_run(client, &store), 0);
		igt_asahi_wait_objects("jobs", 0);
		igt_assert_lt(before, igt_asahi_objects("heap-nodes"));
		igt_asahi_wait_objects("heap-nodes", before);
	}
}

static const struct asahi_client_test trim_tests[] = {
	{ "idle-queue", "The memory goes back again and again.", trim_test_idle_queue },
	{ "small-buffer", "A small buffer stays.", trim_test_small_buffer },
	{ "waiting-render", "Not while a render waits.", trim_test_waiting_render },
	{ "idle-jobs", "What is kept for jobs goes back.", trim_test_idle_jobs },
	{ "many-queues", "Many queues at once.", trim_test_many_queues },
};

int igt_main()
{
	igt_asahi_client_tests(trim_tests, ARRAY_SIZE(trim_tests));
}
