// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * ASTC, two-dimensional blocks. (Khronos Data Format Specification, "ASTC")
 */
#include <string.h>

#include "agx_float.h"
#include "gpu/image_astc_hdr.h"
#include "gpu/image_block.h"

#define ASTC_MOST_WEIGHTS	64
#define ASTC_MOST_COLOURS	18
#define ASTC_MOST_PARTS		4
#define ASTC_BLOCK_BITS		128

/* Bits are counted from the first byte's lowest */
static uint32_t astc_bits(const uint8_t *b, unsigned int at, unsigned int count)
{
	uint32_t value = 0;
	unsigned int i;

	for (i = 0; i < count && at + i < ASTC_BLOCK_BITS; i++)
		value |= (uint32_t)(b[(at + i) / 8] >> (at + i) % 8 & 1) << i;
	return value;
}

/* Sequences of integers: bits, and above them a trit or a quint of each number */

enum { PLAIN, TRITS, QUINTS };

struct astc_range {
	uint8_t bits, kind;
};

/* 2, 3, 4, 5, 6, 8, 10, 12, 16 ... 256 levels */
static const struct astc_range astc_ranges[] = {
	{ 1, PLAIN }, { 0, TRITS }, { 2, PLAIN }, { 0, QUINTS }, { 1, TRITS }, { 3, PLAIN },
	{ 1, QUINTS }, { 2, TRITS }, { 4, PLAIN }, { 2, QUINTS }, { 3, TRITS }, { 5, PLAIN },
	{ 3, QUINTS }, { 4, TRITS }, { 6, PLAIN }, { 4, QUINTS }, { 5, TRITS }, { 7, PLAIN },
	{ 5, QUINTS }, { 6, TRITS }, { 8, PLAIN },
};

#define ASTC_RANGES		((int)(sizeof(astc_ranges) / sizeof(astc_ranges[0])))
/* Colours have at least 6 levels */
#define ASTC_LEAST_COLOURS	4

/* How many numbers share their trits or quints, and which bits follow each of them */
static const struct astc_group {
	uint8_t numbers, bits;
	uint8_t after[5];
} astc_groups[] = {
	[PLAIN] = { 1, 0, { 0 } },
	[TRITS] = { 5, 8, { 2, 2, 1, 2, 1 } },
	[QUINTS] = { 3, 7, { 3, 2, 2 } },
};

static unsigned int astc_sequence_bits(const struct astc_range *r, unsigned int count)
{
	const struct astc_group *g = &astc_groups[r->kind];

	return count * r->bits + (count * g->bits + g->numbers - 1) / g->numbers;
}

static void astc_trits(uint32_t t, uint8_t *out)
{
	uint32_t c = t & 0x1f;

	if ((t >> 2 & 7) == 7) {
		c = (t >> 5 & 7) << 2 | (t & 3);
		out[3] = out[4] = 2;
	} else if ((t >> 5 & 3) == 3) {
		out[4] = 2;
		out[3] = t >> 7;
	} else {
		out[4] = t >> 7;
		out[3] = t >> 5 & 3;
	}
	if ((c & 3) == 3) {
		out[2] = 2;
		out[1] = c >> 4;
		out[0] = (c >> 3 & 1) << 1 | ((c >> 2 & 1) & ~(c >> 3));
	} else if ((c >> 2 & 3) == 3) {
		out[2] = out[1] = 2;
		out[0] = c & 3;
	} else {
		out[2] = c >> 4;
		out[1] = c >> 2 & 3;
		out[0] = (c >> 1 & 1) << 1 | ((c & 1) & ~(c >> 1));
	}
}

static void astc_quints(uint32_t q, uint8_t *out)
{
	uint32_t c = q & 0x1f;

	if ((q >> 1 & 3) == 3 && !(q >> 5 & 3)) {
		out[2] = (q & 1) << 2 | (q & 1 ? 0 : q >> 3 & 3);
		out[1] = out[0] = 4;
		return;
	}
	if ((q >> 1 & 3) == 3) {
		out[2] = 4;
		c = (q >> 3 & 3) << 3 | (~(q >> 5) & 3) << 1 | (q & 1);
	} else {
		out[2] = q >> 5 & 3;
	}
	if ((c & 7) == 5) {
		out[1] = 4;
		out[0] = c >> 3;
	} else {
		out[1] = c >> 3;
		out[0] = c & 7;
	}
}

/* A number's trit or quint, and its bits */
struct astc_number {
	uint8_t high, low;
};

/* What is behind the end of a sequence is 0 */
static uint32_t astc_take(const uint8_t *b, unsigned int *at, unsigned int end, unsigned int count)
{
	uint32_t value = astc_bits(b, *at, *at + count > end ? end - *at : count);

	*at = *at + count > end ? end : *at + count;
	return value;
}

static void astc_sequence(const uint8_t *b, unsigned int at, const struct astc_range *r,
			  unsigned int count, struct astc_number *out)
{
	const struct astc_group *g = &astc_groups[r->kind];
	unsigned int end = at + astc_sequence_bits(r, count), i, n, shift;
	uint8_t high[5] = { 0 }, low[5] = { 0 };
	uint32_t shared;

	for (i = 0; i < count; i += g->numbers) {
		shared = shift = 0;
		for (n = 0; n < g->numbers; n++) {
			low[n] = astc_take(b, &at, end, r->bits);
			shared |= astc_take(b, &at, end, g->after[n]) << shift;
			shift += g->after[n];
		}
		if (r->kind == TRITS)
			astc_trits(shared, high);
		else if (r->kind == QUINTS)
			astc_quints(shared, high);
		for (n = 0; n < g->numbers && i + n < count; n++)
			out[i + n] = (struct astc_number){ high[n], low[n] };
	}
}

/* The bits of @value, from the highest one, again and again */
static uint32_t astc_replicate(uint32_t value, unsigned int bits, unsigned int to)
{
	uint32_t result = 0;
	int at = (int)to;

	while (at > 0) {
		at -= (int)bits;
		result |= at >= 0 ? value << at : value >> -at;
	}
	return result;
}

/*
 * Numbers with trits and quints: what the trit or quint counts, and where each bit but
 * the lowest one goes to.
 */
struct astc_scale {
	uint16_t factor;
	uint16_t bit[5];
};

static const struct astc_scale astc_weight_scales[3][4] = {
	[TRITS] = {
		[1] = { 50, { 0 } }, [2] = { 23, { 0x45 } }, [3] = { 11, { 0x21, 0x42 } },
	},
	[QUINTS] = {
		[1] = { 28, { 0 } }, [2] = { 13, { 0x42 } },
	},
};

static const struct astc_scale astc_colour_scales[3][7] = {
	[TRITS] = {
		[1] = { 204, { 0 } },
		[2] = { 93, { 0x116 } },
		[3] = { 44, { 0x085, 0x10a } },
		[4] = { 22, { 0x041, 0x082, 0x104 } },
		[5] = { 11, { 0x020, 0x040, 0x081, 0x102 } },
		[6] = { 5, { 0x010, 0x020, 0x040, 0x080, 0x101 } },
	},
	[QUINTS] = {
		[1] = { 113, { 0 } },
		[2] = { 54, { 0x10c } },
		[3] = { 26, { 0x082, 0x105 } },
		[4] = { 13, { 0x040, 0x081, 0x102 } },
		[5] = { 6, { 0x020, 0x040, 0x080, 0x101 } },
	},
};

/* To a number with so many bits, of which the highest is the lowest one of before */
static uint32_t astc_scaled(const struct astc_scale *s, const struct astc_number *n,
			    unsigned int bits, unsigned int to)
{
	uint32_t invert = n->low & 1 ? (4u << (to - 1)) - 1 : 0, t = n->high * s->factor;
	unsigned int i;

	for (i = 1; i < bits; i++)
		t += n->low >> i & 1 ? s->bit[i - 1] : 0;
	t ^= invert;
	return (invert & 1u << (to - 1)) | t >> 2;
}

/* From 0 to 64 */
static int astc_weight(const struct astc_range *r, const struct astc_number *n)
{
	static const uint8_t trits[] = { 0, 32, 63 }, quints[] = { 0, 16, 32, 47, 63 };
	uint32_t weight;

	if (r->kind == PLAIN)
		weight = astc_replicate(n->low, r->bits, 6);
	else if (!r->bits)
		weight = r->kind == TRITS ? trits[n->high] : quints[n->high];
	else
		weight = astc_scaled(&astc_weight_scales[r->kind][r->bits], n, r->bits, 6);
	return (int)(weight > 32 ? weight + 1 : weight);
}

/* From 0 to 255 */
static int astc_colour(const struct astc_range *r, const struct astc_number *n)
{
	if (r->kind == PLAIN)
		return (int)astc_replicate(n->low, r->bits, 8);
	return (int)astc_scaled(&astc_colour_scales[r->kind][r->bits], n, r->bits, 8);
}

/* Blocks */

struct astc_block {
	/* of the block in texels, and of the grid of weights */
	unsigned int width, height, grid_w, grid_h;
	const struct astc_range *weights;
	unsigned int planes, weight_bits;
	/* the channel that has the second plane */
	unsigned int second;
	unsigned int parts, partition;
	uint8_t formats[ASTC_MOST_PARTS];
	/* where colours are */
	unsigned int colours_at, colour_bits;
	/* of 16 bits a channel, and which channels of a part are logarithms */
	int ends[ASTC_MOST_PARTS][2][4];
	unsigned int logarithms[ASTC_MOST_PARTS];
};

static bool astc_set_grid(struct astc_block *c, unsigned int width, unsigned int height)
{
	c->grid_w = width;
	c->grid_h = height;
	return width <= c->width && height <= c->height;
}

static bool astc_grid(struct astc_block *c, uint32_t mode)
{
	uint32_t a = mode >> 5 & 3, b = mode >> 7 & 3;

	switch (mode & 3 ? 4 | (mode >> 2 & 3) : b) {
	case 4:
		return astc_set_grid(c, b + 4, a + 2);
	case 5:
		return astc_set_grid(c, b + 8, a + 2);
	case 6:
		return astc_set_grid(c, a + 2, b + 8);
	case 7:
		return b & 2 ? astc_set_grid(c, (b & 1) + 2, a + 2) :
			       astc_set_grid(c, a + 2, b + 6);
	case 0:
		return astc_set_grid(c, 12, a + 2);
	case 1:
		return astc_set_grid(c, a + 2, 12);
	case 2:
		return astc_set_grid(c, a + 6, (mode >> 9 & 3) + 6);
	default:
		return a < 2 && astc_set_grid(c, a ? 10 : 6, a ? 6 : 10);
	}
}

static bool astc_mode(struct astc_block *c, uint32_t mode)
{
	/* the size of which some bits are in the place of others' */
	bool plain = !(mode & 3) && (mode >> 7 & 3) == 2;
	uint32_t range = mode & 3 ? (mode & 3) << 1 : (mode >> 2 & 3) << 1;
	unsigned int count;

	range |= mode >> 4 & 1;
	if (range < 2 || !astc_grid(c, mode))
		return false;
	c->weights = &astc_ranges[range - 2 + (plain ? 0 : (mode >> 9 & 1) * 6)];
	c->planes = !plain && mode >> 10 & 1 ? 2 : 1;
	count = c->grid_w * c->grid_h * c->planes;
	if (count > ASTC_MOST_WEIGHTS)
		return false;
	c->weight_bits = astc_sequence_bits(c->weights, count);
	return c->weight_bits >= 24 && c->weight_bits <= 96;
}

/* One format for all parts, or formats of two neighbouring classes */
static void astc_formats(struct astc_block *c, const uint8_t *b, unsigned int *end)
{
	uint32_t bits = astc_bits(b, 23, 6);
	unsigned int i, extra = 3 * c->parts - 4;

	if (c->parts == 1 || !(bits & 3)) {
		for (i = 0; i < c->parts; i++)
			c->formats[i] = c->parts == 1 ? astc_bits(b, 13, 4) : bits >> 2;
		return;
	}
	*end -= extra;
	bits |= astc_bits(b, *end, extra) << 6;
	for (i = 0; i < c->parts; i++)
		c->formats[i] = (((bits & 3) - 1 + (bits >> (2 + i) & 1)) << 2) |
				(bits >> (2 + c->parts + 2 * i) & 3);
}

static int astc_clamp(int value)
{
	return value < 0 ? 0 : value > 255 ? 255 : value;
}

static void astc_set(int end[4], int r, int g, int b, int a)
{
	end[0] = astc_clamp(r);
	end[1] = astc_clamp(g);
	end[2] = astc_clamp(b);
	end[3] = astc_clamp(a);
}

static void astc_contracted(int end[4], int r, int g, int b, int a)
{
	astc_set(end, (r + b) >> 1, (g + b) >> 1, b, a);
}

/* A base gets the offset's highest bit, and the offset is signed */
static void astc_transfer(int *offset, int *base)
{
	*base = *base >> 1 | (*offset & 0x80);
	*offset = *offset >> 1 & 0x3f;
	if (*offset & 0x20)
		*offset -= 0x40;
}

static void astc_direct(const int *v, int a0, int a1, int ends[2][4])
{
	if (v[1] + v[3] + v[5] >= v[0] + v[2] + v[4]) {
		astc_set(ends[0], v[0], v[2], v[4], a0);
		astc_set(ends[1], v[1], v[3], v[5], a1);
	} else {
		astc_contracted(ends[0], v[1], v[3], v[5], a1);
		astc_contracted(ends[1], v[0], v[2], v[4], a0);
	}
}

static void astc_offset(int *v, int a0, int a1, int ends[2][4])
{
	if (v[1] + v[3] + v[5] >= 0) {
		astc_set(ends[0], v[0], v[2], v[4], a0);
		astc_set(ends[1], v[0] + v[1], v[2] + v[3], v[4] + v[5], a1);
	} else {
		astc_contracted(ends[0], v[0] + v[1], v[2] + v[3], v[4] + v[5], a1);
		astc_contracted(ends[1], v[0], v[2], v[4], a0);
	}
}

static void astc_scaled_ends(const int *v, int a0, int a1, int ends[2][4])
{
	astc_set(ends[0], v[0] * v[3] >> 8, v[1] * v[3] >> 8, v[2] * v[3] >> 8, a0);
	astc_set(ends[1], v[0], v[1], v[2], a1);
}

static unsigned int astc_values(unsigned int format)
{
	return (format / 4 + 1) * 2;
}

/* Return: false for formats of high dynamic range */
static bool astc_low_ends(unsigned int format, int *v, int ends[2][4])
{
	unsigned int i;

	/* pairs of base and offset */
	for (i = 0; i < astc_values(format) && format % 4 == 1 && format > 1; i += 2)
		astc_transfer(&v[i + 1], &v[i]);
	switch (format) {
	case 0:
		astc_set(ends[0], v[0], v[0], v[0], 255);
		astc_set(ends[1], v[1], v[1], v[1], 255);
		return true;
	case 1:
		v[0] = v[0] >> 2 | (v[1] & 0xc0);
		v[1] = v[0] + (v[1] & 0x3f);
		astc_set(ends[0], v[0], v[0], v[0], 255);
		astc_set(ends[1], v[1], v[1], v[1], 255);
		return true;
	case 4:
		astc_set(ends[0], v[0], v[0], v[0], v[2]);
		astc_set(ends[1], v[1], v[1], v[1], v[3]);
		return true;
	case 5:
		astc_set(ends[0], v[0], v[0], v[0], v[2]);
		astc_set(ends[1], v[0] + v[1], v[0] + v[1], v[0] + v[1], v[2] + v[3]);
		return true;
	case 6:
		astc_scaled_ends(v, 255, 255, ends);
		return true;
	case 8:
		astc_direct(v, 255, 255, ends);
		return true;
	case 9:
		astc_offset(v, 255, 255, ends);
		return true;
	case 10:
		astc_scaled_ends(v, v[4], v[5], ends);
		return true;
	case 12:
		astc_direct(v, v[6], v[7], ends);
		return true;
	case 13:
		astc_offset(v, v[6], v[6] + v[7], ends);
		return true;
	default:
		return false;
	}
}

static void astc_ends(struct astc_block *c, unsigned int part, int *v)
{
	unsigned int i;

	if (!astc_low_ends(c->formats[part], v, c->ends[part])) {
		c->logarithms[part] = vagx_astc_hdr_ends(c->formats[part], v, c->ends[part]);
		return;
	}
	for (i = 0; i < 4; i++) {
		c->ends[part][0][i] *= 257;
		c->ends[part][1][i] *= 257;
	}
}

/* Colours have as many levels as there is room for */
static bool astc_colours(struct astc_block *c, const uint8_t *b)
{
	struct astc_number numbers[ASTC_MOST_COLOURS];
	int values[ASTC_MOST_COLOURS], range = ASTC_RANGES - 1, *v = values;
	unsigned int count = 0, i;

	for (i = 0; i < c->parts; i++)
		count += astc_values(c->formats[i]);
	if (count > ASTC_MOST_COLOURS)
		return false;
	while (astc_sequence_bits(&astc_ranges[range], count) > c->colour_bits) {
		if (--range < ASTC_LEAST_COLOURS)
			return false;
	}
	astc_sequence(b, c->colours_at, &astc_ranges[range], count, numbers);
	for (i = 0; i < count; i++)
		values[i] = astc_colour(&astc_ranges[range], &numbers[i]);
	for (i = 0; i < c->parts; i++) {
		astc_ends(c, i, v);
		v += astc_values(c->formats[i]);
	}
	return true;
}

static bool astc_read(struct astc_block *c, const uint8_t *b)
{
	unsigned int end;

	if (!astc_mode(c, astc_bits(b, 0, 11)))
		return false;
	c->parts = astc_bits(b, 11, 2) + 1;
	if (c->parts == ASTC_MOST_PARTS && c->planes == 2)
		return false;
	c->partition = astc_bits(b, 13, 10);
	c->colours_at = c->parts == 1 ? 17 : 29;
	end = ASTC_BLOCK_BITS - c->weight_bits;
	astc_formats(c, b, &end);
	if (c->planes == 2) {
		end -= 2;
		c->second = astc_bits(b, end, 2);
	}
	if (end < c->colours_at)
		return false;
	c->colour_bits = end - c->colours_at;
	return astc_colours(c, b);
}

/* Which part a texel belongs to */

static uint32_t astc_hash(uint32_t p)
{
	p ^= p >> 15;
	p -= p << 17;
	p += p << 7;
	p += p << 4;
	p ^= p >> 5;
	p += p << 16;
	p ^= p >> 7;
	p ^= p >> 3;
	p ^= p << 6;
	return p ^ p >> 17;
}

static unsigned int astc_part(const struct astc_block *c, unsigned int x, unsigned int y)
{
	/* where the hash has the factors of x and y, and what is added to them */
	static const uint8_t at[ASTC_MOST_PARTS][3] = {
		{ 0, 4, 14 }, { 8, 12, 10 }, { 16, 20, 6 }, { 24, 28, 2 },
	};
	uint32_t seed = c->partition, hash = astc_hash(seed + (c->parts - 1) * 1024);
	unsigned int shift[2] = { seed & 2 ? 4 : 5, c->parts == 3 ? 6 : 5 };
	unsigned int small = c->width * c->height < 31, part = 0, i;
	uint32_t most = 0;

	for (i = 0; i < c->parts && c->parts > 1; i++) {
		uint32_t fx = hash >> at[i][0] & 0xf, fy = hash >> at[i][1] & 0xf, value;

		fx = fx * fx >> shift[!(seed & 1)];
		fy = fy * fy >> shift[seed & 1];
		value = (fx * (x << small) + fy * (y << small) + (hash >> at[i][2])) & 0x3f;
		if (!i || value > most) {
			most = value;
			part = i;
		}
	}
	return part;
}

/* Weights of texels are between those of the grid */

static unsigned int astc_in_grid(unsigned int at, unsigned int size, unsigned int grid)
{
	unsigned int scale = (1024 + size / 2) / (size - 1);

	return (scale * at * (grid - 1) + 32) >> 6;
}

static int astc_grid_weight(const struct astc_block *c, const struct astc_number *n,
			    unsigned int x, unsigned int y, unsigned int plane)
{
	/* beyond the grid, where a part of nothing is taken */
	if (x >= c->grid_w || y >= c->grid_h)
		return 0;
	return astc_weight(c->weights, &n[(y * c->grid_w + x) * c->planes + plane]);
}

static int astc_texel_weight(const struct astc_block *c, const struct astc_number *n,
			     unsigned int x, unsigned int y, unsigned int plane)
{
	unsigned int gx = astc_in_grid(x, c->width, c->grid_w), i = gx >> 4;
	unsigned int gy = astc_in_grid(y, c->height, c->grid_h), j = gy >> 4;
	int fx = gx & 0xf, fy = gy & 0xf, both = (fx * fy + 8) >> 4;

	return (astc_grid_weight(c, n, i, j, plane) * (16 - fx - fy + both) +
		astc_grid_weight(c, n, i + 1, j, plane) * (fx - both) +
		astc_grid_weight(c, n, i, j + 1, plane) * (fy - both) +
		astc_grid_weight(c, n, i + 1, j + 1, plane) * both + 8) >> 4;
}

/* Weights begin at the block's end, and all bits are the other way round */
static void astc_weights(const struct astc_block *c, const uint8_t *b, struct astc_number *n)
{
	uint8_t reversed[ASTC_BLOCK_BITS / 8] = { 0 };
	unsigned int i;

	for (i = 0; i < ASTC_BLOCK_BITS; i++)
		reversed[i / 8] |= astc_bits(b, ASTC_BLOCK_BITS - 1 - i, 1) << i % 8;
	astc_sequence(reversed, 0, c->weights, c->grid_w * c->grid_h * c->planes, n);
}

/* A colour for a whole area, which has to be one; halves with high dynamic range */
static void astc_constant(const uint8_t *b, float value[4])
{
	uint32_t s[2] = { astc_bits(b, 12, 13), astc_bits(b, 25, 13) };
	uint32_t t[2] = { astc_bits(b, 38, 13), astc_bits(b, 51, 13) };
	bool everywhere = (s[0] & s[1] & t[0] & t[1]) == 0x1fff;
	unsigned int i;

	if (astc_bits(b, 10, 2) != 3 || (!everywhere && (s[0] >= s[1] || t[0] >= t[1])))
		return;
	for (i = 0; i < 4; i++) {
		uint32_t bits = astc_bits(b, 64 + 16 * i, 16);

		value[i] = astc_bits(b, 9, 1) ? float_from_half(bits) : bits / 65535.0f;
	}
}

static void astc(const uint8_t *b, unsigned int width, unsigned int height, unsigned int x,
		 unsigned int y, float value[4])
{
	/* what is no block is of that colour */
	static const float wrong[4] = { 1, 0, 1, 1 };
	struct astc_block c = { .width = width, .height = height };
	struct astc_number weights[ASTC_MOST_WEIGHTS];
	unsigned int part, i;

	memcpy(value, wrong, sizeof(wrong));
	if (astc_bits(b, 0, 9) == 0x1fc) {
		astc_constant(b, value);
		return;
	}
	if (!astc_read(&c, b))
		return;
	astc_weights(&c, b, weights);
	part = astc_part(&c, x, y);
	for (i = 0; i < 4; i++) {
		int weight = astc_texel_weight(&c, weights, x, y, c.planes == 2 && c.second == i);
		int first = c.ends[part][0][i], second = c.ends[part][1][i];
		int between = (first * (64 - weight) + second * weight + 32) >> 6;

		value[i] = c.logarithms[part] >> i & 1 ? vagx_astc_hdr_float(between) :
			   between / 65535.0f;
	}
}

#define ASTC(width, height)								\
void vagx_block_astc_##width##x##height(const uint8_t *b, unsigned int x,		\
					unsigned int y, bool is_signed, float value[4])	\
{											\
	astc(b, width, height, x, y, value);						\
}
VAGX_BLOCK_ASTC(ASTC)
