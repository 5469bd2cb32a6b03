// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The rasteriser: which samples of a tile a primitive covers, by edge functions (Pineda, "A
 * parallel algorithm for polygon rasterization", 1988). Each edge of the convex polygon has a
 * function a * x + b * y + c, in integers of subpixels, that is not negative inside; a sample is
 * covered if none is negative. By the top-left rule a sample on an edge is inside of only the
 * left and the top edges, so that of two polygons that share the edge exactly one covers it:
 * the functions of other edges are less by one.
 *
 * Blocks of 8 by 8 pixels are tested first as a whole: by the corner that is furthest inside of
 * each edge to reject them, by the opposite one to accept them. Then all pixels of a block are
 * tested at once, a row at a time.
 *
 * Runs on the thread of the worker's core, on the worker's tile, without locks.
 */
#include "gpu/fragment.h"

#define BLOCK	FRAGMENT_BLOCK

/* An element for each row of a block */
typedef int32_t row_ints __attribute__((vector_size(4 * BLOCK)));
typedef uint8_t row_bytes __attribute__((vector_size(BLOCK)));

/* An edge function: x * dx + y * dy + c in subpixels, not negative inside */
struct edge {
	int64_t dx, dy, c;
};

struct raster {
	struct fragment_worker *w;
	struct edge edge[SETUP_MAX_VERTICES];
	unsigned int edges;
	/* inclusive bounds of the pixels: of the primitive, its scissor, the tile and the image */
	int32_t min_x, min_y, max_x, max_y;
	/* positions of samples in a pixel, in subpixels */
	int32_t sample_x[VAGX_MAX_SAMPLES], sample_y[VAGX_MAX_SAMPLES];
};

static void raster_make_edges(struct raster *r, const struct setup *s)
{
	unsigned int i;

	r->edges = 0;
	for (i = 0; i < s->vertex_count; i++) {
		unsigned int j = setup_next(s, i);
		int64_t dx = (int64_t)s->x[j] - s->x[i], dy = (int64_t)s->y[j] - s->y[i];
		bool is_top_left = dy < 0 || (dy == 0 && dx > 0);

		/* A plane that clips at a vertex leaves that vertex twice. */
		if (!dx && !dy)
			continue;
		r->edge[r->edges++] = (struct edge){
			.dx = -dy,
			.dy = dx,
			.c = dy * s->x[i] - dx * s->y[i] - !is_top_left,
		};
	}
}

static int32_t raster_max(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

static int32_t raster_min(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

/* Return: false if there is no such pixel */
static bool raster_make_bounds(struct raster *r)
{
	const struct fragment_primitive *p = &r->w->primitive;
	const struct vagx_tile *tile = &r->w->tile;
	const struct vagx_render_geometry *g = &r->w->job->registers->geometry;

	r->min_x = raster_max(raster_max(p->setup.min_x, tile->x), p->scissor->min_x);
	r->min_y = raster_max(raster_max(p->setup.min_y, tile->y), p->scissor->min_y);
	r->max_x = raster_min(raster_min(p->setup.max_x, tile->x + tile->width - 1),
			      raster_min((int32_t)p->scissor->max_x, g->width) - 1);
	r->max_y = raster_min(raster_min(p->setup.max_y, tile->y + tile->height - 1),
			      raster_min((int32_t)p->scissor->max_y, g->height) - 1);
	return r->min_x <= r->max_x && r->min_y <= r->max_y;
}

/* Whether a block may have samples inside of all edges; @all: whether all of its samples are */
static bool raster_block_overlaps(const struct raster *r, int32_t x, int32_t y, bool *all)
{
	unsigned int i;

	*all = true;
	for (i = 0; i < r->edges; i++) {
		const struct edge *e = &r->edge[i];
		int64_t at = e->dx * x * SETUP_SUBPIXEL + e->dy * y * SETUP_SUBPIXEL + e->c;
		int64_t right = e->dx * BLOCK * SETUP_SUBPIXEL;
		int64_t down = e->dy * BLOCK * SETUP_SUBPIXEL;

		if (at + (right > 0 ? right : 0) + (down > 0 ? down : 0) < 0)
			return false;
		if (at + (right < 0 ? right : 0) + (down < 0 ? down : 0) < 0)
			*all = false;
	}
	return true;
}

/* The pixels of a block that are within the bounds, as a mask, row by row */
static uint64_t raster_block_bounds(const struct raster *r, int32_t bx, int32_t by)
{
	uint64_t row = (2ULL << (raster_min(r->max_x - bx, BLOCK - 1))) - 1, pixels = 0;
	int32_t y;

	row &= -1ULL << raster_max(r->min_x - bx, 0);
	for (y = raster_max(r->min_y, by); y <= raster_min(r->max_y, by + BLOCK - 1); y++)
		pixels |= row << (y - by) * BLOCK;
	return pixels;
}

/*
 * An edge function at a sample of the block's first pixel, divided by the subpixels of a pixel
 * and rounded down. From pixel to pixel it changes by multiples of these, so its sign stays
 * right; and it may be limited to 30 bits, as no change within a block is as large.
 */
static int32_t raster_edge_value(const struct edge *e, int64_t px, int64_t py)
{
	int64_t steps = (e->dx * px + e->dy * py + e->c) >> SETUP_SUBPIXEL_BITS;
	const int64_t limit = 1 << 30;

	return (int32_t)(steps < -limit ? -limit : steps > limit ? limit : steps);
}

/* The pixels inside of an edge, as a mask; @at is its function at the block's first pixel */
static inline uint64_t raster_cover_edge(int32_t at, int32_t dx, int32_t dy)
{
	const row_ints y = { 0, 1, 2, 3, 4, 5, 6, 7 };
	row_ints value = at + y * dy, outside = { 0 };
	row_bytes rows;
	uint64_t all;
	int x;

	for (x = 0; x < BLOCK; x++, value += dx)
		outside |= (value < 0) & 1 << x;
	rows = __builtin_convertvector(outside, row_bytes);
	for (all = 0, x = 0; x < BLOCK; x++)
		all |= (uint64_t)rows[x] << x * BLOCK;
	return ~all;
}

/*
 * The pixels of a block of which a sample is covered, as a mask; (px, py) is the position of the
 * first pixel's sample, in subpixels
 */
CLONES static uint64_t raster_cover_sample(const struct raster *r, int64_t px, int64_t py)
{
	uint64_t covered = -1ULL;
	unsigned int i;

	for (i = 0; covered && i < r->edges; i++) {
		const struct edge *e = &r->edge[i];

		covered &= raster_cover_edge(raster_edge_value(e, px, py), (int32_t)e->dx,
					     (int32_t)e->dy);
	}
	return covered;
}

/* Finds the covered pixels of a block, a mask for each sample */
static void raster_cover_block(const struct raster *r, int32_t bx, int32_t by, bool all,
			       uint64_t covered[VAGX_MAX_SAMPLES])
{
	uint64_t bounds = raster_block_bounds(r, bx, by);
	unsigned int s;

	for (s = 0; s < r->w->tile.samples; s++) {
		covered[s] = bounds;
		if (!all)
			covered[s] &= raster_cover_sample(
				r, (int64_t)bx * SETUP_SUBPIXEL + r->sample_x[s],
				(int64_t)by * SETUP_SUBPIXEL + r->sample_y[s]);
	}
}

/* Rasterises a block, and hands it on if anything is covered */
static int raster_block(struct raster *r, int32_t bx, int32_t by)
{
	const struct vagx_tile *tile = &r->w->tile;
	uint64_t covered[VAGX_MAX_SAMPLES], any = 0;
	unsigned int s;
	bool all;

	if (!raster_block_overlaps(r, bx, by, &all))
		return 0;
	raster_cover_block(r, bx, by, all, covered);
	for (s = 0; s < tile->samples; s++)
		any |= covered[s];
	return any ? fragment_add_block(r->w, bx - tile->x, by - tile->y, covered) : 0;
}

int fragment_raster(struct fragment_worker *w)
{
	struct raster r = { .w = w };
	unsigned int s;
	int32_t x, y;
	int err = 0;

	if (!raster_make_bounds(&r))
		return 0;
	raster_make_edges(&r, &w->primitive.setup);
	for (s = 0; s < w->tile.samples; s++) {
		const uint64_t position = w->tile.sample_positions >> s * 8;

		r.sample_x[s] = (position & 15) * SETUP_SUBPIXEL / 16;
		r.sample_y[s] = (position >> 4 & 15) * SETUP_SUBPIXEL / 16;
	}
	for (y = r.min_y & ~(BLOCK - 1); !err && y <= r.max_y; y += BLOCK) {
		for (x = r.min_x & ~(BLOCK - 1); !err && x <= r.max_x; x += BLOCK)
			err = raster_block(&r, x, y);
	}
	return err;
}
