// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Timestamps: memory of clients in which the firmware writes down times.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/kref.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include <kunit/visibility.h>

#include <drm/asahi_drm.h>
#include <drm/drm_gem.h>
#include <drm/drm_mm.h>
#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_block.h"
#include "asahi_client.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_gem.h"
#include "asahi_rest.h"
#include "asahi_timestamps.h"

/**
 * DOC: Timestamps
 *
 * A client can have the firmware write down when its commands start and end. For
 * that it registers memory of its own, which the interface to user space calls an
 * object. The driver maps it into a window of the kernel half, coherent and for the
 * firmware only. The window is where the firmware expects such memory: 64 MiB, for
 * all clients together.
 *
 * An object lives until it is unbound, or its file closed, and the last job that
 * names it has ended: only then does its mapping go, and with it the object's hold
 * on the memory. So the firmware never finds a timestamp's address unmapped or in
 * somebody else's hands. The firmware does not cache what it writes there, so that
 * invalidating the TLBs is all that is to be done.
 *
 * No client can keep others from the window: a bind that would give a client more
 * addresses than it leaves to all others is refused. One that is alone gets half of
 * the window, and each that comes later half of what is still there. What jobs in
 * flight hold counts after it was unbound, too.
 *
 * Mappings outlast a reset, as all of the kernel half does. When the device is
 * unplugged, the address space is cut off and the memory's DMA mappings go with
 * all others; what is left of an object then is only its record.
 */

/**
 * struct asahi_timestamps - memory that is registered with the firmware
 * @refcount: one for the file's table, one for each time of a job
 * @adev: device
 * @client: whose it is, with a reference
 * @gem: the memory, with a reference
 * @va: its addresses
 * @mapped: bytes from their beginning that are mapped
 * @pinned: @gem is pinned
 *
 * Constant once it is in the file's table. The lock of &struct asahi_timestamp_window
 * protects @va's place in the window.
 */
struct asahi_timestamps {
	struct kref refcount;
	struct asahi_device *adev;
	struct asahi_client *client;
	struct drm_gem_object *gem;
	struct drm_mm_node va;
	u64 mapped;
	bool pinned;
};

/**
 * struct asahi_timestamp_window - the window that all objects of a device are in
 */
struct asahi_timestamp_window {
	/** @lock: protects @mm; nothing is allocated or waited for under it */
	struct mutex lock;
	/** @mm: addresses of struct asahi_timestamps.va */
	struct drm_mm mm;
};

/* Would @client have more than is left for others if it got @size bytes more? */
static bool asahi_timestamps_is_too_much(struct asahi_timestamp_window *window,
					 const struct asahi_client *client, u64 size)
{
	u64 left = AGX_VA_TIMESTAMP_END - AGX_VA_TIMESTAMP_START;
	struct drm_mm_node *node;
	u64 held = 0;

	lockdep_assert_held(&window->lock);

	drm_mm_for_each_node(node, &window->mm) {
		left -= node->size;
		if (container_of(node, struct asahi_timestamps, va)->client == client)
			held += node->size;
	}

	return size > left || held + size > left - size;
}

static int asahi_timestamps_reserve(struct asahi_timestamps *object, u64 size)
{
	struct asahi_timestamp_window *window = object->adev->timestamp_window;

	guard(mutex)(&window->lock);
	if (asahi_timestamps_is_too_much(window, object->client, size))
		return -ENOSPC;

	return drm_mm_insert_node_generic(&window->mm, &object->va, size, AGX_PAGE_SIZE, 0,
					  DRM_MM_INSERT_BEST);
}

static int asahi_timestamps_map(struct asahi_timestamps *object, u64 offset)
{
	struct asahi_gem_piece piece;
	struct scatterlist *sg;
	u64 skip;
	int ret;

	ret = asahi_gem_pin(object->gem);
	if (ret)
		return ret;
	object->pinned = true;

	asahi_gem_find(object->gem, offset, &piece);
	skip = offset - piece.start;
	for (sg = piece.sg; object->mapped < object->va.size; sg = sg_next(sg)) {
		u64 size = min(sg_dma_len(sg) - skip, object->va.size - object->mapped);

		ret = asahi_aspace_map(&object->adev->kernel_as,
				       object->va.start + object->mapped,
				       sg_dma_address(sg) + skip, size, ASAHI_PROT_FW_SHARED_RW);
		if (ret)
			return ret;
		object->mapped += size;
		skip = 0;
	}

	return 0;
}

static void asahi_timestamps_release(struct kref *ref)
{
	struct asahi_timestamps *object = container_of(ref, struct asahi_timestamps, refcount);
	struct asahi_device *adev = object->adev;

	/* Nothing of it is cached, so nothing has to be confirmed. */
	if (object->mapped)
		asahi_aspace_unmap(&adev->kernel_as, object->va.start, object->mapped,
				   ASAHI_PROT_FW_SHARED_RW);

	if (drm_mm_node_allocated(&object->va)) {
		guard(mutex)(&adev->timestamp_window->lock);
		drm_mm_remove_node(&object->va);
	}

	if (object->pinned)
		asahi_gem_unpin(object->gem);
	drm_gem_object_put(object->gem);
	asahi_client_put(object->client);
	kfree(object);
	asahi_count_dec(ASAHI_COUNT_TIMESTAMPS);
}

/**
 * asahi_timestamps_get() - take a reference
 * @object: object, or NULL
 *
 * Any context.
 *
 * Return: @object.
 */
struct asahi_timestamps *asahi_timestamps_get(struct asahi_timestamps *object)
{
	if (object)
		kref_get(&object->refcount);

	return object;
}

/**
 * asahi_timestamps_put() - drop a reference
 * @object: object, or NULL
 *
 * Process context, may sleep.
 */
void asahi_timestamps_put(struct asahi_timestamps *object)
{
	if (object)
		kref_put(&object->refcount, asahi_timestamps_release);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_timestamps_put);

/**
 * asahi_timestamps_create() - map memory for the firmware
 * @adev: device
 * @client: whose the addresses are
 * @gem: the memory
 * @offset: where in @gem it begins, page aligned
 * @size: bytes, a multiple of the page size
 *
 * Process context, may sleep; takes the reservation lock of @gem.
 *
 * Return: an object with one reference, or an error pointer: -ENOSPC when the
 * client has its share of the addresses or no gap is large enough; -EINVAL when
 * the GPU cannot map @gem; -ENOMEM; -EINTR; -ENODEV after unplug.
 */
VISIBLE_IF_KUNIT struct asahi_timestamps *
asahi_timestamps_create(struct asahi_device *adev, struct asahi_client *client,
			struct drm_gem_object *gem, u64 offset, u64 size)
{
	struct asahi_timestamps *object;
	int ret;

	object = kzalloc_obj(*object, GFP_KERNEL_ACCOUNT);
	if (!object)
		return ERR_PTR(-ENOMEM);

	kref_init(&object->refcount);
	object->adev = adev;
	object->client = asahi_client_get(client);
	drm_gem_object_get(gem);
	object->gem = gem;
	asahi_count_inc(ASAHI_COUNT_TIMESTAMPS);

	ret = asahi_timestamps_reserve(object, size);
	if (!ret)
		ret = asahi_timestamps_map(object, offset);
	if (ret) {
		asahi_timestamps_put(object);
		return ERR_PTR(ret);
	}

	return object;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_timestamps_create);

static struct asahi_timestamps *
asahi_timestamps_bind_gem(struct asahi_file *file, struct drm_gem_object *gem,
			  const struct drm_asahi_gem_bind_object *args)
{
	struct drm_device *drm = &file->adev->drm;
	struct asahi_timestamps *object;

	if (args->offset > gem->size || args->range > gem->size - args->offset) {
		drm_dbg(drm, "%#llx + %#llx is beyond the object's %#zx\n", args->offset,
			args->range, gem->size);
		return ERR_PTR(-EINVAL);
	}

	object = asahi_timestamps_create(file->adev, file->client, gem, args->offset, args->range);
	if (IS_ERR(object))
		drm_dbg(drm, "%#llx bytes for timestamps cannot be mapped: %pe\n", args->range,
			object);

	return object;
}

/**
 * asahi_timestamps_bind() - register memory with the firmware
 * @file: open file
 * @args: arguments of the ioctl, whose op, pad and vm_id were checked;
 *	@args->object_handle is filled in
 *
 * Process context (ioctl).
 *
 * Return: 0, or what struct drm_asahi_gem_bind_object says.
 */
int asahi_timestamps_bind(struct asahi_file *file, struct drm_asahi_gem_bind_object *args)
{
	struct drm_device *drm = &file->adev->drm;
	struct asahi_timestamps *object;
	struct drm_gem_object *gem;
	int ret;

	if (args->flags != DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS || !args->range ||
	    !IS_ALIGNED(args->offset | args->range, AGX_PAGE_SIZE)) {
		drm_dbg(drm, "object with flags %#x, offset %#llx, range %#llx\n", args->flags,
			args->offset, args->range);
		return -EINVAL;
	}

	gem = drm_gem_object_lookup(file->drm_file, args->handle);
	if (!gem) {
		drm_dbg(drm, "no object %u\n", args->handle);
		return -ENOENT;
	}

	object = asahi_timestamps_bind_gem(file, gem, args);
	drm_gem_object_put(gem);
	if (IS_ERR(object))
		return PTR_ERR(object);

	ret = xa_alloc(&file->timestamps, &args->object_handle, object, XA_LIMIT(1, U32_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (ret)
		asahi_timestamps_put(object);

	return ret;
}

/**
 * asahi_timestamps_unbind() - take a registration back
 * @file: open file
 * @args: arguments of the ioctl, whose op, pad and vm_id were checked
 *
 * Jobs that name it keep it until they have ended. Process context (ioctl).
 *
 * Return: 0, or what struct drm_asahi_gem_bind_object says.
 */
int asahi_timestamps_unbind(struct asahi_file *file, const struct drm_asahi_gem_bind_object *args)
{
	struct asahi_timestamps *object;

	if (args->flags || args->handle || args->offset || args->range) {
		drm_dbg(&file->adev->drm, "unbind takes a handle only: all other fields must be 0\n");
		return -EINVAL;
	}

	object = xa_erase(&file->timestamps, args->object_handle);
	if (!object) {
		drm_dbg(&file->adev->drm, "no timestamp object %u\n", args->object_handle);
		return -ENOENT;
	}

	asahi_timestamps_put(object);
	return 0;
}

/**
 * asahi_timestamps_file_close() - unbind all objects of a file
 * @file: file that is being closed
 *
 * Process context.
 */
void asahi_timestamps_file_close(struct asahi_file *file)
{
	struct asahi_timestamps *object;
	unsigned long id;

	xa_for_each(&file->timestamps, id, object) {
		xa_erase(&file->timestamps, id);
		asahi_timestamps_put(object);
	}
}

/**
 * asahi_timestamps_lookup() - find the address of a time in a registered object
 * @file: open file
 * @handle: the object's handle
 * @offset: offset of the time in it, a multiple of 8
 * @va: address that the firmware writes to
 *
 * Process context.
 *
 * Return: the object, with a reference; -ENOENT if it is not bound; -ERANGE for an offset
 * behind its end.
 */
struct asahi_timestamps *asahi_timestamps_lookup(struct asahi_file *file, u32 handle, u64 offset,
						 u64 *va)
{
	struct asahi_timestamps *object;

	/* Unbinding drops the table's reference after it has left the table. */
	scoped_guard(spinlock, &file->timestamps.xa_lock)
		object = asahi_timestamps_get(xa_load(&file->timestamps, handle));
	if (!object)
		return ERR_PTR(-ENOENT);

	/* Both are aligned, so what begins inside ends inside. */
	if (offset >= object->va.size) {
		asahi_timestamps_put(object);
		return ERR_PTR(-ERANGE);
	}

	*va = object->va.start + offset;
	return object;
}

static int asahi_timestamps_init(struct asahi_device *adev)
{
	struct asahi_timestamp_window *window = kzalloc_obj(*window);

	if (!window)
		return -ENOMEM;

	mutex_init(&window->lock);
	drm_mm_init(&window->mm, AGX_VA_TIMESTAMP_START,
		    AGX_VA_TIMESTAMP_END - AGX_VA_TIMESTAMP_START);
	adev->timestamp_window = window;
	return 0;
}

static void asahi_timestamps_fini(struct asahi_device *adev)
{
	struct asahi_timestamp_window *window = adev->timestamp_window;

	if (!window)
		return;

	adev->timestamp_window = NULL;
	drm_mm_takedown(&window->mm);
	mutex_destroy(&window->lock);
	kfree(window);
}

static void asahi_timestamps_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	guard(mutex)(&adev->timestamp_window->lock);
	asahi_rest_expect(rest, ASAHI_REST_CLOSED, drm_mm_clean(&adev->timestamp_window->mm),
			  "there are objects for timestamps");
}

const struct asahi_block asahi_block_timestamps = {
	.name = "timestamps",
	.init = asahi_timestamps_init,
	.fini = asahi_timestamps_fini,
	.at_rest = asahi_rest_ptr(asahi_timestamps_at_rest),
};
EXPORT_SYMBOL_IF_KUNIT(asahi_block_timestamps);
