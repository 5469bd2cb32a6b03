/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_UAT_INTERNAL_H
#define VAGX_UAT_INTERNAL_H

#include <pthread.h>

#include "uat.h"

#define VA_UPPER	(~0ULL << AGX_UAT_IAS)

/* The entry of an address in the last table */
#define UAT_LEAF_INDEX(va)	((va) >> AGX_UAT_L3_SHIFT & (AGX_UAT_L3_ENTRIES - 1))

#define UAT_CACHE_BUCKETS	256

struct uat_cache_node;

/**
 * struct uat_cache - translations that are kept, see uat_cache.c
 * @generation: goes up with each invalidation; read without the lock
 * @lock: protects everything below
 */
struct uat_cache {
	uint64_t generation;
	pthread_mutex_t lock;
	bool on;
	unsigned int count;		/* nodes */
	unsigned int victim;		/* bucket that makes room next */
	uint64_t sweep_ns;		/* the next one */
	struct vagx_uat_stats stats;
	struct uat_cache_node *bucket[UAT_CACHE_BUCKETS];
};

/**
 * struct uat_write_back - what jobs have stored, see uat_write_back.c
 * @on: somebody has asked for it
 * @seed: of when pages are written back; 0: when their job ends
 * @lock: protects everything below
 * @jobs: those that have begun
 * @pages: that they have stored to
 * @taken: of these, those that were taken away from them
 * @all_pages: those of all jobs so far
 * @all_taken: likewise
 * @all_early: of these, those that were written back before their job's end
 */
struct uat_write_back {
	bool on;
	uint64_t seed;
	pthread_mutex_t lock;
	struct vagx_written *jobs;
	unsigned int pages;
	unsigned int taken;
	uint64_t all_pages;
	uint64_t all_taken;
	uint64_t all_early;
};

/**
 * struct uat_cpu_cache - what the CPU's caches may hold, see uat_cpu_cache.c
 * @zeroed: a bit for each page that was zeroed and not cleaned
 * @done: what was done so far
 */
struct uat_cpu_cache {
	uint64_t *zeroed;
	struct vagx_maintained done;
};

struct vagx_uat {
	struct vagx_mem *mem;
	struct vagx_report *report;
	uint64_t ttbs;
	uint64_t oas_mask;		/* bits that a physical address has */
	bool poison;
	bool keep_holes;
	uint64_t holes_seed;
	struct uat_cache cache;
	struct uat_write_back write_back;
	struct uat_cpu_cache cpu_cache;
};

/**
 * struct leaf - what a walk ends in
 * @value: the entry
 * @watch: the translation is good as long as this word is
 * @watched: what it is now
 */
struct leaf {
	uint64_t value;
	const uint64_t *watch;
	uint64_t watched;
};

void uat_cache_init(struct uat_cache *cache);
void uat_cache_fini(struct uat_cache *cache);

/* A core has found that nothing is mapped there, and its TLB may keep that */
void uat_cache_keep_hole(struct vagx_uat *uat, unsigned int slot, uint64_t va);
/* Return: false if nothing is cached and the tables have to be walked */
bool uat_cache_walk(struct vagx_uat *uat, unsigned int slot, uint64_t va, struct leaf *leaf);

/* Return: false without memory */
bool uat_cpu_cache_init(struct uat_cpu_cache *model);
void uat_cpu_cache_fini(struct uat_cpu_cache *model);
/* Whether the CPU has zeroed a page, and may have that in its caches only */
bool uat_cpu_cache_is_zeroed(const struct uat_cpu_cache *model, uint64_t pa);

void uat_write_back_init(struct uat_write_back *model, bool on, uint64_t seed);
void uat_write_back_fini(struct uat_write_back *model, struct vagx_report *report);
/* A job is about to store to a page, for the first time as far as its TLB knows */
void uat_write_back_note(struct vagx_written *written, uint64_t va, uint64_t pa);
/* The guest has invalidated translations, but does not yet use the pages they led to anew */
void uat_write_back_heard(struct vagx_uat *uat, const struct vagx_tlbi *tlbi);
/* Write back pages that are due while jobs run. Return: when to look again, or 0 */
uint64_t uat_write_back_sweep(struct vagx_uat *uat, uint64_t now_ns);

/* uat_tables.c: the tables in guest memory. Any thread, no lock. */

/* Bits that an entry which leads to a table may have */
#define UAT_TABLE_KNOWN	(AGX_PTE_TYPE | VAGX_PTE_PA(~0ULL))

static inline uint64_t uat_tables_load(const uint64_t *entry)
{
	return __atomic_load_n(entry, __ATOMIC_ACQUIRE);
}

/* Return: where the entry with that index is, or NULL outside of RAM */
const uint64_t *uat_tables_entry(struct vagx_uat *uat, uint64_t table, unsigned int index);
/*
 * Finds the last table for @va. @at: where the entry is that leads to it; may be NULL.
 * Return: its physical address, or the entry of a block, which needs no table; 0 without either
 */
uint64_t uat_tables_find_at(struct vagx_uat *uat, unsigned int slot, uint64_t va,
			    const uint64_t **at);
/*
 * @table: what uat_tables_find_at() has returned.
 * Return: the entry of @va in that last table, valid or not; 0 outside of RAM. For a block the
 * page entry that would do the same
 */
uint64_t uat_tables_leaf(struct vagx_uat *uat, uint64_t table, uint64_t va);

static inline uint64_t uat_tables_find(struct vagx_uat *uat, unsigned int slot, uint64_t va)
{
	return uat_tables_find_at(uat, slot, va, NULL);
}

/* Whether what uat_tables_find_at() has returned is the entry of a block */
static inline bool uat_tables_is_block(uint64_t table)
{
	return table & VAGX_PTE_VALID;
}

#endif
