// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Module parameters.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/export.h>
#include <linux/module.h>

#include "asahi_hw.h"
#include "asahi_params.h"
#include "asahi_stage.h"

bool asahi_unproven;
EXPORT_SYMBOL_IF_KUNIT(asahi_unproven);
module_param_named(unproven, asahi_unproven, bool, 0444);
MODULE_PARM_DESC(unproven,
		 "Allow what has never been tried on Apple hardware: unbind, power off, restart of the firmware, high priorities, trimming (default: no)");

int asahi_fault_control = ASAHI_FAULT_CONTROL_SOFT;
module_param_named(fault_control, asahi_fault_control, int, 0444);
MODULE_PARM_DESC(fault_control,
		 "Fault control of the firmware: 0 makes unmapped accesses of shaders fault, 11 ignores them (default: 11)");

unsigned int asahi_hang_limit = ASAHI_HANG_LIMIT;
module_param_named(hang_limit, asahi_hang_limit, uint, 0444);
MODULE_PARM_DESC(hang_limit,
		 "Seconds that work may run without progress before it is taken to be lost (default: 600)");

unsigned int asahi_stage_limit = ASAHI_STAGE_ALL;
EXPORT_SYMBOL_IF_KUNIT(asahi_stage_limit);
module_param_named(stage, asahi_stage_limit, uint, 0644);
MODULE_PARM_DESC(stage,
		 "Stop the next probe after: 0 mapping, 1 start of the coprocessor, 2 boot of RTKit, 3 start of the firmware (default: 4, do not stop)");
