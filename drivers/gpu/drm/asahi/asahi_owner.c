// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Owners: which queue has work in flight that uses a slot of the firmware's.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "asahi_owner.h"
#include "asahi_ref.h"
#include "asahi_rest.h"

/**
 * struct asahi_owners - the owners of one kind of slots
 * @count: slots
 * @queue: by slot, the queue or NULL; it removes itself before it goes
 */
struct asahi_owners {
	unsigned int count;
	/** @lock: protects @queue; taken inside of all other locks, in bottom halves too */
	spinlock_t lock;
	struct asahi_queue *queue[] __counted_by(count);
};

/**
 * asahi_owners_create() - make a table of owners
 * @count: how many slots there are
 *
 * Process context.
 *
 * Return: the table, in which no slot has an owner, or NULL without memory.
 */
struct asahi_owners *asahi_owners_create(unsigned int count)
{
	struct asahi_owners *owners = kzalloc_flex(*owners, queue, count);

	if (!owners)
		return NULL;

	owners->count = count;
	spin_lock_init(&owners->lock);

	return owners;
}

/**
 * asahi_owners_destroy() - free a table of owners
 * @owners: table that nobody uses any more, or NULL
 */
void asahi_owners_destroy(struct asahi_owners *owners)
{
	kfree(owners);
}

/**
 * asahi_owner_set() - say whose work uses a slot
 * @owners: table; NULL in a device without a firmware, as tests have
 * @slot: slot that a granted request holds
 * @queue: queue with work in flight, or NULL when it has none left
 *
 * No reference is taken: queues outlive their work in flight. Any context but hard
 * interrupts, in the critical section of fences.
 */
void asahi_owner_set(struct asahi_owners *owners, unsigned int slot, struct asahi_queue *queue)
{
	if (!owners || WARN_ON_ONCE(slot >= owners->count))
		return;

	guard(spinlock_bh)(&owners->lock);
	owners->queue[slot] = queue;
}

/**
 * asahi_owner_get() - find out whose work uses a slot
 * @owners: table
 * @slot: number that the firmware names
 *
 * Any context but hard interrupts.
 *
 * Return: the queue, with a reference; NULL if the slot is out of range or has
 * no owner.
 */
struct asahi_queue *asahi_owner_get(struct asahi_owners *owners, unsigned int slot)
{
	struct asahi_queue *queue;

	if (slot >= owners->count)
		return NULL;

	guard(spinlock_bh)(&owners->lock);

	queue = owners->queue[slot];

	return queue ? asahi_queue_get_unless_zero(queue) : NULL;
}

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
/**
 * asahi_owners_at_rest() - say which slots have an owner that has no work
 * @owners: table
 * @rest: what is known of the device
 * @kind: which kind of slots, for messages
 *
 * Any context but hard interrupts.
 */
void asahi_owners_at_rest(struct asahi_owners *owners, struct asahi_rest *rest, const char *kind)
{
	guard(spinlock_bh)(&owners->lock);

	for (unsigned int slot = 0; slot < owners->count; slot++)
		asahi_rest_expect(rest, ASAHI_REST_FLIGHT, !owners->queue[slot],
				  "%s %u has an owner", kind, slot);
}
#endif
