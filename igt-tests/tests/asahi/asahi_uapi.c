// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi uapi
 * Description: Every field of the interface with three values: one that is right, one at
 *	the border of what is allowed, and one that is wrong. A field that is handed on
 *	as it is has no wrong value: SUBMIT takes it, and at most its own work fails.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: uapi
 * Functionality: arguments
 * Test category: functionality test
 *
 * SUBTEST: %s
 * Description: The field that the name says, as in "vm_bind-stride" for that of struct
 *	drm_asahi_vm_bind, and "cmd_render-depth-base" for one in a structure within.
 */

#define PAGE		IGT_ASAHI_PAGE
#define OBJECT_PAGES	4
/* The kernel's range in VMs that are made by VM_CREATE here */
#define KERNEL_START	ASAHI_FREE_START
#define ALL_ONES	UINT64_MAX
#define KERNEL_HALF	0xffffffa000000000
#define TOP_BIT		(1u << 31)

/* Expected where it is the GPU's business: SUBMIT takes it, the work may fail */
#define ANY		1

/**
 * struct rig - what the subtests share
 * @client: the client
 * @params: those of the device
 * @handle: object of OBJECT_PAGES
 * @times: registered page
 * @signalled: sync object whose fence has signalled
 * @render: a render that draws nothing
 * @compute: a compute command that does nothing
 * @edge: address behind which nothing can be read or written
 */
static struct rig {
	struct asahi_client *client;
	struct drm_asahi_params_global params;
	uint32_t handle;
	uint32_t times;
	uint32_t signalled;
	struct asahi_render render;
	struct asahi_command compute;
	uint8_t *edge;
} uapi_rig;

/* Base that the value of a field is added to */
enum base {
	FROM_ZERO,
	/* what the field has in an argument that is right */
	FROM_RIGHT,
	/* the first address that cannot be mapped */
	FROM_END,
};

/**
 * struct value - what a field is given
 * @base: what @value is added to
 * @value: number
 * @expected: 0, negative errno value, or ANY
 */
struct value {
	enum base base;
	uint64_t value;
	int expected;
};

/* struct change - one field of an argument, and what it is given */
struct change {
	size_t offset;
	size_t bytes;
	struct value value;
};

static void uapi_apply(void *args, const struct change *change)
{
	uint8_t *field = (uint8_t *)args + change->offset;
	uint64_t value = 0;

	if (change->value.base == FROM_RIGHT)
		memcpy(&value, field, change->bytes);
	else if (change->value.base == FROM_END)
		value = uapi_rig.params.vm_end;
	value += change->value.value;
	memcpy(field, &value, change->bytes);
}

static int uapi_call(unsigned long request, void *args)
{
	return drmIoctl(uapi_rig.client->fd, request, args) ? -errno : 0;
}

/* Copies of an array: one that ends where the readable memory does, one in front of it */
static uint64_t uapi_put(const void *array, size_t size)
{
	memcpy(uapi_rig.edge - size, array, size);
	memcpy(uapi_rig.edge - 2 * size, array, size);
	return (uintptr_t)(uapi_rig.edge - 2 * size);
}

/* GET_PARAMS, GET_TIME */

static int uapi_run_get_params(const struct change *change)
{
	const size_t size = sizeof(uapi_rig.params);
	struct drm_asahi_get_params args = { .size = size };
	uint8_t zero[sizeof(uapi_rig.params)] = { 0 };
	int err;

	args.pointer = uapi_put(zero, size);
	uapi_apply(&args, change);
	err = uapi_call(DRM_IOCTL_ASAHI_GET_PARAMS, &args);
	if (!err && args.size >= size)
		igt_assert(!memcmp((void *)(uintptr_t)args.pointer, &uapi_rig.params, size));
	return err;
}

static int uapi_run_get_time(const struct change *change)
{
	struct drm_asahi_get_time args = { .flags = 0 }, before, after;
	int err;

	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	igt_asahi_get_time(uapi_rig.client->fd, &before, 0);
	uapi_apply(&args, change);
	err = uapi_call(DRM_IOCTL_ASAHI_GET_TIME, &args);
	igt_asahi_get_time(uapi_rig.client->fd, &after, 0);
	if (!err) {
		igt_assert_lte_u64(before.gpu_timestamp, args.gpu_timestamp);
		igt_assert_lte_u64(args.gpu_timestamp, after.gpu_timestamp);
	}
	return err;
}

/* Address spaces */

static int uapi_run_vm_create(const struct change *change)
{
	struct drm_asahi_vm_create args = {
		.kernel_start = KERNEL_START,
		.kernel_end = KERNEL_START + uapi_rig.params.vm_kernel_min_size,
	};
	int err;

	uapi_apply(&args, change);
	err = uapi_call(DRM_IOCTL_ASAHI_VM_CREATE, &args);
	if (!err)
		igt_asahi_vm_destroy(uapi_rig.client->fd, args.vm_id, 0);
	return err;
}

static int uapi_run_vm_destroy(const struct change *change)
{
	const uint32_t vm = igt_asahi_vm_create(uapi_rig.client->fd);
	struct drm_asahi_vm_destroy args = { .vm_id = vm };
	int err;

	uapi_apply(&args, change);
	err = uapi_call(DRM_IOCTL_ASAHI_VM_DESTROY, &args);
	igt_asahi_vm_destroy(uapi_rig.client->fd, vm, err ? 0 : ENOENT);
	return err;
}

/* Two pages in front of the kernel's range */
static struct drm_asahi_gem_bind_op uapi_good_op(void)
{
	return (struct drm_asahi_gem_bind_op) {
		.flags = DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
		.handle = uapi_rig.handle,
		.range = PAGE,
		.addr = KERNEL_START - 2 * PAGE,
	};
}

static uint32_t uapi_vm_with_range(void)
{
	struct drm_asahi_vm_create args = {
		.kernel_start = KERNEL_START,
		.kernel_end = KERNEL_START + uapi_rig.params.vm_kernel_min_size,
	};

	igt_assert_eq(uapi_call(DRM_IOCTL_ASAHI_VM_CREATE, &args), 0);
	return args.vm_id;
}

static int uapi_run_vm_bind(const struct change *change)
{
	const struct drm_asahi_gem_bind_op op = uapi_good_op();
	const uint32_t vm = uapi_vm_with_range();
	struct drm_asahi_vm_bind args = {
		.vm_id = vm,
		.num_binds = 1,
		.stride = sizeof(op),
		.userptr = uapi_put(&op, sizeof(op)),
	};
	int err;

	uapi_apply(&args, change);
	err = uapi_call(DRM_IOCTL_ASAHI_VM_BIND, &args);
	igt_asahi_vm_destroy(uapi_rig.client->fd, vm, 0);
	return err;
}

static int uapi_run_bind_op(const struct change *change)
{
	struct drm_asahi_gem_bind_op op = uapi_good_op();
	struct drm_asahi_vm_bind args = {
		.vm_id = uapi_vm_with_range(),
		.num_binds = 1,
		.stride = sizeof(op),
		.userptr = (uintptr_t)&op,
	};
	int err;

	uapi_apply(&op, change);
	err = uapi_call(DRM_IOCTL_ASAHI_VM_BIND, &args);
	igt_asahi_vm_destroy(uapi_rig.client->fd, args.vm_id, 0);
	return err;
}

/* Objects */

static int uapi_run_gem_create(const struct change *change)
{
	struct drm_asahi_gem_create args = {
		.size = PAGE,
		.flags = DRM_ASAHI_GEM_VM_PRIVATE,
		.vm_id = uapi_rig.client->vm,
	};
	int err;

	uapi_apply(&args, change);
	err = uapi_call(DRM_IOCTL_ASAHI_GEM_CREATE, &args);
	if (!err) {
		munmap(igt_asahi_gem_mmap(uapi_rig.client->fd, args.handle, PAGE), PAGE);
		gem_close(uapi_rig.client->fd, args.handle);
	}
	return err;
}

static int uapi_run_mmap_offset(const struct change *change)
{
	struct drm_asahi_gem_mmap_offset args = { .handle = uapi_rig.handle };
	int err;

	uapi_apply(&args, change);
	err = uapi_call(DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, &args);
	if (!err)
		igt_assert_eq_u64(args.offset, igt_asahi_gem_mmap_offset(uapi_rig.client->fd,
									 uapi_rig.handle, 0));
	return err;
}

static void uapi_unbind_object(uint32_t object)
{
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_UNBIND,
		.object_handle = object,
	};

	igt_assert_eq(uapi_call(DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args), 0);
}

static int uapi_run_bind_object(const struct change *change)
{
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_BIND,
		.flags = DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS,
		.handle = uapi_rig.handle,
		.range = PAGE,
	};
	int err;

	uapi_apply(&args, change);
	err = uapi_call(DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);
	if (!err)
		uapi_unbind_object(args.object_handle);
	return err;
}

/* Queues */

static int uapi_run_queue_create(const struct change *change)
{
	struct drm_asahi_queue_create args = {
		.vm_id = uapi_rig.client->vm,
		.priority = DRM_ASAHI_PRIORITY_MEDIUM,
		.usc_exec_base = IGT_ASAHI_USC_BASE,
	};
	int err;

	uapi_apply(&args, change);
	err = uapi_call(DRM_IOCTL_ASAHI_QUEUE_CREATE, &args);
	if (!err)
		igt_asahi_queue_destroy(uapi_rig.client->fd, args.queue_id, 0);
	return err;
}

static int uapi_run_queue_destroy(const struct change *change)
{
	const uint32_t queue = igt_asahi_queue_create(uapi_rig.client->fd, uapi_rig.client->vm,
						      DRM_ASAHI_PRIORITY_MEDIUM, 0);
	struct drm_asahi_queue_destroy args = { .queue_id = queue };
	int err;

	uapi_apply(&args, change);
	err = uapi_call(DRM_IOCTL_ASAHI_QUEUE_DESTROY, &args);
	igt_asahi_queue_destroy(uapi_rig.client->fd, queue, err ? 0 : ENOENT);
	return err;
}

/* Submissions: a hint about memory, a render, and a compute command behind it */

struct submission {
	struct drm_asahi_submit args;
	struct drm_asahi_sync syncs[2];
	struct {
		struct drm_asahi_cmd_header header;
		struct drm_asahi_attachment attachment;
		struct asahi_render render;
		struct asahi_command compute;
	} commands;
};

static void uapi_submission_init(struct submission *sub)
{
	*sub = (struct submission) {
		.args = {
			.queue_id = uapi_rig.client->queue,
			.in_sync_count = 1,
			.out_sync_count = 1,
			.cmdbuf_size = sizeof(sub->commands),
		},
		.syncs = {
			{ .handle = uapi_rig.signalled },
			{ .handle = syncobj_create(uapi_rig.client->fd, 0) },
		},
		.commands = {
			.header = {
				.cmd_type = DRM_ASAHI_SET_VERTEX_ATTACHMENTS,
				.size = sizeof(sub->commands.attachment),
				.vdm_barrier = DRM_ASAHI_BARRIER_NONE,
				.cdm_barrier = DRM_ASAHI_BARRIER_NONE,
			},
			.attachment = { .pointer = uapi_rig.client->words_addr, .size = PAGE },
			.render = uapi_rig.render,
			.compute = uapi_rig.compute,
		},
	};
}

/* Return: what SUBMIT says, or else how the work ended */
static int uapi_submission_run(struct submission *sub, const struct change *to_args)
{
	const uint32_t out = sub->syncs[1].handle;
	int err;

	/* One of the two arrays ends where nothing can be read. */
	sub->args.cmdbuf = uapi_put(&sub->commands, sizeof(sub->commands));
	sub->args.syncs = (uintptr_t)sub->syncs;
	if (to_args && to_args->offset == offsetof(struct drm_asahi_submit, syncs)) {
		sub->args.cmdbuf = (uintptr_t)&sub->commands;
		sub->args.syncs = uapi_put(sub->syncs, sizeof(sub->syncs));
	}
	if (to_args)
		uapi_apply(&sub->args, to_args);
	err = uapi_call(DRM_IOCTL_ASAHI_SUBMIT, &sub->args);
	/* With other counts, it is not this one that is signalled. */
	if (!err && sub->args.in_sync_count == 1 && sub->args.out_sync_count == 1)
		err = igt_asahi_wait(uapi_rig.client->fd, out);
	return err;
}

/**
 * uapi_run_submission - submit with one field of the submission changed
 * @change: the change
 * @where: offset of the structure that it is in, within struct submission
 *
 * The queue is the same for all of them: it goes on after work that has failed.
 */
static int uapi_run_submission(const struct change *change, size_t where)
{
	struct submission sub;
	uint32_t out;
	int err;

	uapi_submission_init(&sub);
	out = sub.syncs[1].handle;
	if (where != offsetof(struct submission, args))
		uapi_apply((uint8_t *)&sub + where, change);
	err = uapi_submission_run(&sub, where == offsetof(struct submission, args) ? change : NULL);
	syncobj_destroy(uapi_rig.client->fd, out);
	return err;
}

static int uapi_run_submit(const struct change *change)
{
	return uapi_run_submission(change, offsetof(struct submission, args));
}

/* Each of the two, the one that is signalled first */
static int uapi_run_sync(const struct change *change)
{
	const int err = uapi_run_submission(change, offsetof(struct submission, syncs[1]));

	igt_assert_eq(uapi_run_submission(change, offsetof(struct submission, syncs[0])), err);
	return err;
}

/* The last one's, so that a size that is too small leaves nothing behind it */
static int uapi_run_header(const struct change *change)
{
	struct submission sub;
	uint32_t size;
	int err;

	uapi_submission_init(&sub);
	uapi_apply(&sub.commands.compute.header, change);
	size = sub.commands.compute.header.size;
	if (size < sizeof(sub.commands.compute.compute))
		sub.args.cmdbuf_size -= sizeof(sub.commands.compute.compute) - size;
	err = uapi_submission_run(&sub, NULL);
	syncobj_destroy(uapi_rig.client->fd, sub.syncs[1].handle);
	return err;
}

static int uapi_run_attachment(const struct change *change)
{
	return uapi_run_submission(change, offsetof(struct submission, commands.attachment));
}

static int uapi_run_render(const struct change *change)
{
	return uapi_run_submission(change, offsetof(struct submission, commands.render.render));
}

static int uapi_run_compute(const struct change *change)
{
	return uapi_run_submission(change, offsetof(struct submission, commands.compute.compute));
}

/*
 * The table. The name of a row is that of the field that it changes, and a row
 * without three values does not compile. tools/checks/uapi_tests.py holds the names
 * against the header.
 */

struct row {
	const char *name;
	size_t offset;
	size_t bytes;
	int (*run)(const struct change *change);
	struct value values[3];
};

/* A value, one relative to what is right, and one to the end, with what is expected */
#define V(v, expect)	{ .value = (v), .expected = (expect) }
#define R(v, expect)	{ .base = FROM_RIGHT, .value = (v), .expected = (expect) }
#define E(v, expect)	{ .base = FROM_END, .value = (v), .expected = (expect) }

#define ROW(type, member, run, valid, boundary, wrong) {		\
		#type "." #member,					\
		offsetof(struct drm_asahi_##type, member),		\
		sizeof(((struct drm_asahi_##type *)0)->member),		\
		run, { valid, boundary, wrong } }

/* Padding and flags of which there are none */
#define ZERO(type, member, run)						\
	ROW(type, member, run, V(0, 0), V(1, -EINVAL), V(ALL_ONES, -EINVAL))
/* A field that the driver writes: its value before does not matter */
#define OUT(type, member, run)						\
	ROW(type, member, run, V(0, 0), V(1, 0), V(ALL_ONES, 0))
/* A number that the driver has given to the caller */
#define ID(type, member, run)						\
	ROW(type, member, run, R(0, 0), V(0, -ENOENT), V(ALL_ONES, -ENOENT))
/* A value that is handed on to the GPU */
#define HANDED(type, member, run)					\
	ROW(type, member, run, R(0, 0), V(1, ANY), V(ALL_ONES, ANY))
/* An address, handed on as well: behind what can be mapped, or the kernel's */
#define ADDRESS(type, member, run)					\
	ROW(type, member, run, R(0, 0), E(0, ANY), V(KERNEL_HALF, ANY))
#define HELPER(type, member, run)					\
	HANDED(type, member.binary, run), HANDED(type, member.cfg, run),	\
	HANDED(type, member.data, run)
#define PROGRAM(type, member, run)					\
	HANDED(type, member.usc, run), HANDED(type, member.rsrc_spec, run)
#define ZLS(type, member, run)						\
	ADDRESS(type, member.base, run), ADDRESS(type, member.comp_base, run),	\
	HANDED(type, member.stride, run), HANDED(type, member.comp_stride, run)
#define TIME(type, member, run)						\
	ROW(type, member.handle, run, R(0, 0), V(0, 0), V(ALL_ONES, -ENOENT)),	\
	ROW(type, member.offset, run, R(0, 0), V(PAGE - 8, 0), V(PAGE, -ERANGE))
#define TIMES(type, member, run)					\
	TIME(type, member.start, run), TIME(type, member.end, run)

static const struct row uapi_rows[] = {
	ROW(get_params, param_group, uapi_run_get_params, V(0, 0), V(1, -EINVAL),
	    V(ALL_ONES, -EINVAL)),
	ZERO(get_params, pad, uapi_run_get_params),
	ROW(get_params, pointer, uapi_run_get_params, R(0, 0),
	    R(sizeof(struct drm_asahi_params_global), 0),
	    R(sizeof(struct drm_asahi_params_global) + 8, -EFAULT)),
	ROW(get_params, size, uapi_run_get_params, R(0, 0), V(0, 0),
	    R(sizeof(struct drm_asahi_params_global) + 8, -EFAULT)),

	ZERO(get_time, flags, uapi_run_get_time),
	OUT(get_time, gpu_timestamp, uapi_run_get_time),

	ROW(vm_create, kernel_start, uapi_run_vm_create, R(-PAGE, 0), R(0, 0), R(PAGE, -EINVAL)),
	ROW(vm_create, kernel_end, uapi_run_vm_create, R(PAGE, 0), R(0, 0), R(-PAGE, -EINVAL)),
	OUT(vm_create, vm_id, uapi_run_vm_create),
	ZERO(vm_create, pad, uapi_run_vm_create),
	ID(vm_destroy, vm_id, uapi_run_vm_destroy),
	ZERO(vm_destroy, pad, uapi_run_vm_destroy),

	ID(vm_bind, vm_id, uapi_run_vm_bind),
	ROW(vm_bind, num_binds, uapi_run_vm_bind, R(0, 0), V(0, 0), V(65537, -EINVAL)),
	ROW(vm_bind, stride, uapi_run_vm_bind, R(0, 0), R(-1, -EINVAL), V(4097, -EINVAL)),
	ZERO(vm_bind, pad, uapi_run_vm_bind),
	ROW(vm_bind, userptr, uapi_run_vm_bind, R(0, 0), R(sizeof(struct drm_asahi_gem_bind_op), 0),
	    R(sizeof(struct drm_asahi_gem_bind_op) + 8, -EFAULT)),

	ROW(gem_bind_op, flags, uapi_run_bind_op, R(0, 0), V(DRM_ASAHI_BIND_READ, 0),
	    V(0, -EINVAL)),
	ID(gem_bind_op, handle, uapi_run_bind_op),
	ROW(gem_bind_op, offset, uapi_run_bind_op, R(0, 0), V((OBJECT_PAGES - 1) * PAGE, 0),
	    V(OBJECT_PAGES *PAGE, -EINVAL)),
	ROW(gem_bind_op, range, uapi_run_bind_op, R(0, 0), R(PAGE, 0), V(0, -EINVAL)),
	ROW(gem_bind_op, addr, uapi_run_bind_op, R(0, 0), R(PAGE, 0), R(2 * PAGE, -EINVAL)),

	ROW(gem_create, size, uapi_run_gem_create, R(0, 0), V(1, 0), V(0, -EINVAL)),
	ROW(gem_create, flags, uapi_run_gem_create, R(0, 0), R(DRM_ASAHI_GEM_WRITEBACK, 0),
	    R(DRM_ASAHI_GEM_VM_PRIVATE << 1, -EINVAL)),
	ID(gem_create, vm_id, uapi_run_gem_create),
	OUT(gem_create, handle, uapi_run_gem_create),
	ZERO(gem_create, pad, uapi_run_gem_create),
	ID(gem_mmap_offset, handle, uapi_run_mmap_offset),
	ZERO(gem_mmap_offset, flags, uapi_run_mmap_offset),
	OUT(gem_mmap_offset, offset, uapi_run_mmap_offset),

	ROW(gem_bind_object, op, uapi_run_bind_object, R(0, 0), V(2, -EINVAL),
	    V(ALL_ONES, -EINVAL)),
	ROW(gem_bind_object, flags, uapi_run_bind_object, R(0, 0), V(0, -EINVAL),
	    V(ALL_ONES, -EINVAL)),
	ID(gem_bind_object, handle, uapi_run_bind_object),
	ZERO(gem_bind_object, vm_id, uapi_run_bind_object),
	ROW(gem_bind_object, offset, uapi_run_bind_object, R(0, 0), V((OBJECT_PAGES - 1) * PAGE, 0),
	    V(OBJECT_PAGES *PAGE, -EINVAL)),
	ROW(gem_bind_object, range, uapi_run_bind_object, R(0, 0), V(OBJECT_PAGES *PAGE, 0),
	    V((OBJECT_PAGES + 1) * PAGE, -EINVAL)),
	OUT(gem_bind_object, object_handle, uapi_run_bind_object),
	ZERO(gem_bind_object, pad, uapi_run_bind_object),

	ZERO(queue_create, flags, uapi_run_queue_create),
	ID(queue_create, vm_id, uapi_run_queue_create),
	ROW(queue_create, priority, uapi_run_queue_create, R(0, 0), V(DRM_ASAHI_PRIORITY_LOW, 0),
	    V(DRM_ASAHI_PRIORITY_REALTIME + 1, -EINVAL)),
	OUT(queue_create, queue_id, uapi_run_queue_create),
	/* handed on: no work, no harm */
	ROW(queue_create, usc_exec_base, uapi_run_queue_create, R(0, 0), V(0, 0), V(ALL_ONES, 0)),
	ID(queue_destroy, queue_id, uapi_run_queue_destroy),
	ZERO(queue_destroy, pad, uapi_run_queue_destroy),

	ROW(submit, syncs, uapi_run_submit, R(0, 0), R(2 * sizeof(struct drm_asahi_sync), 0),
	    R(2 * sizeof(struct drm_asahi_sync) + 8, -EFAULT)),
	ROW(submit, cmdbuf, uapi_run_submit, R(0, 0),
	    R(sizeof(((struct submission *)0)->commands), 0),
	    R(sizeof(((struct submission *)0)->commands) + 8, -EFAULT)),
	ZERO(submit, flags, uapi_run_submit),
	ID(submit, queue_id, uapi_run_submit),
	ROW(submit, in_sync_count, uapi_run_submit, R(0, 0), V(0, 0), V(4096, -EINVAL)),
	ROW(submit, out_sync_count, uapi_run_submit, R(0, 0), V(0, 0), V(4096, -EINVAL)),
	ROW(submit, cmdbuf_size, uapi_run_submit, R(0, 0), R(-1, -EINVAL), V(0, -EINVAL)),
	ZERO(submit, pad, uapi_run_submit),

	ROW(sync, sync_type, uapi_run_sync, R(0, 0), V(2, -EINVAL), V(ALL_ONES, -EINVAL)),
	ID(sync, handle, uapi_run_sync),
	ZERO(sync, timeline_value, uapi_run_sync),

	ROW(cmd_header, cmd_type, uapi_run_header, R(0, 0), V(5, -EINVAL), V(ALL_ONES, -EINVAL)),
	ROW(cmd_header, size, uapi_run_header, R(0, 0), R(-sizeof(struct drm_asahi_timestamps), 0),
	    R(1, -EINVAL)),
	ROW(cmd_header, vdm_barrier, uapi_run_header, R(0, 0), V(1, 0), V(2, -EINVAL)),
	ROW(cmd_header, cdm_barrier, uapi_run_header, R(0, 0), V(0, 0), V(1, -EINVAL)),

	ROW(attachment, pointer, uapi_run_attachment, R(0, 0), V(0, 0), V(ALL_ONES, 0)),
	ROW(attachment, size, uapi_run_attachment, R(0, 0), V(0x7fffffff80, 0),
	    V(0x7fffffff81, -EINVAL)),
	ZERO(attachment, pad, uapi_run_attachment),
	ZERO(attachment, flags, uapi_run_attachment),

	ROW(cmd_render, flags, uapi_run_render, R(0, 0), V(DRM_ASAHI_RENDER_DBIAS_IS_INT, 0),
	    V(DRM_ASAHI_RENDER_DBIAS_IS_INT << 1, -EINVAL)),
	HANDED(cmd_render, isp_zls_pixels, uapi_run_render),
	ADDRESS(cmd_render, vdm_ctrl_stream_base, uapi_run_render),
	HELPER(cmd_render, vertex_helper, uapi_run_render),
	HELPER(cmd_render, fragment_helper, uapi_run_render),
	ADDRESS(cmd_render, isp_scissor_base, uapi_run_render),
	ADDRESS(cmd_render, isp_dbias_base, uapi_run_render),
	ADDRESS(cmd_render, isp_oclqry_base, uapi_run_render),
	ZLS(cmd_render, depth, uapi_run_render),
	ZLS(cmd_render, stencil, uapi_run_render),
	HANDED(cmd_render, zls_ctrl, uapi_run_render),
	HANDED(cmd_render, ppp_multisamplectl, uapi_run_render),
	ADDRESS(cmd_render, sampler_heap, uapi_run_render),
	HANDED(cmd_render, ppp_ctrl, uapi_run_render),
	ROW(cmd_render, width_px, uapi_run_render, R(0, 0), V(16384, 0), V(16385, -EINVAL)),
	ROW(cmd_render, height_px, uapi_run_render, R(0, 0), V(16384, 0), V(16385, -EINVAL)),
	ROW(cmd_render, layers, uapi_run_render, R(0, 0), V(2048, 0), V(2049, -EINVAL)),
	HANDED(cmd_render, sampler_count, uapi_run_render),
	ROW(cmd_render, utile_width_px, uapi_run_render, R(0, 0), V(16, -EINVAL), V(64, -EINVAL)),
	ROW(cmd_render, utile_height_px, uapi_run_render, R(0, 0), V(16, 0), V(8, -EINVAL)),
	ROW(cmd_render, samples, uapi_run_render, R(0, 0), V(4, 0), V(8, -EINVAL)),
	ROW(cmd_render, sample_size_B, uapi_run_render, R(0, 0), V(31, 0), V(32, -EINVAL)),
	HANDED(cmd_render, isp_merge_upper_x, uapi_run_render),
	HANDED(cmd_render, isp_merge_upper_y, uapi_run_render),
	PROGRAM(cmd_render, bg, uapi_run_render),
	PROGRAM(cmd_render, eot, uapi_run_render),
	PROGRAM(cmd_render, partial_bg, uapi_run_render),
	PROGRAM(cmd_render, partial_eot, uapi_run_render),
	HANDED(cmd_render, isp_bgobjdepth, uapi_run_render),
	HANDED(cmd_render, isp_bgobjvals, uapi_run_render),
	TIMES(cmd_render, ts_vtx, uapi_run_render),
	TIMES(cmd_render, ts_frag, uapi_run_render),

	ZERO(cmd_compute, flags, uapi_run_compute),
	HANDED(cmd_compute, sampler_count, uapi_run_compute),
	ADDRESS(cmd_compute, cdm_ctrl_stream_base, uapi_run_compute),
	ADDRESS(cmd_compute, cdm_ctrl_stream_end, uapi_run_compute),
	ADDRESS(cmd_compute, sampler_heap, uapi_run_compute),
	HELPER(cmd_compute, helper, uapi_run_compute),
	TIMES(cmd_compute, ts, uapi_run_compute),
};

static bool uapi_as_expected(int err, int expected)
{
	if (expected == ANY)
		return err == 0 || err == -EIO || err == -ETIMEDOUT;
	return err == expected;
}

static void uapi_run_value(const struct row *row, const struct value *value)
{
	static const char *const bases[] = {
		[FROM_ZERO] = "", [FROM_RIGHT] = "plus ", [FROM_END] = "of vm_end plus ",
	};
	const struct change change = {
		.offset = row->offset,
		.bytes = row->bytes,
		.value = *value,
	};
	const int err = row->run(&change);

	igt_assert_f(uapi_as_expected(err, value->expected), "%s %s0x%llx: %d, not %d\n", row->name,
		     bases[value->base], (unsigned long long)value->value, err, value->expected);
}

static void uapi_run_row(const struct row *row)
{
	static const struct value as_is = R(0, 0);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(row->values); i++)
		uapi_run_value(row, &row->values[i]);
	/* and nothing of that has done any harm */
	uapi_run_value(row, &as_is);
}

/* Parameters: what they may be, and which part of them is written */

struct param {
	const char *name;
	size_t offset;
	size_t bytes;
	uint64_t least;
	uint64_t most;
};

#define PARAM(member, least, most)					\
	{ "params_global." #member,					\
	  offsetof(struct drm_asahi_params_global, member),		\
	  sizeof(((struct drm_asahi_params_global *)0)->member), least, most }

static const struct param uapi_params[] = {
	PARAM(features, 0, DRM_ASAHI_FEATURE_SOFT_FAULTS),
	PARAM(gpu_generation, 13, 14),
	PARAM(gpu_variant, 'A', 'Z'),
	PARAM(gpu_revision, 0, 0xff),
	PARAM(chip_id, 0x6000, 0x8fff),
	PARAM(num_dies, 1, 4),
	PARAM(num_clusters_total, 1, DRM_ASAHI_MAX_CLUSTERS),
	PARAM(num_cores_per_cluster, 1, 63),
	PARAM(max_frequency_khz, 100000, 10000000),
	/* the first of them */
	PARAM(core_masks, 1, INT64_MAX),
	PARAM(vm_start, PAGE, 1ULL << 32),
	PARAM(vm_end, 1ULL << 38, 1ULL << 39),
	PARAM(vm_kernel_min_size, PAGE, 1ULL << 38),
	PARAM(max_commands_per_submission, 64, 64),
	PARAM(max_attachments, 16, 16),
	PARAM(command_timestamp_frequency_hz, 1, 10000000000ULL),
};

static void uapi_run_param(const struct param *param)
{
	const size_t end = param->offset + param->bytes;
	uint8_t got[sizeof(uapi_rig.params)];
	uint8_t old[sizeof(uapi_rig.params)];
	uint64_t value = 0;

	memcpy(&value, (uint8_t *)&uapi_rig.params + param->offset,
	       param->bytes < sizeof(value) ? param->bytes : sizeof(value));
	igt_assert_lte_u64(param->least, value);
	igt_assert_lte_u64(value, param->most);

	/* It is the last that is asked for: */
	memset(old, 0xaa, sizeof(old));
	memcpy(got, old, sizeof(got));
	igt_asahi_get_params(uapi_rig.client->fd, 0, got, end, 0);
	igt_assert(!memcmp(got, &uapi_rig.params, end));
	igt_assert(!memcmp(got + end, old + end, sizeof(got) - end));

	/* or the first that is not. */
	memcpy(got, old, sizeof(got));
	igt_asahi_get_params(uapi_rig.client->fd, 0, got, param->offset, 0);
	igt_assert(!memcmp(got + param->offset, old + param->offset, sizeof(got) - param->offset));
}

static uint32_t uapi_bind_times(void)
{
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_BIND,
		.flags = DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS,
		.handle = uapi_rig.handle,
		.range = PAGE,
	};

	do_ioctl(uapi_rig.client->fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);
	return args.object_handle;
}

static void uapi_set_times(struct drm_asahi_timestamps *ts)
{
	ts->start.handle = uapi_rig.times;
	ts->end.handle = uapi_rig.times;
	ts->end.offset = 8;
}

static void uapi_rig_init(int fd)
{
	static const uint32_t end[] = { 2u << 29, 0 };
	const size_t page = sysconf(_SC_PAGESIZE);

	uapi_rig.client = igt_asahi_client_open(fd);
	igt_asahi_get_params(uapi_rig.client->fd, 0, &uapi_rig.params, sizeof(uapi_rig.params), 0);
	uapi_rig.handle = igt_asahi_gem_create(uapi_rig.client->fd, OBJECT_PAGES * PAGE, 0, 0, 0);
	uapi_rig.times = uapi_bind_times();
	uapi_rig.signalled = syncobj_create(uapi_rig.client->fd, DRM_SYNCOBJ_CREATE_SIGNALED);
	uapi_rig.render = igt_asahi_render(uapi_rig.client, 64);
	uapi_rig.compute = igt_asahi_command_words(uapi_rig.client, end, ARRAY_SIZE(end));
	uapi_set_times(&uapi_rig.render.render.ts_vtx);
	uapi_set_times(&uapi_rig.render.render.ts_frag);
	uapi_set_times(&uapi_rig.compute.compute.ts);

	uapi_rig.edge =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	igt_assert(uapi_rig.edge != MAP_FAILED);
	uapi_rig.edge += page;
	igt_assert_eq(mprotect(uapi_rig.edge, page, PROT_NONE), 0);
}

/* Names of subtests have no dots. */
static const char *uapi_subtest(const char *field)
{
	static char name[96];
	char *dot;

	snprintf(name, sizeof(name), "%s", field);
	while ((dot = strchr(name, '.')))
		*dot = '-';
	return name;
}

int igt_main()
{
	unsigned int i;
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
		uapi_rig_init(fd);
	}

	igt_describe("Each parameter has a value that a GPU can have, and is written as a whole.");
	for (i = 0; i < ARRAY_SIZE(uapi_params); i++) {
		igt_subtest(uapi_subtest(uapi_params[i].name)) {
			uapi_run_param(&uapi_params[i]);
		}
	}

	igt_describe("Each field with a right value, one at the border, and a wrong one.");
	for (i = 0; i < ARRAY_SIZE(uapi_rows); i++) {
		igt_subtest(uapi_subtest(uapi_rows[i].name)) {
			uapi_run_row(&uapi_rows[i]);
		}
	}

	igt_fixture() {
		igt_asahi_clients_close();
		drm_close_driver(fd);
	}
}
