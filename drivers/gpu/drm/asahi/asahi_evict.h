/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Taking the memory of a buffer object away, and getting it back.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_EVICT_H
#define ASAHI_EVICT_H

#include <linux/types.h>

struct drm_exec;
struct drm_gem_object;
struct drm_gpuvm_bo;
struct ww_acquire_ctx;

bool asahi_evict_object(struct drm_gem_object *obj, struct ww_acquire_ctx *ticket);
int asahi_evict_restore(struct drm_gpuvm_bo *vm_bo, struct drm_exec *exec);

#endif
