// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images: where a texel is. (mesa src/asahi/layout/layout.c, tiling.c)
 */
#include "agx_packets.h"
#include "gpu/image.h"

#define LINE_BYTES	128
#define PAGE_BYTES	16384
#define MAX_LEVELS	15
/* Samples of a block of compression in each direction */
#define BLOCK_SAMPLES	16

/* Bits of x and y in turn, x first */
static uint64_t morton(uint32_t x, uint32_t y)
{
	uint64_t index = 0;
	unsigned int i;

	for (i = 0; i < 16; i++)
		index |= (uint64_t)(x >> i & 1) << (2 * i) | (uint64_t)(y >> i & 1) << (2 * i + 1);
	return index;
}

static uint32_t power_of_two(uint32_t n)
{
	return n < 2 ? 1 : 1u << (32 - __builtin_clz(n - 1));
}

/* Squares in rows, each in Morton order */
static uint64_t squares(uint32_t x, uint32_t y, uint32_t side, uint32_t per_row)
{
	return ((uint64_t)(y / side) * per_row + x / side) * side * side +
	       morton(x % side, y % side);
}

/* Blocks of so many texels; what has none has texels in their place */
static uint32_t blocks_of(const struct vagx_image *image, uint32_t texels, bool across)
{
	uint32_t side = !image->block ? 1 : across ? image->block->width : image->block->height;

	return (texels + side - 1) / side;
}

struct level {
	uint64_t offset;
	/* tiles of this level, in texels or blocks */
	uint32_t tile_w, tile_h;
	uint32_t tiles_per_row;
};

static void tile_size(uint32_t bytes, uint32_t *w, uint32_t *h)
{
	unsigned int log2 = __builtin_ctz(PAGE_BYTES / bytes);

	*w = 1u << ((log2 + 1) / 2);
	*h = 1u << (log2 / 2);
}

static uint32_t minify(uint32_t n, unsigned int level)
{
	return n >> level ? n >> level : 1;
}

static uint64_t align(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* Tiles of a level, of an image with so many at first */
static uint64_t level_tiles(uint64_t sx, uint64_t sy, unsigned int level)
{
	uint64_t mask = (1ULL << level) - 1;
	uint64_t tiles = sx * sy >> 2 * level;

	if (sx & mask)
		tiles += sy >> level;
	if (sy & mask)
		tiles += sx >> level;
	return tiles + (sx & mask && sy & mask);
}

/* Whether a level is made of whole tiles; the size of blocks is rounded up before it is halved */
static bool is_large(const struct vagx_image *image, unsigned int level, uint32_t w, uint32_t h)
{
	uint32_t across = image->width, down = image->height;

	if (image->block) {
		across = blocks_of(image, across, true) * image->block->width;
		down = blocks_of(image, down, false) * image->block->height;
	}
	return blocks_of(image, minify(across, level), true) >= w &&
	       blocks_of(image, minify(down, level), false) >= h;
}

/*
 * Sizes are rounded up to a power of two at the first small level, and halved from
 * there on; those in blocks are rounded up at the first of all.
 */
static uint32_t small_size(const struct vagx_image *image, uint32_t size, unsigned int level)
{
	if (image->block)
		return minify(power_of_two(size), level);
	return power_of_two(minify(size, level));
}

/* Return: the bytes that all levels up to the one that is asked for have, with it */
static uint64_t find_level(const struct vagx_image *image, unsigned int which, struct level *level)
{
	const uint32_t bytes = image->bytes * image->samples;
	const uint32_t all_w = blocks_of(image, image->width, true);
	const uint32_t all_h = blocks_of(image, image->height, false);
	uint32_t w, h, sx, sy, side, pot_w = 0, pot_h = 0;
	uint64_t end = 0;
	unsigned int l;

	tile_size(bytes, &w, &h);
	sx = (all_w + w - 1) / w;
	sy = (all_h + h - 1) / h;
	for (l = 0; l <= which && l < MAX_LEVELS; l++) {
		uint32_t lw = blocks_of(image, minify(image->width, l), true);

		if (!pot_w && is_large(image, l, w, h)) {
			/* blocks have a column of tiles more where halves were cut off */
			lw += image->block && sx & ((1u << l) - 1);
			*level = (struct level){ end, w, h, (lw + w - 1) / w };
			end += level_tiles(sx, sy, l) * PAGE_BYTES;
			continue;
		}
		pot_w = pot_w ? minify(pot_w, 1) : small_size(image, all_w, l);
		pot_h = pot_h ? minify(pot_h, 1) : small_size(image, all_h, l);
		side = image->block ? power_of_two(pot_w < pot_h ? pot_w : pot_h) :
		       power_of_two(minify(all_w < all_h ? all_w : all_h, l));
		*level = (struct level){ end, side, side, (lw + side - 1) / side };
		end = align(end + (uint64_t)bytes * pot_w * pot_h, LINE_BYTES);
	}
	return end;
}

static uint64_t layer_bytes(const struct vagx_image *image)
{
	struct level level;

	if (image->layer_stride)
		return image->layer_stride;
	return align(find_level(image, image->levels - 1, &level),
		     image->page_aligned ? PAGE_BYTES : LINE_BYTES);
}

/* Tiles with an odd number of bits are twice as wide as high: two squares side by side */
static uint64_t inside_tile(const struct level *level, uint32_t x, uint32_t y)
{
	uint32_t side = level->tile_h;

	return squares(x % level->tile_w, y % level->tile_h, side, level->tile_w / side);
}

uint64_t vagx_image_address(const struct vagx_image *image, const struct vagx_texel *t)
{
	const uint32_t x = t->x / (image->block ? image->block->width : 1);
	const uint32_t y = t->y / (image->block ? image->block->height : 1);
	uint64_t texel, tile, base = image->address;
	struct level level;

	if (image->layout == AGX_IMAGE_LAYOUT_LINEAR)
		return base + t->layer * image->layer_stride + (uint64_t)y * image->stride +
		       (uint64_t)x * image->bytes;
	if (image->layout == AGX_IMAGE_LAYOUT_TWIDDLED) {
		uint32_t w = power_of_two(blocks_of(image, image->width, true));
		uint32_t h = power_of_two(blocks_of(image, image->height, false));
		uint32_t side = w < h ? w : h;

		texel = squares(x, y, side, w / side);
		return base + (t->layer * (uint64_t)w * h + texel) * image->bytes;
	}

	find_level(image, t->level, &level);
	tile = (uint64_t)(y / level.tile_h) * level.tiles_per_row + x / level.tile_w;
	texel = tile * level.tile_w * level.tile_h + inside_tile(&level, x, y);
	return base + t->layer * layer_bytes(image) + level.offset +
	       (texel * image->samples + t->sample) * image->bytes;
}

/*
 * Compression: a block is 16 by 16 samples, and has 8 bytes of metadata. Only
 * levels that are at least as large as a block have them. (ail_initialize_compression;
 * src/asahi/libagx/compression.cl for blocks of one colour)
 */

static uint32_t samples_x(const struct vagx_image *image, uint32_t x)
{
	return image->samples == 4 ? x * 2 : x;
}

static uint32_t samples_y(const struct vagx_image *image, uint32_t y)
{
	return image->samples > 1 ? y * 2 : y;
}

static uint32_t blocks_size(uint32_t samples)
{
	return (uint32_t)align(samples, BLOCK_SAMPLES);
}

bool vagx_image_has_metadata(const struct vagx_image *image, unsigned int level)
{
	uint32_t w = blocks_size(samples_x(image, image->width));
	uint32_t h = blocks_size(samples_y(image, image->height));

	return image->metadata && (w > h ? w : h) >> level >= BLOCK_SAMPLES;
}

/* Where a level's metadata is, and its blocks; of the level behind the last one: all of it */
static uint64_t metadata_level(const struct vagx_image *image, unsigned int which, uint32_t *w,
			       uint32_t *h)
{
	uint32_t sw = blocks_size(samples_x(image, image->width));
	uint32_t sh = blocks_size(samples_y(image, image->height));
	uint64_t offset = 0;
	unsigned int l;

	for (l = 0;; l++) {
		*w = (power_of_two(sw) + BLOCK_SAMPLES - 1) / BLOCK_SAMPLES;
		*h = (power_of_two(sh) + BLOCK_SAMPLES - 1) / BLOCK_SAMPLES;
		if (l == which || !vagx_image_has_metadata(image, l))
			return offset;
		offset = align(offset + (uint64_t)*w * *h * 8, LINE_BYTES);
		sw = (sw + 1) / 2;
		sh = (sh + 1) / 2;
	}
}

uint64_t vagx_image_metadata(const struct vagx_image *image, const struct vagx_texel *t)
{
	uint32_t bx = samples_x(image, t->x) / BLOCK_SAMPLES;
	uint32_t by = samples_y(image, t->y) / BLOCK_SAMPLES;
	uint64_t stride = image->metadata_stride, offset;
	uint32_t w, h, side;

	if (!stride)
		stride = metadata_level(image, image->levels, &w, &h);
	offset = metadata_level(image, t->level, &w, &h);
	side = w < h ? w : h;
	return image->metadata + t->layer * stride + offset +
	       squares(bx, by, side, w / side) * 8;
}

uint8_t vagx_image_raw_code(const struct vagx_image *image)
{
	switch (image->bytes) {
	case 1:
		return 0x1f;
	case 2:
		return 0x3f;
	case 4:
		return 0x7f;
	default:
		return 0xff;
	}
}

static uint8_t solid_code(const struct vagx_image *image)
{
	switch (image->bytes) {
	case 1:
		return 0x60;
	case 2:
		return 0x01;
	case 4:
		return 0x03;
	default:
		return 0x07;
	}
}

bool vagx_image_find_in_block(const struct vagx_image *image, const uint8_t *codes,
			      struct vagx_texel *t)
{
	unsigned int i;

	for (i = 1; i < 8; i++) {
		if (codes[i] != codes[0])
			return false;
	}
	if (codes[0] == vagx_image_raw_code(image))
		return true;
	if (codes[0] != solid_code(image))
		return false;
	t->x &= ~((BLOCK_SAMPLES >> (image->samples == 4)) - 1u);
	t->y &= ~((BLOCK_SAMPLES >> (image->samples > 1)) - 1u);
	t->sample = 0;
	return true;
}
