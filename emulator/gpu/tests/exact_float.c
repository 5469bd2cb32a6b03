// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <string.h>

#include "exact_float.h"

__extension__ typedef unsigned __int128 uint128;

#define BITS	(EXACT_WORDS * 64)

const struct exact_format exact_single = {
	.precision = 24, .min = -126, .max = 127, .flush = true, .nan = 0x7fc00000,
};

const struct exact_format exact_half = {
	.precision = 11, .min = -14, .max = 15, .flush = false, .nan = 0x7e00,
};

static bool bit(const struct exact *x, int n)
{
	return n >= 0 && n < BITS && (x->word[n / 64] >> n % 64 & 1);
}

/* Whether there is a bit below the one with this number */
static bool any_below(const struct exact *x, int n)
{
	int i;

	for (i = 0; i < n && i < BITS; i++) {
		if (bit(x, i))
			return true;
	}
	return false;
}

/* Number of the highest bit, or -1 */
static int highest(const struct exact *x)
{
	int i;

	for (i = EXACT_WORDS - 1; i >= 0; i--) {
		if (x->word[i])
			return i * 64 + 63 - __builtin_clzll(x->word[i]);
	}
	return -1;
}

bool exact_is_zero(const struct exact *x)
{
	return x->kind == EXACT_NUMBER && highest(x) < 0;
}

static struct exact no_number(enum exact_kind kind, bool negative)
{
	return (struct exact){ .kind = kind, .negative = negative };
}

/* Adds value times 2^n, which has to fit */
static void add_at(struct exact *x, uint64_t value, int n)
{
	uint128 part = (uint128)value << n % 64;
	uint128 carry = 0;
	int i;

	for (i = n / 64; i < EXACT_WORDS; i++) {
		carry += x->word[i];
		carry += (uint64_t)part;
		x->word[i] = (uint64_t)carry;
		part >>= 64;
		carry >>= 64;
	}
}

struct exact exact_from(bool negative, uint64_t significand, int exponent)
{
	struct exact x = { .negative = negative };

	add_at(&x, significand, exponent + EXACT_UNIT);
	return x;
}

struct exact exact_decode(const struct exact_format *format, uint32_t bits)
{
	unsigned int fraction_bits = format->precision - 1;
	uint32_t fraction = bits & ((1u << fraction_bits) - 1);
	int exponent = bits >> fraction_bits & (2 * format->max + 1);
	bool negative = bits >> (fraction_bits + (format == &exact_half ? 5 : 8)) & 1;

	if (exponent == 2 * format->max + 1)
		return no_number(fraction ? EXACT_NAN : EXACT_INFINITY, negative);
	if (!exponent)
		return exact_from(negative, format->flush ? 0 : fraction,
				  format->min - (int)fraction_bits);
	return exact_from(negative, fraction | 1u << fraction_bits,
			  exponent - format->max - (int)fraction_bits);
}

/* The bits of a float, which are few; @low becomes the number of the lowest */
static uint64_t significant(const struct exact *x, int *low)
{
	int top = highest(x), i;
	uint64_t bits = 0;

	*low = top < 31 ? 0 : top - 31;
	for (i = 0; top >= 0 && i < 32; i++)
		bits |= (uint64_t)bit(x, *low + i) << i;
	return bits;
}

struct exact exact_multiply(const struct exact *a, const struct exact *b)
{
	bool negative = a->negative != b->negative;
	int low_a, low_b, shift;
	uint64_t product;

	if (a->kind == EXACT_NAN || b->kind == EXACT_NAN)
		return no_number(EXACT_NAN, false);
	if (a->kind == EXACT_INFINITY || b->kind == EXACT_INFINITY)
		return no_number(exact_is_zero(a) || exact_is_zero(b) ? EXACT_NAN :
				 EXACT_INFINITY, negative);
	product = significant(a, &low_a) * significant(b, &low_b);
	for (shift = low_a + low_b - 2 * EXACT_UNIT; shift < -EXACT_UNIT; shift++)
		product >>= 1;
	return exact_from(negative, product, shift);
}

static int compare_magnitude(const struct exact *a, const struct exact *b)
{
	int i;

	for (i = EXACT_WORDS - 1; i >= 0; i--) {
		if (a->word[i] != b->word[i])
			return a->word[i] < b->word[i] ? -1 : 1;
	}
	return 0;
}

/* Of magnitudes; @a is not smaller when they are subtracted */
static struct exact sum_of(const struct exact *a, const struct exact *b, bool subtract)
{
	struct exact sum = *a;
	unsigned int carry = subtract;
	int i;

	for (i = 0; i < EXACT_WORDS; i++) {
		uint128 n = (uint128)a->word[i] + (subtract ? ~b->word[i] : b->word[i]) + carry;

		sum.word[i] = (uint64_t)n;
		carry = n >> 64;
	}
	return sum;
}

struct exact exact_add(const struct exact *a, const struct exact *b)
{
	struct exact sum;

	if (a->kind == EXACT_NAN || b->kind == EXACT_NAN ||
	    (a->kind == EXACT_INFINITY && b->kind == EXACT_INFINITY &&
	     a->negative != b->negative))
		return no_number(EXACT_NAN, false);
	if (a->kind == EXACT_INFINITY || b->kind == EXACT_INFINITY)
		return a->kind == EXACT_INFINITY ? *a : *b;
	if (a->negative == b->negative)
		return sum_of(a, b, false);
	sum = compare_magnitude(a, b) < 0 ? sum_of(b, a, true) : sum_of(a, b, true);
	/* A zero that two numbers add up to has no sign */
	sum.negative = sum.negative && highest(&sum) >= 0;
	return sum;
}

int exact_compare(const struct exact *a, const struct exact *b)
{
	int order;

	if (exact_is_zero(a) && exact_is_zero(b))
		return 0;
	if (a->negative != b->negative)
		return a->negative ? -1 : 1;
	if (a->kind != b->kind)
		order = a->kind == EXACT_INFINITY ? 1 : -1;
	else
		order = compare_magnitude(a, b);
	return a->negative ? -order : order;
}

static uint32_t infinity(const struct exact_format *format)
{
	return (uint32_t)(2 * format->max + 1) << (format->precision - 1);
}

/* Bits of a number without its sign */
static uint32_t encode_magnitude(const struct exact_format *format, const struct exact *x,
				 bool to_zero)
{
	int top = highest(x), least = format->min + EXACT_UNIT, low, i;
	uint32_t significand_bits = 0, result;

	if (top < 0 || (format->flush && top < least))
		return 0;
	/* Numbers below the smallest normal one have its last place */
	low = (top < least ? least : top) - (int)format->precision + 1;
	for (i = 0; i < (int)format->precision; i++)
		significand_bits |= (uint32_t)bit(x, low + i) << i;
	if (!to_zero && bit(x, low - 1) && (any_below(x, low - 1) || (significand_bits & 1)))
		significand_bits++;

	/* The one in front of a normal number counts its exponent up, as does a carry */
	result = significand_bits;
	if (top >= least)
		result += (uint32_t)(top - least) << (format->precision - 1);
	if (result >= infinity(format))
		result = to_zero ? infinity(format) - 1 : infinity(format);
	return result;
}

uint32_t exact_encode(const struct exact_format *format, const struct exact *x, bool to_zero)
{
	uint32_t sign = x->negative ? format == &exact_half ? 0x8000 : 0x80000000 : 0;

	if (x->kind == EXACT_NAN)
		return format->nan;
	if (x->kind == EXACT_INFINITY)
		return sign | infinity(format);
	return sign | encode_magnitude(format, x, to_zero);
}

struct exact exact_round(const struct exact *x, enum exact_rounding rounding)
{
	bool lost = any_below(x, EXACT_UNIT), up = false;
	struct exact whole = *x;

	if (x->kind != EXACT_NUMBER)
		return *x;
	memset(whole.word, 0, EXACT_UNIT / 64 * 8);
	switch (rounding) {
	case EXACT_DOWN:
		up = lost && x->negative;
		break;
	case EXACT_UP:
		up = lost && !x->negative;
		break;
	case EXACT_TO_ZERO:
		break;
	case EXACT_TO_EVEN:
		up = bit(x, EXACT_UNIT - 1) &&
		     (any_below(x, EXACT_UNIT - 1) || bit(x, EXACT_UNIT));
		break;
	}
	if (up)
		add_at(&whole, 1, EXACT_UNIT);
	return whole;
}

int64_t exact_to_integer(const struct exact *x, uint64_t max_positive, uint64_t max_negative)
{
	uint64_t most = x->negative ? max_negative : max_positive;
	uint64_t n = x->word[EXACT_UNIT / 64];

	if (x->kind == EXACT_NAN)
		return 0;
	if (x->kind == EXACT_INFINITY || highest(x) >= EXACT_UNIT + 40 || n > most)
		n = most;
	return x->negative ? -(int64_t)n : (int64_t)n;
}

_Static_assert(EXACT_UNIT % 64 == 0, "whole numbers begin with a word");
