/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Primitives in the window: what they cover, and how values go on over them.
 * Vertex work needs it to know which tiles a primitive touches, fragment work
 * to draw it; both get the same from the same words.
 */
#ifndef VAGX_SETUP_H
#define VAGX_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/ppp.h"

/** SETUP_SUBPIXEL - units of a pixel that corners are rounded to, and how many bits that is */
#define SETUP_SUBPIXEL_BITS	8
#define SETUP_SUBPIXEL		(1 << SETUP_SUBPIXEL_BITS)
/** SETUP_MAX_CORNERS - of a triangle that is cut by all planes that there are */
#define SETUP_MAX_CORNERS	(3 + 16 + 7)

/** enum setup_kind - what a primitive is drawn as */
enum setup_kind {
	SETUP_TRIANGLE,
	SETUP_LINE,
	SETUP_POINT,
};

/**
 * struct setup_input - a primitive
 * @kind: what it is
 * @vertices: the UVS words of each of its vertices
 * @words: how many each has
 * @state: state of primitive processing
 * @viewport: which one
 * @back: of a line or point that was made of a triangle: its face
 * @of_triangle: it was made of one
 * @turn: likewise: the vertex at which it begins, 0 to 2
 */
struct setup_input {
	enum setup_kind kind;
	const uint32_t *vertices[3];
	unsigned int words;
	const struct ppp_state *state;
	unsigned int viewport;
	bool back;
	bool of_triangle;
	unsigned int turn;
};

/**
 * struct setup - a primitive in the window
 * @x: its corners, in subpixels; a convex polygon, the same way round always
 * @y: likewise
 * @corners: how many; 0 if nothing is left of it
 * @min_x: pixels that it can touch, from
 * @max_x: to, with this one
 * @min_y: likewise
 * @max_y: likewise
 * @back: it shows its back
 * @position: its three vertices in the window times W, with depth and W
 * @source: which vertex' values each of those three has
 * @point_size: of a point, in pixels
 */
struct setup {
	int32_t x[SETUP_MAX_CORNERS];
	int32_t y[SETUP_MAX_CORNERS];
	unsigned int corners;
	int32_t min_x, max_x, min_y, max_y;
	bool back;
	double position[3][4];
	unsigned int source[3];
	double point_size;
};

/** setup_next() - the corner behind one, without a division */
static inline unsigned int setup_next(const struct setup *s, unsigned int corner)
{
	return corner + 1 < s->corners ? corner + 1 : 0;
}

/** struct setup_plane - a value over the window: a * x + b * y + c */
struct setup_plane {
	double a, b, c;
};

/** setup_primitive() - find out what a primitive covers; false for nothing */
bool setup_primitive(struct setup *setup, const struct setup_input *input);

/** setup_bound() - find the pixels that corners are in */
void setup_bound(struct setup *setup);

/** setup_touches() - whether a primitive may cover pixels of a rectangle of them */
bool setup_touches(const struct setup *setup, int32_t x, int32_t y, int32_t width,
		   int32_t height);

/** struct setup_solver - what is needed of a primitive to find planes */
struct setup_solver {
	double x[3], y[3], w[3], det, first_w;
};

/** setup_solver() - of a primitive that setup_primitive() has found */
struct setup_solver setup_solver(const struct setup *setup);

/** setup_plane() - the plane through values of the vertices, each times its W */
struct setup_plane setup_plane(const struct setup_solver *solver, const double value[3]);

/* Where vertices have what they have besides position and varyings */
unsigned int setup_point_size_word(const struct ppp_state *state);
unsigned int setup_layer_word(const struct ppp_state *state);
unsigned int setup_clip_word(const struct ppp_state *state);

#endif /* VAGX_SETUP_H */
