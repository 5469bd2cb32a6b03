// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Draws of fragment work: a state (fragment_state.c) with a shader, whose USC words are loaded
 * from the client's memory. Cores share draws through a hash table, with references; a draw is
 * found by its state and the address of its USC words. The first core that needs a draw loads
 * it and runs its preshader, without the job's lock, and others that need it wait, so that this
 * happens once. Afterwards a draw is read only. When there are many, those go that were not
 * used for longest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/fragment.h"
#include "gpu/usc.h"
#include "report.h"

/* Draws that are kept, besides those in use: less than 5 MiB */
#define MAX_DRAWS	1024

/* The address of the shader's USC words, from their base */
static uint32_t fragment_draw_pipeline(const struct fragment_draw *draw)
{
	uint32_t words[sizeof(draw->state->key.ppp.fragment_shader) / sizeof(uint32_t)];
	struct agx_ppp_fragment_shader fs;

	memcpy(words, draw->state->key.ppp.fragment_shader, sizeof(words));
	words[FRAGMENT_PIPELINE] = draw->pipeline;
	agx_packet_unpack(AGX_PACKET_ppp_fragment_shader, words, &fs, NULL);
	return fs.pipeline;
}

static int fragment_draw_load_shader(struct fragment_worker *w, struct fragment_draw *draw)
{
	const struct agx_ppp_fragment_shader *fs = &draw->state->ppp.fragment_shader;
	const struct vagx_usc_source source = {
		.tlb = &w->core->tlb,
		.report = w->job->base->gpu->config.report,
		.vm_slot = w->job->base->vm_slot,
		.base = w->job->registers->shaders.usc_base,
		.helper = w->job->registers->shaders.helper_program,
		.seed = w->job->base->gpu->config.seed,
	};

	draw->launch.extended_samplers = vagx_usc_extends_samplers(&fs->counts);
	draw->launch.sampler_heap = w->job->registers->shaders.sampler_base;
	draw->launch.sampler_count = w->job->registers->shaders.sampler_count;
	draw->launch.preshader_regs = fs->counts.preshader_registers;
	w->failure.unit = VAGX_GPU_UNIT_ISP;
	if (vagx_usc_load(&source, fragment_draw_pipeline(draw), &draw->launch, &w->failure.fault))
		return -EFAULT;
	return gpu_stage_begin(w->job->base, w->core, &draw->launch, &w->failure);
}

static int fragment_draw_load(struct fragment_worker *w, struct fragment_draw *draw)
{
	const struct gpu_failure *failure = &draw->state->entry.failure;

	if (failure->err) {
		gpu_failure_copy(&w->failure, failure);
		return failure->err;
	}
	return draw->state->shades ? fragment_draw_load_shader(w, draw) : 0;
}

/* The job's draws */

static uint64_t fragment_draw_hash(const struct fragment_state *state, uint32_t pipeline)
{
	return (state->entry.hash ^ pipeline) * 0x9e3779b97f4a7c15ULL >> 32;
}

static struct fragment_draw *fragment_draw_find(struct fragment_job *f,
						const struct fragment_state *state,
						uint32_t pipeline, uint64_t hash)
{
	struct fragment_entry *e = f->draws.draw[hash % FRAGMENT_DRAW_BUCKETS];

	while (e) {
		struct fragment_draw *draw = (struct fragment_draw *)e;

		if (draw->state == state && draw->pipeline == pipeline)
			return draw;
		e = e->next;
	}
	return NULL;
}

/* Takes a draw out of the list of those that were used */
static void fragment_draw_unlink(struct fragment_draws *all, struct fragment_draw *draw)
{
	*(draw->older ? &draw->older->newer : &all->oldest) = draw->newer;
	*(draw->newer ? &draw->newer->older : &all->newest) = draw->older;
}

/* Makes a draw the one that was used last */
static void fragment_draw_link(struct fragment_draws *all, struct fragment_draw *draw)
{
	draw->older = all->newest;
	draw->newer = NULL;
	*(all->newest ? &all->newest->newer : &all->oldest) = draw;
	all->newest = draw;
}

static void fragment_draw_drop(struct fragment_job *f, struct fragment_draw *draw)
{
	struct fragment_draws *all = &f->draws;

	fragment_draw_unlink(all, draw);
	fragment_entry_remove(&all->draw[draw->entry.hash % FRAGMENT_DRAW_BUCKETS], &draw->entry);
	fragment_put_state(f, draw->state);
	draw->older = all->spare;
	all->spare = draw;
	all->count--;
}

/* Drops the draws that were not used for longest, and are not in use, if there are too many */
static void fragment_draw_make_room(struct fragment_job *f)
{
	struct fragment_draw *draw = f->draws.oldest, *newer;

	for (; draw && f->draws.count >= MAX_DRAWS; draw = newer) {
		newer = draw->newer;
		if (!draw->entry.users)
			fragment_draw_drop(f, draw);
	}
}

/* Memory for a draw; that of one which was dropped is there already, and in the caches */
static struct fragment_draw *fragment_draw_alloc(struct fragment_draws *all)
{
	struct fragment_draw *draw = all->spare;

	if (!draw)
		return calloc(1, sizeof(*draw));
	all->spare = draw->older;
	memset(draw, 0, sizeof(*draw));
	return draw;
}

/* Adds a draw, with its failure if it has one; takes over the reference to @state */
static struct fragment_draw *fragment_draw_add(struct fragment_worker *w,
					       struct fragment_state *state, uint32_t pipeline,
					       uint64_t hash)
{
	struct fragment_job *f = w->job;
	struct fragment_draw *draw;

	fragment_draw_make_room(f);
	draw = fragment_draw_alloc(&f->draws);
	if (!draw) {
		fragment_put_state(f, state);
		return NULL;
	}
	draw->state = state;
	draw->pipeline = pipeline;
	fragment_entry_add(&f->draws.draw[hash % FRAGMENT_DRAW_BUCKETS], &draw->entry, hash);
	fragment_draw_link(&f->draws, draw);
	f->draws.count++;
	pthread_mutex_unlock(&f->lock);
	fragment_entry_loaded(w, &draw->entry, fragment_draw_load(w, draw));
	return draw;
}

/* Finds or adds the draw at an address, and takes a reference. With the lock held. */
static struct fragment_draw *fragment_draw_get(struct fragment_worker *w, uint64_t va,
					       struct scene_draw *stored)
{
	struct fragment_job *f = w->job;
	const struct fragment_draw *last = w->primitive.draw;
	uint32_t *word = &stored->ppp.fragment_shader[FRAGMENT_PIPELINE];
	const uint32_t pipeline = *word;
	struct fragment_state *state;
	struct fragment_draw *draw;
	uint64_t hash;

	*word = pipeline ? FRAGMENT_SOME_PIPELINE : 0;
	state = fragment_get_state(w, va, stored, last ? last->state : NULL);
	if (!state)
		return NULL;
	hash = fragment_draw_hash(state, pipeline);
	draw = fragment_draw_find(f, state, pipeline, hash);
	if (!draw)
		return fragment_draw_add(w, state, pipeline, hash);
	fragment_put_state(f, state);
	fragment_entry_use(f, &draw->entry);
	fragment_draw_unlink(&f->draws, draw);
	fragment_draw_link(&f->draws, draw);
	return draw;
}

/* Gives up a reference, if there is one */
static void fragment_draw_put(struct fragment_job *f, struct fragment_draw *draw)
{
	pthread_mutex_lock(&f->lock);
	if (draw)
		draw->entry.users--;
	pthread_mutex_unlock(&f->lock);
}

void fragment_put_draw(struct fragment_worker *w)
{
	fragment_draw_put(w->job, w->primitive.draw);
	w->primitive.draw = NULL;
}

/* Makes a draw the current one, with the reference to it. Return: 0, or why it cannot be drawn. */
static int fragment_draw_set(struct fragment_worker *w, struct fragment_draw *draw, uint64_t va)
{
	/* The fragments that wait belong to the draw before, and come first. */
	int err = draw == w->primitive.draw ? 0 : fragment_flush(w);

	if (!err && draw->entry.failure.err) {
		gpu_failure_copy(&w->failure, &draw->entry.failure);
		err = w->failure.err;
	}
	fragment_draw_put(w->job, err ? draw : w->primitive.draw);
	if (err)
		return err;
	w->primitive.draw = draw;
	w->primitive.draw_va = va;
	fragment_mark_reached(w, &draw->launch);
	return 0;
}

int fragment_use_draw(struct fragment_worker *w, uint64_t va)
{
	const struct scene_draw *in_scene;
	struct scene_draw stored;
	struct fragment_draw *draw;
	uint32_t number;
	int err;

	if (w->primitive.draw && w->primitive.draw_va == va)
		return 0;
	in_scene = tvb_at(&w->tvb, va, sizeof(stored));
	if (!in_scene)
		return fragment_fault(w, &w->tvb.fault, VAGX_GPU_UNIT_ISP);
	/* The guest may be changing it. */
	memcpy(&stored, in_scene, sizeof(stored));
	number = stored.number;
	/* Draws share what does not depend on their number. */
	stored.number = 0;
	pthread_mutex_lock(&w->job->lock);
	draw = fragment_draw_get(w, va, &stored);
	pthread_mutex_unlock(&w->job->lock);
	err = draw ? fragment_draw_set(w, draw, va) : -ENOMEM;
	if (!err)
		w->primitive.number = number;
	return err;
}

void fragment_drop_draws(struct fragment_job *f)
{
	struct fragment_draw *draw;

	while (f->draws.oldest)
		fragment_draw_drop(f, f->draws.oldest);
	while ((draw = f->draws.spare)) {
		f->draws.spare = draw->older;
		free(draw);
	}
}
