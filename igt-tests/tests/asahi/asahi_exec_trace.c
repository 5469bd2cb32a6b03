// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"
#include "sw_sync.h"

/**
 * TEST: asahi exec trace
 * Description: What tracepoints say of a client's jobs.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Telemetry
 * Functionality: tracepoints
 * Test category: functionality test
 *
 * SUBTEST: way-of-jobs
 * Description: Three jobs whose fences come at once: each is seen, with its times.
 *
 * SUBTEST: rejected
 * Description: What SUBMIT has refused.
 *
 * SUBTEST: never-ran
 * Description: A job whose queue is destroyed while it waits, and one whose queue
 *	has failed.
 */

#define TRACING		"/sys/kernel/tracing/"
#define TRACE_BYTES	(4 << 20)
#define HOLD_NS		50000000
#define JOBS		3

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	igt_assert_fd(fd);
	igt_assert_eq(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void trace_start(void)
{
	write_text(TRACING "trace", "\n");
	write_text(TRACING "events/asahi/enable", "1");
}

/* What was traced so far. */
static const char *trace_read(void)
{
	static char text[TRACE_BYTES];
	int fd = open(TRACING "trace", O_RDONLY);
	size_t used = 0;
	ssize_t size;

	igt_assert_fd(fd);
	do {
		size = read(fd, text + used, TRACE_BYTES - 1 - used);
		used += size > 0 ? size : 0;
	} while (size > 0 && used < TRACE_BYTES - 1);
	text[used] = '\0';
	close(fd);
	return text;
}

static uint64_t client_id(struct asahi_client *client)
{
	char line[256], path[64];
	uint64_t id = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", client->fd);
	file = fopen(path, "r");
	igt_assert(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "drm-client-id:", 14))
			id = strtoull(line + 14, NULL, 10);
	fclose(file);
	igt_assert_neq_u64(id, 0);
	return id;
}

/* The value of "key=" in a line; 0 without it. */
static int64_t value_of(const char *line, const char *end, const char *key)
{
	char word[32];
	const char *at;

	snprintf(word, sizeof(word), " %s=", key);
	at = strstr(line, word);
	return at && at < end ? strtoll(at + strlen(word), NULL, 0) : 0;
}

/**
 * struct event - what to look for
 * @name: tracepoint
 * @client: client, or 0 for any
 * @job: job, or 0 for any
 */
struct event {
	const char *name;
	uint64_t client;
	uint64_t job;
};

/* The next such line from @text on, and its end. */
static const char *find(const char *text, const struct event *event, const char **end)
{
	char name[40];

	snprintf(name, sizeof(name), " %s: ", event->name);
	while ((text = strstr(text, name))) {
		text += strlen(name) - 1;
		*end = text + strcspn(text, "\n");
		if ((!event->client ||
		     (uint64_t)value_of(text, *end, "client") == event->client) &&
		    (!event->job || (uint64_t)value_of(text, *end, "job") == event->job))
			return text;
	}
	return NULL;
}

static unsigned int count(const char *text, const char *name, uint64_t client, uint64_t job)
{
	const struct event event = { name, client, job };
	unsigned int found = 0;
	const char *end;

	for (text = find(text, &event, &end); text; text = find(end, &event, &end))
		found++;
	return found;
}

static void assert_events(const char *text, const char *name, uint64_t client, uint64_t job,
			  unsigned int expected)
{
	unsigned int found = count(text, name, client, job);

	igt_assert_f(found == expected,
		     "%s of client %" PRIu64 ", job %" PRIu64 ": %u times, not %u\n", name, client,
		     job, found, expected);
}

/* The only such event says this. */
static void assert_value(const char *text, const char *name, uint64_t client, uint64_t job,
			 const char *key, int64_t expected)
{
	const char *end, *line = find(text, &(struct event){ name, client, job }, &end);
	int64_t value = line ? value_of(line, end, key) : 0;

	assert_events(text, name, client, job, 1);
	igt_assert_f(value == expected, "%s of job %" PRIu64 ": %s is %" PRId64 ", not %" PRId64
		     "\n", name, job, key, value, expected);
}

/* Until the memory of so many jobs has gone; a worker does that. */
static const char *trace_read_freed(uint64_t client, unsigned int jobs)
{
	const char *text = trace_read();
	unsigned int i;

	for (i = 0; i < 600 && count(text, "asahi_free", client, 0) < jobs; i++) {
		usleep(100000);
		text = trace_read();
	}
	return text;
}

/* The number of a client's nth job, from 0. */
static uint64_t nth_job(const char *text, uint64_t client, unsigned int n)
{
	const struct event push = { "asahi_push", client, 0 };
	const char *end, *line = find(text, &push, &end);

	while (line && n--)
		line = find(end, &push, &end);
	igt_assert(line);
	return value_of(line, end, "job");
}

/* All that a job passes that is well; returns its end. */
static int64_t assert_way(const char *text, uint64_t client, uint64_t job, int64_t hold)
{
	static const char *const once[] = {
		"asahi_submit", "asahi_build", "asahi_push", "asahi_run",
		"asahi_ring",   "asahi_done",  "asahi_free", "asahi_work_done",
	};
	int64_t run, start, end, now;
	const char *line, *eol;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(once); i++)
		assert_events(text, once[i], client, job, 1);
	assert_value(text, "asahi_submit", client, job, "error", 0);
	assert_value(text, "asahi_done", client, job, "ran", 1);
	assert_value(text, "asahi_done", client, job, "error", 0);
	assert_value(text, "asahi_free", client, job, "ran", 1);

	line = find(text, &(struct event){ "asahi_work_done", client, job }, &eol);
	run = value_of(line, eol, "run");
	start = value_of(line, eol, "start");
	end = value_of(line, eol, "end");
	now = value_of(line, eol, "now");
	igt_assert_f(run && run <= start && start + hold <= end && end <= now,
		     "job %" PRIu64 ": %.*s\n", job, (int)(eol - line), line);
	return end;
}

static void test_way(struct asahi_client *client)
{
	const uint64_t id = client_id(client);
	const struct asahi_times times = igt_asahi_times_create(client);
	struct asahi_command gates[JOBS];
	uint32_t syncs[JOBS];
	int64_t end, last = 0;
	const char *text;
	unsigned int i;

	trace_start();
	igt_asahi_bo_create(client, IGT_ASAHI_PAGE);
	for (i = 0; i < JOBS; i++) {
		gates[i] = igt_asahi_after(igt_asahi_gate(client, ASAHI_RESULT + i, i + 1), 0);
		if (!i)
			gates[i].compute.ts.start.handle = times.object;
		syncs[i] = syncobj_create(client->fd, 0);
		igt_asahi_submit_one(client, &gates[i], syncs[i]);
	}
	igt_asahi_time_comes(&times, 0);
	usleep(HOLD_NS / 1000 * 2);
	client->words[ASAHI_GATE] = 1;
	for (i = 0; i < JOBS; i++) {
		igt_assert_eq(igt_asahi_wait(client->fd, syncs[i]), 0);
		igt_assert_eq_u32(client->words[ASAHI_RESULT + i], i + 1);
	}

	text = trace_read_freed(id, JOBS);
	assert_events(text, "asahi_submit_start", id, 0, JOBS);
	for (i = 0; i < JOBS; i++) {
		end = assert_way(text, id, nth_job(text, id, i), i ? 0 : HOLD_NS);
		igt_assert_lte_u64(last, end);
		last = end;
	}
	assert_events(text, "asahi_vm_bind_start", id, 0, 1);
	assert_events(text, "asahi_vm_bind", id, 0, 1);
}

static void test_rejected(struct asahi_client *client)
{
	static const int errors[] = { -EINVAL, -ENOENT, -EINVAL };
	const uint64_t id = client_id(client);
	struct drm_asahi_submit args = { .queue_id = client->queue };
	const char *text, *line, *end;
	unsigned int i;

	trace_start();
	/* Without commands, without a queue, and with flags. */
	do_ioctl_err(client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args, EINVAL);
	args.queue_id = 12345;
	do_ioctl_err(client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args, ENOENT);
	args.flags = 1;
	do_ioctl_err(client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args, EINVAL);

	text = trace_read();
	assert_events(text, "asahi_submit", id, 0, ARRAY_SIZE(errors));
	for (i = 0, line = text; i < ARRAY_SIZE(errors); i++) {
		line = find(line, &(struct event){ "asahi_submit", id, 0 }, &end);
		igt_assert_eq(value_of(line, end, "error"), errors[i]);
		igt_assert_eq(value_of(line, end, "job"), 0);
	}
}

/* Both wait for another client, on a queue that goes and on one that fails. */
static void test_never_ran(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	const struct asahi_command gate = igt_asahi_gate(other, ASAHI_RESULT, 1);
	const struct asahi_command late = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 1);
	const uint64_t id = client_id(client);
	const uint32_t opened = syncobj_create(other->fd, 0);
	const uint32_t fault = syncobj_create(client->fd, 0);
	const uint32_t behind = syncobj_create(client->fd, 0);
	uint32_t held, passed, queue;
	const char *text;
	uint64_t job;
	int timeline;

	igt_require_sw_sync();
	timeline = sw_sync_timeline_create();
	held = igt_asahi_late_fence(client->fd, timeline);
	trace_start();
	queue = igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	igt_asahi_submit_one(other, &gate, opened);
	passed = igt_asahi_pass_fence(other->fd, opened, client->fd);
	igt_asahi_submit(client->fd, queue, &late, 1, &(struct asahi_sync){ .in = passed });
	igt_asahi_queue_destroy(client->fd, queue, 0);
	/* Held back until the queue has the next job: one that has failed takes none. */
	igt_asahi_submit(client->fd, client->queue, &bad, 1,
			 &(struct asahi_sync){ .in = held, .out = fault });
	igt_asahi_submit(client->fd, client->queue, &late, 1,
			 &(struct asahi_sync){ .in = passed, .out = behind });
	sw_sync_timeline_inc(timeline, 1);
	close(timeline);
	igt_assert_eq(igt_asahi_wait(client->fd, fault), -EIO);
	/* The other client's job was running then, so it may have been lost. */
	other->words[ASAHI_GATE] = 1;
	igt_asahi_wait(other->fd, opened);
	igt_assert_eq(igt_asahi_wait(client->fd, behind), -ECANCELED);
	text = trace_read_freed(id, JOBS);

	job = nth_job(text, id, 0);
	assert_events(text, "asahi_run", id, job, 0);
	assert_events(text, "asahi_done", id, job, 0);
	assert_value(text, "asahi_free", id, job, "ran", 0);

	job = nth_job(text, id, 1);
	assert_value(text, "asahi_failed", id, job, "error", -EIO);
	assert_value(text, "asahi_done", id, job, "error", -EIO);
	assert_value(text, "asahi_done", id, job, "ran", 1);

	job = nth_job(text, id, 2);
	assert_events(text, "asahi_run", id, job, 0);
	assert_value(text, "asahi_done", id, job, "error", -ECANCELED);
	assert_value(text, "asahi_done", id, job, "ran", 0);
	assert_value(text, "asahi_free", id, job, "ran", 0);
}

static const struct asahi_client_test tests[] = {
	{ "way-of-jobs", "Three jobs whose fences come at once.", test_way },
	{ "rejected", "What SUBMIT has refused.", test_rejected },
	{ "never-ran", "Jobs whose queue has gone or failed.", test_never_ran },
};

int igt_main()
{
	igt_fixture() {
		igt_require(!access(TRACING "trace", W_OK) ||
			    !mount("none", TRACING, "tracefs", 0, NULL));
	}

	igt_asahi_client_tests(tests, ARRAY_SIZE(tests));

	igt_fixture() {
		write_text(TRACING "events/asahi/enable", "0");
	}
}
