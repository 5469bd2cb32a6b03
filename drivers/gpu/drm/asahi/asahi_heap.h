/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Memory that the firmware sees: small allocations with owners.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_HEAP_H
#define ASAHI_HEAP_H

#include <linux/types.h>

#include "asahi_pgtable.h"

struct asahi_block;
struct asahi_device;
struct asahi_heap;
struct asahi_heap_node;
struct asahi_heaps;
struct asahi_rest;

/**
 * enum asahi_heap_id - heaps in the kernel half
 * @ASAHI_HEAP_PRIVATE: cached by the firmware, not visible to the GPU
 * @ASAHI_HEAP_GPU_RO: cached by the firmware, readable by the GPU
 * @ASAHI_HEAP_SHARED: coherent
 * @ASAHI_HEAP_SHARED_RO: coherent, read-only for the firmware
 * @ASAHI_HEAP_GPU_SHARED: coherent, for firmware and GPU
 * @ASAHI_HEAP_COUNT: number of heaps
 */
enum asahi_heap_id {
	ASAHI_HEAP_PRIVATE,
	ASAHI_HEAP_GPU_RO,
	ASAHI_HEAP_SHARED,
	ASAHI_HEAP_SHARED_RO,
	ASAHI_HEAP_GPU_SHARED,
	ASAHI_HEAP_COUNT,
};

/** ASAHI_HEAP_ALIGN - alignment of every allocation at least, in bytes */
#define ASAHI_HEAP_ALIGN 0x80

/**
 * struct asahi_heap_mmu - how a heap reaches an address space
 *
 * Addresses and sizes are multiples of the GPU's page size. The functions run
 * in process context, without the lock that allocations take, and may sleep.
 */
struct asahi_heap_mmu {
	/**
	 * @map: make @size bytes from @pa visible at @va; 0 or a negative
	 * error, which leaves nothing mapped.
	 */
	int (*map)(void *priv, u64 va, dma_addr_t pa, u64 size, enum asahi_prot prot);
	/** @protect: change the protection of what is mapped */
	void (*protect)(void *priv, u64 va, u64 size, enum asahi_prot prot);
	/**
	 * @unmap: undo one or several adjacent map() calls. Afterwards neither
	 * GPU nor firmware finds the memory any more. 0; a negative error if the
	 * firmware may still write back what it has cached of it, so that nobody
	 * else may get it.
	 */
	int (*unmap)(void *priv, u64 va, u64 size, enum asahi_prot prot);
};

/* For heaps in a struct asahi_aspace, which is their private data. */
extern const struct asahi_heap_mmu asahi_heap_mmu_aspace;

/**
 * struct asahi_heap_args - what a heap is like
 * @name: for messages; must stay
 * @start: first address, page aligned
 * @end: end of the addresses, page aligned
 * @prot: who may do what
 * @mmu: how to map
 * @mmu_priv: passed to @mmu's functions
 * @block_min: bytes that the heap grows by at least, once it has something
 * @keep: bytes that an idle heap need not give back
 */
struct asahi_heap_args {
	const char *name;
	u64 start;
	u64 end;
	enum asahi_prot prot;
	const struct asahi_heap_mmu *mmu;
	void *mmu_priv;
	u64 block_min;
	u64 keep;
};

/**
 * struct asahi_fwbuf - one allocation
 * @map: where the kernel sees it; zeroed on allocation
 * @va: where firmware (and GPU) see it
 * @size: bytes, as asked for
 * @node: the heap's own record; NULL if this is no live allocation
 *
 * Owned by whoever allocated it; a zeroed structure is a valid "nothing", and
 * freeing that is a no-op. May be moved and copied, but is to be freed once.
 */
struct asahi_fwbuf {
	void *map;
	u64 va;
	size_t size;
	struct asahi_heap_node *node;
};

struct asahi_heap *asahi_heap_create(struct asahi_heaps *heaps, const struct asahi_heap_args *args);
struct asahi_heap *asahi_heap_create_kernel(struct asahi_device *adev, const char *name,
					    u64 start, u64 end, enum asahi_prot prot);
void asahi_heap_destroy(struct asahi_heap *heap);
int asahi_heap_alloc(struct asahi_heap *heap, size_t size, size_t align,
		     struct asahi_fwbuf *buf);
void asahi_heap_free(struct asahi_fwbuf *buf);
u64 asahi_heap_size(struct asahi_heap *heap);
u64 asahi_heap_used(struct asahi_heap *heap);
dma_addr_t asahi_heap_dma_addr(const struct asahi_fwbuf *buf);

struct asahi_heaps *asahi_heaps_create(struct asahi_device *adev,
				       int (*flush)(struct asahi_device *adev));
int asahi_heaps_run(struct asahi_heaps *heaps);
int asahi_heaps_quiesce(struct asahi_heaps *heaps);
void asahi_heaps_resume(struct asahi_heaps *heaps);
void asahi_heaps_forget_cache(struct asahi_heaps *heaps);
void asahi_heaps_reclaim(struct asahi_heaps *heaps);
u64 asahi_heaps_garbage(const struct asahi_heaps *heaps);
bool asahi_heaps_are_reclaiming(struct asahi_heaps *heaps);
unsigned long asahi_heaps_freed(const struct asahi_heaps *heaps);
void asahi_heaps_unplug(struct asahi_heaps *heaps);
void asahi_heaps_destroy(struct asahi_heaps *heaps);
void asahi_heaps_at_rest(struct asahi_heaps *heaps, struct asahi_rest *rest);

/* The heaps of the kernel half; unplug gives up the DMA mappings of VM heaps too. */
extern const struct asahi_block asahi_block_heap;

#endif
