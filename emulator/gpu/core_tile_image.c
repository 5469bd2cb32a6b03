// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Tiles to images: what programs at the end of a tile write.
 */
#include <errno.h>

#include "core_tile.h"
#include "gpu/image.h"
#include "gpu/square.h"

/* More than any tile has */
#define MAX_TILE_WIDTH	64

struct block {
	struct simdgroup *sg;
	const struct op *op;
	const struct vagx_image *image;
	struct agx_texel texel;
	/* bytes from the beginning of a sample */
	uint32_t offset;
	unsigned int width, height;
	/* what is in the tile is what the image is to have */
	bool is_plain;
	const struct vagx_tile *tile;
	/* bytes from a row's first sample, and from a sample to the next one */
	uint64_t column[MAX_TILE_WIDTH], sample_step;
	/* how many columns are beside each other in memory, from each on */
	unsigned int run[MAX_TILE_WIDTH];
};

static uint8_t *tile_image_ptr(struct block *b, uint64_t va, unsigned int bytes)
{
	struct vagx_core *core = b->sg->core;
	uint8_t *p = vagx_tlb_ptr(core->config.tlb, va, bytes, VAGX_WRITE, &core->fault);

	if (!p)
		vagx_core_fail(b->sg, b->op, -EFAULT, "store of a tile at 0x%llx",
			       (unsigned long long)va);
	return p;
}

/*
 * Where a sample is in an image is a sum, of what its column, its row and its number add:
 * in no layout does one of them matter to another.
 */
static void tile_image_find_columns(struct block *b)
{
	struct agx_texel at = b->texel;
	uint64_t first = vagx_image_address(b->image, &at);
	unsigned int x;

	for (x = 0; x < b->width; x++) {
		at.x = b->texel.x + x;
		b->column[x] = vagx_image_address(b->image, &at) - first;
	}
	b->run[b->width - 1] = 1;
	for (x = b->width - 1; x--; ) {
		bool beside = b->column[x + 1] ==
			      b->column[x] + b->image->layout.element_bytes;

		b->run[x] = beside ? b->run[x + 1] + 1 : 1;
	}
	at = b->texel;
	at.sample = b->image->layout.samples - 1;
	/* samples are beside each other */
	b->sample_step = at.sample ? (vagx_image_address(b->image, &at) - first) / at.sample : 0;
}

static bool tile_image_write_sample(struct block *b, const uint8_t *in_tile, uint64_t va)
{
	const unsigned int bytes = b->image->layout.element_bytes;
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];
	uint8_t *p = tile_image_ptr(b, va, bytes);

	if (!p)
		return false;
	if (b->is_plain && bytes == 4) {
		memcpy(p, in_tile, 4);
	} else if (b->is_plain) {
		memcpy(p, in_tile, bytes);
	} else {
		vagx_image_encode(b->image, b->op->mod[AGX_MOD_FORMAT], in_tile, bits);
		memcpy(p, bits, bytes);
	}
	return true;
}

/* Whether there is nothing to be done but to copy bytes, all of which are in the tile */
static bool tile_image_is_copy(const struct block *b)
{
	const uint32_t stride = b->sg->core->launch->sample_stride;
	const struct vagx_tile *tile = b->tile;

	return b->is_plain && tile->samples == 1 && b->image->layout.samples == 1 &&
	       (uint64_t)b->offset + b->image->layout.element_bytes <= stride &&
	       (uint64_t)tile->width * tile->height * stride <= tile_bytes(b->sg);
}

/* Samples that are beside each other in the image */
static void tile_image_copy_run(const struct block *b, uint8_t *to, const uint8_t *from,
				unsigned int n)
{
	const uint32_t stride = b->sg->core->launch->sample_stride;
	const unsigned int bytes = b->image->layout.element_bytes;
	unsigned int i;

	if (stride == bytes) {
		memcpy(to, from, n * bytes);
		return;
	}
	for (i = 0; i < n && bytes == 4; i++)
		memcpy(to + i * 4, from + i * stride, 4);
	for (i = 0; i < n && bytes != 4; i++)
		memcpy(to + i * bytes, from + i * stride, bytes);
}

/* The same as tile_image_write_row(), if that is so */
static bool tile_image_copy_row(struct block *b, unsigned int y, uint64_t va)
{
	const unsigned int bytes = b->image->layout.element_bytes;
	const uint32_t stride = b->sg->core->launch->sample_stride;
	const uint8_t *row = b->tile->memory + (uint64_t)y * b->tile->width * stride + b->offset;
	unsigned int x, n;

	for (x = 0; x < b->width; x += n) {
		uint64_t first = va + b->column[x];
		uint8_t *p;

		n = b->run[x];
		/* One sample is in one page, as it is aligned. */
		if (first / VAGX_UAT_PAGE_SIZE != (first + n * bytes - 1) / VAGX_UAT_PAGE_SIZE)
			n = 1;
		p = tile_image_ptr(b, first, n * bytes);
		if (!p)
			return false;
		tile_image_copy_run(b, p, row + x * stride, n);
	}
	return true;
}

/* @y: in the block; @va: of its first sample, in the image */
static bool tile_image_write_row(struct block *b, unsigned int y, uint64_t va)
{
	const struct vagx_tile *tile = b->tile;
	uint32_t stride = b->sg->core->launch->sample_stride;
	uint64_t limit = tile_bytes(b->sg);
	unsigned int x, s;

	for (x = 0; x < b->width; x++) {
		uint64_t at = (uint64_t)(y * tile->width + x) * tile->samples * stride + b->offset;

		for (s = 0; s < b->image->layout.samples; s++, at += stride) {
			if (at >= limit) {
				vagx_core_fail(b->sg, b->op, -ERANGE, "offset %u of a sample",
					       b->offset);
				return false;
			}
			if (!tile_image_write_sample(b, tile->memory + at,
						     va + b->column[x] + s * b->sample_step))
				return false;
		}
	}
	return true;
}

/* Places of squares in the image, where all of the block is in some */
#define MAX_SQUARES	(MAX_TILE_WIDTH / SQUARE)

struct squares {
	uint8_t *at[MAX_SQUARES][MAX_SQUARES];
};

/* Nothing has been written if one of them is not there as a whole */
static bool tile_image_find_squares(struct block *b, struct squares *squares)
{
	const uint32_t bytes = SQUARE_PIXELS * b->image->layout.element_bytes;
	struct agx_texel at = b->texel;
	struct vagx_uat_fault fault;
	unsigned int x, y;

	if (!agx_layout_is_square(&b->image->layout, at.level, SQUARE) ||
	    at.x % SQUARE || at.y % SQUARE || b->width > MAX_SQUARES * SQUARE ||
	    b->height > MAX_SQUARES * SQUARE)
		return false;
	for (y = 0; y * SQUARE < b->height; y++) {
		for (x = 0; x * SQUARE < b->width; x++) {
			at.x = b->texel.x + x * SQUARE;
			at.y = b->texel.y + y * SQUARE;
			squares->at[y][x] = vagx_tlb_ptr(b->sg->core->config.tlb,
							 vagx_image_address(b->image, &at),
							 bytes, VAGX_WRITE, &fault);
			if (!squares->at[y][x])
				return false;
		}
	}
	return true;
}

static void tile_image_copy_square(uint8_t *to, const uint8_t *from, struct square_lines l)
{
	/* Most tiles are like that. They have some room to read behind their end. */
	if (l.step == 8 && l.bytes == 4)
		square_put_words(to, from, l.row);
	else if (l.bytes == 8)
		square_put(to, from, (struct square_lines){ l.row, l.step, 8 });
	else
		square_put(to, from, l);
}

/* What the image has of a square at its edge */
static void tile_image_copy_pixels(uint8_t *to, const uint8_t *from, struct square_lines l,
				   unsigned int width, unsigned int height)
{
	unsigned int x, y;

	for (y = 0; y < height && y < SQUARE; y++) {
		for (x = 0; x < width && x < SQUARE; x++)
			memcpy(to + square_place(x, y) * l.bytes, from + y * l.row + x * l.step,
			       l.bytes);
	}
}

static void tile_image_copy_squares(const struct block *b, const struct squares *squares)
{
	const uint32_t stride = b->sg->core->launch->sample_stride;
	const struct square_lines l = {
		.row = (size_t)b->tile->width * stride,
		.step = stride,
		.bytes = b->image->layout.element_bytes,
	};
	unsigned int x, y;

	for (y = 0; y < b->height; y += SQUARE) {
		for (x = 0; x < b->width; x += SQUARE) {
			const uint8_t *from = b->tile->memory + b->offset + y * l.row + x * l.step;
			uint8_t *to = squares->at[y / SQUARE][x / SQUARE];

			if (x + SQUARE <= b->width && y + SQUARE <= b->height)
				tile_image_copy_square(to, from, l);
			else
				tile_image_copy_pixels(to, from, l, b->width - x, b->height - y);
		}
	}
}

static bool tile_image_write_metadata(struct block *b)
{
	uint8_t code = agx_layout_raw_code(&b->image->layout);
	unsigned int x, y, step = b->image->layout.samples > 1 ? 8 : 16;

	if (!vagx_image_has_metadata(b->image, b->texel.level))
		return true;
	for (y = 0; y < b->height; y += step) {
		for (x = 0; x < b->width; x += step) {
			struct agx_texel at = b->texel;
			uint8_t *p;

			at.x += x;
			at.y += y;
			p = tile_image_ptr(b, vagx_image_metadata(b->image, &at), 8);
			if (!p)
				return false;
			memset(p, code, 8);
		}
	}
	return true;
}

static bool tile_image_write_rows(struct block *b)
{
	const bool copies = tile_image_is_copy(b);
	struct agx_texel at = b->texel;
	unsigned int y;

	tile_image_find_columns(b);
	for (y = 0; y < b->height; y++) {
		uint64_t va;

		at.y = b->texel.y + y;
		va = vagx_image_address(b->image, &at);
		if (!(copies ? tile_image_copy_row(b, y, va) : tile_image_write_row(b, y, va)))
			return false;
	}
	return true;
}

static void tile_image_write_block(struct block *b)
{
	struct squares squares;

	if (b->width && tile_image_is_copy(b) && tile_image_find_squares(b, &squares))
		tile_image_copy_squares(b, &squares);
	else if (b->width && !tile_image_write_rows(b))
		return;
	tile_image_write_metadata(b);
}

static uint32_t tile_image_first_lane(struct simdgroup *sg, const struct agx_operand *o,
				      unsigned int n)
{
	struct agx_operand one = *o;
	struct lanes tmp;

	one.value += n * (o->size / 16);
	return read_lanes(sg, &one, &tmp)[sg->exec ? __builtin_ctz(sg->exec) : 0];
}

/* By a constant, or by a register of 16 bits; those of a heap are not there yet */
static const uint8_t *tile_image_find_state(struct simdgroup *sg, const struct op *op)
{
	const struct agx_operand *heap = &op->src[1], *state = &op->src[2];
	uint32_t index = tile_image_first_lane(sg, state, 0);

	if (heap->type != AGX_OPERAND_NONE || state->size == 32) {
		vagx_core_fail(sg, op, -EILSEQ, "bindless image");
		return NULL;
	}
	if (index >= VAGX_CORE_TEXTURES) {
		vagx_core_fail(sg, op, -ERANGE, "texture state %u", index);
		return NULL;
	}
	return sg->core->launch->textures[index];
}

/* One tile after the other goes to the same image */
static const struct vagx_image *tile_image_find_image(struct vagx_core *core, const uint8_t *state,
						      unsigned int *level, const char **why)
{
	struct written_image *last = &core->written;

	if (!last->is_valid || memcmp(last->state, state, sizeof(last->state))) {
		last->is_valid = vagx_image_from_pbe(&last->image, &last->level, state, why);
		memcpy(last->state, state, sizeof(last->state));
	}
	*level = last->level;
	return last->is_valid ? &last->image : NULL;
}

static bool tile_image_is_layered(unsigned int dim)
{
	return dim == AGX_DIM_2D_ARRAY || dim == AGX_DIM_2D_MS_ARRAY;
}

static bool tile_image_is_flat(unsigned int dim)
{
	return dim == AGX_DIM_2D || dim == AGX_DIM_2D_MS || tile_image_is_layered(dim);
}

/* The part of a tile that is in the image */
static void tile_image_clip_block(struct block *b)
{
	const struct vagx_tile *tile = find_tile(b->sg);
	const struct agx_layout_level *level = &b->image->layout.level[b->texel.level];
	uint32_t w = level->width, h = level->height;

	b->width = b->texel.x < w ? w - b->texel.x : 0;
	b->height = b->texel.y < h ? h - b->texel.y : 0;
	if (b->width > tile->width)
		b->width = tile->width;
	if (b->height > tile->height)
		b->height = tile->height;
	if (b->texel.layer >= b->image->layout.layers)
		b->width = 0;
}

/*
 * Without a place there is one word. The layer is where texture instructions have it:
 * with samples in the upper half, else in the lower one, and the rest is anything.
 */
static uint32_t tile_image_block_layer(struct simdgroup *sg, const struct op *op)
{
	uint32_t word;

	if (op->mod[AGX_MOD_EXPLICIT])
		return tile_image_first_lane(sg, &op->src[3], 2);
	word = tile_image_first_lane(sg, &op->src[3], 0);
	return op->mod[AGX_MOD_DIM] == AGX_DIM_2D_MS_ARRAY ? word >> 16 : word & 0xffff;
}

void vagx_exec_image_write_block(struct simdgroup *sg, const struct op *op)
{
	const struct vagx_tile *tile = find_tile(sg);
	struct block b = { .sg = sg, .op = op, .tile = tile };
	const struct agx_operand *coord = &op->src[3];
	const uint8_t *state;
	const char *why;

	if (!tile || !sg->exec) {
		if (!tile)
			vagx_core_fail(sg, op, -EILSEQ, "outside of a tile");
		return;
	}
	state = tile_image_find_state(sg, op);
	if (!state)
		return;
	b.image = tile_image_find_image(sg->core, state, &b.texel.level, &why);
	if (!b.image) {
		vagx_core_fail(sg, op, -EILSEQ, "PBE: %s is not supported", why);
		return;
	}
	if (b.image->layout.samples != tile->samples && b.image->layout.samples != 1) {
		vagx_core_fail(sg, op, -EILSEQ, "PBE: %u samples of %u", b.image->layout.samples,
			       tile->samples);
		return;
	}
	if (!tile_image_is_flat(op->mod[AGX_MOD_DIM]) ||
	    (!sg->core->tile && !op->mod[AGX_MOD_EXPLICIT])) {
		vagx_core_fail(sg, op, -EILSEQ, "block of dimension %u, %s", op->mod[AGX_MOD_DIM],
			       op->mod[AGX_MOD_EXPLICIT] ? "at a place" : "without a place");
		return;
	}
	b.offset = tile_image_first_lane(sg, &op->src[0], 0);
	b.texel.x = tile->x;
	b.texel.y = tile->y;
	if (op->mod[AGX_MOD_EXPLICIT]) {
		b.texel.x = tile_image_first_lane(sg, coord, 0);
		b.texel.y = tile_image_first_lane(sg, coord, 1);
	}
	if (tile_image_is_layered(op->mod[AGX_MOD_DIM]))
		b.texel.layer = tile_image_block_layer(sg, op);
	b.is_plain = vagx_image_is_plain(b.image, op->mod[AGX_MOD_FORMAT]);
	tile_image_clip_block(&b);
	tile_image_write_block(&b);
}
