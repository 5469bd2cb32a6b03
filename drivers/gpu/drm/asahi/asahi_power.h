/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Power: the GPU's power domain.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_POWER_H
#define ASAHI_POWER_H

#include <linux/types.h>

struct asahi_device;

int asahi_power_init(struct asahi_device *adev);
int asahi_power_hold(struct asahi_device *adev);
void asahi_power_unhold(struct asahi_device *adev);
void asahi_power_allow_off(struct asahi_device *adev, bool allow);

bool asahi_power_can_cut(struct asahi_device *adev);
bool asahi_power_was_cut(struct asahi_device *adev);
bool asahi_power_is_forced(struct asahi_device *adev);
int asahi_power_cut(struct asahi_device *adev);
int asahi_power_restore(struct asahi_device *adev);

#endif
