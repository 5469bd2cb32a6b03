// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "asahi/asahi_ioctl.h"
#include "igt.h"

/**
 * TEST: asahi vm
 * Description: Address spaces of the asahi driver and their mappings.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: VM_BIND
 * Test category: functionality test
 */

#define PAGE		IGT_ASAHI_PAGE
#define BLOCK		(32ULL << 20)
#define GIB		(1ULL << 30)
#define VA		0x100000000ULL
#define VM_END		(512 * GIB)
#define MAX_BINDS	65536
#define MAX_STRIDE	4096
#define MAX_VMS		1024

#define READ		DRM_ASAHI_BIND_READ
#define WRITE		DRM_ASAHI_BIND_WRITE
#define RW		(READ | WRITE)
#define SINGLE		DRM_ASAHI_BIND_SINGLE_PAGE
#define UNBIND		DRM_ASAHI_BIND_UNBIND

/* How often a client replaces all of its mappings beside those that read of its memory. */
#define REPLACED	4
/* And before, with nobody beside it. */
#define ALONE		3
/* A machine that stands still just then looks like one. */
#define MOST_STALLS	1

#define OBJECT_PAGES	8
#define OBJECT_SIZE	(OBJECT_PAGES * PAGE)

static struct drm_asahi_params_global vm_params;

/* Handles that a table cannot know. */
enum { NO_HANDLE, OBJECT, CLOSED, OF_OTHER_FILE, UNKNOWN };

static const struct {
	const char *name;
	uint32_t flags;
	int handle;
	uint64_t offset;
	uint64_t range;
	uint64_t addr;
	int err;
} vm_bad_binds[] = {
	{ "no-flags", 0, OBJECT, 0, PAGE, VA, EINVAL },
	{ "unknown-flags", RW | 1 << 4, OBJECT, 0, PAGE, VA, EINVAL },
	{ "all-flags", UINT32_MAX, OBJECT, 0, PAGE, VA, EINVAL },
	{ "single-without-access", SINGLE, OBJECT, 0, PAGE, VA, EINVAL },
	{ "unbind-and-read", UNBIND | READ, NO_HANDLE, 0, PAGE, VA, EINVAL },
	{ "unbind-and-single", UNBIND | SINGLE, NO_HANDLE, 0, PAGE, VA, EINVAL },
	{ "unbind-handle", UNBIND, OBJECT, 0, PAGE, VA, EINVAL },
	{ "unbind-offset", UNBIND, NO_HANDLE, PAGE, PAGE, VA, EINVAL },
	{ "no-handle", RW, NO_HANDLE, 0, PAGE, VA, ENOENT },
	{ "closed-handle", RW, CLOSED, 0, PAGE, VA, ENOENT },
	{ "unknown-handle", RW, UNKNOWN, 0, PAGE, VA, ENOENT },
	{ "handle-of-other-file", RW, OF_OTHER_FILE, 0, PAGE, VA, ENOENT },
	{ "range-zero", RW, OBJECT, 0, 0, VA, EINVAL },
	{ "range-unaligned", RW, OBJECT, 0, 0x1000, VA, EINVAL },
	{ "range-odd", RW, OBJECT, 0, PAGE + 1, VA, EINVAL },
	{ "range-wraps", RW, OBJECT, 0, -PAGE, VA, EINVAL },
	{ "addr-unaligned", RW, OBJECT, 0, PAGE, VA + 1, EINVAL },
	{ "addr-zero", RW, OBJECT, 0, PAGE, 0, EINVAL },
	{ "addr-wraps", RW, OBJECT, 0, 2 * PAGE, -PAGE, EINVAL },
	{ "addr-wraps-to-0", RW, OBJECT, 0, PAGE, -PAGE, EINVAL },
	{ "addr-at-end", RW, OBJECT, 0, PAGE, VM_END, EINVAL },
	{ "addr-kernel-half", RW, OBJECT, 0, PAGE, 0xffffffa000000000, EINVAL },
	{ "offset-unaligned", RW, OBJECT, 0x2000, PAGE, VA, EINVAL },
	{ "offset-odd", RW, OBJECT, 1, PAGE, VA, EINVAL },
	{ "offset-at-end", RW, OBJECT, OBJECT_SIZE, PAGE, VA, EINVAL },
	{ "offset-wraps", RW, OBJECT, -PAGE, PAGE, VA, EINVAL },
	{ "beyond-object", RW, OBJECT, PAGE, OBJECT_SIZE, VA, EINVAL },
	{ "single-at-end", RW | SINGLE, OBJECT, OBJECT_SIZE, PAGE, VA, EINVAL },
	{ "unbind-zero", UNBIND, NO_HANDLE, 0, 0, VA, EINVAL },
	{ "unbind-unaligned", UNBIND, NO_HANDLE, 0, PAGE, VA + 0x1000, EINVAL },
	{ "unbind-wraps", UNBIND, NO_HANDLE, 0, -PAGE, VA, EINVAL },
};

static uint32_t vm_new_object(int fd)
{
	return igt_asahi_gem_create(fd, OBJECT_SIZE, 0, 0, 0);
}

static void vm_test_bad_bind(int fd, unsigned int i)
{
	int other = drm_open_driver_render(DRIVER_ASAHI);
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handles[] = { [UNKNOWN] = 0x7fffffff };
	unsigned int n;

	handles[OBJECT] = vm_new_object(fd);
	handles[CLOSED] = vm_new_object(fd);
	gem_close(fd, handles[CLOSED]);
	/* A number that is a handle there, and none here. */
	for (n = 0; n < 20; n++)
		handles[OF_OTHER_FILE] = vm_new_object(other);

	igt_asahi_vm_bind_one(fd, vm, vm_bad_binds[i].flags, handles[vm_bad_binds[i].handle],
			      vm_bad_binds[i].offset, vm_bad_binds[i].range, vm_bad_binds[i].addr,
			      vm_bad_binds[i].err);
	gem_close(fd, handles[OBJECT]);
	igt_asahi_vm_destroy(fd, vm, 0);
	drm_close_driver(other);
}

static void vm_test_create_bad(int fd)
{
	const uint64_t start = vm_params.vm_start, end = vm_params.vm_end;
	const uint64_t least = vm_params.vm_kernel_min_size;
	struct drm_asahi_vm_create args = {
		.kernel_start = VA,
		.kernel_end = VA + least,
		.pad = 1,
	};

	do_ioctl_err(fd, DRM_IOCTL_ASAHI_VM_CREATE, &args, EINVAL);
	igt_asahi_vm_create_range(fd, VA, VA + least - PAGE, EINVAL);
	igt_asahi_vm_create_range(fd, VA, VA, EINVAL);
	igt_asahi_vm_create_range(fd, 0, 0, EINVAL);
	igt_asahi_vm_create_range(fd, VA + least, VA, EINVAL);
	igt_asahi_vm_create_range(fd, VA + 1, VA + least + PAGE, EINVAL);
	igt_asahi_vm_create_range(fd, VA, VA + least + 0x1000, EINVAL);
	igt_asahi_vm_create_range(fd, start - PAGE, start + least, EINVAL);
	igt_asahi_vm_create_range(fd, end - least, end + PAGE, EINVAL);
	igt_asahi_vm_create_range(fd, -(2 * least), -PAGE, EINVAL);
	igt_asahi_vm_create_range(fd, end - PAGE, least, EINVAL);
}

static void vm_test_create_range(int fd)
{
	const uint64_t least = vm_params.vm_kernel_min_size;

	igt_asahi_vm_create_range(fd, VA, VA + least, 0);
	igt_asahi_vm_create_range(fd, VA + PAGE, VA + least + PAGE, 0);
	igt_asahi_vm_create_range(fd, vm_params.vm_start, vm_params.vm_end, 0);
	igt_asahi_vm_create_range(fd, vm_params.vm_end - least, vm_params.vm_end, 0);
}

static void vm_test_destroy(int fd)
{
	int other = drm_open_driver_render(DRIVER_ASAHI);
	uint32_t vm = igt_asahi_vm_create(fd);
	struct drm_asahi_vm_destroy args = { .vm_id = vm, .pad = 1 };

	do_ioctl_err(fd, DRM_IOCTL_ASAHI_VM_DESTROY, &args, EINVAL);
	igt_asahi_vm_destroy(other, vm, ENOENT);
	igt_asahi_vm_destroy(fd, vm, 0);
	igt_asahi_vm_destroy(fd, vm, ENOENT);
	igt_asahi_vm_destroy(fd, 0, ENOENT);
	igt_asahi_vm_destroy(fd, UINT32_MAX, ENOENT);
	drm_close_driver(other);
}

/* More than the hardware has contexts. */
static void vm_test_many_vms(int fd)
{
	uint32_t vms[300];
	uint32_t handle = vm_new_object(fd);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vms); i++) {
		vms[i] = igt_asahi_vm_create(fd);
		igt_asahi_vm_bind_one(fd, vms[i], RW, handle, 0, PAGE, VA, 0);
	}
	gem_close(fd, handle);
	for (i = 0; i < ARRAY_SIZE(vms); i++)
		igt_asahi_vm_destroy(fd, vms[i], 0);
}

/* Of one file; another one has as many, and each that goes makes room for one. */
static void vm_test_too_many_vms(int fd)
{
	int other = drm_reopen_driver(fd);
	struct drm_asahi_vm_create args = {
		.kernel_start = VA,
		.kernel_end = VA + vm_params.vm_kernel_min_size,
	};
	static uint32_t vms[MAX_VMS];
	unsigned int i;

	for (i = 0; i < MAX_VMS; i++)
		vms[i] = igt_asahi_vm_create(other);
	do_ioctl_err(other, DRM_IOCTL_ASAHI_VM_CREATE, &args, ENOSPC);
	do_ioctl(fd, DRM_IOCTL_ASAHI_VM_CREATE, &args);
	igt_asahi_vm_destroy(fd, args.vm_id, 0);
	igt_asahi_vm_destroy(other, vms[0], 0);
	vms[0] = igt_asahi_vm_create(other);
	do_ioctl_err(other, DRM_IOCTL_ASAHI_VM_CREATE, &args, ENOSPC);
	for (i = 0; i < MAX_VMS; i++)
		igt_asahi_vm_destroy(other, vms[i], 0);
	drm_close_driver(other);
}

static void vm_test_kernel_range(int fd)
{
	struct drm_asahi_vm_create args = {
		.kernel_start = VA,
		.kernel_end = VA + vm_params.vm_kernel_min_size,
	};
	const uint64_t end = args.kernel_end;
	uint32_t handle = vm_new_object(fd);
	uint32_t vm;

	do_ioctl(fd, DRM_IOCTL_ASAHI_VM_CREATE, &args);
	vm = args.vm_id;
	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, PAGE, VA - PAGE, 0);
	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, 2 * PAGE, VA - PAGE, EINVAL);
	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, PAGE, VA, EINVAL);
	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, PAGE, end - PAGE, EINVAL);
	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, PAGE, end, 0);
	igt_asahi_vm_bind_one(fd, vm, RW | SINGLE, handle, 0, end - VA + 2 * PAGE, VA - PAGE,
			      EINVAL);
	igt_asahi_vm_bind_one(fd, vm, UNBIND, 0, 0, PAGE, VA, EINVAL);
	igt_asahi_vm_destroy(fd, vm, 0);
	gem_close(fd, handle);
}

/* From the first to the last page, and not one more on either side. */
static void vm_test_limits(int fd)
{
	uint32_t vm = igt_asahi_vm_create(fd);
	struct drm_asahi_vm_create other = {
		.kernel_start = VA,
		.kernel_end = VA + vm_params.vm_kernel_min_size,
	};
	uint32_t handle = vm_new_object(fd);

	do_ioctl(fd, DRM_IOCTL_ASAHI_VM_CREATE, &other);
	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, PAGE, vm_params.vm_start, 0);
	igt_asahi_vm_bind_one(fd, other.vm_id, RW, handle, 0, PAGE, vm_params.vm_end - PAGE, 0);
	igt_asahi_vm_bind_one(fd, other.vm_id, RW, handle, 0, PAGE, vm_params.vm_end, EINVAL);
	igt_asahi_vm_bind_one(fd, other.vm_id, RW, handle, 0, 2 * PAGE, vm_params.vm_end - PAGE,
			      EINVAL);
	igt_asahi_vm_destroy(fd, vm, 0);
	igt_asahi_vm_destroy(fd, other.vm_id, 0);
	gem_close(fd, handle);
}

static void vm_bind_args(int fd, uint32_t vm, const void *ops, uint32_t count, uint32_t stride,
			 int err)
{
	struct drm_asahi_vm_bind args = {
		.vm_id = vm,
		.num_binds = count,
		.stride = stride,
		.userptr = (uintptr_t)ops,
	};

	if (err)
		do_ioctl_err(fd, DRM_IOCTL_ASAHI_VM_BIND, &args, err);
	else
		do_ioctl(fd, DRM_IOCTL_ASAHI_VM_BIND, &args);
}

/* A later version of the structure, with fields behind those of today. */
struct long_op {
	struct drm_asahi_gem_bind_op op;
	uint64_t more[3];
};

static void vm_test_stride(int fd)
{
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handle = vm_new_object(fd);
	struct long_op ops[2] = {
		{ { RW, handle, 0, PAGE, VA }, { 0 } },
		{ { RW, handle, PAGE, PAGE, VA + PAGE }, { 0 } },
	};
	uint8_t *page = calloc(2, 8192);

	igt_assert(page);
	vm_bind_args(fd, vm, ops, 2, sizeof(ops[0]), 0);
	ops[1].more[2] = 1ULL << 63;
	vm_bind_args(fd, vm, ops, 2, sizeof(ops[0]), E2BIG);
	vm_bind_args(fd, vm, ops, 1, sizeof(ops[0]), 0);
	vm_bind_args(fd, vm, ops, 1, 0, EINVAL);
	vm_bind_args(fd, vm, ops, 1, 1, EINVAL);
	vm_bind_args(fd, vm, ops, 1, sizeof(ops[0].op) - 1, EINVAL);
	vm_bind_args(fd, vm, ops, 1, UINT32_MAX, EINVAL);

	memcpy(page, &ops[0].op, sizeof(ops[0].op));
	vm_bind_args(fd, vm, page, 1, MAX_STRIDE, 0);
	vm_bind_args(fd, vm, page, 1, MAX_STRIDE + 1, EINVAL);
	page[4095] = 1;
	vm_bind_args(fd, vm, page, 1, MAX_STRIDE, E2BIG);
	free(page);
	gem_close(fd, handle);
	igt_asahi_vm_destroy(fd, vm, 0);
}

/* Mapping the same addresses again and again in one ioctl is work without a use. */
static void vm_test_sum(int fd)
{
	const uint64_t size = 64 << 20;
	const uint32_t too_many = VM_END / size;
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handle = igt_asahi_gem_create(fd, size, 0, 0, 0);
	struct drm_asahi_gem_bind_op *ops = calloc(too_many, sizeof(*ops));
	uint32_t i;

	igt_assert(ops);
	for (i = 0; i < too_many; i++)
		ops[i] = (struct drm_asahi_gem_bind_op){ RW, handle, 0, size, VA };
	igt_asahi_vm_bind(fd, vm, ops, too_many, EINVAL);
	igt_asahi_vm_bind(fd, vm, ops, too_many / 16, 0);
	for (i = 0; i < too_many; i++)
		ops[i].flags |= SINGLE;
	igt_asahi_vm_bind(fd, vm, ops, too_many, 0);
	free(ops);
	gem_close(fd, handle);
	igt_asahi_vm_destroy(fd, vm, 0);
}

/*
 * How many binds of one array replace or cut each other: as many as an ioctl takes, or as
 * the variable ASAHI_BINDS of the environment says, since each is slow on a debug kernel
 */
static uint32_t vm_many_binds(void)
{
	const char *text = getenv("ASAHI_BINDS");
	uint32_t binds = text ? atoi(text) : MAX_BINDS;

	igt_assert(binds && binds <= MAX_BINDS);
	return binds;
}

static void vm_test_counts(int fd)
{
	uint32_t vm = igt_asahi_vm_create(fd);
	struct drm_asahi_vm_bind padded = { .vm_id = vm, .stride = 32, .pad = 1 };
	uint32_t handle = vm_new_object(fd), many = vm_many_binds();
	struct drm_asahi_gem_bind_op *ops = calloc(MAX_BINDS + 1, sizeof(*ops));
	uint32_t i;

	igt_assert(ops);
	for (i = 0; i <= MAX_BINDS; i++)
		ops[i] = (struct drm_asahi_gem_bind_op){
			RW, handle, i % OBJECT_PAGES * PAGE, PAGE, VA + i * PAGE,
		};
	do_ioctl_err(fd, DRM_IOCTL_ASAHI_VM_BIND, &padded, EINVAL);
	igt_asahi_vm_bind(fd, vm, NULL, 0, 0);
	igt_asahi_vm_bind(fd, vm, ops, MAX_BINDS, 0);
	igt_asahi_vm_bind(fd, vm, ops, MAX_BINDS + 1, EINVAL);
	igt_asahi_vm_bind(fd, vm, ops, UINT32_MAX, EINVAL);
	/* All of them on one page, each replacing the one before. */
	for (i = 0; i < many; i++)
		ops[i].addr = VA;
	igt_asahi_vm_bind(fd, vm, ops, many, 0);
	/* And each cutting what the one before has left. */
	for (i = 0; i < many; i++)
		ops[i] = (struct drm_asahi_gem_bind_op){
			.flags = UNBIND, .range = PAGE, .addr = VA + 2 * i * PAGE,
		};
	ops[0] = (struct drm_asahi_gem_bind_op){
		READ | SINGLE, handle, 0, 2 * MAX_BINDS * PAGE, VA,
	};
	igt_asahi_vm_bind(fd, vm, ops, many, 0);
	free(ops);
	gem_close(fd, handle);
	igt_asahi_vm_destroy(fd, vm, 0);
}

static void vm_test_unknown_vm(int fd)
{
	int other = drm_open_driver_render(DRIVER_ASAHI);
	uint32_t vm = igt_asahi_vm_create(other);
	uint32_t handle = vm_new_object(fd);

	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, PAGE, VA, ENOENT);
	igt_asahi_vm_bind_one(fd, 0, RW, handle, 0, PAGE, VA, ENOENT);
	igt_asahi_vm_bind_one(fd, UINT32_MAX, RW, handle, 0, PAGE, VA, ENOENT);
	gem_close(fd, handle);
	drm_close_driver(other);
}

/* Arrays that end where nothing is mapped; nothing of them takes effect. */
static void vm_test_unmapped_array(int fd)
{
	const size_t cpu_page = sysconf(_SC_PAGESIZE);
	struct drm_asahi_gem_bind_op *ops;
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handle = vm_new_object(fd);
	int tables = igt_asahi_objects("page-tables");
	char *map = mmap(NULL, 2 * cpu_page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	igt_assert(map != MAP_FAILED);
	igt_assert_eq(munmap(map + cpu_page, cpu_page), 0);
	ops = (struct drm_asahi_gem_bind_op *)(map + cpu_page) - 1;
	*ops = (struct drm_asahi_gem_bind_op){ RW, handle, 0, PAGE, VA };
	igt_asahi_vm_bind(fd, vm, ops, 2, EFAULT);
	igt_asahi_vm_bind(fd, vm, NULL, 1, EFAULT);
	igt_asahi_vm_bind(fd, vm, NULL, MAX_BINDS, EFAULT);
	igt_asahi_vm_bind(fd, vm, (void *)-64, 1, EFAULT);
	igt_assert_eq(igt_asahi_objects("page-tables"), tables);
	igt_asahi_vm_bind(fd, vm, ops, 1, 0);
	igt_assert_lt(tables, igt_asahi_objects("page-tables"));
	munmap(map, cpu_page);
	gem_close(fd, handle);
	igt_asahi_vm_destroy(fd, vm, 0);
}

static void vm_test_nothing_on_error(int fd)
{
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handle = vm_new_object(fd);
	struct drm_asahi_gem_bind_op ops[] = {
		{ RW, handle, 0, PAGE, VA },
		{ RW | SINGLE, handle, 0, 64 * GIB, VA + 64 * GIB },
		{ UNBIND, 0, 0, PAGE, VA + 80 * GIB },
		{ RW, handle, OBJECT_SIZE, PAGE, VA + BLOCK },
	};
	int tables = igt_asahi_objects("page-tables");

	igt_asahi_vm_bind(fd, vm, ops, 4, EINVAL);
	ops[3].offset = 0;
	ops[3].handle = 0;
	igt_asahi_vm_bind(fd, vm, ops, 4, ENOENT);
	igt_assert_eq(igt_asahi_objects("page-tables"), tables);
	gem_close(fd, handle);
	igt_asahi_vm_destroy(fd, vm, 0);
}

static void vm_test_unbind(int fd)
{
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handle = vm_new_object(fd);
	int tables = igt_asahi_objects("page-tables");

	/* Nothing at all, and holes between and around. */
	igt_asahi_vm_bind_one(fd, vm, UNBIND, 0, 0, 64 * GIB, VA, 0);
	igt_assert_eq(igt_asahi_objects("page-tables"), tables);
	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, 2 * PAGE, VA, 0);
	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, 2 * PAGE, VA + BLOCK - PAGE, 0);
	igt_asahi_vm_bind_one(fd, vm, UNBIND, 0, 0, BLOCK, VA + PAGE, 0);
	igt_asahi_vm_bind_one(fd, vm, UNBIND, 0, 0, PAGE, VA, 0);
	igt_assert_eq(igt_asahi_objects("page-tables"), tables);
	igt_asahi_vm_bind_one(fd, vm, UNBIND, 0, 0, PAGE, VA, 0);
	gem_close(fd, handle);
	igt_asahi_vm_destroy(fd, vm, 0);
}

static void vm_test_single_page_cost(int fd)
{
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handle = vm_new_object(fd);
	int tables = igt_asahi_objects("page-tables");

	igt_asahi_vm_bind_one(fd, vm, READ | SINGLE, handle, PAGE, 64 * GIB, VA + PAGE, 0);
	igt_assert_lte(igt_asahi_objects("page-tables"), tables + 6);
	/* A page elsewhere costs one table. */
	igt_asahi_vm_bind_one(fd, vm, READ, handle, 0, PAGE, VA + 9 * GIB + PAGE, 0);
	igt_assert_lte(igt_asahi_objects("page-tables"), tables + 7);
	igt_asahi_vm_bind_one(fd, vm, UNBIND, 0, 0, 65 * GIB, VA, 0);
	igt_assert_eq(igt_asahi_objects("page-tables"), tables);
	gem_close(fd, handle);
	igt_asahi_vm_destroy(fd, vm, 0);
}

static void vm_test_close_unmaps(int fd)
{
	uint32_t vms[] = { igt_asahi_vm_create(fd), igt_asahi_vm_create(fd) };
	uint32_t handle = vm_new_object(fd);
	int tables = igt_asahi_objects("page-tables");
	int objects = igt_asahi_objects("gem-objects");
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vms); i++) {
		igt_asahi_vm_bind_one(fd, vms[i], RW, handle, 0, OBJECT_SIZE, VA, 0);
		igt_asahi_vm_bind_one(fd, vms[i], RW, handle, PAGE, PAGE, VA + 2 * PAGE, 0);
		igt_asahi_vm_bind_one(fd, vms[i], RW | SINGLE, handle, 0, GIB, VA + GIB, 0);
	}
	gem_close(fd, handle);
	igt_assert_eq(igt_asahi_objects("page-tables"), tables);
	igt_assert_eq(igt_asahi_objects("gem-objects"), objects - 1);
	for (i = 0; i < ARRAY_SIZE(vms); i++)
		igt_asahi_vm_destroy(fd, vms[i], 0);
}

/* One file's handle says nothing about what another has mapped. */
static void vm_test_close_other_file(int fd)
{
	int other = drm_open_driver_render(DRIVER_ASAHI);
	uint32_t vm = igt_asahi_vm_create(other);
	uint32_t handle = vm_new_object(fd);
	int dma_buf = prime_handle_to_fd(fd, handle);
	uint32_t imported = prime_fd_to_handle(other, dma_buf);
	int tables;

	close(dma_buf);
	igt_asahi_vm_bind_one(other, vm, RW, imported, 0, PAGE, VA, 0);
	tables = igt_asahi_objects("page-tables");
	gem_close(fd, handle);
	igt_assert_eq(igt_asahi_objects("page-tables"), tables);
	gem_close(other, imported);
	igt_assert_lt(igt_asahi_objects("page-tables"), tables);
	drm_close_driver(other);
}

static void vm_test_private(int fd)
{
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t other = igt_asahi_vm_create(fd);
	uint32_t handle =
		igt_asahi_gem_create(fd, PAGE, DRM_ASAHI_GEM_VM_PRIVATE, vm, 0);

	igt_asahi_vm_bind_one(fd, other, RW, handle, 0, PAGE, VA, EINVAL);
	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, PAGE, VA, 0);
	igt_asahi_vm_destroy(fd, vm, 0);
	igt_asahi_vm_bind_one(fd, other, RW, handle, 0, PAGE, VA, EINVAL);
	gem_close(fd, handle);
	igt_asahi_vm_destroy(fd, other, 0);
}

static void vm_test_destroy_mapped(int fd)
{
	int tables = igt_asahi_objects("page-tables");
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handle = vm_new_object(fd);

	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, OBJECT_SIZE, VA, 0);
	igt_asahi_vm_bind_one(fd, vm, RW | SINGLE, handle, 0, 100 * GIB, VA + GIB, 0);
	igt_asahi_vm_destroy(fd, vm, 0);
	igt_assert_eq(igt_asahi_objects("page-tables"), tables);
	gem_close(fd, handle);
}

struct race {
	int fd;
	uint32_t vm;
	volatile bool stop;
	volatile uint32_t handle;
	unsigned int seed;
};

/* Anything may fail here; what counts is that nothing breaks. */
static void *vm_race_bind(void *data)
{
	struct race *race = data;
	unsigned int seed = __sync_fetch_and_add(&race->seed, 1);

	while (!race->stop) {
		uint32_t flags[] = { RW, RW | SINGLE, UNBIND };
		uint32_t flag = flags[rand_r(&seed) % 3];
		struct drm_asahi_gem_bind_op op = {
			.flags = flag,
			.handle = flag == UNBIND ? 0 : race->handle,
			.range = (1 + rand_r(&seed) % OBJECT_PAGES) * PAGE,
			.addr = VA + BLOCK - 16 * PAGE + rand_r(&seed) % 32 * PAGE,
		};
		struct drm_asahi_vm_bind args = {
			.vm_id = race->vm,
			.num_binds = 1,
			.stride = sizeof(op),
			.userptr = (uintptr_t)&op,
		};

		drmIoctl(race->fd, DRM_IOCTL_ASAHI_VM_BIND, &args);
	}
	return NULL;
}

static void *vm_race_close(void *data)
{
	struct race *race = data;

	while (!race->stop) {
		struct drm_asahi_gem_create create = { .size = OBJECT_SIZE };
		struct drm_gem_close gem_close = { .handle = race->handle };

		if (!drmIoctl(race->fd, DRM_IOCTL_ASAHI_GEM_CREATE, &create))
			race->handle = create.handle;
		drmIoctl(race->fd, DRM_IOCTL_GEM_CLOSE, &gem_close);
	}
	return NULL;
}

static void vm_test_race(void)
{
	int tables = igt_asahi_objects("page-tables");
	int objects = igt_asahi_objects("gem-objects");
	int fd = drm_open_driver_render(DRIVER_ASAHI);
	struct race race = { .fd = fd, .vm = igt_asahi_vm_create(fd) };
	pthread_t threads[4];
	unsigned int i;

	race.handle = vm_new_object(fd);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		igt_assert_eq(pthread_create(&threads[i], NULL, i ? vm_race_bind : vm_race_close,
					     &race),
			      0);
	sleep(2);
	race.stop = true;
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	drm_close_driver(fd);
	igt_asahi_wait_objects("page-tables", tables);
	igt_asahi_wait_objects("gem-objects", objects);
}

/**
 * struct replacer - a client that replaces all of its mappings again and again
 * @fd: its file
 * @vm: its address space
 * @ops: the mappings, one at every second page
 * @count: how many
 * @err: what VM_BIND has said, or 0
 * @reads: how often its fdinfo was read meanwhile
 * @done: it has come to its end
 */
struct replacer {
	int fd;
	uint32_t vm;
	struct drm_asahi_gem_bind_op *ops;
	uint32_t count;
	volatile int err;
	volatile unsigned int reads;
	volatile bool done;
};

static void *vm_replacer_run(void *data)
{
	struct replacer *replacer = data;
	struct drm_asahi_vm_bind args = {
		.vm_id = replacer->vm,
		.num_binds = replacer->count,
		.stride = sizeof(*replacer->ops),
		.userptr = (uintptr_t)replacer->ops,
	};

	for (unsigned int i = 0; i < REPLACED && !replacer->err; i++)
		replacer->err = drmIoctl(replacer->fd, DRM_IOCTL_ASAHI_VM_BIND, &args) ? errno : 0;
	replacer->done = true;
	return NULL;
}

static void *vm_replacer_read(void *data)
{
	struct replacer *replacer = data;
	char path[64], text[4096];
	int file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", replacer->fd);
	while (!replacer->done) {
		file = open(path, O_RDONLY | O_CLOEXEC);
		if (file >= 0 && read(file, text, sizeof(text)) > 0)
			replacer->reads++;
		close(file);
	}
	return NULL;
}

static void vm_replacer_open(struct replacer *replacer)
{
	uint32_t handle;

	replacer->fd = drm_open_driver_render(DRIVER_ASAHI);
	replacer->vm = igt_asahi_vm_create(replacer->fd);
	replacer->count = vm_many_binds();
	replacer->ops = calloc(replacer->count, sizeof(*replacer->ops));
	igt_assert(replacer->ops);
	handle = vm_new_object(replacer->fd);
	for (uint32_t i = 0; i < replacer->count; i++)
		replacer->ops[i] = (struct drm_asahi_gem_bind_op){
			RW, handle, 0, PAGE, VA + 2 * i * PAGE,
		};
	/* The first time makes the page tables, and is slower than those that follow. */
	igt_asahi_vm_bind(replacer->fd, replacer->vm, replacer->ops, replacer->count, 0);
}

/* How long it takes with nobody beside it, the fastest of some */
static uint64_t vm_replacer_alone_ns(struct replacer *replacer)
{
	uint64_t fastest = UINT64_MAX, ns;

	for (unsigned int i = 0; i < ALONE; i++) {
		struct timespec start = {};

		igt_nsec_elapsed(&start);
		igt_asahi_vm_bind(replacer->fd, replacer->vm, replacer->ops, replacer->count, 0);
		ns = igt_nsec_elapsed(&start);
		if (ns < fastest)
			fastest = ns;
	}
	return fastest;
}

/**
 * struct rounds - what a bystander has measured
 * @count: how often it has made an address space, mapped a page, and destroyed it
 * @stalls: rounds that slept for longer than they may
 * @worst_ns: the longest sleep of any
 */
struct rounds {
	unsigned int count;
	unsigned int stalls;
	uint64_t worst_ns;
};

static uint64_t vm_clock_ns(clockid_t clock)
{
	struct timespec now;

	igt_assert_eq(clock_gettime(clock, &now), 0);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* How often this thread has waited for something, and was not just set aside */
static long vm_sleeps(void)
{
	struct rusage usage;

	igt_assert_eq(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

/*
 * Whoever waits for a lock sleeps. A virtual machine whose processors are taken away stands
 * still as well, but that counts as time of the processor, and nobody asked for it.
 */
static void vm_bystander_round(struct rounds *rounds, int fd, uint32_t handle, uint64_t most)
{
	const uint64_t begin = vm_clock_ns(CLOCK_MONOTONIC);
	const uint64_t work = vm_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const long before = vm_sleeps();
	uint64_t elapsed, worked, slept;
	uint32_t vm = igt_asahi_vm_create(fd);

	igt_asahi_vm_bind_one(fd, vm, RW, handle, 0, PAGE, VA, 0);
	igt_asahi_vm_destroy(fd, vm, 0);
	worked = vm_clock_ns(CLOCK_THREAD_CPUTIME_ID) - work;
	elapsed = vm_clock_ns(CLOCK_MONOTONIC) - begin;
	slept = vm_sleeps() != before && elapsed > worked ? elapsed - worked : 0;
	rounds->count++;
	rounds->stalls += slept > most;
	if (slept > rounds->worst_ns)
		rounds->worst_ns = slept;
}

/*
 * Whoever reads fdinfo of a client waits for none of its VM_BINDs with a lock that others
 * need. If it did, the bystander would wait for each of these VM_BINDs to end.
 */
static void vm_test_beside_fdinfo(int fd)
{
	const uint32_t handle = vm_new_object(fd);
	/* Its threads may outlive a check that fails. */
	static struct replacer replacer;
	struct rounds rounds = {};
	pthread_t binds, reads;
	uint64_t alone;

	vm_replacer_open(&replacer);
	alone = vm_replacer_alone_ns(&replacer);
	igt_assert_eq(pthread_create(&reads, NULL, vm_replacer_read, &replacer), 0);
	igt_assert_eq(pthread_create(&binds, NULL, vm_replacer_run, &replacer), 0);
	while (!replacer.done)
		vm_bystander_round(&rounds, fd, handle, alone / 2);
	pthread_join(binds, NULL);
	pthread_join(reads, NULL);
	igt_info("%u mappings are replaced in %llu us, %u times; %u reads of fdinfo\n",
		 replacer.count, (unsigned long long)alone / 1000, REPLACED, replacer.reads);
	igt_info("%u rounds beside them, the longest sleep took %llu us, %u stalls\n",
		 rounds.count, (unsigned long long)rounds.worst_ns / 1000, rounds.stalls);
	igt_assert_eq(replacer.err, 0);
	igt_assert_lte(REPLACED, replacer.reads);
	igt_assert_lte(rounds.stalls, MOST_STALLS);
	drm_close_driver(replacer.fd);
	free(replacer.ops);
	gem_close(fd, handle);
}

static void vm_test_killed(int fd)
{
	struct igt_helper_process victim = { .use_SIGKILL = true };
	int tables = igt_asahi_objects("page-tables");

	igt_fork_helper(&victim) {
		int own = drm_reopen_driver(fd);
		uint32_t vm = igt_asahi_vm_create(own);
		uint32_t handle = vm_new_object(own);
		uint64_t i;

		for (i = 0;; i++)
			igt_asahi_vm_bind_one(own, vm, RW | SINGLE, handle, 0, BLOCK,
					      VA + i % 1024 * BLOCK + i % 7 * PAGE, 0);
	}
	usleep(200000);
	igt_stop_helper(&victim);
	igt_asahi_wait_objects("page-tables", tables);
}

static void vm_undo_bind(int fd, const void *arg)
{
	const struct drm_asahi_vm_bind *args = arg;

	/* All but the page that was there before. */
	igt_asahi_vm_bind_one(fd, args->vm_id, UNBIND, 0, 0, 200 * GIB, VA + PAGE, 0);
}

static void vm_undo_create(int fd, const void *arg)
{
	const struct drm_asahi_vm_create *args = arg;

	igt_asahi_vm_destroy(fd, args->vm_id, 0);
}

static void vm_test_bind_allocations_fail(int fd)
{
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handle = vm_new_object(fd);
	struct drm_asahi_gem_bind_op ops[] = {
		{ RW, handle, 0, 2 * PAGE, VA + BLOCK - PAGE },
		{ RW | SINGLE, handle, 0, 64 * GIB, VA + 64 * GIB + PAGE },
		{ UNBIND, 0, 0, PAGE, VA + 80 * GIB },
	};
	struct drm_asahi_vm_bind args = {
		.vm_id = vm,
		.num_binds = 3,
		.stride = sizeof(ops[0]),
		.userptr = (uintptr_t)ops,
	};

	/* So that the memory of the object is there. */
	igt_asahi_vm_bind_one(fd, vm, READ, handle, 0, PAGE, VA, 0);
	igt_asahi_fail_allocations(fd, DRM_IOCTL_ASAHI_VM_BIND, &args, vm_undo_bind);
	gem_close(fd, handle);
	igt_asahi_vm_destroy(fd, vm, 0);
}

static void vm_test_create_allocations_fail(int fd)
{
	struct drm_asahi_vm_create args = {
		.kernel_start = VA,
		.kernel_end = VA + vm_params.vm_kernel_min_size,
	};

	igt_asahi_fail_allocations(fd, DRM_IOCTL_ASAHI_VM_CREATE, &args, vm_undo_create);
}

int igt_main()
{
	int fd;
	unsigned int i;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
		igt_asahi_get_params(fd, 0, &vm_params, sizeof(vm_params), 0);
		igt_asahi_settle();
	}

	igt_describe("Ranges for the kernel, good and bad.");
	igt_subtest("create-bad") {
		vm_test_create_bad(fd);
	}
	igt_subtest("create-range") {
		vm_test_create_range(fd);
	}
	igt_subtest("create-many") {
		vm_test_many_vms(fd);
	}
	igt_subtest("create-too-many") {
		vm_test_too_many_vms(fd);
	}
	igt_subtest("destroy") {
		vm_test_destroy(fd);
	}

	igt_describe("Binds that have to be refused.");
	for (i = 0; i < ARRAY_SIZE(vm_bad_binds); i++) {
		igt_subtest_f("bind-%s", vm_bad_binds[i].name) {
			vm_test_bad_bind(fd, i);
		}
	}
	igt_subtest("bind-kernel-range") {
		vm_test_kernel_range(fd);
	}
	igt_subtest("bind-limits") {
		vm_test_limits(fd);
	}
	igt_subtest("bind-unknown-vm") {
		vm_test_unknown_vm(fd);
	}

	igt_describe("Forms and sizes of the array.");
	igt_subtest("array-stride") {
		vm_test_stride(fd);
	}
	igt_subtest("array-count") {
		vm_test_counts(fd);
	}
	igt_subtest("array-sum") {
		vm_test_sum(fd);
	}
	igt_subtest("array-unmapped") {
		vm_test_unmapped_array(fd);
	}
	igt_subtest("array-nothing-on-error") {
		vm_test_nothing_on_error(fd);
	}

	igt_describe("Unbinding leaves nothing behind.");
	igt_subtest("unbind") {
		vm_test_unbind(fd);
	}
	igt_subtest("single-page-cost") {
		vm_test_single_page_cost(fd);
	}
	igt_subtest("close-unmaps") {
		vm_test_close_unmaps(fd);
	}
	igt_subtest("close-other-file") {
		vm_test_close_other_file(fd);
	}
	igt_subtest("destroy-mapped") {
		vm_test_destroy_mapped(fd);
	}

	igt_describe("Private objects belong to one address space.");
	igt_subtest("private") {
		vm_test_private(fd);
	}

	igt_describe("Threads that do everything at once, and a client that dies.");
	igt_subtest("race") {
		vm_test_race();
	}
	igt_subtest("beside-fdinfo") {
		vm_test_beside_fdinfo(fd);
	}
	igt_subtest("killed-client") {
		vm_test_killed(fd);
	}

	igt_describe("Each allocation fails in its turn, where the kernel can do that.");
	igt_subtest("create-allocations-fail") {
		vm_test_create_allocations_fail(fd);
	}
	igt_subtest("bind-allocations-fail") {
		vm_test_bind_allocations_fail(fd);
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}
