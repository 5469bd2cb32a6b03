/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * RTKit: booting and stopping the firmware, notifications.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RTKIT_H
#define ASAHI_RTKIT_H

#include <linux/types.h>

struct asahi_block;
struct asahi_device;

extern const struct asahi_block asahi_block_rtkit;

void asahi_rtkit_shutdown(struct asahi_device *adev);
bool asahi_rtkit_is_crashed(struct asahi_device *adev);

#endif
