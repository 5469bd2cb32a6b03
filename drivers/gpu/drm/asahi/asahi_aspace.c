// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Address spaces of the GPU's MMU: a page table and what its changes entail.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/lockdep.h>

#include <asm/barrier.h>

#include "asahi_aspace.h"
#include "asahi_device.h"
#include "asahi_hw.h"
#include "asahi_params.h"
#include "asahi_tlb.h"
#include "asahi_uat.h"

/**
 * DOC: Translations and memory
 *
 * Whoever changes a page table must see to it that nobody uses the old
 * translations any more before their memory is somebody else's. Address spaces
 * do that: each change ends with an invalidation of what the TLBs may hold, under
 * the number of the context that the address space has at that moment. One that
 * has none has nothing cached.
 *
 * A change of several places names each of them, up to eight, and waits once. With
 * more places, or where a pointer to a table has gone, it names the context.
 *
 * Memory that the firmware's processor caches needs more, for a dirty line of its
 * cache can be written back long after the translation is gone. It is unmapped
 * like this: made uncached, invalidated, flushed by the firmware, unmapped,
 * invalidated. Where the firmware does not confirm the flush, asahi_aspace_unmap()
 * says so, and the memory must not be given to anybody else.
 *
 * Some things are known from nothing but the behaviour of machines, on which the
 * Rust driver runs:
 *
 * - The request in the handoff region is cleared as soon as the firmware has
 *   answered it, before the pages are unmapped. m1n1 clears it last; the firmware
 *   serves both.
 * - Nothing is invalidated after a change that only maps where nothing was. The CPU's
 *   architecture says that no TLB remembers that nothing was there. Nobody says whether
 *   that holds where accesses of shaders are forgiven (fault control 11). If it did not,
 *   new entries would have to be noted for the invalidation at the end of a change, as
 *   those are that replace others. "asahi-compute holes" tells.
 * - The GPU's own data caches are not flushed when memory goes: invalidating the
 *   TLBs is all that is done for pages of clients. Work has ended by then, and
 *   ends with a flush; a client that unmaps what its work still uses can lose what
 *   that work wrote.
 */

/**
 * asahi_aspace_init() - make an empty address space for the lower half
 * @as: address space, zeroed by the caller
 * @adev: device
 *
 * It has no context yet. Process context, may sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_aspace_init(struct asahi_aspace *as, struct asahi_device *adev)
{
	int ret;

	ret = asahi_pgtable_init_user(&as->pgt, adev->drm.dev, adev->hw->oas_bits);
	if (ret)
		return ret;

	as->pgt.blocks = asahi_allows(ASAHI_UNPROVEN_BLOCKS);
	as->adev = adev;
	as->slot = ASAHI_ASPACE_NO_SLOT;
	mutex_init(&as->lock);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_init);

/**
 * asahi_aspace_init_kernel() - make the address space of the kernel half
 * @as: address space, zeroed by the caller
 * @adev: device
 * @root: the level 1 table that firmware and driver share; must outlive @as
 * @root_phys: its physical address
 *
 * Process context.
 */
void asahi_aspace_init_kernel(struct asahi_aspace *as, struct asahi_device *adev, __le64 *root,
			      phys_addr_t root_phys)
{
	asahi_pgtable_init_kernel(&as->pgt, adev->drm.dev, adev->hw->oas_bits, root, root_phys);
	as->adev = adev;
	as->global = true;
	mutex_init(&as->lock);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_init_kernel);

/**
 * asahi_aspace_init_view() - say where the driver's own memory for jobs is
 * @as: address space of a VM; nothing was ever mapped in it
 * @start: first address, 32 MiB aligned; no mapping of a client comes into the range
 * @end: its end, exclusive, 32 MiB aligned
 *
 * ASAHI_VIEW_KERNEL leads there. Process context, may sleep.
 *
 * Return: 0, -ENOMEM, or -EINVAL with a warning if the range cannot be such a part.
 */
int asahi_aspace_init_view(struct asahi_aspace *as, u64 start, u64 end)
{
	guard(mutex)(&as->lock);
	return asahi_pgtable_init_stripped(&as->pgt, start, end);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_init_view);

/**
 * asahi_aspace_root() - where a context leads
 * @as: address space whose tables have not been freed
 * @view: what it is to find
 *
 * Any context.
 *
 * Return: physical address of a level 1 table, 0 if there is nothing to find.
 */
u64 asahi_aspace_root(const struct asahi_aspace *as, enum asahi_view view)
{
	switch (view) {
	case ASAHI_VIEW_ALL:
		return asahi_pgtable_root(&as->pgt);
	case ASAHI_VIEW_KERNEL:
		return asahi_pgtable_stripped_root(&as->pgt);
	case ASAHI_VIEW_NONE:
		break;
	}

	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_root);

/**
 * asahi_aspace_cut() - end all changes
 * @as: address space
 *
 * Nothing can be mapped any more, and unmapping does nothing. Process context, may
 * sleep.
 */
void asahi_aspace_cut(struct asahi_aspace *as)
{
	guard(mutex)(&as->lock);
	/* A flush looks at the kernel's without its lock, see asahi_uat_unplug(). */
	WRITE_ONCE(as->cut, true);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_cut);

/**
 * asahi_aspace_free_tables() - free the page tables
 * @as: address space that has been cut; no context leads to its tables and no
 *	TLB holds them
 *
 * Process context, may sleep.
 */
void asahi_aspace_free_tables(struct asahi_aspace *as)
{
	guard(mutex)(&as->lock);
	WARN_ON_ONCE(!as->cut);
	if (as->pgt.root)
		asahi_pgtable_fini(&as->pgt);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_free_tables);

/**
 * asahi_aspace_fini() - free an address space
 * @as: address space that no context leads to and that no TLB holds
 *
 * Process context, may sleep.
 */
void asahi_aspace_fini(struct asahi_aspace *as)
{
	/* An address space that can still be walked must not lose its tables. */
	WARN_ON_ONCE(!as->cut && as->slot != ASAHI_ASPACE_NO_SLOT);

	asahi_aspace_cut(as);
	asahi_aspace_free_tables(as);
	mutex_destroy(&as->lock);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_fini);

/**
 * asahi_aspace_table_bytes() - how much memory its tables take
 * @as: address space whose tables have not been freed
 *
 * Any context, without a lock: it may be outdated when it arrives. Whoever asks for the
 * memory of a client waits for no VM_BIND.
 *
 * Return: bytes, the root included unless it belongs to the firmware.
 */
u64 asahi_aspace_table_bytes(const struct asahi_aspace *as)
{
	const struct asahi_pgtable *pgt = &as->pgt;

	return ((u64)READ_ONCE(pgt->pages) + READ_ONCE(pgt->stripped.pages) + pgt->root_owned) *
	       AGX_PAGE_SIZE;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_table_bytes);

/*
 * Pages of the kernel half are global, so that invalidating them for one context
 * does so for all, and its tables stay. In the lower half, one instruction for the
 * context is the cheaper one where there are more ranges than the list keeps apart.
 */
static void asahi_aspace_invalidate(const struct asahi_aspace *as, unsigned int slot,
				    const struct asahi_pt_pool *pool)
{
	WARN_ON_ONCE(as->global && pool->flush_tables);

	if (as->global || !(pool->flush_tables || pool->flush.merged))
		asahi_tlb_invalidate_ranges(slot, &pool->flush);
	else
		/* A context's number is known to be enough: that is how they change hands. */
		asahi_tlb_invalidate_asid(slot);
}

/**
 * asahi_aspace_begin() - begin a transaction on the page tables
 * @as: address space, with its lock held
 * @pool: transaction
 *
 * Process context.
 */
void asahi_aspace_begin(struct asahi_aspace *as, struct asahi_pt_pool *pool)
{
	lockdep_assert_held(&as->lock);
	asahi_pt_pool_init(pool, &as->pgt);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_begin);

/**
 * asahi_aspace_flush() - invalidate what a transaction has changed so far
 * @as: address space, with its lock held
 * @pool: transaction on it
 *
 * When this returns, old translations are in no TLB. Takes none of the MMU's
 * locks: the context may change hands at any moment. asahi_uat_attach() names the
 * new context in @as->slot before any table base leads to the tables, and
 * asahi_uat_detach() and whoever takes the context over remove the old one after
 * its invalidation only. So when an old number is read here, either its owner has
 * changed, which loses some translations for nothing, or walks that come later
 * see what was written before this call. Process context.
 */
void asahi_aspace_flush(struct asahi_aspace *as, struct asahi_pt_pool *pool)
{
	int slot;

	lockdep_assert_held(&as->lock);

	if (!pool->flush.count)
		return;

	/* Entries are written before the slot is read; pairs with asahi_uat_attach(). */
	dma_mb();
	/* Memory is freed after the slot was read; pairs with asahi_uat_disown(). */
	slot = smp_load_acquire(&as->slot);
	if (slot >= 0)
		asahi_aspace_invalidate(as, slot, pool);

	pool->flush.count = 0;
	pool->flush.merged = false;
	pool->flush_tables = false;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_flush);

/**
 * asahi_aspace_split() - split the blocks that a transaction is going to change in part
 * @as: address space, with its lock held
 * @pool: transaction on it, for which everything has been reserved
 *
 * Work that uses such a block finds nothing there until this returns. Process context.
 */
void asahi_aspace_split(struct asahi_aspace *as, struct asahi_pt_pool *pool)
{
	lockdep_assert_held(&as->lock);

	if (list_empty(&pool->splits))
		return;

	asahi_pgtable_break(&as->pgt, pool);
	asahi_aspace_flush(as, pool);
	asahi_pgtable_make(&as->pgt, pool);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_split);

/**
 * asahi_aspace_end() - end a transaction on the page tables
 * @as: address space, with its lock held
 * @pool: transaction; all its changes were made, or none
 *
 * The GPU uses no old translation any more when this returns. Process context.
 */
void asahi_aspace_end(struct asahi_aspace *as, struct asahi_pt_pool *pool)
{
	asahi_pt_pool_settle(pool);
	asahi_aspace_flush(as, pool);
	asahi_pt_pool_fini(pool);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_end);

/**
 * asahi_aspace_map() - map contiguous memory
 * @as: address space
 * @va: address, page aligned
 * @pa: DMA address, page aligned
 * @size: bytes, a multiple of the page size
 * @prot: who may do what
 *
 * Process context, may sleep.
 *
 * Return: 0, -ENOMEM, or -ENODEV after unplug.
 */
int asahi_aspace_map(struct asahi_aspace *as, u64 va, dma_addr_t pa, u64 size,
		     enum asahi_prot prot)
{
	struct asahi_pt_pool pool;
	int ret;

	guard(mutex)(&as->lock);
	if (as->cut)
		return -ENODEV;

	asahi_aspace_begin(as, &pool);
	ret = asahi_pgtable_reserve(&as->pgt, &pool, va, size, ASAHI_PT_MAP);
	if (!ret)
		asahi_pgtable_map(&as->pgt, &pool, va, pa, size, prot);
	asahi_aspace_end(as, &pool);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_map);

/**
 * asahi_aspace_protect() - change the protection of what is mapped
 * @as: address space
 * @va: address, page aligned
 * @size: bytes, a multiple of the page size; holes stay holes
 * @prot: who may do what from now on
 *
 * Process context, may sleep; allocates nothing.
 */
void asahi_aspace_protect(struct asahi_aspace *as, u64 va, u64 size, enum asahi_prot prot)
{
	struct asahi_pt_pool pool;

	guard(mutex)(&as->lock);
	if (as->cut)
		return;

	asahi_aspace_begin(as, &pool);
	asahi_pgtable_protect(&as->pgt, &pool, va, size, prot);
	asahi_aspace_end(as, &pool);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_protect);

/**
 * asahi_aspace_unmap() - undo asahi_aspace_map()
 * @as: address space
 * @va: address
 * @size: bytes; may be several adjacent mappings
 * @prot: protection that they have
 *
 * When this returns, the range is in no TLB and translates to nothing, also after
 * an error. Process context, may sleep; allocates nothing. Waits for the firmware,
 * for a bounded time, if @prot says that it caches that memory.
 *
 * Return: 0 if nobody can reach the memory any more; a negative error if the
 * firmware may still write back what it has cached of it, so that it must not be
 * reused.
 */
int asahi_aspace_unmap(struct asahi_aspace *as, u64 va, u64 size, enum asahi_prot prot)
{
	struct asahi_pt_pool pool;
	int ret = 0;

	if (asahi_prot_is_cached(prot)) {
		asahi_aspace_protect(as, va, size, asahi_prot_uncached(prot));
		ret = asahi_uat_fw_flush(as, va, size);
	}

	guard(mutex)(&as->lock);
	if (as->cut)
		return ret;

	asahi_aspace_begin(as, &pool);
	asahi_pgtable_unmap(&as->pgt, &pool, va, size);
	asahi_aspace_end(as, &pool);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_aspace_unmap);
