// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * SUBMIT: from the user's commands and syncs to a job that runs or waits.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/array_size.h>
#include <linux/cleanup.h>
#include <linux/dma-fence-chain.h>
#include <linux/dma-fence-unwrap.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/drm_syncobj.h>

#include "asahi_client.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_entity.h"
#include "asahi_job.h"
#include "asahi_job_slab.h"
#include "asahi_knobs.h"
#include "asahi_queue.h"
#include "asahi_queue_priv.h"
#include "asahi_reclaim.h"
#include "asahi_ref.h"
#include "asahi_render.h"
#include "asahi_scene.h"
#include "asahi_sched.h"
#include "asahi_stashes.h"
#include "asahi_submit.h"
#include "asahi_trace.h"
#include "asahi_trim.h"
#include "asahi_user_times.h"
#include "asahi_vm.h"

/**
 * DOC: SUBMIT
 *
 * Everything that can fail comes first: copying, checking, building firmware
 * structures, looking up syncs, locking reservations. Then the job is armed,
 * which gives it its fence. It is handed to the firmware at once, or pushed if it has to
 * wait, and the fence is put wherever it is to be seen. A SUBMIT that fails has changed
 * nothing.
 *
 * The firmware may run commands of one ring side by side, and jobs of a queue are handed over
 * one after the other without waiting for each other. So a client that waits for a
 * fence of the same queue gets barriers instead, whether it waits for the fence
 * itself, for a point of a timeline or for a merged sync file.
 */

#define ASAHI_MAX_SYNCS 4096
/* Fences that the in-syncs of a SUBMIT are taken apart to, one for each at least. */
#define ASAHI_MAX_IN_FENCES (2 * ASAHI_MAX_SYNCS)
#define ASAHI_MAX_CMDBUF_SIZE SZ_1M
/* Syncs of one kind that need no memory of their own; Mesa has one or two. */
#define ASAHI_FEW_SYNCS 4
/* Commands that need no memory of their own. */
#define ASAHI_FEW_COMMANDS 1
/* Those that are not larger are kept for core dumps. */
#define ASAHI_KEEP_CMDBUF_SIZE SZ_64K

/* Subqueues as user space counts them. */
enum asahi_subqueue {
	ASAHI_SUBQUEUE_RENDER,
	ASAHI_SUBQUEUE_COMPUTE,
	ASAHI_SUBQUEUES,
};

/* The pipe that says when work of a subqueue is complete. */
static const u8 asahi_submit_pipe[ASAHI_SUBQUEUES] = {
	[ASAHI_SUBQUEUE_RENDER] = AGX_PIPE_FRAGMENT,
	[ASAHI_SUBQUEUE_COMPUTE] = AGX_PIPE_COMPUTE,
};

static_assert(ASAHI_BARRIERS == ASAHI_SUBQUEUES);
static_assert(DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS - DRM_ASAHI_SET_VERTEX_ATTACHMENTS ==
	      AGX_PIPE_FRAGMENT);
static_assert(DRM_ASAHI_SET_COMPUTE_ATTACHMENTS - DRM_ASAHI_SET_VERTEX_ATTACHMENTS ==
	      AGX_PIPE_COMPUTE);

/**
 * struct asahi_out_sync - something to be signalled
 * @syncobj: sync object, with a reference
 * @chain: link of its timeline, or NULL for a binary one
 * @point: point of the timeline
 */
struct asahi_out_sync {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
	u64 point;
};

/**
 * struct asahi_submit - a SUBMIT on its way
 * @file: open file
 * @args: argument of the ioctl
 * @queue: queue, with a reference
 * @cmdbuf: copy of the commands, unless the job has taken it over
 * @small: memory of @cmdbuf if that is small, and of the job if it has few works, likewise
 * @syncs: copy of the syncs
 * @few_syncs: memory of @syncs if there are few
 * @out: those to be signalled
 * @few_out: memory of @out, likewise
 * @num_out: how many of them were looked up
 * @commands: hardware commands
 * @few_commands: memory of @commands if there are few, not zeroed
 * @num_commands: how many there are
 * @parsed: how many were parsed, by subqueue
 * @attachments: memory that following commands write, by pipe
 * @in_fences: what was found in the fences of its in-syncs
 * @after_own: a fence of the same queue is waited for
 * @after_others: another fence is
 * @job: the job, until it is pushed
 * @job_id: its number, 0 without a job
 */
struct asahi_submit {
	struct asahi_file *file;
	const struct drm_asahi_submit *args;
	struct asahi_queue *queue;
	void *cmdbuf;
	struct asahi_small_job *small;
	struct drm_asahi_sync *syncs;
	struct drm_asahi_sync few_syncs[2 * ASAHI_FEW_SYNCS];
	struct asahi_out_sync *out;
	struct asahi_out_sync few_out[ASAHI_FEW_SYNCS];
	unsigned int num_out;
	struct asahi_command_args *commands;
	struct asahi_command_args *few_commands;
	unsigned int num_commands;
	unsigned int parsed[ASAHI_SUBQUEUES];
	struct asahi_attachments attachments[AGX_PIPE_COUNT];
	unsigned int in_fences;
	bool after_own;
	bool after_others;
	struct asahi_job *job;
	u64 job_id;
};

#define asahi_submit_dbg(submit, fmt, ...) do {					\
	const struct asahi_submit *submit_ = (submit);				\
										\
	drm_dbg(&submit_->file->adev->drm, "queue %u: " fmt,			\
		submit_->args->queue_id, ##__VA_ARGS__);			\
} while (0)

/*
 * Commands
 */

/**
 * struct asahi_submit_reader - a place in a buffer of commands
 * @pos: next byte
 * @left: bytes from there on
 */
struct asahi_submit_reader {
	const u8 *pos;
	size_t left;
};

static int asahi_submit_next(struct asahi_submit_reader *reader,
			     struct drm_asahi_cmd_header *header, const void **payload)
{
	if (reader->left < sizeof(*header))
		return -EINVAL;

	memcpy(header, reader->pos, sizeof(*header));
	reader->pos += sizeof(*header);
	reader->left -= sizeof(*header);

	if (reader->left < header->size)
		return -EINVAL;

	*payload = reader->pos;
	reader->pos += header->size;
	reader->left -= header->size;

	return 0;
}

static bool asahi_submit_is_hardware(u16 type)
{
	return type == DRM_ASAHI_CMD_RENDER || type == DRM_ASAHI_CMD_COMPUTE;
}

static int asahi_submit_count(struct asahi_submit *submit)
{
	struct asahi_submit_reader reader = { submit->cmdbuf, submit->args->cmdbuf_size };
	struct drm_asahi_cmd_header header;
	unsigned int count = 0;
	const void *payload;
	int ret;

	while (reader.left) {
		ret = asahi_submit_next(&reader, &header, &payload);
		if (ret) {
			asahi_submit_dbg(submit, "truncated command\n");
			return ret;
		}
		count += asahi_submit_is_hardware(header.cmd_type);
	}

	if (!count || count > ASAHI_MAX_COMMANDS) {
		asahi_submit_dbg(submit, "%u commands\n", count);
		return -EINVAL;
	}

	submit->num_commands = count;

	return 0;
}

static int asahi_submit_parse_attachments(struct asahi_submit *submit, const void *payload,
					  size_t size, struct asahi_attachments *out)
{
	size_t count = size / sizeof(struct drm_asahi_attachment);

	if (size % sizeof(struct drm_asahi_attachment) || count > ASAHI_MAX_ATTACHMENTS) {
		asahi_submit_dbg(submit, "%zu bytes of attachments\n", size);
		return -EINVAL;
	}

	*out = (struct asahi_attachments) { .list = payload, .count = count };
	if (!asahi_attachments_check(out)) {
		asahi_submit_dbg(submit, "bad attachments\n");
		return -EINVAL;
	}

	return 0;
}

static int asahi_submit_parse_set(struct asahi_submit *submit,
				  const struct drm_asahi_cmd_header *header, const void *payload)
{
	/* The header numbers them in the order of the pipes. */
	unsigned int pipe = header->cmd_type - DRM_ASAHI_SET_VERTEX_ATTACHMENTS;

	if (header->vdm_barrier != DRM_ASAHI_BARRIER_NONE ||
	    header->cdm_barrier != DRM_ASAHI_BARRIER_NONE) {
		asahi_submit_dbg(submit, "attachments with a barrier\n");
		return -EINVAL;
	}

	return asahi_submit_parse_attachments(submit, payload, header->size,
					      &submit->attachments[pipe]);
}

static int asahi_submit_parse_barriers(struct asahi_submit *submit,
				       const struct drm_asahi_cmd_header *header,
				       struct asahi_command_args *command)
{
	const u16 index[ASAHI_SUBQUEUES] = {
		[ASAHI_SUBQUEUE_RENDER] = header->vdm_barrier,
		[ASAHI_SUBQUEUE_COMPUTE] = header->cdm_barrier,
	};

	for (unsigned int i = 0; i < ASAHI_SUBQUEUES; i++) {
		if (index[i] == DRM_ASAHI_BARRIER_NONE)
			continue;
		if (index[i] > submit->parsed[i]) {
			asahi_submit_dbg(submit, "barrier on command %u of %u\n", index[i],
					 submit->parsed[i]);
			return -EINVAL;
		}
		command->barrier[command->num_barriers++] = (struct asahi_barrier) {
			.pipe = asahi_submit_pipe[i],
			.index = index[i],
		};
	}

	return 0;
}

static int asahi_submit_find_times(struct asahi_submit *submit,
				   const struct drm_asahi_timestamps *ts,
				   struct asahi_user_times *times)
{
	int ret = asahi_user_times_find(submit->file, ts, times);

	if (ret)
		asahi_submit_dbg(submit, "times at %u+%#x and %u+%#x: %d\n", ts->start.handle,
				 ts->start.offset, ts->end.handle, ts->end.offset, ret);

	return ret;
}

/* What is missing at the end stays zero. */
static int asahi_submit_copy_command(struct asahi_submit *submit,
				     const struct drm_asahi_cmd_header *header,
				     const void *payload, void *command, size_t size)
{
	size_t known = min(size, header->size);

	if (header->size > known && memchr_inv(payload + known, 0, header->size - known)) {
		asahi_submit_dbg(submit, "command %u from the future\n", header->cmd_type);
		return -E2BIG;
	}

	memcpy(command, payload, known);

	return 0;
}

static int asahi_submit_parse_stage(struct asahi_submit *submit,
				    struct asahi_command_args *command, unsigned int pipe,
				    const struct drm_asahi_timestamps *ts)
{
	command->stage[pipe].attachments = submit->attachments[pipe];
	if (!ts->start.handle && !ts->end.handle)
		return 0;

	return asahi_submit_find_times(submit, ts, &command->stage[pipe].times);
}

static int asahi_submit_parse_compute(struct asahi_submit *submit,
				      const struct drm_asahi_cmd_header *header,
				      const void *payload, struct asahi_command_args *command)
{
	struct drm_asahi_cmd_compute *compute = &command->compute;
	struct asahi_device *adev = submit->file->adev;
	int ret;

	ret = asahi_submit_copy_command(submit, header, payload, compute, sizeof(*compute));
	if (ret)
		return ret;

	if (compute->flags) {
		asahi_submit_dbg(submit, "compute flags %#x\n", compute->flags);
		return -EINVAL;
	}

	/* A multiple, so nothing else is in reach of a GPU that takes less. */
	command->preempt1_size = adev->hw->compute_preempt1_size *
				 asahi_knob(adev->knobs, ASAHI_KNOB_PREEMPT1, 1);

	return asahi_submit_parse_stage(submit, command, AGX_PIPE_COMPUTE, &compute->ts);
}

static int asahi_submit_check_render(struct asahi_submit *submit,
				     struct asahi_command_args *command)
{
	struct asahi_device *adev = submit->file->adev;
	const struct drm_asahi_cmd_render *render = &command->render;
	const char *wrong = asahi_render_check(render);
	int ret;

	if (wrong) {
		asahi_submit_dbg(submit, "render command: %s\n", wrong);
		return -EINVAL;
	}

	ret = asahi_scene_measure(&command->scene, adev->hw, adev->params.num_clusters_total,
				  render);
	if (ret)
		asahi_submit_dbg(submit, "a render takes %llu and %llu bytes\n",
				 command->scene.size, command->scene.tpc_size);

	return ret;
}

static int asahi_submit_parse_render(struct asahi_submit *submit,
				     const struct drm_asahi_cmd_header *header,
				     const void *payload, struct asahi_command_args *command)
{
	struct drm_asahi_cmd_render *render = &command->render;
	int ret;

	command->is_render = true;
	ret = asahi_submit_copy_command(submit, header, payload, render, sizeof(*render));
	if (ret)
		return ret;

	ret = asahi_submit_check_render(submit, command);
	if (ret)
		return ret;

	ret = asahi_submit_parse_stage(submit, command, AGX_PIPE_VERTEX, &render->ts_vtx);
	if (ret)
		return ret;

	return asahi_submit_parse_stage(submit, command, AGX_PIPE_FRAGMENT, &render->ts_frag);
}

static int asahi_submit_parse_hardware(struct asahi_submit *submit,
				       const struct drm_asahi_cmd_header *header,
				       const void *payload, struct asahi_command_args *command)
{
	bool render = header->cmd_type == DRM_ASAHI_CMD_RENDER;
	int ret = asahi_submit_parse_barriers(submit, header, command);

	if (ret)
		return ret;

	if (render)
		ret = asahi_submit_parse_render(submit, header, payload, command);
	else
		ret = asahi_submit_parse_compute(submit, header, payload, command);
	if (ret)
		return ret;

	submit->parsed[render ? ASAHI_SUBQUEUE_RENDER : ASAHI_SUBQUEUE_COMPUTE]++;

	return 0;
}

static int asahi_submit_parse(struct asahi_submit *submit)
{
	struct asahi_submit_reader reader = { submit->cmdbuf, submit->args->cmdbuf_size };
	struct asahi_command_args *command = submit->commands;
	struct drm_asahi_cmd_header header;
	const void *payload;
	int ret;

	while (reader.left) {
		ret = asahi_submit_next(&reader, &header, &payload);
		if (ret)
			return ret;

		switch (header.cmd_type) {
		case DRM_ASAHI_CMD_RENDER:
		case DRM_ASAHI_CMD_COMPUTE:
			ret = asahi_submit_parse_hardware(submit, &header, payload, command++);
			break;
		case DRM_ASAHI_SET_VERTEX_ATTACHMENTS:
		case DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS:
		case DRM_ASAHI_SET_COMPUTE_ATTACHMENTS:
			ret = asahi_submit_parse_set(submit, &header, payload);
			break;
		default:
			asahi_submit_dbg(submit, "unknown command %u\n", header.cmd_type);
			return -EINVAL;
		}
		if (ret)
			return ret;
	}

	return 0;
}

/* Each command that waits for nothing on a subqueue waits for earlier jobs. */
static void asahi_submit_wait_for_own(struct asahi_submit *submit)
{
	for (unsigned int i = 0; i < submit->num_commands; i++) {
		struct asahi_command_args *command = &submit->commands[i];
		bool waits[AGX_PIPE_COUNT] = {};

		for (unsigned int j = 0; j < command->num_barriers; j++)
			waits[command->barrier[j].pipe] = true;

		for (unsigned int j = 0; j < ASAHI_SUBQUEUES; j++)
			if (!waits[asahi_submit_pipe[j]])
				command->barrier[command->num_barriers++].pipe =
					asahi_submit_pipe[j];
	}
}

/*
 * Syncs
 */

static int asahi_submit_check_syncs(struct asahi_submit *submit)
{
	unsigned int count = submit->args->in_sync_count + submit->args->out_sync_count;

	for (unsigned int i = 0; i < count; i++) {
		const struct drm_asahi_sync *sync = &submit->syncs[i];

		if (sync->sync_type == DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ)
			continue;
		if (sync->sync_type == DRM_ASAHI_SYNC_SYNCOBJ && !sync->timeline_value)
			continue;

		asahi_submit_dbg(submit, "sync %u: type %u, value %llu\n", i, sync->sync_type,
				 sync->timeline_value);
		return -EINVAL;
	}

	return 0;
}

static bool asahi_submit_is_own(const struct asahi_submit *submit, const struct dma_fence *fence)
{
	return fence->context == submit->queue->timeline.fence_context;
}

/*
 * Are there fences of the same queue in @head, or others? When there are more fences than are
 * looked at, there are both: waiting for earlier jobs is never wrong.
 */
static void asahi_submit_look_for_own(struct asahi_submit *submit, struct dma_fence *head)
{
	struct dma_fence_unwrap cursor;
	struct dma_fence *fence;

	if (submit->in_fences > ASAHI_MAX_IN_FENCES)
		return;

	dma_fence_unwrap_for_each(fence, &cursor, head) {
		if (++submit->in_fences > ASAHI_MAX_IN_FENCES) {
			submit->after_own = true;
			submit->after_others = true;
			/* The walk has a reference to where it is. */
			dma_fence_put(cursor.chain);
			return;
		}
		if (dma_fence_is_signaled(fence))
			continue;
		if (asahi_submit_is_own(submit, fence))
			submit->after_own = true;
		else
			submit->after_others = true;
	}
}

/* A fence for each in-sync, with references; NULL where there is none to wait for. */
static int asahi_submit_find_fences(struct asahi_submit *submit, struct dma_fence **fences)
{
	struct drm_file *drm_file = submit->file->drm_file;

	for (unsigned int i = 0; i < submit->args->in_sync_count; i++) {
		const struct drm_asahi_sync *sync = &submit->syncs[i];
		int ret;

		ret = drm_syncobj_find_fence(drm_file, sync->handle, sync->timeline_value, 0,
					     &fences[i]);
		if (ret) {
			fences[i] = NULL;
			asahi_submit_dbg(submit, "in-sync %u: handle %u point %llu: %d\n", i,
					 sync->handle, sync->timeline_value, ret);
			return ret;
		}

		asahi_submit_look_for_own(submit, fences[i]);
	}

	return 0;
}

static void asahi_submit_put_fences(struct asahi_submit *submit, struct dma_fence **fences)
{
	for (unsigned int i = 0; i < submit->args->in_sync_count; i++)
		dma_fence_put(fences[i]);
}

static int asahi_submit_find_out(struct asahi_submit *submit)
{
	struct drm_file *drm_file = submit->file->drm_file;
	const struct drm_asahi_submit *args = submit->args;

	if (!args->out_sync_count)
		return 0;

	submit->out = submit->few_out;
	if (args->out_sync_count > ASAHI_FEW_SYNCS)
		submit->out = kvzalloc_objs(*submit->out, args->out_sync_count);
	if (!submit->out)
		return -ENOMEM;

	for (unsigned int i = 0; i < args->out_sync_count; i++) {
		const struct drm_asahi_sync *sync = &submit->syncs[args->in_sync_count + i];
		struct asahi_out_sync *out = &submit->out[i];

		out->syncobj = drm_syncobj_find(drm_file, sync->handle);
		if (!out->syncobj) {
			asahi_submit_dbg(submit, "out-sync %u: no handle %u\n", i, sync->handle);
			return -ENOENT;
		}
		submit->num_out++;

		if (sync->sync_type == DRM_ASAHI_SYNC_SYNCOBJ)
			continue;

		out->point = sync->timeline_value;
		out->chain = dma_fence_chain_alloc();
		if (!out->chain)
			return -ENOMEM;
	}

	return 0;
}

static void asahi_submit_signal(struct asahi_submit *submit, struct dma_fence *fence)
{
	for (unsigned int i = 0; i < submit->num_out; i++) {
		struct asahi_out_sync *out = &submit->out[i];

		if (out->chain)
			drm_syncobj_add_point(out->syncobj, out->chain, fence, out->point);
		else
			drm_syncobj_replace_fence(out->syncobj, fence);
		out->chain = NULL;
	}
}

/*
 * The job
 */

/* The job may keep it. */
static int asahi_submit_copy_commands(struct asahi_submit *submit)
{
	const struct drm_asahi_submit *args = submit->args;

	if (args->cmdbuf_size <= ASAHI_SMALL_CMDBUF) {
		submit->small = asahi_job_slab_get();
		submit->cmdbuf = submit->small ? asahi_job_slab_cmdbuf(submit->small) : NULL;
	} else {
		submit->cmdbuf = kvmalloc(args->cmdbuf_size, GFP_KERNEL_ACCOUNT);
	}
	if (!submit->cmdbuf)
		return -ENOMEM;

	return copy_from_user(submit->cmdbuf, u64_to_user_ptr(args->cmdbuf),
			      args->cmdbuf_size) ? -EFAULT : 0;
}

static int asahi_submit_copy(struct asahi_submit *submit)
{
	const struct drm_asahi_submit *args = submit->args;
	u64 syncs = (u64)args->in_sync_count + args->out_sync_count;
	int ret;

	if (syncs > ASAHI_MAX_SYNCS || args->cmdbuf_size > ASAHI_MAX_CMDBUF_SIZE ||
	    !args->cmdbuf_size) {
		asahi_submit_dbg(submit, "%llu syncs, %u bytes of commands\n", syncs,
				 args->cmdbuf_size);
		return -EINVAL;
	}

	ret = asahi_submit_copy_commands(submit);
	if (ret)
		return ret;

	if (syncs <= ARRAY_SIZE(submit->few_syncs)) {
		submit->syncs = submit->few_syncs;
		return copy_from_user(submit->syncs, u64_to_user_ptr(args->syncs),
				      syncs * sizeof(*submit->syncs)) ? -EFAULT : 0;
	}

	submit->syncs = vmemdup_array_user(u64_to_user_ptr(args->syncs), syncs,
					   sizeof(*submit->syncs));

	return PTR_ERR_OR_ZERO(submit->syncs);
}

static int asahi_submit_alloc_commands(struct asahi_submit *submit)
{
	if (submit->num_commands > ASAHI_FEW_COMMANDS) {
		submit->commands = kvzalloc_objs(*submit->commands, submit->num_commands);
		return submit->commands ? 0 : -ENOMEM;
	}

	submit->commands = submit->few_commands;
	memset(submit->commands, 0, submit->num_commands * sizeof(*submit->commands));

	return 0;
}

static int asahi_submit_read(struct asahi_submit *submit)
{
	int ret;

	ret = asahi_submit_copy(submit);
	if (ret)
		return ret;

	ret = asahi_submit_check_syncs(submit);
	if (ret)
		return ret;

	ret = asahi_submit_count(submit);
	if (ret)
		return ret;

	ret = asahi_submit_alloc_commands(submit);
	if (ret)
		return ret;

	return asahi_submit_parse(submit);
}

static int asahi_submit_create_job(struct asahi_submit *submit)
{
	struct asahi_queue *queue = submit->queue;
	unsigned int tries = 0;
	struct asahi_job *job;
	int ret;

	do {
		job = asahi_job_create(queue, submit->commands, submit->num_commands,
				       submit->small);
		ret = PTR_ERR_OR_ZERO(job);
	} while (asahi_reclaim_again(queue->vm, &ret, &tries));

	/* An error may leave the buffer larger than it was. */
	if (READ_ONCE(queue->tvb.large))
		asahi_trim_later(queue->adev);
	asahi_stashes_later(queue->adev);
	if (ret)
		return ret;

	submit->small = NULL;
	if (submit->args->cmdbuf_size <= ASAHI_KEEP_CMDBUF_SIZE) {
		job->cmdbuf = submit->cmdbuf;
		job->cmdbuf_size = submit->args->cmdbuf_size;
		submit->cmdbuf = NULL;
	}

	submit->job = job;
	submit->job_id = job->id;

	return 0;
}

/*
 * Barriers are for the queue's own fences. The others are added one by one, since the DRM
 * scheduler can tell neither what is in a container nor that it has it already.
 */
static int asahi_submit_add_parts(struct asahi_submit *submit, struct dma_fence *head)
{
	struct dma_fence_unwrap cursor;
	struct dma_fence *fence;
	int ret;

	dma_fence_unwrap_for_each(fence, &cursor, head) {
		if (asahi_submit_is_own(submit, fence) || dma_fence_is_signaled(fence))
			continue;

		ret = asahi_entity_add_dependency(submit->job, dma_fence_get(fence));
		if (ret) {
			/* The walk has a reference to where it is. */
			dma_fence_put(cursor.chain);
			return ret;
		}
	}

	return 0;
}

static int asahi_submit_enter(struct asahi_submit *submit)
{
	return asahi_entity_add_job(submit->job, submit->file->drm_file->client_id);
}

static int asahi_submit_add_dependencies(struct asahi_submit *submit, struct dma_fence **fences)
{
	/* Those that are too many are waited for as they are, on the processor. */
	bool whole = submit->in_fences > ASAHI_MAX_IN_FENCES;
	int ret;

	if (!submit->after_others)
		return 0;

	ret = asahi_submit_enter(submit);
	if (ret)
		return ret;

	for (unsigned int i = 0; i < submit->args->in_sync_count; i++) {
		if (whole)
			ret = asahi_entity_add_dependency(submit->job, dma_fence_get(fences[i]));
		else
			ret = asahi_submit_add_parts(submit, fences[i]);
		if (ret)
			return ret;
	}

	return 0;
}

static int asahi_submit_build(struct asahi_submit *submit)
{
	struct dma_fence *few[ASAHI_FEW_SYNCS] = {}, **fences = few;
	int ret;

	if (submit->args->in_sync_count > ARRAY_SIZE(few)) {
		fences = kvzalloc_objs(*fences, submit->args->in_sync_count);
		if (!fences)
			return -ENOMEM;
	}

	ret = asahi_submit_find_fences(submit, fences);
	if (ret)
		goto out;

	if (submit->after_own)
		asahi_submit_wait_for_own(submit);

	ret = asahi_submit_find_out(submit);
	if (ret)
		goto out;

	ret = asahi_submit_create_job(submit);
	if (ret)
		goto out;

	ret = asahi_submit_add_dependencies(submit, fences);
out:
	asahi_submit_put_fences(submit, fences);
	if (fences != few)
		kvfree(fences);
	return ret;
}

/* Nothing fails here. */
static void asahi_submit_start(struct asahi_submit *submit, struct asahi_vm_lock *lock)
{
	struct asahi_queue *queue = submit->queue;
	struct asahi_job *job = submit->job;
	struct dma_fence *fence;

	submit->job = NULL;
	asahi_timeline_arm(job);
	fence = dma_fence_get(job->done);
	asahi_vm_add_fence(queue->vm, lock, fence);

	trace_asahi_push(queue->adev, asahi_client_id(queue->client), queue->id, job->id);
	if (job->waits)
		asahi_entity_push(job);
	else
		asahi_sched_run_now(job);

	asahi_submit_signal(submit, fence);
	dma_fence_put(fence);
}

static int asahi_submit_push_locked(struct asahi_submit *submit)
{
	struct asahi_queue *queue = submit->queue;
	struct asahi_job *job = submit->job;
	struct asahi_vm_lock lock;
	int ret;

	lockdep_assert_held(&queue->submit_lock);

	/* Destroyed since it was looked up. */
	if (queue->closed)
		return -ENOENT;

	ret = asahi_reclaim_lock_submit(queue->vm, &lock);
	if (ret)
		return ret;

	if (!job->waits && !asahi_sched_claim(job))
		ret = asahi_submit_enter(submit);
	if (!ret)
		asahi_submit_start(submit, &lock);

	asahi_vm_unlock_submit(queue->vm, &lock);
	return ret;
}

static int asahi_submit_push(struct asahi_submit *submit)
{
	struct asahi_queue *queue = submit->queue;
	int ret;

	ret = mutex_lock_interruptible(&queue->submit_lock);
	if (ret)
		return ret;

	ret = asahi_submit_push_locked(submit);
	mutex_unlock(&queue->submit_lock);
	return ret;
}

/*
 * The device is lost, and nothing will run. Mesa takes no notice of an error of the
 * ioctl, and would wait for ever for fences that nobody has put into its syncs.
 */
static int asahi_submit_lose(struct asahi_submit *submit)
{
	struct dma_fence *fence;
	int ret;

	ret = submit->out ? 0 : asahi_submit_find_out(submit);
	if (ret)
		return ret;

	fence = asahi_timeline_lost_fence();
	if (!fence)
		return -ENOMEM;

	asahi_submit_signal(submit, fence);
	dma_fence_put(fence);

	return 0;
}

static void asahi_submit_put_times(struct asahi_command_args *command)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (asahi_user_times_are_wanted(&command->stage[i].times))
			asahi_user_times_put(&command->stage[i].times);
}

static void asahi_submit_fini(struct asahi_submit *submit)
{
	if (submit->job && submit->job->waits)
		asahi_entity_remove_job(submit->job);
	if (submit->job)
		asahi_job_put(submit->job);

	for (unsigned int i = 0; i < submit->num_out; i++) {
		dma_fence_chain_free(submit->out[i].chain);
		drm_syncobj_put(submit->out[i].syncobj);
	}

	for (unsigned int i = 0; submit->commands && i < submit->num_commands; i++)
		asahi_submit_put_times(&submit->commands[i]);

	if (submit->out != submit->few_out)
		kvfree(submit->out);
	if (submit->commands != submit->few_commands)
		kvfree(submit->commands);
	if (submit->syncs != submit->few_syncs && !IS_ERR(submit->syncs))
		kvfree(submit->syncs);
	if (submit->small)
		asahi_job_slab_put(submit->small);
	else
		kvfree(submit->cmdbuf);
	if (submit->queue)
		asahi_queue_put(submit->queue);
}

static int asahi_submit_run(struct asahi_submit *submit)
{
	struct asahi_file *file = submit->file;
	int ret;

	submit->queue = asahi_queue_lookup(file, submit->args->queue_id);
	if (!submit->queue) {
		drm_dbg(&file->adev->drm, "no queue %u\n", submit->args->queue_id);
		return -ENOENT;
	}

	ret = asahi_submit_read(submit);
	if (ret)
		return ret;

	if (asahi_state_lost(file->adev))
		return asahi_submit_lose(submit);

	ret = asahi_submit_build(submit);
	/* It was lost while this waited for room. */
	if (ret == -ENODEV && asahi_state_lost(file->adev))
		return asahi_submit_lose(submit);
	if (ret)
		return ret;

	return asahi_submit_push(submit);
}

/**
 * asahi_submit() - run commands on a queue
 * @file: open file
 * @args: argument of the ioctl, whose flags and pad were checked
 *
 * Process context.
 *
 * Return: 0, or what struct drm_asahi_submit says.
 */
int asahi_submit(struct asahi_file *file, const struct drm_asahi_submit *args)
{
	struct asahi_command_args few[ASAHI_FEW_COMMANDS];
	struct asahi_submit submit = { .file = file, .args = args, .few_commands = few };
	u64 client = asahi_client_id(file->client);
	int ret;

	trace_asahi_submit_start(file->adev, client, args->queue_id, args->cmdbuf_size,
				 args->in_sync_count, args->out_sync_count);
	ret = asahi_submit_run(&submit);
	trace_asahi_submit(file->adev, client, submit.queue ? submit.queue->id : 0, submit.job_id,
			   ret);

	asahi_submit_fini(&submit);
	return ret;
}
