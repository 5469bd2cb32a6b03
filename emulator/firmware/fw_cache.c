// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The model of the coprocessor's cache, as fw_cache.h describes it. It consists of
 *
 * - private pages that were touched, with their physical pages, and lines of objects that are
 *   retired: hash tables with open addressing, which are emptied when half full;
 * - lines as the firmware has read them: 4 MiB, mapped directly;
 * - dirty lines: 128 KiB in sets of four ways, of which a random one makes room for another.
 *   A line is written back at a random moment within @dirty_ns.
 *
 * Any thread: @lock protects all of it.
 */
#include "fw_cache.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "../guest_memory.h"
#include "../report.h"
#include "fields.h"

#define FW_LINE_SHIFT	7
#define FW_LINE_SIZE	(1U << FW_LINE_SHIFT)

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

/* Dirty lines: sets, and lines of each; 128 KiB */
#define FW_DIRTY_SETS	256
#define FW_DIRTY_WAYS	4

/* How often the main thread looks for dirty lines that are due */
#define FW_DIRTY_STEP_NS 10000000ULL

/**
 * struct fw_dirty - a line that the firmware has written to
 * @line: number of the line, 0 when free
 * @pa: where it comes to
 * @due: when it is written back at the latest, monotonic time in ns
 * @mask: a bit for each byte that was written
 * @data: these bytes
 */
struct fw_dirty {
	uint64_t line;
	uint64_t pa;
	uint64_t due;
	uint64_t mask[2];
	uint8_t data[FW_LINE_SIZE];
};

/* Lines that are remembered as they were read: 4 MiB. A line may displace another one. */
#define FW_READ_LINES	32768

/**
 * struct fw_line - a line as the firmware's processor has it
 * @line: number of the line, 0 when free
 * @data: its bytes
 */
struct fw_line {
	uint64_t line;
	uint8_t data[FW_LINE_SIZE];
};

struct fw_cache {
	struct vagx_mem *mem;
	pthread_mutex_t lock;		/* everything below */
	uint64_t random;
	uint64_t dirty_ns;		/* a dirty line is written back within this time */
	struct fw_cache_table pages;
	struct fw_cache_table lines;
	struct fw_line *read;
	unsigned int dirty_count;
	struct fw_dirty dirty[FW_DIRTY_SETS][FW_DIRTY_WAYS];
};

static struct fw_cache_slot *fw_cache_table_find(struct fw_cache_table *table, uint64_t key)
{
	size_t i = (key * 0x9e3779b97f4a7c15ULL) >> 32;

	for (;; i++) {
		struct fw_cache_slot *slot = &table->slot[i & (table->size - 1)];

		if (!slot->key || slot->key == key)
			return slot;
	}
}

static void fw_cache_table_clear(struct fw_cache_table *table)
{
	for (size_t i = 0; i < table->size; i++)
		table->slot[i].key = 0;
	table->used = 0;
}

static void fw_cache_table_insert(struct fw_cache_table *table, uint64_t key, uint64_t value)
{
	struct fw_cache_slot *slot;

	if (table->used >= table->size / 2)
		fw_cache_table_clear(table);
	slot = fw_cache_table_find(table, key);
	if (!slot->key)
		table->used++;
	slot->key = key;
	slot->value = value;
}

/* Removes all entries of a table but those that @keep is true of */
static void fw_cache_table_filter(struct fw_cache_table *table,
				  bool (*keep)(const struct fw_cache_slot *, const uint64_t *),
				  const uint64_t *range)
{
	struct fw_cache_slot *old = table->slot;
	struct fw_cache_slot *slot;

	if (!table->used)
		return;
	slot = calloc(table->size, sizeof(*slot));
	if (!slot) {
		fw_cache_table_clear(table);
		return;
	}
	table->slot = slot;
	table->used = 0;
	for (size_t i = 0; i < table->size; i++) {
		if (old[i].key && keep(&old[i], range))
			fw_cache_table_insert(table, old[i].key, old[i].value);
	}
	free(old);
}

struct fw_cache *fw_cache_new(struct vagx_mem *mem, uint64_t seed, unsigned int dirty_ms)
{
	struct fw_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->mem = mem;
	cache->random = seed ? seed : 1;
	cache->dirty_ns = dirty_ms * 1000000ULL;
	pthread_mutex_init(&cache->lock, NULL);
	cache->pages.size = FW_CACHE_PAGES * 2;
	cache->lines.size = FW_CACHE_LINES * 2;
	cache->pages.slot = calloc(cache->pages.size, sizeof(*cache->pages.slot));
	cache->lines.slot = calloc(cache->lines.size, sizeof(*cache->lines.slot));
	cache->read = calloc(FW_READ_LINES, sizeof(*cache->read));
	if (!cache->pages.slot || !cache->lines.slot || !cache->read) {
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
	free(cache->read);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static bool fw_cache_pte_cached(uint64_t pte)
{
	return (pte & VAGX_PTE_VALID) && VAGX_PTE_ATTR(pte) == VAGX_ATTR_FW_CACHED;
}

/* Xorshift: random enough for moments, and the same on every host */
static uint64_t fw_cache_draw(struct fw_cache *cache)
{
	cache->random ^= cache->random << 13;
	cache->random ^= cache->random >> 7;
	cache->random ^= cache->random << 17;
	return cache->random;
}

static void fw_cache_drop_dirty(struct fw_cache *cache, struct fw_dirty *dirty)
{
	dirty->line = 0;
	cache->dirty_count--;
}

/* Writes a dirty line back to its physical address, whatever that is used for by now. Lock held. */
static void fw_cache_write_back(struct fw_cache *cache, struct fw_access *access,
				struct fw_dirty *dirty)
{
	uint64_t va = dirty->line << FW_LINE_SHIFT;
	uint64_t pte = vagx_uat_table_pte(access->uat, 0, va);
	uint64_t page = dirty->pa & ~(uint64_t)VAGX_UAT_PAGE_MASK;
	uint8_t *memory = vagx_mem_ptr(cache->mem, dirty->pa, FW_LINE_SIZE);

	/* When a machine ends, its memory goes, and its page tables with it */
	if (memory && (!(pte & VAGX_PTE_VALID) || VAGX_PTE_PA(pte) != page))
		vagx_violation(access->report, VAGX_RULE_FW_CACHED_LATE, va, "page",
			       "a dirty line is written back to %#" PRIx64 " only now", dirty->pa);
	for (unsigned int i = 0; memory && i < FW_LINE_SIZE; i++) {
		if (dirty->mask[i / 64] >> i % 64 & 1 && memory[i] != dirty->data[i])
			memory[i] = dirty->data[i];
	}
	fw_cache_drop_dirty(cache, dirty);
}

/*
 * Return: the dirty line, a new one if need be, for which a random one of its set may have to go.
 * Lock held.
 */
static struct fw_dirty *fw_cache_dirty_line(struct fw_cache *cache, struct fw_access *access,
					    uint64_t line, uint64_t pa)
{
	/* Structures tend to begin at a page, so the number of the page is mixed in */
	struct fw_dirty *set = cache->dirty[(line ^ line >> 7) % FW_DIRTY_SETS], *found = NULL;

	for (unsigned int i = 0; i < FW_DIRTY_WAYS; i++) {
		if (set[i].line == line && set[i].pa == pa)
			return &set[i];
		if (!set[i].line)
			found = &set[i];
	}
	if (!found) {
		found = &set[fw_cache_draw(cache) % FW_DIRTY_WAYS];
		fw_cache_write_back(cache, access, found);
	}
	*found = (struct fw_dirty){
		.line = line,
		.pa = pa,
		.due = vagx_clock_host_ns() + fw_cache_draw(cache) % cache->dirty_ns,
	};
	cache->dirty_count++;
	return found;
}

static struct fw_line *fw_cache_line_place(struct fw_cache *cache, uint64_t line)
{
	return &cache->read[(line ^ line >> 15) % FW_READ_LINES];
}

/*
 * Compares bytes of one line with how they were read before, and remembers the line. Lock held.
 * Return: the first byte that differs, or @len.
 */
static size_t fw_cache_read_line(struct fw_cache *cache, uint64_t va, uint8_t *memory, size_t len)
{
	struct fw_line *line = fw_cache_line_place(cache, va >> FW_LINE_SHIFT);
	unsigned int at = va % FW_LINE_SIZE;
	size_t same = 0;

	if (line->line != va >> FW_LINE_SHIFT) {
		line->line = va >> FW_LINE_SHIFT;
		memcpy(line->data, memory - at, FW_LINE_SIZE);
	}
	while (same < len && line->data[at + same] == memory[same])
		same++;
	/* Report it once: from now on the line is as the driver has written it */
	if (same < len)
		memcpy(line->data, memory - at, FW_LINE_SIZE);
	return same;
}

void fw_cache_read(struct fw_cache *cache, struct fw_access *access, uint64_t va, void *memory,
		   size_t len, const char *structure, const char *field)
{
	uint8_t *from = memory;
	uint64_t stale = 0;

	if (!fw_cache_pte_cached(vagx_uat_pte(access->uat, 0, va)))
		return;
	pthread_mutex_lock(&cache->lock);
	while (len) {
		size_t part = FW_LINE_SIZE - va % FW_LINE_SIZE, same;

		if (part > len)
			part = len;
		same = fw_cache_read_line(cache, va, from, part);
		if (same < part && !stale)
			stale = va + same;
		va += part;
		from += part;
		len -= part;
	}
	pthread_mutex_unlock(&cache->lock);
	if (stale)
		vagx_violation(access->report, VAGX_RULE_FW_CACHED_STALE, stale, structure,
			       "%s%shas been written since the firmware read its line", field,
			       *field ? ": " : "");
}

/* Writes bytes of the firmware's into the lines that it has read. Lock held. */
static void fw_cache_write_lines(struct fw_cache *cache, uint64_t va, const uint8_t *bytes,
				 size_t len)
{
	for (size_t i = 0; i < len; i++, va++) {
		struct fw_line *line = fw_cache_line_place(cache, va >> FW_LINE_SHIFT);

		if (line->line == va >> FW_LINE_SHIFT)
			line->data[va % FW_LINE_SIZE] = bytes[i];
	}
}

static void fw_cache_forget_lines(struct fw_cache *cache, const uint64_t *range)
{
	uint64_t first = range[0] >> FW_LINE_SHIFT, last = range[1] >> FW_LINE_SHIFT;

	if (last - first >= FW_READ_LINES) {
		first = 0;
		last = FW_READ_LINES - 1;
	}
	for (uint64_t i = first; i <= last; i++) {
		struct fw_line *line = fw_cache_line_place(cache, i);

		if (line->line >= range[0] >> FW_LINE_SHIFT &&
		    line->line <= range[1] >> FW_LINE_SHIFT)
			line->line = 0;
	}
}

void fw_cache_discard(struct fw_cache *cache, uint64_t va, size_t len)
{
	const uint64_t range[2] = { va, va + len - 1 };

	if (!cache)
		return;
	pthread_mutex_lock(&cache->lock);
	fw_cache_forget_lines(cache, range);
	pthread_mutex_unlock(&cache->lock);
}

void fw_cache_written(struct fw_cache *cache, struct fw_access *access, uint64_t va,
		      const void *bytes, size_t len)
{
	uint64_t pte = vagx_uat_pte(access->uat, 0, va);
	const uint8_t *from = bytes;

	if (!fw_cache_pte_cached(pte))
		return;
	pthread_mutex_lock(&cache->lock);
	fw_cache_write_lines(cache, va, bytes, len);
	for (size_t i = 0; i < len; i++, va++) {
		uint64_t pa = VAGX_PTE_PA(pte) | (va & VAGX_UAT_PAGE_MASK);
		unsigned int at = va % FW_LINE_SIZE;
		struct fw_dirty *dirty = fw_cache_dirty_line(cache, access, va >> FW_LINE_SHIFT,
							     pa & ~(FW_LINE_SIZE - 1ULL));

		dirty->mask[at / 64] |= 1ULL << at % 64;
		dirty->data[at] = from[i];
	}
	pthread_mutex_unlock(&cache->lock);
}

/* Writes back the dirty lines for which @wanted says so. Lock held. */
static void fw_cache_clean(struct fw_cache *cache, struct fw_access *access,
			   bool (*wanted)(struct fw_cache *cache, const struct fw_dirty *dirty,
					  const void *arg),
			   const void *arg)
{
	struct fw_dirty *dirty = &cache->dirty[0][0];

	for (unsigned int i = 0; cache->dirty_count && i < FW_DIRTY_SETS * FW_DIRTY_WAYS; i++) {
		if (dirty[i].line && wanted(cache, &dirty[i], arg))
			fw_cache_write_back(cache, access, &dirty[i]);
	}
}

static bool fw_cache_is_due(struct fw_cache *cache, const struct fw_dirty *dirty, const void *now)
{
	return dirty->due <= *(const uint64_t *)now;
}

uint64_t fw_cache_evict(struct fw_cache *cache, struct fw_access *access, uint64_t now_ns)
{
	uint64_t again;

	pthread_mutex_lock(&cache->lock);
	fw_cache_clean(cache, access, fw_cache_is_due, &now_ns);
	again = cache->dirty_count ? now_ns + FW_DIRTY_STEP_NS : 0;
	pthread_mutex_unlock(&cache->lock);
	return again;
}

static bool fw_cache_comes_late(struct fw_cache *cache, const struct fw_dirty *dirty,
				const void *how)
{
	switch (*(const enum vagx_power_off *)how) {
	case VAGX_POWER_OFF_LOSE:
		return false;
	case VAGX_POWER_OFF_LATE:
		return true;
	case VAGX_POWER_OFF_RANDOM:
		break;
	}
	return fw_cache_draw(cache) & 1;
}

static void fw_cache_forget_dirty(struct fw_cache *cache)
{
	struct fw_dirty *dirty = &cache->dirty[0][0];

	for (unsigned int i = 0; i < FW_DIRTY_SETS * FW_DIRTY_WAYS; i++)
		dirty[i].line = 0;
	cache->dirty_count = 0;
}

void fw_cache_cut(struct fw_cache *cache, struct fw_access *access, enum vagx_power_off how)
{
	const uint64_t everything[2] = { 0, UINT64_MAX };

	pthread_mutex_lock(&cache->lock);
	fw_cache_clean(cache, access, fw_cache_comes_late, &how);
	fw_cache_forget_dirty(cache);
	fw_cache_forget_lines(cache, everything);
	fw_cache_table_clear(&cache->pages);
	fw_cache_table_clear(&cache->lines);
	pthread_mutex_unlock(&cache->lock);
}

void fw_cache_touch(struct fw_cache *cache, struct fw_access *access, uint64_t va)
{
	uint64_t pte = vagx_uat_pte(access->uat, 0, va);
	uint64_t page = va >> VAGX_UAT_PAGE_SHIFT;
	struct fw_cache_slot *slot;
	uint64_t before = 0;

	if (!fw_cache_pte_cached(pte))
		return;
	pthread_mutex_lock(&cache->lock);
	slot = fw_cache_table_find(&cache->pages, page);
	if (slot->key)
		before = slot->value;
	fw_cache_table_insert(&cache->pages, page, VAGX_PTE_PA(pte));
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

	if (!cache || !fw_cache_pte_cached(vagx_uat_pte(access->uat, 0, va)))
		return;
	pthread_mutex_lock(&cache->lock);
	for (uint64_t line = va >> FW_LINE_SHIFT; line <= (va + len - 1) >> FW_LINE_SHIFT && !found;
	     line++)
		found = fw_cache_table_find(&cache->lines, line)->key;
	pthread_mutex_unlock(&cache->lock);
	if (found)
		vagx_violation(access->report, VAGX_RULE_FW_CACHED_REUSE, va, what,
			       "lies where an earlier object was, and no flush came between");
}

void fw_cache_retire(struct fw_cache *cache, struct fw_access *access, uint64_t va, size_t len)
{
	if (!cache || !fw_cache_pte_cached(vagx_uat_pte(access->uat, 0, va)))
		return;
	pthread_mutex_lock(&cache->lock);
	for (uint64_t line = va >> FW_LINE_SHIFT; line <= (va + len - 1) >> FW_LINE_SHIFT; line++)
		fw_cache_table_insert(&cache->lines, line, 0);
	pthread_mutex_unlock(&cache->lock);
}

static bool fw_cache_page_outside(const struct fw_cache_slot *slot, const uint64_t *range)
{
	return slot->key < range[0] >> VAGX_UAT_PAGE_SHIFT ||
	       slot->key > range[1] >> VAGX_UAT_PAGE_SHIFT;
}

static bool fw_cache_line_outside(const struct fw_cache_slot *slot, const uint64_t *range)
{
	return slot->key < range[0] >> FW_LINE_SHIFT || slot->key > range[1] >> FW_LINE_SHIFT;
}

static bool fw_cache_dirty_inside(struct fw_cache *cache, const struct fw_dirty *dirty,
				  const void *range)
{
	const uint64_t *r = range;

	return dirty->line >= r[0] >> FW_LINE_SHIFT && dirty->line <= r[1] >> FW_LINE_SHIFT;
}

void fw_cache_flush(struct fw_cache *cache, struct fw_access *access, uint64_t va, uint64_t size)
{
	uint64_t range[2] = { va, va + size - 1 };

	if (!cache || !size || range[1] < va)
		return;
	pthread_mutex_lock(&cache->lock);
	fw_cache_clean(cache, access, fw_cache_dirty_inside, range);
	fw_cache_forget_lines(cache, range);
	fw_cache_table_filter(&cache->pages, fw_cache_page_outside, range);
	fw_cache_table_filter(&cache->lines, fw_cache_line_outside, range);
	pthread_mutex_unlock(&cache->lock);
}

void fw_cache_flush_all(struct fw_cache *cache, struct fw_access *access)
{
	const uint64_t everything[2] = { 0, UINT64_MAX };

	if (!cache)
		return;
	pthread_mutex_lock(&cache->lock);
	fw_cache_clean(cache, access, fw_cache_dirty_inside, everything);
	fw_cache_forget_lines(cache, everything);
	fw_cache_table_clear(&cache->pages);
	fw_cache_table_clear(&cache->lines);
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
		pte = vagx_uat_table_pte(access->uat, 0, va);
		if (pte & VAGX_PTE_VALID)
			continue;
		vagx_violation(access->report, VAGX_RULE_FW_CACHED_UNMAP, va, "page",
			       "is no longer mapped");
		/* Report it once: the next use of the address is a new one */
		slot->value = 0;
	}
	pthread_mutex_unlock(&cache->lock);
}
