// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of when stamps are looked at, and of jobs whose turn has not come or does not come.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/array_size.h>
#include <linux/cleanup.h>
#include <linux/dma-fence.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "asahi_client.h"
#include "asahi_device.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_slot.h"
#include "asahi_timeline.h"
#include "asahi_watchdog.h"
#include "asahi_workqueue.h"

#define OFTEN	NSEC_PER_MSEC
#define SELDOM	(128 * NSEC_PER_MSEC)

#define JOBS	4

/**
 * struct jobs - a queue with jobs that were armed
 * @adev: device, of which only the slots exist
 * @queue: queue, of which only the timeline exists
 * @job: the jobs
 */
struct jobs {
	struct asahi_device *adev;
	struct asahi_queue *queue;
	struct asahi_job *job[JOBS];
};

static struct asahi_job *arm_job(struct kunit *test, struct asahi_queue *queue)
{
	struct asahi_job *job = kunit_kzalloc(test, sizeof(*job), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, job);
	job->done = kzalloc_obj(*job->done);
	KUNIT_ASSERT_NOT_NULL(test, job->done);
	kref_init(&job->refcount);
	job->queue = queue;
	job->stamps = 1;
	asahi_slot_request_init(&job->slots, asahi_client_slot_asker(queue->client), 0);
	scoped_guard(mutex, &queue->submit_lock)
		asahi_timeline_arm(job);

	return job;
}

static struct jobs *arm_jobs(struct kunit *test)
{
	static const struct asahi_slot_range range[ASAHI_SLOT_KINDS] = {
		[ASAHI_SLOT_VM] = { .count = 1 },
		[ASAHI_SLOT_EVENT] = { .count = 1 },
		[ASAHI_SLOT_BUFFER] = { .count = 1 },
	};
	struct jobs *jobs = kunit_kzalloc(test, sizeof(*jobs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, jobs);
	jobs->adev = kunit_kzalloc(test, sizeof(*jobs->adev), GFP_KERNEL);
	jobs->queue = kunit_kzalloc(test, sizeof(*jobs->queue), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, jobs->adev);
	KUNIT_ASSERT_NOT_NULL(test, jobs->queue);
	jobs->adev->slots = asahi_slots_create(range);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, jobs->adev->slots);
	jobs->queue->adev = jobs->adev;
	jobs->queue->client = asahi_client_create(1);
	KUNIT_ASSERT_NOT_NULL(test, jobs->queue->client);
	mutex_init(&jobs->queue->submit_lock);
	asahi_timeline_prepare(&jobs->queue->timeline);
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		jobs->queue->pipes.wq[i].queue = jobs->queue;
	for (unsigned int i = 0; i < JOBS; i++)
		jobs->job[i] = arm_job(test, jobs->queue);

	return jobs;
}

/* As if a job had been handed to the firmware, or taken back. */
static void hand_over(struct jobs *jobs, struct asahi_job *job)
{
	struct asahi_timeline *timeline = &jobs->queue->timeline;

	list_move_tail(&job->link, &timeline->jobs);
	timeline->handed_over++;
	timeline->stamps += job->stamps;
	timeline->since = jiffies;
}

static void take_back(struct jobs *jobs, struct asahi_job *job)
{
	struct asahi_timeline *timeline = &jobs->queue->timeline;

	list_move_tail(&job->link, &timeline->waiting);
	timeline->handed_over--;
	timeline->stamps -= job->stamps;
}

static void free_jobs(struct kunit *test, struct jobs *jobs)
{
	for (unsigned int i = 0; i < JOBS; i++) {
		KUNIT_EXPECT_EQ(test, dma_fence_get_status(jobs->job[i]->done), -ESRCH);
		KUNIT_EXPECT_EQ(test, kref_read(&jobs->job[i]->refcount), 1);
		dma_fence_put(jobs->job[i]->done);
	}
	asahi_timeline_destroy(&jobs->queue->timeline);
	asahi_slots_destroy(jobs->adev->slots);
	mutex_destroy(&jobs->queue->submit_lock);
	asahi_client_put(jobs->queue->client);
}

static void drop_all(struct kunit *test, struct jobs *jobs)
{
	for (unsigned int i = 0; i < JOBS; i++)
		asahi_timeline_drop(jobs->job[i]);
	free_jobs(test, jobs);
}

static void numbers_fences_in_order(struct kunit *test)
{
	struct jobs *jobs = arm_jobs(test);

	for (unsigned int i = 0; i < JOBS; i++) {
		KUNIT_EXPECT_EQ(test, jobs->job[i]->number, i + 1);
		KUNIT_EXPECT_EQ(test, jobs->job[i]->done->seqno, i + 1);
		KUNIT_EXPECT_EQ(test, jobs->job[i]->done->context,
				jobs->queue->timeline.fence_context);
		KUNIT_EXPECT_FALSE(test, dma_fence_is_signaled(jobs->job[i]->done));
	}
	drop_all(test, jobs);
}

/* The scheduler lets go of cancelled jobs in any order; fences signal in that of submission. */
static void dropped_jobs_signal_in_order(struct kunit *test)
{
	static const unsigned int order[] = { 1, 3, 0 };
	static const unsigned int signalled[] = { 0, 0, 2 };
	struct jobs *jobs = arm_jobs(test);

	for (unsigned int i = 0; i < ARRAY_SIZE(order); i++) {
		asahi_timeline_drop(jobs->job[order[i]]);
		for (unsigned int j = 0; j < JOBS; j++)
			KUNIT_EXPECT_EQ(test, dma_fence_is_signaled(jobs->job[j]->done),
					j < signalled[i]);
	}
	asahi_timeline_drop(jobs->job[2]);
	KUNIT_EXPECT_TRUE(test, dma_fence_is_signaled(jobs->job[3]->done));
	free_jobs(test, jobs);
}

static void stamps_are_bounded(struct kunit *test)
{
	struct jobs *jobs = arm_jobs(test);
	struct dma_fence *fence;

	jobs->job[0]->stamps = ASAHI_MAX_STAMPS - 1;
	hand_over(jobs, jobs->job[0]);
	KUNIT_EXPECT_TRUE(test, asahi_timeline_has_room(jobs->job[1]));
	KUNIT_EXPECT_NULL(test, asahi_timeline_wait_for_room(jobs->job[1]));

	hand_over(jobs, jobs->job[1]);
	KUNIT_EXPECT_FALSE(test, asahi_timeline_has_room(jobs->job[2]));
	fence = asahi_timeline_wait_for_room(jobs->job[2]);
	KUNIT_EXPECT_PTR_EQ(test, fence, jobs->job[0]->done);
	dma_fence_put(fence);

	take_back(jobs, jobs->job[0]);
	KUNIT_EXPECT_TRUE(test, asahi_timeline_has_room(jobs->job[2]));
	take_back(jobs, jobs->job[1]);
	drop_all(test, jobs);
}

static void looks_at_the_oldest_job_in_time(struct kunit *test)
{
	struct jobs *jobs = arm_jobs(test);
	struct asahi_job *late;
	unsigned long delay;

	KUNIT_EXPECT_NULL(test, asahi_timeline_overdue(jobs->queue, &delay));
	KUNIT_EXPECT_EQ(test, delay, 0);

	hand_over(jobs, jobs->job[0]);
	hand_over(jobs, jobs->job[1]);
	KUNIT_EXPECT_NULL(test, asahi_timeline_overdue(jobs->queue, &delay));
	KUNIT_EXPECT_GT(test, delay, ASAHI_WATCHDOG_LOOK_TIME / 2);
	KUNIT_EXPECT_LE(test, delay, ASAHI_WATCHDOG_LOOK_TIME);

	jobs->queue->timeline.since = jiffies - ASAHI_WATCHDOG_LOOK_TIME;
	late = asahi_timeline_overdue(jobs->queue, &delay);
	KUNIT_EXPECT_PTR_EQ(test, late, jobs->job[0]);
	KUNIT_EXPECT_EQ(test, delay, ASAHI_WATCHDOG_LOOK_TIME);
	if (late)
		asahi_job_put(late);

	take_back(jobs, jobs->job[0]);
	take_back(jobs, jobs->job[1]);
	drop_all(test, jobs);
}

/* Nobody else looks for jobs of which the firmware does not tell. */
static void looks_often_for_untold_jobs(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(OFTEN, true, false), OFTEN);
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(OFTEN, true, true), OFTEN);
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(SELDOM, true, false), OFTEN);
}

static void looks_less_often_if_there_is_nothing(struct kunit *test)
{
	u64 ns = OFTEN, next;

	for (unsigned int i = 0; i < 7; i++) {
		next = asahi_timeline_next_look(ns, false, false);
		KUNIT_EXPECT_EQ(test, next, 2 * ns);
		ns = next;
	}
	KUNIT_EXPECT_EQ(test, ns, SELDOM);
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(ns, false, false), SELDOM);
}

/* The firmware has not told of it, and may not tell of the next one. */
static void looks_often_after_a_find(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(SELDOM, false, true), OFTEN);
	KUNIT_EXPECT_EQ(test, asahi_timeline_next_look(OFTEN, false, true), OFTEN);
}

static struct kunit_case timeline_cases[] = {
	KUNIT_CASE(looks_often_for_untold_jobs),
	KUNIT_CASE(looks_less_often_if_there_is_nothing),
	KUNIT_CASE(looks_often_after_a_find),
	KUNIT_CASE(numbers_fences_in_order),
	KUNIT_CASE(dropped_jobs_signal_in_order),
	KUNIT_CASE(stamps_are_bounded),
	KUNIT_CASE(looks_at_the_oldest_job_in_time),
	{}
};

static struct kunit_suite timeline_suite = {
	.name = "asahi_timeline",
	.test_cases = timeline_cases,
};

kunit_test_suite(timeline_suite);
