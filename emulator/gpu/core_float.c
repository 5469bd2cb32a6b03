// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Unary float arithmetic, derivatives and conversions (applegpu "applegpu.py", "docs.html").
 * core_arithmetic.c has addition and multiplication, core_compare.h comparisons. Runs on the
 * thread of the core that executes the instruction.
 */
#include <math.h>

#include "core_float_lanes.h"
#include "core_special.h"

CLONES void read_float_lanes(const struct simdgroup *sg, const struct agx_operand *o,
			     struct float_lanes *lanes)
{
	read_floats(sg, o, lanes);
}

CLONES void write_float_lanes(struct simdgroup *sg, const struct op *op,
			      struct float_lanes *lanes)
{
	write_floats(sg, op, lanes);
}

#define FLOAT_LOOP(lanes, expression)						\
	do {									\
		unsigned int i_;						\
										\
		for (i_ = 0; i_ < LANES; i_++) {				\
			float x = (lanes).v[i_];				\
										\
			(lanes).v[i_] = (expression);				\
		}								\
	} while (0)

void vagx_exec_float_unary(struct simdgroup *sg, const struct op *op)
{
	struct float_lanes a;

	read_floats(sg, &op->src[0], &a);
	switch (op->opcode) {
	case AGX_OP_FLOOR:
		FLOAT_LOOP(a, floorf(x));
		break;
	case AGX_OP_CEIL:
		FLOAT_LOOP(a, ceilf(x));
		break;
	case AGX_OP_TRUNC:
		FLOAT_LOOP(a, truncf(x));
		break;
	case AGX_OP_RINT:
		FLOAT_LOOP(a, nearbyintf(x));
		break;
	case AGX_OP_RCP:
		FLOAT_LOOP(a, 1.0f / x);
		break;
	case AGX_OP_RSQRT:
		FLOAT_LOOP(a, special_rsqrt(x));
		break;
	case AGX_OP_RSQRTS:
		FLOAT_LOOP(a, special_rsqrt_for_sqrt(x));
		break;
	case AGX_OP_LOG2:
		FLOAT_LOOP(a, special_log2(x));
		break;
	case AGX_OP_EXP2:
		FLOAT_LOOP(a, special_exp2(x));
		break;
	case AGX_OP_SINR:
		FLOAT_LOOP(a, special_sine_reduce(x));
		break;
	default:
		FLOAT_LOOP(a, special_sine_quotient(x));
	}
	write_floats(sg, op, &a);
}

/* Differences within a quad: lanes 0 and 1 are a row, 0 and 2 a column */
void vagx_exec_derivative(struct simdgroup *sg, const struct op *op)
{
	unsigned int step = op->opcode == AGX_OP_DFDX ? 1 : 2;
	struct float_lanes a, r;
	unsigned int i;

	read_floats(sg, &op->src[0], &a);
	for (i = 0; i < LANES; i++)
		r.v[i] = a.v[i | step] - a.v[i & ~step];
	write_floats(sg, op, &r);
}

static double core_float_round_to(double value, unsigned int mode)
{
	return mode == AGX_ROUND_ZERO ? trunc(value) : nearbyint(value);
}

/* Converts to an integer, rounded and clamped to a range; NaN becomes 0 */
static uint32_t core_float_to_integer(float value, double min, double max,
				      unsigned int mode)
{
	double n = core_float_round_to(value, mode);

	if (isnan(n))
		return 0;
	n = n < min ? min : n > max ? max : n;
	return (uint32_t)(int64_t)n;
}

/* Rounds toward zero: @f, or its neighbour on that side if @f is beyond the exact value */
static float core_float_toward_zero(float f, double exact)
{
	if (fabs((double)f) <= fabs(exact))
		return f;
	return bits_float(float_bits(f) - 1);
}

static float core_float_from_integer(int64_t n, unsigned int mode)
{
	float f = (float)n;

	return mode == AGX_ROUND_ZERO ? core_float_toward_zero(f, (double)n) : f;
}

/* Converts an integer to a half, without rounding twice */
static uint32_t core_float_half_from_integer(int64_t n, unsigned int mode)
{
	/* All bits below the eleventh can be gathered in one */
	uint64_t magnitude = n < 0 ? -(uint64_t)n : (uint64_t)n;
	uint32_t half;

	if (magnitude > 0xffffff)
		return (n < 0 ? 0x8000 : 0) |
		       (mode == AGX_ROUND_ZERO ? 0x7bff : 0x7c00);
	half = half_from_float((float)n);
	if (mode == AGX_ROUND_ZERO &&
	    fabsf(float_from_half(half)) > (float)magnitude)
		half--;
	return half;
}

static bool core_float_result(const struct op *op)
{
	switch (op->opcode) {
	case AGX_OP_F_TO_U16:
	case AGX_OP_F_TO_S16:
	case AGX_OP_F_TO_U32:
	case AGX_OP_F_TO_S32:
		return false;
	default:
		return true;
	}
}

static int64_t core_float_integer_source(const struct op *op, uint32_t bits)
{
	switch (op->opcode) {
	case AGX_OP_U8_TO_F:
		return (uint8_t)bits;
	case AGX_OP_S8_TO_F:
		return (int8_t)(uint8_t)bits;
	case AGX_OP_U16_TO_F:
		return (uint16_t)bits;
	case AGX_OP_S16_TO_F:
		return extend16(bits);
	case AGX_OP_S32_TO_F:
		return (int32_t)bits;
	default:
		return bits;
	}
}

static uint32_t core_float_to_float(const struct op *op, uint32_t bits)
{
	unsigned int mode = op->mod[AGX_MOD_ROUND];
	int64_t n = core_float_integer_source(op, bits);

	if (op->dst.size == 16)
		return core_float_half_from_integer(n, mode);
	return float_bits(core_float_from_integer(n, mode));
}

static uint32_t core_float_from_float(const struct op *op, uint32_t bits)
{
	unsigned int mode = op->mod[AGX_MOD_ROUND];
	float f = op->src[0].size == 16 ? float_from_half(bits & 0xffff) :
					  bits_float(flush(bits));

	switch (op->opcode) {
	case AGX_OP_F_TO_U16:
		return core_float_to_integer(f, 0, 0xffff, mode);
	case AGX_OP_F_TO_S16:
		return core_float_to_integer(f, -0x8000, 0x7fff, mode);
	case AGX_OP_F_TO_U32:
		return core_float_to_integer(f, 0, 0xffffffff, mode);
	default:
		return core_float_to_integer(f, -2147483648.0, 0x7fffffff, mode);
	}
}

void vagx_exec_convert(struct simdgroup *sg, const struct op *op)
{
	struct lanes t;
	const uint32_t *a = read_lanes(sg, &op->src[0], &t);
	bool to = core_float_result(op);
	unsigned int i;

	for (i = 0; i < LANES; i++)
		t.v[i] = to ? core_float_to_float(op, a[i]) : core_float_from_float(op, a[i]);
	write_lanes(sg, &op->dst, t.v);
}
