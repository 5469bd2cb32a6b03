// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-report: files that are read, the page, and the folder that becomes the archive.
 */
#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report.h"

#define FILES_MAX_SIZE	(32UL << 20)

void report_heading(struct report *report, const char *title)
{
	fprintf(report->page, "\n%s\n", title);
	for (size_t i = 0; i < strlen(title); i++)
		fputc('-', report->page);
	fputc('\n', report->page);
}

/* What a device tree or a log says may hold anything. */
static void files_make_printable(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}

void report_fact(struct report *report, const char *name, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return;
	files_make_printable(text);
	fprintf(report->page, "%-20s %s\n", name, text);
	free(text);
}

void report_finding(struct report *report, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	if (report->findings == REPORT_FINDINGS)
		return;
	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return;
	files_make_printable(text);
	report->finding[report->findings++] = text;
}

static FILE *files_open_below(struct report *report, const char *path)
{
	char *whole;
	FILE *file;

	if (asprintf(&whole, "%s%s", report->root, path) < 0)
		return NULL;
	file = fopen(whole, "rb");
	free(whole);
	return file;
}

/* Files of debugfs and /proc have no size: they are read to their end. */
static char *files_read_all(FILE *file, size_t *size)
{
	size_t room = 0, used = 0, n;
	char *data = NULL;

	do {
		char *bigger = realloc(data, room + 65536 + 1);

		if (!bigger) {
			free(data);
			errno = ENOMEM;
			return NULL;
		}
		data = bigger;
		room += 65536;
		errno = 0;
		n = fread(data + used, 1, room - used, file);
		used += n;
	} while (used == room && used < FILES_MAX_SIZE);
	if (ferror(file)) {
		free(data);
		return NULL;
	}
	data[used] = '\0';
	if (size)
		*size = used;
	return data;
}

char *report_read(struct report *report, const char *path, size_t *size)
{
	FILE *file = files_open_below(report, path);
	char *data;
	int err;

	if (!file)
		return NULL;
	data = files_read_all(file, size);
	err = errno;
	fclose(file);
	errno = err;
	return data;
}

char *report_line(struct report *report, const char *path)
{
	char *data = report_read(report, path, NULL);

	if (data)
		data[strcspn(data, "\n")] = '\0';
	return data;
}

char **report_find(struct report *report, const char *pattern)
{
	size_t skip = strlen(report->root);
	char *whole, **paths = NULL;
	glob_t found;

	if (asprintf(&whole, "%s%s", report->root, pattern) < 0)
		return NULL;
	if (!glob(whole, 0, NULL, &found)) {
		paths = calloc(found.gl_pathc + 1, sizeof(*paths));
		for (size_t i = 0; paths && i < found.gl_pathc; i++)
			paths[i] = strdup(found.gl_pathv[i] + skip);
		globfree(&found);
	}
	free(whole);
	return paths;
}

void report_free_paths(char **paths)
{
	for (char **path = paths; path && *path; path++)
		free(*path);
	free(paths);
}

static void files_make_folders(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0777);
		*at = '/';
	}
}

FILE *report_open(struct report *report, const char *name)
{
	FILE *file = NULL;
	char *path;

	if (asprintf(&path, "%s/%s", report->dir, name) >= 0) {
		files_make_folders(path);
		file = fopen(path, "wb");
		if (!file)
			fprintf(stderr, "asahi-report: %s: %s\n", path, strerror(errno));
		free(path);
	}
	return file;
}

bool report_copy(struct report *report, const char *path, const char *name)
{
	size_t size;
	char *data = report_read(report, path, &size);
	FILE *file;

	if (!data) {
		report_fact(report, name, "%s: %s", path, strerror(errno));
		return false;
	}
	file = report_open(report, name);
	if (file) {
		fwrite(data, 1, size, file);
		fclose(file);
	}
	free(data);
	return true;
}
