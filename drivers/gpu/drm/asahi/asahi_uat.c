// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * UAT: MMU contexts, and coordination with the firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/iopoll.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include <asm/barrier.h>

#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_aspace.h"
#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_handoff.h"
#include "asahi_hw.h"
#include "asahi_rest.h"
#include "asahi_tlb.h"
#include "asahi_uat.h"
#include "asahi_watchdog.h"

/**
 * DOC: UAT
 *
 * The GPU's MMU walks tables in the format of the CPU's. Its 64 contexts are
 * pairs of table bases in a table in memory, shared with the firmware, which
 * switches contexts and maps things for itself. Host and firmware exclude each
 * other by a lock in the handoff region, which also says what context the
 * firmware is in at the moment.
 *
 * Translations are cached under the number of the context that they were looked
 * up in. So a context is invalidated when it changes hands, and a VM without one
 * has nothing cached. Pages that go are invalidated by their addresses, before
 * their memory is freed. Where a pointer to a table goes, the whole context is:
 * what an address makes the GPU's MMU forget besides the page is not known. The
 * kernel half is part of all contexts: its pages are global, and its tables stay as
 * long as the driver does. So everything, which includes the translations of all
 * processes, is invalidated only when the firmware is started and when the driver
 * goes.
 *
 * Locks, outermost first:
 *
 * - the address space's lock (asahi_aspace.h): its page tables;
 * - flush_lock: one firmware cache flush at a time; a context does not change
 *   hands while a flush of it is under way;
 * - slot_lock: who owns which context, the table of bases, and the host's side
 *   of the handoff lock. It is held over the change of a context, which
 *   invalidates that one, but not over the invalidations of address spaces.
 *
 * flush_lock and slot_lock are taken on the way to a job's start, so nothing
 * is allocated and no fence is waited for while they are held. All waits for
 * the firmware are bounded. One that does not give up the handoff lock has
 * failed; one that does not confirm a flush in time has not, but the memory in
 * question is not used again.
 *
 * A job that does not end by itself is lost. So that it faults, its context no longer
 * leads to the memory of its client. The context still leads to what the driver has in the
 * address space for jobs: the firmware goes on with the job behind the lost one at once, and
 * must not read the lists of a tiled vertex buffer where nothing is mapped. The jobs behind
 * it fault as well. Work that goes on even then may be using that memory, and its context
 * is emptied. The first job that comes after the end of the lost one has all memory again.
 * Nobody has tried on hardware what the firmware does with either context.
 *
 * After a failure of the firmware no VM has a context, and none gets one before
 * the firmware has been started again and has answered in the handoff region.
 * Page tables can be changed meanwhile.
 */

#define ASAHI_UAT_ANSWER_TIMEOUT_US	(1 * USEC_PER_SEC)
#define ASAHI_UAT_ANSWER_POLL_US	(10 * USEC_PER_MSEC)

/* Normally it is done by the time that the firmware has read the request. */
#define ASAHI_UAT_FLUSH_TIMEOUT_US	(1 * USEC_PER_SEC)
#define ASAHI_UAT_FLUSH_POLL_US		100
/* Once the firmware was late, nobody else waits for it for so long. */
#define ASAHI_UAT_FLUSH_PAUSE		HZ

/* The count of pages in a flush request has 16 bits. */
#define ASAHI_UAT_FLUSH_MAX		(0x8000ULL << AGX_PAGE_SHIFT)

struct asahi_ttbs {
	__le64 ttb0;
	__le64 ttb1;
};

static_assert(sizeof(struct asahi_ttbs) == AGX_TTBS_STRIDE);

/**
 * struct asahi_uat - the MMU
 * @adev: device
 * @handoff: handoff region; gone after unplug
 * @ttbs: table of bases; gone after unplug
 * @root: root of the kernel half, shared with the firmware; gone after unplug
 * @root_phys: physical address of @root
 * @low: lower half of context 0
 */
struct asahi_uat {
	struct asahi_device *adev;
	struct asahi_handoff *handoff;
	struct asahi_ttbs *ttbs;
	__le64 *root;
	phys_addr_t root_phys;
	struct asahi_aspace low;

	/** @flush_lock: held over a flush of the firmware's cache, protects @flush_resume */
	struct mutex flush_lock;
	/** @flush_late: the firmware has not answered a request in time */
	bool flush_late;
	/** @flush_resume: when it is asked again then, in jiffies */
	unsigned long flush_resume;

	/** @slot_lock: protects everything below, @ttbs and the handoff lock */
	struct mutex slot_lock;
	/** @announced: the firmware has been told that there is a host */
	bool announced;
	/** @open: address spaces may be given contexts */
	bool open;
	/** @stripped: and then find no memory of clients */
	bool stripped;
	/**
	 * @owner: address space that has each context, or NULL. An address space
	 * names its context for longer (&asahi_aspace.slot): before it leads to its
	 * tables, and until nothing of them is cached.
	 */
	struct asahi_aspace *owner[AGX_UAT_CONTEXTS];
};

/* Contexts. */

static void asahi_uat_write_context(struct asahi_uat *uat, unsigned int slot, u64 ttb)
{
	struct asahi_ttbs *entry = &uat->ttbs[slot];
	u64 ttb0 = 0, ttb1 = 0;

	lockdep_assert_held(&uat->slot_lock);

	if (ttb)
		ttb0 = ttb | AGX_TTBR_VALID | (u64)slot << AGX_TTBR_ASID_SHIFT;
	/* Something in G14X's render commands is written from user contexts. */
	if (ttb && uat->adev->hw->gen == ASAHI_GEN_G14X)
		ttb1 = uat->root_phys | AGX_TTBR_VALID | (u64)slot << AGX_TTBR_ASID_SHIFT;

	WRITE_ONCE(entry->ttb0, cpu_to_le64(ttb0));
	WRITE_ONCE(entry->ttb1, cpu_to_le64(ttb1));
}

/* The context leads to its tables no more, and no TLB holds any of them. */
static void asahi_uat_disown(struct asahi_uat *uat, unsigned int slot, struct asahi_aspace *as)
{
	lockdep_assert_held(&uat->slot_lock);

	/* asahi_uat_is_attached() looks without the lock. */
	WRITE_ONCE(uat->owner[slot], NULL);
	if (!as)
		return;

	/* Pairs with asahi_aspace_flush(), which relies on the invalidation then. */
	smp_store_release(&as->slot, ASAHI_ASPACE_NO_SLOT);
}

static int asahi_uat_lock_handoff(struct asahi_uat *uat)
{
	lockdep_assert_held(&uat->slot_lock);

	return asahi_wait_until(uat->adev, ASAHI_DEBT_HANDOFF, !asahi_handoff_lock(uat->handoff));
}

/* It is taken away from work that is lost, which the firmware is in. */
static bool asahi_uat_is_lost(const struct asahi_aspace *as)
{
	return as && atomic_read(&as->barred);
}

/* What an address space is to find in a context that it gets now. */
static enum asahi_view asahi_uat_view(struct asahi_uat *uat, struct asahi_aspace *as)
{
	lockdep_assert_held(&uat->slot_lock);

	if (!uat->stripped && !atomic_read(&as->barred))
		return ASAHI_VIEW_ALL;
	return max(as->view, ASAHI_VIEW_KERNEL);
}

/*
 * Gives a context from one address space to another, or changes what its owner finds in it;
 * either may be NULL. Changes nothing when it fails: whoever had the context, still has it.
 */
static int asahi_uat_change(struct asahi_uat *uat, unsigned int slot, struct asahi_aspace *from,
			    struct asahi_aspace *to, enum asahi_view view)
{
	int ret;

	lockdep_assert_held(&uat->flush_lock);
	lockdep_assert_held(&uat->slot_lock);

	ret = asahi_uat_lock_handoff(uat);
	if (ret)
		return ret;

	if (asahi_handoff_current_slot(uat->handoff) == slot && from != to &&
	    !asahi_uat_is_lost(from))
		drm_warn_once(&uat->adev->drm, "context %u changes while the firmware uses it\n",
			      slot);

	if (to) {
		WRITE_ONCE(to->slot, slot);
		/* Named before it is walked; pairs with asahi_aspace_flush(). */
		dma_mb();
	}
	asahi_uat_write_context(uat, slot, to ? asahi_aspace_root(to, view) : 0);
	asahi_handoff_unlock(uat->handoff);
	asahi_tlb_invalidate_asid(slot);
	if (from != to)
		asahi_uat_disown(uat, slot, from);
	if (to) {
		/* The context has it before this says so; pairs with asahi_uat_is_attached(). */
		smp_store_release(&to->view, view);
	}
	/* From here on it can be used; pairs with asahi_uat_is_attached(). */
	smp_store_release(&uat->owner[slot], to);
	return 0;
}

/* For a firmware that has nothing to say any more, or does not answer. */
static void asahi_uat_revoke(struct asahi_uat *uat, unsigned int slot)
{
	asahi_uat_write_context(uat, slot, 0);
	asahi_tlb_invalidate_asid(slot);
	asahi_uat_disown(uat, slot, uat->owner[slot]);
}

static void asahi_uat_revoke_all(struct asahi_uat *uat)
{
	lockdep_assert_held(&uat->slot_lock);

	uat->open = false;
	for (unsigned int i = AGX_UAT_USER_CONTEXT_START; i < AGX_UAT_CONTEXTS; i++)
		asahi_uat_revoke(uat, i);
}

/**
 * asahi_uat_is_attached() - has an address space got a context?
 * @as: address space of a VM
 * @slot: context that a job of the VM holds
 *
 * Any context. As long as the caller's job holds the slot, nobody else gets it.
 *
 * Return: true if asahi_uat_attach() would have nothing to do, as the address space has
 * all of its memory there.
 */
bool asahi_uat_is_attached(const struct asahi_aspace *as, unsigned int slot)
{
	/* Pairs with asahi_uat_change(). */
	if (smp_load_acquire(&as->adev->uat->owner[slot]) != as)
		return false;

	/* Pairs with asahi_uat_change() and asahi_uat_drop_barred(). */
	return smp_load_acquire(&as->view) == ASAHI_VIEW_ALL;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_uat_is_attached);

/**
 * asahi_uat_attach() - give a context to an address space
 * @as: address space of a VM
 * @slot: context, 1 to 63; no job of another VM runs in it
 *
 * Takes it away from whoever had it, and from @as what it had before. When this
 * returns, translations of the former owner are gone from the TLBs. Part of
 * starting a job: process context, may sleep, allocates nothing. A firmware that
 * does not give up the handoff lock has failed; then nothing has changed. While
 * @as is barred, its jobs run without their client's memory, and fault.
 */
void asahi_uat_attach(struct asahi_aspace *as, unsigned int slot)
{
	struct asahi_uat *uat = as->adev->uat;
	enum asahi_view view;

	if (WARN_ON_ONCE(slot < AGX_UAT_USER_CONTEXT_START || slot >= AGX_UAT_CONTEXTS))
		return;

	/*
	 * Nobody takes it away as long as the caller's job holds the slot. But a
	 * job of another queue may be giving it to the same VM right now, and until
	 * that is done, work in it would run in the tables of the former owner.
	 */
	if (asahi_uat_is_attached(as, slot))
		return;

	guard(mutex)(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);

	view = asahi_uat_view(uat, as);
	if (!uat->open || (as->slot == (int)slot && as->view == view))
		return;
	if (as->slot != ASAHI_ASPACE_NO_SLOT && as->slot != (int)slot &&
	    asahi_uat_change(uat, as->slot, as, NULL, ASAHI_VIEW_NONE))
		return;

	asahi_uat_change(uat, slot, uat->owner[slot], as, view);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_uat_attach);

/**
 * asahi_uat_bar() - begin to take an address space away from its running jobs
 * @as: address space of a VM
 *
 * Until asahi_uat_unbar() it gets no context that leads to memory of its client.
 * asahi_uat_drop_barred() has to follow. Any context.
 */
void asahi_uat_bar(struct asahi_aspace *as)
{
	atomic_inc(&as->barred);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_uat_bar);

/**
 * asahi_uat_drop_barred() - take memory away from an address space that is barred
 * @as: address space of a VM, after asahi_uat_bar()
 * @view: what is left in its context
 *
 * Its jobs fault, and the firmware takes them down. Nothing is done if the lost job has ended
 * since, as other jobs may have the context. Process context, may sleep; allocates nothing.
 */
void asahi_uat_drop_barred(struct asahi_aspace *as, enum asahi_view view)
{
	struct asahi_uat *uat = as->adev->uat;
	enum asahi_view before;
	int slot;

	guard(mutex)(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);

	slot = as->slot;
	before = as->view;
	if (slot == ASAHI_ASPACE_NO_SLOT || before >= view)
		return;

	/*
	 * Jobs that come from here on wait in asahi_uat_attach(). The firmware may take the lost
	 * job down as soon as its memory is gone, so the next one can come before the change is
	 * done. If the lost job has ended before this, that is seen below.
	 */
	smp_store_mb(as->view, view);
	/* A firmware that keeps the lock is given up, and then that happens to all. */
	if (atomic_read(&as->barred) && !asahi_uat_change(uat, slot, as, as, view))
		return;

	/* Pairs with asahi_uat_is_attached(). */
	smp_store_release(&as->view, before);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_uat_drop_barred);

/**
 * asahi_uat_unbar() - undo asahi_uat_bar()
 * @as: address space whose lost job has ended
 *
 * The next job gives it its memory again. Any context.
 */
void asahi_uat_unbar(struct asahi_aspace *as)
{
	atomic_dec(&as->barred);
	/* Pairs with asahi_uat_drop_barred(). */
	smp_mb__after_atomic();
}
EXPORT_SYMBOL_IF_KUNIT(asahi_uat_unbar);

/**
 * asahi_uat_detach() - take an address space out of the hardware
 * @as: address space of a VM none of whose jobs runs
 *
 * Process context, may sleep. Afterwards nothing walks its tables.
 */
void asahi_uat_detach(struct asahi_aspace *as)
{
	struct asahi_uat *uat = as->adev->uat;

	guard(mutex)(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);

	if (as->slot == ASAHI_ASPACE_NO_SLOT)
		return;

	/* The tables go away whatever a firmware that has failed thinks of it. */
	if (asahi_uat_change(uat, as->slot, as, NULL, ASAHI_VIEW_NONE))
		asahi_uat_revoke(uat, as->slot);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_uat_detach);

/* Flushes. */

/* Returns -ENOENT if the firmware has nothing of it in its cache. */
static int asahi_uat_flush_index(struct asahi_uat *uat, struct asahi_aspace *as,
				 unsigned int *index)
{
	int ret;

	lockdep_assert_held(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);

	/* Unplugged: the regions may be gone. */
	if (READ_ONCE(uat->adev->kernel_as.cut))
		return -ENODEV;

	if (as->global) {
		*index = AGX_HANDOFF_FLUSH_KERNEL;
		return 0;
	}

	/* The firmware flushes a context when it leaves it, and finds nothing in an empty one. */
	if (as->slot == ASAHI_ASPACE_NO_SLOT || as->view == ASAHI_VIEW_NONE)
		return -ENOENT;

	ret = asahi_uat_lock_handoff(uat);
	if (ret)
		return ret;
	*index = asahi_handoff_current_slot(uat->handoff);
	asahi_handoff_unlock(uat->handoff);

	return *index == as->slot ? 0 : -ENOENT;
}

/* Waits until the firmware has answered the latest request, and returns how. */
static u64 asahi_uat_flush_wait(struct asahi_uat *uat, unsigned int index)
{
	u64 state;

	read_poll_timeout(asahi_handoff_flush_state, state,
			  state == AGX_HANDOFF_FLUSH_DONE || !asahi_state_fw_alive(uat->adev),
			  ASAHI_UAT_FLUSH_POLL_US, ASAHI_UAT_FLUSH_TIMEOUT_US, false,
			  uat->handoff, index);
	return state;
}

static int asahi_uat_flush_piece(struct asahi_uat *uat, unsigned int index, u64 va, u64 size)
{
	const struct asahi_fwctl_msg msg = {
		.va = va,
		.slot = index,
		.pages = size >> AGX_PAGE_SHIFT,
	};
	u64 state;
	int ret;

	lockdep_assert_held(&uat->flush_lock);

	/* An answer to an earlier request must not be taken for one to this. */
	state = asahi_handoff_flush_state(uat->handoff, index);
	if (state == AGX_HANDOFF_FLUSH_REQUESTED)
		state = asahi_uat_flush_wait(uat, index);
	if (state == AGX_HANDOFF_FLUSH_REQUESTED)
		return -ETIMEDOUT;

	asahi_handoff_begin_flush(uat->handoff, index, va, size);
	ret = asahi_channel_fwctl(uat->adev, &msg);
	if (ret)
		return ret;

	state = asahi_uat_flush_wait(uat, index);
	if (state == AGX_HANDOFF_FLUSH_REQUESTED)
		return -ETIMEDOUT;

	asahi_handoff_end_flush(uat->handoff, index);
	if (state == AGX_HANDOFF_FLUSH_DONE)
		return 0;

	drm_warn_once(&uat->adev->drm, "a cache flush has left state %#llx\n", state);
	return -EIO;
}

static int asahi_uat_flush_range(struct asahi_uat *uat, unsigned int index, u64 va, u64 size)
{
	int ret = 0;

	lockdep_assert_held(&uat->flush_lock);

	if (uat->flush_late && time_before(jiffies, uat->flush_resume))
		return -ETIMEDOUT;

	while (!ret && size) {
		u64 piece = min(size, ASAHI_UAT_FLUSH_MAX);

		ret = asahi_uat_flush_piece(uat, index, va, piece);
		va += piece;
		size -= piece;
	}

	uat->flush_late = ret == -ETIMEDOUT;
	if (uat->flush_late) {
		uat->flush_resume = jiffies + ASAHI_UAT_FLUSH_PAUSE;
		drm_warn(&uat->adev->drm, "the firmware is late with a cache flush\n");
	}
	return ret;
}

/**
 * asahi_uat_fw_flush() - make the firmware write back and forget cached memory
 * @as: address space that the memory is mapped in
 * @va: first address, page aligned
 * @size: bytes, a multiple of the page size
 *
 * The memory must have been made uncached, and its translations invalidated,
 * before. Process context; waits for a few seconds at most, and not at all while
 * the firmware is known to be late with an earlier request; allocates nothing.
 *
 * Return: 0 if the firmware has nothing of it in its cache; a negative error if
 * that is not known.
 */
int asahi_uat_fw_flush(struct asahi_aspace *as, u64 va, u64 size)
{
	struct asahi_device *adev = as->adev;
	struct asahi_uat *uat = adev->uat;
	unsigned int index;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(asahi_uat_fw_flush, as, va, size);

	/* It has not seen any of our memory yet. */
	if (asahi_state_fw(adev) == ASAHI_FW_FRESH)
		return 0;
	if (!asahi_state_fw_alive(adev))
		return -ENODEV;

	guard(mutex)(&uat->flush_lock);

	ret = asahi_uat_flush_index(uat, as, &index);
	if (!ret)
		ret = asahi_uat_flush_range(uat, index, va, size);
	return ret == -ENOENT ? 0 : ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_uat_fw_flush);

/**
 * asahi_uat_low() - the lower half of context 0
 * @adev: device
 *
 * Return: its address space, valid until the last reference to @adev is gone.
 */
struct asahi_aspace *asahi_uat_low(struct asahi_device *adev)
{
	return &adev->uat->low;
}

/* Setup. */

/*
 * A second INIT after quiesce and wake is what the references never do. Memory
 * survives a reboot, the running coprocessor does not: only both together say
 * that a driver has been here since the boot.
 */
static int asahi_uat_check_first_use(struct asahi_uat *uat)
{
	struct asahi_device *adev = uat->adev;

	if (!adev->was_started || !asahi_handoff_was_used(uat->handoff))
		return 0;

	if (!asahi_allows(ASAHI_UNPROVEN_AGAIN)) {
		drm_err(&adev->drm,
			"the firmware has been used since boot; using it again is unproven (see module parameter \"unproven\")\n");
		return -ENODEV;
	}

	asahi_state_set_fw(adev, ASAHI_FW_STOPPED);
	return 0;
}

static bool asahi_uat_answered(struct asahi_uat *uat)
{
	guard(mutex)(&uat->slot_lock);
	return asahi_handoff_answered(uat->handoff);
}

/* Waits up to a second for the firmware. */
static int asahi_uat_announce(struct asahi_uat *uat)
{
	bool answered;

	scoped_guard(mutex, &uat->slot_lock) {
		uat->announced = true;
		asahi_handoff_announce(uat->handoff);
	}

	if (!read_poll_timeout(asahi_uat_answered, answered, answered, ASAHI_UAT_ANSWER_POLL_US,
			       ASAHI_UAT_ANSWER_TIMEOUT_US, false, uat))
		return 0;

	drm_err(&uat->adev->drm, "the firmware does not answer in the handoff region\n");
	return -ENODEV;
}

static int asahi_uat_open_contexts(struct asahi_uat *uat)
{
	u64 low = asahi_pgtable_root(&uat->low.pgt) | AGX_TTBR_VALID;
	unsigned int slot;

	guard(mutex)(&uat->slot_lock);

	if (asahi_handoff_lock(uat->handoff)) {
		drm_err(&uat->adev->drm, "the firmware keeps the handoff lock\n");
		return -ENODEV;
	}

	WRITE_ONCE(uat->ttbs[0].ttb0, cpu_to_le64(low));
	WRITE_ONCE(uat->ttbs[0].ttb1, cpu_to_le64(uat->root_phys | AGX_TTBR_VALID));
	for (slot = AGX_UAT_USER_CONTEXT_START; slot < AGX_UAT_CONTEXTS; slot++)
		asahi_uat_write_context(uat, slot, 0);
	asahi_handoff_unlock(uat->handoff);
	asahi_tlb_invalidate_all();

	uat->open = true;
	return 0;
}

static int asahi_uat_start(struct asahi_uat *uat)
{
	int ret;

	ret = asahi_uat_announce(uat);
	return ret ?: asahi_uat_open_contexts(uat);
}

static int asahi_uat_init(struct asahi_device *adev)
{
	struct asahi_uat *uat;
	int ret;

	uat = kzalloc_obj(*uat);
	if (!uat)
		return -ENOMEM;

	uat->adev = adev;
	uat->handoff = adev->region[ASAHI_REGION_HANDOFF].map;
	uat->ttbs = adev->region[ASAHI_REGION_TTBS].map;
	uat->root = adev->region[ASAHI_REGION_PAGETABLES].map;
	uat->root_phys = adev->region[ASAHI_REGION_PAGETABLES].phys;
	mutex_init(&uat->flush_lock);
	mutex_init(&uat->slot_lock);

	ret = asahi_uat_check_first_use(uat);
	if (!ret)
		ret = asahi_aspace_init(&uat->low, adev);
	if (ret) {
		kfree(uat);
		return ret;
	}

	uat->low.slot = 0;
	asahi_aspace_init_kernel(&adev->kernel_as, adev, uat->root, uat->root_phys);
	adev->uat = uat;
	return asahi_uat_start(uat);
}

/*
 * Cuts GPU and firmware off from all memory. Both halves of context 0 are closed
 * first, so that nothing else is put into their tables; these are freed when
 * nothing leads to them and no TLB holds them any more. VMs have no context from
 * then on, so that their tables may change and go at any time.
 */
/**
 * asahi_uat_cut_off() - take all memory away from GPU and firmware, for good
 * @adev: device that goes away, or whose machine goes down
 *
 * Neither finds a translation any more but those of the firmware's own memory. Process
 * context, may sleep; allocates nothing.
 */
void asahi_uat_cut_off(struct asahi_device *adev)
{
	struct asahi_uat *uat = adev->uat;

	asahi_aspace_cut(&adev->kernel_as);
	asahi_aspace_cut(&uat->low);

	/* A flush that is under way still looks at the handoff region. */
	guard(mutex)(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);

	asahi_uat_revoke_all(uat);
	WRITE_ONCE(uat->ttbs[0].ttb0, 0);
	WRITE_ONCE(uat->root[AGX_UAT_KERNEL_L1_INDEX], 0);
	asahi_tlb_invalidate_all();

	/* It has not been used, so the next probe is the first. */
	if (uat->announced && asahi_state_fw(adev) == ASAHI_FW_FRESH)
		asahi_handoff_retract(uat->handoff);
}

static void asahi_uat_unplug(struct asahi_device *adev)
{
	struct asahi_uat *uat = adev->uat;

	if (!uat)
		return;

	asahi_uat_cut_off(adev);

	asahi_aspace_free_tables(&adev->kernel_as);
	asahi_aspace_free_tables(&uat->low);
}

/**
 * asahi_uat_revoke_clients() - take all memory of clients away from the GPU
 * @adev: device whose firmware has failed, or may still be at work
 *
 * No context is given to anybody until the firmware is started again. Process context,
 * in the critical section of fences; allocates nothing.
 */
void asahi_uat_revoke_clients(struct asahi_device *adev)
{
	struct asahi_uat *uat = adev->uat;

	guard(mutex)(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);

	asahi_uat_revoke_all(uat);
}

static int asahi_uat_strip(struct asahi_uat *uat, unsigned int slot)
{
	struct asahi_aspace *as = uat->owner[slot];

	lockdep_assert_held(&uat->slot_lock);

	return as ? asahi_uat_change(uat, slot, as, as, asahi_uat_view(uat, as)) : 0;
}

/**
 * asahi_uat_strip_clients() - take the memory of clients away from jobs, for good
 * @adev: device of a machine that goes down; its firmware is at work
 *
 * Jobs fault from here on. The firmware finds what the driver has for them until
 * asahi_uat_cut_off(), which has to follow. Process context, may sleep; allocates nothing.
 */
void asahi_uat_strip_clients(struct asahi_device *adev)
{
	struct asahi_uat *uat = adev->uat;

	guard(mutex)(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);

	uat->stripped = true;
	for (unsigned int i = AGX_UAT_USER_CONTEXT_START; i < AGX_UAT_CONTEXTS; i++) {
		/* One that keeps the handoff lock has failed. */
		if (asahi_uat_strip(uat, i)) {
			asahi_uat_revoke_all(uat);
			return;
		}
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_uat_strip_clients);

/**
 * asahi_uat_forget_firmware() - what the firmware has said is not true any more
 * @adev: device whose coprocessor is off
 *
 * Its half of the handoff region is as it was before the coprocessor was started
 * for the first time. Process context, between asahi_blocks_pre_reset() and
 * asahi_blocks_post_reset(); allocates nothing.
 */
void asahi_uat_forget_firmware(struct asahi_device *adev)
{
	struct asahi_uat *uat = adev->uat;

	guard(mutex)(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);

	uat->flush_late = false;
	asahi_handoff_reset(uat->handoff);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_uat_forget_firmware);

static int asahi_uat_post_reset(struct asahi_device *adev)
{
	return asahi_uat_start(adev->uat);
}

static void asahi_uat_fini(struct asahi_device *adev)
{
	struct asahi_uat *uat = adev->uat;

	if (!uat)
		return;

	asahi_aspace_fini(&adev->kernel_as);
	asahi_aspace_fini(&uat->low);
	mutex_destroy(&uat->slot_lock);
	mutex_destroy(&uat->flush_lock);
	kfree(uat);
	adev->uat = NULL;
}

static void asahi_uat_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_uat *uat = adev->uat;

	guard(mutex)(&uat->slot_lock);

	asahi_rest_expect(rest, ASAHI_REST_AWAKE, uat->open, "no context is given to anybody");
	for (unsigned int i = AGX_UAT_USER_CONTEXT_START; i < AGX_UAT_CONTEXTS; i++) {
		const struct asahi_aspace *as = uat->owner[i];

		asahi_rest_expect(rest, 0, !as || as->slot == (int)i,
				  "context %u belongs to an address space that has %d", i,
				  as->slot);
		asahi_rest_expect(rest, ASAHI_REST_CLOSED, !as, "context %u has an owner", i);
	}
}

const struct asahi_block asahi_block_uat = {
	.name = "uat",
	.init = asahi_uat_init,
	.unplug = asahi_uat_unplug,
	.pre_reset = asahi_uat_revoke_clients,
	.post_reset = asahi_uat_post_reset,
	.fini = asahi_uat_fini,
	.at_rest = asahi_rest_ptr(asahi_uat_at_rest),
};
EXPORT_SYMBOL_IF_KUNIT(asahi_block_uat);
