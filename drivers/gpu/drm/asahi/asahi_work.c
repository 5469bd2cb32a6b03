// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Work: what one command of a SUBMIT becomes on one pipe.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/align.h>
#include <linux/array_size.h>
#include <linux/build_bug.h>
#include <linux/lockdep.h>
#include <linux/sizes.h>

#include "asahi_abi.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_event.h"
#include "asahi_fw_buffer.h"
#include "asahi_fw_job.h"
#include "asahi_fw_microseq.h"
#include "asahi_fw_workqueue.h"
#include "asahi_hw.h"
#include "asahi_initdata.h"
#include "asahi_job.h"
#include "asahi_knobs.h"
#include "asahi_queue_priv.h"
#include "asahi_render.h"
#include "asahi_scene.h"
#include "asahi_trace.h"
#include "asahi_tvb.h"
#include "asahi_vm.h"
#include "asahi_work.h"
#include "asahi_workqueue.h"

/**
 * DOC: Work
 *
 * A command of user space's becomes one piece of work for each pipe that it
 * runs on. Work is a Run structure, which says what the GPU is to do, and a
 * microsequence, which says what the firmware is to do for it: start it, note
 * the time, wait, note the time, finish it, retire it. Each piece of work takes
 * one stamp of its pipe's ring, and has barriers in front of it in that ring for
 * what it has to wait for.
 */

/* Bytes of a preemption buffer behind its first part. */
#define ASAHI_PREEMPT_TAIL (4 * sizeof(u64))

#define ASAHI_BARRIER_STRIDE	ALIGN(sizeof(struct asahi_fw_barrier), ASAHI_HEAP_ALIGN)
#define ASAHI_INIT_STRIDE	ALIGN(sizeof(struct asahi_fw_init_buffer), ASAHI_HEAP_ALIGN)
#define ASAHI_TIMES_STRIDE	ALIGN(sizeof(struct asahi_fw_timestamps), ASAHI_HEAP_ALIGN)

static_assert(ASAHI_SCENE_ALIGN == ASAHI_PREEMPT_ALIGN);

/* Fragment work comes first: the firmware counts it before its vertex work. */
static const u8 asahi_work_render_pipes[] = { AGX_PIPE_FRAGMENT, AGX_PIPE_VERTEX };
static const u8 asahi_work_compute_pipes[] = { AGX_PIPE_COMPUTE };

static const u8 *asahi_work_pipes(const struct asahi_command_args *args)
{
	return args->is_render ? asahi_work_render_pipes : asahi_work_compute_pipes;
}

/**
 * asahi_work_count() - how many pieces of work a command is
 * @args: command
 *
 * Return: a number from 1 to AGX_PIPE_COUNT.
 */
unsigned int asahi_work_count(const struct asahi_command_args *args)
{
	return args->is_render ? ARRAY_SIZE(asahi_work_render_pipes) :
				 ARRAY_SIZE(asahi_work_compute_pipes);
}

/*
 * What a client's barriers hold back is the first half of a render; the second
 * waits for the first.
 */
static unsigned int asahi_work_num_barriers(const struct asahi_command_args *args, u8 pipe)
{
	return pipe == AGX_PIPE_FRAGMENT ? 1 : args->num_barriers;
}

static void asahi_work_add_pipe(struct asahi_device *adev, const struct asahi_command_args *args,
				u8 pipe, struct asahi_work_memory *memory)
{
	const struct asahi_work_abi *abi = &adev->abi->job->work[pipe];

	memory->ro += ALIGN(abi->run_size, ASAHI_HEAP_ALIGN);
	memory->private += ALIGN(abi->microseq_size, ASAHI_HEAP_ALIGN) +
			   asahi_work_num_barriers(args, pipe) * ASAHI_BARRIER_STRIDE;
	if (pipe == AGX_PIPE_VERTEX)
		memory->private += ASAHI_INIT_STRIDE;
	memory->shared += ASAHI_TIMES_STRIDE;
}

/* The memory of a command besides that of its work. */
static void asahi_work_add_rest(struct asahi_device *adev, const struct asahi_command_args *args,
				struct asahi_work_memory *memory)
{
	const struct asahi_tvb_abi *tvb = &adev->abi->job->tvb;

	if (!args->is_render) {
		memory->gpu += ALIGN(args->preempt1_size + ASAHI_PREEMPT_TAIL,
				     ASAHI_PREEMPT_ALIGN);
		return;
	}

	memory->shared += ALIGN(tvb->scene_size, ASAHI_HEAP_ALIGN);
	memory->gpu += args->scene.size;
	if (tvb->has_control_word)
		memory->word += ASAHI_HEAP_ALIGN;
}

/**
 * asahi_work_add_memory() - add up how much memory a command takes
 * @adev: device
 * @args: command
 * @memory: sum so far
 *
 * All parts are multiples of ASAHI_HEAP_ALIGN, those that the GPU writes of
 * ASAHI_PREEMPT_ALIGN.
 */
void asahi_work_add_memory(struct asahi_device *adev, const struct asahi_command_args *args,
			   struct asahi_work_memory *memory)
{
	for (unsigned int i = 0; i < asahi_work_count(args); i++)
		asahi_work_add_pipe(adev, args, asahi_work_pipes(args)[i], memory);
	asahi_work_add_rest(adev, args, memory);
}

static void asahi_work_place(struct asahi_job *job, struct asahi_work *work,
			     const struct asahi_work_memory *place)
{
	const struct asahi_work_abi *abi = &job->queue->adev->abi->job->work[work->pipe];

	work->run = job->memory.strip->ro.map + place->ro;
	work->run_va = job->memory.strip->ro.va + place->ro;
	work->run_size = abi->run_size;
	work->microseq.map = job->memory.strip->private.map + place->private;
	work->microseq.va = job->memory.strip->private.va + place->private;
	work->microseq.size = abi->microseq_size;
	work->times = job->memory.strip->shared.map + place->shared;
	work->times_va = job->memory.strip->shared.va + place->shared;
	work->client.times = work->times;
}

/* What goes into the ring in front of it. */
static void asahi_work_place_entries(struct asahi_job *job, struct asahi_work *work,
				     const struct asahi_work_memory *place)
{
	size_t offset = place->private + ALIGN(work->microseq.size, ASAHI_HEAP_ALIGN);

	for (unsigned int i = 0; i < work->num_barriers; i++) {
		work->barrier[i].fw.map = job->memory.strip->private.map + offset;
		work->barrier[i].fw.va = job->memory.strip->private.va + offset;
		offset += ASAHI_BARRIER_STRIDE;
	}

	if (work->pipe == AGX_PIPE_VERTEX) {
		work->init_buffer.map = job->memory.strip->private.map + offset;
		work->init_buffer.va = job->memory.strip->private.va + offset;
	}
}

static void asahi_work_set_barriers(const struct asahi_job *job, struct asahi_work *work,
				    const struct asahi_command_args *args)
{
	work->num_barriers = asahi_work_num_barriers(args, work->pipe);

	if (work->pipe == AGX_PIPE_FRAGMENT) {
		work->barrier[0].wait = (struct asahi_barrier) {
			.pipe = AGX_PIPE_VERTEX,
			.internal = true,
			.index = job->part[AGX_PIPE_VERTEX].count + 1,
		};
		return;
	}

	for (unsigned int i = 0; i < work->num_barriers; i++)
		work->barrier[i].wait = args->barrier[i];
}

static u64 asahi_work_stream(const struct asahi_command_args *args, u8 pipe)
{
	switch (pipe) {
	case AGX_PIPE_VERTEX:
		return args->render.vdm_ctrl_stream_base;
	case AGX_PIPE_COMPUTE:
		return args->compute.cdm_ctrl_stream_base;
	default:
		return 0;
	}
}

static void asahi_work_prepare(struct asahi_job *job, struct asahi_work *work,
			       const struct asahi_command_args *command,
			       const struct asahi_work_memory *place)
{
	const struct asahi_user_times *times = &command->stage[work->pipe].times;

	work->stream = asahi_work_stream(command, work->pipe);
	if (asahi_user_times_are_wanted(times))
		work->user_times = asahi_user_times_get(times);
	asahi_work_set_barriers(job, work, command);
	asahi_work_place(job, work, place);
	asahi_work_place_entries(job, work, place);
}

static void asahi_work_build_one(struct asahi_job *job, struct asahi_work *work,
				 struct asahi_work_args *args)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_device *adev = queue->adev;

	args->work = work;
	args->attachments = &args->command->stage[work->pipe].attachments;
	args->queue_info_va = queue->pipes.wq[work->pipe].info.va;
	args->stats_va = asahi_initdata_stats_va(adev, work->pipe);
	adev->abi->job->work[work->pipe].build(args);

	if (args->scene && work->pipe == AGX_PIPE_VERTEX)
		work->scene = (struct asahi_work_part) { args->scene->map, args->scene->va };

	trace_asahi_build(adev, asahi_client_id(queue->client), queue->id, job->id, work->pipe,
			  work->run_va, work->microseq.va, work->stream);
}

/**
 * asahi_work_build() - build a command
 * @job: job with memory, to which the works of earlier commands are counted
 * @works: where the command's work goes, asahi_work_count() pieces
 * @command: command
 * @place: where its memory begins in that of the job; advanced to its end
 *
 * Process context.
 */
void asahi_work_build(struct asahi_job *job, struct asahi_work *works,
		      const struct asahi_command_args *command, struct asahi_work_memory *place)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_device *adev = queue->adev;
	unsigned int count = asahi_work_count(command);
	struct asahi_work_args args = {
		.command = command,
		.notifier_va = queue->notifier.va,
		.usc_exec_base = queue->usc_exec_base,
		.queue_id = queue->fw_id,
	};
	struct asahi_scene scene;

	for (unsigned int i = 0; i < count; i++) {
		works[i].pipe = asahi_work_pipes(command)[i];
		asahi_work_prepare(job, &works[i], command, place);
		asahi_work_add_pipe(adev, command, works[i].pipe, place);
	}

	if (command->is_render)
		asahi_render_prepare(job, &scene, place, &args);
	else
		args.preempt_va = job->memory.gpu.va + place->gpu;
	for (unsigned int i = 0; i < count; i++)
		asahi_work_build_one(job, &works[i], &args);
	asahi_work_add_rest(adev, command, place);
}

/* The value to wait for; false if there is nothing in flight to wait for. */
static bool asahi_work_barrier_value(const struct asahi_job *job,
				     const struct asahi_barrier *barrier, u32 *value)
{
	const struct asahi_part *part = &job->part[barrier->pipe];

	if (barrier->index)
		*value = part->first + (barrier->index - 1) * ASAHI_STAMP_STEP;
	else
		*value = part->earlier;

	return barrier->index || part->behind;
}

static void asahi_work_push_barriers(struct asahi_job *job, struct asahi_work *work, u32 stamp)
{
	struct asahi_queue *queue = job->queue;

	for (unsigned int i = 0; i < work->num_barriers; i++) {
		const struct asahi_barrier *wait = &work->barrier[i].wait;
		unsigned int event = queue->pipes.wq[wait->pipe].slot.slot;
		struct asahi_fw_barrier *fw = work->barrier[i].fw.map;
		u32 value;

		if (!asahi_work_barrier_value(job, wait, &value))
			continue;

		fw->tag = cpu_to_le32(ASAHI_FW_CMD_BARRIER);
		fw->wait_stamp = cpu_to_le64(asahi_event_fw_stamp_va(queue->adev, event));
		fw->wait_value = cpu_to_le32(value);
		fw->wait_slot = cpu_to_le32(event);
		fw->stamp_self = cpu_to_le32(stamp);
		if (!wait->internal) {
			fw->uuid = cpu_to_le32(ASAHI_FW_BARRIER_UUID);
			fw->internal_barrier_type = cpu_to_le32(1);
		}

		asahi_workqueue_push(&queue->pipes.wq[work->pipe], work->barrier[i].fw.va);
	}
}

/* Take a stamp for a piece of work. */
static void asahi_work_take_stamp(struct asahi_job *job, struct asahi_work *work,
				  struct asahi_patch *patch)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_workqueue *wq = &queue->pipes.wq[work->pipe];
	unsigned int event = wq->slot.slot;

	*patch = (struct asahi_patch) {
		.vm_slot = asahi_vm_slot_client(queue->vm)->slot,
		.event_slot = event,
		.buffer_slot = job->tpc ? queue->tvb.slot.slot : 0,
		.stamp_va = asahi_event_stamp_va(queue->adev, event),
		.fw_stamp_va = asahi_event_fw_stamp_va(queue->adev, event),
		.event_seq = wq->event_seq,
		.counter = queue->timeline.counter++,
		.flush_stamps = asahi_knob(queue->adev->knobs, ASAHI_KNOB_FLUSH_STAMPS, 0) >>
				work->pipe & 1,
	};
	patch->stamp = asahi_workqueue_next_stamp(wq);
	work->stamp = patch->stamp;
	job->part[work->pipe].last = patch->stamp;
}

/**
 * asahi_work_push() - complete a command's work and put it into the rings
 * @job: job that holds its slots
 * @works: the work of one command
 * @count: how many pieces
 *
 * With the timeline's lock held, in the critical section of fences. Allocates
 * nothing. The firmware sees nothing of it before asahi_workqueue_commit().
 */
void asahi_work_push(struct asahi_job *job, struct asahi_work *works, unsigned int count)
{
	struct asahi_queue *queue = job->queue;
	const struct asahi_job_abi *abi = queue->adev->abi->job;
	struct asahi_patch patch[AGX_PIPE_COUNT] = {};

	lockdep_assert_held(&queue->timeline.lock);

	for (unsigned int i = 0; i < count; i++)
		asahi_work_take_stamp(job, &works[i], &patch[works[i].pipe]);

	for (unsigned int i = 0; i < count; i++) {
		struct asahi_work *work = &works[i];

		asahi_work_push_barriers(job, work, patch[work->pipe].stamp);
		if (work->pipe == AGX_PIPE_VERTEX)
			asahi_tvb_push(queue, work, patch[work->pipe].vm_slot);
		abi->work[work->pipe].patch(work, patch);
		asahi_workqueue_push(&queue->pipes.wq[work->pipe], work->run_va);
	}
}
