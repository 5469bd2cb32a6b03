// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the handoff region, with a thread in the firmware's place.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>

#include "asahi_handoff.h"

#define ROUNDS		20000
/* A machine that is merely busy causes fewer. */
#define TIMEOUTS	50

/**
 * struct firmware - the other side
 * @handoff: what both share
 * @inside: how many are inside, to be 0 or 1
 * @clashes: how often it was more
 * @rounds: how often the firmware has been inside
 */
struct firmware {
	struct asahi_handoff *handoff;
	unsigned int inside;
	unsigned int clashes;
	unsigned int rounds;
};

static int firmware_init(struct kunit *test)
{
	struct firmware *fw = kunit_kzalloc(test, sizeof(*fw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fw);
	fw->handoff = kunit_kzalloc(test, sizeof(*fw->handoff), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fw->handoff);
	test->priv = fw;
	return 0;
}

/* Not atomic on purpose: what the lock protects must not need it. */
static void critical_section(struct firmware *fw)
{
	unsigned int inside = READ_ONCE(fw->inside);

	if (inside)
		WRITE_ONCE(fw->clashes, fw->clashes + 1);
	WRITE_ONCE(fw->inside, inside + 1);
	ndelay(200);
	WRITE_ONCE(fw->inside, READ_ONCE(fw->inside) - 1);
}

static void firmware_raise(struct asahi_handoff *h)
{
	WRITE_ONCE(h->lock_fw, 1);
	/* Seen by the host before its flag is looked at. */
	smp_mb();
}

static bool firmware_lock(struct asahi_handoff *h)
{
	firmware_raise(h);
	while (READ_ONCE(h->lock_ap)) {
		if (kthread_should_stop())
			return false;
		cond_resched();
		if (READ_ONCE(h->turn))
			continue;
		WRITE_ONCE(h->lock_fw, 0);
		while (!READ_ONCE(h->turn) && !kthread_should_stop())
			cond_resched();
		firmware_raise(h);
	}
	/* The host's critical section comes before this one. */
	smp_mb();
	return true;
}

static void firmware_unlock(struct asahi_handoff *h)
{
	/* This critical section comes before the host's next one. */
	smp_mb();
	WRITE_ONCE(h->turn, 0);
	/* The turn is the host's by the time that it sees the lock free. */
	smp_wmb();
	WRITE_ONCE(h->lock_fw, 0);
}

static int firmware_thread(void *data)
{
	struct firmware *fw = data;

	while (!kthread_should_stop()) {
		if (!firmware_lock(fw->handoff))
			break;
		critical_section(fw);
		fw->rounds++;
		firmware_unlock(fw->handoff);
		cond_resched();
	}

	firmware_unlock(fw->handoff);
	return 0;
}

static void both_want_it(struct kunit *test)
{
	struct firmware *fw = test->priv;
	struct task_struct *thread;
	unsigned int i, timeouts = 0;

	thread = kthread_run(firmware_thread, fw, "handoff-firmware");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));

	/* A loaded machine may keep the other thread from running, here and below. */
	for (i = 0; i < ROUNDS && timeouts < TIMEOUTS; i++) {
		if (asahi_handoff_lock(fw->handoff)) {
			timeouts++;
			msleep(20);
			continue;
		}
		critical_section(fw);
		asahi_handoff_unlock(fw->handoff);
		cond_resched();
	}
	for (i = 0; i < TIMEOUTS && !READ_ONCE(fw->rounds); i++)
		msleep(20);

	kthread_stop(thread);
	KUNIT_EXPECT_EQ(test, fw->clashes, 0);
	KUNIT_EXPECT_EQ(test, fw->inside, 0);
	KUNIT_EXPECT_GT(test, fw->rounds, 0);
	KUNIT_EXPECT_LT(test, timeouts, TIMEOUTS);
	KUNIT_EXPECT_EQ(test, fw->handoff->lock_ap, 0);
}

static void nobody_else_wants_it(struct kunit *test)
{
	struct firmware *fw = test->priv;
	struct asahi_handoff *h = fw->handoff;

	KUNIT_EXPECT_EQ(test, asahi_handoff_lock(h), 0);
	KUNIT_EXPECT_EQ(test, h->lock_ap, 1);
	asahi_handoff_unlock(h);
	KUNIT_EXPECT_EQ(test, h->lock_ap, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(h->turn), 1);
	/* Again, though it is the other's turn: that one does not want it. */
	KUNIT_EXPECT_EQ(test, asahi_handoff_lock(h), 0);
	asahi_handoff_unlock(h);
}

/* A dead firmware that has the lock, whosever turn it is. */
static void firmware_keeps_it(struct kunit *test)
{
	struct firmware *fw = test->priv;
	struct asahi_handoff *h = fw->handoff;
	ktime_t start;
	unsigned int turn;

	for (turn = 0; turn < 2; turn++) {
		h->lock_fw = 1;
		h->turn = cpu_to_le32(turn);
		start = ktime_get();
		KUNIT_EXPECT_EQ(test, asahi_handoff_lock(h), -ETIMEDOUT);
		KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), start), 100);
		KUNIT_EXPECT_EQ(test, h->lock_ap, 0);
	}
}

static void announcements(struct kunit *test)
{
	struct firmware *fw = test->priv;
	struct asahi_handoff *h = fw->handoff;

	h->cur_slot = cpu_to_le32(5);
	h->flush[64].state = cpu_to_le64(AGX_HANDOFF_FLUSH_DONE);
	KUNIT_EXPECT_FALSE(test, asahi_handoff_was_used(h));
	asahi_handoff_announce(h);
	KUNIT_EXPECT_TRUE(test, asahi_handoff_was_used(h));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(h->magic_ap), 0x4b1d000000000002ULL);
	KUNIT_EXPECT_EQ(test, asahi_handoff_current_slot(h), 0);

	KUNIT_EXPECT_FALSE(test, asahi_handoff_answered(h));
	h->magic_fw = cpu_to_le64(0x4b1d000000000002ULL);
	KUNIT_EXPECT_TRUE(test, asahi_handoff_answered(h));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(h->flush[64].state), 0);
	h->lock_fw = 1;
	KUNIT_EXPECT_FALSE(test, asahi_handoff_answered(h));

	asahi_handoff_retract(h);
	KUNIT_EXPECT_FALSE(test, asahi_handoff_was_used(h));
}

static void current_slots(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->handoff->cur_slot = cpu_to_le32(63);
	KUNIT_EXPECT_EQ(test, asahi_handoff_current_slot(fw->handoff), 63);
	fw->handoff->cur_slot = cpu_to_le32(U32_MAX);
	KUNIT_EXPECT_EQ(test, asahi_handoff_current_slot(fw->handoff), 0);
}

static void flushes(struct kunit *test)
{
	struct firmware *fw = test->priv;
	u8 *flush = (u8 *)fw->handoff + 0x20 + 64 * 0x18;

	asahi_handoff_begin_flush(fw->handoff, 64, 0xffffffa000004000ULL, 0x8000);
	KUNIT_EXPECT_EQ(test, *(u64 *)flush, 1);
	KUNIT_EXPECT_EQ(test, *(u64 *)(flush + 8), 0xffffffa000004000ULL);
	KUNIT_EXPECT_EQ(test, *(u64 *)(flush + 16), 0x8000);
	KUNIT_EXPECT_EQ(test, asahi_handoff_flush_state(fw->handoff, 64), 1);
	*(u64 *)flush = 2;
	KUNIT_EXPECT_EQ(test, asahi_handoff_flush_state(fw->handoff, 64), 2);
	asahi_handoff_end_flush(fw->handoff, 64);
	KUNIT_EXPECT_EQ(test, *(u64 *)flush, 0);
}

/* The region of a firmware that has gone is as it was before the first one. */
static void forgotten_firmware(struct kunit *test)
{
	struct firmware *fw = test->priv;
	struct asahi_handoff *h = fw->handoff;

	asahi_handoff_announce(h);
	h->magic_fw = cpu_to_le64(0x4b1d000000000002ULL);
	h->lock_fw = 1;
	h->turn = cpu_to_le32(1);
	asahi_handoff_reset(h);
	KUNIT_EXPECT_FALSE(test, asahi_handoff_was_used(h));
	asahi_handoff_announce(h);
	KUNIT_EXPECT_FALSE(test, asahi_handoff_answered(h));
	KUNIT_EXPECT_EQ(test, asahi_handoff_lock(h), 0);
	asahi_handoff_unlock(h);
}

static struct kunit_case handoff_cases[] = {
	KUNIT_CASE(both_want_it),
	KUNIT_CASE(nobody_else_wants_it),
	KUNIT_CASE(firmware_keeps_it),
	KUNIT_CASE(announcements),
	KUNIT_CASE(current_slots),
	KUNIT_CASE(flushes),
	KUNIT_CASE(forgotten_firmware),
	{}
};

static struct kunit_suite handoff_suite = {
	.name = "asahi_handoff",
	.init = firmware_init,
	.test_cases = handoff_cases,
};

kunit_test_suite(handoff_suite);
