// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Memory of fragment work: the client's, through the TLB of the worker's core, and the tile's.
 * All files of fragment work may call this one; it calls none of them. A worker is used by
 * the thread of its core alone, so nothing is locked.
 */
#include "gpu/fragment.h"
#include "gpu/pattern.h"

int fragment_fault(struct fragment_worker *w, const struct vagx_uat_fault *fault, unsigned int unit)
{
	return gpu_failure_at(&w->failure, fault, unit);
}

void *fragment_ptr(struct fragment_worker *w, uint64_t va, size_t bytes, enum vagx_access access,
		   unsigned int unit)
{
	struct vagx_uat_fault fault;
	void *p = vagx_tlb_ptr(&w->core->tlb, va, bytes, access, &fault);

	if (!p)
		fragment_fault(w, &fault, unit);
	return p;
}

void fragment_spoil_tile(struct fragment_worker *w, size_t from)
{
	/* The sizes of tiles are multiples of a line. */
	vagx_pattern_fill(w->job->base->gpu->config.seed, VAGX_PATTERN_TILE, w->memory + from,
			  w->reached_bytes - from);
}

void fragment_mark_reached(struct fragment_worker *w, const struct vagx_launch *launch)
{
	const size_t bytes = (size_t)w->tile.width * w->tile.height * w->tile.samples *
			     launch->sample_stride;
	const size_t before = w->reached_bytes;

	if (bytes <= before)
		return;
	w->reached_bytes = bytes < VAGX_TILE_BYTES ? bytes : VAGX_TILE_BYTES;
	fragment_spoil_tile(w, before);
}
