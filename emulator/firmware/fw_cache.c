// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#include "fw_cache.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../report.h"
#include "fields.h"

#define FW_LINE_SHIFT	7

/*
 * Enough for 256 MiB of private pages and for 4 MiB of retired commands. A
 * table that is full forgets everything: a finding may be missed, none is
 * invented.
 */
#define FW_CACHE_PAGES	16384
#define FW_CACHE_LINES	65536

struct fw_cache_slot {
	uint64_t key;			/* page or line number, 0 when free */
	uint64_t value;			/* physical address */
};

struct fw_cache_table {
	struct fw_cache_slot *slot;
	size_t size;			/* power of two */
	size_t used;
};

struct fw_cache {
	pthread_mutex_t lock;		/* everything below */
	struct fw_cache_table pages;
	struct fw_cache_table lines;
};

static struct fw_cache_slot *table_find(struct fw_cache_table *table, uint64_t key)
{
	size_t i = (key * 0x9e3779b97f4a7c15ULL) >> 32;

	for (;; i++) {
		struct fw_cache_slot *slot = &table->slot[i & (table->size - 1)];

		if (!slot->key || slot->key == key)
			return slot;
	}
}

static void table_clear(struct fw_cache_table *table)
{
	for (size_t i = 0; i < table->size; i++)
		table->slot[i].key = 0;
	table->used = 0;
}

static void table_insert(struct fw_cache_table *table, uint64_t key, uint64_t value)
{
	struct fw_cache_slot *slot;

	if (table->used >= table->size / 2)
		table_clear(table);
	slot = table_find(table, key);
	if (!slot->key)
		table->used++;
	slot->key = key;
	slot->value = value;
}

/* Keeps what @keep says of a key and its value */
static void table_filter(struct fw_cache_table *table,
			 bool (*keep)(const struct fw_cache_slot *, const uint64_t *),
			 const uint64_t *range)
{
	struct fw_cache_slot *old = table->slot;
	struct fw_cache_slot *slot;

	if (!table->used)
		return;
	slot = calloc(table->size, sizeof(*slot));
	if (!slot) {
		table_clear(table);
		return;
	}
	table->slot = slot;
	table->used = 0;
	for (size_t i = 0; i < table->size; i++) {
		if (old[i].key && keep(&old[i], range))
			table_insert(table, old[i].key, old[i].value);
	}
	free(old);
}

struct fw_cache *fw_cache_new(void)
{
	struct fw_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	pthread_mutex_init(&cache->lock, NULL);
	cache->pages.size = FW_CACHE_PAGES * 2;
	cache->lines.size = FW_CACHE_LINES * 2;
	cache->pages.slot = calloc(cache->pages.size, sizeof(*cache->pages.slot));
	cache->lines.slot = calloc(cache->lines.size, sizeof(*cache->lines.slot));
	if (!cache->pages.slot || !cache->lines.slot) {
		fw_cache_free(cache);
		return NULL;
	}
	return cache;
}

void fw_cache_free(struct fw_cache *cache)
{
	if (!cache)
		return;
	free(cache->pages.slot);
	free(cache->lines.slot);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static bool pte_cached(uint64_t pte)
{
	return (pte & VAGX_PTE_VALID) && VAGX_PTE_ATTR(pte) == VAGX_ATTR_FW_CACHED;
}

void fw_cache_touch(struct fw_cache *cache, struct fw_access *access, uint64_t va)
{
	uint64_t pte = vagx_uat_pte(access->uat, 0, va);
	uint64_t page = va >> VAGX_UAT_PAGE_SHIFT;
	struct fw_cache_slot *slot;
	uint64_t before = 0;

	if (!pte_cached(pte))
		return;
	pthread_mutex_lock(&cache->lock);
	slot = table_find(&cache->pages, page);
	if (slot->key)
		before = slot->value;
	table_insert(&cache->pages, page, VAGX_PTE_PA(pte));
	pthread_mutex_unlock(&cache->lock);
	if (before && before != VAGX_PTE_PA(pte))
		vagx_violation(access->report, VAGX_RULE_FW_CACHED_REMAP, va, "page",
			       "leads to %#" PRIx64 " instead of %#" PRIx64,
			       (uint64_t)VAGX_PTE_PA(pte), before);
}

void fw_cache_use(struct fw_cache *cache, struct fw_access *access, uint64_t va, size_t len,
		  const char *what)
{
	bool found = false;

	if (!cache || !pte_cached(vagx_uat_pte(access->uat, 0, va)))
		return;
	pthread_mutex_lock(&cache->lock);
	for (uint64_t line = va >> FW_LINE_SHIFT; line <= (va + len - 1) >> FW_LINE_SHIFT && !found;
	     line++)
		found = table_find(&cache->lines, line)->key;
	pthread_mutex_unlock(&cache->lock);
	if (found)
		vagx_violation(access->report, VAGX_RULE_FW_CACHED_REUSE, va, what,
			       "lies where an earlier object was, and no flush came between");
}

void fw_cache_retire(struct fw_cache *cache, struct fw_access *access, uint64_t va, size_t len)
{
	if (!cache || !pte_cached(vagx_uat_pte(access->uat, 0, va)))
		return;
	pthread_mutex_lock(&cache->lock);
	for (uint64_t line = va >> FW_LINE_SHIFT; line <= (va + len - 1) >> FW_LINE_SHIFT; line++)
		table_insert(&cache->lines, line, 0);
	pthread_mutex_unlock(&cache->lock);
}

static bool page_outside(const struct fw_cache_slot *slot, const uint64_t *range)
{
	return slot->key < range[0] >> VAGX_UAT_PAGE_SHIFT ||
	       slot->key > range[1] >> VAGX_UAT_PAGE_SHIFT;
}

static bool line_outside(const struct fw_cache_slot *slot, const uint64_t *range)
{
	return slot->key < range[0] >> FW_LINE_SHIFT || slot->key > range[1] >> FW_LINE_SHIFT;
}

void fw_cache_flush(struct fw_cache *cache, uint64_t va, uint64_t size)
{
	uint64_t range[2] = { va, va + size - 1 };

	if (!cache || !size || range[1] < va)
		return;
	pthread_mutex_lock(&cache->lock);
	table_filter(&cache->pages, page_outside, range);
	table_filter(&cache->lines, line_outside, range);
	pthread_mutex_unlock(&cache->lock);
}

void fw_cache_flush_all(struct fw_cache *cache)
{
	if (!cache)
		return;
	pthread_mutex_lock(&cache->lock);
	table_clear(&cache->pages);
	table_clear(&cache->lines);
	pthread_mutex_unlock(&cache->lock);
}

void fw_cache_sweep(struct fw_cache *cache, struct fw_access *access)
{
	if (!cache)
		return;
	pthread_mutex_lock(&cache->lock);
	for (size_t i = 0; i < cache->pages.size; i++) {
		struct fw_cache_slot *slot = &cache->pages.slot[i];
		uint64_t va = slot->key << VAGX_UAT_PAGE_SHIFT;
		uint64_t pte;

		if (!slot->key || !slot->value)
			continue;
		pte = vagx_uat_pte(access->uat, 0, va);
		if (pte & VAGX_PTE_VALID)
			continue;
		vagx_violation(access->report, VAGX_RULE_FW_CACHED_UNMAP, va, "page",
			       "is no longer mapped");
		/* Say it once: the next use of the address is a new one */
		slot->value = 0;
	}
	pthread_mutex_unlock(&cache->lock);
}
