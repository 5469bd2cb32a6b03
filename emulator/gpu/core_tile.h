/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The tile buffer that instructions of a simdgroup load from and store to. core_tile.c finds
 * samples and stores, core_tile_load.c loads, core_tile_image.c writes tiles to images,
 * core_tile_copy.c fills them from images.
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

/**
 * struct tile_access - an access of one instruction by all of its threads
 * @sg: the simdgroup
 * @op: the instruction
 * @tile: the tile
 * @limit: bytes of its memory
 * @stride: bytes of a sample
 * @offset: of the access in a sample
 * @bytes: of a sample that are reached from there on
 * @value: registers that are loaded or stored
 * @format: AGX_FORMAT_* of the tile's components
 * @log2_size: bytes of a component, as a power of two
 * @is_scaled: components are numbers, scaled
 * @at: operands of the coordinates, and behind them of the samples
 * @is_own: every lane accesses its own pixel, and the samples @named. Then what follows is only
 *	known after vagx_tile_read_lanes().
 * @named: a mask of samples
 * @x: column of each lane's pixel in the tile
 * @y: row of each lane's pixel in the tile
 * @samples: samples that each lane names, as a mask
 */
struct tile_access {
	struct simdgroup *sg;
	const struct op *op;
	const struct vagx_tile *tile;
	uint64_t limit;
	uint32_t stride, offset, bytes;
	const struct agx_operand *value;
	unsigned int format;
	unsigned int log2_size;
	bool is_scaled;
	const struct agx_operand *at;
	bool is_own;
	uint32_t named;
	struct lanes x, y;
	struct lanes samples;
};

/**
 * vagx_tile_begin() - read the operands of an access
 * @a: filled, but for @bytes
 * @sg: simdgroup
 * @op: instruction
 * @value: what is loaded or stored
 * @at: the coordinates in the tile in pixels, a fragment's own unless they are named; behind it
 *	comes the mask of samples
 *
 * Return: false after a failure.
 */
bool vagx_tile_begin(struct tile_access *a, struct simdgroup *sg, const struct op *op,
		     const struct agx_operand *value, const struct agx_operand *at);

/** vagx_tile_read_lanes() - find pixels and samples of all lanes */
void vagx_tile_read_lanes(struct tile_access *a);

/**
 * vagx_tile_find_own() - find a sample of every lane's own pixel, in a tile that is whole
 * @a: access
 * @sample: sample, which the tile has
 * @at: filled: offsets in the tile's memory, 0 outside of the tile
 *
 * Return: a mask of the lanes whose pixels are in the tile.
 */
uint32_t vagx_tile_find_own(const struct tile_access *a, unsigned int sample, struct lanes *at);

/**
 * vagx_tile_store_unorm8() - store four linear bytes of fragments' own pixels
 * @sg: simdgroup
 * @op: AGX_OP_ST_TILE
 *
 * Return: false if it is another kind of store, and nothing has been done.
 */
bool vagx_tile_store_unorm8(struct simdgroup *sg, const struct op *op);
/** vagx_tile_load_unorm8() - the same for AGX_OP_LD_TILE, in which all active lanes are inside */
bool vagx_tile_load_unorm8(struct simdgroup *sg, const struct op *op);

/**
 * vagx_tile_copy_image() - fill the core's tile as a program would that copies an image
 * @core: core, with a launch
 * @program: program that would be run for all pixels of the tile
 *
 * Return: false if it has to be run: it does something else, or an image cannot be copied.
 */
bool vagx_tile_copy_image(struct vagx_core *core, const struct program *program);

/** vagx_tile_part_bytes() - the number of bytes up to the end of the last component of a mask */
unsigned int vagx_tile_part_bytes(const struct tile_access *a, unsigned int mask);

/**
 * typedef vagx_tile_visit_fn - a lane reaches a component of a sample
 * @ctx: of vagx_tile_visit()
 * @lane: lane
 * @at: its first byte in the tile's memory
 * @bytes: its bytes
 */
typedef void vagx_tile_visit_fn(void *ctx, unsigned int lane, uint64_t at, unsigned int bytes);

/**
 * vagx_tile_visit() - find what a load or store reaches, without reaching it
 * @sg: simdgroup
 * @op: AGX_OP_LD_TILE or AGX_OP_ST_TILE
 * @visit: called for each component of a sample, lane by lane
 * @ctx: its first argument
 */
void vagx_tile_visit(struct simdgroup *sg, const struct op *op, vagx_tile_visit_fn *visit,
		     void *ctx);

/** vagx_tile_is_whole() - whether every sample has the bytes of an access, so that none fails */
bool vagx_tile_is_whole(const struct tile_access *a);

/** vagx_tile_sample_at() - a sample's part of the tile buffer; NULL outside of the tile */
uint8_t *vagx_tile_sample_at(struct tile_access *a, unsigned int lane, unsigned int sample);

#endif /* VAGX_CORE_TILE_H */
