/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Floats without floats: sums and products of 32-bit and 16-bit floats as whole
 * numbers that are long enough to be exact, rounded once.
 */
#ifndef EXACT_FLOAT_H
#define EXACT_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

enum exact_kind {
	EXACT_NUMBER,
	EXACT_INFINITY,
	EXACT_NAN,
};

/* Bit 0 stands for 2^-EXACT_UNIT: products of the smallest numbers have bits there */
#define EXACT_UNIT	320
#define EXACT_WORDS	10

/** struct exact - a number, or something that is none */
struct exact {
	enum exact_kind kind;
	bool negative;
	uint64_t word[EXACT_WORDS];
};

/** struct exact_format - a format to round to */
struct exact_format {
	/* bits of a significand, with the one in front */
	unsigned int precision;
	/* exponents of the smallest and the largest normal number */
	int min, max;
	/* numbers below the smallest normal one, before rounding, become zero */
	bool flush;
	uint32_t nan;
};

extern const struct exact_format exact_single, exact_half;

/** exact_from() - @significand times 2^@exponent */
struct exact exact_from(bool negative, uint64_t significand, int exponent);

/** exact_decode() - the number that bits stand for */
struct exact exact_decode(const struct exact_format *format, uint32_t bits);

struct exact exact_multiply(const struct exact *a, const struct exact *b);
struct exact exact_add(const struct exact *a, const struct exact *b);

/** exact_encode() - round, to nearest even or to zero */
uint32_t exact_encode(const struct exact_format *format, const struct exact *x, bool to_zero);

/** exact_compare() - the sign of @a - @b, neither of which is NaN */
int exact_compare(const struct exact *a, const struct exact *b);

bool exact_is_zero(const struct exact *x);

enum exact_rounding {
	EXACT_DOWN,
	EXACT_UP,
	EXACT_TO_ZERO,
	EXACT_TO_EVEN,
};

/** exact_round() - the whole number next to a number */
struct exact exact_round(const struct exact *x, enum exact_rounding rounding);

/** exact_to_integer() - a whole number, at most @max_positive or -@max_negative; NaN is 0 */
int64_t exact_to_integer(const struct exact *x, uint64_t max_positive, uint64_t max_negative);

#endif /* EXACT_FLOAT_H */
