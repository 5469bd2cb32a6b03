// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GPU address spaces: the structures of mappings.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <kunit/visibility.h>

#include "asahi_vm_priv.h"

/* Structures that are taken from the slab, or given back to it, in one go. */
#define ASAHI_VMA_BULK		32

static struct kmem_cache *asahi_vma_cache;

/**
 * asahi_vma_module_init() - make the slab
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_vma_module_init(void)
{
	asahi_vma_cache = KMEM_CACHE(asahi_vma, SLAB_ACCOUNT);
	return asahi_vma_cache ? 0 : -ENOMEM;
}

/**
 * asahi_vma_module_exit() - undo asahi_vma_module_init()
 *
 * All structures have been freed.
 */
void asahi_vma_module_exit(void)
{
	kmem_cache_destroy(asahi_vma_cache);
}

/**
 * asahi_vma_alloc() - get structures for mappings
 * @list: where they go, by &drm_gpuva.gem; holds what there was before an error, too
 * @count: how many
 *
 * They are zeroed, and charged to the cgroup of the task. Process context, may sleep.
 *
 * Return: 0; -ENOMEM; -EINTR when the task is killed.
 */
int asahi_vma_alloc(struct list_head *list, unsigned int count)
{
	void *bulk[ASAHI_VMA_BULK];
	unsigned int n, i;

	for (; count; count -= n) {
		n = min(count, ASAHI_VMA_BULK);
		if (!kmem_cache_alloc_bulk(asahi_vma_cache, GFP_KERNEL_ACCOUNT | __GFP_ZERO,
					   n, bulk))
			return -ENOMEM;

		for (i = 0; i < n; i++)
			asahi_vma_put(list, bulk[i]);

		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}

	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vma_alloc);

/**
 * asahi_vma_free_list() - free structures of no mapping
 * @list: the structures; empty afterwards
 *
 * Process context.
 */
void asahi_vma_free_list(struct list_head *list)
{
	void *bulk[ASAHI_VMA_BULK];
	unsigned int n = 0;

	while (!list_empty(list)) {
		bulk[n++] = asahi_vma_take(list);
		if (n < ASAHI_VMA_BULK && !list_empty(list))
			continue;

		kmem_cache_free_bulk(asahi_vma_cache, n, bulk);
		n = 0;
		cond_resched();
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vma_free_list);

/**
 * asahi_vma_free() - free the structure of a mapping that is gone
 * @vma: the structure
 *
 * Any context.
 */
void asahi_vma_free(struct asahi_vma *vma)
{
	kmem_cache_free(asahi_vma_cache, vma);
}
