// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Texture filters of a single lane, the reference for texture_lanes*.c: wrap modes, nearest,
 * linear and anisotropic filters, comparison, gather (Vulkan specification, "Image
 * Operations"). Runs on the thread of the core that executes the instruction.
 */
#include <errno.h>
#include <math.h>

#include "gpu/texture.h"

bool vagx_texture_read(struct texture *t, const struct texel_coords *p, unsigned int level,
		       uint32_t value[4])
{
	const struct agx_texel at = {
		.x = p->x,
		.y = p->y,
		.layer = p->z,
		.level = level,
		.sample = p->sample,
	};

	texel_bits bits;

	memset(value, 0, 4 * sizeof(*value));
	if (p->x < 0 || p->y < 0 || p->z < 0 || level >= t->image->layout.levels ||
	    p->x >= texture_level_size(t->image->layout.width, level) ||
	    p->y >= texture_level_size(t->image->layout.height, level) ||
	    p->z >= texture_level_depth(t, level) || p->sample >= t->image->layout.samples)
		return false;
	if (!texture_value(t, &at, &bits))
		return false;
	memcpy(value, &bits, sizeof(bits));
	return true;
}

/* Depth comparison */

static bool texture_filter_passes(unsigned int compare, float reference, float texel)
{
	switch (compare) {
	case AGX_COMPARE_LEQUAL:
		return reference <= texel;
	case AGX_COMPARE_GEQUAL:
		return reference >= texel;
	case AGX_COMPARE_LESS:
		return reference < texel;
	case AGX_COMPARE_GREATER:
		return reference > texel;
	case AGX_COMPARE_EQUAL:
		return reference == texel;
	case AGX_COMPARE_NOT_EQUAL:
		return reference != texel;
	default:
		return compare == AGX_COMPARE_ALWAYS;
	}
}

/* Compares; the reference is clamped to 0 to 1 where the format's depths are */
static void texture_filter_compare(const struct texture *t, uint32_t value[4])
{
	float reference = t->reference;
	unsigned int i;

	if (t->image->type == AGX_TEXTURE_TYPE_UNORM)
		reference = reference > 1 ? 1 : reference > 0 ? reference : 0;
	for (i = 0; i < 4; i++) {
		if (t->image->swizzle[i] <= AGX_CHANNEL_A)
			value[i] = float_bits(texture_filter_passes(t->sampler.compare, reference,
								    bits_float(value[i])));
	}
}

/* Wrap modes: coordinates outside of the image */

/* The texel that a coordinate leads to in one direction; false for the border */
static bool texture_filter_wrap(unsigned int mode, int64_t *at, int64_t size)
{
	int64_t period;

	/* nearly all are inside */
	if (*at >= 0 && *at < size)
		return true;
	switch (mode) {
	case AGX_WRAP_REPEAT:
		*at = (*at % size + size) % size;
		return true;
	case AGX_WRAP_MIRRORED_REPEAT:
		period = (*at % (2 * size) + 2 * size) % (2 * size);
		*at = period < size ? period : 2 * size - 1 - period;
		return true;
	case AGX_WRAP_MIRRORED_CLAMP_TO_EDGE:
		*at = *at < 0 ? -1 - *at : *at;
		break;
	case AGX_WRAP_CLAMP_TO_BORDER:
	case AGX_WRAP_CLAMP_GL:
		return *at >= 0 && *at < size;
	default:
		break;
	}
	*at = *at < 0 ? 0 : *at >= size ? size - 1 : *at;
	return true;
}

static void texture_filter_wrapped_texel(struct texture *t, struct texel_coords at,
					 unsigned int level, uint32_t value[4])
{
	bool in = texture_filter_wrap(t->sampler.wrap_s, &at.x,
				      texture_level_size(t->image->layout.width, level));

	in = texture_filter_wrap(t->sampler.wrap_t, &at.y,
				 texture_level_size(t->image->layout.height, level)) &&
	     in;
	if (texture_is_3d(t))
		in = texture_filter_wrap(t->sampler.wrap_r, &at.z, texture_level_depth(t, level)) &&
		     in;
	else if (at.z >= t->image->layout.layers)
		at.z = t->image->layout.layers - 1;
	if (in)
		vagx_texture_read(t, &at, level, value);
	else
		vagx_image_border(t->image, t->sampler.border_colour, t->border, value);
	if (t->op->mod[AGX_MOD_SHADOW])
		texture_filter_compare(t, value);
}

/* A texel beyond a corner of a cube: the mean of the three texels that meet there */
static void texture_filter_corner_texel(struct texture *t, struct texel_coords at,
					unsigned int level, uint32_t value[4])
{
	const int64_t last = texture_level_size(t->image->layout.width, level) - 1;
	struct texel_coords near[3] = { at, at, at };
	float sum[4] = { 0 };
	unsigned int i, c;

	near[0].x = near[2].x = at.x < 0 ? 0 : last;
	near[1].y = near[2].y = at.y < 0 ? 0 : last;
	for (i = 0; i < 3; i++) {
		vagx_cube_neighbour(&near[i], last + 1);
		texture_filter_wrapped_texel(t, near[i], level, value);
		for (c = 0; c < 4; c++)
			sum[c] += bits_float(value[c]);
	}
	/* integers have no mean: the last one remains, which is of this face */
	for (i = 0; i < 4 && !vagx_image_is_integer(t->image); i++)
		value[i] = float_bits(sum[i] / 3);
}

static void texture_filter_texel(struct texture *t, struct texel_coords at, unsigned int level,
				 uint32_t value[4])
{
	if (!texture_is_cube(t) || t->sampler.seamful_cube_maps ||
	    vagx_cube_neighbour(&at, texture_level_size(t->image->layout.width, level)))
		texture_filter_wrapped_texel(t, at, level, value);
	else
		texture_filter_corner_texel(t, at, level, value);
}

/* Filters */

/* floor() of a number within 32 bits, as texture_filter_scale() makes it; libm's would be a call */
static int64_t texture_filter_floor(double at)
{
	const int64_t toward_zero = (int64_t)at;

	return toward_zero - (toward_zero > at);
}

/* Scales a coordinate to texels, and bounds it to what fits: beyond, the API leaves open which */
static double texture_filter_scale(const struct texture *t, double coordinate, uint32_t size)
{
	double at = t->sampler.pixel_coordinates ? coordinate : coordinate * size;

	return at > -1e9 && at < 1e9 ? at : 0;
}

/*
 * GL_CLAMP clamps coordinates, not texels: the outer half of a linear filter lies beyond the
 * edge, in the border colour.
 */
static double texture_filter_clamp_gl(const struct texture *t, unsigned int i, unsigned int mode,
				      double at, uint32_t size)
{
	double least = -t->offset[i], most = least + size;

	if (mode != AGX_WRAP_CLAMP_GL)
		return at;
	return at < least ? least : at > most ? most : at;
}

static struct texcoord texture_filter_in_texels(const struct texture *t, const struct texcoord *s,
					    unsigned int level)
{
	const uint32_t size[3] = {
		texture_level_size(t->image->layout.width, level),
		texture_level_size(t->image->layout.height, level),
		texture_level_depth(t, level),
	};
	const unsigned int modes[3] = {
		t->sampler.wrap_s, t->sampler.wrap_t, t->sampler.wrap_r,
	};
	struct texcoord in = { .layer = s->layer };
	unsigned int i;

	for (i = 0; i < (texture_is_3d(t) ? 3 : 2); i++)
		in.at[i] = texture_filter_clamp_gl(
			t, i, modes[i], texture_filter_scale(t, s->at[i], size[i]), size[i]);
	/* the middle of the only row: what the wrap mode of T would be has no effect */
	if (t->dim == AGX_DIM_1D || t->dim == AGX_DIM_1D_ARRAY)
		in.at[1] = 0.5;
	return in;
}

/* Texel @corner, 0 to 3 or 7, of those that a linear filter takes around a coordinate */
static struct texel_coords texture_filter_neighbour(const struct texture *t,
						    const struct texcoord *s,
					const int64_t base[3], unsigned int corner)
{
	return (struct texel_coords){
		.x = base[0] + t->offset[0] + (corner & 1),
		.y = base[1] + t->offset[1] + (corner >> 1 & 1),
		.z = texture_is_3d(t) ? base[2] + t->offset[2] + (corner >> 2) :
					(int64_t)s->layer,
	};
}

static void texture_filter_sample_nearest(struct texture *t, const struct texcoord *s,
					  unsigned int level, float value[4])
{
	const int64_t base[3] = {
		texture_filter_floor(s->at[0]),
		texture_filter_floor(s->at[1]),
		texture_filter_floor(s->at[2]),
	};
	const int64_t width = texture_level_size(t->image->layout.width, level);
	const int64_t height = texture_level_size(t->image->layout.height, level);
	struct texel_coords at = texture_filter_neighbour(t, s, base, 0);
	uint32_t bits[4];

	/* the far edges of a cube's face belong to it, and so does all of OpenGL's clamp */
	if (at.x == width && (texture_is_cube(t) || t->sampler.wrap_s == AGX_WRAP_CLAMP_GL))
		at.x--;
	if (at.y == height && (texture_is_cube(t) || t->sampler.wrap_t == AGX_WRAP_CLAMP_GL))
		at.y--;
	if (texture_is_3d(t) && t->sampler.wrap_r == AGX_WRAP_CLAMP_GL &&
	    at.z == texture_level_depth(t, level))
		at.z--;
	texture_filter_texel(t, at, level, bits);
	memcpy(value, bits, sizeof(bits));
}

/*
 * Weights have 8 bits. They are rounded to the nearest, so that a texel's middle is all of
 * it, though its coordinate be a little less: the next one may be thousands of times brighter.
 */
static void texture_filter_linear_weights(const struct texcoord *s, int64_t base[3],
					  float weight[3])
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		int64_t at = texture_filter_floor((s->at[i] - 0.5) * TEXTURE_WEIGHTS + 0.5);

		base[i] = at >> 8;
		weight[i] = (float)(at & 0xff) / TEXTURE_WEIGHTS;
	}
}

/* The four texels of a linear filter, where the image is two-dimensional and has them all */
struct bilinear {
	struct agx_texel at;
	int64_t x[2], y[2];
};

/*
 * Finds them by rows and columns, each of which is wrapped once. Return: false if a texel needs
 * the border or another face: then each texel is found by itself.
 */
static bool texture_filter_find_bilinear(struct texture *t, const struct texcoord *s,
					 unsigned int level,
					 const int64_t base[3], struct bilinear *bilinear)
{
	const int64_t width = texture_level_size(t->image->layout.width, level);
	const int64_t height = texture_level_size(t->image->layout.height, level);
	const uint32_t last = t->image->layout.layers - 1;
	unsigned int i;

	if (t->dim != AGX_DIM_2D && t->dim != AGX_DIM_2D_ARRAY)
		return false;
	if (t->op->mod[AGX_MOD_SHADOW] || level >= t->image->layout.levels)
		return false;
	bilinear->at = (struct agx_texel){
		.layer = s->layer < last ? s->layer : last, .level = level,
	};
	for (i = 0; i < 2; i++) {
		bilinear->x[i] = base[0] + t->offset[0] + i;
		bilinear->y[i] = base[1] + t->offset[1] + i;
		if (!texture_filter_wrap(t->sampler.wrap_s, &bilinear->x[i], width) ||
		    !texture_filter_wrap(t->sampler.wrap_t, &bilinear->y[i], height))
			return false;
	}
	return true;
}

static texel_floats texture_filter_bilinear_texel(struct texture *t, struct bilinear *bilinear,
						  unsigned int corner)
{
	texel_bits bits;

	bilinear->at.x = bilinear->x[corner & 1];
	bilinear->at.y = bilinear->y[corner >> 1];
	if (!texture_value(t, &bilinear->at, &bits))
		return (texel_floats){ 0 };
	return (texel_floats)bits;
}

static texel_floats texture_filter_any_texel(struct texture *t, const struct texcoord *s,
					     const int64_t base[3], unsigned int corner,
					     unsigned int level)
{
	texel_bits bits;
	uint32_t value[4];

	texture_filter_texel(t, texture_filter_neighbour(t, s, base, corner), level, value);
	memcpy(&bits, value, sizeof(bits));
	return (texel_floats)bits;
}

static texel_floats texture_filter_sample_linear(struct texture *t, const struct texcoord *s,
						 unsigned int level)
{
	unsigned int corners = texture_is_3d(t) ? 8 : 4, i;
	texel_floats sum = { 0 };
	struct bilinear bilinear;
	int64_t base[3];
	float weight[3];
	bool flat;

	texture_filter_linear_weights(s, base, weight);
	flat = texture_filter_find_bilinear(t, s, level, base, &bilinear);
	for (i = 0; i < corners; i++) {
		float part = (i & 1 ? weight[0] : 1 - weight[0]) *
			     (i >> 1 & 1 ? weight[1] : 1 - weight[1]);

		if (texture_is_3d(t))
			part *= i >> 2 ? weight[2] : 1 - weight[2];
		if (part == 0)
			continue;
		sum += part * (flat ? texture_filter_bilinear_texel(t, &bilinear, i) :
				      texture_filter_any_texel(t, s, base, i, level));
	}
	return sum;
}

static texel_floats texture_filter_sample_level(struct texture *t, const struct texcoord *texcoord,
						unsigned int level, unsigned int filter)
{
	const struct texcoord s = texture_filter_in_texels(t, texcoord, level);
	texel_floats value;
	float nearest[4];

	if (filter == AGX_FILTER_LINEAR && !vagx_image_is_integer(t->image))
		return texture_filter_sample_linear(t, &s, level);
	texture_filter_sample_nearest(t, &s, level, nearest);
	memcpy(&value, nearest, sizeof(value));
	return value;
}

/* Samples one level, or two and interpolates, as the sampler's mip filter says */
static texel_floats texture_filter_sample_levels(struct texture *t, const struct texcoord *s,
						 float lod)
{
	unsigned int filter = lod > 0 ? t->sampler.minify : t->sampler.magnify;
	float at = vagx_texture_level(t, lod), part;
	unsigned int level = (unsigned int)at;
	texel_floats value;

	part = floorf((at - level) * TEXTURE_WEIGHTS) / TEXTURE_WEIGHTS;
	value = texture_filter_sample_level(t, s, t->image->first_level + level, filter);
	if (part == 0 || vagx_image_is_integer(t->image))
		return value;
	return value + part * (texture_filter_sample_level(t, s, t->image->first_level + level + 1,
							   filter) -
			       value);
}

void vagx_texture_sample(struct texture *t, const struct texcoord *texcoord,
			 const struct footprint *f, float value[4])
{
	texel_floats sum = { 0 };
	unsigned int i, c;

	if (f->taps == 1 || vagx_image_is_integer(t->image)) {
		sum = texture_filter_sample_levels(t, texcoord, f->lod);
		memcpy(value, &sum, sizeof(sum));
		return;
	}
	for (i = 0; i < f->taps; i++) {
		double part = (i + 1.0) / (f->taps + 1) - 0.5;
		struct texcoord tap = *texcoord;

		for (c = 0; c < 3; c++)
			tap.at[c] += part * f->major_axis[c];
		if (texture_is_cube(t) && !t->sampler.seamful_cube_maps)
			tap.layer = vagx_cube_fold(tap.layer, tap.at);
		sum += texture_filter_sample_levels(t, &tap, f->lod) / (float)f->taps;
	}
	memcpy(value, &sum, sizeof(sum));
}

/* The four texels of the first level, counter-clockwise from the lower left */
void vagx_texture_gather(struct texture *t, const struct texcoord *texcoord, unsigned int channel,
			 uint32_t value[4])
{
	static const uint8_t order[4] = { 2, 3, 1, 0 };
	const unsigned int level = t->image->first_level;
	const struct texcoord s = texture_filter_in_texels(t, texcoord, level);
	uint32_t bits[4];
	int64_t base[3];
	float weight[3];
	unsigned int i;

	texture_filter_linear_weights(&s, base, weight);
	for (i = 0; i < 4; i++) {
		texture_filter_texel(t, texture_filter_neighbour(t, &s, base, order[i]), level,
				     bits);
		value[i] = bits[channel];
	}
}
