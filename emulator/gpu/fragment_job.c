// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Fragment work as a job. Each tile is a part of the job that any core may take: the
 * background program fills it, the tile's list of primitives is rasterised and shaded into it,
 * and the end-of-tile program writes it out. Tiles share what struct fragment_job says, and
 * nothing else.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/fragment.h"
#include "gpu/trace.h"
#include "gpu/usc.h"
#include "report.h"

#define DEPTH_BIAS_IS_INT	(1u << 18)
/* USC words begin at multiples of that; the bits below mean something else */
#define USC_ALIGN		64

#define CORRUPT			"this is not what was written"

static int fragment_job_scene_error(struct fragment_worker *w, int err)
{
	if (err != -EFAULT)
		return err;
	if (w->tvb.corrupt)
		gpu_failure_violates(&w->failure, VAGX_RULE_TVB_CORRUPT, w->tvb.fault.va,
				     "tiled vertex buffer", CORRUPT);
	return fragment_fault(w, &w->tvb.fault, VAGX_GPU_UNIT_ISP);
}

/* Primitives */

/*
 * Copies vertices out of the pages, which the guest may be changing. The last vertex of lines and
 * points is also their third, which Mesa names as the provoking one of all primitives.
 */
static int fragment_job_load_vertices(struct fragment_worker *w,
				      const struct scene_primitive *stored)
{
	struct fragment_primitive *p = &w->primitive;
	size_t bytes = p->draw->state->uvs_words * sizeof(uint32_t);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		const void *words;

		if (i && !stored->vertex[i]) {
			memcpy(p->words[i], p->words[i - 1], bytes);
			continue;
		}
		words = tvb_at(&w->tvb, stored->vertex[i], bytes);
		if (!words)
			return fragment_job_scene_error(w, -EFAULT);
		memcpy(p->words[i], words, bytes);
	}
	return 0;
}

/*
 * The unit of a constant depth bias: the minimum resolvable difference at the primitive's largest
 * depth, for 32-bit floats (Vulkan specification, "Depth Bias")
 */
static double fragment_job_depth_step(const struct fragment_worker *w)
{
	const struct setup *s = &w->primitive.setup;
	double most = 0;
	unsigned int i;
	int exponent;

	if (w->job->registers->isp_control & DEPTH_BIAS_IS_INT)
		return 1;
	for (i = 0; i < 3; i++)
		most = fmax(most, fabs(s->position[i][2] / s->position[i][3]));
	frexp(most, &exponent);
	return isfinite(most) ? ldexp(1, exponent - 24) : 0;
}

static double fragment_job_depth_bias(const struct fragment_worker *w)
{
	const struct fragment_primitive *p = &w->primitive;
	const struct agx_depth_bias *b = &p->draw->state->bias;
	double bias = b->slope * fmax(fabs(p->z.a), fabs(p->z.b));

	bias += b->constant * fragment_job_depth_step(w);
	if (b->clamp > 0 && bias > b->clamp)
		return b->clamp;
	if (b->clamp < 0 && bias < b->clamp)
		return b->clamp;
	return isfinite(bias) ? bias : 0;
}

static int fragment_job_draw_primitive(struct fragment_worker *w,
				       const struct scene_primitive *stored)
{
	struct fragment_primitive *p = &w->primitive;
	unsigned int kind = stored->flags & SCENE_KIND, i;
	struct setup_input in = {
		.kind = kind <= SETUP_POINT ? kind : SETUP_TRIANGLE,
		.words = p->draw->state->uvs_words,
		.state = &p->draw->state->ppp,
		.viewport = stored->flags >> SCENE_VIEWPORT_SHIFT & SCENE_VIEWPORT_MASK,
		.back = stored->flags & SCENE_BACK,
		.of_triangle = stored->flags & SCENE_OF_TRIANGLE,
		.rotation = stored->flags >> SCENE_ROTATION_SHIFT & SCENE_ROTATION_MASK,
	};
	double z[3];
	int err;

	err = fragment_job_load_vertices(w, stored);
	if (err)
		return err;
	for (i = 0; i < 3; i++)
		in.vertices[i] = p->words[i];
	if (!setup_primitive(&p->setup, &in))
		return 0;
	for (i = 0; i < 3; i++)
		z[i] = p->setup.position[i][2];
	p->solver = setup_solver(&p->setup);
	p->z = setup_plane(&p->solver, z);
	p->z_bias = fragment_job_depth_bias(w);
	p->scissor = &p->draw->state->scissor[in.viewport];
	p->id = stored->id;
	p->serial++;
	return fragment_raster(w);
}

static int fragment_job_draw_reference(struct fragment_worker *w, uint64_t va)
{
	const struct scene_primitive *p = tvb_at(&w->tvb, va, sizeof(*p));
	struct scene_primitive stored;
	int err;

	if (!p)
		return fragment_job_scene_error(w, -EFAULT);
	memcpy(&stored, p, sizeof(stored));
	if (stored.flags & SCENE_DEAD)
		return 0;
	err = fragment_use_draw(w, stored.draw);
	return err ? err : fragment_job_draw_primitive(w, &stored);
}

static int fragment_job_draw_list(struct fragment_worker *w, struct tvb_list *list)
{
	uint64_t va;
	int err;

	while ((err = tvb_list_next(&w->tvb, list, &va)) > 0) {
		if (atomic_load_explicit(w->tvb.stop, memory_order_relaxed))
			return -ECANCELED;
		err = fragment_job_draw_reference(w, va);
		if (err)
			return err;
	}
	err = fragment_job_scene_error(w, err);
	return err ? err : fragment_flush(w);
}

/* Tiles */

static int fragment_job_run_background(struct fragment_worker *w)
{
	int err;

	fragment_spoil_tile(w, 0);
	vagx_core_begin_tile(w->core->core);
	if (!w->job->background.code_va)
		return 0;
	err = vagx_core_run_background(w->core->core, &w->job->background, &w->tile,
				       &w->failure.fault);
	if (!err)
		return 0;
	return gpu_stage_error(w->job->base, w->core, &w->job->background, err, &w->failure);
}

static int fragment_job_run_end_of_tile(struct fragment_worker *w)
{
	int err;

	if (!w->job->end_of_tile.code_va)
		return 0;
	err = vagx_core_run_tile(w->core->core, &w->job->end_of_tile, &w->tile, &w->failure.fault);
	if (!err)
		return 0;
	return gpu_stage_error(w->job->base, w->core, &w->job->end_of_tile, err, &w->failure);
}

static void fragment_job_trace_tile(const struct fragment_worker *w, uint64_t began)
{
	vagx_trace_span(w->job->base->gpu->config.trace, "tile", began, (struct vagx_trace_arg[]){
		{ "job", w->job->base->serial },
		{ "x", w->tile.x },
		{ "y", w->tile.y },
		{ "layer", w->tile.layer },
	}, 4);
}

static int fragment_job_draw_tile(struct fragment_worker *w, struct tvb_list *list)
{
	uint64_t began = vagx_trace_now(w->job->base->gpu->config.trace);
	int err = zs_load_tile(w);

	if (!err)
		err = fragment_job_run_background(w);
	if (!err)
		err = fragment_job_draw_list(w, list);
	if (!err)
		err = fragment_job_run_end_of_tile(w);
	if (!err)
		err = zs_store_tile(w);
	fragment_job_trace_tile(w, began);
	return err;
}

/* Follows a tile's list without drawing it, as hardware reads it whether or not it shades */
static int fragment_job_skip_tile(struct fragment_worker *w, struct tvb_list *list)
{
	uint64_t va;
	int err;

	while ((err = tvb_list_next(&w->tvb, list, &va)) > 0) {
		if (!tvb_at(&w->tvb, va, sizeof(struct scene_primitive)))
			return fragment_job_scene_error(w, -EFAULT);
	}
	return fragment_job_scene_error(w, err);
}

static int fragment_job_run_tile(struct fragment_worker *w, const struct tvb_tile *tile)
{
	const struct vagx_render_geometry *g = &w->job->registers->geometry;
	struct tvb_list list;
	int err;

	if (atomic_load_explicit(w->tvb.stop, memory_order_relaxed))
		return -ECANCELED;
	err = fragment_job_scene_error(w, tvb_list_begin(&w->tvb, tile, &list));
	if (err)
		return err;
	if (w->job->base->gpu->config.no_exec)
		return fragment_job_skip_tile(w, &list);
	if (!list.next && !w->job->all)
		return 0;
	w->tile.x = tile->x * g->utile_width;
	w->tile.y = tile->y * g->utile_height;
	w->tile.layer = tile->layer;
	return fragment_job_draw_tile(w, &list);
}

static struct fragment_worker *fragment_job_new_worker(struct fragment_job *f,
						       struct gpu_core *core)
{
	const struct vagx_fragment_registers *r = f->registers;
	struct fragment_worker *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->job = f;
	w->core = core;
	w->tvb = f->tvb;
	w->tvb.tlb = &core->tlb;
	w->tile = (struct vagx_tile){
		.width = r->geometry.utile_width,
		.height = r->geometry.utile_height,
		.samples = r->geometry.samples,
		.sample_positions = r->ppp_multisample,
		.memory = w->memory,
	};
	fragment_mark_reached(w, &f->background);
	fragment_mark_reached(w, &f->end_of_tile);
	f->worker[core->index] = w;
	return w;
}

/* Runs one tile, on the thread of whichever core took it */
static int fragment_job_run_part(struct vagx_job *job, struct gpu_core *core, void *ctx,
				 uint64_t part)
{
	struct fragment_job *f = ctx;
	const struct tvb_grid *grid = &f->tvb.grid;
	struct fragment_worker *w = f->worker[core->index];
	const struct tvb_tile tile = {
		.x = part % grid->tiles_x,
		.y = part / grid->tiles_x % grid->tiles_y,
		.layer = part / grid->tiles_x / grid->tiles_y,
	};
	struct gpu_failure none = { 0 };
	int err;

	if (!w)
		w = fragment_job_new_worker(f, core);
	err = w ? fragment_job_run_tile(w, &tile) : -ENOMEM;
	if (!err)
		return 0;
	return gpu_failure_keep(job->gpu, &f->failure, w ? &w->failure : &none, part, err);
}

static void fragment_job_run_tiles(struct fragment_job *f)
{
	const struct tvb_grid *grid = &f->tvb.grid;
	unsigned int i;

	gpu_run_parts(f->base, fragment_job_run_part, f,
		      (uint64_t)grid->tiles_x * grid->tiles_y * grid->layers, "tiles");
	for (i = 0; i < VAGX_GPU_MAX_CORES; i++) {
		if (!f->worker[i])
			continue;
		fragment_put_draw(f->worker[i]);
		free(f->worker[i]);
		f->worker[i] = NULL;
	}
}

/* Programs */

static int fragment_job_load_program(struct fragment_job *f,
				     const struct vagx_tile_program *program,
				     struct vagx_launch *launch)
{
	const struct vagx_usc_source source = {
		.tlb = &f->base->core->tlb,
		.report = f->base->gpu->config.report,
		.vm_slot = f->base->vm_slot,
		.base = f->registers->shaders.usc_base,
		.helper = f->registers->shaders.helper_program,
		.seed = f->base->gpu->config.seed,
	};
	struct agx_shader_counts counts;
	uint32_t spec = program->spec & 0xffff;

	if (!(program->usc & ~(USC_ALIGN - 1u)))
		return 0;
	agx_packet_unpack(AGX_PACKET_shader_counts, &spec, &counts, NULL);
	launch->extended_samplers = vagx_usc_extends_samplers(&counts);
	launch->sampler_heap = f->registers->shaders.sampler_base;
	launch->sampler_count = f->registers->shaders.sampler_count;
	launch->preshader_regs = counts.preshader_registers;
	f->failure.unit = VAGX_GPU_UNIT_ISP;
	if (vagx_usc_load(&source, program->usc & ~(USC_ALIGN - 1u), launch, &f->failure.fault))
		return -EFAULT;
	return gpu_stage_begin(f->base, f->base->core, launch, &f->failure);
}

static int fragment_job_load_programs(struct fragment_job *f, enum vagx_fragment_mode mode,
				      uint32_t partials)
{
	const struct vagx_fragment_registers *r = f->registers;
	bool partial = mode == VAGX_FRAGMENT_PARTIAL;
	bool again = partials > partial;
	int err;

	if (f->base->gpu->config.no_exec)
		return 0;
	err = fragment_job_load_program(f, again ? &r->partial_background : &r->background,
					&f->background);
	if (!err)
		err = fragment_job_load_program(
			f, partial ? &r->partial_end_of_tile : &r->end_of_tile, &f->end_of_tile);
	return err;
}

/* Jobs */

static int fragment_job_scene_failed(struct fragment_job *f, int err)
{
	return err == -EFAULT ? gpu_failure_at(&f->failure, &f->tvb.fault, VAGX_GPU_UNIT_ISP) : err;
}

static int fragment_job_run_scene(struct fragment_job *f, enum vagx_fragment_mode mode)
{
	uint32_t partials;
	int err;

	err = fragment_job_scene_failed(
		f, tvb_partials(&f->tvb, mode == VAGX_FRAGMENT_PARTIAL, &partials));
	if (!err)
		err = fragment_job_load_programs(f, mode, partials);
	if (!err)
		err = zs_init(f, mode, partials);
	if (err)
		return err;
	/* between partial renders all tiles are as they are, also those without a primitive */
	f->all = partials || f->registers->process_empty_tiles;
	fragment_job_run_tiles(f);
	return f->failure.err;
}

static void fragment_job_init(struct fragment_job *f, struct vagx_job *job,
			      const struct vagx_fragment_registers *registers,
			      const struct vagx_tvb_pages *pages)
{
	f->base = job;
	f->registers = registers;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->is_loaded, NULL);
	tvb_init(&f->tvb, &job->core->tlb, &registers->geometry, &registers->tvb, pages,
		 &job->stop);
}

static int fragment_job_run(struct fragment_job *f, enum vagx_fragment_mode mode)
{
	int err = fragment_job_run_scene(f, mode), released;

	released = tvb_release(&f->tvb);
	if (f->tvb.corrupt && !f->failure.violates)
		gpu_failure_violates(&f->failure, VAGX_RULE_TVB_CORRUPT, f->tvb.fault.va,
				     "tiled vertex buffer", CORRUPT);
	if (!err)
		err = fragment_job_scene_failed(f, released);
	fragment_drop_draws(f);
	pthread_cond_destroy(&f->is_loaded);
	pthread_mutex_destroy(&f->lock);
	return err;
}

enum vagx_gpu_status vagx_job_fragment(struct vagx_job *job,
				       const struct vagx_fragment_registers *registers,
				       const struct vagx_tvb_pages *pages,
				       enum vagx_fragment_mode mode,
				       struct vagx_uat_fault *fault, unsigned int *unit)
{
	enum vagx_rule clause = tvb_geometry_check(&registers->geometry);
	struct fragment_job *f = calloc(1, sizeof(*f));
	int err;

	*fault = (struct vagx_uat_fault){ .slot = job->vm_slot };
	*unit = VAGX_GPU_UNIT_ISP;
	gpu_job_begin(job);
	if (!f) {
		err = -ENOMEM;
	} else if (clause != VAGX_KEPT) {
		err = gpu_bad_geometry(job, clause, &registers->geometry, fault);
	} else {
		fragment_job_init(f, job, registers, pages);
		err = fragment_job_run(f, mode);
		gpu_failure_end(job, &f->failure, fault, unit);
	}
	free(f);
	gpu_job_end(job, "fragment");
	return gpu_job_status(job, "fragment", err, fault, unit);
}
