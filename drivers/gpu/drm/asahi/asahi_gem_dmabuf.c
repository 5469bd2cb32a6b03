// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Buffer objects of other devices here, and those of here at other devices.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/err.h>

#include <drm/drm_drv.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>

#include "asahi_gem.h"
#include "asahi_gem_priv.h"

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
	if (gem->sgt)
		dma_sync_sgtable_for_cpu(obj->dev->dev, gem->sgt, dir);
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
	if (gem->sgt)
		dma_sync_sgtable_for_device(obj->dev->dev, gem->sgt, dir);
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

/**
 * asahi_gem_export() - &drm_gem_object_funcs.export
 * @obj: object
 * @flags: of the new file
 *
 * Takes no memory for the object: importers do, when they attach to it.
 *
 * Return: a buffer with a reference to @obj, or an error pointer; -EINVAL for objects
 * that are private to an address space.
 */
struct dma_buf *asahi_gem_export(struct drm_gem_object *obj, int flags)
{
	struct dma_buf_export_info info = {
		.exp_name = KBUILD_MODNAME,
		.owner = obj->dev->driver->fops->owner,
		.ops = &asahi_gem_dma_buf_ops,
		.size = obj->size,
		.flags = flags,
		.priv = obj,
		.resv = obj->resv,
	};

	if (to_asahi_gem(obj)->resv_obj) {
		drm_dbg(obj->dev, "private objects cannot be exported\n");
		return ERR_PTR(-EINVAL);
	}

	return drm_gem_dmabuf_export(obj->dev, &info);
}

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
