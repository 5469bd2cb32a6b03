// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Jobs: memory and commands of one SUBMIT.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/slab.h>

#include <kunit/visibility.h>

#include <drm/drm_print.h>

#include "asahi_batch.h"
#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_client.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_doorbell.h"
#include "asahi_event.h"
#include "asahi_fw_event.h"
#include "asahi_initdata.h"
#include "asahi_job.h"
#include "asahi_job_slab.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_rest.h"
#include "asahi_scene.h"
#include "asahi_trace.h"
#include "asahi_vm.h"
#include "asahi_workqueue.h"

/**
 * DOC: Jobs
 *
 * A job is built completely when it is submitted, in process context, where
 * memory may be allocated and errors be returned: one piece of each kind of
 * memory for all its commands together, which its queue may have ready (see "Stashes").
 * Slots and stamps are not known then. They are written into the commands when the job
 * runs, which allocates nothing and can't fail.
 *
 * The memory comes back in a worker, after the job's fence: freeing it may
 * wait for locks under which others allocate. All jobs of a device that are over are
 * freed together, see "Freeing in batches".
 */

/*
 * Firmware-visible memory that a job may take. What renders need is bounded one by
 * one; this is for many large ones in one SUBMIT.
 */
#define ASAHI_JOB_MAX_BYTES (2 * ASAHI_SCENE_MAX_BYTES)

/* All but the memory of the structure. */
static void asahi_job_release(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;

	trace_asahi_free(queue->adev, asahi_client_id(queue->client), queue->id, job->id,
			 job->number && !job->skipped);

	for (unsigned int i = 0; i < job->num_works; i++)
		asahi_user_times_put(&job->work[i].user_times);

	asahi_tpc_put(job->tpc);
	asahi_stash_free(&queue->stash, &job->memory);
	asahi_slot_request_fini(&job->slots);
	if (job->number)
		dma_fence_put(job->done);
	else
		kfree(job->done);
	if (job->bytes)
		asahi_room_give(&queue->room, job->bytes);

	asahi_count_dec(ASAHI_COUNT_JOB);
	asahi_queue_put(queue);
}

static void asahi_job_free(struct asahi_job *job)
{
	struct asahi_small_job *small = job->small;

	asahi_job_release(job);
	asahi_job_slab_end(job, small);
	asahi_job_slab_put(small);
}

static void asahi_job_free_list(struct llist_node *list)
{
	struct asahi_job *job, *next;

	/* Each of them may be the last that keeps its queue. */
	llist_for_each_entry_safe(job, next, list, free_link)
		asahi_job_free(job);
}

VISIBLE_IF_KUNIT int asahi_job_take_room(struct asahi_job *job,
					 const struct asahi_work_memory *memory)
{
	u64 bytes = memory->ro + memory->private + memory->shared + memory->gpu + memory->word;
	int ret;

	if (bytes > ASAHI_JOB_MAX_BYTES) {
		drm_dbg(&job->queue->adev->drm, "queue %u: commands that take %llu bytes\n",
			job->queue->id, bytes);
		return -ENOMEM;
	}

	ret = asahi_room_take(&job->queue->room, job->queue->adev, bytes);
	if (!ret)
		job->bytes = bytes;

	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_job_take_room);

/* Make the queue's vertex buffer fit for a job's renders. */
static int asahi_job_prepare_tvb(struct asahi_job *job, const struct asahi_command_args *args,
				 unsigned int count)
{
	unsigned int min_blocks = 0;
	struct asahi_tpc *tpc;
	u64 tpc_size = 0;

	for (unsigned int i = 0; i < count; i++) {
		min_blocks = max(min_blocks, args[i].scene.min_blocks);
		tpc_size = max(tpc_size, args[i].scene.tpc_size);
	}

	if (!tpc_size)
		return 0;

	tpc = asahi_tvb_prepare(job->queue, min_blocks, tpc_size);
	if (IS_ERR(tpc))
		return PTR_ERR(tpc);

	job->tpc = tpc;

	return 0;
}

static void asahi_job_build(struct asahi_job *job, const struct asahi_command_args *args,
			    unsigned int count)
{
	struct asahi_work_memory place = job->memory.place;
	struct asahi_work *work = job->work;

	for (unsigned int i = 0; i < count; i++) {
		asahi_work_build(job, work, &args[i], &place);
		for (unsigned int j = 0; j < asahi_work_count(&args[i]); j++) {
			work->command = i;
			job->pipe[work->pipe].count++;
			work++;
		}
	}
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		job->stamps = max(job->stamps, job->pipe[i].count);
}

static void asahi_job_need_slots(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;

	asahi_slot_request_add(&job->slots, asahi_vm_slot_client(queue->vm));
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (job->pipe[i].count)
			asahi_slot_request_add(&job->slots, &queue->wq[i].slot);
	if (job->tpc)
		asahi_slot_request_add(&job->slots, &queue->tvb.slot);
}

/**
 * asahi_job_create() - build a job
 * @queue: queue that it will run on
 * @args: commands, checked
 * @count: how many; at least one
 * @small: memory that the job may take, or NULL; stays the caller's if this fails
 *
 * Waits, interruptibly, until the queue has room for it. Process context.
 *
 * Return: the job, whose scheduler part is not initialised, or an error:
 * -ENOMEM, or what the heaps say when their address spaces are full;
 * -ERESTARTSYS; -ENODEV.
 */
struct asahi_job *asahi_job_create(struct asahi_queue *queue,
				   const struct asahi_command_args *args, unsigned int count,
				   struct asahi_small_job *small)
{
	static atomic64_t last_id = ATOMIC64_INIT(0);
	struct asahi_work_memory memory = {};
	unsigned int works = 0;
	struct asahi_job *job;
	int ret;

	for (unsigned int i = 0; i < count; i++) {
		works += asahi_work_count(&args[i]);
		asahi_work_add_memory(queue->adev, &args[i], &memory);
	}

	job = asahi_job_slab_begin(small, works);
	if (!job)
		return ERR_PTR(-ENOMEM);

	kref_init(&job->refcount);
	INIT_LIST_HEAD(&job->link);
	job->queue = asahi_queue_get(queue);
	job->id = atomic64_inc_return(&last_id);
	asahi_client_name(&job->process);
	asahi_count_inc(ASAHI_COUNT_JOB);

	job->done = kzalloc_obj(*job->done, GFP_KERNEL_ACCOUNT);
	if (!job->done) {
		ret = -ENOMEM;
		goto err_free;
	}

	asahi_slot_request_init(&job->slots, asahi_client_slot_asker(queue->client),
				queue->priority);
	ret = asahi_job_take_room(job, &memory);
	if (ret)
		goto err_free;

	ret = asahi_stash_take(&queue->stash, &memory, &job->memory);
	if (ret)
		goto err_free;

	ret = asahi_job_prepare_tvb(job, args, count);
	if (ret)
		goto err_free;

	asahi_job_build(job, args, count);
	asahi_job_need_slots(job);
	job->small = small;

	return job;

err_free:
	asahi_job_release(job);
	asahi_job_slab_end(job, small);
	return ERR_PTR(ret);
}

static void asahi_job_unreserve_pipes(struct asahi_job *job, unsigned int end)
{
	for (unsigned int i = 0; i < end; i++)
		if (job->pipe[i].count)
			asahi_workqueue_unreserve(&job->queue->wq[i]);
}

/**
 * asahi_job_reserve() - wait until the firmware can be told of a job
 * @job: job that is about to run
 *
 * Process context, in the critical section of fences, without the timeline's
 * lock: recovery takes that, and a firmware that waits for recovery does not
 * listen. Allocates nothing.
 *
 * Return: 0, or a negative errno when the firmware does not take messages.
 */
int asahi_job_reserve(struct asahi_job *job)
{
	int ret;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		if (!job->pipe[i].count)
			continue;
		ret = asahi_workqueue_reserve(&job->queue->wq[i]);
		if (ret) {
			asahi_job_unreserve_pipes(job, i);
			return ret;
		}
	}

	return 0;
}

/**
 * asahi_job_try_reserve() - see to it that the firmware can be told of a job, without a wait
 * @job: job that is about to run
 *
 * Process context; allocates nothing.
 *
 * Return: true as asahi_job_reserve() returns 0; false if there is no room now.
 */
bool asahi_job_try_reserve(struct asahi_job *job)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		if (!job->pipe[i].count || asahi_workqueue_try_reserve(&job->queue->wq[i]))
			continue;
		asahi_job_unreserve_pipes(job, i);
		return false;
	}

	return true;
}

/**
 * asahi_job_unreserve() - undo asahi_job_reserve() or asahi_job_try_reserve()
 * @job: job that does not run after all
 *
 * Process context; allocates nothing.
 */
void asahi_job_unreserve(struct asahi_job *job)
{
	asahi_job_unreserve_pipes(job, AGX_PIPE_COUNT);
}

/* Fragment work first: vertex work that finds it in its ring can hand over. */
static const unsigned int asahi_job_pipe_order[AGX_PIPE_COUNT] = {
	AGX_PIPE_FRAGMENT, AGX_PIPE_VERTEX, AGX_PIPE_COMPUTE,
};

/* Note what is in flight already, and say whose stamps come now. */
static unsigned int asahi_job_begin(struct asahi_job *job)
{
	unsigned int stamps = 0;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		struct asahi_workqueue *wq = &job->queue->wq[i];
		struct asahi_job_pipe *pipe = &job->pipe[i];

		pipe->behind = wq->jobs;
		pipe->earlier = wq->stamp;
		if (!pipe->count)
			continue;

		stamps += pipe->count;
		asahi_workqueue_begin(wq);
		pipe->first = wq->stamp + ASAHI_STAMP_STEP;
	}

	return stamps;
}

static void asahi_job_push(struct asahi_job *job)
{
	unsigned int begin = 0;

	for (unsigned int i = 1; i <= job->num_works; i++) {
		if (i < job->num_works && job->work[i].command == job->work[begin].command)
			continue;
		asahi_work_push(job, &job->work[begin], i - begin);
		begin = i;
	}
}

/**
 * asahi_job_count() - have the notifier's threshold count a job's stamps
 * @job: job that was handed to the firmware, or is about to be
 *
 * Does nothing if it counts them already. With the timeline's lock held. Whoever calls
 * this for a job that runs has to look at its stamps afterwards.
 */
void asahi_job_count(struct asahi_job *job)
{
	struct asahi_fw_threshold *threshold = job->queue->threshold.map;

	lockdep_assert_held(&job->queue->timeline.lock);

	le64_add_cpu(&threshold->value, job->uncounted);
	job->uncounted = 0;
	/* A stamp that is not there yet will be compared with the new threshold. */
	smp_mb();
}

/**
 * asahi_job_run() - put a job into the rings
 * @job: job that holds its slots, for which asahi_job_reserve() returned 0, and whose
 *	address space has its context
 * @msg: what asahi_job_announce() is to say, by pipe
 *
 * In the critical section of fences, with the timeline's lock held. Allocates nothing
 * and does not fail.
 */
void asahi_job_run(struct asahi_job *job, struct asahi_pipe_msg *msg)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_device *adev = queue->adev;

	lockdep_assert_held(&queue->timeline.lock);

	/*
	 * The firmware holds events back until as many stamps as this were
	 * reached. To count a job before it runs would withhold the events of
	 * those that it may depend on.
	 */
	job->uncounted = asahi_job_begin(job);
	if (!queue->oldest_event || !queue->timeline.handed_over)
		asahi_job_count(job);
	asahi_job_push(job);

	job->run_time = ktime_get();
	asahi_initdata_begin_submission(adev);

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (job->pipe[i].count)
			asahi_workqueue_commit(&queue->wq[i], job->id, &msg[i]);
}

/**
 * asahi_job_announce() - tell the firmware of a job
 * @job: job after asahi_job_run()
 * @msg: what that has left, by pipe
 * @ring: how doorbells are rung
 *
 * Process context, in the critical section of fences, without the timeline's
 * lock; sleeps if @ring does. Allocates nothing. Uses the reservations up, also when it fails.
 *
 * Return: 0, or a negative errno when the firmware does not take messages.
 */
int asahi_job_announce(struct asahi_job *job, const struct asahi_pipe_msg *msg,
		       asahi_doorbell_fn ring)
{
	struct asahi_queue *queue = job->queue;
	int ret = ring(queue->adev, AGX_DOORBELL_KICK);

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		unsigned int pipe = asahi_job_pipe_order[i];
		int pipe_ret;

		if (!job->pipe[pipe].count)
			continue;
		pipe_ret = asahi_workqueue_announce(&queue->wq[pipe], &msg[pipe], ring);
		ret = ret ?: pipe_ret;
	}

	return ret;
}

/**
 * asahi_job_hit() - is a stamp value one of a job's?
 * @pipe: the job's part on the pipe that the stamp belongs to; it runs
 * @value: stamp value that is outstanding
 *
 * Any context.
 *
 * Return: where @value is.
 */
enum asahi_job_hit asahi_job_hit(const struct asahi_job_pipe *pipe, u32 value)
{
	if (!pipe->count || !asahi_stamp_reached(value, pipe->first))
		return ASAHI_JOB_MISSED;

	return asahi_stamp_reached(pipe->last, value) ? ASAHI_JOB_OWNS : ASAHI_JOB_BEFORE;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_job_hit);

/**
 * asahi_job_reached() - has the firmware completed all of a job?
 * @job: job in flight
 *
 * With the timeline's lock held.
 *
 * Return: true if all stamps of @job are reached.
 */
bool asahi_job_reached(struct asahi_job *job)
{
	const struct asahi_workqueue *wq = job->queue->wq;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (job->pipe[i].count && !asahi_workqueue_reached(&wq[i], job->pipe[i].last))
			return false;

	return true;
}

/**
 * asahi_job_owed() - has the firmware work to retire that it took down?
 * @job: job in flight
 *
 * With the timeline's lock held.
 *
 * Return: true if a stamp of @job is not reached that needs nothing of the GPU.
 */
bool asahi_job_owed(struct asahi_job *job)
{
	const struct asahi_workqueue *wq = job->queue->wq;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (job->pipe[i].taken_down && !asahi_workqueue_reached(&wq[i], job->pipe[i].owed))
			return true;

	return false;
}

/*
 * The device's part
 */

static int asahi_job_init(struct asahi_device *adev)
{
	adev->batch = asahi_batch_create(ASAHI_BATCH_MS, asahi_job_free_list);

	return adev->batch ? 0 : -ENOMEM;
}

static void asahi_job_fini(struct asahi_device *adev)
{
	asahi_batch_destroy(adev->batch);
	adev->batch = NULL;
}

static void asahi_job_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	asahi_rest_expect(rest, ASAHI_REST_IDLE, asahi_batch_is_empty(adev->batch),
			  "jobs wait to be freed");
}

const struct asahi_block asahi_block_job = {
	.name = "job",
	.init = asahi_job_init,
	.fini = asahi_job_fini,
	.at_rest = asahi_rest_ptr(asahi_job_at_rest),
};
