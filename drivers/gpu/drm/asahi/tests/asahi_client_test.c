// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the arithmetic of engine times.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/ktime.h>
#include <linux/prandom.h>

#include "asahi_client.h"

static void expect_times(struct kunit *test, struct asahi_work_times times, u64 start, u64 end)
{
	KUNIT_EXPECT_EQ(test, times.start, start);
	KUNIT_EXPECT_EQ(test, times.end, end);
}

static void times_are_the_firmwares(struct kunit *test)
{
	expect_times(test, asahi_client_times(120, 150, 100, 200), 120, 150);
	expect_times(test, asahi_client_times(100, 200, 100, 200), 100, 200);
}

static void times_of_work_that_runs(struct kunit *test)
{
	/* Not started, started, ended. */
	expect_times(test, asahi_client_times(0, 0, 100, 200), 0, 0);
	expect_times(test, asahi_client_times(120, 0, 100, 200), 120, 200);
	/* Preempted at 150, started again at 170. */
	expect_times(test, asahi_client_times(170, 150, 100, 200), 170, 200);
}

static void times_of_a_bad_clock(struct kunit *test)
{
	/* Behind, ahead, both, and not moving. */
	expect_times(test, asahi_client_times(20, 150, 100, 200), 100, 150);
	expect_times(test, asahi_client_times(120, 900, 100, 200), 120, 200);
	expect_times(test, asahi_client_times(1, U64_MAX, 100, 200), 100, 200);
	expect_times(test, asahi_client_times(900, 950, 100, 200), 200, 200);
	expect_times(test, asahi_client_times(20, 20, 100, 200), 100, 100);
	expect_times(test, asahi_client_times(20, 30, 100, 100), 100, 100);
}

static void span_counts_overlap_once(struct kunit *test)
{
	struct asahi_span span = {};

	asahi_span_add(&span, 100, 200);
	KUNIT_EXPECT_EQ(test, span.total, 100);
	asahi_span_add(&span, 100, 200);
	asahi_span_add(&span, 120, 180);
	KUNIT_EXPECT_EQ(test, span.total, 100);
	asahi_span_add(&span, 150, 250);
	KUNIT_EXPECT_EQ(test, span.total, 150);
	asahi_span_add(&span, 250, 250);
	asahi_span_add(&span, 260, 250);
	KUNIT_EXPECT_EQ(test, span.total, 150);
}

static void span_takes_any_order(struct kunit *test)
{
	struct asahi_span span = {};

	/* Long work ends after short work that began later. */
	asahi_span_add(&span, 150, 180);
	asahi_span_add(&span, 190, 195);
	asahi_span_add(&span, 100, 200);
	KUNIT_EXPECT_EQ(test, span.total, 100);

	/* A gap is filled from both sides, then in its middle. */
	asahi_span_add(&span, 300, 400);
	asahi_span_add(&span, 190, 220);
	asahi_span_add(&span, 280, 310);
	asahi_span_add(&span, 240, 250);
	KUNIT_EXPECT_EQ(test, span.total, 250);
	asahi_span_add(&span, 0, 400);
	KUNIT_EXPECT_EQ(test, span.total, 400);
}

static void span_gives_up_old_gaps(struct kunit *test)
{
	struct asahi_span span = {};
	u64 n;

	for (n = 0; n < 4 * ASAHI_SPAN_GAPS; n++)
		asahi_span_add(&span, 10 * n + 5, 10 * n + 10);
	KUNIT_EXPECT_EQ(test, span.gaps, ASAHI_SPAN_GAPS);
	KUNIT_EXPECT_EQ(test, span.total, 5 * n);

	/* What is forgotten is not counted twice. */
	asahi_span_add(&span, 0, 10 * n);
	KUNIT_EXPECT_EQ(test, span.total, 5 * n + 5 * ASAHI_SPAN_GAPS);
}

#define TICKS 256

/* Against a map of all ticks, as long as no gap has to be given up. */
static void span_is_the_union(struct kunit *test)
{
	struct rnd_state rnd;
	u8 covered[TICKS];
	u64 expected;

	prandom_seed_state(&rnd, 5);
	for (unsigned int round = 0; round < 200; round++) {
		struct asahi_span span = {};

		memset(covered, 0, sizeof(covered));
		for (unsigned int n = 0; n < ASAHI_SPAN_GAPS; n++) {
			unsigned int start = prandom_u32_state(&rnd) % TICKS;
			unsigned int end = prandom_u32_state(&rnd) % TICKS;

			if (start < end)
				memset(covered + start, 1, end - start);
			asahi_span_add(&span, start, end);
		}

		expected = 0;
		for (unsigned int n = 0; n < TICKS; n++)
			expected += covered[n];
		KUNIT_EXPECT_EQ(test, span.total, expected);
	}
}

static void few_failures_are_forgiven(struct kunit *test)
{
	struct asahi_guilt guilt = {};
	ktime_t now = 0;

	/* As many as may be in an interval, again and again. */
	for (unsigned int i = 0; i < 10 * ASAHI_GUILT_MAX; i++) {
		asahi_guilt_note(&guilt, now);
		KUNIT_EXPECT_FALSE(test, asahi_guilt_barred(&guilt, now));
		now = ktime_add_ms(now, ASAHI_GUILT_MS / ASAHI_GUILT_MAX);
	}
}

static void many_failures_are_barred_for_a_while(struct kunit *test)
{
	struct asahi_guilt guilt = {};
	ktime_t now = ms_to_ktime(1000);

	for (unsigned int i = 0; i < ASAHI_GUILT_MAX; i++)
		asahi_guilt_note(&guilt, now);
	KUNIT_EXPECT_FALSE(test, asahi_guilt_barred(&guilt, now));
	now = ktime_add_ms(now, ASAHI_GUILT_MS - 1);
	asahi_guilt_note(&guilt, now);
	KUNIT_EXPECT_TRUE(test, asahi_guilt_barred(&guilt, now));
	KUNIT_EXPECT_TRUE(test, asahi_guilt_barred(&guilt, ktime_add_ms(now, ASAHI_GUILT_MS - 1)));
	KUNIT_EXPECT_FALSE(test, asahi_guilt_barred(&guilt, ktime_add_ms(now, ASAHI_GUILT_MS)));

	/* It begins anew. */
	now = ktime_add_ms(now, ASAHI_GUILT_MS);
	asahi_guilt_note(&guilt, now);
	KUNIT_EXPECT_FALSE(test, asahi_guilt_barred(&guilt, now));
}

static struct kunit_case asahi_client_cases[] = {
	KUNIT_CASE(few_failures_are_forgiven),
	KUNIT_CASE(many_failures_are_barred_for_a_while),
	KUNIT_CASE(times_are_the_firmwares),
	KUNIT_CASE(times_of_work_that_runs),
	KUNIT_CASE(times_of_a_bad_clock),
	KUNIT_CASE(span_counts_overlap_once),
	KUNIT_CASE(span_takes_any_order),
	KUNIT_CASE(span_gives_up_old_gaps),
	KUNIT_CASE(span_is_the_union),
	{ }
};

static struct kunit_suite asahi_client_suite = {
	.name = "asahi_client",
	.test_cases = asahi_client_cases,
};

kunit_test_suite(asahi_client_suite);
