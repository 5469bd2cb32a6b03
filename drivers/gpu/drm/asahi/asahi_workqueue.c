// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Work queues: the firmware's rings of commands, one for each pipe of a queue.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/lockdep.h>
#include <linux/string.h>

#include <asm/barrier.h>

#include <agx/agx_rtkit.h>

#include "asahi_abi.h"
#include "asahi_channel.h"
#include "asahi_client.h"
#include "asahi_device.h"
#include "asahi_doorbell.h"
#include "asahi_event.h"
#include "asahi_fw_workqueue.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_trace.h"
#include "asahi_workqueue.h"

/* Entries of a ring. */
#define ASAHI_RING_ENTRIES 0x500

/* Memory that the firmware wants for each work queue. */
#define ASAHI_GPU_BUF_SIZE 0x2c18

/*
 * Entries that one stamp stands for at most: the command, a barrier for each
 * subqueue, and one entry of the driver's own, which on the vertex ring is
 * InitBuffer and on the fragment ring the barrier on the vertex half. The
 * timeline limits the stamps, so a ring can't overflow.
 */
#define ASAHI_STAMP_ENTRIES (1 + ASAHI_BARRIERS + 1)
static_assert(ASAHI_MAX_STAMPS * ASAHI_STAMP_ENTRIES < ASAHI_RING_ENTRIES);

static void asahi_workqueue_assert_held(const struct asahi_workqueue *wq)
{
	lockdep_assert_held(&wq->queue->timeline.lock);
}

/**
 * asahi_workqueue_init() - make a work queue
 * @wq: zeroed work queue
 * @queue: queue that it is part of, whose own firmware memory exists
 * @pipe: AGX_PIPE_*
 *
 * Process context. asahi_workqueue_fill() is to follow, asahi_workqueue_fini()
 * is to be called also after an error.
 *
 * Return: 0, or what asahi_heap_alloc() says.
 */
int asahi_workqueue_init(struct asahi_workqueue *wq, struct asahi_queue *queue,
			 unsigned int pipe)
{
	const struct asahi_job_abi *abi = queue->adev->abi->job;
	struct asahi_heap **heap = queue->adev->heap;
	int ret;

	wq->queue = queue;
	wq->pipe = pipe;
	asahi_slot_client_init(&wq->slot, ASAHI_SLOT_EVENT);

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
 * asahi_workqueue_fini() - free a work queue
 * @wq: work queue that has nothing in flight, and whose context the firmware
 *	has forgotten
 *
 * Process context.
 */
void asahi_workqueue_fini(struct asahi_workqueue *wq)
{
	WARN_ON(wq->jobs);
	asahi_heap_free(&wq->info);
	asahi_heap_free(&wq->gpu_buf);
	asahi_heap_free(&wq->ring);
	asahi_heap_free(&wq->state);
}

/**
 * asahi_workqueue_bytes() - how much memory it takes
 * @wq: work queue, maybe half made
 *
 * Return: bytes in the device's heaps.
 */
s64 asahi_workqueue_bytes(const struct asahi_workqueue *wq)
{
	return wq->info.size + wq->gpu_buf.size + wq->ring.size + wq->state.size;
}

/**
 * asahi_workqueue_fill() - write what the firmware is to find
 * @wq: work queue with nothing in flight, of which the firmware does not know
 *
 * Allocates nothing.
 */
void asahi_workqueue_fill(struct asahi_workqueue *wq)
{
	struct asahi_queue *queue = wq->queue;
	const struct asahi_job_abi *abi = queue->adev->abi->job;
	struct asahi_fw_ring_state *state = wq->state.map;

	asahi_workqueue_assert_held(wq);

	memset(state, 0, sizeof(*state));
	state->rb_size = cpu_to_le32(ASAHI_RING_ENTRIES);
	memset(wq->gpu_buf.map, 0, ASAHI_GPU_BUF_SIZE);
	memset(wq->info.map, 0, abi->queue_info_size);
	abi->queue_info_init(wq->info.map, &(struct asahi_queue_info) {
		.state_va = wq->state.va,
		.ring_va = wq->ring.va,
		.notifier_list_va = queue->notifier_list.va,
		.gpu_buf_va = wq->gpu_buf.va,
		.context_va = queue->context.va,
		.uuid = queue->fw_id,
		.priority = queue->priority,
		.pipe = wq->pipe,
	});

	wq->wptr = 0;
	wq->event_seq = 0;
	wq->used = false;
}

/**
 * asahi_workqueue_reserve() - wait until the firmware can be told of new work
 * @wq: work queue
 *
 * For one asahi_workqueue_announce(). Process context, without the timeline's
 * lock; may sleep up to a second; allocates nothing.
 *
 * Return: 0, or a negative errno when the firmware does not take messages.
 */
int asahi_workqueue_reserve(struct asahi_workqueue *wq)
{
	return asahi_channel_reserve(wq->queue->adev, wq->queue->priority, wq->pipe);
}

/**
 * asahi_workqueue_try_reserve() - as asahi_workqueue_reserve(), without a wait
 * @wq: work queue
 *
 * Process context; allocates nothing.
 *
 * Return: true if there was room.
 */
bool asahi_workqueue_try_reserve(struct asahi_workqueue *wq)
{
	return asahi_channel_try_reserve(wq->queue->adev, wq->queue->priority, wq->pipe);
}

/**
 * asahi_workqueue_unreserve() - undo asahi_workqueue_reserve()
 * @wq: work queue
 *
 * Process context; allocates nothing.
 */
void asahi_workqueue_unreserve(struct asahi_workqueue *wq)
{
	asahi_channel_unreserve(wq->queue->adev, wq->queue->priority, wq->pipe);
}

/**
 * asahi_workqueue_begin() - one more job has commands here
 * @wq: work queue; the job holds its event slot
 *
 * Allocates nothing.
 */
void asahi_workqueue_begin(struct asahi_workqueue *wq)
{
	struct asahi_device *adev = wq->queue->adev;

	asahi_workqueue_assert_held(wq);

	if (wq->jobs++)
		return;

	wq->stamp = asahi_event_read(adev, wq->slot.slot);
	asahi_event_set_owner(adev, wq->slot.slot, wq->queue);
}

/**
 * asahi_workqueue_next_stamp() - take a stamp
 * @wq: work queue
 *
 * Return: value that the next command is to write.
 */
u32 asahi_workqueue_next_stamp(struct asahi_workqueue *wq)
{
	asahi_workqueue_assert_held(wq);

	wq->stamp += ASAHI_STAMP_STEP;
	wq->event_seq++;

	return wq->stamp;
}

/**
 * asahi_workqueue_reached() - has the firmware come as far as a stamp?
 * @wq: work queue with jobs in flight
 * @value: stamp of one of them
 *
 * Return: true if so; false, too, if asahi_workqueue_ahead().
 */
bool asahi_workqueue_reached(const struct asahi_workqueue *wq, u32 value)
{
	asahi_workqueue_assert_held(wq);

	return asahi_stamp_between(asahi_event_read(wq->queue->adev, wq->slot.slot), value,
				   wq->stamp);
}

/**
 * asahi_workqueue_ahead() - does the firmware claim more than it was told to do?
 * @wq: work queue
 *
 * Return: true if the stamp is none that a command was given.
 */
bool asahi_workqueue_ahead(const struct asahi_workqueue *wq)
{
	asahi_workqueue_assert_held(wq);

	return wq->jobs && !asahi_stamp_reached(wq->stamp,
						asahi_event_read(wq->queue->adev, wq->slot.slot));
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

	asahi_workqueue_assert_held(wq);

	ring[wq->wptr] = cpu_to_le64(command_va);
	wq->wptr = (wq->wptr + 1) % ASAHI_RING_ENTRIES;
}

/**
 * asahi_workqueue_commit() - publish what was put into the ring
 * @wq: work queue for which asahi_workqueue_reserve() has returned 0
 * @job: number of the job that they belong to, for tracing
 * @msg: what asahi_workqueue_announce() is to say of it
 *
 * Allocates nothing.
 */
void asahi_workqueue_commit(struct asahi_workqueue *wq, u64 job, struct asahi_pipe_msg *msg)
{
	struct asahi_fw_ring_state *state = wq->state.map;
	struct asahi_queue *queue = wq->queue;

	asahi_workqueue_assert_held(wq);

	*msg = (struct asahi_pipe_msg) {
		.pipe_type = wq->pipe,
		.queue_va = wq->info.va,
		.wptr = wq->wptr,
		.event_slot = wq->slot.slot,
		.is_new = !wq->used,
	};

	/* Commands and entries before the pointer that leads to them. */
	dma_wmb();
	WRITE_ONCE(state->cpu_wptr, cpu_to_le32(wq->wptr));

	trace_asahi_ring(queue->adev, asahi_client_id(queue->client), queue->id, job, wq->pipe,
			 wq->wptr, wq->slot.slot, wq->stamp);
	wq->used = true;
}

static u8 asahi_workqueue_bell(const struct asahi_workqueue *wq)
{
	return wq->pipe | wq->queue->priority << AGX_DOORBELL_PRIORITY_SHIFT;
}

/**
 * asahi_workqueue_announce_again() - have the firmware look whether it has missed something
 * @wq: work queue with jobs in flight
 *
 * If a doorbell was lost, it finds the message about them. Nothing is done if it has read
 * all messages. Process context, without the timeline's lock; allocates nothing.
 */
void asahi_workqueue_announce_again(struct asahi_workqueue *wq)
{
	struct asahi_queue *queue = wq->queue;

	lockdep_assert_not_held(&queue->timeline.lock);

	if (!asahi_channel_pipe_read(queue->adev, queue->priority, wq->pipe))
		asahi_doorbell_ring(queue->adev, asahi_workqueue_bell(wq));
}

/**
 * asahi_workqueue_end() - a job with commands here is complete
 * @wq: work queue; the job still holds its event slot
 *
 * Allocates nothing.
 */
void asahi_workqueue_end(struct asahi_workqueue *wq)
{
	asahi_workqueue_assert_held(wq);

	if (WARN_ON(!wq->jobs) || --wq->jobs)
		return;

	asahi_event_set_owner(wq->queue->adev, wq->slot.slot, NULL);
}

/**
 * asahi_workqueue_announce() - tell the firmware what was published
 * @wq: work queue
 * @msg: what asahi_workqueue_commit() has left
 * @ring: how its doorbell is rung
 *
 * Process context, without the timeline's lock, because the mailbox may make
 * the caller wait for as long as the firmware has halted, and recovery takes
 * that lock before it lets the firmware go on. Calls for one work queue come one
 * after the other, in the order of the commits. Uses the reservation up, also
 * when it fails. Allocates nothing.
 *
 * Return: 0, or a negative errno when the firmware does not take messages.
 */
int asahi_workqueue_announce(struct asahi_workqueue *wq, const struct asahi_pipe_msg *msg,
			     asahi_doorbell_fn ring)
{
	struct asahi_device *adev = wq->queue->adev;
	int ret;

	lockdep_assert_not_held(&wq->queue->timeline.lock);

	ret = asahi_channel_run(adev, wq->queue->priority, msg);
	if (ret)
		return ret;

	return ring(adev, asahi_workqueue_bell(wq));
}

/**
 * asahi_workqueue_get_state() - note how far a ring is
 * @wq: work queue
 * @state: how far
 *
 * With the timeline's lock held; allocates nothing.
 */
void asahi_workqueue_get_state(const struct asahi_workqueue *wq,
			       struct asahi_workqueue_state *state)
{
	const struct asahi_fw_ring_state *fw = wq->state.map;

	asahi_workqueue_assert_held(wq);

	*state = (struct asahi_workqueue_state) {
		.jobs = wq->jobs,
		.event = wq->jobs ? wq->slot.slot : -1,
		.stamp = wq->jobs ? asahi_event_read(wq->queue->adev, wq->slot.slot) : 0,
		.last_stamp = wq->stamp,
		.cpu_wptr = wq->wptr,
		.gpu_rptr = le32_to_cpu(READ_ONCE(fw->gpu_rptr)),
		.gpu_doneptr = le32_to_cpu(READ_ONCE(fw->gpu_doneptr)),
	};
}
