// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Fragments that are gathered to groups, of random blocks: they are all there, in the order of
 * primitives and of their quads, whether blocks are added as a whole or quad by quad. What comes
 * behind, shaders and tests, is not here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"
#include "gpu/fragment.h"

#define ROUNDS		300
#define BLOCKS		60
#define QUADS		16
#define DRAWS		3

/* A quad as a shader gets it, or is to get it */
struct quad {
	const struct vagx_launch *launch;
	uint32_t id;
	uint32_t x, y;
	uint8_t input[4], live[4];
	bool back;
};

static struct {
	struct chance chance;
	struct fragment_worker w;
	struct fragment_job job;
	struct fragment_state state[DRAWS];
	struct fragment_draw draw[DRAWS];
	struct quad want[BLOCKS * QUADS], got[BLOCKS * QUADS];
	unsigned int wanted, gotten;
	unsigned int want_count, got_count;
	/* what the test of depth and stencil leaves */
	uint64_t passes[VAGX_MAX_SAMPLES];
} t;

/* What is behind */

void zs_test_block(struct fragment_worker *w, unsigned int x, unsigned int y,
		   uint64_t live[VAGX_MAX_SAMPLES])
{
	unsigned int s;

	for (s = 0; s < w->tile.samples; s++)
		live[s] &= t.passes[s];
}

void zs_count(struct fragment_worker *w, const struct ppp_state *state, uint32_t passed)
{
	t.got_count += __builtin_popcount(passed);
}

unsigned int zs_test(struct fragment_worker *w, const struct fragment_state *state, bool back,
		     unsigned int x, unsigned int y, unsigned int samples, const float *depth,
		     const uint8_t *stencil)
{
	return samples;
}

float zs_clamp(float depth, const struct agx_scissor *scissor)
{
	return depth;
}

float zs_depth(const struct fragment_worker *w, const struct setup_plane *z, double bias,
	       const struct agx_scissor *scissor, unsigned int x, unsigned int y, unsigned int s)
{
	return 0;
}

int gpu_stage_error(struct vagx_job *job, struct gpu_core *core, const struct vagx_launch *launch,
		    int err, struct gpu_failure *failure)
{
	return err;
}

static void get_quad(const struct vagx_launch *launch, const struct vagx_fragments *f,
		     unsigned int n)
{
	struct quad *q = &t.got[t.gotten++];
	unsigned int i;

	*q = (struct quad){
		.launch = launch, .id = f->planes[n][0].a, .x = f->x[4 * n], .y = f->y[4 * n],
		.back = f->back_facing >> 4 * n & 1,
	};
	memcpy(q->input, &f->input[4 * n], 4);
	memcpy(q->live, &f->live[4 * n], 4);
	assert_int_equal(f->exists >> 4 * n & 15, 15);
	for (i = 0; i < 4; i++) {
		assert_int_equal(f->x[4 * n + i], q->x + (i & 1));
		assert_int_equal(f->y[4 * n + i], q->y + (i >> 1));
		assert_int_equal(f->back_facing >> (4 * n + i) & 1, q->back);
	}
}

/* No pixel is there twice */
int vagx_core_run_fragments(struct vagx_core *core, const struct vagx_launch *launch,
			    struct vagx_tile *tile, struct vagx_fragments *f,
			    struct vagx_uat_fault *fault)
{
	unsigned int n, i, count = __builtin_popcount(f->exists) / 4;

	assert_true(count && count <= FRAGMENT_QUADS);
	for (n = 0; n < count; n++) {
		for (i = 0; i < n; i++)
			assert_true(f->x[4 * n] != f->x[4 * i] || f->y[4 * n] != f->y[4 * i]);
		get_quad(launch, f, n);
	}
	return 0;
}

/* What comes before */

static uint64_t any_mask(void)
{
	const uint64_t some = (uint64_t)chance_bits(&t.chance) << 32 | chance_bits(&t.chance);

	switch (chance_pick(&t.chance, 6)) {
	case 0:
		return some;
	case 1:
		return some & (uint64_t)chance_bits(&t.chance) << 16;
	case 2:
		return some | 0x0055005500550055ULL << chance_pick(&t.chance, 2);
	default:
		return -1ULL;
	}
}

static void choose_draws(void)
{
	unsigned int i;

	for (i = 0; i < DRAWS; i++) {
		struct fragment_state *state = &t.state[i];
		const bool counts = !chance_pick(&t.chance, 4);

		*state = (struct fragment_state){
			.shades = chance_pick(&t.chance, 8), .num_planes = 1, .num_bindings = 1,
			.bindings = { { .source = AGX_CF_SOURCE_PRIMITIVE_ID, .components = 1 } },
		};
		state->ppp.fragment_control.visibility = counts ? AGX_VISIBILITY_COUNTING :
								  AGX_VISIBILITY_NONE;
		state->ppp.fragment_control_2.visibility = AGX_VISIBILITY_NONE;
		t.draw[i].state = state;
		t.draw[i].launch.early_test = chance_pick(&t.chance, 3);
	}
}

/* The primitive before, another one, or one of another draw */
static void choose_primitive(void)
{
	struct fragment_primitive *p = &t.w.primitive;

	if (p->draw && chance_pick(&t.chance, 3))
		return;
	if (!p->draw || !chance_pick(&t.chance, 3))
		p->draw = &t.draw[chance_pick(&t.chance, DRAWS)];
	p->serial++;
	p->id = chance_bits(&t.chance);
	p->setup.back = chance_pick(&t.chance, 2);
}

static unsigned int get_samples(const uint64_t *pixels, unsigned int x, unsigned int y)
{
	unsigned int s, samples = 0;

	for (s = 0; s < t.w.tile.samples; s++)
		samples |= (pixels[s] >> (y * FRAGMENT_BLOCK + x) & 1) << s;
	return samples;
}

/* Quad by quad: those with something to be shaded, or, before a late test, with something covered */
static void expect_block(unsigned int x, unsigned int y, const uint64_t *covered)
{
	const struct fragment_primitive *p = &t.w.primitive;
	const struct fragment_state *state = p->draw->state;
	const bool early = !state->shades || p->draw->launch.early_test;
	uint64_t live[VAGX_MAX_SAMPLES] = { 0 };
	unsigned int n, i, s;

	for (s = 0; s < VAGX_MAX_SAMPLES; s++)
		live[s] = early ? covered[s] & t.passes[s] : covered[s];
	for (n = 0; n < QUADS; n++) {
		const unsigned int qx = n % 4 * 2, qy = n / 4 * 2;
		unsigned int any = 0;
		struct quad q = {
			.launch = &p->draw->launch, .id = p->id, .back = p->setup.back,
			.x = t.w.tile.x + x + qx, .y = t.w.tile.y + y + qy,
		};

		for (i = 0; i < 4; i++) {
			q.input[i] = get_samples(covered, qx + i % 2, qy + i / 2);
			q.live[i] = get_samples(live, qx + i % 2, qy + i / 2);
			any |= q.live[i];
			if (early && state->ppp.fragment_control.visibility != AGX_VISIBILITY_NONE)
				t.want_count += __builtin_popcount(q.live[i]);
		}
		if (any && state->shades)
			t.want[t.wanted++] = q;
	}
}

static void add_block(void)
{
	const unsigned int x = 8 * chance_pick(&t.chance, t.w.tile.width / 8);
	const unsigned int y = 8 * chance_pick(&t.chance, t.w.tile.height / 8);
	uint64_t covered[VAGX_MAX_SAMPLES] = { 0 }, any = 0;
	const bool is_full = !chance_pick(&t.chance, 3);
	unsigned int s;

	choose_primitive();
	for (s = 0; s < t.w.tile.samples; s++) {
		any |= covered[s] = is_full ? -1ULL : any_mask();
		t.passes[s] = is_full && chance_pick(&t.chance, 2) ? -1ULL : any_mask();
	}
	if (!any)
		return;
	expect_block(x, y, covered);
	assert_int_equal(fragment_add_block(&t.w, x, y, covered), 0);
}

static void expect_same(const struct quad *a, const struct quad *b)
{
	assert_ptr_equal(a->launch, b->launch);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->x, b->x);
	assert_int_equal(a->y, b->y);
	assert_int_equal(a->back, b->back);
	assert_memory_equal(a->input, b->input, sizeof(a->input));
	assert_memory_equal(a->live, b->live, sizeof(a->live));
}

static void run_round(void)
{
	const unsigned int samples = 1u << chance_pick(&t.chance, 3);
	unsigned int i;

	t.wanted = t.gotten = t.want_count = t.got_count = 0;
	choose_draws();
	t.w.job = &t.job;
	t.w.core = calloc(1, sizeof(*t.w.core));
	t.w.primitive.draw = NULL;
	t.w.tile = (struct vagx_tile){
		.x = 32 * chance_pick(&t.chance, 9), .y = 32 * chance_pick(&t.chance, 9),
		.width = 16 << chance_pick(&t.chance, 2), .height = 16 << chance_pick(&t.chance, 2),
		.samples = samples,
	};
	for (i = 0; i < BLOCKS; i++)
		add_block();
	assert_int_equal(fragment_flush(&t.w), 0);
	free(t.w.core);
	assert_int_equal(t.gotten, t.wanted);
	assert_int_equal(t.got_count, t.want_count);
	for (i = 0; i < t.wanted; i++)
		expect_same(&t.got[i], &t.want[i]);
}

static void random_blocks(void **state)
{
	unsigned int i;

	t.chance = chance_begin(11);
	for (i = 0; i < ROUNDS; i++)
		run_round();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_blocks),
	};

	return cmocka_run_group_tests_name("shade", tests, NULL, NULL);
}
