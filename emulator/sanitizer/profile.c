// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The profile of all cores: collects the counts of a core when it is freed (profile_core.c), and
 * is written when all of them are (profile_table.c, profile_trace.c). The lock protects the lists.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "sanitizer/profile.h"

struct profile *profile_new(const char *path, struct vagx_report *report)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	pthread_mutex_init(&profile->lock, NULL);
	profile->report = report;
	profile->path = path ? strdup(path) : NULL;
	if (!path || profile->path)
		return profile;
	free(profile);
	return NULL;
}

/* Prints the table into the report, and writes the trace */
static void profile_write(const struct profile *profile)
{
	char *text = NULL;
	bool some;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int err = profile->path ? profile_write_trace(profile, profile->path) : 0;

	if (err)
		vagx_log(profile->report, VAGX_LOG_ERROR, "%s: %s", profile->path, strerror(err));
	if (!file)
		return;
	some = profile_print(profile, file);
	if (!fclose(file) && some)
		vagx_log(profile->report, VAGX_LOG_WARNING, "profile: of process %d (%s):%s",
			 getpid(), program_invocation_short_name, text);
	free(text);
}

static void profile_free_shaders(struct profile_shader *list)
{
	while (list) {
		struct profile_shader *shader = list;

		list = shader->next;
		free(shader->op);
		free(shader);
	}
}

void profile_free(struct profile *profile)
{
	unsigned int i;

	if (!profile)
		return;
	if (profile->track)
		profile_write(profile);
	for (i = 0; i < PROFILE_BUCKETS; i++)
		profile_free_shaders(profile->shaders.bucket[i]);
	while (profile->track) {
		struct profile_track *track = profile->track;

		profile->track = track->next;
		free(track->slice);
		free(track);
	}
	pthread_mutex_destroy(&profile->lock);
	free(profile->path);
	free(profile);
}
