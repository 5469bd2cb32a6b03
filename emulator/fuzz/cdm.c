// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The compute data master, with the USC words of its launches. Cores are left out.
 */
#include "fuzz.h"
#include "gpu/cdm.h"
#include "gpu/core.h"
#include "gpu/gpu.h"
#include "uat.h"

static int launch(void *ctx, struct vagx_launch *l, struct vagx_uat_fault *fault,
		  unsigned int *unit)
{
	unsigned int i;

	/* What the cores divide work by, and multiply */
	for (i = 0; i < 3; i++)
		FUZZ_CHECK(l->local[i]);
	FUZZ_CHECK((uint64_t)l->local[0] * l->local[1] * l->local[2] <= VAGX_CORE_MAX_THREADS);
	return 0;
}

static struct vagx_tlb tlb = { .slot = 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vagx_compute_registers registers = {
		.cdm_base = FUZZ_VA,
		.cdm_end = FUZZ_VA + size,
		.usc_base = FUZZ_VA,
	};
	struct vagx_cdm cdm = {
		.tlb = &tlb,
		.report = fuzz_report(),
		.vm_slot = 1,
		.registers = &registers,
		.stop = &fuzz_stop,
		.launch = launch,
	};
	struct vagx_uat_fault fault;
	uint64_t packets = 0;
	unsigned int unit;

	if (!size)
		return 0;
	cdm.packets = &packets;
	cdm.features = data[0] & 1;
	fuzz_memory(data + 1, size - 1);
	vagx_cdm_run(&cdm, &fault, &unit);
	return 0;
}
