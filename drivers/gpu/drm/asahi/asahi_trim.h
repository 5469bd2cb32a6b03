/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Trimming: idle queues give their large vertex buffers back.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_TRIM_H
#define ASAHI_TRIM_H

struct asahi_block;
struct asahi_device;

extern const struct asahi_block asahi_block_trim;

void asahi_trim_later(struct asahi_device *adev);

#endif
