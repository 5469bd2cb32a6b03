/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_BOOT_H
#define VAGX_BOOT_H

#include <stdbool.h>

#include "regions.h"

struct vagx_mem;
struct vagx_report;
struct vagx_soc;

/*
 * The boot loader's part: what lies in the reserved regions before the
 * guest's kernel starts; and what the coprocessor enters there at its start.
 */
struct vagx_boot;

struct vagx_boot_config {
	struct vagx_report *report;
	struct vagx_regions regions;
	const struct vagx_soc *soc;
	const char *firmware;
	const char *hw_cal_a;		/* files, NULL for the built-in values */
	const char *hw_cal_b;
	const char *globals;
	bool soft_faults;		/* of the built-in globals */
};

/**
 * vagx_boot_new() - prepare the contents
 *
 * Return: the boot loader, or NULL after an error message when a file cannot
 * be read or has the wrong size, or a region is too small.
 */
struct vagx_boot *vagx_boot_new(const struct vagx_boot_config *config);
void vagx_boot_free(struct vagx_boot *boot);

/* Writes the calibration regions to files, named as the regions are; false after a message */
bool vagx_boot_save(const struct vagx_boot *boot, const char *folder);

/* What the globals' fault control says */
bool vagx_boot_soft_faults(const struct vagx_boot *boot);

/**
 * vagx_boot_run() - fill the regions if they have memory by now
 *
 * MMIO thread, after each change of the guest's memory and after a reset.
 * Does nothing once it has filled them, until vagx_boot_again().
 *
 * Return: whether the regions are filled.
 */
bool vagx_boot_run(struct vagx_boot *boot, struct vagx_mem *mem);

/*
 * The coprocessor's CPU starts: it enters the tables of the two root entries that it keeps for
 * itself, before it says anything to the driver. MMIO thread.
 */
void vagx_boot_start(struct vagx_boot *boot, struct vagx_mem *mem);

/* The machine was reset: the next vagx_boot_run() fills the regions anew */
void vagx_boot_again(struct vagx_boot *boot);

#endif
