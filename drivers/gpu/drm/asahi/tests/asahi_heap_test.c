// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the heaps, on a pretended MMU.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>

#include <agx/agx_uat.h>

#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_heap.h"
#include "asahi_rest_test.h"

#define START		AGX_VA_PRIVATE_START
#define PAGES		16384
#define SPACE		(PAGES / 2 * AGX_PAGE_SIZE)
#define END		(START + PAGES * AGX_PAGE_SIZE)

#define BLOCK		SZ_1M
#define PIECE		SZ_512K

/**
 * enum happening - what happens to memory, in order
 * @UNMAP: something was unmapped
 * @UNCACHE: something was made uncached
 * @CACHE: something was made cached
 * @FLUSH: the firmware has flushed its cache
 */
enum happening {
	UNMAP = 1,
	UNCACHE,
	CACHE,
	FLUSH,
};

/**
 * struct fake - a device and its MMU
 * @test: test
 * @adev: device, of which only the heaps exist
 * @heaps: its heaps
 * @dma: DMA address of each page, 0 for none
 * @flushes: how often a flush was asked for
 * @unmaps: how often something was unmapped
 * @map_budget: mappings until the next one fails
 * @flush_error: what a flush gives
 * @unmap_error: what unmapping gives
 * @log: what has happened
 * @count: length of @log
 * @before: all counts when the test began
 */
struct fake {
	struct kunit *test;
	struct asahi_device *adev;
	struct asahi_heaps *heaps;
	dma_addr_t dma[PAGES];
	unsigned int flushes;
	unsigned int unmaps;
	unsigned int map_budget;
	int flush_error;
	int unmap_error;
	enum happening log[64];
	unsigned int count;
	int before[ASAHI_COUNT_NUM];
};

/* The flush is asked for by device. */
static struct fake *the_fake;

static void note(struct fake *fake, enum happening what)
{
	if (fake->count < ARRAY_SIZE(fake->log))
		fake->log[fake->count++] = what;
}

static int count_of(struct fake *fake, enum asahi_count kind)
{
	return atomic_read(&asahi_counts[kind]) - fake->before[kind];
}

static int fake_map(void *priv, u64 va, dma_addr_t pa, u64 size, enum asahi_prot prot)
{
	struct fake *fake = priv;
	u64 page;

	KUNIT_EXPECT_TRUE(fake->test, IS_ALIGNED(va | pa | size, AGX_PAGE_SIZE));
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

static void fake_protect(void *priv, u64 va, u64 size, enum asahi_prot prot)
{
	note(priv, asahi_prot_is_cached(prot) ? CACHE : UNCACHE);
}

static int fake_unmap(void *priv, u64 va, u64 size, enum asahi_prot prot)
{
	struct fake *fake = priv;
	u64 page;

	note(fake, UNMAP);
	fake->unmaps++;
	for (page = (va - START) / AGX_PAGE_SIZE; size; size -= AGX_PAGE_SIZE, page++) {
		KUNIT_EXPECT_NE(fake->test, fake->dma[page], 0);
		fake->dma[page] = 0;
	}

	return fake->unmap_error;
}

static int fake_flush(struct asahi_device *adev)
{
	struct fake *fake = the_fake;

	note(fake, FLUSH);
	fake->flushes++;
	return fake->flush_error;
}

static const struct asahi_heap_mmu fake_mmu = {
	.map = fake_map,
	.protect = fake_protect,
	.unmap = fake_unmap,
};

static int heap_test_init(struct kunit *test)
{
	struct device *dev;
	struct fake *fake;
	unsigned int i;

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
	for (i = 0; i < ASAHI_COUNT_NUM; i++)
		fake->before[i] = atomic_read(&asahi_counts[i]);
	fake->heaps = asahi_heaps_create(fake->adev, fake_flush);
	KUNIT_ASSERT_NOT_NULL(test, fake->heaps);
	the_fake = fake;
	test->priv = fake;
	return 0;
}

static void heap_test_exit(struct kunit *test)
{
	struct drm_printer p = rest_printer(test);
	struct asahi_rest rest = { .levels = ASAHI_REST_IDLE, .name = "heaps", .p = &p };
	struct fake *fake = test->priv;

	if (IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG))
		asahi_heaps_at_rest(fake->heaps, &rest);
	KUNIT_EXPECT_EQ(test, rest.broken, 0);
	asahi_heaps_unplug(fake->heaps);
	asahi_heaps_destroy(fake->heaps);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_HEAP_BLOCK), 0);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_HEAP_NODE), 0);
}

static struct asahi_heap *make_heap(struct kunit *test, u64 start, enum asahi_prot prot)
{
	struct fake *fake = test->priv;
	const struct asahi_heap_args args = {
		.name = "test",
		.start = start,
		.end = start + SPACE,
		.prot = prot,
		.mmu = &fake_mmu,
		.mmu_priv = fake,
		.block_min = BLOCK,
		.keep = BLOCK,
	};
	struct asahi_heap *heap;

	heap = asahi_heap_create(fake->heaps, &args);
	KUNIT_ASSERT_FALSE(test, IS_ERR(heap));
	return heap;
}

static struct asahi_heap *make_plain(struct kunit *test)
{
	return make_heap(test, START + SPACE, ASAHI_PROT_FW_SHARED_RW);
}

static struct asahi_heap *make_cached(struct kunit *test)
{
	return make_heap(test, START, ASAHI_PROT_FW_PRIV_RW);
}

static void destroy_heap(struct kunit *test, struct asahi_heap *heap)
{
	struct fake *fake = test->priv;

	asahi_heap_destroy(heap);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_HEAP_BLOCK), 0);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_HEAP_NODE), 0);
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
	struct asahi_heap *heap = make_plain(test);
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
	struct asahi_heap *heap = make_plain(test);
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
	struct asahi_heap *heap = make_plain(test);
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

/* Takes and frees large pieces; returns how many were unlike @va. */
static unsigned int churn(struct kunit *test, struct asahi_heap *heap, u64 va, unsigned int count)
{
	unsigned int fresh = 0;
	struct asahi_fwbuf buf;

	while (count--) {
		KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, PIECE, 0, &buf), 0);
		fresh += buf.va != va;
		asahi_heap_free(&buf);
	}

	return fresh;
}

/* The worker would do so later; here it is to be known when. */
static int run_now(struct fake *fake)
{
	return asahi_heaps_run(fake->heaps);
}

static void cached_memory_waits_for_flush(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_cached(test);
	struct asahi_fwbuf buf;
	u64 va;

	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, PIECE, 0, &buf), 0);
	va = buf.va;
	asahi_heap_free(&buf);

	/* That little is tolerated for a while; nothing of it may be handed out. */
	KUNIT_EXPECT_EQ(test, churn(test, heap, va, 3), 3);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(heap), 4 * PIECE);

	run_now(fake);
	KUNIT_EXPECT_EQ(test, fake->flushes, 1);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(heap), 0);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_HEAP_NODE), 0);

	destroy_heap(test, heap);
	KUNIT_EXPECT_FALSE(test, anything_mapped(fake));
}

/* Nobody allocates any more, and still it goes. */
static void idle_garbage_goes(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_cached(test);
	unsigned int i;

	churn(test, heap, 0, 6);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(heap), 6 * PIECE);
	for (i = 0; i < 100 && asahi_heap_size(heap) > BLOCK; i++)
		msleep(50);

	KUNIT_EXPECT_EQ(test, asahi_heap_used(heap), 0);
	KUNIT_EXPECT_EQ(test, asahi_heap_size(heap), BLOCK);
	KUNIT_EXPECT_EQ(test, fake->flushes, 1);
	destroy_heap(test, heap);
}

/* Much garbage does not wait for as long, and nobody who allocates waits for it. */
static void much_garbage_is_flushed_soon(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_cached(test);
	struct asahi_fwbuf buf;
	unsigned int i;

	for (i = 0; i < 1024; i++) {
		KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, 1, 0, &buf), 0);
		asahi_heap_free(&buf);
	}
	for (i = 0; i < 10 && !READ_ONCE(fake->flushes); i++)
		msleep(20);
	KUNIT_EXPECT_GE(test, fake->flushes, 1);

	destroy_heap(test, heap);
}

static void failed_flush_frees_nothing(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_cached(test);

	fake->flush_error = -ETIMEDOUT;
	churn(test, heap, 0, 12);
	KUNIT_EXPECT_EQ(test, run_now(fake), -ETIMEDOUT);
	KUNIT_EXPECT_GE(test, fake->flushes, 1);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(heap), 12 * PIECE);
	KUNIT_EXPECT_EQ(test, fake->unmaps, 0);

	fake->flush_error = 0;
	run_now(fake);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(heap), 0);
	destroy_heap(test, heap);
}

/* A firmware that never flushes does not make the kernel run out of memory. */
static void garbage_is_bounded(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_cached(test);
	struct asahi_fwbuf buf;
	unsigned int i;
	int ret = 0;

	fake->flush_error = -ETIMEDOUT;
	for (i = 0; i < 1000; i++) {
		ret = asahi_heap_alloc(heap, PIECE, 0, &buf);
		if (ret)
			break;
		asahi_heap_free(&buf);
	}
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_EQ(test, i, SZ_64M / PIECE);
	KUNIT_EXPECT_LE(test, asahi_heap_size(heap), SZ_64M + BLOCK);

	fake->flush_error = 0;
	KUNIT_EXPECT_EQ(test, asahi_heap_alloc(heap, PIECE, 0, &buf), 0);
	asahi_heap_free(&buf);
	destroy_heap(test, heap);
}

/* What is in steady use stays; what was not needed for a while goes. */
static void empty_blocks_go_when_idle(struct kunit *test)
{
	struct asahi_fwbuf bufs[8];
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_plain(test);
	unsigned int i, round;
	u64 size = 0;

	for (round = 0; round < 4; round++) {
		for (i = 0; i < ARRAY_SIZE(bufs); i++)
			KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, PIECE, 0, &bufs[i]), 0);
		for (i = 0; i < ARRAY_SIZE(bufs); i++)
			asahi_heap_free(&bufs[i]);
		run_now(fake);
		if (!round)
			size = asahi_heap_size(heap);
		KUNIT_EXPECT_EQ(test, asahi_heap_size(heap), size);
		KUNIT_EXPECT_EQ(test, fake->unmaps, 0);
	}

	run_now(fake);
	KUNIT_EXPECT_EQ(test, asahi_heap_size(heap), BLOCK);
	KUNIT_EXPECT_EQ(test, run_now(fake), 0);
	KUNIT_EXPECT_EQ(test, asahi_heap_size(heap), BLOCK);

	/* What is in use stays as well, wherever it is. */
	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, PIECE, 0, &bufs[0]), 0);
	memset32(bufs[0].map, 'x' * 0x01010101, PIECE / sizeof(u32));
	run_now(fake);
	run_now(fake);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(bufs[0].map, 'x', PIECE));
	asahi_heap_free(&bufs[0]);

	destroy_heap(test, heap);
	KUNIT_EXPECT_FALSE(test, anything_mapped(fake));
}

static bool page_mapped(struct fake *fake, u64 va)
{
	return fake->dma[(va - START) / AGX_PAGE_SIZE];
}

/* The place of a freed allocation goes to the next of its size, and to no other. */
static void places_are_kept(struct kunit *test)
{
	struct asahi_heap *heap = make_plain(test);
	struct asahi_fwbuf bufs[4], other;
	u64 va[ARRAY_SIZE(bufs)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bufs); i++) {
		KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_1K, 0, &bufs[i]), 0);
		va[i] = bufs[i].va;
	}
	asahi_heap_free(&bufs[0]);
	asahi_heap_free(&bufs[2]);

	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_512, 0, &other), 0);
	for (i = 0; i < ARRAY_SIZE(bufs); i++)
		KUNIT_EXPECT_TRUE(test, other.va + SZ_512 <= va[i] || other.va >= va[i] + SZ_1K);

	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_1K, 0, &bufs[2]), 0);
	KUNIT_EXPECT_EQ(test, bufs[2].va, va[2]);
	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_1K - 1, 0, &bufs[0]), 0);
	KUNIT_EXPECT_EQ(test, bufs[0].va, va[0]);

	for (i = 0; i < ARRAY_SIZE(bufs); i++)
		asahi_heap_free(&bufs[i]);
	asahi_heap_free(&other);
	destroy_heap(test, heap);
}

/* Places that are kept are room for larger allocations, and go with their block. */
static void kept_places_are_free(struct kunit *test)
{
	struct asahi_fwbuf bufs[BLOCK / SZ_32K], large[2];
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_plain(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bufs); i++)
		KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_32K, 0, &bufs[i]), 0);
	for (i = 0; i < ARRAY_SIZE(bufs); i++)
		asahi_heap_free(&bufs[i]);
	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, BLOCK, 0, &large[0]), 0);
	KUNIT_EXPECT_EQ(test, asahi_heap_size(heap), BLOCK);

	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, BLOCK, 0, &large[1]), 0);
	asahi_heap_free(&large[0]);
	asahi_heap_free(&large[1]);
	run_now(fake);
	run_now(fake);
	KUNIT_EXPECT_EQ(test, asahi_heap_size(heap), BLOCK);
	for (i = 0; i < ARRAY_SIZE(large); i++) {
		KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, BLOCK, 0, &large[i]), 0);
		KUNIT_EXPECT_TRUE(test, page_mapped(fake, large[i].va));
	}
	KUNIT_EXPECT_EQ(test, asahi_heap_size(heap), 2 * BLOCK);
	asahi_heap_free(&large[0]);
	asahi_heap_free(&large[1]);
	destroy_heap(test, heap);
}

/* Blocks come and go in any order, and addresses with them. */
static void holes_are_found_again(struct kunit *test)
{
	struct asahi_fwbuf bufs[32] = {};
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_plain(test);
	struct rnd_state rnd;
	unsigned int i, j, k;

	prandom_seed_state(&rnd, 27);
	for (i = 0; i < 500; i++) {
		j = prandom_u32_state(&rnd) % ARRAY_SIZE(bufs);
		if (bufs[j].node) {
			KUNIT_ASSERT_TRUE(test, !memchr_inv(bufs[j].map, j + 1, bufs[j].size));
			asahi_heap_free(&bufs[j]);
		} else {
			u32 size = 1 + prandom_u32_state(&rnd) % (3 * BLOCK);

			KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, size, SZ_32K, &bufs[j]), 0);
			KUNIT_EXPECT_TRUE(test, IS_ALIGNED(bufs[j].va, SZ_32K));
			memset(bufs[j].map, j + 1, size);
			for (k = 0; k < size; k += AGX_PAGE_SIZE)
				KUNIT_ASSERT_TRUE(test, page_mapped(fake, bufs[j].va + k));
		}
		if (i % 50 == 0)
			run_now(fake);
	}

	for (i = 0; i < ARRAY_SIZE(bufs); i++)
		asahi_heap_free(&bufs[i]);
	destroy_heap(test, heap);
	KUNIT_EXPECT_FALSE(test, anything_mapped(fake));
}

/* It takes no more of a client's memory than there is need for. */
static void small_heaps_stay_small(struct kunit *test)
{
	struct fake *fake = test->priv;
	const struct asahi_heap_args args = {
		.name = "small",
		.start = START,
		.end = END,
		.prot = ASAHI_PROT_GPU_SHARED_RW,
		.mmu = &fake_mmu,
		.mmu_priv = fake,
		.block_min = AGX_PAGE_SIZE,
	};
	const unsigned int count = 128;
	struct asahi_fwbuf *bufs;
	struct asahi_heap *heap;
	unsigned int i;

	bufs = kunit_kcalloc(test, count, sizeof(*bufs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bufs);
	heap = asahi_heap_create(fake->heaps, &args);
	KUNIT_ASSERT_FALSE(test, IS_ERR(heap));
	for (i = 0; i < count; i++) {
		KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_32K, SZ_32K, &bufs[i]), 0);
		KUNIT_EXPECT_LE(test, asahi_heap_size(heap), max(2 * (i + 1) * SZ_32K,
								 (i + 1) * SZ_32K + BLOCK));
	}
	KUNIT_EXPECT_LE(test, count_of(fake, ASAHI_COUNT_HEAP_BLOCK), 16);
	for (i = 0; i < count; i++)
		asahi_heap_free(&bufs[i]);
	destroy_heap(test, heap);
}

/* The flush makes all heaps' garbage free, not one heap's. */
static void one_flush_for_all(struct kunit *test)
{
	struct fake *fake = test->priv;
	const struct asahi_heap_args args = {
		.name = "other",
		.start = START + SPACE,
		.end = END,
		.prot = ASAHI_PROT_FW_PRIV_RW,
		.mmu = &fake_mmu,
		.mmu_priv = fake,
		.block_min = BLOCK,
	};
	struct asahi_heap *heap = make_cached(test);
	struct asahi_heap *other;

	other = asahi_heap_create(fake->heaps, &args);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	churn(test, heap, 0, 2);
	churn(test, other, 0, 2);
	run_now(fake);
	KUNIT_EXPECT_EQ(test, fake->flushes, 1);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(heap) + asahi_heap_used(other), 0);

	asahi_heap_destroy(other);
	destroy_heap(test, heap);
}

static void unflushed_blocks_are_leaked(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_cached(test);
	struct asahi_fwbuf buf;
	struct page *page;

	asahi_heaps_resume(fake->heaps);
	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, AGX_PAGE_SIZE, AGX_PAGE_SIZE, &buf), 0);
	page = vmalloc_to_page(buf.map);
	get_page(page);
	asahi_heap_free(&buf);

	fake->unmap_error = -ETIMEDOUT;
	asahi_heap_destroy(heap);
	KUNIT_EXPECT_EQ(test, fake->unmaps, 1);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_HEAP_BLOCK), 1);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_LEAKED_BLOCK), 1);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_LEAKED_PAGE), BLOCK / AGX_PAGE_SIZE);
	/* Nobody else has it: the heap's reference is still there. */
	KUNIT_EXPECT_EQ(test, page_count(page), 2);

	/* Neither time nor a flush makes it free, but the loss of the cache does. */
	run_now(fake);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_LEAKED_BLOCK), 1);
	asahi_heaps_forget_cache(fake->heaps);
	run_now(fake);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_LEAKED_BLOCK), 0);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_LEAKED_PAGE), 0);
	KUNIT_EXPECT_EQ(test, page_count(page), 1);
	put_page(page);
}

/* Nobody answers, and nobody has anything left to write. */
static void cleanly_stopped_firmware_leaks_nothing(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_cached(test);
	struct asahi_fwbuf buf;

	asahi_heaps_resume(fake->heaps);
	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, AGX_PAGE_SIZE, AGX_PAGE_SIZE, &buf), 0);
	KUNIT_EXPECT_EQ(test, asahi_heaps_quiesce(fake->heaps), 0);
	asahi_heap_free(&buf);

	fake->unmap_error = -ENODEV;
	asahi_heap_destroy(heap);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_HEAP_BLOCK), 0);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_LEAKED_BLOCK), 0);
}

static void failed_map_leaves_nothing(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_plain(test);
	struct asahi_fwbuf buf;
	unsigned int budget;
	int err = -ENOMEM;

	/* However far it gets: pages come in any number of pieces, at most one each. */
	for (budget = 0; err && budget <= BLOCK / AGX_PAGE_SIZE; budget++) {
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
	struct asahi_heap *heap = make_plain(test);
	struct asahi_fwbuf buf;

	KUNIT_EXPECT_EQ(test, asahi_heap_alloc(heap, 0, 0, &buf), -EINVAL);
	KUNIT_EXPECT_EQ(test, asahi_heap_alloc(heap, SIZE_MAX, 0, &buf), -EINVAL);
	KUNIT_EXPECT_EQ(test, asahi_heap_alloc(heap, SPACE, 0, &buf), -ENOSPC);
	KUNIT_EXPECT_EQ(test, asahi_heap_size(heap), 0);

	destroy_heap(test, heap);
}

static void unplugged_heaps(struct kunit *test)
{
	struct fake *fake = test->priv;
	const struct asahi_heap_args args = { .name = "late", .start = START, .end = END };
	struct asahi_heap *heap = make_cached(test);
	struct asahi_fwbuf kept, freed, other;

	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_1K, 0, &kept), 0);
	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_1K, 0, &freed), 0);
	asahi_heap_free(&freed);

	asahi_heaps_unplug(fake->heaps);
	KUNIT_EXPECT_EQ(test, asahi_heap_alloc(heap, SZ_1K, 0, &other), -ENODEV);
	KUNIT_EXPECT_EQ(test, PTR_ERR(asahi_heap_create(fake->heaps, &args)), -ENODEV);

	/* The kernel still has the memory, and gives it back without the MMU. */
	memset(kept.map, 0, SZ_1K);
	asahi_heap_free(&kept);
	destroy_heap(test, heap);
	KUNIT_EXPECT_EQ(test, fake->unmaps, 0);
	KUNIT_EXPECT_EQ(test, fake->flushes, 0);
	/* No firmware has ever seen it. */
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_LEAKED_BLOCK), 0);
}

/* A firmware that is about to stop flushes, twice, and caches nothing after that. */
static void stopped_firmware(struct kunit *test)
{
	static const enum happening down[] = { FLUSH, UNCACHE, FLUSH };
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_cached(test);
	struct asahi_heap *plain;
	struct asahi_fwbuf buf;

	asahi_heaps_resume(fake->heaps);
	KUNIT_EXPECT_EQ(test, fake->count, 0);
	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, SZ_1K, 0, &buf), 0);
	plain = make_plain(test);

	KUNIT_EXPECT_EQ(test, asahi_heaps_quiesce(fake->heaps), 0);
	KUNIT_ASSERT_EQ(test, fake->count, ARRAY_SIZE(down));
	KUNIT_EXPECT_MEMEQ(test, fake->log, down, sizeof(down));

	/* It comes back, and goes again. */
	asahi_heaps_resume(fake->heaps);
	KUNIT_EXPECT_EQ(test, fake->log[fake->count - 1], CACHE);
	KUNIT_EXPECT_EQ(test, asahi_heaps_quiesce(fake->heaps), 0);

	asahi_heaps_unplug(fake->heaps);
	asahi_heap_free(&buf);
	asahi_heap_destroy(plain);
	destroy_heap(test, heap);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_LEAKED_BLOCK), 0);
}

/* A firmware that has failed may write at any time to all that it caches. */
static void failed_firmware(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_heap *heap = make_cached(test);
	struct asahi_heap *plain;
	struct asahi_fwbuf buf, other;
	struct page *page;

	asahi_heaps_resume(fake->heaps);
	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(heap, AGX_PAGE_SIZE, AGX_PAGE_SIZE, &buf), 0);
	plain = make_plain(test);
	KUNIT_ASSERT_EQ(test, asahi_heap_alloc(plain, SZ_1K, 0, &other), 0);
	page = vmalloc_to_page(buf.map);
	get_page(page);

	fake->flush_error = -ENODEV;
	KUNIT_EXPECT_EQ(test, asahi_heaps_quiesce(fake->heaps), -ENODEV);
	asahi_heaps_unplug(fake->heaps);
	asahi_heap_free(&buf);
	asahi_heap_free(&other);
	asahi_heap_destroy(plain);
	destroy_heap(test, heap);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_LEAKED_BLOCK), 1);
	KUNIT_EXPECT_EQ(test, count_of(fake, ASAHI_COUNT_LEAKED_PAGE), BLOCK / AGX_PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, page_count(page), 2);

	/* This firmware is none, so the test can give back what it has leaked. */
	atomic_dec(&asahi_counts[ASAHI_COUNT_LEAKED_BLOCK]);
	atomic_sub(BLOCK / AGX_PAGE_SIZE, &asahi_counts[ASAHI_COUNT_LEAKED_PAGE]);
	put_page(page);
	put_page(page);
}

static struct kunit_case heap_cases[] = {
	KUNIT_CASE(allocations_are_apart),
	KUNIT_CASE(alignment_is_kept),
	KUNIT_CASE(reuse_is_zeroed),
	KUNIT_CASE(cached_memory_waits_for_flush),
	KUNIT_CASE(failed_flush_frees_nothing),
	KUNIT_CASE(idle_garbage_goes),
	KUNIT_CASE(much_garbage_is_flushed_soon),
	KUNIT_CASE(garbage_is_bounded),
	KUNIT_CASE(empty_blocks_go_when_idle),
	KUNIT_CASE(places_are_kept),
	KUNIT_CASE(kept_places_are_free),
	KUNIT_CASE(holes_are_found_again),
	KUNIT_CASE(small_heaps_stay_small),
	KUNIT_CASE(one_flush_for_all),
	KUNIT_CASE(unflushed_blocks_are_leaked),
	KUNIT_CASE(cleanly_stopped_firmware_leaks_nothing),
	KUNIT_CASE(failed_map_leaves_nothing),
	KUNIT_CASE(bad_sizes),
	KUNIT_CASE(unplugged_heaps),
	KUNIT_CASE(stopped_firmware),
	KUNIT_CASE(failed_firmware),
	{}
};

static struct kunit_suite heap_suite = {
	.name = "asahi_heap",
	.init = heap_test_init,
	.exit = heap_test_exit,
	.test_cases = heap_cases,
};

kunit_test_suite(heap_suite);
