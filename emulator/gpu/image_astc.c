// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Decodes texels of two-dimensional ASTC blocks (Khronos Data Format Specification, "ASTC
 * Compressed Texture Image Formats", whose names are used). A block of 128 bits has a mode, the
 * colour endpoints of 1 to 4 partitions, and a grid of weights, which is interpolated for the
 * texels and weighs the endpoints of the texel's partition. Values are packed by integer
 * sequence encoding (ISE) and unquantized. Endpoints of high dynamic range are in
 * image_astc_hdr.c. Functions have no state; each call decodes what its texel needs.
 */
#include <string.h>

#include "agx_float.h"
#include "gpu/image_astc_hdr.h"
#include "gpu/image_block.h"

#define ASTC_MAX_WEIGHTS	64
#define ASTC_MAX_COLOURS	18
#define ASTC_MAX_PARTITIONS	4
#define ASTC_BLOCK_BITS		128

/* @count bits of a block, from bit @at on, counted from the lowest of the first byte */
static uint32_t astc_bits(const uint8_t *b, unsigned int at, unsigned int count)
{
	uint32_t value = 0;
	unsigned int i;

	for (i = 0; i < count && at + i < ASTC_BLOCK_BITS; i++)
		value |= (uint32_t)(b[(at + i) / 8] >> (at + i) % 8 & 1) << i;
	return value;
}

/* Integer sequence encoding: each value has some bits, and above them a trit, a quint or nothing */

enum { PLAIN, TRITS, QUINTS };

struct astc_range {
	uint8_t bits, kind;
};

/* Ranges of values: 2, 3, 4, 5, 6, 8, 10, 12, 16 ... 256 levels */
static const struct astc_range astc_ranges[] = {
	{ 1, PLAIN }, { 0, TRITS }, { 2, PLAIN }, { 0, QUINTS }, { 1, TRITS }, { 3, PLAIN },
	{ 1, QUINTS }, { 2, TRITS }, { 4, PLAIN }, { 2, QUINTS }, { 3, TRITS }, { 5, PLAIN },
	{ 3, QUINTS }, { 4, TRITS }, { 6, PLAIN }, { 4, QUINTS }, { 5, TRITS }, { 7, PLAIN },
	{ 5, QUINTS }, { 6, TRITS }, { 8, PLAIN },
};

#define ASTC_RANGES		((int)(sizeof(astc_ranges) / sizeof(astc_ranges[0])))
/* Index of the least range of colours, of 6 levels */
#define ASTC_MIN_COLOUR_RANGE	4

/* Values that share trits or quints, the packed bits of these, and how many follow each value */
static const struct astc_group {
	uint8_t numbers, bits;
	uint8_t after[5];
} astc_groups[] = {
	[PLAIN] = { 1, 0, { 0 } },
	[TRITS] = { 5, 8, { 2, 2, 1, 2, 1 } },
	[QUINTS] = { 3, 7, { 3, 2, 2 } },
};

/* Bits of a sequence of @count values */
static unsigned int astc_ise_bits(const struct astc_range *r, unsigned int count)
{
	const struct astc_group *g = &astc_groups[r->kind];

	return count * r->bits + (count * g->bits + g->numbers - 1) / g->numbers;
}

/* Unpacks five trits from 8 bits */
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

/* Unpacks three quints from 7 bits */
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

/* A quantized value: its trit or quint, and its bits */
struct astc_value {
	uint8_t high, low;
};

/* Reads the next bits of a sequence and advances @at; bits behind its end are 0 */
static uint32_t astc_next_bits(const uint8_t *b, unsigned int *at, unsigned int end,
			       unsigned int count)
{
	uint32_t value = astc_bits(b, *at, *at + count > end ? end - *at : count);

	*at = *at + count > end ? end : *at + count;
	return value;
}

/* Decodes a sequence of @count values that begins at bit @at */
static void astc_decode_ise(const uint8_t *b, unsigned int at, const struct astc_range *r,
			    unsigned int count, struct astc_value *out)
{
	const struct astc_group *g = &astc_groups[r->kind];
	unsigned int end = at + astc_ise_bits(r, count), i, n, shift;
	uint8_t high[5] = { 0 }, low[5] = { 0 };
	uint32_t shared;

	for (i = 0; i < count; i += g->numbers) {
		shared = shift = 0;
		for (n = 0; n < g->numbers; n++) {
			low[n] = astc_next_bits(b, &at, end, r->bits);
			shared |= astc_next_bits(b, &at, end, g->after[n]) << shift;
			shift += g->after[n];
		}
		if (r->kind == TRITS)
			astc_trits(shared, high);
		else if (r->kind == QUINTS)
			astc_quints(shared, high);
		for (n = 0; n < g->numbers && i + n < count; n++)
			out[i + n] = (struct astc_value){ high[n], low[n] };
	}
}

/* Bit replication: repeats the bits of @value to a width of @to */
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

/* Unquantization of values with trits or quints: the factor C, and the part of B of each bit */
struct astc_unquant {
	uint16_t factor;
	uint16_t bit[5];
};

static const struct astc_unquant astc_weight_unquant[3][4] = {
	[TRITS] = {
		[1] = { 50, { 0 } }, [2] = { 23, { 0x45 } }, [3] = { 11, { 0x21, 0x42 } },
	},
	[QUINTS] = {
		[1] = { 28, { 0 } }, [2] = { 13, { 0x42 } },
	},
};

static const struct astc_unquant astc_colour_unquant[3][7] = {
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

/*
 * Unquantizes a value to @to bits: T = (D * C + B) ^ A, then the highest bit of A above T >> 2; A
 * is the lowest bit of the value, repeated
 */
static uint32_t astc_unquantize(const struct astc_unquant *s, const struct astc_value *n,
				unsigned int bits, unsigned int to)
{
	uint32_t invert = n->low & 1 ? (4u << (to - 1)) - 1 : 0, t = n->high * s->factor;
	unsigned int i;

	for (i = 1; i < bits; i++)
		t += n->low >> i & 1 ? s->bit[i - 1] : 0;
	t ^= invert;
	return (invert & 1u << (to - 1)) | t >> 2;
}

/* Unquantizes a weight: 0 to 64 */
static int astc_unquantize_weight(const struct astc_range *r, const struct astc_value *n)
{
	static const uint8_t trits[] = { 0, 32, 63 }, quints[] = { 0, 16, 32, 47, 63 };
	uint32_t weight;

	if (r->kind == PLAIN)
		weight = astc_replicate(n->low, r->bits, 6);
	else if (!r->bits)
		weight = r->kind == TRITS ? trits[n->high] : quints[n->high];
	else
		weight = astc_unquantize(&astc_weight_unquant[r->kind][r->bits], n, r->bits, 6);
	return (int)(weight > 32 ? weight + 1 : weight);
}

/* Unquantizes a colour value: 0 to 255 */
static int astc_unquantize_colour(const struct astc_range *r, const struct astc_value *n)
{
	if (r->kind == PLAIN)
		return (int)astc_replicate(n->low, r->bits, 8);
	return (int)astc_unquantize(&astc_colour_unquant[r->kind][r->bits], n, r->bits, 8);
}

/* Blocks */

struct astc_block {
	/* size of the block in texels, and of the weight grid */
	unsigned int width, height, grid_w, grid_h;
	const struct astc_range *weights;
	unsigned int planes, weight_bits;
	/* the channel that the second plane of weights is for */
	unsigned int dual_plane_channel;
	unsigned int partitions, partition_index;
	/* colour endpoint mode of each partition, 0 to 15 */
	uint8_t cem[ASTC_MAX_PARTITIONS];
	/* first bit of the colour values, and the number of bits that they may have */
	unsigned int colours_begin, colour_bits;
	/* 16 bits a channel; and a mask of the channels that are logarithms (high dynamic range) */
	int endpoints[ASTC_MAX_PARTITIONS][2][4];
	unsigned int hdr_channels[ASTC_MAX_PARTITIONS];
};

static bool astc_set_grid(struct astc_block *c, unsigned int width, unsigned int height)
{
	c->grid_w = width;
	c->grid_h = height;
	return width <= c->width && height <= c->height;
}

/* Decodes the size of the weight grid. Return: false if it is larger than the block. */
static bool astc_weight_grid(struct astc_block *c, uint32_t mode)
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

/* Decodes the block mode: grid, range of weights, planes. Return: false if it is reserved. */
static bool astc_block_mode(struct astc_block *c, uint32_t mode)
{
	/* the block mode that has no bits for range and planes */
	bool plain = !(mode & 3) && (mode >> 7 & 3) == 2;
	uint32_t range = mode & 3 ? (mode & 3) << 1 : (mode >> 2 & 3) << 1;
	unsigned int count;

	range |= mode >> 4 & 1;
	if (range < 2 || !astc_weight_grid(c, mode))
		return false;
	c->weights = &astc_ranges[range - 2 + (plain ? 0 : (mode >> 9 & 1) * 6)];
	c->planes = !plain && mode >> 10 & 1 ? 2 : 1;
	count = c->grid_w * c->grid_h * c->planes;
	if (count > ASTC_MAX_WEIGHTS)
		return false;
	c->weight_bits = astc_ise_bits(c->weights, count);
	return c->weight_bits >= 24 && c->weight_bits <= 96;
}

/*
 * Reads colour endpoint modes: one for all partitions, or modes of two neighbouring classes, some
 * of whose bits end at *@end, below the weights
 */
static void astc_read_cem(struct astc_block *c, const uint8_t *b, unsigned int *end)
{
	uint32_t bits = astc_bits(b, 23, 6);
	unsigned int i, extra = 3 * c->partitions - 4;

	if (c->partitions == 1 || !(bits & 3)) {
		for (i = 0; i < c->partitions; i++)
			c->cem[i] = c->partitions == 1 ? astc_bits(b, 13, 4) : bits >> 2;
		return;
	}
	*end -= extra;
	bits |= astc_bits(b, *end, extra) << 6;
	for (i = 0; i < c->partitions; i++)
		c->cem[i] = (((bits & 3) - 1 + (bits >> (2 + i) & 1)) << 2) |
				(bits >> (2 + c->partitions + 2 * i) & 3);
}

static int astc_clamp(int value)
{
	return value < 0 ? 0 : value > 255 ? 255 : value;
}

static void astc_set_endpoint(int end[4], int r, int g, int b, int a)
{
	end[0] = astc_clamp(r);
	end[1] = astc_clamp(g);
	end[2] = astc_clamp(b);
	end[3] = astc_clamp(a);
}

/* blue_contract() of the specification */
static void astc_blue_contract(int end[4], int r, int g, int b, int a)
{
	astc_set_endpoint(end, (r + b) >> 1, (g + b) >> 1, b, a);
}

/* bit_transfer_signed() of the specification: the base gets the offset's highest bit */
static void astc_bit_transfer_signed(int *offset, int *base)
{
	*base = *base >> 1 | (*offset & 0x80);
	*offset = *offset >> 1 & 0x3f;
	if (*offset & 0x20)
		*offset -= 0x40;
}

static void astc_rgb_direct(const int *v, int a0, int a1, int endpoints[2][4])
{
	if (v[1] + v[3] + v[5] >= v[0] + v[2] + v[4]) {
		astc_set_endpoint(endpoints[0], v[0], v[2], v[4], a0);
		astc_set_endpoint(endpoints[1], v[1], v[3], v[5], a1);
	} else {
		astc_blue_contract(endpoints[0], v[1], v[3], v[5], a1);
		astc_blue_contract(endpoints[1], v[0], v[2], v[4], a0);
	}
}

static void astc_rgb_base_offset(int *v, int a0, int a1, int endpoints[2][4])
{
	if (v[1] + v[3] + v[5] >= 0) {
		astc_set_endpoint(endpoints[0], v[0], v[2], v[4], a0);
		astc_set_endpoint(endpoints[1], v[0] + v[1], v[2] + v[3], v[4] + v[5], a1);
	} else {
		astc_blue_contract(endpoints[0], v[0] + v[1], v[2] + v[3], v[4] + v[5], a1);
		astc_blue_contract(endpoints[1], v[0], v[2], v[4], a0);
	}
}

static void astc_rgb_base_scale(const int *v, int a0, int a1, int endpoints[2][4])
{
	astc_set_endpoint(endpoints[0], v[0] * v[3] >> 8, v[1] * v[3] >> 8, v[2] * v[3] >> 8, a0);
	astc_set_endpoint(endpoints[1], v[0], v[1], v[2], a1);
}

/* Number of colour values of an endpoint mode */
static unsigned int astc_cem_values(unsigned int cem)
{
	return (cem / 4 + 1) * 2;
}

/* Decodes endpoints of low dynamic range, 0 to 255. Return: false for other endpoint modes. */
static bool astc_ldr_endpoints(unsigned int cem, int *v, int endpoints[2][4])
{
	unsigned int i;

	/* base and offset modes */
	for (i = 0; i < astc_cem_values(cem) && cem % 4 == 1 && cem > 1; i += 2)
		astc_bit_transfer_signed(&v[i + 1], &v[i]);
	switch (cem) {
	case 0:
		astc_set_endpoint(endpoints[0], v[0], v[0], v[0], 255);
		astc_set_endpoint(endpoints[1], v[1], v[1], v[1], 255);
		return true;
	case 1:
		v[0] = v[0] >> 2 | (v[1] & 0xc0);
		v[1] = v[0] + (v[1] & 0x3f);
		astc_set_endpoint(endpoints[0], v[0], v[0], v[0], 255);
		astc_set_endpoint(endpoints[1], v[1], v[1], v[1], 255);
		return true;
	case 4:
		astc_set_endpoint(endpoints[0], v[0], v[0], v[0], v[2]);
		astc_set_endpoint(endpoints[1], v[1], v[1], v[1], v[3]);
		return true;
	case 5:
		astc_set_endpoint(endpoints[0], v[0], v[0], v[0], v[2]);
		astc_set_endpoint(endpoints[1], v[0] + v[1], v[0] + v[1], v[0] + v[1], v[2] + v[3]);
		return true;
	case 6:
		astc_rgb_base_scale(v, 255, 255, endpoints);
		return true;
	case 8:
		astc_rgb_direct(v, 255, 255, endpoints);
		return true;
	case 9:
		astc_rgb_base_offset(v, 255, 255, endpoints);
		return true;
	case 10:
		astc_rgb_base_scale(v, v[4], v[5], endpoints);
		return true;
	case 12:
		astc_rgb_direct(v, v[6], v[7], endpoints);
		return true;
	case 13:
		astc_rgb_base_offset(v, v[6], v[6] + v[7], endpoints);
		return true;
	default:
		return false;
	}
}

static void astc_decode_endpoints(struct astc_block *c, unsigned int partition, int *v)
{
	unsigned int i;

	if (!astc_ldr_endpoints(c->cem[partition], v, c->endpoints[partition])) {
		c->hdr_channels[partition] = vagx_astc_hdr_endpoints(c->cem[partition], v,
								     c->endpoints[partition]);
		return;
	}
	for (i = 0; i < 4; i++) {
		c->endpoints[partition][0][i] *= 257;
		c->endpoints[partition][1][i] *= 257;
	}
}

/* Decodes the colour endpoints, in the largest range that fits. Return: false if none does. */
static bool astc_decode_colours(struct astc_block *c, const uint8_t *b)
{
	struct astc_value numbers[ASTC_MAX_COLOURS];
	int values[ASTC_MAX_COLOURS], range = ASTC_RANGES - 1, *v = values;
	unsigned int count = 0, i;

	for (i = 0; i < c->partitions; i++)
		count += astc_cem_values(c->cem[i]);
	if (count > ASTC_MAX_COLOURS)
		return false;
	while (astc_ise_bits(&astc_ranges[range], count) > c->colour_bits) {
		if (--range < ASTC_MIN_COLOUR_RANGE)
			return false;
	}
	astc_decode_ise(b, c->colours_begin, &astc_ranges[range], count, numbers);
	for (i = 0; i < count; i++)
		values[i] = astc_unquantize_colour(&astc_ranges[range], &numbers[i]);
	for (i = 0; i < c->partitions; i++) {
		astc_decode_endpoints(c, i, v);
		v += astc_cem_values(c->cem[i]);
	}
	return true;
}

/* Decodes all of a block but its weights. Return: false if it is none. */
static bool astc_read(struct astc_block *c, const uint8_t *b)
{
	unsigned int end;

	if (!astc_block_mode(c, astc_bits(b, 0, 11)))
		return false;
	c->partitions = astc_bits(b, 11, 2) + 1;
	if (c->partitions == ASTC_MAX_PARTITIONS && c->planes == 2)
		return false;
	c->partition_index = astc_bits(b, 13, 10);
	c->colours_begin = c->partitions == 1 ? 17 : 29;
	end = ASTC_BLOCK_BITS - c->weight_bits;
	astc_read_cem(c, b, &end);
	if (c->planes == 2) {
		end -= 2;
		c->dual_plane_channel = astc_bits(b, end, 2);
	}
	if (end < c->colours_begin)
		return false;
	c->colour_bits = end - c->colours_begin;
	return astc_decode_colours(c, b);
}

/* Partitions */

/* hash52() of the specification */
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

/* select_partition() of the specification: the partition of a texel */
static unsigned int astc_partition_of(const struct astc_block *c, unsigned int x, unsigned int y)
{
	/* bit positions in the hash: the factors of x and y, and the addend */
	static const uint8_t at[ASTC_MAX_PARTITIONS][3] = {
		{ 0, 4, 14 }, { 8, 12, 10 }, { 16, 20, 6 }, { 24, 28, 2 },
	};
	uint32_t seed = c->partition_index, hash = astc_hash(seed + (c->partitions - 1) * 1024);
	unsigned int shift[2] = { seed & 2 ? 4 : 5, c->partitions == 3 ? 6 : 5 };
	unsigned int small = c->width * c->height < 31, partition = 0, i;
	uint32_t max = 0;

	for (i = 0; i < c->partitions && c->partitions > 1; i++) {
		uint32_t fx = hash >> at[i][0] & 0xf, fy = hash >> at[i][1] & 0xf, value;

		fx = fx * fx >> shift[!(seed & 1)];
		fy = fy * fy >> shift[seed & 1];
		value = (fx * (x << small) + fy * (y << small) + (hash >> at[i][2])) & 0x3f;
		if (!i || value > max) {
			max = value;
			partition = i;
		}
	}
	return partition;
}

/* Weights: those of texels are interpolated from the grid */

/* Position of a texel on an axis of the grid, in sixteenths */
static unsigned int astc_grid_coordinate(unsigned int at, unsigned int size, unsigned int grid)
{
	unsigned int scale = (1024 + size / 2) / (size - 1);

	return (scale * at * (grid - 1) + 32) >> 6;
}

static int astc_grid_weight(const struct astc_block *c, const struct astc_value *n,
			    unsigned int x, unsigned int y, unsigned int plane)
{
	/* beyond the grid: it is multiplied by 0 */
	if (x >= c->grid_w || y >= c->grid_h)
		return 0;
	return astc_unquantize_weight(c->weights, &n[(y * c->grid_w + x) * c->planes + plane]);
}

/* The bilinearly interpolated weight of a texel, 0 to 64 */
static int astc_texel_weight(const struct astc_block *c, const struct astc_value *n,
			     unsigned int x, unsigned int y, unsigned int plane)
{
	unsigned int gx = astc_grid_coordinate(x, c->width, c->grid_w), i = gx >> 4;
	unsigned int gy = astc_grid_coordinate(y, c->height, c->grid_h), j = gy >> 4;
	int fx = gx & 0xf, fy = gy & 0xf, both = (fx * fy + 8) >> 4;

	return (astc_grid_weight(c, n, i, j, plane) * (16 - fx - fy + both) +
		astc_grid_weight(c, n, i + 1, j, plane) * (fx - both) +
		astc_grid_weight(c, n, i, j + 1, plane) * (fy - both) +
		astc_grid_weight(c, n, i + 1, j + 1, plane) * both + 8) >> 4;
}

/* Decodes the weights, which are stored from the end of the block on, with all bits reversed */
static void astc_decode_weights(const struct astc_block *c, const uint8_t *b, struct astc_value *n)
{
	uint8_t reversed[ASTC_BLOCK_BITS / 8] = { 0 };
	unsigned int i;

	for (i = 0; i < ASTC_BLOCK_BITS; i++)
		reversed[i / 8] |= astc_bits(b, ASTC_BLOCK_BITS - 1 - i, 1) << i % 8;
	astc_decode_ise(reversed, 0, c->weights, c->grid_w * c->grid_h * c->planes, n);
}

/* Decodes a void-extent block, of one colour, whose extent has to be valid */
static void astc_void_extent(const uint8_t *b, float value[4])
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

/* Decodes texel (x, y) of a block of @width by @height texels */
static void astc(const uint8_t *b, unsigned int width, unsigned int height, unsigned int x,
		 unsigned int y, float value[4])
{
	/* the error colour, of blocks that are not valid */
	static const float wrong[4] = { 1, 0, 1, 1 };
	struct astc_block c = { .width = width, .height = height };
	struct astc_value weights[ASTC_MAX_WEIGHTS];
	unsigned int partition, i;

	memcpy(value, wrong, sizeof(wrong));
	if (astc_bits(b, 0, 9) == 0x1fc) {
		astc_void_extent(b, value);
		return;
	}
	if (!astc_read(&c, b))
		return;
	astc_decode_weights(&c, b, weights);
	partition = astc_partition_of(&c, x, y);
	for (i = 0; i < 4; i++) {
		int weight = astc_texel_weight(&c, weights, x, y,
					       c.planes == 2 && c.dual_plane_channel == i);
		int first = c.endpoints[partition][0][i], second = c.endpoints[partition][1][i];
		int between = (first * (64 - weight) + second * weight + 32) >> 6;

		value[i] = c.hdr_channels[partition] >> i & 1 ? vagx_astc_hdr_float(between) :
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
