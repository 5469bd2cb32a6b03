// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "fixture.h"

static unsigned int mappings(void)
{
	struct asahi_shim_objects o;

	asahi_shim_objects(&o);
	return o.mappings;
}

static void test_new(void **state)
{
	const struct asahi_shim_call *call;
	const struct fixture *f = *state;
	struct asahi_bo *bo;

	assert_int_equal(asahi_bo_new(f->dev, 0, 0, NULL, &bo), -EINVAL);
	assert_int_equal(asahi_bo_new(f->dev, UINT64_MAX, 0, NULL, &bo), -EINVAL);
	assert_int_equal(asahi_shim_count(DRM_IOCTL_ASAHI_GEM_CREATE), 0);
	asahi_shim_fail(DRM_IOCTL_ASAHI_GEM_CREATE, 1, ENOMEM);
	assert_int_equal(asahi_bo_new(f->dev, 1, 0, NULL, &bo), -ENOMEM);

	assert_int_equal(asahi_bo_new(f->dev, PAGE + 1, 0, NULL, &bo), 0);
	call = asahi_shim_call(DRM_IOCTL_ASAHI_GEM_CREATE, -1);
	assert_int_equal(call->in.gem_create.size, PAGE + 1);
	assert_int_equal(call->in.gem_create.flags, 0);
	assert_int_equal(call->in.gem_create.vm_id, 0);
	assert_int_equal(asahi_bo_handle(bo), call->out.gem_create.handle);
	assert_int_equal(asahi_bo_size(bo), 2 * PAGE);

	assert_ptr_equal(asahi_bo_ref(bo), bo);
	asahi_bo_unref(bo);
	assert_int_equal(asahi_shim_count(DRM_IOCTL_GEM_CLOSE), 0);
	asahi_bo_unref(bo);
	assert_int_equal(asahi_shim_call(DRM_IOCTL_GEM_CLOSE, -1)->in.gem_close.handle,
			 call->out.gem_create.handle);
	asahi_bo_unref(NULL);
}

static void test_flags(void **state)
{
	const struct drm_asahi_gem_create *args;
	const struct fixture *f = *state;
	struct asahi_bo *bo;

	assert_int_equal(asahi_bo_new(f->dev, PAGE, DRM_ASAHI_GEM_WRITEBACK, NULL, &bo), 0);
	args = &asahi_shim_call(DRM_IOCTL_ASAHI_GEM_CREATE, -1)->in.gem_create;
	assert_int_equal(args->flags, DRM_ASAHI_GEM_WRITEBACK);
	asahi_bo_unref(bo);

	assert_int_equal(asahi_bo_new(f->dev, PAGE, DRM_ASAHI_GEM_WRITEBACK, f->vm, &bo), 0);
	args = &asahi_shim_call(DRM_IOCTL_ASAHI_GEM_CREATE, -1)->in.gem_create;
	assert_int_equal(args->flags, DRM_ASAHI_GEM_WRITEBACK | DRM_ASAHI_GEM_VM_PRIVATE);
	assert_int_equal(args->vm_id, asahi_vm_id(f->vm));
	asahi_bo_unref(bo);

	assert_int_equal(asahi_bo_new(f->dev, PAGE, 0x80, NULL, &bo), -EINVAL);
}

static void test_map(void **state)
{
	const struct fixture *f = *state;
	void *map = NULL, *again = NULL;
	struct asahi_bo *bo;

	assert_int_equal(asahi_bo_new(f->dev, 2 * PAGE, 0, NULL, &bo), 0);
	asahi_shim_fail(DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, 1, ENODEV);
	assert_int_equal(asahi_bo_map(bo, &map), -ENODEV);
	assert_int_equal(asahi_bo_map(bo, &map), 0);
	assert_int_equal(asahi_bo_map(bo, &again), 0);
	assert_ptr_equal(map, again);
	assert_int_equal(mappings(), 1);
	memset(map, 1, 2 * PAGE);
	asahi_bo_unref(bo);
	assert_int_equal(mappings(), 0);
}

static void test_export(void **state)
{
	const struct fixture *f = *state;
	const struct drm_prime_handle *args;
	struct asahi_bo *bo;
	uint8_t *map;
	int fd;

	assert_int_equal(asahi_bo_new(f->dev, PAGE, 0, NULL, &bo), 0);
	assert_int_equal(asahi_bo_export(bo, &fd), 0);
	args = &asahi_shim_call(DRM_IOCTL_PRIME_HANDLE_TO_FD, -1)->in.prime_handle;
	assert_int_equal(args->handle, asahi_bo_handle(bo));
	assert_int_equal(args->flags, DRM_CLOEXEC | DRM_RDWR);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	/* and who gets it can write */
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	*map = 1;
	munmap(map, PAGE);
	close(fd);
	asahi_bo_unref(bo);
}

static void test_export_private(void **state)
{
	const struct fixture *f = *state;
	struct asahi_bo *bo;
	int fd;

	assert_int_equal(asahi_bo_new(f->dev, PAGE, 0, f->vm, &bo), 0);
	assert_int_equal(asahi_bo_export(bo, &fd), -EINVAL);
	asahi_bo_unref(bo);
}

/* One kernel handle is one object: closing it twice would close another one's. */
static void test_import_own(void **state)
{
	const struct fixture *f = *state;
	struct asahi_bo *bo, *same;
	int fd;

	assert_int_equal(asahi_bo_new(f->dev, 2 * PAGE, 0, NULL, &bo), 0);
	assert_int_equal(asahi_bo_export(bo, &fd), 0);
	assert_int_equal(asahi_bo_import(f->dev, fd, &same), 0);
	assert_ptr_equal(bo, same);
	asahi_bo_unref(bo);
	assert_int_equal(asahi_shim_count(DRM_IOCTL_GEM_CLOSE), 0);
	asahi_bo_unref(same);
	assert_int_equal(asahi_shim_count(DRM_IOCTL_GEM_CLOSE), 1);
	close(fd);
}

static void test_import_of_another(void **state)
{
	const struct fixture *f = *state;
	struct asahi_bo *bo, *copy;
	struct asahi_device *other;
	void *map, *copy_map;
	int fd;

	assert_int_equal(asahi_device_open(NULL, &other), 0);
	assert_int_equal(asahi_bo_new(other, 2 * PAGE, 0, NULL, &bo), 0);
	assert_int_equal(asahi_bo_map(bo, &map), 0);
	memset(map, 0x5a, 2 * PAGE);
	assert_int_equal(asahi_bo_export(bo, &fd), 0);
	asahi_bo_unref(bo);
	asahi_device_unref(other);

	assert_int_equal(asahi_bo_import(f->dev, fd, &copy), 0);
	close(fd);
	assert_int_equal(asahi_bo_size(copy), 2 * PAGE);
	assert_int_equal(asahi_bo_map(copy, &copy_map), 0);
	assert_int_equal(((uint8_t *)copy_map)[2 * PAGE - 1], 0x5a);
	asahi_bo_unref(copy);
}

static void test_import_errors(void **state)
{
	const struct fixture *f = *state;
	struct asahi_bo *bo;
	int fd = open("/dev/zero", O_RDWR);

	assert_int_equal(asahi_bo_import(f->dev, fd, &bo), -EINVAL);
	assert_int_equal(asahi_bo_import(f->dev, -1, &bo), -EBADF);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVICE_TEST(test_new),
		VM_TEST(test_flags),
		DEVICE_TEST(test_map),
		DEVICE_TEST(test_export),
		VM_TEST(test_export_private),
		DEVICE_TEST(test_import_own),
		DEVICE_TEST(test_import_of_another),
		DEVICE_TEST(test_import_errors),
	};

	return cmocka_run_group_tests_name("bo", tests, NULL, NULL);
}
