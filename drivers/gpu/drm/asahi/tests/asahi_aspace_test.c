// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of address spaces: what happens in which order when translations go.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/static_stub.h>
#include <kunit/test.h>

#include <linux/sizes.h>

#include <agx/agx_uat.h>

#include "asahi_aspace.h"
#include "asahi_device.h"
#include "asahi_hw.h"
#include "asahi_tlb.h"
#include "asahi_uat.h"

#define VA	(AGX_VA_USER_START + SZ_32M)
#define KVA	AGX_VA_PRIVATE_START
#define MEM	0x80000000ULL
#define PAGE	AGX_PAGE_SIZE

/**
 * struct step - one thing that was asked of TLBs or firmware
 * @what: which
 * @asid: context
 * @va: first address, of the first range
 * @size: bytes, of the first range
 * @ranges: all ranges
 * @pte: how @va was translated at that moment
 * @tables: memory of the address space's tables at that moment
 */
struct step {
	enum {
		INVALIDATE_ALL = 1,
		INVALIDATE_ASID,
		INVALIDATE_RANGES,
		FLUSH,
	} what;
	unsigned int asid;
	u64 va;
	u64 size;
	struct asahi_ranges ranges;
	u64 pte;
	unsigned int tables;
};

/**
 * struct fake - TLBs and firmware
 * @adev: device
 * @as: address space
 * @root: root of the kernel half
 * @watch: address whose translation is noted at each step
 * @flush_error: what a flush gives
 * @step: what was asked for
 * @count: length of @step
 */
struct fake {
	struct asahi_device adev;
	struct asahi_aspace as;
	__le64 root[AGX_UAT_L1_ENTRIES];
	u64 watch;
	int flush_error;
	struct step step[16];
	unsigned int count;
};

static struct fake *the_fake(void)
{
	return kunit_get_current_test()->priv;
}

static void note(struct step step)
{
	struct fake *fake = the_fake();

	step.pte = asahi_pgtable_lookup(&fake->as.pgt, fake->watch);
	step.tables = fake->as.pgt.pages;
	if (fake->count < ARRAY_SIZE(fake->step))
		fake->step[fake->count++] = step;
}

static void fake_all(void)
{
	note((struct step){ .what = INVALIDATE_ALL });
}

static void fake_asid(unsigned int asid)
{
	note((struct step){ .what = INVALIDATE_ASID, .asid = asid });
}

static void fake_ranges(unsigned int asid, const struct asahi_ranges *ranges)
{
	note((struct step){
		.what = INVALIDATE_RANGES,
		.asid = asid,
		.va = ranges->range[0].start,
		.size = ranges->range[0].end - ranges->range[0].start,
		.ranges = *ranges,
	});
}

static int fake_flush(struct asahi_aspace *as, u64 va, u64 size)
{
	note((struct step){ .what = FLUSH, .va = va, .size = size });
	return the_fake()->flush_error;
}

static int aspace_test_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-aspace");

	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	fake->adev.drm.dev = dev;
	fake->adev.hw = &asahi_hw_t8103;
	test->priv = fake;

	kunit_activate_static_stub(test, asahi_tlb_invalidate_all, fake_all);
	kunit_activate_static_stub(test, asahi_tlb_invalidate_asid, fake_asid);
	kunit_activate_static_stub(test, asahi_tlb_invalidate_ranges, fake_ranges);
	kunit_activate_static_stub(test, asahi_uat_fw_flush, fake_flush);
	return 0;
}

static struct fake *make_user(struct kunit *test, int slot)
{
	struct fake *fake = test->priv;

	KUNIT_ASSERT_EQ(test, asahi_aspace_init(&fake->as, &fake->adev), 0);
	KUNIT_EXPECT_EQ(test, fake->as.slot, ASAHI_ASPACE_NO_SLOT);
	fake->as.slot = slot;
	fake->watch = VA;
	return fake;
}

static struct fake *make_kernel(struct kunit *test)
{
	struct fake *fake = test->priv;

	asahi_aspace_init_kernel(&fake->as, &fake->adev, fake->root, 0);
	fake->watch = KVA;
	return fake;
}

static void end_test(struct fake *fake)
{
	fake->as.slot = ASAHI_ASPACE_NO_SLOT;
	asahi_aspace_cut(&fake->as);
	asahi_aspace_fini(&fake->as);
}

static u64 attribute(u64 pte)
{
	return (pte & AGX_PTE_ATTR_MASK) >> AGX_PTE_ATTR_SHIFT;
}

/*
 * Uncached, invalidated, flushed, unmapped, invalidated; and only then does the
 * caller get the memory back.
 */
static void check_cached_unmap(struct kunit *test, struct fake *fake, u64 va,
			       enum asahi_prot prot, int error)
{
	KUNIT_ASSERT_EQ(test, asahi_aspace_map(&fake->as, va, MEM, 2 * PAGE, prot), 0);
	/* Nothing is to be invalidated where nothing was. */
	KUNIT_EXPECT_EQ(test, fake->count, 0);
	KUNIT_EXPECT_EQ(test, attribute(asahi_pgtable_lookup(&fake->as.pgt, va)),
			AGX_PTE_ATTR_CACHED);

	fake->flush_error = error;
	KUNIT_EXPECT_EQ(test, asahi_aspace_unmap(&fake->as, va, 2 * PAGE, prot), error);
	KUNIT_ASSERT_EQ(test, fake->count, 3);

	KUNIT_EXPECT_EQ(test, fake->step[0].what, INVALIDATE_RANGES);
	KUNIT_EXPECT_EQ(test, fake->step[0].va, va);
	KUNIT_EXPECT_EQ(test, fake->step[0].size, 2 * PAGE);
	KUNIT_EXPECT_EQ(test, attribute(fake->step[0].pte), AGX_PTE_ATTR_SHARED);

	KUNIT_EXPECT_EQ(test, fake->step[1].what, FLUSH);
	KUNIT_EXPECT_EQ(test, fake->step[1].va, va);
	KUNIT_EXPECT_EQ(test, fake->step[1].size, 2 * PAGE);
	KUNIT_EXPECT_NE(test, fake->step[1].pte, 0);
	KUNIT_EXPECT_EQ(test, attribute(fake->step[1].pte), AGX_PTE_ATTR_SHARED);

	/* The table goes as well, but for the kernel half's. */
	KUNIT_EXPECT_EQ(test, fake->step[2].what,
			fake->as.global ? INVALIDATE_RANGES : INVALIDATE_ASID);
	KUNIT_EXPECT_EQ(test, fake->step[2].pte, 0);
	KUNIT_EXPECT_EQ(test, asahi_pgtable_lookup(&fake->as.pgt, va), 0);
}

static void cached_pages_of_vms(struct kunit *test)
{
	struct fake *fake = make_user(test, 5);

	check_cached_unmap(test, fake, VA, ASAHI_PROT_GPU_FW_PRIV_RW, 0);
	KUNIT_EXPECT_EQ(test, fake->step[0].asid, 5);
	KUNIT_EXPECT_EQ(test, fake->step[2].asid, 5);
	end_test(fake);
}

static void cached_pages_of_the_kernel(struct kunit *test)
{
	struct fake *fake = make_kernel(test);

	check_cached_unmap(test, fake, KVA, ASAHI_PROT_FW_PRIV_RW, 0);
	KUNIT_EXPECT_EQ(test, fake->step[0].asid, 0);
	KUNIT_EXPECT_EQ(test, fake->step[2].va, KVA);
	KUNIT_EXPECT_EQ(test, fake->step[2].size, 2 * PAGE);
	end_test(fake);
}

/* The translation goes all the same; that the memory may not is for the caller. */
static void failed_flush(struct kunit *test)
{
	struct fake *fake = make_user(test, 5);

	check_cached_unmap(test, fake, VA, ASAHI_PROT_GPU_FW_PRIV_RW, -EIO);
	end_test(fake);
}

static void uncached_pages(struct kunit *test)
{
	struct fake *fake = make_user(test, 9);

	KUNIT_ASSERT_EQ(test, asahi_aspace_map(&fake->as, VA, MEM, 3 * PAGE,
					       ASAHI_PROT_GPU_SHARED_RW), 0);
	KUNIT_EXPECT_EQ(test, asahi_aspace_unmap(&fake->as, VA, PAGE,
						 ASAHI_PROT_GPU_SHARED_RW), 0);
	KUNIT_ASSERT_EQ(test, fake->count, 1);
	KUNIT_EXPECT_EQ(test, fake->step[0].what, INVALIDATE_RANGES);
	KUNIT_EXPECT_EQ(test, fake->step[0].asid, 9);
	KUNIT_EXPECT_EQ(test, fake->step[0].va, VA);
	KUNIT_EXPECT_EQ(test, fake->step[0].size, PAGE);
	KUNIT_EXPECT_EQ(test, fake->step[0].pte, 0);
	end_test(fake);
}

/* An address space without a context has nothing cached. */
static void no_context(struct kunit *test)
{
	struct fake *fake = make_user(test, ASAHI_ASPACE_NO_SLOT);

	KUNIT_ASSERT_EQ(test, asahi_aspace_map(&fake->as, VA, MEM, PAGE,
					       ASAHI_PROT_GPU_SHARED_RW), 0);
	KUNIT_EXPECT_EQ(test, asahi_aspace_unmap(&fake->as, VA, PAGE,
						 ASAHI_PROT_GPU_SHARED_RW), 0);
	KUNIT_EXPECT_EQ(test, fake->count, 0);
	KUNIT_EXPECT_EQ(test, asahi_pgtable_lookup(&fake->as.pgt, VA), 0);
	end_test(fake);
}

/* Unmaps every other page, @count of them, in one transaction. */
static void unmap_every_other(struct fake *fake, u64 va, unsigned int count)
{
	struct asahi_pt_pool pool;

	mutex_lock(&fake->as.lock);
	asahi_aspace_begin(&fake->as, &pool);
	for (unsigned int i = 0; i < count; i++)
		asahi_pgtable_unmap(&fake->as.pgt, &pool, va + 2 * i * PAGE, PAGE);
	asahi_aspace_end(&fake->as, &pool);
	mutex_unlock(&fake->as.lock);
}

/* The end of a transaction invalidates what it has changed, once, and nothing else. */
static void transactions(struct kunit *test)
{
	struct fake *fake = make_user(test, 3);

	KUNIT_ASSERT_EQ(test, asahi_aspace_map(&fake->as, VA, MEM, 4 * PAGE,
					       ASAHI_PROT_GPU_SHARED_RW), 0);

	unmap_every_other(fake, VA, 2);
	KUNIT_ASSERT_EQ(test, fake->count, 1);
	KUNIT_EXPECT_EQ(test, fake->step[0].what, INVALIDATE_RANGES);
	KUNIT_EXPECT_EQ(test, fake->step[0].asid, 3);
	KUNIT_ASSERT_EQ(test, fake->step[0].ranges.count, 2);
	for (unsigned int i = 0; i < 2; i++) {
		const struct asahi_range *range = &fake->step[0].ranges.range[i];

		KUNIT_EXPECT_EQ(test, range->start, VA + 2 * i * PAGE);
		KUNIT_EXPECT_EQ(test, range->end, VA + (2 * i + 1) * PAGE);
	}
	KUNIT_EXPECT_EQ(test, fake->step[0].pte, 0);
	end_test(fake);
}

/* From some number of places on it is the context. */
static void many_places(struct kunit *test)
{
	const unsigned int most = ASAHI_RANGES_MAX;
	struct fake *fake = make_user(test, 6);

	KUNIT_ASSERT_EQ(test, asahi_aspace_map(&fake->as, VA, MEM, 8 * most * PAGE,
					       ASAHI_PROT_GPU_SHARED_RW), 0);

	unmap_every_other(fake, VA, most);
	KUNIT_ASSERT_EQ(test, fake->count, 1);
	KUNIT_EXPECT_EQ(test, fake->step[0].what, INVALIDATE_RANGES);
	KUNIT_EXPECT_EQ(test, fake->step[0].ranges.count, most);

	unmap_every_other(fake, VA + 2 * most * PAGE, most + 1);
	KUNIT_ASSERT_EQ(test, fake->count, 2);
	KUNIT_EXPECT_EQ(test, fake->step[1].what, INVALIDATE_ASID);
	KUNIT_EXPECT_EQ(test, fake->step[1].asid, 6);
	end_test(fake);
}

/* The context would leave the kernel half's pages where they are. */
static void many_places_of_the_kernel(struct kunit *test)
{
	const u64 size = (2 * ASAHI_RANGES_MAX + 1) * PAGE;
	struct fake *fake = make_kernel(test);

	KUNIT_ASSERT_EQ(test, asahi_aspace_map(&fake->as, KVA, MEM, size,
					       ASAHI_PROT_FW_SHARED_RW), 0);

	unmap_every_other(fake, KVA, ASAHI_RANGES_MAX + 1);
	KUNIT_ASSERT_EQ(test, fake->count, 1);
	KUNIT_EXPECT_EQ(test, fake->step[0].what, INVALIDATE_RANGES);
	KUNIT_EXPECT_EQ(test, fake->step[0].va, KVA);
	KUNIT_EXPECT_EQ(test, fake->step[0].size, size);
	end_test(fake);
}

/* What the next flush names is what has changed since the one before. */
static void flush_within_a_transaction(struct kunit *test)
{
	struct fake *fake = make_user(test, 3);
	struct asahi_pt_pool pool;

	KUNIT_ASSERT_EQ(test, asahi_aspace_map(&fake->as, VA, MEM, 4 * PAGE,
					       ASAHI_PROT_GPU_SHARED_RW), 0);
	mutex_lock(&fake->as.lock);
	asahi_aspace_begin(&fake->as, &pool);
	asahi_pgtable_unmap(&fake->as.pgt, &pool, VA, PAGE);
	asahi_aspace_flush(&fake->as, &pool);
	KUNIT_EXPECT_EQ(test, fake->count, 1);
	asahi_aspace_flush(&fake->as, &pool);
	KUNIT_EXPECT_EQ(test, fake->count, 1);
	asahi_pgtable_unmap(&fake->as.pgt, &pool, VA + 3 * PAGE, PAGE);
	asahi_aspace_end(&fake->as, &pool);
	mutex_unlock(&fake->as.lock);

	KUNIT_ASSERT_EQ(test, fake->count, 2);
	KUNIT_EXPECT_EQ(test, fake->step[1].ranges.count, 1);
	KUNIT_EXPECT_EQ(test, fake->step[1].va, VA + 3 * PAGE);
	KUNIT_EXPECT_EQ(test, fake->step[1].size, PAGE);
	end_test(fake);
}

/* A walk that is under way may still use tables that nothing leads to any more. */
static void tables_stay_until_invalidated(struct kunit *test)
{
	struct fake *fake = make_user(test, 4);
	unsigned int tables;

	KUNIT_ASSERT_EQ(test, asahi_aspace_map(&fake->as, VA, MEM, PAGE,
					       ASAHI_PROT_GPU_SHARED_RW), 0);
	tables = fake->as.pgt.pages;
	KUNIT_EXPECT_GT(test, tables, 0);
	KUNIT_EXPECT_EQ(test, asahi_aspace_unmap(&fake->as, VA, PAGE,
						 ASAHI_PROT_GPU_SHARED_RW), 0);
	KUNIT_ASSERT_EQ(test, fake->count, 1);
	KUNIT_EXPECT_EQ(test, fake->step[0].what, INVALIDATE_ASID);
	KUNIT_EXPECT_EQ(test, fake->step[0].tables, tables);
	KUNIT_EXPECT_EQ(test, fake->as.pgt.pages, 0);
	end_test(fake);
}

/* To take one out would be to invalidate everything, of all processes, too. */
static void tables_of_the_kernel_stay(struct kunit *test)
{
	struct fake *fake = make_kernel(test);
	unsigned int tables;

	for (unsigned int i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, asahi_aspace_map(&fake->as, KVA + SZ_32M - PAGE, MEM,
						       SZ_64M, ASAHI_PROT_FW_SHARED_RW), 0);
		tables = fake->as.pgt.pages;
		KUNIT_EXPECT_EQ(test, tables, 4);
		KUNIT_EXPECT_EQ(test, asahi_aspace_unmap(&fake->as, KVA + SZ_32M - PAGE, SZ_64M,
							 ASAHI_PROT_FW_SHARED_RW), 0);
		KUNIT_EXPECT_EQ(test, fake->as.pgt.pages, tables);
	}

	KUNIT_ASSERT_EQ(test, fake->count, 3);
	for (unsigned int i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, fake->step[i].what, INVALIDATE_RANGES);
		KUNIT_EXPECT_EQ(test, fake->step[i].ranges.count, 1);
		KUNIT_EXPECT_EQ(test, fake->step[i].size, SZ_64M);
	}
	end_test(fake);
	KUNIT_EXPECT_EQ(test, fake->as.pgt.pages, 0);
}

static void cut_off(struct kunit *test)
{
	struct fake *fake = make_user(test, 3);

	KUNIT_ASSERT_EQ(test, asahi_aspace_map(&fake->as, VA, MEM, PAGE,
					       ASAHI_PROT_GPU_SHARED_RW), 0);
	KUNIT_EXPECT_EQ(test, asahi_aspace_table_bytes(&fake->as), 3 * PAGE);
	asahi_aspace_cut(&fake->as);
	KUNIT_EXPECT_EQ(test, asahi_aspace_map(&fake->as, VA + PAGE, MEM, PAGE,
					       ASAHI_PROT_GPU_SHARED_RW), -ENODEV);
	KUNIT_EXPECT_EQ(test, asahi_aspace_unmap(&fake->as, VA, PAGE,
						 ASAHI_PROT_GPU_SHARED_RW), 0);
	KUNIT_EXPECT_EQ(test, fake->count, 0);
	asahi_aspace_free_tables(&fake->as);
	KUNIT_EXPECT_EQ(test, asahi_aspace_table_bytes(&fake->as), 0);
	end_test(fake);
}

static struct kunit_case aspace_cases[] = {
	KUNIT_CASE(cached_pages_of_vms),
	KUNIT_CASE(cached_pages_of_the_kernel),
	KUNIT_CASE(failed_flush),
	KUNIT_CASE(uncached_pages),
	KUNIT_CASE(no_context),
	KUNIT_CASE(transactions),
	KUNIT_CASE(many_places),
	KUNIT_CASE(many_places_of_the_kernel),
	KUNIT_CASE(flush_within_a_transaction),
	KUNIT_CASE(tables_stay_until_invalidated),
	KUNIT_CASE(tables_of_the_kernel_stay),
	KUNIT_CASE(cut_off),
	{}
};

static struct kunit_suite aspace_suite = {
	.name = "asahi_aspace",
	.init = aspace_test_init,
	.test_cases = aspace_cases,
};

kunit_test_suite(aspace_suite);
