// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of how much a queue and a job may take.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sizes.h>

#include "asahi_batch.h"
#include "asahi_device.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_room.h"
#include "asahi_state.h"

/* Jobs, and bytes of them, that a queue may have; bytes of one job: uapi.rst */
#define ROOM_JOBS	1024
#define ROOM_BYTES	SZ_128M
#define JOB_BYTES	SZ_2G

/**
 * struct fake - a device that is lost, so that nobody waits for room
 * @adev: device, of which only the state exists
 * @queue: queue, of which only the room exists
 */
struct fake {
	struct asahi_device *adev;
	struct asahi_queue *queue;
};

/* No job is over here. */
static void fake_free(struct llist_node *list)
{
}

static int room_test_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct asahi_device *adev = kunit_kzalloc(test, sizeof(*adev), GFP_KERNEL);
	struct asahi_queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-room");

	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_NULL(test, adev);
	KUNIT_ASSERT_NOT_NULL(test, queue);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	adev->drm.dev = dev;
	asahi_state_init(&adev->state);
	adev->state.now = ASAHI_STATE_WEDGED;
	asahi_room_init(&queue->room);
	queue->adev = adev;
	adev->batch = asahi_batch_create(ASAHI_BATCH_MS, fake_free);
	KUNIT_ASSERT_NOT_NULL(test, adev->batch);
	fake->adev = adev;
	fake->queue = queue;
	test->priv = fake;

	return 0;
}

static void room_test_exit(struct kunit *test)
{
	struct fake *fake = test->priv;

	KUNIT_EXPECT_EQ(test, fake->queue->room.jobs, 0);
	KUNIT_EXPECT_EQ(test, fake->queue->room.bytes, 0);
	asahi_batch_destroy(fake->adev->batch);
}

static int take(struct fake *fake, u64 bytes)
{
	return asahi_room_take(&fake->queue->room, fake->adev, bytes);
}

static void give(struct fake *fake, u64 bytes)
{
	asahi_room_give(&fake->queue->room, bytes);
}

static void room_test_jobs(struct kunit *test)
{
	struct fake *fake = test->priv;
	unsigned int i;

	for (i = 0; i < ROOM_JOBS; i++)
		KUNIT_ASSERT_EQ(test, take(fake, 1), 0);
	KUNIT_EXPECT_EQ(test, take(fake, 1), -ENODEV);
	give(fake, 1);
	KUNIT_EXPECT_EQ(test, take(fake, 1), 0);
	KUNIT_EXPECT_EQ(test, take(fake, 0), -ENODEV);
	while (i--)
		give(fake, 1);
}

static void room_test_bytes(struct kunit *test)
{
	struct fake *fake = test->priv;

	KUNIT_ASSERT_EQ(test, take(fake, 1), 0);
	KUNIT_ASSERT_EQ(test, take(fake, ROOM_BYTES - 1), 0);
	KUNIT_EXPECT_EQ(test, take(fake, 1), -ENODEV);
	KUNIT_EXPECT_EQ(test, take(fake, 0), 0);
	give(fake, 0);
	give(fake, 1);
	KUNIT_EXPECT_EQ(test, take(fake, 2), -ENODEV);
	KUNIT_EXPECT_EQ(test, take(fake, 1), 0);
	give(fake, 1);
	give(fake, ROOM_BYTES - 1);
}

/* A larger job waits until it has the queue for itself, and others wait for it. */
static void room_test_large_job(struct kunit *test)
{
	struct fake *fake = test->priv;

	KUNIT_ASSERT_EQ(test, take(fake, 1), 0);
	KUNIT_EXPECT_EQ(test, take(fake, ROOM_BYTES + 1), -ENODEV);
	give(fake, 1);
	KUNIT_EXPECT_EQ(test, take(fake, ROOM_BYTES + 1), 0);
	KUNIT_EXPECT_EQ(test, take(fake, 0), -ENODEV);
	give(fake, ROOM_BYTES + 1);
}

static void room_test_shut(struct kunit *test)
{
	struct fake *fake = test->priv;

	KUNIT_ASSERT_EQ(test, take(fake, 1), 0);
	KUNIT_EXPECT_FALSE(test, asahi_room_shut(&fake->queue->room));
	give(fake, 1);
	KUNIT_EXPECT_TRUE(test, asahi_room_shut(&fake->queue->room));
	KUNIT_EXPECT_EQ(test, take(fake, 1), -ENODEV);
	asahi_room_open(&fake->queue->room);
	KUNIT_EXPECT_EQ(test, take(fake, 1), 0);
	give(fake, 1);
}

static int room_test_waiter(void *data)
{
	struct fake *fake = data;

	return take(fake, 1);
}

/* Of a device that works, the queue is waited for. */
static void room_test_waits(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct task_struct *waiter;

	KUNIT_ASSERT_EQ(test, take(fake, ROOM_BYTES), 0);
	fake->adev->state.now = ASAHI_STATE_RUNNING;
	waiter = kthread_run(room_test_waiter, fake, "asahi-room");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, waiter);
	get_task_struct(waiter);
	for (unsigned int i = 0; i < 100 && !wq_has_sleeper(&fake->queue->room.more); i++)
		msleep(20);
	KUNIT_EXPECT_TRUE(test, wq_has_sleeper(&fake->queue->room.more));
	KUNIT_EXPECT_EQ(test, fake->queue->room.jobs, 1);
	give(fake, ROOM_BYTES);
	KUNIT_EXPECT_EQ(test, kthread_stop_put(waiter), 0);
	KUNIT_EXPECT_EQ(test, fake->queue->room.jobs, 1);
	give(fake, 1);
}

/* Bytes of all kinds count together. */
static void room_test_bytes_of_a_job(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_work_memory memory = {
		.ro = SZ_16K,
		.private = SZ_32K,
		.shared = SZ_64K,
		.word = SZ_128K,
	};
	struct asahi_job *job = kunit_kzalloc(test, sizeof(*job), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, job);
	job->queue = fake->queue;
	memory.gpu = JOB_BYTES - memory.ro - memory.private - memory.shared - memory.word;
	KUNIT_EXPECT_EQ(test, asahi_job_take_room(job, &memory), 0);
	KUNIT_EXPECT_EQ(test, job->bytes, JOB_BYTES);
	give(fake, job->bytes);

	job->bytes = 0;
	memory.gpu++;
	KUNIT_EXPECT_EQ(test, asahi_job_take_room(job, &memory), -ENOMEM);
	KUNIT_EXPECT_EQ(test, job->bytes, 0);
}

static struct kunit_case asahi_room_cases[] = {
	KUNIT_CASE(room_test_jobs),
	KUNIT_CASE(room_test_bytes),
	KUNIT_CASE(room_test_large_job),
	KUNIT_CASE(room_test_shut),
	KUNIT_CASE(room_test_waits),
	KUNIT_CASE(room_test_bytes_of_a_job),
	{}
};

static struct kunit_suite asahi_room_suite = {
	.name = "asahi_room",
	.init = room_test_init,
	.exit = room_test_exit,
	.test_cases = asahi_room_cases,
};

kunit_test_suite(asahi_room_suite);
