// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Samples all lanes at once where they share a 2D image and a sampler, as most do. Everything
 * is computed in loops over the lanes, which compilers vectorise, with the results of
 * texture_lod.c and texture_filter.c to the last bit. Lanes that need more than these loops
 * fall back to texture_sample.c, one after the other. So do lanes whose texels cannot be read:
 * the job fails with the first of them, as if no other lane had been executed before. Runs on
 * the thread of the core that executes the instruction.
 */
#include "gpu/texture_lanes.h"

/* Operands */

/* Unpacks texel offsets: signed numbers of four bits for x and y */
static inline void texture_lanes_read_offsets(struct texture_lanes *s)
{
	const struct agx_operand *o = &s->t->op->src[5];
	struct lanes tmp;
	const uint32_t *word;
	unsigned int i;

	if (o->type == AGX_OPERAND_NONE)
		return;
	word = texture_operand_lanes(s->t->sg, o, 0, &tmp);
	for (i = 0; i < LANES; i++) {
		s->x.offset[i] = (int32_t)(word[i] << 28) >> 28;
		s->y.offset[i] = (int32_t)(word[i] << 24) >> 28;
	}
}

static inline void texture_lanes_read_layers(struct texture_lanes *s)
{
	const uint32_t last = s->t->image->layout.layers - 1;
	struct lanes tmp;
	const uint32_t *word;
	unsigned int i;

	if (s->t->dim != AGX_DIM_2D_ARRAY)
		return;
	word = texture_operand_lanes(s->t->sg, &s->t->op->src[3], 2, &tmp);
	for (i = 0; i < LANES; i++)
		s->layer[i] = (word[i] & 0xffff) < last ? word[i] & 0xffff : last;
}

CLONES static void texture_lanes_read_operands(struct texture_lanes *s)
{
	const struct agx_operand *coord = &s->t->op->src[3];

	texture_read_numbers(s->t, coord, 0, s->x.at);
	texture_read_numbers(s->t, coord, 1, s->y.at);
	texture_lanes_read_layers(s);
	texture_lanes_read_offsets(s);
}

/* Texels */

/* floor() of numbers below 2^51: adding 1.5 * 2^52 rounds to integers. libm's may be a call. */
static inline double texture_lanes_floor(double number)
{
	const double rounder = 0x1.8p52;
	const double nearest = number + rounder - rounder;

	return nearest - (nearest > number);
}

static inline void texture_lanes_find_sizes(const struct texture_axis *axis, const uint32_t *level,
					    int32_t *sizes)
{
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const int32_t size = axis->size >> level[i];

		sizes[i] = size ? size : 1;
	}
}

/*
 * Texel coordinates of one tap, in units of texels. Coordinates beyond the range of the
 * conversion give some texel: the API leaves open which.
 */
static inline void texture_lanes_find_coordinates(const struct texture_lanes *s,
						  const struct texture_axis *axis,
						  const int32_t *size, unsigned int tap, double *at)
{
	const bool pixels = s->t->sampler.pixel_coordinates;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		at[i] = axis->at[i];
	for (i = 0; i < LANES && s->max_taps > 1; i++)
		at[i] += ((tap + 1.0) / (s->taps[i] + 1) - 0.5) * axis->major_axis[i];
	for (i = 0; i < LANES; i++) {
		const double texels = at[i] * (pixels ? 1 : (double)size[i]);

		at[i] = (texels > -1e9) & (texels < 1e9) ? texels : 0;
	}
}

/* The two texels on each axis that a linear filter needs, and their weights, of 8 bits */
static inline void texture_lanes_find_neighbours(const struct texture_lanes *s,
						 const struct texture_axis *axis, double *at,
						 struct texture_neighbours *n)
{
	unsigned int i;

	if (s->linear) {
		for (i = 0; i < LANES; i++)
			at[i] = texture_lanes_floor((at[i] - 0.5) * TEXTURE_WEIGHTS + 0.5);
	} else {
		for (i = 0; i < LANES; i++)
			at[i] = texture_lanes_floor(at[i]) * TEXTURE_WEIGHTS;
	}
	for (i = 0; i < LANES; i++) {
		const double first = texture_lanes_floor(at[i] / TEXTURE_WEIGHTS);

		n->weight[i] = (float)(at[i] - first * TEXTURE_WEIGHTS) / TEXTURE_WEIGHTS;
		n->at[0][i] = (int32_t)first + axis->offset[i];
		n->at[1][i] = n->at[0][i] + s->linear;
	}
}

/*
 * The same in floats, for one tap in an image whose sizes are powers of two: products with these
 * are exact. What is added to and subtracted from a coordinate is so for integers, or where the
 * result is compared with a half and stays on its side.
 */

/* 256 times a coordinate has to be an integer of 32 bits */
#define NEAR	0x1p22f

static inline bool texture_lanes_is_near(const struct texture_lanes *s,
					 const struct texture_axis *axis)
{
	return s->max_taps == 1 &&
	       (s->t->sampler.pixel_coordinates || !(axis->size & (axis->size - 1)));
}

/* Texel coordinates of lanes, 0 of those that are far away. Return: a mask of these. */
static inline uint32_t texture_lanes_find_floats(const struct texture_lanes *s,
						 const struct texture_axis *axis,
						 const int32_t *size, float *at)
{
	const bool pixels = s->t->sampler.pixel_coordinates;
	uint32_t far = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const float texels = axis->at[i] * (pixels ? 1 : (float)size[i]);
		const bool is_near = (texels > -NEAR) & (texels < NEAR);

		at[i] = is_near ? texels : 0;
		far |= is_near ? 0 : lane_bits.v[i];
	}
	return far;
}

/* floor() of a float that is near */
static inline int32_t texture_lanes_floor_float(float number)
{
	const int32_t whole = (int32_t)number;

	return whole - ((float)whole > number);
}

/* As texture_lanes_find_neighbours() */
static inline void texture_lanes_find_near(const struct texture_lanes *s,
					   const struct texture_axis *axis, const float *at,
					   struct texture_neighbours *n)
{
	unsigned int i;

	for (i = 0; s->linear && i < LANES; i++) {
		const float scaled = at[i] * TEXTURE_WEIGHTS;
		const int32_t below = texture_lanes_floor_float(scaled);
		/* rounded, and half a texel less */
		const int32_t steps = below + (scaled - (float)below >= 0.5f) - 128;

		n->weight[i] = (float)(steps & 255) / TEXTURE_WEIGHTS;
		n->at[0][i] = (steps >> 8) + axis->offset[i];
	}
	for (i = 0; !s->linear && i < LANES; i++) {
		n->weight[i] = 0;
		n->at[0][i] = texture_lanes_floor_float(at[i]) + axis->offset[i];
	}
	for (i = 0; i < LANES; i++)
		n->at[1][i] = n->at[0][i] + s->linear;
}

/* Wrap modes: coordinates outside of the image */

/* The remainder of a division that is rounded down: 0 to @by - 1 */
static inline int32_t texture_lanes_remainder(int32_t number, int32_t by)
{
	return (int32_t)(number - texture_lanes_floor((double)number / by) * by);
}

static inline void texture_lanes_repeat(struct texture_neighbours *n, const int32_t *size)
{
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const int32_t at = texture_lanes_remainder(n->at[0][i], size[i]);
		const int32_t next = at + n->at[1][i] - n->at[0][i];

		n->at[0][i] = at;
		n->at[1][i] = next == size[i] ? 0 : next;
	}
}

static inline void texture_lanes_mirror(struct texture_neighbours *n, const int32_t *sizes)
{
	unsigned int i, k;

	for (k = 0; k < 2; k++) {
		for (i = 0; i < LANES; i++) {
			const int32_t size = sizes[i];
			const int32_t at = texture_lanes_remainder(n->at[k][i], 2 * size);

			n->at[k][i] = at < size ? at : 2 * size - 1 - at;
		}
	}
}

static inline void texture_lanes_mirror_once(struct texture_neighbours *n)
{
	unsigned int i, k;

	for (k = 0; k < 2; k++) {
		for (i = 0; i < LANES; i++)
			n->at[k][i] = n->at[k][i] < 0 ? -1 - n->at[k][i] : n->at[k][i];
	}
}

static inline void texture_lanes_clamp(struct texture_neighbours *n, const int32_t *size)
{
	unsigned int i, k;

	for (k = 0; k < 2; k++) {
		for (i = 0; i < LANES; i++) {
			const int32_t last = size[i] - 1;
			const int32_t at = n->at[k][i] < 0 ? 0 : n->at[k][i];

			n->at[k][i] = at > last ? last : at;
		}
	}
}

/* Which lanes have a texel outside of the image, as a mask */
static inline uint32_t texture_lanes_find_outside(const struct texture_neighbours *n,
						  const int32_t *size)
{
	uint32_t outside = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const bool out = (n->at[0][i] < 0) | (n->at[1][i] >= size[i]);

		outside |= out ? lane_bits.v[i] : 0;
	}
	return outside;
}

/* Applies a wrap mode on one axis. Return: a mask of the lanes that may need the border colour. */
static inline uint32_t texture_lanes_wrap(struct texture_neighbours *n, unsigned int mode,
					  const int32_t *size)
{
	const uint32_t outside = texture_lanes_find_outside(n, size);

	if (!outside)
		return 0;
	switch (mode) {
	case AGX_WRAP_REPEAT:
		texture_lanes_repeat(n, size);
		return 0;
	case AGX_WRAP_MIRRORED_REPEAT:
		texture_lanes_mirror(n, size);
		return 0;
	case AGX_WRAP_CLAMP_TO_BORDER:
		return outside;
	case AGX_WRAP_MIRRORED_CLAMP_TO_EDGE:
		texture_lanes_mirror_once(n);
		break;
	default:
		break;
	}
	texture_lanes_clamp(n, size);
	return 0;
}

/* Finds the texels on one axis. Return: a mask of the lanes that may need the border colour. */
CLONES static uint32_t texture_lanes_find_on_axis(const struct texture_lanes *s,
						  const struct texture_axis *axis, unsigned int tap,
						  const uint32_t *level,
						  struct texture_neighbours *n)
{
	int32_t size[LANES];
	double at[LANES];
	float near[LANES];

	texture_lanes_find_sizes(axis, level, size);
	if (texture_lanes_is_near(s, axis) &&
	    !(texture_lanes_find_floats(s, axis, size, near) & s->t->sg->exec)) {
		texture_lanes_find_near(s, axis, near, n);
	} else {
		texture_lanes_find_coordinates(s, axis, size, tap, at);
		texture_lanes_find_neighbours(s, axis, at, n);
	}
	return texture_lanes_wrap(n, axis->wrap, size);
}

CLONES static void texture_lanes_find_bilinear(struct texture_lanes *s, unsigned int tap,
					       struct texture_bilinear *c)
{
	unsigned int i;

	s->fallback |= texture_lanes_find_on_axis(s, &s->x, tap, c->level, &c->x);
	s->fallback |= texture_lanes_find_on_axis(s, &s->y, tap, c->level, &c->y);
	for (i = 0; i < LANES && s->linear; i++) {
		const float x = c->x.weight[i], y = c->y.weight[i];

		c->weight[0][i] = (1 - x) * (1 - y);
		c->weight[1][i] = x * (1 - y);
		c->weight[2][i] = (1 - x) * y;
		c->weight[3][i] = x * y;
	}
}

/* Filters */

/* Samples the first of the levels that are needed, or the one after it */
static void texture_lanes_sample_level(struct texture_lanes *s, unsigned int tap, unsigned int next,
				       uint32_t lanes, struct lanes channel[4])
{
	struct texture_bilinear bilinear;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		bilinear.level[i] = s->level[i] + next;
	texture_lanes_find_bilinear(s, tap, &bilinear);
	vagx_texture_lanes_filter(s, &bilinear, lanes & ~s->fallback, channel);
}

/* Interpolates between the results of two levels */
CLONES static void texture_lanes_mix(const struct texture_lanes *s, const struct lanes *next,
				     struct lanes *channel)
{
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const float here = bits_float(channel->v[i]), there = bits_float(next->v[i]);
		const float mixed = here + s->level_weight[i] * (there - here);

		channel->v[i] = s->level_weight[i] != 0 ? float_bits(mixed) : channel->v[i];
	}
}

/* Which lanes need two levels, as a mask */
static uint32_t texture_lanes_between(const struct texture_lanes *s)
{
	uint32_t lanes = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		lanes |= s->level_weight[i] != 0 ? lane_bits.v[i] : 0;
	return lanes;
}

static void texture_lanes_sample_tap(struct texture_lanes *s, unsigned int tap, uint32_t lanes,
				     struct lanes channel[4])
{
	const uint32_t two = texture_lanes_between(s) & lanes;
	struct lanes next[4];
	unsigned int i;

	texture_lanes_sample_level(s, tap, 0, lanes, channel);
	if (!two)
		return;
	texture_lanes_sample_level(s, tap, 1, two, next);
	for (i = 0; i < 4; i++)
		texture_lanes_mix(s, &next[i], &channel[i]);
}

/* Adds a tap of the anisotropic filter to the sum of those before it */
CLONES static void texture_lanes_add_tap(const struct texture_lanes *s, unsigned int tap,
					 const struct lanes *value, struct lanes *sum)
{
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const float before = tap ? bits_float(sum->v[i]) : 0;
		const float added = before + bits_float(value->v[i]) / (float)s->taps[i];
		const uint32_t several = tap < s->taps[i] ? float_bits(added) : sum->v[i];

		sum->v[i] = s->taps[i] > 1 ? several : tap ? sum->v[i] : value->v[i];
	}
}

static uint32_t texture_lanes_with_tap(const struct texture_lanes *s, unsigned int tap)
{
	uint32_t lanes = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		lanes |= tap < s->taps[i] ? lane_bits.v[i] : 0;
	return lanes & s->t->sg->exec & ~s->fallback;
}

static void texture_lanes_sample(struct texture_lanes *s, struct texture_results *results)
{
	struct lanes channel[4];
	unsigned int tap, i;

	for (tap = 0; tap < s->max_taps; tap++) {
		texture_lanes_sample_tap(s, tap, texture_lanes_with_tap(s, tap), channel);
		for (i = 0; i < 4; i++)
			texture_lanes_add_tap(s, tap, &channel[i], &results->channel[i]);
	}
}

/* Instructions */

/* Whether the loops can take an instruction, as far as that is seen without its descriptors */
static bool texture_lanes_fits_op(const struct texture *t)
{
	const uint8_t *mod = t->op->mod;

	return (t->dim == AGX_DIM_2D || t->dim == AGX_DIM_2D_ARRAY) && !mod[AGX_MOD_SHADOW] &&
	       !mod[AGX_MOD_GATHER] && !mod[AGX_MOD_QUERY_LOD] && !mod[AGX_MOD_SPARSE] &&
	       t->op->src[0].type != AGX_OPERAND_REG && vagx_texture_lanes_has_levels(t) &&
	       texture_operand_agrees(t->sg, &t->op->src[1]) &&
	       texture_operand_agrees(t->sg, &t->op->src[2]);
}

/* Whether they can take an image: OpenGL's clamp, and missing levels, are for texture_filter.c */
static bool texture_lanes_fits_image(const struct texture *t)
{
	const struct vagx_image *image = t->image;

	return t->cached && image->first_level < image->layout.levels &&
	       image->last_level < image->layout.levels &&
	       t->sampler.wrap_s != AGX_WRAP_CLAMP_GL && t->sampler.wrap_t != AGX_WRAP_CLAMP_GL;
}

static void texture_lanes_sample_fallback(struct texture_lanes *s, struct texture_results *results)
{
	uint32_t left;

	for (left = s->fallback & s->t->sg->exec; left && !texture_failed(s->t); left &= left - 1)
		vagx_texture_sample_lane(s->t, __builtin_ctz(left), results);
}

bool vagx_texture_sample_lanes(struct texture *t, struct texture_results *results)
{
	struct texture_lanes s = { .t = t };
	unsigned int first;

	if (!t->sg->exec || t->is_followed || !texture_lanes_fits_op(t))
		return false;
	first = __builtin_ctz(t->sg->exec);
	if (!vagx_texture_find_image(t, first) || !vagx_texture_find_sampler(t, first))
		return true;
	if (!texture_lanes_fits_image(t))
		return false;
	s.x.size = t->image->layout.width;
	s.x.wrap = t->sampler.wrap_s;
	s.y.size = t->image->layout.height;
	s.y.wrap = t->sampler.wrap_t;
	texture_lanes_read_operands(&s);
	vagx_texture_lanes_levels(&s);
	if (!vagx_image_is_integer(t->image))
		results->floats = t->sg->exec;
	t->speculative = true;
	texture_lanes_sample(&s, results);
	t->speculative = false;
	texture_lanes_sample_fallback(&s, results);
	return true;
}
