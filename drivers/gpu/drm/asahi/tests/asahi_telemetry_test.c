// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of what the firmware tells of itself, understood or not.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <drm/drm_print.h>

#include "asahi_telemetry.h"

#define TEXT_BYTES	4096

/* What @print writes, as a string that lives as long as the test. */
static char *telemetry_text(struct kunit *test, const struct asahi_unknown *unknown)
{
	char *text = kunit_kzalloc(test, TEXT_BYTES, GFP_KERNEL);
	struct drm_print_iterator iter = { .data = text, .remain = TEXT_BYTES - 1 };
	struct drm_printer p = drm_coredump_printer(&iter);

	KUNIT_ASSERT_NOT_NULL(test, text);
	asahi_unknown_print(unknown, "event", &p);
	return text;
}

static struct asahi_unknown *telemetry_unknown(struct kunit *test)
{
	struct asahi_unknown *unknown = kunit_kzalloc(test, sizeof(*unknown), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, unknown);
	return unknown;
}

static void unknown_types_are_counted(struct kunit *test)
{
	struct asahi_unknown *unknown = telemetry_unknown(test);

	KUNIT_EXPECT_STREQ(test, telemetry_text(test, unknown), "event 0\n");
	KUNIT_EXPECT_TRUE(test, asahi_unknown_count(unknown, 9));
	KUNIT_EXPECT_FALSE(test, asahi_unknown_count(unknown, 9));
	KUNIT_EXPECT_FALSE(test, asahi_unknown_count(unknown, 2));
	KUNIT_EXPECT_STREQ(test, telemetry_text(test, unknown),
			   "event 3 last 0x2 0x2:1 0x9:2\n");
	KUNIT_EXPECT_FALSE(test, asahi_unknown_count(unknown, U32_MAX));
	KUNIT_EXPECT_STREQ(test, telemetry_text(test, unknown),
			   "event 4 last 0xffffffff 0x2:1 0x9:2 others:1\n");
}

static void every_type_is_one_of_them(struct kunit *test)
{
	struct {
		struct asahi_unknown unknown;
		u64 behind;
	} *counters = kunit_kzalloc(test, sizeof(*counters), GFP_KERNEL);
	struct asahi_unknown *unknown = &counters->unknown;

	KUNIT_ASSERT_NOT_NULL(test, counters);
	for (u32 type = 0; type < 4 * ASAHI_UNKNOWN_TYPES; type++)
		KUNIT_EXPECT_EQ(test, asahi_unknown_count(unknown, type), type == 0);
	for (unsigned int bit = 8; bit < 32; bit++)
		asahi_unknown_count(unknown, BIT(bit));

	KUNIT_EXPECT_EQ(test, unknown->count, 4 * ASAHI_UNKNOWN_TYPES + 24);
	for (u32 type = 0; type < ASAHI_UNKNOWN_TYPES; type++)
		KUNIT_EXPECT_EQ(test, unknown->type[type], 1);
	KUNIT_EXPECT_EQ(test, counters->behind, 0);
}

static struct kunit_case asahi_telemetry_cases[] = {
	KUNIT_CASE(unknown_types_are_counted),
	KUNIT_CASE(every_type_is_one_of_them),
	{ }
};

static struct kunit_suite asahi_telemetry_suite = {
	.name = "asahi_telemetry",
	.test_cases = asahi_telemetry_cases,
};

kunit_test_suite(asahi_telemetry_suite);
