// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Draws that have a state or a shader in common, more draws than are kept, varyings that a
 * register chooses, and what is drawn of what nobody has written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/pattern.h"
#include "scene_builder.h"

#define BLACK	0xff000000
#define RED	0xff0000ff
/* More than vagx keeps of a job's draws (fragment_draw.c), and the counters that they share */
#define DRAWS	9000
#define QUERIES	500

#define ADDING(number)								\
	"ld_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"			\
	"mov r8, u0\n"								\
	"ffma r4, r8, " number ", r4\n"						\
	"sample_mask 255, 255\n"						\
	"st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"			\
	"stop\n"

static struct scene_state adding_state(const struct render_fixture *f)
{
	struct scene_state t = scene_default(f);

	t.fragment_shader = ADDING("1.0");
	t.constant = 1 / 255.0f;
	t.early_z = false;
	return t;
}

/* One that is far enough from all others for words of its own, which may be equal ones */
static void put_state(struct scene *s, unsigned int bias, unsigned int query)
{
	uint64_t va = STATE_VA + s->state.used;
	size_t begin = s->state.used;

	agx_put(&s->state, ppp_header, .depth_bias_scissor = true, .occlusion_query = true);
	agx_put(&s->state, ppp_depth_bias_scissor, .depth_bias = bias);
	agx_put(&s->state, ppp_occlusion_query, .index = query);
	agx_put(&s->stream, vdm_ppp_state, .address = va, .words = (s->state.used - begin) / 4);
}

static unsigned int count_pixels(const struct render_fixture *f, uint32_t value)
{
	unsigned int count = 0, x, y;

	for (y = 0; y < 256; y++) {
		for (x = 0; x < 256; x++) {
			const uint32_t pixel = scene_pixel(f, x, y, 0);

			assert_true(pixel == BLACK || pixel == value);
			count += pixel != BLACK;
		}
	}
	return count;
}

static void draw_many(struct render_fixture *f)
{
	struct scene_state t = scene_default(f);
	unsigned int i, pixels;
	uint32_t first;
	struct scene s;

	t.control.visibility = AGX_VISIBILITY_COUNTING;
	scene_begin(&s, f);
	scene_set(&s, &t);
	first = scene_triangle(&s, 56, 56, 0.5f);
	for (i = 0; i < DRAWS; i++) {
		put_state(&s, i, i % QUERIES);
		scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, first, 3);
	}
	scene_run(&s);
	assert_int_equal(f->overflows, 0);
	pixels = count_pixels(f, 0xff0000ff);
	assert_true(pixels > 100);
	for (i = 0; i < QUERIES; i++)
		assert_int_equal(scene_query(i), pixels * (DRAWS / QUERIES));
}

/* Each has a state of its own; four tiles need all of them, the first ones again and again */
static void test_many(void **state)
{
	draw_many(*state);
}

/* Several cores load the same ones, and drop those that others have used */
static void test_many_of_cores(void **state)
{
	void *fixture;

	assert_int_equal(render_setup_cores(&fixture, 4), 0);
	draw_many(fixture);
	render_teardown(&fixture);
}

/* Traps in pixels from column 22 on */
static const char trapping_shader[] =
	"ldimm r0l, 0\n"
	"mov r2, thread_in_grid_x\n"
	"if r2, 21, 1, ugt\n"
	"jmp_none out\n"
	"trap\n"
	"out:\n"
	"pop_exec 1\n"
	"stop\n";

/* A failure names the draw of its pixel, also if two draws are shaded together */
static void test_name(void **state)
{
	struct scene_state t;
	void *fixture;
	struct scene s;
	size_t size;
	char *text;

	render_log = open_memstream(&text, &size);
	assert_non_null(render_log);
	assert_int_equal(render_setup(&fixture), 0);
	t = scene_default(fixture);
	t.fragment_shader = trapping_shader;
	scene_begin(&s, fixture);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, 0, 0, 0.5f), 3);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, 22, 0, 0.5f), 3);
	scene_end(&s);
	assert_int_equal(render_vertex(fixture), VAGX_GPU_DONE);
	assert_int_equal(render_fragment(fixture, VAGX_FRAGMENT_FINAL), VAGX_GPU_FAULT);
	render_teardown(&fixture);
	fclose(render_log);
	render_log = NULL;
	if (!strstr(text, "\n in draw 2 of job 2\n thread: one of them is pixel "))
		fail_msg("%s", text);
	free(text);
}

/* Fragments of equal draws that cover each other are shaded one after the other */
static void test_equal(void **state)
{
	struct render_fixture *f = *state;
	const struct scene_state t = adding_state(f);
	unsigned int i;
	uint32_t first;
	struct scene s;

	scene_begin(&s, f);
	scene_set(&s, &t);
	first = scene_triangle(&s, 40, 40, 0.5f);
	for (i = 0; i < 5; i++) {
		put_state(&s, 7, 0);
		scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, first, 3);
	}
	scene_run(&s);
	assert_true(count_pixels(f, BLACK + 5) > 100);
}

/* A draw with fragments in one quad, at a column */
static void draw_quad(struct scene *s, float x)
{
	const float left = x / 128 - 1, top = 40 / 128.0f - 1, size = 2.5f / 128;
	const float vertices[3][SCENE_VERTEX_WORDS] = {
		{ left, top, 0.5f, 1 }, { left + size, top, 0.5f, 1 }, { left, top + size, 0.5f, 1 },
	};

	scene_draw(s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(s, vertices, 3), 3);
}

/* Draws that differ in their number only fill a simdgroup together: each pixel has its threads */
static void test_together(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct scene s;

	t.fragment_shader = "ballot r4\npopcnt r4, r4\nsample_mask 255, 255\n"
			    "st_tile r4, 0, 255, 0, i32, x\nstop\n";
	scene_begin(&s, f);
	scene_set(&s, &t);
	draw_quad(&s, 40);
	draw_quad(&s, 44);
	put_state(&s, 7, 0);
	draw_quad(&s, 48);
	scene_run(&s);
	assert_int_equal(scene_pixel(f, 40, 40, 0), 8);
	assert_int_equal(scene_pixel(f, 44, 40, 0), 8);
	assert_int_equal(scene_pixel(f, 48, 40, 0), 4);
}

/* A state with one shader, another, and the first one again */
static void test_shaders(void **state)
{
	struct render_fixture *f = *state;
	const struct scene_state t = adding_state(f);
	struct scene_state other = t;
	uint32_t first, shader;
	struct scene s;

	other.fragment_shader = ADDING("16.0");
	scene_begin(&s, f);
	scene_set(&s, &t);
	first = scene_triangle(&s, 40, 40, 0.5f);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, first, 3);
	shader = scene_shader(&s, &other);
	scene_use_shader(&s, &other, shader);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, first, 3);
	scene_use_shader(&s, &t, s.shader);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, first, 3);
	scene_use_shader(&s, &other, shader);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, first, 3);
	scene_run(&s);
	assert_true(count_pixels(f, BLACK + 34) > 100);
}

static void put_viewport(struct scene *s, struct agx_ppp_viewport viewport, float right)
{
	uint64_t va = STATE_VA + s->state.used;
	size_t begin = s->state.used;

	viewport.translate_x += right;
	agx_put(&s->state, ppp_header, .viewport = true);
	agx_put(&s->state, ppp_viewport_control);
	agx_writer_put(&s->state, AGX_PACKET_ppp_viewport, &viewport);
	agx_put(&s->stream, vdm_ppp_state, .address = va, .words = (s->state.used - begin) / 4);
}

/* A viewport, another, and the first one again */
static void test_viewports(void **state)
{
	struct render_fixture *f = *state;
	const struct scene_state t = adding_state(f);
	const float right[] = { 0, 100, 0 };
	unsigned int i;
	uint32_t first;
	struct scene s;

	scene_begin(&s, f);
	scene_set(&s, &t);
	first = scene_triangle(&s, 40, 40, 0.5f);
	for (i = 0; i < 3; i++) {
		put_viewport(&s, t.viewport, right[i]);
		scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, first, 3);
	}
	scene_run(&s);
	assert_int_equal(scene_pixel(f, 45, 45, 0), BLACK + 2);
	assert_int_equal(scene_pixel(f, 145, 45, 0), BLACK + 1);
}

/* A register says which varying, and the first result takes its place */
static void test_chosen_varying(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct scene s;

	t.fragment_shader = "ldimm r4, 1\n"
			    "iter r4_r5_r6_r7, r4l, cf0\n"
			    "sample_mask 255, 255\n"
			    "st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
			    "stop\n";
	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, 40, 40, 0.5f), 3);
	scene_run(&s);
	assert_int_equal(scene_pixel(f, 45, 45, 0), RED);
	assert_int_equal(scene_pixel(f, 80, 80, 0), BLACK);
}

/* A computed number that is too large gives zeros; one in the instruction is an error */
static void test_varying_beyond(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct scene s;

	t.fragment_shader = "ldimm r4, 5\n"
			    "iter r4_r5_r6_r7, r4l, cf0\n"
			    "sample_mask 255, 255\n"
			    "st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
			    "stop\n";
	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, 40, 40, 0.5f), 3);
	scene_run(&s);
	assert_int_equal(scene_pixel(f, 45, 45, 0), 0);
	t.fragment_shader = "iter r4_r5_r6_r7, cf5, cf0\nstop\n";
	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, 40, 40, 0.5f), 3);
	scene_end(&s);
	assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_FAULT);
}

/* Without a background program, tiles begin as garbage: each of them the same */
static void test_tiles_without_background(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct scene s;

	scene_begin(&s, f);
	f->fragment.background.usc = 0;
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, 40, 40, 0.5f), 3);
	scene_run(&s);
	assert_int_equal(scene_pixel(f, 45, 45, 0), RED);
	assert_int_equal(scene_pixel(f, 56, 56, 0), vagx_pattern(0, VAGX_PATTERN_TILE, 0));
	/* a sample has room for eight bytes */
	assert_int_equal(scene_pixel(f, 57, 56, 0), vagx_pattern(0, VAGX_PATTERN_TILE, 2));
}

/* Covers a tile of 32 by 32, and half of the next two */
static void draw_tile(struct scene *s, float x)
{
	const float left = x / 128 - 1, size = 64 / 128.0f;
	const float vertices[3][SCENE_VERTEX_WORDS] = {
		{ left, -1, 0.5f, 1, 1, 0, 0, 1 }, { left + size, -1, 0.5f, 1, 1, 0, 0, 1 },
		{ left, -1 + size, 0.5f, 1, 1, 0, 0, 1 },
	};

	scene_draw(s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(s, vertices, 3), 3);
}

/*
 * Two draws cover tiles; a third one adds to what is in a tile between them, by itself, or to what
 * the first one has stored. Return: how many mistakes are reported.
 */
static uint64_t count_findings(struct render_fixture *f, float x)
{
	struct scene_state t = scene_default(f), adding = adding_state(f);
	uint64_t before = vagx_gpu_findings(f->gpu);
	struct scene s;

	t.fragment_shader = "iter r4_r5_r6_r7, cf1, cf0\nsample_mask 255, 255\npixwait 12, 0\n"
			    "st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\nstop\n";
	adding.fragment_shader = "pixwait 12, 0\n" ADDING("1.0");
	scene_begin(&s, f);
	f->fragment.background.usc = 0;
	scene_set(&s, &t);
	draw_tile(&s, 0);
	draw_tile(&s, 128);
	scene_use_shader(&s, &adding, scene_shader(&s, &adding));
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, x, 4, 0.5f), 3);
	scene_run(&s);
	return vagx_gpu_findings(f->gpu) - before;
}

/* What is stored to a tile is not in the next one */
static void test_checked_tiles(void **state)
{
	void *fixture;

	assert_int_equal(render_setup_checked(&fixture), 0);
	assert_int_equal(count_findings(fixture, 4), 0);
	assert_int_equal(count_findings(fixture, 100), 1);
	render_teardown(&fixture);
}

/* Words of a vertex that its shader does not write are garbage, and so is the colour from them */
static void test_unwritten_varyings(void **state)
{
	struct render_fixture *f = *state;
	struct scene_state t = scene_default(f);
	struct scene s;

	t.shade = AGX_SHADE_MODEL_FLAT_VERTEX_0;
	t.vertex_shader = "iadd r7, r5, r5\nload r8_r9_r10_r11, du0, r7, lsl 2, i32, xyzw, a\n"
			  "wait a\nldimm r12, 0x3f800000\n"
			  "st_var r8, 0\nst_var r9, 1\nst_var r10, 2\nst_var r11, 3\n"
			  "st_var r12, 5\nst_var r12, 7, last\nstop\n";
	scene_begin(&s, f);
	scene_set(&s, &t);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_triangle(&s, 40, 40, 0.5f), 3);
	scene_run(&s);
	/* a number far from 0, of either sign */
	assert_int_equal(scene_pixel(f, 45, 45, 0),
			 vagx_pattern(0, VAGX_PATTERN_OUTPUTS, 0) >> 31 ? 0xff00ff00 : 0xffffffff);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, render_setup, render_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_many),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_many_of_cores),
		TEST(test_equal),
		TEST(test_together),
		TEST(test_shaders),
		TEST(test_viewports),
		TEST(test_chosen_varying),
		TEST(test_varying_beyond),
		TEST(test_tiles_without_background),
		cmocka_unit_test(test_checked_tiles),
		TEST(test_unwritten_varyings),
	};

	return cmocka_run_group_tests_name("render_draws", tests, NULL, NULL);
}
