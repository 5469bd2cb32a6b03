// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The shader core: threadgroups made of simdgroups, run in turns until all
 * have stopped.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core_internal.h"

/*
 * Instructions that a simdgroup runs before it is another one's turn, as one
 * may be waiting for what the other does; the stop flag is looked at then.
 */
#define TURN	8192
/* What a program that a launch uses costs besides its instructions */
#define HELD_COST	16

/* Where a simdgroup begins */
struct entry {
	const struct program *program;
	uint32_t pc;
};

struct vagx_core *vagx_core_new(const struct vagx_core_config *config)
{
	struct vagx_core *core = calloc(1, sizeof(*core));

	if (!core)
		return NULL;
	core->config = *config;
	/* a sample's four components are read as a whole, as in tiles */
	core->shared = calloc(1, VAGX_CORE_MAX_SHARED + VAGX_TILE_SLACK);
	if (!core->shared) {
		free(core);
		return NULL;
	}
	return core;
}

/* Whatever the last launch needed, the next one may not need */
static void free_private_memory(struct vagx_core *core)
{
	unsigned int i;

	for (i = 0; i < MAX_SIMDGROUPS; i++) {
		struct simdgroup *sg = core->simdgroup[i];

		if (!sg || !sg->private_memory)
			continue;
		free(sg->private_memory);
		sg->private_memory = NULL;
		sg->private_size = 0;
	}
}

static void drop_programs(struct vagx_core *core)
{
	while (core->held) {
		struct held_program *held = core->held;

		core->held = held->next;
		vagx_programs_put(core->config.programs, held->program);
		free(held);
	}
	core->held_ops = 0;
}

void vagx_core_free(struct vagx_core *core)
{
	unsigned int i;

	if (!core)
		return;
	free_private_memory(core);
	drop_programs(core);
	for (i = 0; i < MAX_SIMDGROUPS; i++)
		free(core->simdgroup[i]);
	free(core->shared);
	free(core->textures);
	free(core);
}

const char *vagx_core_error(const struct vagx_core *core)
{
	return core->error;
}

void vagx_core_get_stats(const struct vagx_core *core,
			 struct vagx_core_stats *stats)
{
	*stats = core->stats;
}

/* The first failure is the one that is kept */
static void fail(struct vagx_core *core, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void fail(struct vagx_core *core, int status, const char *format, ...)
{
	va_list args;

	if (core->status)
		return;
	core->status = status;
	va_start(args, format);
	vsnprintf(core->error, sizeof(core->error), format, args);
	va_end(args);
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
		vagx_core_remember_failure(sg, op);
	if (op)
		fail(sg->core, status, "instruction at 0x%llx: %s",
		     (unsigned long long)op->va, text);
	else
		fail(sg->core, status, "%s", text);
	sg->state = SIMDGROUP_FAILED;
}

static void run_turn(struct simdgroup *sg)
{
	struct vagx_core *core = sg->core;
	uint64_t thread_instructions = 0;
	unsigned int n = 0;

	while (sg->state == SIMDGROUP_RUNS && n < TURN) {
		const struct op *op = &sg->op[sg->pc++];

		n++;
		thread_instructions += sg->active;
		op->run(sg, op);
	}
	core->stats.instructions += n;
	core->stats.thread_instructions += thread_instructions;
}

/* A turn for each simdgroup; at the end of it all may wait at the barrier */
static bool run_turns(struct vagx_core *core, unsigned int count)
{
	unsigned int i, running = 0, waiting = 0;

	for (i = 0; i < count; i++) {
		struct simdgroup *sg = core->simdgroup[i];

		if (sg->state == SIMDGROUP_RUNS)
			run_turn(sg);
		if (sg->state == SIMDGROUP_FAILED)
			return false;
		running += sg->state == SIMDGROUP_RUNS;
		waiting += sg->state == SIMDGROUP_WAITS;
	}
	for (i = 0; !running && i < count; i++) {
		if (core->simdgroup[i]->state == SIMDGROUP_WAITS)
			core->simdgroup[i]->state = SIMDGROUP_RUNS;
	}
	return running || waiting;
}

static bool stopped(struct vagx_core *core)
{
	const atomic_bool *stop = core->launch->stop;

	if (!stop || !atomic_load_explicit(stop, memory_order_relaxed))
		return false;
	fail(core, -ECANCELED, "cancelled");
	return true;
}

static void enter(struct simdgroup *sg, const struct program *program, uint32_t pc)
{
	sg->program = program;
	sg->op = program->op;
	sg->pc = pc;
}

static int start_simdgroup(struct vagx_core *core, unsigned int index,
			   unsigned int threads, const struct entry *entry)
{
	struct simdgroup *sg = core->simdgroup[index];
	size_t registers = (core->register_halves + 1) / 2;

	if (!sg) {
		sg = aligned_alloc(_Alignof(struct simdgroup), sizeof(*sg));
		if (!sg)
			return -ENOMEM;
		memset(sg, 0, sizeof(*sg));
		core->simdgroup[index] = sg;
	}

	memset(sg->reg, 0, registers * sizeof(sg->reg[0]));
	sg->core = core;
	sg->index = index;
	sg->valid = threads < LANES ? (1u << threads) - 1 : ALL_LANES;
	sg->state = SIMDGROUP_RUNS;
	enter(sg, entry->program, entry->pc);
	sg->stack_pointer = 0;
	sg->failed_lane = LANES;
	set_exec(sg, sg->valid);
	vagx_stage_enter(sg);
	return 0;
}

static int run_threads(struct vagx_core *core, unsigned int threads,
		       const struct entry *entry)
{
	unsigned int count = (threads + LANES - 1) / LANES, i;

	for (i = 0; i < count; i++) {
		if (start_simdgroup(core, i, threads - i * LANES, entry)) {
			fail(core, -ENOMEM, "no memory for a simdgroup");
			return core->status;
		}
	}
	while (!stopped(core) && run_turns(core, count))
		;
	return core->status;
}

/* In what this launch uses already */
static bool find_held(const struct vagx_core *core, uint64_t va,
		      struct entry *entry)
{
	const struct held_program *held;

	for (held = core->held; held; held = held->next) {
		entry->program = held->program;
		if (vagx_program_index(held->program, va, &entry->pc))
			return true;
	}
	return false;
}

/* A launch that jumps to ever new places must not have all of them decoded */
static int hold(struct vagx_core *core, uint64_t va)
{
	struct held_program *held = malloc(sizeof(*held));
	int err;

	if (!held)
		return -ENOMEM;
	err = vagx_programs_get(core, va, &held->program);
	if (err) {
		free(held);
		return err;
	}
	held->next = core->held;
	core->held = held;
	core->held_ops += held->program->count + HELD_COST;
	return core->held_ops > MAX_OPS ? -E2BIG : 0;
}

static int find_entry(struct vagx_core *core, uint64_t va, struct entry *entry)
{
	int err = 0;

	if (find_held(core, va, entry))
		return 0;
	err = hold(core, va);
	if (!err && !find_held(core, va, entry))
		err = -EINVAL;
	if (err == -E2BIG)
		fail(core, -EILSEQ,
		     "program at 0x%llx: more than %u instructions",
		     (unsigned long long)va, MAX_OPS);
	else if (err)
		fail(core, err, "program at 0x%llx: no memory",
		     (unsigned long long)va);
	return err;
}

int vagx_core_jump(struct simdgroup *sg, uint64_t va)
{
	struct entry entry = { .program = sg->program };
	int err = 0;

	if (!vagx_program_index(sg->program, va, &entry.pc))
		err = find_entry(sg->core, va, &entry);
	if (err)
		sg->state = SIMDGROUP_FAILED;
	else
		enter(sg, entry.program, entry.pc);
	return err;
}

/* Finds the program's first op; of another launch nothing is used */
static int load(struct vagx_core *core, uint64_t va, unsigned int halves,
		uint64_t serial, struct entry *entry)
{
	core->register_halves = halves && halves < AGX_ISA_REGISTERS ?
				halves : AGX_ISA_REGISTERS;
	if (core->serial != serial || !serial) {
		drop_programs(core);
		free_private_memory(core);
	}
	core->serial = serial;
	return find_entry(core, va, entry);
}

static void begin(struct vagx_core *core, const struct vagx_launch *launch)
{
	core->status = 0;
	core->error[0] = '\0';
	core->launch = launch;
	core->fault = (struct vagx_uat_fault){ 0 };
	core->failure.simdgroup = NULL;
}

static int end(struct vagx_core *core, struct vagx_uat_fault *fault)
{
	if (core->status == -EFAULT && fault)
		*fault = core->fault;
	core->launch = NULL;
	core->uniforms_out = NULL;
	core->preshader_of = NULL;
	core->shared_tile.memory = NULL;
	return core->status;
}

static bool launch_is_valid(const struct vagx_launch *launch,
			    const uint32_t group[3])
{
	uint64_t threads = 1;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		threads *= launch->local[i];
		if (!threads || threads > VAGX_CORE_MAX_THREADS ||
		    (uint64_t)group[i] * launch->local[i] >= launch->grid[i])
			return false;
	}
	return launch->shared_size <= VAGX_CORE_MAX_SHARED;
}

static unsigned int place_group(struct vagx_core *core, const uint32_t group[3])
{
	const struct vagx_launch *launch = core->launch;
	unsigned int threads = 1, i;

	for (i = 0; i < 3; i++) {
		uint32_t left = launch->grid[i] - group[i] * launch->local[i];

		core->group[i] = group[i];
		core->size[i] = left < launch->local[i] ? left :
							  launch->local[i];
		threads *= core->size[i];
	}
	return threads;
}

int vagx_core_run_group(struct vagx_core *core,
			const struct vagx_launch *launch,
			const uint32_t group[3], struct vagx_uat_fault *fault)
{
	struct entry entry;

	begin(core, launch);
	if (!launch_is_valid(launch, group)) {
		fail(core, -EINVAL, "launch outside of the limits");
		return end(core, fault);
	}
	if (load(core, launch->code_va, launch->regs, launch->serial, &entry))
		return end(core, fault);

	memset(core->shared, 0, launch->shared_size);
	core->shared_tile = (struct vagx_tile){
		.width = launch->tile_width,
		.height = launch->tile_height,
		.samples = launch->tile_samples,
		.memory = launch->tile_width ? core->shared : NULL,
	};
	if (!run_threads(core, place_group(core, group), &entry))
		core->stats.groups++;
	return end(core, fault);
}

int vagx_core_run_stage(struct vagx_core *core, const struct vagx_launch *launch,
			unsigned int threads, struct vagx_uat_fault *fault)
{
	struct entry entry;
	unsigned int i;

	begin(core, launch);
	for (i = 0; i < 3; i++) {
		core->group[i] = 0;
		core->size[i] = i ? 1 : threads;
	}
	if (!load(core, launch->code_va, launch->regs, launch->serial, &entry))
		run_threads(core, threads, &entry);
	return end(core, fault);
}

int vagx_core_run_preshader(struct vagx_core *core, struct vagx_launch *launch,
			    struct vagx_uat_fault *fault)
{
	struct entry entry;
	unsigned int i;

	if (!launch->preshader_va)
		return 0;

	begin(core, launch);
	core->uniforms_out = launch->uniforms;
	core->preshader_of = launch;
	for (i = 0; i < 3; i++) {
		core->group[i] = 0;
		core->size[i] = 1;
	}
	/* Its program is not that of the launch: none is kept */
	if (!load(core, launch->preshader_va, launch->preshader_regs, 0, &entry))
		run_threads(core, 1, &entry);
	return end(core, fault);
}
