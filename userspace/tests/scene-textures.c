// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <string.h>

#include "scene-textures.h"

/* Texels */

static void fill_checker(uint8_t *texel, const struct scene_texture *t,
			 uint32_t level, uint32_t layer, uint32_t x, uint32_t y)
{
	(void)t;
	(void)level;
	(void)layer;
	texel[0] = x * 16;
	texel[1] = y * 16;
	texel[2] = (x ^ y) & 1 ? 255 : 0;
	texel[3] = 255;
}

/* Squares with a rim; smaller levels are the mean of what they are made of */
static void fill_tiles(uint8_t *texel, const struct scene_texture *t,
		       uint32_t level, uint32_t layer, uint32_t x, uint32_t y)
{
	const uint32_t texels = 1u << level;
	uint32_t i, j, sum = 0;

	(void)t;
	(void)layer;
	for (i = y << level; i < (y + 1) << level; i++) {
		for (j = x << level; j < (x + 1) << level; j++) {
			const bool is_rim = !(i % 16) || !(j % 16);

			sum += is_rim ? 40 : (i / 16 + j / 16) % 2 ? 255 : 150;
		}
	}
	memset(texel, sum / (texels * texels), 3);
	texel[3] = 255;
}

/* Rows that alternate, of which smaller levels have none left; faces have a tint each */
static void fill_stripes(uint8_t *texel, const struct scene_texture *t,
			 uint32_t level, uint32_t layer, uint32_t x, uint32_t y)
{
	(void)t;
	texel[0] = level ? 128 : y % 2 ? 255 : 0;
	texel[1] = 40 * layer;
	texel[2] = (x << level) * 3;
	texel[3] = 255;
}

static uint32_t mix(uint32_t hash, uint32_t value)
{
	hash = (hash ^ value) * 0x9e3779b1u;
	return hash ^ hash >> 15;
}

/* No two texels are alike, and no bit has a meaning */
static void fill_noise(uint8_t *texel, const struct scene_texture *t,
		       uint32_t level, uint32_t layer, uint32_t x, uint32_t y)
{
	uint32_t hash = mix(mix(mix(mix(t->format, level), layer), x), y), i;

	for (i = 0; i < t->bytes; i++) {
		hash = mix(hash, i);
		texel[i] = hash >> 16;
	}
}

/* Numbers from 0 to 1, as other bits would be none */
static void fill_halves(uint8_t *texel, const struct scene_texture *t,
			uint32_t level, uint32_t layer, uint32_t x, uint32_t y)
{
	uint32_t i;

	fill_noise(texel, t, level, layer, x, y);
	for (i = 1; i < t->bytes; i += 2)
		texel[i] = 0x30 | (texel[i] & 0xb);
}

/* The same of 11 and 10 bits */
static void fill_small_floats(uint8_t *texel, const struct scene_texture *t,
			      uint32_t level, uint32_t layer, uint32_t x,
			      uint32_t y)
{
	fill_noise(texel, t, level, layer, x, y);
	texel[1] &= 0xfb;
	texel[2] &= 0xdf;
	texel[3] &= 0x7f;
}

static void fill_floats(uint8_t *texel, const struct scene_texture *t,
			uint32_t level, uint32_t layer, uint32_t x, uint32_t y)
{
	uint32_t hash = mix(mix(mix(level, layer), x), y), i;

	for (i = 0; i < t->bytes; i += 4) {
		const float value = (hash >> 8 & 0xfff) / 4096.0f;

		memcpy(texel + i, &value, sizeof(value));
		hash = mix(hash, i);
	}
}

/* Some are as far away as can be */
static void fill_depths(uint8_t *texel, const struct scene_texture *t,
			uint32_t level, uint32_t layer, uint32_t x, uint32_t y)
{
	fill_noise(texel, t, level, layer, x, y);
	if (x % 3 == y % 3)
		memset(texel, 0xff, t->bytes);
}

/* The scenes' */

#define RGBA8	.format = VK_FORMAT_R8G8B8A8_UNORM, .bytes = 4

const struct scene_texture texture_nearest[] = {
	{
		RGBA8, .view = VK_IMAGE_VIEW_TYPE_2D, .width = 16, .height = 16,
		.fill = fill_checker,
	},
};

const struct scene_texture texture_linear[] = {
	{
		RGBA8, .view = VK_IMAGE_VIEW_TYPE_2D, .width = 16, .height = 16,
		.fill = fill_checker, .filter = VK_FILTER_LINEAR,
	},
};

const struct scene_texture texture_tiles[] = {
	{
		RGBA8, .view = VK_IMAGE_VIEW_TYPE_2D, .width = 64, .height = 64,
		.levels = 7, .fill = fill_tiles, .filter = VK_FILTER_LINEAR,
		.mipmap = VK_SAMPLER_MIPMAP_MODE_LINEAR,
	},
};

const struct scene_texture texture_sparse[] = {
	{
		RGBA8, .view = VK_IMAGE_VIEW_TYPE_2D, .width = 512, .height = 512,
		.fill = fill_noise, .filter = VK_FILTER_LINEAR, .is_sparse = true,
	},
};

#define SPARSE_ARRAY(w, h, count, chain)					\
	.view = VK_IMAGE_VIEW_TYPE_2D_ARRAY, .width = (w), .height = (h),	\
	.layers = (count), .levels = (chain), .filter = VK_FILTER_LINEAR,	\
	.is_sparse = true

/*
 * Layers of several blocks; with an edge; of blocks that are not square; smaller than a
 * block. None of a compressed format: what Mesa's Honeykrisp (26.1) binds of those are other
 * pages, as if it divided by the size of a format's blocks twice.
 */
const struct scene_texture texture_sparse_arrays[] = {
	{
		RGBA8, .fill = fill_noise, SPARSE_ARRAY(256, 256, 3, 9), .has_tail = true,
		.mipmap = VK_SAMPLER_MIPMAP_MODE_LINEAR,
	}, {
		RGBA8, .fill = fill_noise, SPARSE_ARRAY(300, 200, 2, 9),
	}, {
		.format = VK_FORMAT_R16G16B16A16_SFLOAT, .bytes = 8,
		SPARSE_ARRAY(280, 150, 2, 9), .fill = fill_halves, .has_tail = true,
	}, {
		RGBA8, .fill = fill_noise, SPARSE_ARRAY(60, 40, 4, 6), .has_tail = true,
		.mipmap = VK_SAMPLER_MIPMAP_MODE_LINEAR,
	},
};

#define STRIPES								\
	RGBA8, .width = 64, .height = 64, .levels = 7,				\
	.fill = fill_stripes, .filter = VK_FILTER_LINEAR,			\
	.mipmap = VK_SAMPLER_MIPMAP_MODE_LINEAR

const struct scene_texture texture_oblique[] = {
	{
		STRIPES, .view = VK_IMAGE_VIEW_TYPE_2D, .anisotropy = 16,
	}, {
		STRIPES, .view = VK_IMAGE_VIEW_TYPE_CUBE, .layers = 6,
		.anisotropy = 16,
	}, {
		STRIPES, .view = VK_IMAGE_VIEW_TYPE_CUBE, .layers = 6,
	},
};

#define CUBE(type, count)							\
	RGBA8, .view = (type), .width = 4, .height = 4, .levels = 3,		\
	.layers = (count), .fill = fill_noise

const struct scene_texture texture_cubes[] = {
	{
		CUBE(VK_IMAGE_VIEW_TYPE_CUBE, 6),
	}, {
		CUBE(VK_IMAGE_VIEW_TYPE_CUBE, 6), .filter = VK_FILTER_LINEAR,
	}, {
		CUBE(VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, 12),
		.filter = VK_FILTER_LINEAR,
	}, {
		CUBE(VK_IMAGE_VIEW_TYPE_CUBE, 6), .filter = VK_FILTER_LINEAR,
		.mipmap = VK_SAMPLER_MIPMAP_MODE_LINEAR,
	},
};

#define FORMAT(name, size, function)						\
	{									\
		.format = VK_FORMAT_##name, .view = VK_IMAGE_VIEW_TYPE_2D,	\
		.width = 16, .height = 16, .bytes = (size),			\
		.fill = (function),						\
	}

const struct scene_texture texture_formats[] = {
	FORMAT(R5G6B5_UNORM_PACK16, 2, fill_noise),
	FORMAT(B5G6R5_UNORM_PACK16, 2, fill_noise),
	FORMAT(A1R5G5B5_UNORM_PACK16, 2, fill_noise),
	FORMAT(B4G4R4A4_UNORM_PACK16, 2, fill_noise),
	FORMAT(B10G11R11_UFLOAT_PACK32, 4, fill_small_floats),
	FORMAT(A2B10G10R10_UNORM_PACK32, 4, fill_noise),
	FORMAT(A2R10G10B10_UNORM_PACK32, 4, fill_noise),
	FORMAT(E5B9G9R9_UFLOAT_PACK32, 4, fill_noise),
	FORMAT(R8_UNORM, 1, fill_noise),
	FORMAT(R8G8_SNORM, 2, fill_noise),
	FORMAT(B8G8R8A8_UNORM, 4, fill_noise),
	FORMAT(R8G8B8A8_SRGB, 4, fill_noise),
	FORMAT(R16_UNORM, 2, fill_noise),
	FORMAT(R16G16_SNORM, 4, fill_noise),
	FORMAT(R16G16B16A16_SFLOAT, 8, fill_halves),
	FORMAT(R32G32B32A32_SFLOAT, 16, fill_floats),
};

#define BLOCKS(name, size)							\
	{									\
		.format = VK_FORMAT_##name, .view = VK_IMAGE_VIEW_TYPE_2D,	\
		.width = 16, .height = 16, .bytes = (size), .block = 4,		\
		.fill = fill_noise,						\
	}
/* One of its smaller levels is shown, by a view that begins there */
#define LEVEL_OF_BLOCKS(name, size, w, h, which)				\
	{									\
		.format = VK_FORMAT_##name, .view = VK_IMAGE_VIEW_TYPE_2D,	\
		.width = (w), .height = (h), .levels = (which) + 1,		\
		.first_level = (which), .bytes = (size), .block = 4,		\
		.fill = fill_noise,						\
	}

const struct scene_texture texture_blocks[] = {
	BLOCKS(BC1_RGB_UNORM_BLOCK, 8),
	BLOCKS(BC1_RGBA_UNORM_BLOCK, 8),
	BLOCKS(BC1_RGBA_SRGB_BLOCK, 8),
	BLOCKS(BC2_UNORM_BLOCK, 16),
	BLOCKS(BC2_SRGB_BLOCK, 16),
	BLOCKS(BC3_UNORM_BLOCK, 16),
	BLOCKS(BC3_SRGB_BLOCK, 16),
	BLOCKS(BC4_UNORM_BLOCK, 8),
	BLOCKS(BC4_SNORM_BLOCK, 8),
	BLOCKS(BC5_UNORM_BLOCK, 16),
	BLOCKS(BC5_SNORM_BLOCK, 16),
	LEVEL_OF_BLOCKS(BC1_RGB_UNORM_BLOCK, 8, 41, 35, 1),
	LEVEL_OF_BLOCKS(BC3_UNORM_BLOCK, 16, 249, 300, 1),
	LEVEL_OF_BLOCKS(BC4_UNORM_BLOCK, 8, 20, 68, 1),
	LEVEL_OF_BLOCKS(BC5_UNORM_BLOCK, 16, 130, 130, 3),
	LEVEL_OF_BLOCKS(BC3_UNORM_BLOCK, 16, 290, 300, 1),
};

#define MIPS									\
	RGBA8, .view = VK_IMAGE_VIEW_TYPE_2D, .width = 32, .height = 16,	\
	.levels = 6, .fill = fill_noise

const struct scene_texture texture_lookups[] = {
	{
		MIPS,
	}, {
		MIPS, .filter = VK_FILTER_LINEAR,
		.mipmap = VK_SAMPLER_MIPMAP_MODE_LINEAR,
		.wrap = VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT,
	}, {
		MIPS, .filter = VK_FILTER_LINEAR,
		.wrap = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
		.border = VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE,
	},
};

#define DEPTHS(name, size, function)						\
	.format = VK_FORMAT_##name, .bytes = (size), .fill = (function),	\
	.width = 8, .height = 8, .compares = true

const struct scene_texture texture_shadows[] = {
	{
		DEPTHS(D32_SFLOAT, 4, fill_floats),
		.view = VK_IMAGE_VIEW_TYPE_2D, .filter = VK_FILTER_LINEAR,
		.compare = VK_COMPARE_OP_LESS_OR_EQUAL,
	}, {
		DEPTHS(D16_UNORM, 2, fill_depths),
		.view = VK_IMAGE_VIEW_TYPE_2D,
		.compare = VK_COMPARE_OP_GREATER,
	}, {
		DEPTHS(D32_SFLOAT, 4, fill_floats), .layers = 3,
		.view = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
		.wrap = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
		.filter = VK_FILTER_LINEAR, .compare = VK_COMPARE_OP_LESS,
	}, {
		DEPTHS(D32_SFLOAT, 4, fill_floats), .layers = 6,
		.view = VK_IMAGE_VIEW_TYPE_CUBE, .filter = VK_FILTER_LINEAR,
		.compare = VK_COMPARE_OP_GREATER_OR_EQUAL,
	},
};
