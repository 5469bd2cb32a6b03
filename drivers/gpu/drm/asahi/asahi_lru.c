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
#include <linux/list_lru.h>
#include <linux/lockdep.h>
#include <linux/shrinker.h>
#include <linux/slab.h>

#include <kunit/visibility.h>

#include <drm/drm_gem.h>
#include <drm/drm_gpuvm.h>
#include <drm/drm_print.h>

#include "asahi_device.h"
#include "asahi_gem_priv.h"
#include "asahi_lru.h"
#include "asahi_reclaim.h"
#include "asahi_vm_priv.h"

/**
 * DOC: Lists, and memory cgroups
 *
 * Objects that are mapped in one address space are in a list of its own. All address spaces
 * are in a list of the device, and so are the objects that are mapped in none, or in several.
 * These two lists of the device are divided by memory cgroups.
 *
 * **An address space belongs to the cgroup of its creator**, and so does an object in the
 * other list. The kernel knows that cgroup by the slab object that the address space or the
 * object is, since the slabs are accounted. So nothing here holds a reference to a cgroup: one
 * that goes away hands its slab objects to its parent, and the parts of these lists, too.
 *
 * Adding the first of something to the part of a cgroup is what makes the kernel call the
 * shrinker for that cgroup. Without memory cgroups, and where they do not account slabs
 * (``cgroup.memory=nokmem``), all parts are one.
 *
 * **Locks.** The lists of address spaces are under &drm_device.gem_lru_mutex. Those of the
 * device have spinlocks of their own, inside of it.
 */

static struct kmem_cache *asahi_lru_vms;
static struct kmem_cache *asahi_lru_gems;

/**
 * asahi_lru_module_init() - make the slabs
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_lru_module_init(void)
{
	asahi_lru_vms = KMEM_CACHE(asahi_vm, SLAB_ACCOUNT);
	asahi_lru_gems = KMEM_CACHE(asahi_gem, SLAB_ACCOUNT);
	if (asahi_lru_vms && asahi_lru_gems)
		return 0;

	asahi_lru_module_exit();
	return -ENOMEM;
}

/**
 * asahi_lru_module_exit() - undo asahi_lru_module_init()
 *
 * All address spaces and objects have been freed.
 */
void asahi_lru_module_exit(void)
{
	kmem_cache_destroy(asahi_lru_gems);
	kmem_cache_destroy(asahi_lru_vms);
}

/**
 * asahi_lru_init() - before there are objects
 * @adev: device
 *
 * Makes the shrinker, too, as its number is that of the lists. Process context.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_lru_init(struct asahi_device *adev)
{
	struct asahi_reclaim *reclaim = &adev->reclaim;

	reclaim->shrinker = shrinker_alloc(SHRINKER_MEMCG_AWARE, "drm-asahi:%s",
					   dev_name(adev->drm.dev));
	if (!reclaim->shrinker)
		return -ENOMEM;

	if (!list_lru_init_memcg(&reclaim->vms, reclaim->shrinker) &&
	    !list_lru_init_memcg(&reclaim->loose, reclaim->shrinker))
		return 0;

	asahi_lru_fini(adev);
	return -ENOMEM;
}

/**
 * asahi_lru_fini() - undo asahi_lru_init()
 * @adev: device; all its address spaces and objects are gone
 *
 * Process context.
 */
void asahi_lru_fini(struct asahi_device *adev)
{
	struct asahi_reclaim *reclaim = &adev->reclaim;

	list_lru_destroy(&reclaim->loose);
	list_lru_destroy(&reclaim->vms);
	shrinker_free(reclaim->shrinker);
	reclaim->shrinker = NULL;
}

/**
 * asahi_lru_alloc_vm() - get memory for an address space
 * @adev: device
 *
 * It is zeroed, and charged to the cgroup that the address space belongs to: that of the task.
 * Process context.
 *
 * Return: the memory or NULL.
 */
struct asahi_vm *asahi_lru_alloc_vm(struct asahi_device *adev)
{
	return kmem_cache_alloc_lru(asahi_lru_vms, &adev->reclaim.vms, GFP_KERNEL | __GFP_ZERO);
}

/**
 * asahi_lru_free_vm() - undo asahi_lru_alloc_vm()
 * @vm: address space that is in no list
 *
 * Any context.
 */
void asahi_lru_free_vm(struct asahi_vm *vm)
{
	kmem_cache_free(asahi_lru_vms, vm);
}

/**
 * asahi_lru_alloc_gem() - get memory for the structure of an object
 * @adev: device
 *
 * It is zeroed, and charged to the cgroup that the object belongs to: that of the task.
 * Process context.
 *
 * Return: the memory or NULL.
 */
struct asahi_gem *asahi_lru_alloc_gem(struct asahi_device *adev)
{
	struct asahi_gem *gem;

	gem = kmem_cache_alloc_lru(asahi_lru_gems, &adev->reclaim.loose, GFP_KERNEL | __GFP_ZERO);
	if (gem)
		INIT_LIST_HEAD(&gem->loose);
	return gem;
}

/**
 * asahi_lru_free_gem() - undo asahi_lru_alloc_gem()
 * @gem: object that is in no list
 *
 * Any context.
 */
void asahi_lru_free_gem(struct asahi_gem *gem)
{
	kmem_cache_free(asahi_lru_gems, gem);
}

static bool asahi_lru_is_loose(enum asahi_gem_place place)
{
	return place == ASAHI_GEM_UNBOUND || place == ASAHI_GEM_SHARED;
}

/* Where an object belongs, and in the list of which address space, if any. */
static enum asahi_gem_place asahi_lru_find(struct asahi_gem *gem, struct drm_gem_lru **lru)
{
	enum asahi_gem_place place = ASAHI_GEM_UNBOUND;
	struct drm_gpuvm_bo *vm_bo;

	*lru = NULL;
	if (!gem->pages || gem->pins)
		return ASAHI_GEM_STAYS;

	drm_gem_for_each_gpuvm_bo(vm_bo, &gem->base) {
		if (vm_bo->evicted)
			continue;
		if (place == ASAHI_GEM_MAPPED) {
			*lru = NULL;
			return ASAHI_GEM_SHARED;
		}
		place = ASAHI_GEM_MAPPED;
		*lru = &to_asahi_vm(vm_bo->vm)->reclaim.lru;
	}

	return place;
}

/* The list that it goes to is of an address space that is not released yet. */
static void asahi_lru_move(struct asahi_gem *gem, enum asahi_gem_place place,
			   struct drm_gem_lru *lru)
{
	struct asahi_reclaim *reclaim = &to_asahi_device(gem->base.dev)->reclaim;
	bool was_loose = asahi_lru_is_loose(gem->place);
	bool is_loose = asahi_lru_is_loose(place);

	if (gem->lru && !lru)
		drm_gem_lru_remove(&gem->base);
	if (was_loose && !is_loose)
		list_lru_del_obj(&reclaim->loose, &gem->loose);

	gem->lru = lru;
	WRITE_ONCE(gem->place, place);

	if (lru)
		drm_gem_lru_move_tail(lru, &gem->base);
	if (is_loose && !was_loose)
		list_lru_add_obj(&reclaim->loose, &gem->loose);
}

/**
 * asahi_lru_place_listed() - put an object into the list that it belongs to
 * @gem: own object, whose reservation and whose list of mappings are locked
 *
 * As asahi_lru_place_locked(). Process context, also from reclaim.
 */
void asahi_lru_place_listed(struct asahi_gem *gem)
{
	enum asahi_gem_place place;
	struct drm_gem_lru *lru;

	dma_resv_assert_held(gem->base.resv);
	lockdep_assert_held(&gem->base.gpuva.lock);

	place = asahi_lru_find(gem, &lru);
	if (place != gem->place || lru != gem->lru)
		asahi_lru_move(gem, place, lru);
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
 * asahi_lru_remove() - an object is freed
 * @gem: object without references
 *
 * Process context, also from reclaim.
 */
void asahi_lru_remove(struct asahi_gem *gem)
{
	if (asahi_lru_is_loose(gem->place))
		list_lru_del_obj(&to_asahi_device(gem->base.dev)->reclaim.loose, &gem->loose);
}

/**
 * asahi_lru_init_vm() - an address space is made
 * @vm: address space, otherwise complete
 */
void asahi_lru_init_vm(struct asahi_vm *vm)
{
	struct asahi_reclaim_vm *reclaim = &vm->reclaim;

	drm_gem_lru_init(&reclaim->lru);
	INIT_LIST_HEAD(&reclaim->link);
	reclaim->used = jiffies;
	list_lru_add_obj(&vm->adev->reclaim.vms, &reclaim->link);
}

/**
 * asahi_lru_fini_vm() - an address space is released
 * @vm: address space without objects
 *
 * Process context.
 */
void asahi_lru_fini_vm(struct asahi_vm *vm)
{
	struct asahi_device *adev = vm->adev;

	guard(mutex)(&adev->drm.gem_lru_mutex);

	drm_WARN_ON(&adev->drm, vm->reclaim.lru.count);
	list_lru_del_obj(&adev->reclaim.vms, &vm->reclaim.link);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_lru_fini_vm);
