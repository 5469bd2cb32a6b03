// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Native code of a program, below everything that makes or runs it.
 */
#include <stdlib.h>

#include "build.h"
#include "native.h"

void vagx_native_free(struct vagx_native *native)
{
	if (!native)
		return;
	vagx_arena_remove(native->arena, &native->code);
	free(native->pool);
	free(native->entry[VERSION_FULL]);
	free(native->entry[VERSION_MASKED]);
	free(native);
}
