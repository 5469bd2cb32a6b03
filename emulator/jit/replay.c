// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Segments with special results, done again by the interpreter.
 */
#include "build.h"

void vagx_native_replay(struct simdgroup *sg, struct vagx_slice *slice, unsigned int count)
{
	uint32_t exec = sg->exec, left = exec & ~((1u << slice->lanes_done / 4) - 1);
	unsigned int done = (unsigned int)__builtin_popcount(exec & ~left);

	/* no instruction of a segment changes the mask */
	set_exec(sg, left);
	interpret(sg, slice, count);
	set_exec(sg, exec);
	slice->thread_instructions += (uint64_t)done * count;
	slice->lanes_done = 0;
}
