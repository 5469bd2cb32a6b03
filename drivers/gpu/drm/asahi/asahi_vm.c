// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GPU address spaces: their lifetime, the kernel's own memory in them, and what
 * jobs need of them.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/dma-resv.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_channel.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_gem.h"
#include "asahi_heap.h"
#include "asahi_hw.h"
#include "asahi_vm.h"
#include "asahi_vm_priv.h"

/**
 * DOC: Address spaces
 *
 * An address space has a range that user space manages with VM_BIND, and a
 * smaller one inside it for the kernel, half of it for memory that the GPU
 * sees, half for memory that the firmware sees as well.
 *
 * There are two reference counts. References to &struct asahi_vm keep the
 * mappings; the file's table of IDs, queues and running ioctls have them. When
 * the last one is gone the hardware context is taken away, then everything is
 * unmapped and the tables are freed. &struct drm_gpuvm has its own count, which
 * the mappings hold, and which only keeps the memory of the structure.
 *
 * What a client unmapped is free when the ioctl returns: pages and tables go
 * after the TLB invalidation, and not later.
 *
 * Objects private to an address space share its reservation, so a job adds its
 * fence once for all of them, and once for each other object.
 */

/*
 * Both heaps are cut to what the largest block that the firmware knows of is
 * aligned to, a page of the tiled vertex buffer.
 */
#define HEAP_ALIGN	0x8000ULL

/* IDs are not to be had without end. */
#define MAX_VMS		U16_MAX

void asahi_vm_flush(struct asahi_vm *vm, struct asahi_pt_pool *pool)
{
	lockdep_assert_held(&vm->pt_lock);

	if (!pool->flush_end)
		return;

	asahi_uat_invalidate(vm->adev, &vm->uat, pool->flush_start,
			     pool->flush_end - pool->flush_start,
			     pool->flush_tables);
	pool->flush_start = 0;
	pool->flush_end = 0;
	pool->flush_tables = false;
}

void asahi_vm_end(struct asahi_vm *vm, struct asahi_pt_pool *pool)
{
	asahi_pt_pool_settle(pool);
	asahi_vm_flush(vm, pool);
	asahi_pt_pool_fini(pool);
}

static int asahi_vm_heap_map(void *priv, u64 va, dma_addr_t pa, u64 size,
			     enum asahi_prot prot)
{
	struct asahi_vm *vm = priv;
	struct asahi_pt_pool pool;
	int ret;

	guard(mutex)(&vm->pt_lock);

	asahi_pt_pool_init(&pool, &vm->pgt);
	ret = asahi_pgtable_reserve(&vm->pgt, &pool, va, size, ASAHI_PT_MAP);
	if (!ret)
		asahi_pgtable_map(&vm->pgt, &pool, va, pa, size, prot);

	asahi_vm_end(vm, &pool);
	return ret;
}

static void asahi_vm_heap_protect(struct asahi_vm *vm, u64 va, u64 size,
				  enum asahi_prot prot)
{
	struct asahi_pt_pool pool;

	guard(mutex)(&vm->pt_lock);

	asahi_pt_pool_init(&pool, &vm->pgt);
	asahi_pgtable_protect(&vm->pgt, &pool, va, size, prot);
	asahi_vm_end(vm, &pool);
}

static void asahi_vm_heap_unmap(void *priv, u64 va, u64 size,
				enum asahi_prot prot)
{
	struct asahi_vm *vm = priv;
	struct asahi_pt_pool pool;

	/*
	 * The firmware must not write a dirty line back to a page that is
	 * somebody else's, so nothing may be cached any more when the page
	 * goes. A firmware that fails to flush is declared dead by that.
	 */
	if (asahi_prot_is_cached(prot)) {
		asahi_vm_heap_protect(vm, va, size, asahi_prot_uncached(prot));
		asahi_uat_fw_flush(vm->adev, &vm->uat, va, size);
	}

	guard(mutex)(&vm->pt_lock);

	asahi_pt_pool_init(&pool, &vm->pgt);
	asahi_pgtable_unmap(&vm->pgt, &pool, va, size);
	asahi_vm_end(vm, &pool);
}

static int asahi_vm_heap_flush(void *priv)
{
	struct asahi_vm *vm = priv;

	return asahi_channel_flush_cache(vm->adev);
}

static const struct asahi_heap_mmu asahi_vm_heap_mmu = {
	.map = asahi_vm_heap_map,
	.unmap = asahi_vm_heap_unmap,
};

static const struct asahi_heap_mmu asahi_vm_heap_cached_mmu = {
	.map = asahi_vm_heap_map,
	.unmap = asahi_vm_heap_unmap,
	.flush = asahi_vm_heap_flush,
};

static int asahi_vm_create_heaps(struct asahi_vm *vm)
{
	u64 start = ALIGN(vm->kernel_start, HEAP_ALIGN);
	u64 end = ALIGN_DOWN(vm->kernel_end, HEAP_ALIGN);
	u64 half = start + ALIGN_DOWN((end - start) / 2, HEAP_ALIGN);
	struct asahi_heap *heap;

	heap = asahi_heap_create(vm->adev, "VM GPU", start, half,
				 ASAHI_PROT_GPU_SHARED_RW, &asahi_vm_heap_mmu, vm);
	if (IS_ERR(heap))
		return PTR_ERR(heap);
	vm->heap_gpu = heap;

	heap = asahi_heap_create(vm->adev, "VM GPU and firmware", half, end,
				 ASAHI_PROT_GPU_FW_PRIV_RW, &asahi_vm_heap_cached_mmu,
				 vm);
	if (IS_ERR(heap))
		return PTR_ERR(heap);
	vm->heap_priv = heap;

	return 0;
}

static int asahi_vm_map_dummy(struct asahi_vm *vm)
{
	struct drm_gem_object *obj;
	struct sg_table *sgt;

	obj = asahi_gem_create_kernel(vm->adev, AGX_PAGE_SIZE);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	vm->dummy = obj;

	sgt = asahi_gem_pages(obj);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);

	return asahi_vm_heap_map(vm, AGX_VA_DUMMY_PAGE, sg_dma_address(sgt->sgl),
				 AGX_PAGE_SIZE, ASAHI_PROT_GPU_SHARED_RW);
}

void asahi_vm_free(struct drm_gpuvm *gpuvm)
{
	struct asahi_vm *vm = to_asahi_vm(gpuvm);

	mutex_destroy(&vm->pt_lock);
	mutex_destroy(&vm->lock);
	kfree(vm);
	asahi_count_dec(ASAHI_COUNT_VM);
}

static void asahi_vm_release(struct kref *kref)
{
	struct asahi_vm *vm = container_of(kref, struct asahi_vm, users);

	/* Flushes what the firmware has cached while it can still find it. */
	asahi_heap_destroy(vm->heap_priv);
	asahi_heap_destroy(vm->heap_gpu);

	/* From here on nothing walks the tables, nor has anything cached. */
	asahi_uat_vm_detach(vm->adev, &vm->uat);
	asahi_vm_unmap_all(vm);
	asahi_pgtable_fini(&vm->pgt);
	drm_gem_object_put(vm->dummy);
	drm_gpuvm_put(&vm->base);
}

struct asahi_vm *asahi_vm_get(struct asahi_vm *vm)
{
	kref_get(&vm->users);
	return vm;
}

void asahi_vm_put(struct asahi_vm *vm)
{
	might_sleep();

	if (vm)
		kref_put(&vm->users, asahi_vm_release);
}

struct asahi_vm *asahi_vm_lookup(struct asahi_file *afile, u32 id)
{
	struct asahi_vm *vm;

	guard(spinlock)(&afile->vms.xa_lock);

	vm = xa_load(&afile->vms, id);
	return vm ? asahi_vm_get(vm) : NULL;
}

/* On success the base has its reference, and asahi_vm_put() is the way out. */
static struct asahi_vm *asahi_vm_alloc(struct asahi_file *afile,
				       u64 kernel_start, u64 kernel_end)
{
	struct asahi_device *adev = afile->adev;
	struct drm_gem_object *resv_obj;
	struct asahi_vm *vm;
	int ret;

	vm = kzalloc_obj(*vm, GFP_KERNEL_ACCOUNT);
	if (!vm)
		return ERR_PTR(-ENOMEM);

	resv_obj = drm_gpuvm_resv_object_alloc(&adev->drm);
	if (!resv_obj) {
		ret = -ENOMEM;
		goto err_free;
	}

	ret = asahi_pgtable_init_user(&vm->pgt, adev->drm.dev, adev->hw->oas_bits);
	if (ret)
		goto err_put_resv;

	vm->adev = adev;
	vm->owner = afile->drm_file->client_id;
	vm->kernel_start = kernel_start;
	vm->kernel_end = kernel_end;
	kref_init(&vm->users);
	mutex_init(&vm->lock);
	mutex_init(&vm->pt_lock);
	asahi_uat_vm_init(&vm->uat, asahi_pgtable_root(&vm->pgt));
	asahi_slot_client_init(&vm->slot, ASAHI_SLOT_VM);
	asahi_count_inc(ASAHI_COUNT_VM);

	/* The base takes its own reference to resv_obj. */
	drm_gpuvm_init(&vm->base, "asahi",
		       DRM_GPUVM_RESV_PROTECTED | DRM_GPUVM_IMMEDIATE_MODE,
		       &adev->drm, resv_obj, AGX_VA_USER_START,
		       AGX_VA_USER_END - AGX_VA_USER_START, kernel_start,
		       kernel_end - kernel_start, &asahi_vm_ops);
	drm_gem_object_put(resv_obj);
	return vm;

err_put_resv:
	drm_gem_object_put(resv_obj);
err_free:
	kfree(vm);
	return ERR_PTR(ret);
}

static bool asahi_vm_kernel_range_ok(u64 start, u64 end)
{
	return IS_ALIGNED(start | end, AGX_PAGE_SIZE) &&
	       start >= AGX_VA_USER_START && end <= AGX_VA_USER_END &&
	       end > start && end - start >= AGX_VM_KERNEL_MIN_SIZE;
}

int asahi_vm_create(struct asahi_file *afile, u64 kernel_start, u64 kernel_end,
		    u32 *id)
{
	struct asahi_device *adev = afile->adev;
	struct asahi_vm *vm;
	int ret;

	if (!asahi_vm_kernel_range_ok(kernel_start, kernel_end)) {
		drm_dbg(&adev->drm, "bad kernel range %#llx..%#llx\n",
			kernel_start, kernel_end);
		return -EINVAL;
	}

	if (asahi_device_dead(adev))
		return -ENODEV;

	vm = asahi_vm_alloc(afile, kernel_start, kernel_end);
	if (IS_ERR(vm))
		return PTR_ERR(vm);

	ret = asahi_vm_create_heaps(vm);
	if (!ret)
		ret = asahi_vm_map_dummy(vm);
	if (!ret)
		ret = xa_alloc(&afile->vms, id, vm, XA_LIMIT(1, MAX_VMS),
			       GFP_KERNEL_ACCOUNT);
	if (ret)
		asahi_vm_put(vm);

	/* That is how xa_alloc() says that there is no free ID. */
	return ret == -EBUSY ? -ENOSPC : ret;
}

int asahi_vm_destroy(struct asahi_file *afile, u32 id)
{
	struct asahi_vm *vm;

	vm = xa_erase(&afile->vms, id);
	if (!vm) {
		drm_dbg(&afile->adev->drm, "no VM %u\n", id);
		return -ENOENT;
	}

	asahi_vm_put(vm);
	return 0;
}

void asahi_vm_file_close(struct asahi_file *afile)
{
	struct asahi_vm *vm;
	unsigned long id;

	xa_for_each(&afile->vms, id, vm) {
		xa_erase(&afile->vms, id);
		asahi_vm_put(vm);
	}
}

struct asahi_uat_vm *asahi_vm_uat(struct asahi_vm *vm)
{
	return &vm->uat;
}

struct asahi_slot_client *asahi_vm_slot_client(struct asahi_vm *vm)
{
	return &vm->slot;
}

struct asahi_heap *asahi_vm_heap_gpu(struct asahi_vm *vm)
{
	return vm->heap_gpu;
}

struct asahi_heap *asahi_vm_heap_priv(struct asahi_vm *vm)
{
	return vm->heap_priv;
}

struct drm_gem_object *asahi_vm_resv_obj(struct asahi_vm *vm)
{
	return drm_gpuvm_resv_obj(&vm->base);
}

int asahi_vm_prepare_submit(struct asahi_vm *vm, struct drm_exec *exec,
			    unsigned int num_fences)
{
	int ret;

	ret = drm_gpuvm_prepare_vm(&vm->base, exec, num_fences);
	if (ret)
		return ret;

	return drm_gpuvm_prepare_objects(&vm->base, exec, num_fences);
}

void asahi_vm_add_fence(struct asahi_vm *vm, struct drm_exec *exec,
			struct dma_fence *fence)
{
	drm_gpuvm_resv_add_fence(&vm->base, exec, fence, DMA_RESV_USAGE_BOOKKEEP,
				 DMA_RESV_USAGE_BOOKKEEP);
}

void asahi_vm_print(struct asahi_vm *vm, struct drm_printer *p)
{
	struct drm_gpuva *va;

	guard(mutex)(&vm->lock);

	drm_gpuvm_for_each_va(va, &vm->base) {
		const struct asahi_vma *vma = to_asahi_vma(va);

		if (va == &vm->base.kernel_alloc_node) {
			drm_printf(p, "%#011llx..%#011llx kernel\n", va->va.addr,
				   va->va.addr + va->va.range);
			continue;
		}

		drm_printf(p, "%#011llx..%#011llx %c%c offset %#llx%s size %#zx%s\n",
			   va->va.addr, va->va.addr + va->va.range,
			   vma->prot != ASAHI_PROT_GPU_SHARED_WO ? 'r' : '-',
			   vma->prot != ASAHI_PROT_GPU_SHARED_RO ? 'w' : '-',
			   va->gem.offset, vma->single ? " repeated" : "",
			   va->gem.obj->size,
			   drm_gem_is_imported(va->gem.obj) ? " imported" : "");
	}
}
