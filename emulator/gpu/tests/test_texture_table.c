// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Textures by chance, against a reference in doubles: shapes, formats, swizzles, layouts, sizes
 * that are odd or one texel, levels, wrap modes, filters, border colours of all kinds,
 * comparison, offsets, gather, anisotropic filters; coordinates that are negative, far away, in
 * the middle of texels, at their edges and beside them. Groups of compute and quads of fragments
 * sample, so that both ways through vagx are tried, all lanes at once and one by one.
 *
 * Open in the specifications, and as vagx has it here: the level in the middle of two (the
 * coarser one), the colour beyond the corner of a cube (the mean of three texels), the places of
 * an anisotropic filter's taps (those that Vulkan suggests). What hardware does is unknown for
 * these, for GL_CLAMP (as OpenGL has it), and for fixed border colours of textures with a
 * swizzle: they are swizzled here like all texels, as Vulkan has it, and as Mesa's way around
 * opaque black with RGBA4, whose swizzle moves alpha, suggests (src/asahi/vulkan/hk_sampler.c).
 * Coordinates that are no numbers or beyond 1e9 texels are left out.
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
#include "chance.h"
#include "core_fixture.h"
#include "gpu/stage.h"
#include "texture_reference.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define LANES		32
/* Lanes of a case */
#define LOOKUPS		32
/* Words of a lane: coordinates and the layer, a level, an extra word, gradients from 8 on */
#define WORDS		16
#define OUTPUT		0x2000
#define TEXTURE		0x4000
#define TEXTURE_BYTES	(DATA_SIZE - TEXTURE)

/* Where the level of detail comes from */
enum lod { LOD_NONE, LOD_BIAS, LOD_GIVEN, LOD_GRADIENT, LOD_QUAD, LOD_QUAD_BIAS, LODS };

static const struct {
	const char *name;
	uint8_t dimension;
} shapes[SHAPES] = {
	[SHAPE_1D] = { "1d", AGX_IMAGE_DIMENSION_1D },
	[SHAPE_1D_ARRAY] = { "1d_array", AGX_IMAGE_DIMENSION_1D_ARRAY },
	[SHAPE_2D] = { "2d", AGX_IMAGE_DIMENSION_2D },
	[SHAPE_2D_ARRAY] = { "2d_array", AGX_IMAGE_DIMENSION_2D_ARRAY },
	[SHAPE_3D] = { "3d", AGX_IMAGE_DIMENSION_3D },
	[SHAPE_CUBE] = { "cube", AGX_IMAGE_DIMENSION_CUBE },
	[SHAPE_CUBE_ARRAY] = { "cube_array", AGX_IMAGE_DIMENSION_CUBE_ARRAY },
};

/* A case: a texture, and the lookups of all lanes */
struct texture_case {
	struct fixture *f;
	struct chance *c;
	unsigned int number;
	struct texture_model m;
	enum lod lod;
	/* 0, or the number of a channel and one more */
	unsigned int gathers;
	bool has_offset;
	float at[LOOKUPS][3], right[LOOKUPS][3], down[LOOKUPS][3];
	float given[LOOKUPS], reference[LOOKUPS];
	unsigned int layer[LOOKUPS];
};

/* What came up, by shape */
static struct {
	unsigned int wrap[SHAPES][6][2][3];
	unsigned int size_1[SHAPES][2];
	unsigned int lod[SHAPES][LODS];
	unsigned int border[4][6];
} seen;

/* What a test tries */
struct plan {
	uint64_t stream;
	unsigned int cases;
	unsigned int first_shape, last_shape;
	bool borders, compares, gathers, anisotropic, gl_clamp;
};

/* Textures */

static bool is_array(enum texture_shape shape)
{
	return shape == SHAPE_1D_ARRAY || shape == SHAPE_2D_ARRAY || shape == SHAPE_CUBE_ARRAY;
}

static bool is_cube(enum texture_shape shape)
{
	return shape == SHAPE_CUBE || shape == SHAPE_CUBE_ARRAY;
}

static const struct pixel_format *find_format(unsigned int channels, unsigned int type, bool srgb)
{
	unsigned int i;

	for (i = 0; i < pixel_format_count; i++) {
		if (pixel_formats[i].channels == channels && pixel_formats[i].type == type &&
		    pixel_formats[i].srgb == srgb)
			return &pixel_formats[i];
	}
	fail_msg("no format");
	return NULL;
}

/* Any; often that of most textures, which vagx keeps as bytes */
static const struct pixel_format *any_format(struct chance *c, const struct plan *plan)
{
	if (plan->compares)
		return chance_pick(c, 2) ?
		       find_format(AGX_CHANNELS_R16, AGX_TEXTURE_TYPE_UNORM, false) :
		       find_format(AGX_CHANNELS_R32, AGX_TEXTURE_TYPE_FLOAT, false);
	if ((!plan->borders && !chance_pick(c, 3)) || plan->anisotropic)
		return find_format(AGX_CHANNELS_R8G8B8A8, AGX_TEXTURE_TYPE_UNORM, chance_pick(c, 2));
	return &pixel_formats[chance_pick(c, pixel_format_count)];
}

static uint8_t any_channel(struct chance *c, const struct pixel_format *format)
{
	uint8_t channel = chance_pick(c, 6);

	while (channel <= AGX_CHANNEL_A && !format->bits[channel])
		channel = chance_pick(c, 6);
	if (format->channels == AGX_CHANNELS_R9G9B9E5 && channel == AGX_CHANNEL_A)
		channel = AGX_CHANNEL_1;
	return channel;
}

static uint32_t any_size(struct chance *c)
{
	switch (chance_pick(c, 4)) {
	case 0:
		return 1 + chance_pick(c, 3);
	case 1:
		return 1u << chance_pick(c, 6);
	default:
		return 1 + chance_pick(c, 37);
	}
}

static void make_layout(struct texture_case *t)
{
	struct chance *c = t->c;
	const enum texture_shape shape = t->m.shape;
	struct agx_layout *l = &t->m.layout;
	const char *why;

	do {
		*l = (struct agx_layout){
			.kind = chance_pick(c, 3) ? AGX_IMAGE_LAYOUT_GPU : AGX_IMAGE_LAYOUT_TWIDDLED,
			.width = any_size(c), .height = any_size(c), .layers = 1, .samples = 1,
			.element_bytes = pixel_bytes(t->m.format),
		};
		if (shape <= SHAPE_1D_ARRAY)
			l->height = 1;
		if (is_cube(shape))
			l->height = l->width;
		if (is_array(shape))
			l->layers = 1 + chance_pick(c, 4);
		if (shape == SHAPE_3D)
			l->layers = any_size(c);
		if (is_cube(shape))
			l->layers *= 6;
		l->levels = 1 + chance_pick(c, agx_layout_chain(l->width, l->height,
							       shape == SHAPE_3D ? l->layers : 1));
		if (shape == SHAPE_2D && l->levels == 1 && chance_pick(c, 2)) {
			l->kind = AGX_IMAGE_LAYOUT_LINEAR;
			l->stride = (l->width * l->element_bytes + 15) / 16 * 16;
		}
		why = agx_layout_init(l);
	} while (why || l->size > TEXTURE_BYTES);
	t->m.last_level = l->levels - 1;
	t->m.first_level = chance_pick(c, 3) ? 0 : chance_pick(c, l->levels);
}

/* Numbers that are neither infinite nor so large that they hide others */
static uint32_t any_code(struct chance *c, const struct pixel_format *format, unsigned int bits,
			 unsigned int channel)
{
	const uint32_t code = chance_bits(c) >> (32 - bits);

	if (format->type != AGX_TEXTURE_TYPE_FLOAT)
		return code;
	if (format->channels == AGX_CHANNELS_R9G9B9E5)
		return channel == 3 ? 14 + code % 4 : code;
	if (bits == 32)
		return float_bits((float)(8 * chance_fraction(c) - 4));
	if (bits == 16)
		return pixel_half(8 * chance_fraction(c) - 4);
	return code % (17u << (bits - 5));
}

static void put_texels(struct texture_case *t)
{
	const struct pixel_format *format = t->m.format;
	const unsigned int bytes = pixel_bytes(format);
	unsigned int i, k, at, bit;
	uint32_t code;

	memset(fixture_data + TEXTURE, 0, TEXTURE_BYTES);
	for (i = 0; i < t->m.layout.size / bytes; i++) {
		for (at = 8 * i * bytes, k = 0; k < 4; at += format->bits[k++]) {
			if (!format->bits[k])
				continue;
			code = any_code(t->c, format, format->bits[k], k);
			for (bit = 0; bit < format->bits[k]; bit++)
				fixture_data[TEXTURE + (at + bit) / 8] |=
					(code >> bit & 1) << (at + bit) % 8;
		}
	}
	t->m.memory = fixture_data + TEXTURE;
}

static void set_texture(const struct texture_case *t)
{
	const struct texture_model *m = &t->m;
	struct agx_texture p = agx_texture_default();
	struct agx_texture_linear linear;
	uint8_t *state = t->f->launch.textures[1];

	p.dimension = shapes[m->shape].dimension;
	p.layout = m->layout.kind;
	p.channels = m->format->channels;
	p.type = m->format->type;
	p.srgb = m->format->srgb;
	p.swizzle_r = m->swizzle[0];
	p.swizzle_g = m->swizzle[1];
	p.swizzle_b = m->swizzle[2];
	p.swizzle_a = m->swizzle[3];
	p.width = m->layout.width;
	p.height = m->layout.height;
	p.depth = is_cube(m->shape) ? m->layout.layers / 6 : m->layout.layers;
	p.first_level = m->first_level;
	p.last_level = m->last_level;
	p.address = DATA_VA + TEXTURE;
	assert_int_equal(agx_packet_pack(AGX_PACKET_texture, state, &p, NULL), 0);
	if (m->layout.kind != AGX_IMAGE_LAYOUT_LINEAR)
		return;
	agx_packet_unpack(AGX_PACKET_texture_linear, state, &linear, NULL);
	linear.stride_less_16 = m->layout.stride - 16;
	assert_int_equal(agx_packet_pack(AGX_PACKET_texture_linear, state, &linear, NULL), 0);
}

/* Samplers */

static unsigned int any_wrap(struct chance *c, const struct plan *plan)
{
	static const uint8_t wraps[] = {
		AGX_WRAP_CLAMP_TO_EDGE, AGX_WRAP_REPEAT, AGX_WRAP_MIRRORED_REPEAT,
		AGX_WRAP_CLAMP_TO_BORDER, AGX_WRAP_MIRRORED_CLAMP_TO_EDGE,
	};

	if (plan->gl_clamp)
		return AGX_WRAP_CLAMP_GL;
	return plan->borders ? AGX_WRAP_CLAMP_TO_BORDER : wraps[chance_pick(c, COUNT(wraps))];
}

/* A border colour as Mesa encodes it: as wide as a channel, sRGB as 12 linear bits */
static void make_border(struct texture_case *t)
{
	const struct pixel_format *format = t->m.format;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		unsigned int bits = format->srgb && i < 3 ? 12 : format->bits[i];

		t->m.border[i] = 0;
		if (!bits)
			continue;
		if (format->type == AGX_TEXTURE_TYPE_FLOAT)
			t->m.border[i] = bits == 32 ? float_bits((float)chance_fraction(t->c)) :
						      pixel_half(4 * chance_fraction(t->c));
		else
			t->m.border[i] = chance_bits(t->c) >> (32 - bits);
		/* -1 has one encoding */
		if (format->type == AGX_TEXTURE_TYPE_SNORM && t->m.border[i] == 1u << (bits - 1))
			t->m.border[i]++;
		if (format->type == AGX_TEXTURE_TYPE_SINT && bits < 32 &&
		    t->m.border[i] >> (bits - 1))
			t->m.border[i] |= ~0u << bits;
	}
}

static void make_sampler(struct texture_case *t, const struct plan *plan)
{
	const bool nearest = pixel_is_integer(t->m.format);
	struct agx_sampler *s = &t->m.sampler;
	struct chance *c = t->c;

	*s = agx_sampler_default();
	s->magnify = nearest ? AGX_FILTER_NEAREST : chance_pick(c, 2);
	s->minify = nearest ? AGX_FILTER_NEAREST : chance_pick(c, 2);
	s->mip_filter = chance_pick(c, nearest ? 2 : 3);
	s->wrap_s = any_wrap(c, plan);
	s->wrap_t = any_wrap(c, plan);
	s->wrap_r = any_wrap(c, plan);
	s->border_colour = chance_pick(c, 4);
	s->compare = chance_pick(c, 8);
	s->compare_enable = t->m.compares;
	s->seamful_cube_maps = is_cube(t->m.shape) && !chance_pick(c, 3);
	if (!chance_pick(c, 3)) {
		s->minimum_lod = chance_pick(c, 3 * 64) / 64.0f;
		s->maximum_lod = s->minimum_lod + chance_pick(c, 3 * 64) / 64.0f;
	}
	if (plan->anisotropic) {
		s->maximum_anisotropy = 2u << chance_pick(c, 4);
		s->magnify = s->minify = AGX_FILTER_LINEAR;
	}
	if (t->m.shape == SHAPE_2D && !plan->anisotropic && !chance_pick(c, 8)) {
		/* as Vulkan allows it */
		s->pixel_coordinates = true;
		s->minify = s->magnify;
		s->mip_filter = AGX_MIP_FILTER_NONE;
		s->minimum_lod = s->maximum_lod = 0;
		s->wrap_s = s->wrap_s == AGX_WRAP_CLAMP_TO_BORDER || plan->gl_clamp ? s->wrap_s :
			    AGX_WRAP_CLAMP_TO_EDGE;
		s->wrap_t = s->wrap_s;
	}
	make_border(t);
	assert_int_equal(agx_packet_pack(AGX_PACKET_sampler, t->f->launch.samplers[0], s, NULL), 0);
	memcpy(t->f->launch.borders[0], t->m.border, sizeof(t->m.border));
	t->f->launch.extended_samplers = true;
}

/* Coordinates */

/* In units of the texture's size on an axis */
static double any_coordinate(struct chance *c, double size)
{
	const double texel = (int)chance_pick(c, (unsigned int)(4 * size)) - 2 * size;

	switch (chance_pick(c, 8)) {
	case 0:
		return (texel + 0.5) / size;
	case 1:
		return texel / size;
	case 2:
		return nextafterf((float)(texel / size), chance_pick(c, 2) ? INFINITY : -INFINITY);
	case 3:
		return chance_pick(c, 2) ? 1 : chance_pick(c, 2) ? 0 : -0.0;
	case 4:
		return ldexp(2 * chance_fraction(c) - 1, (int)chance_pick(c, 18));
	case 5:
		return (texel + chance_pick(c, 256) / 256.0) / size;
	default:
		return 4 * chance_fraction(c) - 1.5;
	}
}

/* A direction: often along an axis, an edge or a corner */
static void make_direction(struct chance *c, float at[3])
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		at[i] = (float)(2 * chance_fraction(c) - 1);
		if (!chance_pick(c, 5))
			at[i] = (float)chance_pick(c, 3) - 1;
		if (!chance_pick(c, 6))
			at[i] = at[i] < 0 ? -0.999f : 0.999f;
	}
	if (at[0] == 0 && at[1] == 0 && at[2] == 0)
		at[2] = 1;
}

static void make_gradient(const struct texture_case *t, float gradient[3], const double size[3],
			  double texels)
{
	unsigned int i;

	for (i = 0; i < texture_coordinates(t->m.shape); i++)
		gradient[i] = (float)((2 * chance_fraction(t->c) - 1) * texels / size[i]);
}

static void make_lookups(struct texture_case *t)
{
	struct chance *c = t->c;
	const struct agx_layout *l = &t->m.layout;
	double size[3] = { l->width, l->height, l->layers };
	unsigned int i, k;

	for (k = 0; k < 3; k++) {
		size[k] = floor(size[k] / (1u << t->m.first_level));
		size[k] = t->m.sampler.pixel_coordinates || size[k] < 1 ? 1 : size[k];
	}
	memset(t->at, 0, sizeof(t->at));
	memset(t->right, 0, sizeof(t->right));
	memset(t->down, 0, sizeof(t->down));
	for (i = 0; i < LOOKUPS; i++) {
		const double pixel = ldexp(1, (int)chance_pick(c, 8) - 2);

		for (k = 0; k < 3; k++)
			t->at[i][k] = (float)any_coordinate(c, size[k]);
		if (is_cube(t->m.shape))
			make_direction(c, t->at[i]);
		for (k = 0; k < 3 && t->m.sampler.pixel_coordinates; k++)
			t->at[i][k] = (float)(any_coordinate(c, l->width) * l->width);
		make_gradient(t, t->right[i], size, pixel);
		make_gradient(t, t->down[i], size, pixel);
		t->given[i] = chance_pick(c, 4) ? (float)(6 * chance_fraction(c) - 1) :
						  chance_pick(c, 10) / 2.0f - 1;
		t->given[i] = float_from_half(half_from_float(t->given[i]));
		t->layer[i] = chance_pick(c, 6);
		t->reference[i] = (float)(1.5 * chance_fraction(c) - 0.25);
		if (t->m.format->bits[0] == 16 && chance_pick(c, 2))
			t->reference[i] = (float)chance_pick(c, 65536) / 65535.0f;
	}
	/* the pixels of a quad are as far from the first one as gradients say */
	for (i = 0; i < LOOKUPS && t->lod >= LOD_QUAD; i++) {
		for (k = 0; k < 3 && i % 4; k++)
			t->at[i][k] = t->at[i & ~3u][k] + (i % 4 & 1 ? t->right[i & ~3u][k] : 0) +
				      (i % 4 & 2 ? t->down[i & ~3u][k] : 0);
	}
	/* far away, differences would be those of rounding */
	for (i = 0; i < LOOKUPS && t->lod >= LOD_QUAD; i += 4) {
		for (k = 0; k < 3; k++) {
			t->right[i][k] = t->at[i + 1][k] - t->at[i][k];
			t->down[i][k] = t->at[i + 2][k] - t->at[i][k];
		}
	}
}

static uint32_t offset_word(const struct texture_case *t)
{
	return (t->m.offset[0] & 15) | (t->m.offset[1] & 15) << 4 | (t->m.offset[2] & 15) << 8;
}

static void put_lookups(const struct texture_case *t)
{
	const unsigned int n = texture_coordinates(t->m.shape);
	unsigned int i, k;

	for (i = 0; i < LOOKUPS; i++) {
		uint32_t *word = fixture_words() + WORDS * i;

		memset(word, 0, WORDS * sizeof(*word));
		for (k = 0; k < n; k++) {
			word[k] = float_bits(t->at[i][k]);
			word[8 + 2 * k] = float_bits(t->right[i][k]);
			word[9 + 2 * k] = float_bits(t->down[i][k]);
		}
		word[n] = is_array(t->m.shape) ? t->layer[i] : word[n];
		word[4] = half_from_float(t->given[i]);
		word[5] = t->m.compares ? float_bits(t->reference[i]) : offset_word(t);
	}
}

/* Programs */

static void run_case(const struct texture_case *t)
{
	static const char *const lods[LODS][2] = {
		[LOD_NONE] = { "0", "auto_lod" }, [LOD_BIAS] = { "r16l", "auto_lod_bias" },
		[LOD_GIVEN] = { "r16l", "lod_min" }, [LOD_GRADIENT] = { "r8_r9", "lod_grad" },
		[LOD_QUAD] = { "0", "auto_lod" }, [LOD_QUAD_BIAS] = { "r16l", "auto_lod_bias" },
	};
	static const char *const gathers[] = {
		"", ", gather_r", ", gather_g", ", gather_b", ", gather_a",
	};
	struct vagx_tile tile = { .width = LANES, .height = LANES, .samples = 1 };
	struct vagx_fragments fragments = { .exists = UINT32_MAX };
	struct fixture *f = t->f;
	char text[1024];
	unsigned int i, first;

	snprintf(text, sizeof(text),
		 "mov r20, %s\niadd r21, r20, r20\niadd r21, r21, r21\n"
		 "load r4_r5_r6_r7, du0, r21, lsl 2, i32, xyzw, a\n"
		 "iadd r21, r21, 1\nload r16_r17, du0, r21, lsl 2, i32, xy, a\n"
		 "iadd r21, r21, 1\nload r8_r9_r10_r11, du0, r21, lsl 2, i32, xyzw, a\n"
		 "iadd r21, r21, 1\nload r12_r13_r14_r15, du0, r21, lsl 2, i32, xyzw, a\nwait a\n"
		 "smpf r0_r1_r2_r3, ts1, ss0, r4, %s%s, %s, xyzw, %s%s, a\nwait a\n"
		 "store r0_r1_r2_r3, du4, r20, lsl 2, i32, xyzw, a\nwait a\nstop\n",
		 t->lod < LOD_QUAD ? "thread_index_in_threadgroup" : "thread_in_grid_x",
		 lods[t->lod][0], t->m.compares ? ", r17, shadow" : t->has_offset ? ", r17l" : "",
		 shapes[t->m.shape].name, lods[t->lod][1], gathers[t->gathers]);
	memset(fixture_data + OUTPUT, 0xcc, LOOKUPS * 16);
	fixture_uniform64(f, 8, DATA_VA + OUTPUT);
	if (t->lod < LOD_QUAD) {
		if (fixture_run(f, text, LOOKUPS))
			fail_msg("%s", vagx_core_error(f->core));
		return;
	}
	fixture_code(f, text);
	for (first = 0; first < LOOKUPS; first += LANES) {
		for (i = 0; i < LANES; i++) {
			fragments.x[i] = (uint16_t)(first + i);
			fragments.input[i] = fragments.live[i] = 1;
		}
		if (vagx_core_run_fragments(f->core, &f->launch, &tile, &fragments, &f->fault))
			fail_msg("%s", vagx_core_error(f->core));
	}
}

/* Checks */

static bool matches(const struct texture_case *t, unsigned int lane,
		    const struct texture_value *want)
{
	const uint32_t *word = (const void *)(fixture_data + OUTPUT + 16 * lane);
	unsigned int i;

	for (i = 0; i < 4; i++) {
		double got = bits_float(word[i]);

		if (t->m.format->type == AGX_TEXTURE_TYPE_UINT)
			got = word[i];
		if (t->m.format->type == AGX_TEXTURE_TYPE_SINT)
			got = (int32_t)word[i];
		if (!(fabs(got - want->value[i]) <= want->slack[i] * 1.0001))
			return false;
	}
	return true;
}

static void say_case(const struct texture_case *t, unsigned int lane,
		     const struct texture_value *want)
{
	const struct texture_model *m = &t->m;
	const struct agx_sampler *s = &m->sampler;
	const uint32_t *word = (const void *)(fixture_data + OUTPUT + 16 * lane);

	print_error("%s of %s, layout %u, %u by %u by %u, levels %u to %u, swizzle %u %u %u %u\n",
		    shapes[m->shape].name, m->format->name, m->layout.kind, m->layout.width,
		    m->layout.height, m->layout.layers, m->first_level, m->last_level,
		    m->swizzle[0], m->swizzle[1], m->swizzle[2], m->swizzle[3]);
	print_error("magnify %u, minify %u, mip filter %u, wrap %u %u %u, pixels %u, border %u "
		    "(%#x %#x %#x %#x), seamful %u, anisotropy %u, levels %g to %g, compare %u\n",
		    s->magnify, s->minify, s->mip_filter, s->wrap_s, s->wrap_t, s->wrap_r,
		    s->pixel_coordinates, s->border_colour, m->border[0], m->border[1],
		    m->border[2], m->border[3], s->seamful_cube_maps, s->maximum_anisotropy,
		    s->minimum_lod, s->maximum_lod, s->compare);
	print_error("lane %u at (%a, %a, %a), layer %u, reference %a, offset %d %d %d, gather %u, "
		    "lod of kind %u, %g, gradient (%a %a %a), (%a %a %a)\n", lane, t->at[lane][0],
		    t->at[lane][1], t->at[lane][2], t->layer[lane], t->reference[lane],
		    m->offset[0], m->offset[1], m->offset[2], t->gathers, t->lod, t->given[lane],
		    t->right[lane][0], t->right[lane][1], t->right[lane][2], t->down[lane][0],
		    t->down[lane][1], t->down[lane][2]);
	fail_msg("seed %llu, case %u, lane %u: (%.9g, %.9g, %.9g, %.9g; %#x %#x %#x %#x), not (%.9g, "
		 "%.9g, %.9g, %.9g) within (%g, %g, %g, %g)", (unsigned long long)t->c->seed,
		 t->number, lane, bits_float(word[0]), bits_float(word[1]), bits_float(word[2]),
		 bits_float(word[3]), word[0], word[1], word[2], word[3], want->value[0],
		 want->value[1], want->value[2], want->value[3], want->slack[0], want->slack[1],
		 want->slack[2], want->slack[3]);
}

/* The level of detail and the taps by a gradient; cubes have none here */
static void find_footprint(const struct texture_case *t, unsigned int lane,
			   struct texture_lookup *l, double *ratio)
{
	const unsigned int of = t->lod >= LOD_QUAD ? lane & ~3u : lane;
	const unsigned int most = t->m.sampler.maximum_anisotropy;
	double right[3], down[3], length[2], major, minor;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		right[i] = t->right[of][i];
		down[i] = t->down[of][i];
	}
	texture_reference_axes(&t->m, right, down, length);
	if (t->m.sampler.pixel_coordinates)
		length[0] = length[1] = 0;
	major = fmax(length[0], length[1]);
	minor = fmin(length[0], length[1]);
	*ratio = 0;
	if (most > 1 && major > 1) {
		*ratio = fmin(major / minor, most);
		l->taps = (unsigned int)ceil(*ratio);
		memcpy(l->axis, length[0] > length[1] ? right : down, sizeof(l->axis));
	}
	l->lod = log2(major / l->taps);
}

/* Texels of the first level for each unit of a coordinate */
static double unit_of(const struct texture_case *t, uint32_t size)
{
	const uint32_t texels = size >> t->m.first_level;

	return t->m.sampler.pixel_coordinates || !texels ? 1 : texels;
}

/*
 * Compares a lane. The level of a gradient is a float's logarithm, which decides between filters
 * and levels: it may be a little more or less. So may the coordinates of a gather.
 */
static void check_lane(const struct texture_case *t, unsigned int lane)
{
	const bool has_gradient = t->lod >= LOD_GRADIENT;
	const double little = t->gathers ? 1 / 512.0 : has_gradient ? 0x1p-18 : 0;
	struct texture_lookup l = {
		.at = { t->at[lane][0], t->at[lane][1], t->at[lane][2] }, .layer = t->layer[lane],
		.reference = t->reference[lane], .taps = 1,
	};
	struct texture_value first = { { 0 }, { 0 } }, v;
	unsigned int i;
	double ratio = 0, lod;

	if (has_gradient)
		find_footprint(t, lane, &l, &ratio);
	/* as many taps as a ratio is next to */
	if (fabs(ratio - nearbyint(ratio)) < 1e-6 && ratio < t->m.sampler.maximum_anisotropy &&
	    ratio > 0)
		return;
	if (t->lod == LOD_BIAS || t->lod == LOD_GIVEN || t->lod == LOD_QUAD_BIAS)
		l.lod += t->given[lane];
	lod = l.lod;
	for (i = 0; i < 9; i++) {
		const int x = (int)(i + 1) % 3 - 1, y = (int)(i / 3 + 1) % 3 - 1;

		if (t->gathers) {
			l.at[0] = t->at[lane][0] + x * little / unit_of(t, t->m.layout.width);
			l.at[1] = t->at[lane][1] + y * little / unit_of(t, t->m.layout.height);
			v = texture_reference_gather(&t->m, &l, t->gathers - 1);
		} else {
			l.lod = lod + x * little;
			v = texture_reference_sample(&t->m, &l);
		}
		if (matches(t, lane, &v))
			return;
		first = i ? first : v;
		if (little == 0)
			break;
	}
	say_case(t, lane, &first);
}

static enum lod any_lod(struct texture_case *t, const struct plan *plan)
{
	const enum lod flat = (enum lod)chance_pick(t->c, LOD_GRADIENT);

	if (plan->gathers)
		return LOD_NONE;
	if (plan->anisotropic)
		return LOD_GRADIENT;
	/* derivatives of cubes have a test of their own */
	return is_cube(t->m.shape) ? flat : (enum lod)chance_pick(t->c, LODS);
}

static void count_seen(const struct texture_case *t)
{
	const struct agx_sampler *s = &t->m.sampler;
	const bool is_small = t->m.layout.width == 1 || t->m.layout.height == 1;

	seen.wrap[t->m.shape][s->wrap_s][s->magnify][s->mip_filter]++;
	seen.size_1[t->m.shape][is_small]++;
	seen.lod[t->m.shape][t->lod]++;
	seen.border[s->border_colour][t->m.format->type]++;
}

static void run_one(struct texture_case *t, const struct plan *plan)
{
	struct chance *c = t->c;
	unsigned int i;

	t->m = (struct texture_model){
		.shape = plan->first_shape + chance_pick(c, plan->last_shape - plan->first_shape + 1),
		.format = any_format(c, plan), .compares = plan->compares,
	};
	for (i = 0; i < 4; i++)
		t->m.swizzle[i] = any_channel(c, t->m.format);
	/* see test_format_table.c */
	if (t->m.format->srgb)
		t->m.swizzle[3] = t->m.format->bits[3] ? AGX_CHANNEL_A : AGX_CHANNEL_1;
	t->lod = any_lod(t, plan);
	make_layout(t);
	make_sampler(t, plan);
	if (t->m.sampler.pixel_coordinates)
		t->lod = LOD_NONE;
	t->gathers = plan->gathers ? 1 + chance_pick(c, 4) : 0;
	t->has_offset = !plan->compares && !plan->gl_clamp && !is_cube(t->m.shape) &&
			!chance_pick(c, 4);
	for (i = 0; i < 3 && t->has_offset; i++)
		t->m.offset[i] = i < texture_coordinates(t->m.shape) ? (int)chance_pick(c, 16) - 8 : 0;
	put_texels(t);
	set_texture(t);
	make_lookups(t);
	put_lookups(t);
	run_case(t);
	count_seen(t);
	for (i = 0; i < LOOKUPS; i++)
		check_lane(t, i);
}

static void run_plan(struct fixture *f, const struct plan *plan)
{
	static struct texture_case t;
	static struct chance c;

	c = chance_begin(plan->stream);
	memset(&t, 0, sizeof(t));
	t.f = f;
	t.c = &c;
	for (t.number = 0; t.number < plan->cases; t.number++)
		run_one(&t, plan);
}

static void assert_seen(const char *what, const unsigned int *counts, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < number; i++) {
		if (!counts[i])
			fail_msg("%s: number %u of %u did not come up", what, i, number);
	}
}

/* That a shape was sampled with each wrap mode but GL_CLAMP, with each filter, with small sizes */
static void assert_shape(unsigned int shape)
{
	unsigned int wrap;

	for (wrap = 0; wrap < 6; wrap++) {
		if (wrap != AGX_WRAP_CLAMP_GL)
			assert_seen(shapes[shape].name, seen.wrap[shape][wrap][0], 2 * 3);
	}
	assert_seen("sizes", seen.size_1[shape], shape <= SHAPE_1D_ARRAY ? 0 : 2);
	assert_seen("levels of detail", seen.lod[shape], is_cube(shape) ? LOD_GRADIENT : LODS);
}

static void test_1d(void **state)
{
	const struct plan plan = { .stream = 1, .cases = 500, .last_shape = SHAPE_1D_ARRAY };

	run_plan(*state, &plan);
	assert_shape(SHAPE_1D);
	assert_shape(SHAPE_1D_ARRAY);
}

static void test_2d(void **state)
{
	const struct plan plan = { .stream = 2, .cases = 800, .first_shape = SHAPE_2D,
				   .last_shape = SHAPE_2D_ARRAY };

	run_plan(*state, &plan);
	assert_shape(SHAPE_2D);
	assert_shape(SHAPE_2D_ARRAY);
}

static void test_3d(void **state)
{
	const struct plan plan = { .stream = 3, .cases = 400, .first_shape = SHAPE_3D,
				   .last_shape = SHAPE_3D };

	run_plan(*state, &plan);
	assert_shape(SHAPE_3D);
}

static void test_cubes(void **state)
{
	const struct plan plan = { .stream = 4, .cases = 600, .first_shape = SHAPE_CUBE,
				   .last_shape = SHAPE_CUBE_ARRAY };

	run_plan(*state, &plan);
	assert_shape(SHAPE_CUBE);
	assert_shape(SHAPE_CUBE_ARRAY);
}

/* Fixed colours and custom ones, in each kind of format, whatever channels it has */
static void test_borders(void **state)
{
	const struct plan plan = { .stream = 5, .cases = 800, .first_shape = SHAPE_1D,
				   .last_shape = SHAPE_3D, .borders = true };
	unsigned int i;

	memset(seen.border, 0, sizeof(seen.border));
	run_plan(*state, &plan);
	for (i = 0; i < 4; i++)
		assert_seen("border colour", seen.border[i], AGX_TEXTURE_TYPE_FLOAT + 1);
}

static void test_gl_clamp(void **state)
{
	const struct plan plan = { .stream = 6, .cases = 200, .first_shape = SHAPE_1D,
				   .last_shape = SHAPE_3D, .gl_clamp = true };

	run_plan(*state, &plan);
}

static void test_comparison(void **state)
{
	const struct plan plan = { .stream = 7, .cases = 400, .first_shape = SHAPE_1D,
				   .last_shape = SHAPE_CUBE_ARRAY, .compares = true };

	run_plan(*state, &plan);
}

static void test_gather(void **state)
{
	const struct plan plan = { .stream = 8, .cases = 300, .first_shape = SHAPE_2D,
				   .last_shape = SHAPE_2D_ARRAY, .gathers = true };

	run_plan(*state, &plan);
}

static void test_anisotropy(void **state)
{
	const struct plan plan = { .stream = 9, .cases = 200, .first_shape = SHAPE_2D,
				   .last_shape = SHAPE_3D, .anisotropic = true };

	run_plan(*state, &plan);
}

#define TEXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEXTURE_TEST(test_1d),
		TEXTURE_TEST(test_2d),
		TEXTURE_TEST(test_3d),
		TEXTURE_TEST(test_cubes),
		TEXTURE_TEST(test_borders),
		TEXTURE_TEST(test_gl_clamp),
		TEXTURE_TEST(test_comparison),
		TEXTURE_TEST(test_gather),
		TEXTURE_TEST(test_anisotropy),
	};

	return cmocka_run_group_tests_name("texture_table", tests, NULL, NULL);
}
