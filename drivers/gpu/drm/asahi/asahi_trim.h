/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Trimming: idle queues give their large vertex buffers back.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_TRIM_H
#define ASAHI_TRIM_H

#include <linux/types.h>

struct asahi_block;
struct asahi_device;

extern const struct asahi_block asahi_block_trim;

void asahi_trim_later(struct asahi_device *adev);
void asahi_trim_reclaim(struct asahi_device *adev);
bool asahi_trim_is_waiting(struct asahi_device *adev);
bool asahi_trim_is_reclaiming(struct asahi_device *adev);

#endif
