// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Fences and the timelines that they form, like the kernel's dma-fence and dma-fence-chain.
 *
 * A timeline is a list of links from its latest point backwards. A link is signalled when
 * its own fence and all earlier links are. Asking whether a link is signalled also takes out
 * those before the earliest one that is not, so that a timeline is as long as the work that
 * is in flight; each link keeps the number of the point before it for that reason.
 *
 * Everything is protected by shim_lock. A thread that waits does so on one condition
 * variable for all fences, sync objects and queues of the process: it is woken by every
 * change, and looks again for itself. That is simple, and a process has few waiters.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "shim.h"

#define NSEC	INT64_C(1000000000)

static pthread_cond_t fence_changed = PTHREAD_COND_INITIALIZER;
static unsigned int fence_count;

uint64_t shim_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC + now.tv_nsec;
}

void shim_changed(void)
{
	shim_sync_files_tell();
	pthread_cond_broadcast(&fence_changed);
}

int shim_wait_change(int64_t deadline_ns)
{
	const struct timespec until = {
		.tv_sec = deadline_ns / NSEC,
		.tv_nsec = deadline_ns % NSEC,
	};

	if (deadline_ns <= 0)
		return ETIMEDOUT;
	return pthread_cond_clockwait(&fence_changed, &shim_lock, CLOCK_MONOTONIC, &until);
}

unsigned int shim_fence_count(void)
{
	return fence_count;
}

struct shim_fence *shim_fence_new(void)
{
	struct shim_fence *fence = shim_alloc(sizeof(*fence));

	fence_count++;
	fence->refs = 1;
	return fence;
}

struct shim_fence *shim_fence_new_signaled(void)
{
	struct shim_fence *fence = shim_fence_new();

	fence->signaled = true;
	fence->time_ns = shim_now_ns();
	return fence;
}

struct shim_fence *shim_fence_get(struct shim_fence *fence)
{
	fence->refs++;
	return fence;
}

/* Follows the links of a timeline in a loop, because it can be too long for recursion. */
void shim_fence_put(struct shim_fence *fence)
{
	while (fence && !--fence->refs) {
		struct shim_fence *prev = fence->prev;

		if (fence->of)
			shim_fence_put(fence->of);
		fence_count--;
		free(fence);
		fence = prev;
	}
}

struct shim_fence *shim_fence_new_link(struct shim_fence *of, struct shim_fence *prev,
				       uint64_t point)
{
	struct shim_fence *link = shim_fence_new();

	link->of = of;
	link->prev = prev;
	/*
	 * A point that is not greater than the last one replaces it, and prev_point stays 0:
	 * a wait for any earlier point becomes a wait for this link.
	 */
	if (prev && prev->of) {
		if (point > prev->point)
			link->prev_point = prev->point;
		else
			point = prev->point;
	}
	link->point = point;
	shim_fence_is_signaled(link);
	return link;
}

/*
 * Drops the links before the earliest one whose fence is not signalled, or all links before
 * this one. Return: whether all of them are signalled.
 */
static bool fence_link_is_signaled(struct shim_fence *link)
{
	struct shim_fence *node, *first = NULL;

	for (node = link; node; node = node->prev)
		if (!(node->of ? shim_fence_is_signaled(node->of) : node->signaled))
			first = node;
	node = first ? first : link;
	shim_fence_put(node->prev);
	node->prev = NULL;
	if (first)
		return false;
	link->signaled = true;
	link->time_ns = shim_now_ns();
	return true;
}

bool shim_fence_is_signaled(struct shim_fence *fence)
{
	if (fence->signaled || !fence->of)
		return fence->signaled;
	return fence_link_is_signaled(fence);
}

int shim_fence_error(const struct shim_fence *fence)
{
	while (fence->of)
		fence = fence->of;
	return fence->error;
}

void shim_fence_signal(struct shim_fence *fence, int error)
{
	fence->signaled = true;
	fence->error = error;
	fence->time_ns = shim_now_ns();
	shim_changed();
}

/* Stands for points that were taken out. Its first reference is never given back. */
static struct shim_fence fence_signaled = { .refs = 1, .signaled = true };

struct shim_fence *shim_fence_find_point(struct shim_fence *fence, uint64_t point)
{
	if (!point)
		return fence;
	if (!fence->of || fence->point < point)
		return NULL;
	while (fence->prev_point >= point) {
		/* Only links that are signalled are taken out. */
		if (!fence->prev)
			return &fence_signaled;
		fence = fence->prev;
	}
	return fence;
}

void shim_fence_forget(void)
{
	/* Threads of the parent wait for it. */
	fence_changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	fence_count = 0;
}
