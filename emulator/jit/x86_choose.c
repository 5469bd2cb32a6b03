// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * x86-64: which vectors the processor has.
 */
#include "build.h"

const struct vectors *vagx_host_vectors(const struct vagx_jit_config *config, const char **why)
{
	*why = "the compiler needs AVX2, FMA and F16C";
	if (!__builtin_cpu_supports("popcnt"))
		return NULL;
	if (!config->avx2 && __builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		return &vagx_vectors_avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	    __builtin_cpu_supports("f16c"))
		return &vagx_vectors_avx2;
	return NULL;
}
