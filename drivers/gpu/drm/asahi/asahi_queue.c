// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Queues: life, scheduling and completion.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/bits.h>
#include <linux/capability.h>
#include <linux/cleanup.h>
#include <linux/dma-fence.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_abi.h"
#include "asahi_channel.h"
#include "asahi_coredump.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_event.h"
#include "asahi_fw_event.h"
#include "asahi_fw_workqueue.h"
#include "asahi_hw.h"
#include "asahi_initdata.h"
#include "asahi_job.h"
#include "asahi_queue.h"
#include "asahi_queue_priv.h"
#include "asahi_recovery.h"
#include "asahi_trace.h"
#include "asahi_vm.h"
#include "asahi_workqueue.h"

/**
 * DOC: Queues
 *
 * A queue is what a client submits to. It has a ring of the firmware's for
 * each of the three pipes, vertex, fragment and compute, and a DRM scheduler
 * with a single entity. The firmware schedules the rings of all queues against
 * each other; the DRM scheduler only waits for dependencies and keeps the
 * number of outstanding stamps below the firmware's limit, which is what its
 * credits count.
 *
 * A job's way: SUBMIT checks the commands, builds firmware structures, arms
 * and pushes (asahi_submit.c, asahi_job.c). When its dependencies have
 * signalled, prepare_job() gets it a VM context and event slots
 * (asahi_slot.c). run_job() writes those into the commands, puts them into the
 * rings and rings the doorbells (asahi_workqueue.c). Stamps come back
 * (asahi_event.c), jobs leave the list of those in flight in order, and their
 * fences signal here. free_job() sends the memory to a worker.
 *
 * **Completion is serialised, execution is not.** A job's fence signals when
 * its own stamps and those of all earlier jobs of the queue are reached, on all
 * pipes. That is what makes one timeline of fences for render and compute work
 * legal. Commands of different pipes, and of one pipe as far as the firmware
 * likes, run side by side unless barriers forbid it.
 *
 * **No set of clients can deadlock.** Four things can be waited for:
 *
 * * dependencies, by jobs that hold nothing: no context, no event, no room in
 *   a ring. A hundred VMs may wait for the hundred-and-first; they wait in their
 *   schedulers, and it finds all slots free.
 * * credits, which are the queue's own and come back when its earlier jobs
 *   complete. Those have all been handed to the firmware.
 * * slots. Only a job whose dependencies have all signalled asks for them, it
 *   gets all or none, and those who hold them are handed to the firmware
 *   without waiting for anything more. The queue of those who wait is strict,
 *   so each is served.
 * * the firmware. Within a ring it runs in order, and barriers point at
 *   earlier work of the same queue only, which is in a ring already. Work that
 *   hangs is taken down by the firmware's own timeout; a firmware that hangs, or
 *   never retires what it took down, is noticed by the scheduler's, and then
 *   everything fails with ENODEV.
 *
 * Each of the four ends if the following ones do. What runs in the critical
 * section of fences (prepare_job(), run_job(), completion, recovery, timeout)
 * allocates nothing and takes no lock under which others allocate.
 *
 * **What was rejected.** Taking slots in the ioctl: 63 VMs that wait for a 64th
 * would keep it from ever running. Taking VM context and events one after the
 * other: two jobs could each hold what the other one wants. A scheduler for each
 * pipe, with fences of their own: a SUBMIT has commands for several pipes, so
 * its out-fence would be an array, allocated when the job runs. One scheduler
 * for all queues: its credits would make queues wait for each other. Failing
 * jobs out of order after an error: later fences of a timeline must not signal
 * before earlier ones, so jobs that are not worth running any more go through
 * the list like all others.
 */

/* How long the firmware may take for a job before it is asked whether it works. */
#define ASAHI_TIMEOUT_MS 10000
/* How often in a row it may have done nothing, or not what it owes. */
#define ASAHI_TIMEOUT_STRIKES 3
/* How long a queue that is destroyed waits for what was submitted to it. */
#define ASAHI_DRAIN_MS 1000
/* Queues of a file at most. */
#define ASAHI_MAX_QUEUES 1024

/**
 * struct asahi_queues - all queues of a device
 * @list: the queues
 * @last_id: number of the latest
 * @sched_wq: where jobs are scheduled
 * @timeout_wq: where timeouts are handled and channels recovered, one after the
 *	other
 */
struct asahi_queues {
	/**
	 * @lock: protects @list; taken before any queue's lock, and where fences
	 * are signalled
	 */
	struct mutex lock;
	struct list_head list;
	atomic_t last_id;
	struct workqueue_struct *sched_wq;
	struct workqueue_struct *timeout_wq;
};

static const char *asahi_fence_driver(struct dma_fence *fence)
{
	return "asahi";
}

static const char *asahi_fence_timeline(struct dma_fence *fence)
{
	return "queue";
}

static const struct dma_fence_ops asahi_fence_ops = {
	.get_driver_name = asahi_fence_driver,
	.get_timeline_name = asahi_fence_timeline,
};

static struct asahi_job *to_asahi_job(struct drm_sched_job *base)
{
	return container_of(base, struct asahi_job, base);
}

static void asahi_usage_release(struct kref *ref)
{
	kfree(container_of(ref, struct asahi_usage, refcount));
}

/*
 * Reference counting
 */

static void asahi_queue_destroy_context(struct asahi_queue *queue)
{
	struct asahi_device *adev = queue->adev;
	struct asahi_fw_gpu_context_data *data = queue->context.map;
	struct asahi_dc_msg msg = { .type = ASAHI_DC_DESTROY_CONTEXT };
	bool used = false;
	int idx, ret;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		used |= queue->wq[i] && asahi_workqueue_used(queue->wq[i]);
	if (!used || !drm_dev_enter(&adev->drm, &idx))
		return;

	msg.destroy_context.ctx_0 = data->unk_0;
	msg.destroy_context.ctx_1 = data->unk_1;
	msg.destroy_context.ctx_4 = data->unk_4;
	msg.destroy_context.ctx_23 = data->unk_23;
	msg.destroy_context.context_va = queue->context.va;

	ret = asahi_channel_device_control(adev, &msg);
	if (ret && !asahi_device_dead(adev))
		drm_err(&adev->drm, "queue %u: firmware does not let go of its context: %d\n",
			queue->id, ret);

	drm_dev_exit(idx);
}

static void asahi_queue_free_memory(struct asahi_queue *queue)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		asahi_workqueue_destroy(queue->wq[i]);
	asahi_heap_free(&queue->context);
	asahi_heap_free(&queue->notifier);
	asahi_heap_free(&queue->threshold);
	asahi_heap_free(&queue->notifier_list);
	asahi_vm_put(queue->vm);
	if (queue->usage)
		kref_put(&queue->usage->refcount, asahi_usage_release);
	mutex_destroy(&queue->lock);
	mutex_destroy(&queue->submit_lock);
	/* Who asks a fence for its timeline's name follows it to @sched. */
	kfree_rcu(queue, rcu);
}

static void asahi_queue_free_work(struct work_struct *work)
{
	struct asahi_queue *queue = container_of(work, struct asahi_queue, free_work);
	struct asahi_device *adev = queue->adev;

	scoped_guard(mutex, &adev->queues->lock)
		list_del(&queue->link);

	drm_sched_fini(&queue->sched);
	asahi_queue_destroy_context(queue);
	asahi_queue_free_memory(queue);

	asahi_count_dec(ASAHI_COUNT_QUEUE);
	drm_dev_put(&adev->drm);
	module_put(THIS_MODULE);
}

static void asahi_queue_release(struct kref *ref)
{
	struct asahi_queue *queue = container_of(ref, struct asahi_queue, refcount);

	asahi_free_queue_work(&queue->free_work);
}

/**
 * asahi_queue_get() - take a reference
 * @queue: queue
 *
 * Any context.
 *
 * Return: @queue.
 */
struct asahi_queue *asahi_queue_get(struct asahi_queue *queue)
{
	kref_get(&queue->refcount);
	return queue;
}

/**
 * asahi_queue_get_unless_zero() - take a reference if there is one left
 * @queue: queue whose memory is kept by a lock
 *
 * Any context.
 *
 * Return: @queue, or NULL if it is being freed.
 */
struct asahi_queue *asahi_queue_get_unless_zero(struct asahi_queue *queue)
{
	return kref_get_unless_zero(&queue->refcount) ? queue : NULL;
}

/**
 * asahi_queue_put() - drop a reference
 * @queue: queue
 *
 * Any context. A worker does what there is to do.
 */
void asahi_queue_put(struct asahi_queue *queue)
{
	kref_put(&queue->refcount, asahi_queue_release);
}

/*
 * Scheduling and completion
 */

static void asahi_queue_note_turn(struct asahi_queue *queue, struct asahi_job *job)
{
	job->ran = true;
	if (atomic_dec_and_test(&queue->unscheduled))
		wake_up_all(&queue->drained);
}

static void asahi_queue_count_busy(struct asahi_queue *queue, const struct asahi_job *job)
{
	ktime_t now = ktime_get();

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		ktime_t start;

		if (!job->pipe[i].count)
			continue;

		start = max(job->run_time, queue->busy_since[i]);
		atomic64_add(ktime_to_ns(ktime_sub(now, start)), &queue->usage->busy_ns[i]);
		queue->busy_since[i] = now;
	}
}

static void asahi_queue_retire(struct asahi_queue *queue, struct asahi_job *job)
{
	struct asahi_device *adev = queue->adev;

	lockdep_assert_held(&queue->lock);

	list_del_init(&job->link);

	if (!job->skipped) {
		asahi_queue_count_busy(queue, job);
		for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
			if (job->pipe[i].count)
				asahi_workqueue_end(queue->wq[i]);
		asahi_initdata_end_submission(adev);
		asahi_event_note_progress(adev);
	}

	asahi_slots_release(adev->slots, &job->slots);

	trace_asahi_done(adev, queue->id, job->id, job->done->seqno, job->error);
	if (job->error)
		dma_fence_set_error(job->done, job->error);
	dma_fence_signal(job->done);

	asahi_job_put(job);
}

static void asahi_queue_retire_reached(struct asahi_queue *queue)
{
	struct asahi_job *job, *next;

	lockdep_assert_held(&queue->lock);

	list_for_each_entry_safe(job, next, &queue->jobs, link) {
		if (!job->skipped && !asahi_job_reached(job)) {
			if (!queue->abandoned)
				break;
			if (!job->error)
				job->error = -ENODEV;
		}
		asahi_queue_retire(queue, job);
	}
}

/**
 * asahi_queue_complete() - complete what has reached its stamps
 * @queue: queue
 *
 * May be called at any time: it looks at the stamps. Process context, in the
 * critical section of fences.
 */
void asahi_queue_complete(struct asahi_queue *queue)
{
	guard(mutex)(&queue->lock);
	asahi_queue_retire_reached(queue);
}

static struct dma_fence *asahi_queue_prepare_job(struct drm_sched_job *base,
						 struct drm_sched_entity *entity)
{
	struct asahi_job *job = to_asahi_job(base);
	struct asahi_queue *queue = job->queue;
	struct dma_fence *fence;

	/* Will be skipped. */
	if (asahi_device_dead(queue->adev) || READ_ONCE(queue->error))
		return NULL;

	fence = asahi_slots_acquire(queue->adev->slots, &job->slots);
	if (fence)
		trace_asahi_slot_wait(queue->adev, queue->id, job->id);

	return fence;
}

static struct dma_fence *asahi_queue_run_job(struct drm_sched_job *base)
{
	struct asahi_job *job = to_asahi_job(base);
	struct asahi_queue *queue = job->queue;
	struct asahi_device *adev = queue->adev;
	bool cookie = dma_fence_begin_signalling();
	bool reserved = !asahi_job_reserve(job);

	/* Declares the device dead, if it is not already. */
	if (!reserved)
		asahi_recovery_wedged(adev, "it takes no more work");

	mutex_lock(&queue->lock);

	dma_fence_init64(job->done, &asahi_fence_ops, NULL, queue->fence_context,
			 ++queue->fence_seqno);
	WRITE_ONCE(job->fence_valid, true);
	list_add_tail(&asahi_job_get(job)->link, &queue->jobs);
	asahi_queue_note_turn(queue, job);

	if (asahi_device_dead(adev))
		job->error = -ENODEV;
	else if (queue->error)
		job->error = -ECANCELED;

	if (job->error) {
		if (reserved)
			asahi_job_unreserve(job);
		job->skipped = true;
		asahi_queue_retire_reached(queue);
	} else {
		trace_asahi_run(adev, queue->id, job->id,
				asahi_vm_slot_client(queue->vm)->slot, job->done->seqno);
		asahi_job_run(job);
	}

	mutex_unlock(&queue->lock);
	dma_fence_end_signalling(cookie);

	return dma_fence_get(job->done);
}

/* Others may keep the firmware busy for long, but not with this. */
static bool asahi_queue_owed(struct asahi_queue *queue, struct asahi_job *job)
{
	guard(mutex)(&queue->lock);

	return !list_empty(&job->link) && asahi_job_owed(job);
}

static enum drm_gpu_sched_stat asahi_queue_timedout_job(struct drm_sched_job *base)
{
	struct asahi_job *job = to_asahi_job(base);
	struct asahi_queue *queue = job->queue;
	struct asahi_device *adev = queue->adev;
	bool cookie = dma_fence_begin_signalling();
	u64 progress = asahi_event_progress(adev);
	bool owed;

	/* Is all that is missing a message? */
	asahi_queue_complete(queue);
	owed = asahi_queue_owed(queue, job);

	/* The clock starts to run shortly before run_job(). */
	if (READ_ONCE(job->fence_valid) && dma_fence_is_signaled(job->done)) {
		drm_dbg(&adev->drm, "queue %u: job %llu was complete but not announced\n",
			queue->id, job->id);
		queue->strikes = 0;
	} else if (progress != queue->progress && !owed) {
		queue->progress = progress;
		queue->strikes = 0;
	} else if (++queue->strikes >= ASAHI_TIMEOUT_STRIKES) {
		asahi_recovery_wedged(adev, owed ? "it does not retire what has failed" :
						   "it completes nothing any more");
	}

	dma_fence_end_signalling(cookie);

	/* The job stays in the scheduler's list until its fence signals. */
	return DRM_GPU_SCHED_STAT_NO_HANG;
}

static void asahi_queue_free_job(struct drm_sched_job *base)
{
	struct asahi_job *job = to_asahi_job(base);
	struct asahi_queue *queue = job->queue;

	if (!job->ran) {
		asahi_queue_note_turn(queue, job);
		asahi_slots_release(queue->adev->slots, &job->slots);
	}

	drm_sched_job_cleanup(base);
	asahi_job_put(job);
}

static const struct drm_sched_backend_ops asahi_queue_sched_ops = {
	.prepare_job = asahi_queue_prepare_job,
	.run_job = asahi_queue_run_job,
	.timedout_job = asahi_queue_timedout_job,
	.free_job = asahi_queue_free_job,
};

/*
 * Failure
 */

static int asahi_queue_pipe_of_event(struct asahi_queue *queue, unsigned int slot)
{
	lockdep_assert_held(&queue->lock);

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (asahi_workqueue_busy(queue->wq[i]) &&
		    asahi_workqueue_event(queue->wq[i]) == slot)
			return i;

	return -1;
}

/* What a job that was running has to answer for. */
static int asahi_queue_judge(struct asahi_queue *queue, const struct asahi_failure *failure)
{
	bool faulted = failure->fault &&
		       failure->fault->slot == asahi_vm_slot_client(queue->vm)->slot;

	if (failure->bystander || (failure->fault && !faulted && !failure->named))
		return -ECANCELED;

	return faulted ? -EIO : failure->error;
}

/*
 * Mark the job that a stamp belongs to, and earlier ones that are not complete.
 * If it is guilty, all later jobs fail with it.
 */
static void asahi_queue_mark(struct asahi_queue *queue, int pipe, unsigned int slot, u32 value,
			     const struct asahi_failure *failure)
{
	struct asahi_device *adev = queue->adev;
	int error = asahi_queue_judge(queue, failure);
	struct asahi_job *job;
	bool behind = false;

	lockdep_assert_held(&queue->lock);

	/* What has reached its stamp is well. */
	asahi_queue_retire_reached(queue);

	list_for_each_entry(job, &queue->jobs, link) {
		bool hit = job->pipe[pipe].count && !job->skipped &&
			   asahi_stamp_reached(value, job->pipe[pipe].first);

		if (hit) {
			job->pipe[pipe].taken_down = true;
			job->pipe[pipe].owed = value;
		}
		if (job->error || !(hit || behind))
			continue;

		job->error = behind ? -ECANCELED : error;
		trace_asahi_failed(adev, queue->id, job->id, slot, value, job->error);

		if (job->error == -ECANCELED)
			continue;

		drm_err_ratelimited(&adev->drm, "queue %u: job %llu failed: %d\n", queue->id,
				    job->id, job->error);
		WRITE_ONCE(queue->error, -EIO);
		asahi_coredump_capture(asahi_recovery_coredump(adev), job, failure);
		behind = true;
	}
}

/**
 * asahi_queue_mark_failed() - the GPU or the firmware did not complete work
 * @queue: queue that owns the event slot
 * @slot: event slot of the work
 * @value: stamp value that the work would have written
 * @failure: what happened
 *
 * Marks the job that the stamp belongs to, and earlier ones that are not
 * complete. If it is guilty, all later jobs of the queue fail with it, those
 * not submitted yet included. Fences signal later, when the firmware has
 * written the stamps and so does not use the jobs' memory any more.
 *
 * Process context, in the critical section of fences.
 */
void asahi_queue_mark_failed(struct asahi_queue *queue, unsigned int slot, u32 value,
			     const struct asahi_failure *failure)
{
	int pipe;

	guard(mutex)(&queue->lock);

	pipe = asahi_queue_pipe_of_event(queue, slot);
	if (pipe >= 0)
		asahi_queue_mark(queue, pipe, slot, value, failure);
}

static int asahi_queue_recover_pipe(struct asahi_queue *queue, unsigned int pipe)
{
	struct asahi_dc_msg msg = { .type = ASAHI_DC_RECOVER_CHANNEL };

	scoped_guard(mutex, &queue->lock) {
		if (!(queue->recover & BIT(pipe)))
			return 0;
		queue->recover &= ~BIT(pipe);
		msg.recover_channel.event_value = queue->recover_value[pipe];
	}

	msg.recover_channel.pipe_type = pipe;
	msg.recover_channel.queue_va = asahi_workqueue_info_va(queue->wq[pipe]);

	return asahi_channel_device_control(queue->adev, &msg);
}

static void asahi_queue_recover_work(struct work_struct *work)
{
	struct asahi_queue *queue = container_of(work, struct asahi_queue, recover_work);
	struct asahi_device *adev = queue->adev;
	bool cookie = dma_fence_begin_signalling();
	int ret = 0;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		ret = asahi_queue_recover_pipe(queue, i) ?: ret;

	if (ret && !asahi_device_dead(adev))
		drm_err(&adev->drm, "queue %u: firmware does not recover the channel: %d\n",
			queue->id, ret);
	trace_asahi_recover(adev, "channel error", ret);

	dma_fence_end_signalling(cookie);
	asahi_queue_put(queue);
}

/**
 * asahi_queue_channel_error() - the firmware has given up an entry of a ring
 * @queue: queue that owns the event slot
 * @slot: event slot of the work
 * @value: stamp value that the work would have written
 * @failure: what happened
 *
 * Marks jobs like asahi_queue_mark_failed() and has a worker tell the firmware
 * to go on with the ring. It is not done here because the firmware may take its
 * time to listen: it does not when it has halted, and then waits in turn for
 * who receives its messages, who is the caller.
 *
 * Process context, in the critical section of fences.
 */
void asahi_queue_channel_error(struct asahi_queue *queue, unsigned int slot, u32 value,
			       const struct asahi_failure *failure)
{
	int pipe;

	guard(mutex)(&queue->lock);

	pipe = asahi_queue_pipe_of_event(queue, slot);
	if (pipe < 0)
		return;

	asahi_queue_mark(queue, pipe, slot, value, failure);

	queue->recover |= BIT(pipe);
	queue->recover_value[pipe] = value;
	asahi_queue_get(queue);
	if (!queue_work(queue->adev->queues->timeout_wq, &queue->recover_work))
		asahi_queue_put(queue);
}

/**
 * asahi_queues_abandon() - fail all jobs of a device
 * @adev: dead device whose firmware and GPU do not work any more
 *
 * All fences signal, with ENODEV unless something else was known of the job.
 * Process context, in the critical section of fences.
 */
void asahi_queues_abandon(struct asahi_device *adev)
{
	struct asahi_queue *queue;

	guard(mutex)(&adev->queues->lock);

	list_for_each_entry(queue, &adev->queues->list, link) {
		guard(mutex)(&queue->lock);
		queue->abandoned = true;
		asahi_queue_retire_reached(queue);
	}
}

/*
 * Life
 */

static int asahi_queue_alloc_memory(struct asahi_queue *queue)
{
	struct asahi_device *adev = queue->adev;
	struct asahi_heap **heap = adev->heap;
	struct asahi_fw_gpu_context_data *context;
	struct asahi_fw_notifier_list *list;
	int ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_SHARED], sizeof(*list), ASAHI_HEAP_ALIGN,
			       &queue->notifier_list);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_SHARED], sizeof(struct asahi_fw_threshold),
			       ASAHI_HEAP_ALIGN, &queue->threshold);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_SHARED], sizeof(*context), ASAHI_HEAP_ALIGN,
			       &queue->context);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_PRIVATE], adev->abi->job->notifier_size,
			       ASAHI_HEAP_ALIGN, &queue->notifier);
	if (ret)
		return ret;

	list = queue->notifier_list.map;
	list->list_head.next = cpu_to_le64(queue->notifier_list.va);

	context = queue->context.map;
	context->unk_0 = 0xff;
	context->unk_1 = 0xff;
	context->unk_5 = 1;
	context->unk_1e = 0xff;
	context->unk_23 = 2;

	adev->abi->job->notifier_init(queue->notifier.map, queue->threshold.va, queue->id);

	return 0;
}

static int asahi_queue_create_workqueues(struct asahi_queue *queue)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		struct asahi_workqueue *wq;

		wq = asahi_workqueue_create(queue->adev, &(struct asahi_workqueue_args) {
			.queue = queue,
			.uuid = queue->id,
			.pipe = i,
			.priority = queue->priority,
			.notifier_list_va = queue->notifier_list.va,
			.context_va = queue->context.va,
		});
		if (IS_ERR(wq))
			return PTR_ERR(wq);
		queue->wq[i] = wq;
	}

	return 0;
}

static int asahi_queue_init_sched(struct asahi_queue *queue)
{
	struct asahi_queues *queues = queue->adev->queues;
	struct drm_gpu_scheduler *sched = &queue->sched;
	int ret;

	ret = drm_sched_init(sched, &(struct drm_sched_init_args) {
		.ops = &asahi_queue_sched_ops,
		.submit_wq = queues->sched_wq,
		.num_rqs = 1,
		.credit_limit = ASAHI_MAX_STAMPS,
		.timeout = msecs_to_jiffies(ASAHI_TIMEOUT_MS),
		.timeout_wq = queues->timeout_wq,
		.name = "asahi",
		.dev = queue->adev->drm.dev,
	});
	if (ret)
		return ret;

	ret = drm_sched_entity_init(&queue->entity, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);
	if (ret)
		drm_sched_fini(sched);

	return ret;
}

static struct asahi_queue *asahi_queue_new(struct asahi_file *file, struct asahi_vm *vm,
					   const struct drm_asahi_queue_create *args)
{
	struct asahi_device *adev = file->adev;
	struct asahi_queue *queue;
	int ret;

	queue = kzalloc_obj(*queue, GFP_KERNEL_ACCOUNT);
	if (!queue) {
		asahi_vm_put(vm);
		return ERR_PTR(-ENOMEM);
	}

	kref_init(&queue->refcount);
	INIT_LIST_HEAD(&queue->link);
	INIT_LIST_HEAD(&queue->jobs);
	INIT_WORK(&queue->free_work, asahi_queue_free_work);
	INIT_WORK(&queue->recover_work, asahi_queue_recover_work);
	mutex_init(&queue->submit_lock);
	mutex_init(&queue->lock);
	init_waitqueue_head(&queue->drained);
	queue->adev = adev;
	queue->vm = vm;
	queue->usage = file->usage;
	kref_get(&queue->usage->refcount);
	queue->id = atomic_inc_return(&adev->queues->last_id);
	queue->priority = DRM_ASAHI_PRIORITY_REALTIME - args->priority;
	queue->usc_exec_base = args->usc_exec_base;
	queue->fence_context = dma_fence_context_alloc(1);

	ret = asahi_queue_alloc_memory(queue);
	if (ret)
		goto err_free;

	ret = asahi_queue_create_workqueues(queue);
	if (ret)
		goto err_free;

	ret = asahi_queue_init_sched(queue);
	if (ret)
		goto err_free;

	/* Its jobs may outlive the file and, if clients are killed, much else. */
	__module_get(THIS_MODULE);
	drm_dev_get(&adev->drm);
	asahi_count_inc(ASAHI_COUNT_QUEUE);

	scoped_guard(mutex, &adev->queues->lock)
		list_add_tail(&queue->link, &adev->queues->list);

	return queue;

err_free:
	asahi_queue_free_memory(queue);
	return ERR_PTR(ret);
}

/* Make the scheduler forget a queue. What is in flight goes on. */
static void asahi_queue_close(struct asahi_queue *queue, long *drain_jiffies)
{
	scoped_guard(mutex, &queue->submit_lock)
		queue->closed = true;

	/*
	 * Programs may flush and exit: let them. Those who were killed do not
	 * get here with time left.
	 */
	if (*drain_jiffies > 0 && atomic_read(&queue->unscheduled)) {
		long left = wait_event_killable_timeout(queue->drained,
							!atomic_read(&queue->unscheduled),
							*drain_jiffies);

		*drain_jiffies = max(left, 0);
	}

	drm_sched_entity_fini(&queue->entity);
	asahi_queue_put(queue);
}

static int asahi_queue_check_priority(u32 priority)
{
	if (priority > DRM_ASAHI_PRIORITY_REALTIME)
		return -EINVAL;
	if (priority < DRM_ASAHI_PRIORITY_HIGH)
		return 0;
	if (!capable(CAP_SYS_NICE))
		return -EPERM;

	return asahi_unproven ? 0 : -EOPNOTSUPP;
}

/**
 * asahi_queue_create() - make a queue for user space
 * @file: open file
 * @args: description; its flags were checked
 * @id: where the queue's ID goes
 *
 * Process context.
 *
 * Return: 0; -EINVAL for an unknown priority; -EPERM and -EOPNOTSUPP for high
 * ones; -ENOENT for an unknown address space; -ENOSPC for too many queues;
 * -ENOMEM; -ENODEV.
 */
int asahi_queue_create(struct asahi_file *file, const struct drm_asahi_queue_create *args,
		       u32 *id)
{
	struct asahi_device *adev = file->adev;
	struct asahi_queue *queue;
	struct asahi_vm *vm;
	long no_time = 0;
	int ret;

	if (asahi_device_dead(adev))
		return -ENODEV;

	ret = asahi_queue_check_priority(args->priority);
	if (ret) {
		drm_dbg(&adev->drm, "priority %u refused: %d\n", args->priority, ret);
		return ret;
	}

	vm = asahi_vm_lookup(file, args->vm_id);
	if (!vm) {
		drm_dbg(&adev->drm, "no address space %u\n", args->vm_id);
		return -ENOENT;
	}

	queue = asahi_queue_new(file, vm, args);
	if (IS_ERR(queue))
		return PTR_ERR(queue);

	ret = xa_alloc(&file->queues, id, queue, XA_LIMIT(1, ASAHI_MAX_QUEUES), GFP_KERNEL);
	if (ret) {
		asahi_queue_close(queue, &no_time);
		return ret == -EBUSY ? -ENOSPC : ret;
	}

	return 0;
}

/**
 * asahi_queue_destroy() - destroy a queue of user space's
 * @file: open file
 * @id: the queue's ID
 *
 * Waits for a second at most for jobs that depend on something. Those that
 * don't come to run in that time are cancelled, those in flight complete.
 *
 * Process context.
 *
 * Return: 0 or -ENOENT.
 */
int asahi_queue_destroy(struct asahi_file *file, u32 id)
{
	long drain = msecs_to_jiffies(ASAHI_DRAIN_MS);
	struct asahi_queue *queue = xa_erase(&file->queues, id);

	if (!queue) {
		drm_dbg(&file->adev->drm, "no queue %u\n", id);
		return -ENOENT;
	}

	asahi_queue_close(queue, &drain);

	return 0;
}

/**
 * asahi_queue_lookup() - find a queue by its ID
 * @file: open file
 * @id: the queue's ID
 *
 * Process context.
 *
 * Return: the queue with a reference, or NULL.
 */
struct asahi_queue *asahi_queue_lookup(struct asahi_file *file, u32 id)
{
	struct asahi_queue *queue;

	xa_lock(&file->queues);
	queue = xa_load(&file->queues, id);
	if (queue)
		asahi_queue_get(queue);
	xa_unlock(&file->queues);

	return queue;
}

/**
 * asahi_queue_file_open() - prepare a file for queues
 * @file: file that is being opened
 *
 * Process context.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_queue_file_open(struct asahi_file *file)
{
	file->usage = kzalloc_obj(*file->usage);
	if (!file->usage)
		return -ENOMEM;

	kref_init(&file->usage->refcount);

	return 0;
}

/**
 * asahi_queue_file_close() - destroy all queues of a file
 * @file: file that is being closed; nobody else uses it
 *
 * As asahi_queue_destroy(), in a second for all of them; at once if the program
 * was killed. Process context.
 */
void asahi_queue_file_close(struct asahi_file *file)
{
	bool killed = (current->flags & PF_EXITING) && current->exit_code == SIGKILL;
	long drain = killed ? 0 : msecs_to_jiffies(ASAHI_DRAIN_MS);
	struct asahi_queue *queue;
	unsigned long id;

	xa_for_each(&file->queues, id, queue) {
		xa_erase(&file->queues, id);
		asahi_queue_close(queue, &drain);
	}

	kref_put(&file->usage->refcount, asahi_usage_release);
	file->usage = NULL;
}

/**
 * asahi_queue_show_fdinfo() - print what a file's queues have used
 * @p: where to
 * @drm_file: open file
 *
 * Process context.
 */
void asahi_queue_show_fdinfo(struct drm_printer *p, struct drm_file *drm_file)
{
	static const char * const name[AGX_PIPE_COUNT] = { "vertex", "fragment", "compute" };
	struct asahi_usage *usage = to_asahi_file(drm_file)->usage;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		drm_printf(p, "drm-engine-%s:\t%lld ns\n", name[i],
			   atomic64_read(&usage->busy_ns[i]));

	drm_show_memory_stats(p, drm_file);
}

/*
 * The device's part
 */

/**
 * asahi_queues_init() - prepare a device for queues
 * @adev: device with events
 *
 * Process context.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_queues_init(struct asahi_device *adev)
{
	static const struct asahi_slot_range range[ASAHI_SLOT_KINDS] = {
		[ASAHI_SLOT_VM] = { .first = 1, .count = AGX_UAT_CONTEXTS - 1 },
		[ASAHI_SLOT_EVENT] = { .first = 0, .count = ASAHI_EVENTS },
	};
	struct asahi_queues *queues;
	int ret = -ENOMEM;

	queues = kzalloc_obj(*queues);
	if (!queues)
		return -ENOMEM;

	mutex_init(&queues->lock);
	INIT_LIST_HEAD(&queues->list);
	atomic_set(&queues->last_id, 0);

	queues->sched_wq = alloc_workqueue("asahi-sched", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!queues->sched_wq)
		goto err_free;

	queues->timeout_wq = alloc_ordered_workqueue("asahi-timeout", WQ_MEM_RECLAIM);
	if (!queues->timeout_wq)
		goto err_sched;

	adev->slots = asahi_slots_create(range);
	if (IS_ERR(adev->slots)) {
		ret = PTR_ERR(adev->slots);
		adev->slots = NULL;
		goto err_timeout;
	}

	adev->queues = queues;

	return 0;

err_timeout:
	destroy_workqueue(queues->timeout_wq);
err_sched:
	destroy_workqueue(queues->sched_wq);
err_free:
	kfree(queues);
	return ret;
}

/**
 * asahi_queues_stop() - hand nothing more to the firmware
 * @adev: dead device
 *
 * Waits for those who are just doing it. Process context.
 */
void asahi_queues_stop(struct asahi_device *adev)
{
	struct asahi_queue *queue;

	WARN_ON(!asahi_device_dead(adev));

	guard(mutex)(&adev->queues->lock);

	list_for_each_entry(queue, &adev->queues->list, link) {
		mutex_lock(&queue->lock);
		mutex_unlock(&queue->lock);
	}
}

/**
 * asahi_queues_unplug() - complete all jobs of a device that goes away
 * @adev: dead device whose firmware was stopped
 *
 * Jobs that wait for others follow by themselves. Process context.
 */
void asahi_queues_unplug(struct asahi_device *adev)
{
	bool cookie = dma_fence_begin_signalling();

	asahi_queues_abandon(adev);
	dma_fence_end_signalling(cookie);
}

/**
 * asahi_queues_fini() - undo asahi_queues_init()
 * @adev: device without queues
 *
 * Process context.
 */
void asahi_queues_fini(struct asahi_device *adev)
{
	struct asahi_queues *queues = adev->queues;

	if (!queues)
		return;

	WARN_ON(!list_empty(&queues->list));
	destroy_workqueue(queues->timeout_wq);
	destroy_workqueue(queues->sched_wq);
	asahi_slots_destroy(adev->slots);
	adev->slots = NULL;
	mutex_destroy(&queues->lock);
	kfree(queues);
	adev->queues = NULL;
}

/**
 * asahi_queue_module_init() - to be called when the module is loaded
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_queue_module_init(void)
{
	return asahi_jobs_module_init();
}

/**
 * asahi_queue_module_exit() - to be called when the module is unloaded
 *
 * All devices are gone.
 */
void asahi_queue_module_exit(void)
{
	asahi_jobs_module_exit();
}
