// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compute_tests.h"

/* threads of a group of shaders/reduce.agx */
#define REDUCE_GROUP	256

#define HOLE_PAGES	64U
#define PAGE_WORDS	((unsigned int)(ASAHI_PAGE_SIZE / 4))

int compute_check_words(const uint32_t *got, const uint32_t *expected,
			uint32_t count)
{
	uint32_t bad = 0, first = 0;
	uint32_t i;

	for (i = count; i--;) {
		if (got[i] == expected[i])
			continue;
		first = i;
		bad++;
	}
	if (!bad)
		return 0;
	fprintf(stderr,
		"%u of %u words are wrong, the first is %u: 0x%08x, not 0x%08x\n",
		bad, count, first, got[first], expected[first]);
	return -EILSEQ;
}

/* The words of a buffer behind an output must still be poison. */
static int compute_tests_check_untouched(const struct compute_buffer *buffer, uint64_t start)
{
	const uint8_t *bytes = buffer->map;
	uint64_t i;

	for (i = start; i < buffer->size; i++) {
		if (bytes[i] == bytes[buffer->size - 1])
			continue;
		fprintf(stderr, "byte %llu behind the output was written\n",
			(unsigned long long)i);
		return -EILSEQ;
	}
	return 0;
}

static int compute_tests_check_output(const struct compute_buffer *buffer,
				      const uint32_t *expected, uint32_t count)
{
	int err = compute_check_words(buffer->map, expected, count);

	return err ? err : compute_tests_check_untouched(buffer, count * UINT64_C(4));
}

static int compute_tests_run_one(struct compute *ctx, const struct compute_dispatch *dispatch)
{
	struct compute_stream stream;
	int err = compute_stream_new(ctx, &stream);

	if (err)
		return err;
	compute_stream_dispatch(&stream, dispatch);
	err = compute_stream_run(&stream);
	compute_stream_free(&stream);
	return err;
}

/* Buffers of a test, and its expected output. */
struct arrays {
	struct compute_buffer buffer[3];
	uint32_t *expected;
};

static void compute_tests_arrays_free(struct compute *ctx, struct arrays *a)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		compute_buffer_free(ctx, &a->buffer[i]);
	free(a->expected);
}

static int compute_tests_arrays_new(struct compute *ctx, struct arrays *a, uint32_t words)
{
	unsigned int i;
	int err = 0;

	*a = (struct arrays){ .expected = calloc(words, 4) };
	if (!a->expected)
		return -ENOMEM;
	for (i = 0; i < 3 && !err; i++)
		err = compute_buffer_new(ctx, words * UINT64_C(4) + 64,
					 &a->buffer[i]);
	if (err) {
		compute_tests_arrays_free(ctx, a);
		return err;
	}
	for (i = 0; i < 3; i++)
		compute_poison(&a->buffer[i]);
	return 0;
}

struct fill_uniforms {
	uint64_t dst;
	uint32_t value;
};

static int compute_tests_fill_check(struct compute *ctx, struct arrays *a, uint32_t words,
				    const struct compute_program *program)
{
	const struct fill_uniforms uniforms = {
		.dst = a->buffer[0].addr,
		.value = 0x12345678,
	};
	const struct compute_dispatch dispatch = {
		.program = program,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { words, 1, 1 },
		.local = { 64, 1, 1 },
	};
	uint32_t i;
	int err;

	for (i = 0; i < words; i++)
		a->expected[i] = uniforms.value + i;
	err = compute_tests_run_one(ctx, &dispatch);
	return err ? err : compute_tests_check_output(&a->buffer[0], a->expected, words);
}

/* A size that is no multiple of the group: the last group is not full. */
int compute_fill(struct compute *ctx, const struct compute_options *options)
{
	uint32_t words = options->size ? options->size : 100003;
	struct compute_program program;
	struct arrays a;
	int err;

	err = compute_program_load(ctx, "fill", &program);
	if (err)
		return err;
	err = compute_tests_arrays_new(ctx, &a, words);
	if (err)
		return err;
	err = compute_tests_fill_check(ctx, &a, words, &program);
	compute_tests_arrays_free(ctx, &a);
	return err;
}

struct vecadd_uniforms {
	uint64_t a, b, dst;
};

/* Floats that are no denormals, and whose sums are none. */
static float compute_tests_vecadd_value(uint32_t i)
{
	return (float)(int32_t)(i * UINT32_C(2654435761)) / 1024.0f;
}

static int compute_tests_vecadd_check(struct compute *ctx, struct arrays *a, uint32_t words,
				      const struct compute_program *program)
{
	const struct vecadd_uniforms uniforms = {
		.a = a->buffer[0].addr,
		.b = a->buffer[1].addr,
		.dst = a->buffer[2].addr,
	};
	const struct compute_dispatch dispatch = {
		.program = program,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { words, 1, 1 },
		.local = { 128, 1, 1 },
	};
	float *src_a = a->buffer[0].map;
	float *src_b = a->buffer[1].map;
	uint32_t i;
	int err;

	for (i = 0; i < words; i++) {
		float sum;

		src_a[i] = compute_tests_vecadd_value(i);
		src_b[i] = compute_tests_vecadd_value(i + words);
		sum = src_a[i] + src_b[i];
		memcpy(&a->expected[i], &sum, sizeof(sum));
	}
	err = compute_tests_run_one(ctx, &dispatch);
	return err ? err : compute_tests_check_output(&a->buffer[2], a->expected, words);
}

static int compute_tests_test_vecadd(struct compute *ctx,
				     const struct compute_options *options)
{
	uint32_t words = options->size ? options->size : 65536;
	struct compute_program program;
	struct arrays a;
	int err;

	err = compute_program_load(ctx, "vecadd", &program);
	if (err)
		return err;
	err = compute_tests_arrays_new(ctx, &a, words);
	if (err)
		return err;
	err = compute_tests_vecadd_check(ctx, &a, words, &program);
	compute_tests_arrays_free(ctx, &a);
	return err;
}

struct reduce_uniforms {
	uint64_t src, dst;
};

static void compute_tests_reduce_dispatch(struct compute_stream *stream,
					  const struct compute_program *program, uint64_t src,
					  uint64_t dst, uint32_t groups)
{
	const struct reduce_uniforms uniforms = { src, dst };
	const struct compute_dispatch dispatch = {
		.program = program,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.shared_bytes = REDUCE_GROUP * 4,
		.global = { groups * REDUCE_GROUP, 1, 1 },
		.local = { REDUCE_GROUP, 1, 1 },
	};

	compute_stream_dispatch(stream, &dispatch);
}

/*
 * The first launch leaves one sum for each of 256 groups, the second one adds
 * those up. Between the two stands a barrier.
 */
static int compute_tests_reduce_run(struct compute *ctx, struct arrays *a,
				    const struct compute_program *program)
{
	struct compute_stream stream;
	int err = compute_stream_new(ctx, &stream);

	if (err)
		return err;
	compute_tests_reduce_dispatch(&stream, program, a->buffer[0].addr, a->buffer[1].addr,
				      REDUCE_GROUP);
	compute_stream_barrier(&stream);
	compute_tests_reduce_dispatch(&stream, program, a->buffer[1].addr, a->buffer[2].addr,
				      1);
	err = compute_stream_run(&stream);
	compute_stream_free(&stream);
	return err;
}

static int compute_tests_reduce_check(struct compute *ctx, struct arrays *a,
				      const struct compute_program *program)
{
	uint32_t *src = a->buffer[0].map;
	uint32_t total = 0;
	uint32_t i;
	int err;

	for (i = 0; i < REDUCE_GROUP * REDUCE_GROUP; i++) {
		src[i] = i * UINT32_C(2246822519) + 7;
		a->expected[i / REDUCE_GROUP] += src[i];
		total += src[i];
	}
	err = compute_tests_reduce_run(ctx, a, program);
	if (!err)
		err = compute_tests_check_output(&a->buffer[1], a->expected, REDUCE_GROUP);
	if (!err)
		err = compute_tests_check_output(&a->buffer[2], &total, 1);
	return err;
}

static int compute_tests_test_reduce(struct compute *ctx,
				     const struct compute_options *options)
{
	struct compute_program program;
	struct arrays a;
	int err;

	err = compute_program_load(ctx, "reduce", &program);
	if (err)
		return err;
	err = compute_tests_arrays_new(ctx, &a, REDUCE_GROUP * REDUCE_GROUP);
	if (err)
		return err;
	err = compute_tests_reduce_check(ctx, &a, &program);
	compute_tests_arrays_free(ctx, &a);
	return err;
}

/*
 * The first launch writes the number of groups of the second one, which the
 * second one finds in memory when it is read.
 */
static int compute_tests_indirect_run(struct compute *ctx, struct arrays *a, uint32_t groups,
				      const struct compute_program *program)
{
	const struct fill_uniforms counts = {
		.dst = a->buffer[1].addr,
		.value = groups,
	};
	const struct fill_uniforms fill = {
		.dst = a->buffer[0].addr,
		.value = 5,
	};
	const struct compute_dispatch first = {
		.program = program,
		.uniforms = &counts,
		.uniform_bytes = sizeof(counts),
		.global = { 1, 1, 1 },
		.local = { 1, 1, 1 },
	};
	const struct compute_dispatch second = {
		.program = program,
		.uniforms = &fill,
		.uniform_bytes = sizeof(fill),
		.indirect = a->buffer[1].addr,
		.local = { 32, 1, 1 },
	};
	struct compute_stream stream;
	int err = compute_stream_new(ctx, &stream);

	if (err)
		return err;
	compute_stream_dispatch(&stream, &first);
	compute_stream_barrier(&stream);
	compute_stream_dispatch(&stream, &second);
	err = compute_stream_run(&stream);
	compute_stream_free(&stream);
	return err;
}

static int compute_tests_indirect_check(struct compute *ctx, struct arrays *a,
					uint32_t groups,
					const struct compute_program *program)
{
	uint32_t *counts = a->buffer[1].map;
	uint32_t i;
	int err;

	counts[1] = 1;
	counts[2] = 1;
	for (i = 0; i < groups * 32; i++)
		a->expected[i] = 5 + i;
	err = compute_tests_indirect_run(ctx, a, groups, program);
	return err ? err :
		     compute_tests_check_output(&a->buffer[0], a->expected, groups * 32);
}

static int compute_tests_test_indirect(struct compute *ctx,
				       const struct compute_options *options)
{
	struct compute_program program;
	struct arrays a;
	int err;

	err = compute_program_load(ctx, "fill", &program);
	if (err)
		return err;
	err = compute_tests_arrays_new(ctx, &a, 4096);
	if (err)
		return err;
	err = compute_tests_indirect_check(ctx, &a, 37, &program);
	compute_tests_arrays_free(ctx, &a);
	return err;
}

struct preshader_uniforms {
	struct fill_uniforms fill;
	uint64_t src;
};

static int compute_tests_preshader_check(struct compute *ctx, struct arrays *a,
					 const struct compute_program *program,
					 const struct compute_program *preshader)
{
	const struct preshader_uniforms uniforms = {
		.fill = { .dst = a->buffer[0].addr },
		.src = a->buffer[1].addr,
	};
	const struct compute_dispatch dispatch = {
		.program = program,
		.preshader = preshader,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { 1000, 1, 1 },
		.local = { 32, 1, 1 },
	};
	uint32_t *src = a->buffer[1].map;
	uint32_t i;
	int err;

	src[0] = 0x1234567;
	for (i = 0; i < 1000; i++)
		a->expected[i] = 2 * src[0] + i;
	err = compute_tests_run_one(ctx, &dispatch);
	return err ? err : compute_tests_check_output(&a->buffer[0], a->expected, 1000);
}

/* A preshader computes values that are the same for all threads once, into uniforms. */
static int compute_tests_test_preshader(struct compute *ctx,
					const struct compute_options *options)
{
	struct compute_program program, preshader;
	struct arrays a;
	int err;

	err = compute_program_load(ctx, "fill", &program);
	if (!err)
		err = compute_program_load(ctx, "preshader", &preshader);
	if (err)
		return err;
	err = compute_tests_arrays_new(ctx, &a, 1000);
	if (err)
		return err;
	err = compute_tests_preshader_check(ctx, &a, &program, &preshader);
	compute_tests_arrays_free(ctx, &a);
	return err;
}

/*
 * Stores to an address where nothing is: what is asked for is the error, and
 * that the same queue goes on.
 */
static int compute_tests_test_fault(struct compute *ctx,
				    const struct compute_options *options)
{
	struct compute_program program;
	struct fill_uniforms uniforms = { .value = 1 };
	const struct compute_dispatch dispatch = {
		.program = &program,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { 1, 1, 1 },
		.local = { 1, 1, 1 },
	};
	int err = compute_program_load(ctx, "fill", &program);

	if (err)
		return err;
	err = asahi_vm_alloc(ctx->vm, ASAHI_HEAP_MAIN, ASAHI_PAGE_SIZE, 0,
			     &uniforms.dst);
	if (err)
		return err;
	err = compute_tests_run_one(ctx, &dispatch);
	asahi_vm_free(ctx->vm, uniforms.dst, ASAHI_PAGE_SIZE);
	if (err == -EIO)
		return compute_fill(ctx, options);
	fprintf(stderr, "the store to 0x%llx ended with %s\n",
		(unsigned long long)uniforms.dst,
		err ? strerror(-err) : "success");
	return -EILSEQ;
}

static int compute_tests_fill_holes(struct compute *ctx, const struct compute_program *program,
				    uint64_t addr, uint32_t value)
{
	const struct fill_uniforms uniforms = { .dst = addr, .value = value };
	const struct compute_dispatch dispatch = {
		.program = program,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { HOLE_PAGES * PAGE_WORDS, 1, 1 },
		.local = { 64, 1, 1 },
	};

	return compute_tests_run_one(ctx, &dispatch);
}

/* Counts pages in which the second fill has left nothing. */
static int compute_tests_check_holes(const uint32_t *map, uint32_t value)
{
	unsigned int lost = 0;

	for (unsigned int page = 0; page < HOLE_PAGES; page++) {
		unsigned int wrong = 0;

		for (unsigned int i = page * PAGE_WORDS; i < (page + 1) * PAGE_WORDS; i++)
			wrong += map[i] != value + i;
		lost += !!wrong;
	}
	if (!lost)
		return 0;
	fprintf(stderr, "%u of %u pages are not found after they were bound\n", lost, HOLE_PAGES);
	return -EILSEQ;
}

static int compute_tests_fill_bound(struct compute *ctx, const struct compute_program *program,
				    struct asahi_bo *bo, uint64_t addr)
{
	struct drm_asahi_gem_bind_op op = {
		.flags = DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
		.handle = asahi_bo_handle(bo),
		.range = HOLE_PAGES * ASAHI_PAGE_SIZE,
		.addr = addr,
	};
	void *map;
	int err = asahi_bo_map(bo, &map);

	if (!err)
		err = asahi_vm_bind(ctx->vm, &op, 1);
	if (err)
		return err;
	err = compute_tests_fill_holes(ctx, program, addr, 2);
	return err ? err : compute_tests_check_holes(map, 2);
}

/*
 * Stores to pages that are not mapped, which the GPU forgives by default; then memory is bound
 * there and is stored to again. TLBs that keep of a page that it is not mapped lose that.
 */
static int compute_tests_try_holes(struct compute *ctx, const struct compute_options *options,
				   const struct compute_program *program)
{
	const uint64_t size = HOLE_PAGES * ASAHI_PAGE_SIZE;
	struct asahi_bo *bo = NULL;
	uint64_t addr;
	int err = asahi_vm_alloc(ctx->vm, ASAHI_HEAP_MAIN, size, 0, &addr);

	if (err)
		return err;
	err = compute_tests_fill_holes(ctx, program, addr, 1);
	if (err == -EIO) {
		puts("# unmapped accesses are not forgiven here");
		asahi_vm_free(ctx->vm, addr, size);
		return compute_fill(ctx, options);
	}
	if (!err)
		err = asahi_bo_new(ctx->dev, size, ctx->setup.flags, ctx->vm, &bo);
	if (!err)
		err = compute_tests_fill_bound(ctx, program, bo, addr);
	/* Its binding ends with it. */
	asahi_bo_unref(bo);
	asahi_vm_free(ctx->vm, addr, size);
	return err;
}

static int compute_tests_test_holes(struct compute *ctx, const struct compute_options *options)
{
	struct compute_program program;
	struct compute_buffer other;
	int err = compute_program_load(ctx, "fill", &program);

	/* A page table that becomes empty would have all of the TLB invalidated. */
	if (!err)
		err = compute_buffer_new(ctx, ASAHI_PAGE_SIZE, &other);
	if (err)
		return err;
	err = compute_tests_try_holes(ctx, options, &program);
	compute_buffer_free(ctx, &other);
	return err;
}

const struct compute_test compute_tests[] = {
	{ "fill", "each thread stores one word", compute_fill, false },
	{ "vecadd", "sums of two arrays of floats", compute_tests_test_vecadd, false },
	{ "reduce", "sum of an array, with shared memory and barriers",
	  compute_tests_test_reduce, false },
	{ "indirect", "a launch whose size another launch writes",
	  compute_tests_test_indirect, false },
	{ "preshader", "a uniform that is computed before the launch",
	  compute_tests_test_preshader, false },
	{ "mandelbrot", "a picture of the Mandelbrot set", compute_mandelbrot,
	  false },
	{ "fault", "a store to nowhere must fail, and the queue go on",
	  compute_tests_test_fault, true },
	{ "holes", "stores to nowhere, then to memory that was bound there",
	  compute_tests_test_holes, true },
	{ "empty", "a control stream with nothing in it, then fill", compute_probe_empty, true },
	{ "times", "the times of a command are in order, then fill", compute_probe_times, true },
	{ "long", "a shader that runs for --seconds", compute_probe_long, true },
	{ "loop", "a shader without end must be ended, and the queue go on", compute_probe_loop,
	  true },
	{ "spaces", "64 address spaces, each works twice", compute_probe_spaces, true },
	{ NULL, NULL, NULL, false },
};
