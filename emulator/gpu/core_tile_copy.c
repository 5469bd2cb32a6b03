// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Background programs that fill a tile with what an image has there, as Mesa's do where an
 * attachment is loaded: each pixel loads its own texel, and stores it to its own sample
 * (mesa src/asahi/lib/agx_bg_eot.c). If both have the same four bytes the whole tile is copied,
 * in blocks of 8 by 8 pixels. Every other program or image, and memory that cannot be read, is
 * left to the program itself: what has been copied by then is what it stores as well.
 *
 * Runs on the thread of the core; the tile belongs to it.
 */
#include "core_tile.h"
#include "gpu/image.h"
#include "gpu/morton.h"
#include "gpu/texture.h"

/* Instructions of such a program */
enum {
	OP_PIXEL_X, OP_PIXEL_Y, OP_LOAD, OP_WAIT, OP_STORE, OP_STOP,
	OP_COUNT
};

/* A copy of an image's level to a tile */
struct tile_copy {
	struct vagx_core *core;
	const struct vagx_tile *tile;
	const struct vagx_image *image;
	unsigned int level;
	/* size of the level */
	uint32_t width, height;
	/* from one sample to the next, and where the bytes are in one */
	uint32_t stride, offset;
};

/* Programs */

static bool tile_copy_is_coordinate(const struct op *op, unsigned int sr, int32_t half)
{
	return op->opcode == AGX_OP_GET_SR && op->mod[AGX_MOD_SR] == sr &&
	       op->dst.type == AGX_OPERAND_REG && op->dst.size == 16 && op->dst.value == half;
}

/* Whether all four channels of a 2D image's first level are loaded at a pixel's coordinates */
static bool tile_copy_is_load(const struct op *op)
{
	const struct agx_operand *state = &op->src[1], *at = &op->src[3], *lod = &op->src[4];

	return op->run == vagx_exec_texture_load && op->mod[AGX_MOD_DIM] == AGX_DIM_2D &&
	       op->mod[AGX_MOD_MASK] == 15 && !op->mod[AGX_MOD_SHADOW] &&
	       !op->mod[AGX_MOD_SPARSE] && op->src[0].type == AGX_OPERAND_NONE &&
	       state->type == AGX_OPERAND_TS && state->value < VAGX_CORE_TEXTURES &&
	       at->type == AGX_OPERAND_REG && at->size == 16 && lod->type != AGX_OPERAND_REG &&
	       lod->type != AGX_OPERAND_UNIFORM && op->src[5].type == AGX_OPERAND_NONE;
}

/* Whether four bytes of the pixel's own sample are stored, from the registers of a load */
static bool tile_copy_is_store(const struct op *op, const struct agx_operand *loaded)
{
	const struct agx_operand *value = &op->src[0], *samples = &op->src[2];

	return op->run == vagx_exec_st_tile && op->mod[AGX_MOD_FORMAT] == AGX_FORMAT_U8NORM &&
	       op->mod[AGX_MOD_MASK] == 15 && !op->mod[AGX_MOD_EXPLICIT] &&
	       value->type == AGX_OPERAND_REG && value->value == loaded->value &&
	       value->size == loaded->size && op->src[1].type != AGX_OPERAND_REG &&
	       samples->type == AGX_OPERAND_IMM && samples->value & 1;
}

static bool tile_copy_knows_program(const struct program *p, unsigned int register_halves)
{
	const struct op *op = p->op, *load = &op[OP_LOAD];
	unsigned int i;

	if (p->count != OP_COUNT)
		return false;
	for (i = 0; i < OP_COUNT; i++) {
		if (op[i].replaced)
			return false;
	}
	return tile_copy_is_load(load) && load->dst.type == AGX_OPERAND_REG &&
	       (unsigned int)load->dst.value + 4 * load->dst.size / 16 <= register_halves &&
	       tile_copy_is_coordinate(&op[OP_PIXEL_X], AGX_SR_THREAD_IN_GRID_X,
				       load->src[3].value) &&
	       tile_copy_is_coordinate(&op[OP_PIXEL_Y], AGX_SR_THREAD_IN_GRID_Y,
				       load->src[3].value + 1) &&
	       op[OP_WAIT].opcode == AGX_OP_WAIT && tile_copy_is_store(&op[OP_STORE], &load->dst) &&
	       op[OP_STOP].opcode == AGX_OP_STOP;
}

/* Images */

/* Whether texels have the bytes that the program stores, in blocks */
static bool tile_copy_knows_image(const struct tile_copy *c)
{
	const struct agx_layout *l = &c->image->layout;

	return vagx_image_is_rgba8_unorm(c->image) && !c->image->srgb && !c->image->sparse &&
	       !c->image->nothing && l->samples == 1 && c->level < l->levels &&
	       l->kind != AGX_IMAGE_LAYOUT_LINEAR && agx_layout_is_morton(l, c->level, MORTON_SIDE);
}

static const void *tile_copy_read(const struct tile_copy *c, uint64_t va, size_t bytes)
{
	struct vagx_uat_fault fault;

	return vagx_tlb_ptr(c->core->config.tlb, va, bytes, VAGX_READ, &fault);
}

/* Whether a texel's compression block is raw, or there is none, so that its texels are in place */
static bool tile_copy_is_raw(const struct tile_copy *c, struct agx_texel at)
{
	const struct agx_layout *l = &c->image->layout;
	const uint8_t *codes;

	if (!vagx_image_has_metadata(c->image, c->level))
		return true;
	codes = tile_copy_read(c, vagx_image_metadata(c->image, &at), AGX_LAYOUT_CODES);
	return codes && codes[0] == agx_layout_raw_code(l) &&
	       agx_layout_find_in_block(l, codes, &at);
}

/* Puts texels of a block to pixel (x, y) of the tile and those beside it; outside they are 0 */
static void tile_copy_put(const struct tile_copy *c, unsigned int x, unsigned int y,
			  const uint32_t words[MORTON_PIXELS])
{
	const size_t row = (size_t)c->tile->width * c->stride;
	uint8_t *first = c->tile->memory + y * row + x * c->stride + c->offset;
	unsigned int i, k;

	if (c->tile->x + x + MORTON_SIDE <= c->width && c->tile->y + y + MORTON_SIDE <= c->height) {
		morton_to_linear(first, (const uint8_t *)words,
				 (struct morton_linear){ row, c->stride, sizeof(words[0]) });
		return;
	}
	for (k = 0; k < MORTON_SIDE; k++) {
		for (i = 0; i < MORTON_SIDE; i++) {
			const bool is_inside = c->tile->x + x + i < c->width &&
					       c->tile->y + y + k < c->height;
			const uint32_t word = is_inside ? words[morton_index(i, k)] : 0;

			memcpy(first + k * row + i * c->stride, &word, sizeof(word));
		}
	}
}

/* Copies the block at pixel (x, y) of the tile. Return: false if it cannot be read. */
static bool tile_copy_block(const struct tile_copy *c, unsigned int x, unsigned int y)
{
	const struct agx_texel at = {
		.x = c->tile->x + x, .y = c->tile->y + y, .level = c->level,
	};
	uint32_t words[MORTON_PIXELS] = { 0 };
	const void *block;

	if (at.x < c->width && at.y < c->height) {
		block = tile_copy_is_raw(c, at) ?
			tile_copy_read(c, vagx_image_address(c->image, &at), sizeof(words)) : NULL;
		if (!block)
			return false;
		memcpy(words, block, sizeof(words));
		vagx_image_swizzle_bytes(c->image, words, MORTON_PIXELS);
	}
	tile_copy_put(c, x, y, words);
	return true;
}

/* Descriptors are cached from the first texel on that the core has loaded */
bool vagx_tile_copy_image(struct vagx_core *core, const struct program *program)
{
	const struct op *load = &program->op[OP_LOAD], *store = &program->op[OP_STORE];
	const struct vagx_launch *launch = core->launch;
	struct tile_copy c = { .core = core, .tile = core->tile, .stride = launch->sample_stride };
	const struct cached_image *cached;
	unsigned int x, y;
	const char *why;

	if (!tile_copy_knows_program(program, core->register_halves) || c.tile->samples != 1 ||
	    !core->textures)
		return false;
	c.offset = store->mod[AGX_MOD_OFFSET];
	if (c.offset + sizeof(uint32_t) > c.stride ||
	    (uint64_t)c.tile->width * c.tile->height * c.stride > VAGX_TILE_BYTES)
		return false;
	cached = vagx_texture_cached_image(core->textures, launch->textures[load->src[1].value],
					   false, &why);
	if (!cached)
		return false;
	c.image = &cached->image;
	c.level = c.image->first_level;
	if (!tile_copy_knows_image(&c))
		return false;
	c.width = texture_level_size(c.image->layout.width, c.level);
	c.height = texture_level_size(c.image->layout.height, c.level);
	for (y = 0; y < c.tile->height; y += MORTON_SIDE) {
		for (x = 0; x < c.tile->width; x += MORTON_SIDE) {
			if (!tile_copy_block(&c, x, y))
				return false;
		}
	}
	return true;
}
