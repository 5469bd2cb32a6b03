// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the cores share of the sanitizer: its findings, and the shadow of device memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "sanitizer/descriptors.h"
#include "sanitizer/profile.h"
#include "sanitizer/shadow.h"

struct vagx_sanitizer {
	bool check;
	bool unkind;
	struct vagx_report *report;
	struct vagx_watch watch;
	atomic_uint watch_prints;
	struct findings *findings;
	struct device_cells *cells;
	/* NULL if there is none, both */
	struct profile *profile;
	struct descriptors *descriptors;
	unsigned int (*page_bytes)(void *ctx, const void *page);
	void *ctx;
};

struct vagx_sanitizer *vagx_sanitizer_new(const struct vagx_sanitizer_config *config,
					  struct vagx_report *report)
{
	struct vagx_sanitizer *sanitizer = calloc(1, sizeof(*sanitizer));
	int err;

	if (!sanitizer)
		return NULL;
	sanitizer->check = config->check;
	sanitizer->unkind = config->unkind;
	sanitizer->report = report;
	sanitizer->watch = config->watch;
	sanitizer->page_bytes = config->page_bytes;
	sanitizer->ctx = config->ctx;
	sanitizer->cells = device_cells_new(config->memory);
	if (config->profile)
		sanitizer->profile = profile_new(config->profile_trace, report);
	if (config->descriptors)
		sanitizer->descriptors = descriptors_new(config->descriptors);
	if (sanitizer->cells && !config->profile == !sanitizer->profile &&
	    !config->descriptors == !sanitizer->descriptors)
		sanitizer->findings = findings_new(report, config->suppressions);
	if (sanitizer->findings)
		return sanitizer;
	err = errno;
	vagx_sanitizer_free(sanitizer);
	errno = err;
	return NULL;
}

void vagx_sanitizer_free(struct vagx_sanitizer *sanitizer)
{
	if (!sanitizer)
		return;
	findings_free(sanitizer->findings);
	profile_free(sanitizer->profile);
	descriptors_free(sanitizer->descriptors);
	device_cells_free(sanitizer->cells);
	free(sanitizer);
}

uint64_t vagx_sanitizer_count(struct vagx_sanitizer *sanitizer)
{
	return sanitizer ? findings_count_places(sanitizer->findings) : 0;
}

bool sanitizer_init_shadow(struct vagx_sanitizer *sanitizer, struct vagx_shadow *shadow)
{
	shadow->check = sanitizer->check;
	shadow->unkind = sanitizer->unkind;
	shadow->findings = sanitizer->findings;
	shadow->cells = sanitizer->cells;
	shadow->report = sanitizer->report;
	shadow->watch = sanitizer->watch.enabled ? &sanitizer->watch : NULL;
	shadow->watch_prints = &sanitizer->watch_prints;
	shadow->page_bytes = sanitizer->page_bytes;
	shadow->ctx = sanitizer->ctx;
	shadow->descriptors = sanitizer->descriptors;
	if (sanitizer->profile)
		shadow->profile = profile_core_new(sanitizer->profile);
	return !sanitizer->profile == !shadow->profile;
}
