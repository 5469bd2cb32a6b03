// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The vertex data master: its stream, the state that its records leave for the
 * units behind it, and the USC words of each draw.
 */
#include "fuzz.h"
#include "gpu/core.h"
#include "gpu/usc.h"
#include "gpu/vdm.h"

static struct vagx_launch launch;
static struct vagx_tlb tlb = { .slot = 1 };

static void draw(struct vdm *vdm)
{
	struct vagx_usc_source source = {
		.tlb = vdm->tlb,
		.report = vdm->report,
		.vm_slot = vdm->vm_slot,
		.base = FUZZ_VA,
	};
	struct vagx_uat_fault fault;
	struct ppp_state state;

	ppp_unpack(&state, &vdm->ppp);
	vagx_usc_load(&source, vdm->pipeline, &launch, &fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vdm vdm = {
		.tlb = &tlb,
		.report = fuzz_report(),
		.vm_slot = 1,
		.stop = &fuzz_stop,
	};
	unsigned int draws = 0;

	fuzz_memory(data, size);
	vdm_init(&vdm, FUZZ_VA);
	while (draws++ < 100 && vdm_next(&vdm) > 0)
		draw(&vdm);
	return 0;
}
