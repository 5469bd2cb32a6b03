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
#include <linux/kref.h>
#include <linux/limits.h>
#include <linux/list_lru.h>
#include <linux/lockdep.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/nodemask.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/page_counter.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/shrinker.h>
#include <linux/sizes.h>
#include <linux/swap.h>

#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>
#include <drm/drm_gpuvm.h>
#include <drm/drm_print.h>

#include "asahi_batch.h"
#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_evict.h"
#include "asahi_gem_priv.h"
#include "asahi_heap.h"
#include "asahi_reclaim.h"
#include "asahi_rest.h"
#include "asahi_stashes.h"
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
 * **Memory cgroups** are asked one by one, and only for what is theirs (see "Lists, and
 * memory cgroups"). So a cgroup at its limit evicts its own objects, and no others. When the
 * whole system is short, the kernel asks all cgroups, one after the other, for a share of what
 * each has, but for those that it protects (``memory.low``). The order above holds within
 * each. Between cgroups it does not: nothing tells the shrinker why it is asked, so of two
 * cgroups the one whose address spaces have just worked loses its share, too.
 *
 * What the driver itself keeps goes as well, in workers, as some of it takes a word with
 * the firmware: jobs that are over (see "Freeing in batches"), memory that waits for a flush
 * and blocks that nothing is in (see "Garbage, and memory that goes"), what queues keep for
 * their next jobs, and large vertex buffers of queues without jobs (see "Trimming"). Rings,
 * scenes of other jobs, and all else that the firmware may read, stay. Clients share the
 * blocks, so this is asked for the whole system only, not for a cgroup.
 *
 * No object's contents are thrown away, since no client says what it does not need. So
 * without swap, or in a cgroup that may not swap any more, there is nothing to gain from
 * objects, and none is evicted.
 *
 * **Before the kernel kills** a process because the whole system is short, it asks once more,
 * by a notifier: for everything that can be evicted, whatever its age and cgroup, and for what
 * the driver keeps. It waits ASAHI_RECLAIM_OOM_MS at most until heaps have given their part
 * back. A cgroup that has reached its limit and gets nothing back kills one of its own,
 * without asking.
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
 * written to ``shrink`` is what the shrinker is asked for, of all cgroups, with or without
 * swap.
 */

/* Address spaces whose last job is younger are left alone for as long as possible. */
#define ASAHI_RECLAIM_IDLE_MS	1000

/* How often and how long a scan waits for work. */
#define ASAHI_RECLAIM_WAITS	3
#define ASAHI_RECLAIM_WAIT_MS	10

/* How long a process that is about to be killed waits for memory that workers give back. */
#define ASAHI_RECLAIM_OOM_MS	100

/* Of how many address spaces and objects of a cgroup the memory is counted. */
#define ASAHI_RECLAIM_COUNTED	1024

/* What queues may have in their vertex buffers, at least, if one of these is large. */
#define ASAHI_RECLAIM_TRIM_PAGES	(SZ_16M >> PAGE_SHIFT)

/* How often SUBMIT tries to get the memory back that its objects have lost. */
#define ASAHI_RECLAIM_TRIES	4

/* How long a SUBMIT that has no memory waits for work of its own. */
#define ASAHI_RECLAIM_SUBMIT_MS	100

/* And how long for a worker that gives memory back. */
#define ASAHI_RECLAIM_WORKER_MS	1000

/**
 * struct asahi_reclaim_scan - a scan, which looks at each address space and object once
 * @adev: device
 * @sc: whose cgroup and node it is for; NULL for all
 * @pages: how many pages are wanted
 * @wait: the caller may wait, a few times 10 ms
 * @number: of this scan
 * @patience: how often it may still wait
 * @place: objects that are wanted
 * @gem: object that was found, with a reference, or NULL
 * @vm: address space that was found, or NULL
 * @walk: how many items the walk through a list may still look at
 */
struct asahi_reclaim_scan {
	struct asahi_device *adev;
	struct shrink_control *sc;
	unsigned long pages;
	bool wait;
	u64 number;
	unsigned int patience;
	enum asahi_gem_place place;
	struct asahi_gem *gem;
	struct asahi_reclaim_vm *vm;
	unsigned long walk;
};

/**
 * struct asahi_reclaim_total - pages of objects that could be evicted
 * @pages: by place; those of an object that stays are not counted
 */
struct asahi_reclaim_total {
	unsigned long pages[ASAHI_GEM_SHARED + 1];
};

/* The callback has the spinlock of the part of the list that the item is in. */
static void asahi_reclaim_walk(struct list_lru *lru, struct shrink_control *sc,
			       list_lru_walk_cb callback, void *data, unsigned long *walk)
{
	int nid;

	if (sc) {
		list_lru_walk_one(lru, sc->nid, sc->memcg, callback, data, walk);
		return;
	}

	for_each_node_state(nid, N_NORMAL_MEMORY)
		list_lru_walk_node(lru, nid, callback, data, walk);
}

/* One that another scan has looked at since this one began has been looked at, too. */
static enum lru_status asahi_reclaim_find_gem(struct list_head *item, struct list_lru_one *list,
					      void *data)
{
	struct asahi_gem *gem = container_of(item, struct asahi_gem, loose);
	struct asahi_reclaim_scan *scan = data;

	if (gem->scan >= scan->number || READ_ONCE(gem->place) != scan->place)
		return LRU_SKIP;

	gem->scan = scan->number;
	/* One that is about to be freed leaves the list by that. */
	if (!kref_get_unless_zero(&gem->base.refcount))
		return LRU_SKIP;

	scan->gem = gem;
	scan->walk = 0;
	return LRU_ROTATE;
}

static struct asahi_gem *asahi_reclaim_next_gem(struct asahi_reclaim_scan *scan)
{
	scan->gem = NULL;
	scan->walk = ULONG_MAX;
	asahi_reclaim_walk(&scan->adev->reclaim.loose, scan->sc, asahi_reclaim_find_gem, scan,
			   &scan->walk);
	return scan->gem;
}

static unsigned long asahi_reclaim_evict_gem(struct asahi_gem *gem)
{
	struct drm_gem_object *obj = &gem->base;
	bool done = false;

	if (dma_resv_trylock(obj->resv)) {
		done = asahi_evict_object(obj, NULL);
		dma_resv_unlock(obj->resv);
	}

	return done ? obj->size >> PAGE_SHIFT : 0;
}

static unsigned long asahi_reclaim_scan_gems(struct asahi_reclaim_scan *scan,
					     enum asahi_gem_place place, unsigned long freed)
{
	struct asahi_gem *gem;

	scan->number = atomic64_inc_return(&scan->adev->reclaim.scans);
	scan->place = place;
	while (freed < scan->pages && (gem = asahi_reclaim_next_gem(scan))) {
		freed += asahi_reclaim_evict_gem(gem);
		drm_gem_object_put(&gem->base);
	}

	return freed;
}

static enum lru_status asahi_reclaim_find_vm(struct list_head *item, struct list_lru_one *list,
					     void *data)
{
	struct asahi_reclaim_vm *vm = container_of(item, struct asahi_reclaim_vm, link);
	struct asahi_reclaim_scan *scan = data;

	if (vm->scan < scan->number && vm->lru.count &&
	    (!scan->vm || time_before(READ_ONCE(vm->used), READ_ONCE(scan->vm->used))))
		scan->vm = vm;
	return LRU_SKIP;
}

/* The address space that is idle for longest and not looked at, its base with a reference. */
static struct asahi_vm *asahi_reclaim_next_vm(struct asahi_reclaim_scan *scan)
{
	struct asahi_device *adev = scan->adev;
	struct asahi_vm *vm;

	/* It is released only after it has left the list. */
	guard(mutex)(&adev->drm.gem_lru_mutex);

	scan->vm = NULL;
	scan->walk = ULONG_MAX;
	asahi_reclaim_walk(&adev->reclaim.vms, scan->sc, asahi_reclaim_find_vm, scan, &scan->walk);
	if (!scan->vm)
		return NULL;

	scan->vm->scan = scan->number;
	vm = container_of(scan->vm, struct asahi_vm, reclaim);
	drm_gpuvm_get(&vm->base);
	return vm;
}

/* Whether objects can be evicted from an address space; waits if there is patience left. */
static bool asahi_reclaim_vm_is_idle(struct asahi_reclaim_scan *scan, struct asahi_vm *vm,
				     bool wait)
{
	struct dma_resv *resv = drm_gpuvm_resv(&vm->base);
	unsigned long ready = READ_ONCE(vm->reclaim.used) + msecs_to_jiffies(ASAHI_RECLAIM_IDLE_MS);

	if (dma_resv_is_locked(resv))
		return false;
	if (!wait && time_before(jiffies, ready))
		return false;
	if (dma_resv_test_signaled(resv, DMA_RESV_USAGE_BOOKKEEP))
		return true;
	if (!wait || !scan->patience)
		return false;

	scan->patience--;
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

static unsigned long asahi_reclaim_scan_vms(struct asahi_reclaim_scan *scan, bool wait,
					    unsigned long freed)
{
	struct asahi_vm *vm;

	scan->number = atomic64_inc_return(&scan->adev->reclaim.scans);
	while (freed < scan->pages && (vm = asahi_reclaim_next_vm(scan))) {
		if (asahi_reclaim_vm_is_idle(scan, vm, wait))
			freed += asahi_reclaim_scan_list(scan->adev, &vm->reclaim.lru,
							 scan->pages - freed);
		drm_gpuvm_put(&vm->base);
	}

	return freed;
}

static unsigned long asahi_reclaim_run(struct asahi_reclaim_scan *scan)
{
	unsigned long freed;

	scan->patience = ASAHI_RECLAIM_WAITS;
	freed = asahi_reclaim_scan_gems(scan, ASAHI_GEM_UNBOUND, 0);
	freed = asahi_reclaim_scan_vms(scan, false, freed);
	if (!scan->wait)
		return freed;

	freed = asahi_reclaim_scan_vms(scan, true, freed);
	return asahi_reclaim_scan_gems(scan, ASAHI_GEM_SHARED, freed);
}

/**
 * asahi_reclaim_scan() - evict objects, of whichever cgroup
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
	struct asahi_reclaim_scan scan = {
		.adev = adev,
		.pages = pages,
		.wait = wait,
	};

	return asahi_reclaim_run(&scan);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_reclaim_scan);

static enum lru_status asahi_reclaim_count_gem(struct list_head *item, struct list_lru_one *list,
					       void *data)
{
	struct asahi_gem *gem = container_of(item, struct asahi_gem, loose);
	struct asahi_reclaim_total *total = data;

	total->pages[READ_ONCE(gem->place)] += gem->base.size >> PAGE_SHIFT;
	return LRU_SKIP;
}

static enum lru_status asahi_reclaim_count_vm(struct list_head *item, struct list_lru_one *list,
					      void *data)
{
	struct asahi_reclaim_vm *vm = container_of(item, struct asahi_reclaim_vm, link);
	struct asahi_reclaim_total *total = data;

	total->pages[ASAHI_GEM_MAPPED] += READ_ONCE(vm->lru.count);
	return LRU_SKIP;
}

/* May be what there was a moment ago; of no more than so many items in each list. */
static void asahi_reclaim_count_all(struct asahi_device *adev, struct shrink_control *sc,
				    unsigned long most, struct asahi_reclaim_total *total)
{
	struct asahi_reclaim *reclaim = &adev->reclaim;
	unsigned long walk = most;

	*total = (struct asahi_reclaim_total) {};
	asahi_reclaim_walk(&reclaim->vms, sc, asahi_reclaim_count_vm, total, &walk);
	walk = most;
	asahi_reclaim_walk(&reclaim->loose, sc, asahi_reclaim_count_gem, total, &walk);
}

static bool asahi_reclaim_may_wait(const struct shrink_control *sc)
{
	return current_is_kswapd() || sc->gfp_mask & __GFP_DIRECT_RECLAIM;
}

/* What the driver holds itself goes in workers: some of it takes a word with the firmware. */
static void asahi_reclaim_ask_others(struct asahi_device *adev)
{
	asahi_batch_hurry(adev->batch);
	asahi_heaps_reclaim(adev->heaps);
	asahi_stashes_reclaim(adev);
	asahi_trim_reclaim(adev);
}

static unsigned long asahi_reclaim_count_others(struct asahi_device *adev)
{
	u64 bytes = asahi_heaps_garbage(adev->heaps) + asahi_batch_bytes(adev->batch);
	unsigned long pages = bytes >> PAGE_SHIFT;

	return asahi_trim_is_waiting(adev) ? pages + ASAHI_RECLAIM_TRIM_PAGES : pages;
}

/**
 * asahi_reclaim_may_swap() - does a page become free by being swapped out?
 * @memcg: cgroup that it is charged to, or NULL
 *
 * As mem_cgroup_get_nr_swap_pages(), which is not for modules. Any context.
 *
 * Return: true if there is swap, and the cgroup may use more of it.
 */
VISIBLE_IF_KUNIT bool asahi_reclaim_may_swap(struct mem_cgroup *memcg)
{
	KUNIT_STATIC_STUB_REDIRECT(asahi_reclaim_may_swap, memcg);

	if (get_nr_swap_pages() <= 0)
		return false;

#ifdef CONFIG_MEMCG
	for (; memcg && !mem_cgroup_is_root(memcg); memcg = parent_mem_cgroup(memcg))
		if (page_counter_read(&memcg->swap) >= READ_ONCE(memcg->swap.max))
			return false;
#endif
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_reclaim_may_swap);

VISIBLE_IF_KUNIT unsigned long asahi_reclaim_count(struct shrinker *shrinker,
						   struct shrink_control *sc)
{
	struct asahi_device *adev = shrinker->private_data;
	struct asahi_reclaim *reclaim = &adev->reclaim;
	struct asahi_reclaim_total total;
	unsigned long pages = 0;

	if (mem_cgroup_shrink_is_root(sc))
		pages = asahi_reclaim_count_others(adev);

	if (asahi_reclaim_may_swap(sc->memcg)) {
		asahi_reclaim_count_all(adev, sc, ASAHI_RECLAIM_COUNTED, &total);
		pages += total.pages[ASAHI_GEM_UNBOUND] + total.pages[ASAHI_GEM_MAPPED];
		if (asahi_reclaim_may_wait(sc))
			pages += total.pages[ASAHI_GEM_SHARED];
	}
	if (pages)
		return pages;

	/* Of an empty one the kernel does not ask again, until there is a first item. */
	if (list_lru_shrink_count(&reclaim->vms, sc) || list_lru_shrink_count(&reclaim->loose, sc))
		return 0;
	return SHRINK_EMPTY;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_reclaim_count);

VISIBLE_IF_KUNIT unsigned long asahi_reclaim_shrink(struct shrinker *shrinker,
						    struct shrink_control *sc)
{
	struct asahi_reclaim_scan scan = {
		.adev = shrinker->private_data,
		.sc = sc,
		.pages = sc->nr_to_scan,
		.wait = asahi_reclaim_may_wait(sc),
	};
	unsigned long freed;

	if (mem_cgroup_shrink_is_root(sc))
		asahi_reclaim_ask_others(scan.adev);
	if (!asahi_reclaim_may_swap(sc->memcg))
		return SHRINK_STOP;

	freed = asahi_reclaim_run(&scan);
	/* An object can be more than was asked for. */
	sc->nr_scanned = max(sc->nr_to_scan, freed);
	return freed ?: SHRINK_STOP;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_reclaim_shrink);

/* Waits for memory that workers give back, until they have nothing to do, or for a while. */
static unsigned long asahi_reclaim_wait_for_others(struct asahi_device *adev)
{
	unsigned long end = jiffies + msecs_to_jiffies(ASAHI_RECLAIM_OOM_MS);
	unsigned long before = asahi_heaps_freed(adev->heaps);

	asahi_reclaim_ask_others(adev);
	while (asahi_batch_is_hurrying(adev->batch) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(msecs_to_jiffies(ASAHI_RECLAIM_WAIT_MS));

	/* The memory of jobs is in blocks of heaps. */
	asahi_heaps_reclaim(adev->heaps);
	while (asahi_heaps_are_reclaiming(adev->heaps) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(msecs_to_jiffies(ASAHI_RECLAIM_WAIT_MS));

	return asahi_heaps_freed(adev->heaps) - before;
}

/**
 * asahi_reclaim_oom() - the kernel is about to kill a process
 * @nb: part of the device
 * @unused: 0
 * @data: where to add the pages that it gets instead
 *
 * Called by the task that needs memory, with the locks that it has, as reclaim is.
 *
 * Return: NOTIFY_OK.
 */
VISIBLE_IF_KUNIT int asahi_reclaim_oom(struct notifier_block *nb, unsigned long unused, void *data)
{
	struct asahi_device *adev = container_of(nb, struct asahi_device, reclaim.oom);
	unsigned int flags = memalloc_noreclaim_save();
	unsigned long *pages = data;

	if (asahi_reclaim_may_swap(NULL))
		*pages += asahi_reclaim_scan(adev, ULONG_MAX, true);
	*pages += asahi_reclaim_wait_for_others(adev);
	memalloc_noreclaim_restore(flags);
	return NOTIFY_OK;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_reclaim_oom);

/* Somebody gives memory back to heaps. */
static bool asahi_reclaim_is_returning(struct asahi_device *adev)
{
	if (asahi_batch_is_hurrying(adev->batch) || asahi_stashes_are_reclaimed(adev))
		return true;

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

	/* Its own work is over. */
	asahi_batch_hurry(adev->batch);
	ret = asahi_reclaim_wait_for(adev, asahi_reclaim_is_returning);
	if (ret)
		return ret;

	/* The memory that came back since is in blocks of heaps. */
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

	/* Without the rest it is of no use here, and somebody else may need it. */
	if (ret == -ENOMEM)
		asahi_reclaim_scan_list(vm->adev, &vm->reclaim.lru, ULONG_MAX);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_reclaim_lock_submit);

static int asahi_reclaim_show(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct asahi_device *adev = to_asahi_device(entry->dev);
	struct asahi_reclaim *reclaim = &adev->reclaim;
	struct asahi_reclaim_total total;

	asahi_reclaim_count_all(adev, NULL, ULONG_MAX, &total);
	seq_printf(m, "unbound %lu\n", total.pages[ASAHI_GEM_UNBOUND]);
	seq_printf(m, "mapped %lu\n", total.pages[ASAHI_GEM_MAPPED]);
	seq_printf(m, "shared %lu\n", total.pages[ASAHI_GEM_SHARED]);
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
	struct asahi_reclaim *reclaim = &adev->reclaim;
	struct shrinker *shrinker = reclaim->shrinker;
	int ret;

	/* What reclaim waits for must not be held across an allocation. */
	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(&adev->drm.gem_lru_mutex);
	fs_reclaim_release(GFP_KERNEL);

	shrinker->count_objects = asahi_reclaim_count;
	shrinker->scan_objects = asahi_reclaim_shrink;
	shrinker->private_data = adev;
	shrinker_register(shrinker);

	reclaim->oom.notifier_call = asahi_reclaim_oom;
	ret = register_oom_notifier(&reclaim->oom);
	if (ret)
		return ret;

	drm_debugfs_add_file(&adev->drm, "reclaim", asahi_reclaim_show, NULL);
	debugfs_create_file("shrink", 0600, adev->drm.debugfs_root, adev, &asahi_reclaim_fops);
	return 0;
}

static void asahi_reclaim_unplug(struct asahi_device *adev)
{
	/*
	 * An item that enters a list from here on marks its cgroup for a shrinker that is gone. The
	 * kernel drops such marks.
	 */
	shrinker_free(adev->reclaim.shrinker);
	adev->reclaim.shrinker = NULL;
	unregister_oom_notifier(&adev->reclaim.oom);
}

static void asahi_reclaim_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_reclaim *reclaim = &adev->reclaim;

	if (!asahi_rest_asks(rest, ASAHI_REST_CLOSED))
		return;

	asahi_rest_expect(rest, ASAHI_REST_CLOSED, !list_lru_count(&reclaim->vms),
			  "%lu address spaces that are gone are in the list",
			  list_lru_count(&reclaim->vms));
}

const struct asahi_block asahi_block_reclaim = {
	.name = "reclaim",
	.init = asahi_reclaim_init,
	.unplug = asahi_reclaim_unplug,
	.at_rest = asahi_rest_ptr(asahi_reclaim_at_rest),
};
EXPORT_SYMBOL_IF_KUNIT(asahi_block_reclaim);
