/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Memory that the firmware sees: what its files share.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_HEAP_PRIV_H
#define ASAHI_HEAP_PRIV_H

#include <linux/atomic.h>
#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/workqueue.h>

#include <drm/drm_mm.h>

#include "asahi_heap.h"

struct device;
struct page;

/**
 * struct asahi_heap_block - pages, and where they are mapped
 * @heap: owner; NULL if it has outlived that
 * @dev: device that they are mapped for
 * @by_va: in the heap's blocks, ordered by address
 * @link: in the heap's empty blocks, or in the device's lost ones, or in no list
 * @va: its addresses, and one page behind them that nothing is mapped to
 * @gap: addresses behind it that have no memory, up to the next block
 * @size: bytes
 * @nodes: allocations and garbage in it
 * @lost: the firmware may still write to it: its pages are never freed
 * @generation: of the firmware that it was lost to
 * @map: where the kernel sees it
 * @dma: DMA address of each 16 KiB chunk
 * @chunks: number of chunks that have pages
 * @mapped: number of chunks that have a DMA address
 * @pages: all pages, in units of the CPU's page size
 *
 * The heap's lock protects the tree, the list, @gap and @nodes; the device's
 * heaps' lock the list of lost blocks.
 */
struct asahi_heap_block {
	struct asahi_heap *heap;
	struct device *dev;
	struct rb_node by_va;
	struct list_head link;
	struct drm_mm_node va;
	struct drm_mm_node gap;
	u64 size;
	unsigned int nodes;
	bool lost;
	int generation;
	void *map;
	dma_addr_t *dma;
	unsigned int chunks;
	unsigned int mapped;
	struct page *pages[];
};

/**
 * struct asahi_heap_node - one allocation
 * @mm: its addresses
 * @block: where it is
 * @garbage: in one of the heap's lists, once freed: of garbage or of spare places
 */
struct asahi_heap_node {
	struct drm_mm_node mm;
	struct asahi_heap_block *block;
	struct list_head garbage;
};

/* So many sizes have spare places: a job has one or two allocations in each heap. */
#define ASAHI_HEAP_SPARES	4

/**
 * struct asahi_heap_spare - spare places of one size
 * @size: bytes of each
 * @count: how many there are; with 0, @size says nothing
 * @nodes: the places, the latest first
 */
struct asahi_heap_spare {
	u64 size;
	unsigned int count;
	struct list_head nodes;
};

/**
 * struct asahi_heap - a heap
 * @heaps: all heaps of the device
 * @link: in @heaps
 * @args: what it is like; constant
 */
struct asahi_heap {
	struct asahi_heaps *heaps;
	struct list_head link;
	struct asahi_heap_args args;

	/** @grow_lock: held while a block is made; outside of @lock */
	struct mutex grow_lock;

	/** @lock: protects everything below; nothing is allocated under it */
	struct mutex lock;
	/** @space: addresses, divided into blocks */
	struct drm_mm space;
	/** @mm: addresses; allocations are in it, and all that has no memory */
	struct drm_mm mm;
	/** @gap: addresses in front of the first block */
	struct drm_mm_node gap;
	/** @blocks: blocks by address */
	struct rb_root blocks;
	/** @empty: blocks without allocations, the latest first */
	struct list_head empty;
	/** @spare: places of freed allocations, for others of the same size */
	struct asahi_heap_spare spare[ASAHI_HEAP_SPARES];
	/** @garbage: freed allocations that wait for a flush */
	struct list_head garbage;
	/** @flushing: freed allocations that wait for the flush that is under way */
	struct list_head flushing;
	/** @size: bytes in blocks; read without the lock, too */
	u64 size;
	/** @used: bytes in allocations and garbage; likewise */
	u64 used;
	/** @peak: highest @used since empty blocks were given back last */
	u64 peak;
	/** @unplugged: the device is gone */
	bool unplugged;
#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
	/** @start: bytes that were allocated before anybody had used the device */
	u64 start;
#endif
};

/**
 * struct asahi_heaps - all heaps of a device
 * @adev: device
 * @flush: makes the firmware write back and forget all that it has cached
 * @wq: for @work; has a rescuer, because memory comes back by it
 * @work: flushes, and gives memory back
 * @garbage_bytes: how much waits for a flush
 * @garbage_nodes: how many allocations
 * @freed_pages: pages of blocks that were given back
 * @retry: the latest flush has failed, the next one can wait
 * @hurry: @work is to give back whatever it can
 * @generation: how often the firmware's cache has been lost with its power
 */
struct asahi_heaps {
	struct asahi_device *adev;
	int (*flush)(struct asahi_device *adev);
	struct workqueue_struct *wq;
	struct delayed_work work;
	atomic64_t garbage_bytes;
	atomic_t garbage_nodes;
	atomic_long_t freed_pages;
	bool retry;
	bool hurry;
	atomic_t generation;

	/**
	 * @lock: protects everything below, and keeps heaps from going. Held
	 * while waiting for the firmware; outside of the heaps' locks, not taken
	 * by allocations.
	 */
	struct mutex lock;
	/** @heaps: the heaps */
	struct list_head heaps;
	/** @lost: blocks that have no heap any more, but may not be freed */
	struct list_head lost;
	/** @dirty: the firmware may have something of the heaps in its cache */
	bool dirty;
	/** @uncached: nothing is mapped as cached at the moment */
	bool uncached;
	/** @unplugged: no memory is mapped any more */
	bool unplugged;
};

void asahi_heap_spare_init(struct asahi_heap *heap);
struct asahi_heap_node *asahi_heap_spare_take(struct asahi_heap *heap, u64 size, u64 align);
bool asahi_heap_spare_keep(struct asahi_heap *heap, struct asahi_heap_node *node);
void asahi_heap_spare_forget(struct asahi_heap *heap);
bool asahi_heap_spare_drop(struct asahi_heap *heap, struct asahi_heap_block *block);

struct asahi_heap_block *asahi_heap_block_create(struct asahi_heap *heap, u64 size, u64 align);
int asahi_heap_block_unmap(struct asahi_heap_block *block);
void asahi_heap_block_unmap_dma(struct asahi_heap_block *block);
void asahi_heap_block_detach(struct asahi_heap_block *block);
void asahi_heap_block_free(struct asahi_heap_block *block);
void asahi_heap_block_lose(struct asahi_heap_block *block);
void asahi_heap_block_find(struct asahi_heap_block *block);

struct asahi_heap_block *asahi_heap_take_empty(struct asahi_heap *heap);
bool asahi_heap_end_trim(struct asahi_heap *heap);
void asahi_heap_begin_flush(struct asahi_heap *heap);
void asahi_heap_end_flush(struct asahi_heap *heap, bool flushed);
void asahi_heap_unplug(struct asahi_heap *heap);
void asahi_heap_protect(struct asahi_heap *heap, bool cached);

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
u64 asahi_heap_at_rest(struct asahi_heap *heap, struct asahi_rest *rest);
#endif

void asahi_heaps_kick(struct asahi_heaps *heaps);
int asahi_heaps_throttle(struct asahi_heaps *heaps);
void asahi_heaps_drop_block(struct asahi_heaps *heaps, struct asahi_heap_block *block);

/* Allocations of such heaps are garbage, once freed, until the next flush. */
static inline bool asahi_heap_is_cached(const struct asahi_heap *heap)
{
	return asahi_prot_is_cached(heap->args.prot);
}

#endif
