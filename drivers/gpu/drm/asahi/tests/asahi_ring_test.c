// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the rings shared with the firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include "asahi_ring.h"

#define ENTRIES		4

struct entry {
	u32 value;
	u32 rest[3];
};

struct memory {
	__le32 rptr;
	__le32 wptr;
	struct entry entries[ENTRIES];
};

static struct asahi_tx_ring make_tx(struct memory *memory)
{
	return (struct asahi_tx_ring){
		.rptr = &memory->rptr,
		.wptr = &memory->wptr,
		.entries = memory->entries,
		.entry_size = sizeof(struct entry),
		.count = ENTRIES,
	};
}

static struct asahi_rx_ring make_rx(struct memory *memory)
{
	return (struct asahi_rx_ring){
		.rptr = &memory->rptr,
		.wptr = &memory->wptr,
		.entries = memory->entries,
		.entry_size = sizeof(struct entry),
		.count = ENTRIES,
	};
}

static void put(struct asahi_tx_ring *ring, u32 value)
{
	struct entry *entry = asahi_tx_ring_entry(ring);

	entry->value = value;
	asahi_tx_ring_commit(ring);
}

static void tx_fills_and_wraps(struct kunit *test)
{
	struct memory memory = {};
	struct asahi_tx_ring ring = make_tx(&memory);
	u32 value;

	KUNIT_EXPECT_TRUE(test, asahi_tx_ring_drained(&ring));

	for (value = 0; value < ENTRIES - 1; value++) {
		KUNIT_EXPECT_FALSE(test, asahi_tx_ring_full(&ring));
		KUNIT_EXPECT_EQ(test, asahi_tx_ring_room(&ring), ENTRIES - 1 - value);
		put(&ring, value);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(memory.wptr), value + 1);
		KUNIT_EXPECT_FALSE(test, asahi_tx_ring_drained(&ring));
	}
	/* One entry stays free, or full would look like empty. */
	KUNIT_EXPECT_TRUE(test, asahi_tx_ring_full(&ring));

	memory.rptr = cpu_to_le32(1);
	KUNIT_EXPECT_FALSE(test, asahi_tx_ring_full(&ring));
	KUNIT_EXPECT_EQ(test, asahi_tx_ring_room(&ring), 1);
	put(&ring, 100);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(memory.wptr), 0);
	KUNIT_EXPECT_EQ(test, memory.entries[ENTRIES - 1].value, 100);
	KUNIT_EXPECT_TRUE(test, asahi_tx_ring_full(&ring));

	memory.rptr = 0;
	KUNIT_EXPECT_TRUE(test, asahi_tx_ring_drained(&ring));
	KUNIT_EXPECT_EQ(test, asahi_tx_ring_room(&ring), ENTRIES - 1);
}

static void tx_entry_is_zeroed(struct kunit *test)
{
	struct memory memory;
	struct asahi_tx_ring ring = make_tx(&memory);
	struct entry *entry;

	memset(&memory, 0xff, sizeof(memory));
	entry = asahi_tx_ring_entry(&ring);
	KUNIT_EXPECT_PTR_EQ(test, entry, &memory.entries[0]);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(entry, 0, sizeof(*entry)));
	/* Nothing else, and nothing published. */
	KUNIT_EXPECT_EQ(test, memory.entries[1].value, U32_MAX);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(memory.wptr), U32_MAX);
}

/* What the firmware does to the driver's pointer does not move the driver. */
static void tx_trusts_itself(struct kunit *test)
{
	struct memory memory = {};
	struct asahi_tx_ring ring = make_tx(&memory);

	put(&ring, 1);
	memory.wptr = cpu_to_le32(1000);
	put(&ring, 2);
	KUNIT_EXPECT_EQ(test, memory.entries[1].value, 2);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(memory.wptr), 2);
}

static void tx_promises_what_fits(struct kunit *test)
{
	struct memory memory = {};
	struct asahi_tx_ring ring = make_tx(&memory);

	put(&ring, 1);
	for (unsigned int i = 0; i < ENTRIES - 2; i++)
		KUNIT_EXPECT_TRUE(test, asahi_tx_ring_reserve(&ring));
	KUNIT_EXPECT_FALSE(test, asahi_tx_ring_reserve(&ring));
	KUNIT_EXPECT_EQ(test, ring.reserved, ENTRIES - 2);

	/* One more is read: there is room for one more. */
	memory.rptr = cpu_to_le32(1);
	KUNIT_EXPECT_TRUE(test, asahi_tx_ring_reserve(&ring));
	KUNIT_EXPECT_FALSE(test, asahi_tx_ring_reserve(&ring));

	/* What is committed needs its room, but no promise any more. */
	put(&ring, 2);
	ring.reserved--;
	KUNIT_EXPECT_FALSE(test, asahi_tx_ring_reserve(&ring));
}

static void rx_reads_in_order_and_wraps(struct kunit *test)
{
	struct memory memory = {};
	struct asahi_rx_ring ring = make_rx(&memory);
	struct entry entry;
	u32 value, i;

	KUNIT_EXPECT_EQ(test, asahi_rx_ring_get(&ring, &entry), 0);

	for (value = 0; value < 3 * ENTRIES; value++) {
		i = value % ENTRIES;
		memory.entries[i].value = value;
		memory.wptr = cpu_to_le32((i + 1) % ENTRIES);
		KUNIT_ASSERT_EQ(test, asahi_rx_ring_get(&ring, &entry), 1);
		KUNIT_EXPECT_EQ(test, entry.value, value);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(memory.rptr), le32_to_cpu(memory.wptr));
		KUNIT_EXPECT_EQ(test, asahi_rx_ring_get(&ring, &entry), 0);
	}
}

static void rx_refuses_wild_pointer(struct kunit *test)
{
	struct memory memory = {};
	struct asahi_rx_ring ring = make_rx(&memory);
	struct entry entry;

	memory.wptr = cpu_to_le32(ENTRIES);
	KUNIT_EXPECT_EQ(test, asahi_rx_ring_get(&ring, &entry), -EIO);
	memory.wptr = cpu_to_le32(U32_MAX);
	KUNIT_EXPECT_EQ(test, asahi_rx_ring_get(&ring, &entry), -EIO);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(memory.rptr), 0);
}

static void rx_peek_leaves_it_to_the_driver(struct kunit *test)
{
	struct memory memory = {};
	struct asahi_rx_ring ring = make_rx(&memory);
	struct entry entry;

	KUNIT_EXPECT_EQ(test, asahi_rx_ring_peek(&ring, &entry), 0);
	memory.entries[0].value = 5;
	memory.wptr = cpu_to_le32(2);
	for (unsigned int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, asahi_rx_ring_peek(&ring, &entry), 1);
		KUNIT_EXPECT_EQ(test, entry.value, 5);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(memory.rptr), 0);
	}

	asahi_rx_ring_pop(&ring);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(memory.rptr), 1);
	KUNIT_EXPECT_EQ(test, asahi_rx_ring_get(&ring, &entry), 1);
	KUNIT_EXPECT_EQ(test, entry.value, 0);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(tx_fills_and_wraps),
	KUNIT_CASE(tx_entry_is_zeroed),
	KUNIT_CASE(tx_trusts_itself),
	KUNIT_CASE(tx_promises_what_fits),
	KUNIT_CASE(rx_reads_in_order_and_wraps),
	KUNIT_CASE(rx_refuses_wild_pointer),
	KUNIT_CASE(rx_peek_leaves_it_to_the_driver),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "asahi_ring",
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
