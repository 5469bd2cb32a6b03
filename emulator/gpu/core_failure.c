// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * How programs fail: an instruction reports an error, which ends the launch. The first
 * error of a launch is kept, with the place where it happened. All files of the core may
 * call this one; it calls none of them.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "core_internal.h"

void vagx_core_set_error(struct vagx_core *core, int status, const char *format, ...)
{
	va_list args;

	if (core->status)
		return;
	core->status = status;
	va_start(args, format);
	vsnprintf(core->error, sizeof(core->error), format, args);
	va_end(args);
}

/* Names the thread of a lane as its stage does: a vertex, a pixel, a tile, a place in the grid */
static void core_failure_name_thread(const struct simdgroup *sg, struct core_failure *f)
{
	const struct vagx_core *core = sg->core;
	unsigned int thread = sg->index * LANES + f->lane, lane = f->lane;
	unsigned int row = core->size[0] ? thread / core->size[0] : 0;

	if (core->uniforms_out)
		snprintf(f->thread, sizeof(f->thread), "the preshader's");
	else if (core->vertices)
		snprintf(f->thread, sizeof(f->thread), "vertex %" PRIu32 ", instance %" PRIu32,
			 core->vertices->id[lane], core->vertices->instance[lane]);
	else if (core->fragments)
		snprintf(f->thread, sizeof(f->thread), "pixel %u, %u of layer %" PRIu32,
			 core->fragments->x[lane], core->fragments->y[lane],
			 core->tile ? core->tile->layer : 0);
	else if (core->tile)
		snprintf(f->thread, sizeof(f->thread),
			 "of the tile at %" PRIu32 ", %" PRIu32 " of layer %" PRIu32,
			 core->tile->x, core->tile->y, core->tile->layer);
	else
		snprintf(f->thread, sizeof(f->thread),
			 "%u, %u, %u of threadgroup %" PRIu32 ", %" PRIu32 ", %" PRIu32,
			 thread % core->size[0], row % core->size[1], row / core->size[1],
			 core->group[0], core->group[1], core->group[2]);
}

/* Names the launch or draw of a lane, and its job, as far as they are known */
static void core_failure_name_work(const struct simdgroup *sg, struct core_failure *f)
{
	const struct vagx_core *core = sg->core;
	const struct vagx_launch *launch = core->launch;
	const bool draws = launch->is_draw || core->fragments;
	const uint64_t number = core->fragments ? core->fragments->draw[f->lane / 4] :
						  launch->number;

	if (number)
		snprintf(f->work, sizeof(f->work), "%s %" PRIu64 " of job %" PRIu64,
			 draws ? "draw" : "launch", number, launch->job);
	else if (launch->job)
		snprintf(f->work, sizeof(f->work), "job %" PRIu64, launch->job);
}

void vagx_core_remember_place(const struct simdgroup *sg, const struct op *op, unsigned int lane,
			      struct core_failure *place)
{
	*place = (struct core_failure){
		.simdgroup = sg, .op = op, .exec = sg->exec, .lane = lane, .lane_known = true,
	};
	core_failure_name_thread(sg, place);
	core_failure_name_work(sg, place);
}

/* Keeps the instruction, the execution mask and the lane for core_describe.c */
static void core_failure_remember(struct simdgroup *sg, const struct op *op)
{
	struct core_failure *f = &sg->core->failure;
	uint32_t lanes = sg->exec ? sg->exec : sg->valid;
	unsigned int lane = lanes ? __builtin_ctz(lanes) : 0;
	bool known = sg->failed_lane < LANES;

	vagx_core_remember_place(sg, op, known ? sg->failed_lane : lane, f);
	f->lane_known = known;
}

const char *vagx_core_stage_name(const struct vagx_core *core)
{
	if (core->uniforms_out)
		return "preshader";
	if (core->vertices)
		return "vertex shader";
	if (core->fragments)
		return "fragment shader";
	return core->tile ? "tile's shader" : "compute shader";
}

void vagx_core_fail(struct simdgroup *sg, const struct op *op, int status,
		    const char *format, ...)
{
	char text[128];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!sg->core->status)
		core_failure_remember(sg, op);
	if (op)
		vagx_core_set_error(sg->core, status, "instruction at 0x%llx: %s",
				    (unsigned long long)op->va, text);
	else
		vagx_core_set_error(sg->core, status, "%s", text);
	sg->state = SIMDGROUP_FAILED;
}
