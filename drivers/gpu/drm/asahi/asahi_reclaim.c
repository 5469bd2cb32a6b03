// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What the system gets back when it is short of memory.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/debugfs.h>
#include <linux/dma-resv.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/list_sort.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/shrinker.h>
#include <linux/sizes.h>
#include <linux/swap.h>

#include <kunit/visibility.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>
#include <drm/drm_gpuvm.h>
#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_evict.h"
#include "asahi_heap.h"
#include "asahi_reclaim.h"
#include "asahi_rest.h"
#include "asahi_trim.h"
#include "asahi_vm_priv.h"

/**
 * DOC: Reclaim
 *
 * All of GPU memory is the system's memory. When that is short the kernel asks the
 * shrinker, which evicts objects (see "Eviction") in this order:
 *
 * 1. those that are mapped in no address space;
 * 2. those of address spaces that are idle, and had no job for ASAHI_RECLAIM_IDLE_MS: the
 *    one that is idle for the longest time first, since its next SUBMIT needs all of its
 *    objects anyway;
 * 3. those of all other idle address spaces, in the same order; for those that are at work
 *    it waits, but only ASAHI_RECLAIM_WAITS times, ASAHI_RECLAIM_WAIT_MS each;
 * 4. those that are mapped in several.
 *
 * The last two are for callers that may wait.
 *
 * What the driver itself keeps goes as well, in workers, as some of it takes a word with
 * the firmware: memory that waits for a flush and blocks that nothing is in (see "Garbage,
 * and memory that goes"), and large vertex buffers of queues without jobs (see "Trimming").
 * Rings, scenes of jobs, and all else that the firmware may read, stay.
 *
 * No object's contents are thrown away, since no client says what it does not need. So
 * without swap there is nothing to gain from objects, and none is evicted.
 *
 * **SUBMIT restores** all that its address space has lost, before it makes anything that
 * a fence stands for. An error there costs a client of Mesa its device, and so does one
 * when the job is made. So where there is no memory for either it lets go of the address
 * space's locks, asks for memory, and waits for its own work, for ASAHI_RECLAIM_SUBMIT_MS
 * at most, and for the workers that give memory back, for ASAHI_RECLAIM_WORKER_MS each. A
 * signal ends the wait. It tries ASAHI_RECLAIM_TRIES times, and then gives back what it has
 * restored. While it restores it holds the queue's *submit_lock*, so that its order stays;
 * whoever closes the queue waits for it.
 *
 * In debugfs, ``reclaim`` shows what there is and has been, and a number of pages that is
 * written to ``shrink`` is what the shrinker is asked for, with or without swap.
 */

/* Address spaces whose last job is younger are left alone for as long as possible. */
#define ASAHI_RECLAIM_IDLE_MS	1000

/* How often and how long a scan waits for work. */
#define ASAHI_RECLAIM_WAITS	3
#define ASAHI_RECLAIM_WAIT_MS	10

/* What queues may have in their vertex buffers, at least, if one of these is large. */
#define ASAHI_RECLAIM_TRIM_PAGES	(SZ_16M >> PAGE_SHIFT)

/* How often SUBMIT tries to get the memory back that its objects have lost. */
#define ASAHI_RECLAIM_TRIES	4

/* How long a SUBMIT that has no memory waits for work of its own. */
#define ASAHI_RECLAIM_SUBMIT_MS	100

/* And how long for a worker that gives memory back. */
#define ASAHI_RECLAIM_WORKER_MS	1000

static int asahi_reclaim_cmp_used(void *priv, const struct list_head *a, const struct list_head *b)
{
	const struct asahi_reclaim_vm *vm_a = container_of(a, struct asahi_reclaim_vm, link);
	const struct asahi_reclaim_vm *vm_b = container_of(b, struct asahi_reclaim_vm, link);

	return time_after(READ_ONCE(vm_a->used), READ_ONCE(vm_b->used));
}

static unsigned int asahi_reclaim_begin_scan(struct asahi_device *adev)
{
	struct asahi_reclaim *reclaim = &adev->reclaim;

	guard(mutex)(&adev->drm.gem_lru_mutex);
	list_sort(NULL, &reclaim->vms, asahi_reclaim_cmp_used);
	return ++reclaim->scans;
}

/* The next address space that a scan has not looked at, with a reference to its base. */
static struct asahi_vm *asahi_reclaim_next_vm(struct asahi_device *adev, unsigned int scan)
{
	struct asahi_reclaim *reclaim = &adev->reclaim;
	struct asahi_reclaim_vm *next;
	struct asahi_vm *vm;

	guard(mutex)(&adev->drm.gem_lru_mutex);

	next = list_first_entry_or_null(&reclaim->vms, struct asahi_reclaim_vm, link);
	if (!next || next->scan == scan)
		return NULL;

	/* It is released only after it has left the list. */
	next->scan = scan;
	list_move_tail(&next->link, &reclaim->vms);
	vm = container_of(next, struct asahi_vm, reclaim);
	drm_gpuvm_get(&vm->base);
	return vm;
}

/* Whether objects can be evicted from an address space; waits if there is patience left. */
static bool asahi_reclaim_vm_is_idle(struct asahi_vm *vm, bool wait, unsigned int *patience)
{
	struct dma_resv *resv = drm_gpuvm_resv(&vm->base);
	unsigned long ready = READ_ONCE(vm->reclaim.used) + msecs_to_jiffies(ASAHI_RECLAIM_IDLE_MS);

	if (dma_resv_is_locked(resv))
		return false;
	if (!wait && time_before(jiffies, ready))
		return false;
	if (dma_resv_test_signaled(resv, DMA_RESV_USAGE_BOOKKEEP))
		return true;
	if (!wait || !*patience)
		return false;

	--*patience;
	atomic_long_inc(&vm->adev->reclaim.waits);
	return dma_resv_wait_timeout(resv, DMA_RESV_USAGE_BOOKKEEP, false,
				     msecs_to_jiffies(ASAHI_RECLAIM_WAIT_MS)) > 0;
}

static unsigned long asahi_reclaim_scan_list(struct asahi_device *adev, struct drm_gem_lru *lru,
					     unsigned long pages)
{
	unsigned long remaining = 0;

	return drm_gem_lru_scan(&adev->drm, lru, min(pages, UINT_MAX), &remaining,
				asahi_evict_object, NULL);
}

static unsigned long asahi_reclaim_scan_vms(struct asahi_device *adev, unsigned long pages,
					    bool wait)
{
	unsigned int scan = asahi_reclaim_begin_scan(adev);
	unsigned int patience = ASAHI_RECLAIM_WAITS;
	unsigned long freed = 0;
	struct asahi_vm *vm;

	while (freed < pages && (vm = asahi_reclaim_next_vm(adev, scan))) {
		if (asahi_reclaim_vm_is_idle(vm, wait, &patience))
			freed += asahi_reclaim_scan_list(adev, &vm->reclaim.lru, pages - freed);
		drm_gpuvm_put(&vm->base);
	}

	return freed;
}

/**
 * asahi_reclaim_scan() - evict objects
 * @adev: device
 * @pages: how many pages are wanted
 * @wait: the caller may wait, a few times 10 ms
 *
 * Process context, also from reclaim.
 *
 * Return: pages that were taken from objects.
 */
unsigned long asahi_reclaim_scan(struct asahi_device *adev, unsigned long pages, bool wait)
{
	struct asahi_reclaim *reclaim = &adev->reclaim;
	unsigned long freed;

	freed = asahi_reclaim_scan_list(adev, &reclaim->unbound, pages);
	if (freed < pages)
		freed += asahi_reclaim_scan_vms(adev, pages - freed, false);
	if (freed < pages && wait)
		freed += asahi_reclaim_scan_vms(adev, pages - freed, true);
	if (freed < pages && wait)
		freed += asahi_reclaim_scan_list(adev, &reclaim->shared, pages - freed);

	return freed;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_reclaim_scan);

static bool asahi_reclaim_may_wait(const struct shrink_control *sc)
{
	return current_is_kswapd() || sc->gfp_mask & __GFP_DIRECT_RECLAIM;
}

/* What the driver holds itself goes in workers: some of it takes a word with the firmware. */
static void asahi_reclaim_ask_others(struct asahi_device *adev)
{
	asahi_heaps_reclaim(adev->heaps);
	asahi_trim_reclaim(adev);
}

static unsigned long asahi_reclaim_count_others(struct asahi_device *adev)
{
	unsigned long pages = asahi_heaps_garbage(adev->heaps) >> PAGE_SHIFT;

	return asahi_trim_is_waiting(adev) ? pages + ASAHI_RECLAIM_TRIM_PAGES : pages;
}

static unsigned long asahi_reclaim_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct asahi_device *adev = shrinker->private_data;
	struct asahi_reclaim *reclaim = &adev->reclaim;
	unsigned long pages = asahi_reclaim_count_others(adev);

	if (get_nr_swap_pages() <= 0)
		return pages ?: SHRINK_EMPTY;

	/* Counts may be those of a moment ago. */
	pages += READ_ONCE(reclaim->unbound.count) + atomic_long_read(&reclaim->mapped);
	if (asahi_reclaim_may_wait(sc))
		pages += READ_ONCE(reclaim->shared.count);

	return pages ?: SHRINK_EMPTY;
}

static unsigned long asahi_reclaim_shrink(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct asahi_device *adev = shrinker->private_data;
	unsigned long freed;

	asahi_reclaim_ask_others(adev);
	if (get_nr_swap_pages() <= 0)
		return SHRINK_STOP;

	freed = asahi_reclaim_scan(adev, sc->nr_to_scan, asahi_reclaim_may_wait(sc));
	return freed ?: SHRINK_STOP;
}

static bool asahi_reclaim_is_trimming(struct asahi_device *adev)
{
	return asahi_trim_is_reclaiming(adev);
}

static bool asahi_reclaim_is_freeing(struct asahi_device *adev)
{
	return asahi_heaps_are_reclaiming(adev->heaps);
}

/* For a moment, and then as long as a worker is busy, up to a limit. */
static int asahi_reclaim_wait_for(struct asahi_device *adev,
				  bool (*is_busy)(struct asahi_device *adev))
{
	unsigned long end = jiffies + msecs_to_jiffies(ASAHI_RECLAIM_WORKER_MS);

	do {
		schedule_timeout_interruptible(msecs_to_jiffies(ASAHI_RECLAIM_WAIT_MS));
		if (signal_pending(current))
			return -EINTR;
	} while (is_busy(adev) && time_before(jiffies, end));

	return 0;
}

/* For memory that others give back; none of the address space's locks is held. */
static int asahi_reclaim_wait(struct asahi_vm *vm)
{
	struct dma_resv *resv = drm_gpuvm_resv(&vm->base);
	struct asahi_device *adev = vm->adev;
	long ret;

	atomic_long_inc(&adev->reclaim.failures);
	asahi_reclaim_ask_others(adev);

	ret = dma_resv_wait_timeout(resv, DMA_RESV_USAGE_BOOKKEEP, true,
				    msecs_to_jiffies(ASAHI_RECLAIM_SUBMIT_MS));
	if (ret < 0)
		return -EINTR;

	ret = asahi_reclaim_wait_for(adev, asahi_reclaim_is_trimming);
	if (ret)
		return ret;

	/* What was trimmed since is in blocks of heaps. */
	asahi_heaps_reclaim(adev->heaps);
	return asahi_reclaim_wait_for(adev, asahi_reclaim_is_freeing);
}

/**
 * asahi_reclaim_again() - is a step of SUBMIT to be done again for want of memory?
 * @vm: address space of the job, with none of its locks held
 * @ret: what came of it; -EINTR if the task is not to wait any longer
 * @tries: how often it was done before; 0 at first
 *
 * Asks for memory and waits a moment if @ret is -ENOMEM. Process context; interruptible.
 *
 * Return: true to do it again; false if @ret is what SUBMIT returns.
 */
bool asahi_reclaim_again(struct asahi_vm *vm, int *ret, unsigned int *tries)
{
	if (*ret != -ENOMEM || ++*tries >= ASAHI_RECLAIM_TRIES)
		return false;

	if (asahi_reclaim_wait(vm)) {
		*ret = -EINTR;
		return false;
	}

	return true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_reclaim_again);

/**
 * asahi_reclaim_lock_submit() - lock what a job needs, and have all of its memory there
 * @vm: address space that the job runs in
 * @lock: as for asahi_vm_lock_submit()
 *
 * As asahi_vm_lock_submit(), but waits for memory if there is none, and tries again. When
 * it fails for that, objects that can be evicted from @vm are. Process context;
 * interruptible.
 *
 * Return: 0, -EINTR, -ENOMEM.
 */
int asahi_reclaim_lock_submit(struct asahi_vm *vm, struct asahi_vm_lock *lock)
{
	unsigned int tries = 0;
	int ret;

	do {
		ret = asahi_vm_lock_submit(vm, lock);
	} while (asahi_reclaim_again(vm, &ret, &tries));

	/* Without the rest it is of no use, and a cgroup that is full has no other way to it. */
	if (ret == -ENOMEM)
		asahi_reclaim_scan_list(vm->adev, &vm->reclaim.lru, ULONG_MAX);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_reclaim_lock_submit);

static int asahi_reclaim_show(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct asahi_reclaim *reclaim = &to_asahi_device(entry->dev)->reclaim;

	seq_printf(m, "unbound %ld\n", READ_ONCE(reclaim->unbound.count));
	seq_printf(m, "mapped %ld\n", atomic_long_read(&reclaim->mapped));
	seq_printf(m, "shared %ld\n", READ_ONCE(reclaim->shared.count));
	seq_printf(m, "evicted %ld\n", atomic_long_read(&reclaim->evicted));
	seq_printf(m, "restored %ld\n", atomic_long_read(&reclaim->restored));
	seq_printf(m, "waits %ld\n", atomic_long_read(&reclaim->waits));
	seq_printf(m, "failures %ld\n", atomic_long_read(&reclaim->failures));
	return 0;
}

static int asahi_reclaim_get_last(void *data, u64 *pages)
{
	struct asahi_device *adev = data;

	*pages = READ_ONCE(adev->reclaim.last);
	return 0;
}

static int asahi_reclaim_set_pages(void *data, u64 pages)
{
	struct asahi_device *adev = data;
	unsigned long freed;
	unsigned int flags;
	int idx;

	if (!drm_dev_enter(&adev->drm, &idx))
		return -ENODEV;

	/* As the kernel's reclaim: lockdep sees what it holds, and nothing reclaims in it. */
	fs_reclaim_acquire(GFP_KERNEL);
	flags = memalloc_noreclaim_save();
	asahi_reclaim_ask_others(adev);
	freed = asahi_reclaim_scan(adev, pages, true);
	memalloc_noreclaim_restore(flags);
	fs_reclaim_release(GFP_KERNEL);
	WRITE_ONCE(adev->reclaim.last, freed);

	drm_dev_exit(idx);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(asahi_reclaim_fops, asahi_reclaim_get_last, asahi_reclaim_set_pages,
			 "%llu\n");

static int asahi_reclaim_init(struct asahi_device *adev)
{
	struct shrinker *shrinker;

	/* What reclaim waits for must not be held across an allocation. */
	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(&adev->drm.gem_lru_mutex);
	fs_reclaim_release(GFP_KERNEL);

	shrinker = shrinker_alloc(0, "drm-asahi:%s", dev_name(adev->drm.dev));
	if (!shrinker)
		return -ENOMEM;

	shrinker->count_objects = asahi_reclaim_count;
	shrinker->scan_objects = asahi_reclaim_shrink;
	shrinker->private_data = adev;
	adev->reclaim.shrinker = shrinker;
	shrinker_register(shrinker);

	drm_debugfs_add_file(&adev->drm, "reclaim", asahi_reclaim_show, NULL);
	debugfs_create_file("shrink", 0600, adev->drm.debugfs_root, adev, &asahi_reclaim_fops);
	return 0;
}

static void asahi_reclaim_unplug(struct asahi_device *adev)
{
	if (adev->reclaim.shrinker)
		shrinker_free(adev->reclaim.shrinker);
	adev->reclaim.shrinker = NULL;
}

static void asahi_reclaim_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_reclaim *reclaim = &adev->reclaim;

	if (!asahi_rest_asks(rest, ASAHI_REST_CLOSED))
		return;

	guard(mutex)(&adev->drm.gem_lru_mutex);
	asahi_rest_expect(rest, ASAHI_REST_CLOSED, list_empty(&reclaim->vms),
			  "there are objects of address spaces that are gone");
	asahi_rest_expect(rest, ASAHI_REST_CLOSED, !atomic_long_read(&reclaim->mapped),
			  "%ld pages count as mapped", atomic_long_read(&reclaim->mapped));
}

const struct asahi_block asahi_block_reclaim = {
	.name = "reclaim",
	.init = asahi_reclaim_init,
	.unplug = asahi_reclaim_unplug,
	.at_rest = asahi_rest_ptr(asahi_reclaim_at_rest),
};
EXPORT_SYMBOL_IF_KUNIT(asahi_block_reclaim);
