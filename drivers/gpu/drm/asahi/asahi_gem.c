// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Buffer objects.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/string_choices.h>
#include <linux/workqueue.h>

#include <kunit/visibility.h>

#include <drm/asahi_drm.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/drm_vma_manager.h>

#include <agx/agx_uat.h>

#include "asahi_block.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_gem.h"
#include "asahi_gem_priv.h"
#include "asahi_lru.h"
#include "asahi_rest.h"
#include "asahi_vm.h"
#include "asahi_vm_bind.h"
#include "asahi_vm_dump.h"

/**
 * DOC: Buffer objects
 *
 * Objects are shmem memory, or another device's buffer. They get memory when it is first
 * needed. They are mapped write-combined for the CPU unless user space asks for cached
 * memory or the device is coherent.
 *
 * A client can unmap and close an object while its work writes to it. The TLBs forget it
 * at once, but nothing is known of what is on its way through the GPU's caches then: it
 * may be written back at the end of that work. So pages go back to the system when the
 * work is complete that was in flight when the last reference went.
 *
 * Where the kernel has huge pages, objects of 32 MiB or more are made of such, as far as
 * there are any: it takes one page-table entry to map one for the CPU, and one piece of a
 * scatter list.
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

static void asahi_gem_add(struct asahi_gem *gem)
{
	struct asahi_gem_list *list = &to_asahi_device(gem->base.dev)->gems;

	guard(spinlock)(&list->lock);
	list_add(&gem->link, &list->live);
	asahi_count_inc(ASAHI_COUNT_GEM);
}

static void asahi_gem_remove(struct asahi_gem *gem)
{
	struct asahi_gem_list *list = &to_asahi_device(gem->base.dev)->gems;

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
	asahi_lru_remove(gem);
	asahi_gem_release_backing(gem);
	/* The reservation may be that of resv_obj. */
	drm_gem_object_release(&gem->base);
	asahi_lru_free_gem(gem);
	drm_gem_object_put(resv_obj);
}

static void asahi_gem_free_work(struct work_struct *work)
{
	struct asahi_gem *gem = container_of(work, struct asahi_gem, free_work);
	struct asahi_gem_list *list = &to_asahi_device(gem->base.dev)->gems;

	/* Unplug looks at the fence of what is in the list. */
	scoped_guard(spinlock, &list->lock)
		list_del(&gem->busy_link);
	dma_fence_put(gem->busy);
	asahi_gem_free_now(gem);
}

static void asahi_gem_idle(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct asahi_gem *gem = container_of(cb, struct asahi_gem, idle_cb);

	queue_work(to_asahi_device(gem->base.dev)->gems.wq, &gem->free_work);
}

/* The work that may write to an object, or NULL. */
static struct dma_fence *asahi_gem_get_busy(struct asahi_gem *gem)
{
	struct dma_resv *resv = gem->base.resv;
	struct dma_fence *fence;

	/* An imported buffer is its exporter's, and what the GPU has never seen is idle. */
	if (drm_gem_is_imported(&gem->base) || !gem->index)
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
	struct asahi_gem_list *list = &to_asahi_device(gem->base.dev)->gems;

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

static enum drm_gem_object_status asahi_gem_status(struct drm_gem_object *obj)
{
	struct asahi_gem *gem = to_asahi_gem(obj);

	if (drm_gem_is_imported(obj) || READ_ONCE(gem->pages))
		return DRM_GEM_OBJECT_RESIDENT;

	return 0;
}

static void asahi_gem_print_info(struct drm_printer *p, unsigned int indent,
				 const struct drm_gem_object *obj)
{
	const struct asahi_gem *gem = container_of(obj, struct asahi_gem, base);

	drm_printf_indent(p, indent, "resident=%s\n", str_yes_no(READ_ONCE(gem->pages)));
	drm_printf_indent(p, indent, "pins=%u\n", READ_ONCE(gem->pins));
	drm_printf_indent(p, indent, "vmaps=%u\n", READ_ONCE(gem->vmaps));
}

static const struct drm_gem_object_funcs asahi_gem_funcs = {
	.free = asahi_gem_free,
	.close = asahi_gem_close,
	.export = asahi_gem_export,
	.status = asahi_gem_status,
	.print_info = asahi_gem_print_info,
	.pin = asahi_gem_pin_locked,
	.unpin = asahi_gem_unpin_locked,
	.get_sg_table = asahi_gem_get_sg_table,
	.vmap = asahi_gem_vmap,
	.vunmap = asahi_gem_vunmap,
	.mmap = asahi_gem_mmap,
	.vm_ops = &asahi_gem_vm_ops,
};

static struct asahi_gem *asahi_gem_alloc_struct(struct asahi_device *adev)
{
	struct asahi_gem *gem = asahi_lru_alloc_gem(adev);

	if (gem) {
		INIT_LIST_HEAD(&gem->link);
		gem->base.funcs = &asahi_gem_funcs;
	}

	return gem;
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
	struct asahi_gem *gem = asahi_gem_alloc_struct(to_asahi_device(drm));
	int ret;

	if (!gem)
		return ERR_PTR(-ENOMEM);

	drm_gem_private_object_init(drm, &gem->base, PAGE_ALIGN(attach->dmabuf->size));
	ret = drm_gem_create_mmap_offset(&gem->base);
	if (ret) {
		drm_gem_object_release(&gem->base);
		asahi_lru_free_gem(gem);
		return ERR_PTR(ret);
	}

	gem->sgt = sgt;
	asahi_gem_add(gem);
	return &gem->base;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_prime_import_sg_table);

/* On failure, as if nothing had been initialised. */
static int asahi_gem_init_base(struct drm_device *drm, struct drm_gem_object *obj, size_t size)
{
	int ret;

	ret = drm_gem_object_init(drm, obj, size);
	if (ret) {
		drm_gem_private_object_fini(obj);
		/* shmem's word for an inode that there was no memory for. */
		return ret == -ENOSPC ? -ENOMEM : ret;
	}

	ret = drm_gem_create_mmap_offset(obj);
	if (ret) {
		drm_gem_object_release(obj);
		return ret;
	}

	/* Not movable, as most of it is never let go; and no reason to kill anybody. */
	mapping_set_gfp_mask(obj->filp->f_mapping,
			     GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	return 0;
}

/**
 * asahi_gem_alloc() - make an object without memory
 * @adev: device
 * @size: bytes, a multiple of the page size
 * @map_wc: CPU mappings are to be write-combined
 * @resv_obj: object whose reservation it shares, or NULL
 *
 * Process context.
 *
 * Return: the object with a reference, or an error pointer.
 */
VISIBLE_IF_KUNIT struct drm_gem_object *
asahi_gem_alloc(struct asahi_device *adev, size_t size, bool map_wc,
		struct drm_gem_object *resv_obj)
{
	struct asahi_gem *gem = asahi_gem_alloc_struct(adev);
	int ret;

	if (!gem)
		return ERR_PTR(-ENOMEM);

	gem->map_wc = map_wc;
	if (resv_obj)
		gem->base.resv = resv_obj->resv;

	ret = asahi_gem_init_base(&adev->drm, &gem->base, size);
	if (ret) {
		asahi_lru_free_gem(gem);
		return ERR_PTR(ret);
	}

	if (resv_obj) {
		drm_gem_object_get(resv_obj);
		gem->resv_obj = resv_obj;
	}
	asahi_gem_add(gem);
	return &gem->base;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_alloc);

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
	bool map_wc;
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

	map_wc = !(args->flags & DRM_ASAHI_GEM_WRITEBACK) && !afile->adev->coherent;
	obj = asahi_gem_alloc(afile->adev, size, map_wc, vm ? asahi_vm_resv_obj(vm) : NULL);
	if (IS_ERR(obj)) {
		ret = PTR_ERR(obj);
		goto out_put_vm;
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

/* Without huge pages, objects are made of small ones, which is not an error. */
static int asahi_gem_init_huge(struct asahi_device *adev)
{
	int ret;

	ret = drm_gem_huge_mnt_create(&adev->drm, "within_size");
	if (ret)
		drm_dbg(&adev->drm, "no huge pages: %d\n", ret);

	return PTR_ERR_OR_ZERO(drm_gem_get_huge_mnt(&adev->drm));
}

static int asahi_gem_init(struct asahi_device *adev)
{
	int ret;

	spin_lock_init(&adev->gems.lock);
	INIT_LIST_HEAD(&adev->gems.live);
	INIT_LIST_HEAD(&adev->gems.busy);
	mutex_init(&adev->vms.lock);
	INIT_LIST_HEAD(&adev->vms.live);
	ret = asahi_lru_init(adev);
	if (ret)
		return ret;

	asahi_vm_debugfs_init(adev);
	ret = asahi_gem_init_huge(adev);
	if (ret)
		return ret;

	adev->gems.wq = alloc_workqueue("asahi-gem", WQ_UNBOUND | WQ_MEM_RECLAIM,
					ASAHI_GEM_FREE_WORKERS);
	return adev->gems.wq ? 0 : -ENOMEM;
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
		if (kref_get_unless_zero(&gem->base.refcount))
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
		drm_gem_object_put(&gem->base);
	}
}

static void asahi_gem_fini(struct asahi_device *adev)
{
	if (adev->gems.wq)
		destroy_workqueue(adev->gems.wq);
	adev->gems.wq = NULL;
	asahi_lru_fini(adev);
}

/* What an object has and what is said of it agree, if nobody changes it at the moment. */
static void asahi_gem_one_at_rest(struct asahi_gem *gem, struct asahi_rest *rest)
{
	bool imported = drm_gem_is_imported(&gem->base);

	asahi_rest_expect(rest, ASAHI_REST_IDLE | ASAHI_REST_CLOSED, !atomic_read(&gem->binds),
			  "a bind is under way");

	/* Of a device that is gone objects get memory that is not mapped for it. */
	if (drm_dev_is_unplugged(gem->base.dev) || !dma_resv_trylock(gem->base.resv))
		return;

	asahi_rest_expect(rest, ASAHI_REST_AWAKE, imported || !gem->pages == !gem->sgt,
			  "an object has%s pages and is%s mapped for the device",
			  gem->pages ? "" : " no", gem->sgt ? "" : " not");
	asahi_rest_expect(rest, ASAHI_REST_AWAKE, gem->sgt || !gem->index,
			  "an object has an index of nothing");
	asahi_rest_expect(rest, ASAHI_REST_AWAKE,
			  (gem->place == ASAHI_GEM_STAYS) ==
			  (imported || !gem->pages || gem->pins),
			  "an object with %u pins is in place %d", gem->pins, gem->place);
	dma_resv_unlock(gem->base.resv);
}

static void asahi_gem_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_gem *gem;

	scoped_guard(spinlock, &adev->gems.lock) {
		asahi_rest_expect(rest, ASAHI_REST_IDLE, list_empty(&adev->gems.busy),
				  "objects without handles wait for work");
		list_for_each_entry(gem, &adev->gems.live, link)
			asahi_gem_one_at_rest(gem, rest);
	}

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
