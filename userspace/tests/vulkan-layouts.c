// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images that Mesa wrote on the processor (VK_EXT_host_image_copy) are read with
 * lib/agx, and those that lib/agx wrote by Mesa. Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx_layout.h"
#include "agx_packets.h"
#include "vk-compute.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static const struct format {
	const char *name;
	VkFormat format;
	uint32_t bytes, block;
} formats[] = {
	{ "R8", VK_FORMAT_R8_UNORM, 1, 1 },
	{ "R16", VK_FORMAT_R16_UNORM, 2, 1 },
	{ "R8G8B8A8", VK_FORMAT_R8G8B8A8_UNORM, 4, 1 },
	{ "R16G16B16A16", VK_FORMAT_R16G16B16A16_SFLOAT, 8, 1 },
	{ "R32G32B32A32", VK_FORMAT_R32G32B32A32_SFLOAT, 16, 1 },
	{ "BC1", VK_FORMAT_BC1_RGBA_UNORM_BLOCK, 8, 4 },
	{ "BC3", VK_FORMAT_BC3_UNORM_BLOCK, 16, 4 },
};

static const struct {
	uint32_t width, height, layers;
} sizes[] = {
	{ 64, 64, 1 }, { 1, 1, 1 }, { 33, 33, 3 }, { 257, 300, 1 }, { 130, 70, 2 },
	{ 20, 500, 1 }, { 500, 20, 5 },
};

static PFN_vkCopyMemoryToImageEXT copy_in;
static PFN_vkCopyImageToMemoryEXT copy_out;
static PFN_vkTransitionImageLayoutEXT transition;

struct test {
	struct vk_compute *vk;
	const struct format *format;
	struct agx_layout layout;
	VkImage image;
	VkDeviceMemory memory;
	VkDeviceSize bytes;
	void *map;
};

static bool make_image(struct test *t)
{
	const struct agx_layout *l = &t->layout;
	const VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = t->format->format,
		.extent = { l->width, l->height, 1 },
		.mipLevels = l->levels,
		.arrayLayers = l->layers,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_HOST_TRANSFER_BIT_EXT,
	};
	VkDevice device = t->vk->device;
	VkHostImageLayoutTransitionInfoEXT to = {
		.sType = VK_STRUCTURE_TYPE_HOST_IMAGE_LAYOUT_TRANSITION_INFO_EXT,
		.newLayout = VK_IMAGE_LAYOUT_GENERAL,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, l->levels, 0, l->layers },
	};
	VkMemoryAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	VkMemoryRequirements need;

	if (vkCreateImage(device, &info, NULL, &t->image))
		return false;
	vkGetImageMemoryRequirements(device, t->image, &need);
	allocate.allocationSize = t->bytes = need.size;
	allocate.memoryTypeIndex = vk_host_memory_type(t->vk, need.memoryTypeBits);
	if (vkAllocateMemory(device, &allocate, NULL, &t->memory) ||
	    vkBindImageMemory(device, t->image, t->memory, 0) ||
	    vkMapMemory(device, t->memory, 0, VK_WHOLE_SIZE, 0, &t->map))
		return false;
	to.image = t->image;
	return !transition(device, 1, &to);
}

static bool copy_level(struct test *t, const struct agx_copy *c, void *rows, bool in)
{
	const VkImageSubresourceLayers part = { VK_IMAGE_ASPECT_COLOR_BIT, c->level, c->layer, 1 };
	const VkExtent3D extent = { c->width, c->height, 1 };
	const VkMemoryToImageCopyEXT from = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_TO_IMAGE_COPY_EXT,
		.pHostPointer = rows, .imageSubresource = part, .imageExtent = extent,
	};
	const VkImageToMemoryCopyEXT to = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_TO_MEMORY_COPY_EXT,
		.pHostPointer = rows, .imageSubresource = part, .imageExtent = extent,
	};

	if (in)
		return !copy_in(t->vk->device, &(VkCopyMemoryToImageInfoEXT){
			.sType = VK_STRUCTURE_TYPE_COPY_MEMORY_TO_IMAGE_INFO_EXT,
			.dstImage = t->image, .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
			.regionCount = 1, .pRegions = &from,
		});
	return !copy_out(t->vk->device, &(VkCopyImageToMemoryInfoEXT){
		.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_TO_MEMORY_INFO_EXT,
		.srcImage = t->image, .srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.regionCount = 1, .pRegions = &to,
	});
}

/* One side writes all levels and layers, then the other one reads them */
static bool pass_over(struct test *t, bool mesa_writes, bool writes, uint32_t seed)
{
	const struct agx_layout *l = &t->layout;
	const size_t most = (size_t)l->level[0].width * l->level[0].height * l->element_bytes;
	uint8_t *rows = malloc(most), *want = malloc(most);
	struct agx_copy c = { 0 };
	bool ok = rows && want;
	size_t i, pitch, size;

	for (c.layer = 0; ok && c.layer < l->layers; c.layer++) {
		for (c.level = 0; ok && c.level < l->levels; c.level++) {
			c.width = l->width >> c.level ? l->width >> c.level : 1;
			c.height = l->height >> c.level ? l->height >> c.level : 1;
			pitch = (size_t)l->level[c.level].width * l->element_bytes;
			size = pitch * l->level[c.level].height;
			for (i = 0; i < size; i++) {
				seed = seed * 1664525 + 1013904223;
				want[i] = seed >> 24;
			}
			memcpy(rows, want, size);
			if (writes != mesa_writes && !writes)
				memset(rows, 0, size);
			if (writes == mesa_writes)
				ok = copy_level(t, &c, rows, writes);
			else if (writes)
				ok = !agx_tile(l, &c, t->map, t->bytes, rows, pitch);
			else
				ok = !agx_detile(l, &c, t->map, t->bytes, rows, pitch);
			ok = ok && !memcmp(rows, want, size);
		}
	}
	if (!ok)
		printf("# layer %u, level %u of %ux%u, %s by %s\n", c.layer, c.level - 1, l->width,
		       l->height, writes ? "written" : "read",
		       writes == mesa_writes ? "Mesa" : "lib/agx");
	free(rows);
	free(want);
	return ok;
}

static bool run(struct vk_compute *vk, const struct format *f, unsigned int size)
{
	struct test t = {
		.vk = vk,
		.format = f,
		.layout = {
			.kind = AGX_IMAGE_LAYOUT_GPU,
			.width = sizes[size].width,
			.height = sizes[size].height,
			.layers = sizes[size].layers,
			.levels = agx_layout_chain(sizes[size].width, sizes[size].height, 1),
			.samples = 1,
			.element_bytes = f->bytes,
			.block_width = f->block,
			.block_height = f->block,
		},
	};
	bool ok;

	/* its own copies are renders */
	t.layout.page_aligned = agx_layout_wants_pages(&t.layout, true, false, false);
	ok = !agx_layout_init(&t.layout) && make_image(&t);
	if (ok && t.layout.size > t.bytes)
		printf("# %llu bytes, not %llu\n", (unsigned long long)t.layout.size,
		       (unsigned long long)t.bytes);
	ok = ok && t.layout.size <= t.bytes &&
	     pass_over(&t, true, true, 1) && pass_over(&t, true, false, 1) &&
	     pass_over(&t, false, true, 2) && pass_over(&t, false, false, 2);
	vkDestroyImage(vk->device, t.image, NULL);
	vkFreeMemory(vk->device, t.memory, NULL);
	return ok;
}

int main(void)
{
	unsigned int i, n = 0, failed = 0, size;
	struct vk_compute vk;

	if (vk_compute_choose("asahi") || vk_compute_open(&vk, VK_DRIVER_ID_MESA_HONEYKRISP)) {
		printf("not ok 1 - Mesa's driver\n1..1\n");
		return EXIT_FAILURE;
	}
	copy_in = (PFN_vkCopyMemoryToImageEXT)
		vkGetDeviceProcAddr(vk.device, "vkCopyMemoryToImageEXT");
	copy_out = (PFN_vkCopyImageToMemoryEXT)
		vkGetDeviceProcAddr(vk.device, "vkCopyImageToMemoryEXT");
	transition = (PFN_vkTransitionImageLayoutEXT)
		vkGetDeviceProcAddr(vk.device, "vkTransitionImageLayoutEXT");
	for (i = 0; copy_in && copy_out && transition && i < COUNT(formats); i++) {
		bool ok = true;

		for (size = 0; size < COUNT(sizes); size++)
			ok = run(&vk, &formats[i], size) && ok;
		printf("%sok %u - %s\n", ok ? "" : "not ", ++n, formats[i].name);
		failed += !ok;
	}
	printf("1..%u\n", n);
	vk_compute_close(&vk);
	return failed || !n ? EXIT_FAILURE : EXIT_SUCCESS;
}
