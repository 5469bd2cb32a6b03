/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the units did and when, as a file that Perfetto (ui.perfetto.dev) and
 * Chrome's about:tracing open: an array of JSON objects, one for each span of time.
 */
#ifndef VAGX_TRACE_H
#define VAGX_TRACE_H

#include <stdint.h>

struct vagx_clock;
struct vagx_trace;

/**
 * struct vagx_trace_arg - a number that belongs to a span
 * @name: its name; no character in it needs escaping in JSON
 * @value: the number
 */
struct vagx_trace_arg {
	const char *name;
	uint64_t value;
};

/**
 * vagx_trace_open() - begin a trace
 * @path: file that is made or replaced
 * @clock: time as the guest sees it, so that the times are those of the driver's
 *	tracepoints; NULL for the host's monotonic clock
 *
 * Return: the trace, or NULL with errno set.
 */
struct vagx_trace *vagx_trace_open(const char *path, struct vagx_clock *clock);

/**
 * vagx_trace_join() - go on with a trace that may have spans of other processes
 * @path: file that is made if it is not there
 *
 * Times are the host's monotonic clock. A process is in it from its first span on. Each
 * span is written at once, so that the processes' do not mix. The array has no end, as
 * others may go on with it: Perfetto reads it nevertheless, and for others "]" has to be
 * added.
 *
 * Return: the trace, or NULL with errno set.
 */
struct vagx_trace *vagx_trace_join(const char *path);

/**
 * vagx_trace_close() - end a trace
 * @trace: trace that nobody writes to any more, or NULL
 *
 * Return: 0, or -EIO when not all of it could be written.
 */
int vagx_trace_close(struct vagx_trace *trace);

/**
 * vagx_trace_now() - the time at which a span begins
 * @trace: trace, or NULL
 *
 * Any thread.
 *
 * Return: nanoseconds; 0 without a trace.
 */
uint64_t vagx_trace_now(struct vagx_trace *trace);

/**
 * vagx_trace_span() - write a span that ends now
 * @trace: trace; nothing happens when it is NULL
 * @name: what was done; no character in it needs escaping in JSON
 * @begin: when it began, from vagx_trace_now()
 * @args: numbers that belong to it
 * @count: how many
 *
 * Any thread. The span is on the track of the calling thread, so spans of a thread
 * must nest.
 */
void vagx_trace_span(struct vagx_trace *trace, const char *name, uint64_t begin,
		     const struct vagx_trace_arg *args, unsigned int count);

#endif
