// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Memory that is registered for timestamps. The driver maps it into a window of the kernel's
 * GPU addresses, of which an open file may have as much as it leaves to all others. There is
 * no such window here, but the limits are the same. Times are written into the buffer's file
 * when a job ends. Called with shim_lock held.
 */
#include <errno.h>
#include <stdlib.h>

#include <agx/agx_uat.h>

#include "shim.h"

#define WINDOW_SIZE	(AGX_VA_TIMESTAMP_END - AGX_VA_TIMESTAMP_START)

static struct shim_object *object_objects;
static unsigned int object_count;

/* Return: whether @size bytes more would leave less to others than the file then has. */
static bool object_is_too_much(uint64_t owner, uint64_t size)
{
	const struct shim_object *object;
	uint64_t left = WINDOW_SIZE, held = 0;

	for (object = object_objects; object; object = object->next) {
		left -= object->size;
		if (object->owner == owner)
			held += object->size;
	}
	return size > left || held + size > left - size;
}

void shim_object_put(struct shim_object *object)
{
	struct shim_object **link = &object_objects;

	if (--object->refs)
		return;
	while (*link != object)
		link = &(*link)->next;
	*link = object->next;
	object_count--;
	shim_bo_put(object->bo);
	free(object);
}

unsigned int shim_object_count(void)
{
	return object_count;
}

static int object_bind(struct shim_file *file, struct drm_asahi_gem_bind_object *args)
{
	struct shim_object *object;
	struct shim_bo *bo;

	if (args->flags != DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS || !args->range ||
	    (args->offset | args->range) & AGX_PAGE_MASK)
		return EINVAL;
	bo = shim_table_get(&file->handles, args->handle);
	if (!bo)
		return ENOENT;
	if (args->offset > bo->size || args->range > bo->size - args->offset)
		return EINVAL;
	if (object_is_too_much(file->id, args->range))
		return ENOSPC;
	object = shim_alloc(sizeof(*object));
	*object = (struct shim_object){
		.refs = 1,
		.owner = file->id,
		.bo = shim_bo_get(bo),
		.offset = args->offset,
		.size = args->range,
		.next = object_objects,
	};
	object_objects = object;
	object_count++;
	args->object_handle = shim_table_add(&file->objects, object, UINT32_MAX);
	return 0;
}

static int object_unbind(struct shim_file *file, const struct drm_asahi_gem_bind_object *args)
{
	struct shim_object *object;

	if (args->flags || args->handle || args->offset || args->range)
		return EINVAL;
	object = shim_table_remove(&file->objects, args->object_handle);
	if (!object)
		return ENOENT;
	shim_object_put(object);
	return 0;
}

int shim_gem_bind_object(struct shim_file *file, union asahi_shim_args *all,
			 struct shim_call *call)
{
	struct drm_asahi_gem_bind_object *args = &all->gem_bind_object;

	if (args->pad || args->vm_id)
		return EINVAL;
	switch (args->op) {
	case DRM_ASAHI_BIND_OBJECT_OP_BIND:
		return object_bind(file, args);
	case DRM_ASAHI_BIND_OBJECT_OP_UNBIND:
		return object_unbind(file, args);
	default:
		return EINVAL;
	}
}

int shim_time_find(const struct shim_file *file, const struct drm_asahi_timestamp *ts,
		   struct shim_time *time)
{
	struct shim_object *object;

	*time = (struct shim_time){ NULL, 0 };
	if (!ts->handle)
		return 0;
	if (ts->offset % sizeof(uint64_t))
		return EINVAL;
	object = shim_table_get(&file->objects, ts->handle);
	if (!object)
		return ENOENT;
	if (ts->offset >= object->size)
		return ERANGE;
	object->refs++;
	*time = (struct shim_time){ object, ts->offset };
	return 0;
}

void shim_time_put(struct shim_time *time, bool write, uint64_t time_ns)
{
	const struct shim_object *object = time->object;

	if (!object)
		return;
	if (write)
		shim_bo_write(object->bo, object->offset + time->offset, &time_ns,
			      sizeof(time_ns));
	shim_object_put(time->object);
	time->object = NULL;
}

void shim_object_forget(void)
{
	object_objects = NULL;
	object_count = 0;
}
