// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Buffer objects.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <kunit/visibility.h>

#include <drm/asahi_drm.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>
#include <drm/drm_vma_manager.h>

#include <agx/agx_uat.h>

#include "asahi_block.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_gem.h"
#include "asahi_rest.h"
#include "asahi_vm.h"
#include "asahi_vm_bind.h"
#include "asahi_vm_dump.h"

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
 * A page of a mapping is writable from the first access on. With pfn_mkwrite the
 * kernel would make it read-only until the first write, and KVM, which maps such
 * memory into a guest, fails with EFAULT on a page like that. So nothing notes which
 * pages are written: all pages count as dirty when they are let go.
 *
 * The memory of an object can be in as many pieces as it has pages, and binds
 * begin anywhere in it. So the pieces are indexed by their offsets, when the
 * object is bound for the first time.
 *
 * A client can unmap and close an object while its work writes to it. The TLBs forget it
 * at once, but nothing is known of what is on its way through the GPU's caches then: it
 * may be written back at the end of that work. So pages go back to the system when the
 * work is complete that was in flight when the last reference went.
 *
 * Clients keep objects after the device is gone, while DMA mappings must go
 * with the driver. So all objects are on a list, and unplugging the device
 * removes their DMA mappings. Binds fail by then, so nobody asks for them. The GPU is
 * cut off by then, too, so what waits for work is freed.
 */

/* How long freeing an object may wait for work, where there is no memory to do better. */
#define ASAHI_GEM_WAIT_MS 1000

/* Workers that free objects, at most. */
#define ASAHI_GEM_FREE_WORKERS 4

/**
 * struct asahi_gem - A buffer object
 * @base: shmem memory, or the scatter list of an imported buffer
 * @link: in the device's list; empty as long as the object isn't finished
 * @resv_obj: for objects private to an address space, the object whose
 *	reservation they share, with a reference; NULL for all others
 * @index: its memory by offset; set once, when it was found that the GPU can map it
 * @busy: work in flight that may write to it, with a reference; only when no reference
 *	to the object is left, as all that follows
 * @busy_link: in the device's list of these
 * @idle_cb: called when @busy has signalled
 * @free_work: frees the object
 */
struct asahi_gem {
	struct drm_gem_shmem_object base;
	struct list_head link;
	struct drm_gem_object *resv_obj;
	struct asahi_gem_index *index;
	struct dma_fence *busy;
	struct list_head busy_link;
	struct dma_fence_cb idle_cb;
	struct work_struct free_work;
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

static void asahi_gem_free_now(struct asahi_gem *gem)
{
	struct drm_gem_object *resv_obj = gem->resv_obj;

	asahi_gem_remove(gem);
	kvfree(gem->index);

	/* Locks the reservation, which lives in resv_obj. */
	drm_gem_shmem_free(&gem->base);
	drm_gem_object_put(resv_obj);
}

static void asahi_gem_free_work(struct work_struct *work)
{
	struct asahi_gem *gem = container_of(work, struct asahi_gem, free_work);
	struct asahi_gem_list *list = &to_asahi_device(gem->base.base.dev)->gems;

	/* Unplug looks at the fence of what is in the list. */
	scoped_guard(spinlock, &list->lock)
		list_del(&gem->busy_link);
	dma_fence_put(gem->busy);
	asahi_gem_free_now(gem);
}

static void asahi_gem_idle(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct asahi_gem *gem = container_of(cb, struct asahi_gem, idle_cb);

	queue_work(to_asahi_device(gem->base.base.dev)->gems.wq, &gem->free_work);
}

/* The work that may write to an object, or NULL. */
static struct dma_fence *asahi_gem_get_busy(struct asahi_gem *gem)
{
	struct dma_resv *resv = gem->base.base.resv;
	struct dma_fence *fence;

	/* An imported buffer is its exporter's, and what the GPU has never seen is idle. */
	if (drm_gem_is_imported(&gem->base.base) || !gem->index)
		return NULL;
	if (dma_resv_test_signaled(resv, DMA_RESV_USAGE_BOOKKEEP))
		return NULL;
	if (!dma_resv_get_singleton(resv, DMA_RESV_USAGE_BOOKKEEP, &fence))
		return fence;

	/* There is no memory for one fence of all. */
	dma_resv_wait_timeout(resv, DMA_RESV_USAGE_BOOKKEEP, false,
			      msecs_to_jiffies(ASAHI_GEM_WAIT_MS));
	return NULL;
}

/* Whether the object is freed later; the device is not unplugged meanwhile. */
static bool asahi_gem_free_later(struct asahi_gem *gem)
{
	struct asahi_gem_list *list = &to_asahi_device(gem->base.base.dev)->gems;

	gem->busy = asahi_gem_get_busy(gem);
	if (!gem->busy)
		return false;

	INIT_WORK(&gem->free_work, asahi_gem_free_work);
	scoped_guard(spinlock, &list->lock)
		list_add_tail(&gem->busy_link, &list->busy);
	if (dma_fence_add_callback(gem->busy, &gem->idle_cb, asahi_gem_idle))
		queue_work(list->wq, &gem->free_work);

	return true;
}

static void asahi_gem_free(struct drm_gem_object *obj)
{
	struct asahi_gem *gem = to_asahi_gem(obj);
	bool later = false;
	int idx;

	if (drm_dev_enter(obj->dev, &idx)) {
		later = asahi_gem_free_later(gem);
		drm_dev_exit(idx);
	}

	if (!later)
		asahi_gem_free_now(gem);
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

/* For those that are to be mapped write-combined: see "Buffer objects". */
static int asahi_gem_clean(struct asahi_gem *gem)
{
	struct sg_table *sgt;
	int idx;

	if (!gem->base.map_wc)
		return 0;

	if (!drm_dev_enter(gem->base.base.dev, &idx))
		return -ENODEV;
	sgt = drm_gem_shmem_get_pages_sgt(&gem->base);
	drm_dev_exit(idx);
	return PTR_ERR_OR_ZERO(sgt);
}

/*
 * What the CPU has written through a cached mapping is in its caches, where an importer
 * that is not coherent does not see it, and the other way round. Without a DMA mapping
 * nobody has handed the memory to a device yet. Unplugging takes it away under the lock.
 */
static int asahi_gem_begin_cpu_access(struct dma_buf *dma_buf, enum dma_data_direction dir)
{
	struct drm_gem_object *obj = dma_buf->priv;
	struct asahi_gem *gem = to_asahi_gem(obj);
	int ret;

	ret = dma_resv_lock_interruptible(obj->resv, NULL);
	if (ret)
		return ret;
	if (gem->base.sgt)
		dma_sync_sgtable_for_cpu(obj->dev->dev, gem->base.sgt, dir);
	dma_resv_unlock(obj->resv);

	return 0;
}

static int asahi_gem_end_cpu_access(struct dma_buf *dma_buf, enum dma_data_direction dir)
{
	struct drm_gem_object *obj = dma_buf->priv;
	struct asahi_gem *gem = to_asahi_gem(obj);
	int ret;

	ret = dma_resv_lock_interruptible(obj->resv, NULL);
	if (ret)
		return ret;
	if (gem->base.sgt)
		dma_sync_sgtable_for_device(obj->dev->dev, gem->base.sgt, dir);
	dma_resv_unlock(obj->resv);

	return 0;
}

/* As the DRM core's, but for the CPU's accesses. */
static const struct dma_buf_ops asahi_gem_dma_buf_ops = {
	.attach = drm_gem_map_attach,
	.detach = drm_gem_map_detach,
	.map_dma_buf = drm_gem_map_dma_buf,
	.unmap_dma_buf = drm_gem_unmap_dma_buf,
	.release = drm_gem_dmabuf_release,
	.mmap = drm_gem_dmabuf_mmap,
	.vmap = drm_gem_dmabuf_vmap,
	.vunmap = drm_gem_dmabuf_vunmap,
	.begin_cpu_access = asahi_gem_begin_cpu_access,
	.end_cpu_access = asahi_gem_end_cpu_access,
};

static struct dma_buf *asahi_gem_export(struct drm_gem_object *obj, int flags)
{
	struct asahi_gem *gem = to_asahi_gem(obj);
	struct dma_buf_export_info info = {
		.exp_name = KBUILD_MODNAME,
		.owner = obj->dev->driver->fops->owner,
		.ops = &asahi_gem_dma_buf_ops,
		.size = obj->size,
		.flags = flags,
		.priv = obj,
		.resv = obj->resv,
	};
	int ret;

	if (gem->resv_obj) {
		drm_dbg(obj->dev, "private objects cannot be exported\n");
		return ERR_PTR(-EINVAL);
	}

	/* Importers map it for the kernel while they hold locks that this takes. */
	ret = asahi_gem_clean(gem);
	if (ret)
		return ERR_PTR(ret);

	return drm_gem_dmabuf_export(obj->dev, &info);
}

static int asahi_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	int ret;

	ret = asahi_gem_clean(to_asahi_gem(obj));
	/* Unlike an ioctl, mmap() is not tried again by anybody. */
	if (ret)
		return ret == -EINTR ? -ERESTARTSYS : ret;

	return drm_gem_shmem_object_mmap(obj, vma);
}

static enum drm_gem_object_status asahi_gem_status(struct drm_gem_object *obj)
{
	struct asahi_gem *gem = to_asahi_gem(obj);

	if (drm_gem_is_imported(obj) || READ_ONCE(gem->base.pages))
		return DRM_GEM_OBJECT_RESIDENT;

	return 0;
}

static vm_fault_t asahi_gem_fault(struct vm_fault *vmf)
{
	return drm_gem_shmem_vm_ops.fault(vmf);
}

#ifdef CONFIG_ARCH_SUPPORTS_PMD_PFNMAP
static vm_fault_t asahi_gem_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	return drm_gem_shmem_vm_ops.huge_fault(vmf, order);
}
#endif

static void asahi_gem_vm_open(struct vm_area_struct *vma)
{
	drm_gem_shmem_vm_ops.open(vma);
}

static void asahi_gem_vm_close(struct vm_area_struct *vma)
{
	drm_gem_shmem_vm_ops.close(vma);
}

/* As shmem's, but without pfn_mkwrite: see "Buffer objects". */
static const struct vm_operations_struct asahi_gem_vm_ops = {
	.fault = asahi_gem_fault,
#ifdef CONFIG_ARCH_SUPPORTS_PMD_PFNMAP
	.huge_fault = asahi_gem_huge_fault,
#endif
	.open = asahi_gem_vm_open,
	.close = asahi_gem_vm_close,
};

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
	.vm_ops = &asahi_gem_vm_ops,
};

/**
 * asahi_gem_create_object() - &drm_driver.gem_create_object
 * @drm: device
 * @size: bytes
 *
 * Return: a zeroed object with the driver's functions set, or an error pointer.
 */
struct drm_gem_object *asahi_gem_create_object(struct drm_device *drm,
					       size_t size)
{
	struct asahi_gem *gem;

	gem = kzalloc_obj(*gem, GFP_KERNEL_ACCOUNT);
	if (!gem)
		return ERR_PTR(-ENOMEM);

	INIT_LIST_HEAD(&gem->link);
	gem->base.base.funcs = &asahi_gem_funcs;
	return &gem->base.base;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_create_object);

/* Is it an object of this device? Then there is no need to attach to it. */
static bool asahi_gem_is_own(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj;

	if (dma_buf->ops != &asahi_gem_dma_buf_ops)
		return false;

	obj = dma_buf->priv;
	return obj->dev == drm;
}

/**
 * asahi_gem_prime_import() - &drm_driver.gem_prime_import
 * @drm: device
 * @dma_buf: buffer of this or another device
 *
 * Context: process context; keeps the device from being unplugged meanwhile.
 * Return: an object for it with a reference, or an error pointer; -ENODEV when
 * the device is gone.
 */
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

	if (asahi_gem_is_own(drm, dma_buf)) {
		obj = dma_buf->priv;
		drm_gem_object_get(obj);
	} else {
		obj = drm_gem_prime_import(drm, dma_buf);
	}
	drm_dev_exit(idx);
	return obj;
}

/**
 * asahi_gem_prime_import_sg_table() - &drm_driver.gem_prime_import_sg_table
 * @drm: device
 * @attach: attachment to another device's buffer
 * @sgt: its memory, mapped for @drm
 *
 * Return: an object for it, or an error pointer.
 */
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

	/* No write of a client is noted, and none of the GPU. */
	shmem->pages_mark_dirty_on_put = true;
	gem = to_asahi_gem(&shmem->base);
	asahi_gem_add(gem);
	return gem;
}

/**
 * asahi_gem_create() - Make a buffer object and a handle to it
 * @afile: file that gets the handle
 * @args: ioctl arguments; @args->handle is filled in
 *
 * Context: process context (ioctl).
 * Return: 0; -EINVAL for unknown flags, a vm_id without VM_PRIVATE, or a size
 * that is zero or larger than an address space; -ENOENT when there is no such
 * address space; -ENOMEM, also for sizes that this machine can never hold.
 */
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

/**
 * asahi_gem_mmap_offset() - Where in the device file an object can be mapped
 * @afile: file that has a handle to it
 * @args: ioctl arguments; @args->offset is filled in
 *
 * Context: process context (ioctl).
 * Return: 0, -ENOENT or -ENOMEM.
 */
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

/**
 * asahi_gem_resv_obj() - The address space that an object is private to
 * @obj: object
 *
 * Return: what asahi_vm_resv_obj() says of that address space, NULL when @obj
 * is not private to any.
 */
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

/**
 * asahi_gem_index_create() - note where each piece of memory begins
 * @sgt: scatter list, mapped for the device
 *
 * Process context, may sleep.
 *
 * Return: the index, which points into @sgt, or NULL if there is no memory.
 */
VISIBLE_IF_KUNIT struct asahi_gem_index *asahi_gem_index_create(struct sg_table *sgt)
{
	struct asahi_gem_index *index;
	struct scatterlist *sg;
	u64 start = 0;
	int i;

	index = kvmalloc_flex(*index, piece, sgt->nents, GFP_KERNEL_ACCOUNT);
	if (!index)
		return NULL;

	index->count = sgt->nents;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		index->piece[i].start = start;
		index->piece[i].sg = sg;
		start += sg_dma_len(sg);
	}

	return index;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_index_create);

/**
 * asahi_gem_index_find() - find the piece of memory that an offset is in
 * @index: index
 * @offset: bytes from the beginning, inside the memory
 *
 * Any context.
 *
 * Return: the piece.
 */
VISIBLE_IF_KUNIT const struct asahi_gem_piece *
asahi_gem_index_find(const struct asahi_gem_index *index, u64 offset)
{
	unsigned int low = 0, high = index->count;

	/* The piece is in [low, high). */
	while (high - low > 1) {
		unsigned int middle = low + (high - low) / 2;

		if (index->piece[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}

	return &index->piece[low];
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_index_find);

/* Pins the memory, maps it for the device and finds out whether the GPU can map it. */
static struct asahi_gem_index *asahi_gem_get_index(struct asahi_gem *gem)
{
	struct drm_gem_object *obj = &gem->base.base;
	struct asahi_gem_index *index, *other;
	struct sg_table *sgt;

	/* Its contents were written before it was set. */
	index = smp_load_acquire(&gem->index);
	if (index)
		return index;

	sgt = drm_gem_shmem_get_pages_sgt(&gem->base);
	if (IS_ERR(sgt))
		return ERR_CAST(sgt);

	if (!asahi_gem_mappable(sgt, obj->size)) {
		drm_dbg(obj->dev, "object with pieces that the GPU cannot map\n");
		return ERR_PTR(-EINVAL);
	}

	index = asahi_gem_index_create(sgt);
	if (!index)
		return ERR_PTR(-ENOMEM);

	other = cmpxchg(&gem->index, NULL, index);
	if (!other)
		return index;

	kvfree(index);
	return other;
}

/**
 * asahi_gem_find() - pin an object's memory and find a part of it
 * @obj: object
 * @offset: bytes from the beginning of @obj, less than its size
 * @piece: piece of the scatter list that @offset is in, owned by @obj, and where
 *	in @obj it starts
 *
 * The memory is mapped for the device, and stays pinned as long as the object
 * lives. Process context; takes the object's reservation lock.
 *
 * Return: 0; -EINVAL if a piece of the object is not 16 KiB aligned, so that the
 * GPU cannot map it; -ENOMEM; -EINTR.
 */
int asahi_gem_find(struct drm_gem_object *obj, u64 offset, struct asahi_gem_piece *piece)
{
	struct asahi_gem_index *index = asahi_gem_get_index(to_asahi_gem(obj));

	if (IS_ERR(index))
		return PTR_ERR(index);

	*piece = *asahi_gem_index_find(index, offset);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_find);

static int asahi_gem_init(struct asahi_device *adev)
{
	spin_lock_init(&adev->gems.lock);
	INIT_LIST_HEAD(&adev->gems.live);
	INIT_LIST_HEAD(&adev->gems.busy);
	mutex_init(&adev->vms.lock);
	INIT_LIST_HEAD(&adev->vms.live);
	asahi_vm_debugfs_init(adev);

	adev->gems.wq = alloc_workqueue("asahi-gem", WQ_UNBOUND | WQ_MEM_RECLAIM,
					ASAHI_GEM_FREE_WORKERS);
	return adev->gems.wq ? 0 : -ENOMEM;
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

/* What waits for work is freed now: some of that may wait for its clients for ever. */
static void asahi_gem_free_busy(struct asahi_gem_list *list)
{
	struct asahi_gem *gem;

	scoped_guard(spinlock, &list->lock)
		list_for_each_entry(gem, &list->busy, busy_link)
			if (dma_fence_remove_callback(gem->busy, &gem->idle_cb))
				queue_work(list->wq, &gem->free_work);

	flush_workqueue(list->wq);
}

/* Objects, their contents and CPU mappings stay until their owners are gone. */
static void asahi_gem_unplug(struct asahi_device *adev)
{
	struct asahi_gem *gem;
	LIST_HEAD(done);

	if (adev->gems.wq)
		asahi_gem_free_busy(&adev->gems);

	while ((gem = asahi_gem_next(&adev->gems, &done))) {
		asahi_gem_unmap_dma(gem);
		drm_gem_object_put(&gem->base.base);
	}
}

static void asahi_gem_fini(struct asahi_device *adev)
{
	if (adev->gems.wq)
		destroy_workqueue(adev->gems.wq);
	adev->gems.wq = NULL;
}

static void asahi_gem_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	scoped_guard(spinlock, &adev->gems.lock)
		asahi_rest_expect(rest, ASAHI_REST_IDLE, list_empty(&adev->gems.busy),
				  "objects without handles wait for work");

	/* Who holds the lock may allocate, which a reset must not wait for. */
	if (!asahi_rest_asks(rest, ASAHI_REST_CLOSED))
		return;

	guard(mutex)(&adev->vms.lock);
	asahi_rest_expect(rest, ASAHI_REST_CLOSED, list_empty(&adev->vms.live),
			  "there are address spaces");
}

const struct asahi_block asahi_block_gem = {
	.name = "gem",
	.init = asahi_gem_init,
	.unplug = asahi_gem_unplug,
	.fini = asahi_gem_fini,
	.at_rest = asahi_rest_ptr(asahi_gem_at_rest),
};
EXPORT_SYMBOL_IF_KUNIT(asahi_block_gem);
