// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of when stamps are looked at.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/time64.h>

#include "asahi_timeline.h"

#define OFTEN	NSEC_PER_MSEC
#define SELDOM	(128 * NSEC_PER_MSEC)

/* Nobody else looks for jobs of which the firmware does not tell. */
static void looks_often_for_untold_jobs(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(OFTEN, true, false), OFTEN);
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(OFTEN, true, true), OFTEN);
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(SELDOM, true, false), OFTEN);
}

static void looks_less_often_if_there_is_nothing(struct kunit *test)
{
	u64 ns = OFTEN, next;

	for (unsigned int i = 0; i < 7; i++) {
		next = asahi_timeline_next_look(ns, false, false);
		KUNIT_EXPECT_EQ(test, next, 2 * ns);
		ns = next;
	}
	KUNIT_EXPECT_EQ(test, ns, SELDOM);
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(ns, false, false), SELDOM);
}

/* The firmware has not told of it, and may not tell of the next one. */
static void looks_often_after_a_find(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(SELDOM, false, true), OFTEN);
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(OFTEN, false, true), OFTEN);
}

static struct kunit_case timeline_cases[] = {
	KUNIT_CASE(looks_often_for_untold_jobs),
	KUNIT_CASE(looks_less_often_if_there_is_nothing),
	KUNIT_CASE(looks_often_after_a_find),
	{}
};

static struct kunit_suite timeline_suite = {
	.name = "asahi_timeline",
	.test_cases = timeline_cases,
};

kunit_test_suite(timeline_suite);
