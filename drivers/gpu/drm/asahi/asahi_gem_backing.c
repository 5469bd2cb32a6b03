// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The memory of buffer objects: pages, DMA mapping, pins.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/kref.h>
#include <linux/minmax.h>
#include <linux/scatterlist.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <kunit/visibility.h>

#include <drm/drm_drv.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_gem.h"
#include "asahi_gem_priv.h"
#include "asahi_lru.h"

/**
 * DOC: Memory of buffer objects
 *
 * An object has all of its pages or none. They come when something needs them: a bind,
 * the first access of the CPU, an importer, the firmware. They are mapped for the device
 * at once, since that is what cleans the CPU's caches. Only after the device is gone
 * objects have pages without that.
 *
 * **Pins** say that the pages have to stay. Attachments of importers, mappings for the
 * kernel and memory for timestamps pin an object as long as they exist. A bind under way
 * does so for a moment: it has pointers into the scatter list before it holds the lock
 * that protects mappings. Mappings of CPU and GPU are no pins, as both can be made again.
 *
 * The memory of an object can be in as many pieces as it has pages, and binds begin
 * anywhere in it. So the pieces are indexed by their offsets, when something is to be
 * found in the object for the first time.
 */

/* Nobody else can have the lock of an object that is being freed. */
static void asahi_gem_assert_locked(const struct asahi_gem *gem)
{
	if (kref_read(&gem->base.refcount))
		dma_resv_assert_held(gem->base.resv);
}

/* As drm_prime_pages_to_sg(), but charged to the cgroup of the task. */
static struct sg_table *asahi_gem_create_sgt(struct asahi_gem *gem)
{
	struct device *dev = gem->base.dev->dev;
	size_t size = gem->base.size;
	struct sg_table *sgt;

	sgt = kzalloc_obj(*sgt, GFP_KERNEL_ACCOUNT);
	if (!sgt)
		return NULL;

	if (sg_alloc_table_from_pages_segment(sgt, gem->pages, size >> PAGE_SHIFT, 0, size,
					      min(dma_max_mapping_size(dev), UINT_MAX),
					      GFP_KERNEL_ACCOUNT)) {
		kfree(sgt);
		return NULL;
	}

	return sgt;
}

static int asahi_gem_map_dma(struct asahi_gem *gem)
{
	struct sg_table *sgt = asahi_gem_create_sgt(gem);
	int ret;

	if (!sgt)
		return -ENOMEM;

	ret = dma_map_sgtable(gem->base.dev->dev, sgt, DMA_BIDIRECTIONAL, 0);
	if (ret) {
		sg_free_table(sgt);
		kfree(sgt);
		return ret;
	}

	gem->sgt = sgt;
	gem->clean = true;
	return 0;
}

static void asahi_gem_free_sgt(struct asahi_gem *gem)
{
	asahi_gem_assert_locked(gem);

	kvfree(gem->index);
	gem->index = NULL;
	if (!gem->sgt)
		return;

	dma_unmap_sgtable(gem->base.dev->dev, gem->sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(gem->sgt);
	kfree(gem->sgt);
	gem->sgt = NULL;
}

static void asahi_gem_put_pages(struct asahi_gem *gem)
{
	asahi_gem_assert_locked(gem);

	if (!gem->pages)
		return;

	/* No write of a client is noted, and none of the GPU. */
	drm_gem_put_pages(&gem->base, gem->pages, true, false);
	WRITE_ONCE(gem->pages, NULL);
	gem->clean = false;
}

static int asahi_gem_get_pages(struct asahi_gem *gem)
{
	struct page **pages;

	if (gem->pages)
		return 0;

	pages = drm_gem_get_pages(&gem->base);
	if (IS_ERR(pages))
		return PTR_ERR(pages);

	/* Whoever asks for the state of an object has no lock. */
	WRITE_ONCE(gem->pages, pages);
	return 0;
}

/*
 * The pages that it got before there were no more would stay in the shmem file, and nobody
 * could use or evict them.
 */
static void asahi_gem_forget_part(struct asahi_gem *gem)
{
	/* An object that was complete once has contents, some of which may be in swap. */
	if (!gem->filled)
		shmem_truncate_range(file_inode(gem->base.filp), 0, -1);
}

/**
 * asahi_gem_populate() - see to it that an object has memory
 * @gem: object, whose reservation is locked
 *
 * Maps the memory for the device, unless that is gone. Does nothing for imported objects.
 * Process context; allocates.
 *
 * Return: 0 or -ENOMEM; then it has no memory.
 */
int asahi_gem_populate(struct asahi_gem *gem)
{
	int ret, idx;

	dma_resv_assert_held(gem->base.resv);

	if (gem->sgt || drm_gem_is_imported(&gem->base))
		return 0;

	ret = asahi_gem_get_pages(gem);
	if (ret) {
		asahi_gem_forget_part(gem);
		return ret;
	}

	gem->filled = true;
	/* Unplug takes all DMA mappings away, and nobody makes others. */
	if (!drm_dev_enter(gem->base.dev, &idx))
		return 0;

	ret = asahi_gem_map_dma(gem);
	if (ret)
		asahi_gem_put_pages(gem);
	drm_dev_exit(idx);
	asahi_lru_place_locked(gem);
	return ret;
}

/**
 * asahi_gem_release_backing() - free the memory of an object that goes
 * @gem: object without references
 *
 * The contents are lost. Takes no lock. Process context, also from reclaim.
 */
void asahi_gem_release_backing(struct asahi_gem *gem)
{
	if (drm_gem_is_imported(&gem->base)) {
		kvfree(gem->index);
		drm_prime_gem_destroy(&gem->base, gem->sgt);
		return;
	}

	drm_WARN_ON(gem->base.dev, gem->vmaps || gem->pins || atomic_read(&gem->binds));
	asahi_gem_free_sgt(gem);
	asahi_gem_put_pages(gem);
}

/* Unmapping throws away what the CPU has only in its caches. */
static void asahi_gem_sync_and_free_sgt(struct asahi_gem *gem)
{
	if (gem->sgt)
		dma_sync_sgtable_for_device(gem->base.dev->dev, gem->sgt, DMA_BIDIRECTIONAL);
	asahi_gem_free_sgt(gem);
}

/**
 * asahi_gem_drop_backing() - give the memory of an object back to shmem
 * @gem: object, whose reservation is locked; without pins, and mapped nowhere
 *
 * The contents stay, in memory or in swap. Process context, also from reclaim.
 */
void asahi_gem_drop_backing(struct asahi_gem *gem)
{
	dma_resv_assert_held(gem->base.resv);
	drm_WARN_ON(gem->base.dev, gem->pins);

	asahi_gem_sync_and_free_sgt(gem);
	asahi_gem_put_pages(gem);
}

/**
 * asahi_gem_unmap_dma() - take the DMA mapping of an object away
 * @gem: object of a device that is being unplugged
 *
 * The contents stay. Process context; locks the object's reservation.
 */
void asahi_gem_unmap_dma(struct asahi_gem *gem)
{
	struct sg_table *sgt;

	if (drm_gem_is_imported(&gem->base)) {
		sgt = xchg(&gem->sgt, NULL);
		if (sgt)
			dma_buf_unmap_attachment_unlocked(gem->base.import_attach, sgt,
							  DMA_BIDIRECTIONAL);
		return;
	}

	dma_resv_lock(gem->base.resv, NULL);
	asahi_gem_sync_and_free_sgt(gem);
	dma_resv_unlock(gem->base.resv);
}

static void asahi_gem_add_pin(struct asahi_gem *gem)
{
	dma_resv_assert_held(gem->base.resv);
	if (!gem->pins++)
		asahi_lru_place_locked(gem);
}

/**
 * asahi_gem_pin_locked() - &drm_gem_object_funcs.pin
 * @obj: own object, whose reservation is locked
 *
 * The pages stay until asahi_gem_unpin_locked(). Process context; allocates.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_gem_pin_locked(struct drm_gem_object *obj)
{
	struct asahi_gem *gem = to_asahi_gem(obj);
	int ret;

	ret = asahi_gem_populate(gem);
	if (!ret)
		asahi_gem_add_pin(gem);
	return ret;
}

/**
 * asahi_gem_unpin_locked() - &drm_gem_object_funcs.unpin
 * @obj: pinned object, whose reservation is locked
 *
 * Process context.
 */
void asahi_gem_unpin_locked(struct drm_gem_object *obj)
{
	struct asahi_gem *gem = to_asahi_gem(obj);

	dma_resv_assert_held(obj->resv);
	drm_WARN_ON(obj->dev, !gem->pins);
	if (!--gem->pins)
		asahi_lru_place_locked(gem);
}

/**
 * asahi_gem_get_sg_table() - &drm_gem_object_funcs.get_sg_table
 * @obj: pinned object, whose reservation is locked
 *
 * Return: a scatter list of its own for an importer, or an error pointer.
 */
struct sg_table *asahi_gem_get_sg_table(struct drm_gem_object *obj)
{
	struct asahi_gem *gem = to_asahi_gem(obj);

	dma_resv_assert_held(obj->resv);
	drm_WARN_ON(obj->dev, !gem->pins);
	return drm_prime_pages_to_sg(obj->dev, gem->pages, obj->size >> PAGE_SHIFT);
}

static pgprot_t asahi_gem_kernel_prot(const struct asahi_gem *gem)
{
	return gem->map_wc && gem->clean ? pgprot_writecombine(PAGE_KERNEL) : PAGE_KERNEL;
}

/**
 * asahi_gem_vmap() - &drm_gem_object_funcs.vmap
 * @obj: object, whose reservation is locked
 * @map: where the address goes
 *
 * Pins the object. Process context; allocates.
 *
 * Return: 0, -ENOMEM, or an exporter's error.
 */
int asahi_gem_vmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	struct asahi_gem *gem = to_asahi_gem(obj);
	int ret;

	dma_resv_assert_held(obj->resv);

	if (drm_gem_is_imported(obj))
		return dma_buf_vmap(obj->import_attach->dmabuf, map);

	if (!gem->vmaps) {
		ret = asahi_gem_pin_locked(obj);
		if (ret)
			return ret;
		gem->vaddr = vmap(gem->pages, obj->size >> PAGE_SHIFT, VM_MAP,
				  asahi_gem_kernel_prot(gem));
		if (!gem->vaddr) {
			asahi_gem_unpin_locked(obj);
			return -ENOMEM;
		}
	}

	gem->vmaps++;
	iosys_map_set_vaddr(map, gem->vaddr);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_vmap);

/**
 * asahi_gem_vunmap() - &drm_gem_object_funcs.vunmap
 * @obj: object, whose reservation is locked
 * @map: what asahi_gem_vmap() has filled in
 *
 * Process context.
 */
void asahi_gem_vunmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	struct asahi_gem *gem = to_asahi_gem(obj);

	dma_resv_assert_held(obj->resv);

	if (drm_gem_is_imported(obj)) {
		dma_buf_vunmap(obj->import_attach->dmabuf, map);
		return;
	}

	if (--gem->vmaps)
		return;

	vunmap(gem->vaddr);
	gem->vaddr = NULL;
	asahi_gem_unpin_locked(obj);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_vunmap);

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

/**
 * asahi_gem_prepare() - see to it that the GPU can map an object
 * @gem: object, whose reservation is locked
 *
 * When it returns 0, asahi_gem_find() finds all of the object until the reservation is
 * unlocked, and then as long as the object is pinned or a bind is under way. Process
 * context; allocates.
 *
 * Return: 0; -EINVAL if a piece of the object is not 16 KiB aligned; -ENOMEM; -ENODEV
 * after unplug.
 */
int asahi_gem_prepare(struct asahi_gem *gem)
{
	int ret;

	ret = asahi_gem_populate(gem);
	if (ret || gem->index)
		return ret;

	if (!gem->sgt)
		return -ENODEV;

	if (!asahi_gem_mappable(gem->sgt, gem->base.size)) {
		drm_dbg(gem->base.dev, "object with pieces that the GPU cannot map\n");
		return -EINVAL;
	}

	gem->index = asahi_gem_index_create(gem->sgt);
	return gem->index ? 0 : -ENOMEM;
}

/**
 * asahi_gem_find() - find a part of an object's memory
 * @obj: object for which asahi_gem_prepare() holds
 * @offset: bytes from the beginning of @obj, less than its size
 * @piece: piece of the scatter list that @offset is in, owned by @obj, and where
 *	in @obj it starts
 *
 * Any context.
 */
void asahi_gem_find(struct drm_gem_object *obj, u64 offset, struct asahi_gem_piece *piece)
{
	*piece = *asahi_gem_index_find(to_asahi_gem(obj)->index, offset);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_find);

/**
 * asahi_gem_pin() - have an object's memory stay where it is
 * @obj: object
 *
 * For memory that is mapped for good where nobody can take it away. asahi_gem_find()
 * finds all of the object until asahi_gem_unpin(). Process context; locks the object's
 * reservation; allocates.
 *
 * Return: as asahi_gem_prepare(), or -EINTR.
 */
int asahi_gem_pin(struct drm_gem_object *obj)
{
	struct asahi_gem *gem = to_asahi_gem(obj);
	int ret;

	ret = dma_resv_lock_interruptible(obj->resv, NULL);
	if (ret)
		return ret;

	ret = asahi_gem_prepare(gem);
	if (!ret)
		asahi_gem_add_pin(gem);
	dma_resv_unlock(obj->resv);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_pin);

/**
 * asahi_gem_unpin() - undo asahi_gem_pin()
 * @obj: object
 *
 * Process context; locks the object's reservation.
 */
void asahi_gem_unpin(struct drm_gem_object *obj)
{
	dma_resv_lock(obj->resv, NULL);
	asahi_gem_unpin_locked(obj);
	dma_resv_unlock(obj->resv);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_unpin);

/**
 * asahi_gem_begin_bind() - have an object's memory stay while a bind is under way
 * @obj: object
 * @offset: as for asahi_gem_find()
 * @piece: as for asahi_gem_find(); valid until asahi_gem_end_bind()
 *
 * Process context; locks the object's reservation; allocates.
 *
 * Return: as asahi_gem_prepare(), or -EINTR.
 */
int asahi_gem_begin_bind(struct drm_gem_object *obj, u64 offset, struct asahi_gem_piece *piece)
{
	struct asahi_gem *gem = to_asahi_gem(obj);
	int ret;

	ret = dma_resv_lock_interruptible(obj->resv, NULL);
	if (ret)
		return ret;

	ret = asahi_gem_prepare(gem);
	if (!ret) {
		atomic_inc(&gem->binds);
		asahi_gem_find(obj, offset, piece);
	}
	dma_resv_unlock(obj->resv);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_begin_bind);

/**
 * asahi_gem_end_bind() - undo asahi_gem_begin_bind()
 * @obj: object
 *
 * What the bind has mapped is in the list of the object's mappings by now. Any context.
 */
void asahi_gem_end_bind(struct drm_gem_object *obj)
{
	/* Whoever sees that there is none sees all that was read and written by it. */
	atomic_dec_return_release(&to_asahi_gem(obj)->binds);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_gem_end_bind);

/**
 * asahi_gem_read() - copy a part of an object that is in memory
 * @obj: object
 * @offset: first byte, less than the object's size
 * @buf: where the copy goes
 * @len: bytes; what is behind the page of @offset is not read
 *
 * Process context; locks the object's reservation; allocates.
 *
 * Return: bytes that were read; 0 for imported objects, for such as have no memory at
 * the moment, and when there is no memory to map them.
 */
size_t asahi_gem_read(struct drm_gem_object *obj, u64 offset, void *buf, size_t len)
{
	struct asahi_gem *gem = to_asahi_gem(obj);
	void *map = NULL;

	if (drm_gem_is_imported(obj))
		return 0;

	dma_resv_lock(obj->resv, NULL);
	/* As user space has it mapped: the kernel's own mapping is cached. */
	if (gem->pages)
		map = vmap(&gem->pages[offset >> PAGE_SHIFT], 1, VM_MAP,
			   asahi_gem_kernel_prot(gem));
	len = map ? min(len, PAGE_SIZE - offset_in_page(offset)) : 0;
	if (map)
		memcpy(buf, map + offset_in_page(offset), len);
	vunmap(map);
	dma_resv_unlock(obj->resv);

	return len;
}
