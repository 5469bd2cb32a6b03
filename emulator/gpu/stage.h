/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the stages of rendering give to a shader core and get from it, besides
 * a launch: vertices, fragments, tiles.
 */
#ifndef VAGX_STAGE_H
#define VAGX_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/core.h"

/** VAGX_TILE_BYTES - memory of a tile */
#define VAGX_TILE_BYTES		32768
#define VAGX_TILE_SLACK		16
/** VAGX_MAX_SAMPLES - samples of a pixel */
#define VAGX_MAX_SAMPLES	4
/** VAGX_MAX_UVS_WORDS - words that a vertex can have */
#define VAGX_MAX_UVS_WORDS	255

/**
 * struct vagx_vertices - vertices that one simdgroup shades
 * @count: how many, 1 to VAGX_SIMD_WIDTH
 * @id: number of each, as the shader has it
 * @instance: its instance, likewise
 * @words: words that each has
 * @out: word after word, of all lanes each: @words times VAGX_SIMD_WIDTH
 */
struct vagx_vertices {
	unsigned int count;
	uint32_t id[VAGX_SIMD_WIDTH];
	uint32_t instance[VAGX_SIMD_WIDTH];
	unsigned int words;
	uint32_t *out;
};

/**
 * struct vagx_tile - a tile while it is drawn
 * @x: its first pixel
 * @y: its first line
 * @layer: its layer
 * @width: its pixels
 * @height: its lines
 * @samples: of a pixel
 * @sample_positions: a byte for each, the first one lowest, in 16ths, x low
 * @memory: colours, VAGX_TILE_BYTES, and VAGX_TILE_SLACK more that are only read
 */
struct vagx_tile {
	uint32_t x;
	uint32_t y;
	uint32_t layer;
	uint32_t width;
	uint32_t height;
	uint32_t samples;
	uint64_t sample_positions;
	uint8_t *memory;
};

/** struct vagx_plane - coefficients; bits of floats, or of anything that is flat */
struct vagx_plane {
	uint32_t a, b, c;
};

/**
 * struct vagx_fragments - fragments that one simdgroup shades
 * @exists: lanes that there are; four lanes are a quad, its lines one after the other
 * @x: pixel of each lane, in the image
 * @y: likewise
 * @input: samples that the primitive covers
 * @live: samples that are not discarded; none in helpers
 * @back_facing: a bit for each lane
 * @planes: coefficient registers of each quad's primitive
 * @num_planes: how many there are
 * @tested: depth and stencil have been tested
 * @test: tests depth and stencil of samples, with values of its own or of the
 *	shader; says which passed
 * @ctx: its first argument
 */
struct vagx_fragments {
	uint32_t exists;
	uint16_t x[VAGX_SIMD_WIDTH];
	uint16_t y[VAGX_SIMD_WIDTH];
	uint8_t input[VAGX_SIMD_WIDTH];
	uint8_t live[VAGX_SIMD_WIDTH];
	uint32_t back_facing;
	const struct vagx_plane *planes[VAGX_SIMD_WIDTH / 4];
	unsigned int num_planes;
	bool tested;
	unsigned int (*test)(void *ctx, unsigned int lane, unsigned int samples,
			     const float *depth, const uint8_t *stencil);
	void *ctx;
};

/**
 * vagx_core_run_vertices() - run a vertex shader
 * @core: core
 * @launch: its program
 * @vertices: what for
 * @fault: filled when -EFAULT is returned
 *
 * Return: as vagx_core_run_group().
 */
int vagx_core_run_vertices(struct vagx_core *core, const struct vagx_launch *launch,
			   struct vagx_vertices *vertices, struct vagx_uat_fault *fault);

/** vagx_core_run_fragments() - run a fragment shader on fragments of a tile */
int vagx_core_run_fragments(struct vagx_core *core, const struct vagx_launch *launch,
			    struct vagx_tile *tile, struct vagx_fragments *fragments,
			    struct vagx_uat_fault *fault);

/** vagx_core_run_tile() - run a program once for a tile, such as at its end */
int vagx_core_run_tile(struct vagx_core *core, const struct vagx_launch *launch,
		       struct vagx_tile *tile, struct vagx_uat_fault *fault);

#endif /* VAGX_STAGE_H */
