/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Memory that the firmware sees: small allocations with owners.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_HEAP_H
#define ASAHI_HEAP_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "asahi_pgtable.h"

struct asahi_device;
struct asahi_heap;
struct asahi_heap_node;

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
 * in process context under the heap's lock and may sleep.
 */
struct asahi_heap_mmu {
	/**
	 * @map: make @size bytes from @pa visible at @va; 0 or a negative
	 * error, which leaves nothing mapped.
	 */
	int (*map)(void *priv, u64 va, dma_addr_t pa, u64 size, enum asahi_prot prot);
	/**
	 * @unmap: undo one or several adjacent map() calls; when it returns,
	 * neither GPU nor firmware accesses that memory any more.
	 */
	void (*unmap)(void *priv, u64 va, u64 size, enum asahi_prot prot);
	/**
	 * @flush: make the firmware write back and forget all that it has
	 * cached of such memory; 0 or a negative error. NULL if the heap is
	 * not cached by the firmware: then freed memory is reused at once,
	 * otherwise only after a flush.
	 */
	int (*flush)(void *priv);
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

/**
 * struct asahi_heap_list - all heaps of a device
 * @heaps: the heaps
 * @unplugged: no memory is mapped any more
 */
struct asahi_heap_list {
	/** @lock: protects @heaps and @unplugged; taken before a heap's own lock */
	struct mutex lock;
	struct list_head heaps;
	bool unplugged;
};

/* What the device's own heaps reach the kernel half by; the private data is the device. */
extern const struct asahi_heap_mmu asahi_heap_kernel_mmu;
extern const struct asahi_heap_mmu asahi_heap_kernel_cached_mmu;

struct asahi_heap *asahi_heap_create(struct asahi_device *adev, const char *name,
				     u64 start, u64 end, enum asahi_prot prot,
				     const struct asahi_heap_mmu *mmu, void *mmu_priv);
void asahi_heap_destroy(struct asahi_heap *heap);
int asahi_heap_alloc(struct asahi_heap *heap, size_t size, size_t align,
		     struct asahi_fwbuf *buf);
void asahi_heap_free(struct asahi_fwbuf *buf);
u64 asahi_heap_size(struct asahi_heap *heap);
dma_addr_t asahi_heap_dma_addr(const struct asahi_fwbuf *buf);

void asahi_heap_list_init(struct asahi_heap_list *list);
void asahi_heap_list_unplug(struct asahi_heap_list *list);

int asahi_heaps_init(struct asahi_device *adev);
void asahi_heaps_unplug(struct asahi_device *adev);
void asahi_heaps_fini(struct asahi_device *adev);

#endif
