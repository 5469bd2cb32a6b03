// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * How fast a shader core is: runs the Mandelbrot kernel. How fast the compiler is: compiles
 * programs of 1,000 instructions, which differ by one immediate. Prints JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "core_fixture.h"
#include "jit/jit.h"

/* Instructions of the programs to compile, and how many of these there are */
#define COMPILED	1000
#define PROGRAMS	20
#define WIDTH		128
#define HEIGHT		64
#define ITERATIONS	1000

static const char mandelbrot[] =
	"ldimm r0l, 0\n"
	"mov r2, thread_in_grid_x\n"
	"mov r3, thread_in_grid_y\n"
	"u32_to_f r4, r2, rte\n"
	"u32_to_f r5, r3, rte\n"
	"ffma r4, r4, u4, u2\n"
	"ffma r5, r5, u4, u3\n"
	"ldimm r6, 0\n"
	"ldimm r7, 0\n"
	"ldimm r8, 0\n"
	"again:\n"
	"fmul r9, r6, r6\n"
	"fmul r10, r7, r7\n"
	"fadd r11, r9, r10\n"
	"while r11, 4.0, 1, flte\n"
	"fmul r12, r6, r7\n"
	"fadd r6, r9, r10.neg\n"
	"fadd r6, r6, r4\n"
	"ffma r7, r12, 2.0, r5\n"
	"iadd r8, r8, 1\n"
	"while r8, u5, 1, ult\n"
	"jmp_any again\n"
	"pop_exec 1\n"
	"imadd r9, r3, 128, r2\n"
	"store r8, du0, r9, i32, x, a\n"
	"stop\n";

/* A program of what shaders are mostly made of */
static void make_program(struct fixture *f, unsigned int number)
{
	static const char *const texts[] = {
		"ffma r2, r3, r4, r5\n", "fmul r6, r2, u4\n", "iadd r7, r8, r9\n",
		"fadd r3, r6, r2.neg\n", "csel r8, r2, r3, r7, r9, flt\n", "mov r4, r6\n",
		"xor r9, r7, r8\n", "ffma r5, r3, u5, r6, sat\n",
	};
	static char text[COMPILED * 40];
	char *at = text;
	unsigned int i;

	at += sprintf(at, "ldimm r1, %u\n", number);
	for (i = 0; i < COMPILED - 2; i++)
		at += sprintf(at, "%s", texts[i % (sizeof(texts) / sizeof(texts[0]))]);
	sprintf(at, "stop\n");
	fixture_code(f, text);
}

/* Nanoseconds of processor time to compile such a program, the least of several */
static double compile_time(bool avx2)
{
	const struct vagx_jit_config config = { .mode = VAGX_JIT_ALL, .avx2 = avx2 };
	struct vagx_jit_stats before, after;
	double best = 0, took;
	struct fixture *f;
	unsigned int i;
	void *state;

	if (fixture_setup(&state))
		return 0;
	f = state;
	vagx_core_free(f->core);
	vagx_jit_free(f->config.jit);
	f->config.jit = vagx_jit_new(&config, NULL);
	f->core = vagx_core_new(&f->config);
	for (i = 0; i < PROGRAMS; i++) {
		make_program(f, i);
		vagx_jit_get_stats(f->config.jit, &before);
		if (fixture_run_again(f, 32))
			fprintf(stderr, "%s\n", vagx_core_error(f->core));
		vagx_jit_get_stats(f->config.jit, &after);
		took = (double)(after.nanoseconds - before.nanoseconds);
		best = !i || took < best ? took : best;
	}
	fixture_teardown(&state);
	return best;
}

static void set_uniform(struct fixture *f, unsigned int n, uint32_t value)
{
	f->launch.uniforms[2 * n] = value;
	f->launch.uniforms[2 * n + 1] = value >> 16;
}

static uint32_t bits(float value)
{
	uint32_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static int run_picture(struct fixture *f)
{
	uint32_t group[3] = { 0 };

	for (group[1] = 0; group[1] < HEIGHT / 8; group[1]++) {
		for (group[0] = 0; group[0] < WIDTH / 8; group[0]++) {
			int err = vagx_core_run_groups(f->core, &f->launch, group, 1, &f->fault);

			if (err)
				return err;
		}
	}
	return 0;
}

int main(void)
{
	struct vagx_core_stats before, after;
	double best = 0, start, rate;
	struct fixture *f;
	void *state;
	int round;

	if (fixture_setup(&state))
		return EXIT_FAILURE;
	f = state;
	fixture_code(f, mandelbrot);
	set_uniform(f, 2, bits(-2.0f));
	set_uniform(f, 3, bits(-0.75f));
	set_uniform(f, 4, bits(3.0f / WIDTH));
	set_uniform(f, 5, ITERATIONS);
	f->launch.grid[0] = WIDTH;
	f->launch.grid[1] = HEIGHT;
	f->launch.grid[2] = f->launch.local[2] = 1;
	f->launch.local[0] = f->launch.local[1] = 8;

	for (round = 0; round < 5; round++) {
		vagx_core_get_stats(f->core, &before);
		start = seconds();
		if (run_picture(f)) {
			fprintf(stderr, "%s\n", vagx_core_error(f->core));
			return EXIT_FAILURE;
		}
		start = seconds() - start;
		vagx_core_get_stats(f->core, &after);
		rate = (after.thread_instructions - before.thread_instructions) /
		       start;
		best = rate > best ? rate : best;
	}
	fixture_teardown(&state);
	printf("{ \"kernel\": \"mandelbrot\", \"thread_instructions_per_second\": %.0f, \"instructions_per_second\": %.0f, ",
	       best, (after.instructions - before.instructions) / start);
	printf("\"compile_1000_instructions_ns\": %.0f, \"compile_1000_instructions_avx2_ns\": %.0f }\n",
	       compile_time(false), compile_time(true));
	return EXIT_SUCCESS;
}
