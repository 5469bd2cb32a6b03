/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * RTKit: booting the firmware, doorbells, notifications.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RTKIT_H
#define ASAHI_RTKIT_H

#include <linux/types.h>

struct asahi_block;
struct asahi_device;

/** ASAHI_DOORBELL_FWCTL - the firmware control ring's, for asahi_rtkit_post() */
#define ASAHI_DOORBELL_FWCTL 0x20

extern const struct asahi_block asahi_block_rtkit;

int asahi_rtkit_doorbell(struct asahi_device *adev, u8 channel);
void asahi_rtkit_post(struct asahi_device *adev, u8 channel);

#endif
