// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Events: the stamps by which the firmware says how far it is.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/barrier.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_event.h"
#include "asahi_owner.h"
#include "asahi_rest.h"
#include "asahi_trace.h"

/**
 * DOC: Events
 *
 * Each of the 128 event slots has a stamp, a 32-bit word that grows by 0x100
 * with each piece of work that a work queue completes. It exists twice: the
 * kernel reads the one in shared memory, the firmware compares barriers with
 * its own in memory that it caches.
 *
 * A work queue owns a slot from its first job in flight to the last stamp of
 * its last one (see "Slots"). Stamps are never reset: the next owner continues
 * where the last one stopped.
 *
 * An event message names the slots whose stamps have changed. Only the stamps say
 * how, so a message that is lost or late does no harm: looking at the stamps is
 * always right. Messages are late as a rule: the firmware sends none for a queue
 * until it has completed all work of that queue. So the handler of a message looks
 * at the stamps of all slots that are owned, and a timer does the same (see
 * "Queues"). Both are bottom halves, and may do it at once.
 */

/**
 * struct asahi_events - stamps and their owners
 * @stamps: the stamps that the kernel reads
 * @fw_stamps: the firmware's own
 * @progress: grows whenever work is completed
 * @completed: the same for the work of each priority
 * @owned: slots that have an owner; changed by whoever holds the slot, read by all
 * @seen: last value of each stamp that its owner was told of; the same
 * @owners: the queues whose work writes the stamps
 */
struct asahi_events {
	struct asahi_fwbuf stamps;
	struct asahi_fwbuf fw_stamps;
	atomic64_t progress;
	atomic64_t completed[AGX_PRIORITY_COUNT];
	DECLARE_BITMAP(owned, ASAHI_EVENTS);
	u32 seen[ASAHI_EVENTS];
	struct asahi_owners *owners;
};

static int asahi_event_init(struct asahi_device *adev)
{
	struct asahi_events *events;
	int ret = -ENOMEM;

	events = kzalloc_obj(*events);
	if (!events)
		return -ENOMEM;

	events->owners = asahi_owners_create(ASAHI_EVENTS);
	if (!events->owners)
		goto err_free;

	atomic64_set(&events->progress, 0);
	for (unsigned int i = 0; i < AGX_PRIORITY_COUNT; i++)
		atomic64_set(&events->completed[i], 0);

	ret = asahi_heap_alloc(adev->heap[ASAHI_HEAP_SHARED], ASAHI_EVENTS * sizeof(__le32),
			       ASAHI_HEAP_ALIGN, &events->stamps);
	if (ret)
		goto err_owners;

	ret = asahi_heap_alloc(adev->heap[ASAHI_HEAP_PRIVATE], ASAHI_EVENTS * sizeof(__le32),
			       ASAHI_HEAP_ALIGN, &events->fw_stamps);
	if (ret)
		goto err_stamps;

	adev->events = events;

	return 0;

err_stamps:
	asahi_heap_free(&events->stamps);
err_owners:
	asahi_owners_destroy(events->owners);
err_free:
	kfree(events);
	return ret;
}

static void asahi_event_fini(struct asahi_device *adev)
{
	struct asahi_events *events = adev->events;

	if (!events)
		return;

	asahi_heap_free(&events->fw_stamps);
	asahi_heap_free(&events->stamps);
	asahi_owners_destroy(events->owners);
	kfree(events);
	adev->events = NULL;
}

/* No slot has an owner, since nothing is in flight: stamps begin anew. */
static int asahi_event_post_reset(struct asahi_device *adev)
{
	struct asahi_events *events = adev->events;

	WARN_ON(!bitmap_empty(events->owned, ASAHI_EVENTS));
	memset(events->stamps.map, 0, ASAHI_EVENTS * sizeof(__le32));
	memset(events->fw_stamps.map, 0, ASAHI_EVENTS * sizeof(__le32));

	return 0;
}

static void asahi_event_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_events *events = adev->events;
	unsigned int slot;

	for_each_set_bit(slot, events->owned, ASAHI_EVENTS)
		asahi_rest_expect(rest, ASAHI_REST_FLIGHT, false,
				  "the stamp of event %u is awaited", slot);
	asahi_owners_at_rest(events->owners, rest, "event");
}

const struct asahi_block asahi_block_event = {
	.name = "event",
	.init = asahi_event_init,
	.post_reset = asahi_event_post_reset,
	.fini = asahi_event_fini,
	.at_rest = asahi_rest_ptr(asahi_event_at_rest),
};

/**
 * asahi_event_stamp_va() - address of the stamp that the kernel reads
 * @adev: device
 * @slot: event slot
 *
 * Return: firmware address.
 */
u64 asahi_event_stamp_va(struct asahi_device *adev, unsigned int slot)
{
	return adev->events->stamps.va + slot * sizeof(__le32);
}

/**
 * asahi_event_fw_stamp_va() - address of the stamp that barriers wait for
 * @adev: device
 * @slot: event slot
 *
 * Return: firmware address.
 */
u64 asahi_event_fw_stamp_va(struct asahi_device *adev, unsigned int slot)
{
	return adev->events->fw_stamps.va + slot * sizeof(__le32);
}

/**
 * asahi_event_read() - read a stamp
 * @adev: device
 * @slot: event slot
 *
 * Any context. What the firmware wrote before the stamp is seen after it.
 *
 * Return: the stamp's value.
 */
u32 asahi_event_read(struct asahi_device *adev, unsigned int slot)
{
	const __le32 *stamps = adev->events->stamps.map;
	u32 value = le32_to_cpu(READ_ONCE(stamps[slot]));

	dma_rmb();

	return value;
}

/**
 * asahi_event_set_owner() - say whose work writes a stamp
 * @adev: device
 * @slot: event slot that a granted request holds
 * @queue: queue with work in flight, or NULL when it has none left
 *
 * No reference is taken: queues outlive their work in flight. Any context but hard
 * interrupts.
 */
void asahi_event_set_owner(struct asahi_device *adev, unsigned int slot,
			   struct asahi_queue *queue)
{
	struct asahi_events *events = adev->events;

	asahi_owner_set(events->owners, slot, queue);
	if (queue) {
		WRITE_ONCE(events->seen[slot], asahi_event_read(adev, slot));
		set_bit(slot, events->owned);
	} else {
		clear_bit(slot, events->owned);
	}
}

/**
 * asahi_event_get_owner() - find out whose work writes a stamp
 * @adev: device
 * @slot: event slot
 *
 * Any context but hard interrupts.
 *
 * Return: the queue, with a reference; NULL if the slot is out of range or has
 * no owner.
 */
struct asahi_queue *asahi_event_get_owner(struct asahi_device *adev, unsigned int slot)
{
	return asahi_owner_get(adev->events->owners, slot);
}

/**
 * asahi_event_note_completed() - work was completed
 * @adev: device
 * @priority: priority of its queue
 *
 * Any context.
 */
void asahi_event_note_completed(struct asahi_device *adev, unsigned int priority)
{
	atomic64_inc(&adev->events->completed[priority]);
	asahi_event_note_progress(adev);
}

/**
 * asahi_event_completed_up_to() - does the firmware prefer others?
 * @adev: device
 * @priority: priority of a queue
 *
 * Any context.
 *
 * Return: a number that has grown since the last call if work of that priority or a
 * higher one was completed in between.
 */
u64 asahi_event_completed_up_to(struct asahi_device *adev, unsigned int priority)
{
	u64 sum = 0;

	for (unsigned int i = 0; i <= priority; i++)
		sum += atomic64_read(&adev->events->completed[i]);

	return sum;
}

/**
 * asahi_event_note_progress() - something happened, as when the firmware recovers
 * @adev: device
 *
 * Any context.
 */
void asahi_event_note_progress(struct asahi_device *adev)
{
	atomic64_inc(&adev->events->progress);
}

/**
 * asahi_event_progress() - is the firmware alive?
 * @adev: device
 *
 * Any context.
 *
 * Return: a number that has grown since the last call if any work of anybody
 * was completed in between.
 */
u64 asahi_event_progress(struct asahi_device *adev)
{
	return atomic64_read(&adev->events->progress);
}

/**
 * asahi_event_take() - find a stamp that has changed
 * @adev: device
 * @first: event slot to begin with
 *
 * Whoever gets a slot has to look at its owner's work: the change is no news any more.
 * Any context; may run several times at once.
 *
 * Return: the first slot from @first on that is owned and whose stamp has changed, or
 * ASAHI_EVENTS.
 */
unsigned int asahi_event_take(struct asahi_device *adev, unsigned int first)
{
	struct asahi_events *events = adev->events;
	unsigned int slot = first;

	for_each_set_bit_from(slot, events->owned, ASAHI_EVENTS) {
		u32 stamp = asahi_event_read(adev, slot);

		if (stamp == READ_ONCE(events->seen[slot]))
			continue;

		/* What comes after this is news again. */
		WRITE_ONCE(events->seen[slot], stamp);
		return slot;
	}

	return ASAHI_EVENTS;
}

/**
 * asahi_event_trace_unowned() - trace stamps that nobody waits for any more
 * @adev: device
 * @mask: one bit for each event slot of which the firmware has told
 *
 * Any context.
 */
void asahi_event_trace_unowned(struct asahi_device *adev, const u32 mask[4])
{
	for (unsigned int slot = 0; slot < ASAHI_EVENTS; slot++)
		if ((mask[slot / 32] & BIT(slot % 32)) && !test_bit(slot, adev->events->owned))
			trace_asahi_event(adev, 0, 0, slot, asahi_event_read(adev, slot));
}
