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
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/wait.h>

#include <kunit/visibility.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_client.h"
#include "asahi_clock.h"
#include "asahi_device.h"
#include "asahi_doorbell.h"
#include "asahi_event.h"
#include "asahi_initdata.h"
#include "asahi_job.h"
#include "asahi_params.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_rest.h"
#include "asahi_rtkit.h"
#include "asahi_sched.h"
#include "asahi_slot.h"
#include "asahi_timeline.h"
#include "asahi_trace.h"
#include "asahi_tvb.h"
#include "asahi_uat.h"
#include "asahi_vm.h"
#include "asahi_watchdog.h"
#include "asahi_workqueue.h"

/*
 * How often stamps are looked at while a queue has several jobs in flight: a
 * fence is late by that at most.
 */
#define ASAHI_TIMELINE_POLL_NS NSEC_PER_MSEC

/* How seldom, as long as the firmware tells of each job. */
#define ASAHI_TIMELINE_SELDOM_NS (128 * NSEC_PER_MSEC)

/* How often it is looked whether there is something to wait for. */
#define ASAHI_TIMELINE_IDLE_POLL_MS 50

/**
 * struct asahi_timelines - what makes fences of busy queues signal in time
 * @adev: device
 * @in_flight: jobs in flight of all timelines
 * @idle: wakes up when @in_flight becomes 0
 * @crowded: timelines with more than one job in flight
 * @untold: those of them of which the firmware is not asked to tell each job
 * @timer: runs while there are crowded ones, and completes what has come to its end
 * @period_ns: time to the next look; @timer changes it
 * @told: messages about stamps
 * @told_then: how many there had been at the last look; @timer's alone, as @suspect
 * @suspect: the last look has found something of which nobody had told yet
 * @missed: looks that have found something of which nobody has told until the next look
 */
struct asahi_timelines {
	struct asahi_device *adev;
	atomic_t in_flight;
	wait_queue_head_t idle;
	atomic_t crowded;
	atomic_t untold;
	struct hrtimer timer;
	u64 period_ns;
	atomic_t told;
	unsigned int told_then;
	bool suspect;
	atomic_t missed;
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
	spin_lock_init(&timeline->lock);
	INIT_LIST_HEAD(&timeline->waiting);
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
	WARN_ON(!list_empty(&timeline->waiting));
	WARN_ON(!list_empty(&timeline->jobs));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_timeline_destroy);

/**
 * asahi_timeline_next_look() - when to look at stamps again
 * @period_ns: time between this look and the last one
 * @untold: there are jobs of which the firmware is not asked to tell
 * @missed: nobody has told of what the last look has found
 *
 * Where the firmware should tell of each job, looking is the fallback, and becomes rarer with
 * each look. One that finds something may only have come before the message about that. But if
 * there is no message until the next look, there may be none at all.
 *
 * Return: time in nanoseconds.
 */
VISIBLE_IF_KUNIT u64 asahi_timeline_next_look(u64 period_ns, bool untold, bool missed)
{
	if (untold || missed)
		return ASAHI_TIMELINE_POLL_NS;

	return min(2 * period_ns, ASAHI_TIMELINE_SELDOM_NS);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_timeline_next_look);

static void asahi_timeline_look_in(struct asahi_timelines *timelines, u64 ns)
{
	hrtimer_start(&timelines->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

/*
 * The firmware tells of nothing that a queue completes before it has completed
 * all that the queue has in flight, unless it is asked to. One job is told of at once;
 * with more, the timer has to look.
 */
static void asahi_timeline_crowd(struct asahi_queue *queue)
{
	struct asahi_timelines *timelines = queue->adev->timelines;
	bool first = atomic_inc_return(&timelines->crowded) == 1;

	if (!queue->oldest_event && atomic_inc_return(&timelines->untold) == 1)
		asahi_timeline_look_in(timelines, ASAHI_TIMELINE_POLL_NS);
	else if (first)
		asahi_timeline_look_in(timelines, READ_ONCE(timelines->period_ns));
}

static void asahi_timeline_handed_over(struct asahi_queue *queue, struct asahi_job *job)
{
	struct asahi_timeline *timeline = &queue->timeline;

	lockdep_assert_held(&timeline->lock);

	timeline->stamps += job->stamps;
	if (!timeline->handed_over) {
		timeline->since = jiffies;
		asahi_sched_watch(queue);
	}

	atomic_inc(&queue->adev->timelines->in_flight);
	if (++timeline->handed_over == 2)
		asahi_timeline_crowd(queue);
}

static void asahi_timeline_taken_back(struct asahi_queue *queue, struct asahi_job *job)
{
	struct asahi_timelines *timelines = queue->adev->timelines;
	struct asahi_timeline *timeline = &queue->timeline;

	lockdep_assert_held(&timeline->lock);

	timeline->stamps -= job->stamps;
	timeline->since = jiffies;

	if (--timeline->handed_over == 1) {
		atomic_dec(&timelines->crowded);
		if (!queue->oldest_event)
			atomic_dec(&timelines->untold);
	}
	if (atomic_dec_and_test(&timelines->in_flight))
		wake_up_all(&timelines->idle);
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
			      work->pipe, queue->pipes.wq[work->pipe].slot.slot, work->stamp,
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

/* The oldest job was lost, and has ended. */
static void asahi_timeline_unbar(struct asahi_queue *queue)
{
	lockdep_assert_held(&queue->timeline.lock);

	if (queue->timeline.barred)
		asahi_uat_unbar(asahi_vm_aspace(queue->vm));
	queue->timeline.barred = false;
}

/* Where the firmware tells of each job: what is the oldest one now comes next. */
static void asahi_timeline_count_next(struct asahi_queue *queue)
{
	struct asahi_job *job;

	lockdep_assert_held(&queue->timeline.lock);

	if (!queue->oldest_event)
		return;

	list_for_each_entry(job, &queue->timeline.jobs, link) {
		if (!job->skipped) {
			asahi_job_count(job);
			return;
		}
	}
}

static void asahi_timeline_retire(struct asahi_queue *queue, struct asahi_job *job)
{
	struct asahi_device *adev = queue->adev;

	lockdep_assert_held(&queue->timeline.lock);

	list_del_init(&job->link);

	if (!job->skipped) {
		asahi_timeline_taken_back(queue, job);
		asahi_timeline_end_works(queue, job);
		asahi_pipes_end(&queue->pipes, job->part);
		asahi_tvb_end(queue, job->part[AGX_PIPE_FRAGMENT].count);
		asahi_initdata_end_submission(adev);
		asahi_timeline_count_next(queue);
	}

	/* As long as the job holds its context, nobody else of its address space has another. */
	asahi_timeline_unbar(queue);
	asahi_slots_release(adev->slots, &job->slots);

	trace_asahi_done(adev, asahi_client_id(queue->client), queue->id, job->id,
			 job->number, !job->skipped, job->error);
	if (job->error)
		dma_fence_set_error(job->done, job->error);
	dma_fence_signal(job->done);

	asahi_job_put(job);
}

/* Stamps that nobody gave out say nothing of the jobs in flight. */
static void asahi_timeline_check_stamps(struct asahi_queue *queue)
{
	if (asahi_pipes_are_ahead(&queue->pipes))
		asahi_watchdog_late(queue->adev, ASAHI_DEBT_STAMP);
}

/**
 * asahi_timeline_retire_reached() - complete what has reached its stamps
 * @queue: queue
 *
 * While the stamp is one that the firmware was not given, nothing of that work queue is
 * complete, and the watchdog judges the rest. Fences signal while the timeline's lock is
 * held, so that they do it in their order, although several may complete at once. Any
 * context but hard interrupts, in the critical section of fences, with that lock held.
 */
void asahi_timeline_retire_reached(struct asahi_queue *queue)
{
	struct asahi_job *job, *next;

	lockdep_assert_held(&queue->timeline.lock);

	asahi_timeline_check_stamps(queue);

	list_for_each_entry_safe(job, next, &queue->timeline.jobs, link) {
		if (!job->skipped) {
			if (!asahi_pipes_reached(&queue->pipes, job->part))
				break;
			asahi_event_note_completed(queue->adev, queue->priority);
		}
		asahi_timeline_retire(queue, job);
	}
}

static void asahi_timeline_complete_slot(struct asahi_device *adev, unsigned int slot)
{
	struct asahi_queue *queue = asahi_event_get_owner(adev, slot);

	if (!queue)
		return;

	trace_asahi_event(adev, asahi_client_id(queue->client), queue->id, slot,
			  asahi_event_read(adev, slot));
	scoped_guard(spinlock_bh, &queue->timeline.lock)
		asahi_timeline_retire_reached(queue);
	asahi_queue_put(queue);
}

/*
 * Complete what has come to its end. Returns whether any stamp has changed. May run several
 * times at once. Only a kernel in which bottom halves are threads makes use of the annotation
 * here.
 */
static bool asahi_timeline_complete(struct asahi_device *adev)
{
	bool cookie = dma_fence_begin_signalling();
	unsigned int slot = 0;
	bool found = false;

	while ((slot = asahi_event_take(adev, slot)) < ASAHI_EVENTS) {
		asahi_timeline_complete_slot(adev, slot++);
		found = true;
	}
	dma_fence_end_signalling(cookie);

	return found;
}

/**
 * asahi_timeline_notify() - the firmware says that stamps have changed
 * @adev: device
 * @mask: one bit for each event slot
 *
 * Completes what has come to its end, of others too. Any context but hard interrupts, in
 * the critical section of fences; allocates nothing.
 */
void asahi_timeline_notify(struct asahi_device *adev, const u32 mask[4])
{
	if (trace_asahi_event_enabled())
		asahi_event_trace_unowned(adev, mask);
	atomic_inc(&adev->timelines->told);
	asahi_timeline_complete(adev);
}

/* Returns whether nobody has told of what the last look has found. */
static bool asahi_timeline_look_again(struct asahi_timelines *timelines, bool untold)
{
	unsigned int told = atomic_read(&timelines->told);
	bool missed = timelines->suspect && told == timelines->told_then;

	if (missed)
		atomic_inc(&timelines->missed);

	timelines->told_then = told;
	timelines->suspect = asahi_timeline_complete(timelines->adev) && !untold;

	return missed;
}

/* Runs in a bottom half, too. */
static enum hrtimer_restart asahi_timeline_timer(struct hrtimer *timer)
{
	struct asahi_timelines *timelines = container_of(timer, struct asahi_timelines, timer);
	bool untold = atomic_read(&timelines->untold);
	bool missed;
	u64 ns;

	/* The timer is restarted when a second job of a queue goes in flight. */
	if (!atomic_read(&timelines->crowded))
		return HRTIMER_NORESTART;

	missed = asahi_timeline_look_again(timelines, untold);

	/*
	 * Another processor may start it at this moment, since crowded may have
	 * become 0 and 1 again. So the timer may be queued already, and must not
	 * be forwarded.
	 */
	ns = asahi_timeline_next_look(timelines->period_ns, untold, missed);
	WRITE_ONCE(timelines->period_ns, ns);
	asahi_timeline_look_in(timelines, ns);
	/* It may have been started for one that must not wait for so long. */
	if (ns > ASAHI_TIMELINE_POLL_NS && atomic_read(&timelines->untold))
		asahi_timeline_look_in(timelines, ASAHI_TIMELINE_POLL_NS);

	return HRTIMER_NORESTART;
}

/**
 * asahi_timeline_arm() - give a job its fence and its place
 * @job: job that was not armed
 *
 * From here on it must complete: with asahi_timeline_run(), asahi_timeline_run_now() or
 * asahi_timeline_drop(). With the queue's submit_lock held; allocates nothing.
 */
void asahi_timeline_arm(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_timeline *timeline = &queue->timeline;

	lockdep_assert_held(&queue->submit_lock);

	job->number = queue->submitted + 1;
	dma_fence_init64(job->done, &asahi_timeline_fence_ops, NULL, timeline->fence_context,
			 job->number);
	asahi_job_get(job);
	scoped_guard(spinlock_bh, &timeline->lock)
		list_add_tail(&job->link, &timeline->waiting);
	WRITE_ONCE(queue->submitted, job->number);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_timeline_arm);

/**
 * asahi_timeline_drop() - complete a job whose turn does not come
 * @job: armed job of a queue that is closed
 *
 * Its fence signals with -ESRCH, behind those of all earlier jobs of the queue: some have to
 * be dropped as well, and were not yet; others have run from their SUBMIT, of which the DRM
 * scheduler does not know, and are in flight. Process context; allocates nothing.
 */
void asahi_timeline_drop(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_timeline *timeline = &queue->timeline;
	struct asahi_job *next;

	guard(spinlock_bh)(&timeline->lock);

	job->skipped = true;
	job->error = -ESRCH;
	list_for_each_entry_safe(job, next, &timeline->waiting, link) {
		if (!job->skipped)
			break;
		list_move_tail(&job->link, &timeline->jobs);
	}
	asahi_timeline_retire_reached(queue);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_timeline_drop);

/* The firmware's rings have room for so many stamps. */
static bool asahi_timeline_fits(const struct asahi_job *job)
{
	const struct asahi_timeline *timeline = &job->queue->timeline;

	lockdep_assert_held(&timeline->lock);

	return timeline->stamps + job->stamps <= ASAHI_MAX_STAMPS;
}

/**
 * asahi_timeline_has_room() - may a job have its stamps?
 * @job: job that is the next one of its queue
 *
 * Any context but hard interrupts. The answer may change from false to true only.
 *
 * Return: true if so.
 */
bool asahi_timeline_has_room(struct asahi_job *job)
{
	guard(spinlock_bh)(&job->queue->timeline.lock);

	return asahi_timeline_fits(job);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_timeline_has_room);

/**
 * asahi_timeline_wait_for_room() - ask what a job has to wait for to have its stamps
 * @job: job that is the next one of its queue
 *
 * Any context but hard interrupts; allocates nothing.
 *
 * Return: NULL if there is room; otherwise a reference to the fence after which to ask again.
 */
struct dma_fence *asahi_timeline_wait_for_room(struct asahi_job *job)
{
	struct asahi_timeline *timeline = &job->queue->timeline;
	struct asahi_job *oldest;

	guard(spinlock_bh)(&timeline->lock);

	if (asahi_timeline_fits(job))
		return NULL;

	oldest = list_first_entry(&timeline->jobs, struct asahi_job, link);
	return dma_fence_get(oldest->done);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_timeline_wait_for_room);

/*
 * Why a job is not worth running, or 0; @ready: the firmware takes it. While the job's turn
 * lasts, the answer may change from 0 to another one, never back. With the timeline's lock
 * held it lasts.
 */
static int asahi_timeline_refuse(const struct asahi_job *job, bool ready)
{
	struct asahi_queue *queue = job->queue;

	if (asahi_state_lost(queue->adev))
		return -ENODEV;
	if (asahi_timeline_cancelled(job) || job->barred)
		return -ECANCELED;

	/* If not, it had its slots before the firmware failed. */
	return ready && asahi_state_fw_alive(queue->adev) ? 0 : -ECANCELED;
}

/*
 * Put a job at the end of the timeline; say whether it is handed over. @ready: the firmware
 * takes it, and its address space has its context.
 */
static bool asahi_timeline_append(struct asahi_job *job, struct asahi_pipe_msg *msg, bool ready)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_timeline *timeline = &queue->timeline;
	struct asahi_device *adev = queue->adev;

	guard(spinlock_bh)(&timeline->lock);

	list_move_tail(&job->link, &timeline->jobs);

	job->error = asahi_timeline_refuse(job, ready);
	if (job->error) {
		job->skipped = true;
		asahi_timeline_retire_reached(queue);
		return false;
	}

	trace_asahi_run(adev, asahi_client_id(queue->client), queue->id, job->id,
			asahi_vm_slot_client(queue->vm)->slot, job->number);
	asahi_timeline_begin_works(queue, job);
	asahi_job_run(job, msg);
	asahi_timeline_handed_over(queue, job);

	return true;
}

/*
 * The firmware takes no work. That is no news when it has failed before: the reset
 * that is under way for that reason has to wait for this job, and not to fail. Of a
 * crash the driver is told, with the firmware's last words, which the dump is to have.
 */
static void asahi_timeline_stuck(struct asahi_device *adev)
{
	if (asahi_state_fw_alive(adev) && !asahi_rtkit_is_crashed(adev))
		asahi_watchdog_give_up(adev, ASAHI_DEBT_WORK);
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
 * The address space gets its context without the timeline's lock, since that may wait for
 * the firmware. Whether the job runs is decided with it: a job that is refused at last has
 * a context for nothing, which does no harm while it holds the slot.
 *
 * Process context, in the critical section of fences; calls for one queue come
 * one after the other. Allocates nothing and does not fail: when the firmware
 * takes no messages any more, the device is given up, which completes all jobs.
 */
void asahi_timeline_run(struct asahi_job *job)
{
	struct asahi_pipe_msg msg[AGX_PIPE_COUNT];
	struct asahi_queue *queue = job->queue;
	struct asahi_vm *vm = queue->vm;
	bool ready, attached;

	ready = !asahi_pipes_reserve(&queue->pipes, job->part);
	if (!ready)
		asahi_timeline_stuck(queue->adev);

	/* One that is refused already may have no slots, and is not let through below. */
	attached = ready && !asahi_timeline_refuse(job, ready);
	if (attached)
		asahi_uat_attach(asahi_vm_aspace(vm), asahi_vm_slot_client(vm)->slot);

	if (!asahi_timeline_append(job, msg, attached)) {
		if (ready)
			asahi_pipes_unreserve(&queue->pipes, job->part);
	} else if (asahi_pipes_announce(&queue->pipes, job->part, msg, asahi_doorbell_ring)) {
		asahi_timeline_stuck(queue->adev);
	}
}

/**
 * asahi_timeline_run_now() - hand a job to the firmware without a wait
 * @job: armed job that has its slots and its context, and whose messages have room
 *
 * The same as asahi_timeline_run() for all else, but in process context of user space.
 */
void asahi_timeline_run_now(struct asahi_job *job)
{
	struct asahi_pipe_msg msg[AGX_PIPE_COUNT];
	struct asahi_queue *queue = job->queue;

	if (!asahi_timeline_append(job, msg, true))
		asahi_pipes_unreserve(&queue->pipes, job->part);
	else if (asahi_pipes_announce(&queue->pipes, job->part, msg, asahi_doorbell_note))
		asahi_timeline_stuck(queue->adev);
}

/*
 * How many pieces of a queue's work have started. What has started and not ended runs. What
 * has ended and not written its stamp is owed by the firmware.
 */
static unsigned int asahi_timeline_started(struct asahi_queue *queue,
					   struct asahi_watchdog_look *look)
{
	u64 now = asahi_clock_now();
	unsigned int started = 0;
	struct asahi_job *job;

	lockdep_assert_held(&queue->timeline.lock);

	list_for_each_entry(job, &queue->timeline.jobs, link) {
		for (unsigned int i = 0; !job->skipped && i < job->num_works; i++) {
			const struct asahi_work *work = &job->work[i];
			const struct asahi_workqueue *wq = &queue->pipes.wq[work->pipe];
			struct asahi_work_times times;

			times = asahi_client_work_times(&work->client, now);
			if (!times.start)
				continue;
			started++;
			if (times.end >= now)
				look->running = true;
			else if (!asahi_workqueue_reached(wq, work->stamp))
				look->owed = true;
		}
	}

	return started;
}

static struct asahi_watchdog_look asahi_timeline_look(struct asahi_queue *queue,
						      struct asahi_job *job)
{
	struct asahi_timeline *timeline = &queue->timeline;
	struct asahi_watchdog_look look = {
		.now = ktime_get(),
		.others = asahi_event_completed_up_to(queue->adev, queue->priority),
		.owed = asahi_pipes_owed(&queue->pipes, job->part),
	};
	u64 progress = asahi_event_progress(queue->adev);
	unsigned int started;

	lockdep_assert_held(&timeline->lock);

	started = asahi_timeline_started(queue, &look);
	look.key = job->number << 32 ^ (asahi_pipes_stamps(&queue->pipes) + started);
	if (look.running)
		asahi_watchdog_note_running(queue->adev);
	look.busy = progress != timeline->progress || asahi_watchdog_saw_running(queue->adev);
	timeline->progress = progress;

	return look;
}

/* The work is lost, and nothing else: without memory it faults, and is taken down. */
static void asahi_timeline_bar(struct asahi_queue *queue)
{
	lockdep_assert_held(&queue->timeline.lock);

	/* It has made some progress since, and none again. */
	if (queue->timeline.barred)
		return;

	drm_warn(&queue->adev->drm,
		 "queue %u of client %llu: a job makes no progress, its memory is taken away\n",
		 queue->id, asahi_client_id(queue->client));
	queue->timeline.barred = true;
	asahi_uat_bar(asahi_vm_aspace(queue->vm));
}

static enum asahi_remedy asahi_timeline_judge(struct asahi_queue *queue, struct asahi_job *job,
					      enum asahi_debt *debt)
{
	enum asahi_remedy remedy;
	struct asahi_watchdog_look look;

	guard(spinlock_bh)(&queue->timeline.lock);

	/* Its stamps may be there while the message about them is not. */
	asahi_timeline_retire_reached(queue);

	/* It may have completed in the meantime. */
	if (list_empty(&job->link) || job->skipped)
		return ASAHI_REMEDY_NONE;

	look = asahi_timeline_look(queue, job);
	*debt = look.owed ? ASAHI_DEBT_RETIRE : ASAHI_DEBT_JOB;
	remedy = asahi_watchdog_judge(&queue->timeline.watchdog, &look,
				      (s64)asahi_hang_limit * MSEC_PER_SEC);
	if (remedy == ASAHI_REMEDY_CUT)
		asahi_timeline_bar(queue);

	return remedy;
}

/**
 * asahi_timeline_overdue() - find the job that takes so long
 * @queue: queue
 * @delay: time in jiffies until somebody has to ask again, 0 if there is nothing in flight
 *
 * Any context but hard interrupts; allocates nothing.
 *
 * Return: the oldest job in flight, with a reference, if it has been that for
 * ASAHI_WATCHDOG_LOOK_TIME; otherwise NULL.
 */
struct asahi_job *asahi_timeline_overdue(struct asahi_queue *queue, unsigned long *delay)
{
	struct asahi_timeline *timeline = &queue->timeline;
	unsigned long due;

	guard(spinlock_bh)(&timeline->lock);

	*delay = 0;
	if (!timeline->handed_over)
		return NULL;

	due = timeline->since + ASAHI_WATCHDOG_LOOK_TIME;
	if (time_before(jiffies, due)) {
		*delay = due - jiffies;
		return NULL;
	}

	*delay = ASAHI_WATCHDOG_LOOK_TIME;
	return asahi_job_get(list_first_entry(&timeline->jobs, struct asahi_job, link));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_timeline_overdue);

/**
 * asahi_timeline_check() - find out why a job takes so long
 * @job: the oldest job of its queue that is not complete
 *
 * For one job of a queue at a time. Process context, in the critical section of fences.
 */
void asahi_timeline_check(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_device *adev = queue->adev;
	enum asahi_debt debt;

	if (!asahi_state_fw_alive(adev))
		return;

	switch (asahi_timeline_judge(queue, job, &debt)) {
	case ASAHI_REMEDY_NONE:
		break;
	case ASAHI_REMEDY_CUT:
		/* Without the timeline's lock, as it may have to wait for the firmware. */
		asahi_uat_drop_barred(asahi_vm_aspace(queue->vm), ASAHI_VIEW_KERNEL);
		break;
	case ASAHI_REMEDY_EMPTY:
		asahi_uat_drop_barred(asahi_vm_aspace(queue->vm), ASAHI_VIEW_NONE);
		break;
	case ASAHI_REMEDY_ASK:
		asahi_channel_ping(adev);
		break;
	case ASAHI_REMEDY_ANNOUNCE:
		asahi_channel_ping(adev);
		asahi_pipes_announce_again(&queue->pipes);
		break;
	case ASAHI_REMEDY_GIVE_UP:
		asahi_watchdog_give_up(adev, debt);
		break;
	}
}

/**
 * asahi_timeline_cancel_waiting() - what waits behind a guilty job must not run
 * @queue: queue
 *
 * All jobs that have been submitted so far are cancelled, unless the firmware has them:
 * what they would read was never written. What is submitted later runs. With the
 * timeline's lock held.
 */
void asahi_timeline_cancel_waiting(struct asahi_queue *queue)
{
	lockdep_assert_held(&queue->timeline.lock);

	WRITE_ONCE(queue->timeline.cancelled, READ_ONCE(queue->submitted));
}

/**
 * asahi_timeline_cancelled() - was a job cancelled before its turn came?
 * @job: job that was pushed
 *
 * Any context. The answer may change from false to true until the job is handed over,
 * never back.
 *
 * Return: true if it must not run.
 */
bool asahi_timeline_cancelled(const struct asahi_job *job)
{
	return job->number <= READ_ONCE(job->queue->timeline.cancelled);
}

/**
 * asahi_timeline_lost_fence() - what work of a lost device is waited for by
 *
 * Process context.
 *
 * Return: a fence that has signalled with -ENODEV, or NULL if there is no memory.
 */
struct dma_fence *asahi_timeline_lost_fence(void)
{
	struct dma_fence *fence = kzalloc_obj(*fence, GFP_KERNEL_ACCOUNT);

	if (!fence)
		return NULL;

	dma_fence_init64(fence, &asahi_timeline_fence_ops, NULL, dma_fence_context_alloc(1), 1);
	dma_fence_set_error(fence, -ENODEV);
	dma_fence_signal(fence);

	return fence;
}

/*
 * Complete all jobs, those that are not at their end with an error: the firmware
 * does not work on them any more.
 */
static void asahi_timeline_fail(struct asahi_queue *queue, int error)
{
	struct asahi_job *job, *next;

	guard(spinlock_bh)(&queue->timeline.lock);

	asahi_timeline_retire_reached(queue);

	list_for_each_entry_safe(job, next, &queue->timeline.jobs, link) {
		if (!job->error)
			job->error = error;
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

static int asahi_timeline_show_missed(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct asahi_device *adev = to_asahi_device(entry->dev);

	seq_printf(m, "%d\n", atomic_read(&adev->timelines->missed));
	return 0;
}

static int asahi_timeline_init(struct asahi_device *adev)
{
	struct asahi_timelines *timelines;

	timelines = kzalloc_obj(*timelines);
	if (!timelines)
		return -ENOMEM;

	timelines->adev = adev;
	timelines->period_ns = ASAHI_TIMELINE_POLL_NS;
	init_waitqueue_head(&timelines->idle);
	hrtimer_setup(&timelines->timer, asahi_timeline_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	adev->timelines = timelines;
	drm_debugfs_add_file(&adev->drm, "untold-stamps", asahi_timeline_show_missed, NULL);

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
	kfree(timelines);
	adev->timelines = NULL;
}

static void asahi_timeline_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_timelines *timelines = adev->timelines;

	asahi_rest_expect(rest, ASAHI_REST_FLIGHT, !atomic_read(&timelines->in_flight),
			  "%d jobs are in flight", atomic_read(&timelines->in_flight));
	asahi_rest_expect(rest, ASAHI_REST_FLIGHT, !atomic_read(&timelines->crowded),
			  "%d queues count as having several jobs in flight",
			  atomic_read(&timelines->crowded));
	asahi_rest_expect(rest, ASAHI_REST_FLIGHT, !atomic_read(&timelines->untold),
			  "%d queues count as having jobs that nobody tells of",
			  atomic_read(&timelines->untold));
	asahi_rest_expect(rest, ASAHI_REST_IDLE, !hrtimer_active(&timelines->timer),
			  "the timer that looks at stamps runs");
}

const struct asahi_block asahi_block_timeline = {
	.name = "timeline",
	.init = asahi_timeline_init,
	.unplug = asahi_timeline_unplug,
	.pre_reset = asahi_timeline_pre_reset,
	.post_reset = asahi_timeline_post_reset,
	.fini = asahi_timeline_fini,
	.at_rest = asahi_rest_ptr(asahi_timeline_at_rest),
};
