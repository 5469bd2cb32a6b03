/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Rest: what holds of a device that has nothing to do.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_REST_H
#define ASAHI_REST_H

#include <linux/bits.h>
#include <linux/kconfig.h>
#include <linux/printk.h>
#include <linux/types.h>
#include <linux/util_macros.h>
#include <linux/workqueue.h>

struct drm_printer;

/**
 * enum asahi_rest_level - what is known of the device, and so what has to hold
 * @ASAHI_REST_START: nobody has used it yet: blocks note how much there is
 * @ASAHI_REST_AWAKE: it is at work: nothing is stopped that sleep and reset stop
 * @ASAHI_REST_FLIGHT: the firmware has no job, and none is handed to it
 * @ASAHI_REST_IDLE: no job is alive, and workers and timers that come to their end by
 *	themselves have done so
 * @ASAHI_REST_CLOSED: nobody has it open
 *
 * Each is a bit. What AWAKE, FLIGHT and CLOSED ask for holds from the moment on at which
 * their condition does. IDLE comes true a moment later, so only those who can look again
 * ask for it.
 */
enum asahi_rest_level {
	ASAHI_REST_START = BIT(0),
	ASAHI_REST_AWAKE = BIT(1),
	ASAHI_REST_FLIGHT = BIT(2),
	ASAHI_REST_IDLE = BIT(3),
	ASAHI_REST_CLOSED = BIT(4),
};

/**
 * struct asahi_rest - one look at all blocks
 * @levels: what is known of the device, enum asahi_rest_level
 * @name: block that is looked at, for messages
 * @p: gets a line for all that is not as it has to be
 * @broken: number of these lines
 */
struct asahi_rest {
	unsigned int levels;
	const char *name;
	struct drm_printer *p;
	unsigned int broken;
};

/**
 * asahi_rest_ptr() - the function of a block that says whether it is at rest
 * @_fn: function
 *
 * Without CONFIG_DRM_ASAHI_DEBUG it is NULL, and the compiler leaves @_fn out.
 */
#define asahi_rest_ptr(_fn) PTR_IF(IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG), (_fn))

/**
 * asahi_rest_asks() - is so much known of the device?
 * @rest: the look
 * @levels: enum asahi_rest_level
 *
 * Return: true if all of @levels are.
 */
static inline bool asahi_rest_asks(const struct asahi_rest *rest, unsigned int levels)
{
	return (rest->levels & levels) == levels;
}

/**
 * asahi_rest_expect() - say so if something is not as it has to be
 * @_rest: the look
 * @_levels: when it has to hold: with all of these
 * @_cond: what has to hold; evaluated only then
 *
 * What follows are the format and the arguments of a line that says what is wrong, with
 * names and numbers.
 */
#define asahi_rest_expect(_rest, _levels, _cond, ...) \
do { \
	struct asahi_rest *__rest = (_rest); \
	if (asahi_rest_asks(__rest, _levels) && !(_cond)) \
		asahi_rest_broken(__rest, __VA_ARGS__); \
} while (0)

/**
 * asahi_rest_end() - say so if something goes that is not as it has to be then
 * @_cond: what has to hold; not evaluated without CONFIG_DRM_ASAHI_DEBUG
 * @_fmt: format of a line that says what is wrong, without its end
 *
 * Its arguments follow. For objects that are freed.
 */
#define asahi_rest_end(_cond, _fmt, ...) \
do { \
	if (IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG) && !(_cond)) \
		pr_err_ratelimited("asahi: not at rest at its end: " _fmt "\n", ##__VA_ARGS__); \
} while (0)

/**
 * asahi_rest_disabled() - is a work item disabled?
 * @work: work item
 *
 * May be wrong about what happens meanwhile. Any context.
 *
 * Return: true if disable_work() was called more often than enable_work().
 */
static inline bool asahi_rest_disabled(struct work_struct *work)
{
	unsigned long data = READ_ONCE(*work_data_bits(work));

	return !(data & WORK_STRUCT_PWQ) && (data & WORK_OFFQ_DISABLE_MASK);
}

void asahi_rest_broken(struct asahi_rest *rest, const char *fmt, ...) __printf(2, 3);

#endif
