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

struct vagx_uat {
	struct vagx_mem *mem;
	struct vagx_report *report;
	uint64_t ttbs;
	uint64_t oas_mask;		/* bits that a physical address has */
	bool poison;
	struct uat_cache cache;
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

/* Return: false if nothing is cached and the tables have to be walked */
bool uat_cache_walk(struct vagx_uat *uat, unsigned int slot, uint64_t va, struct leaf *leaf);

/* The last table for an address, or 0; and its entry there, or 0 */
uint64_t uat_find_table(struct vagx_uat *uat, unsigned int slot, uint64_t va);
uint64_t uat_load_entry(struct vagx_uat *uat, uint64_t table, uint64_t va);

#endif
