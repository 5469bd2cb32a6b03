/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Counts of live objects.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_DEBUGFS_H
#define ASAHI_DEBUGFS_H

#include <linux/atomic.h>

/**
 * enum asahi_count - kinds of objects that are counted
 * @ASAHI_COUNT_DEVICE: struct asahi_device
 * @ASAHI_COUNT_FILE: struct asahi_file
 * @ASAHI_COUNT_CLIENT: struct asahi_client
 * @ASAHI_COUNT_VM: struct asahi_vm
 * @ASAHI_COUNT_GEM: GEM objects
 * @ASAHI_COUNT_TIMESTAMPS: struct asahi_timestamps
 * @ASAHI_COUNT_QUEUE: struct asahi_queue
 * @ASAHI_COUNT_JOB: submitted jobs
 * @ASAHI_COUNT_HEAP_BLOCK: blocks of pages held by heaps
 * @ASAHI_COUNT_HEAP_NODE: allocations from heaps, freed ones that wait for a
 *	flush included
 * @ASAHI_COUNT_PGTABLE: page-table pages of lower halves
 * @ASAHI_COUNT_KERNEL_PGTABLE: page-table pages of kernel halves, which stay until
 *	their device goes
 * @ASAHI_COUNT_PGTABLE_BLOCK: blocks of 32 MiB that need no page table
 * @ASAHI_COUNT_LEAKED_BLOCK: blocks that nobody may have any more, because the
 *	firmware may still write to them
 * @ASAHI_COUNT_LEAKED_PAGE: pages of 16 KiB in such blocks
 * @ASAHI_COUNT_NUM: number of kinds
 *
 * The counts belong to the module, not to a device: what outlives a device is
 * just what they are there to find.
 */
enum asahi_count {
	ASAHI_COUNT_DEVICE,
	ASAHI_COUNT_FILE,
	ASAHI_COUNT_CLIENT,
	ASAHI_COUNT_VM,
	ASAHI_COUNT_GEM,
	ASAHI_COUNT_TIMESTAMPS,
	ASAHI_COUNT_QUEUE,
	ASAHI_COUNT_JOB,
	ASAHI_COUNT_HEAP_BLOCK,
	ASAHI_COUNT_HEAP_NODE,
	ASAHI_COUNT_PGTABLE,
	ASAHI_COUNT_KERNEL_PGTABLE,
	ASAHI_COUNT_PGTABLE_BLOCK,
	ASAHI_COUNT_LEAKED_BLOCK,
	ASAHI_COUNT_LEAKED_PAGE,
	ASAHI_COUNT_NUM,
};

extern atomic_t asahi_counts[ASAHI_COUNT_NUM];

/**
 * asahi_count_inc() - an object has come to life
 * @kind: of which kind
 *
 * Any context.
 */
static inline void asahi_count_inc(enum asahi_count kind)
{
	atomic_inc(&asahi_counts[kind]);
}

/**
 * asahi_count_dec() - an object is gone
 * @kind: of which kind
 *
 * Any context.
 */
static inline void asahi_count_dec(enum asahi_count kind)
{
	atomic_dec(&asahi_counts[kind]);
}

/**
 * asahi_count_add() - several objects have come to life
 * @kind: of which kind
 * @number: how many; negative for such as are gone
 *
 * Any context.
 */
static inline void asahi_count_add(enum asahi_count kind, int number)
{
	atomic_add(number, &asahi_counts[kind]);
}

void asahi_debugfs_init(void);
void asahi_debugfs_fini(void);

#endif
