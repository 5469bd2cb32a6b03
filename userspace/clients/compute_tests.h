/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The tests of asahi-compute: each runs shaders and checks every byte of
 * their output on the CPU.
 */
#ifndef CLIENT_COMPUTE_TESTS_H
#define CLIENT_COMPUTE_TESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "compute.h"

/** struct compute_options - what a user may choose */
struct compute_options {
	/** @size: elements, or pixels of the picture's longer side; 0: default */
	uint32_t size;
	/** @iterations: most iterations of the Mandelbrot set; 0: default */
	uint32_t iterations;
	/** @output: file for the picture, or NULL for none */
	const char *output;
	/** @seconds: how long the long shader runs; 0: default */
	double seconds;
};

/** struct compute_test - a test */
struct compute_test {
	const char *name;
	const char *help;
	/** @run: 0, -EILSEQ for a wrong result, or another error */
	int (*run)(struct compute *ctx, const struct compute_options *options);
	/** @optional: only run when it is asked for by name */
	bool optional;
};

/** compute_tests - all tests; the last one has no name */
extern const struct compute_test compute_tests[];

/**
 * compute_check_words() - compare an output
 * @got: what the GPU wrote
 * @expected: what it should have written
 * @count: words
 *
 * Return: 0, or -EILSEQ with the first difference on stderr.
 */
int compute_check_words(const uint32_t *got, const uint32_t *expected,
			uint32_t count);

/* Those of compute_tests in compute_probe.c */

/** compute_probe_empty() - a control stream that ends at once */
int compute_probe_empty(struct compute *ctx, const struct compute_options *options);

/** compute_probe_times() - the start and the end that a command writes */
int compute_probe_times(struct compute *ctx, const struct compute_options *options);

/** compute_probe_long() - a shader that runs for so many seconds and ends well */
int compute_probe_long(struct compute *ctx, const struct compute_options *options);

/** compute_probe_loop() - a shader that never ends, and has to be ended */
int compute_probe_loop(struct compute *ctx, const struct compute_options *options);

/** compute_probe_spaces() - more address spaces than the GPU has contexts */
int compute_probe_spaces(struct compute *ctx, const struct compute_options *options);

/** compute_fill() - each thread stores one word */
int compute_fill(struct compute *ctx, const struct compute_options *options);

/** compute_mandelbrot() - one of compute_tests, in a file of its own */
int compute_mandelbrot(struct compute *ctx,
		       const struct compute_options *options);

#endif /* CLIENT_COMPUTE_TESTS_H */
