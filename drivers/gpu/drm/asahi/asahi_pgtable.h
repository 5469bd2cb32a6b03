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

struct device;
struct page;

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
	/** @first: lowest index of @root that belongs to this tree */
	unsigned int first;
	/** @end: first index of @root that does not belong to this tree any more */
	unsigned int end;
	/** @l2: what the entries of @root point to */
	struct asahi_pt_table *l2[8];
	/** @pte_base: bits that every page entry of this tree carries */
	u64 pte_base;
	/** @oas_mask: physical addresses that the MMU can put out */
	u64 oas_mask;
	/** @pages: 16 KiB pages in tables at the moment, without @root */
	unsigned int pages;
};

/**
 * struct asahi_pt_pool - One transaction on a translation tree
 *
 * Made by asahi_pt_pool_init(). Any number of reservations follow; they can
 * fail, and change no translation. Then come the changes, in any order, each
 * inside a range reserved for its kind; they cannot fail.
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
	/** @retired: tables taken out of the tree, maybe still in TLBs */
	struct list_head retired;
	/** @has_single: an ASAHI_PT_MAP_SINGLE was reserved */
	bool has_single;
	/** @flush_start: lowest address whose old translation may be cached */
	u64 flush_start;
	/** @flush_end: end of that range, exclusive; 0 when there is none */
	u64 flush_end;
	/** @flush_tables: pointers to tables may be cached, too */
	bool flush_tables;
};

/**
 * asahi_pgtable_init_user() - Make an empty tree for the user half of a context
 * @pt: tree, zeroed by the caller
 * @dev: device, for messages
 * @oas_bits: width of the physical addresses that the MMU puts out
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int asahi_pgtable_init_user(struct asahi_pgtable *pt, struct device *dev,
			    unsigned int oas_bits);

/**
 * asahi_pgtable_init_kernel() - Make an empty tree in the shared kernel half
 * @pt: tree, zeroed by the caller
 * @dev: device, for messages
 * @oas_bits: width of the physical addresses that the MMU puts out
 * @root: the level 1 table that firmware and driver share, mapped; must outlive
 *	@pt. Only the one entry that the driver owns is ever read or written.
 * @root_phys: its physical address
 *
 * Context: any.
 */
void asahi_pgtable_init_kernel(struct asahi_pgtable *pt, struct device *dev,
			       unsigned int oas_bits, __le64 *root,
			       phys_addr_t root_phys);

/**
 * asahi_pgtable_fini() - Free a tree
 * @pt: tree; no context may use it any more and no TLB may hold it
 *
 * Context: process context.
 */
void asahi_pgtable_fini(struct asahi_pgtable *pt);

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

/**
 * asahi_pt_pool_init() - Begin a transaction
 * @pool: transaction, contents undefined before
 * @pt: tree
 */
void asahi_pt_pool_init(struct asahi_pt_pool *pool, struct asahi_pgtable *pt);

/**
 * asahi_pgtable_reserve() - Get everything that one change can need
 * @pt: tree
 * @pool: open transaction
 * @va: start of the change, 16 KiB aligned, inside the tree's half
 * @size: bytes, a multiple of 16 KiB
 * @op: the change to come
 *
 * May be called for ranges that overlap ranges reserved before: what an earlier
 * change of the same transaction will have done is taken into account, as long
 * as the changes are made in the order of their reservations. Translations stay
 * as they are. Plain ranges in which nothing was ever mapped by
 * asahi_pgtable_map_single() can be unmapped without a reservation.
 *
 * Context: process context, may sleep (GFP_KERNEL).
 * Return: 0, or -ENOMEM.
 */
int asahi_pgtable_reserve(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			  u64 va, u64 size, enum asahi_pt_op op);

/**
 * asahi_pgtable_map() - Map a contiguous piece of memory
 * @pt: tree
 * @pool: open transaction in which the range was reserved for ASAHI_PT_MAP
 * @va: GPU address, 16 KiB aligned
 * @pa: DMA address, 16 KiB aligned
 * @size: bytes, a multiple of 16 KiB
 * @prot: protection
 *
 * Replaces what was mapped there. Never fails, never allocates.
 */
void asahi_pgtable_map(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
		       u64 va, dma_addr_t pa, u64 size, enum asahi_prot prot);

/**
 * asahi_pgtable_map_single() - Map one page again and again
 * @pt: tree
 * @pool: open transaction in which exactly this range was reserved for
 *	ASAHI_PT_MAP_SINGLE
 * @va: GPU address, 16 KiB aligned
 * @pa: DMA address of the page
 * @size: bytes, a multiple of 16 KiB
 * @prot: protection
 *
 * All 32 MiB blocks that lie wholly inside the range share one table, so the
 * size of the range costs nothing. Never fails, never allocates.
 */
void asahi_pgtable_map_single(struct asahi_pgtable *pt,
			      struct asahi_pt_pool *pool, u64 va, dma_addr_t pa,
			      u64 size, enum asahi_prot prot);

/**
 * asahi_pgtable_unmap() - Remove what is mapped in a range
 * @pt: tree
 * @pool: open transaction
 * @va: GPU address, 16 KiB aligned
 * @size: bytes, a multiple of 16 KiB; holes are fine
 *
 * Tables that become empty are retired to @pool. Never fails, never allocates.
 */
void asahi_pgtable_unmap(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			 u64 va, u64 size);

/**
 * asahi_pgtable_protect() - Change the protection of what is mapped in a range
 * @pt: tree
 * @pool: open transaction
 * @va: GPU address, 16 KiB aligned
 * @size: bytes, a multiple of 16 KiB; holes stay holes
 * @prot: new protection
 *
 * Only for ranges in which nothing was mapped by asahi_pgtable_map_single().
 * Never fails, never allocates.
 */
void asahi_pgtable_protect(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			   u64 va, u64 size, enum asahi_prot prot);

/**
 * asahi_pt_pool_settle() - End the changes of a transaction
 * @pool: open transaction; only asahi_pt_pool_fini() may follow
 *
 * Orders the writes to the tables before anything that lets the GPU walk them.
 * When it returns true, the caller invalidates @pool->flush_start up to
 * @pool->flush_end before asahi_pt_pool_fini(), and before it frees a page that
 * was mapped there. Where @pool->flush_tables is set, it invalidates the whole
 * tree: that an address makes the MMU forget the tables on the way to it as well
 * is what the CPU's architecture says, but the references never rely upon it. It
 * may do all that between two changes as well, and then resets all three to 0.
 *
 * Return: true when old translations may be cached.
 */
bool asahi_pt_pool_settle(struct asahi_pt_pool *pool);

/**
 * asahi_pt_pool_fini() - Free the tables that a settled transaction took out
 * @pool: transaction; the TLB holds none of it any more
 */
void asahi_pt_pool_fini(struct asahi_pt_pool *pool);

/**
 * asahi_pgtable_lookup() - The page entry that translates an address
 * @pt: tree
 * @va: GPU address
 *
 * Return: the entry in CPU byte order, 0 when nothing is mapped there.
 */
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
struct page *asahi_pgtable_alloc_page(void);
#endif

#endif
