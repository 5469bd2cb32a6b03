// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Fragment work as a job: tile after tile is filled, drawn and written out.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/fragment.h"
#include "gpu/usc.h"
#include "report.h"

#define DEPTH_BIAS_IS_INT	(1u << 18)
/* USC words begin at multiples of that; the bits below mean something else */
#define USC_ALIGN		64

int gpu_bad_geometry(struct vagx_job *job, const struct vagx_render_geometry *g,
		     struct vagx_uat_fault *fault)
{
	vagx_violation(job->gpu->config.report, VAGX_RULE_RENDER_GEOMETRY, 0, "render",
		       "%u x %u pixels, %u layers, %u samples, tiles of %u x %u", g->width,
		       g->height, g->layers, g->samples, g->utile_width, g->utile_height);
	*fault = (struct vagx_uat_fault){
		.slot = job->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};
	return -EFAULT;
}

int fragment_fault(struct fragment_job *f, const struct vagx_uat_fault *fault, unsigned int unit)
{
	f->fault = *fault;
	f->unit = unit;
	return -EFAULT;
}

void *fragment_ptr(struct fragment_job *f, uint64_t va, size_t bytes, enum vagx_access access,
		   unsigned int unit)
{
	struct vagx_uat_fault fault;
	void *p = vagx_tlb_ptr(&f->job->core->tlb, va, bytes, access, &fault);

	if (!p)
		fragment_fault(f, &fault, unit);
	return p;
}

static int scene_error(struct fragment_job *f, int err)
{
	return err == -EFAULT ? fragment_fault(f, &f->tvb.fault, VAGX_GPU_UNIT_ISP) : err;
}

/* Primitives */

/* Copies what is in the pages: somebody may be changing it */
static int load_vertices(struct fragment_job *f, const struct scene_primitive *stored)
{
	struct fragment_primitive *p = &f->primitive;
	size_t bytes = p->draw->uvs_words * sizeof(uint32_t);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		const void *words;

		if (!stored->vertex[i]) {
			memcpy(p->words[i], p->words[0], bytes);
			continue;
		}
		words = tvb_at(&f->tvb, stored->vertex[i], bytes);
		if (!words)
			return scene_error(f, -EFAULT);
		memcpy(p->words[i], words, bytes);
	}
	return 0;
}

/* The least difference of two depths near the furthest one of the primitive */
static double depth_step(const struct fragment_job *f)
{
	const struct setup *s = &f->primitive.setup;
	double most = 0;
	unsigned int i;
	int exponent;

	if (f->registers->isp_control & DEPTH_BIAS_IS_INT)
		return 1;
	for (i = 0; i < 3; i++)
		most = fmax(most, fabs(s->position[i][2] / s->position[i][3]));
	frexp(most, &exponent);
	return isfinite(most) ? ldexp(1, exponent - 24) : 0;
}

static double depth_bias(const struct fragment_job *f)
{
	const struct fragment_primitive *p = &f->primitive;
	const struct agx_depth_bias *b = &p->draw->bias;
	double bias = b->slope * fmax(fabs(p->z.a), fabs(p->z.b));

	bias += b->constant * depth_step(f);
	if (b->clamp > 0 && bias > b->clamp)
		return b->clamp;
	if (b->clamp < 0 && bias < b->clamp)
		return b->clamp;
	return isfinite(bias) ? bias : 0;
}

static int draw_primitive(struct fragment_job *f, const struct scene_primitive *stored)
{
	struct fragment_primitive *p = &f->primitive;
	unsigned int kind = stored->flags & SCENE_KIND, i;
	struct setup_input in = {
		.kind = kind <= SETUP_POINT ? kind : SETUP_TRIANGLE,
		.words = p->draw->uvs_words,
		.state = &p->draw->state,
		.viewport = stored->flags >> SCENE_VIEWPORT_SHIFT & SCENE_VIEWPORT_MASK,
		.back = stored->flags & SCENE_BACK,
		.of_triangle = stored->flags & SCENE_OF_TRIANGLE,
		.turn = stored->flags >> SCENE_TURN_SHIFT & SCENE_TURN_MASK,
	};
	double z[3];
	int err;

	err = load_vertices(f, stored);
	if (err)
		return err;
	for (i = 0; i < 3; i++)
		in.vertices[i] = p->words[i];
	if (!setup_primitive(&p->setup, &in))
		return 0;
	for (i = 0; i < 3; i++)
		z[i] = p->setup.position[i][2];
	p->z = setup_plane(&p->setup, z);
	p->z_bias = depth_bias(f);
	p->scissor = &p->draw->scissor[in.viewport];
	p->id = stored->id;
	p->serial++;
	return fragment_raster(f);
}

static int draw_reference(struct fragment_job *f, uint64_t va)
{
	const struct scene_primitive *p = tvb_at(&f->tvb, va, sizeof(*p));
	struct scene_primitive stored;
	int err;

	if (!p)
		return scene_error(f, -EFAULT);
	memcpy(&stored, p, sizeof(stored));
	if (stored.flags & SCENE_DEAD)
		return 0;
	err = fragment_find_draw(f, stored.draw, &f->primitive.draw);
	return err ? err : draw_primitive(f, &stored);
}

static int draw_list(struct fragment_job *f, struct tvb_list *list)
{
	uint64_t va;
	int err;

	while ((err = tvb_list_next(&f->tvb, list, &va)) > 0) {
		if (atomic_load_explicit(f->tvb.stop, memory_order_relaxed))
			return -ECANCELED;
		err = draw_reference(f, va);
		if (err)
			return err;
	}
	err = scene_error(f, err);
	return err ? err : fragment_flush(f);
}

/* Tiles */

static void background_lanes(const struct fragment_job *f, struct vagx_fragments *all,
			     unsigned int n)
{
	unsigned int quads_x = f->tile.width / 2, i;

	for (i = 0; i < VAGX_SIMD_WIDTH; i++) {
		unsigned int quad = n * FRAGMENT_QUADS + i / 4;

		all->x[i] = f->tile.x + quad % quads_x * 2 + i % 2;
		all->y[i] = f->tile.y + quad / quads_x * 2 + i / 2 % 2;
		all->input[i] = all->live[i] = (1u << f->tile.samples) - 1;
	}
}

static int run_background(struct fragment_job *f)
{
	struct vagx_fragments all = { .exists = UINT32_MAX, .tested = true };
	unsigned int groups = f->tile.width * f->tile.height / VAGX_SIMD_WIDTH, n;
	int err;

	memset(f->memory, 0, sizeof(f->memory));
	if (!f->background.code_va)
		return 0;
	for (n = 0; n < groups; n++) {
		background_lanes(f, &all, n);
		err = vagx_core_run_fragments(f->job->core->core, &f->background, &f->tile, &all,
					      &f->fault);
		if (err)
			return gpu_stage_error(f->job, &f->background, err, &f->fault, &f->unit);
	}
	return 0;
}

static int run_end_of_tile(struct fragment_job *f)
{
	int err;

	if (!f->end_of_tile.code_va)
		return 0;
	err = vagx_core_run_tile(f->job->core->core, &f->end_of_tile, &f->tile, &f->fault);
	return err ? gpu_stage_error(f->job, &f->end_of_tile, err, &f->fault, &f->unit) : 0;
}

static int draw_tile(struct fragment_job *f, struct tvb_list *list)
{
	int err = zs_load_tile(f);

	if (!err)
		err = run_background(f);
	if (!err)
		err = draw_list(f, list);
	if (!err)
		err = run_end_of_tile(f);
	return err ? err : zs_store_tile(f);
}

/* Without a shader lists are followed all the same */
static int skip_tile(struct fragment_job *f, struct tvb_list *list)
{
	uint64_t va;
	int err;

	while ((err = tvb_list_next(&f->tvb, list, &va)) > 0) {
		if (!tvb_at(&f->tvb, va, sizeof(struct scene_primitive)))
			return scene_error(f, -EFAULT);
	}
	return scene_error(f, err);
}

static int run_tile(struct fragment_job *f, const struct tvb_tile *tile, bool all)
{
	const struct vagx_render_geometry *g = &f->registers->geometry;
	struct tvb_list list;
	int err;

	if (atomic_load_explicit(f->tvb.stop, memory_order_relaxed))
		return -ECANCELED;
	err = scene_error(f, tvb_list_begin(&f->tvb, tile, &list));
	if (err)
		return err;
	if (f->job->gpu->config.no_exec)
		return skip_tile(f, &list);
	if (!list.next && !all)
		return 0;
	f->tile.x = tile->x * g->utile_width;
	f->tile.y = tile->y * g->utile_height;
	f->tile.layer = tile->layer;
	return draw_tile(f, &list);
}

/* Between partial renders all tiles are as they are, also those without a primitive */
static int run_tiles(struct fragment_job *f, bool all)
{
	const struct tvb_grid *grid = &f->tvb.grid;
	struct tvb_tile tile = { 0 };
	int err = 0;

	for (tile.layer = 0; !err && tile.layer < grid->layers; tile.layer++)
		for (tile.y = 0; !err && tile.y < grid->tiles_y; tile.y++)
			for (tile.x = 0; !err && tile.x < grid->tiles_x; tile.x++)
				err = run_tile(f, &tile, all);
	return err;
}

/* Programs */

static int load_program(struct fragment_job *f, const struct vagx_tile_program *program,
			struct vagx_launch *launch)
{
	const struct vagx_usc_source source = {
		.uat = f->job->gpu->config.uat,
		.report = f->job->gpu->config.report,
		.vm_slot = f->job->vm_slot,
		.base = f->registers->shaders.usc_base,
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
	f->unit = VAGX_GPU_UNIT_ISP;
	if (vagx_usc_load(&source, program->usc & ~(USC_ALIGN - 1u), launch, &f->fault))
		return -EFAULT;
	return gpu_stage_begin(f->job, f->job->core, launch, &f->fault, &f->unit);
}

static int load_programs(struct fragment_job *f, enum vagx_fragment_mode mode, uint32_t partials)
{
	const struct vagx_fragment_registers *r = f->registers;
	bool partial = mode == VAGX_FRAGMENT_PARTIAL;
	bool again = partials > partial;
	int err;

	if (f->job->gpu->config.no_exec)
		return 0;
	err = load_program(f, again ? &r->partial_background : &r->background, &f->background);
	if (!err)
		err = load_program(f, partial ? &r->partial_end_of_tile : &r->end_of_tile,
				   &f->end_of_tile);
	return err;
}

/* Jobs */

static int run_scene(struct fragment_job *f, enum vagx_fragment_mode mode)
{
	uint32_t partials;
	int err;

	err = scene_error(f, tvb_partials(&f->tvb, mode == VAGX_FRAGMENT_PARTIAL, &partials));
	if (!err)
		err = load_programs(f, mode, partials);
	if (err)
		return err;
	zs_init(f, mode, partials);
	return run_tiles(f, partials || f->registers->process_empty_tiles);
}

static void fragment_init(struct fragment_job *f, struct vagx_job *job,
			  const struct vagx_fragment_registers *registers,
			  const struct vagx_tvb_pages *pages)
{
	const struct vagx_render_geometry *g = &registers->geometry;

	f->job = job;
	f->registers = registers;
	tvb_init(&f->tvb, &job->core->tlb, g, &registers->tvb, pages, &job->stop);
	f->tile = (struct vagx_tile){
		.width = g->utile_width,
		.height = g->utile_height,
		.samples = g->samples,
		.sample_positions = registers->ppp_multisample,
		.memory = f->memory,
	};
}

static int fragment_run(struct fragment_job *f, enum vagx_fragment_mode mode)
{
	int err = run_scene(f, mode), released;

	released = tvb_release(&f->tvb);
	if (!err)
		err = scene_error(f, released);
	if (f->tvb.corrupt)
		vagx_violation(f->job->gpu->config.report, VAGX_RULE_TVB_CORRUPT, f->tvb.fault.va,
			       "tiled vertex buffer", "this is not what was written");
	fragment_drop_draws(f);
	return err;
}

enum vagx_gpu_status vagx_job_fragment(struct vagx_job *job,
				       const struct vagx_fragment_registers *registers,
				       const struct vagx_tvb_pages *pages,
				       enum vagx_fragment_mode mode,
				       struct vagx_uat_fault *fault, unsigned int *unit)
{
	struct fragment_job *f = calloc(1, sizeof(*f));
	int err;

	*fault = (struct vagx_uat_fault){ .slot = job->vm_slot };
	*unit = VAGX_GPU_UNIT_ISP;
	gpu_job_begin(job);
	if (!f) {
		err = -ENOMEM;
	} else if (!tvb_geometry_valid(&registers->geometry)) {
		err = gpu_bad_geometry(job, &registers->geometry, fault);
	} else {
		fragment_init(f, job, registers, pages);
		err = fragment_run(f, mode);
		*fault = f->fault;
		*unit = f->unit;
	}
	free(f);
	gpu_job_end(job, "fragment");
	return gpu_job_status(job, "fragment", err, fault, unit);
}
