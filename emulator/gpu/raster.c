// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The rasteriser: which samples of a tile a primitive covers. A sample that is
 * on an edge belongs to the primitive if the edge is a left or a top one, so of
 * two that share the edge it is exactly one's.
 */
#include "gpu/fragment.h"

/* Blocks that are looked at as a whole first */
#define BLOCK	FRAGMENT_BLOCK

/* One for each line of a block */
typedef int32_t line_ints __attribute__((vector_size(4 * BLOCK)));
typedef uint8_t line_bytes __attribute__((vector_size(BLOCK)));

/* Positive or 0 inside: x * dx + y * dy + c, in subpixels */
struct edge {
	int64_t dx, dy, c;
};

struct raster {
	struct fragment_worker *w;
	struct edge edge[SETUP_MAX_VERTICES];
	unsigned int edges;
	/* pixels of the image that can be covered, the last ones included */
	int32_t min_x, min_y, max_x, max_y;
	/* places of samples in a pixel, in subpixels */
	int32_t sample_x[VAGX_MAX_SAMPLES], sample_y[VAGX_MAX_SAMPLES];
};

static void raster_make_edges(struct raster *r, const struct setup *s)
{
	unsigned int i;

	r->edges = 0;
	for (i = 0; i < s->vertex_count; i++) {
		unsigned int j = setup_next(s, i);
		int64_t dx = (int64_t)s->x[j] - s->x[i], dy = (int64_t)s->y[j] - s->y[i];
		bool ours = dy < 0 || (dy == 0 && dx > 0);

		/* A plane through a corner cuts there, which leaves that corner twice. */
		if (!dx && !dy)
			continue;
		r->edge[r->edges++] = (struct edge){
			.dx = -dy,
			.dy = dx,
			.c = dy * s->x[i] - dx * s->y[i] - !ours,
		};
	}
}

static int32_t raster_most(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

static int32_t raster_least(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

static bool raster_make_bounds(struct raster *r)
{
	const struct fragment_primitive *p = &r->w->primitive;
	const struct vagx_tile *tile = &r->w->tile;
	const struct vagx_render_geometry *g = &r->w->job->registers->geometry;

	r->min_x = raster_most(raster_most(p->setup.min_x, tile->x), p->scissor->min_x);
	r->min_y = raster_most(raster_most(p->setup.min_y, tile->y), p->scissor->min_y);
	r->max_x = raster_least(raster_least(p->setup.max_x, tile->x + tile->width - 1),
				raster_least((int32_t)p->scissor->max_x, g->width) - 1);
	r->max_y = raster_least(raster_least(p->setup.max_y, tile->y + tile->height - 1),
				raster_least((int32_t)p->scissor->max_y, g->height) - 1);
	return r->min_x <= r->max_x && r->min_y <= r->max_y;
}

/* Whether any of a block's samples can be inside; @all: whether all of them are */
static bool raster_block_touched(const struct raster *r, int32_t x, int32_t y, bool *all)
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

/* The part of a block that is within the bounds; a bit for each pixel, line by line */
static uint64_t raster_bound_block(const struct raster *r, int32_t bx, int32_t by)
{
	uint64_t line = (2ULL << (raster_least(r->max_x - bx, BLOCK - 1))) - 1, pixels = 0;
	int32_t y;

	line &= -1ULL << raster_most(r->min_x - bx, 0);
	for (y = raster_most(r->min_y, by); y <= raster_least(r->max_y, by + BLOCK - 1); y++)
		pixels |= line << (y - by) * BLOCK;
	return pixels;
}

/*
 * What an edge is at a block's first sample. Pixels are whole steps from each other, so what
 * is less than one never matters to a sign; nor does what no step in the block can undo.
 */
static int32_t raster_edge_steps(const struct edge *e, int64_t px, int64_t py)
{
	int64_t steps = (e->dx * px + e->dy * py + e->c) >> SETUP_SUBPIXEL_BITS;
	const int64_t limit = 1 << 30;

	return (int32_t)(steps < -limit ? -limit : steps > limit ? limit : steps);
}

/* The pixels of a block of which a sample is inside of an edge that is @at at the first one */
static inline uint64_t raster_cover_edge(int32_t at, int32_t dx, int32_t dy)
{
	const line_ints y = { 0, 1, 2, 3, 4, 5, 6, 7 };
	line_ints value = at + y * dy, outside = { 0 };
	line_bytes lines;
	uint64_t all;
	int x;

	for (x = 0; x < BLOCK; x++, value += dx)
		outside |= (value < 0) & 1 << x;
	lines = __builtin_convertvector(outside, line_bytes);
	for (all = 0, x = 0; x < BLOCK; x++)
		all |= (uint64_t)lines[x] << x * BLOCK;
	return ~all;
}

/* The place of the first pixel's sample in subpixels */
CLONES static uint64_t raster_cover_sample(const struct raster *r, int64_t px, int64_t py)
{
	uint64_t covered = -1ULL;
	unsigned int i;

	for (i = 0; covered && i < r->edges; i++) {
		const struct edge *e = &r->edge[i];

		covered &= raster_cover_edge(raster_edge_steps(e, px, py), (int32_t)e->dx,
					     (int32_t)e->dy);
	}
	return covered;
}

static void raster_cover_block(const struct raster *r, int32_t bx, int32_t by, bool all,
			       uint64_t covered[VAGX_MAX_SAMPLES])
{
	uint64_t bounds = raster_bound_block(r, bx, by);
	unsigned int s;

	for (s = 0; s < r->w->tile.samples; s++) {
		covered[s] = bounds;
		if (!all)
			covered[s] &= raster_cover_sample(
				r, (int64_t)bx * SETUP_SUBPIXEL + r->sample_x[s],
				(int64_t)by * SETUP_SUBPIXEL + r->sample_y[s]);
	}
}

static int raster_block(struct raster *r, int32_t bx, int32_t by)
{
	const struct vagx_tile *tile = &r->w->tile;
	uint64_t covered[VAGX_MAX_SAMPLES], any = 0;
	unsigned int s;
	bool all;

	if (!raster_block_touched(r, bx, by, &all))
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
		r.sample_x[s] = (w->tile.sample_positions >> s * 8 & 15) * SETUP_SUBPIXEL / 16;
		r.sample_y[s] = (w->tile.sample_positions >> (s * 8 + 4) & 15) * SETUP_SUBPIXEL / 16;
	}
	for (y = r.min_y & ~(BLOCK - 1); !err && y <= r.max_y; y += BLOCK) {
		for (x = r.min_x & ~(BLOCK - 1); !err && x <= r.max_x; x += BLOCK)
			err = raster_block(&r, x, y);
	}
	return err;
}
