// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Lists of buffer objects that may lose their memory.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/dma-resv.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>

#include <kunit/visibility.h>

#include <drm/drm_gem.h>
#include <drm/drm_gpuvm.h>
#include <drm/drm_print.h>

#include "asahi_device.h"
#include "asahi_gem_priv.h"
#include "asahi_lru.h"
#include "asahi_reclaim.h"
#include "asahi_vm_priv.h"

static bool asahi_lru_is_vm(const struct asahi_reclaim *reclaim, const struct drm_gem_lru *lru)
{
	return lru && lru != &reclaim->unbound && lru != &reclaim->shared;
}

/* The list that it goes to is of an address space that is not released yet. */
static void asahi_lru_move(struct asahi_device *adev, struct drm_gem_object *obj,
			   struct drm_gem_lru *from, struct drm_gem_lru *to)
{
	struct asahi_reclaim *reclaim = &adev->reclaim;
	unsigned long pages = obj->size >> PAGE_SHIFT;
	struct asahi_reclaim_vm *vm;

	if (asahi_lru_is_vm(reclaim, from))
		atomic_long_sub(pages, &reclaim->mapped);

	if (!to) {
		drm_gem_lru_remove(obj);
		return;
	}

	guard(mutex)(&adev->drm.gem_lru_mutex);

	if (asahi_lru_is_vm(reclaim, to)) {
		atomic_long_add(pages, &reclaim->mapped);
		vm = container_of(to, struct asahi_reclaim_vm, lru);
		if (list_empty(&vm->link))
			list_add_tail(&vm->link, &reclaim->vms);
	}
	drm_gem_lru_move_tail_locked(to, obj);
}

/* The list that an object belongs to, or NULL if its memory has to stay or is not there. */
static struct drm_gem_lru *asahi_lru_find(struct asahi_gem *gem)
{
	struct asahi_reclaim *reclaim = &to_asahi_device(gem->base.dev)->reclaim;
	struct drm_gem_lru *lru = &reclaim->unbound;
	struct drm_gpuvm_bo *vm_bo;

	if (!gem->pages || gem->pins)
		return NULL;

	drm_gem_for_each_gpuvm_bo(vm_bo, &gem->base) {
		if (vm_bo->evicted)
			continue;
		if (lru != &reclaim->unbound)
			return &reclaim->shared;
		lru = &to_asahi_vm(vm_bo->vm)->reclaim.lru;
	}

	return lru;
}

/**
 * asahi_lru_place_listed() - put an object into the list that it belongs to
 * @gem: own object, whose reservation and whose list of mappings are locked
 *
 * As asahi_lru_place_locked(). Process context, also from reclaim.
 */
void asahi_lru_place_listed(struct asahi_gem *gem)
{
	struct drm_gem_lru *lru;

	dma_resv_assert_held(gem->base.resv);
	lockdep_assert_held(&gem->base.gpuva.lock);

	lru = asahi_lru_find(gem);
	if (lru == gem->lru)
		return;

	asahi_lru_move(to_asahi_device(gem->base.dev), &gem->base, gem->lru, lru);
	gem->lru = lru;
}

/**
 * asahi_lru_place_locked() - put an object into the list that it belongs to
 * @gem: own object, whose reservation is locked
 *
 * To be called when it gets or loses memory, pins, or address spaces. Process context.
 */
void asahi_lru_place_locked(struct asahi_gem *gem)
{
	guard(mutex)(&gem->base.gpuva.lock);
	asahi_lru_place_listed(gem);
}

/**
 * asahi_lru_place() - put an object into the list that it belongs to
 * @obj: object
 *
 * As asahi_lru_place_locked(), but locks the reservation. Imported objects are in none.
 */
void asahi_lru_place(struct drm_gem_object *obj)
{
	if (drm_gem_is_imported(obj))
		return;

	dma_resv_lock(obj->resv, NULL);
	asahi_lru_place_locked(to_asahi_gem(obj));
	dma_resv_unlock(obj->resv);
}

/**
 * asahi_lru_init() - before there are objects
 * @adev: device
 */
void asahi_lru_init(struct asahi_device *adev)
{
	struct asahi_reclaim *reclaim = &adev->reclaim;

	drm_gem_lru_init(&reclaim->unbound);
	drm_gem_lru_init(&reclaim->shared);
	INIT_LIST_HEAD(&reclaim->vms);
}

/**
 * asahi_lru_init_vm() - an address space is made
 * @vm: its part
 */
void asahi_lru_init_vm(struct asahi_reclaim_vm *vm)
{
	drm_gem_lru_init(&vm->lru);
	INIT_LIST_HEAD(&vm->link);
	vm->used = jiffies;
}

/**
 * asahi_lru_fini_vm() - an address space is released
 * @adev: device
 * @vm: its part, without objects
 *
 * Process context.
 */
void asahi_lru_fini_vm(struct asahi_device *adev, struct asahi_reclaim_vm *vm)
{
	guard(mutex)(&adev->drm.gem_lru_mutex);

	drm_WARN_ON(&adev->drm, vm->lru.count);
	list_del_init(&vm->link);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_lru_fini_vm);
