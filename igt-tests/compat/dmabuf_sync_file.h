/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Fences of shared buffers, as in IGT GPU Tools.
 */
#ifndef DMABUF_SYNC_FILE_H
#define DMABUF_SYNC_FILE_H

#include <linux/dma-buf.h>
#include <stdbool.h>
#include <stdint.h>

int dmabuf_export_sync_file(int dmabuf, uint32_t flags);
void dmabuf_import_sync_file(int dmabuf, uint32_t flags, int sync_fd);
bool dmabuf_busy(int dmabuf, uint32_t flags);

#endif
