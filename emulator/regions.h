/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_REGIONS_H
#define VAGX_REGIONS_H

#include <stdint.h>

/*
 * The reserved-memory regions of the apple,agx binding, in guest-physical
 * addresses. The boot loader fills them; the firmware knows where they are.
 */
enum vagx_region_id {
	VAGX_REGION_TTBS,
	VAGX_REGION_PAGETABLES,
	VAGX_REGION_HANDOFF,
	VAGX_REGION_HW_CAL_A,
	VAGX_REGION_HW_CAL_B,
	VAGX_REGION_GLOBALS,
	VAGX_REGION_COUNT
};

struct vagx_region {
	uint64_t base;
	uint64_t size;
};

struct vagx_regions {
	struct vagx_region region[VAGX_REGION_COUNT];
};

#endif
