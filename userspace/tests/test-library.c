// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include <cmocka.h>

#include "asahi_drmif.h"
#include "fake_drm.h"

static int open_device(void **state)
{
	struct asahi_device *dev;

	if (asahi_device_open(NULL, &dev))
		return -1;
	*state = dev;
	return 0;
}

/* Whatever a test made has to be gone. */
static int close_device(void **state)
{
	asahi_device_unref(*state);
	return fake_drm_live_objects() ? -1 : 0;
}

static void test_open(void **state)
{
	struct asahi_device *dev;

	assert_int_equal(asahi_device_open("/nonexistent", &dev), -ENOENT);
	assert_int_equal(asahi_device_new(-1, &dev), -EBADF);
	fake_drm_fail(DRM_IOCTL_ASAHI_GET_PARAMS, ENODEV);
	assert_int_equal(asahi_device_open(NULL, &dev), -ENODEV);
	fake_drm_fail(DRM_IOCTL_ASAHI_GET_PARAMS, EACCES);
	assert_int_equal(asahi_device_open(NULL, &dev), -EACCES);
	assert_int_equal(asahi_device_new(fake_drm_fd(), &dev), 0);
	assert_int_not_equal(asahi_device_fd(dev), fake_drm_fd());
	assert_ptr_equal(asahi_device_ref(dev), dev);
	asahi_device_unref(dev);
	assert_int_equal(asahi_device_params(dev)->chip_id, 0x8103);
	asahi_device_unref(dev);
	asahi_device_unref(NULL);
}

static void test_time(void **state)
{
	uint64_t ns = 0;

	assert_int_equal(asahi_device_get_time(*state, &ns), 0);
	assert_int_not_equal(ns, 0);
	fake_drm_fail(DRM_IOCTL_ASAHI_GET_TIME, ENODEV);
	assert_int_equal(asahi_device_get_time(*state, &ns), -ENODEV);
}

static void test_vm_addresses(void **state)
{
	const struct drm_asahi_params_global *params =
		asahi_device_params(*state);
	uint64_t usc, main_addr, next, aligned;
	struct asahi_vm *vm;

	assert_int_equal(asahi_vm_new(*state, &vm), 0);
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_USC, 1, 0, &usc), 0);
	assert_int_equal(usc, asahi_vm_usc_base(vm));
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, 0x4001, 0,
					&main_addr), 0);
	assert_true(main_addr >= asahi_vm_usc_base(vm) + (UINT64_C(4) << 30));
	assert_true(main_addr < params->vm_end - params->vm_kernel_min_size);
	/* nothing comes right behind it: the GPU may read past an end */
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, 1, 0, &next), 0);
	assert_true(next >= main_addr + 3 * ASAHI_PAGE_SIZE);
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, 0x4000,
					1 << 21, &aligned), 0);
	assert_int_equal(aligned % (1 << 21), 0);

	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, 0, 0, &usc),
			 -EINVAL);
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_COUNT, 1, 0, &usc),
			 -EINVAL);
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, 1, 3, &usc),
			 -EINVAL);
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, UINT64_MAX, 0,
					&usc), -EINVAL);
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_USC, UINT64_C(5) << 30,
					0, &usc), -ENOSPC);
	assert_int_equal(asahi_vm_free(vm, 0x4000, 0x4000), -EINVAL);
	assert_int_equal(asahi_vm_free(vm, main_addr + 1, 1), -EINVAL);
	assert_int_equal(asahi_vm_free(vm, main_addr, UINT64_MAX), -EINVAL);
	assert_int_equal(asahi_vm_free(vm, main_addr, 0x4001), 0);
	assert_int_equal(asahi_vm_free(vm, main_addr, 0x4001), -EINVAL);
	asahi_vm_unref(vm);
}

static void test_vm_errors(void **state)
{
	struct asahi_vm *vm;
	struct asahi_bo *bo;
	uint64_t first, again;

	fake_drm_fail(DRM_IOCTL_ASAHI_VM_CREATE, ENOMEM);
	assert_int_equal(asahi_vm_new(*state, &vm), -ENOMEM);
	assert_int_equal(asahi_vm_new(*state, &vm), 0);
	assert_int_equal(asahi_bo_new(*state, 1, 0, vm, &bo), 0);
	assert_int_equal(asahi_vm_map(vm, ASAHI_HEAP_MAIN, bo,
				      DRM_ASAHI_BIND_READ, &first), 0);
	assert_int_equal(asahi_vm_unmap(vm, bo, first), 0);
	/* addresses come back after an error */
	fake_drm_fail(DRM_IOCTL_ASAHI_VM_BIND, ENOMEM);
	assert_int_equal(asahi_vm_map(vm, ASAHI_HEAP_MAIN, bo,
				      DRM_ASAHI_BIND_READ, &again), -ENOMEM);
	assert_int_equal(asahi_vm_map(vm, ASAHI_HEAP_MAIN, bo,
				      DRM_ASAHI_BIND_READ, &again), 0);
	assert_int_equal(first, again);
	asahi_bo_unref(bo);
	asahi_vm_unref(vm);
}

static void test_bo(void **state)
{
	void *map = NULL, *again = NULL;
	struct asahi_bo *bo;

	assert_int_equal(asahi_bo_new(*state, 0, 0, NULL, &bo), -EINVAL);
	assert_int_equal(asahi_bo_new(*state, UINT64_MAX, 0, NULL, &bo),
			 -EINVAL);
	fake_drm_fail(DRM_IOCTL_ASAHI_GEM_CREATE, ENOMEM);
	assert_int_equal(asahi_bo_new(*state, 1, 0, NULL, &bo), -ENOMEM);

	assert_int_equal(asahi_bo_new(*state, 0x4001, 0, NULL, &bo), 0);
	assert_int_equal(asahi_bo_size(bo), 0x8000);
	assert_int_not_equal(asahi_bo_handle(bo), 0);
	fake_drm_fail(DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, ENODEV);
	assert_int_equal(asahi_bo_map(bo, &map), -ENODEV);
	assert_int_equal(asahi_bo_map(bo, &map), 0);
	assert_int_equal(asahi_bo_map(bo, &again), 0);
	assert_ptr_equal(map, again);
	memset(map, 1, 0x8000);
	asahi_bo_unref(bo);
	asahi_bo_unref(NULL);
}

static void test_prime(void **state)
{
	struct asahi_bo *bo, *same;
	int fd;

	assert_int_equal(asahi_bo_new(*state, 0x8000, 0, NULL, &bo), 0);
	assert_int_equal(asahi_bo_export(bo, &fd), 0);
	/* one kernel handle must be one object: closing it twice is wrong */
	assert_int_equal(asahi_bo_import(*state, fd, &same), 0);
	assert_ptr_equal(bo, same);
	asahi_bo_unref(bo);
	assert_int_equal(asahi_bo_size(same), 0x8000);
	asahi_bo_unref(same);
	assert_int_equal(asahi_bo_import(*state, fd, &same), -EINVAL);
	assert_int_equal(asahi_bo_import(*state, -1, &same), -EBADF);
	close(fd);
}

struct queue_fixture {
	struct asahi_device *dev;
	struct asahi_vm *vm;
	struct asahi_queue *queue;
	struct asahi_submit *submit;
};

static int open_queue(void **state)
{
	struct queue_fixture *f = calloc(1, sizeof(*f));

	if (!f || asahi_device_open(NULL, &f->dev) ||
	    asahi_vm_new(f->dev, &f->vm) ||
	    asahi_queue_new(f->vm, DRM_ASAHI_PRIORITY_LOW, &f->queue) ||
	    asahi_submit_new(f->queue, &f->submit))
		return -1;
	*state = f;
	return 0;
}

static int close_queue(void **state)
{
	struct queue_fixture *f = *state;

	/* in the wrong order, which references make right */
	asahi_device_unref(f->dev);
	asahi_vm_unref(f->vm);
	asahi_queue_unref(f->queue);
	asahi_submit_free(f->submit);
	free(f);
	return fake_drm_live_objects() ? -1 : 0;
}

static void test_queue_errors(void **state)
{
	struct queue_fixture *f = *state;
	struct asahi_queue *queue;

	assert_int_equal(asahi_queue_new(f->vm, DRM_ASAHI_PRIORITY_REALTIME,
					 &queue), -EPERM);
	assert_int_not_equal(asahi_queue_id(f->queue), 0);
	assert_ptr_equal(asahi_queue_ref(f->queue), f->queue);
	asahi_queue_unref(f->queue);
}

/* Attachments only: nothing that the GPU would run. */
static void test_submit_bytes(void **state)
{
	static const struct drm_asahi_attachment attachments[2] = {
		{ .pointer = 0x10000, .size = 0x4000 },
		{ .pointer = 0x20000, .size = 0x8000 },
	};
	const struct fake_drm_submit *last = fake_drm_last_submit();
	struct queue_fixture *f = *state;
	struct drm_asahi_cmd_header header;
	uint32_t in, out, point;
	int fd = asahi_device_fd(f->dev);

	assert_int_equal(drmSyncobjCreate(fd, DRM_SYNCOBJ_CREATE_SIGNALED, &in),
			 0);
	assert_int_equal(drmSyncobjCreate(fd, 0, &out), 0);
	assert_int_equal(drmSyncobjCreate(fd, 0, &point), 0);
	asahi_submit_wait(f->submit, in, 0);
	asahi_submit_signal(f->submit, out, 0);
	asahi_submit_signal(f->submit, point, 17);
	asahi_submit_attachments(f->submit, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS,
				 attachments, 2);
	assert_int_equal(asahi_submit_flush(f->submit), 0);

	assert_int_equal(last->queue_id, asahi_queue_id(f->queue));
	assert_int_equal(last->in_syncs, 1);
	assert_int_equal(last->out_syncs, 2);
	assert_int_equal(last->cmdbuf_size,
			 sizeof(header) + sizeof(attachments));
	memcpy(&header, last->cmdbuf, sizeof(header));
	assert_int_equal(header.cmd_type, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS);
	assert_int_equal(header.size, sizeof(attachments));
	assert_int_equal(header.vdm_barrier, DRM_ASAHI_BARRIER_NONE);
	assert_int_equal(header.cdm_barrier, DRM_ASAHI_BARRIER_NONE);
	assert_memory_equal(last->cmdbuf + sizeof(header), attachments,
			    sizeof(attachments));
	assert_int_equal(asahi_fence_wait(f->dev, out, 0), 0);
	assert_int_equal(asahi_fence_wait(f->dev, point, 0), 0);

	/* empty again */
	assert_int_equal(asahi_submit_flush(f->submit), -EINVAL);
	drmSyncobjDestroy(fd, in);
	drmSyncobjDestroy(fd, out);
	drmSyncobjDestroy(fd, point);
}

static void test_submit_errors(void **state)
{
	static const struct drm_asahi_attachment attachment = { .size = 1 };
	struct queue_fixture *f = *state;
	uint32_t unsignaled;

	/* the first error stays until the reset */
	asahi_submit_attachments(f->submit, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS,
				 &attachment, 100000);
	asahi_submit_signal(f->submit, 1, 0);
	assert_int_equal(asahi_submit_flush(f->submit), -E2BIG);
	assert_int_equal(asahi_submit_run(f->submit, 0), -E2BIG);
	asahi_submit_reset(f->submit);

	/* after the kernel's error the same submission can go again */
	asahi_submit_attachments(f->submit, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS,
				 &attachment, 1);
	fake_drm_fail(DRM_IOCTL_ASAHI_SUBMIT, ENOMEM);
	assert_int_equal(asahi_submit_run(f->submit, 0), -ENOMEM);
	assert_int_equal(asahi_submit_run(f->submit, 0), 0);
	/* more than any kernel takes */
	asahi_submit_raw(f->submit, &attachment, SIZE_MAX);
	assert_int_equal(asahi_submit_flush(f->submit), -E2BIG);
	asahi_submit_reset(f->submit);

	assert_int_equal(drmSyncobjCreate(asahi_device_fd(f->dev), 0,
					  &unsignaled), 0);
	assert_int_equal(asahi_fence_wait(f->dev, unsignaled, -1), -ETIME);
	assert_int_equal(asahi_fence_wait(f->dev, unsignaled, INT64_MAX),
			 -ETIME);
	drmSyncobjDestroy(asahi_device_fd(f->dev), unsignaled);
	assert_int_equal(asahi_fence_wait(f->dev, unsignaled, 0), -ENOENT);
}

/* A stream that is not there: a fault, which the fence and the queue report. */
static void test_fault(void **state)
{
	const struct drm_asahi_cmd_compute cmd = {
		.cdm_ctrl_stream_base = UINT64_C(0x300000000),
		.cdm_ctrl_stream_end = UINT64_C(0x300000008),
	};
	struct queue_fixture *f = *state;

	asahi_submit_compute(f->submit, &cmd, ASAHI_BARRIER_NONE);
	assert_int_equal(asahi_submit_run(f->submit, 0), -EIO);
	asahi_submit_compute(f->submit, &cmd, ASAHI_BARRIER_NONE);
	assert_int_equal(asahi_submit_run(f->submit, 0), -EIO);
}

#define DEVICE_TEST(test) \
	cmocka_unit_test_setup_teardown(test, open_device, close_device)
#define QUEUE_TEST(test) \
	cmocka_unit_test_setup_teardown(test, open_queue, close_queue)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		DEVICE_TEST(test_time),
		DEVICE_TEST(test_vm_addresses),
		DEVICE_TEST(test_vm_errors),
		DEVICE_TEST(test_bo),
		DEVICE_TEST(test_prime),
		QUEUE_TEST(test_queue_errors),
		QUEUE_TEST(test_submit_bytes),
		QUEUE_TEST(test_submit_errors),
		QUEUE_TEST(test_fault),
	};

	return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
