/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */

/* What of include/defect.h the module has once. */
#include <linux/bitmap.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>

unsigned int asahi_defect;
module_param_named(defect, asahi_defect, uint, 0444);
MODULE_PARM_DESC(defect, "Number of the generated defect that is on");

static DECLARE_BITMAP(asahi_defects_seen, 1 << 16);

void asahi_defect_reached(unsigned int number)
{
	if (!test_and_set_bit(number & 0xffff, asahi_defects_seen))
		printk(KERN_INFO "asahi: defect %u is reached\n", number);
}
