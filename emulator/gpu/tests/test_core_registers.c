// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Registers that a program reads before it writes them are 0, whatever the program before has
 * left in them: read at once, in halves, after a branch that only some threads take, of
 * threads that do not exist, and by programs that go on elsewhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core_fixture.h"

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

static void expect(struct fixture *f, const char *text, uint32_t expected)
{
	unsigned int i;

	leave(f);
	if (fixture_agrees(f, fixture_run(f, text, THREADS)))
		fail_msg("%s: %s", text, vagx_core_error(f->core));
	for (i = 0; i < THREADS; i++) {
		if (fixture_words()[i] != expected)
			fail_msg("%s: thread %u has 0x%x, not 0x%x", text, i, fixture_words()[i],
				 expected);
	}
	memset(fixture_data, 0xcc, THREADS * 4);
}

static void begin_with_zero(void **state)
{
	static const char *const texts[] = {
		/* never written */
		INDEX STORE,
		INDEX "mov r2, r77\n" STORE,
		INDEX "iadd r2, r3, r2\n" STORE,
		INDEX "iadd dr8, dr4, dr6\nor r2, r8, r9\n" STORE,
		/* in the same instruction */
		INDEX "or r2, r2, r2\n" STORE,
		/* one half of it */
		INDEX "ldimm r3l, 0\nmov r2, r3\n" STORE,
		INDEX "ldimm r3h, 0\nmov r2, r3\n" STORE,
		/* part of what is stored, or of an address */
		INDEX "ldimm r4, 0\nstore r4_r5_r6_r7, du0, r1, lsl 2, i32, xyzw, a\nstop\n",
		"ldimm r4, 0\nload r2, du0, r3, i32, x, a\nwait a\nldimm r2, 0\n" INDEX STORE,
		/* written in a branch that no thread takes */
		INDEX "ldimm r0l, 0\nif r1, 40, 1, ugt\nldimm r2, 7\npop_exec 1\n" STORE,
		/* threads that do not exist have never written it */
		INDEX "ldimm r3, 0\nshuffle r2, r3, 25\n" STORE,
		INDEX "shuffle r2, r3, 25\n" STORE,
		INDEX "ldimm r3, 0\ndfdy r2, r3\n" STORE,
	};
	unsigned int i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect(*state, texts[i], 0);
}

/* The level of nested branches is in a register that no instruction names */
static void begin_with_all_threads(void **state)
{
	expect(*state, INDEX "ldimm r2, 1\nif r1, 40, 1, ult\nldimm r2, 7\npop_exec 1\n" STORE, 7);
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
		TEST(begin_with_zero),
		TEST(begin_with_all_threads),
		TEST(written_registers),
	};

	return cmocka_run_group_tests_name("core_registers", tests, NULL, NULL);
}
