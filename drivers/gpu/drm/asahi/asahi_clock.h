/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The GPU's clock, which is the system's counter.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_CLOCK_H
#define ASAHI_CLOCK_H

#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>

#ifdef CONFIG_ARM64
#include <clocksource/arm_arch_timer.h>
#else
#include <linux/ktime.h>
#endif

/**
 * asahi_clock_now() - read the clock
 *
 * Any context.
 *
 * Return: the time in ticks, as in the timestamps that the firmware writes.
 */
static inline u64 asahi_clock_now(void)
{
#ifdef CONFIG_ARM64
	return arch_timer_read_counter();
#else
	return ktime_get_raw_ns();
#endif
}

/**
 * asahi_clock_to_ns() - convert a time or a duration
 * @ticks: in ticks
 *
 * Any context.
 *
 * Return: the same in nanoseconds.
 */
static inline u64 asahi_clock_to_ns(u64 ticks)
{
#ifdef CONFIG_ARM64
	return mul_u64_u32_div(ticks, NSEC_PER_SEC, arch_timer_get_cntfrq());
#else
	return ticks;
#endif
}

#endif
