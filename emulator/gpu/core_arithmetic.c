// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Float addition, multiplication and fused multiply-add, most of what shaders do (applegpu
 * "applegpu.py", "fma.py"), in loops over 32 lanes with variants for common operands.
 *
 * Results of the instructions for 32 bits are 32-bit floats even when the destination is
 * a half. Those for 16 bits round once. Tininess is detected before rounding: what rounds up
 * to the smallest normal number has been flushed by then. It is only this number that has to
 * be looked at again.
 */
#include <math.h>

#include "core_float_lanes.h"

/*
 * Whether a result may have to be changed for a register: NaN, a denormal, or the smallest normal
 * number. These are rare, unlike zero; the instruction is then executed again, out of line.
 */
INLINE uint32_t arithmetic_is_special(float result)
{
	uint32_t magnitude = float_bits(result) & 0x7fffffff;

	return (magnitude - 1 < 0x00800000) | (result != result);
}

static COLD void arithmetic_special_sum(struct simdgroup *sg, const struct op *op)
{
	struct float_lanes a, b;
	unsigned int i;

	read_floats(sg, &op->src[0], &a);
	read_floats(sg, &op->src[1], &b);
	for (i = 0; i < LANES; i++)
		a.v[i] += b.v[i];
	write_floats(sg, op, &a);
}

/* Multiplies; what is tiny before rounding becomes zero */
static float arithmetic_multiply(float a, float b)
{
	double exact = (double)a * (double)b;

	return fabs(exact) < 0x1p-126 ? copysignf(0.0f, a * b) : a * b;
}

static COLD void arithmetic_special_product(struct simdgroup *sg, const struct op *op)
{
	struct float_lanes a, b;
	unsigned int i;

	read_floats(sg, &op->src[0], &a);
	read_floats(sg, &op->src[1], &b);
	for (i = 0; i < LANES; i++)
		a.v[i] = arithmetic_multiply(a.v[i], b.v[i]);
	write_floats(sg, op, &a);
}

/* Adds a float to a product of floats, and computes the rounding error (Knuth's TwoSum) */
static double arithmetic_exact_sum(double product, double c, double *lost)
{
	double sum = product + c;
	double part = sum - product;

	*lost = (product - (sum - part)) + (c - part);
	return sum;
}

/* Multiplies and adds, rounding once; what is tiny before rounding becomes zero */
static float arithmetic_multiply_add(float a, float b, float c)
{
	double lost, sum = arithmetic_exact_sum((double)a * (double)b, c, &lost);
	float result = fmaf(a, b, c);
	bool below = fabs(sum) < 0x1p-126 ||
		     (fabs(sum) == 0x1p-126 && lost != 0.0 &&
		      signbit(lost) != signbit(sum));

	return below ? copysignf(0.0f, result) : result;
}

static COLD void arithmetic_special_fma(struct simdgroup *sg, const struct op *op)
{
	struct float_lanes a, b, c;
	unsigned int i;

	read_floats(sg, &op->src[0], &a);
	read_floats(sg, &op->src[1], &b);
	read_floats(sg, &op->src[2], &c);
	for (i = 0; i < LANES; i++)
		a.v[i] = arithmetic_multiply_add(a.v[i], b.v[i], c.v[i]);
	write_floats(sg, op, &a);
}

/* Writes a 32-bit result without special values */
INLINE void arithmetic_write_single(struct simdgroup *sg, const struct op *op, bool modified,
				    struct float_lanes *r)
{
	if (modified && op->mod[AGX_MOD_SATURATE])
		saturate_floats(r);
	if (op->dst.size == 16)
		write_halves(sg, &op->dst, r);
	else
		write_words(sg, &op->dst, r);
}

/* Writes the result of an instruction for 16 bits */
INLINE void arithmetic_write_rounded(struct simdgroup *sg, const struct op *op, bool modified,
				     struct float_lanes *r)
{
	if (modified && op->mod[AGX_MOD_SATURATE])
		saturate_floats(r);
	write_halves(sg, &op->dst, r);
}

INLINE float arithmetic_combine(bool multiplies, float a, float b)
{
	return multiplies ? a * b : a + b;
}

INLINE void arithmetic_run_single(struct simdgroup *sg, const struct op *op, bool multiplies,
				  enum shape x, enum shape y)
{
	struct float_source a, b;
	struct float_lanes r;
	uint32_t special = 0;
	unsigned int i;

	open_float(sg, &op->src[0], x, &a);
	open_float(sg, &op->src[1], y, &b);
	for (i = 0; i < LANES; i++) {
		r.v[i] = arithmetic_combine(multiplies, get_float(&a, x, i), get_float(&b, y, i));
		special |= arithmetic_is_special(r.v[i]);
	}
	if (!special)
		arithmetic_write_single(sg, op, x == SHAPE_ANY, &r);
	else if (multiplies)
		arithmetic_special_product(sg, op);
	else
		arithmetic_special_sum(sg, op);
}

/* Instructions for 16 bits: products of halves are exact in a float, denormals included */
INLINE void arithmetic_run_rounded(struct simdgroup *sg, const struct op *op, bool multiplies,
				   enum shape x, enum shape y)
{
	struct float_source a, b;
	struct float_lanes r;
	unsigned int i;

	open_float(sg, &op->src[0], x, &a);
	open_float(sg, &op->src[1], y, &b);
	for (i = 0; i < LANES; i++)
		r.v[i] = arithmetic_combine(multiplies, get_float(&a, x, i), get_float(&b, y, i));
	arithmetic_write_rounded(sg, op, x == SHAPE_ANY, &r);
}

INLINE void arithmetic_run_fadd(struct simdgroup *sg, const struct op *op, enum shape x,
				enum shape y)
{
	arithmetic_run_single(sg, op, false, x, y);
}

INLINE void arithmetic_run_hadd(struct simdgroup *sg, const struct op *op, enum shape x,
				enum shape y)
{
	arithmetic_run_rounded(sg, op, false, x, y);
}

INLINE void arithmetic_run_fmul(struct simdgroup *sg, const struct op *op, enum shape x,
				enum shape y)
{
	arithmetic_run_single(sg, op, true, x, y);
}

INLINE void arithmetic_run_hmul(struct simdgroup *sg, const struct op *op, enum shape x,
				enum shape y)
{
	arithmetic_run_rounded(sg, op, true, x, y);
}

INLINE void arithmetic_run_ffma(struct simdgroup *sg, const struct op *op, enum shape x,
				enum shape y, enum shape z)
{
	struct float_source a, b, c;
	struct float_lanes r;
	uint32_t special = 0;
	unsigned int i;

	open_float(sg, &op->src[0], x, &a);
	open_float(sg, &op->src[1], y, &b);
	open_float(sg, &op->src[2], z, &c);
	for (i = 0; i < LANES; i++) {
		r.v[i] = fmaf(get_float(&a, x, i), get_float(&b, y, i), get_float(&c, z, i));
		special |= arithmetic_is_special(r.v[i]);
	}
	if (special)
		arithmetic_special_fma(sg, op);
	else
		arithmetic_write_single(sg, op, x == SHAPE_ANY, &r);
}

/*
 * Product and sum of halves, rounded such that rounding once more, to a half,
 * is as good as rounding once: the last bit is set if anything was lost
 * ("round to odd"). The product is exact in a float, and so is what the sum loses.
 */
INLINE float arithmetic_fma_half(float a, float b, float c)
{
	float product = a * b, sum = product + c, part = sum - product;
	float lost = (product - (sum - part)) + (c - part);
	uint32_t bits = float_bits(sum), sign = bits >> 31;
	uint32_t finite = (bits & 0x7f800000) != 0x7f800000;
	uint32_t inexact = ((lost > 0.0f) | (lost < 0.0f)) & finite & ~bits;
	/* away from zero if what was lost has the sum's sign */
	uint32_t away = (uint32_t)(lost < 0.0f) ^ sign ^ 1;

	return bits_float(bits + inexact * (2 * away - 1));
}

INLINE void arithmetic_run_hfma(struct simdgroup *sg, const struct op *op, enum shape x,
				enum shape y, enum shape z)
{
	struct float_source a, b, c;
	struct float_lanes r;
	unsigned int i;

	open_float(sg, &op->src[0], x, &a);
	open_float(sg, &op->src[1], y, &b);
	open_float(sg, &op->src[2], z, &c);
	for (i = 0; i < LANES; i++)
		r.v[i] = arithmetic_fma_half(get_float(&a, x, i), get_float(&b, y, i),
					     get_float(&c, z, i));
	arithmetic_write_rounded(sg, op, x == SHAPE_ANY, &r);
}

VARIANTS(arithmetic_run_fadd, 2, ALL_SHAPES_2)
VARIANTS(arithmetic_run_fmul, 2, ALL_SHAPES_2)
VARIANTS(arithmetic_run_ffma, 3, ALL_SHAPES_3)
VARIANTS(arithmetic_run_hadd, 2, ALL_HALVES_2)
VARIANTS(arithmetic_run_hmul, 2, ALL_HALVES_2)
VARIANTS(arithmetic_run_hfma, 3, ALL_HALVES_3)

/* Operands that no variant is for: with modifiers */
CLONES void vagx_exec_fadd(struct simdgroup *sg, const struct op *op)
{
	if (op->opcode == AGX_OP_HADD)
		arithmetic_run_hadd(sg, op, SHAPE_ANY, SHAPE_ANY);
	else
		arithmetic_run_fadd(sg, op, SHAPE_ANY, SHAPE_ANY);
}

CLONES void vagx_exec_fmul(struct simdgroup *sg, const struct op *op)
{
	if (op->opcode == AGX_OP_HMUL)
		arithmetic_run_hmul(sg, op, SHAPE_ANY, SHAPE_ANY);
	else
		arithmetic_run_fmul(sg, op, SHAPE_ANY, SHAPE_ANY);
}

CLONES void vagx_exec_fma(struct simdgroup *sg, const struct op *op)
{
	if (op->opcode == AGX_OP_HFMA)
		arithmetic_run_hfma(sg, op, SHAPE_ANY, SHAPE_ANY, SHAPE_ANY);
	else
		arithmetic_run_ffma(sg, op, SHAPE_ANY, SHAPE_ANY, SHAPE_ANY);
}
