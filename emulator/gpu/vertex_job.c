// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Vertex work as a job: vertices are shaded in batches, assembled to primitives, and these are
 * binned into the tiles that they touch. When the tiled vertex buffer runs out of pages, work
 * stops between two primitives, and can go on later; what has been shaded stays.
 *
 * The job's own thread does all of it but for shading, whose simdgroups any core may take.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/assemble.h"
#include "gpu/gpu_internal.h"
#include "gpu/pattern.h"
#include "gpu/render.h"
#include "gpu/scene.h"
#include "gpu/stage.h"
#include "gpu/trace.h"
#include "gpu/tvb.h"
#include "gpu/usc.h"
#include "gpu/vdm.h"
#include "report.h"

/* Vertices of a batch: shaded together before primitives are assembled of them */
#define BATCH		512
/* Vertices of the previous batch that primitives still need */
#define KEPT		3
#define SLOTS		(KEPT + BATCH)
#define HASH		2048
/* An element that restarts the primitive instead of naming a vertex */
#define RESTART		UINT32_MAX

/*
 * A batch of vertices. Each is shaded once, however many elements name it, as by hardware's
 * post-transform cache.
 */
struct vertex_batch {
	/* elements of the draw: slots, or RESTART; how many, and the next one to be assembled */
	uint32_t elements[BATCH];
	unsigned int length, next;
	/* vertex number of each slot */
	uint32_t id[SLOTS];
	unsigned int slots;
	/* hash table with linear probing, from vertex number to slot; 0 is empty */
	uint16_t hash[HASH];
	/* output words of each slot's vertex */
	uint32_t words[SLOTS][VAGX_MAX_UVS_WORDS + 1];
	/* address of each slot's vertex in the scene; 0 if it is not stored */
	uint64_t stored[SLOTS];
};

/* See gpu_internal.h */
struct vertex_job {
	struct vagx_job *job;
	const struct vagx_vertex_registers *registers;
	struct vdm vdm;
	struct tvb tvb;
	struct gpu_failure failure;

	/* the current draw, if there is one */
	bool in_draw;
	struct vagx_launch launch;
	/* unpacked from @unpacked, if there was a draw before */
	struct ppp_state state;
	struct ppp_words unpacked;
	bool has_state;
	unsigned int uvs_words;
	uint64_t draw_stored;
	uint32_t instance;
	uint32_t index;
	bool ended;
	struct assembler assembler;
	struct vertex_batch batch;

	/* the primitive that did not fit */
	bool pending;
	struct assembled primitive;
	/* primitives, or draws without shading, since the pages were empty */
	uint64_t stored;
};

static void vertex_job_free(struct vertex_job *v)
{
	gpu_failure_drop(&v->failure);
	free(v);
}

static int vertex_job_fault(struct vertex_job *v, const struct vagx_uat_fault *fault,
			    unsigned int unit)
{
	return gpu_failure_at(&v->failure, fault, unit);
}

/* Notes the fault if memory of the tiled vertex buffer cannot be reached. Return: @err. */
static int vertex_job_tvb_error(struct vertex_job *v, int err)
{
	return err == -EFAULT ? vertex_job_fault(v, &v->tvb.fault, VAGX_GPU_UNIT_TE) : err;
}

static bool vertex_job_stopped(struct vertex_job *v)
{
	return atomic_load_explicit(&v->job->stop, memory_order_relaxed);
}

/* Storing draws, vertices and primitives in the tiled vertex buffer */

static int vertex_job_store_draw(struct vertex_job *v)
{
	struct scene_draw *draw;
	int err;

	if (v->draw_stored)
		return 0;
	draw = tvb_alloc(&v->tvb, sizeof(*draw), &v->draw_stored, &err);
	if (!draw) {
		v->draw_stored = 0;
		return err;
	}
	draw->ppp = v->vdm.ppp;
	draw->uvs_words = v->uvs_words;
	draw->number = (uint32_t)v->job->draws;
	return 0;
}

static int vertex_job_store_vertex(struct vertex_job *v, unsigned int slot, uint64_t *va)
{
	uint64_t *stored = &v->batch.stored[slot];
	size_t bytes = v->uvs_words * sizeof(uint32_t);
	int err = 0;

	if (!*stored) {
		uint32_t *words = tvb_alloc(&v->tvb, bytes, stored, &err);

		if (!words) {
			*stored = 0;
			return err;
		}
		memcpy(words, v->batch.words[slot], bytes);
	}
	*va = *stored;
	return 0;
}

static uint32_t vertex_job_primitive_flags(const struct setup_input *in)
{
	return in->kind | (in->back ? SCENE_BACK : 0) |
	       (in->of_triangle ? SCENE_OF_TRIANGLE : 0) | in->rotation << SCENE_ROTATION_SHIFT |
	       in->viewport << SCENE_VIEWPORT_SHIFT;
}

/* Whether the region clip leaves a tile; its units are 32 pixels, and tiles are no larger */
static bool vertex_job_in_region(const struct agx_ppp_region_clip *r, uint32_t x, uint32_t y)
{
	return !r->enable || (x / 32 >= r->min_x && x / 32 < r->max_x &&
			      y / 32 >= r->min_y && y / 32 < r->max_y);
}

/* Appends a primitive to the lists of all tiles that it touches, or, after an error, to none */
static int vertex_job_refer_all(struct vertex_job *v, const struct setup *s, uint64_t va,
				uint32_t layer, const struct agx_ppp_region_clip *region)
{
	const struct vagx_render_geometry *g = &v->registers->geometry;
	int32_t w = g->utile_width, h = g->utile_height;
	int32_t left = s->min_x < 0 ? 0 : s->min_x / w, top = s->min_y < 0 ? 0 : s->min_y / h;
	struct tvb_tile tile = { .layer = layer };
	int err = 0;

	for (tile.y = top; tile.y < v->tvb.grid.tiles_y && (int32_t)tile.y * h <= s->max_y; tile.y++)
		for (tile.x = left;
		     !err && tile.x < v->tvb.grid.tiles_x && (int32_t)tile.x * w <= s->max_x;
		     tile.x++)
			if (vertex_job_in_region(region, tile.x * w, tile.y * h) &&
			    setup_touches(s, tile.x * w, tile.y * h, w, h))
				err = tvb_refer(&v->tvb, &tile, va);
	return err;
}

static int vertex_job_store_primitive(struct vertex_job *v, const struct setup *s,
				      const struct setup_input *in, const struct assembled *p,
				      uint32_t layer)
{
	struct scene_primitive primitive = { .id = p->id, .flags = vertex_job_primitive_flags(in) };
	struct scene_primitive *stored;
	unsigned int i;
	uint64_t va;
	int err;

	err = vertex_job_store_draw(v);
	for (i = 0; !err && i < p->count; i++)
		err = vertex_job_store_vertex(v, p->vertex[i], &primitive.vertex[i]);
	if (err)
		return err;
	primitive.draw = v->draw_stored;
	stored = tvb_alloc(&v->tvb, sizeof(primitive), &va, &err);
	if (!stored)
		return err;
	*stored = primitive;
	err = vertex_job_refer_all(v, s, va, layer, &v->state.region[in->viewport]);
	if (!err)
		v->stored++;
	else if (!tvb_kill(&v->tvb, va + offsetof(struct scene_primitive, flags), SCENE_DEAD))
		err = -EFAULT;
	return err;
}

/* Primitives */

/* Layer and viewport, as the provoking vertex has them */
static void vertex_job_select_target(struct vertex_job *v, const struct assembled *p,
				     struct setup_input *in, uint32_t *layer)
{
	const struct agx_ppp_output_select *select = &v->state.output_select;
	unsigned int flat = v->vdm.control.flat_vertex, last = p->count - 1;
	unsigned int provoking = flat < last ? flat : last;
	unsigned int n = setup_layer_word(&v->state);
	uint32_t word;

	*layer = 0;
	in->viewport = 0;
	if (!(select->layer || select->viewport) || n >= v->uvs_words)
		return;
	word = v->batch.words[p->vertex[provoking]][n];
	if (select->layer)
		*layer = word & 0xffff;
	if (select->viewport)
		in->viewport = (word >> 16) % PPP_VIEWPORTS;
	/* primitives of a layer that does not exist are drawn to the first one */
	if (*layer >= v->registers->geometry.layers)
		*layer = 0;
}

static bool vertex_job_is_culled(const struct ppp_state *state, bool back)
{
	return back ? state->cull.back : state->cull.front;
}

/*
 * Polygon mode: stores a triangle as the lines of its edges or the points of its vertices. The
 * order of its vertices stays, as the provoking one gives the flat values of all.
 */
static int vertex_job_store_outline(struct vertex_job *v, struct setup_input *in,
				    const struct assembled *p, uint32_t layer, bool lines)
{
	int err = 0;

	in->kind = lines ? SETUP_LINE : SETUP_POINT;
	in->of_triangle = true;
	for (in->rotation = 0; !err && in->rotation < 3; in->rotation++) {
		struct setup s;

		if (setup_primitive(&s, in))
			err = vertex_job_store_primitive(v, &s, in, p, layer);
	}
	return err;
}

static int vertex_job_draw_primitive(struct vertex_job *v, const struct assembled *p)
{
	static const enum setup_kind kinds[] = { SETUP_POINT, SETUP_LINE, SETUP_TRIANGLE };
	struct setup_input in = {
		.kind = kinds[p->count - 1],
		.words = v->uvs_words,
		.state = &v->state,
	};
	unsigned int i, mode;
	uint32_t layer;
	struct setup s;

	if (v->state.cull.discard || v->state.cull_2.discard)
		return 0;
	for (i = 0; i < p->count; i++)
		in.vertices[i] = v->batch.words[p->vertex[i]];
	vertex_job_select_target(v, p, &in, &layer);
	if (!setup_primitive(&s, &in))
		return 0;
	if (in.kind != SETUP_TRIANGLE)
		return vertex_job_store_primitive(v, &s, &in, p, layer);
	if (vertex_job_is_culled(&v->state, s.back))
		return 0;
	mode = s.back ? v->state.back_face.polygon_mode : v->state.front_face.polygon_mode;
	in.back = s.back;
	if (mode != AGX_POLYGON_MODE_FILL)
		return vertex_job_store_outline(v, &in, p, layer, mode == AGX_POLYGON_MODE_LINE);
	return vertex_job_store_primitive(v, &s, &in, p, layer);
}

/* Vertices of a batch */

/* Moves the vertices that the assembler still needs to the first slots of the next batch */
static void vertex_job_keep_vertices(struct vertex_job *v)
{
	struct assembler *a = &v->assembler;
	unsigned int *needed[KEPT] = { &a->first, &a->last[0], &a->last[1] };
	uint32_t words[KEPT][VAGX_MAX_UVS_WORDS + 1];
	uint64_t stored[KEPT];
	unsigned int i;

	for (i = 0; i < KEPT; i++) {
		memcpy(words[i], v->batch.words[*needed[i]], sizeof(words[i]));
		stored[i] = v->batch.stored[*needed[i]];
	}
	for (i = 0; i < KEPT; i++) {
		memcpy(v->batch.words[i], words[i], sizeof(words[i]));
		v->batch.stored[i] = stored[i];
		*needed[i] = i;
	}
}

static unsigned int vertex_job_find_slot(struct vertex_batch *r, uint32_t id)
{
	unsigned int i = id * 0x9e3779b1u % HASH;

	for (;; i = (i + 1) % HASH) {
		if (!r->hash[i]) {
			r->hash[i] = r->slots;
			r->id[r->slots] = id;
			r->stored[r->slots] = 0;
			return r->slots++;
		}
		if (r->id[r->hash[i]] == id)
			return r->hash[i];
	}
}

static uint32_t vertex_job_get_index(const uint8_t *p, unsigned int size)
{
	uint32_t index = 0;

	memcpy(&index, p, size);
	return index;
}

/* Reads indices; those beyond the end of the index buffer are 0 */
static int vertex_job_read_indices(struct vertex_job *v, uint32_t *elements, unsigned int count)
{
	const struct vdm_draw *d = &v->vdm.draw;
	uint64_t at = (uint64_t)v->index * d->index_size;
	uint64_t left = at < d->index_bytes ? d->index_bytes - at : 0;
	size_t bytes = (size_t)count * d->index_size;
	uint8_t indices[BATCH * 4] = { 0 };
	struct vagx_uat_fault fault;
	unsigned int i;

	if (bytes > left)
		bytes = left;
	if (bytes && vagx_tlb_read(v->vdm.tlb, d->index_address + at, indices, bytes, &fault))
		return vertex_job_fault(v, &fault, VAGX_GPU_UNIT_VDM);
	for (i = 0; i < count; i++)
		elements[i] = vertex_job_get_index(indices + i * d->index_size, d->index_size);
	return 0;
}

/* Whether an index is the restart index, of which only as many bits count as indices have */
static bool vertex_job_is_restart(const struct vertex_job *v, uint32_t index)
{
	const struct vdm_draw *d = &v->vdm.draw;
	uint32_t all = d->index_size == 4 ? UINT32_MAX : (1u << d->index_size * 8) - 1;

	return d->restart && index == (v->vdm.restart_index & all);
}

static int vertex_job_fill_elements(struct vertex_job *v)
{
	const struct vdm_draw *d = &v->vdm.draw;
	struct vertex_batch *r = &v->batch;
	uint32_t left = d->count - v->index;
	unsigned int i;
	int err = 0;

	r->length = left < BATCH ? left : BATCH;
	r->next = 0;
	r->slots = KEPT;
	memset(r->hash, 0, sizeof(r->hash));
	if (d->indexed)
		err = vertex_job_read_indices(v, r->elements, r->length);
	for (i = 0; !err && i < r->length; i++) {
		if (!d->indexed)
			r->elements[i] = vertex_job_find_slot(r, d->start + v->index + i);
		else if (vertex_job_is_restart(v, r->elements[i]))
			r->elements[i] = RESTART;
		else
			r->elements[i] = vertex_job_find_slot(r, d->start + r->elements[i]);
	}
	v->index += r->length;
	return err;
}

/*
 * Shades a simdgroup of the batch's vertices, on the thread of whichever core took it. It writes
 * nothing of the job but these vertices' words, and the first failure, which has a lock.
 */
static int vertex_job_shade(struct vagx_job *job, struct gpu_core *core, void *ctx, uint64_t part)
{
	struct vertex_job *v = ctx;
	unsigned int first = KEPT + part * VAGX_SIMD_WIDTH, left = v->batch.slots - first, i, n;
	uint32_t out[(VAGX_MAX_UVS_WORDS + 1) * VAGX_SIMD_WIDTH];
	struct vagx_vertices vertices = {
		.count = left < VAGX_SIMD_WIDTH ? left : VAGX_SIMD_WIDTH,
		.words = v->uvs_words,
		.out = out,
	};
	struct gpu_failure failure = { 0 };
	int err = -ECANCELED;

	vagx_pattern_fill(job->gpu->config.seed, VAGX_PATTERN_OUTPUTS, out,
			  v->uvs_words * VAGX_SIMD_WIDTH * sizeof(uint32_t));
	for (i = 0; i < vertices.count; i++) {
		vertices.id[i] = v->batch.id[first + i];
		vertices.instance[i] = v->instance;
	}
	if (!vertex_job_stopped(v))
		err = vagx_core_run_vertices(core->core, &v->launch, &vertices, &failure.fault);
	if (err) {
		err = gpu_stage_error(job, core, &v->launch, err, &failure);
		return gpu_failure_keep(job->gpu, &v->failure, &failure, part, err);
	}
	for (i = 0; i < vertices.count; i++)
		for (n = 0; n < v->uvs_words; n++)
			v->batch.words[first + i][n] = out[n * VAGX_SIMD_WIDTH + i];
	return 0;
}

static int vertex_job_next_batch(struct vertex_job *v)
{
	unsigned int fresh;
	int err;

	vertex_job_keep_vertices(v);
	err = vertex_job_fill_elements(v);
	if (err)
		return err;
	fresh = v->batch.slots - KEPT;
	gpu_run_parts(v->job, vertex_job_shade, v, (fresh + VAGX_SIMD_WIDTH - 1) / VAGX_SIMD_WIDTH,
		      "vertices");
	return v->failure.err;
}

/* Draws */

/* Assembles the next primitive of the batch */
static bool vertex_job_next_primitive(struct vertex_job *v)
{
	struct vertex_batch *r = &v->batch;
	bool made = false;

	while (!made && r->next < r->length) {
		uint32_t slot = r->elements[r->next++];

		made = slot == RESTART ? assemble_end(&v->assembler, &v->primitive) :
					 assemble_vertex(&v->assembler, slot, &v->primitive);
	}
	return made;
}

static void vertex_job_begin_instance(struct vertex_job *v)
{
	v->assembler = (struct assembler){
		.primitive = v->vdm.draw.primitive,
		.provoking = v->vdm.control.flat_vertex,
	};
	v->index = 0;
	v->ended = false;
	v->batch.length = v->batch.next = 0;
}

/* Does the next step of a draw: stores a primitive, shades a batch, or begins an instance */
static int vertex_job_draw_step(struct vertex_job *v)
{
	int err = 0;

	if (v->pending) {
		err = vertex_job_tvb_error(v, vertex_job_draw_primitive(v, &v->primitive));
		v->pending = err == -ENOSPC;
	} else if (vertex_job_next_primitive(v)) {
		v->pending = true;
	} else if (v->index < v->vdm.draw.count) {
		err = vertex_job_next_batch(v);
	} else if (!v->ended) {
		v->ended = true;
		v->pending = assemble_end(&v->assembler, &v->primitive);
	} else if (++v->instance < v->vdm.draw.instances) {
		vertex_job_begin_instance(v);
	} else {
		v->in_draw = false;
	}
	return err;
}

static int vertex_job_load_shader(struct vertex_job *v)
{
	struct vagx_job *job = v->job;
	const struct vagx_usc_source source = {
		.tlb = v->vdm.tlb,
		.report = v->vdm.report,
		.vm_slot = v->vdm.vm_slot,
		.base = v->registers->shaders.usc_base,
		.helper = v->registers->shaders.helper_program,
		.seed = job->gpu->config.seed,
	};

	memset(&v->launch, 0, sizeof(v->launch));
	v->launch.number = job->draws;
	v->launch.is_draw = true;
	v->launch.extended_samplers = vagx_usc_extends_samplers(&v->vdm.counts);
	v->launch.sampler_heap = v->registers->shaders.sampler_base;
	v->launch.sampler_count = v->registers->shaders.sampler_count;
	v->launch.preshader_regs = v->vdm.counts.preshader_registers;
	v->failure.unit = VAGX_GPU_UNIT_VDM;
	if (vagx_usc_load(&source, v->vdm.pipeline, &v->launch, &v->failure.fault))
		return -EFAULT;
	return gpu_stage_begin(job, job->core, &v->launch, &v->failure);
}

/* Stores a draw that is not shaded, and one dead primitive that keeps it in the scene */
static int vertex_job_store_unshaded(struct vertex_job *v)
{
	static const struct tvb_tile origin;
	struct scene_primitive *primitive;
	uint64_t va;
	int err;

	v->draw_stored = 0;
	err = vertex_job_store_draw(v);
	if (err)
		return err;
	primitive = tvb_alloc(&v->tvb, sizeof(*primitive), &va, &err);
	if (!primitive)
		return err;
	*primitive = (struct scene_primitive){ .draw = v->draw_stored, .flags = SCENE_DEAD };
	err = tvb_refer(&v->tvb, &origin, va);
	v->stored += !err;
	v->in_draw = err;
	return err;
}

/* Unpacks what is not as in the draw before: mostly nothing but the address of a shader */
static void vertex_job_unpack_state(struct vertex_job *v)
{
	if (v->has_state) {
		ppp_update(&v->state, &v->unpacked, &v->vdm.ppp);
		return;
	}
	ppp_unpack(&v->state, &v->vdm.ppp);
	v->unpacked = v->vdm.ppp;
	v->has_state = true;
}

static int vertex_job_begin_draw(struct vertex_job *v)
{
	const struct vdm_draw *d = &v->vdm.draw;

	if (!d->count || !d->instances)
		return 0;
	v->uvs_words = v->vdm.outputs;
	v->draw_stored = 0;
	v->pending = false;
	v->instance = 0;
	v->in_draw = true;
	vertex_job_unpack_state(v);
	vertex_job_begin_instance(v);
	if (v->job->gpu->config.no_exec)
		return 0;
	return vertex_job_load_shader(v);
}

/* Traces a draw; one that goes on after an overflow is traced as one more span */
static void vertex_job_trace_draw(struct vertex_job *v, uint64_t began)
{
	const struct vdm_draw *d = &v->vdm.draw;

	vagx_trace_span(v->job->gpu->config.trace, "draw", began, (struct vagx_trace_arg[]){
		{ "job", v->job->serial },
		{ "packet", d->va },
		{ "primitive", d->primitive },
		{ "vertices", d->count },
		{ "instances", d->instances },
	}, 5);
}

static int vertex_job_draw(struct vertex_job *v)
{
	uint64_t began = vagx_trace_now(v->job->gpu->config.trace);
	int err = 0;

	if (v->job->gpu->config.no_exec)
		return vertex_job_tvb_error(v, vertex_job_store_unshaded(v));
	while (!err && v->in_draw)
		err = vertex_job_stopped(v) ? -ECANCELED : vertex_job_draw_step(v);
	vertex_job_trace_draw(v, began);
	return err;
}

static int vertex_job_walk(struct vertex_job *v)
{
	int err = 0;

	while (!err) {
		if (v->in_draw) {
			err = vertex_job_draw(v);
			continue;
		}
		err = vdm_next(&v->vdm);
		if (err == -EFAULT)
			return vertex_job_fault(v, &v->vdm.fault, v->vdm.unit);
		if (err <= 0)
			return err;
		v->job->draws++;
		err = vertex_job_begin_draw(v);
	}
	return err;
}

/* Jobs */

static int vertex_job_begin(struct vagx_job *job, const struct vagx_tvb_pages *pages,
			    const struct vagx_vertex_registers *registers)
{
	struct vertex_job *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	job->vertex = v;
	job->free_vertex = vertex_job_free;
	v->job = job;
	v->registers = registers;
	v->vdm.tlb = &job->core->tlb;
	v->vdm.report = job->gpu->config.report;
	v->vdm.vm_slot = job->vm_slot;
	v->vdm.stop = &job->stop;
	vdm_init(&v->vdm, registers->vdm_base);
	tvb_init(&v->tvb, &job->core->tlb, &registers->geometry, &registers->tvb, pages,
		 &job->stop);
	return vertex_job_tvb_error(v, tvb_clear(&v->tvb, false));
}

/* Goes on after an overflow: what was stored was consumed, so draws and vertices are stored anew */
static void vertex_job_again(struct vertex_job *v, const struct vagx_vertex_registers *registers)
{
	v->registers = registers;
	v->tvb.page = 0;
	v->draw_stored = 0;
	memset(v->batch.stored, 0, sizeof(v->batch.stored));
}

static int vertex_job_run(struct vagx_job *job, const struct vagx_vertex_registers *registers,
			  const struct vagx_tvb_pages *pages, struct vagx_uat_fault *fault,
			  unsigned int *unit)
{
	enum vagx_rule clause = tvb_geometry_check(&registers->geometry);
	int err = 0;

	*unit = VAGX_GPU_UNIT_TE;
	*fault = (struct vagx_uat_fault){ .slot = job->vm_slot };
	if (clause != VAGX_KEPT)
		return gpu_bad_geometry(job, clause, &registers->geometry, fault);
	if (!job->vertex)
		err = vertex_job_begin(job, pages, registers);
	else
		vertex_job_again(job->vertex, registers);
	if (!err)
		err = vertex_job_walk(job->vertex);
	if (err == -EFAULT && job->vertex)
		gpu_failure_end(job, &job->vertex->failure, fault, unit);
	return err;
}

/*
 * All pages are taken. Return: VAGX_GPU_OVERFLOW if primitives were stored, so that a partial
 * render makes room; else VAGX_GPU_STARVED.
 */
static enum vagx_gpu_status vertex_job_overflow(struct vagx_job *job, struct vagx_uat_fault *fault,
						unsigned int *unit)
{
	struct vertex_job *v = job->vertex;
	int err;

	if (v->stored) {
		v->stored = 0;
		return VAGX_GPU_OVERFLOW;
	}
	err = tvb_clear(&v->tvb, true);
	*fault = v->tvb.fault;
	return err ? gpu_job_status(job, "vertex", err, fault, unit) : VAGX_GPU_STARVED;
}

enum vagx_gpu_status vagx_job_vertex(struct vagx_job *job,
				     const struct vagx_vertex_registers *registers,
				     const struct vagx_tvb_pages *pages,
				     struct vagx_uat_fault *fault, unsigned int *unit)
{
	enum vagx_gpu_status status;
	int err;

	gpu_job_begin(job);
	err = vertex_job_run(job, registers, pages, fault, unit);
	if (err == -ENOSPC)
		status = vertex_job_overflow(job, fault, unit);
	else
		status = gpu_job_status(job, "vertex", err, fault, unit);
	if (job->vertex)
		job->packets = job->vertex->vdm.packets;
	gpu_job_end(job, "vertex");
	return status;
}
