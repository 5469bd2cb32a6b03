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
struct drm_gem_object;

/* The addresses of the objects of all clients. */
extern const struct asahi_block asahi_block_object;

int asahi_object_bind(struct asahi_file *file, struct drm_asahi_gem_bind_object *args);
int asahi_object_unbind(struct asahi_file *file, const struct drm_asahi_gem_bind_object *args);
void asahi_object_file_close(struct asahi_file *file);

struct asahi_object *asahi_object_lookup(struct asahi_file *file, u32 handle, u64 offset, u64 *va);
struct asahi_object *asahi_object_get(struct asahi_object *object);
void asahi_object_put(struct asahi_object *object);

#if IS_ENABLED(CONFIG_KUNIT)
struct asahi_object *asahi_object_create(struct asahi_device *adev, struct asahi_client *client,
					 struct drm_gem_object *gem, u64 offset, u64 size);
#endif

#endif
