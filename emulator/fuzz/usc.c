// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * USC words alone, from any place.
 */
#include "fuzz.h"
#include "gpu/core.h"
#include "gpu/usc.h"
#include "uat.h"

static struct vagx_launch launch;
static struct vagx_tlb tlb = { .slot = 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vagx_usc_source source = {
		.tlb = &tlb,
		.report = fuzz_report(),
		.vm_slot = 1,
		.base = FUZZ_VA,
	};
	struct vagx_uat_fault fault;

	fuzz_memory(data, size);
	vagx_usc_load(&source, 0, &launch, &fault);
	return 0;
}
