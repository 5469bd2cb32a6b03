/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_CALIBRATION_H
#define VAGX_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"

struct vagx_soc;

/*
 * The calibration regions that the boot loader fills. Their layout follows the
 * firmware, their contents the SoC.
 */

/* The most that a region has with any firmware: m1n1 rust/src/gpu/raw.rs */
#define VAGX_HW_CAL_A_MAX	0x6c34
#define VAGX_HW_CAL_B_MAX	0x1884
#define VAGX_GLOBALS_MAX	0x1715c

/*
 * Globals.fault_control: with this value unmapped loads give zero and
 * unmapped stores vanish, instead of ending the job.
 */
#define VAGX_FAULT_CONTROL_SOFT		0xb

struct vagx_calibration {
	size_t hw_cal_a_size;
	size_t hw_cal_b_size;
	size_t globals_size;
	size_t fault_control;		/* its place in globals */
	uint8_t hw_cal_a[VAGX_HW_CAL_A_MAX];
	uint8_t hw_cal_b[VAGX_HW_CAL_B_MAX];
	uint8_t globals[VAGX_GLOBALS_MAX];
};

#define VAGX_MAX_PSTATES	16
#define VAGX_MAX_TABLES		8	/* of voltages, one for each cluster */
#define VAGX_MAX_DIES		2

/* Performance states of what is beside the clusters ("CS" and "AFR" on G14X) */
struct vagx_aux_power {
	unsigned int count;		/* 0: there are none */
	uint32_t mhz[VAGX_MAX_PSTATES];
	uint32_t mv[VAGX_MAX_PSTATES][VAGX_MAX_DIES];
	float leak[VAGX_MAX_DIES];
};

/**
 * struct vagx_power - what differs from chip to chip
 * @count: performance states; state 0 is off, at least one follows
 * @base: the one that boosting starts from
 * @mhz: clock of each
 * @mw: power of each
 * @mv: voltages of each, for each cluster
 * @core_leak: leakage of each cluster
 * @sram_leak: leakage of the memories of each cluster
 * @cs: of the caches?
 * @afr: of the fabric?
 */
struct vagx_power {
	unsigned int count;
	unsigned int base;
	uint32_t mhz[VAGX_MAX_PSTATES];
	uint32_t mw[VAGX_MAX_PSTATES];
	uint32_t mv[VAGX_MAX_PSTATES][VAGX_MAX_TABLES];
	float core_leak[VAGX_MAX_TABLES];
	float sram_leak[VAGX_MAX_TABLES];
	struct vagx_aux_power cs;
	struct vagx_aux_power afr;
};

/* A plausible chip */
void vagx_power_default(struct vagx_power *power, const struct vagx_soc *soc);

/**
 * vagx_calibration_fill() - what the boot loader would hand over
 * @soc: the SoC
 * @abi: its firmware's interface
 * @power: the chip
 * @ttbs: guest-physical address of the TTB table
 * @soft_faults: whether unmapped accesses are to be forgiven
 */
void vagx_calibration_fill(struct vagx_calibration *cal, const struct vagx_soc *soc,
			   enum fw_abi abi, const struct vagx_power *power, uint64_t ttbs,
			   bool soft_faults);

#endif
