// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The tiled vertex buffer, as tvb.h describes it: allocates from pages (a bump allocator; pages
 * are in a linked list from the heap metadata), appends to the lists of tiles (unrolled linked
 * lists of chunks), walks them, and gives pages back. Everything is in memory that the guest can
 * write, so what is read is checked: addresses are aligned, lists are bounded.
 *
 * Vertex work writes from its job's own thread. Workers of fragment work read, each with a struct
 * tvb of its own, and a tile's list is read by one of them. Nothing is locked.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "gpu/tvb.h"

#define MACROTILES	4	/* in x and y */
#define ENTRY_BYTES	5
#define TAIL_BYTES	8
#define PAGE_SHIFT	15
#define CHUNK_ALIGN	64	/* unit of offsets in the tilemap */
#define HEAP_META_BYTES	0x200
#define LAYER_META_BYTES 0x100
/* More pages than any buffer has: bounds lists that the guest has made endless */
#define MAX_PAGES	0x10000
#define MAX_CHUNKS	(MAX_PAGES * (VAGX_TVB_PAGE_SIZE / (int)sizeof(struct tvb_chunk)))
#define VA_BITS		39

/* The header of each page in use */
struct tvb_page {
	uint64_t self;
	uint64_t next;
	uint64_t reserved[14];
};

/* The header of the heap metadata */
struct tvb_heap {
	uint64_t first;
	uint32_t pages;
	uint32_t partials;
};

struct tvb_chunk {
	uint64_t ref[TVB_CHUNK_REFS];
	uint64_t next;
};

enum vagx_rule tvb_geometry_check(const struct vagx_render_geometry *g)
{
	if (!g->width || g->width > VAGX_RENDER_MAX_SIZE)
		return VAGX_CLAUSE_RENDER_GEOMETRY_width;
	if (!g->height || g->height > VAGX_RENDER_MAX_SIZE)
		return VAGX_CLAUSE_RENDER_GEOMETRY_height;
	if (!g->layers || g->layers > VAGX_RENDER_MAX_LAYERS)
		return VAGX_CLAUSE_RENDER_GEOMETRY_layers;
	if (g->samples != 1 && g->samples != 2 && g->samples != 4)
		return VAGX_CLAUSE_RENDER_GEOMETRY_samples;
	if (g->utile_width != 16 && g->utile_width != 32)
		return VAGX_CLAUSE_RENDER_GEOMETRY_tile_width;
	if (g->utile_height != 16 && g->utile_height != 32)
		return VAGX_CLAUSE_RENDER_GEOMETRY_tile_height;
	return VAGX_KEPT;
}

static uint32_t tvb_div_round_up(uint32_t n, uint32_t d)
{
	return (n + d - 1) / d;
}

static uint32_t tvb_macro_size(uint32_t pixels)
{
	uint32_t blocks = tvb_div_round_up(pixels, 32);

	return (tvb_div_round_up(blocks, MACROTILES) + 3) & ~3u;
}

void tvb_init(struct tvb *tvb, struct vagx_tlb *tlb, const struct vagx_render_geometry *g,
	      const struct vagx_tvb_memory *memory, const struct vagx_tvb_pages *pages,
	      const atomic_bool *stop)
{
	*tvb = (struct tvb){
		.tlb = tlb,
		.memory = *memory,
		.pages = *pages,
		.grid = {
			.tiles_x = tvb_div_round_up(g->width, g->utile_width),
			.tiles_y = tvb_div_round_up(g->height, g->utile_height),
			.layers = g->layers,
			.split_x = 32 / g->utile_width,
			.split_y = 32 / g->utile_height,
			.macro_x = tvb_macro_size(g->width),
			.macro_y = tvb_macro_size(g->height),
		},
		.stop = stop,
	};
}

/* Copies to or from the client's memory, across pages. Return: 0 or -EFAULT. */
static int tvb_copy(struct tvb *tvb, uint64_t va, void *buf, size_t len, enum vagx_access access)
{
	uint8_t *bytes = buf;

	while (len) {
		size_t here = VAGX_UAT_PAGE_SIZE - (va & VAGX_UAT_PAGE_MASK);
		void *p;

		if (here > len)
			here = len;
		p = vagx_tlb_ptr(tvb->tlb, va, here, access, &tvb->fault);
		if (!p)
			return -EFAULT;
		if (access == VAGX_WRITE)
			memcpy(p, bytes, here);
		else
			memcpy(bytes, p, here);
		va += here;
		bytes += here;
		len -= here;
	}
	return 0;
}

/* Clears the client's memory. Return: 0, -EFAULT, -ECANCELED. */
static int tvb_clear_bytes(struct tvb *tvb, uint64_t va, uint64_t len)
{
	while (len) {
		uint64_t here = VAGX_UAT_PAGE_SIZE - (va & VAGX_UAT_PAGE_MASK);
		void *p;

		if (atomic_load_explicit(tvb->stop, memory_order_relaxed))
			return -ECANCELED;
		if (here > len)
			here = len;
		p = vagx_tlb_ptr(tvb->tlb, va, here, VAGX_WRITE, &tvb->fault);
		if (!p)
			return -EFAULT;
		memset(p, 0, here);
		va += here;
		len -= here;
	}
	return 0;
}

/* Reports contents at an address that vertex work has not written. Return: -EFAULT. */
static int tvb_corrupt(struct tvb *tvb, uint64_t va)
{
	tvb->corrupt = true;
	tvb->fault = (struct vagx_uat_fault){
		.va = va,
		.slot = tvb->tlb->slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};
	return -EFAULT;
}

/* Addresses of a tile's entries */

static uint64_t tvb_tiles_of_macrotile(const struct tvb_grid *grid)
{
	return (uint64_t)grid->macro_x * grid->macro_y * grid->split_x * grid->split_y;
}

static uint64_t tvb_macrotile_bytes(const struct tvb_grid *grid)
{
	return (tvb_tiles_of_macrotile(grid) * ENTRY_BYTES + 3) & ~3ULL;
}

/* The number of a tile's macrotile, and of the tile in it */
static void tvb_tile_index(const struct tvb_grid *grid, const struct tvb_tile *tile,
			   uint64_t *macrotile, uint64_t *index)
{
	uint32_t bx = tile->x / grid->split_x, by = tile->y / grid->split_y;
	uint32_t block = by % grid->macro_y * grid->macro_x + bx % grid->macro_x;

	*macrotile = (uint64_t)tile->layer * MACROTILES * MACROTILES +
		     by / grid->macro_y * MACROTILES + bx / grid->macro_x;
	*index = (uint64_t)block * grid->split_x * grid->split_y +
		 tile->y % grid->split_y * grid->split_x + tile->x % grid->split_x;
}

static uint64_t tvb_entry_va(const struct tvb *tvb, const struct tvb_tile *tile)
{
	uint64_t macrotile, index;

	tvb_tile_index(&tvb->grid, tile, &macrotile, &index);
	return tvb->memory.tilemap + macrotile * tvb_macrotile_bytes(&tvb->grid) +
	       index * ENTRY_BYTES;
}

static uint64_t tvb_tail_va(const struct tvb *tvb, const struct tvb_tile *tile)
{
	uint64_t macrotile, index;

	tvb_tile_index(&tvb->grid, tile, &macrotile, &index);
	return tvb->memory.tpc +
	       (macrotile * tvb_tiles_of_macrotile(&tvb->grid) + index) * TAIL_BYTES;
}

/* An entry is the number of a page and, above it, an offset in units of 64 bytes */

static int tvb_write_entry(struct tvb *tvb, const struct tvb_tile *tile, uint64_t va)
{
	uint64_t entry = va >> PAGE_SHIFT |
			 va % VAGX_TVB_PAGE_SIZE / CHUNK_ALIGN << (VA_BITS - PAGE_SHIFT);

	return tvb_copy(tvb, tvb_entry_va(tvb, tile), &entry, ENTRY_BYTES, VAGX_WRITE);
}

static int tvb_read_entry(struct tvb *tvb, const struct tvb_tile *tile, uint64_t *va)
{
	uint64_t entry = 0, page;
	int err = tvb_copy(tvb, tvb_entry_va(tvb, tile), &entry, ENTRY_BYTES, VAGX_READ);

	page = entry & ((1ULL << (VA_BITS - PAGE_SHIFT)) - 1);
	*va = (page << PAGE_SHIFT) + (entry >> (VA_BITS - PAGE_SHIFT)) * CHUNK_ALIGN;
	return err;
}

/* The scene as a whole */

int tvb_partials(struct tvb *tvb, unsigned int add, uint32_t *count)
{
	struct tvb_heap heap;
	int err = tvb_copy(tvb, tvb->memory.heap_meta, &heap, sizeof(heap), VAGX_READ);

	if (err)
		return err;
	heap.partials += add;
	*count = heap.partials;
	if (!add)
		return 0;
	return tvb_copy(tvb, tvb->memory.heap_meta, &heap, sizeof(heap), VAGX_WRITE);
}

int tvb_release(struct tvb *tvb)
{
	struct tvb_heap heap;
	uint64_t page;
	uint32_t i;
	int err;

	tvb->page = 0;
	err = tvb_copy(tvb, tvb->memory.heap_meta, &heap, sizeof(heap), VAGX_READ);
	page = heap.first;
	for (i = 0; !err && page; i++) {
		struct tvb_page header;

		if (i >= heap.pages || i >= MAX_PAGES || page % VAGX_TVB_PAGE_SIZE)
			return tvb_corrupt(tvb, page);
		err = tvb_copy(tvb, page, &header, sizeof(header), VAGX_READ);
		if (err)
			break;
		if (header.self != page)
			return tvb_corrupt(tvb, page);
		tvb->pages.give(tvb->pages.owner, page);
		page = header.next;
	}
	if (err)
		return err;
	heap.first = 0;
	heap.pages = 0;
	return tvb_copy(tvb, tvb->memory.heap_meta, &heap, sizeof(heap), VAGX_WRITE);
}

int tvb_clear(struct tvb *tvb, bool in_use)
{
	const struct tvb_grid *grid = &tvb->grid;
	uint64_t bytes = tvb_macrotile_bytes(grid) * MACROTILES * MACROTILES * grid->layers;
	int err;

	tvb->page = 0;
	err = in_use ? tvb_release(tvb)
		     : tvb_clear_bytes(tvb, tvb->memory.heap_meta, HEAP_META_BYTES);
	if (!err && grid->layers > 1)
		err = tvb_clear_bytes(tvb, tvb->memory.layer_meta, LAYER_META_BYTES);
	if (!err)
		err = tvb_clear_bytes(tvb, tvb->memory.tilemap, bytes);
	return err;
}

/* Pages */

/* Takes a page, and makes it the first of the list. Return: 0, -ENOSPC, -EFAULT. */
static int tvb_next_page(struct tvb *tvb)
{
	uint64_t page = tvb->pages.take(tvb->pages.owner);
	struct tvb_page header = { .self = page };
	struct tvb_heap heap;
	int err;

	if (!page)
		return -ENOSPC;
	err = tvb_copy(tvb, tvb->memory.heap_meta, &heap, sizeof(heap), VAGX_READ);
	header.next = heap.first;
	heap.first = page;
	heap.pages++;
	if (!err)
		err = tvb_copy(tvb, page, &header, sizeof(header), VAGX_WRITE);
	if (!err)
		err = tvb_copy(tvb, tvb->memory.heap_meta, &heap, sizeof(heap), VAGX_WRITE);
	if (err) {
		tvb->pages.give(tvb->pages.owner, page);
		return err;
	}
	tvb->page = page;
	tvb->used = sizeof(header);
	return 0;
}

void *tvb_alloc(struct tvb *tvb, size_t bytes, uint64_t *va, int *err)
{
	uint32_t align = bytes < sizeof(struct tvb_chunk) ? TVB_ALIGN : sizeof(struct tvb_chunk);
	uint32_t in_page;
	void *p;

	tvb->used = (tvb->used + align - 1) & ~(align - 1);
	/* a page here is two pages of the MMU, which no object crosses */
	in_page = VAGX_UAT_PAGE_SIZE - tvb->used % VAGX_UAT_PAGE_SIZE;
	if (tvb->page && in_page < bytes)
		tvb->used += in_page;
	if (!tvb->page || tvb->used + bytes > VAGX_TVB_PAGE_SIZE) {
		*err = tvb_next_page(tvb);
		if (*err)
			return NULL;
	}
	*va = tvb->page + tvb->used;
	p = vagx_tlb_ptr(tvb->tlb, *va, bytes, VAGX_WRITE, &tvb->fault);
	*err = p ? 0 : -EFAULT;
	if (p)
		tvb->used += bytes;
	return p;
}

const void *tvb_at(struct tvb *tvb, uint64_t va, size_t bytes)
{
	if (va % TVB_ALIGN || va % VAGX_UAT_PAGE_SIZE + bytes > VAGX_UAT_PAGE_SIZE) {
		tvb_corrupt(tvb, va);
		return NULL;
	}
	return vagx_tlb_ptr(tvb->tlb, va, bytes, VAGX_READ, &tvb->fault);
}

/* Lists */

/* Allocates a chunk with its first reference */
static int tvb_new_chunk(struct tvb *tvb, uint64_t va, uint64_t *chunk)
{
	struct tvb_chunk *p;
	int err;

	p = tvb_alloc(tvb, sizeof(*p), chunk, &err);
	if (!p)
		return err;
	memset(p, 0, sizeof(*p));
	p->ref[0] = va;
	return 0;
}

/* Marks a layer as not empty, in the layer metadata: a bit for each */
static int tvb_set_layer(struct tvb *tvb, uint32_t layer)
{
	uint8_t bits;
	int err;

	if (tvb->grid.layers == 1)
		return 0;
	err = tvb_copy(tvb, tvb->memory.layer_meta + layer / 8, &bits, 1, VAGX_READ);
	bits |= 1u << layer % 8;
	return err ? err : tvb_copy(tvb, tvb->memory.layer_meta + layer / 8, &bits, 1, VAGX_WRITE);
}

int tvb_refer(struct tvb *tvb, const struct tvb_tile *tile, uint64_t va)
{
	uint64_t first, tail, chunk;
	int err;

	err = tvb_read_entry(tvb, tile, &first);
	if (!err && first)
		err = tvb_copy(tvb, tvb_tail_va(tvb, tile), &tail, TAIL_BYTES, VAGX_READ);
	if (err)
		return err;
	if (first && tail % sizeof(struct tvb_chunk) / 8 < TVB_CHUNK_REFS) {
		err = tvb_copy(tvb, tail, &va, 8, VAGX_WRITE);
		tail += 8;
		return err ? err
			   : tvb_copy(tvb, tvb_tail_va(tvb, tile), &tail, TAIL_BYTES, VAGX_WRITE);
	}

	err = tvb_new_chunk(tvb, va, &chunk);
	if (!err)
		err = first ? tvb_copy(tvb, tail, &chunk, 8, VAGX_WRITE) :
			      tvb_write_entry(tvb, tile, chunk);
	if (!err)
		err = tvb_set_layer(tvb, tile->layer);
	tail = chunk + 8;
	return err ? err : tvb_copy(tvb, tvb_tail_va(tvb, tile), &tail, TAIL_BYTES, VAGX_WRITE);
}

bool tvb_kill(struct tvb *tvb, uint64_t va, uint32_t bits)
{
	uint32_t word;

	if (tvb_copy(tvb, va, &word, sizeof(word), VAGX_READ))
		return false;
	word |= bits;
	return !tvb_copy(tvb, va, &word, sizeof(word), VAGX_WRITE);
}

static bool tvb_layer_is_empty(struct tvb *tvb, uint32_t layer, int *err)
{
	uint8_t bits = 0xff;

	*err = 0;
	if (tvb->grid.layers > 1)
		*err = tvb_copy(tvb, tvb->memory.layer_meta + layer / 8, &bits, 1, VAGX_READ);
	return !(bits >> layer % 8 & 1);
}

int tvb_list_begin(struct tvb *tvb, const struct tvb_tile *tile, struct tvb_list *list)
{
	bool empty;
	int err;

	*list = (struct tvb_list){ .left = TVB_CHUNK_REFS, .bound = MAX_CHUNKS };
	empty = tvb_layer_is_empty(tvb, tile->layer, &err);
	if (err || empty)
		return err;
	err = tvb_read_entry(tvb, tile, &list->next);
	if (err || !list->next)
		return err;
	return tvb_write_entry(tvb, tile, 0);
}

int tvb_list_next(struct tvb *tvb, struct tvb_list *list, uint64_t *va)
{
	int err;

	if (!list->next)
		return 0;
	err = tvb_copy(tvb, list->next, va, 8, VAGX_READ);
	if (!err && *va && !list->left) {
		/* this was the next chunk's address, not a reference */
		list->next = *va;
		list->left = TVB_CHUNK_REFS;
		if (!list->bound--)
			return tvb_corrupt(tvb, list->next);
		err = tvb_copy(tvb, list->next, va, 8, VAGX_READ);
	}
	if (err || !*va) {
		list->next = 0;
		return err;
	}
	list->next += 8;
	list->left--;
	return 1;
}
