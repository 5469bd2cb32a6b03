// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory that the firmware sees: what concerns all heaps of a device, and those of the
 * kernel half.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_heap_priv.h"
#include "asahi_rest.h"
#include "asahi_state.h"

/**
 * DOC: Garbage, and memory that goes
 *
 * Memory that the firmware caches is not free when its owner gives it up: a
 * line of it may still be written back later, over what a new owner has put
 * there. It is garbage until the firmware has flushed its cache. One worker sees
 * to that for all heaps at once: soon when enough has piled up, otherwise within
 * half a second, whether somebody allocates or not. Allocations do not wait for
 * it, unless the firmware is so far behind that garbage exceeds 64 MiB.
 *
 * The same worker gives blocks back that nothing is in. It keeps what the heap has
 * had in use at a time since the worker looked last, so a heap that is in steady
 * use neither shrinks nor grows, and an idle one shrinks to what it may keep. When the
 * system is short of memory it gives all of them back.
 * Blocks of the kernel half that the firmware caches stay, however: nobody has
 * tried on hardware to take them away from firmware that runs. With the module
 * parameter *unproven* they go as well.
 *
 * Where the firmware does not confirm that it has flushed what is unmapped, the
 * block is lost: its pages are kept out of use, they are counted in debugfs
 * (``leaked-blocks`` and ``leaked-pages`` in ``asahi/objects``), and the log says
 * so once. A reset of the firmware with its power empties its cache, after which
 * they are freed.
 *
 * Before the firmware is stopped its cache is flushed, all heaps are made uncached,
 * and it is flushed again: the first flush takes what the second mapping would not
 * see, the second what came in between. If it cannot be done, as the firmware has
 * crashed, all blocks that it caches are lost at unplug. Otherwise nothing but the
 * kernel accesses the memory from there on; all DMA mappings are removed at once,
 * while owners keep and free their allocations as before.
 */

/* Beyond this a flush is worth its time. */
#define ASAHI_HEAPS_FLUSH_BYTES		SZ_4M
#define ASAHI_HEAPS_FLUSH_NODES		1024
/* Beyond this it has to come first. */
#define ASAHI_HEAPS_GARBAGE_MAX		SZ_64M

/* What is left when nobody does anything any more waits for so long. */
#define ASAHI_HEAPS_IDLE		(HZ / 2)

/* By how much the heaps of the kernel half grow at least. */
#define ASAHI_HEAPS_KERNEL_BLOCK	SZ_1M

/**
 * asahi_heaps_kick() - something was freed
 * @heaps: heaps of the device
 *
 * Any context.
 */
void asahi_heaps_kick(struct asahi_heaps *heaps)
{
	bool much = atomic64_read(&heaps->garbage_bytes) >= ASAHI_HEAPS_FLUSH_BYTES ||
		    atomic_read(&heaps->garbage_nodes) >= ASAHI_HEAPS_FLUSH_NODES;

	if (much && !READ_ONCE(heaps->retry))
		mod_delayed_work(heaps->wq, &heaps->work, 0);
	else
		queue_delayed_work(heaps->wq, &heaps->work, ASAHI_HEAPS_IDLE);
}

/**
 * asahi_heaps_reclaim() - the system is short of memory
 * @heaps: heaps of the device
 *
 * The worker flushes what is garbage and gives all blocks back that nothing is in, whatever
 * heaps have used at a time. Any context.
 */
void asahi_heaps_reclaim(struct asahi_heaps *heaps)
{
	WRITE_ONCE(heaps->hurry, true);
	if (!READ_ONCE(heaps->retry))
		mod_delayed_work(heaps->wq, &heaps->work, 0);
}

/**
 * asahi_heaps_garbage() - memory that asahi_heaps_reclaim() could give back
 * @heaps: heaps of the device
 *
 * Any context.
 *
 * Return: bytes that wait for a flush.
 */
u64 asahi_heaps_garbage(const struct asahi_heaps *heaps)
{
	return atomic64_read(&heaps->garbage_bytes);
}

/**
 * asahi_heaps_are_reclaiming() - is the worker doing what asahi_heaps_reclaim() asks for?
 * @heaps: heaps of the device
 *
 * Any context.
 *
 * Return: true if it is, or has yet to begin.
 */
bool asahi_heaps_are_reclaiming(struct asahi_heaps *heaps)
{
	return READ_ONCE(heaps->hurry) || work_busy(&heaps->work.work) & WORK_BUSY_RUNNING;
}

/**
 * asahi_heaps_freed() - memory that heaps have given back
 * @heaps: heaps of the device
 *
 * Any context.
 *
 * Return: pages of blocks that were freed so far.
 */
unsigned long asahi_heaps_freed(const struct asahi_heaps *heaps)
{
	return atomic_long_read(&heaps->freed_pages);
}

/**
 * asahi_heaps_throttle() - wait if there is far too much garbage
 * @heaps: heaps of the device
 *
 * Process context, may sleep; waits for the firmware for a bounded time.
 *
 * Return: 0, or -ENOMEM if the firmware does not flush it.
 */
int asahi_heaps_throttle(struct asahi_heaps *heaps)
{
	if (atomic64_read(&heaps->garbage_bytes) < ASAHI_HEAPS_GARBAGE_MAX)
		return 0;

	flush_delayed_work(&heaps->work);
	return atomic64_read(&heaps->garbage_bytes) < ASAHI_HEAPS_GARBAGE_MAX ? 0 : -ENOMEM;
}

/**
 * asahi_heaps_drop_block() - give a block back
 * @heaps: heaps of the device, with their lock held
 * @block: block that is not in its heap any more
 *
 * Process context, may sleep; waits for the firmware, for a bounded time, if it
 * caches such memory.
 */
void asahi_heaps_drop_block(struct asahi_heaps *heaps, struct asahi_heap_block *block)
{
	lockdep_assert_held(&heaps->lock);

	/* A firmware that was stopped when its cache was clean writes nothing back. */
	if (heaps->unplugged || !asahi_heap_block_unmap(block) || !heaps->dirty) {
		atomic_long_add(block->size >> PAGE_SHIFT, &heaps->freed_pages);
		asahi_heap_block_free(block);
		return;
	}

	drm_warn_once(&heaps->adev->drm,
		      "the firmware may still write to memory that it has not flushed: it is leaked (see \"leaked-pages\" in debugfs)\n");
	asahi_heap_block_lose(block);
	asahi_heap_block_detach(block);
	block->generation = atomic_read(&heaps->generation);
	list_add(&block->link, &heaps->lost);
}

static int asahi_heaps_collect(struct asahi_heaps *heaps)
{
	struct asahi_heap *heap;
	int ret;

	lockdep_assert_held(&heaps->lock);

	if (!atomic_read(&heaps->garbage_nodes))
		return 0;

	list_for_each_entry(heap, &heaps->heaps, link)
		if (asahi_heap_is_cached(heap))
			asahi_heap_begin_flush(heap);

	ret = heaps->flush(heaps->adev);
	WRITE_ONCE(heaps->retry, ret);

	list_for_each_entry(heap, &heaps->heaps, link)
		if (asahi_heap_is_cached(heap))
			asahi_heap_end_flush(heap, !ret);
	return ret;
}

/* Blocks that were lost to a firmware that has been without power since. */
static void asahi_heaps_free_lost(struct asahi_heaps *heaps)
{
	struct asahi_heap_block *block, *next;

	lockdep_assert_held(&heaps->lock);

	list_for_each_entry_safe(block, next, &heaps->lost, link) {
		if (block->generation == atomic_read(&heaps->generation))
			continue;
		list_del(&block->link);
		asahi_heap_block_find(block);
		asahi_heap_block_free(block);
	}
}

static bool asahi_heaps_trim(struct asahi_heaps *heaps)
{
	bool hurry = xchg(&heaps->hurry, false);
	struct asahi_heap_block *block;
	struct asahi_heap *heap;
	bool more = false;

	lockdep_assert_held(&heaps->lock);

	list_for_each_entry(heap, &heaps->heaps, link) {
		/* Forget what it had in use at a time. */
		if (hurry) {
			asahi_heap_end_trim(heap);
			asahi_heap_spare_forget(heap);
		}
		while ((block = asahi_heap_take_empty(heap)))
			asahi_heaps_drop_block(heaps, block);
		more |= asahi_heap_end_trim(heap);
	}

	return more;
}

/**
 * asahi_heaps_run() - flush what is garbage, and give back what is not needed
 * @heaps: heaps of the device
 *
 * Process context, may sleep; waits for the firmware for a bounded time.
 *
 * Return: 0 if nothing is left to be done; -EAGAIN if it is; another negative
 * error if the firmware has not flushed its cache.
 */
int asahi_heaps_run(struct asahi_heaps *heaps)
{
	bool more;
	int ret;

	guard(mutex)(&heaps->lock);

	if (heaps->unplugged)
		return 0;

	ret = asahi_heaps_collect(heaps);
	asahi_heaps_free_lost(heaps);
	more = asahi_heaps_trim(heaps);
	if (ret)
		return ret;

	return more ? -EAGAIN : 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heaps_run);

static void asahi_heaps_work(struct work_struct *work)
{
	struct asahi_heaps *heaps = container_of(to_delayed_work(work), struct asahi_heaps, work);
	int ret = asahi_heaps_run(heaps);

	/* One that does not run flushes nothing the next time either; a reset asks again. */
	if (ret && ret != -ENODEV)
		queue_delayed_work(heaps->wq, &heaps->work, ASAHI_HEAPS_IDLE);
}

static void asahi_heaps_protect(struct asahi_heaps *heaps, bool cached)
{
	struct asahi_heap *heap;

	lockdep_assert_held(&heaps->lock);

	heaps->uncached = !cached;
	list_for_each_entry(heap, &heaps->heaps, link)
		if (asahi_heap_is_cached(heap))
			asahi_heap_protect(heap, cached);
}

/**
 * asahi_heaps_quiesce() - leave nothing in the firmware's cache
 * @heaps: heaps of the device, or NULL
 *
 * For firmware that is about to be stopped and has nothing to do any more.
 * Process context, may sleep; waits for the firmware for a bounded time.
 *
 * Return: 0, or a negative error if the firmware has not flushed its cache: then
 * unplugging leaks what it may still write to.
 */
int asahi_heaps_quiesce(struct asahi_heaps *heaps)
{
	int ret;

	if (!heaps)
		return 0;

	guard(mutex)(&heaps->lock);

	if (!heaps->dirty || heaps->unplugged)
		return 0;

	ret = heaps->flush(heaps->adev);
	if (!ret) {
		asahi_heaps_protect(heaps, false);
		ret = heaps->flush(heaps->adev);
	}
	heaps->dirty = ret;
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heaps_quiesce);

/**
 * asahi_heaps_resume() - the firmware is about to be started
 * @heaps: heaps of the device
 *
 * Undoes asahi_heaps_quiesce(). Process context, may sleep.
 */
void asahi_heaps_resume(struct asahi_heaps *heaps)
{
	guard(mutex)(&heaps->lock);

	if (heaps->uncached)
		asahi_heaps_protect(heaps, true);
	heaps->dirty = true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heaps_resume);

/**
 * asahi_heaps_forget_cache() - the firmware's cache has lost its power
 * @heaps: heaps of the device
 *
 * What was lost to the firmware is freed, soon. Any context that may queue work.
 */
void asahi_heaps_forget_cache(struct asahi_heaps *heaps)
{
	atomic_inc(&heaps->generation);
	WRITE_ONCE(heaps->retry, false);
	mod_delayed_work(heaps->wq, &heaps->work, ASAHI_HEAPS_IDLE);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heaps_forget_cache);

static void asahi_heaps_abandon_lost(struct asahi_heaps *heaps)
{
	struct asahi_heap_block *block, *next;

	list_for_each_entry_safe(block, next, &heaps->lost, link) {
		list_del(&block->link);
		asahi_heap_block_free(block);
	}
}

/**
 * asahi_heaps_unplug() - give up all DMA mappings
 * @heaps: heaps of the device; neither GPU nor firmware reach them any more
 *
 * Allocations stay, and are freed as ever; new ones and new heaps fail. Process
 * context, may sleep.
 */
void asahi_heaps_unplug(struct asahi_heaps *heaps)
{
	struct asahi_heap *heap;

	disable_delayed_work_sync(&heaps->work);
	guard(mutex)(&heaps->lock);

	if (heaps->dirty)
		drm_warn(&heaps->adev->drm,
			 "the firmware has not flushed its cache: the memory in it is leaked\n");

	heaps->unplugged = true;
	asahi_heaps_abandon_lost(heaps);
	list_for_each_entry(heap, &heaps->heaps, link)
		asahi_heap_unplug(heap);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heaps_unplug);

/**
 * asahi_heaps_create() - prepare a device for heaps
 * @adev: device
 * @flush: makes the firmware write back and forget all that it has cached; 0 or a
 *	negative error, -ENODEV if it does not run
 *
 * Process context.
 *
 * Return: no heaps yet, or NULL if there is no memory.
 */
struct asahi_heaps *asahi_heaps_create(struct asahi_device *adev,
				       int (*flush)(struct asahi_device *adev))
{
	struct asahi_heaps *heaps;

	heaps = kzalloc_obj(*heaps);
	if (!heaps)
		return NULL;

	heaps->wq = alloc_ordered_workqueue("asahi-heaps", WQ_MEM_RECLAIM);
	if (!heaps->wq) {
		kfree(heaps);
		return NULL;
	}

	heaps->adev = adev;
	heaps->flush = flush;
	mutex_init(&heaps->lock);
	INIT_DELAYED_WORK(&heaps->work, asahi_heaps_work);
	INIT_LIST_HEAD(&heaps->heaps);
	INIT_LIST_HEAD(&heaps->lost);
	return heaps;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heaps_create);

/**
 * asahi_heaps_destroy() - undo asahi_heaps_create()
 * @heaps: heaps of a device, unplugged; none is left
 *
 * Process context.
 */
void asahi_heaps_destroy(struct asahi_heaps *heaps)
{
	WARN_ON_ONCE(!list_empty(&heaps->heaps));
	destroy_workqueue(heaps->wq);
	mutex_destroy(&heaps->lock);
	kfree(heaps);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heaps_destroy);

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
/**
 * asahi_heaps_at_rest() - say what heaps hold that they should not
 * @heaps: heaps of the device
 * @rest: what is known of it
 *
 * Process context; waits for a flush that is under way.
 */
void asahi_heaps_at_rest(struct asahi_heaps *heaps, struct asahi_rest *rest)
{
	struct asahi_heap *heap;
	u64 garbage = 0, counted;

	guard(mutex)(&heaps->lock);

	asahi_rest_expect(rest, ASAHI_REST_AWAKE, !heaps->uncached && heaps->dirty,
			  "the firmware caches nothing");
	asahi_rest_expect(rest, ASAHI_REST_AWAKE, !asahi_rest_disabled(&heaps->work.work),
			  "the worker that flushes is disabled");
	list_for_each_entry(heap, &heaps->heaps, link)
		garbage += asahi_heap_at_rest(heap, rest);

	counted = atomic64_read(&heaps->garbage_bytes);
	asahi_rest_expect(rest, ASAHI_REST_IDLE, counted == garbage,
			  "%llu bytes of garbage are counted, and there are %llu", counted,
			  garbage);
	asahi_rest_expect(rest, ASAHI_REST_IDLE | ASAHI_REST_AWAKE,
			  !garbage || work_busy(&heaps->work.work),
			  "%llu bytes of garbage wait for nobody", garbage);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heaps_at_rest);
#endif

/* The heaps of the kernel half. */

static const struct {
	const char *name;
	u64 start;
	u64 end;
	enum asahi_prot prot;
} asahi_heaps_kernel[ASAHI_HEAP_COUNT] = {
	[ASAHI_HEAP_PRIVATE] = {
		"private", AGX_VA_PRIVATE_START, AGX_VA_PRIVATE_END, ASAHI_PROT_FW_PRIV_RW,
	},
	[ASAHI_HEAP_GPU_RO] = {
		"gpu-ro", AGX_VA_GPU_RO_START, AGX_VA_GPU_RO_END, ASAHI_PROT_GPU_RO_FW_PRIV_RW,
	},
	[ASAHI_HEAP_SHARED] = {
		"shared", AGX_VA_SHARED_START, AGX_VA_SHARED_END, ASAHI_PROT_FW_SHARED_RW,
	},
	[ASAHI_HEAP_SHARED_RO] = {
		"shared-ro", AGX_VA_SHARED_RO_START, AGX_VA_SHARED_RO_END,
		ASAHI_PROT_FW_SHARED_RO,
	},
	[ASAHI_HEAP_GPU_SHARED] = {
		"gpu-shared", AGX_VA_GPU_SHARED_START, AGX_VA_GPU_SHARED_END,
		ASAHI_PROT_GPU_FW_SHARED_RW,
	},
};

/**
 * asahi_heap_create_kernel() - make a heap in the kernel half
 * @adev: device
 * @name: for messages; must stay
 * @start: first address, page aligned
 * @end: end of the addresses, page aligned
 * @prot: who may do what
 *
 * Process context, may sleep.
 *
 * Return: as asahi_heap_create().
 */
struct asahi_heap *asahi_heap_create_kernel(struct asahi_device *adev, const char *name,
					    u64 start, u64 end, enum asahi_prot prot)
{
	const struct asahi_heap_args args = {
		.name = name,
		.start = start,
		.end = end,
		.prot = prot,
		.mmu = &asahi_heap_mmu_aspace,
		.mmu_priv = &adev->kernel_as,
		.block_min = ASAHI_HEAPS_KERNEL_BLOCK,
		.keep = asahi_prot_is_cached(prot) && !asahi_allows(ASAHI_UNPROVEN_FLUSH) ?
				U64_MAX : ASAHI_HEAPS_KERNEL_BLOCK,
	};

	KUNIT_STATIC_STUB_REDIRECT(asahi_heap_create_kernel, adev, name, start, end, prot);
	return asahi_heap_create(adev->heaps, &args);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_create_kernel);

/* Firmware that has been stopped was made to flush before; see asahi_heaps_quiesce(). */
static int asahi_heaps_flush_cache(struct asahi_device *adev)
{
	if (asahi_state_fw(adev) == ASAHI_FW_FRESH)
		return 0;
	if (!asahi_state_fw_alive(adev))
		return -ENODEV;

	return asahi_channel_flush_cache(adev);
}

static int asahi_heaps_block_init(struct asahi_device *adev)
{
	adev->heaps = asahi_heaps_create(adev, asahi_heaps_flush_cache);
	if (!adev->heaps)
		return -ENOMEM;

	for (unsigned int i = 0; i < ASAHI_HEAP_COUNT; i++) {
		struct asahi_heap *heap;

		heap = asahi_heap_create_kernel(adev, asahi_heaps_kernel[i].name,
						asahi_heaps_kernel[i].start,
						asahi_heaps_kernel[i].end,
						asahi_heaps_kernel[i].prot);
		if (IS_ERR(heap))
			return PTR_ERR(heap);
		adev->heap[i] = heap;
	}

	return 0;
}

static void asahi_heaps_block_unplug(struct asahi_device *adev)
{
	if (adev->heaps)
		asahi_heaps_unplug(adev->heaps);
}

/* Whatever has put the firmware to sleep has flushed its cache before. */
static int asahi_heaps_block_resume(struct asahi_device *adev)
{
	asahi_heaps_resume(adev->heaps);
	return 0;
}

/* Garbage is flushed by the new firmware like its own. */
static int asahi_heaps_block_post_reset(struct asahi_device *adev)
{
	asahi_heaps_forget_cache(adev->heaps);
	return 0;
}

static void asahi_heaps_block_fini(struct asahi_device *adev)
{
	for (unsigned int i = 0; i < ASAHI_HEAP_COUNT; i++) {
		asahi_heap_destroy(adev->heap[i]);
		adev->heap[i] = NULL;
	}

	if (adev->heaps)
		asahi_heaps_destroy(adev->heaps);
	adev->heaps = NULL;
}

static void asahi_heaps_block_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	asahi_heaps_at_rest(adev->heaps, rest);
}

const struct asahi_block asahi_block_heap = {
	.name = "heap",
	.init = asahi_heaps_block_init,
	.unplug = asahi_heaps_block_unplug,
	.resume = asahi_heaps_block_resume,
	.post_reset = asahi_heaps_block_post_reset,
	.fini = asahi_heaps_block_fini,
	.at_rest = asahi_rest_ptr(asahi_heaps_block_at_rest),
};
EXPORT_SYMBOL_IF_KUNIT(asahi_block_heap);
