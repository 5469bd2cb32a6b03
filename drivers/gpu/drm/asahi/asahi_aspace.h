/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Address spaces of the GPU's MMU: a page table and what its changes entail.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_ASPACE_H
#define ASAHI_ASPACE_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include <agx/agx_uat.h>

#include "asahi_pgtable.h"

struct asahi_device;

/** ASAHI_ASPACE_NO_SLOT - the address space has no context */
#define ASAHI_ASPACE_NO_SLOT	(-1)

/**
 * enum asahi_view - what an address space's context leads to
 * @ASAHI_VIEW_ALL: all that is mapped
 * @ASAHI_VIEW_KERNEL: what the driver has in it for jobs, see asahi_aspace_init_view()
 * @ASAHI_VIEW_NONE: nothing
 */
enum asahi_view {
	ASAHI_VIEW_ALL,
	ASAHI_VIEW_KERNEL,
	ASAHI_VIEW_NONE,
};

/**
 * struct asahi_aspace - one address space
 *
 * There is one for the kernel half, one for the lower half of context 0, and one
 * for each VM.
 */
struct asahi_aspace {
	/** @adev: device */
	struct asahi_device *adev;
	/**
	 * @lock: protects @pgt and @cut. Held across allocations; inside of the
	 * locks of VMs and heaps and of reservations, outside of the MMU's.
	 */
	struct mutex lock;
	/** @pgt: the page tables */
	struct asahi_pgtable pgt;
	/** @global: the kernel half: its pages are part of all contexts */
	bool global;
	/** @cut: nothing leads to the tables any more; set once, by unplug */
	bool cut;
	/**
	 * @slot: context that it has, or ASAHI_ASPACE_NO_SLOT; always 0 for both
	 * halves of context 0. Written with the MMU's slot lock held, and by
	 * whoever takes the context over; see asahi_aspace_flush() for reading.
	 */
	int slot;
	/**
	 * @view: what its context leads to, if it has one. Written with the MMU's slot lock
	 * held; see asahi_uat_is_attached() for reading.
	 */
	enum asahi_view view;
	/** @barred: lost jobs; before they end, it gets no context that leads to everything */
	atomic_t barred;
};

/**
 * asahi_aspace_flush_index() - where the firmware looks for flush requests
 * @as: address space that has a context, whose slot cannot change meanwhile
 *
 * Return: index into the handoff region's requests.
 */
static inline unsigned int asahi_aspace_flush_index(const struct asahi_aspace *as)
{
	return as->global ? AGX_HANDOFF_FLUSH_KERNEL : as->slot;
}

int asahi_aspace_init(struct asahi_aspace *as, struct asahi_device *adev);
void asahi_aspace_init_kernel(struct asahi_aspace *as, struct asahi_device *adev, __le64 *root,
			      phys_addr_t root_phys);
int asahi_aspace_init_view(struct asahi_aspace *as, u64 start, u64 end);
u64 asahi_aspace_root(const struct asahi_aspace *as, enum asahi_view view);
void asahi_aspace_cut(struct asahi_aspace *as);
void asahi_aspace_free_tables(struct asahi_aspace *as);
void asahi_aspace_fini(struct asahi_aspace *as);
u64 asahi_aspace_table_bytes(const struct asahi_aspace *as);

void asahi_aspace_begin(struct asahi_aspace *as, struct asahi_pt_pool *pool);
void asahi_aspace_flush(struct asahi_aspace *as, struct asahi_pt_pool *pool);
void asahi_aspace_split(struct asahi_aspace *as, struct asahi_pt_pool *pool);
void asahi_aspace_end(struct asahi_aspace *as, struct asahi_pt_pool *pool);

int asahi_aspace_map(struct asahi_aspace *as, u64 va, dma_addr_t pa, u64 size,
		     enum asahi_prot prot);
void asahi_aspace_protect(struct asahi_aspace *as, u64 va, u64 size, enum asahi_prot prot);
int asahi_aspace_unmap(struct asahi_aspace *as, u64 va, u64 size, enum asahi_prot prot);

#endif
