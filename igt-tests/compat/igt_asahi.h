/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What IGT GPU Tools has for this driver already. The ioctl has to succeed if @err
 * is 0, and to fail with it otherwise.
 */
#ifndef IGT_ASAHI_H
#define IGT_ASAHI_H

#include <stddef.h>
#include <stdint.h>

#include "asahi_drm.h"

void igt_asahi_get_params(int fd, uint32_t param_group, void *data, size_t size, int err);
void igt_asahi_get_time(int fd, struct drm_asahi_get_time *get_time, int err);

#endif
