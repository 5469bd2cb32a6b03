/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Input and output of the render stages that a shader core runs, besides a launch: vertices,
 * fragments, tiles.
 */
#ifndef VAGX_STAGE_H
#define VAGX_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/core.h"

/** VAGX_TILE_BYTES - bytes of a tile's memory, and how many more may be read behind it */
#define VAGX_TILE_BYTES		32768
#define VAGX_TILE_SLACK		16
/** VAGX_MAX_SAMPLES - most samples of a pixel */
#define VAGX_MAX_SAMPLES	4
/** VAGX_MAX_UVS_WORDS - most output words of a vertex */
#define VAGX_MAX_UVS_WORDS	255

/**
 * struct vagx_vertices - vertices that one simdgroup shades
 * @count: vertices, 1 to VAGX_SIMD_WIDTH
 * @id: vertex number of each lane
 * @instance: instance number of each lane
 * @words: output words of a vertex
 * @out: output, for each word the values of all lanes: @words times VAGX_SIMD_WIDTH
 */
struct vagx_vertices {
	unsigned int count;
	uint32_t id[VAGX_SIMD_WIDTH];
	uint32_t instance[VAGX_SIMD_WIDTH];
	unsigned int words;
	uint32_t *out;
};

/**
 * struct vagx_tile - a tile that is drawn
 * @x: first column of pixels in the image
 * @y: first row of pixels in the image
 * @layer: layer of the image
 * @width: width in pixels
 * @height: height in pixels
 * @samples: samples of a pixel
 * @sample_positions: a byte for each sample, the first one lowest: position in a pixel in 16ths,
 *	x in the lower four bits
 * @memory: colour buffer: VAGX_TILE_BYTES, and VAGX_TILE_SLACK more that are only read
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

/** struct vagx_plane - a plane equation's coefficients; bits of floats, or of a flat value */
struct vagx_plane {
	uint32_t a, b, c;
};

/**
 * struct vagx_fragments - fragments that one simdgroup shades
 * @exists: mask of the lanes that have a fragment; four lanes are a quad, row by row
 * @is_half: set by vagx_stage_place_half() alone
 * @x: column of each lane's pixel in the image
 * @y: row of each lane's pixel in the image
 * @input: mask of the samples that the primitive covers, for each lane
 * @live: mask of the samples that are not discarded, for each lane; 0 in helpers
 * @back_facing: mask of the lanes whose primitive is back-facing
 * @draw: number of each quad's draw in its job; 0 if there is none
 * @planes: coefficient registers of each quad's primitive
 * @num_planes: number of coefficient registers
 * @tested: depth and stencil have been tested before the shader
 * @test: tests depth and stencil of a mask of samples; @depth and @stencil are the shader's, or
 *	NULL. Returns the mask of those that passed.
 * @ctx: first argument of @test
 */
struct vagx_fragments {
	uint32_t exists;
	bool is_half;
	uint16_t x[VAGX_SIMD_WIDTH];
	uint16_t y[VAGX_SIMD_WIDTH];
	uint8_t input[VAGX_SIMD_WIDTH];
	uint8_t live[VAGX_SIMD_WIDTH];
	uint32_t back_facing;
	uint32_t draw[VAGX_SIMD_WIDTH / 4];
	const struct vagx_plane *planes[VAGX_SIMD_WIDTH / 4];
	unsigned int num_planes;
	bool tested;
	unsigned int (*test)(void *ctx, unsigned int lane, unsigned int samples,
			     const float *depth, const uint8_t *stencil);
	void *ctx;
};

/** VAGX_HALF_WIDTH - pixels of half a block of 8 by 8 pixels, whose quads fill a simdgroup */
#define VAGX_HALF_WIDTH		8
#define VAGX_HALF_HEIGHT	4

/** vagx_half_x, vagx_half_y - the pixel of each lane in half a block: two rows of four quads */
extern const uint16_t vagx_half_x[VAGX_SIMD_WIDTH], vagx_half_y[VAGX_SIMD_WIDTH];

/**
 * vagx_stage_place_half() - let fragments be all of half a block
 * @f: @exists, @x, @y and @is_half are set
 * @x: first column of pixels in the image, a multiple of 8
 * @y: first row of pixels in the image, a multiple of 4; all pixels are in the tile
 */
void vagx_stage_place_half(struct vagx_fragments *f, uint32_t x, uint32_t y);

/**
 * vagx_core_run_vertices() - run a vertex shader
 * @core: core
 * @launch: its program
 * @vertices: what for
 * @fault: filled when -EFAULT is returned
 *
 * Return: as vagx_core_run_groups().
 */
int vagx_core_run_vertices(struct vagx_core *core, const struct vagx_launch *launch,
			   struct vagx_vertices *vertices, struct vagx_uat_fault *fault);

/** vagx_core_run_fragments() - run a fragment shader on fragments of a tile */
int vagx_core_run_fragments(struct vagx_core *core, const struct vagx_launch *launch,
			    struct vagx_tile *tile, struct vagx_fragments *fragments,
			    struct vagx_uat_fault *fault);

/**
 * vagx_core_run_background() - run a program for all pixels of a tile, which it fills
 *
 * With a compiler, and without a sanitizer, a program that copies an image is not run: the image
 * is copied. A compiler that compares does both.
 */
int vagx_core_run_background(struct vagx_core *core, const struct vagx_launch *launch,
			     struct vagx_tile *tile, struct vagx_uat_fault *fault);

/** vagx_core_run_tile() - run a program once for a tile, such as at its end */
int vagx_core_run_tile(struct vagx_core *core, const struct vagx_launch *launch,
		       struct vagx_tile *tile, struct vagx_uat_fault *fault);

#endif /* VAGX_STAGE_H */
