// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Samples of all lanes at once are those of one lane after the other, to the last bit: of
 * random images, samplers, instructions and coordinates.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core_fixture.h"
#include "gpu/stage.h"
#include "gpu/texture.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define ROUNDS		5000
/* Of one image, whose texels are cached in between or not */
#define SAMPLES		4
#define LARGEST		100
/* Halves that results go to, and what threads have of them */
#define RESULT		100
#define FEW_HALVES	104

/* What is sampled is in fixture_data; descriptors 0 and 1 are the same */
struct scene {
	struct fixture *f;
	struct vagx_fragments fragments;
	struct simdgroup sg;
	struct agx_texture texture;
	struct agx_sampler sampler;
	struct op op;
	/* what registers should be afterwards */
	struct lanes want[REGISTERS];
};

struct outcome {
	struct texture_results results;
	int status;
	uint64_t address;
};

static unsigned int below(unsigned int n)
{
	return (unsigned int)random() % n;
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

static uint32_t random_word(void)
{
	return (uint32_t)random() << 16 ^ (uint32_t)random();
}

/* Half of them as most textures are */
static void choose_format(struct agx_texture *t)
{
	static const struct {
		unsigned int channels, type;
	} formats[] = {
		{ AGX_CHANNELS_R8G8B8A8, AGX_TEXTURE_TYPE_UINT },
		{ AGX_CHANNELS_R8G8B8A8, AGX_TEXTURE_TYPE_SNORM },
		{ AGX_CHANNELS_R8, AGX_TEXTURE_TYPE_UNORM },
		{ AGX_CHANNELS_R5G6B5, AGX_TEXTURE_TYPE_UNORM },
		{ AGX_CHANNELS_R16, AGX_TEXTURE_TYPE_SINT },
		{ AGX_CHANNELS_R32, AGX_TEXTURE_TYPE_UINT },
		{ AGX_CHANNELS_R16G16B16A16, AGX_TEXTURE_TYPE_FLOAT },
		{ AGX_CHANNELS_R32, AGX_TEXTURE_TYPE_FLOAT },
		{ AGX_CHANNELS_R32G32B32A32, AGX_TEXTURE_TYPE_FLOAT },
		{ AGX_CHANNELS_BC1, AGX_TEXTURE_TYPE_UNORM },
		{ AGX_CHANNELS_ASTC_4X4, AGX_TEXTURE_TYPE_UNORM },
	};
	const unsigned int i = below(COUNT(formats));

	t->channels = AGX_CHANNELS_R8G8B8A8;
	t->type = AGX_TEXTURE_TYPE_UNORM;
	t->srgb = one_in(4);
	t->swizzle_r = below(6);
	t->swizzle_g = below(6);
	t->swizzle_b = below(6);
	t->swizzle_a = below(6);
	if (one_in(2))
		return;
	t->channels = formats[i].channels;
	t->type = formats[i].type;
	t->srgb = false;
}

/* Some have more blocks beside each other than are cached */
static void choose_size(struct agx_texture *t, bool array)
{
	t->width = one_in(2) ? 1u << below(9) : 1 + below(LARGEST);
	t->height = one_in(2) ? 1u << below(7) : 1 + below(LARGEST);
	if (t->layout == AGX_IMAGE_LAYOUT_LINEAR)
		return;
	t->depth = array ? 1 + below(3) : 1;
	t->last_level = below(agx_layout_chain(t->width, t->height, 1));
	t->first_level = one_in(3) ? below(t->last_level + 1) : 0;
	/* not even a level */
	if (one_in(50))
		t->first_level = 12;
}

/* Return: whether there is room for it */
static bool choose_image(struct scene *s)
{
	static const uint8_t layouts[] = {
		AGX_IMAGE_LAYOUT_GPU, AGX_IMAGE_LAYOUT_TWIDDLED, AGX_IMAGE_LAYOUT_LINEAR,
	};
	const bool array = s->op.mod[AGX_MOD_DIM] == AGX_DIM_2D_ARRAY;
	struct agx_texture_linear linear;
	struct vagx_image image;
	uint8_t bytes[VAGX_TEXTURE_BYTES] = { 0 };
	const char *why;

	s->texture = agx_texture_default();
	s->texture.dimension = array ? AGX_IMAGE_DIMENSION_2D_ARRAY : AGX_IMAGE_DIMENSION_2D;
	s->texture.layout = layouts[below(COUNT(layouts))];
	s->texture.address = DATA_VA;
	choose_format(&s->texture);
	choose_size(&s->texture, array);
	assert_int_equal(agx_packet_pack(AGX_PACKET_texture, bytes, &s->texture, NULL), 0);
	if (s->texture.layout == AGX_IMAGE_LAYOUT_LINEAR) {
		agx_packet_unpack(AGX_PACKET_texture_linear, bytes, &linear, NULL);
		linear.stride_less_16 = 16 * below(40);
		assert_int_equal(agx_packet_pack(AGX_PACKET_texture_linear, bytes, &linear, NULL),
				 0);
	}
	memcpy(s->f->launch.textures[0], bytes, sizeof(bytes));
	memcpy(s->f->launch.textures[1], bytes, sizeof(bytes));
	return vagx_image_from_texture(&image, bytes, &why) && image.layout.size <= DATA_SIZE;
}

static void choose_sampler(struct scene *s)
{
	struct agx_sampler *sampler = &s->sampler;
	unsigned int i;

	*sampler = agx_sampler_default();
	sampler->magnify = below(2);
	sampler->minify = one_in(4) ? below(2) : sampler->magnify;
	sampler->mip_filter = below(3);
	sampler->wrap_s = below(AGX_WRAP_MIRRORED_CLAMP_TO_EDGE + 1);
	sampler->wrap_t = one_in(2) ? sampler->wrap_s :
				      below(AGX_WRAP_MIRRORED_CLAMP_TO_EDGE + 1);
	sampler->maximum_anisotropy = one_in(4) ? 1u << below(5) : 1;
	sampler->pixel_coordinates = one_in(8);
	sampler->border_colour = below(3);
	if (one_in(4)) {
		sampler->minimum_lod = below(5 * 64) / 64.0f;
		sampler->maximum_lod = below(5 * 64) / 64.0f;
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(agx_packet_pack(AGX_PACKET_sampler, s->f->launch.samplers[i],
						 sampler, NULL), 0);
}

static void choose_lod(struct scene *s)
{
	static const struct {
		unsigned int mode, type, size;
	} lods[] = {
		{ AGX_LOD_AUTO, AGX_OPERAND_IMM, 16 },
		{ AGX_LOD_AUTO, AGX_OPERAND_IMM, 16 },
		{ AGX_LOD_GRAD, AGX_OPERAND_REG, 32 },
		{ AGX_LOD_GRAD_MIN, AGX_OPERAND_REG, 16 },
		{ AGX_LOD_BIAS, AGX_OPERAND_REG, 16 },
		{ AGX_LOD_BIAS_MIN, AGX_OPERAND_REG, 16 },
		{ AGX_LOD_UNIFORM_BIAS, AGX_OPERAND_UNIFORM, 16 },
		{ AGX_LOD_UNIFORM_BIAS_MIN, AGX_OPERAND_UNIFORM, 16 },
		{ AGX_LOD_MIN, AGX_OPERAND_REG, 16 },
		{ AGX_LOD_UNIFORM_MIN, AGX_OPERAND_UNIFORM, 16 },
	};
	const unsigned int i = below(COUNT(lods));

	s->op.mod[AGX_MOD_LOD] = lods[i].mode;
	s->op.src[4] = (struct agx_operand){
		.type = lods[i].type, .size = lods[i].size, .value = 20, .count = 1,
	};
}

/* Descriptors in registers 40 and 42, coordinates from 0 on, levels from 20, offsets in 46 */
static void choose_instruction(struct scene *s)
{
	const bool registers = one_in(3);

	s->op = (struct op){ .va = CODE_VA };
	s->op.mod[AGX_MOD_DIM] = one_in(2) ? AGX_DIM_2D : AGX_DIM_2D_ARRAY;
	s->op.mod[AGX_MOD_MASK] = one_in(2) ? 0xf : 1 + below(15);
	s->op.dst = (struct agx_operand){
		.type = AGX_OPERAND_REG, .size = one_in(2) ? 16 : 32, .value = RESULT, .count = 4,
	};
	s->op.src[0] = (struct agx_operand){ .type = AGX_OPERAND_NONE };
	s->op.src[1] = (struct agx_operand){
		.type = registers ? AGX_OPERAND_REG : AGX_OPERAND_TS, .size = 16,
		.value = registers ? 40 : 0,
	};
	s->op.src[2] = (struct agx_operand){
		.type = registers ? AGX_OPERAND_REG : AGX_OPERAND_SS, .size = 16,
		.value = registers ? 42 : 0,
	};
	s->op.src[3] = (struct agx_operand){
		.type = AGX_OPERAND_REG, .size = one_in(3) ? 16 : 32, .value = 0,
	};
	if (one_in(3))
		s->op.src[5] = (struct agx_operand){
			.type = AGX_OPERAND_REG, .size = 16, .value = 46,
		};
	choose_lod(s);
}

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

static float special_number(void)
{
	static const float numbers[] = { NAN, INFINITY, -INFINITY, -0.0f, 1e30f, -3e8f, 1.0f };

	return numbers[below(COUNT(numbers))];
}

/* Where one weight of a linear filter, or one texel, ends and another one begins; or beside it */
static float edge_number(const struct scene *s, unsigned int size)
{
	const double edge = ((int)below(1 << 20) - (1 << 19) + 0.5 * below(2)) / 256;
	const float at = (float)(s->sampler.pixel_coordinates ? edge : edge / size);

	return one_in(3) ? at : nextafterf(at, one_in(2) ? INFINITY : -INFINITY);
}

/* From pixel to pixel as on a triangle, or anywhere */
static void choose_coordinates(struct scene *s)
{
	const struct agx_operand *o = &s->op.src[3];
	const float unit = s->sampler.pixel_coordinates ? 64 : 1;
	const float step = unit * exp2f(-(float)below(10)), far = one_in(4) ? 1000 : 3;
	const bool scattered = one_in(3), edges = one_in(8);
	unsigned int lane, i;

	for (i = 0; i < 2; i++) {
		const float first = unit * far * (below(1000) / 500.0f - 1) * below(2);
		const float right = step * (below(1000) / 500.0f - 1);
		const float down = step * (below(1000) / 500.0f - 1);

		for (lane = 0; lane < LANES; lane++) {
			float at = first + right * ((lane & 1) + (lane >> 2) * 2) +
				   down * (lane >> 1 & 1);

			if (scattered)
				at = unit * far * (below(100000) / 50000.0f - 1);
			if (edges)
				at = edge_number(s, i ? s->texture.height : s->texture.width);
			if (one_in(100))
				at = special_number();
			set_word(s->sg.reg, o, i, lane,
				 o->size == 16 ? half_from_float(at) : float_bits(at));
		}
	}
	for (lane = 0; lane < LANES; lane++)
		set_word(s->sg.reg, o, 2, lane, below(5));
}

/* Numbers of both sizes that are not far away from 0 */
static void choose_levels(struct scene *s)
{
	const struct agx_operand *o = &s->op.src[4];
	unsigned int lane, i;

	for (i = 0; i < 4; i++) {
		for (lane = 0; lane < LANES && o->type == AGX_OPERAND_REG; lane++) {
			float number = one_in(50) ? special_number() : below(1000) / 200.0f - 1;

			if (o->size == 32)
				number *= exp2f(-(float)below(10));
			set_word(s->sg.reg, o, i, lane,
				 o->size == 16 ? half_from_float(number) : float_bits(number));
		}
		s->f->launch.uniforms[20 + i] = half_from_float(below(1000) / 200.0f - 1);
	}
}

/* Return: whether the active lanes have the same descriptors */
static bool choose_descriptors(struct scene *s)
{
	const struct agx_operand *image = &s->op.src[1], *sampler = &s->op.src[2];
	uint32_t differ = one_in(2) ? 0 : ~s->sg.exec;
	unsigned int lane;

	if (image->type != AGX_OPERAND_REG)
		return true;
	if (one_in(4))
		differ = one_in(2) ? random_word() : 1u << below(LANES);
	for (lane = 0; lane < LANES; lane++) {
		set_word(s->sg.reg, image, 0, lane, differ >> lane & 1);
		set_word(s->sg.reg, sampler, 0, lane, one_in(2) && differ >> lane & 1);
	}
	return !(differ & s->sg.exec) || !(~differ & s->sg.exec);
}

static bool samplers_agree(const struct scene *s)
{
	const struct agx_operand *o = &s->op.src[2];
	uint32_t left, first = texture_operand_word((struct simdgroup *)&s->sg, o, 0,
						    __builtin_ctz(s->sg.exec));

	for (left = s->sg.exec; left; left &= left - 1) {
		if (texture_operand_word((struct simdgroup *)&s->sg, o, 0, __builtin_ctz(left)) !=
		    first)
			return false;
	}
	return true;
}

static void choose_lanes(struct scene *s)
{
	unsigned int lane;

	s->sg.valid = ALL_LANES;
	do {
		set_exec(&s->sg, one_in(2) ? ALL_LANES : one_in(4) ? 1u << below(LANES) :
								    random_word());
	} while (!s->sg.exec);
	for (lane = 0; lane < LANES; lane++)
		set_word(s->sg.reg, &(struct agx_operand){ .value = 46, .size = 16 }, 0, lane,
			 random_word());
	s->f->core->fragments = one_in(8) ? NULL : &s->fragments;
}

/* As vagx_exec_texture_sample() does it, but for what is done with the results */
static bool run(struct scene *s, struct outcome *out,
		bool (*sample)(struct texture *t, struct texture_results *results))
{
	struct texture t = {
		.sg = &s->sg, .op = &s->op, .dim = s->op.mod[AGX_MOD_DIM], .samples = true,
	};
	bool done;

	s->sg.state = SIMDGROUP_RUNS;
	s->f->core->status = 0;
	s->f->core->fault = (struct vagx_uat_fault){ 0 };
	memset(out, 0, sizeof(*out));
	t.cache = vagx_texture_cache(&s->sg, &s->op);
	assert_non_null(t.cache);
	done = sample(&t, &out->results);
	out->status = s->f->core->status;
	out->address = s->f->core->fault.va;
	return done;
}

static bool sample_each(struct texture *t, struct texture_results *results)
{
	vagx_texture_sample_each(t, results);
	return true;
}

/* Which one of two operands that are no numbers remains is not what is looked at here */
static bool same_value(uint32_t a, uint32_t b, bool floats)
{
	return a == b || (floats && isnan(bits_float(a)) && isnan(bits_float(b)));
}

static void compare(const struct scene *s, const struct outcome *got, const struct outcome *want)
{
	uint32_t left;
	unsigned int i;

	assert_int_equal(got->status, want->status);
	assert_int_equal(got->address, want->address);
	if (want->status)
		return;
	assert_int_equal(got->results.floats, want->results.floats);
	assert_int_equal(got->results.missing, want->results.missing);
	for (left = s->sg.exec; left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);
		const bool floats = want->results.floats >> lane & 1;

		for (i = 0; i < 4; i++)
			assert_true(same_value(got->results.channel[i].v[lane],
					       want->results.channel[i].v[lane], floats));
	}
}

/* The channels that are asked for, one after the other, as far as there are registers */
static void expect_registers(struct scene *s, const struct texture_results *results)
{
	const struct agx_operand *o = &s->op.dst;
	const unsigned int room = (s->f->core->register_halves - o->value) / (o->size / 16);
	unsigned int lane, i, n;

	memcpy(s->want, s->sg.reg, sizeof(s->want));
	for (lane = 0; lane < LANES; lane++) {
		for (i = 0, n = 0; i < 4; i++) {
			uint32_t bits = results->channel[i].v[lane];

			if (!(s->op.mod[AGX_MOD_MASK] >> i & 1))
				continue;
			if (o->size == 16 && results->floats >> lane & 1)
				bits = half_from_float(bits_float(bits));
			if (s->sg.exec >> lane & 1 && n < room)
				set_word(s->want, o, n, lane, bits);
			n++;
		}
	}
}

/* As above, of one number or two */
static bool same_register(uint32_t a, uint32_t b, unsigned int size)
{
	if (size == 32)
		return same_value(a, b, true);
	return same_value(float_bits(float_from_half(a & 0xffff)),
			  float_bits(float_from_half(b & 0xffff)), true) &&
	       same_value(float_bits(float_from_half(a >> 16)),
			  float_bits(float_from_half(b >> 16)), true);
}

/* The instruction as a whole */
static void compare_registers(struct scene *s, const struct outcome *want)
{
	unsigned int i, lane;

	s->f->core->register_halves = one_in(4) ? FEW_HALVES : AGX_ISA_REGISTERS;
	expect_registers(s, &want->results);
	s->sg.state = SIMDGROUP_RUNS;
	s->f->core->status = 0;
	vagx_exec_texture_sample(&s->sg, &s->op);
	assert_int_equal(s->f->core->status, want->status);
	for (i = 0; i < REGISTERS && !want->status; i++) {
		for (lane = 0; lane < LANES; lane++)
			assert_true(same_register(s->sg.reg[i].v[lane], s->want[i].v[lane],
						  s->op.dst.size));
	}
	s->f->core->register_halves = AGX_ISA_REGISTERS;
}

/* What is random: floats are numbers mostly, of any size */
static void choose_texels(void)
{
	unsigned int i;

	for (i = 0; i < DATA_SIZE / 4; i++)
		fixture_words()[i] = random_word();
}

struct counts {
	unsigned int at_once;
	unsigned int apart;
	unsigned int failed;
};

/* Where a page is missing, what is cached of it depends on what was read before */
static void forget(struct scene *s)
{
	if (fixture_hole || one_in(2))
		vagx_texture_invalidate(s->f->core);
}

static void sample(struct scene *s, struct counts *counts)
{
	struct outcome at_once, each;
	bool same, done;

	choose_lanes(s);
	choose_coordinates(s);
	choose_levels(s);
	same = choose_descriptors(s) && samplers_agree(s);
	fixture_hole = one_in(8) ? DATA_VA + below(DATA_PAGES) * VAGX_UAT_PAGE_SIZE : 0;

	forget(s);
	done = run(s, &at_once, vagx_texture_sample_lanes);
	if (!same)
		assert_false(done);
	forget(s);
	run(s, &each, sample_each);
	if (done)
		compare(s, &at_once, &each);
	forget(s);
	compare_registers(s, &each);
	counts->at_once += done;
	counts->apart += !same;
	counts->failed += done && each.status;
}

static void play(struct scene *s, struct counts *counts)
{
	unsigned int i;

	do {
		choose_instruction(s);
	} while (!choose_image(s));
	choose_sampler(s);
	for (i = 0; i < SAMPLES; i++)
		sample(s, counts);
}

static void random_samples(void **state)
{
	struct scene *s = aligned_alloc(64, sizeof(*s));
	struct counts counts = { 0 };
	unsigned int i;

	assert_non_null(s);
	memset(s, 0, sizeof(*s));
	s->f = *state;
	s->f->core->launch = &s->f->launch;
	s->f->core->register_halves = AGX_ISA_REGISTERS;
	s->f->core->serial = 1;
	/* where a thread is, which a failure says */
	for (i = 0; i < 3; i++)
		s->f->core->size[i] = i ? 1 : LANES;
	s->sg.core = s->f->core;
	s->sg.failed_lane = LANES;
	srandom(1);
	choose_texels();
	for (i = 0; i < ROUNDS; i++)
		play(s, &counts);
	/* not all are left to the other way, and all kinds have been there */
	assert_true(counts.at_once > ROUNDS * SAMPLES / 2);
	assert_true(counts.apart > ROUNDS * SAMPLES / 100);
	assert_true(counts.failed > ROUNDS * SAMPLES / 100);
	s->f->core->fragments = NULL;
	s->f->core->launch = NULL;
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(random_samples, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
