// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Levels of depth images, which Mesa compresses: all are cleared by a command, as
 * blocks of one depth, then one is drawn to, and all are read. Prints TAP.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "vk-compute.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define TIMEOUT_NS	UINT64_C(60000000000)
#define CLEARED		0.25f
#define DRAWN		0.75f

static const struct {
	const char *name;
	uint32_t width, height, levels;
} images[] = {
	{ "powers of two", 64, 64, 7 },
	{ "halves that are rounded up to blocks", 40, 20, 6 },
	{ "long", 256, 16, 8 },
};

struct test {
	struct vk_compute *vk;
	uint32_t width, height, levels;
	VkImage image;
	VkDeviceMemory memory, rows_memory;
	VkBuffer rows;
	float *map;
	VkImageView view;
	VkCommandBuffer commands;
	VkFence fence;
};

static uint32_t level_size(uint32_t size, uint32_t level)
{
	return size >> level ? size >> level : 1;
}

static VkResult allocate(struct test *t, const VkMemoryRequirements *need, VkDeviceMemory *memory)
{
	const VkMemoryAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.allocationSize = need->size,
		.memoryTypeIndex = vk_host_memory_type(t->vk, need->memoryTypeBits),
	};

	return vkAllocateMemory(t->vk->device, &info, NULL, memory);
}

static VkResult make_image(struct test *t)
{
	const VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = VK_FORMAT_D32_SFLOAT,
		.extent = { t->width, t->height, 1 },
		.mipLevels = t->levels,
		.arrayLayers = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT |
			 VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryRequirements need;

	TRY(vkCreateImage(t->vk->device, &info, NULL, &t->image));
	vkGetImageMemoryRequirements(t->vk->device, t->image, &need);
	TRY(allocate(t, &need, &t->memory));
	return vkBindImageMemory(t->vk->device, t->image, t->memory, 0);
}

/* Room for as many levels as if all were the first one */
static VkResult make_rows(struct test *t)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = (VkDeviceSize)t->width * t->height * t->levels * sizeof(float),
		.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryRequirements need;

	TRY(vkCreateBuffer(t->vk->device, &info, NULL, &t->rows));
	vkGetBufferMemoryRequirements(t->vk->device, t->rows, &need);
	TRY(allocate(t, &need, &t->rows_memory));
	TRY(vkBindBufferMemory(t->vk->device, t->rows, t->rows_memory, 0));
	return vkMapMemory(t->vk->device, t->rows_memory, 0, VK_WHOLE_SIZE, 0, (void **)&t->map);
}

static VkResult make_view(struct test *t, uint32_t level)
{
	const VkImageViewCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.image = t->image,
		.viewType = VK_IMAGE_VIEW_TYPE_2D,
		.format = VK_FORMAT_D32_SFLOAT,
		.subresourceRange = { VK_IMAGE_ASPECT_DEPTH_BIT, level, 1, 0, 1 },
	};

	return vkCreateImageView(t->vk->device, &info, NULL, &t->view);
}

/* Everything waits for everything */
static void wait_for_all(struct test *t, VkImageLayout from)
{
	const VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		.oldLayout = from,
		.newLayout = VK_IMAGE_LAYOUT_GENERAL,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = t->image,
		.subresourceRange = { VK_IMAGE_ASPECT_DEPTH_BIT, 0, t->levels, 0, 1 },
	};

	vkCmdPipelineBarrier(t->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static void record_clears(struct test *t)
{
	const VkClearDepthStencilValue value = { CLEARED, 0 };
	const VkImageSubresourceRange all = { VK_IMAGE_ASPECT_DEPTH_BIT, 0, t->levels, 0, 1 };

	wait_for_all(t, VK_IMAGE_LAYOUT_UNDEFINED);
	vkCmdClearDepthStencilImage(t->commands, t->image, VK_IMAGE_LAYOUT_GENERAL, &value, 1,
				    &all);
	wait_for_all(t, VK_IMAGE_LAYOUT_GENERAL);
}

static void record_pass(struct test *t, uint32_t level)
{
	const VkRenderingAttachmentInfo depth = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = t->view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
	};
	const VkRect2D all = {
		.extent = { level_size(t->width, level), level_size(t->height, level) },
	};
	const VkRenderingInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea = all,
		.layerCount = 1,
		.pDepthAttachment = &depth,
	};
	const VkClearAttachment drawn = {
		.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT,
		.clearValue.depthStencil = { DRAWN, 0 },
	};

	vkCmdBeginRendering(t->commands, &info);
	/* a rectangle of Mesa's: a pass without one is no work for the GPU's depth unit */
	vkCmdClearAttachments(t->commands, 1, &drawn, 1, &(VkClearRect){ all, 0, 1 });
	vkCmdEndRendering(t->commands);
	wait_for_all(t, VK_IMAGE_LAYOUT_GENERAL);
}

static void record_reads(struct test *t)
{
	uint32_t level;

	for (level = 0; level < t->levels; level++) {
		const VkBufferImageCopy copy = {
			.bufferOffset = (VkDeviceSize)level * t->width * t->height * sizeof(float),
			.imageSubresource = { VK_IMAGE_ASPECT_DEPTH_BIT, level, 0, 1 },
			.imageExtent = {
				level_size(t->width, level), level_size(t->height, level), 1,
			},
		};

		vkCmdCopyImageToBuffer(t->commands, t->image, VK_IMAGE_LAYOUT_GENERAL, t->rows, 1,
				       &copy);
	}
	wait_for_all(t, VK_IMAGE_LAYOUT_GENERAL);
}

static VkResult execute(struct test *t)
{
	const VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	const VkSubmitInfo submit = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &t->commands,
	};

	TRY(vkCreateFence(t->vk->device, &fence, NULL, &t->fence));
	TRY(vkQueueSubmit(t->vk->queue, 1, &submit, t->fence));
	return vkWaitForFences(t->vk->device, 1, &t->fence, VK_TRUE, TIMEOUT_NS);
}

static VkResult draw(struct test *t, uint32_t level)
{
	const VkCommandBufferAllocateInfo commands = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = t->vk->commands,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};

	TRY(make_image(t));
	TRY(make_rows(t));
	TRY(make_view(t, level));
	TRY(vkAllocateCommandBuffers(t->vk->device, &commands, &t->commands));
	TRY(vkBeginCommandBuffer(t->commands, &begin));
	record_clears(t);
	record_pass(t, level);
	record_reads(t);
	TRY(vkEndCommandBuffer(t->commands));
	return execute(t);
}

static bool compare(const struct test *t, uint32_t drawn)
{
	uint32_t level, i;

	for (level = 0; level < t->levels; level++) {
		const uint32_t texels = level_size(t->width, level) * level_size(t->height, level);
		const float *row = t->map + (size_t)level * t->width * t->height;
		const float want = level == drawn ? DRAWN : CLEARED;

		for (i = 0; i < texels; i++) {
			if (row[i] == want)
				continue;
			printf("# level %u drawn: texel %u of level %u is %g, not %g\n", drawn, i,
			       level, (double)row[i], (double)want);
			return false;
		}
	}
	return true;
}

static void free_test(struct test *t)
{
	VkDevice device = t->vk->device;

	vkDeviceWaitIdle(device);
	if (t->commands)
		vkFreeCommandBuffers(device, t->vk->commands, 1, &t->commands);
	vkDestroyFence(device, t->fence, NULL);
	vkDestroyImageView(device, t->view, NULL);
	vkDestroyImage(device, t->image, NULL);
	vkDestroyBuffer(device, t->rows, NULL);
	vkFreeMemory(device, t->memory, NULL);
	vkFreeMemory(device, t->rows_memory, NULL);
}

static bool run(struct vk_compute *vk, unsigned int image)
{
	bool ok = true;
	uint32_t level;

	for (level = 0; level < images[image].levels; level++) {
		struct test t = {
			.vk = vk,
			.width = images[image].width,
			.height = images[image].height,
			.levels = images[image].levels,
		};

		ok = draw(&t, level) == VK_SUCCESS && compare(&t, level) && ok;
		free_test(&t);
	}
	return ok;
}

int main(void)
{
	unsigned int i, failed = 0;
	struct vk_compute vk;

	if (vk_compute_choose("asahi") || vk_compute_open(&vk, VK_DRIVER_ID_MESA_HONEYKRISP)) {
		printf("not ok 1 - Mesa's driver\n1..1\n");
		return EXIT_FAILURE;
	}
	for (i = 0; i < COUNT(images); i++) {
		const bool ok = run(&vk, i);

		printf("%sok %u - %s\n", ok ? "" : "not ", i + 1, images[i].name);
		failed += !ok;
	}
	printf("1..%u\n", (unsigned int)COUNT(images));
	vk_compute_close(&vk);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
