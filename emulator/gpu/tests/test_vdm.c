// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Vertex streams in several pieces, and viewports that turn things round.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "scene_builder.h"

#define BLACK		0xff000000u
#define RED		0xff0000ffu
/* Behind the scene's own stream */
#define PIECE_VA(n)	(STREAM_VA + 0x8000 + 0x1000 * (n))

static struct agx_writer piece(unsigned int n)
{
	struct agx_writer w;

	agx_writer_init(&w, render_at(PIECE_VA(n)), 0x1000);
	return w;
}

static void draw(struct agx_writer *w, uint32_t first)
{
	agx_put(w, vdm_index_list, .primitive = AGX_PRIMITIVE_TRIANGLES, .count_present = true,
		.instances_present = true, .start_present = true);
	agx_put(w, vdm_count, .count = 3);
	agx_put(w, vdm_instances, .count = 1);
	agx_put(w, vdm_start, .start = first);
}

static bool is_drawn(const struct render_fixture *f, uint32_t x, uint32_t y)
{
	uint32_t pixel = scene_pixel(f, x, y, 0);

	assert_true(pixel == RED || pixel == BLACK);
	return pixel == RED;
}

/* A piece is called twice, calls another one itself, and a jump leads to the end */
static void test_calls(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct agx_writer outer = piece(0), inner = piece(1), last = piece(2);
	struct scene s;

	scene_begin(&s, f);
	scene_set(&s, &t);
	draw(&inner, scene_triangle(&s, 40, 40, 0.5));
	agx_put(&inner, vdm_barrier, .returns = true);
	draw(&outer, scene_triangle(&s, 80, 40, 0.5));
	agx_put(&outer, vdm_stream_link, .target = PIECE_VA(1), .with_return = true);
	draw(&outer, scene_triangle(&s, 120, 40, 0.5));
	agx_put(&outer, vdm_barrier, .returns = true);
	draw(&last, scene_triangle(&s, 160, 40, 0.5));
	agx_put(&last, vdm_stream_terminate);

	agx_put(&s.stream, vdm_stream_link, .target = PIECE_VA(0), .with_return = true);
	agx_put(&s.stream, vdm_stream_link, .target = PIECE_VA(1), .with_return = true);
	draw(&s.stream, scene_triangle(&s, 200, 40, 0.5));
	agx_put(&s.stream, vdm_stream_link, .target = PIECE_VA(2));
	/* nothing comes back */
	draw(&s.stream, scene_triangle(&s, 200, 120, 0.5));
	scene_run(&s);
	assert_true(is_drawn(f, 43, 43));
	assert_true(is_drawn(f, 83, 43));
	assert_true(is_drawn(f, 123, 43));
	assert_true(is_drawn(f, 163, 43));
	assert_true(is_drawn(f, 203, 43));
	assert_false(is_drawn(f, 203, 123));
}

static void run_broken(struct render_fixture *f, struct scene *s, unsigned int rule)
{
	scene_end(s);
	assert_int_equal(render_vertex(f), VAGX_GPU_FAULT);
	assert_int_equal(f->unit, VAGX_GPU_UNIT_VDM_CS);
	assert_int_equal(vagx_report_count(f->report, rule), 1);
}

static void test_return_without_call(void **state)
{
	struct scene s;

	scene_begin(&s, *state);
	agx_put(&s.stream, vdm_barrier, .returns = true);
	run_broken(*state, &s, VAGX_CLAUSE_VDM_CALL_DEPTH_return);
}

static void test_calls_itself(void **state)
{
	struct agx_writer w = piece(0);
	struct scene s;

	agx_put(&w, vdm_stream_link, .target = PIECE_VA(0), .with_return = true);
	scene_begin(&s, *state);
	agx_put(&s.stream, vdm_stream_link, .target = PIECE_VA(0));
	run_broken(*state, &s, VAGX_CLAUSE_VDM_CALL_DEPTH_deep);
}

static void test_link_to_odd_address(void **state)
{
	struct scene s;

	scene_begin(&s, *state);
	agx_put(&s.stream, vdm_stream_link, .target = PIECE_VA(0) + 2);
	run_broken(*state, &s, VAGX_CLAUSE_VDM_UNKNOWN_BLOCK_alignment);
}

/* What nobody knows in a link */
static void test_bits_of_links(void **state)
{
	uint32_t *word;
	struct scene s;

	scene_begin(&s, *state);
	word = (uint32_t *)((uint8_t *)render_at(STREAM_VA) + s.stream.used);
	agx_put(&s.stream, vdm_stream_link, .target = PIECE_VA(0));
	*word |= 1 << 27;
	run_broken(*state, &s, VAGX_RULE_VDM_RESERVED_BITS);
}

/* Viewports of negative size: triangles are where they are seen in a mirror */
static void test_mirrors(void **state)
{
	struct render_fixture *f = *state;
	static const struct {
		float x, y;
		uint32_t at_x, at_y;
	} rows[] = {
		{ 1, 1, 43, 63 }, { -1, 1, 212, 63 }, { 1, -1, 43, 192 }, { -1, -1, 212, 192 },
	};
	unsigned int i, n;

	for (i = 0; i < 4; i++) {
		struct scene_state t = scene_default(f);
		struct scene s;

		t.viewport.scale_x *= rows[i].x;
		t.viewport.scale_y *= rows[i].y;
		scene_begin(&s, f);
		scene_set(&s, &t);
		scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, 40, 60, 0.5), 3);
		scene_run(&s);
		for (n = 0; n < 4; n++)
			assert_int_equal(is_drawn(f, rows[n].at_x, rows[n].at_y), n == i);
	}
}

/* A mirror turns round which side is seen */
static void test_mirrored_faces(void **state)
{
	struct render_fixture *f = *state;
	unsigned int i, drawn = 0;

	for (i = 0; i < 4; i++) {
		struct scene_state t = scene_default(f);
		struct scene s;

		t.cull.front = i / 2;
		t.cull.back = !(i / 2);
		t.viewport.scale_x *= i % 2 ? -1 : 1;
		scene_begin(&s, f);
		scene_set(&s, &t);
		scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, 40, 60, 0.5), 3);
		scene_run(&s);
		drawn |= is_drawn(f, i % 2 ? 212 : 43, 63) << i;
	}
	assert_true(drawn == 0x6 || drawn == 0x9);
}

/* The far end of the range first: what is behind passes where less passes */
static void test_depth_range(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct scene s;
	float z;

	t.face.depth_func = AGX_ZS_FUNC_LESS;
	t.face.depth_write_disable = false;
	t.viewport.translate_z = 0.75f;
	t.viewport.scale_z = -0.5f;
	f->fragment.depth.store.base = DEPTH_VA;
	f->fragment.zls_control = 1ULL << 19;
	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, 0, 0, 0.75), 3);
	scene_run(&s);
	memcpy(&z, render_at(DEPTH_VA), sizeof(z));
	assert_true(z == 0.375f);
}

/* Squares of 32 pixels, of which the second and third are let through, and one row */
static void test_region_clip(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	unsigned int i, enable;
	struct scene s;

	for (enable = 0; enable < 2; enable++) {
		scene_begin(&s, f);
		scene_set(&s, &t);
		agx_put(&s.stream, vdm_ppp_state, .address = STATE_VA + s.state.used,
			.words = 3);
		agx_put(&s.state, ppp_header, .region_clip = true);
		agx_put(&s.state, ppp_region_clip, .min_x = 1, .max_x = 3, .min_y = 2,
			.max_y = 3, .enable = enable);
		for (i = 0; i < 4; i++) {
			scene_draw(&s, AGX_PRIMITIVE_TRIANGLES,
				   scene_triangle(&s, 32 * i, 64, 0.5), 3);
			scene_draw(&s, AGX_PRIMITIVE_TRIANGLES,
				   scene_triangle(&s, 32 * i, 96, 0.5), 3);
		}
		scene_run(&s);
		for (i = 0; i < 4; i++) {
			assert_int_equal(is_drawn(f, 32 * i + 3, 67),
					 !enable || i == 1 || i == 2);
			assert_int_equal(is_drawn(f, 32 * i + 3, 99), !enable);
		}
	}
}

int main(void)
{
#define VDM_TEST(name)	cmocka_unit_test_setup_teardown(name, render_setup, render_teardown)
	const struct CMUnitTest tests[] = {
		VDM_TEST(test_calls),
		VDM_TEST(test_return_without_call),
		VDM_TEST(test_calls_itself),
		VDM_TEST(test_link_to_odd_address),
		VDM_TEST(test_bits_of_links),
		VDM_TEST(test_mirrors),
		VDM_TEST(test_mirrored_faces),
		VDM_TEST(test_depth_range),
		VDM_TEST(test_region_clip),
	};

	return cmocka_run_group_tests_name("vdm", tests, NULL, NULL);
}
