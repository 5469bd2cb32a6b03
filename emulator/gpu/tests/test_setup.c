// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A triangle that is found not to be cut is what it would be if it was weighed
 * for each plane: a plane of the user's, which cuts nothing, makes the difference.
 */
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

static float between(float least, float most)
{
	return least + (most - least) * ((float)rand() / (float)RAND_MAX);
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
	unsigned int round, drawn = 0, cut = 0;

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
		cut += is_drawn && as_is.corners > 3;
	}
	assert_true(drawn > 50000 && cut > 1000 && cut < drawn / 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_triangles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
