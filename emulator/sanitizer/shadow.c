// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Shadows of cores, and the loop that runs a program with them: each instruction is checked, then
 * run by the interpreter, then noted. Runs on the thread of the core.
 */
#include <errno.h>
#include <stdlib.h>

#include "sanitizer/descriptors.h"
#include "sanitizer/profile.h"
#include "sanitizer/shadow.h"

/* Registers in which a vertex shader finds its vertex and instance numbers */
#define VERTEX_HALF	10
#define VERTEX_HALVES	4

/* Of a stop, and of what Mesa has behind it */
#define STOP_BYTES		2
#define BYTES_BEHIND_STOP	16

struct vagx_shadow *vagx_shadow_new(struct vagx_sanitizer *sanitizer)
{
	struct vagx_shadow *shadow = calloc(1, sizeof(*shadow));
	unsigned int op;

	for (op = 0; shadow && op < AGX_OP_COUNT; op++)
		shadow->later[op] = agx_isa_is_asynchronous(op);
	if (!shadow)
		return NULL;
	if (!sanitizer_init_shadow(sanitizer, shadow)) {
		vagx_shadow_free(shadow);
		return NULL;
	}
	if (shadow->unkind)
		shadow->stores = late_stores_new();
	if (!shadow->unkind || shadow->stores)
		return shadow;
	vagx_shadow_free(shadow);
	return NULL;
}

bool vagx_shadow_keeps_stores(const struct vagx_shadow *shadow)
{
	return shadow->stores;
}

void vagx_shadow_settle(struct vagx_shadow *shadow)
{
	if (shadow->stores)
		late_stores_settle(shadow->stores);
}

void vagx_shadow_free(struct vagx_shadow *shadow)
{
	unsigned int i;

	if (!shadow)
		return;
	for (i = 0; i < MAX_SIMDGROUPS; i++) {
		if (shadow->simdgroup[i])
			free(shadow->simdgroup[i]->private_unwritten);
		free(shadow->simdgroup[i]);
	}
	profile_core_free(shadow->profile);
	free(shadow->local);
	free(shadow->tile);
	late_stores_free(shadow->stores);
	free(shadow);
}

/* Goes on to the next epoch; all of local memory begins anew when the count wraps */
static void shadow_next_epoch(struct vagx_shadow *shadow)
{
	shadow->epoch++;
	if (shadow->epoch)
		return;
	shadow->epoch = 1;
	if (shadow->local)
		memset(shadow->local, 0, VAGX_CORE_MAX_SHARED * sizeof(*shadow->local));
}

void vagx_shadow_begin_group(struct vagx_core *core)
{
	shadow_next_epoch(core->shadow);
	core->shadow->group_epoch = core->shadow->epoch;
	shadow_follow_texels(core);
	if (core->shared_tile.memory)
		vagx_shadow_begin_tile(core->shadow);
	if (core->shadow->stores)
		late_stores_begin_group(core);
}

static struct shadow_simdgroup *shadow_get_simdgroup(struct vagx_shadow *shadow, unsigned int index)
{
	struct shadow_simdgroup *s = shadow->simdgroup[index];

	if (s)
		return s;
	s = aligned_alloc(_Alignof(struct shadow_simdgroup), sizeof(*s));
	if (s)
		memset(s, 0, sizeof(*s));
	shadow->simdgroup[index] = s;
	return s;
}

/* Nothing has written registers, but for those in which a vertex shader finds its vertices */
static void shadow_begin_registers(struct shadow_simdgroup *s, const struct vagx_core *core)
{
	unsigned int half;

	/* an operand can end behind the registers of the thread */
	s->halves = core->register_halves + 2 * LATE_REGISTERS;
	if (s->halves > HALVES)
		s->halves = HALVES;
	for (half = 0; half < s->halves; half++)
		s->reg[half] = (struct shadow_register){
			.unwritten = ALL_LANES,
			.origin = { ORIGIN_REGISTER, half },
		};
	for (half = VERTEX_HALF; core->vertices && half < VERTEX_HALF + VERTEX_HALVES; half++)
		s->reg[half].unwritten = 0;
}

int vagx_shadow_begin_simdgroup(struct simdgroup *sg)
{
	struct shadow_simdgroup *s = shadow_get_simdgroup(sg->core->shadow, sg->index);

	if (!s)
		return -ENOMEM;
	if (sg->core->shadow->profile)
		profile_begin_simdgroup(sg->core->shadow->profile, sg);
	s->pixel_waited = 0;
	s->watched_lane = LANES;
	s->synchronized = 0;
	s->num_late = 0;
	if (sg->core->shadow->check)
		shadow_begin_registers(s, sg->core);
	if (s->private_unwritten)
		memset(s->private_unwritten, 0xff, s->private_size * sizeof(*s->private_unwritten));
	return 0;
}

/* Whether a simdgroup is at the barrier that another one waits at: they may be in two programs */
static bool shadow_is_at(const struct simdgroup *sg, const struct simdgroup *other)
{
	return sg->state == SIMDGROUP_WAITS && sg->op[sg->pc - 1].va == other->op[other->pc - 1].va;
}

void vagx_shadow_open_barrier(struct vagx_core *core, unsigned int count)
{
	struct simdgroup *first = NULL, *other = NULL;
	unsigned int i;

	for (i = 0; core->shadow->check && i < count && !first; i++) {
		if (core->simdgroup[i]->state == SIMDGROUP_WAITS)
			first = core->simdgroup[i];
	}
	for (i = 0; first && i < count && !other; i++) {
		if (!shadow_is_at(core->simdgroup[i], first))
			other = core->simdgroup[i];
	}
	if (other && other->state == SIMDGROUP_WAITS)
		finding_report(first, &first->op[first->pc - 1], FINDING_MISSED_BARRIER,
			       first->exec, ": simdgroup %u waits at 0x%llx", other->index,
			       (unsigned long long)other->op[other->pc - 1].va);
	else if (other)
		finding_report(first, &first->op[first->pc - 1], FINDING_MISSED_BARRIER,
			       first->exec, ": simdgroup %u has ended", other->index);
	shadow_next_epoch(core->shadow);
}

/* A simdgroup without an active thread waits as a whole: Mesa's loops end so */
static void shadow_check_barrier(const struct step *step)
{
	if (step->op->opcode == AGX_OP_BARRIER && step->exec && step->exec != step->sg->valid)
		finding_report(step->sg, step->op, FINDING_DIVERGENT_BARRIER, step->exec,
			       ": threads 0x%x of 0x%x", step->exec, step->sg->valid);
}

/* A core may fetch what is behind a stop. Mesa and Apple's compiler have traps there. */
static void shadow_check_end(const struct step *step)
{
	const uint64_t last = step->op->va + STOP_BYTES + BYTES_BEHIND_STOP - 1;
	const struct vagx_core *core = step->sg->core;
	struct vagx_uat_fault fault;

	if (step->op->opcode == AGX_OP_STOP &&
	    !vagx_tlb_ptr(core->config.tlb, last, 1, VAGX_EXEC, &fault))
		finding_report(step->sg, step->op, FINDING_CODE_END, step->exec,
			       ": there is none at 0x%llx", (unsigned long long)last);
}

static void shadow_check(struct step *step)
{
	shadow_check_registers(step);
	shadow_check_barrier(step);
	shadow_check_end(step);
	shadow_check_fragments(step);
	shadow_compute(step);
	shadow_access(step);
	shadow_reach_tile(step);
}

static void shadow_step(struct simdgroup *sg, struct vagx_slice *slice)
{
	struct step step = {
		.sg = sg,
		.shadow = sg->core->shadow->simdgroup[sg->index],
		.op = &sg->op[sg->pc],
		.exec = sg->exec,
		.later = sg->core->shadow->later[sg->op[sg->pc].opcode],
	};

	if (step.op->replaced) {
		interpret(sg, slice, 1);
		return;
	}
	if (sg->core->shadow->descriptors)
		descriptors_note(sg->core->shadow->descriptors, sg, step.op);
	if (sg->core->shadow->profile)
		profile_count(sg->core->shadow->profile, sg, step.op);
	if (sg->core->shadow->unkind)
		late_before(&step);
	if (sg->core->shadow->watch)
		watch_before(&step);
	if (sg->core->shadow->check)
		shadow_check(&step);
	interpret(sg, slice, 1);
	if (sg->core->shadow->check)
		shadow_note_registers(&step);
	if (sg->core->shadow->unkind)
		late_after(&step);
}

void vagx_shadow_run(struct simdgroup *sg, struct vagx_slice *slice)
{
	while (sg->state == SIMDGROUP_RUNS && slice->left > 0)
		shadow_step(sg, slice);
	/* another one may be waiting for what it has stored */
	if (slice->left <= 0)
		vagx_shadow_settle(sg->core->shadow);
}
