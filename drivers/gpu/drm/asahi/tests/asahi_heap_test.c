// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the heaps, on a pretended MMU.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/bitmap.h>
#include <linux/dma-mapping.h>
#include <linux/sizes.h>

#include <agx/agx_uat.h>

#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_heap.h"

#define START		AGX_VA_PRIVATE_START
#define PAGES		2048
#define END		(START + PAGES * AGX_PAGE_SIZE)

/**
 * struct fake - a device and its MMU
 * @test: test
 * @adev: device, of which only the heaps exist
 * @dma: DMA address of each page, 0 for none
 * @flushes: how often a flush was asked for
 * @unmaps: how often something was unmapped
 * @map_budget: mappings until the next one fails
 * @flush_error: what a flush gives
 * @blocks: count of blocks when the test began
 * @nodes: count of allocations when the test began
 */
struct fake {
	struct kunit *test;
	struct asahi_device *adev;
	dma_addr_t dma[PAGES];
	unsigned int flushes;
	unsigned int unmaps;
	unsigned int map_budget;
	int flush_error;
	int blocks;
	int nodes;
};

static int fake_map(void *priv, u64 va, dma_addr_t pa, u64 size, enum asahi_prot prot)
{
	struct fake *fake = priv;
	u64 page;

	KUNIT_EXPECT_TRUE(fake->test, IS_ALIGNED(va | pa | size, AGX_PAGE_SIZE));
	KUNIT_EXPECT_EQ(fake->test, prot, ASAHI_PROT_FW_PRIV_RW);
	KUNIT_ASSERT_TRUE(fake->test, va >= START && va + size <= END);

	if (!fake->map_budget)
		return -ENOMEM;
	fake->map_budget--;

	for (page = (va - START) / AGX_PAGE_SIZE; size; size -= AGX_PAGE_SIZE, page++) {
		KUNIT_EXPECT_EQ(fake->test, fake->dma[page], 0);
		fake->dma[page] = pa;
		pa += AGX_PAGE_SIZE;
	}

	return 0;
}

static void fake_unmap(void *priv, u64 va, u64 size, enum asahi_prot prot)
{
	struct fake *fake = priv;
	u64 page;

	fake->unmaps++;
	for (page = (va - START) / AGX_PAGE_SIZE; size; size -= AGX_PAGE_SIZE, page++) {
		KUNIT_EXPECT_NE(fake->test, fake->dma[page], 0);
		fake->dma[page] = 0;
	}
}

static int fake_flush(void *priv)
{
	struct fake *fake = priv;

	fake->flushes++;
	return fake->flush_error;
}

static const struct asahi_heap_mmu fake_mmu = {
	.map = fake_map,
	.unmap = fake_unmap,
};

static const struct asahi_heap_mmu fake_cached_mmu = {
	.map = fake_map,
	.unmap = fake_unmap,
	.flush = fake_flush,
};

static int heap_test_init(struct kunit *test)
{
	struct device *dev;
	struct fake *fake;

	fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->adev = kunit_kzalloc(test, sizeof(*fake->adev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->adev);

	dev = kunit_device_register(test, "asahi-heap");
	KUNIT_ASSERT_FALSE(test, IS_ERR(dev));
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)), 0);

	fake->test = test;
	fake->adev->drm.dev = dev;
	fake->map_budget = UINT_MAX;
	fake->blocks = atomic_read(&asahi_counts[ASAHI_COUNT_HEAP_BLOCK]);
	fake->nodes = atomic_read(&asahi_counts[ASAHI_COUNT_HEAP_NODE]);
	asahi_heap_list_init(&fake->adev->heaps);
	test->priv = fake;
	return 0;
}

static struct asahi_heap *make_heap(struct kunit *test, const struct asahi_heap_mmu *mmu)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap;

	heap = asahi_heap_create(fake->adev, "test", START, END, ASAHI_PROT_FW_PRIV_RW, mmu, fake);
	KUNIT_ASSERT_FALSE(test, IS_ERR(heap));
	return heap;
}

static void destroy_heap(struct kunit *test, struct asahi_heap *heap)
{
	struct fake *fake = test->priv;

	asahi_heap_destroy(heap);
	KUNIT_EXPECT_EQ(test, atomic_read(&asahi_counts[ASAHI_COUNT_HEAP_BLOCK]), fake->blocks);
	KUNIT_EXPECT_EQ(test, atomic_read(&asahi_counts[ASAHI_COUNT_HEAP_NODE]), fake->nodes);
}

static bool anything_mapped(struct fake *fake)
{
	return memchr_inv(fake->dma, 0, sizeof(fake->dma));
}

static void allocations_are_apart(struct kunit *test)
{
	static const size_t sizes[] = { 1, 0x7f, 0x80, 0x81, 0x4000, 0x12394, 0x20, SZ_64K };
	struct asahi_fwbuf bufs[ARRAY_SIZE(sizes)];
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_heap(test, &fake_mmu);
	unsigned int i, j;
	u64 last;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, sizes[i], 0, &bufs[i]), 0);
		KUNIT_EXPECT_EQ(test, bufs[i].size, sizes[i]);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED(bufs[i].va, ASAHI_HEAP_ALIGN));
		KUNIT_EXPECT_TRUE(test, bufs[i].va >= START && bufs[i].va + sizes[i] <= END);
		KUNIT_EXPECT_TRUE(test, !memchr_inv(bufs[i].map, 0, sizes[i]));
		/* The last byte is mapped, at the same place in its page. */
		last = (bufs[i].va + sizes[i] - 1 - START) / AGX_PAGE_SIZE;
		KUNIT_EXPECT_NE(test, fake->dma[last], 0);
		KUNIT_EXPECT_EQ(test, bufs[i].va & AGX_PAGE_MASK,
				(u64)(uintptr_t)bufs[i].map & AGX_PAGE_MASK);
		memset(bufs[i].map, 'a' + i, sizes[i]);
	}

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		KUNIT_EXPECT_TRUE(test, !memchr_inv(bufs[i].map, 'a' + i, sizes[i]));
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_FALSE(test, bufs[i].va < bufs[j].va + sizes[j] &&
					   bufs[j].va < bufs[i].va + sizes[i]);
		asahi_heap_free(&bufs[i]);
		KUNIT_EXPECT_NULL(test, bufs[i].node);
		asahi_heap_free(&bufs[i]);
	}

	destroy_heap(test, heap);
	KUNIT_EXPECT_FALSE(test, anything_mapped(fake));
}

static void alignment_is_kept(struct kunit *test)
{
	static const size_t aligns[] = { SZ_256, SZ_4K, AGX_PAGE_SIZE, SZ_32K, SZ_128K };
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_heap(test, &fake_mmu);
	struct asahi_fwbuf small, buf;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(aligns); i++) {
		KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, 1, 0, &small), 0);
		KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_32K, aligns[i], &buf), 0);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED(buf.va, aligns[i]));
		if (aligns[i] >= AGX_PAGE_SIZE)
			KUNIT_EXPECT_EQ(test, asahi_heap_dma_addr(&buf),
					fake->dma[(buf.va - START) / AGX_PAGE_SIZE]);
		asahi_heap_free(&buf);
		asahi_heap_free(&small);
	}

	destroy_heap(test, heap);
}

static void reuse_is_zeroed(struct kunit *test)
{
	struct asahi_heap *heap = make_heap(test, &fake_mmu);
	struct asahi_fwbuf buf;
	u64 va;

	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_1K, 0, &buf), 0);
	va = buf.va;
	memset(buf.map, 0xa5, SZ_1K);
	asahi_heap_free(&buf);

	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_1K, 0, &buf), 0);
	KUNIT_EXPECT_EQ(test, buf.va, va);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(buf.map, 0, SZ_1K));
	asahi_heap_free(&buf);

	destroy_heap(test, heap);
}

/* Takes and frees large pieces until a flush; returns how many were unlike @va. */
static unsigned int churn(struct kunit *test, struct asahi_heap *heap, u64 va, unsigned int count)
{
	unsigned int fresh = 0;
	struct asahi_fwbuf buf;

	while (count--) {
		KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_512K, 0, &buf), 0);
		fresh += buf.va != va;
		asahi_heap_free(&buf);
	}

	return fresh;
}

static void cached_memory_waits_for_flush(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_heap(test, &fake_cached_mmu);
	struct asahi_fwbuf buf;
	u64 va;

	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_512K, 0, &buf), 0);
	va = buf.va;
	asahi_heap_free(&buf);

	/* 4 MiB of garbage are tolerated; nothing of it may be handed out. */
	KUNIT_EXPECT_EQ(test, churn(test, heap, va, 7), 7);
	KUNIT_EXPECT_EQ(test, fake->flushes, 0);
	KUNIT_EXPECT_GE(test, asahi_heap_size(heap), SZ_4M);

	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_512K, 0, &buf), 0);
	KUNIT_EXPECT_EQ(test, fake->flushes, 1);
	/* All but what is in use, and one in reserve, has been given back. */
	KUNIT_EXPECT_LE(test, asahi_heap_size(heap), 2 * SZ_512K);
	asahi_heap_free(&buf);

	destroy_heap(test, heap);
	KUNIT_EXPECT_FALSE(test, anything_mapped(fake));
}

static void failed_flush_frees_nothing(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_heap(test, &fake_cached_mmu);

	fake->flush_error = -ETIMEDOUT;
	churn(test, heap, 0, 12);
	KUNIT_EXPECT_GE(test, fake->flushes, 1);
	KUNIT_EXPECT_GE(test, asahi_heap_size(heap), 12 * SZ_512K);

	fake->flush_error = 0;
	churn(test, heap, 0, 1);
	KUNIT_EXPECT_LE(test, asahi_heap_size(heap), 2 * SZ_512K);
	destroy_heap(test, heap);
}

static void many_small_ones_flush_too(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_heap(test, &fake_cached_mmu);
	struct asahi_fwbuf buf;
	unsigned int i;

	for (i = 0; i < 1025; i++) {
		KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, 1, 0, &buf), 0);
		asahi_heap_free(&buf);
	}
	KUNIT_EXPECT_EQ(test, fake->flushes, 1);

	destroy_heap(test, heap);
}

static void failed_map_leaves_nothing(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_heap(test, &fake_mmu);
	struct asahi_fwbuf buf;
	unsigned int budget;
	int err = -ENOMEM;

	/* However far it gets: pages come in any number of pieces. */
	for (budget = 0; err && budget < 64; budget++) {
		fake->map_budget = budget;
		err = asahi_heap_alloc(heap, SZ_256K, 0, &buf);
		if (!err)
			break;
		KUNIT_EXPECT_EQ(test, err, -ENOMEM);
		KUNIT_EXPECT_FALSE(test, anything_mapped(fake));
		KUNIT_EXPECT_EQ(test, asahi_heap_size(heap), 0);
	}
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_EXPECT_GE(test, budget, 1);
	asahi_heap_free(&buf);

	destroy_heap(test, heap);
}

static void bad_sizes(struct kunit *test)
{
	struct asahi_heap *heap = make_heap(test, &fake_mmu);
	struct asahi_fwbuf buf;

	KUNIT_EXPECT_EQ(test, asahi_heap_alloc(heap, 0, 0, &buf), -EINVAL);
	KUNIT_EXPECT_EQ(test, asahi_heap_alloc(heap, SIZE_MAX, 0, &buf), -EINVAL);
	KUNIT_EXPECT_EQ(test, asahi_heap_alloc(heap, PAGES * AGX_PAGE_SIZE, 0, &buf), -ENOSPC);
	KUNIT_EXPECT_EQ(test, asahi_heap_size(heap), 0);

	destroy_heap(test, heap);
}

static void unplugged_heaps(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_heap(test, &fake_cached_mmu);
	struct asahi_fwbuf kept, freed, other;

	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_1K, 0, &kept), 0);
	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_1K, 0, &freed), 0);
	asahi_heap_free(&freed);

	asahi_heap_list_unplug(&fake->adev->heaps);
	KUNIT_EXPECT_EQ(test, asahi_heap_alloc(heap, SZ_1K, 0, &other), -ENODEV);
	KUNIT_EXPECT_EQ(test, PTR_ERR(asahi_heap_create(fake->adev, "late", START, END,
							ASAHI_PROT_FW_PRIV_RW, &fake_mmu, fake)),
			-ENODEV);

	/* The kernel still has the memory, and gives it back without the MMU. */
	memset(kept.map, 0, SZ_1K);
	asahi_heap_free(&kept);
	destroy_heap(test, heap);
	KUNIT_EXPECT_EQ(test, fake->unmaps, 0);
	KUNIT_EXPECT_EQ(test, fake->flushes, 0);
}

static struct kunit_case heap_cases[] = {
	KUNIT_CASE(allocations_are_apart),
	KUNIT_CASE(alignment_is_kept),
	KUNIT_CASE(reuse_is_zeroed),
	KUNIT_CASE(cached_memory_waits_for_flush),
	KUNIT_CASE(failed_flush_frees_nothing),
	KUNIT_CASE(many_small_ones_flush_too),
	KUNIT_CASE(failed_map_leaves_nothing),
	KUNIT_CASE(bad_sizes),
	KUNIT_CASE(unplugged_heaps),
	{}
};

static struct kunit_suite heap_suite = {
	.name = "asahi_heap",
	.init = heap_test_init,
	.test_cases = heap_cases,
};

kunit_test_suite(heap_suite);
