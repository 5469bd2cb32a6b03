// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Module parameters.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/array_size.h>
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "asahi_hw.h"
#include "asahi_params.h"
#include "asahi_stage.h"

/* A set of enum asahi_unproven_id. */
unsigned long asahi_unproven;
EXPORT_SYMBOL_IF_KUNIT(asahi_unproven);

static const char * const asahi_params_names[ASAHI_UNPROVEN_NUM] = {
	[ASAHI_UNPROVEN_UNBIND] = "unbind",
	[ASAHI_UNPROVEN_AGAIN] = "again",
	[ASAHI_UNPROVEN_POWER] = "power",
	[ASAHI_UNPROVEN_RESET] = "reset",
	[ASAHI_UNPROVEN_FLUSH] = "flush",
	[ASAHI_UNPROVEN_TRIM] = "trim",
	[ASAHI_UNPROVEN_PRIORITY] = "priority",
	[ASAHI_UNPROVEN_KNOBS] = "knobs",
	[ASAHI_UNPROVEN_SENSORS] = "sensors",
	[ASAHI_UNPROVEN_BLOCKS] = "blocks",
	[ASAHI_UNPROVEN_EVENTS] = "events",
};

/**
 * asahi_params_parse_unproven() - read a value of the parameter "unproven"
 * @text: names with commas between them; or 1, y, all, or nothing for all of them; or 0, n, none
 * @set: gets BIT(enum asahi_unproven_id) of each; unchanged on errors
 *
 * Process context.
 *
 * Return: 0, -EINVAL for an unknown name, or -ENOMEM.
 */
int asahi_params_parse_unproven(const char *text, unsigned long *set)
{
	static const char * const all[] = { "1", "y", "Y", "all" };
	static const char * const none[] = { "0", "n", "N", "none" };
	char *copy, *rest, *name;
	unsigned long found = 0;
	int i = 0;

	if (!text || match_string(all, ARRAY_SIZE(all), text) >= 0) {
		*set = GENMASK(ASAHI_UNPROVEN_NUM - 1, 0);
		return 0;
	}
	if (match_string(none, ARRAY_SIZE(none), text) >= 0) {
		*set = 0;
		return 0;
	}

	copy = kstrdup(text, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;

	rest = strim(copy);
	while (i >= 0 && (name = strsep(&rest, ","))) {
		i = match_string(asahi_params_names, ASAHI_UNPROVEN_NUM, name);
		if (i < 0)
			pr_err("asahi: parameter unproven: \"%s\" is unknown\n", name);
		else
			found |= BIT(i);
	}
	kfree(copy);
	if (i < 0)
		return -EINVAL;

	*set = found;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_params_parse_unproven);

static int asahi_params_set_unproven(const char *text, const struct kernel_param *kp)
{
	return asahi_params_parse_unproven(text, kp->arg);
}

static int asahi_params_get_unproven(char *buffer, const struct kernel_param *kp)
{
	unsigned long set = *(unsigned long *)kp->arg;
	unsigned int i;
	int len = 0;

	for_each_set_bit(i, &set, ASAHI_UNPROVEN_NUM)
		len += sysfs_emit_at(buffer, len, "%s%s", len ? "," : "", asahi_params_names[i]);

	return len + sysfs_emit_at(buffer, len, "%s\n", len ? "" : "none");
}

static const struct kernel_param_ops asahi_params_unproven_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = asahi_params_set_unproven,
	.get = asahi_params_get_unproven,
};
module_param_cb(unproven, &asahi_params_unproven_ops, &asahi_unproven, 0444);
MODULE_PARM_DESC(unproven,
		 "Allow what has never been tried on Apple hardware: names out of unbind, again, power, reset, flush, trim, priority, knobs, sensors, blocks, events; or all (default: none)");

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
