// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Textures of blocks in all modes of their formats: noise, but for the bits that
 * choose mode and partition.
 */
#include <string.h>

#include "scene-textures.h"

#define BLOCKS_PER_ROW	16

static uint32_t mix(uint32_t hash, uint32_t value)
{
	hash = (hash ^ value) * 0x9e3779b1u;
	return hash ^ hash >> 15;
}

static void fill_noise(uint8_t *block, const struct scene_texture *t, uint32_t x,
		       uint32_t y)
{
	uint32_t hash = mix(mix(mix(t->format, t->mode), x), y), i;

	for (i = 0; i < t->bytes; i++) {
		hash = mix(hash, i);
		block[i] = hash >> 16;
	}
}

static void set_bits(uint8_t *block, unsigned int at, unsigned int count,
		     uint32_t value)
{
	unsigned int i;

	for (i = at; i < at + count; i++, value >>= 1) {
		block[i / 8] &= ~(1u << i % 8);
		block[i / 8] |= (value & 1) << i % 8;
	}
}

/* A mode is as many zeros; what follows are partition, or rotation and more */
static void fill_bc7(uint8_t *block, const struct scene_texture *t,
		     uint32_t level, uint32_t layer, uint32_t x, uint32_t y)
{
	uint32_t index = y * BLOCKS_PER_ROW + x;

	(void)level;
	(void)layer;
	fill_noise(block, t, x, y);
	if (t->mode < 9)
		set_bits(block, 0, t->mode, 0);
	if (t->mode < 8) {
		set_bits(block, t->mode, 1, 1);
		set_bits(block, t->mode + 1, 6, index);
	}
}

/* Of two bits, or of five, and the 32 ways to part a block */
static void fill_bc6h(uint8_t *block, const struct scene_texture *t,
		      uint32_t level, uint32_t layer, uint32_t x, uint32_t y)
{
	static const uint8_t modes[] = {
		0, 1, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15,
	};
	uint32_t index = y * BLOCKS_PER_ROW + x;
	uint32_t mode = t->mode * 2 + index % 2;

	(void)level;
	(void)layer;
	fill_noise(block, t, x, y);
	/* what has no meaning is black, as far as lavapipe is concerned */
	if (mode >= sizeof(modes))
		return;
	set_bits(block, 0, modes[mode] < 2 ? 2 : 5, modes[mode]);
	if (modes[mode] % 4 != 3)
		set_bits(block, 77, 5, index / 2);
}

#define BLOCKS(name, number, function)						\
	{									\
		.format = VK_FORMAT_##name, .view = VK_IMAGE_VIEW_TYPE_2D,	\
		.width = 4 * BLOCKS_PER_ROW, .height = 4 * BLOCKS_PER_ROW,	\
		.bytes = 16, .block = 4, .mode = (number), .fill = (function),	\
	}
#define BC7(number)	BLOCKS(BC7_UNORM_BLOCK, number, fill_bc7)
#define BC6H(number)								\
	BLOCKS(BC6H_UFLOAT_BLOCK, number, fill_bc6h),				\
	BLOCKS(BC6H_SFLOAT_BLOCK, number, fill_bc6h)

const struct scene_texture texture_bc7[16] = {
	BC7(0), BC7(1), BC7(2), BC7(3), BC7(4), BC7(5), BC7(6), BC7(7),
	/* no mode, and any */
	BC7(8), BC7(9), BC7(10), BC7(11),
	BLOCKS(BC7_SRGB_BLOCK, 1, fill_bc7), BLOCKS(BC7_SRGB_BLOCK, 5, fill_bc7),
	BLOCKS(BC7_SRGB_BLOCK, 6, fill_bc7), BLOCKS(BC7_SRGB_BLOCK, 9, fill_bc7),
};

const struct scene_texture texture_bc6h[16] = {
	BC6H(0), BC6H(1), BC6H(2), BC6H(3), BC6H(4), BC6H(5), BC6H(6), BC6H(7),
};
