// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The profile's counts of a core, on the thread of that core and without locks, and the model:
 *
 * Each instruction takes the slots of its unit. The result of an asynchronous one is there so many
 * slots later as the unit's latency says; a "wait" for its group stalls until the last result of
 * the group is there. Each simdgroup has a clock of its own, as if it were alone: the core's other
 * simdgroups, which hide stalls on a machine, do not count.
 */
#include <stdlib.h>

#include "gpu/core_internal.h"
#include "sanitizer/profile.h"

#define GROUPS		2

/* Where a simdgroup is in the model */
struct profile_clock {
	uint64_t now;
	/* when the last result of each group is there, and of which unit that is */
	uint64_t ready[GROUPS];
	enum profile_unit unit[GROUPS];
};

struct profile_core {
	struct profile *profile;
	bool later[AGX_OP_COUNT];
	/* the last program, and its counts; NULL at a simdgroup's beginning */
	const struct program *program;
	struct profile_shader *shader;
	struct profile_shaders shaders;
	/* issue slots of all that it has run */
	uint64_t now;
	struct profile_track *track;
	uint32_t capacity;
	/* the slice that goes on; its stage is NULL if there is none */
	struct profile_slice open;
	struct profile_clock clock[MAX_SIMDGROUPS];
	/* takes counts of programs that are not kept */
	struct profile_shader lost;
};

struct profile_core *profile_core_new(struct profile *profile)
{
	struct profile_core *core = calloc(1, sizeof(*core));
	unsigned int op;

	if (!core)
		return NULL;
	core->track = calloc(1, sizeof(*core->track));
	if (!core->track) {
		free(core);
		return NULL;
	}
	core->profile = profile;
	core->track->number = atomic_fetch_add(&profile->num_cores, 1);
	for (op = 0; op < AGX_OP_COUNT; op++)
		core->later[op] = agx_isa_is_asynchronous(op);
	return core;
}

/* Shaders */

static void profile_core_copy_op(struct profile_op *to, const struct program *p,
				 const struct op *op)
{
	size_t count = 0;
	const uint8_t *bytes = vagx_core_code_at(p, op->va, &count);

	to->offset = (int64_t)(op->va - p->va);
	if (op->replaced || !bytes || op->length > count || op->length > sizeof(to->code))
		return;
	to->length = op->length;
	memcpy(to->code, bytes, op->length);
}

/* Makes the counts of a program. Return: NULL if there are too many, or no memory. */
static struct profile_shader *profile_core_new_shader(struct profile_core *core,
						      const struct program *p, const char *stage)
{
	unsigned int cost = p->count + PROFILE_SHADER;
	struct profile_shader *shader;
	uint32_t i;

	if (atomic_load(&core->profile->num_ops) + cost > PROFILE_OPS)
		return NULL;
	atomic_fetch_add(&core->profile->num_ops, cost);
	shader = calloc(1, sizeof(*shader));
	if (shader)
		shader->op = calloc(p->count, sizeof(*shader->op));
	if (!shader || !shader->op) {
		free(shader);
		return NULL;
	}
	shader->checksum = p->checksum;
	shader->stage = stage;
	shader->num_ops = p->count;
	for (i = 0; i < p->count; i++)
		profile_core_copy_op(&shader->op[i], p, &p->op[i]);
	return shader;
}

static struct profile_shader *profile_core_search(struct profile_shader *list, uint64_t checksum,
						  const char *stage, uint32_t num_ops)
{
	while (list && (list->checksum != checksum || strcmp(list->stage, stage) ||
			list->num_ops != num_ops))
		list = list->next;
	return list;
}

static struct profile_shader *profile_core_find(struct profile_core *core,
						const struct simdgroup *sg)
{
	const struct program *p = sg->program;
	const char *stage = vagx_core_stage_name(sg->core);
	struct profile_shader **list = profile_find(&core->shaders, p->checksum);
	struct profile_shader *shader = profile_core_search(*list, p->checksum, stage, p->count);

	if (shader)
		return shader;
	shader = profile_core_new_shader(core, p, stage);
	if (!shader)
		return &core->lost;
	shader->next = *list;
	*list = shader;
	return shader;
}

/* Slices */

static void profile_core_close_slice(struct profile_core *core)
{
	struct profile_track *track = core->track;
	uint32_t capacity = core->capacity ? 2 * core->capacity : 64;
	struct profile_slice *slice = track->slice;

	if (!core->open.stage)
		return;
	if (atomic_fetch_add(&core->profile->num_slices, 1) >= PROFILE_SLICES) {
		atomic_fetch_sub(&core->profile->num_slices, 1);
		slice = NULL;
	} else if (track->num_slices == core->capacity) {
		slice = realloc(slice, capacity * sizeof(*slice));
		if (slice) {
			track->slice = slice;
			core->capacity = capacity;
		}
	}
	if (slice)
		slice[track->num_slices++] = core->open;
	else
		track->left_out++;
	core->open.stage = NULL;
}

void profile_begin_simdgroup(struct profile_core *core, const struct simdgroup *sg)
{
	const char *stage = vagx_core_stage_name(sg->core);
	struct profile_slice *open = &core->open;

	core->clock[sg->index] = (struct profile_clock){ .now = 0 };
	core->program = sg->program;
	core->shader = profile_core_find(core, sg);
	core->shader->sum.simdgroups++;
	if (open->stage != stage || open->launch != sg->core->launch->serial ||
	    open->checksum != sg->program->checksum) {
		profile_core_close_slice(core);
		*open = (struct profile_slice){
			.launch = sg->core->launch->serial,
			.stage = stage,
			.checksum = sg->program->checksum,
			.begin = core->now,
		};
	}
	open->sum.simdgroups++;
}

/* The model */

static uint64_t profile_core_left(uint64_t ready, uint64_t now)
{
	return ready > now ? ready - now : 0;
}

/* For how long the model stalls at an instruction. @unit becomes the one that is waited for. */
static uint64_t profile_core_stall(const struct profile_clock *clock, const struct op *op,
				   enum profile_unit *unit)
{
	unsigned int group = op->mod[AGX_MOD_GROUP] & 1;

	if (op->opcode == AGX_OP_WAIT) {
		*unit = clock->unit[group];
		return profile_core_left(clock->ready[group], clock->now);
	}
	if (op->opcode == AGX_OP_PIXEL_WAIT)
		return profile_core_left(profile_models[*unit].latency, clock->now);
	return 0;
}

/* Notes when the result of an asynchronous instruction is there */
static void profile_core_issue(struct profile_clock *clock, const struct op *op,
			       enum profile_unit unit)
{
	unsigned int group = op->mod[AGX_MOD_GROUP] & 1;
	uint64_t ready = clock->now + profile_models[unit].latency;

	if (ready < clock->ready[group])
		return;
	clock->ready[group] = ready;
	clock->unit[group] = unit;
}

void profile_count(struct profile_core *core, const struct simdgroup *sg, const struct op *op)
{
	struct profile_clock *clock = &core->clock[sg->index];
	enum profile_unit unit = profile_unit_of(op->opcode), waited = unit;
	uint64_t stall = profile_core_stall(clock, op, &waited);
	const struct profile_sum sum = {
		.instructions = 1,
		.lanes = sg->active,
		.existing = (unsigned int)__builtin_popcount(sg->exists),
		.slots = stall + profile_models[unit].slots,
		.stall = stall,
	};
	struct profile_shader *shader;

	if (core->program != sg->program) {
		core->program = sg->program;
		core->shader = profile_core_find(core, sg);
	}
	clock->now += sum.slots;
	core->now += sum.slots;
	/* latencies count from the issue, which the slots of the instruction are behind */
	if (core->later[op->opcode] && sg->exec)
		profile_core_issue(clock, op, unit);
	shader = core->shader;
	profile_add(&shader->sum, &sum);
	profile_add(&core->open.sum, &sum);
	shader->stalls[waited] += stall;
	if (!shader->op)
		return;
	shader->op[op - sg->op].runs++;
	shader->op[op - sg->op].lanes += sg->active;
	shader->op[op - sg->op].stall += stall;
}

/* The end */

/* Adds counts of a shader to those of another core, which are of the same instructions */
static void profile_core_add_shader(struct profile_shader *to, const struct profile_shader *shader)
{
	uint32_t i;

	profile_add(&to->sum, &shader->sum);
	for (i = 0; i < PROFILE_UNITS; i++)
		to->stalls[i] += shader->stalls[i];
	for (i = 0; i < shader->num_ops; i++) {
		to->op[i].runs += shader->op[i].runs;
		to->op[i].lanes += shader->op[i].lanes;
		to->op[i].stall += shader->op[i].stall;
	}
}

/* Gives a shader to the profile, or adds its counts. With the lock held. */
static void profile_core_give_shader(struct profile *profile, struct profile_shader *shader)
{
	struct profile_shader **list = profile_find(&profile->shaders, shader->checksum);
	struct profile_shader *known = profile_core_search(*list, shader->checksum, shader->stage,
							   shader->num_ops);

	if (!known) {
		shader->next = *list;
		*list = shader;
		return;
	}
	profile_core_add_shader(known, shader);
	free(shader->op);
	free(shader);
}

static void profile_core_give_list(struct profile *profile, struct profile_shader *list)
{
	while (list) {
		struct profile_shader *shader = list;

		list = shader->next;
		profile_core_give_shader(profile, shader);
	}
}

void profile_core_free(struct profile_core *core)
{
	struct profile *profile;
	unsigned int i;

	if (!core)
		return;
	profile = core->profile;
	profile_core_close_slice(core);
	pthread_mutex_lock(&profile->lock);
	for (i = 0; i < PROFILE_BUCKETS; i++)
		profile_core_give_list(profile, core->shaders.bucket[i]);
	profile_core_add_shader(&profile->lost, &core->lost);
	core->track->next = profile->track;
	profile->track = core->track;
	pthread_mutex_unlock(&profile->lock);
	free(core);
}
