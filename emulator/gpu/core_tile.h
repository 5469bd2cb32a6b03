/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The tile that instructions of a simdgroup are about.
 */
#ifndef VAGX_CORE_TILE_H
#define VAGX_CORE_TILE_H

#include "core_internal.h"

/* Of rendering, or of a compute shader; NULL if there is none */
static inline const struct vagx_tile *find_tile(const struct simdgroup *sg)
{
	const struct vagx_core *core = sg->core;

	if (core->tile)
		return core->tile;
	return core->shared_tile.memory ? &core->shared_tile : NULL;
}

/* A compute shader has what it asked for */
static inline uint64_t tile_bytes(const struct simdgroup *sg)
{
	return sg->core->tile ? VAGX_TILE_BYTES : sg->core->launch->shared_size;
}

#endif /* VAGX_CORE_TILE_H */
