/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The memory regions that the boot loader leaves behind.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_REGION_H
#define ASAHI_REGION_H

#include <linux/types.h>

struct asahi_device;

/**
 * enum asahi_region_id - regions, by what they hold
 * @ASAHI_REGION_HANDOFF: the handoff region, shared with the firmware
 * @ASAHI_REGION_TTBS: the table of contexts, shared with the firmware
 * @ASAHI_REGION_PAGETABLES: root of the kernel half, shared with the firmware
 * @ASAHI_REGION_HW_CAL_A: calibration, HwDataA
 * @ASAHI_REGION_HW_CAL_B: calibration, HwDataB
 * @ASAHI_REGION_GLOBALS: calibration, Globals
 * @ASAHI_REGIONS: number of regions
 */
enum asahi_region_id {
	ASAHI_REGION_HANDOFF,
	ASAHI_REGION_TTBS,
	ASAHI_REGION_PAGETABLES,
	ASAHI_REGION_HW_CAL_A,
	ASAHI_REGION_HW_CAL_B,
	ASAHI_REGION_GLOBALS,
	ASAHI_REGIONS,
};

/**
 * struct asahi_region - one of them
 * @map: where it is mapped, until the driver is unbound
 * @phys: where it is
 */
struct asahi_region {
	void *map;
	phys_addr_t phys;
};

int asahi_regions_map(struct asahi_device *adev);

#if IS_ENABLED(CONFIG_KUNIT)
int asahi_region_check_clocks(struct asahi_device *adev);
#endif

#endif
