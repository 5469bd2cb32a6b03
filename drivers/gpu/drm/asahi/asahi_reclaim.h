/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the system gets back when it is short of memory.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RECLAIM_H
#define ASAHI_RECLAIM_H

#include <linux/atomic.h>
#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/list_lru.h>
#include <linux/notifier.h>
#include <linux/types.h>

#include <drm/drm_gem.h>

struct asahi_block;
struct asahi_device;
struct asahi_vm;
struct asahi_vm_lock;
struct mem_cgroup;
struct shrink_control;
struct shrinker;

/**
 * struct asahi_reclaim_vm - those objects that are mapped in one address space only
 *
 * &drm_device.gem_lru_mutex protects @lru and @scan.
 */
struct asahi_reclaim_vm {
	/** @lru: the objects */
	struct drm_gem_lru lru;
	/** @link: in the device's list, as long as the address space lives */
	struct list_head link;
	/** @scan: the last scan that has looked at @lru */
	u64 scan;
	/** @used: jiffies of the last job */
	unsigned long used;
};

/**
 * struct asahi_reclaim - memory of buffer objects that can be taken back
 *
 * Both lists are divided by the memory cgroups of those that have made the address spaces
 * and objects in them. What is in @vms leaves it under &drm_device.gem_lru_mutex only.
 */
struct asahi_reclaim {
	/** @vms: address spaces */
	struct list_lru vms;
	/** @loose: objects with memory that are mapped in no address space, or in several */
	struct list_lru loose;
	/** @scans: scans so far */
	atomic64_t scans;
	/** @evicted: pages that were taken from objects so far */
	atomic_long_t evicted;
	/** @restored: pages that SUBMIT has got back for objects */
	atomic_long_t restored;
	/** @waits: how often a scan has waited for work */
	atomic_long_t waits;
	/** @failures: how often a SUBMIT had to wait for memory */
	atomic_long_t failures;
	/** @last: pages that the last scan on demand has taken */
	unsigned long last;
	/** @shrinker: what the kernel calls */
	struct shrinker *shrinker;
	/** @oom: the kernel calls it before it kills a process */
	struct notifier_block oom;
};

/*
 * The shrinker. It comes last, so that it is the first to go.
 */
extern const struct asahi_block asahi_block_reclaim;

bool asahi_reclaim_again(struct asahi_vm *vm, int *ret, unsigned int *tries);
int asahi_reclaim_lock_submit(struct asahi_vm *vm, struct asahi_vm_lock *lock);
unsigned long asahi_reclaim_scan(struct asahi_device *adev, unsigned long pages, bool wait);

#if IS_ENABLED(CONFIG_KUNIT)
bool asahi_reclaim_may_swap(struct mem_cgroup *memcg);
unsigned long asahi_reclaim_count(struct shrinker *shrinker, struct shrink_control *sc);
unsigned long asahi_reclaim_shrink(struct shrinker *shrinker, struct shrink_control *sc);
int asahi_reclaim_oom(struct notifier_block *nb, unsigned long unused, void *data);
#endif

#endif
