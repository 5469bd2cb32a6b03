/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Squares of 8 by 8 pixels of an image, whose pixels are one after the other as
 * agx_layout_is_square() says: bits of x and y in turn. A pointer is found once
 * for all of them.
 */
#ifndef VAGX_SQUARE_H
#define VAGX_SQUARE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SQUARE		8
#define SQUARE_PIXELS	(SQUARE * SQUARE)

/**
 * struct square_lines - pixels that are line by line
 * @row: bytes from a line to the next one
 * @step: bytes from a pixel to the next one
 * @bytes: of a pixel, in the image as well
 */
struct square_lines {
	size_t row;
	size_t step;
	unsigned int bytes;
};

/** square_place() - how many pixels come before one of a square */
static inline unsigned int square_place(unsigned int x, unsigned int y)
{
	static const uint8_t spread[SQUARE] = { 0, 1, 4, 5, 16, 17, 20, 21 };

	return spread[x] | spread[y] << 1;
}

/* Four pixels that are two by two, and one after the other in a square */
static const uint8_t square_quad_x[] = { 0, 2, 0, 2, 4, 6, 4, 6, 0, 2, 0, 2, 4, 6, 4, 6 };
static const uint8_t square_quad_y[] = { 0, 0, 2, 2, 0, 0, 2, 2, 4, 4, 6, 6, 4, 4, 6, 6 };

/** square_put() - a whole square from lines */
static inline void square_put(uint8_t *square, const uint8_t *lines, struct square_lines l)
{
	unsigned int i;

	for (i = 0; i < SQUARE_PIXELS / 4; i++, square += 4 * l.bytes) {
		const uint8_t *p = lines + square_quad_y[i] * l.row + square_quad_x[i] * l.step;

		memcpy(square, p, l.bytes);
		memcpy(square + l.bytes, p + l.step, l.bytes);
		memcpy(square + 2 * l.bytes, p + l.row, l.bytes);
		memcpy(square + 3 * l.bytes, p + l.row + l.step, l.bytes);
	}
}

/**
 * square_put_words() - as square_put(), of words that are every second one
 *
 * Up to four bytes behind a line's last pixel are read.
 */
static inline void square_put_words(uint8_t *square, const uint8_t *lines, size_t row)
{
	typedef uint32_t words __attribute__((vector_size(16)));
	unsigned int i;

	for (i = 0; i < SQUARE_PIXELS / 4; i++, square += sizeof(words)) {
		const uint8_t *p = lines + square_quad_y[i] * row + square_quad_x[i] * 8;
		words above, below, quad;

		memcpy(&above, p, sizeof(above));
		memcpy(&below, p + row, sizeof(below));
		quad = __builtin_shufflevector(above, below, 0, 2, 4, 6);
		memcpy(square, &quad, sizeof(quad));
	}
}

/** square_get() - the other way round */
static inline void square_get(uint8_t *lines, const uint8_t *square, struct square_lines l)
{
	unsigned int i;

	for (i = 0; i < SQUARE_PIXELS / 4; i++, square += 4 * l.bytes) {
		uint8_t *p = lines + square_quad_y[i] * l.row + square_quad_x[i] * l.step;

		memcpy(p, square, l.bytes);
		memcpy(p + l.step, square + l.bytes, l.bytes);
		memcpy(p + l.row, square + 2 * l.bytes, l.bytes);
		memcpy(p + l.row + l.step, square + 3 * l.bytes, l.bytes);
	}
}

#endif /* VAGX_SQUARE_H */
