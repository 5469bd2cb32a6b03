// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What asahi-bringup asks of a GPU that nobody has tried: the smallest command, the clock,
 * work that takes long, work that never ends, and more address spaces than contexts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compute_tests.h"

/* Factor and summand of shaders/spin.agx, and how often a turn uses them */
#define PROBE_FACTOR	UINT32_C(1664525)
#define PROBE_SUMMAND	UINT32_C(1013904223)
#define PROBE_STEPS	16
/* A run of this length tells how fast the shader is. */
#define PROBE_SAMPLE_S	0.1
/*
 * The clock of the GPU may change while the shader runs, and the first run, which also sets things
 * up, may take a hundred times as long as its turns.
 */
#define PROBE_TRIES	16
#define PROBE_SECONDS	5.0
/* The MMU has 64 contexts, and one is the firmware's. */
#define PROBE_SPACES	64

static double compute_probe_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int compute_probe_empty(struct compute *ctx, const struct compute_options *options)
{
	struct compute_stream stream;
	int err = compute_stream_new(ctx, &stream);

	if (err)
		return err;
	err = compute_stream_run(&stream);
	compute_stream_free(&stream);
	return err ? err : compute_fill(ctx, options);
}

static int compute_probe_check_times(uint64_t before, const uint64_t time[2], uint64_t after)
{
	printf("# before %llu start %llu end %llu after %llu ns\n", (unsigned long long)before,
	       (unsigned long long)time[0], (unsigned long long)time[1],
	       (unsigned long long)after);
	if (before <= time[0] && time[0] <= time[1] && time[1] <= after)
		return 0;
	fputs("the times of the command are not in this order\n", stderr);
	return -EILSEQ;
}

static int compute_probe_run_times(struct compute *ctx, struct compute_stream *stream,
				   uint32_t object, const uint64_t *time)
{
	struct drm_asahi_cmd_compute cmd;
	struct asahi_submit *submit;
	uint64_t before, after;
	int err = compute_stream_end(stream, &cmd);

	if (!err)
		err = asahi_submit_new(ctx->queue, &submit);
	if (err)
		return err;
	cmd.ts.start = (struct drm_asahi_timestamp){ object, 0 };
	cmd.ts.end = (struct drm_asahi_timestamp){ object, 8 };
	asahi_submit_compute(submit, &cmd, ASAHI_BARRIER_NONE);
	err = asahi_device_get_time(ctx->dev, &before);
	if (!err)
		err = asahi_submit_run(submit, ctx->setup.timeout_ns);
	if (!err)
		err = asahi_device_get_time(ctx->dev, &after);
	asahi_submit_free(submit);
	return err ? err : compute_probe_check_times(before, time, after);
}

static int compute_probe_with_times(struct compute *ctx, struct asahi_bo *bo)
{
	struct compute_stream stream;
	uint32_t object;
	void *time;
	int err = asahi_bo_map(bo, &time);

	if (!err)
		err = asahi_bo_bind_timestamps(bo, 0, ASAHI_PAGE_SIZE, &object);
	if (err)
		return err;
	err = compute_stream_new(ctx, &stream);
	if (!err) {
		err = compute_probe_run_times(ctx, &stream, object, time);
		compute_stream_free(&stream);
	}
	asahi_device_unbind_timestamps(ctx->dev, object);
	return err;
}

int compute_probe_times(struct compute *ctx, const struct compute_options *options)
{
	struct asahi_bo *bo;
	int err = asahi_bo_new(ctx->dev, ASAHI_PAGE_SIZE, ctx->setup.flags, NULL, &bo);

	if (err)
		return err;
	err = compute_probe_with_times(ctx, bo);
	asahi_bo_unref(bo);
	return err ? err : compute_fill(ctx, options);
}

/* What so many turns make of 0: the step x -> f x + s is put together with itself. */
static uint32_t compute_probe_result(uint32_t turns)
{
	uint32_t factor = PROBE_FACTOR, summand = PROBE_SUMMAND, result = 0;

	for (uint64_t steps = (uint64_t)turns * PROBE_STEPS; steps; steps >>= 1) {
		if (steps & 1)
			result = factor * result + summand;
		summand = factor * summand + summand;
		factor *= factor;
	}
	return result;
}

static int compute_probe_spin(struct compute *ctx, const struct compute_program *program,
			      const struct compute_buffer *buffer, uint32_t turns, double *seconds)
{
	const struct {
		uint64_t dst;
		uint32_t turns, factor, summand;
	} uniforms = { buffer->addr, turns, PROBE_FACTOR, PROBE_SUMMAND };
	const struct compute_dispatch dispatch = {
		.program = program,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { 1, 1, 1 },
		.local = { 1, 1, 1 },
	};
	const uint32_t expected = compute_probe_result(turns);
	struct compute_stream stream;
	double begin;
	int err = compute_stream_new(ctx, &stream);

	if (err)
		return err;
	compute_stream_dispatch(&stream, &dispatch);
	begin = compute_probe_now();
	err = compute_stream_run(&stream);
	*seconds = compute_probe_now() - begin;
	printf("# %u turns ended after %.2f s%s%s\n", turns, *seconds, err ? ": " : "",
	       err ? strerror(-err) : "");
	compute_stream_free(&stream);
	return err ? err : compute_check_words(buffer->map, &expected, 1);
}

/*
 * How many turns take so long, as far as another number of them tells, which was too small; 32 bits
 * at most. On a busy machine the next run may be faster, so the number grows by a half at least.
 */
static uint32_t compute_probe_turns(uint32_t turns, double took, double wanted)
{
	double more = (double)turns * fmax(wanted / took, 1.5);

	return more < UINT32_MAX ? (uint32_t)more + 1 : UINT32_MAX;
}

static int compute_probe_spin_for(struct compute *ctx, const struct compute_program *program,
				  const struct compute_buffer *buffer, double wanted)
{
	uint32_t turns = 1024;
	double took;
	int err = compute_probe_spin(ctx, program, buffer, turns, &took);

	while (!err && took < PROBE_SAMPLE_S && took < wanted) {
		turns *= 4;
		err = compute_probe_spin(ctx, program, buffer, turns, &took);
	}
	/* A little longer than asked for */
	for (unsigned int i = 0; i < PROBE_TRIES && !err && took < wanted; i++) {
		turns = compute_probe_turns(turns, took, 1.1 * wanted);
		err = compute_probe_spin(ctx, program, buffer, turns, &took);
	}
	if (err || took >= wanted)
		return err;
	fprintf(stderr, "it is too fast: %u turns take %.1f s only\n", turns, took);
	return -ERANGE;
}

int compute_probe_long(struct compute *ctx, const struct compute_options *options)
{
	struct compute_program program;
	struct compute_buffer buffer;
	int err = compute_program_load(ctx, "spin", &program);

	if (!err)
		err = compute_buffer_new(ctx, ASAHI_PAGE_SIZE, &buffer);
	if (err)
		return err;
	compute_poison(&buffer);
	err = compute_probe_spin_for(ctx, &program, &buffer,
				     options->seconds > 0 ? options->seconds : PROBE_SECONDS);
	compute_buffer_free(ctx, &buffer);
	return err;
}

/* The first word is the gate, which stays closed. */
static int compute_probe_run_loop(struct compute *ctx, const struct compute_buffer *buffer,
				  double *seconds)
{
	const struct {
		uint64_t gate, dst;
		uint32_t value;
	} uniforms = { buffer->addr, buffer->addr + 64, 1 };
	struct compute_program program;
	const struct compute_dispatch dispatch = {
		.program = &program,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { 1, 1, 1 },
		.local = { 1, 1, 1 },
	};
	struct compute_stream stream;
	double begin;
	int err = compute_program_load(ctx, "gate", &program);

	if (!err)
		err = compute_stream_new(ctx, &stream);
	if (err)
		return err;
	compute_stream_dispatch(&stream, &dispatch);
	begin = compute_probe_now();
	err = compute_stream_run(&stream);
	*seconds = compute_probe_now() - begin;
	compute_stream_free(&stream);
	return err;
}

int compute_probe_loop(struct compute *ctx, const struct compute_options *options)
{
	struct compute_buffer buffer;
	double seconds = 0;
	int err = compute_buffer_new(ctx, ASAHI_PAGE_SIZE, &buffer);

	if (err)
		return err;
	memset(buffer.map, 0, buffer.size);
	err = compute_probe_run_loop(ctx, &buffer, &seconds);
	printf("# the loop ended after %.1f s: %s\n", seconds, err ? strerror(-err) : "success");
	compute_buffer_free(ctx, &buffer);
	if (err == -ETIMEDOUT)
		return compute_fill(ctx, options);
	/* -EIO: the driver has taken its address space away, which is the end of this client */
	return err == -EIO ? 0 : err ? err : -EILSEQ;
}

/* In order, then backwards: those that had a context have lost it. */
static int compute_probe_fill_spaces(struct compute *space, const struct compute_options *options)
{
	int err = 0;

	for (unsigned int i = 0; i < PROBE_SPACES && !err; i++)
		err = compute_fill(&space[i], options);
	for (unsigned int i = PROBE_SPACES; i-- && !err;)
		err = compute_fill(&space[i], options);
	return err;
}

int compute_probe_spaces(struct compute *ctx, const struct compute_options *options)
{
	struct compute_options few = *options;
	struct compute *space = calloc(PROBE_SPACES, sizeof(*space));
	unsigned int opened = 0;
	int err = space ? 0 : -ENOMEM;

	if (!few.size)
		few.size = 1000;
	while (!err && opened < PROBE_SPACES) {
		err = compute_open_beside(&space[opened], ctx);
		opened += !err;
	}
	if (!err)
		err = compute_probe_fill_spaces(space, &few);
	while (opened)
		compute_close(&space[--opened]);
	free(space);
	return err;
}
