/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The header that tests for IGT GPU Tools include.
 */
#ifndef IGT_H
#define IGT_H

#include "drmtest.h"
#include "igt_aux.h"
#include "igt_core.h"
#include "ioctl_wrappers.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
