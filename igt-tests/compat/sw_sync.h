/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Fences that the test signals, and sync files, as in IGT GPU Tools.
 */
#ifndef SW_SYNC_H
#define SW_SYNC_H

#include <stdint.h>

/* igt_require_sw_sync - skips where the kernel has none */
void igt_require_sw_sync(void);
int sw_sync_timeline_create(void);
int sw_sync_timeline_create_fence(int timeline, uint32_t seqno);
void sw_sync_timeline_inc(int timeline, uint32_t count);
/* sync_fence_merge - a file with the fences of both, or a negative errno value */
int sync_fence_merge(int fence1, int fence2);
/* sync_fence_count - of the file's fences; a negative errno value is an error */
int sync_fence_count(int fence);
/* sync_fence_status - 0 while it is not signalled, then 1 or a negative errno value */
int sync_fence_status(int fence);

#endif
