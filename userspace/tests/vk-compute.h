/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * As little of Vulkan as it takes to run a compute shader of glsl/.
 */
#ifndef VK_COMPUTE_H
#define VK_COMPUTE_H

#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/** TRY() - leave a function with the first VkResult that is no success */
#define TRY(call)								\
	do {									\
		VkResult result_ = (call);					\
										\
		if (result_ != VK_SUCCESS)					\
			return result_;						\
	} while (0)

/** struct shader_binary - one of the shaders in glsl/, compiled to SPIR-V */
struct shader_binary {
	const char *name;
	const uint32_t *code;
	size_t size;
};

extern const struct shader_binary shader_binaries[];
extern const unsigned int shader_binary_count;

/* Those of glsl/bench_*, which have nothing to say but how long they take */
extern const struct shader_binary bench_shaders[];
extern const unsigned int bench_shader_count;

/* glsl/hang.comp, which does not end */
extern const struct shader_binary hang_shaders[];
extern const unsigned int hang_shader_count;

/* glsl/rounds.comp, which takes its time */
extern const struct shader_binary endure_shaders[];
extern const unsigned int endure_shader_count;

/**
 * vk_compute_choose() - load these of Mesa's Vulkan drivers and no others
 * @drivers: their names, with spaces between them
 *
 * A driver that VK_DRIVER_FILES names is taken from there, all others are the system's.
 *
 * Return: 0, or -1 if one of them is not installed.
 */
int vk_compute_choose(const char *drivers);

/** struct vk_compute - a device, ready to run shaders */
struct vk_compute {
	VkInstance instance;
	VkPhysicalDevice physical;
	VkDevice device;
	VkQueue queue;
	uint32_t family;
	VkDescriptorSetLayout set_layout;
	VkPipelineLayout layout;
	VkDescriptorPool descriptors;
	VkCommandPool commands;
	/* of an extension: the loader does not have them */
	PFN_vkCmdBindTransformFeedbackBuffersEXT bind_capture;
	PFN_vkCmdBeginTransformFeedbackEXT begin_capture;
	PFN_vkCmdEndTransformFeedbackEXT end_capture;
	char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
};

/**
 * vk_compute_open() - open the device of a driver
 *
 * Return: 0, or -1 after a message on stderr.
 */
int vk_compute_open(struct vk_compute *vk, VkDriverId driver);
void vk_compute_close(struct vk_compute *vk);

/**
 * vk_host_memory_type() - memory that the processor and the GPU see alike
 * @allowed: types to choose from, a bit each
 */
uint32_t vk_host_memory_type(struct vk_compute *vk, uint32_t allowed);

/** vk_compute_pipeline() - compile a shader */
VkResult vk_compute_pipeline(struct vk_compute *vk,
			     const struct shader_binary *shader,
			     VkPipeline *pipeline);

/** struct vk_compute_run - what a shader gets */
struct vk_compute_run {
	/* words of the source, and threads */
	uint32_t count;
	uint32_t constant;
	const uint32_t *source;
	/* written and read back */
	uint32_t *result;
	size_t result_size;
};

/** vk_compute_run() - run a shader and wait for its end */
VkResult vk_compute_run(struct vk_compute *vk,
			const struct shader_binary *shader,
			const struct vk_compute_run *run);

#endif /* VK_COMPUTE_H */
