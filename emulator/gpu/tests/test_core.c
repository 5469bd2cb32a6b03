// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The shader core as a whole: threads, control flow, memory, and the ways in
 * which a program can go wrong.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agx_float.h"
#include "agx_packets.h"
#include "core_fixture.h"
#include "gpu/pattern.h"
#include "gpu/stage.h"

/* Stores r2 of each thread, by its number */
#define STORE	"store r2, du0, r1, i32, x, a\nstop\n"
#define INDEX	"mov r1, thread_index_in_threadgroup\n"

static void run(struct fixture *f, const char *text, unsigned int threads)
{
	int err = fixture_run(f, text, threads);

	if (err)
		fail_msg("%s", vagx_core_error(f->core));
}

static void stores_thread_position(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	run(f, "mov r1, thread_in_grid_x\n"
	       "store r1, du0, r1, i32, x, a\n"
	       "stop\n", 100);
	for (i = 0; i < 100; i++)
		assert_int_equal(fixture_words()[i], i);
	assert_int_equal(fixture_words()[100], 0xcccccccc);
}

/* A grid of 10 x 7 x 5 in groups of 4 x 3 x 2: most of the last are partial */
static void positions_in_partial_groups(void **state)
{
	static const uint32_t grid[3] = { 10, 7, 5 }, local[3] = { 4, 3, 2 };
	/* all of the 27 groups, in runs that end in each axis */
	static const struct {
		uint32_t first[3];
		unsigned int count;
	} runs[] = {
		{ { 0, 0, 0 }, 4 },
		{ { 1, 1, 0 }, 14 },
		{ { 0, 0, 2 }, 9 },
	};
	struct fixture *f = *state;
	uint32_t i;

	fixture_code(f, "mov r1, thread_in_grid_x\n"
			"mov r2, thread_in_grid_y\n"
			"mov r3, thread_in_grid_z\n"
			"imadd r4, r3, 7, r2\n"
			"imadd r4, r4, 10, r1\n"
			"mov r5, thread_in_threadgroup_x\n"
			"mov r6, threadgroup_in_grid_x\n"
			"mov r7, threads_per_threadgroup_x\n"
			"mov r8, dispatch_threads_per_threadgroup_x\n"
			"imadd r5, r6, r8, r5\n"
			"imadd r5, r7, 100, r5\n"
			"store r5, du0, r4, i32, x, a\n"
			"stop\n");
	memcpy(f->launch.grid, grid, sizeof(grid));
	memcpy(f->launch.local, local, sizeof(local));
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		assert_int_equal(vagx_core_run_groups(f->core, &f->launch, runs[i].first,
						      runs[i].count, &f->fault), 0);
	for (i = 0; i < 10 * 7 * 5; i++) {
		uint32_t x = i % 10, size = x < 8 ? 4 : 2;

		assert_int_equal(fixture_words()[i], x + 100 * size);
	}
	assert_int_equal(fixture_words()[i], 0xcccccccc);
}

static void special_registers(void **state)
{
	static const struct {
		const char *name;
		uint32_t (*value)(unsigned int thread);
		uint32_t constant;
	} sr[] = {
		{ "thread_index_in_simdgroup", NULL, 0 },
		{ "simdgroup_index_in_threadgroup", NULL, 1 },
		{ "core_index", NULL, 3 },
		{ "vm_slot", NULL, 5 },
		{ "is_active_thread", NULL, 1 },
		{ "threads_per_threadgroup_x", NULL, 64 },
		{ "threads_per_threadgroup_y", NULL, 1 },
		{ "thread_in_grid_z", NULL, 0 },
		{ "backfacing", NULL, 0 },
	};
	struct fixture *f = *state;
	char text[256];
	unsigned int i;

	for (i = 0; i < sizeof(sr) / sizeof(sr[0]); i++) {
		snprintf(text, sizeof(text), INDEX "mov r2, %s\n" STORE,
			 sr[i].name);
		run(f, text, 64);
		assert_int_equal(fixture_words()[32], sr[i].constant);
	}
}

static void nested_if(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	run(f, INDEX "ldimm r0l, 0\n"
	       "ldimm r2, 1\n"
	       "if r1, 20, 1, ult\n"
	       "  ldimm r2, 2\n"
	       "  if r1, 10, 1, ult\n"
	       "    ldimm r2, 3\n"
	       "  else 0.0, 0.0, 1, feq\n"
	       "    iadd r2, r2, 10\n"
	       "  pop_exec 1\n"
	       "  iadd r2, r2, 100\n"
	       "else 0.0, 0.0, 1, feq\n"
	       "  ldimm r2, 4\n"
	       "pop_exec 1\n"
	       "iadd r2, r2, 200\n"
	       "iadd r2, r2, 200\n" STORE, 70);
	for (i = 0; i < 70; i++)
		assert_int_equal(fixture_words()[i],
				 i < 10 ? 503 : i < 20 ? 512 : 404);
}

static void else_if(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	run(f, INDEX "ldimm r0l, 0\n"
	       "if r1, 8, 1, ult\n"
	       "  ldimm r2, 1\n"
	       "else r1, 16, 1, ult\n"
	       "  ldimm r2, 2\n"
	       "pop_exec 1\n"
	       "if r1, 15, 1, ugt\n"
	       "  ldimm r2, 3\n"
	       "pop_exec 1\n" STORE, 32);
	for (i = 0; i < 32; i++)
		assert_int_equal(fixture_words()[i], i < 8 ? 1 : i < 16 ? 2 : 3);
}

/* As many rounds as the thread's number, with a way out at round 20 */
static void loop_with_break(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	run(f, INDEX "ldimm r0l, 0\n"
	       "ldimm r2, 0\n"
	       "if 0.0, 0.0, 2, feq\n"		/* open the loop */
	       "again:\n"
	       "while r2, r1, 2, ult\n"
	       "jmp_none out\n"
	       "iadd r2, r2, 1\n"
	       "if r2, 20, 1, ieq\n"
	       "  jmp_none go_on\n"
	       "  iadd r2, r2, 100\n"
	       "  ldimm r0l, 3\n"		/* leave if and loop */
	       "  update_exec\n"
	       "go_on:\n"
	       "pop_exec 1\n"
	       "jmp_any again\n"
	       "out:\n"
	       "pop_exec 2\n"
	       STORE, 64);
	for (i = 0; i < 64; i++)
		assert_int_equal(fixture_words()[i], i < 20 ? i : 120);
}

static void float_conditions(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	run(f, INDEX "ldimm r0l, 0\n"
	       "u32_to_f r3, r1, rte\n"
	       "ldimm r2, 0\n"
	       "if r3, 7.5, 1, flt\n"
	       "  ldimm r2, 1\n"
	       "else r3, 15.5, 1, fngt\n"
	       "  ldimm r2, 2\n"
	       "pop_exec 1\n" STORE, 32);
	for (i = 0; i < 32; i++)
		assert_int_equal(fixture_words()[i], i < 8 ? 1 : i < 16 ? 2 : 0);
}

/* Threads that do not exist never become active */
static void partial_simdgroup(void **state)
{
	struct fixture *f = *state;

	run(f, INDEX "ldimm r0l, 0\n"
	       "pop_exec 1\n"
	       "update_exec\n"
	       "mov r2, total_active_threads_in_simdgroup\n" STORE, 37);
	assert_int_equal(fixture_words()[0], 32);
	assert_int_equal(fixture_words()[31], 32);
	assert_int_equal(fixture_words()[32], 5);
	assert_int_equal(fixture_words()[36], 5);
	assert_int_equal(fixture_words()[37], 0xcccccccc);
}

static void call_and_return(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	run(f, "mov r3, thread_index_in_threadgroup\n"
	       "mov r4, r3\n"
	       "call double\n"
	       "call double\n"
	       "mov r1, r4\n"
	       "mov r2, r3\n" STORE
	       "double:\n"
	       "iadd r3, r3, r3\n"
	       "ret r1\n", 40);
	for (i = 0; i < 40; i++)
		assert_int_equal(fixture_words()[i], 4 * i);
}

static void reduction_with_barriers(void **state)
{
	struct fixture *f = *state;

	f->launch.shared_size = 4096;
	run(f, "mov r1, thread_index_in_threadgroup\n"
	       "ldimm r0l, 0\n"
	       "shl r2l, r1, 2\n"
	       "iadd r3, r1, 1\n"
	       "lstore r3, r2l, 0, i32, x\n"
	       "ldimm r4, 512\n"
	       "again:\n"
	       "barrier\n"
	       "if r1, r4, 1, ult\n"
	       "  iadd r5l, r1, r4\n"
	       "  shl r5l, r5l, 2\n"
	       "  lload r6, r5l, 0, i32, x\n"
	       "  lload r7, r2l, 0, i32, x\n"
	       "  iadd r7, r6, r7\n"
	       "  lstore r7, r2l, 0, i32, x\n"
	       "pop_exec 1\n"
	       "shr r4, r4, 1\n"
	       "while r4, 0, 1, ine\n"
	       "jmp_any again\n"
	       "pop_exec 1\n"
	       "barrier\n"
	       "lload r2, 0, i32, x\n" STORE, 1024);
	assert_int_equal(fixture_words()[0], 1024 * 1025 / 2);
	assert_int_equal(fixture_words()[1023], 1024 * 1025 / 2);
}

/* A simdgroup that waits for another one without a barrier gets its turn */
static void simdgroups_take_turns(void **state)
{
	struct fixture *f = *state;

	f->launch.shared_size = 16;
	run(f, INDEX "ldimm r0l, 0\n"
	       "ldimm r2, 0\nlstore r2, 0, i32, x\nbarrier\n"
	       "mov r5, simdgroup_index_in_threadgroup\n"
	       "ldimm r2, 7\n"
	       "if r5, 0, 1, ieq\n"
	       "wait_for_it:\n"
	       "  lload r2, 0, i32, x\n"
	       "  while r2, 0, 1, ieq\n"
	       "  jmp_any wait_for_it\n"
	       "pop_exec 1\n"
	       "lstore r2, 0, i32, x\n" STORE, 64);
	assert_int_equal(fixture_words()[0], 7);
}

/* Four simdgroups take tickets, which are in memory then in the order of the simdgroups */
static uint32_t take_tickets(struct fixture *f, const char *more)
{
	char text[512];
	uint32_t tickets = 0, i;

	f->launch.shared_size = 16;
	snprintf(text, sizeof(text),
		 "mov r5, simdgroup_index_in_threadgroup\nmov r6, thread_index_in_simdgroup\n"
		 "ldimm r0l, 0\nif r6, 0, 1, ieq\nldimm r3, 1\nldimm r4, 64\n%s"
		 "atomic r2, r3, du0, r4, add, a\nwait a\nstore r2, du0, r5, i32, x, a\n"
		 "pop_exec 1\nstop\n", more);
	fixture_words()[64] = 0;
	run(f, text, 128);
	for (i = 0; i < 4; i++) {
		assert_in_range(fixture_words()[i], 0, 3);
		tickets |= 1u << (4 * i + fixture_words()[i]);
	}
	assert_int_equal(fixture_words()[64], 4);
	return tickets;
}

/*
 * The seed chooses an order of simdgroups, anew behind a barrier; so a barrier that is left out is
 * seen with one seed or the other
 */
static void seed_orders_simdgroups(void **state)
{
	struct fixture *f = *state;
	uint32_t seen = 0, behind = 0, same = 0, forward = 0, seed, tickets;

	for (seed = 0; seed < 40; seed++) {
		vagx_core_free(f->core);
		f->config.seed = seed;
		f->core = vagx_core_new(&f->config);
		tickets = take_tickets(f, "");
		assert_int_equal(take_tickets(f, ""), tickets);
		seen |= tickets;
		/* simdgroup 1 right behind 0 */
		forward += fixture_words()[1] == (fixture_words()[0] + 1) % 4;
		/* each takes a turn up to the barrier first */
		tickets ^= take_tickets(f, "pop_exec 1\nbarrier\nif r6, 0, 1, ieq\n");
		behind += tickets != 0;
		same += tickets == 0;
	}
	/* each of the four has been each of the four */
	assert_int_equal(seen, 0xffff);
	assert_true(behind && same);
	assert_true(forward && forward < 40);
}

static void shared_memory_has_bounds(void **state)
{
	struct fixture *f = *state;

	f->launch.shared_size = 64;
	assert_int_equal(fixture_run(f, "ldimm r1l, 64\n"
					"lload r2, r1l, 0, i32, x\nstop\n", 1),
			 -ERANGE);
	assert_non_null(strstr(vagx_core_error(f->core), "shared"));
	assert_int_equal(fixture_run(f, "ldimm r1l, 60\n"
					"lload r2_r3, r1l, 0, i32, xy\nstop\n",
				     1), -ERANGE);
	assert_int_equal(fixture_run(f, "ldimm r1l, 60\n"
					"lload r2, r1l, 0, i32, x\nstop\n", 1),
			 0);
	assert_int_equal(fixture_run(f, "lload r2, -1, i32, x\nstop\n", 1),
			 -ERANGE);
	assert_int_equal(fixture_run(f, "latomic r2, r3, 16, add\nstop\n", 1),
			 -ERANGE);
}

static void masks_and_shifts_of_loads(void **state)
{
	struct fixture *f = *state;
	uint8_t *bytes = fixture_data;
	unsigned int i;

	for (i = 0; i < 256; i++)
		bytes[i] = i;
	/* x and z of bytes from 5: registers are consecutive */
	run(f, "load r2_r3, du0, 5, i8, xz, a\n"
	       "load r4l_r4h, du0, 3, lsl 1, i16, yw, a\n"
	       "mov r8, u0\n"
	       "mov r9, u1\n"
	       "iadd dr8, dr8, 16\n"
	       "load r5, dr8, -4, i32, x, a\n"
	       "ldimm r10, 0xfffffffe\n"
	       "load r6, dr8, r10.sx, i32, x, b\n"
	       "ldimm r1, 64\n"
	       "store r2_r3_r4_r5, du0, r1, i32, xyzw, a\n"
	       "store r6, du0, 80, i32, x, a\n"
	       "stop\n", 1);
	assert_int_equal(fixture_words()[64], 5);
	assert_int_equal(fixture_words()[65], 7);
	assert_int_equal(fixture_words()[66], 0x13120f0e);
	assert_int_equal(fixture_words()[67], 0x03020100);
	assert_int_equal(fixture_words()[80], 0x0b0a0908);
}

/* Addresses are rounded down to the element */
static void aligns_addresses(void **state)
{
	struct fixture *f = *state;

	fixture_words()[0] = 0x11223344;
	fixture_uniform64(f, 8, DATA_VA + 3);
	run(f, "load r2, du4, 0, i32, x, a\n"
	       "load r3l, du4, 0, i16, x, a\n"
	       "load r3h, du4, 0, i8, x, a\n"
	       "store r2_r3, du0, 2, i32, xy, a\nstop\n", 1);
	assert_int_equal(fixture_words()[2], 0x11223344);
	assert_int_equal(fixture_words()[3], 0x00111122);
}

/* Each byte of sRGB as an M1 loads it (applegpu "srgb.py"): some as they are, all by the rule */
static void srgb_loads(void **state)
{
	static const struct {
		uint8_t code;
		uint32_t value;
	} known[] = {
		{ 1, 0x39800801 }, { 2, 0x3a000801 }, { 3, 0x3a800801 }, { 50, 0x3d030831 },
		{ 100, 0x3e028829 }, { 200, 0x3f13d93e }, { 254, 0x3f7dbfdc }, { 255, 0x3f800000 },
	};
	struct fixture *f = *state;
	float value[256];
	unsigned int i;

	for (i = 0; i < 256; i++) {
		const double x = i / 255.0;
		const double linear = x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);

		memset(fixture_data, 0, 32);
		memset(fixture_data, i, 4);
		run(f, "load r4_r5_r6_r7, du0, 0, srgba8, xyzw, a\n"
		       "store r4_r5_r6_r7, du0, 4, i32, xyzw, a\nstop\n", 1);
		assert_true(bits_float(fixture_words()[4]) == (float)(rint(linear * 4095) / 4095));
		assert_int_equal(fixture_words()[5], fixture_words()[4]);
		assert_int_equal(fixture_words()[6], fixture_words()[4]);
		assert_true(bits_float(fixture_words()[7]) == i / 255.0f);
		value[i] = bits_float(fixture_words()[4]);
	}
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(float_bits(value[known[i].code]), known[i].value);
}

static void formats(void **state)
{
	static const struct {
		const char *format, *registers, *mask;
		uint32_t in, out[4];
		unsigned int count;
	} cases[] = {
		{ "i8", "r4", "x", 0x85, { 0x85 }, 1 },
		{ "i16", "r4", "x", 0xfedc, { 0xfedc }, 1 },
		{ "u8norm", "r4_r5", "xy", 0x00ff, { 0x3f800000, 0 }, 2 },
		{ "s8norm", "r4_r5", "xy", 0x8081, { 0xbf800000, 0xbf800000 }, 2 },
		{ "u16norm", "r4", "x", 0xffff, { 0x3f800000 }, 1 },
		{ "s16norm", "r4", "x", 0x7fff, { 0x3f800000 }, 1 },
		{ "srgba8", "r4_r5_r6_r7", "xyzw", 0xff00ff00,
		  { 0, 0x3f800000, 0, 0x3f800000 }, 4 },
		{ "rgb10a2", "r4_r5_r6_r7", "xyzw", 0xc00003ff,
		  { 0x3f800000, 0, 0, 0x3f800000 }, 4 },
		{ "rg11b10f", "r4_r5_r6", "xyz", 0x3c0 | 0x380 << 11 | 0x200u << 22,
		  { 0x3f800000, 0x3f000000, 0x40000000 }, 3 },
		{ "rgb9e5", "r4_r5_r6", "xyz", 0x80000100 | 0x80 << 9,
		  { 0x3f800000, 0x3f000000, 0 }, 3 },
	};
	struct fixture *f = *state;
	char text[256];
	unsigned int i, n;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(fixture_data, 0, 256);
		fixture_words()[0] = cases[i].in;
		snprintf(text, sizeof(text),
			 "load %s, du0, 0, %s, %s, a\n"
			 "store r4_r5_r6_r7, du0, 4, i32, xyzw, a\n"
			 "store %s, du0, 32, %s, %s, a\nstop\n",
			 cases[i].registers, cases[i].format, cases[i].mask,
			 cases[i].registers, cases[i].format, cases[i].mask);
		run(f, text, 1);
		for (n = 0; n < cases[i].count; n++) {
			if (fixture_words()[4 + n] != cases[i].out[n])
				fail_msg("%s %u: 0x%x", cases[i].format, n,
					 fixture_words()[4 + n]);
		}
		/* And back: 32 elements on, wherever that is */
		for (n = 32; n < 256 && !fixture_data[n]; n++)
			;
		if (cases[i].in == 0x8081)
			continue;
		assert_true(n < 256);
		n &= ~3u;
		if (memcmp(fixture_data + n, &cases[i].in, 4))
			fail_msg("%s stored 0x%x", cases[i].format,
				 fixture_words()[n / 4]);
	}
}

static void half_registers_of_floats(void **state)
{
	struct fixture *f = *state;

	fixture_words()[0] = 0x0000ff00;
	run(f, "load r2l_r2h, du0, 0, u8norm, xy, a\n"
	       "store r2, du0, 1, i32, x, a\n"
	       "ldimm r3h, 0x3800\n"
	       "store r3h, du0, 8, u8norm, x, a\nstop\n", 1);
	assert_int_equal(fixture_words()[1], 0x3c000000);
	assert_int_equal(fixture_data[8], 128);
}

static void atomics(void **state)
{
	static const struct {
		const char *op;
		uint32_t start, end;
	} ops[] = {
		{ "add", 5, 5 + 63 * 64 / 2 },
		{ "sub", 0, -(63 * 64 / 2) },
		{ "umin", 50, 0 },
		{ "imax", 0x80000000, 63 },
		{ "umax", 7, 63 },
		{ "imin", 0x80000000, 0x80000000 },
		{ "and", 0xffffffff, 0 },
		{ "or", 0, 63 },
		{ "xor", 1, 1 },
		{ "xchg", 99, 63 },
	};
	struct fixture *f = *state;
	char text[256];
	unsigned int i;

	f->launch.shared_size = 64;
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		fixture_words()[2] = ops[i].start;
		snprintf(text, sizeof(text),
			 "mov r4, thread_index_in_threadgroup\n"
			 "atomic _, r4, du0, 2, %s, a\nstop\n", ops[i].op);
		run(f, text, 64);
		/* of the two simdgroups, either is the last one */
		if (ops[i].end == 63 && fixture_words()[2] == 31)
			assert_string_equal(ops[i].op, "xchg");
		else
			assert_int_equal(fixture_words()[2], ops[i].end);

		/* The same in shared memory, with one simdgroup for order */
		snprintf(text, sizeof(text),
			 "ldimm r3, %u\n"
			 "lstore r3, 4, i32, x\n"
			 "mov r4, thread_index_in_threadgroup\n"
			 "latomic r6, r4, 4, %s\n"
			 "lload r5, 4, i32, x\n"
			 "store r5, du0, 3, i32, x, a\nstop\n",
			 ops[i].start, ops[i].op);
		run(f, text, 1);
		assert_int_not_equal(fixture_words()[3], 0xcccccccc);
	}
}

/* Old values come back, each exactly once */
static void atomics_return_old_values(void **state)
{
	struct fixture *f = *state;
	uint32_t seen = 0;
	unsigned int i;

	fixture_words()[100] = 0;
	run(f, INDEX "ldimm r4, 1\n"
	       "atomic r2, r4, du0, 100, add, a\n" STORE, 32);
	for (i = 0; i < 32; i++)
		seen |= 1u << fixture_words()[i];
	assert_int_equal(seen, 0xffffffff);
	assert_int_equal(fixture_words()[100], 32);
}

/* New value first, then the one that is expected */
static void compare_and_exchange(void **state)
{
	struct fixture *f = *state;

	fixture_words()[0] = 10;
	run(f, "ldimm r4, 20\nldimm r5, 10\n"
	       "atomic r6, r4_r5, du0, 0, cmpxchg, a\n"
	       "ldimm r4, 30\n"
	       "atomic r7, r4_r5, du0, 0, cmpxchg, a\n"
	       "store r6_r7, du0, 1, i32, xy, a\nstop\n", 1);
	assert_int_equal(fixture_words()[0], 20);
	assert_int_equal(fixture_words()[1], 10);
	assert_int_equal(fixture_words()[2], 20);
}

static void private_memory(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	run(f, INDEX
	       "stack_adjust 40\n"
	       "stack_store r1, 12, i32, x, a\n"
	       "ldimm r2, 0\n"
	       "ldimm r3, 0x100\n"
	       "stack_store r2, r3, i32, x, a\n"
	       "stack_load r2, 12, i32, x, a\n"
	       "stack_adjust -40\n" STORE, 64);
	for (i = 0; i < 64; i++)
		assert_int_equal(fixture_words()[i], i);
	assert_int_equal(fixture_run(f, "stack_adjust -4\nstop\n", 1), -ERANGE);
	assert_int_equal(fixture_run(f, "ldimm r1, 0x100000\n"
					"stack_load r2, r1, i32, x, a\nstop\n",
				     1), -ERANGE);
}

static void ballots_and_shuffles(void **state)
{
	struct fixture *f = *state;
	uint32_t *out = fixture_words();

	run(f, INDEX "ldimm r0l, 0\n"
	       "ballot r2, r1, 5, ult\n" STORE, 32);
	assert_int_equal(out[7], 0x1f);
	run(f, INDEX "u32_to_f r3, r1, rte\n"
	       "ballot r2, r3, 5.0, fnlt\n" STORE, 32);
	assert_int_equal(out[7], 0xffffffe0);
	run(f, INDEX "ballot r2, r1, 5, quad, ieq\n" STORE, 32);
	assert_int_equal(out[4], 2);
	assert_int_equal(out[3], 0);
	/* Inactive threads have no vote */
	run(f, INDEX "ldimm r0l, 0\nldimm r2, 0\n"
	       "if r1, 8, 1, ult\nballot r2\npop_exec 1\n" STORE, 32);
	assert_int_equal(out[0], 0xff);
	assert_int_equal(out[8], 0);

	run(f, INDEX "shuffle r2, r1, 9\n" STORE, 32);
	assert_int_equal(out[0], 9);
	assert_int_equal(out[31], 9);
	run(f, INDEX "shuffle r2, r1, 1, xor\n" STORE, 32);
	assert_int_equal(out[6], 7);
	assert_int_equal(out[7], 6);
	run(f, INDEX "shuffle r2, r1, 16, xor\n" STORE, 32);
	assert_int_equal(out[3], 19);
	run(f, INDEX "shuffle r2, r1, 3, up\n" STORE, 32);
	assert_int_equal(out[10], 7);
	assert_int_equal(out[1], 1);
	run(f, INDEX "shuffle r2, r1, 6, down\n" STORE, 32);
	assert_int_equal(out[10], 16);
	assert_int_equal(out[30], 30);
	run(f, INDEX "shuffle r2, r1, 3, rotate, up\n" STORE, 32);
	assert_int_equal(out[1], 30);
	run(f, INDEX "shuffle r2, r1, 2, quad\n" STORE, 32);
	assert_int_equal(out[4], 6);
	assert_int_equal(out[9], 10);
	run(f, INDEX "shuffle r2, r1, 1, quad, xor\n" STORE, 32);
	assert_int_equal(out[8], 9);
}

static void reductions(void **state)
{
	struct fixture *f = *state;
	uint32_t *out = fixture_words();
	float sum;

	run(f, INDEX "simd r2, r1, iadd\n" STORE, 32);
	assert_int_equal(out[0], 496);
	assert_int_equal(out[31], 496);
	run(f, INDEX "simd r2, r1, prefix, iadd\n" STORE, 32);
	assert_int_equal(out[0], 0);
	assert_int_equal(out[5], 10);
	run(f, INDEX "quad r2, r1, iadd\n" STORE, 32);
	assert_int_equal(out[5], 4 + 5 + 6 + 7);
	run(f, INDEX "isub r3, 3, r1\nsimd r2, r3, smin\n" STORE, 32);
	assert_int_equal(out[0], (uint32_t)(3 - 31));
	run(f, INDEX "isub r3, 3, r1\nsimd r2, r3, umax\n" STORE, 32);
	assert_int_equal(out[0], 0xffffffff);
	run(f, INDEX "simd r2, r1, xor\n" STORE, 32);
	assert_int_equal(out[9], 0);
	run(f, INDEX "u32_to_f r3, r1, rte\nsimd r2, r3, fadd\n" STORE, 32);
	memcpy(&sum, out, sizeof(sum));
	assert_true(sum == 496);
	run(f, INDEX "u32_to_f r3, r1, rte\nsimd r2, r3, fmax\n" STORE, 32);
	memcpy(&sum, out, sizeof(sum));
	assert_true(sum == 31);
	/* Only what is active counts */
	run(f, INDEX "ldimm r0l, 0\nldimm r2, 0\n"
	       "if r1, 10, 1, ult\nsimd r2, r1, iadd\npop_exec 1\n" STORE, 32);
	assert_int_equal(out[3], 45);
	run(f, INDEX "mov r2, active_thread_index_in_simdgroup\n" STORE, 32);
	assert_int_equal(out[11], 11);
}

static void faults(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fixture_run(f, INDEX "ldimm r2, 0x4000\n"
					"iadd r1, r1, r2, lsl 4\n"
					"load r3, du0, r1, i32, x, a\nstop\n",
				     32), -EFAULT);
	assert_int_equal(f->fault.va, DATA_VA + 0x4000 * 16 * 4);
	assert_int_equal(f->fault.access, VAGX_READ);
	assert_non_null(strstr(vagx_core_error(f->core), "load"));

	/* Readable, but not to be written */
	assert_int_equal(fixture_run(f, "store r3, du2, 5, i32, x, a\nstop\n",
				     1), -EFAULT);
	assert_int_equal(f->fault.va, CONST_VA + 20);
	assert_int_equal(f->fault.access, VAGX_WRITE);
	run(f, "load r3, du2, 5, i32, x, a\nstop\n", 1);

	/* Inactive threads access nothing */
	run(f, INDEX "ldimm r0l, 0\nldimm r5, 0\n"
	       "ldimm r6, 0x7f\n"
	       "if r1, 200, 1, ugt\n"
	       "load r3, dr5, 0, i32, x, a\n"
	       "pop_exec 1\nstop\n", 32);
	assert_int_equal(fixture_run(f, "ldimm r4, 0\nldimm r5, 0\n"
					"atomic _, r4, dr4, 0, add, a\nstop\n",
				     1), -EFAULT);
}

#define PAGE_WORDS	(VAGX_UAT_PAGE_SIZE / 4)

/* Words that each thread copies; those of the next are @distance words behind them */
struct words {
	unsigned int count;
	unsigned int distance;
	/* what threads are counted by when they load, exclusive or */
	unsigned int flip;
	unsigned int from;
	unsigned int to;
};

static int copy_words(struct fixture *f, const struct words *w, unsigned int threads)
{
	static const char *const regs[] = { "r4", "r4_r5", "r4_r5_r6", "r4_r5_r6_r7" };
	static const char *const masks[] = { "x", "xy", "xyz", "xyzw" };
	const char *r = regs[w->count - 1], *m = masks[w->count - 1];
	char text[512];

	snprintf(text, sizeof(text), INDEX
		 "ldimm r2, %u\nldimm r3, %u\nldimm r4, 5\nmov r5, r4\nmov r6, r4\n"
		 "mov r7, r4\nimadd r3, r1, %u, r3\nxor r1, r1, %u\nimadd r2, r1, %u, r2\n"
		 "load %s, du0, r2, i32, %s, a\nwait a\n"
		 "store %s, du0, r3, i32, %s, a\nstop\n",
		 w->from, w->to, w->distance, w->flip, w->distance, r, m, r, m);
	return fixture_run(f, text, threads);
}

/* Words of all threads in a row are moved as a whole: as if each thread moved its own */
static void rows_of_words(void **state)
{
	uint32_t *words = fixture_words();
	unsigned int n, i;

	for (n = 0; n < 3 * 4 * 2 * 2 * 2; n++) {
		unsigned int end = n % 3, threads = n / 48 ? 20 : 32;
		struct words w = { .count = n / 3 % 4 + 1, .flip = n / 12 % 2 };

		w.distance = w.count + n / 24 % 2;
		/* up to the end of a page, across it, across it by one word */
		w.from = PAGE_WORDS - (end == 1 ? 16 : 32) * w.count + end / 2;
		w.to = 2 * PAGE_WORDS + end;
		for (i = 0; i < 4 * PAGE_WORDS; i++)
			words[i] = i;
		assert_int_equal(copy_words(*state, &w, threads), 0);
		for (i = 0; i < threads * w.distance; i++) {
			unsigned int thread = i / w.distance ^ w.flip, word = i % w.distance;

			assert_int_equal(words[w.to + i], word < w.count ?
					 w.from + thread * w.distance + word : w.to + i);
		}
		assert_int_equal(words[w.to + i], w.to + i);
	}
}

/* The thread that is at fault, and what those before it have done, are the same as well */
static void rows_with_faults(void **state)
{
	const struct words before = { 4, 4, 0, PAGE_WORDS - 68, 2 * PAGE_WORDS };
	const struct words within = { 4, 4, 0, PAGE_WORDS + 5, 2 * PAGE_WORDS };
	const struct words stored = { 2, 2, 0, 2 * PAGE_WORDS, PAGE_WORDS - 33 };
	struct fixture *f = *state;
	unsigned int i;

	fixture_hole = DATA_VA + VAGX_UAT_PAGE_SIZE;
	assert_int_equal(copy_words(f, &before, 32), -EFAULT);
	assert_int_equal(f->fault.va, fixture_hole);
	assert_int_equal(copy_words(f, &within, 32), -EFAULT);
	assert_int_equal(f->fault.va, fixture_hole + 20);
	for (i = 0; i < 3 * PAGE_WORDS; i++)
		fixture_words()[i] = i;
	assert_int_equal(copy_words(f, &stored, 32), -EFAULT);
	assert_int_equal(f->fault.va, fixture_hole);
	assert_int_equal(f->fault.access, VAGX_WRITE);
	assert_int_equal(fixture_words()[PAGE_WORDS - 1], 2 * PAGE_WORDS + 32);
	assert_int_equal(fixture_words()[PAGE_WORDS], PAGE_WORDS);
	f->launch.soft_faults = true;
	assert_int_equal(copy_words(f, &within, 32), 0);
	for (i = 0; i < 32 * 4; i++)
		assert_int_equal(fixture_words()[2 * PAGE_WORDS + i], 0);
	fixture_hole = 0;
}

/* An index that wraps from 2^31 - 1 to -2^31 is far away, though close in 32 bits; 2^31 is not */
static void indices_that_wrap(void **state)
{
	struct fixture *f = *state;

	f->launch.soft_faults = true;
	fixture_words()[8] = 7;
	fixture_words()[9] = 9;
	fixture_uniform64(f, 8, DATA_VA + 32 - 0x1fffffffcULL);
	run(f, INDEX "ldimm r3, 0x7fffffff\niadd r3, r3, r1\n"
	       "load r2, du4, r3.sx, i32, x, a\nwait a\n" STORE, 2);
	assert_int_equal(fixture_words()[0], 7);
	assert_int_equal(fixture_words()[1], 0);
	run(f, INDEX "ldimm r3, 0x7fffffff\niadd r3, r3, r1\n"
	       "load r2, du4, r3, i32, x, a\nwait a\n" STORE, 2);
	assert_int_equal(fixture_words()[0], 7);
	assert_int_equal(fixture_words()[1], 9);
}

static void soft_faults(void **state)
{
	struct fixture *f = *state;

	f->launch.soft_faults = true;
	run(f, "ldimm r2, 5\nldimm r4, 0\nldimm r5, 0x77\n"
	       "load r2, dr4, 0, i32, x, a\n"
	       "store r4, dr4, 0, i32, x, a\n"
	       "ldimm r6, 1\n"
	       "atomic r6, r6, dr4, 0, add, a\n"
	       "iadd r2, r2, r6\n"
	       "store r2, du0, 0, i32, x, a\nstop\n", 1);
	assert_int_equal(fixture_words()[0], 0);
}

static void bad_programs(void **state)
{
	static const uint32_t group[3];
	struct fixture *f = *state;

	assert_int_equal(fixture_run(f, "trap\n", 1), -EILSEQ);
	assert_non_null(strstr(vagx_core_error(f->core), "trap"));
	/* The error is of the last run */
	run(f, "stop\n", 1);
	assert_string_equal(vagx_core_error(f->core), "");
	/* Runs out of the program, into what is no instruction */
	assert_int_equal(fixture_run(f, "wait a\n", 1), -EILSEQ);
	assert_non_null(strstr(vagx_core_error(f->core), "0x1100000002"));
	assert_non_null(strstr(vagx_core_error(f->core), "unknown"));
	assert_int_equal(fixture_run(f, "doorbell 1\nstop\n", 1), -EILSEQ);
	assert_non_null(strstr(vagx_core_error(f->core), "DOORBELL"));
	assert_int_equal(fixture_run(f, "st_var r4, 0\nstop\n", 1), -EILSEQ);
	assert_int_equal(fixture_run(f, "iter r4, cf0\nstop\n", 1), -EILSEQ);
	assert_int_equal(fixture_run(f, "st_tile r4, 0, 255, 0, i32, x\nstop\n", 1), -EILSEQ);
	assert_int_equal(fixture_run(f, "mov u4, r0\nstop\n", 1), -EILSEQ);

	/* Behind the end of the code, at an odd address, and far away */
	assert_int_equal(fixture_run(f, "jmp_any 0x100000\n", 1), -EFAULT);
	assert_int_equal(f->fault.va, CODE_VA + 0x100000);
	assert_int_equal(f->fault.access, VAGX_EXEC);
	assert_int_equal(fixture_run(f, "jmp_any 3\n", 1), -EILSEQ);
	assert_int_equal(fixture_run(f, "jmp_any -2147483648\n", 1), -EFAULT);
	assert_int_equal(fixture_run(f, "ldimm r1, 0x7fffffff\nret r1\n", 1),
			 -EFAULT);
	/* What is not reached does no harm */
	run(f, "stop\ntrap\n", 1);
	run(f, "jmp_none 0x100000\nstop\n", 1);

	f->launch.regs = 8;
	assert_int_equal(fixture_run(f, "ldimm r4, 0\nstop\n", 1), -EILSEQ);
	run(f, "ldimm r3h, 0\nstop\n", 1);
	f->launch.regs = 0;

	f->launch.local[0] = 1025;
	f->launch.grid[0] = 2000;
	assert_int_equal(vagx_core_run_groups(f->core, &f->launch, group, 1,
					     &f->fault), -EINVAL);
	f->launch.local[0] = 0;
	assert_int_equal(vagx_core_run_groups(f->core, &f->launch, group, 1,
					     &f->fault), -EINVAL);
	f->launch.local[0] = f->launch.local[1] = f->launch.local[2] = 1u << 31;
	assert_int_equal(vagx_core_run_groups(f->core, &f->launch, group, 1,
					     &f->fault), -EINVAL);
}

/* An instruction that begins on a mapped page and ends on one that isn't */
static void code_at_the_end_of_a_page(void **state)
{
	struct fixture *f = *state;
	char text[512];

	snprintf(text, sizeof(text), "jmp_any %d\n",
		 (int)(CODE_SIZE - 2));
	assert_int_equal(fixture_run(f, text, 1), -EILSEQ);
	/* From one page into the next is no problem */
	snprintf(text, sizeof(text), "jmp_any %d\n",
		 (int)(VAGX_UAT_PAGE_SIZE - 1));
	assert_int_equal(fixture_run(f, text, 1), -EILSEQ);
}

static void *stop_later(void *arg)
{
	usleep(20000);
	atomic_store((atomic_bool *)arg, true);
	return NULL;
}

static void endless_program_can_be_cancelled(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, stop_later, &f->stop),
			 0);
	assert_int_equal(fixture_run(f, "again: jmp_any again\n", 1024),
			 -ECANCELED);
	pthread_join(thread, NULL);
	/* The next one isn't concerned once the flag is taken back */
	atomic_store(&f->stop, false);
	run(f, "stop\n", 32);
	atomic_store(&f->stop, true);
	assert_int_equal(fixture_run(f, "stop\n", 1), -ECANCELED);
}

/* Nanoseconds that are enough rest */
#define RESTED	20000000

/* Writes word 64 after a while */
static void *write_later(void *unused)
{
	(void)unused;
	usleep(200000);
	atomic_store((atomic_uint *)&fixture_words()[64], 7);
	return NULL;
}

/* Writes it when the core has rested; after a minute at most */
static void *write_after_rest(void *arg)
{
	const struct fixture *f = arg;
	unsigned int i;

	for (i = 0; i < 600 && vagx_core_rested_ns(f->core) < RESTED; i++)
		usleep(100000);
	return write_later(arg);
}

/* Waits with all threads until word 64 is not 0, with more in the loop */
static void wait_for_word(struct fixture *f, void *(*write)(void *arg), const char *more)
{
	char text[512];
	pthread_t thread;

	fixture_words()[64] = 0;
	assert_int_equal(pthread_create(&thread, NULL, write, f), 0);
	snprintf(text, sizeof(text),
		 INDEX "ldimm r0l, 0\nldimm r3, 64\nldimm r4, 0\nif 0, 0, 1, ieq\n"
		 "again: load r2, du0, r3, i32, x, a\nwait a\n%s"
		 "while r2, 0, 1, ieq\njmp_any again\npop_exec 1\n" STORE, more);
	run(f, text, 64);
	pthread_join(thread, NULL);
	assert_int_equal(fixture_words()[0], 7);
	assert_int_equal(fixture_words()[63], 7);
}

/* Threads that wait for memory leave the processor to others; those that count meanwhile do not */
static void rests_while_it_waits(void **state)
{
	static const char *const counting[] = {
		"iadd r4, r4, 1\nmov r5, r4\nmov r6, r4\nmov r7, r4\n",
		"store r4, du0, 65, i32, x, a\nmov r5, r4\nmov r6, r4\nmov r7, r4\n",
	};
	struct fixture *f = *state;
	uint64_t rested;
	unsigned int i;

	wait_for_word(f, write_after_rest, "");
	rested = vagx_core_rested_ns(f->core);
	assert_true(rested >= RESTED);
	for (i = 0; i < sizeof(counting) / sizeof(counting[0]); i++)
		wait_for_word(f, write_later, counting[i]);
	assert_int_equal(vagx_core_rested_ns(f->core), rested);
}

struct watchdog {
	atomic_bool *stop;
	atomic_bool done;
};

/* Some programs have no end: one is stopped now and then, whichever it is */
static void *keep_stopping(void *arg)
{
	struct watchdog *dog = arg;

	while (!atomic_load(&dog->done)) {
		usleep(5000);
		atomic_store(dog->stop, true);
	}
	return NULL;
}

/* Any bytes may be called a program */
static void survives_random_programs(void **state)
{
	static const uint32_t group[3];
	struct fixture *f = *state;
	struct watchdog dog = { .stop = &f->stop };
	unsigned int i, ran = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, keep_stopping, &dog),
			 0);
	f->launch.shared_size = 256;
	for (i = 0; i < 3; i++) {
		f->launch.grid[i] = i ? 1 : 100;
		f->launch.local[i] = i ? 1 : 64;
	}
	for (i = 0; i < 600; i++) {
		fixture_random_code(f, i);
		f->launch.soft_faults = i % 4 < 2;
		atomic_store(&f->stop, false);
		ran += !fixture_agrees(f, vagx_core_run_groups(f->core, &f->launch, group, 1,
							      &f->fault));
	}
	atomic_store(&dog.done, true);
	pthread_join(thread, NULL);
	assert_true(ran > 30);
}

/* The same in each stage of rendering */
static void survives_random_stages(void **state)
{
	struct fixture *f = *state;
	struct watchdog dog = { .stop = &f->stop };
	static uint8_t memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];
	static const struct vagx_plane planes[64];
	struct vagx_tile tile = {
		.width = 32, .height = 32, .samples = 4, .sample_positions = 0xeaa26e26,
		.memory = memory,
	};
	static uint32_t out[16 * VAGX_SIMD_WIDTH];
	struct vagx_vertices vertices = { .count = 20, .words = 16, .out = out };
	struct vagx_fragments fragments = { .exists = UINT32_MAX, .num_planes = 64 };
	unsigned int i, ran[3] = { 0 };
	pthread_t thread;
	int err;

	assert_int_equal(pthread_create(&thread, NULL, keep_stopping, &dog), 0);
	for (i = 0; i < VAGX_SIMD_WIDTH / 4; i++)
		fragments.planes[i] = planes;
	f->launch.sample_stride = 8;
	f->launch.soft_faults = true;
	fixture_of_stage = true;
	for (i = 0; i < 900; i++) {
		fixture_random_code(f, i);
		atomic_store(&f->stop, false);
		if (i % 3 == 0)
			err = vagx_core_run_vertices(f->core, &f->launch, &vertices, &f->fault);
		else if (i % 3 == 1)
			err = vagx_core_run_fragments(f->core, &f->launch, &tile, &fragments,
						      &f->fault);
		else
			err = vagx_core_run_tile(f->core, &f->launch, &tile, &f->fault);
		ran[i % 3] += !fixture_agrees(f, err);
	}
	fixture_of_stage = false;
	atomic_store(&dog.done, true);
	pthread_join(thread, NULL);
	assert_true(ran[0] + ran[1] + ran[2] > 10);
}

/* A kernel's shared memory as a tile of 16 by 16, which goes to an image as a whole */
static void set_tile(struct fixture *f, struct agx_pbe *pbe)
{
	*pbe = agx_pbe_default();
	pbe->layout = AGX_IMAGE_LAYOUT_LINEAR;
	pbe->channels = AGX_CHANNELS_R16G16B16A16;
	pbe->type = AGX_TEXTURE_TYPE_FLOAT;
	pbe->swizzle_g = AGX_CHANNEL_G;
	pbe->swizzle_b = AGX_CHANNEL_B;
	pbe->swizzle_a = AGX_CHANNEL_A;
	pbe->width = 20;
	pbe->height = 17;
	pbe->address = DATA_VA;
	f->launch.shared_size = 16 * 16 * 8;
	f->launch.sample_stride = 8;
	f->launch.tile_width = f->launch.tile_height = 16;
	f->launch.tile_samples = 1;
}

static int run_tile(struct fixture *f, const struct agx_pbe *pbe, const char *text)
{
	struct agx_pbe_linear linear;
	uint8_t *state = f->launch.textures[1];

	agx_packet_pack(AGX_PACKET_pbe, state, pbe, NULL);
	agx_packet_unpack(AGX_PACKET_pbe_linear, state, &linear, NULL);
	linear.stride_less_4 = 256 - 4;
	agx_packet_pack(AGX_PACKET_pbe_linear, state, &linear, NULL);
	memset(fixture_words(), 0xee, 32 * 256);
	return fixture_run(f, text, 64);
}

#define TILE_PLACE								\
	"mov r1l, thread_in_threadgroup_x\n"					\
	"ldimm r0, 0\n"								\
	"mov r1h, r0l\n"							\
	"mov r4, thread_in_threadgroup_x\n"					\
	"u32_to_f r4, r4, rte\n"						\
	"ldimm r5, 1065353216\n"						\
	"ldimm r6, 0\n"								\
	"ldimm r7, 0\n"
#define TILE_BLOCK								\
	"barrier\n"								\
	"ldimm r8, 4\n"								\
	"ldimm r9, 0\n"								\
	"ldimm r2, 0\n"								\
	"imgwblk r2l, ts1, r8, 0, explicit_coords, 2d, i16\n"			\
	"stop\n"

static void tiles_of_kernels(void **state)
{
	const uint16_t halves[] = { 0x4200, 0x3c00, 0, 0 };
	/* of thread 31 or 63: the simdgroup of either is the last one */
	uint16_t last[] = { 0x4fc0, 0x3c00, 0, 0 };
	struct fixture *f = *state;
	const uint8_t *line = (const uint8_t *)fixture_words();
	uint8_t garbage[VAGX_PATTERN_LINE];
	struct agx_pbe pbe;
	unsigned int i;

	/* floats become halves on their way */
	set_tile(f, &pbe);
	assert_int_equal(run_tile(f, &pbe, TILE_PLACE
				  "st_tile r4_r5_r6_r7, r1l_r1h, 1, 0, explicit_coords, f16, xyzw\n"
				  TILE_BLOCK), 0);
	assert_memory_equal(line + 7 * 8, halves, 8);
	assert_int_equal(line[3 * 8], 0xee);
	/* lines that no thread stored to are garbage, also the last one of 16 */
	vagx_pattern_fill(f->config.seed, VAGX_PATTERN_SHARED, garbage, sizeof(garbage));
	assert_memory_equal(line + 15 * 256 + 7 * 8, garbage + 3 * 8, 8);
	assert_int_equal(line[16 * 256 + 7 * 8], 0xee);
	/* the image ends before the tile */
	assert_int_equal(line[20 * 8], 0xee);

	/* a kernel that names no pixel means the first one, whatever its thread */
	assert_int_equal(run_tile(f, &pbe, TILE_PLACE
				  "st_tile r4_r5_r6_r7, 0, 1, 0, f16, xyzw\n"
				  "barrier\n"
				  "ld_tile r10_r11_r12_r13, 0, 1, 0, f16, xyzw\n"
				  "barrier\n"
				  "st_tile r10_r11_r12_r13, r1l_r1h, 1, 0, explicit_coords, f16, xyzw\n"
				  TILE_BLOCK), 0);
	if (line[4 * 8] != 0xc0)
		last[0] = 0x53e0;
	for (i = 4; i < 20; i++)
		assert_memory_equal(line + i * 8, last, 8);
	assert_memory_equal(line + 256 + 4 * 8, garbage, 8);

	/* what does not fit into a sample does not become a part of the next one */
	assert_int_equal(run_tile(f, &pbe, TILE_PLACE
				  "st_tile r4_r5_r6_r7, r1l_r1h, 1, 0, explicit_coords, i32, xyzw\n"
				  TILE_BLOCK), 0);
	assert_int_equal(fixture_words()[7 * 2], 0x40400000);
	assert_int_equal(fixture_words()[7 * 2 + 1], 0x3f800000);

	/* shared memory that is none */
	f->launch.tile_width = 0;
	assert_int_equal(run_tile(f, &pbe, TILE_BLOCK), -EILSEQ);
	/* a tile that is larger than the memory */
	f->launch.tile_width = 16;
	f->launch.shared_size = 64;
	assert_int_equal(run_tile(f, &pbe, TILE_BLOCK), -ERANGE);
}

static void preshader_writes_uniforms(void **state)
{
	struct fixture *f = *state;

	fixture_words()[0] = 0x12345678;
	fixture_code(f, "load r2_r3, du0, 0, i32, xy, a\n"
			"wait a\n"
			"ldimm r3, 0xabcd\n"
			"mov u100, r2\n"
			"mov u101l, r3l\n"
			"mov du104, dr2\n"
			"mov u110h_u111l_u111h, r2l_r2h_r3l\n"
			"stop\n");
	f->launch.preshader_va = CODE_VA;
	assert_int_equal(vagx_core_run_preshader(f->core, &f->launch,
						 &f->fault), 0);
	assert_int_equal(f->launch.uniforms[200], 0x5678);
	assert_int_equal(f->launch.uniforms[201], 0x1234);
	assert_int_equal(f->launch.uniforms[202], 0xabcd);
	assert_int_equal(f->launch.uniforms[208], 0x5678);
	assert_int_equal(f->launch.uniforms[210], 0xabcd);
	assert_int_equal(f->launch.uniforms[221], 0x5678);
	assert_int_equal(f->launch.uniforms[222], 0x1234);
	assert_int_equal(f->launch.uniforms[223], 0xabcd);

	/* And the shader reads them */
	run(f, "mov r2, u100\niadd r2, r2, u101l\n"
	       "store r2, du0, 1, i32, x, a\nstop\n", 1);
	assert_int_equal(fixture_words()[1], 0x12345678 + 0xabcd);

	f->launch.preshader_va = 0;
	assert_int_equal(vagx_core_run_preshader(f->core, &f->launch,
						 &f->fault), 0);
	f->launch.preshader_va = 0x10;
	assert_int_equal(vagx_core_run_preshader(f->core, &f->launch,
						 &f->fault), -EFAULT);
}

/* Whoever is not active when others end goes on, also when all the others have ended */
static void some_threads_stop(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	run(f, INDEX "ldimm r0l, 0\nldimm r2, 7\n"
	       "if r1, 10, 1, ult\n"
	       "store r2, du0, r1, i32, x, a\n"
	       "stop\n"
	       "pop_exec 1\n"
	       "ballot r2\n"
	       "if r1, 64, 1, ugte\n"
	       "stop\n"
	       "pop_exec 1\n" STORE, 40);
	for (i = 0; i < 10; i++)
		assert_int_equal(fixture_words()[i], 7);
	for (; i < 32; i++)
		assert_int_equal(fixture_words()[i], 0xfffffc00);
	for (; i < 40; i++)
		assert_int_equal(fixture_words()[i], 0xff);
	/* behind the last one there is nothing to go on with */
	assert_int_equal(fixture_run(f, INDEX "ldimm r0l, 0\n"
				     "if r1, 10, 1, ult\nstop\ntrap\n", 20), -EILSEQ);
}

/* Lanes from the fifth of each eight on cover nothing; odd ones are discarded later */
static void helpers_store_nothing(void **state)
{
	static uint8_t memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];
	static const struct vagx_plane plane;
	struct vagx_tile tile = {
		.width = 32, .height = 32, .samples = 1, .sample_positions = 0x88,
		.memory = memory,
	};
	struct vagx_fragments fragments = { .exists = UINT32_MAX, .num_planes = 1, .tested = true };
	uint32_t *early = fixture_words(), *late = early + VAGX_SIMD_WIDTH;
	struct fixture *f = *state;
	unsigned int i;

	for (i = 0; i < VAGX_SIMD_WIDTH; i++) {
		fragments.planes[i / 4] = &plane;
		fragments.x[i] = i;
		fragments.live[i] = fragments.input[i] = i % 8 < 4;
		early[i] = late[i] = 1;
	}
	fixture_uniform64(f, 0, DATA_VA);
	fixture_uniform64(f, 4, DATA_VA + 4 * VAGX_SIMD_WIDTH);
	fixture_code(f, "mov r0, thread_in_grid_x\n"
			"mov r1l, thread_in_grid_x\n"
			"ldimm r2, 7\n"
			"store r2, du0, r0, i32, x, a\n"
			"sample_mask r1l, 0\n"
			"store r2, du2, r0, i32, x, a\n"
			"stop\n");
	assert_int_equal(vagx_core_run_fragments(f->core, &f->launch, &tile, &fragments,
						 &f->fault), 0);
	for (i = 0; i < VAGX_SIMD_WIDTH; i++) {
		assert_int_equal(early[i], i % 8 < 4 ? 7 : 1);
		assert_int_equal(late[i], i % 8 < 4 && i % 2 == 0 ? 7 : 1);
	}
}

/* Quads of several primitives in turn, of one alone, and of one but for a quad at a time */
static void planes_of_quads(void **state)
{
	static uint8_t memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];
	static const struct vagx_plane planes[][2] = {
		{ { 0 }, { .a = 1, .b = 2, .c = 0x3f800000 } },
		{ { 0 }, { .a = 3, .b = 4, .c = 0x40000000 } },
	};
	static const uint32_t second[] = { 0, 0xff, 0x55, 0x80, 0x08, 0x01, 0x7f };
	struct vagx_tile tile = {
		.width = 32, .height = 32, .samples = 1, .sample_positions = 0x88,
		.memory = memory,
	};
	struct vagx_fragments fragments = { .exists = UINT32_MAX, .num_planes = 2, .tested = true };
	struct fixture *f = *state;
	unsigned int i, n;

	fixture_uniform64(f, 0, DATA_VA);
	fixture_code(f, "mov r0, thread_in_grid_x\n"
			"iter r7, cf1\n"
			"ldcf r4_r5_r6, cf1\n"
			"imadd r0, r0, 4, 0\n"
			"store r4_r5_r6_r7, du0, r0, i32, xyzw, a\n"
			"stop\n");
	for (n = 0; n < sizeof(second) / sizeof(second[0]); n++) {
		for (i = 0; i < VAGX_SIMD_WIDTH; i++) {
			fragments.planes[i / 4] = planes[second[n] >> i / 4 & 1];
			fragments.x[i] = i;
			fragments.live[i] = fragments.input[i] = 1;
		}
		/* What a quad without fragments has does not matter. */
		fragments.exists = n % 2 ? 0xfffffff0 : UINT32_MAX;
		assert_int_equal(vagx_core_run_fragments(f->core, &f->launch, &tile, &fragments,
							 &f->fault), 0);
		for (i = n % 2 ? 4 : 0; i < VAGX_SIMD_WIDTH; i++) {
			const struct vagx_plane *want = &planes[second[n] >> i / 4 & 1][1];

			assert_int_equal(fixture_words()[4 * i], want->a);
			assert_int_equal(fixture_words()[4 * i + 1], want->b);
			assert_int_equal(fixture_words()[4 * i + 2], want->c);
			assert_int_equal(fixture_words()[4 * i + 3], want->c);
		}
	}
}

static void counts_instructions(void **state)
{
	struct fixture *f = *state;
	struct vagx_core_stats stats;

	run(f, INDEX "ldimm r0l, 0\n"
	       "if r1, 10, 1, ult\n"
	       "wait a\n"
	       "pop_exec 1\nstop\n", 64);
	vagx_core_get_stats(f->core, &stats);
	assert_int_equal(stats.groups, 1);
	assert_int_equal(stats.instructions, 2 * 6);
	/* The second simdgroup has nobody left in the branch */
	assert_int_equal(stats.thread_instructions, 64 * 5 - 22 - 32 + 10);
}

#define TEST(name)								\
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stores_thread_position),
		TEST(positions_in_partial_groups),
		TEST(special_registers),
		TEST(nested_if),
		TEST(else_if),
		TEST(loop_with_break),
		TEST(float_conditions),
		TEST(partial_simdgroup),
		TEST(call_and_return),
		TEST(reduction_with_barriers),
		TEST(simdgroups_take_turns),
		TEST(seed_orders_simdgroups),
		TEST(shared_memory_has_bounds),
		TEST(masks_and_shifts_of_loads),
		TEST(aligns_addresses),
		TEST(srgb_loads),
		TEST(formats),
		TEST(half_registers_of_floats),
		TEST(atomics),
		TEST(atomics_return_old_values),
		TEST(compare_and_exchange),
		TEST(private_memory),
		TEST(ballots_and_shuffles),
		TEST(reductions),
		TEST(faults),
		TEST(rows_of_words),
		TEST(rows_with_faults),
		TEST(indices_that_wrap),
		TEST(soft_faults),
		TEST(bad_programs),
		TEST(code_at_the_end_of_a_page),
		TEST(endless_program_can_be_cancelled),
		TEST(rests_while_it_waits),
		TEST(survives_random_programs),
		TEST(survives_random_stages),
		TEST(tiles_of_kernels),
		TEST(preshader_writes_uniforms),
		TEST(some_threads_stop),
		TEST(helpers_store_nothing),
		TEST(planes_of_quads),
		TEST(counts_instructions),
	};

	return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
