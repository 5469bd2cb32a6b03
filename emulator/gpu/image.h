/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images in memory: where a pixel is, and what its bits are.
 */
#ifndef VAGX_IMAGE_H
#define VAGX_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/image_block.h"

/** VAGX_IMAGE_MAX_BYTES - of a pixel's sample, or of a block */
#define VAGX_IMAGE_MAX_BYTES	16

/** struct vagx_image - an image */
struct vagx_image {
	/** @address: of its first layer */
	uint64_t address;
	/** @layout: AGX_IMAGE_LAYOUT_* */
	unsigned int layout;
	/** @channels: AGX_CHANNELS_* */
	unsigned int channels;
	/** @type: AGX_TEXTURE_TYPE_* */
	unsigned int type;
	/** @width: pixels of the first level */
	uint32_t width;
	/** @height: likewise */
	uint32_t height;
	/** @layers: how many */
	uint32_t layers;
	/** @samples: of a pixel */
	uint32_t samples;
	/** @levels: of the chain that a layer has */
	uint32_t levels;
	/** @bytes: of a sample, or of a block */
	uint32_t bytes;
	/** @block: what texels share bytes; NULL if none do */
	const struct vagx_block_format *block;
	/** @stride: of a linear one, bytes from line to line */
	uint32_t stride;
	/** @layer_stride: bytes from layer to layer; 0 if it follows from the rest */
	uint64_t layer_stride;
	/** @page_aligned: layers begin at pages */
	bool page_aligned;
	/** @metadata: of compression, 0 without */
	uint64_t metadata;
	/** @metadata_stride: from layer to layer; 0 if it follows from the rest */
	uint64_t metadata_stride;
	/** @swizzle: which component goes to each channel; of a texture AGX_CHANNEL_* */
	uint8_t swizzle[4];
	/** @first_level: of a texture: the level that it begins with */
	uint32_t first_level;
	/** @last_level: and the last one */
	uint32_t last_level;
	/** @srgb: colours are in that space */
	bool srgb;
};

/** struct vagx_texel - a place in an image */
struct vagx_texel {
	uint32_t x;
	uint32_t y;
	uint32_t layer;
	uint32_t level;
	uint32_t sample;
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
 * @image: image
 * @texel: which one; of a block
 * @bits: the sample's, or the block's
 * @value: four places
 */
void vagx_image_decode(const struct vagx_image *image, const struct vagx_texel *texel,
		       const uint8_t *bits, uint32_t *value);

/**
 * vagx_image_border() - the value of a border colour
 * @image: image
 * @words: one for each channel, encoded as the image's are; those of sRGB are
 *	   linear and have 12 bits
 * @value: four places
 */
void vagx_image_border(const struct vagx_image *image, const uint32_t *words, uint32_t *value);

/** vagx_image_encode_values() - the inverse of vagx_image_decode() */
void vagx_image_encode_values(const struct vagx_image *image, const uint32_t *value,
			      uint8_t *bits);

/** vagx_image_channel_bytes() - of a sample with these channels, 0 for unknown ones */
unsigned int vagx_image_channel_bytes(unsigned int channels);

/** vagx_image_address() - where a texel is; it has to be inside of the image */
uint64_t vagx_image_address(const struct vagx_image *image, const struct vagx_texel *texel);

/** vagx_image_metadata() - where the 8 bytes of metadata of a texel's block are */
uint64_t vagx_image_metadata(const struct vagx_image *image, const struct vagx_texel *texel);

/** vagx_image_has_metadata() - whether blocks of a level can be compressed */
bool vagx_image_has_metadata(const struct vagx_image *image, unsigned int level);

/** vagx_image_raw_code() - metadata that says that a block is not compressed */
uint8_t vagx_image_raw_code(const struct vagx_image *image);

/**
 * vagx_image_find_in_block() - where a texel of a block with metadata is
 * @image: image
 * @codes: the 8 bytes of the block's metadata
 * @texel: becomes the one that has its value: in a block of one colour the first
 *
 * Return: false for a block that is compressed in ways that nobody knows.
 */
bool vagx_image_find_in_block(const struct vagx_image *image, const uint8_t *codes,
			      struct vagx_texel *texel);

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
