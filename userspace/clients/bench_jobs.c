// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Benches of jobs that overlap: how late fences are, how even submission is, and
 * how long the device is away when its firmware has crashed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

#include "bench.h"

#define FLIGHT_JOBS	192
#define MAX_FLIGHT	64
#define FLIGHT_THREADS	4096
/* how often words and fences are looked at */
#define LOOK_US		100

#define STEADY_ROUNDS	10000
#define STEADY_COMMANDS	64

#define CRASHES		10
#define CRASH_WAIT_NS	(UINT64_C(60) * 1000000000)

/* A job that fills a buffer and then, behind a barrier, writes a word. */
struct flight {
	struct compute_stream stream;
	struct drm_asahi_cmd_compute cmd;
};

static void bench_jobs_put_fill(struct compute_stream *stream,
				const struct compute_program *fill, uint64_t dst,
				uint32_t value, uint32_t threads)
{
	const struct {
		uint64_t dst;
		uint32_t value;
	} uniforms = { dst, value };
	const struct compute_dispatch dispatch = {
		.program = fill,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { threads, 1, 1 },
		.local = { 64, 1, 1 },
	};

	compute_stream_dispatch(stream, &dispatch);
}

static struct {
	struct compute *ctx;
	struct compute_buffer out;
	struct compute_buffer words;
	struct flight flights[MAX_FLIGHT];
	uint32_t timeline;
	/* points signalled so far, over all measurements */
	uint64_t signalled;
} bench_jobs_air;

static int bench_jobs_air_open(struct compute *ctx)
{
	struct compute_program fill;
	unsigned int i;
	int err = compute_program_load(ctx, "fill", &fill);

	bench_jobs_air.ctx = ctx;
	if (!err)
		err = compute_buffer_new(ctx, FLIGHT_THREADS * 4, &bench_jobs_air.out);
	if (!err)
		err = compute_buffer_new(ctx, MAX_FLIGHT * 4, &bench_jobs_air.words);
	for (i = 0; i < MAX_FLIGHT && !err; i++) {
		struct flight *f = &bench_jobs_air.flights[i];

		err = compute_stream_new(ctx, &f->stream);
		if (err)
			break;
		bench_jobs_put_fill(&f->stream, &fill, bench_jobs_air.out.addr, 1, FLIGHT_THREADS);
		compute_stream_barrier(&f->stream);
		bench_jobs_put_fill(&f->stream, &fill, bench_jobs_air.words.addr + i * 4, 1, 1);
		err = compute_stream_end(&f->stream, &f->cmd);
	}
	if (!err && drmSyncobjCreate(asahi_device_fd(ctx->dev), 0,
				     &bench_jobs_air.timeline))
		err = -errno;
	return err;
}

static void bench_jobs_air_close(void)
{
	unsigned int i;

	drmSyncobjDestroy(asahi_device_fd(bench_jobs_air.ctx->dev), bench_jobs_air.timeline);
	for (i = 0; i < MAX_FLIGHT; i++)
		compute_stream_free(&bench_jobs_air.flights[i].stream);
	compute_buffer_free(bench_jobs_air.ctx, &bench_jobs_air.words);
	compute_buffer_free(bench_jobs_air.ctx, &bench_jobs_air.out);
}

static int bench_jobs_submit_flight(unsigned int slot, uint64_t point)
{
	volatile uint32_t *words = bench_jobs_air.words.map;
	struct asahi_submit *submit;
	int err = asahi_submit_new(bench_jobs_air.ctx->queue, &submit);

	if (err)
		return err;
	words[slot] = 0;
	asahi_submit_compute(submit, &bench_jobs_air.flights[slot].cmd, ASAHI_BARRIER_NONE);
	asahi_submit_signal(submit, bench_jobs_air.timeline, point);
	err = asahi_submit_flush(submit);
	asahi_submit_free(submit);
	return err;
}

/**
 * struct pace - how a measurement keeps the queue busy
 * @depth: most jobs in flight
 * @period_ns: least time between two submissions, or 0
 */
struct pace {
	unsigned int depth;
	uint64_t period_ns;
};

/*
 * Each job's word and its fence are looked for in turns; what counts is the time
 * between the first sight of the one and of the other.
 */
static int bench_jobs_fly(const struct pace *pace, uint64_t *late, uint64_t *took)
{
	volatile uint32_t *words = bench_jobs_air.words.map;
	const uint64_t base = bench_jobs_air.signalled;
	uint64_t seen[FLIGHT_JOBS], next = 0, begin = bench_now_ns();
	unsigned int submitted = 0, written = 0, done = 0;
	int err = 0;

	while (done < FLIGHT_JOBS && !err) {
		uint64_t now, point = 0;

		while (submitted < FLIGHT_JOBS && !err &&
		       submitted - done < pace->depth && bench_now_ns() >= next) {
			err = bench_jobs_submit_flight(submitted % pace->depth,
						       base + submitted + 1);
			submitted++;
			next = bench_now_ns() + pace->period_ns;
		}
		now = bench_now_ns();
		while (written < submitted && words[written % pace->depth])
			seen[written++] = now;
		if (!err && drmSyncobjQuery(asahi_device_fd(bench_jobs_air.ctx->dev),
					    &bench_jobs_air.timeline, &point, 1))
			err = -errno;
		now = bench_now_ns();
		while (done < written && point >= base + done + 1) {
			late[done] = now - seen[done];
			done++;
		}
		usleep(LOOK_US);
	}
	bench_jobs_air.signalled = base + submitted;
	*took = (bench_now_ns() - begin) / FLIGHT_JOBS;
	return err;
}

static int bench_jobs_measure_flight(const char *name, const struct pace *pace,
				     uint64_t *took)
{
	static uint64_t late[FLIGHT_JOBS];
	char text[80];
	int err = bench_jobs_fly(pace, late, took);

	if (err)
		return bench_failed(name, err);
	qsort(late, FLIGHT_JOBS, sizeof(*late), bench_compare);
	snprintf(text, sizeof(text), "last word to fence, %s, median", name);
	bench_print(text, (double)late[FLIGHT_JOBS / 2]);
	snprintf(text, sizeof(text), "last word to fence, %s, p99", name);
	bench_print(text, (double)late[FLIGHT_JOBS * 99 / 100]);
	snprintf(text, sizeof(text), "last word to fence, %s, worst", name);
	bench_print(text, (double)late[FLIGHT_JOBS - 1]);
	return 0;
}

int bench_flight(struct compute *ctx)
{
	uint64_t alone = 0, took;
	int err = bench_jobs_air_open(ctx);

	if (!err)
		err = bench_jobs_measure_flight("1 in flight", &(struct pace){ 1, 0 },
						&alone);
	if (!err)
		err = bench_jobs_measure_flight("8 in flight", &(struct pace){ 8, 0 },
						&took);
	if (!err)
		err = bench_jobs_measure_flight("64 in flight", &(struct pace){ 64, 0 },
						&took);
	/* as often as jobs end, so that the queue seldom runs dry */
	if (!err)
		err = bench_jobs_measure_flight("paced", &(struct pace){ 64, alone * 9 / 10 },
						&took);
	bench_jobs_air_close();
	return err;
}

/* Submission in a loop */

static int bench_jobs_steady_round(struct asahi_submit *submit,
		      const struct drm_asahi_cmd_compute *cmd, uint32_t syncobj,
		      struct compute *ctx, uint64_t *ns)
{
	uint64_t begin;
	unsigned int i;
	int err;

	for (i = 0; i < STEADY_COMMANDS; i++)
		asahi_submit_compute(submit, cmd, ASAHI_BARRIER_NONE);
	asahi_submit_signal(submit, syncobj, 0);
	begin = bench_now_ns();
	err = asahi_submit_flush(submit);
	*ns = bench_now_ns() - begin;
	if (err)
		return err;
	return asahi_fence_wait(ctx->dev, syncobj, COMPUTE_TIMEOUT_NS);
}

static unsigned int bench_jobs_count_slow(const uint64_t *ns)
{
	unsigned int slow = 0;

	while (slow < STEADY_ROUNDS &&
	       ns[STEADY_ROUNDS - 1 - slow] > 3 * ns[STEADY_ROUNDS / 2])
		slow++;
	return slow;
}

int bench_steady(struct compute *ctx)
{
	uint64_t *ns = calloc(STEADY_ROUNDS, sizeof(*ns));
	struct drm_asahi_cmd_compute cmd;
	struct compute_stream stream;
	struct asahi_submit *submit = NULL;
	uint32_t syncobj = 0;
	unsigned int i;
	int err = ns ? compute_stream_new(ctx, &stream) : -ENOMEM;

	if (err)
		goto free_ns;
	err = compute_stream_end(&stream, &cmd);
	if (!err)
		err = asahi_submit_new(ctx->queue, &submit);
	if (!err && drmSyncobjCreate(asahi_device_fd(ctx->dev), 0, &syncobj))
		err = -errno;
	for (i = 0; i < STEADY_ROUNDS && !err; i++)
		err = bench_jobs_steady_round(submit, &cmd, syncobj, ctx, &ns[i]);
	drmSyncobjDestroy(asahi_device_fd(ctx->dev), syncobj);
	asahi_submit_free(submit);
	compute_stream_free(&stream);
	if (err) {
		err = bench_failed("submitting in a loop", err);
		goto free_ns;
	}
	qsort(ns, STEADY_ROUNDS, sizeof(*ns), bench_compare);
	bench_print("SUBMIT of 64 commands, median", (double)ns[STEADY_ROUNDS / 2]);
	bench_print("SUBMIT of 64 commands, 99.9 %",
		    (double)ns[STEADY_ROUNDS / 1000 * 999]);
	bench_print("SUBMIT of 64 commands, worst", (double)ns[STEADY_ROUNDS - 1]);
	fprintf(stderr, "%u of %d rounds took longer than three times the median\n",
		bench_jobs_count_slow(ns), STEADY_ROUNDS);
free_ns:
	free(ns);
	return err;
}

/* Crashes */

/* A job after the other, until so many have been lost. */
int bench_recovery(struct compute *ctx)
{
	uint64_t gaps[CRASHES], last, begin = bench_now_ns();
	struct asahi_submit *submit = NULL;
	unsigned int crashes = 0;
	bool lost = false;
	int err = bench_jobs_air_open(ctx);

	if (!err)
		err = asahi_submit_new(ctx->queue, &submit);
	last = bench_now_ns();
	while (crashes < CRASHES && !err) {
		if (bench_now_ns() - begin > CRASH_WAIT_NS) {
			err = -ETIME;
			break;
		}
		asahi_submit_reset(submit);
		asahi_submit_compute(submit, &bench_jobs_air.flights[0].cmd,
				     ASAHI_BARRIER_NONE);
		err = asahi_submit_run(submit, COMPUTE_TIMEOUT_NS);
		if (err == -ECANCELED) {
			lost = true;
			err = 0;
		} else if (!err) {
			if (lost)
				gaps[crashes++] = bench_now_ns() - last;
			lost = false;
			last = bench_now_ns();
		}
	}
	asahi_submit_free(submit);
	bench_jobs_air_close();
	if (err)
		return bench_failed("waiting for crashes", err);
	qsort(gaps, CRASHES, sizeof(*gaps), bench_compare);
	bench_print("crash to the next job's fence, median",
		    (double)gaps[CRASHES / 2]);
	bench_print("crash to the next job's fence, worst",
		    (double)gaps[CRASHES - 1]);
	return 0;
}
