/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Sources and results of float instructions, in all lanes. Inlined in the functions that
 * run them.
 */
#ifndef VAGX_CORE_FLOAT_LANES_H
#define VAGX_CORE_FLOAT_LANES_H

#include <math.h>

#include "core_float.h"

/* Modifiers of a source, as masks: bits that absolute keeps, and bits that negate inverts */
INLINE uint32_t kept_bits(const struct agx_operand *o)
{
	return o->absolute ? 0x7fffffff : 0xffffffff;
}

INLINE uint32_t changed_bits(const struct agx_operand *o)
{
	return o->negate ? 0x80000000 : 0;
}

INLINE float modify(float f, uint32_t keep, uint32_t change)
{
	return bits_float((float_bits(f) & keep) ^ change);
}

INLINE float scalar_float(const struct simdgroup *sg, const struct agx_operand *o)
{
	float f = o->type != AGX_OPERAND_UNIFORM ? agx_isa_small_float(o->value) :
		  float_from_register(o->size, read_uniform(sg, o->value, o->size));

	return modify(f, kept_bits(o), changed_bits(o));
}

/* Reads a source in all lanes, flushed, with its modifiers */
INLINE void read_floats(const struct simdgroup *sg, const struct agx_operand *o,
			struct float_lanes *lanes)
{
	uint32_t keep = kept_bits(o), change = changed_bits(o);
	unsigned int shift = (unsigned int)o->value % 2 * 16, i;
	const uint32_t *reg;

	if (o->type != AGX_OPERAND_REG) {
		float value = scalar_float(sg, o);

		for (i = 0; i < LANES; i++)
			lanes->v[i] = value;
		return;
	}

	reg = sg->reg[(unsigned int)o->value / 2].v;
	if (o->size == 16) {
		for (i = 0; i < LANES; i++)
			lanes->v[i] = modify(float_from_half(reg[i] >> shift & 0xffff), keep,
					     change);
	} else {
		for (i = 0; i < LANES; i++)
			lanes->v[i] = modify(bits_float(flush(reg[i])), keep, change);
	}
}

/* Adds a float to a product of floats, and computes the rounding error (Knuth's TwoSum) */
INLINE double exact_sum(double product, double c, double *lost)
{
	double sum = product + c;
	double part = sum - product;

	*lost = (product - (sum - part)) + (c - part);
	return sum;
}

/* Multiplies and adds, rounding once; what is tiny before rounding becomes zero */
INLINE float multiply_add(float a, float b, float c)
{
	double lost, sum = exact_sum((double)a * (double)b, c, &lost);
	float result = fmaf(a, b, c);
	bool below = fabs(sum) < 0x1p-126 ||
		     (fabs(sum) == 0x1p-126 && lost != 0.0 &&
		      signbit(lost) != signbit(sum));

	return below ? copysignf(0.0f, result) : result;
}

/* Clamps to 0 to 1; NaN becomes 0 */
INLINE void saturate_floats(struct float_lanes *lanes)
{
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		float f = lanes->v[i];

		f = f > 0.0f ? f : 0.0f;
		lanes->v[i] = f < 1.0f ? f : 1.0f;
	}
}

INLINE void write_halves(struct simdgroup *sg, const struct agx_operand *dst,
			 const struct float_lanes *lanes)
{
	struct lanes bits;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		bits.v[i] = register_from_float(16, lanes->v[i]);
	write_half(sg, dst->value, bits.v);
}

/* Writes floats to the active lanes, as they are */
INLINE void write_words(struct simdgroup *sg, const struct agx_operand *dst,
			const struct float_lanes *lanes)
{
	uint32_t *reg = sg->reg[(unsigned int)dst->value / 2].v;
	const uint32_t *mask = sg->mask.v;
	unsigned int i;

	if (sg->exec == ALL_LANES) {
		for (i = 0; i < LANES; i++)
			reg[i] = float_bits(lanes->v[i]);
		return;
	}
	for (i = 0; i < LANES; i++)
		reg[i] = (float_bits(lanes->v[i]) & mask[i]) | (reg[i] & ~mask[i]);
}

/* Writes floats to the active lanes: saturates, then flushes or rounds. Changes @lanes. */
INLINE void write_floats(struct simdgroup *sg, const struct op *op, struct float_lanes *lanes)
{
	unsigned int i;

	if (op->mod[AGX_MOD_SATURATE])
		saturate_floats(lanes);
	if (op->dst.size == 16) {
		write_halves(sg, &op->dst, lanes);
		return;
	}
	for (i = 0; i < LANES; i++)
		lanes->v[i] = bits_float(register_from_float(32, lanes->v[i]));
	write_words(sg, &op->dst, lanes);
}

#endif /* VAGX_CORE_FLOAT_LANES_H */
