// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asahi_ioctl.h"
#include "igt.h"

/* The size of the kernel's range, as that of Mesa's address spaces. */
#define KERNEL_SIZE	(32ULL << 30)

/* Either way of an ioctl. */
#define asahi_ioctl(fd, request, arg, err)			\
	do {							\
		if (err)					\
			do_ioctl_err(fd, request, arg, err);	\
		else						\
			do_ioctl(fd, request, arg);		\
	} while (0)

uint32_t igt_asahi_vm_create(int fd)
{
	struct drm_asahi_params_global params;

	igt_asahi_get_params(fd, 0, &params, sizeof(params), 0);
	return igt_asahi_vm_create_at(fd, (params.vm_end - KERNEL_SIZE) & ~(IGT_ASAHI_PAGE - 1),
				      params.vm_end);
}

uint32_t igt_asahi_vm_create_at(int fd, uint64_t start, uint64_t end)
{
	struct drm_asahi_vm_create args = {
		.kernel_start = start,
		.kernel_end = end,
	};

	do_ioctl(fd, DRM_IOCTL_ASAHI_VM_CREATE, &args);
	igt_assert_neq(args.vm_id, 0);
	return args.vm_id;
}

void igt_asahi_vm_create_range(int fd, uint64_t start, uint64_t end, int err)
{
	struct drm_asahi_vm_create args = {
		.kernel_start = start,
		.kernel_end = end,
	};

	asahi_ioctl(fd, DRM_IOCTL_ASAHI_VM_CREATE, &args, err);
	if (!err)
		igt_asahi_vm_destroy(fd, args.vm_id, 0);
}

void igt_asahi_vm_destroy(int fd, uint32_t vm, int err)
{
	struct drm_asahi_vm_destroy args = { .vm_id = vm };

	asahi_ioctl(fd, DRM_IOCTL_ASAHI_VM_DESTROY, &args, err);
}

void igt_asahi_vm_bind(int fd, uint32_t vm, const struct drm_asahi_gem_bind_op *ops,
		       uint32_t count, int err)
{
	struct drm_asahi_vm_bind args = {
		.vm_id = vm,
		.num_binds = count,
		.stride = sizeof(*ops),
		.userptr = (uintptr_t)ops,
	};

	asahi_ioctl(fd, DRM_IOCTL_ASAHI_VM_BIND, &args, err);
}

void igt_asahi_vm_bind_one(int fd, uint32_t vm, uint32_t flags, uint32_t handle, uint64_t offset,
			   uint64_t range, uint64_t addr, int err)
{
	const struct drm_asahi_gem_bind_op op = {
		.flags = flags,
		.handle = handle,
		.offset = offset,
		.range = range,
		.addr = addr,
	};

	igt_asahi_vm_bind(fd, vm, &op, 1, err);
}

uint32_t igt_asahi_queue_create(int fd, uint32_t vm, uint32_t priority, int err)
{
	struct drm_asahi_queue_create args = {
		.vm_id = vm,
		.priority = priority,
		.usc_exec_base = IGT_ASAHI_USC_BASE,
	};

	asahi_ioctl(fd, DRM_IOCTL_ASAHI_QUEUE_CREATE, &args, err);
	igt_assert(err || args.queue_id);
	return args.queue_id;
}

void igt_asahi_queue_destroy(int fd, uint32_t queue, int err)
{
	struct drm_asahi_queue_destroy args = { .queue_id = queue };

	asahi_ioctl(fd, DRM_IOCTL_ASAHI_QUEUE_DESTROY, &args, err);
}

uint32_t igt_asahi_gem_create(int fd, uint64_t size, uint32_t flags, uint32_t vm, int err)
{
	struct drm_asahi_gem_create args = {
		.size = size,
		.flags = flags,
		.vm_id = vm,
	};

	asahi_ioctl(fd, DRM_IOCTL_ASAHI_GEM_CREATE, &args, err);
	return args.handle;
}

uint64_t igt_asahi_gem_mmap_offset(int fd, uint32_t handle, int err)
{
	struct drm_asahi_gem_mmap_offset args = { .handle = handle };

	asahi_ioctl(fd, DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, &args, err);
	return args.offset;
}

void *igt_asahi_gem_mmap(int fd, uint32_t handle, size_t size)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 igt_asahi_gem_mmap_offset(fd, handle, 0));

	igt_assert_f(map != MAP_FAILED, "mmap: %s\n", strerror(errno));
	return map;
}

bool igt_asahi_allows(const char *what)
{
	FILE *fp = fopen("/sys/module/asahi/parameters/unproven", "r");
	char line[256] = "", *save, *name;

	if (!fp)
		return false;
	if (!fgets(line, sizeof(line), fp))
		line[0] = 0;
	fclose(fp);
	for (name = strtok_r(line, ",\n", &save); name; name = strtok_r(NULL, ",\n", &save))
		if (!strcmp(name, what))
			return true;
	return false;
}

int igt_asahi_objects(const char *kind)
{
	FILE *fp = fopen("/sys/kernel/debug/asahi/objects", "r");
	char name[64];
	int count = -1;
	int value;

	igt_require_f(fp, "debugfs with counts of objects\n");
	while (count < 0 && fscanf(fp, "%63s %d", name, &value) == 2)
		if (!strcmp(name, kind))
			count = value;
	fclose(fp);
	igt_assert_f(count >= 0, "nothing is said of %s\n", kind);
	return count;
}

void igt_asahi_wait_objects(const char *kind, int count)
{
	unsigned int i;

	for (i = 0; i < 6000 && igt_asahi_objects(kind) > count; i++)
		usleep(10000);
	igt_assert_lte(igt_asahi_objects(kind), count);
}

/* Everything that clients own, and the tables of their VMs. */
static int ioctl_count_owned(void)
{
	static const char *const kinds[] = {
		"files", "vms", "gem-objects", "timestamp-objects", "queues", "page-tables",
	};
	unsigned int i;
	int total = 0;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		total += igt_asahi_objects(kinds[i]);
	return total;
}

/* Return: whether there are objects that keep others until a worker or the GPU is done. */
static bool ioctl_keeps_objects(void)
{
	return igt_asahi_objects("jobs") || igt_asahi_objects("queues") ||
	       igt_asahi_objects("vms");
}

void igt_asahi_settle(void)
{
	int now = ioctl_count_owned(), last;
	unsigned int i, same = 0;

	for (i = 0; i < 1200 && same < 10; i++) {
		usleep(50000);
		last = now;
		now = ioctl_count_owned();
		same = now == last && !ioctl_keeps_objects() ? same + 1 : 0;
	}
	if (same < 10)
		igt_warn("others have %d jobs, %d queues and %d VMs\n",
			 igt_asahi_objects("jobs"), igt_asahi_objects("queues"),
			 igt_asahi_objects("vms"));
}

uint64_t igt_asahi_memory(int fd, const char *what)
{
	char line[256], path[64], unit[8] = "";
	size_t length = strlen(what);
	uint64_t value = 0;
	bool found = false;
	FILE *fp;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	fp = fopen(path, "r");
	igt_assert(fp);
	while (!found && fgets(line, sizeof(line), fp))
		found = !strncmp(line, what, length) && line[length] == ':' &&
			sscanf(line + length + 1, "%" SCNu64 " %7s", &value, unit) >= 1;
	fclose(fp);
	if (!strcmp(unit, "KiB"))
		value <<= 10;
	else if (!strcmp(unit, "MiB"))
		value <<= 20;
	return found ? value : 0;
}

static void ioctl_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	igt_require_f(fd >= 0, "%s\n", path);
	igt_assert_eq(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Allocations that may sleep are spared otherwise, and each failure fills the log. */
static void ioctl_prepare_injection(void)
{
	ioctl_write_file("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	ioctl_write_file("/sys/kernel/debug/failslab/verbose", "0");
	ioctl_write_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	ioctl_write_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N");
	ioctl_write_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	ioctl_write_file("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	ioctl_write_file("/sys/kernel/debug/fail_usercopy/verbose", "0");
}

struct live {
	int objects;
	int tables;
	int vms;
	int queues;
};

static struct live ioctl_count_live(void)
{
	return (struct live){
		.objects = igt_asahi_objects("gem-objects"),
		.tables = igt_asahi_objects("page-tables"),
		.vms = igt_asahi_objects("vms"),
		.queues = igt_asahi_objects("queues"),
	};
}

static bool ioctl_no_more_live(const struct live *now, const struct live *before)
{
	return now->objects <= before->objects && now->tables <= before->tables &&
	       now->vms <= before->vms && now->queues <= before->queues;
}

/* A worker frees queues, a moment after they are destroyed. */
static struct live ioctl_count_live_until(const struct live *before)
{
	struct live now = ioctl_count_live();
	unsigned int i;

	for (i = 0; i < 500 && !ioctl_no_more_live(&now, before); i++) {
		usleep(10000);
		now = ioctl_count_live();
	}
	return now;
}

/* Of the thread that has opened it: tests have one. */
static int ioctl_fail_nth_fd = -1;

void igt_asahi_fail_nth(unsigned int nth)
{
	char text[16];

	if (ioctl_fail_nth_fd < 0) {
		ioctl_prepare_injection();
		ioctl_fail_nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
		igt_require_f(ioctl_fail_nth_fd >= 0, "fault injection\n");
	}
	snprintf(text, sizeof(text), "%u", nth);
	igt_assert(pwrite(ioctl_fail_nth_fd, text, strlen(text), 0) > 0);
}

bool igt_asahi_has_failed(void)
{
	char text[16] = "";
	/*
	 * What is left of the count: nothing once it has happened. If it has not, these calls
	 * may be what it happens to.
	 */
	const bool failed = pread(ioctl_fail_nth_fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);

	while (pwrite(ioctl_fail_nth_fd, "0", 1, 0) < 0)
		;
	return failed;
}

void igt_asahi_fail_allocations(int fd, unsigned long request, void *arg,
				void (*undo)(int fd, const void *arg))
{
	struct live before = ioctl_count_live(), after;
	unsigned int nth = 0, errors = 0;
	bool injected = true;
	int ret, err;

	while (injected) {
		igt_asahi_fail_nth(++nth);
		ret = ioctl(fd, request, arg);
		err = errno;
		injected = igt_asahi_has_failed();
		if (!ret)
			undo(fd, arg);
		if (!ret || err != EFAULT) {
			igt_assert_f(!ret || err == ENOMEM, "%s at %u\n", strerror(err), nth);
			after = ioctl_count_live_until(&before);
			igt_assert_lte(after.objects, before.objects);
			igt_assert_lte(after.tables, before.tables);
			igt_assert_lte(after.vms, before.vms);
			igt_assert_lte(after.queues, before.queues);
		} else {
			after = ioctl_count_live();
		}
		before = after;
		errors += !!ret;
	}
	igt_info("%u failures, %u of them errors\n", nth - 1, errors);
	igt_assert_lt(2, errors);
}
