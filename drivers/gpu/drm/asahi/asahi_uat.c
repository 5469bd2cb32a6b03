// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * UAT: MMU contexts, coordination with the firmware, TLB invalidation and the
 * page table of the kernel half.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/bitfield.h>
#include <linux/cleanup.h>
#include <linux/cpufeature.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/iopoll.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#ifdef CONFIG_ARM64
#include <asm/sysreg.h>
#include <asm/tlbflush.h>
#endif

#include <agx/agx_uat.h>

#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_handoff.h"
#include "asahi_hw.h"
#include "asahi_recovery.h"
#include "asahi_uat.h"

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
 * kernel half is part of all contexts: its pages are global, for its tables
 * everything is invalidated.
 *
 * Locks, outermost first:
 *
 * - kernel_lock: the kernel half's page table, and the lower half of context 0;
 * - flush_lock: one firmware cache flush at a time; a context does not change
 *   hands while a flush of it is under way;
 * - slot_lock: who owns which context, the table of bases, and the host's side
 *   of the handoff lock.
 *
 * flush_lock and slot_lock are taken on the way to a job's start, so nothing
 * is allocated and no fence is waited for while they are held. All waits for
 * the firmware are bounded; one that has not answered by then is declared dead.
 */

#define HANDOFF_INIT_TIMEOUT_US		(1 * USEC_PER_SEC)
#define HANDOFF_INIT_POLL_US		(10 * USEC_PER_MSEC)

/* The count of pages in a flush request has 16 bits. */
#define FLUSH_MAX_PAGES			0x8000ULL

struct ttbs {
	__le64 ttb0;
	__le64 ttb1;
};

static_assert(sizeof(struct ttbs) == AGX_TTBS_STRIDE);

/**
 * struct asahi_uat - the MMU
 * @adev: device
 * @handoff: handoff region; gone after unplug
 * @ttbs: table of bases; gone after unplug
 * @root: the kernel half's root, shared with the firmware; gone after unplug
 * @root_phys: physical address of @root
 * @kernel: the host's part of the kernel half
 * @low: lower half of context 0
 * @live: regions are mapped and tables are in use; from init to unplug
 * @owner: VM that each context belongs to, or NULL
 */
struct asahi_uat {
	struct asahi_device *adev;
	struct asahi_handoff *handoff;
	struct ttbs *ttbs;
	__le64 *root;
	phys_addr_t root_phys;

	/** @kernel_lock: protects @kernel and @low */
	struct mutex kernel_lock;
	struct asahi_pgtable kernel;
	struct asahi_pgtable low;

	/** @flush_lock: held over a flush of the firmware's cache */
	struct mutex flush_lock;

	/**
	 * @slot_lock: protects @owner, @ttbs and the handoff lock; also @live,
	 * which is cleared with @kernel_lock held as well
	 */
	struct mutex slot_lock;
	bool live;
	struct asahi_uat_vm *owner[AGX_UAT_CONTEXTS];
};

/*
 * TLB invalidation. The GPU listens to the CPU's broadcasts in the outer
 * shareable domain; a context's number is its address space ID.
 */

#define TLBI_ASID		GENMASK_ULL(63, 48)
#define TLBI_VA			GENMASK_ULL(43, 0)
#define TLBI_VA_SHIFT		12
#define TLBI_RANGE_TG		GENMASK_ULL(47, 46)
#define TLBI_RANGE_TG_16K	2
#define TLBI_RANGE_SCALE	GENMASK_ULL(45, 44)
#define TLBI_RANGE_NUM		GENMASK_ULL(43, 39)
#define TLBI_RANGE_BASE		GENMASK_ULL(36, 0)
#define TLBI_MAX_SCALE		3
#define TLBI_MAX_NUM		32
#define TLBI_SCALE_SHIFT(scale)	(5 * (scale) + 1)

/**
 * asahi_uat_next_tlbi() - split an invalidation into instructions
 * @va: address to go on from; advanced
 * @pages: pages left; reduced
 * @asid: context
 * @tlbi: the next instruction
 *
 * The instructions cover exactly the pages asked for. Pure arithmetic, any
 * context.
 *
 * Return: false if nothing was left.
 */
bool asahi_uat_next_tlbi(u64 *va, u64 *pages, u16 asid, struct asahi_tlbi *tlbi)
{
	unsigned int scale = 0;
	u64 num, covered;

	if (!*pages)
		return false;

	if (*pages == 1) {
		tlbi->op = ASAHI_TLBI_PAGE;
		tlbi->arg = FIELD_PREP(TLBI_ASID, asid) |
			    FIELD_PREP(TLBI_VA, (*va >> TLBI_VA_SHIFT) & TLBI_VA);
		*va += AGX_PAGE_SIZE;
		*pages = 0;
		return true;
	}

	while (scale < TLBI_MAX_SCALE && *pages >> TLBI_SCALE_SHIFT(scale + 1))
		scale++;

	num = min_t(u64, *pages >> TLBI_SCALE_SHIFT(scale), TLBI_MAX_NUM);
	covered = num << TLBI_SCALE_SHIFT(scale);

	tlbi->op = ASAHI_TLBI_RANGE;
	tlbi->arg = FIELD_PREP(TLBI_ASID, asid) |
		    FIELD_PREP(TLBI_RANGE_TG, TLBI_RANGE_TG_16K) |
		    FIELD_PREP(TLBI_RANGE_SCALE, scale) |
		    FIELD_PREP(TLBI_RANGE_NUM, num - 1) |
		    FIELD_PREP(TLBI_RANGE_BASE, (*va >> AGX_PAGE_SHIFT) & TLBI_RANGE_BASE);
	*va += covered << AGX_PAGE_SHIFT;
	*pages -= covered;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_uat_next_tlbi);

#ifdef CONFIG_ARM64

/* The CPU's own registers, whether or not the kernel was built to use them. */
static bool tlbi_supported(void)
{
	u64 isar0 = read_sanitised_ftr_reg(SYS_ID_AA64ISAR0_EL1);

	return SYS_FIELD_GET(ID_AA64ISAR0_EL1, TLB, isar0) >= ID_AA64ISAR0_EL1_TLB_RANGE;
}

static void tlbi_sync(void)
{
	dsb(sy);
}

static void tlbi_all(void)
{
	tlbi_sync();
	__tlbi(vmalle1os);
	tlbi_sync();
}

static void tlbi_asid(unsigned int asid)
{
	u64 arg = FIELD_PREP(TLBI_ASID, asid);

	tlbi_sync();
	__tlbi(aside1os, arg);
	tlbi_sync();
}

static void tlbi_range(unsigned int asid, u64 va, u64 size)
{
	u64 pages = size >> AGX_PAGE_SHIFT;
	struct asahi_tlbi tlbi;

	tlbi_sync();
	while (asahi_uat_next_tlbi(&va, &pages, asid, &tlbi)) {
		if (tlbi.op == ASAHI_TLBI_PAGE)
			__tlbi(vae1os, tlbi.arg);
		else
			__tlbi(rvae1os, tlbi.arg);
	}
	tlbi_sync();
}

#else

static bool tlbi_supported(void)
{
	return false;
}

static void tlbi_all(void)
{
}

static void tlbi_asid(unsigned int asid)
{
}

static void tlbi_range(unsigned int asid, u64 va, u64 size)
{
}

#endif

/*
 * A second INIT after quiesce and wake is what the references never do. Memory
 * survives a reboot, the running coprocessor does not: only both together say
 * that a driver has been here since the boot.
 */
static int check_first_use(struct asahi_uat *uat, bool was_started)
{
	struct asahi_device *adev = uat->adev;

	if (!was_started || !asahi_handoff_was_used(uat->handoff))
		return 0;

	if (!asahi_unproven) {
		drm_err(&adev->drm,
			"the firmware has been used since boot; using it again is unproven (see module parameter \"unproven\")\n");
		return -ENODEV;
	}

	adev->fw_state = ASAHI_FW_STOPPED;
	return 0;
}

static bool handoff_answered(struct asahi_uat *uat)
{
	guard(mutex)(&uat->slot_lock);
	return asahi_handoff_answered(uat->handoff);
}

static int handoff_init(struct asahi_uat *uat)
{
	bool answered;

	asahi_handoff_announce(uat->handoff);

	if (!read_poll_timeout(handoff_answered, answered, answered, HANDOFF_INIT_POLL_US,
			       HANDOFF_INIT_TIMEOUT_US, false, uat))
		return 0;

	drm_err(&uat->adev->drm, "the firmware does not answer in the handoff region\n");
	return -ENODEV;
}

/* Contexts. */

static void write_context(struct asahi_uat *uat, unsigned int slot, u64 ttb)
{
	struct ttbs *entry = &uat->ttbs[slot];
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

static void set_owner(struct asahi_uat *uat, unsigned int slot, struct asahi_uat_vm *vm)
{
	lockdep_assert_held(&uat->slot_lock);

	if (uat->owner[slot])
		uat->owner[slot]->slot = -1;
	uat->owner[slot] = vm;
	if (vm)
		vm->slot = slot;
}

/* Changes nothing when it fails: whoever had the context, still has it. */
static int change_context(struct asahi_uat *uat, unsigned int slot, struct asahi_uat_vm *vm)
{
	struct asahi_device *adev = uat->adev;
	int err;

	lockdep_assert_held(&uat->flush_lock);
	lockdep_assert_held(&uat->slot_lock);

	err = asahi_handoff_lock(uat->handoff);
	if (err) {
		asahi_recovery_wedged(adev, "it keeps the handoff lock");
		return err;
	}

	if (asahi_handoff_current_slot(uat->handoff) == slot)
		drm_warn_once(&adev->drm, "context %u changes while the firmware uses it\n", slot);

	write_context(uat, slot, vm ? vm->ttb : 0);
	asahi_handoff_unlock(uat->handoff);
	tlbi_asid(slot);
	set_owner(uat, slot, vm);
	return 0;
}

/**
 * asahi_uat_vm_init() - prepare a VM's hardware context
 * @vm: context
 * @ttb: physical address of the VM's root table
 *
 * Process context. The VM owns no context yet.
 */
void asahi_uat_vm_init(struct asahi_uat_vm *vm, u64 ttb)
{
	vm->ttb = ttb;
	vm->slot = -1;
}

/**
 * asahi_uat_vm_attach() - give a context to a VM
 * @adev: device
 * @vm: VM
 * @slot: context, 1 to 63; no job of another VM runs in it
 *
 * Takes it away from the VM that had it, and from @vm what it had before. When
 * this returns, translations of the former owner are gone from the TLBs. Part
 * of starting a job: process context, may sleep, allocates nothing. A firmware
 * that does not give up the handoff lock is declared dead; then nothing has
 * changed.
 */
void asahi_uat_vm_attach(struct asahi_device *adev, struct asahi_uat_vm *vm, unsigned int slot)
{
	struct asahi_uat *uat = adev->uat;
	int old;

	if (WARN_ON_ONCE(slot < AGX_UAT_USER_CONTEXT_START || slot >= AGX_UAT_CONTEXTS))
		return;

	scoped_guard(mutex, &uat->slot_lock) {
		if (!uat->live || vm->slot == (int)slot)
			return;
	}

	guard(mutex)(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);

	if (!uat->live || vm->slot == (int)slot)
		return;

	old = vm->slot;
	if (old > 0 && change_context(uat, old, NULL))
		return;

	change_context(uat, slot, vm);
}

/**
 * asahi_uat_vm_detach() - take a VM out of the hardware
 * @adev: device
 * @vm: VM; none of its jobs runs
 *
 * Process context, may sleep. Afterwards nothing walks the VM's tables.
 */
void asahi_uat_vm_detach(struct asahi_device *adev, struct asahi_uat_vm *vm)
{
	struct asahi_uat *uat = adev->uat;
	int slot;

	guard(mutex)(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);

	slot = vm->slot;
	if (!uat->live || slot < 0)
		return;

	if (change_context(uat, slot, NULL)) {
		/* The tables go away whatever a dead firmware thinks of it. */
		write_context(uat, slot, 0);
		tlbi_asid(slot);
		set_owner(uat, slot, NULL);
	}
}

/**
 * asahi_uat_invalidate() - invalidate translations of a VM
 * @adev: device
 * @vm: VM
 * @va: first address, page aligned
 * @size: bytes, multiple of the page size
 * @tables: there were other tables before, and not just other pages
 *
 * Does nothing if the VM owns no context: it has no translations cached then.
 * Orders earlier writes to page tables before the invalidation, and waits for
 * its completion. Process context, may sleep; neither allocates nor waits for
 * the firmware.
 */
void asahi_uat_invalidate(struct asahi_device *adev, struct asahi_uat_vm *vm, u64 va, u64 size,
			  bool tables)
{
	struct asahi_uat *uat = adev->uat;

	guard(mutex)(&uat->slot_lock);
	if (!uat->live || vm->slot < 0)
		return;

	/* A context's number is known to be enough: that is how they change hands. */
	if (tables)
		tlbi_asid(vm->slot);
	else
		tlbi_range(vm->slot, va, size);
}

static int flush_slot(struct asahi_uat *uat, struct asahi_uat_vm *vm, unsigned int *index)
{
	int err;

	lockdep_assert_held(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);

	if (!uat->live)
		return -ENODEV;

	if (!vm) {
		*index = AGX_HANDOFF_FLUSH_KERNEL;
		return 0;
	}

	/* The firmware flushes a context itself when it leaves it. */
	if (vm->slot < 0)
		return -ENOENT;

	err = asahi_handoff_lock(uat->handoff);
	if (err)
		return err;
	*index = asahi_handoff_current_slot(uat->handoff);
	asahi_handoff_unlock(uat->handoff);

	return *index == vm->slot ? 0 : -ENOENT;
}

static int flush_piece(struct asahi_uat *uat, unsigned int index, u64 va, u64 size)
{
	const struct asahi_fwctl_msg msg = {
		.va = va,
		.slot = index,
		.pages = size >> AGX_PAGE_SHIFT,
	};
	int err, result;

	lockdep_assert_held(&uat->flush_lock);

	asahi_handoff_begin_flush(uat->handoff, index, va, size);
	err = asahi_channel_fwctl(uat->adev, &msg);
	result = asahi_handoff_end_flush(uat->handoff, index);
	return err ?: result;
}

/**
 * asahi_uat_fw_flush() - make the firmware write back and forget cached memory
 * @adev: device
 * @vm: VM that the memory is mapped in, or NULL for the kernel half
 * @va: first address, page aligned
 * @size: bytes, multiple of the page size
 *
 * The memory must have been made uncached, and its translations invalidated,
 * before. Does nothing if the firmware does not run, or cannot have anything of
 * it in its cache. Process context, sleeps up to a second per 512 MiB.
 *
 * Return: 0, or a negative error if the firmware did not do it; it has been
 * declared dead then.
 */
int asahi_uat_fw_flush(struct asahi_device *adev, struct asahi_uat_vm *vm, u64 va, u64 size)
{
	struct asahi_uat *uat = adev->uat;
	unsigned int index;
	int err;

	guard(mutex)(&uat->flush_lock);

	if (!asahi_device_fw_running(adev))
		return 0;

	err = flush_slot(uat, vm, &index);
	if (err == -ENOENT || err == -ENODEV)
		return 0;

	while (!err && size) {
		u64 piece = min(size, FLUSH_MAX_PAGES << AGX_PAGE_SHIFT);

		err = flush_piece(uat, index, va, piece);
		va += piece;
		size -= piece;
	}

	if (err)
		asahi_recovery_wedged(adev, "it does not flush its cache");
	return err;
}

/* The kernel half. */

/*
 * Pages of the kernel half are global, so that invalidating them for one context
 * does so for all. Tables are not: a walk leaves them cached under the number of
 * whatever context was current then.
 */
static void end_changes(struct asahi_pt_pool *pool)
{
	bool flush = asahi_pt_pool_settle(pool);

	if (flush && pool->flush_tables)
		tlbi_all();
	else if (flush)
		tlbi_range(0, pool->flush_start, pool->flush_end - pool->flush_start);
	asahi_pt_pool_fini(pool);
}

static int map_range(struct asahi_uat *uat, struct asahi_pgtable *pt, u64 va, dma_addr_t pa,
		     u64 size, enum asahi_prot prot)
{
	struct asahi_pt_pool pool;
	int err;

	lockdep_assert_held(&uat->kernel_lock);

	asahi_pt_pool_init(&pool, pt);
	err = asahi_pgtable_reserve(pt, &pool, va, size, ASAHI_PT_MAP);
	if (!err)
		asahi_pgtable_map(pt, &pool, va, pa, size, prot);
	end_changes(&pool);
	return err;
}

/**
 * asahi_uat_kmap() - map memory into the kernel half
 * @adev: device
 * @va: address, inside the host's part of the kernel half, page aligned
 * @pa: DMA address, page aligned
 * @size: bytes, multiple of the page size
 * @prot: who may do what
 *
 * Process context, may sleep.
 *
 * Return: 0, -ENOMEM, or -ENODEV after unplug.
 */
int asahi_uat_kmap(struct asahi_device *adev, u64 va, dma_addr_t pa, u64 size,
		   enum asahi_prot prot)
{
	struct asahi_uat *uat = adev->uat;

	guard(mutex)(&uat->kernel_lock);
	if (!uat->live)
		return -ENODEV;

	return map_range(uat, &uat->kernel, va, pa, size, prot);
}

/**
 * asahi_uat_map_low() - map memory into the lower half of context 0
 * @adev: device
 * @va: address, page aligned
 * @pa: DMA address, page aligned
 * @size: bytes, multiple of the page size
 * @prot: who may do what
 *
 * Stays until unplug. Process context, may sleep.
 *
 * Return: 0, -ENOMEM, or -ENODEV after unplug.
 */
int asahi_uat_map_low(struct asahi_device *adev, u64 va, dma_addr_t pa, u64 size,
		      enum asahi_prot prot)
{
	struct asahi_uat *uat = adev->uat;

	guard(mutex)(&uat->kernel_lock);
	if (!uat->live)
		return -ENODEV;

	return map_range(uat, &uat->low, va, pa, size, prot);
}

static void make_uncached(struct asahi_uat *uat, u64 va, u64 size, enum asahi_prot prot)
{
	struct asahi_pt_pool pool;

	guard(mutex)(&uat->kernel_lock);
	if (!uat->live)
		return;

	asahi_pt_pool_init(&pool, &uat->kernel);
	asahi_pgtable_protect(&uat->kernel, &pool, va, size, asahi_prot_uncached(prot));
	end_changes(&pool);
}

/**
 * asahi_uat_kunmap() - undo asahi_uat_kmap()
 * @adev: device
 * @va: address
 * @size: bytes; may be several adjacent mappings
 * @prot: protection that they have
 *
 * When this returns, the firmware has nothing of it in its TLBs and caches.
 * Process context, may sleep; waits for the firmware if it has cached that
 * memory.
 */
void asahi_uat_kunmap(struct asahi_device *adev, u64 va, u64 size, enum asahi_prot prot)
{
	struct asahi_uat *uat = adev->uat;
	struct asahi_pt_pool pool;

	if (asahi_prot_is_cached(prot) && asahi_device_fw_running(adev)) {
		make_uncached(uat, va, size, prot);
		asahi_uat_fw_flush(adev, NULL, va, size);
	}

	guard(mutex)(&uat->kernel_lock);
	if (!uat->live)
		return;

	asahi_pt_pool_init(&pool, &uat->kernel);
	asahi_pgtable_unmap(&uat->kernel, &pool, va, size);
	end_changes(&pool);
}

/* Setup. */

static int start_contexts(struct asahi_uat *uat)
{
	u64 low = asahi_pgtable_root(&uat->low) | AGX_TTBR_VALID;
	unsigned int slot;
	int err;

	guard(mutex)(&uat->slot_lock);

	err = asahi_handoff_lock(uat->handoff);
	if (err) {
		drm_err(&uat->adev->drm, "the firmware keeps the handoff lock\n");
		return -ENODEV;
	}

	WRITE_ONCE(uat->ttbs[0].ttb0, cpu_to_le64(low));
	WRITE_ONCE(uat->ttbs[0].ttb1, cpu_to_le64(uat->root_phys | AGX_TTBR_VALID));
	for (slot = AGX_UAT_USER_CONTEXT_START; slot < AGX_UAT_CONTEXTS; slot++)
		write_context(uat, slot, 0);
	asahi_handoff_unlock(uat->handoff);

	uat->live = true;
	return 0;
}

/**
 * asahi_uat_init() - take over the MMU
 * @adev: device; the coprocessor has been started
 * @was_started: it had been started before this probe
 *
 * Process context, probe only. Waits up to a second for the firmware.
 *
 * Return: 0, -ENODEV if regions or firmware are not what they should be, or
 * -ENOMEM.
 */
int asahi_uat_init(struct asahi_device *adev, bool was_started)
{
	struct device *dev = adev->drm.dev;
	struct asahi_uat *uat;
	void *map;
	int err;

	if (!tlbi_supported()) {
		drm_err(&adev->drm, "this CPU lacks outer-shareable and range TLB invalidation\n");
		return -ENODEV;
	}

	uat = kzalloc_obj(*uat);
	if (!uat)
		return -ENOMEM;

	uat->adev = adev;
	mutex_init(&uat->kernel_lock);
	mutex_init(&uat->flush_lock);
	mutex_init(&uat->slot_lock);
	adev->uat = uat;

	err = asahi_device_map_region(adev, "handoff", AGX_HANDOFF_SIZE, &map, NULL);
	if (err)
		return err;
	uat->handoff = map;

	err = check_first_use(uat, was_started);
	if (err)
		return err;

	err = asahi_device_map_region(adev, "ttbs", AGX_TTBS_SIZE, &map, NULL);
	if (err)
		return err;
	uat->ttbs = map;

	err = asahi_device_map_region(adev, "pagetables", AGX_UAT_KERNEL_ROOT_SIZE, &map,
				      &uat->root_phys);
	if (err)
		return err;

	uat->root = map;

	asahi_pgtable_init_kernel(&uat->kernel, dev, adev->hw->oas_bits, uat->root,
				  uat->root_phys);
	err = asahi_pgtable_init_user(&uat->low, dev, adev->hw->oas_bits);
	if (err)
		goto err_kernel;

	err = handoff_init(uat);
	if (!err)
		err = start_contexts(uat);
	if (err)
		goto err_low;

	tlbi_all();
	return 0;

err_low:
	asahi_pgtable_fini(&uat->low);
err_kernel:
	asahi_pgtable_fini(&uat->kernel);
	return err;
}

/**
 * asahi_uat_unplug() - cut the GPU and the firmware off from all memory
 * @adev: device; the firmware does not run any more, or is dead
 *
 * Process context, remove and failed probe only. Afterwards all functions of
 * this file do nothing.
 */
void asahi_uat_unplug(struct asahi_device *adev)
{
	struct asahi_uat *uat = adev->uat;
	unsigned int slot;

	if (!uat)
		return;

	guard(mutex)(&uat->kernel_lock);
	/* A flush that is under way still looks at the handoff region. */
	guard(mutex)(&uat->flush_lock);
	guard(mutex)(&uat->slot_lock);
	if (!uat->live)
		return;

	uat->live = false;
	for (slot = AGX_UAT_USER_CONTEXT_START; slot < AGX_UAT_CONTEXTS; slot++) {
		set_owner(uat, slot, NULL);
		write_context(uat, slot, 0);
	}
	WRITE_ONCE(uat->ttbs[0].ttb0, 0);

	/* It has not been used, so the next probe is the first. */
	if (adev->fw_state == ASAHI_FW_FRESH)
		asahi_handoff_retract(uat->handoff);

	/*
	 * The tables may be freed once nothing leads to them any more. From here
	 * on nobody else invalidates anything either, so all is gone before the
	 * locks are.
	 */
	WRITE_ONCE(uat->root[AGX_UAT_KERNEL_L1_INDEX], 0);
	tlbi_all();
	asahi_pgtable_fini(&uat->kernel);
	asahi_pgtable_fini(&uat->low);
}

/**
 * asahi_uat_fini() - free what is left
 * @adev: device, after asahi_uat_unplug(); no VM is left
 *
 * Process context.
 */
void asahi_uat_fini(struct asahi_device *adev)
{
	struct asahi_uat *uat = adev->uat;

	if (!uat)
		return;

	mutex_destroy(&uat->slot_lock);
	mutex_destroy(&uat->flush_lock);
	mutex_destroy(&uat->kernel_lock);
	kfree(uat);
	adev->uat = NULL;
}
