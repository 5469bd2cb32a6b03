/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Binds: what a GPU address space maps.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_VM_BIND_H
#define ASAHI_VM_BIND_H

#include <linux/types.h>

struct asahi_file;
struct asahi_vm;
struct drm_asahi_gem_bind_op;
struct drm_asahi_vm_bind;
struct drm_gem_object;
struct drm_gpuvm_ops;

/* Most binds that one DRM_IOCTL_ASAHI_VM_BIND takes. */
#define ASAHI_VM_MAX_BINDS		65536
/* Longest form of a bind that is taken. */
#define ASAHI_VM_MAX_BIND_STRIDE	4096

extern const struct drm_gpuvm_ops asahi_vm_ops;

int asahi_vm_bind(struct asahi_file *afile, const struct drm_asahi_vm_bind *args);
int asahi_vm_bind_check(const struct drm_asahi_gem_bind_op *op, u64 kernel_start,
			u64 kernel_end);
void asahi_vm_close_object(u64 owner, struct drm_gem_object *obj);
void asahi_vm_unmap_all(struct asahi_vm *vm);

#endif
