// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Depth that a fragment shader writes, as far as it gets into memory.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene_builder.h"

static float emitted_depth(struct render_fixture *f, float depth)
{
	struct scene_state t = scene_default(f);
	struct scene s;
	float z;

	f->fragment.depth.store.base = DEPTH_VA;
	f->fragment.zls_control = 1ULL << 19;
	t.early_z = false;
	t.constant = depth;
	t.face.depth_write_disable = false;
	t.face.depth_func = AGX_ZS_FUNC_ALWAYS;
	t.fragment_shader = "mov r4, u0\n"
			    "zs_emit 255, r4\n"
			    "stop\n";
	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, 0, 0, 0.5), 3);
	scene_run(&s);
	memcpy(&z, render_at(DEPTH_VA), 4);
	return z;
}

/* The range of the viewport is for the shader's depths as well */
static void test_zs_emit_clamped(void **state)
{
	assert_true(emitted_depth(*state, 0.25f) == 0.25f);
	assert_true(emitted_depth(*state, 1.5f) == 1);
	assert_true(emitted_depth(*state, -0.5f) == 0);
	assert_true(emitted_depth(*state, NAN) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_zs_emit_clamped, render_setup,
						render_teardown),
	};

	return cmocka_run_group_tests_name("render_depth", tests, NULL, NULL);
}
