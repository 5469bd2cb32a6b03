// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Code for special functions: the steps of gpu/core_special.h in the same order, with floats of 64
 * bits, so that results are the same to the last bit. Each function is a program of steps for one
 * lane, which the instruction set repeats for all of them. That denormals are zeros changes
 * nothing: no step has one, and no result rounds to the smallest normal number from below.
 */
#include "build.h"

/* Bits of a float of 64 bits; a cast of a union is no constant */
#define BITS_ROUND	0x4338000000000000ULL	/* 0x1.8p52 */
#define BITS_ONE	0x3ff0000000000000ULL
#define BITS_TWO	0x4000000000000000ULL
#define BITS_HALF	0x3fe0000000000000ULL

#define STEP(op, dst, a, b)	{ WIDE_##op, dst, a, b, 0 }
#define STEP_IMM(op, dst, a, imm)	{ WIDE_##op, dst, a, WIDE_IMM, imm }
#define SHIFT(op, dst, a, count)	{ WIDE_##op, dst, a, 0, count }
/* A term of a series in register @s, by powers of register @x */
#define TERM(s, x, coefficient)	STEP(MUL, s, s, x), STEP_IMM(ADD, s, s, coefficient)

#define PROGRAM(steps)	{ steps, sizeof(steps) / sizeof(steps[0]) }

static const struct wide_step lower_special_rsqrt_steps[] = {
	STEP(SQRT, 0, 0, 0),
	STEP_IMM(SET, 1, 0, BITS_ONE),
	STEP(DIV, 0, 1, 0),
};

static const struct wide_program lower_special_rsqrt = PROGRAM(lower_special_rsqrt_steps);

/* Of numbers from -300 to 300 */
static const struct wide_step lower_special_exp2_steps[] = {
	/* register 1: the nearest whole number; 0: what is left, times ln 2 */
	STEP_IMM(ADD, 1, 0, BITS_ROUND),
	STEP_IMM(SUB, 1, 1, BITS_ROUND),
	STEP(SUB, 0, 0, 1),
	STEP_IMM(MUL, 0, 0, 0x3fe62e42fefa39efULL),
	STEP_IMM(SET, 2, 0, 0x3e5ae64567f544e4ULL),	/* 1 / 11! */
	TERM(2, 0, 0x3e927e4fb7789f5cULL),	/* 1 / 10! */
	TERM(2, 0, 0x3ec71de3a556c734ULL),	/* 1 / 9! */
	TERM(2, 0, 0x3efa01a01a01a01aULL),	/* 1 / 8! */
	TERM(2, 0, 0x3f2a01a01a01a01aULL),	/* 1 / 7! */
	TERM(2, 0, 0x3f56c16c16c16c17ULL),	/* 1 / 6! */
	TERM(2, 0, 0x3f81111111111111ULL),	/* 1 / 5! */
	TERM(2, 0, 0x3fa5555555555555ULL),	/* 1 / 4! */
	TERM(2, 0, 0x3fc5555555555555ULL),	/* 1 / 3! */
	TERM(2, 0, 0x3fe0000000000000ULL),	/* 1 / 2! */
	TERM(2, 0, BITS_ONE),
	TERM(2, 0, BITS_ONE),
	/* the whole number is in the lowest bits of this sum: it becomes the exponent */
	STEP_IMM(ADD, 1, 1, 0x43380000000003ffULL),
	SHIFT(SHL, 1, 1, 52),
	STEP(MUL, 0, 2, 1),
};

static const struct wide_program lower_special_exp2 = PROGRAM(lower_special_exp2_steps);

/* Of positive numbers */
static const struct wide_step lower_special_log2_steps[] = {
	/* register 2: the mantissa, from sqrt(1/2) to sqrt(2); 1: the exponent, from 2048 on */
	STEP_IMM(SUB_BITS, 1, 0, 0x3fe6a09e667f3bcdULL),
	STEP_IMM(AND, 2, 1, 0x000fffffffffffffULL),
	STEP_IMM(ADD_BITS, 2, 2, 0x3fe6a09e667f3bcdULL),
	SHIFT(SHR, 1, 1, 52),
	STEP_IMM(ADD_BITS, 1, 1, 2048),
	STEP_IMM(AND, 1, 1, 0xfff),
	STEP_IMM(OR, 1, 1, 0x4330000000000000ULL),
	STEP_IMM(SUB, 1, 1, 0x4330000000000800ULL),
	/* register 0: the series' argument; 2: its square */
	STEP_IMM(SUB, 0, 2, BITS_ONE),
	STEP_IMM(ADD, 2, 2, BITS_ONE),
	STEP(DIV, 0, 0, 2),
	STEP(MUL, 2, 0, 0),
	STEP_IMM(SET, 3, 0, 0x3fb1111111111111ULL),	/* 1 / 15 */
	TERM(3, 2, 0x3fb3b13b13b13b14ULL),	/* 1 / 13 */
	TERM(3, 2, 0x3fb745d1745d1746ULL),	/* 1 / 11 */
	TERM(3, 2, 0x3fbc71c71c71c71cULL),	/* 1 / 9 */
	TERM(3, 2, 0x3fc2492492492492ULL),	/* 1 / 7 */
	TERM(3, 2, 0x3fc999999999999aULL),	/* 1 / 5 */
	TERM(3, 2, 0x3fd5555555555555ULL),	/* 1 / 3 */
	TERM(3, 2, BITS_ONE),
	STEP(MUL, 0, 0, 3),
	STEP_IMM(MUL, 0, 0, 0x40071547652b82feULL),	/* 2 / ln 2 */
	STEP(ADD, 0, 1, 0),
};

static const struct wide_program lower_special_log2 = PROGRAM(lower_special_log2_steps);

/* Of what is not 0 */
static const struct wide_step lower_special_sine_steps[] = {
	/* register 1: half turns; 2: what is left of the number, times pi / 2 */
	STEP_IMM(MUL, 1, 0, BITS_HALF),
	STEP_IMM(ADD, 1, 1, BITS_ROUND),
	STEP_IMM(SUB, 1, 1, BITS_ROUND),
	STEP_IMM(MUL, 2, 1, BITS_TWO),
	STEP(SUB, 2, 0, 2),
	STEP_IMM(MUL, 2, 2, 0x3ff921fb54442d18ULL),
	/* register 1: the sign, -1 for odd half turns */
	STEP_IMM(MUL, 3, 1, BITS_HALF),
	STEP_IMM(ADD, 3, 3, BITS_ROUND),
	STEP_IMM(SUB, 3, 3, BITS_ROUND),
	STEP_IMM(MUL, 3, 3, BITS_TWO),
	STEP(SUB, 1, 1, 3),
	STEP_IMM(AND, 1, 1, 0x7fffffffffffffffULL),
	STEP_IMM(MUL, 1, 1, 0xc000000000000000ULL),	/* -2 */
	STEP_IMM(ADD, 1, 1, BITS_ONE),
	/* register 0: the series, by register 3 */
	STEP(MUL, 3, 2, 2),
	STEP_IMM(SET, 0, 0, 0xbc62f49b46814157ULL),	/* -1 / 19! */
	TERM(0, 3, 0x3ce952c77030ad4aULL),	/* 1 / 17! */
	TERM(0, 3, 0xbd6ae7f3e733b81fULL),	/* -1 / 15! */
	TERM(0, 3, 0x3de6124613a86d09ULL),	/* 1 / 13! */
	TERM(0, 3, 0xbe5ae64567f544e4ULL),	/* -1 / 11! */
	TERM(0, 3, 0x3ec71de3a556c734ULL),	/* 1 / 9! */
	TERM(0, 3, 0xbf2a01a01a01a01aULL),	/* -1 / 7! */
	TERM(0, 3, 0x3f81111111111111ULL),	/* 1 / 5! */
	TERM(0, 3, 0xbfc5555555555555ULL),	/* -1 / 3! */
	TERM(0, 3, BITS_ONE),
	STEP(MUL, 0, 0, 2),
	STEP(MUL, 0, 0, 1),
	STEP(START, 1, 0, 0),
	STEP(DIV, 0, 0, 1),
};

static const struct wide_program lower_special_sine = PROGRAM(lower_special_sine_steps);

/* The source in a vector */
static unsigned int lower_special_source(struct build *b, const struct op *op)
{
	return vagx_build_in_vector(b, vagx_build_float(b, &op->src[0])).vec;
}

/* @t = @bits where @x is as the predicate says, of @than */
static void lower_special_replace(struct build *b, unsigned int t, unsigned int x,
				  enum predicate predicate, uint32_t than, uint32_t bits)
{
	b->vectors->compare_float(b, x, vagx_build_constant(b, than), predicate, false);
	b->vectors->copy(b, MASK_COND, t, vagx_build_constant(b, bits));
}

static void lower_special_rsqrts(struct build *b, const struct op *op)
{
	unsigned int x = lower_special_source(b, op), t = vagx_build_temp(b);

	b->vectors->wide(b, &lower_special_rsqrt, t, x, vagx_build_temp(b));
	if (op->opcode == AGX_OP_RSQRTS) {
		lower_special_replace(b, t, x, COMPARE_EQ, 0, 0x3f800000);
		lower_special_replace(b, t, x, COMPARE_EQ, 0x7f800000, 0x3f800000);
	}
	vagx_build_write_float(b, op, t);
}

static void lower_special_log2s(struct build *b, const struct op *op)
{
	unsigned int x = lower_special_source(b, op), t = vagx_build_temp(b);

	b->vectors->wide(b, &lower_special_log2, t, x, vagx_build_temp(b));
	lower_special_replace(b, t, x, COMPARE_EQ, 0, 0xff800000);
	lower_special_replace(b, t, x, COMPARE_EQ, 0x7f800000, 0x7f800000);
	lower_special_replace(b, t, x, COMPARE_LT, 0, 0x7fc00000);
	b->vectors->compare_float(b, x, vagx_build_vector(x), COMPARE_UNORDERED, false);
	b->vectors->copy(b, MASK_COND, t, vagx_build_constant(b, 0x7fc00000));
	vagx_build_write_float(b, op, t);
}

/* NaNs stay what they are: the host returns the second source of a minimum then */
static void lower_special_exp2s(struct build *b, const struct op *op)
{
	const struct vectors *vectors = b->vectors;
	struct value x = vagx_build_vector(lower_special_source(b, op));
	unsigned int limited = vagx_build_temp(b);
	unsigned int t = vagx_build_is_temp(x) ? x.vec : vagx_build_temp(b);

	vectors->copy(b, MASK_ALL, limited, vagx_build_constant(b, 0xc3960000));
	vectors->op(b, VECTOR_FMAX, MASK_ALL, limited, limited, x);
	vectors->copy(b, MASK_ALL, VEC_SCRATCH, vagx_build_constant(b, 0x43960000));
	vectors->op(b, VECTOR_FMIN, MASK_ALL, limited, VEC_SCRATCH, vagx_build_vector(limited));
	vectors->wide(b, &lower_special_exp2, t, limited, vagx_build_temp(b));
	vagx_build_write_float(b, op, t);
}

static void lower_special_sine_quotients(struct build *b, const struct op *op)
{
	unsigned int x = lower_special_source(b, op), t = vagx_build_temp(b);

	b->vectors->wide(b, &lower_special_sine, t, x, vagx_build_temp(b));
	lower_special_replace(b, t, x, COMPARE_EQ, 0, 0x3fc90fdb);
	vagx_build_write_float(b, op, t);
}

/*
 * A number of quarter turns, reduced to -1 to 1. What is below 1 has the whole number of its fourth
 * part, which could be a denormal.
 */
static void lower_special_sine_reduce(struct build *b, const struct op *op)
{
	const struct vectors *vectors = b->vectors;
	struct value x = vagx_build_vector(lower_special_source(b, op));
	unsigned int t = vagx_build_temp(b), rest = vagx_build_temp(b);
	struct value turn = vagx_build_vector(t);

	vectors->op(b, VECTOR_FMUL, MASK_ALL, t, x.vec, vagx_build_constant(b, 0x3e800000));
	vectors->op(b, VECTOR_AND, MASK_ALL, rest, x.vec, vagx_build_constant(b, 0x7fffffff));
	vectors->compare_float(b, rest, vagx_build_constant(b, 0x3f800000), COMPARE_LT, false);
	vectors->copy(b, MASK_COND, t, x);
	vectors->op_imm(b, VECTOR_ROUND, MASK_ALL, t, 0, turn, ROUND_DOWN);
	/* a difference is the sum with a negative number */
	vectors->op(b, VECTOR_FMUL, MASK_ALL, t, t, vagx_build_constant(b, 0xc0800000));
	vectors->op(b, VECTOR_FADD, MASK_ALL, t, x.vec, turn);
	vectors->op(b, VECTOR_FADD, MASK_ALL, rest, t, vagx_build_constant(b, 0xc0800000));
	vectors->op(b, VECTOR_XOR, MASK_ALL, VEC_SCRATCH, t, vagx_build_constant(b, 0x80000000));
	vectors->op(b, VECTOR_FADD, MASK_ALL, VEC_SCRATCH, VEC_SCRATCH,
		    vagx_build_constant(b, 0x40000000));
	vectors->compare_float(b, t, vagx_build_constant(b, 0x40400000), COMPARE_LT, false);
	vectors->copy(b, MASK_COND, rest, vagx_build_vector(VEC_SCRATCH));
	vectors->compare_float(b, t, vagx_build_constant(b, 0x3f800000), COMPARE_LT, false);
	vectors->copy(b, MASK_COND, rest, turn);
	vagx_build_write_float(b, op, rest);
}

typedef void lower_special_fn(struct build *b, const struct op *op);

static lower_special_fn *const lower_special_fns[AGX_OP_COUNT] = {
	[AGX_OP_RSQRT] = lower_special_rsqrts,
	[AGX_OP_RSQRTS] = lower_special_rsqrts,
	[AGX_OP_LOG2] = lower_special_log2s,
	[AGX_OP_EXP2] = lower_special_exp2s,
	[AGX_OP_SINR] = lower_special_sine_reduce,
	[AGX_OP_SINC] = lower_special_sine_quotients,
};

bool vagx_build_is_special(const struct op *op)
{
	return lower_special_fns[op->opcode];
}

bool vagx_build_lower_special(struct build *b, const struct op *op)
{
	if (!vagx_build_is_special(op) || !b->vectors->wide || op->dst.type != AGX_OPERAND_REG)
		return false;
	b->temps = 0;
	lower_special_fns[op->opcode](b, op);
	return true;
}
