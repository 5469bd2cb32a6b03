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

/** struct scene - one draw call, and what surrounds it */
struct scene {
	const char *name;
	uint32_t width;
	uint32_t height;
	/* most that a channel may differ by */
	unsigned int tolerance;
	/* 1 if not given; what is drawn is resolved */
	VkSampleCountFlagBits samples;
	float clear[4];
	/* nothing is drawn without vertices */
	const struct scene_vertex *vertices;
	uint32_t vertex_count;
	VkPrimitiveTopology topology;
	const uint16_t *indices;
	uint32_t index_count;
	/* each is moved by @step; 1 if not given */
	uint32_t instances;
	float step[4];
	/* its name in render_shaders */
	const char *fragment;
	/* the texture's filter, if the fragment shader has a texture */
	bool is_textured;
	VkFilter filter;
	bool has_depth;
	bool blends;
};

/**
 * vk_render_scene() - draw a scene and wait for its end
 * @picture: has the scene's size, and gets what was drawn
 */
VkResult vk_render_scene(struct vk_compute *vk, const struct scene *scene,
			 struct picture *picture);

#endif /* VK_RENDER_H */
