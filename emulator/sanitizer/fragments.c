// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Rules of fragment shaders. A fragment waits for those of its pixel that came before ("pixwait")
 * before it reaches the tile; here a core draws a tile in order, so that nothing shows if it does
 * not. Differences between the threads of a quad need all of them. Helper threads store nothing,
 * but make atomics (Mesa's shaders jump around these).
 */
#include "sanitizer/shadow.h"

#define QUAD	4

/* A background program, which has nothing to test, comes before all fragments */
static void fragments_check_tile(const struct step *step)
{
	uint32_t early = step->exec & ~step->shadow->pixel_waited;

	if (early && step->sg->core->fragments->test)
		finding_report(step->sg, step->op, FINDING_PIXEL_WAIT, early, "%s", "");
}

static void fragments_check_quads(const struct step *step)
{
	uint32_t exists = step->sg->core->fragments->exists, broken = 0;
	unsigned int i;

	for (i = 0; i < LANES; i += QUAD) {
		uint32_t quad = ((1u << QUAD) - 1) << i, active = step->exec & quad;

		broken |= active && active != (exists & quad) ? active : 0;
	}
	if (broken)
		finding_report(step->sg, step->op, FINDING_BROKEN_QUAD, broken,
			       ": threads 0x%x of 0x%x", step->exec, exists);
}

static void fragments_check_helpers(const struct step *step)
{
	const struct vagx_fragments *f = step->sg->core->fragments;
	uint32_t helpers = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		helpers |= f->live[i] ? 0 : 1u << i;
	if (step->exec & helpers)
		finding_report(step->sg, step->op, FINDING_HELPER_ATOMIC, step->exec & helpers,
			       ": threads 0x%x", step->exec & helpers);
}

void shadow_check_fragments(const struct step *step)
{
	if (!step->sg->core->fragments)
		return;
	switch (step->op->opcode) {
	case AGX_OP_PIXEL_WAIT:
		step->shadow->pixel_waited |= step->exec;
		break;
	case AGX_OP_LD_TILE:
	case AGX_OP_ST_TILE:
		fragments_check_tile(step);
		break;
	case AGX_OP_DFDX:
	case AGX_OP_DFDY:
		fragments_check_quads(step);
		break;
	case AGX_OP_ATOMIC:
		fragments_check_helpers(step);
		break;
	default:
		break;
	}
}
