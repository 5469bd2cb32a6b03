// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Draws of fragment work: unpacks the state that vertex work has stored in the scene, and loads
 * what it leads to in the client's memory: scissors, depth bias, shader words, bindings. Cores
 * share unpacked draws through a hash table, with references. The first core that needs a draw
 * unpacks it and runs its preshader, with the job's lock held, so that this happens once.
 * Afterwards a draw is read only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/fragment.h"
#include "gpu/usc.h"
#include "report.h"

/* Draws that are kept, besides those in use */
#define MAX_DRAWS	4096

static struct fragment_draw **fragment_draw_bucket(struct fragment_job *f, uint64_t va)
{
	return &f->draws[va / TVB_ALIGN * 0x9e3779b97f4a7c15ULL >> 32 & (FRAGMENT_BUCKETS - 1)];
}

void fragment_drop_draws(struct fragment_job *f)
{
	unsigned int i;

	for (i = 0; i < FRAGMENT_BUCKETS; i++) {
		struct fragment_draw **p = &f->draws[i];

		while (*p) {
			struct fragment_draw *draw = *p;

			if (draw->users) {
				p = &draw->next;
				continue;
			}
			*p = draw->next;
			gpu_failure_drop(&draw->failure);
			free(draw);
			f->num_draws--;
		}
	}
}

static int fragment_draw_read_client(struct fragment_worker *w, uint64_t va, void *buf, size_t len,
				     unsigned int unit)
{
	struct vagx_job *job = w->job->base;
	struct vagx_uat_fault fault;

	if (vagx_uat_read(job->gpu->config.uat, job->vm_slot, va, buf, len, VAGX_AGENT_GPU, &fault))
		return fragment_fault(w, &fault, unit);
	return 0;
}

static int fragment_draw_unsupported(struct fragment_worker *w, uint64_t va, const char *packet,
				     const char *what)
{
	const struct vagx_uat_fault fault = {
		.va = va,
		.slot = w->job->base->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};

	gpu_failure_violates(&w->failure, VAGX_RULE_CF_UNSUPPORTED, va, packet, "%s", what);
	return fragment_fault(w, &fault, VAGX_GPU_UNIT_ISP);
}

static int fragment_draw_load_bindings(struct fragment_worker *w, struct fragment_draw *draw)
{
	const struct agx_ppp_fragment_shader *fs = &draw->state.fragment_shader;
	uint64_t va = w->job->registers->shaders.usc_base + fs->cf_bindings;
	uint8_t bytes[4 + 4 * FRAGMENT_MAX_BINDINGS];
	struct agx_cf_header header;
	unsigned int i;
	int err;

	draw->num_bindings = fs->cf_binding_count;
	if (!draw->num_bindings)
		return 0;
	err = fragment_draw_read_client(w, va, bytes, 4 + 4 * draw->num_bindings,
					VAGX_GPU_UNIT_ISP);
	if (err)
		return err;
	agx_packet_unpack(AGX_PACKET_cf_header, bytes, &header, NULL);
	draw->num_planes = header.coefficients;
	for (i = 0; i < draw->num_bindings; i++) {
		struct agx_cf_binding *b = &draw->bindings[i];

		agx_packet_unpack(AGX_PACKET_cf_binding, bytes + 4 + 4 * i, b, NULL);
		if (b->coefficient + b->components > draw->num_planes)
			return fragment_draw_unsupported(w, va + 4 + 4 * i, "CF Binding",
							 "behind the last one");
		if (b->source > AGX_CF_SOURCE_PRIMITIVE_ID)
			return fragment_draw_unsupported(w, va + 4 + 4 * i, "CF Binding", "source");
	}
	return 0;
}

static int fragment_draw_load_shader(struct fragment_worker *w, struct fragment_draw *draw)
{
	const struct agx_ppp_fragment_shader *fs = &draw->state.fragment_shader;
	const struct vagx_usc_source source = {
		.uat = w->job->base->gpu->config.uat,
		.report = w->job->base->gpu->config.report,
		.vm_slot = w->job->base->vm_slot,
		.base = w->job->registers->shaders.usc_base,
	};
	int err;

	draw->launch.extended_samplers = vagx_usc_extends_samplers(&fs->counts);
	draw->launch.sampler_heap = w->job->registers->shaders.sampler_base;
	draw->launch.sampler_count = w->job->registers->shaders.sampler_count;
	draw->launch.preshader_regs = fs->counts.preshader_registers;
	w->failure.unit = VAGX_GPU_UNIT_ISP;
	if (vagx_usc_load(&source, fs->pipeline, &draw->launch, &w->failure.fault))
		return -EFAULT;
	err = gpu_stage_begin(w->job->base, w->core, &draw->launch, &w->failure);
	return err ? err : fragment_draw_load_bindings(w, draw);
}

/* Loads the scissor of each viewport; without a scissor test it is the whole image */
static int fragment_draw_load_scissors(struct fragment_worker *w, struct fragment_draw *draw)
{
	const struct ppp_state *s = &draw->state;
	const struct vagx_render_geometry *g = &w->job->registers->geometry;
	bool enabled = s->fragment_control.scissor_enable || s->fragment_control_2.scissor_enable;
	uint64_t va = w->job->registers->scissor_base + 16ULL * s->depth_bias_scissor.scissor;
	unsigned int i, count = s->output_select.viewport ? PPP_VIEWPORTS : 1;
	uint8_t bytes[16];
	int err;

	for (i = 0; i < PPP_VIEWPORTS; i++) {
		draw->scissor[i] = (struct agx_scissor){
			.max_x = g->width,
			.max_y = g->height,
			.max_z = 1,
		};
		if (!enabled || i >= count)
			continue;
		err = fragment_draw_read_client(w, va + 16 * i, bytes, sizeof(bytes),
						VAGX_GPU_UNIT_ISP);
		if (err && i)
			break;
		if (err)
			return err;
		agx_packet_unpack(AGX_PACKET_scissor, bytes, &draw->scissor[i], NULL);
	}
	return 0;
}

static int fragment_draw_load_bias(struct fragment_worker *w, struct fragment_draw *draw)
{
	const struct ppp_state *s = &draw->state;
	uint8_t bytes[12];
	int err;

	if (!s->fragment_control.depth_bias_enable && !s->fragment_control_2.depth_bias_enable)
		return 0;
	err = fragment_draw_read_client(
		w, w->job->registers->depth_bias_base + 12ULL * s->depth_bias_scissor.depth_bias,
		bytes, sizeof(bytes), VAGX_GPU_UNIT_ISP);
	if (!err)
		agx_packet_unpack(AGX_PACKET_depth_bias, bytes, &draw->bias, NULL);
	return err;
}

static int fragment_draw_load_draw(struct fragment_worker *w, struct fragment_draw *draw)
{
	const struct scene_draw *stored = tvb_at(&w->tvb, draw->va, sizeof(*stored));
	const struct ppp_state *s = &draw->state;
	int err;

	if (!stored)
		return fragment_fault(w, &w->tvb.fault, VAGX_GPU_UNIT_ISP);
	draw->uvs_words = stored->uvs_words;
	if (draw->uvs_words > VAGX_MAX_UVS_WORDS)
		draw->uvs_words = VAGX_MAX_UVS_WORDS;
	ppp_unpack(&draw->state, &stored->ppp);
	draw->face[false] = zs_unpack_face(s, false);
	draw->face[true] = zs_unpack_face(s, true);
	if (s->fragment_control.sample_mask_after_zs || s->fragment_control_2.sample_mask_after_zs)
		return fragment_draw_unsupported(w, draw->va, "PPP Fragment control",
						 "sample mask after depth");
	draw->shades = !s->fragment_control.tag_write_disable &&
		       !s->fragment_control_2.tag_write_disable && s->fragment_shader.pipeline;
	err = fragment_draw_load_scissors(w, draw);
	if (!err)
		err = fragment_draw_load_bias(w, draw);
	if (!err && draw->shades)
		err = fragment_draw_load_shader(w, draw);
	return err;
}

static struct fragment_draw *fragment_draw_find_draw(struct fragment_job *f, uint64_t va)
{
	struct fragment_draw *draw = *fragment_draw_bucket(f, va);

	while (draw && draw->va != va)
		draw = draw->next;
	return draw;
}

/* Adds a draw to the table; one that cannot be drawn, too, with its failure. With the lock held. */
static int fragment_draw_add_draw(struct fragment_worker *w, uint64_t va,
				  struct fragment_draw **added)
{
	struct fragment_job *f = w->job;
	struct fragment_draw *draw;
	int err;

	if (f->num_draws >= MAX_DRAWS)
		fragment_drop_draws(f);
	draw = calloc(1, sizeof(*draw));
	if (!draw)
		return -ENOMEM;
	draw->va = va;
	err = fragment_draw_load_draw(w, draw);
	if (err == -ECANCELED) {
		free(draw);
		return err;
	}
	if (err) {
		draw->failure = w->failure;
		draw->failure.err = err;
		w->failure = (struct gpu_failure){ 0 };
	}
	draw->next = *fragment_draw_bucket(f, va);
	*fragment_draw_bucket(f, va) = draw;
	f->num_draws++;
	*added = draw;
	return 0;
}

void fragment_put_draw(struct fragment_worker *w)
{
	if (!w->primitive.draw)
		return;
	pthread_mutex_lock(&w->job->lock);
	w->primitive.draw->users--;
	pthread_mutex_unlock(&w->job->lock);
	w->primitive.draw = NULL;
}

int fragment_use_draw(struct fragment_worker *w, uint64_t va)
{
	struct fragment_draw *draw;
	int err;

	if (w->primitive.draw && w->primitive.draw->va == va)
		return 0;
	/* the fragments that wait belong to the draw before */
	err = fragment_flush(w);
	if (err)
		return err;
	fragment_put_draw(w);
	pthread_mutex_lock(&w->job->lock);
	draw = fragment_draw_find_draw(w->job, va);
	if (!draw)
		err = fragment_draw_add_draw(w, va, &draw);
	if (draw && draw->failure.err) {
		gpu_failure_copy(&w->failure, &draw->failure);
		err = draw->failure.err;
	} else if (draw) {
		draw->users++;
		w->primitive.draw = draw;
		fragment_mark_written(w, &draw->launch);
	}
	pthread_mutex_unlock(&w->job->lock);
	return err;
}
