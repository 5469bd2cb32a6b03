/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_OPTIONS_H
#define VAGX_OPTIONS_H

#include <stdbool.h>

#include "firmware/firmware.h"
#include "jit/jit.h"
#include "sanitizer/sanitizer.h"
#include "report.h"
#include "regions.h"
#include "soc.h"

/* Exit statuses */
enum {
	VAGX_EXIT_OK = 0,
	VAGX_EXIT_VIOLATION = 1,
	VAGX_EXIT_USAGE = 2,
	VAGX_EXIT_FAILURE = 3,
};

struct vagx_options {
	const struct vagx_soc *soc;	/* @chip, if it has a core mask */
	const char *core_mask;		/* as given, or NULL */
	struct vagx_soc chip;
	const char *firmware;
	const char *socket;		/* path to listen on, or NULL */
	int fd;				/* connected socket, or -1 */
	const char *hw_cal_a;
	const char *hw_cal_b;
	const char *globals;
	struct vagx_regions regions;
	bool soft_faults;
	bool no_exec;
	bool lenient;
	bool poison;
	unsigned int cores;
	struct vagx_jit_config jit;
	struct vagx_sanitizer_config sanitizer;
	unsigned int unkind;		/* seed of unkind cores, or 0 */
	unsigned int job_timeout_ms;
	unsigned int halt_delay_ms;
	unsigned int event_delay_ms;
	unsigned int doorbell_delay_ms;
	bool serial;
	bool unfair;
	bool statistics;
	bool late_threshold;
	bool fault_bits;
	bool write_back;
	bool keep_holes;
	unsigned int tvb_pages;
	bool tvb_grow;
	const char *dump;		/* file for commands, or NULL */
	const char *trace;		/* file for what the units did, or NULL */
	unsigned int mailbox_delay_ms;
	uint64_t seed;
	enum vagx_power_off power_off;
	const char *control;
	const char *tlbi;		/* path for QEMU's plugin, or NULL */
	const char *save_calibration;	/* folder, or NULL */
	enum vagx_log_level log;
};

/**
 * vagx_options_parse() - read the command line
 * @status: exit status where the answer is not to go on
 *
 * Prints help, lists and error messages itself.
 *
 * Return: whether to go on.
 */
bool vagx_options_parse(struct vagx_options *options, int argc, char **argv,
			int *status);

#endif
