// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Loads and stores whose addresses go together in every way that has code of its own: the same,
 * and rows, for 4, 8, 16 or 32 threads, with the others elsewhere; elements of each size, one
 * to four of them, to registers of 16 and 32 bits; with some threads missing. What has to be
 * in memory is computed element by element, thread after thread. What nobody has written is
 * garbage that a seed has chosen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"
#include "core_fixture.h"
#include "gpu/pattern.h"

#define LANES		32
/* Where tables of indices and results are */
#define TABLE		VAGX_UAT_PAGE_SIZE
#define RESULT		(2 * VAGX_UAT_PAGE_SIZE)
/* Bytes that are loaded from and stored to: those that 32 threads write to shared memory */
#define AREA		512

static const char *const formats[] = { "i8", "i16", "i32" };
static const char *const masks[] = { "x", "xy", "xyz", "xyzw" };
static const char *const words[] = { "r4", "r4_r5", "r4_r5_r6", "r4_r5_r6_r7" };
static const char *const halves[] = { "r4h", "r4h_r5l", "r4h_r5l_r5h", "r4h_r5l_r5h_r6l" };

/* An access, and the indices of its threads */
struct access {
	unsigned int log2_size;
	unsigned int count;
	bool half;
	bool shared;
	unsigned int threads;
	/* those that take part: from the first to before this one */
	unsigned int until;
	uint32_t index[LANES];
};

/* Indices of threads in runs: the same, a row of all components, or anything */
static void choose_indices(struct access *a, struct chance *c)
{
	unsigned int room = AREA >> a->log2_size, run = 4u << chance_pick(c, 4), i;
	uint32_t first = 0, step = 0;

	for (i = 0; i < LANES; i++) {
		if (i % run == 0) {
			step = chance_pick(c, 4) ? a->count * chance_pick(c, 2) : 3;
			first = chance_pick(c, room - run * 4);
		}
		a->index[i] = first + i % run * step;
		if (!chance_pick(c, 40))
			a->index[i] = chance_pick(c, room - 4);
	}
}

static void choose(struct access *a, struct chance *c)
{
	a->log2_size = chance_pick(c, 3);
	a->count = 1 + chance_pick(c, 4);
	a->half = chance_pick(c, 2);
	a->shared = chance_pick(c, 2);
	a->threads = chance_pick(c, 3) ? LANES : 1 + chance_pick(c, LANES);
	a->until = 1 + chance_pick(c, 2 * a->threads);
	if (a->until > a->threads)
		a->until = a->threads;
	choose_indices(a, c);
}

/* Writes text that accesses the area at the thread's index, in r3 */
static int add_access(char *text, const struct access *a, const char *verb)
{
	const char *reg = (a->half ? halves : words)[a->count - 1];

	if (a->shared)
		return sprintf(text, "l%s %s, u40l, r3l, %s, %s\nwait a\n", verb, reg,
			       formats[a->log2_size], masks[a->count - 1]);
	return sprintf(text, "%s %s, du0, r3, %s, %s, a\nwait a\n", verb, reg,
		       formats[a->log2_size], masks[a->count - 1]);
}

/* Runs an access behind a copy of the area to shared memory, and gets what is in registers there */
static void run(struct fixture *f, const struct access *a, const char *verb)
{
	char text[2048], *p = text;

	p += sprintf(p, "mov r1, thread_index_in_threadgroup\n"
		     "load r3, du4, r1, i32, x, a\nwait a\n"
		     "load r8_r9_r10_r11, du0, r1, lsl 2, i32, xyzw, a\nwait a\n"
		     "shl r2, r1, 4\n"
		     "lstore r8_r9_r10_r11, r2l, 0, i32, xyzw\n"
		     "imadd r4, r1, 63, r1\nshl r5, r4, 8\nor r4, r4, r5\nor r5, r4, r1\n"
		     "shl r6, r4, 5\nor r7, r4, 77\n");
	p += sprintf(p, "ldimm r0l, 0\nif r1, %u, 1, ult\n", a->until);
	p += add_access(p, a, verb);
	p += sprintf(p, "pop_exec 1\n"
		     "store r4_r5_r6_r7, du6, r1, lsl 2, i32, xyzw, a\n"
		     "lload r8_r9_r10_r11, r2l, 0, i32, xyzw\nwait a\n"
		     "store r8_r9_r10_r11, du8, r1, lsl 2, i32, xyzw, a\nstop\n");
	f->launch.shared_size = AREA;
	fixture_uniform64(f, 8, DATA_VA + TABLE);
	fixture_uniform64(f, 12, DATA_VA + RESULT);
	fixture_uniform64(f, 16, DATA_VA + RESULT + AREA);
	memcpy(fixture_data + TABLE, a->index, sizeof(a->index));
	if (fixture_agrees(f, fixture_run(f, text, a->threads)))
		fail_msg("%s", vagx_core_error(f->core));
}

/* What a thread has in r4 to r7 before the access */
static void set_registers(uint16_t halves_of[8], uint32_t thread)
{
	uint32_t r[4];

	r[0] = thread * 64;
	r[0] |= r[0] << 8;
	r[1] = r[0] | thread;
	r[2] = r[0] << 5;
	r[3] = r[0] | 77;
	memcpy(halves_of, r, sizeof(r));
}

/* Component @n of the registers of an access: the first half of it */
static unsigned int half_of(const struct access *a, unsigned int n)
{
	return a->half ? 1 + n : 2 * n;
}

/* The elements that threads have loaded are in their registers, and nothing else has changed */
static void expect_loaded(const struct access *a, const uint8_t *area)
{
	unsigned int thread, n;

	for (thread = 0; thread < a->threads; thread++) {
		uint16_t expected[8];

		set_registers(expected, thread);
		for (n = 0; thread < a->until && n < a->count; n++) {
			uint32_t value = 0;

			memcpy(&value, area + ((a->index[thread] + n) << a->log2_size),
			       1u << a->log2_size);
			memcpy(&expected[half_of(a, n)], &value, a->half ? 2 : 4);
		}
		assert_memory_equal(fixture_data + RESULT + 16 * thread, expected, 16);
	}
}

/* What is in the area after the stores of all threads, one after the other */
static void expect_stored(const struct access *a, uint8_t *area)
{
	const uint8_t *now = a->shared ? fixture_data + RESULT + AREA : fixture_data;
	unsigned int thread, n;

	for (thread = 0; thread < a->until; thread++) {
		uint16_t reg[8];

		set_registers(reg, thread);
		for (n = 0; n < a->count; n++) {
			uint32_t value = 0;

			memcpy(&value, &reg[half_of(a, n)], a->half ? 2 : 4);
			memcpy(area + ((a->index[thread] + n) << a->log2_size), &value,
			       1u << a->log2_size);
		}
	}
	/* threads read back what the first of them have written to shared memory */
	assert_memory_equal(now, area, a->shared ? 16 * a->threads : AREA);
}

static void random_accesses(struct fixture *f, const char *verb)
{
	struct chance c = chance_begin((uint64_t)verb[0]);
	uint8_t area[AREA + 16], garbage[AREA];
	struct access a;
	unsigned int i, k;

	for (i = 0; i < 1500; i++) {
		for (k = 0; k < AREA; k++)
			fixture_data[k] = area[k] = (uint8_t)chance_pick(&c, 256);
		choose(&a, &c);
		/* shared memory has garbage yet where a thread is missing */
		vagx_pattern_fill(f->config.seed, VAGX_PATTERN_SHARED, garbage, AREA);
		if (a.shared)
			memcpy(area + 16 * a.threads, garbage + 16 * a.threads,
			       AREA - 16 * a.threads);
		run(f, &a, verb);
		if (verb[0] == 'l')
			expect_loaded(&a, area);
		else
			expect_stored(&a, area);
	}
}

static void loads(void **state)
{
	random_accesses(*state, "load");
}

static void stores(void **state)
{
	random_accesses(*state, "store");
}

/* What a space of memory has for a seed, in each group of threads; @apart: a word for each thread */
static void expect_garbage(struct fixture *f, const char *load, enum vagx_pattern_space space,
			   bool apart)
{
	static const uint32_t group[3];
	uint32_t garbage[LANES], i;
	char text[256];

	sprintf(text, "mov r1, thread_index_in_threadgroup\nshl r2, r1, 2\n%s\nwait a\n"
		"store r3, du0, r1, i32, x, a\nldimm r3, 5\n"
		"lstore r3, r2l, 0, i32, x\nstop\n", load);
	for (i = 0; i < LANES; i++)
		garbage[i] = vagx_pattern(f->config.seed, space,
					  apart ? i % (VAGX_PATTERN_LINE / 4) : 0);
	f->launch.shared_size = AREA;
	if (fixture_agrees(f, fixture_run(f, text, LANES)))
		fail_msg("%s", vagx_core_error(f->core));
	assert_memory_equal(fixture_data, garbage, sizeof(garbage));
	memset(fixture_data, 0, sizeof(garbage));
	f->launch.grid[0] = 2 * LANES;
	assert_int_equal(vagx_core_run_groups(f->core, &f->launch, group, 2, &f->fault), 0);
	assert_memory_equal(fixture_data, garbage, sizeof(garbage));
}

static void unwritten_memory(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		vagx_core_free(f->core);
		f->config.seed = i * 77;
		f->core = vagx_core_new(&f->config);
		expect_garbage(f, "lload r3, r2l, 0, i32, x", VAGX_PATTERN_SHARED, true);
		expect_garbage(f, "stack_load r3, 0, i32, x, a", VAGX_PATTERN_PRIVATE, false);
	}
}

/* Garbage is neither a small number nor NaN, as words, halves and bytes, and differs by seed */
static void pattern(void **state)
{
	uint32_t seed, n, same = 0;

	(void)state;
	for (seed = 0; seed < 50; seed++) {
		for (n = 0; n < 1000; n++) {
			uint32_t word = vagx_pattern(seed, VAGX_PATTERN_REGISTERS, n), half;

			for (half = 0; half < 2; half++) {
				uint32_t magnitude = word >> half * 16 & 0x7fff;

				assert_in_range(magnitude, 0x5040, 0x5fff);
				assert_in_range(magnitude & 0xff, 0x40, 0xff);
			}
			same += word == vagx_pattern(seed + 1, VAGX_PATTERN_REGISTERS, n);
			same += word == vagx_pattern(seed, VAGX_PATTERN_REGISTERS, n + 1);
			same += word == vagx_pattern(seed, VAGX_PATTERN_UNIFORMS, n);
		}
	}
	assert_true(same < 10);
}

#define TEST(name)								\
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(loads),
		TEST(stores),
		TEST(unwritten_memory),
		TEST(pattern),
	};

	return cmocka_run_group_tests_name("core_memory", tests, NULL, NULL);
}
