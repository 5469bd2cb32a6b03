// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Queues: life and lookup.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/capability.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <kunit/visibility.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "asahi_abi.h"
#include "asahi_batch.h"
#include "asahi_channel.h"
#include "asahi_client.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_fw_event.h"
#include "asahi_fw_workqueue.h"
#include "asahi_job.h"
#include "asahi_knobs.h"
#include "asahi_params.h"
#include "asahi_queue.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_rest.h"
#include "asahi_sched.h"
#include "asahi_stash.h"
#include "asahi_state.h"
#include "asahi_timeline.h"
#include "asahi_tvb.h"
#include "asahi_vm.h"
#include "asahi_watchdog.h"
#include "asahi_workqueue.h"

/* How long a queue that is destroyed waits for what was submitted to it. */
#define ASAHI_QUEUE_DRAIN_MS 1000
/* Queues of a file at most. */
#define ASAHI_QUEUE_MAX 1024
/* How often a trim asks whether the firmware reads, each time for a second or two. */
#define ASAHI_QUEUE_TRIM_TRIES 10

/*
 * The end of a queue
 */

/* Does the firmware know the queue's context? */
static bool asahi_queue_is_known(struct asahi_queue *queue)
{
	guard(spinlock_bh)(&queue->timeline.lock);

	return asahi_pipes_are_used(&queue->pipes);
}

/* Returns 0 if the firmware does not use the memory of a queue without jobs any more. */
static int asahi_queue_destroy_context(struct asahi_queue *queue)
{
	struct asahi_device *adev = queue->adev;
	struct asahi_fw_gpu_context_data *data = queue->context.map;
	struct asahi_dc_msg msg = { .type = ASAHI_DC_DESTROY_CONTEXT };
	int ret;

	guard(mutex)(&queue->context_lock);

	if (!asahi_queue_is_known(queue))
		return 0;

	msg.destroy_context.ctx_0 = data->unk_0;
	msg.destroy_context.ctx_1 = data->unk_1;
	msg.destroy_context.ctx_4 = data->unk_4;
	msg.destroy_context.ctx_23 = data->unk_23;
	msg.destroy_context.context_va = queue->context.va;

	ret = asahi_channel_device_control(adev, &msg);
	if (ret && asahi_state_fw_alive(adev))
		drm_err(&adev->drm, "queue %u: firmware does not let go of its context: %d\n",
			queue->id, ret);

	return ret;
}

static s64 asahi_queue_bytes(const struct asahi_queue *queue)
{
	return queue->context.size + queue->notifier.size + queue->threshold.size +
	       queue->notifier_list.size + asahi_tvb_bytes(&queue->tvb) +
	       asahi_pipes_bytes(&queue->pipes);
}

/* Free everything that is not the firmware's. */
static void asahi_queue_free_parts(struct asahi_queue *queue)
{
	asahi_stash_close(&queue->stash);
	asahi_tvb_free_vm_memory(&queue->tvb);
	asahi_client_charge(queue->client, -asahi_queue_bytes(queue));
	asahi_vm_put(queue->vm);
	asahi_client_put(queue->client);
}

/**
 * asahi_queue_free_memory() - free the rest of a queue
 * @queue: queue without jobs, address space and client; the firmware does not
 *	use its memory any more
 *
 * Process context.
 */
void asahi_queue_free_memory(struct asahi_queue *queue)
{
	asahi_pipes_fini(&queue->pipes);
	asahi_tvb_fini(&queue->tvb);
	asahi_heap_free(&queue->context);
	asahi_heap_free(&queue->notifier);
	asahi_heap_free(&queue->threshold);
	asahi_heap_free(&queue->notifier_list);
	asahi_timeline_destroy(&queue->timeline);
	mutex_destroy(&queue->submit_lock);
	mutex_destroy(&queue->context_lock);
	asahi_count_dec(ASAHI_COUNT_QUEUE);
	/* Reading the name of a scheduler's fence follows the fence to @entity. */
	kfree_rcu(queue, rcu);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_queue_free_memory);

static void asahi_queue_free_work(struct work_struct *work)
{
	struct asahi_queue *queue = container_of(work, struct asahi_queue, free_work);
	struct asahi_device *adev = queue->adev;
	int ret = asahi_queue_destroy_context(queue);

	asahi_rest_end(!queue->room.jobs && !queue->room.bytes,
		       "queue %u takes room for %u jobs and %llu bytes", queue->id,
		       queue->room.jobs, queue->room.bytes);
	asahi_sched_remove_queue(queue);
	asahi_queue_free_parts(queue);
	if (ret) {
		asahi_sched_leak_queue(queue);
	} else {
		asahi_queue_free_memory(queue);
		asahi_sched_reap(adev);
	}

	drm_dev_put(&adev->drm);
	module_put(THIS_MODULE);
}

static void asahi_queue_free_leaked_work(struct work_struct *work)
{
	struct asahi_queue *queue = container_of(work, struct asahi_queue, free_work);
	struct asahi_device *adev = queue->adev;

	asahi_queue_free_memory(queue);
	drm_dev_put(&adev->drm);
}

/**
 * asahi_queue_free_leaked() - free what the firmware might have used
 * @queue: leaked queue of which the firmware has been told, or which it does not
 *	know because it has started again
 *
 * In the critical section of fences: a worker does it.
 */
void asahi_queue_free_leaked(struct asahi_queue *queue)
{
	drm_dev_get(&queue->adev->drm);
	INIT_WORK(&queue->free_work, asahi_queue_free_leaked_work);
	asahi_ref_free_later(&queue->free_work);
}

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
static void asahi_queue_timeline_at_rest(struct asahi_queue *queue, struct asahi_rest *rest)
{
	const struct asahi_timeline *timeline = &queue->timeline;

	lockdep_assert_held(&timeline->lock);

	asahi_rest_expect(rest, ASAHI_REST_FLIGHT, list_empty(&timeline->jobs),
			  "queue %u has jobs in its timeline", queue->id);
	asahi_rest_expect(rest, ASAHI_REST_IDLE, list_empty(&timeline->waiting),
			  "queue %u has jobs that wait in its timeline", queue->id);
	asahi_rest_expect(rest, ASAHI_REST_FLIGHT, !timeline->stamps,
			  "queue %u has taken %u stamps", queue->id, timeline->stamps);
	asahi_rest_expect(rest, ASAHI_REST_FLIGHT, !timeline->handed_over,
			  "queue %u has handed over %u jobs", queue->id, timeline->handed_over);
	asahi_rest_expect(rest, ASAHI_REST_FLIGHT, !timeline->barred,
			  "queue %u is barred from its address space", queue->id);
	asahi_rest_expect(rest, ASAHI_REST_FLIGHT, !queue->tvb.scenes && !queue->tvb.older,
			  "queue %u has %u renders in its vertex buffer, %u older", queue->id,
			  queue->tvb.scenes, queue->tvb.older);
	asahi_rest_expect(rest, ASAHI_REST_IDLE, !queue->recovery.pipes,
			  "queue %u has pipes %#x to be recovered", queue->id,
			  queue->recovery.pipes);
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		asahi_rest_expect(rest, ASAHI_REST_FLIGHT, !queue->pipes.wq[i].jobs,
				  "queue %u has %u jobs on pipe %u", queue->id,
				  queue->pipes.wq[i].jobs, i);
}

/**
 * asahi_queue_at_rest() - say what a queue holds although it has no jobs
 * @queue: queue
 * @rest: what is known of the device
 *
 * Process context. Takes the timeline's lock, also when there is nothing to say.
 */
void asahi_queue_at_rest(struct asahi_queue *queue, struct asahi_rest *rest)
{
	scoped_guard(spinlock_bh, &queue->timeline.lock)
		asahi_queue_timeline_at_rest(queue, rest);
	asahi_entity_at_rest(queue, rest);
	asahi_client_at_rest(queue->client, rest);

	guard(spinlock)(&queue->room.lock);
	asahi_rest_expect(rest, ASAHI_REST_IDLE, !queue->room.jobs && !queue->room.bytes,
			  "queue %u has no room for %u jobs and %llu bytes", queue->id,
			  queue->room.jobs, queue->room.bytes);
	asahi_rest_expect(rest, ASAHI_REST_IDLE, !queue->room.shut, "queue %u takes no jobs",
			  queue->id);
}
#endif

/*
 * Life
 */

/* Write what the firmware is to find. */
static void asahi_queue_fill_memory(struct asahi_queue *queue)
{
	const struct asahi_job_abi *abi = queue->adev->abi->job;
	struct asahi_fw_gpu_context_data *context = queue->context.map;
	struct asahi_fw_notifier_list *list = queue->notifier_list.map;
	struct asahi_fw_threshold *threshold = queue->threshold.map;

	memset(list, 0, sizeof(*list));
	list->list_head.next = cpu_to_le64(queue->notifier_list.va);

	memset(threshold, 0, sizeof(*threshold));

	memset(context, 0, sizeof(*context));
	context->unk_0 = 0xff;
	context->unk_1 = 0xff;
	context->unk_5 = 1;
	context->unk_1e = 0xff;
	context->unk_23 = 2;

	memset(queue->notifier.map, 0, abi->notifier_size);
	abi->notifier_init(queue->notifier.map, queue->threshold.va, queue->fw_id);
}

static int asahi_queue_alloc_memory(struct asahi_queue *queue)
{
	struct asahi_device *adev = queue->adev;
	struct asahi_heap **heap = adev->heap;
	int ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_SHARED], sizeof(struct asahi_fw_notifier_list),
			       ASAHI_HEAP_ALIGN, &queue->notifier_list);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_SHARED], sizeof(struct asahi_fw_threshold),
			       ASAHI_HEAP_ALIGN, &queue->threshold);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_SHARED], sizeof(struct asahi_fw_gpu_context_data),
			       ASAHI_HEAP_ALIGN, &queue->context);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_PRIVATE], adev->abi->job->notifier_size,
			       ASAHI_HEAP_ALIGN, &queue->notifier);
	if (ret)
		return ret;

	return 0;
}

/**
 * asahi_queue_fill() - write what the firmware is to find of a queue
 * @queue: queue with nothing in flight, of which the firmware does not know
 *
 * For a new queue, and for all when the firmware starts again. Process context, in
 * the critical section of fences; allocates nothing.
 */
void asahi_queue_fill(struct asahi_queue *queue)
{
	guard(mutex)(&queue->context_lock);
	guard(spinlock_bh)(&queue->timeline.lock);

	asahi_queue_fill_memory(queue);
	asahi_pipes_fill(&queue->pipes);
	asahi_tvb_fill(queue);
}

/**
 * asahi_queue_trim() - give a queue's vertex buffer back
 * @queue: queue without jobs, which gets none meanwhile
 *
 * To the firmware this looks as if the queue was destroyed and another one made in
 * the same memory. That is why its cache is flushed in between, as before any
 * reuse of memory, and why the queue gets another number there. Process context;
 * waits until the firmware has read the messages, and gives it up if it does not after
 * ASAHI_QUEUE_TRIM_TRIES; allocates nothing.
 *
 * Return: 0; -ENODEV if the firmware does not run, -EBUSY if it takes no messages:
 * then nothing has changed; -ETIMEDOUT or -EBUSY if it was given up.
 */
int asahi_queue_trim(struct asahi_queue *queue)
{
	struct asahi_device *adev = queue->adev;
	unsigned int tries = ASAHI_QUEUE_TRIM_TRIES;
	int ret = asahi_queue_destroy_context(queue);

	/* What it has not read of the ring it will have read before what comes next. */
	if (ret && ret != -ETIMEDOUT)
		return ret;

	do {
		ret = asahi_channel_ping(adev);
	} while ((ret == -ETIMEDOUT || ret == -EBUSY) && --tries);
	/* Whether it knows the context is not known, so no job can use the queue. */
	if (!tries)
		asahi_watchdog_give_up(adev, ASAHI_DEBT_CONTROL);
	/* It starts again, with everything written anew, or the device is lost. */
	if (ret)
		return ret;

	asahi_tvb_trim(queue);
	scoped_guard(spinlock_bh, &queue->timeline.lock)
		queue->fw_id = asahi_sched_next_id(adev);
	asahi_queue_fill(queue);

	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_queue_trim);

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

	asahi_count_inc(ASAHI_COUNT_QUEUE);
	kref_init(&queue->refcount);
	INIT_LIST_HEAD(&queue->link);
	INIT_WORK(&queue->free_work, asahi_queue_free_work);
	mutex_init(&queue->submit_lock);
	mutex_init(&queue->context_lock);
	asahi_room_init(&queue->room);
	asahi_timeline_prepare(&queue->timeline);
	asahi_tvb_init(&queue->tvb);
	queue->adev = adev;
	queue->vm = vm;
	queue->client = asahi_client_get(file->client);
	queue->id = asahi_sched_next_id(adev);
	queue->oldest_event = asahi_knob(adev->knobs, ASAHI_KNOB_EVENTS,
					 asahi_allows(ASAHI_UNPROVEN_EVENTS));
	queue->fw_id = queue->id;
	queue->priority = DRM_ASAHI_PRIORITY_REALTIME - args->priority;
	queue->usc_exec_base = args->usc_exec_base;
	asahi_stash_init(&queue->stash, adev->heap, asahi_vm_heap_gpu(vm), queue->client);

	ret = asahi_queue_alloc_memory(queue);
	if (!ret)
		ret = asahi_pipes_init(&queue->pipes, queue);
	asahi_client_charge(queue->client, asahi_queue_bytes(queue));
	if (ret)
		goto err_free;

	asahi_queue_fill(queue);

	ret = asahi_sched_add_queue(queue);
	if (ret)
		goto err_free;

	/* Its jobs may outlive the file and, if clients are killed, much else. */
	__module_get(THIS_MODULE);
	drm_dev_get(&adev->drm);

	return queue;

err_free:
	asahi_queue_free_parts(queue);
	asahi_queue_free_memory(queue);
	return ERR_PTR(ret);
}

static void asahi_queue_close(struct asahi_queue *queue, long *drain_jiffies)
{
	scoped_guard(mutex, &queue->submit_lock)
		WRITE_ONCE(queue->closed, true);
	asahi_stash_close(&queue->stash);

	/* Those of its jobs that are over keep it; the others see that it is closed. */
	asahi_batch_hurry(queue->adev->batch);
	asahi_entity_close(queue, drain_jiffies);
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

	return asahi_allows(ASAHI_UNPROVEN_PRIORITY) ? 0 : -EOPNOTSUPP;
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

	if (asahi_state_lost(adev))
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

	ret = xa_alloc(&file->queues, id, queue, XA_LIMIT(1, ASAHI_QUEUE_MAX),
		       GFP_KERNEL_ACCOUNT);
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
	long drain = msecs_to_jiffies(ASAHI_QUEUE_DRAIN_MS);
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
 * asahi_queue_file_close() - destroy all queues of a file
 * @file: file that is being closed; nobody else uses it
 *
 * As asahi_queue_destroy(), in a second for all of them; at once if the program
 * was killed. Process context.
 */
void asahi_queue_file_close(struct asahi_file *file)
{
	bool killed = (current->flags & PF_EXITING) && current->exit_code == SIGKILL;
	long drain = killed ? 0 : msecs_to_jiffies(ASAHI_QUEUE_DRAIN_MS);
	struct asahi_queue *queue;
	unsigned long id;

	xa_for_each(&file->queues, id, queue) {
		xa_erase(&file->queues, id);
		asahi_queue_close(queue, &drain);
	}
}
