// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Sources of instructions, their comparisons, and results that are floats. Uniforms and immediates
 * are words in memory that the host's instructions broadcast by themselves.
 */
#include "gpu/core_float.h"
#include "build.h"

/* A half of a register's words, extended */
static struct value operand_extract(struct build *b, unsigned int vec, bool upper,
				    bool sign_extend)
{
	const struct vectors *vectors = b->vectors;
	unsigned int t = vagx_build_temp(b);
	struct value v = vagx_build_vector(vec);

	if (upper) {
		vectors->op_imm(b, sign_extend ? VECTOR_SAR_IMM : VECTOR_SHR_IMM, MASK_ALL, t, 0, v,
				16);
	} else if (sign_extend) {
		vectors->op_imm(b, VECTOR_SHL_IMM, MASK_ALL, t, 0, v, 16);
		vectors->op_imm(b, VECTOR_SAR_IMM, MASK_ALL, t, 0, vagx_build_vector(t), 16);
	} else {
		vectors->op(b, VECTOR_AND, MASK_ALL, t, vec, vagx_build_constant(b, 0xffff));
	}
	return vagx_build_vector(t);
}

/* A uniform of 16 bits: it is extended in a general register */
static struct value operand_uniform16(struct build *b, unsigned int half, bool sign_extend)
{
	unsigned int t = vagx_build_temp(b);

	vagx_host_load_uniform(b, half, sign_extend);
	b->vectors->copy_scalar(b, t);
	return vagx_build_vector(t);
}

struct value vagx_build_int(struct build *b, const struct agx_operand *o, bool sign_extend)
{
	unsigned int number = (unsigned int)o->value;
	unsigned int vec;

	switch (o->type) {
	case AGX_OPERAND_REG:
		vec = vagx_build_canonical(b, number / 2);
		if (o->size != 16)
			return vagx_build_vector(vec);
		return operand_extract(b, vec, number % 2, sign_extend);
	case AGX_OPERAND_UNIFORM:
		if (o->size == 16 || number + 1 >= VAGX_CORE_UNIFORMS)
			return operand_uniform16(b, number, o->size == 16 && sign_extend);
		return (struct value){
			.is_scalar = true,
			.base = GPR_UNIFORMS,
			.disp = (int32_t)number * 2,
		};
	default:
		return vagx_build_constant(b, number);
	}
}

/* A source of halves as floats: exact, denormals included */
static struct value operand_half(struct build *b, const struct agx_operand *o)
{
	struct value v;

	if (o->type == AGX_OPERAND_REG)
		return vagx_build_vector(vagx_build_half(b, (unsigned int)o->value));
	v = vagx_build_int(b, o, false);
	b->vectors->half_to_float(b, v.vec, v.vec, false);
	return v;
}

/* Absolute value and negation, in a temporary */
static struct value operand_modify(struct build *b, const struct agx_operand *o, struct value v)
{
	unsigned int t;

	v = vagx_build_in_vector(b, v);
	t = vagx_build_is_temp(v) ? v.vec : vagx_build_temp(b);
	if (o->absolute) {
		b->vectors->op(b, VECTOR_AND, MASK_ALL, t, v.vec,
			       vagx_build_constant(b, 0x7fffffff));
		v = vagx_build_vector(t);
	}
	if (o->negate)
		b->vectors->op(b, VECTOR_XOR, MASK_ALL, t, v.vec,
			       vagx_build_constant(b, 0x80000000));
	return vagx_build_vector(t);
}

static struct value operand_immediate(struct build *b, const struct agx_operand *o)
{
	uint32_t bits = float_bits(agx_isa_small_float(o->value));

	if (o->absolute)
		bits &= 0x7fffffff;
	return vagx_build_constant(b, bits ^ (o->negate ? 0x80000000 : 0));
}

struct value vagx_build_float(struct build *b, const struct agx_operand *o)
{
	struct value v;

	if (o->type != AGX_OPERAND_REG && o->type != AGX_OPERAND_UNIFORM)
		return operand_immediate(b, o);
	if (o->size == 16)
		v = operand_half(b, o);
	else if (o->type == AGX_OPERAND_REG)
		v = vagx_build_vector(vagx_build_register(b, (unsigned int)o->value / 2));
	else
		v = vagx_build_int(b, o, false);
	return o->absolute || o->negate ? operand_modify(b, o, v) : v;
}

static void operand_compare_ints(struct build *b, const struct op *op)
{
	unsigned int cond = op->mod[AGX_MOD_COND];
	bool is_signed = cond & AGX_ICOND_SEQ, inverted = cond & AGX_ICOND_NE;
	struct value x = vagx_build_int(b, &op->src[0], is_signed);
	struct value y = vagx_build_int(b, &op->src[1], is_signed);
	unsigned int predicate;

	switch (cond & 3) {
	case AGX_ICOND_EQ:
		predicate = inverted ? COMPARE_NE : COMPARE_EQ;
		break;
	case AGX_ICOND_ULT:
		predicate = inverted ? COMPARE_GE : COMPARE_LT;
		break;
	default:
		predicate = inverted ? COMPARE_LE : COMPARE_GT;
	}
	x = vagx_build_in_vector(b, x);
	b->vectors->compare_int(b, MASK_COND, is_signed, x.vec, y, predicate);
}

static void operand_compare_floats(struct build *b, const struct op *op)
{
	static const uint8_t predicates[8] = {
		[AGX_FCOND_EQ] = COMPARE_EQ,
		[AGX_FCOND_LT] = COMPARE_LT,
		[AGX_FCOND_GT] = COMPARE_GT,
		[AGX_FCOND_LTN] = COMPARE_LT,
		/* there is no condition 4; the interpreter takes what it does not know as this */
		[4] = COMPARE_GT,
		[AGX_FCOND_GE] = COMPARE_GE,
		[AGX_FCOND_LE] = COMPARE_LE,
		[AGX_FCOND_GTN] = COMPARE_GT,
	};
	unsigned int cond = op->mod[AGX_MOD_COND], kind = cond & 7;
	bool or_unordered = kind == AGX_FCOND_LTN || kind == AGX_FCOND_GTN || kind == 4;
	struct value x = vagx_build_in_vector(b, vagx_build_float(b, &op->src[0]));
	struct value y = vagx_build_float(b, &op->src[1]);

	if (or_unordered)
		y = vagx_build_in_vector(b, y);
	b->vectors->compare_float(b, x.vec, y, predicates[kind], or_unordered);
	if (cond & AGX_FCOND_NE)
		b->vectors->mask(b, MASK_NOT, MASK_COND, MASK_COND, MASK_ALL);
}

void vagx_build_condition(struct build *b, const struct op *op, bool is_float)
{
	if (is_float)
		operand_compare_floats(b, op);
	else
		operand_compare_ints(b, op);
}

void vagx_build_write_int(struct build *b, const struct op *op, struct value v)
{
	unsigned int t;

	if (op->dst.size == 16 && !vagx_build_is_temp(v)) {
		t = vagx_build_temp(b);
		b->vectors->copy(b, MASK_ALL, t, v);
		v = vagx_build_vector(t);
	}
	vagx_build_write(b, &op->dst, v, false);
}

/* Clamps to 0 to 1; NaN becomes 0, as the host returns the second source for it */
static void operand_saturate(struct build *b, unsigned int vec)
{
	b->vectors->op(b, VECTOR_FMAX, MASK_ALL, vec, vec, vagx_build_constant(b, 0));
	b->vectors->op(b, VECTOR_FMIN, MASK_ALL, vec, vec, vagx_build_constant(b, 0x3f800000));
}

void vagx_build_write_float(struct build *b, const struct op *op, unsigned int vec)
{
	if (op->mod[AGX_MOD_SATURATE])
		operand_saturate(b, vec);
	if (op->dst.size == 16)
		b->vectors->round_to_half(b, MASK_EXEC, vagx_build_half_destination(b, &op->dst),
					  vec);
	else
		vagx_build_write(b, &op->dst, vagx_build_vector(vec), true);
}
