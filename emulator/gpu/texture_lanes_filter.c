// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Nearest and bilinear filters of all lanes at once, with the results of texture_filter.c to the
 * last bit. First the texels are gathered lane by lane, into arrays over the lanes; then they
 * are converted and weighted in loops over the lanes, which compilers vectorise.
 */
#include "gpu/format.h"
#include "gpu/texture_lanes.h"

/* For each of the four texels of a bilinear filter: its bytes, or its channels */
struct texels {
	struct lanes bytes[4];
	struct lanes channel[4][4];
};

static inline struct agx_texel lanes_filter_texel_of(const struct texture_lanes *s,
						     const struct texture_bilinear *c,
						     unsigned int lane, unsigned int corner)
{
	return (struct agx_texel){
		.x = c->x.at[corner & 1][lane],
		.y = c->y.at[corner >> 1][lane],
		.layer = s->layer[lane],
		.level = c->level[lane],
	};
}

/* Whether a texel is needed. One whose weight is 0 is not read, as it may be unmapped. */
static bool lanes_filter_needs(const struct texture_lanes *s, const struct texture_bilinear *c,
			       unsigned int lane, unsigned int corner)
{
	return s->linear ? c->weight[corner][lane] != 0 : !corner;
}

/* Formats whose texels are fetched as bytes */

static bool lanes_filter_fetch_scattered(const struct texture_lanes *s,
					 const struct texture_bilinear *c, unsigned int lane,
					 struct texels *texels)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		const struct agx_texel at = lanes_filter_texel_of(s, c, lane, i);
		const uint32_t *bytes;

		texels->bytes[i].v[lane] = 0;
		if (!lanes_filter_needs(s, c, lane, i))
			continue;
		bytes = texture_bytes(s->t, &at);
		if (!bytes)
			return false;
		texels->bytes[i].v[lane] = *bytes;
	}
	return true;
}

/*
 * For each lane: the key and cache index of the first texel's block, and the number of each texel
 * in its block
 */
struct lane_blocks {
	uint64_t key[LANES];
	uint32_t index[LANES];
	uint32_t texel[4][LANES];
	/* not 0 if the texels are in more than one block */
	uint32_t straddles[LANES];
};

CLONES static void lanes_filter_find_blocks(const struct texture_lanes *s,
					    const struct texture_bilinear *c,
					    struct lane_blocks *blocks)
{
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const struct agx_texel first = lanes_filter_texel_of(s, c, i, 0);
		const uint32_t x = c->x.at[1][i], y = c->y.at[1][i];

		blocks->key[i] = texture_block_key(&first);
		blocks->index[i] = texture_cache_index(s->t, &first) % TEXTURE_BYTE_BLOCKS;
		blocks->texel[0][i] = texture_in_block(first.x, first.y);
		blocks->texel[1][i] = texture_in_block(x, first.y);
		blocks->texel[2][i] = texture_in_block(first.x, y);
		blocks->texel[3][i] = texture_in_block(x, y);
		blocks->straddles[i] = ((first.x ^ x) | (first.y ^ y)) / TEXTURE_BLOCK_SIDE;
	}
}

/*
 * Fetches the texels of a lane from one cached block. Return: false if they are not all in one
 * block that is cached; that is rare.
 */
static inline bool lanes_filter_fetch_together(const struct texture_lanes *s,
					       const struct lane_blocks *blocks, unsigned int lane,
					       struct texels *texels)
{
	const uint32_t index = blocks->index[lane];
	const struct texture_block *block = &s->t->cache->byte_block[index];
	const uint32_t *bytes = s->t->cache->bytes[index];
	unsigned int i;

	if (!texture_block_hit(s->t, block, blocks->key[lane]) || ~block->valid ||
	    blocks->straddles[lane])
		return false;
	for (i = 0; i < 4; i++)
		texels->bytes[i].v[lane] = bytes[blocks->texel[i][lane]];
	return true;
}

/* Prefetches all blocks that are not cached, then reads them: the misses overlap */
static void lanes_filter_prefetch_blocks(const struct texture_lanes *s,
					 const struct texture_bilinear *c, uint32_t lanes)
{
	struct texture_prefetch prefetch[2 * LANES];
	unsigned int count = 0, i;
	uint32_t left;

	for (left = lanes; left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);

		for (i = 0; i < 4; i += 3) {
			const struct agx_texel at = lanes_filter_texel_of(s, c, lane, i);

			if (!lanes_filter_needs(s, c, lane, i))
				continue;
			count += vagx_texture_prefetch(s->t, &at, &prefetch[count]);
		}
	}
	for (i = 0; i < count; i++)
		vagx_texture_read_prefetched(s->t, &prefetch[i]);
}

/* Fetches texels as bytes. Return: a mask of the lanes whose texels cannot be read. */
static uint32_t lanes_filter_fetch_bytes(const struct texture_lanes *s,
					 const struct texture_bilinear *c, uint32_t lanes,
					 struct texels *texels)
{
	uint32_t left, apart = 0, missing = 0;
	struct lane_blocks blocks;

	lanes_filter_find_blocks(s, c, &blocks);
	for (left = lanes; left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);

		if (!lanes_filter_fetch_together(s, &blocks, lane, texels))
			apart |= 1u << lane;
	}
	lanes_filter_prefetch_blocks(s, c, apart);
	for (left = apart; left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);

		if (!lanes_filter_fetch_scattered(s, c, lane, texels))
			missing |= 1u << lane;
	}
	return missing;
}

/* Converts one byte of each lane's texel; without the table where it is linear */
static inline void lanes_filter_unorm8(const struct texture *t, unsigned int channel,
				       const struct lanes *bytes, float *number)
{
	const float *table = t->unorm8[channel];
	unsigned int i;

	if (table == vagx_format_unorm8_table(false)) {
		for (i = 0; i < LANES; i++)
			number[i] = vagx_image_unorm8_to_float(bytes->v[i] >> 8 * channel & 0xff);
	} else {
		for (i = 0; i < LANES; i++)
			number[i] = table[bytes->v[i] >> 8 * channel & 0xff];
	}
}

CLONES static void lanes_filter_bytes(const struct texture_lanes *s,
				      const struct texture_bilinear *c, const struct texels *texels,
				      struct lanes channel[4])
{
	float number[LANES], sum[LANES];
	unsigned int i, corner, n;

	for (n = 0; n < 4; n++) {
		lanes_filter_unorm8(s->t, n, &texels->bytes[0], number);
		memcpy(sum, number, sizeof(sum));
		for (i = 0; i < LANES && s->linear; i++)
			sum[i] = c->weight[0][i] * number[i];
		for (corner = 1; corner < 4 && s->linear; corner++) {
			lanes_filter_unorm8(s->t, n, &texels->bytes[corner], number);
			for (i = 0; i < LANES; i++)
				sum[i] += c->weight[corner][i] * number[i];
		}
		memcpy(channel[n].v, sum, sizeof(sum));
	}
}

/* All other formats: texels are fetched as channels */

static bool lanes_filter_fetch_texels_of(const struct texture_lanes *s,
					 const struct texture_bilinear *c, unsigned int lane,
					 struct texels *texels)
{
	unsigned int i, n;

	for (i = 0; i < 4; i++) {
		const struct agx_texel at = lanes_filter_texel_of(s, c, lane, i);
		const texel_bits *value;

		if (!lanes_filter_needs(s, c, lane, i))
			continue;
		value = texture_values(s->t, &at);
		if (!value)
			return false;
		for (n = 0; n < 4; n++)
			texels->channel[i][n].v[lane] = (*value)[n];
	}
	return true;
}

/* Fetches texels as channels. Return: a mask of the lanes whose texels cannot be read. */
static uint32_t lanes_filter_fetch_texels(const struct texture_lanes *s,
					  const struct texture_bilinear *c, uint32_t lanes,
					  struct texels *texels)
{
	uint32_t left, missing = 0;

	for (left = lanes; left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);

		if (!lanes_filter_fetch_texels_of(s, c, lane, texels))
			missing |= 1u << lane;
	}
	return missing;
}

CLONES static void lanes_filter_texels(const struct texture_lanes *s,
				       const struct texture_bilinear *c,
				       const struct texels *texels, struct lanes channel[4])
{
	unsigned int i, corner, n;

	for (n = 0; n < 4; n++) {
		float sum[LANES] = { 0 };

		if (!s->linear) {
			channel[n] = texels->channel[0][n];
			continue;
		}
		for (corner = 0; corner < 4; corner++) {
			for (i = 0; i < LANES; i++) {
				const float part = c->weight[corner][i];
				const uint32_t bits = texels->channel[corner][n].v[i];

				/* a texel that was not read holds anything, NaN included */
				sum[i] += part * bits_float(part != 0 ? bits : 0);
			}
		}
		memcpy(channel[n].v, sum, sizeof(sum));
	}
}

void vagx_texture_lanes_filter(struct texture_lanes *s, const struct texture_bilinear *bilinear,
			       uint32_t lanes, struct lanes channel[4])
{
	struct texels texels;

	if (s->t->unorm8) {
		s->fallback |= lanes_filter_fetch_bytes(s, bilinear, lanes, &texels);
		lanes_filter_bytes(s, bilinear, &texels, channel);
	} else {
		s->fallback |= lanes_filter_fetch_texels(s, bilinear, lanes, &texels);
		lanes_filter_texels(s, bilinear, &texels, channel);
	}
}
