// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What textures are, to the last bit: pictures of stock Mesa are compared with
 * some tolerance, and not all that vagx does can be asked for there.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_packets.h"
#include "core_fixture.h"
#include "gpu/image_astc_hdr.h"
#include "gpu/image_block.h"
#include "gpu/texture.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define SIDE		16
#define TEXTURE		0x1000
#define STRIDE		(SIDE * 4)

#define STORE_RESULT	"wait a\nldimm r30, 0\n"					\
			"store r0_r1_r2_r3, du0, r30, i32, xyzw, a\nwait a\nstop\n"

/* A float for each texel: the square of its column, and how many rows are above it */
static float texel(unsigned int x, unsigned int y)
{
	return (float)(x * x) + y / 64.0f;
}

static void put_texture(struct fixture *f, struct agx_sampler *sampler)
{
	struct agx_texture t = agx_texture_default();
	struct agx_texture_linear linear;
	uint8_t *state = f->launch.textures[1];
	unsigned int x, y;

	for (y = 0; y < SIDE; y++) {
		for (x = 0; x < SIDE; x++) {
			const float value = texel(x, y);

			memcpy(fixture_data + TEXTURE + y * STRIDE + x * 4, &value, 4);
		}
	}
	t.layout = AGX_IMAGE_LAYOUT_LINEAR;
	t.channels = AGX_CHANNELS_R32;
	t.type = AGX_TEXTURE_TYPE_FLOAT;
	t.swizzle_g = AGX_CHANNEL_1;
	t.swizzle_b = AGX_CHANNEL_0;
	t.width = t.height = SIDE;
	t.address = DATA_VA + TEXTURE;
	assert_int_equal(agx_packet_pack(AGX_PACKET_texture, state, &t, NULL), 0);
	agx_packet_unpack(AGX_PACKET_texture_linear, state, &linear, NULL);
	linear.stride_less_16 = STRIDE - 16;
	assert_int_equal(agx_packet_pack(AGX_PACKET_texture_linear, state, &linear, NULL), 0);
	assert_int_equal(agx_packet_pack(AGX_PACKET_sampler, f->launch.samplers[0], sampler, NULL),
			 0);
}

static float result(unsigned int i)
{
	float value;

	memcpy(&value, fixture_words() + i, sizeof(value));
	return value;
}

/* r4 and r5 are the coordinates, 1/2 each */
static void run_sample(struct fixture *f, struct agx_sampler *sampler, const char *text)
{
	char program[1024];

	put_texture(f, sampler);
	snprintf(program, sizeof(program), "ldimm r4, 0x3f000000\nldimm r5, 0x3f000000\n%s"
		 STORE_RESULT, text);
	assert_int_equal(fixture_run(f, program, 1), 0);
}

/* Four columns to the right, one row down */
#define LONG_PIXEL	"ldimm r8, 0x3e800000\nldimm r9, 0\n"			\
			"ldimm r10, 0\nldimm r11, 0x3d800000\n"
#define SAMPLE_GRADIENT	"smpf r0_r1_r2_r3, ts1, ss0, r4, r8_r9, 2d, xyzw, lod_grad, a\n"

static void anisotropic_taps(void **state)
{
	struct agx_sampler sampler = agx_sampler_default();

	sampler.magnify = sampler.minify = AGX_FILTER_LINEAR;
	sampler.mip_filter = AGX_MIP_FILTER_LINEAR;
	run_sample(*state, &sampler, LONG_PIXEL SAMPLE_GRADIENT);
	/* between columns 7 and 8, and rows 7 and 8 */
	assert_true(result(0) == 56.5f + 7.5f / 64);

	/* at 3/10 and 1/10 of the pixel to both sides, with weights of 8 bits */
	sampler.maximum_anisotropy = 4;
	run_sample(*state, &sampler, LONG_PIXEL SAMPLE_GRADIENT);
	assert_float_equal(result(0), (36 + 77 / 256.0 * 13 + 49 + 26 / 256.0 * 15 +
				       49 + 230 / 256.0 * 15 + 64 + 179 / 256.0 * 17) / 4 +
				      7.5 / 64, 1e-4);
	/* two taps, at 1/6 */
	sampler.maximum_anisotropy = 2;
	run_sample(*state, &sampler, LONG_PIXEL SAMPLE_GRADIENT);
	assert_float_equal(result(0), (36 + 213 / 256.0 * 13 + 64 + 43 / 256.0 * 17) / 2 +
				      7.5 / 64, 1e-4);
}

#define HEAP		0x800
#define SAMPLE_BY(number)							\
	"ldimm r6, " number "\nldimm r4, 0x3f000000\nldimm r5, 0x3f000000\n"		\
	"smpf r0_r1_r2_r3, ts1, r6l, r4, 0, 2d, xyzw, auto_lod, a\n" STORE_RESULT

/* Numbers in registers: first those of state registers, and from 28 on those of the heap */
static void samplers_of_heap(void **state)
{
	struct agx_sampler sampler = agx_sampler_default();
	struct fixture *f = *state;

	put_texture(f, &sampler);
	agx_packet_pack(AGX_PACKET_sampler, fixture_data + HEAP, &sampler, NULL);
	sampler.magnify = AGX_FILTER_LINEAR;
	agx_packet_pack(AGX_PACKET_sampler, fixture_data + HEAP + 8, &sampler, NULL);
	f->launch.sampler_heap = DATA_VA + HEAP;
	f->launch.sampler_count = 2;
	assert_int_equal(fixture_run(f, SAMPLE_BY("28"), 1), 0);
	assert_true(result(0) == texel(8, 8));
	assert_int_equal(fixture_run(f, SAMPLE_BY("29"), 1), 0);
	assert_true(result(0) == 56.5f + 7.5f / 64);
	assert_int_equal(fixture_run(f, SAMPLE_BY("30"), 1), -ERANGE);
	assert_int_equal(fixture_run(f, SAMPLE_BY("27"), 1), -ERANGE);
	assert_int_equal(fixture_run(f, SAMPLE_BY("0"), 1), 0);
	assert_true(result(0) == texel(8, 8));
}

/* Six faces in a layer each, that look the same but for their numbers */
static void put_cube(struct fixture *f, struct agx_sampler *sampler)
{
	struct agx_texture t = agx_texture_default();
	struct agx_layout layout = {
		.kind = AGX_IMAGE_LAYOUT_GPU,
		.width = SIDE,
		.height = SIDE,
		.layers = CUBE_FACES,
		.samples = 1,
		.levels = 1,
		.element_bytes = 4,
	};
	struct agx_texel at = { 0 };

	assert_null(agx_layout_init(&layout));
	for (at.layer = 0; at.layer < CUBE_FACES; at.layer++) {
		for (at.y = 0; at.y < SIDE; at.y++) {
			for (at.x = 0; at.x < SIDE; at.x++) {
				const float value = texel(at.x, at.y) + 300 * at.layer;

				memcpy(fixture_data + TEXTURE + agx_layout_offset(&layout, &at),
				       &value, 4);
			}
		}
	}
	t.dimension = AGX_IMAGE_DIMENSION_CUBE;
	t.layout = AGX_IMAGE_LAYOUT_GPU;
	t.channels = AGX_CHANNELS_R32;
	t.type = AGX_TEXTURE_TYPE_FLOAT;
	t.width = t.height = SIDE;
	t.depth = 1;
	t.address = DATA_VA + TEXTURE;
	assert_int_equal(agx_packet_pack(AGX_PACKET_texture, f->launch.textures[1], &t, NULL), 0);
	sampler->magnify = sampler->minify = AGX_FILTER_LINEAR;
	assert_int_equal(agx_packet_pack(AGX_PACKET_sampler, f->launch.samplers[0], sampler, NULL),
			 0);
}

/* With r8 to r13 as the gradient, in pairs of numbers */
static float sample_cube(struct fixture *f, const double direction[3], const float gradient[6])
{
	char program[1024] = "";
	unsigned int i, n = 0;

	for (i = 0; i < 9; i++)
		n += snprintf(program + n, sizeof(program) - n, "ldimm r%u, 0x%x\n",
			      i < 3 ? 4 + i : 5 + i,
			      float_bits(i < 3 ? (float)direction[i] : gradient[i - 3]));
	snprintf(program + n, sizeof(program) - n,
		 "smpf r0_r1_r2_r3, ts1, ss0, r4, r8_r9, cube, xyzw, lod_grad, a\n" STORE_RESULT);
	assert_int_equal(fixture_run(f, program, 1), 0);
	return result(0);
}

/* Four taps along a line over a face, and over the edge to the next one */
static void anisotropic_cubes(void **state)
{
	static const float still[6] = { 0 };
	/* four texels to the right, one down; the same in directions that are twice as long */
	static const float wide[6] = { 0, 0, 0, -0.125f, -0.5f, 0 };
	static const float wide_twice[6] = { 0, 0, 0, -0.25f, -1, 0 };
	const double centre[3] = { 1, 0, 0 }, twice[3] = { 2, 0, 0 };
	/* x of the face is towards -z: texels 6.5, 15.5, and 15.5 in the last row as well */
	const double places[3][2] = { { 0.1875, 0 }, { -0.9375, 0 }, { -0.9375, -0.9375 } };
	struct agx_sampler sampler = agx_sampler_default();
	double flat = (36 + 77 / 256.0 * 13 + 49 + 26 / 256.0 * 15 + 49 + 230 / 256.0 * 15 +
		       64 + 179 / 256.0 * 17) / 4 + 7.5 / 64;
	struct fixture *f = *state;
	unsigned int i, tap;

	put_cube(f, &sampler);
	assert_true(sample_cube(f, centre, wide) == 56.5f + 7.5f / 64);
	sampler.maximum_anisotropy = 4;
	put_cube(f, &sampler);
	assert_float_equal(sample_cube(f, centre, wide), flat, 1e-4);
	assert_float_equal(sample_cube(f, twice, wide_twice), flat, 1e-4);
	for (i = 0; i < COUNT(places); i++) {
		const double at[3] = { 1, places[i][1], places[i][0] };
		double mean = 0;

		for (tap = 0; tap < 4; tap++) {
			const double beside[3] = { 1, at[1], at[2] + 0.5 * (0.3 - 0.2 * tap) };

			mean += sample_cube(f, beside, still) / 4;
		}
		assert_float_equal(sample_cube(f, at, wide), mean, 1e-3);
	}
}

/* What is beside a face is seen on another one, and beyond a corner on one of two */
static void folded_faces(void **state)
{
	static const struct {
		uint32_t layer, want;
		double at[2], place[2];
	} rows[] = {
		{ 0, 0, { 0, 1 }, { 0, 1 } },
		{ 6, 6, { 0.5, 0.25 }, { 0.5, 0.25 } },
		/* from +x to -z, of which the left edge is the other's right one */
		{ 0, 5, { 1.5, 0.5 }, { 0.25, 0.5 } },
		{ 12, 17, { 1.5, 0.5 }, { 0.25, 0.5 } },
		/* from +z up to +y */
		{ 4, 2, { 0.5, -0.5 }, { 0.5, 0.75 } },
		/* further to the left than up: -x */
		{ 10, 7, { -1, -0.5 }, { 2 / 3.0, 1 / 6.0 } },
		{ 4, 2, { -0.5, -1 }, { 1 / 6.0, 2 / 3.0 } },
	};
	unsigned int i;

	for (i = 0; i < COUNT(rows); i++) {
		double at[2] = { rows[i].at[0], rows[i].at[1] };

		assert_int_equal(vagx_cube_fold(rows[i].layer, at), rows[i].want);
		assert_true(fabs(at[0] - rows[i].place[0]) < 1e-12);
		assert_true(fabs(at[1] - rows[i].place[1]) < 1e-12);
	}
}

/* Two tiles of 64 by 64 texels, of which one is there, and a table in front of them */
static void put_sparse_texture(struct fixture *f, uint32_t second)
{
	struct agx_texture t = agx_texture_default();
	struct agx_sparse_block page = agx_sparse_block_default();
	const float value = 7;

	memset(fixture_data, 0, VAGX_UAT_PAGE_SIZE);
	page.enabled = true;
	page.address = DATA_VA + VAGX_UAT_PAGE_SIZE;
	agx_packet_pack(AGX_PACKET_sparse_block, fixture_data + TEXTURE, &page, NULL);
	memcpy(fixture_data + TEXTURE + 4, &second, sizeof(second));
	memcpy(fixture_data + VAGX_UAT_PAGE_SIZE + 4, &value, sizeof(value));
	t.mode = AGX_IMAGE_MODE_SPARSE;
	t.layout = AGX_IMAGE_LAYOUT_GPU;
	t.channels = AGX_CHANNELS_R32;
	t.type = AGX_TEXTURE_TYPE_FLOAT;
	t.swizzle_g = AGX_CHANNEL_1;
	t.width = 128;
	t.height = 64;
	t.address = DATA_VA + TEXTURE;
	assert_int_equal(agx_packet_pack(AGX_PACKET_texture, f->launch.textures[1], &t, NULL), 0);
}

/* Whether pages are missing comes behind the channels */
#define LOAD_SPARSE(x)								\
	"ldimm r4, " x "\nldimm r5, 0\n"						\
	"smpi r8_r9_r10_r11, ts1, ss0, r4, 0, sparse, 2d, xyzw, auto_lod, a\nwait a\n"	\
	"mov r0, r8\nmov r1, r9\nmov r2, r12\nmov r3, r11\n" STORE_RESULT

static void sparse_pages(void **state)
{
	struct fixture *f = *state;

	put_sparse_texture(f, 0);
	assert_int_equal(fixture_run(f, LOAD_SPARSE("1"), 1), 0);
	assert_true(result(0) == 7 && result(1) == 1);
	assert_int_equal(fixture_words()[2], 0);
	assert_int_equal(fixture_run(f, LOAD_SPARSE("65"), 1), 0);
	assert_true(result(0) == 0 && result(1) == 1);
	assert_int_equal(fixture_words()[2], 1);
	/* bits that nobody knows */
	put_sparse_texture(f, 1u << 28);
	assert_int_equal(fixture_run(f, LOAD_SPARSE("65"), 1), -EILSEQ);
	assert_non_null(strstr(vagx_core_error(f->core), "Sparse block"));
}

/* A texel of the first row */
#define LOAD_ROW(x)								\
	"ldimm r4, " x "\nldimm r5, 0\n"						\
	"smpi r0_r1_r2_r3, ts1, ss0, r4, 0, 2d, xyzw, auto_lod, a\n" STORE_RESULT

/* Shaders load the three words of a texel by themselves, and sample where there is none. */
static void three_words(void **state)
{
	struct agx_sampler sampler = agx_sampler_default();
	struct fixture *f = *state;
	struct agx_texture t;

	put_texture(f, &sampler);
	agx_packet_unpack(AGX_PACKET_texture, f->launch.textures[1], &t, NULL);
	t.channels = AGX_CHANNELS_R32G32B32;
	agx_packet_pack(AGX_PACKET_texture, f->launch.textures[1], &t, NULL);
	memset(fixture_words(), 0xff, 4 * sizeof(uint32_t));
	assert_int_equal(fixture_run(f, LOAD_ROW("16"), 1), 0);
	assert_true(result(0) == 0 && result(1) == 0 && result(3) == 0);
	assert_int_equal(fixture_run(f, LOAD_ROW("15"), 1), -EILSEQ);
	assert_non_null(strstr(vagx_core_error(f->core), "texel of channels 0x36"));
	/* elsewhere than in a buffer there are no such images */
	t.layout = AGX_IMAGE_LAYOUT_TWIDDLED;
	agx_packet_pack(AGX_PACKET_texture, f->launch.textures[1], &t, NULL);
	assert_int_equal(fixture_run(f, LOAD_ROW("16"), 1), -EILSEQ);
	assert_non_null(strstr(vagx_core_error(f->core), "channels is not supported"));
}

static void gather_begins_lower_left(void **state)
{
	struct agx_sampler sampler = agx_sampler_default();

	run_sample(*state, &sampler,
		   "smpf r0_r1_r2_r3, ts1, ss0, r4, 0, 2d, xyzw, auto_lod, gather_r, a\n");
	assert_true(result(0) == texel(7, 8));
	assert_true(result(1) == texel(8, 8));
	assert_true(result(2) == texel(8, 7));
	assert_true(result(3) == texel(7, 7));
	/* what a shader sees as green is 1 */
	run_sample(*state, &sampler,
		   "smpf r0_r1_r2_r3, ts1, ss0, r4, 0, 2d, xyzw, auto_lod, gather_g, a\n");
	assert_true(result(0) == 1 && result(3) == 1);
}

static const struct vagx_block_format *format_of(unsigned int channels)
{
	const struct vagx_block_format *format = vagx_block_format(channels);

	assert_non_null(format);
	return format;
}

static void assert_texel(unsigned int channels, const uint8_t *block, unsigned int x,
			 unsigned int y, const float want[4])
{
	float value[4] = { 0, 0, 0, 1 };
	unsigned int i;

	format_of(channels)->decode(block, x, y, channels == AGX_CHANNELS_BC5, value);
	for (i = 0; i < 4; i++)
		assert_float_equal(value[i], want[i], 1e-6);
}

static void bc_blocks(void **state)
{
	/* white to black: all four indices in the first row; two between, then one and none */
	const uint8_t four[] = { 0xff, 0xff, 0, 0, 0xe4, 0, 0, 0 };
	const uint8_t three[] = { 0, 0, 0xff, 0xff, 0xe4, 0, 0, 0 };
	/* red from the least number, which stands for -1, to 127; green the other way round */
	const uint8_t signed_ends[] = {
		0x80, 0x7f, 0x88, 0xc6, 0xfa, 0, 0, 0, 0x7f, 0x80, 0x88, 0xc6, 0xfa, 0, 0, 0,
	};
	unsigned int i;

	assert_texel(AGX_CHANNELS_BC1, four, 1, 0, (const float[]){ 0, 0, 0, 1 });
	assert_texel(AGX_CHANNELS_BC1, four, 2, 0,
		     (const float[]){ 2 / 3.0f, 2 / 3.0f, 2 / 3.0f, 1 });
	assert_texel(AGX_CHANNELS_BC1, three, 2, 0, (const float[]){ 0.5f, 0.5f, 0.5f, 1 });
	assert_texel(AGX_CHANNELS_BC1, three, 3, 0, (const float[]){ 0, 0, 0, 0 });
	for (i = 0; i < 8; i++) {
		static const float rising[] = { -1, 1, -0.6f, -0.2f, 0.2f, 0.6f, -1, 1 };
		const float falling = i < 2 ? 1 - 2.0f * i : 1 - (i - 1) * 2 / 7.0f;

		assert_texel(AGX_CHANNELS_BC5, signed_ends, i % 4, i / 4,
			     (const float[]){ rising[i], falling, 0, 1 });
	}
}

/* Each texel of a block in units of 1/255, red only where all channels are alike */
static void assert_reds(unsigned int channels, const uint8_t *block, const uint8_t want[4][4])
{
	unsigned int x, y;

	for (y = 0; y < 4; y++) {
		for (x = 0; x < 4; x++) {
			float value[4];

			format_of(channels)->decode(block, x, y, false, value);
			assert_float_equal(value[0] * 255, want[y][x], 1e-3);
		}
	}
}

static void etc_blocks(void **state)
{
	/* halves beside each other, 2 and 15 of 15; columns get lighter by 2, 8 and 17, then darker */
	const uint8_t individual[] = { 0x2f, 0x2f, 0x2f, 0x04, 0xf0, 0x00, 0xff, 0xf0 };
	const uint8_t want_individual[4][4] = {
		{ 36, 42, 255, 238 }, { 36, 42, 255, 238 }, { 36, 42, 255, 238 },
		{ 36, 42, 255, 238 },
	};
	/* 0 at the upper left, 63 of 63 four columns to the right, 32 of 63 four rows down */
	const uint8_t planar[] = { 0, 0, 0x04, 0x7f, 0, 0x04, 0, 0 };
	const uint8_t want_planar[4][4] = {
		{ 0, 64, 128, 191 }, { 33, 96, 160, 224 }, { 65, 129, 193, 255 },
		{ 98, 161, 225, 255 },
	};
	/* a base, and steps of 2 */
	const uint8_t alpha[] = { 100, 0x2d, 0x00, 0x05, 0x39, 0x77, 0, 0 };
	float value[4];
	unsigned int i;

	assert_reds(AGX_CHANNELS_ETC2_RGB8, individual, want_individual);
	assert_reds(AGX_CHANNELS_ETC2_RGB8, planar, want_planar);
	for (i = 0; i < 16; i++) {
		static const int8_t changes[] = { -1, -2, -3, -10, 0, 1, 2, 9 };
		unsigned int at = 16 + 3 * i, index = 0, bit;

		for (bit = at; bit < at + 3; bit++)
			index = index << 1 | (alpha[bit / 8] >> (7 - bit % 8) & 1);
		format_of(AGX_CHANNELS_EAC_R11)->decode(alpha, i / 4, i % 4, false, value);
		assert_float_equal(value[0] * 2047, 804 + 16 * changes[index], 1e-3);
		format_of(AGX_CHANNELS_EAC_R11)->decode(alpha, i / 4, i % 4, true, value);
		assert_float_equal(value[0] * 1023, 800 + 16 * changes[index], 1e-3);
	}
}

/* Encoded as the channels are in memory, before they change places */
static void border_colours(void **state)
{
	const struct {
		struct vagx_image image;
		uint32_t words[4];
		float want[4];
	} colours[] = {
		{
			{
				.channels = AGX_CHANNELS_R8G8B8A8,
				.type = AGX_TEXTURE_TYPE_UNORM,
				.swizzle = { AGX_CHANNEL_B, AGX_CHANNEL_G, AGX_CHANNEL_R,
					     AGX_CHANNEL_A },
			},
			{ 255, 51, 102, 0 }, { 0.4f, 0.2f, 1, 0 },
		}, {
			{
				.channels = AGX_CHANNELS_R8G8B8A8,
				.type = AGX_TEXTURE_TYPE_UNORM,
				.swizzle = { AGX_CHANNEL_R, AGX_CHANNEL_G, AGX_CHANNEL_B,
					     AGX_CHANNEL_A },
				.srgb = true,
			},
			{ 4095, 819, 0, 51 }, { 1, 0.2f, 0, 0.2f },
		}, {
			{
				.channels = AGX_CHANNELS_R16G16,
				.type = AGX_TEXTURE_TYPE_SNORM,
				.swizzle = { AGX_CHANNEL_R, AGX_CHANNEL_G, AGX_CHANNEL_0,
					     AGX_CHANNEL_1 },
			},
			{ 0x8001, 0x7fff, 7, 7 }, { -1, 1, 0, 1 },
		}, {
			{
				.channels = AGX_CHANNELS_BC4,
				.type = AGX_TEXTURE_TYPE_UNORM,
				.block = format_of(AGX_CHANNELS_BC4),
				.swizzle = { AGX_CHANNEL_R, AGX_CHANNEL_0, AGX_CHANNEL_0,
					     AGX_CHANNEL_1 },
			},
			{ 0x3fff, 0, 0, 0 }, { 1, 0, 0, 1 },
		}, {
			{
				.channels = AGX_CHANNELS_R16,
				.type = AGX_TEXTURE_TYPE_FLOAT,
				.swizzle = { AGX_CHANNEL_R, AGX_CHANNEL_R, AGX_CHANNEL_R,
					     AGX_CHANNEL_1 },
			},
			{ 0xc000, 0, 0, 0 }, { -2, -2, -2, 1 },
		},
	};
	unsigned int i, c;

	for (i = 0; i < COUNT(colours); i++) {
		uint32_t value[4];

		vagx_image_border(&colours[i].image, AGX_BORDER_CUSTOM, colours[i].words, value);
		for (c = 0; c < 4; c++)
			assert_float_equal(bits_float(value[c]), colours[i].want[c], 1e-6);
	}
}

static bool is_neighbour(struct texel_coords of, const struct texel_coords *wanted, uint32_t size)
{
	static const int8_t steps[4][2] = { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } };
	unsigned int i;

	for (i = 0; i < COUNT(steps); i++) {
		struct texel_coords p = { .x = of.x + steps[i][0], .y = of.y + steps[i][1], .z = of.z };

		if (vagx_cube_neighbour(&p, size) && p.x == wanted->x && p.y == wanted->y &&
		    p.z == wanted->z)
			return true;
	}
	return false;
}

/* Who leaves a face finds a way back, and is on another one of the same cube */
static void edges_of_cubes(void **state)
{
	const uint32_t sizes[] = { 1, 2, 3, 8, 1000 };
	unsigned int s, edge, face, at;

	for (s = 0; s < COUNT(sizes); s++) {
		const int64_t size = sizes[s], last = size - 1;

		for (at = 0; at < 24 * size; at++) {
			const int64_t along = at % size;
			struct texel_coords inside = { .z = 6 }, out;

			face = at / size % 6;
			edge = at / size / 6;
			inside.z += face;
			inside.x = edge == 0 ? 0 : edge == 1 ? last : along;
			inside.y = edge == 2 ? 0 : edge == 3 ? last : along;
			out = inside;
			out.x += edge == 0 ? -1 : edge == 1;
			out.y += edge == 2 ? -1 : edge == 3;
			assert_true(vagx_cube_neighbour(&out, size));
			assert_true(out.z >= 6 && out.z < 12 && out.z / 2 != inside.z / 2);
			assert_true(is_neighbour(out, &inside, size));
		}
		assert_false(vagx_cube_neighbour(&(struct texel_coords){ .x = -1, .y = size },
						 size));
	}
}

/* A table of 256 colours has none for what is below zero or beyond one */
static void srgb_is_unorm(void **state)
{
	const struct {
		unsigned int channels, type;
		bool good;
	} formats[] = {
		{ AGX_CHANNELS_BC1, AGX_TEXTURE_TYPE_UNORM, true },
		{ AGX_CHANNELS_EAC_R11, AGX_TEXTURE_TYPE_SNORM, false },
		{ AGX_CHANNELS_R8G8B8A8, AGX_TEXTURE_TYPE_SNORM, false },
		{ AGX_CHANNELS_BC6H, AGX_TEXTURE_TYPE_FLOAT, false },
		{ AGX_CHANNELS_BC6H_UFLOAT, AGX_TEXTURE_TYPE_UNORM, false },
	};
	uint8_t bytes[AGX_PACKET_MAX_BYTES];
	struct vagx_image image;
	struct agx_writer w;
	const char *why;
	unsigned int i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		agx_writer_init(&w, bytes, sizeof(bytes));
		agx_put(&w, texture, .dimension = AGX_IMAGE_DIMENSION_2D,
			.layout = AGX_IMAGE_LAYOUT_TWIDDLED, .channels = formats[i].channels,
			.type = formats[i].type, .width = 64, .height = 64, .depth = 1,
			.srgb = true);
		assert_int_equal(w.error, 0);
		assert_int_equal(vagx_image_from_texture(&image, bytes, &why), formats[i].good);
		assert_int_equal(!why, formats[i].good);
	}
}

/* Ones and beyond in channels that a float has not enough bits for */
static void normalised_words(void **state)
{
	const struct {
		unsigned int type;
		float value;
		uint32_t word;
	} words[] = {
		{ AGX_TEXTURE_TYPE_UNORM, 1.0f, 0xffffffff },
		{ AGX_TEXTURE_TYPE_UNORM, INFINITY, 0xffffffff },
		{ AGX_TEXTURE_TYPE_UNORM, -1.0f, 0 },
		{ AGX_TEXTURE_TYPE_UNORM, 0.5f, 0x80000000 },
		{ AGX_TEXTURE_TYPE_UNORM, NAN, 0 },
		{ AGX_TEXTURE_TYPE_SNORM, 1.0f, 0x7fffffff },
		{ AGX_TEXTURE_TYPE_SNORM, -2.0f, 0x80000001 },
	};
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];
	uint32_t value[4] = { 0 }, got;
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct vagx_image image = {
			.channels = AGX_CHANNELS_R32,
			.type = words[i].type,
			.layout.element_bytes = 4,
		};

		memcpy(&value[0], &words[i].value, sizeof(value[0]));
		vagx_image_encode_values(&image, value, bits);
		memcpy(&got, bits, sizeof(got));
		assert_int_equal(got, words[i].word);
	}
}

/* A tile has integers of 16 bits for an image with fewer */
static void integers_of_ten_bits(void **state)
{
	const uint16_t tile[4] = { 66, 952, 769, 2 };
	const struct vagx_image image = {
		.channels = AGX_CHANNELS_R10G10B10A2,
		.type = AGX_TEXTURE_TYPE_UINT,
		.swizzle = { 0, 1, 2, 3 },
		.layout.element_bytes = 4,
	};
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];
	uint32_t got;

	vagx_image_encode(&image, AGX_FORMAT_I16, (const uint8_t *)tile, bits);
	memcpy(&got, bits, sizeof(got));
	assert_int_equal(got, 66 | 952 << 10 | 769 << 20 | 2u << 30);
}

/* One colour in halves, and logarithms where the lines between them meet */
static void astc_of_high_range(void **state)
{
	static const struct {
		int logarithm;
		float number;
	} lines[] = {
		{ 0, 0 }, { 0x7800, 1 }, { 0x7a00, 1.1875f }, { 0x7e00, 1.6875f }, { 0x8000, 2 },
		{ 0xf7ff, 65504 }, { 0xffff, 65504 },
	};
	uint8_t block[16] = {
		0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0x00, 0x3c, 0x00, 0x44, 0xff, 0x7b, 0x00, 0x38,
	};
	static const float halves[4] = { 1, 4, 65504, 0.5f }, curved[4] = { 0, 0, 1, 0.5f };
	const struct vagx_image srgb = {
		.block = vagx_block_format(AGX_CHANNELS_ASTC_4X4),
		.type = AGX_TEXTURE_TYPE_UNORM,
		.srgb = true,
		.swizzle = { 0, 1, 2, 3 },
	};
	const struct agx_texel texel = { 0 };
	uint32_t bits[4];
	float value[4];
	unsigned int i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_float_equal(vagx_astc_hdr_float(lines[i].logarithm), lines[i].number, 0);
	vagx_block_astc_4x4(block, 0, 0, false, value);
	for (i = 0; i < 4; i++)
		assert_float_equal(value[i], halves[i], 0);
	/* with sRGB's curve, what is below 0 or no number is 0 */
	block[9] = 0xbc;
	block[11] = 0x7e;
	vagx_image_decode(&srgb, &texel, block, bits);
	for (i = 0; i < 4; i++) {
		memcpy(&value[i], &bits[i], sizeof(value[i]));
		assert_float_equal(value[i], curved[i], 0);
	}
	block[9] = 0x3c;
	/* without the bit for halves, fractions of 65535 */
	block[1] = 0xfd;
	vagx_block_astc_4x4(block, 3, 3, false, value);
	assert_float_equal(value[0], 0x3c00 / 65535.0f, 0);
}

/* Red lies highest where blue lies lowest in the tile */
static void order_of_ten_bits(void **state)
{
	const uint32_t tile = 418 | 723 << 10 | 586 << 20 | 2u << 30;
	const struct vagx_image image = {
		.channels = AGX_CHANNELS_R10G10B10A2,
		.type = AGX_TEXTURE_TYPE_UNORM,
		.swizzle = { 2, 1, 0, 3 },
		.layout.element_bytes = 4,
	};
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];
	uint32_t got;

	vagx_image_encode(&image, AGX_FORMAT_RGB10A2, (const uint8_t *)&tile, bits);
	memcpy(&got, bits, sizeof(got));
	assert_int_equal(got, 586 | 723 << 10 | 418 << 20 | 2u << 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(anisotropic_taps, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(anisotropic_cubes, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(samplers_of_heap, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(sparse_pages, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(three_words, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(gather_begins_lower_left, fixture_setup,
						fixture_teardown),
		cmocka_unit_test(integers_of_ten_bits),
		cmocka_unit_test(order_of_ten_bits),
		cmocka_unit_test(astc_of_high_range),
		cmocka_unit_test(bc_blocks),
		cmocka_unit_test(etc_blocks),
		cmocka_unit_test(border_colours),
		cmocka_unit_test(normalised_words),
		cmocka_unit_test(srgb_is_unorm),
		cmocka_unit_test(edges_of_cubes),
		cmocka_unit_test(folded_faces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
