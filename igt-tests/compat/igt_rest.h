/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef IGT_REST_H
#define IGT_REST_H

#include <stdbool.h>

/**
 * igt_compat_at_rest - Wait until the driver holds nothing that belongs to a job
 *
 * Asks debugfs, where there is any that this process may read and the driver was built
 * with CONFIG_DRM_ASAHI_DEBUG. Prints what is left after IGT_REST_SECONDS.
 *
 * Returns: false if something is left
 */
bool igt_compat_at_rest(void);

#endif
