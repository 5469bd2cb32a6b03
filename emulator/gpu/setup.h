/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Primitive setup: the polygon that a primitive covers in the window, and the plane
 * equations of its attributes. Vertex work needs it to bin primitives into tiles, fragment
 * work to rasterise them; both get the same from the same words.
 */
#ifndef VAGX_SETUP_H
#define VAGX_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/ppp.h"

/** SETUP_SUBPIXEL - subpixels of a pixel, to which vertices are snapped, and their bits */
#define SETUP_SUBPIXEL_BITS	8
#define SETUP_SUBPIXEL		(1 << SETUP_SUBPIXEL_BITS)
/** SETUP_MAX_VERTICES - of a triangle that is clipped by all planes that there are */
#define SETUP_MAX_VERTICES	(3 + 16 + 7)

/** enum setup_kind - what a primitive is drawn as */
enum setup_kind {
	SETUP_TRIANGLE,
	SETUP_LINE,
	SETUP_POINT,
};

/**
 * struct setup_input - a primitive
 * @kind: its kind
 * @vertices: the UVS words of each of its vertices
 * @words: how many each has
 * @state: state of primitive processing
 * @viewport: index of the viewport
 * @back: of a line or point of a triangle in another polygon mode: the triangle is back-facing
 * @of_triangle: it is such a line or point
 * @rotation: the triangle's vertex that is the first one of such a line or point, 0 to 2
 */
struct setup_input {
	enum setup_kind kind;
	const uint32_t *vertices[3];
	unsigned int words;
	const struct ppp_state *state;
	unsigned int viewport;
	bool back;
	bool of_triangle;
	unsigned int rotation;
};

/**
 * struct setup - a primitive in the window
 * @x: vertices of the clipped polygon, in subpixels; convex, always of the same winding
 * @y: likewise
 * @vertex_count: vertices of the polygon; 0 if nothing is left of it
 * @min_x: bounding box in pixels: left
 * @max_x: right, inclusive
 * @min_y: top
 * @max_y: bottom, inclusive
 * @back: it is back-facing
 * @position: the three vertices that planes are solved for: X, Y and Z in the window, times
 *	W, and W
 * @source: the vertex of the input whose attributes each of these has
 * @point_size: of a point, in pixels
 */
struct setup {
	int32_t x[SETUP_MAX_VERTICES];
	int32_t y[SETUP_MAX_VERTICES];
	unsigned int vertex_count;
	int32_t min_x, max_x, min_y, max_y;
	bool back;
	double position[3][4];
	unsigned int source[3];
	double point_size;
};

/** setup_next() - the vertex after one, without a division */
static inline unsigned int setup_next(const struct setup *s, unsigned int vertex)
{
	return vertex + 1 < s->vertex_count ? vertex + 1 : 0;
}

/** struct setup_plane - a value that is linear over the window: a * x + b * y + c, in pixels */
struct setup_plane {
	double a, b, c;
};

/** setup_primitive() - find out what a primitive covers; false for nothing */
bool setup_primitive(struct setup *setup, const struct setup_input *input);

/** setup_bound() - find the bounding box of the polygon */
void setup_bound(struct setup *setup);

/** setup_touches() - whether a primitive may cover pixels of a rectangle; conservative */
bool setup_touches(const struct setup *setup, int32_t x, int32_t y, int32_t width,
		   int32_t height);

/** struct setup_solver - what all planes of a primitive share */
struct setup_solver {
	double x[3], y[3], w[3], det, first_w;
};

/** setup_solver() - for the planes of a primitive that setup_primitive() has accepted */
struct setup_solver setup_solver(const struct setup *setup);

/** setup_plane() - the plane through values of the vertices, each times its W */
struct setup_plane setup_plane(const struct setup_solver *solver, const double value[3]);

/* Indices of a vertex's words after its varyings: point size, layer and viewport, clip distances */
unsigned int setup_point_size_word(const struct ppp_state *state);
unsigned int setup_layer_word(const struct ppp_state *state);
unsigned int setup_clip_word(const struct ppp_state *state);

#endif /* VAGX_SETUP_H */
