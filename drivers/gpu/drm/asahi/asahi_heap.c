// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory that the firmware sees: small allocations with owners.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <drm/drm_mm.h>
#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_channel.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_heap.h"
#include "asahi_uat.h"

/**
 * DOC: Heaps
 *
 * A heap hands out pieces of a range of GPU addresses. It takes pages in
 * blocks, maps each block once for the kernel and once in the GPU's MMU, and
 * divides it up. Every allocation is zeroed: what it held before may have been
 * another client's.
 *
 * Memory that the firmware caches is not free when its owner gives it up: a
 * line of it may still be written back later, over what a new owner has put
 * there. It is garbage until the firmware has flushed its cache, which is done
 * when enough has piled up to be worth it. Taking it out of the MMU needs a
 * flush as well; that is the business of &asahi_heap_mmu.unmap.
 *
 * When the device goes away, nothing reads or writes the memory but the kernel.
 * Then all DMA mappings are removed at once, while owners keep and free their
 * allocations as before.
 */

#define HEAP_BLOCK_SIZE		SZ_64K
#define CHUNK_ORDER		get_order(AGX_PAGE_SIZE)
#define PAGES_PER_CHUNK		BIT(CHUNK_ORDER)

/* Beyond this a flush is worth its time. */
#define GARBAGE_MAX_BYTES	SZ_4M
#define GARBAGE_MAX_NODES	1024

/**
 * struct asahi_heap_block - pages
 * @heap: owner
 * @link: in the heap's blocks
 * @va: its addresses, and one page behind them that nothing is mapped to
 * @mm: allocations in it
 * @size: bytes
 * @nodes: allocations and garbage in it
 * @map: where the kernel sees it
 * @dma: DMA address of each 16 KiB chunk
 * @chunks: number of chunks that have a page
 * @mapped: number of chunks that have a DMA address
 * @pages: all pages, in units of the CPU's page size
 */
struct asahi_heap_block {
	struct asahi_heap *heap;
	struct list_head link;
	struct drm_mm_node va;
	struct drm_mm mm;
	u64 size;
	unsigned int nodes;
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
 * @garbage: in the heap's garbage, once freed
 */
struct asahi_heap_node {
	struct drm_mm_node mm;
	struct asahi_heap_block *block;
	struct list_head garbage;
};

/**
 * struct asahi_heap - a heap
 * @adev: device
 * @link: in the device's list
 * @name: for messages
 * @prot: protection of all of it
 * @mmu: how to map
 * @mmu_priv: for @mmu
 * @space: addresses, divided into blocks
 * @blocks: blocks
 * @garbage: freed allocations that wait for a flush, oldest first
 * @garbage_nodes: how many
 * @garbage_bytes: how large
 * @size: bytes in blocks
 * @unplugged: the device is gone
 */
struct asahi_heap {
	struct asahi_device *adev;
	struct list_head link;
	const char *name;
	enum asahi_prot prot;
	const struct asahi_heap_mmu *mmu;
	void *mmu_priv;

	/** @lock: protects everything below */
	struct mutex lock;
	struct drm_mm space;
	struct list_head blocks;
	struct list_head garbage;
	unsigned int garbage_nodes;
	u64 garbage_bytes;
	u64 size;
	bool unplugged;
};

/* Blocks. */

static void block_unmap_dma(struct asahi_heap_block *block)
{
	struct device *dev = block->heap->adev->drm.dev;

	while (block->mapped)
		dma_unmap_page(dev, block->dma[--block->mapped], AGX_PAGE_SIZE,
			       DMA_BIDIRECTIONAL);
}

static void block_free_pages(struct asahi_heap_block *block)
{
	block_unmap_dma(block);
	while (block->chunks)
		__free_pages(block->pages[--block->chunks * PAGES_PER_CHUNK], CHUNK_ORDER);
}

static int block_add_chunk(struct asahi_heap_block *block)
{
	struct device *dev = block->heap->adev->drm.dev;
	unsigned int i, first = block->chunks * PAGES_PER_CHUNK;
	struct page *page;
	dma_addr_t dma;

	page = alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO, CHUNK_ORDER);
	if (!page)
		return -ENOMEM;

	for (i = 0; i < PAGES_PER_CHUNK; i++)
		block->pages[first + i] = page + i;
	block->chunks++;

	dma = dma_map_page(dev, page, 0, AGX_PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev, dma))
		return -ENOMEM;

	block->dma[block->mapped++] = dma;
	return IS_ALIGNED(dma, AGX_PAGE_SIZE) ? 0 : -EINVAL;
}

static void block_unmap_mmu(struct asahi_heap_block *block, u64 size)
{
	struct asahi_heap *heap = block->heap;

	if (size && !heap->unplugged)
		heap->mmu->unmap(heap->mmu_priv, block->va.start, size, heap->prot);
}

/* Maps runs of adjacent chunks with one call each. */
static int block_map_mmu(struct asahi_heap_block *block)
{
	struct asahi_heap *heap = block->heap;
	unsigned int first = 0, end;
	int err;

	while (first < block->mapped) {
		u64 va = block->va.start + first * AGX_PAGE_SIZE;

		end = first + 1;
		while (end < block->mapped &&
		       block->dma[end] == block->dma[end - 1] + AGX_PAGE_SIZE)
			end++;

		err = heap->mmu->map(heap->mmu_priv, va, block->dma[first],
				     (end - first) * AGX_PAGE_SIZE, heap->prot);
		if (err) {
			block_unmap_mmu(block, first * AGX_PAGE_SIZE);
			return err;
		}
		first = end;
	}

	return 0;
}

static int block_populate(struct asahi_heap_block *block, unsigned int chunks)
{
	int err;

	while (block->chunks < chunks) {
		err = block_add_chunk(block);
		if (err)
			goto err_free;
	}

	block->map = vmap(block->pages, chunks * PAGES_PER_CHUNK, VM_MAP, PAGE_KERNEL);
	if (!block->map) {
		err = -ENOMEM;
		goto err_free;
	}

	err = block_map_mmu(block);
	if (err)
		goto err_vunmap;

	return 0;

err_vunmap:
	vunmap(block->map);
err_free:
	block_free_pages(block);
	return err;
}

static struct asahi_heap_block *block_create(struct asahi_heap *heap, u64 size)
{
	unsigned int chunks = size / AGX_PAGE_SIZE;
	struct asahi_heap_block *block;
	int err;

	lockdep_assert_held(&heap->lock);

	block = kvzalloc_flex(*block, pages, chunks * PAGES_PER_CHUNK);
	if (!block)
		return ERR_PTR(-ENOMEM);

	block->heap = heap;
	block->size = size;
	block->dma = kvcalloc(chunks, sizeof(*block->dma), GFP_KERNEL);
	if (!block->dma) {
		err = -ENOMEM;
		goto err_block;
	}

	err = drm_mm_insert_node_generic(&heap->space, &block->va, size + AGX_PAGE_SIZE,
					 AGX_PAGE_SIZE, 0, DRM_MM_INSERT_BEST);
	if (err)
		goto err_dma;

	err = block_populate(block, chunks);
	if (err)
		goto err_va;

	drm_mm_init(&block->mm, block->va.start, size);
	list_add(&block->link, &heap->blocks);
	heap->size += size;
	asahi_count_inc(ASAHI_COUNT_HEAP_BLOCK);
	return block;

err_va:
	drm_mm_remove_node(&block->va);
err_dma:
	kvfree(block->dma);
err_block:
	kvfree(block);
	return ERR_PTR(err);
}

static void block_destroy(struct asahi_heap_block *block)
{
	struct asahi_heap *heap = block->heap;

	lockdep_assert_held(&heap->lock);

	block_unmap_mmu(block, block->size);
	heap->size -= block->size;
	list_del(&block->link);
	drm_mm_takedown(&block->mm);
	drm_mm_remove_node(&block->va);
	vunmap(block->map);
	block_free_pages(block);
	kvfree(block->dma);
	kvfree(block);
	asahi_count_dec(ASAHI_COUNT_HEAP_BLOCK);
}

/* Keeps one empty block, so that a client that comes and goes costs nothing. */
static void block_put(struct asahi_heap_block *block)
{
	struct asahi_heap *heap = block->heap;
	struct asahi_heap_block *other;

	lockdep_assert_held(&heap->lock);

	if (--block->nodes)
		return;

	list_for_each_entry(other, &heap->blocks, link) {
		if (other != block && !other->nodes) {
			block_destroy(other->size > block->size ? other : block);
			return;
		}
	}
}

/* Allocations. */

static void node_release(struct asahi_heap_node *node)
{
	struct asahi_heap_block *block = node->block;

	drm_mm_remove_node(&node->mm);
	kfree(node);
	asahi_count_dec(ASAHI_COUNT_HEAP_NODE);
	block_put(block);
}

static void collect_garbage(struct asahi_heap *heap)
{
	struct asahi_heap_node *node, *next;

	lockdep_assert_held(&heap->lock);

	list_for_each_entry_safe(node, next, &heap->garbage, garbage) {
		list_del(&node->garbage);
		node_release(node);
	}
	heap->garbage_nodes = 0;
	heap->garbage_bytes = 0;
}

static void maybe_flush(struct asahi_heap *heap)
{
	lockdep_assert_held(&heap->lock);

	if (heap->garbage_bytes < GARBAGE_MAX_BYTES && heap->garbage_nodes < GARBAGE_MAX_NODES)
		return;

	/* On failure the firmware is dead, and the garbage stays what it is. */
	if (!heap->mmu->flush(heap->mmu_priv))
		collect_garbage(heap);
}

static int node_place(struct asahi_heap *heap, struct asahi_heap_node *node, u64 size, u64 align)
{
	struct asahi_heap_block *block;
	u64 block_size;
	int err;

	lockdep_assert_held(&heap->lock);

	list_for_each_entry(block, &heap->blocks, link) {
		if (block->size < size)
			continue;

		err = drm_mm_insert_node_generic(&block->mm, &node->mm, size, align, 0,
						 DRM_MM_INSERT_BEST);
		if (!err)
			goto found;
	}

	/* Blocks start at a page; an alignment beyond that takes room. */
	block_size = size;
	if (align > AGX_PAGE_SIZE)
		block_size += align - AGX_PAGE_SIZE;
	block = block_create(heap, max_t(u64, ALIGN(block_size, AGX_PAGE_SIZE), HEAP_BLOCK_SIZE));
	if (IS_ERR(block))
		return PTR_ERR(block);

	err = drm_mm_insert_node_generic(&block->mm, &node->mm, size, align, 0,
					 DRM_MM_INSERT_BEST);
	if (WARN_ON_ONCE(err)) {
		block_destroy(block);
		return err;
	}

found:
	node->block = block;
	block->nodes++;
	return 0;
}

/**
 * asahi_heap_alloc() - allocate zeroed memory
 * @heap: heap
 * @size: bytes
 * @align: alignment of the address, a power of two; ASAHI_HEAP_ALIGN is the
 *	least that one gets
 * @buf: the allocation, undefined on error
 *
 * Process context, may sleep, may wait for the firmware; not on the way to a
 * fence.
 *
 * Return: 0, -EINVAL if @size is 0, -ENOMEM or -ENOSPC if there is not enough,
 * -ENODEV after unplug.
 */
int asahi_heap_alloc(struct asahi_heap *heap, size_t size, size_t align, struct asahi_fwbuf *buf)
{
	u64 rounded = ALIGN((u64)size, ASAHI_HEAP_ALIGN);
	struct asahi_heap_node *node;
	int err;

	if (!size || rounded < size)
		return -EINVAL;

	node = kzalloc_obj(*node);
	if (!node)
		return -ENOMEM;

	guard(mutex)(&heap->lock);

	if (heap->unplugged) {
		kfree(node);
		return -ENODEV;
	}

	if (heap->mmu->flush)
		maybe_flush(heap);

	err = node_place(heap, node, rounded, max_t(size_t, align, ASAHI_HEAP_ALIGN));
	if (err) {
		drm_dbg(&heap->adev->drm, "heap %s: no %#zx bytes: %d\n", heap->name, size, err);
		kfree(node);
		return err;
	}

	buf->va = node->mm.start;
	buf->map = node->block->map + (node->mm.start - node->block->va.start);
	buf->size = size;
	buf->node = node;
	memset(buf->map, 0, rounded);
	asahi_count_inc(ASAHI_COUNT_HEAP_NODE);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_alloc);

/**
 * asahi_heap_free() - free an allocation
 * @buf: allocation, or a zeroed structure; zeroed by this
 *
 * Neither GPU nor firmware may use it any more, though the firmware may still
 * have it in its cache. Process context, may sleep, may wait for the firmware;
 * not on the way to a fence.
 */
void asahi_heap_free(struct asahi_fwbuf *buf)
{
	struct asahi_heap_node *node = buf->node;
	struct asahi_heap *heap;

	if (!node)
		return;

	memset(buf, 0, sizeof(*buf));
	heap = node->block->heap;

	guard(mutex)(&heap->lock);

	if (!heap->mmu->flush || heap->unplugged) {
		node_release(node);
		return;
	}

	list_add_tail(&node->garbage, &heap->garbage);
	heap->garbage_nodes++;
	heap->garbage_bytes += node->mm.size;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_free);

/**
 * asahi_heap_size() - how much memory a heap holds
 * @heap: heap
 *
 * Process context, may sleep.
 *
 * Return: bytes, allocated or not.
 */
u64 asahi_heap_size(struct asahi_heap *heap)
{
	guard(mutex)(&heap->lock);
	return heap->size;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_size);

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

/**
 * asahi_heap_create() - make a heap
 * @adev: device
 * @name: for messages; must stay
 * @start: first address, page aligned
 * @end: end of the addresses, page aligned
 * @prot: who may do what
 * @mmu: how to map
 * @mmu_priv: passed to @mmu's functions
 *
 * Process context, may sleep. Takes no pages yet.
 *
 * Return: the heap, -ENODEV after unplug or -ENOMEM as an error pointer.
 */
struct asahi_heap *asahi_heap_create(struct asahi_device *adev, const char *name,
				     u64 start, u64 end, enum asahi_prot prot,
				     const struct asahi_heap_mmu *mmu, void *mmu_priv)
{
	struct asahi_heap *heap;

	heap = kzalloc_obj(*heap);
	if (!heap)
		return ERR_PTR(-ENOMEM);

	heap->adev = adev;
	heap->name = name;
	heap->prot = prot;
	heap->mmu = mmu;
	heap->mmu_priv = mmu_priv;
	mutex_init(&heap->lock);
	drm_mm_init(&heap->space, start, end - start);
	INIT_LIST_HEAD(&heap->blocks);
	INIT_LIST_HEAD(&heap->garbage);

	guard(mutex)(&adev->heaps.lock);
	if (adev->heaps.unplugged) {
		drm_mm_takedown(&heap->space);
		kfree(heap);
		return ERR_PTR(-ENODEV);
	}
	list_add_tail(&heap->link, &adev->heaps.heaps);
	return heap;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_create);

/**
 * asahi_heap_destroy() - free a heap with all its pages
 * @heap: heap, all allocations of which have been freed; or NULL
 *
 * Process context, may sleep, may wait for the firmware.
 */
void asahi_heap_destroy(struct asahi_heap *heap)
{
	struct asahi_heap_block *block, *next;

	if (!heap)
		return;

	scoped_guard(mutex, &heap->lock) {
		/* Nothing is reused: unmapping flushes what needs a flush. */
		collect_garbage(heap);
		list_for_each_entry_safe(block, next, &heap->blocks, link) {
			if (WARN_ON_ONCE(block->nodes))
				return;
			block_destroy(block);
		}
	}

	/* Not before: unplugging waits for what it still finds on the list. */
	scoped_guard(mutex, &heap->adev->heaps.lock)
		list_del(&heap->link);

	drm_mm_takedown(&heap->space);
	mutex_destroy(&heap->lock);
	kfree(heap);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_destroy);

/**
 * asahi_heap_list_init() - prepare the list of a device's heaps
 * @list: list
 */
void asahi_heap_list_init(struct asahi_heap_list *list)
{
	mutex_init(&list->lock);
	INIT_LIST_HEAD(&list->heaps);
	list->unplugged = false;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_list_init);

/**
 * asahi_heap_list_unplug() - remove all DMA mappings
 * @list: list
 *
 * Nobody but the kernel may access the memory any more. Allocations stay, and
 * are freed as ever; new ones and new heaps fail. Process context, may sleep.
 */
void asahi_heap_list_unplug(struct asahi_heap_list *list)
{
	struct asahi_heap_block *block;
	struct asahi_heap *heap;

	guard(mutex)(&list->lock);

	list->unplugged = true;
	list_for_each_entry(heap, &list->heaps, link) {
		guard(mutex)(&heap->lock);

		heap->unplugged = true;
		collect_garbage(heap);
		list_for_each_entry(block, &heap->blocks, link)
			block_unmap_dma(block);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_list_unplug);

/* The heaps in the kernel half. */

static int kernel_map(void *priv, u64 va, dma_addr_t pa, u64 size, enum asahi_prot prot)
{
	return asahi_uat_kmap(priv, va, pa, size, prot);
}

static void kernel_unmap(void *priv, u64 va, u64 size, enum asahi_prot prot)
{
	asahi_uat_kunmap(priv, va, size, prot);
}

static int kernel_flush(void *priv)
{
	return asahi_channel_flush_cache(priv);
}

const struct asahi_heap_mmu asahi_heap_kernel_mmu = {
	.map = kernel_map,
	.unmap = kernel_unmap,
};

const struct asahi_heap_mmu asahi_heap_kernel_cached_mmu = {
	.map = kernel_map,
	.unmap = kernel_unmap,
	.flush = kernel_flush,
};

static const struct {
	const char *name;
	u64 start;
	u64 end;
	enum asahi_prot prot;
} kernel_heaps[ASAHI_HEAP_COUNT] = {
	[ASAHI_HEAP_PRIVATE] = {
		"private", AGX_VA_PRIVATE_START, AGX_VA_PRIVATE_END, ASAHI_PROT_FW_PRIV_RW,
	},
	[ASAHI_HEAP_GPU_RO] = {
		"gpu-ro", AGX_VA_GPU_RO_START, AGX_VA_GPU_RO_END, ASAHI_PROT_GPU_RO_FW_PRIV_RW,
	},
	[ASAHI_HEAP_SHARED] = {
		"shared", AGX_VA_SHARED_START, AGX_VA_SHARED_END, ASAHI_PROT_FW_SHARED_RW,
	},
	[ASAHI_HEAP_SHARED_RO] = {
		"shared-ro", AGX_VA_SHARED_RO_START, AGX_VA_SHARED_RO_END,
		ASAHI_PROT_FW_SHARED_RO,
	},
	[ASAHI_HEAP_GPU_SHARED] = {
		"gpu-shared", AGX_VA_GPU_SHARED_START, AGX_VA_GPU_SHARED_END,
		ASAHI_PROT_GPU_FW_SHARED_RW,
	},
};

/**
 * asahi_heaps_init() - make the heaps of the kernel half
 * @adev: device
 *
 * Process context, probe only. asahi_heaps_fini() is to be called also after
 * an error.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_heaps_init(struct asahi_device *adev)
{
	unsigned int i;

	for (i = 0; i < ASAHI_HEAP_COUNT; i++) {
		bool cached = asahi_prot_is_cached(kernel_heaps[i].prot);
		struct asahi_heap *heap;

		heap = asahi_heap_create(adev, kernel_heaps[i].name, kernel_heaps[i].start,
					 kernel_heaps[i].end, kernel_heaps[i].prot,
					 cached ? &asahi_heap_kernel_cached_mmu :
						  &asahi_heap_kernel_mmu, adev);
		if (IS_ERR(heap))
			return PTR_ERR(heap);
		adev->heap[i] = heap;
	}

	return 0;
}

/**
 * asahi_heaps_unplug() - give up all DMA mappings, those of VM heaps too
 * @adev: device; GPU and firmware cannot access memory any more
 *
 * Process context, remove and failed probe only.
 */
void asahi_heaps_unplug(struct asahi_device *adev)
{
	asahi_heap_list_unplug(&adev->heaps);
}

/**
 * asahi_heaps_fini() - free the heaps of the kernel half
 * @adev: device; all allocations have been freed
 *
 * Process context.
 */
void asahi_heaps_fini(struct asahi_device *adev)
{
	unsigned int i;

	for (i = 0; i < ASAHI_HEAP_COUNT; i++) {
		asahi_heap_destroy(adev->heap[i]);
		adev->heap[i] = NULL;
	}
}
