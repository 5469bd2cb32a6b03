// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the slots that jobs take when they run.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/dma-fence.h>
#include <linux/err.h>

#include "asahi_event.h"
#include "asahi_rest_test.h"
#include "asahi_slot.h"

#define FIRST	1
#define VMS	3
#define EVENTS	4

/* Priorities of queues. */
#define HIGH	1
#define LOW	3

/**
 * struct fixture - an allocator with few slots
 * @slots: allocator
 * @asker: who asks; the first one unless a test says something else
 * @vm: owners of contexts
 * @event: owners of events
 * @req: requests
 */
struct fixture {
	struct asahi_slots *slots;
	struct asahi_slot_asker asker[3];
	struct asahi_slot_client vm[2 * VMS];
	struct asahi_slot_client event[2 * EVENTS];
	struct asahi_slot_request req[2 * EVENTS];
};

static int slot_test_init(struct kunit *test)
{
	static const struct asahi_slot_range range[ASAHI_SLOT_KINDS] = {
		[ASAHI_SLOT_VM] = { .first = FIRST, .count = VMS },
		[ASAHI_SLOT_EVENT] = { .first = 0, .count = EVENTS },
		[ASAHI_SLOT_BUFFER] = { .first = 0, .count = 1 },
	};
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;

	f->slots = asahi_slots_create(range);
	if (IS_ERR(f->slots))
		return PTR_ERR(f->slots);

	for (int i = 0; i < ARRAY_SIZE(f->vm); i++)
		asahi_slot_client_init(&f->vm[i], ASAHI_SLOT_VM);
	for (int i = 0; i < ARRAY_SIZE(f->event); i++)
		asahi_slot_client_init(&f->event[i], ASAHI_SLOT_EVENT);
	for (int i = 0; i < ARRAY_SIZE(f->asker); i++)
		asahi_slot_asker_init(&f->asker[i]);
	for (int i = 0; i < ARRAY_SIZE(f->req); i++)
		asahi_slot_request_init(&f->req[i], &f->asker[0], LOW);
	test->priv = f;
	for (int i = 0; i < ARRAY_SIZE(f->req); i++)
		if (asahi_slot_request_prepare(&f->req[i]))
			return -ENOMEM;

	return 0;
}

static void slot_test_exit(struct kunit *test)
{
	struct drm_printer p = rest_printer(test);
	struct asahi_rest rest = { .levels = ASAHI_REST_IDLE, .name = "slots", .p = &p };
	struct fixture *f = test->priv;

	if (!f)
		return;

	for (int i = 0; i < ARRAY_SIZE(f->req); i++) {
		asahi_slots_release(f->slots, &f->req[i]);
		asahi_slot_request_fini(&f->req[i]);
	}
	if (IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG))
		asahi_slots_at_rest(f->slots, &rest);
	KUNIT_EXPECT_EQ(test, rest.broken, 0);
	asahi_slots_destroy(f->slots);
}

/* Acquire and say whether that succeeded; the fence stays with the request. */
static bool acquire(struct fixture *f, struct asahi_slot_request *req)
{
	struct dma_fence *fence = asahi_slots_acquire(f->slots, req);

	dma_fence_put(fence);

	return !fence;
}

static struct asahi_slot_request *name(struct fixture *f, int req, struct asahi_slot_client *a,
				       struct asahi_slot_client *b)
{
	asahi_slot_request_add(&f->req[req], a);
	if (b)
		asahi_slot_request_add(&f->req[req], b);

	return &f->req[req];
}

static void hands_out_all(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned long seen = 0;

	for (int i = 0; i < VMS; i++) {
		KUNIT_ASSERT_TRUE(test, acquire(f, name(f, i, &f->vm[i], NULL)));
		KUNIT_EXPECT_GE(test, f->vm[i].slot, FIRST);
		KUNIT_EXPECT_LT(test, f->vm[i].slot, FIRST + VMS);
		KUNIT_EXPECT_FALSE(test, seen & BIT(f->vm[i].slot));
		seen |= BIT(f->vm[i].slot);
	}

	KUNIT_EXPECT_FALSE(test, acquire(f, name(f, VMS, &f->vm[VMS], NULL)));
	KUNIT_EXPECT_EQ(test, asahi_slots_waiting(f->slots), 1);
}

static void owner_shares_its_slot(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int slot;

	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 0, &f->vm[0], &f->event[0])));
	slot = f->vm[0].slot;
	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 1, &f->vm[0], &f->event[1])));
	KUNIT_EXPECT_EQ(test, f->vm[0].slot, slot);
	KUNIT_EXPECT_EQ(test, f->vm[0].users, 2);

	/* busy until the last one is done */
	asahi_slots_release(f->slots, &f->req[0]);
	KUNIT_EXPECT_EQ(test, f->vm[0].users, 1);
	for (int i = 1; i < VMS; i++)
		KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 1 + i, &f->vm[i], NULL)));
	KUNIT_EXPECT_FALSE(test, acquire(f, name(f, 5, &f->vm[VMS], NULL)));
}

static void takes_all_or_nothing(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct dma_fence *fence;

	/* all contexts are taken, and an event is wanted with one of them */
	for (int i = 0; i < VMS; i++)
		KUNIT_ASSERT_TRUE(test, acquire(f, name(f, i, &f->vm[i], NULL)));
	fence = asahi_slots_acquire(f->slots, name(f, 3, &f->vm[VMS], &f->event[0]));
	KUNIT_ASSERT_NOT_NULL(test, fence);
	KUNIT_EXPECT_EQ(test, f->event[0].users, 0);
	KUNIT_EXPECT_FALSE(test, dma_fence_is_signaled(fence));

	asahi_slots_release(f->slots, &f->req[1]);
	KUNIT_EXPECT_TRUE(test, dma_fence_is_signaled(fence));
	KUNIT_EXPECT_TRUE(test, acquire(f, &f->req[3]));
	KUNIT_EXPECT_EQ(test, f->event[0].users, 1);
	KUNIT_EXPECT_EQ(test, f->vm[VMS].slot, f->vm[1].slot);
	dma_fence_put(fence);
}

static void first_come_first_served(struct kunit *test)
{
	struct fixture *f = test->priv;

	for (int i = 0; i < VMS; i++)
		KUNIT_ASSERT_TRUE(test, acquire(f, name(f, i, &f->vm[i], NULL)));
	KUNIT_ASSERT_FALSE(test, acquire(f, name(f, 3, &f->vm[3], NULL)));
	KUNIT_ASSERT_FALSE(test, acquire(f, name(f, 4, &f->vm[4], NULL)));

	/* not even one who has its slot passes those who wait */
	KUNIT_EXPECT_FALSE(test, acquire(f, name(f, 5, &f->vm[0], NULL)));

	asahi_slots_release(f->slots, &f->req[0]);
	KUNIT_EXPECT_TRUE(test, acquire(f, &f->req[3]));
	KUNIT_EXPECT_FALSE(test, acquire(f, &f->req[4]));
	asahi_slots_release(f->slots, &f->req[1]);
	KUNIT_EXPECT_TRUE(test, acquire(f, &f->req[4]));
	KUNIT_EXPECT_FALSE(test, acquire(f, &f->req[5]));
	asahi_slots_release(f->slots, &f->req[3]);
	KUNIT_EXPECT_TRUE(test, acquire(f, &f->req[5]));
	KUNIT_EXPECT_EQ(test, asahi_slots_waiting(f->slots), 0);
}

/* Take the only buffer, and have requests wait for it. */
static void wait_for_buffer(struct kunit *test, struct asahi_slot_client *buffer,
			    const unsigned int *asker, const unsigned int *priority,
			    unsigned int count)
{
	struct fixture *f = test->priv;

	asahi_slot_client_init(&buffer[0], ASAHI_SLOT_BUFFER);
	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 0, &buffer[0], NULL)));
	for (unsigned int i = 1; i <= count; i++) {
		asahi_slot_client_init(&buffer[i], ASAHI_SLOT_BUFFER);
		f->req[i].asker = &f->asker[asker[i - 1]];
		f->req[i].priority = priority[i - 1];
		KUNIT_ASSERT_FALSE(test, acquire(f, name(f, i, &buffer[i], NULL)));
	}
}

/* The buffer goes from one to the next in this order. */
static void expect_order(struct kunit *test, const unsigned int *order, unsigned int count)
{
	struct fixture *f = test->priv;
	unsigned int holder = 0;

	for (unsigned int i = 0; i < count; i++) {
		asahi_slots_release(f->slots, &f->req[holder]);
		holder = order[i];
		for (unsigned int j = 1; j <= count; j++)
			KUNIT_EXPECT_EQ(test, f->req[j].state == ASAHI_SLOT_GRANTED, j == holder);
	}
	asahi_slots_release(f->slots, &f->req[holder]);
	KUNIT_EXPECT_EQ(test, asahi_slots_waiting(f->slots), 0);
}

static void clients_take_turns(struct kunit *test)
{
	static const unsigned int asker[] = { 0, 0, 0, 1, 1, 2 };
	static const unsigned int priority[] = { LOW, LOW, LOW, LOW, LOW, LOW };
	static const unsigned int order[] = { 1, 4, 6, 2, 5, 3 };
	struct asahi_slot_client buffer[7];

	wait_for_buffer(test, buffer, asker, priority, ARRAY_SIZE(asker));
	expect_order(test, order, ARRAY_SIZE(order));
}

static void higher_priorities_come_first(struct kunit *test)
{
	static const unsigned int asker[] = { 0, 0, 1, 0, 1 };
	static const unsigned int priority[] = { LOW, HIGH, LOW, HIGH, HIGH };
	static const unsigned int order[] = { 2, 5, 4, 1, 3 };
	struct asahi_slot_client buffer[6];

	wait_for_buffer(test, buffer, asker, priority, ARRAY_SIZE(asker));
	expect_order(test, order, ARRAY_SIZE(order));
}

static void passes_lower_priorities_only(struct kunit *test)
{
	static const unsigned int asker[] = { 0 }, priority[] = { LOW };
	struct asahi_slot_client buffer[2];
	struct fixture *f = test->priv;

	wait_for_buffer(test, buffer, asker, priority, 1);
	f->req[2].asker = &f->asker[1];
	KUNIT_EXPECT_FALSE(test, acquire(f, name(f, 2, &f->vm[0], NULL)));
	f->req[3].asker = &f->asker[2];
	f->req[3].priority = HIGH;
	KUNIT_EXPECT_TRUE(test, acquire(f, name(f, 3, &f->vm[1], NULL)));

	asahi_slots_release(f->slots, &f->req[0]);
	KUNIT_EXPECT_TRUE(test, acquire(f, &f->req[2]));
	asahi_slots_release(f->slots, &f->req[1]);
}

/* An allocator that keeps a context and two events, in the place of the test's. */
static void keep_some(struct kunit *test)
{
	static const struct asahi_slot_range range[ASAHI_SLOT_KINDS] = {
		[ASAHI_SLOT_VM] = { .first = FIRST, .count = VMS, .kept = 1 },
		[ASAHI_SLOT_EVENT] = { .first = 0, .count = EVENTS, .kept = 2 },
		[ASAHI_SLOT_BUFFER] = { .first = 0, .count = 1 },
	};
	struct fixture *f = test->priv;
	struct asahi_slots *slots = asahi_slots_create(range);

	KUNIT_ASSERT_FALSE(test, IS_ERR(slots));
	asahi_slots_destroy(f->slots);
	f->slots = slots;
}

static void keeps_contexts_for_high_priorities(struct kunit *test)
{
	struct fixture *f = test->priv;

	keep_some(test);
	for (int i = 0; i < VMS - 1; i++)
		KUNIT_ASSERT_TRUE(test, acquire(f, name(f, i, &f->vm[i], NULL)));
	KUNIT_ASSERT_FALSE(test, acquire(f, name(f, 2, &f->vm[2], NULL)));

	/* the first one of high priority has its context, the next one waits */
	f->req[3].priority = HIGH;
	f->req[4].priority = HIGH;
	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 3, &f->vm[3], NULL)));
	KUNIT_ASSERT_FALSE(test, acquire(f, name(f, 4, &f->vm[4], NULL)));
	asahi_slots_release(f->slots, &f->req[0]);
	KUNIT_EXPECT_TRUE(test, acquire(f, &f->req[4]));

	/* one that is free again is for them once more */
	asahi_slots_release(f->slots, &f->req[3]);
	KUNIT_EXPECT_FALSE(test, acquire(f, &f->req[2]));
	asahi_slots_release(f->slots, &f->req[4]);
	KUNIT_EXPECT_TRUE(test, acquire(f, &f->req[2]));
}

static void keeps_events_for_high_priorities(struct kunit *test)
{
	struct fixture *f = test->priv;

	keep_some(test);
	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 0, &f->event[0], NULL)));
	KUNIT_ASSERT_FALSE(test, acquire(f, name(f, 1, &f->event[1], &f->event[2])));
	f->req[2].priority = HIGH;
	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 2, &f->event[3], &f->event[4])));
	KUNIT_EXPECT_FALSE(test, acquire(f, &f->req[1]));
	asahi_slots_release(f->slots, &f->req[0]);
	asahi_slots_release(f->slots, &f->req[2]);
	KUNIT_EXPECT_TRUE(test, acquire(f, &f->req[1]));

	/* a queue that has its event takes none of them */
	KUNIT_EXPECT_TRUE(test, acquire(f, name(f, 3, &f->event[1], NULL)));
}

static void who_gives_up_makes_room(struct kunit *test)
{
	struct fixture *f = test->priv;

	for (int i = 0; i < VMS; i++)
		KUNIT_ASSERT_TRUE(test, acquire(f, name(f, i, &f->vm[i], NULL)));
	KUNIT_ASSERT_FALSE(test, acquire(f, name(f, 3, &f->vm[3], NULL)));
	KUNIT_ASSERT_FALSE(test, acquire(f, name(f, 4, &f->vm[0], NULL)));

	/* the next one in the queue needs no free slot */
	asahi_slots_release(f->slots, &f->req[3]);
	KUNIT_EXPECT_TRUE(test, acquire(f, &f->req[4]));
	KUNIT_EXPECT_EQ(test, f->vm[0].users, 2);

	/* once more, and of a request that holds nothing */
	asahi_slots_release(f->slots, &f->req[3]);
	KUNIT_EXPECT_EQ(test, f->vm[0].users, 2);
}

static void several_are_served_at_once(struct kunit *test)
{
	struct fixture *f = test->priv;

	for (int i = 0; i < EVENTS; i++)
		asahi_slot_request_add(&f->req[0], &f->event[i]);
	KUNIT_ASSERT_TRUE(test, acquire(f, &f->req[0]));
	for (int i = 0; i < 3; i++)
		KUNIT_ASSERT_FALSE(test, acquire(f, name(f, 1 + i, &f->event[EVENTS + i], NULL)));

	asahi_slots_release(f->slots, &f->req[0]);
	KUNIT_EXPECT_EQ(test, asahi_slots_waiting(f->slots), 0);
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, acquire(f, &f->req[1 + i]));
}

static void comes_back_to_its_slot(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int slot;
	u64 tenure;

	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 0, &f->vm[0], NULL)));
	slot = f->vm[0].slot;
	tenure = f->vm[0].tenure;
	asahi_slots_release(f->slots, &f->req[0]);

	/* two others fit beside it, and leave it alone */
	for (int i = 1; i < VMS; i++)
		KUNIT_ASSERT_TRUE(test, acquire(f, name(f, i, &f->vm[i], NULL)));
	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 4, &f->vm[0], NULL)));
	KUNIT_EXPECT_EQ(test, f->vm[0].slot, slot);
	KUNIT_EXPECT_EQ(test, f->vm[0].tenure, tenure);
}

static void takes_what_is_free_for_longest(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int longest;

	for (int i = 0; i < VMS; i++)
		KUNIT_ASSERT_TRUE(test, acquire(f, name(f, i, &f->vm[i], NULL)));
	longest = f->vm[1].slot;
	asahi_slots_release(f->slots, &f->req[1]);
	asahi_slots_release(f->slots, &f->req[0]);
	asahi_slots_release(f->slots, &f->req[2]);

	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 3, &f->vm[3], NULL)));
	KUNIT_EXPECT_EQ(test, f->vm[3].slot, longest);

	/* its former owner gets another one */
	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 4, &f->vm[1], NULL)));
	KUNIT_EXPECT_NE(test, f->vm[1].slot, longest);
}

static void tenure_tells_who_lost_its_slot(struct kunit *test)
{
	struct asahi_slot_client buffer[2];
	struct fixture *f = test->priv;
	u64 tenure;

	for (int i = 0; i < 2; i++)
		asahi_slot_client_init(&buffer[i], ASAHI_SLOT_BUFFER);

	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 0, &buffer[0], NULL)));
	tenure = buffer[0].tenure;
	asahi_slots_release(f->slots, &f->req[0]);
	KUNIT_ASSERT_TRUE(test, acquire(f, &f->req[0]));
	KUNIT_EXPECT_EQ(test, buffer[0].tenure, tenure);
	asahi_slots_release(f->slots, &f->req[0]);

	/* the only slot goes to another one and comes back */
	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 1, &buffer[1], NULL)));
	asahi_slots_release(f->slots, &f->req[1]);
	KUNIT_ASSERT_TRUE(test, acquire(f, &f->req[0]));
	KUNIT_EXPECT_EQ(test, buffer[0].slot, buffer[1].slot);
	KUNIT_EXPECT_NE(test, buffer[0].tenure, tenure);

	asahi_slots_release(f->slots, &f->req[0]);
}

static void nothing_moves_while_frozen(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_TRUE(test, acquire(f, name(f, 0, &f->vm[0], NULL)));
	asahi_slots_freeze(f->slots);
	KUNIT_EXPECT_FALSE(test, acquire(f, name(f, 1, &f->vm[1], NULL)));
	asahi_slots_release(f->slots, &f->req[0]);
	KUNIT_EXPECT_FALSE(test, acquire(f, &f->req[1]));

	asahi_slots_thaw(f->slots);
	KUNIT_EXPECT_TRUE(test, acquire(f, &f->req[1]));
	KUNIT_EXPECT_TRUE(test, acquire(f, name(f, 2, &f->vm[2], NULL)));
}

static void trying_passes_nobody(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_TRUE(test, asahi_slots_try(f->slots, name(f, 0, &f->vm[0], NULL)));
	KUNIT_EXPECT_EQ(test, f->vm[0].users, 1);
	for (int i = 1; i < VMS; i++)
		KUNIT_ASSERT_TRUE(test, acquire(f, name(f, i, &f->vm[i], NULL)));
	KUNIT_EXPECT_FALSE(test, acquire(f, name(f, VMS, &f->vm[VMS], NULL)));

	/* it has its slot already, but others were there before */
	KUNIT_EXPECT_FALSE(test, asahi_slots_try(f->slots, name(f, VMS + 1, &f->vm[0], NULL)));
	KUNIT_EXPECT_EQ(test, f->vm[0].users, 1);
	KUNIT_EXPECT_EQ(test, asahi_slots_waiting(f->slots), 1);

	/* nobody waits, and nothing is free */
	asahi_slots_release(f->slots, &f->req[VMS]);
	KUNIT_EXPECT_FALSE(test, asahi_slots_try(f->slots, &f->req[VMS]));
	KUNIT_EXPECT_EQ(test, asahi_slots_waiting(f->slots), 0);
	KUNIT_EXPECT_TRUE(test, asahi_slots_try(f->slots, &f->req[VMS + 1]));
	KUNIT_EXPECT_EQ(test, f->vm[0].users, 2);

	asahi_slots_freeze(f->slots);
	KUNIT_EXPECT_FALSE(test, asahi_slots_try(f->slots, name(f, VMS + 2, &f->vm[0], NULL)));
	asahi_slots_thaw(f->slots);
	KUNIT_EXPECT_TRUE(test, asahi_slots_try(f->slots, &f->req[VMS + 2]));
}

static void checks_ranges(struct kunit *test)
{
	struct asahi_slot_range range[ASAHI_SLOT_KINDS] = {
		[ASAHI_SLOT_VM] = { .first = 0, .count = 1 },
		[ASAHI_SLOT_EVENT] = { .first = 0, .count = 0 },
		[ASAHI_SLOT_BUFFER] = { .first = 0, .count = 1 },
	};

	KUNIT_EXPECT_TRUE(test, IS_ERR(asahi_slots_create(range)));
	range[ASAHI_SLOT_EVENT].count = ASAHI_SLOT_TABLE + 1;
	KUNIT_EXPECT_TRUE(test, IS_ERR(asahi_slots_create(range)));
	range[ASAHI_SLOT_EVENT].count = 2;
	range[ASAHI_SLOT_EVENT].kept = 2;
	KUNIT_EXPECT_TRUE(test, IS_ERR(asahi_slots_create(range)));
}

static void stamps_wrap(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, asahi_stamp_reached(0x100, 0x100));
	KUNIT_EXPECT_TRUE(test, asahi_stamp_reached(0x200, 0x100));
	KUNIT_EXPECT_FALSE(test, asahi_stamp_reached(0x100, 0x200));
	KUNIT_EXPECT_FALSE(test, asahi_stamp_reached(0xffffff00, 0));
	KUNIT_EXPECT_TRUE(test, asahi_stamp_reached(0, 0xffffff00));
	KUNIT_EXPECT_TRUE(test, asahi_stamp_reached(0x7e00, 0xffffff00));
}

static void stamps_have_an_end(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, asahi_stamp_between(0x100, 0x100, 0x100));
	KUNIT_EXPECT_TRUE(test, asahi_stamp_between(0x300, 0x100, 0x300));
	KUNIT_EXPECT_FALSE(test, asahi_stamp_between(0x400, 0x100, 0x300));
	KUNIT_EXPECT_FALSE(test, asahi_stamp_between(0x301, 0x100, 0x300));
	KUNIT_EXPECT_FALSE(test, asahi_stamp_between(0, 0x100, 0x300));
	KUNIT_EXPECT_TRUE(test, asahi_stamp_between(0, 0xffffff00, 0x100));
	KUNIT_EXPECT_FALSE(test, asahi_stamp_between(0x200, 0xffffff00, 0x100));
}

static struct kunit_case slot_tests[] = {
	KUNIT_CASE(hands_out_all),
	KUNIT_CASE(owner_shares_its_slot),
	KUNIT_CASE(takes_all_or_nothing),
	KUNIT_CASE(first_come_first_served),
	KUNIT_CASE(clients_take_turns),
	KUNIT_CASE(higher_priorities_come_first),
	KUNIT_CASE(passes_lower_priorities_only),
	KUNIT_CASE(keeps_contexts_for_high_priorities),
	KUNIT_CASE(keeps_events_for_high_priorities),
	KUNIT_CASE(who_gives_up_makes_room),
	KUNIT_CASE(several_are_served_at_once),
	KUNIT_CASE(comes_back_to_its_slot),
	KUNIT_CASE(takes_what_is_free_for_longest),
	KUNIT_CASE(tenure_tells_who_lost_its_slot),
	KUNIT_CASE(nothing_moves_while_frozen),
	KUNIT_CASE(trying_passes_nobody),
	KUNIT_CASE(checks_ranges),
	KUNIT_CASE(stamps_wrap),
	KUNIT_CASE(stamps_have_an_end),
	{}
};

static struct kunit_suite slot_suite = {
	.name = "asahi_slot",
	.init = slot_test_init,
	.exit = slot_test_exit,
	.test_cases = slot_tests,
};

kunit_test_suite(slot_suite);
