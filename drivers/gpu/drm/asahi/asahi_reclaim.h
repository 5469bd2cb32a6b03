/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the system gets back when it is short of memory.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RECLAIM_H
#define ASAHI_RECLAIM_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>

#include <drm/drm_gem.h>

struct asahi_block;
struct asahi_device;
struct asahi_vm;
struct asahi_vm_lock;
struct shrinker;

/**
 * struct asahi_reclaim_vm - those objects that are mapped in one address space only
 *
 * &drm_device.gem_lru_mutex protects all but @used.
 */
struct asahi_reclaim_vm {
	/** @lru: the objects */
	struct drm_gem_lru lru;
	/** @link: in the device's list, from the first object on */
	struct list_head link;
	/** @scan: the last scan that has looked at @lru */
	unsigned int scan;
	/** @used: jiffies of the last job */
	unsigned long used;
};

/**
 * struct asahi_reclaim - memory of buffer objects that can be taken back
 *
 * &drm_device.gem_lru_mutex protects the lists and @scans.
 */
struct asahi_reclaim {
	/** @unbound: objects with memory that are mapped in no address space */
	struct drm_gem_lru unbound;
	/** @shared: those that are mapped in several */
	struct drm_gem_lru shared;
	/** @vms: address spaces with objects of their own */
	struct list_head vms;
	/** @scans: scans of @vms so far */
	unsigned int scans;
	/** @mapped: pages of the objects in the lists of @vms */
	atomic_long_t mapped;
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
};

/*
 * The shrinker. It comes last, so that it is the first to go.
 */
extern const struct asahi_block asahi_block_reclaim;

bool asahi_reclaim_again(struct asahi_vm *vm, int *ret, unsigned int *tries);
int asahi_reclaim_lock_submit(struct asahi_vm *vm, struct asahi_vm_lock *lock);
unsigned long asahi_reclaim_scan(struct asahi_device *adev, unsigned long pages, bool wait);

#endif
