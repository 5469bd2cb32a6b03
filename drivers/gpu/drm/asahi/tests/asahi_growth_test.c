// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the answers to the firmware, which asks for larger vertex buffers.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/static_stub.h>
#include <kunit/test.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_growth.h"
#include "asahi_initdata.h"
#include "asahi_rest_test.h"
#include "asahi_state.h"
#include "asahi_watchdog.h"

#define HALTS		3
#define VM_SLOT		7

/**
 * struct fake - a device and its firmware
 * @adev: device, of which only the answers and its state exist
 * @sent: messages that the firmware has got, or will get
 * @count: how many of these there were
 * @tries: how often a message was to be sent
 * @result: what comes of the next ones, 0 for the rest
 * @full: there is never room for one
 * @dies: message that the firmware does not survive, counted from 1; 0 for none
 * @halts: how often the firmware has halted
 */
struct fake {
	struct asahi_device *adev;
	struct asahi_dc_msg sent[2 * ASAHI_GROWTH_REQUESTS];
	unsigned int count;
	unsigned int tries;
	int result[4];
	bool full;
	unsigned int dies;
	u64 halts;
};

static int fake_device_control(struct asahi_device *adev, const struct asahi_dc_msg *msg)
{
	struct kunit *test = kunit_get_current_test();
	struct fake *fake = test->priv;
	unsigned int try = fake->tries++;
	int ret = try < ARRAY_SIZE(fake->result) ? fake->result[try] : 0;

	KUNIT_EXPECT_PTR_EQ(test, adev, fake->adev);
	if (fake->tries == fake->dies) {
		asahi_state_fail(adev, "a test says so");
		return -ENODEV;
	}
	if (fake->full || ret == -EBUSY)
		return -EBUSY;

	KUNIT_ASSERT_LT(test, fake->count, ARRAY_SIZE(fake->sent));
	fake->sent[fake->count++] = *msg;

	return ret;
}

static u64 fake_halt_count(struct asahi_device *adev)
{
	struct kunit *test = kunit_get_current_test();
	struct fake *fake = test->priv;

	return fake->halts;
}

/* The worker does not run: it knows nothing of what the test replaces. */
static int growth_test_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct asahi_device *adev = kunit_kzalloc(test, sizeof(*adev), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-growth");

	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_NULL(test, adev);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	adev->drm.dev = dev;
	asahi_state_init(&adev->state);
	asahi_watchdog_init(&adev->watchdog, adev);
	asahi_state_set_fw(adev, ASAHI_FW_RUNNING);
	KUNIT_ASSERT_EQ(test, asahi_block_growth.init(adev), 0);
	KUNIT_ASSERT_EQ(test, asahi_block_growth.suspend(adev), 0);
	fake->adev = adev;
	fake->halts = HALTS;
	test->priv = fake;
	kunit_activate_static_stub(test, asahi_channel_device_control, fake_device_control);
	kunit_activate_static_stub(test, asahi_initdata_halt_count, fake_halt_count);

	return 0;
}

/* Whatever has happened, the worker runs again after sleep; it does not find a firmware. */
static void growth_test_exit(struct kunit *test)
{
	struct fake *fake = test->priv;

	asahi_state_set_fw(fake->adev, ASAHI_FW_FRESH);
	KUNIT_EXPECT_EQ(test, asahi_block_growth.resume(fake->adev), 0);
	expect_at_rest(test, &asahi_block_growth, fake->adev,
		       ASAHI_REST_AWAKE | ASAHI_REST_FLIGHT);
	asahi_block_growth.unplug(fake->adev);
	asahi_block_growth.fini(fake->adev);
	KUNIT_EXPECT_NULL(test, fake->adev->growth);
}

static void ask(struct fake *fake, u32 first, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		asahi_growth_request(fake->adev, VM_SLOT, first + i, 1000 + first + i);
}

/* The requests from @first on were answered, in their order, and nothing else. */
static void expect_answers(struct kunit *test, u32 first, unsigned int count)
{
	struct fake *fake = test->priv;

	KUNIT_ASSERT_EQ(test, fake->count, count);
	for (unsigned int i = 0; i < count; i++) {
		KUNIT_EXPECT_EQ(test, fake->sent[i].type, ASAHI_DC_GROW_TVB_ACK);
		KUNIT_EXPECT_EQ(test, fake->sent[i].grow_tvb_ack.vm_slot, VM_SLOT);
		KUNIT_EXPECT_EQ(test, fake->sent[i].grow_tvb_ack.buffer_slot, first + i);
		KUNIT_EXPECT_EQ(test, fake->sent[i].grow_tvb_ack.counter, 1000 + first + i);
		KUNIT_EXPECT_EQ(test, fake->sent[i].grow_tvb_ack.halt_count, fake->halts);
	}
}

/* Whoever hears the request sends nothing, so does not wait for the firmware. */
static void growth_test_answers(struct kunit *test)
{
	struct fake *fake = test->priv;

	ask(fake, 0, 3);
	KUNIT_EXPECT_EQ(test, fake->tries, 0);
	asahi_growth_answer_all(fake->adev);
	expect_answers(test, 0, 3);

	asahi_growth_answer_all(fake->adev);
	expect_answers(test, 0, 3);
}

/* What had no room in the ring is sent again, as it is true by then. */
static void growth_test_ring_full(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->result[0] = -EBUSY;
	fake->result[1] = -EBUSY;
	ask(fake, 0, 2);
	KUNIT_EXPECT_FALSE(test, asahi_growth_answer_all(fake->adev));
	KUNIT_EXPECT_FALSE(test, asahi_growth_answer_all(fake->adev));
	expect_answers(test, 0, 0);
	fake->halts++;
	KUNIT_EXPECT_TRUE(test, asahi_growth_answer_all(fake->adev));
	expect_answers(test, 0, 2);
	KUNIT_EXPECT_EQ(test, fake->tries, 4);
}

/* What the firmware has not read in time it still finds in the ring. */
static void growth_test_unread(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->result[0] = -ETIMEDOUT;
	ask(fake, 0, 2);
	asahi_growth_answer_all(fake->adev);
	expect_answers(test, 0, 2);
}

/* It is not given up for that, and suspend and unplug wait for one try only. */
static void growth_test_never_room(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->full = true;
	ask(fake, 0, 2);
	for (unsigned int i = 1; i <= 50; i++) {
		KUNIT_EXPECT_FALSE(test, asahi_growth_answer_all(fake->adev));
		KUNIT_EXPECT_EQ(test, fake->tries, i);
	}
	expect_answers(test, 0, 0);
	KUNIT_EXPECT_TRUE(test, asahi_state_fw_alive(fake->adev));
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->adev->watchdog.late[ASAHI_DEBT_GROWTH]), 50);
}

/* Another firmware gets no answer to what this one has asked. */
static void growth_test_reset(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->dies = 2;
	ask(fake, 0, 4);
	asahi_growth_answer_all(fake->adev);
	expect_answers(test, 0, 1);
	KUNIT_EXPECT_EQ(test, fake->tries, 2);

	/* So that the worker finds nothing to do, too. */
	asahi_block_growth.pre_reset(fake->adev);
	ask(fake, 40, 1);
	KUNIT_EXPECT_EQ(test, asahi_block_growth.post_reset(fake->adev), 0);
	asahi_block_growth.pre_reset(fake->adev);

	fake->adev->state.now = ASAHI_STATE_RUNNING;
	asahi_state_set_fw(fake->adev, ASAHI_FW_RUNNING);
	fake->count = 0;
	asahi_growth_answer_all(fake->adev);
	expect_answers(test, 0, 0);
	ask(fake, 80, 2);
	asahi_growth_answer_all(fake->adev);
	expect_answers(test, 80, 2);
}

/* A device that sleeps has not forgotten anything when it wakes up. */
static void growth_test_sleep(struct kunit *test)
{
	struct fake *fake = test->priv;

	ask(fake, 0, 1);
	/* The worker waits for a firmware, and does not find one. */
	asahi_state_set_fw(fake->adev, ASAHI_FW_FRESH);
	KUNIT_EXPECT_EQ(test, asahi_block_growth.resume(fake->adev), 0);
	ask(fake, 1, 1);
	KUNIT_EXPECT_EQ(test, asahi_block_growth.suspend(fake->adev), 0);
	asahi_growth_answer_all(fake->adev);
	expect_answers(test, 0, 0);

	asahi_state_set_fw(fake->adev, ASAHI_FW_RUNNING);
	asahi_growth_answer_all(fake->adev);
	expect_answers(test, 0, 2);
}

/* A firmware that asks without waiting gets as many answers as there is room for. */
static void growth_test_too_many(struct kunit *test)
{
	struct fake *fake = test->priv;

	ask(fake, 0, ASAHI_GROWTH_REQUESTS + 2);
	asahi_growth_answer_all(fake->adev);
	expect_answers(test, 0, ASAHI_GROWTH_REQUESTS);

	fake->count = 0;
	ask(fake, 200, 1);
	asahi_growth_answer_all(fake->adev);
	expect_answers(test, 200, 1);
}

static struct kunit_case asahi_growth_cases[] = {
	KUNIT_CASE(growth_test_answers),
	KUNIT_CASE(growth_test_ring_full),
	KUNIT_CASE(growth_test_unread),
	KUNIT_CASE(growth_test_never_room),
	KUNIT_CASE(growth_test_reset),
	KUNIT_CASE(growth_test_sleep),
	KUNIT_CASE(growth_test_too_many),
	{}
};

static struct kunit_suite asahi_growth_suite = {
	.name = "asahi_growth",
	.init = growth_test_init,
	.exit = growth_test_exit,
	.test_cases = asahi_growth_cases,
};

kunit_test_suite(asahi_growth_suite);
