// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A triangle that setup finds to be inside of all planes has the same result as through the
 * clipper, which a user's clip plane that clips nothing enforces.
 *
 * And the plane equations of such a triangle go through the same snapped vertices as its edges:
 * barycentric coordinates are from 0 to 1 where it is covered.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_float.h"
#include "gpu/setup.h"

/* Position, and a distance from the user's plane */
#define WORDS	5

static float between(float min, float max)
{
	return min + (max - min) * ((float)rand() / (float)RAND_MAX);
}

/* In front of the eye and behind it, in the picture and far from it */
static void make_vertices(uint32_t vertices[3][WORDS])
{
	const float size = rand() % 3 ? 1.5f : 1000;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		float w = rand() % 8 ? between(0.1f, 4) : between(-1, 1);

		vertices[i][0] = float_bits(between(-size, size) * w);
		vertices[i][1] = rand() % 8 ? float_bits(between(-size, size) * w) : 0x80000000;
		vertices[i][2] = float_bits(rand() % 8 ? between(0, w) : between(-1, 2));
		vertices[i][3] = float_bits(rand() % 50 ? w : 0);
		vertices[i][4] = float_bits(1);
	}
}

static struct ppp_state make_state(void)
{
	struct ppp_state state;

	memset(&state, 0, sizeof(state));
	state.viewport[0].translate_x = 200.5f;
	state.viewport[0].scale_x = between(100, 300);
	state.viewport[0].translate_y = 150;
	state.viewport[0].scale_y = -150;
	state.viewport[0].scale_z = 1;
	state.cull.depth_clip = rand() % 2;
	state.cull.front_face_ccw = rand() % 2;
	state.w_clamp.w_clamp = rand() % 2 ? 1e-10f : between(0, 1);
	return state;
}

static void random_triangles(void **state)
{
	unsigned int round, drawn = 0, num_clipped = 0;

	srand(11);
	for (round = 0; round < 200000; round++) {
		struct ppp_state plain = make_state(), clipped = plain;
		uint32_t vertices[3][WORDS];
		struct setup_input in = {
			.kind = SETUP_TRIANGLE,
			.words = WORDS,
			.vertices = { vertices[0], vertices[1], vertices[2] },
			.state = &plain,
		};
		struct setup as_is, weighed;
		bool is_drawn;

		memset(&as_is, 0, sizeof(as_is));
		memset(&weighed, 0, sizeof(weighed));
		make_vertices(vertices);
		clipped.output_select.clip_planes = 1;
		is_drawn = setup_primitive(&as_is, &in);
		in.state = &clipped;
		assert_int_equal(setup_primitive(&weighed, &in), is_drawn);
		assert_memory_equal(&as_is, &weighed, sizeof(as_is));
		drawn += is_drawn;
		num_clipped += is_drawn && as_is.vertex_count > 3;
	}
	assert_true(drawn > 50000 && num_clipped > 1000 && num_clipped < drawn / 2);
}

/* The edge function of a vertex and the next one, at a point: not negative inside */
static int64_t edge(const struct setup *s, unsigned int i, int64_t x, int64_t y)
{
	const unsigned int j = setup_next(s, i);

	return (int64_t)(s->x[j] - s->x[i]) * (y - s->y[i]) -
	       (int64_t)(s->y[j] - s->y[i]) * (x - s->x[i]);
}

static double value_at(const struct setup_plane *plane, double x, double y)
{
	return plane->a * x + plane->b * y + plane->c;
}

/* At a point that is covered each of the three barycentric coordinates is from 0 to 1 */
static void check_barycentrics(const struct setup *s, int64_t x, int64_t y)
{
	const struct setup_solver solver = setup_solver(s);
	const double px = (double)x / SETUP_SUBPIXEL, py = (double)y / SETUP_SUBPIXEL;
	const double one[3] = { 1, 1, 1 };
	const struct setup_plane divisor = setup_plane(&solver, one);
	double sum = 0;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		double value[3] = { 0, 0, 0 }, barycentric;
		struct setup_plane plane;

		value[i] = 1;
		plane = setup_plane(&solver, value);
		barycentric = value_at(&plane, px, py) / value_at(&divisor, px, py);
		assert_true(barycentric > -1e-6 && barycentric < 1 + 1e-6);
		sum += barycentric;
	}
	assert_true(fabs(sum - 1) < 1e-6);
}

/*
 * Triangles of some pixels, with perspective, that are not clipped. Errors of rounding show at
 * their vertices and next to their edges, in steps of a subpixel.
 */
static void weights_of_what_is_covered(void **state)
{
	unsigned int round, checked = 0;

	srand(12);
	for (round = 0; round < 20000; round++) {
		struct ppp_state plain = make_state();
		uint32_t vertices[3][WORDS];
		struct setup_input in = {
			.kind = SETUP_TRIANGLE,
			.words = WORDS,
			.vertices = { vertices[0], vertices[1], vertices[2] },
			.state = &plain,
		};
		struct setup s = { .vertex_count = 0 };
		unsigned int i;

		plain.w_clamp.w_clamp = 1e-10f;
		for (i = 0; i < 3; i++) {
			float w = between(0.5f, 2);

			vertices[i][0] = float_bits(between(-0.05f, 0.05f) * w);
			vertices[i][1] = float_bits(between(-0.05f, 0.05f) * w);
			vertices[i][2] = float_bits(between(0.1f, 0.9f) * w);
			vertices[i][3] = float_bits(w);
			vertices[i][4] = float_bits(1);
		}
		if (!setup_primitive(&s, &in))
			continue;
		for (i = 0; i < 30; i++) {
			const unsigned int vertex = i % 3, next = setup_next(&s, vertex);
			const int64_t part = rand() % 257;
			int64_t x = s.x[vertex] + (s.x[next] - s.x[vertex]) * part / 256;
			int64_t y = s.y[vertex] + (s.y[next] - s.y[vertex]) * part / 256;

			x += i < 3 ? 0 : rand() % 3 - 1;
			y += i < 3 ? 0 : rand() % 3 - 1;
			if (edge(&s, 0, x, y) < 0 || edge(&s, 1, x, y) < 0 || edge(&s, 2, x, y) < 0)
				continue;
			check_barycentrics(&s, x, y);
			checked++;
		}
	}
	assert_true(checked > 100000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_triangles),
		cmocka_unit_test(weights_of_what_is_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
