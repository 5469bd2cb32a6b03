// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Memory and command buffers of vulkan-bench, and how long they run.
 */
#include <string.h>
#include <time.h>

#include "bench.h"
#include "vk-render.h"

#define TIMEOUT_NS	600000000000ULL
#define MOST_RUNS	5
/* A run that begins after so much work is one too many */
#define ENOUGH_NS	1000000000ULL

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

struct bench_span bench_now(void)
{
	return (struct bench_span){ read_clock(CLOCK_MONOTONIC),
				    read_clock(CLOCK_PROCESS_CPUTIME_ID) };
}

struct bench_span bench_since(struct bench_span began)
{
	struct bench_span end = bench_now();

	return (struct bench_span){ end.wall - began.wall, end.cpu - began.cpu };
}

struct bench_span bench_lesser(struct bench_span a, struct bench_span b)
{
	return (struct bench_span){ a.wall < b.wall ? a.wall : b.wall,
				    a.cpu < b.cpu ? a.cpu : b.cpu };
}

static uint64_t less_by(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

struct bench_span bench_more(struct bench_span several, struct bench_span one,
			     unsigned int count)
{
	return (struct bench_span){ less_by(several.wall, one.wall) / count,
				    less_by(several.cpu, one.cpu) / count };
}

static const struct shader_binary *find_shader(const struct shader_binary *shaders,
					       unsigned int count, const char *name)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!strcmp(shaders[i].name, name))
			return &shaders[i];
	}
	return NULL;
}

const struct shader_binary *bench_shader(const char *name)
{
	const struct shader_binary *found = find_shader(bench_shaders, bench_shader_count, name);

	return found ? found : find_shader(render_shaders, render_shader_count, name);
}

VkResult bench_make_buffer(struct bench *b, unsigned int n, VkDeviceSize size)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = size,
		.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
			 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	VkMemoryRequirements need;
	VkDeviceMemory memory;

	TRY(vkCreateBuffer(b->vk.device, &info, NULL, &b->buffer[n]));
	vkGetBufferMemoryRequirements(b->vk.device, b->buffer[n], &need);
	allocate.allocationSize = need.size;
	allocate.memoryTypeIndex = vk_host_memory_type(&b->vk, need.memoryTypeBits);
	TRY(vkAllocateMemory(b->vk.device, &allocate, NULL, &memory));
	TRY(vkBindBufferMemory(b->vk.device, b->buffer[n], memory, 0));
	TRY(vkMapMemory(b->vk.device, memory, 0, VK_WHOLE_SIZE, 0, &b->map[n]));
	memset(b->map[n], n ? 0 : 0x5a, size);
	return VK_SUCCESS;
}

VkResult bench_make_image(struct bench *b, struct bench_image *image,
			  const VkImageCreateInfo *wanted)
{
	VkMemoryAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	VkImageViewCreateInfo view = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.viewType = VK_IMAGE_VIEW_TYPE_2D,
		.format = wanted->format,
		.subresourceRange = { .levelCount = wanted->mipLevels, .layerCount = 1 },
	};
	VkImageCreateInfo info = *wanted;
	VkMemoryRequirements need;
	VkDeviceMemory memory;

	info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
	info.imageType = VK_IMAGE_TYPE_2D;
	info.extent.depth = 1;
	info.arrayLayers = 1;
	TRY(vkCreateImage(b->vk.device, &info, NULL, &image->image));
	vkGetImageMemoryRequirements(b->vk.device, image->image, &need);
	allocate.allocationSize = need.size;
	allocate.memoryTypeIndex = vk_host_memory_type(&b->vk, need.memoryTypeBits);
	TRY(vkAllocateMemory(b->vk.device, &allocate, NULL, &memory));
	TRY(vkBindImageMemory(b->vk.device, image->image, memory, 0));
	image->aspects = info.usage & VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT ?
			 VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
	view.image = image->image;
	view.subresourceRange.aspectMask = image->aspects;
	return vkCreateImageView(b->vk.device, &view, NULL, &image->view);
}

VkResult bench_make_set(struct bench *b, VkDescriptorSetLayout layout, VkDescriptorType type,
			const VkDescriptorImageInfo *images, uint32_t count, VkDescriptorSet *set)
{
	const VkDescriptorPoolSize size = { type, count };
	const VkDescriptorPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = 1,
		.poolSizeCount = 1,
		.pPoolSizes = &size,
	};
	VkDescriptorSetAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorSetCount = 1,
		.pSetLayouts = &layout,
	};
	uint32_t i;

	TRY(vkCreateDescriptorPool(b->vk.device, &pool_info, NULL, &info.descriptorPool));
	TRY(vkAllocateDescriptorSets(b->vk.device, &info, set));
	for (i = 0; i < count; i++) {
		const VkWriteDescriptorSet write = {
			.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
			.dstSet = *set,
			.dstBinding = i,
			.descriptorCount = 1,
			.descriptorType = type,
			.pImageInfo = &images[i],
		};

		vkUpdateDescriptorSets(b->vk.device, 1, &write, 0, NULL);
	}
	return VK_SUCCESS;
}

VkResult bench_begin(struct bench *b, VkCommandBuffer *commands)
{
	const VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = b->vk.commands,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	/* simultaneous use is not asked for: each run has ended before the next */
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};
	const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
	};

	TRY(vkAllocateCommandBuffers(b->vk.device, &info, commands));
	TRY(vkBeginCommandBuffer(*commands, &begin));
	vkCmdPipelineBarrier(*commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
	return VK_SUCCESS;
}

void bench_to_general(VkCommandBuffer commands, const struct bench_image *image)
{
	const VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
		.newLayout = VK_IMAGE_LAYOUT_GENERAL,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = image->image,
		.subresourceRange = {
			.aspectMask = image->aspects,
			.levelCount = VK_REMAINING_MIP_LEVELS,
			.layerCount = 1,
		},
	};

	vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static VkResult execute(struct bench *b, VkCommandBuffer commands)
{
	const VkFenceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	const VkSubmitInfo submit = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &commands,
	};
	VkResult result;
	VkFence fence;

	TRY(vkCreateFence(b->vk.device, &info, NULL, &fence));
	result = vkQueueSubmit(b->vk.queue, 1, &submit, fence);
	if (result == VK_SUCCESS)
		result = vkWaitForFences(b->vk.device, 1, &fence, VK_TRUE, TIMEOUT_NS);
	vkDestroyFence(b->vk.device, fence, NULL);
	return result;
}

VkResult bench_run_once(struct bench *b, const struct bench_run *run)
{
	unsigned int i;

	/* no more than some KiB, which do not count */
	if (run->cleared)
		memset(b->map[1], 0, run->cleared);
	for (i = 0; i < (run->times ? run->times : 1); i++)
		TRY(execute(b, run->commands));
	return VK_SUCCESS;
}

VkResult bench_repeat(struct bench *b, const struct bench_run *run, struct bench_span *warm)
{
	uint64_t spent = 0;
	unsigned int i;

	*warm = (struct bench_span){ UINT64_MAX, UINT64_MAX };
	for (i = 0; i < MOST_RUNS && spent < ENOUGH_NS; i++) {
		struct bench_span took, began = bench_now();

		TRY(bench_run_once(b, run));
		took = bench_since(began);
		spent += took.wall;
		*warm = bench_lesser(*warm, took);
	}
	return VK_SUCCESS;
}
