// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the driver says of itself when it has nothing to do.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "igt_core.h"
#include "igt_rest.h"

/* Workers free what a job had within milliseconds; a firmware may be late by seconds. */
#define IGT_REST_SECONDS	10

static bool igt_rest_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, text, size - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* A device that cannot be asked any more has been unbound. */
static bool igt_rest_wait(const char *path)
{
	/* What has not come by itself does not come in later subtests, either. */
	static double patience = IGT_REST_SECONDS;
	const double end = igt_compat_now() + patience;
	char text[4096];

	while (igt_rest_read(path, text, sizeof(text)) && strncmp(text, "at rest", 7)) {
		if (igt_compat_now() > end) {
			fprintf(stderr, "the driver is not at rest:\n%s", text);
			patience = 0;
			return false;
		}
		usleep(5000);
	}
	return true;
}

/* The folders that minor numbers name are links to those of devices. */
static bool igt_rest_is_device(char *path)
{
	char *end = strrchr(path, '/');
	struct stat st;
	bool device;

	*end = '\0';
	device = !lstat(path, &st) && S_ISDIR(st.st_mode);
	*end = '/';
	return device;
}

bool igt_compat_at_rest(void)
{
	bool good = true;
	glob_t found;
	size_t i;

	if (glob("/sys/kernel/debug/dri/*/at-rest", 0, NULL, &found))
		return true;
	for (i = 0; i < found.gl_pathc; i++)
		if (igt_rest_is_device(found.gl_pathv[i]))
			good &= igt_rest_wait(found.gl_pathv[i]);
	globfree(&found);
	return good;
}
