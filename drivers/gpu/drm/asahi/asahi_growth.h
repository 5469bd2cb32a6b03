/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Growth: answers to the firmware, which asks for larger vertex buffers.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_GROWTH_H
#define ASAHI_GROWTH_H

#include <linux/types.h>

struct asahi_block;
struct asahi_device;

/** ASAHI_GROWTH_REQUESTS - requests that can wait for their answers */
#define ASAHI_GROWTH_REQUESTS	128

extern const struct asahi_block asahi_block_growth;

void asahi_growth_request(struct asahi_device *adev, u32 vm_slot, u32 buffer_slot, u32 counter);

/* For tests. */
bool asahi_growth_answer_all(struct asahi_device *adev);

#endif
