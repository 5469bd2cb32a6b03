/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stages: bringing a device up in part, and telling what was found.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_STAGE_H
#define ASAHI_STAGE_H

#include <drm/drm_print.h>

struct asahi_device;
struct dentry;

/**
 * enum asahi_stage - how far a device is brought up
 * @ASAHI_STAGE_MAPPED: registers and regions are mapped, the coprocessor is not touched
 * @ASAHI_STAGE_CPU: the coprocessor has been started
 * @ASAHI_STAGE_RTKIT: the firmware has answered in the handoff region, and RTKit has booted
 * @ASAHI_STAGE_FIRMWARE: the firmware runs on its InitData, without jobs
 * @ASAHI_STAGE_ALL: user space has a device
 */
enum asahi_stage {
	ASAHI_STAGE_MAPPED,
	ASAHI_STAGE_CPU,
	ASAHI_STAGE_RTKIT,
	ASAHI_STAGE_FIRMWARE,
	ASAHI_STAGE_ALL,
};

void asahi_stage_begin(struct asahi_device *adev);
struct drm_printer asahi_stage_printer(struct asahi_device *adev);
void asahi_stage_print_regions(struct asahi_device *adev, struct drm_printer *p);
int asahi_stage_end(struct asahi_device *adev, enum asahi_stage stage, const char *found);
void asahi_stage_debugfs_init(struct dentry *root);
void asahi_stage_module_exit(void);

#endif
