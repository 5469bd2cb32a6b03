// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory that the firmware sees: small allocations with owners.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_aspace.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_heap_priv.h"
#include "asahi_rest.h"

/**
 * DOC: Heaps
 *
 * A heap hands out pieces of a range of GPU addresses. It takes pages in
 * blocks, maps each block once for the kernel and once in the GPU's MMU, and
 * divides it up. Every allocation is zeroed: what it held before may have been
 * another client's.
 *
 * All allocations of a heap are in one &struct drm_mm, in which the addresses
 * without memory count as taken, and so do spare places, see "Spare places". So it
 * takes the same time to find room however many blocks there are. Blocks are made, and
 * memory is cleared, without the lock that allocating and freeing take.
 *
 * A heap grows by as much as it has already, so that a client with little work
 * takes little, but by no more than 1 MiB. A block is charged to the task that makes
 * the heap grow, also in the kernel half, whose blocks all clients share.
 */

/* Blocks that are not made for one large allocation have no more bytes than this. */
#define ASAHI_HEAP_BLOCK_MAX	SZ_1M

/* How many allocations are freed at a time, without letting others in between. */
#define ASAHI_HEAP_BATCH	16

static int asahi_heap_aspace_map(void *priv, u64 va, dma_addr_t pa, u64 size,
				 enum asahi_prot prot)
{
	return asahi_aspace_map(priv, va, pa, size, prot);
}

static void asahi_heap_aspace_protect(void *priv, u64 va, u64 size, enum asahi_prot prot)
{
	asahi_aspace_protect(priv, va, size, prot);
}

static int asahi_heap_aspace_unmap(void *priv, u64 va, u64 size, enum asahi_prot prot)
{
	return asahi_aspace_unmap(priv, va, size, prot);
}

const struct asahi_heap_mmu asahi_heap_mmu_aspace = {
	.map = asahi_heap_aspace_map,
	.protect = asahi_heap_aspace_protect,
	.unmap = asahi_heap_aspace_unmap,
};

/* Blocks in the heap. */

static struct asahi_heap_block *asahi_heap_block_of(struct rb_node *node)
{
	return node ? rb_entry(node, struct asahi_heap_block, by_va) : NULL;
}

static bool asahi_heap_block_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct asahi_heap_block, by_va)->va.start <
	       rb_entry(b, struct asahi_heap_block, by_va)->va.start;
}

static struct asahi_heap_block *asahi_heap_block_at(struct asahi_heap *heap, u64 va)
{
	struct rb_node *node = heap->blocks.rb_node;
	struct asahi_heap_block *block, *found = NULL;

	while (node) {
		block = asahi_heap_block_of(node);
		if (va < block->va.start) {
			node = node->rb_left;
		} else {
			found = block;
			node = node->rb_right;
		}
	}

	return found;
}

/* Makes [start, end) a gap; where it has been before becomes free. */
static void asahi_heap_set_gap(struct asahi_heap *heap, struct drm_mm_node *gap, u64 start,
			       u64 end)
{
	if (drm_mm_node_allocated(gap))
		drm_mm_remove_node(gap);

	gap->start = start;
	gap->size = end - start;
	if (gap->size)
		WARN_ON_ONCE(drm_mm_reserve_node(&heap->mm, gap));
}

static struct drm_mm_node *asahi_heap_gap_before(struct asahi_heap *heap,
						 struct asahi_heap_block *block)
{
	struct asahi_heap_block *before = asahi_heap_block_of(rb_prev(&block->by_va));

	return before ? &before->gap : &heap->gap;
}

static void asahi_heap_insert_block(struct asahi_heap *heap, struct asahi_heap_block *block)
{
	struct drm_mm_node *before;
	u64 end;

	lockdep_assert_held(&heap->lock);

	rb_add(&block->by_va, &heap->blocks, asahi_heap_block_less);
	before = asahi_heap_gap_before(heap, block);
	end = before->start + before->size;
	asahi_heap_set_gap(heap, before, before->start, block->va.start);
	asahi_heap_set_gap(heap, &block->gap, block->va.start + block->size, end);

	list_add(&block->link, &heap->empty);
	WRITE_ONCE(heap->size, heap->size + block->size);
}

static void asahi_heap_remove_block(struct asahi_heap *heap, struct asahi_heap_block *block)
{
	struct drm_mm_node *before = asahi_heap_gap_before(heap, block);
	u64 end = block->gap.start + block->gap.size;

	lockdep_assert_held(&heap->lock);

	asahi_heap_spare_drop(heap, block);
	asahi_heap_set_gap(heap, &block->gap, end, end);
	asahi_heap_set_gap(heap, before, before->start, end);
	rb_erase(&block->by_va, &heap->blocks);

	list_del_init(&block->link);
	WRITE_ONCE(heap->size, heap->size - block->size);
}

/* Allocations. */

static void asahi_heap_use_locked(struct asahi_heap *heap, struct asahi_heap_node *node)
{
	lockdep_assert_held(&heap->lock);

	if (!node->block->nodes++)
		list_del_init(&node->block->link);

	WRITE_ONCE(heap->used, heap->used + node->mm.size);
	heap->peak = max(heap->peak, heap->used);
}

static int asahi_heap_place_locked(struct asahi_heap *heap, struct asahi_heap_node *node,
				   u64 size, u64 align)
{
	int ret;

	lockdep_assert_held(&heap->lock);

	do {
		ret = drm_mm_insert_node_generic(&heap->mm, &node->mm, size, align, 0,
						 DRM_MM_INSERT_BEST);
	} while (ret == -ENOSPC && asahi_heap_spare_drop(heap, NULL));
	if (ret)
		return ret;

	node->block = asahi_heap_block_at(heap, node->mm.start);
	asahi_heap_use_locked(heap, node);
	return 0;
}

/* NULL if there is no spare place; the caller has to find another one, and errors. */
static struct asahi_heap_node *asahi_heap_take_spare(struct asahi_heap *heap, u64 size, u64 align)
{
	struct asahi_heap_node *node;

	guard(mutex)(&heap->lock);

	if (heap->unplugged)
		return NULL;

	node = asahi_heap_spare_take(heap, size, align);
	if (node)
		asahi_heap_use_locked(heap, node);
	return node;
}

static int asahi_heap_place(struct asahi_heap *heap, struct asahi_heap_node *node, u64 size,
			    u64 align)
{
	guard(mutex)(&heap->lock);

	if (heap->unplugged)
		return -ENODEV;

	return asahi_heap_place_locked(heap, node, size, align);
}

static u64 asahi_heap_step(struct asahi_heap *heap)
{
	guard(mutex)(&heap->lock);

	return clamp(rounddown_pow_of_two(heap->size | 1), heap->args.block_min,
		     (u64)ASAHI_HEAP_BLOCK_MAX);
}

/* Sets @fresh if the allocation is the first one in new pages, which are zeroed. */
static int asahi_heap_grow(struct asahi_heap *heap, struct asahi_heap_node *node, u64 size,
			   u64 align, bool *fresh)
{
	struct asahi_heap_block *block;
	int ret;

	guard(mutex)(&heap->grow_lock);

	/* Somebody else may have made room while this waited. */
	ret = asahi_heap_place(heap, node, size, align);
	if (ret != -ENOSPC)
		return ret;

	block = asahi_heap_block_create(heap, max(ALIGN(size, AGX_PAGE_SIZE),
						  asahi_heap_step(heap)), align);
	if (IS_ERR(block))
		return PTR_ERR(block);

	guard(mutex)(&heap->lock);
	asahi_heap_insert_block(heap, block);
	ret = asahi_heap_place_locked(heap, node, size, align);
	*fresh = !ret && node->block == block;
	return ret;
}

/* A record of its own, with memory that is free. Sets @fresh as asahi_heap_grow(). */
static int asahi_heap_alloc_node(struct asahi_heap *heap, u64 size, u64 align,
				 struct asahi_heap_node **out, bool *fresh)
{
	struct asahi_heap_node *node = kzalloc_obj(*node, GFP_KERNEL_ACCOUNT);
	int ret;

	if (!node)
		return -ENOMEM;

	ret = asahi_heap_place(heap, node, size, align);
	if (ret == -ENOSPC)
		ret = asahi_heap_grow(heap, node, size, align, fresh);
	if (ret)
		kfree(node);
	else
		*out = node;
	return ret;
}

/**
 * asahi_heap_alloc() - allocate zeroed memory
 * @heap: heap
 * @size: bytes
 * @align: alignment of the address, a power of two; ASAHI_HEAP_ALIGN is the
 *	least that one gets
 * @buf: the allocation, undefined on error
 *
 * Process context, may sleep; not on the way to a fence. Waits for the firmware,
 * for a bounded time, only if it is far behind with flushing.
 *
 * Return: 0, -EINVAL if @size is 0, -ENOMEM or -ENOSPC if there is not enough,
 * -ENODEV after unplug.
 */
int asahi_heap_alloc(struct asahi_heap *heap, size_t size, size_t align, struct asahi_fwbuf *buf)
{
	u64 rounded = ALIGN((u64)size, ASAHI_HEAP_ALIGN);
	struct asahi_heap_node *node = NULL;
	bool fresh = false;
	int ret = 0;

	if (!size || rounded < size)
		return -EINVAL;

	align = max_t(size_t, align, ASAHI_HEAP_ALIGN);
	if (asahi_heap_is_cached(heap))
		ret = asahi_heaps_throttle(heap->heaps);
	if (!ret)
		node = asahi_heap_take_spare(heap, rounded, align);
	if (!ret && !node)
		ret = asahi_heap_alloc_node(heap, rounded, align, &node, &fresh);
	if (ret) {
		drm_dbg(&heap->heaps->adev->drm, "heap %s: no %#zx bytes: %d\n", heap->args.name,
			size, ret);
		return ret;
	}

	buf->va = node->mm.start;
	buf->map = node->block->map + (node->mm.start - node->block->va.start);
	buf->size = size;
	buf->node = node;
	if (!fresh)
		memset(buf->map, 0, rounded);
	asahi_count_inc(ASAHI_COUNT_HEAP_NODE);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_alloc);

/*
 * Nobody has it any more, and it is in no list. Returns true if the record is the caller's to
 * free, without the lock; otherwise the heap keeps it with its place.
 */
static bool asahi_heap_release_node(struct asahi_heap *heap, struct asahi_heap_node *node)
{
	struct asahi_heap_block *block = node->block;

	lockdep_assert_held(&heap->lock);

	WRITE_ONCE(heap->used, heap->used - node->mm.size);
	if (!--block->nodes)
		list_add(&block->link, &heap->empty);
	asahi_count_dec(ASAHI_COUNT_HEAP_NODE);

	if (!heap->unplugged && asahi_heap_spare_keep(heap, node))
		return false;

	drm_mm_remove_node(&node->mm);
	return true;
}

/* Returns false if the node is garbage or a spare place now, and stays. */
static bool asahi_heap_free_node(struct asahi_heap *heap, struct asahi_heap_node *node)
{
	guard(mutex)(&heap->lock);

	if (!asahi_heap_is_cached(heap) || heap->unplugged)
		return asahi_heap_release_node(heap, node);

	list_add_tail(&node->garbage, &heap->garbage);
	atomic64_add(node->mm.size, &heap->heaps->garbage_bytes);
	atomic_inc(&heap->heaps->garbage_nodes);
	return false;
}

/**
 * asahi_heap_free() - free an allocation
 * @buf: allocation, or a zeroed structure; zeroed by this
 *
 * Neither GPU nor firmware may use it any more, though the firmware may still
 * have it in its cache. Process context, may sleep; not on the way to a fence.
 */
void asahi_heap_free(struct asahi_fwbuf *buf)
{
	struct asahi_heap_node *node = buf->node;
	struct asahi_heap *heap;

	if (!node)
		return;

	memset(buf, 0, sizeof(*buf));
	heap = node->block->heap;
	if (asahi_heap_free_node(heap, node))
		kfree(node);
	asahi_heaps_kick(heap->heaps);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_free);

/**
 * asahi_heap_size() - how much memory a heap holds
 * @heap: heap
 *
 * Any context, without a lock: it may be outdated when it arrives.
 *
 * Return: bytes, allocated or not.
 */
u64 asahi_heap_size(struct asahi_heap *heap)
{
	return READ_ONCE(heap->size);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_size);

/**
 * asahi_heap_used() - how much of a heap is allocated
 * @heap: heap
 *
 * Any context, without a lock: it may be outdated when it arrives.
 *
 * Return: bytes, garbage included.
 */
u64 asahi_heap_used(struct asahi_heap *heap)
{
	return READ_ONCE(heap->used);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_used);

/**
 * asahi_heap_dma_addr() - where the device finds a page-aligned allocation
 * @buf: allocation, page aligned
 *
 * Process context, not after unplug.
 *
 * Return: DMA address of the allocation's first page.
 */
dma_addr_t asahi_heap_dma_addr(const struct asahi_fwbuf *buf)
{
	struct asahi_heap_block *block = buf->node->block;

	return block->dma[(buf->va - block->va.start) / AGX_PAGE_SIZE];
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_dma_addr);

/* What the worker does with each heap. */

/**
 * asahi_heap_begin_flush() - choose what the next flush makes free
 * @heap: heap that the firmware caches
 *
 * What is freed later may be in the firmware's cache again. Process context, with
 * the lock of the device's heaps held.
 */
void asahi_heap_begin_flush(struct asahi_heap *heap)
{
	guard(mutex)(&heap->lock);
	list_splice_tail_init(&heap->garbage, &heap->flushing);
}

static unsigned int asahi_heap_release_batch(struct asahi_heap *heap, struct list_head *released)
{
	struct asahi_heap_node *node, *next;
	unsigned int count = 0;

	guard(mutex)(&heap->lock);

	list_for_each_entry_safe(node, next, &heap->flushing, garbage) {
		if (count == ASAHI_HEAP_BATCH)
			break;
		count++;
		atomic64_sub(node->mm.size, &heap->heaps->garbage_bytes);
		atomic_dec(&heap->heaps->garbage_nodes);
		list_del(&node->garbage);
		if (asahi_heap_release_node(heap, node))
			list_add(&node->garbage, released);
	}

	return count;
}

static void asahi_heap_release_flushed(struct asahi_heap *heap)
{
	struct asahi_heap_node *node, *next;
	LIST_HEAD(released);

	while (asahi_heap_release_batch(heap, &released))
		cond_resched();

	list_for_each_entry_safe(node, next, &released, garbage)
		kfree(node);
}

/**
 * asahi_heap_end_flush() - free what was chosen, or keep it as garbage
 * @heap: heap
 * @flushed: the firmware has flushed its cache since asahi_heap_begin_flush()
 *
 * Process context, with the lock of the device's heaps held.
 */
void asahi_heap_end_flush(struct asahi_heap *heap, bool flushed)
{
	if (flushed) {
		asahi_heap_release_flushed(heap);
		return;
	}

	guard(mutex)(&heap->lock);
	list_splice_init(&heap->flushing, &heap->garbage);
}

/**
 * asahi_heap_take_empty() - find a block that can be given back
 * @heap: heap
 *
 * That is one without which the heap still has as much as it has had in use at a
 * time lately. Process context.
 *
 * Return: a block that is not in the heap any more but still mapped, or NULL.
 */
struct asahi_heap_block *asahi_heap_take_empty(struct asahi_heap *heap)
{
	struct asahi_heap_block *block;

	guard(mutex)(&heap->lock);

	if (list_empty(&heap->empty))
		return NULL;

	block = list_last_entry(&heap->empty, struct asahi_heap_block, link);
	if (heap->size - block->size < max(heap->peak, heap->args.keep))
		return NULL;

	asahi_heap_remove_block(heap, block);
	return block;
}

/**
 * asahi_heap_end_trim() - begin to observe anew how much a heap needs
 * @heap: heap
 *
 * Process context.
 *
 * Return: true if there could be something to give back the next time.
 */
bool asahi_heap_end_trim(struct asahi_heap *heap)
{
	guard(mutex)(&heap->lock);

	heap->peak = heap->used;
	return !list_empty(&heap->empty) && heap->size > max(heap->peak, heap->args.keep);
}

/**
 * asahi_heap_protect() - let the firmware cache a heap's memory or not
 * @heap: heap that it caches normally
 * @cached: it may
 *
 * Process context, may sleep, with the lock of the device's heaps held.
 */
void asahi_heap_protect(struct asahi_heap *heap, bool cached)
{
	const struct asahi_heap_args *args = &heap->args;
	enum asahi_prot prot = cached ? args->prot : asahi_prot_uncached(args->prot);
	struct rb_node *node;

	/* Blocks come with the former and go with the latter of these two held. */
	guard(mutex)(&heap->grow_lock);
	lockdep_assert_held(&heap->heaps->lock);

	for (node = rb_first(&heap->blocks); node; node = rb_next(node)) {
		struct asahi_heap_block *block = asahi_heap_block_of(node);

		args->mmu->protect(args->mmu_priv, block->va.start, block->size, prot);
	}
}

/**
 * asahi_heap_unplug() - give up all DMA mappings
 * @heap: heap that neither GPU nor firmware reach any more
 *
 * Allocations stay, and are freed as ever; new ones fail. Process context, may
 * sleep, with the lock of the device's heaps held.
 */
void asahi_heap_unplug(struct asahi_heap *heap)
{
	bool lost = asahi_heap_is_cached(heap) && heap->heaps->dirty;
	struct rb_node *node;

	lockdep_assert_held(&heap->heaps->lock);

	asahi_heap_begin_flush(heap);
	asahi_heap_release_flushed(heap);

	guard(mutex)(&heap->grow_lock);
	guard(mutex)(&heap->lock);

	heap->unplugged = true;
	for (node = rb_first(&heap->blocks); node; node = rb_next(node)) {
		struct asahi_heap_block *block = asahi_heap_block_of(node);

		if (lost)
			asahi_heap_block_lose(block);
		asahi_heap_block_unmap_dma(block);
	}
}

/* Heaps. */

/**
 * asahi_heap_create() - make a heap
 * @heaps: heaps of the device
 * @args: what it is like
 *
 * Process context, may sleep. Takes no pages yet.
 *
 * Return: the heap, -ENODEV after unplug or -ENOMEM as an error pointer.
 */
struct asahi_heap *asahi_heap_create(struct asahi_heaps *heaps, const struct asahi_heap_args *args)
{
	struct asahi_heap *heap;

	heap = kzalloc_obj(*heap, GFP_KERNEL_ACCOUNT);
	if (!heap)
		return ERR_PTR(-ENOMEM);

	heap->heaps = heaps;
	heap->args = *args;
	mutex_init(&heap->grow_lock);
	mutex_init(&heap->lock);
	drm_mm_init(&heap->space, args->start, args->end - args->start);
	drm_mm_init(&heap->mm, args->start, args->end - args->start);
	asahi_heap_set_gap(heap, &heap->gap, args->start, args->end);
	heap->blocks = RB_ROOT;
	INIT_LIST_HEAD(&heap->empty);
	asahi_heap_spare_init(heap);
	INIT_LIST_HEAD(&heap->garbage);
	INIT_LIST_HEAD(&heap->flushing);

	scoped_guard(mutex, &heaps->lock) {
		if (!heaps->unplugged) {
			list_add_tail(&heap->link, &heaps->heaps);
			return heap;
		}
	}

	drm_mm_remove_node(&heap->gap);
	drm_mm_takedown(&heap->mm);
	drm_mm_takedown(&heap->space);
	kfree(heap);
	return ERR_PTR(-ENODEV);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_create);

static struct asahi_heap_block *asahi_heap_take_any(struct asahi_heap *heap)
{
	struct asahi_heap_block *block;

	guard(mutex)(&heap->lock);

	block = list_first_entry_or_null(&heap->empty, struct asahi_heap_block, link);
	if (block)
		asahi_heap_remove_block(heap, block);
	return block;
}

/**
 * asahi_heap_destroy() - free a heap with all its pages
 * @heap: heap, all allocations of which have been freed; or NULL
 *
 * Process context, may sleep; waits for the firmware, for a bounded time, if it
 * caches such memory.
 */
void asahi_heap_destroy(struct asahi_heap *heap)
{
	struct asahi_heap_block *block;

	if (!heap)
		return;

	/* Unplugging waits for this, as no DMA mapping may be left then. */
	scoped_guard(mutex, &heap->heaps->lock) {
		/* Nothing is reused: unmapping flushes what needs a flush. */
		asahi_heap_begin_flush(heap);
		asahi_heap_release_flushed(heap);
		while ((block = asahi_heap_take_any(heap)))
			asahi_heaps_drop_block(heap->heaps, block);
		list_del(&heap->link);
	}

	/* Somebody still has an allocation: its memory must stay. */
	if (WARN_ON_ONCE(!RB_EMPTY_ROOT(&heap->blocks)))
		return;

	drm_mm_remove_node(&heap->gap);
	drm_mm_takedown(&heap->mm);
	drm_mm_takedown(&heap->space);
	mutex_destroy(&heap->lock);
	mutex_destroy(&heap->grow_lock);
	kfree(heap);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_destroy);

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
static u64 asahi_heap_count_garbage(struct asahi_heap *heap)
{
	struct asahi_heap_node *node;
	u64 bytes = 0;

	lockdep_assert_held(&heap->lock);

	list_for_each_entry(node, &heap->garbage, garbage)
		bytes += node->mm.size;
	list_for_each_entry(node, &heap->flushing, garbage)
		bytes += node->mm.size;
	return bytes;
}

static u64 asahi_heap_count_blocks(struct asahi_heap *heap)
{
	struct rb_node *node;
	u64 bytes = 0;

	lockdep_assert_held(&heap->lock);

	for (node = rb_first(&heap->blocks); node; node = rb_next(node))
		bytes += asahi_heap_block_of(node)->size;
	return bytes;
}

/**
 * asahi_heap_at_rest() - say what a heap holds that it should not
 * @heap: heap
 * @rest: what is known of the device
 *
 * Process context, with the lock of the device's heaps held.
 *
 * Return: bytes of garbage.
 */
u64 asahi_heap_at_rest(struct asahi_heap *heap, struct asahi_rest *rest)
{
	const char *name = heap->args.name;
	u64 garbage, blocks;

	guard(mutex)(&heap->lock);

	garbage = asahi_heap_count_garbage(heap);
	blocks = asahi_heap_count_blocks(heap);
	if (rest->levels & ASAHI_REST_START)
		heap->start = heap->used;

	asahi_rest_expect(rest, 0, heap->size == blocks,
			  "%s has %llu bytes, and its blocks %llu", name, heap->size, blocks);
	asahi_rest_expect(rest, 0, heap->used <= blocks,
			  "%s has %llu bytes in use, and its blocks %llu", name, heap->used,
			  blocks);
	asahi_rest_expect(rest, ASAHI_REST_CLOSED | ASAHI_REST_AWAKE,
			  heap->used - garbage == heap->start,
			  "%s has %llu bytes in use, and %llu at first", name,
			  heap->used - garbage, heap->start);
	return garbage;
}
#endif
