// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The profile as Chrome's trace events, which Perfetto reads: a track for each core, with a slice
 * for each launch or draw, and in it one for each shader, with counts as arguments. A microsecond
 * of the trace is an issue slot of the model: cores have no idle time, and their clocks do not
 * agree. Several processes add to one file, each at its end, under flock().
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sanitizer/profile.h"

/* How the array ends */
#define END	"\n]\n"
#define END_LENGTH	((off_t)sizeof(END) - 1)

static void profile_trace_name(FILE *file, const char *kind, int track, const char *name,
			       unsigned int number)
{
	fprintf(file, "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":\"",
		getpid(), track, kind);
	for (; *name; name++)
		fputc(*name < ' ' || *name == '"' || *name == '\\' ? '?' : *name, file);
	if (track)
		fprintf(file, " %u", number);
	fputs("\"}}", file);
}

static void profile_trace_span(FILE *file, int track, const char *name, uint64_t begin,
			       const struct profile_sum *sum)
{
	fprintf(file, ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64
		",\"name\":\"%s\",\"args\":{\"simdgroups\":%" PRIu64 ",\"instructions\":%" PRIu64
		",\"thread instructions\":%" PRIu64 ",\"stall slots\":%" PRIu64 "}}",
		getpid(), track, begin, sum->slots, name, sum->simdgroups, sum->instructions,
		sum->lanes, sum->stall);
}

/* Writes the slices of a launch that follow each other, and one around them. Return: how many. */
static uint32_t profile_trace_launch(FILE *file, const struct profile_track *track, uint32_t first)
{
	const struct profile_slice *slice = &track->slice[first];
	struct profile_sum sum = { 0 };
	uint32_t count = 0, i;
	int tid = (int)track->number + 1;
	char name[64];

	while (first + count < track->num_slices && slice[count].launch == slice->launch)
		profile_add(&sum, &slice[count++].sum);
	/* slices that were left out are time, too */
	sum.slots = slice[count - 1].begin + slice[count - 1].sum.slots - slice->begin;
	snprintf(name, sizeof(name), "launch %" PRIu64, slice->launch);
	profile_trace_span(file, tid, name, slice->begin, &sum);
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s %016" PRIx64, slice[i].stage, slice[i].checksum);
		profile_trace_span(file, tid, name, slice[i].begin, &slice[i].sum);
	}
	return count;
}

static void profile_trace_track(FILE *file, const struct profile_track *track)
{
	int tid = (int)track->number + 1;
	const struct profile_slice *last;
	uint32_t n = 0;

	if (!track->num_slices && !track->left_out)
		return;
	fputs(",\n", file);
	profile_trace_name(file, "thread_name", tid, "core", track->number);
	while (n < track->num_slices)
		n += profile_trace_launch(file, track, n);
	if (!track->left_out)
		return;
	last = n ? &track->slice[n - 1] : NULL;
	fprintf(file, ",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRIu64
		",\"name\":\"%" PRIu64 " more slices are left out\"}",
		getpid(), tid, last ? last->begin + last->sum.slots : 0, track->left_out);
}

/* Takes the end of the array away. Return: 0 or an errno value. */
static int profile_trace_open_array(int fd, bool *is_first)
{
	char end[sizeof(END)] = "";
	struct stat stat;

	if (fstat(fd, &stat))
		return errno;
	*is_first = !stat.st_size;
	if (*is_first)
		return 0;
	if (stat.st_size < END_LENGTH ||
	    pread(fd, end, END_LENGTH, stat.st_size - END_LENGTH) != END_LENGTH ||
	    strcmp(end, END))
		return EINVAL;
	if (ftruncate(fd, stat.st_size - END_LENGTH) || lseek(fd, 0, SEEK_END) < 0)
		return errno;
	return 0;
}

static void profile_trace_print(const struct profile *profile, FILE *file, bool is_first)
{
	const struct profile_track *track;

	fputs(is_first ? "[\n" : ",\n", file);
	profile_trace_name(file, "process_name", 0, program_invocation_short_name, 0);
	for (track = profile->track; track; track = track->next)
		profile_trace_track(file, track);
	fputs(END, file);
}

int profile_write_trace(const struct profile *profile, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), err;
	bool is_first;
	FILE *file;

	if (fd < 0)
		return errno;
	err = flock(fd, LOCK_EX) ? errno : profile_trace_open_array(fd, &is_first);
	file = err ? NULL : fdopen(fd, "w");
	if (!file) {
		err = err ? err : errno;
		close(fd);
		return err;
	}
	profile_trace_print(profile, file, is_first);
	/* the lock ends with the file */
	err = ferror(file) ? EIO : 0;
	return fclose(file) ? errno : err;
}
