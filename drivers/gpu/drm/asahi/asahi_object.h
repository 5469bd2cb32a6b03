/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Objects: memory that clients have registered with the firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_OBJECT_H
#define ASAHI_OBJECT_H

#include <linux/kconfig.h>
#include <linux/types.h>

struct asahi_block;
struct asahi_client;
struct asahi_device;
struct asahi_file;
struct asahi_object;
struct drm_asahi_gem_bind_object;
struct drm_asahi_timestamps;
struct drm_gem_object;

/**
 * struct asahi_user_time - where the firmware writes a time for a client
 * @object: memory that this is in, with a reference; NULL for nowhere
 * @va: address that the firmware writes to; 0 for nowhere
 */
struct asahi_user_time {
	struct asahi_object *object;
	u64 va;
};

/**
 * struct asahi_user_times - where the times of a piece of work go
 * @start: time of its start
 * @end: time of its end
 */
struct asahi_user_times {
	struct asahi_user_time start;
	struct asahi_user_time end;
};

/* The addresses of the objects of all clients. */
extern const struct asahi_block asahi_block_object;

int asahi_object_bind(struct asahi_file *file, struct drm_asahi_gem_bind_object *args);
int asahi_object_unbind(struct asahi_file *file, const struct drm_asahi_gem_bind_object *args);
void asahi_object_file_close(struct asahi_file *file);

int asahi_user_times_find(struct asahi_file *file, const struct drm_asahi_timestamps *ts,
			  struct asahi_user_times *times);
struct asahi_user_times asahi_user_times_get(const struct asahi_user_times *times);
void asahi_user_times_put(struct asahi_user_times *times);

#if IS_ENABLED(CONFIG_KUNIT)
struct asahi_object *asahi_object_create(struct asahi_device *adev, struct asahi_client *client,
					 struct drm_gem_object *gem, u64 offset, u64 size);
void asahi_object_put(struct asahi_object *object);
#endif

#endif
