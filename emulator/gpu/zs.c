// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The depth and stencil test of samples in a tile, and the occlusion counters. Depth is the
 * primitive's plane equation at the sample, plus its bias, clamped to the viewport's range; with
 * 16-bit depth it is rounded to multiples of 1/65535 before it is compared. Blocks of 8 by 8
 * pixels without stencil are tested row by row, sample by sample (vectors of GCC's), with the same
 * results.
 *
 * Depth and stencil of a tile belong to the worker whose core draws it, so nothing is locked.
 * Occlusion counters are in the client's memory, and other cores and jobs count there at the
 * same time: they are updated by relaxed atomics.
 */
#include <math.h>
#include <string.h>

#include "gpu/fragment.h"

/* Rounds a depth from 0 to 1 to 16 bits */
static float zs_quantise(float z)
{
	return (float)nearbyint((double)z * 65535) / 65535.0f;
}

float zs_clamp(float depth, const struct agx_scissor *scissor)
{
	depth = depth > scissor->max_z ? scissor->max_z : depth;
	/* this order makes NaN the lower bound */
	return depth > scissor->min_z ? depth : scissor->min_z;
}

float zs_depth(const struct fragment_worker *w, const struct setup_plane *z, double bias,
	       const struct agx_scissor *scissor, unsigned int x, unsigned int y, unsigned int s)
{
	double px = w->tile.x + x + (w->tile.sample_positions >> s * 8 & 15) / 16.0;
	double py = w->tile.y + y + (w->tile.sample_positions >> (s * 8 + 4) & 15) / 16.0;

	return zs_clamp((float)(z->a * px + z->b * py + z->c + bias), scissor);
}

/* Whether a comparison passes: a function is the mask of results that do, less, equal, greater */
static bool zs_compare(unsigned int func, bool less, bool equal)
{
	_Static_assert(AGX_ZS_FUNC_LEQUAL == (AGX_ZS_FUNC_LESS | AGX_ZS_FUNC_EQUAL) &&
		       AGX_ZS_FUNC_NOT_EQUAL == (AGX_ZS_FUNC_LESS | AGX_ZS_FUNC_GREATER) &&
		       AGX_ZS_FUNC_GEQUAL == (AGX_ZS_FUNC_GREATER | AGX_ZS_FUNC_EQUAL) &&
		       AGX_ZS_FUNC_ALWAYS == (AGX_ZS_FUNC_LEQUAL | AGX_ZS_FUNC_GREATER) &&
		       AGX_ZS_FUNC_NEVER == 0, "functions are no sums");

	return func & (less ? AGX_ZS_FUNC_LESS : equal ? AGX_ZS_FUNC_EQUAL : AGX_ZS_FUNC_GREATER);
}

/* Applies a stencil operation to the old value */
static uint8_t zs_stencil_result(unsigned int op, uint8_t old, uint8_t reference)
{
	switch (op) {
	case AGX_STENCIL_OP_ZERO:
		return 0;
	case AGX_STENCIL_OP_REPLACE:
		return reference;
	case AGX_STENCIL_OP_INCR_SAT:
		return old == 0xff ? old : old + 1;
	case AGX_STENCIL_OP_DECR_SAT:
		return old ? old - 1 : old;
	case AGX_STENCIL_OP_INVERT:
		return ~old;
	case AGX_STENCIL_OP_INCR_WRAP:
		return old + 1;
	case AGX_STENCIL_OP_DECR_WRAP:
		return old - 1;
	default:
		return old;
	}
}

struct zs_face zs_unpack_face(const struct ppp_state *s, bool back)
{
	const struct agx_ppp_fragment_control *c = &s->fragment_control;
	const struct agx_ppp_fragment_control_2 *c2 = &s->fragment_control_2;
	bool back_stencil = back && (c->two_sided_stencil || c2->two_sided_stencil);
	struct zs_face f = {
		.reference = back_stencil ? s->back_face.stencil_reference :
					    s->front_face.stencil_reference,
		.stencil_test = c->stencil_test_enable || c2->stencil_test_enable,
	};

	if (back) {
		/* both packets have to let it pass */
		f.depth_func = s->back_face.depth_func & s->back_face_2.depth_func;
		f.depth_write = !s->back_face.depth_write_disable ||
				!s->back_face_2.depth_write_disable;
	} else {
		f.depth_func = s->front_face.depth_func & s->front_face_2.depth_func;
		f.depth_write = !s->front_face.depth_write_disable ||
				!s->front_face_2.depth_write_disable;
	}
#define STENCIL(from) do {						\
		f.write_mask = (from).write_mask;			\
		f.read_mask = (from).read_mask;				\
		f.stencil_compare = (from).compare;			\
		f.pass = (from).depth_pass;				\
		f.depth_fail = (from).depth_fail;			\
		f.stencil_fail = (from).stencil_fail;			\
	} while (0)
	if (back_stencil)
		STENCIL(s->back_stencil);
	else
		STENCIL(s->front_stencil);
#undef STENCIL
	return f;
}

/* Tests and updates the stencil value of sample @i of the tile. Return: whether it passed. */
static bool zs_test_stencil(struct fragment_worker *w, const struct zs_face *face, unsigned int i,
			    uint8_t reference, bool depth)
{
	uint8_t old = w->stencil[i], masked = reference & face->read_mask, now;
	uint8_t other = old & face->read_mask;
	bool stencil = zs_compare(face->stencil_compare, masked < other, masked == other);

	now = zs_stencil_result(!stencil ? face->stencil_fail :
				depth ? face->pass : face->depth_fail, old, reference);
	w->stencil[i] = (old & ~face->write_mask) | (now & face->write_mask);
	return stencil;
}

/* Tests sample @i of the tile and updates its depth and stencil. Return: whether it passed. */
static bool zs_test_sample(struct fragment_worker *w, const struct zs_face *face, unsigned int i,
			   float z, uint8_t reference)
{
	bool stencil = true, depth;
	float was = w->depth[i];

	z = w->job->quantise ? zs_quantise(z) : z;
	depth = zs_compare(face->depth_func, z < was, z == was);
	if (face->stencil_test)
		stencil = zs_test_stencil(w, face, i, reference, depth);
	if (stencil && depth && face->depth_write)
		w->depth[i] = z;
	return stencil && depth;
}

void zs_count(struct fragment_worker *w, const struct ppp_state *s, uint32_t passed)
{
	unsigned int mode = s->fragment_control.visibility | s->fragment_control_2.visibility;
	uint64_t va = w->job->registers->visibility_base + 8ULL * s->occlusion_query.index;
	uint64_t *count;

	if (!passed || mode == AGX_VISIBILITY_NONE)
		return;
	count = fragment_ptr(w, va & ~7ULL, sizeof(*count), VAGX_WRITE, VAGX_GPU_UNIT_ISP);
	if (!count)
		w->failed = true;
	else if (mode == AGX_VISIBILITY_COUNTING)
		__atomic_fetch_add(count, __builtin_popcount(passed), __ATOMIC_RELAXED);
	else
		__atomic_store_n(count, 1, __ATOMIC_RELAXED);
}

unsigned int zs_test(struct fragment_worker *w, const struct fragment_state *state, bool back,
		     unsigned int x, unsigned int y, unsigned int samples, const float *depth,
		     const uint8_t *stencil)
{
	const struct zs_face *face = &state->face[back];
	uint8_t reference = stencil ? *stencil : face->reference;
	unsigned int s, passed = 0;

	for (s = 0; s < w->tile.samples; s++) {
		if (samples >> s & 1 &&
		    zs_test_sample(w, face, fragment_sample(w, x, y, s), depth[s], reference))
			passed |= 1u << s;
	}
	zs_count(w, &state->ppp, passed);
	return passed;
}

/* Blocks without stencil: a sample of all pixels of a row at a time */

#define ZS_VECTOR	FRAGMENT_BLOCK

typedef double zs_doubles __attribute__((vector_size(8 * ZS_VECTOR)));
typedef float zs_floats __attribute__((vector_size(4 * ZS_VECTOR)));
typedef int32_t zs_ints __attribute__((vector_size(4 * ZS_VECTOR)));

struct depth_block {
	/* plane equation of the depth, and its bias */
	const struct setup_plane *z;
	double bias;
	/* position of the first pixel's sample in the window */
	double x, y;
	/* samples of a pixel, and depths in a row of the tile */
	unsigned int samples;
	size_t row;
	/* depth range of the viewport */
	float min, max;
	unsigned int func;
	bool write, quantise;
};

/* All ones in all elements, or 0. Macros: not all processors pass such vectors in registers. */
#define ZS_MASK(is)		((zs_ints){ 0 } - (int32_t)(bool)(is))
/* Elements of @a where @first is all ones, of @b where it is 0 */
#define ZS_SELECT(first, a, b)	((zs_floats)(((zs_ints)(a) & (first)) | ((zs_ints)(b) & ~(first))))

/* The depths of the pixels of a row, as zs_depth(), quantised with 16-bit depth */
INLINE void zs_interpolate(const struct depth_block *d, double x, double y, zs_floats *depth)
{
	const zs_doubles px = x + (zs_doubles){ 0, 1, 2, 3, 4, 5, 6, 7 };
	/* 0 is subtracted: if it were added, -0 would become 0 */
	const zs_floats none = { 0 }, min = d->min - none, max = d->max - none;
	zs_floats z = __builtin_convertvector(d->z->a * px + d->z->b * y + d->z->c + d->bias,
					      zs_floats);
	unsigned int i;

	z = ZS_SELECT(z > max, max, z);
	z = ZS_SELECT(z > min, z, min);
	for (i = 0; d->quantise && i < ZS_VECTOR; i++)
		z[i] = zs_quantise(z[i]);
	*depth = z;
}

/* Reads a sample of all pixels of a row; @depth is the first one */
INLINE void zs_read_row(const float *depth, unsigned int samples, zs_floats *was)
{
	unsigned int i;

	if (samples == 1) {
		memcpy(was, depth, sizeof(*was));
		return;
	}
	*was = (zs_floats){ 0 };
	for (i = 0; i < ZS_VECTOR; i++)
		(*was)[i] = depth[i * samples];
}

INLINE void zs_write_row(float *depth, unsigned int samples, const zs_floats *now)
{
	unsigned int i;

	if (samples == 1)
		memcpy(depth, now, sizeof(*now));
	for (i = 0; samples > 1 && i < ZS_VECTOR; i++)
		depth[i * samples] = (*now)[i];
}

/* Tests a row of depths, as zs_test_sample(). Return: the mask of those of @live that passed. */
INLINE uint32_t zs_test_vector(const struct depth_block *d, const zs_floats *row, float *depth,
			       unsigned int samples, uint32_t live)
{
	const zs_floats z = *row;
	const zs_ints bits = { 1, 2, 4, 8, 16, 32, 64, 128 };
	zs_ints less, equal, passed;
	uint32_t sum = 0;
	zs_floats was;
	unsigned int i;

	zs_read_row(depth, samples, &was);
	less = z < was;
	equal = z == was;
	passed = (less & ZS_MASK(d->func & AGX_ZS_FUNC_LESS)) |
		 (equal & ZS_MASK(d->func & AGX_ZS_FUNC_EQUAL)) |
		 (~(less | equal) & ZS_MASK(d->func & AGX_ZS_FUNC_GREATER));
	passed &= (bits & (int32_t)live) != 0;
	if (d->write) {
		was = ZS_SELECT(passed, z, was);
		zs_write_row(depth, samples, &was);
	}
	passed &= bits;
	for (i = 0; i < ZS_VECTOR; i++)
		sum |= (uint32_t)passed[i];
	return sum;
}

/* With a constant number of samples. What is parallel to the screen has one row of depths. */
INLINE uint64_t zs_test_rows(const struct depth_block *d, float *depth, unsigned int samples,
			     uint64_t live)
{
	const bool is_parallel = d->z->a == 0 && d->z->b == 0;
	uint64_t passed = 0;
	zs_floats z;
	unsigned int y;

	zs_interpolate(d, d->x, d->y, &z);
	for (y = 0; y < FRAGMENT_BLOCK; y++) {
		const unsigned int bit = y * FRAGMENT_BLOCK;
		const uint32_t part = live >> bit & 0xff;

		if (!part)
			continue;
		if (y && !is_parallel)
			zs_interpolate(d, d->x, d->y + y, &z);
		passed |= (uint64_t)zs_test_vector(d, &z, depth + y * d->row, samples, part) << bit;
	}
	return passed;
}

/* Tests a sample of a block; @depth is the first pixel's. Return: the pixels that passed. */
CLONES static uint64_t zs_test_depths(const struct depth_block *d, float *depth, uint64_t live)
{
	if (d->samples == 1)
		return zs_test_rows(d, depth, 1, live);
	return zs_test_rows(d, depth, d->samples, live);
}

/* Tests the samples of a pixel that @live has at the pixel's bit, and clears those that fail */
static void zs_test_pixel(struct fragment_worker *w, unsigned int x, unsigned int y,
			  unsigned int bit, uint64_t live[VAGX_MAX_SAMPLES])
{
	const struct fragment_primitive *p = &w->primitive;
	const struct zs_face *face = &p->draw->state->face[p->setup.back];
	unsigned int s;

	for (s = 0; s < w->tile.samples; s++) {
		float z;

		if (!(live[s] >> bit & 1))
			continue;
		z = zs_depth(w, &p->z, p->z_bias, p->scissor, x, y, s);
		if (!zs_test_sample(w, face, fragment_sample(w, x, y, s), z, face->reference))
			live[s] &= ~(1ULL << bit);
	}
}

void zs_test_block(struct fragment_worker *w, unsigned int x, unsigned int y,
		   uint64_t live[VAGX_MAX_SAMPLES])
{
	const struct fragment_primitive *p = &w->primitive;
	const struct zs_face *face = &p->draw->state->face[p->setup.back];
	struct depth_block d = {
		.z = &p->z,
		.bias = p->z_bias,
		.samples = w->tile.samples,
		.row = (size_t)w->tile.width * w->tile.samples,
		.min = p->scissor->min_z,
		.max = p->scissor->max_z,
		.func = face->depth_func,
		.write = face->depth_write,
		.quantise = w->job->quantise,
	};
	uint64_t any = 0;
	unsigned int s;

	/* all pass, and nothing is written: as where there is neither depth nor stencil */
	if (face->depth_func == AGX_ZS_FUNC_ALWAYS && !face->depth_write && !face->stencil_test)
		return;
	for (s = 0; s < w->tile.samples && !face->stencil_test; s++) {
		const uint64_t position = w->tile.sample_positions >> s * 8;

		d.x = w->tile.x + x + (position & 15) / 16.0;
		d.y = w->tile.y + y + (position >> 4 & 15) / 16.0;
		live[s] = zs_test_depths(&d, &w->depth[fragment_sample(w, x, y, s)], live[s]);
	}
	if (!face->stencil_test)
		return;
	for (s = 0; s < w->tile.samples; s++)
		any |= live[s];
	for (; any; any &= any - 1) {
		unsigned int bit = __builtin_ctzll(any);

		zs_test_pixel(w, x + bit % FRAGMENT_BLOCK, y + bit / FRAGMENT_BLOCK, bit, live);
	}
}
