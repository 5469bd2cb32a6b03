// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec usage
 * Description: A client's use of the GPU in fdinfo, against what the client knows:
 * it holds the GPU for a while with a job that waits for it.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Telemetry
 * Functionality: per client usage
 * Test category: functionality test
 *
 * SUBTEST: running-job
 * Description: A job's time counts as it passes, and no longer when it is over.
 *
 * SUBTEST: several-queues
 * Description: Jobs of several queues count no more than the time that passes.
 *
 * SUBTEST: many-short-jobs
 * Description: Many short jobs count.
 *
 * SUBTEST: times-of-compute
 * Description: Jobs that run one after the other count for just as long as the times say
 *	that the GPU has written for them.
 *
 * SUBTEST: times-of-renders
 * Description: So do vertex and fragment work of renders.
 *
 * SUBTEST: active-memory
 * Description: Memory is active while a job may use it.
 *
 * SUBTEST: memory
 * Description: Total, resident, shared and active memory, to the byte.
 *
 * SUBTEST: internal-memory
 * Description: A page table is 16 KiB, and counts from the first mapping that needs it,
 *	for the file that has the address space and for no other.
 */

#define ENGINE		"drm-engine-compute"
#define VERTEX		"drm-engine-vertex"
#define FRAGMENT	"drm-engine-fragment"
#define ACTIVE		"drm-active-"

#define MS		1000000ULL
#define HOLD_MS		400
#define SAMPLE_MS	50
#define QUEUES		3
#define TIMED_JOBS	20
#define TABLES		10

/* Bytes that a page table maps */
#define BLOCK		(32ULL << 20)

static uint64_t exec_usage_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The sum of the values of all keys that begin so. */
static uint64_t exec_usage_read_fdinfo(struct asahi_client *client, const char *key)
{
	char path[64], line[256];
	uint64_t value, sum = 0;
	bool found = false;
	FILE *fp;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", client->fd);
	fp = fopen(path, "r");
	igt_assert(fp);
	while (fgets(line, sizeof(line), fp)) {
		if (strncmp(line, key, strlen(key)) ||
		    sscanf(line, "%*[^:]: %" SCNu64, &value) != 1)
			continue;
		sum += value;
		found = true;
	}
	fclose(fp);
	igt_assert_f(found, "fdinfo has no %s\n", key);
	return sum;
}

/* A sample, and its time: not earlier than @before, not later than @after. */
struct sample {
	uint64_t before;
	uint64_t after;
	uint64_t busy;
};

static struct sample exec_usage_take_sample(struct asahi_client *client)
{
	struct sample s;

	s.before = exec_usage_now_ns();
	s.busy = exec_usage_read_fdinfo(client, ENGINE);
	s.after = exec_usage_now_ns();
	return s;
}

/*
 * Between two samples no engine was busy for longer than the time between them;
 * the GPU's clock and this one may be read some way apart.
 */
static void exec_usage_assert_growth(const struct sample *old, const struct sample *new,
				     uint64_t least)
{
	igt_assert_lte_u64(least, new->busy - old->busy);
	igt_assert_lte_u64(new->busy - old->busy, new->after - old->before + 2 * MS);
}

/* How much at least of the time between two samples an engine was busy that was so always */
static uint64_t exec_usage_least_growth(const struct sample *old, const struct sample *new)
{
	const uint64_t between = new->before - old->after;

	return between > 2 * MS ? between - 2 * MS : 0;
}

/* Until the GPU has begun with what was submitted since a sample: it may be done, too. */
static struct sample exec_usage_wait_busy(struct asahi_client *client, const struct sample *first)
{
	const uint64_t end = exec_usage_now_ns() + ASAHI_PATIENCE_NS;
	struct sample sample = exec_usage_take_sample(client);

	while (sample.busy == first->busy) {
		igt_assert_lt_u64(exec_usage_now_ns(), end);
		usleep(1000);
		sample = exec_usage_take_sample(client);
	}
	return sample;
}

static void exec_usage_test_running_job(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);
	const struct sample idle = exec_usage_take_sample(client);
	struct sample begun, last, sample;
	unsigned int i;

	igt_asahi_submit_one(client, &gate, sync);
	begun = exec_usage_wait_busy(client, &idle);
	last = begun;
	for (i = 0; i < HOLD_MS / SAMPLE_MS; i++) {
		usleep(SAMPLE_MS * 1000);
		sample = exec_usage_take_sample(client);
		exec_usage_assert_growth(&last, &sample, exec_usage_least_growth(&last, &sample));
		last = sample;
	}
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	sample = exec_usage_take_sample(client);
	exec_usage_assert_growth(&begun, &sample, exec_usage_least_growth(&begun, &last));
	last = sample;
	usleep(SAMPLE_MS * 1000);
	sample = exec_usage_take_sample(client);
	igt_assert_eq_u64(sample.busy, last.busy);
}

static void exec_usage_test_several_queues(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct sample idle = exec_usage_take_sample(client);
	struct sample begun, last, sample;
	uint32_t queues[QUEUES], syncs[QUEUES];
	unsigned int i;

	for (i = 0; i < QUEUES; i++) {
		syncs[i] = syncobj_create(client->fd, 0);
		queues[i] = igt_asahi_queue_create(client->fd, client->vm,
						   DRM_ASAHI_PRIORITY_MEDIUM, 0);
		igt_asahi_submit(client->fd, queues[i], &gate, 1,
				 &(struct asahi_sync){ .out = syncs[i] });
	}
	begun = exec_usage_wait_busy(client, &idle);
	last = begun;
	for (i = 0; i < HOLD_MS / SAMPLE_MS; i++) {
		usleep(SAMPLE_MS * 1000);
		sample = exec_usage_take_sample(client);
		exec_usage_assert_growth(&last, &sample, 0);
		last = sample;
	}
	client->words[ASAHI_GATE] = 1;
	last = sample;
	for (i = 0; i < QUEUES; i++)
		igt_assert_eq(igt_asahi_wait(client->fd, syncs[i]), 0);
	for (i = 0; i < QUEUES; i++)
		igt_asahi_queue_destroy(client->fd, queues[i], 0);
	sample = exec_usage_take_sample(client);
	exec_usage_assert_growth(&begun, &sample, exec_usage_least_growth(&begun, &last));
}

static void exec_usage_test_many_short_jobs(struct asahi_client *client)
{
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct sample first, last;
	unsigned int i;

	first = exec_usage_take_sample(client);
	for (i = 0; i < 300; i++)
		igt_asahi_submit_one(client, &store, sync);
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	last = exec_usage_take_sample(client);
	exec_usage_assert_growth(&first, &last, 300);
}

static void exec_usage_test_active_memory(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);

	igt_assert_eq_u64(exec_usage_read_fdinfo(client, ACTIVE), 0);
	igt_asahi_submit_one(client, &gate, sync);
	igt_assert_neq_u64(exec_usage_read_fdinfo(client, ACTIVE), 0);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_eq_u64(exec_usage_read_fdinfo(client, ACTIVE), 0);
}

/*
 * Both are made of the times that the firmware takes. The client has them in whole
 * nanoseconds, and the sum of their differences may be off by one for each job.
 */
static void exec_usage_assert_same_time(uint64_t engine, uint64_t jobs)
{
	igt_assert_neq_u64(jobs, 0);
	igt_assert_f(engine <= jobs + TIMED_JOBS && jobs <= engine + TIMED_JOBS,
		     "the engine was busy for %llu ns, jobs for %llu ns\n",
		     (unsigned long long)engine, (unsigned long long)jobs);
}

static void exec_usage_test_times_of_compute(struct asahi_client *client)
{
	const struct asahi_times times = igt_asahi_times_create(client);
	struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	uint64_t jobs = 0, before;
	unsigned int i;

	store.compute.ts.start.handle = times.object;
	store.compute.ts.end = (struct drm_asahi_timestamp){ times.object, 8 };
	before = exec_usage_read_fdinfo(client, ENGINE);
	for (i = 0; i < TIMED_JOBS; i++) {
		igt_assert_eq(igt_asahi_run(client, &store), 0);
		jobs += times.map[1] - times.map[0];
	}
	exec_usage_assert_same_time(exec_usage_read_fdinfo(client, ENGINE) - before, jobs);
}

static void exec_usage_test_times_of_renders(struct asahi_client *client)
{
	const struct asahi_times times = igt_asahi_times_create(client);
	struct asahi_render render = igt_asahi_render(client, 256);
	uint64_t vertex, fragment, vertex_jobs = 0, fragment_jobs = 0;
	unsigned int i;

	render.render.ts_vtx.start.handle = times.object;
	render.render.ts_vtx.end = (struct drm_asahi_timestamp){ times.object, 8 };
	render.render.ts_frag.start = (struct drm_asahi_timestamp){ times.object, 16 };
	render.render.ts_frag.end = (struct drm_asahi_timestamp){ times.object, 24 };
	vertex = exec_usage_read_fdinfo(client, VERTEX);
	fragment = exec_usage_read_fdinfo(client, FRAGMENT);
	for (i = 0; i < TIMED_JOBS; i++) {
		igt_assert_eq(igt_asahi_run_render(client, client->queue, &render), 0);
		vertex_jobs += times.map[1] - times.map[0];
		fragment_jobs += times.map[3] - times.map[2];
	}
	exec_usage_assert_same_time(exec_usage_read_fdinfo(client, VERTEX) - vertex, vertex_jobs);
	exec_usage_assert_same_time(exec_usage_read_fdinfo(client, FRAGMENT) - fragment,
				    fragment_jobs);
}

/* Memory as fdinfo has to say, without what is kept for the client beside its objects */
static void exec_usage_assert_memory(int fd, uint64_t total, uint64_t resident, uint64_t shared,
				     uint64_t active)
{
	igt_assert_eq_u64(igt_asahi_memory(fd, "drm-total-memory"), total);
	igt_assert_eq_u64(igt_asahi_memory(fd, "drm-resident-memory"), resident);
	igt_assert_eq_u64(igt_asahi_memory(fd, "drm-shared-memory"), shared);
	igt_assert_eq_u64(igt_asahi_memory(fd, "drm-active-memory"), active);
}

static void exec_usage_bind_page(struct asahi_client *client, uint32_t handle, uint64_t addr)
{
	igt_asahi_vm_bind_one(client->fd, client->vm, DRM_ASAHI_BIND_READ, handle, 0,
			      IGT_ASAHI_PAGE, addr, 0);
}

/* Three objects: one in the address space, one that another file has too, and one more */
static void exec_usage_test_memory(struct asahi_client *client)
{
	const uint64_t page = IGT_ASAHI_PAGE, own = client->arena.size + ASAHI_WORDS * 4;
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);
	const int fd = client->fd, other = drm_reopen_driver(fd);
	uint32_t bound, shared, imported, idle;
	int dmabuf;

	exec_usage_assert_memory(fd, own, own, 0, 0);
	exec_usage_assert_memory(other, 0, 0, 0, 0);
	bound = igt_asahi_gem_create(fd, page + 1, 0, 0, 0);
	shared = igt_asahi_gem_create(fd, 1, 0, 0, 0);
	idle = igt_asahi_gem_create(fd, 64 * page, 0, 0, 0);
	exec_usage_assert_memory(fd, own + 67 * page, own, 0, 0);
	exec_usage_bind_page(client, bound, ASAHI_FREE_START);
	exec_usage_assert_memory(fd, own + 67 * page, own + 2 * page, 0, 0);

	dmabuf = prime_handle_to_fd(fd, shared);
	imported = prime_fd_to_handle(other, dmabuf);
	close(dmabuf);
	igt_assert_eq_u64(igt_asahi_memory(fd, "drm-shared-memory"), page);
	igt_assert_eq_u64(igt_asahi_memory(other, "drm-total-memory"), page);
	igt_assert_eq_u64(igt_asahi_memory(other, "drm-shared-memory"), page);

	igt_asahi_submit_one(client, &gate, sync);
	igt_assert_eq_u64(igt_asahi_memory(fd, "drm-active-memory"), own + 2 * page);
	igt_assert_eq_u64(igt_asahi_memory(other, "drm-active-memory"), 0);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(fd, sync), 0);

	gem_close(other, imported);
	gem_close(fd, shared);
	gem_close(fd, idle);
	gem_close(fd, bound);
	exec_usage_assert_memory(fd, own, own, 0, 0);
	exec_usage_assert_memory(other, 0, 0, 0, 0);
	drm_close_driver(other);
}

static void exec_usage_test_internal_memory(struct asahi_client *client)
{
	const uint32_t handle = igt_asahi_gem_create(client->fd, IGT_ASAHI_PAGE, 0, 0, 0);
	const int other = drm_reopen_driver(client->fd);
	uint64_t internal, others;
	unsigned int i;

	exec_usage_bind_page(client, handle, ASAHI_FREE_START);
	others = igt_asahi_memory(other, "drm-total-internal");
	internal = igt_asahi_memory(client->fd, "drm-total-internal");
	for (i = 1; i <= TABLES; i++)
		exec_usage_bind_page(client, handle, ASAHI_FREE_START + i * BLOCK);
	igt_assert_eq_u64(igt_asahi_memory(client->fd, "drm-total-internal"),
			  internal + TABLES * IGT_ASAHI_PAGE);
	for (i = 1; i <= TABLES; i++)
		exec_usage_bind_page(client, handle, ASAHI_FREE_START + i * BLOCK + IGT_ASAHI_PAGE);
	igt_assert_eq_u64(igt_asahi_memory(client->fd, "drm-total-internal"),
			  internal + TABLES * IGT_ASAHI_PAGE);
	igt_assert_eq_u64(igt_asahi_memory(other, "drm-total-internal"), others);
	drm_close_driver(other);
}

static const struct asahi_client_test exec_usage_tests[] = {
	{"running-job", "A job's time counts while it runs.", exec_usage_test_running_job},
	{"several-queues", "Jobs of several queues at once.", exec_usage_test_several_queues},
	{"many-short-jobs", "Many short jobs.", exec_usage_test_many_short_jobs},
	{"times-of-compute", "Engine time and the times of jobs.",
	 exec_usage_test_times_of_compute},
	{"times-of-renders", "Engine time and the times of renders.",
	 exec_usage_test_times_of_renders},
	{"active-memory", "Memory is active while a job runs.", exec_usage_test_active_memory},
	{"memory", "Memory, to the byte.", exec_usage_test_memory},
	{"internal-memory", "What page tables take.", exec_usage_test_internal_memory},
};

int igt_main()
{
	igt_asahi_client_tests(exec_usage_tests, ARRAY_SIZE(exec_usage_tests));
}
