// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "asahi/asahi_trace.h"
#include "igt.h"
#include "igt_syncobj.h"
#include "sw_sync.h"

/**
 * TEST: asahi exec trace
 * Description: The tracepoints of a client's jobs.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Telemetry
 * Functionality: tracepoints
 * Test category: functionality test
 *
 * SUBTEST: way-of-jobs
 * Description: Three jobs whose fences come at once: each is seen, with its times.
 *
 * SUBTEST: workers
 * Description: A client's first job starts in a worker of high priority, the next one in its
 *	SUBMIT, with the doorbell if the kernel can send without a wait. They are complete in a
 *	bottom half.
 *
 * SUBTEST: stamps
 * Description: No more jobs of a queue are with the firmware than its rings have room for,
 *	whether they run from their SUBMIT or have waited.
 *
 * SUBTEST: own-queue-binary
 * Description: A job that waits for a fence of its own queue goes to the firmware while
 *	the job that it waits for still runs.
 *
 * SUBTEST: own-queue-point
 * Description: So does one that waits for a point of a timeline, with earlier ones.
 *
 * SUBTEST: own-queue-array
 * Description: So does one that waits for an array of fences, one of which is its own
 *	queue's, as soon as the others have signalled.
 *
 * SUBTEST: own-queue-array-of-points
 * Description: The same with an array that was made of points of a timeline.
 *
 * SUBTEST: rejected
 * Description: Submissions that were refused.
 *
 * SUBTEST: killed
 * Description: A client is killed at each step of a job's way, with other jobs of its at
 *	the others; nothing of it stays.
 *
 * SUBTEST: never-ran
 * Description: A job whose queue is destroyed while it waits, and one whose queue
 *	has failed.
 */

#define HOLD_NS		50000000
#define JOBS		3
#define KILLS		4
/* Of a ring of the firmware's, outstanding */
#define STAMPS		126
/* Of the kernel's workers of high priority */
#define HIGH_NICE	(-20)

static void exec_trace_assert_events(const char *text, const char *name, uint64_t client,
				     uint64_t job, unsigned int expected)
{
	unsigned int found = igt_asahi_trace_count(text, name, client, job);

	igt_assert_f(found == expected,
		     "%s of client %" PRIu64 ", job %" PRIu64 ": %u times, not %u\n", name, client,
		     job, found, expected);
}

/* The only such event says this. */
static void exec_trace_assert_value(const char *text, const char *name, uint64_t client,
				    uint64_t job, const char *key, int64_t expected)
{
	const struct asahi_trace_event event = { name, client, job };
	const char *end, *line = igt_asahi_trace_find(text, &event, &end);
	int64_t value = line ? igt_asahi_trace_value_of(line, end, key) : 0;

	exec_trace_assert_events(text, name, client, job, 1);
	igt_assert_f(value == expected, "%s of job %" PRIu64 ": %s is %" PRId64 ", not %" PRId64
		     "\n", name, job, key, value, expected);
}

/* Until the memory of so many jobs has gone; a worker does that. */
static const char *exec_trace_read_freed(uint64_t client, unsigned int jobs)
{
	const char *text = igt_asahi_trace_read();
	unsigned int i;

	for (i = 0; i < 600 && igt_asahi_trace_count(text, "asahi_free", client, 0) < jobs; i++) {
		usleep(100000);
		text = igt_asahi_trace_read();
	}
	return text;
}

/* The number of a client's nth job, from 0. */
static uint64_t exec_trace_nth_job(const char *text, uint64_t client, unsigned int n)
{
	const struct asahi_trace_event push = { "asahi_push", client, 0 };
	const char *end, *line = igt_asahi_trace_find(text, &push, &end);

	while (line && n--)
		line = igt_asahi_trace_find(end, &push, &end);
	igt_assert(line);
	return igt_asahi_trace_value_of(line, end, "job");
}

/* All that a job passes that is well; returns its end. */
static int64_t exec_trace_assert_way(const char *text, uint64_t client, uint64_t job, int64_t hold)
{
	static const char *const once[] = {
		"asahi_submit", "asahi_build", "asahi_push", "asahi_run",
		"asahi_ring",   "asahi_done",  "asahi_free", "asahi_work_done",
	};
	int64_t run, start, end, now;
	const struct asahi_trace_event work_done = { "asahi_work_done", client, job };
	const char *line, *eol;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(once); i++)
		exec_trace_assert_events(text, once[i], client, job, 1);
	exec_trace_assert_value(text, "asahi_submit", client, job, "error", 0);
	exec_trace_assert_value(text, "asahi_done", client, job, "ran", 1);
	exec_trace_assert_value(text, "asahi_done", client, job, "error", 0);
	exec_trace_assert_value(text, "asahi_free", client, job, "ran", 1);

	line = igt_asahi_trace_find(text, &work_done, &eol);
	run = igt_asahi_trace_value_of(line, eol, "run");
	start = igt_asahi_trace_value_of(line, eol, "start");
	end = igt_asahi_trace_value_of(line, eol, "end");
	now = igt_asahi_trace_value_of(line, eol, "now");
	igt_assert_f(run && run <= start && start + hold <= end && end <= now,
		     "job %" PRIu64 ": %.*s\n", job, (int)(eol - line), line);
	return end;
}

static void exec_trace_test_way(struct asahi_client *client)
{
	const uint64_t id = igt_asahi_trace_client_id(client);
	const struct asahi_times times = igt_asahi_times_create(client);
	struct asahi_command gates[JOBS];
	uint32_t syncs[JOBS];
	int64_t end, last = 0;
	const char *text;
	unsigned int i;

	igt_asahi_trace_start();
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

	text = exec_trace_read_freed(id, JOBS);
	exec_trace_assert_events(text, "asahi_submit_start", id, 0, JOBS);
	for (i = 0; i < JOBS; i++) {
		end = exec_trace_assert_way(text, id, exec_trace_nth_job(text, id, i),
					    i ? 0 : HOLD_NS);
		igt_assert_lte_u64(last, end);
		last = end;
	}
	exec_trace_assert_events(text, "asahi_vm_bind_start", id, 0, 1);
	exec_trace_assert_events(text, "asahi_vm_bind", id, 0, 1);
}

static int exec_trace_pid_of(const char *text, const struct asahi_trace_event *event)
{
	const char *end, *line = igt_asahi_trace_find(text, event, &end);

	igt_assert(line);
	return igt_asahi_trace_pid_of(text, line);
}

static void exec_trace_assert_worker(const char *text, const struct asahi_trace_event *event)
{
	int nice;

	errno = 0;
	nice = getpriority(PRIO_PROCESS, exec_trace_pid_of(text, event));
	igt_assert_eq(errno, 0);
	igt_assert_f(nice == HIGH_NICE, "%s by a thread of nice %d\n", event->name, nice);
}

static void exec_trace_assert_bottom_half(const char *text, const struct asahi_trace_event *event)
{
	const char *end, *line = igt_asahi_trace_find(text, event, &end);

	igt_assert(line);
	igt_assert(igt_asahi_trace_is_bottom_half(text, line));
}

/* Mainline's mailbox cannot; a patch for it is beside the driver's. */
static bool exec_trace_sends_at_once(void)
{
	static const char name[] = " apple_rtkit_try_send_message\n";
	FILE *f = fopen("/proc/kallsyms", "r");
	bool found = false;
	char line[256];

	igt_assert(f);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, name);
	fclose(f);
	return found;
}

static void exec_trace_test_workers(struct asahi_client *client)
{
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	const struct asahi_trace_event bell = { "asahi_doorbell", 0, 0 };
	const uint64_t id = igt_asahi_trace_client_id(client);
	struct asahi_trace_event run = { "asahi_run", id, 0 };
	struct asahi_trace_event done = { "asahi_done", id, 0 };
	const char *text, *end;
	unsigned int i;

	igt_asahi_trace_start();
	igt_assert_eq(igt_asahi_run(client, &store), 0);
	igt_assert_eq(igt_asahi_run(client, &store), 0);
	text = igt_asahi_trace_read();

	for (i = 0; i < 2; i++) {
		done.job = exec_trace_nth_job(text, id, i);
		exec_trace_assert_bottom_half(text, &done);
	}
	run.job = exec_trace_nth_job(text, id, 0);
	exec_trace_assert_worker(text, &run);
	run.job = exec_trace_nth_job(text, id, 1);
	igt_assert_eq(exec_trace_pid_of(text, &run), getpid());
	text = igt_asahi_trace_find(text, &run, &end);
	igt_assert_eq(exec_trace_pid_of(text, &bell) == getpid(), exec_trace_sends_at_once());
}

/* The first one holds all others up, since the work of each waits for that before it. */
static void exec_trace_test_stamps(struct asahi_client *client)
{
	const struct asahi_command gate =
		igt_asahi_after(igt_asahi_gate(client, ASAHI_RESULT, 1), 0);
	const struct asahi_command store =
		igt_asahi_after(igt_asahi_store_word(client, ASAHI_RESULT, 2), 0);
	const uint64_t id = igt_asahi_trace_client_id(client);
	const uint32_t done = syncobj_create(client->fd, 0);
	const char *text;
	unsigned int i;

	/* From here on jobs run from their SUBMIT. */
	igt_assert_eq(igt_asahi_run(client, &store), 0);
	igt_asahi_trace_start();
	igt_asahi_submit_one(client, &gate, 0);
	for (i = 1; i < 2 * STAMPS; i++)
		igt_asahi_submit_one(client, &store, done);
	usleep(HOLD_NS / 1000);
	text = igt_asahi_trace_read();
	exec_trace_assert_events(text, "asahi_push", id, 0, 2 * STAMPS);
	exec_trace_assert_events(text, "asahi_run", id, 0, STAMPS);

	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, done), 0);
	exec_trace_assert_events(igt_asahi_trace_read(), "asahi_run", id, 0, 2 * STAMPS);
}

/**
 * struct own - jobs of which the last one waits for a fence of its own queue
 * @client: whose they are
 * @id: the client's number
 * @sync: what the jobs before the last one signal
 * @point: point of @sync that the first of them signals, or 0 if it has none
 * @done: what the last one signals
 */
struct own {
	struct asahi_client *client;
	uint64_t id;
	uint32_t sync;
	uint64_t point;
	uint32_t done;
};

static uint64_t exec_trace_own_last_point(const struct own *own)
{
	return own->point ? own->point + JOBS - 2 : 0;
}

/* All but the last: none of them ends before the gate is open. */
static struct own exec_trace_own_begin(struct asahi_client *client, uint64_t point)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 7);
	const struct own own = {
		.client = client,
		.id = igt_asahi_trace_client_id(client),
		.sync = syncobj_create(client->fd, 0),
		.point = point,
		.done = syncobj_create(client->fd, 0),
	};
	unsigned int i;

	client->words[ASAHI_GATE] = 0;
	client->words[ASAHI_RESULT + 1] = 0;
	igt_asahi_trace_start();
	for (i = 0; i < JOBS - 1; i++)
		igt_asahi_submit(client->fd, client->queue, &gate, 1,
				 &(struct asahi_sync){ .out = own.sync,
						       .out_point = point ? point + i : 0 });
	return own;
}

static void exec_trace_own_submit_last(const struct own *own, uint32_t in, uint64_t in_point)
{
	const struct asahi_command reader =
		igt_asahi_copy(own->client, ASAHI_RESULT, ASAHI_RESULT + 1);

	igt_asahi_submit(own->client->fd, own->client->queue, &reader, 1,
			 &(struct asahi_sync){ .in = in, .in_point = in_point, .out = own->done });
}

/* So many jobs of the client are with the firmware, and no more. */
static void exec_trace_own_assert_run(const struct own *own, unsigned int jobs)
{
	unsigned int i;

	for (i = 0; i < 600; i++) {
		if (igt_asahi_trace_count(igt_asahi_trace_read(), "asahi_run", own->id, 0) >= jobs)
			break;
		usleep(10000);
	}
	igt_assert_eq(igt_asahi_trace_count(igt_asahi_trace_read(), "asahi_run", own->id, 0), jobs);
}

/* The last one is with the firmware while those before it run, and comes behind them. */
static void exec_trace_own_end(const struct own *own)
{
	struct asahi_client *client = own->client;

	exec_trace_own_assert_run(own, JOBS);
	igt_assert(!igt_asahi_signalled(client->fd, own->done));
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 0);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, own->done), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 7);
}

/* Without @point the sync is a binary one. */
static void exec_trace_hand_over_behind_own(struct asahi_client *client, uint64_t point)
{
	const struct own own = exec_trace_own_begin(client, point);

	exec_trace_own_submit_last(&own, own.sync, exec_trace_own_last_point(&own));
	exec_trace_own_end(&own);
}

/* A new sync object with the fence of the last job but one, and with that of a timeline */
static uint32_t exec_trace_own_array(const struct own *own, int timeline)
{
	const int fd = own->client->fd;
	const int late = sw_sync_timeline_create_fence(timeline, 1);
	const uint32_t array = syncobj_create(fd, 0);
	uint32_t single = own->sync;
	int file, merged;

	if (own->point) {
		single = syncobj_create(fd, 0);
		syncobj_timeline_to_binary(fd, single, own->sync, exec_trace_own_last_point(own),
					   0);
	}
	file = syncobj_handle_to_fd(fd, single, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE);
	merged = sync_fence_merge(file, late);
	igt_assert_fd(merged);
	igt_assert_eq(sync_fence_count(merged), 2);
	syncobj_import_sync_file(fd, array, merged);
	close(merged);
	close(file);
	close(late);
	return array;
}

/*
 * The kernel keeps the later one of two fences of a queue when it merges files, so that an
 * array has a fence of somebody else, too: of user space's, which the processor waits for.
 */
static void exec_trace_hand_over_behind_array(struct asahi_client *client, uint64_t point)
{
	struct own own;
	int timeline;

	igt_require_sw_sync();
	timeline = sw_sync_timeline_create();
	own = exec_trace_own_begin(client, point);
	exec_trace_own_submit_last(&own, exec_trace_own_array(&own, timeline), 0);
	exec_trace_own_assert_run(&own, JOBS - 1);
	usleep(HOLD_NS / 1000);
	exec_trace_own_assert_run(&own, JOBS - 1);
	sw_sync_timeline_inc(timeline, 1);
	close(timeline);
	exec_trace_own_end(&own);
}

static void exec_trace_test_own_queue_binary(struct asahi_client *client)
{
	exec_trace_hand_over_behind_own(client, 0);
}

static void exec_trace_test_own_queue_point(struct asahi_client *client)
{
	exec_trace_hand_over_behind_own(client, 5);
}

static void exec_trace_test_own_queue_array(struct asahi_client *client)
{
	exec_trace_hand_over_behind_array(client, 0);
}

static void exec_trace_test_own_queue_array_of_points(struct asahi_client *client)
{
	exec_trace_hand_over_behind_array(client, 5);
}

static void exec_trace_test_rejected(struct asahi_client *client)
{
	static const int errors[] = { -EINVAL, -ENOENT, -EINVAL };
	const uint64_t id = igt_asahi_trace_client_id(client);
	const struct asahi_trace_event submit = { "asahi_submit", id, 0 };
	struct drm_asahi_submit args = { .queue_id = client->queue };
	const char *text, *line, *end;
	unsigned int i;

	igt_asahi_trace_start();
	/* Without commands, without a queue, and with flags. */
	do_ioctl_err(client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args, EINVAL);
	args.queue_id = 12345;
	do_ioctl_err(client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args, ENOENT);
	args.flags = 1;
	do_ioctl_err(client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args, EINVAL);

	text = igt_asahi_trace_read();
	exec_trace_assert_events(text, "asahi_submit", id, 0, ARRAY_SIZE(errors));
	for (i = 0, line = text; i < ARRAY_SIZE(errors); i++) {
		line = igt_asahi_trace_find(line, &submit, &end);
		igt_assert_eq(igt_asahi_trace_value_of(line, end, "error"), errors[i]);
		igt_assert_eq(igt_asahi_trace_value_of(line, end, "job"), 0);
	}
}

/* Both wait for another client, on a queue that goes and on one that fails. */
static void exec_trace_test_never_ran(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	const struct asahi_command gate = igt_asahi_gate(other, ASAHI_RESULT, 1);
	const struct asahi_command late = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 1);
	const uint64_t id = igt_asahi_trace_client_id(client);
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
	igt_asahi_trace_start();
	queue = igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	igt_asahi_submit_one(other, &gate, opened);
	passed = igt_asahi_pass_fence(other->fd, opened, client->fd);
	igt_asahi_submit(client->fd, queue, &late, 1, &(struct asahi_sync){ .in = passed });
	igt_asahi_queue_destroy(client->fd, queue, 0);
	/* Held back until the queue has the next job: what comes after the fault runs. */
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
	text = exec_trace_read_freed(id, JOBS);

	job = exec_trace_nth_job(text, id, 0);
	exec_trace_assert_events(text, "asahi_run", id, job, 0);
	exec_trace_assert_value(text, "asahi_done", id, job, "error", -ESRCH);
	exec_trace_assert_value(text, "asahi_done", id, job, "ran", 0);
	exec_trace_assert_value(text, "asahi_free", id, job, "ran", 0);

	job = exec_trace_nth_job(text, id, 1);
	exec_trace_assert_value(text, "asahi_failed", id, job, "error", -EIO);
	exec_trace_assert_value(text, "asahi_done", id, job, "error", -EIO);
	exec_trace_assert_value(text, "asahi_done", id, job, "ran", 1);

	job = exec_trace_nth_job(text, id, 2);
	exec_trace_assert_events(text, "asahi_run", id, job, 0);
	exec_trace_assert_value(text, "asahi_done", id, job, "error", -ECANCELED);
	exec_trace_assert_value(text, "asahi_done", id, job, "ran", 0);
	exec_trace_assert_value(text, "asahi_free", id, job, "ran", 0);
}

/* Whoever is killed in the middle of this; the client's number goes to @say. */
static void exec_trace_submit_always(int fd, int say)
{
	struct asahi_client *client = igt_asahi_client_open(fd);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	const uint64_t id = igt_asahi_trace_client_id(client);
	const uint32_t sync = syncobj_create(client->fd, 0);

	igt_assert_eq(write(say, &id, sizeof(id)), sizeof(id));
	for (;;) {
		igt_asahi_submit_one(client, &store, sync);
		usleep(500);
	}
}

static void exec_trace_kill_at(struct asahi_client *client, const char *step)
{
	struct igt_helper_process victim = { .use_SIGKILL = true };
	uint64_t id;
	int from[2];
	unsigned int i;

	igt_asahi_trace_start();
	igt_assert_eq(pipe(from), 0);
	igt_fork_helper(&victim) {
		exec_trace_submit_always(client->fd, from[1]);
	}
	igt_assert_eq(read(from[0], &id, sizeof(id)), sizeof(id));
	for (i = 0; i < 600; i++) {
		if (igt_asahi_trace_count(igt_asahi_trace_read(), step, id, 0))
			break;
		usleep(1000);
	}
	igt_stop_helper(&victim);
	igt_assert_f(i < 600, "no %s of client %" PRIu64 "\n", step, id);
	close(from[0]);
	close(from[1]);
}

static void exec_trace_test_killed(struct asahi_client *client)
{
	static const char *const steps[] = {
		"asahi_submit_start", "asahi_build", "asahi_push", "asahi_submit", "asahi_run",
		"asahi_ring",	      "asahi_done",  "asahi_free",
	};
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 5);
	unsigned int i;

	for (i = 0; i < KILLS * ARRAY_SIZE(steps); i++) {
		exec_trace_kill_at(client, steps[i % ARRAY_SIZE(steps)]);
		client->words[ASAHI_RESULT] = 0;
		igt_assert_eq(igt_asahi_run(client, &store), 0);
		igt_assert_eq_u32(client->words[ASAHI_RESULT], 5);
	}
}

static const struct asahi_client_test exec_trace_tests[] = {
	{"way-of-jobs", "Three jobs whose fences come at once.", exec_trace_test_way},
	{"workers", "Where jobs start, and where they are complete.", exec_trace_test_workers},
	{"stamps", "How many jobs the firmware has at a time.", exec_trace_test_stamps},
	{"own-queue-binary", "Jobs behind one of their own queue are handed over.",
	 exec_trace_test_own_queue_binary},
	{"own-queue-point", "So are those behind a point of a timeline.",
	 exec_trace_test_own_queue_point},
	{"own-queue-array", "So are those behind an array of fences.",
	 exec_trace_test_own_queue_array},
	{"own-queue-array-of-points", "And one that was made of points.",
	 exec_trace_test_own_queue_array_of_points},
	{"rejected", "What SUBMIT has refused.", exec_trace_test_rejected},
	{"killed", "A client that is killed at each step of its jobs.", exec_trace_test_killed},
	{"never-ran", "Jobs whose queue has gone or failed.", exec_trace_test_never_ran},
};

int igt_main()
{
	igt_fixture() {
		igt_asahi_trace_require();
	}

	igt_asahi_client_tests(exec_trace_tests, ARRAY_SIZE(exec_trace_tests));

	igt_fixture() {
		igt_asahi_trace_stop();
	}
}
