/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Submission: from the arguments of SUBMIT to jobs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_SUBMIT_H
#define ASAHI_SUBMIT_H

struct asahi_file;
struct drm_asahi_submit;

int asahi_submit(struct asahi_file *file, const struct drm_asahi_submit *args);

#endif
