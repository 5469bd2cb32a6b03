// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of memory for timestamps: where it is mapped, how long, and how much a client
 * may have.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/static_stub.h>
#include <kunit/test.h>

#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sizes.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>

#include <agx/agx_uat.h>

#include "asahi_block.h"
#include "asahi_client.h"
#include "asahi_device.h"
#include "asahi_gem.h"
#include "asahi_gem_priv.h"
#include "asahi_hw.h"
#include "asahi_rest_test.h"
#include "asahi_timestamps.h"
#include "asahi_tlb.h"
#include "asahi_user_times.h"

#define PAGE	AGX_PAGE_SIZE
#define START	AGX_VA_TIMESTAMP_START
#define WINDOW	(AGX_VA_TIMESTAMP_END - AGX_VA_TIMESTAMP_START)

/**
 * struct fixture - a device with a kernel half, and two clients
 * @adev: device
 * @root: root of the kernel half
 * @gem: memory, 1 MiB
 * @client: the clients
 * @invalidated: how often TLBs were told to forget something
 */
struct fixture {
	struct asahi_device *adev;
	__le64 root[AGX_UAT_L1_ENTRIES];
	struct drm_gem_object *gem;
	struct asahi_client *client[2];
	unsigned int invalidated;
};

static const struct file_operations timestamps_test_fops = {
	.owner = THIS_MODULE,
};

static const struct drm_driver timestamps_test_driver = {
	.driver_features = DRIVER_GEM,
	.fops = &timestamps_test_fops,
	.name = "asahi-object-test",
	.desc = "objects for tests",
	.major = 1,
};

static void count_invalidation(void)
{
	struct fixture *f = kunit_get_current_test()->priv;

	f->invalidated++;
}

/* That would take the translations of all processes, too. */
static void fake_all(void)
{
	KUNIT_FAIL(kunit_get_current_test(), "everything is invalidated");
}

static void fake_ranges(unsigned int asid, const struct asahi_ranges *ranges)
{
	count_invalidation();
}

static int timestamps_test_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct device_dma_parameters *parms = kunit_kzalloc(test, sizeof(*parms), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-object");

	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)), 0);
	KUNIT_ASSERT_NOT_NULL(test, parms);
	dev->dma_parms = parms;
	dma_set_max_seg_size(dev, UINT_MAX);
	f->adev = devm_drm_dev_alloc(dev, &timestamps_test_driver, struct asahi_device, drm);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->adev);
	f->adev->hw = &asahi_hw_t8103;
	test->priv = f;

	kunit_activate_static_stub(test, asahi_tlb_invalidate_all, fake_all);
	kunit_activate_static_stub(test, asahi_tlb_invalidate_ranges, fake_ranges);
	KUNIT_ASSERT_EQ(test, asahi_block_gem.init(f->adev), 0);
	KUNIT_ASSERT_EQ(test, asahi_block_timestamps.init(f->adev), 0);
	asahi_aspace_init_kernel(&f->adev->kernel_as, f->adev, f->root, 0);

	f->gem = asahi_gem_alloc(f->adev, SZ_1M, false, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->gem);
	for (unsigned int i = 0; i < ARRAY_SIZE(f->client); i++) {
		f->client[i] = asahi_client_create(i);
		KUNIT_ASSERT_NOT_NULL(test, f->client[i]);
	}

	return 0;
}

static void timestamps_test_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	for (unsigned int i = 0; i < ARRAY_SIZE(f->client); i++)
		asahi_client_put(f->client[i]);
	drm_gem_object_put(f->gem);
	expect_at_rest(test, &asahi_block_timestamps, f->adev, ASAHI_REST_CLOSED);
	expect_at_rest(test, &asahi_block_gem, f->adev, ASAHI_REST_IDLE | ASAHI_REST_CLOSED);
	asahi_aspace_cut(&f->adev->kernel_as);
	asahi_aspace_fini(&f->adev->kernel_as);
	asahi_block_timestamps.fini(f->adev);
	asahi_block_gem.fini(f->adev);
}

static struct asahi_timestamps *create(struct fixture *f, unsigned int client, u64 offset, u64 size)
{
	return asahi_timestamps_create(f->adev, f->client[client], f->gem, offset, size);
}

static u64 lookup(struct fixture *f, u64 va)
{
	return asahi_pgtable_lookup(&f->adev->kernel_as.pgt, va);
}

/* Each page of the range, and nothing else, for nobody but the firmware. */
static void mapping(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct asahi_timestamps *object = create(f, 0, 3 * PAGE, 5 * PAGE);
	struct asahi_gem_piece piece;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, object);
	for (unsigned int i = 0; i < 5; i++) {
		u64 pte = lookup(f, START + i * PAGE), offset = (3 + i) * PAGE;

		asahi_gem_find(f->gem, offset, &piece);
		KUNIT_EXPECT_EQ(test, pte & AGX_TTBR_ADDR_MASK,
				sg_dma_address(piece.sg) + offset - piece.start);
		KUNIT_EXPECT_EQ(test, pte & AGX_PTE_PROT_MASK, AGX_PROT_FW_SHARED_RW);
	}
	KUNIT_EXPECT_EQ(test, lookup(f, START + 5 * PAGE), 0);
	KUNIT_EXPECT_EQ(test, f->invalidated, 0);
	KUNIT_EXPECT_EQ(test, to_asahi_gem(f->gem)->pins, 1);

	asahi_timestamps_put(object);
	KUNIT_EXPECT_EQ(test, to_asahi_gem(f->gem)->pins, 0);
	KUNIT_EXPECT_NE(test, f->invalidated, 0);
	for (unsigned int i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, lookup(f, START + i * PAGE), 0);
}

/* A job's reference keeps mapping, addresses and memory. */
static void lifetime(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct asahi_user_times job, args = { };
	unsigned int references = kref_read(&f->gem->refcount);
	struct asahi_timestamps *object = create(f, 0, 0, PAGE);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, object);
	args.end = (struct asahi_user_time) { .object = object, .va = START };
	job = asahi_user_times_get(&args);
	KUNIT_EXPECT_PTR_EQ(test, job.end.object, object);
	KUNIT_EXPECT_EQ(test, job.end.va, START);
	asahi_user_times_put(&args);
	KUNIT_EXPECT_NULL(test, args.end.object);
	KUNIT_EXPECT_NE(test, lookup(f, START), 0);
	KUNIT_EXPECT_EQ(test, kref_read(&f->gem->refcount), references + 1);

	asahi_user_times_put(&job);
	KUNIT_EXPECT_EQ(test, lookup(f, START), 0);
	KUNIT_EXPECT_EQ(test, kref_read(&f->gem->refcount), references);
	asahi_user_times_put(&job);
}

/* Who cannot be mapped takes no addresses. */
static void after_unplug(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct asahi_timestamps *object = create(f, 0, 0, PAGE);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, object);
	asahi_aspace_cut(&f->adev->kernel_as);
	KUNIT_EXPECT_PTR_EQ(test, create(f, 0, 0, PAGE), ERR_PTR(-ENODEV));
	asahi_timestamps_put(object);
	KUNIT_EXPECT_EQ(test, f->invalidated, 0);
}

/* A client gets what it leaves to others, and no more; holding on counts. */
static void limits(struct kunit *test)
{
	struct asahi_timestamps *object[WINDOW / SZ_1M], *other[WINDOW / SZ_1M];
	struct fixture *f = test->priv;
	unsigned int count = 0, others = 0, mapped = 0;

	while (count < ARRAY_SIZE(object) && !IS_ERR(object[count] = create(f, 0, 0, SZ_1M)))
		count++;
	KUNIT_ASSERT_EQ(test, count, WINDOW / SZ_1M / 2);
	KUNIT_EXPECT_PTR_EQ(test, object[count], ERR_PTR(-ENOSPC));
	KUNIT_EXPECT_PTR_EQ(test, create(f, 0, 0, PAGE), ERR_PTR(-ENOSPC));

	while (others < ARRAY_SIZE(other) && !IS_ERR(other[others] = create(f, 1, 0, SZ_1M)))
		others++;
	KUNIT_EXPECT_EQ(test, others, WINDOW / SZ_1M / 4);

	/* What the first one gives back, both can have a part of. */
	while (count)
		asahi_timestamps_put(object[--count]);
	while (count < ARRAY_SIZE(object) && !IS_ERR(object[count] = create(f, 0, 0, SZ_1M)))
		count++;
	KUNIT_EXPECT_EQ(test, count, WINDOW / SZ_1M * 3 / 8);

	while (count)
		asahi_timestamps_put(object[--count]);
	while (others)
		asahi_timestamps_put(other[--others]);
	for (u64 va = START; va < START + WINDOW; va += PAGE)
		mapped += lookup(f, va) != 0;
	KUNIT_EXPECT_EQ(test, mapped, 0);
}

static struct kunit_case timestamps_cases[] = {
	KUNIT_CASE(mapping),
	KUNIT_CASE(lifetime),
	KUNIT_CASE(after_unplug),
	KUNIT_CASE(limits),
	{}
};

static struct kunit_suite timestamps_suite = {
	.name = "asahi_timestamps",
	.init = timestamps_test_init,
	.exit = timestamps_test_exit,
	.test_cases = timestamps_cases,
};

kunit_test_suite(timestamps_suite);
