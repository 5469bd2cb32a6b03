// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * (Khronos Data Format Specification, "S3TC", "RGTC", "ETC2")
 */
#include <stddef.h>
#include <string.h>

#include "agx_packets.h"
#include "gpu/image_block.h"

#define BLOCK	4

static int image_block_clamp(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

/* A number of fewer bits, its highest ones repeated behind it, as one of 8 */
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

/* Two colours, and two or one between them. Return: false for one that is none. */
static bool image_block_bc_colour(const uint8_t *b, unsigned int x, unsigned int y, bool four,
				  float rgb[3])
{
	uint32_t first = b[0] | b[1] << 8, second = b[2] | b[3] << 8;
	unsigned int index = b[4 + y] >> 2 * x & 3, i;
	float ends[2][3], part;

	four = four || first > second;
	if (index == 3 && !four) {
		memset(rgb, 0, 3 * sizeof(*rgb));
		return false;
	}
	image_block_unpack_565(first, ends[0]);
	image_block_unpack_565(second, ends[1]);
	part = index < 2 ? index : four ? (index - 1) / 3.0f : 0.5f;
	for (i = 0; i < 3; i++)
		rgb[i] = ends[0][i] + part * (ends[1][i] - ends[0][i]);
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

static float image_block_bc_end(uint8_t end, bool is_signed)
{
	if (!is_signed)
		return end / 255.0f;
	return image_block_clamp((int8_t)end, -127, 127) / 127.0f;
}

/* Two numbers, and six, or four and the limits, between them */
static float image_block_bc_number(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed)
{
	float first = image_block_bc_end(b[0], is_signed),
	      second = image_block_bc_end(b[1], is_signed);
	unsigned int at = 3 * (y * BLOCK + x), index;
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
	value[3] = image_block_bc_number(b, x, y, false);
}

static void image_block_bc4(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
			    float value[4])
{
	value[0] = image_block_bc_number(b, x, y, is_signed);
}

static void image_block_bc5(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
			    float value[4])
{
	value[0] = image_block_bc_number(b, x, y, is_signed);
	value[1] = image_block_bc_number(b + 8, x, y, is_signed);
}

/* ETC2: texels are numbered by columns, and bits are counted from the first byte's highest */

static unsigned int image_block_etc_bits(const uint8_t *b, unsigned int at, unsigned int count)
{
	unsigned int value = 0, i;

	for (i = at; i < at + count; i++)
		value = value << 1 | (b[i / 8] >> (7 - i % 8) & 1);
	return value;
}

static unsigned int image_block_etc_index(const uint8_t *b, unsigned int x, unsigned int y)
{
	unsigned int at = x * BLOCK + y;

	return image_block_etc_bits(b, 47 - at, 1) << 1 | image_block_etc_bits(b, 63 - at, 1);
}

static void image_block_etc_add(const int base[3], int change, int rgb[3])
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		rgb[i] = image_block_clamp(base[i] + change, 0, 255);
}

/* Halves of a block, each with a colour and how much its texels are lighter or darker */
static void image_block_etc_halves(const uint8_t *b, unsigned int x, unsigned int y,
				   const int base[2][3], bool opaque, int rgb[3])
{
	static const uint8_t changes[8][2] = {
		{ 2, 8 }, { 5, 17 }, { 9, 29 }, { 13, 42 },
		{ 18, 60 }, { 24, 80 }, { 33, 106 }, { 47, 183 },
	};
	unsigned int half = (image_block_etc_bits(b, 31, 1) ? y : x) / 2;
	unsigned int index = image_block_etc_index(b, x, y);
	int change = changes[image_block_etc_bits(b, 24 + 3 * half, 3)][index & 1];

	if (!opaque && !(index & 1))
		change = 0;
	image_block_etc_add(base[half], index & 2 ? -change : change, rgb);
}

static const uint8_t image_block_etc_distances[8] = { 3, 6, 11, 16, 23, 32, 41, 64 };

/* A colour, and three on a line */
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

	image_block_etc_add(index ? second : first, index % 2 * (2 - (int)index) * distance, rgb);
}

/* Two pairs of colours; which of them is the greater is a bit of the distance */
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
	image_block_etc_add(
		base, index % 2 ? -image_block_etc_distances[d] : image_block_etc_distances[d],
		rgb);
}

/* Colours at three corners */
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

/* Two colours of 4 bits each */
static void image_block_etc_individual(const uint8_t *b, int base[2][3])
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		base[0][i] = image_block_expand(image_block_etc_bits(b, 8 * i, 4), 4);
		base[1][i] = image_block_expand(image_block_etc_bits(b, 8 * i + 4, 4), 4);
	}
}

/* One of 5 bits, and how the other differs. Return: which channel can't, 3 if all can */
static unsigned int image_block_etc_differential(const uint8_t *b, int base[2][3])
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		int first = image_block_etc_bits(b, 8 * i, 5),
		    change = image_block_etc_bits(b, 8 * i + 5, 3);
		int second = first + (change > 3 ? change - 8 : change);

		if (second < 0 || second > 31)
			return i;
		base[0][i] = image_block_expand(first, 5);
		base[1][i] = image_block_expand(second, 5);
	}
	return i;
}

/* @always: there are only differences. Return: whether the texel is there. */
static bool image_block_etc_colour(const uint8_t *b, unsigned int x, unsigned int y, bool always,
				   int rgb[3])
{
	bool differential = always || image_block_etc_bits(b, 30, 1);
	bool opaque = !always || image_block_etc_bits(b, 30, 1);
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
		image_block_etc_halves(b, x, y, (const int (*)[3])base, opaque, rgb);
	return true;
}

static void image_block_etc2(const uint8_t *b, unsigned int x, unsigned int y, bool always,
			     float value[4])
{
	int rgb[3];
	unsigned int i;

	value[3] = image_block_etc_colour(b, x, y, always, rgb);
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

/* A base, and eight differences from it, which are multiplied */
static int image_block_eac_change(const uint8_t *b, unsigned int x, unsigned int y)
{
	static const int8_t changes[16][8] = {
		{ -3, -6, -9, -15, 2, 5, 8, 14 }, { -3, -7, -10, -13, 2, 6, 9, 12 },
		{ -2, -5, -8, -13, 1, 4, 7, 12 }, { -2, -4, -6, -13, 1, 3, 5, 12 },
		{ -3, -6, -8, -12, 2, 5, 7, 11 }, { -3, -7, -9, -11, 2, 6, 8, 10 },
		{ -4, -7, -8, -11, 3, 6, 7, 10 }, { -3, -5, -8, -11, 2, 4, 7, 10 },
		{ -2, -6, -8, -10, 1, 5, 7, 9 }, { -2, -5, -8, -10, 1, 4, 7, 9 },
		{ -2, -4, -8, -10, 1, 3, 7, 9 }, { -2, -5, -7, -10, 1, 4, 6, 9 },
		{ -3, -4, -7, -10, 2, 3, 6, 9 }, { -1, -2, -3, -10, 0, 1, 2, 9 },
		{ -4, -6, -8, -9, 3, 5, 7, 8 }, { -3, -5, -7, -9, 2, 4, 6, 8 },
	};

	return changes[b[1] & 0xf][image_block_etc_bits(b, 16 + 3 * (x * BLOCK + y), 3)];
}

static void image_block_etc2_rgba8(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
				   float value[4])
{
	image_block_etc2(b + 8, x, y, false, value);
	value[3] = image_block_clamp(b[0] + image_block_eac_change(b, x, y) * (b[1] >> 4), 0, 255) /
		   255.0f;
}

/* Numbers of 11 bits; a factor of 0 stands for an eighth */
static float image_block_eac_number(const uint8_t *b, unsigned int x, unsigned int y,
				    bool is_signed)
{
	int factor = b[1] >> 4 ? (b[1] >> 4) * 8 : 1;
	int change = image_block_eac_change(b, x, y) * factor;

	if (is_signed)
		return image_block_clamp(image_block_clamp((int8_t)b[0], -127, 127) * 8 + change,
					 -1023, 1023) /
		       1023.0f;
	return image_block_clamp(b[0] * 8 + 4 + change, 0, 2047) / 2047.0f;
}

static void image_block_eac_r11(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
				float value[4])
{
	value[0] = image_block_eac_number(b, x, y, is_signed);
}

static void image_block_eac_rg11(const uint8_t *b, unsigned int x, unsigned int y, bool is_signed,
				 float value[4])
{
	value[0] = image_block_eac_number(b, x, y, is_signed);
	value[1] = image_block_eac_number(b + 8, x, y, is_signed);
}

const struct vagx_block_format *vagx_block_format(unsigned int channels)
{
#define ASTC(width, height)								\
	{ AGX_CHANNELS_ASTC_##width##X##height, width, height, 16, 8,			\
	  vagx_block_astc_##width##x##height },
	static const struct vagx_block_format formats[] = {
		VAGX_BLOCK_ASTC(ASTC)
		{ AGX_CHANNELS_ETC2_RGB8, BLOCK, BLOCK, 8, 8, image_block_etc2_rgb8 },
		{ AGX_CHANNELS_ETC2_RGBA8, BLOCK, BLOCK, 16, 8, image_block_etc2_rgba8 },
		{ AGX_CHANNELS_ETC2_RGB8A1, BLOCK, BLOCK, 8, 8, image_block_etc2_rgb8a1 },
		{ AGX_CHANNELS_EAC_R11, BLOCK, BLOCK, 8, 11, image_block_eac_r11 },
		{ AGX_CHANNELS_EAC_RG11, BLOCK, BLOCK, 16, 11, image_block_eac_rg11 },
		{ AGX_CHANNELS_BC1, BLOCK, BLOCK, 8, 8, image_block_bc1 },
		{ AGX_CHANNELS_BC2, BLOCK, BLOCK, 16, 8, image_block_bc2 },
		{ AGX_CHANNELS_BC3, BLOCK, BLOCK, 16, 8, image_block_bc3 },
		{ AGX_CHANNELS_BC4, BLOCK, BLOCK, 8, 14, image_block_bc4 },
		{ AGX_CHANNELS_BC5, BLOCK, BLOCK, 16, 14, image_block_bc5 },
		{ AGX_CHANNELS_BC6H, BLOCK, BLOCK, 16, 16, vagx_block_bc6h_signed },
		{ AGX_CHANNELS_BC6H_UFLOAT, BLOCK, BLOCK, 16, 16, vagx_block_bc6h_unsigned },
		{ AGX_CHANNELS_BC7, BLOCK, BLOCK, 16, 8, vagx_block_bc7 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].channels == channels)
			return &formats[i];
	}
	return NULL;
}
