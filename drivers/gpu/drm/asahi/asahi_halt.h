/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Halts: the firmware goes on after a failure of work.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_HALT_H
#define ASAHI_HALT_H

struct asahi_block;
struct asahi_device;

extern const struct asahi_block asahi_block_halt;

void asahi_halt_end(struct asahi_device *adev, const char *what);

#endif
