// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Stores to tiles, loads from them, and stores of tiles to images, of random kinds:
 * what is done for many pixels at once is the same as one pixel after the other.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_packets.h"
#include "core_fixture.h"
#include "core_float.h"
#include "gpu/format.h"
#include "gpu/image.h"
#include "gpu/stage.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define PARTS		4
#define VALUES	"mov r8, thread_in_threadgroup_x\n"				\
			"load r4_r5_r6_r7, du0, r8, lsl 2, i32, xyzw, a\nwait a\n"
#define STOP	"stop\n"
#define RESULTS	"store r4_r5_r6_r7, du0, r8, lsl 2, i32, xyzw, a\n" STOP

static const struct {
	unsigned int format;
	const char *name;
} formats[] = {
	{ AGX_FORMAT_I8, "i8" }, { AGX_FORMAT_I16, "i16" }, { AGX_FORMAT_I32, "i32" },
	{ AGX_FORMAT_F16, "f16" }, { AGX_FORMAT_U8NORM, "u8norm" },
	{ AGX_FORMAT_S8NORM, "s8norm" }, { AGX_FORMAT_U16NORM, "u16norm" },
	{ AGX_FORMAT_S16NORM, "s16norm" }, { AGX_FORMAT_SRGBA8, "srgba8" },
	{ AGX_FORMAT_RGB10A2, "rgb10a2" }, { AGX_FORMAT_RG11B10F, "rg11b10f" },
	{ AGX_FORMAT_RGB9E5, "rgb9e5" },
};

struct tile_case {
	struct vagx_tile tile;
	struct vagx_fragments fragments;
	unsigned int format, mask, size, offset, stride, samples;
	/* of each lane, as they are in memory */
	uint32_t value[LANES][PARTS];
	uint8_t memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];
};

static unsigned int pick(unsigned int count)
{
	return (unsigned int)rand() % count;
}

static uint32_t any_number(void)
{
	static const uint32_t special[] = { 0, 0x80000000, 0x3f800000, 0x7fc00000, 0x7f800000, 1 };
	const float fraction = (float)pick(65536) / 40000 - 0.1f;

	if (!pick(8))
		return special[pick(COUNT(special))];
	return pick(4) ? float_bits(fraction) : (uint32_t)rand() << 1 ^ (uint32_t)rand();
}

static void make_case(struct tile_case *c)
{
	const uint32_t same[PARTS] = { any_number(), any_number(), any_number(), any_number() };
	bool is_clear = !pick(4);
	unsigned int i, n;

	memset(c, 0, sizeof(*c));
	c->format = pick(COUNT(formats));
	c->size = pick(2) ? 32 : 16;
	c->mask = vagx_format_is_packed(formats[c->format].format) || pick(2) ? 15 : 1 + pick(15);
	c->stride = 8 + 8 * pick(3);
	c->offset = 4 * pick(4);
	c->samples = pick(4) ? 255 : 1 + pick(15);
	c->tile = (struct vagx_tile){
		.x = 32 * pick(9), .y = 32 * pick(9), .width = pick(2) ? 32 : 16,
		.height = pick(2) ? 32 : 16, .samples = 1u << pick(3), .memory = c->memory,
	};
	c->fragments.exists = pick(2) ? UINT32_MAX : (uint32_t)rand() << 1 ^ (uint32_t)rand();
	for (i = 0; i < LANES; i++) {
		c->fragments.x[i] = c->tile.x + pick(is_clear ? 16 : 34);
		c->fragments.y[i] = c->tile.y + pick(is_clear ? 16 : 34);
		c->fragments.live[i] = pick(3) ? 15 : pick(16);
		for (n = 0; n < PARTS; n++)
			c->value[i][n] = is_clear ? same[n] : any_number();
	}
	for (i = 0; i < sizeof(c->memory); i++)
		c->memory[i] = (uint8_t)i * 7;
}

/* Half a block of pixels with four bytes, as most fragments are */
static void make_half(struct tile_case *c)
{
	make_case(c);
	while (formats[c->format].format != AGX_FORMAT_U8NORM)
		c->format = pick(COUNT(formats));
	c->mask = 15;
	c->stride = 4 << pick(3);
	c->offset = pick(c->stride - 3);
	c->tile.samples = pick(8) ? 1 : 2;
	vagx_stage_place_half(&c->fragments,
			      c->tile.x + pick(c->tile.width / VAGX_HALF_WIDTH) * VAGX_HALF_WIDTH,
			      c->tile.y + pick(c->tile.height / VAGX_HALF_HEIGHT) *
					  VAGX_HALF_HEIGHT);
	memset(c->fragments.live, 15, sizeof(c->fragments.live));
	if (!pick(4))
		c->fragments.live[pick(LANES)] = 0;
}

/* Number @n of the registers that are stored */
static uint32_t register_of(const struct tile_case *c, unsigned int lane, unsigned int n)
{
	const uint32_t *value = c->value[lane];

	return c->size == 32 ? value[n] : value[n / 2] >> n % 2 * 16 & 0xffff;
}

static uint32_t element_of(const struct tile_case *c, unsigned int lane, unsigned int component,
			   unsigned int n)
{
	const unsigned int format = formats[c->format].format;
	const uint32_t bits = register_of(c, lane, n);
	float unused;

	if (vagx_format_to_float(format, 0, 0, &unused))
		return vagx_format_from_float(format, component,
					      float_from_register(c->size, bits));
	return format == AGX_FORMAT_F16 && c->size == 32 ? half_from_float(bits_float(bits)) : bits;
}

/* Return: how many bytes are reached */
static unsigned int bytes_of(const struct tile_case *c, unsigned int lane, uint8_t *bytes,
			     bool *written)
{
	const unsigned int format = formats[c->format].format;
	unsigned int i, n = 0, size = 1u << vagx_format_log2_size(format), reach = 0;
	float value[PARTS];
	uint32_t bits;

	memset(written, 0, 16);
	for (i = 0; i < PARTS; i++)
		value[i] = float_from_register(c->size, register_of(c, lane, i));
	if (vagx_format_is_packed(format)) {
		bits = vagx_format_pack(format, value);
		memcpy(bytes, &bits, 4);
		memset(written, 1, 4);
		return 4;
	}
	for (i = 0; i < PARTS; i++) {
		if (!(c->mask >> i & 1))
			continue;
		bits = element_of(c, lane, i, n++);
		memcpy(bytes + i * size, &bits, size);
		memset(written + i * size, 1, size);
		reach = (i + 1) * size;
	}
	return reach;
}

/* Sample after sample, until one is not there */
static int store_lane(const struct tile_case *c, unsigned int lane, uint8_t *memory)
{
	const struct vagx_tile *t = &c->tile;
	const unsigned int x = c->fragments.x[lane] - t->x, y = c->fragments.y[lane] - t->y;
	unsigned int s, i, reach;
	uint8_t bytes[16];
	bool written[16];
	size_t at;

	reach = bytes_of(c, lane, bytes, written);
	for (s = 0; s < t->samples && x < t->width && y < t->height; s++) {
		if (!(c->samples & c->fragments.live[lane] & 1u << s))
			continue;
		at = ((y * t->width + x) * t->samples + s) * c->stride + c->offset;
		if (c->offset + reach > c->stride || at + reach > VAGX_TILE_BYTES)
			return -ERANGE;
		for (i = 0; i < reach; i++)
			memory[at + i] = written[i] ? bytes[i] : memory[at + i];
	}
	return 0;
}

/* Writes an instruction that loads or stores the registers from r4 on */
static void write_access(const struct tile_case *c, const char *name, char *text, size_t room)
{
	static const char *const halves[] = { "r4l", "r4h", "r5l", "r5h" };
	static const char *const words[] = { "r4", "r5", "r6", "r7" };
	unsigned int i, n = 0;
	size_t at;

	at = (size_t)snprintf(text, room, "%s%s ", VALUES, name);
	for (i = 0; i < PARTS; i++) {
		if (c->mask >> i & 1) {
			at += (size_t)snprintf(text + at, room - at, "%s%s", n ? "_" : "",
					       c->size == 32 ? words[n] : halves[n]);
			n++;
		}
	}
	at += (size_t)snprintf(text + at, room - at, ", 0, %u, %u, %s, ", c->samples, c->offset,
			       formats[c->format].name);
	for (i = 0; i < PARTS; i++) {
		if (c->mask >> i & 1)
			text[at++] = "xyzw"[i];
	}
	snprintf(text + at, room - at, "\n");
}

static void random_stores(void **state)
{
	static struct tile_case c;
	static uint8_t expected[sizeof(c.memory)];
	struct fixture *f = *state;
	unsigned int round, lane, ran[2] = { 0 };
	char text[256];
	int err;

	srand(5);
	for (round = 0; round < 2000; round++) {
		if (pick(4))
			make_case(&c);
		else
			make_half(&c);
		memcpy(expected, c.memory, sizeof(expected));
		for (err = 0, lane = 0; !err && lane < LANES; lane++) {
			if (c.fragments.exists >> lane & 1)
				err = store_lane(&c, lane, expected);
		}
		write_access(&c, "st_tile", text, sizeof(text) - sizeof(STOP));
		fixture_code(f, strcat(text, STOP));
		memcpy(fixture_data, c.value, sizeof(c.value));
		f->launch.sample_stride = c.stride;
		assert_int_equal(vagx_core_run_fragments(f->core, &f->launch, &c.tile,
							 &c.fragments, &f->fault), err);
		assert_memory_equal(c.memory, expected, sizeof(expected));
		ran[err != 0]++;
	}
	assert_true(ran[0] > 500 && ran[1] > 50);
}

/* Loads */

static void put_register(const struct tile_case *c, uint32_t *value, unsigned int n, uint32_t bits)
{
	const unsigned int shift = n % 2 * 16;

	if (c->size == 32)
		value[n] = bits;
	else
		value[n / 2] = (value[n / 2] & ~(0xffffu << shift)) | (bits & 0xffff) << shift;
}

static uint32_t loaded_of(const struct tile_case *c, unsigned int component, uint32_t bits)
{
	const unsigned int format = formats[c->format].format;
	float value;

	if (vagx_format_to_float(format, component, bits, &value))
		return register_from_float(c->size, value);
	return format == AGX_FORMAT_F16 && c->size == 32 ? float_bits(float_from_half(bits)) : bits;
}

static void load_packed(const struct tile_case *c, const uint8_t *sample, uint32_t *value)
{
	unsigned int count, n;
	float number[PARTS];
	uint32_t word;

	memcpy(&word, sample, sizeof(word));
	count = vagx_format_unpack(formats[c->format].format, word, number);
	for (n = 0; n < count; n++)
		put_register(c, value, n, register_from_float(c->size, number[n]));
}

/* From the lowest of the samples that are named */
static int load_lane(const struct tile_case *c, unsigned int lane, uint32_t *value)
{
	const unsigned int format = formats[c->format].format;
	const unsigned int size = 1u << vagx_format_log2_size(format);
	const struct vagx_tile *t = &c->tile;
	const unsigned int x = c->fragments.x[lane] - t->x, y = c->fragments.y[lane] - t->y;
	const unsigned int s = __builtin_ctz(c->samples);
	const bool packed = vagx_format_is_packed(format);
	const unsigned int reach = packed ? 4 : (32 - __builtin_clz(c->mask)) * size;
	const size_t at = ((y * t->width + x) * t->samples + s) * c->stride + c->offset;
	unsigned int i, n = 0;
	uint32_t bits;

	if (x >= t->width || y >= t->height || s >= t->samples)
		return 0;
	if (c->offset + reach > c->stride || at + reach > VAGX_TILE_BYTES)
		return -ERANGE;
	if (packed)
		load_packed(c, c->memory + at, value);
	for (i = 0; !packed && i < PARTS; i++) {
		if (!(c->mask >> i & 1))
			continue;
		bits = 0;
		memcpy(&bits, c->memory + at + i * size, size);
		put_register(c, value, n++, loaded_of(c, i, bits));
	}
	return 0;
}

/* All of it is inside of the tile, as fragments are, but for one in four */
static void make_load(struct tile_case *c)
{
	unsigned int i;

	if (pick(4))
		make_case(c);
	else
		make_half(c);
	memset(c->fragments.live, 15, sizeof(c->fragments.live));
	if (!pick(4))
		return;
	c->samples = 1u << pick(c->tile.samples);
	for (i = 0; !c->fragments.is_half && i < LANES; i++) {
		c->fragments.x[i] = c->tile.x + pick(c->tile.width);
		c->fragments.y[i] = c->tile.y + pick(c->tile.height);
	}
	for (i = 0; i < sizeof(c->memory); i++)
		c->memory[i] = (uint8_t)rand();
}

static void random_loads(void **state)
{
	static struct tile_case c;
	struct fixture *f = *state;
	uint32_t expected[LANES][PARTS];
	unsigned int round, lane, ran[2] = { 0 };
	char text[256];
	int err;

	srand(7);
	for (round = 0; round < 3000; round++) {
		make_load(&c);
		memcpy(expected, c.value, sizeof(expected));
		for (err = 0, lane = 0; !err && lane < LANES; lane++) {
			if (c.fragments.exists >> lane & 1)
				err = load_lane(&c, lane, expected[lane]);
		}
		write_access(&c, "ld_tile", text, sizeof(text) - sizeof(RESULTS));
		fixture_code(f, strcat(text, RESULTS));
		memcpy(fixture_data, c.value, sizeof(c.value));
		f->launch.sample_stride = c.stride;
		assert_int_equal(vagx_core_run_fragments(f->core, &f->launch, &c.tile,
							 &c.fragments, &f->fault), err);
		if (!err)
			assert_memory_equal(fixture_data, expected, sizeof(expected));
		ran[err != 0]++;
	}
	assert_true(ran[0] > 500 && ran[1] > 50);
}

/* Images */

static const struct {
	unsigned int channels, bytes, count;
	const char *format;
} channels[] = {
	{ AGX_CHANNELS_R8, 1, 1, "u8norm" }, { AGX_CHANNELS_R8G8, 2, 2, "i8" },
	{ AGX_CHANNELS_R8G8B8A8, 4, 4, "u8norm" }, { AGX_CHANNELS_R16G16B16A16, 8, 4, "f16" },
	{ AGX_CHANNELS_R32G32B32A32, 16, 4, "i32" },
};

struct image_case {
	struct vagx_tile tile;
	struct agx_layout layout;
	unsigned int channels, stride, offset, address;
	/* the component of the tile that each channel has */
	unsigned int from[4];
	uint8_t memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];
};

/* Some order; may have a component twice */
static void choose_order(struct image_case *c)
{
	const bool is_own = pick(2);
	unsigned int i;

	for (i = 0; i < 4; i++)
		c->from[i] = is_own ? i : pick(channels[c->channels].count);
}

static void make_image(struct image_case *c)
{
	unsigned int i;

	do {
		c->channels = pick(COUNT(channels));
		c->address = 16 * pick(pick(3) ? pick(2) ? 64 : 1024 : 2048);
		c->layout = (struct agx_layout){
			.kind = pick(3) ? AGX_IMAGE_LAYOUT_GPU : AGX_IMAGE_LAYOUT_TWIDDLED,
			.width = 1 + pick(pick(2) ? 100 : 16),
			.height = 1 + pick(pick(2) ? 100 : 16), .layers = 1, .levels = 1,
			.samples = pick(2) ? 1 : 1u << pick(3),
			.element_bytes = channels[c->channels].bytes,
		};
		assert_null(agx_layout_init(&c->layout));
	} while (c->address + c->layout.size > DATA_SIZE);
	choose_order(c);
	c->stride = 4 << pick(4);
	c->offset = c->stride > 16 ? 8 : 0;
	if (c->stride < channels[c->channels].bytes)
		c->stride = 16;
	/* what is stored goes on in the next sample */
	if (!pick(8))
		c->offset = c->stride - 1;
	c->tile = (struct vagx_tile){
		.x = 16 * pick(pick(2) ? 7 : 1), .y = 16 * pick(pick(2) ? 7 : 1), .width = 16,
		.height = pick(2) ? 32 : 16, .memory = c->memory,
		/* an image without samples gets the first one */
		.samples = c->layout.samples > 1 ? c->layout.samples :
			   pick(2) ? 1 : 1u << pick(3),
	};
	if (16 * c->tile.height * c->tile.samples * c->stride > VAGX_TILE_BYTES)
		c->tile.height = 16;
	for (i = 0; i < sizeof(c->memory); i++)
		c->memory[i] = (uint8_t)rand();
}

static void set_image(struct fixture *f, const struct image_case *c)
{
	struct agx_pbe pbe = agx_pbe_default();

	pbe.dimension = c->layout.samples > 1 ? AGX_IMAGE_DIMENSION_2D_MS : AGX_IMAGE_DIMENSION_2D;
	pbe.samples = c->layout.samples == 4 ? AGX_IMAGE_SAMPLES_4 : AGX_IMAGE_SAMPLES_2;
	pbe.layout = c->layout.kind;
	pbe.channels = channels[c->channels].channels;
	pbe.swizzle_r = c->from[0];
	pbe.swizzle_g = c->from[1];
	pbe.swizzle_b = c->from[2];
	pbe.swizzle_a = c->from[3];
	pbe.width = c->layout.width;
	pbe.height = c->layout.height;
	pbe.address = DATA_VA + c->address;
	assert_int_equal(agx_packet_pack(AGX_PACKET_pbe, f->launch.textures[0], &pbe, NULL), 0);
	f->launch.sample_stride = c->stride;
}

/* Return: the address of the first sample of a pixel that is not there, or 0 */
static uint64_t write_pixel(const struct image_case *c, uint8_t *memory, unsigned int x,
			    unsigned int y)
{
	const unsigned int count = channels[c->channels].count;
	const unsigned int bytes = channels[c->channels].bytes / count;
	const uint8_t *from = c->memory + (y * c->tile.width + x) * c->tile.samples * c->stride;
	struct agx_texel at = { .x = c->tile.x + x, .y = c->tile.y + y };
	unsigned int i;
	uint64_t offset;

	for (at.sample = 0; at.sample < c->layout.samples; at.sample++) {
		offset = c->address + agx_layout_offset(&c->layout, &at);
		if (fixture_hole && DATA_VA + offset - fixture_hole < VAGX_UAT_PAGE_SIZE)
			return DATA_VA + offset;
		for (i = 0; i < count; i++)
			memcpy(memory + offset + i * bytes,
			       from + at.sample * c->stride + c->offset + c->from[i] * bytes,
			       bytes);
	}
	return 0;
}

/* Pixel after pixel, until one is not there: its address, or 0 */
static uint64_t write_image(const struct image_case *c, uint8_t *memory)
{
	unsigned int x, y;
	uint64_t va = 0;

	for (y = 0; !va && y < c->tile.height && c->tile.y + y < c->layout.height; y++) {
		for (x = 0; !va && x < c->tile.width && c->tile.x + x < c->layout.width; x++)
			va = write_pixel(c, memory, x, y);
	}
	return va;
}

static void random_images(void **state)
{
	static struct image_case c;
	static uint8_t expected[DATA_SIZE];
	struct fixture *f = *state;
	unsigned int round, ran[2] = { 0 };
	char text[128];
	uint64_t va;
	int err;

	srand(6);
	for (round = 0; round < 4000; round++) {
		make_image(&c);
		set_image(f, &c);
		snprintf(text, sizeof(text),
			 "iadd r4l, 0, %u\nldimm r5, 0\nimgwblk r4l, ts0, r5, 0, %s, %s\nstop\n",
			 c.offset, c.layout.samples > 1 ? "2d_ms" : "2d",
			 channels[c.channels].format);
		fixture_hole = pick(2) ? 0 : DATA_VA + (c.address / VAGX_UAT_PAGE_SIZE + pick(2)) *
							       VAGX_UAT_PAGE_SIZE;
		memset(fixture_data, 0x11, DATA_SIZE);
		memset(expected, 0x11, DATA_SIZE);
		va = write_image(&c, expected);
		fixture_code(f, text);
		err = vagx_core_run_tile(f->core, &f->launch, &c.tile, &f->fault);
		assert_int_equal(err, va ? -EFAULT : 0);
		assert_true(!va || f->fault.va == va);
		assert_memory_equal(fixture_data, expected, DATA_SIZE);
		ran[err != 0]++;
	}
	assert_true(ran[0] > 500 && ran[1] > 50);
}

/* Background programs */

struct fill_case {
	struct vagx_tile tile;
	unsigned int stride, offset;
	char text[256];
	uint8_t memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];
};

/* Mostly a program that copies the texels of its own pixels */
static void write_fill(struct fill_case *c)
{
	const bool halves = !pick(3), other = !pick(8);
	const char *const registers = halves ? "r2l_r2h_r3l_r3h" : "r0_r1_r2_r3";
	const char *const stored = other && pick(2) ? "r0l_r0h_r1l_r1h" : registers;
	const char *const x = other && pick(2) ? "y" : "x";
	const char *const format = other && pick(2) ? "i8" : "u8norm";

	snprintf(c->text, sizeof(c->text),
		 "mov r0l, thread_in_grid_%s\nmov r0h, thread_in_grid_y\n"
		 "smpi %s, ts0, ss0, r0l, 0, 2d, xyzw, auto_lod, a\nwait a\n"
		 "st_tile %s, 0, %u, %u, %s, xyzw\n" STOP, x, registers, stored,
		 pick(8) ? 255U : 2U, c->offset, format);
}

static void make_fill(struct fill_case *c)
{
	unsigned int i;

	c->stride = 4 << pick(3);
	c->offset = pick(4) ? 0 : pick(c->stride);
	c->tile = (struct vagx_tile){
		.x = 16 * pick(6), .y = 16 * pick(6), .width = 16 << pick(2),
		.height = 16 << pick(2), .samples = pick(8) ? 1 : 2, .memory = c->memory,
	};
	for (i = 0; i < sizeof(c->memory); i++)
		c->memory[i] = (uint8_t)rand();
	write_fill(c);
}

/* An image that is smaller than the last tiles, in memory that may have a hole */
static void set_texture(struct fixture *f)
{
	const uint64_t codes = DATA_VA + DATA_SIZE - VAGX_UAT_PAGE_SIZE;
	struct agx_image_compression metadata = { .metadata = codes };
	const struct agx_layout layout = { .element_bytes = 4 };
	const uint8_t raw = agx_layout_raw_code(&layout);
	struct agx_texture t = agx_texture_default();
	unsigned int i;

	t.dimension = AGX_IMAGE_DIMENSION_2D;
	t.layout = pick(8) ? AGX_IMAGE_LAYOUT_GPU : AGX_IMAGE_LAYOUT_TWIDDLED;
	t.channels = pick(8) ? AGX_CHANNELS_R8G8B8A8 : AGX_CHANNELS_R32;
	t.type = pick(8) ? AGX_TEXTURE_TYPE_UNORM : AGX_TEXTURE_TYPE_UINT;
	t.srgb = !pick(8);
	t.swizzle_r = pick(2) ? AGX_CHANNEL_R : pick(6);
	t.swizzle_g = pick(4) ? AGX_CHANNEL_G : pick(6);
	t.swizzle_b = pick(2) ? AGX_CHANNEL_B : AGX_CHANNEL_R;
	t.swizzle_a = pick(2) ? AGX_CHANNEL_A : AGX_CHANNEL_1;
	t.width = 1 + pick(120);
	t.height = 1 + pick(100);
	t.last_level = pick(2);
	t.first_level = pick(t.last_level + 1);
	t.address = DATA_VA;
	t.compressed = t.extended = pick(2);
	memset(f->launch.textures[0], 0, VAGX_TEXTURE_BYTES);
	assert_int_equal(agx_packet_pack(AGX_PACKET_texture, f->launch.textures[0], &t, NULL), 0);
	if (t.compressed)
		assert_int_equal(agx_packet_pack(AGX_PACKET_image_compression,
						 f->launch.textures[0] + 16, &metadata, NULL), 0);
	for (i = 0; i < DATA_SIZE; i++)
		fixture_data[i] = (uint8_t)rand();
	/* raw, but for few blocks of one colour */
	for (i = DATA_SIZE - VAGX_UAT_PAGE_SIZE; i < DATA_SIZE; i++)
		fixture_data[i] = i / AGX_LAYOUT_CODES % 16 ? raw : 0;
	fixture_hole = pick(8) ? 0 : DATA_VA + pick(3) * VAGX_UAT_PAGE_SIZE;
}

/* Runs the program for the pixels of half a block after the other */
static int run_halves(struct fixture *f, struct vagx_tile *tile)
{
	struct vagx_fragments all = { .tested = true };
	unsigned int x, y;
	int err = 0;

	for (y = 0; y < tile->height; y += VAGX_HALF_HEIGHT) {
		for (x = 0; !err && x < tile->width; x += VAGX_HALF_WIDTH) {
			vagx_stage_place_half(&all, tile->x + x, tile->y + y);
			memset(all.live, 15, sizeof(all.live));
			err = vagx_core_run_fragments(f->core, &f->launch, tile, &all, &f->fault);
		}
	}
	return err;
}

/* Instructions and thread instructions since the last time */
static void count_instructions(struct fixture *f, struct vagx_core_stats *last, uint64_t done[2])
{
	struct vagx_core_stats now;

	vagx_core_get_stats(f->core, &now);
	done[0] = now.instructions - last->instructions;
	done[1] = now.thread_instructions - last->thread_instructions;
	*last = now;
}

static void random_fills(void **state)
{
	static struct fill_case c, other;
	struct fixture *f = *state;
	struct vagx_core_stats stats = { 0 };
	uint64_t expected[2], done[2];
	unsigned int round, ran[2] = { 0 };
	int err;

	srand(8);
	for (round = 0; round < 400; round++) {
		make_fill(&c);
		other = c;
		other.tile.memory = other.memory;
		set_texture(f);
		fixture_code(f, c.text);
		f->launch.sample_stride = c.stride;
		err = run_halves(f, &c.tile);
		count_instructions(f, &stats, expected);
		assert_int_equal(vagx_core_run_background(f->core, &f->launch, &other.tile,
							  &f->fault), err);
		count_instructions(f, &stats, done);
		ran[err != 0]++;
		if (err)
			continue;
		assert_memory_equal(other.memory, c.memory, sizeof(c.memory));
		assert_memory_equal(done, expected, sizeof(done));
	}
	assert_true(ran[0] > 200 && ran[1] > 20);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(random_stores, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(random_loads, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(random_images, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(random_fills, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
