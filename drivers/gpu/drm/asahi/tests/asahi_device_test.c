// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the device: what the boot loader has left in its memory regions.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/sizes.h>

#include "asahi_abi.h"
#include "asahi_device.h"
#include "asahi_hw.h"

/* The clocks of GPUs are between these, in MHz. */
#define LEAST_MHZ	100
#define MOST_MHZ	10000

static void device_test_clocks(struct kunit *test)
{
	static const struct {
		u32 mhz;
		int ret;
	} cases[] = {
		{ 0, -ENODEV },
		{ LEAST_MHZ - 1, -ENODEV },
		{ LEAST_MHZ, 0 },
		{ MOST_MHZ, 0 },
		{ MOST_MHZ + 1, -ENODEV },
		{ U32_MAX, -ENODEV },
	};
	struct asahi_device *adev = kunit_kzalloc(test, sizeof(*adev), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-device");
	u8 *map = kunit_kzalloc(test, SZ_16K, GFP_KERNEL);
	__le32 *mhz;

	KUNIT_ASSERT_NOT_NULL(test, adev);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	KUNIT_ASSERT_NOT_NULL(test, map);
	adev->drm.dev = dev;
	adev->abi = asahi_abi_select((const u32[]) { 13, 5, 0 }, ASAHI_GEN_G13);
	KUNIT_ASSERT_NOT_NULL(test, adev->abi);
	adev->region[ASAHI_REGION_HW_CAL_B].map = map;
	mhz = (__le32 *)(map + adev->abi->initdata->frequencies);

	/* The highest of all states counts, the first and the last of them, too. */
	for (unsigned int i = 0; i < ASAHI_PERF_STATES; i++) {
		memset(map, 0, SZ_16K);
		for (unsigned int j = 0; j < ARRAY_SIZE(cases); j++) {
			mhz[i] = cpu_to_le32(cases[j].mhz);
			KUNIT_EXPECT_EQ_MSG(test, asahi_device_check_clocks(adev), cases[j].ret,
					    "state %u: %u MHz", i, cases[j].mhz);
		}
	}

	/* What is behind the table is something else. */
	memset(map, 0, SZ_16K);
	mhz[0] = cpu_to_le32(MOST_MHZ);
	mhz[ASAHI_PERF_STATES] = cpu_to_le32(MOST_MHZ + 1);
	KUNIT_EXPECT_EQ(test, asahi_device_check_clocks(adev), 0);
}

static struct kunit_case asahi_device_cases[] = {
	KUNIT_CASE(device_test_clocks),
	{}
};

static struct kunit_suite asahi_device_suite = {
	.name = "asahi_device",
	.test_cases = asahi_device_cases,
};

kunit_test_suite(asahi_device_suite);
