/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What asahi-triangle draws, and how it has to look.
 */
#ifndef CLIENT_SCENE_H
#define CLIENT_SCENE_H

#include "render.h"

/** SCENE_MAX_VERTICES - those of the cube */
#define SCENE_MAX_VERTICES	36

/** struct scene - a scene with memory for its vertices */
struct scene {
	struct render_scene render;
	struct render_vertex vertices[SCENE_MAX_VERTICES];
};

/** scene_clear() - one colour and nothing else */
void scene_clear(struct scene *scene);

/** scene_triangle() - a triangle with a corner in each of the primary colours */
void scene_triangle(struct scene *scene);

/**
 * scene_cube() - a cube, each side in a colour of its own, seen in perspective
 * @scene: scene
 * @turn: how far it is turned, 1 for a whole turn
 * @aspect: width of the image by its height
 *
 * What is nearest has to be drawn last, or with depth.
 */
void scene_cube(struct scene *scene, float turn, float aspect);

/**
 * scene_check() - compare an image with a scene
 * @scene: scene
 * @target: image
 *
 * Pixels whose centre is near an edge, and those where two triangles are as near,
 * are not looked at; the others may differ by what rounding does.
 *
 * Return: 0, or -EILSEQ with the first difference on stderr.
 */
int scene_check(const struct render_scene *scene,
		const struct render_target *target);

#endif /* CLIENT_SCENE_H */
