// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the memory that queues have ready for jobs, with heaps on a pretended MMU.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/bits.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/jiffies.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "asahi_batch.h"
#include "asahi_client.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_heap.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_stash.h"

#define START		0x100000000ULL
#define SPACE		BIT_ULL(30)

/* Bytes of a job in each heap */
#define RO		0x300
#define PRIVATE		0x480
#define SHARED		0x80
#define WORD		0x80
#define GPU		0x8000

/* What a queue keeps at most, and what a strip for several jobs has */
#define BUFFERS		32
#define BYTES		SZ_1M
#define STRIP_JOBS	16
#define STRIP_BYTES	SZ_64K

#define JOBS		100

/* The heap in the VM comes behind the device's. */
#define HEAP_GPU	ASAHI_HEAP_COUNT

static const enum asahi_prot prots[] = {
	[ASAHI_HEAP_PRIVATE] = ASAHI_PROT_FW_PRIV_RW,
	[ASAHI_HEAP_GPU_RO] = ASAHI_PROT_GPU_RO_FW_PRIV_RW,
	[ASAHI_HEAP_SHARED] = ASAHI_PROT_FW_SHARED_RW,
	[ASAHI_HEAP_SHARED_RO] = ASAHI_PROT_FW_SHARED_RO,
	[ASAHI_HEAP_GPU_SHARED] = ASAHI_PROT_GPU_FW_SHARED_RW,
	[HEAP_GPU] = ASAHI_PROT_GPU_SHARED_RW,
};

static const struct asahi_work_memory usual = {
	.ro = RO, .private = PRIVATE, .shared = SHARED, .word = WORD, .gpu = GPU,
};

/**
 * struct fake - a device with heaps, and a queue
 * @adev: device, of which only the heaps exist
 * @heap: all heaps
 * @queue: the queue, of which only the stash exists
 * @client: whose queue it is
 * @full: no more memory is mapped
 * @before: allocations when the test began
 * @memory: memory of jobs
 */
struct fake {
	struct asahi_device *adev;
	struct asahi_heap *heap[ARRAY_SIZE(prots)];
	struct asahi_queue *queue;
	struct asahi_client *client;
	bool full;
	int before;
	struct asahi_job_memory memory[JOBS];
};

static int fake_map(void *priv, u64 va, dma_addr_t pa, u64 size, enum asahi_prot prot)
{
	struct fake *fake = priv;

	return fake->full ? -ENOMEM : 0;
}

static void fake_protect(void *priv, u64 va, u64 size, enum asahi_prot prot)
{
}

static int fake_unmap(void *priv, u64 va, u64 size, enum asahi_prot prot)
{
	return 0;
}

static const struct asahi_heap_mmu fake_mmu = {
	.map = fake_map,
	.protect = fake_protect,
	.unmap = fake_unmap,
};

/* The firmware never flushes, so that nothing that it caches is used twice. */
static int fake_flush(struct asahi_device *adev)
{
	return -ETIMEDOUT;
}

static int stash_test_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-stash");

	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	fake->adev = kunit_kzalloc(test, sizeof(*fake->adev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->adev);
	fake->queue = kunit_kzalloc(test, sizeof(*fake->queue), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->queue);
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)), 0);
	fake->adev->drm.dev = dev;
	fake->before = atomic_read(&asahi_counts[ASAHI_COUNT_HEAP_NODE]);
	fake->client = asahi_client_create(1);
	KUNIT_ASSERT_NOT_NULL(test, fake->client);
	fake->adev->heaps = asahi_heaps_create(fake->adev, fake_flush);
	KUNIT_ASSERT_NOT_NULL(test, fake->adev->heaps);

	for (unsigned int i = 0; i < ARRAY_SIZE(prots); i++) {
		const struct asahi_heap_args args = {
			.name = "test",
			.start = START + i * SPACE,
			.end = START + (i + 1) * SPACE,
			.prot = prots[i],
			.mmu = &fake_mmu,
			.mmu_priv = fake,
			.block_min = i == HEAP_GPU ? SZ_16M : SZ_1M,
			.keep = SZ_1M,
		};

		fake->heap[i] = asahi_heap_create(fake->adev->heaps, &args);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fake->heap[i]);
	}
	asahi_stash_init(&fake->queue->stash, fake->heap, fake->heap[HEAP_GPU], fake->client);
	test->priv = fake;

	return 0;
}

static void stash_test_exit(struct kunit *test)
{
	struct fake *fake = test->priv;

	asahi_stash_close(&fake->queue->stash);
	KUNIT_EXPECT_FALSE(test, asahi_stash_is_kept(&fake->queue->stash));
	KUNIT_EXPECT_NULL(test, fake->queue->stash.strip);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.bytes, 0);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[HEAP_GPU]), 0);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[ASAHI_HEAP_SHARED]), 0);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[ASAHI_HEAP_GPU_SHARED]), 0);
	asahi_heaps_unplug(fake->adev->heaps);
	KUNIT_EXPECT_EQ(test, atomic_read(&asahi_counts[ASAHI_COUNT_HEAP_NODE]), fake->before);
	for (unsigned int i = 0; i < ARRAY_SIZE(prots); i++)
		asahi_heap_destroy(fake->heap[i]);
	asahi_heaps_destroy(fake->adev->heaps);
	asahi_client_put(fake->client);
}

static void take(struct kunit *test, const struct asahi_work_memory *need,
		 struct asahi_job_memory *memory)
{
	struct fake *fake = test->priv;

	KUNIT_ASSERT_EQ(test, asahi_stash_take(&fake->queue->stash, need, memory), 0);
	KUNIT_ASSERT_NOT_NULL(test, memory->strip);
	KUNIT_ASSERT_NOT_NULL(test, memory->gpu.node);
	KUNIT_EXPECT_EQ(test, memory->gpu.size, need->gpu);
}

/* A job is over, and is freed. */
static void give(struct fake *fake, struct asahi_job_memory *memory)
{
	asahi_stash_keep(&fake->queue->stash, memory);
	asahi_stash_free(&fake->queue->stash, memory);
}

static void expect_all(struct kunit *test, const struct asahi_job_memory *memory, u8 value)
{
	const struct asahi_strip *strip = memory->strip;
	const struct asahi_work_memory *place = &memory->place;

	KUNIT_EXPECT_NULL(test, memchr_inv(strip->ro.map + place->ro, value, RO));
	KUNIT_EXPECT_NULL(test, memchr_inv(strip->private.map + place->private, value, PRIVATE));
	KUNIT_EXPECT_NULL(test, memchr_inv(strip->shared.map + place->shared, value, SHARED));
	KUNIT_EXPECT_NULL(test, memchr_inv(strip->word.map + place->word, value, WORD));
	KUNIT_EXPECT_NULL(test, memchr_inv(memory->gpu.map, value, memory->gpu.size));
	KUNIT_EXPECT_LE(test, place->ro + RO, strip->ro.size);
	KUNIT_EXPECT_LE(test, place->private + PRIVATE, strip->private.size);
	KUNIT_EXPECT_LE(test, place->shared + SHARED, strip->shared.size);
	KUNIT_EXPECT_LE(test, place->word + WORD, strip->word.size);
}

static void fill_all(struct asahi_job_memory *memory, u8 value)
{
	const struct asahi_strip *strip = memory->strip;
	const struct asahi_work_memory *place = &memory->place;

	memset(strip->ro.map + place->ro, value, RO);
	memset(strip->private.map + place->private, value, PRIVATE);
	memset(strip->shared.map + place->shared, value, SHARED);
	memset(strip->word.map + place->word, value, WORD);
	memset(memory->gpu.map, value, memory->gpu.size);
}

/* Each job has memory of its own, which is zero. */
static void jobs_are_apart(struct kunit *test)
{
	struct fake *fake = test->priv;

	for (unsigned int i = 0; i < JOBS; i++) {
		take(test, &usual, &fake->memory[i]);
		expect_all(test, &fake->memory[i], 0);
		fill_all(&fake->memory[i], i + 1);
	}
	for (unsigned int i = 0; i < JOBS; i++) {
		expect_all(test, &fake->memory[i], i + 1);
		give(fake, &fake->memory[i]);
		/* Others are still there. */
		if (i + 1 < JOBS)
			expect_all(test, &fake->memory[JOBS - 1], JOBS);
	}
}

/* What the firmware may have in its cache is no other job's, however many have ended. */
static void cached_memory_is_used_once(struct kunit *test)
{
	struct fake *fake = test->priv;
	u64 last_ro = 0, last_private = 0;

	for (unsigned int i = 0; i < JOBS; i++) {
		struct asahi_job_memory *memory = &fake->memory[0];
		u64 ro, private;

		take(test, &usual, memory);
		expect_all(test, memory, 0);
		fill_all(memory, 0xff);
		ro = memory->strip->ro.va + memory->place.ro;
		private = memory->strip->private.va + memory->place.private;
		/* The heaps were empty, so that they place one behind the other. */
		KUNIT_EXPECT_GT(test, ro, last_ro);
		KUNIT_EXPECT_GT(test, private, last_private);
		last_ro = ro + RO - 1;
		last_private = private + PRIVATE - 1;
		give(fake, memory);
	}
}

/* A strip is for more and more jobs, but not for any number, and goes with the last. */
static void strips_grow(struct kunit *test)
{
	struct fake *fake = test->priv;
	unsigned int jobs = 1, taken = 0;

	for (unsigned int round = 0; round < 6; round++, jobs = min(2 * jobs, STRIP_JOBS)) {
		struct asahi_strip *strip = NULL;

		for (unsigned int i = 0; i < jobs; i++) {
			take(test, &usual, &fake->memory[taken]);
			strip = strip ?: fake->memory[taken].strip;
			KUNIT_EXPECT_PTR_EQ(test, fake->memory[taken].strip, strip);
			taken++;
		}
		KUNIT_EXPECT_EQ(test, strip->ro.size, RO * jobs);
		KUNIT_EXPECT_EQ(test, strip->word.size, WORD * jobs);
	}

	/* The last strip is full, and the queue has it nonetheless. */
	while (taken > 1)
		give(fake, &fake->memory[--taken]);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[ASAHI_HEAP_GPU_SHARED]),
			WORD * (1 + STRIP_JOBS));
	give(fake, &fake->memory[0]);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[ASAHI_HEAP_GPU_SHARED]),
			WORD * STRIP_JOBS);

	/* A queue that was idle begins anew. */
	asahi_stash_trim(&fake->queue->stash);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[ASAHI_HEAP_GPU_SHARED]), 0);
	take(test, &usual, &fake->memory[0]);
	KUNIT_EXPECT_EQ(test, fake->memory[0].strip->ro.size, RO);
	give(fake, &fake->memory[0]);
}

/* A large job has a strip for itself, and the next ones go on with theirs. */
static void strips_are_bounded(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_work_memory need = usual;
	struct asahi_strip *strip;

	for (unsigned int i = 0; i < 2 * STRIP_JOBS + 1; i++)
		take(test, &usual, &fake->memory[i]);
	strip = fake->memory[2 * STRIP_JOBS].strip;

	need.private = STRIP_BYTES;
	take(test, &need, &fake->memory[JOBS - 1]);
	KUNIT_EXPECT_EQ(test, fake->memory[JOBS - 1].strip->private.size, STRIP_BYTES);
	KUNIT_EXPECT_EQ(test, fake->memory[JOBS - 1].strip->ro.size, RO);
	take(test, &usual, &fake->memory[JOBS - 2]);
	KUNIT_EXPECT_PTR_EQ(test, fake->memory[JOBS - 2].strip, strip);

	/* Smaller, but so that not all that a strip is for fit. */
	need.private = STRIP_BYTES / 3;
	take(test, &need, &fake->memory[JOBS - 3]);
	KUNIT_EXPECT_EQ(test, fake->memory[JOBS - 3].strip->private.size, 2 * need.private);

	for (unsigned int i = 0; i < JOBS; i++)
		if (fake->memory[i].strip)
			give(fake, &fake->memory[i]);
}

/* Renders of some kinds have control words, and compute work has none. */
static void words_are_for_those_with(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_work_memory without = usual;

	without.word = 0;
	for (unsigned int i = 0; i < JOBS; i++) {
		bool with = i % 4 >= 2;

		/* The second one without has made a strip that has room for the first one with. */
		take(test, with ? &usual : &without, &fake->memory[i]);
		if (with)
			expect_all(test, &fake->memory[i], 0);
	}
	for (unsigned int i = 0; i < JOBS; i++)
		give(fake, &fake->memory[i]);
}

/* A buffer is given to a job of the same size, cleared; and to no other. */
static void buffers_of_equal_size(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_job_memory *memory = fake->memory;
	struct asahi_work_memory larger = usual, smaller = usual;
	u64 va;

	larger.gpu = 2 * GPU;
	smaller.gpu = GPU / 2;
	take(test, &usual, &memory[0]);
	va = memory[0].gpu.va;
	memset(memory[0].gpu.map, 0xff, GPU);
	give(fake, &memory[0]);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, 1);

	take(test, &larger, &memory[1]);
	take(test, &smaller, &memory[2]);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, 1);
	take(test, &usual, &memory[0]);
	KUNIT_EXPECT_EQ(test, memory[0].gpu.va, va);
	expect_all(test, &memory[0], 0);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, 0);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.bytes, 0);

	/* Each size has its own. */
	give(fake, &memory[1]);
	give(fake, &memory[2]);
	give(fake, &memory[0]);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, 3);
	take(test, &smaller, &memory[2]);
	take(test, &larger, &memory[1]);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, 1);
	give(fake, &memory[1]);
	give(fake, &memory[2]);
}

/* A buffer that is kept is not the job's any more. */
static void buffers_are_kept_once(struct kunit *test)
{
	struct fake *fake = test->priv;

	take(test, &usual, &fake->memory[0]);
	asahi_stash_keep(&fake->queue->stash, &fake->memory[0]);
	KUNIT_EXPECT_NULL(test, fake->memory[0].gpu.node);
	asahi_stash_keep(&fake->queue->stash, &fake->memory[0]);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, 1);
	asahi_stash_free(&fake->queue->stash, &fake->memory[0]);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[HEAP_GPU]), GPU);
}

static void job_free(struct llist_node *list)
{
	struct asahi_job *job, *next;

	llist_for_each_entry_safe(job, next, list, free_link)
		asahi_stash_free(&job->queue->stash, &job->memory);
}

/* A job's buffer is the next one's as soon as nobody uses the job, and before it is freed. */
static void jobs_leave_buffers(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_job *job = kunit_kzalloc(test, sizeof(*job), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, job);
	asahi_room_init(&fake->queue->room);
	fake->queue->adev = fake->adev;
	fake->adev->batch = asahi_batch_create(ASAHI_BATCH_MS, job_free);
	KUNIT_ASSERT_NOT_NULL(test, fake->adev->batch);
	kref_init(&job->refcount);
	job->queue = fake->queue;
	take(test, &usual, &job->memory);

	asahi_job_put(asahi_job_get(job));
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, 0);
	asahi_job_put(job);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, 1);
	for (unsigned int i = 0; i < 100 && !asahi_batch_is_empty(fake->adev->batch); i++)
		msleep(20);
	KUNIT_EXPECT_TRUE(test, asahi_batch_is_empty(fake->adev->batch));
	asahi_batch_destroy(fake->adev->batch);
	KUNIT_EXPECT_NULL(test, job->memory.strip);
}

static void buffers_are_bounded(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_work_memory need = usual;

	need.gpu = GPU / 2;
	for (unsigned int i = 0; i < BUFFERS + 1; i++)
		take(test, &need, &fake->memory[i]);
	for (unsigned int i = 0; i < BUFFERS + 1; i++)
		give(fake, &fake->memory[i]);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, BUFFERS);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[HEAP_GPU]), BUFFERS * GPU / 2);
	asahi_stash_trim(&fake->queue->stash);

	need.gpu = BYTES / 4;
	for (unsigned int i = 0; i < 5; i++)
		take(test, &need, &fake->memory[i]);
	for (unsigned int i = 0; i < 5; i++)
		give(fake, &fake->memory[i]);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, 4);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.bytes, BYTES);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[HEAP_GPU]), BYTES);
}

/* A queue that gives all back goes on, and its jobs keep theirs. */
static void trimmed_queue(struct kunit *test)
{
	struct fake *fake = test->priv;

	for (unsigned int i = 0; i < 5; i++)
		take(test, &usual, &fake->memory[i]);
	fill_all(&fake->memory[4], 0xff);
	for (unsigned int i = 0; i < 4; i++)
		give(fake, &fake->memory[i]);
	KUNIT_EXPECT_TRUE(test, asahi_stash_is_kept(&fake->queue->stash));

	asahi_stash_trim(&fake->queue->stash);
	KUNIT_EXPECT_FALSE(test, asahi_stash_is_kept(&fake->queue->stash));
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[HEAP_GPU]), GPU);
	expect_all(test, &fake->memory[4], 0xff);

	take(test, &usual, &fake->memory[0]);
	take(test, &usual, &fake->memory[1]);
	KUNIT_EXPECT_TRUE(test, asahi_stash_is_kept(&fake->queue->stash));
	give(fake, &fake->memory[0]);
	give(fake, &fake->memory[4]);
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, 2);

	/* Nobody would take the buffer of a job that ends long after it. */
	asahi_stash_trim(&fake->queue->stash);
	give(fake, &fake->memory[1]);
	KUNIT_EXPECT_FALSE(test, asahi_stash_is_kept(&fake->queue->stash));
	KUNIT_EXPECT_EQ(test, fake->queue->stash.count, 0);
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[HEAP_GPU]), 0);
}

/* Jobs outlive their queue's ID, and leave nothing to it. */
static void closed_queue(struct kunit *test)
{
	struct fake *fake = test->priv;

	for (unsigned int i = 0; i < 4; i++)
		take(test, &usual, &fake->memory[i]);
	give(fake, &fake->memory[0]);
	asahi_stash_close(&fake->queue->stash);
	KUNIT_EXPECT_FALSE(test, asahi_stash_is_kept(&fake->queue->stash));
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[HEAP_GPU]), 3 * GPU);

	/* A SUBMIT that has found it before. */
	take(test, &usual, &fake->memory[0]);
	KUNIT_EXPECT_FALSE(test, asahi_stash_is_kept(&fake->queue->stash));
	for (unsigned int i = 0; i < 4; i++) {
		give(fake, &fake->memory[i]);
		KUNIT_EXPECT_FALSE(test, asahi_stash_is_kept(&fake->queue->stash));
	}
	KUNIT_EXPECT_EQ(test, asahi_heap_used(fake->heap[HEAP_GPU]), 0);
}

static void idle_queue(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_stash *stash = &fake->queue->stash;
	unsigned long later;

	KUNIT_EXPECT_FALSE(test, asahi_stash_is_idle(stash, jiffies, 0));
	take(test, &usual, &fake->memory[0]);
	give(fake, &fake->memory[0]);
	later = stash->used_at + msecs_to_jiffies(ASAHI_STASH_IDLE_MS);
	KUNIT_EXPECT_FALSE(test, asahi_stash_is_idle(stash, later - 1, ASAHI_STASH_IDLE_MS));
	KUNIT_EXPECT_TRUE(test, asahi_stash_is_idle(stash, later, ASAHI_STASH_IDLE_MS));

	asahi_stash_trim(stash);
	KUNIT_EXPECT_FALSE(test, asahi_stash_is_idle(stash, later, ASAHI_STASH_IDLE_MS));
}

/* Where there is no memory for several jobs there may be for one; what failed leaves nothing. */
static void memory_is_short(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct asahi_work_memory need = usual;
	unsigned int i;

	/* Each of the device's heaps has 1 MiB, of which strips for three jobs leave a part. */
	need.private = SZ_16K;
	take(test, &need, &fake->memory[0]);
	fake->full = true;
	for (i = 1; i < JOBS; i++)
		if (asahi_stash_take(&fake->queue->stash, &need, &fake->memory[i]))
			break;
	asahi_stash_free(&fake->queue->stash, &fake->memory[i]);
	KUNIT_EXPECT_NULL(test, fake->memory[i].strip);
	KUNIT_EXPECT_NULL(test, fake->memory[i].gpu.node);
	KUNIT_EXPECT_EQ(test, i, SZ_1M / SZ_16K);

	while (i--)
		give(fake, &fake->memory[i]);
}

static struct kunit_case asahi_stash_cases[] = {
	KUNIT_CASE(jobs_are_apart),
	KUNIT_CASE(cached_memory_is_used_once),
	KUNIT_CASE(strips_grow),
	KUNIT_CASE(strips_are_bounded),
	KUNIT_CASE(words_are_for_those_with),
	KUNIT_CASE(buffers_of_equal_size),
	KUNIT_CASE(buffers_are_kept_once),
	KUNIT_CASE(jobs_leave_buffers),
	KUNIT_CASE(buffers_are_bounded),
	KUNIT_CASE(trimmed_queue),
	KUNIT_CASE(closed_queue),
	KUNIT_CASE(idle_queue),
	KUNIT_CASE(memory_is_short),
	{}
};

static struct kunit_suite asahi_stash_suite = {
	.name = "asahi_stash",
	.init = stash_test_init,
	.exit = stash_test_exit,
	.test_cases = asahi_stash_cases,
};

kunit_test_suite(asahi_stash_suite);
