// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "vk-render.h"
#include "vk-sparse.h"

/* The largest scene takes a minute of a processor that has other work, with sanitizers */
#define TIMEOUT_NS	UINT64_C(300000000000)
#define COLOUR_FORMAT	VK_FORMAT_R8G8B8A8_UNORM
#define MAX_STAGES	5
#define MAX_PARTS	2
/* What an indirect draw must not read */
#define INDIRECT_OFFSET	64

struct buffer {
	VkBuffer buffer;
	VkDeviceMemory memory;
	void *map;
};

struct image {
	VkImage image;
	VkDeviceMemory memory;
	VkImageView view;
	VkImageAspectFlags aspects;
	/* of a sparse one, before it is made: whether small levels are there */
	bool has_tail;
};

/* A texture of the scene, and what is copied into it */
struct texture {
	const struct scene_texture *scene;
	struct image image;
	struct buffer texels;
	VkSampler sampler;
};

/* All that a draw call needs */
struct part {
	struct frame *frame;
	const struct scene *scene;
	struct buffer vertices, indices, indirect, captured;
	VkPipeline pipeline;
};

/* All that a scene is drawn with, made for it and destroyed after it */
struct frame {
	struct vk_compute *vk;
	const struct scene *scene;
	struct image colour, depth, resolved;
	struct buffer pixels, counts;
	struct texture textures[MOST_TEXTURES];
	VkDescriptorSetLayout set_layout;
	VkDescriptorPool descriptors;
	VkDescriptorSet set;
	VkPipelineLayout layout;
	VkQueryPool queries;
	struct part parts[MAX_PARTS];
	unsigned int part_count;
	VkCommandBuffer commands;
	VkFence fence;
};

static VkSampleCountFlagBits samples_of(const struct scene *scene)
{
	return scene->samples ? scene->samples : VK_SAMPLE_COUNT_1_BIT;
}

static uint32_t layers_of(const struct scene *scene)
{
	return scene->layers ? scene->layers : 1;
}

static bool has_stencil(const struct scene *scene)
{
	return scene->depth_format == VK_FORMAT_D32_SFLOAT_S8_UINT;
}

static VkImageAspectFlags depth_aspects(const struct scene *scene)
{
	return VK_IMAGE_ASPECT_DEPTH_BIT |
	       (has_stencil(scene) ? VK_IMAGE_ASPECT_STENCIL_BIT : 0);
}

static bool has_query(const struct scene *scene)
{
	return scene->counts_samples || scene->finds_samples;
}

/* Memory */

static VkResult make_buffer(struct frame *f, struct buffer *b, size_t size,
			    VkBufferUsageFlags usage, const void *data)
{
	VkDevice device = f->vk->device;
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = size,
		.usage = usage,
	};
	VkMemoryAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
	};
	VkMemoryRequirements need;

	TRY(vkCreateBuffer(device, &info, NULL, &b->buffer));
	vkGetBufferMemoryRequirements(device, b->buffer, &need);
	allocate.allocationSize = need.size;
	allocate.memoryTypeIndex = vk_host_memory_type(f->vk, need.memoryTypeBits);
	TRY(vkAllocateMemory(device, &allocate, NULL, &b->memory));
	TRY(vkBindBufferMemory(device, b->buffer, b->memory, 0));
	TRY(vkMapMemory(device, b->memory, 0, VK_WHOLE_SIZE, 0, &b->map));
	if (data)
		memcpy(b->map, data, size);
	else
		memset(b->map, 0xa5, size);
	return VK_SUCCESS;
}

static void free_buffer(struct frame *f, struct buffer *b)
{
	vkDestroyBuffer(f->vk->device, b->buffer, NULL);
	vkFreeMemory(f->vk->device, b->memory, NULL);
}

static uint32_t or_one(uint32_t count)
{
	return count ? count : 1;
}

static bool is_sparse(const VkImageCreateInfo *info)
{
	return info->flags & VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT;
}

static VkResult bind_sparse(struct frame *f, const struct image *image,
			    const VkImageCreateInfo *info, VkDeviceSize size)
{
	return vk_sparse_bind(f->vk, &(struct vk_sparse){
		.image = image->image,
		.memory = image->memory,
		.memory_size = size,
		.extent = info->extent,
		.levels = info->mipLevels,
		.layers = info->arrayLayers,
		.has_tail = image->has_tail,
	});
}

/* @view has the type, the aspects and the first level of the image's view */
static VkResult make_image(struct frame *f, struct image *image,
			   const VkImageCreateInfo *wanted,
			   const VkImageViewCreateInfo *wanted_view)
{
	VkDevice device = f->vk->device;
	VkImageCreateInfo info = *wanted;
	VkMemoryAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
	};
	VkImageViewCreateInfo view = *wanted_view;
	VkMemoryRequirements need;

	info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
	info.imageType = VK_IMAGE_TYPE_2D;
	info.extent.depth = 1;
	info.mipLevels = or_one(info.mipLevels);
	info.arrayLayers = or_one(info.arrayLayers);
	TRY(vkCreateImage(device, &info, NULL, &image->image));
	vkGetImageMemoryRequirements(device, image->image, &need);
	/* at the edges of a sparse image, blocks take more than the image has of them */
	allocate.allocationSize = is_sparse(&info) ? 4 * need.size : need.size;
	allocate.memoryTypeIndex = vk_host_memory_type(f->vk, need.memoryTypeBits);
	TRY(vkAllocateMemory(device, &allocate, NULL, &image->memory));
	if (is_sparse(&info))
		TRY(bind_sparse(f, image, &info, allocate.allocationSize));
	else
		TRY(vkBindImageMemory(device, image->image, image->memory, 0));
	image->aspects = view.subresourceRange.aspectMask;
	view.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
	view.format = info.format;
	view.subresourceRange.levelCount = VK_REMAINING_MIP_LEVELS;
	view.subresourceRange.layerCount = VK_REMAINING_ARRAY_LAYERS;
	view.image = image->image;
	return vkCreateImageView(device, &view, NULL, &image->view);
}

static void free_image(struct frame *f, struct image *image)
{
	vkDestroyImageView(f->vk->device, image->view, NULL);
	vkDestroyImage(f->vk->device, image->image, NULL);
	vkFreeMemory(f->vk->device, image->memory, NULL);
}

static size_t picture_bytes(const struct scene *scene)
{
	return (size_t)scene->width * vk_scene_height(scene) * 4;
}

static VkResult make_target(struct frame *f, struct image *image,
			    const VkImageCreateInfo *info)
{
	const VkImageViewCreateInfo view = {
		.viewType = info->arrayLayers > 1 ?
			    VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D,
		.subresourceRange.aspectMask = image == &f->depth ?
					       depth_aspects(f->scene) :
					       VK_IMAGE_ASPECT_COLOR_BIT,
	};

	return make_image(f, image, info, &view);
}

static VkResult make_targets(struct frame *f)
{
	const struct scene *scene = f->scene;
	VkImageCreateInfo info = {
		.format = COLOUR_FORMAT,
		.extent = { .width = scene->width, .height = scene->height },
		.arrayLayers = layers_of(scene),
		.samples = samples_of(scene),
		.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
			 VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
	};

	TRY(make_target(f, &f->colour, &info));
	if (info.samples != VK_SAMPLE_COUNT_1_BIT) {
		info.samples = VK_SAMPLE_COUNT_1_BIT;
		TRY(make_target(f, &f->resolved, &info));
	}
	if (scene->depth_format) {
		info.samples = samples_of(scene);
		info.format = scene->depth_format;
		info.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
		TRY(make_target(f, &f->depth, &info));
	}
	return make_buffer(f, &f->pixels,
			   picture_bytes(scene),
			   VK_BUFFER_USAGE_TRANSFER_DST_BIT, NULL);
}

/* What is in front of the record would be another draw */
static VkResult make_indirect(struct part *part)
{
	const struct scene *scene = part->scene;
	const uint32_t instances = scene->instances ? scene->instances : 1;
	uint32_t words[INDIRECT_OFFSET / 4 + 5];
	uint32_t *record = words + INDIRECT_OFFSET / 4;

	memset(words, 0, sizeof(words));
	record[0] = scene->indices ? scene->index_count : scene->vertex_count;
	record[1] = instances;
	return make_buffer(part->frame, &part->indirect, sizeof(words),
			   VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT, words);
}

static VkResult make_vertices(struct part *part)
{
	const struct scene *scene = part->scene;
	struct frame *f = part->frame;

	TRY(make_buffer(f, &part->vertices,
			scene->vertex_count * sizeof(*scene->vertices),
			VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, scene->vertices));
	if (scene->is_indirect)
		TRY(make_indirect(part));
	if (scene->is_captured)
		TRY(make_buffer(f, &part->captured, picture_bytes(f->scene),
				VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT,
				NULL));
	if (!scene->indices)
		return VK_SUCCESS;
	return make_buffer(f, &part->indices,
			   scene->index_count * sizeof(*scene->indices),
			   VK_BUFFER_USAGE_INDEX_BUFFER_BIT, scene->indices);
}

static VkResult make_queries(struct frame *f)
{
	const VkQueryPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_OCCLUSION,
		.queryCount = MAX_PARTS,
	};

	TRY(vkCreateQueryPool(f->vk->device, &info, NULL, &f->queries));
	return make_buffer(f, &f->counts, MAX_PARTS * sizeof(uint32_t),
			   VK_BUFFER_USAGE_TRANSFER_DST_BIT, NULL);
}

static uint32_t level_size(uint32_t size, uint32_t level)
{
	return or_one(size >> level);
}

/* Texels, or blocks of them */
static uint32_t units(const struct scene_texture *t, uint32_t texels)
{
	return (texels + or_one(t->block) - 1) / or_one(t->block);
}

/* Of a level, in all layers */
static size_t level_bytes(const struct scene_texture *t, uint32_t level)
{
	return (size_t)units(t, level_size(t->width, level)) *
	       units(t, level_size(t->height, level)) * or_one(t->layers) *
	       t->bytes;
}

static uint8_t *fill_layer(const struct scene_texture *t, uint32_t level,
			   uint32_t layer, uint8_t *to)
{
	uint32_t x, y;

	for (y = 0; y < units(t, level_size(t->height, level)); y++) {
		for (x = 0; x < units(t, level_size(t->width, level)); x++) {
			t->fill(to, t, level, layer, x, y);
			to += t->bytes;
		}
	}
	return to;
}

/* Levels, and in them layers */
static void fill_texels(const struct scene_texture *t, uint8_t *to)
{
	uint32_t level, layer;

	for (level = 0; level < or_one(t->levels); level++) {
		for (layer = 0; layer < or_one(t->layers); layer++)
			to = fill_layer(t, level, layer, to);
	}
}

static VkResult make_texture_image(struct frame *f, struct texture *texture)
{
	const struct scene_texture *t = texture->scene;
	const VkImageCreateInfo info = {
		.flags = t->is_sparse ? VK_IMAGE_CREATE_SPARSE_BINDING_BIT |
					VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT :
			 t->view == VK_IMAGE_VIEW_TYPE_CUBE ||
			 t->view == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY ?
			 VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0,
		.format = t->format,
		.extent = { .width = t->width, .height = t->height },
		.mipLevels = t->levels,
		.arrayLayers = t->layers,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_SAMPLED_BIT |
			 VK_IMAGE_USAGE_TRANSFER_DST_BIT,
	};
	const VkImageViewCreateInfo view = {
		.viewType = t->view,
		.subresourceRange = {
			.aspectMask = t->compares ? VK_IMAGE_ASPECT_DEPTH_BIT :
						    VK_IMAGE_ASPECT_COLOR_BIT,
			.baseMipLevel = t->first_level,
		},
	};
	uint32_t level;
	size_t size = 0;

	texture->image.has_tail = t->has_tail;
	TRY(make_image(f, &texture->image, &info, &view));
	for (level = 0; level < or_one(t->levels); level++)
		size += level_bytes(t, level);
	TRY(make_buffer(f, &texture->texels, size,
			VK_BUFFER_USAGE_TRANSFER_SRC_BIT, NULL));
	fill_texels(t, texture->texels.map);
	return VK_SUCCESS;
}

static VkResult make_sampler(struct frame *f, struct texture *texture)
{
	const struct scene_texture *t = texture->scene;
	const VkSamplerCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
		.magFilter = t->filter,
		.minFilter = t->filter,
		.mipmapMode = t->mipmap,
		.addressModeU = t->wrap,
		.addressModeV = t->wrap,
		.addressModeW = t->wrap,
		.anisotropyEnable = t->anisotropy > 1,
		.maxAnisotropy = t->anisotropy,
		.maxLod = VK_LOD_CLAMP_NONE,
		.compareEnable = t->compares,
		.compareOp = t->compare,
		.borderColor = t->border,
	};

	return vkCreateSampler(f->vk->device, &info, NULL, &texture->sampler);
}

static VkResult make_textures(struct frame *f)
{
	uint32_t i;

	for (i = 0; i < f->scene->texture_count; i++) {
		f->textures[i].scene = &f->scene->textures[i];
		TRY(make_texture_image(f, &f->textures[i]));
		TRY(make_sampler(f, &f->textures[i]));
	}
	return VK_SUCCESS;
}

/* What the shaders see */

static VkResult make_set_layout(struct frame *f)
{
	VkDescriptorSetLayoutBinding bindings[MOST_TEXTURES];
	const VkDescriptorSetLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = f->scene->texture_count,
		.pBindings = bindings,
	};
	uint32_t i;

	for (i = 0; i < f->scene->texture_count; i++) {
		bindings[i] = (VkDescriptorSetLayoutBinding){
			.binding = i,
			.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
			.descriptorCount = 1,
			.stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT,
		};
	}
	return vkCreateDescriptorSetLayout(f->vk->device, &info, NULL,
					   &f->set_layout);
}

static void write_texture(struct frame *f, uint32_t binding)
{
	const VkDescriptorImageInfo image = {
		.sampler = f->textures[binding].sampler,
		.imageView = f->textures[binding].image.view,
		.imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
	};
	const VkWriteDescriptorSet write = {
		.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
		.dstSet = f->set,
		.dstBinding = binding,
		.descriptorCount = 1,
		.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
		.pImageInfo = &image,
	};

	vkUpdateDescriptorSets(f->vk->device, 1, &write, 0, NULL);
}

static VkResult make_set(struct frame *f)
{
	const VkDescriptorPoolSize size = {
		.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
		.descriptorCount = f->scene->texture_count,
	};
	const VkDescriptorPoolCreateInfo pool = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = 1,
		.poolSizeCount = 1,
		.pPoolSizes = &size,
	};
	VkDescriptorSetAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorSetCount = 1,
		.pSetLayouts = &f->set_layout,
	};
	uint32_t i;

	TRY(vkCreateDescriptorPool(f->vk->device, &pool, NULL, &f->descriptors));
	allocate.descriptorPool = f->descriptors;
	TRY(vkAllocateDescriptorSets(f->vk->device, &allocate, &f->set));
	for (i = 0; i < f->scene->texture_count; i++)
		write_texture(f, i);
	return VK_SUCCESS;
}

static VkResult make_layout(struct frame *f)
{
	const VkPushConstantRange constants = {
		.stageFlags = VK_SHADER_STAGE_VERTEX_BIT,
		.size = sizeof(f->scene->step),
	};
	const VkPipelineLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &f->set_layout,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &constants,
	};

	return vkCreatePipelineLayout(f->vk->device, &info, NULL, &f->layout);
}

/* The pipeline */

static VkResult make_module(struct frame *f, const char *name,
			    VkShaderModule *module)
{
	VkShaderModuleCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
	};
	unsigned int i;

	for (i = 0; i < render_shader_count; i++) {
		if (strcmp(render_shaders[i].name, name))
			continue;
		info.codeSize = render_shaders[i].size;
		info.pCode = render_shaders[i].code;
		return vkCreateShaderModule(f->vk->device, &info, NULL, module);
	}
	fprintf(stderr, "there is no shader '%s'\n", name);
	return VK_ERROR_UNKNOWN;
}

struct stages {
	VkPipelineShaderStageCreateInfo info[MAX_STAGES];
	uint32_t count;
};

static VkResult add_stage(struct frame *f, struct stages *stages,
			  VkShaderStageFlagBits stage, const char *name)
{
	VkPipelineShaderStageCreateInfo *info = &stages->info[stages->count];

	if (!name)
		return VK_SUCCESS;
	*info = (VkPipelineShaderStageCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage = stage,
		.pName = "main",
	};
	TRY(make_module(f, name, &info->module));
	stages->count++;
	return VK_SUCCESS;
}

static VkResult add_stages(struct part *part, struct stages *stages)
{
	const struct scene *scene = part->scene;
	const struct {
		VkShaderStageFlagBits stage;
		const char *name;
	} all[MAX_STAGES] = {
		{ VK_SHADER_STAGE_VERTEX_BIT,
		  scene->vertex ? scene->vertex : "scene_vert" },
		{ VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, scene->control },
		{ VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, scene->evaluation },
		{ VK_SHADER_STAGE_GEOMETRY_BIT, scene->geometry },
		{ VK_SHADER_STAGE_FRAGMENT_BIT, scene->fragment },
	};
	unsigned int i;

	for (i = 0; i < MAX_STAGES; i++)
		TRY(add_stage(part->frame, stages, all[i].stage, all[i].name));
	return VK_SUCCESS;
}

static VkViewport find_viewport(const struct part *part)
{
	const struct scene *target = part->frame->scene;
	const float *given = part->scene->viewport;

	if (!given[2])
		return (VkViewport){
			.width = (float)target->width,
			.height = (float)target->height,
			.maxDepth = 1,
		};
	return (VkViewport){ given[0], given[1], given[2], given[3], 0, 1 };
}

static VkRect2D find_scissor(const struct part *part)
{
	const struct scene *target = part->frame->scene;
	const int32_t *given = part->scene->scissor;

	if (!given[2])
		return (VkRect2D){ .extent = { target->width, target->height } };
	return (VkRect2D){ { given[0], given[1] }, { given[2], given[3] } };
}

/* Lavapipe makes rectangles of lines if it may */
static const VkPipelineRasterizationLineStateCreateInfoEXT bresenham = {
	.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT,
	.lineRasterizationMode = VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT,
};

static VkPipelineRasterizationStateCreateInfo raster_state(const struct part *part)
{
	const struct scene *scene = part->scene;
	const float *bias = scene->bias;

	return (VkPipelineRasterizationStateCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
		.pNext = samples_of(part->frame->scene) == VK_SAMPLE_COUNT_1_BIT ?
			 &bresenham : NULL,
		.depthClampEnable = scene->clamps_depth,
		.polygonMode = scene->polygon_mode,
		.cullMode = scene->cull,
		.depthBiasEnable = bias[0] || bias[2],
		.depthBiasConstantFactor = bias[0],
		.depthBiasClamp = bias[1],
		.depthBiasSlopeFactor = bias[2],
		.lineWidth = scene->line_width ? scene->line_width : 1,
	};
}

static VkPipelineDepthStencilStateCreateInfo depth_state(const struct part *part)
{
	const struct scene *scene = part->scene;
	const bool has_depth = part->frame->scene->depth_format;

	return (VkPipelineDepthStencilStateCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
		.depthTestEnable = has_depth,
		.depthWriteEnable = has_depth,
		.depthCompareOp = scene->depth_compare ? scene->depth_compare :
				  VK_COMPARE_OP_LESS,
		.stencilTestEnable = scene->stencil.compareMask != 0,
		.front = scene->stencil,
		.back = scene->stencil,
	};
}

static VkResult make_pipeline_of(struct part *part, const struct stages *stages)
{
	const struct scene *scene = part->scene;
	struct frame *f = part->frame;
	const VkVertexInputBindingDescription binding = {
		.stride = sizeof(struct scene_vertex),
	};
	const VkVertexInputAttributeDescription attributes[] = {
		{ 0, 0, VK_FORMAT_R32G32B32A32_SFLOAT,
		  offsetof(struct scene_vertex, position) },
		{ 1, 0, VK_FORMAT_R32G32B32A32_SFLOAT,
		  offsetof(struct scene_vertex, colour) },
		{ 2, 0, VK_FORMAT_R32G32_SFLOAT,
		  offsetof(struct scene_vertex, coordinate) },
	};
	const VkPipelineVertexInputStateCreateInfo input = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
		.vertexBindingDescriptionCount = 1,
		.pVertexBindingDescriptions = &binding,
		.vertexAttributeDescriptionCount = 3,
		.pVertexAttributeDescriptions = attributes,
	};
	const VkPipelineInputAssemblyStateCreateInfo assembly = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
		.topology = scene->topology,
		.primitiveRestartEnable = scene->restarts,
	};
	const VkPipelineTessellationStateCreateInfo tessellation = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO,
		.patchControlPoints = scene->patch_points,
	};
	const VkViewport viewport = find_viewport(part);
	const VkRect2D scissor = find_scissor(part);
	const VkPipelineViewportStateCreateInfo view = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
		.viewportCount = 1,
		.pViewports = &viewport,
		.scissorCount = 1,
		.pScissors = &scissor,
	};
	const VkPipelineRasterizationStateCreateInfo raster = raster_state(part);
	const VkPipelineMultisampleStateCreateInfo multisample = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
		.rasterizationSamples = samples_of(f->scene),
		.sampleShadingEnable = scene->shades_samples,
		.minSampleShading = 1,
		.pSampleMask = scene->sample_mask ? &scene->sample_mask : NULL,
		.alphaToCoverageEnable = scene->alpha_to_coverage,
	};
	const VkPipelineDepthStencilStateCreateInfo depth = depth_state(part);
	const VkPipelineColorBlendAttachmentState blend = {
		.blendEnable = scene->blends,
		.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
		.dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
		.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
		.colorWriteMask = VK_COLOR_COMPONENT_R_BIT |
				  VK_COLOR_COMPONENT_G_BIT |
				  VK_COLOR_COMPONENT_B_BIT |
				  VK_COLOR_COMPONENT_A_BIT,
	};
	const VkPipelineColorBlendStateCreateInfo blends = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
		.attachmentCount = 1,
		.pAttachments = &blend,
	};
	const VkFormat format = COLOUR_FORMAT;
	const VkPipelineRenderingCreateInfo rendering = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
		.colorAttachmentCount = 1,
		.pColorAttachmentFormats = &format,
		.depthAttachmentFormat = f->scene->depth_format,
		.stencilAttachmentFormat = has_stencil(f->scene) ?
					   f->scene->depth_format :
					   VK_FORMAT_UNDEFINED,
	};
	const VkGraphicsPipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
		.pNext = &rendering,
		.stageCount = stages->count,
		.pStages = stages->info,
		.pVertexInputState = &input,
		.pInputAssemblyState = &assembly,
		.pTessellationState = scene->patch_points ? &tessellation : NULL,
		.pViewportState = &view,
		.pRasterizationState = &raster,
		.pMultisampleState = &multisample,
		.pDepthStencilState = &depth,
		.pColorBlendState = &blends,
		.layout = f->layout,
	};

	return vkCreateGraphicsPipelines(f->vk->device, VK_NULL_HANDLE, 1,
					 &info, NULL, &part->pipeline);
}

static VkResult make_pipeline(struct part *part)
{
	struct frame *f = part->frame;
	struct stages stages = { .count = 0 };
	VkResult result;
	unsigned int i;

	result = add_stages(part, &stages);
	if (result == VK_SUCCESS)
		result = make_pipeline_of(part, &stages);
	for (i = 0; i < stages.count; i++)
		vkDestroyShaderModule(f->vk->device, stages.info[i].module, NULL);
	return result;
}

static VkResult make_parts(struct frame *f)
{
	const struct scene *scene;

	if (!f->scene->vertices)
		return VK_SUCCESS;
	TRY(make_set_layout(f));
	if (f->scene->texture_count) {
		TRY(make_textures(f));
		TRY(make_set(f));
	}
	TRY(make_layout(f));
	if (has_query(f->scene))
		TRY(make_queries(f));
	for (scene = f->scene; scene && f->part_count < MAX_PARTS; scene = scene->then) {
		struct part *part = &f->parts[f->part_count++];

		*part = (struct part){ .frame = f, .scene = scene };
		TRY(make_vertices(part));
		TRY(make_pipeline(part));
	}
	return VK_SUCCESS;
}

/* Commands */

/* Everything waits for everything: what is tested is what is drawn. */
static void to_layout(struct frame *f, struct image *image,
		      VkImageLayout from, VkImageLayout to)
{
	const VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT |
				 VK_ACCESS_MEMORY_WRITE_BIT,
		.oldLayout = from,
		.newLayout = to,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = image->image,
		.subresourceRange = {
			.aspectMask = image->aspects,
			.levelCount = VK_REMAINING_MIP_LEVELS,
			.layerCount = VK_REMAINING_ARRAY_LAYERS,
		},
	};

	vkCmdPipelineBarrier(f->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0,
			     NULL, 1, &barrier);
}

static VkBufferImageCopy whole_image(uint32_t width, uint32_t height,
				     uint32_t layers)
{
	return (VkBufferImageCopy){
		.imageSubresource = {
			.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
			.layerCount = layers,
		},
		.imageExtent = { width, height, 1 },
	};
}

static void record_texture(struct frame *f, struct texture *texture)
{
	const struct scene_texture *t = texture->scene;
	VkBufferImageCopy copy = {
		.imageSubresource = {
			.aspectMask = texture->image.aspects,
			.layerCount = or_one(t->layers),
		},
		.imageExtent.depth = 1,
	};
	uint32_t level;

	to_layout(f, &texture->image, VK_IMAGE_LAYOUT_UNDEFINED,
		  VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
	for (level = 0; level < or_one(t->levels); level++) {
		copy.imageSubresource.mipLevel = level;
		copy.imageExtent.width = level_size(t->width, level);
		copy.imageExtent.height = level_size(t->height, level);
		vkCmdCopyBufferToImage(f->commands, texture->texels.buffer,
				       texture->image.image,
				       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1,
				       &copy);
		copy.bufferOffset += level_bytes(t, level);
	}
	to_layout(f, &texture->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
		  VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
}

static void record_draw_call(struct part *part)
{
	VkCommandBuffer commands = part->frame->commands;
	const struct scene *scene = part->scene;
	const uint32_t instances = scene->instances ? scene->instances : 1;

	if (scene->indices)
		vkCmdBindIndexBuffer(commands, part->indices.buffer, 0,
				     VK_INDEX_TYPE_UINT16);
	if (scene->is_indirect && scene->indices)
		vkCmdDrawIndexedIndirect(commands, part->indirect.buffer,
					 INDIRECT_OFFSET, 1, 0);
	else if (scene->is_indirect)
		vkCmdDrawIndirect(commands, part->indirect.buffer,
				  INDIRECT_OFFSET, 1, 0);
	else if (scene->indices)
		vkCmdDrawIndexed(commands, scene->index_count, instances, 0, 0, 0);
	else
		vkCmdDraw(commands, scene->vertex_count, instances, 0, 0);
}

/* With all that the vertices become kept, if that is wanted */
static void record_captured(struct part *part)
{
	struct frame *f = part->frame;
	const VkDeviceSize offset = 0;

	if (!part->scene->is_captured) {
		record_draw_call(part);
		return;
	}
	f->vk->bind_capture(f->commands, 0, 1, &part->captured.buffer, &offset,
			    NULL);
	f->vk->begin_capture(f->commands, 0, 0, NULL, NULL);
	record_draw_call(part);
	f->vk->end_capture(f->commands, 0, 0, NULL, NULL);
}

static void record_part(struct frame *f, unsigned int index)
{
	struct part *part = &f->parts[index];
	const struct scene *scene = part->scene;
	const VkDeviceSize offset = 0;

	vkCmdBindPipeline(f->commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
			  part->pipeline);
	if (f->set)
		vkCmdBindDescriptorSets(f->commands,
					VK_PIPELINE_BIND_POINT_GRAPHICS,
					f->layout, 0, 1, &f->set, 0, NULL);
	vkCmdPushConstants(f->commands, f->layout,
			   VK_SHADER_STAGE_VERTEX_BIT, 0,
			   sizeof(scene->step), scene->step);
	vkCmdBindVertexBuffers(f->commands, 0, 1, &part->vertices.buffer, &offset);
	if (f->queries)
		vkCmdBeginQuery(f->commands, f->queries, index,
				scene->counts_samples ?
				VK_QUERY_CONTROL_PRECISE_BIT : 0);
	record_captured(part);
	if (f->queries)
		vkCmdEndQuery(f->commands, f->queries, index);
}

static void record_pass(struct frame *f)
{
	const struct scene *scene = f->scene;
	VkRenderingAttachmentInfo colour = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = f->colour.view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
	};
	const VkRenderingAttachmentInfo depth = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = f->depth.view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
		.clearValue.depthStencil = { 1, 0 },
	};
	const VkRenderingInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea.extent = { scene->width, scene->height },
		.layerCount = layers_of(scene),
		.colorAttachmentCount = 1,
		.pColorAttachments = &colour,
		.pDepthAttachment = scene->depth_format ? &depth : NULL,
		.pStencilAttachment = has_stencil(scene) ? &depth : NULL,
	};
	unsigned int i;

	if (f->resolved.image) {
		colour.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
		colour.resolveImageView = f->resolved.view;
		colour.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
	}
	memcpy(colour.clearValue.color.float32, scene->clear,
	       sizeof(scene->clear));
	if (f->queries)
		vkCmdResetQueryPool(f->commands, f->queries, 0, MAX_PARTS);
	vkCmdBeginRendering(f->commands, &info);
	for (i = 0; i < f->part_count; i++)
		record_part(f, i);
	vkCmdEndRendering(f->commands);
	if (f->queries)
		vkCmdCopyQueryPoolResults(f->commands, f->queries, 0, f->part_count,
					  f->counts.buffer, 0, sizeof(uint32_t),
					  VK_QUERY_RESULT_WAIT_BIT);
}

static void record_readback(struct frame *f)
{
	const struct scene *scene = f->scene;
	const VkBufferImageCopy copy = whole_image(scene->width, scene->height,
						   layers_of(scene));
	struct image *image = f->resolved.image ? &f->resolved : &f->colour;
	const VkMemoryBarrier to_host = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_HOST_READ_BIT,
	};

	to_layout(f, image, VK_IMAGE_LAYOUT_GENERAL,
		  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
	vkCmdCopyImageToBuffer(f->commands, image->image,
			       VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
			       f->pixels.buffer, 1, &copy);
	vkCmdPipelineBarrier(f->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
			     VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0,
			     NULL, 0, NULL);
}

static VkResult record(struct frame *f)
{
	const VkCommandBufferAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = f->vk->commands,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};
	struct image *targets[] = { &f->colour, &f->resolved, &f->depth };
	unsigned int i;

	TRY(vkAllocateCommandBuffers(f->vk->device, &allocate, &f->commands));
	TRY(vkBeginCommandBuffer(f->commands, &begin));
	for (i = 0; i < 3; i++) {
		if (targets[i]->image)
			to_layout(f, targets[i], VK_IMAGE_LAYOUT_UNDEFINED,
				  VK_IMAGE_LAYOUT_GENERAL);
	}
	for (i = 0; i < f->scene->texture_count; i++)
		record_texture(f, &f->textures[i]);
	record_pass(f);
	record_readback(f);
	return vkEndCommandBuffer(f->commands);
}

static VkResult execute(struct frame *f)
{
	const VkFenceCreateInfo fence = {
		.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
	};
	const VkSubmitInfo submit = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &f->commands,
	};

	TRY(vkCreateFence(f->vk->device, &fence, NULL, &f->fence));
	TRY(vkQueueSubmit(f->vk->queue, 1, &submit, f->fence));
	return vkWaitForFences(f->vk->device, 1, &f->fence, VK_TRUE, TIMEOUT_NS);
}

static VkResult draw(struct frame *f)
{
	TRY(make_targets(f));
	TRY(make_parts(f));
	TRY(record(f));
	return execute(f);
}

static void free_part(struct part *part)
{
	vkDestroyPipeline(part->frame->vk->device, part->pipeline, NULL);
	free_buffer(part->frame, &part->vertices);
	free_buffer(part->frame, &part->indices);
	free_buffer(part->frame, &part->indirect);
	free_buffer(part->frame, &part->captured);
}

static void free_frame(struct frame *f)
{
	VkDevice device = f->vk->device;
	unsigned int i;

	if (f->commands)
		vkFreeCommandBuffers(device, f->vk->commands, 1, &f->commands);
	vkDestroyFence(device, f->fence, NULL);
	for (i = 0; i < f->part_count; i++)
		free_part(&f->parts[i]);
	vkDestroyQueryPool(device, f->queries, NULL);
	vkDestroyPipelineLayout(device, f->layout, NULL);
	vkDestroyDescriptorPool(device, f->descriptors, NULL);
	vkDestroyDescriptorSetLayout(device, f->set_layout, NULL);
	for (i = 0; i < f->scene->texture_count; i++) {
		vkDestroySampler(device, f->textures[i].sampler, NULL);
		free_image(f, &f->textures[i].image);
		free_buffer(f, &f->textures[i].texels);
	}
	free_image(f, &f->colour);
	free_image(f, &f->resolved);
	free_image(f, &f->depth);
	free_buffer(f, &f->pixels);
	free_buffer(f, &f->counts);
}

/* How many is any number but 0, where only that there are some was asked for */
static void put_counts(const struct frame *f, struct picture *picture)
{
	const uint32_t *counts = f->counts.map;
	unsigned int i;

	for (i = 0; i < f->part_count; i++) {
		const uint32_t count = f->parts[i].scene->counts_samples ?
				       counts[i] : counts[i] != 0;

		memcpy(picture->pixels + 4 * i, &count, sizeof(count));
	}
}

static void put_picture(const struct frame *f, struct picture *picture)
{
	const bool is_captured = f->scene->is_captured;

	memcpy(picture->pixels,
	       is_captured ? f->parts[0].captured.map : f->pixels.map,
	       picture_bytes(f->scene));
	if (f->queries)
		put_counts(f, picture);
}

VkResult vk_render_scene(struct vk_compute *vk, const struct scene *scene,
			 struct picture *picture)
{
	struct frame f = { .vk = vk, .scene = scene };
	VkResult result;

	result = draw(&f);
	if (result == VK_SUCCESS)
		put_picture(&f, picture);
	/* What may still run must not lose its memory */
	vkDeviceWaitIdle(vk->device);
	free_frame(&f);
	return result;
}
