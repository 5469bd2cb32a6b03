/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Timelines: a queue's jobs in flight, in the order in which they complete.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_TIMELINE_H
#define ASAHI_TIMELINE_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include <agx/agx_rtkit.h>

struct asahi_block;
struct asahi_device;
struct asahi_job;
struct asahi_queue;
struct dma_fence;

/**
 * struct asahi_timeline - jobs in flight
 * @jobs: jobs in flight, in the order in which they complete
 * @handed_over: how many of them the firmware has
 * @error: -EIO once work of the queue was found guilty
 * @lost: work was lost in a reset, of which the next SUBMIT is to be told
 * @retired: when the last job was completed
 * @fence_context: timeline of its jobs' fences
 * @fence_seqno: number of the last one
 * @counter: pieces of work since the beginning
 *
 * @progress: what the timeout handler saw last; used by nothing else
 * @strikes: how often it saw no progress in a row
 * @before: work of higher priorities that it has seen completed, likewise
 * @preferred: when it last saw that there was more
 *
 * Part of struct asahi_queue.
 */
struct asahi_timeline {
	/**
	 * @lock: protects the following, the state of work queues, and the
	 * order in which jobs are handed to the firmware and completed. Taken
	 * where fences are signalled: nothing allocates under it.
	 */
	struct mutex lock;
	struct list_head jobs;
	unsigned int handed_over;
	int error;
	bool lost;
	ktime_t retired;
	u64 fence_context;
	u64 fence_seqno;
	u64 counter;

	/* Timeouts. */
	u64 progress;
	unsigned int strikes;
	u64 before;
	ktime_t preferred;
};

extern const struct asahi_block asahi_block_timeline;

s64 asahi_timeline_waited_ms(struct asahi_timeline *timeline, ktime_t run_time, u64 before,
			     ktime_t now);

void asahi_timeline_prepare(struct asahi_timeline *timeline);
void asahi_timeline_destroy(struct asahi_timeline *timeline);
struct dma_fence *asahi_timeline_run(struct asahi_job *job);
void asahi_timeline_complete(struct asahi_queue *queue);
void asahi_timeline_retire_reached(struct asahi_queue *queue);
void asahi_timeline_check(struct asahi_job *job);
int asahi_timeline_take_error(struct asahi_queue *queue);
bool asahi_timeline_wait_idle(struct asahi_device *adev, unsigned int ms);

#endif
