// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The shader core: runs threadgroups, and the simdgroups of stages, as SIMD groups of 32 lanes
 * with an execution mask. An interpreter: each decoded instruction is a function that works on
 * all lanes of a simdgroup. Programs that run often are compiled (jit/jit.h). Simdgroups of a
 * threadgroup run one after the other in time slices, until all have stopped, or wait at a
 * barrier. The seed chooses their order, as no machine promises one.
 *
 * One thread runs a core at a time. Cores share decoded programs through a cache with a lock
 * (program_cache.c), and the client's memory; nothing else.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core_tile.h"
#include "gpu/pattern.h"

/*
 * Time slice: instructions that a simdgroup runs before the next one does, as one may wait for
 * memory that the other writes. The stop flag is read between slices.
 */
#define SLICE	8192

/*
 * Threadgroups in a row, and rounds, in which simdgroups take turns in the same order: they are fast
 * then, as the host's processor learns what comes next
 */
#define ROW_OF_GROUPS	16
#define SAME_ROUNDS	256

/* How often a tile is filled in two ways, which have to agree once */
#define FILL_RETRIES	4

struct vagx_core *vagx_core_new(const struct vagx_core_config *config)
{
	struct vagx_core *core = calloc(1, sizeof(*core));
	unsigned int i;

	if (!core)
		return NULL;
	core->config = *config;
	for (i = 0; i < REGISTERS; i++)
		core->garbage[i] = vagx_pattern(config->seed, VAGX_PATTERN_REGISTERS, i);
	/* a sample's four components are read as a whole, as in tiles */
	core->shared = calloc(1, VAGX_CORE_MAX_SHARED + VAGX_TILE_SLACK);
	if (config->sanitizer)
		core->shadow = vagx_shadow_new(config->sanitizer);
	if (!core->shared || (config->sanitizer && !core->shadow)) {
		vagx_core_free(core);
		return NULL;
	}
	core->keeps_stores = core->shadow && vagx_shadow_keeps_stores(core->shadow);
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

void vagx_core_free(struct vagx_core *core)
{
	unsigned int i;

	if (!core)
		return;
	core_free_private_memory(core);
	vagx_core_drop_programs(core);
	for (i = 0; i < MAX_SIMDGROUPS; i++)
		free(core->simdgroup[i]);
	vagx_shadow_free(core->shadow);
	free(core->shared);
	free(core->textures);
	free(core);
}

void vagx_core_settle(struct vagx_core *core)
{
	if (core->shadow)
		vagx_shadow_settle(core->shadow);
}

void vagx_core_begin_tile(struct vagx_core *core)
{
	if (core->shadow)
		vagx_shadow_begin_tile(core->shadow);
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

static void core_run_slice(struct simdgroup *sg)
{
	struct vagx_core *core = sg->core;
	const int length = vagx_rest_slice(core, SLICE);
	struct vagx_slice slice = { .left = length };
	const struct vagx_native *native;

	/* a jump to a register can enter another program, with code of its own */
	while (sg->state == SIMDGROUP_RUNS && slice.left > 0) {
		native = core->shadow ? NULL : vagx_jit_enter(core->config.jit, sg);
		if (native && sg->program->finds_fragments)
			vagx_stage_place(sg);
		if (core->shadow)
			vagx_shadow_run(sg, &slice);
		else if (native)
			vagx_jit_run(native, sg, &slice);
		else
			interpret(sg, &slice, (unsigned int)slice.left);
	}
	core->stats.instructions += (uint64_t)(length - slice.left);
	core->stats.thread_instructions += slice.thread_instructions;
}

/* Puts the simdgroups of a threadgroup in a row, twice: a round is any @count of them in a row */
static void core_line_up(struct vagx_core *core, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < 2 * count; i++) {
		core->turns[0][i] = core->simdgroup[i % count];
		core->turns[1][i] = core->simdgroup[count - 1 - i % count];
	}
	core->lined_up = count;
}

/* Chooses how the simdgroups of a threadgroup take turns, by the place of the group in the grid */
static void core_order_turns(struct vagx_core *core, unsigned int count)
{
	const uint32_t *group = core->group;

	core->turn = core->simdgroup;
	if (count == 1)
		return;
	if (core->lined_up != count)
		core_line_up(core, count);
	core->choice = vagx_pattern_mix(core->config.seed, group[0] / ROW_OF_GROUPS +
					0x10001 * group[1] + 0x1000003 * group[2]);
	core->round = 0;
}

/*
 * Begins a round. In some of them another simdgroup has the first turn, in most it is as before;
 * with the sanitizer, which is slow anyway, it is another one in each.
 */
static struct simdgroup *const *core_begin_round(struct vagx_core *core, unsigned int count)
{
	const uint32_t round = core->round++;
	const bool backward = core->choice % 4 == 0;

	if (count > 1 && (round % SAME_ROUNDS < 2 || core->shadow))
		core->turn = core->turns[backward] +
			     vagx_pattern_pick(core->config.seed, core->choice + round, count);
	return core->turn;
}

/*
 * Runs each simdgroup for a slice, then opens the barrier if all of them wait at it. The others
 * follow the first one forward or backward, as memory is faster in a row.
 * Return: false if all have stopped, or one has failed.
 */
static bool core_run_slices(struct vagx_core *core, unsigned int count)
{
	struct simdgroup *const *turn = core_begin_round(core, count);
	unsigned int i, running = 0, waiting = 0;

	for (i = 0; i < count; i++) {
		struct simdgroup *sg = turn[i];

		if (sg->state == SIMDGROUP_RUNS)
			core_run_slice(sg);
		if (sg->state == SIMDGROUP_FAILED)
			return false;
		running += sg->state == SIMDGROUP_RUNS;
		waiting += sg->state == SIMDGROUP_WAITS;
	}
	if (running && !core->shadow)
		vagx_rest_after_round(core, count);
	if (!running && waiting && core->shadow)
		vagx_shadow_open_barrier(core, count);
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
	vagx_core_set_error(core, -ECANCELED, "cancelled");
	return true;
}

/* Whether threads that do not exist are out of sight of those that do */
static bool core_hides_missing(uint32_t valid, unsigned int sees)
{
	if (sees == LANES)
		return valid == ALL_LANES;
	return sees == 1 || valid == (valid & 0x11111111) * 15;
}

/* Gives the registers that the program may read before it writes them values of their own */
INLINE void core_spoil_registers(struct simdgroup *sg, const struct entry *entry)
{
	const uint32_t *garbage = sg->core->garbage;
	const struct program *p = entry->program;
	unsigned int i, reg;

	if (entry->pc || !core_hides_missing(sg->valid, p->sees)) {
		for (i = 0; i < (p->register_halves + 1) / 2; i++)
			splat(&sg->reg[i], garbage[i]);
		return;
	}
	for (i = 0; i < p->num_unwritten; i++) {
		reg = p->unwritten[i];
		splat(&sg->reg[reg], garbage[reg]);
	}
}

/* What all lanes begin with: each of their registers, and of their masks, is one or two vectors */
CLONES static void core_start_lanes(struct simdgroup *sg, const struct entry *entry)
{
	core_spoil_registers(sg, entry);
	set_exec(sg, sg->valid);
}

static int core_start_simdgroup(struct vagx_core *core, unsigned int index,
				unsigned int threads, const struct entry *entry)
{
	struct simdgroup *sg = core->simdgroup[index];

	if (!sg) {
		sg = aligned_alloc(_Alignof(struct simdgroup), sizeof(*sg));
		if (!sg)
			return -ENOMEM;
		memset(sg, 0, sizeof(*sg));
		core->simdgroup[index] = sg;
	}

	sg->core = core;
	sg->index = index;
	vagx_simd_place(sg);
	sg->exists = threads < LANES ? (1u << threads) - 1 : ALL_LANES;
	if (core->fragments)
		sg->exists = core->fragments->exists;
	sg->valid = sg->exists;
	core_start_lanes(sg, entry);
	sg->state = SIMDGROUP_RUNS;
	enter_program(sg, entry);
	sg->stack_pointer = 0;
	sg->failed_lane = LANES;
	vagx_stage_enter(sg);
	return core->shadow ? vagx_shadow_begin_simdgroup(sg) : 0;
}

static int core_run_threads(struct vagx_core *core, unsigned int threads,
			    const struct entry *entry)
{
	unsigned int count = (threads + LANES - 1) / LANES, i;

	if (core->shadow)
		vagx_shadow_begin_group(core);
	for (i = 0; i < count; i++) {
		if (core_start_simdgroup(core, i, threads - i * LANES, entry)) {
			vagx_core_set_error(core, -ENOMEM, "no memory for a simdgroup");
			return core->status;
		}
	}
	core_order_turns(core, count);
	vagx_rest_begin(core);
	while (!core_stopped(core) && core_run_slices(core, count))
		;
	return core->status;
}

/* Drops what the last launch held, and finds the first instruction of this one */
static int core_load(struct vagx_core *core, uint64_t va, unsigned int halves,
		     uint64_t serial, struct entry *entry)
{
	int err = 0;

	core->register_halves = halves && halves < AGX_ISA_REGISTERS ?
				halves : AGX_ISA_REGISTERS;
	if (core->serial != serial || !serial) {
		vagx_core_drop_programs(core);
		core_free_private_memory(core);
	}
	core->serial = serial;
	if (!core->begun.program || core->begun_va != va)
		err = vagx_core_find_entry(core, va, &core->begun);
	if (err)
		core->begun.program = NULL;
	core->begun_va = va;
	*entry = core->begun;
	return err;
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

/* Sets the group's size, which is less at the end of the grid. Return: its threads. */
static unsigned int core_set_size(struct vagx_core *core)
{
	const struct vagx_launch *launch = core->launch;
	unsigned int threads = 1, i;

	for (i = 0; i < 3; i++) {
		uint32_t left = launch->grid[i] - core->group[i] * launch->local[i];

		core->size[i] = left < launch->local[i] ? left :
							  launch->local[i];
		threads *= core->size[i];
	}
	return threads;
}

/* Goes on to the next group of the grid */
static void core_next_group(struct vagx_core *core)
{
	const struct vagx_launch *launch = core->launch;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		core->group[i]++;
		if ((uint64_t)core->group[i] * launch->local[i] < launch->grid[i])
			return;
		core->group[i] = 0;
	}
}

int vagx_core_run_groups(struct vagx_core *core, const struct vagx_launch *launch,
			 const uint32_t group[3], unsigned int count,
			 struct vagx_uat_fault *fault)
{
	struct entry entry;

	core_begin(core, launch);
	memcpy(core->group, group, sizeof(core->group));
	if (!core_launch_is_valid(launch, group)) {
		vagx_core_set_error(core, -EINVAL, "launch outside of the limits");
		return core_end(core, fault);
	}
	if (core_load(core, launch->code_va, launch->regs, launch->serial, &entry))
		return core_end(core, fault);

	core->shared_tile = (struct vagx_tile){
		.width = launch->tile_width,
		.height = launch->tile_height,
		.samples = launch->tile_samples,
		.memory = launch->tile_width ? core->shared : NULL,
	};
	for (; count; count--) {
		vagx_pattern_fill(core->config.seed, VAGX_PATTERN_SHARED, core->shared,
				  launch->shared_size);
		if (core_run_threads(core, core_set_size(core), &entry))
			break;
		core->stats.groups++;
		core_next_group(core);
	}
	return core_end(core, fault);
}

/* Begins a stage, of one simdgroup after the other. Return: 0, or why it has failed. */
static int core_begin_stage(struct vagx_core *core, const struct vagx_launch *launch,
			    unsigned int threads, struct entry *entry)
{
	unsigned int i;

	core_begin(core, launch);
	for (i = 0; i < 3; i++) {
		core->group[i] = 0;
		core->size[i] = i ? 1 : threads;
	}
	return core_load(core, launch->code_va, launch->regs, launch->serial, entry);
}

/* Runs one simdgroup of a stage. Return: as vagx_core_run_groups(). */
static int core_run_stage(struct vagx_core *core, const struct vagx_launch *launch,
			  unsigned int threads, struct vagx_uat_fault *fault)
{
	struct entry entry;

	if (!core_begin_stage(core, launch, threads, &entry))
		core_run_threads(core, threads, &entry);
	return core_end(core, fault);
}

int vagx_core_run_vertices(struct vagx_core *core, const struct vagx_launch *launch,
			   struct vagx_vertices *vertices, struct vagx_uat_fault *fault)
{
	int err;

	core->vertices = vertices;
	err = core_run_stage(core, launch, vertices->count, fault);
	core->vertices = NULL;
	return err;
}

int vagx_core_run_fragments(struct vagx_core *core, const struct vagx_launch *launch,
			    struct vagx_tile *tile, struct vagx_fragments *f,
			    struct vagx_uat_fault *fault)
{
	int err;

	core->tile = tile;
	core->fragments = f;
	err = core_run_stage(core, launch, LANES, fault);
	core->tile = NULL;
	core->fragments = NULL;
	return err;
}

/* Runs a program for all pixels of the core's tile */
static void core_fill_tile(struct vagx_core *core, const struct entry *entry)
{
	const struct vagx_tile *tile = core->tile;
	struct vagx_fragments all = { .tested = true };
	uint32_t x, y;

	core->fragments = &all;
	memset(all.input, (1 << tile->samples) - 1, sizeof(all.input));
	for (y = 0; !core->status && y < tile->height; y += VAGX_HALF_HEIGHT) {
		for (x = 0; !core->status && x < tile->width; x += VAGX_HALF_WIDTH) {
			vagx_stage_place_half(&all, tile->x + x, tile->y + y);
			memset(all.live, (1 << tile->samples) - 1, sizeof(all.live));
			core_run_threads(core, LANES, entry);
		}
	}
	core->fragments = NULL;
}

/* Whether a program that copies an image to the core's tile has been done without running it */
static bool core_copy_image(struct vagx_core *core, const struct entry *entry)
{
	const uint64_t pixels = (uint64_t)core->tile->width * core->tile->height;

	if (!core->config.jit || core->shadow || entry->pc ||
	    !vagx_tile_copy_image(core, entry->program))
		return false;
	core->stats.instructions += entry->program->count * (pixels / LANES);
	core->stats.thread_instructions += entry->program->count * pixels;
	return true;
}

/* Runs the program, and does without it. Return: whether both have the same result. */
static bool core_fills_agree(struct vagx_core *core, const struct entry *entry)
{
	uint8_t before[VAGX_TILE_BYTES], copied[VAGX_TILE_BYTES];
	const struct vagx_core_stats stats = core->stats;
	uint8_t *memory = core->tile->memory;
	bool is_copy;

	memcpy(before, memory, sizeof(before));
	is_copy = core_copy_image(core, entry);
	memcpy(copied, memory, sizeof(copied));
	memcpy(memory, before, sizeof(before));
	core->stats = stats;
	core_fill_tile(core, entry);
	return !is_copy || core->status || !memcmp(memory, copied, sizeof(copied));
}

/* As core_fill_tile(). What else writes to the image may make a difference, but not each time. */
static void core_check_fill(struct vagx_core *core, const struct entry *entry)
{
	unsigned int i;

	for (i = 0; i < FILL_RETRIES; i++) {
		if (core_fills_agree(core, entry))
			return;
	}
	vagx_core_set_error(core, -EILSEQ, "a copy of an image differs in the tile at %u, %u",
			    core->tile->x, core->tile->y);
}

int vagx_core_run_background(struct vagx_core *core, const struct vagx_launch *launch,
			     struct vagx_tile *tile, struct vagx_uat_fault *fault)
{
	struct entry entry;

	core->tile = tile;
	if (!core_begin_stage(core, launch, LANES, &entry) && !core_stopped(core)) {
		if (vagx_jit_checks(core->config.jit))
			core_check_fill(core, &entry);
		else if (!core_copy_image(core, &entry))
			core_fill_tile(core, &entry);
	}
	core->tile = NULL;
	return core_end(core, fault);
}

int vagx_core_run_tile(struct vagx_core *core, const struct vagx_launch *launch,
		       struct vagx_tile *tile, struct vagx_uat_fault *fault)
{
	int err;

	core->tile = tile;
	err = core_run_stage(core, launch, 1, fault);
	core->tile = NULL;
	return err;
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
	/* serial 0: the launch does not hold the preshader's program */
	if (!core_load(core, launch->preshader_va, launch->preshader_regs, 0, &entry))
		core_run_threads(core, 1, &entry);
	vagx_core_settle(core);
	return core_end(core, fault);
}
