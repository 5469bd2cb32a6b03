// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of module parameters, and of the stages of a probe.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/bits.h>

#include "asahi_device.h"
#include "asahi_params.h"
#include "asahi_stage.h"

static void names_are_a_set(struct kunit *test)
{
	static const struct {
		const char *text;
		unsigned long set;
	} cases[] = {
		{ NULL, GENMASK(ASAHI_UNPROVEN_NUM - 1, 0) },
		{ "1", GENMASK(ASAHI_UNPROVEN_NUM - 1, 0) },
		{ "all", GENMASK(ASAHI_UNPROVEN_NUM - 1, 0) },
		{ "0", 0 },
		{ "none", 0 },
		{ "blocks", BIT(ASAHI_UNPROVEN_BLOCKS) },
		{ "events", BIT(ASAHI_UNPROVEN_EVENTS) },
		{ "trim", BIT(ASAHI_UNPROVEN_TRIM) },
		{ "power,unbind\n", BIT(ASAHI_UNPROVEN_POWER) | BIT(ASAHI_UNPROVEN_UNBIND) },
		{ "again,reset,flush,priority,knobs",
		  BIT(ASAHI_UNPROVEN_AGAIN) | BIT(ASAHI_UNPROVEN_RESET) |
		  BIT(ASAHI_UNPROVEN_FLUSH) | BIT(ASAHI_UNPROVEN_PRIORITY) |
		  BIT(ASAHI_UNPROVEN_KNOBS) },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned long set = ~0UL;

		KUNIT_EXPECT_EQ(test, asahi_params_parse_unproven(cases[i].text, &set), 0);
		KUNIT_EXPECT_EQ_MSG(test, set, cases[i].set, "%s", cases[i].text);
	}
}

static void unknown_names_change_nothing(struct kunit *test)
{
	static const char * const wrong[] = { "", "t", "Trim", "trim,", "trim,,reset", "2", "yes" };

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		unsigned long set = 0x5a;

		KUNIT_EXPECT_EQ_MSG(test, asahi_params_parse_unproven(wrong[i], &set), -EINVAL,
				    "%s", wrong[i]);
		KUNIT_EXPECT_EQ(test, set, 0x5a);
	}
}

static void one_thing_allows_no_other(struct kunit *test)
{
	const unsigned long before = asahi_unproven;

	asahi_unproven = BIT(ASAHI_UNPROVEN_RESET);
	for (unsigned int i = 0; i < ASAHI_UNPROVEN_NUM; i++)
		KUNIT_EXPECT_EQ(test, asahi_allows(i), i == ASAHI_UNPROVEN_RESET);
	asahi_unproven = before;
}

static void a_probe_stops_after_its_stage(struct kunit *test)
{
	struct asahi_device *adev = kunit_kzalloc(test, sizeof(*adev), GFP_KERNEL);
	const unsigned int before = asahi_stage_limit;

	KUNIT_ASSERT_NOT_NULL(test, adev);
	for (unsigned int limit = 0; limit <= ASAHI_STAGE_ALL + 1; limit++) {
		asahi_stage_limit = limit;
		asahi_stage_begin(adev);
		for (unsigned int i = 0; i < ASAHI_STAGE_ALL; i++)
			KUNIT_EXPECT_EQ(test, asahi_stage_end(adev, i, "a test"),
					i == limit ? -ECANCELED : 0);
	}
	asahi_stage_limit = before;
}

static struct kunit_case asahi_params_cases[] = {
	KUNIT_CASE(names_are_a_set),
	KUNIT_CASE(unknown_names_change_nothing),
	KUNIT_CASE(one_thing_allows_no_other),
	KUNIT_CASE(a_probe_stops_after_its_stage),
	{ }
};

static struct kunit_suite asahi_params_suite = {
	.name = "asahi_params",
	.test_cases = asahi_params_cases,
};

kunit_test_suite(asahi_params_suite);
