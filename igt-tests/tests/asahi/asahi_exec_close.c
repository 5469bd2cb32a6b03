// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec close
 * Description: Objects that a job uses are destroyed while it runs, or waits, in every
 *	order. A queue and an address space live as long as their jobs; a buffer's mappings do not.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: life of objects
 * Test category: functionality test
 *
 * SUBTEST: running-%s
 * Description: A job is on the GPU when %arg[1] is destroyed, in that order.
 * arg[1]:
 * @buffer: the buffer that it writes to
 * @vm: its address space
 * @queue: its queue
 * @buffer-vm: the first two
 * @vm-buffer: the first two
 * @buffer-queue: buffer and queue
 * @queue-buffer: buffer and queue
 * @vm-queue: the last two
 * @queue-vm: the last two
 * @buffer-vm-queue: everything
 * @buffer-queue-vm: everything
 * @vm-buffer-queue: everything
 * @vm-queue-buffer: everything
 * @queue-buffer-vm: everything
 * @queue-vm-buffer: everything
 *
 * SUBTEST: closed-memory
 * Description: Buffers are closed while a job runs that has written to them: their memory
 *	is kept until the job is complete.
 *
 * SUBTEST: waiting
 * Description: The same, everything in a process of its own at once, while the jobs wait for
 *	a fence: with its queue, a job is cancelled.
 *
 * SUBTEST: file-running
 * Description: The file is closed while a job runs: it comes to its end.
 *
 * SUBTEST: file-waiting
 * Description: The file is closed while a job waits: it is cancelled after a second.
 *
 * SUBTEST: file-flushed
 * Description: The same, but what it waits for comes in time.
 */

#define VALUE		7
#define MAX_STEPS	3
/* Closing waits for so long; what comes in time comes after less. */
#define DRAIN_NS	1000000000ULL
#define FLUSH_US	300000

/* The word of a buffer that a job writes; word 0 is the gate, where two files share it. */
#define RESULT		16

/* The word of a client that says that a job has written to its buffers */
#define WRITTEN		24

enum object {
	BUFFER,
	VM,
	QUEUE,
};

static const char *const exec_close_object_names[] = { "buffer", "vm", "queue" };

/* struct order - what is destroyed, one after the other */
static const struct order {
	unsigned int count;
	enum object steps[MAX_STEPS];
} exec_close_orders[] = {
	{ 1, { BUFFER } },
	{ 1, { VM } },
	{ 1, { QUEUE } },
	{ 2, { BUFFER, VM } },
	{ 2, { VM, BUFFER } },
	{ 2, { BUFFER, QUEUE } },
	{ 2, { QUEUE, BUFFER } },
	{ 2, { VM, QUEUE } },
	{ 2, { QUEUE, VM } },
	{ 3, { BUFFER, VM, QUEUE } },
	{ 3, { BUFFER, QUEUE, VM } },
	{ 3, { VM, BUFFER, QUEUE } },
	{ 3, { VM, QUEUE, BUFFER } },
	{ 3, { QUEUE, BUFFER, VM } },
	{ 3, { QUEUE, VM, BUFFER } },
};

static bool exec_close_has(const struct order *order, enum object object)
{
	unsigned int i;

	for (i = 0; i < order->count; i++)
		if (order->steps[i] == object)
			return true;
	return false;
}

static const char *exec_close_name_of(const struct order *order)
{
	static char name[64];
	unsigned int i, n = 0;

	for (i = 0; i < order->count; i++)
		n += snprintf(name + n, sizeof(name) - n, "%s%s", i ? "-" : "",
			      exec_close_object_names[order->steps[i]]);
	return name;
}

/**
 * struct job - a job that writes a word when its gate is open
 * @client: whose
 * @handle: buffer that it writes to
 * @word: the word, for the CPU
 * @sync: signalled at its end
 * @times: the first is when it began
 */
struct job {
	struct asahi_client *client;
	struct asahi_times times;
	uint32_t handle;
	volatile uint32_t *word;
	uint32_t sync;
};

/* It writes to the buffer @handle, which @map shows. */
static struct job exec_close_job_submit(struct asahi_client *client, uint64_t gate, uint32_t handle,
					uint32_t *map, uint32_t in)
{
	struct job job = {
		.client = client,
		.times = igt_asahi_times_create(client),
		.handle = handle,
		.word = map + RESULT,
		.sync = syncobj_create(client->fd, 0),
	};
	struct asahi_command command =
		igt_asahi_gate_at(client, gate, ASAHI_FREE_START + RESULT * 4, VALUE);

	command.compute.ts.start.handle = job.times.object;
	igt_asahi_vm_bind_one(client->fd, client->vm, DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
			      handle, 0, IGT_ASAHI_PAGE, ASAHI_FREE_START, 0);
	igt_asahi_submit(client->fd, client->queue, &command, 1,
			 &(struct asahi_sync){ .in = in, .out = job.sync });
	return job;
}

/* One with a buffer of its own, and the client's gate */
static struct job exec_close_own_job(struct asahi_client *client, uint32_t in)
{
	const uint32_t handle = igt_asahi_gem_create(client->fd, IGT_ASAHI_PAGE, 0, 0, 0);

	return exec_close_job_submit(client, igt_asahi_word_addr(client, ASAHI_GATE), handle,
				     igt_asahi_gem_mmap(client->fd, handle, IGT_ASAHI_PAGE), in);
}

static void exec_close_destroy(struct job *job, const struct order *order)
{
	struct asahi_client *client = job->client;
	unsigned int i;

	for (i = 0; i < order->count; i++) {
		if (order->steps[i] == BUFFER)
			gem_close(client->fd, job->handle);
		else if (order->steps[i] == VM)
			igt_asahi_vm_destroy(client->fd, client->vm, 0);
		else
			igt_asahi_queue_destroy(client->fd, client->queue, 0);
	}
}

static void exec_close_check_job(struct job *job, const struct order *order, int expected)
{
	const int err = igt_asahi_wait(job->client->fd, job->sync);

	igt_assert_f(err == expected, "%s: %s, not %s\n", exec_close_name_of(order), strerror(-err),
		     strerror(-expected));
	igt_assert_eq_u32(*job->word, expected ? 0 : VALUE);
	munmap((void *)(job->word - RESULT), IGT_ASAHI_PAGE);
	munmap((void *)job->times.map, IGT_ASAHI_PAGE);
}

static void exec_close_test_running(struct asahi_client *client, const struct order *order)
{
	struct job job = exec_close_own_job(client, 0);

	igt_asahi_time_comes(&job.times, 0);
	exec_close_destroy(&job, order);
	client->words[ASAHI_GATE] = 1;
	exec_close_check_job(&job, order, exec_close_has(order, BUFFER) ? -EIO : 0);
}

/* A job of another file is waited for, and ends after everything was destroyed. */
static void exec_close_wait_and_destroy(int fd, const struct order *order)
{
	struct asahi_client *first = igt_asahi_client_open(fd);
	struct asahi_client *client = igt_asahi_client_open(fd);
	const struct asahi_command gate = igt_asahi_gate(first, ASAHI_RESULT, 1);
	const uint32_t opened = syncobj_create(first->fd, 0);
	struct job job;

	igt_asahi_submit_one(first, &gate, opened);
	client->words[ASAHI_GATE] = 1;
	job = exec_close_own_job(client, igt_asahi_pass_fence(first->fd, opened, client->fd));
	exec_close_destroy(&job, order);
	first->words[ASAHI_GATE] = 1;
	if (exec_close_has(order, QUEUE))
		exec_close_check_job(&job, order, -ESRCH);
	else
		exec_close_check_job(&job, order, exec_close_has(order, BUFFER) ? -EIO : 0);
	igt_asahi_clients_close();
}

/*
 * A queue that is destroyed waits for a second: those are all tried at once. The others
 * fault, which is not to disturb anybody.
 */
static void exec_close_test_waiting(int fd)
{
	unsigned int i;

	igt_fork(child, ARRAY_SIZE(exec_close_orders)) {
		if (exec_close_has(&exec_close_orders[child], QUEUE))
			exec_close_wait_and_destroy(fd, &exec_close_orders[child]);
	}
	igt_waitchildren();
	for (i = 0; i < ARRAY_SIZE(exec_close_orders); i++)
		if (!exec_close_has(&exec_close_orders[i], QUEUE))
			exec_close_wait_and_destroy(fd, &exec_close_orders[i]);
}

/* Files */

/**
 * struct share - a client, and a job of another one that is to be closed
 * @client: the one that stays
 * @other: the one that is closed
 * @job: the job
 * @map: the buffer that they share, the gate and the result
 * @fence: the job's, for @client
 */
struct share {
	struct asahi_client *client;
	struct asahi_client *other;
	struct job job;
	uint32_t *map;
	uint32_t fence;
};

/* The job waits for the fence @in of @client's, or for nothing. */
static struct share exec_close_share_job(struct asahi_client *client, uint32_t in)
{
	const uint32_t handle = igt_asahi_gem_create(client->fd, IGT_ASAHI_PAGE, 0, 0, 0);
	const int dmabuf = prime_handle_to_fd(client->fd, handle);
	struct share share = {
		.client = client,
		.other = igt_asahi_client_open(client->fd),
		.map = igt_asahi_gem_mmap(client->fd, handle, IGT_ASAHI_PAGE),
	};

	share.job = exec_close_job_submit(
		share.other, ASAHI_FREE_START, prime_fd_to_handle(share.other->fd, dmabuf),
		share.map, in ? igt_asahi_pass_fence(client->fd, in, share.other->fd) : 0);
	share.fence = igt_asahi_pass_fence(share.other->fd, share.job.sync, client->fd);
	close(dmabuf);
	return share;
}

/* Nothing holds the file any more. Return: nanoseconds that it took */
static uint64_t exec_close_file(struct share *share)
{
	struct timespec start = { 0 };

	munmap((void *)share->job.times.map, IGT_ASAHI_PAGE);
	igt_nsec_elapsed(&start);
	igt_asahi_client_close(share->other);
	return igt_nsec_elapsed(&start);
}

static void exec_close_check_share(struct share *share, int expected)
{
	igt_assert_eq(igt_asahi_wait(share->client->fd, share->fence), expected);
	igt_assert_eq_u32(share->map[RESULT], expected ? 0 : VALUE);
	munmap(share->map, IGT_ASAHI_PAGE);
}

static void exec_close_test_file_running(struct asahi_client *client)
{
	struct share share = exec_close_share_job(client, 0);

	igt_asahi_time_comes(&share.job.times, 0);
	exec_close_file(&share);
	igt_assert(!igt_asahi_signalled(client->fd, share.fence));
	share.map[0] = 1;
	exec_close_check_share(&share, 0);
}

static void exec_close_test_file_waiting(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t opened = syncobj_create(client->fd, 0);
	struct share share;

	igt_asahi_submit_one(client, &gate, opened);
	share = exec_close_share_job(client, opened);
	share.map[0] = 1;
	igt_assert_lte_u64(DRAIN_NS - DRAIN_NS / 10, exec_close_file(&share));
	client->words[ASAHI_GATE] = 1;
	exec_close_check_share(&share, -ESRCH);
}

static void *exec_close_open_soon(void *data)
{
	struct asahi_client *client = data;

	usleep(FLUSH_US);
	client->words[ASAHI_GATE] = 1;
	return NULL;
}

static void exec_close_test_file_flushed(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t opened = syncobj_create(client->fd, 0);
	struct share share;
	pthread_t thread;

	igt_asahi_submit_one(client, &gate, opened);
	share = exec_close_share_job(client, opened);
	share.map[0] = 1;
	igt_assert_eq(pthread_create(&thread, NULL, exec_close_open_soon, client), 0);
	exec_close_file(&share);
	pthread_join(thread, NULL);
	exec_close_check_share(&share, 0);
}

/*
 * A job that writes to pages from ASAHI_FREE_START on, says so in WRITTEN, and waits until its
 * gate is open: what it has written may be in the GPU's cache until it ends.
 */
static struct asahi_command exec_close_write_and_wait(struct asahi_client *client,
						      unsigned int pages)
{
	const struct {
		uint64_t addr;
		uint32_t value;
	} poke = { ASAHI_FREE_START, VALUE }, fill = { igt_asahi_word_addr(client, WRITTEN), 1 };
	const struct {
		uint64_t gate;
		uint64_t addr;
		uint32_t value;
	} gate = { igt_asahi_word_addr(client, ASAHI_GATE),
		   igt_asahi_word_addr(client, ASAHI_RESULT), 1 };
	const struct asahi_dispatch dispatches[] = {
		{ IGT_ASAHI_SHADER_POKE, &poke, sizeof(poke), 0, { pages, 1, 1 }, { 32, 1, 1 }, 0 },
		{ IGT_ASAHI_SHADER_FILL, &fill, sizeof(fill), 0, { 1, 1, 1 }, { 32, 1, 1 }, 0 },
		{ IGT_ASAHI_SHADER_GATE, &gate, sizeof(gate), 0, { 1, 1, 1 }, { 32, 1, 1 }, 0 },
	};

	return igt_asahi_command(client, dispatches, ARRAY_SIZE(dispatches));
}

/*
 * What the job has written may still be on its way through the GPU's caches, so the pages
 * must not be anybody else's before it ends.
 */
static void exec_close_test_closed_memory(struct asahi_client *client)
{
	const struct asahi_command command = exec_close_write_and_wait(client, 2);
	const uint32_t rw = DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE;
	const uint32_t sync = syncobj_create(client->fd, 0);
	const uint32_t handle[] = {
		igt_asahi_gem_create(client->fd, IGT_ASAHI_PAGE, 0, 0, 0),
		igt_asahi_gem_create(client->fd, IGT_ASAHI_PAGE, DRM_ASAHI_GEM_VM_PRIVATE,
				     client->vm, 0),
	};
	unsigned int i;
	int objects;

	for (i = 0; i < ARRAY_SIZE(handle); i++)
		igt_asahi_vm_bind_one(client->fd, client->vm, rw, handle[i], 0, IGT_ASAHI_PAGE,
				      ASAHI_FREE_START + i * IGT_ASAHI_PAGE, 0);
	igt_asahi_submit_one(client, &command, sync);
	igt_assert(igt_asahi_word_becomes(client, WRITTEN, 1));
	objects = igt_asahi_objects("gem-objects");
	for (i = 0; i < ARRAY_SIZE(handle); i++)
		gem_close(client->fd, handle[i]);
	usleep(100000);
	igt_assert(!igt_asahi_signalled(client->fd, sync));
	igt_assert_eq(igt_asahi_objects("gem-objects"), objects);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_asahi_wait_objects("gem-objects", objects - 2);
}

static const struct asahi_client_test exec_close_tests[] = {
	{"closed-memory", "Buffers are closed while a job runs.", exec_close_test_closed_memory},
	{"file-running", "A file is closed while a job runs.", exec_close_test_file_running},
	{"file-waiting", "A file is closed while a job waits.", exec_close_test_file_waiting},
	{"file-flushed", "A file is closed while a job waits a little.",
	 exec_close_test_file_flushed},
};

int igt_main()
{
	unsigned int i;
	int fd;

	igt_asahi_client_tests(exec_close_tests, ARRAY_SIZE(exec_close_tests));

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	igt_describe("What a running job uses is destroyed.");
	for (i = 0; i < ARRAY_SIZE(exec_close_orders); i++) {
		igt_subtest_f("running-%s", exec_close_name_of(&exec_close_orders[i])) {
			exec_close_test_running(igt_asahi_client_open(fd), &exec_close_orders[i]);
		}
		igt_fixture() {
			igt_asahi_clients_close();
		}
	}

	igt_describe("What a waiting job uses is destroyed.");
	igt_subtest("waiting") {
		exec_close_test_waiting(fd);
	}

	igt_fixture() {
		igt_asahi_clients_close();
		drm_close_driver(fd);
	}
}
