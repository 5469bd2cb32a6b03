// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "asahi/asahi_trace.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec bystander
 * Description: Effects of one client's failures on another one. A second process
 *	submits one small job after the other, and measures. While the firmware has halted
 *	for a fault it takes nothing, so the driver has to let it go on at once, whatever
 *	the guilty client has made large.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: faults and resets
 * Test category: functionality test
 *
 * SUBTEST: many-mappings
 * Description: The guilty client has 50,000 mappings, which its core dump lists.
 *
 * SUBTEST: many-queues
 * Description: 2,000 queues that have run a job are destroyed beside the fault.
 *
 * SUBTEST: loop
 * Description: A client faults again and again for as long as it may.
 */

#define MAPPINGS	50000
#define FILES		4
#define QUEUES		500
#define LOOP_FAULTS	60
#define PAUSE_US	500
#define DUMP_PAUSE_US	50000
#define DUMP_WAITS	600

/* Faults that each leave a dump, and faults while queues are destroyed */
#define FAULTS		5
#define MOST_FAULTS	20

/*
 * By the clock of the bystander, which takes some ten milliseconds for a job on an idle
 * machine, while a core dump takes seconds. A machine that is slow by itself is slow before
 * the faults, too. One that stands still for once does not do so beside half of them.
 */
#define LATE_MS		500
#define TIMES_USUAL	10
#define USUAL_JOBS	50

/*
 * By the driver's tracepoints, microseconds. The host runs something else for some
 * milliseconds, also when it is idle otherwise, so that half of the faults may take longer until
 * the resume, and one in four until the job is over. If the driver waits for something, it does
 * so at each fault. Usual are 0.1 ms and 10 ms. Faults in a row, and queues that are destroyed,
 * keep the machine busy.
 *
 * A virtual machine that counts instructions does not stand still while its host does
 * something else. Where ASAHI_EXACT says that this is one, each fault has to be over in
 * time: 0.02 ms are usual until the resume. The job still takes the device's own time, which
 * is the host's, so one in ten may be late.
 */
#define RESUME_US	5000
#define BESIDE_US	50000
#define BUSY_US		100000

#define MS_PER_S	1000
#define NS_PER_MS	1000000

/**
 * struct outcome - what a bystander says at its end
 * @client: its number in tracepoints
 * @jobs: jobs that were submitted
 * @lost: those whose fences say that they were taken down beside guilty work
 * @late: those that took longer than they may
 * @usual_ms: longest time from SUBMIT to the fence before anything failed, milliseconds
 * @worst_ms: likewise, afterwards
 */
struct outcome {
	uint64_t client;
	unsigned int jobs;
	unsigned int lost;
	unsigned int late;
	unsigned int usual_ms;
	unsigned int worst_ms;
};

/**
 * struct bystander - another process
 * @stop: closed by the parent when it has seen enough
 * @said: where a byte comes from when it works, and the outcome in the end
 */
struct bystander {
	int stop;
	int said;
};

static uint64_t bystander_now_ms(void)
{
	struct timespec now;

	igt_assert_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

static void bystander_job(struct asahi_client *client, const struct asahi_command *store,
			  uint32_t sync, struct outcome *outcome)
{
	uint64_t begin = bystander_now_ms();
	unsigned int ms;
	int err;

	igt_asahi_submit_one(client, store, sync);
	err = igt_asahi_wait(client->fd, sync);
	igt_asahi_assert_bystander(err);
	ms = bystander_now_ms() - begin;
	outcome->jobs++;
	outcome->lost += err != 0;
	outcome->late += ms > LATE_MS + TIMES_USUAL * outcome->usual_ms;
	if (ms > outcome->worst_ms)
		outcome->worst_ms = ms;
}

static void bystander_live(int fd, int stop, int say)
{
	struct asahi_client *client = igt_asahi_client_open(fd);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct pollfd end = { .fd = stop, .events = POLLIN };
	struct outcome outcome = { .client = igt_asahi_trace_client_id(client) };
	char c = 0;

	for (unsigned int i = 0; i < USUAL_JOBS; i++)
		bystander_job(client, &store, sync, &outcome);
	outcome.usual_ms = outcome.worst_ms;
	outcome.worst_ms = 0;
	outcome.late = 0;
	igt_assert_eq(write(say, &c, 1), 1);
	while (!poll(&end, 1, 0)) {
		bystander_job(client, &store, sync, &outcome);
		usleep(PAUSE_US);
	}
	igt_assert_eq(write(say, &outcome, sizeof(outcome)), sizeof(outcome));
}

/* Returns when it works. */
static struct bystander bystander_start(int fd)
{
	int stop[2], said[2];
	char c;

	igt_assert_eq(pipe(stop), 0);
	igt_assert_eq(pipe(said), 0);
	igt_fork(child, 1) {
		close(stop[1]);
		close(said[0]);
		bystander_live(fd, stop[0], said[1]);
	}
	close(stop[0]);
	close(said[1]);
	igt_assert_eq(read(said[0], &c, 1), 1);
	return (struct bystander){ .stop = stop[1], .said = said[0] };
}

static bool bystander_exact(void)
{
	return getenv("ASAHI_EXACT");
}

static unsigned int bystander_exceptions(unsigned int faults)
{
	return faults < 10 ? 1 : faults / 10;
}

static struct outcome bystander_assert_fine(struct bystander *bystander, unsigned int faults)
{
	struct outcome outcome;

	close(bystander->stop);
	igt_assert_eq(read(bystander->said, &outcome, sizeof(outcome)), sizeof(outcome));
	igt_waitchildren();
	close(bystander->said);
	igt_info("%u jobs, %u faults: %u lost, %u late, the slowest took %u ms, before %u ms\n",
		 outcome.jobs, faults, outcome.lost, outcome.late, outcome.worst_ms,
		 outcome.usual_ms);
	/* One that is on the GPU at the moment of the fault is lost: 1 in 15 in long runs. */
	igt_assert_lte(outcome.lost, 1 + faults / 5);
	igt_assert_lte(outcome.late,
		       bystander_exact() ? bystander_exceptions(faults) : faults / 2);
	return outcome;
}

/**
 * struct halts - halts of the firmware, by the driver's tracepoints
 * @count: how many there were
 * @resume_us: times from the driver's look at the fault until the firmware was told to go
 *	on, ascending
 * @beside_us: times from that look until the job that the bystander had submitted before the
 *	resume was over, or 0 if it was over by then, ascending
 */
struct halts {
	unsigned int count;
	uint64_t resume_us[LOOP_FAULTS];
	uint64_t beside_us[LOOP_FAULTS];
};

static void bystander_trace_start(void)
{
	igt_asahi_trace_start_event("asahi_submit_start");
	igt_asahi_trace_start_event("asahi_done");
	igt_asahi_trace_start_event("asahi_fault");
	igt_asahi_trace_start_event("asahi_recover");
}

static int bystander_compare(const void *a, const void *b)
{
	const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return first < second ? -1 : first > second;
}

/* It has one job at a time, which counts from its SUBMIT on. */
static uint64_t bystander_beside(const char *text, const char *fault, const char *resume,
				 uint64_t client)
{
	const struct asahi_trace_event submit = { "asahi_submit_start", client, 0 };
	const struct asahi_trace_event done = { "asahi_done", client, 0 };
	const char *end, *line, *last = NULL;

	for (line = igt_asahi_trace_find(text, &submit, &end); line && line < resume;
	     line = igt_asahi_trace_find(end, &submit, &end))
		last = line;
	line = last ? igt_asahi_trace_find(last, &done, &end) : NULL;
	if (!line || line < fault)
		return 0;
	return igt_asahi_trace_time_us(text, line) - igt_asahi_trace_time_us(text, fault);
}

static void bystander_print_times(const char *what, const uint64_t *us, unsigned int count)
{
	igt_info("%s, fastest, median, slowest of %u: %llu, %llu, %llu us\n", what, count,
		 (unsigned long long)us[0], (unsigned long long)us[(count - 1) / 2],
		 (unsigned long long)us[count - 1]);
}

/* The driver looks again later if the firmware has not halted yet, and says ": 0" in the end. */
static const char *bystander_resume(const char *text, const char **end)
{
	static const struct asahi_trace_event recover = { .name = "asahi_recover" };
	const char *line = igt_asahi_trace_find(text, &recover, end);

	while (line && strncmp(*end - 3, ": 0", 3))
		line = igt_asahi_trace_find(*end, &recover, end);
	return line;
}

static struct halts bystander_halts(uint64_t client, unsigned int faults)
{
	static const struct asahi_trace_event fault = { .name = "asahi_fault" };
	const char *text = igt_asahi_trace_read();
	const char *line, *resume, *end = text;
	struct halts halts = {};

	while (halts.count < faults && (line = igt_asahi_trace_find(end, &fault, &end)) &&
	       (resume = bystander_resume(end, &end))) {
		halts.resume_us[halts.count] = igt_asahi_trace_time_us(text, resume) -
					       igt_asahi_trace_time_us(text, line);
		halts.beside_us[halts.count++] = bystander_beside(text, line, resume, client);
	}
	igt_assert_eq(halts.count, faults);
	qsort(halts.resume_us, halts.count, sizeof(uint64_t), bystander_compare);
	qsort(halts.beside_us, halts.count, sizeof(uint64_t), bystander_compare);
	bystander_print_times("fault to resume", halts.resume_us, halts.count);
	bystander_print_times("fault to the end of the bystander's job", halts.beside_us,
			      halts.count);
	return halts;
}

/* The bystander's job may take twice its usual time on this machine besides. */
static void bystander_assert_short(const struct halts *halts, const struct outcome *outcome,
				   uint64_t beside_us)
{
	const unsigned int some = bystander_exceptions(halts->count);
	const unsigned int late_resumes = bystander_exact() ? 0 : halts->count / 2;
	const unsigned int late_jobs = bystander_exact() ? some : halts->count / 4;
	const unsigned int last = halts->count - 1;

	igt_assert_lte_u64(halts->resume_us[last - late_resumes], RESUME_US);
	igt_assert_lte_u64(halts->beside_us[last - late_jobs],
			   beside_us + 2000 * outcome->usual_ms);
}

static void bystander_fault(struct asahi_client *client, const struct asahi_command *bad)
{
	igt_assert_eq(igt_asahi_run(client, bad), -EIO);
}

/* The device is alive, and so are both clients. */
static void bystander_assert_alive(struct asahi_client *client)
{
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 1, 7);

	igt_assert_eq(igt_asahi_run(client, &store), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 7);
}

/* Every second page, so that no two mappings become one. */
static void bystander_map_many(struct asahi_client *client)
{
	const uint64_t page = 16384;
	struct drm_asahi_gem_bind_op *ops = calloc(MAPPINGS, sizeof(*ops));
	uint32_t handle;

	igt_assert(ops);
	handle = igt_asahi_gem_create(client->fd, page, 0, 0, 0);
	for (unsigned int i = 0; i < MAPPINGS; i++)
		ops[i] = (struct drm_asahi_gem_bind_op){
			.flags = DRM_ASAHI_BIND_READ,
			.handle = handle,
			.range = page,
			.addr = ASAHI_FREE_START + i * 2 * page,
		};
	igt_asahi_vm_bind(client->fd, client->vm, ops, MAPPINGS, 0);
	free(ops);
}

/*
 * Drops a dump, and waits for its end: the kernel deletes it on a workqueue, and a device has no
 * second one meanwhile. It may go by itself before the write.
 */
static void bystander_drop_dump(const char *path)
{
	int fd = open(path, O_WRONLY);
	unsigned int waits;

	if (fd >= 0) {
		if (write(fd, "1", 1) < 0)
			igt_assert_eq(errno, ENODEV);
		close(fd);
	}
	for (waits = 0; !access(path, F_OK) && waits < DUMP_WAITS; waits++)
		usleep(DUMP_PAUSE_US);
	igt_assert_lt(waits, DUMP_WAITS);
}

/* Whether there was one; then the next failure leaves another */
static bool bystander_drop_dumps(void)
{
	glob_t dumps = {};
	size_t count;

	glob("/sys/class/devcoredump/devcd*/data", 0, NULL, &dumps);
	for (count = 0; count < dumps.gl_pathc; count++)
		bystander_drop_dump(dumps.gl_pathv[count]);
	globfree(&dumps);
	return count;
}

/* Each fault leaves a dump: the next one comes when it has been made. */
static void bystander_dumped_faults(struct asahi_client *client)
{
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 1);
	unsigned int waits;

	bystander_drop_dumps();
	for (unsigned int i = 0; i < FAULTS; i++) {
		bystander_fault(client, &bad);
		for (waits = 0; !bystander_drop_dumps() && waits < DUMP_WAITS; waits++)
			usleep(DUMP_PAUSE_US);
		igt_assert_lt(waits, DUMP_WAITS);
	}
}

static void bystander_test_many_mappings(struct asahi_client *client)
{
	struct bystander bystander;
	struct outcome outcome;
	struct halts halts;

	bystander_map_many(client);
	bystander_trace_start();
	bystander = bystander_start(client->fd);
	usleep(100000);
	bystander_dumped_faults(client);
	usleep(500000);
	outcome = bystander_assert_fine(&bystander, FAULTS);
	halts = bystander_halts(outcome.client, FAULTS);
	bystander_assert_short(&halts, &outcome, BESIDE_US);
	bystander_assert_alive(client);
}

/**
 * struct crowd - a file with queues that have worked
 * @client: the file
 * @queue: its queues
 */
struct crowd {
	struct asahi_client *client;
	uint32_t queue[QUEUES];
};

static unsigned int bystander_leaving;

static void bystander_crowd_gather(struct crowd *crowd, int fd)
{
	struct asahi_client *client = igt_asahi_client_open(fd);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);

	crowd->client = client;
	for (unsigned int i = 0; i < QUEUES; i++) {
		crowd->queue[i] = igt_asahi_queue_create(client->fd, client->vm,
							 DRM_ASAHI_PRIORITY_MEDIUM, 0);
		igt_asahi_submit(client->fd, crowd->queue[i], &store, 1,
				 &(struct asahi_sync){ .out = sync });
	}
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
}

static void *bystander_crowd_leave(void *arg)
{
	struct crowd *crowd = arg;

	for (unsigned int i = 0; i < QUEUES; i++)
		igt_asahi_queue_destroy(crowd->client->fd, crowd->queue[i], 0);
	__atomic_fetch_sub(&bystander_leaving, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void bystander_test_many_queues(struct asahi_client *client)
{
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 1);
	static struct crowd crowds[FILES];
	struct bystander bystander;
	unsigned int faults = 0;
	pthread_t thread[FILES];
	struct outcome outcome;
	struct halts halts;

	for (unsigned int i = 0; i < FILES; i++)
		bystander_crowd_gather(&crowds[i], client->fd);
	bystander_trace_start();
	bystander = bystander_start(client->fd);
	bystander_leaving = FILES;
	for (unsigned int i = 0; i < FILES; i++)
		igt_assert_eq(pthread_create(&thread[i], NULL, bystander_crowd_leave, &crowds[i]),
			      0);
	/* The threads are done before all of their queues' memory is. */
	while (faults < FAULTS ||
	       (__atomic_load_n(&bystander_leaving, __ATOMIC_ACQUIRE) && faults < MOST_FAULTS)) {
		bystander_fault(client, &bad);
		faults++;
	}
	for (unsigned int i = 0; i < FILES; i++)
		igt_assert_eq(pthread_join(thread[i], NULL), 0);
	outcome = bystander_assert_fine(&bystander, faults);
	halts = bystander_halts(outcome.client, faults);
	bystander_assert_short(&halts, &outcome, BUSY_US);
	bystander_assert_alive(client);
}

/* Fewer than a client may have before it is barred for a while. */
static void bystander_test_loop(struct asahi_client *client)
{
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 1);
	struct bystander bystander;
	struct outcome outcome;
	struct halts halts;

	bystander_trace_start();
	bystander = bystander_start(client->fd);
	for (unsigned int i = 0; i < LOOP_FAULTS; i++)
		bystander_fault(client, &bad);
	outcome = bystander_assert_fine(&bystander, LOOP_FAULTS);
	halts = bystander_halts(outcome.client, LOOP_FAULTS);
	bystander_assert_short(&halts, &outcome, BUSY_US);
	bystander_assert_alive(client);
}

static const struct asahi_client_test bystander_tests[] = {
	{"many-mappings", "A fault of a client with 50,000 mappings.",
	 bystander_test_many_mappings},
	{"many-queues", "A fault while 2,000 queues are destroyed.", bystander_test_many_queues},
	{"loop", "A client that faults again and again.", bystander_test_loop},
};

int igt_main()
{
	igt_fixture() {
		igt_asahi_trace_require();
	}

	igt_asahi_client_tests(bystander_tests, ARRAY_SIZE(bystander_tests));

	igt_fixture() {
		igt_asahi_trace_stop();
	}
}
