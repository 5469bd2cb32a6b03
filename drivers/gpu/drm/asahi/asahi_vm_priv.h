/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * GPU address spaces: what their lifetime and their binds share.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_VM_PRIV_H
#define ASAHI_VM_PRIV_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include <drm/drm_gpuvm.h>

#include "asahi_aspace.h"
#include "asahi_heap.h"
#include "asahi_reclaim.h"
#include "asahi_slot.h"
#include "asahi_vm.h"

struct asahi_file;
struct drm_gem_object;

/**
 * struct asahi_vm - A GPU address space
 *
 * None of its locks is taken where a job is run or completed.
 */
struct asahi_vm {
	/**
	 * @base: its mappings. Referenced by every mapping, so that only
	 * asahi_vm_put() can end it; afterwards it merely keeps this memory as
	 * long as somebody looks at an object's list of address spaces.
	 */
	struct drm_gpuvm base;
	/** @users: references that keep the mappings */
	struct kref users;
	/** @adev: device */
	struct asahi_device *adev;
	/** @owner: client ID of the file that made it */
	u64 owner;
	/** @kernel_start: start of the range that the kernel uses */
	u64 kernel_start;
	/** @kernel_end: end of that range, exclusive */
	u64 kernel_end;
	/**
	 * @lock: serialises binds, protects @base and the mappings of its
	 * objects. Held across allocations; outside of reservation locks.
	 */
	struct mutex lock;
	/**
	 * @as: page tables and hardware context. Its lock is inside of @lock; changes of
	 * mappings are under both, as eviction has that one only.
	 */
	struct asahi_aspace as;
	/** @link: in the device's list, from creation to the last of @users */
	struct list_head link;
	/** @reclaim: objects that are mapped nowhere else */
	struct asahi_reclaim_vm reclaim;
	/** @dumps: core dumps that are going to read the mappings */
	atomic_t dumps;
	/** @dumped: wakes up when @dumps becomes 0 */
	wait_queue_head_t dumped;
	/** @slot: claim on a hardware context */
	struct asahi_slot_client slot;
	/** @heap_gpu: kernel memory that the GPU sees */
	struct asahi_heap *heap_gpu;
	/** @heap_priv: kernel memory that GPU and firmware see */
	struct asahi_heap *heap_priv;
	/** @dummy: a page of zeroes that is mapped at a fixed address */
	struct asahi_fwbuf dummy;
};

/**
 * struct asahi_vma - One mapping of an object
 * @base: addresses and object
 * @prot: protection
 * @single: one page of the object repeats
 */
struct asahi_vma {
	struct drm_gpuva base;
	enum asahi_prot prot;
	bool single;
};

static inline struct asahi_vm *to_asahi_vm(struct drm_gpuvm *gpuvm)
{
	return container_of(gpuvm, struct asahi_vm, base);
}

static inline struct asahi_vma *to_asahi_vma(struct drm_gpuva *va)
{
	return container_of(va, struct asahi_vma, base);
}

/**
 * asahi_vma_put() - put the structure of no mapping into a list
 * @list: list of such
 * @vma: structure
 */
static inline void asahi_vma_put(struct list_head *list, struct asahi_vma *vma)
{
	list_add(&vma->base.gem.entry, list);
}

/**
 * asahi_vma_take() - take a structure out of a list
 * @list: list of structures of no mapping, not empty
 *
 * Return: the structure; what is in it is undefined.
 */
static inline struct asahi_vma *asahi_vma_take(struct list_head *list)
{
	struct drm_gpuva *va = list_first_entry(list, struct drm_gpuva, gem.entry);

	list_del(&va->gem.entry);
	return to_asahi_vma(va);
}

int asahi_vma_alloc(struct list_head *list, unsigned int count);
void asahi_vma_free_list(struct list_head *list);
void asahi_vma_free(struct asahi_vma *vma);

void asahi_vm_free(struct drm_gpuvm *gpuvm);

#if IS_ENABLED(CONFIG_KUNIT)
struct asahi_vm *asahi_vm_alloc(struct asahi_file *afile, u64 kernel_start, u64 kernel_end);
#endif

#endif
