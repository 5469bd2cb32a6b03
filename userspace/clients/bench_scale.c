// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Benches of size: SUBMITs with more in them, many bindings, many address spaces,
 * and what the kernel keeps for an object that nobody uses.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

#include "bench.h"

#define PAGE		UINT64_C(0x4000)
#define BIND_ADDR	UINT64_C(0x2000000000)

#define SHAPE_ROUNDS	100
#define COMMANDS	64
#define SYNCS		8

#define BIND_ROUNDS	3
#define BIND_PAGES	1000
#define MOST_BINDS	10000
/* has no divisor in common with BIND_PAGES */
#define BIND_STRIDE	379

#define TILES		1000
#define TILE_PAGES	4
/* one in a page table */
#define TILE_DISTANCE	(UINT64_C(32) << 20)
#define SPARSE_BYTES	(UINT64_C(64) << 30)
#define SPARSE_ADDR	UINT64_C(0x4000000000)

#define SHAPE_PAUSE_US	5000

#define SPACES		100
#define SWITCH_ROUNDS	10

#define IDLE_OBJECTS	64
#define SETTLE_S	4

/* SUBMITs of several shapes, of which only the ioctl counts */

struct shape {
	const char *name;
	unsigned int renders;
	unsigned int computes;
	/* sync objects to wait for, which have signalled already */
	unsigned int waits;
};

static const struct shape bench_scale_shapes[] = {
	{ "SUBMIT, one render command", 1, 0, 0 },
	{ "SUBMIT, 64 compute commands", 0, COMMANDS, 0 },
	{ "SUBMIT, 64 render commands", COMMANDS, 0, 0 },
	{ "SUBMIT, one compute command and 8 syncs to wait for", 0, 1, SYNCS },
};

static struct {
	struct compute *ctx;
	struct compute_stream stream;
	struct drm_asahi_cmd_compute compute;
	struct compute_buffer vdm;
	struct drm_asahi_cmd_render render;
	struct asahi_submit *submit;
	uint32_t done;
	uint32_t waits[SYNCS];
} bench_scale_kit;

static int bench_scale_kit_syncs(int fd)
{
	unsigned int i;

	if (drmSyncobjCreate(fd, 0, &bench_scale_kit.done))
		return -errno;
	for (i = 0; i < SYNCS; i++) {
		if (drmSyncobjCreate(fd, DRM_SYNCOBJ_CREATE_SIGNALED,
				     &bench_scale_kit.waits[i]))
			return -errno;
	}
	return 0;
}

static int bench_scale_kit_open(struct compute *ctx)
{
	/* the end of a stream */
	static const uint32_t terminate[2] = { 0xc0000000 };
	int err = compute_stream_new(ctx, &bench_scale_kit.stream);

	bench_scale_kit.ctx = ctx;
	if (!err)
		err = compute_stream_end(&bench_scale_kit.stream, &bench_scale_kit.compute);
	if (!err)
		err = compute_buffer_new(ctx, PAGE, &bench_scale_kit.vdm);
	if (err)
		return err;
	memcpy(bench_scale_kit.vdm.map, terminate, sizeof(terminate));
	bench_scale_kit.render = (struct drm_asahi_cmd_render){
		.vdm_ctrl_stream_base = bench_scale_kit.vdm.addr,
		.ppp_ctrl = 0x202,
		.ppp_multisamplectl = 0x88,
		.isp_bgobjvals = 0x300,
		.width_px = 64,
		.height_px = 64,
		.layers = 1,
		.utile_width_px = 32,
		.utile_height_px = 32,
		.samples = 1,
		.sample_size_B = 4,
	};
	err = bench_scale_kit_syncs(asahi_device_fd(ctx->dev));
	return err ? err : asahi_submit_new(ctx->queue, &bench_scale_kit.submit);
}

static void bench_scale_kit_close(void)
{
	int fd = asahi_device_fd(bench_scale_kit.ctx->dev);
	unsigned int i;

	asahi_submit_free(bench_scale_kit.submit);
	for (i = 0; i < SYNCS; i++)
		drmSyncobjDestroy(fd, bench_scale_kit.waits[i]);
	drmSyncobjDestroy(fd, bench_scale_kit.done);
	compute_buffer_free(bench_scale_kit.ctx, &bench_scale_kit.vdm);
	compute_stream_free(&bench_scale_kit.stream);
	memset(&bench_scale_kit, 0, sizeof(bench_scale_kit));
}

static int bench_scale_run_shape(const struct shape *shape, uint64_t *ns)
{
	uint64_t begin;
	unsigned int i;
	int err;

	for (i = 0; i < shape->waits; i++)
		asahi_submit_wait(bench_scale_kit.submit, bench_scale_kit.waits[i], 0);
	for (i = 0; i < shape->renders; i++)
		asahi_submit_render(bench_scale_kit.submit, &bench_scale_kit.render,
				    ASAHI_BARRIER_NONE);
	for (i = 0; i < shape->computes; i++)
		asahi_submit_compute(bench_scale_kit.submit, &bench_scale_kit.compute,
				     ASAHI_BARRIER_NONE);
	asahi_submit_signal(bench_scale_kit.submit, bench_scale_kit.done, 0);
	begin = bench_now_ns();
	err = asahi_submit_flush(bench_scale_kit.submit);
	*ns = bench_now_ns() - begin;
	if (!err)
		err = asahi_fence_wait(bench_scale_kit.ctx->dev, bench_scale_kit.done,
				       COMPUTE_TIMEOUT_NS);
	/* The job's memory is back when the next one is built. */
	usleep(SHAPE_PAUSE_US);
	return err;
}

static int bench_scale_measure_shape(const struct shape *shape)
{
	uint64_t least = UINT64_MAX, ns;
	unsigned int i;
	int err = 0;

	for (i = 0; i < SHAPE_ROUNDS && !err; i++) {
		err = bench_scale_run_shape(shape, &ns);
		if (!err && ns < least)
			least = ns;
	}
	if (err)
		return bench_failed(shape->name, err);
	bench_print(shape->name, (double)least);
	return 0;
}

int bench_shapes(struct compute *ctx)
{
	unsigned int i;
	int err = bench_floor(ctx);

	if (!err)
		err = bench_scale_kit_open(ctx);
	for (i = 0; i < sizeof(bench_scale_shapes) / sizeof(bench_scale_shapes[0]) && !err; i++)
		err = bench_scale_measure_shape(&bench_scale_shapes[i]);
	bench_scale_kit_close();
	return err;
}

/* Pages that are neighbours neither in the buffer nor in the address space */

static struct drm_asahi_gem_bind_op bench_scale_scattered[MOST_BINDS];

static int bench_scale_bind_scattered(struct compute *ctx, unsigned int binds,
				      unsigned int at_a_time)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < binds && !err; i += at_a_time)
		err = asahi_vm_bind(ctx->vm, &bench_scale_scattered[i], at_a_time);
	return err;
}

static int bench_scale_unbind_scattered(struct compute *ctx)
{
	const struct drm_asahi_gem_bind_op op = {
		.flags = DRM_ASAHI_BIND_UNBIND,
		.range = 2 * MOST_BINDS * PAGE,
		.addr = BIND_ADDR,
	};

	return asahi_vm_bind(ctx->vm, &op, 1);
}

/* The cost of one bind: nothing else grows with their number. */
static int bench_scale_measure_scattered(struct compute *ctx, unsigned int binds,
					 unsigned int at_a_time)
{
	uint64_t least = UINT64_MAX, ns;
	char name[80];
	unsigned int i;
	int err = 0;

	snprintf(name, sizeof(name), "VM_BIND, a page of %u in %u ioctls", binds,
		 binds / at_a_time);
	for (i = 0; i < BIND_ROUNDS && !err; i++) {
		const uint64_t begin = bench_now_ns();

		err = bench_scale_bind_scattered(ctx, binds, at_a_time);
		ns = bench_now_ns() - begin;
		if (ns < least)
			least = ns;
		if (!err)
			err = bench_scale_unbind_scattered(ctx);
	}
	if (err)
		return bench_failed(name, err);
	bench_print(name, (double)least / binds);
	return 0;
}

/* Tiles of a sparse range, as Vulkan's sparse images have them */

static struct drm_asahi_gem_bind_op bench_scale_tiles[TILES];

static int bench_scale_sparse(struct compute *ctx, uint32_t handle)
{
	const struct drm_asahi_gem_bind_op op = {
		.flags = handle ? DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_SINGLE_PAGE :
				  DRM_ASAHI_BIND_UNBIND,
		.handle = handle,
		.range = SPARSE_BYTES,
		.addr = SPARSE_ADDR,
	};

	return asahi_vm_bind(ctx->vm, &op, 1);
}

/* Times the tiles' second bind, and the end of the range. */
static int bench_scale_round_of_tiles(struct compute *ctx, uint32_t handle,
				      uint64_t *replace_ns, uint64_t *unbind_ns)
{
	uint64_t begin, ns;
	int err = bench_scale_sparse(ctx, handle);

	if (!err)
		err = asahi_vm_bind(ctx->vm, bench_scale_tiles, TILES);
	begin = bench_now_ns();
	if (!err)
		err = asahi_vm_bind(ctx->vm, bench_scale_tiles, TILES);
	ns = bench_now_ns() - begin;
	*replace_ns = ns < *replace_ns ? ns : *replace_ns;
	begin = bench_now_ns();
	if (!err)
		err = bench_scale_sparse(ctx, 0);
	ns = bench_now_ns() - begin;
	*unbind_ns = ns < *unbind_ns ? ns : *unbind_ns;
	return err;
}

static int bench_scale_measure_tiles(struct compute *ctx, const struct asahi_bo *bo)
{
	uint64_t replace_ns = UINT64_MAX, unbind_ns = UINT64_MAX;
	unsigned int i;
	int err = 0;

	for (i = 0; i < TILES; i++)
		bench_scale_tiles[i] = (struct drm_asahi_gem_bind_op){
			.flags = DRM_ASAHI_BIND_READ,
			.handle = asahi_bo_handle(bo),
			.offset = i * TILE_PAGES % (BIND_PAGES - TILE_PAGES) * PAGE,
			.range = TILE_PAGES * PAGE,
			.addr = SPARSE_ADDR + i * TILE_DISTANCE,
		};
	for (i = 0; i < BIND_ROUNDS && !err; i++)
		err = bench_scale_round_of_tiles(ctx, asahi_bo_handle(bo), &replace_ns,
						 &unbind_ns);
	if (err)
		return bench_failed("binding tiles", err);
	bench_print("VM_BIND, a tile of 1000 replaced in one ioctl", (double)replace_ns / TILES);
	bench_print("unbind, 64 GiB with 1000 tiles", (double)unbind_ns);
	return 0;
}

int bench_binds(struct compute *ctx)
{
	struct asahi_bo *bo = NULL;
	unsigned int i;
	int err = bench_floor(ctx);

	if (!err)
		err = asahi_bo_new(ctx->dev, BIND_PAGES * PAGE, 0, ctx->vm, &bo);
	for (i = 0; i < MOST_BINDS && !err; i++)
		bench_scale_scattered[i] = (struct drm_asahi_gem_bind_op){
			.flags = DRM_ASAHI_BIND_READ,
			.handle = asahi_bo_handle(bo),
			.offset = i * BIND_STRIDE % BIND_PAGES * PAGE,
			.range = PAGE,
			.addr = BIND_ADDR + 2 * i * PAGE,
		};
	/* the page tables are there in all rounds but the first */
	for (i = 1000; i <= MOST_BINDS && !err; i *= 10) {
		err = bench_scale_measure_scattered(ctx, i, i);
		if (!err)
			err = bench_scale_measure_scattered(ctx, i, 1);
	}
	if (!err)
		err = bench_scale_measure_tiles(ctx, bo);
	asahi_bo_unref(bo);
	return err;
}

/* A job in each of many address spaces in turn: more than the MMU has contexts */

struct space {
	struct asahi_vm *vm;
	struct asahi_queue *queue;
	struct asahi_submit *submit;
	struct drm_asahi_cmd_compute cmd;
};

/* A stream that ends at once, where every address space may have it */
static int bench_scale_shared_stream(struct compute *ctx, struct asahi_bo **bo,
				     struct drm_asahi_cmd_compute *cmd)
{
	struct compute_stream stream;
	void *map;
	int err = compute_stream_new(ctx, &stream);

	if (err)
		return err;
	err = compute_stream_end(&stream, cmd);
	if (!err)
		err = asahi_bo_new(ctx->dev, PAGE, 0, NULL, bo);
	if (!err)
		err = asahi_bo_map(*bo, &map);
	if (!err) {
		memcpy(map, stream.buffer.map, PAGE);
		cmd->cdm_ctrl_stream_base += BIND_ADDR - stream.buffer.addr;
		cmd->cdm_ctrl_stream_end += BIND_ADDR - stream.buffer.addr;
	}
	compute_stream_free(&stream);
	return err;
}

static int bench_scale_space_open(struct compute *ctx, const struct asahi_bo *stream,
				  struct space *space)
{
	const struct drm_asahi_gem_bind_op op = {
		.flags = DRM_ASAHI_BIND_READ,
		.handle = asahi_bo_handle(stream),
		.range = PAGE,
		.addr = BIND_ADDR,
	};
	int err = asahi_vm_new(ctx->dev, &space->vm);

	if (!err)
		err = asahi_vm_bind(space->vm, &op, 1);
	if (!err)
		err = asahi_queue_new(space->vm, DRM_ASAHI_PRIORITY_MEDIUM,
				      &space->queue);
	if (!err)
		err = asahi_submit_new(space->queue, &space->submit);
	return err;
}

static void bench_scale_space_close(struct space *space)
{
	asahi_submit_free(space->submit);
	asahi_queue_unref(space->queue);
	asahi_vm_unref(space->vm);
}

static int bench_scale_space_run(struct compute *ctx, struct space *space, uint32_t done,
				 uint64_t *ns)
{
	uint64_t begin;
	int err;

	asahi_submit_compute(space->submit, &space->cmd, ASAHI_BARRIER_NONE);
	asahi_submit_signal(space->submit, done, 0);
	begin = bench_now_ns();
	err = asahi_submit_flush(space->submit);
	if (!err)
		err = asahi_fence_wait(ctx->dev, done, COMPUTE_TIMEOUT_NS);
	*ns = bench_now_ns() - begin;
	return err;
}

static int bench_scale_measure_spaces(struct compute *ctx, struct space *spaces,
				      unsigned int count, uint32_t done)
{
	static uint64_t ns[SPACES * SWITCH_ROUNDS];
	char name[80];
	unsigned int i;
	int err = 0;

	for (i = 0; i < SPACES * SWITCH_ROUNDS && !err; i++)
		err = bench_scale_space_run(ctx, &spaces[i % count], done, &ns[i]);
	if (err)
		return bench_failed("switching address spaces", err);
	qsort(ns, SPACES * SWITCH_ROUNDS, sizeof(*ns), bench_compare);
	snprintf(name, sizeof(name),
		 "submit to fence, %u address spaces in turn, median", count);
	bench_print(name, (double)ns[SPACES * SWITCH_ROUNDS / 2]);
	return 0;
}

int bench_switch(struct compute *ctx)
{
	static struct space spaces[SPACES];
	struct drm_asahi_cmd_compute cmd;
	struct asahi_bo *stream = NULL;
	uint32_t done = 0;
	unsigned int i, opened = 0;
	int err = bench_scale_shared_stream(ctx, &stream, &cmd);

	if (!err && drmSyncobjCreate(asahi_device_fd(ctx->dev), 0, &done))
		err = -errno;
	for (; opened < SPACES && !err; opened++) {
		err = bench_scale_space_open(ctx, stream, &spaces[opened]);
		spaces[opened].cmd = cmd;
	}
	if (!err)
		err = bench_scale_measure_spaces(ctx, spaces, 1, done);
	if (!err)
		err = bench_scale_measure_spaces(ctx, spaces, SPACES, done);
	for (i = 0; i < opened; i++)
		bench_scale_space_close(&spaces[i]);
	drmSyncobjDestroy(asahi_device_fd(ctx->dev), done);
	asahi_bo_unref(stream);
	return err ? bench_failed("jobs in many address spaces", err) : 0;
}

/* Memory that the kernel keeps for idle objects */

/* As fdinfo counts them; not the structures themselves, some kilobytes. */
static uint64_t bench_scale_internal_bytes(struct compute *ctx)
{
	uint64_t bytes = 0;
	char line[128], unit[8] = "";
	FILE *fp;

	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d",
		 asahi_device_fd(ctx->dev));
	fp = fopen(line, "r");
	if (!fp)
		return 0;
	while (fgets(line, sizeof(line), fp)) {
		if (sscanf(line, "drm-total-internal: %" SCNu64 " %7s", &bytes,
			   unit) >= 1)
			break;
	}
	fclose(fp);
	return !strcmp(unit, "KiB") ? bytes << 10 :
	       !strcmp(unit, "MiB") ? bytes << 20 : bytes;
}

static struct idle {
	struct asahi_vm *vm;
	struct asahi_queue *queue;
} bench_scale_idle[IDLE_OBJECTS];

static int bench_scale_idle_vm(struct compute *ctx, struct idle *object)
{
	return asahi_vm_new(ctx->dev, &object->vm);
}

static int bench_scale_idle_queue(struct compute *ctx, struct idle *object)
{
	return asahi_queue_new(ctx->vm, DRM_ASAHI_PRIORITY_MEDIUM,
			       &object->queue);
}

static int bench_scale_idle_render(struct compute *ctx, struct idle *object)
{
	struct asahi_submit *submit = NULL;
	int err = bench_scale_idle_queue(ctx, object);

	if (!err)
		err = asahi_submit_new(object->queue, &submit);
	if (!err) {
		asahi_submit_render(submit, &bench_scale_kit.render, ASAHI_BARRIER_NONE);
		err = asahi_submit_run(submit, COMPUTE_TIMEOUT_NS);
	}
	asahi_submit_free(submit);
	return err;
}

static void bench_scale_idle_free(struct idle *object)
{
	asahi_queue_unref(object->queue);
	asahi_vm_unref(object->vm);
	memset(object, 0, sizeof(*object));
}

static const struct {
	const char *name;
	int (*make)(struct compute *ctx, struct idle *object);
} bench_scale_idles[] = {
	{ "memory of an idle address space", bench_scale_idle_vm },
	{ "memory of an idle queue", bench_scale_idle_queue },
	{ "memory of an idle queue with a vertex buffer", bench_scale_idle_render },
};

static int bench_scale_measure_idle(struct compute *ctx, unsigned int which)
{
	const uint64_t before = bench_scale_internal_bytes(ctx);
	uint64_t after;
	unsigned int i, made = 0;
	int err = 0;

	for (; made < IDLE_OBJECTS && !err; made++)
		err = bench_scale_idles[which].make(ctx, &bench_scale_idle[made]);
	/* what jobs have left goes back a little later */
	sleep(SETTLE_S);
	after = bench_scale_internal_bytes(ctx);
	for (i = 0; i < made; i++)
		bench_scale_idle_free(&bench_scale_idle[i]);
	sleep(SETTLE_S);
	if (err)
		return bench_failed(bench_scale_idles[which].name, err);
	bench_print(bench_scale_idles[which].name,
		    ((double)after - (double)before) / IDLE_OBJECTS);
	return 0;
}

int bench_idle(struct compute *ctx)
{
	unsigned int i;
	int err = bench_scale_kit_open(ctx);

	for (i = 0; i < sizeof(bench_scale_idles) / sizeof(bench_scale_idles[0]) && !err; i++)
		err = bench_scale_measure_idle(ctx, i);
	bench_scale_kit_close();
	return err;
}
