/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_CALIBRATION_H
#define VAGX_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

struct vagx_gpu_id;

/* Sizes of the structures for firmware 13.5 on G13: m1n1 rust/src/gpu/raw.rs */
#define VAGX_HW_CAL_A_SIZE	0x421c
#define VAGX_HW_CAL_B_SIZE	0x1884
#define VAGX_GLOBALS_SIZE	0x12394

/*
 * Globals.fault_control: with this value unmapped loads give zero and
 * unmapped stores vanish, instead of ending the job.
 */
#define VAGX_FAULT_CONTROL		0x10fd8
#define VAGX_FAULT_CONTROL_SOFT		0xb

struct vagx_calibration {
	uint8_t hw_cal_a[VAGX_HW_CAL_A_SIZE];
	uint8_t hw_cal_b[VAGX_HW_CAL_B_SIZE];
	uint8_t globals[VAGX_GLOBALS_SIZE];
};

/**
 * vagx_calibration_fill() - an M1 with plausible voltages and power limits
 * @id: the GPU
 * @ttbs: guest-physical address of the TTB table
 * @soft_faults: whether unmapped accesses are to be forgiven
 */
void vagx_calibration_fill(struct vagx_calibration *cal,
			   const struct vagx_gpu_id *id, uint64_t ttbs,
			   bool soft_faults);

#endif
