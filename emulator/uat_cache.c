// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The MMU's memory of translations, which is not coherent with the tables.
 *
 * A node is a pointer to a last table, for a context and 32 MiB, with those of its
 * entries that were used. Both stay until the guest invalidates them or, rarely,
 * there are too many. It is as unkind as hardware may be:
 *
 * - only invalidations that the GPU hears count (tlbi.h);
 * - those of pages leave the pointer to the table. They make a block go, but for those of its
 *   pages that were used and that they do not name;
 * - those of a context leave all of the kernel half, whose pages are global;
 * - what was forgotten is looked up again at once, if the tables still have it.
 *
 * Pages that are not mapped, or not accessed yet (AF), are never remembered, as the architecture
 * has it for CPUs, unless that is asked for (keep_holes). A sweep now and then compares
 * all nodes with the tables, to find translations that the guest has forgotten to invalidate.
 *
 * Any thread looks up, that of the plugin's socket (snoop.c) invalidates, and it and the firmware's
 * main thread sweep. @lock protects the nodes; each invalidation raises @generation, by which the
 * translation caches of threads notice it without the lock.
 */
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "poison.h"
#include "report.h"
#include "tlbi.h"
#include "uat_internal.h"

#define NODE_SHIFT	AGX_UAT_L2_SHIFT
#define NODE_ENTRIES	AGX_UAT_L3_ENTRIES
#define NODE_BASE(va)	((va) >> NODE_SHIFT << NODE_SHIFT)

/* At most 18 MiB */
#define MAX_NODES	1024

/* Sweeps in a row that have to find a translation wrong */
#define STALE_SWEEPS	(VAGX_UAT_STALE_NS / VAGX_UAT_SWEEP_NS)

/**
 * struct uat_cache_node - translations of 32 MiB in one context
 * @next: in the bucket
 * @va: first address
 * @table: the last table, or the entry of a block; 0 after a block, until it is looked up again
 * @at: the entry that leads to @table
 * @slot: context
 * @used: entries that are cached
 * @table_age: sweeps that found another table
 * @leaf: the entries, 0 for those that are not cached
 * @holes: a bit for each page of which it is cached that nothing is mapped there
 * @age: sweeps that found another entry in the table
 */
struct uat_cache_node {
	struct uat_cache_node *next;
	uint64_t va;
	uint64_t table;
	const uint64_t *at;
	unsigned int slot;
	unsigned int used;
	uint8_t table_age;
	uint8_t age[NODE_ENTRIES];
	uint64_t leaf[NODE_ENTRIES];
	uint8_t holes[NODE_ENTRIES / 8];
};

void uat_cache_init(struct uat_cache *cache)
{
	pthread_mutex_init(&cache->lock, NULL);
	/* What was looked up by walking watches its entry: no generation is 0 */
	cache->generation = 1;
}

static void uat_cache_free_bucket(struct uat_cache *cache, unsigned int i)
{
	struct uat_cache_node *node = cache->bucket[i], *next;

	cache->bucket[i] = NULL;
	for (; node; node = next) {
		next = node->next;
		cache->stats.pages -= node->used;
		cache->count--;
		free(node);
	}
}

/* Lock held */
static void uat_cache_forget(struct uat_cache *cache)
{
	for (unsigned int i = 0; i < UAT_CACHE_BUCKETS; i++)
		uat_cache_free_bucket(cache, i);
}

void uat_cache_fini(struct uat_cache *cache)
{
	uat_cache_forget(cache);
	pthread_mutex_destroy(&cache->lock);
}

/* Threads look up again what they have remembered. Lock held. */
static void uat_cache_next_generation(struct uat_cache *cache)
{
	__atomic_add_fetch(&cache->generation, 1, __ATOMIC_RELEASE);
}

static unsigned int uat_cache_bucket_of(unsigned int slot, uint64_t va)
{
	return ((va >> NODE_SHIFT) * 0x9e3779b1U + slot * 37) % UAT_CACHE_BUCKETS;
}

static struct uat_cache_node *uat_cache_find_node(struct uat_cache *cache, unsigned int slot,
						  uint64_t va)
{
	struct uat_cache_node *node = cache->bucket[uat_cache_bucket_of(slot, va)];

	while (node && (node->slot != slot || node->va != NODE_BASE(va)))
		node = node->next;
	return node;
}

static void uat_cache_check_table(struct vagx_uat *uat, uint64_t table, uint64_t va)
{
	const void *entries = NULL;
	struct vagx_poison found;

	if (uat->poison && !uat_tables_is_block(table))
		entries = vagx_mem_ptr(uat->mem, table, VAGX_UAT_PAGE_SIZE);
	if (entries && vagx_poison_find(entries, VAGX_UAT_PAGE_SIZE, &found))
		vagx_violation(uat->report, VAGX_CLAUSE_UAT_POISON_table, va, "page table",
			       "bytes %#x at offset %#zx", found.byte, found.offset);
}

/* Lock held. Return: a node, which has no table yet, or NULL without memory. */
static struct uat_cache_node *uat_cache_add_node(struct uat_cache *cache, unsigned int slot,
						 uint64_t va)
{
	struct uat_cache_node **bucket = &cache->bucket[uat_cache_bucket_of(slot, va)], *node;

	for (unsigned int i = 0; cache->count >= MAX_NODES && i < UAT_CACHE_BUCKETS; i++)
		uat_cache_free_bucket(cache, cache->victim++ % UAT_CACHE_BUCKETS);
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	node->va = NODE_BASE(va);
	node->slot = slot;
	node->next = *bucket;
	*bucket = node;
	cache->count++;
	return node;
}

/* Lock held. Return: the node, or NULL without a table or memory. */
static struct uat_cache_node *uat_cache_new_node(struct vagx_uat *uat, unsigned int slot,
						 uint64_t va)
{
	const uint64_t *at = NULL;
	uint64_t table = uat_tables_find_at(uat, slot, va, &at);
	struct uat_cache_node *node = table ? uat_cache_add_node(&uat->cache, slot, va) : NULL;

	if (!node)
		return NULL;
	uat_cache_check_table(uat, table, va);
	node->table = table;
	node->at = at;
	return node;
}

static bool uat_cache_has_hole(const struct uat_cache_node *node, unsigned int i)
{
	return node->holes[i / 8] >> i % 8 & 1;
}

static void uat_cache_forget_hole(struct uat_cache_node *node, unsigned int i)
{
	node->holes[i / 8] &= (uint8_t)~(1U << i % 8);
}

static bool uat_cache_is_upper(const struct uat_cache_node *node)
{
	return node->va & VA_UPPER;
}

static bool uat_cache_can_keep(uint64_t pte)
{
	return (pte & VAGX_PTE_VALID) && (pte & AGX_PTE_AF);
}

static void uat_cache_set_leaf(struct uat_cache *cache, struct uat_cache_node *node, unsigned int i,
			       uint64_t pte)
{
	int more = !!pte - !!node->leaf[i];

	node->leaf[i] = pte;
	node->age[i] = 0;
	node->used += more;
	cache->stats.pages += more;
}

/*
 * Looks for poison in a page that is looked up for the first time: the driver has to have cleared
 * or filled it. A client's page may hold any bytes, as the client may have written them, but
 * hardly a whole page of those that the kernel puts into free pages. And it must not have been
 * zeroed in the CPU's caches alone.
 */
static void uat_cache_check_page(struct vagx_uat *uat, const struct uat_cache_node *node,
				 uint64_t va, uint64_t pa)
{
	const void *page = uat->poison ? vagx_mem_ptr(uat->mem, pa, VAGX_UAT_PAGE_SIZE) : NULL;
	struct vagx_poison found;

	if (uat_cpu_cache_is_zeroed(&uat->cpu_cache, pa))
		vagx_violation(uat->report, VAGX_RULE_UAT_DIRTY, va, "page",
			       "slot %u, the page at 0x%llx was zeroed and not cleaned", node->slot,
			       (unsigned long long)pa);
	if (!page)
		return;
	if (uat_cache_is_upper(node) ? vagx_poison_find(page, VAGX_UAT_PAGE_SIZE, &found) :
			     vagx_poison_fills(page, VAGX_UAT_PAGE_SIZE, &found))
		vagx_violation(uat->report, VAGX_CLAUSE_UAT_POISON_page, va + found.offset,
			       "page", "slot %u, bytes %#x at offset %#zx", node->slot, found.byte,
			       found.offset);
}

/* The block that was there has gone; a translation of one of its pages may not. Lock held. */
static void uat_cache_find_table(struct vagx_uat *uat, struct uat_cache_node *node)
{
	node->table = uat_tables_find_at(uat, node->slot, node->va, &node->at);
	node->table_age = 0;
	if (node->table)
		uat_cache_check_table(uat, node->table, node->va);
}

bool uat_cache_walk(struct vagx_uat *uat, unsigned int slot, uint64_t va, struct leaf *leaf)
{
	struct uat_cache *cache = &uat->cache;
	unsigned int i = UAT_LEAF_INDEX(va);
	struct uat_cache_node *node;
	bool on;

	if (!__atomic_load_n(&cache->on, __ATOMIC_ACQUIRE))
		return false;
	pthread_mutex_lock(&cache->lock);
	on = cache->on;
	node = on ? uat_cache_find_node(cache, slot, va) : NULL;
	if (on && !node)
		node = uat_cache_new_node(uat, slot, va);
	leaf->value = node ? node->leaf[i] : 0;
	leaf->watch = &cache->generation;
	leaf->watched = cache->generation;
	if (node && !node->table)
		uat_cache_find_table(uat, node);
	if (node && !leaf->value && !uat_cache_has_hole(node, i)) {
		leaf->value = uat_tables_leaf(uat, node->table, va);
		if (uat_cache_can_keep(leaf->value)) {
			uat_cache_set_leaf(cache, node, i, leaf->value);
			uat_cache_check_page(uat, node, va & ~VAGX_UAT_PAGE_MASK,
					     VAGX_PTE_PA(leaf->value));
		}
	}
	pthread_mutex_unlock(&cache->lock);
	return on;
}

void uat_cache_keep_hole(struct vagx_uat *uat, unsigned int slot, uint64_t va)
{
	uint64_t page = va >> AGX_UAT_L3_SHIFT;
	struct uat_cache *cache = &uat->cache;
	unsigned int i = UAT_LEAF_INDEX(va);
	struct uat_cache_node *node;

	if (va & VA_UPPER || vagx_draw(uat->holes_seed, VAGX_DRAW_HOLE, page, slot) % 2)
		return;
	pthread_mutex_lock(&cache->lock);
	node = cache->on ? uat_cache_find_node(cache, slot, va) : NULL;
	if (cache->on && !node)
		node = uat_cache_add_node(cache, slot, va);
	if (node && !node->leaf[i])
		node->holes[i / 8] |= (uint8_t)(1U << i % 8);
	pthread_mutex_unlock(&cache->lock);
}

void vagx_uat_cache_set(struct vagx_uat *uat, bool on)
{
	struct uat_cache *cache = &uat->cache;

	pthread_mutex_lock(&cache->lock);
	uat_cache_forget(cache);
	__atomic_store_n(&cache->on, on, __ATOMIC_RELEASE);
	uat_cache_next_generation(cache);
	pthread_mutex_unlock(&cache->lock);
}

void vagx_uat_forget(struct vagx_uat *uat)
{
	struct uat_cache *cache = &uat->cache;

	pthread_mutex_lock(&cache->lock);
	uat_cache_forget(cache);
	uat_cache_next_generation(cache);
	pthread_mutex_unlock(&cache->lock);
}

/*
 * Invalidates an entry and looks at the table again. When the entry has led to another page
 * before and has come to this one without an invalidation in between, TLBs may have either, or a
 * mixture: that is found here, unless another table has taken the place of the entry's.
 * Lock held.
 */
static void uat_cache_refresh_leaf(struct vagx_uat *uat, struct uat_cache_node *node,
				   unsigned int i, bool same_table)
{
	struct uat_cache *cache = &uat->cache;
	uint64_t va = node->va | (uint64_t)i << AGX_UAT_L3_SHIFT;
	uint64_t before = node->leaf[i], now;

	now = uat_tables_leaf(uat, node->table, va);
	if (!uat_cache_can_keep(now))
		now = 0;
	if (same_table && now && VAGX_PTE_PA(now) != VAGX_PTE_PA(before))
		vagx_violation(uat->report, VAGX_CLAUSE_UAT_BREAK_page, va, "page",
			       "slot %u, TLBs hold 0x%llx when it is invalidated, tables 0x%llx",
			       node->slot, (unsigned long long)before, (unsigned long long)now);
	cache->stats.dropped += now != before;
	cache->stats.kept += now == before;
	uat_cache_set_leaf(cache, node, i, now);
	if (now && VAGX_PTE_PA(now) != VAGX_PTE_PA(before))
		uat_cache_check_page(uat, node, va, VAGX_PTE_PA(now));
}

static void uat_cache_refresh_leaves(struct vagx_uat *uat, struct uat_cache_node *node,
				     bool with_global, bool same_table)
{
	for (unsigned int i = 0; node->used && i < NODE_ENTRIES; i++) {
		if (node->leaf[i] && (with_global || node->leaf[i] & AGX_PTE_NG))
			uat_cache_refresh_leaf(uat, node, i, same_table);
	}
}

/*
 * Looks the table up again; there may be none. Where an entry of a block has
 * become another one or one to a table, or the other way round, without an invalidation in
 * between, TLBs may have both at once. Lock held.
 */
static void uat_cache_refresh_table(struct vagx_uat *uat, struct uat_cache_node *node)
{
	uint64_t before = node->table, now;
	const uint64_t *at = NULL;

	now = uat_tables_find_at(uat, node->slot, node->va, &at);
	if ((uat_tables_is_block(before) || uat_tables_is_block(now)) && before && now &&
	    at == node->at && VAGX_PTE_PA(before) != VAGX_PTE_PA(now))
		vagx_violation(uat->report, VAGX_CLAUSE_UAT_BREAK_block, node->va, "block",
			       "slot %u, TLBs hold 0x%llx when it is invalidated, tables 0x%llx",
			       node->slot, (unsigned long long)before, (unsigned long long)now);
	node->table = now;
	node->at = at;
	node->table_age = 0;
}

/* Begins at the context's root again. Return: false if the node leads to no table. */
static bool uat_cache_refresh_node(struct vagx_uat *uat, struct uat_cache_node *node)
{
	uint64_t before = node->table;

	memset(node->holes, 0, sizeof(node->holes));
	uat_cache_refresh_table(uat, node);
	if (!node->table) {
		uat->cache.stats.dropped += node->used;
		return false;
	}
	uat_cache_refresh_leaves(uat, node, true, node->table == before);
	return true;
}

/* Return: whether the node goes on to exist */
static bool uat_cache_invalidate_context(struct vagx_uat *uat, struct uat_cache_node *node,
					 const struct vagx_tlbi *tlbi)
{
	if (tlbi->kind == VAGX_TLBI_ALL)
		return uat_cache_refresh_node(uat, node);
	if (node->slot != tlbi->asid)
		return true;
	if (!uat_cache_is_upper(node))
		return uat_cache_refresh_node(uat, node);
	uat_cache_refresh_leaves(uat, node, false, true);
	return true;
}

static void uat_cache_invalidate_pages(struct vagx_uat *uat, struct uat_cache_node *node,
				       const struct vagx_tlbi *tlbi)
{
	uint64_t first = tlbi->va >> AGX_UAT_L3_SHIFT, from = node->va >> AGX_UAT_L3_SHIFT;
	uint64_t last = first + tlbi->pages - 1, i;
	bool own = tlbi->any_asid || node->slot == tlbi->asid;

	if (last < from || first >= from + NODE_ENTRIES)
		return;
	/* One page makes the block go, but of the pages that were made from it only that one */
	if (own && uat_tables_is_block(node->table))
		uat_cache_refresh_table(uat, node);
	for (i = first > from ? first - from : 0; i < NODE_ENTRIES && from + i <= last; i++) {
		if (own)
			uat_cache_forget_hole(node, i);
		if (node->leaf[i] && (own || !(node->leaf[i] & AGX_PTE_NG)))
			uat_cache_refresh_leaf(uat, node, i, true);
	}
}

static void uat_cache_invalidate_bucket(struct vagx_uat *uat, struct uat_cache_node **at,
					const struct vagx_tlbi *tlbi)
{
	struct uat_cache_node *node;

	while ((node = *at)) {
		bool stays = true;

		if (tlbi->kind == VAGX_TLBI_PAGES)
			uat_cache_invalidate_pages(uat, node, tlbi);
		else
			stays = uat_cache_invalidate_context(uat, node, tlbi);
		if (stays) {
			at = &node->next;
			continue;
		}
		*at = node->next;
		uat->cache.stats.pages -= node->used;
		uat->cache.count--;
		free(node);
	}
}

void vagx_uat_invalidate(struct vagx_uat *uat, const struct vagx_tlbi *tlbi)
{
	struct uat_cache *cache = &uat->cache;

	pthread_mutex_lock(&cache->lock);
	cache->stats.invalidations++;
	for (unsigned int i = 0; i < UAT_CACHE_BUCKETS; i++)
		uat_cache_invalidate_bucket(uat, &cache->bucket[i], tlbi);
	uat_cache_next_generation(cache);
	pthread_mutex_unlock(&cache->lock);
	uat_write_back_heard(uat, tlbi);
}

/* Counts the sweeps in a row that found something stale. Return: whether they are too many. */
static bool uat_cache_grow_older(uint8_t *age, bool stale)
{
	*age = stale ? *age + 1 : 0;
	return *age > STALE_SWEEPS;
}

static void uat_cache_report_stale(struct vagx_uat *uat, const struct uat_cache_node *node,
				   uint64_t va, enum vagx_rule clause, uint64_t cached,
				   uint64_t now)
{
	vagx_violation(uat->report, clause, va, "TLB",
		       "slot %u, TLBs hold 0x%llx, tables 0x%llx, for more than %llu s", node->slot,
		       (unsigned long long)cached, (unsigned long long)now,
		       VAGX_UAT_STALE_NS / 1000000000ULL);
}

/*
 * Return: the table that a node leads to by now, 0 without one. Pages of the kernel half are global,
 * so what a context that has no such half any more has left of them is as good as context 0's.
 */
static uint64_t uat_cache_table_now(struct vagx_uat *uat, const struct uat_cache_node *node)
{
	uint64_t table = uat_tables_find(uat, node->slot, node->va);

	return table || !uat_cache_is_upper(node) ? table : uat_tables_find(uat, 0, node->va);
}

/*
 * Compares a node with the tables. What was wrong for too long is reported once, and corrected.
 * Return: whether anything is stale.
 */
static bool uat_cache_sweep_node(struct vagx_uat *uat, struct uat_cache_node *node)
{
	uint64_t table = uat_cache_table_now(uat, node);
	bool stale = node->table && table != node->table;

	if (uat_cache_grow_older(&node->table_age, stale)) {
		uat_cache_report_stale(uat, node, node->va, VAGX_CLAUSE_UAT_STALE_table,
				       node->table, table);
		node->table = table;
		node->table_age = 0;
	}
	for (unsigned int i = 0; i < NODE_ENTRIES && node->used; i++) {
		uint64_t va = node->va | (uint64_t)i << AGX_UAT_L3_SHIFT, now;

		if (!node->leaf[i])
			continue;
		now = table ? uat_tables_leaf(uat, table, va) : 0;
		stale |= now != node->leaf[i];
		if (uat_cache_grow_older(&node->age[i], now != node->leaf[i])) {
			uat_cache_report_stale(uat, node, va, VAGX_CLAUSE_UAT_STALE_page,
					       node->leaf[i], now);
			uat_cache_set_leaf(&uat->cache, node, i, uat_cache_can_keep(now) ? now : 0);
		}
	}
	return stale;
}

static uint64_t uat_cache_sweep(struct vagx_uat *uat, uint64_t now_ns)
{
	struct uat_cache *cache = &uat->cache;
	uint64_t again = 0;
	bool stale = false;

	pthread_mutex_lock(&cache->lock);
	/* When a machine ends, its memory goes, and its page tables with it */
	if (!cache->on || !vagx_mem_ptr(uat->mem, uat->ttbs, AGX_TTBS_SIZE))
		goto unlock;
	if (now_ns < cache->sweep_ns) {
		again = cache->sweep_ns;
		goto unlock;
	}
	for (unsigned int i = 0; i < UAT_CACHE_BUCKETS; i++) {
		for (struct uat_cache_node *node = cache->bucket[i]; node; node = node->next)
			stale |= uat_cache_sweep_node(uat, node);
	}
	cache->sweep_ns = now_ns + VAGX_UAT_SWEEP_NS;
	if (stale)
		again = cache->sweep_ns;
unlock:
	pthread_mutex_unlock(&cache->lock);
	return again;
}

uint64_t vagx_uat_sweep(struct vagx_uat *uat, uint64_t now_ns)
{
	uint64_t tables = uat_cache_sweep(uat, now_ns);
	uint64_t stores = uat_write_back_sweep(uat, now_ns);

	return !tables || (stores && stores < tables) ? stores : tables;
}

void vagx_uat_get_stats(struct vagx_uat *uat, struct vagx_uat_stats *stats)
{
	struct uat_cache *cache = &uat->cache;

	pthread_mutex_lock(&cache->lock);
	*stats = cache->stats;
	stats->on = cache->on;
	pthread_mutex_unlock(&cache->lock);
}
