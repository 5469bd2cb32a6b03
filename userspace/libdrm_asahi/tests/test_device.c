// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xf86drm.h>

#include "fixture.h"

static void test_errors(void **state)
{
	struct asahi_device *dev;

	assert_int_equal(asahi_device_open("/nonexistent", &dev), -ENOENT);
	assert_int_equal(asahi_device_open("/dev/null", &dev), -ENODEV);
	assert_int_equal(asahi_device_new(-1, &dev), -EBADF);
	asahi_shim_fail(DRM_IOCTL_VERSION, 1, ENOTTY);
	assert_int_equal(asahi_device_open(NULL, &dev), -ENODEV);
	asahi_shim_fail(DRM_IOCTL_ASAHI_GET_PARAMS, 1, ENODEV);
	assert_int_equal(asahi_device_open(NULL, &dev), -ENODEV);
	asahi_shim_fail(DRM_IOCTL_ASAHI_GET_PARAMS, 1, EACCES);
	assert_int_equal(asahi_device_open(NULL, &dev), -EACCES);
	asahi_device_unref(NULL);
}

static void test_open_by_name(void **state)
{
	struct asahi_device *dev;

	assert_int_equal(asahi_device_open(ASAHI_SHIM_NODE, &dev), 0);
	assert_int_equal(asahi_device_params(dev)->chip_id, 0x8103);
	asahi_device_unref(dev);
}

/* The caller's descriptor remains the caller's. */
static void test_new(void **state)
{
	int fd = open(ASAHI_SHIM_NODE, O_RDWR);
	struct asahi_device *dev;
	struct stat st;

	assert_int_equal(asahi_device_new(fd, &dev), 0);
	assert_int_not_equal(asahi_device_fd(dev), fd);
	assert_true(fcntl(asahi_device_fd(dev), F_GETFD) & FD_CLOEXEC);
	close(fd);
	/* the same open file, which lives on */
	assert_int_equal(fstat(asahi_device_fd(dev), &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_ptr_equal(asahi_device_ref(dev), dev);
	asahi_device_unref(dev);
	assert_int_equal(fstat(asahi_device_fd(dev), &st), 0);
	asahi_device_unref(dev);
}

static void test_params(void **state)
{
	const struct fixture *f = *state;
	const struct asahi_shim_call *call = asahi_shim_call(DRM_IOCTL_ASAHI_GET_PARAMS, 0);

	assert_int_equal(call->in.get_params.param_group, 0);
	assert_int_equal(call->in.get_params.size, sizeof(struct drm_asahi_params_global));
	assert_memory_equal(asahi_device_params(f->dev), asahi_shim_params(),
			    sizeof(struct drm_asahi_params_global));
}

static void test_time(void **state)
{
	const struct fixture *f = *state;
	uint64_t ns = 0;

	assert_int_equal(asahi_device_get_time(f->dev, &ns), 0);
	assert_int_equal(ns, asahi_shim_call(DRM_IOCTL_ASAHI_GET_TIME, -1)->out.get_time.gpu_timestamp);
	asahi_shim_fail(DRM_IOCTL_ASAHI_GET_TIME, 1, ENODEV);
	assert_int_equal(asahi_device_get_time(f->dev, &ns), -ENODEV);
}

/* All that the library has; stops at the first error. */
static int do_everything(void)
{
	static const struct drm_asahi_cmd_compute cmd = { .cdm_ctrl_stream_base = 0x100000000 };
	struct asahi_bo *bo = NULL, *shared = NULL, *same = NULL;
	struct asahi_submit *submit = NULL;
	struct asahi_device *dev = NULL;
	struct asahi_queue *queue = NULL;
	struct asahi_vm *vm = NULL;
	uint64_t addr, time;
	int fd = -1, err;
	void *map;

	err = asahi_device_open(NULL, &dev);
	if (!err)
		err = asahi_device_get_time(dev, &time);
	if (!err)
		err = asahi_vm_new(dev, &vm);
	if (!err)
		err = asahi_bo_new(dev, PAGE, 0, vm, &bo);
	if (!err)
		err = asahi_bo_map(bo, &map);
	if (!err)
		err = asahi_bo_new(dev, PAGE, DRM_ASAHI_GEM_WRITEBACK, NULL, &shared);
	if (!err)
		err = asahi_bo_export(shared, &fd);
	if (!err)
		err = asahi_bo_import(dev, fd, &same);
	if (!err)
		err = asahi_vm_map(vm, ASAHI_HEAP_MAIN, bo, DRM_ASAHI_BIND_READ, &addr);
	if (!err)
		err = asahi_queue_new(vm, DRM_ASAHI_PRIORITY_MEDIUM, &queue);
	if (!err)
		err = asahi_submit_new(queue, &submit);
	if (!err) {
		asahi_submit_compute(submit, &cmd, ASAHI_BARRIER_NONE);
		err = asahi_submit_run(submit, LONG_TIME);
	}
	if (!err)
		err = asahi_vm_unmap(vm, bo, addr);

	asahi_submit_free(submit);
	asahi_queue_unref(queue);
	asahi_bo_unref(same);
	asahi_bo_unref(shared);
	asahi_bo_unref(bo);
	asahi_vm_unref(vm);
	if (fd >= 0)
		close(fd);
	asahi_device_unref(dev);
	return err;
}

/* An error anywhere is reported, unless it is that of giving up, and leaves nothing. */
static void test_each_error(void **state)
{
	unsigned int calls, n;

	asahi_shim_record(true);
	assert_int_equal(do_everything(), 0);
	calls = asahi_shim_count(0);
	assert_true(calls > 15);
	for (n = 1; n <= calls; n++) {
		const struct asahi_shim_call *call;
		int err;

		asahi_shim_record(true);
		asahi_shim_fail(0, n, ENOSPC);
		err = do_everything();
		assert_true(asahi_shim_failed());
		call = asahi_shim_call(0, n - 1);
		assert_int_equal(call->error, ENOSPC);
		switch (call->request) {
		case DRM_IOCTL_GEM_CLOSE:
		case DRM_IOCTL_SYNCOBJ_DESTROY:
		case DRM_IOCTL_ASAHI_QUEUE_DESTROY:
		case DRM_IOCTL_ASAHI_VM_DESTROY:
			assert_int_equal(err, 0);
			break;
		default:
			assert_int_not_equal(err, 0);
		}
		assert_int_equal(count_objects(), 0);
	}
	/* the one that was asked for, and no other */
	asahi_shim_record(true);
	asahi_shim_fail(0, calls + 1, ENOSPC);
	assert_int_equal(do_everything(), 0);
	assert_false(asahi_shim_failed());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BARE_TEST(test_errors),
		BARE_TEST(test_open_by_name),
		BARE_TEST(test_new),
		DEVICE_TEST(test_params),
		DEVICE_TEST(test_time),
		BARE_TEST(test_each_error),
	};

	return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
