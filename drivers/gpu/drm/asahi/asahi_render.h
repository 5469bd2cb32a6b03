/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Render commands. Private to submission, job and work.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RENDER_H
#define ASAHI_RENDER_H

#include <linux/types.h>

struct asahi_job;
struct asahi_scene;
struct asahi_work_args;
struct asahi_work_memory;
struct drm_asahi_cmd_render;

const char *asahi_render_check(const struct drm_asahi_cmd_render *cmd);
void asahi_render_prepare(struct asahi_job *job, struct asahi_scene *scene,
			  const struct asahi_work_memory *place, struct asahi_work_args *args);

#endif
