// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of queues whose vertex buffer is to be given back.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/static_stub.h>
#include <kunit/test.h>

#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include <agx/agx_rtkit.h>

#include "asahi_channel.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_fw_event.h"
#include "asahi_fw_workqueue.h"
#include "asahi_queue_priv.h"
#include "asahi_state.h"
#include "asahi_tvb.h"

/* How often the firmware is asked whether it reads, says lifecycle.rst. */
#define QUESTIONS	10

#define CONTEXT_VA	0xffffffa000123400ULL
#define FW_ID		77

/**
 * struct fake - a queue and its firmware
 * @adev: device, of which only the state exists
 * @queue: queue, of which only the context and an empty vertex buffer exist
 * @destroys: how often the firmware was told to forget the queue's context
 * @flushes: how often it was told to flush its cache, which is the question
 * @destroy_result: what comes of the former
 * @flush_result: of the latter
 * @lives: questions after which the firmware is dead
 */
struct fake {
	struct asahi_device *adev;
	struct asahi_queue *queue;
	unsigned int destroys;
	unsigned int flushes;
	int destroy_result;
	int flush_result;
	unsigned int lives;
};

static int fake_device_control(struct asahi_device *adev, const struct asahi_dc_msg *msg)
{
	struct kunit *test = kunit_get_current_test();
	struct fake *fake = test->priv;

	KUNIT_EXPECT_EQ(test, msg->type, ASAHI_DC_DESTROY_CONTEXT);
	/* Jobs of the queue complete while the firmware is waited for. */
	KUNIT_EXPECT_EQ(test, softirq_count(), 0);
	if (msg->destroy_context.context_va == CONTEXT_VA) {
		/* It does not start again meanwhile, and knows the context. */
		KUNIT_EXPECT_TRUE(test, mutex_is_locked(&fake->queue->context_lock));
		fake->destroys++;
		return fake->destroy_result;
	}

	/* A context that cannot be. */
	KUNIT_EXPECT_EQ(test, msg->destroy_context.context_va, 0);
	KUNIT_EXPECT_EQ(test, fake->destroys, 1);
	if (fake->flushes == fake->lives)
		return -ENODEV;
	fake->flushes++;

	return fake->flush_result;
}

static int queue_test_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct asahi_device *adev = kunit_kzalloc(test, sizeof(*adev), GFP_KERNEL);
	struct asahi_queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-queue");

	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_NULL(test, adev);
	KUNIT_ASSERT_NOT_NULL(test, queue);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	adev->drm.dev = dev;
	asahi_state_init(&adev->state);
	asahi_state_set_fw(adev, ASAHI_FW_RUNNING);

	queue->adev = adev;
	queue->fw_id = FW_ID;
	queue->context.va = CONTEXT_VA;
	queue->context.map = kunit_kzalloc(test, sizeof(struct asahi_fw_gpu_context_data),
					   GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, queue->context.map);
	queue->pipes.wq[AGX_PIPE_VERTEX].used = true;
	queue->tvb.large = true;
	queue->tvb.handed_over = 100;
	mutex_init(&queue->context_lock);
	spin_lock_init(&queue->timeline.lock);

	fake->adev = adev;
	fake->queue = queue;
	fake->lives = UINT_MAX;
	test->priv = fake;
	kunit_activate_static_stub(test, asahi_channel_device_control, fake_device_control);

	return 0;
}

/* The buffer stays, and the firmware knows the queue under its old number. */
static void queue_test_exit(struct kunit *test)
{
	struct fake *fake = test->priv;

	KUNIT_EXPECT_TRUE(test, fake->queue->tvb.large);
	KUNIT_EXPECT_EQ(test, fake->queue->tvb.handed_over, 100);
	KUNIT_EXPECT_EQ(test, fake->queue->fw_id, FW_ID);
	mutex_destroy(&fake->queue->context_lock);
}

static void expect_trim(struct kunit *test, int ret, unsigned int flushes, bool given_up)
{
	struct fake *fake = test->priv;

	KUNIT_EXPECT_EQ(test, asahi_queue_trim(fake->queue), ret);
	KUNIT_EXPECT_EQ(test, fake->destroys, 1);
	KUNIT_EXPECT_EQ(test, fake->flushes, flushes);
	KUNIT_EXPECT_EQ(test, asahi_state_get(fake->adev) == ASAHI_STATE_FAILED, given_up);
}

/* It does everything but read, so it is not silent. */
static void queue_test_trim_unread(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->destroy_result = -ETIMEDOUT;
	fake->flush_result = -ETIMEDOUT;
	expect_trim(test, -ETIMEDOUT, QUESTIONS, true);
}

/* It has read the first message, and no question after it. */
static void queue_test_trim_question_unread(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->flush_result = -ETIMEDOUT;
	expect_trim(test, -ETIMEDOUT, QUESTIONS, true);
}

/* Its ring is full. */
static void queue_test_trim_no_room(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->flush_result = -EBUSY;
	expect_trim(test, -EBUSY, QUESTIONS, true);
}

/* It was full already: nothing was sent, so nothing is asked. */
static void queue_test_trim_not_sent(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->destroy_result = -EBUSY;
	expect_trim(test, -EBUSY, 0, false);
}

/* Somebody else gives it up meanwhile: nobody is asked any more. */
static void queue_test_trim_dies(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->flush_result = -ETIMEDOUT;
	fake->lives = 3;
	expect_trim(test, -ENODEV, 3, false);
}

/* So it is with the last question, which is as good as the first. */
static void queue_test_trim_last_question(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->flush_result = -ETIMEDOUT;
	fake->lives = QUESTIONS - 1;
	expect_trim(test, -ENODEV, QUESTIONS - 1, false);
}

/* As the scheduler's fences do, which may be asked for the name of their timeline. */
static void queue_test_is_freed_after_readers(struct kunit *test)
{
	const char *name = "a name";
	struct asahi_queue *queue = kzalloc_obj(*queue);
	struct asahi_queue *other[64];
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, queue);
	queue->entity.sched.name = name;
	mutex_init(&queue->submit_lock);
	mutex_init(&queue->context_lock);
	mutex_init(&queue->tvb.lock);
	asahi_timeline_prepare(&queue->timeline);
	asahi_count_inc(ASAHI_COUNT_QUEUE);

	scoped_guard(rcu) {
		asahi_queue_free_memory(queue);

		/* KASAN says whether it is still there, */
		KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(queue->entity.sched.name), name);
		/* and without KASAN somebody else would get it at once. */
		for (i = 0; i < ARRAY_SIZE(other); i++) {
			other[i] = kmalloc_obj(*other[i], GFP_NOWAIT);
			KUNIT_EXPECT_PTR_NE(test, other[i], queue);
		}
	}

	for (i = 0; i < ARRAY_SIZE(other); i++)
		kfree(other[i]);
}

static struct kunit_case asahi_queue_cases[] = {
	KUNIT_CASE(queue_test_trim_unread),
	KUNIT_CASE(queue_test_trim_question_unread),
	KUNIT_CASE(queue_test_trim_no_room),
	KUNIT_CASE(queue_test_trim_not_sent),
	KUNIT_CASE(queue_test_trim_dies),
	KUNIT_CASE(queue_test_trim_last_question),
	KUNIT_CASE(queue_test_is_freed_after_readers),
	{}
};

static struct kunit_suite asahi_queue_suite = {
	.name = "asahi_queue",
	.init = queue_test_init,
	.exit = queue_test_exit,
	.test_cases = asahi_queue_cases,
};

kunit_test_suite(asahi_queue_suite);
