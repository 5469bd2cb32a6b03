// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Pipes: the three work queues of a queue, and what a job has in each.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/compiler.h>

#include <agx/agx_rtkit.h>

#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_doorbell.h"
#include "asahi_event.h"
#include "asahi_pipes.h"
#include "asahi_queue_priv.h"
#include "asahi_slot.h"
#include "asahi_workqueue.h"

/**
 * asahi_pipes_init() - make the work queues of a queue
 * @pipes: zeroed work queues
 * @queue: queue that they are part of, whose own firmware memory exists
 *
 * As asahi_workqueue_init().
 *
 * Return: 0, or what asahi_heap_alloc() says.
 */
int asahi_pipes_init(struct asahi_pipes *pipes, struct asahi_queue *queue)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		int ret = asahi_workqueue_init(&pipes->wq[i], queue, i);

		if (ret)
			return ret;
	}

	return 0;
}

/**
 * asahi_pipes_fini() - free the work queues of a queue
 * @pipes: as for asahi_workqueue_fini()
 *
 * Process context.
 */
void asahi_pipes_fini(struct asahi_pipes *pipes)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		asahi_workqueue_fini(&pipes->wq[i]);
}

/**
 * asahi_pipes_bytes() - how much memory they take
 * @pipes: work queues, maybe half made
 *
 * Return: bytes in the device's heaps.
 */
s64 asahi_pipes_bytes(const struct asahi_pipes *pipes)
{
	s64 bytes = 0;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		bytes += asahi_workqueue_bytes(&pipes->wq[i]);

	return bytes;
}

/**
 * asahi_pipes_fill() - write what the firmware is to find
 * @pipes: work queues with nothing in flight, of which the firmware does not know
 *
 * Allocates nothing.
 */
void asahi_pipes_fill(struct asahi_pipes *pipes)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		asahi_workqueue_fill(&pipes->wq[i]);
}

/**
 * asahi_pipes_are_used() - does the firmware know any of them?
 * @pipes: work queues
 *
 * Return: true if so.
 */
bool asahi_pipes_are_used(const struct asahi_pipes *pipes)
{
	bool used = false;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		used |= pipes->wq[i].used;

	return used;
}

/**
 * asahi_pipes_need_slots() - name the event slots that a job needs
 * @pipes: work queues
 * @part: what the job has there
 * @slots: the job's request
 */
void asahi_pipes_need_slots(struct asahi_pipes *pipes, const struct asahi_part *part,
			    struct asahi_slot_request *slots)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (part[i].count)
			asahi_slot_request_add(slots, &pipes->wq[i].slot);
}

static void asahi_pipes_unreserve_some(struct asahi_pipes *pipes, const struct asahi_part *part,
				       unsigned int end)
{
	for (unsigned int i = 0; i < end; i++)
		if (part[i].count)
			asahi_workqueue_unreserve(&pipes->wq[i]);
}

/**
 * asahi_pipes_reserve() - wait until the firmware can be told of a job
 * @pipes: work queues
 * @part: what the job has there
 *
 * Process context, in the critical section of fences, without the timeline's
 * lock: recovery takes that, and a firmware that waits for recovery does not
 * listen. Allocates nothing.
 *
 * Return: 0, or a negative errno when the firmware does not take messages.
 */
int asahi_pipes_reserve(struct asahi_pipes *pipes, const struct asahi_part *part)
{
	int ret;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		if (!part[i].count)
			continue;
		ret = asahi_workqueue_reserve(&pipes->wq[i]);
		if (ret) {
			asahi_pipes_unreserve_some(pipes, part, i);
			return ret;
		}
	}

	return 0;
}

/**
 * asahi_pipes_try_reserve() - as asahi_pipes_reserve(), without a wait
 * @pipes: work queues
 * @part: what the job has there
 *
 * Process context; allocates nothing.
 *
 * Return: true as asahi_pipes_reserve() returns 0; false if there is no room now.
 */
bool asahi_pipes_try_reserve(struct asahi_pipes *pipes, const struct asahi_part *part)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		if (!part[i].count || asahi_workqueue_try_reserve(&pipes->wq[i]))
			continue;
		asahi_pipes_unreserve_some(pipes, part, i);
		return false;
	}

	return true;
}

/**
 * asahi_pipes_unreserve() - undo asahi_pipes_reserve() or asahi_pipes_try_reserve()
 * @pipes: work queues
 * @part: what the job has there, which does not run after all
 *
 * Process context; allocates nothing.
 */
void asahi_pipes_unreserve(struct asahi_pipes *pipes, const struct asahi_part *part)
{
	asahi_pipes_unreserve_some(pipes, part, AGX_PIPE_COUNT);
}

/**
 * asahi_pipes_begin() - one more job is in flight
 * @pipes: work queues
 * @part: what the job has there; gets to know what is in flight already, and whose stamps
 *	come next
 *
 * Allocates nothing.
 *
 * Return: how many stamps it has, on all pipes.
 */
unsigned int asahi_pipes_begin(struct asahi_pipes *pipes, struct asahi_part *part)
{
	unsigned int stamps = 0;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		struct asahi_workqueue *wq = &pipes->wq[i];

		part[i].behind = wq->jobs;
		part[i].earlier = wq->stamp;
		if (!part[i].count)
			continue;

		stamps += part[i].count;
		asahi_workqueue_begin(wq);
		part[i].first = wq->stamp + ASAHI_STAMP_STEP;
	}

	return stamps;
}

/**
 * asahi_pipes_commit() - publish what a job has put into the rings
 * @pipes: work queues
 * @part: what the job has there
 * @job: its number, for tracing
 * @msg: what asahi_pipes_announce() is to say of it, by pipe
 *
 * Allocates nothing.
 */
void asahi_pipes_commit(struct asahi_pipes *pipes, const struct asahi_part *part, u64 job,
			struct asahi_pipe_msg *msg)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (part[i].count)
			asahi_workqueue_commit(&pipes->wq[i], job, &msg[i]);
}

/* Fragment work first: vertex work that finds it in its ring can hand over. */
static const unsigned int asahi_pipes_order[AGX_PIPE_COUNT] = {
	AGX_PIPE_FRAGMENT, AGX_PIPE_VERTEX, AGX_PIPE_COMPUTE,
};

/**
 * asahi_pipes_announce() - tell the firmware of a job
 * @pipes: work queues
 * @part: what the job has there
 * @msg: what asahi_pipes_commit() has left
 * @ring: how doorbells are rung
 *
 * Process context, in the critical section of fences, without the timeline's
 * lock; sleeps if @ring does. Allocates nothing. Uses the reservations up, also when it fails.
 *
 * Return: 0, or a negative errno when the firmware does not take messages.
 */
int asahi_pipes_announce(struct asahi_pipes *pipes, const struct asahi_part *part,
			 const struct asahi_pipe_msg *msg, asahi_doorbell_fn ring)
{
	int ret = ring(pipes->wq[0].queue->adev, AGX_DOORBELL_KICK);

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		unsigned int pipe = asahi_pipes_order[i];
		int pipe_ret;

		if (!part[pipe].count)
			continue;
		pipe_ret = asahi_workqueue_announce(&pipes->wq[pipe], &msg[pipe], ring);
		ret = ret ?: pipe_ret;
	}

	return ret;
}

/**
 * asahi_pipes_announce_again() - have the firmware look whether it has missed something
 * @pipes: work queues
 *
 * As asahi_workqueue_announce_again(), for those with jobs in flight.
 */
void asahi_pipes_announce_again(struct asahi_pipes *pipes)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (READ_ONCE(pipes->wq[i].jobs))
			asahi_workqueue_announce_again(&pipes->wq[i]);
}

/**
 * asahi_pipes_reached() - has the firmware completed all of a job?
 * @pipes: work queues
 * @part: what the job has there, in flight
 *
 * Return: true if all stamps are reached.
 */
bool asahi_pipes_reached(const struct asahi_pipes *pipes, const struct asahi_part *part)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (part[i].count && !asahi_workqueue_reached(&pipes->wq[i], part[i].last))
			return false;

	return true;
}

/**
 * asahi_pipes_owed() - has the firmware work to retire that it took down?
 * @pipes: work queues
 * @part: what a job has there, in flight
 *
 * Return: true if a stamp is not reached that needs nothing of the GPU.
 */
bool asahi_pipes_owed(const struct asahi_pipes *pipes, const struct asahi_part *part)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (part[i].taken_down && !asahi_workqueue_reached(&pipes->wq[i], part[i].owed))
			return true;

	return false;
}

/**
 * asahi_pipes_are_ahead() - does the firmware claim more than it was told to do?
 * @pipes: work queues
 *
 * Return: true if a stamp is none that a command was given.
 */
bool asahi_pipes_are_ahead(const struct asahi_pipes *pipes)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (asahi_workqueue_ahead(&pipes->wq[i]))
			return true;

	return false;
}

/**
 * asahi_pipes_stamps() - add up the stamps
 * @pipes: work queues
 *
 * Return: a number that grows with each stamp that is reached, as long as the same jobs are in
 * flight.
 */
u32 asahi_pipes_stamps(const struct asahi_pipes *pipes)
{
	u32 sum = 0;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		const struct asahi_workqueue *wq = &pipes->wq[i];

		if (wq->jobs)
			sum += asahi_event_read(wq->queue->adev, wq->slot.slot);
	}

	return sum;
}

/**
 * asahi_pipes_find() - find the work queue that has an event slot
 * @pipes: work queues
 * @slot: event slot
 *
 * Return: its pipe, or -1.
 */
int asahi_pipes_find(const struct asahi_pipes *pipes, unsigned int slot)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (pipes->wq[i].jobs && pipes->wq[i].slot.slot == slot)
			return i;

	return -1;
}

/**
 * asahi_pipes_end() - a job is complete
 * @pipes: work queues
 * @part: what the job had there; it still holds its event slots
 *
 * Allocates nothing.
 */
void asahi_pipes_end(struct asahi_pipes *pipes, const struct asahi_part *part)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (part[i].count)
			asahi_workqueue_end(&pipes->wq[i]);
}
