/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Page tables of the UAT, the GPU's MMU.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_PGTABLE_H
#define ASAHI_PGTABLE_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include <agx/agx_uat.h>

#include "asahi_range.h"

struct device;
struct page;
struct scatterlist;

/**
 * enum asahi_prot - Who may do what with a page, and through which caches
 *
 * FW is the firmware's processor, GPU the shader cores and fixed-function
 * units. MMIO is device memory, SHARED is coherent with the CPU, PRIV is cached
 * by the firmware's processor and has to be flushed before the page is reused.
 */
enum asahi_prot {
	/** @ASAHI_PROT_FW_MMIO_RW: registers that the firmware reads and writes */
	ASAHI_PROT_FW_MMIO_RW,
	/** @ASAHI_PROT_FW_MMIO_RO: registers that the firmware reads */
	ASAHI_PROT_FW_MMIO_RO,
	/** @ASAHI_PROT_FW_SHARED_RW: firmware, coherent */
	ASAHI_PROT_FW_SHARED_RW,
	/** @ASAHI_PROT_FW_SHARED_RO: firmware, coherent, read-only */
	ASAHI_PROT_FW_SHARED_RO,
	/** @ASAHI_PROT_FW_PRIV_RW: firmware, cached */
	ASAHI_PROT_FW_PRIV_RW,
	/** @ASAHI_PROT_GPU_FW_SHARED_RW: firmware and GPU, coherent */
	ASAHI_PROT_GPU_FW_SHARED_RW,
	/** @ASAHI_PROT_GPU_FW_PRIV_RW: firmware (cached) and GPU */
	ASAHI_PROT_GPU_FW_PRIV_RW,
	/** @ASAHI_PROT_GPU_RO_FW_PRIV_RW: firmware (cached), the GPU only reads */
	ASAHI_PROT_GPU_RO_FW_PRIV_RW,
	/** @ASAHI_PROT_GPU_SHARED_RW: GPU, coherent */
	ASAHI_PROT_GPU_SHARED_RW,
	/** @ASAHI_PROT_GPU_SHARED_RO: GPU, coherent, read-only */
	ASAHI_PROT_GPU_SHARED_RO,
	/** @ASAHI_PROT_GPU_SHARED_WO: GPU, coherent, write-only */
	ASAHI_PROT_GPU_SHARED_WO,
	/** @ASAHI_PROT_COUNT: number of protections */
	ASAHI_PROT_COUNT,
};

/**
 * enum asahi_pt_op - What a reservation is for
 */
enum asahi_pt_op {
	/** @ASAHI_PT_MAP: asahi_pgtable_map() */
	ASAHI_PT_MAP = 0,
	/** @ASAHI_PT_MAP_SINGLE: asahi_pgtable_map_single() */
	ASAHI_PT_MAP_SINGLE = 1,
	/** @ASAHI_PT_UNMAP: asahi_pgtable_unmap() */
	ASAHI_PT_UNMAP = 2,
};

struct asahi_pt_table;

/**
 * struct asahi_pt_stripped - a second root, which leads to a part of a tree only
 *
 * Its level 2 tables have copies of the entries of that part, which change together with
 * them. So it leads to the same leaves.
 */
struct asahi_pt_stripped {
	/** @root: level 1, or NULL if there is none */
	__le64 *root;
	/** @l2: level 2 tables of the part */
	__le64 *l2[AGX_UAT_L1_ENTRIES];
	/** @start: first address of the part, 32 MiB aligned */
	u64 start;
	/** @end: first address that is not part of it any more, 32 MiB aligned */
	u64 end;
	/** @pages: 16 KiB pages that all of this takes; read at any time */
	unsigned int pages;
};

/**
 * struct asahi_pgtable - One translation tree
 *
 * Not locked: the owner serialises everything from the first reservation of a
 * transaction to asahi_pt_pool_settle(). At most one transaction is open at a
 * time. Nothing here knows of TLBs; the owner invalidates what
 * asahi_pt_pool_settle() reports.
 */
struct asahi_pgtable {
	/** @dev: for messages and for the memory node of tables */
	struct device *dev;
	/** @root: level 1; allocated for a user tree, borrowed for the kernel's */
	__le64 *root;
	/** @root_phys: physical address of @root */
	phys_addr_t root_phys;
	/** @root_owned: @root is freed with the tree */
	bool root_owned;
	/** @keeps_tables: a table stays in the tree until that goes, also an empty one */
	bool keeps_tables;
	/** @blocks: asahi_pgtable_map_sg() may write block entries; set by the owner */
	bool blocks;
	/** @first: lowest index of @root that belongs to this tree */
	unsigned int first;
	/** @end: first index of @root that does not belong to this tree any more */
	unsigned int end;
	/** @l2: what the entries of @root point to */
	struct asahi_pt_table *l2[AGX_UAT_L1_ENTRIES];
	/** @stripped: the part that asahi_pgtable_init_stripped() has named */
	struct asahi_pt_stripped stripped;
	/** @splits: leaves for block entries that the open transaction splits, by block */
	struct xarray splits;
	/** @pte_base: bits that every page entry of this tree carries */
	u64 pte_base;
	/** @oas_mask: physical addresses that the MMU can put out */
	u64 oas_mask;
	/** @pages: 16 KiB pages in tables at the moment, without @root; read at any time */
	unsigned int pages;
};

/**
 * struct asahi_pt_pool - One transaction on a translation tree
 *
 * Made by asahi_pt_pool_init(). Any number of reservations follow; they can
 * fail, and change no translation. If they have left anything in @splits,
 * asahi_pgtable_break() comes next, an invalidation, and asahi_pgtable_make().
 * Then come the changes, in any order, each inside a range reserved for its kind;
 * they cannot fail.
 * asahi_pt_pool_settle() ends the changes and says what to invalidate.
 * asahi_pt_pool_fini() frees what is in no tree any more, so it comes after the
 * invalidation. A transaction given up after a failed reservation takes the
 * same way out: settle, invalidate, fini.
 */
struct asahi_pt_pool {
	/** @pt: the tree */
	struct asahi_pgtable *pt;
	/** @held: tables in the tree that this transaction relies on */
	struct list_head held;
	/** @spare: tables for asahi_pgtable_map_single(), not in the tree yet */
	struct list_head spare;
	/** @splits: the leaves in @splits of @pt */
	struct list_head splits;
	/** @retired: tables taken out of the tree, maybe still in TLBs */
	struct list_head retired;
	/** @whole_blocks: a change was reserved that needs no leaf for a block that it covers */
	bool whole_blocks;
	/** @flush: addresses whose old translation may be cached */
	struct asahi_ranges flush;
	/** @flush_tables: pointers to tables may be cached, too */
	bool flush_tables;
};

int asahi_pgtable_init_user(struct asahi_pgtable *pt, struct device *dev,
			    unsigned int oas_bits);
void asahi_pgtable_init_kernel(struct asahi_pgtable *pt, struct device *dev,
			       unsigned int oas_bits, __le64 *root,
			       phys_addr_t root_phys);
int asahi_pgtable_init_stripped(struct asahi_pgtable *pt, u64 start, u64 end);
void asahi_pgtable_fini(struct asahi_pgtable *pt);
u64 asahi_pgtable_stripped_root(const struct asahi_pgtable *pt);

/**
 * asahi_pgtable_root() - Where the MMU starts to walk
 * @pt: tree
 *
 * Return: physical address of the level 1 table.
 */
static inline u64 asahi_pgtable_root(const struct asahi_pgtable *pt)
{
	return pt->root_phys;
}

void asahi_pt_pool_init(struct asahi_pt_pool *pool, struct asahi_pgtable *pt);
int asahi_pgtable_reserve(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			  u64 va, u64 size, enum asahi_pt_op op);
int asahi_pgtable_reserve_sg(struct asahi_pgtable *pt, struct asahi_pt_pool *pool, u64 va,
			     struct scatterlist *sg, u64 skip, u64 size);
void asahi_pgtable_break(struct asahi_pgtable *pt, struct asahi_pt_pool *pool);
void asahi_pgtable_make(struct asahi_pgtable *pt, struct asahi_pt_pool *pool);
void asahi_pgtable_map(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
		       u64 va, dma_addr_t pa, u64 size, enum asahi_prot prot);
void asahi_pgtable_map_sg(struct asahi_pgtable *pt, struct asahi_pt_pool *pool, u64 va,
			  struct scatterlist *sg, u64 skip, u64 size, enum asahi_prot prot);
void asahi_pgtable_map_single(struct asahi_pgtable *pt,
			      struct asahi_pt_pool *pool, u64 va, dma_addr_t pa,
			      u64 size, enum asahi_prot prot);
void asahi_pgtable_unmap(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			 u64 va, u64 size);
void asahi_pgtable_protect(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			   u64 va, u64 size, enum asahi_prot prot);
bool asahi_pt_pool_settle(struct asahi_pt_pool *pool);
void asahi_pt_pool_fini(struct asahi_pt_pool *pool);
u64 asahi_pgtable_lookup(const struct asahi_pgtable *pt, u64 va);

/**
 * asahi_prot_is_cached() - Does the firmware's processor cache such pages?
 * @prot: protection
 *
 * Return: true when a page must be flushed by the firmware before it is reused.
 */
static inline bool asahi_prot_is_cached(enum asahi_prot prot)
{
	return prot == ASAHI_PROT_FW_PRIV_RW ||
	       prot == ASAHI_PROT_GPU_FW_PRIV_RW ||
	       prot == ASAHI_PROT_GPU_RO_FW_PRIV_RW;
}

/**
 * asahi_prot_uncached() - The coherent counterpart of a protection
 * @prot: protection
 *
 * For memory that is about to be unmapped and that the GPU is done with: not
 * all agents of @prot keep their access.
 *
 * Return: a protection with which the firmware bypasses its caches, @prot itself
 * when it already does.
 */
static inline enum asahi_prot asahi_prot_uncached(enum asahi_prot prot)
{
	switch (prot) {
	case ASAHI_PROT_FW_PRIV_RW:
	case ASAHI_PROT_GPU_RO_FW_PRIV_RW:
		return ASAHI_PROT_FW_SHARED_RW;
	case ASAHI_PROT_GPU_FW_PRIV_RW:
		return ASAHI_PROT_GPU_FW_SHARED_RW;
	default:
		return prot;
	}
}

#if IS_ENABLED(CONFIG_KUNIT)
struct page *asahi_pgtable_alloc_page(gfp_t gfp);
#endif

/**
 * struct asahi_pt_walk - how an address is translated
 * @levels: entries of the following
 * @index: where the entry is in its table, from level 1 on
 * @entry: the entry, as the MMU sees it; the last one is of a page or a block, or not valid
 */
struct asahi_pt_walk {
	unsigned int levels;
	unsigned int index[AGX_UAT_LEVELS];
	u64 entry[AGX_UAT_LEVELS];
};

void asahi_pgtable_walk(const struct asahi_pgtable *pt, u64 va, struct asahi_pt_walk *walk);

#endif
