// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Entry points: where a simdgroup begins, or goes on after a jump to a register. A launch
 * holds a reference to each program that it has entered, so that ops stay where they are
 * while it runs. A target that is in none of them is decoded, or found in the cache that the
 * cores share (program_cache.c). Called by the thread that runs the core, without locks.
 */
#include <errno.h>
#include <stdlib.h>

#include "core_internal.h"

/* What each program of a launch counts in MAX_OPS, in instructions, besides its own */
#define HELD_COST	16

void vagx_core_drop_programs(struct vagx_core *core)
{
	while (core->held) {
		struct held_program *held = core->held;

		core->held = held->next;
		vagx_programs_put(core->config.programs, held->program);
		free(held);
	}
	core->held_ops = 0;
	core->begun.program = NULL;
}

/* Looks for an address in the programs that this launch holds */
static bool core_entry_find_held(const struct vagx_core *core, uint64_t va,
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
 * bounded, so that a launch that jumps to ever new addresses does not take all memory. Return: 0,
 * -ENOMEM, -E2BIG beyond the bound, or the decoder's error.
 */
static int core_entry_hold(struct vagx_core *core, uint64_t va)
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

int vagx_core_find_entry(struct vagx_core *core, uint64_t va, struct entry *entry)
{
	int err = 0;

	if (core_entry_find_held(core, va, entry))
		return 0;
	err = core_entry_hold(core, va);
	if (!err && !core_entry_find_held(core, va, entry))
		err = -EINVAL;
	if (err == -E2BIG)
		vagx_core_set_error(core, -EILSEQ, "program at 0x%llx: more than %u instructions",
				    (unsigned long long)va, MAX_OPS);
	else if (err)
		vagx_core_set_error(core, err, "program at 0x%llx: no memory",
				    (unsigned long long)va);
	return err;
}

int vagx_core_jump(struct simdgroup *sg, uint64_t va)
{
	struct entry entry = { .program = sg->program };
	int err = 0;

	if (!vagx_program_index(sg->program, va, &entry.pc))
		err = vagx_core_find_entry(sg->core, va, &entry);
	if (err)
		sg->state = SIMDGROUP_FAILED;
	else
		enter_program(sg, &entry);
	return err;
}
