// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What a core caches of textures, and how long.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agx_packets.h"
#include "core_fixture.h"
#include "gpu/format.h"
#include "gpu/texture.h"

/* Not a multiple of the blocks that are read at once */
#define SIDE		12
#define TEXTURE		0x1000
#define STORE_RESULT	"wait a\nldimm r30, 0\n"					\
			"store r0_r1_r2_r3, du0, r30, i32, xyzw, a\nwait a\nstop\n"
/* At u4 and u5, to r0 and what follows */
#define SAMPLE		"mov r4, u4\nmov r5, u5\n"					\
			"smpf r0_r1_r2_r3, ts1, ss0, r4, 0, 2d, xyzw, auto_lod, a\nwait a\n"
#define SAMPLE_TO(r)	"smpf r8_r9_r10_r11, ts1, ss0, r4, 0, 2d, xyzw, auto_lod, a\nwait a\n"	\
			"mov " r ", r8\n"

static struct agx_layout layout;

static uint8_t *bytes_of(unsigned int x, unsigned int y)
{
	const struct agx_texel at = { .x = x, .y = y };

	return fixture_data + TEXTURE + agx_layout_offset(&layout, &at);
}

/* Four bytes a texel: x, y, 7 and 200 */
static void put_texels(void)
{
	unsigned int x, y;

	layout = (struct agx_layout){
		.kind = AGX_IMAGE_LAYOUT_TWIDDLED, .width = SIDE, .height = SIDE, .layers = 1,
		.levels = 1, .samples = 1, .element_bytes = 4,
	};
	assert_null(agx_layout_init(&layout));
	for (y = 0; y < SIDE; y++) {
		for (x = 0; x < SIDE; x++)
			memcpy(bytes_of(x, y), (uint8_t[]){ x, y, 7, 200 }, 4);
	}
}

static void put_texture(struct fixture *f, unsigned int state, uint64_t address, bool srgb)
{
	struct agx_texture t = agx_texture_default();
	struct agx_sampler sampler = agx_sampler_default();

	t.layout = AGX_IMAGE_LAYOUT_TWIDDLED;
	t.channels = AGX_CHANNELS_R8G8B8A8;
	t.type = AGX_TEXTURE_TYPE_UNORM;
	t.srgb = srgb;
	t.swizzle_r = AGX_CHANNEL_G;
	t.swizzle_g = AGX_CHANNEL_R;
	t.swizzle_b = AGX_CHANNEL_1;
	t.swizzle_a = AGX_CHANNEL_A;
	t.width = t.height = SIDE;
	t.address = address;
	assert_int_equal(agx_packet_pack(AGX_PACKET_texture, f->launch.textures[state], &t, NULL),
			 0);
	assert_int_equal(agx_packet_pack(AGX_PACKET_sampler, f->launch.samplers[0], &sampler,
					 NULL), 0);
}

static void aim(struct fixture *f, unsigned int x, unsigned int y)
{
	const float at[2] = { (x + 0.5f) / SIDE, (y + 0.5f) / SIDE };
	uint64_t words;

	memcpy(&words, at, sizeof(words));
	fixture_uniform64(f, 8, words);
}

static float result(unsigned int i)
{
	float value;

	memcpy(&value, fixture_words() + i, sizeof(value));
	return value;
}

/* Each launch sees what is in memory, and its groups what was there for the first one */
static void lasts_for_a_launch(void **state)
{
	struct fixture *f = *state;
	unsigned int x, y;

	put_texels();
	put_texture(f, 1, DATA_VA + TEXTURE, false);
	aim(f, 0, 0);
	assert_int_equal(fixture_run(f, SAMPLE STORE_RESULT, 1), 0);
	for (y = 0; y < SIDE; y++) {
		for (x = 0; x < SIDE; x++) {
			aim(f, x, y);
			assert_int_equal(fixture_run_again(f, 1), 0);
			assert_true(result(0) == y / 255.0f && result(1) == x / 255.0f);
			assert_true(result(2) == 1 && result(3) == 200 / 255.0f);
		}
	}
	aim(f, 3, 2);
	memset(bytes_of(3, 2), 99, 4);
	assert_int_equal(fixture_run_again(f, 1), 0);
	assert_true(result(0) == 2 / 255.0f);
	assert_int_equal(fixture_run(f, SAMPLE STORE_RESULT, 1), 0);
	assert_true(result(0) == 99 / 255.0f);
}

/* What a shader writes is not in its textures before a barrier */
static void lasts_to_a_barrier(void **state)
{
	struct fixture *f = *state;
	char program[1024];

	put_texels();
	put_texture(f, 1, DATA_VA + TEXTURE, false);
	aim(f, 0, 0);
	snprintf(program, sizeof(program),
		 SAMPLE SAMPLE_TO("r0")
		 "ldimm r30, %d\nldimm r20, 0x01010101\nstore r20, du0, r30, i32, x, a\nwait a\n"
		 SAMPLE_TO("r1") "flush_memory_to_texture\n" SAMPLE_TO("r2")
		 STORE_RESULT, TEXTURE / 4);
	assert_int_equal(fixture_run(f, program, 1), 0);
	assert_true(result(0) == 0 && result(1) == 0 && result(2) == 1 / 255.0f);
}

/* Two descriptors of the same memory, in turn */
static void has_descriptors_apart(void **state)
{
	struct fixture *f = *state;

	put_texels();
	put_texture(f, 1, DATA_VA + TEXTURE, false);
	put_texture(f, 2, DATA_VA + TEXTURE, true);
	aim(f, 11, 0);
	assert_int_equal(fixture_run(f, SAMPLE SAMPLE_TO("r0")
				     "smpf r8_r9_r10_r11, ts2, ss0, r4, 0, 2d, xyzw, auto_lod, a\n"
				     "wait a\nmov r2, r9\n" SAMPLE_TO("r3") "mov r3, r9\n"
				     STORE_RESULT, 1), 0);
	assert_true(result(1) == 11 / 255.0f && result(3) == 11 / 255.0f);
	assert_true(result(2) == vagx_format_unorm8_table(true)[11]);
}

/* More of them than are cached, and then the first again */
static void forgets_the_oldest_descriptor(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	put_texels();
	put_texture(f, 1, DATA_VA + TEXTURE, false);
	aim(f, 0, 0);
	assert_int_equal(fixture_run(f, SAMPLE STORE_RESULT, 1), 0);
	for (i = 1; i <= 2 * TEXTURE_IMAGES; i++) {
		memset(fixture_data + TEXTURE + 0x400 * i, i, 4);
		put_texture(f, 1, DATA_VA + TEXTURE + 0x400 * i, false);
		assert_int_equal(fixture_run_again(f, 1), 0);
		assert_true(result(0) == i / 255.0f);
	}
	put_texture(f, 1, DATA_VA + TEXTURE, false);
	assert_int_equal(fixture_run_again(f, 1), 0);
	assert_true(result(0) == 0);
}

/* Only what is sampled has to be in memory: half of the block is, and then it is not */
static void needs_no_neighbours(void **state)
{
	struct fixture *f = *state;
	const uint64_t address = DATA_VA + VAGX_UAT_PAGE_SIZE - 128;

	put_texture(f, 1, address, false);
	memset(fixture_data + VAGX_UAT_PAGE_SIZE - 128, 50, 128);
	fixture_hole = DATA_VA + VAGX_UAT_PAGE_SIZE;
	aim(f, 3, 3);
	assert_int_equal(fixture_run(f, SAMPLE STORE_RESULT, 1), 0);
	assert_true(result(0) == 50 / 255.0f);
	aim(f, 0, 4);
	assert_int_equal(fixture_run_again(f, 1), -EFAULT);
	assert_int_equal(f->fault.va, DATA_VA + VAGX_UAT_PAGE_SIZE);
	fixture_hole = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lasts_for_a_launch, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(lasts_to_a_barrier, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(has_descriptors_apart, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(forgets_the_oldest_descriptor, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(needs_no_neighbours, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
