// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "vk-render.h"

#define TIMEOUT_NS	UINT64_C(60000000000)
#define COLOUR_FORMAT	VK_FORMAT_R8G8B8A8_UNORM
#define DEPTH_FORMAT	VK_FORMAT_D32_SFLOAT
#define TEXTURE_SIZE	16

/* Leaves a function with the first thing that goes wrong */
#define TRY(call)								\
	do {									\
		VkResult result_ = (call);					\
										\
		if (result_ != VK_SUCCESS)					\
			return result_;						\
	} while (0)

struct buffer {
	VkBuffer buffer;
	VkDeviceMemory memory;
	void *map;
};

struct image {
	VkImage image;
	VkDeviceMemory memory;
	VkImageView view;
};

/* All that a scene is drawn with, made for it and destroyed after it */
struct frame {
	struct vk_compute *vk;
	const struct scene *scene;
	struct image colour, depth, resolved, texture;
	struct buffer vertices, indices, texels, pixels;
	VkSampler sampler;
	VkDescriptorSetLayout set_layout;
	VkDescriptorPool descriptors;
	VkDescriptorSet set;
	VkPipelineLayout layout;
	VkPipeline pipeline;
	VkCommandBuffer commands;
	VkFence fence;
};

static VkSampleCountFlagBits samples_of(const struct scene *scene)
{
	return scene->samples ? scene->samples : VK_SAMPLE_COUNT_1_BIT;
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

static VkResult make_image(struct frame *f, struct image *image,
			   const VkImageCreateInfo *wanted)
{
	VkDevice device = f->vk->device;
	VkImageCreateInfo info = *wanted;
	VkMemoryAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
	};
	VkImageViewCreateInfo view = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.viewType = VK_IMAGE_VIEW_TYPE_2D,
		.format = wanted->format,
		.subresourceRange = {
			.aspectMask = wanted->format == DEPTH_FORMAT ?
				      VK_IMAGE_ASPECT_DEPTH_BIT :
				      VK_IMAGE_ASPECT_COLOR_BIT,
			.levelCount = 1,
			.layerCount = 1,
		},
	};
	VkMemoryRequirements need;

	info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
	info.imageType = VK_IMAGE_TYPE_2D;
	info.extent.depth = 1;
	info.mipLevels = 1;
	info.arrayLayers = 1;
	TRY(vkCreateImage(device, &info, NULL, &image->image));
	vkGetImageMemoryRequirements(device, image->image, &need);
	allocate.allocationSize = need.size;
	allocate.memoryTypeIndex = vk_host_memory_type(f->vk, need.memoryTypeBits);
	TRY(vkAllocateMemory(device, &allocate, NULL, &image->memory));
	TRY(vkBindImageMemory(device, image->image, image->memory, 0));
	view.image = image->image;
	return vkCreateImageView(device, &view, NULL, &image->view);
}

static void free_image(struct frame *f, struct image *image)
{
	vkDestroyImageView(f->vk->device, image->view, NULL);
	vkDestroyImage(f->vk->device, image->image, NULL);
	vkFreeMemory(f->vk->device, image->memory, NULL);
}

static VkResult make_targets(struct frame *f)
{
	const struct scene *scene = f->scene;
	VkImageCreateInfo info = {
		.format = COLOUR_FORMAT,
		.extent = { .width = scene->width, .height = scene->height },
		.samples = samples_of(scene),
		.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
			 VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
	};

	TRY(make_image(f, &f->colour, &info));
	if (info.samples != VK_SAMPLE_COUNT_1_BIT) {
		info.samples = VK_SAMPLE_COUNT_1_BIT;
		TRY(make_image(f, &f->resolved, &info));
	}
	if (scene->has_depth) {
		info.samples = samples_of(scene);
		info.format = DEPTH_FORMAT;
		info.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
		TRY(make_image(f, &f->depth, &info));
	}
	return make_buffer(f, &f->pixels,
			   (size_t)scene->width * scene->height * 4,
			   VK_BUFFER_USAGE_TRANSFER_DST_BIT, NULL);
}

static VkResult make_vertices(struct frame *f)
{
	const struct scene *scene = f->scene;

	if (!scene->vertices)
		return VK_SUCCESS;
	TRY(make_buffer(f, &f->vertices,
			scene->vertex_count * sizeof(*scene->vertices),
			VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, scene->vertices));
	if (!scene->indices)
		return VK_SUCCESS;
	return make_buffer(f, &f->indices,
			   scene->index_count * sizeof(*scene->indices),
			   VK_BUFFER_USAGE_INDEX_BUFFER_BIT, scene->indices);
}

static VkResult make_texture(struct frame *f)
{
	static uint8_t texels[TEXTURE_SIZE][TEXTURE_SIZE][4];
	const VkImageCreateInfo info = {
		.format = COLOUR_FORMAT,
		.extent = { .width = TEXTURE_SIZE, .height = TEXTURE_SIZE },
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_SAMPLED_BIT |
			 VK_IMAGE_USAGE_TRANSFER_DST_BIT,
	};
	const VkSamplerCreateInfo sampler = {
		.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
		.magFilter = f->scene->filter,
		.minFilter = f->scene->filter,
		.addressModeU = VK_SAMPLER_ADDRESS_MODE_REPEAT,
		.addressModeV = VK_SAMPLER_ADDRESS_MODE_REPEAT,
		.addressModeW = VK_SAMPLER_ADDRESS_MODE_REPEAT,
	};
	unsigned int x, y;

	for (y = 0; y < TEXTURE_SIZE; y++) {
		for (x = 0; x < TEXTURE_SIZE; x++) {
			texels[y][x][0] = x * 16;
			texels[y][x][1] = y * 16;
			texels[y][x][2] = (x ^ y) & 1 ? 255 : 0;
			texels[y][x][3] = 255;
		}
	}
	TRY(make_image(f, &f->texture, &info));
	TRY(make_buffer(f, &f->texels, sizeof(texels),
			VK_BUFFER_USAGE_TRANSFER_SRC_BIT, texels));
	return vkCreateSampler(f->vk->device, &sampler, NULL, &f->sampler);
}

/* What the shaders see */

static VkResult make_set_layout(struct frame *f)
{
	const VkDescriptorSetLayoutBinding binding = {
		.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
		.descriptorCount = 1,
		.stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT,
	};
	const VkDescriptorSetLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = f->scene->is_textured,
		.pBindings = &binding,
	};

	return vkCreateDescriptorSetLayout(f->vk->device, &info, NULL,
					   &f->set_layout);
}

static VkResult make_set(struct frame *f)
{
	const VkDescriptorPoolSize size = {
		.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
		.descriptorCount = 1,
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
	const VkDescriptorImageInfo image = {
		.sampler = f->sampler,
		.imageView = f->texture.view,
		.imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
	};
	VkWriteDescriptorSet write = {
		.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
		.descriptorCount = 1,
		.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
		.pImageInfo = &image,
	};

	TRY(vkCreateDescriptorPool(f->vk->device, &pool, NULL, &f->descriptors));
	allocate.descriptorPool = f->descriptors;
	TRY(vkAllocateDescriptorSets(f->vk->device, &allocate, &f->set));
	write.dstSet = f->set;
	vkUpdateDescriptorSets(f->vk->device, 1, &write, 0, NULL);
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

static VkResult make_pipeline_of(struct frame *f, VkShaderModule vertex,
				 VkShaderModule fragment)
{
	const struct scene *scene = f->scene;
	const VkPipelineShaderStageCreateInfo stages[] = {
		{
			.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			.stage = VK_SHADER_STAGE_VERTEX_BIT,
			.module = vertex,
			.pName = "main",
		}, {
			.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			.stage = VK_SHADER_STAGE_FRAGMENT_BIT,
			.module = fragment,
			.pName = "main",
		},
	};
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
	};
	const VkViewport viewport = {
		.width = (float)scene->width,
		.height = (float)scene->height,
		.maxDepth = 1,
	};
	const VkRect2D scissor = {
		.extent = { scene->width, scene->height },
	};
	const VkPipelineViewportStateCreateInfo view = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
		.viewportCount = 1,
		.pViewports = &viewport,
		.scissorCount = 1,
		.pScissors = &scissor,
	};
	const VkPipelineRasterizationStateCreateInfo raster = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
		.polygonMode = VK_POLYGON_MODE_FILL,
		.cullMode = VK_CULL_MODE_NONE,
		.lineWidth = 1,
	};
	const VkPipelineMultisampleStateCreateInfo multisample = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
		.rasterizationSamples = samples_of(scene),
	};
	const VkPipelineDepthStencilStateCreateInfo depth = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
		.depthTestEnable = scene->has_depth,
		.depthWriteEnable = scene->has_depth,
		.depthCompareOp = VK_COMPARE_OP_LESS,
	};
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
		.depthAttachmentFormat = scene->has_depth ?
					 DEPTH_FORMAT : VK_FORMAT_UNDEFINED,
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
		.layout = f->layout,
	};

	return vkCreateGraphicsPipelines(f->vk->device, VK_NULL_HANDLE, 1,
					 &info, NULL, &f->pipeline);
}

static VkResult make_pipeline(struct frame *f)
{
	VkShaderModule vertex = VK_NULL_HANDLE, fragment = VK_NULL_HANDLE;
	VkResult result;

	if (!f->scene->vertices)
		return VK_SUCCESS;
	TRY(make_set_layout(f));
	if (f->scene->is_textured) {
		TRY(make_texture(f));
		TRY(make_set(f));
	}
	TRY(make_layout(f));
	result = make_module(f, "scene_vert", &vertex);
	if (result == VK_SUCCESS)
		result = make_module(f, f->scene->fragment, &fragment);
	if (result == VK_SUCCESS)
		result = make_pipeline_of(f, vertex, fragment);
	vkDestroyShaderModule(f->vk->device, vertex, NULL);
	vkDestroyShaderModule(f->vk->device, fragment, NULL);
	return result;
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
			.aspectMask = image == &f->depth ?
				      VK_IMAGE_ASPECT_DEPTH_BIT :
				      VK_IMAGE_ASPECT_COLOR_BIT,
			.levelCount = 1,
			.layerCount = 1,
		},
	};

	vkCmdPipelineBarrier(f->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0,
			     NULL, 1, &barrier);
}

static VkBufferImageCopy whole_image(uint32_t width, uint32_t height)
{
	return (VkBufferImageCopy){
		.imageSubresource = {
			.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
			.layerCount = 1,
		},
		.imageExtent = { width, height, 1 },
	};
}

static void record_texture(struct frame *f)
{
	const VkBufferImageCopy copy = whole_image(TEXTURE_SIZE, TEXTURE_SIZE);

	if (!f->texture.image)
		return;
	to_layout(f, &f->texture, VK_IMAGE_LAYOUT_UNDEFINED,
		  VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
	vkCmdCopyBufferToImage(f->commands, f->texels.buffer, f->texture.image,
			       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
	to_layout(f, &f->texture, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
		  VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
}

static void record_draw(struct frame *f)
{
	const struct scene *scene = f->scene;
	const uint32_t instances = scene->instances ? scene->instances : 1;
	const VkDeviceSize offset = 0;

	if (!scene->vertices)
		return;
	vkCmdBindPipeline(f->commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
			  f->pipeline);
	if (f->set)
		vkCmdBindDescriptorSets(f->commands,
					VK_PIPELINE_BIND_POINT_GRAPHICS,
					f->layout, 0, 1, &f->set, 0, NULL);
	vkCmdPushConstants(f->commands, f->layout,
			   VK_SHADER_STAGE_VERTEX_BIT, 0,
			   sizeof(scene->step), scene->step);
	vkCmdBindVertexBuffers(f->commands, 0, 1, &f->vertices.buffer, &offset);
	if (!scene->indices) {
		vkCmdDraw(f->commands, scene->vertex_count, instances, 0, 0);
		return;
	}
	vkCmdBindIndexBuffer(f->commands, f->indices.buffer, 0,
			     VK_INDEX_TYPE_UINT16);
	vkCmdDrawIndexed(f->commands, scene->index_count, instances, 0, 0, 0);
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
		.clearValue.depthStencil.depth = 1,
	};
	const VkRenderingInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea.extent = { scene->width, scene->height },
		.layerCount = 1,
		.colorAttachmentCount = 1,
		.pColorAttachments = &colour,
		.pDepthAttachment = scene->has_depth ? &depth : NULL,
	};

	if (f->resolved.image) {
		colour.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
		colour.resolveImageView = f->resolved.view;
		colour.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
	}
	memcpy(colour.clearValue.color.float32, scene->clear,
	       sizeof(scene->clear));
	vkCmdBeginRendering(f->commands, &info);
	record_draw(f);
	vkCmdEndRendering(f->commands);
}

static void record_readback(struct frame *f)
{
	const struct scene *scene = f->scene;
	const VkBufferImageCopy copy = whole_image(scene->width, scene->height);
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
	record_texture(f);
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
	TRY(make_vertices(f));
	TRY(make_pipeline(f));
	TRY(record(f));
	return execute(f);
}

static void free_frame(struct frame *f)
{
	VkDevice device = f->vk->device;

	if (f->commands)
		vkFreeCommandBuffers(device, f->vk->commands, 1, &f->commands);
	vkDestroyFence(device, f->fence, NULL);
	vkDestroyPipeline(device, f->pipeline, NULL);
	vkDestroyPipelineLayout(device, f->layout, NULL);
	vkDestroyDescriptorPool(device, f->descriptors, NULL);
	vkDestroyDescriptorSetLayout(device, f->set_layout, NULL);
	vkDestroySampler(device, f->sampler, NULL);
	free_image(f, &f->colour);
	free_image(f, &f->resolved);
	free_image(f, &f->depth);
	free_image(f, &f->texture);
	free_buffer(f, &f->vertices);
	free_buffer(f, &f->indices);
	free_buffer(f, &f->texels);
	free_buffer(f, &f->pixels);
}

VkResult vk_render_scene(struct vk_compute *vk, const struct scene *scene,
			 struct picture *picture)
{
	struct frame f = { .vk = vk, .scene = scene };
	VkResult result;

	result = draw(&f);
	if (result == VK_SUCCESS)
		memcpy(picture->pixels, f.pixels.map,
		       (size_t)scene->width * scene->height * 4);
	/* What may still run must not lose its memory */
	vkDeviceWaitIdle(vk->device);
	free_frame(&f);
	return result;
}
