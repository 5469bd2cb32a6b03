// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the device's state.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/err.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "asahi_device.h"
#include "asahi_state.h"

static struct asahi_device *asahi_state_test_device(struct kunit *test)
{
	struct asahi_device *adev = kunit_kzalloc(test, sizeof(*adev), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-state");

	KUNIT_ASSERT_NOT_NULL(test, adev);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	adev->drm.dev = dev;
	asahi_state_init(&adev->state);
	return adev;
}

/* The drawing in asahi_state.c, read once more: 1 where there is an arrow. */
static const bool asahi_state_test_arrow[ASAHI_STATES][ASAHI_STATES] = {
	/*                 start run fail reset susp wedge unplug */
	[ASAHI_STATE_STARTING] = { 0, 1, 1, 0, 0, 0, 1 },
	[ASAHI_STATE_RUNNING] = { 0, 0, 1, 0, 1, 0, 1 },
	[ASAHI_STATE_FAILED] = { 0, 0, 0, 1, 0, 0, 1 },
	[ASAHI_STATE_RESETTING] = { 0, 1, 1, 0, 0, 1, 1 },
	[ASAHI_STATE_SUSPENDED] = { 0, 1, 1, 1, 0, 0, 1 },
	[ASAHI_STATE_WEDGED] = { 0, 0, 0, 0, 0, 0, 1 },
	[ASAHI_STATE_UNPLUGGED] = { 0, 0, 0, 0, 0, 0, 0 },
};

static void asahi_state_test_transitions(struct kunit *test)
{
	struct asahi_device *adev = asahi_state_test_device(test);

	for (unsigned int from = 0; from < ASAHI_STATES; from++) {
		for (unsigned int to = 0; to < ASAHI_STATES; to++) {
			bool legal = asahi_state_test_arrow[from][to];

			KUNIT_EXPECT_EQ_MSG(test, asahi_state_legal(from, to), legal, "%s to %s",
					    asahi_state_name(from), asahi_state_name(to));
			if (!legal)
				continue;

			adev->state.now = from;
			KUNIT_EXPECT_TRUE(test, asahi_state_move(adev, from, to));
			KUNIT_EXPECT_EQ(test, asahi_state_get(adev), to);
		}
	}
}

/* A change that comes too late, or from a wrong state, does nothing. */
static void asahi_state_test_stale(struct kunit *test)
{
	struct asahi_device *adev = asahi_state_test_device(test);

	KUNIT_EXPECT_TRUE(test, asahi_state_move(adev, ASAHI_STATE_STARTING, ASAHI_STATE_RUNNING));
	KUNIT_EXPECT_FALSE(test, asahi_state_move(adev, ASAHI_STATE_STARTING,
						  ASAHI_STATE_RUNNING));
	asahi_state_unplug(adev);
	KUNIT_EXPECT_FALSE(test, asahi_state_move(adev, ASAHI_STATE_RUNNING,
						  ASAHI_STATE_SUSPENDED));
	asahi_state_fail(adev, "too late");
	KUNIT_EXPECT_EQ(test, asahi_state_get(adev), ASAHI_STATE_UNPLUGGED);
	KUNIT_EXPECT_NULL(test, adev->state.why);
}

static void asahi_state_test_run(struct asahi_device *adev)
{
	asahi_state_set_fw(adev, ASAHI_FW_RUNNING);
	asahi_state_move(adev, ASAHI_STATE_STARTING, ASAHI_STATE_RUNNING);
}

static void asahi_state_test_first_reason(struct kunit *test)
{
	struct asahi_device *adev = asahi_state_test_device(test);

	asahi_state_test_run(adev);
	KUNIT_EXPECT_TRUE(test, asahi_state_fw_alive(adev));

	asahi_state_fail(adev, "the first");
	asahi_state_fail(adev, "the second");
	KUNIT_EXPECT_EQ(test, asahi_state_get(adev), ASAHI_STATE_FAILED);
	KUNIT_EXPECT_STREQ(test, adev->state.why, "the first");
	KUNIT_EXPECT_EQ(test, asahi_state_fw(adev), ASAHI_FW_FAILED);
	KUNIT_EXPECT_FALSE(test, asahi_state_fw_alive(adev));
	KUNIT_EXPECT_FALSE(test, asahi_state_lost(adev));
}

/* What somebody says of the old firmware is nothing against the new one. */
static void asahi_state_test_fail_in_reset(struct kunit *test)
{
	struct asahi_device *adev = asahi_state_test_device(test);

	asahi_state_test_run(adev);
	asahi_state_fail(adev, "the first");
	KUNIT_EXPECT_TRUE(test, asahi_state_begin_reset(adev, ASAHI_STATE_FAILED, false));
	KUNIT_EXPECT_FALSE(test, asahi_state_doomed(adev));

	asahi_state_fail(adev, "of the old firmware");
	KUNIT_EXPECT_EQ(test, asahi_state_get(adev), ASAHI_STATE_RESETTING);
	asahi_state_set_fw(adev, ASAHI_FW_FRESH);
	asahi_state_fail(adev, "of none at all");
	KUNIT_EXPECT_EQ(test, asahi_state_get(adev), ASAHI_STATE_RESETTING);

	asahi_state_set_fw(adev, ASAHI_FW_RUNNING);
	KUNIT_EXPECT_TRUE(test, asahi_state_fw_alive(adev));
	asahi_state_fail(adev, "of the new firmware");
	KUNIT_EXPECT_EQ(test, asahi_state_get(adev), ASAHI_STATE_FAILED);
	KUNIT_EXPECT_FALSE(test, asahi_state_move(adev, ASAHI_STATE_RESETTING,
						  ASAHI_STATE_RUNNING));
}

static void asahi_state_test_end(struct kunit *test)
{
	struct asahi_device *adev = asahi_state_test_device(test);

	asahi_state_test_run(adev);
	asahi_state_fail(adev, "it is over");
	KUNIT_EXPECT_TRUE(test, asahi_state_begin_reset(adev, ASAHI_STATE_FAILED, true));
	KUNIT_EXPECT_TRUE(test, asahi_state_doomed(adev));
	KUNIT_EXPECT_TRUE(test, asahi_state_move(adev, ASAHI_STATE_RESETTING, ASAHI_STATE_WEDGED));
	KUNIT_EXPECT_TRUE(test, asahi_state_lost(adev));
	KUNIT_EXPECT_FALSE(test, asahi_state_fw_alive(adev));
	asahi_state_fail(adev, "again");
	KUNIT_EXPECT_EQ(test, asahi_state_get(adev), ASAHI_STATE_WEDGED);
}

struct asahi_state_test_work {
	struct work_struct work;
	unsigned int runs;
};

static void asahi_state_test_count(struct work_struct *work)
{
	container_of(work, struct asahi_state_test_work, work)->runs++;
}

static void asahi_state_test_worker(struct kunit *test)
{
	struct asahi_device *adev = asahi_state_test_device(test);
	struct asahi_state_test_work counter = {};

	INIT_WORK_ONSTACK(&counter.work, asahi_state_test_count);
	adev->state.reset = &counter.work;
	adev->state.wq = system_percpu_wq;

	asahi_state_test_run(adev);
	asahi_state_fail(adev, "the first");
	flush_work(&counter.work);
	asahi_state_fail(adev, "the second");
	flush_work(&counter.work);
	KUNIT_EXPECT_EQ(test, counter.runs, 1);

	asahi_state_begin_reset(adev, ASAHI_STATE_FAILED, false);
	asahi_state_repeat_reset(adev);
	flush_work(&counter.work);
	KUNIT_EXPECT_EQ(test, counter.runs, 2);
	KUNIT_EXPECT_EQ(test, asahi_state_get(adev), ASAHI_STATE_FAILED);
	destroy_work_on_stack(&counter.work);
}

static struct kunit_case asahi_state_cases[] = {
	KUNIT_CASE(asahi_state_test_transitions),
	KUNIT_CASE(asahi_state_test_stale),
	KUNIT_CASE(asahi_state_test_first_reason),
	KUNIT_CASE(asahi_state_test_fail_in_reset),
	KUNIT_CASE(asahi_state_test_end),
	KUNIT_CASE(asahi_state_test_worker),
	{ }
};

static struct kunit_suite asahi_state_suite = {
	.name = "asahi_state",
	.test_cases = asahi_state_cases,
};

kunit_test_suite(asahi_state_suite);
