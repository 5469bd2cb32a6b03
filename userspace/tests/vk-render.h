/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * As little of Vulkan as it takes to draw a scene into an image and read that.
 */
#ifndef VK_RENDER_H
#define VK_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "picture.h"
#include "vk-compute.h"

extern const struct shader_binary render_shaders[];
extern const unsigned int render_shader_count;

/** struct scene_vertex - what glsl/scene.vert reads */
struct scene_vertex {
	float position[4];
	float colour[4];
	float coordinate[2];
};

/** MOST_TEXTURES - that a scene has */
#define MOST_TEXTURES	16

/** struct scene_texture - what a fragment shader samples */
struct scene_texture {
	VkFormat format;
	VkImageViewType view;
	/* of the first level */
	uint32_t width;
	uint32_t height;
	/* 1 if not given */
	uint32_t levels;
	/* of what the shader sees */
	uint32_t first_level;
	uint32_t layers;
	/* bytes of a texel, or of a block of so many texels in each direction */
	uint32_t bytes;
	uint32_t block;
	/* what @fill makes of it */
	uint32_t mode;
	/* half of its blocks are not there, and levels smaller than a block as is said */
	bool is_sparse;
	bool has_tail;
	/* makes one of them */
	void (*fill)(uint8_t *texel, const struct scene_texture *texture,
		     uint32_t level, uint32_t layer, uint32_t x, uint32_t y);
	/* its sampler */
	VkFilter filter;
	VkSamplerMipmapMode mipmap;
	VkSamplerAddressMode wrap;
	/* isotropic if not given */
	float anisotropy;
	bool compares;
	VkCompareOp compare;
	VkBorderColor border;
};

/** struct scene - one draw call, and what surrounds it */
struct scene {
	const char *name;
	uint32_t width;
	uint32_t height;
	/* of the target, one below the other in the picture; 1 if not given */
	uint32_t layers;
	/* most that a channel may differ by */
	unsigned int tolerance;
	/* most pixels that may differ by more: a sample can be on an edge by chance */
	unsigned int strays;
	/* 1 if not given; what is drawn is resolved */
	VkSampleCountFlagBits samples;
	float clear[4];
	/* no depth or stencil if not given */
	VkFormat depth_format;
	/*
	 * What is drawn over it in the same pass, where all above does not count
	 */
	const struct scene *then;
	/* nothing is drawn without vertices */
	const struct scene_vertex *vertices;
	uint32_t vertex_count;
	VkPrimitiveTopology topology;
	uint32_t patch_points;
	const uint16_t *indices;
	uint32_t index_count;
	bool restarts;
	/* each is moved by @step; 1 if not given */
	uint32_t instances;
	float step[4];
	/* the numbers of the draw come from a buffer, and not from its beginning */
	bool is_indirect;
	/* names in render_shaders; scene_vert if not given, and else none */
	const char *vertex;
	const char *control;
	const char *evaluation;
	const char *geometry;
	const char *fragment;
	/* the picture is what the last stage before the fragments puts out */
	bool is_captured;
	/* the fragment shader's, at the bindings from 0 on */
	const struct scene_texture *textures;
	uint32_t texture_count;
	bool blends;
	/* the target's size if not given: x, y, width, height */
	float viewport[4];
	int32_t scissor[4];
	VkPolygonMode polygon_mode;
	/* 1 if not given */
	float line_width;
	VkCullModeFlags cull;
	/* constant, clamp, slope */
	float bias[3];
	bool clamps_depth;
	/* less if not given, where there is depth */
	VkCompareOp depth_compare;
	/* of both faces; no test without a mask */
	VkStencilOpState stencil;
	bool shades_samples;
	/* all if not given */
	VkSampleMask sample_mask;
	bool alpha_to_coverage;
	/* the result is the first pixel of the picture, of what is over it the second */
	bool counts_samples;
	bool finds_samples;
	/* not for those who look at fences only */
	bool only_compared;
};

extern const struct scene render_scenes[];
extern const unsigned int render_scene_count;

/** vk_scene_height() - lines of a scene's picture, which has all layers */
static inline uint32_t vk_scene_height(const struct scene *scene)
{
	return scene->height * (scene->layers ? scene->layers : 1);
}

/**
 * vk_render_scene() - draw a scene and wait for its end
 * @picture: has the scene's size, and gets what was drawn
 */
VkResult vk_render_scene(struct vk_compute *vk, const struct scene *scene,
			 struct picture *picture);

#endif /* VK_RENDER_H */
