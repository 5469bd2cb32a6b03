// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Stores to the tile buffer, and loads from it, of what most fragments have: four linear bytes of
 * their own pixel, of one sample. All lanes are converted in one loop, and their words moved in
 * another, or in rows where the lanes are half a block. Everything else is done by core_tile.c and
 * core_tile_load.c, as they would do this.
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

/* A component as a float; the byte of a denormal is 0 anyway */
INLINE float unorm8_read(const uint32_t *reg, unsigned int lane, unsigned int size,
			 unsigned int shift)
{
	return size == 16 ? float_from_half(reg[lane] >> shift & 0xffff) : bits_float(reg[lane]);
}

/* Converts registers of a constant size to words */
INLINE void unorm8_convert_size(struct unorm8_access *a, unsigned int size)
{
	const unsigned int odd = a->half % 2, step = size / 16;
	const struct lanes *reg = &a->sg->reg[a->half / 2];
	unsigned int n, i;

	for (i = 0; i < LANES; i++) {
		uint32_t word = 0;

		for (n = 0; n < COMPONENTS; n++) {
			const unsigned int half = odd + n * step;
			const float value = unorm8_read(reg[half / 2].v, i, size, half % 2 * 16);

			word |= vagx_format_unorm8_from_float(value) << 8 * n;
		}
		a->word.v[i] = word;
	}
}

INLINE void unorm8_convert(struct unorm8_access *a)
{
	if (a->size == 16)
		unorm8_convert_size(a, 16);
	else
		unorm8_convert_size(a, 32);
}

/* Half a block: rows of eight pixels, whose words are one behind the other or every second one */

typedef uint32_t unorm8_row __attribute__((vector_size(32)));
typedef uint32_t unorm8_rows __attribute__((vector_size(64)));

/* Whether all lanes access a row of words each. @is_store: then all of them have to be live. */
INLINE bool unorm8_has_rows(const struct unorm8_access *a, const struct op *op, bool is_store)
{
	const struct vagx_fragments *f = a->sg->core->fragments;
	const uint32_t stride = a->sg->core->launch->sample_stride;
	const uint64_t one = 0x0101010101010101;
	uint64_t live[LANES / 8], all = one;
	unsigned int i;

	memcpy(live, f->live, sizeof(live));
	for (i = 0; is_store && i < LANES / 8; i++)
		all &= live[i];
	return f->is_half && a->sg->exec == ALL_LANES && (all & one) == one &&
	       op->mod[AGX_MOD_OFFSET] % 4 == 0 && (stride == 4 || stride == 8);
}

/* Rows of pixels in the tile: the first one, and bytes from one to the next */
struct unorm8_half {
	uint8_t *first;
	size_t row;
	uint32_t stride;
	/* of two words of a pixel, the second one is accessed */
	bool odd;
};

INLINE struct unorm8_half unorm8_half_of(const struct unorm8_access *a, const struct op *op)
{
	const struct vagx_fragments *f = a->sg->core->fragments;
	const struct vagx_tile *tile = a->sg->core->tile;
	const uint32_t stride = a->sg->core->launch->sample_stride;

	return (struct unorm8_half){
		.first = tile->memory +
			 ((f->y[0] - tile->y) * tile->width + f->x[0] - tile->x) * stride,
		.row = tile->width * stride,
		.stride = stride,
		.odd = op->mod[AGX_MOD_OFFSET],
	};
}

/* Puts words into row @y, between those that are there if pixels have two */
INLINE void unorm8_put_row(const struct unorm8_half *h, unsigned int y, const unorm8_row *words)
{
	uint8_t *p = h->first + y * h->row;
	const unorm8_row row = *words;
	const unorm8_rows even_words = { -1u, 0, -1u, 0, -1u, 0, -1u, 0,
					 -1u, 0, -1u, 0, -1u, 0, -1u, 0 };
	const unorm8_rows mask = h->odd ? ~even_words : even_words;
	unorm8_rows old, spread;

	if (h->stride == 4) {
		memcpy(p, words, sizeof(*words));
		return;
	}
	memcpy(&old, p, sizeof(old));
	spread = __builtin_shufflevector(row, row, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
	spread = (spread & mask) | (old & ~mask);
	memcpy(p, &spread, sizeof(spread));
}

/* Converts the lanes of half a block and stores them. Return: false if they are none. */
CLONES static bool unorm8_store_rows(struct unorm8_access *a, const struct op *op)
{
	const struct unorm8_half h = unorm8_half_of(a, op);
	unorm8_row upper, lower;
	unorm8_rows quads;
	unsigned int y;

	if (!unorm8_has_rows(a, op, true))
		return false;
	unorm8_convert(a);
	for (y = 0; y < VAGX_HALF_HEIGHT; y += 2) {
		memcpy(&quads, &a->word.v[y * VAGX_HALF_WIDTH], sizeof(quads));
		upper = __builtin_shufflevector(quads, quads, 0, 1, 4, 5, 8, 9, 12, 13);
		lower = __builtin_shufflevector(quads, quads, 2, 3, 6, 7, 10, 11, 14, 15);
		unorm8_put_row(&h, y, &upper);
		unorm8_put_row(&h, y + 1, &lower);
	}
	return true;
}

INLINE void unorm8_get_row(const struct unorm8_half *h, unsigned int y, unorm8_row *row)
{
	const uint8_t *p = h->first + y * h->row;
	unorm8_rows all;

	if (h->stride == 4) {
		memcpy(row, p, sizeof(*row));
		return;
	}
	memcpy(&all, p, sizeof(all));
	*row = h->odd ? __builtin_shufflevector(all, all, 1, 3, 5, 7, 9, 11, 13, 15) :
			__builtin_shufflevector(all, all, 0, 2, 4, 6, 8, 10, 12, 14);
}

/* Loads the words of half a block */
INLINE void unorm8_load_rows(struct unorm8_access *a, const struct op *op)
{
	const struct unorm8_half h = unorm8_half_of(a, op);
	unorm8_row upper, lower;
	unorm8_rows quads;
	unsigned int y;

	for (y = 0; y < VAGX_HALF_HEIGHT; y += 2) {
		unorm8_get_row(&h, y, &upper);
		unorm8_get_row(&h, y + 1, &lower);
		quads = __builtin_shufflevector(upper, lower, 0, 1, 8, 9, 2, 3, 10, 11,
						4, 5, 12, 13, 6, 7, 14, 15);
		memcpy(&a->word.v[y * VAGX_HALF_WIDTH], &quads, sizeof(quads));
	}
}

CLONES static void unorm8_convert_any(struct unorm8_access *a, const struct op *op)
{
	unorm8_find(a, op, true);
	unorm8_convert(a);
}

bool vagx_tile_store_unorm8(struct simdgroup *sg, const struct op *op)
{
	uint8_t *memory;
	struct unorm8_access a;
	unsigned int i;
	uint32_t left;

	if (!unorm8_begin(&a, sg, op, &op->src[0], &op->src[1]))
		return false;
	if (unorm8_store_rows(&a, op))
		return true;
	unorm8_convert_any(&a, op);
	memory = sg->core->tile->memory;
	for (i = 0; a.lanes == ALL_LANES && i < LANES; i++)
		memcpy(memory + a.at.v[i], &a.word.v[i], 4);
	for (left = a.lanes == ALL_LANES ? 0 : a.lanes; left; left &= left - 1) {
		i = __builtin_ctz(left);
		memcpy(memory + a.at.v[i], &a.word.v[i], 4);
	}
	return true;
}

INLINE uint32_t unorm8_word(const struct unorm8_access *a, const uint8_t *memory, unsigned int lane)
{
	uint32_t word;

	memcpy(&word, memory + a->at.v[lane], sizeof(word));
	return word;
}

/* Makes vectors of words, which could not be read soon if they had been stored one by one */
INLINE void unorm8_load_words(struct unorm8_access *a, const uint8_t *memory)
{
	unsigned int i;

	for (i = 0; i < LANES; i += sizeof(unorm8_rows) / sizeof(uint32_t)) {
#define WORD(n)	unorm8_word(a, memory, i + (n))
		const unorm8_rows words = {
			WORD(0), WORD(1), WORD(2), WORD(3), WORD(4), WORD(5), WORD(6), WORD(7),
			WORD(8), WORD(9), WORD(10), WORD(11), WORD(12), WORD(13), WORD(14),
			WORD(15),
		};
#undef WORD
		memcpy(&a->word.v[i], &words, sizeof(words));
	}
}

/*
 * Loads words, and writes their bytes to the registers. Return: false if a lane is outside of the
 * tile, as what is loaded there stays as it is.
 */
CLONES static bool unorm8_load(struct simdgroup *sg, struct unorm8_access *a, const struct op *op)
{
	struct lanes bits;
	unsigned int n, i;

	if (unorm8_has_rows(a, op, false)) {
		unorm8_load_rows(a, op);
	} else {
		unorm8_find(a, op, false);
		if (a->lanes != sg->exec)
			return false;
		unorm8_load_words(a, sg->core->tile->memory);
	}
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
	return true;
}

bool vagx_tile_load_unorm8(struct simdgroup *sg, const struct op *op)
{
	struct unorm8_access a;

	return unorm8_begin(&a, sg, op, &op->dst, &op->src[0]) && unorm8_load(sg, &a, op);
}
