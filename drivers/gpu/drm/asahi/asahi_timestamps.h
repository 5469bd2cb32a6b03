/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Timestamps: memory of clients in which the firmware writes down times.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_TIMESTAMPS_H
#define ASAHI_TIMESTAMPS_H

#include <linux/kconfig.h>
#include <linux/types.h>

struct asahi_block;
struct asahi_client;
struct asahi_device;
struct asahi_file;
struct asahi_timestamps;
struct drm_asahi_gem_bind_object;
struct drm_gem_object;

/* The addresses of the objects of all clients. */
extern const struct asahi_block asahi_block_timestamps;

int asahi_timestamps_bind(struct asahi_file *file, struct drm_asahi_gem_bind_object *args);
int asahi_timestamps_unbind(struct asahi_file *file, const struct drm_asahi_gem_bind_object *args);
void asahi_timestamps_file_close(struct asahi_file *file);

struct asahi_timestamps *asahi_timestamps_lookup(struct asahi_file *file, u32 handle, u64 offset,
						 u64 *va);
struct asahi_timestamps *asahi_timestamps_get(struct asahi_timestamps *object);
void asahi_timestamps_put(struct asahi_timestamps *object);

#if IS_ENABLED(CONFIG_KUNIT)
struct asahi_timestamps *
asahi_timestamps_create(struct asahi_device *adev, struct asahi_client *client,
			struct drm_gem_object *gem, u64 offset, u64 size);
#endif

#endif
