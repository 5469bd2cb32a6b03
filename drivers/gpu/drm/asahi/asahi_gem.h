/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Buffer objects.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_GEM_H
#define ASAHI_GEM_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct asahi_device;
struct asahi_file;
struct dma_buf;
struct dma_buf_attachment;
struct drm_asahi_gem_create;
struct drm_asahi_gem_mmap_offset;
struct drm_device;
struct drm_gem_object;
struct sg_table;

/**
 * struct asahi_gem_list - All buffer objects of a device
 */
struct asahi_gem_list {
	/** @lock: protects @live; taken inside of everything else */
	spinlock_t lock;
	/** @live: the objects */
	struct list_head live;
};

/**
 * asahi_gem_list_init() - Prepare the list of a device's objects
 * @list: list
 */
void asahi_gem_list_init(struct asahi_gem_list *list);

/**
 * asahi_gem_list_unplug() - Remove the DMA mappings of all objects
 * @list: list; the device is unplugged, so that no ioctl makes new ones
 *
 * Objects, their contents and CPU mappings stay until their owners are gone.
 *
 * Context: process context; takes the reservation locks of the objects.
 */
void asahi_gem_list_unplug(struct asahi_gem_list *list);

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
 * asahi_gem_prime_import() - &drm_driver.gem_prime_import
 * @drm: device
 * @dma_buf: buffer of this or another device
 *
 * Context: process context; keeps the device from being unplugged meanwhile.
 * Return: an object for it with a reference, or an error pointer; -ENODEV when
 * the device is gone.
 */
struct drm_gem_object *asahi_gem_prime_import(struct drm_device *drm,
					      struct dma_buf *dma_buf);

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
				struct sg_table *sgt);

/**
 * asahi_gem_create_kernel() - Make an object for the driver's own use
 * @adev: device
 * @size: bytes, a multiple of 16 KiB
 *
 * Context: process context.
 * Return: the object with a reference, zeroed, or an error pointer.
 */
struct drm_gem_object *asahi_gem_create_kernel(struct asahi_device *adev,
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

#if IS_ENABLED(CONFIG_KUNIT)
bool asahi_gem_mappable(struct sg_table *sgt, u64 size);
#endif

#endif
