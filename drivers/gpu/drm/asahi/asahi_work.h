/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Work: what one command of a SUBMIT becomes on one pipe. Private to queue,
 * submission, job, recovery and core dump.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_WORK_H
#define ASAHI_WORK_H

#include <linux/types.h>

#include <drm/asahi_drm.h>

#include <agx/agx_rtkit.h>

#include "asahi_attachments.h"
#include "asahi_client.h"
#include "asahi_microseq.h"
#include "asahi_scene.h"
#include "asahi_user_times.h"

struct asahi_device;
struct asahi_fw_timestamps;
struct asahi_job;
struct asahi_knobs;
struct asahi_queue;

/** ASAHI_BARRIERS - barriers that a command can have: one for each subqueue */
#define ASAHI_BARRIERS 2

/** ASAHI_PREEMPT_ALIGN - alignment of preemption buffers */
#define ASAHI_PREEMPT_ALIGN 0x8000

/**
 * struct asahi_barrier - something that a command waits for
 * @pipe: pipe whose stamp it waits for
 * @internal: not a client's: fragment work waits for the vertex work of its render
 * @index: 0: earlier jobs; otherwise the number, from 1, of a piece of work of
 *	this job on @pipe
 */
struct asahi_barrier {
	u8 pipe;
	bool internal;
	u16 index;
};

/**
 * struct asahi_stage_args - what user space says of a command's part on one pipe
 * @attachments: memory that it writes
 * @times: where its client wants to know when it started and ended
 */
struct asahi_stage_args {
	struct asahi_attachments attachments;
	struct asahi_user_times times;
};

/**
 * struct asahi_command_args - a command as user space describes it
 * @is_render: a render command, otherwise a compute command
 * @render: the render command
 * @compute: the compute command
 * @scene: how the render command is divided; zero for compute commands
 * @preempt1_size: bytes of the first preemption buffer; zero for render commands
 * @stage: its parts, by pipe
 * @barrier: what it waits for
 * @num_barriers: entries of @barrier
 */
struct asahi_command_args {
	bool is_render;
	union {
		struct drm_asahi_cmd_render render;
		struct drm_asahi_cmd_compute compute;
	};
	struct asahi_scene_layout scene;
	u32 preempt1_size;
	struct asahi_stage_args stage[AGX_PIPE_COUNT];
	struct asahi_barrier barrier[ASAHI_BARRIERS];
	unsigned int num_barriers;
};

/**
 * struct asahi_work_part - a structure of the firmware's that belongs to work
 * @map: the structure; NULL if the work has none
 * @va: its firmware address
 */
struct asahi_work_part {
	void *map;
	u64 va;
};

/**
 * struct asahi_work_barrier - a barrier as the firmware sees it
 * @wait: what is waited for
 * @fw: the firmware's structure, filled in when the work runs
 */
struct asahi_work_barrier {
	struct asahi_barrier wait;
	struct asahi_work_part fw;
};

/**
 * struct asahi_work - a command's part on one pipe, as the firmware sees it
 * @pipe: pipe that it runs on
 * @command: number of its command in the job, from 0; the works of a command
 *	follow each other
 * @run: the Run* structure
 * @run_va: its address
 * @run_size: its bytes
 * @microseq: its microsequence
 * @times: when it started and ended, in ticks of the system's counter, as the
 *	firmware writes it; 0 until then
 * @times_va: address of these
 * @user_times: where its client wants them, with references
 * @client: what its client is told of it
 * @stamp: value that it writes, once it runs
 * @stream: start of its control stream, for messages
 * @barrier: what it waits for
 * @num_barriers: entries of @barrier
 * @init_buffer: tells the firmware of a vertex buffer in front of vertex work, filled in
 *	when that runs, if it is needed; empty for other work
 * @scene: what vertex work leaves to fragment work, for core dumps; likewise
 *
 * A compute command is one piece of work, a render command two: one for its
 * vertices and one for its fragments. Constant after the job is built, but for
 * the firmware structures, to which the job's turn adds slots and stamps.
 */
struct asahi_work {
	u8 pipe;
	u8 num_barriers;
	u16 command;
	void *run;
	u64 run_va;
	size_t run_size;
	struct asahi_microseq microseq;
	const struct asahi_fw_timestamps *times;
	u64 times_va;
	struct asahi_user_times user_times;
	struct asahi_client_work client;
	u32 stamp;
	u64 stream;
	struct asahi_work_barrier barrier[ASAHI_BARRIERS];
	struct asahi_work_part init_buffer;
	struct asahi_work_part scene;
};

/**
 * struct asahi_work_memory - how much firmware-visible memory work takes
 * @ro: bytes of Run* structures
 * @private: bytes of microsequences and barriers
 * @shared: bytes of timestamps and Scene structures
 * @gpu: bytes of preemption buffers and scenes
 * @word: bytes of control words
 *
 * Also used for the place of one piece of work in the memory of its job.
 */
struct asahi_work_memory {
	size_t ro;
	size_t private;
	size_t shared;
	size_t gpu;
	size_t word;
};

/**
 * struct asahi_work_args - what work is built from
 * @work: the work, with memory for everything
 * @command: its command
 * @attachments: memory that the work writes
 * @queue_info_va: QueueInfo of the work queue that it goes to
 * @notifier_va: the queue's notifier
 * @stats_va: the firmware's statistics of the pipe
 * @usc_exec_base: base of all shaders of the queue
 * @queue_id: identifies the queue
 * @preempt_va: memory that the GPU saves the state of compute work to; 0 for other work
 * @scene: memory of the render; from here on zero for compute work
 * @buffer_info_va: Info of the queue's vertex buffer
 * @kernel_buffer_va: the vertex buffer's memory for the firmware
 * @tiling_control: setting of the tiler
 * @core_masks: which cores are there, as the registers say
 * @knobs: knobs of the device, or NULL
 *
 * The first preemption buffer has the size that @command says; behind it come 4 × 8 bytes.
 */
struct asahi_work_args {
	struct asahi_work *work;
	const struct asahi_command_args *command;
	const struct asahi_attachments *attachments;
	u64 queue_info_va;
	u64 notifier_va;
	u64 stats_va;
	u64 usc_exec_base;
	u32 queue_id;
	u64 preempt_va;
	const struct asahi_scene *scene;
	u64 buffer_info_va;
	u64 kernel_buffer_va;
	u32 tiling_control;
	u32 core_masks[2];
	const struct asahi_knobs *knobs;
};

/**
 * struct asahi_patch - what work learns when it is about to run
 * @vm_slot: context of the VM
 * @event_slot: event slot
 * @buffer_slot: slot of the vertex buffer; 0 for compute work
 * @stamp_va: stamp that the kernel reads
 * @fw_stamp_va: stamp that barriers wait for
 * @stamp: value that the work writes to both
 * @event_seq: number of stamps that the work queue has had before
 * @counter: number of the work in its queue, in the order of the rings
 * @flush_stamps: a word for the firmware, see asahi_knobs.c
 */
struct asahi_patch {
	u32 vm_slot;
	u32 event_slot;
	u32 buffer_slot;
	u64 stamp_va;
	u64 fw_stamp_va;
	u32 stamp;
	u64 event_seq;
	u64 counter;
	u32 flush_stamps;
};

/**
 * struct asahi_work_abi - one kind of work
 * @run_size: bytes of its Run* structure; 0 if this kind is not supported
 * @microseq_size: bytes of its longest microsequence
 * @build: fill its zeroed memory, but for what struct asahi_patch has
 * @patch: complete it; has what all works of the command learn, by pipe;
 *	allocates nothing
 */
struct asahi_work_abi {
	size_t run_size;
	size_t microseq_size;
	void (*build)(const struct asahi_work_args *args);
	void (*patch)(struct asahi_work *work, const struct asahi_patch patch[AGX_PIPE_COUNT]);
};

unsigned int asahi_work_count(const struct asahi_command_args *args);
void asahi_work_add_memory(struct asahi_device *adev, const struct asahi_command_args *args,
			   struct asahi_work_memory *memory);
void asahi_work_build(struct asahi_job *job, struct asahi_work *work,
		      const struct asahi_command_args *args, struct asahi_work_memory *place);
void asahi_work_push(struct asahi_job *job, struct asahi_work *works, unsigned int count);

#endif
