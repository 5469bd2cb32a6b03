/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Floats as bits, and 16-bit floats. Without branches, so that a loop over many
 * of them can be made a vector's.
 */
#ifndef AGX_FLOAT_H
#define AGX_FLOAT_H

#include <stdint.h>
#include <string.h>

static inline uint32_t float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float bits_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline float float_from_half(uint32_t half)
{
	uint32_t sign = (half & 0x8000) << 16;
	uint32_t rest = (half & 0x7fff) << 13;
	/* 2^112: the difference of the exponents' biases, denormals included */
	uint32_t bits = float_bits(bits_float(rest) * 0x1p112f);

	if ((half & 0x7c00) == 0x7c00)
		bits = rest | 0x7f800000;
	return bits_float(bits | sign);
}

/* Rounds to nearest even */
static inline uint32_t half_from_float(float value)
{
	uint32_t bits = float_bits(value);
	uint32_t sign = bits >> 16 & 0x8000;
	uint32_t rest = bits & 0x7fffffff;
	uint32_t special = rest > 0x7f800000 ? 0x7e00 : 0x7c00;
	/* The exponent's bias moves by 112 while 13 bits are rounded away */
	uint32_t normal = (rest - (112u << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
	/* Next to 0.5, a unit is what it is next to a half's zero */
	uint32_t tiny = float_bits(bits_float(rest) + 0.5f) - 0x3f000000;
	uint32_t half = rest < 0x38800000 ? tiny : normal;

	return sign | (rest >= 0x47800000 ? special : half);
}

#endif /* AGX_FLOAT_H */
