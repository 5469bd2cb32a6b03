// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A program of stock Mesa's Vulkan that lives on, whatever happens to the device below it.
 * Each frame renders and computes, is waited for, and each byte of it is checked. A frame
 * may be lost, and Vulkan may say that the device is: then the program makes a new one. But
 * no wait takes for ever, and no other error is right.
 *
 * Ends with SIGTERM. usage: vulkan-endure --status=FILE, which gets how many frames were
 * right, how many were lost, and how many devices there have been.
 */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vk-compute.h"

#define SIDE		64
#define PIXELS		(SIDE * SIDE)
#define GROUP		64
#define THREADS		512
/* The GPU is busy for most of a frame's time: what happens to it is likely to hit a frame. */
#define ROUNDS		10000
#define FORMAT		VK_FORMAT_R8G8B8A8_UNORM
/* Nothing takes longer, on a slow machine that others use as well. */
#define PATIENCE_NS	UINT64_C(120000000000)
#define STATUS_NS	UINT64_C(100000000)

enum { SOURCE, RESULT, PICTURE, BUFFERS };

static const VkDeviceSize sizes[BUFFERS] = { THREADS * 4, THREADS * 4, PIXELS * 4 };

static struct {
	struct vk_compute vk;
	VkBuffer buffers[BUFFERS];
	VkDeviceMemory memory[BUFFERS + 1];
	uint32_t *maps[BUFFERS];
	VkImage image;
	VkImageView view;
	VkDescriptorSet set;
	VkPipeline pipeline;
	VkCommandBuffer commands;
	VkFence fence;
} gpu;

/* What ROUNDS rounds of the shader are: a multiplication and an addition */
static uint32_t factor = 1, summand;

static unsigned int done, lost, devices;
static volatile sig_atomic_t ended;

static void on_signal(int signum)
{
	(void)signum;
	ended = 1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void print_status(FILE *fp)
{
	fprintf(fp, "done=%u lost=%u devices=%u\n", done, lost, devices);
}

/* For whoever watches: replaced as a whole, so that it is never half. */
static void write_status(const char *path)
{
	static uint64_t next_ns;
	char new_path[256];
	FILE *fp;

	if (!path || now_ns() < next_ns)
		return;
	snprintf(new_path, sizeof(new_path), "%s.new", path);
	fp = fopen(new_path, "w");
	if (!fp)
		return;
	print_status(fp);
	fclose(fp);
	rename(new_path, path);
	next_ns = now_ns() + STATUS_NS;
}

/* Setting up */

static VkResult allocate(const VkMemoryRequirements *need, VkDeviceMemory *memory)
{
	const VkMemoryAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.allocationSize = need->size,
		.memoryTypeIndex = vk_host_memory_type(&gpu.vk, need->memoryTypeBits),
	};

	return vkAllocateMemory(gpu.vk.device, &info, NULL, memory);
}

static VkResult make_buffer(unsigned int n)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = sizes[n],
		.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryRequirements need;
	void *map;

	TRY(vkCreateBuffer(gpu.vk.device, &info, NULL, &gpu.buffers[n]));
	vkGetBufferMemoryRequirements(gpu.vk.device, gpu.buffers[n], &need);
	TRY(allocate(&need, &gpu.memory[n]));
	TRY(vkBindBufferMemory(gpu.vk.device, gpu.buffers[n], gpu.memory[n], 0));
	TRY(vkMapMemory(gpu.vk.device, gpu.memory[n], 0, VK_WHOLE_SIZE, 0, &map));
	gpu.maps[n] = map;
	return VK_SUCCESS;
}

static VkResult make_image(void)
{
	const VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = FORMAT,
		.extent = { SIDE, SIDE, 1 },
		.mipLevels = 1,
		.arrayLayers = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
	};
	VkImageViewCreateInfo view = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.viewType = VK_IMAGE_VIEW_TYPE_2D,
		.format = FORMAT,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};
	VkMemoryRequirements need;

	TRY(vkCreateImage(gpu.vk.device, &info, NULL, &gpu.image));
	vkGetImageMemoryRequirements(gpu.vk.device, gpu.image, &need);
	TRY(allocate(&need, &gpu.memory[BUFFERS]));
	TRY(vkBindImageMemory(gpu.vk.device, gpu.image, gpu.memory[BUFFERS], 0));
	view.image = gpu.image;
	return vkCreateImageView(gpu.vk.device, &view, NULL, &gpu.view);
}

static VkResult make_set(void)
{
	const VkDescriptorSetAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorPool = gpu.vk.descriptors,
		.descriptorSetCount = 1,
		.pSetLayouts = &gpu.vk.set_layout,
	};
	uint32_t i;

	TRY(vkAllocateDescriptorSets(gpu.vk.device, &info, &gpu.set));
	for (i = SOURCE; i <= RESULT; i++) {
		const VkWriteDescriptorSet write = {
			.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
			.dstSet = gpu.set,
			.dstBinding = i,
			.descriptorCount = 1,
			.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
			.pBufferInfo = &(VkDescriptorBufferInfo){
				.buffer = gpu.buffers[i],
				.range = VK_WHOLE_SIZE,
			},
		};

		vkUpdateDescriptorSets(gpu.vk.device, 1, &write, 0, NULL);
	}
	return VK_SUCCESS;
}

static VkResult make_all(void)
{
	const VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	uint32_t i;

	for (i = 0; i < BUFFERS; i++)
		TRY(make_buffer(i));
	for (i = 0; i < THREADS; i++)
		gpu.maps[SOURCE][i] = i * 2654435761u;
	TRY(make_image());
	TRY(make_set());
	TRY(vk_compute_pipeline(&gpu.vk, &endure_shaders[0], &gpu.pipeline));
	return vkCreateFence(gpu.vk.device, &fence, NULL, &gpu.fence);
}

static bool open_device(void)
{
	VkResult result;

	memset(&gpu, 0, sizeof(gpu));
	if (vk_compute_open(&gpu.vk, VK_DRIVER_ID_MESA_HONEYKRISP))
		return false;
	devices++;
	result = make_all();
	if (result != VK_SUCCESS)
		fprintf(stderr, "vulkan-endure: device %u: VkResult %d\n", devices, result);
	return result == VK_SUCCESS;
}

static void close_device(void)
{
	VkDevice device = gpu.vk.device;
	unsigned int i;

	vkDestroyFence(device, gpu.fence, NULL);
	vkDestroyPipeline(device, gpu.pipeline, NULL);
	vkDestroyImageView(device, gpu.view, NULL);
	vkDestroyImage(device, gpu.image, NULL);
	for (i = 0; i < BUFFERS; i++)
		vkDestroyBuffer(device, gpu.buffers[i], NULL);
	for (i = 0; i <= BUFFERS; i++)
		vkFreeMemory(device, gpu.memory[i], NULL);
	vk_compute_close(&gpu.vk);
}

/* Frames */

/* Bytes of a colour, which every frame has another one of */
static uint32_t colour_of(unsigned int frame, unsigned int which)
{
	return (frame + which) * 2654435761u;
}

static VkClearColorValue clear_value(uint32_t colour)
{
	VkClearColorValue value;
	unsigned int i;

	for (i = 0; i < 4; i++)
		value.float32[i] = (colour >> 8 * i & 255) / 255.0f;
	return value;
}

static bool is_inside(uint32_t x, uint32_t y)
{
	return x >= 8 && x < 40 && y >= 16 && y < 60;
}

/* A clear, and a rectangle over it, which Mesa draws */
static void record_render(unsigned int frame)
{
	const VkRenderingAttachmentInfo colour = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = gpu.view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		.clearValue.color = clear_value(colour_of(frame, 0)),
	};
	const VkRenderingInfo rendering = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea.extent = { SIDE, SIDE },
		.layerCount = 1,
		.colorAttachmentCount = 1,
		.pColorAttachments = &colour,
	};
	const VkClearAttachment inside = {
		.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
		.clearValue.color = clear_value(colour_of(frame, 1)),
	};
	const VkClearRect rectangle = { .rect = { { 8, 16 }, { 32, 44 } }, .layerCount = 1 };

	vkCmdBeginRendering(gpu.commands, &rendering);
	vkCmdClearAttachments(gpu.commands, 1, &inside, 1, &rectangle);
	vkCmdEndRendering(gpu.commands);
}

static void barrier(VkImageLayout from, VkAccessFlags before, VkAccessFlags after)
{
	const VkImageMemoryBarrier info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.srcAccessMask = before,
		.dstAccessMask = after,
		.oldLayout = from,
		.newLayout = VK_IMAGE_LAYOUT_GENERAL,
		.image = gpu.image,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};

	vkCmdPipelineBarrier(gpu.commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &info);
}

static void record_compute(unsigned int frame)
{
	const uint32_t constants[2] = { ROUNDS, frame };

	vkCmdBindPipeline(gpu.commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu.pipeline);
	vkCmdBindDescriptorSets(gpu.commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu.vk.layout, 0, 1,
				&gpu.set, 0, NULL);
	vkCmdPushConstants(gpu.commands, gpu.vk.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
			   sizeof(constants), constants);
	vkCmdDispatch(gpu.commands, THREADS / GROUP, 1, 1);
}

static VkResult record(unsigned int frame)
{
	const VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = gpu.vk.commands,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};
	const VkBufferImageCopy copy = {
		.imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
		.imageExtent = { SIDE, SIDE, 1 },
	};
	const VkMemoryBarrier to_host = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_HOST_READ_BIT,
	};

	TRY(vkAllocateCommandBuffers(gpu.vk.device, &info, &gpu.commands));
	TRY(vkBeginCommandBuffer(gpu.commands, &begin));
	barrier(VK_IMAGE_LAYOUT_UNDEFINED, 0, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT);
	record_render(frame);
	barrier(VK_IMAGE_LAYOUT_GENERAL, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
		VK_ACCESS_TRANSFER_READ_BIT);
	vkCmdCopyImageToBuffer(gpu.commands, gpu.image, VK_IMAGE_LAYOUT_GENERAL,
			       gpu.buffers[PICTURE], 1, &copy);
	record_compute(frame);
	vkCmdPipelineBarrier(gpu.commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
	return vkEndCommandBuffer(gpu.commands);
}

/* All of it has to come from this frame: nothing that an earlier one has left is right. */
static VkResult run_frame(unsigned int frame)
{
	VkSubmitInfo submit = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &gpu.commands,
	};

	memset(gpu.maps[RESULT], 0, sizes[RESULT]);
	memset(gpu.maps[PICTURE], 0, sizes[PICTURE]);
	TRY(record(frame));
	TRY(vkResetFences(gpu.vk.device, 1, &gpu.fence));
	TRY(vkQueueSubmit(gpu.vk.queue, 1, &submit, gpu.fence));
	TRY(vkWaitForFences(gpu.vk.device, 1, &gpu.fence, VK_TRUE, PATIENCE_NS));
	vkFreeCommandBuffers(gpu.vk.device, gpu.vk.commands, 1, &gpu.commands);
	return VK_SUCCESS;
}

static bool frame_is_right(unsigned int frame)
{
	uint32_t i, x, y, wrong = 0;

	for (i = 0; i < THREADS; i++)
		wrong += gpu.maps[RESULT][i] != (gpu.maps[SOURCE][i] + frame) * factor + summand;
	for (y = 0; y < SIDE; y++)
		for (x = 0; x < SIDE; x++)
			wrong += gpu.maps[PICTURE][y * SIDE + x] !=
				 colour_of(frame, is_inside(x, y));
	return !wrong;
}

/* Return: whether the program can go on */
static bool go_on(unsigned int frame)
{
	VkResult result = run_frame(frame);

	if (result == VK_SUCCESS && frame_is_right(frame)) {
		done++;
		return true;
	}
	lost++;
	if (result == VK_SUCCESS)
		return true;
	if (result == VK_ERROR_DEVICE_LOST) {
		close_device();
		return open_device();
	}
	fprintf(stderr, "vulkan-endure: frame %u: %s, VkResult %d\n", frame,
		result == VK_TIMEOUT ? "its fence never signals" : "an error", result);
	return false;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "status", required_argument, NULL, 's' },
		{ 0 }
	};
	const char *status = NULL;
	unsigned int frame;
	bool ok = true;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != 's') {
			fprintf(stderr, "usage: %s [--status=FILE]\n", argv[0]);
			return EXIT_FAILURE;
		}
		status = optarg;
	}
	for (frame = 0; frame < ROUNDS; frame++) {
		factor *= 1664525u;
		summand = summand * 1664525u + 1013904223u;
	}
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	if (vk_compute_choose("asahi") || !open_device())
		return EXIT_FAILURE;
	for (frame = 1; ok && !ended; frame++) {
		ok = go_on(frame);
		write_status(status);
	}
	print_status(stdout);
	fflush(stdout);
	/* What never signals would hold up the end. */
	if (!ok)
		_Exit(EXIT_FAILURE);
	close_device();
	return EXIT_SUCCESS;
}
