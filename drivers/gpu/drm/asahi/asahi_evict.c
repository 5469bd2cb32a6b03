// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Taking the memory of a buffer object away, and getting it back.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/dma-resv.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/scatterlist.h>

#include <kunit/visibility.h>

#include <drm/drm_gem.h>
#include <drm/drm_gpuvm.h>
#include <drm/drm_vma_manager.h>

#include "asahi_aspace.h"
#include "asahi_device.h"
#include "asahi_evict.h"
#include "asahi_gem.h"
#include "asahi_gem_priv.h"
#include "asahi_lru.h"
#include "asahi_reclaim.h"
#include "asahi_trace.h"
#include "asahi_vm_priv.h"

/**
 * DOC: Eviction
 *
 * The memory of an object that nothing pins and no work in flight can use may be taken
 * away: its pages go back to shmem, which can swap them out. Mappings of the CPU vanish;
 * the next access gets the pages back. Mappings of the GPU stay in the books of their
 * address spaces, but for the entries in the page tables, and the next SUBMIT restores
 * them before it arms its job.
 *
 * **An object is evicted from an address space as a whole** (&drm_gpuvm_bo.evicted). So
 * mappings of it that are cut meanwhile need nothing special, and those that are new are
 * not written into the page tables, but restored with the others. That is early enough,
 * for as long as work of an address space is in flight nothing is evicted from it.
 *
 * **The order** is: CPU mappings, page tables, TLB, DMA mapping, pages. When the pages go
 * nobody has a translation to them any more.
 *
 * **Locks.** The reservation of the object is held by whoever evicts or restores it. A
 * SUBMIT holds those of all objects of its address space until its fence is in all of
 * them, so nothing is evicted between its restoring and its fence. The lock of the address
 * space's page tables also covers its mappings and their objects' being evicted there.
 *
 * Reclaim can happen under any of these locks, in any order. So eviction only tries to
 * lock, and gives up at the first lock that is taken. An object that was evicted from
 * some of its address spaces by then keeps its memory, and those restore it.
 */

static bool asahi_evict_is_idle(struct dma_resv *resv)
{
	return dma_resv_test_signaled(resv, DMA_RESV_USAGE_BOOKKEEP);
}

/*
 * Work of an address space can use what was bound after its SUBMIT, so that it is not in
 * flight by the object's reservation.
 */
static bool asahi_evict_is_possible(struct asahi_gem *gem)
{
	struct drm_gem_object *obj = &gem->base;
	struct drm_gpuvm_bo *vm_bo;
	bool idle = true;

	if (!gem->pages || gem->pins || atomic_read_acquire(&gem->binds))
		return false;

	if (!asahi_evict_is_idle(obj->resv) || !mutex_trylock(&obj->gpuva.lock))
		return false;

	drm_gem_for_each_gpuvm_bo(vm_bo, obj)
		idle &= vm_bo->evicted || asahi_evict_is_idle(drm_gpuvm_resv(vm_bo->vm));
	mutex_unlock(&obj->gpuva.lock);

	return idle;
}

/* Whole mappings never need a table, so this allocates nothing. */
static bool asahi_evict_from(struct drm_gpuvm_bo *vm_bo)
{
	struct asahi_vm *vm = to_asahi_vm(vm_bo->vm);
	struct asahi_pt_pool pool;
	struct drm_gpuva *va;

	if (vm_bo->evicted)
		return true;

	if (!mutex_trylock(&vm->as.lock))
		return false;

	asahi_aspace_begin(&vm->as, &pool);
	drm_gpuvm_bo_for_each_va(va, vm_bo)
		asahi_pgtable_unmap(&vm->as.pgt, &pool, va->va.addr, va->va.range);
	asahi_aspace_end(&vm->as, &pool);

	drm_gpuvm_bo_evict(vm_bo, true);
	mutex_unlock(&vm->as.lock);
	return true;
}

static bool asahi_evict_from_all(struct drm_gem_object *obj)
{
	struct drm_gpuvm_bo *vm_bo;

	lockdep_assert_held(&obj->gpuva.lock);

	drm_gem_for_each_gpuvm_bo(vm_bo, obj)
		if (!asahi_evict_from(vm_bo))
			return false;

	return true;
}

/**
 * asahi_evict_object() - take the memory of an object away, if that is possible now
 * @obj: own object, whose reservation is locked
 * @ticket: not used; NULL
 *
 * For drm_gem_lru_scan(). Waits for no work, and for no lock that is held across an
 * allocation. Process context, also from reclaim.
 *
 * Return: true if it has none any more.
 */
bool asahi_evict_object(struct drm_gem_object *obj, struct ww_acquire_ctx *ticket)
{
	struct asahi_device *adev = to_asahi_device(obj->dev);
	struct asahi_gem *gem = to_asahi_gem(obj);
	u64 start = ktime_get_ns();
	bool done;

	dma_resv_assert_held(obj->resv);

	if (!asahi_evict_is_possible(gem))
		return false;

	/* Outside of the next lock, as what this takes is held when page tables are made. */
	drm_vma_node_unmap(&obj->vma_node, obj->dev->anon_inode->i_mapping);

	if (!mutex_trylock(&obj->gpuva.lock))
		return false;
	done = asahi_evict_from_all(obj);
	if (done)
		asahi_gem_drop_backing(gem);
	asahi_lru_place_listed(gem);
	mutex_unlock(&obj->gpuva.lock);

	if (done)
		atomic_long_add(obj->size >> PAGE_SHIFT, &adev->reclaim.evicted);
	trace_asahi_evict(adev, obj, ktime_get_ns() - start, done);
	return done;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_evict_object);

static int asahi_evict_reserve(struct asahi_vm *vm, struct asahi_pt_pool *pool,
			       const struct asahi_vma *vma)
{
	const struct drm_gpuva *va = &vma->base;
	struct asahi_gem_piece piece;

	if (vma->single)
		return asahi_pgtable_reserve(&vm->as.pgt, pool, va->va.addr, va->va.range,
					     ASAHI_PT_MAP_SINGLE);

	asahi_gem_find(va->gem.obj, va->gem.offset, &piece);
	return asahi_pgtable_reserve_sg(&vm->as.pgt, pool, va->va.addr, piece.sg,
					va->gem.offset - piece.start, va->va.range);
}

static void asahi_evict_write(struct asahi_vm *vm, struct asahi_pt_pool *pool,
			      const struct asahi_vma *vma)
{
	const struct drm_gpuva *va = &vma->base;
	struct asahi_gem_piece piece;
	u64 skip;

	asahi_gem_find(va->gem.obj, va->gem.offset, &piece);
	skip = va->gem.offset - piece.start;
	if (vma->single)
		asahi_pgtable_map_single(&vm->as.pgt, pool, va->va.addr,
					 sg_dma_address(piece.sg) + skip, va->va.range, vma->prot);
	else
		asahi_pgtable_map_sg(&vm->as.pgt, pool, va->va.addr, piece.sg, skip, va->va.range,
				     vma->prot);
}

/* All mappings of an object, or none: there are holes where they belong. */
static int asahi_evict_map(struct asahi_vm *vm, struct drm_gpuvm_bo *vm_bo)
{
	struct asahi_pt_pool pool;
	struct drm_gpuva *va;
	int ret = 0;

	guard(mutex)(&vm->as.lock);

	asahi_aspace_begin(&vm->as, &pool);
	/* Each change of the list is under this lock, too. */
	drm_gpuvm_bo_for_each_va(va, vm_bo) {
		ret = asahi_evict_reserve(vm, &pool, to_asahi_vma(va));
		if (ret)
			goto out;
	}

	drm_gpuvm_bo_for_each_va(va, vm_bo)
		asahi_evict_write(vm, &pool, to_asahi_vma(va));
	drm_gpuvm_bo_evict(vm_bo, false);
out:
	asahi_aspace_end(&vm->as, &pool);
	return ret;
}

/**
 * asahi_evict_restore() - &drm_gpuvm_ops.vm_bo_validate
 * @vm_bo: object that is evicted from an address space; both reservations are locked
 * @exec: not used
 *
 * Process context; allocates, and may reclaim what others have. No fence waits for it.
 *
 * Return: 0 if it is mapped as before; otherwise -ENOMEM, and it is as it was.
 */
int asahi_evict_restore(struct drm_gpuvm_bo *vm_bo, struct drm_exec *exec)
{
	struct asahi_gem *gem = to_asahi_gem(vm_bo->obj);
	struct asahi_vm *vm = to_asahi_vm(vm_bo->vm);
	u64 start = ktime_get_ns();
	int ret;

	ret = asahi_gem_prepare(gem);
	if (!ret)
		ret = asahi_evict_map(vm, vm_bo);
	asahi_lru_place_locked(gem);

	if (!ret)
		atomic_long_add(gem->base.size >> PAGE_SHIFT, &vm->adev->reclaim.restored);
	trace_asahi_restore(vm->adev, vm->owner, &gem->base, ktime_get_ns() - start, ret);
	return ret;
}
