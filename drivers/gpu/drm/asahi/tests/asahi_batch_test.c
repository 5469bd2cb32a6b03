// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of when jobs that are over are freed.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/delay.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/time64.h>
#include <linux/wait.h>

#include "asahi_batch.h"
#include "asahi_device.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_room.h"
#include "asahi_stash.h"
#include "asahi_state.h"

/* When a batch is freed, says the DOC block */
#define MAX_JOBS	64
#define MAX_BYTES	SZ_16M

/* Longer than any test */
#define NEVER_MS	(3600 * 1000)

/* A thing that is not freed within this has been forgotten. */
#define FREED_MS	5000

/* Room for so much makes a queue full: uapi.rst. */
#define ROOM_BYTES	SZ_128M

/**
 * struct fake - a device with a batch, and a queue
 * @adev: device, of which only batch and state exist
 * @queue: queue, of which only room and stash exist
 * @jobs: jobs that are nothing but a reference
 * @freed: how many were freed
 * @out_of_order: how many of these were older than one before
 * @last: the latest that was freed
 * @next: job that is over while the first is being freed, or NULL
 */
struct fake {
	struct asahi_device *adev;
	struct asahi_queue *queue;
	struct asahi_job *jobs;
	atomic_t freed;
	atomic_t out_of_order;
	struct asahi_job *last;
	struct asahi_job *next;
};

/* Of the only test that runs; its batch has a worker without a test of its own. */
static struct fake *batch_test_fake;

static void add(struct fake *fake, struct asahi_job *job, u64 bytes)
{
	guard(rcu)();
	asahi_batch_add(fake->adev->batch, &job->free_link, bytes);
}

static void batch_test_free(struct llist_node *list)
{
	struct fake *fake = batch_test_fake;
	struct asahi_job *job, *next;

	if (fake->next) {
		add(fake, fake->next, 0);
		asahi_batch_hurry(fake->adev->batch);
		fake->next = NULL;
	}
	llist_for_each_entry_safe(job, next, list, free_link) {
		if (job < fake->last)
			atomic_inc(&fake->out_of_order);
		fake->last = job;
		if (job->bytes)
			asahi_room_give(&job->queue->room, job->bytes);
		atomic_inc(&fake->freed);
	}
}

static void make_batch(struct kunit *test, unsigned int ms)
{
	struct fake *fake = test->priv;

	fake->adev->batch = asahi_batch_create(ms, batch_test_free);
	KUNIT_ASSERT_NOT_NULL(test, fake->adev->batch);
}

static int batch_test_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct asahi_device *adev = kunit_kzalloc(test, sizeof(*adev), GFP_KERNEL);
	struct asahi_queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-batch");

	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_NULL(test, adev);
	KUNIT_ASSERT_NOT_NULL(test, queue);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	fake->jobs = kunit_kcalloc(test, MAX_JOBS, sizeof(*fake->jobs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->jobs);

	adev->drm.dev = dev;
	asahi_state_init(&adev->state);
	adev->state.now = ASAHI_STATE_RUNNING;
	asahi_room_init(&queue->room);
	asahi_stash_init(&queue->stash, NULL, NULL, NULL);
	queue->adev = adev;
	for (unsigned int i = 0; i < MAX_JOBS; i++) {
		kref_init(&fake->jobs[i].refcount);
		fake->jobs[i].queue = queue;
	}
	fake->adev = adev;
	fake->queue = queue;
	test->priv = fake;
	batch_test_fake = fake;

	return 0;
}

static void batch_test_exit(struct kunit *test)
{
	struct fake *fake = test->priv;

	if (!fake)
		return;
	/* A test that has failed may have left some. */
	if (fake->adev->batch)
		asahi_batch_hurry(fake->adev->batch);
	for (unsigned int i = 0; i < FREED_MS && fake->adev->batch &&
	     asahi_batch_is_hurrying(fake->adev->batch); i++)
		fsleep(USEC_PER_MSEC);
	asahi_batch_destroy(fake->adev->batch);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->out_of_order), 0);
	batch_test_fake = NULL;
}

static void expect_freed(struct kunit *test, unsigned int count)
{
	struct fake *fake = test->priv;

	for (unsigned int i = 0; i < FREED_MS && atomic_read(&fake->freed) < count; i++)
		fsleep(USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->freed), count);
}

/* The caller has made it begin; it may be over already. */
static void expect_hurry(struct kunit *test, bool hurry)
{
	struct fake *fake = test->priv;
	bool is_hurrying = asahi_batch_is_hurrying(fake->adev->batch);

	KUNIT_EXPECT_EQ(test, is_hurrying || atomic_read(&fake->freed), hurry);
}

static void batch_test_jobs(struct kunit *test)
{
	struct fake *fake = test->priv;

	make_batch(test, NEVER_MS);
	for (unsigned int i = 0; i < MAX_JOBS - 1; i++)
		add(fake, &fake->jobs[i], 0);
	expect_hurry(test, false);
	KUNIT_EXPECT_FALSE(test, asahi_batch_is_empty(fake->adev->batch));
	add(fake, &fake->jobs[MAX_JOBS - 1], 0);
	expect_freed(test, MAX_JOBS);
	KUNIT_EXPECT_TRUE(test, asahi_batch_is_empty(fake->adev->batch));
}

static void batch_test_bytes(struct kunit *test)
{
	struct fake *fake = test->priv;

	make_batch(test, NEVER_MS);
	add(fake, &fake->jobs[0], MAX_BYTES - 1);
	expect_hurry(test, false);
	KUNIT_EXPECT_EQ(test, asahi_batch_bytes(fake->adev->batch), MAX_BYTES - 1);
	add(fake, &fake->jobs[1], 1);
	expect_freed(test, 2);
	KUNIT_EXPECT_EQ(test, asahi_batch_bytes(fake->adev->batch), 0);
}

static void batch_test_time(struct kunit *test)
{
	struct fake *fake = test->priv;

	make_batch(test, 50);
	for (unsigned int i = 0; i < 2; i++) {
		add(fake, &fake->jobs[2 * i], 0);
		add(fake, &fake->jobs[2 * i + 1], 0);
		expect_freed(test, 2 * (i + 1));
	}
}

static void batch_test_hurry(struct kunit *test)
{
	struct fake *fake = test->priv;

	make_batch(test, NEVER_MS);
	asahi_batch_hurry(fake->adev->batch);
	expect_hurry(test, false);

	add(fake, &fake->jobs[0], 0);
	expect_hurry(test, false);
	asahi_batch_hurry(fake->adev->batch);
	expect_hurry(test, true);
	expect_freed(test, 1);

	/* And again, as if nothing had been. */
	add(fake, &fake->jobs[1], 0);
	asahi_batch_hurry(fake->adev->batch);
	expect_freed(test, 2);
}

/* A thing that is added while others are freed is in the next batch, which is asked for. */
static void batch_test_meanwhile(struct kunit *test)
{
	struct fake *fake = test->priv;

	make_batch(test, NEVER_MS);
	fake->next = &fake->jobs[1];
	add(fake, &fake->jobs[0], 0);
	asahi_batch_hurry(fake->adev->batch);
	expect_freed(test, 2);
}

static int batch_test_waiter(void *data)
{
	struct fake *fake = data;

	return asahi_room_take(&fake->queue->room, fake->adev, 1);
}

static struct task_struct *begin_to_wait(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct task_struct *waiter = kthread_run(batch_test_waiter, fake, "asahi-batch-test");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, waiter);
	get_task_struct(waiter);

	return waiter;
}

/* Two jobs take all room. The first has so little that the batch is far from full. */
static void fill_room(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_room *room = &fake->queue->room;

	KUNIT_ASSERT_EQ(test, asahi_room_take(room, fake->adev, 1), 0);
	KUNIT_ASSERT_EQ(test, asahi_room_take(room, fake->adev, ROOM_BYTES - 1), 0);
	fake->jobs[0].bytes = 1;
}

/* The job has been in the batch when somebody begins to wait for its room. */
static void batch_test_waits_after(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct task_struct *waiter;

	make_batch(test, NEVER_MS);
	fill_room(test);
	add(fake, &fake->jobs[0], 0);
	waiter = begin_to_wait(test);
	expect_freed(test, 1);
	/* The waiter gives up in the end. */
	if (!atomic_read(&fake->freed))
		fake->adev->state.now = ASAHI_STATE_WEDGED;
	KUNIT_EXPECT_EQ(test, kthread_stop_put(waiter), 0);
}

/* Somebody waits for its room when the job goes into the batch. */
static void batch_test_waits_before(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct task_struct *waiter;

	make_batch(test, NEVER_MS);
	fill_room(test);
	waiter = begin_to_wait(test);
	for (unsigned int i = 0; i < FREED_MS && !wq_has_sleeper(&fake->queue->room.more); i++)
		fsleep(USEC_PER_MSEC);
	expect_hurry(test, false);
	asahi_job_put(&fake->jobs[0]);
	expect_hurry(test, true);
	expect_freed(test, 1);
	KUNIT_EXPECT_EQ(test, kthread_stop_put(waiter), 0);
}

/* A queue that somebody uses is in no hurry; one whose end waits for its jobs is. */
static void batch_test_closed(struct kunit *test)
{
	struct fake *fake = test->priv;

	make_batch(test, NEVER_MS);
	asahi_job_put(&fake->jobs[0]);
	expect_hurry(test, false);
	fake->queue->closed = true;
	asahi_job_put(&fake->jobs[1]);
	expect_hurry(test, true);
	expect_freed(test, 2);
}

static struct kunit_case asahi_batch_cases[] = {
	KUNIT_CASE(batch_test_jobs),
	KUNIT_CASE(batch_test_bytes),
	KUNIT_CASE(batch_test_time),
	KUNIT_CASE(batch_test_hurry),
	KUNIT_CASE(batch_test_meanwhile),
	KUNIT_CASE(batch_test_waits_after),
	KUNIT_CASE(batch_test_waits_before),
	KUNIT_CASE(batch_test_closed),
	{}
};

static struct kunit_suite asahi_batch_suite = {
	.name = "asahi_batch",
	.init = batch_test_init,
	.exit = batch_test_exit,
	.test_cases = asahi_batch_cases,
};

kunit_test_suite(asahi_batch_suite);
