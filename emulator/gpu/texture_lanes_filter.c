// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Filters of all lanes at once: those of texture_filter.c, to the last bit. First each
 * lane's texels are put side by side, one after the other; what is made of them is worked
 * out in loops over the lanes.
 */
#include "gpu/format.h"
#include "gpu/texture_lanes.h"

/* For each of the four texels of a linear filter: its bytes, or its channels */
struct texels {
	struct lanes bytes[4];
	struct lanes channel[4][4];
};

static inline struct agx_texel lanes_filter_corner_of(const struct texture_lanes *s,
						      const struct texture_corners *c,
						      unsigned int lane, unsigned int corner)
{
	return (struct agx_texel){
		.x = c->x.at[corner & 1][lane],
		.y = c->y.at[corner >> 1][lane],
		.layer = s->layer[lane],
		.level = c->level[lane],
	};
}

/* Without a weight a texel is not read: it may be in no memory */
static bool lanes_filter_needs(const struct texture_lanes *s, const struct texture_corners *c,
			       unsigned int lane, unsigned int corner)
{
	return s->linear ? c->part[corner][lane] != 0 : !corner;
}

/* Formats whose texels are fetched as bytes */

static bool lanes_filter_fetch_scattered(const struct texture_lanes *s,
					 const struct texture_corners *c, unsigned int lane,
					 struct texels *texels)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		const struct agx_texel at = lanes_filter_corner_of(s, c, lane, i);
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

/* For each lane: the cached block of the first texel, and the place of each texel in its block */
struct squares {
	uint64_t key[LANES];
	uint32_t place[LANES];
	uint32_t in[4][LANES];
	/* not all corners have the same one */
	uint32_t several[LANES];
};

CLONES static void lanes_filter_find_squares(const struct texture_lanes *s,
					     const struct texture_corners *c,
					     struct squares *squares)
{
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const struct agx_texel first = lanes_filter_corner_of(s, c, i, 0);
		const uint32_t x = c->x.at[1][i], y = c->y.at[1][i];

		squares->key[i] = texture_square_key(&first);
		squares->place[i] = texture_place(s->t, &first) % TEXTURE_BYTE_SQUARES;
		squares->in[0][i] = texture_in_square(first.x, first.y);
		squares->in[1][i] = texture_in_square(x, first.y);
		squares->in[2][i] = texture_in_square(first.x, y);
		squares->in[3][i] = texture_in_square(x, y);
		squares->several[i] = ((first.x ^ x) | (first.y ^ y)) / TEXTURE_SIDE;
	}
}

/*
 * Fetches the texels of a lane from one cached block. Return: false if they are not all in one
 * block that is cached; that is rare.
 */
static inline bool lanes_filter_fetch_together(const struct texture_lanes *s,
					       const struct squares *squares, unsigned int lane,
					       struct texels *texels)
{
	const uint32_t place = squares->place[lane];
	const struct texture_square *square = &s->t->cache->byte_square[place];
	const uint32_t *bytes = s->t->cache->bytes[place];
	unsigned int i;

	if (!texture_is_square(s->t, square, squares->key[lane]) || ~square->there ||
	    squares->several[lane])
		return false;
	for (i = 0; i < 4; i++)
		texels->bytes[i].v[lane] = bytes[squares->in[i][lane]];
	return true;
}

/* Prefetches all blocks that are not cached, then reads them: the misses overlap */
static void lanes_filter_read_squares(const struct texture_lanes *s,
				      const struct texture_corners *c, uint32_t lanes)
{
	struct texture_expected expected[2 * LANES];
	unsigned int count = 0, i;
	uint32_t left;

	for (left = lanes; left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);

		for (i = 0; i < 4; i += 3) {
			const struct agx_texel at = lanes_filter_corner_of(s, c, lane, i);

			if (!lanes_filter_needs(s, c, lane, i))
				continue;
			count += vagx_texture_expect(s->t, &at, &expected[count]);
		}
	}
	for (i = 0; i < count; i++)
		vagx_texture_read_expected(s->t, &expected[i]);
}

/* Fetches texels as bytes. Return: a mask of the lanes whose texels cannot be read. */
static uint32_t lanes_filter_fetch_bytes(const struct texture_lanes *s,
					 const struct texture_corners *c, uint32_t lanes,
					 struct texels *texels)
{
	uint32_t left, apart = 0, missing = 0;
	struct squares squares;

	lanes_filter_find_squares(s, c, &squares);
	for (left = lanes; left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);

		if (!lanes_filter_fetch_together(s, &squares, lane, texels))
			apart |= 1u << lane;
	}
	lanes_filter_read_squares(s, c, apart);
	for (left = apart; left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);

		if (!lanes_filter_fetch_scattered(s, c, lane, texels))
			missing |= 1u << lane;
	}
	return missing;
}

static inline void lanes_filter_byte_numbers(const struct texture *t, unsigned int channel,
					     const struct lanes *bytes, float *number)
{
	const float *table = t->numbers[channel];
	unsigned int i;

	if (table == vagx_format_byte_numbers(false)) {
		for (i = 0; i < LANES; i++)
			number[i] = vagx_image_byte_number(bytes->v[i] >> 8 * channel & 0xff);
	} else {
		for (i = 0; i < LANES; i++)
			number[i] = table[bytes->v[i] >> 8 * channel & 0xff];
	}
}

CLONES static void lanes_filter_bytes(const struct texture_lanes *s,
				      const struct texture_corners *c, const struct texels *texels,
				      struct lanes channel[4])
{
	float number[LANES], sum[LANES];
	unsigned int i, corner, n;

	for (n = 0; n < 4; n++) {
		lanes_filter_byte_numbers(s->t, n, &texels->bytes[0], number);
		memcpy(sum, number, sizeof(sum));
		for (i = 0; i < LANES && s->linear; i++)
			sum[i] = c->part[0][i] * number[i];
		for (corner = 1; corner < 4 && s->linear; corner++) {
			lanes_filter_byte_numbers(s->t, n, &texels->bytes[corner], number);
			for (i = 0; i < LANES; i++)
				sum[i] += c->part[corner][i] * number[i];
		}
		memcpy(channel[n].v, sum, sizeof(sum));
	}
}

/* All other formats: texels are fetched as channels */

static bool lanes_filter_fetch_texels_of(const struct texture_lanes *s,
					 const struct texture_corners *c, unsigned int lane,
					 struct texels *texels)
{
	unsigned int i, n;

	for (i = 0; i < 4; i++) {
		const struct agx_texel at = lanes_filter_corner_of(s, c, lane, i);
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
					  const struct texture_corners *c, uint32_t lanes,
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
				       const struct texture_corners *c, const struct texels *texels,
				       struct lanes channel[4])
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
				const float part = c->part[corner][i];
				const uint32_t bits = texels->channel[corner][n].v[i];

				/* what has not been read is nothing */
				sum[i] += part * bits_float(part != 0 ? bits : 0);
			}
		}
		memcpy(channel[n].v, sum, sizeof(sum));
	}
}

void vagx_texture_lanes_filter(struct texture_lanes *s, const struct texture_corners *corners,
			       uint32_t lanes, struct lanes channel[4])
{
	struct texels texels;

	if (s->t->numbers) {
		s->others |= lanes_filter_fetch_bytes(s, corners, lanes, &texels);
		lanes_filter_bytes(s, corners, &texels, channel);
	} else {
		s->others |= lanes_filter_fetch_texels(s, corners, lanes, &texels);
		lanes_filter_texels(s, corners, &texels, channel);
	}
}
