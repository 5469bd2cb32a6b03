/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The tiled vertex buffer: memory in pages, and for each tile a list of the primitives that
 * touch it. All of it is in the client's address space, and may be anything when it is read.
 *
 * The contents of pages are vagx's own, as nothing is known of the hardware's format but sizes.
 * A page begins with struct tvb_page. A tile's entry in the tilemap has the address of the first
 * chunk of its list, the tail pointer cache that of its next reference. A chunk is TVB_CHUNK_REFS
 * references and the address of the next chunk; a reference is the address of a primitive, and 0
 * ends the list.
 */
#ifndef VAGX_TVB_H
#define VAGX_TVB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/render.h"
#include "report.h"
#include "uat.h"

/** TVB_ALIGN - alignment of everything in a page, in bytes */
#define TVB_ALIGN	16
/** TVB_CHUNK_REFS - references in a chunk */
#define TVB_CHUNK_REFS	15
/** TVB_MAX_BYTES - bytes of the largest object, which lies in one UAT page */
#define TVB_MAX_BYTES	8192

/**
 * struct tvb_grid - the grid of tiles, and the order of their entries
 * @tiles_x: tiles in a row
 * @tiles_y: tiles in a column
 * @layers: layers, each of which has all tiles
 * @split_x: tiles side by side in 32 pixels
 * @split_y: tiles one above the other in 32 pixels
 * @macro_x: 32 by 32 blocks in a row of a macrotile
 * @macro_y: the same for a column
 */
struct tvb_grid {
	uint32_t tiles_x;
	uint32_t tiles_y;
	uint32_t layers;
	uint32_t split_x;
	uint32_t split_y;
	uint32_t macro_x;
	uint32_t macro_y;
};

/** struct tvb_tile - a tile's place, in tiles */
struct tvb_tile {
	uint32_t x;
	uint32_t y;
	uint32_t layer;
};

/**
 * struct tvb - a scene that is written or read
 * @tlb: translates; of the thread that runs the job
 * @memory: addresses of the scene
 * @pages: allocator of pages
 * @grid: its tiles
 * @stop: set when the job is to end
 * @page: page that objects are allocated from, 0 for none
 * @used: bytes of it that are used
 * @fault: details of the last -EFAULT
 * @corrupt: the fault is at contents that vertex work has not written
 */
struct tvb {
	struct vagx_tlb *tlb;
	struct vagx_tvb_memory memory;
	struct vagx_tvb_pages pages;
	struct tvb_grid grid;
	const atomic_bool *stop;
	uint64_t page;
	uint32_t used;
	struct vagx_uat_fault fault;
	bool corrupt;
};

/**
 * tvb_geometry_check() - look whether there is such a geometry
 *
 * Return: VAGX_KEPT, or the clause of RENDER_GEOMETRY that is broken.
 */
enum vagx_rule tvb_geometry_check(const struct vagx_render_geometry *g);

/** tvb_init() - begin to use a scene; the geometry is valid */
void tvb_init(struct tvb *tvb, struct vagx_tlb *tlb, const struct vagx_render_geometry *geometry,
	      const struct vagx_tvb_memory *memory, const struct vagx_tvb_pages *pages,
	      const atomic_bool *stop);

/**
 * tvb_clear() - empty a scene
 * @tvb: scene
 * @in_use: it has pages, which are given back; else its memory holds anything
 *
 * Return: 0, -EFAULT, -ECANCELED.
 */
int tvb_clear(struct tvb *tvb, bool in_use);

/**
 * tvb_alloc() - memory in a page
 * @tvb: scene
 * @bytes: up to TVB_MAX_BYTES; from 128 on it is aligned to so many
 * @va: where it is
 *
 * Return: the memory, until somebody else translates an address; NULL with
 * *@err -ENOSPC when pages are out, or -EFAULT.
 */
void *tvb_alloc(struct tvb *tvb, size_t bytes, uint64_t *va, int *err);

/**
 * tvb_at() - memory of a scene, for reading
 * @tvb: scene
 * @va: any address; it is wrong if it is not aligned
 * @bytes: up to TVB_MAX_BYTES
 *
 * Return: the memory, or NULL with the fault in &tvb.fault.
 */
const void *tvb_at(struct tvb *tvb, uint64_t va, size_t bytes);

/**
 * tvb_refer() - append to a tile's list
 * @tvb: scene
 * @tile: a tile of its grid
 * @va: what is referred to; from tvb_alloc()
 *
 * Return: 0, -ENOSPC, -EFAULT.
 */
int tvb_refer(struct tvb *tvb, const struct tvb_tile *tile, uint64_t va);

/** tvb_kill() - set bits of a word of what has been stored; false with a fault */
bool tvb_kill(struct tvb *tvb, uint64_t va, uint32_t bits);

/**
 * struct tvb_list - a walk through a tile's list
 * @next: address of the next reference, 0 at the end
 * @left: references that the chunk has still
 * @bound: chunks that can be there at most
 */
struct tvb_list {
	uint64_t next;
	unsigned int left;
	unsigned int bound;
};

/**
 * tvb_list_begin() - begin to read a tile's list, which is empty afterwards
 *
 * Return: 0, -EFAULT.
 */
int tvb_list_begin(struct tvb *tvb, const struct tvb_tile *tile, struct tvb_list *list);

/**
 * tvb_list_next() - the next reference of a list
 * @tvb: scene
 * @list: walk
 * @va: where the reference goes; it may be anything
 *
 * Return: 1, 0 at the end, -EFAULT.
 */
int tvb_list_next(struct tvb *tvb, struct tvb_list *list, uint64_t *va);

/**
 * tvb_release() - give all pages of a scene back
 * @tvb: scene
 *
 * Return: 0; -EFAULT when what leads to them cannot be read, or is not what
 * was written. Those before have been given back then.
 */
int tvb_release(struct tvb *tvb);

/**
 * tvb_partials() - how many partial renders the scene has had
 * @tvb: scene
 * @add: how many more it has now
 * @count: with those
 *
 * Return: 0, -EFAULT.
 */
int tvb_partials(struct tvb *tvb, unsigned int add, uint32_t *count);

#endif /* VAGX_TVB_H */
