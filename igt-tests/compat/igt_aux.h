/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Helpers, as in IGT GPU Tools.
 */
#ifndef IGT_AUX_H
#define IGT_AUX_H

/* igt_drop_root - for good, so in a child */
void igt_drop_root(void);

#endif
