/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Sync objects, as in IGT GPU Tools.
 */
#ifndef IGT_SYNCOBJ_H
#define IGT_SYNCOBJ_H

#include <stdbool.h>
#include <stdint.h>

#include <drm.h>

uint32_t syncobj_create(int fd, uint32_t flags);
void syncobj_destroy(int fd, uint32_t handle);
int syncobj_handle_to_fd(int fd, uint32_t handle, uint32_t flags);
uint32_t syncobj_fd_to_handle(int fd, int syncobj_fd, uint32_t flags);
void syncobj_import_sync_file(int fd, uint32_t handle, int sync_file);
/* syncobj_wait_err - 0 or a negative errno value */
int syncobj_wait_err(int fd, uint32_t *handles, uint32_t count, uint64_t abs_timeout_nsec,
		     uint32_t flags);
bool syncobj_timeline_wait(int fd, uint32_t *handles, uint64_t *points, unsigned int num_handles,
			   int64_t timeout_nsec, unsigned int flags, uint32_t *first_signaled);
void syncobj_binary_to_timeline(int fd, uint32_t timeline_handle, uint64_t point,
				uint32_t binary_handle);
void syncobj_timeline_to_binary(int fd, uint32_t binary_handle, uint32_t timeline_handle,
				uint64_t point, uint32_t flags);

#endif
