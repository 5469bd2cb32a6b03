// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Float arithmetic, comparison and conversion. (applegpu "applegpu.py",
 * "docs.html")
 */
#include <math.h>

#include "core_compare.h"
#include "core_float.h"

static uint32_t modify(uint32_t bits, const struct agx_operand *o)
{
	if (o->absolute)
		bits &= 0x7fffffff;
	if (o->negate)
		bits ^= 0x80000000;
	return bits;
}

static uint32_t scalar_source(const struct simdgroup *sg,
			      const struct agx_operand *o)
{
	if (o->type != AGX_OPERAND_UNIFORM)
		return float_bits(agx_isa_small_float(o->value));
	if (o->size == 16)
		return float_bits(float_from_half(read_uniform(sg, o->value,
							       16)));
	return flush(read_uniform(sg, o->value, 32));
}

/* Inlined: a function that is compiled for several processors calls others slowly */
static inline __attribute__((always_inline))
void read_floats(const struct simdgroup *sg, const struct agx_operand *o,
		 struct float_lanes *lanes)
{
	uint32_t clear = o->absolute ? 0x7fffffff : 0xffffffff;
	uint32_t toggle = o->negate ? 0x80000000 : 0;
	const uint32_t *reg;
	unsigned int i;

	if (o->type != AGX_OPERAND_REG) {
		float value = bits_float(modify(scalar_source(sg, o), o));

		for (i = 0; i < LANES; i++)
			lanes->v[i] = value;
		return;
	}

	reg = sg->reg[o->value / 2].v;
	if (o->size == 16) {
		unsigned int shift = o->value % 2 * 16;

		for (i = 0; i < LANES; i++) {
			uint32_t half = reg[i] >> shift & 0xffff;
			uint32_t bits = float_bits(float_from_half(half));

			lanes->v[i] = bits_float((bits & clear) ^ toggle);
		}
		return;
	}
	for (i = 0; i < LANES; i++)
		lanes->v[i] = bits_float((flush(reg[i]) & clear) ^ toggle);
}

CLONES void read_float_lanes(const struct simdgroup *sg, const struct agx_operand *o,
			     struct float_lanes *lanes)
{
	read_floats(sg, o, lanes);
}

static inline __attribute__((always_inline))
void write_floats(struct simdgroup *sg, const struct op *op, struct float_lanes *lanes)
{
	struct lanes bits;
	unsigned int i;

	if (op->mod[AGX_MOD_SATURATE]) {
		/* What is not above zero, NaN included, becomes zero */
		for (i = 0; i < LANES; i++) {
			float f = lanes->v[i];

			f = f > 0.0f ? f : 0.0f;
			lanes->v[i] = f < 1.0f ? f : 1.0f;
		}
	}

	if (op->dst.size == 16) {
		for (i = 0; i < LANES; i++)
			bits.v[i] = register_from_float(16, lanes->v[i]);
	} else {
		for (i = 0; i < LANES; i++)
			bits.v[i] = register_from_float(32, lanes->v[i]);
	}
	write_lanes(sg, &op->dst, bits.v);
}

CLONES void write_float_lanes(struct simdgroup *sg, const struct op *op,
			      struct float_lanes *lanes)
{
	write_floats(sg, op, lanes);
}

/*
 * Results of the instructions for 32 bits are 32-bit floats even when the
 * destination is a half. Those for 16 bits round once. What is written to 32 bits
 * is flushed there.
 */
static inline void flush_lanes(struct float_lanes *lanes)
{
	unsigned int i;

	for (i = 0; i < LANES; i++)
		lanes->v[i] = bits_float(flush(float_bits(lanes->v[i])));
}

static bool is_half_op(const struct op *op)
{
	return op->opcode == AGX_OP_HADD || op->opcode == AGX_OP_HMUL ||
	       op->opcode == AGX_OP_HFMA;
}

CLONES void vagx_exec_fadd(struct simdgroup *sg, const struct op *op)
{
	struct float_lanes a, b;
	unsigned int i;

	read_floats(sg, &op->src[0], &a);
	read_floats(sg, &op->src[1], &b);
	for (i = 0; i < LANES; i++)
		a.v[i] += b.v[i];
	if (op->dst.size == 16 && !is_half_op(op))
		flush_lanes(&a);
	write_floats(sg, op, &a);
}

/*
 * Tininess is detected before rounding: what rounds up to the smallest normal
 * number has been flushed by then. (applegpu "fma.py")
 */
static float flush_product(float result, float a, float b)
{
	double exact = (double)a * (double)b;

	return fabs(exact) < 0x1p-126 ? copysignf(0.0f, result) : result;
}

CLONES void vagx_exec_fmul(struct simdgroup *sg, const struct op *op)
{
	struct float_lanes a, b, r;
	uint32_t smallest = 0;
	unsigned int i;

	read_floats(sg, &op->src[0], &a);
	read_floats(sg, &op->src[1], &b);
	for (i = 0; i < LANES; i++) {
		r.v[i] = a.v[i] * b.v[i];
		smallest |= (float_bits(r.v[i]) & 0x7fffffff) == 0x00800000;
	}
	/* Products of halves are exact here, denormals of a half included */
	if (!is_half_op(op)) {
		for (i = 0; smallest && i < LANES; i++)
			r.v[i] = flush_product(r.v[i], a.v[i], b.v[i]);
		if (op->dst.size == 16)
			flush_lanes(&r);
	}
	write_floats(sg, op, &r);
}

static void fma_lanes(const struct float_lanes *a, const struct float_lanes *b,
		      struct float_lanes *c)
{
	unsigned int i;

	for (i = 0; i < LANES; i++)
		c->v[i] = fmaf(a->v[i], b->v[i], c->v[i]);
}

#if defined(__x86_64__) && !defined(__FMA__)
/* The same in hardware, where there is a choice at run time only */
__attribute__((target("avx2,fma")))
static void fma_lanes_hardware(const struct float_lanes *a,
			       const struct float_lanes *b,
			       struct float_lanes *c)
{
	unsigned int i;

	for (i = 0; i < LANES; i++)
		c->v[i] = __builtin_fmaf(a->v[i], b->v[i], c->v[i]);
}

static bool has_fma(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define fma_lanes_hardware	fma_lanes
#define has_fma()		false
#endif

/* A product of floats and a float, and what their sum loses in rounding */
static double exact_sum(double product, double c, double *lost)
{
	double sum = product + c;
	double part = sum - product;

	*lost = (product - (sum - part)) + (c - part);
	return sum;
}

static float flush_fma(float result, float a, float b, float c)
{
	double lost, sum = exact_sum((double)a * (double)b, c, &lost);
	bool below = fabs(sum) < 0x1p-126 ||
		     (fabs(sum) == 0x1p-126 && lost != 0.0 &&
		      signbit(lost) != signbit(sum));

	return below ? copysignf(0.0f, result) : result;
}

static inline void fma_single(const struct op *op, struct float_lanes *a,
			      struct float_lanes *b, struct float_lanes *c)
{
	struct float_lanes r = *c;
	uint32_t smallest = 0;
	unsigned int i;

	if (has_fma())
		fma_lanes_hardware(a, b, &r);
	else
		fma_lanes(a, b, &r);
	for (i = 0; i < LANES; i++)
		smallest |= (float_bits(r.v[i]) & 0x7fffffff) == 0x00800000;
	for (i = 0; smallest && i < LANES; i++)
		r.v[i] = flush_fma(r.v[i], a->v[i], b->v[i], c->v[i]);
	if (op->dst.size == 16)
		flush_lanes(&r);
	*c = r;
}

/*
 * Product and sum of halves, rounded such that rounding once more, to a half,
 * is as good as rounding once: the last bit is set if anything was lost
 * ("round to odd"). The product is exact in a float, and so is what the sum loses.
 */
static inline float fma_half(float a, float b, float c)
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

CLONES void vagx_exec_fma(struct simdgroup *sg, const struct op *op)
{
	struct float_lanes a, b, c;
	unsigned int i;

	read_floats(sg, &op->src[0], &a);
	read_floats(sg, &op->src[1], &b);
	read_floats(sg, &op->src[2], &c);
	if (is_half_op(op)) {
		for (i = 0; i < LANES; i++)
			c.v[i] = fma_half(a.v[i], b.v[i], c.v[i]);
	} else {
		fma_single(op, &a, &b, &c);
	}
	write_floats(sg, op, &c);
}

/* x times this is the square root, even where 1 / sqrt(x) is no number */
static float rsqrt_for_sqrt(float x)
{
	if (x == 0.0f || (isinf(x) && x > 0.0f))
		return 1.0f;
	return (float)(1.0 / sqrt((double)x));
}

/*
 * The sine of a number of quarter turns is the product of two instructions:
 * the first reduces it to -1 to 1, the second divides the sine of that by it.
 */
static float sine_reduce(float x)
{
	float turn = x - 4.0f * floorf(x * 0.25f);

	if (turn < 1.0f)
		return turn;
	return turn < 3.0f ? 2.0f - turn : turn - 4.0f;
}

static float sine_quotient(float x)
{
	double angle = (double)x * 1.57079632679489661923;

	if (x == 0.0f)
		return 1.57079632679489661923f;
	return (float)(sin(angle) / (double)x);
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

CLONES void vagx_exec_float_unary(struct simdgroup *sg, const struct op *op)
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
		FLOAT_LOOP(a, (float)(1.0 / sqrt((double)x)));
		break;
	case AGX_OP_RSQRTS:
		FLOAT_LOOP(a, rsqrt_for_sqrt(x));
		break;
	case AGX_OP_LOG2:
		FLOAT_LOOP(a, log2f(x));
		break;
	case AGX_OP_EXP2:
		FLOAT_LOOP(a, exp2f(x));
		break;
	case AGX_OP_SINR:
		FLOAT_LOOP(a, sine_reduce(x));
		break;
	default:
		FLOAT_LOOP(a, sine_quotient(x));
	}
	if (op->dst.size == 16)
		flush_lanes(&a);
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
	if (op->dst.size == 16)
		flush_lanes(&r);
	write_floats(sg, op, &r);
}

#define COMPARE_LOOP(result, invert, expression)				\
	do {									\
		unsigned int i_;						\
										\
		for (i_ = 0; i_ < LANES; i_++) {				\
			float a = a_.v[i_], b = b_.v[i_];			\
										\
			(result)->v[i_] = -(uint32_t)(expression) ^ (invert);	\
		}								\
	} while (0)

void compare_floats(const struct simdgroup *sg, const struct op *op,
		    struct lanes *result)
{
	unsigned int cond = op->mod[AGX_MOD_COND];
	uint32_t invert = cond & AGX_FCOND_NE ? ~0u : 0;
	struct float_lanes a_, b_;

	read_floats(sg, &op->src[0], &a_);
	read_floats(sg, &op->src[1], &b_);
	switch (cond & 7) {
	case AGX_FCOND_EQ:
		COMPARE_LOOP(result, invert, a == b);
		break;
	case AGX_FCOND_LT:
		COMPARE_LOOP(result, invert, a < b);
		break;
	case AGX_FCOND_GT:
		COMPARE_LOOP(result, invert, a > b);
		break;
	case AGX_FCOND_LTN:
		COMPARE_LOOP(result, invert, a < b || b != b);
		break;
	case AGX_FCOND_GE:
		COMPARE_LOOP(result, invert, a >= b);
		break;
	case AGX_FCOND_LE:
		COMPARE_LOOP(result, invert, a <= b);
		break;
	default:
		COMPARE_LOOP(result, invert, a > b || b != b);
	}
}

static double round_to(double value, unsigned int mode)
{
	return mode == AGX_ROUND_ZERO ? trunc(value) : nearbyint(value);
}

/* What doesn't fit becomes the nearest number that does, NaN becomes 0 */
static uint32_t to_integer(float value, double min, double max,
			   unsigned int mode)
{
	double n = round_to(value, mode);

	if (isnan(n))
		return 0;
	n = n < min ? min : n > max ? max : n;
	return (uint32_t)(int64_t)n;
}

/* The neighbour of @f that is nearer to zero, if @f is beyond the number */
static float toward_zero(float f, double exact)
{
	if (fabs((double)f) <= fabs(exact))
		return f;
	return bits_float(float_bits(f) - 1);
}

static float from_integer(int64_t n, unsigned int mode)
{
	float f = (float)n;

	return mode == AGX_ROUND_ZERO ? toward_zero(f, (double)n) : f;
}

/* The same for halves, where rounding twice would show */
static uint32_t half_from_integer(int64_t n, unsigned int mode)
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

static bool float_result(const struct op *op)
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

static int64_t integer_source(const struct op *op, uint32_t bits)
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

static uint32_t to_float(const struct op *op, uint32_t bits)
{
	unsigned int mode = op->mod[AGX_MOD_ROUND];
	int64_t n = integer_source(op, bits);

	if (op->dst.size == 16)
		return half_from_integer(n, mode);
	return float_bits(from_integer(n, mode));
}

static uint32_t from_float(const struct op *op, uint32_t bits)
{
	unsigned int mode = op->mod[AGX_MOD_ROUND];
	float f = op->src[0].size == 16 ? float_from_half(bits & 0xffff) :
					  bits_float(flush(bits));

	switch (op->opcode) {
	case AGX_OP_F_TO_U16:
		return to_integer(f, 0, 0xffff, mode);
	case AGX_OP_F_TO_S16:
		return to_integer(f, -0x8000, 0x7fff, mode);
	case AGX_OP_F_TO_U32:
		return to_integer(f, 0, 0xffffffff, mode);
	default:
		return to_integer(f, -2147483648.0, 0x7fffffff, mode);
	}
}

CLONES void vagx_exec_convert(struct simdgroup *sg, const struct op *op)
{
	struct lanes t;
	const uint32_t *a = read_lanes(sg, &op->src[0], &t);
	bool to = float_result(op);
	unsigned int i;

	for (i = 0; i < LANES; i++)
		t.v[i] = to ? to_float(op, a[i]) : from_float(op, a[i]);
	write_lanes(sg, &op->dst, t.v);
}
