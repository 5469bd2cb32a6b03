// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What IGT GPU Tools has for this driver already.
 */
#include <stdint.h>

#include "drmtest.h"
#include "igt_asahi.h"

void igt_asahi_get_params(int fd, uint32_t param_group, void *data, size_t size, int err)
{
	struct drm_asahi_get_params args = {
		.param_group = param_group,
		.pointer = (uintptr_t)data,
		.size = size,
	};

	if (err)
		do_ioctl_err(fd, DRM_IOCTL_ASAHI_GET_PARAMS, &args, err);
	else
		do_ioctl(fd, DRM_IOCTL_ASAHI_GET_PARAMS, &args);
}

void igt_asahi_get_time(int fd, struct drm_asahi_get_time *get_time, int err)
{
	if (err)
		do_ioctl_err(fd, DRM_IOCTL_ASAHI_GET_TIME, get_time, err);
	else
		do_ioctl(fd, DRM_IOCTL_ASAHI_GET_TIME, get_time);
}
