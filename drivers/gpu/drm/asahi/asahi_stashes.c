// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Stashes of all queues: those of idle ones are given back.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_rest.h"
#include "asahi_sched.h"
#include "asahi_stash.h"
#include "asahi_stashes.h"

/**
 * struct asahi_stashes - what a device has to find idle stashes
 * @adev: device
 * @work: looks for them
 * @found: queue whose stash is to be given back, with a reference, or NULL; of @work
 * @kept: there are stashes that are in use; of @work
 * @hurry: memory is short
 */
struct asahi_stashes {
	struct asahi_device *adev;
	struct delayed_work work;
	struct asahi_queue *found;
	bool kept;
	bool hurry;
};

/**
 * asahi_stashes_later() - a queue keeps memory for its next jobs
 * @adev: device
 *
 * Any context.
 */
void asahi_stashes_later(struct asahi_device *adev)
{
	struct delayed_work *work = &adev->stashes->work;

	/* Not while the system sleeps: then the heaps are left alone. */
	if (!delayed_work_pending(work))
		queue_delayed_work(system_freezable_wq, work,
				   msecs_to_jiffies(ASAHI_STASH_IDLE_MS));
}

/**
 * asahi_stashes_reclaim() - the system is short of memory
 * @adev: device
 *
 * Queues lose what they keep for their next jobs, unless there are new ones all the time. Any
 * context.
 */
void asahi_stashes_reclaim(struct asahi_device *adev)
{
	struct asahi_stashes *stashes = adev->stashes;

	if (!stashes || !delayed_work_pending(&stashes->work))
		return;

	WRITE_ONCE(stashes->hurry, true);
	mod_delayed_work(system_freezable_wq, &stashes->work, 0);
}

/**
 * asahi_stashes_are_reclaimed() - is the worker doing what asahi_stashes_reclaim() asks for?
 * @adev: device
 *
 * Any context.
 *
 * Return: true if it is, or has yet to begin.
 */
bool asahi_stashes_are_reclaimed(struct asahi_device *adev)
{
	return adev->stashes && READ_ONCE(adev->stashes->hurry);
}

/* Whether this is one that keeps what it does not use. */
static int asahi_stashes_find(struct asahi_queue *queue, u32 ms)
{
	struct asahi_stashes *stashes = queue->adev->stashes;

	if (!asahi_stash_is_idle(&queue->stash, jiffies, ms)) {
		stashes->kept |= asahi_stash_is_kept(&queue->stash);
		return -1;
	}

	stashes->found = asahi_queue_get_unless_zero(queue);

	return stashes->found ? 0 : -1;
}

static void asahi_stashes_work(struct work_struct *work)
{
	struct asahi_stashes *stashes =
		container_of(to_delayed_work(work), struct asahi_stashes, work);
	u32 ms = READ_ONCE(stashes->hurry) ? ASAHI_STASH_HURRY_MS : ASAHI_STASH_IDLE_MS;

	do {
		stashes->found = NULL;
		stashes->kept = false;
		asahi_sched_find_queue(stashes->adev, asahi_stashes_find, ms);
		if (stashes->found) {
			asahi_stash_trim(&stashes->found->stash);
			asahi_queue_put(stashes->found);
		}
	} while (stashes->found);
	WRITE_ONCE(stashes->hurry, false);

	if (stashes->kept)
		asahi_stashes_later(stashes->adev);
}

static int asahi_stashes_init(struct asahi_device *adev)
{
	struct asahi_stashes *stashes = kzalloc_obj(*stashes);

	if (!stashes)
		return -ENOMEM;

	stashes->adev = adev;
	INIT_DELAYED_WORK(&stashes->work, asahi_stashes_work);
	adev->stashes = stashes;

	return 0;
}

static void asahi_stashes_unplug(struct asahi_device *adev)
{
	/* SUBMIT may come here for the last time after this. */
	if (adev->stashes)
		disable_delayed_work_sync(&adev->stashes->work);
}

/* Whoever submits now begins again; what is idle waits for that. */
static int asahi_stashes_suspend(struct asahi_device *adev)
{
	cancel_delayed_work_sync(&adev->stashes->work);

	return 0;
}

static int asahi_stashes_resume(struct asahi_device *adev)
{
	asahi_stashes_later(adev);

	return 0;
}

static void asahi_stashes_fini(struct asahi_device *adev)
{
	kfree(adev->stashes);
	adev->stashes = NULL;
}

static int asahi_stashes_is_kept(struct asahi_queue *queue, u32 unused)
{
	return asahi_stash_is_kept(&queue->stash) ? 0 : -1;
}

static void asahi_stashes_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct work_struct *work = &adev->stashes->work.work;

	asahi_rest_expect(rest, ASAHI_REST_AWAKE, !asahi_rest_disabled(work),
			  "the worker that empties stashes is disabled");
	asahi_rest_expect(rest, ASAHI_REST_IDLE | ASAHI_REST_AWAKE,
			  work_busy(work) ||
			  asahi_sched_find_queue(adev, asahi_stashes_is_kept, 0) < 0,
			  "memory for jobs waits for nobody");
}

const struct asahi_block asahi_block_stashes = {
	.name = "stashes",
	.init = asahi_stashes_init,
	.unplug = asahi_stashes_unplug,
	.suspend = asahi_stashes_suspend,
	.resume = asahi_stashes_resume,
	.post_reset = asahi_stashes_resume,
	.fini = asahi_stashes_fini,
	.at_rest = asahi_rest_ptr(asahi_stashes_at_rest),
};
