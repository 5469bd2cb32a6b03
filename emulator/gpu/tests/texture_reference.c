// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <math.h>
#include <string.h>

#include "texture_reference.h"

/*
 * What vagx may differ by, as hardware with its precision may (Mesa says that it has 8 bits for
 * texels and for levels, VkPhysicalDeviceLimits): a weight is rounded to a multiple of 1/256, so
 * it is off by up to half of that, and moves the result by as much of the difference of the
 * texels. The weight of the next level is cut off to such a multiple. Sums are of floats.
 */
#define WEIGHT_SLACK	(0.5 / 256)
#define LEVEL_SLACK	(1.0 / 256)
#define SUM_SLACK	0x1p-20

unsigned int texture_coordinates(enum texture_shape shape)
{
	return shape <= SHAPE_1D_ARRAY ? 1 : shape <= SHAPE_2D_ARRAY ? 2 : 3;
}

static bool is_cube(const struct texture_model *m)
{
	return m->shape == SHAPE_CUBE || m->shape == SHAPE_CUBE_ARRAY;
}

/* Axes of the image that are wrapped and filtered */
static unsigned int count_axes(const struct texture_model *m)
{
	return is_cube(m) ? 2 : texture_coordinates(m->shape);
}

static int64_t size_of(const struct texture_model *m, unsigned int level, unsigned int axis)
{
	const uint32_t sizes[3] = { m->layout.width, m->layout.height, m->layout.layers };
	const int64_t size = sizes[axis] >> level;

	return size ? size : 1;
}

/* Texels */

static void swizzle(const struct texture_model *m, const double channel[4], double value[4])
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		value[i] = m->swizzle[i] == AGX_CHANNEL_0 ? 0 :
			   m->swizzle[i] == AGX_CHANNEL_1 ? 1 :
			   channel[m->compares ? 0 : m->swizzle[i]];
}

static void border_colour(const struct texture_model *m, double value[4])
{
	const struct pixel_format *f = m->format;
	double channel[4] = { 0, 0, 0, 0 };
	float number;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		const unsigned int bits = f->srgb && i < 3 ? 12 : f->bits[i];
		const uint32_t word = m->border[i];

		if (m->sampler.border_colour != AGX_BORDER_CUSTOM)
			channel[i] = m->sampler.border_colour == AGX_BORDER_OPAQUE_WHITE ||
				     (m->sampler.border_colour == AGX_BORDER_OPAQUE_BLACK && i == 3);
		else if (f->type == AGX_TEXTURE_TYPE_UINT)
			channel[i] = word;
		else if (f->type == AGX_TEXTURE_TYPE_SINT)
			channel[i] = (int32_t)word;
		else if (f->type == AGX_TEXTURE_TYPE_FLOAT && f->bits[i] == 32)
			memcpy(&number, &word, sizeof(number)), channel[i] = number;
		else if (f->type == AGX_TEXTURE_TYPE_FLOAT)
			channel[i] = pixel_from_half(word & 0xffff);
		else if (f->type == AGX_TEXTURE_TYPE_SNORM && bits)
			channel[i] = (word >> (bits - 1) & 1 ? word - ldexp(1, bits) : word) /
				     (ldexp(1, bits - 1) - 1);
		else if (bits)
			channel[i] = word / (ldexp(1, bits) - 1);
	}
	swizzle(m, channel, value);
}

static bool compare(unsigned int func, double reference, double depth)
{
	switch (func) {
	case AGX_COMPARE_LEQUAL:
		return reference <= depth;
	case AGX_COMPARE_GEQUAL:
		return reference >= depth;
	case AGX_COMPARE_LESS:
		return reference < depth;
	case AGX_COMPARE_GREATER:
		return reference > depth;
	case AGX_COMPARE_EQUAL:
		return reference == depth;
	case AGX_COMPARE_NOT_EQUAL:
		return reference != depth;
	default:
		return func == AGX_COMPARE_ALWAYS;
	}
}

/* Reads a texel whose coordinates are wrapped, or the border colour; z is a slice, layer or face */
static void read_texel(const struct texture_model *m, const struct texture_lookup *l,
		       unsigned int level, const int64_t at[3], bool is_border, double value[4])
{
	const struct agx_texel texel = {
		.x = (uint32_t)at[0], .y = (uint32_t)at[1], .layer = (uint32_t)at[2],
		.level = level,
	};
	double channel[4];
	unsigned int i;

	if (is_border) {
		border_colour(m, value);
	} else {
		pixel_decode(m->format, m->memory + agx_layout_offset(&m->layout, &texel), channel);
		swizzle(m, channel, value);
	}
	for (i = 0; m->compares && i < 4; i++) {
		double reference = l->reference;

		if (m->format->type == AGX_TEXTURE_TYPE_UNORM)
			reference = fmin(fmax(reference, 0), 1);
		/* vagx has depths as floats */
		if (m->swizzle[i] <= AGX_CHANNEL_A)
			value[i] = compare(m->sampler.compare, reference, (float)value[i]);
	}
}

/* Wraps a coordinate ("Wrapping Operation"). Return: false for the border. */
static bool wrap(unsigned int mode, int64_t *at, int64_t size)
{
	int64_t i = *at;

	switch (mode) {
	case AGX_WRAP_REPEAT:
		while (i < 0 || i >= size)
			i -= size * (i < 0 ? i / size - 1 : i / size);
		break;
	case AGX_WRAP_MIRRORED_REPEAT:
		i = ((i % (2 * size)) + 2 * size) % (2 * size);
		i = i < size ? i : 2 * size - 1 - i;
		break;
	case AGX_WRAP_MIRRORED_CLAMP_TO_EDGE:
		i = i < 0 ? -1 - i : i;
		i = i < size ? i : size - 1;
		break;
	case AGX_WRAP_CLAMP_TO_BORDER:
	case AGX_WRAP_CLAMP_GL:
		return i >= 0 && i < size;
	default:
		i = i < 0 ? 0 : i < size ? i : size - 1;
		break;
	}
	*at = i;
	return true;
}

/* Cubes: the table of "Cube Map Face Selection": the major axis, s and t of each face */

static const struct {
	int major, major_sign, s, s_sign, t, t_sign;
} faces[6] = {
	{ 0, 1, 2, -1, 1, -1 }, { 0, -1, 2, 1, 1, -1 }, { 1, 1, 0, 1, 2, 1 },
	{ 1, -1, 0, 1, 2, -1 }, { 2, 1, 0, 1, 1, -1 }, { 2, -1, 0, -1, 1, -1 },
};

/* Projects a direction to a face; coordinates are from 0 to 1 */
static unsigned int project(const double direction[3], double at[2])
{
	const double x = fabs(direction[0]), y = fabs(direction[1]), z = fabs(direction[2]);
	const unsigned int axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
	const unsigned int face = 2 * axis + (direction[axis] < 0);

	at[0] = (faces[face].s_sign * direction[faces[face].s] / fabs(direction[axis]) + 1) / 2;
	at[1] = (faces[face].t_sign * direction[faces[face].t] / fabs(direction[axis]) + 1) / 2;
	return face;
}

/*
 * Moves a texel that is one step beyond an edge of a face to the neighbouring face. Positions
 * are whole numbers, twice as fine as texels, on a cube from -size to size: a texel's centre
 * beyond the edge is half a texel below it on the other face.
 */
static void fold(int64_t at[3], int64_t size)
{
	const int64_t cube = at[2] / 6, face = at[2] % 6;
	int64_t s = 2 * at[0] + 1 - size, t = 2 * at[1] + 1 - size, height = size, p[3];
	int i, other = 0;

	if (s < -size || s > size) {
		s = s < 0 ? -size : size;
		height = size - 1;
	} else if (t < -size || t > size) {
		t = t < 0 ? -size : size;
		height = size - 1;
	} else {
		return;
	}
	p[faces[face].major] = faces[face].major_sign * height;
	p[faces[face].s] = faces[face].s_sign * s;
	p[faces[face].t] = faces[face].t_sign * t;
	for (i = 0; i < 6; i++) {
		if (p[faces[i].major] == faces[i].major_sign * size)
			other = i;
	}
	at[0] = (faces[other].s_sign * p[faces[other].s] + size - 1) / 2;
	at[1] = (faces[other].t_sign * p[faces[other].t] + size - 1) / 2;
	at[2] = 6 * cube + other;
}

/* Beyond a corner there is no texel: the mean of the three that meet there ("Cube Map Edge Handling") */
static void corner(const struct texture_model *m, const struct texture_lookup *l,
		   unsigned int level, const int64_t at[3], double value[4])
{
	const int64_t size = size_of(m, level, 0);
	const int64_t x = at[0] < 0 ? 0 : size - 1, y = at[1] < 0 ? 0 : size - 1;
	int64_t near[3][3] = { { x, y, at[2] }, { at[0], y, at[2] }, { x, at[1], at[2] } };
	double one[4], sum[4] = { 0 };
	unsigned int i, c;

	for (i = 0; i < 3; i++) {
		fold(near[i], size);
		read_texel(m, l, level, near[i], false, one);
		for (c = 0; c < 4; c++)
			sum[c] += one[c] / 3;
	}
	memcpy(value, sum, sizeof(sum));
}

/* A texel anywhere: wrapped, of another face, or of the border */
static void any_texel(const struct texture_model *m, const struct texture_lookup *l,
		      unsigned int level, const int64_t where[3], double value[4])
{
	const unsigned int modes[3] = { m->sampler.wrap_s, m->sampler.wrap_t, m->sampler.wrap_r };
	int64_t at[3] = { where[0], where[1], where[2] };
	const int64_t size = size_of(m, level, 0);
	bool is_border = false;
	unsigned int i, out;

	if (is_cube(m) && !m->sampler.seamful_cube_maps) {
		out = (at[0] < 0 || at[0] >= size) + (at[1] < 0 || at[1] >= size);
		if (out == 2) {
			corner(m, l, level, at, value);
			return;
		}
		fold(at, size);
	} else {
		for (i = 0; i < count_axes(m); i++)
			is_border |= !wrap(modes[i], &at[i], size_of(m, level, i));
	}
	read_texel(m, l, level, at, is_border, value);
}

/* Coordinates in texels of a level, and the layer or face */
static void in_texels(const struct texture_model *m, const double coordinate[3],
		      unsigned int level, unsigned int layer, double at[3])
{
	const unsigned int modes[3] = { m->sampler.wrap_s, m->sampler.wrap_t, m->sampler.wrap_r };
	unsigned int i;

	at[1] = at[2] = 0;
	for (i = 0; i < count_axes(m); i++) {
		const double size = size_of(m, level, i);

		at[i] = m->sampler.pixel_coordinates ? coordinate[i] : coordinate[i] * size;
		if (modes[i] == AGX_WRAP_CLAMP_GL && !is_cube(m))
			at[i] = fmin(fmax(at[i], 0), size);
	}
	if (m->shape != SHAPE_3D)
		at[2] = layer;
}

static struct texture_value sample_nearest(const struct texture_model *m,
					   const struct texture_lookup *l, unsigned int level,
					   const double at[3])
{
	const unsigned int modes[3] = { m->sampler.wrap_s, m->sampler.wrap_t, m->sampler.wrap_r };
	struct texture_value v = { { 0 }, { 0 } };
	int64_t texel[3] = { 0, 0, (int64_t)at[2] };
	unsigned int i;

	for (i = 0; i < count_axes(m); i++) {
		const int64_t size = size_of(m, level, i);

		texel[i] = (int64_t)floor(at[i]) + m->offset[i];
		/* the upper ends of a face and of OpenGL's range belong to the last texel */
		if (texel[i] == size && (is_cube(m) || modes[i] == AGX_WRAP_CLAMP_GL))
			texel[i] = size - 1;
	}
	any_texel(m, l, level, texel, v.value);
	for (i = 0; i < 4; i++)
		v.slack[i] = fabs(v.value[i]) * SUM_SLACK;
	return v;
}

static struct texture_value sample_linear(const struct texture_model *m,
					  const struct texture_lookup *l, unsigned int level,
					  const double at[3])
{
	const unsigned int axes = count_axes(m);
	double least[4], most[4], largest[4] = { 0 }, one[4];
	struct texture_value v = { { 0 }, { 0 } };
	unsigned int i, k, c;

	for (i = 0; i < 1u << axes; i++) {
		int64_t texel[3] = { 0, 0, (int64_t)at[2] };
		double weight = 1;

		for (k = 0; k < axes; k++) {
			const double first = floor(at[k] - 0.5), part = at[k] - 0.5 - first;

			texel[k] = (int64_t)first + m->offset[k] + (i >> k & 1);
			weight *= i >> k & 1 ? part : 1 - part;
		}
		any_texel(m, l, level, texel, one);
		for (c = 0; c < 4; c++) {
			v.value[c] += weight * one[c];
			least[c] = i ? fmin(least[c], one[c]) : one[c];
			most[c] = i ? fmax(most[c], one[c]) : one[c];
			largest[c] = fmax(largest[c], fabs(one[c]));
		}
	}
	for (c = 0; c < 4; c++)
		v.slack[c] = axes * WEIGHT_SLACK * (most[c] - least[c]) + largest[c] * SUM_SLACK;
	return v;
}

static struct texture_value sample_level(const struct texture_model *m,
					 const struct texture_lookup *l, const double coordinate[3],
					 unsigned int level, unsigned int layer, unsigned int filter)
{
	double at[3];

	level += m->first_level;
	in_texels(m, coordinate, level, layer, at);
	return filter == AGX_FILTER_LINEAR ? sample_linear(m, l, level, at) :
					     sample_nearest(m, l, level, at);
}

/* "Level-of-Detail Operation", "Image Level(s) Selection", and the filter between two levels */
static struct texture_value sample_tap(const struct texture_model *m, const struct texture_lookup *l,
				       const double coordinate[3], unsigned int layer)
{
	const double lod = fmin(fmax(l->lod, m->sampler.minimum_lod), m->sampler.maximum_lod);
	const unsigned int filter = lod > 0 ? m->sampler.minify : m->sampler.magnify;
	const double last = (double)m->last_level - m->first_level;
	double level = fmin(fmax(lod, 0), last), part;
	struct texture_value v, next;
	unsigned int i;

	if (m->sampler.mip_filter == AGX_MIP_FILTER_NONE)
		level = 0;
	/* Vulkan allows either level in the middle, and prefers the finer one; vagx takes the other */
	else if (m->sampler.mip_filter == AGX_MIP_FILTER_NEAREST)
		level = floor(level + 0.5);
	part = level - floor(level);
	v = sample_level(m, l, coordinate, (unsigned int)level, layer, filter);
	if (part == 0)
		return v;
	next = sample_level(m, l, coordinate, (unsigned int)level + 1, layer, filter);
	for (i = 0; i < 4; i++) {
		const double step = next.value[i] - v.value[i];

		v.value[i] += part * step;
		v.slack[i] = fmax(v.slack[i], next.slack[i]) +
			     LEVEL_SLACK * (fabs(step) + v.slack[i] + next.slack[i]);
	}
	return v;
}

/* Layers beyond the last one are the last one; of cubes they are faces */
static unsigned int find_layer(const struct texture_model *m, const struct texture_lookup *l,
			       double at[3])
{
	unsigned int layers = m->layout.layers / (is_cube(m) ? 6 : 1);
	unsigned int layer = l->layer < layers ? l->layer : layers - 1;

	if (m->shape == SHAPE_1D || m->shape == SHAPE_2D || m->shape == SHAPE_3D ||
	    m->shape == SHAPE_CUBE)
		layer = 0;
	memcpy(at, l->at, 3 * sizeof(at[0]));
	return is_cube(m) ? 6 * layer + project(l->at, at) : layer;
}

struct texture_value texture_reference_sample(const struct texture_model *m,
					      const struct texture_lookup *l)
{
	struct texture_value v = { { 0 }, { 0 } }, one;
	unsigned int tap, i, layer;
	double at[3], where[3];

	layer = find_layer(m, l, at);
	for (tap = 1; tap <= l->taps; tap++) {
		for (i = 0; i < 3; i++)
			where[i] = at[i] + (tap / (l->taps + 1.0) - 0.5) * l->axis[i];
		one = sample_tap(m, l, l->taps > 1 ? where : at, layer);
		for (i = 0; i < 4; i++) {
			v.value[i] += one.value[i] / l->taps;
			v.slack[i] += one.slack[i] / l->taps;
		}
	}
	return v;
}

struct texture_value texture_reference_gather(const struct texture_model *m,
					      const struct texture_lookup *l, unsigned int channel)
{
	static const int8_t steps[4][2] = { { 0, 1 }, { 1, 1 }, { 1, 0 }, { 0, 0 } };
	struct texture_value v = { { 0 }, { 0 } };
	double at[3], texels[3], one[4];
	unsigned int i, layer;

	layer = find_layer(m, l, at);
	in_texels(m, at, m->first_level, layer, texels);
	for (i = 0; i < 4; i++) {
		const int64_t texel[3] = {
			(int64_t)floor(texels[0] - 0.5) + m->offset[0] + steps[i][0],
			(int64_t)floor(texels[1] - 0.5) + m->offset[1] + steps[i][1],
			(int64_t)texels[2],
		};

		any_texel(m, l, m->first_level, texel, one);
		v.value[i] = one[channel];
		v.slack[i] = fabs(one[channel]) * SUM_SLACK;
	}
	return v;
}

void texture_reference_axes(const struct texture_model *m, const double right[3],
			    const double down[3], double length[2])
{
	double sum[2] = { 0, 0 };
	unsigned int i;

	for (i = 0; i < count_axes(m); i++) {
		const double size = size_of(m, m->first_level, i);

		sum[0] += right[i] * size * right[i] * size;
		sum[1] += down[i] * size * down[i] * size;
	}
	length[0] = sqrt(sum[0]);
	length[1] = sqrt(sum[1]);
}
