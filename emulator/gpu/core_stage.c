// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Instructions of vertex and fragment shaders, besides those for tiles: outputs of vertices,
 * sample masks, depth and stencil, interpolation of coefficient registers, special registers.
 * Varyings are planes a * x + b * y + c, relative to a block of 32 by 32 pixels; perspective
 * correction divides by the plane of 1/W. All of these are without denormals, as other floats are,
 * and what is tiny before rounding becomes zero. Runs on the thread of the core, on the input and
 * output of its stage, without locks.
 */
#include <errno.h>
#include <math.h>

#include "core_float_lanes.h"
#include "core_internal.h"
#include "gpu/stage.h"

/* Registers that a vertex shader finds its vertex and instance numbers in */
#define REG_VERTEX	5
#define REG_INSTANCE	6

/* Coefficients are relative to the origin of a block of so many pixels in x and y */
#define BLOCK		32

/* Writes element @n of a vector to the active lanes */
INLINE void stage_set_lanes(struct simdgroup *sg, const struct agx_operand *o, unsigned int n,
			    const uint32_t *value)
{
	struct agx_operand one = *o;

	one.value += n * (o->size / 16);
	one.count = 1;
	write_lanes(sg, &one, value);
}

INLINE bool stage_all_the_same(const uint32_t *index)
{
	uint32_t different = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		different |= index[i] ^ index[0];
	return !different;
}

/* The pixel of each lane, and its centre */
CLONES static void stage_place_pixels(struct simdgroup *sg, const struct vagx_fragments *f)
{
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		sg->place[PLACE_PIXEL_X].v[i] = f->x[i];
		sg->place[PLACE_PIXEL_Y].v[i] = f->y[i];
		sg->place[PLACE_CENTER_X].v[i] = float_bits((float)(f->x[i] % BLOCK) + 0.5f);
		sg->place[PLACE_CENTER_Y].v[i] = float_bits((float)(f->y[i] % BLOCK) + 0.5f);
	}
}

/* Finds the coefficient registers of all quads */
static void stage_place_planes(struct simdgroup *sg, const struct vagx_fragments *f)
{
	const struct vagx_plane *some;
	bool is_same = true;
	unsigned int quad;

	sg->num_planes = f->exists ? f->num_planes : 0;
	if (!sg->num_planes)
		return;
	some = f->planes[(unsigned int)__builtin_ctz(f->exists) / 4];
	for (quad = 0; quad < LANES / 4; quad++) {
		bool exists = f->exists >> quad * 4 & 15;

		sg->planes[quad] = exists ? f->planes[quad] : some;
		is_same &= sg->planes[quad] == some;
	}
	sg->same_planes = is_same ? some : NULL;
}

void vagx_stage_place(struct simdgroup *sg)
{
	const struct vagx_fragments *f = sg->core->fragments;

	if (!f || sg->placed_fragments)
		return;
	stage_place_pixels(sg, f);
	stage_place_planes(sg, f);
	sg->placed_fragments = true;
}

void vagx_stage_enter(struct simdgroup *sg)
{
	struct vagx_core *core = sg->core;

	if (core->vertices) {
		memcpy(sg->reg[REG_VERTEX].v, core->vertices->id, sizeof(sg->reg[0]));
		memcpy(sg->reg[REG_INSTANCE].v, core->vertices->instance, sizeof(sg->reg[0]));
	}
	sg->placed_fragments = false;
}

/*
 * Mesa's shaders skip only the atomics of helper lanes, so hardware must drop their other stores,
 * to images too. A lane whose samples are all discarded is a helper from then on.
 */
uint32_t vagx_stage_storing(const struct simdgroup *sg)
{
	const struct vagx_fragments *f = sg->core->fragments;
	uint32_t left, storing = sg->exec;

	for (left = f ? sg->exec : 0; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		if (!f->live[lane])
			storing &= ~(1u << lane);
	}
	return storing;
}

/* Vertices */

INLINE void stage_store_word(const struct simdgroup *sg, uint32_t *out, const uint32_t *value)
{
	unsigned int i;

	for (i = 0; i < LANES; i++)
		out[i] = (value[i] & sg->mask.v[i]) | (out[i] & ~sg->mask.v[i]);
}

CLONES void vagx_exec_st_var(struct simdgroup *sg, const struct op *op)
{
	struct vagx_vertices *v = sg->core->vertices;
	struct lanes tmp_value, tmp_index;
	const uint32_t *value = read_lanes(sg, &op->src[0], &tmp_value);
	const uint32_t *index = read_lanes(sg, &op->src[1], &tmp_index);
	uint32_t left;

	if (!v) {
		vagx_core_fail(sg, op, -EILSEQ, "outside of a vertex shader");
		return;
	}
	if (index[0] < v->words && stage_all_the_same(index)) {
		stage_store_word(sg, v->out + index[0] * LANES, value);
		return;
	}
	for (left = sg->exec; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		if (index[lane] >= v->words) {
			vagx_core_fail(sg, op, -ERANGE, "word %u of a vertex that has %u",
				       index[lane], v->words);
			return;
		}
		v->out[index[lane] * LANES + lane] = value[lane];
	}
}

/* Fragments */

static struct vagx_fragments *stage_fragments(struct simdgroup *sg, const struct op *op)
{
	if (!sg->core->fragments)
		vagx_core_fail(sg, op, -EILSEQ, "outside of a fragment shader");
	return sg->core->fragments;
}

/* Tests the samples of a mask that are neither discarded nor tested yet */
static void stage_end_samples(struct simdgroup *sg, struct vagx_fragments *f, unsigned int lane,
			      unsigned int target, unsigned int keep, const float *depth,
			      const uint8_t *stencil)
{
	unsigned int hit = f->live[lane] & target, passed = hit & keep;

	if (passed && !f->tested && f->test)
		passed = f->test(f->ctx, lane, passed, depth, stencil);
	f->live[lane] = (f->live[lane] & ~target) | passed;
}

void vagx_exec_sample_mask(struct simdgroup *sg, const struct op *op)
{
	struct vagx_fragments *f = stage_fragments(sg, op);
	struct lanes tmp_target, tmp_live;
	const uint32_t *target = read_lanes(sg, &op->src[0], &tmp_target);
	const uint32_t *live = read_lanes(sg, &op->src[1], &tmp_live);
	uint32_t left;

	for (left = f ? sg->exec : 0; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		stage_end_samples(sg, f, lane, target[lane], live[lane], NULL, NULL);
	}
}

/* The source is a depth of 32 bits, a stencil value of 16, or both in this order */
void vagx_exec_zs_emit(struct simdgroup *sg, const struct op *op)
{
	struct vagx_fragments *f = stage_fragments(sg, op);
	const struct agx_operand *zs = &op->src[1];
	bool has_depth = zs->size == 32 || zs->count == 3;
	bool has_stencil = zs->size == 16;
	struct lanes tmp;
	const uint32_t *target = read_lanes(sg, &op->src[0], &tmp);
	unsigned int half = zs->value + (has_depth ? 2 : 0);
	uint32_t left;

	if (f && (zs->type != AGX_OPERAND_REG || (has_depth && zs->value % 2))) {
		vagx_core_fail(sg, op, -EILSEQ, "neither depth nor stencil");
		return;
	}
	for (left = f ? sg->exec : 0; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);
		float depth = bits_float(sg->reg[zs->value / 2].v[lane]);
		uint8_t stencil = sg->reg[half / 2 % REGISTERS].v[lane] >> half % 2 * 16;

		stage_end_samples(sg, f, lane, target[lane], ALL_LANES, has_depth ? &depth : NULL,
				  has_stencil ? &stencil : NULL);
	}
}

/* Positions to interpolate at, in pixels from the origin of the fragment's block */
struct position {
	float x[LANES];
	float y[LANES];
};

static float stage_sample_x(const struct vagx_tile *tile, unsigned int sample)
{
	return (tile->sample_positions >> sample * 8 & 15) / 16.0f;
}

static float stage_sample_y(const struct vagx_tile *tile, unsigned int sample)
{
	return (tile->sample_positions >> (sample * 8 + 4) & 15) / 16.0f;
}

/* Centroid: the sample to take, or -1 for the pixel's centre, if all samples or none are covered */
static int stage_centroid_sample(const struct vagx_tile *tile, unsigned int covered)
{
	if (tile->samples == 1 || !covered || covered == (1u << tile->samples) - 1)
		return -1;
	return __builtin_ctz(covered);
}

/* Finds the positions that an interpolation mode names: pixel centre, centroid or a sample */
static void stage_find_position(struct simdgroup *sg, const struct op *op,
				const struct agx_operand *at, struct position *position)
{
	const struct vagx_tile *tile = sg->core->tile;
	const struct vagx_fragments *f = sg->core->fragments;
	unsigned int kind = op->mod[AGX_MOD_INTERPOLATION], i;
	struct lanes tmp;
	const uint32_t *which = read_lanes(sg, at, &tmp);

	for (i = 0; kind == AGX_INTERPOLATION_CENTER && i < LANES; i++) {
		position->x[i] = f->x[i] % BLOCK + 0.5f;
		position->y[i] = f->y[i] % BLOCK + 0.5f;
	}
	for (i = 0; kind != AGX_INTERPOLATION_CENTER && i < LANES; i++) {
		int sample = -1;

		if (kind == AGX_INTERPOLATION_CENTROID)
			sample = stage_centroid_sample(tile, f->input[i]);
		else
			sample = which[i] % tile->samples;
		position->x[i] =
			f->x[i] % BLOCK + (sample < 0 ? 0.5f : stage_sample_x(tile, sample));
		position->y[i] =
			f->y[i] % BLOCK + (sample < 0 ? 0.5f : stage_sample_y(tile, sample));
	}
}

/* The number of the coefficient register; it is copied, as results may overwrite its operand */
static void stage_find_index(const struct simdgroup *sg, const struct agx_operand *cf,
			     struct lanes *index)
{
	struct lanes tmp;
	const uint32_t *number = read_lanes(sg, cf, &tmp);
	unsigned int i;

	for (i = 0; i < LANES; i++)
		index->v[i] = number[i];
}

/* The plane of a coefficient register, of each lane */
struct planes {
	struct lanes a, b, c;
};

/* A mask of the active lanes whose coefficient register does not exist */
static uint32_t stage_find_missing(const struct simdgroup *sg, const struct lanes *index,
				   unsigned int n)
{
	const unsigned int num_planes = sg->core->fragments->num_planes;
	uint32_t missing = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		uint32_t number = index->v[i] + n;

		missing |= number >= num_planes || number < n ? lane_bits.v[i] : 0;
	}
	return missing & sg->exec;
}

/* The planes of the first active quad, if all active quads have these; else NULL */
static const struct vagx_plane *stage_same_planes(const struct simdgroup *sg)
{
	const struct vagx_plane *const *planes = sg->core->fragments->planes;
	const struct vagx_plane *first = NULL;
	unsigned int quad;

	for (quad = 0; quad < LANES / 4; quad++) {
		if (!(sg->exec >> quad * 4 & 15))
			continue;
		if (first && planes[quad] != first)
			return NULL;
		first = planes[quad];
	}
	return first;
}

/*
 * Copies a plane to all lanes of its quad, which are of one primitive. Mostly all quads are. What
 * is copied quad by quad cannot be read as vectors before the processor has written it.
 */
static void stage_copy_planes(const struct simdgroup *sg, unsigned int number,
			      struct planes *planes)
{
	static const struct vagx_plane none;
	const struct vagx_fragments *f = sg->core->fragments;
	const struct vagx_plane *same = stage_same_planes(sg);
	unsigned int quad, i;

	if (same) {
		splat(&planes->a, same[number].a);
		splat(&planes->b, same[number].b);
		splat(&planes->c, same[number].c);
		return;
	}
	for (quad = 0; quad < LANES / 4; quad++) {
		bool active = sg->exec >> quad * 4 & 15;
		const struct vagx_plane *plane = active ? &f->planes[quad][number] : &none;

		for (i = quad * 4; i < quad * 4 + 4; i++) {
			planes->a.v[i] = plane->a;
			planes->b.v[i] = plane->b;
			planes->c.v[i] = plane->c;
		}
	}
}

/*
 * Finds planes where lanes name different coefficient registers. Return: false after a failure.
 *
 * Mesa interpolates an array of varyings by an index before it looks whether that is inside. Such a
 * computed number may be too large, and what it gives is not used: zeros here.
 */
static bool stage_find_different(struct simdgroup *sg, const struct op *op,
				 const struct lanes *index, unsigned int n, struct planes *planes)
{
	static const struct vagx_plane none;
	const struct vagx_fragments *f = sg->core->fragments;
	const uint32_t missing = stage_find_missing(sg, index, n);
	unsigned int i;

	if (missing && op->src[0].type != AGX_OPERAND_REG) {
		vagx_core_fail(sg, op, -ERANGE, "coefficient register %u of %u",
			       index->v[__builtin_ctz(missing)] + n, f->num_planes);
		return false;
	}
	for (i = 0; i < LANES; i++) {
		const struct vagx_plane *plane = &none;

		if ((sg->exec & ~missing) >> i & 1)
			plane = &f->planes[i / 4][index->v[i] + n];
		planes->a.v[i] = plane->a;
		planes->b.v[i] = plane->b;
		planes->c.v[i] = plane->c;
	}
	return true;
}

/*
 * Finds the planes of coefficient registers @index + @n; @cf is the operand that the index is
 * from. Return: false after a failure.
 */
static bool stage_find_planes(struct simdgroup *sg, const struct op *op,
			      const struct agx_operand *cf, const struct lanes *index,
			      unsigned int n, struct planes *planes)
{
	const bool is_same = cf->type != AGX_OPERAND_REG || stage_all_the_same(index->v);
	const uint32_t number = index->v[0] + n;

	if (!is_same || number < n || number >= sg->core->fragments->num_planes)
		return stage_find_different(sg, op, index, n, planes);
	stage_copy_planes(sg, number, planes);
	return true;
}

/* Evaluates planes at the positions of all lanes */
static void stage_evaluate(const struct planes *planes, const struct position *p,
			   struct float_lanes *value)
{
	unsigned int i;

	for (i = 0; i < LANES; i++)
		value->v[i] = multiply_add(float_from_register(32, planes->a.v[i]), p->x[i],
				multiply_add(float_from_register(32, planes->b.v[i]), p->y[i],
					     float_from_register(32, planes->c.v[i])));
}

/* Divides; what is tiny before rounding becomes zero. No such quotient rounds up in 64 bits. */
static float stage_divide(float value, float divisor)
{
	bool below = fabs((double)value / (double)divisor) < 0x1p-126;

	return below ? copysignf(0.0f, value / divisor) : value / divisor;
}

static void stage_set_floats(struct simdgroup *sg, const struct op *op, unsigned int n,
			     const struct float_lanes *value)
{
	unsigned int size = op->dst.size == 16 ? 16 : 32, i;
	struct lanes bits;

	for (i = 0; size == 16 && i < LANES; i++)
		bits.v[i] = register_from_float(16, value->v[i]);
	for (i = 0; size == 32 && i < LANES; i++)
		bits.v[i] = register_from_float(32, value->v[i]);
	stage_set_lanes(sg, &op->dst, n, bits.v);
}

/* Interpolates the components of a varying; @w names the register of 1/W, or is NULL */
static void stage_interpolate(struct simdgroup *sg, const struct op *op,
			      const struct agx_operand *w, const struct agx_operand *at)
{
	struct float_lanes value, divisor;
	struct position position;
	struct planes planes;
	struct lanes index;
	unsigned int n, i;

	if (!stage_fragments(sg, op))
		return;
	stage_find_position(sg, op, at, &position);
	if (w) {
		stage_find_index(sg, w, &index);
		if (!stage_find_planes(sg, op, w, &index, 0, &planes))
			return;
		stage_evaluate(&planes, &position, &divisor);
	}
	stage_find_index(sg, &op->src[0], &index);
	for (n = 0; n < op->dst.count; n++) {
		if (!stage_find_planes(sg, op, &op->src[0], &index, n, &planes))
			return;
		stage_evaluate(&planes, &position, &value);
		for (i = 0; w && i < LANES; i++)
			value.v[i] = stage_divide(value.v[i], divisor.v[i]);
		stage_set_floats(sg, op, n, &value);
	}
}

void vagx_exec_iter(struct simdgroup *sg, const struct op *op)
{
	stage_interpolate(sg, op, NULL, &op->src[1]);
}

void vagx_exec_iter_projected(struct simdgroup *sg, const struct op *op)
{
	stage_interpolate(sg, op, &op->src[1], &op->src[2]);
}

void vagx_exec_ldcf(struct simdgroup *sg, const struct op *op)
{
	struct planes planes;
	struct lanes index;
	unsigned int n, i;

	if (!stage_fragments(sg, op))
		return;
	stage_find_index(sg, &op->src[0], &index);
	if (!stage_find_planes(sg, op, &op->src[0], &index, 0, &planes))
		return;
	for (n = 0; n < 3; n++) {
		struct lanes *part = n == 0 ? &planes.a : n == 1 ? &planes.b : &planes.c;

		for (i = 0; op->dst.size == 16 && i < LANES; i++)
			part->v[i] = half_from_float(bits_float(part->v[i]));
		stage_set_lanes(sg, &op->dst, n, part->v);
	}
}

/* Special registers of tiles, which all fragments share. Return: false if it is none of these. */
static bool stage_tile_register(const struct vagx_tile *tile, unsigned int sr, uint32_t *value)
{
	switch (sr) {
	case AGX_SR_GROUP_Z:
		*value = tile->layer;
		return true;
	case AGX_SR_SAMPLES_LOG2:
		*value = __builtin_ctz(tile->samples);
		return true;
	case AGX_SR_TILE_WIDTH:
		*value = tile->width;
		return true;
	case AGX_SR_TILE_HEIGHT:
		*value = tile->height;
		return true;
	default:
		return false;
	}
}

/* Special registers at the end of a tile, where there are no fragments */
static bool stage_end_register(const struct vagx_tile *tile, unsigned int sr, struct lanes *value)
{
	switch (sr) {
	case AGX_SR_THREAD_IN_GRID_X:
		splat(value, tile->x);
		return true;
	case AGX_SR_THREAD_IN_GRID_Y:
		splat(value, tile->y);
		return true;
	case AGX_SR_COVERAGE_MASK:
	case AGX_SR_SAMPLE_MASK_IN:
	case AGX_SR_BACKFACING:
		splat(value, 0);
		return true;
	case AGX_SR_IS_ACTIVE:
		splat(value, 1);
		return true;
	default:
		return false;
	}
}

/* Special registers of fragments */
CLONES static bool stage_fragment_register(const struct vagx_fragments *f, unsigned int sr,
					   struct lanes *value)
{
	unsigned int i;

	switch (sr) {
	case AGX_SR_THREAD_IN_GRID_X:
		for (i = 0; i < LANES; i++)
			value->v[i] = f->x[i];
		return true;
	case AGX_SR_THREAD_IN_GRID_Y:
		for (i = 0; i < LANES; i++)
			value->v[i] = f->y[i];
		return true;
	case AGX_SR_COVERAGE_MASK:
		for (i = 0; i < LANES; i++)
			value->v[i] = f->live[i];
		return true;
	case AGX_SR_SAMPLE_MASK_IN:
		for (i = 0; i < LANES; i++)
			value->v[i] = f->input[i];
		return true;
	case AGX_SR_BACKFACING:
		for (i = 0; i < LANES; i++)
			value->v[i] = f->back_facing >> i & 1;
		return true;
	case AGX_SR_IS_ACTIVE:
		for (i = 0; i < LANES; i++)
			value->v[i] = f->live[i] != 0;
		return true;
	default:
		return false;
	}
}

/* Reads a special register of fragments. Return: false if it is none of these. */
bool vagx_stage_register(const struct simdgroup *sg, unsigned int sr, struct lanes *value)
{
	const struct vagx_tile *tile = sg->core->tile;
	uint32_t shared;

	if (!tile)
		return false;
	if (stage_tile_register(tile, sr, &shared)) {
		splat(value, shared);
		return true;
	}
	if (!sg->core->fragments)
		return stage_end_register(tile, sr, value);
	return stage_fragment_register(sg->core->fragments, sr, value);
}
