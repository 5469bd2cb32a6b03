/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * GPU address spaces.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_VM_H
#define ASAHI_VM_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include <drm/drm_exec.h>

struct asahi_aspace;
struct asahi_device;
struct asahi_file;
struct asahi_heap;
struct asahi_slot_client;
struct asahi_vm;
struct dma_fence;
struct drm_gem_object;

/**
 * struct asahi_vm_list - all address spaces of a device
 * @live: those with users
 */
struct asahi_vm_list {
	/** @lock: protects @live, and keeps those in it from being released */
	struct mutex lock;
	struct list_head live;
};

/**
 * struct asahi_vm_lock - what locks the reservations of an address space's objects
 * @alone: there is only the one of its private objects
 * @exec: otherwise, all of them
 */
struct asahi_vm_lock {
	bool alone;
	struct drm_exec exec;
};

int asahi_vm_create(struct asahi_file *afile, u64 kernel_start, u64 kernel_end,
		    u32 *id);
int asahi_vm_destroy(struct asahi_file *afile, u32 id);
void asahi_vm_file_close(struct asahi_file *afile);
struct asahi_vm *asahi_vm_lookup(struct asahi_file *afile, u32 id);
struct asahi_vm *asahi_vm_get(struct asahi_vm *vm);
void asahi_vm_put(struct asahi_vm *vm);
struct asahi_aspace *asahi_vm_aspace(struct asahi_vm *vm);
struct asahi_slot_client *asahi_vm_slot_client(struct asahi_vm *vm);
struct asahi_heap *asahi_vm_heap_gpu(struct asahi_vm *vm);
struct asahi_heap *asahi_vm_heap_priv(struct asahi_vm *vm);
int asahi_vm_lock_submit(struct asahi_vm *vm, struct asahi_vm_lock *lock);
void asahi_vm_unlock_submit(struct asahi_vm *vm, struct asahi_vm_lock *lock);
void asahi_vm_add_fence(struct asahi_vm *vm, struct asahi_vm_lock *lock,
			struct dma_fence *fence);
struct drm_gem_object *asahi_vm_resv_obj(struct asahi_vm *vm);
void asahi_vm_begin_dump(struct asahi_vm *vm);
void asahi_vm_end_dump(struct asahi_vm *vm);
void asahi_vm_wait_dump(struct asahi_vm *vm);
int asahi_vma_module_init(void);
void asahi_vma_module_exit(void);

#endif
