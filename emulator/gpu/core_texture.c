// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Textures: loads of texels, sampling, and writes of pixels. (mesa
 * src/asahi/compiler/agx_nir_lower_texture.c for what coordinates are made of)
 */
#include <errno.h>
#include <math.h>

#include "core_float.h"
#include "core_internal.h"
#include "agx_packets.h"
#include "gpu/image.h"

#define QUAD	4
/* Where filters have their weights: fractions of 1/256 */
#define WEIGHTS	256.0f

/* A texture instruction of one simdgroup */
struct texture {
	struct simdgroup *sg;
	const struct op *op;
	unsigned int dim;
	/* of the lane that is looked at */
	struct vagx_image image;
	struct agx_sampler sampler;
	uint8_t state[VAGX_TEXTURE_BYTES];
	bool has_state;
};

/* A texel to be read, which can be outside */
struct place {
	int64_t x, y, z;
	uint32_t sample;
};

static bool failed(const struct texture *t)
{
	return t->sg->state == SIMDGROUP_FAILED;
}

static uint32_t lane_value(struct simdgroup *sg, const struct agx_operand *o, unsigned int n,
			   unsigned int lane)
{
	struct agx_operand one = *o;
	struct lanes tmp;

	if (o->type == AGX_OPERAND_REG &&
	    o->value + (n + 1) * (o->size / 16) > sg->core->register_halves)
		return 0;
	one.value += n * (o->size / 16);
	return read_lanes(sg, &one, &tmp)[lane];
}

static float lane_float(struct simdgroup *sg, const struct agx_operand *o, unsigned int n,
			unsigned int lane)
{
	uint32_t bits = lane_value(sg, o, n, lane);

	return o->size == 16 ? float_from_half(bits) : bits_float(bits);
}

static const void *client(struct texture *t, uint64_t va, size_t bytes, enum vagx_access access)
{
	struct vagx_core *core = t->sg->core;
	const void *p = vagx_tlb_ptr(core->config.tlb, va, bytes, access, &core->fault);

	if (!p)
		vagx_core_fail(t->sg, t->op, -EFAULT, "texture memory at 0x%llx",
			       (unsigned long long)va);
	return p;
}

/* Descriptors: in state registers, or in memory with an offset in a register */

static bool read_state(struct texture *t, const struct agx_operand *heap,
		       const struct agx_operand *state, unsigned int lane)
{
	uint32_t index = lane_value(t->sg, state, 0, lane);
	struct wide_lanes base;
	const uint8_t *p;

	if (heap->type == AGX_OPERAND_NONE) {
		if (index >= VAGX_CORE_TEXTURES) {
			vagx_core_fail(t->sg, t->op, -ERANGE, "texture state %u", index);
			return false;
		}
		memcpy(t->state, t->sg->core->launch->textures[index], sizeof(t->state));
		return true;
	}
	read_wide_lanes(t->sg, heap, &base);
	/* 24 bytes can lie in two pages: they are multiples of 8 */
	for (unsigned int i = 0; i < 3; i++) {
		p = client(t, (base.v[lane] + index + 8 * i) & ~7ULL, 8, VAGX_READ);
		if (!p)
			return false;
		memcpy(t->state + 8 * i, p, 8);
	}
	return true;
}

/* Most lanes have the same one */
static bool find_image(struct texture *t, const struct agx_operand *heap,
		       const struct agx_operand *state, unsigned int lane)
{
	uint8_t last[VAGX_TEXTURE_BYTES];
	const char *why;

	memcpy(last, t->state, sizeof(last));
	if (!read_state(t, heap, state, lane))
		return false;
	if (t->has_state && !memcmp(last, t->state, sizeof(last)))
		return true;
	if (!vagx_image_from_texture(&t->image, t->state, &why)) {
		vagx_core_fail(t->sg, t->op, -EILSEQ, "Texture: %s is not supported", why);
		return false;
	}
	t->has_state = true;
	return true;
}

static bool find_sampler(struct texture *t, const struct agx_operand *o, unsigned int lane)
{
	const struct vagx_launch *launch = t->sg->core->launch;
	uint32_t index = lane_value(t->sg, o, 0, lane);
	bool of_heap = o->type == AGX_OPERAND_REG && launch->sampler_count;
	const uint8_t *bytes;

	if (index >= (of_heap ? launch->sampler_count : VAGX_CORE_SAMPLERS)) {
		vagx_core_fail(t->sg, t->op, -ERANGE, "sampler %u", index);
		return false;
	}
	bytes = of_heap ? client(t, launch->sampler_heap + 8ULL * index, 8, VAGX_READ) :
			  launch->samplers[index];
	if (!bytes)
		return false;
	agx_packet_unpack(AGX_PACKET_sampler, bytes, &t->sampler, NULL);
	if (t->sampler.compare_enable || t->sampler.magnify > AGX_FILTER_LINEAR ||
	    t->sampler.minify > AGX_FILTER_LINEAR ||
	    t->sampler.border_colour == AGX_BORDER_CUSTOM) {
		vagx_core_fail(t->sg, t->op, -EILSEQ,
			       "Sampler: comparison, cubic filter or custom border");
		return false;
	}
	return true;
}

/* Texels */

static uint32_t level_size(uint32_t size, unsigned int level)
{
	return size >> level ? size >> level : 1;
}

static bool is_3d(const struct texture *t)
{
	return t->dim == AGX_DIM_3D;
}

static uint32_t depth_of(const struct texture *t, unsigned int level)
{
	return is_3d(t) ? level_size(t->image.layers, level) : t->image.layers;
}

static bool find_in_block(struct texture *t, struct vagx_texel *at)
{
	const uint8_t *codes;

	if (!vagx_image_has_metadata(&t->image, at->level))
		return true;
	codes = client(t, vagx_image_metadata(&t->image, at), 8, VAGX_READ);
	if (!codes || vagx_image_find_in_block(&t->image, codes, at))
		return codes;
	vagx_core_fail(t->sg, t->op, -EILSEQ, "compressed block, codes 0x%x to 0x%x", codes[0],
		       codes[7]);
	return false;
}

/* Outside is nothing: false */
static bool read_texel(struct texture *t, const struct place *p, unsigned int level,
		       uint32_t value[4])
{
	struct vagx_texel at = {
		.x = p->x,
		.y = p->y,
		.layer = p->z,
		.level = level,
		.sample = p->sample,
	};
	const void *bits;
	uint8_t copy[VAGX_IMAGE_MAX_BYTES];

	memset(value, 0, 4 * sizeof(*value));
	if (p->x < 0 || p->y < 0 || p->z < 0 || level >= t->image.levels ||
	    p->x >= level_size(t->image.width, level) ||
	    p->y >= level_size(t->image.height, level) || p->z >= depth_of(t, level) ||
	    p->sample >= t->image.samples)
		return false;
	if (!find_in_block(t, &at))
		return false;
	bits = client(t, vagx_image_address(&t->image, &at), t->image.bytes, VAGX_READ);
	if (!bits)
		return false;
	memset(copy, 0, sizeof(copy));
	memcpy(copy, bits, t->image.bytes);
	vagx_image_decode(&t->image, copy, value);
	return true;
}

static void set_result(struct texture *t, unsigned int lane, const uint32_t value[4])
{
	const struct agx_operand *o = &t->op->dst;
	unsigned int mask = t->op->mod[AGX_MOD_MASK], i, n = 0;

	for (i = 0; i < 4; i++) {
		unsigned int half = o->value + n * (o->size / 16), shift = half % 2 * 16;
		uint32_t bits = value[i], *reg;

		if (!(mask >> i & 1))
			continue;
		n++;
		if (half + o->size / 16 > t->sg->core->register_halves)
			continue;
		reg = &t->sg->reg[half / 2].v[lane];
		if (o->size == 16 && !vagx_image_is_integer(&t->image))
			bits = half_from_float(bits_float(bits));
		if (o->size == 16)
			*reg = (*reg & ~(0xffffu << shift)) | (bits & 0xffff) << shift;
		else
			*reg = bits;
	}
}

static bool supported(struct texture *t)
{
	const struct op *op = t->op;
	const char *what = NULL;

	if (op->mod[AGX_MOD_SHADOW])
		what = "comparison";
	else if (op->mod[AGX_MOD_GATHER])
		what = "gather";
	else if (op->mod[AGX_MOD_QUERY_LOD])
		what = "query of the level";
	else if (op->mod[AGX_MOD_SPARSE])
		what = "residency";
	else if (op->src[5].type != AGX_OPERAND_NONE)
		what = "offset";
	if (what)
		vagx_core_fail(t->sg, op, -EILSEQ, "texture %s is not supported", what);
	return !what;
}

/* How many coordinates there are before the last word, of layer and sample */
static unsigned int plain_coordinates(unsigned int dim)
{
	switch (dim) {
	case AGX_DIM_1D:
	case AGX_DIM_1D_ARRAY:
		return 1;
	case AGX_DIM_3D:
	case AGX_DIM_CUBE:
	case AGX_DIM_CUBE_ARRAY:
		return 3;
	default:
		return 2;
	}
}

/* The last word has a sample and a layer, if there are both, else either */
static void last_word(struct texture *t, const struct agx_operand *coord, unsigned int lane,
		      uint32_t *layer, uint32_t *sample)
{
	uint32_t word;

	*layer = *sample = 0;
	word = lane_value(t->sg, coord, plain_coordinates(t->dim), lane);
	switch (t->dim) {
	case AGX_DIM_2D_MS_ARRAY:
		*sample = word & 0xffff;
		*layer = word >> 16;
		break;
	case AGX_DIM_2D_MS:
		*sample = word & 0xffff;
		break;
	case AGX_DIM_1D_ARRAY:
	case AGX_DIM_2D_ARRAY:
	case AGX_DIM_CUBE_ARRAY:
		*layer = word & 0xffff;
		break;
	default:
		break;
	}
}

/* Loads */

static void load_lane(struct texture *t, unsigned int lane)
{
	const struct agx_operand *coord = &t->op->src[3], *lod = &t->op->src[4];
	unsigned int n = plain_coordinates(t->dim);
	uint32_t value[4], layer, sample, level = 0;
	struct place at;

	if (!find_image(t, &t->op->src[0], &t->op->src[1], lane))
		return;
	if (lod->type == AGX_OPERAND_REG || lod->type == AGX_OPERAND_UNIFORM)
		level = lane_value(t->sg, lod, 0, lane) & 0xffff;
	last_word(t, coord, lane, &layer, &sample);
	at = (struct place){
		.x = (int32_t)lane_value(t->sg, coord, 0, lane),
		.y = n > 1 ? (int32_t)lane_value(t->sg, coord, 1, lane) : 0,
		.z = n > 2 ? (int32_t)lane_value(t->sg, coord, 2, lane) : (int64_t)layer,
		.sample = sample,
	};
	read_texel(t, &at, t->image.first_level + level, value);
	if (!failed(t))
		set_result(t, lane, value);
}

void vagx_exec_texture_load(struct simdgroup *sg, const struct op *op)
{
	struct texture t = { .sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM] };
	uint32_t left;

	if (!supported(&t))
		return;
	for (left = sg->exec; left && !failed(&t); left &= left - 1)
		load_lane(&t, __builtin_ctz(left));
}

/* Sampling */

/* The texel that a coordinate leads to in one direction; false for the border */
static bool wrap(unsigned int mode, int64_t *at, int64_t size)
{
	int64_t period;

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

static void border(const struct texture *t, uint32_t value[4])
{
	uint32_t one = vagx_image_is_integer(&t->image) ? 1 : float_bits(1.0f), i;

	for (i = 0; i < 4; i++)
		value[i] = t->sampler.border_colour == AGX_BORDER_OPAQUE_WHITE ||
			   (i == 3 && t->sampler.border_colour == AGX_BORDER_OPAQUE_BLACK) ?
			   one : 0;
}

static void wrapped_texel(struct texture *t, struct place at, unsigned int level,
			  uint32_t value[4])
{
	bool in = wrap(t->sampler.wrap_s, &at.x, level_size(t->image.width, level));

	in = wrap(t->sampler.wrap_t, &at.y, level_size(t->image.height, level)) && in;
	if (is_3d(t))
		in = wrap(t->sampler.wrap_r, &at.z, depth_of(t, level)) && in;
	else if (at.z >= t->image.layers)
		at.z = t->image.layers - 1;
	if (in)
		read_texel(t, &at, level, value);
	else
		border(t, value);
}

/* To texels; too far away is somewhere */
static double scale(const struct texture *t, float coordinate, uint32_t size)
{
	double at = t->sampler.pixel_coordinates ? coordinate : (double)coordinate * size;

	return at > -1e9 && at < 1e9 ? at : 0;
}

struct where {
	double at[3];
	uint32_t layer;
};

static struct where find_where(const struct texture *t, const float c[3], uint32_t layer,
			       unsigned int level)
{
	return (struct where){
		.at = {
			scale(t, c[0], level_size(t->image.width, level)),
			scale(t, c[1], level_size(t->image.height, level)),
			is_3d(t) ? scale(t, c[2], depth_of(t, level)) : 0,
		},
		.layer = layer,
	};
}

static void sample_nearest(struct texture *t, const struct where *w, unsigned int level,
			   float value[4])
{
	const struct place at = {
		.x = (int64_t)floor(w->at[0]),
		.y = (int64_t)floor(w->at[1]),
		.z = is_3d(t) ? (int64_t)floor(w->at[2]) : (int64_t)w->layer,
	};
	uint32_t bits[4];

	wrapped_texel(t, at, level, bits);
	memcpy(value, bits, sizeof(bits));
}

/* Weights have 8 bits */
static void sample_linear(struct texture *t, const struct where *w, unsigned int level,
			  float value[4])
{
	unsigned int corners = is_3d(t) ? 8 : 4, i, c;
	int64_t base[3];
	float weight[3];

	for (i = 0; i < 3; i++) {
		double at = floor((w->at[i] - 0.5) * WEIGHTS) / WEIGHTS;

		base[i] = (int64_t)floor(at);
		weight[i] = (float)(at - floor(at));
	}
	memset(value, 0, 4 * sizeof(*value));
	for (i = 0; i < corners; i++) {
		const struct place at = {
			.x = base[0] + (i & 1),
			.y = base[1] + (i >> 1 & 1),
			.z = is_3d(t) ? base[2] + (i >> 2) : (int64_t)w->layer,
		};
		float part = (i & 1 ? weight[0] : 1 - weight[0]) *
			     (i >> 1 & 1 ? weight[1] : 1 - weight[1]);
		uint32_t bits[4];

		if (is_3d(t))
			part *= i >> 2 ? weight[2] : 1 - weight[2];
		if (part == 0)
			continue;
		wrapped_texel(t, at, level, bits);
		for (c = 0; c < 4; c++)
			value[c] += part * bits_float(bits[c]);
	}
}

static void sample_level(struct texture *t, const float c[3], uint32_t layer, unsigned int level,
			 unsigned int filter, float value[4])
{
	const struct where w = find_where(t, c, layer, level);

	if (filter == AGX_FILTER_LINEAR && !vagx_image_is_integer(&t->image))
		sample_linear(t, &w, level, value);
	else
		sample_nearest(t, &w, level, value);
}

/* Between two levels if the sampler says so */
static void sample_levels(struct texture *t, const float c[3], uint32_t layer, float lod,
			  float value[4])
{
	unsigned int filter = lod > 0 ? t->sampler.minify : t->sampler.magnify, i;
	unsigned int levels = t->image.last_level - t->image.first_level, level;
	float other[4], part;

	if (t->image.last_level < t->image.first_level)
		levels = 0;
	lod = lod < 0 || lod != lod ? 0 : lod > levels ? levels : lod;
	if (t->sampler.mip_filter == AGX_MIP_FILTER_NONE)
		lod = 0;
	else if (t->sampler.mip_filter == AGX_MIP_FILTER_NEAREST)
		lod = floorf(lod + 0.5f);
	level = (unsigned int)lod;
	part = floorf((lod - level) * WEIGHTS) / WEIGHTS;
	sample_level(t, c, layer, t->image.first_level + level, filter, value);
	if (part == 0 || vagx_image_is_integer(&t->image))
		return;
	sample_level(t, c, layer, t->image.first_level + level + 1, filter, other);
	for (i = 0; i < 4; i++)
		value[i] += part * (other[i] - value[i]);
}

/* How far coordinates of a quad are apart, in texels of its first level */
static float quad_lod(struct texture *t, const struct agx_operand *coord, unsigned int lane)
{
	unsigned int n = plain_coordinates(t->dim), first = lane & ~(QUAD - 1u), i;
	const uint32_t size[3] = { t->image.width, t->image.height, t->image.layers };
	double dx = 0, dy = 0;

	for (i = 0; i < n; i++) {
		double step = t->sampler.pixel_coordinates ? 1 :
			      level_size(size[i], is_3d(t) || i < 2 ? t->image.first_level : 0);
		double a = lane_float(t->sg, coord, i, first);
		double x = (lane_float(t->sg, coord, i, first + 1) - a) * step;
		double y = (lane_float(t->sg, coord, i, first + 2) - a) * step;

		dx += x * x;
		dy += y * y;
	}
	dx = dx > dy ? dx : dy;
	return dx > 0 ? (float)(0.5 * log2(dx)) : -16;
}

static bool find_lod(struct texture *t, unsigned int lane, float *lod)
{
	const struct agx_operand *o = &t->op->src[4];

	switch (t->op->mod[AGX_MOD_LOD]) {
	case AGX_LOD_AUTO:
		*lod = t->sg->core->fragments ? quad_lod(t, &t->op->src[3], lane) : 0;
		break;
	case AGX_LOD_BIAS:
	case AGX_LOD_UNIFORM_BIAS:
		*lod = t->sg->core->fragments ? quad_lod(t, &t->op->src[3], lane) : 0;
		*lod += float_from_half(lane_value(t->sg, o, 0, lane) & 0xffff);
		break;
	case AGX_LOD_MIN:
	case AGX_LOD_UNIFORM_MIN:
		*lod = float_from_half(lane_value(t->sg, o, 0, lane) & 0xffff);
		break;
	default:
		vagx_core_fail(t->sg, t->op, -EILSEQ, "texture gradients are not supported");
		return false;
	}
	if (*lod < t->sampler.minimum_lod)
		*lod = t->sampler.minimum_lod;
	if (*lod > t->sampler.maximum_lod)
		*lod = t->sampler.maximum_lod;
	return true;
}

static void sample_lane(struct texture *t, unsigned int lane)
{
	const struct agx_operand *coord = &t->op->src[3];
	unsigned int n = plain_coordinates(t->dim), i;
	uint32_t layer, sample, bits[4];
	float c[3] = { 0 }, value[4], lod;

	if (!find_image(t, &t->op->src[0], &t->op->src[1], lane) ||
	    !find_sampler(t, &t->op->src[2], lane))
		return;
	last_word(t, coord, lane, &layer, &sample);
	for (i = 0; i < n; i++)
		c[i] = lane_float(t->sg, coord, i, lane);
	if (!find_lod(t, lane, &lod))
		return;
	sample_levels(t, c, layer, lod, value);
	memcpy(bits, value, sizeof(bits));
	if (!failed(t))
		set_result(t, lane, bits);
}

void vagx_exec_texture_sample(struct simdgroup *sg, const struct op *op)
{
	struct texture t = { .sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM] };
	uint32_t left;

	if (!supported(&t))
		return;
	if (t.dim == AGX_DIM_CUBE || t.dim == AGX_DIM_CUBE_ARRAY) {
		vagx_core_fail(sg, op, -EILSEQ, "sampling of cubes is not supported");
		return;
	}
	for (left = sg->exec; left && !failed(&t); left &= left - 1)
		sample_lane(&t, __builtin_ctz(left));
}

/* Writes */

static bool find_target(struct texture *t, unsigned int *level, unsigned int lane)
{
	const char *why;

	if (!read_state(t, &t->op->src[1], &t->op->src[2], lane))
		return false;
	if (vagx_image_from_pbe(&t->image, level, t->state, &why) &&
	    !vagx_image_has_metadata(&t->image, *level))
		return true;
	why = why ? why : "single pixels of a compressed image";
	vagx_core_fail(t->sg, t->op, -EILSEQ, "PBE: %s is not supported", why);
	return false;
}

static void write_lane(struct texture *t, unsigned int lane)
{
	const struct agx_operand *source = &t->op->src[0], *coord = &t->op->src[3];
	unsigned int n = plain_coordinates(t->dim), i;
	uint32_t value[4], layer, sample;
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];
	struct vagx_texel at = { .x = 0 };
	void *p;

	if (!find_target(t, &at.level, lane))
		return;
	last_word(t, coord, lane, &layer, &sample);
	at.x = lane_value(t->sg, coord, 0, lane);
	at.y = n > 1 ? lane_value(t->sg, coord, 1, lane) : 0;
	at.layer = n > 2 ? lane_value(t->sg, coord, 2, lane) : layer;
	at.sample = sample;
	if (at.x >= level_size(t->image.width, at.level) ||
	    at.y >= level_size(t->image.height, at.level) || at.layer >= t->image.layers ||
	    at.sample >= t->image.samples)
		return;
	for (i = 0; i < 4; i++)
		value[i] = vagx_image_is_integer(&t->image) ?
			   lane_value(t->sg, source, i, lane) :
			   float_bits(lane_float(t->sg, source, i, lane));
	vagx_image_encode_values(&t->image, value, bits);
	p = (void *)(uintptr_t)client(t, vagx_image_address(&t->image, &at), t->image.bytes,
				      VAGX_WRITE);
	if (p)
		memcpy(p, bits, t->image.bytes);
}

/* What is outside vanishes */
void vagx_exec_image_write(struct simdgroup *sg, const struct op *op)
{
	struct texture t = { .sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM] };
	uint32_t left;

	for (left = sg->exec; left && !failed(&t); left &= left - 1)
		write_lane(&t, __builtin_ctz(left));
}

/* States: only a preshader may, as all threads have the same */

void vagx_exec_texture_state(struct simdgroup *sg, const struct op *op)
{
	struct texture t = { .sg = sg, .op = op };
	unsigned int lane = sg->exec ? __builtin_ctz(sg->exec) : 0;

	if (!sg->core->preshader_of)
		vagx_core_fail(sg, op, -EILSEQ, "texture state outside of a preshader");
	else if (op->dst.value >= VAGX_CORE_TEXTURES)
		vagx_core_fail(sg, op, -ERANGE, "texture state %d", op->dst.value);
	else if (sg->exec && read_state(&t, &op->src[0], &op->src[1], lane))
		memcpy(sg->core->preshader_of->textures[op->dst.value], t.state, sizeof(t.state));
}

void vagx_exec_sampler_state(struct simdgroup *sg, const struct op *op)
{
	struct texture t = { .sg = sg, .op = op };
	unsigned int lane = sg->exec ? __builtin_ctz(sg->exec) : 0;
	struct wide_lanes base;
	const void *p;

	if (!sg->core->preshader_of || op->dst.value >= VAGX_CORE_SAMPLERS) {
		vagx_core_fail(sg, op, -EILSEQ, "sampler state %d", op->dst.value);
		return;
	}
	read_wide_lanes(sg, &op->src[0], &base);
	p = client(&t, (base.v[lane] + lane_value(sg, &op->src[1], 0, lane)) & ~7ULL, 8, VAGX_READ);
	if (p && sg->exec)
		memcpy(sg->core->preshader_of->samplers[op->dst.value], p, 8);
}
