// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Float addition, multiplication and fused multiply-add (applegpu "applegpu.py", "fma.py").
 *
 * Results of the instructions for 32 bits are 32-bit floats even when the destination is
 * a half. Those for 16 bits round once. Tininess is detected before rounding: what rounds up
 * to the smallest normal number has been flushed by then.
 */
#include <math.h>

#include "core_float_lanes.h"

/* Multiplies; what is tiny before rounding becomes zero */
static float arithmetic_multiply(float a, float b)
{
	double exact = (double)a * (double)b;

	return fabs(exact) < 0x1p-126 ? copysignf(0.0f, a * b) : a * b;
}

/*
 * Product and sum of halves, rounded such that rounding once more, to a half,
 * is as good as rounding once: the last bit is set if anything was lost
 * ("round to odd"). The product is exact in a float, and so is what the sum loses.
 */
static float arithmetic_fma_half(float a, float b, float c)
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

/* Writes the result of an instruction for 16 bits, which rounds once */
static void arithmetic_write_rounded(struct simdgroup *sg, const struct op *op,
				     struct float_lanes *r)
{
	if (op->mod[AGX_MOD_SATURATE])
		saturate_floats(r);
	write_halves(sg, &op->dst, r);
}

void vagx_exec_fadd(struct simdgroup *sg, const struct op *op)
{
	struct float_lanes a, b;
	unsigned int i;

	read_floats(sg, &op->src[0], &a);
	read_floats(sg, &op->src[1], &b);
	for (i = 0; i < LANES; i++)
		a.v[i] += b.v[i];
	if (op->opcode == AGX_OP_HADD)
		arithmetic_write_rounded(sg, op, &a);
	else
		write_floats(sg, op, &a);
}

/* Products of halves are exact in a float, denormals included */
void vagx_exec_fmul(struct simdgroup *sg, const struct op *op)
{
	struct float_lanes a, b;
	unsigned int i;

	read_floats(sg, &op->src[0], &a);
	read_floats(sg, &op->src[1], &b);
	for (i = 0; i < LANES; i++)
		a.v[i] = arithmetic_multiply(a.v[i], b.v[i]);
	if (op->opcode == AGX_OP_HMUL)
		arithmetic_write_rounded(sg, op, &a);
	else
		write_floats(sg, op, &a);
}

void vagx_exec_fma(struct simdgroup *sg, const struct op *op)
{
	bool halves = op->opcode == AGX_OP_HFMA;
	struct float_lanes a, b, c;
	unsigned int i;

	read_floats(sg, &op->src[0], &a);
	read_floats(sg, &op->src[1], &b);
	read_floats(sg, &op->src[2], &c);
	for (i = 0; halves && i < LANES; i++)
		a.v[i] = arithmetic_fma_half(a.v[i], b.v[i], c.v[i]);
	for (i = 0; !halves && i < LANES; i++)
		a.v[i] = multiply_add(a.v[i], b.v[i], c.v[i]);
	if (halves)
		arithmetic_write_rounded(sg, op, &a);
	else
		write_floats(sg, op, &a);
}
