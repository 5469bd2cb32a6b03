// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-report: the kernel's log, the driver's files in debugfs, and core dumps without
 * the memory of clients.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

/* A record of /dev/kmsg: "PRIORITY,SEQUENCE,TIME,FLAGS;TEXT", continuation lines, and a zero */
#define LOGS_RECORD	8192
/* Warnings and worse of all of the kernel are kept: they may be the cause. */
#define LOGS_WARNING	4

/* Lines that name one of these are kept, whatever their level. */
static const char * const logs_words[] = {
	"asahi", "RTKit", "rtkit", "agx", ".gpu", "[drm", "m1n1", "apple-pmgr", "apple-mailbox",
	"Linux version", "Machine model", "Hardware name", "Call trace", "devcoredump",
};

/* What a client had in its memory, by the beginning of the line above it. */
static const char * const logs_client_memory[] = {
	"commands:", "  stream ", "  vertex stream ", "  tile program ", "  pipeline ", "  record ",
	"  shader ",
};

#define LOGS_COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static bool logs_is_wanted(unsigned int priority, const char *text)
{
	if ((priority & 7) <= LOGS_WARNING)
		return true;
	for (unsigned int i = 0; i < LOGS_COUNT(logs_words); i++) {
		if (strstr(text, logs_words[i]))
			return true;
	}
	return false;
}

static void logs_add_record(FILE *file, char *record)
{
	unsigned int priority;
	unsigned long long sequence, us;
	char *text = strchr(record, ';');

	if (!text || sscanf(record, "%u,%llu,%llu", &priority, &sequence, &us) != 3)
		return;
	*text++ = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (logs_is_wanted(priority, text))
		fprintf(file, "<%u>[%5llu.%06llu] %s\n", priority & 7, us / 1000000, us % 1000000, text);
}

/* A file with the same records stands for the device below another root. */
static void logs_save_kernel(struct report *report)
{
	char record[LOGS_RECORD + 1], *path;
	FILE *file;
	int fd = -1;
	ssize_t len;

	if (asprintf(&path, "%s/dev/kmsg", report->root) >= 0) {
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		free(path);
	}
	if (fd < 0) {
		report_fact(report, "kernel's log", "/dev/kmsg: %s", strerror(errno));
		return;
	}
	file = report_open(report, "kernel-log.txt");
	/* EPIPE: the record was overwritten before it was read; the next one follows. */
	while (file && ((len = read(fd, record, LOGS_RECORD)) > 0 || (len < 0 && errno == EPIPE))) {
		char *rest = record, *line;

		if (len < 0)
			continue;
		record[len] = '\0';
		while ((line = strsep(&rest, "\n")))
			logs_add_record(file, line);
	}
	close(fd);
	if (file)
		fclose(file);
	report_fact(report, "kernel's log", "kernel-log.txt: warnings, and what names the GPU");
}

/*
 * The number behind a name is how many messages the driver does not understand. Firmware on
 * machines may send some, so nothing is wrong with that.
 */
static void logs_show_unknown(struct report *report, const char *path)
{
	char *text = report_read(report, path, NULL), *rest = text, *line;

	while (text && (line = strsep(&rest, "\n"))) {
		size_t name = strcspn(line, " ");

		if (strtoull(line + name, NULL, 10))
			report_fact(report, "unknown messages", "%s", line);
	}
	free(text);
}

/* Files that are not of one device */
static void logs_save_module(struct report *report)
{
	static const char * const names[] = { "objects", "stage" };

	for (unsigned int i = 0; i < LOGS_COUNT(names); i++) {
		char path[64], saved[32], **paths;

		snprintf(path, sizeof(path), "/sys/kernel/debug/asahi/%s", names[i]);
		snprintf(saved, sizeof(saved), "debugfs/%s", names[i]);
		paths = report_find(report, path);
		if (paths)
			report_copy(report, paths[0], saved);
		report_free_paths(paths);
	}
}

static void logs_save_debugfs(struct report *report)
{
	char **paths = report_find(report, "/sys/kernel/debug/dri/*.gpu/*");

	for (char **path = paths; path && *path; path++) {
		const char *name = strrchr(*path, '/') + 1;
		char *saved;

		/* What clients have mapped is theirs; the rest is folders and of the DRM core. */
		if (!strcmp(name, "gpuvas") || !strcmp(name, "framebuffer") ||
		    asprintf(&saved, "debugfs/%s", name) < 0)
			continue;
		report_copy(report, *path, saved);
		if (!strcmp(name, "unknown-messages"))
			logs_show_unknown(report, *path);
		free(saved);
	}
	if (!paths && report->bound)
		report_fact(report, "debugfs", "%s", geteuid() ? "not readable: run asahi-report as root" :
			    "/sys/kernel/debug/dri/*.gpu is not there: mount -t debugfs none /sys/kernel/debug");
	report_free_paths(paths);
	logs_save_module(report);
}

/* What the kernel said at its end, if the machine keeps that for the next one. */
static void logs_save_pstore(struct report *report)
{
	char **paths = report_find(report, "/sys/fs/pstore/*");

	for (char **path = paths; path && *path; path++) {
		char *saved;

		if (asprintf(&saved, "pstore/%s", strrchr(*path, '/') + 1) < 0)
			continue;
		report_copy(report, *path, saved);
		free(saved);
	}
	report_free_paths(paths);
}

static bool logs_is_client_memory(const char *line)
{
	for (unsigned int i = 0; i < LOGS_COUNT(logs_client_memory); i++) {
		if (!strncmp(line, logs_client_memory[i], strlen(logs_client_memory[i])))
			return true;
	}
	return false;
}

static size_t logs_indent(const char *line)
{
	return strspn(line, " ");
}

/*
 * The format is described in Documentation/gpu/asahi/debugging.rst: what belongs to a
 * line is indented below it.
 */
static void logs_save_dump(struct report *report, const char *path, const char *name)
{
	char *text = report_read(report, path, NULL), *rest = text, *line;
	FILE *file = text ? report_open(report, name) : NULL;
	bool left_out = false;
	size_t indent = 0;

	if (!text)
		report_fact(report, "core dump", "%s: %s", path, strerror(errno));
	while (file && (line = strsep(&rest, "\n"))) {
		if (left_out && (!*line || logs_indent(line) > indent))
			continue;
		fprintf(file, "%s\n", line);
		indent = logs_indent(line);
		left_out = logs_is_client_memory(line);
		if (left_out)
			fprintf(file, "%*s(memory of the client: left out)\n", (int)indent + 2, "");
	}
	if (file) {
		fclose(file);
		report_fact(report, "core dump", "%s, without the memory of the client", name);
	}
	free(text);
}

static void logs_save_dumps(struct report *report)
{
	char **paths = report_find(report, "/sys/class/devcoredump/devcd*/data");

	for (char **path = paths; path && *path; path++) {
		char *text = report_read(report, *path, NULL), *name;
		bool ours = text && !strncmp(text, "asahi core dump\n", strlen("asahi core dump\n"));

		free(text);
		if (!ours || asprintf(&name, "core-dump-%td.txt", path - paths) < 0)
			continue;
		logs_save_dump(report, *path, name);
		report_finding(report, "Work on the GPU has failed, or its firmware has: there is a core dump. "
			       "How to read it: debug-a-hang.rst.");
		free(name);
	}
	report_free_paths(paths);
}

void report_logs(struct report *report)
{

	report_heading(report, "Files in the archive");
	report_fact(report, "device tree", "device-tree.txt");
	logs_save_kernel(report);
	logs_save_pstore(report);
	logs_save_debugfs(report);
	logs_save_dumps(report);
}
