/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Recovery: what happens when work or the firmware fails.
 *
 * The notifications themselves are declared in asahi_channel.h, whose worker
 * delivers them.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RECOVERY_H
#define ASAHI_RECOVERY_H

#include <linux/types.h>

struct asahi_coredump;
struct asahi_device;

int asahi_recovery_init(struct asahi_device *adev);
void asahi_recovery_unplug(struct asahi_device *adev);
void asahi_recovery_fini(struct asahi_device *adev);

void asahi_recovery_wedged(struct asahi_device *adev, const char *why);
struct asahi_coredump *asahi_recovery_coredump(struct asahi_device *adev);

#endif
