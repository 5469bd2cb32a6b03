// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Pixel formats of images: decodes the bits of a sample to four channels as a shader sees them,
 * swizzled, and encodes what a tile or a shader stores. Integers stay integers; UNORM, SNORM,
 * sRGB and floats become 32-bit floats. RGBA8 UNORM, by far the most common one, is kept as bytes
 * and decoded by tables. Functions have no state, and are called from any core's thread.
 */
#include <math.h>
#include <string.h>

#include "agx_packets.h"
#include "core_float.h"
#include "gpu/format.h"
#include "gpu/image.h"

/* Bits of each channel of a sample, the first one lowest */
static const struct channel_row {
	uint8_t bits[4];
} image_format_channel_rows[] = {
	[AGX_CHANNELS_R8] = { { 8 } },
	[AGX_CHANNELS_R16] = { { 16 } },
	[AGX_CHANNELS_R8G8] = { { 8, 8 } },
	[AGX_CHANNELS_R5G6B5] = { { 5, 6, 5 } },
	[AGX_CHANNELS_R4G4B4A4] = { { 4, 4, 4, 4 } },
	[AGX_CHANNELS_A1R5G5B5] = { { 1, 5, 5, 5 } },
	[AGX_CHANNELS_R5G5B5A1] = { { 5, 5, 5, 1 } },
	[AGX_CHANNELS_R32] = { { 32 } },
	[AGX_CHANNELS_R16G16] = { { 16, 16 } },
	[AGX_CHANNELS_R11G11B10] = { { 11, 11, 10 } },
	[AGX_CHANNELS_R10G10B10A2] = { { 10, 10, 10, 2 } },
	[AGX_CHANNELS_R9G9B9E5] = { { 9, 9, 9, 5 } },
	[AGX_CHANNELS_R8G8B8A8] = { { 8, 8, 8, 8 } },
	[AGX_CHANNELS_R32G32] = { { 32, 32 } },
	[AGX_CHANNELS_R16G16B16A16] = { { 16, 16, 16, 16 } },
	[AGX_CHANNELS_R32G32B32A32] = { { 32, 32, 32, 32 } },
};
#define CHANNEL_ROWS	(sizeof(image_format_channel_rows) / sizeof(image_format_channel_rows[0]))

static const struct channel_row *image_format_find_channels(unsigned int channels)
{
	if (channels >= CHANNEL_ROWS || !image_format_channel_rows[channels].bits[0])
		return NULL;
	return &image_format_channel_rows[channels];
}

unsigned int vagx_image_channel_bytes(unsigned int channels)
{
	const struct channel_row *row = image_format_find_channels(channels);

	return row ? (row->bits[0] + row->bits[1] + row->bits[2] + row->bits[3]) / 8 : 0;
}

static uint32_t image_format_get_bits(const uint8_t *p, unsigned int bytes)
{
	uint32_t bits = 0;

	memcpy(&bits, p, bytes);
	return bits;
}

bool vagx_image_is_integer(const struct vagx_image *image)
{
	return image->type == AGX_TEXTURE_TYPE_UINT || image->type == AGX_TEXTURE_TYPE_SINT;
}

/* Converts a component of a tile to a float */
static float image_format_tile_number(unsigned int format, unsigned int component, uint32_t bits)
{
	float value;

	if (vagx_format_to_float(format, component, bits, &value))
		return value;
	return vagx_format_log2_size(format) == 2 ? bits_float(bits) : float_from_half(bits);
}

/* More than so many bits of a channel are not exact in a float */
#define EXACT_BITS	24

/* Rounds a value from -1 to 1, times @max */
INLINE uint32_t image_format_round(float value, unsigned int bits, uint32_t max)
{
	if (bits > EXACT_BITS)
		return (uint32_t)(int64_t)nearbyint((double)value * max);
	return (uint32_t)(int32_t)nearbyintf(value * (float)max);
}

/* Encodes a float to a channel of @bits bits, clamped to its range; NaN becomes 0 if normalised */
INLINE uint32_t image_format_channel_bits(unsigned int type, unsigned int bits, float value)
{
	const uint32_t max = (2u << (bits - 1)) - 1;

	if (type == AGX_TEXTURE_TYPE_FLOAT)
		return bits == 16 ? half_from_float(value) : float_bits(value);
	value = value != value ? 0.0f : value;
	if (type == AGX_TEXTURE_TYPE_SNORM) {
		value = value < -1.0f ? -1.0f : value > 1.0f ? 1.0f : value;
		return image_format_round(value, bits, max / 2) & max;
	}
	value = value < 0.0f ? 0.0f : value > 1.0f ? 1.0f : value;
	return image_format_round(value, bits, max);
}

static unsigned int image_format_count_channels(const struct channel_row *row)
{
	unsigned int n = 0;

	while (n < 4 && row->bits[n])
		n++;
	return n;
}

/* Sets @count bits from bit @at on, which have to be 0 */
static void image_format_put_bits(uint8_t *p, unsigned int at, unsigned int count, uint32_t bits)
{
	uint64_t word = (uint64_t)(count < 32 ? bits & ((1u << count) - 1) : bits) << at % 8;

	for (p += at / 8; word; word >>= 8)
		*p++ |= (uint8_t)word;
}

bool vagx_image_is_plain(const struct vagx_image *image, unsigned int format)
{
	const struct channel_row *row = image_format_find_channels(image->channels);
	unsigned int i, bits = 8u << vagx_format_log2_size(format);

	if (vagx_format_is_packed(format))
		return false;
	for (i = 0; i < image_format_count_channels(row); i++) {
		if (row->bits[i] != bits || image->swizzle[i] % 4 != i)
			return false;
	}
	return true;
}

bool vagx_image_byte_order(const struct vagx_image *image, unsigned int format, uint8_t order[4])
{
	const struct channel_row *row = image_format_find_channels(image->channels);
	unsigned int i;

	if (vagx_format_is_packed(format) || vagx_format_log2_size(format))
		return false;
	for (i = 0; i < 4; i++) {
		if (row->bits[i] != 8)
			return false;
		order[i] = image->swizzle[i] % 4;
	}
	return true;
}

/* Whether channels are floats of fewer than 16 bits, which tiles have in the image's format */
static bool image_format_has_small_floats(const struct vagx_image *image)
{
	return image->channels == AGX_CHANNELS_R11G11B10 ||
	       image->channels == AGX_CHANNELS_R9G9B9E5;
}

void vagx_image_encode(const struct vagx_image *image, unsigned int format, const uint8_t *tile,
		       uint8_t *bits)
{
	const struct channel_row *row = image_format_find_channels(image->channels);
	unsigned int size = 1u << vagx_format_log2_size(format);
	unsigned int i, at = 0, count = image_format_count_channels(row);
	float number[4] = { 0, 0, 0, 1 };

	memset(bits, 0, VAGX_IMAGE_MAX_BYTES);
	if (vagx_format_is_packed(format)) {
		if (image_format_has_small_floats(image)) {
			memcpy(bits, tile, 4);
			return;
		}
		vagx_format_unpack(format, image_format_get_bits(tile, 4), number);
	}
	for (i = 0; i < count; i++) {
		unsigned int component = image->swizzle[i] % 4;
		bool packed = vagx_format_is_packed(format);
		uint32_t value = packed ? 0 : image_format_get_bits(tile + component * size, size);

		/* An integer, or a component as wide as the channel, is copied */
		if (packed || (!vagx_image_is_integer(image) && row->bits[i] != size * 8))
			value = image_format_channel_bits(
				image->type, row->bits[i],
				packed ? number[component]
				       : image_format_tile_number(format, component, value));
		image_format_put_bits(bits, at, row->bits[i], value);
		at += row->bits[i];
	}
}

/* @count bits of a sample, from bit @at on */
static uint32_t image_format_extract(const uint8_t *p, unsigned int at, unsigned int count)
{
	unsigned int i, bytes = (at % 8 + count + 7) / 8;
	uint64_t word = 0;

	if (count == 8 && at % 8 == 0)
		return p[at / 8];
	for (i = 0; i < bytes; i++)
		word |= (uint64_t)p[at / 8 + i] << 8 * i;
	return (uint32_t)(word >> at % 8 & ((1ULL << count) - 1));
}

INLINE int32_t image_format_sign_extend(uint32_t bits, unsigned int count)
{
	return (int32_t)(bits << (32 - count)) >> (32 - count);
}

/* Decodes a channel of @count bits that is not sRGB: a float's bits, or an integer */
INLINE uint32_t image_format_linear_value(unsigned int type, unsigned int count, uint32_t bits)
{
	float max = count == 32 ? 4294967295.0f : (float)((1u << count) - 1), value;

	switch (type) {
	case AGX_TEXTURE_TYPE_UINT:
		return bits;
	case AGX_TEXTURE_TYPE_SINT:
		return image_format_sign_extend(bits, count);
	case AGX_TEXTURE_TYPE_FLOAT:
		return count == 16 ? float_bits(float_from_half(bits)) : bits;
	case AGX_TEXTURE_TYPE_SNORM:
		value = image_format_sign_extend(bits, count) / (float)((1u << (count - 1)) - 1);
		return float_bits(value < -1.0f ? -1.0f : value);
	default:
		return float_bits(bits / max);
	}
}

static bool image_format_is_srgb(const struct vagx_image *image, unsigned int channel,
				 unsigned int count)
{
	return image->type == AGX_TEXTURE_TYPE_UNORM && image->srgb && count == 8 &&
	       image->swizzle[3] != channel;
}

/* Decodes a channel of @count bits */
static uint32_t image_format_channel_value(const struct vagx_image *image, unsigned int channel,
					   unsigned int count, uint32_t bits)
{
	float value;

	if (!image_format_is_srgb(image, channel, count))
		return image_format_linear_value(image->type, count, bits);
	vagx_format_to_float(AGX_FORMAT_SRGBA8, 0, bits, &value);
	return float_bits(value);
}

/* Decodes formats of small floats, and of a shared exponent. Return: false for others. */
static bool image_format_decode_packed(const struct vagx_image *image, const uint8_t *bits,
				       uint32_t *channel)
{
	unsigned int i, format;
	float value[4] = { 0 };

	if (image->channels == AGX_CHANNELS_R11G11B10)
		format = AGX_FORMAT_RG11B10F;
	else if (image->channels == AGX_CHANNELS_R9G9B9E5)
		format = AGX_FORMAT_RGB9E5;
	else
		return false;
	vagx_format_unpack(format, image_format_get_bits(bits, 4), value);
	for (i = 0; i < 3; i++)
		channel[i] = float_bits(value[i]);
	return true;
}

/* Clamps to 0 to 1, where sRGB is defined: blocks may have any number, and NaN, which becomes 0 */
static float image_format_saturate(float value)
{
	return fminf(fmaxf(value, 0), 1);
}

static void image_format_decode_block(const struct vagx_image *image, const struct agx_texel *texel,
				      const uint8_t *bits, uint32_t *channel)
{
	float value[4] = { 0, 0, 0, 1 };
	unsigned int i;

	image->block->decode(bits, texel->x % image->block->width, texel->y % image->block->height,
			     image->type == AGX_TEXTURE_TYPE_SNORM, value);
	for (i = 0; i < 4; i++) {
		if (image->srgb && i < 3)
			vagx_format_to_float(
				AGX_FORMAT_SRGBA8, i,
				(uint32_t)nearbyintf(image_format_saturate(value[i]) * 255.0f),
				&value[i]);
		channel[i] = float_bits(value[i]);
	}
}

static void image_format_decode_channels(const struct vagx_image *image, const uint8_t *bits,
					 uint32_t *channel)
{
	const struct channel_row *row = image_format_find_channels(image->channels);
	unsigned int i, at = 0, count = image_format_count_channels(row);

	if (image_format_decode_packed(image, bits, channel))
		return;
	for (i = 0; i < count; i++) {
		channel[i] = image_format_channel_value(
			image, i, row->bits[i], image_format_extract(bits, at, row->bits[i]));
		at += row->bits[i];
	}
}

/* Applies the swizzle: channels, 0, or 1 */
static void image_format_swizzle(const struct vagx_image *image, const uint32_t *channel,
				 uint32_t *value)
{
	uint32_t one = vagx_image_is_integer(image) ? 1 : float_bits(1.0f);
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (image->swizzle[i] <= AGX_CHANNEL_A)
			value[i] = channel[image->swizzle[i]];
		else
			value[i] = image->swizzle[i] == AGX_CHANNEL_1 ? one : 0;
	}
}

bool vagx_image_is_rgba8_unorm(const struct vagx_image *image)
{
	return image->channels == AGX_CHANNELS_R8G8B8A8 && image->type == AGX_TEXTURE_TYPE_UNORM;
}

static bool image_format_is_identity_swizzle(const struct vagx_image *image)
{
	return image->swizzle[0] == AGX_CHANNEL_R && image->swizzle[1] == AGX_CHANNEL_G &&
	       image->swizzle[2] == AGX_CHANNEL_B && image->swizzle[3] == AGX_CHANNEL_A;
}

CLONES void vagx_image_swizzle_bytes(const struct vagx_image *image, uint32_t *samples,
				     unsigned int count)
{
	uint32_t shift[4], mask[4], constant[4];
	unsigned int i, c;

	if (image_format_is_identity_swizzle(image))
		return;
	for (c = 0; c < 4; c++) {
		const unsigned int from = image->swizzle[c];

		shift[c] = from % 4 * 8;
		mask[c] = from <= AGX_CHANNEL_A ? 0xff : 0;
		constant[c] = from == AGX_CHANNEL_1 ? 0xff : 0;
	}
	for (i = 0; i < count; i++) {
		uint32_t seen = 0;

		for (c = 0; c < 4; c++)
			seen |= ((samples[i] >> shift[c] & mask[c]) | constant[c]) << 8 * c;
		samples[i] = seen;
	}
}

const float *vagx_image_unorm8_table(const struct vagx_image *image, unsigned int channel)
{
	const unsigned int from = image->swizzle[channel];

	return vagx_format_unorm8_table(image->srgb && from <= AGX_CHANNEL_A &&
					image->swizzle[3] != from);
}

void vagx_image_decode_bytes(const struct vagx_image *image, uint32_t bytes, uint32_t *value)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		value[i] = float_bits(vagx_image_unorm8_table(image, i)[bytes >> 8 * i & 0xff]);
}

void vagx_image_decode(const struct vagx_image *image, const struct agx_texel *texel,
		       const uint8_t *bits, uint32_t *value)
{
	uint32_t channel[4] = { 0 };
	uint32_t bytes;

	if (vagx_image_is_rgba8_unorm(image)) {
		bytes = image_format_get_bits(bits, 4);
		vagx_image_swizzle_bytes(image, &bytes, 1);
		vagx_image_decode_bytes(image, bytes, value);
		return;
	}
	if (image->block)
		image_format_decode_block(image, texel, bits, channel);
	else
		image_format_decode_channels(image, bits, channel);
	image_format_swizzle(image, channel, value);
}

/* Bits of a channel in a border colour (mesa src/asahi/lib/agx_border.c) */
static unsigned int image_format_border_bits(const struct vagx_image *image, unsigned int channel)
{
	unsigned int bits = image->block ? image->block->border_bits :
			    image_format_find_channels(image->channels)->bits[channel];

	return bits == 8 && image->srgb && image->swizzle[3] != channel ? 12 : bits;
}

static uint32_t image_format_border_value(const struct vagx_image *image, unsigned int bits,
					  uint32_t word)
{
	switch (image->type) {
	case AGX_TEXTURE_TYPE_UNORM:
		return float_bits(bits ? word / (float)((1ULL << bits) - 1) : 0);
	case AGX_TEXTURE_TYPE_SNORM:
		return float_bits(bits ? image_format_sign_extend(word, bits) /
						  (float)((1u << (bits - 1)) - 1)
				       : 0);
	case AGX_TEXTURE_TYPE_FLOAT:
		return bits == 32 ? word : float_bits(float_from_half(word & 0xffff));
	default:
		return word;
	}
}

static uint32_t image_format_border_channel(const struct vagx_image *image, unsigned int colour,
					    const uint32_t *words, unsigned int channel)
{
	const uint32_t one = vagx_image_is_integer(image) ? 1 : float_bits(1.0f);

	switch (colour) {
	case AGX_BORDER_CUSTOM:
		return image_format_border_value(image, image_format_border_bits(image, channel),
						 words[channel]);
	case AGX_BORDER_OPAQUE_WHITE:
		return one;
	case AGX_BORDER_OPAQUE_BLACK:
		return channel == 3 ? one : 0;
	default:
		return 0;
	}
}

/*
 * Borders are swizzled, as texels are (Vulkan specification, "Texel Replacement" and "Component
 * Swizzle"; mesa src/asahi/lib/agx_border.c says that hardware does it). For fixed colours, Mesa's
 * way around opaque black with RGBA4, whose swizzle moves alpha, points to the same.
 */
void vagx_image_border(const struct vagx_image *image, unsigned int colour, const uint32_t *words,
		       uint32_t *value)
{
	uint32_t channel[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		channel[i] = image_format_border_channel(image, colour, words, i);
	image_format_swizzle(image, channel, value);
}

void vagx_image_encode_values(const struct vagx_image *image, const uint32_t *value,
			      uint8_t *bits)
{
	const struct channel_row *row = image_format_find_channels(image->channels);
	unsigned int i, at = 0, count = image_format_count_channels(row);
	float number[4];
	uint32_t word;

	memset(bits, 0, VAGX_IMAGE_MAX_BYTES);
	for (i = 0; i < 4; i++)
		number[i] = bits_float(value[image->swizzle[i] % 4]);
	if (image_format_has_small_floats(image)) {
		word = vagx_format_pack(image->channels == AGX_CHANNELS_R9G9B9E5 ?
					AGX_FORMAT_RGB9E5 : AGX_FORMAT_RG11B10F, number);
		memcpy(bits, &word, 4);
		return;
	}
	for (i = 0; i < count; i++) {
		word = value[image->swizzle[i] % 4];
		if (!vagx_image_is_integer(image))
			word = image_format_channel_bits(image->type, row->bits[i], number[i]);
		image_format_put_bits(bits, at, row->bits[i], word);
		at += row->bits[i];
	}
}

/* All lanes */

/* Calls a loop with a constant type, so that nothing in the loop depends on it */
#define OF_TYPE(type, loop, ...)						\
	switch (type) {								\
	case AGX_TEXTURE_TYPE_UINT:						\
		loop(AGX_TEXTURE_TYPE_UINT, __VA_ARGS__);			\
		break;								\
	case AGX_TEXTURE_TYPE_SINT:						\
		loop(AGX_TEXTURE_TYPE_SINT, __VA_ARGS__);			\
		break;								\
	case AGX_TEXTURE_TYPE_FLOAT:						\
		loop(AGX_TEXTURE_TYPE_FLOAT, __VA_ARGS__);			\
		break;								\
	case AGX_TEXTURE_TYPE_SNORM:						\
		loop(AGX_TEXTURE_TYPE_SNORM, __VA_ARGS__);			\
		break;								\
	default:								\
		loop(AGX_TEXTURE_TYPE_UNORM, __VA_ARGS__);			\
		break;								\
	}

/* Bits that a channel of @count bits has in a word */
static uint32_t image_format_mask(unsigned int count)
{
	return count < 32 ? (1u << count) - 1 : ALL_LANES;
}

INLINE void image_format_decode_loop(unsigned int type, const uint32_t *word, unsigned int shift,
				     unsigned int count, uint32_t *value)
{
	const uint32_t mask = image_format_mask(count);
	unsigned int i;

	for (i = 0; i < LANES; i++)
		value[i] = image_format_linear_value(type, count, word[i] >> shift & mask);
}

/* Decodes a channel of sRGB, which has 8 bits */
CLONES static void image_format_decode_srgb(const struct lanes *word, unsigned int shift,
					    struct lanes *value)
{
	struct float_lanes number;
	struct lanes bits;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		bits.v[i] = word->v[i] >> shift & 0xff;
	vagx_format_to_floats(AGX_FORMAT_SRGBA8, 0, &bits, &number);
	for (i = 0; i < LANES; i++)
		value->v[i] = float_bits(number.v[i]);
}

CLONES static void image_format_decode_channel(const struct vagx_image *image,
					       const struct lanes *word, unsigned int shift,
					       unsigned int count, struct lanes *value)
{
	OF_TYPE(image->type, image_format_decode_loop, word->v, shift, count, value->v)
}

/* Lane by lane */
static void image_format_decode_each(const struct vagx_image *image, const struct lanes word[4],
				     struct lanes value[4])
{
	static const struct agx_texel unused;
	unsigned int lane, i;

	for (lane = 0; lane < LANES; lane++) {
		uint32_t bits[4], channel[4];

		for (i = 0; i < 4; i++)
			bits[i] = word[i].v[lane];
		vagx_image_decode(image, &unused, (const uint8_t *)bits, channel);
		for (i = 0; i < 4; i++)
			value[i].v[lane] = channel[i];
	}
}

void vagx_image_decode_lanes(const struct vagx_image *image, const struct lanes *word,
			     struct lanes *value)
{
	const struct channel_row *row = image_format_find_channels(image->channels);
	unsigned int i, at[4] = { 0 };

	if (image_format_has_small_floats(image)) {
		image_format_decode_each(image, word, value);
		return;
	}
	/* No channel lies in two words. */
	for (i = 1; i < 4; i++)
		at[i] = at[i - 1] + row->bits[i - 1];
	for (i = 0; i < 4; i++) {
		const unsigned int from = image->swizzle[i], count = from < 4 ? row->bits[from] : 0;
		const uint32_t one = vagx_image_is_integer(image) ? 1 : float_bits(1.0f);

		if (!count)
			splat(&value[i], from == AGX_CHANNEL_1 ? one : 0);
		else if (image_format_is_srgb(image, from, count))
			image_format_decode_srgb(&word[at[from] / 32], at[from] % 32, &value[i]);
		else
			image_format_decode_channel(image, &word[at[from] / 32], at[from] % 32,
						    count, &value[i]);
	}
}

INLINE void image_format_encode_loop(unsigned int type, const uint32_t *value, unsigned int shift,
				     unsigned int count, uint32_t *word)
{
	const uint32_t mask = image_format_mask(count);
	const bool is_integer = type == AGX_TEXTURE_TYPE_UINT || type == AGX_TEXTURE_TYPE_SINT;
	unsigned int i;

	for (i = 0; is_integer && i < LANES; i++)
		word[i] |= (value[i] & mask) << shift;
	for (i = 0; !is_integer && i < LANES; i++)
		word[i] |= image_format_channel_bits(type, count, bits_float(value[i])) << shift;
}

CLONES static void image_format_encode_channel(const struct vagx_image *image,
					       const struct lanes *value, unsigned int shift,
					       unsigned int count, struct lanes *word)
{
	OF_TYPE(image->type, image_format_encode_loop, value->v, shift, count, word->v)
}

static void image_format_encode_each(const struct vagx_image *image, const struct lanes value[4],
				     struct lanes word[4])
{
	unsigned int lane, i;

	for (lane = 0; lane < LANES; lane++) {
		uint32_t bits[4], channel[4];

		for (i = 0; i < 4; i++)
			channel[i] = value[i].v[lane];
		vagx_image_encode_values(image, channel, (uint8_t *)bits);
		for (i = 0; i < 4; i++)
			word[i].v[lane] = bits[i];
	}
}

void vagx_image_encode_lanes(const struct vagx_image *image, const struct lanes *value,
			     struct lanes *word)
{
	const struct channel_row *row = image_format_find_channels(image->channels);
	unsigned int i, at = 0, count = image_format_count_channels(row);

	if (image_format_has_small_floats(image)) {
		image_format_encode_each(image, value, word);
		return;
	}
	for (i = 0; i < 4; i++)
		splat(&word[i], 0);
	for (i = 0; i < count; i++) {
		image_format_encode_channel(image, &value[image->swizzle[i] % 4], at % 32,
					    row->bits[i], &word[at / 32]);
		at += row->bits[i];
	}
}
