// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec usage
 * Description: What fdinfo says of a client's use of the GPU, against what the
 *	client knows: it holds the GPU for a while with a job that waits for it.
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
 * SUBTEST: active-memory
 * Description: Memory is active while a job may use it.
 */

#define ENGINE		"drm-engine-compute"
#define ACTIVE		"drm-active-"

#define MS		1000000ULL
#define HOLD_MS		400
#define SAMPLE_MS	50
#define QUEUES		3

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The sum of the values of all keys that begin so. */
static uint64_t read_fdinfo(struct asahi_client *client, const char *key)
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

static struct sample take_sample(struct asahi_client *client)
{
	struct sample s;

	s.before = now_ns();
	s.busy = read_fdinfo(client, ENGINE);
	s.after = now_ns();
	return s;
}

/*
 * Between two samples no engine was busy for longer than the time between them;
 * the GPU's clock and this one may be read some way apart.
 */
static void assert_growth(const struct sample *old, const struct sample *new, uint64_t least)
{
	igt_assert_lte_u64(least, new->busy - old->busy);
	igt_assert_lte_u64(new->busy - old->busy, new->after - old->before + 2 * MS);
}

/* How much at least of the time between two samples an engine was busy that was so always */
static uint64_t least_growth(const struct sample *old, const struct sample *new)
{
	const uint64_t between = new->before - old->after;

	return between > 2 * MS ? between - 2 * MS : 0;
}

/* Until the GPU has begun with what was submitted last. */
static struct sample wait_busy(struct asahi_client *client)
{
	const uint64_t end = now_ns() + ASAHI_PATIENCE_NS;
	const struct sample first = take_sample(client);
	struct sample sample = first;

	while (sample.busy == first.busy) {
		igt_assert_lt_u64(now_ns(), end);
		usleep(1000);
		sample = take_sample(client);
	}
	return sample;
}

static void test_running_job(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct sample begun, last, sample;
	unsigned int i;

	igt_asahi_submit_one(client, &gate, sync);
	begun = wait_busy(client);
	last = begun;
	for (i = 0; i < HOLD_MS / SAMPLE_MS; i++) {
		usleep(SAMPLE_MS * 1000);
		sample = take_sample(client);
		assert_growth(&last, &sample, least_growth(&last, &sample));
		last = sample;
	}
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	sample = take_sample(client);
	assert_growth(&begun, &sample, least_growth(&begun, &last));
	last = sample;
	usleep(SAMPLE_MS * 1000);
	sample = take_sample(client);
	igt_assert_eq_u64(sample.busy, last.busy);
}

static void test_several_queues(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
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
	begun = wait_busy(client);
	last = begun;
	for (i = 0; i < HOLD_MS / SAMPLE_MS; i++) {
		usleep(SAMPLE_MS * 1000);
		sample = take_sample(client);
		assert_growth(&last, &sample, 0);
		last = sample;
	}
	client->words[ASAHI_GATE] = 1;
	last = sample;
	for (i = 0; i < QUEUES; i++)
		igt_assert_eq(igt_asahi_wait(client->fd, syncs[i]), 0);
	for (i = 0; i < QUEUES; i++)
		igt_asahi_queue_destroy(client->fd, queues[i], 0);
	sample = take_sample(client);
	assert_growth(&begun, &sample, least_growth(&begun, &last));
}

static void test_many_short_jobs(struct asahi_client *client)
{
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct sample first, last;
	unsigned int i;

	first = take_sample(client);
	for (i = 0; i < 300; i++)
		igt_asahi_submit_one(client, &store, sync);
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	last = take_sample(client);
	assert_growth(&first, &last, 300);
}

static void test_active_memory(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);

	igt_assert_eq_u64(read_fdinfo(client, ACTIVE), 0);
	igt_asahi_submit_one(client, &gate, sync);
	igt_assert_neq_u64(read_fdinfo(client, ACTIVE), 0);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_eq_u64(read_fdinfo(client, ACTIVE), 0);
}

static const struct asahi_client_test tests[] = {
	{ "running-job", "A job's time counts while it runs.", test_running_job },
	{ "several-queues", "Jobs of several queues at once.", test_several_queues },
	{ "many-short-jobs", "Many short jobs.", test_many_short_jobs },
	{ "active-memory", "Memory is active while a job runs.", test_active_memory },
};

int igt_main()
{
	igt_asahi_client_tests(tests, ARRAY_SIZE(tests));
}
