// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of how long a job may take.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/ktime.h>

#include "asahi_timeline.h"

static s64 waited_at(struct asahi_timeline *timeline, u64 run_ms, u64 before, u64 now_ms)
{
	return asahi_timeline_waited_ms(timeline, ms_to_ktime(run_ms), before,
					ms_to_ktime(now_ms));
}

static void waits_since_its_turn(struct kunit *test)
{
	struct asahi_timeline timeline = {};

	KUNIT_EXPECT_EQ(test, waited_at(&timeline, 1000, 0, 1000), 0);
	KUNIT_EXPECT_EQ(test, waited_at(&timeline, 1000, 0, 51000), 50000);
}

static void waits_since_the_job_before(struct kunit *test)
{
	struct asahi_timeline timeline = { .retired = ms_to_ktime(30000) };

	KUNIT_EXPECT_EQ(test, waited_at(&timeline, 1000, 0, 51000), 21000);
	KUNIT_EXPECT_EQ(test, waited_at(&timeline, 40000, 0, 51000), 11000);
}

/* As long as there is work of a higher priority, it is not lost but waits. */
static void waits_behind_higher_priorities(struct kunit *test)
{
	struct asahi_timeline timeline = {};
	unsigned int i;

	for (i = 1; i <= 100; i++)
		KUNIT_EXPECT_EQ(test, waited_at(&timeline, 1000, i, 1000 + i * 10000), 0);

	/* Then there is none any more. */
	KUNIT_EXPECT_EQ(test, waited_at(&timeline, 1000, 100, 1011000), 10000);
	KUNIT_EXPECT_EQ(test, waited_at(&timeline, 1000, 100, 1041000), 40000);
}

static struct kunit_case asahi_timeline_cases[] = {
	KUNIT_CASE(waits_since_its_turn),
	KUNIT_CASE(waits_since_the_job_before),
	KUNIT_CASE(waits_behind_higher_priorities),
	{ }
};

static struct kunit_suite asahi_timeline_suite = {
	.name = "asahi_timeline",
	.test_cases = asahi_timeline_cases,
};

kunit_test_suite(asahi_timeline_suite);
