// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The entry of native code, and the ways back to C.
 */
#include "build.h"

void vagx_build_routines(struct build *b)
{
	vagx_host_enter(b);
	b->vectors->enter(b);
	vagx_host_enter_at(b);
	b->leave = b->code.length;
	b->vectors->before_call(b);
	vagx_host_leave(b);
}

void vagx_build_replay(struct build *b, uint32_t pc, uint32_t count)
{
	vagx_host_set_field(b, offsetof(struct simdgroup, pc), pc);
	vagx_host_set_result(b, count);
	vagx_host_set_target(b, vagx_host_jump(b), b->leave);
}

void vagx_build_native_mode(struct build *b)
{
	if (b->in_c_mode)
		vagx_host_native_mode(b);
	b->in_c_mode = false;
}

void vagx_build_leave(struct build *b, uint32_t pc)
{
	vagx_build_replay(b, pc, 0);
}
