// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory that the firmware sees: places that are kept for the next of the same size.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/slab.h>

#include <drm/drm_mm.h>

#include "asahi_heap_priv.h"

/**
 * DOC: Spare places
 *
 * Jobs are alike: one of a queue needs as much memory as the one before. To divide free
 * memory up for each of them and to join it again costs more than all else that a heap does
 * for a job. So an allocation that is freed keeps its place in the heap for the next one of
 * the same size: it is a spare place. If firmware caches the heap, that is after the flush.
 *
 * A heap has spare places of ASAHI_HEAP_SPARES sizes, ASAHI_HEAP_SPARE_PLACES of each at
 * most. Others are divided up and joined as ever. When there is no room for
 * something else, all spare places are joined before the heap grows. So they take no memory
 * but their records, which stay charged to the tasks that made them until memory is short. A block
 * in which nothing but spare places is can be given back, and they go with it.
 */

/* How many of a size. A flush frees about as many at a time. */
#define ASAHI_HEAP_SPARE_PLACES	512

/**
 * asahi_heap_spare_init() - prepare a heap for spare places
 * @heap: new heap
 */
void asahi_heap_spare_init(struct asahi_heap *heap)
{
	for (unsigned int i = 0; i < ASAHI_HEAP_SPARES; i++)
		INIT_LIST_HEAD(&heap->spare[i].nodes);
}

static struct asahi_heap_spare *asahi_heap_spare_find(struct asahi_heap *heap, u64 size)
{
	for (unsigned int i = 0; i < ASAHI_HEAP_SPARES; i++)
		if (heap->spare[i].count && heap->spare[i].size == size)
			return &heap->spare[i];

	return NULL;
}

static struct asahi_heap_spare *asahi_heap_spare_unused(struct asahi_heap *heap)
{
	for (unsigned int i = 0; i < ASAHI_HEAP_SPARES; i++)
		if (!heap->spare[i].count)
			return &heap->spare[i];

	return NULL;
}

/**
 * asahi_heap_spare_take() - get a spare place
 * @heap: heap; its lock is held
 * @size: bytes, as they were when it was an allocation
 * @align: alignment, a power of two
 *
 * Return: the latest place of that size, or NULL if there is none or it is not aligned so.
 */
struct asahi_heap_node *asahi_heap_spare_take(struct asahi_heap *heap, u64 size, u64 align)
{
	struct asahi_heap_spare *spare = asahi_heap_spare_find(heap, size);
	struct asahi_heap_node *node;

	lockdep_assert_held(&heap->lock);

	if (!spare)
		return NULL;

	node = list_first_entry(&spare->nodes, struct asahi_heap_node, garbage);
	if (!IS_ALIGNED(node->mm.start, align))
		return NULL;

	list_del(&node->garbage);
	spare->count--;
	return node;
}

/**
 * asahi_heap_spare_keep() - keep the place of an allocation that is freed
 * @heap: heap; its lock is held
 * @node: allocation that is in no list
 *
 * Return: false if there are enough, and the caller is to free it.
 */
bool asahi_heap_spare_keep(struct asahi_heap *heap, struct asahi_heap_node *node)
{
	struct asahi_heap_spare *spare;

	lockdep_assert_held(&heap->lock);

	spare = asahi_heap_spare_find(heap, node->mm.size) ?: asahi_heap_spare_unused(heap);
	if (!spare || spare->count == ASAHI_HEAP_SPARE_PLACES)
		return false;

	spare->size = node->mm.size;
	spare->count++;
	list_add(&node->garbage, &spare->nodes);
	return true;
}

/**
 * asahi_heap_spare_drop() - join spare places with other free memory
 * @heap: heap; its lock is held
 * @block: block whose places these are, or NULL for all
 *
 * Return: true if there were any.
 */
bool asahi_heap_spare_drop(struct asahi_heap *heap, struct asahi_heap_block *block)
{
	struct asahi_heap_node *node, *next;
	bool any = false;

	lockdep_assert_held(&heap->lock);

	for (unsigned int i = 0; i < ASAHI_HEAP_SPARES; i++) {
		list_for_each_entry_safe(node, next, &heap->spare[i].nodes, garbage) {
			if (block && node->block != block)
				continue;
			any = true;
			heap->spare[i].count--;
			list_del(&node->garbage);
			drm_mm_remove_node(&node->mm);
			kfree(node);
		}
	}

	return any;
}

/**
 * asahi_heap_spare_forget() - have no spare places
 * @heap: heap
 *
 * For a system that is short of memory. Process context.
 */
void asahi_heap_spare_forget(struct asahi_heap *heap)
{
	guard(mutex)(&heap->lock);
	asahi_heap_spare_drop(heap, NULL);
}
