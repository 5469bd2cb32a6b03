/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Buffer objects.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_GEM_H
#define ASAHI_GEM_H

#include <linux/types.h>

struct asahi_file;
struct drm_asahi_gem_create;
struct drm_asahi_gem_mmap_offset;
struct drm_device;
struct drm_gem_object;
struct sg_table;

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
int asahi_gem_create(struct asahi_file *afile, struct drm_asahi_gem_create *args);

/**
 * asahi_gem_mmap_offset() - Where in the device file an object can be mapped
 * @afile: file that has a handle to it
 * @args: ioctl arguments; @args->offset is filled in
 *
 * Context: process context (ioctl).
 * Return: 0, -ENOENT or -ENOMEM.
 */
int asahi_gem_mmap_offset(struct asahi_file *afile,
			  struct drm_asahi_gem_mmap_offset *args);

/**
 * asahi_gem_create_object() - &drm_driver.gem_create_object
 * @drm: device
 * @size: bytes
 *
 * Return: a zeroed object with the driver's functions set, or an error pointer.
 */
struct drm_gem_object *asahi_gem_create_object(struct drm_device *drm,
					       size_t size);

/**
 * asahi_gem_resv_obj() - The address space that an object is private to
 * @obj: object
 *
 * Return: what asahi_vm_resv_obj() says of that address space, NULL when @obj
 * is not private to any.
 */
struct drm_gem_object *asahi_gem_resv_obj(struct drm_gem_object *obj);

/**
 * asahi_gem_pages() - Pin an object's memory and map it for the device
 * @obj: object
 *
 * The memory stays pinned as long as the object lives.
 *
 * Context: process context; takes the object's reservation lock.
 * Return: the scatter list, owned by @obj; -EINVAL when a piece of it is not
 * 16 KiB aligned, so that the GPU cannot map it; -ENOMEM; -EINTR.
 */
struct sg_table *asahi_gem_pages(struct drm_gem_object *obj);

#endif
