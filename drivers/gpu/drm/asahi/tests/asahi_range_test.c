// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of ranges of addresses, and of short lists of them.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/bitmap.h>
#include <linux/prandom.h>

#include "asahi_range.h"

static void neighbours_are_one(struct kunit *test)
{
	struct asahi_ranges ranges = { };

	asahi_ranges_add(&ranges, 10, 20);
	asahi_ranges_add(&ranges, 20, 30);
	asahi_ranges_add(&ranges, 5, 10);
	asahi_ranges_add(&ranges, 12, 14);
	KUNIT_ASSERT_EQ(test, ranges.count, 1);
	KUNIT_EXPECT_EQ(test, ranges.range[0].start, 5);
	KUNIT_EXPECT_EQ(test, ranges.range[0].end, 30);

	asahi_ranges_add(&ranges, 31, 32);
	KUNIT_EXPECT_EQ(test, ranges.count, 2);
	KUNIT_EXPECT_FALSE(test, ranges.merged);
}

static void borders(struct kunit *test)
{
	struct asahi_ranges ranges = { };

	KUNIT_EXPECT_FALSE(test, asahi_ranges_meet(&ranges, 0, U64_MAX));
	asahi_ranges_add(&ranges, 10, 20);
	asahi_ranges_add(&ranges, 40, 50);
	KUNIT_EXPECT_FALSE(test, asahi_ranges_meet(&ranges, 0, 10));
	KUNIT_EXPECT_TRUE(test, asahi_ranges_meet(&ranges, 0, 11));
	KUNIT_EXPECT_TRUE(test, asahi_ranges_meet(&ranges, 19, 21));
	KUNIT_EXPECT_FALSE(test, asahi_ranges_meet(&ranges, 20, 40));
	KUNIT_EXPECT_TRUE(test, asahi_ranges_meet(&ranges, 30, 41));
	KUNIT_EXPECT_TRUE(test, asahi_ranges_meet(&ranges, 45, 46));
	KUNIT_EXPECT_FALSE(test, asahi_ranges_meet(&ranges, 50, 60));
}

/* The one range that is left reaches over all there were, in whatever order they came. */
static void more_than_fit(struct kunit *test)
{
	static const u64 start[ASAHI_RANGES_MAX + 1] = { 50, 20, 90, 40, 70, 10, 60, 30, 80 };
	struct asahi_ranges ranges = { };
	unsigned int i;

	for (i = 0; i < ASAHI_RANGES_MAX; i++)
		asahi_ranges_add(&ranges, start[i], start[i] + 5);
	KUNIT_EXPECT_EQ(test, ranges.count, ASAHI_RANGES_MAX);
	KUNIT_EXPECT_FALSE(test, ranges.merged);

	asahi_ranges_add(&ranges, start[i], start[i] + 5);
	KUNIT_EXPECT_TRUE(test, ranges.merged);
	KUNIT_ASSERT_EQ(test, ranges.count, 1);
	KUNIT_EXPECT_EQ(test, ranges.range[0].start, 10);
	KUNIT_EXPECT_EQ(test, ranges.range[0].end, 95);

	asahi_ranges_add(&ranges, 200, 201);
	KUNIT_ASSERT_EQ(test, ranges.count, 1);
	KUNIT_EXPECT_EQ(test, ranges.range[0].start, 10);
	KUNIT_EXPECT_EQ(test, ranges.range[0].end, 201);
}

#define BITS		512
#define ROUNDS		2000

/* No address that was added is ever lost; until they are merged, none is added. */
static void nothing_is_lost(struct kunit *test)
{
	DECLARE_BITMAP(model, BITS);
	struct rnd_state rnd;
	unsigned int bad = 0;

	prandom_seed_state(&rnd, 17);
	for (unsigned int round = 0; round < ROUNDS && !bad; round++) {
		struct asahi_ranges ranges = { };
		unsigned int count = 1 + prandom_u32_state(&rnd) % 16;

		bitmap_zero(model, BITS);
		while (count--) {
			u32 start = prandom_u32_state(&rnd) % (BITS - 8);
			u32 size = 1 + prandom_u32_state(&rnd) % 8;

			bitmap_set(model, start, size);
			asahi_ranges_add(&ranges, start, start + size);
		}

		for (unsigned int i = 0; i < BITS; i++) {
			bool in = asahi_ranges_meet(&ranges, i, i + 1);

			bad += test_bit(i, model) ? !in : in && !ranges.merged;
		}
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
}

static void disjoint(struct kunit *test)
{
	struct asahi_range apart[] = { { 40, 50 }, { 10, 20 }, { 20, 30 }, { 0, 10 } };
	struct asahi_range equal[] = { { 40, 50 }, { 10, 20 }, { 40, 50 } };
	struct asahi_range within[] = { { 90, 95 }, { 10, 80 }, { 20, 30 } };
	struct asahi_range edge[] = { { 20, 30 }, { 0, 5 }, { 10, 21 } };

	KUNIT_EXPECT_TRUE(test, asahi_ranges_disjoint(apart, 0));
	KUNIT_EXPECT_TRUE(test, asahi_ranges_disjoint(apart, 1));
	KUNIT_EXPECT_TRUE(test, asahi_ranges_disjoint(apart, ARRAY_SIZE(apart)));
	KUNIT_EXPECT_FALSE(test, asahi_ranges_disjoint(equal, ARRAY_SIZE(equal)));
	KUNIT_EXPECT_FALSE(test, asahi_ranges_disjoint(within, ARRAY_SIZE(within)));
	KUNIT_EXPECT_FALSE(test, asahi_ranges_disjoint(edge, ARRAY_SIZE(edge)));
}

static struct kunit_case range_cases[] = {
	KUNIT_CASE(neighbours_are_one),
	KUNIT_CASE(borders),
	KUNIT_CASE(more_than_fit),
	KUNIT_CASE(nothing_is_lost),
	KUNIT_CASE(disjoint),
	{}
};

static struct kunit_suite range_suite = {
	.name = "asahi_range",
	.test_cases = range_cases,
};

kunit_test_suite(range_suite);
