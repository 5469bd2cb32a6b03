// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Code for integers beyond the arithmetic of lower.c: bits that are counted, turned round or
 * spread, shifts of two words, products of 64 bits, and sums that saturate. The functions of the
 * interpreter say what the results are (gpu/core_int.c).
 */
#include "build.h"

/* @dst = @a op @v in all lanes */
static void lower_int_op(struct build *b, enum vector_op op, unsigned int dst, unsigned int a,
			 struct value v)
{
	b->vectors->op(b, op, MASK_ALL, dst, a, v);
}

static void lower_int_imm(struct build *b, enum vector_op op, unsigned int dst, unsigned int a,
			  unsigned int imm)
{
	b->vectors->op_imm(b, op, MASK_ALL, dst, 0, vagx_build_vector(a), imm);
}

/* @dst &= @bits */
static void lower_int_and(struct build *b, unsigned int dst, uint32_t bits)
{
	lower_int_op(b, VECTOR_AND, dst, dst, vagx_build_constant(b, bits));
}

/* Source @n in a vector */
static unsigned int lower_int_source(struct build *b, const struct op *op, unsigned int n)
{
	struct value v = vagx_build_int(b, &op->src[n], op->src[n].sign_extend);

	return vagx_build_in_vector(b, v).vec;
}

/* Source @n in a temporary */
static unsigned int lower_int_temp(struct build *b, const struct op *op, unsigned int n)
{
	struct value v = vagx_build_int(b, &op->src[n], op->src[n].sign_extend);
	unsigned int t;

	if (vagx_build_is_temp(v))
		return v.vec;
	t = vagx_build_temp(b);
	b->vectors->copy(b, MASK_ALL, t, v);
	return t;
}

static bool lower_int_is_narrow(const struct op *op)
{
	return op->dst.type == AGX_OPERAND_REG && op->dst.size <= 32;
}

static bool lower_int_write(struct build *b, const struct op *op, unsigned int t)
{
	vagx_build_write(b, &op->dst, vagx_build_vector(t), false);
	return true;
}

/* @t = (@t >> @count & @mask) | (@t & @mask) << @count: exchanges groups of so many bits */
static void lower_int_exchange(struct build *b, unsigned int t, unsigned int count, uint32_t mask)
{
	lower_int_imm(b, VECTOR_SHR_IMM, VEC_SCRATCH, t, count);
	if (mask) {
		lower_int_and(b, VEC_SCRATCH, mask);
		lower_int_and(b, t, mask);
	}
	lower_int_imm(b, VECTOR_SHL_IMM, t, t, count);
	lower_int_op(b, VECTOR_OR, t, t, vagx_build_vector(VEC_SCRATCH));
}

static bool lower_int_bitrev(struct build *b, const struct op *op)
{
	unsigned int t = lower_int_temp(b, op, 0);

	lower_int_exchange(b, t, 1, 0x55555555);
	lower_int_exchange(b, t, 2, 0x33333333);
	lower_int_exchange(b, t, 4, 0x0f0f0f0f);
	lower_int_exchange(b, t, 8, 0x00ff00ff);
	/* the shifts lose the other half */
	lower_int_exchange(b, t, 16, 0);
	return lower_int_write(b, op, t);
}

/* Sums of ever more bits, the last one by a multiplication */
static bool lower_int_popcnt(struct build *b, const struct op *op)
{
	unsigned int t = lower_int_temp(b, op, 0);

	lower_int_imm(b, VECTOR_SHR_IMM, VEC_SCRATCH, t, 1);
	lower_int_and(b, VEC_SCRATCH, 0x55555555);
	lower_int_op(b, VECTOR_SUB, t, t, vagx_build_vector(VEC_SCRATCH));
	lower_int_imm(b, VECTOR_SHR_IMM, VEC_SCRATCH, t, 2);
	lower_int_and(b, VEC_SCRATCH, 0x33333333);
	lower_int_and(b, t, 0x33333333);
	lower_int_op(b, VECTOR_ADD, t, t, vagx_build_vector(VEC_SCRATCH));
	lower_int_imm(b, VECTOR_SHR_IMM, VEC_SCRATCH, t, 4);
	lower_int_op(b, VECTOR_ADD, t, t, vagx_build_vector(VEC_SCRATCH));
	lower_int_and(b, t, 0x0f0f0f0f);
	lower_int_op(b, VECTOR_MUL, t, t, vagx_build_constant(b, 0x01010101));
	lower_int_imm(b, VECTOR_SHR_IMM, t, t, 24);
	return lower_int_write(b, op, t);
}

/*
 * The highest bit that is set, or -1: the exponent of the number as a float. Rounding cannot
 * change it when the bit below the highest one is 0; of 0 it is -127.
 */
static bool lower_int_ffs(struct build *b, const struct op *op)
{
	unsigned int t = lower_int_temp(b, op, 0), sign = vagx_build_temp(b);

	/* 31 where the number is negative, and its exponent wrong */
	lower_int_imm(b, VECTOR_SAR_IMM, sign, t, 31);
	lower_int_imm(b, VECTOR_SHR_IMM, sign, sign, 27);
	lower_int_imm(b, VECTOR_SHR_IMM, VEC_SCRATCH, t, 1);
	lower_int_op(b, VECTOR_AND, VEC_SCRATCH, VEC_SCRATCH, vagx_build_vector(t));
	lower_int_op(b, VECTOR_XOR, t, t, vagx_build_vector(VEC_SCRATCH));
	lower_int_op(b, VECTOR_INT_TO_FLOAT, t, 0, vagx_build_vector(t));
	lower_int_imm(b, VECTOR_SHR_IMM, t, t, 23);
	lower_int_and(b, t, 0xff);
	lower_int_op(b, VECTOR_SUB, t, t, vagx_build_constant(b, 127));
	lower_int_op(b, VECTOR_MAX, t, t, vagx_build_constant(b, 0xffffffff));
	lower_int_op(b, VECTOR_OR, t, t, vagx_build_vector(sign));
	return lower_int_write(b, op, t);
}

/* @t = its low 16 bits, each with a zero above it */
static void lower_int_spread(struct build *b, unsigned int t)
{
	static const uint32_t masks[] = { 0x00ff00ff, 0x0f0f0f0f, 0x33333333, 0x55555555 };
	unsigned int i;

	lower_int_and(b, t, 0xffff);
	for (i = 0; i < 4; i++) {
		lower_int_imm(b, VECTOR_SHL_IMM, VEC_SCRATCH, t, 8 >> i);
		lower_int_op(b, VECTOR_OR, t, t, vagx_build_vector(VEC_SCRATCH));
		lower_int_and(b, t, masks[i]);
	}
}

static bool lower_int_interleave(struct build *b, const struct op *op)
{
	unsigned int x = lower_int_temp(b, op, 0), y = lower_int_temp(b, op, 1);

	lower_int_spread(b, x);
	lower_int_spread(b, y);
	lower_int_imm(b, VECTOR_SHL_IMM, y, y, 1);
	lower_int_op(b, VECTOR_OR, x, x, vagx_build_vector(y));
	return lower_int_write(b, op, x);
}

/* Two words shifted right by 0 to 127: shifts by more than 31, as negative numbers are, give 0 */
static bool lower_int_extr(struct build *b, const struct op *op)
{
	unsigned int bits = op->mod[AGX_MOD_BITMASK], low, high, t;
	struct value thirty_two = vagx_build_constant(b, 32);
	struct value most = vagx_build_constant(b, 127);

	low = lower_int_source(b, op, 2);
	lower_int_op(b, VECTOR_AND, VEC_SCRATCH, low, vagx_build_constant(b, 0x7f));
	b->temps = 0;
	low = lower_int_temp(b, op, 0);
	high = lower_int_source(b, op, 1);
	t = vagx_build_temp(b);
	lower_int_op(b, VECTOR_SHR, low, low, vagx_build_vector(VEC_SCRATCH));
	b->vectors->copy(b, MASK_ALL, t, thirty_two);
	lower_int_op(b, VECTOR_SUB, t, t, vagx_build_vector(VEC_SCRATCH));
	lower_int_op(b, VECTOR_MIN_UNSIGNED, t, t, most);
	lower_int_op(b, VECTOR_SHL, t, high, vagx_build_vector(t));
	lower_int_op(b, VECTOR_OR, low, low, vagx_build_vector(t));
	lower_int_op(b, VECTOR_SUB, VEC_SCRATCH, VEC_SCRATCH, thirty_two);
	lower_int_op(b, VECTOR_MIN_UNSIGNED, VEC_SCRATCH, VEC_SCRATCH, most);
	lower_int_op(b, VECTOR_SHR, t, high, vagx_build_vector(VEC_SCRATCH));
	lower_int_op(b, VECTOR_OR, low, low, vagx_build_vector(t));
	if (bits)
		lower_int_and(b, low, (1u << bits) - 1);
	return lower_int_write(b, op, low);
}

/* The upper word of a wide source, which is a register or a uniform of 64 bits */
static struct value lower_int_upper(struct build *b, const struct agx_operand *o)
{
	struct agx_operand upper = *o;

	upper.value += 2;
	upper.size = 32;
	return vagx_build_int(b, &upper, false);
}

/*
 * @high loses what sign extension of @o, whose word is in @own, makes of the product: its upper
 * word is all ones where it is negative, which times @other is the negative of that
 */
static void lower_int_extend(struct build *b, unsigned int high, const struct agx_operand *o,
			     unsigned int own, unsigned int other)
{
	if (!o->sign_extend)
		return;
	lower_int_imm(b, VECTOR_SAR_IMM, VEC_SCRATCH, own, 31);
	lower_int_op(b, VECTOR_AND, VEC_SCRATCH, VEC_SCRATCH, vagx_build_vector(other));
	lower_int_op(b, VECTOR_SUB, high, high, vagx_build_vector(VEC_SCRATCH));
}

/* Adds the third source to, or subtracts it from, a number of two words */
static void lower_int_add_third(struct build *b, const struct op *op, unsigned int low,
				unsigned int high, bool negate)
{
	const struct agx_operand *o = &op->src[2];
	enum vector_op add = negate ? VECTOR_SUB : VECTOR_ADD;
	struct value one = vagx_build_constant(b, 1), v;
	unsigned int z = lower_int_source(b, op, 2);

	/* a borrow is there before, a carry afterwards */
	v = vagx_build_vector(z);
	if (negate)
		b->vectors->compare_int(b, MASK_COND, false, low, v, COMPARE_LT);
	lower_int_op(b, add, low, low, v);
	if (!negate)
		b->vectors->compare_int(b, MASK_COND, false, low, v, COMPARE_LT);
	if (o->size == 64) {
		lower_int_op(b, add, high, high, lower_int_upper(b, o));
	} else if (o->sign_extend) {
		lower_int_imm(b, VECTOR_SAR_IMM, VEC_SCRATCH, z, 31);
		lower_int_op(b, add, high, high, vagx_build_vector(VEC_SCRATCH));
	}
	b->vectors->op(b, add, MASK_COND, high, high, one);
}

/* Factors have at most 32 bits, what is added up to 64; behind the last uniform there is none */
static bool lower_int_can_multiply(const struct build *b, const struct op *op)
{
	const struct agx_operand *z = &op->src[2];

	return b->vectors->mul_upper && op->dst.type == AGX_OPERAND_REG && op->dst.size == 64 &&
	       op->src[0].size <= 32 && op->src[1].size <= 32 &&
	       !op->mod[AGX_MOD_SATURATE] && !op->mod[AGX_MOD_SHIFT] &&
	       (z->type != AGX_OPERAND_UNIFORM || z->value + 3 < VAGX_CORE_UNIFORMS);
}

/* Products of 64 bits, and what is added to them */
static bool lower_int_multiply(struct build *b, const struct op *op)
{
	struct agx_operand o = op->dst;
	unsigned int x, y, low, high;

	if (!lower_int_can_multiply(b, op))
		return false;
	x = lower_int_source(b, op, 0);
	y = lower_int_source(b, op, 1);
	high = vagx_build_temp(b);
	b->vectors->mul_upper(b, high, x, y);
	lower_int_extend(b, high, &op->src[0], x, y);
	lower_int_extend(b, high, &op->src[1], y, x);
	low = x < VEC_CACHE ? x : y < VEC_CACHE ? y : vagx_build_temp(b);
	lower_int_op(b, VECTOR_MUL, low, x, vagx_build_vector(y));
	if (op->opcode != AGX_OP_IMUL) {
		/* the product goes to two temporaries, so that the third one is free */
		if (high == TEMPS - 1) {
			b->vectors->copy(b, MASK_ALL, 1, vagx_build_vector(high));
			high = 1;
		}
		b->temps = TEMPS - 1;
		lower_int_add_third(b, op, low, high, op->opcode == AGX_OP_IMSUB);
	}
	o.size = 32;
	vagx_build_write(b, &o, vagx_build_vector(low), false);
	o.value += 2;
	vagx_build_write(b, &o, vagx_build_vector(high), false);
	return true;
}

/* Whether a sum saturates as one of words that are all signed, or all unsigned */
static bool lower_int_can_saturate(const struct op *op, bool is_signed)
{
	unsigned int i;

	if (op->dst.type != AGX_OPERAND_REG || op->dst.size != 32 || op->mod[AGX_MOD_SHIFT])
		return false;
	for (i = 0; i < 2; i++) {
		const struct agx_operand *o = &op->src[i];

		/* immediates have eight bits */
		if (o->type != AGX_OPERAND_IMM && (o->size != 32 || o->sign_extend != is_signed))
			return false;
	}
	return true;
}

/* MASK_COND = lanes of @t whose sign is set */
static void lower_int_negative(struct build *b, unsigned int t)
{
	b->vectors->compare_int(b, MASK_COND, true, t, vagx_build_constant(b, 0), COMPARE_LT);
}

/* @t = @x + @y or @x - @y, clamped as signed numbers; @y has changed afterwards */
static void lower_int_saturate_signed(struct build *b, unsigned int t, unsigned int x,
				      unsigned int y, bool negate)
{
	lower_int_op(b, negate ? VECTOR_SUB : VECTOR_ADD, t, x, vagx_build_vector(y));
	/* a sum is too large if its sign is neither source's, a difference if the signs differ */
	if (negate)
		lower_int_op(b, VECTOR_XOR, y, y, vagx_build_vector(x));
	else
		lower_int_op(b, VECTOR_XOR, y, y, vagx_build_vector(t));
	lower_int_op(b, VECTOR_XOR, VEC_SCRATCH, x, vagx_build_vector(t));
	lower_int_op(b, VECTOR_AND, y, y, vagx_build_vector(VEC_SCRATCH));
	lower_int_negative(b, y);
	lower_int_imm(b, VECTOR_SAR_IMM, VEC_SCRATCH, x, 31);
	lower_int_op(b, VECTOR_XOR, VEC_SCRATCH, VEC_SCRATCH, vagx_build_constant(b, 0x7fffffff));
	b->vectors->copy(b, MASK_COND, t, vagx_build_vector(VEC_SCRATCH));
}

/* Sums and differences that saturate */
static bool lower_int_saturate(struct build *b, const struct op *op)
{
	bool negate = op->opcode == AGX_OP_ISUB, is_signed;
	unsigned int x, y, t;

	is_signed = op->src[0].sign_extend || op->src[1].sign_extend;
	if (!op->mod[AGX_MOD_SATURATE] || !lower_int_can_saturate(op, is_signed))
		return false;
	y = lower_int_temp(b, op, 1);
	x = lower_int_source(b, op, 0);
	if (is_signed) {
		t = vagx_build_temp(b);
		lower_int_saturate_signed(b, t, x, y, negate);
		return lower_int_write(b, op, t);
	}
	if (negate)
		b->vectors->compare_int(b, MASK_COND, false, x, vagx_build_vector(y), COMPARE_LT);
	lower_int_op(b, negate ? VECTOR_SUB : VECTOR_ADD, y, x, vagx_build_vector(y));
	if (!negate)
		b->vectors->compare_int(b, MASK_COND, false, y, vagx_build_vector(x), COMPARE_LT);
	b->vectors->copy(b, MASK_COND, y, vagx_build_constant(b, negate ? 0 : 0xffffffff));
	return lower_int_write(b, op, y);
}

bool vagx_build_lower_int(struct build *b, const struct op *op)
{
	b->temps = 0;
	switch (op->opcode) {
	case AGX_OP_BITREV:
		return lower_int_is_narrow(op) && lower_int_bitrev(b, op);
	case AGX_OP_POPCNT:
		return lower_int_is_narrow(op) && lower_int_popcnt(b, op);
	case AGX_OP_FFS:
		return lower_int_is_narrow(op) && lower_int_ffs(b, op);
	case AGX_OP_INTL:
		return lower_int_is_narrow(op) && lower_int_interleave(b, op);
	case AGX_OP_EXTR:
		return lower_int_is_narrow(op) && lower_int_extr(b, op);
	case AGX_OP_IMUL:
	case AGX_OP_IMADD:
	case AGX_OP_IMSUB:
		return lower_int_multiply(b, op);
	case AGX_OP_IADD:
	case AGX_OP_ISUB:
		return lower_int_saturate(b, op);
	default:
		return false;
	}
}
