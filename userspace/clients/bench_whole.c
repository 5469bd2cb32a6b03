// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Benches of whole jobs: everything that the machine does from one job to the next
 * counts, user space, workers, interrupts, the wait for the fence and the freeing.
 * Jobs before and behind the measurement keep begin and end out of it. With QEMU's
 * counting plugin (emulator/plugin) each measurement is a section of its results.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

#include "vagx/vagx_marks.h"
#include "vagx/vagx_null.h"

#include "bench.h"

/* multiples of DEEP */
#define WARM_JOBS	512
#define JOBS		4096
#define DEEP		64

#define FLOOR_CALLS	4096

#define FIRST_NODE	128
#define NODES		64

/* A driver with something to submit, which is the same each time */
struct whole {
	int fd;
	uint32_t syncobj;
	/* Does not wait. Return: 0 or a negative errno value */
	int (*submit)(struct whole *whole);
	/* asahi's only */
	struct compute_stream stream;
	struct drm_asahi_cmd_compute cmd;
	struct asahi_submit *asahi;
};

static void bench_whole_mark_begin(void)
{
#ifdef __aarch64__
	__asm__ volatile("hint %0" : : "i"(VAGX_MARK_BEGIN) : "memory");
#endif
}

static void bench_whole_mark_end(void)
{
#ifdef __aarch64__
	__asm__ volatile("hint %0" : : "i"(VAGX_MARK_END) : "memory");
#endif
}

/* Submit as many jobs, wait for the last one's fence, and so on until there were @jobs. */
static int bench_whole_run(struct whole *whole, unsigned int jobs, unsigned int depth)
{
	unsigned int done, i;
	int err = 0;

	for (done = 0; done < jobs && !err; done += depth) {
		for (i = 0; i < depth && !err; i++)
			err = whole->submit(whole);
		if (!err && drmSyncobjWait(whole->fd, &whole->syncobj, 1, INT64_MAX, 0, NULL))
			err = -errno;
	}
	return err;
}

static int bench_whole_measure(struct whole *whole, const char *name, unsigned int depth)
{
	int err = bench_whole_run(whole, WARM_JOBS, depth);
	uint64_t begin = bench_now_ns();

	bench_whole_mark_begin();
	if (!err)
		err = bench_whole_run(whole, JOBS, depth);
	bench_whole_mark_end();
	if (err)
		return bench_failed(name, err);
	bench_print_many(name, (double)(bench_now_ns() - begin), JOBS);
	return bench_whole_run(whole, DEEP, depth);
}

/* The cheapest ioctl, as a section of its own: what the counted jobs are compared with */
static int bench_whole_floor(int fd)
{
	struct drm_get_cap cap = { .capability = DRM_CAP_PRIME };
	uint64_t begin = bench_now_ns();
	unsigned int i;
	int err = 0;

	bench_whole_mark_begin();
	for (i = 0; i < FLOOR_CALLS && !err; i++)
		err = drmIoctl(fd, DRM_IOCTL_GET_CAP, &cap) ? -errno : 0;
	bench_whole_mark_end();
	if (err)
		return bench_failed("GET_CAP", err);
	bench_print_many("counted: DRM_IOCTL_GET_CAP", (double)(bench_now_ns() - begin),
			 FLOOR_CALLS);
	return 0;
}

static int bench_whole_submit_asahi(struct whole *whole)
{
	asahi_submit_compute(whole->asahi, &whole->cmd, ASAHI_BARRIER_NONE);
	asahi_submit_signal(whole->asahi, whole->syncobj, 0);
	return asahi_submit_flush(whole->asahi);
}

int bench_jobs(struct compute *ctx)
{
	struct whole whole = {
		.fd = asahi_device_fd(ctx->dev),
		.submit = bench_whole_submit_asahi,
	};
	int err = compute_stream_new(ctx, &whole.stream);

	if (err)
		return bench_failed("a stream of commands", err);
	err = compute_stream_end(&whole.stream, &whole.cmd);
	if (!err)
		err = asahi_submit_new(ctx->queue, &whole.asahi);
	if (!err && drmSyncobjCreate(whole.fd, 0, &whole.syncobj))
		err = -errno;
	if (err)
		bench_failed("a job", err);
	if (!err)
		err = bench_whole_floor(whole.fd);
	if (!err)
		err = bench_whole_measure(&whole, "job, one at a time", 1);
	if (!err)
		err = bench_whole_measure(&whole, "job, 64 deep", DEEP);
	if (whole.syncobj)
		drmSyncobjDestroy(whole.fd, whole.syncobj);
	asahi_submit_free(whole.asahi);
	compute_stream_free(&whole.stream);
	return err;
}

static int bench_whole_submit_null(struct whole *whole)
{
	struct vagx_null_submit args = { .syncobj = whole->syncobj };

	return drmIoctl(whole->fd, DRM_IOCTL_VAGX_NULL_SUBMIT, &args) ? -errno : 0;
}

static bool bench_whole_is_null(int fd)
{
	drmVersion *version = drmGetVersion(fd);
	bool is_null = version && !strcmp(version->name, VAGX_NULL_NAME);

	drmFreeVersion(version);
	return is_null;
}

/* Return: the null driver's node, or -ENODEV */
static int bench_whole_open_null(void)
{
	char path[32];
	unsigned int i;
	int fd;

	for (i = FIRST_NODE; i < FIRST_NODE + NODES; i++) {
		snprintf(path, sizeof(path), "/dev/dri/renderD%u", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (bench_whole_is_null(fd))
			return fd;
		close(fd);
	}
	return -ENODEV;
}

int bench_null(struct compute *ctx)
{
	struct whole whole = {
		.fd = bench_whole_open_null(),
		.submit = bench_whole_submit_null,
	};
	int err;

	if (whole.fd < 0)
		return bench_failed("a node of " VAGX_NULL_NAME, whole.fd);
	err = drmSyncobjCreate(whole.fd, 0, &whole.syncobj) ? -errno : 0;
	if (err)
		bench_failed("a sync object", err);
	if (!err)
		err = bench_whole_measure(&whole, "null job, one at a time", 1);
	if (!err)
		err = bench_whole_measure(&whole, "null job, 64 deep", DEEP);
	if (whole.syncobj)
		drmSyncobjDestroy(whole.fd, whole.syncobj);
	close(whole.fd);
	return err;
}
