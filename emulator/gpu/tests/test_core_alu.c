// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Arithmetic of the shader core against what C says, for values that are
 * likely to go wrong and for random ones.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core_fixture.h"

#define THREADS		1024
#define ROUNDS		8
#define OUT		0x8000

/* Four words go into r4 to r7; dr10 comes out */
typedef uint64_t expected_fn(const uint32_t *in);

enum compare {
	/* All bits of a result of 16, 32 or 64 bits */
	BITS16,
	BITS32,
	BITS64,
	/* Floats: all NaNs are the same, and zeros have a sign */
	HALF,
	FLOAT,
	/* Floats, some units of the last place apart */
	CLOSE,
};

static uint64_t seed;

static uint32_t random_word(void)
{
	static const uint32_t special[] = {
		0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000,
		0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe,
		/* floats: ones, infinities, NaN, limits of the normal range */
		0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00001,
		0x00800000, 0x007fffff, 0x80000001, 0x7f7fffff, 0x00800001,
		0x3f000000, 0x40000000, 0x33800000, 0x4b7fffff, 0x5f000000,
		/* two halves of that kind */
		0x3c00bc00, 0x7c00fc00, 0x7e000001, 0x04000400, 0x03ff83ff,
		0x7bff3800, 0x00018001, 0x3bff3c01,
	};
	uint64_t n;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	n = seed >> 20;
	switch (n & 7) {
	case 0:
	case 1:
	case 2:
		return special[(n >> 3) % (sizeof(special) / 4)];
	case 3:
		return n >> 3 & 0x3ff;
	case 4:
		/* a float that is not far from one */
		return 0x3f800000 + (int32_t)(n >> 3 & 0x0fffffff) -
		       0x07ffffff;
	default:
		return (uint32_t)(seed >> 32);
	}
}

static float as_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static uint32_t as_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

/* A float source or result: without denormals */
static float flushed(float f)
{
	return fpclassify(f) == FP_SUBNORMAL ? copysignf(0, f) : f;
}

static float in_float(uint32_t bits)
{
	return flushed(as_float(bits));
}

/* Slowly, from the definition */
static double half_value(uint32_t half)
{
	int exponent = half >> 10 & 31;
	double fraction = half & 0x3ff, value;

	if (exponent == 31)
		value = fraction ? NAN : INFINITY;
	else if (exponent)
		value = ldexp(1024 + fraction, exponent - 25);
	else
		value = ldexp(fraction, -24);
	return half & 0x8000 ? -value : value;
}

/* Searches for the nearest half, the even one of two */
static uint32_t nearest_half(double value)
{
	uint32_t sign = signbit(value) ? 0x8000 : 0, low = 0, high = 0x7c00;

	if (isnan(value))
		return 0x7e00;
	value = fabs(value);
	if (value >= 65520)
		return sign | 0x7c00;
	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (half_value(middle) <= value)
			low = middle;
		else
			high = middle;
	}
	if (high == 0x7c00)
		return sign | low;
	if (value - half_value(low) > half_value(high) - value ||
	    (value - half_value(low) == half_value(high) - value && (low & 1)))
		low = high;
	return sign | low;
}

static uint64_t out_float(double value)
{
	/* Below the smallest normal number before rounding */
	if (fabs(value) < 0x1p-126)
		return as_bits(copysignf(0, (float)value));
	return as_bits((float)value);
}

static bool same_float(uint32_t a, uint32_t b)
{
	if (isnan(as_float(a)) && isnan(as_float(b)))
		return a == 0x7fc00000;
	return a == b;
}

static bool same_half(uint32_t a, uint32_t b)
{
	if (isnan(half_value(a)) && isnan(half_value(b)))
		return a == 0x7e00;
	return a == b;
}

static bool close_float(uint32_t a, uint32_t b)
{
	int64_t distance = (int64_t)a - (int64_t)b;

	return same_float(a, b) || llabs(distance) <= 4 ||
	       fabsf(as_float(a) - as_float(b)) < 1e-6f;
}

static bool agree(uint64_t got, uint64_t want, enum compare how)
{
	switch (how) {
	case BITS16:
		return (uint16_t)got == (uint16_t)want;
	case BITS32:
		return (uint32_t)got == (uint32_t)want;
	case BITS64:
		return got == want;
	case HALF:
		return same_half(got & 0xffff, want & 0xffff);
	case FLOAT:
		return same_float((uint32_t)got, (uint32_t)want);
	default:
		return close_float((uint32_t)got, (uint32_t)want);
	}
}

static void check(struct fixture *f, const char *op, enum compare how,
		  expected_fn *expected)
{
	uint32_t *in = fixture_words();
	uint64_t *out = (uint64_t *)(void *)(fixture_data + OUT);
	char text[512];
	unsigned int round, i;

	fixture_uniform64(f, 8, DATA_VA + OUT);
	snprintf(text, sizeof(text),
		 "mov r1, thread_in_grid_x\n"
		 "load r4_r5_r6_r7, du0, r1, lsl 2, i32, xyzw, a\n"
		 "wait a\n"
		 "%s\n"
		 "store r10_r11, du4, r1, lsl 1, i32, xy, a\n"
		 "stop\n", op);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 4 * THREADS; i++)
			in[i] = random_word();
		assert_int_equal(fixture_run(f, text, THREADS), 0);
		for (i = 0; i < THREADS; i++) {
			uint64_t want = expected(&in[4 * i]);

			if (agree(out[i], want, how))
				continue;
			fail_msg("%s: r4 0x%x r5 0x%x r6 0x%x: got 0x%llx, expected 0x%llx",
				 op, in[4 * i], in[4 * i + 1], in[4 * i + 2],
				 (unsigned long long)out[i],
				 (unsigned long long)want);
		}
	}
}

#define A	(in[0])
#define B	(in[1])
#define C	(in[2])
#define D	(in[3])
#define WIDE(low, high)	((uint64_t)(high) << 32 | (low))
#define SX16(x)	((int64_t)(int16_t)(uint16_t)(x))
#define SX32(x)	((int64_t)(int32_t)(x))
#define FA	in_float(A)
#define FB	in_float(B)
#define FC	in_float(C)
#define HA	half_value(A & 0xffff)
#define HB	half_value(B >> 16)
#define HC	half_value(C & 0xffff)

/* The list of what is tested: name, instruction, comparison, expectation */
#define CASES									\
CASE(mov_imm, "ldimm r10, 3735928559", BITS32, 0xdeadbeef)			\
CASE(mov_imm16, "ldimm r10h, 4660\nldimm r10l, 22136", BITS32, 0x12345678)	\
CASE(mov, "mov r10, r4", BITS32, A)						\
CASE(mov_half, "mov r10, r4h", BITS32, A >> 16)					\
CASE(mov_uniform, "mov r10, u0", BITS32, (uint32_t)DATA_VA)			\
CASE(mov_high, "mov r10, u1", BITS32, (uint32_t)(DATA_VA >> 32))		\
CASE(keep_half, "mov r10, r4\nmov r10l, r5h", BITS32,				\
     (A & 0xffff0000) | B >> 16)						\
CASE(iadd, "iadd r10, r4, r5", BITS32, A + B)					\
CASE(iadd16, "iadd r10l, r4h, r5l", BITS16, (A >> 16) + B)			\
CASE(iadd_shift, "iadd r10, r4, r5, lsl 3", BITS32, A + (B << 3))		\
CASE(isub_shift, "isub r10, r4, r5, lsl 4", BITS32, A - (B << 4))		\
CASE(iadd64, "iadd dr10, dr4, dr6", BITS64, WIDE(A, B) + WIDE(C, D))		\
CASE(isub64, "isub dr10, dr4, r6.sx, lsl 2", BITS64,				\
     WIDE(A, B) - ((uint64_t)SX32(C) << 2))					\
CASE(iadd64_zx, "iadd dr10, dr4, r6l", BITS64, WIDE(A, B) + (C & 0xffff))	\
CASE(iadd64_sx16, "iadd dr10, r4h.sx, dr6, lsl 1", BITS64,			\
     (uint64_t)SX16(A >> 16) + (WIDE(C, D) << 1))				\
CASE(iadd_sat, "iadd r10, r4, r5, sat", BITS32,					\
     (uint64_t)A + B > 0xffffffff ? 0xffffffff : A + B)				\
CASE(isub_sat, "isub r10, r4, r5, sat", BITS32, A < B ? 0 : A - B)		\
CASE(iadd_ssat, "iadd r10, r4.sx, r5.sx, sat", BITS32,				\
     SX32(A) + SX32(B) > INT32_MAX ? INT32_MAX :				\
     SX32(A) + SX32(B) < INT32_MIN ? INT32_MIN : SX32(A) + SX32(B))		\
CASE(isub_ssat16, "isub r10l, r4l.sx, r5l.sx, sat", BITS16,			\
     SX16(A) - SX16(B) > INT16_MAX ? INT16_MAX :				\
     SX16(A) - SX16(B) < INT16_MIN ? INT16_MIN : SX16(A) - SX16(B))		\
CASE(imul, "imul r10, r4, r5", BITS32, A * B)					\
CASE(imul64, "imul dr10, r4, r5", BITS64, (uint64_t)A * B)			\
CASE(imul64_sx, "imul dr10, r4.sx, r5.sx", BITS64, SX32(A) * SX32(B))		\
CASE(imul16, "imul r10, r4l.sx, r5h.sx", BITS32, SX16(A) * SX16(B >> 16))	\
CASE(imadd, "imadd r10, r4, r5, r6", BITS32, A * B + C)				\
CASE(imadd64, "imadd dr10, r4, r5, dr6", BITS64,				\
     (uint64_t)A * B + WIDE(C, D))						\
CASE(imsub, "imsub r10, r4, r5, r6, lsl 1", BITS32, A * B - (C << 1))		\
CASE(imadd_imm, "imadd r10, r4, 12, 200", BITS32, A * 12 + 200)			\
CASE(imadd_sat, "imadd r10l, r4l, r5l, 0, sat", BITS16,				\
     (uint64_t)(A & 0xffff) * (B & 0xffff) > 0xffff ? 0xffff :			\
     (A & 0xffff) * (B & 0xffff))						\
CASE(and, "and r10, r4, r5", BITS32, A & B)					\
CASE(or, "or r10, r4, r5", BITS32, A | B)					\
CASE(xor, "xor r10, r4, 255", BITS32, A ^ 255)					\
CASE(nand, "nand r10, r4, r5", BITS32, ~(A & B))				\
CASE(nor, "nor r10, r4, r5", BITS32, ~(A | B))					\
CASE(xnor, "xnor r10, r4, r5", BITS32, ~(A ^ B))				\
CASE(andn1, "andn1 r10, r4, r5", BITS32, ~A & B)				\
CASE(andn2, "andn2 r10, r4, r5", BITS32, A & ~B)				\
CASE(orn1, "orn1 r10, r4, r5", BITS32, ~A | B)					\
CASE(orn2, "orn2 r10, r4, r5", BITS32, A | ~B)					\
CASE(zero, "zero r10, r4, r5", BITS32, 0)					\
CASE(one, "one r10, r4, r5", BITS32, 0xffffffff)				\
CASE(not, "not r10, r4", BITS32, ~A)						\
CASE(mov_a, "mov_a r10, r4", BITS32, A)						\
CASE(shl, "shl r10, r4, 9", BITS32, A << 9)					\
CASE(shl_by, "shl r10, r4, r5", BITS32, (B & 127) < 32 ? A << (B & 127) : 0)	\
CASE(shr_by, "shr r10, r4, r5", BITS32, (B & 127) < 32 ? A >> (B & 127) : 0)	\
CASE(asr, "asr r10, r4, 5, 0, 0", BITS32, SX32(A) >> 5)				\
CASE(asr16, "asr r10, r4h, 5, 0, 0", BITS32, SX16(A >> 16) >> 5)		\
CASE(asr_by, "asr r10, r4, r5, 0, 0", BITS32, halved(A, B & 127))		\
CASE(asrh, "asrh r10, r4, 40, 0, 0", BITS32, SX32(A) >> 8)			\
CASE(bfi, "bfi r10, r4, r5, 7, 9", BITS32,					\
     (A & ~(0x1ffu << 7)) | (B & 0x1ff) << 7)					\
CASE(bfi_all, "bfi r10, r4, r5, 12, 0", BITS32, (A & 0xfff) | B << 12)		\
CASE(bfi_far, "bfi r10, r4, r5, 100, 0", BITS32, A)				\
CASE(bfeil, "bfeil r10, r4, r5, 20, 6", BITS32, (A & ~63u) | (B >> 20 & 63))	\
CASE(bfeil_by, "bfeil r10, 0, r4, r5, 8", BITS32,				\
     (B & 127) < 32 ? A >> (B & 127) & 255 : 0)					\
CASE(extr, "extr r10, r4, r5, 13, 0", BITS32,					\
     (uint32_t)(WIDE(A, B) >> 13))						\
CASE(extr_high, "extr r10, r4, r5, 45, 10", BITS32, B >> 13 & 0x3ff)		\
CASE(extr_by, "extr r10, r4, r5, r6, 0", BITS32,				\
     (C & 127) < 64 ? (uint32_t)(WIDE(A, B) >> (C & 127)) : 0)			\
CASE(shlhi, "shlhi r10, 0, r5, 12, 0", BITS32, (uint32_t)((uint64_t)B << 12 >> 32)) \
CASE(shlhi_insert, "shlhi r10, r4, r5, 36, 4", BITS32,				\
     (A & ~0xf0u) | (B << 4 & 0xf0))						\
CASE(shrhi, "shrhi r10, 0, r5, 12, 0", BITS32, (uint32_t)(((uint64_t)B << 32) >> 12)) \
CASE(bitrev, "bitrev r10, r4", BITS32, reversed(A))				\
CASE(popcnt, "popcnt r10, r4", BITS32, __builtin_popcount(A))			\
CASE(popcnt16, "popcnt r10, r4h", BITS32, __builtin_popcount(A >> 16))		\
CASE(ffs, "ffs r10, r4", BITS32, highest_bit(A))				\
CASE(intl, "intl r10, r4l, r5l", BITS32, interleaved(A, B))			\
CASE(icsel, "csel r10, r4, r5, r6, r7, ieq", BITS32, A == B ? C : D)		\
CASE(icsel_ult, "csel r10, r4, r5, r6, 7, ult", BITS32, A < B ? C : 7)		\
CASE(icsel_ugt, "csel r10, r4, 200, r6, r7, ugt", BITS32, A > 200 ? C : D)	\
CASE(icsel_slt, "csel r10, r4, r5, r6, r7, slt", BITS32,			\
     SX32(A) < SX32(B) ? C : D)							\
CASE(icsel_sgt16, "csel r10, r4l, r5h, r6, r7, sgt", BITS32,			\
     SX16(A) > SX16(B >> 16) ? C : D)						\
CASE(icsel_half, "csel r10l, r4, r5, r6h, r7l, ult", BITS16,			\
     A < B ? C >> 16 : D)							\
CASE(fadd, "fadd r10, r4, r5", FLOAT, out_float((double)FA + FB))		\
CASE(fadd_neg, "fadd r10, r4.neg, r5.abs", FLOAT,				\
     out_float((double)-FA + fabs((double)FB)))					\
CASE(fadd_imm, "fadd r10, r4, -0.0", FLOAT, as_bits(FA))			\
CASE(fadd_sat, "fadd r10, r4, r5, sat", FLOAT, saturated((double)FA + FB))	\
CASE(fmul, "fmul r10, r4, r5", FLOAT, out_float((double)FA * FB))		\
CASE(fmul_imm, "fmul r10, r4, 0.015625", FLOAT, out_float((double)FA / 64))	\
CASE(ffma, "ffma r10, r4, r5, r6", FLOAT, fused(FA, FB, FC))			\
CASE(ffma_neg, "ffma r10, r4, r5.neg, r6", FLOAT, fused(FA, -FB, FC))		\
CASE(fadd_mixed, "fadd r10, r4l, r5", FLOAT, out_float(HA + FB))		\
CASE(fadd_narrow, "fadd r10l, r4, r5", HALF,					\
     nearest_half(as_float((uint32_t)out_float((double)FA + FB))))		\
CASE(hadd, "hadd r10l, r4l, r5h", HALF, nearest_half(HA + HB))			\
CASE(hmul, "hmul r10l, r4l, r5h", HALF, nearest_half(HA * HB))			\
CASE(hfma, "hfma r10l, r4l, r5h, r6l", HALF, nearest_half(exact_fma(HA, HB, HC))) \
CASE(floor, "floor r10, r4", FLOAT, as_bits(floorf(FA)))			\
CASE(ceil, "ceil r10, r4", FLOAT, as_bits(ceilf(FA)))				\
CASE(trunc, "trunc r10, r4", FLOAT, as_bits(truncf(FA)))			\
CASE(rint, "rint r10, r4", FLOAT, as_bits(rintf(FA)))				\
CASE(rcp, "rcp r10, r4", CLOSE, out_float(1 / (double)FA))			\
CASE(rsqrt, "rsqrt r10, r4", CLOSE, out_float(1 / sqrt((double)FA)))		\
CASE(log2, "log2 r10, r4", CLOSE, out_float(log2((double)FA)))			\
CASE(exp2, "exp2 r10, r4", CLOSE, out_float(exp2((double)FA)))			\
CASE(sqrt, "rsqrts r10, r4\nfmul r10, r10, r4", CLOSE,				\
     out_float(sqrt((double)FA)))						\
CASE(fcsel_lt, "csel r10, r4, r5, r6, r7, flt", BITS32, FA < FB ? C : D)	\
CASE(fcsel_ge, "csel r10, r4, r5, r6, r7, fgte", BITS32, FA >= FB ? C : D)	\
CASE(fcsel_le, "csel r10, r4, r5, r6, r7, flte", BITS32, FA <= FB ? C : D)	\
CASE(fcsel_gt, "csel r10, r4, r5, r6, r7, fgt", BITS32, FA > FB ? C : D)	\
CASE(fcsel_eq, "csel r10, r4.abs, r5.abs, r6, r7, feq", BITS32,			\
     fabsf(FA) == fabsf(FB) ? C : D)						\
CASE(fmin, "csel r10, r4, r5, r4, r5, fltn", BITS32,				\
     isnan(FB) ? A : FA < FB ? A : B)						\
CASE(fmax, "csel r10, r4, r5, r4, r5, fgtn", BITS32,				\
     isnan(FB) ? A : FA > FB ? A : B)						\
CASE(u32_to_f, "u32_to_f r10, r4, rte", FLOAT, as_bits((float)A))		\
CASE(s32_to_f, "s32_to_f r10, r4, rte", FLOAT, as_bits((float)(int32_t)A))	\
CASE(u32_to_f_rtz, "u32_to_f r10, r4, rtz", FLOAT, rounded_to_zero(A))		\
CASE(s32_to_f_rtz, "s32_to_f r10, r4, rtz", FLOAT, rounded_to_zero((int32_t)A))	\
CASE(u16_to_f, "u16_to_f r10, r4h, rte", FLOAT, as_bits(A >> 16))		\
CASE(s16_to_f, "s16_to_f r10, r4l, rte", FLOAT, as_bits(SX16(A)))		\
CASE(u8_to_f, "u8_to_f r10, r4l, rte", FLOAT, as_bits(A & 0xff))		\
CASE(s8_to_f, "s8_to_f r10, r4l, rte", FLOAT, as_bits((int8_t)A))		\
CASE(u32_to_h, "u32_to_f r10l, r4, rte", HALF, nearest_half(A))			\
CASE(s32_to_h, "s32_to_f r10l, r4, rte", HALF, nearest_half((int32_t)A))	\
CASE(f_to_u32, "f_to_u32 r10, r4, rtz", BITS32, clamped(truncf(FA), 0, 4294967295.)) \
CASE(f_to_s32, "f_to_s32 r10, r4, rtz", BITS32,					\
     clamped(truncf(FA), -2147483648., 2147483647.))				\
CASE(f_to_s32_rte, "f_to_s32 r10, r4, rte", BITS32,				\
     clamped(rintf(FA), -2147483648., 2147483647.))				\
CASE(f_to_u16, "f_to_u16 r10l, r4, rtz", BITS16, clamped(truncf(FA), 0, 65535))	\
CASE(f_to_s16, "f_to_s16 r10l, r4, rtz", BITS16, clamped(truncf(FA), -32768, 32767)) \
CASE(h_to_s32, "f_to_s32 r10, r4l, rtz", BITS32,				\
     clamped(trunc(HA), -2147483648., 2147483647.))				\
CASE(f_to_h, "fadd r10l, r4, -0.0", HALF, nearest_half(FA))			\
CASE(h_to_f, "fadd r10, r4l, -0.0", FLOAT, as_bits((float)HA))

/* Each step to the right halves a number and rounds down */
static uint32_t halved(uint32_t value, unsigned int times)
{
	int64_t n = SX32(value);

	for (; times; times--)
		n = (n - (n & 1)) / 2;
	return (uint32_t)n;
}

static uint32_t reversed(uint32_t value)
{
	uint32_t result = 0;
	int i;

	for (i = 0; i < 32; i++)
		result |= (value >> i & 1) << (31 - i);
	return result;
}

static uint32_t highest_bit(uint32_t value)
{
	uint32_t n = 0xffffffff;

	for (; value; value >>= 1)
		n++;
	return n;
}

static uint32_t interleaved(uint32_t a, uint32_t b)
{
	uint32_t result = 0;
	int i;

	for (i = 0; i < 16; i++)
		result |= (a >> i & 1) << 2 * i | (b >> i & 1) << (2 * i + 1);
	return result;
}

static uint32_t saturated(double value)
{
	if (!(value > 0))
		return 0;
	return value > 1 ? 0x3f800000 : (uint32_t)out_float(value);
}

/* Whether a result is tiny shows in the sign of its distance to the limit */
static uint64_t fused(float a, float b, float c)
{
	float result = fmaf(a, b, c);
	long double limit = signbit(result) ? -0x1p-126L : 0x1p-126L;
	long double distance = fmal(a, b, c - limit);

	if (isfinite(result) && distance != 0 &&
	    signbit(distance) != signbit(limit))
		return as_bits(copysignf(0, result));
	return as_bits(flushed(result));
}

/* Halves span 80 bits: add them in units of the smallest product */
static double exact_fma(double a, double b, double c)
{
	double product = a * b, sum = product + c;

	if (!isfinite(sum) || sum == 0)
		return sum;
	/* What a double loses can only decide between two halves at a tie */
	if (sum - product != c || sum - c != product) {
		double lost = fabs(product) > fabs(c) ? c - (sum - product) :
							product - (sum - c);

		if (lost != 0)
			sum = nextafter(sum, lost > 0 ? INFINITY : -INFINITY);
	}
	return sum;
}

/* Without the bits behind the first 24 the conversion is exact */
static uint32_t rounded_to_zero(int64_t n)
{
	uint64_t magnitude = n < 0 ? -(uint64_t)n : (uint64_t)n;
	unsigned int lost = 0;

	while (magnitude >> lost > 0xffffff)
		lost++;
	magnitude = magnitude >> lost << lost;
	return as_bits(n < 0 ? -(float)magnitude : (float)magnitude);
}

static uint32_t clamped(double value, double min, double max)
{
	if (isnan(value))
		return 0;
	return (uint32_t)(int64_t)(value < min ? min : value > max ? max : value);
}

#define CASE(name, op, how, expression)						\
static uint64_t expect_##name(const uint32_t *in)				\
{										\
	(void)in;								\
	return (uint64_t)(expression);						\
}										\
static void test_##name(void **state)						\
{										\
	check(*state, op, how, expect_##name);					\
}
CASES
#undef CASE

/* Angles in quarter turns: the sine is the product of both parts */
static void sine(void **state)
{
	struct fixture *f = *state;
	uint32_t *in = fixture_words();
	uint32_t *out = (uint32_t *)(void *)(fixture_data + OUT);
	unsigned int i;

	fixture_uniform64(f, 8, DATA_VA + OUT);
	for (i = 0; i < THREADS; i++)
		in[i] = as_bits(i * (4.0f / THREADS));
	assert_int_equal(fixture_run(f,
		"mov r1, thread_in_grid_x\n"
		"load r4, du0, r1, i32, x, a\n"
		"wait a\n"
		"sinr r5, r4\n"
		"sinc r6, r5\n"
		"fmul r7, r5, r6\n"
		"store r7, du4, r1, i32, x, a\n"
		"stop\n", THREADS), 0);
	for (i = 0; i < THREADS; i++) {
		double angle = i * (4.0 / THREADS) * acos(-1) / 2;

		assert_true(fabs(as_float(out[i]) - sin(angle)) < 1e-6);
	}
}

/* Results that need no oracle */
static void known_results(void **state)
{
	static const struct {
		const char *op;
		uint32_t a, b, want;
	} known[] = {
		/* a denormal is zero, and so is a result that would be one */
		{ "fadd r10, r4, r5", 0x00000001, 0x3f800000, 0x3f800000 },
		{ "fmul r10, r4, r5", 0x00800000, 0x3f000000, 0x00000000 },
		{ "fmul r10, r4, r5", 0x80800000, 0x3f000000, 0x80000000 },
		/* just below the smallest normal number, rounding up to it */
		{ "fmul r10, r4, r5", 0x00800001, 0x3f7fffff, 0x00800000 },
		{ "fmul r10, r4, r5", 0x3f7ffffe, 0x00800001, 0x00000000 },
		/* denormals of a half stay */
		{ "hadd r10l, r4l, r5l", 0x0001, 0x0002, 0x0003 },
		{ "hmul r10l, r4l, r5l", 0x0400, 0x3800, 0x0200 },
		/* one NaN */
		{ "fadd r10, r4, r5", 0x7f800000, 0xff800000, 0x7fc00000 },
		{ "fadd r10, r4, r5", 0xffffffff, 0, 0x7fc00000 },
		/* ties go to even */
		{ "fadd r10, r4, r5", 0x4b800000, 0x3f800000, 0x4b800000 },
		{ "fadd r10, r4, r5", 0x4b800001, 0x3f800000, 0x4b800002 },
		/* signs of zeros */
		{ "fadd r10, r4, r5", 0x80000000, 0x80000000, 0x80000000 },
		{ "fadd r10, r4, r5", 0x80000000, 0x00000000, 0x00000000 },
		{ "fadd r10, r4, -0.0", 0x80000000, 0, 0x80000000 },
		/* saturation: NaN and negative numbers become zero */
		{ "fadd r10, r4, r5, sat", 0x7fc00000, 0, 0 },
		{ "fadd r10, r4, r5, sat", 0xc0000000, 0, 0 },
		{ "fadd r10, r4, r5, sat", 0x40000000, 0, 0x3f800000 },
		/* division is built on these */
		{ "rcp r10, r4", 0x40400000, 0, 0x3eaaaaab },
		{ "rcp r10, r4", 0x00000000, 0, 0x7f800000 },
		{ "rcp r10, r4", 0x80000000, 0, 0xff800000 },
		{ "rcp r10, r4", 0x7f800000, 0, 0x00000000 },
		{ "rcp r10l, r4l", 0x4200, 0, 0x3555 },
		{ "rsqrts r10, r4\nfmul r10, r10, r4", 0, 0, 0 },
		{ "rsqrts r10, r4\nfmul r10, r10, r4", 0x7f800000, 0, 0x7f800000 },
		{ "log2 r10, r4", 0, 0, 0xff800000 },
		{ "exp2 r10, r4", 0xc3160000, 0, 0 },
		{ "f_to_u32 r10, r4, rtz", 0xbf800000, 0, 0 },
		{ "f_to_u32 r10, r4, rtz", 0x7f800000, 0, 0xffffffff },
		{ "f_to_s32 r10, r4, rtz", 0x7fc00000, 0, 0 },
		{ "f_to_s32 r10, r4, rte", 0x40200000, 0, 2 },
		/* immediate: eight bits */
		{ "iadd r10, r4, 255", 1, 0, 256 },
		{ "fmul r10, r4, 31.0", 0x40000000, 0, 0x42780000 },
	};
	struct fixture *f = *state;
	char text[256];
	unsigned int i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		fixture_words()[0] = known[i].a;
		fixture_words()[1] = known[i].b;
		snprintf(text, sizeof(text),
			 "load r4_r5, du0, 0, i32, xy, a\nldimm r10, 0\n"
			 "%s\nstore r10, du0, 2, i32, x, a\nstop\n",
			 known[i].op);
		assert_int_equal(fixture_run(f, text, 1), 0);
		if (fixture_words()[2] != known[i].want)
			fail_msg("%s of 0x%x, 0x%x: 0x%x, expected 0x%x",
				 known[i].op, known[i].a, known[i].b,
				 fixture_words()[2], known[i].want);
	}
}

int main(void)
{
#define CASE(name, op, how, expression)						\
		cmocka_unit_test_setup_teardown(test_##name, fixture_setup,	\
						fixture_teardown),
	const struct CMUnitTest tests[] = {
		CASES
		cmocka_unit_test_setup_teardown(sine, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(known_results, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests_name("core_alu", tests, NULL, NULL);
}
