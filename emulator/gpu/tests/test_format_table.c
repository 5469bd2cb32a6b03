// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Every format of pixels against a reference in doubles: what is written to images, pixel by
 * pixel and from tiles, and to memory, and what is read back. Values are at each number that a
 * format has, in the middle between two and beside it, at the ends of exponents, denormal,
 * negative, too large, infinite, and no numbers; codes are all of those of one channel of up to 16 bits.
 *
 * The specifications decide but for what hardware does with a value in the middle (here it is
 * the even number, but for shared exponents, whose formula rounds up), with NaN in normalised
 * formats (0 here, as D3D wants it) and with integers that a format has no room for (left out).
 * The flag of image writes to round towards zero is not modelled and left out; no client sets it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_float.h"
#include "agx_packets.h"
#include "chance.h"
#include "core_fixture.h"
#include "gpu/stage.h"
#include "pixel_reference.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
/* Pixels of a batch, a thread each */
#define BATCH		1024
#define LANES		32
/* The input is at DATA_VA, 4 words for each pixel */
#define OUTPUT		0x8000
#define OUTPUT_BYTES	(BATCH * 16)
#define MAX_VALUES	8192
#define TILE_SIDE	32
#define STRIDE		16

/* Values of a channel */
struct values {
	float value[MAX_VALUES];
	unsigned int count;
};

static struct values values[4];
/* What is stored, and the registers that it is in */
static float colours[BATCH][4];
static uint8_t tile_memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];

/* Values */

static void add_value(struct values *v, double value)
{
	assert_true(v->count < MAX_VALUES);
	v->value[v->count++] = (float)value;
}

/* A value, and the floats next to it */
static void add_around(struct values *v, double value)
{
	const float number = (float)value;

	add_value(v, number);
	add_value(v, nextafterf(number, INFINITY));
	add_value(v, nextafterf(number, -INFINITY));
}

static void add_special(struct values *v)
{
	static const uint32_t bits[] = {
		0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
		0xffc00001, 0x7f7fffff, 0xff7fffff, 1, 0x807fffff, 0x00800000, 0x477fe000,
		0x477fefff, 0x477ff000, 0x47800000, 0x477e0000, 0x477e0001, 0x477fff00, 0x3f7fffff,
		0x3f800001, 0xbf800001, 0x3f000000, 0xbf000000,
	};
	unsigned int i;

	for (i = 0; i < COUNT(bits); i++)
		v->value[v->count++] = bits_float(bits[i]);
}

/* Numbers of a normalised format, and the middles between them: all, or some */
static void add_normalised(struct chance *c, struct values *v, double max, bool is_signed)
{
	const unsigned int all = (unsigned int)max + 1, count = all < 257 ? all : 257;
	unsigned int i;

	for (i = 0; i < count; i++) {
		const double n = all == count ? i : chance_pick(c, all);
		const double sign = is_signed && chance_pick(c, 2) ? -1 : 1;

		add_around(v, sign * n / max);
		add_around(v, sign * (n + 0.5) / max);
	}
}

static void add_srgb(struct values *v)
{
	unsigned int i;

	for (i = 0; i < 255; i++) {
		const double encoded = (i + 0.5) / 255;
		const double linear = encoded <= 0.04045 ? encoded / 12.92 :
							   pow((encoded + 0.055) / 1.055, 2.4);

		add_value(v, linear * 0.9999);
		add_value(v, linear * 1.0001);
	}
	add_around(v, 0.0031308);
}

/* Floats with mantissas of so many bits, from the least to the largest, and their middles */
static void add_floats(struct chance *c, struct values *v, unsigned int mantissa, bool is_signed)
{
	const unsigned int all = 31u << mantissa, count = all < 800 ? all : 800;
	unsigned int i;

	for (i = 0; i < count; i++) {
		const unsigned int code = all == count ? i : chance_pick(c, all);
		const double low = pixel_from_half(code << (10 - mantissa));
		const double high = code + 1 == all ? 65536 :
				    pixel_from_half((code + 1) << (10 - mantissa));
		const double sign = is_signed && chance_pick(c, 2) ? -1 : 1;

		add_around(v, sign * low);
		add_around(v, sign * (low + high) / 2);
	}
}

/* Values whose ratio to the largest channel is any, and those in the middle of two numbers */
static void add_shared(struct chance *c, struct values *v)
{
	unsigned int i;

	for (i = 0; i < 1500; i++) {
		const int exponent = (int)chance_pick(c, 4) + (int)(i % 33) - 26;

		add_around(v, ldexp(chance_pick(c, 512) + chance_pick(c, 2) / 2.0, exponent));
	}
}

static void make_values(struct chance *c, const struct pixel_format *f, unsigned int channel)
{
	const unsigned int bits = f->bits[channel];
	struct values *v = &values[channel];
	unsigned int i;

	v->count = 0;
	add_special(v);
	if (!bits)
		return;
	if (f->channels == AGX_CHANNELS_R9G9B9E5)
		add_shared(c, v);
	else if (f->type == AGX_TEXTURE_TYPE_UNORM && f->srgb && channel < 3)
		add_srgb(v);
	else if (f->type == AGX_TEXTURE_TYPE_UNORM)
		add_normalised(c, v, ldexp(1, bits) - 1, false);
	else if (f->type == AGX_TEXTURE_TYPE_SNORM)
		add_normalised(c, v, ldexp(1, bits - 1) - 1, true);
	else if (bits < 32)
		add_floats(c, v, bits == 16 ? 10 : bits - 5, bits == 16);
	for (i = 0; i < 500; i++)
		v->value[v->count++] = bits_float(chance_bits(c));
}

static unsigned int count_pixels(void)
{
	unsigned int i, count = 0;

	for (i = 0; i < 4; i++)
		count = values[i].count > count ? values[i].count : count;
	return count;
}

/* Puts the values of a batch, from pixel @first on, to memory as 32-bit or 16-bit floats */
static void put_colours(unsigned int first, bool is_half)
{
	uint16_t *halves = (void *)fixture_data;
	float *floats = (void *)fixture_data;
	unsigned int i, k;

	for (i = 0; i < BATCH; i++) {
		for (k = 0; k < 4; k++) {
			const struct values *v = &values[k];
			float value = v->value[(first + i + 37 * k) % v->count];

			if (is_half) {
				halves[4 * i + k] = (uint16_t)pixel_half(value);
				value = (float)pixel_from_half(halves[4 * i + k]);
			} else {
				floats[4 * i + k] = value;
			}
			colours[i][k] = value;
		}
	}
}

/* Integers that fit into the channels, in registers that may have more bits */
static void put_integers(struct chance *c, const struct pixel_format *f, bool is_half)
{
	unsigned int i, k;

	for (i = 0; i < BATCH; i++) {
		for (k = 0; k < 4; k++) {
			uint32_t bits = f->bits[k] ? chance_bits(c) >> (32 - f->bits[k]) : 0;
			int32_t number = (int32_t)bits;

			if (f->bits[k] && f->type == AGX_TEXTURE_TYPE_SINT)
				number = (int32_t)(bits << (32 - f->bits[k])) >> (32 - f->bits[k]);
			if (is_half)
				memcpy(fixture_data + (4 * i + k) * 2, &number, 2);
			else
				memcpy(fixture_data + (4 * i + k) * 4, &number, 4);
			memcpy(&colours[i][k], &number, 4);
		}
	}
}

/* Images */

static void set_target(struct fixture *f, const struct pixel_format *format,
		       const uint8_t swizzle[4])
{
	struct agx_pbe_linear pbe = agx_pbe_linear_default();

	pbe.channels = format->channels;
	pbe.type = format->type;
	pbe.swizzle_r = swizzle[0];
	pbe.swizzle_g = swizzle[1];
	pbe.swizzle_b = swizzle[2];
	pbe.swizzle_a = swizzle[3];
	pbe.width = TILE_SIDE;
	pbe.height = TILE_SIDE;
	pbe.address = DATA_VA + OUTPUT;
	pbe.stride_less_4 = TILE_SIDE * pixel_bytes(format) - 4;
	assert_int_equal(agx_packet_pack(AGX_PACKET_pbe_linear, f->launch.textures[2], &pbe, NULL),
			 0);
}

static void set_texture(struct fixture *f, const struct pixel_format *format,
			const uint8_t swizzle[4])
{
	struct agx_texture_linear t = agx_texture_linear_default();

	t.channels = format->channels;
	t.type = format->type;
	t.swizzle_r = swizzle[0];
	t.swizzle_g = swizzle[1];
	t.swizzle_b = swizzle[2];
	t.swizzle_a = swizzle[3];
	t.srgb = format->srgb;
	t.width = TILE_SIDE;
	t.height = TILE_SIDE;
	t.address = DATA_VA;
	t.stride_less_16 = TILE_SIDE * pixel_bytes(format) - 16;
	assert_int_equal(agx_packet_pack(AGX_PACKET_texture_linear, f->launch.textures[1], &t, NULL),
			 0);
}

/* Components in any order: of a format with four channels, all of them once */
static void make_order(struct chance *c, uint8_t swizzle[4])
{
	unsigned int i, k;
	uint8_t other;

	for (i = 0; i < 4; i++)
		swizzle[i] = i;
	for (i = 3; i; i--) {
		k = chance_pick(c, i + 1);
		other = swizzle[i];
		swizzle[i] = swizzle[k];
		swizzle[k] = other;
	}
}

/* Programs: a thread for each pixel, of compute or of a fragment shader */

#define PIXEL		"mov r10, thread_in_grid_x\nmov r11, thread_in_grid_y\n"	\
			"imadd r8, r11, 32, r10\n"
#define LOAD_WORDS	"load r4_r5_r6_r7, du0, r8, lsl 2, i32, xyzw, a\nwait a\n"
#define LOAD_HALVES	"load r4l_r4h_r5l_r5h, du0, r8, lsl 2, i16, xyzw, a\nwait a\n"
#define STORE_WORDS	"wait a\nstore r4_r5_r6_r7, du4, r8, lsl 2, i32, xyzw, a\nwait a\nstop\n"

static void run_threads(struct fixture *f, const char *program)
{
	static const uint32_t first[3];
	unsigned int i;

	fixture_code(f, program);
	for (i = 0; i < 3; i++)
		f->launch.grid[i] = f->launch.local[i] = i < 2 ? TILE_SIDE : 1;
	assert_int_equal(vagx_core_run_groups(f->core, &f->launch, first, 1, &f->fault), 0);
}

/* Runs a fragment shader for all pixels of a tile */
static void run_fragments(struct fixture *f, const char *program)
{
	struct vagx_tile tile = {
		.width = TILE_SIDE, .height = TILE_SIDE, .samples = 1, .memory = tile_memory,
	};
	struct vagx_fragments fragments = { .exists = UINT32_MAX };
	unsigned int y, i;

	fixture_code(f, program);
	f->launch.sample_stride = STRIDE;
	for (y = 0; y < TILE_SIDE; y++) {
		for (i = 0; i < LANES; i++) {
			fragments.x[i] = i;
			fragments.y[i] = y;
			fragments.input[i] = fragments.live[i] = 1;
		}
		assert_int_equal(vagx_core_run_fragments(f->core, &f->launch, &tile, &fragments,
							 &f->fault), 0);
	}
}

/* Writes the tile to the image */
static void run_end_of_tile(struct fixture *f, const char *format)
{
	struct vagx_tile tile = {
		.width = TILE_SIDE, .height = TILE_SIDE, .samples = 1, .memory = tile_memory,
	};
	char text[128];

	snprintf(text, sizeof(text), "iadd r4l, 0, 0\nldimm r5, 0\n"
		 "imgwblk r4l, ts2, r5, 0, 2d, %s\nstop\n", format);
	fixture_code(f, text);
	assert_int_equal(vagx_core_run_tile(f->core, &f->launch, &tile, &f->fault), 0);
}

/* Ways to a pixel: an instruction of its own, through a tile, or to memory */

enum way { WRITE, TILE, STORE };

static void run_way(struct fixture *f, const struct pixel_format *format, enum way way, bool is_half)
{
	const char *load = is_half ? LOAD_HALVES : LOAD_WORDS;
	const char *colour = is_half ? "r4l_r4h_r5l_r5h" : "r4_r5_r6_r7";
	char text[512];

	memset(fixture_data + OUTPUT, 0xcc, OUTPUT_BYTES);
	if (way == WRITE) {
		snprintf(text, sizeof(text), PIXEL "%simgw %s, ts2, r10, 0, 2d\nstop\n", load, colour);
		run_threads(f, text);
	} else if (way == STORE) {
		snprintf(text, sizeof(text), PIXEL "%sstore %s, du4, r8%s, %s, xyzw, a\nstop\n",
			 load, colour, format->bits[0] % 8 ? "" : ", lsl 2", format->tile);
		run_threads(f, text);
	} else {
		memset(tile_memory, 0xcc, sizeof(tile_memory));
		snprintf(text, sizeof(text), PIXEL "%sst_tile %s, 0, 255, 0, %s, xyzw\nstop\n", load,
			 colour, format->tile);
		run_fragments(f, text);
		run_end_of_tile(f, format->tile);
	}
}

static void check_pixel(const struct chance *c, const struct pixel_format *format, enum way way,
			bool is_half, unsigned int i, const uint8_t swizzle[4])
{
	static const char *const ways[] = { "imgw", "st_tile and imgwblk", "store" };
	const uint8_t *pixel = fixture_data + OUTPUT + i * pixel_bytes(format);
	double decoded[4];
	unsigned int channel, k;
	float value[4];

	for (k = 0; k < 4; k++) {
		value[k] = colours[i][swizzle[k]];
		/* the tile has halves whatever the image has */
		if (way == TILE && !strcmp(format->tile, "f16"))
			value[k] = (float)pixel_from_half(pixel_half(value[k]));
	}
	if (pixel_is_encoded(format, value, pixel, &channel))
		return;
	pixel_decode(format, pixel, decoded);
	fail_msg("seed %llu, %s by %s from %u bits: channel %u of (%a, %a, %a, %a) has become "
		 "(%a, %a, %a, %a): %02x %02x %02x %02x", (unsigned long long)c->seed, format->name,
		 ways[way], is_half ? 16 : 32, channel, value[0], value[1], value[2], value[3],
		 decoded[0], decoded[1], decoded[2], decoded[3], pixel[0], pixel[1], pixel[2],
		 pixel[3]);
}

/* Whether there is a format with blue first; a shared exponent's would be a copy of the tile */
static bool has_reverse(const struct pixel_format *format)
{
	return format->bits[0] == format->bits[2] && format->channels != AGX_CHANNELS_R9G9B9E5;
}

static void check_stores(struct fixture *f, struct chance *c, const struct pixel_format *format,
			 enum way way)
{
	uint8_t swizzle[4] = { 0, 1, 2, 3 };
	unsigned int first, i, is_half;

	for (i = 0; i < 4; i++)
		make_values(c, format, i);
	/* a tile has words as they are in registers */
	for (is_half = 0; is_half < (way == TILE && format->bits[0] == 32 ? 1 : 2); is_half++) {
		for (first = 0; first < count_pixels(); first += BATCH) {
			if (way == WRITE)
				make_order(c, swizzle);
			else if (way == TILE && has_reverse(format))
				swizzle[2] = 2 - (swizzle[0] = 2 * chance_pick(c, 2));
			set_target(f, format, swizzle);
			put_colours(first, is_half);
			run_way(f, format, way, is_half);
			for (i = 0; i < BATCH; i++)
				check_pixel(c, format, way, is_half, i, swizzle);
		}
	}
}

static void check_integers(struct fixture *f, struct chance *c, const struct pixel_format *format,
			   enum way way)
{
	static const uint8_t swizzle[4] = { 0, 1, 2, 3 };
	unsigned int i, k, is_half;
	double decoded[4], want;

	for (is_half = 0; is_half < (format->bits[0] > 16 ? 1 : 2); is_half++) {
		set_target(f, format, swizzle);
		put_integers(c, format, is_half);
		run_way(f, format, way, is_half);
		for (i = 0; i < BATCH * 4; i++) {
			k = i % 4;
			pixel_decode(format, fixture_data + OUTPUT + i / 4 * pixel_bytes(format),
				     decoded);
			want = float_bits(colours[i / 4][k]);
			if (format->type == AGX_TEXTURE_TYPE_SINT)
				want = (int32_t)float_bits(colours[i / 4][k]);
			if (format->bits[k] && decoded[k] != want)
				fail_msg("seed %llu, %s: %.0f has become %.0f",
					 (unsigned long long)c->seed, format->name, want, decoded[k]);
		}
	}
}

static void check_ways(struct fixture *f, enum way way)
{
	struct chance c = chance_begin(way);
	unsigned int i;

	fixture_uniform64(f, 8, DATA_VA + OUTPUT);
	for (i = 0; i < pixel_format_count; i++) {
		const struct pixel_format *format = &pixel_formats[i];

		/* no shader writes single pixels of sRGB; Mesa encodes them itself */
		if (way == WRITE && format->srgb)
			continue;
		if (pixel_is_integer(format))
			check_integers(f, &c, format, way);
		else
			check_stores(f, &c, format, way);
	}
}

static void test_image_writes(void **state)
{
	check_ways(*state, WRITE);
}

static void test_tile_writes(void **state)
{
	check_ways(*state, TILE);
}

/* Formats of memory that have the bits of a pixel format */
static bool is_of_memory(const struct pixel_format *format)
{
	return format->bits[2] && strcmp(format->tile, "f16") && strcmp(format->tile, "i32") &&
	       !pixel_is_integer(format);
}

static void test_stores(void **state)
{
	struct chance c = chance_begin(STORE);
	struct fixture *f = *state;
	unsigned int i;

	fixture_uniform64(f, 8, DATA_VA + OUTPUT);
	for (i = 0; i < pixel_format_count; i++) {
		if (is_of_memory(&pixel_formats[i]))
			check_stores(f, &c, &pixel_formats[i], STORE);
	}
}

/* The formats of memory that round towards zero, which no image has */
static void test_stores_toward_zero(void **state)
{
	struct chance c = chance_begin(3);
	struct fixture *f = *state;
	unsigned int i, k, first;
	uint32_t word, want;

	fixture_uniform64(f, 8, DATA_VA + OUTPUT);
	for (i = 0; i < pixel_format_count; i++) {
		struct pixel_format format = pixel_formats[i];
		bool is_shared = format.channels == AGX_CHANNELS_R9G9B9E5;

		if (!is_shared && format.channels != AGX_CHANNELS_R11G11B10)
			continue;
		format.tile = is_shared ? "rgb9e5_rtz" : "rg11b10f_rtz";
		for (k = 0; k < 4; k++)
			make_values(&c, &format, k);
		for (first = 0; first < count_pixels(); first += BATCH) {
			put_colours(first, false);
			run_way(f, &format, STORE, false);
			for (k = 0; k < BATCH; k++) {
				const float *value = colours[k];

				memcpy(&word, fixture_data + OUTPUT + 4 * k, sizeof(word));
				want = is_shared ? pixel_shared_exponent(value, true) :
				       pixel_small_float(value[0], 6, true) |
				       pixel_small_float(value[1], 6, true) << 11 |
				       pixel_small_float(value[2], 5, true) << 22;
				if (word != want)
					fail_msg("seed %llu, %s of (%a, %a, %a): %#x, not %#x",
						 (unsigned long long)c.seed, format.tile, value[0],
						 value[1], value[2], word, want);
			}
		}
	}
}

/* Reading back */

/* All codes in each channel, and another one beside each */
static void put_pixels(struct chance *c, const struct pixel_format *format, unsigned int first)
{
	unsigned int i, k, at, bit;

	memset(fixture_data, 0, BATCH * 16);
	for (i = 0; i < BATCH; i++) {
		for (at = 0, k = 0; k < 4; at += format->bits[k++]) {
			uint32_t code = format->bits[k] > 16 ? chance_bits(c) :
							       (first + i) * (2 * k + 1) + k;

			for (bit = 0; bit < format->bits[k]; bit++) {
				const unsigned int to = at + bit;

				fixture_data[i * pixel_bytes(format) + to / 8] |=
					(code >> bit & 1) << to % 8;
			}
		}
	}
}

/* Powers of floats are less exact than all else */
static bool is_read(const struct pixel_format *format, double want, uint32_t word)
{
	const double value = bits_float(word);

	if (pixel_is_integer(format))
		return (format->type == AGX_TEXTURE_TYPE_SINT ? (double)(int32_t)word : word) == want;
	if (isnan(want))
		return isnan(value);
	if (isinf(want) || isinf(value))
		return value == want;
	return fabs(value - want) <= fabs(want) * (format->srgb ? 0x1p-20 : 0x1p-24);
}

/* How loads read sRGB: by a table of 12 bits */
static void round_srgb(const struct pixel_format *format, double channel[6])
{
	unsigned int i;

	for (i = 0; format->srgb && i < 3; i++)
		channel[i] = rint(channel[i] * 4095) / 4095;
}

static void check_reads(const struct chance *c, const struct pixel_format *format, const char *how,
			const uint8_t swizzle[4])
{
	unsigned int i, k;
	uint32_t word;

	for (i = 0; i < BATCH; i++) {
		const uint8_t *pixel = fixture_data + i * pixel_bytes(format);
		double channel[6] = { 0 };

		pixel_decode(format, pixel, channel);
		channel[AGX_CHANNEL_1] = 1;
		if (!strcmp(how, "load"))
			round_srgb(format, channel);
		for (k = 0; k < 4; k++) {
			memcpy(&word, fixture_data + OUTPUT + 16 * i + 4 * k, sizeof(word));
			if (!is_read(format, channel[swizzle[k]], word))
				fail_msg("seed %llu, %s by %s: %02x %02x %02x %02x is %a (%#x) in "
					 "component %u of swizzle %u, not %a",
					 (unsigned long long)c->seed, format->name, how, pixel[0],
					 pixel[1], pixel[2], pixel[3], bits_float(word), word, k,
					 swizzle[k], channel[swizzle[k]]);
		}
	}
}

/* A channel that there is, or 0, or 1 */
static uint8_t any_channel(struct chance *c, const struct pixel_format *format)
{
	uint8_t channel = chance_pick(c, 6);

	while (channel <= AGX_CHANNEL_A && !format->bits[channel])
		channel = chance_pick(c, 6);
	/* the shared exponent is none */
	if (format->channels == AGX_CHANNELS_R9G9B9E5 && channel == AGX_CHANNEL_A)
		channel = AGX_CHANNEL_1;
	return channel;
}

static void test_texel_loads(void **state)
{
	struct chance c = chance_begin(4);
	struct fixture *f = *state;
	unsigned int i, k, first, all;
	uint8_t swizzle[4];

	fixture_uniform64(f, 8, DATA_VA + OUTPUT);
	for (i = 0; i < pixel_format_count; i++) {
		const struct pixel_format *format = &pixel_formats[i];

		/* each code once; further channels have other ones at the same time */
		all = format->bits[0] < 11 ? 2 * BATCH : format->bits[1] ? 8 * BATCH : 1u << 16;
		for (first = 0; first < all; first += BATCH) {
			for (k = 0; k < 4; k++)
				swizzle[k] = any_channel(&c, format);
			/*
			 * Which channel of sRGB is linear depends on the swizzle, as Mesa has
			 * formats that begin with alpha. What hardware looks at is unknown.
			 */
			if (format->srgb)
				swizzle[3] = format->bits[3] ? AGX_CHANNEL_A : AGX_CHANNEL_1;
			put_pixels(&c, format, first);
			set_texture(f, format, swizzle);
			run_threads(f, PIXEL "smpi r4_r5_r6_r7, ts1, ss0, r10, 0, 2d, xyzw, "
				    "auto_lod, a\n" STORE_WORDS);
			check_reads(&c, format, "smpi", swizzle);
		}
	}
}

/* Loads from memory, and from a tile that has the same bytes */
static void test_loads(void **state)
{
	static const uint8_t swizzle[4] = { 0, 1, 2, 3 }, packed[4] = { 0, 1, 2, 5 };
	struct chance c = chance_begin(5);
	struct fixture *f = *state;
	unsigned int i, k, first;
	char text[512];

	fixture_uniform64(f, 8, DATA_VA + OUTPUT);
	for (i = 0; i < pixel_format_count; i++) {
		const struct pixel_format *format = &pixel_formats[i];
		const bool is_short = format->type == AGX_TEXTURE_TYPE_FLOAT;

		if (!is_of_memory(format))
			continue;
		for (first = 0; first < 1u << 16; first += 7 * BATCH) {
			put_pixels(&c, format, first);
			snprintf(text, sizeof(text), PIXEL "ldimm r7, 0\n"
				 "load r4_r5_r6_r7, du0, r8%s, %s, xyzw, a\n" STORE_WORDS,
				 format->bits[0] % 8 ? "" : ", lsl 2", format->tile);
			run_threads(f, text);
			check_reads(&c, format, "load", is_short ? packed : swizzle);
			for (k = 0; k < BATCH; k++)
				memcpy(tile_memory + STRIDE * k,
				       fixture_data + pixel_bytes(format) * k, pixel_bytes(format));
			snprintf(text, sizeof(text), PIXEL "ldimm r7, 0\n"
				 "ld_tile r4_r5_r6_r7, 0, 255, 0, %s, xyzw\n" STORE_WORDS, format->tile);
			run_fragments(f, text);
			check_reads(&c, format, "ld_tile", is_short ? packed : swizzle);
		}
	}
}

#define FORMAT_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FORMAT_TEST(test_image_writes),
		FORMAT_TEST(test_tile_writes),
		FORMAT_TEST(test_stores),
		FORMAT_TEST(test_stores_toward_zero),
		FORMAT_TEST(test_texel_loads),
		FORMAT_TEST(test_loads),
	};

	return cmocka_run_group_tests_name("format_table", tests, NULL, NULL);
}
