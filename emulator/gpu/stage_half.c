// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Half a block of 8 by 8 pixels as the fragments of a simdgroup. Most fragments come like that:
 * tiles are filled so, and large primitives are cut into such pieces. Functions have no state.
 */
#include "gpu/clones.h"
#include "gpu/stage.h"

const uint16_t vagx_half_x[VAGX_SIMD_WIDTH] = {
	0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7,
	0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7,
};
const uint16_t vagx_half_y[VAGX_SIMD_WIDTH] = {
	0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1,
	2, 2, 3, 3, 2, 2, 3, 3, 2, 2, 3, 3, 2, 2, 3, 3,
};

CLONES void vagx_stage_place_half(struct vagx_fragments *f, uint32_t x, uint32_t y)
{
	const uint16_t left = (uint16_t)x, top = (uint16_t)y;
	unsigned int i;

	for (i = 0; i < VAGX_SIMD_WIDTH; i++)
		f->x[i] = left + vagx_half_x[i];
	for (i = 0; i < VAGX_SIMD_WIDTH; i++)
		f->y[i] = top + vagx_half_y[i];
	f->exists = UINT32_MAX;
	f->is_half = true;
}
