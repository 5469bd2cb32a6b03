// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Page tables of the UAT, the GPU's MMU.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/bug.h>
#include <linux/dev_printk.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmstat.h>
#include <linux/xarray.h>

#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include <agx/agx_uat.h>

#include "asahi_debugfs.h"
#include "asahi_pgtable.h"

/**
 * DOC: Page tables
 *
 * Three levels: a root of 8 entries (level 1), level 2 tables of 2,048 entries
 * for 64 GiB, and leaves (level 3) of 2,048 page entries for 32 MiB, called a
 * block here.
 *
 * VM_BIND must not change anything when it fails, so each change comes in two
 * steps. Reserving puts all tables that the change needs into the tree. That
 * alters no translation: an empty leaf translates as little as no leaf, and the
 * private copy of a shared leaf translates the same. The tables that were
 * reserved are held, which keeps later changes of the same transaction from
 * taking them out again. Then the change itself only writes entries.
 *
 * A range in which one page repeats, as sparse resources have, uses one shared
 * leaf for all blocks that lie wholly inside it. A block that is about to
 * change in part gets its own copy first, so two things hold: a shared leaf is
 * never written, and a block with a shared leaf lies wholly inside one range
 * that was mapped by one asahi_pgtable_map_single().
 *
 * Where the parameter "unproven" allows it, an entry of level 2 can also translate its
 * block by itself, if the memory behind that is contiguous and 32 MiB aligned. Such a
 * block entry lies wholly inside one range that was mapped by one
 * asahi_pgtable_map_sg(). A block that is about to change in part is split first: its
 * leaf is prepared without being put into the tree, then all block entries that are
 * to be split are removed, invalidated together, and their leaves take their places. A
 * TLB that had both could use either, or a mixture. In between nothing is mapped
 * there, also pages that will be the same afterwards.
 *
 * A table that is taken out can still be in a walk cache. It is retired to the
 * transaction and freed with it, after the invalidation.
 *
 * The kernel half is part of all contexts, so that to take a table out of it would
 * cost all of them, and all processes, their translations. Its tables stay until the
 * driver goes: 32 MiB if all of the driver's 64 GiB there had been in use once. It has
 * no shared leaves.
 *
 * A tree can have a second root, which leads to one part of it only: the context of an
 * address space whose client's memory is taken away (see "UAT") leads there. That part has
 * level 2 tables of its own. Each of their entries is written together with the one in the
 * tree, so that nothing has to be built when the moment comes, which is in the critical
 * section of fences.
 *
 * The format is close to one that the kernel's io-pgtable library can write, but
 * three things here have no counterpart there: protections say separately what
 * GPU and firmware may do, the kernel half's root belongs to the firmware and
 * only one of its entries is the driver's, and a leaf can be shared by many
 * blocks. Reserving before changing, on which VM_BIND rests, is a fourth.
 */

#define ASAHI_PT_ORDER		get_order(AGX_PAGE_SIZE)
#define ASAHI_PT_BLOCK_SPAN	BIT_ULL(AGX_UAT_L2_SHIFT)
#define ASAHI_PT_L2_SPAN	BIT_ULL(AGX_UAT_L1_SHIFT)

/**
 * struct asahi_pt_table - A table of level 2 or 3
 * @node: on a transaction's held, spare or retired list, or on none
 * @parent: level 2 table that points to this leaf; NULL for level 2 tables and
 *	for shared leaves
 * @entries: the table
 * @phys: its physical address
 * @va: first address that it translates; meaningless for shared leaves
 * @used: number of valid entries
 * @users: number of entries that point to it, more than 1 only when @shared
 * @shared: belongs to all blocks of a single-page range, is never written
 */
struct asahi_pt_table {
	struct list_head node;
	struct asahi_pt_table *parent;
	__le64 *entries;
	phys_addr_t phys;
	u64 va;
	unsigned int used;
	unsigned int users;
	bool shared;
};

static const u64 asahi_pt_prot_bits[ASAHI_PROT_COUNT] = {
	[ASAHI_PROT_FW_MMIO_RW]		= AGX_PROT_FW_MMIO_RW,
	[ASAHI_PROT_FW_MMIO_RO]		= AGX_PROT_FW_MMIO_RO,
	[ASAHI_PROT_FW_SHARED_RW]	= AGX_PROT_FW_SHARED_RW,
	[ASAHI_PROT_FW_SHARED_RO]	= AGX_PROT_FW_SHARED_RO,
	[ASAHI_PROT_FW_PRIV_RW]		= AGX_PROT_FW_PRIV_RW,
	[ASAHI_PROT_GPU_FW_SHARED_RW]	= AGX_PROT_GPU_FW_SHARED_RW,
	[ASAHI_PROT_GPU_FW_PRIV_RW]	= AGX_PROT_GPU_FW_PRIV_RW,
	[ASAHI_PROT_GPU_RO_FW_PRIV_RW]	= AGX_PROT_GPU_RO_FW_PRIV_RW,
	[ASAHI_PROT_GPU_SHARED_RW]	= AGX_PROT_GPU_SHARED_RW,
	[ASAHI_PROT_GPU_SHARED_RO]	= AGX_PROT_GPU_SHARED_RO,
	[ASAHI_PROT_GPU_SHARED_WO]	= AGX_PROT_GPU_SHARED_WO,
};

static unsigned int asahi_pt_l1_index(u64 va)
{
	return (va >> AGX_UAT_L1_SHIFT) % AGX_UAT_L1_ENTRIES;
}

static unsigned int asahi_pt_l2_index(u64 va)
{
	return (va >> AGX_UAT_L2_SHIFT) % AGX_UAT_L2_ENTRIES;
}

static unsigned int asahi_pt_l3_index(u64 va)
{
	return (va >> AGX_UAT_L3_SHIFT) % AGX_UAT_L3_ENTRIES;
}

/* Where the part of [va, end) that lies in va's block ends. */
static u64 asahi_pt_block_end(u64 va, u64 end)
{
	return min(ALIGN_DOWN(va, ASAHI_PT_BLOCK_SPAN) + ASAHI_PT_BLOCK_SPAN, end);
}

/* [va, next) never crosses the border of a block. */
static bool asahi_pt_whole_block(u64 va, u64 next)
{
	return next - va == ASAHI_PT_BLOCK_SPAN;
}

static bool asahi_pt_held(const struct asahi_pt_table *table)
{
	return !list_empty(&table->node);
}

/*
 * The client of an address space pays for its tables. Those of the kernel half live as
 * long as the device, and must not keep the cgroup of a client that is gone.
 */
static gfp_t asahi_pt_gfp(const struct asahi_pgtable *pt)
{
	return pt->keeps_tables ? GFP_KERNEL : GFP_KERNEL_ACCOUNT;
}

/* All memory of the tables comes from here, which tests make fail. */
VISIBLE_IF_KUNIT struct page *asahi_pgtable_alloc_page(gfp_t gfp)
{
	KUNIT_STATIC_STUB_REDIRECT(asahi_pgtable_alloc_page, gfp);
	return alloc_pages(gfp | __GFP_ZERO, ASAHI_PT_ORDER);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_alloc_page);

/* The memory of tables is shown as SecPageTables in /proc/meminfo and in memcg. */
static struct page *asahi_pt_get_page(const struct asahi_pgtable *pt)
{
	struct page *page = asahi_pgtable_alloc_page(asahi_pt_gfp(pt));

	if (!page)
		return NULL;

	if (page_to_phys(page) & ~pt->oas_mask) {
		dev_warn_once(pt->dev, "page table beyond the MMU's reach\n");
		__free_pages(page, ASAHI_PT_ORDER);
		return NULL;
	}

	mod_lruvec_page_state(page, NR_SECONDARY_PAGETABLE, 1 << ASAHI_PT_ORDER);
	return page;
}

static void asahi_pt_put_page(struct page *page)
{
	mod_lruvec_page_state(page, NR_SECONDARY_PAGETABLE, -(1 << ASAHI_PT_ORDER));
	__free_pages(page, ASAHI_PT_ORDER);
}

static enum asahi_count asahi_pt_count(const struct asahi_pgtable *pt)
{
	return pt->keeps_tables ? ASAHI_COUNT_KERNEL_PGTABLE : ASAHI_COUNT_PGTABLE;
}

static struct asahi_pt_table *asahi_pt_alloc_table(struct asahi_pgtable *pt)
{
	struct asahi_pt_table *table;
	struct page *page;

	table = kzalloc_obj(*table, asahi_pt_gfp(pt));
	if (!table)
		return NULL;

	page = asahi_pt_get_page(pt);
	if (!page) {
		kfree(table);
		return NULL;
	}

	table->entries = page_address(page);
	table->phys = page_to_phys(page);
	INIT_LIST_HEAD(&table->node);
	set_page_private(page, (unsigned long)table);
	WRITE_ONCE(pt->pages, pt->pages + 1);
	asahi_count_inc(asahi_pt_count(pt));
	return table;
}

static void asahi_pt_free_table(struct asahi_pgtable *pt, struct asahi_pt_table *table)
{
	struct page *page = virt_to_page(table->entries);

	set_page_private(page, 0);
	asahi_pt_put_page(page);
	kfree(table);
	WRITE_ONCE(pt->pages, pt->pages - 1);
	asahi_count_dec(asahi_pt_count(pt));
}

static struct asahi_pt_table *asahi_pt_l2(const struct asahi_pgtable *pt, u64 va)
{
	return pt->l2[asahi_pt_l1_index(va)];
}

static u64 asahi_pt_l2_entry(const struct asahi_pt_table *l2, u64 va)
{
	return le64_to_cpu(READ_ONCE(l2->entries[asahi_pt_l2_index(va)]));
}

static bool asahi_pt_is_block(u64 entry)
{
	return (entry & AGX_PTE_TYPE_MASK) == AGX_PTE_BLOCK;
}

/* The entry that translates a whole block, 0 where there is none. */
static u64 asahi_pt_block(const struct asahi_pt_table *l2, u64 va)
{
	u64 entry = asahi_pt_l2_entry(l2, va);

	return asahi_pt_is_block(entry) ? entry : 0;
}

/* The page entry that translates an address as the entry of its block does. */
static u64 asahi_pt_block_page(u64 block, u64 va)
{
	return (block | AGX_PTE_TYPE) + (va & (ASAHI_PT_BLOCK_SPAN - AGX_PAGE_SIZE));
}

/* NULL where the entry leads to no table. */
static struct asahi_pt_table *asahi_pt_leaf_of(const struct asahi_pgtable *pt, u64 entry)
{
	if ((entry & AGX_PTE_TYPE_MASK) != AGX_PTE_TYPE)
		return NULL;

	entry &= pt->oas_mask & ~AGX_PAGE_MASK;
	return (struct asahi_pt_table *)page_private(phys_to_page(entry));
}

static struct asahi_pt_table *asahi_pt_leaf(const struct asahi_pgtable *pt,
					    const struct asahi_pt_table *l2, u64 va)
{
	return asahi_pt_leaf_of(pt, asahi_pt_l2_entry(l2, va));
}

static void asahi_pt_note_flush(struct asahi_pt_pool *pool, u64 start, u64 end)
{
	asahi_ranges_add(&pool->flush, start, end);
}

/* A pointer to a table stops to be there, or to be the same. */
static void asahi_pt_note_table_flush(struct asahi_pt_pool *pool, u64 va)
{
	asahi_pt_note_flush(pool, va, va + AGX_PAGE_SIZE);
	pool->flush_tables = true;
}

/* The walker must never see a pointer to a table before its contents. */
static void asahi_pt_write_root_entry(__le64 *entry, phys_addr_t phys)
{
	dma_wmb();
	WRITE_ONCE(*entry, cpu_to_le64(phys | AGX_PTE_TYPE));
}

/* The copy of an entry of level 2 that the stripped root leads to, or NULL. */
static __le64 *asahi_pt_stripped_entry(const struct asahi_pgtable *pt, u64 va)
{
	const struct asahi_pt_stripped *stripped = &pt->stripped;

	if (va < stripped->start || va >= stripped->end)
		return NULL;
	return &stripped->l2[asahi_pt_l1_index(va)][asahi_pt_l2_index(va)];
}

/* All entries of level 2 are written here. A leaf is complete before. */
static void asahi_pt_write_l2_entry(struct asahi_pgtable *pt, struct asahi_pt_table *l2, u64 va,
				    u64 entry)
{
	__le64 *copy = asahi_pt_stripped_entry(pt, va);

	dma_wmb();
	WRITE_ONCE(l2->entries[asahi_pt_l2_index(va)], cpu_to_le64(entry));
	if (copy)
		WRITE_ONCE(*copy, cpu_to_le64(entry));
}

static void asahi_pt_write_leaf_entry(struct asahi_pgtable *pt, struct asahi_pt_table *l2, u64 va,
				      const struct asahi_pt_table *leaf)
{
	asahi_pt_write_l2_entry(pt, l2, va, leaf->phys | AGX_PTE_TYPE);
}

static void asahi_pt_retire(struct asahi_pt_pool *pool, struct asahi_pt_table *table)
{
	list_move(&table->node, &pool->retired);
}

static void asahi_pt_remove_l2(struct asahi_pt_pool *pool, struct asahi_pt_table *l2)
{
	struct asahi_pgtable *pt = pool->pt;
	unsigned int i = asahi_pt_l1_index(l2->va);

	WRITE_ONCE(pt->root[i], 0);
	pt->l2[i] = NULL;
	asahi_pt_note_table_flush(pool, l2->va);
	asahi_pt_retire(pool, l2);
}

/* One entry of level 2 stops to point to @leaf. */
static void asahi_pt_drop_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *leaf,
			       u64 va)
{
	asahi_pt_note_table_flush(pool, ALIGN_DOWN(va, ASAHI_PT_BLOCK_SPAN));

	if (!--leaf->users)
		asahi_pt_retire(pool, leaf);
}

static void asahi_pt_clear_entry(struct asahi_pt_pool *pool, struct asahi_pt_table *l2, u64 va)
{
	asahi_pt_write_l2_entry(pool->pt, l2, va, 0);
	if (!--l2->used && !asahi_pt_held(l2))
		asahi_pt_remove_l2(pool, l2);
}

static void asahi_pt_remove_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *l2,
				 struct asahi_pt_table *leaf, u64 va)
{
	asahi_pt_drop_leaf(pool, leaf, va);
	asahi_pt_clear_entry(pool, l2, va);
}

/* [va, next) is the whole block, or nothing of it is mapped by a block entry. */
static void asahi_pt_remove_block(struct asahi_pt_pool *pool, struct asahi_pt_table *l2,
				  u64 va, u64 next)
{
	if (!asahi_pt_block(l2, va) || WARN_ON_ONCE(!asahi_pt_whole_block(va, next)))
		return;

	asahi_pt_note_flush(pool, va, next);
	asahi_pt_clear_entry(pool, l2, va);
	asahi_count_dec(ASAHI_COUNT_PGTABLE_BLOCK);
}

/* Puts @leaf into the place of @old, which may be NULL. */
static void asahi_pt_insert_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *l2,
				 struct asahi_pt_table *leaf, struct asahi_pt_table *old,
				 u64 va)
{
	asahi_pt_write_leaf_entry(pool->pt, l2, va, leaf);
	leaf->users++;

	if (old)
		asahi_pt_drop_leaf(pool, old, va);
	else
		l2->used++;
}

static struct asahi_pt_table *asahi_pt_hold_l2(struct asahi_pt_pool *pool, u64 va)
{
	struct asahi_pgtable *pt = pool->pt;
	struct asahi_pt_table *l2 = asahi_pt_l2(pt, va);

	if (!l2) {
		l2 = asahi_pt_alloc_table(pt);
		if (!l2)
			return NULL;

		l2->va = ALIGN_DOWN(va, ASAHI_PT_L2_SPAN);
		pt->l2[asahi_pt_l1_index(va)] = l2;
		asahi_pt_write_root_entry(&pt->root[asahi_pt_l1_index(va)], l2->phys);
	}

	/* Behind all leaves, which asahi_pt_pool_settle() has to see first. */
	if (!asahi_pt_held(l2))
		list_add_tail(&l2->node, &pool->held);

	return l2;
}

static struct asahi_pt_table *asahi_pt_alloc_leaf(struct asahi_pt_pool *pool,
						  struct asahi_pt_table *l2, u64 va)
{
	struct asahi_pt_table *leaf = asahi_pt_alloc_table(pool->pt);

	if (!leaf)
		return NULL;

	leaf->parent = l2;
	leaf->va = ALIGN_DOWN(va, ASAHI_PT_BLOCK_SPAN);
	return leaf;
}

static void asahi_pt_copy_block(struct asahi_pt_table *leaf, u64 block)
{
	for (u64 i = 0; i < AGX_UAT_L3_ENTRIES; i++)
		leaf->entries[i] = cpu_to_le64(asahi_pt_block_page(block, i << AGX_PAGE_SHIFT));
	leaf->used = AGX_UAT_L3_ENTRIES;
}

/* The leaf of a block that has an entry, without putting it into the tree. */
static int asahi_pt_prepare_split(struct asahi_pt_pool *pool, struct asahi_pt_table *l2, u64 va)
{
	unsigned long number = va >> AGX_UAT_L2_SHIFT;
	struct asahi_pgtable *pt = pool->pt;
	struct asahi_pt_table *leaf;

	if (xa_load(&pt->splits, number))
		return 0;

	leaf = asahi_pt_alloc_leaf(pool, l2, va);
	if (!leaf)
		return -ENOMEM;

	if (xa_err(xa_store(&pt->splits, number, leaf, GFP_KERNEL))) {
		asahi_pt_free_table(pt, leaf);
		return -ENOMEM;
	}

	asahi_pt_copy_block(leaf, asahi_pt_block(l2, va));
	list_add(&leaf->node, &pool->splits);
	return 0;
}

static int asahi_pt_hold_private_leaf(struct asahi_pt_pool *pool,
				      struct asahi_pt_table *l2, u64 va)
{
	struct asahi_pgtable *pt = pool->pt;
	u64 entry = asahi_pt_l2_entry(l2, va);
	struct asahi_pt_table *old = asahi_pt_leaf_of(pt, entry);
	struct asahi_pt_table *leaf = old;

	if (asahi_pt_is_block(entry))
		return asahi_pt_prepare_split(pool, l2, va);

	if (!old || old->shared) {
		leaf = asahi_pt_alloc_leaf(pool, l2, va);
		if (!leaf)
			return -ENOMEM;

		if (old) {
			memcpy(leaf->entries, old->entries, AGX_PAGE_SIZE);
			leaf->used = old->used;
		}
		asahi_pt_insert_leaf(pool, l2, leaf, old, va);
	}

	if (!asahi_pt_held(leaf))
		list_add(&leaf->node, &pool->held);

	return 0;
}

static int asahi_pt_reserve_map(struct asahi_pt_pool *pool, u64 va, u64 end)
{
	struct asahi_pt_table *l2;
	int ret;

	for (; va < end; va = asahi_pt_block_end(va, end)) {
		l2 = asahi_pt_hold_l2(pool, va);
		if (!l2)
			return -ENOMEM;

		ret = asahi_pt_hold_private_leaf(pool, l2, va);
		if (ret)
			return ret;
	}

	return 0;
}

/* Blocks that a range covers only in part are at its two ends. Returns how many there are. */
static unsigned int asahi_pt_partial_edges(u64 va, u64 end, u64 *edges)
{
	u64 last = ALIGN_DOWN(end - 1, ASAHI_PT_BLOCK_SPAN);
	unsigned int count = 0;

	if (!asahi_pt_whole_block(va, asahi_pt_block_end(va, end)))
		edges[count++] = va;
	if (last > va && end - last != ASAHI_PT_BLOCK_SPAN)
		edges[count++] = last;
	return count;
}

static bool asahi_pt_has_whole_block(u64 va, u64 end)
{
	return ALIGN(va, ASAHI_PT_BLOCK_SPAN) < ALIGN_DOWN(end, ASAHI_PT_BLOCK_SPAN);
}

static int asahi_pt_reserve_single(struct asahi_pt_pool *pool, u64 va, u64 end)
{
	struct asahi_pt_table *spare;
	unsigned int count;
	u64 edges[2], i;
	int ret;

	for (i = va; i < end; i = ALIGN_DOWN(i, ASAHI_PT_L2_SPAN) + ASAHI_PT_L2_SPAN)
		if (!asahi_pt_hold_l2(pool, i))
			return -ENOMEM;

	count = asahi_pt_partial_edges(va, end, edges);
	for (i = 0; i < count; i++) {
		ret = asahi_pt_hold_private_leaf(pool, asahi_pt_l2(pool->pt, edges[i]), edges[i]);
		if (ret)
			return ret;
	}

	if (asahi_pt_has_whole_block(va, end)) {
		spare = asahi_pt_alloc_table(pool->pt);
		if (!spare)
			return -ENOMEM;

		spare->shared = true;
		list_add(&spare->node, &pool->spare);
		pool->whole_blocks = true;
	}

	return 0;
}

static int asahi_pt_reserve_unmap(struct asahi_pt_pool *pool, u64 va, u64 end)
{
	unsigned int count, i;
	struct asahi_pt_table *l2;
	u64 edges[2];
	int ret;

	count = asahi_pt_partial_edges(va, end, edges);
	for (i = 0; i < count; i++) {
		l2 = asahi_pt_l2(pool->pt, edges[i]);
		if (!l2)
			continue;

		/*
		 * Where there is no entry yet, only a shared leaf or a block entry
		 * can come, from an earlier change of this transaction.
		 */
		if (!asahi_pt_l2_entry(l2, edges[i]) && !pool->whole_blocks)
			continue;

		ret = asahi_pt_hold_private_leaf(pool, l2, edges[i]);
		if (ret)
			return ret;
	}

	return 0;
}

static bool asahi_pt_range_valid(const struct asahi_pgtable *pt, u64 va, u64 size)
{
	u64 last = va + size - 1;

	return size && IS_ALIGNED(va | size, AGX_PAGE_SIZE) && last > va &&
	       (va >> AGX_UAT_IAS) == (last >> AGX_UAT_IAS) &&
	       asahi_pt_l1_index(va) >= pt->first && asahi_pt_l1_index(last) < pt->end;
}

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
 * as they are. Ranges that were mapped by one asahi_pgtable_map() or
 * asahi_pgtable_map_sg() can be unmapped as a whole without a reservation.
 *
 * Context: process context, may sleep (GFP_KERNEL).
 * Return: 0, or -ENOMEM.
 */
int asahi_pgtable_reserve(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			  u64 va, u64 size, enum asahi_pt_op op)
{
	if (WARN_ON_ONCE(pool->pt != pt || !asahi_pt_range_valid(pt, va, size)))
		return -EINVAL;

	switch (op) {
	case ASAHI_PT_MAP:
		return asahi_pt_reserve_map(pool, va, va + size);
	case ASAHI_PT_MAP_SINGLE:
		if (WARN_ON_ONCE(pt->keeps_tables))
			return -EINVAL;
		return asahi_pt_reserve_single(pool, va, va + size);
	case ASAHI_PT_UNMAP:
		return asahi_pt_reserve_unmap(pool, va, va + size);
	}

	return -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_reserve);

static int asahi_pt_reserve_blocks(struct asahi_pt_pool *pool, u64 va, u64 end)
{
	for (; va < end; va = ALIGN_DOWN(va, ASAHI_PT_L2_SPAN) + ASAHI_PT_L2_SPAN)
		if (!asahi_pt_hold_l2(pool, va))
			return -ENOMEM;

	pool->whole_blocks = true;
	return 0;
}

/* Blocks that a contiguous piece of memory can fill with one entry each; or none. */
static struct asahi_range asahi_pt_find_blocks(u64 va, dma_addr_t pa, u64 size)
{
	struct asahi_range blocks = {
		.start = ALIGN(va, ASAHI_PT_BLOCK_SPAN),
		.end = ALIGN_DOWN(va + size, ASAHI_PT_BLOCK_SPAN),
	};

	if (!IS_ALIGNED(va ^ pa, ASAHI_PT_BLOCK_SPAN))
		blocks.end = 0;
	return blocks;
}

static int asahi_pt_reserve_sg(struct asahi_pt_pool *pool, u64 va, struct scatterlist *sg,
			       u64 skip, u64 size)
{
	u64 from = va, end = va + size;
	struct asahi_range blocks;
	u64 len;
	int ret;

	for (; va < end; va += len, skip = 0, sg = sg_next(sg)) {
		len = min(sg_dma_len(sg) - skip, end - va);
		blocks = asahi_pt_find_blocks(va, sg_dma_address(sg) + skip, len);
		if (blocks.start >= blocks.end)
			continue;

		ret = asahi_pt_reserve_map(pool, from, blocks.start);
		if (!ret)
			ret = asahi_pt_reserve_blocks(pool, blocks.start, blocks.end);
		if (ret)
			return ret;
		from = blocks.end;
	}

	return asahi_pt_reserve_map(pool, from, end);
}

/**
 * asahi_pgtable_reserve_sg() - get everything that asahi_pgtable_map_sg() can need
 * @pt: tree
 * @pool: open transaction
 * @va: as for asahi_pgtable_map_sg()
 * @sg: likewise
 * @skip: likewise
 * @size: likewise
 *
 * As asahi_pgtable_reserve() with ASAHI_PT_MAP, but for blocks that need no leaf.
 *
 * Context: process context, may sleep (GFP_KERNEL).
 * Return: 0, or -ENOMEM.
 */
int asahi_pgtable_reserve_sg(struct asahi_pgtable *pt, struct asahi_pt_pool *pool, u64 va,
			     struct scatterlist *sg, u64 skip, u64 size)
{
	if (WARN_ON_ONCE(pool->pt != pt || !asahi_pt_range_valid(pt, va, size)))
		return -EINVAL;

	if (!pt->blocks || size < ASAHI_PT_BLOCK_SPAN)
		return asahi_pt_reserve_map(pool, va, va + size);

	return asahi_pt_reserve_sg(pool, va, sg, skip, size);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_reserve_sg);

/**
 * asahi_pgtable_break() - remove the block entries that are to be split
 * @pt: tree
 * @pool: open transaction; everything has been reserved
 *
 * Does nothing if @pool->splits is empty. Otherwise the owner invalidates what is in
 * @pool->flush before it calls asahi_pgtable_make(). Never fails, never allocates.
 */
void asahi_pgtable_break(struct asahi_pgtable *pt, struct asahi_pt_pool *pool)
{
	struct asahi_pt_table *leaf;

	list_for_each_entry(leaf, &pool->splits, node) {
		asahi_pt_write_l2_entry(pt, leaf->parent, leaf->va, 0);
		asahi_pt_note_flush(pool, leaf->va, leaf->va + ASAHI_PT_BLOCK_SPAN);
		asahi_count_dec(ASAHI_COUNT_PGTABLE_BLOCK);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_break);

static void asahi_pt_forget_split(struct asahi_pgtable *pt, const struct asahi_pt_table *leaf)
{
	xa_erase(&pt->splits, leaf->va >> AGX_UAT_L2_SHIFT);
}

/**
 * asahi_pgtable_make() - put leaves into the places of split block entries
 * @pt: tree
 * @pool: open transaction after asahi_pgtable_break() and an invalidation
 *
 * All translations are as before. Never fails, never allocates.
 */
void asahi_pgtable_make(struct asahi_pgtable *pt, struct asahi_pt_pool *pool)
{
	struct asahi_pt_table *leaf, *next;

	list_for_each_entry_safe(leaf, next, &pool->splits, node) {
		asahi_pt_forget_split(pt, leaf);
		asahi_pt_write_leaf_entry(pt, leaf->parent, leaf->va, leaf);
		leaf->users++;
		list_move(&leaf->node, &pool->held);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_make);

static u64 asahi_pt_make_pte(const struct asahi_pgtable *pt, dma_addr_t pa,
			     enum asahi_prot prot)
{
	return pa | asahi_pt_prot_bits[prot] | pt->pte_base;
}

/* Writes entries of a private leaf; @step is 0 where one page repeats. */
static void asahi_pt_fill_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *leaf,
			       u64 va, u64 next, u64 pte, u64 step)
{
	__le64 *entry = &leaf->entries[asahi_pt_l3_index(va)];
	bool replaced = false;
	u64 i;

	for (i = va; i < next; i += AGX_PAGE_SIZE, pte += step, entry++) {
		__le64 new = cpu_to_le64(pte);

		if (!*entry)
			leaf->used++;
		else if (*entry != new)
			replaced = true;
		WRITE_ONCE(*entry, new);
	}

	if (replaced)
		asahi_pt_note_flush(pool, va, next);
}

/* NULL, with a warning, where the caller has not reserved what it changes. */
static struct asahi_pt_table *asahi_pt_writable_leaf(struct asahi_pgtable *pt, u64 va)
{
	struct asahi_pt_table *l2 = asahi_pt_l2(pt, va);
	struct asahi_pt_table *leaf = l2 ? asahi_pt_leaf(pt, l2, va) : NULL;

	return WARN_ON_ONCE(!leaf || leaf->shared) ? NULL : leaf;
}

static bool asahi_pt_can_be_block(const struct asahi_pgtable *pt, u64 va, u64 next, u64 pte)
{
	return pt->blocks && asahi_pt_whole_block(va, next) &&
	       !(pte & (ASAHI_PT_BLOCK_SPAN - AGX_PAGE_SIZE));
}

/* Takes the place of whatever is there. */
static void asahi_pt_write_block(struct asahi_pt_pool *pool, struct asahi_pt_table *l2,
				 struct asahi_pt_table *leaf, u64 va, u64 pte)
{
	u64 old = asahi_pt_l2_entry(l2, va);
	u64 new = (pte & ~AGX_PTE_TYPE_MASK) | AGX_PTE_BLOCK;

	if (old == new)
		return;

	if (!asahi_pt_is_block(old))
		asahi_count_inc(ASAHI_COUNT_PGTABLE_BLOCK);
	if (old)
		asahi_pt_note_flush(pool, va, va + ASAHI_PT_BLOCK_SPAN);
	else
		l2->used++;
	asahi_pt_write_l2_entry(pool->pt, l2, va, new);
	if (leaf)
		asahi_pt_drop_leaf(pool, leaf, va);
}

/* [va, next) lies in one block. A leaf that is held is there to be changed in part. */
static void asahi_pt_map_in_block(struct asahi_pt_pool *pool, u64 va, u64 next, u64 pte)
{
	struct asahi_pgtable *pt = pool->pt;
	struct asahi_pt_table *l2 = asahi_pt_l2(pt, va);
	struct asahi_pt_table *leaf;

	if (WARN_ON_ONCE(!l2))
		return;

	leaf = asahi_pt_leaf(pt, l2, va);
	if ((!leaf || !asahi_pt_held(leaf)) && asahi_pt_can_be_block(pt, va, next, pte))
		asahi_pt_write_block(pool, l2, leaf, va, pte);
	else if (!WARN_ON_ONCE(!leaf || leaf->shared))
		asahi_pt_fill_leaf(pool, leaf, va, next, pte, AGX_PAGE_SIZE);
}

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
		       u64 va, dma_addr_t pa, u64 size, enum asahi_prot prot)
{
	u64 pte = asahi_pt_make_pte(pt, pa, prot);
	u64 end = va + size;
	u64 next;

	WARN_ON_ONCE(!IS_ALIGNED(va | pa | size, AGX_PAGE_SIZE));
	WARN_ON_ONCE((pa + size - 1) & ~pt->oas_mask);

	for (; va < end; pte += next - va, va = next) {
		next = asahi_pt_block_end(va, end);
		asahi_pt_map_in_block(pool, va, next, pte);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_map);

/**
 * asahi_pgtable_map_sg() - map a part of a scatter list
 * @pt: tree
 * @pool: open transaction in which this was reserved by asahi_pgtable_reserve_sg()
 * @va: GPU address, 16 KiB aligned
 * @sg: first entry; all are aligned to 16 KiB
 * @skip: bytes of @sg that come before the part
 * @size: bytes, a multiple of 16 KiB, not more than the list has from there on
 * @prot: protection
 *
 * As asahi_pgtable_map().
 */
void asahi_pgtable_map_sg(struct asahi_pgtable *pt, struct asahi_pt_pool *pool, u64 va,
			  struct scatterlist *sg, u64 skip, u64 size, enum asahi_prot prot)
{
	u64 len;

	for (; size; sg = sg_next(sg)) {
		len = min(sg_dma_len(sg) - skip, size);
		asahi_pgtable_map(pt, pool, va, sg_dma_address(sg) + skip, len, prot);
		va += len;
		size -= len;
		skip = 0;
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_map_sg);

static struct asahi_pt_table *asahi_pt_take_spare(struct asahi_pt_pool *pool, u64 pte)
{
	struct asahi_pt_table *leaf;
	unsigned int i;

	leaf = list_first_entry_or_null(&pool->spare, struct asahi_pt_table, node);
	if (WARN_ON_ONCE(!leaf))
		return NULL;

	list_del_init(&leaf->node);
	for (i = 0; i < AGX_UAT_L3_ENTRIES; i++)
		leaf->entries[i] = cpu_to_le64(pte);
	leaf->used = AGX_UAT_L3_ENTRIES;
	return leaf;
}

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
			      u64 size, enum asahi_prot prot)
{
	struct asahi_pt_table *l2, *leaf, *shared = NULL;
	u64 pte = asahi_pt_make_pte(pt, pa, prot);
	u64 end = va + size;
	u64 next;

	WARN_ON_ONCE(!IS_ALIGNED(va | pa | size, AGX_PAGE_SIZE));
	WARN_ON_ONCE(pa & ~pt->oas_mask);

	for (; va < end; va = next) {
		next = asahi_pt_block_end(va, end);
		l2 = asahi_pt_l2(pt, va);
		if (WARN_ON_ONCE(!l2))
			continue;

		leaf = asahi_pt_leaf(pt, l2, va);
		if (!asahi_pt_whole_block(va, next) || (leaf && asahi_pt_held(leaf))) {
			leaf = asahi_pt_writable_leaf(pt, va);
			if (leaf)
				asahi_pt_fill_leaf(pool, leaf, va, next, pte, 0);
			continue;
		}

		if (!shared)
			shared = asahi_pt_take_spare(pool, pte);
		if (!shared)
			return;

		if (leaf)
			asahi_pt_note_flush(pool, va, next);
		asahi_pt_remove_block(pool, l2, va, next);
		asahi_pt_insert_leaf(pool, l2, shared, leaf, va);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_map_single);

static void asahi_pt_clear_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *leaf,
				u64 va, u64 next)
{
	__le64 *entry = &leaf->entries[asahi_pt_l3_index(va)];
	unsigned int used = leaf->used;
	u64 i;

	for (i = va; i < next && used; i += AGX_PAGE_SIZE, entry++) {
		if (!*entry)
			continue;

		WRITE_ONCE(*entry, 0);
		used--;
	}

	if (used == leaf->used)
		return;

	leaf->used = used;
	asahi_pt_note_flush(pool, va, next);
}

/* Nothing relies on the table: it goes when it is empty. */
static bool asahi_pt_idle(const struct asahi_pt_pool *pool, const struct asahi_pt_table *table)
{
	return !pool->pt->keeps_tables && !asahi_pt_held(table);
}

static void asahi_pt_unmap_block(struct asahi_pt_pool *pool, struct asahi_pt_table *l2,
				 u64 va, u64 next)
{
	struct asahi_pt_table *leaf = asahi_pt_leaf(pool->pt, l2, va);

	if (!leaf) {
		asahi_pt_remove_block(pool, l2, va, next);
		return;
	}

	if (asahi_pt_whole_block(va, next) && asahi_pt_idle(pool, leaf)) {
		asahi_pt_note_flush(pool, va, next);
		asahi_pt_remove_leaf(pool, l2, leaf, va);
		return;
	}

	if (WARN_ON_ONCE(leaf->shared))
		return;

	asahi_pt_clear_leaf(pool, leaf, va, next);
	if (!leaf->used && asahi_pt_idle(pool, leaf))
		asahi_pt_remove_leaf(pool, l2, leaf, va);
}

/**
 * asahi_pgtable_unmap() - Remove what is mapped in a range
 * @pt: tree
 * @pool: open transaction
 * @va: GPU address, 16 KiB aligned
 * @size: bytes, a multiple of 16 KiB; holes are fine
 *
 * Tables that become empty are retired to @pool, unless @pt keeps them. Never fails,
 * never allocates.
 */
void asahi_pgtable_unmap(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			 u64 va, u64 size)
{
	struct asahi_pt_table *l2;
	u64 end = va + size;
	u64 next;

	WARN_ON_ONCE(!IS_ALIGNED(va | size, AGX_PAGE_SIZE));

	for (; va < end; va = next) {
		l2 = asahi_pt_l2(pt, va);
		if (!l2) {
			next = ALIGN_DOWN(va, ASAHI_PT_L2_SPAN) + ASAHI_PT_L2_SPAN;
			continue;
		}

		next = asahi_pt_block_end(va, end);
		asahi_pt_unmap_block(pool, l2, va, next);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_unmap);

static void asahi_pt_protect_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *leaf,
				  u64 va, u64 next, u64 bits)
{
	__le64 *entry = &leaf->entries[asahi_pt_l3_index(va)];
	bool changed = false;
	u64 pte, i;

	for (i = va; i < next; i += AGX_PAGE_SIZE, entry++) {
		pte = le64_to_cpu(*entry);
		if (!pte)
			continue;

		pte = (pte & ~AGX_PTE_PROT_MASK) | bits;
		WRITE_ONCE(*entry, cpu_to_le64(pte));
		changed = true;
	}

	if (changed)
		asahi_pt_note_flush(pool, va, next);
}

/**
 * asahi_pgtable_protect() - Change the protection of what is mapped in a range
 * @pt: tree
 * @pool: open transaction
 * @va: GPU address, 16 KiB aligned
 * @size: bytes, a multiple of 16 KiB; holes stay holes
 * @prot: new protection
 *
 * Only for ranges in which nothing was mapped by asahi_pgtable_map_single() or
 * asahi_pgtable_map_sg().
 * Never fails, never allocates.
 */
void asahi_pgtable_protect(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			   u64 va, u64 size, enum asahi_prot prot)
{
	struct asahi_pt_table *l2, *leaf;
	u64 end = va + size;
	u64 next;

	for (; va < end; va = next) {
		next = asahi_pt_block_end(va, end);
		l2 = asahi_pt_l2(pt, va);
		leaf = l2 ? asahi_pt_leaf(pt, l2, va) : NULL;
		if (leaf && !WARN_ON_ONCE(leaf->shared))
			asahi_pt_protect_leaf(pool, leaf, va, next, asahi_pt_prot_bits[prot]);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_protect);

/**
 * asahi_pt_pool_init() - Begin a transaction
 * @pool: transaction, contents undefined before
 * @pt: tree
 */
void asahi_pt_pool_init(struct asahi_pt_pool *pool, struct asahi_pgtable *pt)
{
	*pool = (struct asahi_pt_pool) { .pt = pt };
	INIT_LIST_HEAD(&pool->held);
	INIT_LIST_HEAD(&pool->spare);
	INIT_LIST_HEAD(&pool->splits);
	INIT_LIST_HEAD(&pool->retired);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pt_pool_init);

/**
 * asahi_pt_pool_settle() - End the changes of a transaction
 * @pool: open transaction; only asahi_pt_pool_fini() may follow
 *
 * Orders the writes to the tables before anything that lets the GPU walk them.
 * When it returns true, the caller invalidates what is in @pool->flush before
 * asahi_pt_pool_fini(), and before it frees a page that was mapped there. Where
 * @pool->flush_tables is set, it invalidates the whole tree: that an address makes
 * the MMU forget the tables on the way to it as well is what the CPU's architecture
 * says, but the references never rely upon it. It may do all that between two
 * changes as well, and then empties the list and resets @pool->flush_tables.
 *
 * Return: true when old translations may be cached.
 */
bool asahi_pt_pool_settle(struct asahi_pt_pool *pool)
{
	struct asahi_pt_table *table, *next;

	list_for_each_entry_safe(table, next, &pool->held, node) {
		list_del_init(&table->node);
		if (table->used || pool->pt->keeps_tables)
			continue;

		if (table->parent)
			asahi_pt_remove_leaf(pool, table->parent, table, table->va);
		else
			asahi_pt_remove_l2(pool, table);
	}

	/* Those of a transaction that is given up. */
	list_for_each_entry_safe(table, next, &pool->splits, node) {
		asahi_pt_forget_split(pool->pt, table);
		list_move(&table->node, &pool->spare);
	}

	/* The entries are in memory before an invalidation or a doorbell. */
	wmb();
	return pool->flush.count;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pt_pool_settle);

static void asahi_pt_free_tables(struct asahi_pgtable *pt, struct list_head *list)
{
	struct asahi_pt_table *table, *next;

	list_for_each_entry_safe(table, next, list, node)
		asahi_pt_free_table(pt, table);
	INIT_LIST_HEAD(list);
}

/**
 * asahi_pt_pool_fini() - Free the tables that a settled transaction took out
 * @pool: transaction; the TLB holds none of it any more
 */
void asahi_pt_pool_fini(struct asahi_pt_pool *pool)
{
	WARN_ON_ONCE(!list_empty(&pool->held));
	asahi_pt_free_tables(pool->pt, &pool->spare);
	asahi_pt_free_tables(pool->pt, &pool->retired);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pt_pool_fini);

/**
 * asahi_pgtable_lookup() - The page entry that translates an address
 * @pt: tree
 * @va: GPU address
 *
 * Return: the entry in CPU byte order, 0 when nothing is mapped there.
 */
u64 asahi_pgtable_lookup(const struct asahi_pgtable *pt, u64 va)
{
	const struct asahi_pt_table *l2 = asahi_pt_l2(pt, va);
	const struct asahi_pt_table *leaf = l2 ? asahi_pt_leaf(pt, l2, va) : NULL;

	if (l2 && asahi_pt_block(l2, va))
		return asahi_pt_block_page(asahi_pt_block(l2, va), va);

	return leaf ? le64_to_cpu(READ_ONCE(leaf->entries[asahi_pt_l3_index(va)])) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_lookup);

static void asahi_pgtable_init(struct asahi_pgtable *pt, struct device *dev,
			       unsigned int oas_bits)
{
	pt->dev = dev;
	pt->oas_mask = GENMASK_ULL(oas_bits - 1, 0);
	pt->pte_base = AGX_PTE_TYPE | AGX_PTE_AF | AGX_PTE_OS;
	xa_init_flags(&pt->splits, XA_FLAGS_ACCOUNT);
}

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
			    unsigned int oas_bits)
{
	struct page *page;

	asahi_pgtable_init(pt, dev, oas_bits);
	page = asahi_pt_get_page(pt);
	if (!page)
		return -ENOMEM;

	pt->root = page_address(page);
	pt->root_phys = page_to_phys(page);
	pt->root_owned = true;
	pt->end = AGX_UAT_L1_ENTRIES;
	pt->pte_base |= AGX_PTE_NG;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_init_user);

static __le64 *asahi_pt_alloc_stripped(struct asahi_pgtable *pt)
{
	struct page *page = asahi_pt_get_page(pt);

	if (!page)
		return NULL;

	WRITE_ONCE(pt->stripped.pages, pt->stripped.pages + 1);
	return page_address(page);
}

/**
 * asahi_pgtable_init_stripped() - make a second root, which leads to a part of the tree only
 * @pt: empty tree for the user half of a context
 * @start: first address of the part, 32 MiB aligned
 * @end: its end, exclusive, 32 MiB aligned
 *
 * Takes 16 KiB, and as much for each 64 GiB in which the part lies. asahi_pgtable_fini()
 * frees it, also after an error. Once for each tree.
 *
 * Context: process context, may sleep.
 * Return: 0, -ENOMEM, or -EINVAL with a warning if the range cannot be such a part.
 */
int asahi_pgtable_init_stripped(struct asahi_pgtable *pt, u64 start, u64 end)
{
	struct asahi_pt_stripped *stripped = &pt->stripped;

	if (WARN_ON_ONCE(pt->pages || stripped->root || start >= end ||
			 !IS_ALIGNED(start | end, ASAHI_PT_BLOCK_SPAN)))
		return -EINVAL;

	stripped->root = asahi_pt_alloc_stripped(pt);
	if (!stripped->root)
		return -ENOMEM;

	for (unsigned int i = asahi_pt_l1_index(start); i <= asahi_pt_l1_index(end - 1); i++) {
		stripped->l2[i] = asahi_pt_alloc_stripped(pt);
		if (!stripped->l2[i])
			return -ENOMEM;
		asahi_pt_write_root_entry(&stripped->root[i], virt_to_phys(stripped->l2[i]));
	}

	stripped->start = start;
	stripped->end = end;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_init_stripped);

/**
 * asahi_pgtable_stripped_root() - where the MMU finds a part of the tree only
 * @pt: tree
 *
 * Return: physical address of the level 1 table, 0 if no part was named.
 */
u64 asahi_pgtable_stripped_root(const struct asahi_pgtable *pt)
{
	return pt->stripped.root ? virt_to_phys(pt->stripped.root) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_stripped_root);

static void asahi_pt_free_stripped(struct asahi_pgtable *pt)
{
	struct asahi_pt_stripped *stripped = &pt->stripped;

	for (unsigned int i = 0; i < AGX_UAT_L1_ENTRIES; i++)
		if (stripped->l2[i])
			asahi_pt_put_page(virt_to_page(stripped->l2[i]));
	if (stripped->root)
		asahi_pt_put_page(virt_to_page(stripped->root));
	*stripped = (struct asahi_pt_stripped) {};
}

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
			       phys_addr_t root_phys)
{
	asahi_pgtable_init(pt, dev, oas_bits);
	pt->root = root;
	pt->root_phys = root_phys;
	pt->first = AGX_UAT_KERNEL_L1_INDEX;
	pt->end = AGX_UAT_KERNEL_L1_INDEX + 1;
	pt->keeps_tables = true;

	/* What an earlier kernel left there is not ours to walk or to free. */
	WRITE_ONCE(pt->root[pt->first], 0);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_init_kernel);

static void asahi_pt_free_l2(struct asahi_pgtable *pt, struct asahi_pt_table *l2)
{
	struct asahi_pt_table *leaf;
	u64 va;

	for (va = l2->va; va < l2->va + ASAHI_PT_L2_SPAN; va += ASAHI_PT_BLOCK_SPAN) {
		leaf = asahi_pt_leaf(pt, l2, va);
		if (leaf && !--leaf->users)
			asahi_pt_free_table(pt, leaf);
		if (asahi_pt_block(l2, va))
			asahi_count_dec(ASAHI_COUNT_PGTABLE_BLOCK);
	}

	asahi_pt_free_table(pt, l2);
}

/**
 * asahi_pgtable_fini() - Free a tree
 * @pt: tree; no context may use it any more and no TLB may hold it
 *
 * Context: process context.
 */
void asahi_pgtable_fini(struct asahi_pgtable *pt)
{
	unsigned int i;

	for (i = pt->first; i < pt->end; i++) {
		if (!pt->l2[i])
			continue;

		WRITE_ONCE(pt->root[i], 0);
		asahi_pt_free_l2(pt, pt->l2[i]);
		pt->l2[i] = NULL;
	}

	WARN_ON_ONCE(pt->pages);
	asahi_pt_free_stripped(pt);
	if (pt->root_owned)
		asahi_pt_put_page(virt_to_page(pt->root));
	pt->root_owned = false;
	pt->root = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_fini);

/**
 * asahi_pgtable_walk() - look at the entries that translate an address
 * @pt: tree
 * @va: address in it
 * @walk: the entries, down to the first that is not valid
 *
 * Context: the owner of @pt serialises this with changes.
 */
void asahi_pgtable_walk(const struct asahi_pgtable *pt, u64 va, struct asahi_pt_walk *walk)
{
	const unsigned int index[AGX_UAT_LEVELS] = {
		asahi_pt_l1_index(va), asahi_pt_l2_index(va), asahi_pt_l3_index(va),
	};
	const struct asahi_pt_table *l2 = asahi_pt_l2(pt, va);
	const struct asahi_pt_table *leaf = l2 ? asahi_pt_leaf(pt, l2, va) : NULL;
	const __le64 *table[AGX_UAT_LEVELS] = {
		pt->root, l2 ? l2->entries : NULL, leaf ? leaf->entries : NULL,
	};

	for (walk->levels = 0; walk->levels < AGX_UAT_LEVELS; walk->levels++) {
		unsigned int i = walk->levels;

		if (!table[i])
			break;
		walk->index[i] = index[i];
		walk->entry[i] = le64_to_cpu(READ_ONCE(table[i][index[i]]));
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_walk);
