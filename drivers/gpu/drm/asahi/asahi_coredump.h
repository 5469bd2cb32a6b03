/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Core dumps of failed jobs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_COREDUMP_H
#define ASAHI_COREDUMP_H

#include <linux/types.h>

struct asahi_coredump;
struct asahi_device;
struct asahi_failure;
struct asahi_job;

struct asahi_coredump *asahi_coredump_create(struct asahi_device *adev);
void asahi_coredump_flush(struct asahi_coredump *dump);
void asahi_coredump_destroy(struct asahi_coredump *dump);
void asahi_coredump_capture(struct asahi_coredump *dump, struct asahi_job *job,
			    const struct asahi_failure *failure);

#endif
