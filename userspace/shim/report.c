// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Reports of jobs that failed, for people or for vagx-run: on the standard error, or in a
 * file that all processes of a program append to. The file also says which process has
 * opened the device and which has submitted jobs.
 *
 * Any thread may report, with or without shim_lock: messages are kept whole by the stream's
 * lock, and by a buffer that is flushed with one write.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

/* Bytes. A message is shorter, so that it is one write and no other process's gets into it. */
#define REPORT_BUFFER	65536

static FILE *report_file;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
static bool report_used[SHIM_USES];

int shim_report_open(const char *path)
{
	report_file = shim_fd_stream(path, O_APPEND);
	if (!report_file)
		return errno;
	setvbuf(report_file, NULL, _IOFBF, REPORT_BUFFER);
	return 0;
}

FILE *shim_report_stream(void)
{
	return report_file ? report_file : stderr;
}

void shim_report(const char *format, ...)
{
	FILE *file = shim_report_stream();
	va_list args;

	flockfile(file);
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	fputc('\n', file);
	fflush(file);
	funlockfile(file);
}

void shim_report_use(enum shim_use use)
{
	static const char *const names[SHIM_USES] = {
		[SHIM_USE_OPEN] = "opened by",
		[SHIM_USE_SUBMIT] = "submitted to by",
	};
	bool first;

	if (!report_file)
		return;
	pthread_mutex_lock(&report_lock);
	first = !report_used[use];
	report_used[use] = true;
	pthread_mutex_unlock(&report_lock);
	if (first)
		shim_report("asahi_shim: %s process %d (%s)", names[use], getpid(),
			    program_invocation_short_name);
}

void shim_report_failed(uint64_t queue, int error)
{
	shim_report("asahi_shim: a job of queue %llu of process %d (%s) has failed: %s",
		    (unsigned long long)queue, getpid(), program_invocation_short_name,
		    strerror(error));
	/* This places the failure in the program's own output. */
	if (report_file)
		fprintf(stderr, "asahi_shim: a job has failed: %s; why is reported at the end\n",
			strerror(error));
}

void shim_report_forget(void)
{
	report_file = NULL;
	report_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	memset(report_used, 0, sizeof(report_used));
}
