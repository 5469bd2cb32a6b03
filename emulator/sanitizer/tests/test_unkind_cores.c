// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Unkind cores: a program with a mistake gives a wrong result, and its right form the right one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core_fixture.h"
#include "sanitizer/sanitizer.h"

#define THREADS	32
/* What is at each thread's word before, less the thread's number */
#define BEFORE	1000

static int setup(void **state)
{
	const struct vagx_sanitizer_config config = { .unkind = true };
	struct fixture *f;

	if (fixture_setup(state))
		return -1;
	f = *state;
	f->config.sanitizer = vagx_sanitizer_new(&config, NULL);
	f->config.seed = 7;
	vagx_core_free(f->core);
	f->core = vagx_core_new(&f->config);
	return f->core ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	struct vagx_sanitizer *sanitizer = f->config.sanitizer;
	int err;

	err = fixture_teardown(state);
	vagx_sanitizer_free(sanitizer);
	return err;
}

/* Runs a program that leaves a word for each thread. Return: how many of them are as expected. */
static unsigned int run(void **state, const char *program, uint32_t first, uint32_t step)
{
	uint32_t *words = fixture_words();
	unsigned int i, good = 0;

	for (i = 0; i < THREADS; i++)
		words[i] = BEFORE + i;
	assert_int_equal(fixture_run(*state, program, THREADS), 0);
	for (i = 0; i < THREADS; i++)
		good += words[i] == first + step * i;
	return good;
}

#define LANE		"mov r2, thread_in_grid_x\n"
#define LOAD		"load r3, du0, r2, i32, x, a\n"
#define STORE		"store r3, du0, r2, i32, x, b\nstop\n"
#define ADD		"iadd r3, r3, 1\n"

static void waits(void **state)
{
	assert_int_equal(run(state, LANE LOAD "wait a\n" ADD STORE, BEFORE + 1, 1), THREADS);
	assert_int_equal(run(state, LANE LOAD ADD STORE, BEFORE + 1, 1), 0);
	assert_int_equal(run(state, LANE LOAD "wait b\n" ADD STORE, BEFORE + 1, 1), 0);
	/* the old value is still there */
	assert_int_equal(run(state, LANE "ldimm r3, 5\n" LOAD ADD STORE, 6, 0), THREADS);
}

static void overwrites(void **state)
{
	/* what is written before the wait is lost at it */
	assert_int_equal(run(state, LANE LOAD "ldimm r3, 5\nwait a\n" STORE, 5, 0), 0);
	assert_int_equal(run(state, LANE LOAD "ldimm r3, 5\nwait a\n" STORE, BEFORE, 1), THREADS);
	assert_int_equal(run(state, LANE LOAD "wait a\nldimm r3, 5\n" STORE, 5, 0), THREADS);
	/* two of a group come in their order */
	assert_int_equal(run(state, LANE "load r3, du0, 0, i32, x, a\n" LOAD "wait a\n" STORE,
			     BEFORE, 1), THREADS);
}

/* Halves, several components, and threads that do not load */
static void parts(void **state)
{
	assert_int_equal(run(state, LANE "ldimm r3, 0x70000\nshl r4, r2, 1\n"
			     "load r3l, du0, r4, i16, x, a\n"
			     "wait a\n" STORE, 0x70000 + BEFORE, 1), THREADS);
	assert_int_equal(run(state, LANE "load r4_r5, du0, r2, i32, xy, a\nwait a\n"
			     "isub r3, r5, r4\n" STORE, 1, 0), THREADS - 1);
	assert_int_equal(run(state, "ldimm r0l, 0\n" LANE "ldimm r3, 5\nif r2, 16, 1, ult\n" LOAD
			     "pop_exec 1\nwait a\n" STORE, 5, 0), THREADS / 2);
}

static void last_uses(void **state)
{
	assert_int_equal(run(state, LANE "ldimm r4, 5\niadd r3, ^r4, 1\n" STORE, 6, 0), THREADS);
	assert_int_equal(run(state, LANE "ldimm r4, 5\niadd r3, ^r4, 1\niadd r3, r4, 1\n" STORE,
			     6, 0), 0);
	/* the destination may be the source */
	assert_int_equal(run(state, LANE "ldimm r3, 5\niadd r3, ^r3, 1\n" STORE, 6, 0), THREADS);
	/* only in threads that are active */
	assert_int_equal(run(state, "ldimm r0l, 0\n" LANE "ldimm r3, 5\nif r2, 16, 1, ult\n"
			     "iadd r4, ^r3, 1\npop_exec 1\n" STORE, 5, 0), THREADS / 2);
}

/* More results than are kept: the oldest come early, and all are there after the wait */
static void many(void **state)
{
	char text[4096] = LANE "ldimm r3, 0\n";
	unsigned int i;

	for (i = 0; i < 40; i++)
		sprintf(text + strlen(text), "load r%u, du0, r2, i32, x, a\n", 10 + i);
	strcat(text, "wait a\n");
	for (i = 0; i < 40; i++)
		sprintf(text + strlen(text), "iadd r3, r3, r%u\n", 10 + i);
	strcat(text, STORE);
	assert_int_equal(run(state, text, 40 * BEFORE, 40), THREADS);
}

/* Late stores */

/* Words of device memory: what is published, a flag, and what others have found of it */
#define DATA	"100"
#define FLAG	"101"
#define FOUND	102

/*
 * The first group or simdgroup stores 5 as data, which @fence has to publish before it sets the
 * flag; the last one loads the data when both have met: it has seen the flag then
 */
#define PASS_ON(number, wait, fence, meet)					\
	"ldimm r0l, 0\nmov r2, " number "\nldimm r4, 5\n"			\
	"if r2, 0, 1, ieq\nstore r4, du0, " DATA ", i32, x, a\n" wait fence	\
	"ldimm r5, 1\natomic r6, r5, du0, " FLAG ", add, b\nwait b\npop_exec 1\n"	\
	meet									\
	"if r2, 0, 1, ine\nldimm r5, 0\natomic r6, r5, du0, " FLAG ", add, b\nwait b\n"	\
	"load r7, du0, " DATA ", i32, x, a\nwait a\n"				\
	"store r7, du0, 102, i32, x, a\nstore r6, du0, 103, i32, x, b\n"	\
	"pop_exec 1\nstop\n"

/* What the last one has found, which has seen the flag; all are in memory in the end */
static uint32_t found(void **state, const char *program, unsigned int threads, unsigned int groups)
{
	uint32_t *words = fixture_words();

	memset(&words[100], 0, 4 * sizeof(*words));
	fixture_code(*state, program);
	assert_int_equal(fixture_run_groups(*state, threads, groups), 0);
	assert_true(words[FOUND + 1]);
	assert_int_equal(words[100], 5);
	return words[FOUND];
}

#define GROUPS(wait, fence)	PASS_ON("threadgroup_in_grid_x", wait, fence, ""), 1, 2
#define WAIT			"wait a\n"
#define LOCAL_FENCE		"memory_barrier\n"
#define DEVICE_FENCE		"memory_barrier\nmemory_barrier_2\n"

static void between_groups(void **state)
{
	assert_int_equal(found(state, GROUPS(WAIT, "")), 0);
	assert_int_equal(found(state, GROUPS(WAIT, LOCAL_FENCE)), 0);
	assert_int_equal(found(state, GROUPS(WAIT, "image_barrier_1\nimage_barrier_2\n")), 0);
	assert_int_equal(found(state, GROUPS(WAIT, DEVICE_FENCE)), 5);
	assert_int_equal(found(state, GROUPS(WAIT, "memory_barrier\ndevice_barrier_2\n")), 5);
	/* a fence does not know of stores that are under way */
	assert_int_equal(found(state, GROUPS("", DEVICE_FENCE)), 0);
	assert_int_equal(found(state, GROUPS("wait b\n", DEVICE_FENCE)), 0);
}

static void use_seed(struct fixture *f, unsigned int seed)
{
	f->config.seed = seed;
	vagx_core_free(f->core);
	f->core = vagx_core_new(&f->config);
	assert_non_null(f->core);
}

/* The number of a simdgroup: its threads are in a row */
#define SIMDGROUPS(wait, fence, meet)						\
	PASS_ON("thread_index_in_threadgroup\nshr r2, r2, 5", wait, fence, meet), 64, 1
#define BARRIER			"barrier\n"
/* The last one waits for the flag without a barrier */
#define FLAG_IS_SET								\
	"if r2, 0, 1, ine\nldimm r5, 0\nagain:\n"				\
	"atomic r6, r5, du0, " FLAG ", add, b\nwait b\n"			\
	"while r6, 0, 1, ieq\njmp_any again\npop_exec 1\n"

/* What is given to the group joins what was given before, of the same 64 bytes */
#define SIMDGROUPS_AFTER							\
	PASS_ON("thread_index_in_threadgroup\nshr r2, r2, 5\n"		\
		"store r2, du0, 104, i32, x, b\nwait b\nmemory_barrier",	\
		WAIT, LOCAL_FENCE, BARRIER), 64, 1

static void between_simdgroups(void **state)
{
	unsigned int seed;

	for (seed = 1; seed < 8; seed++) {
		use_seed(*state, seed);
		assert_int_equal(found(state, SIMDGROUPS(WAIT, "", FLAG_IS_SET)), 0);
		assert_int_equal(found(state, SIMDGROUPS(WAIT, LOCAL_FENCE, FLAG_IS_SET)), 5);
		assert_int_equal(found(state, SIMDGROUPS(WAIT, DEVICE_FENCE, FLAG_IS_SET)), 5);
		assert_int_equal(found(state, SIMDGROUPS("", LOCAL_FENCE, FLAG_IS_SET)), 0);
		assert_int_equal(found(state, SIMDGROUPS(WAIT, "", BARRIER)), 5);
		assert_int_equal(found(state, SIMDGROUPS("", "", BARRIER)), 0);
		assert_int_equal(found(state, SIMDGROUPS_AFTER), 5);
	}
}

/* A coherent store needs no fence, nor does an atomic; both come behind what was stored before */
#define STORE_COHERENT								\
	"ldimm r4, 9\nstore r4, du0, " DATA ", i32, x, a\nldimm r4, 5\n"	\
	"store r4, du0, " DATA ", i32, x, coherent, a\n"
#define ADD_ATOMIC								\
	"ldimm r4, 2\nstore r4, du0, " DATA ", i32, x, a\nldimm r4, 3\n"	\
	"atomic r5, r4, du0, " DATA ", add, a\n"

static void coherent_stores(void **state)
{
	uint32_t *words = fixture_words();

	assert_int_equal(found(state, GROUPS(WAIT, STORE_COHERENT)), 5);
	assert_int_equal(found(state, GROUPS(WAIT, ADD_ATOMIC)), 5);
	/* what another simdgroup of the group has stored before, too */
	fixture_code(*state, "ldimm r0l, 0\nmov r2, thread_index_in_threadgroup\nldimm r4, 2\n"
		     "if r2, 0, 1, ieq\nstore r4, du0, 100, i32, x, a\nwait a\n" LOCAL_FENCE
		     "pop_exec 1\nbarrier\nldimm r4, 3\n"
		     "if r2, 32, 1, ieq\natomic r5, r4, du0, 100, add, a\npop_exec 1\nstop\n");
	assert_int_equal(fixture_run_groups(*state, 64, 1), 0);
	assert_int_equal(words[100], 5);
}

/* Threads see what they have stored: whole words, and parts of them */
static void own_stores(void **state)
{
	assert_int_equal(run(state, LANE "ldimm r3, 5\nstore r3, du0, r2, i32, x, a\n"
			     LOAD "wait a\n" ADD STORE, 6, 0), THREADS);
	assert_int_equal(run(state, LANE "ldimm r3, 7\nshl r4, r2, 2\n"
			     "store r3l, du0, r4, i8, x, a\n" LOAD "wait a\nand r3, r3, 255\n"
			     STORE, 7, 0), THREADS);
	assert_int_equal(run(state, LANE "ldimm r3, 0\nshl r4, r2, 2\niadd r4, r4, 1\n"
			     "store r3l, du0, r4, i8, x, a\nmemory_barrier\n" LOAD "wait a\n"
			     STORE, BEFORE & 0xff, 1), 256 - (BEFORE & 0xff));
}

/* In whichever order stores reach memory, the last one to a word is there in the end */
static void order(void **state)
{
	unsigned int seed;

	for (seed = 1; seed < 16; seed++) {
		use_seed(*state, seed);
		assert_int_equal(run(state, LANE "ldimm r3, 5\nstore r3, du0, r2, i32, x, b\n"
				     "wait b\n" LOCAL_FENCE "ldimm r3, 7\n" STORE, 7, 0),
				 THREADS);
	}
}

/* More words than are kept, from the same places again and again */
static void many_stores(void **state)
{
	uint32_t *words = fixture_words();
	const unsigned int count = 4096, groups = count / 1024;
	unsigned int i, good = 0;

	memset(words, 0, 4 * count);
	fixture_code(*state, "ldimm r5, 0\nmov r2, thread_in_grid_x\nshl r6, r2, 1\n"
		     "store r6, du0, r2, i32, x, a\nload r3, du0, r2, i32, x, a\nwait a\n"
		     "iadd r3, r3, 1\nstore r3, du0, r2, i32, x, a\n"
		     "load r4, du0, r2, i32, x, a\nwait a\niadd r4, r4, r2\n"
		     "store r4, du0, r2, i32, x, a\nstop\n");
	assert_int_equal(fixture_run_groups(*state, 1024, groups), 0);
	for (i = 0; i < count; i++)
		good += words[i] == 3 * i + 1;
	assert_int_equal(good, count);
}

/*
 * Lines know groups by 16 bits of a number. What the first group has stored is no line of the one
 * with the same number, whose store the last one sees.
 */
#define SAME_NUMBER	"0x10000"

static void many_groups(void **state)
{
	assert_int_equal(found(state, "ldimm r0l, 0\nmov r2, threadgroup_in_grid_x\n"
			       "ldimm r3, " SAME_NUMBER "\n"
			       "if r2, 0, 1, ieq\nldimm r4, 9\n"
			       "store r4, du0, " DATA ", i32, x, a\nwait a\nstop\npop_exec 1\n"
			       "if r2, r3, 1, ieq\nldimm r4, 5\n"
			       "store r4, du0, " DATA ", i32, x, a\nwait a\n" DEVICE_FENCE
			       "pop_exec 1\n"
			       "if r2, r3, 1, ugt\nload r7, du0, " DATA ", i32, x, a\nwait a\n"
			       "store r7, du0, 102, i32, x, a\n"
			       "store r2, du0, 103, i32, x, b\npop_exec 1\nstop\n",
			       1, 0x10002), 5);
}

/* Late is not never: a simdgroup that waits for a word without a fence sees it in the end */
static void waiting(void **state)
{
	uint32_t *words = fixture_words();

	words[100] = 0;
	fixture_code(*state, "ldimm r0l, 0\nmov r2, thread_index_in_threadgroup\nldimm r4, 5\n"
		     "if r2, 32, 1, ult\nstore r4, du0, 100, i32, x, a\npop_exec 1\n"
		     "if r2, 31, 1, ugt\nagain:\nload r3, du0, 100, i32, x, a\nwait a\n"
		     "while r3, 5, 1, ult\njmp_any again\npop_exec 1\nstop\n");
	assert_int_equal(fixture_run_groups(*state, 64, 1), 0);
	assert_int_equal(words[100], 5);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(waits),
		TEST(overwrites),
		TEST(parts),
		TEST(last_uses),
		TEST(many),
		TEST(between_groups),
		TEST(between_simdgroups),
		TEST(coherent_stores),
		TEST(own_stores),
		TEST(order),
		TEST(many_stores),
		TEST(many_groups),
		TEST(waiting),
	};

	return cmocka_run_group_tests_name("unkind_cores", tests, NULL, NULL);
}
