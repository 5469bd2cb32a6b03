// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the heaps of the kernel half: who may do what with their memory.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/static_stub.h>
#include <kunit/test.h>

#include <linux/sizes.h>

#include <agx/agx_uat.h>

#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_heap.h"

#define OAS_BITS	42
#define MEM		0x80000000ULL

/* Whom a page lets read and write, and who keeps it in a cache */
#define GPU_R		BIT(0)
#define GPU_W		BIT(1)
#define FW_R		BIT(2)
#define FW_W		BIT(3)
#define FW_CACHED	BIT(4)
#define STRANGE		BIT(5)

/**
 * struct made - a heap that the driver wanted
 * @start: first address
 * @end: end of the addresses
 * @prot: protection
 */
struct made {
	u64 start;
	u64 end;
	enum asahi_prot prot;
};

/**
 * struct fake - the heaps of a device
 * @made: what they are like
 * @count: how many there are
 */
struct fake {
	struct made made[ASAHI_HEAP_COUNT];
	unsigned int count;
};

/* Nothing is allocated. */
static const struct asahi_heap_mmu unused_mmu = {};

static struct asahi_heap *fake_create(struct asahi_device *adev, const char *name, u64 start,
				      u64 end, enum asahi_prot prot)
{
	struct kunit *test = kunit_get_current_test();
	struct fake *fake = test->priv;
	const struct asahi_heap_args args = {
		.name = name,
		.start = start,
		.end = end,
		.prot = prot,
		.mmu = &unused_mmu,
		.block_min = SZ_1M,
	};

	KUNIT_ASSERT_LT(test, fake->count, ASAHI_HEAP_COUNT);
	fake->made[fake->count++] = (struct made){ start, end, prot };

	return asahi_heap_create(adev->heaps, &args);
}

static int heaps_test_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct asahi_device *adev = kunit_kzalloc(test, sizeof(*adev), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-heaps");

	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_NULL(test, adev);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	adev->drm.dev = dev;
	test->priv = fake;

	kunit_activate_static_stub(test, asahi_heap_create_kernel, fake_create);
	KUNIT_ASSERT_EQ(test, asahi_block_heap.init(adev), 0);
	KUNIT_ASSERT_EQ(test, fake->count, ASAHI_HEAP_COUNT);
	asahi_block_heap.unplug(adev);
	asahi_block_heap.fini(adev);

	return 0;
}

/* The entry of a page with that protection, as the MMU finds it. */
static u64 entry_with(struct kunit *test, enum asahi_prot prot)
{
	struct asahi_pgtable *pt = kunit_kzalloc(test, sizeof(*pt), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-heap-entry");
	struct asahi_pt_pool pool;
	u64 entry;

	KUNIT_ASSERT_NOT_NULL(test, pt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	KUNIT_ASSERT_EQ(test, 0, asahi_pgtable_init_user(pt, dev, OAS_BITS));
	asahi_pt_pool_init(&pool, pt);
	KUNIT_ASSERT_EQ(test, 0, asahi_pgtable_reserve(pt, &pool, SZ_32M, AGX_PAGE_SIZE,
						       ASAHI_PT_MAP));
	asahi_pgtable_map(pt, &pool, SZ_32M, MEM, AGX_PAGE_SIZE, prot);
	asahi_pt_pool_settle(&pool);
	asahi_pt_pool_fini(&pool);
	entry = asahi_pgtable_lookup(pt, SZ_32M);
	asahi_pgtable_fini(pt);
	kunit_device_unregister(test, dev);

	return entry;
}

/* What the permission bits of the kernel's pages say; memory of heaps has no others. */
static unsigned int rights_of(u64 entry)
{
	unsigned int cached = entry & AGX_PTE_ATTR_MASK ? 0 : FW_CACHED;
	unsigned int access = (entry & AGX_PTE_AP_MASK) >> AGX_PTE_AP_SHIFT;

	switch (access << 2 | (entry & AGX_PTE_UXN ? 1 << 1 : 0) | (entry & AGX_PTE_PXN ? 1 : 0)) {
	case 0 << 2 | 1 << 1 | 1:
		return GPU_R | GPU_W | FW_R | FW_W | cached;
	case 1 << 2 | 0 << 1 | 0:
		return FW_R | cached;
	case 1 << 2 | 1 << 1 | 0:
		return FW_R | FW_W | cached;
	case 1 << 2 | 1 << 1 | 1:
		return GPU_R | FW_R | FW_W | cached;
	default:
		return STRANGE;
	}
}

/* Commands, which the GPU reads, are nothing that a shader may change. */
static void heaps_have_their_rights(struct kunit *test)
{
	static const unsigned int rights[ASAHI_HEAP_COUNT] = {
		[ASAHI_HEAP_PRIVATE]	= FW_R | FW_W | FW_CACHED,
		[ASAHI_HEAP_GPU_RO]	= FW_R | FW_W | FW_CACHED | GPU_R,
		[ASAHI_HEAP_SHARED]	= FW_R | FW_W,
		[ASAHI_HEAP_SHARED_RO]	= FW_R,
		[ASAHI_HEAP_GPU_SHARED]	= FW_R | FW_W | GPU_R | GPU_W,
	};
	struct fake *fake = test->priv;
	unsigned int i;

	for (i = 0; i < ASAHI_HEAP_COUNT; i++)
		KUNIT_EXPECT_EQ_MSG(test, rights_of(entry_with(test, fake->made[i].prot)),
				    rights[i], "heap %u", i);
}

static void heaps_are_apart(struct kunit *test)
{
	struct fake *fake = test->priv;
	unsigned int i, k;

	for (i = 0; i < ASAHI_HEAP_COUNT; i++) {
		struct made *a = &fake->made[i];

		KUNIT_EXPECT_GE(test, a->start, AGX_VA_PRIVATE_START);
		KUNIT_EXPECT_LT(test, a->start, a->end);
		for (k = 0; k < i; k++) {
			struct made *b = &fake->made[k];

			KUNIT_EXPECT_TRUE_MSG(test, a->end <= b->start || b->end <= a->start,
					      "heaps %u and %u", k, i);
		}
	}
}

static struct kunit_case heaps_test_cases[] = {
	KUNIT_CASE(heaps_have_their_rights),
	KUNIT_CASE(heaps_are_apart),
	{}
};

static struct kunit_suite heaps_test_suite = {
	.name = "asahi_heaps",
	.init = heaps_test_init,
	.test_cases = heaps_test_cases,
};

kunit_test_suite(heaps_test_suite);
