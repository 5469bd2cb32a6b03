// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What lint finds in programs with one mistake each, and that it finds nothing in the right form of
 * each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_lint.h"

#define MAX_FINDINGS	8

/* What was found: kinds, in the order of findings */
struct found {
	enum agx_lint_kind kind[MAX_FINDINGS];
	unsigned int half[MAX_FINDINGS];
	size_t offset[MAX_FINDINGS];
	unsigned int count;
};

static void keep(void *ctx, const struct agx_lint_finding *finding)
{
	struct found *found = ctx;

	assert_true(found->count < MAX_FINDINGS);
	found->kind[found->count] = finding->kind;
	found->half[found->count] = finding->half;
	found->offset[found->count++] = finding->offset;
}

static void look_at_bytes(struct found *found, const uint8_t *code, size_t size,
			  unsigned int registers)
{
	const struct agx_lint lint = {
		.registers = registers, .unwritten = true, .report = keep, .ctx = found,
	};
	int count;

	found->count = 0;
	count = agx_lint_code(&lint, code, size);
	assert_int_equal(count, found->count);
}

static void look_at(struct found *found, const char *text, unsigned int registers)
{
	struct agx_program program;

	if (agx_isa_assemble(text, "program", &program, stderr))
		fail_msg("%s: can't be assembled", text);
	look_at_bytes(found, program.code, program.size, registers);
	free(program.code);
}

static void expect_nothing(const char *text)
{
	struct found found;

	look_at(&found, text, 0);
	if (found.count)
		fail_msg("%s: at 0x%zx: %s", text, found.offset[0],
			 agx_lint_text(found.kind[0]));
}

/* The one finding of a program is of that kind, about that 16-bit register */
static void expect(const char *text, enum agx_lint_kind kind, unsigned int half)
{
	struct found found;

	look_at(&found, text, 0);
	if (found.count != 1 || found.kind[0] != kind || found.half[0] != half)
		fail_msg("%s: %u findings, the first: %s, half %u", text, found.count,
			 found.count ? agx_lint_text(found.kind[0]) : "none", found.half[0]);
}

#define LOAD_A	"load r2, du0, 0, i32, x, a\n"
#define LOAD_B	"load r2, du0, 0, i32, x, b\n"
#define ADD	"iadd r4, r2, 1\n"

/* Looks from an offset on at code of which one place is not known */
static unsigned int look_from(const char *text, size_t entry, size_t unknown)
{
	struct agx_program program;
	struct found found = { 0 };
	uint8_t known[64];
	int findings;
	struct agx_lint lint = {
		.unwritten = false, .entry = entry, .known = known, .report = keep, .ctx = &found,
	};

	if (agx_isa_assemble(text, "program", &program, stderr))
		fail_msg("%s: can't be assembled", text);
	assert_in_range(program.size, 1, 128);
	memset(known, 1, sizeof(known));
	known[unknown / 2] = 0;
	findings = agx_lint_code(&lint, program.code, program.size);
	assert_int_equal(findings, found.count);
	free(program.code);
	return found.count;
}

/* Paths begin at the entry, and end without a finding where the code is not known */
static void parts_of_code(void **state)
{
	/* the store is at 0, the entry at 10, the load at 16, the jump back behind it */
	static const char back[] = "first: store r2, du0, 1, i32, x, a\nstop\n"
				   "ldimm r3, 7\n" LOAD_A "jmp_any first\nstop\n";

	(void)state;
	assert_int_equal(look_from(back, 0, 126), 0);
	assert_int_equal(look_from(back, 10, 126), 1);
	/* the store is not known, nor the load, nor is the jump */
	assert_int_equal(look_from(back, 10, 0), 0);
	assert_int_equal(look_from(back, 10, 16), 0);
	assert_int_equal(look_from(back, 10, 24), 0);
	/* there may be more code behind this */
	assert_int_equal(look_from(LOAD_A, 0, 126), 0);
	assert_int_equal(look_from(LOAD_A "jmp_any 2000\n", 0, 126), 0);
	assert_int_equal(look_from(LOAD_A "jmp_any -2000\n", 0, 126), 0);
}

static void waits(void **state)
{
	(void)state;
	expect_nothing(LOAD_A "wait a\n" ADD "stop\n");
	expect_nothing(LOAD_B "wait b\n" ADD "stop\n");
	expect(LOAD_A ADD "wait a\nstop\n", AGX_LINT_READS_PENDING, 4);
	expect(LOAD_A "wait b\n" ADD "stop\n", AGX_LINT_READS_PENDING, 4);
	expect(LOAD_B "wait a\n" ADD "stop\n", AGX_LINT_READS_PENDING, 4);
	/* a half of it, or one of several */
	expect(LOAD_A "iadd r4, r2h, 1\nstop\n", AGX_LINT_READS_PENDING, 5);
	expect("load r2_r3, du0, 0, i32, xy, a\niadd r4, r3, 1\nstop\n",
	       AGX_LINT_READS_PENDING, 6);
	/* addresses and what is stored */
	expect(LOAD_A "store r2, du0, 1, i32, x, a\nstop\n", AGX_LINT_READS_PENDING, 4);
	expect(LOAD_A "load r6, du0, r2, i32, x, a\nwait a\nstop\n", AGX_LINT_READS_PENDING, 4);
	/* atomics give their result as late */
	expect("ldimm r2, 1\natomic r4, r2, du0, 0, add, a\niadd r6, r4, 1\nstop\n",
	       AGX_LINT_READS_PENDING, 8);
	/* another register, and none */
	expect_nothing("ldimm r6, 1\n" LOAD_A "iadd r4, r6, 1\nwait a\nstop\n");
	expect_nothing(LOAD_A "stop\n");
}

static void writes(void **state)
{
	(void)state;
	expect(LOAD_A "ldimm r2, 0\nwait a\nstop\n", AGX_LINT_WRITES_PENDING, 4);
	expect(LOAD_A LOAD_B "wait a\nwait b\nstop\n", AGX_LINT_WRITES_PENDING, 4);
	/* loads of one group write one after the other */
	expect_nothing(LOAD_A LOAD_A "wait a\n" ADD "stop\n");
	expect_nothing(LOAD_A "wait a\nldimm r2, 0\n" ADD "stop\n");
}

/* Results that are more than what the mask says */
static void larger_results(void **state)
{
	(void)state;
	/* residency behind the channels, and all channels of a packed format */
	expect("ldimm r2, 0\nldimm r3, 0\nsmpf r4_r5_r6_r7, ts0, ss0, r2, 0, sparse, 2d, xyzw, auto_lod, a\n"
	       "iadd r12, r8, 1\nstop\n", AGX_LINT_READS_PENDING, 16);
	expect("load r2, du0, 0, rgb10a2, x, a\niadd r6, r5, 1\nstop\n",
	       AGX_LINT_READS_PENDING, 10);
	expect("load r2, du0, 0, rgb9e5, x, a\niadd r6, r4, 1\nstop\n",
	       AGX_LINT_READS_PENDING, 8);
	expect("load r12, du0, 0, rgb9e5, x, a\nwait a\niadd r6, r15, 1\nstop\n",
	       AGX_LINT_READS_UNWRITTEN, 30);
}

static void last_uses(void **state)
{
	(void)state;
	expect("ldimm r2, 0\niadd r4, ^r2, 1\niadd r4, r2, 1\nstop\n",
	       AGX_LINT_READS_DISCARDED, 4);
	expect_nothing("ldimm r2, 0\niadd r4, r2, 1\niadd r4, ^r2, 1\nstop\n");
	expect_nothing("ldimm r2, 0\niadd r2, ^r2, 1\niadd r4, r2, 1\nstop\n");
	expect_nothing("ldimm r2, 0\niadd r4, ^r2, r2\nstop\n");
	/* other threads read it in the other branch */
	expect_nothing("ldimm r0l, 0\nldimm r2, 0\nif r2, 1, 1, ult\niadd r4, ^r2, 1\n"
		       "else r2, r2, 1, ieq\niadd r4, ^r2, 2\npop_exec 1\nstop\n");
	expect("ldimm r0l, 0\nldimm r2, 0\nif r2, 1, 1, ult\niadd r4, ^r2, 1\n"
	       "iadd r4, r2, 1\npop_exec 1\nstop\n", AGX_LINT_READS_DISCARDED, 4);
	/* of an image's channels only the first one is there in every format */
	expect_nothing("ldimm r4, 0\nldimm r5, 0\nldimm r8, 0\nldimm r9, 0\niadd r10, ^r5, 1\n"
		       "imgw r4_r5_r6_r7, ts1, r8, 0, 2d\nstop\n");
	expect("ldimm r4, 0\nldimm r8, 0\nldimm r9, 0\niadd r10, ^r4, 1\n"
	       "imgw r4_r5_r6_r7, ts1, r8, 0, 2d\nstop\n", AGX_LINT_READS_DISCARDED, 8);
}

static void unwritten(void **state)
{
	(void)state;
	expect(ADD "stop\n", AGX_LINT_READS_UNWRITTEN, 4);
	expect("ldimm r2l, 0\n" ADD "stop\n", AGX_LINT_READS_UNWRITTEN, 5);
	/* on one path is enough */
	expect_nothing("ldimm r0l, 0\nldimm r6, 0\nif r6, 1, 1, ult\nldimm r2, 1\n"
		       "pop_exec 1\n" ADD "stop\n");
	/* what a vertex shader finds there */
	expect_nothing("iadd r4, r5, r6\nstop\n");
}

/* A wait in the loop serves what was loaded before it, but only once */
static void loops(void **state)
{
	(void)state;
	expect_nothing("ldimm r0l, 0\nldimm r3, 0\n"
		       LOAD_A "wait a\n" ADD "iadd r3, r3, 1\n"
		       "while r3, 9, 2, ult\njmp_any -32\npop_exec 2\nstop\n");
	expect("ldimm r0l, 0\nldimm r3, 0\nldimm r2, 0\n"
	       ADD LOAD_A "iadd r3, r3, 1\n"
	       "while r3, 9, 2, ult\njmp_any -30\npop_exec 2\nstop\n",
	       AGX_LINT_READS_PENDING, 4);
}

static void code(void **state)
{
	static const uint8_t unknown[] = { 0xff, 0xff, 0xff, 0xff };
	struct found found;

	(void)state;
	expect("ldimm r2, 0\n", AGX_LINT_RUNS_OUT, 0);
	expect("ldimm r0l, 0\njmp_any 1000\nstop\n", AGX_LINT_TARGET, 0);
	expect("ldimm r0l, 0\njmp_any -1000\nstop\n", AGX_LINT_TARGET, 0);
	look_at_bytes(&found, unknown, sizeof(unknown), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.kind[0], AGX_LINT_UNKNOWN);
	look_at_bytes(&found, unknown, 0, 0);
	assert_int_equal(found.count, 1);
	/* behind the stop anything can be */
	expect_nothing("stop\ntrap\n");
	look_at(&found, "ldimm r3, 0\nldimm r4, 0\nstop\n", 8);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.kind[0], AGX_LINT_REGISTER);
	assert_int_equal(found.half[0], 8);
}

static void forget(void *ctx, const struct agx_lint_finding *finding)
{
	unsigned int *count = ctx;

	assert_true(finding->kind < AGX_LINT_KINDS);
	(*count)++;
}

/* Any bytes are looked at in bounded time, and nothing is read behind them */
static void any_bytes(void **state)
{
	unsigned int i, k, count;
	uint8_t *bytes;
	int findings;

	(void)state;
	srandom(1);
	for (i = 0; i < 3000; i++) {
		const struct agx_lint lint = { .report = forget, .ctx = &count };
		size_t size = (size_t)random() % 40;

		bytes = malloc(size ? size : 1);
		assert_non_null(bytes);
		for (k = 0; k < size; k++)
			bytes[k] = (uint8_t)(random() >> 8);
		count = 0;
		findings = agx_lint_code(&lint, bytes, size);
		assert_int_equal(findings, count);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits),
		cmocka_unit_test(parts_of_code),
		cmocka_unit_test(writes),
		cmocka_unit_test(larger_results),
		cmocka_unit_test(last_uses),
		cmocka_unit_test(unwritten),
		cmocka_unit_test(loops),
		cmocka_unit_test(code),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests_name("lint", tests, NULL, NULL);
}
