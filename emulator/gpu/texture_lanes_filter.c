// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Nearest and bilinear filters of all lanes at once, with the results of texture_filter.c to the
 * last bit. First the texels are gathered into arrays over the lanes, where they can be from a few
 * blocks that all lanes share, else lane by lane; then they are converted and weighted in loops
 * over the lanes, which compilers vectorise.
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
		blocks->index[i] = texture_cache_index(s->t, &first);
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

/* Fetches texels of lanes that are anywhere. Return: a mask of those that cannot be read. */
static uint32_t lanes_filter_fetch_apart(const struct texture_lanes *s,
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

/* Copies texels of lanes out of the cache */
static void lanes_filter_copy_bytes(const struct texture_lanes *s,
				    const struct texture_places *places, uint32_t lanes,
				    struct texels *texels)
{
	const uint32_t *bytes = s->t->cache->bytes[0];
	const unsigned int corners = s->linear ? 4 : 1;
	unsigned int corner, i;

	for (corner = 0; corner < corners; corner++) {
		const uint32_t *at = places->at[corner];
		uint32_t *to = texels->bytes[corner].v;
		uint32_t left = lanes;

		for (i = 0; lanes == ALL_LANES && i < LANES; i++)
			to[i] = bytes[at[i]];
		for (; lanes != ALL_LANES && left; left &= left - 1) {
			i = __builtin_ctz(left);
			to[i] = bytes[at[i]];
		}
	}
}

/* Copies four lanes' channels, which are texels one after the other, to lanes of each channel */
static inline void lanes_filter_copy_four(const texel_bits *from, const uint32_t *at,
					  unsigned int lane, struct lanes channel[4])
{
	const texel_bits a = from[at[0]], b = from[at[1]], c = from[at[2]], d = from[at[3]];
	const texel_bits ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
	const texel_bits cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
	const texel_bits ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
	const texel_bits cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
	const texel_bits turned[4] = {
		__builtin_shufflevector(ab, cd, 0, 1, 4, 5),
		__builtin_shufflevector(ab, cd, 2, 3, 6, 7),
		__builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
		__builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7),
	};
	unsigned int n;

	for (n = 0; n < 4; n++)
		memcpy(&channel[n].v[lane], &turned[n], sizeof(turned[n]));
}

static void lanes_filter_copy_channels(const struct texture_lanes *s,
				       const struct texture_places *places, uint32_t lanes,
				       struct texels *texels)
{
	const texel_bits *from = s->t->cache->texel[0];
	const unsigned int corners = s->linear ? 4 : 1;
	unsigned int corner, i, n;

	for (corner = 0; corner < corners; corner++) {
		const uint32_t *at = places->at[corner];
		struct lanes *channel = texels->channel[corner];
		uint32_t left = lanes;

		for (i = 0; lanes == ALL_LANES && i < LANES; i += 4)
			lanes_filter_copy_four(from, at + i, i, channel);
		for (; lanes != ALL_LANES && left; left &= left - 1) {
			i = __builtin_ctz(left);
			for (n = 0; n < 4; n++)
				channel[n].v[i] = from[at[i]][n];
		}
	}
}

/* Fetches texels of lanes that are near each other. Return: a mask of the other ones. */
static uint32_t lanes_filter_fetch_boxes(const struct texture_lanes *s,
					 const struct texture_bilinear *c, uint32_t lanes,
					 struct texels *texels)
{
	/* The first box may be copied to all lanes: others are overwritten. */
	uint32_t left = lanes, apart = 0, to = ALL_LANES;
	struct texture_places places;

	vagx_texture_lanes_places(s, c, &places);
	while (left) {
		bool is_cached;
		const uint32_t here = vagx_texture_lanes_box(s, c, left, &is_cached);

		left &= ~here;
		if (!is_cached) {
			apart |= here;
			continue;
		}
		/* Before the next box may take the place of this one's blocks */
		if (s->t->unorm8)
			lanes_filter_copy_bytes(s, &places, to, texels);
		else
			lanes_filter_copy_channels(s, &places, to, texels);
		to = left;
	}
	return apart;
}

/* Fetches texels as bytes. Return: a mask of the lanes whose texels cannot be read. */
static uint32_t lanes_filter_fetch_bytes(const struct texture_lanes *s,
					 const struct texture_bilinear *c, uint32_t lanes,
					 struct texels *texels)
{
	const uint32_t apart = lanes_filter_fetch_boxes(s, c, lanes, texels);

	return apart ? lanes_filter_fetch_apart(s, c, apart, texels) : 0;
}

/* Converts one byte of each lane's texel; without the table where it is linear */
static inline void lanes_filter_unorm8(const struct texture *t, unsigned int channel,
				       const struct lanes *bytes, float *number)
{
	const float *table = t->unorm8[channel];
	unsigned int i;

	if (table == vagx_format_unorm8_table(false)) {
		for (i = 0; i < LANES; i++)
			number[i] = vagx_format_unorm8_to_float(bytes->v[i] >> 8 * channel & 0xff);
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
	uint32_t left = lanes_filter_fetch_boxes(s, c, lanes, texels), missing = 0;

	for (; left; left &= left - 1) {
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
