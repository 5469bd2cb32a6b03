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

static const struct shape shapes[] = {
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
} kit;

static int kit_syncs(int fd)
{
	unsigned int i;

	if (drmSyncobjCreate(fd, 0, &kit.done))
		return -errno;
	for (i = 0; i < SYNCS; i++) {
		if (drmSyncobjCreate(fd, DRM_SYNCOBJ_CREATE_SIGNALED,
				     &kit.waits[i]))
			return -errno;
	}
	return 0;
}

static int kit_open(struct compute *ctx)
{
	/* the end of a stream */
	static const uint32_t terminate[2] = { 0xc0000000 };
	int err = compute_stream_new(ctx, &kit.stream);

	kit.ctx = ctx;
	if (!err)
		err = compute_stream_end(&kit.stream, &kit.compute);
	if (!err)
		err = compute_buffer_new(ctx, PAGE, &kit.vdm);
	if (err)
		return err;
	memcpy(kit.vdm.map, terminate, sizeof(terminate));
	kit.render = (struct drm_asahi_cmd_render){
		.vdm_ctrl_stream_base = kit.vdm.addr,
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
	err = kit_syncs(asahi_device_fd(ctx->dev));
	return err ? err : asahi_submit_new(ctx->queue, &kit.submit);
}

static void kit_close(void)
{
	int fd = asahi_device_fd(kit.ctx->dev);
	unsigned int i;

	asahi_submit_free(kit.submit);
	for (i = 0; i < SYNCS; i++)
		drmSyncobjDestroy(fd, kit.waits[i]);
	drmSyncobjDestroy(fd, kit.done);
	compute_buffer_free(kit.ctx, &kit.vdm);
	compute_stream_free(&kit.stream);
	memset(&kit, 0, sizeof(kit));
}

static int run_shape(const struct shape *shape, uint64_t *ns)
{
	uint64_t begin;
	unsigned int i;
	int err;

	for (i = 0; i < shape->waits; i++)
		asahi_submit_wait(kit.submit, kit.waits[i], 0);
	for (i = 0; i < shape->renders; i++)
		asahi_submit_render(kit.submit, &kit.render,
				    ASAHI_BARRIER_NONE);
	for (i = 0; i < shape->computes; i++)
		asahi_submit_compute(kit.submit, &kit.compute,
				     ASAHI_BARRIER_NONE);
	asahi_submit_signal(kit.submit, kit.done, 0);
	begin = bench_now_ns();
	err = asahi_submit_flush(kit.submit);
	*ns = bench_now_ns() - begin;
	if (err)
		return err;
	return asahi_fence_wait(kit.ctx->dev, kit.done, COMPUTE_TIMEOUT_NS);
}

static int measure_shape(const struct shape *shape)
{
	uint64_t least = UINT64_MAX, ns;
	unsigned int i;
	int err = 0;

	for (i = 0; i < SHAPE_ROUNDS && !err; i++) {
		err = run_shape(shape, &ns);
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
		err = kit_open(ctx);
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]) && !err; i++)
		err = measure_shape(&shapes[i]);
	kit_close();
	return err;
}

/* Pages that are neighbours neither in the buffer nor in the address space */

static struct drm_asahi_gem_bind_op scattered[MOST_BINDS];

static int bind_scattered(struct compute *ctx, unsigned int binds,
			  unsigned int at_a_time)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < binds && !err; i += at_a_time)
		err = asahi_vm_bind(ctx->vm, &scattered[i], at_a_time);
	return err;
}

static int unbind_scattered(struct compute *ctx)
{
	const struct drm_asahi_gem_bind_op op = {
		.flags = DRM_ASAHI_BIND_UNBIND,
		.range = 2 * MOST_BINDS * PAGE,
		.addr = BIND_ADDR,
	};

	return asahi_vm_bind(ctx->vm, &op, 1);
}

/* What one bind costs: nothing else grows with their number. */
static int measure_scattered(struct compute *ctx, unsigned int binds,
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

		err = bind_scattered(ctx, binds, at_a_time);
		ns = bench_now_ns() - begin;
		if (ns < least)
			least = ns;
		if (!err)
			err = unbind_scattered(ctx);
	}
	if (err)
		return bench_failed(name, err);
	bench_print(name, (double)least / binds);
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
		scattered[i] = (struct drm_asahi_gem_bind_op){
			.flags = DRM_ASAHI_BIND_READ,
			.handle = asahi_bo_handle(bo),
			.offset = i * BIND_STRIDE % BIND_PAGES * PAGE,
			.range = PAGE,
			.addr = BIND_ADDR + 2 * i * PAGE,
		};
	/* the page tables are there in all rounds but the first */
	for (i = 1000; i <= MOST_BINDS && !err; i *= 10) {
		err = measure_scattered(ctx, i, i);
		if (!err)
			err = measure_scattered(ctx, i, 1);
	}
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
static int shared_stream(struct compute *ctx, struct asahi_bo **bo,
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

static int space_open(struct compute *ctx, const struct asahi_bo *stream,
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

static void space_close(struct space *space)
{
	asahi_submit_free(space->submit);
	asahi_queue_unref(space->queue);
	asahi_vm_unref(space->vm);
}

static int space_run(struct compute *ctx, struct space *space, uint32_t done,
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

static int measure_spaces(struct compute *ctx, struct space *spaces,
			  unsigned int count, uint32_t done)
{
	static uint64_t ns[SPACES * SWITCH_ROUNDS];
	char name[80];
	unsigned int i;
	int err = 0;

	for (i = 0; i < SPACES * SWITCH_ROUNDS && !err; i++)
		err = space_run(ctx, &spaces[i % count], done, &ns[i]);
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
	int err = shared_stream(ctx, &stream, &cmd);

	if (!err && drmSyncobjCreate(asahi_device_fd(ctx->dev), 0, &done))
		err = -errno;
	for (; opened < SPACES && !err; opened++) {
		err = space_open(ctx, stream, &spaces[opened]);
		spaces[opened].cmd = cmd;
	}
	if (!err)
		err = measure_spaces(ctx, spaces, 1, done);
	if (!err)
		err = measure_spaces(ctx, spaces, SPACES, done);
	for (i = 0; i < opened; i++)
		space_close(&spaces[i]);
	drmSyncobjDestroy(asahi_device_fd(ctx->dev), done);
	asahi_bo_unref(stream);
	return err ? bench_failed("jobs in many address spaces", err) : 0;
}

/* What the kernel keeps for idle objects */

/* As fdinfo counts them; not the structures themselves, some kilobytes. */
static uint64_t internal_bytes(struct compute *ctx)
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
} idle[IDLE_OBJECTS];

static int idle_vm(struct compute *ctx, struct idle *object)
{
	return asahi_vm_new(ctx->dev, &object->vm);
}

static int idle_queue(struct compute *ctx, struct idle *object)
{
	return asahi_queue_new(ctx->vm, DRM_ASAHI_PRIORITY_MEDIUM,
			       &object->queue);
}

static int idle_render(struct compute *ctx, struct idle *object)
{
	struct asahi_submit *submit = NULL;
	int err = idle_queue(ctx, object);

	if (!err)
		err = asahi_submit_new(object->queue, &submit);
	if (!err) {
		asahi_submit_render(submit, &kit.render, ASAHI_BARRIER_NONE);
		err = asahi_submit_run(submit, COMPUTE_TIMEOUT_NS);
	}
	asahi_submit_free(submit);
	return err;
}

static void idle_free(struct idle *object)
{
	asahi_queue_unref(object->queue);
	asahi_vm_unref(object->vm);
	memset(object, 0, sizeof(*object));
}

static const struct {
	const char *name;
	int (*make)(struct compute *ctx, struct idle *object);
} idles[] = {
	{ "memory of an idle address space", idle_vm },
	{ "memory of an idle queue", idle_queue },
	{ "memory of an idle queue with a vertex buffer", idle_render },
};

static int measure_idle(struct compute *ctx, unsigned int which)
{
	const uint64_t before = internal_bytes(ctx);
	uint64_t after;
	unsigned int i, made = 0;
	int err = 0;

	for (; made < IDLE_OBJECTS && !err; made++)
		err = idles[which].make(ctx, &idle[made]);
	/* what jobs have left goes back a little later */
	sleep(SETTLE_S);
	after = internal_bytes(ctx);
	for (i = 0; i < made; i++)
		idle_free(&idle[i]);
	sleep(SETTLE_S);
	if (err)
		return bench_failed(idles[which].name, err);
	bench_print(idles[which].name,
		    ((double)after - (double)before) / IDLE_OBJECTS);
	return 0;
}

int bench_idle(struct compute *ctx)
{
	unsigned int i;
	int err = kit_open(ctx);

	for (i = 0; i < sizeof(idles) / sizeof(idles[0]) && !err; i++)
		err = measure_idle(ctx, i);
	kit_close();
	return err;
}
