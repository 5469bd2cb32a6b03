// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <string.h>
#include <xf86drm.h>

#include "fixture.h"

static const struct asahi_shim_call *last_submit(void)
{
	return asahi_shim_call(DRM_IOCTL_ASAHI_SUBMIT, -1);
}

static void test_commands(void **state)
{
	static const struct drm_asahi_attachment attachments[2] = {
		{ .pointer = 0x10000, .size = 0x4000 },
		{ .pointer = 0x20000, .size = 0x8000 },
	};
	static const struct drm_asahi_cmd_compute first = { .cdm_ctrl_stream_base = 0x1000 };
	static const struct drm_asahi_cmd_compute second = { .cdm_ctrl_stream_base = 0x2000 };
	const struct asahi_shim_command *commands;
	const struct fixture *f = *state;

	asahi_submit_attachments(f->submit, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, attachments, 2);
	asahi_submit_compute(f->submit, &first, ASAHI_BARRIER_NONE);
	asahi_submit_attachments(f->submit, DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS, NULL, 0);
	asahi_submit_compute(f->submit, &second, (struct asahi_barrier){ .vdm = 0, .cdm = 1 });
	assert_int_equal(asahi_submit_flush(f->submit), 0);

	assert_int_equal(last_submit()->in.submit.queue_id, asahi_queue_id(f->queue));
	assert_int_equal(last_submit()->num_commands, 4);
	commands = last_submit()->commands;
	assert_int_equal(commands[0].header.cmd_type, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS);
	assert_int_equal(commands[0].header.vdm_barrier, DRM_ASAHI_BARRIER_NONE);
	assert_int_equal(commands[0].header.cdm_barrier, DRM_ASAHI_BARRIER_NONE);
	assert_int_equal(commands[0].header.size, sizeof(attachments));
	assert_memory_equal(commands[0].payload, attachments, sizeof(attachments));
	assert_int_equal(commands[1].header.cmd_type, DRM_ASAHI_CMD_COMPUTE);
	assert_int_equal(commands[1].header.vdm_barrier, DRM_ASAHI_BARRIER_NONE);
	assert_int_equal(commands[1].header.cdm_barrier, DRM_ASAHI_BARRIER_NONE);
	assert_int_equal(commands[1].header.size, sizeof(first));
	assert_memory_equal(commands[1].payload, &first, sizeof(first));
	assert_int_equal(commands[2].header.cmd_type, DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS);
	assert_int_equal(commands[2].header.size, 0);
	assert_int_equal(commands[3].header.vdm_barrier, 0);
	assert_int_equal(commands[3].header.cdm_barrier, 1);
	assert_memory_equal(commands[3].payload, &second, sizeof(second));

	/* empty again */
	assert_int_equal(asahi_submit_flush(f->submit), -EINVAL);
	assert_int_equal(last_submit()->in.submit.cmdbuf_size, 0);
}

/* The least that is a render pass */
static const struct drm_asahi_cmd_render small_render = {
	.vdm_ctrl_stream_base = UINT64_C(0x200000000),
	.ppp_ctrl = 0x202,
	.width_px = 64,
	.height_px = 32,
	.layers = 1,
	.utile_width_px = 32,
	.utile_height_px = 32,
	.samples = 1,
	.sample_size_B = 4,
};

static void test_renders(void **state)
{
	static const struct drm_asahi_cmd_compute compute = { .cdm_ctrl_stream_base = 0x1000 };
	static const struct drm_asahi_attachment attachment = { .pointer = 0x10000, .size = 1 };
	struct drm_asahi_cmd_render second = small_render;
	const struct asahi_shim_command *commands;
	const struct fixture *f = *state;

	second.layers = 2;
	asahi_submit_attachments(f->submit, DRM_ASAHI_SET_VERTEX_ATTACHMENTS, &attachment, 1);
	asahi_submit_attachments(f->submit, DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS, &attachment, 1);
	asahi_submit_render(f->submit, &small_render, ASAHI_BARRIER_NONE);
	asahi_submit_compute(f->submit, &compute, (struct asahi_barrier){ .vdm = 1, .cdm = 0 });
	asahi_submit_render(f->submit, &second, (struct asahi_barrier){ .vdm = 1, .cdm = 1 });
	assert_int_equal(asahi_submit_run(f->submit, LONG_TIME), 0);

	assert_int_equal(last_submit()->num_commands, 5);
	commands = last_submit()->commands;
	assert_int_equal(commands[0].header.cmd_type, DRM_ASAHI_SET_VERTEX_ATTACHMENTS);
	assert_int_equal(commands[1].header.cmd_type, DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS);
	assert_memory_equal(commands[1].payload, &attachment, sizeof(attachment));
	assert_int_equal(commands[2].header.cmd_type, DRM_ASAHI_CMD_RENDER);
	assert_int_equal(commands[2].header.size, sizeof(small_render));
	assert_int_equal(commands[2].header.vdm_barrier, DRM_ASAHI_BARRIER_NONE);
	assert_int_equal(commands[2].header.cdm_barrier, DRM_ASAHI_BARRIER_NONE);
	assert_memory_equal(commands[2].payload, &small_render, sizeof(small_render));
	assert_int_equal(commands[3].header.vdm_barrier, 1);
	assert_int_equal(commands[4].header.vdm_barrier, 1);
	assert_int_equal(commands[4].header.cdm_barrier, 1);
	assert_memory_equal(commands[4].payload, &second, sizeof(second));

	/* no tile has such a size */
	second.utile_width_px = 8;
	asahi_submit_render(f->submit, &second, ASAHI_BARRIER_NONE);
	assert_int_equal(asahi_submit_flush(f->submit), -EINVAL);
}

static void test_syncs(void **state)
{
	const struct fixture *f = *state;
	uint32_t in = new_syncobj(f), in_line = new_syncobj(f);
	uint32_t out = new_syncobj(f), out_line = new_syncobj(f);
	const struct drm_asahi_sync expected[4] = {
		{ DRM_ASAHI_SYNC_SYNCOBJ, in, 0 },
		{ DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ, in_line, 7 },
		{ DRM_ASAHI_SYNC_SYNCOBJ, out, 0 },
		{ DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ, out_line, UINT64_C(0x100000011) },
	};
	uint64_t point = 7;

	assert_int_equal(drmSyncobjSignal(f->fd, &in, 1), 0);
	assert_int_equal(drmSyncobjTimelineSignal(f->fd, &in_line, &point, 1), 0);
	/* in the order of the calls, but waits before signals */
	asahi_submit_signal(f->submit, out, 0);
	asahi_submit_wait(f->submit, in, 0);
	asahi_submit_signal(f->submit, out_line, UINT64_C(0x100000011));
	asahi_submit_wait(f->submit, in_line, 7);
	add_command(f);
	assert_int_equal(asahi_submit_flush(f->submit), 0);

	assert_int_equal(last_submit()->in.submit.in_sync_count, 2);
	assert_int_equal(last_submit()->in.submit.out_sync_count, 2);
	assert_memory_equal(last_submit()->syncs, expected, sizeof(expected));
	/* and so they are signalled */
	assert_int_equal(asahi_fence_wait(f->dev, out, LONG_TIME), 0);
	assert_int_equal(drmSyncobjQuery(f->fd, &out_line, &point, 1), 0);
	assert_int_equal(point, UINT64_C(0x100000011));

	destroy_syncobj(f, in);
	destroy_syncobj(f, in_line);
	destroy_syncobj(f, out);
	destroy_syncobj(f, out_line);
}

static void test_raw(void **state)
{
	const struct drm_asahi_cmd_header header = { .cmd_type = 77, .size = 4 };
	const struct fixture *f = *state;

	asahi_submit_raw(f->submit, &header, sizeof(header));
	asahi_submit_raw(f->submit, "abcd", 4);
	assert_int_equal(asahi_submit_flush(f->submit), -EINVAL);
	assert_int_equal(last_submit()->num_commands, 1);
	assert_int_equal(last_submit()->commands[0].header.cmd_type, 77);
	assert_memory_equal(last_submit()->commands[0].payload, "abcd", 4);

	/* more than any kernel takes */
	asahi_submit_raw(f->submit, &header, SIZE_MAX);
	assert_int_equal(asahi_submit_flush(f->submit), -E2BIG);
}

/* The first error stays until the reset. */
static void test_own_error(void **state)
{
	static const struct drm_asahi_attachment attachment = { .size = 1 };
	const struct fixture *f = *state;

	asahi_submit_attachments(f->submit, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, &attachment, 100000);
	asahi_submit_signal(f->submit, 1, 0);
	add_command(f);
	assert_int_equal(asahi_submit_flush(f->submit), -E2BIG);
	assert_int_equal(asahi_submit_run(f->submit, 0), -E2BIG);
	assert_null(last_submit());
	asahi_submit_reset(f->submit);
	add_command(f);
	assert_int_equal(asahi_submit_flush(f->submit), 0);
	assert_int_equal(last_submit()->in.submit.out_sync_count, 0);
}

/* After the kernel's error the same submission can go again. */
static void test_kernel_error(void **state)
{
	const struct fixture *f = *state;
	uint32_t out = new_syncobj(f);

	asahi_submit_signal(f->submit, out, 3);
	add_command(f);
	asahi_shim_fail(DRM_IOCTL_ASAHI_SUBMIT, 1, ENOMEM);
	assert_int_equal(asahi_submit_flush(f->submit), -ENOMEM);
	assert_int_equal(asahi_submit_flush(f->submit), 0);
	assert_int_equal(last_submit()->num_commands, 1);
	assert_int_equal(last_submit()->in.submit.out_sync_count, 1);
	assert_int_equal(last_submit()->syncs[0].timeline_value, 3);
	destroy_syncobj(f, out);
}

static unsigned int syncobjs(void)
{
	struct asahi_shim_objects o;

	asahi_shim_objects(&o);
	return o.syncobjs;
}

static void test_run(void **state)
{
	const struct fixture *f = *state;
	uint32_t out = new_syncobj(f);

	asahi_submit_signal(f->submit, out, 3);
	add_command(f);
	/* what it needs for waiting goes, whatever happens; what it was given stays */
	asahi_shim_fail(DRM_IOCTL_ASAHI_SUBMIT, 1, ENOMEM);
	assert_int_equal(asahi_submit_run(f->submit, LONG_TIME), -ENOMEM);
	assert_int_equal(syncobjs(), 1);
	asahi_shim_fail(DRM_IOCTL_SYNCOBJ_CREATE, 1, ENOMEM);
	assert_int_equal(asahi_submit_run(f->submit, LONG_TIME), -ENOMEM);
	assert_int_equal(syncobjs(), 1);
	assert_int_equal(asahi_submit_run(f->submit, LONG_TIME), 0);
	assert_int_equal(syncobjs(), 1);
	assert_int_equal(last_submit()->in.submit.out_sync_count, 2);
	assert_int_equal(last_submit()->num_commands, 1);
	destroy_syncobj(f, out);
}

static void fail_job(void *priv, struct asahi_shim_job *job)
{
	asahi_shim_job_done(job, *(int *)priv);
}

/* What went wrong is known from the fence, and the queue goes on. */
static void test_failed_job(void **state)
{
	int error = -ETIMEDOUT;
	const struct asahi_shim_backend backend = { .submit = fail_job, .priv = &error };
	const struct fixture *f = *state;

	asahi_shim_set_backend(&backend);
	add_command(f);
	assert_int_equal(asahi_submit_run(f->submit, LONG_TIME), -ETIMEDOUT);
	error = 0;
	add_command(f);
	assert_int_equal(asahi_submit_run(f->submit, LONG_TIME), 0);
	assert_int_equal(syncobjs(), 0);
}

/* Times lie between those that the clock tells before and after. */
static void test_timestamps(void **state)
{
	struct drm_asahi_cmd_compute cmd = { .cdm_ctrl_stream_base = 0x1000 };
	const struct fixture *f = *state;
	uint64_t before, after, *times;
	struct asahi_bo *bo;
	uint32_t object;
	void *map;

	assert_int_equal(asahi_bo_new(f->dev, 2 * PAGE, 0, NULL, &bo), 0);
	assert_int_equal(asahi_bo_map(bo, &map), 0);
	times = map;
	assert_int_equal(asahi_bo_bind_timestamps(bo, PAGE, PAGE + 8, &object), -EINVAL);
	assert_int_equal(asahi_bo_bind_timestamps(bo, PAGE, 2 * PAGE, &object), -EINVAL);
	assert_int_equal(asahi_bo_bind_timestamps(bo, PAGE, PAGE, &object), 0);

	cmd.ts.start = (struct drm_asahi_timestamp){ object, 0 };
	cmd.ts.end = (struct drm_asahi_timestamp){ object, PAGE };
	asahi_submit_compute(f->submit, &cmd, ASAHI_BARRIER_NONE);
	assert_int_equal(asahi_submit_run(f->submit, LONG_TIME), -ERANGE);
	asahi_submit_reset(f->submit);

	cmd.ts.end.offset = 8;
	asahi_submit_compute(f->submit, &cmd, ASAHI_BARRIER_NONE);
	assert_int_equal(asahi_device_get_time(f->dev, &before), 0);
	assert_int_equal(asahi_submit_run(f->submit, LONG_TIME), 0);
	assert_int_equal(asahi_device_get_time(f->dev, &after), 0);
	assert_true(before <= times[PAGE / 8]);
	assert_true(times[PAGE / 8] <= times[PAGE / 8 + 1]);
	assert_true(times[PAGE / 8 + 1] <= after);
	assert_int_equal(times[0], 0);

	assert_int_equal(asahi_device_unbind_timestamps(f->dev, object), 0);
	assert_int_equal(asahi_device_unbind_timestamps(f->dev, object), -ENOENT);
	asahi_submit_compute(f->submit, &cmd, ASAHI_BARRIER_NONE);
	assert_int_equal(asahi_submit_run(f->submit, LONG_TIME), -ENOENT);
	asahi_bo_unref(bo);
}

/* A render has four of them. */
static void test_render_timestamps(void **state)
{
	struct drm_asahi_cmd_render cmd = small_render;
	const struct fixture *f = *state;
	uint64_t before, after, *times;
	struct asahi_bo *bo;
	uint32_t object;
	void *map;

	assert_int_equal(asahi_bo_new(f->dev, PAGE, 0, NULL, &bo), 0);
	assert_int_equal(asahi_bo_map(bo, &map), 0);
	times = map;
	assert_int_equal(asahi_bo_bind_timestamps(bo, 0, PAGE, &object), 0);
	cmd.ts_vtx.start = (struct drm_asahi_timestamp){ object, 0 };
	cmd.ts_vtx.end = (struct drm_asahi_timestamp){ object, 8 };
	cmd.ts_frag.start = (struct drm_asahi_timestamp){ object, 16 };
	cmd.ts_frag.end = (struct drm_asahi_timestamp){ object, PAGE };
	asahi_submit_render(f->submit, &cmd, ASAHI_BARRIER_NONE);
	assert_int_equal(asahi_submit_run(f->submit, LONG_TIME), -ERANGE);
	asahi_submit_reset(f->submit);

	cmd.ts_frag.end.offset = 24;
	asahi_submit_render(f->submit, &cmd, ASAHI_BARRIER_NONE);
	assert_int_equal(asahi_device_get_time(f->dev, &before), 0);
	assert_int_equal(asahi_submit_run(f->submit, LONG_TIME), 0);
	assert_int_equal(asahi_device_get_time(f->dev, &after), 0);
	assert_true(before <= times[0] && times[0] <= times[1] && times[1] <= after);
	assert_true(before <= times[2] && times[2] <= times[3] && times[3] <= after);
	assert_int_equal(asahi_device_unbind_timestamps(f->dev, object), 0);
	asahi_bo_unref(bo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		QUEUE_TEST(test_commands),
		QUEUE_TEST(test_renders),
		QUEUE_TEST(test_syncs),
		QUEUE_TEST(test_raw),
		QUEUE_TEST(test_own_error),
		QUEUE_TEST(test_kernel_error),
		QUEUE_TEST(test_run),
		QUEUE_TEST(test_failed_job),
		QUEUE_TEST(test_timestamps),
		QUEUE_TEST(test_render_timestamps),
	};

	return cmocka_run_group_tests_name("submit", tests, NULL, NULL);
}
