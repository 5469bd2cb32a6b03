// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Work queues: the firmware's rings of commands, one for each pipe of a queue.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/slab.h>

#include <asm/barrier.h>

#include <agx/agx_rtkit.h>

#include "asahi_abi.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_event.h"
#include "asahi_fw_workqueue.h"
#include "asahi_job.h"
#include "asahi_queue.h"
#include "asahi_rtkit.h"
#include "asahi_slot.h"
#include "asahi_trace.h"
#include "asahi_workqueue.h"

/* Entries of a ring. */
#define ASAHI_RING_ENTRIES 0x500

/* Memory that the firmware wants for each work queue. */
#define ASAHI_GPU_BUF_SIZE 0x2c18

/*
 * Each stamp stands for a command and its barriers, so that the limit on
 * stamps, which the scheduler's credits keep, is one on entries, too: a ring
 * can't overflow.
 */
static_assert(ASAHI_MAX_STAMPS * (1 + ASAHI_BARRIERS) < ASAHI_RING_ENTRIES);

/**
 * struct asahi_workqueue - a ring of commands
 * @adev: device
 * @queue: queue that it is part of
 * @uuid: number of that queue, for messages
 * @pipe: AGX_PIPE_*
 * @priority: 0, the highest, to 3
 * @slot: owner of its event slot
 * @info: QueueInfo; the firmware's once a message has named it
 * @state: the ring's pointers
 * @ring: addresses of commands
 * @gpu_buf: the firmware's
 * @wptr: where the next entry goes
 * @stamp: value that the last command will write
 * @event_seq: number of stamps since the beginning
 * @jobs: jobs in flight that have commands here
 * @used: the firmware knows of it
 *
 * The queue's lock protects everything from @wptr on. @slot has rules of its
 * own.
 */
struct asahi_workqueue {
	struct asahi_device *adev;
	struct asahi_queue *queue;
	u32 uuid;
	unsigned int pipe;
	unsigned int priority;
	struct asahi_slot_client slot;
	struct asahi_fwbuf info;
	struct asahi_fwbuf state;
	struct asahi_fwbuf ring;
	struct asahi_fwbuf gpu_buf;
	u32 wptr;
	u32 stamp;
	u64 event_seq;
	unsigned int jobs;
	bool used;
};

static int asahi_workqueue_alloc(struct asahi_workqueue *wq)
{
	const struct asahi_job_abi *abi = wq->adev->abi->job;
	struct asahi_heap **heap = wq->adev->heap;
	int ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_SHARED], sizeof(struct asahi_fw_ring_state),
			       ASAHI_HEAP_ALIGN, &wq->state);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_SHARED], ASAHI_RING_ENTRIES * sizeof(__le64),
			       ASAHI_HEAP_ALIGN, &wq->ring);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_PRIVATE], ASAHI_GPU_BUF_SIZE, ASAHI_HEAP_ALIGN,
			       &wq->gpu_buf);
	if (ret)
		return ret;

	return asahi_heap_alloc(heap[ASAHI_HEAP_PRIVATE], abi->queue_info_size, ASAHI_HEAP_ALIGN,
				&wq->info);
}

/**
 * asahi_workqueue_create() - make a work queue
 * @adev: device
 * @args: description
 *
 * Process context.
 *
 * Return: the work queue or ERR_PTR(-ENOMEM).
 */
struct asahi_workqueue *asahi_workqueue_create(struct asahi_device *adev,
					       const struct asahi_workqueue_args *args)
{
	struct asahi_fw_ring_state *state;
	struct asahi_workqueue *wq;
	int ret;

	wq = kzalloc_obj(*wq, GFP_KERNEL_ACCOUNT);
	if (!wq)
		return ERR_PTR(-ENOMEM);

	wq->adev = adev;
	wq->queue = args->queue;
	wq->uuid = args->uuid;
	wq->pipe = args->pipe;
	wq->priority = args->priority;
	asahi_slot_client_init(&wq->slot, ASAHI_SLOT_EVENT);

	ret = asahi_workqueue_alloc(wq);
	if (ret) {
		asahi_workqueue_destroy(wq);
		return ERR_PTR(ret);
	}

	state = wq->state.map;
	state->rb_size = cpu_to_le32(ASAHI_RING_ENTRIES);

	adev->abi->job->queue_info_init(wq->info.map, &(struct asahi_queue_info) {
		.state_va = wq->state.va,
		.ring_va = wq->ring.va,
		.notifier_list_va = args->notifier_list_va,
		.gpu_buf_va = wq->gpu_buf.va,
		.context_va = args->context_va,
		.uuid = args->uuid,
		.priority = args->priority,
		.pipe = args->pipe,
	});

	return wq;
}

/**
 * asahi_workqueue_destroy() - free a work queue
 * @wq: work queue that has nothing in flight, and whose context the firmware
 *	has forgotten; or NULL
 *
 * Process context.
 */
void asahi_workqueue_destroy(struct asahi_workqueue *wq)
{
	if (!wq)
		return;

	WARN_ON(wq->jobs);
	asahi_heap_free(&wq->info);
	asahi_heap_free(&wq->gpu_buf);
	asahi_heap_free(&wq->ring);
	asahi_heap_free(&wq->state);
	kfree(wq);
}

/**
 * asahi_workqueue_info_va() - address of the QueueInfo
 * @wq: work queue
 *
 * Return: firmware address.
 */
u64 asahi_workqueue_info_va(const struct asahi_workqueue *wq)
{
	return wq->info.va;
}

/**
 * asahi_workqueue_slot_client() - owner of the event slot
 * @wq: work queue
 *
 * Return: the owner, valid as long as @wq.
 */
struct asahi_slot_client *asahi_workqueue_slot_client(struct asahi_workqueue *wq)
{
	return &wq->slot;
}

/**
 * asahi_workqueue_used() - does the firmware know of it?
 * @wq: work queue
 *
 * Return: true once a message has named it.
 */
bool asahi_workqueue_used(const struct asahi_workqueue *wq)
{
	return wq->used;
}

/**
 * asahi_workqueue_reserve() - wait until the firmware can be told of new work
 * @wq: work queue
 *
 * For one asahi_workqueue_commit(). Process context, without the queue's lock;
 * may sleep up to a second; allocates nothing.
 *
 * Return: 0, or a negative errno when the firmware does not take messages.
 */
int asahi_workqueue_reserve(struct asahi_workqueue *wq)
{
	return asahi_channel_reserve(wq->adev, wq->priority, wq->pipe);
}

/**
 * asahi_workqueue_unreserve() - undo asahi_workqueue_reserve()
 * @wq: work queue
 *
 * Process context; allocates nothing.
 */
void asahi_workqueue_unreserve(struct asahi_workqueue *wq)
{
	asahi_channel_unreserve(wq->adev, wq->priority, wq->pipe);
}

/**
 * asahi_workqueue_busy() - is anything in flight?
 * @wq: work queue
 *
 * Return: true from asahi_workqueue_begin() to asahi_workqueue_end() of any job.
 */
bool asahi_workqueue_busy(const struct asahi_workqueue *wq)
{
	return wq->jobs;
}

/**
 * asahi_workqueue_event() - its event slot
 * @wq: work queue with something in flight
 *
 * Return: the slot.
 */
unsigned int asahi_workqueue_event(const struct asahi_workqueue *wq)
{
	return wq->slot.slot;
}

/**
 * asahi_workqueue_stamp() - value that the last command will write
 * @wq: work queue with something in flight
 *
 * Return: stamp value.
 */
u32 asahi_workqueue_stamp(const struct asahi_workqueue *wq)
{
	return wq->stamp;
}

/**
 * asahi_workqueue_event_seq() - number of stamps taken since the beginning
 * @wq: work queue
 *
 * Return: a number that the firmware wants to have with each command.
 */
u64 asahi_workqueue_event_seq(const struct asahi_workqueue *wq)
{
	return wq->event_seq;
}

/**
 * asahi_workqueue_begin() - one more job has commands here
 * @wq: work queue; the job holds its event slot
 *
 * Allocates nothing.
 */
void asahi_workqueue_begin(struct asahi_workqueue *wq)
{
	if (wq->jobs++)
		return;

	wq->stamp = asahi_event_read(wq->adev, wq->slot.slot);
	asahi_event_set_owner(wq->adev, wq->slot.slot, wq->queue);
}

/**
 * asahi_workqueue_next_stamp() - take a stamp
 * @wq: work queue
 *
 * Return: value that the next command is to write.
 */
u32 asahi_workqueue_next_stamp(struct asahi_workqueue *wq)
{
	wq->stamp += ASAHI_STAMP_STEP;
	wq->event_seq++;

	return wq->stamp;
}

/**
 * asahi_workqueue_push() - put a command into the ring
 * @wq: work queue
 * @command_va: address of the command
 *
 * The firmware does not look there before asahi_workqueue_commit().
 */
void asahi_workqueue_push(struct asahi_workqueue *wq, u64 command_va)
{
	__le64 *ring = wq->ring.map;

	ring[wq->wptr] = cpu_to_le64(command_va);
	wq->wptr = (wq->wptr + 1) % ASAHI_RING_ENTRIES;
}

/**
 * asahi_workqueue_commit() - publish what was put into the ring
 * @wq: work queue for which asahi_workqueue_reserve() has returned 0
 *
 * Process context; allocates nothing. Comes before asahi_workqueue_doorbell().
 *
 * Return: 0, or a negative errno when the firmware does not take messages.
 */
int asahi_workqueue_commit(struct asahi_workqueue *wq)
{
	struct asahi_fw_ring_state *state = wq->state.map;
	struct asahi_pipe_msg msg = {
		.pipe_type = wq->pipe,
		.queue_va = wq->info.va,
		.wptr = wq->wptr,
		.event_slot = wq->slot.slot,
		.is_new = !wq->used,
	};

	/* Commands and entries before the pointer that leads to them. */
	dma_wmb();
	WRITE_ONCE(state->cpu_wptr, cpu_to_le32(wq->wptr));

	trace_asahi_ring(wq->adev, wq->uuid, wq->pipe, wq->wptr, wq->slot.slot, wq->stamp);
	wq->used = true;

	return asahi_channel_run(wq->adev, wq->priority, &msg);
}

/**
 * asahi_workqueue_doorbell() - make the firmware look
 * @wq: work queue with something committed
 *
 * Process context; allocates nothing.
 *
 * Return: 0, or a negative errno when the firmware does not take messages.
 */
int asahi_workqueue_doorbell(struct asahi_workqueue *wq)
{
	return asahi_rtkit_doorbell(wq->adev,
				    wq->pipe | wq->priority << AGX_DOORBELL_PRIORITY_SHIFT);
}

/**
 * asahi_workqueue_end() - a job with commands here is complete
 * @wq: work queue; the job still holds its event slot
 *
 * Allocates nothing.
 */
void asahi_workqueue_end(struct asahi_workqueue *wq)
{
	if (WARN_ON(!wq->jobs) || --wq->jobs)
		return;

	asahi_event_set_owner(wq->adev, wq->slot.slot, NULL);
}
