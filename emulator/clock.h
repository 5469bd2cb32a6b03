/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_CLOCK_H
#define VAGX_CLOCK_H

#include <stdint.h>

/*
 * The GPU's clock is the guest's system counter. The carrier measures the
 * offset between that counter and the host's monotonic clock; between
 * samples the counter is taken to run at its nominal frequency.
 * All functions: any thread.
 */
struct vagx_clock;

struct vagx_clock *vagx_clock_new(void);
void vagx_clock_free(struct vagx_clock *clock);

/* Guest counter now, in ticks. 24 MHz from an arbitrary start until told. */
uint64_t vagx_clock_now(struct vagx_clock *clock);

/* Ticks a second */
uint64_t vagx_clock_frequency(struct vagx_clock *clock);

/* Host's monotonic time in ns: what the carrier's samples refer to */
uint64_t vagx_clock_host_ns(void);

/**
 * vagx_clock_set() - a sample of the guest's counter
 * @clock: the clock
 * @frequency: ticks a second, in the 32 bits of CNTFRQ_EL0; a sample with 0 or
 *             more is ignored
 * @guest: counter
 * @host_ns: vagx_clock_host_ns() of the same moment
 */
void vagx_clock_set(struct vagx_clock *clock, uint64_t frequency,
		    uint64_t guest, uint64_t host_ns);

#endif
