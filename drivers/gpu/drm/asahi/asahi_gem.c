// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Buffer objects.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include <kunit/visibility.h>

#include <drm/asahi_drm.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>
#include <drm/drm_vma_manager.h>

#include <agx/agx_uat.h>

#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_gem.h"
#include "asahi_vm.h"

/**
 * DOC: Buffer objects
 *
 * Objects are shmem memory, pinned and mapped for the device when they are
 * first needed, or another device's buffer. They are mapped write-combined for
 * the CPU unless user space asks for cached memory or the device is coherent.
 *
 * New memory is zeroed through the CPU's caches, and a write-combined mapping
 * sees what is behind them: whatever was there before, until the zeroes arrive,
 * which then overwrite what has been written meanwhile. It is the DMA mapping
 * that writes the caches back, so it comes first. For a device that is coherent
 * it does not; there all mappings are cached, which loses nothing.
 *
 * Clients keep objects after the device is gone, while DMA mappings must go
 * with the driver. So all objects are on a list, and unplugging the device
 * removes their DMA mappings. Binds fail by then, so nobody asks for them.
 */

/**
 * struct asahi_gem - A buffer object
 * @base: shmem memory, or the scatter list of an imported buffer
 * @link: in the device's list; empty as long as the object isn't finished
 * @resv_obj: for objects private to an address space, the object whose
 *	reservation they share, with a reference; NULL for all others
 * @mappable: the scatter list was found to be so; set once
 */
struct asahi_gem {
	struct drm_gem_shmem_object base;
	struct list_head link;
	struct drm_gem_object *resv_obj;
	bool mappable;
};

static struct asahi_gem *to_asahi_gem(struct drm_gem_object *obj)
{
	return container_of(to_drm_gem_shmem_obj(obj), struct asahi_gem, base);
}

static void asahi_gem_add(struct asahi_gem *gem)
{
	struct asahi_gem_list *list = &to_asahi_device(gem->base.base.dev)->gems;

	guard(spinlock)(&list->lock);
	list_add(&gem->link, &list->live);
	asahi_count_inc(ASAHI_COUNT_GEM);
}

static void asahi_gem_remove(struct asahi_gem *gem)
{
	struct asahi_gem_list *list = &to_asahi_device(gem->base.base.dev)->gems;

	guard(spinlock)(&list->lock);
	if (list_empty(&gem->link))
		return;

	list_del_init(&gem->link);
	asahi_count_dec(ASAHI_COUNT_GEM);
}

static void asahi_gem_free(struct drm_gem_object *obj)
{
	struct asahi_gem *gem = to_asahi_gem(obj);
	struct drm_gem_object *resv_obj = gem->resv_obj;

	asahi_gem_remove(gem);

	/* Locks the reservation, which lives in resv_obj. */
	drm_gem_shmem_free(&gem->base);
	drm_gem_object_put(resv_obj);
}

static void asahi_gem_close(struct drm_gem_object *obj, struct drm_file *file)
{
	/*
	 * Jobs of a file that is closed finish, or a program that is killed
	 * would end in faults, which disturb others. The mappings go with the
	 * address space, after its last job.
	 */
	if (to_asahi_file(file)->closing)
		return;

	asahi_vm_close_object(file->client_id, obj);
}

static struct dma_buf *asahi_gem_export(struct drm_gem_object *obj, int flags)
{
	if (to_asahi_gem(obj)->resv_obj) {
		drm_dbg(obj->dev, "private objects cannot be exported\n");
		return ERR_PTR(-EINVAL);
	}

	return drm_gem_prime_export(obj, flags);
}

static int asahi_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct asahi_gem *gem = to_asahi_gem(obj);
	struct sg_table *sgt;
	int idx;

	if (gem->base.map_wc) {
		if (!drm_dev_enter(obj->dev, &idx))
			return -ENODEV;
		sgt = drm_gem_shmem_get_pages_sgt(&gem->base);
		drm_dev_exit(idx);
		/* Unlike an ioctl, mmap() is not tried again by anybody. */
		if (IS_ERR(sgt))
			return PTR_ERR(sgt) == -EINTR ? -ERESTARTSYS : PTR_ERR(sgt);
	}

	return drm_gem_shmem_object_mmap(obj, vma);
}

static enum drm_gem_object_status asahi_gem_status(struct drm_gem_object *obj)
{
	struct asahi_gem *gem = to_asahi_gem(obj);

	if (drm_gem_is_imported(obj) || READ_ONCE(gem->base.pages))
		return DRM_GEM_OBJECT_RESIDENT;

	return 0;
}

static const struct drm_gem_object_funcs asahi_gem_funcs = {
	.free = asahi_gem_free,
	.close = asahi_gem_close,
	.export = asahi_gem_export,
	.status = asahi_gem_status,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = asahi_gem_mmap,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

struct drm_gem_object *asahi_gem_create_object(struct drm_device *drm,
					       size_t size)
{
	struct asahi_gem *gem;

	gem = kzalloc_obj(*gem);
	if (!gem)
		return ERR_PTR(-ENOMEM);

	INIT_LIST_HEAD(&gem->link);
	gem->base.base.funcs = &asahi_gem_funcs;
	return &gem->base.base;
}

struct drm_gem_object *asahi_gem_prime_import(struct drm_device *drm,
					      struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj;
	int idx;

	/*
	 * Unplugging must not find an object that is on the list already, but
	 * doesn't say yet that it is imported, nor miss one that comes later.
	 */
	if (!drm_dev_enter(drm, &idx))
		return ERR_PTR(-ENODEV);

	obj = drm_gem_prime_import(drm, dma_buf);
	drm_dev_exit(idx);
	return obj;
}

struct drm_gem_object *
asahi_gem_prime_import_sg_table(struct drm_device *drm,
				struct dma_buf_attachment *attach,
				struct sg_table *sgt)
{
	struct drm_gem_object *obj;

	obj = drm_gem_shmem_prime_import_sg_table(drm, attach, sgt);
	if (!IS_ERR(obj))
		asahi_gem_add(to_asahi_gem(obj));

	return obj;
}

static struct asahi_gem *asahi_gem_alloc(struct asahi_device *adev, size_t size)
{
	struct drm_gem_shmem_object *shmem;
	struct asahi_gem *gem;

	shmem = drm_gem_shmem_create(&adev->drm, size);
	/* shmem's word for an inode that there was no memory for. */
	if (shmem == ERR_PTR(-ENOSPC))
		return ERR_PTR(-ENOMEM);
	if (IS_ERR(shmem))
		return ERR_CAST(shmem);

	gem = to_asahi_gem(&shmem->base);
	asahi_gem_add(gem);
	return gem;
}

struct drm_gem_object *asahi_gem_create_kernel(struct asahi_device *adev,
					       size_t size)
{
	struct asahi_gem *gem = asahi_gem_alloc(adev, size);

	return IS_ERR(gem) ? ERR_CAST(gem) : &gem->base.base;
}

int asahi_gem_create(struct asahi_file *afile, struct drm_asahi_gem_create *args)
{
	const u32 known = DRM_ASAHI_GEM_WRITEBACK | DRM_ASAHI_GEM_VM_PRIVATE;
	struct drm_device *drm = &afile->adev->drm;
	struct asahi_vm *vm = NULL;
	struct drm_gem_object *obj;
	struct asahi_gem *gem;
	u64 size;
	int ret;

	if (args->flags & ~known) {
		drm_dbg(drm, "unknown flags %#x\n", args->flags & ~known);
		return -EINVAL;
	}

	if (!(args->flags & DRM_ASAHI_GEM_VM_PRIVATE) && args->vm_id) {
		drm_dbg(drm, "vm_id %u for an object that is not private\n",
			args->vm_id);
		return -EINVAL;
	}

	if (!args->size || args->size > AGX_VA_USER_END - AGX_VA_USER_START) {
		drm_dbg(drm, "size %#llx is out of range\n", args->size);
		return -EINVAL;
	}

	size = ALIGN(args->size, AGX_PAGE_SIZE);
	if (size >> PAGE_SHIFT > totalram_pages()) {
		drm_dbg(drm, "size %#llx is more than this machine has\n", size);
		return -ENOMEM;
	}

	if (args->flags & DRM_ASAHI_GEM_VM_PRIVATE) {
		vm = asahi_vm_lookup(afile, args->vm_id);
		if (!vm) {
			drm_dbg(drm, "no VM %u\n", args->vm_id);
			return -ENOENT;
		}
	}

	gem = asahi_gem_alloc(afile->adev, size);
	if (IS_ERR(gem)) {
		ret = PTR_ERR(gem);
		goto out_put_vm;
	}

	obj = &gem->base.base;
	gem->base.map_wc = !(args->flags & DRM_ASAHI_GEM_WRITEBACK) &&
			   !afile->adev->coherent;
	if (vm) {
		gem->resv_obj = asahi_vm_resv_obj(vm);
		drm_gem_object_get(gem->resv_obj);
		obj->resv = gem->resv_obj->resv;
	}

	ret = drm_gem_handle_create(afile->drm_file, obj, &args->handle);
	drm_gem_object_put(obj);

out_put_vm:
	asahi_vm_put(vm);
	return ret;
}

int asahi_gem_mmap_offset(struct asahi_file *afile,
			  struct drm_asahi_gem_mmap_offset *args)
{
	struct drm_gem_object *obj;
	int ret;

	obj = drm_gem_object_lookup(afile->drm_file, args->handle);
	if (!obj) {
		drm_dbg(&afile->adev->drm, "no object %u\n", args->handle);
		return -ENOENT;
	}

	ret = drm_gem_create_mmap_offset(obj);
	if (!ret)
		args->offset = drm_vma_node_offset_addr(&obj->vma_node);

	drm_gem_object_put(obj);
	return ret;
}

struct drm_gem_object *asahi_gem_resv_obj(struct drm_gem_object *obj)
{
	return to_asahi_gem(obj)->resv_obj;
}

/*
 * The object's own memory is made of whole pages. Another device's buffer can
 * be made of anything, or be smaller than it says.
 */
VISIBLE_IF_KUNIT bool asahi_gem_mappable(struct sg_table *sgt, u64 size)
{
	struct scatterlist *sg;
	u64 total = 0;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (!IS_ALIGNED(sg_dma_address(sg) | sg_dma_len(sg), AGX_PAGE_SIZE))
			return false;
		total += sg_dma_len(sg);
	}

	return total >= size;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_mappable);

struct sg_table *asahi_gem_pages(struct drm_gem_object *obj)
{
	struct asahi_gem *gem = to_asahi_gem(obj);
	struct sg_table *sgt;

	sgt = drm_gem_shmem_get_pages_sgt(&gem->base);
	if (IS_ERR(sgt) || READ_ONCE(gem->mappable))
		return sgt;

	if (!asahi_gem_mappable(sgt, obj->size)) {
		drm_dbg(obj->dev, "object with pieces that the GPU cannot map\n");
		return ERR_PTR(-EINVAL);
	}

	WRITE_ONCE(gem->mappable, true);
	return sgt;
}

void asahi_gem_list_init(struct asahi_gem_list *list)
{
	spin_lock_init(&list->lock);
	INIT_LIST_HEAD(&list->live);
}

static void asahi_gem_unmap_dma(struct asahi_gem *gem)
{
	struct drm_gem_shmem_object *shmem = &gem->base;
	struct sg_table *sgt;

	if (drm_gem_is_imported(&shmem->base)) {
		sgt = xchg(&shmem->sgt, NULL);
		if (sgt)
			dma_buf_unmap_attachment_unlocked(shmem->base.import_attach,
							  sgt, DMA_BIDIRECTIONAL);
		return;
	}

	dma_resv_lock(shmem->base.resv, NULL);
	if (shmem->sgt) {
		/* Unmapping throws away what the CPU has only in its caches. */
		dma_sync_sgtable_for_device(shmem->base.dev->dev, shmem->sgt,
					    DMA_BIDIRECTIONAL);
		__drm_gem_shmem_free_sgt_locked(shmem);
	}
	dma_resv_unlock(shmem->base.resv);
}

/* The next object that has not been looked at, with a reference. */
static struct asahi_gem *asahi_gem_next(struct asahi_gem_list *list,
					struct list_head *done)
{
	struct asahi_gem *gem, *next;

	guard(spinlock)(&list->lock);

	list_for_each_entry_safe(gem, next, &list->live, link) {
		list_move(&gem->link, done);
		/* One that is about to be freed loses its mapping by that. */
		if (kref_get_unless_zero(&gem->base.base.refcount))
			return gem;
	}

	list_splice_init(done, &list->live);
	return NULL;
}

void asahi_gem_list_unplug(struct asahi_gem_list *list)
{
	struct asahi_gem *gem;
	LIST_HEAD(done);

	while ((gem = asahi_gem_next(list, &done))) {
		asahi_gem_unmap_dma(gem);
		drm_gem_object_put(&gem->base.base);
	}
}
