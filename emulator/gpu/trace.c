// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Writes a trace of the GPU's work in Chrome's trace event format, as JSON: an event "X" for each
 * span, on a track for each thread, and events "M" with the names of processes and tracks. Any
 * thread writes spans; a mutex of the trace keeps them whole, and flock() the beginning of a file
 * that several processes share.
 */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "gpu/trace.h"

#define NS_PER_S	1000000000ULL

struct vagx_trace {
	uint64_t number;		/* among all traces of the process, never 0 */
	struct vagx_clock *clock;
	pthread_mutex_t lock;		/* all below, and the order of what is written */
	FILE *file;
	unsigned int tracks;
	/* number of this process in the file */
	unsigned int process;
	/* other processes write to the file, too */
	bool is_shared;
	/* the name of this process is in the file */
	bool is_named;
};

static atomic_uint_fast64_t trace_traces;

/* The calling thread's track in the trace that it wrote to last */
static _Thread_local struct {
	uint64_t trace;
	unsigned int number;
} trace_track;

static void trace_name_process(struct vagx_trace *trace, const char *before, const char *name)
{
	fprintf(trace->file, "%s{\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\","
		"\"args\":{\"name\":\"", before, trace->process);
	for (; *name; name++)
		fputc(*name < ' ' || *name == '"' || *name == '\\' ? '?' : *name, trace->file);
	fputs("\"}}", trace->file);
}

static struct vagx_trace *trace_new(const char *path, const char *mode)
{
	struct vagx_trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return NULL;
	trace->file = fopen(path, mode);
	if (!trace->file) {
		free(trace);
		return NULL;
	}
	trace->number = atomic_fetch_add(&trace_traces, 1) + 1;
	pthread_mutex_init(&trace->lock, NULL);
	return trace;
}

struct vagx_trace *vagx_trace_open(const char *path, struct vagx_clock *clock)
{
	struct vagx_trace *trace = trace_new(path, "we");

	if (!trace)
		return NULL;
	trace->clock = clock;
	trace->process = 1;
	trace->is_named = true;
	/* Without its end the array is still read, so a process that is killed leaves one. */
	trace_name_process(trace, "[\n", "vagx");
	return trace;
}

struct vagx_trace *vagx_trace_join(const char *path)
{
	struct vagx_trace *trace = trace_new(path, "ae");

	if (!trace)
		return NULL;
	trace->process = getpid();
	trace->is_shared = true;
	return trace;
}

/* Begins the file, or goes on with it, and names this process. With the lock held. */
static void trace_join_process(struct vagx_trace *trace)
{
	int fd = fileno(trace->file);
	struct stat stat = { 0 };

	flock(fd, LOCK_EX);
	fstat(fd, &stat);
	trace_name_process(trace, stat.st_size ? ",\n" : "[\n", program_invocation_short_name);
	fflush(trace->file);
	flock(fd, LOCK_UN);
	trace->is_named = true;
}

int vagx_trace_close(struct vagx_trace *trace)
{
	int failed;

	if (!trace)
		return 0;
	if (!trace->is_shared)
		fputs("\n]\n", trace->file);
	failed = ferror(trace->file);
	failed |= fclose(trace->file);
	pthread_mutex_destroy(&trace->lock);
	free(trace);
	return failed ? -EIO : 0;
}

uint64_t vagx_trace_now(struct vagx_trace *trace)
{
	uint64_t ticks, frequency;

	if (!trace)
		return 0;
	if (!trace->clock)
		return vagx_clock_host_ns();
	ticks = vagx_clock_now(trace->clock);
	frequency = vagx_clock_frequency(trace->clock);
	return ticks / frequency * NS_PER_S + ticks % frequency * NS_PER_S / frequency;
}

/* Gives the thread a track with its name, before its first span. With the lock held. */
static void trace_name_track(struct vagx_trace *trace)
{
	char name[16] = "";

	if (trace_track.trace == trace->number)
		return;
	trace_track.trace = trace->number;
	trace_track.number = ++trace->tracks;
	pthread_getname_np(pthread_self(), name, sizeof(name));
	fprintf(trace->file,
		",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\","
		"\"args\":{\"name\":\"%s %u\"}}",
		trace->process, trace_track.number, name, trace_track.number);
}

void vagx_trace_span(struct vagx_trace *trace, const char *name, uint64_t begin,
		     const struct vagx_trace_arg *args, unsigned int count)
{
	uint64_t now = vagx_trace_now(trace), length = now > begin ? now - begin : 0;

	if (!trace)
		return;
	pthread_mutex_lock(&trace->lock);
	if (!trace->is_named)
		trace_join_process(trace);
	trace_name_track(trace);
	fprintf(trace->file,
		",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64
		".%03u,\"name\":\"%s\",\"args\":{",
		trace->process, trace_track.number, begin / 1000, (unsigned int)(begin % 1000),
		length / 1000, (unsigned int)(length % 1000), name);
	for (unsigned int i = 0; i < count; i++)
		fprintf(trace->file, "%s\"%s\":%" PRIu64, i ? "," : "", args[i].name, args[i].value);
	fputs("}}", trace->file);
	if (trace->is_shared)
		fflush(trace->file);
	pthread_mutex_unlock(&trace->lock);
}
