// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Moves, integer arithmetic, shifts and bits. (applegpu "applegpu.py")
 */
#include "core_compare.h"

__extension__ typedef __int128 int128;

CLONES void vagx_exec_mov_imm(struct simdgroup *sg, const struct op *op)
{
	struct lanes value;

	write_lanes(sg, &op->dst, splat(&value, (uint32_t)op->imm));
}

/* Whether 32 bits of everything are enough to know the result */
static bool is_narrow(const struct op *op)
{
	return op->dst.size <= 32 && !op->mod[AGX_MOD_SATURATE];
}

static bool saturates(const struct op *op, const struct agx_operand *c)
{
	return op->mod[AGX_MOD_SATURATE] && !op->mod[AGX_MOD_SHIFT] &&
	       op->dst.size <= 32 && c->size <= 32;
}

static uint64_t saturate(int128 value, unsigned int bits, bool is_signed)
{
	int128 max = ((int128)1 << (bits - is_signed)) - 1;
	int128 min = is_signed ? -max - 1 : 0;

	return (uint64_t)(value < min ? min : value > max ? max : value);
}

/* What a source stands for: 64 bits can't hold all that can be multiplied */
static int128 real_value(uint64_t value, const struct agx_operand *o)
{
	return o->sign_extend ? (int128)(int64_t)value : (int128)value;
}

static void add(struct simdgroup *sg, const struct op *op, bool negate)
{
	const struct agx_operand *x = &op->src[0], *y = &op->src[1];
	unsigned int shift = op->mod[AGX_MOD_SHIFT], i;
	struct wide_lanes wa, wb;
	struct lanes ta, tb;
	const uint32_t *a, *b;

	if (is_narrow(op)) {
		a = read_lanes(sg, x, &ta);
		b = read_lanes(sg, y, &tb);
		for (i = 0; i < LANES; i++)
			ta.v[i] = negate ? a[i] - (b[i] << shift) :
					   a[i] + (b[i] << shift);
		write_lanes(sg, &op->dst, ta.v);
		return;
	}

	read_wide_lanes(sg, x, &wa);
	read_wide_lanes(sg, y, &wb);
	for (i = 0; i < LANES; i++) {
		if (saturates(op, y) && x->size <= 32) {
			int128 n = real_value(wb.v[i], y);

			n = real_value(wa.v[i], x) + (negate ? -n : n);
			wa.v[i] = saturate(n, op->dst.size,
					   x->sign_extend || y->sign_extend);
		} else {
			wb.v[i] <<= shift;
			wa.v[i] += negate ? -wb.v[i] : wb.v[i];
		}
	}
	write_wide_lanes(sg, &op->dst, &wa);
}

CLONES void vagx_exec_iadd(struct simdgroup *sg, const struct op *op)
{
	add(sg, op, false);
}

CLONES void vagx_exec_isub(struct simdgroup *sg, const struct op *op)
{
	add(sg, op, true);
}

static void multiply_wide(struct simdgroup *sg, const struct op *op,
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
		if (saturates(op, z)) {
			int128 n = real_value(c.v[i], z);

			n = real_value(a.v[i], x) * real_value(b.v[i], y) +
			    (negate ? -n : n);
			a.v[i] = saturate(n, op->dst.size, is_signed);
		} else {
			c.v[i] <<= shift;
			a.v[i] = a.v[i] * b.v[i] + (negate ? -c.v[i] : c.v[i]);
		}
	}
	write_wide_lanes(sg, &op->dst, &a);
}

static void multiply_add(struct simdgroup *sg, const struct op *op,
			 const struct agx_operand *z, bool negate)
{
	unsigned int shift = op->mod[AGX_MOD_SHIFT], i;
	const uint32_t *a, *b, *c;
	struct lanes ta, tb, tc;

	if (!is_narrow(op)) {
		multiply_wide(sg, op, z, negate);
		return;
	}

	a = read_lanes(sg, &op->src[0], &ta);
	b = read_lanes(sg, &op->src[1], &tb);
	c = read_lanes(sg, z, &tc);
	for (i = 0; i < LANES; i++) {
		uint32_t n = c[i] << shift;

		ta.v[i] = a[i] * b[i] + (negate ? -n : n);
	}
	write_lanes(sg, &op->dst, ta.v);
}

CLONES void vagx_exec_imul(struct simdgroup *sg, const struct op *op)
{
	static const struct agx_operand zero = {
		.type = AGX_OPERAND_IMM,
		.size = 16,
		.count = 1,
	};

	multiply_add(sg, op, &zero, false);
}

CLONES void vagx_exec_imadd(struct simdgroup *sg, const struct op *op)
{
	multiply_add(sg, op, &op->src[2], false);
}

CLONES void vagx_exec_imsub(struct simdgroup *sg, const struct op *op)
{
	multiply_add(sg, op, &op->src[2], true);
}

/* Shifts by up to 127, which are more than C can do */
static uint64_t left(uint64_t value, unsigned int shift)
{
	return shift < 64 ? value << shift : 0;
}

static uint64_t right(uint64_t value, unsigned int shift)
{
	return shift < 64 ? value >> shift : 0;
}

static uint64_t field_mask(const struct op *op)
{
	unsigned int bits = op->mod[AGX_MOD_BITMASK];

	return bits ? (1ULL << bits) - 1 : 0xffffffff;
}

/*
 * A loop over the lanes with sources a, b and shift (from the source @c) that
 * computes an expression.
 */
#define SHIFT_LOOP(sg, op, c, expression)					\
	do {									\
		uint64_t mask = field_mask(op);					\
		struct lanes ta_, tb_, tc_;					\
		const uint32_t *a_ = read_lanes(sg, &(op)->src[0], &ta_);	\
		const uint32_t *b_ = read_lanes(sg, &(op)->src[1], &tb_);	\
		const uint32_t *c_ = read_lanes(sg, &(op)->src[c], &tc_);	\
		unsigned int i_;						\
										\
		for (i_ = 0; i_ < LANES; i_++) {				\
			unsigned int shift = c_[i_] & 0x7f;			\
			uint64_t a = a_[i_], b = b_[i_];			\
										\
			(void)a, (void)b, (void)mask;				\
			ta_.v[i_] = (uint32_t)(expression);			\
		}								\
		write_lanes(sg, &(op)->dst, ta_.v);				\
	} while (0)

/* The aliases have two sources: a value and a shift */
CLONES void vagx_exec_shl(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, 1, left(a, shift));
}

CLONES void vagx_exec_shr(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, 1, right(a, shift));
}

CLONES void vagx_exec_bfi(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, 2,
		   (a & ~left(mask, shift)) | left(b & mask, shift));
}

CLONES void vagx_exec_bfeil(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, 2, (a & ~mask) | (right(b, shift) & mask));
}

CLONES void vagx_exec_extr(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, 2, right(b << 32 | a, shift) & mask);
}

static uint64_t shift_left_high(uint64_t a, uint64_t b, uint64_t mask,
				unsigned int shift)
{
	mask = left(mask, shift > 32 ? shift - 32 : 0);
	return (left(b, shift) >> 32 & mask) | (a & ~mask);
}

void vagx_exec_shlhi(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, 2, shift_left_high(a, b, mask, shift));
}

static uint64_t shift_right_high(uint64_t a, uint64_t b, uint64_t mask,
				 unsigned int shift)
{
	mask = right(mask << 32, shift < 32 ? shift : 32);
	return (right(b << 32, shift) & mask) | (a & ~mask);
}

void vagx_exec_shrhi(struct simdgroup *sg, const struct op *op)
{
	SHIFT_LOOP(sg, op, 2, shift_right_high(a, b, mask, shift));
}

/* The value is signed, whatever its size */
static void shift_arithmetic(struct simdgroup *sg, const struct op *op,
			     unsigned int raise)
{
	struct agx_operand value = op->src[0];
	const uint32_t *a, *b;
	struct lanes ta, tb;
	unsigned int i;

	value.sign_extend = true;
	a = read_lanes(sg, &value, &ta);
	b = read_lanes(sg, &op->src[1], &tb);
	for (i = 0; i < LANES; i++) {
		int64_t n = (int64_t)((uint64_t)(int64_t)(int32_t)a[i] << raise);
		unsigned int shift = b[i] & 0x7f;

		ta.v[i] = (uint32_t)(n >> (shift < 63 ? shift : 63));
	}
	write_lanes(sg, &op->dst, ta.v);
}

CLONES void vagx_exec_asr(struct simdgroup *sg, const struct op *op)
{
	shift_arithmetic(sg, op, 0);
}

void vagx_exec_asrh(struct simdgroup *sg, const struct op *op)
{
	shift_arithmetic(sg, op, 32);
}

/*
 * Truth tables, named by their bits: "low" is for b = 0, "high" for b = 1; in
 * each, bit 0 is for a = 0. Hardware doesn't follow the two that depend on b
 * alone, but moves a.
 */
static inline uint32_t truth(unsigned int low, unsigned int high, uint32_t a,
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
CLONES void vagx_exec_bitop_##low##high(struct simdgroup *sg, const struct op *op)	\
{										\
	struct lanes ta, tb;							\
	const uint32_t *a = read_lanes(sg, &op->src[0], &ta);			\
	const uint32_t *b = read_lanes(sg, &op->src[1], &tb);			\
	unsigned int i;								\
										\
	for (i = 0; i < LANES; i++)						\
		ta.v[i] = truth(low, high, a[i], b[i]);				\
	write_lanes(sg, &op->dst, ta.v);					\
}
#define BITOPS(low)	BITOP(low, 0) BITOP(low, 1) BITOP(low, 2) BITOP(low, 3)

BITOPS(0)
BITOPS(1)
BITOPS(2)
BITOPS(3)

#define UNARY_LOOP(sg, op, expression)						\
	do {									\
		struct lanes t_;						\
		const uint32_t *a_ = read_lanes(sg, &(op)->src[0], &t_);	\
		unsigned int i_;						\
										\
		for (i_ = 0; i_ < LANES; i_++) {				\
			uint32_t a = a_[i_];					\
										\
			t_.v[i_] = (expression);				\
		}								\
		write_lanes(sg, &(op)->dst, t_.v);				\
	} while (0)

static uint32_t reverse(uint32_t value)
{
	value = __builtin_bswap32(value);
	value = (value & 0x0f0f0f0f) << 4 | (value >> 4 & 0x0f0f0f0f);
	value = (value & 0x33333333) << 2 | (value >> 2 & 0x33333333);
	return (value & 0x55555555) << 1 | (value >> 1 & 0x55555555);
}

void vagx_exec_bitrev(struct simdgroup *sg, const struct op *op)
{
	UNARY_LOOP(sg, op, reverse(a));
}

void vagx_exec_popcnt(struct simdgroup *sg, const struct op *op)
{
	UNARY_LOOP(sg, op, (uint32_t)__builtin_popcount(a));
}

/* Despite its name: number of the highest bit that is set, or -1 */
void vagx_exec_ffs(struct simdgroup *sg, const struct op *op)
{
	UNARY_LOOP(sg, op, a ? 31u - __builtin_clz(a) : ~0u);
}

/* Makes room for another bit behind each of the low 16 */
static uint32_t spread(uint32_t value)
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
		ta.v[i] = spread(a[i]) | spread(b[i]) << 1;
	write_lanes(sg, &op->dst, ta.v);
}

void compare_integers(const struct simdgroup *sg, const struct op *op,
		      struct lanes *result)
{
	struct agx_operand x = op->src[0], y = op->src[1];
	unsigned int cond = op->mod[AGX_MOD_COND];
	bool is_signed = cond & AGX_ICOND_SEQ;
	uint32_t invert = cond & AGX_ICOND_NE ? ~0u : 0;
	/* Unsigned order is signed order with the sign bit turned round */
	uint32_t bias = is_signed ? 0 : 0x80000000;
	const uint32_t *a, *b;
	struct lanes ta, tb;
	unsigned int i;

	x.sign_extend = is_signed;
	y.sign_extend = is_signed;
	a = read_lanes(sg, &x, &ta);
	b = read_lanes(sg, &y, &tb);
	switch (cond & 3) {
	case AGX_ICOND_EQ:
		for (i = 0; i < LANES; i++)
			result->v[i] = -(uint32_t)(a[i] == b[i]) ^ invert;
		break;
	case AGX_ICOND_ULT:
		for (i = 0; i < LANES; i++)
			result->v[i] = -(uint32_t)((int32_t)(a[i] ^ bias) <
						   (int32_t)(b[i] ^ bias)) ^
				       invert;
		break;
	default:
		for (i = 0; i < LANES; i++)
			result->v[i] = -(uint32_t)((int32_t)(a[i] ^ bias) >
						   (int32_t)(b[i] ^ bias)) ^
				       invert;
	}
}

static void do_select(struct simdgroup *sg, const struct op *op,
		      const struct lanes *chosen)
{
	struct lanes tx, ty;
	const uint32_t *x = read_lanes(sg, &op->src[2], &tx);
	const uint32_t *y = read_lanes(sg, &op->src[3], &ty);
	unsigned int i;

	for (i = 0; i < LANES; i++)
		tx.v[i] = (x[i] & chosen->v[i]) | (y[i] & ~chosen->v[i]);
	write_lanes(sg, &op->dst, tx.v);
}

CLONES void vagx_exec_icsel(struct simdgroup *sg, const struct op *op)
{
	struct lanes chosen;

	compare_integers(sg, op, &chosen);
	do_select(sg, op, &chosen);
}

CLONES void vagx_exec_fcsel(struct simdgroup *sg, const struct op *op)
{
	struct lanes chosen;

	compare_floats(sg, op, &chosen);
	do_select(sg, op, &chosen);
}
