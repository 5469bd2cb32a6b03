// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Fragment shading: covered blocks of a primitive are tested for depth and stencil where that
 * comes before the shader, split into quads (2 by 2 pixels, as derivatives need them), and
 * gathered into groups of 8 quads, which one simdgroup shades. A group has quads of several
 * primitives of one draw, in their order. A pixel is in a group only once: what its fragments do
 * to the tile then happens in the order of primitives.
 *
 * Each primitive gets coefficient registers: for each component of a varying a plane
 * a * x + b * y + c over the window, relative to the origin of a block of 32 by 32 pixels. A
 * perspective-correct varying is divided by the plane of 1/W in the shader (setup.c).
 *
 * Runs on the thread of the worker's core. All of it is the worker's, without locks; the draw
 * is shared and read only.
 */
#include <errno.h>
#include <string.h>

#include "agx_float.h"
#include "gpu/fragment.h"

/* Coefficients are relative to the origin of a block of so many pixels in x and y */
#define BLOCK	32

/* In the mask of a block of 8 by 8 pixels: the first pixels of quads */
#define QUADS	0x0055005500550055ULL

/* Half a block has as many quads as a group */
#define HALF_ROWS	(FRAGMENT_BLOCK / 2)
_Static_assert(FRAGMENT_BLOCK == VAGX_HALF_WIDTH && HALF_ROWS == VAGX_HALF_HEIGHT,
	       "half a block is no group");

/* Planes */

/* The three coefficients of a flat varying are its value at the provoking vertex */
static struct vagx_plane shade_flat_plane(uint32_t bits)
{
	return (struct vagx_plane){ bits, bits, bits };
}

/* Moves the origin of a plane from the window's to the block's */
static struct vagx_plane shade_block_plane(const struct fragment_worker *w, struct setup_plane p)
{
	double x = w->tile.x & ~(BLOCK - 1u), y = w->tile.y & ~(BLOCK - 1u);

	return (struct vagx_plane){
		.a = float_bits((float)p.a),
		.b = float_bits((float)p.b),
		.c = float_bits((float)(p.c + p.a * x + p.b * y)),
	};
}

static uint32_t shade_vertex_word(const struct fragment_primitive *p, unsigned int vertex,
				  unsigned int n)
{
	return n < p->draw->state->uvs_words ? p->words[vertex][n] : 0;
}

/*
 * The plane of a varying; @word counts the words of a vertex. A linear varying is multiplied by
 * W, as planes are those of values divided by W.
 */
static struct vagx_plane shade_varying_plane(const struct fragment_worker *w, unsigned int model,
					     unsigned int word)
{
	const struct fragment_primitive *p = &w->primitive;
	double value[3];
	unsigned int i;

	switch (model) {
	case AGX_SHADE_MODEL_FLAT_VERTEX_0:
		return shade_flat_plane(shade_vertex_word(p, 0, word));
	case AGX_SHADE_MODEL_FLAT_VERTEX_1:
		return shade_flat_plane(shade_vertex_word(p, 1, word));
	case AGX_SHADE_MODEL_FLAT_VERTEX_2:
		return shade_flat_plane(shade_vertex_word(p, 2, word));
	default:
		break;
	}
	for (i = 0; i < 3; i++) {
		value[i] = bits_float(shade_vertex_word(p, p->setup.source[i], word));
		if (model == AGX_SHADE_MODEL_LINEAR)
			value[i] *= p->setup.position[i][3];
	}
	return shade_block_plane(w, setup_plane(&p->solver, value));
}

/*
 * The point coordinate: from 0 to 1 across a point, with its origin at the top or the bottom. With
 * the perspective model it is divided by W, as varyings are, and shaders multiply it again.
 */
static struct vagx_plane shade_point_plane(const struct fragment_worker *w, unsigned int model,
					   unsigned int component)
{
	const struct fragment_primitive *p = &w->primitive;
	const struct setup *s = &p->setup;
	bool upward = p->draw->state->ppp.front_face_2.object_type == AGX_OBJECT_TYPE_POINT_UV10;
	double left = (double)s->x[0] / SETUP_SUBPIXEL, top = (double)s->y[0] / SETUP_SUBPIXEL;
	double scale = model == AGX_SHADE_MODEL_PERSPECTIVE ? 1 / s->position[0][3] : 1;
	double step = scale / s->point_size;

	if (component == 0)
		return shade_block_plane(w, (struct setup_plane){ step, 0, -left * step });
	if (component > 1)
		return shade_flat_plane(0);
	if (upward)
		return shade_block_plane(w, (struct setup_plane){ 0, -step, scale + top * step });
	return shade_block_plane(w, (struct setup_plane){ 0, step, -top * step });
}

/* The plane of one component of a binding of coefficient registers */
static struct vagx_plane shade_binding_plane(const struct fragment_worker *w,
					     const struct agx_cf_binding *b, unsigned int component)
{
	const struct fragment_primitive *p = &w->primitive;
	unsigned int has_z = p->draw->state->ppp.output_select.fragment_z;
	static const double one[3] = { 1, 1, 1 };

	switch (b->source) {
	case AGX_CF_SOURCE_FRAGMENT_Z:
		return shade_block_plane(w, p->z);
	case AGX_CF_SOURCE_POINT_COORD:
		return shade_point_plane(w, b->shade_model, component);
	case AGX_CF_SOURCE_PRIMITIVE_ID:
		return shade_flat_plane(p->id);
	default:
		break;
	}
	if (b->slot + component == 0)
		return shade_block_plane(w, setup_plane(&p->solver, one));
	if (has_z && b->slot + component == 1)
		return shade_block_plane(w, p->z);
	return shade_varying_plane(w, b->shade_model, 4 + b->slot + component - 1 - has_z);
}

static void shade_make_planes(const struct fragment_worker *w, struct vagx_plane *planes)
{
	const struct fragment_state *state = w->primitive.draw->state;
	unsigned int i, n;

	memset(planes, 0, state->num_planes * sizeof(*planes));
	for (i = 0; i < state->num_bindings; i++) {
		const struct agx_cf_binding *b = &state->bindings[i];

		for (n = 0; n < b->components; n++)
			planes[b->coefficient + n] = shade_binding_plane(w, b, n);
	}
}

/* Groups */

/* Tests depth and stencil of a lane's samples when the shader says so, with its own depth if any */
static unsigned int shade_late_test(void *ctx, unsigned int lane, unsigned int samples,
				    const float *depth, const uint8_t *stencil)
{
	struct fragment_worker *w = ctx;
	struct fragment_group *g = &w->group;
	unsigned int of = g->primitive[lane / 4], s;
	unsigned int x = g->fragments.x[lane] - w->tile.x, y = g->fragments.y[lane] - w->tile.y;
	float z[VAGX_MAX_SAMPLES];

	for (s = 0; s < w->tile.samples; s++)
		z[s] = depth ? zs_clamp(*depth, g->scissor[of]) :
			       zs_depth(w, &g->z[of], g->z_bias[of], g->scissor[of], x, y, s);
	return zs_test(w, g->draw->state, g->back[of], x, y, samples, z, stencil);
}

int fragment_flush(struct fragment_worker *w)
{
	struct fragment_group *g = &w->group;
	int err;

	if (!g->quads)
		return 0;
	g->fragments.num_planes = g->draw->state->num_planes;
	g->fragments.tested = g->draw->launch.early_test;
	g->fragments.test = shade_late_test;
	g->fragments.ctx = w;
	err = vagx_core_run_fragments(w->core->core, &g->draw->launch, &w->tile, &g->fragments,
				      &w->failure.fault);
	g->quads = 0;
	g->primitives = 0;
	g->fragments.exists = 0;
	g->fragments.is_half = false;
	g->fragments.back_facing = 0;
	memset(g->pixels, 0, sizeof(g->pixels));
	if (err)
		return gpu_stage_error(w->job->base, w->core, &g->draw->launch, err, &w->failure);
	return w->failed ? -EFAULT : 0;
}

/*
 * Makes the coefficient registers of the worker's primitive, number @n of the group's. A large
 * primitive is that of one group after the other.
 */
static void shade_find_planes(struct fragment_worker *w, unsigned int n)
{
	struct fragment_group *g = &w->group;

	if (!n && g->made == w->primitive.serial)
		return;
	shade_make_planes(w, g->planes[n]);
	if (!n)
		g->made = w->primitive.serial;
}

/* Makes the worker's primitive one of the group's, which is shaded first if it is full */
static int shade_add_primitive(struct fragment_worker *w)
{
	const struct fragment_primitive *p = &w->primitive;
	struct fragment_group *g = &w->group;
	unsigned int n;
	int err;

	if (g->quads && (g->draw != p->draw || g->primitives == FRAGMENT_QUADS)) {
		err = fragment_flush(w);
		if (err)
			return err;
	}
	n = g->primitives++;
	g->serial = p->serial;
	g->draw = p->draw;
	g->z[n] = p->z;
	g->z_bias[n] = p->z_bias;
	g->back[n] = p->setup.back;
	g->scissor[n] = p->scissor;
	shade_find_planes(w, n);
	return 0;
}

/* Whether the quad at a pixel of the tile is in the group already */
static bool shade_overlaps(const struct fragment_group *g, unsigned int x, unsigned int y)
{
	return (g->pixels[y] >> x & 1) != 0;
}

/* Spreads four bits to the lowest ones of four bytes, by a multiplication */
static uint32_t shade_spread(uint32_t bits)
{
	return bits * 0x00204081 & 0x01010101;
}

/* Collects the sample masks of a quad's pixels; @first is the first one's bit in the block */
static void shade_get_quad(const struct fragment_worker *w, const uint64_t *pixels,
			   unsigned int first, uint8_t samples[4])
{
	uint32_t all = 0;
	unsigned int s;

	for (s = 0; s < w->tile.samples; s++) {
		const uint64_t quad = pixels[s] >> first;

		all |= shade_spread((quad & 3) | (quad >> (FRAGMENT_BLOCK - 2) & 12)) << s;
	}
	memcpy(samples, &all, sizeof(all));
}

/* Writes a quad to the next four lanes of the group */
static void shade_put_quad(struct fragment_worker *w, unsigned int x, unsigned int y,
			   const uint8_t covered[4], const uint8_t live[4])
{
	struct fragment_group *g = &w->group;
	struct vagx_fragments *f = &g->fragments;
	const unsigned int first = g->quads * 4;
	unsigned int i;

	g->primitive[g->quads] = g->primitives - 1;
	f->draw[g->quads] = w->primitive.number;
	f->planes[g->quads] = g->planes[g->primitives - 1];
	g->pixels[y] |= 3u << x;
	g->pixels[y + 1] |= 3u << x;
	for (i = 0; i < 4; i++) {
		f->x[first + i] = (uint16_t)(w->tile.x + x + (i & 1));
		f->y[first + i] = (uint16_t)(w->tile.y + y + (i >> 1));
	}
	memcpy(&f->input[first], covered, 4);
	memcpy(&f->live[first], live, 4);
	f->exists |= 15u << first;
	f->back_facing |= (w->primitive.setup.back ? 15u : 0) << first;
	g->quads++;
}

/* Adds a quad to the group; @live are the samples that have not failed a test */
static int shade_add_quad(struct fragment_worker *w, unsigned int x, unsigned int y,
			  const uint8_t covered[4], const uint8_t live[4])
{
	const struct fragment_primitive *p = &w->primitive;
	struct fragment_group *g = &w->group;
	int err = 0;

	if (g->quads == FRAGMENT_QUADS)
		err = fragment_flush(w);
	if (!err && (!g->primitives || g->serial != p->serial))
		err = shade_add_primitive(w);
	if (!err)
		shade_put_quad(w, x, y, covered, live);
	return err;
}

/* The sample masks of half a block's lanes, from pixel @first of the block on */
static void shade_get_half(const struct fragment_worker *w, const uint64_t *pixels,
			   unsigned int first, uint8_t samples[VAGX_SIMD_WIDTH])
{
	uint64_t all = -1ULL;
	unsigned int s, i;

	for (s = 0; s < w->tile.samples; s++)
		all &= pixels[s];
	if (all == -1ULL) {
		memset(samples, (1 << w->tile.samples) - 1, VAGX_SIMD_WIDTH);
		return;
	}
	for (i = 0; i < VAGX_SIMD_WIDTH; i += 4)
		shade_get_quad(w, pixels,
			       first + vagx_half_y[i] * FRAGMENT_BLOCK + vagx_half_x[i],
			       &samples[i]);
}

/* Writes the quads of half a block at (x, y) in the tile to the group, which has none */
static void shade_put_half(struct fragment_worker *w, unsigned int x, unsigned int y)
{
	struct fragment_group *g = &w->group;
	struct vagx_fragments *f = &g->fragments;
	unsigned int i;

	vagx_stage_place_half(f, w->tile.x + x, w->tile.y + y);
	for (i = 0; i < FRAGMENT_QUADS; i++) {
		g->primitive[i] = g->primitives - 1;
		f->draw[i] = w->primitive.number;
		f->planes[i] = g->planes[g->primitives - 1];
	}
	/* A full group needs no mask of its pixels. */
	f->back_facing = w->primitive.setup.back ? UINT32_MAX : 0;
	g->quads = FRAGMENT_QUADS;
}

/*
 * Adds a block whose quads all have something to be shaded: each half of it is a group, which is
 * what adding quad by quad comes to where the group is empty or full.
 */
static int shade_add_whole(struct fragment_worker *w, unsigned int x, unsigned int y,
			   const uint64_t *covered, const uint64_t *live)
{
	struct fragment_group *g = &w->group;
	unsigned int row;
	int err = 0;

	for (row = 0; !err && row < FRAGMENT_BLOCK; row += HALF_ROWS) {
		const unsigned int first = row * FRAGMENT_BLOCK;

		err = fragment_flush(w);
		if (!err)
			err = shade_add_primitive(w);
		if (err)
			break;
		shade_get_half(w, covered, first, g->fragments.input);
		shade_get_half(w, live, first, g->fragments.live);
		shade_put_half(w, x, y + row);
	}
	return err;
}

/* Counts the samples of a tested quad for occlusion. Return: false if none has passed. */
static bool shade_count_quad(struct fragment_worker *w, const uint8_t live[4])
{
	uint32_t all;

	memcpy(&all, live, sizeof(all));
	zs_count(w, &w->primitive.draw->state->ppp, all);
	return all;
}

/* The quads of a block that have a sample, as a mask of their first pixels */
static uint64_t shade_find_quads(const struct fragment_worker *w, const uint64_t *pixels)
{
	uint64_t quads = 0;
	unsigned int s;

	for (s = 0; s < w->tile.samples; s++)
		quads |= pixels[s];
	quads |= quads >> 1;
	quads |= quads >> FRAGMENT_BLOCK;
	return quads & QUADS;
}

/* Whether samples that have passed are counted for occlusion */
static bool shade_counts(const struct ppp_state *ppp)
{
	return (ppp->fragment_control.visibility | ppp->fragment_control_2.visibility) !=
	       AGX_VISIBILITY_NONE;
}

int fragment_add_block(struct fragment_worker *w, unsigned int x, unsigned int y,
		       const uint64_t covered[VAGX_MAX_SAMPLES])
{
	const struct fragment_draw *draw = w->primitive.draw;
	/* early test: the shader changes neither depth nor coverage */
	const bool early = !draw->state->shades || draw->launch.early_test;
	struct fragment_group *g = &w->group;
	const bool counts = early && shade_counts(&draw->state->ppp);
	uint64_t live[VAGX_MAX_SAMPLES], quads;
	int err = 0;

	/* the group of another draw may wait for a late test, which comes before this one */
	if (g->quads && g->draw != draw)
		err = fragment_flush(w);
	if (err)
		return err;
	memcpy(live, covered, w->tile.samples * sizeof(*live));
	if (early)
		zs_test_block(w, x, y, live);
	/* Helpers are needed in quads that have something to be shaded. */
	quads = shade_find_quads(w, early && !counts ? live : covered);
	if (!draw->state->shades && !counts)
		return 0;
	if (quads == QUADS && !counts && g->quads % FRAGMENT_QUADS == 0)
		return shade_add_whole(w, x, y, covered, live);
	for (; !err && quads; quads &= quads - 1) {
		const unsigned int first = __builtin_ctzll(quads);
		const unsigned int qx = x + first % FRAGMENT_BLOCK, qy = y + first / FRAGMENT_BLOCK;
		uint8_t input[4], left[4];

		if (g->quads && shade_overlaps(g, qx, qy))
			err = fragment_flush(w);
		if (err)
			return err;
		shade_get_quad(w, covered, first, input);
		shade_get_quad(w, live, first, left);
		if (counts && !shade_count_quad(w, left))
			continue;
		if (w->failed)
			return -EFAULT;
		if (draw->state->shades)
			err = shade_add_quad(w, qx, qy, input, left);
	}
	return err;
}
