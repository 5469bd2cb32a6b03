/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Hwmon: power and temperature, where programs that monitor look for them.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_HWMON_H
#define ASAHI_HWMON_H

struct asahi_block;

extern const struct asahi_block asahi_block_hwmon;

#endif
