/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Tiled vertex buffers: what vertex work leaves for fragment work. Private to
 * queue, job, work, timeline and growth.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_TVB_H
#define ASAHI_TVB_H

#include <linux/bits.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "asahi_heap.h"
#include "asahi_slot.h"

struct asahi_device;
struct asahi_fw_block;
struct asahi_queue;
struct asahi_scene;
struct asahi_scene_layout;
struct asahi_work;
struct drm_printer;

/** ASAHI_TVB_MAX_BLOCKS - blocks that a buffer can have */
#define ASAHI_TVB_MAX_BLOCKS	0x19b3

/** ASAHI_TVB_BLOCK_SIZE - bytes of a block */
#define ASAHI_TVB_BLOCK_SIZE	0x20000

/** ASAHI_TVB_PAGE_SHIFT - size of a buffer's pages, of which the lists have the numbers */
#define ASAHI_TVB_PAGE_SHIFT	15

/** ASAHI_TVB_BLOCK_PAGES - pages of a block */
#define ASAHI_TVB_BLOCK_PAGES	(ASAHI_TVB_BLOCK_SIZE >> ASAHI_TVB_PAGE_SHIFT)

/** ASAHI_TVB_MAX_PAGES - pages that a buffer can have */
#define ASAHI_TVB_MAX_PAGES	(ASAHI_TVB_MAX_BLOCKS * ASAHI_TVB_BLOCK_PAGES)

/** ASAHI_TVB_MAX_BLOCKS_NOMEMLESS - blocks that a buffer grows to because of what was used */
#define ASAHI_TVB_MAX_BLOCKS_NOMEMLESS	0x891

/** ASAHI_TVB_MAX_PAGES_NOMEMLESS - the same in pages */
#define ASAHI_TVB_MAX_PAGES_NOMEMLESS	(ASAHI_TVB_MAX_BLOCKS_NOMEMLESS * ASAHI_TVB_BLOCK_PAGES)

/** ASAHI_TVB_IDLE_MS - how long a large buffer is kept without renders, at least */
#define ASAHI_TVB_IDLE_MS	5000

/** ASAHI_TVB_ALIGN - alignment of everything in the VM */
#define ASAHI_TVB_ALIGN		BIT(ASAHI_TVB_PAGE_SHIFT)

/**
 * struct asahi_tpc - a tail pointer cache
 * @refcount: one for the buffer, one for each job that uses it
 * @memory: the memory
 */
struct asahi_tpc {
	struct kref refcount;
	struct asahi_fwbuf memory;
};

/**
 * struct asahi_tvb_state - what changes of a buffer when renders retire
 * @slot: its slot, or -1 without renders
 * @renders: renders in flight
 * @blocks: blocks that it has
 * @handed_over: of these, what the firmware may use
 * @told: of these, what the firmware was told of
 */
struct asahi_tvb_state {
	int slot;
	unsigned int renders;
	unsigned int blocks;
	unsigned int handed_over;
	unsigned int told;
};

/**
 * struct asahi_tvb - a queue's tiled vertex buffer
 * @info: firmware memory: Info
 * @control: firmware memory: BlockControl
 * @counter: firmware memory: Counter
 * @stats: firmware memory: Stats
 * @kernel_buffer: firmware memory, nobody knows for what
 * @page_list: memory in the VM: numbers of all pages
 * @block_list: memory in the VM: likewise of all blocks
 * @blocks: the blocks themselves
 * @tpc: tail pointer cache of renders that are going to be submitted
 * @slot: owner of its buffer slot; has rules of its own
 * @ready: the firmware may be told of it
 * @num_blocks: blocks that there are; the rest of them is for asahi_tvb_grow()
 * @handed_over: how many of them the lists have, as far as the firmware reads them
 * @told: how many of these the last InitBuffer has told of
 * @tenure: of the slot that this has told of; 0 for none
 * @scenes: renders in flight
 * @older: those of them that were there before the last InitBuffer, which the
 *	firmware may not have come to while there are any
 * @large: idle, it would keep more memory than it is worth
 * @used_at: when a render was submitted or has ended last, in jiffies
 *
 * Part of struct asahi_queue. Empty until there is a render.
 */
struct asahi_tvb {
	/**
	 * @lock: held by SUBMIT while it looks at the buffer's size, and makes it
	 * larger. Held across allocations, outside of the timeline's lock. Who
	 * changes something from @ready on holds that, too.
	 */
	struct mutex lock;
	struct asahi_fwbuf info;
	struct asahi_fwbuf control;
	struct asahi_fwbuf counter;
	struct asahi_fwbuf stats;
	struct asahi_fwbuf kernel_buffer;
	struct asahi_fwbuf page_list;
	struct asahi_fwbuf block_list;
	struct asahi_fwbuf *blocks;
	struct asahi_tpc *tpc;
	struct asahi_slot_client slot;
	bool ready;
	unsigned int num_blocks;
	unsigned int handed_over;
	unsigned int told;
	u64 tenure;
	unsigned int scenes;
	unsigned int older;
	bool large;
	unsigned long used_at;
};

/**
 * struct asahi_tvb_info - what an Info is filled from
 * @page_list_va: list of pages
 * @block_list_va: list of blocks
 * @control_va: BlockControl
 * @counter_va: Counter
 */
struct asahi_tvb_info {
	u64 page_list_va;
	u64 block_list_va;
	u64 control_va;
	u64 counter_va;
};

/**
 * struct asahi_tvb_abi - buffer and scene operations
 * @info_size: bytes of Info
 * @scene_size: bytes of Scene
 * @has_control_word: scenes have one
 * @info_init: fill a zeroed Info but for what @info_set_blocks sets
 * @info_set_blocks: set the number of blocks; allocates nothing
 * @info_print: print what the firmware has noted in an Info
 * @scene_init: fill a zeroed Scene of that layout; @stats_va is the buffer's Stats
 * @scene_print: print what the firmware has noted in a Scene
 */
struct asahi_tvb_abi {
	size_t info_size;
	size_t scene_size;
	bool has_control_word;
	void (*info_init)(void *map, const struct asahi_tvb_info *info);
	void (*info_set_blocks)(void *map, unsigned int blocks);
	void (*info_print)(const void *map, struct drm_printer *p);
	void (*scene_init)(const struct asahi_scene *scene,
			   const struct asahi_scene_layout *layout, u64 stats_va);
	void (*scene_print)(const void *map, struct drm_printer *p);
};

void asahi_tvb_init(struct asahi_tvb *tvb);
void asahi_tvb_free_vm_memory(struct asahi_tvb *tvb);
void asahi_tvb_fini(struct asahi_tvb *tvb);
s64 asahi_tvb_bytes(const struct asahi_tvb *tvb);

struct asahi_tpc *asahi_tvb_prepare(struct asahi_queue *queue, unsigned int min_blocks,
				    u64 tpc_size);
void asahi_tpc_put(struct asahi_tpc *tpc);
bool asahi_tvb_is_idle(const struct asahi_tvb *tvb, unsigned long now);
void asahi_tvb_trim(struct asahi_queue *queue);

/* The following need the timeline's lock. */
void asahi_tvb_fill(struct asahi_queue *queue);
void asahi_tvb_push(struct asahi_queue *queue, const struct asahi_work *work, u32 vm_slot);
void asahi_tvb_end(struct asahi_queue *queue, unsigned int scenes);

void asahi_tvb_get_state(const struct asahi_queue *queue, struct asahi_tvb_state *state);
void asahi_tvb_print(struct asahi_queue *queue, const struct asahi_tvb_state *state,
		     struct drm_printer *p);
int asahi_tvb_grow(struct asahi_queue *queue, u32 slot);

/* For tests. */
bool asahi_tvb_is_large(unsigned int blocks, u64 tpc_bytes);
unsigned int asahi_tvb_want_blocks(u32 used_pages, unsigned int have, unsigned int min_blocks);
void asahi_tvb_list_block(__le32 *page_list, struct asahi_fw_block *block_list,
			  unsigned int index, u64 va);

#endif
