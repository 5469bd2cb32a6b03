// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Memory formats of loads, stores and tiles (applegpu "applegpu.py"): UNORM, SNORM, sRGB (IEC
 * 61966-2-1), small floats (OpenGL specification, "Unsigned 11-Bit Floating-Point Numbers") and
 * shared exponents (EXT_texture_shared_exponent), to floats and back, rounded to nearest even but
 * for shared exponents. What an M1's loads make of sRGB is in applegpu's "srgb.py".
 *
 * Tables are made once, on first use, by pthread_once(); after that they are read only, and all
 * functions may be called from any thread.
 */
#include <math.h>
#include <pthread.h>

#include "core_float.h"
#include "format.h"

unsigned int vagx_format_log2_size(unsigned int format)
{
	switch (format) {
	case AGX_FORMAT_I16:
	case AGX_FORMAT_F16:
	case AGX_FORMAT_U16NORM:
	case AGX_FORMAT_S16NORM:
		return 1;
	case AGX_FORMAT_I8:
	case AGX_FORMAT_U8NORM:
	case AGX_FORMAT_S8NORM:
	case AGX_FORMAT_SRGBA8:
		return 0;
	default:
		return 2;
	}
}

bool vagx_format_is_packed(unsigned int format)
{
	switch (format) {
	case AGX_FORMAT_RGB10A2:
	case AGX_FORMAT_RG11B10F:
	case AGX_FORMAT_RGB9E5:
	case AGX_FORMAT_RG11B10F_RTZ:
	case AGX_FORMAT_RGB9E5_RTZ:
		return true;
	default:
		return false;
	}
}

static float format_from_srgb(float value)
{
	if (value <= 0.04045f)
		return value / 12.92f;
	return powf((value + 0.055f) / 1.055f, 2.4f);
}

/* Values of bytes: powf() would take most of the time of reading textures */
static float format_unorm8_table[256], format_srgb8_table[256], format_srgb8_loads[256];
static pthread_once_t format_unorm8_once = PTHREAD_ONCE_INIT;

static void format_make_unorm8_tables(void)
{
	unsigned int i;

	for (i = 0; i < 256; i++) {
		format_unorm8_table[i] = i / 255.0f;
		format_srgb8_table[i] = format_from_srgb(i / 255.0f);
		/* Loads have a table of 12 bits. Whether textures have it, too, is not known. */
		format_srgb8_loads[i] = roundf(format_srgb8_table[i] * 4095.0f) / 4095.0f;
	}
}

const float *vagx_format_unorm8_table(bool srgb)
{
	pthread_once(&format_unorm8_once, format_make_unorm8_tables);
	return srgb ? format_srgb8_table : format_unorm8_table;
}

static float format_decode_srgb(uint32_t code)
{
	return code < 256 ? vagx_format_unorm8_table(true)[code] : format_from_srgb(code / 255.0f);
}

static float format_to_srgb(float value)
{
	if (value <= 0.0031308f)
		return value * 12.92f;
	return 1.055f * powf(value, 1.0f / 2.4f) - 0.055f;
}

/* Floats of five exponent bits and no sign: halves without the lowest bits of the mantissa */
static float format_from_small_float(uint32_t bits, unsigned int mantissa)
{
	return float_from_half(bits << (10 - mantissa));
}

/*
 * Rounds once, from the float: by way of a half, some values in the middle would be rounded twice.
 * Finite numbers stay finite (OpenGL specification, "Unsigned 11-Bit Floating-Point Numbers").
 */
static uint32_t format_to_small_float(float value, unsigned int mantissa, bool rtz)
{
	const uint32_t infinity = 31u << mantissa;
	uint32_t code;
	float scaled;
	int exponent;

	if (value != value)
		return infinity | 1;
	if (value <= 0.0f)
		return 0;
	if (isinf(value))
		return infinity;
	if (value >= 0x1p16f)
		return infinity - 1;
	/* value is from 2^exponent on, and below twice that; denormals have the least exponent */
	frexpf(value, &exponent);
	exponent = exponent - 1 < -14 ? -14 : exponent - 1;
	scaled = ldexpf(value, (int)mantissa - exponent);
	/* a mantissa of 1 and more adds its 1 to the exponent */
	code = ((uint32_t)(exponent + 14) << mantissa) +
	       (uint32_t)(rtz ? truncf(scaled) : nearbyintf(scaled));
	return code < infinity ? code : infinity - 1;
}

static float format_from_shared_exponent(uint32_t word, unsigned int component)
{
	return ldexpf((float)(word >> component * 9 & 0x1ff),
		      (int)(word >> 27) - 15 - 9);
}

/* Rounds halves up, as the formula of the specification does */
static uint32_t format_to_shared_exponent(const float *rgb, bool rtz)
{
	float largest = 0x1.ffp15f, c[3], max = 0.0f;
	uint32_t word = 0;
	int exponent, i;

	for (i = 0; i < 3; i++) {
		c[i] = format_clamp(rgb[i], 0.0f, largest);
		max = c[i] > max ? c[i] : max;
	}
	frexpf(max, &exponent);
	exponent = max == 0.0f || exponent < -15 ? -15 : exponent;
	if (!rtz && roundf(ldexpf(max, 9 - exponent)) > 511.0f)
		exponent++;

	for (i = 0; i < 3; i++) {
		float scaled = ldexpf(c[i], 9 - exponent);
		uint32_t n = rtz ? truncf(scaled) : roundf(scaled);

		word |= (n > 511 ? 511 : n) << i * 9;
	}
	return word | (uint32_t)(exponent + 15) << 27;
}

bool vagx_format_to_float(unsigned int format, unsigned int component,
			  uint32_t bits, float *value)
{
	float n;

	switch (format) {
	case AGX_FORMAT_U8NORM:
		*value = bits / 255.0f;
		return true;
	case AGX_FORMAT_S8NORM:
		n = (int8_t)(uint8_t)bits / 127.0f;
		*value = n < -1.0f ? -1.0f : n;
		return true;
	case AGX_FORMAT_U16NORM:
		*value = bits / 65535.0f;
		return true;
	case AGX_FORMAT_S16NORM:
		n = extend16(bits) / 32767.0f;
		*value = n < -1.0f ? -1.0f : n;
		return true;
	case AGX_FORMAT_SRGBA8:
		*value = component == 3 ? bits / 255.0f : format_decode_srgb(bits);
		return true;
	default:
		return false;
	}
}

CLONES void vagx_format_to_floats(unsigned int format, unsigned int component,
				  const struct lanes *bits, struct float_lanes *value)
{
	const float *table;
	unsigned int i;

	/* The fourth component of sRGB is linear */
	if (format == AGX_FORMAT_U8NORM || (format == AGX_FORMAT_SRGBA8 && component == 3)) {
		for (i = 0; i < LANES; i++)
			value->v[i] = vagx_format_unorm8_to_float(bits->v[i]);
	} else if (format == AGX_FORMAT_SRGBA8) {
		table = vagx_format_unorm8_table(true);
		for (i = 0; i < LANES; i++)
			value->v[i] = table[bits->v[i] & 0xff];
	} else {
		for (i = 0; i < LANES; i++)
			vagx_format_to_float(format, component, bits->v[i], &value->v[i]);
	}
}

bool vagx_format_load(unsigned int format, unsigned int component, uint32_t bits, float *value)
{
	if (format != AGX_FORMAT_SRGBA8 || component == 3)
		return vagx_format_to_float(format, component, bits, value);
	pthread_once(&format_unorm8_once, format_make_unorm8_tables);
	*value = format_srgb8_loads[bits & 0xff];
	return true;
}

uint32_t vagx_format_from_float(unsigned int format, unsigned int component,
				float value)
{
	switch (format) {
	case AGX_FORMAT_U8NORM:
		return vagx_format_unorm8_from_float(value);
	case AGX_FORMAT_S8NORM:
		return (uint32_t)format_round(format_clamp(value, -1, 1) *
						     127.0f);
	case AGX_FORMAT_U16NORM:
		return (uint32_t)format_round(format_clamp(value, 0, 1) * 65535.0f);
	case AGX_FORMAT_S16NORM:
		return (uint32_t)format_round(format_clamp(value, -1, 1) *
						     32767.0f);
	default:
		value = format_clamp(value, 0, 1);
		if (component != 3)
			value = format_to_srgb(value);
		return (uint32_t)format_round(value * 255.0f);
	}
}

/*
 * Encoding of sRGB by a table, as powf() would take most of the time of a clear. Floats with the
 * same upper 16 bits have at most two sRGB codes: an entry has the lesser one in its upper byte,
 * and the lower 16 bits from which on the code is the next one, 0x10000 if it never is. Below
 * the first entry, 2^-9, sRGB is linear.
 */
#define SRGB_FIRST	0x3b00u
#define SRGB_LAST	0x3f80u
#define SRGB_CODE	24
#define SRGB_NEXT	0xffffffu

static uint32_t format_srgb_table[SRGB_LAST - SRGB_FIRST + 1];
static pthread_once_t format_srgb_once = PTHREAD_ONCE_INIT;

static uint32_t format_srgb_code(uint32_t bits)
{
	return vagx_format_from_float(AGX_FORMAT_SRGBA8, 0, bits_float(bits));
}

static void format_make_srgb_table(void)
{
	uint32_t half;

	for (half = SRGB_FIRST; half <= SRGB_LAST; half++) {
		const uint32_t first = half << 16, code = format_srgb_code(first);
		uint32_t low = first, high = first + 0x10000;

		/* @low has that code; @high has another one, or is the next entry's */
		while (high - low > 1) {
			uint32_t middle = low + (high - low) / 2;

			if (format_srgb_code(middle) == code)
				low = middle;
			else
				high = middle;
		}
		format_srgb_table[half - SRGB_FIRST] = code << SRGB_CODE | (high - first);
	}
}

/* Whether a clamped value is beyond the table; -0 is above all others */
static inline bool format_is_linear(uint32_t bits)
{
	return bits >> 16 < SRGB_FIRST || bits >> 16 > SRGB_LAST;
}

static inline uint32_t format_srgb_from_entry(float clamped, uint32_t entry)
{
	const uint32_t bits = float_bits(clamped);
	const uint32_t linear = (uint32_t)format_round(clamped * 12.92f * 255.0f);
	const uint32_t code = (entry >> SRGB_CODE) + ((bits & 0xffff) >= (entry & SRGB_NEXT));

	return format_is_linear(bits) ? linear : code;
}

static inline uint32_t format_srgb_entry(float clamped)
{
	const uint32_t bits = float_bits(clamped);

	return format_srgb_table[format_is_linear(bits) ? 0 : (bits >> 16) - SRGB_FIRST];
}

static inline uint32_t format_encode_srgb(float value)
{
	const float clamped = format_clamp(value, 0, 1);

	return format_srgb_from_entry(clamped, format_srgb_entry(clamped));
}

/* Encodes all lanes, in loops that compilers vectorise but for the one that reads the table */
static inline void format_encode_srgb_lanes(const struct float_lanes *value, struct lanes *bits)
{
	struct float_lanes clamped;
	struct lanes entry;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		clamped.v[i] = format_clamp(value->v[i], 0, 1);
	for (i = 0; i < LANES; i++)
		entry.v[i] = format_srgb_entry(clamped.v[i]);
	for (i = 0; i < LANES; i++)
		bits->v[i] = format_srgb_from_entry(clamped.v[i], entry.v[i]);
}

uint32_t vagx_format_from_float_by_table(unsigned int format, unsigned int component, float value)
{
	if (format != AGX_FORMAT_SRGBA8 || component == 3)
		return vagx_format_from_float(format, component, value);
	pthread_once(&format_srgb_once, format_make_srgb_table);
	return format_encode_srgb(value);
}

CLONES void vagx_format_from_floats(unsigned int format, unsigned int component,
				    const struct float_lanes *value, struct lanes *bits)
{
	unsigned int i;

	/* The fourth component of sRGB is linear */
	if (format == AGX_FORMAT_U8NORM || (format == AGX_FORMAT_SRGBA8 && component == 3)) {
		for (i = 0; i < LANES; i++)
			bits->v[i] = vagx_format_unorm8_from_float(value->v[i]);
	} else if (format == AGX_FORMAT_SRGBA8) {
		pthread_once(&format_srgb_once, format_make_srgb_table);
		format_encode_srgb_lanes(value, bits);
	} else {
		for (i = 0; i < LANES; i++)
			bits->v[i] = vagx_format_from_float(format, component, value->v[i]);
	}
}

unsigned int vagx_format_unpack(unsigned int format, uint32_t word,
				float *value)
{
	unsigned int i;

	switch (format) {
	case AGX_FORMAT_RGB10A2:
		for (i = 0; i < 3; i++)
			value[i] = (word >> i * 10 & 0x3ff) / 1023.0f;
		value[3] = (word >> 30) / 3.0f;
		return 4;
	case AGX_FORMAT_RG11B10F:
	case AGX_FORMAT_RG11B10F_RTZ:
		value[0] = format_from_small_float(word & 0x7ff, 6);
		value[1] = format_from_small_float(word >> 11 & 0x7ff, 6);
		value[2] = format_from_small_float(word >> 22, 5);
		return 3;
	default:
		for (i = 0; i < 3; i++)
			value[i] = format_from_shared_exponent(word, i);
		return 3;
	}
}

uint32_t vagx_format_pack(unsigned int format, const float *value)
{
	bool rtz = format == AGX_FORMAT_RG11B10F_RTZ ||
		   format == AGX_FORMAT_RGB9E5_RTZ;
	uint32_t word = 0;
	unsigned int i;

	switch (format) {
	case AGX_FORMAT_RGB10A2:
		for (i = 0; i < 3; i++)
			word |= (uint32_t)nearbyintf(format_clamp(value[i], 0, 1) *
						     1023.0f) << i * 10;
		return word | (uint32_t)nearbyintf(format_clamp(value[3], 0, 1) *
						   3.0f) << 30;
	case AGX_FORMAT_RG11B10F:
	case AGX_FORMAT_RG11B10F_RTZ:
		return format_to_small_float(value[0], 6, rtz) |
		       format_to_small_float(value[1], 6, rtz) << 11 |
		       format_to_small_float(value[2], 5, rtz) << 22;
	default:
		return format_to_shared_exponent(value, rtz);
	}
}
