// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Loads and writes of single texels: what is done for all lanes at once is the same as one lane
 * after the other, of random images, coordinates, compression blocks and missing pages.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"
#include "core_fixture.h"
#include "gpu/stage.h"
#include "gpu/texture.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define ROUNDS		20000
/* Halves that results go to, what threads have of them, and where operands are */
#define RESULT		100
#define FEW_HALVES	104
#define COLOUR		60
#define STATE		40
#define LEVEL		44
#define OFFSET		46
/* The metadata is in the last page */
#define METADATA	(DATA_SIZE - VAGX_UAT_PAGE_SIZE)

struct scene {
	struct chance chance;
	struct fixture *f;
	struct vagx_fragments fragments;
	struct simdgroup sg;
	struct op op;
	struct vagx_image image;
	unsigned int level;
	/* what registers, memory and the core should be afterwards */
	struct lanes want[REGISTERS];
	uint8_t memory[DATA_SIZE];
	int status;
	uint64_t address;
};

static const struct {
	unsigned int dim, dimension;
} dims[] = {
	{ AGX_DIM_2D, AGX_IMAGE_DIMENSION_2D }, { AGX_DIM_2D, AGX_IMAGE_DIMENSION_2D },
	{ AGX_DIM_2D_ARRAY, AGX_IMAGE_DIMENSION_2D_ARRAY },
	{ AGX_DIM_2D_MS, AGX_IMAGE_DIMENSION_2D_MS },
	{ AGX_DIM_2D_MS_ARRAY, AGX_IMAGE_DIMENSION_2D_MS_ARRAY },
	{ AGX_DIM_3D, AGX_IMAGE_DIMENSION_3D }, { AGX_DIM_1D, AGX_IMAGE_DIMENSION_1D },
	{ AGX_DIM_1D_ARRAY, AGX_IMAGE_DIMENSION_1D_ARRAY },
};

static const struct {
	unsigned int channels, types;
} formats[] = {
	{ AGX_CHANNELS_R8, 0xf }, { AGX_CHANNELS_R8G8, 0xf }, { AGX_CHANNELS_R8G8B8A8, 0xf },
	{ AGX_CHANNELS_R8G8B8A8, 0x1 }, { AGX_CHANNELS_R16, 0x1f }, { AGX_CHANNELS_R16G16, 0x1f },
	{ AGX_CHANNELS_R16G16B16A16, 0x1f }, { AGX_CHANNELS_R5G6B5, 0x1 },
	{ AGX_CHANNELS_R4G4B4A4, 0x1 }, { AGX_CHANNELS_R5G5B5A1, 0x1 },
	{ AGX_CHANNELS_A1R5G5B5, 0x1 }, { AGX_CHANNELS_R10G10B10A2, 0x5 },
	{ AGX_CHANNELS_R11G11B10, 0x10 }, { AGX_CHANNELS_R9G9B9E5, 0x10 },
	{ AGX_CHANNELS_R32, 0x1f }, { AGX_CHANNELS_R32G32, 0x1c },
	{ AGX_CHANNELS_R32G32B32A32, 0x1f }, { AGX_CHANNELS_BC1, 0x1 },
};

static unsigned int below(struct scene *s, unsigned int n)
{
	return chance_pick(&s->chance, n);
}

static bool one_in(struct scene *s, unsigned int n)
{
	return !below(s, n);
}

static unsigned int any_type(struct scene *s, unsigned int types)
{
	unsigned int type;

	do {
		type = below(s, 5);
	} while (!(types >> type & 1));
	return type;
}

static unsigned int any_layout(struct scene *s, unsigned int dim)
{
	if (one_in(s, 4) && (dim == AGX_DIM_2D || dim == AGX_DIM_1D))
		return AGX_IMAGE_LAYOUT_LINEAR;
	return one_in(s, 4) ? AGX_IMAGE_LAYOUT_TWIDDLED : AGX_IMAGE_LAYOUT_GPU;
}

static unsigned int any_depth(struct scene *s, unsigned int dim)
{
	const bool is_one = dim == AGX_DIM_2D || dim == AGX_DIM_2D_MS || dim == AGX_DIM_1D;

	return is_one ? 1 : 1 + below(s, 5);
}

/* Compression blocks that are raw, of one colour, never written, or unknown */
static void choose_codes(struct scene *s)
{
	const struct agx_layout *l = &s->image.layout;
	const uint8_t codes[] = {
		agx_layout_raw_code(l), agx_layout_raw_code(l), agx_layout_raw_code(l),
		agx_layout_solid_code(l), 0, 0x55,
	};
	unsigned int i;

	for (i = 0; i < VAGX_UAT_PAGE_SIZE; i += AGX_LAYOUT_CODES)
		memset(fixture_data + METADATA + i, codes[below(s, COUNT(codes))],
		       AGX_LAYOUT_CODES);
}

static void pack(unsigned int packet, uint8_t *bytes, const void *fields)
{
	assert_int_equal(agx_packet_pack(packet, bytes, fields, NULL), 0);
}

/* Return: whether there is room for it */
static bool choose_texture(struct scene *s)
{
	uint8_t *state = s->f->launch.textures[0];
	const unsigned int dim = below(s, COUNT(dims)), format = below(s, COUNT(formats));
	struct agx_image_compression metadata = { .metadata = DATA_VA + METADATA };
	struct agx_texture t = agx_texture_default();
	struct agx_texture_linear linear;
	const char *why;

	s->op.mod[AGX_MOD_DIM] = dims[dim].dim;
	t.dimension = dims[dim].dimension;
	t.layout = any_layout(s, dims[dim].dim);
	t.channels = formats[format].channels;
	t.type = any_type(s, formats[format].types);
	t.srgb = t.channels == AGX_CHANNELS_R8G8B8A8 && !t.type && one_in(s, 2);
	t.swizzle_r = below(s, 6);
	t.swizzle_g = below(s, 6);
	t.swizzle_b = below(s, 6);
	t.swizzle_a = below(s, 6);
	t.width = 1 + below(s, one_in(s, 4) ? 100 : 40);
	t.height = t.dimension <= AGX_IMAGE_DIMENSION_1D_ARRAY ? 1 : 1 + below(s, 40);
	t.samples = below(s, 2);
	t.address = DATA_VA;
	if (t.layout != AGX_IMAGE_LAYOUT_LINEAR) {
		t.depth = any_depth(s, dims[dim].dim);
		t.last_level = below(s, agx_layout_chain(t.width, t.height, 1));
		t.first_level = one_in(s, 3) ? below(s, t.last_level + 1) : 0;
		t.compressed = t.extended = !vagx_block_format(t.channels) && one_in(s, 3);
	}
	memset(state, 0, VAGX_TEXTURE_BYTES);
	pack(AGX_PACKET_texture, state, &t);
	if (t.compressed)
		pack(AGX_PACKET_image_compression, state + 16, &metadata);
	if (t.layout == AGX_IMAGE_LAYOUT_LINEAR) {
		agx_packet_unpack(AGX_PACKET_texture_linear, state, &linear, NULL);
		linear.stride_less_16 = 16 * below(s, 120);
		pack(AGX_PACKET_texture_linear, state, &linear);
	}
	memcpy(s->f->launch.textures[1], state, VAGX_TEXTURE_BYTES);
	return vagx_image_from_texture(&s->image, state, &why) && s->image.layout.size <= METADATA;
}

/* Return: whether there is room for it */
static bool choose_target(struct scene *s)
{
	uint8_t *state = s->f->launch.textures[0];
	const unsigned int dim = below(s, COUNT(dims)), format = below(s, COUNT(formats) - 1);
	struct agx_pbe t = agx_pbe_default();
	struct agx_pbe_linear linear;
	const char *why;

	s->op.mod[AGX_MOD_DIM] = dims[dim].dim;
	t.dimension = dims[dim].dimension;
	t.layout = any_layout(s, dims[dim].dim);
	t.channels = formats[format].channels;
	t.type = any_type(s, formats[format].types);
	t.swizzle_r = below(s, 4);
	t.swizzle_g = below(s, 4);
	t.swizzle_b = below(s, 4);
	t.swizzle_a = below(s, 4);
	t.width = 1 + below(s, 40);
	t.height = t.dimension <= AGX_IMAGE_DIMENSION_1D_ARRAY ? 1 : 1 + below(s, 40);
	t.samples = below(s, 2);
	t.address = DATA_VA;
	if (t.layout != AGX_IMAGE_LAYOUT_LINEAR) {
		t.layers = any_depth(s, dims[dim].dim);
		t.levels = 1 + below(s, agx_layout_chain(t.width, t.height, 1));
		t.level = below(s, t.levels);
	}
	memset(state, 0, VAGX_TEXTURE_BYTES);
	pack(AGX_PACKET_pbe, state, &t);
	if (t.layout == AGX_IMAGE_LAYOUT_LINEAR) {
		agx_packet_unpack(AGX_PACKET_pbe_linear, state, &linear, NULL);
		linear.stride_less_4 = 4 * (t.width * 4 + below(s, 120)) - 4;
		pack(AGX_PACKET_pbe_linear, state, &linear);
	}
	memcpy(s->f->launch.textures[1], state, VAGX_TEXTURE_BYTES);
	return vagx_image_from_pbe(&s->image, &s->level, state, &why) &&
	       s->image.layout.size <= METADATA;
}

/* Registers */

static void set_word(struct lanes *registers, const struct agx_operand *o, unsigned int n,
		     unsigned int lane, uint32_t word)
{
	const unsigned int half = o->value + n * (o->size / 16), shift = half % 2 * 16;
	uint32_t *reg = &registers[half / 2].v[lane];

	if (o->size == 16)
		*reg = (*reg & ~(0xffffu << shift)) | (word & 0xffff) << shift;
	else
		*reg = word;
}

static struct agx_operand in_register(unsigned int half, unsigned int size)
{
	return (struct agx_operand){ .type = AGX_OPERAND_REG, .value = half, .size = size };
}

/* Descriptors are the same, but a register may name the one or the other */
static void choose_descriptor(struct scene *s, struct agx_operand *o)
{
	unsigned int lane;

	*o = in_register(STATE, 16);
	for (lane = 0; lane < LANES; lane++)
		set_word(s->sg.reg, o, 0, lane, one_in(s, 40));
	if (!one_in(s, 4))
		*o = (struct agx_operand){ .type = AGX_OPERAND_TS, .size = 16 };
}

/* A quad of quads, or anywhere; some are outside of the image */
static void choose_coordinates(struct scene *s)
{
	struct agx_operand *o = &s->op.src[3];
	const uint32_t x = below(s, 40), y = below(s, 40), layer = below(s, 3);
	const bool scattered = one_in(s, 3);
	unsigned int lane;

	*o = in_register(0, one_in(s, 3) ? 16 : 32);
	o->sign_extend = o->size == 16 && one_in(s, 2);
	for (lane = 0; lane < LANES; lane++) {
		const uint32_t at = one_in(s, 60) ? chance_bits(&s->chance) : lane / 4 * 2 + lane % 2;
		const uint32_t sample = below(s, one_in(s, 10) ? 6 : 4);
		uint32_t of[4] = { x + at, y + lane / 2 % 2, layer, 0 };
		unsigned int i;

		if (scattered) {
			of[0] = below(s, 45);
			of[1] = below(s, 45);
			of[2] = below(s, 6);
		}
		/* the last word, of layer and sample */
		i = texture_operand_coordinates(s->op.mod[AGX_MOD_DIM]);
		if (s->op.mod[AGX_MOD_DIM] == AGX_DIM_2D_MS)
			of[i] = sample;
		else if (s->op.mod[AGX_MOD_DIM] == AGX_DIM_2D_MS_ARRAY)
			of[i] = of[2] << 16 | sample;
		else if (i < 3)
			of[i] = of[2];
		for (i = 0; i < 4; i++)
			set_word(s->sg.reg, o, i, lane, of[i]);
	}
}

static void choose_lanes(struct scene *s)
{
	unsigned int lane;

	s->sg.valid = ALL_LANES;
	set_exec(&s->sg, one_in(s, 2) ? ALL_LANES : one_in(s, 4) ? 1u << below(s, LANES) :
								   chance_bits(&s->chance));
	for (lane = 0; lane < LANES; lane++)
		s->fragments.live[lane] = one_in(s, 2) ? 0xf : below(s, 3);
	s->f->core->fragments = one_in(s, 4) ? &s->fragments : NULL;
	s->f->core->register_halves = one_in(s, 4) ? FEW_HALVES : AGX_ISA_REGISTERS;
	fixture_hole = one_in(s, 6) ? DATA_VA + below(s, DATA_PAGES) * VAGX_UAT_PAGE_SIZE : 0;
}

static bool is_hole(uint64_t va)
{
	return fixture_hole && va - fixture_hole < VAGX_UAT_PAGE_SIZE;
}

static bool expect_fault(struct scene *s, uint64_t va)
{
	s->status = -EFAULT;
	s->address = va;
	return false;
}

/* Loads */

static void choose_load(struct scene *s)
{
	struct agx_operand *src = s->op.src;
	unsigned int lane;

	s->op.mod[AGX_MOD_MASK] = one_in(s, 2) ? 0xf : 1 + below(s, 15);
	s->op.dst = in_register(RESULT, one_in(s, 2) ? 16 : 32);
	s->op.dst.count = 4;
	choose_descriptor(s, &src[1]);
	choose_coordinates(s);
	src[4] = in_register(LEVEL, 16);
	for (lane = 0; lane < LANES; lane++)
		set_word(s->sg.reg, &src[4], 0, lane, s->level + one_in(s, 80));
	if (!s->level)
		src[4] = (struct agx_operand){ .type = AGX_OPERAND_IMM, .size = 16 };
	src[5] = in_register(OFFSET, 16);
	for (lane = 0; lane < LANES; lane++)
		set_word(s->sg.reg, &src[5], 0, lane, chance_bits(&s->chance) & 0xfff);
	if (!one_in(s, 4))
		src[5].type = AGX_OPERAND_NONE;
}

static int32_t offset_of(struct scene *s, unsigned int lane, unsigned int axis)
{
	if (s->op.src[5].type == AGX_OPERAND_NONE)
		return 0;
	return (int32_t)(texture_operand_word(&s->sg, &s->op.src[5], 0, lane)
			 << (28 - 4 * axis)) >> 28;
}

/* Where a lane loads from. Return: whether it is inside of the image. */
static bool find_loaded(struct scene *s, unsigned int lane, struct agx_texel *at)
{
	const struct agx_operand *o = &s->op.src[3], *lod = &s->op.src[4];
	const struct agx_layout *l = &s->image.layout;
	const unsigned int dim = s->op.mod[AGX_MOD_DIM], n = texture_operand_coordinates(dim);
	uint32_t size[3], level = s->image.first_level, word;
	int64_t c[4] = { 0 };
	unsigned int i;

	if (lod->type == AGX_OPERAND_REG)
		level += texture_operand_word(&s->sg, lod, 0, lane);
	for (i = 0; i < n; i++)
		c[i] = (int64_t)(int32_t)texture_operand_word(&s->sg, o, i, lane) +
		       offset_of(s, lane, i);
	word = texture_operand_word(&s->sg, o, n, lane);
	if (dim == AGX_DIM_2D_MS_ARRAY || dim == AGX_DIM_2D_MS)
		c[3] = word & 0xffff;
	if (dim == AGX_DIM_2D_MS_ARRAY)
		c[2] = word >> 16;
	else if (dim == AGX_DIM_2D_ARRAY || dim == AGX_DIM_1D_ARRAY)
		c[2] = word & 0xffff;
	if (level >= l->levels)
		return false;
	size[0] = texture_level_size(l->width, level);
	size[1] = texture_level_size(l->height, level);
	size[2] = dim == AGX_DIM_3D ? texture_level_size(l->layers, level) : l->layers;
	*at = (struct agx_texel){ c[0], c[1], c[2], level, c[3] };
	for (i = 0; i < 3; i++) {
		if (c[i] < 0 || c[i] >= size[i])
			return false;
	}
	return c[3] < l->samples;
}

/* Return: false if it fails */
static bool read_texel(struct scene *s, struct agx_texel at, uint32_t value[4])
{
	const struct agx_layout *l = &s->image.layout;
	uint8_t bits[VAGX_IMAGE_MAX_BYTES] = { 0 };
	bool is_known = true;
	uint64_t va;

	if (agx_layout_has_metadata(l, at.level)) {
		va = vagx_image_metadata(&s->image, &at);
		if (is_hole(va))
			return expect_fault(s, va);
		is_known = agx_layout_find_in_block(l, fixture_data + (va - DATA_VA), &at);
	}
	va = vagx_image_address(&s->image, &at);
	if (is_known && is_hole(va))
		return expect_fault(s, va);
	if (is_known)
		memcpy(bits, fixture_data + (va - DATA_VA), l->element_bytes);
	else
		memset(bits, 0xa5, l->element_bytes);
	vagx_image_decode(&s->image, &at, bits, value);
	return true;
}

static void expect_load(struct scene *s)
{
	const struct agx_operand *o = &s->op.dst;
	const bool halves = o->size == 16 && !vagx_image_is_integer(&s->image);
	const unsigned int room = (s->f->core->register_halves - RESULT) / (o->size / 16);
	struct agx_texel at;
	uint32_t left;

	memcpy(s->want, s->sg.reg, sizeof(s->want));
	for (left = s->sg.exec; left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);
		uint32_t value[4] = { 0 };
		unsigned int i, n = 0;

		if (find_loaded(s, lane, &at) && !read_texel(s, at, value))
			return;
		for (i = 0; i < 4; i++) {
			const uint32_t half = half_from_float(bits_float(value[i]));

			if (!(s->op.mod[AGX_MOD_MASK] >> i & 1))
				continue;
			if (n < room)
				set_word(s->want, o, n, lane, halves ? half : value[i]);
			n++;
		}
	}
}

/* Writes */

static void choose_write(struct scene *s)
{
	struct agx_operand *src = s->op.src;

	src[0] = in_register(COLOUR, one_in(s, 2) ? 16 : 32);
	src[1] = (struct agx_operand){ .type = AGX_OPERAND_NONE };
	choose_descriptor(s, &src[2]);
	choose_coordinates(s);
}

static void choose_colours(struct scene *s)
{
	static const float special[] = { 0, 1, -1, 0.5f, 1e30f, -0.0f, __builtin_inff() };
	unsigned int lane, i;

	for (lane = 0; lane < LANES; lane++) {
		for (i = 0; i < 4; i++) {
			float colour = (float)chance_fraction(&s->chance) * 1.2f - 0.1f;

			if (one_in(s, 20))
				colour = special[below(s, COUNT(special))];
			if (one_in(s, 20))
				colour = __builtin_nanf("");
			if (vagx_image_is_integer(&s->image))
				colour = bits_float(chance_bits(&s->chance));
			set_word(s->sg.reg, &s->op.src[0], i, lane,
				 s->op.src[0].size == 16 ? half_from_float(colour) :
							   float_bits(colour));
		}
	}
}

static uint32_t colour_of(struct scene *s, unsigned int lane, unsigned int i)
{
	const struct agx_operand *o = &s->op.src[0];

	return vagx_image_is_integer(&s->image) ?
		       texture_operand_word(&s->sg, o, i, lane) :
		       float_bits(texture_operand_float(&s->sg, o, i, lane));
}

static void expect_write(struct scene *s)
{
	const struct agx_layout *l = &s->image.layout;
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];
	struct agx_texel at;
	uint32_t left, value[4];
	unsigned int i;

	memcpy(s->memory, fixture_data, DATA_SIZE);
	memcpy(s->want, s->sg.reg, sizeof(s->want));
	for (left = vagx_stage_storing(&s->sg); left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);
		uint64_t va;

		/* as loads without a level find it, but for where the image ends */
		s->op.src[4].type = s->op.src[5].type = AGX_OPERAND_NONE;
		find_loaded(s, lane, &at);
		at.level = s->level;
		if (at.x >= l->level[at.level].width || at.y >= l->level[at.level].height ||
		    at.layer >= l->layers || at.sample >= l->samples)
			continue;
		for (i = 0; i < 4; i++)
			value[i] = colour_of(s, lane, i);
		vagx_image_encode_values(&s->image, value, bits);
		va = vagx_image_address(&s->image, &at);
		if (is_hole(va)) {
			expect_fault(s, va);
			return;
		}
		memcpy(s->memory + (va - DATA_VA), bits, l->element_bytes);
	}
}

/* Both */

static void run(struct scene *s, vagx_exec_fn *exec)
{
	s->sg.state = SIMDGROUP_RUNS;
	s->f->core->status = 0;
	s->f->core->fault = (struct vagx_uat_fault){ 0 };
	exec(&s->sg, &s->op);
	assert_int_equal(s->f->core->status, s->status);
	if (s->status)
		assert_int_equal(s->f->core->fault.va, s->address);
}

static bool play_load(struct scene *s)
{
	do {
		s->op = (struct op){ .va = CODE_VA };
	} while (!choose_texture(s));
	s->level = one_in(s, 3) ? below(s, 3) : 0;
	choose_codes(s);
	choose_load(s);
	choose_lanes(s);
	expect_load(s);
	run(s, vagx_exec_texture_load);
	if (!s->status)
		assert_memory_equal(s->sg.reg, s->want, sizeof(s->want));
	return !s->status;
}

static bool play_write(struct scene *s)
{
	do {
		s->op = (struct op){ .va = CODE_VA };
	} while (!choose_target(s));
	choose_write(s);
	choose_colours(s);
	choose_lanes(s);
	expect_write(s);
	run(s, vagx_exec_image_write);
	assert_memory_equal(fixture_data, s->memory, DATA_SIZE);
	return !s->status;
}

static void play(void **state, bool (*play_one)(struct scene *s))
{
	struct scene *s = aligned_alloc(64, sizeof(*s));
	unsigned int i, ran = 0;

	assert_non_null(s);
	memset(s, 0, sizeof(*s));
	s->chance = chance_begin(9);
	s->f = *state;
	s->f->core->launch = &s->f->launch;
	s->f->core->serial = 1;
	/* where a thread is, which a failure says */
	for (i = 0; i < 3; i++)
		s->f->core->size[i] = i ? 1 : LANES;
	s->sg.core = s->f->core;
	s->sg.failed_lane = LANES;
	for (i = 0; i < DATA_SIZE / 4; i++)
		fixture_words()[i] = chance_bits(&s->chance);
	for (i = 0; i < ROUNDS; i++) {
		s->status = 0;
		ran += play_one(s);
	}
	/* both kinds have been there */
	assert_true(ran > ROUNDS / 2 && ran < ROUNDS - ROUNDS / 200);
	s->f->core->fragments = NULL;
	s->f->core->launch = NULL;
	fixture_hole = 0;
	free(s);
}

static void random_loads(void **state)
{
	play(state, play_load);
}

static void random_writes(void **state)
{
	play(state, play_write);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(random_loads, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(random_writes, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
