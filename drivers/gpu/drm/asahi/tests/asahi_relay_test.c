// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the way of events from the bottom half to the worker.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include "asahi_fw_channels.h"
#include "asahi_relay.h"
#include "asahi_ring.h"

#define ENTRIES	64

/**
 * struct fake - a ring of events, and what comes out of it
 * @relay: relay
 * @ring: ring, as the driver sees it
 * @rptr: its pointer, as the firmware sees it
 * @wptr: the firmware's pointer
 * @entries: entries
 * @calls: how often the driver was told of stamps
 * @mask: of which the last time
 * @waiting: whether an event waited for the worker by then
 */
struct fake {
	struct asahi_relay relay;
	struct asahi_rx_ring ring;
	__le32 rptr;
	__le32 wptr;
	struct asahi_fw_event_msg entries[ENTRIES];
	unsigned int calls;
	u32 mask[4];
	bool waiting;
};

static int relay_test_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->ring = (struct asahi_rx_ring) {
		.rptr = &fake->rptr,
		.wptr = &fake->wptr,
		.entries = fake->entries,
		.entry_size = sizeof(fake->entries[0]),
		.count = ENTRIES,
	};
	asahi_relay_init(&fake->relay);
	test->priv = fake;

	return 0;
}

static struct asahi_fw_event_msg *put(struct fake *fake, u32 type)
{
	u32 at = le32_to_cpu(fake->wptr);

	fake->entries[at] = (struct asahi_fw_event_msg) { .type = cpu_to_le32(type) };
	fake->wptr = cpu_to_le32((at + 1) % ENTRIES);

	return &fake->entries[at];
}

static void put_stamp(struct fake *fake, unsigned int word, u32 bits)
{
	put(fake, ASAHI_FW_EVENT_FLAG)->flag.firing[word] = cpu_to_le32(bits);
}

static void put_timeout(struct fake *fake, u32 counter)
{
	put(fake, ASAHI_FW_EVENT_TIMEOUT)->timeout.counter = cpu_to_le32(counter);
}

static void note_stamps(void *priv, const u32 mask[4])
{
	struct fake *fake = priv;

	fake->calls++;
	memcpy(fake->mask, mask, sizeof(fake->mask));
	fake->waiting = !asahi_relay_empty(&fake->relay);
}

static void expect_read(struct kunit *test, int ret, unsigned int count)
{
	struct fake *fake = test->priv;
	unsigned int read;

	KUNIT_EXPECT_EQ(test, asahi_relay_read(&fake->relay, &fake->ring, note_stamps, fake, &read),
			ret);
	KUNIT_EXPECT_EQ(test, read, count);
}

static void expect_timeout(struct kunit *test, u32 counter)
{
	struct fake *fake = test->priv;
	struct asahi_fw_event_msg msg = {};

	KUNIT_EXPECT_TRUE(test, asahi_relay_get(&fake->relay, &msg));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(msg.type), ASAHI_FW_EVENT_TIMEOUT);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(msg.timeout.counter), counter);
}

static void stamps_come_together(struct kunit *test)
{
	struct fake *fake = test->priv;

	expect_read(test, 0, 0);
	KUNIT_EXPECT_EQ(test, fake->calls, 0);

	put_stamp(fake, 0, 1);
	put_stamp(fake, 0, 4);
	put_stamp(fake, 3, 0x80000000);
	expect_read(test, 0, 3);
	KUNIT_EXPECT_EQ(test, fake->calls, 1);
	KUNIT_EXPECT_EQ(test, fake->mask[0], 5);
	KUNIT_EXPECT_EQ(test, fake->mask[1], 0);
	KUNIT_EXPECT_EQ(test, fake->mask[3], 0x80000000);
	KUNIT_EXPECT_TRUE(test, asahi_relay_empty(&fake->relay));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(fake->rptr), 3);
}

/* The worker does not learn of a failure before the stamps that came first are looked at. */
static void stamps_before_a_failure(struct kunit *test)
{
	struct fake *fake = test->priv;

	put_stamp(fake, 1, 1);
	put_timeout(fake, 7);
	expect_read(test, 0, 2);
	KUNIT_EXPECT_EQ(test, fake->calls, 1);
	KUNIT_EXPECT_EQ(test, fake->mask[1], 1);
	KUNIT_EXPECT_FALSE(test, fake->waiting);
	expect_timeout(test, 7);
	KUNIT_EXPECT_TRUE(test, asahi_relay_empty(&fake->relay));
}

static void stamps_around_a_failure(struct kunit *test)
{
	struct fake *fake = test->priv;

	put_stamp(fake, 1, 1);
	put_timeout(fake, 7);
	put_stamp(fake, 2, 1);
	expect_read(test, 0, 3);
	KUNIT_EXPECT_EQ(test, fake->calls, 2);
	/* No stamp is told of twice. */
	KUNIT_EXPECT_EQ(test, fake->mask[1], 0);
	KUNIT_EXPECT_EQ(test, fake->mask[2], 1);
	KUNIT_EXPECT_TRUE(test, fake->waiting);
	expect_timeout(test, 7);
}

/* What there is no room for stays in the ring, and what comes behind it. */
static void full(struct kunit *test)
{
	struct fake *fake = test->priv;

	for (unsigned int i = 0; i < ASAHI_RELAY_EVENTS + 2; i++)
		put_timeout(fake, i);
	put_stamp(fake, 0, 1);

	expect_read(test, 0, ASAHI_RELAY_EVENTS);
	expect_read(test, 0, 0);
	KUNIT_EXPECT_EQ(test, fake->calls, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(fake->rptr), ASAHI_RELAY_EVENTS);

	expect_timeout(test, 0);
	expect_read(test, 0, 1);
	KUNIT_EXPECT_EQ(test, fake->calls, 0);
	for (unsigned int i = 1; i <= ASAHI_RELAY_EVENTS; i++)
		expect_timeout(test, i);
	KUNIT_EXPECT_TRUE(test, asahi_relay_empty(&fake->relay));

	expect_read(test, 0, 2);
	expect_timeout(test, ASAHI_RELAY_EVENTS + 1);
	KUNIT_EXPECT_EQ(test, fake->calls, 1);
}

static void a_wild_pointer(struct kunit *test)
{
	struct fake *fake = test->priv;

	put_stamp(fake, 0, 1);
	fake->wptr = cpu_to_le32(ENTRIES);
	expect_read(test, -EIO, 0);
	KUNIT_EXPECT_EQ(test, fake->calls, 0);
}

static struct kunit_case relay_cases[] = {
	KUNIT_CASE(stamps_come_together),
	KUNIT_CASE(stamps_before_a_failure),
	KUNIT_CASE(stamps_around_a_failure),
	KUNIT_CASE(full),
	KUNIT_CASE(a_wild_pointer),
	{}
};

static struct kunit_suite relay_suite = {
	.name = "asahi_relay",
	.init = relay_test_init,
	.test_cases = relay_cases,
};

kunit_test_suite(relay_suite);
