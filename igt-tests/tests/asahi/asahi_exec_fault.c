// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <poll.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec fault
 * Description: Blame for work that fails while work of others is on the GPU. The
 *	guilty client gets EIO or ETIMEDOUT, and all else that is on the GPU is taken
 *	down with ECANCELED. The queues of both stay usable. A fault names an address
 *	space and a unit of the GPU, no queue: all work of that address space that is
 *	on the GPU gets EIO. Of work that comes and goes nobody knows where it was,
 *	so it completes or gets ECANCELED.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: faults and resets
 * Test category: functionality test
 *
 * SUBTEST: beside-others
 * Description: A fault beside other queues, clients and processes.
 *
 * SUBTEST: beside-own-queue
 * Description: A fault beside work of the same queue.
 *
 * SUBTEST: timeout-beside-others
 * Description: Work that takes too long beside another client's, while another queue of
 *	its address space and another process work all the time.
 */

#define ROUNDS		3

static void exec_fault_assert_runs(struct asahi_client *client, uint32_t queue, unsigned int index)
{
	const struct asahi_command store = igt_asahi_store_word(client, index, 99);
	const uint32_t sync = syncobj_create(client->fd, 0);

	client->words[index] = 0;
	igt_asahi_submit(client->fd, queue, &store, 1, &(struct asahi_sync){ .out = sync });
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_eq_u32(client->words[index], 99);
}

/* Return: the fence of a gate, whose shader is on the GPU */
static uint32_t exec_fault_launch(struct asahi_client *client, uint32_t queue)
{
	const struct asahi_times times = igt_asahi_times_create(client);
	struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);

	client->words[ASAHI_GATE] = 0;
	gate.compute.ts.start.handle = times.object;
	igt_asahi_submit(client->fd, queue, &gate, 1, &(struct asahi_sync){ .out = sync });
	igt_asahi_time_comes(&times, 0);
	return sync;
}

/* Another process: its work is on the GPU until the parent closes the pipe. */
static void exec_fault_neighbour(int fd, int from, int to)
{
	struct asahi_client *client = igt_asahi_client_open(fd);
	const uint32_t sync = exec_fault_launch(client, client->queue);
	char c = 0;

	igt_assert_eq(write(to, &c, 1), 1);
	igt_assert_eq(read(from, &c, 1), 0);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), -ECANCELED);
	exec_fault_assert_runs(client, client->queue, ASAHI_RESULT + 1);
}

/*
 * On the GPU at once: the guilty work, work of a second queue of the same address
 * space, of another open of the device and of another process.
 */
static void exec_fault_beside(struct asahi_client *client, struct asahi_client *other)
{
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 3);
	const uint32_t fault = syncobj_create(client->fd, 0);
	uint32_t guilty, second, ours, theirs;
	int from[2], to[2];
	char c;

	guilty = igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	second = igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	igt_assert_eq(pipe(from), 0);
	igt_assert_eq(pipe(to), 0);
	igt_fork(child, 1) {
		close(from[0]);
		close(to[1]);
		exec_fault_neighbour(client->fd, to[0], from[1]);
	}
	close(from[1]);
	close(to[0]);
	igt_assert_eq(read(from[0], &c, 1), 1);

	ours = exec_fault_launch(client, second);
	theirs = exec_fault_launch(other, other->queue);
	igt_asahi_submit(client->fd, guilty, &bad, 1, &(struct asahi_sync){ .out = fault });
	igt_assert_eq(igt_asahi_wait(client->fd, fault), -EIO);
	client->words[ASAHI_GATE] = 1;
	other->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, ours), -EIO);
	igt_assert_eq(igt_asahi_wait(other->fd, theirs), -ECANCELED);
	exec_fault_assert_runs(client, second, ASAHI_RESULT + 1);
	exec_fault_assert_runs(other, other->queue, ASAHI_RESULT + 1);
	exec_fault_assert_runs(client, guilty, ASAHI_RESULT + 2);
	close(to[1]);
	igt_waitchildren();
	close(from[0]);
	igt_asahi_queue_destroy(client->fd, second, 0);
	igt_asahi_queue_destroy(client->fd, guilty, 0);
}

static void exec_fault_test_beside_others(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		exec_fault_beside(client, other);
}

/*
 * Jobs side by side, of which the second is guilty. The first is on the GPU until it is let
 * go, which happens only when it has been taken down.
 */
static void exec_fault_test_beside_own_queue(struct asahi_client *client)
{
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 2);
	const uint32_t second = syncobj_create(client->fd, 0);
	uint32_t first;

	client->words[ASAHI_RESULT] = 0;
	first = exec_fault_launch(client, client->queue);
	igt_asahi_submit_one(client, &bad, second);
	igt_assert_eq(igt_asahi_wait(client->fd, second), -EIO);
	igt_assert_eq(igt_asahi_wait(client->fd, first), -EIO);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 0);
	client->words[ASAHI_GATE] = 1;
	exec_fault_assert_runs(client, client->queue, ASAHI_RESULT + 1);
}

/**
 * struct worker - a queue that works all the time, one short job after the other
 * @client: whose it is
 * @queue: the queue
 * @sync: signalled at the end of each job
 * @store: the job
 */
struct worker {
	struct asahi_client *client;
	uint32_t queue;
	uint32_t sync;
	struct asahi_command store;
};

static struct worker exec_fault_worker_new(struct asahi_client *client)
{
	return (struct worker){
		.client = client,
		.queue = igt_asahi_queue_create(client->fd, client->vm,
						DRM_ASAHI_PRIORITY_MEDIUM, 0),
		.sync = syncobj_create(client->fd, 0),
		.store = igt_asahi_store_word(client, ASAHI_RESULT + 2, 1),
	};
}

static void exec_fault_work(struct worker *worker)
{
	const int fd = worker->client->fd;

	igt_asahi_submit(fd, worker->queue, &worker->store, 1,
			 &(struct asahi_sync){ .out = worker->sync });
	igt_asahi_assert_bystander(igt_asahi_wait(fd, worker->sync));
}

/* Another process, until the parent closes the pipe */
static void exec_fault_working_neighbour(int fd, int from, int to)
{
	struct worker worker = exec_fault_worker_new(igt_asahi_client_open(fd));
	struct pollfd end = { .fd = from, .events = POLLIN };
	char c = 0;

	igt_assert_eq(write(to, &c, 1), 1);
	while (!poll(&end, 1, 0))
		exec_fault_work(&worker);
	exec_fault_assert_runs(worker.client, worker.queue, ASAHI_RESULT + 1);
}

/* Until a gate's time is up: another queue of its address space, and another process */
static void exec_fault_work_beside(struct asahi_client *client, uint32_t gate)
{
	struct worker second = exec_fault_worker_new(client);
	int from[2], to[2];
	char c;

	igt_assert_eq(pipe(from), 0);
	igt_assert_eq(pipe(to), 0);
	igt_fork(child, 1) {
		close(to[1]);
		exec_fault_working_neighbour(client->fd, to[0], from[1]);
	}
	igt_assert_eq(read(from[0], &c, 1), 1);
	do {
		exec_fault_work(&second);
	} while (syncobj_wait_err(client->fd, &gate, 1, 0, 0));
	exec_fault_assert_runs(client, second.queue, ASAHI_RESULT + 1);
	close(to[1]);
	igt_waitchildren();
	close(to[0]);
	close(from[0]);
	close(from[1]);
}

/*
 * Two gates that stay closed. Either may be the first to time out; other work on the GPU
 * is not to blame, and neither is a client that works all the time.
 */
static void exec_fault_test_timeout_beside_others(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd), *guilty, *bystander;
	uint32_t ours, theirs;
	int first, second;

	ours = exec_fault_launch(client, client->queue);
	usleep(500000);
	theirs = exec_fault_launch(other, other->queue);
	exec_fault_work_beside(client, ours);
	first = igt_asahi_wait(client->fd, ours);
	second = igt_asahi_wait(other->fd, theirs);
	guilty = first == -ETIMEDOUT ? client : other;
	bystander = guilty == client ? other : client;
	igt_assert_eq(guilty == client ? first : second, -ETIMEDOUT);
	igt_assert_eq(guilty == client ? second : first, -ECANCELED);
	other->words[ASAHI_GATE] = 1;
	exec_fault_assert_runs(bystander, bystander->queue, ASAHI_RESULT + 1);
	exec_fault_assert_runs(guilty, guilty->queue, ASAHI_RESULT + 1);
}

static const struct asahi_client_test exec_fault_tests[] = {
	{"beside-others", "A fault beside other queues, clients and processes.",
	 exec_fault_test_beside_others},
	{"beside-own-queue", "A fault beside work of the same queue.",
	 exec_fault_test_beside_own_queue},
	{"timeout-beside-others", "Work that takes too long beside another client's.",
	 exec_fault_test_timeout_beside_others},
};

int igt_main()
{
	igt_asahi_client_tests(exec_fault_tests, ARRAY_SIZE(exec_fault_tests));
}
