// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * AArch64: all of them have the same vectors.
 */
#include "build.h"

const struct vectors *vagx_host_vectors(const struct vagx_jit_config *config, const char **why)
{
	(void)config;
	*why = NULL;
	return &vagx_vectors_neon;
}
