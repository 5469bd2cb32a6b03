/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The textures of scenes.
 */
#ifndef SCENE_TEXTURES_H
#define SCENE_TEXTURES_H

#include "vk-render.h"

extern const struct scene_texture texture_nearest[1];
extern const struct scene_texture texture_linear[1];
/* for glsl/still_life.frag */
extern const struct scene_texture texture_tiles[1];
/* for glsl/cube.frag */
extern const struct scene_texture texture_cubes[4];
/* for glsl/sixteen.frag: one after the other, in rows of four */
extern const struct scene_texture texture_formats[16];
extern const struct scene_texture texture_blocks[16];
extern const struct scene_texture texture_bc7[16];
/* for glsl/halves.frag, likewise */
extern const struct scene_texture texture_bc6h[16];
/* for glsl/lookups.frag */
extern const struct scene_texture texture_lookups[3];
/* for glsl/oblique.frag */
extern const struct scene_texture texture_oblique[3];
/* for glsl/sparse.frag */
extern const struct scene_texture texture_sparse[1];
/* for glsl/sparse_array.frag */
extern const struct scene_texture texture_sparse_arrays[4];
/* for glsl/shadow.frag */
extern const struct scene_texture texture_shadows[4];

#endif /* SCENE_TEXTURES_H */
