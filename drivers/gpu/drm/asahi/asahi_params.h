/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Module parameters; all but the stage are read-only after load.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_PARAMS_H
#define ASAHI_PARAMS_H

#include <linux/bits.h>
#include <linux/types.h>

/** ASAHI_HANG_LIMIT - default of the parameter hang_limit, seconds */
#define ASAHI_HANG_LIMIT 600

extern unsigned long asahi_unproven;
extern int asahi_fault_control;
extern unsigned int asahi_hang_limit;
extern unsigned int asahi_stage_limit;

/**
 * enum asahi_unproven_id - what nobody has tried on Apple hardware
 * @ASAHI_UNPROVEN_UNBIND: the driver is unbound; with @ASAHI_UNPROVEN_POWER it is unloaded, too
 * @ASAHI_UNPROVEN_AGAIN: a firmware that has been used since the boot is used again
 * @ASAHI_UNPROVEN_POWER: the firmware is stopped and the domain switched off, in system sleep
 *	and in runtime suspend
 * @ASAHI_UNPROVEN_RESET: a firmware that has failed is started again, from a power cut
 * @ASAHI_UNPROVEN_FLUSH: cached memory is taken back, once the firmware says that it has
 *	flushed it
 * @ASAHI_UNPROVEN_TRIM: the vertex buffers of idle queues are taken back
 * @ASAHI_UNPROVEN_PRIORITY: queues of high and realtime priority
 * @ASAHI_UNPROVEN_KNOBS: values of knobs that no reference writes
 * @ASAHI_UNPROVEN_SENSORS: power and temperature in hwmon
 * @ASAHI_UNPROVEN_BLOCKS: entries of level 2 map blocks of 32 MiB
 * @ASAHI_UNPROVEN_EVENTS: the firmware is asked to tell of each job of a busy queue
 * @ASAHI_UNPROVEN_NUM: number of them
 */
enum asahi_unproven_id {
	ASAHI_UNPROVEN_UNBIND,
	ASAHI_UNPROVEN_AGAIN,
	ASAHI_UNPROVEN_POWER,
	ASAHI_UNPROVEN_RESET,
	ASAHI_UNPROVEN_FLUSH,
	ASAHI_UNPROVEN_TRIM,
	ASAHI_UNPROVEN_PRIORITY,
	ASAHI_UNPROVEN_KNOBS,
	ASAHI_UNPROVEN_SENSORS,
	ASAHI_UNPROVEN_BLOCKS,
	ASAHI_UNPROVEN_EVENTS,
	ASAHI_UNPROVEN_NUM,
};

/**
 * asahi_allows() - has the user allowed it?
 * @what: something that is unproven
 *
 * Any context; the same as long as the module is loaded.
 *
 * Return: true if the parameter "unproven" names it.
 */
static inline bool asahi_allows(enum asahi_unproven_id what)
{
	return asahi_unproven & BIT(what);
}

int asahi_params_parse_unproven(const char *text, unsigned long *set);

#endif
