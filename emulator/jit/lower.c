// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Code for arithmetic: one function for each kind of instruction, in a table by instruction. Each
 * gets the sources as values, computes in temporaries, and writes the active lanes of the
 * destination. The functions of the interpreter say what the results are
 * (gpu/core_arithmetic.c, gpu/core_float.c, gpu/core_int.c).
 */
#include "build.h"

typedef bool lower_fn(struct build *b, const struct op *op, unsigned int arg);

/* A row of the table: what makes the code, and its last argument */
struct lowering {
	lower_fn *fn;
	unsigned int arg;
};

/* Whether 32 bits of everything are enough to know the result */
static bool lower_is_narrow(const struct op *op)
{
	return op->dst.type == AGX_OPERAND_REG && op->dst.size <= 32 &&
	       !op->mod[AGX_MOD_SATURATE];
}

/* Source @n as an integer, extended as it says */
static struct value lower_source(struct build *b, const struct op *op, unsigned int n)
{
	return vagx_build_int(b, &op->src[n], op->src[n].sign_extend);
}

/* A vector for the result of an operation on @x: its own, or a new temporary */
static unsigned int lower_result(struct build *b, struct value x)
{
	return vagx_build_is_temp(x) ? x.vec : vagx_build_temp(b);
}

/* @dst = @a op @v in all lanes */
static void lower_op(struct build *b, enum vector_op op, unsigned int dst, unsigned int a,
		     struct value v)
{
	b->vectors->op(b, op, MASK_ALL, dst, a, v);
}

static void lower_op_imm(struct build *b, enum vector_op op, unsigned int dst, struct value v,
			 unsigned int imm)
{
	b->vectors->op_imm(b, op, MASK_ALL, dst, 0, v, imm);
}

static void lower_copy(struct build *b, unsigned int dst, struct value v)
{
	b->vectors->copy(b, MASK_ALL, dst, v);
}

/* Where the last vector instruction of an instruction writes */
struct lower_target {
	unsigned int vec;
	/* MASK_EXEC: the destination itself is written; MASK_ALL: a temporary */
	enum mask mask;
};

/* Whether the destination takes words as they are */
static bool lower_is_direct(const struct op *op)
{
	return op->dst.size == 32 && !op->mod[AGX_MOD_SATURATE];
}

/* The destination if it takes words as they are; else the vector of @reuse, or a new temporary */
static struct lower_target lower_target(struct build *b, const struct op *op, struct value reuse,
					bool is_float)
{
	if (lower_is_direct(op))
		return (struct lower_target){
			vagx_build_destination(b, &op->dst, is_float), MASK_EXEC
		};
	return (struct lower_target){ lower_result(b, reuse), MASK_ALL };
}

/* Writes what is in a temporary */
static void lower_finish_int(struct build *b, const struct op *op, struct lower_target to)
{
	if (to.mask == MASK_ALL)
		vagx_build_write(b, &op->dst, vagx_build_vector(to.vec), false);
}

static void lower_swap(struct value *x, struct value *y)
{
	struct value tmp = *x;

	*x = *y;
	*y = tmp;
}

static bool lower_mov_imm(struct build *b, const struct op *op, unsigned int arg)
{
	(void)arg;
	if (!lower_is_narrow(op))
		return false;
	vagx_build_write_int(b, op, vagx_build_constant(b, (uint32_t)op->imm));
	return true;
}

static bool lower_mov(struct build *b, const struct op *op, unsigned int arg)
{
	(void)arg;
	if (!lower_is_narrow(op))
		return false;
	vagx_build_write_int(b, op, lower_source(b, op, 0));
	return true;
}

/* @v << @count */
static struct value lower_shift_left(struct build *b, struct value v, unsigned int count)
{
	unsigned int t;

	if (!count)
		return v;
	v = vagx_build_in_vector(b, v);
	t = lower_result(b, v);
	lower_op_imm(b, VECTOR_SHL_IMM, t, v, count);
	return vagx_build_vector(t);
}

/* Addition and subtraction; @arg: the vectors' instruction */
static bool lower_add(struct build *b, const struct op *op, unsigned int arg)
{
	struct lower_target to;
	struct value x, y;

	if (!lower_is_narrow(op))
		return false;
	x = lower_source(b, op, 0);
	y = lower_shift_left(b, lower_source(b, op, 1), op->mod[AGX_MOD_SHIFT]);
	if (arg == VECTOR_ADD && x.is_scalar)
		lower_swap(&x, &y);
	x = vagx_build_in_vector(b, x);
	to = lower_target(b, op, x, false);
	b->vectors->op(b, arg, to.mask, to.vec, x.vec, y);
	lower_finish_int(b, op, to);
	return true;
}

/* Operations whose sources can be exchanged; @arg: the vectors' instruction */
static bool lower_commutative(struct build *b, const struct op *op, unsigned int arg)
{
	struct lower_target to;
	struct value x, y;

	if (!lower_is_narrow(op))
		return false;
	x = lower_source(b, op, 0);
	y = lower_source(b, op, 1);
	if (x.is_scalar)
		lower_swap(&x, &y);
	x = vagx_build_in_vector(b, x);
	to = lower_target(b, op, x, false);
	b->vectors->op(b, arg, to.mask, to.vec, x.vec, y);
	lower_finish_int(b, op, to);
	return true;
}

/* Multiplication and then addition or subtraction; @arg: the latter's instruction */
static bool lower_mul_add(struct build *b, const struct op *op, unsigned int arg)
{
	struct lower_target to;
	struct value x, y, z;
	unsigned int t;

	if (!lower_is_narrow(op))
		return false;
	x = lower_source(b, op, 0);
	y = lower_source(b, op, 1);
	if (x.is_scalar)
		lower_swap(&x, &y);
	x = vagx_build_in_vector(b, x);
	t = vagx_build_is_temp(x) ? x.vec : vagx_build_is_temp(y) ? y.vec : vagx_build_temp(b);
	lower_op(b, VECTOR_MUL, t, x.vec, y);
	/* no other temporary is in use */
	b->temps = t + 1;
	z = lower_shift_left(b, lower_source(b, op, 2), op->mod[AGX_MOD_SHIFT]);
	to = lower_target(b, op, vagx_build_vector(t), false);
	b->vectors->op(b, arg, to.mask, to.vec, t, z);
	lower_finish_int(b, op, to);
	return true;
}

/* Truth tables of two sources: @arg has the result for both 0 in bit 0, for the first alone in 1 */
static bool lower_bitop(struct build *b, const struct op *op, unsigned int arg)
{
	struct value x, y;
	unsigned int t;

	if (!lower_is_narrow(op))
		return false;
	x = vagx_build_in_vector(b, lower_source(b, op, 0));
	y = lower_source(b, op, 1);
	t = lower_result(b, x);
	b->vectors->truth(b, t, x.vec, y, arg);
	vagx_build_write(b, &op->dst, vagx_build_vector(t), false);
	return true;
}

/* The count of a shift, if it is known: 0 to 127 */
static bool lower_known_count(const struct agx_operand *o, unsigned int *count)
{
	*count = (unsigned int)o->value & 0x7f;
	return o->type == AGX_OPERAND_IMM;
}

/* Reads the count of a shift, source @n, if it is not known: to VEC_SCRATCH, 0 to 127 */
static void lower_read_count(struct build *b, const struct op *op, unsigned int n)
{
	unsigned int count;
	struct value by;

	if (lower_known_count(&op->src[n], &count))
		return;
	by = vagx_build_in_vector(b, lower_source(b, op, n));
	lower_op(b, VECTOR_AND, VEC_SCRATCH, by.vec, vagx_build_constant(b, 0x7f));
}

/*
 * Shifts @v, which is in a vector, by source @n, which has been read; @shift: the instruction for
 * counts in vectors, whose results for counts above 31 are as AGX's; @imm: for a known count
 */
static void lower_shift(struct build *b, const struct op *op, struct lower_target to,
			struct value v, unsigned int n, enum vector_op shift,
			enum vector_op imm)
{
	unsigned int count;

	if (lower_known_count(&op->src[n], &count))
		b->vectors->op_imm(b, imm, to.mask, to.vec, 0, v, count);
	else
		b->vectors->op(b, shift, to.mask, to.vec, v.vec,
				     vagx_build_vector(VEC_SCRATCH));
}

/* Shifts without a bit field; @arg: the instruction for counts in vectors */
static bool lower_plain_shift(struct build *b, const struct op *op, unsigned int arg)
{
	enum vector_op imm = arg == VECTOR_SHL ? VECTOR_SHL_IMM :
			      arg == VECTOR_SHR ? VECTOR_SHR_IMM : VECTOR_SAR_IMM;
	struct lower_target to;
	struct value v;

	if (!lower_is_narrow(op))
		return false;
	v = vagx_build_int(b, &op->src[0], arg == VECTOR_SAR ? true : op->src[0].sign_extend);
	v = vagx_build_in_vector(b, v);
	lower_read_count(b, op, 1);
	to = lower_target(b, op, v, false);
	lower_shift(b, op, to, v, 1, arg, imm);
	lower_finish_int(b, op, to);
	return true;
}

/* Bit fields: what is shifted replaces bits of the first source; @arg: as lower_plain_shift() */
static bool lower_bit_field(struct build *b, const struct op *op, unsigned int arg)
{
	unsigned int bits = op->mod[AGX_MOD_BITMASK], count;
	uint32_t mask = bits ? (1u << bits) - 1 : 0xffffffff;
	enum vector_op imm = arg == VECTOR_SHL ? VECTOR_SHL_IMM : VECTOR_SHR_IMM;
	struct value base, v;
	unsigned int t;

	if (!lower_is_narrow(op))
		return false;
	if (arg == VECTOR_SHL) {
		/* the mask is shifted, too */
		if (!lower_known_count(&op->src[2], &count))
			return false;
		mask = count < 32 ? mask << count : 0;
	}
	v = vagx_build_in_vector(b, lower_source(b, op, 1));
	lower_read_count(b, op, 2);
	t = lower_result(b, v);
	lower_shift(b, op, (struct lower_target){ t, MASK_ALL }, v, 2, arg, imm);
	b->temps = t + 1;
	base = vagx_build_in_vector(b, lower_source(b, op, 0));
	if (!vagx_build_is_temp(base)) {
		lower_copy(b, vagx_build_temp(b), base);
		base = vagx_build_vector(b->temps - 1);
	}
	b->vectors->insert(b, MASK_ALL, base.vec, t, mask);
	vagx_build_write(b, &op->dst, base, false);
	return true;
}

/* The two words of a source of a wide addition, shifted; the second one is in a temporary */
static void lower_wide_source(struct build *b, const struct op *op, struct value *low,
			      struct value *high)
{
	const struct agx_operand *o = &op->src[1];
	unsigned int shift = op->mod[AGX_MOD_SHIFT], l = vagx_build_temp(b);
	unsigned int t = vagx_build_temp(b);
	struct agx_operand upper = *o;

	upper.value += 2;
	upper.size = 32;
	lower_copy(b, l, vagx_build_int(b, o, o->sign_extend));
	b->temps = 2;
	if (o->size == 64)
		lower_copy(b, t, vagx_build_int(b, &upper, false));
	else if (o->sign_extend)
		lower_op_imm(b, VECTOR_SAR_IMM, t, vagx_build_vector(l), 31);
	else
		lower_copy(b, t, vagx_build_constant(b, 0));
	if (shift) {
		lower_op_imm(b, VECTOR_SHL_IMM, t, vagx_build_vector(t), shift);
		lower_op_imm(b, VECTOR_SHR_IMM, VEC_SCRATCH, vagx_build_vector(l), 32 - shift);
		lower_op(b, VECTOR_OR, t, t, vagx_build_vector(VEC_SCRATCH));
		lower_op_imm(b, VECTOR_SHL_IMM, l, vagx_build_vector(l), shift);
	}
	*low = vagx_build_vector(l);
	*high = vagx_build_vector(t);
}

/* The upper word of the first source of a wide addition */
static struct value lower_wide_upper(struct build *b, const struct agx_operand *o)
{
	struct agx_operand upper = *o;

	upper.value += 2;
	upper.size = 32;
	return o->size == 64 ? vagx_build_int(b, &upper, false) : vagx_build_constant(b, 0);
}

static void lower_wide_result(struct build *b, const struct op *op, struct value low,
			      struct value high)
{
	struct agx_operand o = op->dst;

	o.size = 32;
	vagx_build_write(b, &o, low, false);
	o.value += 2;
	vagx_build_write(b, &o, high, false);
}

/* Whether a wide addition's sources need no more than the temporaries that there are */
static bool lower_is_simple_wide(const struct op *op)
{
	const struct agx_operand *x = &op->src[0];

	return op->dst.type == AGX_OPERAND_REG && op->dst.size == 64 &&
	       !op->mod[AGX_MOD_SATURATE] && (x->size == 64 || !x->sign_extend);
}

/* Addition and subtraction of 64 bits; @arg: the vectors' instruction */
static bool lower_add_wide(struct build *b, const struct op *op, unsigned int arg)
{
	struct value x, low, high;

	if (!lower_is_simple_wide(op))
		return false;
	lower_wide_source(b, op, &low, &high);
	x = vagx_build_int(b, &op->src[0], false);
	if (x.is_scalar) {
		lower_copy(b, VEC_SCRATCH, x);
		x = vagx_build_vector(VEC_SCRATCH);
	}
	/* a borrow is there before, a carry afterwards */
	if (arg == VECTOR_SUB)
		b->vectors->compare_int(b, MASK_COND, false, x.vec, low, COMPARE_LT);
	lower_op(b, arg, low.vec, x.vec, low);
	if (arg == VECTOR_ADD)
		b->vectors->compare_int(b, MASK_COND, false, low.vec, x, COMPARE_LT);
	x = lower_wide_upper(b, &op->src[0]);
	if (x.is_scalar) {
		lower_copy(b, VEC_SCRATCH, x);
		x = vagx_build_vector(VEC_SCRATCH);
	}
	lower_op(b, arg, high.vec, x.vec, high);
	b->vectors->op(b, arg, MASK_COND, high.vec, high.vec, vagx_build_constant(b, 1));
	lower_wide_result(b, op, low, high);
	return true;
}

static bool lower_add_any(struct build *b, const struct op *op, unsigned int arg)
{
	return lower_add(b, op, arg) || lower_add_wide(b, op, arg);
}

/* Chooses between the last two sources, by the condition on the first two; @arg: floats */
static bool lower_select(struct build *b, const struct op *op, unsigned int arg)
{
	struct value x, y;
	unsigned int t;

	if (!lower_is_narrow(op))
		return false;
	vagx_build_condition(b, op, arg);
	/* it is in mask registers */
	b->temps = 0;
	x = lower_source(b, op, 2);
	y = vagx_build_in_vector(b, lower_source(b, op, 3));
	t = lower_result(b, y);
	if (t != y.vec)
		lower_copy(b, t, y);
	b->vectors->copy(b, MASK_COND, t, x);
	vagx_build_write(b, &op->dst, vagx_build_vector(t), false);
	return true;
}

/* Writes a float result that is in a temporary */
static void lower_finish_float(struct build *b, const struct op *op, struct lower_target to)
{
	if (to.mask == MASK_ALL)
		vagx_build_write_float(b, op, to.vec);
}

/* What the instructions of floats are made of */
enum lower_float {
	LOWER_FADD,
	LOWER_FMUL,
	/* for halves: results are exact in 32 bits, so that none is special */
	LOWER_HADD,
	LOWER_HMUL,
};

/* Addition and multiplication; @arg: enum lower_float */
static bool lower_float2(struct build *b, const struct op *op, unsigned int arg)
{
	bool multiplies = arg == LOWER_FMUL || arg == LOWER_HMUL;
	struct lower_target to;
	struct value x, y;

	if (op->dst.type != AGX_OPERAND_REG)
		return false;
	x = vagx_build_float(b, &op->src[0]);
	y = vagx_build_float(b, &op->src[1]);
	if (x.is_scalar)
		lower_swap(&x, &y);
	x = vagx_build_in_vector(b, x);
	to = lower_target(b, op, x, true);
	b->vectors->op(b, multiplies ? VECTOR_FMUL : VECTOR_FADD, to.mask, to.vec, x.vec, y);
	if (arg == LOWER_FMUL)
		b->vectors->watch(b, to.vec);
	lower_finish_float(b, op, to);
	return true;
}

/* The factors of a fused multiply-add. Only the second one may be a scalar. */
static void lower_factors(struct build *b, const struct op *op, struct value *x, struct value *y)
{
	*x = vagx_build_float(b, &op->src[0]);
	*y = vagx_build_float(b, &op->src[1]);
	if (x->is_scalar)
		lower_swap(x, y);
	*x = vagx_build_in_vector(b, *x);
}

/* A temporary with what is added, where the host's instruction has its result, too */
static unsigned int lower_addend(struct build *b, struct value z)
{
	unsigned int t;

	if (vagx_build_is_temp(z))
		return z.vec;
	t = vagx_build_temp(b);
	lower_copy(b, t, z);
	return t;
}

/* x * y + z in the destination itself, which can be one of them */
static void lower_ffma_in_place(struct build *b, unsigned int dst, struct value x, struct value y,
				struct value z)
{
	bool adds = !z.is_scalar && z.vec == dst;

	if (!y.is_scalar && y.vec == dst)
		lower_swap(&x, &y);
	if (adds || x.vec != dst) {
		if (!adds)
			b->vectors->copy(b, MASK_EXEC, dst, z);
		b->vectors->op(b, VECTOR_FMA231, MASK_EXEC, dst, x.vec, y);
	} else if (!y.is_scalar) {
		b->vectors->op(b, VECTOR_FMA213, MASK_EXEC, dst, y.vec, z);
	} else {
		z = vagx_build_in_vector(b, z);
		b->vectors->op(b, VECTOR_FMA132, MASK_EXEC, dst, z.vec, y);
	}
}

static bool lower_ffma(struct build *b, const struct op *op, unsigned int arg)
{
	struct value x, y, z;
	unsigned int t;

	(void)arg;
	if (op->dst.type != AGX_OPERAND_REG)
		return false;
	lower_factors(b, op, &x, &y);
	z = vagx_build_float(b, &op->src[2]);
	if (lower_is_direct(op)) {
		t = vagx_build_destination(b, &op->dst, true);
		lower_ffma_in_place(b, t, x, y, z);
		b->vectors->watch(b, t);
		return true;
	}
	t = lower_addend(b, z);
	lower_op(b, VECTOR_FMA231, t, x.vec, y);
	b->vectors->watch(b, t);
	vagx_build_write_float(b, op, t);
	return true;
}

static bool lower_hfma(struct build *b, const struct op *op, unsigned int arg)
{
	struct value x, y;
	unsigned int t;

	(void)arg;
	if (op->dst.type != AGX_OPERAND_REG || op->dst.size != 16)
		return false;
	lower_factors(b, op, &x, &y);
	t = lower_addend(b, vagx_build_float(b, &op->src[2]));
	y = vagx_build_in_vector(b, y);
	if (op->mod[AGX_MOD_SATURATE]) {
		/* what it is clamped to is a half, too */
		b->vectors->half_fma(b, MASK_ALL, t, t, x.vec, y.vec);
		vagx_build_write_float(b, op, t);
	} else {
		b->vectors->half_fma(b, MASK_EXEC, vagx_build_half_destination(b, &op->dst), t,
				     x.vec, y.vec);
	}
	return true;
}

/* Roundings to whole numbers; @arg: enum rounding */
static bool lower_round(struct build *b, const struct op *op, unsigned int arg)
{
	struct lower_target to;
	struct value x;

	if (op->dst.type != AGX_OPERAND_REG)
		return false;
	x = vagx_build_in_vector(b, vagx_build_float(b, &op->src[0]));
	to = lower_target(b, op, x, true);
	b->vectors->op_imm(b, VECTOR_ROUND, to.mask, to.vec, 0, x, arg);
	lower_finish_float(b, op, to);
	return true;
}

/*
 * Reciprocals. None is special: that of a power of two is exact, and those between the powers
 * are too far from the smallest normal number to be rounded to it.
 */
static bool lower_rcp(struct build *b, const struct op *op, unsigned int arg)
{
	struct lower_target to;
	struct value x, one;

	(void)arg;
	if (op->dst.type != AGX_OPERAND_REG)
		return false;
	x = vagx_build_float(b, &op->src[0]);
	one = vagx_build_in_vector(b, vagx_build_constant(b, 0x3f800000));
	to = lower_target(b, op, one, true);
	b->vectors->op(b, VECTOR_FDIV, to.mask, to.vec, one.vec, x);
	lower_finish_float(b, op, to);
	return true;
}

/*
 * Unsigned integers to floats where the host has signed ones only: the halves are exact, and so is
 * the product, so that only the sum rounds
 */
static void lower_unsigned_to_float(struct build *b, unsigned int t)
{
	if (b->vectors->has_unsigned) {
		lower_op(b, VECTOR_UINT_TO_FLOAT, t, 0, vagx_build_vector(t));
		return;
	}
	lower_op_imm(b, VECTOR_SHR_IMM, VEC_SCRATCH, vagx_build_vector(t), 16);
	lower_op(b, VECTOR_INT_TO_FLOAT, VEC_SCRATCH, 0, vagx_build_vector(VEC_SCRATCH));
	lower_op(b, VECTOR_AND, t, t, vagx_build_constant(b, 0xffff));
	lower_op(b, VECTOR_INT_TO_FLOAT, t, 0, vagx_build_vector(t));
	/* 2^16 */
	lower_op(b, VECTOR_FMA231, t, VEC_SCRATCH, vagx_build_constant(b, 0x47800000));
}

/* Whether the conversion rounds nothing but to nearest; what becomes a half can be large */
static bool lower_is_nearest(const struct op *op, unsigned int arg)
{
	return op->mod[AGX_MOD_ROUND] == AGX_ROUND_NEAREST ||
	       (op->dst.size == 32 && arg != AGX_OP_S32_TO_F && arg != AGX_OP_U32_TO_F);
}

/*
 * Integers to floats; @arg: AGX_OP_S32_TO_F or AGX_OP_U32_TO_F for those of all 32 bits. What a
 * float of 32 bits rounds, beyond 2^24, is infinite as a half.
 */
static bool lower_to_float(struct build *b, const struct op *op, unsigned int arg)
{
	struct value x;
	unsigned int t;

	/* those toward zero are rare */
	if (op->dst.type != AGX_OPERAND_REG || op->dst.size > 32 || !lower_is_nearest(op, arg))
		return false;
	x = vagx_build_in_vector(b, lower_source(b, op, 0));
	t = lower_result(b, x);
	if (arg == AGX_OP_U16_TO_F || arg == AGX_OP_U8_TO_F)
		lower_op(b, VECTOR_AND, t, x.vec,
			      vagx_build_constant(b, arg == AGX_OP_U8_TO_F ? 0xff : 0xffff));
	else if (arg == AGX_OP_S16_TO_F || arg == AGX_OP_S8_TO_F)
		lower_op_imm(b, VECTOR_SHL_IMM, t, x, arg == AGX_OP_S8_TO_F ? 24 : 16);
	else if (t != x.vec)
		lower_copy(b, t, x);
	if (arg == AGX_OP_S16_TO_F || arg == AGX_OP_S8_TO_F)
		lower_op_imm(b, VECTOR_SAR_IMM, t, vagx_build_vector(t),
				  arg == AGX_OP_S8_TO_F ? 24 : 16);
	if (arg == AGX_OP_U32_TO_F)
		lower_unsigned_to_float(b, t);
	else
		lower_op(b, VECTOR_INT_TO_FLOAT, t, 0, vagx_build_vector(t));
	if (op->dst.size == 16)
		b->vectors->float_to_half(b, t, t);
	vagx_build_write(b, &op->dst, vagx_build_vector(t), false);
	return true;
}

/* A float source of a conversion, which has no modifiers */
static struct value lower_converted(struct build *b, const struct op *op)
{
	struct agx_operand o = op->src[0];

	o.absolute = false;
	o.negate = false;
	if (o.type != AGX_OPERAND_REG && o.type != AGX_OPERAND_UNIFORM)
		return vagx_build_int(b, &o, false);
	return vagx_build_float(b, &o);
}

/*
 * @t, which is not negative, to an unsigned integer of 32 bits where the host has signed ones: what
 * is 2^31 or more, and a whole number, is converted without its highest bit
 */
static unsigned int lower_split_unsigned(struct build *b, unsigned int t, enum vector_op convert)
{
	unsigned int u = vagx_build_temp(b);

	/* 2^31, and its negative */
	lower_op(b, VECTOR_FADD, VEC_SCRATCH, t, vagx_build_constant(b, 0xcf000000));
	b->vectors->compare_float(b, t, vagx_build_constant(b, 0x4f000000), COMPARE_GE, false);
	lower_copy(b, u, vagx_build_vector(t));
	b->vectors->copy(b, MASK_COND, u, vagx_build_vector(VEC_SCRATCH));
	lower_op(b, convert, u, 0, vagx_build_vector(u));
	b->vectors->op(b, VECTOR_XOR, MASK_COND, u, u, vagx_build_constant(b, 0x80000000));
	/* 2^32 */
	b->vectors->compare_float(b, t, vagx_build_constant(b, 0x4f800000), COMPARE_GE, false);
	b->vectors->copy(b, MASK_COND, u, vagx_build_constant(b, 0xffffffff));
	return u;
}

/* Floats to unsigned integers, clamped; NaN becomes 0. @arg: the greatest */
static bool lower_to_unsigned(struct build *b, const struct op *op, unsigned int arg)
{
	bool nearest = op->mod[AGX_MOD_ROUND] != AGX_ROUND_ZERO;
	enum vector_op convert = nearest ? VECTOR_FLOAT_TO_INT : VECTOR_FLOAT_TO_INT_ZERO;
	struct value x;
	unsigned int t;

	if (op->dst.type != AGX_OPERAND_REG || op->dst.size > 32)
		return false;
	x = vagx_build_in_vector(b, lower_converted(b, op));
	t = lower_result(b, x);
	/* the host returns the second source if the first is a NaN */
	lower_op(b, VECTOR_FMAX, t, x.vec, vagx_build_constant(b, 0));
	if (arg == 0xffff) {
		/* 2^16 - 1 */
		lower_op(b, VECTOR_FMIN, t, t, vagx_build_constant(b, 0x477fff00));
		lower_op(b, convert, t, 0, vagx_build_vector(t));
	} else if (b->vectors->has_unsigned) {
		/* what is too large becomes all ones */
		lower_op(b, nearest ? VECTOR_FLOAT_TO_UINT : VECTOR_FLOAT_TO_UINT_ZERO, t, 0,
			 vagx_build_vector(t));
	} else {
		t = lower_split_unsigned(b, t, convert);
	}
	vagx_build_write(b, &op->dst, vagx_build_vector(t), false);
	return true;
}

/* Floats to signed integers, clamped; NaN becomes 0. @arg: the greatest */
static bool lower_to_signed(struct build *b, const struct op *op, unsigned int arg)
{
	bool nearest = op->mod[AGX_MOD_ROUND] != AGX_ROUND_ZERO;
	struct value x;
	unsigned int t;

	if (op->dst.type != AGX_OPERAND_REG || op->dst.size > 32)
		return false;
	x = vagx_build_in_vector(b, lower_converted(b, op));
	t = vagx_build_temp(b);
	/* the host's result is the smallest integer where the source is too small, large, or NaN */
	lower_op(b, nearest ? VECTOR_FLOAT_TO_INT : VECTOR_FLOAT_TO_INT_ZERO, t, 0, x);
	b->vectors->compare_float(b, x.vec, x, COMPARE_UNORDERED, false);
	b->vectors->copy(b, MASK_COND, t, vagx_build_constant(b, 0));
	/* 2^31 */
	b->vectors->compare_float(b, x.vec, vagx_build_constant(b, 0x4f000000), COMPARE_GE,
				  false);
	b->vectors->copy(b, MASK_COND, t, vagx_build_constant(b, 0x7fffffff));
	if (arg != 0x7fffffff) {
		lower_op(b, VECTOR_MIN, t, t, vagx_build_constant(b, arg));
		lower_op(b, VECTOR_MAX, t, t, vagx_build_constant(b, ~arg));
	}
	vagx_build_write(b, &op->dst, vagx_build_vector(t), false);
	return true;
}

/* Does nothing: results of loads are there at once, and pixels are drawn in order */
static bool lower_nothing(struct build *b, const struct op *op, unsigned int arg)
{
	(void)b;
	(void)op;
	(void)arg;
	return true;
}

/* Results for (a, b) = (0, 0), (1, 0), (0, 1) and (1, 1), in bits 0 to 3 */
#define TRUTH(low, high)	((low) | (high) << 2)

static const struct lowering lower_table[AGX_OP_COUNT] = {
	[AGX_OP_WAIT] = { lower_nothing, 0 },
	[AGX_OP_PIXEL_WAIT] = { lower_nothing, 0 },
	[AGX_OP_PIXEL_RELEASE] = { lower_nothing, 0 },
	[AGX_OP_NO_VAR] = { lower_nothing, 0 },

	[AGX_OP_MOV_IMM16] = { lower_mov_imm, 0 },
	[AGX_OP_MOV_IMM32] = { lower_mov_imm, 0 },
	[AGX_OP_MOV] = { lower_mov, 0 },

	[AGX_OP_IADD] = { lower_add_any, VECTOR_ADD },
	[AGX_OP_ISUB] = { lower_add_any, VECTOR_SUB },
	[AGX_OP_IMUL] = { lower_commutative, VECTOR_MUL },
	[AGX_OP_IMADD] = { lower_mul_add, VECTOR_ADD },
	[AGX_OP_IMSUB] = { lower_mul_add, VECTOR_SUB },

	[AGX_OP_AND] = { lower_commutative, VECTOR_AND },
	[AGX_OP_OR] = { lower_commutative, VECTOR_OR },
	[AGX_OP_XOR] = { lower_commutative, VECTOR_XOR },
	[AGX_OP_NOT] = { lower_bitop, TRUTH(1, 1) },
	[AGX_OP_ANDN1] = { lower_bitop, TRUTH(0, 1) },
	[AGX_OP_ANDN2] = { lower_bitop, TRUTH(2, 0) },
	[AGX_OP_NOR] = { lower_bitop, TRUTH(1, 0) },
	[AGX_OP_XNOR] = { lower_bitop, TRUTH(1, 2) },
	[AGX_OP_ORN1] = { lower_bitop, TRUTH(1, 3) },
	[AGX_OP_ORN2] = { lower_bitop, TRUTH(3, 2) },
	[AGX_OP_NAND] = { lower_bitop, TRUTH(3, 1) },

	[AGX_OP_SHL] = { lower_plain_shift, VECTOR_SHL },
	[AGX_OP_SHR] = { lower_plain_shift, VECTOR_SHR },
	[AGX_OP_ASR] = { lower_plain_shift, VECTOR_SAR },
	[AGX_OP_BFI] = { lower_bit_field, VECTOR_SHL },
	[AGX_OP_BFEIL] = { lower_bit_field, VECTOR_SHR },

	[AGX_OP_ICSEL] = { lower_select, false },
	[AGX_OP_FCSEL] = { lower_select, true },

	[AGX_OP_FADD] = { lower_float2, LOWER_FADD },
	[AGX_OP_FMUL] = { lower_float2, LOWER_FMUL },
	[AGX_OP_HADD] = { lower_float2, LOWER_HADD },
	[AGX_OP_HMUL] = { lower_float2, LOWER_HMUL },
	[AGX_OP_FFMA] = { lower_ffma, 0 },
	[AGX_OP_HFMA] = { lower_hfma, 0 },

	[AGX_OP_RINT] = { lower_round, ROUND_NEAREST },
	[AGX_OP_FLOOR] = { lower_round, ROUND_DOWN },
	[AGX_OP_CEIL] = { lower_round, ROUND_UP },
	[AGX_OP_TRUNC] = { lower_round, ROUND_ZERO },
	[AGX_OP_RCP] = { lower_rcp, 0 },

	[AGX_OP_U8_TO_F] = { lower_to_float, AGX_OP_U8_TO_F },
	[AGX_OP_S8_TO_F] = { lower_to_float, AGX_OP_S8_TO_F },
	[AGX_OP_U16_TO_F] = { lower_to_float, AGX_OP_U16_TO_F },
	[AGX_OP_S16_TO_F] = { lower_to_float, AGX_OP_S16_TO_F },
	[AGX_OP_U32_TO_F] = { lower_to_float, AGX_OP_U32_TO_F },
	[AGX_OP_S32_TO_F] = { lower_to_float, AGX_OP_S32_TO_F },
	[AGX_OP_F_TO_U16] = { lower_to_unsigned, 0xffff },
	[AGX_OP_F_TO_U32] = { lower_to_unsigned, 0xffffffff },
	[AGX_OP_F_TO_S16] = { lower_to_signed, 0x7fff },
	[AGX_OP_F_TO_S32] = { lower_to_signed, 0x7fffffff },
};

bool vagx_build_lower(struct build *b, const struct op *op)
{
	const struct lowering *l = &lower_table[op->opcode];

	b->temps = 0;
	if (l->fn && l->fn(b, op, l->arg))
		return true;
	return vagx_build_lower_int(b, op) || vagx_build_lower_special(b, op) ||
	       vagx_build_lower_place(b, op) || vagx_build_lower_stage(b, op) ||
	       vagx_build_lower_lanes(b, op) || vagx_build_lower_reduce(b, op);
}
