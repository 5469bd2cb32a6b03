// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * See asahi_trace.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "asahi_trace.h"
#include "igt.h"

#define TRACING		"/sys/kernel/tracing/"
#define TRACE_BYTES	(4 << 20)

static void trace_write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	igt_assert_fd(fd);
	igt_assert_eq(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

void igt_asahi_trace_require(void)
{
	igt_require(!access(TRACING "trace", W_OK) ||
		    !mount("none", TRACING, "tracefs", 0, NULL));
}

void igt_asahi_trace_start(void)
{
	igt_asahi_trace_start_event(NULL);
}

void igt_asahi_trace_start_event(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), TRACING "events/asahi/%s%senable", name ? name : "",
		 name ? "/" : "");
	trace_write_text(TRACING "trace", "\n");
	trace_write_text(path, "1");
}

void igt_asahi_trace_stop(void)
{
	trace_write_text(TRACING "events/asahi/enable", "0");
}

const char *igt_asahi_trace_read(void)
{
	static char text[TRACE_BYTES];
	int fd = open(TRACING "trace", O_RDONLY);
	size_t used = 0;
	ssize_t size;

	igt_assert_fd(fd);
	do {
		size = read(fd, text + used, TRACE_BYTES - 1 - used);
		used += size > 0 ? size : 0;
	} while (size > 0 && used < TRACE_BYTES - 1);
	text[used] = '\0';
	close(fd);
	return text;
}

uint64_t igt_asahi_trace_client_id(struct asahi_client *client)
{
	char line[256], path[64];
	uint64_t id = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", client->fd);
	file = fopen(path, "r");
	igt_assert(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "drm-client-id:", 14))
			id = strtoull(line + 14, NULL, 10);
	fclose(file);
	igt_assert_neq_u64(id, 0);
	return id;
}

int64_t igt_asahi_trace_value_of(const char *line, const char *end, const char *key)
{
	char word[32];
	const char *at;

	snprintf(word, sizeof(word), " %s=", key);
	at = strstr(line, word);
	return at && at < end ? strtoll(at + strlen(word), NULL, 0) : 0;
}

static bool trace_is_of(const char *line, const char *end, const struct asahi_trace_event *event)
{
	if (event->client &&
	    (uint64_t)igt_asahi_trace_value_of(line, end, "client") != event->client)
		return false;
	return !event->job || (uint64_t)igt_asahi_trace_value_of(line, end, "job") == event->job;
}

const char *igt_asahi_trace_find(const char *text, const struct asahi_trace_event *event,
				 const char **end)
{
	char name[40];

	snprintf(name, sizeof(name), " %s: ", event->name);
	while ((text = strstr(text, name))) {
		text += strlen(name) - 1;
		*end = text + strcspn(text, "\n");
		if (trace_is_of(text, *end, event))
			return text;
	}
	return NULL;
}

/* "   task-123   [000] d..1.  1234.567890: name: key=value": the time is two colons before. */
uint64_t igt_asahi_trace_time_us(const char *text, const char *line)
{
	unsigned long long seconds = 0, us = 0;
	unsigned int colons = 0;

	while (line > text && line[-1] != '\n' && colons < 2)
		colons += *--line == ':';
	while (line > text && line[-1] != ' ')
		line--;
	igt_assert_eq(sscanf(line, "%llu.%6llu:", &seconds, &us), 2);
	return seconds * 1000000 + us;
}

/* Its name, which may have dashes and blanks, ends before the last dash before the processor. */
int igt_asahi_trace_pid_of(const char *text, const char *line)
{
	int pid = 0;

	while (line > text && line[-1] != '\n' && *line != '[')
		line--;
	while (line > text && line[-1] != '\n' && line[-1] != '-')
		line--;
	igt_assert_eq(sscanf(line, "%d", &pid), 1);
	return pid;
}

bool igt_asahi_trace_is_bottom_half(const char *text, const char *line)
{
	char flags[16] = "";

	while (line > text && line[-1] != '\n' && *line != ']')
		line--;
	igt_assert_eq(sscanf(line, "] %15s", flags), 1);
	return strchr(flags, 's');
}

unsigned int igt_asahi_trace_count(const char *text, const char *name, uint64_t client,
				   uint64_t job)
{
	const struct asahi_trace_event event = { name, client, job };
	unsigned int found = 0;
	const char *end;

	for (text = igt_asahi_trace_find(text, &event, &end); text;
	     text = igt_asahi_trace_find(end, &event, &end))
		found++;
	return found;
}
