// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What QUEUE_CREATE, QUEUE_DESTROY and SUBMIT refuse, and how; and the forms
 * of commands that they have to accept. Shaders need not run.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

#include "compute.h"

#define NOBODY		65534
#define MAX_SYNCS	4096
#define MAX_CMDBUF	(1u << 20)
#define MAX_COMMANDS	64
#define MAX_ATTACHMENTS	16

#define NONE		DRM_ASAHI_BARRIER_NONE
#define ATT_BYTES	sizeof(struct drm_asahi_attachment)
#define CMD_BYTES	sizeof(struct drm_asahi_cmd_compute)

/**
 * struct rig - what the cases share
 * @gpu: device, with an address space and a queue of its own
 * @fd: of the device
 * @stream: a control stream that does nothing
 * @cmd: the command with it
 * @syncobj: sync object without a fence
 * @buffer: where command buffers are put together
 */
struct rig {
	struct compute gpu;
	int fd;
	struct compute_stream stream;
	struct drm_asahi_cmd_compute cmd;
	uint32_t syncobj;
	uint8_t *buffer;
};

/**
 * struct commands - a command buffer under construction
 * @data: its bytes
 * @size: how many
 */
struct commands {
	uint8_t *data;
	uint32_t size;
};

static struct commands commands_new(struct rig *rig)
{
	return (struct commands){ .data = rig->buffer };
}

static void *add(struct commands *commands, unsigned int type, size_t size,
		 unsigned int vdm, unsigned int cdm)
{
	const struct drm_asahi_cmd_header header = {
		.cmd_type = type,
		.size = size,
		.vdm_barrier = vdm,
		.cdm_barrier = cdm,
	};
	uint8_t *pos = commands->data + commands->size;

	memcpy(pos, &header, sizeof(header));
	memset(pos + sizeof(header), 0, size);
	commands->size += sizeof(header) + size;
	return pos + sizeof(header);
}

static struct drm_asahi_cmd_compute *add_compute(struct rig *rig,
						 struct commands *commands,
						 unsigned int vdm,
						 unsigned int cdm)
{
	void *cmd = add(commands, DRM_ASAHI_CMD_COMPUTE, CMD_BYTES, vdm, cdm);

	memcpy(cmd, &rig->cmd, sizeof(rig->cmd));
	return cmd;
}

static int raw(struct rig *rig, unsigned long request, void *args)
{
	return drmIoctl(rig->fd, request, args) ? -errno : 0;
}

static struct drm_asahi_submit args_of(struct rig *rig,
				       const struct commands *commands)
{
	return (struct drm_asahi_submit){
		.cmdbuf = (uintptr_t)commands->data,
		.cmdbuf_size = commands->size,
		.queue_id = asahi_queue_id(rig->gpu.queue),
	};
}

static int submit(struct rig *rig, const struct commands *commands)
{
	struct drm_asahi_submit args = args_of(rig, commands);

	return raw(rig, DRM_IOCTL_ASAHI_SUBMIT, &args);
}

/* One good command, with other arguments. */
static int submit_args(struct rig *rig, const struct drm_asahi_submit *change)
{
	struct commands commands = commands_new(rig);
	struct drm_asahi_submit args;

	add_compute(rig, &commands, NONE, NONE);
	args = args_of(rig, &commands);
	args.syncs = change->syncs;
	args.in_sync_count = change->in_sync_count;
	args.out_sync_count = change->out_sync_count;
	args.flags = change->flags;
	args.pad = change->pad;
	if (change->queue_id)
		args.queue_id = change->queue_id;
	if (change->cmdbuf)
		args.cmdbuf = change->cmdbuf;
	if (change->cmdbuf_size)
		args.cmdbuf_size = change->cmdbuf_size;
	return raw(rig, DRM_IOCTL_ASAHI_SUBMIT, &args);
}

static int submit_syncs(struct rig *rig, const struct drm_asahi_sync *syncs,
			uint32_t in, uint32_t out)
{
	return submit_args(rig, &(struct drm_asahi_submit){
					.syncs = (uintptr_t)syncs,
					.in_sync_count = in,
					.out_sync_count = out,
				});
}

static int create(struct rig *rig, struct drm_asahi_queue_create args)
{
	int err = raw(rig, DRM_IOCTL_ASAHI_QUEUE_CREATE, &args);

	if (!err) {
		struct drm_asahi_queue_destroy destroy = {
			.queue_id = args.queue_id,
		};

		err = args.queue_id ? raw(rig, DRM_IOCTL_ASAHI_QUEUE_DESTROY,
					  &destroy) : -EILSEQ;
	}
	return err;
}

/* Queues */

static int queue_flags(struct rig *rig)
{
	return create(rig, (struct drm_asahi_queue_create){
				   .flags = 1,
				   .vm_id = asahi_vm_id(rig->gpu.vm),
			   });
}

static int queue_vm(struct rig *rig)
{
	return create(rig, (struct drm_asahi_queue_create){ .vm_id = 0xffffffff });
}

static int queue_vm_0(struct rig *rig)
{
	return create(rig, (struct drm_asahi_queue_create){ .vm_id = 0 });
}

static int queue_priority(struct rig *rig, uint32_t priority)
{
	return create(rig, (struct drm_asahi_queue_create){
				   .vm_id = asahi_vm_id(rig->gpu.vm),
				   .priority = priority,
			   });
}

static int queue_low(struct rig *rig)
{
	return queue_priority(rig, DRM_ASAHI_PRIORITY_LOW);
}

static int queue_unknown_priority(struct rig *rig)
{
	return queue_priority(rig, DRM_ASAHI_PRIORITY_REALTIME + 1);
}

static int as_nobody(struct rig *rig, uint32_t priority)
{
	int err;

	if (seteuid(NOBODY))
		return -errno;
	err = queue_priority(rig, priority);
	return seteuid(0) ? -errno : err;
}

static int queue_high_unprivileged(struct rig *rig)
{
	return as_nobody(rig, DRM_ASAHI_PRIORITY_HIGH);
}

static int queue_realtime_unprivileged(struct rig *rig)
{
	return as_nobody(rig, DRM_ASAHI_PRIORITY_REALTIME);
}

static int queue_too_many(struct rig *rig)
{
	static uint32_t ids[4096];
	struct drm_asahi_queue_create args = {
		.vm_id = asahi_vm_id(rig->gpu.vm),
		.priority = DRM_ASAHI_PRIORITY_MEDIUM,
	};
	unsigned int count = 0;
	int err = 0;

	while (count < 4096) {
		err = raw(rig, DRM_IOCTL_ASAHI_QUEUE_CREATE, &args);
		if (err)
			break;
		ids[count++] = args.queue_id;
	}
	while (count > 0) {
		struct drm_asahi_queue_destroy destroy = {
			.queue_id = ids[--count],
		};
		int ret = raw(rig, DRM_IOCTL_ASAHI_QUEUE_DESTROY, &destroy);

		if (ret)
			return ret;
	}
	return err;
}

static int destroy_unknown(struct rig *rig)
{
	struct drm_asahi_queue_destroy args = { .queue_id = 0x7fffffff };

	return raw(rig, DRM_IOCTL_ASAHI_QUEUE_DESTROY, &args);
}

static int destroy_pad(struct rig *rig)
{
	struct drm_asahi_queue_destroy args = {
		.queue_id = asahi_queue_id(rig->gpu.queue),
		.pad = 1,
	};

	return raw(rig, DRM_IOCTL_ASAHI_QUEUE_DESTROY, &args);
}

static int destroy_twice(struct rig *rig)
{
	struct drm_asahi_queue_create args = {
		.vm_id = asahi_vm_id(rig->gpu.vm),
		.priority = DRM_ASAHI_PRIORITY_MEDIUM,
	};
	struct drm_asahi_queue_destroy destroy;
	int err = raw(rig, DRM_IOCTL_ASAHI_QUEUE_CREATE, &args);

	if (err)
		return err;
	destroy = (struct drm_asahi_queue_destroy){ .queue_id = args.queue_id };
	err = raw(rig, DRM_IOCTL_ASAHI_QUEUE_DESTROY, &destroy);
	return err ? err : raw(rig, DRM_IOCTL_ASAHI_QUEUE_DESTROY, &destroy);
}

/* Arguments of SUBMIT */

static int submit_nothing_else(struct rig *rig)
{
	return submit_args(rig, &(struct drm_asahi_submit){ .flags = 0 });
}

static int submit_flags(struct rig *rig)
{
	return submit_args(rig, &(struct drm_asahi_submit){ .flags = 1 });
}

static int submit_pad(struct rig *rig)
{
	return submit_args(rig, &(struct drm_asahi_submit){ .pad = 1 });
}

static int submit_queue(struct rig *rig)
{
	return submit_args(rig, &(struct drm_asahi_submit){ .queue_id = 0x12345678 });
}

static int submit_unmapped(struct rig *rig)
{
	return submit_args(rig, &(struct drm_asahi_submit){ .cmdbuf = 8 });
}

static int submit_kernel_pointer(struct rig *rig)
{
	return submit_args(rig, &(struct drm_asahi_submit){
					.cmdbuf = UINT64_C(0xffff800000000000) });
}

static int submit_too_large(struct rig *rig)
{
	return submit_args(rig, &(struct drm_asahi_submit){
					.cmdbuf_size = MAX_CMDBUF + 1 });
}

static int submit_huge(struct rig *rig)
{
	return submit_args(rig, &(struct drm_asahi_submit){
					.cmdbuf_size = UINT32_MAX });
}

static int submit_empty(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	return submit(rig, &commands);
}

/* A mebibyte of commands, all but one of which only set attachments. */
static int submit_full(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	add_compute(rig, &commands, NONE, NONE);
	while (commands.size + 8 <= MAX_CMDBUF)
		add(&commands, DRM_ASAHI_SET_VERTEX_ATTACHMENTS, 0, NONE, NONE);
	return commands.size == MAX_CMDBUF ? submit(rig, &commands) : -EILSEQ;
}

/* Syncs */

static int syncs_too_many(struct rig *rig)
{
	return submit_syncs(rig, NULL, MAX_SYNCS, 1);
}

static int syncs_overflow(struct rig *rig)
{
	return submit_syncs(rig, NULL, UINT32_MAX, 2);
}

static int syncs_unmapped(struct rig *rig)
{
	return submit_syncs(rig, (void *)(uintptr_t)16, 1, 0);
}

static int one_sync(struct rig *rig, uint32_t type, uint32_t handle,
		    uint64_t value, bool out)
{
	const struct drm_asahi_sync sync = {
		.sync_type = type,
		.handle = handle,
		.timeline_value = value,
	};

	return submit_syncs(rig, &sync, !out, out);
}

static int sync_type(struct rig *rig)
{
	return one_sync(rig, 2, rig->syncobj, 0, true);
}

static int sync_binary_value(struct rig *rig)
{
	return one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, rig->syncobj, 1, true);
}

static int sync_in_handle(struct rig *rig)
{
	return one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, 0x4711, 0, false);
}

static int sync_out_handle(struct rig *rig)
{
	return one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, 0x4711, 0, true);
}

static int sync_in_without_fence(struct rig *rig)
{
	return one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, rig->syncobj, 0, false);
}

static int sync_in_without_point(struct rig *rig)
{
	return one_sync(rig, DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ, rig->syncobj, 9, false);
}

static int with_syncobj(struct rig *rig,
			int (*test)(struct rig *rig, uint32_t syncobj))
{
	uint32_t syncobj;
	int err;

	if (drmSyncobjCreate(rig->fd, 0, &syncobj))
		return -errno;
	err = test(rig, syncobj);
	if (!err)
		err = asahi_fence_wait(rig->gpu.dev, syncobj, COMPUTE_TIMEOUT_NS);
	drmSyncobjDestroy(rig->fd, syncobj);
	return err;
}

static int out_binary(struct rig *rig, uint32_t syncobj)
{
	return one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, syncobj, 0, true);
}

static int sync_out(struct rig *rig)
{
	return with_syncobj(rig, out_binary);
}

/* As many as there may be, half of them waited for. */
static int many_syncs(struct rig *rig, uint32_t syncobj)
{
	struct drm_asahi_sync *syncs = calloc(MAX_SYNCS, sizeof(*syncs));
	unsigned int i;
	int err;

	if (!syncs)
		return -ENOMEM;
	for (i = 0; i < MAX_SYNCS; i++)
		syncs[i] = (struct drm_asahi_sync){
			.sync_type = DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ,
			.handle = syncobj,
			.timeline_value = i < MAX_SYNCS / 2 ? 1 : i,
		};
	err = one_sync(rig, DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ, syncobj, 1, true);
	if (!err)
		err = submit_syncs(rig, syncs, MAX_SYNCS / 2, MAX_SYNCS / 2);
	free(syncs);
	return err;
}

static int syncs_many(struct rig *rig)
{
	return with_syncobj(rig, many_syncs);
}

/* A SUBMIT that fails at its last sync signals none. */
static int half_bad(struct rig *rig, uint32_t syncobj)
{
	const struct drm_asahi_sync syncs[] = {
		{ .sync_type = DRM_ASAHI_SYNC_SYNCOBJ, .handle = syncobj },
		{ .sync_type = DRM_ASAHI_SYNC_SYNCOBJ, .handle = 0x4711 },
	};
	int err = submit_syncs(rig, syncs, 0, 2);

	if (err != -ENOENT)
		return -EILSEQ;
	/* no fence in it: what waits for it is refused */
	err = one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, syncobj, 0, false);
	return err;
}

static int syncs_half_bad(struct rig *rig)
{
	return with_syncobj(rig, half_bad);
}

/* Command buffers */

static int cmd_unknown(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	add_compute(rig, &commands, NONE, NONE);
	add(&commands, 5, 8, NONE, NONE);
	return submit(rig, &commands);
}

static int cmd_only_software(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	add(&commands, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, 0, NONE, NONE);
	return submit(rig, &commands);
}

static int cmd_truncated_header(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	add_compute(rig, &commands, NONE, NONE);
	commands.size += 7;
	return submit(rig, &commands);
}

static int cmd_truncated(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	add_compute(rig, &commands, NONE, NONE);
	commands.size--;
	return submit(rig, &commands);
}

static int cmd_count(struct rig *rig, unsigned int count)
{
	struct commands commands = commands_new(rig);

	while (count--)
		add_compute(rig, &commands, NONE, NONE);
	return submit(rig, &commands);
}

static int cmd_most(struct rig *rig)
{
	return cmd_count(rig, MAX_COMMANDS);
}

static int cmd_too_many(struct rig *rig)
{
	return cmd_count(rig, MAX_COMMANDS + 1);
}

static int cmd_render(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	add(&commands, DRM_ASAHI_CMD_RENDER, sizeof(struct drm_asahi_cmd_render),
	    NONE, NONE);
	return submit(rig, &commands);
}

static int cmd_flags(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	add_compute(rig, &commands, NONE, NONE)->flags = 1;
	return submit(rig, &commands);
}

static int cmd_timestamp(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	add_compute(rig, &commands, NONE, NONE)->ts.end.handle = 1;
	return submit(rig, &commands);
}

static int cmd_short(struct rig *rig)
{
	struct commands commands = commands_new(rig);
	size_t size = offsetof(struct drm_asahi_cmd_compute, sampler_heap);

	memcpy(add(&commands, DRM_ASAHI_CMD_COMPUTE, size, NONE, NONE), &rig->cmd,
	       size);
	return submit(rig, &commands);
}

static int cmd_long(struct rig *rig, uint8_t tail)
{
	struct commands commands = commands_new(rig);
	uint8_t *cmd = add(&commands, DRM_ASAHI_CMD_COMPUTE, CMD_BYTES + 33, NONE,
			   NONE);

	memcpy(cmd, &rig->cmd, CMD_BYTES);
	cmd[CMD_BYTES + 32] = tail;
	return submit(rig, &commands);
}

static int cmd_long_zero(struct rig *rig)
{
	return cmd_long(rig, 0);
}

static int cmd_long_other(struct rig *rig)
{
	return cmd_long(rig, 1);
}

/* Barriers */

static int barrier_own(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	add_compute(rig, &commands, NONE, 1);
	return submit(rig, &commands);
}

static int barrier_render(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	add_compute(rig, &commands, NONE, NONE);
	add_compute(rig, &commands, 1, NONE);
	return submit(rig, &commands);
}

static int barrier_almost_none(struct rig *rig)
{
	struct commands commands = commands_new(rig);

	add_compute(rig, &commands, NONE, 0xfffe);
	return submit(rig, &commands);
}

static int barrier_all(struct rig *rig)
{
	struct commands commands = commands_new(rig);
	unsigned int i;

	for (i = 0; i < MAX_COMMANDS; i++)
		add_compute(rig, &commands, 0, i);
	return submit(rig, &commands);
}

/* Attachments */

static int attachments(struct rig *rig, unsigned int type, size_t bytes,
		       const struct drm_asahi_attachment *first,
		       unsigned int barrier)
{
	struct commands commands = commands_new(rig);
	struct drm_asahi_attachment *att =
		add(&commands, type, bytes, barrier, NONE);

	if (first)
		memcpy(att, first, sizeof(*first));
	add_compute(rig, &commands, NONE, NONE);
	return submit(rig, &commands);
}

static int att_most(struct rig *rig)
{
	return attachments(rig, DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS,
			   MAX_ATTACHMENTS * ATT_BYTES, NULL, NONE);
}

static int att_too_many(struct rig *rig)
{
	return attachments(rig, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS,
			   (MAX_ATTACHMENTS + 1) * ATT_BYTES, NULL, NONE);
}

static int att_partial(struct rig *rig)
{
	return attachments(rig, DRM_ASAHI_SET_VERTEX_ATTACHMENTS, ATT_BYTES - 1,
			   NULL, NONE);
}

static int att_barrier(struct rig *rig)
{
	return attachments(rig, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, 0, NULL, 0);
}

static int att_pad(struct rig *rig)
{
	return attachments(rig, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, ATT_BYTES,
			   &(struct drm_asahi_attachment){ .pad = 1 }, NONE);
}

static int att_flags(struct rig *rig)
{
	return attachments(rig, DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS, ATT_BYTES,
			   &(struct drm_asahi_attachment){ .flags = 1 }, NONE);
}

static int att_size(struct rig *rig)
{
	return attachments(rig, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, ATT_BYTES,
			   &(struct drm_asahi_attachment){
				   .size = UINT64_MAX }, NONE);
}

static int att_good(struct rig *rig)
{
	return attachments(rig, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, ATT_BYTES,
			   &(struct drm_asahi_attachment){
				   .pointer = rig->stream.buffer.addr,
				   .size = 1 }, NONE);
}

static const struct {
	const char *name;
	int (*run)(struct rig *rig);
	int expected;
} tests[] = {
	{ "QUEUE_CREATE: flags", queue_flags, -EINVAL },
	{ "QUEUE_CREATE: no such address space", queue_vm, -ENOENT },
	{ "QUEUE_CREATE: address space 0", queue_vm_0, -ENOENT },
	{ "QUEUE_CREATE: low priority", queue_low, 0 },
	{ "QUEUE_CREATE: unknown priority", queue_unknown_priority, -EINVAL },
	{ "QUEUE_CREATE: high priority for anybody", queue_high_unprivileged, -EPERM },
	{ "QUEUE_CREATE: realtime for anybody", queue_realtime_unprivileged, -EPERM },
	{ "QUEUE_CREATE: too many", queue_too_many, -ENOSPC },
	{ "QUEUE_DESTROY: no such queue", destroy_unknown, -ENOENT },
	{ "QUEUE_DESTROY: pad", destroy_pad, -EINVAL },
	{ "QUEUE_DESTROY: twice", destroy_twice, -ENOENT },
	{ "SUBMIT: no syncs", submit_nothing_else, 0 },
	{ "SUBMIT: flags", submit_flags, -EINVAL },
	{ "SUBMIT: pad", submit_pad, -EINVAL },
	{ "SUBMIT: no such queue", submit_queue, -ENOENT },
	{ "SUBMIT: unmapped commands", submit_unmapped, -EFAULT },
	{ "SUBMIT: commands in the kernel", submit_kernel_pointer, -EFAULT },
	{ "SUBMIT: a byte too many", submit_too_large, -EINVAL },
	{ "SUBMIT: 4 GiB of commands", submit_huge, -EINVAL },
	{ "SUBMIT: nothing", submit_empty, -EINVAL },
	{ "SUBMIT: a mebibyte", submit_full, 0 },
	{ "SUBMIT: 4097 syncs", syncs_too_many, -EINVAL },
	{ "SUBMIT: counts that overflow", syncs_overflow, -EINVAL },
	{ "SUBMIT: unmapped syncs", syncs_unmapped, -EFAULT },
	{ "SUBMIT: unknown sync type", sync_type, -EINVAL },
	{ "SUBMIT: binary sync with a value", sync_binary_value, -EINVAL },
	{ "SUBMIT: no such in-sync", sync_in_handle, -ENOENT },
	{ "SUBMIT: no such out-sync", sync_out_handle, -ENOENT },
	{ "SUBMIT: in-sync without fence", sync_in_without_fence, -EINVAL },
	{ "SUBMIT: in-sync without point", sync_in_without_point, -EINVAL },
	{ "SUBMIT: out-sync", sync_out, 0 },
	{ "SUBMIT: 4096 syncs", syncs_many, 0 },
	{ "SUBMIT: a bad sync behind a good one", syncs_half_bad, -EINVAL },
	{ "SUBMIT: unknown command", cmd_unknown, -EINVAL },
	{ "SUBMIT: no hardware command", cmd_only_software, -EINVAL },
	{ "SUBMIT: half a header", cmd_truncated_header, -EINVAL },
	{ "SUBMIT: truncated command", cmd_truncated, -EINVAL },
	{ "SUBMIT: 64 commands", cmd_most, 0 },
	{ "SUBMIT: 65 commands", cmd_too_many, -EINVAL },
	{ "SUBMIT: render command", cmd_render, -EOPNOTSUPP },
	{ "SUBMIT: flags of a command", cmd_flags, -EINVAL },
	{ "SUBMIT: timestamps", cmd_timestamp, -EOPNOTSUPP },
	{ "SUBMIT: short command", cmd_short, 0 },
	{ "SUBMIT: long command", cmd_long_zero, 0 },
	{ "SUBMIT: long command with a tail", cmd_long_other, -E2BIG },
	{ "SUBMIT: barrier on itself", barrier_own, -EINVAL },
	{ "SUBMIT: barrier on no render command", barrier_render, -EINVAL },
	{ "SUBMIT: barrier fffe", barrier_almost_none, -EINVAL },
	{ "SUBMIT: barriers on all before", barrier_all, 0 },
	{ "SUBMIT: 16 attachments", att_most, 0 },
	{ "SUBMIT: 17 attachments", att_too_many, -EINVAL },
	{ "SUBMIT: part of an attachment", att_partial, -EINVAL },
	{ "SUBMIT: attachments with a barrier", att_barrier, -EINVAL },
	{ "SUBMIT: pad of an attachment", att_pad, -EINVAL },
	{ "SUBMIT: flags of an attachment", att_flags, -EINVAL },
	{ "SUBMIT: size of an attachment", att_size, -EINVAL },
	{ "SUBMIT: attachment", att_good, 0 },
};

static int rig_open(struct rig *rig)
{
	int err = compute_open(&rig->gpu, NULL);

	if (err)
		return err;
	rig->fd = asahi_device_fd(rig->gpu.dev);
	rig->buffer = malloc(MAX_CMDBUF + 4096);
	if (!rig->buffer)
		return -ENOMEM;
	if (drmSyncobjCreate(rig->fd, 0, &rig->syncobj))
		return -errno;
	err = compute_stream_new(&rig->gpu, &rig->stream);
	return err ? err : compute_stream_end(&rig->stream, &rig->cmd);
}

static bool run_test(struct rig *rig, unsigned int index)
{
	int err = tests[index].run(rig);
	int expected = tests[index].expected;

	printf("%sok %u - %s\n", err == expected ? "" : "not ", index + 1,
	       tests[index].name);
	if (err != expected)
		printf("# %s, not %s\n", err ? strerror(-err) : "success",
		       expected ? strerror(-expected) : "success");
	fflush(stdout);
	return err == expected;
}

int main(void)
{
	const unsigned int count = sizeof(tests) / sizeof(tests[0]);
	unsigned int i, bad = 0;
	struct rig rig;
	int err = rig_open(&rig);

	if (err) {
		printf("Bail out! %s\n", strerror(-err));
		return EXIT_FAILURE;
	}

	printf("1..%u\n", count + 1);
	for (i = 0; i < count; i++)
		bad += !run_test(&rig, i);

	/* nothing of all that has done the queue any harm */
	err = with_syncobj(&rig, out_binary);
	printf("%sok %u - the queue works afterwards\n", err ? "not " : "",
	       count + 1);
	bad += !!err;

	free(rig.buffer);
	drmSyncobjDestroy(rig.fd, rig.syncobj);
	compute_stream_free(&rig.stream);
	compute_close(&rig.gpu);
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
