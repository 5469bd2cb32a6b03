// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * In the compiler's place, on processors that it has no code for.
 */
#include "jit.h"
#include "native.h"
#include "report.h"

struct vagx_jit *vagx_jit_new(const struct vagx_jit_config *config, struct vagx_report *report)
{
	if (config->mode != VAGX_JIT_OFF)
		vagx_log(report, VAGX_LOG_INFO,
			 "shaders are interpreted: the compiler is for x86-64 and AArch64");
	return NULL;
}

void vagx_jit_free(struct vagx_jit *jit)
{
	(void)jit;
}

void vagx_jit_get_stats(struct vagx_jit *jit, struct vagx_jit_stats *stats)
{
	(void)jit;
	*stats = (struct vagx_jit_stats){ 0 };
}

bool vagx_jit_checks(const struct vagx_jit *jit)
{
	(void)jit;
	return false;
}

const struct vagx_native *vagx_jit_enter(struct vagx_jit *jit, const struct simdgroup *sg)
{
	(void)jit;
	(void)sg;
	return NULL;
}

void vagx_jit_run(const struct vagx_native *native, struct simdgroup *sg,
		  struct vagx_slice *slice)
{
	(void)native;
	(void)sg;
	(void)slice;
}

void vagx_native_free(struct vagx_native *native)
{
	(void)native;
}
