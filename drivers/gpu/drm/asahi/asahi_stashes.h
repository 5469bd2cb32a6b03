/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stashes of all queues: those of idle ones are given back.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_STASHES_H
#define ASAHI_STASHES_H

#include <linux/types.h>

struct asahi_block;
struct asahi_device;

extern const struct asahi_block asahi_block_stashes;

void asahi_stashes_later(struct asahi_device *adev);
void asahi_stashes_reclaim(struct asahi_device *adev);
bool asahi_stashes_are_reclaimed(struct asahi_device *adev);

#endif
