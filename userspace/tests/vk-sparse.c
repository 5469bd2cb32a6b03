// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images of which only some blocks have memory.
 */
#include "vk-sparse.h"

#define MOST_BINDS	64
#define TIMEOUT_NS	60000000000ULL
#define BLOCK_BYTES	65536

static VkResult submit(struct vk_compute *vk, const VkBindSparseInfo *info)
{
	const VkFenceCreateInfo wanted = {
		.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
	};
	VkFence fence;
	VkResult result = vkCreateFence(vk->device, &wanted, NULL, &fence);

	if (result)
		return result;
	result = vkQueueBindSparse(vk->queue, 1, info, fence);
	if (!result)
		result = vkWaitForFences(vk->device, 1, &fence, VK_TRUE,
					 TIMEOUT_NS);
	vkDestroyFence(vk->device, fence, NULL);
	return result;
}

/* What is bound so far, one block of memory after the other */
struct binds {
	const struct vk_sparse *of;
	VkExtent3D block;
	VkSparseImageMemoryBind blocks[MOST_BINDS];
	VkSparseMemoryBind tails[MOST_BINDS];
	uint32_t block_count, tail_count;
	VkDeviceSize used;
};

static uint32_t level_size(uint32_t size, uint32_t level)
{
	return size >> level ? size >> level : 1;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool is_small(const struct binds *b, uint32_t level)
{
	return level_size(b->of->extent.width, level) < b->block.width ||
	       level_size(b->of->extent.height, level) < b->block.height;
}

static VkResult take(struct binds *b, uint32_t count, VkDeviceSize size)
{
	if (count == MOST_BINDS)
		return VK_ERROR_TOO_MANY_OBJECTS;
	b->used += size;
	return b->used > b->of->memory_size ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_SUCCESS;
}

/* At the edge of the level there is only part of one */
static VkResult add_block(struct binds *b, VkImageSubresource part, uint32_t x, uint32_t y)
{
	const uint32_t width = level_size(b->of->extent.width, part.mipLevel);
	const uint32_t height = level_size(b->of->extent.height, part.mipLevel);

	b->blocks[b->block_count % MOST_BINDS] = (VkSparseImageMemoryBind){
		.subresource = part,
		.offset = { (int32_t)x, (int32_t)y, 0 },
		.extent = {
			lesser(b->block.width, width - x),
			lesser(b->block.height, height - y), 1,
		},
		.memory = b->of->memory,
		.memoryOffset = b->used,
	};
	return take(b, b->block_count++, BLOCK_BYTES);
}

static VkResult add_level(struct binds *b, VkImageSubresource part)
{
	const uint32_t width = level_size(b->of->extent.width, part.mipLevel);
	const uint32_t height = level_size(b->of->extent.height, part.mipLevel);
	uint32_t x, y;

	for (y = 0; y * b->block.height < height; y++) {
		for (x = 0; x * b->block.width < width; x++) {
			if (is_small(b, part.mipLevel) ? !b->of->has_tail :
			    (x + y + part.mipLevel + part.arrayLayer) % 2)
				continue;
			TRY(add_block(b, part, x * b->block.width, y * b->block.height));
		}
	}
	return VK_SUCCESS;
}

/* Of all layers together, or of each */
static VkResult add_tails(struct binds *b, const VkSparseImageMemoryRequirements *need)
{
	const bool is_one = need->formatProperties.flags &
			    VK_SPARSE_IMAGE_FORMAT_SINGLE_MIPTAIL_BIT;
	uint32_t layer;

	if (!b->of->has_tail || !need->imageMipTailSize)
		return VK_SUCCESS;
	for (layer = 0; layer < (is_one ? 1 : b->of->layers); layer++) {
		b->tails[b->tail_count % MOST_BINDS] = (VkSparseMemoryBind){
			.resourceOffset = need->imageMipTailOffset +
					  layer * need->imageMipTailStride,
			.size = need->imageMipTailSize,
			.memory = b->of->memory,
			.memoryOffset = b->used,
		};
		TRY(take(b, b->tail_count++, need->imageMipTailSize));
	}
	return VK_SUCCESS;
}

static VkResult add_all(struct binds *b, const VkSparseImageMemoryRequirements *need)
{
	VkImageSubresource part = { .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT };
	uint32_t levels = lesser(b->of->levels, need->imageMipTailFirstLod);

	for (; part.arrayLayer < b->of->layers; part.arrayLayer++) {
		for (part.mipLevel = 0; part.mipLevel < levels; part.mipLevel++)
			TRY(add_level(b, part));
	}
	return add_tails(b, need);
}

VkResult vk_sparse_bind(struct vk_compute *vk, const struct vk_sparse *sparse)
{
	VkSparseImageMemoryRequirements need;
	struct binds b = { .of = sparse };
	uint32_t count = 1;

	vkGetImageSparseMemoryRequirements(vk->device, sparse->image, &count, &need);
	if (!count)
		return VK_ERROR_FEATURE_NOT_PRESENT;
	b.block = need.formatProperties.imageGranularity;
	TRY(add_all(&b, &need));
	return submit(vk, &(VkBindSparseInfo){
		.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
		.imageOpaqueBindCount = b.tail_count != 0,
		.pImageOpaqueBinds = &(VkSparseImageOpaqueMemoryBindInfo){
			.image = sparse->image,
			.bindCount = b.tail_count,
			.pBinds = b.tails,
		},
		.imageBindCount = b.block_count != 0,
		.pImageBinds = &(VkSparseImageMemoryBindInfo){
			.image = sparse->image,
			.bindCount = b.block_count,
			.pBinds = b.blocks,
		},
	});
}
