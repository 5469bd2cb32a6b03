// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "asahi_priv.h"

/*
 * Makes a buffer of a handle and enters it into the device's table. The
 * handle is closed on error. Called with bo_lock held.
 */
static int bo_from_handle(struct asahi_device *dev, uint32_t handle,
			  uint64_t size, struct asahi_bo **out)
{
	struct asahi_bo *bo = calloc(1, sizeof(*bo));

	if (!bo || drmHashInsert(dev->bos, handle, bo)) {
		free(bo);
		drmCloseBufferHandle(dev->fd, handle);
		return -ENOMEM;
	}

	asahi_refs_init(&bo->refs);
	pthread_mutex_init(&bo->map_lock, NULL);
	bo->dev = asahi_device_ref(dev);
	bo->handle = handle;
	bo->size = size;
	*out = bo;
	return 0;
}

ASAHI_EXPORT int asahi_bo_new(struct asahi_device *dev, uint64_t size,
			      uint32_t flags, struct asahi_vm *vm,
			      struct asahi_bo **bo)
{
	struct drm_asahi_gem_create args = { .flags = flags };
	int err;

	if (!size || size > UINT64_MAX - ASAHI_PAGE_SIZE)
		return -EINVAL;
	/* the kernel rounds it up as well; the virtual GPU's sanitizer knows what was asked for */
	args.size = size;
	size = (size + ASAHI_PAGE_SIZE - 1) & ~(uint64_t)(ASAHI_PAGE_SIZE - 1);
	if (vm) {
		args.flags |= DRM_ASAHI_GEM_VM_PRIVATE;
		args.vm_id = vm->id;
	}

	/* The table must not still hold a buffer that had this handle. */
	pthread_mutex_lock(&dev->bo_lock);
	err = asahi_ioctl(dev, DRM_IOCTL_ASAHI_GEM_CREATE, &args);
	if (!err)
		err = bo_from_handle(dev, args.handle, size, bo);
	pthread_mutex_unlock(&dev->bo_lock);
	return err;
}

static int bo_import_locked(struct asahi_device *dev, int fd, off_t size,
			    struct asahi_bo **bo)
{
	uint32_t handle;
	void *known;

	if (drmPrimeFDToHandle(dev->fd, fd, &handle))
		return -errno;
	if (drmHashLookup(dev->bos, handle, &known))
		return bo_from_handle(dev, handle, size, bo);

	*bo = asahi_bo_ref(known);
	return 0;
}

ASAHI_EXPORT int asahi_bo_import(struct asahi_device *dev, int fd,
				 struct asahi_bo **bo)
{
	off_t size = lseek(fd, 0, SEEK_END);
	int err;

	if (size < 0)
		return -errno;
	pthread_mutex_lock(&dev->bo_lock);
	err = bo_import_locked(dev, fd, size, bo);
	pthread_mutex_unlock(&dev->bo_lock);
	return err;
}

ASAHI_EXPORT int asahi_bo_export(struct asahi_bo *bo, int *fd)
{
	if (drmPrimeHandleToFD(bo->dev->fd, bo->handle, DRM_CLOEXEC | DRM_RDWR,
			       fd))
		return -errno;
	return 0;
}

ASAHI_EXPORT struct asahi_bo *asahi_bo_ref(struct asahi_bo *bo)
{
	asahi_refs_get(&bo->refs);
	return bo;
}

/* Return: whether that was the last reference, and the handle is closed. */
static bool bo_put(struct asahi_bo *bo)
{
	struct asahi_device *dev = bo->dev;
	bool last;

	pthread_mutex_lock(&dev->bo_lock);
	last = asahi_refs_put(&bo->refs);
	if (last) {
		drmHashDelete(dev->bos, bo->handle);
		drmCloseBufferHandle(dev->fd, bo->handle);
	}
	pthread_mutex_unlock(&dev->bo_lock);
	return last;
}

ASAHI_EXPORT void asahi_bo_unref(struct asahi_bo *bo)
{
	if (!bo || !bo_put(bo))
		return;

	if (bo->map)
		munmap(bo->map, bo->size);
	pthread_mutex_destroy(&bo->map_lock);
	asahi_device_unref(bo->dev);
	free(bo);
}

ASAHI_EXPORT uint32_t asahi_bo_handle(const struct asahi_bo *bo)
{
	return bo->handle;
}

ASAHI_EXPORT uint64_t asahi_bo_size(const struct asahi_bo *bo)
{
	return bo->size;
}

ASAHI_EXPORT int asahi_bo_bind_timestamps(struct asahi_bo *bo, uint64_t offset,
					  uint64_t size, uint32_t *object)
{
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_BIND,
		.flags = DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS,
		.handle = bo->handle,
		.offset = offset,
		.range = size,
	};
	int err = asahi_ioctl(bo->dev, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);

	if (!err)
		*object = args.object_handle;
	return err;
}

ASAHI_EXPORT int asahi_device_unbind_timestamps(struct asahi_device *dev,
						uint32_t object)
{
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_UNBIND,
		.object_handle = object,
	};

	return asahi_ioctl(dev, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);
}

static int bo_map_locked(struct asahi_bo *bo)
{
	struct drm_asahi_gem_mmap_offset args = { .handle = bo->handle };
	void *map;
	int err;

	err = asahi_ioctl(bo->dev, DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, &args);
	if (err)
		return err;
	map = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   bo->dev->fd, args.offset);
	if (map == MAP_FAILED)
		return -errno;
	bo->map = map;
	return 0;
}

ASAHI_EXPORT int asahi_bo_map(struct asahi_bo *bo, void **ptr)
{
	int err = 0;

	pthread_mutex_lock(&bo->map_lock);
	if (!bo->map)
		err = bo_map_locked(bo);
	if (!err)
		*ptr = bo->map;
	pthread_mutex_unlock(&bo->map_lock);
	return err;
}
