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
			job->part[work->pipe].count++;
			work++;
		}
	}
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		job->stamps = max(job->stamps, job->part[i].count);
}

static void asahi_job_need_slots(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;

	asahi_slot_request_add(&job->slots, asahi_vm_slot_client(queue->vm));
	asahi_pipes_need_slots(&queue->pipes, job->part, &job->slots);
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
 * Return: the job, which is not armed, or an error:
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
 * @job: job that holds its slots, for which asahi_pipes_reserve() returned 0, and whose
 *	address space has its context
 * @msg: what asahi_pipes_announce() is to say, by pipe
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
	job->uncounted = asahi_pipes_begin(&queue->pipes, job->part);
	if (!queue->oldest_event || !queue->timeline.handed_over)
		asahi_job_count(job);
	asahi_job_push(job);

	job->run_time = ktime_get();
	asahi_initdata_begin_submission(adev);

	asahi_pipes_commit(&queue->pipes, job->part, job->id, msg);
}

/**
 * asahi_job_hit() - is a stamp value one of a job's?
 * @part: the job's part on the pipe that the stamp belongs to; it runs
 * @value: stamp value that is outstanding
 *
 * Any context.
 *
 * Return: where @value is.
 */
enum asahi_job_hit asahi_job_hit(const struct asahi_part *part, u32 value)
{
	if (!part->count || !asahi_stamp_reached(value, part->first))
		return ASAHI_JOB_MISSED;

	return asahi_stamp_reached(part->last, value) ? ASAHI_JOB_OWNS : ASAHI_JOB_BEFORE;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_job_hit);

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
