// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * TLB invalidation.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include <linux/bitfield.h>
#include <linux/cleanup.h>
#include <linux/cpufeature.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/preempt.h>

#ifdef CONFIG_ARM64
#include <asm/sysreg.h>
#include <asm/tlbflush.h>
#endif

#include <agx/agx_uat.h>

#include "asahi_range.h"
#include "asahi_tlb.h"

/*
 * The GPU's MMU listens to the CPU's broadcasts in the outer shareable domain. A
 * context's number is its address space ID. These are the IDs of processes as
 * well, so an invalidation may cost some process translations that it needs
 * again; nobody knows of a way to tell the two apart.
 *
 * Each function orders writes to page tables before the invalidation, and waits
 * for its completion. A barrier waits for the invalidations of its own CPU, so the
 * task stays there: the barrier of a task switch is for the inner shareable domain
 * only.
 */

#define ASAHI_TLBI_ASID			GENMASK_ULL(63, 48)
#define ASAHI_TLBI_VA			GENMASK_ULL(43, 0)
#define ASAHI_TLBI_VA_SHIFT		12
#define ASAHI_TLBI_RANGE_TG		GENMASK_ULL(47, 46)
#define ASAHI_TLBI_RANGE_TG_16K		2
#define ASAHI_TLBI_RANGE_SCALE		GENMASK_ULL(45, 44)
#define ASAHI_TLBI_RANGE_NUM		GENMASK_ULL(43, 39)
#define ASAHI_TLBI_RANGE_BASE		GENMASK_ULL(36, 0)
#define ASAHI_TLBI_MAX_SCALE		3
#define ASAHI_TLBI_MAX_NUM		32
#define ASAHI_TLBI_SCALE_SHIFT(scale)	(5 * (scale) + 1)

/**
 * asahi_tlb_next() - split an invalidation into instructions
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
bool asahi_tlb_next(u64 *va, u64 *pages, u16 asid, struct asahi_tlbi *tlbi)
{
	unsigned int scale = 0;
	u64 num, covered;

	if (!*pages)
		return false;

	if (*pages == 1) {
		tlbi->op = ASAHI_TLBI_PAGE;
		tlbi->arg = FIELD_PREP(ASAHI_TLBI_ASID, asid) |
			    FIELD_PREP(ASAHI_TLBI_VA,
				       (*va >> ASAHI_TLBI_VA_SHIFT) & ASAHI_TLBI_VA);
		*va += AGX_PAGE_SIZE;
		*pages = 0;
		return true;
	}

	while (scale < ASAHI_TLBI_MAX_SCALE && *pages >> ASAHI_TLBI_SCALE_SHIFT(scale + 1))
		scale++;

	num = min_t(u64, *pages >> ASAHI_TLBI_SCALE_SHIFT(scale), ASAHI_TLBI_MAX_NUM);
	covered = num << ASAHI_TLBI_SCALE_SHIFT(scale);

	tlbi->op = ASAHI_TLBI_RANGE;
	tlbi->arg = FIELD_PREP(ASAHI_TLBI_ASID, asid) |
		    FIELD_PREP(ASAHI_TLBI_RANGE_TG, ASAHI_TLBI_RANGE_TG_16K) |
		    FIELD_PREP(ASAHI_TLBI_RANGE_SCALE, scale) |
		    FIELD_PREP(ASAHI_TLBI_RANGE_NUM, num - 1) |
		    FIELD_PREP(ASAHI_TLBI_RANGE_BASE,
			       (*va >> AGX_PAGE_SHIFT) & ASAHI_TLBI_RANGE_BASE);
	*va += covered << AGX_PAGE_SHIFT;
	*pages -= covered;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tlb_next);

#ifdef CONFIG_ARM64

static bool asahi_tlbi_supported(void)
{
	u64 isar0 = read_sanitised_ftr_reg(SYS_ID_AA64ISAR0_EL1);

	return SYS_FIELD_GET(ID_AA64ISAR0_EL1, TLB, isar0) >= ID_AA64ISAR0_EL1_TLB_RANGE;
}

static void asahi_tlbi_sync(void)
{
	dsb(sy);
}

static void asahi_tlbi_all(void)
{
	__tlbi(vmalle1os);
}

static void asahi_tlbi_asid(u64 arg)
{
	__tlbi(aside1os, arg);
}

static void asahi_tlbi_issue(const struct asahi_tlbi *tlbi)
{
	if (tlbi->op == ASAHI_TLBI_PAGE)
		__tlbi(vae1os, tlbi->arg);
	else
		__tlbi(rvae1os, tlbi->arg);
}

#else

static bool asahi_tlbi_supported(void)
{
	return false;
}

static void asahi_tlbi_sync(void)
{
}

static void asahi_tlbi_all(void)
{
}

static void asahi_tlbi_asid(u64 arg)
{
}

static void asahi_tlbi_issue(const struct asahi_tlbi *tlbi)
{
}

#endif

/**
 * asahi_tlb_supported() - can this CPU invalidate the GPU's TLBs?
 *
 * Asks the CPU itself, whatever the kernel was built to use. Any context.
 *
 * Return: true if it has outer-shareable and range invalidation.
 */
bool asahi_tlb_supported(void)
{
	return asahi_tlbi_supported();
}

/**
 * asahi_tlb_invalidate_all() - invalidate the translations of all contexts
 *
 * And those of all processes and of the kernel: only where the driver begins or ends to
 * have memory in the MMU at all. Any context.
 */
void asahi_tlb_invalidate_all(void)
{
	KUNIT_STATIC_STUB_REDIRECT(asahi_tlb_invalidate_all);
	guard(preempt)();
	asahi_tlbi_sync();
	asahi_tlbi_all();
	asahi_tlbi_sync();
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tlb_invalidate_all);

/**
 * asahi_tlb_invalidate_asid() - invalidate all translations of a context
 * @asid: context
 *
 * Pages of the kernel half are global and stay. Any context.
 */
void asahi_tlb_invalidate_asid(unsigned int asid)
{
	KUNIT_STATIC_STUB_REDIRECT(asahi_tlb_invalidate_asid, asid);
	guard(preempt)();
	asahi_tlbi_sync();
	asahi_tlbi_asid(FIELD_PREP(ASAHI_TLBI_ASID, asid));
	asahi_tlbi_sync();
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tlb_invalidate_asid);

static void asahi_tlb_issue_range(unsigned int asid, const struct asahi_range *range)
{
	u64 pages = (range->end - range->start) >> AGX_PAGE_SHIFT;
	u64 va = range->start;
	struct asahi_tlbi tlbi;

	while (asahi_tlb_next(&va, &pages, asid, &tlbi))
		asahi_tlbi_issue(&tlbi);
}

/**
 * asahi_tlb_invalidate_ranges() - invalidate the translations of some pages
 * @asid: context; global pages are invalidated in all of them
 * @ranges: addresses, page aligned
 *
 * Waits once for all of them. Any context.
 */
void asahi_tlb_invalidate_ranges(unsigned int asid, const struct asahi_ranges *ranges)
{
	KUNIT_STATIC_STUB_REDIRECT(asahi_tlb_invalidate_ranges, asid, ranges);
	guard(preempt)();
	asahi_tlbi_sync();
	for (unsigned int i = 0; i < ranges->count; i++)
		asahi_tlb_issue_range(asid, &ranges->range[i]);
	asahi_tlbi_sync();
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tlb_invalidate_ranges);
