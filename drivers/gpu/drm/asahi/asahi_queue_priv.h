/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Queues: what asahi_queue.c shares with submission and command building.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_QUEUE_PRIV_H
#define ASAHI_QUEUE_PRIV_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>

#include <agx/agx_rtkit.h>

#include "asahi_heap.h"

struct asahi_device;
struct asahi_vm;
struct asahi_workqueue;

/**
 * struct asahi_usage - what the queues of a file have used
 * @refcount: one for the file, one for each queue
 * @busy_ns: time in which a pipe had work of one of them, summed over queues
 */
struct asahi_usage {
	struct kref refcount;
	atomic64_t busy_ns[AGX_PIPE_COUNT];
};

/**
 * struct asahi_queue - a user's queue
 * @refcount: one for the file's table, one for each job
 * @adev: device, with a reference
 * @link: in the device's list of queues, protected by its lock
 * @vm: address space, with a reference
 * @usage: the file's, with a reference
 * @id: number in the device, never used again; for firmware and messages
 * @priority: firmware priority, 0, the highest, to 3
 * @usc_exec_base: base of all its shaders
 * @wq: its rings, by pipe
 * @notifier: firmware memory: Notifier
 * @threshold: firmware memory: what the Notifier compares with
 * @notifier_list: firmware memory
 * @context: firmware memory: GpuContextData
 * @free_work: frees it
 * @rcu: for the end of it
 *
 * @submit_lock: taken by SUBMIT around arming and pushing, so that fences are
 *	numbered in the order in which jobs run. Reservations are locked inside.
 * @closed: destroyed by its owner: nothing is submitted any more
 * @counter: commands since the beginning
 * @sched: scheduler; its only entity is @entity
 * @entity: jobs that wait for their dependencies or for credits
 * @unscheduled: jobs that were submitted but not handed to the firmware
 * @drained: wakes up when @unscheduled becomes 0
 *
 * @lock: protects the following, the state of work queues, and the order in
 *	which jobs are handed to the firmware and completed. Taken where fences
 *	are signalled: nothing allocates under it.
 * @jobs: jobs in flight, in the order in which they complete
 * @error: -EIO once work of the queue was found guilty
 * @abandoned: the firmware does not complete anything any more
 * @fence_context: timeline of its jobs' fences
 * @fence_seqno: number of the last one
 * @busy_since: by pipe, the end of the last job, up to which time is counted
 * @recover: pipes whose rings the firmware is to go on with, a mask
 * @recover_value: by pipe, the stamp value of what it has given up
 * @recover_work: tells it so; has a reference while it is queued
 *
 * @progress: what the timeout handler saw last; used by nothing else
 * @strikes: how often it saw no progress in a row
 */
struct asahi_queue {
	struct kref refcount;
	struct asahi_device *adev;
	struct list_head link;
	struct asahi_vm *vm;
	struct asahi_usage *usage;
	u32 id;
	unsigned int priority;
	u64 usc_exec_base;
	struct asahi_workqueue *wq[AGX_PIPE_COUNT];
	struct asahi_fwbuf notifier;
	struct asahi_fwbuf threshold;
	struct asahi_fwbuf notifier_list;
	struct asahi_fwbuf context;
	struct work_struct free_work;
	struct rcu_head rcu;

	/* Submission. */
	struct mutex submit_lock;
	bool closed;
	atomic64_t counter;
	struct drm_gpu_scheduler sched;
	struct drm_sched_entity entity;
	atomic_t unscheduled;
	wait_queue_head_t drained;

	/* Execution. */
	struct mutex lock;
	struct list_head jobs;
	int error;
	bool abandoned;
	u64 fence_context;
	u64 fence_seqno;
	ktime_t busy_since[AGX_PIPE_COUNT];
	unsigned int recover;
	u32 recover_value[AGX_PIPE_COUNT];
	struct work_struct recover_work;

	/* Timeouts. */
	u64 progress;
	unsigned int strikes;
};

struct asahi_queue *asahi_queue_lookup(struct asahi_file *file, u32 id);

#endif
