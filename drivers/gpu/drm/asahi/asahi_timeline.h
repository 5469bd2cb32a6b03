/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Timelines: a queue's jobs in flight, in the order in which they complete.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_TIMELINE_H
#define ASAHI_TIMELINE_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <agx/agx_rtkit.h>

#include "asahi_watchdog.h"

struct asahi_block;
struct asahi_device;
struct asahi_job;
struct asahi_queue;
struct dma_fence;

/**
 * struct asahi_timeline - jobs in flight, and those that come after them
 * @waiting: armed jobs whose turn has not come, in the order of submission
 * @jobs: jobs in flight, in the order in which they complete
 * @handed_over: how many of them the firmware has
 * @stamps: how many these have at most
 * @since: since when the oldest of them has been that, in jiffies
 * @cancelled: number of the last job that is cancelled unless it has run, since work of
 *	the queue was found guilty after it had been submitted; only grows; read without
 *	the lock, too
 * @fence_context: timeline of its jobs' fences
 * @counter: pieces of work since the beginning
 *
 * @progress: work of all queues that the last look has seen completed
 * @watchdog: what the watchdog remembers of the queue
 * @barred: the oldest job is lost, and the queue's address space was barred for it
 *
 * Part of struct asahi_queue.
 */
struct asahi_timeline {
	/**
	 * @lock: protects the following, the state of work queues, and the
	 * order in which jobs are handed to the firmware and completed. Taken
	 * where fences are signalled, in bottom halves too, and fences are
	 * signalled with it: nothing sleeps or prints much under it.
	 */
	spinlock_t lock;
	struct list_head waiting;
	struct list_head jobs;
	unsigned int handed_over;
	unsigned int stamps;
	unsigned long since;
	u64 cancelled;
	u64 fence_context;
	u64 counter;

	/* Timeouts. */
	u64 progress;
	struct asahi_watchdog_queue watchdog;
	bool barred;
};

extern const struct asahi_block asahi_block_timeline;

void asahi_timeline_prepare(struct asahi_timeline *timeline);
void asahi_timeline_destroy(struct asahi_timeline *timeline);
void asahi_timeline_arm(struct asahi_job *job);
void asahi_timeline_drop(struct asahi_job *job);
bool asahi_timeline_has_room(struct asahi_job *job);
struct dma_fence *asahi_timeline_wait_for_room(struct asahi_job *job);
void asahi_timeline_run(struct asahi_job *job);
void asahi_timeline_run_now(struct asahi_job *job);
void asahi_timeline_notify(struct asahi_device *adev, const u32 mask[4]);
void asahi_timeline_retire_reached(struct asahi_queue *queue);
struct asahi_job *asahi_timeline_overdue(struct asahi_queue *queue, unsigned long *delay);
void asahi_timeline_check(struct asahi_job *job);
void asahi_timeline_cancel_waiting(struct asahi_queue *queue);
bool asahi_timeline_cancelled(const struct asahi_job *job);
struct dma_fence *asahi_timeline_lost_fence(void);
bool asahi_timeline_wait_idle(struct asahi_device *adev, unsigned int ms);

#if IS_ENABLED(CONFIG_KUNIT)
u64 asahi_timeline_next_look(u64 period_ns, bool untold, bool missed);
#endif

#endif
