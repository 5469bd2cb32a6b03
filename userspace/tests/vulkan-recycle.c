// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * One process of stock Mesa's Vulkan that makes one image after the other in the same memory,
 * which has what the last one left, or a pattern. The images are unlike each other in format,
 * size, layers and levels. They are undefined at first: parts are cleared, copied to, and drawn
 * to in passes that load what is there. What is defined by then has to be right, and is computed
 * here as well. Buffers in the same memory are filled and copied between. Prints TAP.
 *
 * usage: vulkan-recycle [--software] [--seed=N] [--rounds=N]
 *   --software   on lavapipe
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vk-compute.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define TIMEOUT_NS	UINT64_C(60000000000)
#define MAX_SIZE	72
#define MAX_LAYERS	4
#define MAX_LEVELS	7
#define MAX_TEXEL	16
#define MEMORY_SIZE	(2u << 20)
/* What is copied to images, and what comes back: each level and layer has a place of its own. */
#define PLACE_SIZE	(MAX_SIZE * MAX_SIZE * MAX_TEXEL)
#define ROWS_SIZE	(MAX_LEVELS * MAX_LAYERS * PLACE_SIZE)
#define MOST_STEPS	12

static const struct {
	VkFormat format;
	unsigned int bytes, channels;
} formats[] = {
	{ VK_FORMAT_R8_UINT, 1, 1 },
	{ VK_FORMAT_R8G8_UINT, 2, 2 },
	{ VK_FORMAT_R8G8B8A8_UINT, 4, 4 },
	{ VK_FORMAT_R16G16_UINT, 4, 2 },
	{ VK_FORMAT_R32_UINT, 4, 1 },
	{ VK_FORMAT_R16G16B16A16_UINT, 8, 4 },
	{ VK_FORMAT_R32G32B32A32_UINT, 16, 4 },
};

struct buffer {
	VkBuffer buffer;
	VkDeviceMemory memory;
	uint8_t *map;
};

struct image {
	VkImage image;
	unsigned int format, width, height, layers, levels;
};

static struct vk_compute vk;
static VkCommandBuffer commands;
static VkFence fence;
/* where images are made, and what goes there and comes back */
static struct buffer memory, upload, rows;
static struct image image;
/* views of the image that a command buffer uses */
static VkImageView views[MOST_STEPS];
static unsigned int view_count;

/* The image's texels as they should be, and which of them are defined */
static uint8_t expected[MAX_LEVELS][MAX_LAYERS][PLACE_SIZE];
static bool known[MAX_LEVELS][MAX_LAYERS][MAX_SIZE * MAX_SIZE];

static unsigned int cases, failed;
static uint32_t chance_state;

static void judge(bool good, const char *what)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++cases, what);
	fflush(stdout);
	failed += !good;
}

static uint32_t chance(uint32_t below)
{
	uint32_t n;

	chance_state = chance_state * 1664525 + 1013904223;
	n = (chance_state ^ chance_state >> 16) * 0x7feb352d;
	return (n ^ n >> 15) % below;
}

/* Memory */

static VkResult make_buffer(struct buffer *b, VkDeviceSize size)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = size,
		.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	VkMemoryRequirements need;

	TRY(vkCreateBuffer(vk.device, &info, NULL, &b->buffer));
	vkGetBufferMemoryRequirements(vk.device, b->buffer, &need);
	alloc.allocationSize = need.size;
	alloc.memoryTypeIndex = vk_host_memory_type(&vk, need.memoryTypeBits);
	TRY(vkAllocateMemory(vk.device, &alloc, NULL, &b->memory));
	TRY(vkBindBufferMemory(vk.device, b->buffer, b->memory, 0));
	return vkMapMemory(vk.device, b->memory, 0, VK_WHOLE_SIZE, 0, (void **)&b->map);
}

static void free_buffer(struct buffer *b)
{
	vkDestroyBuffer(vk.device, b->buffer, NULL);
	vkFreeMemory(vk.device, b->memory, NULL);
}

/* Sometimes a pattern; otherwise what the last image has left */
static void poison_memory(void)
{
	static const uint8_t patterns[] = { 0x7e, 0x80, 0xff, 0x03, 0x0b, 0xa5, 0x7f, 0x1f };
	size_t at, size = 1 + chance(MEMORY_SIZE / 4);

	if (chance(2))
		return;
	for (at = 0; at < MEMORY_SIZE; at += size)
		memset(memory.map + at, patterns[chance(COUNT(patterns))],
		       size < MEMORY_SIZE - at ? size : MEMORY_SIZE - at);
}

/* Images */

static unsigned int level_size(unsigned int size, unsigned int level)
{
	return size >> level ? size >> level : 1;
}

static unsigned int texel_bytes(void)
{
	return formats[image.format].bytes;
}

static VkDeviceSize place_of(unsigned int level, unsigned int layer)
{
	return (VkDeviceSize)(level * MAX_LAYERS + layer) * PLACE_SIZE;
}

/*
 * Whether Mesa's own parts agree where the metadata of all levels is: its layout halves sizes that
 * were rounded up to blocks of 16 texels, and its kernel that decompresses in place halves the
 * sizes themselves. 33 texels become two blocks, or one: 17 or 16 texels. Nobody has written down
 * what hardware does.
 */
static bool is_agreed(unsigned int size)
{
	unsigned int padded = (size + 15) / 16 * 16, level;

	for (level = 0; size >> level >= 16; level++) {
		unsigned int blocks = 1, rounded = 1;

		while (blocks * 16 < size >> level)
			blocks *= 2;
		while (rounded * 16 < padded)
			rounded *= 2;
		if (blocks != rounded)
			return false;
		padded = (padded + 1) / 2;
	}
	return true;
}

static unsigned int choose_size(void)
{
	unsigned int size;

	do
		size = 1 + chance(MAX_SIZE);
	while (!is_agreed(size));
	return size;
}

static VkResult make_image(void)
{
	VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.imageType = VK_IMAGE_TYPE_2D,
		.extent = { 1, 1, 1 },
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
			 VK_IMAGE_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryRequirements need;
	VkDeviceSize room, offset;

	image.format = chance(COUNT(formats));
	image.width = choose_size();
	image.height = choose_size();
	image.layers = 1 + chance(MAX_LAYERS);
	image.levels = 1;
	while (image.levels < MAX_LEVELS && chance(3) &&
	       (image.width >> image.levels || image.height >> image.levels))
		image.levels++;
	info.format = formats[image.format].format;
	info.extent.width = image.width;
	info.extent.height = image.height;
	info.mipLevels = image.levels;
	info.arrayLayers = image.layers;
	TRY(vkCreateImage(vk.device, &info, NULL, &image.image));
	vkGetImageMemoryRequirements(vk.device, image.image, &need);
	if (need.size > MEMORY_SIZE)
		return VK_ERROR_OUT_OF_DEVICE_MEMORY;
	room = (MEMORY_SIZE - need.size) / need.alignment;
	offset = chance((uint32_t)room + 1) * need.alignment;
	memset(known, 0, sizeof(known));
	return vkBindImageMemory(vk.device, image.image, memory.memory, offset);
}

/* Everything waits for everything */
static void wait_for_all(VkImageLayout from)
{
	const VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		.oldLayout = from,
		.newLayout = VK_IMAGE_LAYOUT_GENERAL,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = image.image,
		.subresourceRange = {
			VK_IMAGE_ASPECT_COLOR_BIT, 0, image.levels, 0, image.layers,
		},
	};

	vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

/* A rectangle of a level, all of it in one of three cases */
static VkRect2D choose_rect(unsigned int level)
{
	const unsigned int width = level_size(image.width, level),
			   height = level_size(image.height, level);
	VkRect2D rect = { .extent = { width, height } };

	if (!chance(3))
		return rect;
	rect.offset.x = (int32_t)chance(width);
	rect.offset.y = (int32_t)chance(height);
	rect.extent.width = 1 + chance(width - (unsigned int)rect.offset.x);
	rect.extent.height = 1 + chance(height - (unsigned int)rect.offset.y);
	return rect;
}

/* Notes that a rectangle has these texels: one behind the other, or (@step is 0) all the same. */
static void expect(unsigned int level, unsigned int layer, const VkRect2D *rect,
		   const uint8_t *texels, unsigned int step)
{
	const unsigned int width = level_size(image.width, level), bytes = texel_bytes();
	unsigned int x, y;

	for (y = 0; y < rect->extent.height; y++) {
		for (x = 0; x < rect->extent.width; x++) {
			const unsigned int at = ((unsigned int)rect->offset.y + y) * width +
						(unsigned int)rect->offset.x + x;

			memcpy(expected[level][layer] + (size_t)at * bytes, texels, bytes);
			known[level][layer][at] = true;
			texels += step;
		}
	}
}

/* A colour, and the texel that it is */
static VkClearColorValue choose_colour(uint8_t *texel)
{
	const unsigned int channels = formats[image.format].channels,
			   size = formats[image.format].bytes / channels;
	VkClearColorValue colour = { .uint32 = { 0 } };
	unsigned int c;

	for (c = 0; c < channels; c++) {
		colour.uint32[c] = chance(UINT32_MAX) >> (32 - 8 * size);
		memcpy(texel + c * size, &colour.uint32[c], size);
	}
	return colour;
}

/* All of one level, and of some layers */
static void record_clear(unsigned int level, unsigned int layer)
{
	const unsigned int count = 1 + chance(image.layers - layer);
	const VkImageSubresourceRange range = {
		VK_IMAGE_ASPECT_COLOR_BIT, level, 1, layer, count,
	};
	const VkRect2D all = {
		.extent = { level_size(image.width, level), level_size(image.height, level) },
	};
	uint8_t texel[MAX_TEXEL];
	const VkClearColorValue colour = choose_colour(texel);
	unsigned int i;

	vkCmdClearColorImage(commands, image.image, VK_IMAGE_LAYOUT_GENERAL, &colour, 1, &range);
	for (i = 0; i < count; i++)
		expect(level, layer + i, &all, texel, 0);
}

/* The upload has other bytes at each step. */
static void record_copy(unsigned int level, unsigned int layer, unsigned int step)
{
	const VkRect2D rect = choose_rect(level);
	const VkDeviceSize start = (VkDeviceSize)step * PLACE_SIZE;
	const VkBufferImageCopy copy = {
		.bufferOffset = start,
		.imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, level, layer, 1 },
		.imageOffset = { rect.offset.x, rect.offset.y, 0 },
		.imageExtent = { rect.extent.width, rect.extent.height, 1 },
	};
	unsigned int i, size = rect.extent.width * rect.extent.height * texel_bytes();

	for (i = 0; i < size; i++)
		upload.map[start + i] = (uint8_t)chance(256);
	vkCmdCopyBufferToImage(commands, upload.buffer, image.image, VK_IMAGE_LAYOUT_GENERAL, 1,
			       &copy);
	expect(level, layer, &rect, upload.map + start, texel_bytes());
}

/* A pass that loads what is there, which may be undefined, and draws a rectangle over it */
static VkResult record_pass(unsigned int level, unsigned int layer)
{
	const VkImageViewCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.image = image.image,
		.viewType = VK_IMAGE_VIEW_TYPE_2D,
		.format = formats[image.format].format,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, level, 1, layer, 1 },
	};
	VkRenderingAttachmentInfo attachment = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
	};
	const VkRenderingInfo rendering = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea.extent = {
			level_size(image.width, level), level_size(image.height, level),
		},
		.layerCount = 1,
		.colorAttachmentCount = 1,
		.pColorAttachments = &attachment,
	};
	const VkRect2D rect = choose_rect(level);
	uint8_t texel[MAX_TEXEL];
	const VkClearAttachment drawn = {
		.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
		.clearValue.color = choose_colour(texel),
	};

	TRY(vkCreateImageView(vk.device, &info, NULL, &views[view_count]));
	attachment.imageView = views[view_count++];
	vkCmdBeginRendering(commands, &rendering);
	vkCmdClearAttachments(commands, 1, &drawn, 1, &(VkClearRect){ rect, 0, 1 });
	vkCmdEndRendering(commands);
	expect(level, layer, &rect, texel, 0);
	return VK_SUCCESS;
}

static void record_reads(void)
{
	unsigned int level;

	for (level = 0; level < image.levels; level++) {
		unsigned int layer;

		for (layer = 0; layer < image.layers; layer++) {
			const VkBufferImageCopy copy = {
				.bufferOffset = place_of(level, layer),
				.imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, level, layer, 1 },
				.imageExtent = {
					level_size(image.width, level),
					level_size(image.height, level), 1,
				},
			};

			vkCmdCopyImageToBuffer(commands, image.image, VK_IMAGE_LAYOUT_GENERAL,
					       rows.buffer, 1, &copy);
		}
	}
}

static VkResult record(void)
{
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};
	unsigned int step, steps = 1 + chance(MOST_STEPS);

	TRY(vkBeginCommandBuffer(commands, &begin));
	wait_for_all(VK_IMAGE_LAYOUT_UNDEFINED);
	for (step = 0; step < steps; step++) {
		const unsigned int level = chance(image.levels), layer = chance(image.layers);

		switch (chance(3)) {
		case 0: record_clear(level, layer); break;
		case 1: record_copy(level, layer, step); break;
		default: TRY(record_pass(level, layer)); break;
		}
		wait_for_all(VK_IMAGE_LAYOUT_GENERAL);
	}
	record_reads();
	wait_for_all(VK_IMAGE_LAYOUT_GENERAL);
	return vkEndCommandBuffer(commands);
}

static VkResult execute(void)
{
	const VkSubmitInfo submit = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &commands,
	};

	TRY(vkQueueSubmit(vk.queue, 1, &submit, fence));
	TRY(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, TIMEOUT_NS));
	return vkResetFences(vk.device, 1, &fence);
}

static bool layer_is_right(unsigned int level, unsigned int layer, unsigned int *compared)
{
	const unsigned int width = level_size(image.width, level), bytes = texel_bytes(),
			   count = width * level_size(image.height, level);
	const uint8_t *found = rows.map + place_of(level, layer);
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!known[level][layer][i])
			continue;
		(*compared)++;
		if (!memcmp(found + (size_t)i * bytes, expected[level][layer] + (size_t)i * bytes,
			    bytes))
			continue;
		printf("# format %u, %ux%u, %u levels, %u layers: texel %u, %u of level %u, layer %u is wrong\n",
		       image.format, image.width, image.height, image.levels, image.layers,
		       i % width, i / width, level, layer);
		return false;
	}
	return true;
}

static bool image_is_right(unsigned int *compared)
{
	unsigned int level, layer;

	for (level = 0; level < image.levels; level++) {
		for (layer = 0; layer < image.layers; layer++) {
			if (!layer_is_right(level, layer, compared))
				return false;
		}
	}
	return true;
}

static void drop_image(void)
{
	while (view_count)
		vkDestroyImageView(vk.device, views[--view_count], NULL);
	vkDestroyImage(vk.device, image.image, NULL);
}

/* Buffers in the same memory */

/* Fills some words of the memory; what is not filled stays as it was. */
static bool words_are_right(void)
{
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};
	const uint32_t at = 4 * chance(MEMORY_SIZE / 8), size = 4 * (1 + chance(MEMORY_SIZE / 16)),
		       word = chance(UINT32_MAX);
	static uint8_t before[MEMORY_SIZE];
	uint32_t i;

	memcpy(before, memory.map, MEMORY_SIZE);
	for (i = at; i < at + size; i += 4)
		memcpy(before + i, &word, 4);
	if (vkBeginCommandBuffer(commands, &begin))
		return false;
	vkCmdFillBuffer(commands, memory.buffer, at, size, word);
	if (vkEndCommandBuffer(commands) || execute())
		return false;
	return !memcmp(before, memory.map, MEMORY_SIZE);
}

static bool open_device(bool software)
{
	const VkFenceCreateInfo fence_info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};

	if (vk_compute_choose(software ? "lvp" : "asahi") ||
	    vk_compute_open(&vk, software ? VK_DRIVER_ID_MESA_LLVMPIPE :
			    VK_DRIVER_ID_MESA_HONEYKRISP))
		return false;
	printf("# %s\n", vk.name);
	info.commandPool = vk.commands;
	return !vkAllocateCommandBuffers(vk.device, &info, &commands) &&
	       !vkCreateFence(vk.device, &fence_info, NULL, &fence) &&
	       !make_buffer(&memory, MEMORY_SIZE) &&
	       !make_buffer(&upload, MOST_STEPS * PLACE_SIZE) && !make_buffer(&rows, ROWS_SIZE);
}

static void run(unsigned int rounds)
{
	unsigned int round, compared = 0, wrong = 0, wrong_words = 0;

	for (round = 0; round < rounds; round++) {
		poison_memory();
		if (make_image() || record() || execute() || !image_is_right(&compared))
			wrong++;
		drop_image();
		if (chance(4) == 0)
			wrong_words += !words_are_right();
	}
	printf("# %u of %u images are wrong, of %u texels\n", wrong, rounds, compared);
	judge(!wrong && compared > 100 * rounds, "images in memory that was used before");
	judge(!wrong_words, "buffers in memory that was used before");
}

int main(int argc, char **argv)
{
	unsigned int rounds = 300;
	bool software = false;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--software"))
			software = true;
		else if (!strncmp(argv[i], "--seed=", 7))
			chance_state = (uint32_t)strtoul(argv[i] + 7, NULL, 0);
		else if (!strncmp(argv[i], "--rounds=", 9))
			rounds = (unsigned int)strtoul(argv[i] + 9, NULL, 0);
	}
	if (!open_device(software)) {
		printf("not ok 1 - Mesa's driver\n1..1\n");
		return EXIT_FAILURE;
	}
	run(rounds);
	printf("1..%u\n", cases);
	free_buffer(&memory);
	free_buffer(&upload);
	free_buffer(&rows);
	vkDestroyFence(vk.device, fence, NULL);
	vk_compute_close(&vk);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
