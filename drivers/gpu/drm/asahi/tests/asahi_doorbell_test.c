// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the order in which doorbells ring that were left to the worker.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/bitops.h>

#include <agx/agx_rtkit.h>

#include "asahi_doorbell.h"

static void wakes_the_firmware_first(struct kunit *test)
{
	static const unsigned int order[] = {
		AGX_DOORBELL_KICK, 2, 7, AGX_DOORBELL_DEVICE_CONTROL, ASAHI_DOORBELL_FWCTL,
	};
	unsigned long posted = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(order); i++)
		__set_bit(order[i], &posted);
	for (unsigned int i = 0; i < ARRAY_SIZE(order); i++) {
		KUNIT_EXPECT_EQ(test, asahi_doorbell_next(posted), order[i]);
		__clear_bit(order[i], &posted);
	}
	KUNIT_EXPECT_GT(test, asahi_doorbell_next(posted), ASAHI_DOORBELL_FWCTL);
}

static struct kunit_case doorbell_cases[] = {
	KUNIT_CASE(wakes_the_firmware_first),
	{}
};

static struct kunit_suite doorbell_suite = {
	.name = "asahi_doorbell",
	.test_cases = doorbell_cases,
};

kunit_test_suite(doorbell_suite);
