// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Code for reductions and exclusive scans of integers, of quads and of the simdgroup (gpu/core_simd.c).
 * Lanes that are not active have the identity element, and pairs of lanes are combined, then pairs
 * of these: as the order does not matter, the result is the interpreter's. That of floats does,
 * and these are left to it, as is what needs lanes of other quads where a vector has not all.
 */
#include "build.h"

#define LANES_OF_QUAD	4

/* How integers are combined */
struct reduce_kind {
	uint8_t op;
	bool is_known;
	bool is_signed;
	/* it is of the complements: there is no instruction for the greatest unsigned number */
	bool is_inverted;
	/* the identity element, of sources of 16 and 32 bits; complemented already */
	uint32_t identity[2];
};

static const struct reduce_kind reduce_kinds[32] = {
	[AGX_REDUCE_AND] = { VECTOR_AND, true, .identity = { ~0u, ~0u } },
	[AGX_REDUCE_OR] = { VECTOR_OR, true },
	[AGX_REDUCE_XOR] = { VECTOR_XOR, true },
	[AGX_REDUCE_IADD] = { VECTOR_ADD, true },
	[AGX_REDUCE_SMIN] = { VECTOR_MIN, true, true, .identity = { 0x7fff, 0x7fffffff } },
	[AGX_REDUCE_SMAX] = { VECTOR_MAX, true, true, .identity = { 0xffff8000, 0x80000000 } },
	[AGX_REDUCE_UMIN] = { VECTOR_MIN_UNSIGNED, true, .identity = { ~0u, ~0u } },
	[AGX_REDUCE_UMAX] = { VECTOR_MIN_UNSIGNED, true, .is_inverted = true,
			      .identity = { ~0u, ~0u } },
};

static void reduce_invert(struct build *b, unsigned int dst, unsigned int v)
{
	b->vectors->op(b, VECTOR_XOR, MASK_ALL, dst, v, vagx_build_constant(b, ~0u));
}

/* A temporary with the source in active lanes, the identity element in others */
static unsigned int reduce_source(struct build *b, const struct op *op,
				  const struct reduce_kind *kind)
{
	const struct agx_operand *o = &op->src[0];
	struct value v = vagx_build_in_vector(b, vagx_build_int(b, o, kind->is_signed));
	unsigned int t = vagx_build_temp(b);

	if (kind->is_inverted) {
		reduce_invert(b, VEC_SCRATCH, v.vec);
		v = vagx_build_vector(VEC_SCRATCH);
	}
	b->vectors->copy(b, MASK_ALL, t, vagx_build_constant(b, kind->identity[o->size != 16]));
	b->vectors->copy(b, MASK_EXEC, t, v);
	return t;
}

/* @t = @t combined with that of other lanes: those @distance away, by one bit of their numbers */
static void reduce_pairs(struct build *b, const struct reduce_kind *kind, unsigned int t,
			 unsigned int u, unsigned int distance)
{
	uint32_t from[LANES];
	unsigned int i;

	if (distance < LANES_OF_QUAD) {
		b->vectors->quad(b, u, t, distance == 1 ? 0xb1 : 0x4e);
	} else {
		for (i = 0; i < LANES; i++)
			from[i] = i ^ distance;
		b->vectors->table(b, u, from);
		b->vectors->permute(b, u, t);
	}
	b->vectors->op(b, kind->op, MASK_ALL, t, t, vagx_build_vector(u));
}

/*
 * @u = @t of the lanes @distance before each one in its group of @width lanes, itself where there is
 * none; MASK_COND: there is one
 */
static void reduce_shift(struct build *b, unsigned int t, unsigned int u, unsigned int width,
			 unsigned int distance)
{
	uint32_t from[LANES];
	unsigned int i;

	if (width == LANES_OF_QUAD) {
		b->vectors->quad(b, u, t, distance == 1 ? 0x90 : 0x44);
	} else {
		for (i = 0; i < LANES; i++)
			from[i] = i < distance ? i : i - distance;
		b->vectors->table(b, u, from);
		b->vectors->permute(b, u, t);
	}
	b->vectors->load(b, VEC_SCRATCH, REGISTERS + PLACE_LANE);
	b->vectors->op(b, VECTOR_AND, MASK_ALL, VEC_SCRATCH, VEC_SCRATCH,
		       vagx_build_constant(b, width - 1));
	b->vectors->compare_int(b, MASK_COND, true, VEC_SCRATCH,
				vagx_build_constant(b, distance), COMPARE_GE);
}

/* @t = what is combined of the lanes before each one; changes @u */
static void reduce_scan(struct build *b, const struct op *op, const struct reduce_kind *kind,
			unsigned int t, unsigned int u, unsigned int width)
{
	unsigned int distance;

	reduce_shift(b, t, u, width, 1);
	b->vectors->copy(b, MASK_ALL, t,
			 vagx_build_constant(b, kind->identity[op->src[0].size != 16]));
	b->vectors->copy(b, MASK_COND, t, vagx_build_vector(u));
	for (distance = 1; distance < width; distance *= 2) {
		reduce_shift(b, t, u, width, distance);
		b->vectors->op(b, kind->op, MASK_COND, t, t, vagx_build_vector(u));
	}
}

bool vagx_build_lower_reduce(struct build *b, const struct op *op)
{
	unsigned int width = op->opcode == AGX_OP_QUAD_REDUCE ? LANES_OF_QUAD : LANES, distance;
	const struct reduce_kind *kind = &reduce_kinds[op->mod[AGX_MOD_OP] % 32];
	unsigned int t, u;

	if ((op->opcode != AGX_OP_QUAD_REDUCE && op->opcode != AGX_OP_SIMD_REDUCE) ||
	    op->dst.type != AGX_OPERAND_REG || op->dst.size > 32 || !kind->is_known ||
	    (width == LANES && !b->vectors->permute))
		return false;
	b->temps = 0;
	t = reduce_source(b, op, kind);
	u = vagx_build_temp(b);
	if (op->mod[AGX_MOD_PREFIX]) {
		reduce_scan(b, op, kind, t, u, width);
	} else {
		for (distance = 1; distance < width; distance *= 2)
			reduce_pairs(b, kind, t, u, distance);
	}
	if (kind->is_inverted)
		reduce_invert(b, t, t);
	vagx_build_write_int(b, op, vagx_build_vector(t));
	return true;
}
