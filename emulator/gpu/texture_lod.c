// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Levels of detail of a single lane, the reference for texture_lanes_lod.c: the footprint of a
 * pixel from the differences in its quad, or from gradients that the shader gives; its major
 * axis and taps for anisotropic filters (Vulkan specification, "Scale Factor Operation, Level of
 * Detail Operation and Image Level(s) Selection"). Runs on the thread of the core that executes
 * the instruction.
 */
#include <errno.h>
#include <math.h>

#include "gpu/texture.h"

/* The level of detail where coordinates do not change from pixel to pixel */
#define NO_CHANGE_LOD	-16.0f

/* Reads the direction that a lane samples a cube map in */
static void texture_lod_read_direction(struct texture *t, unsigned int lane, double v[3])
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		v[i] = texture_operand_float(t->sg, &t->op->src[3], i, lane);
}

/* Gradients by differences in a quad, whose lanes are two rows of two pixels */
static void texture_lod_quad_gradient(struct texture *t, unsigned int lane, struct gradient *g)
{
	const unsigned int n = texture_operand_coordinates(t->dim);
	const unsigned int first = lane & ~(TEXTURE_QUAD - 1u);
	const struct agx_operand *coord = &t->op->src[3];
	unsigned int i;

	for (i = 0; i < n; i++) {
		double a = texture_operand_float(t->sg, coord, i, first);

		g->x[i] = texture_operand_float(t->sg, coord, i, first + 1) - a;
		g->y[i] = texture_operand_float(t->sg, coord, i, first + 2) - a;
	}
}

/* Gradients that the shader gives: 32-bit numbers, x and y of each axis in turn */
static void texture_lod_explicit_gradient(struct texture *t, unsigned int lane, struct gradient *g)
{
	unsigned int n = texture_operand_coordinates(t->dim), i;
	struct agx_operand o = t->op->src[4];

	o.size = 32;
	for (i = 0; i < n; i++) {
		g->x[i] = texture_operand_float(t->sg, &o, 2 * i, lane);
		g->y[i] = texture_operand_float(t->sg, &o, 2 * i + 1, lane);
	}
}

/* The gradient on a cube's face, of a gradient of the direction (quotient rule) */
static void texture_lod_derive_on_face(struct texture *t, unsigned int lane, const double change[3],
				       double at[3])
{
	double direction[3];

	texture_lod_read_direction(t, lane, direction);
	vagx_cube_derive(direction, change, at);
	at[2] = 0;
}

/* The length of a gradient, in texels of the first level */
static double texture_lod_length(const struct texture *t, const double v[3])
{
	const unsigned int first = t->image->first_level;
	const uint32_t size[3] = {
		texture_level_size(t->image->layout.width, first),
		texture_level_size(t->image->layout.height, first),
		texture_level_depth(t, first),
	};
	double sum = 0;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		double texels = t->sampler.pixel_coordinates ? v[i] : v[i] * size[i];

		sum += texels * texels;
	}
	return sqrt(sum);
}

float vagx_texture_lod(double texels)
{
	return texels > 0 ? (float)log2(texels) : NO_CHANGE_LOD;
}

/*
 * How hardware places the taps of an anisotropic filter is unknown; this is what
 * the Vulkan specification suggests. For a cube map the taps lie on a line of directions.
 */
void vagx_texture_shape_footprint(const struct texture *t, const struct gradient *given, double x,
				  double y, struct footprint *f)
{
	const double major = x > y ? x : y, minor = x > y ? y : x;
	double taps = t->sampler.maximum_anisotropy;

	f->taps = 1;
	if (taps > 1 && major > 1) {
		if (minor * taps > major)
			taps = ceil(major / minor);
		f->taps = (unsigned int)taps;
		memcpy(f->major_axis, x > y ? given->x : given->y, sizeof(f->major_axis));
	}
	f->lod = vagx_texture_lod(major / f->taps);
}

void vagx_texture_gradient_footprint(struct texture *t, unsigned int lane,
				     const struct gradient *given, struct footprint *f)
{
	struct gradient g = *given;

	if (texture_is_cube(t)) {
		texture_lod_derive_on_face(t, lane, given->x, g.x);
		texture_lod_derive_on_face(t, lane, given->y, g.y);
	}
	vagx_texture_shape_footprint(t, given, texture_lod_length(t, g.x),
				     texture_lod_length(t, g.y), f);
}

static bool texture_lod_has_gradient(const struct texture *t)
{
	unsigned int mode = t->op->mod[AGX_MOD_LOD];

	return mode == AGX_LOD_GRAD || mode == AGX_LOD_GRAD_MIN;
}

/* Reads 16-bit float @n of the operand with the level of detail, the bias or the least level */
static float texture_lod_half_number(struct texture *t, unsigned int n, unsigned int lane)
{
	struct agx_operand o = t->op->src[4];

	o.size = 16;
	return float_from_half(texture_operand_word(t->sg, &o, n, lane) & 0xffff);
}

/* The footprint of a lane by differences in its quad */
static void texture_lod_quad_footprint(struct texture *t, unsigned int lane, struct footprint *f)
{
	struct gradient g = { { 0 }, { 0 } };

	if (t->quad != lane / TEXTURE_QUAD + 1) {
		texture_lod_quad_gradient(t, lane, &g);
		vagx_texture_gradient_footprint(t, lane & ~(TEXTURE_QUAD - 1u), &g,
						&t->quad_footprint);
		t->quad = lane / TEXTURE_QUAD + 1;
	}
	*f = t->quad_footprint;
}

/* The automatic level of detail; outside of fragment shaders lanes have no neighbours */
static void texture_lod_automatic(struct texture *t, unsigned int lane, struct footprint *f)
{
	struct gradient g = { { 0 }, { 0 } };
	double directions[3];

	f->lod = 0;
	if (texture_lod_has_gradient(t)) {
		texture_lod_explicit_gradient(t, lane, &g);
		vagx_texture_gradient_footprint(t, lane, &g, f);
	} else if (t->sg->core->fragments) {
		texture_lod_quad_footprint(t, lane, f);
	}
	/* the pixels of a quad can look at different faces */
	if (texture_is_cube(t) && f->taps > 1) {
		memcpy(directions, f->major_axis, sizeof(directions));
		texture_lod_derive_on_face(t, lane, directions, f->major_axis);
	}
}

bool vagx_texture_footprint(struct texture *t, unsigned int lane, struct footprint *f)
{
	float least = t->sampler.minimum_lod, given;

	*f = (struct footprint){ .taps = 1 };
	switch (t->op->mod[AGX_MOD_LOD]) {
	case AGX_LOD_AUTO:
	case AGX_LOD_GRAD:
		texture_lod_automatic(t, lane, f);
		break;
	case AGX_LOD_GRAD_MIN:
		texture_lod_automatic(t, lane, f);
		given = texture_lod_half_number(t, 4 * texture_operand_coordinates(t->dim), lane);
		least = given > least ? given : least;
		break;
	case AGX_LOD_BIAS:
	case AGX_LOD_UNIFORM_BIAS:
		texture_lod_automatic(t, lane, f);
		f->lod += texture_lod_half_number(t, 0, lane);
		break;
	case AGX_LOD_BIAS_MIN:
	case AGX_LOD_UNIFORM_BIAS_MIN:
		texture_lod_automatic(t, lane, f);
		f->lod += texture_lod_half_number(t, 0, lane);
		given = texture_lod_half_number(t, 1, lane);
		least = given > least ? given : least;
		break;
	case AGX_LOD_MIN:
	case AGX_LOD_UNIFORM_MIN:
		f->lod = texture_lod_half_number(t, 0, lane);
		break;
	default:
		vagx_core_fail(t->sg, t->op, -EILSEQ, "level of detail of a kind not known");
		return false;
	}
	f->unclamped = f->lod;
	if (f->lod < least)
		f->lod = least;
	if (f->lod > t->sampler.maximum_lod)
		f->lod = t->sampler.maximum_lod;
	return true;
}

float vagx_texture_level(const struct texture *t, float lod)
{
	const struct vagx_image *image = t->image;
	unsigned int levels = 0;

	if (image->last_level > image->first_level)
		levels = image->last_level - image->first_level;
	lod = lod < 0 || lod != lod ? 0 : lod > levels ? levels : lod;
	if (t->sampler.mip_filter == AGX_MIP_FILTER_NONE)
		return 0;
	if (t->sampler.mip_filter == AGX_MIP_FILTER_NEAREST)
		return floorf(lod + 0.5f);
	return lod;
}
