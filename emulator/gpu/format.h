/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Memory formats, AGX_FORMAT_*: of loads and stores, of tiles, and of images.
 */
#ifndef VAGX_FORMAT_H
#define VAGX_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "agx_float.h"

struct float_lanes;
struct lanes;

/** vagx_format_log2_size() - bytes of an element, as a power of two */
unsigned int vagx_format_log2_size(unsigned int format);

/** vagx_format_is_packed() - whether all components share one element */
bool vagx_format_is_packed(unsigned int format);

/**
 * vagx_format_to_float() - decode an element of one component
 * @format: a format that is not packed
 * @component: component, 0 to 3; the fourth of sRGB is linear
 * @bits: bits of the element
 * @value: gets the value
 *
 * Return: false for formats whose elements are copied as they are.
 */
bool vagx_format_to_float(unsigned int format, unsigned int component,
			  uint32_t bits, float *value);

/** vagx_format_to_floats() - vagx_format_to_float() in all lanes, of a format that it decodes */
void vagx_format_to_floats(unsigned int format, unsigned int component, const struct lanes *bits,
			   struct float_lanes *value);

/** vagx_format_load() - vagx_format_to_float() of a load, whose sRGB is multiples of 1/4095 */
bool vagx_format_load(unsigned int format, unsigned int component, uint32_t bits, float *value);

/** vagx_format_unorm8_table() - the value of each of 256 bytes, linear or sRGB; from 0 to 1 */
const float *vagx_format_unorm8_table(bool srgb);

/**
 * vagx_format_from_float() - encode a component, rounded to the nearest element
 * @format: a format for which vagx_format_to_float() returns true
 * @component: component, 0 to 3
 * @value: the value; clamped
 */
uint32_t vagx_format_from_float(unsigned int format, unsigned int component,
				float value);

/** vagx_format_from_float_by_table() - vagx_format_from_float(), with a table for sRGB */
uint32_t vagx_format_from_float_by_table(unsigned int format, unsigned int component, float value);

/** vagx_format_from_floats() - encode a component in all lanes */
void vagx_format_from_floats(unsigned int format, unsigned int component,
			     const struct float_lanes *value, struct lanes *bits);

/**
 * vagx_format_unpack() - decode a packed element
 * @format: a packed format
 * @word: the element
 * @value: gets up to four values
 *
 * Return: how many components there are.
 */
unsigned int vagx_format_unpack(unsigned int format, uint32_t word,
				float *value);

/**
 * vagx_format_pack() - encode a packed element
 * @format: a packed format
 * @value: four numbers; those that the format does not have are ignored
 */
uint32_t vagx_format_pack(unsigned int format, const float *value);

/** format_clamp() - limit a value to a range; NaN becomes 0, which all ranges contain */
static inline float format_clamp(float value, float min, float max)
{
	if (value != value)
		return 0.0f;
	return value < min ? min : value > max ? max : value;
}

/**
 * format_round() - round to the nearest integer, ties to even; below 2^22
 *
 * Adding 1.5 * 2^23 leaves no bits for a fraction; a call of libm's would take longer than all the
 * rest.
 */
static inline int32_t format_round(float value)
{
	return (int32_t)(float_bits(value + 0x1.8p23f) - 0x4b400000);
}

/** vagx_format_unorm8_from_float() - the linear byte of a value, 0 to 255 */
static inline uint32_t vagx_format_unorm8_from_float(float value)
{
	/* as format_clamp(), by two instructions: NaN is not above 0 */
	const float positive = value > 0 ? value : 0, clamped = positive < 1 ? positive : 1;

	return (uint32_t)format_round(clamped * 255.0f);
}

/** vagx_format_unorm8_to_float() - the value of a linear byte, 0 to 1 */
static inline float vagx_format_unorm8_to_float(uint32_t byte)
{
	const float number = (float)(int32_t)byte;

	/* byte / 255, to the last bit, of each of them: 1/255 is the sum of these two */
	return number * (1 / 256.0f) + number * (1 / 65280.0f);
}

#endif /* VAGX_FORMAT_H */
