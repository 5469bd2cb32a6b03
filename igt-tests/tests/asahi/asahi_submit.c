// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi submit
 * Description: Arguments that QUEUE_CREATE, QUEUE_DESTROY and SUBMIT refuse, and their
 *	errors; and the forms of commands that they have to accept. Shaders need not run.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: arguments
 * Test category: functionality test
 *
 * SUBTEST: queue-%s
 * Description: QUEUE_CREATE with arguments that are wrong, or nearly.
 *
 * SUBTEST: queue-high-unprivileged
 * Description: Higher priorities are not for everybody.
 *
 * SUBTEST: queue-realtime-unprivileged
 * Description: The same for the highest one.
 *
 * SUBTEST: queue-too-many
 * Description: A file has 1,024 queues and no more; each that goes makes room for one.
 *
 * SUBTEST: queue-destroy-%s
 * Description: QUEUE_DESTROY with arguments that are wrong.
 *
 * SUBTEST: %s
 * Description: A SUBMIT, the part of which that the name says is wrong or unusual.
 *
 * SUBTEST: works-afterwards
 * Description: Nothing of all that has done a queue any harm.
 *
 * SUBTEST: queue-allocations-fail
 * Description: Each allocation of QUEUE_CREATE fails in its turn.
 *
 * SUBTEST: submit-allocations-fail
 * Description: Each allocation of SUBMIT fails in its turn.
 */

#define MAX_QUEUES	1024
#define MAX_SYNCS	4096
#define MAX_CMDBUF	(1u << 20)
#define MAX_COMMANDS	64
#define MAX_ATTACHMENTS	16

#define NONE		DRM_ASAHI_BARRIER_NONE
#define ATT_BYTES	sizeof(struct drm_asahi_attachment)
#define CMD_BYTES	sizeof(struct drm_asahi_cmd_compute)
#define NO_HANDLE	0x4711

/**
 * struct rig - what the subtests share
 * @client: the client
 * @command: one that does nothing
 * @syncobj: without a fence
 * @buffer: where command buffers are put together
 * @used: bytes of it
 */
struct rig {
	struct asahi_client *client;
	struct asahi_command command;
	uint32_t syncobj;
	uint8_t *buffer;
	uint32_t used;
};

static void *submit_add(struct rig *rig, unsigned int type, size_t size, unsigned int vdm,
			unsigned int cdm)
{
	const struct drm_asahi_cmd_header header = {
		.cmd_type = type,
		.size = size,
		.vdm_barrier = vdm,
		.cdm_barrier = cdm,
	};
	uint8_t *pos = rig->buffer + rig->used;

	memcpy(pos, &header, sizeof(header));
	memset(pos + sizeof(header), 0, size);
	rig->used += sizeof(header) + size;
	return pos + sizeof(header);
}

static struct drm_asahi_cmd_compute *submit_add_compute(struct rig *rig, unsigned int vdm,
							unsigned int cdm)
{
	void *cmd = submit_add(rig, DRM_ASAHI_CMD_COMPUTE, CMD_BYTES, vdm, cdm);

	return memcpy(cmd, &rig->command.compute, CMD_BYTES);
}

static int submit_raw(struct rig *rig, unsigned long request, void *args)
{
	return drmIoctl(rig->client->fd, request, args) ? -errno : 0;
}

static int submit(struct rig *rig)
{
	struct drm_asahi_submit args = {
		.cmdbuf = (uintptr_t)rig->buffer,
		.cmdbuf_size = rig->used,
		.queue_id = rig->client->queue,
	};

	return submit_raw(rig, DRM_IOCTL_ASAHI_SUBMIT, &args);
}

/* One good command, with other arguments. */
static int submit_args(struct rig *rig, struct drm_asahi_submit args)
{
	submit_add_compute(rig, NONE, NONE);
	if (!args.queue_id)
		args.queue_id = rig->client->queue;
	if (!args.cmdbuf)
		args.cmdbuf = (uintptr_t)rig->buffer;
	if (!args.cmdbuf_size)
		args.cmdbuf_size = rig->used;
	return submit_raw(rig, DRM_IOCTL_ASAHI_SUBMIT, &args);
}

static int submit_syncs(struct rig *rig, const struct drm_asahi_sync *syncs, uint32_t in,
			uint32_t out)
{
	return submit_args(rig, (struct drm_asahi_submit){
					.syncs = (uintptr_t)syncs,
					.in_sync_count = in,
					.out_sync_count = out,
				});
}

/* Queues */

static int submit_create(struct rig *rig, struct drm_asahi_queue_create args)
{
	int err = submit_raw(rig, DRM_IOCTL_ASAHI_QUEUE_CREATE, &args);

	if (!err)
		igt_asahi_queue_destroy(rig->client->fd, args.queue_id, 0);
	return err;
}

static int submit_queue_flags(struct rig *rig)
{
	return submit_create(rig, (struct drm_asahi_queue_create){ .flags = 1,
							    .vm_id = rig->client->vm });
}

static int submit_queue_unknown_vm(struct rig *rig)
{
	return submit_create(rig, (struct drm_asahi_queue_create){ .vm_id = UINT32_MAX });
}

static int submit_queue_vm_0(struct rig *rig)
{
	return submit_create(rig, (struct drm_asahi_queue_create){ .vm_id = 0 });
}

static int submit_queue_priority(struct rig *rig, uint32_t priority)
{
	return submit_create(rig, (struct drm_asahi_queue_create){ .vm_id = rig->client->vm,
							    .priority = priority });
}

static int submit_queue_low(struct rig *rig)
{
	return submit_queue_priority(rig, DRM_ASAHI_PRIORITY_LOW);
}

static int submit_queue_unknown_priority(struct rig *rig)
{
	return submit_queue_priority(rig, DRM_ASAHI_PRIORITY_REALTIME + 1);
}

static int submit_queue_too_many(struct rig *rig)
{
	static uint32_t ids[MAX_QUEUES];
	struct drm_asahi_queue_create args = {
		.vm_id = rig->client->vm,
		.priority = DRM_ASAHI_PRIORITY_MEDIUM,
	};
	unsigned int count = 0;
	int err = 0;

	/* The client has one already. */
	while (count < MAX_QUEUES && !err) {
		err = submit_raw(rig, DRM_IOCTL_ASAHI_QUEUE_CREATE, &args);
		if (!err)
			ids[count++] = args.queue_id;
	}
	igt_assert_eq(count, MAX_QUEUES - 1);
	igt_asahi_queue_destroy(rig->client->fd, ids[0], 0);
	igt_assert_eq(submit_raw(rig, DRM_IOCTL_ASAHI_QUEUE_CREATE, &args), 0);
	ids[0] = args.queue_id;
	while (count > 0)
		igt_asahi_queue_destroy(rig->client->fd, ids[--count], 0);
	return err;
}

static int submit_destroy_unknown(struct rig *rig)
{
	struct drm_asahi_queue_destroy args = { .queue_id = 0x7fffffff };

	return submit_raw(rig, DRM_IOCTL_ASAHI_QUEUE_DESTROY, &args);
}

static int submit_destroy_pad(struct rig *rig)
{
	struct drm_asahi_queue_destroy args = { .queue_id = rig->client->queue, .pad = 1 };

	return submit_raw(rig, DRM_IOCTL_ASAHI_QUEUE_DESTROY, &args);
}

static int submit_destroy_twice(struct rig *rig)
{
	struct drm_asahi_queue_destroy args = {
		.queue_id = igt_asahi_queue_create(rig->client->fd, rig->client->vm,
						   DRM_ASAHI_PRIORITY_MEDIUM, 0),
	};

	igt_asahi_queue_destroy(rig->client->fd, args.queue_id, 0);
	return submit_raw(rig, DRM_IOCTL_ASAHI_QUEUE_DESTROY, &args);
}

/* Arguments of SUBMIT */

static int submit_plain(struct rig *rig)
{
	return submit_args(rig, (struct drm_asahi_submit){ .flags = 0 });
}

static int submit_flags(struct rig *rig)
{
	return submit_args(rig, (struct drm_asahi_submit){ .flags = 1 });
}

static int submit_pad(struct rig *rig)
{
	return submit_args(rig, (struct drm_asahi_submit){ .pad = 1 });
}

static int submit_queue(struct rig *rig)
{
	return submit_args(rig, (struct drm_asahi_submit){ .queue_id = 0x12345678 });
}

static int submit_unmapped(struct rig *rig)
{
	return submit_args(rig, (struct drm_asahi_submit){ .cmdbuf = 8 });
}

static int submit_kernel_pointer(struct rig *rig)
{
	return submit_args(rig, (struct drm_asahi_submit){ .cmdbuf = 0xffff800000000000ULL });
}

static int submit_huge(struct rig *rig)
{
	return submit_args(rig, (struct drm_asahi_submit){ .cmdbuf_size = UINT32_MAX });
}

/*
 * A mebibyte of commands, and more bytes of zero in the first of them, which is allowed. All
 * others only set attachments.
 */
static int submit_full(struct rig *rig, size_t more)
{
	void *cmd = submit_add(rig, DRM_ASAHI_CMD_COMPUTE, CMD_BYTES + more, NONE, NONE);

	memcpy(cmd, &rig->command.compute, CMD_BYTES);
	while (rig->used < MAX_CMDBUF)
		submit_add(rig, DRM_ASAHI_SET_VERTEX_ATTACHMENTS, 0, NONE, NONE);
	igt_assert_eq(rig->used, MAX_CMDBUF + more);
	return submit(rig);
}

static int submit_most_bytes(struct rig *rig)
{
	return submit_full(rig, 0);
}

static int submit_byte_too_many(struct rig *rig)
{
	return submit_full(rig, 1);
}

/* Syncs */

static int submit_syncs_too_many(struct rig *rig)
{
	return submit_syncs(rig, NULL, MAX_SYNCS, 1);
}

static int submit_syncs_overflow(struct rig *rig)
{
	return submit_syncs(rig, NULL, UINT32_MAX, 2);
}

static int submit_syncs_unmapped(struct rig *rig)
{
	return submit_syncs(rig, (void *)(uintptr_t)16, 1, 0);
}

static int submit_one_sync(struct rig *rig, uint32_t type, uint32_t handle, uint64_t value,
			   bool out)
{
	const struct drm_asahi_sync sync = {
		.sync_type = type,
		.handle = handle,
		.timeline_value = value,
	};

	return submit_syncs(rig, &sync, !out, out);
}

static int submit_sync_type(struct rig *rig)
{
	return submit_one_sync(rig, 2, rig->syncobj, 0, true);
}

static int submit_sync_binary_value(struct rig *rig)
{
	return submit_one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, rig->syncobj, 1, true);
}

static int submit_sync_in_handle(struct rig *rig)
{
	return submit_one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, NO_HANDLE, 0, false);
}

static int submit_sync_out_handle(struct rig *rig)
{
	return submit_one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, NO_HANDLE, 0, true);
}

static int submit_sync_in_without_fence(struct rig *rig)
{
	return submit_one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, rig->syncobj, 0, false);
}

static int submit_sync_in_without_point(struct rig *rig)
{
	return submit_one_sync(rig, DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ, rig->syncobj, 9, false);
}

static int submit_sync_out(struct rig *rig)
{
	const uint32_t syncobj = syncobj_create(rig->client->fd, 0);
	int err = submit_one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, syncobj, 0, true);

	return err ? err : igt_asahi_wait(rig->client->fd, syncobj);
}

/* As many as there may be, half of them waited for. */
static int submit_syncs_many(struct rig *rig)
{
	static struct drm_asahi_sync syncs[MAX_SYNCS];
	const uint32_t syncobj = syncobj_create(rig->client->fd, 0);
	unsigned int i;
	int err;

	for (i = 0; i < MAX_SYNCS; i++)
		syncs[i] = (struct drm_asahi_sync){
			.sync_type = DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ,
			.handle = syncobj,
			.timeline_value = i < MAX_SYNCS / 2 ? 1 : i,
		};
	err = submit_one_sync(rig, DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ, syncobj, 1, true);
	rig->used = 0;
	if (!err)
		err = submit_syncs(rig, syncs, MAX_SYNCS / 2, MAX_SYNCS / 2);
	return err ? err : igt_asahi_wait(rig->client->fd, syncobj);
}

/* A SUBMIT that fails at its last sync signals none: there is no fence to wait for. */
static int submit_syncs_half_bad(struct rig *rig)
{
	const uint32_t syncobj = syncobj_create(rig->client->fd, 0);
	const struct drm_asahi_sync syncs[] = {
		{ .sync_type = DRM_ASAHI_SYNC_SYNCOBJ, .handle = syncobj },
		{ .sync_type = DRM_ASAHI_SYNC_SYNCOBJ, .handle = NO_HANDLE },
	};

	igt_assert_eq(submit_syncs(rig, syncs, 0, 2), -ENOENT);
	rig->used = 0;
	return submit_one_sync(rig, DRM_ASAHI_SYNC_SYNCOBJ, syncobj, 0, false);
}

/* Command buffers */

static int submit_cmd_unknown(struct rig *rig)
{
	submit_add_compute(rig, NONE, NONE);
	submit_add(rig, 5, 8, NONE, NONE);
	return submit(rig);
}

static int submit_cmd_only_software(struct rig *rig)
{
	submit_add(rig, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, 0, NONE, NONE);
	return submit(rig);
}

static int submit_cmd_truncated_header(struct rig *rig)
{
	submit_add_compute(rig, NONE, NONE);
	rig->used += 7;
	return submit(rig);
}

static int submit_cmd_truncated(struct rig *rig)
{
	submit_add_compute(rig, NONE, NONE);
	rig->used--;
	return submit(rig);
}

static int submit_cmd_most(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < MAX_COMMANDS; i++)
		submit_add_compute(rig, NONE, NONE);
	return submit(rig);
}

static int submit_cmd_too_many(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i <= MAX_COMMANDS; i++)
		submit_add_compute(rig, NONE, NONE);
	return submit(rig);
}

static int submit_cmd_flags(struct rig *rig)
{
	submit_add_compute(rig, NONE, NONE)->flags = 1;
	return submit(rig);
}

static int submit_cmd_short(struct rig *rig)
{
	const size_t size = offsetof(struct drm_asahi_cmd_compute, sampler_heap);

	memcpy(submit_add(rig, DRM_ASAHI_CMD_COMPUTE, size, NONE, NONE), &rig->command.compute,
	       size);
	return submit(rig);
}

static int submit_cmd_long(struct rig *rig, uint8_t tail)
{
	uint8_t *cmd = submit_add(rig, DRM_ASAHI_CMD_COMPUTE, CMD_BYTES + 33, NONE, NONE);

	memcpy(cmd, &rig->command.compute, CMD_BYTES);
	cmd[CMD_BYTES + 32] = tail;
	return submit(rig);
}

static int submit_cmd_long_zero(struct rig *rig)
{
	return submit_cmd_long(rig, 0);
}

static int submit_cmd_long_other(struct rig *rig)
{
	return submit_cmd_long(rig, 1);
}

/* Barriers */

static int submit_barrier_own(struct rig *rig)
{
	submit_add_compute(rig, NONE, 1);
	return submit(rig);
}

static int submit_barrier_render(struct rig *rig)
{
	submit_add_compute(rig, NONE, NONE);
	submit_add_compute(rig, 1, NONE);
	return submit(rig);
}

static int submit_barrier_almost_none(struct rig *rig)
{
	submit_add_compute(rig, NONE, NONE - 1);
	return submit(rig);
}

static int submit_barrier_all(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < MAX_COMMANDS; i++)
		submit_add_compute(rig, 0, i);
	return submit(rig);
}

/* Attachments */

static int submit_attachments(struct rig *rig, unsigned int type, size_t bytes,
			      struct drm_asahi_attachment first, unsigned int barrier)
{
	struct drm_asahi_attachment *att = submit_add(rig, type, bytes, barrier, NONE);

	if (bytes >= sizeof(first))
		memcpy(att, &first, sizeof(first));
	submit_add_compute(rig, NONE, NONE);
	return submit(rig);
}

/* None of them is empty, so the firmware gets all. */
static int submit_att_many(struct rig *rig, unsigned int count)
{
	struct drm_asahi_attachment *att = submit_add(rig, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS,
						      count * ATT_BYTES, NONE, NONE);

	while (count--)
		att[count] = (struct drm_asahi_attachment){
			.pointer = rig->client->words_addr,
			.size = 1,
		};
	submit_add_compute(rig, NONE, NONE);
	return submit(rig);
}

static int submit_att_most(struct rig *rig)
{
	return submit_att_many(rig, MAX_ATTACHMENTS);
}

static int submit_att_too_many(struct rig *rig)
{
	return submit_att_many(rig, MAX_ATTACHMENTS + 1);
}

static int submit_att_partial(struct rig *rig)
{
	return submit_attachments(rig, DRM_ASAHI_SET_VERTEX_ATTACHMENTS, ATT_BYTES - 1,
				  (struct drm_asahi_attachment){ .pad = 0 }, NONE);
}

static int submit_att_barrier(struct rig *rig)
{
	return submit_attachments(rig, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, 0,
				  (struct drm_asahi_attachment){ .pad = 0 }, 0);
}

static int submit_att_pad(struct rig *rig)
{
	return submit_attachments(rig, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, ATT_BYTES,
				  (struct drm_asahi_attachment){ .pad = 1 }, NONE);
}

static int submit_att_flags(struct rig *rig)
{
	return submit_attachments(rig, DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS, ATT_BYTES,
				  (struct drm_asahi_attachment){ .flags = 1 }, NONE);
}

static int submit_att_size(struct rig *rig)
{
	return submit_attachments(rig, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, ATT_BYTES,
				  (struct drm_asahi_attachment){ .size = UINT64_MAX }, NONE);
}

static int submit_att_good(struct rig *rig)
{
	return submit_attachments(rig, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, ATT_BYTES,
				  (struct drm_asahi_attachment){
				   .pointer = rig->client->words_addr,
				   .size = 1 }, NONE);
}

static const struct {
	const char *name;
	int (*run)(struct rig *rig);
	int expected;
} submit_tests[] = {
	{ "queue-flags", submit_queue_flags, -EINVAL },
	{ "queue-unknown-vm", submit_queue_unknown_vm, -ENOENT },
	{ "queue-vm-0", submit_queue_vm_0, -ENOENT },
	{ "queue-low-priority", submit_queue_low, 0 },
	{ "queue-unknown-priority", submit_queue_unknown_priority, -EINVAL },
	{ "queue-too-many", submit_queue_too_many, -ENOSPC },
	{ "queue-destroy-unknown", submit_destroy_unknown, -ENOENT },
	{ "queue-destroy-pad", submit_destroy_pad, -EINVAL },
	{ "queue-destroy-twice", submit_destroy_twice, -ENOENT },
	{ "no-syncs", submit_plain, 0 },
	{ "flags", submit_flags, -EINVAL },
	{ "pad", submit_pad, -EINVAL },
	{ "unknown-queue", submit_queue, -ENOENT },
	{ "unmapped-commands", submit_unmapped, -EFAULT },
	{ "kernel-pointer", submit_kernel_pointer, -EFAULT },
	{ "byte-too-many", submit_byte_too_many, -EINVAL },
	{ "4-GiB-of-commands", submit_huge, -EINVAL },
	{ "empty", submit, -EINVAL },
	{ "1-MiB-of-commands", submit_most_bytes, 0 },
	{ "syncs-too-many", submit_syncs_too_many, -EINVAL },
	{ "syncs-overflow", submit_syncs_overflow, -EINVAL },
	{ "syncs-unmapped", submit_syncs_unmapped, -EFAULT },
	{ "sync-unknown-type", submit_sync_type, -EINVAL },
	{ "sync-binary-with-value", submit_sync_binary_value, -EINVAL },
	{ "sync-in-unknown", submit_sync_in_handle, -ENOENT },
	{ "sync-out-unknown", submit_sync_out_handle, -ENOENT },
	{ "sync-in-without-fence", submit_sync_in_without_fence, -EINVAL },
	{ "sync-in-without-point", submit_sync_in_without_point, -EINVAL },
	{ "sync-out", submit_sync_out, 0 },
	{ "syncs-most", submit_syncs_many, 0 },
	{ "sync-bad-behind-good", submit_syncs_half_bad, -EINVAL },
	{ "command-unknown", submit_cmd_unknown, -EINVAL },
	{ "command-none-for-hardware", submit_cmd_only_software, -EINVAL },
	{ "command-half-a-header", submit_cmd_truncated_header, -EINVAL },
	{ "command-truncated", submit_cmd_truncated, -EINVAL },
	{ "commands-most", submit_cmd_most, 0 },
	{ "commands-too-many", submit_cmd_too_many, -EINVAL },
	{ "command-flags", submit_cmd_flags, -EINVAL },
	{ "command-short", submit_cmd_short, 0 },
	{ "command-long", submit_cmd_long_zero, 0 },
	{ "command-long-with-tail", submit_cmd_long_other, -E2BIG },
	{ "barrier-on-itself", submit_barrier_own, -EINVAL },
	{ "barrier-on-no-render", submit_barrier_render, -EINVAL },
	{ "barrier-almost-none", submit_barrier_almost_none, -EINVAL },
	{ "barriers-on-all-before", submit_barrier_all, 0 },
	{ "attachments-most", submit_att_most, 0 },
	{ "attachments-too-many", submit_att_too_many, -EINVAL },
	{ "attachment-partial", submit_att_partial, -EINVAL },
	{ "attachments-with-barrier", submit_att_barrier, -EINVAL },
	{ "attachment-pad", submit_att_pad, -EINVAL },
	{ "attachment-flags", submit_att_flags, -EINVAL },
	{ "attachment-size", submit_att_size, -EINVAL },
	{ "attachment", submit_att_good, 0 },
	{ "works-afterwards", submit_sync_out, 0 },
};

static const struct {
	const char *name;
	uint32_t priority;
} submit_privileged[] = {
	{ "queue-high-unprivileged", DRM_ASAHI_PRIORITY_HIGH },
	{ "queue-realtime-unprivileged", DRM_ASAHI_PRIORITY_REALTIME },
};

static void submit_undo_queue_create(int fd, const void *arg)
{
	const struct drm_asahi_queue_create *args = arg;

	igt_asahi_queue_destroy(fd, args->queue_id, 0);
}

static void submit_test_queue_allocations_fail(struct rig *rig)
{
	struct drm_asahi_queue_create args = {
		.vm_id = rig->client->vm,
		.priority = DRM_ASAHI_PRIORITY_MEDIUM,
	};

	igt_asahi_fail_allocations(rig->client->fd, DRM_IOCTL_ASAHI_QUEUE_CREATE, &args,
				   submit_undo_queue_create);
	igt_assert_eq(submit_sync_out(rig), 0);
}

static void submit_undo_submit(int fd, const void *arg)
{
	const struct drm_asahi_submit *args = arg;
	const struct drm_asahi_sync *syncs = (void *)(uintptr_t)args->syncs;

	igt_assert_eq(igt_asahi_wait(fd, syncs[args->in_sync_count].handle), 0);
}

static void submit_test_submit_allocations_fail(struct rig *rig)
{
	const int fd = rig->client->fd;
	const struct drm_asahi_sync syncs[] = {
		{ .handle = syncobj_create(fd, DRM_SYNCOBJ_CREATE_SIGNALED) },
		{ .handle = syncobj_create(fd, 0) },
		{ .handle = syncobj_create(fd, 0),
		  .sync_type = DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ,
		  .timeline_value = 1 },
	};
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)syncs,
		.cmdbuf = (uintptr_t)rig->buffer,
		.queue_id = rig->client->queue,
		.in_sync_count = 1,
		.out_sync_count = 2,
	};
	unsigned int i;

	for (i = 0; i < 4; i++)
		submit_add_compute(rig, NONE, i);
	args.cmdbuf_size = rig->used;
	/* The first submission allocates memory for all later ones, which stays. */
	igt_assert_eq(submit_raw(rig, DRM_IOCTL_ASAHI_SUBMIT, &args), 0);
	submit_undo_submit(fd, &args);
	igt_asahi_fail_allocations(fd, DRM_IOCTL_ASAHI_SUBMIT, &args, submit_undo_submit);
	rig->used = 0;
	igt_assert_eq(submit_sync_out(rig), 0);
}

int igt_main()
{
	static struct rig rig;
	unsigned int i;
	int fd;

	igt_fixture() {
		const uint32_t end[] = { 2u << 29, 0 };

		fd = drm_open_driver_render(DRIVER_ASAHI);
		rig.client = igt_asahi_client_open(fd);
		rig.command = igt_asahi_command_words(rig.client, end, ARRAY_SIZE(end));
		rig.syncobj = syncobj_create(rig.client->fd, 0);
		rig.buffer = malloc(MAX_CMDBUF + 4096);
		igt_assert(rig.buffer);
	}

	igt_describe("Higher priorities are not for everybody.");
	for (i = 0; i < ARRAY_SIZE(submit_privileged); i++) {
		igt_subtest(submit_privileged[i].name) {
			igt_fork(child, 1) {
				igt_drop_root();
				igt_assert_eq(
					submit_queue_priority(&rig, submit_privileged[i].priority),
					-EPERM);
			}
			igt_waitchildren();
		}
	}

	igt_describe("Arguments that are wrong or unusual.");
	for (i = 0; i < ARRAY_SIZE(submit_tests); i++) {
		igt_subtest(submit_tests[i].name) {
			rig.used = 0;
			igt_assert_eq(submit_tests[i].run(&rig), submit_tests[i].expected);
		}
	}

	igt_describe("Each allocation fails in its turn, where the kernel can do that.");
	igt_subtest("queue-allocations-fail") {
		rig.used = 0;
		submit_test_queue_allocations_fail(&rig);
	}
	igt_subtest("submit-allocations-fail") {
		rig.used = 0;
		submit_test_submit_allocations_fail(&rig);
	}

	igt_fixture() {
		free(rig.buffer);
		igt_asahi_clients_close();
		drm_close_driver(fd);
	}
}
