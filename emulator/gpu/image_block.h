/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Block-compressed formats: what a texel of a block is.
 */
#ifndef VAGX_IMAGE_BLOCK_H
#define VAGX_IMAGE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

/** struct vagx_block_format - blocks of a format */
struct vagx_block_format {
	/** @channels: AGX_CHANNELS_* */
	unsigned int channels;
	/** @width: texels of a block in x */
	uint8_t width;
	/** @height: texels of a block in y */
	uint8_t height;
	/** @bytes: bytes of a block */
	uint8_t bytes;
	/** @border_bits: bits of each channel of a border colour */
	uint8_t border_bits;
	/**
	 * @decode: decodes the texel at (x, y) of a block to values from 0 to 1, or from -1 if it
	 * @is_signed. Channels that a format does not have are left alone.
	 */
	void (*decode)(const uint8_t *block, unsigned int x, unsigned int y, bool is_signed,
		       float value[4]);
};

/** VAGX_BLOCK_ASTC() - X(width, height) for each size of a block of ASTC */
#define VAGX_BLOCK_ASTC(X)								\
	X(4, 4) X(5, 4) X(5, 5) X(6, 5) X(6, 6) X(8, 5) X(8, 6) X(8, 8)			\
	X(10, 5) X(10, 6) X(10, 8) X(10, 10) X(12, 10) X(12, 12)

/* image_bptc.c, image_astc.c: decoders of vagx_block_format() */
#define VAGX_BLOCK_DECODER(name)							\
	void name(const uint8_t *block, unsigned int x, unsigned int y, bool is_signed,	\
		  float value[4])
VAGX_BLOCK_DECODER(vagx_block_bc6h_signed);
VAGX_BLOCK_DECODER(vagx_block_bc6h_unsigned);
VAGX_BLOCK_DECODER(vagx_block_bc7);
#define VAGX_ASTC(width, height)							\
VAGX_BLOCK_DECODER(vagx_block_astc_##width##x##height);
VAGX_BLOCK_ASTC(VAGX_ASTC)
#undef VAGX_ASTC
#undef VAGX_BLOCK_DECODER

/** vagx_block_format() - find the block-compressed format of AGX_CHANNELS_*; NULL if it is none */
const struct vagx_block_format *vagx_block_format(unsigned int channels);

#endif /* VAGX_IMAGE_BLOCK_H */
