/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The number of an element in a level of an image that is not linear, inlined where addresses
 * of many elements are computed in a loop.
 */
#ifndef AGX_LAYOUT_INDEX_H
#define AGX_LAYOUT_INDEX_H

#include "agx_layout.h"

/* Bits with room for another one between two of them */
static inline uint32_t agx_layout_spread(uint32_t v)
{
	v &= 0xffff;
	v = (v | v << 8) & 0x00ff00ff;
	v = (v | v << 4) & 0x0f0f0f0f;
	v = (v | v << 2) & 0x33333333;
	return (v | v << 1) & 0x55555555;
}

/** agx_layout_morton() - bits of x and y in turn, x first */
static inline uint32_t agx_layout_morton(uint32_t x, uint32_t y)
{
	return agx_layout_spread(x) | agx_layout_spread(y) << 1;
}

/**
 * struct agx_layout_tiling - how a level is cut into tiles
 * @log2_width: elements of a tile in a row, as a power of two
 * @log2_height: rows of a tile, likewise
 * @tiles_per_row: tiles beside each other
 */
struct agx_layout_tiling {
	unsigned int log2_width;
	unsigned int log2_height;
	uint32_t tiles_per_row;
};

/** agx_layout_tiling_of() - how a level of an image that is not linear is cut into tiles */
static inline struct agx_layout_tiling agx_layout_tiling_of(const struct agx_layout_level *level)
{
	return (struct agx_layout_tiling){
		.log2_width = __builtin_ctz(level->tile_width),
		.log2_height = __builtin_ctz(level->tile_height),
		.tiles_per_row = level->tiles_per_row,
	};
}

/**
 * agx_layout_index() - the number of an element in its level
 * @tiling: of the level
 * @x: column, in elements
 * @y: row, in elements
 *
 * Tiles follow each other in rows. One is a square in Morton order, or more of them beside each
 * other.
 */
static inline uint32_t agx_layout_index(struct agx_layout_tiling tiling, uint32_t x, uint32_t y)
{
	const unsigned int log2_w = tiling.log2_width, log2_h = tiling.log2_height;
	const uint32_t tile = (y >> log2_h) * tiling.tiles_per_row + (x >> log2_w);
	const uint32_t square = (x & ((1u << log2_w) - 1)) >> log2_h;
	const uint32_t side = (1u << log2_h) - 1;

	return (tile << (log2_w + log2_h)) + (square << 2 * log2_h) +
	       agx_layout_morton(x & side, y & side);
}

#endif /* AGX_LAYOUT_INDEX_H */
