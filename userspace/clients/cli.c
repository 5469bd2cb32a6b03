// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define MAX_SIZE	(64UL << 20)

void cli_version(const char *program)
{
	printf("%s %s\n", program, ASAHI_VERSION);
}

int cli_finish(const char *program, int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "%s: standard output: %s\n", program, strerror(errno));
	return EXIT_FAILURE;
}

static char *cli_read_all(FILE *file, size_t *size)
{
	size_t room = 4096, used = 0, n;
	char *data = NULL, *bigger;

	do {
		room *= 2;
		errno = EFBIG;
		bigger = room <= MAX_SIZE ? realloc(data, room + 1) : NULL;
		if (!bigger) {
			free(data);
			return NULL;
		}
		data = bigger;
		n = fread(data + used, 1, room - used, file);
		used += n;
	} while (used == room);

	data[used] = '\0';
	*size = used;
	return data;
}

char *cli_read_file(const char *program, const char *path, size_t *size)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *file = is_stdin ? stdin : fopen(path, "rb");
	char *data = NULL;

	if (file) {
		data = cli_read_all(file, size);
		if (data && ferror(file)) {
			free(data);
			data = NULL;
		}
	}
	if (!data)
		fprintf(stderr, "%s: %s: %s\n", program,
			is_stdin ? "standard input" : path, strerror(errno));
	if (file && !is_stdin)
		fclose(file);
	return data;
}
