// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Benches of much memory: large buffers, and a SUBMIT in an address space with many shared ones.
 */
#include <stdint.h>

#include "bench.h"

#define PAGE		UINT64_C(0x4000)
#define MIB		(UINT64_C(1) << 20)

/* Aligned to what an entry of any level covers. */
#define LARGE_ADDR	UINT64_C(0x3000000000)

#define ROUNDS		3
#define BLOCK_ROUNDS	40
#define BLOCK_BYTES	(32 * MIB)
#define POPULATED_BYTES	(512 * MIB)
#define OBJECTS		10000

static int bench_large_bind(struct compute *ctx, const struct asahi_bo *bo, uint64_t bytes)
{
	const struct drm_asahi_gem_bind_op op = {
		.flags = bo ? DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE : DRM_ASAHI_BIND_UNBIND,
		.handle = bo ? asahi_bo_handle(bo) : 0,
		.range = bytes,
		.addr = LARGE_ADDR,
	};

	return asahi_vm_bind(ctx->vm, &op, 1);
}

/* Return: 0, or the error of the call; @least becomes smaller if the call took less. */
static int bench_large_time_bind(struct compute *ctx, const struct asahi_bo *bo, uint64_t bytes,
				 uint64_t *least)
{
	const uint64_t begin = bench_now_ns();
	int err = bench_large_bind(ctx, bo, bytes);
	const uint64_t ns = bench_now_ns() - begin;

	*least = ns < *least ? ns : *least;
	return err;
}

/* The buffer has its memory. */
static int bench_large_block(struct compute *ctx)
{
	uint64_t bind = UINT64_MAX, unbind = UINT64_MAX;
	struct asahi_bo *bo = NULL;
	unsigned int i;
	int err = asahi_bo_new(ctx->dev, BLOCK_BYTES, 0, ctx->vm, &bo);

	if (!err)
		err = bench_large_bind(ctx, bo, BLOCK_BYTES);
	for (i = 0; i < BLOCK_ROUNDS && !err; i++) {
		err = bench_large_time_bind(ctx, NULL, BLOCK_BYTES, &unbind);
		if (!err)
			err = bench_large_time_bind(ctx, bo, BLOCK_BYTES, &bind);
	}
	asahi_bo_unref(bo);
	if (err)
		return bench_failed("binding 32 MiB", err);
	bench_print("VM_BIND, 32 MiB in one bind", (double)bind);
	bench_print("unbind, 32 MiB in one mapping", (double)unbind);
	return 0;
}

/* A bind makes the memory of its buffer: the kernel clears it. */
static int bench_large_populate(struct compute *ctx)
{
	uint64_t first = UINT64_MAX;
	struct asahi_bo *bo = NULL;
	unsigned int i;
	int err = 0;

	for (i = 0; i < ROUNDS && !err; i++) {
		err = asahi_bo_new(ctx->dev, POPULATED_BYTES, 0, ctx->vm, &bo);
		if (!err)
			err = bench_large_time_bind(ctx, bo, POPULATED_BYTES, &first);
		/* Its mapping goes with it. */
		asahi_bo_unref(bo);
		bo = NULL;
	}
	if (err)
		return bench_failed("binding new memory", err);
	bench_print("VM_BIND, new memory, a MiB of 512", (double)first / (POPULATED_BYTES / MIB));
	return 0;
}

static struct asahi_bo *bench_large_objects[OBJECTS];
static struct drm_asahi_gem_bind_op bench_large_ops[OBJECTS];

static int bench_large_share(struct compute *ctx)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < OBJECTS && !err; i++) {
		/* Of no address space, so that each may have it. */
		err = asahi_bo_new(ctx->dev, PAGE, 0, NULL, &bench_large_objects[i]);
		if (err)
			break;
		bench_large_ops[i] = (struct drm_asahi_gem_bind_op){
			.flags = DRM_ASAHI_BIND_READ,
			.handle = asahi_bo_handle(bench_large_objects[i]),
			.range = PAGE,
			.addr = LARGE_ADDR + i * PAGE,
		};
	}
	return err ? err : asahi_vm_bind(ctx->vm, bench_large_ops, OBJECTS);
}

static int bench_large_submits(struct compute *ctx)
{
	unsigned int i;
	int err = bench_large_share(ctx);

	if (!err)
		err = bench_submit_named(ctx, "SUBMIT, 10000 shared objects bound");
	for (i = 0; i < OBJECTS; i++)
		asahi_bo_unref(bench_large_objects[i]);
	return err ? bench_failed("SUBMIT with many objects", err) : 0;
}

int bench_large(struct compute *ctx)
{
	int err = bench_floor(ctx);

	if (!err)
		err = bench_large_block(ctx);
	if (!err)
		err = bench_large_populate(ctx);
	if (!err)
		err = bench_large_submits(ctx);
	return err;
}
