// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Draws, as vertex work has stored them, and what their state leads to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/fragment.h"
#include "gpu/usc.h"
#include "report.h"

/* So many are remembered at a time */
#define MAX_DRAWS	4096

static struct fragment_draw **bucket(struct fragment_job *f, uint64_t va)
{
	return &f->draws[va / TVB_ALIGN * 0x9e3779b97f4a7c15ULL >> 32 & (FRAGMENT_BUCKETS - 1)];
}

void fragment_drop_draws(struct fragment_job *f)
{
	unsigned int i;

	for (i = 0; i < FRAGMENT_BUCKETS; i++) {
		while (f->draws[i]) {
			struct fragment_draw *draw = f->draws[i];

			f->draws[i] = draw->next;
			free(draw);
		}
	}
	f->num_draws = 0;
}

static int read_client(struct fragment_job *f, uint64_t va, void *buf, size_t len,
		       unsigned int unit)
{
	struct vagx_uat_fault fault;

	if (vagx_uat_read(f->job->gpu->config.uat, f->job->vm_slot, va, buf, len, VAGX_AGENT_GPU,
			  &fault))
		return fragment_fault(f, &fault, unit);
	return 0;
}

static int unsupported(struct fragment_job *f, uint64_t va, const char *packet, const char *what)
{
	const struct vagx_uat_fault fault = {
		.va = va,
		.slot = f->job->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};

	vagx_violation(f->job->gpu->config.report, VAGX_RULE_CF_UNSUPPORTED, va, packet, "%s",
		       what);
	return fragment_fault(f, &fault, VAGX_GPU_UNIT_ISP);
}

static int load_bindings(struct fragment_job *f, struct fragment_draw *draw)
{
	const struct agx_ppp_fragment_shader *fs = &draw->state.fragment_shader;
	uint64_t va = f->registers->shaders.usc_base + fs->cf_bindings;
	uint8_t bytes[4 + 4 * FRAGMENT_MAX_BINDINGS];
	struct agx_cf_header header;
	unsigned int i;
	int err;

	draw->num_bindings = fs->cf_binding_count;
	if (!draw->num_bindings)
		return 0;
	err = read_client(f, va, bytes, 4 + 4 * draw->num_bindings, VAGX_GPU_UNIT_ISP);
	if (err)
		return err;
	agx_packet_unpack(AGX_PACKET_cf_header, bytes, &header, NULL);
	draw->num_planes = header.coefficients;
	for (i = 0; i < draw->num_bindings; i++) {
		struct agx_cf_binding *b = &draw->bindings[i];

		agx_packet_unpack(AGX_PACKET_cf_binding, bytes + 4 + 4 * i, b, NULL);
		if (b->coefficient + b->components > draw->num_planes)
			return unsupported(f, va + 4 + 4 * i, "CF Binding", "behind the last one");
		if (b->source > AGX_CF_SOURCE_PRIMITIVE_ID)
			return unsupported(f, va + 4 + 4 * i, "CF Binding", "source");
	}
	return 0;
}

static int load_shader(struct fragment_job *f, struct fragment_draw *draw)
{
	const struct agx_ppp_fragment_shader *fs = &draw->state.fragment_shader;
	const struct vagx_usc_source source = {
		.uat = f->job->gpu->config.uat,
		.report = f->job->gpu->config.report,
		.vm_slot = f->job->vm_slot,
		.base = f->registers->shaders.usc_base,
	};
	int err;

	draw->launch.extended_samplers = vagx_usc_extends_samplers(&fs->counts);
	draw->launch.sampler_heap = f->registers->shaders.sampler_base;
	draw->launch.sampler_count = f->registers->shaders.sampler_count;
	draw->launch.preshader_regs = fs->counts.preshader_registers;
	f->unit = VAGX_GPU_UNIT_ISP;
	if (vagx_usc_load(&source, fs->pipeline, &draw->launch, &f->fault))
		return -EFAULT;
	err = gpu_stage_begin(f->job, f->job->core, &draw->launch, &f->fault, &f->unit);
	return err ? err : load_bindings(f, draw);
}

/* Without a scissor the whole image is drawn on */
static int load_scissors(struct fragment_job *f, struct fragment_draw *draw)
{
	const struct ppp_state *s = &draw->state;
	const struct vagx_render_geometry *g = &f->registers->geometry;
	bool enabled = s->fragment_control.scissor_enable || s->fragment_control_2.scissor_enable;
	uint64_t va = f->registers->scissor_base + 16ULL * s->depth_bias_scissor.scissor;
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
		err = read_client(f, va + 16 * i, bytes, sizeof(bytes), VAGX_GPU_UNIT_ISP);
		if (err && i)
			break;
		if (err)
			return err;
		agx_packet_unpack(AGX_PACKET_scissor, bytes, &draw->scissor[i], NULL);
	}
	return 0;
}

static int load_bias(struct fragment_job *f, struct fragment_draw *draw)
{
	const struct ppp_state *s = &draw->state;
	uint8_t bytes[12];
	int err;

	if (!s->fragment_control.depth_bias_enable && !s->fragment_control_2.depth_bias_enable)
		return 0;
	err = read_client(f, f->registers->depth_bias_base + 12ULL * s->depth_bias_scissor.depth_bias,
			  bytes, sizeof(bytes), VAGX_GPU_UNIT_ISP);
	if (!err)
		agx_packet_unpack(AGX_PACKET_depth_bias, bytes, &draw->bias, NULL);
	return err;
}

static int load_draw(struct fragment_job *f, struct fragment_draw *draw)
{
	const struct scene_draw *stored = tvb_at(&f->tvb, draw->va, sizeof(*stored));
	const struct ppp_state *s = &draw->state;
	int err;

	if (!stored)
		return fragment_fault(f, &f->tvb.fault, VAGX_GPU_UNIT_ISP);
	draw->uvs_words = stored->uvs_words;
	if (draw->uvs_words > VAGX_MAX_UVS_WORDS)
		draw->uvs_words = VAGX_MAX_UVS_WORDS;
	ppp_unpack(&draw->state, &stored->ppp);
	if (s->fragment_control.sample_mask_after_zs || s->fragment_control_2.sample_mask_after_zs)
		return unsupported(f, draw->va, "PPP Fragment control", "sample mask after depth");
	draw->shades = !s->fragment_control.tag_write_disable &&
		       !s->fragment_control_2.tag_write_disable && s->fragment_shader.pipeline;
	err = load_scissors(f, draw);
	if (!err)
		err = load_bias(f, draw);
	if (!err && draw->shades)
		err = load_shader(f, draw);
	return err;
}

int fragment_find_draw(struct fragment_job *f, uint64_t va, struct fragment_draw **found)
{
	struct fragment_draw *draw;
	int err;

	for (draw = *bucket(f, va); draw; draw = draw->next) {
		if (draw->va == va) {
			*found = draw;
			return 0;
		}
	}
	if (f->num_draws >= MAX_DRAWS) {
		/* those that wait belong to one */
		err = fragment_flush(f);
		if (err)
			return err;
		fragment_drop_draws(f);
	}
	draw = calloc(1, sizeof(*draw));
	if (!draw)
		return fragment_fault(f, &f->fault, VAGX_GPU_UNIT_ISP);
	draw->va = va;
	err = load_draw(f, draw);
	if (err) {
		free(draw);
		return err;
	}
	draw->next = *bucket(f, va);
	*bucket(f, va) = draw;
	f->num_draws++;
	*found = draw;
	return 0;
}
