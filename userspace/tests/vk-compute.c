// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vk-compute.h"

#define GROUP_SIZE	64
#define TIMEOUT_NS	UINT64_C(60000000000)

struct buffer {
	VkBuffer buffer;
	VkDeviceMemory memory;
	void *map;
	size_t size;
};

/*
 * Adds the manifests of a driver that VK_DRIVER_FILES names already, as vagx-run does for
 * somebody's own Mesa. Return: how many
 */
static size_t add_given_manifests(const char *driver, const char *given, char *list, size_t size)
{
	size_t used = strlen(list), found = 0;
	char files[1024], start[32], *file, *save = NULL;

	snprintf(files, sizeof(files), "%s", given);
	snprintf(start, sizeof(start), "/%s_icd", driver);
	for (file = strtok_r(files, ":", &save); file; file = strtok_r(NULL, ":", &save)) {
		char *name = strrchr(file, '/');

		if (!name || strncmp(name, start, strlen(start)) ||
		    used + strlen(file) + 2 > size)
			continue;
		used += snprintf(list + used, size - used, "%s:", file);
		found++;
	}
	return found;
}

/* Adds the system's manifests of a driver to a list with colons. Return: how many */
static size_t add_manifests(const char *driver, char *list, size_t size)
{
	size_t used = strlen(list), i, found;
	char pattern[128];
	glob_t paths;

	snprintf(pattern, sizeof(pattern),
		 "/usr/share/vulkan/icd.d/%s_icd*.json", driver);
	if (glob(pattern, 0, NULL, &paths))
		return 0;
	found = paths.gl_pathc;
	for (i = 0; i < found; i++)
		used += snprintf(list + used, size - used, "%s:",
				 paths.gl_pathv[i]);
	globfree(&paths);
	return found;
}

int vk_compute_choose(const char *drivers)
{
	const char *given = getenv("VK_DRIVER_FILES");
	char names[64], list[1024] = "";
	char *name, *save = NULL;

	snprintf(names, sizeof(names), "%s", drivers);
	for (name = strtok_r(names, " ", &save); name;
	     name = strtok_r(NULL, " ", &save)) {
		/* Two of the longest names have to fit */
		if (strlen(list) > sizeof(list) / 2)
			return -1;
		if (given && add_given_manifests(name, given, list, sizeof(list)))
			continue;
		if (!add_manifests(name, list, sizeof(list)))
			return -1;
	}
	return setenv("VK_DRIVER_FILES", list, 1);
}

static int find_physical(struct vk_compute *vk, VkDriverId driver)
{
	VkPhysicalDevice devices[16];
	uint32_t count = 16, i;

	if (vkEnumeratePhysicalDevices(vk->instance, &count, devices) < 0)
		return -1;
	for (i = 0; i < count; i++) {
		VkPhysicalDeviceDriverProperties which = {
			.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
		};
		VkPhysicalDeviceProperties2 properties = {
			.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
			.pNext = &which,
		};

		vkGetPhysicalDeviceProperties2(devices[i], &properties);
		if (which.driverID != driver)
			continue;
		vk->physical = devices[i];
		memcpy(vk->name, properties.properties.deviceName,
		       sizeof(vk->name));
		return 0;
	}
	fprintf(stderr, "there is no device of the Vulkan driver %d\n", driver);
	return -1;
}

static VkResult make_device(struct vk_compute *vk)
{
	static const float priority = 1.0f;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueFamilyIndex = vk->family,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	const VkPhysicalDeviceLineRasterizationFeaturesEXT lines = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LINE_RASTERIZATION_FEATURES_EXT,
		.bresenhamLines = VK_TRUE,
	};
	const VkPhysicalDeviceHostImageCopyFeaturesEXT copies = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_IMAGE_COPY_FEATURES_EXT,
		.pNext = (void *)&lines,
		.hostImageCopy = VK_TRUE,
	};
	const VkPhysicalDeviceTransformFeedbackFeaturesEXT capture = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT,
		.pNext = (void *)&copies,
		.transformFeedback = VK_TRUE,
	};
	const VkPhysicalDeviceVulkan12Features features12 = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
		.pNext = &(VkPhysicalDeviceVulkan13Features){
			.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
			.dynamicRendering = VK_TRUE,
			.pNext = (void *)&capture,
		},
		.shaderFloat16 = VK_TRUE,
		.shaderOutputLayer = VK_TRUE,
	};
	const char *extensions[] = {
		VK_EXT_TRANSFORM_FEEDBACK_EXTENSION_NAME,
		VK_EXT_LINE_RASTERIZATION_EXTENSION_NAME,
		VK_EXT_HOST_IMAGE_COPY_EXTENSION_NAME,
	};
	const VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.pNext = &features12,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue,
		.enabledExtensionCount = sizeof(extensions) / sizeof(extensions[0]),
		.ppEnabledExtensionNames = extensions,
		.pEnabledFeatures = &(VkPhysicalDeviceFeatures){
			.imageCubeArray = VK_TRUE,
			.samplerAnisotropy = VK_TRUE,
			.shaderImageGatherExtended = VK_TRUE,
			.textureCompressionBC = VK_TRUE,
			.shaderResourceResidency = VK_TRUE,
			.sparseBinding = VK_TRUE,
			.sparseResidencyImage2D = VK_TRUE,
			.shaderInt64 = VK_TRUE,
			.shaderInt16 = VK_TRUE,
			.geometryShader = VK_TRUE,
			.tessellationShader = VK_TRUE,
			.sampleRateShading = VK_TRUE,
			.depthClamp = VK_TRUE,
			.depthBiasClamp = VK_TRUE,
			.fillModeNonSolid = VK_TRUE,
			.wideLines = VK_TRUE,
			.largePoints = VK_TRUE,
			.occlusionQueryPrecise = VK_TRUE,
		},
	};

	TRY(vkCreateDevice(vk->physical, &info, NULL, &vk->device));
	vkGetDeviceQueue(vk->device, vk->family, 0, &vk->queue);
	vk->bind_capture = (PFN_vkCmdBindTransformFeedbackBuffersEXT)
		vkGetDeviceProcAddr(vk->device, "vkCmdBindTransformFeedbackBuffersEXT");
	vk->begin_capture = (PFN_vkCmdBeginTransformFeedbackEXT)
		vkGetDeviceProcAddr(vk->device, "vkCmdBeginTransformFeedbackEXT");
	vk->end_capture = (PFN_vkCmdEndTransformFeedbackEXT)
		vkGetDeviceProcAddr(vk->device, "vkCmdEndTransformFeedbackEXT");
	return VK_SUCCESS;
}

static VkResult make_layouts(struct vk_compute *vk)
{
	VkDescriptorSetLayoutBinding bindings[2];
	const VkDescriptorSetLayoutCreateInfo set_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = 2,
		.pBindings = bindings,
	};
	const VkPushConstantRange constants = {
		.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
		.size = 2 * sizeof(uint32_t),
	};
	const VkPipelineLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &vk->set_layout,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &constants,
	};
	const VkDescriptorPoolSize pool_size = {
		.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
		.descriptorCount = 2,
	};
	const VkDescriptorPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = 1,
		.poolSizeCount = 1,
		.pPoolSizes = &pool_size,
	};
	const VkCommandPoolCreateInfo commands = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.queueFamilyIndex = vk->family,
	};
	uint32_t i;

	for (i = 0; i < 2; i++)
		bindings[i] = (VkDescriptorSetLayoutBinding){
			.binding = i,
			.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
			.descriptorCount = 1,
			.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
		};
	TRY(vkCreateDescriptorSetLayout(vk->device, &set_info, NULL,
					&vk->set_layout));
	TRY(vkCreatePipelineLayout(vk->device, &info, NULL, &vk->layout));
	TRY(vkCreateDescriptorPool(vk->device, &pool_info, NULL,
				   &vk->descriptors));
	return vkCreateCommandPool(vk->device, &commands, NULL, &vk->commands);
}

int vk_compute_open(struct vk_compute *vk, VkDriverId driver)
{
	const VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = &(VkApplicationInfo){
			.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
			.apiVersion = VK_API_VERSION_1_3,
		},
	};

	VkResult result;

	*vk = (struct vk_compute){ .family = 0 };
	if (vkCreateInstance(&info, NULL, &vk->instance) != VK_SUCCESS) {
		fprintf(stderr, "there is no Vulkan instance\n");
		return -1;
	}
	if (find_physical(vk, driver))
		return -1;
	/* Both drivers have one family, which can do everything, in front */
	result = make_device(vk);
	if (result == VK_SUCCESS)
		result = make_layouts(vk);
	if (result != VK_SUCCESS)
		fprintf(stderr, "%s: no device, VkResult %d\n", vk->name,
			result);
	return result == VK_SUCCESS ? 0 : -1;
}

void vk_compute_close(struct vk_compute *vk)
{
	if (vk->device) {
		vkDeviceWaitIdle(vk->device);
		vkDestroyCommandPool(vk->device, vk->commands, NULL);
		vkDestroyDescriptorPool(vk->device, vk->descriptors, NULL);
		vkDestroyPipelineLayout(vk->device, vk->layout, NULL);
		vkDestroyDescriptorSetLayout(vk->device, vk->set_layout, NULL);
		vkDestroyDevice(vk->device, NULL);
	}
	if (vk->instance)
		vkDestroyInstance(vk->instance, NULL);
}

VkResult vk_compute_pipeline(struct vk_compute *vk,
			     const struct shader_binary *shader,
			     VkPipeline *pipeline)
{
	const VkShaderModuleCreateInfo module_info = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = shader->size,
		.pCode = shader->code,
	};
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = {
			.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			.stage = VK_SHADER_STAGE_COMPUTE_BIT,
			.pName = "main",
		},
		.layout = vk->layout,
	};
	VkResult result;

	TRY(vkCreateShaderModule(vk->device, &module_info, NULL,
				 &info.stage.module));
	result = vkCreateComputePipelines(vk->device, VK_NULL_HANDLE, 1, &info,
					  NULL, pipeline);
	vkDestroyShaderModule(vk->device, info.stage.module, NULL);
	return result;
}

uint32_t vk_host_memory_type(struct vk_compute *vk, uint32_t allowed)
{
	const VkMemoryPropertyFlags wanted =
		VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
		VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	VkPhysicalDeviceMemoryProperties memory;
	uint32_t i;

	vkGetPhysicalDeviceMemoryProperties(vk->physical, &memory);
	for (i = 0; i < memory.memoryTypeCount; i++) {
		if ((allowed >> i & 1) &&
		    (memory.memoryTypes[i].propertyFlags & wanted) == wanted)
			return i;
	}
	return 0;
}

static VkResult make_buffer(struct vk_compute *vk, struct buffer *b,
			    const void *data, size_t size)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = size,
		.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
	};
	VkMemoryAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
	};
	VkMemoryRequirements need;

	TRY(vkCreateBuffer(vk->device, &info, NULL, &b->buffer));
	vkGetBufferMemoryRequirements(vk->device, b->buffer, &need);
	allocate.allocationSize = need.size;
	allocate.memoryTypeIndex = vk_host_memory_type(vk, need.memoryTypeBits);
	TRY(vkAllocateMemory(vk->device, &allocate, NULL, &b->memory));
	TRY(vkBindBufferMemory(vk->device, b->buffer, b->memory, 0));
	TRY(vkMapMemory(vk->device, b->memory, 0, VK_WHOLE_SIZE, 0, &b->map));
	b->size = size;
	memcpy(b->map, data, size);
	return VK_SUCCESS;
}

static void free_buffer(struct vk_compute *vk, struct buffer *b)
{
	vkDestroyBuffer(vk->device, b->buffer, NULL);
	vkFreeMemory(vk->device, b->memory, NULL);
}

static VkResult describe(struct vk_compute *vk, const struct buffer *buffers,
			 VkDescriptorSet *set)
{
	const VkDescriptorSetAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorPool = vk->descriptors,
		.descriptorSetCount = 1,
		.pSetLayouts = &vk->set_layout,
	};
	uint32_t i;

	TRY(vkResetDescriptorPool(vk->device, vk->descriptors, 0));
	TRY(vkAllocateDescriptorSets(vk->device, &info, set));
	for (i = 0; i < 2; i++) {
		const VkDescriptorBufferInfo buffer = {
			.buffer = buffers[i].buffer,
			.range = VK_WHOLE_SIZE,
		};
		const VkWriteDescriptorSet write = {
			.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
			.dstSet = *set,
			.dstBinding = i,
			.descriptorCount = 1,
			.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
			.pBufferInfo = &buffer,
		};

		vkUpdateDescriptorSets(vk->device, 1, &write, 0, NULL);
	}
	return VK_SUCCESS;
}

static VkResult record(struct vk_compute *vk, VkPipeline pipeline,
		       VkDescriptorSet set, const struct vk_compute_run *run,
		       VkCommandBuffer *commands)
{
	const VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = vk->commands,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};
	const VkMemoryBarrier to_host = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_HOST_READ_BIT,
	};
	const uint32_t constants[2] = { run->count, run->constant };

	TRY(vkAllocateCommandBuffers(vk->device, &info, commands));
	TRY(vkBeginCommandBuffer(*commands, &begin));
	vkCmdBindPipeline(*commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdBindDescriptorSets(*commands, VK_PIPELINE_BIND_POINT_COMPUTE,
				vk->layout, 0, 1, &set, 0, NULL);
	vkCmdPushConstants(*commands, vk->layout, VK_SHADER_STAGE_COMPUTE_BIT,
			   0, sizeof(constants), constants);
	vkCmdDispatch(*commands, run->count / GROUP_SIZE, 1, 1);
	vkCmdPipelineBarrier(*commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
			     VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0,
			     NULL, 0, NULL);
	return vkEndCommandBuffer(*commands);
}

static VkResult execute(struct vk_compute *vk, VkCommandBuffer commands)
{
	const VkFenceCreateInfo fence_info = {
		.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
	};
	const VkSubmitInfo submit = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &commands,
	};
	VkResult result;
	VkFence fence;

	TRY(vkCreateFence(vk->device, &fence_info, NULL, &fence));
	result = vkQueueSubmit(vk->queue, 1, &submit, fence);
	if (result == VK_SUCCESS)
		result = vkWaitForFences(vk->device, 1, &fence, VK_TRUE,
					 TIMEOUT_NS);
	vkDestroyFence(vk->device, fence, NULL);
	return result;
}

static VkResult run_pipeline(struct vk_compute *vk, VkPipeline pipeline,
			     const struct vk_compute_run *run,
			     struct buffer *buffers)
{
	VkCommandBuffer commands;
	VkDescriptorSet set;

	TRY(make_buffer(vk, &buffers[0], run->source,
			run->count * sizeof(*run->source)));
	TRY(make_buffer(vk, &buffers[1], run->result, run->result_size));
	TRY(describe(vk, buffers, &set));
	TRY(record(vk, pipeline, set, run, &commands));
	TRY(execute(vk, commands));
	vkFreeCommandBuffers(vk->device, vk->commands, 1, &commands);
	memcpy(run->result, buffers[1].map, run->result_size);
	return VK_SUCCESS;
}

VkResult vk_compute_run(struct vk_compute *vk,
			const struct shader_binary *shader,
			const struct vk_compute_run *run)
{
	struct buffer buffers[2] = { { .size = 0 }, { .size = 0 } };
	VkPipeline pipeline;
	VkResult result;

	TRY(vk_compute_pipeline(vk, shader, &pipeline));
	result = run_pipeline(vk, pipeline, run, buffers);
	free_buffer(vk, &buffers[0]);
	free_buffer(vk, &buffers[1]);
	vkDestroyPipeline(vk->device, pipeline, NULL);
	return result;
}
