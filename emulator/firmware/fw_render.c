// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * What vertex and fragment commands have in common (asahi queue/render.rs get_tiling_params, m1n1
 * agx/render.py).
 */
#include "fw_render.h"

#include <inttypes.h>

#define TILE		32U
#define MTILES		4U
/* Alignment of all objects of a scene in the references */
#define FW_ALIGNMENT	0x8000ULL

static uint32_t fw_render_ceil_div(uint32_t n, uint32_t d)
{
	return (n + d - 1) / d;
}

static uint32_t fw_render_align(uint32_t n, uint32_t to)
{
	return fw_render_ceil_div(n, to) * to;
}

struct fw_tiles fw_render_tiles(const struct vagx_render_geometry *geometry)
{
	struct fw_tiles tiles = {
		.x = fw_render_ceil_div(geometry->width, TILE),
		.y = fw_render_ceil_div(geometry->height, TILE),
		.utiles_x = TILE / geometry->utile_width,
		.utiles_y = TILE / geometry->utile_height,
	};
	uint32_t utiles;

	tiles.mtile_x = fw_render_align(fw_render_ceil_div(tiles.x, MTILES), 4);
	tiles.mtile_y = fw_render_align(fw_render_ceil_div(tiles.y, MTILES), 4);
	utiles = tiles.mtile_x * tiles.mtile_y * tiles.utiles_x * tiles.utiles_y;
	tiles.region = fw_render_align(5 * utiles, 4) / 4;
	tiles.tilemap = 4ULL * tiles.region * MTILES * MTILES * geometry->layers;
	tiles.tails = 2 * utiles;
	tiles.tail_cache = 4ULL * tiles.tails * MTILES * MTILES * geometry->layers;
	return tiles;
}

bool fw_render_utiles(struct fw_job *job, uint64_t config, struct vagx_render_geometry *geometry)
{
	uint32_t width = config >> 12 & 3, height = config >> 14 & 3, samples = config & 3;
	enum vagx_rule clause = VAGX_KEPT;
	bool good;

	if (width < 1 || width > 2)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_utile_width;
	else if (height < 1 || height > width)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_utile_height;
	else if (samples > 2)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_samples;
	else if (config & ~0xf003ULL)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_utile_bits;
	good = clause == VAGX_KEPT;
	if (!job->view.access->failed)
		vagx_violation(fw_job_report(job), clause, job->view.va, fw_structs[job->view.type].name, "utile configuration %#" PRIx64,
			       config);
	geometry->utile_width = good ? 16 * width : 32;
	geometry->utile_height = good ? 16 * height : 32;
	geometry->samples = good ? 1 << samples : 1;
	return good;
}

void fw_render_expect(struct fw_job *job, enum vagx_rule rule, const struct fw_view *view,
		      enum fw_field_id field, uint64_t value)
{
	uint64_t found = fw_registers_word(&job->registers, view, field);

	if (!job->registers.count && !fw_has(view, field))
		return;
	if (!view->access->failed && found != value)
		vagx_violation(fw_job_report(job), rule,
			       job->registers.count ? job->view.va : fw_va(view, field),
			       fw_structs[view->type].name, "%s is %#" PRIx64 " instead of %#" PRIx64,
			       fw_fields[field].name, found, value);
}

void fw_render_expect_field(struct fw_job *job, enum vagx_rule rule, enum fw_field_id field,
			    uint64_t value)
{
	uint64_t found = fw_get(&job->view, field);

	if (!job->view.access->failed && found != value)
		vagx_violation(fw_job_report(job), rule, fw_va(&job->view, field),
			       fw_structs[job->view.type].name, "%s is %#" PRIx64 " instead of %#" PRIx64,
			       fw_fields[field].name, found, value);
}

void fw_render_expect_memory(struct fw_job *job, const char *what, uint64_t va, uint64_t size)
{
	struct vagx_uat_fault fault;

	if (job->view.access->failed || !size)
		return;
	if (va & (FW_ALIGNMENT - 1))
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_RENDER_ALIGNMENT, va,
			       fw_structs[job->view.type].name, "%s", what);
	for (uint64_t at = va & ~AGX_PAGE_MASK; at < va + size; at += AGX_PAGE_SIZE) {
		if (vagx_uat_ptr(job->view.access->uat, job->vm_slot, at, 1, VAGX_AGENT_GPU,
				 VAGX_WRITE, &fault))
			continue;
		vagx_violation(fw_job_report(job), VAGX_CLAUSE_FW_RENDER_MEMORY_mapped, va,
			       fw_structs[job->view.type].name,
			       "%s, %#" PRIx64 " bytes: %s at %#" PRIx64, what, size,
			       vagx_fault_reason_name(fault.reason), at);
		return;
	}
}

void fw_render_samplers(struct fw_job *job, enum fw_field_id encoder_params,
			struct vagx_render_shaders *shaders)
{
	struct fw_view encoder = fw_sub(&job->view, encoder_params, FW_S_EncoderParams, 0);

	shaders->sampler_base = fw_get(&encoder, FW_EncoderParams_sampler_array);
	shaders->sampler_count = fw_get(&encoder, FW_EncoderParams_sampler_count);
}
