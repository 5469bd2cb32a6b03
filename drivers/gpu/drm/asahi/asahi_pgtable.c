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
#include <linux/mm.h>
#include <linux/slab.h>

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
 * A table that is taken out can still be in a walk cache. It is retired to the
 * transaction and freed with it, after the invalidation.
 */

#define BLOCK_SPAN	BIT_ULL(AGX_UAT_L2_SHIFT)
#define L2_SPAN		BIT_ULL(AGX_UAT_L1_SHIFT)

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

static const u64 prot_bits[ASAHI_PROT_COUNT] = {
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

static unsigned int l1_index(u64 va)
{
	return (va >> AGX_UAT_L1_SHIFT) % AGX_UAT_L1_ENTRIES;
}

static unsigned int l2_index(u64 va)
{
	return (va >> AGX_UAT_L2_SHIFT) % AGX_UAT_L2_ENTRIES;
}

static unsigned int l3_index(u64 va)
{
	return (va >> AGX_UAT_L3_SHIFT) % AGX_UAT_L3_ENTRIES;
}

/* Where the part of [va, end) that lies in va's block ends. */
static u64 block_end(u64 va, u64 end)
{
	return min(ALIGN_DOWN(va, BLOCK_SPAN) + BLOCK_SPAN, end);
}

/* [va, next) never crosses the border of a block. */
static bool whole_block(u64 va, u64 next)
{
	return next - va == BLOCK_SPAN;
}

static bool table_held(const struct asahi_pt_table *table)
{
	return !list_empty(&table->node);
}

/* All memory of the tables comes from here, which tests make fail. */
VISIBLE_IF_KUNIT struct page *asahi_pgtable_alloc_page(void)
{
	KUNIT_STATIC_STUB_REDIRECT(asahi_pgtable_alloc_page);
	return alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO,
			   get_order(AGX_PAGE_SIZE));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_alloc_page);

static struct asahi_pt_table *alloc_table(struct asahi_pgtable *pt)
{
	struct asahi_pt_table *table;
	struct page *page;

	table = kzalloc_obj(*table, GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;

	page = asahi_pgtable_alloc_page();
	if (!page)
		goto err_free;

	table->entries = page_address(page);
	table->phys = page_to_phys(page);
	if (table->phys & ~pt->oas_mask) {
		dev_warn_once(pt->dev, "page table beyond the MMU's reach\n");
		goto err_free_page;
	}

	INIT_LIST_HEAD(&table->node);
	set_page_private(page, (unsigned long)table);
	pt->pages++;
	asahi_count_inc(ASAHI_COUNT_PGTABLE);
	return table;

err_free_page:
	__free_pages(page, get_order(AGX_PAGE_SIZE));
err_free:
	kfree(table);
	return NULL;
}

static void free_table(struct asahi_pgtable *pt, struct asahi_pt_table *table)
{
	struct page *page = virt_to_page(table->entries);

	set_page_private(page, 0);
	__free_pages(page, get_order(AGX_PAGE_SIZE));
	kfree(table);
	pt->pages--;
	asahi_count_dec(ASAHI_COUNT_PGTABLE);
}

static struct asahi_pt_table *get_l2(const struct asahi_pgtable *pt, u64 va)
{
	return pt->l2[l1_index(va)];
}

static struct asahi_pt_table *get_leaf(const struct asahi_pgtable *pt,
				       const struct asahi_pt_table *l2, u64 va)
{
	u64 entry = le64_to_cpu(READ_ONCE(l2->entries[l2_index(va)]));

	if (!entry)
		return NULL;

	entry &= pt->oas_mask & ~AGX_PAGE_MASK;
	return (struct asahi_pt_table *)page_private(phys_to_page(entry));
}

static void note_flush(struct asahi_pt_pool *pool, u64 start, u64 end)
{
	if (!pool->flush_end || start < pool->flush_start)
		pool->flush_start = start;
	if (end > pool->flush_end)
		pool->flush_end = end;
}

/* A pointer to a table stops to be there, or to be the same. */
static void note_table_flush(struct asahi_pt_pool *pool, u64 va)
{
	note_flush(pool, va, va + AGX_PAGE_SIZE);
	pool->flush_tables = true;
}

/* The walker must never see a pointer to a table before its contents. */
static void write_table_entry(__le64 *entry, const struct asahi_pt_table *table)
{
	dma_wmb();
	WRITE_ONCE(*entry, cpu_to_le64(table->phys | AGX_PTE_TYPE));
}

static void retire(struct asahi_pt_pool *pool, struct asahi_pt_table *table)
{
	list_move(&table->node, &pool->retired);
}

static void remove_l2(struct asahi_pt_pool *pool, struct asahi_pt_table *l2)
{
	struct asahi_pgtable *pt = pool->pt;
	unsigned int i = l1_index(l2->va);

	WRITE_ONCE(pt->root[i], 0);
	pt->l2[i] = NULL;
	note_table_flush(pool, l2->va);
	retire(pool, l2);
}

/* One entry of level 2 stops to point to @leaf. */
static void drop_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *leaf,
		      u64 va)
{
	note_table_flush(pool, ALIGN_DOWN(va, BLOCK_SPAN));

	if (!--leaf->users)
		retire(pool, leaf);
}

static void remove_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *l2,
			struct asahi_pt_table *leaf, u64 va)
{
	WRITE_ONCE(l2->entries[l2_index(va)], 0);
	drop_leaf(pool, leaf, va);

	if (!--l2->used && !table_held(l2))
		remove_l2(pool, l2);
}

/* Puts @leaf into the place of @old, which may be NULL. */
static void insert_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *l2,
			struct asahi_pt_table *leaf, struct asahi_pt_table *old,
			u64 va)
{
	write_table_entry(&l2->entries[l2_index(va)], leaf);
	leaf->users++;

	if (old)
		drop_leaf(pool, old, va);
	else
		l2->used++;
}

static struct asahi_pt_table *hold_l2(struct asahi_pt_pool *pool, u64 va)
{
	struct asahi_pgtable *pt = pool->pt;
	struct asahi_pt_table *l2 = get_l2(pt, va);

	if (!l2) {
		l2 = alloc_table(pt);
		if (!l2)
			return NULL;

		l2->va = ALIGN_DOWN(va, L2_SPAN);
		pt->l2[l1_index(va)] = l2;
		write_table_entry(&pt->root[l1_index(va)], l2);
	}

	/* Behind all leaves, which asahi_pt_pool_settle() has to see first. */
	if (!table_held(l2))
		list_add_tail(&l2->node, &pool->held);

	return l2;
}

static int hold_private_leaf(struct asahi_pt_pool *pool,
			     struct asahi_pt_table *l2, u64 va)
{
	struct asahi_pgtable *pt = pool->pt;
	struct asahi_pt_table *old = get_leaf(pt, l2, va);
	struct asahi_pt_table *leaf = old;

	if (!old || old->shared) {
		leaf = alloc_table(pt);
		if (!leaf)
			return -ENOMEM;

		leaf->parent = l2;
		leaf->va = ALIGN_DOWN(va, BLOCK_SPAN);
		if (old) {
			memcpy(leaf->entries, old->entries, AGX_PAGE_SIZE);
			leaf->used = old->used;
		}
		insert_leaf(pool, l2, leaf, old, va);
	}

	if (!table_held(leaf))
		list_add(&leaf->node, &pool->held);

	return 0;
}

static int reserve_map(struct asahi_pt_pool *pool, u64 va, u64 end)
{
	struct asahi_pt_table *l2;
	int ret;

	for (; va < end; va = block_end(va, end)) {
		l2 = hold_l2(pool, va);
		if (!l2)
			return -ENOMEM;

		ret = hold_private_leaf(pool, l2, va);
		if (ret)
			return ret;
	}

	return 0;
}

/* Blocks that a range covers only in part are at its two ends. */
static bool partial_edges(u64 va, u64 end, u64 *edges)
{
	u64 last = ALIGN_DOWN(end - 1, BLOCK_SPAN);
	bool head = !whole_block(va, block_end(va, end));
	bool tail = last > va && end - last != BLOCK_SPAN;

	edges[0] = head ? va : last;
	edges[1] = tail ? last : edges[0];
	return head || tail;
}

static bool has_whole_block(u64 va, u64 end)
{
	return ALIGN(va, BLOCK_SPAN) < ALIGN_DOWN(end, BLOCK_SPAN);
}

static int reserve_map_single(struct asahi_pt_pool *pool, u64 va, u64 end)
{
	struct asahi_pt_table *spare;
	u64 edges[2], i;
	int ret;

	for (i = va; i < end; i = ALIGN_DOWN(i, L2_SPAN) + L2_SPAN)
		if (!hold_l2(pool, i))
			return -ENOMEM;

	if (partial_edges(va, end, edges)) {
		for (i = 0; i < ARRAY_SIZE(edges); i++) {
			ret = hold_private_leaf(pool, get_l2(pool->pt, edges[i]),
						edges[i]);
			if (ret)
				return ret;
		}
	}

	if (has_whole_block(va, end)) {
		spare = alloc_table(pool->pt);
		if (!spare)
			return -ENOMEM;

		spare->shared = true;
		list_add(&spare->node, &pool->spare);
		pool->has_single = true;
	}

	return 0;
}

static int reserve_unmap(struct asahi_pt_pool *pool, u64 va, u64 end)
{
	struct asahi_pt_table *l2;
	u64 edges[2], i;
	int ret;

	if (!partial_edges(va, end, edges))
		return 0;

	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		l2 = get_l2(pool->pt, edges[i]);
		if (!l2)
			continue;

		/*
		 * A leaf that isn't there yet can only come as a shared one,
		 * from an earlier change of this transaction.
		 */
		if (!get_leaf(pool->pt, l2, edges[i]) && !pool->has_single)
			continue;

		ret = hold_private_leaf(pool, l2, edges[i]);
		if (ret)
			return ret;
	}

	return 0;
}

static bool range_valid(const struct asahi_pgtable *pt, u64 va, u64 size)
{
	u64 last = va + size - 1;

	return size && IS_ALIGNED(va | size, AGX_PAGE_SIZE) && last > va &&
	       (va >> AGX_UAT_IAS) == (last >> AGX_UAT_IAS) &&
	       l1_index(va) >= pt->first && l1_index(last) < pt->end;
}

int asahi_pgtable_reserve(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			  u64 va, u64 size, enum asahi_pt_op op)
{
	if (WARN_ON_ONCE(pool->pt != pt || !range_valid(pt, va, size)))
		return -EINVAL;

	switch (op) {
	case ASAHI_PT_MAP:
		return reserve_map(pool, va, va + size);
	case ASAHI_PT_MAP_SINGLE:
		return reserve_map_single(pool, va, va + size);
	case ASAHI_PT_UNMAP:
		return reserve_unmap(pool, va, va + size);
	}

	return -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_reserve);

static u64 make_pte(const struct asahi_pgtable *pt, dma_addr_t pa,
		    enum asahi_prot prot)
{
	return pa | prot_bits[prot] | pt->pte_base;
}

/* Writes entries of a private leaf; @step is 0 where one page repeats. */
static void fill_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *leaf,
		      u64 va, u64 next, u64 pte, u64 step)
{
	__le64 *entry = &leaf->entries[l3_index(va)];

	for (; va < next; va += AGX_PAGE_SIZE, pte += step, entry++) {
		__le64 new = cpu_to_le64(pte);

		if (!*entry)
			leaf->used++;
		else if (*entry != new)
			note_flush(pool, va, va + AGX_PAGE_SIZE);
		WRITE_ONCE(*entry, new);
	}
}

/* NULL, with a warning, where the caller has not reserved what it changes. */
static struct asahi_pt_table *writable_leaf(struct asahi_pgtable *pt, u64 va)
{
	struct asahi_pt_table *l2 = get_l2(pt, va);
	struct asahi_pt_table *leaf = l2 ? get_leaf(pt, l2, va) : NULL;

	return WARN_ON_ONCE(!leaf || leaf->shared) ? NULL : leaf;
}

void asahi_pgtable_map(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
		       u64 va, dma_addr_t pa, u64 size, enum asahi_prot prot)
{
	u64 pte = make_pte(pt, pa, prot);
	struct asahi_pt_table *leaf;
	u64 end = va + size;
	u64 next;

	WARN_ON_ONCE(!IS_ALIGNED(va | pa | size, AGX_PAGE_SIZE));
	WARN_ON_ONCE((pa + size - 1) & ~pt->oas_mask);

	for (; va < end; pte += next - va, va = next) {
		next = block_end(va, end);
		leaf = writable_leaf(pt, va);
		if (leaf)
			fill_leaf(pool, leaf, va, next, pte, AGX_PAGE_SIZE);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_map);

static struct asahi_pt_table *take_spare(struct asahi_pt_pool *pool, u64 pte)
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

void asahi_pgtable_map_single(struct asahi_pgtable *pt,
			      struct asahi_pt_pool *pool, u64 va, dma_addr_t pa,
			      u64 size, enum asahi_prot prot)
{
	struct asahi_pt_table *l2, *leaf, *shared = NULL;
	u64 pte = make_pte(pt, pa, prot);
	u64 end = va + size;
	u64 next;

	WARN_ON_ONCE(!IS_ALIGNED(va | pa | size, AGX_PAGE_SIZE));
	WARN_ON_ONCE(pa & ~pt->oas_mask);

	for (; va < end; va = next) {
		next = block_end(va, end);
		l2 = get_l2(pt, va);
		if (WARN_ON_ONCE(!l2))
			continue;

		leaf = get_leaf(pt, l2, va);
		if (!whole_block(va, next) || (leaf && table_held(leaf))) {
			leaf = writable_leaf(pt, va);
			if (leaf)
				fill_leaf(pool, leaf, va, next, pte, 0);
			continue;
		}

		if (!shared)
			shared = take_spare(pool, pte);
		if (!shared)
			return;

		if (leaf)
			note_flush(pool, va, next);
		insert_leaf(pool, l2, shared, leaf, va);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_map_single);

static void clear_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *leaf,
		       u64 va, u64 next)
{
	__le64 *entry = &leaf->entries[l3_index(va)];

	for (; va < next; va += AGX_PAGE_SIZE, entry++) {
		if (!*entry)
			continue;

		WRITE_ONCE(*entry, 0);
		leaf->used--;
		note_flush(pool, va, va + AGX_PAGE_SIZE);
	}
}

static void unmap_block(struct asahi_pt_pool *pool, struct asahi_pt_table *l2,
			u64 va, u64 next)
{
	struct asahi_pt_table *leaf = get_leaf(pool->pt, l2, va);

	if (!leaf)
		return;

	if (whole_block(va, next) && !table_held(leaf)) {
		note_flush(pool, va, next);
		remove_leaf(pool, l2, leaf, va);
		return;
	}

	if (WARN_ON_ONCE(leaf->shared))
		return;

	clear_leaf(pool, leaf, va, next);
	if (!leaf->used && !table_held(leaf))
		remove_leaf(pool, l2, leaf, va);
}

void asahi_pgtable_unmap(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			 u64 va, u64 size)
{
	struct asahi_pt_table *l2;
	u64 end = va + size;
	u64 next;

	WARN_ON_ONCE(!IS_ALIGNED(va | size, AGX_PAGE_SIZE));

	for (; va < end; va = next) {
		l2 = get_l2(pt, va);
		if (!l2) {
			next = ALIGN_DOWN(va, L2_SPAN) + L2_SPAN;
			continue;
		}

		next = block_end(va, end);
		unmap_block(pool, l2, va, next);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_unmap);

static void protect_leaf(struct asahi_pt_pool *pool, struct asahi_pt_table *leaf,
			 u64 va, u64 next, u64 bits)
{
	__le64 *entry = &leaf->entries[l3_index(va)];
	u64 pte;

	for (; va < next; va += AGX_PAGE_SIZE, entry++) {
		pte = le64_to_cpu(*entry);
		if (!pte)
			continue;

		pte = (pte & ~AGX_PTE_PROT_MASK) | bits;
		WRITE_ONCE(*entry, cpu_to_le64(pte));
		note_flush(pool, va, va + AGX_PAGE_SIZE);
	}
}

void asahi_pgtable_protect(struct asahi_pgtable *pt, struct asahi_pt_pool *pool,
			   u64 va, u64 size, enum asahi_prot prot)
{
	struct asahi_pt_table *l2, *leaf;
	u64 end = va + size;
	u64 next;

	for (; va < end; va = next) {
		next = block_end(va, end);
		l2 = get_l2(pt, va);
		leaf = l2 ? get_leaf(pt, l2, va) : NULL;
		if (leaf && !WARN_ON_ONCE(leaf->shared))
			protect_leaf(pool, leaf, va, next, prot_bits[prot]);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_protect);

void asahi_pt_pool_init(struct asahi_pt_pool *pool, struct asahi_pgtable *pt)
{
	*pool = (struct asahi_pt_pool) { .pt = pt };
	INIT_LIST_HEAD(&pool->held);
	INIT_LIST_HEAD(&pool->spare);
	INIT_LIST_HEAD(&pool->retired);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pt_pool_init);

bool asahi_pt_pool_settle(struct asahi_pt_pool *pool)
{
	struct asahi_pt_table *table, *next;

	list_for_each_entry_safe(table, next, &pool->held, node) {
		list_del_init(&table->node);
		if (table->used)
			continue;

		if (table->parent)
			remove_leaf(pool, table->parent, table, table->va);
		else
			remove_l2(pool, table);
	}

	/* The entries are in memory before an invalidation or a doorbell. */
	wmb();
	return pool->flush_end;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pt_pool_settle);

static void free_tables(struct asahi_pgtable *pt, struct list_head *list)
{
	struct asahi_pt_table *table, *next;

	list_for_each_entry_safe(table, next, list, node)
		free_table(pt, table);
	INIT_LIST_HEAD(list);
}

void asahi_pt_pool_fini(struct asahi_pt_pool *pool)
{
	WARN_ON_ONCE(!list_empty(&pool->held));
	free_tables(pool->pt, &pool->spare);
	free_tables(pool->pt, &pool->retired);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pt_pool_fini);

u64 asahi_pgtable_lookup(const struct asahi_pgtable *pt, u64 va)
{
	const struct asahi_pt_table *l2 = get_l2(pt, va);
	const struct asahi_pt_table *leaf = l2 ? get_leaf(pt, l2, va) : NULL;

	return leaf ? le64_to_cpu(READ_ONCE(leaf->entries[l3_index(va)])) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_lookup);

static void pgtable_init(struct asahi_pgtable *pt, struct device *dev,
			 unsigned int oas_bits)
{
	BUILD_BUG_ON(ARRAY_SIZE(pt->l2) != AGX_UAT_L1_ENTRIES);

	pt->dev = dev;
	pt->oas_mask = GENMASK_ULL(oas_bits - 1, 0);
	pt->pte_base = AGX_PTE_TYPE | AGX_PTE_AF | AGX_PTE_OS;
}

int asahi_pgtable_init_user(struct asahi_pgtable *pt, struct device *dev,
			    unsigned int oas_bits)
{
	struct page *page;

	page = asahi_pgtable_alloc_page();
	if (!page)
		return -ENOMEM;

	pgtable_init(pt, dev, oas_bits);
	pt->root = page_address(page);
	pt->root_phys = page_to_phys(page);
	pt->root_owned = true;
	pt->end = AGX_UAT_L1_ENTRIES;
	pt->pte_base |= AGX_PTE_NG;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_init_user);

void asahi_pgtable_init_kernel(struct asahi_pgtable *pt, struct device *dev,
			       unsigned int oas_bits, __le64 *root,
			       phys_addr_t root_phys)
{
	pgtable_init(pt, dev, oas_bits);
	pt->root = root;
	pt->root_phys = root_phys;
	pt->first = AGX_UAT_KERNEL_L1_INDEX;
	pt->end = AGX_UAT_KERNEL_L1_INDEX + 1;

	/* What an earlier kernel left there is not ours to walk or to free. */
	WRITE_ONCE(pt->root[pt->first], 0);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_init_kernel);

static void free_l2(struct asahi_pgtable *pt, struct asahi_pt_table *l2)
{
	struct asahi_pt_table *leaf;
	u64 va;

	for (va = l2->va; va < l2->va + L2_SPAN; va += BLOCK_SPAN) {
		leaf = get_leaf(pt, l2, va);
		if (leaf && !--leaf->users)
			free_table(pt, leaf);
	}

	free_table(pt, l2);
}

void asahi_pgtable_fini(struct asahi_pgtable *pt)
{
	unsigned int i;

	for (i = pt->first; i < pt->end; i++) {
		if (!pt->l2[i])
			continue;

		WRITE_ONCE(pt->root[i], 0);
		free_l2(pt, pt->l2[i]);
		pt->l2[i] = NULL;
	}

	WARN_ON_ONCE(pt->pages);
	if (pt->root_owned)
		free_pages((unsigned long)pt->root, get_order(AGX_PAGE_SIZE));
	pt->root = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_pgtable_fini);
