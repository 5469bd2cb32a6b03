// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the rasteriser covers by blocks is what is inside of all edges, sample by
 * sample, of triangles of any size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/fragment.h"

/* The guard band: vertices are not further away */
#define FURTHEST	((32767 + 1024) * SETUP_SUBPIXEL)

static uint8_t covered[FRAGMENT_TILE_SIZE][FRAGMENT_TILE_SIZE];

/* In place of the shader */
int fragment_add_block(struct fragment_worker *w, unsigned int x, unsigned int y,
		       const uint64_t pixels[VAGX_MAX_SAMPLES])
{
	uint64_t any = 0;
	unsigned int s, i;

	for (s = 0; s < w->tile.samples; s++) {
		any |= pixels[s];
		for (i = 0; i < 64; i++) {
			if (pixels[s] >> i & 1)
				covered[y + i / 8][x + i % 8] |= 1u << s;
		}
	}
	assert_true(any);
	return 0;
}

static int32_t between(int32_t min, int32_t max)
{
	return min + (int32_t)(((int64_t)rand() << 8 ^ rand()) % ((int64_t)max - min + 1));
}

static int64_t edge(const struct setup *s, unsigned int i, int64_t x, int64_t y)
{
	unsigned int j = (i + 1) % s->vertex_count;

	return (int64_t)(s->x[j] - s->x[i]) * (y - s->y[i]) -
	       (int64_t)(s->y[j] - s->y[i]) * (x - s->x[i]);
}

/* Around the tile, from less than a pixel to all that there is */
static void make_triangle(struct setup *s, const struct vagx_tile *tile)
{
	const int32_t size = SETUP_SUBPIXEL / 2 << rand() % 17;
	const int32_t x = between(tile->x - 8, tile->x + 40) * SETUP_SUBPIXEL;
	const int32_t y = between(tile->y - 8, tile->y + 40) * SETUP_SUBPIXEL;
	/* vertices and edges on samples need the top-left rule */
	const int32_t mask = rand() % 2 ? -1 : -128;
	unsigned int i;

	do {
		s->vertex_count = 3;
		for (i = 0; i < 3; i++) {
			s->x[i] = between(x - size, x + size) & mask;
			s->y[i] = between(y - size, y + size) & mask;
			s->x[i] = s->x[i] < -FURTHEST ? -FURTHEST : s->x[i];
			s->x[i] = s->x[i] > FURTHEST ? FURTHEST : s->x[i];
			s->y[i] = s->y[i] < -FURTHEST ? -FURTHEST : s->y[i];
			s->y[i] = s->y[i] > FURTHEST ? FURTHEST : s->y[i];
		}
	} while (!edge(s, 0, s->x[2], s->y[2]));
	if (edge(s, 0, s->x[2], s->y[2]) < 0) {
		int32_t x0 = s->x[0], y0 = s->y[0];

		s->x[0] = s->x[1];
		s->y[0] = s->y[1];
		s->x[1] = x0;
		s->y[1] = y0;
	}
	setup_bound(s);
}

static bool is_inside(const struct setup *s, int64_t x, int64_t y)
{
	unsigned int i;

	for (i = 0; i < s->vertex_count; i++) {
		unsigned int j = (i + 1) % s->vertex_count;
		int64_t value = edge(s, i, x, y), dx = s->x[j] - s->x[i], dy = s->y[j] - s->y[i];

		if (value < 0 || (value == 0 && dy >= 0 && !(dy == 0 && dx > 0)))
			return false;
	}
	return true;
}

static unsigned int samples_inside(const struct fragment_worker *w, unsigned int x, unsigned int y)
{
	const struct agx_scissor *scissor = w->primitive.scissor;
	const uint64_t positions = w->tile.sample_positions;
	unsigned int s, inside = 0;

	x += w->tile.x;
	y += w->tile.y;
	if (x < scissor->min_x || x >= scissor->max_x || y < scissor->min_y || y >= scissor->max_y ||
	    x >= w->job->registers->geometry.width || y >= w->job->registers->geometry.height)
		return 0;
	for (s = 0; s < w->tile.samples; s++) {
		int64_t px = x * SETUP_SUBPIXEL + (positions >> s * 8 & 15) * 16;
		int64_t py = y * SETUP_SUBPIXEL + (positions >> (s * 8 + 4) & 15) * 16;

		if (is_inside(&w->primitive.setup, px, py))
			inside |= 1u << s;
	}
	return inside;
}

static void random_triangles(void **state)
{
	const struct vagx_fragment_registers registers = {
		.geometry = { .width = 500, .height = 300, .layers = 1, .samples = 1 },
	};
	struct fragment_worker *w = calloc(1, sizeof(*w));
	struct fragment_job job = { .registers = &registers };
	unsigned int round, x, y, some = 0;
	struct agx_scissor scissor;

	assert_non_null(w);
	srand(7);
	for (round = 0; round < 20000; round++) {
		w->job = &job;
		w->tile = (struct vagx_tile){
			.x = 32 * (uint32_t)between(0, 16), .y = 32 * (uint32_t)between(0, 9),
			.width = 32, .height = rand() % 2 ? 16 : 32, .samples = 1u << rand() % 3,
			.sample_positions = rand() % 2 ? 0x88888888 : (uint32_t)rand(),
		};
		scissor = (struct agx_scissor){
			.min_x = rand() % 2 ? 0 : between(0, 500), .max_x = between(0, 600),
			.min_y = rand() % 2 ? 0 : between(0, 300), .max_y = between(0, 400),
		};
		w->primitive.scissor = &scissor;
		make_triangle(&w->primitive.setup, &w->tile);
		memset(covered, 0, sizeof(covered));
		assert_int_equal(fragment_raster(w), 0);
		for (y = 0; y < w->tile.height; y++) {
			for (x = 0; x < w->tile.width; x++) {
				assert_int_equal(covered[y][x], samples_inside(w, x, y));
				some += covered[y][x] != 0;
			}
		}
	}
	assert_true(some > 100000);
	free(w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_triangles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
