/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Reads how long work items and interrupts took from the kernel's trace
 * buffer, to the nanosecond: what tracefs prints as text is rounded.
 */
#ifndef CLIENT_TRACE_RING_H
#define CLIENT_TRACE_RING_H

#include <stdint.h>

#define TRACE_NAME_MAX	64
#define TRACE_MAX_SPANS	32

/** struct trace_span - what one function or interrupt took in all */
struct trace_span {
	char name[TRACE_NAME_MAX];
	/** @ns: without the interrupts in between */
	uint64_t ns;
	/** @count: how often it ran */
	unsigned int count;
};

/** struct trace_ring - processor 0's buffer */
struct trace_ring;

/**
 * trace_ring_open() - enable the events of work items and interrupts
 * @ring: the buffer
 *
 * Return: 0 or a negative errno value.
 */
int trace_ring_open(struct trace_ring **ring);

/** trace_ring_close() - disable the events */
void trace_ring_close(struct trace_ring *ring);

/** trace_ring_start() - forget what is in the buffer and record */
int trace_ring_start(struct trace_ring *ring);

/**
 * trace_ring_stop() - stop recording and add up
 * @ring: buffer
 * @spans: the results
 *
 * Return: number of @spans, or a negative errno value.
 */
int trace_ring_stop(struct trace_ring *ring,
		    struct trace_span spans[TRACE_MAX_SPANS]);

/**
 * trace_ring_name() - say what a span's name means
 * @name: "irq" and a number, or an address; becomes the name of the device or
 *	  the function if it is known
 *
 * This is slow.
 */
void trace_ring_name(char name[TRACE_NAME_MAX]);

#endif /* CLIENT_TRACE_RING_H */
