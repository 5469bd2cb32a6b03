// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the driver answers to wrong arguments: each documented error of the
 * ioctls for parameters, time, address spaces and buffers, and the rules for
 * arguments that are shorter or longer than the kernel's.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "asahi_drmif.h"
#include "tap.h"

#define PAGE		UINT64_C(0x4000)
#define BAD_POINTER	UINT64_C(0x10)
#define NO_ID		0x7fffffffu

static struct asahi_device *dev;
static const struct drm_asahi_params_global *params;
static int fd;

static int call(unsigned long request, void *arg)
{
	return drmIoctl(fd, request, arg) ? -errno : 0;
}

/* The same ioctl with an argument of another size. */
static unsigned long resized(unsigned long request, unsigned int size)
{
	return _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request),
		    size);
}

/* GET_PARAMS and GET_TIME */

static int get_params(uint32_t group, uint32_t pad, void *pointer,
		      uint64_t size)
{
	struct drm_asahi_get_params args = {
		.param_group = group,
		.pad = pad,
		.pointer = (uintptr_t)pointer,
		.size = size,
	};

	return call(DRM_IOCTL_ASAHI_GET_PARAMS, &args);
}

static bool all_bytes(const uint8_t *p, size_t size, uint8_t value)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (p[i] != value)
			return false;
	}
	return true;
}

static void test_get_params(void)
{
	uint8_t buf[sizeof(*params) + 64];

	tap_error(get_params(1, 0, buf, sizeof(buf)), -EINVAL,
		  "GET_PARAMS of group 1");
	tap_error(get_params(0, 1, buf, sizeof(buf)), -EINVAL,
		  "GET_PARAMS with padding");
	tap_error(get_params(0, 0, (void *)(uintptr_t)BAD_POINTER, 8), -EFAULT,
		  "GET_PARAMS to nowhere");

	memset(buf, 0xaa, sizeof(buf));
	tap_error(get_params(0, 0, buf, 12), 0, "GET_PARAMS of 12 bytes");
	tap(!memcmp(buf, params, 12) && all_bytes(buf + 12, 64, 0xaa),
	    "GET_PARAMS writes no more than was asked for");
	tap_error(get_params(0, 0, buf, 0), 0, "GET_PARAMS of no bytes");

	memset(buf, 0xaa, sizeof(buf));
	tap_error(get_params(0, 0, buf, sizeof(buf)), 0,
		  "GET_PARAMS of more than there is");
	tap(!memcmp(buf, params, sizeof(*params)) &&
	    all_bytes(buf + sizeof(*params), 64, 0),
	    "GET_PARAMS zeroes what the kernel does not know");
}

static void test_get_time(void)
{
	struct drm_asahi_get_time args = { .flags = 1 };
	uint64_t first = 0, second = 0;

	tap_error(call(DRM_IOCTL_ASAHI_GET_TIME, &args), -EINVAL,
		  "GET_TIME with flags");
	tap(!asahi_device_get_time(dev, &first) && !usleep(1000) &&
	    !asahi_device_get_time(dev, &second) && second > first,
	    "GET_TIME goes on");
}

/* Arguments of another size: the outer rule is the DRM core's */

static void test_argument_sizes(void)
{
	struct {
		struct drm_asahi_vm_destroy args;
		uint64_t more;
	} large = { .args = { .vm_id = NO_ID } };
	uint64_t small = NO_ID;
	struct {
		struct drm_asahi_get_time args;
		uint64_t more;
	} time = { .args = { .flags = 0 }, .more = 17 };

	tap_error(call(resized(DRM_IOCTL_ASAHI_VM_DESTROY, sizeof(large)),
		       &large), -ENOENT, "a longer argument with zeroes");
	large.more = 1;
	tap_error(call(resized(DRM_IOCTL_ASAHI_VM_DESTROY, sizeof(large)),
		       &large), -ENOENT, "a longer argument with other bytes");
	tap_error(call(resized(DRM_IOCTL_ASAHI_VM_DESTROY, 4), &small), -ENOENT,
		  "a shorter argument");
	tap_error(call(resized(DRM_IOCTL_ASAHI_GET_TIME, sizeof(time)), &time),
		  0, "a longer argument that is written");
	tap(time.args.gpu_timestamp, "a longer argument gets its result");
	tap_error(call(DRM_IO(DRM_COMMAND_BASE + 0x1f), NULL), -EINVAL,
		  "an unknown ioctl");
}

/* VM_CREATE and VM_DESTROY */

static int vm_create(uint64_t start, uint64_t end, uint32_t pad, uint32_t *id)
{
	struct drm_asahi_vm_create args = {
		.kernel_start = start,
		.kernel_end = end,
		.pad = pad,
	};
	int err = call(DRM_IOCTL_ASAHI_VM_CREATE, &args);

	if (id)
		*id = args.vm_id;
	return err;
}

static int vm_destroy(uint32_t id, uint32_t pad)
{
	struct drm_asahi_vm_destroy args = { .vm_id = id, .pad = pad };

	return call(DRM_IOCTL_ASAHI_VM_DESTROY, &args);
}

static void test_vm_create(void)
{
	uint64_t size = params->vm_kernel_min_size;
	uint64_t start = params->vm_end - size;
	uint64_t end = params->vm_end;
	uint32_t id;

	tap_error(vm_create(start, end, 1, NULL), -EINVAL,
		  "VM_CREATE with padding");
	tap_error(vm_create(start + 1, end, 0, NULL), -EINVAL,
		  "VM_CREATE, unaligned start");
	tap_error(vm_create(start, end - 1, 0, NULL), -EINVAL,
		  "VM_CREATE, unaligned end");
	tap_error(vm_create(start + PAGE, end, 0, NULL), -EINVAL,
		  "VM_CREATE, range too small");
	tap_error(vm_create(start, end + PAGE, 0, NULL), -EINVAL,
		  "VM_CREATE, range beyond the end");
	tap_error(vm_create(params->vm_start - PAGE, end, 0, NULL), -EINVAL,
		  "VM_CREATE, range before the start");
	tap_error(vm_create(end, start, 0, NULL), -EINVAL,
		  "VM_CREATE, end before start");
	tap_error(vm_create(-PAGE, PAGE, 0, NULL), -EINVAL,
		  "VM_CREATE, range that wraps around");
	tap_error(vm_create(0, 0, 0, NULL), -EINVAL, "VM_CREATE, no range");

	tap_error(vm_create(params->vm_start, params->vm_start + size, 0, &id),
		  0, "VM_CREATE, range at the start");
	tap_error(vm_destroy(id, 1), -EINVAL, "VM_DESTROY with padding");
	tap_error(vm_destroy(id, 0), 0, "VM_DESTROY");
	tap_error(vm_destroy(id, 0), -ENOENT, "VM_DESTROY a second time");
	tap_error(vm_destroy(0, 0), -ENOENT, "VM_DESTROY of 0");
	tap_error(vm_destroy(UINT32_MAX, 0), -ENOENT, "VM_DESTROY of 2^32-1");
}

/* GEM_CREATE, GEM_MMAP_OFFSET, PRIME */

static int gem_create(uint64_t size, uint32_t flags, uint32_t vm, uint32_t pad,
		      uint32_t *handle)
{
	struct drm_asahi_gem_create args = {
		.size = size,
		.flags = flags,
		.vm_id = vm,
		.pad = pad,
	};
	int err = call(DRM_IOCTL_ASAHI_GEM_CREATE, &args);

	if (handle)
		*handle = args.handle;
	return err;
}

static int mmap_offset(uint32_t handle, uint32_t flags, uint64_t *offset)
{
	struct drm_asahi_gem_mmap_offset args = {
		.handle = handle,
		.flags = flags,
	};
	int err = call(DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, &args);

	if (offset)
		*offset = args.offset;
	return err;
}

static void test_gem_create(uint32_t vm)
{
	uint64_t range = params->vm_end - params->vm_start;

	tap_error(gem_create(PAGE, 0, 0, 1, NULL), -EINVAL,
		  "GEM_CREATE with padding");
	tap_error(gem_create(PAGE, 1 << 2, 0, 0, NULL), -EINVAL,
		  "GEM_CREATE, unknown flag");
	tap_error(gem_create(PAGE, UINT32_MAX, vm, 0, NULL), -EINVAL,
		  "GEM_CREATE, all flags");
	tap_error(gem_create(0, 0, 0, 0, NULL), -EINVAL, "GEM_CREATE, size 0");
	tap_error(gem_create(range + 1, 0, 0, 0, NULL), -EINVAL,
		  "GEM_CREATE, larger than the addresses");
	tap_error(gem_create(UINT64_MAX, 0, 0, 0, NULL), -EINVAL,
		  "GEM_CREATE, size 2^64-1");
	tap_error(gem_create(range, 0, 0, 0, NULL), -ENOMEM,
		  "GEM_CREATE, larger than the machine");
	tap_error(gem_create(PAGE, 0, vm, 0, NULL), -EINVAL,
		  "GEM_CREATE, VM without VM_PRIVATE");
	tap_error(gem_create(PAGE, DRM_ASAHI_GEM_VM_PRIVATE, NO_ID, 0, NULL),
		  -ENOENT, "GEM_CREATE, unknown VM");
	tap_error(gem_create(PAGE, DRM_ASAHI_GEM_VM_PRIVATE, 0, 0, NULL),
		  -ENOENT, "GEM_CREATE, VM 0");
}

static void test_gem_memory(void)
{
	uint64_t offset = 0;
	uint32_t handle;
	uint8_t *map;

	if (!tap_error(gem_create(1, 0, 0, 0, &handle), 0,
		       "GEM_CREATE of one byte"))
		return;
	tap_error(mmap_offset(handle, 1, NULL), -EINVAL,
		  "GEM_MMAP_OFFSET with flags");
	tap_error(mmap_offset(NO_ID, 0, NULL), -ENOENT,
		  "GEM_MMAP_OFFSET, unknown handle");
	tap_error(mmap_offset(0, 0, NULL), -ENOENT,
		  "GEM_MMAP_OFFSET, handle 0");
	tap_error(mmap_offset(handle, 0, &offset), 0, "GEM_MMAP_OFFSET");

	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (tap(map != MAP_FAILED, "mmap of the whole page")) {
		tap(all_bytes(map, PAGE, 0), "new memory is zero");
		memset(map, 1, PAGE);
		munmap(map, PAGE);
	}
	tap(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, offset) ==
	    MAP_FAILED, "mmap of more than the object fails");
	tap(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, offset + (1ull << 40)) ==
	    MAP_FAILED, "mmap of an offset that is none fails");

	tap_error(drmCloseBufferHandle(fd, handle) ? -errno : 0, 0,
		  "closing the handle");
	tap_error(drmCloseBufferHandle(fd, handle) ? -errno : 0, -EINVAL,
		  "closing the handle a second time");
	tap_error(mmap_offset(handle, 0, NULL), -ENOENT,
		  "GEM_MMAP_OFFSET of a closed handle");
}

static void test_prime(uint32_t vm)
{
	uint32_t handle, same;
	int prime = -1;

	gem_create(PAGE, DRM_ASAHI_GEM_VM_PRIVATE, vm, 0, &handle);
	tap_error(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC, &prime) ?
			  -errno : 0, -EINVAL, "exporting a private object");
	drmCloseBufferHandle(fd, handle);

	gem_create(PAGE, 0, 0, 0, &handle);
	tap_error(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR,
				     &prime) ? -errno : 0, 0,
		  "exporting an object");
	tap(!drmPrimeFDToHandle(fd, prime, &same) && same == handle,
	    "importing one's own object gives the same handle");
	tap(drmPrimeFDToHandle(fd, fd, &same) && errno == EINVAL,
	    "importing what is no dma-buf");
	drmCloseBufferHandle(fd, handle);
	close(prime);
}

/* VM_BIND */

static struct drm_asahi_gem_bind_op good_op(uint32_t handle)
{
	return (struct drm_asahi_gem_bind_op){
		.flags = DRM_ASAHI_BIND_READ,
		.handle = handle,
		.range = PAGE,
		.addr = UINT64_C(1) << 32,
	};
}

static int vm_bind_raw(uint32_t vm, const void *ops, uint32_t count,
		       uint32_t stride, uint32_t pad)
{
	struct drm_asahi_vm_bind args = {
		.vm_id = vm,
		.num_binds = count,
		.stride = stride,
		.pad = pad,
		.userptr = (uintptr_t)ops,
	};

	return call(DRM_IOCTL_ASAHI_VM_BIND, &args);
}

static int vm_bind(uint32_t vm, const struct drm_asahi_gem_bind_op *op)
{
	return vm_bind_raw(vm, op, 1, sizeof(*op), 0);
}

/* Each is a good operation but for one field. */
static void test_bind_ops(uint32_t vm, uint32_t handle, uint32_t foreign)
{
	static const struct {
		const char *name;
		uint32_t flags;
		uint64_t offset, range, addr;
		int err;
	} cases[] = {
		{ "no permission", 0, 0, PAGE, 1ull << 32, EINVAL },
		{ "unknown flag", 1 << 4 | 2, 0, PAGE, 1ull << 32, EINVAL },
		{ "all flags", UINT32_MAX, 0, PAGE, 1ull << 32, EINVAL },
		{ "single page without permission", 8, 0, PAGE, 1ull << 32,
		  EINVAL },
		{ "no range", 2, 0, 0, 1ull << 32, EINVAL },
		{ "unaligned range", 2, 0, PAGE + 1, 1ull << 32, EINVAL },
		{ "unaligned address", 2, 0, PAGE, (1ull << 32) + 1, EINVAL },
		{ "unaligned offset", 2, 1, PAGE, 1ull << 32, EINVAL },
		{ "a 4 KiB page", 2, 0, 0x1000, 1ull << 32, EINVAL },
		{ "more than the object", 2, 0, 3 * PAGE, 1ull << 32, EINVAL },
		{ "offset behind the object", 2, 2 * PAGE, PAGE, 1ull << 32,
		  EINVAL },
		{ "single page behind the object", 10, 2 * PAGE, PAGE,
		  1ull << 32, EINVAL },
		{ "offset that wraps around", 2, -PAGE, 2 * PAGE, 1ull << 32,
		  EINVAL },
		{ "range that wraps around", 2, 0, PAGE, -PAGE, EINVAL },
		{ "range of nearly 2^64", 2, 0, -PAGE, 1ull << 32, EINVAL },
		{ "address 0", 2, 0, PAGE, 0, EINVAL },
		{ "address beyond the end", 2, 0, PAGE, 1ull << 39, EINVAL },
	};
	struct drm_asahi_gem_bind_op op;
	char name[80];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		op = good_op(handle);
		op.flags = cases[i].flags;
		op.offset = cases[i].offset;
		op.range = cases[i].range;
		op.addr = cases[i].addr;
		snprintf(name, sizeof(name), "VM_BIND, %s", cases[i].name);
		tap_error(vm_bind(vm, &op), -cases[i].err, name);
	}

	op = good_op(handle);
	op.addr = params->vm_end - params->vm_kernel_min_size;
	tap_error(vm_bind(vm, &op), -EINVAL, "VM_BIND, the kernel's range");
	op.addr -= PAGE;
	op.range = 2 * PAGE;
	tap_error(vm_bind(vm, &op), -EINVAL, "VM_BIND, into the kernel's range");
	op = good_op(NO_ID);
	tap_error(vm_bind(vm, &op), -ENOENT, "VM_BIND, unknown handle");
	op = good_op(0);
	tap_error(vm_bind(vm, &op), -ENOENT, "VM_BIND, handle 0");
	op = good_op(foreign);
	tap_error(vm_bind(vm, &op), -EINVAL,
		  "VM_BIND, an object private to another VM");
	op = good_op(handle);
	tap_error(vm_bind(NO_ID, &op), -ENOENT, "VM_BIND, unknown VM");
	tap_error(vm_bind(0, &op), -ENOENT, "VM_BIND, VM 0");
	tap_error(vm_bind(vm, &op), 0, "VM_BIND");
}

static void test_unbind_ops(uint32_t vm, uint32_t handle)
{
	struct drm_asahi_gem_bind_op op = {
		.flags = DRM_ASAHI_BIND_UNBIND,
		.range = PAGE,
		.addr = UINT64_C(1) << 32,
	};

	op.handle = handle;
	tap_error(vm_bind(vm, &op), -EINVAL, "unbinding with a handle");
	op.handle = 0;
	op.offset = PAGE;
	tap_error(vm_bind(vm, &op), -EINVAL, "unbinding with an offset");
	op.offset = 0;
	op.flags |= DRM_ASAHI_BIND_READ;
	tap_error(vm_bind(vm, &op), -EINVAL, "unbinding with a permission");
	op.flags = DRM_ASAHI_BIND_UNBIND;
	tap_error(vm_bind(vm, &op), 0, "unbinding");
	tap_error(vm_bind(vm, &op), 0, "unbinding what is not bound");
	op.addr = UINT64_C(2) << 32;
	op.range = UINT64_C(64) << 30;
	tap_error(vm_bind(vm, &op), 0, "unbinding 64 GiB of nothing");
}

static void test_bind_array(uint32_t vm, uint32_t handle)
{
	struct {
		struct drm_asahi_gem_bind_op op;
		uint64_t more;
	} large[2] = {
		{ .op = good_op(handle) },
		{ .op = good_op(handle) },
	};
	struct drm_asahi_gem_bind_op op = good_op(handle);

	large[1].op.addr += PAGE;
	tap_error(vm_bind_raw(vm, &op, 1, sizeof(op), 1), -EINVAL,
		  "VM_BIND with padding");
	tap_error(vm_bind_raw(vm, &op, 1, sizeof(op) - 8, 0), -EINVAL,
		  "VM_BIND, stride too short");
	tap_error(vm_bind_raw(vm, &op, 1, 0, 0), -EINVAL, "VM_BIND, stride 0");
	tap_error(vm_bind_raw(vm, &op, 1, UINT32_MAX, 0), -EINVAL,
		  "VM_BIND, stride 2^32-1");
	tap_error(vm_bind_raw(vm, large, 2, sizeof(large[0]), 0), 0,
		  "VM_BIND, longer operations with zeroes");
	large[1].more = 1;
	tap_error(vm_bind_raw(vm, large, 2, sizeof(large[0]), 0), -E2BIG,
		  "VM_BIND, longer operations with other bytes");
	tap_error(vm_bind_raw(vm, &op, UINT32_MAX, sizeof(op), 0), -EINVAL,
		  "VM_BIND, 2^32-1 operations");
	tap_error(vm_bind_raw(vm, &op, 65537, sizeof(op), 0), -EINVAL,
		  "VM_BIND, 65,537 operations");
	tap_error(vm_bind_raw(vm, NULL, 0, sizeof(op), 0), 0,
		  "VM_BIND, no operations");
	tap_error(vm_bind_raw(vm, (void *)(uintptr_t)BAD_POINTER, 1, sizeof(op),
			      0), -EFAULT, "VM_BIND, bad pointer");
	tap_error(vm_bind_raw(vm, NULL, 65536, sizeof(op), 0), -EFAULT,
		  "VM_BIND, 65,536 operations from nowhere");
}

/* One file's numbers mean nothing in another one. */
static void test_foreign_ids(uint32_t vm, uint32_t handle)
{
	char *path = drmGetRenderDeviceNameFromFd(fd);
	struct drm_asahi_gem_bind_op op = good_op(handle);
	int own = fd;

	fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	free(path);
	if (tap(fd >= 0, "opening the node again")) {
		tap_error(vm_destroy(vm, 0), -ENOENT, "VM_DESTROY of another's");
		tap_error(vm_bind(vm, &op), -ENOENT, "VM_BIND of another's");
		tap_error(mmap_offset(handle, 0, NULL), -ENOENT,
			  "GEM_MMAP_OFFSET of another's");
		tap_error(gem_create(PAGE, DRM_ASAHI_GEM_VM_PRIVATE, vm, 0,
				     NULL), -ENOENT,
			  "GEM_CREATE for another's VM");
		close(fd);
	}
	fd = own;
}

static void test_not_yet(void)
{
	struct drm_asahi_gem_bind_object args = {
		.flags = DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS,
		.range = PAGE,
	};

	tap_error(call(DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args), -EOPNOTSUPP,
		  "GEM_BIND_OBJECT");
	args.pad = 1;
	tap_error(call(DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args), -EINVAL,
		  "GEM_BIND_OBJECT with padding");
	args.pad = 0;
	args.op = 2;
	tap_error(call(DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args), -EINVAL,
		  "GEM_BIND_OBJECT, unknown operation");
}

static void test_objects(void)
{
	uint64_t start = params->vm_end - params->vm_kernel_min_size;
	uint32_t vm, other, handle, foreign;

	if (vm_create(start, params->vm_end, 0, &vm) ||
	    vm_create(start, params->vm_end, 0, &other) ||
	    gem_create(2 * PAGE, DRM_ASAHI_GEM_VM_PRIVATE, vm, 0, &handle) ||
	    gem_create(PAGE, DRM_ASAHI_GEM_VM_PRIVATE, other, 0, &foreign))
		tap_bail_out("no address space or buffer");

	test_gem_create(vm);
	test_gem_memory();
	test_prime(vm);
	test_bind_ops(vm, handle, foreign);
	test_unbind_ops(vm, handle);
	test_bind_array(vm, handle);
	test_foreign_ids(vm, handle);

	/* in the wrong order */
	tap_error(vm_destroy(vm, 0), 0, "VM_DESTROY while objects are bound");
	drmCloseBufferHandle(fd, handle);
	drmCloseBufferHandle(fd, foreign);
	vm_destroy(other, 0);
}

int main(void)
{
	if (asahi_device_open(NULL, &dev))
		tap_bail_out("no device");
	params = asahi_device_params(dev);
	fd = asahi_device_fd(dev);

	test_get_params();
	test_get_time();
	test_argument_sizes();
	test_vm_create();
	test_not_yet();
	test_objects();

	asahi_device_unref(dev);
	return tap_end();
}
