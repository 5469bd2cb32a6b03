// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * SUBMIT: checks a submission and puts a job into its queue.
 *
 * Everything that can be wrong is found before anything changes, in the driver's order, so
 * that a submission with several mistakes gets the driver's error: the syncs' types, the
 * lengths of commands, each command in turn, then the sync objects. The command buffer is
 * cut into commands in the call's record; the job gets a copy, because it can outlive both.
 * The sync objects to be signalled get the job's fence at once, signalled or not.
 *
 * Everything is called with shim_lock held. Nothing waits: shim_drm_ioctl() runs the job
 * afterwards if it is ready.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

/* The driver's limits */
#define MAX_SYNCS	4096
#define MAX_CMDBUF	(1u << 20)

#define NO_BARRIER	DRM_ASAHI_BARRIER_NONE

/* Commands */

static bool submit_is_hardware(const struct asahi_shim_command *command)
{
	return command->header.cmd_type == DRM_ASAHI_CMD_RENDER ||
	       command->header.cmd_type == DRM_ASAHI_CMD_COMPUTE;
}

/* Cuts the buffer of @size bytes into commands. Return: 0, or EINVAL if one is cut short. */
static int submit_split(struct shim_call *call, uint32_t size)
{
	struct asahi_shim_command *commands;
	uint32_t used = 0;
	size_t n = 0;

	commands = shim_alloc((size / sizeof(commands->header) + 1) * sizeof(*commands));
	call->base.commands = commands;
	while (used < size) {
		struct asahi_shim_command *command = &commands[n];

		if (size - used < sizeof(command->header))
			return EINVAL;
		memcpy(&command->header, call->cmdbuf + used, sizeof(command->header));
		used += sizeof(command->header);
		if (size - used < command->header.size)
			return EINVAL;
		command->payload = call->cmdbuf + used;
		used += command->header.size;
		call->base.num_commands = ++n;
	}
	return 0;
}

static int submit_check_attachments(const struct asahi_shim_command *command)
{
	struct drm_asahi_attachment attachment;
	size_t n = command->header.size / sizeof(attachment), i;

	if (command->header.vdm_barrier != NO_BARRIER ||
	    command->header.cdm_barrier != NO_BARRIER ||
	    command->header.size % sizeof(attachment) || n > asahi_shim_params()->max_attachments)
		return EINVAL;
	for (i = 0; i < n; i++) {
		memcpy(&attachment, (const uint8_t *)command->payload + i * sizeof(attachment),
		       sizeof(attachment));
		/* The firmware counts lines of 128 bytes, in 32 bits. */
		if (attachment.pad || attachment.flags ||
		    attachment.size / 128 + !!(attachment.size % 128) > UINT32_MAX)
			return EINVAL;
	}
	return 0;
}

/*
 * Copies a payload into a command of @size bytes; what a shorter one lacks is zero.
 * Return: 0, or E2BIG if a longer one has bytes other than 0 behind that.
 */
static int submit_read_payload(const struct asahi_shim_command *command, void *cmd, size_t size)
{
	const uint8_t *payload = command->payload;
	size_t given = command->header.size, i;

	memset(cmd, 0, size);
	memcpy(cmd, payload, given < size ? given : size);
	for (i = size; i < given; i++)
		if (payload[i])
			return E2BIG;
	return 0;
}

/* Copies the timestamps that a command asks for. Return: the number of pairs, 0 to 2. */
static unsigned int submit_read_times(const struct asahi_shim_command *command,
				      struct drm_asahi_timestamps *ts)
{
	struct drm_asahi_cmd_compute compute;
	struct drm_asahi_cmd_render render;

	switch (command->header.cmd_type) {
	case DRM_ASAHI_CMD_RENDER:
		submit_read_payload(command, &render, sizeof(render));
		ts[0] = render.ts_vtx;
		ts[1] = render.ts_frag;
		return 2;
	case DRM_ASAHI_CMD_COMPUTE:
		submit_read_payload(command, &compute, sizeof(compute));
		ts[0] = compute.ts;
		return 1;
	default:
		return 0;
	}
}

static void submit_put_times(struct shim_times *times)
{
	unsigned int i;

	for (i = 0; i < SHIM_COMMAND_TIMES; i++) {
		shim_time_put(&times[i].start, false, 0);
		shim_time_put(&times[i].end, false, 0);
	}
}

/*
 * Finds the memory for a command's times. Return: 0 and a reference for each in @times, of
 * which there are SHIM_COMMAND_TIMES, or an errno value and none.
 */
static int submit_find_times(const struct shim_file *file, const struct asahi_shim_command *command,
			     struct shim_times *times)
{
	struct drm_asahi_timestamps ts[SHIM_COMMAND_TIMES];
	unsigned int count = submit_read_times(command, ts), i;
	int err = 0;

	memset(times, 0, SHIM_COMMAND_TIMES * sizeof(*times));
	for (i = 0; i < count && !err; i++) {
		err = shim_time_find(file, &ts[i].start, &times[i].start);
		if (!err)
			err = shim_time_find(file, &ts[i].end, &times[i].end);
	}
	if (err)
		submit_put_times(times);
	return err;
}

static int submit_check_compute(const struct asahi_shim_command *command)
{
	struct drm_asahi_cmd_compute cmd;
	int err = submit_read_payload(command, &cmd, sizeof(cmd));

	if (err)
		return err;
	return cmd.flags ? EINVAL : 0;
}

static int submit_check_render(const struct asahi_shim_command *command)
{
	struct drm_asahi_cmd_render cmd;
	int err = submit_read_payload(command, &cmd, sizeof(cmd));

	return err ? err : shim_render_check(&cmd);
}

static int submit_check_barrier(uint16_t barrier, unsigned int commands)
{
	return barrier != NO_BARRIER && barrier > commands ? EINVAL : 0;
}

/*
 * Checks a render or compute command. @before is the number of those that came before it, by
 * kind, and is what barriers refer to; this one is counted.
 */
static int submit_check_hardware(const struct shim_file *file,
				 const struct asahi_shim_command *command, unsigned int *before)
{
	const struct drm_asahi_cmd_header *header = &command->header;
	bool render = header->cmd_type == DRM_ASAHI_CMD_RENDER;
	struct shim_times times[SHIM_COMMAND_TIMES];
	int err;

	err = submit_check_barrier(header->vdm_barrier, before[DRM_ASAHI_CMD_RENDER]);
	if (!err)
		err = submit_check_barrier(header->cdm_barrier, before[DRM_ASAHI_CMD_COMPUTE]);
	if (!err)
		err = render ? submit_check_render(command) : submit_check_compute(command);
	if (!err)
		err = submit_find_times(file, command, times);
	if (err)
		return err;
	submit_put_times(times);
	before[header->cmd_type]++;
	return 0;
}

static int submit_check_commands(const struct shim_file *file, const struct asahi_shim_call *call)
{
	unsigned int hardware = 0;
	unsigned int before[] = { [DRM_ASAHI_CMD_RENDER] = 0, [DRM_ASAHI_CMD_COMPUTE] = 0 };
	size_t i;
	int err = 0;

	for (i = 0; i < call->num_commands; i++)
		hardware += submit_is_hardware(&call->commands[i]);
	if (!hardware || hardware > asahi_shim_params()->max_commands_per_submission)
		return EINVAL;
	for (i = 0; i < call->num_commands && !err; i++) {
		const struct asahi_shim_command *command = &call->commands[i];

		if (submit_is_hardware(command))
			err = submit_check_hardware(file, command, before);
		else if (command->header.cmd_type <= DRM_ASAHI_SET_COMPUTE_ATTACHMENTS)
			err = submit_check_attachments(command);
		else
			err = EINVAL;
	}
	return err;
}

/* Syncs */

static int submit_check_syncs(const struct drm_asahi_sync *syncs, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (syncs[i].sync_type == DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ)
			continue;
		if (syncs[i].sync_type != DRM_ASAHI_SYNC_SYNCOBJ || syncs[i].timeline_value)
			return EINVAL;
	}
	return 0;
}

static int submit_read_all(const struct shim_file *file, struct shim_call *call,
			   const struct drm_asahi_submit *args)
{
	uint64_t syncs = (uint64_t)args->in_sync_count + args->out_sync_count;
	int err;

	if (syncs > MAX_SYNCS || args->cmdbuf_size > MAX_CMDBUF || !args->cmdbuf_size)
		return EINVAL;
	err = shim_read_array(args->cmdbuf, args->cmdbuf_size, 1, &call->cmdbuf);
	if (!err)
		err = shim_read_array(args->syncs, syncs, sizeof(struct drm_asahi_sync),
				      &call->base.syncs);
	if (!err)
		err = submit_check_syncs(call->base.syncs, syncs);
	if (!err)
		err = submit_split(call, args->cmdbuf_size);
	return err ? err : submit_check_commands(file, &call->base);
}

/* Takes references to the fences to wait for. Return: 0; or an error after the first ones. */
static int submit_find_in(struct shim_file *file, const struct drm_asahi_sync *syncs,
			  uint32_t count, struct shim_job *job)
{
	int err;

	job->in = shim_alloc(count * sizeof(*job->in));
	for (; job->num_in < count; job->num_in++) {
		const struct drm_asahi_sync *sync = &syncs[job->num_in];

		err = shim_syncobj_find_fence(file, sync->handle, sync->timeline_value,
					      &job->in[job->num_in]);
		if (err)
			return err;
	}
	return 0;
}

static int submit_check_out(const struct shim_file *file, const struct drm_asahi_sync *syncs,
			    uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (!shim_table_get(&file->syncobjs, syncs[i].handle))
			return ENOENT;
	return 0;
}

static void submit_signal_out(const struct shim_file *file, const struct drm_asahi_sync *syncs,
			      uint32_t count, struct shim_fence *fence)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct shim_syncobj *syncobj = shim_table_get(&file->syncobjs, syncs[i].handle);

		shim_fence_get(fence);
		if (syncs[i].sync_type == DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ)
			shim_syncobj_add_point(syncobj, fence, syncs[i].timeline_value);
		else
			shim_syncobj_replace(syncobj, fence);
	}
}

/* The job */

/* Gives the job a copy of the commands and references to the memory for their times. */
static void submit_copy_commands(const struct shim_file *file, struct shim_job *job,
				 const struct shim_call *call, uint32_t size)
{
	size_t n = call->base.num_commands, i;
	struct asahi_shim_command *commands = shim_alloc(n * sizeof(*commands));

	job->cmdbuf = shim_alloc(size);
	memcpy(job->cmdbuf, call->cmdbuf, size);
	for (i = 0; i < n; i++) {
		const struct asahi_shim_command *from = &call->base.commands[i];

		commands[i].header = from->header;
		commands[i].payload =
			job->cmdbuf + ((const uint8_t *)from->payload - call->cmdbuf);
	}
	job->base.commands = commands;
	job->base.num_commands = n;
	job->times = shim_alloc(n * SHIM_COMMAND_TIMES * sizeof(*job->times));
	/* This cannot fail: submit_check_hardware() has found the same. */
	for (i = 0; i < n; i++)
		submit_find_times(file, &commands[i], &job->times[i * SHIM_COMMAND_TIMES]);
}

/* Appends the job to the queue, which gets a reference for it. */
static void submit_push(struct shim_queue *queue, struct shim_job *job)
{
	struct shim_job **link = &queue->jobs;

	job->base.queue = queue->id;
	job->base.usc_exec_base = queue->usc_exec_base;
	job->base.kernel_start = queue->vm->kernel_start;
	job->queue = queue;
	job->done = shim_fence_new();
	queue->refs++;
	while (*link)
		link = &(*link)->next;
	*link = job;
}

int shim_submit(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	const struct drm_asahi_submit *args = &all->submit;
	const struct drm_asahi_sync *out;
	struct shim_queue *queue;
	struct shim_job *job;
	int err;

	if (args->flags || args->pad)
		return EINVAL;
	queue = shim_table_get(&file->queues, args->queue_id);
	if (!queue)
		return ENOENT;
	err = submit_read_all(file, call, args);
	if (err)
		return err;

	out = call->base.syncs + args->in_sync_count;
	job = shim_alloc(sizeof(*job));
	err = submit_find_in(file, call->base.syncs, args->in_sync_count, job);
	if (!err)
		err = submit_check_out(file, out, args->out_sync_count);
	if (err) {
		while (job->num_in)
			shim_fence_put(job->in[--job->num_in]);
		free(job->in);
		free(job);
		return err;
	}
	submit_copy_commands(file, job, call, args->cmdbuf_size);
	submit_push(queue, job);
	shim_report_use(SHIM_USE_SUBMIT);
	submit_signal_out(file, out, args->out_sync_count, job->done);
	return 0;
}
