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

struct asahi_aspace;
struct asahi_device;
struct asahi_file;
struct asahi_heap;
struct asahi_slot_client;
struct asahi_vm;
struct dma_fence;
struct drm_asahi_gem_bind_op;
struct drm_asahi_vm_bind;
struct drm_exec;
struct drm_gem_object;
struct drm_printer;

/* Most binds that one DRM_IOCTL_ASAHI_VM_BIND takes. */
#define ASAHI_VM_MAX_BINDS		65536
/* Longest form of a bind that is taken. */
#define ASAHI_VM_MAX_BIND_STRIDE	4096

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
 * struct asahi_vm_memory - what the kernel holds for a client's address spaces
 * @tables: bytes in page tables
 * @heaps: bytes in heaps, for the GPU's and the firmware's use
 * @used: how many of those are allocated at the moment
 */
struct asahi_vm_memory {
	u64 tables;
	u64 heaps;
	u64 used;
};

int asahi_vm_create(struct asahi_file *afile, u64 kernel_start, u64 kernel_end,
		    u32 *id);
int asahi_vm_destroy(struct asahi_file *afile, u32 id);
void asahi_vm_file_close(struct asahi_file *afile);
int asahi_vm_bind(struct asahi_file *afile, const struct drm_asahi_vm_bind *args);
int asahi_vm_bind_check(const struct drm_asahi_gem_bind_op *op, u64 kernel_start,
			u64 kernel_end);
struct asahi_vm *asahi_vm_lookup(struct asahi_file *afile, u32 id);
struct asahi_vm *asahi_vm_get(struct asahi_vm *vm);
void asahi_vm_put(struct asahi_vm *vm);
struct asahi_aspace *asahi_vm_aspace(struct asahi_vm *vm);
struct asahi_slot_client *asahi_vm_slot_client(struct asahi_vm *vm);
struct asahi_heap *asahi_vm_heap_gpu(struct asahi_vm *vm);
struct asahi_heap *asahi_vm_heap_priv(struct asahi_vm *vm);
int asahi_vm_prepare_submit(struct asahi_vm *vm, struct drm_exec *exec,
			    unsigned int num_fences);
void asahi_vm_add_fence(struct asahi_vm *vm, struct drm_exec *exec,
			struct dma_fence *fence);
void asahi_vm_close_object(u64 owner, struct drm_gem_object *obj);
struct drm_gem_object *asahi_vm_resv_obj(struct asahi_vm *vm);
void asahi_vm_memory(struct asahi_file *afile, struct asahi_vm_memory *memory);
void asahi_vm_debugfs_init(struct asahi_device *adev);
void asahi_vm_print(struct asahi_vm *vm, struct drm_printer *p);
void asahi_vm_print_walk(struct asahi_vm *vm, u64 addr, struct drm_printer *p);
size_t asahi_vm_read(struct asahi_vm *vm, u64 addr, void *buf, size_t len);

#endif
