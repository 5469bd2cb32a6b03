// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The shader core: threadgroups made of simdgroups, run in turns until all have stopped. An
 * interpreter: each instruction is a function that works on all lanes of a simdgroup, under
 * its execution mask. One thread runs a core at a time; cores share programs and textures
 * through caches that lock, and nothing else.
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
/* What each program of a launch counts in MAX_OPS, in instructions, besides its own */
#define HELD_COST	16

/* The instruction at which a simdgroup begins or goes on */
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

/* Frees the private memory of the last launch, which the next one may not need */
static void core_free_private_memory(struct vagx_core *core)
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

static void core_drop_programs(struct vagx_core *core)
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
	core_free_private_memory(core);
	core_drop_programs(core);
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

/* Ends the launch with a failure; only the first one of a launch is kept */
static void core_fail(struct vagx_core *core, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void core_fail(struct vagx_core *core, int status, const char *format, ...)
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
		core_fail(sg->core, status, "instruction at 0x%llx: %s",
			  (unsigned long long)op->va, text);
	else
		core_fail(sg->core, status, "%s", text);
	sg->state = SIMDGROUP_FAILED;
}

static void core_run_turn(struct simdgroup *sg)
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

/* Gives each simdgroup a turn, then opens the barrier if all of them wait at it */
static bool core_run_turns(struct vagx_core *core, unsigned int count)
{
	unsigned int i, running = 0, waiting = 0;

	for (i = 0; i < count; i++) {
		struct simdgroup *sg = core->simdgroup[i];

		if (sg->state == SIMDGROUP_RUNS)
			core_run_turn(sg);
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

static bool core_stopped(struct vagx_core *core)
{
	const atomic_bool *stop = core->launch->stop;

	if (!stop || !atomic_load_explicit(stop, memory_order_relaxed))
		return false;
	core_fail(core, -ECANCELED, "cancelled");
	return true;
}

static void core_enter(struct simdgroup *sg, const struct program *program, uint32_t pc)
{
	sg->program = program;
	sg->op = program->op;
	sg->pc = pc;
}

static int core_start_simdgroup(struct vagx_core *core, unsigned int index,
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
	core_enter(sg, entry->program, entry->pc);
	sg->stack_pointer = 0;
	sg->failed_lane = LANES;
	set_exec(sg, sg->valid);
	vagx_stage_enter(sg);
	return 0;
}

static int core_run_threads(struct vagx_core *core, unsigned int threads,
			    const struct entry *entry)
{
	unsigned int count = (threads + LANES - 1) / LANES, i;

	for (i = 0; i < count; i++) {
		if (core_start_simdgroup(core, i, threads - i * LANES, entry)) {
			core_fail(core, -ENOMEM, "no memory for a simdgroup");
			return core->status;
		}
	}
	while (!core_stopped(core) && core_run_turns(core, count))
		;
	return core->status;
}

/* Looks for an address in the programs that this launch holds */
static bool core_find_held(const struct vagx_core *core, uint64_t va,
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

/*
 * Takes a reference to the program at an address for this launch. The number of instructions is
 * bounded, so that a launch that jumps to ever new places does not take all memory. Return: 0,
 * -ENOMEM, -E2BIG beyond the bound, or the decoder's error.
 */
static int core_hold(struct vagx_core *core, uint64_t va)
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

static int core_find_entry(struct vagx_core *core, uint64_t va, struct entry *entry)
{
	int err = 0;

	if (core_find_held(core, va, entry))
		return 0;
	err = core_hold(core, va);
	if (!err && !core_find_held(core, va, entry))
		err = -EINVAL;
	if (err == -E2BIG)
		core_fail(core, -EILSEQ,
			  "program at 0x%llx: more than %u instructions",
			  (unsigned long long)va, MAX_OPS);
	else if (err)
		core_fail(core, err, "program at 0x%llx: no memory",
			  (unsigned long long)va);
	return err;
}

int vagx_core_jump(struct simdgroup *sg, uint64_t va)
{
	struct entry entry = { .program = sg->program };
	int err = 0;

	if (!vagx_program_index(sg->program, va, &entry.pc))
		err = core_find_entry(sg->core, va, &entry);
	if (err)
		sg->state = SIMDGROUP_FAILED;
	else
		core_enter(sg, entry.program, entry.pc);
	return err;
}

/* Drops what the last launch held, and finds the first instruction of this one */
static int core_load(struct vagx_core *core, uint64_t va, unsigned int halves,
		     uint64_t serial, struct entry *entry)
{
	core->register_halves = halves && halves < AGX_ISA_REGISTERS ?
				halves : AGX_ISA_REGISTERS;
	if (core->serial != serial || !serial) {
		core_drop_programs(core);
		core_free_private_memory(core);
	}
	core->serial = serial;
	return core_find_entry(core, va, entry);
}

static void core_begin(struct vagx_core *core, const struct vagx_launch *launch)
{
	core->status = 0;
	core->error[0] = '\0';
	core->launch = launch;
	core->fault = (struct vagx_uat_fault){ 0 };
	core->failure.simdgroup = NULL;
}

static int core_end(struct vagx_core *core, struct vagx_uat_fault *fault)
{
	if (core->status == -EFAULT && fault)
		*fault = core->fault;
	core->launch = NULL;
	core->uniforms_out = NULL;
	core->preshader_of = NULL;
	core->shared_tile.memory = NULL;
	return core->status;
}

static bool core_launch_is_valid(const struct vagx_launch *launch,
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

static unsigned int core_place_group(struct vagx_core *core, const uint32_t group[3])
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

	core_begin(core, launch);
	if (!core_launch_is_valid(launch, group)) {
		core_fail(core, -EINVAL, "launch outside of the limits");
		return core_end(core, fault);
	}
	if (core_load(core, launch->code_va, launch->regs, launch->serial, &entry))
		return core_end(core, fault);

	memset(core->shared, 0, launch->shared_size);
	core->shared_tile = (struct vagx_tile){
		.width = launch->tile_width,
		.height = launch->tile_height,
		.samples = launch->tile_samples,
		.memory = launch->tile_width ? core->shared : NULL,
	};
	if (!core_run_threads(core, core_place_group(core, group), &entry))
		core->stats.groups++;
	return core_end(core, fault);
}

int vagx_core_run_stage(struct vagx_core *core, const struct vagx_launch *launch,
			unsigned int threads, struct vagx_uat_fault *fault)
{
	struct entry entry;
	unsigned int i;

	core_begin(core, launch);
	for (i = 0; i < 3; i++) {
		core->group[i] = 0;
		core->size[i] = i ? 1 : threads;
	}
	if (!core_load(core, launch->code_va, launch->regs, launch->serial, &entry))
		core_run_threads(core, threads, &entry);
	return core_end(core, fault);
}

int vagx_core_run_preshader(struct vagx_core *core, struct vagx_launch *launch,
			    struct vagx_uat_fault *fault)
{
	struct entry entry;
	unsigned int i;

	if (!launch->preshader_va)
		return 0;

	core_begin(core, launch);
	core->uniforms_out = launch->uniforms;
	core->preshader_of = launch;
	for (i = 0; i < 3; i++) {
		core->group[i] = 0;
		core->size[i] = 1;
	}
	/* Its program is not that of the launch: none is kept */
	if (!core_load(core, launch->preshader_va, launch->preshader_regs, 0, &entry))
		core_run_threads(core, 1, &entry);
	return core_end(core, fault);
}
