/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The driver's tracepoints, for tests of the asahi driver: the events of a client's jobs,
 * and their times.
 */
#ifndef ASAHI_TRACE_H
#define ASAHI_TRACE_H

#include <stdint.h>

#include "asahi_compute.h"

/**
 * struct asahi_trace_event - what to look for
 * @name: tracepoint
 * @client: client, or 0 for any
 * @job: job, or 0 for any
 */
struct asahi_trace_event {
	const char *name;
	uint64_t client;
	uint64_t job;
};

/* igt_asahi_trace_require - skips where nothing can be traced */
void igt_asahi_trace_require(void);
/* igt_asahi_trace_start - forgets what was traced before */
void igt_asahi_trace_start(void);
/* igt_asahi_trace_start_event - the same with one tracepoint more, and not with all */
void igt_asahi_trace_start_event(const char *name);
void igt_asahi_trace_stop(void);
/* igt_asahi_trace_read - the trace so far, until the next call */
const char *igt_asahi_trace_read(void);
/* igt_asahi_trace_client_id - the number that tracepoints have for a client */
uint64_t igt_asahi_trace_client_id(struct asahi_client *client);
/*
 * igt_asahi_trace_find - the next such line of a text, from what is behind the name on; NULL
 * if there is none. @end is its end.
 */
const char *igt_asahi_trace_find(const char *text, const struct asahi_trace_event *event,
				 const char **end);
/* igt_asahi_trace_time_us - when a line that was found was traced, microseconds */
uint64_t igt_asahi_trace_time_us(const char *text, const char *line);
/* igt_asahi_trace_pid_of - whose thread has traced a line that was found */
int igt_asahi_trace_pid_of(const char *text, const char *line);
/* igt_asahi_trace_is_bottom_half - was a line that was found traced in a bottom half? */
bool igt_asahi_trace_is_bottom_half(const char *text, const char *line);
/* igt_asahi_trace_value_of - the value of "key=" in a line; 0 without it */
int64_t igt_asahi_trace_value_of(const char *line, const char *end, const char *key);
unsigned int igt_asahi_trace_count(const char *text, const char *name, uint64_t client,
				   uint64_t job);

#endif
