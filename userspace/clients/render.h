/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A render pass of coloured triangles into an image of 8 bits a channel, which
 * a client makes out of shaders and packets.
 *
 * A pass whose triangles do not fit into the tiled vertex buffer is drawn in
 * parts: the image and a depth buffer keep what was drawn.
 *
 * Functions return 0 or a negative errno value, and say on stderr what failed.
 */
#ifndef CLIENT_RENDER_H
#define CLIENT_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "compute.h"

/** RENDER_MAX_SIZE - most pixels in a row or column of an image */
#define RENDER_MAX_SIZE		16384

/** struct render_vertex - a vertex, as the vertex shader reads it */
struct render_vertex {
	/** @position: x, y, z, w before the division by w */
	float position[4];
	/** @colour: red, green, blue, alpha, from 0 to 1 */
	float colour[4];
};

/** struct render_scene - what a pass draws */
struct render_scene {
	/** @clear: colour where nothing is drawn */
	float clear[4];
	/** @vertices: three for each triangle */
	const struct render_vertex *vertices;
	/** @count: number of @vertices, may be 0 */
	unsigned int count;
	/** @depth: draw what is nearest, else what comes last */
	bool depth;
	/** @instances: how often all of it is drawn, over itself; 0: once */
	uint32_t instances;
	/** @layers: each goes to the same image; 0: one */
	uint32_t layers;
};

/** struct render_target - an image */
struct render_target {
	uint32_t width;
	uint32_t height;
	/** @stride: bytes from row to row */
	uint32_t stride;
	struct compute_buffer pixels;
};

/**
 * render_target_new() - make an image
 * @ctx: device
 * @width: pixels, 1 to RENDER_MAX_SIZE
 * @height: likewise
 * @target: the image, poisoned
 */
int render_target_new(struct compute *ctx, uint32_t width, uint32_t height,
		      struct render_target *target);
void render_target_free(struct compute *ctx, struct render_target *target);

/**
 * render_run() - draw a scene, and wait until that is done
 * @ctx: device
 * @target: image
 * @scene: what to draw
 *
 * Return: as asahi_submit_run(). Failed work is not announced on stderr.
 */
int render_run(struct compute *ctx, const struct render_target *target,
	       const struct render_scene *scene);

#endif /* CLIENT_RENDER_H */
