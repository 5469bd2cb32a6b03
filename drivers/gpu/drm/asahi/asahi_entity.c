// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Entities: a queue's jobs that wait, in the DRM scheduler.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/atomic.h>
#include <linux/dma-fence.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <drm/gpu_scheduler.h>

#include "asahi_client.h"
#include "asahi_device.h"
#include "asahi_entity.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_rest.h"
#include "asahi_slot.h"
#include "asahi_state.h"
#include "asahi_timeline.h"
#include "asahi_trace.h"

/**
 * DOC: Jobs that wait
 *
 * A job that cannot run in its SUBMIT goes through the DRM scheduler. Nothing else of the
 * driver knows of that: the fence that others see of a job is the timeline's, whichever way
 * the job takes. Each queue has a scheduler with one entity. It waits for the fences that a job
 * depends on. When all of them have signalled, prepare_job() asks for room among the
 * queue's stamps and for slots, and run_job() hands the job over.
 *
 * The DRM scheduler's credits and timeouts are not used, since jobs that have run from their
 * SUBMIT count as well: the timeline counts stamps, and the watchdog's looks are the queue's.
 */

/* More than a queue has jobs: their number is bounded elsewhere. */
#define ASAHI_ENTITY_CREDITS U32_MAX

static struct asahi_job *asahi_entity_to_job(struct drm_sched_job *base)
{
	return container_of(base, struct asahi_job, base);
}

static void asahi_entity_note_turn(struct asahi_job *job)
{
	struct asahi_entity *entity = &job->queue->entity;

	job->ran = true;
	if (atomic_dec_and_test(&entity->waiting))
		wake_up_all(&entity->drained);
}

static struct dma_fence *asahi_entity_prepare_job(struct drm_sched_job *base,
						  struct drm_sched_entity *entity)
{
	struct asahi_job *job = asahi_entity_to_job(base);
	struct asahi_queue *queue = job->queue;
	struct dma_fence *fence;

	/* Whether it is to be skipped must not change when its turn has come. */
	job->barred |= asahi_client_barred(queue->client);
	if (asahi_state_lost(queue->adev) || asahi_timeline_cancelled(job) || job->barred)
		return NULL;

	fence = asahi_timeline_wait_for_room(job);
	if (fence)
		return fence;

	/*
	 * There is nobody to run it, but there may be again: it waits for slots
	 * until asahi_sched_continue(). That can't come before this, as the
	 * schedulers are stopped in between.
	 */
	if (!asahi_state_fw_alive(queue->adev))
		asahi_slots_freeze(queue->adev->slots);

	fence = asahi_slots_acquire(queue->adev->slots, &job->slots);
	if (fence)
		trace_asahi_slot_wait(queue->adev, asahi_client_id(queue->client), queue->id,
				      job->id);

	return fence;
}

static struct dma_fence *asahi_entity_run_job(struct drm_sched_job *base)
{
	struct asahi_job *job = asahi_entity_to_job(base);
	bool cookie = dma_fence_begin_signalling();

	asahi_timeline_run(job);
	asahi_entity_note_turn(job);
	dma_fence_end_signalling(cookie);

	return dma_fence_get(job->done);
}

static void asahi_entity_free_job(struct drm_sched_job *base)
{
	struct asahi_job *job = asahi_entity_to_job(base);

	if (!job->ran) {
		asahi_timeline_drop(job);
		asahi_entity_note_turn(job);
	}

	drm_sched_job_cleanup(base);
	asahi_job_put(job);
}

static const struct drm_sched_backend_ops asahi_entity_ops = {
	.prepare_job = asahi_entity_prepare_job,
	.run_job = asahi_entity_run_job,
	.free_job = asahi_entity_free_job,
};

/**
 * asahi_entity_init() - make a queue able to have jobs that wait
 * @queue: queue
 * @wq: where their turn comes
 *
 * Process context.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_entity_init(struct asahi_queue *queue, struct workqueue_struct *wq)
{
	struct asahi_entity *entity = &queue->entity;
	struct drm_gpu_scheduler *sched = &entity->sched;
	int ret;

	init_waitqueue_head(&entity->drained);
	ret = drm_sched_init(sched, &(struct drm_sched_init_args) {
		.ops = &asahi_entity_ops,
		.submit_wq = wq,
		.num_rqs = 1,
		.credit_limit = ASAHI_ENTITY_CREDITS,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = "asahi",
		.dev = queue->adev->drm.dev,
	});
	if (ret)
		return ret;

	ret = drm_sched_entity_init(&entity->base, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);
	if (ret)
		drm_sched_fini(sched);

	return ret;
}

/**
 * asahi_entity_fini() - undo asahi_entity_init()
 * @queue: queue after asahi_entity_close() whose jobs are gone
 *
 * Process context.
 */
void asahi_entity_fini(struct asahi_queue *queue)
{
	drm_sched_fini(&queue->entity.sched);
}

/**
 * asahi_entity_stop() - keep jobs from having their turn
 * @queue: queue, stopped or not
 *
 * When this returns, none is being handed over. Process context.
 */
void asahi_entity_stop(struct asahi_queue *queue)
{
	drm_sched_wqueue_stop(&queue->entity.sched);
}

/**
 * asahi_entity_start() - undo asahi_entity_stop()
 * @queue: queue, stopped or not
 *
 * Process context.
 */
void asahi_entity_start(struct asahi_queue *queue)
{
	drm_sched_wqueue_start(&queue->entity.sched);
}

/**
 * asahi_entity_close() - cancel what waits
 * @queue: queue to which nothing is submitted any more
 * @drain_jiffies: how long to wait at most for jobs that depend on something;
 *	what is left of that
 *
 * What is in flight goes on. Process context.
 */
void asahi_entity_close(struct asahi_queue *queue, long *drain_jiffies)
{
	struct asahi_entity *entity = &queue->entity;

	/*
	 * Programs may flush and exit: let them. Those who were killed do not
	 * get here with time left.
	 */
	if (*drain_jiffies > 0 && atomic_read(&entity->waiting)) {
		long left = wait_event_killable_timeout(entity->drained,
							!atomic_read(&entity->waiting),
							*drain_jiffies);

		*drain_jiffies = max(left, 0);
	}

	drm_sched_entity_fini(&entity->base);
}

/**
 * asahi_entity_is_empty() - have all jobs of a queue had their turn?
 * @queue: queue whose submit_lock is held
 *
 * Return: true if none waits, and the messages to the firmware about all earlier ones were
 * sent.
 */
bool asahi_entity_is_empty(struct asahi_queue *queue)
{
	lockdep_assert_held(&queue->submit_lock);

	/* Pairs with asahi_entity_note_turn(). */
	return !atomic_read_acquire(&queue->entity.waiting);
}

/**
 * asahi_entity_add_job() - prepare a job to wait
 * @job: job that was not armed
 * @client_id: DRM's number of its client, for tracing
 *
 * asahi_entity_push() or asahi_entity_remove_job() has to follow. Process context.
 *
 * Return: 0 or a negative errno.
 */
int asahi_entity_add_job(struct asahi_job *job, u64 client_id)
{
	int ret = asahi_slot_request_prepare(&job->slots);

	if (ret)
		return ret;

	ret = drm_sched_job_init(&job->base, &job->queue->entity.base, 1, job->queue, client_id);
	if (ret)
		return ret;

	job->waits = true;
	return 0;
}

/**
 * asahi_entity_add_dependency() - make a job wait for a fence
 * @job: job after asahi_entity_add_job()
 * @fence: fence, whose reference is taken over, also after an error
 *
 * Process context.
 *
 * Return: 0 or a negative errno.
 */
int asahi_entity_add_dependency(struct asahi_job *job, struct dma_fence *fence)
{
	return drm_sched_job_add_dependency(&job->base, fence);
}

/**
 * asahi_entity_remove_job() - undo asahi_entity_add_job()
 * @job: job that was not pushed
 *
 * Process context.
 */
void asahi_entity_remove_job(struct asahi_job *job)
{
	drm_sched_job_cleanup(&job->base);
	job->waits = false;
}

/**
 * asahi_entity_push() - let a job wait for its turn
 * @job: job after asahi_entity_add_job() that is armed; its reference is taken over
 *
 * With the queue's submit_lock held; allocates nothing and does not fail.
 */
void asahi_entity_push(struct asahi_job *job)
{
	lockdep_assert_held(&job->queue->submit_lock);

	atomic_inc(&job->queue->entity.waiting);
	drm_sched_job_arm(&job->base);
	drm_sched_entity_push_job(&job->base);
}

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
/**
 * asahi_entity_at_rest() - say what waits although nothing should
 * @queue: queue
 * @rest: what is known of the device
 *
 * Process context.
 */
void asahi_entity_at_rest(struct asahi_queue *queue, struct asahi_rest *rest)
{
	struct drm_gpu_scheduler *sched = &queue->entity.sched;
	int waiting = atomic_read(&queue->entity.waiting);

	asahi_rest_expect(rest, ASAHI_REST_IDLE, !waiting,
			  "queue %u has %d jobs that wait for their turn", queue->id, waiting);
	asahi_rest_expect(rest, ASAHI_REST_IDLE, !atomic_read(&sched->credit_count),
			  "queue %u has taken %d credits", queue->id,
			  atomic_read(&sched->credit_count));

	guard(spinlock)(&sched->job_list_lock);
	asahi_rest_expect(rest, ASAHI_REST_IDLE, list_empty(&sched->pending_list),
			  "queue %u has jobs in its scheduler", queue->id);
}
#endif
