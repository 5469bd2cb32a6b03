// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <string.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi render
 * Description: Render commands that SUBMIT refuses, and their errors; and the forms that
 *	it has to accept. Nothing is drawn, and no shader has to run.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: arguments
 * Test category: functionality test
 *
 * SUBTEST: %s
 * Description: A render command, the part of which that the name says is wrong or
 *	unusual.
 *
 * SUBTEST: time-%s
 * Description: Each of a render's four times has to be in what is bound, whole and aligned.
 * arg[1]:
 * @unknown: in what is not bound
 * @beyond: behind the end
 * @unaligned: in the middle of a word
 *
 * SUBTEST: times-between-get-times
 * Description: The times of a render lie between those that GET_TIME tells before and
 *	after it, in their order.
 *
 * SUBTEST: fault
 * Description: A render whose stream is not there ends its queue, and no other.
 *
 * SUBTEST: works-afterwards
 * Description: Nothing of all that has done a queue any harm.
 *
 * SUBTEST: allocations-fail
 * Description: Each allocation of a SUBMIT with a render fails in its turn.
 */

#define MAX_COMMANDS	64
#define MAX_ATTACHMENTS	16
#define BUFFER_BYTES	65536

#define NONE		DRM_ASAHI_BARRIER_NONE
#define ATT_BYTES	sizeof(struct drm_asahi_attachment)
#define RENDER_BYTES	sizeof(struct drm_asahi_cmd_render)

/**
 * struct rig - what the subtests share
 * @client: the client
 * @compute: a compute command that does nothing
 * @render: a render that draws nothing
 * @object: a page for times
 * @times: the same for the CPU
 * @syncobj: to be signalled
 * @buffer: where command buffers are put together
 * @used: bytes of it
 */
struct rig {
	struct asahi_client *client;
	struct drm_asahi_cmd_compute compute;
	struct drm_asahi_cmd_render render;
	uint32_t object;
	const volatile uint64_t *times;
	uint32_t syncobj;
	_Alignas(8) uint8_t buffer[BUFFER_BYTES];
	uint32_t used;
};

static void *render_add(struct rig *rig, unsigned int type, const void *payload, size_t size,
			unsigned int vdm, unsigned int cdm)
{
	const struct drm_asahi_cmd_header header = {
		.cmd_type = type,
		.size = size,
		.vdm_barrier = vdm,
		.cdm_barrier = cdm,
	};
	uint8_t *pos = rig->buffer + rig->used;

	rig->used += sizeof(header) + size;
	igt_assert_lte(rig->used, BUFFER_BYTES);
	memcpy(pos, &header, sizeof(header));
	return memcpy(pos + sizeof(header), payload, size);
}

static struct drm_asahi_cmd_render *render_add_render(struct rig *rig, unsigned int vdm,
						      unsigned int cdm)
{
	return render_add(rig, DRM_ASAHI_CMD_RENDER, &rig->render, RENDER_BYTES, vdm, cdm);
}

static void render_add_compute(struct rig *rig, unsigned int vdm, unsigned int cdm)
{
	render_add(rig, DRM_ASAHI_CMD_COMPUTE, &rig->compute, sizeof(rig->compute), vdm, cdm);
}

/* Return: what SUBMIT says, or else how the commands ended */
static int render_submit(struct rig *rig)
{
	const int fd = rig->client->fd;
	const struct drm_asahi_sync out = { .handle = rig->syncobj };
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)&out,
		.out_sync_count = 1,
		.cmdbuf = (uintptr_t)rig->buffer,
		.cmdbuf_size = rig->used,
		.queue_id = rig->client->queue,
	};

	if (drmIoctl(fd, DRM_IOCTL_ASAHI_SUBMIT, &args))
		return -errno;
	return igt_asahi_wait(fd, rig->syncobj);
}

/* Fields of the command, each with values that are right and wrong */

#define FIELD(name) \
	offsetof(struct drm_asahi_cmd_render, name), \
		sizeof(((struct drm_asahi_cmd_render *)NULL)->name)

static const struct {
	const char *name;
	size_t offset;
	size_t bytes;
	uint64_t value;
	int expected;
} render_fields[] = {
	{ "width-0", FIELD(width_px), 0, -EINVAL },
	{ "width-1", FIELD(width_px), 1, 0 },
	{ "width-most", FIELD(width_px), 16384, 0 },
	{ "width-too-much", FIELD(width_px), 16385, -EINVAL },
	{ "width-65535", FIELD(width_px), 65535, -EINVAL },
	{ "height-0", FIELD(height_px), 0, -EINVAL },
	{ "height-1", FIELD(height_px), 1, 0 },
	{ "height-most", FIELD(height_px), 16384, 0 },
	{ "height-too-much", FIELD(height_px), 16385, -EINVAL },
	{ "height-65535", FIELD(height_px), 65535, -EINVAL },
	{ "layers-0", FIELD(layers), 0, -EINVAL },
	{ "layers-2", FIELD(layers), 2, 0 },
	{ "layers-most", FIELD(layers), 2048, 0 },
	{ "layers-too-many", FIELD(layers), 2049, -EINVAL },
	{ "layers-65535", FIELD(layers), 65535, -EINVAL },
	{ "samples-0", FIELD(samples), 0, -EINVAL },
	{ "samples-2", FIELD(samples), 2, 0 },
	{ "samples-3", FIELD(samples), 3, -EINVAL },
	{ "samples-4", FIELD(samples), 4, 0 },
	{ "samples-8", FIELD(samples), 8, -EINVAL },
	{ "samples-255", FIELD(samples), 255, -EINVAL },
	{ "sample-size-0", FIELD(sample_size_B), 0, 0 },
	/* with tiles of 32 by 32, 32 KiB are too much by a byte */
	{ "sample-size-most", FIELD(sample_size_B), 31, 0 },
	{ "sample-size-too-much", FIELD(sample_size_B), 32, -EINVAL },
	{ "sample-size-255", FIELD(sample_size_B), 255, -EINVAL },
	{ "tile-width-0", FIELD(utile_width_px), 0, -EINVAL },
	{ "tile-width-8", FIELD(utile_width_px), 8, -EINVAL },
	{ "tile-width-16", FIELD(utile_width_px), 16, -EINVAL },
	{ "tile-width-64", FIELD(utile_width_px), 64, -EINVAL },
	{ "tile-width-255", FIELD(utile_width_px), 255, -EINVAL },
	{ "tile-height-0", FIELD(utile_height_px), 0, -EINVAL },
	{ "tile-height-8", FIELD(utile_height_px), 8, -EINVAL },
	{ "tile-height-16", FIELD(utile_height_px), 16, 0 },
	{ "tile-height-64", FIELD(utile_height_px), 64, -EINVAL },
	{ "tile-height-255", FIELD(utile_height_px), 255, -EINVAL },
	{ "flag-vertex-scratch", FIELD(flags), DRM_ASAHI_RENDER_VERTEX_SCRATCH, 0 },
	{ "flag-process-empty-tiles", FIELD(flags), DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES, 0 },
	{ "flag-no-vertex-clustering", FIELD(flags), DRM_ASAHI_RENDER_NO_VERTEX_CLUSTERING, 0 },
	{ "flag-depth-bias-is-int", FIELD(flags), DRM_ASAHI_RENDER_DBIAS_IS_INT, 0 },
	{ "flag-3", FIELD(flags), 1 << 3, -EINVAL },
	{ "flag-17", FIELD(flags), 1 << 17, -EINVAL },
	{ "flag-31", FIELD(flags), 1u << 31, -EINVAL },
	{ "flags-all", FIELD(flags), UINT32_MAX, -EINVAL },
	{ "clear-values", FIELD(isp_bgobjvals), 0x300, 0 },
};

static int render_field(struct rig *rig, unsigned int i)
{
	memcpy((uint8_t *)render_add_render(rig, NONE, NONE) + render_fields[i].offset,
	       &render_fields[i].value, render_fields[i].bytes);
	return render_submit(rig);
}

/* Commands that are shorter and longer than ours, and several of them */

static int render_plain(struct rig *rig)
{
	render_add_render(rig, NONE, NONE);
	return render_submit(rig);
}

static int render_without_anything(struct rig *rig)
{
	render_add(rig, DRM_ASAHI_CMD_RENDER, "", 0, NONE, NONE);
	return render_submit(rig);
}

static int render_without_times(struct rig *rig)
{
	render_add(rig, DRM_ASAHI_CMD_RENDER, &rig->render,
		   offsetof(struct drm_asahi_cmd_render, ts_vtx), NONE, NONE);
	return render_submit(rig);
}

static int render_longer(struct rig *rig, uint8_t tail)
{
	uint8_t bytes[RENDER_BYTES + 33] = { 0 };

	memcpy(bytes, &rig->render, RENDER_BYTES);
	bytes[RENDER_BYTES + 32] = tail;
	render_add(rig, DRM_ASAHI_CMD_RENDER, bytes, sizeof(bytes), NONE, NONE);
	return render_submit(rig);
}

static int render_longer_zero(struct rig *rig)
{
	return render_longer(rig, 0);
}

static int render_longer_other(struct rig *rig)
{
	return render_longer(rig, 1);
}

static int render_truncated(struct rig *rig)
{
	render_add_render(rig, NONE, NONE);
	rig->used--;
	return render_submit(rig);
}

static int render_small_tiles(struct rig *rig)
{
	struct drm_asahi_cmd_render *cmd = render_add_render(rig, NONE, NONE);

	cmd->utile_width_px = 16;
	cmd->utile_height_px = 16;
	cmd->samples = 4;
	cmd->sample_size_B = 24;
	return render_submit(rig);
}

/* 4 samples of 8 bytes are as much as one of 32. */
static int render_too_many_samples(struct rig *rig)
{
	struct drm_asahi_cmd_render *cmd = render_add_render(rig, NONE, NONE);

	cmd->samples = 4;
	cmd->sample_size_B = 8;
	return render_submit(rig);
}

/*
 * What is the hardware's business only. It may run programs that are not there, after
 * which the queue goes on.
 */
static int render_handed_on(struct rig *rig)
{
	const struct drm_asahi_helper_program helper = { .binary = 0x81, .cfg = 1, .data = 1 };
	struct drm_asahi_cmd_render *cmd = render_add_render(rig, NONE, NONE);
	int err;

	cmd->vertex_helper = helper;
	cmd->fragment_helper = helper;
	cmd->isp_zls_pixels = 31 | 31 << 15;
	cmd->depth.stride = 1;
	cmd->depth.comp_stride = 1 << 14;
	cmd->stencil.stride = 1;
	cmd->stencil.comp_stride = 1 << 14;
	cmd->zls_ctrl = 2ULL << 25;
	cmd->ppp_ctrl = 0x202;
	cmd->ppp_multisamplectl = 0x44cc;
	cmd->sampler_count = 7;
	cmd->isp_merge_upper_x = 0x42dd0000;
	cmd->isp_merge_upper_y = 0x42dd0000;
	cmd->isp_bgobjdepth = 0x3f800000;
	err = render_submit(rig);
	if (err && err != -EIO)
		return err;
	rig->used = 0;
	return render_plain(rig);
}

static int render_renders(struct rig *rig, unsigned int count, unsigned int computes)
{
	while (count--)
		render_add_render(rig, NONE, NONE);
	while (computes--)
		render_add_compute(rig, NONE, NONE);
	return render_submit(rig);
}

static int render_most(struct rig *rig)
{
	return render_renders(rig, MAX_COMMANDS, 0);
}

static int render_too_many(struct rig *rig)
{
	return render_renders(rig, MAX_COMMANDS + 1, 0);
}

static int render_too_many_together(struct rig *rig)
{
	return render_renders(rig, MAX_COMMANDS / 2, MAX_COMMANDS / 2 + 1);
}

/* The last of several is wrong: none of them runs. */
static int render_last_is_bad(struct rig *rig)
{
	render_add_render(rig, NONE, NONE);
	render_add_compute(rig, NONE, NONE);
	render_add_render(rig, NONE, NONE)->layers = 0;
	return render_submit(rig);
}

/* Barriers */

static int render_barrier_own(struct rig *rig)
{
	render_add_render(rig, 1, NONE);
	return render_submit(rig);
}

static int render_barrier_future(struct rig *rig)
{
	render_add_render(rig, NONE, NONE);
	render_add_render(rig, 2, NONE);
	render_add_render(rig, NONE, NONE);
	return render_submit(rig);
}

static int render_barrier_no_compute(struct rig *rig)
{
	render_add_render(rig, NONE, NONE);
	render_add_render(rig, NONE, 1);
	return render_submit(rig);
}

static int render_barrier_compute_future(struct rig *rig)
{
	render_add_render(rig, NONE, NONE);
	render_add_compute(rig, 2, NONE);
	return render_submit(rig);
}

static int render_barrier_almost_none(struct rig *rig)
{
	render_add_render(rig, NONE - 1, NONE);
	return render_submit(rig);
}

/* Each of four commands on all that came before it */
static int render_barriers_mixed(struct rig *rig)
{
	render_add_render(rig, 0, 0);
	render_add_compute(rig, 1, 0);
	render_add_render(rig, 1, 1);
	render_add_compute(rig, 2, 1);
	return render_submit(rig);
}

static int render_barriers_all(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < MAX_COMMANDS; i++)
		render_add_render(rig, i, 0);
	return render_submit(rig);
}

/* Attachments */

static int render_attachments(struct rig *rig, unsigned int type, unsigned int count,
			      struct drm_asahi_attachment first)
{
	struct drm_asahi_attachment list[MAX_ATTACHMENTS + 1] = { first };

	render_add(rig, type, list, count * ATT_BYTES, NONE, NONE);
	render_add_render(rig, NONE, NONE);
	return render_submit(rig);
}

static const struct {
	const char *name;
	unsigned int count;
	struct drm_asahi_attachment first;
	int expected;
} render_attachment_tests[] = {
	{ "none", 0, { .pad = 0 }, 0 },
	{ "most", MAX_ATTACHMENTS, { .pad = 0 }, 0 },
	{ "too-many", MAX_ATTACHMENTS + 1, { .pad = 0 }, -EINVAL },
	{ "pad", 1, { .pad = 1 }, -EINVAL },
	{ "flags", 1, { .flags = 1 }, -EINVAL },
	{ "size", 1, { .size = UINT64_MAX }, -EINVAL },
};

static const struct {
	const char *name;
	unsigned int type;
} render_stages[] = {
	{ "vertex", DRM_ASAHI_SET_VERTEX_ATTACHMENTS },
	{ "fragment", DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS },
};

static const struct {
	const char *name;
	int (*run)(struct rig *rig);
	int expected;
} render_tests[] = {
	{ "plain", render_plain, 0 },
	{ "command-empty", render_without_anything, -EINVAL },
	{ "command-short", render_without_times, 0 },
	{ "command-long", render_longer_zero, 0 },
	{ "command-long-with-tail", render_longer_other, -E2BIG },
	{ "command-truncated", render_truncated, -EINVAL },
	{ "tiles-small", render_small_tiles, 0 },
	{ "tile-too-many-samples", render_too_many_samples, -EINVAL },
	{ "handed-on", render_handed_on, 0 },
	{ "commands-most", render_most, 0 },
	{ "commands-too-many", render_too_many, -EINVAL },
	{ "commands-too-many-together", render_too_many_together, -EINVAL },
	{ "command-bad-behind-good", render_last_is_bad, -EINVAL },
	{ "barrier-on-itself", render_barrier_own, -EINVAL },
	{ "barrier-on-the-future", render_barrier_future, -EINVAL },
	{ "barrier-on-no-compute", render_barrier_no_compute, -EINVAL },
	{ "barrier-of-compute-on-the-future", render_barrier_compute_future, -EINVAL },
	{ "barrier-almost-none", render_barrier_almost_none, -EINVAL },
	{ "barriers-mixed", render_barriers_mixed, 0 },
	{ "barriers-on-all-before", render_barriers_all, 0 },
};

/* Times */

static const size_t render_times[] = {
	offsetof(struct drm_asahi_cmd_render, ts_vtx.start),
	offsetof(struct drm_asahi_cmd_render, ts_vtx.end),
	offsetof(struct drm_asahi_cmd_render, ts_frag.start),
	offsetof(struct drm_asahi_cmd_render, ts_frag.end),
};

static const struct {
	const char *name;
	/* added to the handle of what is bound */
	uint32_t other;
	uint32_t offset;
	int expected;
} render_time_tests[] = {
	{ "unknown", 1000, 0, -ENOENT },
	{ "beyond", 0, IGT_ASAHI_PAGE, -ERANGE },
	{ "unaligned", 0, 4, -EINVAL },
};

static void render_test_time(struct rig *rig, unsigned int test)
{
	const struct drm_asahi_timestamp ts = {
		.handle = rig->object + render_time_tests[test].other,
		.offset = render_time_tests[test].offset,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(render_times); i++) {
		rig->used = 0;
		memcpy((uint8_t *)render_add_render(rig, NONE, NONE) + render_times[i], &ts,
		       sizeof(ts));
		igt_assert_eq(render_submit(rig), render_time_tests[test].expected);
	}
}

static uint64_t render_get_time(struct rig *rig)
{
	struct drm_asahi_get_time args = { .flags = 0 };

	igt_asahi_get_time(rig->client->fd, &args, 0);
	return args.gpu_timestamp;
}

static void render_test_times(struct rig *rig)
{
	struct drm_asahi_cmd_render *cmd = render_add_render(rig, NONE, NONE);
	uint64_t before, after;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(render_times); i++) {
		const struct drm_asahi_timestamp ts = { rig->object, i * 8 };

		memcpy((uint8_t *)cmd + render_times[i], &ts, sizeof(ts));
	}
	before = render_get_time(rig);
	igt_assert_eq(render_submit(rig), 0);
	after = render_get_time(rig);
	igt_assert_lte_u64(before, rig->times[0]);
	igt_assert_lte_u64(rig->times[0], rig->times[1]);
	igt_assert_lte_u64(before, rig->times[2]);
	igt_assert_lte_u64(rig->times[2], rig->times[3]);
	/* what is drawn was sorted into tiles before */
	igt_assert_lte_u64(rig->times[1], rig->times[3]);
	igt_assert_lte_u64(rig->times[3], after);
}

/* The fence says that the stream is not there. The queue works, and so does a new one. */
static void render_test_fault(struct rig *rig)
{
	struct asahi_client *client = rig->client;

	render_add_render(rig, NONE, NONE)->vdm_ctrl_stream_base = ASAHI_UNMAPPED;
	igt_assert_eq(render_submit(rig), -EIO);
	rig->used = 0;
	igt_assert_eq(render_plain(rig), 0);
	igt_asahi_queue_destroy(client->fd, client->queue, 0);
	client->queue = igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM,
					       0);
	rig->used = 0;
	igt_assert_eq(render_plain(rig), 0);
}

static void render_undo_submit(int fd, const void *arg)
{
	const struct drm_asahi_submit *args = arg;
	const struct drm_asahi_sync *out = (void *)(uintptr_t)args->syncs;

	igt_assert_eq(igt_asahi_wait(fd, out->handle), 0);
}

static void render_test_allocations_fail(struct rig *rig)
{
	const int fd = rig->client->fd;
	const struct drm_asahi_sync out = { .handle = rig->syncobj };
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)&out,
		.out_sync_count = 1,
		.cmdbuf = (uintptr_t)rig->buffer,
		.queue_id = rig->client->queue,
	};

	/* The first submission allocates memory for all later ones, which stays. */
	igt_assert_eq(render_barriers_mixed(rig), 0);
	args.cmdbuf_size = rig->used;
	igt_asahi_fail_allocations(fd, DRM_IOCTL_ASAHI_SUBMIT, &args, render_undo_submit);
	rig->used = 0;
	igt_assert_eq(render_plain(rig), 0);
}

/*
 * A program that does nothing at the start or the end of a tile, for which it has 32 by
 * 32 pixels with 8 bytes each.
 */
static struct drm_asahi_bg_eot render_tile_program(struct rig *rig)
{
	/* "stop", and a trap behind it */
	const uint32_t stop[] = { 0x00080088, 0x00080008 };
	const uint32_t code =
		igt_asahi_command_words(rig->client, stop, ARRAY_SIZE(stop))
			.compute.cdm_ctrl_stream_base - IGT_ASAHI_USC_BASE;
	/* what is shared, the shader, its registers, properties of fragments, the end */
	const uint32_t words[] = {
		0x4d | 1 << 8 | 0x2f << 10 | 1 << 20 | 32 << 24,
		0x0d | code << 16,
		code >> 16 | 0x018du << 16,
		0xf358u << 16,
		0x0002 | 0x0088 << 16,
	};
	const uint64_t addr = igt_asahi_command_words(rig->client, words, ARRAY_SIZE(words))
				      .compute.cdm_ctrl_stream_base;

	/* the counts of a program that has nothing, and what Mesa has besides */
	return (struct drm_asahi_bg_eot){
		.usc = (addr - IGT_ASAHI_USC_BASE) | 4,
		.rsrc_spec = 0xffff1012,
	};
}

static void render_setup(struct rig *rig, int fd)
{
	/* Streams that end at once, of both kinds */
	const uint32_t cdm[] = { 2u << 29, 0 };
	const uint32_t vdm[8] = { 6u << 29 };
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_BIND,
		.flags = DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS,
		.range = IGT_ASAHI_PAGE,
	};
	struct asahi_command command;

	rig->client = igt_asahi_client_open(fd);
	rig->compute = igt_asahi_command_words(rig->client, cdm, ARRAY_SIZE(cdm)).compute;
	command = igt_asahi_command_words(rig->client, vdm, ARRAY_SIZE(vdm));
	rig->render = (struct drm_asahi_cmd_render){
		.vdm_ctrl_stream_base = command.compute.cdm_ctrl_stream_base,
		/* what Mesa has in each command */
		.ppp_ctrl = 0x202,
		.ppp_multisamplectl = 0x88,
		.isp_zls_pixels = 63 | 63 << 15,
		.isp_bgobjvals = 0x300,
		.width_px = 64,
		.height_px = 64,
		.layers = 1,
		.utile_width_px = 32,
		.utile_height_px = 32,
		.samples = 1,
		.sample_size_B = 4,
		.bg = render_tile_program(rig),
		.eot = render_tile_program(rig),
		.partial_bg = render_tile_program(rig),
		.partial_eot = render_tile_program(rig),
	};
	rig->syncobj = syncobj_create(rig->client->fd, 0);
	args.handle = igt_asahi_gem_create(rig->client->fd, IGT_ASAHI_PAGE, 0, 0, 0);
	rig->times = igt_asahi_gem_mmap(rig->client->fd, args.handle, IGT_ASAHI_PAGE);
	do_ioctl(rig->client->fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);
	rig->object = args.object_handle;
}

int igt_main()
{
	static struct rig rig;
	unsigned int i, j;
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
		render_setup(&rig, fd);
	}

	igt_describe("Commands that are wrong or unusual.");
	for (i = 0; i < ARRAY_SIZE(render_tests); i++) {
		igt_subtest(render_tests[i].name) {
			rig.used = 0;
			igt_assert_eq(render_tests[i].run(&rig), render_tests[i].expected);
		}
	}

	igt_describe("Fields with values that are wrong or unusual.");
	for (i = 0; i < ARRAY_SIZE(render_fields); i++) {
		igt_subtest(render_fields[i].name) {
			rig.used = 0;
			igt_assert_eq(render_field(&rig, i), render_fields[i].expected);
		}
	}

	igt_describe("Attachments of both stages.");
	for (i = 0; i < ARRAY_SIZE(render_stages); i++) {
		for (j = 0; j < ARRAY_SIZE(render_attachment_tests); j++) {
			igt_subtest_f("%s-attachments-%s", render_stages[i].name,
				      render_attachment_tests[j].name) {
				rig.used = 0;
				igt_assert_eq(render_attachments(&rig, render_stages[i].type,
								 render_attachment_tests[j].count,
								 render_attachment_tests[j].first),
					      render_attachment_tests[j].expected);
			}
		}
	}

	igt_describe("Times, in what is bound and elsewhere.");
	for (i = 0; i < ARRAY_SIZE(render_time_tests); i++) {
		igt_subtest_f("time-%s", render_time_tests[i].name)
			render_test_time(&rig, i);
	}
	igt_subtest("times-between-get-times") {
		rig.used = 0;
		render_test_times(&rig);
	}

	igt_describe("Each allocation fails in its turn, where the kernel can do that.");
	igt_subtest("allocations-fail") {
		rig.used = 0;
		render_test_allocations_fail(&rig);
	}

	igt_describe("A render whose stream is not there ends its queue, and no other.");
	igt_subtest("fault") {
		rig.used = 0;
		render_test_fault(&rig);
	}

	igt_describe("Nothing of all that has done a queue any harm.");
	igt_subtest("works-afterwards") {
		rig.used = 0;
		igt_assert_eq(render_barriers_mixed(&rig), 0);
	}

	igt_fixture() {
		igt_asahi_clients_close();
		drm_close_driver(fd);
	}
}
