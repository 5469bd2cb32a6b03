// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Code for instructions across the lanes of a simdgroup or quad: derivatives, ballots and shuffles
 * (gpu/core_float.c, gpu/core_simd.c). They read lanes that are not active, too, so that halves are
 * taken from words, which are right in all lanes. Quads are together in any vector. Where a vector
 * has not all lanes, those that vote are found by a loop of their own, and lanes of other quads
 * cannot be reached: these shuffles are left to the interpreter.
 */
#include "build.h"

#define LANES_OF_QUAD	4

/* Orders of a quad's lanes: two bits for each, the first one lowest */
#define ORDER(a, b, c, d)	((a) | (b) << 2 | (c) << 4 | (d) << 6)

static void lanes_op(struct build *b, enum vector_op op, unsigned int dst, unsigned int a,
		     struct value v)
{
	b->vectors->op(b, op, MASK_ALL, dst, a, v);
}

static void lanes_op_constant(struct build *b, enum vector_op op, unsigned int t, uint32_t bits)
{
	lanes_op(b, op, t, t, vagx_build_constant(b, bits));
}

/* A float source in all lanes, with its modifiers, in a vector */
static unsigned int lanes_float(struct build *b, const struct agx_operand *o)
{
	struct value v;

	if (o->type != AGX_OPERAND_REG || o->size != 16)
		return vagx_build_in_vector(b, vagx_build_float(b, o)).vec;
	v = vagx_build_int(b, o, false);
	b->vectors->half_to_float(b, v.vec, v.vec, false);
	if (o->absolute)
		lanes_op_constant(b, VECTOR_AND, v.vec, 0x7fffffff);
	if (o->negate)
		lanes_op_constant(b, VECTOR_XOR, v.vec, 0x80000000);
	return v.vec;
}

/* Differences within a quad: lanes 0 and 1 are a row, 0 and 2 a column */
static bool lanes_derivative(struct build *b, const struct op *op)
{
	bool is_row = op->opcode == AGX_OP_DFDX;
	unsigned int v, t, u;

	if (op->dst.type != AGX_OPERAND_REG || op->dst.size > 32)
		return false;
	v = lanes_float(b, &op->src[0]);
	t = vagx_build_temp(b);
	u = vagx_build_temp(b);
	b->vectors->quad(b, t, v, is_row ? ORDER(1, 1, 3, 3) : ORDER(2, 3, 2, 3));
	b->vectors->quad(b, u, v, is_row ? ORDER(0, 0, 2, 2) : ORDER(0, 1, 0, 1));
	lanes_op_constant(b, VECTOR_XOR, u, 0x80000000);
	lanes_op(b, VECTOR_FADD, t, t, vagx_build_vector(u));
	vagx_build_write_float(b, op, t);
	return true;
}

/* Ballots */

bool vagx_build_votes(const struct op *op)
{
	return op->opcode == AGX_OP_ICMP_BALLOT || op->opcode == AGX_OP_FCMP_BALLOT ||
	       op->opcode == AGX_OP_BALLOT_ACTIVE;
}

/* A word of the simdgroup that has a bit for each lane */
static struct value lanes_bits(size_t offset)
{
	return (struct value){ .is_scalar = true, .base = GPR_SG, .disp = (int32_t)offset };
}

/* The four bits of each lane's quad, of votes */
static struct value lanes_quad_bits(struct build *b)
{
	unsigned int t = vagx_build_temp(b);

	b->vectors->copy(b, MASK_ALL, t, lanes_bits(offsetof(struct simdgroup, votes)));
	b->vectors->load(b, VEC_SCRATCH, REGISTERS + PLACE_LANE);
	lanes_op_constant(b, VECTOR_AND, VEC_SCRATCH, (uint32_t)~(LANES_OF_QUAD - 1));
	lanes_op(b, VECTOR_SHR, t, t, vagx_build_vector(VEC_SCRATCH));
	lanes_op_constant(b, VECTOR_AND, t, (1 << LANES_OF_QUAD) - 1);
	return vagx_build_vector(t);
}

static bool lanes_ballot(struct build *b, const struct op *op)
{
	if (op->dst.type != AGX_OPERAND_REG || op->dst.size > 32)
		return false;
	vagx_build_condition(b, op, op->opcode == AGX_OP_FCMP_BALLOT);
	b->temps = 0;
	b->vectors->vote(b);
	if (op->mod[AGX_MOD_QUAD] == AGX_WIDTH_QUAD)
		vagx_build_write_int(b, op, lanes_quad_bits(b));
	else
		vagx_build_write_int(b, op, lanes_bits(offsetof(struct simdgroup, votes)));
	return true;
}

static bool lanes_ballot_active(struct build *b, const struct op *op)
{
	if (op->dst.type != AGX_OPERAND_REG || op->dst.size > 32)
		return false;
	vagx_build_write_int(b, op, lanes_bits(offsetof(struct simdgroup, exec)));
	return true;
}

/* Shuffles */

/* The lane that a thread's value comes from, which can be outside, and then is a large number */
static uint32_t lanes_from(unsigned int kind, uint32_t lane, uint32_t index)
{
	switch (kind) {
	case AGX_SHUFFLE_XOR:
		return lane ^ index;
	case AGX_SHUFFLE_UP:
		return lane - index;
	case AGX_SHUFFLE_DOWN:
		return lane + index;
	default:
		return index;
	}
}

/* The same by an index that is known: the lane of @width ones, its own if it is outside of these */
static uint32_t lanes_known(const struct op *op, uint32_t lane, uint32_t width)
{
	uint32_t from = lanes_from(op->mod[AGX_MOD_OP], lane, (uint32_t)op->src[1].value & 0xffff);

	if (op->mod[AGX_MOD_ROTATE])
		from &= width - 1;
	return from < width ? from : lane;
}

/*
 * What hardware does within each quad by the indices of all of its threads (gpu/core_simd.c), those
 * that do not exist left out, needs that all exist. It is the same as the index if that is known.
 */
static void lanes_require_all(struct build *b, const struct op *op)
{
	vagx_build_require(b, op, offsetof(struct simdgroup, exists), ALL_LANES, HOST_NOT_ZERO);
}

/* Of quads, or of all lanes, by an index that is known */
static void lanes_shuffle_known(struct build *b, const struct op *op, unsigned int v)
{
	unsigned int t = vagx_build_temp(b), i;
	uint32_t from[LANES];

	if (op->mod[AGX_MOD_QUAD] == AGX_WIDTH_QUAD) {
		b->vectors->quad(b, t, v, ORDER(lanes_known(op, 0, 4), lanes_known(op, 1, 4),
						lanes_known(op, 2, 4), lanes_known(op, 3, 4)));
	} else {
		for (i = 0; i < LANES; i++)
			from[i] = lanes_known(op, i, LANES);
		lanes_require_all(b, op);
		b->vectors->table(b, t, from);
		b->vectors->permute(b, t, v);
	}
	vagx_build_write_int(b, op, vagx_build_vector(t));
}

/* @t = where a lane's value comes from, by its number in @t and an index */
static void lanes_step(struct build *b, const struct op *op, unsigned int t, unsigned int index)
{
	static const uint8_t ops[] = {
		[AGX_SHUFFLE_XOR] = VECTOR_XOR,
		[AGX_SHUFFLE_UP] = VECTOR_SUB,
		[AGX_SHUFFLE_DOWN] = VECTOR_ADD,
	};
	unsigned int kind = op->mod[AGX_MOD_OP];
	struct value v = vagx_build_vector(index);

	if (kind == AGX_SHUFFLE_NONE)
		b->vectors->copy(b, MASK_ALL, t, v);
	else
		lanes_op(b, ops[kind], t, t, v);
}

/* @low = the lower two bits of the indices of each quad's lanes, or'ed */
static void lanes_or_quads(struct build *b, unsigned int low, unsigned int index)
{
	lanes_op(b, VECTOR_AND, low, index, vagx_build_constant(b, 3));
	b->vectors->quad(b, VEC_SCRATCH, low, ORDER(1, 0, 3, 2));
	lanes_op(b, VECTOR_OR, low, low, vagx_build_vector(VEC_SCRATCH));
	b->vectors->quad(b, VEC_SCRATCH, low, ORDER(2, 3, 0, 1));
	lanes_op(b, VECTOR_OR, low, low, vagx_build_vector(VEC_SCRATCH));
}

/* @t = the number of each lane, in its quad or the simdgroup */
static void lanes_number(struct build *b, unsigned int t, uint32_t width)
{
	b->vectors->load(b, t, REGISTERS + PLACE_LANE);
	lanes_op_constant(b, VECTOR_AND, t, width - 1);
}

/* VEC_SCRATCH = @index, as the place of a lane among @width; MASK_COND: it is one of them */
static void lanes_find_place(struct build *b, const struct op *op, unsigned int index,
			     uint32_t width)
{
	lanes_number(b, VEC_SCRATCH, width);
	lanes_step(b, op, VEC_SCRATCH, index);
	if (op->mod[AGX_MOD_ROTATE])
		lanes_op_constant(b, VECTOR_AND, VEC_SCRATCH, width - 1);
	b->vectors->compare_int(b, MASK_COND, false, VEC_SCRATCH, vagx_build_constant(b, width),
				COMPARE_LT);
}

/*
 * By an index that is not known: @index has it, and gets the lane that the value comes from. That is
 * in the quad which the index says, at a place that the indices of that quad say.
 */
static void lanes_find_source(struct build *b, const struct op *op, unsigned int index,
			      unsigned int low, uint32_t width)
{
	lanes_or_quads(b, low, index);
	lanes_find_place(b, op, index, width);
	if (width == LANES) {
		b->vectors->copy(b, MASK_ALL, index, vagx_build_vector(VEC_SCRATCH));
		b->vectors->permute(b, VEC_SCRATCH, low);
		b->vectors->copy(b, MASK_ALL, low, vagx_build_vector(VEC_SCRATCH));
	} else {
		b->vectors->load(b, index, REGISTERS + PLACE_LANE);
	}
	lanes_number(b, VEC_SCRATCH, LANES_OF_QUAD);
	lanes_step(b, op, VEC_SCRATCH, low);
	lanes_op_constant(b, VECTOR_AND, VEC_SCRATCH, LANES_OF_QUAD - 1);
	lanes_op_constant(b, VECTOR_AND, index, (uint32_t)~(LANES_OF_QUAD - 1));
	lanes_op(b, VECTOR_OR, index, index, vagx_build_vector(VEC_SCRATCH));
}

static void lanes_shuffle_by(struct build *b, const struct op *op, unsigned int v,
			     unsigned int index)
{
	bool is_quad = op->mod[AGX_MOD_QUAD] == AGX_WIDTH_QUAD;
	unsigned int low = vagx_build_temp(b);

	lanes_require_all(b, op);
	lanes_find_source(b, op, index, low, is_quad ? LANES_OF_QUAD : LANES);
	b->vectors->permute(b, index, v);
	b->vectors->copy(b, MASK_ALL, low, vagx_build_vector(v));
	b->vectors->copy(b, MASK_COND, low, vagx_build_vector(index));
	vagx_build_write_int(b, op, vagx_build_vector(low));
}

static bool lanes_shuffle(struct build *b, const struct op *op)
{
	bool is_known = op->src[1].type == AGX_OPERAND_IMM;
	bool is_quad = op->mod[AGX_MOD_QUAD] == AGX_WIDTH_QUAD;
	struct value v, index;
	unsigned int t;

	if (op->dst.type != AGX_OPERAND_REG || op->dst.size > 32 ||
	    (!b->vectors->permute && (!is_known || !is_quad)))
		return false;
	v = vagx_build_int(b, &op->src[0], op->src[0].sign_extend);
	v = vagx_build_in_vector(b, v);
	if (is_known) {
		lanes_shuffle_known(b, op, v.vec);
		return true;
	}
	index = vagx_build_in_vector(b, vagx_build_int(b, &op->src[1], op->src[1].sign_extend));
	t = vagx_build_is_temp(index) ? index.vec : vagx_build_temp(b);
	lanes_op(b, VECTOR_AND, t, index.vec, vagx_build_constant(b, 0xffff));
	lanes_shuffle_by(b, op, v.vec, t);
	return true;
}

bool vagx_build_lower_lanes(struct build *b, const struct op *op)
{
	b->temps = 0;
	switch (op->opcode) {
	case AGX_OP_DFDX:
	case AGX_OP_DFDY:
		return lanes_derivative(b, op);
	case AGX_OP_ICMP_BALLOT:
	case AGX_OP_FCMP_BALLOT:
		return lanes_ballot(b, op);
	case AGX_OP_BALLOT_ACTIVE:
		return lanes_ballot_active(b, op);
	case AGX_OP_SHUFFLE:
		return lanes_shuffle(b, op);
	default:
		return false;
	}
}
