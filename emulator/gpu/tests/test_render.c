// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Vertex and fragment work as jobs.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/image.h"
#include "scene_builder.h"

#define BLACK	0xff000000u
#define RED	0xff0000ffu
#define WHITE	0xffffffffu

static void put_triangle(struct scene *s, float x, float y, float z)
{
	scene_draw(s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(s, x, y, z), 3);
}

static void small_scene(struct scene *s, struct render_fixture *f)
{
	struct scene_state state = scene_default(f);

	scene_begin(s, f);
	scene_set(s, &state);
	put_triangle(s, 40, 40, 0.5);
	scene_end(s);
}

/* Pages are taken, lead to each other, and come back */
static void test_pages_come_back(void **state)
{
	struct render_fixture *f = *state;
	struct scene s;

	small_scene(&s, f);
	assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
	assert_int_equal(render_pages_taken(f), 1);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_DONE);
	assert_int_equal(render_pages_taken(f), 0);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_DONE);
}

static void test_no_pages(void **state)
{
	struct render_fixture *f = *state;
	struct scene s;

	small_scene(&s, f);
	f->limit = 0;
	assert_int_equal(render_vertex(f), VAGX_GPU_STARVED);
	assert_int_equal(render_pages_taken(f), 0);
}

static void test_bad_geometry(void **state)
{
	struct render_fixture *f = *state;

	render_size(f, 0, 256, 1, 1);
	assert_int_equal(render_vertex(f), VAGX_GPU_FAULT);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_FAULT);
	render_size(f, 256, 256, 1, 3);
	assert_int_equal(render_vertex(f), VAGX_GPU_FAULT);
	assert_int_equal(vagx_report_count(f->report, VAGX_RULE_RENDER_GEOMETRY), 3);
}

/* Each part of a scene that is not mapped is a fault there */
static void test_unmapped(void **state)
{
	static const struct {
		uint64_t va;
		unsigned int unit;
	} part[] = {
		{ TILEMAP_VA, VAGX_GPU_UNIT_TE },
		{ TPC_VA, VAGX_GPU_UNIT_TE },
		{ HEAP_META_VA, VAGX_GPU_UNIT_TE },
		{ PAGES_VA, VAGX_GPU_UNIT_TE },
		{ STREAM_VA, VAGX_GPU_UNIT_VDM_CS },
		{ STATE_VA, VAGX_GPU_UNIT_VDM_CS },
		{ USC_VA, VAGX_GPU_UNIT_VDM },
		{ DATA_VA, VAGX_GPU_UNIT_USC },
	};
	struct render_fixture *f = *state;
	struct scene s;
	unsigned int i;

	small_scene(&s, f);
	for (i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		render_hole = part[i].va;
		assert_int_equal(render_vertex(f), VAGX_GPU_FAULT);
		assert_int_equal(f->unit, part[i].unit);
		assert_int_equal(f->fault.va & ~0x3fffULL, part[i].va);
		memset(f->taken, 0, sizeof(f->taken));
	}
	render_hole = IMAGE_VA;
	assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_FAULT);
	assert_int_equal(f->unit, VAGX_GPU_UNIT_USC);
	assert_int_equal(f->fault.va & ~0x3fffULL, IMAGE_VA);
	assert_int_equal(render_pages_taken(f), 0);
}

static void test_reused_page(void **state)
{
	struct render_fixture *f = *state;
	struct scene s;

	small_scene(&s, f);
	assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
	memset(render_at(PAGES_VA), 0x11, VAGX_TVB_PAGE_SIZE);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_FAULT);
	assert_int_equal(f->unit, VAGX_GPU_UNIT_ISP);
	assert_int_equal(vagx_report_count(f->report, VAGX_RULE_TVB_CORRUPT), 1);
}

/* Shaders are not run, but streams are walked, and pages used */
static void test_no_exec(void **state)
{
	struct render_fixture *f = *state;
	struct scene s;

	small_scene(&s, f);
	assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
	assert_int_equal(render_pages_taken(f), 1);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_DONE);
	assert_int_equal(render_pages_taken(f), 0);
	assert_int_equal(scene_pixel(f, 45, 45, 0), 0xeeeeeeee);
}

/* Pictures */

static void test_clear(void **state)
{
	static const float colour[4] = { 1, 0.5, 0.25, 1 };
	struct render_fixture *f = *state;
	struct scene s;
	uint32_t x, y;

	render_size(f, 100, 70, 1, 1);
	scene_begin(&s, f);
	scene_clear(&s, colour);
	scene_run(&s);
	for (y = 0; y < 70; y++) {
		for (x = 0; x < 100; x++)
			assert_int_equal(scene_pixel(f, x, y, 0), 0xff4080ff);
	}
}

static void test_triangle(void **state)
{
	struct render_fixture *f = *state;
	struct scene s;
	uint32_t x, y;

	small_scene(&s, f);
	scene_run(&s);
	for (y = 0; y < 256; y++) {
		for (x = 0; x < 256; x++) {
			bool in = x >= 40 && y >= 40 && x - 40 + y - 40 < 20 - 1;

			assert_int_equal(scene_pixel(f, x, y, 0), in ? RED : BLACK);
		}
	}
}

/* A corner of each colour: together they are one everywhere */
static void test_colours(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	const float v[3][SCENE_VERTEX_WORDS] = {
		{ -0.8f, 0.7f, 0.5, 1, 1, 0, 0, 1 },
		{ 0.9f * 3, 0.4f * 3, 0.5, 3, 0, 1, 0, 1 },
		{ -0.1f, -0.9f, 0.5, 1, 0, 0, 1, 1 },
	};
	unsigned int inside = 0;
	struct scene s;
	uint32_t x, y;

	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(&s, v, 3), 3);
	scene_run(&s);
	for (y = 0; y < 256; y++) {
		for (x = 0; x < 256; x++) {
			uint32_t pixel = scene_pixel(f, x, y, 0);
			int sum = (pixel & 255) + (pixel >> 8 & 255) + (pixel >> 16 & 255);

			assert_true(pixel == BLACK || abs(sum - 255) <= 1);
			inside += pixel != BLACK;
		}
	}
	assert_true(inside > 15000);
	if (getenv("RENDER_PICTURE"))
		scene_write_ppm(f, getenv("RENDER_PICTURE"));
}

/* Adds a constant to what is there: so pixels count what covers them */
static const char adding_shader[] =
	"ld_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
	"mov r8, u0\n"
	"fadd r4, r4, r8\n"
	"sample_mask 255, 255\n"
	"st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
	"stop\n";

#define MESH	9

/* A grid whose points are anywhere near their places; all of it is inside of the image */
static void put_mesh(struct scene *s, unsigned int seed)
{
	float v[MESH * MESH][SCENE_VERTEX_WORDS];
	uint16_t indices[(MESH - 1) * (MESH - 1) * 6];
	unsigned int x, y, n = 0;
	uint64_t va;

	srandom(seed);
	for (y = 0; y < MESH; y++) {
		for (x = 0; x < MESH; x++) {
			bool inner = x && y && x < MESH - 1 && y < MESH - 1;
			float dx = inner ? (random() % 1000 - 500) / 10000.0f : 0;
			float dy = inner ? (random() % 1000 - 500) / 10000.0f : 0;
			float w = 0.5f + random() % 1000 / 300.0f;
			float *p = v[y * MESH + x];

			p[0] = ((x - 4.0f) * 0.24f + dx) * w;
			p[1] = ((y - 4.0f) * 0.24f + dy) * w;
			p[2] = 0.5f * w;
			p[3] = w;
			memset(p + 4, 0, 16);
		}
	}
	for (y = 0; y < MESH - 1; y++) {
		for (x = 0; x < MESH - 1; x++) {
			uint16_t i = y * MESH + x;
			const uint16_t six[] = { i, i + 1, i + MESH, i + MESH, i + 1, i + MESH + 1 };

			memcpy(indices + n, six, sizeof(six));
			n += 6;
		}
	}
	va = scene_indices(s, indices, sizeof(indices));
	scene_draw_indexed(s, AGX_PRIMITIVE_TRIANGLES, AGX_INDEX_SIZE_U16, va, sizeof(indices), n,
			   scene_vertices(s, v, MESH * MESH), false);
}

/* Triangles that share edges: no pixel is drawn twice, and none is missed */
static void check_mesh(struct render_fixture *f, unsigned int seed)
{
	struct scene_state state = scene_default(f);
	uint32_t x, y, count = 0;
	struct scene s;

	state.fragment_shader = adding_shader;
	state.constant = 1 / 255.0f;
	state.early_z = false;
	state.control.visibility = AGX_VISIBILITY_COUNTING;
	state.query.index = 5;
	scene_begin(&s, f);
	scene_linear(&s);
	scene_set(&s, &state);
	put_mesh(&s, seed);
	scene_run(&s);
	for (y = 0; y < 256; y++) {
		for (x = 0; x < 256; x++) {
			uint32_t covered = scene_linear_pixel(f, x, y) - BLACK;
			bool inside = x > 5 && y > 5 && x < 250 && y < 250;

			if (covered > 1)
				fail_msg("seed %u: pixel %u, %u: %#x", seed, x, y, covered);
			assert_true(covered || !inside);
			count += covered;
		}
	}
	assert_true(count > 240 * 240);
	assert_int_equal(scene_query(5), count);
}

static void test_shared_edges(void **state)
{
	unsigned int seed;

	for (seed = 0; seed < 8; seed++)
		check_mesh(*state, seed);
}

static void draw_many(struct render_fixture *f, unsigned int pages)
{
	struct scene_state state = scene_default(f);
	struct scene s;
	unsigned int i;

	f->limit = pages;
	state.fragment_shader = adding_shader;
	state.constant = 1 / 255.0f;
	state.early_z = false;
	scene_begin(&s, f);
	scene_linear(&s);
	scene_set(&s, &state);
	srandom(1);
	for (i = 0; i < 400; i++)
		put_triangle(&s, random() % 2400 / 10.0f, random() % 2400 / 10.0f, 0.5);
	scene_run(&s);
}

/* With hardly any pages there are many partial renders, and the same picture */
static void test_partial_renders(void **state)
{
	static uint32_t expected[256][256];
	struct render_fixture *f = *state;
	uint32_t x, y, drawn = 0;

	draw_many(f, MAX_PAGES);
	assert_int_equal(f->overflows, 0);
	for (y = 0; y < 256; y++) {
		for (x = 0; x < 256; x++) {
			expected[y][x] = scene_linear_pixel(f, x, y);
			drawn += expected[y][x] != BLACK;
		}
	}
	draw_many(f, 1);
	assert_true(f->overflows > 3);
	for (y = 0; y < 256; y++)
		for (x = 0; x < 256; x++)
			assert_int_equal(scene_linear_pixel(f, x, y), expected[y][x]);
	assert_true(drawn > 10000);
}

/* What is nearer wins, in whatever order */
static void check_depth(struct render_fixture *f, float first, float second, uint32_t expected)
{
	struct scene_state state = scene_default(f);
	struct scene s;

	state.face.depth_func = AGX_ZS_FUNC_LESS;
	state.face.depth_write_disable = false;
	scene_begin(&s, f);
	scene_set(&s, &state);
	put_triangle(&s, 40, 40, first);
	state.fragment_shader = "mov r4, u0\nmov r5, u0\nmov r6, u0\nmov r7, u0\n"
				"sample_mask 255, 255\n"
				"st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
				"stop\n";
	state.constant = 1;
	scene_set(&s, &state);
	put_triangle(&s, 40, 40, second);
	scene_run(&s);
	assert_int_equal(scene_pixel(f, 45, 45, 0), expected);
	assert_int_equal(scene_pixel(f, 39, 45, 0), BLACK);
}

static void test_depth(void **state)
{
	check_depth(*state, 0.25, 0.5, RED);
	check_depth(*state, 0.5, 0.25, WHITE);
	check_depth(*state, 0.5, 0.5, RED);
}

/* Depth and stencil go to memory and come back in the next render */
static void test_depth_in_memory(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct scene s;
	float z;

	f->fragment.depth.store.base = f->fragment.depth.load.base = DEPTH_VA;
	f->fragment.stencil.store.base = f->fragment.stencil.load.base = STENCIL_VA;
	f->fragment.zls_control = 1ULL << 18 | 1ULL << 19;
	t.face.depth_func = AGX_ZS_FUNC_LESS;
	t.face.depth_write_disable = false;
	t.control.stencil_test_enable = true;
	t.face.stencil_reference = 0x81;
	t.stencil.compare = AGX_ZS_FUNC_ALWAYS;
	t.stencil.write_mask = 0xf0;
	t.stencil.depth_pass = AGX_STENCIL_OP_REPLACE;
	scene_begin(&s, f);
	scene_set(&s, &t);
	put_triangle(&s, 0, 0, 0.25);
	scene_run(&s);
	memcpy(&z, render_at(DEPTH_VA), 4);
	assert_true(z == 0.25f);
	assert_int_equal(*(uint8_t *)render_at(STENCIL_VA), 0x80);

	/* equal to what was stored, and only there */
	f->fragment.zls_control = 1ULL << 14 | 1ULL << 15;
	t.stencil.compare = AGX_ZS_FUNC_EQUAL;
	t.stencil.read_mask = 0x80;
	t.face.depth_func = AGX_ZS_FUNC_EQUAL;
	scene_begin(&s, f);
	scene_set(&s, &t);
	put_triangle(&s, 0, 0, 0.25);
	put_triangle(&s, 40, 40, 0.25);
	scene_run(&s);
	assert_int_equal(scene_pixel(f, 3, 3, 0), RED);
	assert_int_equal(scene_pixel(f, 43, 43, 0), BLACK);

	f->fragment.zls_pixels = 0x7fff;
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_FAULT);
	assert_int_equal(f->unit, VAGX_GPU_UNIT_ZLS);
	assert_int_equal(vagx_report_count(f->report, VAGX_RULE_ZLS_SIZE), 1);
}

static void test_discard(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct scene s;

	t.early_z = false;
	t.fragment_shader = "mov r8, thread_in_grid_x\n"
			    "and r8l, r8l, 1\n"
			    "sample_mask 255, r8l\n"
			    "iter r4_r5_r6_r7, cf1, cf0\n"
			    "st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
			    "stop\n";
	scene_begin(&s, f);
	scene_set(&s, &t);
	put_triangle(&s, 40, 40, 0.25);
	scene_run(&s);
	assert_int_equal(scene_pixel(f, 43, 43, 0), RED);
	assert_int_equal(scene_pixel(f, 44, 43, 0), BLACK);
}

/* Which pixels a quad of two triangles in a strip covers, by its facing */
static unsigned int count_pixels(const struct render_fixture *f)
{
	unsigned int n = 0;
	uint32_t x, y;

	for (y = 0; y < f->vertex.geometry.height; y++)
		for (x = 0; x < f->vertex.geometry.width; x++)
			n += scene_pixel(f, x, y, 0) != BLACK;
	return n;
}

static unsigned int scene_count(const struct render_fixture *f, uint32_t colour)
{
	unsigned int n = 0;
	uint32_t x, y;

	for (y = 0; y < f->vertex.geometry.height; y++)
		for (x = 0; x < f->vertex.geometry.width; x++)
			n += scene_pixel(f, x, y, 0) == colour;
	return n;
}

static void put_vertices(struct scene *s, enum agx_primitive primitive, const float (*xy)[2],
			 unsigned int count)
{
	float v[8][SCENE_VERTEX_WORDS];
	unsigned int i;

	for (i = 0; i < count; i++) {
		const float words[] = { xy[i][0] / 128 - 1, xy[i][1] / 128 - 1, 0.5, 1, 1, 0, 0, 1 };

		memcpy(v[i], words, sizeof(words));
	}
	scene_draw(s, primitive, scene_vertices(s, v, count), count);
}

static unsigned int draw_count(struct render_fixture *f, const struct scene_state *t,
			       enum agx_primitive primitive, const float (*xy)[2],
			       unsigned int count)
{
	struct scene s;

	scene_begin(&s, f);
	scene_set(&s, t);
	put_vertices(&s, primitive, xy, count);
	scene_run(&s);
	return count_pixels(f);
}

/* Primitives of one draw that cover each other are shaded one after the other */
static void test_overlap(void **state)
{
	static const float vertices[6][2] = {
		{ 40, 40 }, { 44, 40 }, { 40, 44 }, { 40, 40 }, { 44, 40 }, { 40, 44 },
	};
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);

	t.fragment_shader = adding_shader;
	t.constant = 1 / 255.0f;
	t.early_z = false;
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_TRIANGLES, vertices, 6), 6);
	assert_int_equal(scene_pixel(f, 40, 40, 0), BLACK + 2);
}

static void test_primitives(void **state)
{
	static const float square[4][2] = { { 8, 8 }, { 24, 8 }, { 8, 24 }, { 24, 24 } };
	static const float round[4][2] = { { 8, 8 }, { 24, 8 }, { 24, 24 }, { 8, 24 } };
	static const float row[4][2] = { { 8, 8.5 }, { 24, 8.5 }, { 30, 8.5 }, { 40, 8.5 } };
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);

	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_TRIANGLE_STRIP, square, 4), 256);
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_TRIANGLE_FAN, round, 4), 256);
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_POINTS, square, 4), 4);
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_LINES, row, 4), 26);
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_LINE_STRIP, row, 4), 32);
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_LINE_LOOP, row, 4), 32);
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_TRIANGLES, square, 4), 120);

	/* all of a strip faces the same way */
	t.cull.back = true;
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_TRIANGLE_STRIP, square, 4), 256);
	t.cull.front = true;
	t.cull.back = false;
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_TRIANGLE_STRIP, square, 4), 0);
	t.cull.front_face_ccw = true;
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_TRIANGLE_STRIP, square, 4), 256);
}

/* A point, a line and a triangle that are behind the eye in part or altogether */
static void test_clip(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	const float crossing[3][SCENE_VERTEX_WORDS] = {
		{ -0.5, 0, 0.5, 1, 1, 0, 0, 1 },
		{ 0.5, 0, 0.5, 1, 1, 0, 0, 1 },
		{ 0, -1, -0.5, -1, 1, 0, 0, 1 },
	};
	const float huge[3][SCENE_VERTEX_WORDS] = {
		{ -1e6, -1e6, 0.5, 1, 1, 0, 0, 1 },
		{ 1e6, -1e6, 0.5, 1, 1, 0, 0, 1 },
		{ 0, 1e6, 0.5, 1, 1, 0, 0, 1 },
	};
	const float nonsense[3][SCENE_VERTEX_WORDS] = {
		{ NAN, INFINITY, 0.5, 1, 1, 0, 0, 1 },
		{ 1, -INFINITY, 0.5, 0, 1, 0, 0, 1 },
		{ 0, 1, 0.5, 1e-38, 1, 0, 0, 1 },
	};
	struct scene s;

	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(&s, crossing, 3), 3);
	scene_run(&s);
	/* it opens upward, beyond the upper corners */
	assert_int_equal(scene_pixel(f, 1, 0, 0), RED);
	assert_int_equal(scene_pixel(f, 254, 0, 0), RED);

	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(&s, nonsense, 3), 3);
	scene_draw(&s, AGX_PRIMITIVE_LINES, scene_vertices(&s, nonsense, 3), 2);
	scene_draw(&s, AGX_PRIMITIVE_POINTS, scene_vertices(&s, nonsense, 3), 3);
	scene_run(&s);
	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(&s, huge, 3), 3);
	scene_run(&s);
	assert_int_equal(count_pixels(f), 256 * 256);
}

/* Attributes over a triangle in perspective: along its edge 1/w goes evenly */
static void test_perspective(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	const float v[3][SCENE_VERTEX_WORDS] = {
		{ -1, -1, 0.5, 1, 0, 0, 0, 1 },
		{ 3 * 4, -1 * 4, 0.5 * 4, 4, 1, 0, 0, 1 },
		{ -1, 3, 0.5, 1, 0, 0, 0, 1 },
	};
	struct scene s;
	uint32_t x;

	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(&s, v, 3), 3);
	scene_run(&s);
	for (x = 0; x < 250; x += 10) {
		double at = (x + 0.5) / 512, expected = (at / 4) / ((1 - at) + at / 4) * 255;

		assert_true(fabs((scene_pixel(f, x, 0, 0) & 0xff) - expected) <= 0.6);
	}
	t.shade = AGX_SHADE_MODEL_FLAT_VERTEX_1;
	t.fragment_shader = "ldcf r4_r5_r6, cf1\n"
			    "mov r5, 0\nmov r7, 0\n"
			    "sample_mask 255, 255\n"
			    "st_tile r6_r7, 0, 255, 0, u8norm, xy\n"
			    "stop\n";
	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(&s, v, 3), 3);
	scene_run(&s);
	assert_int_equal(scene_pixel(f, 3, 3, 0) & 0xff, 0xff);
}

/* Indices of each size, with and without an end between them */
static void test_indices(void **state)
{
	static const float square[4][2] = { { 8, 8 }, { 24, 8 }, { 8, 24 }, { 24, 24 } };
	static const enum agx_index_size sizes[] = {
		AGX_INDEX_SIZE_U8, AGX_INDEX_SIZE_U16, AGX_INDEX_SIZE_U32,
	};
	static const uint8_t row[] = { 3, 4, 5, 255, 3, 4, 5, 6 };
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	unsigned int i, k;

	for (i = 0; i < 3; i++) {
		float v[7][SCENE_VERTEX_WORDS] = { { 0 } };
		uint32_t wide[8];
		uint16_t half[8];
		const void *list[] = { row, half, wide };
		struct scene s;
		uint64_t va;

		for (k = 0; k < 8; k++) {
			wide[k] = row[k] == 255 ? UINT32_MAX : row[k];
			half[k] = (uint16_t)wide[k];
		}
		for (k = 0; k < 4; k++) {
			const float words[] = { square[k][0] / 128 - 1, square[k][1] / 128 - 1,
						0.5, 1, 1, 0, 0, 1 };

			memcpy(v[k], words, sizeof(words));
		}
		scene_begin(&s, f);
		scene_set(&s, &t);
		scene_vertices(&s, (const float (*)[SCENE_VERTEX_WORDS])v, 7);
		va = scene_indices(&s, list[i], 8 << i);
		scene_draw_indexed(&s, AGX_PRIMITIVE_TRIANGLE_STRIP, sizes[i], va, 8 << i, 8, -3,
				   true);
		scene_run(&s);
		assert_int_equal(count_pixels(f), 256);
	}
}

static void test_samples(void **state)
{
	static const float square[4][2] = { { 8, 8.75 }, { 24, 8.75 }, { 8, 24 }, { 24, 24 } };
	struct render_fixture *f = *state;
	struct scene_state t;
	struct scene s;
	uint32_t samples[4];

	render_size(f, 64, 64, 1, 4);
	f->vertex.ppp_multisample = f->fragment.ppp_multisample = 0xeaa26e26;
	t = scene_default(f);
	t.viewport.scale_x = t.viewport.scale_y = 128;
	t.viewport.translate_x = t.viewport.translate_y = 128;
	scene_begin(&s, f);
	scene_set(&s, &t);
	put_vertices(&s, AGX_PRIMITIVE_TRIANGLE_STRIP, square, 4);
	scene_run(&s);
	memcpy(samples, scene_pixel_at(f, 8, 8, 0), sizeof(samples));
	/* their lines are at 2, 6, 10 and 14 16ths */
	assert_int_equal(samples[0], BLACK);
	assert_int_equal(samples[1], BLACK);
	assert_int_equal(samples[2], BLACK);
	assert_int_equal(samples[3], RED);
}

/*
 * Vertices name their layer in the word behind the varyings, whether or not these are
 * for anyone; it is the provoking one's
 */
static void draw_layers(struct render_fixture *f, bool varyings, unsigned int samples)
{
	struct scene_state t;
	struct scene s;
	uint32_t layer;

	render_size(f, 256, 256, 3, samples);
	t = scene_default(f);
	t.select.layer = true;
	t.select.varyings = varyings;
	t.outputs = 9;
	t.vertex_shader = "iadd r7, r5, r5\n"
			  "load r8_r9_r10_r11, du0, r7, lsl 2, i32, xyzw, a\n"
			  "iadd r12, r5, 2\n"
			  "st_var r8, 0\nst_var r9, 1\nst_var r10, 2\nst_var r11, 3\n"
			  "st_var r11, 4\nst_var r5, 5\nst_var r5, 6\nst_var r11, 7\n"
			  "st_var r12, 8, last\n"
			  "stop\n";
	scene_begin(&s, f);
	scene_set(&s, &t);
	put_triangle(&s, 40, 40, 0.5);
	scene_run(&s);
	for (layer = 0; layer < 3; layer++)
		assert_int_equal(scene_pixel(f, 45, 45, layer), layer == 2 ? RED : BLACK);
}

static void test_layers(void **state)
{
	draw_layers(*state, true, 1);
	draw_layers(*state, false, 1);
	draw_layers(*state, true, 4);
}

/* A triangle around the picture, whose vertices have these distances from a clip plane */
static unsigned int clip_distance_count(struct render_fixture *f, float a, float b, float c)
{
	struct scene_state t = scene_default(f);
	const float v[3][SCENE_VERTEX_WORDS] = {
		{ -1, -1, 0.5, 1, a, 0, 0, 1 },
		{ 3, -1, 0.5, 1, b, 0, 0, 1 },
		{ -1, 3, 0.5, 1, c, 0, 0, 1 },
	};
	struct scene s;

	t.select.clip_planes = 1;
	t.outputs = 9;
	t.vertex_shader = "iadd r7, r5, r5\n"
			  "load r8_r9_r10_r11, du0, r7, lsl 2, i32, xyzw, a\n"
			  "iadd r7, r7, 1\n"
			  "load r12, du0, r7, lsl 2, i32, x, a\n"
			  "st_var r8, 0\nst_var r9, 1\nst_var r10, 2\nst_var r11, 3\n"
			  "st_var r11, 4\nst_var r11, 5\nst_var r11, 6\nst_var r11, 7\n"
			  "st_var r12, 8, last\n"
			  "stop\n";
	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(&s, v, 3), 3);
	scene_run(&s);
	return count_pixels(f);
}

/* A part of the triangle is on the wrong side of a plane */
static void test_clip_distance(void **state)
{
	struct render_fixture *f = *state;

	/* the distance is 1 at the left edge and 0 in the middle */
	assert_int_equal(clip_distance_count(f, 1, -3, 1), 128 * 256);
	assert_int_equal(scene_pixel(f, 127, 100, 0), WHITE);
	assert_int_equal(scene_pixel(f, 128, 100, 0), BLACK);
	/* the plane goes through the second vertex, and from there to the edge's middle */
	assert_in_range(clip_distance_count(f, -1, 0, 1), 64 * 256 - 128, 64 * 256 + 128);
	assert_in_range(clip_distance_count(f, 1, 0, -1), 192 * 256 - 128, 192 * 256 + 128);
	assert_int_equal(clip_distance_count(f, 0, 1, 0), 256 * 256);
	assert_int_equal(clip_distance_count(f, 0, -1, -1), 0);
}

static void test_outlines(void **state)
{
	static const float vertices[3][2] = { { 8.5, 8.5 }, { 40.5, 8.5 }, { 8.5, 40.5 } };
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);

	t.face.polygon_mode = AGX_POLYGON_MODE_POINT;
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_TRIANGLES, vertices, 3), 3);
	t.face.polygon_mode = AGX_POLYGON_MODE_LINE;
	assert_in_range(draw_count(f, &t, AGX_PRIMITIVE_TRIANGLES, vertices, 3), 93, 99);
}

/* A pixel belongs to a line that leaves its diamond: a strip has each one once */
static void test_bresenham(void **state)
{
	static const float strip[4][2] = {
		{ 8.25, 8.5 }, { 24.6, 8.5 }, { 40.75, 8.5 }, { 48.5, 40.5 },
	};
	static const float vertices[2][2] = { { 8.8, 8.4 }, { 12.1, 8.4 } };
	static const float inside[2][2] = { { 8.4, 8.4 }, { 8.6, 8.5 } };
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);

	t.fragment_shader = adding_shader;
	t.constant = 1 / 255.0f;
	t.early_z = false;
	t.cull.primitive_msaa = true;
	/* columns 8 to 40 to begin with, and then lines 8 to 39 */
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_LINE_STRIP, strip, 3), 32);
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_LINE_STRIP, strip, 4), 32 + 32);
	assert_int_equal(scene_pixel(f, 24, 8, 0), BLACK + 1);
	assert_int_equal(scene_pixel(f, 40, 8, 0), BLACK + 1);
	/* begins behind its first centre, but within the diamond; ends before the last one */
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_LINES, vertices, 2), 4);
	assert_int_equal(scene_pixel(f, 8, 8, 0), BLACK + 1);
	assert_int_equal(scene_pixel(f, 12, 8, 0), BLACK);
	/* never leaves it */
	assert_int_equal(draw_count(f, &t, AGX_PRIMITIVE_LINES, inside, 2), 0);
}

/* Points and lines of a triangle have its provoking vertex' flat values */
static void test_flat_outlines(void **state)
{
	const float v[3][SCENE_VERTEX_WORDS] = {
		{ -0.5, -0.5, 0.5, 1, 1, 0, 0, 1 },
		{ 0.5, -0.5, 0.5, 1, 0, 1, 0, 1 },
		{ -0.5, 0.5, 0.5, 1, 0, 0, 1, 1 },
	};
	static const uint32_t colour[3] = { RED, 0xff00ff00, 0xffff0000 };
	static const enum agx_shade_model model[3] = {
		AGX_SHADE_MODEL_FLAT_VERTEX_0, AGX_SHADE_MODEL_FLAT_VERTEX_1,
		AGX_SHADE_MODEL_FLAT_VERTEX_2,
	};
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	unsigned int i;
	struct scene s;

	for (i = 0; i < 6; i++) {
		t.shade = model[i / 2];
		t.face.polygon_mode = i % 2 ? AGX_POLYGON_MODE_LINE : AGX_POLYGON_MODE_POINT;
		scene_begin(&s, f);
		scene_set(&s, &t);
		scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(&s, v, 3), 3);
		scene_run(&s);
		assert_int_equal(scene_count(f, colour[i / 2]), count_pixels(f));
		assert_int_not_equal(count_pixels(f), 0);
	}
}

/* The last of a line's vertices is its third one, too */
static void test_flat_lines(void **state)
{
	const float v[2][SCENE_VERTEX_WORDS] = {
		{ -0.5, -0.5, 0.5, 1, 1, 0, 0, 1 },
		{ 0.5, -0.5, 0.5, 1, 0, 1, 0, 1 },
	};
	static const enum agx_shade_model model[3] = {
		AGX_SHADE_MODEL_FLAT_VERTEX_0, AGX_SHADE_MODEL_FLAT_VERTEX_1,
		AGX_SHADE_MODEL_FLAT_VERTEX_2,
	};
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	unsigned int i;
	struct scene s;

	for (i = 0; i < 3; i++) {
		t.shade = model[i];
		scene_begin(&s, f);
		scene_set(&s, &t);
		scene_draw(&s, AGX_PRIMITIVE_LINES, scene_vertices(&s, v, 2), 2);
		scene_run(&s);
		assert_int_equal(scene_count(f, i ? 0xff00ff00 : RED), count_pixels(f));
		assert_int_not_equal(count_pixels(f), 0);
	}
}

/* Depth of a surface that is pushed away, in units of its own and of its slope */
static float biased_depth(struct render_fixture *f, float constant, float slope, float clamp,
			  bool in_depth)
{
	const float v[3][SCENE_VERTEX_WORDS] = {
		{ -1, -1, 0.25, 1, 1, 0, 0, 1 },
		{ 3, -1, 0.25, 1, 1, 0, 0, 1 },
		{ -1, 3, 0.75, 1, 1, 0, 0, 1 },
	};
	struct agx_depth_bias bias = { .constant = constant, .slope = slope, .clamp = clamp };
	struct scene_state t = scene_default(f);
	struct scene s;
	float z;

	f->fragment.depth.store.base = DEPTH_VA;
	f->fragment.zls_control = 1ULL << 19;
	f->fragment.isp_control = in_depth ? 1 << 18 : 0;
	t.face.depth_write_disable = false;
	t.control.depth_bias_enable = true;
	scene_begin(&s, f);
	agx_packet_pack(AGX_PACKET_depth_bias, render_at(f->fragment.depth_bias_base), &bias, NULL);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(&s, v, 3), 3);
	scene_run(&s);
	memcpy(&z, render_at(DEPTH_VA), 4);
	return z;
}

static void test_depth_bias(void **state)
{
	struct render_fixture *f = *state;
	/* the plane rises by 0.5 in 512 lines */
	const double slope = 0.5 / 512, z = 0.25 + slope / 2;

	assert_true(fabs(biased_depth(f, 0, 0, 0, false) - z) < 1e-7);
	assert_true(fabs(biased_depth(f, 0, 2, 0, false) - z - 2 * slope) < 1e-7);
	assert_true(fabs(biased_depth(f, 0, 2, 0.0001f, false) - z - 0.0001) < 1e-7);
	assert_true(fabs(biased_depth(f, 0, -2, -0.0001f, false) - z + 0.0001) < 1e-7);
	assert_true(fabs(biased_depth(f, 0.125, 0, 0, true) - z - 0.125) < 1e-7);
	/* the last place of a float between 0.5 and 1 */
	assert_true(fabs(biased_depth(f, 4096, 0, 0, false) - z - 4096 * 0x1p-24) < 1e-7);
}

/* What the shader says is the depth, and the stencil */
static void test_zs_emit(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct scene s;
	float z;

	f->fragment.depth.store.base = DEPTH_VA;
	f->fragment.stencil.store.base = STENCIL_VA;
	f->fragment.zls_control = 1ULL << 18 | 1ULL << 19;
	t.early_z = false;
	t.constant = 0.375;
	t.face.depth_write_disable = false;
	t.face.depth_func = AGX_ZS_FUNC_LESS;
	t.control.stencil_test_enable = true;
	t.stencil.compare = AGX_ZS_FUNC_ALWAYS;
	t.stencil.write_mask = 0xff;
	t.stencil.depth_pass = AGX_STENCIL_OP_REPLACE;
	t.control.visibility = AGX_VISIBILITY_BOOLEAN;
	t.query.index = 7;
	t.fragment_shader = "mov r4, u0\n"
			    "iadd r5l, 0, 77\n"
			    "zs_emit 255, r4l_r4h_r5l\n"
			    "stop\n";
	scene_begin(&s, f);
	scene_set(&s, &t);
	put_triangle(&s, 0, 0, 0.5);
	scene_run(&s);
	memcpy(&z, render_at(DEPTH_VA), 4);
	assert_true(z == 0.375f);
	assert_int_equal(*(uint8_t *)render_at(STENCIL_VA), 77);
	assert_int_equal(scene_query(7), 1);
}

/* Depth of 16 bits, compressed as far as the metadata goes, and kept over partial renders */
static void test_depth_formats(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct scene s;
	uint16_t z;

	f->fragment.depth.store.base = f->fragment.depth.load.base = DEPTH_VA;
	f->fragment.depth.store.comp_base = f->fragment.depth.load.comp_base = STENCIL_VA;
	f->fragment.zls_control = 1ULL << 6 | 1ULL << 19 | 2ULL << 25;
	t.face.depth_write_disable = false;
	t.face.depth_func = AGX_ZS_FUNC_LESS;
	scene_begin(&s, f);
	/* then tiles begin with 16 bits, too: 0.5 */
	f->fragment.isp_bgobjdepth = 0x8000;
	scene_set(&s, &t);
	put_triangle(&s, 0, 0, 0.25);
	put_triangle(&s, 64, 64, 0.75);
	scene_run(&s);
	memcpy(&z, render_at(DEPTH_VA), 2);
	assert_int_equal(z, 16384);
	/* the tile of 128 by 64 in which the second triangle begins, 0x8000 all over */
	memcpy(&z, render_at(DEPTH_VA + 2 * 16384 + 64 * 2), 2);
	assert_int_equal(z, 0x8000);
	/* 16 by 16 blocks of 8 bytes */
	assert_int_equal(((uint8_t *)render_at(STENCIL_VA))[0], 0x3f);
	assert_int_equal(((uint8_t *)render_at(STENCIL_VA))[16 * 16 * 8 - 1], 0x3f);
	assert_int_equal(((uint8_t *)render_at(STENCIL_VA))[16 * 16 * 8], 0xee);
}

/*
 * A level that is smaller than a block has no codes. Mesa stores it as it does the others,
 * and what it gives as their address is that of the first level's, which are not to change.
 */
static void draw_small_depths(struct render_fixture *f)
{
	const float depths[2] = { 0.75f, 0.5f };

	f->fragment.zls_pixels = 9 | 9 << 15;
	memcpy(render_at(DEPTH_VA), depths, sizeof(depths));
	memset(render_at(STENCIL_VA), 0x03, 8);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), 0);
	assert_memory_equal(render_at(DEPTH_VA), depths, sizeof(depths));
	assert_int_equal(*(uint8_t *)render_at(STENCIL_VA), 0x03);
}

/*
 * Blocks that were cleared have one depth. What else a code can mean nobody knows: such a
 * block is loaded as something that is not in the image, without a fault.
 */
static void test_depth_blocks(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	const float cleared = 0.5f;
	unsigned int i;
	float stored;
	struct scene s;

	f->fragment.depth.load.base = DEPTH_VA;
	f->fragment.depth.load.comp_base = STENCIL_VA;
	f->fragment.zls_control = 1ULL << 2 | 1ULL << 15;
	memset(render_at(STENCIL_VA), 0x03, 16 * 16 * 8);
	/* in tiles of 64 by 64, in the first texels of all blocks of 16 by 16 */
	for (i = 0; i < 16 * 16; i++)
		memcpy(render_at(DEPTH_VA + i * 16 * 16 * 4), &cleared, sizeof(cleared));
	t.face.depth_func = AGX_ZS_FUNC_LESS;
	scene_begin(&s, f);
	scene_set(&s, &t);
	put_triangle(&s, 0, 0, 0.25);
	put_triangle(&s, 100, 100, 0.75);
	f->fragment.process_empty_tiles = true;
	scene_run(&s);
	assert_int_not_equal(scene_pixel(f, 5, 5, 0), 0xff000000);
	assert_int_equal(scene_pixel(f, 105, 105, 0), 0xff000000);

	/* as memory of the kernel's is, which nobody has drawn to yet */
	memset(render_at(STENCIL_VA), 0, 8);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), 0);
	*(uint8_t *)render_at(STENCIL_VA + 9) = 0x04;
	f->fragment.depth.store.base = DEPTH_VA;
	f->fragment.depth.store.comp_base = STENCIL_VA;
	f->fragment.zls_control |= 1ULL << 6 | 1ULL << 19;
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), 0);
	/* the block is at 16, 0: stored as 0.6875, with codes of a raw one */
	memcpy(&stored, render_at(DEPTH_VA + 16 * 16 * 4), sizeof(stored));
	assert_true(stored == 0.6875f);
	assert_int_equal(*(uint8_t *)render_at(STENCIL_VA + 9), 0x7f);
	memcpy(&stored, render_at(DEPTH_VA + 2 * 16 * 16 * 4), sizeof(stored));
	assert_true(stored == cleared);
	draw_small_depths(f);
}

/* Textures */

#define TEXTURE_VA	DEPTH_VA
#define METADATA_VA	STENCIL_VA

/* A texture of linear layout would be no test of the others: each texel says where it is */
static struct agx_texture put_texture(uint32_t size, unsigned int levels)
{
	struct agx_texture t = agx_texture_default();
	struct agx_layout layout = {
		.kind = AGX_IMAGE_LAYOUT_GPU,
		.width = size,
		.height = size,
		.layers = 1,
		.samples = 1,
		.levels = levels,
		.element_bytes = 4,
	};
	struct agx_texel at = { .x = 0 };

	assert_null(agx_layout_init(&layout));
	for (at.level = 0; at.level < levels; at.level++) {
		for (at.y = 0; at.y < size >> at.level; at.y++) {
			for (at.x = 0; at.x < size >> at.level; at.x++) {
				const uint8_t texel[] = { at.x * 16, at.y * 16, at.level * 64, 255 };

				memcpy(render_at(TEXTURE_VA + agx_layout_offset(&layout, &at)),
				       texel, 4);
			}
		}
	}
	t.layout = AGX_IMAGE_LAYOUT_GPU;
	t.channels = AGX_CHANNELS_R8G8B8A8;
	t.swizzle_g = AGX_CHANNEL_G;
	t.swizzle_b = AGX_CHANNEL_B;
	t.swizzle_a = AGX_CHANNEL_A;
	t.width = t.height = size;
	t.last_level = levels - 1;
	t.address = TEXTURE_VA;
	return t;
}

/* Two triangles over all of the image; coordinates go from 0 to a number of textures */
static void put_textured(struct scene *s, struct render_fixture *f,
			 const struct agx_texture *texture, const struct agx_sampler *sampler,
			 float repeats, const char *shader)
{
	const float v[4][SCENE_VERTEX_WORDS] = {
		{ -1, -1, 0.5, 1, 0, 0, 0, 1 },
		{ 1, -1, 0.5, 1, repeats, 0, 0, 1 },
		{ -1, 1, 0.5, 1, 0, repeats, 0, 1 },
		{ 1, 1, 0.5, 1, repeats, repeats, 0, 1 },
	};
	struct scene_state t = scene_default(f);

	scene_begin(s, f);
	scene_texture(s, texture, sampler);
	t.fragment_shader = shader;
	scene_set(s, &t);
	scene_draw(s, AGX_PRIMITIVE_TRIANGLE_STRIP, scene_vertices(s, v, 4), 4);
}

static void draw_textured(struct render_fixture *f, const struct agx_texture *texture,
			  const struct agx_sampler *sampler, float repeats, const char *shader)
{
	struct scene s;

	put_textured(&s, f, texture, sampler, repeats, shader);
	scene_run(&s);
}

static const char sampling_shader[] =
	"iter r4_r5, cf1, cf0\n"
	"smpf r8_r9_r10_r11, ts1, ss0, r4, 0, 2d, xyzw, auto_lod, a\n"
	"sample_mask 255, 255\n"
	"st_tile r8_r9_r10_r11, 0, 255, 0, u8norm, xyzw\n"
	"stop\n";

static void test_nearest(void **state)
{
	struct agx_sampler sampler = agx_sampler_default();
	struct agx_texture t = put_texture(16, 1);
	struct render_fixture *f = *state;
	uint32_t x, y;

	sampler.wrap_s = AGX_WRAP_REPEAT;
	sampler.wrap_t = AGX_WRAP_MIRRORED_REPEAT;
	draw_textured(f, &t, &sampler, 2, sampling_shader);
	for (y = 0; y < 256; y++) {
		for (x = 0; x < 256; x++) {
			uint32_t tx = x / 8 % 16, ty = y < 128 ? y / 8 : 31 - y / 8;

			assert_int_equal(scene_pixel(f, x, y, 0), 0xff000000 | tx * 16 | ty * 16 << 8);
		}
	}
}

/* Coordinates end at the edge: the nearest texel is always one, the border half a filter's */
static void test_gl_clamp(void **state)
{
	struct agx_sampler sampler = agx_sampler_default();
	struct agx_texture t = put_texture(16, 1);
	struct render_fixture *f = *state;

	sampler.wrap_s = sampler.wrap_t = AGX_WRAP_CLAMP_GL;
	sampler.border_colour = AGX_BORDER_OPAQUE_BLACK;
	draw_textured(f, &t, &sampler, 2, sampling_shader);
	assert_int_equal(scene_pixel(f, 100, 100, 0), 0xff00c0c0);
	assert_int_equal(scene_pixel(f, 129, 100, 0), 0xff00c0f0);
	assert_int_equal(scene_pixel(f, 250, 250, 0), 0xff00f0f0);
	sampler.magnify = sampler.minify = AGX_FILTER_LINEAR;
	draw_textured(f, &t, &sampler, 2, sampling_shader);
	assert_int_equal(scene_pixel(f, 129, 252, 0) & 255, 60);
	assert_int_equal(scene_pixel(f, 250, 129, 0) & 255, 60);
}

/* Half way between two texels is the mean; at the edges there is but one */
static void test_linear(void **state)
{
	struct agx_sampler sampler = agx_sampler_default();
	struct agx_texture t = put_texture(16, 1);
	struct render_fixture *f = *state;
	uint32_t x;

	sampler.magnify = sampler.minify = AGX_FILTER_LINEAR;
	draw_textured(f, &t, &sampler, 1, sampling_shader);
	for (x = 0; x < 256; x++) {
		float at = (x + 0.5f) / 16 - 0.5f;

		at = at < 0 ? 0 : at > 15 ? 15 : at;
		assert_true(fabsf((scene_pixel(f, x, 100, 0) & 255) - at * 16) <= 0.6f);
	}
}

/* What comes back is where the coordinates were: pixels next to each other differ by them. */
static void test_levels_in_place(void **state)
{
	struct agx_sampler sampler = agx_sampler_default();
	struct agx_texture t = put_texture(16, 3);
	struct render_fixture *f = *state;
	uint32_t x, y;

	sampler.mip_filter = AGX_MIP_FILTER_NEAREST;
	sampler.wrap_s = sampler.wrap_t = AGX_WRAP_REPEAT;
	draw_textured(f, &t, &sampler, 32,
		      "iter r4_r5, cf1, cf0\n"
		      "smpf r4_r5_r6_r7, ts1, ss0, ^r4, 0, 2d, xyzw, auto_lod, a\n"
		      "sample_mask 255, 255\n"
		      "st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
		      "stop\n");
	for (y = 0; y < 8; y++)
		for (x = 0; x < 8; x++)
			assert_int_equal(scene_pixel(f, 100 + x, 100 + y, 0) >> 16 & 255,
					 scene_pixel(f, 100, 100, 0) >> 16 & 255);
}

/* A texel of a level is as large as a pixel; further away it is the next level's */
static void test_levels(void **state)
{
	struct agx_sampler sampler = agx_sampler_default();
	struct agx_texture t = put_texture(16, 3);
	struct render_fixture *f = *state;

	sampler.mip_filter = AGX_MIP_FILTER_NEAREST;
	sampler.wrap_s = sampler.wrap_t = AGX_WRAP_REPEAT;
	draw_textured(f, &t, &sampler, 16, sampling_shader);
	assert_int_equal(scene_pixel(f, 100, 100, 0) >> 16 & 255, 0);
	draw_textured(f, &t, &sampler, 32, sampling_shader);
	assert_int_equal(scene_pixel(f, 100, 100, 0) >> 16 & 255, 64);
	draw_textured(f, &t, &sampler, 200, sampling_shader);
	assert_int_equal(scene_pixel(f, 100, 100, 0) >> 16 & 255, 128);
	sampler.mip_filter = AGX_MIP_FILTER_LINEAR;
	draw_textured(f, &t, &sampler, 16 * 1.4142135f, sampling_shader);
	assert_true(abs((int)(scene_pixel(f, 100, 100, 0) >> 16 & 255) - 32) <= 1);
}

/* Tiles begin with what is in the image, layer by layer */
static void test_reload(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t;
	uint32_t x, y, layer;
	struct scene s;

	render_size(f, 70, 50, 3, 1);
	t = scene_default(f);
	scene_begin(&s, f);
	for (layer = 0; layer < 3; layer++)
		for (y = 0; y < 50; y++)
			for (x = 0; x < 70; x++) {
				uint32_t pixel = x | y << 8 | layer << 16;

				memcpy((void *)(uintptr_t)scene_pixel_at(f, x, y, layer), &pixel, 4);
			}
	scene_reload(&s, true);
	scene_set(&s, &t);
	scene_run(&s);
	for (layer = 0; layer < 3; layer++)
		for (y = 0; y < 50; y++)
			for (x = 0; x < 70; x++)
				assert_int_equal(scene_pixel(f, x, y, layer),
						 x | y << 8 | layer << 16);
}

static void test_write(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct agx_pbe pbe = agx_pbe_default();
	struct vagx_image image;
	struct agx_texel at = { .x = 45, .y = 46 };
	struct scene s;
	uint8_t bytes[24] = { 0 };
	unsigned int level;
	const char *why;

	pbe.layout = AGX_IMAGE_LAYOUT_TWIDDLED;
	pbe.channels = AGX_CHANNELS_R5G6B5;
	pbe.swizzle_r = AGX_CHANNEL_B;
	pbe.swizzle_g = AGX_CHANNEL_G;
	pbe.swizzle_b = AGX_CHANNEL_R;
	pbe.width = pbe.height = 64;
	pbe.address = TEXTURE_VA;
	t.fragment_shader = "iter r4_r5_r6_r7, cf1, cf0\n"
			    "mov r8, thread_in_grid_x\n"
			    "mov r9, thread_in_grid_y\n"
			    "imgw r4_r5_r6_r7, ts2, r8, 0, 2d\n"
			    "stop\n";
	scene_begin(&s, f);
	scene_target(&s, &pbe);
	scene_set(&s, &t);
	put_triangle(&s, 40, 40, 0.5);
	scene_run(&s);
	agx_packet_pack(AGX_PACKET_pbe, bytes, &pbe, NULL);
	assert_true(vagx_image_from_pbe(&image, &level, bytes, &why));
	assert_memory_equal(render_at(vagx_image_address(&image, &at)), "\x00\xf8", 2);
	at.x = 39;
	assert_memory_equal(render_at(vagx_image_address(&image, &at)), "\xee\xee", 2);
}

static void draw_compressed(struct render_fixture *f, const struct agx_texture *texture,
			    const struct agx_sampler *sampler, enum vagx_gpu_status expected)
{
	struct scene s;

	put_textured(&s, f, texture, sampler, 1, sampling_shader);
	scene_metadata(&s, METADATA_VA);
	scene_end(&s);
	assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), expected);
}

/* Blocks that were cleared have the colour of their first texel */
static void test_solid_blocks(void **state)
{
	struct agx_sampler sampler = agx_sampler_default();
	struct agx_texture t = put_texture(16, 1);
	struct render_fixture *f = *state;
	unsigned int i;

	t.width = t.height = 32;
	t.compressed = true;
	t.extended = true;
	/* four blocks, one after the other, and their codes */
	for (i = 0; i < 4; i++) {
		memset(render_at(TEXTURE_VA + i * 1024), 0xee, 1024);
		memset(render_at(TEXTURE_VA + i * 1024), 0x10 + i, 4);
		memset(render_at(METADATA_VA + i * 8), 0x03, 8);
	}
	draw_compressed(f, &t, &sampler, VAGX_GPU_DONE);
	assert_int_equal(scene_pixel(f, 0, 0, 0), 0x10101010);
	assert_int_equal(scene_pixel(f, 100, 100, 0), 0x10101010);
	assert_int_equal(scene_pixel(f, 200, 100, 0), 0x11111111);
	assert_int_equal(scene_pixel(f, 100, 200, 0), 0x12121212);
	/* and raw */
	memset(render_at(METADATA_VA), 0x7f, 8);
	draw_compressed(f, &t, &sampler, VAGX_GPU_DONE);
	assert_int_equal(scene_pixel(f, 0, 0, 0), 0x10101010);
	assert_int_equal(scene_pixel(f, 100, 100, 0), 0xeeeeeeee);
	/* and one that nobody has drawn to */
	memset(render_at(METADATA_VA), 0, 8);
	draw_compressed(f, &t, &sampler, VAGX_GPU_DONE);
	/* and what something else has left there: undefined, but neither the image nor a fault */
	memset(render_at(METADATA_VA), 0x7e, 8);
	draw_compressed(f, &t, &sampler, VAGX_GPU_DONE);
	assert_int_equal(scene_pixel(f, 0, 0, 0), 0xa5a5a5a5);
	assert_int_equal(scene_pixel(f, 200, 100, 0), 0x11111111);
	memset(render_at(METADATA_VA), 0x7f, 4);
	draw_compressed(f, &t, &sampler, VAGX_GPU_DONE);
	assert_int_equal(scene_pixel(f, 100, 100, 0), 0xa5a5a5a5);
	assert_int_equal(vagx_report_count(f->report, VAGX_RULE_USC_SHADER_FAILED), 0);
}

/* What is not there yet is said by name, and ends the work */
static void test_unsupported_texture(void **state)
{
	struct agx_sampler sampler = agx_sampler_default();
	struct agx_texture t = put_texture(16, 1);
	struct render_fixture *f = *state;
	struct scene_state st = scene_default(f);
	struct scene s;

	t.channels = AGX_CHANNELS_PVRTC_2BPP;
	st.fragment_shader = sampling_shader;
	scene_begin(&s, f);
	scene_texture(&s, &t, &sampler);
	scene_set(&s, &st);
	put_triangle(&s, 40, 40, 0.5);
	scene_end(&s);
	assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_FAULT);
	assert_int_equal(vagx_report_count(f->report, VAGX_RULE_USC_SHADER_FAILED), 1);
}

/* Streams that are wrong */
static void expect_bad_stream(struct render_fixture *f, enum vagx_rule rule)
{
	assert_int_equal(render_vertex(f), VAGX_GPU_FAULT);
	assert_int_equal(vagx_report_count(f->report, rule), 1);
	memset(f->taken, 0, sizeof(f->taken));
}

static void test_bad_streams(void **state)
{
	struct render_fixture *f = *state;
	uint32_t *stream = render_at(STREAM_VA), *words = render_at(STATE_VA);
	struct scene s;

	stream[0] = 5u << 29;
	expect_bad_stream(f, VAGX_CLAUSE_VDM_UNKNOWN_BLOCK_type);
	stream[0] = 2u << 29 | 1 << 4;
	expect_bad_stream(f, VAGX_RULE_VDM_RESERVED_BITS);
	stream[0] = 1u << 29 | 1 << 27;
	expect_bad_stream(f, VAGX_CLAUSE_VDM_CALL_DEPTH_return);
	scene_begin(&s, f);
	scene_draw(&s, AGX_PRIMITIVE_QUADS, 0, 4);
	expect_bad_stream(f, VAGX_RULE_VDM_UNSUPPORTED);
	scene_begin(&s, f);
	agx_put(&s.stream, vdm_ppp_state, .address = STATE_VA, .words = 3);
	words[0] = 1 << 16;
	words[1] = words[2] = 0;
	expect_bad_stream(f, VAGX_RULE_PPP_SIZE);
}

static void test_bad_bindings(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct scene s;

	t.control.sample_mask_after_zs = true;
	scene_begin(&s, f);
	scene_set(&s, &t);
	put_triangle(&s, 40, 40, 0.25);
	scene_end(&s);
	assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_FAULT);
	assert_int_equal(vagx_report_count(f->report, VAGX_RULE_CF_UNSUPPORTED), 1);
}

/* Whatever memory holds, there is an end: done, or with a fault */
static void test_noise(void **state)
{
	static const uint64_t part[] = { STREAM_VA, STATE_VA, USC_VA, PAGES_VA, TILEMAP_VA };
	struct render_fixture *f = *state;
	unsigned int ended[5] = { 0 }, i, k;

	for (i = 0; i < 400; i++) {
		uint8_t *bytes;
		struct scene s;

		small_scene(&s, f);
		srandom(i);
		bytes = render_at(part[i % 5]);
		for (k = 0; i % 5 < 3 && k < 1 + random() % 8; k++)
			bytes[random() % 0x200] ^= 1u << random() % 8;
		ended[render_vertex(f)]++;
		for (k = 0; i % 5 >= 3 && k < 1 + random() % 64; k++)
			bytes[random() % 0x600] ^= 1u << random() % 8;
		f->careless = true;
		ended[render_fragment(f, VAGX_FRAGMENT_FINAL)]++;
		f->careless = false;
		memset(f->taken, 0, sizeof(f->taken));
	}
	assert_true(ended[VAGX_GPU_DONE] && ended[VAGX_GPU_FAULT]);
}

/* Last: each of our rules was broken by one of the tests before */
static void test_all_rules(void **state)
{
	static const enum vagx_rule rules[] = {
#define VAGX_RULE(id, severity, source, text) VAGX_RULE_##id,
#define VAGX_CLAUSE(id, name, text)	/* test_tvb.c and test_vdm.c have those */
#include "gpu/rules_render.def"
#undef VAGX_RULE
#undef VAGX_CLAUSE
	};
	size_t i;

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!render_rule_was_broken[rules[i]])
			fail_msg("no test breaks %s", vagx_rule_info(rules[i])->id);
	}
}

#define RENDER_TEST(test) cmocka_unit_test_setup_teardown(test, render_setup, render_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RENDER_TEST(test_pages_come_back),
		RENDER_TEST(test_no_pages),
		RENDER_TEST(test_bad_geometry),
		RENDER_TEST(test_unmapped),
		RENDER_TEST(test_reused_page),
		cmocka_unit_test_setup_teardown(test_no_exec, render_setup_no_exec, render_teardown),
		RENDER_TEST(test_clear),
		RENDER_TEST(test_triangle),
		RENDER_TEST(test_colours),
		RENDER_TEST(test_shared_edges),
		RENDER_TEST(test_partial_renders),
		RENDER_TEST(test_overlap),
		RENDER_TEST(test_depth),
		RENDER_TEST(test_depth_in_memory),
		RENDER_TEST(test_discard),
		RENDER_TEST(test_primitives),
		RENDER_TEST(test_clip),
		RENDER_TEST(test_perspective),
		RENDER_TEST(test_indices),
		RENDER_TEST(test_samples),
		RENDER_TEST(test_layers),
		RENDER_TEST(test_clip_distance),
		RENDER_TEST(test_outlines),
		RENDER_TEST(test_bresenham),
		RENDER_TEST(test_flat_outlines),
		RENDER_TEST(test_flat_lines),
		RENDER_TEST(test_depth_bias),
		RENDER_TEST(test_zs_emit),
		RENDER_TEST(test_depth_formats),
		RENDER_TEST(test_depth_blocks),
		RENDER_TEST(test_nearest),
		RENDER_TEST(test_gl_clamp),
		RENDER_TEST(test_linear),
		RENDER_TEST(test_levels),
		RENDER_TEST(test_levels_in_place),
		RENDER_TEST(test_reload),
		RENDER_TEST(test_write),
		RENDER_TEST(test_solid_blocks),
		RENDER_TEST(test_unsupported_texture),
		RENDER_TEST(test_bad_streams),
		RENDER_TEST(test_bad_bindings),
		RENDER_TEST(test_noise),
		cmocka_unit_test(test_all_rules),
	};

	return cmocka_run_group_tests_name("render", tests, NULL, NULL);
}
