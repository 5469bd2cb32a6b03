// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Stashes: firmware memory that a queue has ready for its next jobs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <kunit/visibility.h>

#include "asahi_client.h"
#include "asahi_stash.h"

/**
 * DOC: Stashes
 *
 * Jobs of a queue are alike, and a heap needs more time for each piece of memory than the
 * job has for all of them. So a queue keeps memory ready for its next jobs, of two kinds:
 *
 * *Strips* are for what the firmware reads. Some of that is in heaps that the firmware caches.
 * Such memory may be used once only: until the firmware has flushed its cache, it may read
 * there what the last owner has written, or write it back (see "Garbage, and memory that
 * goes"). So there is nothing that a job could give to the next one. Instead, one allocation
 * in each heap is made for up to ASAHI_STASH_JOBS jobs. Each takes the next part of it, which
 * nobody has used before and which is zero, as all allocations. The strip is freed when the
 * queue has begun another one and all its jobs are over. Garbage and flushes go on as
 * ever, but for fewer and larger pieces. The first strip of a queue is for one job, the next
 * one for twice as many.
 *
 * *Buffers* of the GPU, which only the GPU and the kernel access, are given to the next job
 * that needs the same size, as soon as a job is over. A buffer is cleared then. It is in the
 * queue's own address space, and had another job of the same client in it.
 * There are ASAHI_STASH_BUFFERS of them at most, and ASAHI_STASH_BYTES.
 *
 * A queue that gets no new jobs for ASAHI_STASH_IDLE_MS gives all of it back, and so does one
 * that is closed. If the system is short of memory, ASAHI_STASH_HURRY_MS are enough
 * (asahi_stashes.c). The firmware need not know of any of this: no job has the memory.
 */

/* For how many jobs a strip is at most, and of how many bytes unless it is for one. */
#define ASAHI_STASH_JOBS	16
#define ASAHI_STASH_STRIP_BYTES	SZ_64K

/* Bytes of buffers that a queue keeps at most. */
#define ASAHI_STASH_BYTES	SZ_1M

/**
 * asahi_stash_init() - prepare the stash of a queue
 * @stash: the queue's part, zeroed
 * @heap: the device's heaps
 * @heap_gpu: heap in the queue's VM
 * @client: who is charged for it
 *
 * All of these have to stay until asahi_stash_close() and the end of the last job.
 */
void asahi_stash_init(struct asahi_stash *stash, struct asahi_heap **heap,
		      struct asahi_heap *heap_gpu, struct asahi_client *client)
{
	spin_lock_init(&stash->lock);
	stash->heap = heap;
	stash->heap_gpu = heap_gpu;
	stash->client = client;
	stash->jobs = 1;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stash_init);

/* Strips. */

static size_t asahi_stash_strip_bytes(const struct asahi_work_memory *size)
{
	return size->ro + size->private + size->shared + size->word;
}

static void asahi_stash_free_strip(struct asahi_stash *stash, struct asahi_strip *strip)
{
	asahi_client_charge(stash->client, -(s64)asahi_stash_strip_bytes(&strip->size));
	asahi_heap_free(&strip->word);
	asahi_heap_free(&strip->shared);
	asahi_heap_free(&strip->private);
	asahi_heap_free(&strip->ro);
	kfree(strip);
}

static int asahi_stash_fill_strip(struct asahi_stash *stash, struct asahi_strip *strip)
{
	const struct asahi_work_memory *size = &strip->size;
	struct asahi_heap **heap = stash->heap;
	int ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_GPU_RO], size->ro, ASAHI_HEAP_ALIGN, &strip->ro);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_PRIVATE], size->private, ASAHI_HEAP_ALIGN,
			       &strip->private);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(heap[ASAHI_HEAP_SHARED], size->shared, ASAHI_HEAP_ALIGN,
			       &strip->shared);
	if (ret || !size->word)
		return ret;

	return asahi_heap_alloc(heap[ASAHI_HEAP_GPU_SHARED], size->word, ASAHI_HEAP_ALIGN,
				&strip->word);
}

static struct asahi_strip *asahi_stash_new_strip(struct asahi_stash *stash,
						 const struct asahi_work_memory *need,
						 unsigned int jobs)
{
	struct asahi_strip *strip = kzalloc_obj(*strip, GFP_KERNEL_ACCOUNT);
	int ret;

	if (!strip)
		return ERR_PTR(-ENOMEM);

	strip->size.ro = need->ro * jobs;
	strip->size.private = need->private * jobs;
	strip->size.shared = need->shared * jobs;
	strip->size.word = need->word * jobs;
	asahi_client_charge(stash->client, asahi_stash_strip_bytes(&strip->size));

	ret = asahi_stash_fill_strip(stash, strip);
	if (ret) {
		asahi_stash_free_strip(stash, strip);
		return ERR_PTR(ret);
	}

	return strip;
}

static bool asahi_stash_fits(const struct asahi_strip *strip, const struct asahi_work_memory *need)
{
	return need->ro <= strip->size.ro - strip->used.ro &&
	       need->private <= strip->size.private - strip->used.private &&
	       need->shared <= strip->size.shared - strip->used.shared &&
	       need->word <= strip->size.word - strip->used.word;
}

/* A part that no other job has; the strip has room for it. */
static void asahi_stash_take_part(struct asahi_strip *strip, const struct asahi_work_memory *need,
				  struct asahi_job_memory *memory)
{
	memory->strip = strip;
	memory->place = strip->used;
	strip->users++;
	strip->used.ro += need->ro;
	strip->used.private += need->private;
	strip->used.shared += need->shared;
	strip->used.word += need->word;
}

/* Returns the strip if nobody else has it: then it is the caller's to free. */
static struct asahi_strip *asahi_stash_put_strip(struct asahi_stash *stash,
						 struct asahi_strip *strip)
{
	lockdep_assert_held(&stash->lock);

	return strip && !--strip->users ? strip : NULL;
}

/* How many jobs a new strip is for. */
static unsigned int asahi_stash_strip_jobs(struct asahi_stash *stash,
					   const struct asahi_work_memory *need)
{
	size_t most = ASAHI_STASH_STRIP_BYTES / asahi_stash_strip_bytes(need);

	guard(spinlock_irqsave)(&stash->lock);

	return stash->closed ? 1 : clamp_t(size_t, most, 1, stash->jobs);
}

/*
 * The next jobs take from @strip, or from what another job has made meanwhile. Returns what is
 * to be freed.
 */
static struct asahi_strip *asahi_stash_set_strip(struct asahi_stash *stash,
						 struct asahi_strip *strip,
						 const struct asahi_work_memory *need,
						 struct asahi_job_memory *memory)
{
	struct asahi_strip *old;

	guard(spinlock_irqsave)(&stash->lock);

	asahi_stash_take_part(strip, need, memory);
	stash->jobs = min(2 * stash->jobs, ASAHI_STASH_JOBS);
	if (!stash->keeps || !asahi_stash_fits(strip, need))
		return NULL;

	old = stash->strip;
	stash->strip = strip;
	strip->users++;

	return asahi_stash_put_strip(stash, old);
}

static int asahi_stash_make_strip(struct asahi_stash *stash, const struct asahi_work_memory *need,
				  struct asahi_job_memory *memory)
{
	unsigned int jobs = asahi_stash_strip_jobs(stash, need);
	struct asahi_strip *strip = asahi_stash_new_strip(stash, need, jobs);

	if (IS_ERR(strip) && jobs > 1)
		strip = asahi_stash_new_strip(stash, need, 1);
	if (IS_ERR(strip))
		return PTR_ERR(strip);

	strip = asahi_stash_set_strip(stash, strip, need, memory);
	if (strip)
		asahi_stash_free_strip(stash, strip);

	return 0;
}

/* Buffers of the GPU. */

static void asahi_stash_take_buffer(struct asahi_stash *stash, size_t size,
				    struct asahi_fwbuf *buf)
{
	lockdep_assert_held(&stash->lock);

	for (unsigned int i = stash->count; i--;) {
		if (stash->gpu[i].size != size)
			continue;
		*buf = stash->gpu[i];
		stash->gpu[i] = stash->gpu[--stash->count];
		stash->bytes -= size;
		return;
	}
}

static bool asahi_stash_pop_buffer(struct asahi_stash *stash, struct asahi_fwbuf *buf)
{
	guard(spinlock_irqsave)(&stash->lock);

	if (!stash->count)
		return false;

	*buf = stash->gpu[--stash->count];
	stash->bytes -= buf->size;

	return true;
}

/**
 * asahi_stash_take() - get the memory of a job
 * @stash: stash of its queue
 * @need: how much
 * @memory: zeroed; what there is so far, on error
 *
 * All of it is zero. Process context, may sleep; not on the way to a fence. As
 * asahi_heap_alloc(), if the queue has nothing ready. On error, too, the caller has to
 * call asahi_stash_free().
 *
 * Return: 0, or an error of asahi_heap_alloc().
 */
int asahi_stash_take(struct asahi_stash *stash, const struct asahi_work_memory *need,
		     struct asahi_job_memory *memory)
{
	int ret = 0;

	scoped_guard(spinlock_irqsave, &stash->lock) {
		stash->keeps = !stash->closed;
		stash->used_at = jiffies;
		if (stash->strip && asahi_stash_fits(stash->strip, need))
			asahi_stash_take_part(stash->strip, need, memory);
		asahi_stash_take_buffer(stash, need->gpu, &memory->gpu);
	}

	/* Nobody has seen it work with what another job has left there. */
	if (memory->gpu.node)
		memset(memory->gpu.map, 0, memory->gpu.size);
	else
		ret = asahi_heap_alloc(stash->heap_gpu, need->gpu, ASAHI_PREEMPT_ALIGN,
				       &memory->gpu);

	if (!ret && !memory->strip)
		ret = asahi_stash_make_strip(stash, need, memory);

	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stash_take);

/**
 * asahi_stash_keep() - the memory of a job may be used again
 * @stash: stash of its queue
 * @memory: memory of a job that is over; what is kept is not its any more
 *
 * Nothing is kept if the queue has given all back since it had a new job. Any context.
 */
void asahi_stash_keep(struct asahi_stash *stash, struct asahi_job_memory *memory)
{
	struct asahi_fwbuf *gpu = &memory->gpu;

	guard(spinlock_irqsave)(&stash->lock);

	if (!stash->keeps || !gpu->node || stash->count == ASAHI_STASH_BUFFERS ||
	    stash->bytes + gpu->size > ASAHI_STASH_BYTES)
		return;

	stash->gpu[stash->count++] = *gpu;
	stash->bytes += gpu->size;
	*gpu = (struct asahi_fwbuf) {};
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stash_keep);

/**
 * asahi_stash_free() - free the memory of a job
 * @stash: stash of its queue, which may be closed
 * @memory: memory of a job that is over; zeroed by this
 *
 * Process context, may sleep; not on the way to a fence.
 */
void asahi_stash_free(struct asahi_stash *stash, struct asahi_job_memory *memory)
{
	struct asahi_strip *strip;

	scoped_guard(spinlock_irqsave, &stash->lock)
		strip = asahi_stash_put_strip(stash, memory->strip);

	if (strip)
		asahi_stash_free_strip(stash, strip);
	asahi_heap_free(&memory->gpu);
	*memory = (struct asahi_job_memory) {};
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stash_free);

/* Life. */

/**
 * asahi_stash_is_kept() - does a queue keep memory for its next jobs?
 * @stash: the queue's part
 *
 * Any context, without a lock: it may be outdated when it arrives.
 *
 * Return: true if it does, or will when its jobs are over.
 */
bool asahi_stash_is_kept(const struct asahi_stash *stash)
{
	return READ_ONCE(stash->keeps);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stash_is_kept);

/**
 * asahi_stash_is_idle() - is what a queue keeps of no use?
 * @stash: the queue's part
 * @now: the time, in jiffies
 * @ms: how long a queue that is not idle may be without new jobs
 *
 * Any context, likewise.
 *
 * Return: true if it keeps memory, and had no new job for so long.
 */
bool asahi_stash_is_idle(const struct asahi_stash *stash, unsigned long now, unsigned int ms)
{
	return asahi_stash_is_kept(stash) &&
	       time_after_eq(now, READ_ONCE(stash->used_at) + msecs_to_jiffies(ms));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stash_is_idle);

static struct asahi_strip *asahi_stash_drop_strip(struct asahi_stash *stash, bool close)
{
	struct asahi_strip *strip;

	guard(spinlock_irqsave)(&stash->lock);

	stash->closed |= close;
	stash->keeps = false;
	stash->jobs = 1;
	strip = stash->strip;
	stash->strip = NULL;

	return asahi_stash_put_strip(stash, strip);
}

static void asahi_stash_empty(struct asahi_stash *stash, bool close)
{
	struct asahi_strip *strip = asahi_stash_drop_strip(stash, close);
	struct asahi_fwbuf gpu;

	if (strip)
		asahi_stash_free_strip(stash, strip);
	while (asahi_stash_pop_buffer(stash, &gpu))
		asahi_heap_free(&gpu);
}

/**
 * asahi_stash_trim() - give back what a queue keeps
 * @stash: the queue's part
 *
 * Its jobs keep what they have. Process context, may sleep; not on the way to a fence.
 */
void asahi_stash_trim(struct asahi_stash *stash)
{
	asahi_stash_empty(stash, false);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stash_trim);

/**
 * asahi_stash_close() - give back what a queue keeps, and keep nothing from here on
 * @stash: the queue's part
 *
 * As asahi_stash_trim(). May be called again.
 */
void asahi_stash_close(struct asahi_stash *stash)
{
	asahi_stash_empty(stash, true);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stash_close);
