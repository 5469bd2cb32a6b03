// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Timelines: a queue's jobs in flight, in the order in which they complete.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <kunit/visibility.h>

#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_client.h"
#include "asahi_clock.h"
#include "asahi_device.h"
#include "asahi_event.h"
#include "asahi_initdata.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_sched.h"
#include "asahi_slot.h"
#include "asahi_timeline.h"
#include "asahi_trace.h"
#include "asahi_tvb.h"
#include "asahi_vm.h"
#include "asahi_workqueue.h"

/*
 * How often stamps are looked at while a queue has several jobs in flight: a
 * fence is late by that, and the time that it takes to wake up, at most.
 */
#define ASAHI_TIMELINE_POLL_NS NSEC_PER_MSEC

/*
 * How long the oldest job of a queue may take, whatever others of the same or a lower
 * priority do meanwhile. The firmware's own timeout is for work that runs; this one is
 * for work that got lost. It is found out at the scheduler's next look, 10 s later at
 * most. Time in which work of a higher priority is completed does not count: the
 * firmware lets that run first, for as long as there is some.
 */
#define ASAHI_TIMELINE_LIMIT_MS 40000

/* How often it is looked whether there is something to wait for. */
#define ASAHI_TIMELINE_IDLE_POLL_MS 50

/* How often in a row it may have done nothing, or not what it owes. */
#define ASAHI_TIMELINE_STRIKES 3

/**
 * struct asahi_timelines - what makes fences of busy queues signal in time
 * @adev: device
 * @in_flight: jobs in flight of all timelines
 * @idle: wakes up when @in_flight becomes 0
 * @crowded: timelines with more than one job in flight
 * @timer: runs while there are any
 * @wq: for @work
 * @work: completes what has come to its end
 */
struct asahi_timelines {
	struct asahi_device *adev;
	atomic_t in_flight;
	wait_queue_head_t idle;
	atomic_t crowded;
	struct hrtimer timer;
	struct workqueue_struct *wq;
	struct work_struct work;
};

static const char *asahi_timeline_driver_name(struct dma_fence *fence)
{
	return "asahi";
}

static const char *asahi_timeline_name(struct dma_fence *fence)
{
	return "queue";
}

static const struct dma_fence_ops asahi_timeline_fence_ops = {
	.get_driver_name = asahi_timeline_driver_name,
	.get_timeline_name = asahi_timeline_name,
};

/**
 * asahi_timeline_prepare() - make an empty timeline
 * @timeline: zeroed timeline
 */
void asahi_timeline_prepare(struct asahi_timeline *timeline)
{
	mutex_init(&timeline->lock);
	INIT_LIST_HEAD(&timeline->jobs);
	timeline->fence_context = dma_fence_context_alloc(1);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_timeline_prepare);

/**
 * asahi_timeline_destroy() - undo asahi_timeline_prepare()
 * @timeline: timeline without jobs
 */
void asahi_timeline_destroy(struct asahi_timeline *timeline)
{
	WARN_ON(!list_empty(&timeline->jobs));
	mutex_destroy(&timeline->lock);
}

/*
 * The firmware tells of nothing that a queue completes before it has completed
 * all that the queue has in flight. One job is told of at once; with more, the
 * timer has to look.
 */
static void asahi_timeline_handed_over(struct asahi_queue *queue)
{
	struct asahi_timelines *timelines = queue->adev->timelines;

	lockdep_assert_held(&queue->timeline.lock);

	atomic_inc(&timelines->in_flight);
	if (++queue->timeline.handed_over == 2 && atomic_inc_return(&timelines->crowded) == 1)
		hrtimer_start(&timelines->timer, ns_to_ktime(ASAHI_TIMELINE_POLL_NS),
			      HRTIMER_MODE_REL);
}

static void asahi_timeline_taken_back(struct asahi_queue *queue)
{
	struct asahi_timelines *timelines = queue->adev->timelines;

	lockdep_assert_held(&queue->timeline.lock);

	queue->timeline.retired = ktime_get();
	if (--queue->timeline.handed_over == 1)
		atomic_dec(&timelines->crowded);
	if (atomic_dec_and_test(&timelines->in_flight))
		wake_up_all(&timelines->idle);
}

static enum hrtimer_restart asahi_timeline_timer(struct hrtimer *timer)
{
	struct asahi_timelines *timelines = container_of(timer, struct asahi_timelines, timer);

	/* Who makes it crowded again starts the timer again. */
	if (!atomic_read(&timelines->crowded))
		return HRTIMER_NORESTART;

	if (asahi_event_news(timelines->adev))
		queue_work(timelines->wq, &timelines->work);

	/*
	 * Another processor may start it at this moment, since crowded may have
	 * become 0 and 1 again. So the timer may be queued already, and must not
	 * be forwarded.
	 */
	hrtimer_start(timer, ns_to_ktime(ASAHI_TIMELINE_POLL_NS), HRTIMER_MODE_REL);

	return HRTIMER_NORESTART;
}

static void asahi_timeline_work(struct work_struct *work)
{
	struct asahi_timelines *timelines = container_of(work, struct asahi_timelines, work);
	bool cookie = dma_fence_begin_signalling();

	asahi_event_poll(timelines->adev);
	dma_fence_end_signalling(cookie);
}

static void asahi_timeline_begin_works(struct asahi_queue *queue, struct asahi_job *job)
{
	for (unsigned int i = 0; i < job->num_works; i++)
		asahi_client_begin(queue->client, job->work[i].pipe, &job->work[i].client);
}

static void asahi_timeline_trace_work(struct asahi_queue *queue, const struct asahi_job *job,
				      const struct asahi_work *work,
				      const struct asahi_work_times *times)
{
	trace_asahi_work_done(queue->adev, asahi_client_id(queue->client), queue->id, job->id,
			      work->pipe, queue->wq[work->pipe].slot.slot, work->stamp,
			      asahi_clock_to_ns(work->client.run),
			      asahi_clock_to_ns(times->start), asahi_clock_to_ns(times->end),
			      asahi_clock_to_ns(asahi_clock_now()));
}

static void asahi_timeline_end_works(struct asahi_queue *queue, struct asahi_job *job)
{
	for (unsigned int i = 0; i < job->num_works; i++) {
		struct asahi_work *work = &job->work[i];
		struct asahi_work_times times;

		times = asahi_client_end(queue->client, work->pipe, &work->client);
		if (trace_asahi_work_done_enabled())
			asahi_timeline_trace_work(queue, job, work, &times);
	}
}

static void asahi_timeline_retire(struct asahi_queue *queue, struct asahi_job *job)
{
	struct asahi_device *adev = queue->adev;

	lockdep_assert_held(&queue->timeline.lock);

	list_del_init(&job->link);

	if (!job->skipped) {
		asahi_timeline_taken_back(queue);
		asahi_timeline_end_works(queue, job);
		for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
			if (job->pipe[i].count)
				asahi_workqueue_end(&queue->wq[i]);
		asahi_tvb_end(queue, job->pipe[AGX_PIPE_FRAGMENT].count);
		asahi_initdata_end_submission(adev);
	}

	asahi_slots_release(adev->slots, &job->slots);

	trace_asahi_done(adev, asahi_client_id(queue->client), queue->id, job->id,
			 job->done->seqno, !job->skipped, job->error);
	if (job->error)
		dma_fence_set_error(job->done, job->error);
	dma_fence_signal(job->done);

	asahi_job_put(job);
}

/* Stamps that nobody gave out say nothing of the jobs in flight. */
static void asahi_timeline_check_stamps(struct asahi_queue *queue)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (asahi_workqueue_ahead(&queue->wq[i]))
			asahi_state_fail(queue->adev, "it completes work that it was not given");
}

/**
 * asahi_timeline_retire_reached() - complete what has reached its stamps
 * @queue: queue
 *
 * A firmware that writes a stamp which it was not given is at fault: nothing of
 * that work queue is complete then. In the critical section of fences, with the
 * timeline's lock held.
 */
void asahi_timeline_retire_reached(struct asahi_queue *queue)
{
	struct asahi_job *job, *next;

	lockdep_assert_held(&queue->timeline.lock);

	asahi_timeline_check_stamps(queue);

	list_for_each_entry_safe(job, next, &queue->timeline.jobs, link) {
		if (!job->skipped) {
			if (!asahi_job_reached(job))
				break;
			asahi_event_note_completed(queue->adev, queue->priority);
		}
		asahi_timeline_retire(queue, job);
	}
}

/**
 * asahi_timeline_complete() - complete what has reached its stamps
 * @queue: queue
 *
 * May be called at any time: it looks at the stamps. Process context, in the
 * critical section of fences.
 */
void asahi_timeline_complete(struct asahi_queue *queue)
{
	guard(mutex)(&queue->timeline.lock);
	asahi_timeline_retire_reached(queue);
}

/* Why a job is not worth running, or 0; @ready: the firmware takes it. */
static int asahi_timeline_refuse(struct asahi_queue *queue, bool ready)
{
	struct asahi_timeline *timeline = &queue->timeline;

	lockdep_assert_held(&timeline->lock);

	if (asahi_state_lost(queue->adev))
		return -ENODEV;
	if (timeline->error)
		return -ECANCELED;
	if (ready && asahi_state_fw_alive(queue->adev))
		return 0;

	/* It had its slots before the firmware failed. */
	timeline->lost = true;

	return -ECANCELED;
}

/* Put a job at the end of the timeline; say whether it is handed over. */
static bool asahi_timeline_append(struct asahi_job *job, struct asahi_pipe_msg *msg, bool ready)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_timeline *timeline = &queue->timeline;
	struct asahi_device *adev = queue->adev;

	guard(mutex)(&timeline->lock);

	dma_fence_init64(job->done, &asahi_timeline_fence_ops, NULL, timeline->fence_context,
			 ++timeline->fence_seqno);
	WRITE_ONCE(job->fence_valid, true);
	list_add_tail(&asahi_job_get(job)->link, &timeline->jobs);

	job->error = asahi_timeline_refuse(queue, ready);
	if (job->error) {
		job->skipped = true;
		asahi_timeline_retire_reached(queue);
		return false;
	}

	trace_asahi_run(adev, asahi_client_id(queue->client), queue->id, job->id,
			asahi_vm_slot_client(queue->vm)->slot, job->done->seqno);
	asahi_timeline_begin_works(queue, job);
	asahi_job_run(job, msg);
	asahi_timeline_handed_over(queue);

	return true;
}

/*
 * The firmware takes no work. That is no news when it has failed before: the reset
 * that is under way for that reason has to wait for this job, and not to fail.
 */
static void asahi_timeline_stuck(struct asahi_device *adev)
{
	if (asahi_state_fw_alive(adev))
		asahi_state_fail(adev, "it takes no more work");
}

/**
 * asahi_timeline_run() - hand a job to the firmware, or skip it
 * @job: job whose turn has come; holds its slots unless its queue or the device
 *	has failed
 *
 * A job of a failed queue or device is not handed over, but goes through the
 * timeline like all others, since later fences must not signal before earlier
 * ones.
 *
 * Process context, in the critical section of fences; calls for one queue come
 * one after the other. Allocates nothing and does not fail: when the firmware
 * takes no messages any more, the device is given up, which completes all jobs.
 *
 * Return: a reference to the fence that signals when the job is complete.
 */
struct dma_fence *asahi_timeline_run(struct asahi_job *job)
{
	struct asahi_pipe_msg msg[AGX_PIPE_COUNT];
	bool ready = !asahi_job_reserve(job);

	if (!ready)
		asahi_timeline_stuck(job->queue->adev);

	if (!asahi_timeline_append(job, msg, ready)) {
		if (ready)
			asahi_job_unreserve(job);
	} else if (asahi_job_announce(job, msg)) {
		asahi_timeline_stuck(job->queue->adev);
	}

	return dma_fence_get(job->done);
}

/**
 * asahi_timeline_waited_ms() - for how long the firmware could have let a job run
 * @timeline: its queue's timeline
 * @run_time: when it was handed over
 * @before: how much work of higher priorities has been completed so far
 * @now: the time
 *
 * Looks at intervals of the scheduler's timeout: one in which anything of a higher
 * priority was completed does not count, nor do those before it. With the timeline's
 * lock held.
 *
 * Return: milliseconds.
 */
s64 asahi_timeline_waited_ms(struct asahi_timeline *timeline, ktime_t run_time, u64 before,
			     ktime_t now)
{
	if (before != timeline->before) {
		timeline->before = before;
		timeline->preferred = now;
	}

	return ktime_ms_delta(now, max3(run_time, timeline->retired, timeline->preferred));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_timeline_waited_ms);

/* Why the firmware has to be given up, or NULL if a job may take longer. */
static const char *asahi_timeline_overdue(struct asahi_queue *queue, struct asahi_job *job,
					  u64 progress)
{
	struct asahi_timeline *timeline = &queue->timeline;
	u64 before = asahi_event_completed_before(queue->adev, queue->priority);
	bool owed;

	lockdep_assert_held(&timeline->lock);

	/* The clock starts to run shortly before run_job(). */
	if (list_empty(&job->link) || job->skipped) {
		timeline->strikes = 0;
		return NULL;
	}

	if (asahi_timeline_waited_ms(timeline, job->run_time, before, ktime_get()) >=
	    ASAHI_TIMELINE_LIMIT_MS)
		return "it does not complete a job";

	/* Others may keep the firmware busy for long, but not with this. */
	owed = asahi_job_owed(job);
	if (progress != timeline->progress && !owed) {
		timeline->progress = progress;
		timeline->strikes = 0;
		return NULL;
	}

	if (++timeline->strikes < ASAHI_TIMELINE_STRIKES)
		return NULL;

	return owed ? "it does not retire what has failed" : "it completes nothing any more";
}

/**
 * asahi_timeline_check() - find out why a job takes so long
 * @job: the oldest job of its queue that is not complete
 *
 * Called by the scheduler's timeout handler, for one job of a queue at a time.
 * Process context, in the critical section of fences.
 */
void asahi_timeline_check(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_device *adev = queue->adev;
	u64 progress = asahi_event_progress(adev);
	const char *why;

	if (!asahi_state_fw_alive(adev))
		return;

	scoped_guard(mutex, &queue->timeline.lock) {
		/* Its stamps may be there while the message about them is not. */
		asahi_timeline_retire_reached(queue);
		why = asahi_timeline_overdue(queue, job, progress);
	}

	if (why)
		asahi_state_fail(adev, why);
}

/**
 * asahi_timeline_take_error() - may something be submitted?
 * @queue: queue
 *
 * Process context.
 *
 * Return: 0; -EIO if work of the queue was found guilty; once after work was lost
 * in a reset, -ECANCELED.
 */
int asahi_timeline_take_error(struct asahi_queue *queue)
{
	struct asahi_timeline *timeline = &queue->timeline;
	bool lost;

	guard(mutex)(&timeline->lock);

	lost = timeline->lost;
	timeline->lost = false;
	if (timeline->error)
		return timeline->error;

	return lost ? -ECANCELED : 0;
}

/*
 * Complete all jobs, those that are not at their end with an error: the firmware
 * does not work on them any more.
 */
static void asahi_timeline_fail(struct asahi_queue *queue, int error)
{
	struct asahi_timeline *timeline = &queue->timeline;
	struct asahi_job *job, *next;

	guard(mutex)(&timeline->lock);

	asahi_timeline_retire_reached(queue);

	list_for_each_entry_safe(job, next, &timeline->jobs, link) {
		if (!job->error) {
			job->error = error;
			timeline->lost = !timeline->error;
		}
		asahi_timeline_retire(queue, job);
	}
}

static void asahi_timeline_cancel(struct asahi_queue *queue)
{
	asahi_timeline_fail(queue, -ECANCELED);
}

static void asahi_timeline_give_up(struct asahi_queue *queue)
{
	asahi_timeline_fail(queue, -ENODEV);
}

/*
 * The device's part
 */

static int asahi_timeline_init(struct asahi_device *adev)
{
	struct asahi_timelines *timelines;

	timelines = kzalloc_obj(*timelines);
	if (!timelines)
		return -ENOMEM;

	timelines->wq = alloc_ordered_workqueue("asahi-complete", WQ_HIGHPRI | WQ_MEM_RECLAIM);
	if (!timelines->wq) {
		kfree(timelines);
		return -ENOMEM;
	}

	timelines->adev = adev;
	init_waitqueue_head(&timelines->idle);
	INIT_WORK(&timelines->work, asahi_timeline_work);
	hrtimer_setup(&timelines->timer, asahi_timeline_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	adev->timelines = timelines;

	return 0;
}

/**
 * asahi_timeline_wait_idle() - wait until nothing is in flight
 * @adev: device with paused schedulers
 * @ms: how long at most
 *
 * Gives up at once when the firmware fails. Process context.
 *
 * Return: true if nothing is in flight.
 */
bool asahi_timeline_wait_idle(struct asahi_device *adev, unsigned int ms)
{
	struct asahi_timelines *timelines = adev->timelines;
	unsigned long end = jiffies + msecs_to_jiffies(ms);

	/* Nobody wakes up those who wait when the firmware fails. */
	while (atomic_read(&timelines->in_flight) && asahi_state_fw_alive(adev) &&
	       time_before(jiffies, end))
		wait_event_timeout(timelines->idle, !atomic_read(&timelines->in_flight),
				   msecs_to_jiffies(ASAHI_TIMELINE_IDLE_POLL_MS));

	return !atomic_read(&timelines->in_flight);
}

/* The schedulers are paused, and the firmware is stopped. */
static void asahi_timeline_pre_reset(struct asahi_device *adev)
{
	asahi_sched_visit_queues(adev, asahi_state_doomed(adev) ? asahi_timeline_give_up :
								  asahi_timeline_cancel);
}

/* The firmware starts again, and knows of no queue. */
static int asahi_timeline_post_reset(struct asahi_device *adev)
{
	asahi_sched_visit_queues(adev, asahi_queue_fill);

	return 0;
}

/* Nothing will complete any more, here or in the schedulers. */
static void asahi_timeline_unplug(struct asahi_device *adev)
{
	bool cookie = dma_fence_begin_signalling();

	asahi_sched_visit_queues(adev, asahi_timeline_give_up);
	if (adev->sched)
		asahi_sched_continue(adev);
	dma_fence_end_signalling(cookie);
}

static void asahi_timeline_fini(struct asahi_device *adev)
{
	struct asahi_timelines *timelines = adev->timelines;

	if (!timelines)
		return;

	hrtimer_cancel(&timelines->timer);
	destroy_workqueue(timelines->wq);
	kfree(timelines);
	adev->timelines = NULL;
}

const struct asahi_block asahi_block_timeline = {
	.name = "timeline",
	.init = asahi_timeline_init,
	.unplug = asahi_timeline_unplug,
	.pre_reset = asahi_timeline_pre_reset,
	.post_reset = asahi_timeline_post_reset,
	.fini = asahi_timeline_fini,
};
