// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images of which only some blocks have memory.
 */
#include "vk-sparse.h"

#define MOST_BINDS	16
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

VkResult vk_sparse_bind(struct vk_compute *vk, VkImage image,
			VkDeviceMemory memory, VkExtent3D extent)
{
	VkSparseImageMemoryRequirements need;
	VkSparseImageMemoryBind binds[MOST_BINDS];
	VkSparseImageMemoryBindInfo of_image = {
		.image = image,
		.pBinds = binds,
	};
	const VkBindSparseInfo info = {
		.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
		.imageBindCount = 1,
		.pImageBinds = &of_image,
	};
	VkExtent3D block;
	uint32_t count = 1, x, y;

	vkGetImageSparseMemoryRequirements(vk->device, image, &count, &need);
	if (!count)
		return VK_ERROR_FEATURE_NOT_PRESENT;
	block = need.formatProperties.imageGranularity;
	count = 0;
	for (y = 0; y * block.height < extent.height; y++) {
		for (x = y % 2; x * block.width < extent.width; x += 2) {
			if (count == MOST_BINDS)
				return VK_ERROR_TOO_MANY_OBJECTS;
			binds[count] = (VkSparseImageMemoryBind){
				.subresource.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
				.offset = { x * block.width, y * block.height, 0 },
				.extent = block,
				.memory = memory,
				.memoryOffset = (VkDeviceSize)count * BLOCK_BYTES,
			};
			count++;
		}
	}
	of_image.bindCount = count;
	return submit(vk, &info);
}
