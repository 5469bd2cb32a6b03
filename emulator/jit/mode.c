// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Names of the compiler's modes, as options have them.
 */
#include <string.h>

#include "jit.h"

/* Whether @rest of a configuration chooses AVX2, which is there to choose on x86-64 only */
static bool mode_is_avx2(const char *rest)
{
#ifdef __x86_64__
	return !strcmp(rest, ",avx2");
#else
	(void)rest;
	return false;
#endif
}

bool vagx_jit_parse(const char *text, struct vagx_jit_config *config)
{
	static const char *const names[] = {
		[VAGX_JIT_OFF] = "off",
		[VAGX_JIT_ON] = "on",
		[VAGX_JIT_ALL] = "all",
		[VAGX_JIT_CHECK] = "check",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *rest = text + strlen(names[i]);

		if (strncmp(text, names[i], strlen(names[i])) || (*rest && !mode_is_avx2(rest)))
			continue;
		config->mode = i;
		config->avx2 = *rest;
		return true;
	}
	return false;
}
