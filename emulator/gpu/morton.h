/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Blocks of 8 by 8 pixels of an image in Morton order (Z-order: bits of x and y in turn), where
 * agx_layout_is_morton() says that the image has it. Copies between a block and pixels in linear
 * order, such as a tile's, translate one address for 64 pixels.
 */
#ifndef VAGX_MORTON_H
#define VAGX_MORTON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Pixels of a block: of a row, and all */
#define MORTON_SIDE	8
#define MORTON_PIXELS	(MORTON_SIDE * MORTON_SIDE)

/**
 * struct morton_linear - pixels in linear order
 * @row_stride: bytes from a row to the next one
 * @pixel_stride: bytes from a pixel to the next one
 * @pixel_bytes: bytes of a pixel, in the block as well
 */
struct morton_linear {
	size_t row_stride;
	size_t pixel_stride;
	unsigned int pixel_bytes;
};

/** morton_index() - the index of a pixel in its block; x and y are 0 to 7 */
static inline unsigned int morton_index(unsigned int x, unsigned int y)
{
	static const uint8_t spread[MORTON_SIDE] = { 0, 1, 4, 5, 16, 17, 20, 21 };

	return spread[x] | spread[y] << 1;
}

/* The first pixel of each quad of a block, in Morton order; the quad's pixels are contiguous */
static const uint8_t morton_quad_x[] = { 0, 2, 0, 2, 4, 6, 4, 6, 0, 2, 0, 2, 4, 6, 4, 6 };
static const uint8_t morton_quad_y[] = { 0, 0, 2, 2, 0, 0, 2, 2, 4, 4, 6, 6, 4, 4, 6, 6 };

/** morton_from_linear() - copy a whole block from linear order */
static inline void morton_from_linear(uint8_t *block, const uint8_t *linear, struct morton_linear l)
{
	unsigned int i;

	for (i = 0; i < MORTON_PIXELS / 4; i++, block += 4 * l.pixel_bytes) {
		const uint8_t *p = linear + morton_quad_y[i] * l.row_stride +
				   morton_quad_x[i] * l.pixel_stride;

		memcpy(block, p, l.pixel_bytes);
		memcpy(block + l.pixel_bytes, p + l.pixel_stride, l.pixel_bytes);
		memcpy(block + 2 * l.pixel_bytes, p + l.row_stride, l.pixel_bytes);
		memcpy(block + 3 * l.pixel_bytes, p + l.row_stride + l.pixel_stride, l.pixel_bytes);
	}
}

/**
 * morton_from_linear_words() - morton_from_linear() of 4-byte pixels with a stride of 8 bytes
 *
 * Reads up to four bytes behind the last pixel of a row.
 */
static inline void morton_from_linear_words(uint8_t *block, const uint8_t *linear, size_t row)
{
	typedef uint32_t words __attribute__((vector_size(16)));
	unsigned int i;

	for (i = 0; i < MORTON_PIXELS / 4; i++, block += sizeof(words)) {
		const uint8_t *p = linear + morton_quad_y[i] * row + morton_quad_x[i] * 8;
		words above, below, quad;

		memcpy(&above, p, sizeof(above));
		memcpy(&below, p + row, sizeof(below));
		quad = __builtin_shufflevector(above, below, 0, 2, 4, 6);
		memcpy(block, &quad, sizeof(quad));
	}
}

/** morton_to_linear() - copy a whole block to linear order */
static inline void morton_to_linear(uint8_t *linear, const uint8_t *block, struct morton_linear l)
{
	unsigned int i;

	for (i = 0; i < MORTON_PIXELS / 4; i++, block += 4 * l.pixel_bytes) {
		uint8_t *p = linear + morton_quad_y[i] * l.row_stride +
			     morton_quad_x[i] * l.pixel_stride;

		memcpy(p, block, l.pixel_bytes);
		memcpy(p + l.pixel_stride, block + l.pixel_bytes, l.pixel_bytes);
		memcpy(p + l.row_stride, block + 2 * l.pixel_bytes, l.pixel_bytes);
		memcpy(p + l.row_stride + l.pixel_stride, block + 3 * l.pixel_bytes, l.pixel_bytes);
	}
}

#endif /* VAGX_MORTON_H */
