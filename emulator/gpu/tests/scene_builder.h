/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Streams, state and shaders of a render, as a client would write them.
 */
#ifndef SCENE_BUILDER_H
#define SCENE_BUILDER_H

#include "agx_packets.h"
#include "render_fixture.h"

/** SCENE_VERTEX - words of a vertex in memory: position and colour */
#define SCENE_VERTEX_WORDS	8

/**
 * struct scene_state - what a draw has; scene_default() has all of it
 * @constant: first uniform of the fragment shader
 * @samplers: samplers of the fragment shader, and whether they have border colours
 */
struct scene_state {
	struct agx_ppp_fragment_control control;
	struct agx_ppp_front_face face;
	struct agx_ppp_front_face_2 face_2;
	struct agx_ppp_front_stencil stencil;
	struct agx_ppp_back_stencil back_stencil;
	struct agx_ppp_depth_bias_scissor indices;
	struct agx_ppp_output_select select;
	struct agx_ppp_cull cull;
	struct agx_ppp_viewport viewport;
	struct agx_ppp_occlusion_query query;
	struct agx_vdm_control vdm_control;
	enum agx_shade_model shade;
	enum agx_sampler_states samplers;
	bool early_z;
	const char *vertex_shader;
	const char *fragment_shader;
	float constant;
	unsigned int outputs;
};

/**
 * struct scene - a render that is being written
 * @shader: words of the fragment shader that scene_set() has set
 * @bindings: bindings of its varyings
 */
struct scene {
	struct render_fixture *f;
	struct agx_writer stream;
	struct agx_writer usc;
	struct agx_writer state;
	uint32_t data_used;
	uint32_t shader;
	uint32_t bindings;
};

/** scene_begin() - an empty render with an image of RGBA8 in GPU layout */
void scene_begin(struct scene *s, struct render_fixture *f);

/** scene_clear() - the colour that tiles begin with */
void scene_clear(struct scene *s, const float colour[4]);

/** scene_default() - a state that draws triangles as they are */
struct scene_state scene_default(const struct render_fixture *f);

/** scene_set() - write a state */
void scene_set(struct scene *s, const struct scene_state *state);

/** scene_shader() - write the words of a state's fragment shader; where they are */
uint32_t scene_shader(struct scene *s, const struct scene_state *state);

/** scene_use_shader() - change nothing of what is set but the fragment shader */
void scene_use_shader(struct scene *s, const struct scene_state *state, uint32_t shader);

/** scene_vertices() - put vertices where the shader reads them; the number of the first */
uint32_t scene_vertices(struct scene *s, const float (*vertices)[SCENE_VERTEX_WORDS],
			unsigned int count);

/**
 * scene_triangle() - put the vertices of a red triangle, 20 by 20 pixels
 * @x: its corner, in pixels of a picture of 256; the others are right of it and below
 * @y: likewise
 * @z: depth
 *
 * Return: the number of the first one.
 */
uint32_t scene_triangle(struct scene *s, float x, float y, float z);

/** scene_indices() - put indices into memory; their address */
uint64_t scene_indices(struct scene *s, const void *indices, size_t bytes);

/** scene_draw() - draw vertices without indices */
void scene_draw(struct scene *s, enum agx_primitive primitive, uint32_t first, uint32_t count);

/** scene_draw_indexed() - draw by indices; restart if a restart index may be among them */
void scene_draw_indexed(struct scene *s, enum agx_primitive primitive, enum agx_index_size size,
			uint64_t indices, uint32_t bytes, uint32_t count, int32_t base,
			bool restart);

/** scene_texture() - ts1 is this texture, and ss0 this sampler, in what is set from now on */
void scene_texture(struct scene *s, const struct agx_texture *texture,
		   const struct agx_sampler *sampler);

/** scene_borders() - ss1 is as ss0, and these are their border colours, where there are any */
void scene_borders(struct scene *s, const uint32_t first[4], const uint32_t second[4]);

/** scene_metadata() - where ts1, which is compressed, has its metadata */
void scene_metadata(struct scene *s, uint64_t va);

/** scene_target() - ts2 is this image, to be written */
void scene_target(struct scene *s, const struct agx_pbe *pbe);

/** scene_reload() - tiles begin with the image, after a partial render, or always */
void scene_reload(struct scene *s, bool always);

/** scene_linear() - have the image linear, and loaded again after a partial render */
void scene_linear(struct scene *s);

/** scene_linear_pixel() - a pixel of such an image */
uint32_t scene_linear_pixel(const struct render_fixture *f, uint32_t x, uint32_t y);

/** scene_query() - result of an occlusion query */
uint64_t scene_query(unsigned int index);

/** scene_end() - end the stream */
void scene_end(struct scene *s);

/** scene_run() - end the stream, and run vertex and fragment work */
void scene_run(struct scene *s);

/** scene_pixel() - a pixel of the image, as 32 bits */
uint32_t scene_pixel(const struct render_fixture *f, uint32_t x, uint32_t y, uint32_t layer);

/** scene_pixel_at() - where it is; its samples follow each other */
const void *scene_pixel_at(const struct render_fixture *f, uint32_t x, uint32_t y,
			   uint32_t layer);

/** scene_write_ppm() - the image as a file, for whoever wants to look at it */
void scene_write_ppm(const struct render_fixture *f, const char *path);

#endif /* SCENE_BUILDER_H */
