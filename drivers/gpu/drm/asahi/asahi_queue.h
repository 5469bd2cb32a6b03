/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Queues: what user space submits to.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_QUEUE_H
#define ASAHI_QUEUE_H

#include <linux/types.h>

struct asahi_file;
struct asahi_queue;
struct drm_asahi_queue_create;

void asahi_queue_file_close(struct asahi_file *file);
int asahi_queue_create(struct asahi_file *file, const struct drm_asahi_queue_create *args,
		       u32 *id);
int asahi_queue_destroy(struct asahi_file *file, u32 id);

#endif
