// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Batches: jobs that are over are freed together.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <kunit/visibility.h>

#include "asahi_batch.h"

/**
 * DOC: Freeing in batches
 *
 * A job that is over is put on a list of its device's. A worker frees all that are on the
 * list, so that it is not woken up for each of them. It begins
 *
 * * when the first of them has been there for ASAHI_BATCH_MS;
 * * when there are ASAHI_BATCH_JOBS, or they have ASAHI_BATCH_BYTES;
 * * at once when their memory is waited for: by a SUBMIT for room in a full queue, by the
 *   end of a queue, or by a system that is short of memory.
 *
 * So jobs are kept a moment longer, up to a bound, and only while nobody waits. The worker is
 * not one that completes jobs: it takes locks of heaps and objects, which clients may hold
 * that have a lower priority than the GPU's work.
 *
 * **No waiter is forgotten.** A waiter says in the queue that it waits, and then looks at the
 * list. A task that adds to the list does so first, and then looks for waiters in the queue.
 * One of the two sees the other.
 */

/* Batches that are smaller wait for more. */
#define ASAHI_BATCH_JOBS	64
#define ASAHI_BATCH_BYTES	SZ_16M

/**
 * struct asahi_batch - things that are to be freed
 * @list: the things, the latest first
 * @count: how many were added since @work took all; those of that moment may be missing
 * @bytes: likewise, memory that they give back
 * @delay: how long the first waits for others, in jiffies
 * @hurry: @work is to begin at once, and has not begun
 * @free: frees a list, the oldest first
 * @wq: ordered, for @work; has a rescuer, because memory comes back by it
 * @work: takes all of @list; is queued, with a delay or without, if @list is not empty
 */
struct asahi_batch {
	struct llist_head list;
	atomic_t count;
	atomic64_t bytes;
	unsigned long delay;
	bool hurry;
	void (*free)(struct llist_node *list);
	struct workqueue_struct *wq;
	struct delayed_work work;
};

static void asahi_batch_work(struct work_struct *work)
{
	struct asahi_batch *batch = container_of(to_delayed_work(work), struct asahi_batch, work);
	struct llist_node *list;

	/* A task that has seen it set has added its thing before; it is taken below. */
	xchg(&batch->hurry, false);
	list = llist_del_all(&batch->list);
	/* After that, or things that are taken would be counted until the next time. */
	atomic_set(&batch->count, 0);
	atomic64_set(&batch->bytes, 0);
	batch->free(llist_reverse_order(list));
}

/**
 * asahi_batch_create() - make an empty batch
 * @ms: how long the first waits for others
 * @free: frees a list that may be empty, in process context
 *
 * Process context.
 *
 * Return: the batch, or NULL if there is no memory.
 */
struct asahi_batch *asahi_batch_create(unsigned int ms, void (*free)(struct llist_node *list))
{
	struct asahi_batch *batch = kzalloc_obj(*batch);

	if (!batch)
		return NULL;

	batch->wq = alloc_ordered_workqueue("asahi-batch", WQ_MEM_RECLAIM);
	if (!batch->wq) {
		kfree(batch);
		return NULL;
	}

	init_llist_head(&batch->list);
	INIT_DELAYED_WORK(&batch->work, asahi_batch_work);
	batch->free = free;
	batch->delay = msecs_to_jiffies(ms);

	return batch;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_batch_create);

/**
 * asahi_batch_destroy() - undo asahi_batch_create()
 * @batch: empty batch that nothing is added to any more, or NULL
 *
 * Process context, but not from the function that frees a list.
 */
void asahi_batch_destroy(struct asahi_batch *batch)
{
	if (!batch)
		return;

	/* The task that has added the last may still be about to ask for this. */
	synchronize_rcu();
	cancel_delayed_work_sync(&batch->work);
	WARN_ON_ONCE(!llist_empty(&batch->list));
	destroy_workqueue(batch->wq);
	kfree(batch);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_batch_destroy);

/**
 * asahi_batch_add() - have something freed later
 * @batch: batch
 * @node: its link
 * @bytes: memory that this gives back
 *
 * Any context, in an RCU read section: nothing else keeps @batch from here on. @node may
 * be freed at any time. A full memory barrier comes after @node was added.
 */
void asahi_batch_add(struct asahi_batch *batch, struct llist_node *node, u64 bytes)
{
	bool full = atomic_inc_return(&batch->count) == ASAHI_BATCH_JOBS;
	s64 sum = atomic64_add_return(bytes, &batch->bytes);

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "nothing keeps the batch");

	if (llist_add(node, &batch->list))
		queue_delayed_work(batch->wq, &batch->work, batch->delay);
	if (full || (sum >= ASAHI_BATCH_BYTES && sum - bytes < ASAHI_BATCH_BYTES))
		asahi_batch_hurry(batch);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_batch_add);

/**
 * asahi_batch_hurry() - have all of a batch freed at once
 * @batch: batch
 *
 * Does nothing if it is empty. A task that adds something later asks for this itself, if it
 * sees the caller's changes from before the call. Any context.
 */
void asahi_batch_hurry(struct asahi_batch *batch)
{
	/* Pairs with llist_add(), after which others look whether the caller waits. */
	smp_mb();
	if (llist_empty(&batch->list))
		return;

	if (!xchg(&batch->hurry, true))
		mod_delayed_work(batch->wq, &batch->work, 0);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_batch_hurry);

/**
 * asahi_batch_is_hurrying() - is the worker doing its part of asahi_batch_hurry()?
 * @batch: batch
 *
 * Any context.
 *
 * Return: true if something is being freed, or is about to be.
 */
bool asahi_batch_is_hurrying(struct asahi_batch *batch)
{
	return READ_ONCE(batch->hurry) || work_busy(&batch->work.work) & WORK_BUSY_RUNNING;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_batch_is_hurrying);

/**
 * asahi_batch_is_empty() - does nothing wait to be freed?
 * @batch: batch
 *
 * Any context.
 *
 * Return: true if nothing does; something may be being freed.
 */
bool asahi_batch_is_empty(struct asahi_batch *batch)
{
	return llist_empty(&batch->list);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_batch_is_empty);

/**
 * asahi_batch_bytes() - how much memory waits to be freed?
 * @batch: batch
 *
 * Any context.
 *
 * Return: bytes, without those that are being freed.
 */
u64 asahi_batch_bytes(struct asahi_batch *batch)
{
	return atomic64_read(&batch->bytes);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_batch_bytes);
