// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Moves, integer arithmetic, shifts, bitwise operations and selects (applegpu "applegpu.py").
 * Each is a loop over 32 lanes, which the compiler vectorises. Where the result has at most 32
 * bits and does not saturate, the low 32 bits of the sources are enough; else the loop computes
 * with 64 or 128 bits. Runs on the thread of the core that executes the instruction.
 */
#include "core_compare.h"

__extension__ typedef __int128 int128;

/*
 * The body of a function with two sources a and b, of which 32 bits are enough: evaluates an
 * expression of these in all lanes, and writes it to the destination
 */
#define NARROW_LOOP(sg, op, expression)						\
	do {									\
		struct lanes ta_, tb_, r_;					\
		const uint32_t *a_ = read_lanes(sg, &(op)->src[0], &ta_);	\
		const uint32_t *b_ = read_lanes(sg, &(op)->src[1], &tb_);	\
		unsigned int i_;						\
										\
		for (i_ = 0; i_ < LANES; i_++) {				\
			uint32_t a = a_[i_], b = b_[i_];			\
										\
			r_.v[i_] = (expression);				\
		}								\
		write_lanes(sg, &(op)->dst, r_.v);				\
	} while (0)

void vagx_exec_mov_imm(struct simdgroup *sg, const struct op *op)
{
	struct lanes value;

	write_lanes(sg, &op->dst, splat(&value, (uint32_t)op->imm));
}

/* Whether 32 bits of everything are enough to know the result */
static bool core_int_is_narrow(const struct op *op)
{
	return op->dst.size <= 32 && !op->mod[AGX_MOD_SATURATE];
}

/* Whether the result saturates; @c is the source that is added */
static bool core_int_saturates(const struct op *op, const struct agx_operand *c)
{
	return op->mod[AGX_MOD_SATURATE] && !op->mod[AGX_MOD_SHIFT] &&
	       op->dst.size <= 32 && c->size <= 32;
}

/* Clamps a value to @bits bits */
static uint64_t core_int_saturate(int128 value, unsigned int bits, bool is_signed)
{
	int128 max = ((int128)1 << (bits - is_signed)) - 1;
	int128 min = is_signed ? -max - 1 : 0;

	return (uint64_t)(value < min ? min : value > max ? max : value);
}

/* The value of a source, with room for products of any two */
static int128 core_int_real_value(uint64_t value, const struct agx_operand *o)
{
	return o->sign_extend ? (int128)(int64_t)value : (int128)value;
}

/* Adds or subtracts with 64 bits, or saturates */
static void core_int_add_wide(struct simdgroup *sg, const struct op *op, bool negate)
{
	const struct agx_operand *x = &op->src[0], *y = &op->src[1];
	unsigned int shift = op->mod[AGX_MOD_SHIFT], i;
	struct wide_lanes wa, wb;

	read_wide_lanes(sg, x, &wa);
	read_wide_lanes(sg, y, &wb);
	for (i = 0; i < LANES; i++) {
		if (core_int_saturates(op, y) && x->size <= 32) {
			int128 n = core_int_real_value(wb.v[i], y);

			n = core_int_real_value(wa.v[i], x) + (negate ? -n : n);
			wa.v[i] = core_int_saturate(n, op->dst.size,
						    x->sign_extend || y->sign_extend);
		} else {
			wb.v[i] <<= shift;
			wa.v[i] += negate ? -wb.v[i] : wb.v[i];
		}
	}
	write_wide_lanes(sg, &op->dst, &wa);
}

void vagx_exec_iadd(struct simdgroup *sg, const struct op *op)
{
	unsigned int shift = op->mod[AGX_MOD_SHIFT];

	if (core_int_is_narrow(op))
		NARROW_LOOP(sg, op, a + (b << shift));
	else
		core_int_add_wide(sg, op, false);
}

void vagx_exec_isub(struct simdgroup *sg, const struct op *op)
{
	unsigned int shift = op->mod[AGX_MOD_SHIFT];

	if (core_int_is_narrow(op))
		NARROW_LOOP(sg, op, a - (b << shift));
	else
		core_int_add_wide(sg, op, true);
}

/* Multiplies and adds or subtracts with 64 bits, or saturates */
static void core_int_multiply_wide(struct simdgroup *sg, const struct op *op,
				   const struct agx_operand *z, bool negate)
{
	const struct agx_operand *x = &op->src[0], *y = &op->src[1];
	unsigned int shift = op->mod[AGX_MOD_SHIFT], i;
	bool is_signed = x->sign_extend || y->sign_extend || z->sign_extend;
	struct wide_lanes a, b, c;

	read_wide_lanes(sg, x, &a);
	read_wide_lanes(sg, y, &b);
	read_wide_lanes(sg, z, &c);
	for (i = 0; i < LANES; i++) {
		if (core_int_saturates(op, z)) {
			int128 n = core_int_real_value(c.v[i], z);

			n = core_int_real_value(a.v[i], x) * core_int_real_value(b.v[i], y) +
			    (negate ? -n : n);
			a.v[i] = core_int_saturate(n, op->dst.size, is_signed);
		} else {
			c.v[i] <<= shift;
			a.v[i] = a.v[i] * b.v[i] + (negate ? -c.v[i] : c.v[i]);
		}
	}
	write_wide_lanes(sg, &op->dst, &a);
}

void vagx_exec_imul(struct simdgroup *sg, const struct op *op)
{
	static const struct agx_operand zero = {
		.type = AGX_OPERAND_IMM,
		.size = 16,
		.count = 1,
	};

	if (core_int_is_narrow(op))
		NARROW_LOOP(sg, op, a * b);
	else
		core_int_multiply_wide(sg, op, &zero, false);
}

/* Multiplies and adds with 32 bits, or subtracts */
static void core_int_multiply_add(struct simdgroup *sg, const struct op *op, bool negate)
{
	unsigned int shift = op->mod[AGX_MOD_SHIFT];
	struct lanes t;
	const uint32_t *c = read_lanes(sg, &op->src[2], &t);

	if (negate)
		NARROW_LOOP(sg, op, a * b - (c[i_] << shift));
	else
		NARROW_LOOP(sg, op, a * b + (c[i_] << shift));
}

void vagx_exec_imadd(struct simdgroup *sg, const struct op *op)
{
	if (core_int_is_narrow(op))
		core_int_multiply_add(sg, op, false);
	else
		core_int_multiply_wide(sg, op, &op->src[2], false);
}

void vagx_exec_imsub(struct simdgroup *sg, const struct op *op)
{
	if (core_int_is_narrow(op))
		core_int_multiply_add(sg, op, true);
	else
		core_int_multiply_wide(sg, op, &op->src[2], true);
}

/* Shifts by 0 to 127, where C has none beyond 63 */
static uint64_t core_int_left(uint64_t value, unsigned int shift)
{
	return shift < 64 ? value << shift : 0;
}

static uint64_t core_int_right(uint64_t value, unsigned int shift)
{
	return shift < 64 ? value >> shift : 0;
}

/* Shifts of 32 bits by 0 to 127 */
static uint32_t core_int_left32(uint32_t value, unsigned int shift)
{
	return shift < 32 ? value << shift : 0;
}

static uint32_t core_int_right32(uint32_t value, unsigned int shift)
{
	return shift < 32 ? value >> shift : 0;
}

/* The mask of a bit field's width; all bits if there is no width */
static uint32_t core_int_field_mask(const struct op *op)
{
	unsigned int bits = op->mod[AGX_MOD_BITMASK];

	return bits ? (1u << bits) - 1 : 0xffffffff;
}

/* As NARROW_LOOP(), with sources a, b and shift, 0 to 127, and the mask of the bit field */
#define SHIFT_LOOP(sg, op, expression)						\
	do {									\
		uint32_t mask = core_int_field_mask(op);					\
		struct lanes ta_, tb_, tc_, r_;					\
		const uint32_t *a_ = read_lanes(sg, &(op)->src[0], &ta_);	\
		const uint32_t *b_ = read_lanes(sg, &(op)->src[1], &tb_);	\
		const uint32_t *c_ = read_lanes(sg, &(op)->src[2], &tc_);	\
		unsigned int i_;						\
										\
		for (i_ = 0; i_ < LANES; i_++) {				\
			unsigned int shift = c_[i_] & 0x7f;			\
			uint32_t a = a_[i_], b = b_[i_];			\
										\
			r_.v[i_] = (uint32_t)(expression);			\
		}								\
		write_lanes(sg, &(op)->dst, r_.v);				\
	} while (0)

/* Aliases of bfi and bfeil with two sources: a value and a shift */
void vagx_exec_shl(struct simdgroup *sg, const struct op *op)
{
	NARROW_LOOP(sg, op, core_int_left32(a, b & 0x7f));
}

void vagx_exec_shr(struct simdgroup *sg, const struct op *op)
{
	NARROW_LOOP(sg, op, core_int_right32(a, b & 0x7f));
}

void vagx_exec_bfi(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, (a & ~core_int_left32(mask, shift)) | core_int_left32(b & mask, shift));
}

void vagx_exec_bfeil(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, (a & ~mask) | (core_int_right32(b, shift) & mask));
}

void vagx_exec_extr(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, core_int_right((uint64_t)b << 32 | a, shift) & mask);
}

static uint64_t core_int_shift_left_high(uint64_t a, uint64_t b, uint64_t mask,
					 unsigned int shift)
{
	mask = core_int_left(mask, shift > 32 ? shift - 32 : 0);
	return (core_int_left(b, shift) >> 32 & mask) | (a & ~mask);
}

void vagx_exec_shlhi(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, core_int_shift_left_high(a, b, mask, shift));
}

static uint64_t core_int_shift_right_high(uint64_t a, uint64_t b, uint64_t mask,
					  unsigned int shift)
{
	mask = core_int_right(mask << 32, shift < 32 ? shift : 32);
	return (core_int_right(b << 32, shift) & mask) | (a & ~mask);
}

void vagx_exec_shrhi(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, core_int_shift_right_high(a, b, mask, shift));
}

/* Shifts a signed value right by @shift bits, after it was shifted left by @high bits, 0 or 32 */
static void core_int_shift_arithmetic(struct simdgroup *sg, const struct op *op, unsigned int high)
{
	struct lanes ta, tb, r;
	const uint32_t *a = read_extended(sg, &op->src[0], true, &ta);
	const uint32_t *b = read_lanes(sg, &op->src[1], &tb);
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		unsigned int shift = b[i] & 0x7f;
		int32_t n = (int32_t)a[i];

		/* the low 32 bits of the value are 0 then */
		if (high && shift < 32)
			r.v[i] = shift ? (uint32_t)n << (32 - shift) : 0;
		else
			r.v[i] = n >> (shift - high < 31 ? shift - high : 31);
	}
	write_lanes(sg, &op->dst, r.v);
}

void vagx_exec_asr(struct simdgroup *sg, const struct op *op)
{
	core_int_shift_arithmetic(sg, op, 0);
}

void vagx_exec_asrh(struct simdgroup *sg, const struct op *op)
{
	core_int_shift_arithmetic(sg, op, 32);
}

/*
 * Evaluates a truth table of two bits: "low" has the results for b = 0, "high" for b = 1, bit 0
 * for a = 0. For the two tables that depend on b alone hardware moves a instead.
 */
static uint32_t core_int_truth_table(unsigned int low, unsigned int high, uint32_t a,
				     uint32_t b)
{
	uint32_t result = 0;

	if ((low == 0 && high == 3) || (low == 3 && high == 0))
		return a;
	if (low & 1)
		result |= ~a & ~b;
	if (low & 2)
		result |= a & ~b;
	if (high & 1)
		result |= ~a & b;
	if (high & 2)
		result |= a & b;
	return result;
}

#define BITOP(low, high)							\
void vagx_exec_bitop_##low##high(struct simdgroup *sg, const struct op *op)	\
{										\
	NARROW_LOOP(sg, op, core_int_truth_table(low, high, a, b));		\
}
#define BITOPS(low)	BITOP(low, 0) BITOP(low, 1) BITOP(low, 2) BITOP(low, 3)

BITOPS(0)
BITOPS(1)
BITOPS(2)
BITOPS(3)

#define UNARY_LOOP(sg, op, expression)						\
	do {									\
		struct lanes t_, r_;						\
		const uint32_t *a_ = read_lanes(sg, &(op)->src[0], &t_);	\
		unsigned int i_;						\
										\
		for (i_ = 0; i_ < LANES; i_++) {				\
			uint32_t a = a_[i_];					\
										\
			r_.v[i_] = (expression);				\
		}								\
		write_lanes(sg, &(op)->dst, r_.v);				\
	} while (0)

static uint32_t core_int_reverse(uint32_t value)
{
	value = __builtin_bswap32(value);
	value = (value & 0x0f0f0f0f) << 4 | (value >> 4 & 0x0f0f0f0f);
	value = (value & 0x33333333) << 2 | (value >> 2 & 0x33333333);
	return (value & 0x55555555) << 1 | (value >> 1 & 0x55555555);
}

void vagx_exec_bitrev(struct simdgroup *sg, const struct op *op)
{
	UNARY_LOOP(sg, op, core_int_reverse(a));
}

void vagx_exec_popcnt(struct simdgroup *sg, const struct op *op)
{
	UNARY_LOOP(sg, op, (uint32_t)__builtin_popcount(a));
}

/* Despite its name it finds the number of the highest bit that is set, or -1 */
void vagx_exec_ffs(struct simdgroup *sg, const struct op *op)
{
	UNARY_LOOP(sg, op, a ? 31u - __builtin_clz(a) : ~0u);
}

/* Spreads the low 16 bits to the even ones of 32, as for a Morton index */
static uint32_t core_int_spread_bits(uint32_t value)
{
	value &= 0xffff;
	value = (value | value << 8) & 0x00ff00ff;
	value = (value | value << 4) & 0x0f0f0f0f;
	value = (value | value << 2) & 0x33333333;
	return (value | value << 1) & 0x55555555;
}

void vagx_exec_intl(struct simdgroup *sg, const struct op *op)
{
	struct lanes ta, tb;
	const uint32_t *a = read_lanes(sg, &op->src[0], &ta);
	const uint32_t *b = read_lanes(sg, &op->src[1], &tb);
	unsigned int i;

	for (i = 0; i < LANES; i++)
		ta.v[i] = core_int_spread_bits(a[i]) | core_int_spread_bits(b[i]) << 1;
	write_lanes(sg, &op->dst, ta.v);
}

static void core_int_select(struct simdgroup *sg, const struct op *op,
			    const struct lanes *chosen)
{
	struct lanes tx, ty, r;
	const uint32_t *x = read_lanes(sg, &op->src[2], &tx);
	const uint32_t *y = read_lanes(sg, &op->src[3], &ty);
	unsigned int i;

	for (i = 0; i < LANES; i++)
		r.v[i] = (x[i] & chosen->v[i]) | (y[i] & ~chosen->v[i]);
	write_lanes(sg, &op->dst, r.v);
}

void vagx_exec_icsel(struct simdgroup *sg, const struct op *op)
{
	struct lanes chosen;

	compare_integers(sg, op, &chosen);
	core_int_select(sg, op, &chosen);
}

void vagx_exec_fcsel(struct simdgroup *sg, const struct op *op)
{
	struct lanes chosen;

	compare_floats(sg, op, &chosen);
	core_int_select(sg, op, &chosen);
}
