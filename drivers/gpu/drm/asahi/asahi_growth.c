// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Growth: answers to the firmware, which asks for larger vertex buffers.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/array_size.h>
#include <linux/cleanup.h>
#include <linux/dma-fence.h>
#include <linux/kfifo.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <kunit/visibility.h>

#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_growth.h"
#include "asahi_initdata.h"
#include "asahi_owner.h"
#include "asahi_ref.h"
#include "asahi_rest.h"
#include "asahi_state.h"
#include "asahi_tvb.h"
#include "asahi_watchdog.h"

/**
 * DOC: Growth
 *
 * The firmware may ask for more pages of a vertex buffer in the middle of a render,
 * by an event, and waits for an answer. The notification worker only notes the
 * request. The answer has a worker of its own, because it waits: for the locks of
 * the queues, and until the firmware has read it, which a firmware that has halted
 * does not before the notification worker has heard of that.
 *
 * **Each request gets one answer**, whatever became of the render meanwhile. Only a
 * firmware that is not there any more gets none: requests that wait while it starts
 * again are forgotten before it can ask anew. They are kept while the device sleeps, and
 * while the firmware has no room for an answer: the watchdog judges that.
 *
 * **The answer never needs memory**: SUBMIT has allocated the blocks that can be handed
 * out, see "Tiled vertex buffers". The render's fence waits for the answer, so the
 * worker allocates nothing.
 */

/**
 * struct asahi_growth_entry - a request
 * @vm_slot: context that the render runs in
 * @buffer_slot: slot of the buffer
 * @counter: number of the request
 */
struct asahi_growth_entry {
	u32 vm_slot;
	u32 buffer_slot;
	u32 counter;
};

/**
 * struct asahi_growth - what answers requests
 * @adev: device
 * @wq: for @work only; has a rescuer, because fences wait for it
 * @work: answers
 * @stopped: it is kept from running; protected by the device's mutex for verbs
 * @requests: those without an answer: the notification worker puts them in, @work
 *	takes them out, so that no lock is needed
 * @answer: answer to the last of them that was taken out; of @work
 * @unsent: there was no room for @answer yet
 */
struct asahi_growth {
	struct asahi_device *adev;
	struct workqueue_struct *wq;
	struct work_struct work;
	bool stopped;
	DECLARE_KFIFO(requests, struct asahi_growth_entry, ASAHI_GROWTH_REQUESTS);
	struct asahi_dc_msg answer;
	bool unsent;
};

/**
 * asahi_growth_request() - the firmware asks for a larger buffer
 * @adev: device
 * @vm_slot: context that the render runs in
 * @buffer_slot: slot of the buffer
 * @counter: number of the request
 *
 * From the notification worker only, in the critical section of fences. Does not
 * wait.
 */
void asahi_growth_request(struct asahi_device *adev, u32 vm_slot, u32 buffer_slot, u32 counter)
{
	const struct asahi_growth_entry entry = {
		.vm_slot = vm_slot,
		.buffer_slot = buffer_slot,
		.counter = counter,
	};
	struct asahi_growth *growth = adev->growth;

	/* There is room for one of each buffer, and nobody asks before the answer. */
	if (!kfifo_put(&growth->requests, entry))
		drm_err_ratelimited(&adev->drm, "growth of vertex buffer %u refused: too many requests\n",
				    buffer_slot);
	queue_work(growth->wq, &growth->work);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_growth_request);

/* The buffer has more blocks, if it is anybody's, before the firmware reads of it. */
static void asahi_growth_grow(struct asahi_growth *growth, const struct asahi_growth_entry *entry)
{
	struct asahi_device *adev = growth->adev;
	struct asahi_queue *queue = asahi_owner_get(adev->buffer_owners, entry->buffer_slot);
	int blocks = -1;

	if (queue) {
		blocks = asahi_tvb_grow(queue, entry->buffer_slot);
		asahi_queue_put(queue);
	}
	if (blocks < 0)
		drm_dbg(&adev->drm, "vertex buffer %u is too small and no longer in use\n",
			entry->buffer_slot);
	else
		drm_dbg(&adev->drm, "vertex buffer %u is too small: %d more blocks\n",
			entry->buffer_slot, blocks);

	growth->answer = (struct asahi_dc_msg) {
		.type = ASAHI_DC_GROW_TVB_ACK,
		.grow_tvb_ack = {
			.buffer_slot = entry->buffer_slot,
			.vm_slot = entry->vm_slot,
			.counter = entry->counter,
		},
	};
	growth->unsent = true;
}

/* Returns whether the answer is sent, or not needed any more. */
static bool asahi_growth_send(struct asahi_growth *growth)
{
	struct asahi_device *adev = growth->adev;
	int ret;

	growth->answer.grow_tvb_ack.halt_count = asahi_initdata_halt_count(adev);
	ret = asahi_channel_device_control(adev, &growth->answer);
	if (ret && asahi_state_fw_alive(adev))
		asahi_watchdog_late(adev, ASAHI_DEBT_GROWTH);
	/* Without room in the ring it was not sent. */
	if (ret == -EBUSY)
		return false;

	growth->unsent = false;
	return true;
}

/**
 * asahi_growth_answer_all() - answer what the firmware has asked
 * @adev: device
 *
 * For the worker; by itself for tests. Process context, in the critical section of
 * fences; allocates nothing.
 *
 * Return: false if the firmware has no room for an answer: try again later.
 */
bool asahi_growth_answer_all(struct asahi_device *adev)
{
	struct asahi_growth *growth = adev->growth;
	struct asahi_growth_entry entry;

	while (asahi_state_fw_alive(adev)) {
		if (!growth->unsent && !kfifo_get(&growth->requests, &entry))
			return true;
		if (!growth->unsent)
			asahi_growth_grow(growth, &entry);
		if (!asahi_growth_send(growth))
			return false;
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_growth_answer_all);

static void asahi_growth_work(struct work_struct *work)
{
	struct asahi_growth *growth = container_of(work, struct asahi_growth, work);
	bool cookie = dma_fence_begin_signalling();

	/* It has waited for room. Stopping the worker takes one such time at most. */
	if (!asahi_growth_answer_all(growth->adev))
		queue_work(growth->wq, &growth->work);
	dma_fence_end_signalling(cookie);
}

static int asahi_growth_init(struct asahi_device *adev)
{
	struct asahi_growth *growth = kzalloc_obj(*growth);

	if (!growth)
		return -ENOMEM;

	growth->wq = alloc_ordered_workqueue("asahi-growth", WQ_HIGHPRI | WQ_MEM_RECLAIM);
	if (!growth->wq)
		goto err_free;

	adev->buffer_owners = asahi_owners_create(ASAHI_GROWTH_REQUESTS);
	if (!adev->buffer_owners)
		goto err_wq;

	growth->adev = adev;
	INIT_WORK(&growth->work, asahi_growth_work);
	INIT_KFIFO(growth->requests);
	adev->growth = growth;

	return 0;

err_wq:
	destroy_workqueue(growth->wq);
err_free:
	kfree(growth);
	return -ENOMEM;
}

/* Whatever is under way ends first, with the firmware at the latest. */
static void asahi_growth_stop(struct asahi_device *adev)
{
	struct asahi_growth *growth = adev->growth;

	if (!growth || growth->stopped)
		return;

	disable_work_sync(&growth->work);
	growth->stopped = true;
}

static int asahi_growth_suspend(struct asahi_device *adev)
{
	asahi_growth_stop(adev);

	return 0;
}

static int asahi_growth_resume(struct asahi_device *adev)
{
	struct asahi_growth *growth = adev->growth;

	if (growth->stopped) {
		growth->stopped = false;
		enable_and_queue_work(growth->wq, &growth->work);
	}

	return 0;
}

/* The notification worker, too, is idle now. */
static int asahi_growth_post_reset(struct asahi_device *adev)
{
	kfifo_reset(&adev->growth->requests);
	adev->growth->unsent = false;

	return asahi_growth_resume(adev);
}

static void asahi_growth_fini(struct asahi_device *adev)
{
	struct asahi_growth *growth = adev->growth;

	if (!growth)
		return;

	asahi_owners_destroy(adev->buffer_owners);
	adev->buffer_owners = NULL;
	destroy_workqueue(growth->wq);
	kfree(growth);
	adev->growth = NULL;
}

static void asahi_growth_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_growth *growth = adev->growth;
	/* This changes without a lock. Whoever asks for IDLE looks again. */
	bool answered = data_race(kfifo_is_empty(&growth->requests));
	/* Likewise. */
	bool sent = data_race(!growth->unsent);

	asahi_rest_expect(rest, ASAHI_REST_AWAKE,
			  !growth->stopped && !asahi_rest_disabled(&growth->work),
			  "nothing answers requests");
	asahi_rest_expect(rest, ASAHI_REST_IDLE, answered, "requests have no answer");
	asahi_rest_expect(rest, ASAHI_REST_IDLE, sent, "an answer has not been sent");
	asahi_owners_at_rest(adev->buffer_owners, rest, "vertex buffer");
}

const struct asahi_block asahi_block_growth = {
	.name = "growth",
	.init = asahi_growth_init,
	.unplug = asahi_growth_stop,
	.suspend = asahi_growth_suspend,
	.resume = asahi_growth_resume,
	.pre_reset = asahi_growth_stop,
	.post_reset = asahi_growth_post_reset,
	.fini = asahi_growth_fini,
	.at_rest = asahi_rest_ptr(asahi_growth_at_rest),
};
EXPORT_SYMBOL_IF_KUNIT(asahi_block_growth);
