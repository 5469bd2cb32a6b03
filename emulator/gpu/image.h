/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images in memory: descriptors, addresses of texels, and pixel formats.
 */
#ifndef VAGX_IMAGE_H
#define VAGX_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "agx_layout.h"
#include "gpu/image_block.h"

struct lanes;

/** VAGX_IMAGE_MAX_BYTES - bytes of the largest sample, or compressed block */
#define VAGX_IMAGE_MAX_BYTES	16

/** struct vagx_image - an image */
struct vagx_image {
	/** @address: address of its first layer; of a sparse image, of its table of pages */
	uint64_t address;
	/** @layout: layout in memory, from that address on */
	struct agx_layout layout;
	/** @channels: AGX_CHANNELS_* */
	unsigned int channels;
	/** @type: AGX_TEXTURE_TYPE_* */
	unsigned int type;
	/** @block: block-compressed format; NULL if it is none */
	const struct vagx_block_format *block;
	/** @metadata: address of the compression metadata of its first layer */
	uint64_t metadata;
	/** @sparse: at @address is a table of pages */
	bool sparse;
	/** @nothing: no texel of it can be read; what is outside of it is 0 as elsewhere */
	bool nothing;
	/** @swizzle: component of each channel; of a texture AGX_CHANNEL_* */
	uint8_t swizzle[4];
	/** @first_level: first mip level of a texture */
	uint32_t first_level;
	/** @last_level: last mip level of a texture */
	uint32_t last_level;
	/** @srgb: colours are sRGB */
	bool srgb;
};

/**
 * vagx_image_from_pbe() - an image to be written
 * @image: filled
 * @level: filled: the level to be written
 * @bytes: the PBE packet, 24 bytes
 * @why: on failure what is not supported, or wrong
 */
bool vagx_image_from_pbe(struct vagx_image *image, unsigned int *level, const uint8_t *bytes,
			 const char **why);

/** vagx_image_from_texture() - an image to be read, from a Texture packet of 24 bytes */
bool vagx_image_from_texture(struct vagx_image *image, const uint8_t *bytes, const char **why);

/** vagx_image_is_integer() - whether its pixels are integers, not floats */
bool vagx_image_is_integer(const struct vagx_image *image);

/**
 * vagx_image_decode() - bits of a sample to four values: floats' bits, or integers
 * @image: image, of which something can be read
 * @texel: which one; of a block
 * @bits: the sample's, or the block's
 * @value: gets four values
 */
void vagx_image_decode(const struct vagx_image *image, const struct agx_texel *texel,
		       const uint8_t *bits, uint32_t *value);

/** vagx_image_is_rgba8_unorm() - whether its format is RGBA8 UNORM or sRGB */
bool vagx_image_is_rgba8_unorm(const struct vagx_image *image);

/**
 * vagx_image_swizzle_bytes() - swizzle the bytes of samples, the first channel lowest
 * @image: image for which vagx_image_is_rgba8_unorm() returns true
 * @samples: replaced
 * @count: how many
 */
void vagx_image_swizzle_bytes(const struct vagx_image *image, uint32_t *samples,
			      unsigned int count);

/** vagx_image_unorm8_table() - the value of each of 256 bytes in a swizzled channel */
const float *vagx_image_unorm8_table(const struct vagx_image *image, unsigned int channel);

/** vagx_image_decode_bytes() - decode four bytes that are swizzled to floats' bits */
void vagx_image_decode_bytes(const struct vagx_image *image, uint32_t bytes, uint32_t *value);

/**
 * vagx_image_border() - a border colour as a shader sees it, swizzled
 * @image: image
 * @colour: AGX_BORDER_*
 * @words: of a custom colour, one for each channel, encoded as the image's are; those of sRGB
 *	   are linear and have 12 bits
 * @value: gets four values
 */
void vagx_image_border(const struct vagx_image *image, unsigned int colour, const uint32_t *words,
		       uint32_t *value);

/** vagx_image_encode_values() - the inverse of vagx_image_decode() */
void vagx_image_encode_values(const struct vagx_image *image, const uint32_t *value,
			      uint8_t *bits);

/**
 * vagx_image_decode_lanes() - vagx_image_decode() of a sample in each lane
 * @image: image that is not block-compressed
 * @word: the samples' bits: four words of all lanes
 * @value: gets four values of all lanes
 */
void vagx_image_decode_lanes(const struct vagx_image *image, const struct lanes *word,
			     struct lanes *value);

/** vagx_image_encode_lanes() - vagx_image_encode_values() in each lane, to four words of bits */
void vagx_image_encode_lanes(const struct vagx_image *image, const struct lanes *value,
			     struct lanes *word);

/** vagx_image_channel_bytes() - of a sample with these channels, 0 for unknown ones */
unsigned int vagx_image_channel_bytes(unsigned int channels);

/** vagx_image_address() - where a texel is; it has to be inside of the image */
static inline uint64_t vagx_image_address(const struct vagx_image *image,
					  const struct agx_texel *texel)
{
	return image->address + agx_layout_offset(&image->layout, texel);
}

/** vagx_image_metadata() - where the 8 bytes of metadata of a texel's block are */
static inline uint64_t vagx_image_metadata(const struct vagx_image *image,
					   const struct agx_texel *texel)
{
	return image->metadata + agx_layout_codes(&image->layout, texel);
}

/** vagx_image_has_metadata() - whether blocks of a level can be compressed */
static inline bool vagx_image_has_metadata(const struct vagx_image *image, unsigned int level)
{
	return agx_layout_has_metadata(&image->layout, level);
}

/** vagx_image_is_plain() - whether an element of a tile with that format is a sample's bits */
bool vagx_image_is_plain(const struct vagx_image *image, unsigned int format);

/**
 * vagx_image_byte_order() - whether samples have the four bytes of an element in some order
 * @image: image
 * @format: AGX_FORMAT_* of the tile's components
 * @order: filled: which of the element's bytes each byte of a sample is
 */
bool vagx_image_byte_order(const struct vagx_image *image, unsigned int format, uint8_t order[4]);

/**
 * vagx_image_encode() - from an element of a tile to the bits of a sample
 * @image: image
 * @format: AGX_FORMAT_* of the tile's components
 * @tile: components in the tile, one after the other
 * @bits: VAGX_IMAGE_MAX_BYTES bytes
 */
void vagx_image_encode(const struct vagx_image *image, unsigned int format, const uint8_t *tile,
		       uint8_t *bits);

#endif /* VAGX_IMAGE_H */
