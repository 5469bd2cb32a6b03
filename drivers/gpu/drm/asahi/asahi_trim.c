// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Trimming: idle queues give their large vertex buffers back.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "asahi_block.h"
#include "asahi_client.h"
#include "asahi_device.h"
#include "asahi_params.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_rest.h"
#include "asahi_sched.h"
#include "asahi_trace.h"
#include "asahi_trim.h"
#include "asahi_tvb.h"

/**
 * DOC: Trimming
 *
 * A tiled vertex buffer is as large as the largest framebuffer and the busiest
 * render of its queue have made it: tens of megabytes that nothing can be moved out
 * of. While there is a large one, a worker looks at all queues every
 * ASAHI_TVB_IDLE_MS. A queue that has no jobs, and had no render for as long as
 * that, loses its buffer. Its next render makes one of the size that is needed
 * then. When the system is short of memory the worker looks at once, and having no
 * jobs is enough.
 *
 * **Nothing is taken out of a buffer.** The firmware keeps a buffer's Info, its
 * lists and what it has counted in them, and there is no message that makes a buffer
 * smaller; the Rust driver, which runs on machines, never tries. But it destroys
 * queues all the time, with DestroyContext, and makes others in memory that was
 * freed. So that is what the firmware sees of a trim: DestroyContext for a queue
 * without work, a flush of its cache, and later on the first message of a new queue.
 *
 * **Nobody else is in the way.** A queue is shut while it is trimmed: SUBMIT waits,
 * as it does for a queue that is full, and holds nothing. No job is alive then that
 * has the address of anything in the buffer. No fence waits for a trim, since the
 * queue has no jobs. If the firmware fails meanwhile it starts again with all queues
 * written anew, and forgets the question.
 *
 * **It is behind unproven.** The Rust driver and m1n1 destroy the context of a queue
 * only when the queue goes away. Whether the firmware keeps something by the addresses
 * that the queue goes on to use is not known.
 */

/**
 * struct asahi_trim - what gives back memory of idle queues
 * @adev: device
 * @work: looks for them
 * @found: queue that is to be trimmed, with a reference, or NULL; of @work
 * @more: there are large buffers that are in use; of @work
 * @hurry: those count as idle that have no jobs
 */
struct asahi_trim {
	struct asahi_device *adev;
	struct delayed_work work;
	struct asahi_queue *found;
	bool more;
	bool hurry;
};

/**
 * asahi_trim_later() - there is a large buffer
 * @adev: device
 *
 * Does nothing unless what is unproven is allowed. Any context.
 */
void asahi_trim_later(struct asahi_device *adev)
{
	/* Nobody has seen a machine's firmware lose the context of a live queue. */
	if (!asahi_allows(ASAHI_UNPROVEN_TRIM))
		return;

	/* Not while the system sleeps: then the firmware is left alone. */
	queue_delayed_work(system_freezable_wq, &adev->trim->work,
			   msecs_to_jiffies(ASAHI_TVB_IDLE_MS));
}

/**
 * asahi_trim_reclaim() - the system is short of memory
 * @adev: device
 *
 * Queues without jobs lose their large buffers, however long they have had no render.
 * Does nothing unless what is unproven is allowed. Any context.
 */
void asahi_trim_reclaim(struct asahi_device *adev)
{
	struct asahi_trim *trim = adev->trim;

	if (!trim || !delayed_work_pending(&trim->work))
		return;

	WRITE_ONCE(trim->hurry, true);
	mod_delayed_work(system_freezable_wq, &trim->work, 0);
}

/**
 * asahi_trim_is_waiting() - is there a large buffer?
 * @adev: device
 *
 * Any context.
 *
 * Return: true if asahi_trim_reclaim() may find one.
 */
bool asahi_trim_is_waiting(struct asahi_device *adev)
{
	return adev->trim && delayed_work_pending(&adev->trim->work);
}

/**
 * asahi_trim_is_reclaiming() - is the worker doing what asahi_trim_reclaim() asks for?
 * @adev: device
 *
 * Any context.
 *
 * Return: true if it is, or has yet to begin.
 */
bool asahi_trim_is_reclaiming(struct asahi_device *adev)
{
	return adev->trim && READ_ONCE(adev->trim->hurry);
}

/* Whether this is one to trim; no job is made for it from here on. */
static int asahi_trim_find(struct asahi_queue *queue, u32 unused)
{
	struct asahi_trim *trim = queue->adev->trim;

	if (!READ_ONCE(queue->tvb.large))
		return -1;

	trim->more = true;
	if (!READ_ONCE(trim->hurry) && !asahi_tvb_is_idle(&queue->tvb, jiffies))
		return -1;

	trim->found = asahi_queue_get_unless_zero(queue);
	if (!trim->found)
		return -1;
	if (asahi_room_shut(&queue->room))
		return 0;

	asahi_queue_put(queue);
	trim->found = NULL;

	return -1;
}

static int asahi_trim_queue(struct asahi_queue *queue)
{
	int ret = asahi_queue_trim(queue);

	trace_asahi_trim(queue->adev, asahi_client_id(queue->client), queue->id, ret);
	asahi_room_open(&queue->room);
	asahi_queue_put(queue);

	return ret;
}

static void asahi_trim_work(struct work_struct *work)
{
	struct asahi_trim *trim = container_of(to_delayed_work(work), struct asahi_trim, work);
	struct asahi_device *adev = trim->adev;
	int ret = 0;

	do {
		trim->found = NULL;
		trim->more = false;
		asahi_sched_find_queue(adev, asahi_trim_find, 0);
		if (trim->found)
			ret = asahi_trim_queue(trim->found);
	} while (trim->found && !ret);
	WRITE_ONCE(trim->hurry, false);

	if (trim->more)
		asahi_trim_later(adev);
}

static int asahi_trim_init(struct asahi_device *adev)
{
	struct asahi_trim *trim = kzalloc_obj(*trim);

	if (!trim)
		return -ENOMEM;

	trim->adev = adev;
	INIT_DELAYED_WORK(&trim->work, asahi_trim_work);
	adev->trim = trim;

	return 0;
}

static void asahi_trim_unplug(struct asahi_device *adev)
{
	/* SUBMIT may come here for the last time after this. */
	if (adev->trim)
		disable_delayed_work_sync(&adev->trim->work);
}

/* Whoever submits now begins again; what is large and idle waits for that. */
static int asahi_trim_suspend(struct asahi_device *adev)
{
	cancel_delayed_work_sync(&adev->trim->work);

	return 0;
}

static int asahi_trim_resume(struct asahi_device *adev)
{
	asahi_trim_later(adev);

	return 0;
}

static void asahi_trim_fini(struct asahi_device *adev)
{
	kfree(adev->trim);
	adev->trim = NULL;
}

static int asahi_trim_is_large(struct asahi_queue *queue, u32 unused)
{
	return READ_ONCE(queue->tvb.large) ? 0 : -1;
}

static void asahi_trim_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct work_struct *work = &adev->trim->work.work;

	asahi_rest_expect(rest, ASAHI_REST_AWAKE, !asahi_rest_disabled(work),
			  "the worker that trims is disabled");
	asahi_rest_expect(rest, ASAHI_REST_IDLE | ASAHI_REST_AWAKE,
			  !asahi_allows(ASAHI_UNPROVEN_TRIM) || work_busy(work) ||
			  asahi_sched_find_queue(adev, asahi_trim_is_large, 0) < 0,
			  "a large vertex buffer waits for nobody");
}

const struct asahi_block asahi_block_trim = {
	.name = "trim",
	.init = asahi_trim_init,
	.unplug = asahi_trim_unplug,
	.suspend = asahi_trim_suspend,
	.resume = asahi_trim_resume,
	.post_reset = asahi_trim_resume,
	.fini = asahi_trim_fini,
	.at_rest = asahi_rest_ptr(asahi_trim_at_rest),
};
