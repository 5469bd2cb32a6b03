// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Border colours in a render: how a sampler's own colour gets to the shader, and that samplers
 * without one have none. test_texture_table.c has all formats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene_builder.h"

#define TEXELS_VA	(DATA_VA + 0x280000)

#define SHADER(sampler)								\
	"iter r4_r5, cf1, cf0\n"							\
	"smpf r8_r9_r10_r11, ts1, " sampler ", r4, 0, 2d, xyzw, auto_lod, a\n"	\
	"sample_mask 255, 255\n"							\
	"st_tile r8_r9_r10_r11, 0, 255, 0, u8norm, xyzw\n"			\
	"stop\n"

/* Draws a square that is beyond a texture of one texel. Return: how the fragment work ended. */
static enum vagx_gpu_status draw_border(struct render_fixture *f, enum agx_border colour,
					enum agx_sampler_states samplers, const char *shader)
{
	static const float v[3][SCENE_VERTEX_WORDS] = {
		{ -1, -1, 0.5, 1, 5, 5, 0, 1 },
		{ 3, -1, 0.5, 1, 5, 5, 0, 1 },
		{ -1, 3, 0.5, 1, 5, 5, 0, 1 },
	};
	/* the channels of BGRA8 in memory */
	static const uint32_t first[4] = { 0x33, 0x66, 0x99, 0xcc };
	static const uint32_t second[4] = { 0x11, 0x22, 0x44, 0x88 };
	struct agx_sampler sampler = agx_sampler_default();
	struct agx_texture t = agx_texture_default();
	struct scene_state state = scene_default(f);
	struct scene s;

	t.layout = AGX_IMAGE_LAYOUT_GPU;
	t.channels = AGX_CHANNELS_R8G8B8A8;
	t.swizzle_r = AGX_CHANNEL_B;
	t.swizzle_g = AGX_CHANNEL_G;
	t.swizzle_b = AGX_CHANNEL_R;
	t.swizzle_a = AGX_CHANNEL_A;
	t.address = TEXELS_VA;
	memset(render_at(TEXELS_VA), 0x77, 4);
	sampler.wrap_s = sampler.wrap_t = AGX_WRAP_CLAMP_TO_BORDER;
	sampler.border_colour = colour;
	scene_begin(&s, f);
	scene_texture(&s, &t, &sampler);
	scene_borders(&s, first, second);
	state.samplers = samplers;
	state.fragment_shader = shader;
	scene_set(&s, &state);
	scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(&s, v, 3), 3);
	scene_end(&s);
	assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
	return render_fragment(f, VAGX_FRAGMENT_FINAL);
}

static void assert_border(struct render_fixture *f, enum agx_border colour,
			  enum agx_sampler_states samplers, uint32_t want)
{
	assert_int_equal(draw_border(f, colour, samplers, SHADER("ss0")), VAGX_GPU_DONE);
	assert_int_equal(scene_pixel(f, 100, 100, 0), want);
}

static void test_borders(void **state)
{
	static const enum agx_sampler_states samplers[] = {
		AGX_SAMPLER_STATES_4_COMPACT, AGX_SAMPLER_STATES_8_EXTENDED,
		AGX_SAMPLER_STATES_16_EXTENDED,
	};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		assert_border(*state, AGX_BORDER_TRANSPARENT_BLACK, samplers[i], 0);
		assert_border(*state, AGX_BORDER_OPAQUE_BLACK, samplers[i], 0xff000000);
		assert_border(*state, AGX_BORDER_OPAQUE_WHITE, samplers[i], 0xffffffff);
		if (!i)
			continue;
		assert_border(*state, AGX_BORDER_CUSTOM, samplers[i], 0xcc336699);
		assert_int_equal(draw_border(*state, AGX_BORDER_CUSTOM, samplers[i], SHADER("ss1")),
				 VAGX_GPU_DONE);
		assert_int_equal(scene_pixel(*state, 100, 100, 0), 0x88112244);
	}
}

static void test_compact_samplers(void **state)
{
	struct render_fixture *f = *state;

	assert_int_equal(draw_border(f, AGX_BORDER_CUSTOM, AGX_SAMPLER_STATES_4_COMPACT,
				     SHADER("ss0")), VAGX_GPU_FAULT);
	assert_int_equal(vagx_report_count(f->report, VAGX_RULE_USC_SHADER_FAILED), 1);
	memset(f->taken, 0, sizeof(f->taken));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_borders, render_setup, render_teardown),
		cmocka_unit_test_setup_teardown(test_compact_samplers, render_setup,
						render_teardown),
	};

	return cmocka_run_group_tests_name("render_border", tests, NULL, NULL);
}
