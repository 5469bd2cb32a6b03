/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The tile buffer that instructions of a simdgroup load from and store to.
 */
#ifndef VAGX_CORE_TILE_H
#define VAGX_CORE_TILE_H

#include "core_internal.h"

/* The tile of a render stage, or the shared memory of a compute shader as one; NULL for neither */
static inline const struct vagx_tile *find_tile(const struct simdgroup *sg)
{
	const struct vagx_core *core = sg->core;

	if (core->tile)
		return core->tile;
	return core->shared_tile.memory ? &core->shared_tile : NULL;
}

/* Bytes of the tile's memory */
static inline uint64_t tile_bytes(const struct simdgroup *sg)
{
	return sg->core->tile ? VAGX_TILE_BYTES : sg->core->launch->shared_size;
}

#endif /* VAGX_CORE_TILE_H */
