/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images of which only some blocks have memory.
 */
#ifndef VK_SPARSE_H
#define VK_SPARSE_H

#include "vk-compute.h"

/**
 * vk_sparse_bind() - give an image its memory, as a chessboard has its white squares
 * @image: with one level and layer
 * @memory: for all of it
 * @extent: of the image, in whole blocks of 64 KiB
 */
VkResult vk_sparse_bind(struct vk_compute *vk, VkImage image,
			VkDeviceMemory memory, VkExtent3D extent);

#endif /* VK_SPARSE_H */
