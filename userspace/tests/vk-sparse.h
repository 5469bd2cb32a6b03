/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images of which only some blocks have memory.
 */
#ifndef VK_SPARSE_H
#define VK_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "vk-compute.h"

/** struct vk_sparse - an image, and what of it is to be there */
struct vk_sparse {
	VkImage image;
	VkDeviceMemory memory;
	VkDeviceSize memory_size;
	VkExtent3D extent;
	uint32_t levels;
	uint32_t layers;
	/* the levels that are smaller than a block */
	bool has_tail;
};

/**
 * vk_sparse_bind() - give an image its memory, as a chessboard has its white squares
 *
 * What is white on one level or layer is black on the next one. A level that is smaller
 * than a block either way is there as a whole or not at all, as @has_tail says: which
 * of them are bound by block and which at once is each driver's own.
 */
VkResult vk_sparse_bind(struct vk_compute *vk, const struct vk_sparse *sparse);

#endif /* VK_SPARSE_H */
