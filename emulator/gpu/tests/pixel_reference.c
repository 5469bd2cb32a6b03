// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <math.h>
#include <string.h>

#include "agx_packets.h"
#include "pixel_reference.h"

/* The channels, types and tiles' formats of mesa src/asahi/layout/formats.c */
#define FORMAT(channels_, type_, tile_, ...) {						\
		.name = #channels_ " " #type_,						\
		.channels = AGX_CHANNELS_##channels_, .type = AGX_TEXTURE_TYPE_##type_,	\
		.bits = { __VA_ARGS__ }, .tile = tile_ }
#define SRGB(channels_, ...) {								\
		.name = #channels_ " sRGB", .channels = AGX_CHANNELS_##channels_,	\
		.type = AGX_TEXTURE_TYPE_UNORM, .bits = { __VA_ARGS__ }, .srgb = true,	\
		.tile = "srgba8" }

const struct pixel_format pixel_formats[] = {
	FORMAT(R5G6B5, UNORM, "f16", 5, 6, 5),
	FORMAT(R5G5B5A1, UNORM, "f16", 5, 5, 5, 1),
	FORMAT(R4G4B4A4, UNORM, "f16", 4, 4, 4, 4),
	FORMAT(R10G10B10A2, UNORM, "rgb10a2", 10, 10, 10, 2),
	FORMAT(R8, UNORM, "u8norm", 8),
	FORMAT(R8G8, UNORM, "u8norm", 8, 8),
	FORMAT(R8G8B8A8, UNORM, "u8norm", 8, 8, 8, 8),
	FORMAT(R16, UNORM, "u16norm", 16),
	FORMAT(R16G16, UNORM, "u16norm", 16, 16),
	FORMAT(R16G16B16A16, UNORM, "u16norm", 16, 16, 16, 16),
	FORMAT(R8, SNORM, "s8norm", 8),
	FORMAT(R8G8, SNORM, "s8norm", 8, 8),
	FORMAT(R8G8B8A8, SNORM, "s8norm", 8, 8, 8, 8),
	FORMAT(R16, SNORM, "s16norm", 16),
	FORMAT(R16G16, SNORM, "s16norm", 16, 16),
	FORMAT(R16G16B16A16, SNORM, "s16norm", 16, 16, 16, 16),
	SRGB(R8, 8),
	SRGB(R8G8, 8, 8),
	SRGB(R8G8B8A8, 8, 8, 8, 8),
	FORMAT(R16, FLOAT, "f16", 16),
	FORMAT(R16G16, FLOAT, "f16", 16, 16),
	FORMAT(R16G16B16A16, FLOAT, "f16", 16, 16, 16, 16),
	FORMAT(R32, FLOAT, "i32", 32),
	FORMAT(R32G32, FLOAT, "i32", 32, 32),
	FORMAT(R32G32B32A32, FLOAT, "i32", 32, 32, 32, 32),
	FORMAT(R11G11B10, FLOAT, "rg11b10f", 11, 11, 10),
	FORMAT(R9G9B9E5, FLOAT, "rgb9e5", 9, 9, 9, 5),
	FORMAT(R8, UINT, "i8", 8),
	FORMAT(R8G8, UINT, "i8", 8, 8),
	FORMAT(R8G8B8A8, UINT, "i8", 8, 8, 8, 8),
	FORMAT(R10G10B10A2, UINT, "i16", 10, 10, 10, 2),
	FORMAT(R16, UINT, "i16", 16),
	FORMAT(R16G16B16A16, UINT, "i16", 16, 16, 16, 16),
	FORMAT(R32, UINT, "i32", 32),
	FORMAT(R32G32B32A32, UINT, "i32", 32, 32, 32, 32),
	FORMAT(R8, SINT, "i8", 8),
	FORMAT(R8G8B8A8, SINT, "i8", 8, 8, 8, 8),
	FORMAT(R16G16, SINT, "i16", 16, 16),
	FORMAT(R16G16B16A16, SINT, "i16", 16, 16, 16, 16),
	FORMAT(R32, SINT, "i32", 32),
	FORMAT(R32G32B32A32, SINT, "i32", 32, 32, 32, 32),
};

const unsigned int pixel_format_count = sizeof(pixel_formats) / sizeof(pixel_formats[0]);

unsigned int pixel_bytes(const struct pixel_format *f)
{
	return (f->bits[0] + f->bits[1] + f->bits[2] + f->bits[3]) / 8;
}

bool pixel_is_integer(const struct pixel_format *f)
{
	return f->type == AGX_TEXTURE_TYPE_UINT || f->type == AGX_TEXTURE_TYPE_SINT;
}

/* The bits of a channel; the first bit of the first byte is the lowest one */
static uint32_t pixel_get_channel(const struct pixel_format *f, const uint8_t *pixel,
				  unsigned int channel)
{
	unsigned int at = 0, i;
	uint32_t code = 0;

	for (i = 0; i < channel; i++)
		at += f->bits[i];
	for (i = 0; i < f->bits[channel]; i++, at++)
		code |= (uint32_t)(pixel[at / 8] >> at % 8 & 1) << i;
	return code;
}

/* A float of five exponent bits, without its sign */
static double pixel_from_small_float(uint32_t code, unsigned int mantissa)
{
	const double part = (double)(code & ((1u << mantissa) - 1)) / (1u << mantissa);
	const int exponent = (int)(code >> mantissa);

	if (exponent == 31)
		return part == 0 ? (double)INFINITY : (double)NAN;
	return exponent ? ldexp(1 + part, exponent - 15) : ldexp(part, -14);
}

double pixel_from_half(uint32_t bits)
{
	const double value = pixel_from_small_float(bits & 0x7fff, 10);

	return bits & 0x8000 ? -value : value;
}

/*
 * The code of the number that is nearest to a finite, positive value, or the next one towards
 * zero. Codes are in the order of their values. @infinite: numbers from half a step above the
 * last one on are infinite.
 */
static uint32_t pixel_search(double value, unsigned int mantissa, bool toward_zero, bool infinite)
{
	const uint32_t last = (31u << mantissa) - 1;
	uint32_t low = 0, high = last + 1;
	double below, above;

	while (high - low > 1) {
		const uint32_t middle = (low + high) / 2;

		if (pixel_from_small_float(middle, mantissa) <= value)
			low = middle;
		else
			high = middle;
	}
	below = pixel_from_small_float(low, mantissa);
	above = low == last ? 65536 : pixel_from_small_float(low + 1, mantissa);
	if (toward_zero || value - below < above - value || (low == last && !infinite))
		return low;
	return value - below > above - value ? low + 1 : low + (low & 1);
}

uint32_t pixel_half(double value)
{
	const uint32_t sign = signbit(value) ? 0x8000 : 0;

	if (isnan(value))
		return 0x7e00;
	if (isinf(value) || fabs(value) >= 65536)
		return sign | 0x7c00;
	return sign | pixel_search(fabs(value), 10, false, true);
}

/* OpenGL specification, "Unsigned 11-Bit Floating-Point Numbers", and that of 10 bits */
uint32_t pixel_small_float(double value, unsigned int mantissa, bool toward_zero)
{
	const uint32_t infinity = 31u << mantissa;

	if (isnan(value))
		return infinity + 1;
	if (value <= 0)
		return 0;
	if (isinf(value))
		return infinity;
	return pixel_search(value, mantissa, toward_zero, false);
}

/* Vulkan specification, "Shared Exponent to RGB" and its inverse */
uint32_t pixel_shared_exponent(const float value[3], bool toward_zero)
{
	const double most = 511 / 512.0 * 65536;
	double c[3], max = 0, unit;
	uint32_t word = 0;
	int exponent, i;

	for (i = 0; i < 3; i++) {
		c[i] = !(value[i] > 0) ? 0 : value[i] < most ? value[i] : most;
		max = fmax(max, c[i]);
	}
	exponent = max > 0 ? (int)floor(log2(max)) : -16;
	exponent = (exponent < -16 ? -16 : exponent) + 1 + 15;
	unit = ldexp(1, exponent - 15 - 9);
	if (!toward_zero && floor(max / unit + 0.5) == 512) {
		exponent++;
		unit *= 2;
	}
	for (i = 0; i < 3; i++)
		word |= (uint32_t)floor(c[i] / unit + (toward_zero ? 0 : 0.5)) << 9 * i;
	return word | (uint32_t)exponent << 27;
}

/*
 * vagx multiplies floats, as drivers of processors do, so a product that is but a rounding error
 * away from the middle may be either: Vulkan allows both.
 */
bool pixel_is_near(double value, double max, double code)
{
	const double exact = isnan(value) ? 0 : value * max, error = fabs(exact) * 0x1p-23;

	if (code == nearbyint(exact))
		return true;
	return exact != floor(exact) + 0.5 && fabs(exact - code) <= 0.5 + error;
}

static double pixel_from_srgb(double value)
{
	return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static double pixel_to_srgb(double value)
{
	return value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055;
}

static double pixel_clamp(double value, double least)
{
	return isnan(value) ? 0 : value < least ? least : value > 1 ? 1 : value;
}

/* The curve's exponents are rounded to floats: 0.0002 of a step are left for that */
bool pixel_is_srgb(double value, unsigned int code)
{
	return fabs(pixel_to_srgb(pixel_clamp(value, 0)) * 255 - code) <= 0.5002;
}

/* The value of a channel's bits as a signed number */
static double pixel_signed(uint32_t code, unsigned int bits)
{
	return code >> (bits - 1) & 1 ? (double)code - ldexp(1, bits) : code;
}

static double pixel_decode_float(const struct pixel_format *f, const uint8_t *pixel,
				 unsigned int channel)
{
	const uint32_t code = pixel_get_channel(f, pixel, channel);
	float number;

	if (f->channels == AGX_CHANNELS_R9G9B9E5)
		return channel == 3 ? 0 : ldexp(code, (int)pixel_get_channel(f, pixel, 3) - 15 - 9);
	if (f->bits[channel] == 16)
		return pixel_from_half(code);
	if (f->bits[channel] != 32)
		return pixel_from_small_float(code, f->bits[channel] - 5);
	memcpy(&number, &code, sizeof(number));
	return number;
}

void pixel_decode(const struct pixel_format *f, const uint8_t *pixel, double value[4])
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		const double max = ldexp(1, f->bits[i]) - 1, half = ldexp(1, f->bits[i] - 1) - 1;
		uint32_t code;

		value[i] = 0;
		if (!f->bits[i])
			continue;
		code = pixel_get_channel(f, pixel, i);
		if (f->type == AGX_TEXTURE_TYPE_UINT)
			value[i] = code;
		else if (f->type == AGX_TEXTURE_TYPE_SINT)
			value[i] = pixel_signed(code, f->bits[i]);
		else if (f->type == AGX_TEXTURE_TYPE_SNORM)
			value[i] = fmax(pixel_signed(code, f->bits[i]) / half, -1);
		else if (f->type == AGX_TEXTURE_TYPE_FLOAT)
			value[i] = pixel_decode_float(f, pixel, i);
		else if (f->srgb && i < 3)
			value[i] = pixel_from_srgb(code / max);
		else
			value[i] = code / max;
	}
}

static bool pixel_is_float(uint32_t code, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? (code & 0x7fffffff) > 0x7f800000 : code == bits;
}

static bool pixel_is_channel(const struct pixel_format *f, unsigned int channel, float value,
			     uint32_t code)
{
	const unsigned int bits = f->bits[channel];

	switch (f->type) {
	case AGX_TEXTURE_TYPE_SNORM:
		return pixel_is_near(pixel_clamp(value, -1), ldexp(1, bits - 1) - 1,
				     pixel_signed(code, bits));
	case AGX_TEXTURE_TYPE_FLOAT:
		if (bits == 32)
			return pixel_is_float(code, value);
		if (bits != 16)
			return code == pixel_small_float(value, bits - 5, false);
		return isnan(value) ? (code & 0x7fff) > 0x7c00 : code == pixel_half(value);
	default:
		if (f->srgb && channel < 3)
			return pixel_is_srgb(value, code);
		return pixel_is_near(pixel_clamp(value, 0), ldexp(1, bits) - 1, code);
	}
}

bool pixel_is_encoded(const struct pixel_format *f, const float value[4], const uint8_t *pixel,
		      unsigned int *channel)
{
	uint32_t word;

	*channel = 0;
	if (f->channels == AGX_CHANNELS_R9G9B9E5) {
		memcpy(&word, pixel, sizeof(word));
		return word == pixel_shared_exponent(value, false);
	}
	for (; *channel < 4; ++*channel) {
		if (f->bits[*channel] &&
		    !pixel_is_channel(f, *channel, value[*channel],
				      pixel_get_channel(f, pixel, *channel)))
			return false;
	}
	return true;
}
