// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Work of vulkan-bench that draws over a full screen: pipelines are made before, and
 * pictures are read back after what is timed.
 */
#include "bench.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define COLOUR_FORMAT	VK_FORMAT_R8G8B8A8_UNORM
#define DEPTH_FORMAT	VK_FORMAT_D32_SFLOAT
#define TEXTURE		512
#define LEVELS		10
/* Texels for a pixel in each direction: between the first two levels */
#define SHRINKS		1.5f
#define SMALL_DRAWS	10000
/* Pixels from one of them to the next, and their own */
#define SMALL_STEP	20
#define SMALL_SIDE	19
#define TRIANGLES	100
/* What is drawn again and again, to know what once more takes */
#define MORE		10

/* All that is drawn has this, and its targets */
struct canvas {
	struct bench *bench;
	uint32_t width, height;
	struct bench_image colour, samples, depth, texture;
	VkSampler sampler;
	VkDescriptorSetLayout set_layout;
	VkDescriptorSet set;
	VkPipelineLayout layout;
};

/* Of a draw call: as glsl/bench_quad.vert has it */
struct constants {
	/* x, y, width, height, from -1 to 1 */
	float rectangle[4];
	float colour[4];
	float repeats[2];
};

/* One row */
struct drawing {
	const char *name;
	/* quads if not given */
	const char *vertex;
	const char *fragment;
	void (*record)(VkCommandBuffer commands, const struct canvas *c, unsigned int count);
	unsigned int count;
	/* the row has each of so many more, if given */
	unsigned int more;
	bool has_depth;
	/* what is there already is loaded, and not cleared */
	bool loads;
	bool blends;
	/* four samples, which are resolved */
	bool has_samples;
	/* of 255, where drivers may round differently */
	double tolerance;
};

/* Targets and texture */

static VkResult make_targets(struct canvas *c)
{
	VkImageCreateInfo info = {
		.format = COLOUR_FORMAT,
		.extent = { .width = c->width, .height = c->height },
		.mipLevels = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
	};

	TRY(bench_make_image(c->bench, &c->colour, &info));
	info.samples = VK_SAMPLE_COUNT_4_BIT;
	info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
	TRY(bench_make_image(c->bench, &c->samples, &info));
	info.samples = VK_SAMPLE_COUNT_1_BIT;
	info.format = DEPTH_FORMAT;
	info.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
	return bench_make_image(c->bench, &c->depth, &info);
}

/* Ramps of red and green, and a blue for each level */
static void fill_levels(uint8_t *at)
{
	uint32_t level, x, y;

	for (level = 0; level < LEVELS; level++) {
		const uint32_t side = TEXTURE >> level;

		for (y = 0; y < side; y++) {
			for (x = 0; x < side; x++, at += 4) {
				at[0] = x * 255 / side;
				at[1] = y * 255 / side;
				at[2] = 24 * level;
				at[3] = 255;
			}
		}
	}
}

static VkResult make_texture(struct canvas *c)
{
	const VkImageCreateInfo info = {
		.format = COLOUR_FORMAT,
		.extent = { .width = TEXTURE, .height = TEXTURE },
		.mipLevels = LEVELS,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
	};
	const VkSamplerCreateInfo sampler = {
		.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
		.magFilter = VK_FILTER_LINEAR,
		.minFilter = VK_FILTER_LINEAR,
		.mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR,
		.maxLod = VK_LOD_CLAMP_NONE,
	};

	TRY(bench_make_image(c->bench, &c->texture, &info));
	return vkCreateSampler(c->bench->vk.device, &sampler, NULL, &c->sampler);
}

static void record_texture(VkCommandBuffer commands, const struct canvas *c)
{
	VkBufferImageCopy copy = {
		.imageSubresource = { .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1 },
		.imageExtent.depth = 1,
	};
	uint32_t level;

	for (level = 0; level < LEVELS; level++) {
		const uint32_t side = TEXTURE >> level;

		copy.imageSubresource.mipLevel = level;
		copy.imageExtent.width = side;
		copy.imageExtent.height = side;
		vkCmdCopyBufferToImage(commands, c->bench->buffer[0], c->texture.image,
				       VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
		copy.bufferOffset += side * side * 4;
	}
}

/* What the shaders see */

static VkResult make_layout(struct canvas *c)
{
	const VkDescriptorSetLayoutBinding binding = {
		.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
		.descriptorCount = 1,
		.stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT,
	};
	const VkDescriptorSetLayoutCreateInfo set_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = 1,
		.pBindings = &binding,
	};
	const VkPushConstantRange constants = {
		.stageFlags = VK_SHADER_STAGE_VERTEX_BIT,
		.size = sizeof(struct constants),
	};
	const VkPipelineLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &c->set_layout,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &constants,
	};
	VkDevice device = c->bench->vk.device;

	TRY(vkCreateDescriptorSetLayout(device, &set_info, NULL, &c->set_layout));
	return vkCreatePipelineLayout(device, &info, NULL, &c->layout);
}

static VkResult make_set(struct canvas *c)
{
	const VkDescriptorImageInfo image = {
		.sampler = c->sampler,
		.imageView = c->texture.view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
	};

	return bench_make_set(c->bench, c->set_layout, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
			      &image, 1, &c->set);
}

/* The pipeline */

static VkResult make_stage(struct canvas *c, VkShaderStageFlagBits stage, const char *name,
			   VkPipelineShaderStageCreateInfo *info)
{
	const struct shader_binary *shader = bench_shader(name);
	const VkShaderModuleCreateInfo module = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = shader->size,
		.pCode = shader->code,
	};

	*info = (VkPipelineShaderStageCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage = stage,
		.pName = "main",
	};
	return vkCreateShaderModule(c->bench->vk.device, &module, NULL, &info->module);
}

static VkResult make_pipeline_of(struct canvas *c, const struct drawing *d,
				 const VkPipelineShaderStageCreateInfo *stages,
				 VkPipeline *pipeline)
{
	const VkPipelineVertexInputStateCreateInfo input = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
	};
	const VkPipelineInputAssemblyStateCreateInfo assembly = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
		.topology = d->vertex ? VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST :
					VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
	};
	const VkPipelineViewportStateCreateInfo view = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
		.viewportCount = 1,
		.pViewports = &(VkViewport){ 0, 0, c->width, c->height, 0, 1 },
		.scissorCount = 1,
		.pScissors = &(VkRect2D){ .extent = { c->width, c->height } },
	};
	const VkPipelineRasterizationStateCreateInfo raster = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
		.lineWidth = 1,
	};
	const VkPipelineMultisampleStateCreateInfo multisample = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
		.rasterizationSamples = d->has_samples ? VK_SAMPLE_COUNT_4_BIT :
							 VK_SAMPLE_COUNT_1_BIT,
	};
	const VkPipelineDepthStencilStateCreateInfo depth = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
		.depthTestEnable = d->has_depth,
		.depthWriteEnable = d->has_depth,
		.depthCompareOp = VK_COMPARE_OP_LESS_OR_EQUAL,
	};
	const VkPipelineColorBlendStateCreateInfo blends = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
		.attachmentCount = 1,
		.pAttachments = &(VkPipelineColorBlendAttachmentState){
			.blendEnable = d->blends,
			.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
			.dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
			.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
			.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
					  VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT,
		},
	};
	const VkPipelineRenderingCreateInfo rendering = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
		.colorAttachmentCount = 1,
		.pColorAttachmentFormats = &(VkFormat){ COLOUR_FORMAT },
		.depthAttachmentFormat = d->has_depth ? DEPTH_FORMAT : VK_FORMAT_UNDEFINED,
	};
	const VkGraphicsPipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
		.pNext = &rendering,
		.stageCount = 2,
		.pStages = stages,
		.pVertexInputState = &input,
		.pInputAssemblyState = &assembly,
		.pViewportState = &view,
		.pRasterizationState = &raster,
		.pMultisampleState = &multisample,
		.pDepthStencilState = &depth,
		.pColorBlendState = &blends,
		.layout = c->layout,
	};

	return vkCreateGraphicsPipelines(c->bench->vk.device, VK_NULL_HANDLE, 1, &info, NULL,
					 pipeline);
}

static VkResult make_pipeline(struct canvas *c, const struct drawing *d, VkPipeline *pipeline)
{
	VkPipelineShaderStageCreateInfo stages[2];

	TRY(make_stage(c, VK_SHADER_STAGE_VERTEX_BIT, d->vertex ? d->vertex : "bench_quad_vert",
		       &stages[0]));
	TRY(make_stage(c, VK_SHADER_STAGE_FRAGMENT_BIT, d->fragment ? d->fragment : "flat_frag",
		       &stages[1]));
	return make_pipeline_of(c, d, stages, pipeline);
}

/* What is drawn */

/* Colours are whole numbers of 255, which all drivers store alike; each is half transparent */
static void draw_quad(VkCommandBuffer commands, const struct canvas *c, unsigned int n,
		      struct constants *constants)
{
	constants->colour[0] = (float)(37 * n % 256) / 255;
	constants->colour[1] = (float)(91 * n % 256) / 255;
	constants->colour[2] = (float)(153 * n % 256) / 255;
	constants->colour[3] = (float)128 / 255;
	vkCmdPushConstants(commands, c->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(*constants),
			   constants);
	vkCmdDraw(commands, 4, 1, 0, 0);
}

static void record_full(VkCommandBuffer commands, const struct canvas *c, unsigned int count)
{
	struct constants constants = {
		.rectangle = { -1, -1, 2, 2 },
		.repeats = { SHRINKS * c->width / TEXTURE, SHRINKS * c->height / TEXTURE },
	};
	unsigned int i;

	for (i = 0; i < count; i++)
		draw_quad(commands, c, 1 + i, &constants);
}

/* Side by side, and over the first ones again when the screen is full */
static void record_small(VkCommandBuffer commands, const struct canvas *c, unsigned int count)
{
	const unsigned int columns = c->width / SMALL_STEP, rows = c->height / SMALL_STEP;
	struct constants constants = {
		.rectangle = { 0, 0, 2.0f * SMALL_SIDE / c->width, 2.0f * SMALL_SIDE / c->height },
	};
	unsigned int i;

	for (i = 0; i < count; i++) {
		const unsigned int x = i % columns, y = i / columns % rows;

		constants.rectangle[0] = 2.0f * SMALL_STEP * x / c->width - 1;
		constants.rectangle[1] = 2.0f * SMALL_STEP * y / c->height - 1;
		draw_quad(commands, c, 1 + i, &constants);
	}
}

static void record_triangles(VkCommandBuffer commands, const struct canvas *c, unsigned int count)
{
	vkCmdDraw(commands, 3 * count, 1, 0, 0);
}

static void begin_pass(VkCommandBuffer commands, const struct canvas *c, const struct drawing *d)
{
	const VkAttachmentLoadOp load = d->loads ? VK_ATTACHMENT_LOAD_OP_LOAD :
						   VK_ATTACHMENT_LOAD_OP_CLEAR;
	VkRenderingAttachmentInfo colour = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = c->colour.view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = load,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		.clearValue.color.float32 = { 0.2f, 0.4f, 0.6f, 1 },
	};
	const VkRenderingAttachmentInfo depth = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = c->depth.view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = load,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		.clearValue.depthStencil = { 1, 0 },
	};
	const VkRenderingInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea.extent = { c->width, c->height },
		.layerCount = 1,
		.colorAttachmentCount = 1,
		.pColorAttachments = &colour,
		.pDepthAttachment = d->has_depth ? &depth : NULL,
	};

	if (d->has_samples) {
		colour.imageView = c->samples.view;
		colour.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
		colour.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
		colour.resolveImageView = c->colour.view;
		colour.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
	}
	vkCmdBeginRendering(commands, &info);
}

static VkResult record(struct canvas *c, const struct drawing *d, VkPipeline pipeline,
		       unsigned int count, VkCommandBuffer *commands)
{
	TRY(bench_begin(c->bench, commands));
	begin_pass(*commands, c, d);
	vkCmdBindPipeline(*commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	vkCmdBindDescriptorSets(*commands, VK_PIPELINE_BIND_POINT_GRAPHICS, c->layout, 0, 1,
				&c->set, 0, NULL);
	d->record(*commands, c, count);
	vkCmdEndRendering(*commands);
	return vkEndCommandBuffer(*commands);
}

/* Running */

static VkResult prepare(struct canvas *c)
{
	const struct drawing clear = { .has_depth = true };
	struct bench *b = c->bench;
	struct bench_run run = { 0 };

	TRY(make_targets(c));
	TRY(make_texture(c));
	TRY(make_layout(c));
	TRY(make_set(c));
	/* more than all levels */
	TRY(bench_make_buffer(b, 0, TEXTURE * TEXTURE * 8));
	TRY(bench_make_buffer(b, 1, c->width * c->height * 4));
	fill_levels(b->map[0]);
	TRY(bench_begin(b, &run.commands));
	bench_to_general(run.commands, &c->colour);
	bench_to_general(run.commands, &c->samples);
	bench_to_general(run.commands, &c->depth);
	bench_to_general(run.commands, &c->texture);
	record_texture(run.commands, c);
	/* so that there is something to load */
	begin_pass(run.commands, c, &clear);
	vkCmdEndRendering(run.commands);
	TRY(vkEndCommandBuffer(run.commands));
	return bench_run_once(b, &run);
}

static VkResult look(struct canvas *c, struct bench_row *row)
{
	const VkBufferImageCopy copy = {
		.imageSubresource = { .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1 },
		.imageExtent = { c->width, c->height, 1 },
	};
	struct bench *b = c->bench;
	struct bench_run run = { 0 };

	TRY(bench_begin(b, &run.commands));
	vkCmdCopyImageToBuffer(run.commands, c->colour.image, VK_IMAGE_LAYOUT_GENERAL,
			       b->buffer[1], 1, &copy);
	TRY(vkEndCommandBuffer(run.commands));
	TRY(bench_run_once(b, &run));
	bench_sum_words(row, b->map[1], c->width * c->height);
	if (row->tolerance)
		bench_mean_pixels(row, b->map[1], c->width * c->height);
	return VK_SUCCESS;
}

/* What a pass takes with more of them than before tells what each takes */
static VkResult time_more(struct canvas *c, const struct drawing *d, VkPipeline pipeline,
			  struct bench_row *row)
{
	struct bench_span several, one = row->warm;
	struct bench_run run = { 0 };

	TRY(record(c, d, pipeline, d->count + d->more, &run.commands));
	TRY(bench_run_once(c->bench, &run));
	TRY(bench_repeat(c->bench, &run, &several));
	row->warm = bench_more(several, one, d->more);
	return VK_SUCCESS;
}

static VkResult run_drawing(struct canvas *c, const struct drawing *d)
{
	struct bench_row row = { .name = d->name, .tolerance = d->tolerance };
	struct bench_run run = { 0 };
	struct bench_span began;
	VkPipeline pipeline;

	began = bench_now();
	TRY(make_pipeline(c, d, &pipeline));
	TRY(record(c, d, pipeline, d->count, &run.commands));
	TRY(bench_run_once(c->bench, &run));
	row.cold = bench_since(began);
	TRY(bench_repeat(c->bench, &run, &row.warm));
	if (d->more)
		TRY(time_more(c, d, pipeline, &row));
	TRY(look(c, &row));
	bench_print(&row);
	return VK_SUCCESS;
}

/* Without depth, lavapipe leaves out what an opaque quad hides */
static const struct drawing drawings[] = {
	{
		.name = "clear of a full screen",
		.record = record_full,
		.has_depth = true,
	},
	{
		.name = "fill of a full screen, colour and depth loaded and stored",
		.record = record_full,
		.count = 1,
		.has_depth = true,
		.loads = true,
	},
	{
		.name = "one more quad of a full screen",
		.record = record_full,
		.count = 1,
		.more = MORE,
		.has_depth = true,
	},
	{
		.name = "one more quad of a full screen, blended",
		.record = record_full,
		.count = 1,
		.more = MORE,
		.blends = true,
		.tolerance = 2,
	},
	{
		.name = "trilinear texture on a full screen",
		.fragment = "bench_texture_frag",
		.record = record_full,
		.count = 1,
		.has_depth = true,
		.tolerance = 1,
	},
	{
		.name = "one more quad of a full screen, trilinear texture",
		.fragment = "bench_texture_frag",
		.record = record_full,
		.count = 1,
		.more = MORE,
		.has_depth = true,
		.tolerance = 1,
	},
	{
		.name = "10,000 draws of 19 x 19 pixels",
		.record = record_small,
		.count = SMALL_DRAWS,
		.has_depth = true,
	},
	{
		.name = "100 triangles with 4 samples, resolved",
		.vertex = "bench_triangles_vert",
		.record = record_triangles,
		.count = TRIANGLES,
		.has_samples = true,
		.tolerance = 0.1,
	},
};

VkResult bench_drawings(struct bench *b)
{
	struct canvas canvas = {
		.bench = b,
		.width = b->quick ? 960 : 1920,
		.height = b->quick ? 540 : 1080,
	};
	unsigned int i;

	for (i = 0; i < COUNT(drawings); i++) {
		if (!bench_wants(b, drawings[i].name))
			continue;
		if (!canvas.layout)
			TRY(prepare(&canvas));
		TRY(run_drawing(&canvas, &drawings[i]));
	}
	return VK_SUCCESS;
}
