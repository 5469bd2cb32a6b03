// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images: where a texel is. (mesa src/asahi/layout/layout.c, layout.h)
 */
#include <string.h>

#include "agx_layout.h"
#include "agx_layout_index.h"
#include "agx_packets.h"

/* Bytes of four channels of 32 bits, or of a block */
#define MAX_ELEMENT	16

static uint32_t power_of_two(uint32_t n)
{
	return n < 2 ? 1 : 1u << (32 - __builtin_clz(n - 1));
}

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t minify(uint32_t n, unsigned int level)
{
	return n >> level ? n >> level : 1;
}

static uint64_t align(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint32_t divide_up(uint32_t n, uint32_t by)
{
	return (n + by - 1) / by;
}

/*
 * Return: the index of a texel in an image of square tiles, which follow each other in rows and
 * have their texels in Morton order. @side and @width are powers of two.
 */
static uint64_t tiled_index(uint32_t x, uint32_t y, uint32_t side, uint32_t width)
{
	const unsigned int log2 = __builtin_ctz(side);
	const uint64_t row = (uint64_t)(y >> log2) * (width >> log2);

	return ((row + (x >> log2)) << 2 * log2) + agx_layout_morton(x & (side - 1), y & (side - 1));
}

static uint32_t block_width(const struct agx_layout *l)
{
	return l->block_width ? l->block_width : 1;
}

static uint32_t block_height(const struct agx_layout *l)
{
	return l->block_height ? l->block_height : 1;
}

static bool has_blocks(const struct agx_layout *l)
{
	return block_width(l) > 1 || block_height(l) > 1;
}

/* Bytes of all samples */
static uint32_t texel_bytes(const struct agx_layout *l)
{
	return l->element_bytes * l->samples;
}

uint32_t agx_layout_chain(uint32_t width, uint32_t height, uint32_t depth)
{
	uint32_t most = width > height ? width : height;

	most = depth > most ? depth : most;
	return most ? 32 - __builtin_clz(most) : 0;
}

static const char *check(const struct agx_layout *l)
{
	if (l->kind > AGX_IMAGE_LAYOUT_GPU)
		return "interchange layout";
	if (!l->width || !l->height || !l->layers || !l->levels)
		return "an image without texels";
	if (l->samples != 1 && l->samples != 2 && l->samples != 4)
		return "number of samples";
	if (has_blocks(l) && l->samples > 1)
		return "samples of blocks";
	if (!is_power_of_two(l->element_bytes) || l->element_bytes > MAX_ELEMENT)
		return "bytes of a texel";
	if (l->kind == AGX_IMAGE_LAYOUT_LINEAR) {
		if (l->levels > 1 || l->samples > 1 || has_blocks(l) || l->compressed)
			return "linear layout of levels, samples or blocks";
		return NULL;
	}
	if (l->width > AGX_LAYOUT_MAX_SIZE || l->height > AGX_LAYOUT_MAX_SIZE)
		return "an image of more than 16384 texels";
	if (l->levels > AGX_LAYOUT_MAX_LEVELS)
		return "more than 15 levels";
	return l->compressed && has_blocks(l) ? "compression of blocks" : NULL;
}

static void init_linear(struct agx_layout *l)
{
	struct agx_layout_level *level = &l->level[0];

	if (!l->stride)
		l->stride = (uint32_t)align((uint64_t)l->width * l->element_bytes,
					    AGX_LAYOUT_LINE);
	*level = (struct agx_layout_level){
		.bytes = align((uint64_t)l->stride * l->height, AGX_LAYOUT_LINE),
		.width = l->width,
		.height = l->height,
		.tile_width = 1,
		.tile_height = 1,
		.tiles_per_row = l->width,
	};
	if (!l->layer_stride)
		l->layer_stride = level->bytes;
}

/* A page of elements: a square, or two beside each other */
static void large_tile(const struct agx_layout *l, uint32_t *w, uint32_t *h)
{
	unsigned int log2 = __builtin_ctz(AGX_LAYOUT_PAGE / texel_bytes(l));

	*w = 1u << ((log2 + 1) / 2);
	*h = 1u << (log2 / 2);
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

/* Where a size in texels is halved that was rounded up to blocks */
static uint32_t halved_blocks(uint32_t elements, uint32_t block, unsigned int level)
{
	return divide_up(minify(elements * block, level), block);
}

/* Return: the first level that is not as large as a tile in both directions */
static uint32_t find_tail(const struct agx_layout *l, uint32_t tile_w, uint32_t tile_h)
{
	const uint32_t w = divide_up(l->width, block_width(l));
	const uint32_t h = divide_up(l->height, block_height(l));
	uint32_t level = 0;

	while (level < l->levels && halved_blocks(w, block_width(l), level) >= tile_w &&
	       halved_blocks(h, block_height(l), level) >= tile_h)
		level++;
	return level;
}

/*
 * Sizes of small levels are rounded up to a power of two at the first of them, and
 * halved from there on; those in blocks are rounded up at the first level of all.
 */
static uint32_t small_size(const struct agx_layout *l, uint32_t elements, uint32_t tail)
{
	if (has_blocks(l))
		return minify(power_of_two(elements), tail);
	return power_of_two(minify(elements, tail));
}

static uint64_t place_level(struct agx_layout *l, unsigned int n, uint64_t offset, uint64_t bytes,
			    uint32_t tile_w, uint32_t tile_h, uint32_t row)
{
	struct agx_layout_level *level = &l->level[n];

	*level = (struct agx_layout_level){
		.offset = offset,
		.bytes = align(bytes, AGX_LAYOUT_LINE),
		.width = divide_up(minify(l->width, n), block_width(l)),
		.height = divide_up(minify(l->height, n), block_height(l)),
		.tile_width = tile_w,
		.tile_height = tile_h,
	};
	level->tiles_per_row = divide_up(row ? row : level->width, tile_w);
	return offset + level->bytes;
}

/* Return: the bytes of a layer */
static uint64_t init_gpu(struct agx_layout *l)
{
	const uint32_t w = divide_up(l->width, block_width(l));
	const uint32_t h = divide_up(l->height, block_height(l));
	uint32_t tile_w, tile_h, sx, sy, pot_w, pot_h, n, side;
	uint64_t offset = 0;

	large_tile(l, &tile_w, &tile_h);
	sx = divide_up(w, tile_w);
	sy = divide_up(h, tile_h);
	l->tail = find_tail(l, tile_w, tile_h);
	for (n = 0; n < l->tail; n++) {
		uint32_t row = divide_up(minify(l->width, n), block_width(l));

		/* blocks have a column of tiles more where halves were cut off */
		row += has_blocks(l) && sx & ((1u << n) - 1);
		offset = place_level(l, n, offset, level_tiles(sx, sy, n) * AGX_LAYOUT_PAGE,
				     tile_w, tile_h, row);
	}
	pot_w = small_size(l, w, n);
	pot_h = small_size(l, h, n);
	for (; n < l->levels; n++) {
		side = has_blocks(l) ? lesser(pot_w, pot_h) :
				       power_of_two(minify(lesser(w, h), n));
		offset = place_level(l, n, offset, (uint64_t)texel_bytes(l) * pot_w * pot_h, side,
				     side, 0);
		pot_w = minify(pot_w, 1);
		pot_h = minify(pot_h, 1);
	}
	return offset;
}

/* One curve over each level, whose room is a power of two */
static uint64_t init_twiddled(struct agx_layout *l)
{
	const uint32_t w = divide_up(l->width, block_width(l));
	const uint32_t h = divide_up(l->height, block_height(l));
	uint64_t offset = 0;
	unsigned int n;

	for (n = 0; n < l->levels; n++) {
		uint32_t pot_w = minify(power_of_two(w), n), pot_h = minify(power_of_two(h), n);
		uint64_t bytes = (uint64_t)texel_bytes(l) * pot_w * pot_h;
		uint32_t row = pot_w, side = lesser(pot_w, pot_h);

		if (!has_blocks(l)) {
			row = power_of_two(minify(w, n));
			side = lesser(row, power_of_two(minify(h, n)));
		}
		offset = place_level(l, n, offset, bytes, side, side, row);
	}
	l->page_aligned = true;
	return offset;
}

/*
 * Compression: a block is 16 by 16 samples, and has 8 bytes of metadata. Only
 * levels that are at least as large as a block both ways have them. There is room
 * for more: for levels of an image that is rounded up to blocks, as long as there
 * is a block one way.
 */

static uint32_t samples_x(const struct agx_layout *l, uint32_t x)
{
	return l->samples == 4 ? x * 2 : x;
}

static uint32_t samples_y(const struct agx_layout *l, uint32_t y)
{
	return l->samples > 1 ? y * 2 : y;
}

static void init_metadata(struct agx_layout *l)
{
	const uint32_t least = lesser(samples_x(l, l->width), samples_y(l, l->height));
	uint32_t w = (uint32_t)align(samples_x(l, l->width), AGX_LAYOUT_BLOCK);
	uint32_t h = (uint32_t)align(samples_y(l, l->height), AGX_LAYOUT_BLOCK);
	const uint32_t most = w > h ? w : h;
	uint64_t offset = 0;
	unsigned int n;

	for (n = 0; n < l->levels && most >> n >= AGX_LAYOUT_BLOCK; n++) {
		struct agx_layout_level *level = &l->level[n];

		level->has_codes = least >> n >= AGX_LAYOUT_BLOCK;
		level->metadata = offset;
		level->blocks_wide = divide_up(power_of_two(w), AGX_LAYOUT_BLOCK);
		level->blocks_high = divide_up(power_of_two(h), AGX_LAYOUT_BLOCK);
		offset = align(offset + (uint64_t)level->blocks_wide * level->blocks_high *
			       AGX_LAYOUT_CODES, AGX_LAYOUT_LINE);
		w = divide_up(w, 2);
		h = divide_up(h, 2);
	}
	l->metadata = l->size;
	if (!l->metadata_stride)
		l->metadata_stride = offset;
	l->size += l->metadata_stride * l->layers;
}

bool agx_layout_wants_pages(const struct agx_layout *layout, bool target, bool written,
			    bool depth_stencil)
{
	struct agx_layout l = *layout;

	l.page_aligned = false;
	l.layer_stride = 0;
	if (written || (target && l.layers > 1))
		return true;
	if (l.levels == 1 || (l.layers == 1 && !depth_stencil))
		return false;
	return !agx_layout_init(&l) && l.layer_stride > AGX_LAYOUT_PAGE;
}

const char *agx_layout_init(struct agx_layout *l)
{
	const char *why = check(l);
	uint64_t layer;

	if (why)
		return why;
	if (l->kind == AGX_IMAGE_LAYOUT_LINEAR) {
		init_linear(l);
	} else {
		layer = l->kind == AGX_IMAGE_LAYOUT_GPU ? init_gpu(l) : init_twiddled(l);
		if (!l->layer_stride)
			l->layer_stride = l->page_aligned ? align(layer, AGX_LAYOUT_PAGE) : layer;
	}
	l->size = l->layer_stride * l->layers;
	if (l->compressed)
		init_metadata(l);
	l->size = align(l->size, AGX_LAYOUT_LINE);
	l->folios = (uint32_t)(align(l->layer_stride, AGX_LAYOUT_PAGE * AGX_LAYOUT_FOLIO_PAGES) /
			       (AGX_LAYOUT_PAGE * AGX_LAYOUT_FOLIO_PAGES));
	return NULL;
}

uint64_t agx_layout_offset(const struct agx_layout *l, const struct agx_texel *t)
{
	const struct agx_layout_level *level = &l->level[t->level];
	uint32_t x = t->x, y = t->y;
	uint64_t element;

	if (has_blocks(l)) {
		x /= block_width(l);
		y /= block_height(l);
	}
	if (l->kind == AGX_IMAGE_LAYOUT_LINEAR)
		return t->layer * l->layer_stride + (uint64_t)y * l->stride +
		       (uint64_t)x * l->element_bytes;
	element = agx_layout_index(agx_layout_tiling_of(level), x, y);
	return t->layer * l->layer_stride + level->offset +
	       (element * l->samples + t->sample) * l->element_bytes;
}

bool agx_layout_has_metadata(const struct agx_layout *l, unsigned int level)
{
	return l->level[level].has_codes;
}

uint64_t agx_layout_codes(const struct agx_layout *l, const struct agx_texel *t)
{
	const struct agx_layout_level *level = &l->level[t->level];
	uint32_t side = lesser(level->blocks_wide, level->blocks_high);

	return t->layer * l->metadata_stride + level->metadata + AGX_LAYOUT_CODES *
	       tiled_index(samples_x(l, t->x) / AGX_LAYOUT_BLOCK,
			   samples_y(l, t->y) / AGX_LAYOUT_BLOCK, side, level->blocks_wide);
}

uint8_t agx_layout_raw_code(const struct agx_layout *l)
{
	static const uint8_t codes[] = { 0x1f, 0x3f, 0x7f, 0xff, 0xff };

	return codes[__builtin_ctz(l->element_bytes)];
}

uint8_t agx_layout_solid_code(const struct agx_layout *l)
{
	static const uint8_t codes[] = { 0x60, 0x01, 0x03, 0x07, 0x07 };

	return codes[__builtin_ctz(l->element_bytes)];
}

bool agx_layout_find_in_block(const struct agx_layout *l, const uint8_t *codes,
			      struct agx_texel *t)
{
	uint64_t all;

	_Static_assert(sizeof(all) == AGX_LAYOUT_CODES, "all codes of a block are one number");
	memcpy(&all, codes, sizeof(all));
	if (all != codes[0] * 0x0101010101010101ULL)
		return false;
	if (codes[0] == agx_layout_raw_code(l))
		return true;
	/* Nobody has written 0: it is the kernel's fresh memory, whatever that is as a texel. */
	if (codes[0] && codes[0] != agx_layout_solid_code(l))
		return false;
	t->x &= ~((AGX_LAYOUT_BLOCK >> (l->samples == 4)) - 1u);
	t->y &= ~((AGX_LAYOUT_BLOCK >> (l->samples > 1)) - 1u);
	t->sample = 0;
	return true;
}

bool agx_layout_is_morton(const struct agx_layout *l, unsigned int level, uint32_t side)
{
	return !has_blocks(l) && l->level[level].tile_width >= side &&
	       l->level[level].tile_height >= side;
}

uint64_t agx_layout_page(const struct agx_layout *l, uint64_t offset)
{
	uint64_t page = offset % l->layer_stride / AGX_LAYOUT_PAGE;
	uint64_t folio = offset / l->layer_stride * l->folios + page / AGX_LAYOUT_FOLIO_PAGES;

	return folio * AGX_LAYOUT_FOLIO_BYTES + page % AGX_LAYOUT_FOLIO_PAGES * 4;
}
