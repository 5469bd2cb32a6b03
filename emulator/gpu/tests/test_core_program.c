// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Programs that are decoded once and kept: that they are, that they are what is
 * in memory, and that there are not too many of them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_isa.h"
#include "core_fixture.h"

#define STORE(value) "ldimm r1, " value "\nstore r1, du0, 0, i32, x, a\nstop\n"

static void run(struct fixture *f, const char *text, unsigned int threads)
{
	int err = fixture_run(f, text, threads);

	if (err)
		fail_msg("%s", vagx_core_error(f->core));
}

static struct vagx_programs_stats programs_of(struct fixture *f)
{
	struct vagx_programs_stats stats;

	vagx_programs_get_stats(f->programs, &stats);
	return stats;
}

static void decodes_once(void **state)
{
	struct fixture *f = *state;
	struct vagx_core *own = f->core;
	struct fixture other = *f;

	run(f, STORE("1"), 1);
	run(f, STORE("1"), 1);
	assert_int_equal(programs_of(f).misses, 1);
	assert_int_equal(programs_of(f).hits, 1);

	/* Another core is in another context, but the code is the same */
	other.core = vagx_core_new(&f->config);
	other.launch.vm_slot++;
	fixture_words()[0] = 0;
	run(&other, STORE("1"), 1);
	assert_int_equal(fixture_words()[0], 1);
	assert_int_equal(programs_of(f).misses, 1);

	/* More registers are another program */
	f->launch.regs = 64;
	run(f, STORE("1"), 1);
	assert_int_equal(programs_of(f).misses, 2);
	vagx_core_free(other.core);
	assert_ptr_equal(f->core, own);
}

static void runs_what_is_there_now(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		run(f, i % 2 ? STORE("111") : STORE("222"), 1);
		assert_int_equal(fixture_words()[0], i % 2 ? 111 : 222);
	}
	/* both are kept, at the same address */
	assert_int_equal(programs_of(f).misses, 2);
}

/* What could not be fetched may be there next time */
static void pages_come_and_go(void **state)
{
	struct fixture *f = *state;
	char text[256];

	snprintf(text, sizeof(text), "jmp_any %d\n", (int)VAGX_UAT_PAGE_SIZE);
	assert_int_equal(fixture_run(f, text, 1), -EILSEQ);
	fixture_hole = CODE_VA + VAGX_UAT_PAGE_SIZE;
	assert_int_equal(fixture_run(f, text, 1), -EFAULT);
	assert_int_equal(f->fault.va, fixture_hole);
	fixture_hole = 0;
	assert_int_equal(fixture_run(f, text, 1), -EILSEQ);
	fixture_hole = CODE_VA;
	assert_int_equal(fixture_run(f, text, 1), -EFAULT);
	assert_int_equal(f->fault.va, CODE_VA);
}

/* A program of that many instructions of two bytes, and a store */
static void put_many(struct fixture *f, unsigned int count)
{
	struct agx_program nothing, store;
	uint8_t *code;
	unsigned int i;

	assert_int_equal(agx_isa_assemble("wait a\n", "nothing", &nothing, stderr), 0);
	assert_int_equal(agx_isa_assemble(STORE("7"), "store", &store, stderr), 0);
	assert_int_equal(nothing.size, 2);
	code = malloc(2 * count + store.size);
	assert_non_null(code);
	for (i = 0; i < count; i++)
		memcpy(code + 2 * i, nothing.code, 2);
	memcpy(code + 2 * count, store.code, store.size);
	fixture_bytes(f, code, 2 * count + store.size);
	free(code);
	free(store.code);
	free(nothing.code);
}

static void long_programs(void **state)
{
	struct fixture *f = *state;

	put_many(f, 200000);
	assert_int_equal(fixture_run_again(f, 1), 0);
	assert_int_equal(fixture_words()[0], 7);

	put_many(f, 300000);
	assert_int_equal(fixture_run_again(f, 1), -EILSEQ);
	assert_non_null(strstr(vagx_core_error(f->core),
			       "0x1100000000: more than 262144 instructions"));
}

/* However many programs there are, memory stays as it is */
static void forgets_old_programs(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		f->launch.regs = 20 + i;
		put_many(f, 20000);
		assert_int_equal(fixture_run_again(f, 1), 0);
		assert_true(programs_of(f).instructions <= 262144);
	}
	assert_int_equal(programs_of(f).misses, 20);
	/* the latest is there, the first is not */
	f->launch.serial++;
	assert_int_equal(fixture_run_again(f, 1), 0);
	assert_int_equal(programs_of(f).misses, 20);
	f->launch.serial++;
	f->launch.regs = 20;
	assert_int_equal(fixture_run_again(f, 1), 0);
	assert_int_equal(programs_of(f).misses, 21);
}

static size_t size_of(const char *text)
{
	struct agx_program program;

	assert_int_equal(agx_isa_assemble(text, "program", &program, stderr), 0);
	free(program.code);
	return program.size;
}

/* Jumps to registers lead into programs of their own, and back */
static void jumps_to_other_programs(void **state)
{
	static const char caller[] =
		"ldimm r4, 0x100\n"
		"call r4\n"
		"iadd r2, r2, 1\n"
		"store r2, du0, 0, i32, x, a\n"
		"stop\n";
	struct fixture *f = *state;
	struct vagx_core_stats stats;
	char text[2048];
	size_t size;

	strcpy(text, caller);
	for (size = size_of(caller); size < 0x100; size += 2)
		strcat(text, "stop\n");
	assert_int_equal(size, 0x100);
	strcat(text, "ldimm r2, 41\nret r1\n");
	run(f, text, 1);
	assert_int_equal(fixture_words()[0], 42);
	/* the function is reached by its address only; the way back is known */
	assert_int_equal(programs_of(f).misses, 2);
	vagx_core_get_stats(f->core, &stats);
	assert_int_equal(stats.instructions, 7);
	run(f, text, 1);
	assert_int_equal(programs_of(f).misses, 2);
}

/* Runs a program. Return: what is logged meanwhile, to be freed. */
static char *run_logged(struct fixture *f, const char *text)
{
	size_t size;
	char *log;

	fixture_log = open_memstream(&log, &size);
	assert_non_null(fixture_log);
	run(f, text, 1);
	run(f, text, 1);
	fclose(fixture_log);
	fixture_log = NULL;
	return log;
}

static void expect_logged(struct fixture *f, const char *text, const char *expected)
{
	char *log = run_logged(f, text);

	if (strcmp(log, expected))
		fail_msg("%s: logs '%s'", text, log);
	free(log);
}

#define LOAD	"load r2, du0, 0, i32, x, a\n"

/* The first mistake that needs no run is logged once; the job goes on */
static void logs_mistakes(void **state)
{
	struct fixture *f = *state;

	expect_logged(f, LOAD "wait a\nstore r2, du0, 1, i32, x, a\nstop\n", "");
	expect_logged(f, LOAD "iadd r3, r2, 1\nstore r2, du0, 1, i32, x, a\nwait a\nstop\n",
		      "lint: shader at 0x1100000000: 0x1100000008: iadd     r3, r2, 1: reads a "
		      "register before the wait for what is loaded to it (first of 2)\n");
	expect_logged(f, LOAD "ldimm r2, 7\nstop\n",
		      "lint: shader at 0x1100000000: 0x1100000008: ldimm    r2, 7: writes a register "
		      "before the wait for what is loaded to it (first of 1)\n");
	expect_logged(f, "ldimm r2, 7\niadd r3, ^r2, 1\niadd r3, r2, 1\nstop\n",
		      "lint: shader at 0x1100000000: 0x110000000e: iadd     r3, r2, 1: reads a "
		      "register after its last use (first of 1)\n");
	/* behind a jump, and in code that is not in one piece */
	expect_logged(f, LOAD "jmp_any next\nldimm r9, 1\nstop\nnext: iadd r3, r2, 1\nstop\n",
		      "lint: shader at 0x1100000000: 0x1100000016: iadd     r3, r2, 1: reads a "
		      "register before the wait for what is loaded to it (first of 1)\n");
	/* what nothing leads to does not matter */
	expect_logged(f, "ldimm r2, 7\nstop\n" LOAD "iadd r3, r2, 1\nstop\n", "");
	/* before its first instruction */
	f->launch.code_va = CODE_VA + 14;
	expect_logged(f, "back: iadd r3, r2, 1\nstop\nstop\nstop\n" LOAD "jmp_any back\nstop\n",
		      "lint: shader at 0x110000000e: 0x1100000000: iadd     r3, r2, 1: reads a "
		      "register before the wait for what is loaded to it (first of 1)\n");
}

#define TEST(name)								\
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(decodes_once),
		TEST(runs_what_is_there_now),
		TEST(pages_come_and_go),
		TEST(long_programs),
		TEST(forgets_old_programs),
		TEST(jumps_to_other_programs),
		TEST(logs_mistakes),
	};

	return cmocka_run_group_tests_name("core-program", tests, NULL, NULL);
}
