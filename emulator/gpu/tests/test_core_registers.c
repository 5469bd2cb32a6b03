// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Registers that a program reads before it writes them have garbage that depends on the seed
 * only, whatever the program before has left in them: read at once, in halves, after a branch
 * that only some threads take, of threads that do not exist, and by programs that go on elsewhere.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core_fixture.h"
#include "gpu/pattern.h"

#define REGISTERS	128
/* Part of a quad, and of a simdgroup */
#define THREADS		18

/* The number of the thread in r1, and a store of r2 */
#define INDEX		"mov r1, thread_index_in_threadgroup\n"
#define STORE		"store r2, du0, r1, i32, x, a\nstop\n"

/* Leaves something in all registers of 32 threads */
static void leave(struct fixture *f)
{
	char text[REGISTERS * 32], *p = text;
	unsigned int i;

	for (i = 0; i < REGISTERS; i++)
		p += sprintf(p, "ldimm r%u, 0x%x\n", i, 0xabcd0001 + i);
	strcpy(p, "stop\n");
	assert_int_equal(fixture_run(f, text, 32), 0);
}

/* Runs a program of which threads from @first on have another result than those before */
static void expect_two(struct fixture *f, const char *text, uint32_t expected, unsigned int first,
		       uint32_t other)
{
	unsigned int i;

	leave(f);
	if (fixture_agrees(f, fixture_run(f, text, THREADS)))
		fail_msg("%s: %s", text, vagx_core_error(f->core));
	for (i = 0; i < THREADS; i++) {
		uint32_t right = i < first ? expected : other;

		if (fixture_words()[i] != right)
			fail_msg("%s: thread %u has 0x%x, not 0x%x", text, i, fixture_words()[i],
				 right);
	}
	memset(fixture_data, 0xcc, THREADS * 4);
}

static void expect(struct fixture *f, const char *text, uint32_t expected)
{
	expect_two(f, text, expected, THREADS, 0);
}

static void expect_garbage(struct fixture *f)
{
	uint32_t garbage[REGISTERS], i;

	for (i = 0; i < REGISTERS; i++)
		garbage[i] = vagx_pattern(f->config.seed, VAGX_PATTERN_REGISTERS, i);
	/* never written */
	expect(f, INDEX STORE, garbage[2]);
	expect(f, INDEX "mov r2, r77\n" STORE, garbage[77]);
	expect(f, INDEX "iadd r2, r3, r2\n" STORE, garbage[3] + garbage[2]);
	expect(f, INDEX "xor r2, r4, r5\n" STORE, garbage[4] ^ garbage[5]);
	expect(f, INDEX "iadd dr2, dr4, 0\n" STORE, garbage[4]);
	expect(f, INDEX "iadd dr2, dr4, 0\nmov r2, r3\n" STORE, garbage[5]);
	/* in the same instruction */
	expect(f, INDEX "or r2, r2, r2\n" STORE, garbage[2]);
	/* one half of it */
	expect(f, INDEX "ldimm r3l, 0\nmov r2, r3\n" STORE, garbage[3] & 0xffff0000);
	expect(f, INDEX "ldimm r3h, 0\nmov r2, r3\n" STORE, garbage[3] & 0xffff);
	/* written in a branch that no thread takes */
	expect(f, INDEX "ldimm r0l, 0\nif r1, 40, 1, ugt\nldimm r2, 7\npop_exec 1\n" STORE,
	       garbage[2]);
	/* threads that do not exist have never written it */
	expect(f, INDEX "ldimm r3, 0\nshuffle r2, r3, 25\n" STORE, garbage[3]);
	expect(f, INDEX "shuffle r2, r3, 25\n" STORE, garbage[3]);
	expect_two(f, INDEX "ldimm r3, 0\ndfdy r2, r3\n" STORE, 0, 16, garbage[3]);
}

static void begin_with_garbage(void **state)
{
	struct fixture *f = *state;

	expect_garbage(f);
	vagx_core_free(f->core);
	f->config.seed = 12345;
	f->core = vagx_core_new(&f->config);
	expect_garbage(f);
}

/* Garbage is no address */
static void addresses_are_garbage(void **state)
{
	struct fixture *f = *state;

	leave(f);
	assert_int_equal(fixture_run(f, INDEX "load r2, dr4, 0, i32, x, a\nwait a\n" STORE, 32),
			 -EFAULT);
}

/*
 * The level of nested branches is in a register that no instruction names. Where a program does
 * not begin with level 0, its first branch ends all threads' work, and it runs out of code.
 */
static void begin_without_level(void **state)
{
	struct fixture *f = *state;

	leave(f);
	assert_int_equal(fixture_run(f, INDEX "ldimm r2, 1\nif r1, 40, 1, ult\nldimm r2, 7\n"
				     "pop_exec 1\n" STORE, THREADS), -EILSEQ);
	assert_int_equal(fixture_words()[0], 0xcccccccc);
	expect(f, INDEX "ldimm r0l, 0\nldimm r2, 1\nif r1, 40, 1, ult\nldimm r2, 7\n"
	       "pop_exec 1\n" STORE, 7);
}

/*
 * The index of a shuffle is or'ed among the threads of a quad that exist: Mesa's compiler has
 * inactive ones be 0, which those that do not exist cannot
 */
static void shuffle_of_existing_threads(void **state)
{
	expect_two(*state, INDEX "ldimm r0h, 0\nmov r2, r1\nldimm r0h, 17\n"
		   "shuffle r2, r2, r0h\n" STORE, 17, THREADS, 0);
}

static void written_registers(void **state)
{
	expect(*state, INDEX "ldimm r2, 3\n" STORE, 3);
	expect(*state, INDEX "ldimm r2l, 3\nldimm r2h, 0\n" STORE, 3);
	expect(*state, INDEX "ldimm r2h, 0\nldimm r2l, 3\n" STORE, 3);
}

#define TEST(name)								\
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(begin_with_garbage),
		TEST(addresses_are_garbage),
		TEST(begin_without_level),
		TEST(shuffle_of_existing_threads),
		TEST(written_registers),
	};

	return cmocka_run_group_tests_name("core_registers", tests, NULL, NULL);
}
