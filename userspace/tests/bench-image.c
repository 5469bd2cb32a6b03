// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A shader that loads each texel of an image and stores it in another one.
 */
#include "bench.h"

#define NAME	"image load and store"
/* Threads of a group in each direction */
#define SIDE	8

/* From the first image to the second */
struct copier {
	struct bench_image images[2];
	uint32_t side;
	VkDescriptorSetLayout set_layout;
	VkPipelineLayout layout;
	VkDescriptorSet set;
};

static VkResult make_images(struct bench *b, struct copier *c)
{
	const VkImageCreateInfo info = {
		.format = VK_FORMAT_R8G8B8A8_UNORM,
		.extent = { .width = c->side, .height = c->side },
		.mipLevels = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
			 VK_IMAGE_USAGE_TRANSFER_DST_BIT,
	};
	uint32_t *texels, i;

	for (i = 0; i < 2; i++) {
		TRY(bench_make_image(b, &c->images[i], &info));
		TRY(bench_make_buffer(b, i, c->side * c->side * 4));
	}
	texels = b->map[0];
	for (i = 0; i < c->side * c->side; i++)
		texels[i] = i * 2654435761u;
	return VK_SUCCESS;
}

static VkResult make_layout(struct bench *b, struct copier *c)
{
	const VkDescriptorSetLayoutBinding bindings[] = {
		{ 0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL },
		{ 1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL },
	};
	const VkDescriptorSetLayoutCreateInfo set_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = 2,
		.pBindings = bindings,
	};
	const VkPipelineLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &c->set_layout,
	};

	TRY(vkCreateDescriptorSetLayout(b->vk.device, &set_info, NULL, &c->set_layout));
	return vkCreatePipelineLayout(b->vk.device, &info, NULL, &c->layout);
}

static VkResult make_set(struct bench *b, struct copier *c)
{
	const VkDescriptorImageInfo images[] = {
		{ .imageView = c->images[0].view, .imageLayout = VK_IMAGE_LAYOUT_GENERAL },
		{ .imageView = c->images[1].view, .imageLayout = VK_IMAGE_LAYOUT_GENERAL },
	};

	return bench_make_set(b, c->set_layout, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, images, 2,
			      &c->set);
}

/* Between an image and the buffer of its number */
static VkBufferImageCopy whole(const struct copier *c)
{
	return (VkBufferImageCopy){
		.imageSubresource = { .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1 },
		.imageExtent = { c->side, c->side, 1 },
	};
}

static VkResult put_texels(struct bench *b, const struct copier *c)
{
	const VkBufferImageCopy copy = whole(c);
	struct bench_run run = { 0 };
	unsigned int i;

	TRY(bench_begin(b, &run.commands));
	for (i = 0; i < 2; i++)
		bench_to_general(run.commands, &c->images[i]);
	vkCmdCopyBufferToImage(run.commands, b->buffer[0], c->images[0].image,
			       VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
	TRY(vkEndCommandBuffer(run.commands));
	return bench_run_once(b, &run);
}

static VkResult get_texels(struct bench *b, const struct copier *c)
{
	const VkBufferImageCopy copy = whole(c);
	struct bench_run run = { 0 };

	TRY(bench_begin(b, &run.commands));
	vkCmdCopyImageToBuffer(run.commands, c->images[1].image, VK_IMAGE_LAYOUT_GENERAL,
			       b->buffer[1], 1, &copy);
	TRY(vkEndCommandBuffer(run.commands));
	return bench_run_once(b, &run);
}

static VkResult record(struct bench *b, const struct copier *c, VkCommandBuffer *commands)
{
	struct vk_compute vk = b->vk;
	VkPipeline pipeline;

	/* the same device, and a pipeline for images in place of buffers */
	vk.layout = c->layout;
	TRY(vk_compute_pipeline(&vk, bench_shader("bench_image"), &pipeline));
	TRY(bench_begin(b, commands));
	vkCmdBindPipeline(*commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdBindDescriptorSets(*commands, VK_PIPELINE_BIND_POINT_COMPUTE, c->layout, 0, 1,
				&c->set, 0, NULL);
	vkCmdDispatch(*commands, c->side / SIDE, c->side / SIDE, 1);
	return vkEndCommandBuffer(*commands);
}

static VkResult run_copier(struct bench *b, struct copier *c)
{
	struct bench_row row = { .name = NAME };
	struct bench_run run = { 0 };
	struct bench_span began;

	TRY(make_images(b, c));
	TRY(make_layout(b, c));
	TRY(make_set(b, c));
	TRY(put_texels(b, c));
	began = bench_now();
	TRY(record(b, c, &run.commands));
	TRY(bench_run_once(b, &run));
	row.cold = bench_since(began);
	TRY(bench_repeat(b, &run, &row.warm));
	TRY(get_texels(b, c));
	bench_sum_words(&row, b->map[1], c->side * c->side);
	bench_print(&row);
	return VK_SUCCESS;
}

VkResult bench_image_copy(struct bench *b)
{
	struct copier c = { .side = b->quick ? 512 : 1024 };

	return bench_wants(b, NAME) ? run_copier(b, &c) : VK_SUCCESS;
}
