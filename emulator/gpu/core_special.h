/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Special functions of one lane: logarithm, exponential, reciprocal square roots, and the two
 * halves of a sine. They compute in doubles, so that the result rounded to a float is off by
 * hardly more than half a unit. They are without branches and calls, so that a loop over
 * all lanes can be made a vector's. Inlined in the functions that run them.
 *
 * Logarithms are by the series of the inverse hyperbolic tangent, exponentials and sines by
 * Taylor's; there are so many terms that what is left out is below 2^-44 of the result.
 */
#ifndef VAGX_CORE_SPECIAL_H
#define VAGX_CORE_SPECIAL_H

#include <math.h>
#include <string.h>

#include "clones.h"

static inline uint64_t special_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline double special_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/** special_round() - the nearest whole number, of numbers below 2^51 */
static inline double special_round(double x)
{
	/* the sum has no bits for a fraction */
	return x + 0x1.8p52 - 0x1.8p52;
}

/** special_log2() - logarithm to base 2 of a float that is no denormal */
static inline float special_log2(float x)
{
	/* a mantissa from sqrt(1/2) to sqrt(2): what is near 1 has exponent 0 */
	uint64_t offset = special_bits(x) - 0x3fe6a09e667f3bcdULL;
	double mantissa = special_double((offset & 0x000fffffffffffffULL) +
					 0x3fe6a09e667f3bcdULL);
	/* the exponent as a double, without a conversion of 64 bits: biased by 2048 */
	double exponent = special_double(0x4330000000000000ULL |
					 (((offset >> 52) + 2048) & 0xfff)) - (0x1p52 + 2048);
	double z = (mantissa - 1.0) / (mantissa + 1.0), z2 = z * z;
	double series = 1.0 / 15;
	double result;

	series = series * z2 + 1.0 / 13;
	series = series * z2 + 1.0 / 11;
	series = series * z2 + 1.0 / 9;
	series = series * z2 + 1.0 / 7;
	series = series * z2 + 1.0 / 5;
	series = series * z2 + 1.0 / 3;
	series = series * z2 + 1.0;
	/* 2 / ln 2 */
	result = exponent + z * series * 2.88539008177792681472;
	result = x == 0.0f ? -INFINITY : result;
	result = x == INFINITY ? INFINITY : result;
	return (float)(x >= 0.0f ? result : NAN);
}

/** special_exp2() - two to the power of a float */
static inline float special_exp2(float x)
{
	/* beyond these the result is infinite or zero as a float */
	double limited = x > 300.0f ? 300.0 : x < -300.0f ? -300.0 : (double)x;
	double whole = special_round(limited);
	/* -1/2 to 1/2, times ln 2 */
	double t = (limited - whole) * 0.69314718055994530942;
	double series = 1.0 / 39916800;
	double scale;

	series = series * t + 1.0 / 3628800;
	series = series * t + 1.0 / 362880;
	series = series * t + 1.0 / 40320;
	series = series * t + 1.0 / 5040;
	series = series * t + 1.0 / 720;
	series = series * t + 1.0 / 120;
	series = series * t + 1.0 / 24;
	series = series * t + 1.0 / 6;
	series = series * t + 1.0 / 2;
	series = series * t + 1.0;
	series = series * t + 1.0;
	/* the whole number is in the lowest bits of this sum: it becomes the exponent */
	scale = special_double(special_bits(whole + (0x1.8p52 + 1023)) << 52);
	return x != x ? x : (float)(series * scale);
}

/** special_rsqrt() - reciprocal of the square root */
static inline float special_rsqrt(float x)
{
	return (float)(1.0 / sqrt((double)x));
}

/** special_rsqrt_for_sqrt() - the same, which times x is the square root, also of 0 and infinity */
static inline float special_rsqrt_for_sqrt(float x)
{
	float result = special_rsqrt(x);

	return x == 0.0f || x == INFINITY ? 1.0f : result;
}

/**
 * special_sine_reduce() - first half of a sine: a number of quarter turns, reduced to -1 to 1
 *
 * The sine is the product of two instructions: the second divides the sine of this number by it.
 */
static inline float special_sine_reduce(float x)
{
	float turn = x - 4.0f * floorf(x * 0.25f);
	float rest = turn < 3.0f ? 2.0f - turn : turn - 4.0f;

	return turn < 1.0f ? turn : rest;
}

/** special_sine_quotient() - second half: the sine of @x quarter turns, divided by @x */
static inline float special_sine_quotient(float x)
{
	/* programs that reduce give -1 to 1: others change the sign with each half turn */
	double half_turns = special_round((double)x * 0.5);
	double u = (double)x - 2.0 * half_turns;
	double t = u * 1.57079632679489661923, t2 = t * t;
	double odd = half_turns - 2.0 * special_round(half_turns * 0.5);
	double series = -1.0 / 121645100408832000;
	double sine;

	series = series * t2 + 1.0 / 355687428096000;
	series = series * t2 - 1.0 / 1307674368000;
	series = series * t2 + 1.0 / 6227020800;
	series = series * t2 - 1.0 / 39916800;
	series = series * t2 + 1.0 / 362880;
	series = series * t2 - 1.0 / 5040;
	series = series * t2 + 1.0 / 120;
	series = series * t2 - 1.0 / 6;
	series = series * t2 + 1.0;
	sine = series * t * (1.0 - 2.0 * fabs(odd));
	return x == 0.0f ? 1.57079632679489661923f : (float)(sine / (double)x);
}

#endif /* VAGX_CORE_SPECIAL_H */
