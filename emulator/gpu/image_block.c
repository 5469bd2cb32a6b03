// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Decodes texels of blocks of 4 by 4: BC1 to BC5, ETC2 and EAC (Khronos Data Format
 * Specification, "S3TC", "RGTC", "ETC2"), and knows which decoder belongs to which format; BC6H,
 * BC7 and ASTC have files of their own. Functions have no state; each call decodes what its
 * texel needs. texture_texel.c caches the result.
 */
#include <stddef.h>
#include <string.h>

#include "agx_packets.h"
#include "gpu/image_block.h"

/* Texels of a block in x and y */
#define SIDE	4

static int image_block_clamp(int value, int min, int max)
{
	return value < min ? min : value > max ? max : value;
}

/* Expands a value to 8 bits by repeating its highest ones */
static int image_block_expand(unsigned int value, unsigned int bits)
{
	value <<= 8 - bits;
	return value | value >> bits;
}

/* BC1 to BC5 */

static void image_block_unpack_565(uint32_t colour, float rgb[3])
{
	rgb[0] = image_block_expand(colour >> 11, 5) / 255.0f;
	rgb[1] = image_block_expand(colour >> 5 & 0x3f, 6) / 255.0f;
	rgb[2] = image_block_expand(colour & 0x1f, 5) / 255.0f;
}

/*
 * Decodes a colour of S3TC: one of two endpoints, or between them. With three colours (@four is
 * false and the first endpoint is not the greater one) the fourth is transparent black. Return:
 * whether the texel is opaque.
 */
static bool image_block_bc_colour(const uint8_t *b, unsigned int x, unsigned int y, bool four,
				  float rgb[3])
{
	uint32_t first = b[0] | b[1] << 8, second = b[2] | b[3] << 8;
	unsigned int index = b[4 + y] >> 2 * x & 3, i;
	float endpoints[2][3], part;

	four = four || first > second;
	if (index == 3 && !four) {
		memset(rgb, 0, 3 * sizeof(*rgb));
		return false;
	}
	image_block_unpack_565(first, endpoints[0]);
	image_block_unpack_565(second, endpoints[1]);
	part = index < 2 ? index : four ? (index - 1) / 3.0f : 0.5f;
	for (i = 0; i < 3; i++)
		rgb[i] = endpoints[0][i] + part * (endpoints[1][i] - endpoints[0][i]);
	return true;
}

static void image_block_bc1(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
			    float value[4])
{
	value[3] = image_block_bc_colour(b, x, y, false, value);
}

static void image_block_bc2(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
			    float value[4])
{
	image_block_bc_colour(b + 8, x, y, true, value);
	value[3] = (b[2 * y + x / 2] >> x % 2 * 4 & 0xf) / 15.0f;
}

static float image_block_bc_endpoint(uint8_t endpoint, bool is_signed)
{
	if (!is_signed)
		return endpoint / 255.0f;
	return image_block_clamp((int8_t)endpoint, -127, 127) / 127.0f;
}

/* Decodes a value of RGTC: one of two endpoints, or one of six, or four and the limits, between */
static float image_block_bc4_value(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed)
{
	float first = image_block_bc_endpoint(b[0], is_signed),
	      second = image_block_bc_endpoint(b[1], is_signed);
	unsigned int at = 3 * (y * SIDE + x), index;
	uint64_t bits = 0, i;

	for (i = 0; i < 6; i++)
		bits |= (uint64_t)b[2 + i] << 8 * i;
	index = bits >> at & 7;
	if (index < 2)
		return index ? second : first;
	if (first > second)
		return first + (index - 1) / 7.0f * (second - first);
	if (index < 6)
		return first + (index - 1) / 5.0f * (second - first);
	return index == 7 ? 1 : is_signed ? -1 : 0;
}

static void image_block_bc3(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
			    float value[4])
{
	image_block_bc_colour(b + 8, x, y, true, value);
	value[3] = image_block_bc4_value(b, x, y, false);
}

static void image_block_bc4(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
			    float value[4])
{
	value[0] = image_block_bc4_value(b, x, y, is_signed);
}

static void image_block_bc5(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
			    float value[4])
{
	value[0] = image_block_bc4_value(b, x, y, is_signed);
	value[1] = image_block_bc4_value(b + 8, x, y, is_signed);
}

/* ETC2: texels are numbered by columns, and bits are counted from the first byte's highest */

static unsigned int image_block_etc_bits(const uint8_t *b, unsigned int at, unsigned int count)
{
	unsigned int value = 0, i;

	for (i = at; i < at + count; i++)
		value = value << 1 | (b[i / 8] >> (7 - i % 8) & 1);
	return value;
}

/* The two bits of a texel's index */
static unsigned int image_block_etc_index(const uint8_t *b, unsigned int x, unsigned int y)
{
	unsigned int at = x * SIDE + y;

	return image_block_etc_bits(b, 47 - at, 1) << 1 | image_block_etc_bits(b, 63 - at, 1);
}

/* Adds a modifier to all channels, clamped to 0 to 255 */
static void image_block_etc_modify(const int base[3], int modifier, int rgb[3])
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		rgb[i] = image_block_clamp(base[i] + modifier, 0, 255);
}

/* Individual and differential modes: two subblocks, each with a base colour and modifiers */
static void image_block_etc_subblocks(const uint8_t *b, unsigned int x, unsigned int y,
				      const int base[2][3], bool opaque, int rgb[3])
{
	static const uint8_t modifiers[8][2] = {
		{ 2, 8 }, { 5, 17 }, { 9, 29 }, { 13, 42 },
		{ 18, 60 }, { 24, 80 }, { 33, 106 }, { 47, 183 },
	};
	unsigned int half = (image_block_etc_bits(b, 31, 1) ? y : x) / 2;
	unsigned int index = image_block_etc_index(b, x, y);
	int modifier = modifiers[image_block_etc_bits(b, 24 + 3 * half, 3)][index & 1];

	if (!opaque && !(index & 1))
		modifier = 0;
	image_block_etc_modify(base[half], index & 2 ? -modifier : modifier, rgb);
}

static const uint8_t image_block_etc_distances[8] = { 3, 6, 11, 16, 23, 32, 41, 64 };

/* T mode: a colour, and three on a line */
static void image_block_etc_t(const uint8_t *b, unsigned int x, unsigned int y, int rgb[3])
{
	const int first[3] = {
		image_block_expand(
			image_block_etc_bits(b, 3, 2) << 2 | image_block_etc_bits(b, 6, 2), 4),
		image_block_expand(image_block_etc_bits(b, 8, 4), 4),
		image_block_expand(image_block_etc_bits(b, 12, 4), 4),
	};
	const int second[3] = {
		image_block_expand(image_block_etc_bits(b, 16, 4), 4),
		image_block_expand(image_block_etc_bits(b, 20, 4), 4),
		image_block_expand(image_block_etc_bits(b, 24, 4), 4),
	};
	int distance = image_block_etc_distances[image_block_etc_bits(b, 28, 2) << 1 |
						 image_block_etc_bits(b, 31, 1)];
	unsigned int index = image_block_etc_index(b, x, y);

	image_block_etc_modify(index ? second : first, index % 2 * (2 - (int)index) * distance,
			       rgb);
}

/* H mode: two pairs of colours, whose order is the lowest bit of the distance */
static void image_block_etc_h(const uint8_t *b, unsigned int x, unsigned int y, int rgb[3])
{
	const unsigned int raw[2][3] = {
		{
			image_block_etc_bits(b, 1, 4),
			image_block_etc_bits(b, 5, 3) << 1 | image_block_etc_bits(b, 11, 1),
			image_block_etc_bits(b, 12, 1) << 3 | image_block_etc_bits(b, 14, 3),
		}, {
			image_block_etc_bits(b, 17, 4),
			image_block_etc_bits(b, 21, 4),
			image_block_etc_bits(b, 25, 4),
		},
	};
	unsigned int index = image_block_etc_index(b, x, y), key[2], i, d;
	int base[3];

	for (i = 0; i < 2; i++)
		key[i] = raw[i][0] << 8 | raw[i][1] << 4 | raw[i][2];
	d = image_block_etc_bits(b, 29, 1) << 2 | image_block_etc_bits(b, 31, 1) << 1 |
	    (key[0] >= key[1]);
	for (i = 0; i < 3; i++)
		base[i] = image_block_expand(raw[index / 2][i], 4);
	image_block_etc_modify(
		base, index % 2 ? -image_block_etc_distances[d] : image_block_etc_distances[d],
		rgb);
}

/* Planar mode: colours at three corners, extrapolated */
static void image_block_etc_planar(const uint8_t *b, unsigned int x, unsigned int y, int rgb[3])
{
	const int corner[3][3] = {
		{
			image_block_expand(image_block_etc_bits(b, 1, 6), 6),
			image_block_expand(image_block_etc_bits(b, 7, 1) << 6 |
						   image_block_etc_bits(b, 9, 6),
					   7),
			image_block_expand(image_block_etc_bits(b, 15, 1) << 5 |
						   image_block_etc_bits(b, 19, 2) << 3 |
						   image_block_etc_bits(b, 22, 3),
					   6),
		},
		{
			image_block_expand(image_block_etc_bits(b, 25, 5) << 1 |
						   image_block_etc_bits(b, 31, 1),
					   6),
			image_block_expand(image_block_etc_bits(b, 32, 7), 7),
			image_block_expand(image_block_etc_bits(b, 39, 6), 6),
		},
		{
			image_block_expand(image_block_etc_bits(b, 45, 6), 6),
			image_block_expand(image_block_etc_bits(b, 51, 7), 7),
			image_block_expand(image_block_etc_bits(b, 58, 6), 6),
		},
	};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		int at = (int)x * (corner[1][i] - corner[0][i]) +
			 (int)y * (corner[2][i] - corner[0][i]) + 4 * corner[0][i] + 2;

		rgb[i] = image_block_clamp(at >> 2, 0, 255);
	}
}

/* Reads the base colours of individual mode, of 4 bits a channel */
static void image_block_etc_individual(const uint8_t *b, int base[2][3])
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		base[0][i] = image_block_expand(image_block_etc_bits(b, 8 * i, 4), 4);
		base[1][i] = image_block_expand(image_block_etc_bits(b, 8 * i + 4, 4), 4);
	}
}

/*
 * Reads the base colours of differential mode: 5 bits a channel, and signed differences. Return:
 * the channel that overflows, which means T, H or planar mode; 3 if none does.
 */
static unsigned int image_block_etc_differential(const uint8_t *b, int base[2][3])
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		int first = image_block_etc_bits(b, 8 * i, 5),
		    modifier = image_block_etc_bits(b, 8 * i + 5, 3);
		int second = first + (modifier > 3 ? modifier - 8 : modifier);

		if (second < 0 || second > 31)
			return i;
		base[0][i] = image_block_expand(first, 5);
		base[1][i] = image_block_expand(second, 5);
	}
	return i;
}

/* @punchthrough: the format has no individual mode, but an alpha bit. Return: opaque or not. */
static bool image_block_etc_colour(const uint8_t *b, unsigned int x, unsigned int y,
				   bool punchthrough, int rgb[3])
{
	bool differential = punchthrough || image_block_etc_bits(b, 30, 1);
	bool opaque = !punchthrough || image_block_etc_bits(b, 30, 1);
	unsigned int mode = 3;
	int base[2][3];

	if (differential)
		mode = image_block_etc_differential(b, base);
	else
		image_block_etc_individual(b, base);
	if (mode == 2) {
		image_block_etc_planar(b, x, y, rgb);
		return true;
	}
	if (!opaque && image_block_etc_index(b, x, y) == 2) {
		memset(rgb, 0, 3 * sizeof(*rgb));
		return false;
	}
	if (mode == 0)
		image_block_etc_t(b, x, y, rgb);
	else if (mode == 1)
		image_block_etc_h(b, x, y, rgb);
	else
		image_block_etc_subblocks(b, x, y, (const int (*)[3])base, opaque, rgb);
	return true;
}

static void image_block_etc2(const uint8_t *b, unsigned int x, unsigned int y, bool punchthrough,
			     float value[4])
{
	int rgb[3];
	unsigned int i;

	value[3] = image_block_etc_colour(b, x, y, punchthrough, rgb);
	for (i = 0; i < 3; i++)
		value[i] = rgb[i] / 255.0f;
}

static void image_block_etc2_rgb8(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
				  float value[4])
{
	image_block_etc2(b, x, y, false, value);
}

static void image_block_etc2_rgb8a1(const uint8_t *b, unsigned int x, unsigned int y,
				    bool is_signed, float value[4])
{
	image_block_etc2(b, x, y, true, value);
}

/* The modifier of a texel, before it is multiplied */
static int image_block_eac_modifier(const uint8_t *b, unsigned int x, unsigned int y)
{
	static const int8_t modifiers[16][8] = {
		{ -3, -6, -9, -15, 2, 5, 8, 14 }, { -3, -7, -10, -13, 2, 6, 9, 12 },
		{ -2, -5, -8, -13, 1, 4, 7, 12 }, { -2, -4, -6, -13, 1, 3, 5, 12 },
		{ -3, -6, -8, -12, 2, 5, 7, 11 }, { -3, -7, -9, -11, 2, 6, 8, 10 },
		{ -4, -7, -8, -11, 3, 6, 7, 10 }, { -3, -5, -8, -11, 2, 4, 7, 10 },
		{ -2, -6, -8, -10, 1, 5, 7, 9 }, { -2, -5, -8, -10, 1, 4, 7, 9 },
		{ -2, -4, -8, -10, 1, 3, 7, 9 }, { -2, -5, -7, -10, 1, 4, 6, 9 },
		{ -3, -4, -7, -10, 2, 3, 6, 9 }, { -1, -2, -3, -10, 0, 1, 2, 9 },
		{ -4, -6, -8, -9, 3, 5, 7, 8 }, { -3, -5, -7, -9, 2, 4, 6, 8 },
	};

	return modifiers[b[1] & 0xf][image_block_etc_bits(b, 16 + 3 * (x * SIDE + y), 3)];
}

static void image_block_etc2_rgba8(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
				   float value[4])
{
	const int alpha = b[0] + image_block_eac_modifier(b, x, y) * (b[1] >> 4);

	image_block_etc2(b + 8, x, y, false, value);
	value[3] = image_block_clamp(alpha, 0, 255) / 255.0f;
}

/* Decodes a value of 11 bits; a multiplier of 0 stands for an eighth */
static float image_block_eac_value(const uint8_t *b, unsigned int x, unsigned int y,
				   bool is_signed)
{
	int multiplier = b[1] >> 4 ? (b[1] >> 4) * 8 : 1;
	int modifier = image_block_eac_modifier(b, x, y) * multiplier;

	if (is_signed)
		return image_block_clamp(image_block_clamp((int8_t)b[0], -127, 127) * 8 + modifier,
					 -1023, 1023) /
		       1023.0f;
	return image_block_clamp(b[0] * 8 + 4 + modifier, 0, 2047) / 2047.0f;
}

static void image_block_eac_r11(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
				float value[4])
{
	value[0] = image_block_eac_value(b, x, y, is_signed);
}

static void image_block_eac_rg11(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
				 float value[4])
{
	value[0] = image_block_eac_value(b, x, y, is_signed);
	value[1] = image_block_eac_value(b + 8, x, y, is_signed);
}

const struct vagx_block_format *vagx_block_format(unsigned int channels)
{
#define ASTC(width, height)								\
	{ AGX_CHANNELS_ASTC_##width##X##height, width, height, 16, 8,			\
	  vagx_block_astc_##width##x##height },
	static const struct vagx_block_format formats[] = {
		VAGX_BLOCK_ASTC(ASTC)
		{ AGX_CHANNELS_ETC2_RGB8, SIDE, SIDE, 8, 8, image_block_etc2_rgb8 },
		{ AGX_CHANNELS_ETC2_RGBA8, SIDE, SIDE, 16, 8, image_block_etc2_rgba8 },
		{ AGX_CHANNELS_ETC2_RGB8A1, SIDE, SIDE, 8, 8, image_block_etc2_rgb8a1 },
		{ AGX_CHANNELS_EAC_R11, SIDE, SIDE, 8, 11, image_block_eac_r11 },
		{ AGX_CHANNELS_EAC_RG11, SIDE, SIDE, 16, 11, image_block_eac_rg11 },
		{ AGX_CHANNELS_BC1, SIDE, SIDE, 8, 8, image_block_bc1 },
		{ AGX_CHANNELS_BC2, SIDE, SIDE, 16, 8, image_block_bc2 },
		{ AGX_CHANNELS_BC3, SIDE, SIDE, 16, 8, image_block_bc3 },
		{ AGX_CHANNELS_BC4, SIDE, SIDE, 8, 14, image_block_bc4 },
		{ AGX_CHANNELS_BC5, SIDE, SIDE, 16, 14, image_block_bc5 },
		{ AGX_CHANNELS_BC6H, SIDE, SIDE, 16, 16, vagx_block_bc6h_signed },
		{ AGX_CHANNELS_BC6H_UFLOAT, SIDE, SIDE, 16, 16, vagx_block_bc6h_unsigned },
		{ AGX_CHANNELS_BC7, SIDE, SIDE, 16, 8, vagx_block_bc7 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].channels == channels)
			return &formats[i];
	}
	return NULL;
}
