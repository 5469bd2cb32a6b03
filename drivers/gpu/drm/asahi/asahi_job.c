// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Jobs: memory and commands of one SUBMIT.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/llist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "asahi_abi.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_event.h"
#include "asahi_fw_compute.h"
#include "asahi_fw_event.h"
#include "asahi_fw_workqueue.h"
#include "asahi_hw.h"
#include "asahi_initdata.h"
#include "asahi_job.h"
#include "asahi_queue.h"
#include "asahi_queue_priv.h"
#include "asahi_recovery.h"
#include "asahi_rtkit.h"
#include "asahi_trace.h"
#include "asahi_uat.h"
#include "asahi_vm.h"
#include "asahi_workqueue.h"

/**
 * DOC: Jobs
 *
 * A job is built completely when it is submitted, in process context, where
 * memory may be allocated and errors be returned: one piece of each kind of
 * memory for all its commands together. What is not known then, namely slots
 * and stamps, is written into the commands when the job runs. That allocates
 * nothing and can't fail.
 *
 * The memory comes back in a worker, after the job's fence: freeing it may
 * wait for locks under which others allocate.
 */

static struct workqueue_struct *asahi_free_wq;
static LLIST_HEAD(asahi_free_list);

static const size_t asahi_barrier_stride = ALIGN(sizeof(struct asahi_fw_barrier),
						 ASAHI_HEAP_ALIGN);
static const size_t asahi_timestamps_stride = ALIGN(sizeof(struct asahi_fw_timestamps),
						    ASAHI_HEAP_ALIGN);

static void asahi_job_free(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;

	trace_asahi_free(queue->adev, queue->id, job->id);

	asahi_heap_free(&job->memory_gpu);
	asahi_heap_free(&job->memory_shared);
	asahi_heap_free(&job->memory_private);
	asahi_heap_free(&job->memory_ro);
	asahi_slot_request_fini(&job->slots);
	if (job->fence_valid)
		dma_fence_put(job->done);
	else
		kfree(job->done);
	kvfree(job);

	asahi_count_dec(ASAHI_COUNT_JOB);
	asahi_queue_put(queue);
}

static void asahi_jobs_free_work(struct work_struct *work)
{
	struct llist_node *list = llist_reverse_order(llist_del_all(&asahi_free_list));
	struct asahi_job *job, *next;

	llist_for_each_entry_safe(job, next, list, free_link)
		asahi_job_free(job);
}

static DECLARE_WORK(asahi_free_jobs, asahi_jobs_free_work);

static void asahi_job_release(struct kref *ref)
{
	struct asahi_job *job = container_of(ref, struct asahi_job, refcount);

	if (llist_add(&job->free_link, &asahi_free_list))
		queue_work(asahi_free_wq, &asahi_free_jobs);
}

/**
 * asahi_job_get() - take a reference
 * @job: job
 *
 * Return: @job.
 */
struct asahi_job *asahi_job_get(struct asahi_job *job)
{
	kref_get(&job->refcount);
	return job;
}

/**
 * asahi_job_put() - drop a reference
 * @job: job; it holds no slots and does not wait for any when the last goes
 *
 * Any context. A worker does what there is to do.
 */
void asahi_job_put(struct asahi_job *job)
{
	kref_put(&job->refcount, asahi_job_release);
}

/**
 * asahi_free_queue_work() - have something freed in process context
 * @work: work whose function frees it
 *
 * Any context.
 */
void asahi_free_queue_work(struct work_struct *work)
{
	queue_work(asahi_free_wq, work);
}

/**
 * asahi_jobs_module_init() - make the worker that frees
 *
 * It belongs to the module because it may drop the last reference to a device.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_jobs_module_init(void)
{
	asahi_free_wq = alloc_workqueue("asahi-free", WQ_UNBOUND, 0);

	return asahi_free_wq ? 0 : -ENOMEM;
}

/**
 * asahi_jobs_module_exit() - wait for what is left to be freed
 */
void asahi_jobs_module_exit(void)
{
	destroy_workqueue(asahi_free_wq);
}

static int asahi_job_alloc(struct asahi_job *job, const struct asahi_command_args *args)
{
	struct asahi_device *adev = job->queue->adev;
	const struct asahi_job_abi *abi = adev->abi->job;
	size_t count = job->num_commands, barriers = 0;
	int ret;

	for (size_t i = 0; i < count; i++)
		barriers += args[i].num_barriers;

	ret = asahi_heap_alloc(adev->heap[ASAHI_HEAP_GPU_RO],
			       count * ALIGN(abi->run_compute_size, ASAHI_HEAP_ALIGN),
			       ASAHI_HEAP_ALIGN, &job->memory_ro);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(adev->heap[ASAHI_HEAP_PRIVATE],
			       count * ALIGN(abi->compute_microseq_size, ASAHI_HEAP_ALIGN) +
			       barriers * asahi_barrier_stride,
			       ASAHI_HEAP_ALIGN, &job->memory_private);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(adev->heap[ASAHI_HEAP_SHARED], count * asahi_timestamps_stride,
			       ASAHI_HEAP_ALIGN, &job->memory_shared);
	if (ret)
		return ret;

	return asahi_heap_alloc(asahi_vm_heap_gpu(job->queue->vm),
				count * ALIGN(adev->hw->compute_preempt1_size + ASAHI_PREEMPT_TAIL,
					      ASAHI_HEAP_ALIGN),
				ASAHI_HEAP_ALIGN, &job->memory_gpu);
}

static void asahi_job_build_command(struct asahi_job *job, unsigned int index,
				    const struct asahi_command_args *args, size_t *barrier_offset)
{
	struct asahi_command *command = &job->command[index];
	struct asahi_queue *queue = job->queue;
	struct asahi_device *adev = queue->adev;
	const struct asahi_job_abi *abi = adev->abi->job;
	size_t run = index * ALIGN(abi->run_compute_size, ASAHI_HEAP_ALIGN);
	size_t microseq = index * ALIGN(abi->compute_microseq_size, ASAHI_HEAP_ALIGN);
	size_t preempt = index * ALIGN(adev->hw->compute_preempt1_size + ASAHI_PREEMPT_TAIL,
				       ASAHI_HEAP_ALIGN);

	command->pipe = AGX_PIPE_COMPUTE;
	command->stream = args->compute.cdm_ctrl_stream_base;
	command->run = job->memory_ro.map + run;
	command->run_va = job->memory_ro.va + run;
	command->microseq = job->memory_private.map + microseq;
	command->microseq_va = job->memory_private.va + microseq;
	command->num_barriers = args->num_barriers;

	for (unsigned int i = 0; i < args->num_barriers; i++) {
		command->barrier[i] = args->barrier[i];
		command->barrier_map[i] = job->memory_private.map + *barrier_offset;
		command->barrier_va[i] = job->memory_private.va + *barrier_offset;
		*barrier_offset += asahi_barrier_stride;
	}

	abi->compute_build(&(struct asahi_compute_args) {
		.args = args,
		.run = command->run,
		.run_va = command->run_va,
		.microseq = command->microseq,
		.microseq_va = command->microseq_va,
		.timestamps_va = job->memory_shared.va + index * asahi_timestamps_stride,
		.preempt_va = job->memory_gpu.va + preempt,
		.preempt1_size = adev->hw->compute_preempt1_size,
		.queue_info_va = asahi_workqueue_info_va(queue->wq[AGX_PIPE_COMPUTE]),
		.notifier_va = queue->notifier.va,
		.stats_va = asahi_initdata_stats_va(adev, AGX_PIPE_COMPUTE),
		.usc_exec_base = queue->usc_exec_base,
		.counter = atomic64_fetch_inc(&queue->counter),
		.queue_id = queue->id,
	});

	trace_asahi_build(adev, queue->id, job->id, command->pipe, command->run_va,
			  command->microseq_va, command->stream);
}

/**
 * asahi_job_create() - build a job
 * @queue: queue that it will run on
 * @args: commands, checked
 * @count: how many; at least one
 *
 * Process context.
 *
 * Return: the job, whose scheduler part is not initialised, or an error:
 * -ENOMEM, or what the heaps say when their address spaces are full.
 */
struct asahi_job *asahi_job_create(struct asahi_queue *queue,
				   const struct asahi_command_args *args, unsigned int count)
{
	static atomic64_t last_id = ATOMIC64_INIT(0);
	const struct asahi_job_abi *abi = queue->adev->abi->job;
	size_t barrier = count * ALIGN(abi->compute_microseq_size, ASAHI_HEAP_ALIGN);
	struct asahi_job *job;
	int ret;

	job = kvzalloc_flex(*job, command, count, GFP_KERNEL_ACCOUNT);
	if (!job)
		return ERR_PTR(-ENOMEM);

	kref_init(&job->refcount);
	INIT_LIST_HEAD(&job->link);
	job->num_commands = count;
	job->queue = asahi_queue_get(queue);
	job->id = atomic64_inc_return(&last_id);
	asahi_count_inc(ASAHI_COUNT_JOB);

	job->done = kzalloc_obj(*job->done, GFP_KERNEL_ACCOUNT);
	if (!job->done) {
		ret = -ENOMEM;
		goto err_put;
	}

	ret = asahi_slot_request_init(&job->slots);
	if (ret)
		goto err_put;

	ret = asahi_job_alloc(job, args);
	if (ret)
		goto err_put;

	for (unsigned int i = 0; i < count; i++) {
		asahi_job_build_command(job, i, &args[i], &barrier);
		job->pipe[job->command[i].pipe].count++;
	}

	asahi_slot_request_add(&job->slots, asahi_vm_slot_client(queue->vm));
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (job->pipe[i].count)
			asahi_slot_request_add(&job->slots,
					       asahi_workqueue_slot_client(queue->wq[i]));

	return job;

err_put:
	asahi_job_put(job);
	return ERR_PTR(ret);
}

/**
 * struct asahi_earlier - work of earlier jobs on one pipe
 * @busy: there is any in flight
 * @stamp: value that its last command will write
 */
struct asahi_earlier {
	bool busy;
	u32 stamp;
};

static void asahi_job_push_barriers(struct asahi_job *job, struct asahi_command *command,
				    const struct asahi_earlier *earlier, u32 stamp)
{
	struct asahi_queue *queue = job->queue;

	for (unsigned int i = 0; i < command->num_barriers; i++) {
		const struct asahi_barrier *barrier = &command->barrier[i];
		struct asahi_workqueue *wq = queue->wq[barrier->pipe];
		struct asahi_fw_barrier *fw = command->barrier_map[i];
		u32 value;

		if (barrier->index)
			value = job->pipe[barrier->pipe].first +
				(barrier->index - 1) * ASAHI_STAMP_STEP;
		else if (earlier[barrier->pipe].busy)
			value = earlier[barrier->pipe].stamp;
		else
			continue;

		fw->tag = cpu_to_le32(ASAHI_FW_CMD_BARRIER);
		fw->wait_stamp = cpu_to_le64(asahi_event_fw_stamp_va(queue->adev,
								     asahi_workqueue_event(wq)));
		fw->wait_value = cpu_to_le32(value);
		fw->wait_slot = cpu_to_le32(asahi_workqueue_event(wq));
		fw->stamp_self = cpu_to_le32(stamp);
		fw->uuid = cpu_to_le32(ASAHI_FW_BARRIER_UUID);
		fw->internal_barrier_type = cpu_to_le32(1);

		asahi_workqueue_push(queue->wq[command->pipe], command->barrier_va[i]);
	}
}

static void asahi_job_push_command(struct asahi_job *job, struct asahi_command *command,
				   const struct asahi_earlier *earlier)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_device *adev = queue->adev;
	struct asahi_workqueue *wq = queue->wq[command->pipe];
	struct asahi_job_pipe *pipe = &job->pipe[command->pipe];
	unsigned int event = asahi_workqueue_event(wq);
	struct asahi_patch patch = {
		.vm_slot = asahi_vm_slot_client(queue->vm)->slot,
		.event_slot = event,
		.stamp_va = asahi_event_stamp_va(adev, event),
		.fw_stamp_va = asahi_event_fw_stamp_va(adev, event),
		.event_seq = asahi_workqueue_event_seq(wq),
	};

	patch.stamp = asahi_workqueue_next_stamp(wq);
	pipe->last = patch.stamp;

	asahi_job_push_barriers(job, command, earlier, patch.stamp);
	adev->abi->job->compute_patch(command->run, command->microseq, &patch);
	asahi_workqueue_push(wq, command->run_va);
}

/* Fragment work first: vertex work that finds it in its ring can hand over. */
static const unsigned int asahi_pipe_order[AGX_PIPE_COUNT] = {
	AGX_PIPE_FRAGMENT, AGX_PIPE_VERTEX, AGX_PIPE_COMPUTE,
};

static int asahi_job_publish(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;
	int ret;

	ret = asahi_rtkit_doorbell(queue->adev, AGX_DOORBELL_KICK);
	if (ret)
		return ret;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		if (!job->pipe[asahi_pipe_order[i]].count)
			continue;
		ret = asahi_workqueue_commit(queue->wq[asahi_pipe_order[i]]);
		if (ret)
			return ret;
	}

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		if (!job->pipe[asahi_pipe_order[i]].count)
			continue;
		ret = asahi_workqueue_doorbell(queue->wq[asahi_pipe_order[i]]);
		if (ret)
			return ret;
	}

	return 0;
}

static void asahi_job_unreserve_pipes(struct asahi_job *job, unsigned int end)
{
	for (unsigned int i = 0; i < end; i++)
		if (job->pipe[i].count)
			asahi_workqueue_unreserve(job->queue->wq[i]);
}

/**
 * asahi_job_reserve() - wait until the firmware can be told of a job
 * @job: job that is about to run
 *
 * Process context, in the critical section of fences, without the queue's lock:
 * recovery takes that, and a firmware that waits for recovery does not listen.
 * Allocates nothing.
 *
 * Return: 0, or a negative errno when the firmware does not take messages.
 */
int asahi_job_reserve(struct asahi_job *job)
{
	int ret;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		if (!job->pipe[i].count)
			continue;
		ret = asahi_workqueue_reserve(job->queue->wq[i]);
		if (ret) {
			asahi_job_unreserve_pipes(job, i);
			return ret;
		}
	}

	return 0;
}

/**
 * asahi_job_unreserve() - undo asahi_job_reserve()
 * @job: job that does not run after all
 *
 * Process context; allocates nothing.
 */
void asahi_job_unreserve(struct asahi_job *job)
{
	asahi_job_unreserve_pipes(job, AGX_PIPE_COUNT);
}

/**
 * asahi_job_run() - hand a job to the firmware
 * @job: job that holds its slots, and for which asahi_job_reserve() returned 0
 *
 * Process context, in the critical section of fences, with the queue's lock
 * held. Allocates nothing and does not fail: when the firmware takes no
 * messages any more, the device is declared dead, which completes all jobs.
 */
void asahi_job_run(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_device *adev = queue->adev;
	struct asahi_fw_threshold *threshold = queue->threshold.map;
	struct asahi_earlier earlier[AGX_PIPE_COUNT] = {};
	unsigned int stamps = 0;

	lockdep_assert_held(&queue->lock);

	asahi_uat_vm_attach(adev, asahi_vm_uat(queue->vm), asahi_vm_slot_client(queue->vm)->slot);

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		struct asahi_workqueue *wq = queue->wq[i];

		earlier[i].busy = asahi_workqueue_busy(wq);
		earlier[i].stamp = asahi_workqueue_stamp(wq);
		if (!job->pipe[i].count)
			continue;

		stamps += job->pipe[i].count;
		asahi_workqueue_begin(wq);
		job->pipe[i].first = asahi_workqueue_stamp(wq) + ASAHI_STAMP_STEP;
	}

	/*
	 * The firmware holds events back until as many stamps as this were
	 * reached. To count a job before it runs would withhold the events of
	 * those that it may depend on.
	 */
	le64_add_cpu(&threshold->value, stamps);

	for (unsigned int i = 0; i < job->num_commands; i++)
		asahi_job_push_command(job, &job->command[i], earlier);

	job->run_time = ktime_get();
	asahi_initdata_begin_submission(adev);

	if (asahi_job_publish(job))
		asahi_recovery_wedged(adev, "it takes no more work");
}

static bool asahi_job_pipe_reached(struct asahi_job *job, unsigned int pipe, u32 value)
{
	struct asahi_queue *queue = job->queue;
	unsigned int event = asahi_workqueue_event(queue->wq[pipe]);

	lockdep_assert_held(&queue->lock);

	return asahi_stamp_reached(asahi_event_read(queue->adev, event), value);
}

/**
 * asahi_job_reached() - has the firmware completed all of a job?
 * @job: job in flight
 *
 * With the queue's lock held.
 *
 * Return: true if all stamps of @job are reached.
 */
bool asahi_job_reached(struct asahi_job *job)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (job->pipe[i].count && !asahi_job_pipe_reached(job, i, job->pipe[i].last))
			return false;

	return true;
}

/**
 * asahi_job_owed() - has the firmware work to retire that it took down?
 * @job: job in flight
 *
 * With the queue's lock held.
 *
 * Return: true if a stamp of @job is not reached that needs nothing of the GPU.
 */
bool asahi_job_owed(struct asahi_job *job)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (job->pipe[i].taken_down && !asahi_job_pipe_reached(job, i, job->pipe[i].owed))
			return true;

	return false;
}
