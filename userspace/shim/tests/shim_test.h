/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the shim's tests have in common. They use the system's interface, and
 * libdrm where it adds nothing to that.
 */
#ifndef SHIM_TEST_H
#define SHIM_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include <cmocka.h>

#include "asahi_shim.h"

#define PAGE	UINT64_C(0x4000)
#define GIB	(UINT64_C(1) << 30)
#define MS	INT64_C(1000000)

/* Return: 0 or an errno value. */
static inline int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? errno : 0;
}

static inline int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline int open_node(void **state)
{
	int fd = open(ASAHI_SHIM_NODE, O_RDWR | O_CLOEXEC);

	asahi_shim_record(true);
	*state = (void *)(intptr_t)fd;
	return fd < 0;
}

/* Closing the file has to be the end of everything. */
static inline int close_node(void **state)
{
	struct asahi_shim_objects o;

	close((intptr_t)*state);
	asahi_shim_record(false);
	asahi_shim_set_backend(NULL);
	return asahi_shim_objects(&o) ? -1 : 0;
}

#define NODE_TEST(test)	cmocka_unit_test_setup_teardown(test, open_node, close_node)
#define FD(state)	((int)(intptr_t)*(state))

static inline uint32_t new_bo(int fd, uint64_t size)
{
	struct drm_asahi_gem_create args = { .size = size };

	assert_int_equal(call(fd, DRM_IOCTL_ASAHI_GEM_CREATE, &args), 0);
	return args.handle;
}

static inline uint32_t new_vm(int fd)
{
	struct drm_asahi_vm_create args = {
		.kernel_start = asahi_shim_params()->vm_end - GIB,
		.kernel_end = asahi_shim_params()->vm_end,
	};

	assert_int_equal(call(fd, DRM_IOCTL_ASAHI_VM_CREATE, &args), 0);
	return args.vm_id;
}

static inline uint32_t new_queue(int fd, uint32_t vm)
{
	struct drm_asahi_queue_create args = { .vm_id = vm, .usc_exec_base = 4 * GIB };

	assert_int_equal(call(fd, DRM_IOCTL_ASAHI_QUEUE_CREATE, &args), 0);
	return args.queue_id;
}

static inline uint32_t new_syncobj(int fd)
{
	uint32_t handle;

	assert_int_equal(drmSyncobjCreate(fd, 0, &handle), 0);
	return handle;
}

static inline int bind_bo(int fd, uint32_t vm, struct drm_asahi_gem_bind_op op)
{
	struct drm_asahi_vm_bind args = {
		.vm_id = vm,
		.num_binds = 1,
		.stride = sizeof(op),
		.userptr = (uintptr_t)&op,
	};

	return call(fd, DRM_IOCTL_ASAHI_VM_BIND, &args);
}

/* The memory of all buffers, as a backend sees it */
static inline char *map_memory(uint64_t *size)
{
	int file = asahi_shim_memory(size);
	char *map = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);

	assert_ptr_not_equal(map, MAP_FAILED);
	asahi_shim_memory_mapped(map);
	return map;
}

static inline void unmap_memory(char *map, uint64_t size)
{
	asahi_shim_memory_mapped(NULL);
	munmap(map, size);
}

/* One command, which waits for one point and signals another; 0 for no sync object. */
static inline int submit(int fd, uint32_t queue, uint32_t in, uint64_t in_point, uint32_t out,
			 uint64_t out_point)
{
	const struct {
		struct drm_asahi_cmd_header header;
		struct drm_asahi_cmd_compute cmd;
	} commands = {
		{ DRM_ASAHI_CMD_COMPUTE, sizeof(struct drm_asahi_cmd_compute),
		  DRM_ASAHI_BARRIER_NONE, DRM_ASAHI_BARRIER_NONE },
		{ .cdm_ctrl_stream_base = 5 * GIB },
	};
	const struct drm_asahi_sync syncs[2] = {
		{ in_point ? DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ : DRM_ASAHI_SYNC_SYNCOBJ, in, in_point },
		{ out_point ? DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ : DRM_ASAHI_SYNC_SYNCOBJ, out,
		  out_point },
	};
	struct drm_asahi_submit args = {
		.queue_id = queue,
		.syncs = (uintptr_t)(in ? syncs : &syncs[1]),
		.in_sync_count = !!in,
		.out_sync_count = !!out,
		.cmdbuf = (uintptr_t)&commands,
		.cmdbuf_size = sizeof(commands),
	};

	return call(fd, DRM_IOCTL_ASAHI_SUBMIT, &args);
}

/* Jobs that end when the test says so, in the order of their coming */
static struct asahi_shim_job *held[8];
static unsigned int num_held;

static inline void hold(void *priv, struct asahi_shim_job *job)
{
	assert_true(num_held < sizeof(held) / sizeof(held[0]));
	held[num_held++] = job;
}

static inline void hold_jobs(void)
{
	static const struct asahi_shim_backend backend = { .submit = hold };

	num_held = 0;
	asahi_shim_set_backend(&backend);
}

#endif /* SHIM_TEST_H */
