// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory that the firmware sees: the blocks of pages that heaps are made of.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/pfn.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <agx/agx_uat.h>

#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_heap_priv.h"

#define ASAHI_HEAP_CHUNK_ORDER		get_order(AGX_PAGE_SIZE)
#define ASAHI_HEAP_PAGES_PER_CHUNK	BIT(ASAHI_HEAP_CHUNK_ORDER)

/*
 * The task that makes a heap grow is charged for the block. Clients share the blocks
 * of the kernel half, so the charge can be wrong by a block, but the queues of a
 * container cannot take more memory than the container has.
 *
 * A block is many pages of a size for which the page allocator would kill processes
 * before it fails. A client that asks for too much gets ENOMEM instead.
 */
#define ASAHI_HEAP_BLOCK_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * asahi_heap_block_unmap_dma() - take the memory away from the device
 * @block: block that is mapped in no MMU any more, or that the MMU is cut off from
 *
 * Process context.
 */
void asahi_heap_block_unmap_dma(struct asahi_heap_block *block)
{
	while (block->mapped)
		dma_unmap_page(block->dev, block->dma[--block->mapped], AGX_PAGE_SIZE,
			       DMA_BIDIRECTIONAL);
}

static void asahi_heap_block_free_pages(struct asahi_heap_block *block)
{
	asahi_heap_block_unmap_dma(block);
	if (block->lost)
		return;

	while (block->chunks)
		__free_pages(block->pages[--block->chunks * ASAHI_HEAP_PAGES_PER_CHUNK],
			     ASAHI_HEAP_CHUNK_ORDER);
}

static int asahi_heap_block_add_chunk(struct asahi_heap_block *block)
{
	unsigned int i, first = block->chunks * ASAHI_HEAP_PAGES_PER_CHUNK;
	struct page *page;
	dma_addr_t dma;

	page = alloc_pages(ASAHI_HEAP_BLOCK_GFP | __GFP_ZERO, ASAHI_HEAP_CHUNK_ORDER);
	if (!page)
		return -ENOMEM;

	for (i = 0; i < ASAHI_HEAP_PAGES_PER_CHUNK; i++)
		block->pages[first + i] = page + i;
	block->chunks++;

	dma = dma_map_page(block->dev, page, 0, AGX_PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(block->dev, dma))
		return -ENOMEM;

	block->dma[block->mapped++] = dma;
	return IS_ALIGNED(dma, AGX_PAGE_SIZE) ? 0 : -EINVAL;
}

static int asahi_heap_block_unmap_part(struct asahi_heap_block *block, u64 size)
{
	const struct asahi_heap_args *args = &block->heap->args;

	return size ? args->mmu->unmap(args->mmu_priv, block->va.start, size, args->prot) : 0;
}

/* Maps runs of adjacent chunks with one call each. */
static int asahi_heap_block_map(struct asahi_heap_block *block)
{
	const struct asahi_heap_args *args = &block->heap->args;
	unsigned int first = 0, end;
	int ret;

	while (first < block->mapped) {
		u64 va = block->va.start + first * AGX_PAGE_SIZE;

		end = first + 1;
		while (end < block->mapped &&
		       block->dma[end] == block->dma[end - 1] + AGX_PAGE_SIZE)
			end++;

		ret = args->mmu->map(args->mmu_priv, va, block->dma[first],
				     (end - first) * AGX_PAGE_SIZE, args->prot);
		if (ret) {
			/* Nobody knows of it yet, so nobody has cached it. */
			asahi_heap_block_unmap_part(block, first * AGX_PAGE_SIZE);
			return ret;
		}
		first = end;
	}

	return 0;
}

static int asahi_heap_block_populate(struct asahi_heap_block *block)
{
	unsigned int chunks = block->size / AGX_PAGE_SIZE;
	int ret;

	while (block->chunks < chunks) {
		/* What is killed must not go on taking memory. */
		if (fatal_signal_pending(current))
			return -EINTR;

		ret = asahi_heap_block_add_chunk(block);
		if (ret)
			return ret;
	}

	block->map = vmap(block->pages, chunks * ASAHI_HEAP_PAGES_PER_CHUNK, VM_MAP, PAGE_KERNEL);
	return block->map ? asahi_heap_block_map(block) : -ENOMEM;
}

static struct asahi_heap_block *asahi_heap_block_alloc(struct asahi_heap *heap, u64 size)
{
	unsigned int chunks = size / AGX_PAGE_SIZE;
	struct asahi_heap_block *block;

	block = kvzalloc_flex(*block, pages, chunks * ASAHI_HEAP_PAGES_PER_CHUNK,
			      ASAHI_HEAP_BLOCK_GFP);
	if (!block)
		return NULL;

	block->dma = kvcalloc(chunks, sizeof(*block->dma), ASAHI_HEAP_BLOCK_GFP);
	if (!block->dma) {
		kvfree(block);
		return NULL;
	}

	block->heap = heap;
	block->dev = heap->heaps->adev->drm.dev;
	block->size = size;
	INIT_LIST_HEAD(&block->link);
	asahi_count_inc(ASAHI_COUNT_HEAP_BLOCK);
	return block;
}

/**
 * asahi_heap_block_create() - take pages and map them
 * @heap: heap, with its lock for growing held
 * @size: bytes, a multiple of the page size
 * @align: alignment of the address, a power of two
 *
 * Process context, may sleep.
 *
 * Return: the block, not in the heap yet; -ENOMEM, -EINTR if the task is being killed,
 * -ENOSPC if there are no addresses left, or what mapping gives, as an error pointer.
 */
struct asahi_heap_block *asahi_heap_block_create(struct asahi_heap *heap, u64 size, u64 align)
{
	struct asahi_heap_block *block;
	int ret;

	lockdep_assert_held(&heap->grow_lock);

	/*
	 * A block that cannot be had would take the last page of everybody else before it
	 * fails, and what they need next would have one of them killed.
	 */
	if (si_mem_available() < (long)PFN_DOWN(size))
		return ERR_PTR(-ENOMEM);

	block = asahi_heap_block_alloc(heap, size);
	if (!block)
		return ERR_PTR(-ENOMEM);

	scoped_guard(mutex, &heap->lock)
		ret = drm_mm_insert_node_generic(&heap->space, &block->va, size + AGX_PAGE_SIZE,
						 max(align, AGX_PAGE_SIZE), 0, DRM_MM_INSERT_BEST);
	if (!ret)
		ret = asahi_heap_block_populate(block);
	if (ret) {
		asahi_heap_block_free(block);
		return ERR_PTR(ret);
	}

	return block;
}

/**
 * asahi_heap_block_unmap() - take the memory away from GPU and firmware
 * @block: block that has no allocations and is not in the heap any more
 *
 * Process context, may sleep; waits for the firmware, for a bounded time, if it
 * caches such memory.
 *
 * Return: 0, or a negative error if the firmware may still write to it.
 */
int asahi_heap_block_unmap(struct asahi_heap_block *block)
{
	return asahi_heap_block_unmap_part(block, block->size);
}

/**
 * asahi_heap_block_detach() - a block outlives its heap
 * @block: block that is mapped in no MMU
 *
 * What is left is its pages and their DMA mappings. Process context, may sleep.
 */
void asahi_heap_block_detach(struct asahi_heap_block *block)
{
	if (drm_mm_node_allocated(&block->va)) {
		guard(mutex)(&block->heap->lock);
		drm_mm_remove_node(&block->va);
	}

	vunmap(block->map);
	block->map = NULL;
	block->heap = NULL;
}

/**
 * asahi_heap_block_free() - free a block
 * @block: block that is mapped in no MMU, maybe without a heap
 *
 * The pages of one that is lost are not freed. Process context, may sleep.
 */
void asahi_heap_block_free(struct asahi_heap_block *block)
{
	asahi_heap_block_detach(block);
	asahi_heap_block_free_pages(block);
	kvfree(block->dma);
	kvfree(block);
	asahi_count_dec(ASAHI_COUNT_HEAP_BLOCK);
}

/**
 * asahi_heap_block_lose() - the firmware may still write to a block
 * @block: block whose pages nobody else may get
 *
 * Any context.
 */
void asahi_heap_block_lose(struct asahi_heap_block *block)
{
	if (block->lost)
		return;

	block->lost = true;
	asahi_count_inc(ASAHI_COUNT_LEAKED_BLOCK);
	asahi_count_add(ASAHI_COUNT_LEAKED_PAGE, block->size / AGX_PAGE_SIZE);
}

/**
 * asahi_heap_block_find() - undo asahi_heap_block_lose()
 * @block: block to which the firmware does not write any more
 *
 * Any context.
 */
void asahi_heap_block_find(struct asahi_heap_block *block)
{
	block->lost = false;
	asahi_count_dec(ASAHI_COUNT_LEAKED_BLOCK);
	asahi_count_add(ASAHI_COUNT_LEAKED_PAGE, -(int)(block->size / AGX_PAGE_SIZE));
}
