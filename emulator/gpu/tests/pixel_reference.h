/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Pixel formats in doubles, after the Vulkan specification ("Numeric Representation and
 * Computation") and the Khronos Data Format specification: the opinion that vagx's is compared
 * with. It has nothing of vagx but the names of channels and types, and prefers what is
 * obvious to what is fast: a float is encoded by a search among all that there are.
 */
#ifndef PIXEL_REFERENCE_H
#define PIXEL_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

/** struct pixel_format - a pixel format */
struct pixel_format {
	const char *name;
	/** @channels: AGX_CHANNELS_* */
	unsigned int channels;
	/** @type: AGX_TEXTURE_TYPE_* */
	unsigned int type;
	/** @bits: of each channel, the first one lowest; 0 for those that there are not */
	uint8_t bits[4];
	/** @srgb: the first three channels are encoded as sRGB */
	bool srgb;
	/** @tile: the format that Mesa gives the tile for it, as the assembler names it */
	const char *tile;
};

/** pixel_formats - all that Mesa has for AGX but those of blocks */
extern const struct pixel_format pixel_formats[];
extern const unsigned int pixel_format_count;

/** pixel_bytes() - bytes of a pixel */
unsigned int pixel_bytes(const struct pixel_format *format);

/** pixel_is_integer() - whether channels are integers */
bool pixel_is_integer(const struct pixel_format *format);

/** pixel_decode() - decode a pixel; channels that the format has not are 0 */
void pixel_decode(const struct pixel_format *format, const uint8_t *pixel, double value[4]);

/**
 * pixel_is_encoded() - whether a pixel is what a colour may be encoded to
 * @format: a format that is none of integers
 * @value: four floats, which may be any
 * @pixel: the pixel
 * @channel: gets the number of the first channel that is not
 *
 * The specifications ask for the nearest number, or leave it at one of the two that are next to
 * the value; it is the nearest here, and the even one in the middle.
 */
bool pixel_is_encoded(const struct pixel_format *format, const float value[4],
		      const uint8_t *pixel, unsigned int *channel);

/** pixel_half() - the nearest float of 16 bits; infinite from 65520 on */
uint32_t pixel_half(double value);

/** pixel_from_half() - the value of a float of 16 bits */
double pixel_from_half(uint32_t bits);

/**
 * pixel_small_float() - encode a float without sign, of five exponent bits
 * @value: value; finite numbers stay finite, negative ones become 0
 * @mantissa: bits of the mantissa
 * @toward_zero: it is rounded towards zero, not to the nearest
 */
uint32_t pixel_small_float(double value, unsigned int mantissa, bool toward_zero);

/** pixel_shared_exponent() - encode three floats with one exponent */
uint32_t pixel_shared_exponent(const float value[3], bool toward_zero);

/** pixel_is_near() - whether @code is @value * @max, rounded; for values from -1 to 1 */
bool pixel_is_near(double value, double max, double code);

/** pixel_is_srgb() - whether a byte is a linear value's encoding */
bool pixel_is_srgb(double value, unsigned int code);

#endif /* PIXEL_REFERENCE_H */
