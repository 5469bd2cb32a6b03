// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Stores to the tile buffer, and loads from it, of what most fragments have: four linear bytes of
 * their own pixel, of one sample. All lanes are converted in one loop, and their words moved in
 * another. Everything else is done by core_tile.c and core_tile_load.c, as they would do this.
 * Runs on the thread of the core that executes the instruction; the tile belongs to it.
 */
#include "core_float.h"
#include "core_tile.h"
#include "gpu/format.h"

#define COMPONENTS	4u

/* An access by all lanes */
struct unorm8_access {
	const struct simdgroup *sg;
	/* the first register, as 16-bit halves, and the size of each */
	unsigned int half, size;
	/* what is moved, and offsets in the tile's memory */
	struct lanes word;
	struct lanes at;
	/* lanes that are active, in the tile, and not discarded if they have to be */
	uint32_t lanes;
};

/* Whether an instruction is such an access, @at has the operands of its pixel and samples */
static bool unorm8_begin(struct unorm8_access *a, const struct simdgroup *sg, const struct op *op,
			 const struct agx_operand *value, const struct agx_operand *at)
{
	const struct vagx_core *core = sg->core;
	const struct vagx_tile *tile = core->tile;
	const uint32_t stride = core->launch->sample_stride;

	if (op->mod[AGX_MOD_FORMAT] != AGX_FORMAT_U8NORM || op->mod[AGX_MOD_MASK] != 15 ||
	    op->mod[AGX_MOD_EXPLICIT] || !core->fragments || tile->samples != 1 ||
	    at[0].type == AGX_OPERAND_REG || at[1].type == AGX_OPERAND_REG ||
	    value->type != AGX_OPERAND_REG || !(read_scalar(sg, &at[1], false) & 1))
		return false;
	a->sg = sg;
	a->half = (unsigned int)value->value;
	a->size = value->size;
	return a->half + COMPONENTS * a->size / 16 <= core->register_halves &&
	       (a->size == 16 || a->half % 2 == 0) &&
	       op->mod[AGX_MOD_OFFSET] + COMPONENTS <= stride &&
	       (uint64_t)tile->width * tile->height * stride <= VAGX_TILE_BYTES;
}

/* Finds offsets of all pixels; @is_store: those that are discarded are left out */
INLINE void unorm8_find(struct unorm8_access *a, const struct op *op, bool is_store)
{
	const struct vagx_fragments *f = a->sg->core->fragments;
	const struct vagx_tile *tile = a->sg->core->tile;
	const uint32_t left = tile->x, top = tile->y, width = tile->width, height = tile->height;
	const uint32_t stride = a->sg->core->launch->sample_stride, row = width * stride;
	const uint32_t first = op->mod[AGX_MOD_OFFSET], any = !is_store;
	uint32_t lanes = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const uint32_t x = f->x[i] - left, y = f->y[i] - top;
		const bool is_there = (x < width) & (y < height) & ((f->live[i] & 1) | any);

		a->at.v[i] = is_there ? y * row + x * stride + first : 0;
		lanes |= is_there ? lane_bits.v[i] : 0;
	}
	a->lanes = lanes & a->sg->exec;
}

/* A register of all lanes as floats */
INLINE float unorm8_read(const struct unorm8_access *a, unsigned int n, unsigned int lane)
{
	const unsigned int half = a->half + n * (a->size / 16);
	const uint32_t bits = a->sg->reg[half / 2].v[lane];

	return a->size == 16 ? float_from_half(bits >> half % 2 * 16 & 0xffff) :
			       bits_float(flush(bits));
}

CLONES static void unorm8_convert(struct unorm8_access *a, const struct op *op)
{
	unsigned int n, i;

	unorm8_find(a, op, true);
	for (i = 0; i < LANES; i++)
		a->word.v[i] = 0;
	for (n = 0; n < COMPONENTS; n++) {
		for (i = 0; i < LANES; i++)
			a->word.v[i] |= vagx_format_unorm8_from_float(unorm8_read(a, n, i)) << 8 * n;
	}
}

bool vagx_tile_store_unorm8(struct simdgroup *sg, const struct op *op)
{
	uint8_t *memory;
	struct unorm8_access a;
	unsigned int i;
	uint32_t left;

	if (!unorm8_begin(&a, sg, op, &op->src[0], &op->src[1]))
		return false;
	unorm8_convert(&a, op);
	memory = sg->core->tile->memory;
	for (i = 0; a.lanes == ALL_LANES && i < LANES; i++)
		memcpy(memory + a.at.v[i], &a.word.v[i], 4);
	for (left = a.lanes == ALL_LANES ? 0 : a.lanes; left; left &= left - 1) {
		i = __builtin_ctz(left);
		memcpy(memory + a.at.v[i], &a.word.v[i], 4);
	}
	return true;
}

/* Words as a vector: it could not be read soon if they had been stored one by one */
typedef uint32_t unorm8_words __attribute__((vector_size(64)));
#define WORDS	16

INLINE uint32_t unorm8_word(const struct unorm8_access *a, const uint8_t *memory, unsigned int lane)
{
	uint32_t word;

	memcpy(&word, memory + a->at.v[lane], sizeof(word));
	return word;
}

INLINE void unorm8_load_words(struct unorm8_access *a, const uint8_t *memory)
{
	unsigned int i;

	for (i = 0; i < LANES; i += WORDS) {
#define WORD(n)	unorm8_word(a, memory, i + (n))
		const unorm8_words words = {
			WORD(0), WORD(1), WORD(2), WORD(3), WORD(4), WORD(5), WORD(6), WORD(7),
			WORD(8), WORD(9), WORD(10), WORD(11), WORD(12), WORD(13), WORD(14),
			WORD(15),
		};
#undef WORD
		memcpy(&a->word.v[i], &words, sizeof(words));
	}
}

/* Loads words, and writes their bytes to the registers */
CLONES static void unorm8_load(struct simdgroup *sg, struct unorm8_access *a)
{
	const uint8_t *memory = sg->core->tile->memory;
	struct lanes bits;
	unsigned int n, i;

	unorm8_load_words(a, memory);
	for (n = 0; n < COMPONENTS; n++) {
		const struct agx_operand one = {
			.type = AGX_OPERAND_REG,
			.size = a->size,
			.count = 1,
			.value = a->half + n * (a->size / 16),
		};

		for (i = 0; i < LANES; i++)
			bits.v[i] = float_bits(vagx_format_unorm8_to_float(a->word.v[i] >> 8 * n &
									   0xff));
		/* These are neither denormal nor NaN, which registers do not hold. */
		for (i = 0; one.size == 16 && i < LANES; i++)
			bits.v[i] = half_from_float(bits_float(bits.v[i]));
		write_lanes(sg, &one, bits.v);
	}
}

CLONES static void unorm8_find_loaded(struct unorm8_access *a, const struct op *op)
{
	unorm8_find(a, op, false);
}

bool vagx_tile_load_unorm8(struct simdgroup *sg, const struct op *op)
{
	struct unorm8_access a;

	if (!unorm8_begin(&a, sg, op, &op->dst, &op->src[0]))
		return false;
	unorm8_find_loaded(&a, op);
	/* what is outside of the tile stays as it is */
	if (a.lanes != sg->exec)
		return false;
	unorm8_load(sg, &a);
	return true;
}
