// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The shadow of the tile that a core draws: which bytes a background program or a fragment shader
 * has stored since the tile began. Compute shaders that use local memory as a tile have one for
 * each threadgroup. What is loaded from other bytes is unwritten. That the end of a tile writes
 * such bytes to an image is no mistake: nobody has to draw all of it.
 */
#include <stdlib.h>

#include "gpu/core_tile.h"
#include "sanitizer/shadow.h"

_Static_assert(VAGX_TILE_BYTES >= VAGX_CORE_MAX_SHARED, "local memory is no larger than a tile");

void vagx_shadow_begin_tile(struct vagx_shadow *shadow)
{
	if (shadow->tile)
		memset(shadow->tile, 0, VAGX_TILE_BYTES);
}

/* A lane loads a component */
static void tiles_load(void *ctx, unsigned int lane, uint64_t at, unsigned int bytes)
{
	struct step *step = ctx;
	const uint8_t *tile = step->sg->core->shadow->tile;
	unsigned int i;

	for (i = 0; i < bytes; i++) {
		if (tile[at + i])
			continue;
		step->unwritten |= 1u << lane;
		step->origin = (struct origin){ ORIGIN_TILE, (uint32_t)(at + i) };
	}
}

/*
 * A lane stores a component. If it is unwritten, that of a fragment shader was reported, and is not
 * followed further.
 */
static void tiles_store(void *ctx, unsigned int lane, uint64_t at, unsigned int bytes)
{
	const struct step *step = ctx;
	const struct vagx_core *core = step->sg->core;

	memset(&core->shadow->tile[at], core->fragments || !(step->unwritten >> lane & 1), bytes);
}

void shadow_reach_tile(struct step *step)
{
	struct vagx_shadow *shadow = step->sg->core->shadow;
	const bool is_store = step->op->opcode == AGX_OP_ST_TILE;
	struct source_state value = { 0 };

	if (!is_store && step->op->opcode != AGX_OP_LD_TILE)
		return;
	if (!shadow->tile)
		shadow->tile = calloc(1, VAGX_TILE_BYTES);
	if (!shadow->tile)
		return;
	if (is_store)
		value = shadow_read(step, &step->op->src[0]);
	step->unwritten = value.unwritten;
	vagx_tile_visit(step->sg, step->op, is_store ? tiles_store : tiles_load, step);
}
