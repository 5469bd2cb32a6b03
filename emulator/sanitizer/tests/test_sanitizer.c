// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the sanitizer reports of programs with one mistake each, and that it is silent about the
 * right form of each.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agx_packets.h"
#include "core_fixture.h"
#include "gpu/stage.h"
#include "sanitizer/sanitizer.h"

/* A core with a sanitizer, and what that has logged */
struct checked {
	struct fixture *f;
	struct vagx_core *core;
	struct vagx_sanitizer *sanitizer;
	char *text;
	size_t size;
};

static void checked_begin_with(struct checked *c, void **state,
			       const struct vagx_sanitizer_config *config)
{
	struct vagx_core_config core;

	*c = (struct checked){ .f = *state };
	fixture_log = open_memstream(&c->text, &c->size);
	assert_non_null(fixture_log);
	c->sanitizer = vagx_sanitizer_new(config, NULL);
	assert_non_null(c->sanitizer);
	core = c->f->config;
	core.sanitizer = c->sanitizer;
	c->core = c->f->core;
	c->f->core = vagx_core_new(&core);
	assert_non_null(c->f->core);
}

static void checked_begin(struct checked *c, void **state, const char *suppressions)
{
	checked_begin_with(c, state, &(struct vagx_sanitizer_config){
		.check = true, .suppressions = suppressions,
	});
}

/* Frees the sanitizer, which prints its summary */
static void checked_summarize(struct checked *c)
{
	vagx_core_free(c->f->core);
	c->f->core = c->core;
	vagx_sanitizer_free(c->sanitizer);
	fflush(fixture_log);
}

static void checked_end(struct checked *c)
{
	checked_summarize(c);
	fclose(fixture_log);
	fixture_log = NULL;
	free(c->text);
}

/* Runs groups of so many threads */
static int run_groups(struct fixture *f, const char *program, unsigned int threads,
		      unsigned int groups)
{
	fixture_code(f, program);
	return fixture_run_groups(f, threads, groups);
}

static void expect_silence_of(void **state, const char *program, unsigned int threads,
			      unsigned int groups)
{
	struct checked c;

	checked_begin(&c, state, NULL);
	assert_int_equal(run_groups(c.f, program, threads, groups), 0);
	fflush(fixture_log);
	if (vagx_sanitizer_count(c.sanitizer))
		fail_msg("%s\n%s", program, c.text);
	checked_end(&c);
}

static void expect_silence(void **state, const char *program, unsigned int threads)
{
	expect_silence_of(state, program, threads, 1);
}

/* The one place that is reported has this name, and the report these words */
static void expect_finding_of(void **state, const char *program, unsigned int threads,
			      unsigned int groups, const char *name, const char *words)
{
	char start[64];
	struct checked c;

	snprintf(start, sizeof(start), "sanitizer: %s: ", name);
	checked_begin(&c, state, NULL);
	run_groups(c.f, program, threads, groups);
	fflush(fixture_log);
	if (vagx_sanitizer_count(c.sanitizer) != 1 || !strstr(c.text, start) ||
	    !strstr(c.text, words))
		fail_msg("%s\nexpected one %s with \"%s\":\n%s", program, name, words, c.text);
	checked_end(&c);
}

static void expect_finding(void **state, const char *program, unsigned int threads,
			   const char *name, const char *words)
{
	expect_finding_of(state, program, threads, 1, name, words);
}

#define LANE	"mov r2, thread_in_grid_x\n"

static void waits(void **state)
{
	expect_silence(state, LANE "load r3, du0, r2, i32, x, a\nwait a\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32);
	expect_finding(state, LANE "load r3, du0, r2, i32, x, a\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32, "pending-read", "r3l, of group a");
	expect_finding(state, LANE "load r3, du0, r2, i32, x, a\nwait b\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32, "pending-read", "r3l, of group a");
	expect_finding(state, LANE "ldimm r3, 1\natomic r4, r3, du0, r2, add, b\n"
		       "store r4, du0, r2, i32, x, a\nstop\n", 32, "pending-read", "r4l, of group b");
	expect_finding(state, LANE "stack_adjust 4\nstack_store r2, 0, i32, x, a\n"
		       "stack_load r3, 0, i32, x, a\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32, "pending-read", "r3l");
}

/* A register that is written while it is loaded has either value */
static void overwrites(void **state)
{
	expect_silence(state, LANE "load r3, du0, r2, i32, x, a\nload r3, du2, r2, i32, x, a\n"
		       "wait a\nldimm r3, 0\nstop\n", 32);
	expect_finding(state, LANE "load r3, du0, r2, i32, x, a\nldimm r3, 0\nstop\n", 32,
		       "pending-write", "r3l");
	expect_finding(state, LANE "load r3, du0, r2, i32, x, a\nload r3, du2, r2, i32, x, b\n"
		       "stop\n", 32, "pending-write", "r3l");
}

/* Loads that some of the threads make are awaited by those only */
static void divergent_waits(void **state)
{
	expect_silence(state, "ldimm r0l, 0\n" LANE "ldimm r3, 0\nif r2, 16, 1, ult\n"
		       "load r3, du0, r2, i32, x, a\nelse 0.0, 0.0, 1, feq\n"
		       "iadd r3, r2, 1\npop_exec 1\nwait a\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32);
	expect_finding(state, "ldimm r0l, 0\n" LANE "ldimm r3, 0\nif r2, 16, 1, ult\n"
		       "load r3, du0, r2, i32, x, a\nelse 0.0, 0.0, 1, feq\n"
		       "iadd r3, r2, 1\npop_exec 1\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32, "pending-read", "lane 0 of");
}

static void last_uses(void **state)
{
	expect_silence(state, LANE "iadd r3, ^r2, 1\niadd r2, ^r3, 1\niadd r4, r2, 0\nstop\n", 32);
	expect_silence(state, LANE "iadd r2, ^r2, 1\niadd r3, ^r2, 1\nstop\n", 32);
	expect_finding(state, LANE "iadd r3, ^r2, 1\niadd r4, r2, 1\nstop\n", 32,
		       "discarded-read", "r2l");
	expect_finding(state, "ldimm r0l, 0\n" LANE "if r2, 16, 1, ult\niadd r3, ^r2, 1\n"
		       "pop_exec 1\niadd r4, r2, 1\nstop\n", 32, "discarded-read", "r2l\n thread: 0, 0, 0");
	expect_silence(state, "ldimm r0l, 0\n" LANE "if r2, 16, 1, ult\niadd r3, ^r2, 1\n"
		       "else 0.0, 0.0, 1, feq\niadd r4, r2, 1\npop_exec 1\nstop\n", 32);
}

static void unwritten_registers(void **state)
{
	/* copies and sums are no mistake; nor is a value that is not selected */
	expect_silence(state, LANE "mov r3, r7\niadd r4, r3, 1\nstop\n", 32);
	expect_silence(state, LANE "csel r3, r2, 64, r2, r7, ult\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32);
	/* it does not matter which value is selected, until they differ */
	expect_silence(state, LANE "ldimm r4, 3\ncsel r3, r7, 8, 3, r4, ult\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32);
	expect_finding(state, LANE "ldimm r4, 3\ncsel r3, r7, 8, r2, r4, ult\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32, "unwritten-output",
		       "register r7l\n thread: 0, 0, 0");
	expect_finding(state, LANE "csel r3, r2, 8, r2, r7, ult\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32, "unwritten-output",
		       "register r7l\n thread: 8, 0, 0");
	expect_finding(state, LANE "mov r3, r7\niadd r4, r3, 1\nstore r4, du0, r2, i32, x, a\n"
		       "stop\n", 32, "unwritten-output", "register r7l");
	expect_finding(state, LANE "and r3, r7, 3\nstore r2, du0, r3, i32, x, a\nstop\n", 32,
		       "unwritten-address", "register r7l");
	expect_finding(state, "ldimm r0l, 0\nif r7l, 3, 1, ult\npop_exec 1\nstop\n", 32,
		       "unwritten-branch", "register r7l");
	expect_finding(state, LANE "ldimm r3l, 0\nstore r3, du0, r2, i32, x, a\nstop\n", 32,
		       "unwritten-output", "register r3h");
}

static void unwritten_memory(void **state)
{
	struct fixture *f = *state;

	f->launch.shared_size = 4096;
	expect_silence(state, LANE "shl r3, r2, 2\nlstore r2, r3l, 0, i32, x\n"
		       "lload r4, r3l, 0, i32, x\nstore r4, du0, r2, i32, x, a\nstop\n", 32);
	expect_finding(state, LANE "shl r3, r2, 2\nlload r4, r3l, 0, i32, x\n"
		       "store r4, du0, r2, i32, x, a\nstop\n", 32, "unwritten-output",
		       "byte of local memory 0x7f");
	expect_silence(state, LANE "stack_adjust 4\nstack_store r2, 0, i32, x, a\n"
		       "stack_load r3, 0, i32, x, a\nwait a\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32);
	expect_finding(state, LANE "stack_adjust 4\nstack_load r3, 0, i32, x, a\nwait a\n"
		       "store r3, du0, r2, i32, x, a\nstop\n", 32, "unwritten-output",
		       "byte of private memory");
	f->launch.shared_size = 0;
}

/* A program of one stop, with so many bytes behind it in its page. Return: findings. */
static uint64_t count_ends(void **state, unsigned int behind, bool is_last_page)
{
	static const uint8_t stop[] = { 0x88, 0x00 };
	static uint8_t page[VAGX_UAT_PAGE_SIZE];
	const size_t at = sizeof(page) - behind - sizeof(stop);
	struct checked c;
	uint64_t count;

	memset(page, 0, sizeof(page));
	memcpy(page + at, stop, sizeof(stop));
	checked_begin(&c, state, NULL);
	fixture_bytes(c.f, page, sizeof(page));
	fixture_hole = is_last_page ? CODE_VA + sizeof(page) : 0;
	c.f->launch.code_va = CODE_VA + at;
	assert_int_equal(fixture_run_again(c.f, 32), 0);
	c.f->launch.code_va = CODE_VA;
	fixture_hole = 0;
	count = vagx_sanitizer_count(c.sanitizer);
	fflush(fixture_log);
	if (count && !strstr(c.text, "code-end"))
		fail_msg("%s", c.text);
	checked_end(&c);
	return count;
}

/* What a core may fetch behind a program */
static void ends(void **state)
{
	assert_int_equal(count_ends(state, 16, true), 0);
	assert_int_equal(count_ends(state, 14, false), 0);
	assert_int_equal(count_ends(state, 14, true), 1);
	assert_int_equal(count_ends(state, 0, true), 1);
}

/* A launch that has no memory for stacks */
static void stacks(void **state)
{
	const char *program = LANE "stack_adjust 4\nstack_store r2, 0, i32, x, a\n"
			      "stack_load r3, 0, i32, x, a\nstop\n";
	struct fixture *f = *state;

	expect_silence(state, program, 32);
	f->launch.no_stack = "there is none";
	expect_silence(state, LANE "stop\n", 32);
	expect_finding(state, program, 32, "no-stack", ": there is none; it is reached at 0x110000000a\n");
}

/* Simdgroup 0 stores words, and the others load them; @between has to order that */
#define PASS_ON(between)							\
	"ldimm r0l, 0\nmov r2, thread_index_in_threadgroup\nshl r3, r2, 2\n"	\
	"if r2, 32, 1, ult\nlstore r2, r3l, 0, i32, x\npop_exec 1\n" between	\
	"if r2, 31, 1, ugt\nxor r4, r3, 128\nlload r5, r4l, 0, i32, x\n"	\
	"pop_exec 1\nstop\n"

/* Each adds to a word that one thread has stored; @between has to order that */
#define COUNT(between)								\
	"ldimm r0l, 0\nmov r2, thread_index_in_threadgroup\n"			\
	"if r2, 0, 1, ieq\nlstore r2, 0, i32, x\npop_exec 1\n" between		\
	"ldimm r3, 1\nlatomic r4, r3, 0, add\nstop\n"

static void local_races(void **state)
{
	struct fixture *f = *state;

	f->launch.shared_size = 4096;
	expect_silence(state, PASS_ON("barrier\n"), 64);
	expect_silence(state, PASS_ON(""), 32);
	expect_finding(state, PASS_ON(""), 64, "local-race", "which another one has ");
	/* a word that all simdgroups store */
	expect_finding(state, LANE "lstore r2, 0, i32, x\nstop\n", 64, "local-race", "has stored");
	/* atomics do not race with atomics, but with others */
	expect_silence(state, COUNT("barrier\n"), 64);
	expect_finding(state, COUNT(""), 64, "local-race", "which another one has ");
	expect_silence(state, COUNT("barrier\n"), 32);
	f->launch.shared_size = 0;
}

/* Words of device memory that threads of one number in their groups store */
#define STORE_TO(index)								\
	"mov r2, " index "\nldimm r3, 5\nstore r3, du0, r2, i32, x, a\n"

/* Thread 0 of the grid stores a word that all load; @between has to order that */
#define PUBLISH(between)							\
	"ldimm r0l, 0\nmov r2, thread_in_grid_x\n"				\
	"if r2, 0, 1, ieq\nstore r2, du0, 7, i32, x, a\npop_exec 1\n" between	\
	"load r5, du0, 7, i32, x, a\nwait a\nstop\n"

static void device_races(void **state)
{
	/* each thread has its own word, and a byte of a word */
	expect_silence_of(state, STORE_TO("thread_in_grid_x") "stop\n", 64, 3);
	expect_silence_of(state, LANE "store r2l, du0, r2, i8, x, a\nstop\n", 2, 16);
	/* groups store the same words; so do simdgroups of a group */
	expect_finding_of(state, STORE_TO("thread_index_in_threadgroup") "stop\n", 32, 2,
			  "device-race", ": address 0x2000000000, which another one has stored");
	expect_finding_of(state, STORE_TO("thread_index_in_simdgroup") "stop\n", 64, 1,
			  "device-race", ": address 0x2000000000, which another one has stored");
	/* a word for another simdgroup: a barrier orders those of a group */
	expect_silence_of(state, PUBLISH("barrier\n"), 64, 1);
	expect_finding_of(state, PUBLISH(""), 64, 1, "device-race", "which another one has ");
	/* it does not order groups; an atomic may */
	expect_finding_of(state, PUBLISH("barrier\n"), 32, 2, "device-race",
			  "which another one has ");
	expect_silence_of(state, "ldimm r6, 1\natomic r7, r6, du0, 100, add, b\n"
			  "wait b\n" STORE_TO("thread_index_in_threadgroup") "stop\n", 32, 2);
	/* atomics do not race with each other, but with a store */
	expect_silence_of(state, "ldimm r6, 1\natomic r7, r6, du0, 100, add, b\nstop\n", 32, 4);
	expect_finding_of(state, "ldimm r0l, 0\nldimm r6, 1\nmov r2, threadgroup_in_grid_x\n"
			  "if r2, 0, 1, ieq\nstore r6, du0, 100, i32, x, a\nelse 0.0, 0.0, 1, feq\n"
			  "atomic r7, r6, du0, 100, add, b\npop_exec 1\nstop\n", 32, 2,
			  "device-race", "address 0x2000000190");
}

/* The second of two groups of 32 threads makes a race on so many words, the first of them at @words */
static void expect_races(void **state, const char *first, const char *second, unsigned int times,
			 const char *words)
{
	char program[512], summary[64];
	struct checked c;

	snprintf(program, sizeof(program),
		 "ldimm r0l, 0\nmov r2, thread_index_in_threadgroup\nldimm r4, 1\nldimm r5, 1\n"
		 "ldimm r6, 1\nldimm r7, 1\nmov r3, threadgroup_in_grid_x\n"
		 "if r3, 0, 1, ieq\n%s, a\nelse 0.0, 0.0, 1, feq\n%s, a\npop_exec 1\nstop\n",
		 first, second);
	snprintf(summary, sizeof(summary), "summary: %u times: device-race", times);
	checked_begin(&c, state, NULL);
	assert_int_equal(run_groups(c.f, program, 32, 2), 0);
	checked_summarize(&c);
	if (!strstr(c.text, words) || !strstr(c.text, summary))
		fail_msg("%s\nexpected %s \"%s\":\n%s", program, summary, words, c.text);
	fclose(fixture_log);
	fixture_log = NULL;
	free(c.text);
}

/* Words that a simdgroup accesses together, and some of them that another one does */
static void device_rows(void **state)
{
	const char *vectors = "shl r8, r2, 2\nstore r4_r5_r6_r7, du0, r8, i32, xyzw";
	const char *row = "store r4, du0, r2, i32, x", *load_row = "load r4, du0, r2, i32, x";
	/* from the second word on */
	const char *after = "iadd r8, r2, 1\nstore r4, du0, r8, i32, x";

	expect_races(state, row, row, 32, "lane 0 of");
	expect_races(state, row, "load r4, du0, 5, i32, x", 32, "address 0x2000000014");
	expect_races(state, row, after, 31, "address 0x2000000004, which another one has stored");
	expect_races(state, load_row, row, 32, "address 0x2000000000, which another one has loaded");
	expect_races(state, load_row, after, 31, "address 0x2000000004, which another one has loaded");
	expect_races(state, "store r4, du0, 5, i32, x", row, 1, "lane 5 of");
	expect_races(state, "load r4, du0, 5, i32, x", row, 1, "lane 5 of");
	expect_races(state, "store r4, du0, 5, i32, x", load_row, 1, "lane 5 of");
	expect_races(state, "store r4, du0, 101, i32, x", vectors, 1, "lane 25 of");
	expect_races(state, vectors, "iadd r8, r2, 100\nstore r4, du0, r8, i32, x", 28,
		     "address 0x2000000190");
}

/* What a launch has accessed, by words or as a row, is no race with what the next one does */
static void device_launches(void **state)
{
	const char *const accesses[] = { "0", "r2" };
	char program[256];
	struct checked c;
	unsigned int i;

	checked_begin(&c, state, NULL);
	for (i = 0; i < 4; i++) {
		snprintf(program, sizeof(program),
			 "ldimm r0l, 0\nmov r2, thread_index_in_threadgroup\n"
			 "mov r3, threadgroup_in_grid_x\nif r3, %u, 1, ieq\n"
			 "store r2, du0, %s, i32, x, a\npop_exec 1\nstop\n", i % 2, accesses[i / 2]);
		assert_int_equal(run_groups(c.f, program, 32, 2), 0);
	}
	assert_int_equal(vagx_sanitizer_count(c.sanitizer), 0);
	checked_end(&c);
}

/* Races on two words far apart, with memory for both, and for what is known of one of them */
static void device_memory(void **state)
{
	static const char *const program =
		"ldimm r2, 0\nldimm r3, 1024\nmov r4, threadgroup_in_grid_x\n"
		"store r4, du0, r2, i32, x, a\nstore r4, du0, r3, i32, x, a\nstop\n";
	struct checked c;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		checked_begin_with(&c, state, &(struct vagx_sanitizer_config){
			.check = true, .memory = i,
		});
		assert_int_equal(run_groups(c.f, program, 1, 2), 0);
		assert_int_equal(vagx_sanitizer_count(c.sanitizer), i ? 0 : 2);
		checked_end(&c);
	}
}

/* An image of 64 by 8 texels, as texture state 1, and as 2 to be written; 3 is a tiled one */
static void set_images(struct fixture *f, enum agx_channels channels)
{
	struct agx_pbe tiled = agx_pbe_default();
	struct agx_texture_linear t = agx_texture_linear_default();
	struct agx_pbe_linear pbe = agx_pbe_linear_default();

	t.channels = pbe.channels = tiled.channels = channels;
	t.type = pbe.type = tiled.type = AGX_TEXTURE_TYPE_UINT;
	t.width = pbe.width = 64;
	t.height = pbe.height = 8;
	t.address = pbe.address = DATA_VA;
	t.stride_less_16 = 256 - 16;
	pbe.stride_less_4 = 256 - 4;
	agx_packet_pack(AGX_PACKET_texture_linear, f->launch.textures[1], &t, NULL);
	agx_packet_pack(AGX_PACKET_pbe_linear, f->launch.textures[2], &pbe, NULL);
	tiled.layout = AGX_IMAGE_LAYOUT_GPU;
	tiled.width = tiled.height = 16;
	tiled.address = DATA_VA;
	agx_packet_pack(AGX_PACKET_pbe, f->launch.textures[3], &tiled, NULL);
}

/* The first simdgroup writes a pixel, and all reach it then; @between has to order that */
#define DRAW_FOR(between, reach)						\
	"ldimm r0l, 0\nmov r2, thread_in_grid_x\nldimm r8, 0\nldimm r9, 0\n"	\
	"ldimm r4, 1\nldimm r5, 1\nldimm r6, 1\nldimm r7, 1\n"			\
	"if r2, 0, 1, ieq\n" DRAW("r8") "pop_exec 1\n" between reach "wait a\nstop\n"
#define DRAW(at)	"imgw r4_r5_r6_r7, ts2, " at ", 0, 2d\n"
#define LOOK		"smpi r12_r13_r14_r15, ts1, ss0, r8, 0, 2d, xyzw, auto_lod, a\n"
#define SAMPLE		SAMPLE_WITH("ss0")
#define SAMPLE_WITH(sampler)							\
	"smpf r12_r13_r14_r15, ts1, " sampler ", r8, 0, 2d, xyzw, auto_lod, a\n"
/* Where a sampler of the heap is, from DATA_VA on: behind the image */
#define HEAP		0x800
/* Coordinates in r8 and r9, a texel in r4 to r7; r6 is also the heap's first sampler */
#define ORIGIN									\
	"ldimm r8, 0\nldimm r9, 0\nldimm r4, 1\nldimm r5, 1\nldimm r6, 28\nldimm r7, 1\n"
#define DRAW_TO(index)								\
	"mov r8, " index "\nldimm r9, 0\nldimm r4, 1\nldimm r5, 1\nldimm r6, 1\n"	\
	"ldimm r7, 1\n" DRAW("r8") "stop\n"

static void image_races(void **state)
{
	const char *const reaches[] = { LOOK, SAMPLE, "load r12, du0, 0, i32, x, a\n" };
	unsigned int i;

	set_images(*state, AGX_CHANNELS_R32);
	expect_silence_of(state, DRAW_TO("thread_in_grid_x"), 32, 2);
	expect_finding_of(state, DRAW_TO("thread_index_in_threadgroup"), 32, 2, "device-race",
			  ": address 0x2000000000, which another one has stored");
	expect_finding(state, DRAW_TO("thread_index_in_simdgroup"), 64, "device-race",
		       ": address 0x2000000000, which another one has stored");
	/* halves of a word */
	set_images(*state, AGX_CHANNELS_R16);
	expect_silence_of(state, DRAW_TO("thread_in_grid_x"), 1, 8);
	set_images(*state, AGX_CHANNELS_R32);
	expect_silence(state, DRAW_FOR("barrier\n", LOOK), 64);
	expect_silence(state, DRAW_FOR("barrier\n", SAMPLE), 64);
	expect_silence(state, DRAW_FOR("", LOOK SAMPLE), 32);
	for (i = 0; i < 3; i++) {
		char text[1024];

		snprintf(text, sizeof(text), DRAW_FOR("", "%s"), reaches[i]);
		expect_finding(state, text, 64, "device-race", "which another one has ");
		snprintf(text, sizeof(text), DRAW_FOR("barrier\n", "%s"), reaches[i]);
		expect_finding_of(state, text, 32, 2, "device-race", "which another one has ");
	}
}

/* Fails unless the next descriptor of the record is of this texture or image, and this sampler */
static void expect_descriptor(FILE *record, const uint8_t *state, const uint8_t *sampler)
{
	char *line = NULL, expected[256], *at = expected;
	size_t size = 0;
	unsigned int i;

	for (i = 0; i < VAGX_TEXTURE_BYTES; i++)
		at += sprintf(at, i ? "%02x" : " %02x", state[i]);
	for (i = 0; i < VAGX_SAMPLER_BYTES; i++)
		at += sprintf(at, i ? "%02x" : " %02x", sampler[i]);
	strcpy(at, "\n");
	assert_true(getline(&line, &size, record) > 0);
	/* The instruction's bytes come first. */
	assert_string_equal(strchr(line + strlen("descriptor "), ' '), expected);
	free(line);
}

/* Each instruction with each of its descriptors once; samplers of states and of the heap */
static void descriptors(void **state)
{
	char path[] = "/tmp/descriptors-XXXXXX";
	const struct vagx_sanitizer_config config = { .descriptors = path };
	const uint8_t no_sampler[VAGX_SAMPLER_BYTES] = { 0 };
	struct agx_sampler sampler = agx_sampler_default();
	int fd = mkstemp(path);
	FILE *record = fdopen(fd, "r");
	struct checked c;

	assert_non_null(record);
	checked_begin_with(&c, state, &config);
	set_images(c.f, AGX_CHANNELS_R32);
	agx_packet_pack(AGX_PACKET_sampler, c.f->launch.samplers[0], &sampler, NULL);
	sampler.magnify = AGX_FILTER_LINEAR;
	agx_packet_pack(AGX_PACKET_sampler, fixture_data + HEAP, &sampler, NULL);
	c.f->launch.sampler_heap = DATA_VA + HEAP;
	c.f->launch.sampler_count = 1;
	assert_int_equal(run_groups(c.f, ORIGIN LOOK SAMPLE_WITH("r6l") "wait a\n"
				    SAMPLE_WITH("ss0") "wait a\n" DRAW("r8") "stop\n", 32, 2), 0);
	checked_end(&c);
	expect_descriptor(record, c.f->launch.textures[1], c.f->launch.samplers[0]);
	expect_descriptor(record, c.f->launch.textures[1], fixture_data + HEAP);
	expect_descriptor(record, c.f->launch.textures[1], c.f->launch.samplers[0]);
	expect_descriptor(record, c.f->launch.textures[2], no_sampler);
	assert_int_equal(fgetc(record), EOF);
	fclose(record);
	unlink(path);
}

/* Threads of a group copy their tile to the image together */
#define COPY_TILE(n)	"ldimm r8, 0\nldimm r9, 0\nldimm r2, 0\n" COPY(n) "stop\n"
#define COPY(n)		"imgwblk r2l, ts" n ", r8, 0, explicit_coords, 2d, i32\n"
/* The second simdgroup loads a pixel that the first one has copied; @between has to order that */
#define COPY_FOR(between)							\
	"ldimm r0l, 0\nldimm r8, 0\nldimm r9, 0\nldimm r2, 0\n"			\
	"mov r5, thread_index_in_threadgroup\nif r5, 32, 1, ult\n" COPY("2")		\
	"pop_exec 1\n" between "if r5, 31, 1, ugt\n"				\
	"load r4, du0, 3, i32, x, a\nwait a\npop_exec 1\nstop\n"

static void use_tile(struct fixture *f)
{
	f->launch.shared_size = 16 * 16 * 4;
	f->launch.sample_stride = 4;
	f->launch.tile_width = f->launch.tile_height = 16;
	f->launch.tile_samples = 1;
}

static void tile_copies(void **state)
{
	struct fixture *f = *state;

	set_images(f, AGX_CHANNELS_R32);
	use_tile(f);
	expect_silence(state, COPY_TILE("2"), 64);
	expect_silence(state, COPY_TILE("3"), 64);
	expect_finding_of(state, COPY_TILE("2"), 32, 2, "device-race",
			  "address 0x2000000000, which another one has stored");
	expect_finding_of(state, COPY_TILE("3"), 32, 2, "device-race",
			  "address 0x2000000000, which another one has stored");
	expect_silence(state, COPY_FOR("barrier\n"), 64);
	expect_finding(state, COPY_FOR(""), 64, "device-race",
		       "address 0x200000000c, which another one has ");
	f->launch.shared_size = 0;
	f->launch.tile_width = 0;
}

static unsigned int pass_all(void *ctx, unsigned int lane, unsigned int samples,
			     const float *depth, const uint8_t *stencil)
{
	return samples;
}

/*
 * Runs a background program on eight quads, or a fragment shader, to which the last one is
 * discarded: helpers
 */
static void run_fragments(struct fixture *f, const char *program, bool background)
{
	static uint8_t memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];
	struct vagx_tile tile = {
		.width = 32, .height = 32, .samples = 1, .memory = memory,
	};
	struct vagx_fragments fragments = {
		.exists = 0xffffffff, .test = background ? NULL : pass_all,
	};
	unsigned int i;

	for (i = 0; i < VAGX_SIMD_WIDTH; i++) {
		fragments.x[i] = (uint16_t)(i % 2 + i / 4 * 2);
		fragments.y[i] = i / 2 % 2;
		fragments.input[i] = 1;
		fragments.live[i] = background || i < 28;
		fragments.draw[i / 4] = background ? 0 : 100 + i / 4;
	}
	f->launch.sample_stride = 8;
	fixture_code(f, program);
	assert_int_equal(vagx_core_run_fragments(f->core, &f->launch, &tile, &fragments,
						 &f->fault), 0);
}

/* The one place that is reported of a fragment shader has this name; NULL: there is none */
static void expect_of_stage(void **state, const char *program, bool background, const char *name)
{
	char start[64];
	struct checked c;

	snprintf(start, sizeof(start), "sanitizer: %s: ", name ? name : "");
	checked_begin(&c, state, NULL);
	run_fragments(c.f, program, background);
	fflush(fixture_log);
	if (vagx_sanitizer_count(c.sanitizer) != !!name || (name && !strstr(c.text, start)))
		fail_msg("%s\nexpected %s:\n%s", program, name ? name : "silence", c.text);
	checked_end(&c);
}

static void expect_of_fragments(void **state, const char *program, const char *name)
{
	expect_of_stage(state, program, false, name);
}

#define ST_TILE_PIXELS	"st_tile r4l_r4h_r5l_r5h, 0, 255, 0, u8norm, xyzw\n"
#define ST_TILE		"st_tile r4l_r4h_r5l_r5h, 0, 255, 0, u8norm, xyzw\nstop\n"
#define COLOUR		"ldimm r4, 0\nldimm r5, 0\n"

static void fragments(void **state)
{
	expect_of_fragments(state, COLOUR "pixwait 12, 0\n" ST_TILE, NULL);
	expect_of_fragments(state, COLOUR ST_TILE, "pixel-wait");
	expect_of_stage(state, COLOUR ST_TILE, true, NULL);
	expect_of_fragments(state, "ldimm r4, 0\npixwait 12, 0\n" ST_TILE, "unwritten-output");
	/* differences of a quad of which a part is active */
	expect_of_fragments(state, "ldimm r0l, 0\nmov r2, thread_in_grid_x\nif r2, 4, 1, ult\n"
			    "dfdx r3, r2\npop_exec 1\nstop\n", NULL);
	expect_of_fragments(state, "ldimm r0l, 0\nmov r2, thread_in_grid_x\nif r2, 3, 1, ult\n"
			    "dfdx r3, r2\npop_exec 1\nstop\n", "broken-quad");
	/* atomics of helper threads */
	expect_of_fragments(state, "ldimm r0l, 0\nldimm r2, 1\nmov r3l, is_active_thread\n"
			    "if r3l, 0, 1, ine\natomic r4, r2, du0, 0, add, a\npop_exec 1\nstop\n",
			    NULL);
	expect_of_fragments(state, "ldimm r2, 1\natomic r4, r2, du0, 0, add, a\nstop\n",
			    "helper-atomic");
}

#define LD_TILE		"ld_tile r4l_r4h_r5l_r5h, 0, 255, 0, u8norm, xyzw\n"
#define WAIT_FOR_PIXEL	"pixwait 12, 0\n"

/* What is in a tile: a background program, if there is one, comes before a fragment shader */
static void expect_of_tile(void **state, const char *background, const char *program,
			   const char *words)
{
	struct checked c;

	checked_begin(&c, state, NULL);
	run_fragments(c.f, background, true);
	run_fragments(c.f, program, false);
	fflush(fixture_log);
	if (vagx_sanitizer_count(c.sanitizer) != !!words || (words && !strstr(c.text, words)))
		fail_msg("%s%s\nexpected %s:\n%s", background, program, words ? words : "silence",
			 c.text);
	checked_end(&c);
}

static void tiles(void **state)
{
	const char *add = WAIT_FOR_PIXEL LD_TILE "hadd r4l, r4l, r4h\n" ST_TILE;
	const char *red = COLOUR "st_tile r4l, 0, 255, 0, u8norm, x\nstop\n";

	expect_of_tile(state, COLOUR ST_TILE, add, NULL);
	expect_of_tile(state, "stop\n", add, "unwritten-output");
	expect_of_tile(state, "stop\n", add, ": byte of the tile 0x");
	/* only what is read has to be there; a load alone is no mistake */
	expect_of_tile(state, red, add, "unwritten-output");
	expect_of_tile(state, red, WAIT_FOR_PIXEL "ld_tile r4l, 0, 255, 0, u8norm, x\n"
		       "st_tile r4l, 0, 255, 0, u8norm, x\nstop\n", NULL);
	expect_of_tile(state, "stop\n", WAIT_FOR_PIXEL LD_TILE "stop\n", NULL);
	/* a fragment after another one of its pixel */
	expect_of_tile(state, "stop\n", COLOUR WAIT_FOR_PIXEL
		       "st_tile r4l_r4h_r5l_r5h, 0, 255, 0, u8norm, xyzw\n" LD_TILE ST_TILE, NULL);
	/* another sample, or another part of it */
	expect_of_tile(state, COLOUR ST_TILE, COLOUR WAIT_FOR_PIXEL
		       "ld_tile r4l, 0, 255, 4, u8norm, x\n" ST_TILE, ": byte of the tile 0x");
	/* what was reported when it was stored is not reported again */
	expect_of_tile(state, "stop\n", "ldimm r4, 0\n" WAIT_FOR_PIXEL
		       "st_tile r4l_r4h_r5l_r5h, 0, 255, 0, u8norm, xyzw\n" LD_TILE ST_TILE,
		       ": register r5l");
}

/* Threads that are discarded store nothing, and the next tile has nothing of the last one */
static void tile_begins(void **state)
{
	const char *add = WAIT_FOR_PIXEL LD_TILE "hadd r4l, r4l, r4h\n" ST_TILE;
	struct checked c;

	checked_begin(&c, state, NULL);
	run_fragments(c.f, COLOUR WAIT_FOR_PIXEL ST_TILE, false);
	run_fragments(c.f, add, false);
	assert_int_equal(vagx_sanitizer_count(c.sanitizer), 0);
	run_fragments(c.f, add, true);
	assert_int_equal(vagx_sanitizer_count(c.sanitizer), 1);
	checked_end(&c);

	checked_begin(&c, state, NULL);
	run_fragments(c.f, COLOUR ST_TILE, true);
	vagx_core_begin_tile(c.f->core);
	run_fragments(c.f, add, false);
	assert_int_equal(vagx_sanitizer_count(c.sanitizer), 1);
	checked_end(&c);
}

/* Local memory as a tile, of each threadgroup its own */
#define TO_TILE		"st_tile r4, r1l_r1h, 1, 0, explicit_coords, i32, x\n"
#define FROM_TILE	"ld_tile r10, 0, 1, 0, i32, x\nstore r10, du0, r2, i32, x, a\n"

static void kernel_tiles(void **state)
{
	struct fixture *f = *state;

	use_tile(f);
	expect_silence(state, LANE "ldimm r1, 0\nldimm r4, 5\n" TO_TILE FROM_TILE "stop\n", 32);
	expect_finding(state, LANE "ldimm r1, 0\n" TO_TILE FROM_TILE "stop\n", 32,
		       "unwritten-output", ": byte of the tile 0x");
	expect_finding_of(state, LANE "ldimm r0l, 0\nldimm r1, 0\nldimm r4, 5\n"
			  "mov r3, threadgroup_in_grid_x\nif r3, 0, 1, ieq\n" TO_TILE
			  "else 0.0, 0.0, 1, feq\n" FROM_TILE "pop_exec 1\nstop\n", 32, 2,
			  "unwritten-output", ": byte of the tile 0x");
	f->launch.shared_size = 0;
	f->launch.tile_width = 0;
}

static void uniforms(void **state)
{
	expect_silence(state, LANE "mov r3, u2\nstore r3, du0, r2, i32, x, a\nstop\n", 32);
	expect_silence(state, LANE "mov r3, u40\nstop\n", 32);
	expect_finding(state, LANE "mov r3, u40\nstore r3, du0, r2, i32, x, a\nstop\n", 32,
		       "unwritten-output", ": uniform u40");
	expect_finding(state, LANE "store r2, du20, r2, i32, x, a\nstop\n", 32,
		       "unwritten-address", ": uniform u2");
}

/* Pages belong to buffers up to their middle */
static unsigned int half_a_page(void *ctx, const void *page)
{
	return VAGX_UAT_PAGE_SIZE / 2;
}

static void bounds(void **state)
{
	const char *const programs[] = {
		"ldimm r2, 2046\nload r3_r4, du0, r2, i32, xy, a\nwait a\nstop\n",
		"ldimm r2, 2046\nload r3_r4_r5, du0, r2, i32, xyz, a\nwait a\nstop\n",
		"ldimm r2, 2048\nstore r2, du0, r2, i32, x, a\nstop\n",
	};
	const struct vagx_sanitizer_config config = { .check = true, .page_bytes = half_a_page };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct checked c;
		struct vagx_core_config core;

		checked_begin(&c, state, NULL);
		vagx_core_free(c.f->core);
		vagx_sanitizer_free(c.sanitizer);
		c.sanitizer = vagx_sanitizer_new(&config, NULL);
		core = c.f->config;
		core.sanitizer = c.sanitizer;
		c.f->core = vagx_core_new(&core);
		assert_int_equal(fixture_run(c.f, programs[i], 1), 0);
		fflush(fixture_log);
		if (vagx_sanitizer_count(c.sanitizer) != !!i ||
		    (i && !strstr(c.text, "out-of-bounds: ")))
			fail_msg("%s\n%s", programs[i], c.text);
		checked_end(&c);
	}
}

static void barriers(void **state)
{
	expect_silence(state, "barrier\nstop\n", 64);
	expect_finding(state, "ldimm r0l, 0\n" LANE "if r2, 16, 1, ult\nbarrier\npop_exec 1\n"
		       "stop\n", 32, "divergent-barrier", "0xffff of 0xffffffff");
	/* a whole simdgroup does not reach it, but has ended */
	expect_finding(state, "ldimm r0l, 0\n" LANE "if r2, 32, 1, ult\njmp_none out\nbarrier\n"
		       "out:\npop_exec 1\nstop\n", 64, "missed-barrier", ": simdgroup 1 has ended");
	expect_finding(state, "ldimm r0l, 0\n" LANE "if r2, 32, 1, ult\njmp_none out\nbarrier\n"
		       "out:\npop_exec 1\nif r2, 31, 1, ugt\njmp_none end\nbarrier\n"
		       "end:\npop_exec 1\nstop\n", 64, "missed-barrier", ": simdgroup 1 waits at 0x");
}

/* Reports name the launch, or the draw of the fragment, and the job */
static void launches(void **state)
{
	const char *wrong = LANE "load r3, du0, r2, i32, x, a\n"
			    "store r3, du0, r2, i32, x, a\nstop\n";
	struct fixture *f = *state;

	f->launch.job = 5;
	expect_finding(state, wrong, 32, "pending-read", "r3l, of group a\n in job 5\n thread: ");
	f->launch.number = 7;
	expect_finding(state, wrong, 32, "pending-read",
		       "\n in launch 7 of job 5\n thread: 0, 0, 0");
	/* of the quads of a fragment shader each has a draw of its own */
	expect_of_tile(state, COLOUR ST_TILE, "mov r2, thread_in_grid_x\nldimm r0l, 0\n"
		       "if r2, 4, 1, ieq\n" COLOUR ST_TILE_PIXELS "pop_exec 1\nstop\n",
		       "\n in draw 102 of job 5\n thread: pixel 4, 0 of layer 0");
}

/* One report for each place, with the instructions around; the summary counts */
static void places(void **state)
{
	const char *wrong = LANE "load r3, du0, r2, i32, x, a\nwait a\niadd r4, ^r2, 0\n"
			    "iadd r4, r2, 0\niadd r5, r2, 0\nstop\n";
	struct checked c;
	unsigned int i;

	checked_begin(&c, state, NULL);
	fixture_code(c.f, wrong);
	for (i = 0; i < 3; i++)
		assert_int_equal(fixture_run_again(c.f, 32), 0);
	assert_int_equal(vagx_sanitizer_count(c.sanitizer), 2);
	checked_summarize(&c);
	fclose(fixture_log);
	fixture_log = NULL;
	assert_non_null(strstr(c.text, "thread: 0, 0, 0 of threadgroup 0, 0, 0"));
	assert_non_null(strstr(c.text, "-> "));
	assert_non_null(strstr(c.text, "summary: 6 times: discarded-read"));
	free(c.text);
}

static void write_file(char name[], const char *text)
{
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void suppressions(void **state)
{
	const char *wrong = LANE "iadd r3, ^r2, 0\niadd r4, r2, 0\nstop\n";
	const char *const names[] = {
		"# nothing\n* * any\n", "discarded-read * a reason\n", "pending-read * another\n",
	};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		char name[] = "/tmp/sanitizer-XXXXXX";
		struct checked c;

		write_file(name, names[i]);
		checked_begin(&c, state, name);
		unlink(name);
		assert_int_equal(fixture_run(c.f, wrong, 32), 0);
		assert_int_equal(vagx_sanitizer_count(c.sanitizer), i == 2);
		checked_end(&c);
	}
}

/* Lines that are wrong name the file, the line and what was expected */
static void wrong_suppressions(void **state)
{
	const char *const lines[] = {
		"\n*\n", "\nno-kind * reason\n", "\n* *\n", "\n* 12z reason\n", "\n* 12+z reason\n",
	};
	struct vagx_sanitizer_config config = { .check = true };
	size_t size;
	char *text;
	unsigned int i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char name[] = "/tmp/sanitizer-XXXXXX";

		write_file(name, lines[i]);
		config.suppressions = name;
		fixture_log = open_memstream(&text, &size);
		assert_null(vagx_sanitizer_new(&config, NULL));
		assert_int_equal(errno, EINVAL);
		fclose(fixture_log);
		fixture_log = NULL;
		unlink(name);
		assert_non_null(strstr(text, name));
		assert_non_null(strstr(text, ":2: expected KIND SHADER"));
		free(text);
	}
	config.suppressions = "/nonexistent";
	assert_null(vagx_sanitizer_new(&config, NULL));
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(waits),
		TEST(overwrites),
		TEST(divergent_waits),
		TEST(last_uses),
		TEST(unwritten_registers),
		TEST(unwritten_memory),
		TEST(ends),
		TEST(stacks),
		TEST(local_races),
		TEST(device_races),
		TEST(device_rows),
		TEST(device_launches),
		TEST(device_memory),
		TEST(image_races),
		TEST(descriptors),
		TEST(tile_copies),
		TEST(barriers),
		TEST(fragments),
		TEST(tiles),
		TEST(tile_begins),
		TEST(kernel_tiles),
		TEST(uniforms),
		TEST(bounds),
		TEST(launches),
		TEST(places),
		TEST(suppressions),
		TEST(wrong_suppressions),
	};

	return cmocka_run_group_tests_name("sanitizer", tests, NULL, NULL);
}
