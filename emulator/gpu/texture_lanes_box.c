// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Pixels that are beside each other have texels in a few blocks of one level and layer. Blocks of
 * a box of that size are cached at places of their own, which follow from their positions. So
 * each block is looked for once, for all lanes, and their texels are where they have to be.
 */
#include "gpu/texture_lanes.h"

/* Most blocks of a box; as many beside each other have places of their own */
#define BOX_BLOCKS	16

/* Texels of one level and layer: inclusive bounds */
struct texel_box {
	uint32_t min_x, min_y, max_x, max_y;
	uint32_t level, layer;
};

CLONES void vagx_texture_lanes_places(const struct texture_lanes *s,
				      const struct texture_bilinear *c,
				      struct texture_places *places)
{
	unsigned int i, corner;

	for (corner = 0; corner < 4; corner++) {
		const int32_t *x = c->x.at[corner & 1], *y = c->y.at[corner >> 1];

		for (i = 0; i < LANES; i++) {
			const struct agx_texel at = {
				.x = x[i], .y = y[i], .layer = s->layer[i], .level = c->level[i],
			};
			const uint32_t index = texture_cache_index(s->t, &at);

			places->at[corner][i] = index * TEXTURE_BLOCK_TEXELS +
						texture_in_block(at.x, at.y);
		}
	}
}

INLINE uint32_t lanes_box_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

INLINE uint32_t lanes_box_max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/*
 * Finds the box of the texels of those lanes that have the level and the layer of the first one.
 * Return: a mask of these.
 */
CLONES static uint32_t lanes_box_find(const struct texture_lanes *s,
				      const struct texture_bilinear *c, uint32_t lanes,
				      struct texel_box *box)
{
	const unsigned int first = __builtin_ctz(lanes);
	const uint32_t level = c->level[first], layer = s->layer[first];
	const uint32_t x = c->x.at[0][first], y = c->y.at[0][first];
	uint32_t min_x = x, min_y = y, max_x = x, max_y = y, same = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const bool is_same = (lanes & lane_bits.v[i]) && c->level[i] == level &&
				     s->layer[i] == layer;
		const uint32_t x0 = is_same ? (uint32_t)c->x.at[0][i] : x;
		const uint32_t x1 = is_same ? (uint32_t)c->x.at[1][i] : x;
		const uint32_t y0 = is_same ? (uint32_t)c->y.at[0][i] : y;
		const uint32_t y1 = is_same ? (uint32_t)c->y.at[1][i] : y;

		same |= is_same ? lane_bits.v[i] : 0;
		min_x = lanes_box_min(min_x, lanes_box_min(x0, x1));
		min_y = lanes_box_min(min_y, lanes_box_min(y0, y1));
		max_x = lanes_box_max(max_x, lanes_box_max(x0, x1));
		max_y = lanes_box_max(max_y, lanes_box_max(y0, y1));
	}
	*box = (struct texel_box){ min_x, min_y, max_x, max_y, level, layer };
	return same;
}

/* The blocks of a box: the first ones' numbers, and how many there are */
struct box_blocks {
	uint32_t left, top, columns, rows;
};

static struct agx_texel lanes_box_texel_of(const struct texel_box *box,
					   const struct box_blocks *blocks, unsigned int n)
{
	return (struct agx_texel){
		.x = (blocks->left + n % blocks->columns) * TEXTURE_BLOCK_SIDE,
		.y = (blocks->top + n / blocks->columns) * TEXTURE_BLOCK_SIDE,
		.layer = box->layer, .level = box->level,
	};
}

static bool lanes_box_is_cached(const struct texture *t, const struct texture_block *blocks,
				const struct agx_texel *at)
{
	const struct texture_block *block = &blocks[texture_cache_index(t, at)];

	return texture_block_hit(t, block, texture_block_key(at)) && !~block->valid;
}

/* Blocks of bytes are prefetched, then read: the misses overlap. Return: false as below. */
static bool lanes_box_cache_bytes(const struct texture_lanes *s, const struct texel_box *box,
				  const struct box_blocks *blocks)
{
	struct texture_prefetch prefetch[BOX_BLOCKS];
	unsigned int count = 0, i;
	bool all = true;

	for (i = 0; i < blocks->columns * blocks->rows; i++) {
		const struct agx_texel at = lanes_box_texel_of(box, blocks, i);

		if (lanes_box_is_cached(s->t, s->t->cache->byte_block, &at))
			continue;
		if (vagx_texture_prefetch(s->t, &at, &prefetch[count]))
			count++;
		else
			all = false;
	}
	for (i = 0; i < count; i++)
		vagx_texture_read_prefetched(s->t, &prefetch[i]);
	return all;
}

static bool lanes_box_cache_channels(const struct texture_lanes *s, const struct texel_box *box,
				     const struct box_blocks *blocks)
{
	unsigned int i;

	for (i = 0; i < blocks->columns * blocks->rows; i++) {
		const struct agx_texel at = lanes_box_texel_of(box, blocks, i);

		if (!lanes_box_is_cached(s->t, s->t->cache->block, &at) &&
		    !vagx_texture_read_block(s->t, &at))
			return false;
	}
	return true;
}

/* Has all blocks of a box cached. Return: false if there are too many, or one is not whole. */
static bool lanes_box_cache(const struct texture_lanes *s, const struct texel_box *box)
{
	const uint32_t left = box->min_x / TEXTURE_BLOCK_SIDE, top = box->min_y / TEXTURE_BLOCK_SIDE;
	const struct box_blocks blocks = {
		.left = left, .columns = box->max_x / TEXTURE_BLOCK_SIDE - left + 1,
		.top = top, .rows = box->max_y / TEXTURE_BLOCK_SIDE - top + 1,
	};

	if (blocks.columns > BOX_BLOCKS || blocks.rows > BOX_BLOCKS ||
	    blocks.columns * blocks.rows > BOX_BLOCKS)
		return false;
	return s->t->unorm8 ? lanes_box_cache_bytes(s, box, &blocks) :
			      lanes_box_cache_channels(s, box, &blocks);
}

uint32_t vagx_texture_lanes_box(const struct texture_lanes *s, const struct texture_bilinear *c,
				uint32_t lanes, bool *is_cached)
{
	struct texel_box box;
	const uint32_t here = lanes_box_find(s, c, lanes, &box);

	*is_cached = lanes_box_cache(s, &box);
	return here;
}
