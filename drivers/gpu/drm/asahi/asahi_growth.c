// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Growth: answers to the firmware, which asks for larger vertex buffers.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

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
#include "asahi_sched.h"
#include "asahi_state.h"
#include "asahi_tvb.h"

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
 * again are forgotten before it can ask anew. They are kept while the device sleeps.
 *
 * **No request finds nothing to hand out because of its answer's way**: what can be
 * handed out was allocated by SUBMIT, see "Tiled vertex buffers". The render's fence
 * waits for the answer, so the worker allocates nothing.
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
 */
struct asahi_growth {
	struct asahi_device *adev;
	struct workqueue_struct *wq;
	struct work_struct work;
	bool stopped;
	DECLARE_KFIFO(requests, struct asahi_growth_entry, ASAHI_GROWTH_REQUESTS);
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
		drm_err_ratelimited(&adev->drm, "vertex buffer %u is to grow: too many requests\n",
				    buffer_slot);
	queue_work(growth->wq, &growth->work);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_growth_request);

static void asahi_growth_answer(struct asahi_device *adev, const struct asahi_growth_entry *entry)
{
	struct asahi_dc_msg msg = {
		.type = ASAHI_DC_GROW_TVB_ACK,
		.grow_tvb_ack = {
			.buffer_slot = entry->buffer_slot,
			.vm_slot = entry->vm_slot,
			.counter = entry->counter,
		},
	};
	int blocks = asahi_sched_find_queue(adev, asahi_tvb_grow, entry->buffer_slot);
	unsigned int tries = 0;
	int ret;

	if (blocks < 0)
		drm_err_ratelimited(&adev->drm, "vertex buffer %u is nobody's, and is to grow\n",
				    entry->buffer_slot);
	else
		drm_err_ratelimited(&adev->drm, "vertex buffer %u is too small: %d more blocks\n",
				    entry->buffer_slot, blocks);

	/* Without room in the ring it was not sent. With the firmware this ends, too. */
	do {
		msg.grow_tvb_ack.halt_count = asahi_initdata_halt_count(adev);
		ret = asahi_channel_device_control(adev, &msg);
	} while (ret == -EBUSY && ++tries < ASAHI_GROWTH_TRIES);

	/* One that goes on with everything else never loses its place by itself. */
	if (ret == -EBUSY)
		asahi_state_fail(adev, "it reads no answer about a vertex buffer");

	if (ret && asahi_state_fw_alive(adev))
		drm_err(&adev->drm, "the firmware does not read of its vertex buffer's growth\n");
}

/**
 * asahi_growth_answer_all() - answer what the firmware has asked
 * @adev: device
 *
 * For the worker; by itself for tests. Process context, in the critical section of
 * fences; allocates nothing.
 */
void asahi_growth_answer_all(struct asahi_device *adev)
{
	struct asahi_growth *growth = adev->growth;
	struct asahi_growth_entry entry;

	while (asahi_state_fw_alive(adev) && kfifo_get(&growth->requests, &entry))
		asahi_growth_answer(adev, &entry);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_growth_answer_all);

static void asahi_growth_work(struct work_struct *work)
{
	struct asahi_growth *growth = container_of(work, struct asahi_growth, work);
	bool cookie = dma_fence_begin_signalling();

	asahi_growth_answer_all(growth->adev);
	dma_fence_end_signalling(cookie);
}

static int asahi_growth_init(struct asahi_device *adev)
{
	struct asahi_growth *growth = kzalloc_obj(*growth);

	if (!growth)
		return -ENOMEM;

	growth->wq = alloc_ordered_workqueue("asahi-growth", WQ_HIGHPRI | WQ_MEM_RECLAIM);
	if (!growth->wq) {
		kfree(growth);
		return -ENOMEM;
	}

	growth->adev = adev;
	INIT_WORK(&growth->work, asahi_growth_work);
	INIT_KFIFO(growth->requests);
	adev->growth = growth;

	return 0;
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

	return asahi_growth_resume(adev);
}

static void asahi_growth_fini(struct asahi_device *adev)
{
	struct asahi_growth *growth = adev->growth;

	if (!growth)
		return;

	destroy_workqueue(growth->wq);
	kfree(growth);
	adev->growth = NULL;
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
};
EXPORT_SYMBOL_IF_KUNIT(asahi_block_growth);
