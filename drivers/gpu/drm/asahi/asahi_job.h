/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Jobs: what one SUBMIT becomes. Private to queue, submission, work, timeline,
 * recovery and core dump.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_JOB_H
#define ASAHI_JOB_H

#include <linux/dma-fence.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/types.h>

#include <drm/gpu_scheduler.h>

#include <agx/agx_rtkit.h>

#include "asahi_pipes.h"
#include "asahi_slot.h"
#include "asahi_stash.h"
#include "asahi_tvb.h"
#include "asahi_work.h"

struct asahi_block;
struct asahi_pipe_msg;
struct asahi_queue;
struct asahi_small_job;

extern const struct asahi_block asahi_block_job;

/**
 * enum asahi_job_hit - where a stamp value is, seen from a job
 * @ASAHI_JOB_MISSED: before the job's stamps, or there are none
 * @ASAHI_JOB_BEFORE: after the job's stamps: a later job's
 * @ASAHI_JOB_OWNS: one of the job's stamps
 */
enum asahi_job_hit {
	ASAHI_JOB_MISSED,
	ASAHI_JOB_BEFORE,
	ASAHI_JOB_OWNS,
};

/**
 * struct asahi_job - the commands of one SUBMIT
 * @base: DRM scheduler's part, if it @waits
 * @refcount: one for its way to its turn, until free_job() if it @waits, one from arming to
 *	completion, one for a core dump
 * @queue: queue, with a reference
 * @id: number, for messages
 * @number: number in its queue and of its fence, in the order of submission, from 1 on; 0
 *	before it is armed
 * @process: who has submitted it
 * @cmdbuf: copy of the commands as user space has written them, for core dumps;
 *	NULL if they are large
 * @cmdbuf_size: bytes of that
 * @small: memory that @cmdbuf is in, and the job itself if it has few works; NULL if they
 *	have memory of their own
 * @slots: VM context and events that it needs
 * @done: fence that signals with its last stamp and those of all earlier jobs
 *	of the queue; allocated early, initialised when the job is armed
 * @link: in one of the timeline's lists
 * @free_link: in the list of jobs whose memory is to be freed
 * @bytes: room that it takes of what its queue may have; 0 if none yet
 * @memory: its firmware memory
 * @tpc: tail pointer cache of its renders, with a reference; NULL without renders
 * @part: what it has on each pipe
 * @stamps: how many it takes on one of them at most
 * @uncounted: stamps that the notifier's threshold does not count yet
 * @run_time: when it was handed to the firmware
 * @error: negative errno that @done is going to carry, or 0
 * @barred: its client has caused too many failures; known before its turn comes
 * @waits: it goes through the queue's entity
 * @ran: if so, its turn has come
 * @running: if not, which read section it runs in
 * @skipped: was not handed to the firmware then, because there was no point
 * @num_works: entries of @work
 * @work: the work of all commands in the order of submission
 *
 * From @link to @skipped, the timeline's lock protects what changes after
 * submission.
 */
struct asahi_job {
	struct drm_sched_job base;
	struct kref refcount;
	struct asahi_queue *queue;
	u64 id;
	u64 number;
	struct asahi_process process;
	void *cmdbuf;
	u32 cmdbuf_size;
	struct asahi_small_job *small;
	struct asahi_slot_request slots;
	struct dma_fence *done;
	struct list_head link;
	struct llist_node free_link;
	u64 bytes;
	struct asahi_job_memory memory;
	struct asahi_tpc *tpc;
	struct asahi_part part[AGX_PIPE_COUNT];
	unsigned int stamps;
	unsigned int uncounted;
	ktime_t run_time;
	int error;
	bool barred;
	bool waits;
	bool ran;
	int running;
	bool skipped;
	unsigned int num_works;
	struct asahi_work work[] __counted_by(num_works);
};

/**
 * struct asahi_queue_info - what a QueueInfo is filled from
 * @state_va: the ring's pointers
 * @ring_va: the ring
 * @notifier_list_va: the queue's list of notifiers
 * @gpu_buf_va: a buffer for the firmware
 * @context_va: the queue's GpuContextData
 * @uuid: identifies the queue
 * @priority: 0, the highest, to 3
 * @pipe: AGX_PIPE_*
 */
struct asahi_queue_info {
	u64 state_va;
	u64 ring_va;
	u64 notifier_list_va;
	u64 gpu_buf_va;
	u64 context_va;
	u32 uuid;
	unsigned int priority;
	unsigned int pipe;
};

/**
 * struct asahi_job_abi - work queue and command operations
 * @queue_info_size: bytes of QueueInfo
 * @notifier_size: bytes of Notifier
 * @queue_info_init: fill a zeroed QueueInfo
 * @notifier_init: fill a zeroed Notifier; @threshold_va is the counter that
 *	it compares with
 * @work: the kinds of work, by pipe
 * @tvb: vertex buffers and scenes
 */
struct asahi_job_abi {
	size_t queue_info_size;
	size_t notifier_size;
	void (*queue_info_init)(void *map, const struct asahi_queue_info *info);
	void (*notifier_init)(void *map, u64 threshold_va, u32 queue_id);
	struct asahi_work_abi work[AGX_PIPE_COUNT];
	struct asahi_tvb_abi tvb;
};

struct asahi_job *asahi_job_create(struct asahi_queue *queue,
				   const struct asahi_command_args *args, unsigned int count,
				   struct asahi_small_job *small);
void asahi_job_count(struct asahi_job *job);
void asahi_job_run(struct asahi_job *job, struct asahi_pipe_msg *msg);
enum asahi_job_hit asahi_job_hit(const struct asahi_part *part, u32 value);

#if IS_ENABLED(CONFIG_KUNIT)
int asahi_job_take_room(struct asahi_job *job, const struct asahi_work_memory *memory);
#endif

#endif
