/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Reset: what follows a failure of the firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RESET_H
#define ASAHI_RESET_H

struct asahi_device;
struct asahi_rest;

int asahi_reset_init(struct asahi_device *adev);
void asahi_reset_enable(struct asahi_device *adev);
void asahi_reset_disable(struct asahi_device *adev);
void asahi_reset_restart(struct asahi_device *adev);
void asahi_reset_fini(struct asahi_device *adev);
void asahi_reset_at_rest(struct asahi_device *adev, struct asahi_rest *rest);

#endif
