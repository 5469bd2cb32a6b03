// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Block writes: an instruction of end-of-tile programs (and of Mesa's compute kernels that copy
 * images) stores the tile to an image. Formats are converted, unless the tile has the image's
 * bits: those are copied, in blocks of 8 by 8 pixels where the image is in Morton order, else,
 * with one sample, in runs of contiguous pixels. Compression blocks become raw.
 *
 * Runs on the thread of the core that executes the instruction. Tiles do not overlap in the
 * image, so nothing is locked.
 */
#include <errno.h>

#include "core_tile.h"
#include "gpu/image.h"
#include "gpu/morton.h"
#include "gpu/texture.h"

/* Pixels; more than any tile has */
#define MAX_TILE_WIDTH	64

/* A block write of one instruction */
struct block_write {
	struct simdgroup *sg;
	const struct op *op;
	const struct vagx_image *image;
	/* the first pixel in the image */
	struct agx_texel texel;
	/* offset in a sample of the tile, in bytes */
	uint32_t offset;
	/* pixels that are inside of the image */
	unsigned int width, height;
	/* the tile has the bits that the image is to have */
	bool is_plain;
	const struct vagx_tile *tile;
	/* bytes of a sample in the tile, and of the tile's memory */
	uint32_t stride;
	uint64_t limit;
	/* offset of each column from the first one, and between samples, in bytes of the image */
	uint64_t column[MAX_TILE_WIDTH], sample_step;
	/* length of the run of contiguous columns that begins at each */
	unsigned int run[MAX_TILE_WIDTH];
};

/* Has the sanitizer note that the first thread writes to the image, as all do it together */
static void tile_image_follow(const struct block_write *b, uint64_t va, unsigned int bytes)
{
	if (b->sg->core->follow_texel)
		b->sg->core->follow_texel(b->sg, b->op, __builtin_ctz(b->sg->exec), va, bytes, true);
}

/* Translates an address of the image. Return: NULL after a failure. */
static uint8_t *tile_image_ptr(struct block_write *b, uint64_t va, unsigned int bytes)
{
	struct vagx_core *core = b->sg->core;
	uint8_t *p = vagx_tlb_ptr(core->config.tlb, va, bytes, VAGX_WRITE, &core->fault);

	if (!p)
		vagx_core_fail(b->sg, b->op, -EFAULT, "store of a tile at 0x%llx",
			       (unsigned long long)va);
	else
		tile_image_follow(b, va, bytes);
	return p;
}

/*
 * Finds the offsets of columns and samples. In all layouts the address of a sample is a sum of
 * independent terms for its column, its row and its number.
 */
static void tile_image_find_columns(struct block_write *b)
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
	/* the samples of a pixel are contiguous */
	b->sample_step = at.sample ? (vagx_image_address(b->image, &at) - first) / at.sample : 0;
}

/* Writes a sample of the tile to an address, converted. Return: false after a failure, as below. */
static bool tile_image_write_sample(struct block_write *b, const uint8_t *in_tile, uint64_t va)
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

/* Whether all that the image may get is in the tile */
static bool tile_image_is_whole(const struct block_write *b)
{
	const struct vagx_tile *tile = b->tile;

	return (uint64_t)b->offset + b->image->layout.element_bytes <= b->stride &&
	       (uint64_t)tile->width * tile->height * tile->samples * b->stride <= b->limit;
}

/* Whether the write is a copy of bytes, all of which are in the tile */
static bool tile_image_is_copy(const struct block_write *b)
{
	return b->is_plain && tile_image_is_whole(b);
}

/* Whether pixels may be copied in runs: those with one sample, which are in one page */
static bool tile_image_has_runs(const struct block_write *b)
{
	return tile_image_is_copy(b) && b->tile->samples == 1 && b->image->layout.samples == 1;
}

/* Copies @n pixels to contiguous ones of the image */
static void tile_image_copy_run(const struct block_write *b, uint8_t *to, const uint8_t *from,
				unsigned int n)
{
	const uint32_t stride = b->stride;
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

/* As tile_image_write_row(), where tile_image_has_runs() */
static bool tile_image_copy_row(struct block_write *b, unsigned int y, uint64_t va)
{
	const unsigned int bytes = b->image->layout.element_bytes;
	const uint32_t stride = b->stride;
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

/* Writes row @y of the tile to the image, where its first sample is at @va */
static bool tile_image_write_row(struct block_write *b, unsigned int y, uint64_t va)
{
	const struct vagx_tile *tile = b->tile;
	unsigned int x, s;

	for (x = 0; x < b->width; x++) {
		uint64_t at = (uint64_t)(y * tile->width + x) * tile->samples * b->stride +
			      b->offset;

		for (s = 0; s < b->image->layout.samples; s++, at += b->stride) {
			if (at >= b->limit) {
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

/* Blocks of pixels in Morton order */
#define MAX_BLOCKS	(MAX_TILE_WIDTH / MORTON_SIDE)

/* Addresses of the image's blocks, by row and column */
struct image_blocks {
	uint8_t *at[MAX_BLOCKS][MAX_BLOCKS];
};

/* Finds the image's blocks. Return: false if rows have to be written; nothing has been written. */
static bool tile_image_find_blocks(struct block_write *b, struct image_blocks *blocks)
{
	const uint32_t bytes = MORTON_PIXELS * b->image->layout.samples *
			       b->image->layout.element_bytes;
	struct agx_texel at = b->texel;
	struct vagx_uat_fault fault;
	unsigned int x, y;
	uint64_t va;

	if (!agx_layout_is_morton(&b->image->layout, at.level, MORTON_SIDE) ||
	    at.x % MORTON_SIDE || at.y % MORTON_SIDE || b->width > MAX_BLOCKS * MORTON_SIDE ||
	    b->height > MAX_BLOCKS * MORTON_SIDE)
		return false;
	for (y = 0; y * MORTON_SIDE < b->height; y++) {
		for (x = 0; x * MORTON_SIDE < b->width; x++) {
			at.x = b->texel.x + x * MORTON_SIDE;
			at.y = b->texel.y + y * MORTON_SIDE;
			va = vagx_image_address(b->image, &at);
			blocks->at[y][x] = vagx_tlb_ptr(b->sg->core->config.tlb, va, bytes,
							VAGX_WRITE, &fault);
			if (!blocks->at[y][x])
				return false;
			tile_image_follow(b, va, bytes);
		}
	}
	return true;
}

/* Pixels of the tile, whose samples become contiguous */
struct tile_pixels {
	struct morton_linear linear;
	uint32_t sample_stride;
	unsigned int samples, sample_bytes;
};

static struct tile_pixels tile_image_pixels_of(const struct block_write *b)
{
	const uint32_t stride = b->stride;
	const struct agx_layout *layout = &b->image->layout;

	return (struct tile_pixels){
		.linear = {
			.row_stride = (size_t)b->tile->width * b->tile->samples * stride,
			.pixel_stride = (size_t)b->tile->samples * stride,
			.pixel_bytes = layout->samples * layout->element_bytes,
		},
		.sample_stride = stride,
		.samples = layout->samples,
		.sample_bytes = layout->element_bytes,
	};
}

static void tile_image_copy_block(uint8_t *to, const uint8_t *from, struct morton_linear l)
{
	/* Most tiles have this format. VAGX_TILE_SLACK is what may be read behind their end. */
	if (l.pixel_stride == 8 && l.pixel_bytes == 4)
		morton_from_linear_words(to, from, l.row_stride);
	else if (l.pixel_bytes == 8)
		morton_from_linear(to, from,
				   (struct morton_linear){ l.row_stride, l.pixel_stride, 8 });
	else
		morton_from_linear(to, from, l);
}

/* Copies the samples of a pixel; constant sizes let the compiler unroll the copies */
INLINE void tile_image_copy_samples(uint8_t *to, const uint8_t *from, const struct tile_pixels *p,
				    unsigned int samples, unsigned int bytes)
{
	unsigned int s;

	for (s = 0; s < samples; s++)
		memcpy(to + s * bytes, from + s * p->sample_stride, bytes);
}

static void tile_image_copy_pixel(uint8_t *to, const uint8_t *from, const struct tile_pixels *p)
{
	if (p->samples == 4 && p->sample_bytes == 4)
		tile_image_copy_samples(to, from, p, 4, 4);
	else if (p->sample_bytes == 4)
		tile_image_copy_samples(to, from, p, p->samples, 4);
	else if (p->sample_bytes == 8)
		tile_image_copy_samples(to, from, p, p->samples, 8);
	else
		tile_image_copy_samples(to, from, p, p->samples, p->sample_bytes);
}

/* Copies the pixels of a block one by one, up to where the image ends */
static void tile_image_copy_pixels(uint8_t *to, const uint8_t *from, const struct tile_pixels *p,
				   unsigned int width, unsigned int height)
{
	const struct morton_linear *l = &p->linear;
	unsigned int x, y;

	for (y = 0; y < height && y < MORTON_SIDE; y++) {
		for (x = 0; x < width && x < MORTON_SIDE; x++)
			tile_image_copy_pixel(to + morton_index(x, y) * l->pixel_bytes,
					      from + y * l->row_stride + x * l->pixel_stride, p);
	}
}

static void tile_image_copy_blocks(const struct block_write *b, const struct image_blocks *blocks)
{
	const struct tile_pixels p = tile_image_pixels_of(b);
	const struct morton_linear *l = &p.linear;
	unsigned int x, y;

	for (y = 0; y < b->height; y += MORTON_SIDE) {
		for (x = 0; x < b->width; x += MORTON_SIDE) {
			const uint8_t *from = b->tile->memory + b->offset + y * l->row_stride +
					      x * l->pixel_stride;
			uint8_t *to = blocks->at[y / MORTON_SIDE][x / MORTON_SIDE];

			if (p.samples == 1 && x + MORTON_SIDE <= b->width &&
			    y + MORTON_SIDE <= b->height)
				tile_image_copy_block(to, from, *l);
			else
				tile_image_copy_pixels(to, from, &p, b->width - x, b->height - y);
		}
	}
}

/* Marks the compression blocks that are written as raw */
static bool tile_image_write_metadata(struct block_write *b)
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

static bool tile_image_write_rows(struct block_write *b)
{
	const bool copies = tile_image_has_runs(b);
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

static void tile_image_write_block(struct block_write *b)
{
	struct image_blocks blocks;

	if (b->width && tile_image_is_copy(b) && tile_image_find_blocks(b, &blocks))
		tile_image_copy_blocks(b, &blocks);
	else if (b->width && !tile_image_write_rows(b))
		return;
	tile_image_write_metadata(b);
}

/* Copies words to ones that are contiguous, with their bytes in another order */
CLONES static void tile_image_order_words(uint32_t *to, const uint8_t *from, size_t count,
					  uint32_t stride, const uint8_t order[4])
{
	const unsigned int a = order[0] * 8, b = order[1] * 8, c = order[2] * 8, d = order[3] * 8;
	size_t i;

	for (i = 0; i < count; i++) {
		uint32_t word;

		memcpy(&word, from + i * stride, sizeof(word));
		to[i] = (word >> a & 0xff) | (word >> b & 0xff) << 8 | (word >> c & 0xff) << 16 |
			(word >> d & 0xff) << 24;
	}
}

/* Writes a tile whose samples have the image's bytes in another order, by one that has its own */
static void tile_image_write_ordered(const struct block_write *b, const uint8_t order[4])
{
	uint32_t words[VAGX_TILE_BYTES / 4 + VAGX_TILE_SLACK / 4];
	const size_t count = (size_t)b->tile->width * b->tile->height * b->tile->samples;
	struct vagx_tile tile = *b->tile;
	struct block_write ordered = *b;

	tile_image_order_words(words, b->tile->memory + b->offset, count, b->stride, order);
	memset(words + count, 0, VAGX_TILE_SLACK);
	tile.memory = (uint8_t *)words;
	ordered.tile = &tile;
	ordered.stride = sizeof(words[0]);
	ordered.offset = 0;
	ordered.limit = count * sizeof(words[0]);
	ordered.is_plain = true;
	tile_image_write_block(&ordered);
}

/* Element @n of an operand in the first active lane: all lanes have the same */
static uint32_t tile_image_first_lane(struct simdgroup *sg, const struct agx_operand *o,
				      unsigned int n)
{
	struct agx_operand one = *o;
	struct lanes tmp;

	one.value += n * (o->size / 16);
	return read_lanes(sg, &one, &tmp)[sg->exec ? __builtin_ctz(sg->exec) : 0];
}

/*
 * The PBE packet of the image, from the state register that a constant or a 16-bit register names;
 * bindless ones are not supported. Return: NULL after a failure.
 */
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

static bool tile_image_is_layered(unsigned int dim)
{
	return dim == AGX_DIM_2D_ARRAY || dim == AGX_DIM_2D_MS_ARRAY;
}

static bool tile_image_is_flat(unsigned int dim)
{
	return dim == AGX_DIM_2D || dim == AGX_DIM_2D_MS || tile_image_is_layered(dim);
}

/* Clips the write to the image's level */
static void tile_image_clip_block(struct block_write *b)
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
 * The layer. With explicit coordinates it is the third one. Else there is one word, with the layer
 * where texture instructions have it: in the upper half if the image is multisampled, else in
 * the lower one; the rest is undefined.
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
	struct block_write b = {
		.sg = sg, .op = op, .tile = tile, .limit = tile_bytes(sg),
		.stride = sg->core->launch->sample_stride,
	};
	const struct agx_operand *coord = &op->src[3];
	const uint8_t *state;
	uint8_t order[4];
	const char *why;

	if (!tile || !sg->exec) {
		if (!tile)
			vagx_core_fail(sg, op, -EILSEQ, "outside of a tile");
		return;
	}
	state = tile_image_find_state(sg, op);
	if (!state)
		return;
	b.image = vagx_texture_written_image(sg->core, state, &b.texel.level, &why);
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
		vagx_core_fail(sg, op, -EILSEQ, "block of dimension %u with %s coordinates",
			       op->mod[AGX_MOD_DIM],
			       op->mod[AGX_MOD_EXPLICIT] ? "explicit" : "implicit");
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
	if (!b.is_plain && b.width && tile_image_is_whole(&b) &&
	    vagx_image_byte_order(b.image, op->mod[AGX_MOD_FORMAT], order))
		tile_image_write_ordered(&b, order);
	else
		tile_image_write_block(&b);
}
