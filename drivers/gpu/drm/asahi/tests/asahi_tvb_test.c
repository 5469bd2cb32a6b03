// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of tiled vertex buffers that grow, and of memory that runs out meanwhile.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/cleanup.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <agx/agx_uat.h>

#include "asahi_abi.h"
#include "asahi_client.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_fw_buffer.h"
#include "asahi_heap.h"
#include "asahi_hw.h"
#include "asahi_queue_priv.h"
#include "asahi_tvb.h"
#include "asahi_vm_priv.h"

#define DEVICE_START	AGX_VA_PRIVATE_START
#define VM_START	0x7000000000ULL
#define SPACE		SZ_256M

#define SLOT		5
/* Blocks of a new buffer, and those that it has in spare. */
#define FIRST		8
#define SPARE		10
/* Blocks that a buffer may have: uapi.rst */
#define LARGEST		6579
#define TPC		SZ_16K

/**
 * struct fake - a device with one queue
 * @adev: device, of which only the heaps exist
 * @vm: address space, likewise
 * @queue: queue, of which only the vertex buffer exists
 * @device: all heaps of the device in one
 * @vms: all heaps of the address space in one
 * @mapped: bytes that both have mapped
 * @limit: bytes that they can map
 * @before: how many allocations there were when the test began
 */
struct fake {
	struct asahi_device *adev;
	struct asahi_vm *vm;
	struct asahi_queue *queue;
	struct asahi_heap *device;
	struct asahi_heap *vms;
	u64 mapped;
	u64 limit;
	int before;
};

static int fake_map(void *priv, u64 va, dma_addr_t pa, u64 size, enum asahi_prot prot)
{
	struct fake *fake = priv;

	if (fake->mapped + size > fake->limit)
		return -ENOMEM;
	fake->mapped += size;

	return 0;
}

static void fake_protect(void *priv, u64 va, u64 size, enum asahi_prot prot)
{
}

static int fake_unmap(void *priv, u64 va, u64 size, enum asahi_prot prot)
{
	struct fake *fake = priv;

	fake->mapped -= size;

	return 0;
}

static int fake_flush(struct asahi_device *adev)
{
	return 0;
}

static const struct asahi_heap_mmu fake_mmu = {
	.map = fake_map,
	.protect = fake_protect,
	.unmap = fake_unmap,
};

static struct asahi_heap *make_heap(struct kunit *test, struct fake *fake, u64 start)
{
	const struct asahi_heap_args args = {
		.name = "test",
		.start = start,
		.end = start + SPACE,
		/* Nothing has to be flushed to be free. */
		.prot = ASAHI_PROT_FW_SHARED_RW,
		.mmu = &fake_mmu,
		.mmu_priv = fake,
		.block_min = AGX_PAGE_SIZE,
	};
	struct asahi_heap *heap = asahi_heap_create(fake->adev->heaps, &args);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, heap);

	return heap;
}

static void make_device(struct kunit *test, struct fake *fake)
{
	struct asahi_device *adev = kunit_kzalloc(test, sizeof(*adev), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-tvb");

	KUNIT_ASSERT_NOT_NULL(test, adev);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)), 0);
	adev->drm.dev = dev;
	adev->abi = asahi_abi_select((const u32[]) { 13, 5, 0 }, ASAHI_GEN_G13);
	KUNIT_ASSERT_NOT_NULL(test, adev->abi);
	adev->heaps = asahi_heaps_create(adev, fake_flush);
	KUNIT_ASSERT_NOT_NULL(test, adev->heaps);
	fake->adev = adev;
	fake->device = make_heap(test, fake, DEVICE_START);
	for (unsigned int i = 0; i < ASAHI_HEAP_COUNT; i++)
		adev->heap[i] = fake->device;
}

static int tvb_test_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct asahi_queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);
	struct asahi_vm *vm = kunit_kzalloc(test, sizeof(*vm), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_NULL(test, queue);
	KUNIT_ASSERT_NOT_NULL(test, vm);
	fake->limit = U64_MAX;
	fake->before = atomic_read(&asahi_counts[ASAHI_COUNT_HEAP_NODE]);
	make_device(test, fake);
	fake->vms = make_heap(test, fake, VM_START);
	vm->heap_gpu = fake->vms;
	vm->heap_priv = fake->vms;

	queue->adev = fake->adev;
	queue->vm = vm;
	queue->client = asahi_client_create(1);
	KUNIT_ASSERT_NOT_NULL(test, queue->client);
	spin_lock_init(&queue->timeline.lock);
	asahi_tvb_init(&queue->tvb);
	fake->queue = queue;
	test->priv = fake;

	return 0;
}

static void tvb_test_exit(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_queue *queue = fake->queue;

	queue->tvb.scenes = 0;
	asahi_tvb_free_vm_memory(&queue->tvb);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->vms), 0);
	asahi_client_charge(queue->client, -asahi_tvb_bytes(&queue->tvb));
	asahi_tvb_fini(&queue->tvb);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->device), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&asahi_counts[ASAHI_COUNT_HEAP_NODE]), fake->before);
	asahi_client_put(queue->client);

	asahi_heap_destroy(fake->vms);
	asahi_heap_destroy(fake->device);
	asahi_heaps_unplug(fake->adev->heaps);
	asahi_heaps_destroy(fake->adev->heaps);
	KUNIT_EXPECT_EQ(test, fake->mapped, 0);
}

/* What SUBMIT does, for a render that needs so many blocks. */
static int submit(struct kunit *test, unsigned int min_blocks, u64 tpc_size)
{
	struct fake *fake = test->priv;
	struct asahi_tpc *tpc = asahi_tvb_prepare(fake->queue, min_blocks, tpc_size);

	if (IS_ERR(tpc))
		return PTR_ERR(tpc);

	KUNIT_EXPECT_GE(test, tpc->memory.size, tpc_size);
	asahi_tpc_put(tpc);

	return 0;
}

/* What there is, in the lists and for the firmware. */
static void expect_blocks(struct kunit *test, unsigned int num_blocks, unsigned int handed_over)
{
	struct fake *fake = test->priv;
	const struct asahi_tvb *tvb = &fake->queue->tvb;
	const struct asahi_fw_block_control *control = tvb->control.map;
	const struct asahi_fw_block *blocks = tvb->block_list.map;
	const __le32 *pages = tvb->page_list.map;

	KUNIT_ASSERT_EQ(test, tvb->num_blocks, num_blocks);
	KUNIT_EXPECT_EQ(test, tvb->handed_over, handed_over);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(control->total), handed_over);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(control->wptr), handed_over);

	for (unsigned int i = 0; i < num_blocks; i++) {
		u32 first = tvb->blocks[i].va >> ASAHI_TVB_PAGE_SHIFT;

		KUNIT_EXPECT_EQ(test, tvb->blocks[i].size, ASAHI_TVB_BLOCK_SIZE);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(blocks[i].page), first);
		for (unsigned int j = 0; j < ASAHI_TVB_BLOCK_PAGES; j++)
			KUNIT_EXPECT_EQ(test, le32_to_cpu(pages[i * ASAHI_TVB_BLOCK_PAGES + j]),
					first + j);
	}
}

/* A render is in flight, which the firmware was told of the buffer for. */
static void begin_render(struct fake *fake)
{
	struct asahi_tvb *tvb = &fake->queue->tvb;

	tvb->slot.slot = SLOT;
	tvb->told = tvb->handed_over;
	tvb->scenes = 1;
}

static void tvb_test_grows_by_spare_blocks(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_tvb *tvb = &fake->queue->tvb;
	u64 used;
	u8 *info;

	KUNIT_ASSERT_EQ(test, submit(test, 0, TPC), 0);
	expect_blocks(test, FIRST + SPARE, FIRST);
	used = asahi_heap_used(fake->vms);
	KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT), -1);

	begin_render(fake);
	info = kunit_kmalloc(test, tvb->info.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, info);
	memcpy(info, tvb->info.map, tvb->info.size);

	KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT + 1), -1);
	expect_blocks(test, FIRST + SPARE, FIRST);
	KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT), SPARE);
	expect_blocks(test, FIRST + SPARE, FIRST + SPARE);
	KUNIT_EXPECT_EQ(test, tvb->told, FIRST + SPARE);

	/* Nothing is left: the render goes on with what it has. */
	KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT), 0);
	expect_blocks(test, FIRST + SPARE, FIRST + SPARE);

	/* Info is the firmware's meanwhile, and nothing was allocated. */
	KUNIT_EXPECT_MEMEQ(test, info, tvb->info.map, tvb->info.size);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->vms), used);

	/* The next SUBMIT sees to spare blocks again. */
	KUNIT_ASSERT_EQ(test, submit(test, 0, TPC), 0);
	expect_blocks(test, FIRST + 2 * SPARE, FIRST + SPARE);
	KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT), SPARE);
}

/* An InitBuffer that is still to come tells of blocks that were handed over since. */
static void tvb_test_told_by_next_init(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_tvb *tvb = &fake->queue->tvb;

	KUNIT_ASSERT_EQ(test, submit(test, 0, TPC), 0);
	begin_render(fake);
	KUNIT_ASSERT_EQ(test, submit(test, FIRST + 4, TPC), 0);
	expect_blocks(test, FIRST + 4 + SPARE, FIRST + 4);

	KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT), SPARE);
	KUNIT_EXPECT_EQ(test, tvb->told, FIRST);
}

/* An InitBuffer may be in the ring as long as there are renders from before it. */
static void tvb_test_not_before_init(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_tvb *tvb = &fake->queue->tvb;

	KUNIT_ASSERT_EQ(test, submit(test, 0, TPC), 0);
	begin_render(fake);
	tvb->scenes = 3;
	tvb->older = 2;
	KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT), 0);
	expect_blocks(test, FIRST + SPARE, FIRST);

	for (unsigned int left = 2; left; left--) {
		KUNIT_EXPECT_EQ(test, tvb->older, left);
		KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT), 0);
		scoped_guard(spinlock_bh, &fake->queue->timeline.lock)
			asahi_tvb_end(fake->queue, 1);
	}

	KUNIT_EXPECT_EQ(test, tvb->scenes, 1);
	KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT), SPARE);
	scoped_guard(spinlock_bh, &fake->queue->timeline.lock)
		asahi_tvb_end(fake->queue, 1);
	KUNIT_EXPECT_EQ(test, tvb->older, 0);
}

/* The first SUBMIT fails wherever there is no more memory, and the one after it does not. */
static void tvb_test_no_memory_at_first(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_tvb *tvb = &fake->queue->tvb;
	unsigned int failures = 0, blocks = 0;

	for (fake->limit = 0; submit(test, 0, TPC); fake->limit += AGX_PAGE_SIZE) {
		failures++;
		KUNIT_ASSERT_LT(test, fake->limit, SPACE);
		KUNIT_EXPECT_EQ(test, tvb->handed_over, tvb->num_blocks < FIRST ? 0 : FIRST);
		/* What it has got it keeps for the next one. */
		KUNIT_EXPECT_GE(test, tvb->num_blocks, blocks);
		blocks = tvb->num_blocks;
	}

	KUNIT_EXPECT_GT(test, failures, FIRST);
	/* The spare blocks can come later. */
	KUNIT_EXPECT_GE(test, tvb->num_blocks, FIRST);
	expect_blocks(test, tvb->num_blocks, FIRST);

	fake->limit = U64_MAX;
	KUNIT_EXPECT_EQ(test, submit(test, 0, TPC), 0);
	expect_blocks(test, FIRST + SPARE, FIRST);
}

/* A buffer that cannot become larger stays as it is, also for who renders with it. */
static void tvb_test_no_memory_to_grow(struct kunit *test)
{
	struct fake *fake = test->priv;
	const unsigned int want = 40;
	unsigned int failures = 0;

	KUNIT_ASSERT_EQ(test, submit(test, 0, TPC), 0);
	begin_render(fake);

	for (fake->limit = fake->mapped; submit(test, want, TPC); fake->limit += SZ_64K) {
		failures++;
		KUNIT_ASSERT_LT(test, fake->limit, SPACE);
		expect_blocks(test, FIRST + SPARE, FIRST);
	}

	KUNIT_EXPECT_GT(test, failures, 0);
	expect_blocks(test, fake->queue->tvb.num_blocks, want);

	fake->limit = U64_MAX;
	KUNIT_EXPECT_EQ(test, submit(test, 0, TPC), 0);
	expect_blocks(test, want + SPARE, want);
}

/* What a buffer would only like to have does not fail a render that fits. */
static void tvb_test_no_memory_for_a_wish(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_fw_buffer_stats *stats;

	KUNIT_ASSERT_EQ(test, submit(test, 0, TPC), 0);
	begin_render(fake);

	stats = fake->queue->tvb.stats.map;
	WRITE_ONCE(stats->max_pages, cpu_to_le32(40 * ASAHI_TVB_BLOCK_PAGES));
	fake->limit = fake->mapped;
	KUNIT_EXPECT_EQ(test, submit(test, FIRST, TPC), 0);
	KUNIT_EXPECT_GE(test, fake->queue->tvb.handed_over, FIRST);
}

/* What SUBMIT got before there was no more goes again, and is nothing that can be asked for. */
static void tvb_test_no_memory_and_asked(struct kunit *test)
{
	struct fake *fake = test->priv;
	const unsigned int had = FIRST + SPARE;
	u64 used;

	KUNIT_ASSERT_EQ(test, submit(test, 0, TPC), 0);
	begin_render(fake);
	KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT), SPARE);
	used = asahi_heap_used(fake->vms);

	/* A heap grows by that much. */
	fake->limit = fake->mapped + SZ_1M;
	KUNIT_EXPECT_EQ(test, submit(test, had + 2 * SPARE, TPC), -ENOMEM);
	expect_blocks(test, had, had);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->vms), used);
	KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT), 0);
	expect_blocks(test, had, had);

	fake->limit = U64_MAX;
	KUNIT_EXPECT_EQ(test, submit(test, 0, TPC), 0);
	expect_blocks(test, had + SPARE, had);
}

/* No larger tail pointer cache: the old one stays, and who holds it keeps it. */
static void tvb_test_no_memory_for_tpc(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_tpc *tpc = asahi_tvb_prepare(fake->queue, 0, TPC);
	struct asahi_tpc *larger;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tpc);
	fake->limit = fake->mapped;
	KUNIT_EXPECT_EQ(test, submit(test, 0, SZ_4M), -ENOMEM);
	KUNIT_EXPECT_PTR_EQ(test, fake->queue->tvb.tpc, tpc);
	KUNIT_EXPECT_EQ(test, submit(test, 0, TPC), 0);

	fake->limit = U64_MAX;
	larger = asahi_tvb_prepare(fake->queue, 0, SZ_4M);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, larger);
	KUNIT_EXPECT_PTR_NE(test, larger, tpc);
	KUNIT_EXPECT_EQ(test, tpc->memory.size, TPC);
	asahi_tpc_put(larger);
	asahi_tpc_put(tpc);
}

/* But for the last block, those of such a buffer are made up: they take 822 MiB. */
static void tvb_test_largest(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_tvb *tvb = &fake->queue->tvb;
	const size_t old = (FIRST + SPARE) * sizeof(*tvb->blocks);
	const struct asahi_fw_block_control *control;
	const __le32 *pages;
	struct asahi_fwbuf *blocks;

	KUNIT_ASSERT_EQ(test, submit(test, 0, TPC), 0);
	blocks = kvzalloc_objs(*blocks, LARGEST);
	KUNIT_ASSERT_NOT_NULL(test, blocks);
	memcpy(blocks, tvb->blocks, old);
	kvfree(tvb->blocks);
	tvb->blocks = blocks;
	tvb->num_blocks = LARGEST - 1;
	tvb->handed_over = LARGEST - 1;

	KUNIT_EXPECT_EQ(test, submit(test, LARGEST, TPC), 0);
	KUNIT_EXPECT_EQ(test, tvb->num_blocks, LARGEST);
	KUNIT_EXPECT_EQ(test, tvb->handed_over, LARGEST);
	control = tvb->control.map;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(control->total), LARGEST);
	pages = tvb->page_list.map;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(pages[LARGEST * ASAHI_TVB_BLOCK_PAGES - 1]),
			(tvb->blocks[LARGEST - 1].va + ASAHI_TVB_BLOCK_SIZE - 1) >>
			ASAHI_TVB_PAGE_SHIFT);

	KUNIT_EXPECT_EQ(test, submit(test, LARGEST + 1, TPC), -ENOMEM);
	KUNIT_EXPECT_EQ(test, tvb->num_blocks, LARGEST);
	KUNIT_EXPECT_EQ(test, submit(test, 0, TPC), 0);
	KUNIT_EXPECT_EQ(test, tvb->num_blocks, LARGEST);
	begin_render(fake);
	KUNIT_EXPECT_EQ(test, asahi_tvb_grow(fake->queue, SLOT), 0);
}

static struct kunit_case asahi_tvb_cases[] = {
	KUNIT_CASE(tvb_test_grows_by_spare_blocks),
	KUNIT_CASE(tvb_test_told_by_next_init),
	KUNIT_CASE(tvb_test_not_before_init),
	KUNIT_CASE(tvb_test_no_memory_at_first),
	KUNIT_CASE(tvb_test_no_memory_to_grow),
	KUNIT_CASE(tvb_test_no_memory_for_a_wish),
	KUNIT_CASE(tvb_test_no_memory_and_asked),
	KUNIT_CASE(tvb_test_no_memory_for_tpc),
	KUNIT_CASE(tvb_test_largest),
	{}
};

static struct kunit_suite asahi_tvb_suite = {
	.name = "asahi_tvb",
	.init = tvb_test_init,
	.exit = tvb_test_exit,
	.test_cases = asahi_tvb_cases,
};

kunit_test_suite(asahi_tvb_suite);
