// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Names of the compiler's modes, as options have them.
 */
#include <string.h>

#include "jit.h"

bool vagx_jit_parse(const char *name, enum vagx_jit_mode *mode)
{
	static const char *const names[] = {
		[VAGX_JIT_OFF] = "off",
		[VAGX_JIT_ON] = "on",
		[VAGX_JIT_ALL] = "all",
		[VAGX_JIT_CHECK] = "check",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]))
			continue;
		*mode = i;
		return true;
	}
	return false;
}
