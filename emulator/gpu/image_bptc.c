// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Decodes texels of BC6H and BC7 blocks (Khronos Data Format Specification, "BPTC Compressed
 * Texture Image Formats", whose names are used). The texels of a block belong to 1 to 3 subsets,
 * by a table; each subset has two endpoints, between which an index of each texel interpolates.
 * Functions have no state; each call decodes what its texel needs.
 */
#include <string.h>

#include "core_float.h"
#include "gpu/image_block.h"

#define TEXELS	16

/* Two subsets: masks of the texels of the second one, the first texel lowest */
static const uint16_t bptc_partitions_2[64] = {
	0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80,
	0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8, 0xff00, 0xfff0, 0xf000,
	0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce,
	0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c,
	0xaaaa, 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696, 0xa55a,
	0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660,
	0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c, 0x39c6, 0x639c,
	0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22,
};

/* Three subsets: masks of the texels of the second and of the third one */
static const uint16_t bptc_partitions_3[64][2] = {
	{ 0x08cc, 0xf600 }, { 0x8cc8, 0x7300 }, { 0xcc80, 0x3310 }, { 0xec00, 0x00ce },
	{ 0x3300, 0xcc00 }, { 0x00cc, 0xcc00 }, { 0xff00, 0x00cc }, { 0xcccc, 0x3300 },
	{ 0x0f00, 0xf000 }, { 0x0ff0, 0xf000 }, { 0x00f0, 0xff00 }, { 0x4444, 0x8888 },
	{ 0x6666, 0x8888 }, { 0x2222, 0xcccc }, { 0x136c, 0xec80 }, { 0x008c, 0x7310 },
	{ 0x36c8, 0xc800 }, { 0x08ce, 0x3100 }, { 0x3330, 0xccc0 }, { 0xf000, 0x0ccc },
	{ 0x00ee, 0xee00 }, { 0x8888, 0x7700 }, { 0x22c0, 0xcc00 }, { 0x4430, 0x3300 },
	{ 0x0c22, 0x00cc }, { 0x0344, 0xfc88 }, { 0x6996, 0x0660 }, { 0x9960, 0x6600 },
	{ 0x0330, 0xc88c }, { 0x0066, 0xf900 }, { 0xc22c, 0x0cc0 }, { 0x8c00, 0x7310 },
	{ 0x1300, 0xec80 }, { 0xc400, 0x08ce }, { 0x004c, 0xec80 }, { 0x2222, 0x4444 },
	{ 0x00f0, 0x0f00 }, { 0x2492, 0x4924 }, { 0x2942, 0x4294 }, { 0xc30c, 0x0c30 },
	{ 0xc03c, 0x03c0 }, { 0x00aa, 0xff00 }, { 0xaa00, 0x5500 }, { 0x3030, 0xcccc },
	{ 0xc0c0, 0x0c0c }, { 0x9090, 0x6666 }, { 0xa00a, 0x0ff0 }, { 0xaaa0, 0x5550 },
	{ 0x0aaa, 0xf000 }, { 0xe0e0, 0x0e0e }, { 0x7070, 0x8888 }, { 0x6660, 0x9990 },
	{ 0x0ee0, 0xe00e }, { 0x0770, 0x8888 }, { 0x0666, 0xf000 }, { 0x6600, 0x9900 },
	{ 0x0066, 0xff00 }, { 0x0cc0, 0xc00c }, { 0x0330, 0xcccc }, { 0x6000, 0x9000 },
	{ 0x8080, 0x0808 }, { 0x1010, 0xeeee }, { 0x000a, 0xfff0 }, { 0x08ce, 0x7310 },
};

/* Anchors: the texel of the second of two subsets whose index has one bit less, which is 0 */
static const uint8_t bptc_anchors_2[64] = {
	15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
	15, 2, 8, 2, 2, 8, 8, 15, 2, 8, 2, 2, 8, 8, 2, 2,
	15, 15, 6, 8, 2, 8, 15, 15, 2, 8, 2, 2, 2, 15, 15, 6,
	6, 2, 6, 8, 15, 15, 2, 2, 15, 15, 15, 15, 15, 2, 2, 15,
};

static const uint8_t bptc_anchors_3[64][2] = {
	{ 3, 15 }, { 3, 8 }, { 15, 8 }, { 15, 3 }, { 8, 15 }, { 3, 15 }, { 15, 3 }, { 15, 8 },
	{ 8, 15 }, { 8, 15 }, { 6, 15 }, { 6, 15 }, { 6, 15 }, { 5, 15 }, { 3, 15 }, { 3, 8 },
	{ 3, 15 }, { 3, 8 }, { 8, 15 }, { 15, 3 }, { 3, 15 }, { 3, 8 }, { 6, 15 }, { 10, 8 },
	{ 5, 3 }, { 8, 15 }, { 8, 6 }, { 6, 10 }, { 8, 15 }, { 5, 15 }, { 15, 10 }, { 15, 8 },
	{ 8, 15 }, { 15, 3 }, { 3, 15 }, { 5, 10 }, { 6, 10 }, { 10, 8 }, { 8, 9 }, { 15, 10 },
	{ 15, 6 }, { 3, 15 }, { 15, 8 }, { 5, 15 }, { 15, 3 }, { 15, 6 }, { 15, 6 }, { 15, 8 },
	{ 3, 15 }, { 15, 3 }, { 5, 15 }, { 5, 15 }, { 5, 15 }, { 8, 15 }, { 5, 15 }, { 10, 15 },
	{ 5, 15 }, { 10, 15 }, { 8, 15 }, { 13, 15 }, { 15, 3 }, { 12, 15 }, { 3, 15 }, { 3, 8 },
};

/* Interpolation weights of the second endpoint, in 64ths, by the bits of an index */
static const uint8_t bptc_weights[5][16] = {
	[2] = { 0, 21, 43, 64 },
	[3] = { 0, 9, 18, 27, 37, 46, 55, 64 },
	[4] = { 0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64 },
};

/* @count bits of a block, from bit @at on, counted from the lowest of the first byte */
static uint32_t bptc_bits(const uint8_t *b, unsigned int at, unsigned int count)
{
	uint32_t value = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		value |= (uint32_t)(b[(at + i) / 8] >> (at + i) % 8 & 1) << i;
	return value;
}

static uint32_t bptc_next_bits(const uint8_t *b, unsigned int *at, unsigned int count)
{
	*at += count;
	return bptc_bits(b, *at - count, count);
}

static unsigned int bptc_subset_of(unsigned int subsets, unsigned int partition, unsigned int texel)
{
	if (subsets == 3)
		return bptc_partitions_3[partition][0] >> texel & 1 ? 1 :
		       bptc_partitions_3[partition][1] >> texel & 1 ? 2 : 0;
	return subsets == 2 ? bptc_partitions_2[partition] >> texel & 1 : 0;
}

static bool bptc_is_anchor(unsigned int subsets, unsigned int partition, unsigned int texel)
{
	if (!texel)
		return true;
	if (subsets == 3)
		return bptc_anchors_3[partition][0] == texel ||
		       bptc_anchors_3[partition][1] == texel;
	return subsets == 2 && bptc_anchors_2[partition] == texel;
}

/* The weight of a texel, of 64; indices of all texels are stored from bit @at on */
static int bptc_weight(const uint8_t *b, unsigned int at, unsigned int bits, unsigned int subsets,
		       unsigned int partition, unsigned int texel)
{
	unsigned int i;

	for (i = 0; i < texel; i++)
		at += bits - bptc_is_anchor(subsets, partition, i);
	return bptc_weights[bits][bptc_bits(b, at, bits - bptc_is_anchor(subsets, partition,
									 texel))];
}

static int bptc_interpolate(int first, int second, int weight)
{
	return ((64 - weight) * first + weight * second + 32) >> 6;
}

/* BC7 */

static const struct bc7_mode {
	uint8_t subsets, partition_bits, rotation_bits, select_bits, colour_bits, alpha_bits;
	/* P-bits, the lowest one of all channels: for each endpoint, or for both of a subset */
	uint8_t endpoint_p_bits, shared_p_bits;
	/* bits of indices, and of the second ones if there are such */
	uint8_t index_bits[2];
} bptc_bc7_modes[8] = {
	{ 3, 4, 0, 0, 4, 0, 1, 0, { 3, 0 } },
	{ 2, 6, 0, 0, 6, 0, 0, 1, { 3, 0 } },
	{ 3, 6, 0, 0, 5, 0, 0, 0, { 2, 0 } },
	{ 2, 6, 0, 0, 7, 0, 1, 0, { 2, 0 } },
	{ 1, 0, 2, 1, 5, 6, 0, 0, { 2, 3 } },
	{ 1, 0, 2, 0, 7, 8, 0, 0, { 2, 2 } },
	{ 1, 0, 0, 0, 7, 7, 1, 0, { 4, 0 } },
	{ 2, 6, 0, 0, 5, 5, 1, 0, { 2, 0 } },
};

/* A block's fields, but for the indices */
struct bc7 {
	const struct bc7_mode *mode;
	unsigned int partition, rotation, select;
	int endpoints[6][4];
	/* the first bit of the indices */
	unsigned int at;
};

/* Expands a value to 8 bits by repeating its highest ones */
static int bptc_bc7_expand(int value, unsigned int bits)
{
	value <<= 8 - bits;
	return value | value >> bits;
}

/* Reads the endpoints, and expands them to 8 bits */
static void bptc_bc7_endpoints(struct bc7 *c, const uint8_t *b)
{
	const struct bc7_mode *m = c->mode;
	unsigned int endpoints = 2 * m->subsets, common = m->endpoint_p_bits || m->shared_p_bits;
	unsigned int i, e, bits, shared = 0;

	for (i = 0; i < 4; i++)
		for (e = 0; e < endpoints; e++)
			c->endpoints[e][i] = bptc_next_bits(b, &c->at, i < 3 ? m->colour_bits :
								     m->alpha_bits);
	for (e = 0; e < endpoints; e++) {
		if (m->endpoint_p_bits || (m->shared_p_bits && e % 2 == 0))
			shared = bptc_next_bits(b, &c->at, 1);
		for (i = 0; i < 4; i++) {
			bits = (i < 3 ? m->colour_bits : m->alpha_bits) + common;
			if (common)
				c->endpoints[e][i] = c->endpoints[e][i] << 1 | shared;
			c->endpoints[e][i] = bptc_bc7_expand(c->endpoints[e][i], bits);
			if (i == 3 && !m->alpha_bits)
				c->endpoints[e][i] = 255;
		}
	}
}

/* Reads all fields but the indices. Return: false if the mode is reserved. */
static bool bptc_bc7_read(struct bc7 *c, const uint8_t *b)
{
	if (!b[0])
		return false;
	c->mode = &bptc_bc7_modes[__builtin_ctz(b[0])];
	c->at = __builtin_ctz(b[0]) + 1;
	c->partition = bptc_next_bits(b, &c->at, c->mode->partition_bits);
	c->rotation = bptc_next_bits(b, &c->at, c->mode->rotation_bits);
	c->select = bptc_next_bits(b, &c->at, c->mode->select_bits);
	bptc_bc7_endpoints(c, b);
	return true;
}

void vagx_block_bc7(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
		    float value[4])
{
	unsigned int texel = 4 * y + x, i, subset;
	int weight[2], texels[4], swap;
	const struct bc7_mode *m;
	struct bc7 c = { .mode = NULL };

	memset(value, 0, 4 * sizeof(*value));
	if (!bptc_bc7_read(&c, b))
		return;
	m = c.mode;
	weight[0] = weight[1] = bptc_weight(b, c.at, m->index_bits[0], m->subsets, c.partition,
					    texel);
	if (m->index_bits[1])
		weight[1] = bptc_weight(b, c.at + TEXELS * m->index_bits[0] - 1,
					m->index_bits[1], 1, 0, texel);
	subset = bptc_subset_of(m->subsets, c.partition, texel);
	for (i = 0; i < 4; i++)
		texels[i] = bptc_interpolate(c.endpoints[2 * subset][i],
					     c.endpoints[2 * subset + 1][i],
					     weight[(i == 3) != c.select]);
	if (c.rotation) {
		swap = texels[3];
		texels[3] = texels[c.rotation - 1];
		texels[c.rotation - 1] = swap;
	}
	for (i = 0; i < 4; i++)
		value[i] = texels[i] / 255.0f;
}

/* BC6H */

/* Consecutive bits of a block: @count bits of an endpoint's channel, from bit @first on */
struct bc6h_field {
	/* channel 0 to 2; endpoint 0 to 3, which the specification calls w, x, y, z */
	uint8_t channel, end;
	uint8_t first, count;
	/* the highest bit comes first */
	bool reversed;
};

#define W(channel, first, count)	{ channel, 0, first, count, false }
#define X(channel, count)		{ channel, 1, 0, count, false }
#define Y(channel, first, count)	{ channel, 2, first, count, false }
#define Z(channel, first, count)	{ channel, 3, first, count, false }
#define BACK(channel, first, count)	{ channel, 0, first, count, true }
/* All channels of the first endpoint */
#define FIRST(count)	W(0, 0, count), W(1, 0, count), W(2, 0, count)

#define BC6H_FIELDS	25

static const struct bc6h_mode {
	/* the bits that the block begins with */
	uint8_t code, code_bits;
	uint8_t subsets;
	/* bits of the first endpoint, and of the others for each channel */
	uint8_t endpoint_bits, delta_bits[3];
	/* the other endpoints are differences to the first one */
	bool transformed;
	struct bc6h_field fields[BC6H_FIELDS];
} bptc_bc6h_modes[] = {
	{ 0, 2, 2, 10, { 5, 5, 5 }, true, {
		Y(1, 4, 1), Y(2, 4, 1), Z(2, 4, 1), FIRST(10), X(0, 5), Z(1, 4, 1), Y(1, 0, 4),
		X(1, 5), Z(2, 0, 1), Z(1, 0, 4), X(2, 5), Z(2, 1, 1), Y(2, 0, 4), Y(0, 0, 5),
		Z(2, 2, 1), Z(0, 0, 5), Z(2, 3, 1) } },
	{ 1, 2, 2, 7, { 6, 6, 6 }, true, {
		Y(1, 5, 1), Z(1, 4, 2), W(0, 0, 7), Z(2, 0, 2), Y(2, 4, 1), W(1, 0, 7),
		Y(2, 5, 1), Z(2, 2, 1), Y(1, 4, 1), W(2, 0, 7), Z(2, 3, 1), Z(2, 5, 1),
		Z(2, 4, 1), X(0, 6), Y(1, 0, 4), X(1, 6), Z(1, 0, 4), X(2, 6), Y(2, 0, 4),
		Y(0, 0, 6), Z(0, 0, 6) } },
	{ 2, 5, 2, 11, { 5, 4, 4 }, true, {
		FIRST(10), X(0, 5), W(0, 10, 1), Y(1, 0, 4), X(1, 4), W(1, 10, 1), Z(2, 0, 1),
		Z(1, 0, 4), X(2, 4), W(2, 10, 1), Z(2, 1, 1), Y(2, 0, 4), Y(0, 0, 5),
		Z(2, 2, 1), Z(0, 0, 5), Z(2, 3, 1) } },
	{ 6, 5, 2, 11, { 4, 5, 4 }, true, {
		FIRST(10), X(0, 4), W(0, 10, 1), Z(1, 4, 1), Y(1, 0, 4), X(1, 5), W(1, 10, 1),
		Z(1, 0, 4), X(2, 4), W(2, 10, 1), Z(2, 1, 1), Y(2, 0, 4), Y(0, 0, 4),
		Z(2, 0, 1), Z(2, 2, 1), Z(0, 0, 4), Y(1, 4, 1), Z(2, 3, 1) } },
	{ 10, 5, 2, 11, { 4, 4, 5 }, true, {
		FIRST(10), X(0, 4), W(0, 10, 1), Y(2, 4, 1), Y(1, 0, 4), X(1, 4), W(1, 10, 1),
		Z(2, 0, 1), Z(1, 0, 4), X(2, 5), W(2, 10, 1), Y(2, 0, 4), Y(0, 0, 4),
		Z(2, 1, 2), Z(0, 0, 4), Z(2, 4, 1), Z(2, 3, 1) } },
	{ 14, 5, 2, 9, { 5, 5, 5 }, true, {
		W(0, 0, 9), Y(2, 4, 1), W(1, 0, 9), Y(1, 4, 1), W(2, 0, 9), Z(2, 4, 1), X(0, 5),
		Z(1, 4, 1), Y(1, 0, 4), X(1, 5), Z(2, 0, 1), Z(1, 0, 4), X(2, 5), Z(2, 1, 1),
		Y(2, 0, 4), Y(0, 0, 5), Z(2, 2, 1), Z(0, 0, 5), Z(2, 3, 1) } },
	{ 18, 5, 2, 8, { 6, 5, 5 }, true, {
		W(0, 0, 8), Z(1, 4, 1), Y(2, 4, 1), W(1, 0, 8), Z(2, 2, 1), Y(1, 4, 1),
		W(2, 0, 8), Z(2, 3, 2), X(0, 6), Y(1, 0, 4), X(1, 5), Z(2, 0, 1), Z(1, 0, 4),
		X(2, 5), Z(2, 1, 1), Y(2, 0, 4), Y(0, 0, 6), Z(0, 0, 6) } },
	{ 22, 5, 2, 8, { 5, 6, 5 }, true, {
		W(0, 0, 8), Z(2, 0, 1), Y(2, 4, 1), W(1, 0, 8), Y(1, 5, 1), Y(1, 4, 1),
		W(2, 0, 8), Z(1, 5, 1), Z(2, 4, 1), X(0, 5), Z(1, 4, 1), Y(1, 0, 4), X(1, 6),
		Z(1, 0, 4), X(2, 5), Z(2, 1, 1), Y(2, 0, 4), Y(0, 0, 5), Z(2, 2, 1),
		Z(0, 0, 5), Z(2, 3, 1) } },
	{ 26, 5, 2, 8, { 5, 5, 6 }, true, {
		W(0, 0, 8), Z(2, 1, 1), Y(2, 4, 1), W(1, 0, 8), Y(2, 5, 1), Y(1, 4, 1),
		W(2, 0, 8), Z(2, 5, 1), Z(2, 4, 1), X(0, 5), Z(1, 4, 1), Y(1, 0, 4), X(1, 5),
		Z(2, 0, 1), Z(1, 0, 4), X(2, 6), Y(2, 0, 4), Y(0, 0, 5), Z(2, 2, 1),
		Z(0, 0, 5), Z(2, 3, 1) } },
	{ 30, 5, 2, 6, { 6, 6, 6 }, false, {
		W(0, 0, 6), Z(1, 4, 1), Z(2, 0, 2), Y(2, 4, 1), W(1, 0, 6), Y(1, 5, 1),
		Y(2, 5, 1), Z(2, 2, 1), Y(1, 4, 1), W(2, 0, 6), Z(1, 5, 1), Z(2, 3, 1),
		Z(2, 5, 1), Z(2, 4, 1), X(0, 6), Y(1, 0, 4), X(1, 6), Z(1, 0, 4), X(2, 6),
		Y(2, 0, 4), Y(0, 0, 6), Z(0, 0, 6) } },
	{ 3, 5, 1, 10, { 10, 10, 10 }, false, { FIRST(10), X(0, 10), X(1, 10), X(2, 10) } },
	{ 7, 5, 1, 11, { 9, 9, 9 }, true, {
		FIRST(10), X(0, 9), BACK(0, 10, 1), X(1, 9), BACK(1, 10, 1), X(2, 9),
		BACK(2, 10, 1) } },
	{ 11, 5, 1, 12, { 8, 8, 8 }, true, {
		FIRST(10), X(0, 8), BACK(0, 10, 2), X(1, 8), BACK(1, 10, 2), X(2, 8),
		BACK(2, 10, 2) } },
	{ 15, 5, 1, 16, { 4, 4, 4 }, true, {
		FIRST(10), X(0, 4), BACK(0, 10, 6), X(1, 4), BACK(1, 10, 6), X(2, 4),
		BACK(2, 10, 6) } },
};

static const struct bc6h_mode *bptc_bc6h_find_mode(const uint8_t *b)
{
	unsigned int i;

	for (i = 0; i < sizeof(bptc_bc6h_modes) / sizeof(bptc_bc6h_modes[0]); i++) {
		if (bptc_bits(b, 0, bptc_bc6h_modes[i].code_bits) == bptc_bc6h_modes[i].code)
			return &bptc_bc6h_modes[i];
	}
	return NULL;
}

static int bptc_bc6h_sign_extend(int value, unsigned int bits)
{
	return (int)((uint32_t)value << (32 - bits)) >> (32 - bits);
}

static void bptc_bc6h_read_field(const uint8_t *b, unsigned int *at, const struct bc6h_field *f,
				 int endpoints[4][3])
{
	int *value = &endpoints[f->end][f->channel];
	unsigned int i;

	for (i = 0; i < f->count; i++) {
		unsigned int bit = f->reversed ? f->first + f->count - 1 - i : f->first + i;

		*value |= (int)(bptc_next_bits(b, at, 1) << bit);
	}
}

/* Reads the endpoints; those that are transformed are added to the first one, and wrap */
static void bptc_bc6h_endpoints(const struct bc6h_mode *m, const uint8_t *b, unsigned int *at,
				bool is_signed, int endpoints[4][3])
{
	const int mask = (1 << m->endpoint_bits) - 1;
	unsigned int i, e;

	for (i = 0; i < BC6H_FIELDS && m->fields[i].count; i++)
		bptc_bc6h_read_field(b, at, &m->fields[i], endpoints);
	for (i = 0; i < 3; i++) {
		for (e = 1; e < 2u * m->subsets; e++) {
			if (m->transformed)
				endpoints[e][i] = (bptc_bc6h_sign_extend(endpoints[e][i],
									 m->delta_bits[i]) +
						   endpoints[0][i]) & mask;
			if (is_signed)
				endpoints[e][i] = bptc_bc6h_sign_extend(endpoints[e][i],
									m->endpoint_bits);
		}
		if (is_signed)
			endpoints[0][i] = bptc_bc6h_sign_extend(endpoints[0][i], m->endpoint_bits);
	}
}

/* Unquantizes an endpoint to 16 bits, such that the largest value stays the largest */
static int bptc_bc6h_unquantize(int value, unsigned int bits, bool is_signed)
{
	int max = (1 << (bits - is_signed)) - 1, size = value < 0 ? -value : value;

	if (bits >= 15u + is_signed)
		return value;
	if (!size)
		return 0;
	if (is_signed) {
		size = size >= max ? 0x7fff : ((size << 15) + 0x4000) >> (bits - 1);
		return value < 0 ? -size : size;
	}
	return size == max ? 0xffff : ((size << 16) + 0x8000) >> bits;
}

/* Scales an interpolated value to the bits of a finite 16-bit float */
static float bptc_bc6h_finish(int value, bool is_signed)
{
	if (!is_signed)
		return float_from_half(value * 31 >> 6);
	return float_from_half(value < 0 ? (-value * 31 >> 5) | 0x8000 : value * 31 >> 5);
}

static void bptc_bc6h(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
		      float value[4])
{
	const struct bc6h_mode *m = bptc_bc6h_find_mode(b);
	unsigned int texel = 4 * y + x, partition = 0, subset, at, i;
	int endpoints[4][3] = { { 0 } }, weight;

	memset(value, 0, 3 * sizeof(*value));
	value[3] = 1;
	if (!m)
		return;
	at = m->code_bits;
	bptc_bc6h_endpoints(m, b, &at, is_signed, endpoints);
	if (m->subsets == 2)
		partition = bptc_next_bits(b, &at, 5);
	weight = bptc_weight(b, at, m->subsets == 2 ? 3 : 4, m->subsets, partition, texel);
	subset = bptc_subset_of(m->subsets, partition, texel);
	for (i = 0; i < 3; i++)
		value[i] = bptc_bc6h_finish(
			bptc_interpolate(bptc_bc6h_unquantize(endpoints[2 * subset][i],
							      m->endpoint_bits, is_signed),
					 bptc_bc6h_unquantize(endpoints[2 * subset + 1][i],
							      m->endpoint_bits, is_signed),
					 weight),
			is_signed);
}

void vagx_block_bc6h_signed(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
			    float value[4])
{
	bptc_bc6h(b, x, y, true, value);
}

void vagx_block_bc6h_unsigned(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
			      float value[4])
{
	bptc_bc6h(b, x, y, false, value);
}
