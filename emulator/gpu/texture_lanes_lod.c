// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Levels of detail of all lanes at once, from quad derivatives or from the instruction, with the
 * results of texture_lod.c to the last bit.
 */
#include <math.h>

#include "gpu/texture_lanes.h"

#define QUADS	(LANES / TEXTURE_QUAD)

/* Levels of detail, and their lower bounds: the sampler's or, if greater, the instruction's */
struct lane_lods {
	float lod[LANES];
	float min[LANES];
};

/* Whether the result depends on the level of detail at all */
static bool lanes_lod_is_needed(const struct texture *t)
{
	const struct agx_sampler *sampler = &t->sampler;

	return sampler->minify != sampler->magnify || sampler->maximum_anisotropy > 1 ||
	       (sampler->mip_filter != AGX_MIP_FILTER_NONE &&
		t->image->last_level > t->image->first_level);
}

/* Sets the footprint of consecutive lanes */
static void lanes_lod_set_footprint(struct texture_lanes *s, struct lane_lods *lods,
				    struct footprint f, unsigned int first, unsigned int count)
{
	unsigned int i;

	/* integers have one value */
	if (vagx_image_is_integer(s->t->image))
		f.taps = 1;
	if (f.taps > s->max_taps)
		s->max_taps = f.taps;
	for (i = first; i < first + count; i++) {
		lods->lod[i] = f.lod;
		s->taps[i] = f.taps;
		s->x.major_axis[i] = f.taps > 1 ? f.major_axis[0] : 0;
		s->y.major_axis[i] = f.taps > 1 ? f.major_axis[1] : 0;
	}
}

/* Lengths of the gradients of all quads, in texels of the first level */
struct quad_lengths {
	double right[QUADS], down[QUADS];
};

CLONES static void lanes_lod_measure_quads(const struct texture_lanes *s,
					   struct quad_lengths *lengths)
{
	const struct texture *t = s->t;
	const unsigned int first = t->image->first_level;
	const bool pixels = t->sampler.pixel_coordinates;
	const double width = pixels ? 1 : texture_level_size(t->image->layout.width, first);
	const double height = pixels ? 1 : texture_level_size(t->image->layout.height, first);
	const float *x = s->x.at, *y = s->y.at;
	unsigned int i;

	for (i = 0; i < QUADS; i++) {
		const unsigned int lane = i * TEXTURE_QUAD;
		const double right_x = ((double)x[lane + 1] - x[lane]) * width;
		const double right_y = ((double)y[lane + 1] - y[lane]) * height;
		const double down_x = ((double)x[lane + 2] - x[lane]) * width;
		const double down_y = ((double)y[lane + 2] - y[lane]) * height;

		lengths->right[i] = sqrt(right_x * right_x + right_y * right_y);
		lengths->down[i] = sqrt(down_x * down_x + down_y * down_y);
	}
}

/* Levels of detail of filters that have one tap, by the longer gradients */
static void lanes_lod_set_lods(const struct quad_lengths *lengths, struct lane_lods *lods)
{
	unsigned int i, lane;

	for (i = 0; i < QUADS; i++) {
		const double right = lengths->right[i], down = lengths->down[i];
		const float lod = vagx_texture_lod(right > down ? right : down);

		for (lane = i * TEXTURE_QUAD; lane < (i + 1) * TEXTURE_QUAD; lane++)
			lods->lod[lane] = lod;
	}
}

/* Footprints by differences in a quad, whose lanes are two rows of two pixels */
static void lanes_lod_quad_footprints(struct texture_lanes *s, struct lane_lods *lods)
{
	const float *x = s->x.at, *y = s->y.at;
	struct quad_lengths lengths;
	struct footprint f;
	unsigned int i;

	lanes_lod_measure_quads(s, &lengths);
	if (s->t->sampler.maximum_anisotropy <= 1) {
		lanes_lod_set_lods(&lengths, lods);
		return;
	}
	for (i = 0; i < LANES; i += TEXTURE_QUAD) {
		const struct gradient g = {
			.x = { (double)x[i + 1] - x[i], (double)y[i + 1] - y[i] },
			.y = { (double)x[i + 2] - x[i], (double)y[i + 2] - y[i] },
		};

		if (!(s->t->sg->exec >> i & 0xf))
			continue;
		vagx_texture_shape_footprint(s->t, &g, lengths.right[i / TEXTURE_QUAD],
					     lengths.down[i / TEXTURE_QUAD], &f);
		lanes_lod_set_footprint(s, lods, f, i, TEXTURE_QUAD);
	}
}

/* Footprints by gradients that the shader gives: 32-bit numbers, x and y of each axis in turn */
static void lanes_lod_explicit_footprints(struct texture_lanes *s, struct lane_lods *lods)
{
	struct agx_operand o = s->t->op->src[4];
	float number[4][LANES];
	struct footprint f;
	unsigned int i;

	o.size = 32;
	for (i = 0; i < 4; i++)
		texture_read_numbers(s->t, &o, i, number[i]);
	for (i = 0; i < LANES; i++) {
		const struct gradient g = {
			.x = { number[0][i], number[2][i] },
			.y = { number[1][i], number[3][i] },
		};

		if (!(s->t->sg->exec >> i & 1))
			continue;
		vagx_texture_gradient_footprint(s->t, i, &g, &f);
		lanes_lod_set_footprint(s, lods, f, i, 1);
	}
}

/*
 * The automatic level of detail. Outside of fragment shaders lanes have no neighbours, and it is
 * that of coordinates that do not change.
 */
static void lanes_lod_automatic(struct texture_lanes *s, struct lane_lods *lods)
{
	const unsigned int mode = s->t->op->mod[AGX_MOD_LOD];

	if (!lanes_lod_is_needed(s->t))
		return;
	if (mode == AGX_LOD_GRAD || mode == AGX_LOD_GRAD_MIN)
		lanes_lod_explicit_footprints(s, lods);
	else if (s->t->sg->core->fragments)
		lanes_lod_quad_footprints(s, lods);
}

/* Reads 16-bit number @n of the operand with the level of detail, the bias or the least level */
static inline void lanes_lod_read_halves(struct texture *t, unsigned int n, float *number)
{
	struct agx_operand o = t->op->src[4];
	struct lanes tmp;
	const uint32_t *word;
	unsigned int i;

	o.size = 16;
	word = texture_operand_lanes(t->sg, &o, n, &tmp);
	for (i = 0; i < LANES; i++)
		number[i] = float_from_half(word[i] & 0xffff);
}

CLONES static void lanes_lod_add_bias(struct texture_lanes *s, struct lane_lods *lods)
{
	float bias[LANES];
	unsigned int i;

	lanes_lod_read_halves(s->t, 0, bias);
	for (i = 0; i < LANES; i++)
		lods->lod[i] += bias[i];
}

CLONES static void lanes_lod_raise_min(struct texture_lanes *s, struct lane_lods *lods,
				       unsigned int n)
{
	float given[LANES];
	unsigned int i;

	lanes_lod_read_halves(s->t, n, given);
	for (i = 0; i < LANES; i++)
		lods->min[i] = given[i] > lods->min[i] ? given[i] : lods->min[i];
}

bool vagx_texture_lanes_has_levels(const struct texture *t)
{
	switch (t->op->mod[AGX_MOD_LOD]) {
	case AGX_LOD_AUTO:
	case AGX_LOD_GRAD:
	case AGX_LOD_GRAD_MIN:
	case AGX_LOD_BIAS:
	case AGX_LOD_UNIFORM_BIAS:
	case AGX_LOD_BIAS_MIN:
	case AGX_LOD_UNIFORM_BIAS_MIN:
	case AGX_LOD_MIN:
	case AGX_LOD_UNIFORM_MIN:
		return true;
	default:
		return false;
	}
}

static void lanes_lod_find_lods(struct texture_lanes *s, struct lane_lods *lods)
{
	const unsigned int mode = s->t->op->mod[AGX_MOD_LOD];

	if (mode == AGX_LOD_MIN || mode == AGX_LOD_UNIFORM_MIN) {
		lanes_lod_read_halves(s->t, 0, lods->lod);
		return;
	}
	lanes_lod_automatic(s, lods);
	if (mode == AGX_LOD_AUTO || mode == AGX_LOD_GRAD)
		return;
	if (mode == AGX_LOD_GRAD_MIN) {
		lanes_lod_raise_min(s, lods, 4 * texture_operand_coordinates(s->t->dim));
		return;
	}
	lanes_lod_add_bias(s, lods);
	if (mode == AGX_LOD_BIAS_MIN || mode == AGX_LOD_UNIFORM_BIAS_MIN)
		lanes_lod_raise_min(s, lods, 1);
}

/* Chooses the filter that the first lane needs; other lanes are left to texture_filter.c */
static inline void lanes_lod_choose_filter(struct texture_lanes *s, const struct lanes *minified)
{
	const struct agx_sampler *sampler = &s->t->sampler;
	const uint32_t exec = s->t->sg->exec, small = texture_nonzero_lanes(minified->v);
	uint32_t linear = 0;

	if (vagx_image_is_integer(s->t->image))
		return;
	if (sampler->minify == AGX_FILTER_LINEAR)
		linear |= small;
	if (sampler->magnify == AGX_FILTER_LINEAR)
		linear |= ~small;
	s->linear = linear >> __builtin_ctz(exec) & 1;
	s->fallback |= (s->linear ? ~linear : linear) & exec;
}

CLONES static void lanes_lod_choose_levels(struct texture_lanes *s, const struct lane_lods *lods)
{
	const struct vagx_image *image = s->t->image;
	const unsigned int filter = s->t->sampler.mip_filter, first = image->first_level;
	const float largest = s->t->sampler.maximum_lod;
	const float half = filter == AGX_MIP_FILTER_NEAREST ? 0.5f : 0;
	const float weights = filter == AGX_MIP_FILTER_NEAREST || vagx_image_is_integer(image) ?
			      0 : TEXTURE_WEIGHTS;
	const float last = filter == AGX_MIP_FILTER_NONE || image->last_level < first ?
			   0 : image->last_level - first;
	struct lanes minified;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		float lod = lods->lod[i];
		int32_t level;

		lod = lod < lods->min[i] ? lods->min[i] : lod;
		lod = lod > largest ? largest : lod;
		minified.v[i] = lod > 0;
		/* NaN becomes 0, too */
		lod = lod > 0 ? lod : 0;
		lod = (lod > last ? last : lod) + half;
		level = (int32_t)lod;
		s->level[i] = first + level;
		s->level_weight[i] = (float)(int32_t)((lod - level) * weights) / TEXTURE_WEIGHTS;
	}
	lanes_lod_choose_filter(s, &minified);
}

void vagx_texture_lanes_levels(struct texture_lanes *s)
{
	struct lane_lods lods;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		lods.lod[i] = 0;
		lods.min[i] = s->t->sampler.minimum_lod;
		s->taps[i] = 1;
	}
	s->max_taps = 1;
	lanes_lod_find_lods(s, &lods);
	lanes_lod_choose_levels(s, &lods);
}
