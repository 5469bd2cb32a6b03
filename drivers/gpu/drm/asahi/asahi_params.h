/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Module parameters; all but the stage are read-only after load.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_PARAMS_H
#define ASAHI_PARAMS_H

#include <linux/types.h>

/** ASAHI_HANG_LIMIT - default of the parameter hang_limit, seconds */
#define ASAHI_HANG_LIMIT 600

extern bool asahi_unproven;
extern int asahi_fault_control;
extern unsigned int asahi_hang_limit;
extern unsigned int asahi_stage_limit;

#endif
