/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Jobs: what one SUBMIT becomes. Private to queue, submission, command
 * building, recovery and core dump.
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

#include <drm/asahi_drm.h>
#include <drm/gpu_scheduler.h>

#include <agx/agx_rtkit.h>

#include "asahi_fw_microseq.h"
#include "asahi_heap.h"
#include "asahi_slot.h"

struct asahi_device;
struct asahi_queue;
struct work_struct;

/** ASAHI_BARRIERS - barriers that a command can have: one for each subqueue */
#define ASAHI_BARRIERS 2

/**
 * struct asahi_barrier - something that a command waits for
 * @pipe: pipe whose stamp it waits for
 * @index: 0: earlier jobs; otherwise the number, from 1, of a command of this
 *	job on @pipe
 */
struct asahi_barrier {
	u8 pipe;
	u16 index;
};

/**
 * struct asahi_command_args - a command as user space describes it
 * @compute: the command
 * @attachments: memory that it writes
 * @barrier: what it waits for
 * @num_barriers: entries of @barrier
 */
struct asahi_command_args {
	struct drm_asahi_cmd_compute compute;
	struct asahi_fw_attachments attachments;
	struct asahi_barrier barrier[ASAHI_BARRIERS];
	unsigned int num_barriers;
};

/**
 * struct asahi_command - a command as the firmware sees it
 * @run: the Run* structure
 * @run_va: its address
 * @microseq: its microsequence
 * @microseq_va: its address
 * @stream: start of its control stream, for messages
 * @pipe: pipe that it runs on
 * @barrier: what it waits for
 * @barrier_map: a firmware structure for each of them
 * @barrier_va: their addresses
 * @num_barriers: entries of these three
 */
struct asahi_command {
	void *run;
	u64 run_va;
	void *microseq;
	u64 microseq_va;
	u64 stream;
	u8 pipe;
	u8 num_barriers;
	struct asahi_barrier barrier[ASAHI_BARRIERS];
	void *barrier_map[ASAHI_BARRIERS];
	u64 barrier_va[ASAHI_BARRIERS];
};

/**
 * struct asahi_job_pipe - a job's part on one pipe
 * @count: stamps that it takes
 * @first: value of the first, once it runs
 * @last: value of the last, once it runs
 * @taken_down: the firmware has taken its work down
 * @owed: up to which value, which the firmware owes us then
 */
struct asahi_job_pipe {
	unsigned int count;
	u32 first;
	u32 last;
	bool taken_down;
	u32 owed;
};

/**
 * struct asahi_job - the commands of one SUBMIT
 * @base: scheduler's part
 * @refcount: one for the scheduler until free_job(), one while in flight, one
 *	for a core dump
 * @queue: queue, with a reference
 * @id: number, for messages
 * @slots: VM context and events that it needs
 * @done: fence that signals with its last stamp and those of all earlier jobs
 *	of the queue; allocated early, initialised when the job runs
 * @link: in the queue's list of jobs in flight
 * @free_link: in the list of jobs whose memory is to be freed
 * @memory_ro: firmware memory: Run* structures
 * @memory_private: firmware memory: microsequences and barriers
 * @memory_shared: firmware memory: timestamps
 * @memory_gpu: GPU memory in the VM: preemption buffers
 * @pipe: its part on each pipe
 * @run_time: when it was handed to the firmware
 * @error: negative errno that @done is going to carry, or 0
 * @fence_valid: @done is initialised
 * @ran: its turn has come
 * @skipped: was not handed to the firmware then, because there was no point
 * @num_commands: entries of @command
 * @command: the commands in the order of submission
 *
 * From @link to @skipped, the queue's lock protects what changes after submission.
 */
struct asahi_job {
	struct drm_sched_job base;
	struct kref refcount;
	struct asahi_queue *queue;
	u64 id;
	struct asahi_slot_request slots;
	struct dma_fence *done;
	struct list_head link;
	struct llist_node free_link;
	struct asahi_fwbuf memory_ro;
	struct asahi_fwbuf memory_private;
	struct asahi_fwbuf memory_shared;
	struct asahi_fwbuf memory_gpu;
	struct asahi_job_pipe pipe[AGX_PIPE_COUNT];
	ktime_t run_time;
	int error;
	bool fence_valid;
	bool ran;
	bool skipped;
	unsigned int num_commands;
	struct asahi_command command[] __counted_by(num_commands);
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
 * struct asahi_compute_args - what a compute command is built from
 * @args: the user's description
 * @run: zeroed memory for RunCompute
 * @run_va: its address
 * @microseq: zeroed memory for the microsequence
 * @microseq_va: its address
 * @timestamps_va: zeroed memory for its timestamps
 * @preempt_va: memory that the GPU saves its state to
 * @preempt1_size: bytes of the first part of it, after which come 4 × 8
 * @queue_info_va: QueueInfo of the work queue that it goes to
 * @notifier_va: the queue's notifier
 * @stats_va: the firmware's statistics of the compute pipe
 * @usc_exec_base: base of all shaders of the queue
 * @counter: its number in the queue
 * @queue_id: identifies the queue
 */
struct asahi_compute_args {
	const struct asahi_command_args *args;
	void *run;
	u64 run_va;
	void *microseq;
	u64 microseq_va;
	u64 timestamps_va;
	u64 preempt_va;
	u32 preempt1_size;
	u64 queue_info_va;
	u64 notifier_va;
	u64 stats_va;
	u64 usc_exec_base;
	u64 counter;
	u32 queue_id;
};

/** ASAHI_PREEMPT_TAIL - bytes of a preemption buffer behind its first part */
#define ASAHI_PREEMPT_TAIL (4 * sizeof(u64))

/**
 * struct asahi_patch - what a command learns when it is about to run
 * @vm_slot: context of the VM
 * @event_slot: event slot
 * @stamp_va: stamp that the kernel reads
 * @fw_stamp_va: stamp that barriers wait for
 * @stamp: value that the command writes to both
 * @event_seq: number of stamps that the work queue has had before
 */
struct asahi_patch {
	u32 vm_slot;
	u32 event_slot;
	u64 stamp_va;
	u64 fw_stamp_va;
	u32 stamp;
	u64 event_seq;
};

/**
 * struct asahi_job_abi - work queue and command operations
 * @queue_info_size: bytes of QueueInfo
 * @notifier_size: bytes of Notifier
 * @run_compute_size: bytes of RunCompute
 * @compute_microseq_size: bytes of a compute command's microsequence
 * @queue_info_init: fill a zeroed QueueInfo
 * @notifier_init: fill a zeroed Notifier; @threshold_va is the counter that
 *	it compares with
 * @compute_build: build a compute command but for what struct asahi_patch has
 * @compute_patch: complete a compute command; allocates nothing
 */
struct asahi_job_abi {
	size_t queue_info_size;
	size_t notifier_size;
	size_t run_compute_size;
	size_t compute_microseq_size;
	void (*queue_info_init)(void *map, const struct asahi_queue_info *info);
	void (*notifier_init)(void *map, u64 threshold_va, u32 queue_id);
	void (*compute_build)(const struct asahi_compute_args *args);
	void (*compute_patch)(void *run, void *microseq, const struct asahi_patch *patch);
};

struct asahi_job *asahi_job_create(struct asahi_queue *queue,
				   const struct asahi_command_args *args, unsigned int count);
struct asahi_job *asahi_job_get(struct asahi_job *job);
void asahi_job_put(struct asahi_job *job);
int asahi_job_reserve(struct asahi_job *job);
void asahi_job_unreserve(struct asahi_job *job);
void asahi_job_run(struct asahi_job *job);
bool asahi_job_reached(struct asahi_job *job);
bool asahi_job_owed(struct asahi_job *job);

void asahi_free_queue_work(struct work_struct *work);
int asahi_jobs_module_init(void);
void asahi_jobs_module_exit(void);

#endif
