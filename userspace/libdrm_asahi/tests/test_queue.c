// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include "fixture.h"

static void test_new(void **state)
{
	const struct asahi_shim_call *call;
	const struct fixture *f = *state;
	struct asahi_queue *queue;
	unsigned int priority;

	for (priority = 0; priority <= DRM_ASAHI_PRIORITY_MEDIUM; priority++) {
		assert_int_equal(asahi_queue_new(f->vm, priority, &queue), 0);
		call = asahi_shim_call(DRM_IOCTL_ASAHI_QUEUE_CREATE, -1);
		assert_int_equal(call->in.queue_create.vm_id, asahi_vm_id(f->vm));
		assert_int_equal(call->in.queue_create.priority, priority);
		assert_int_equal(call->in.queue_create.usc_exec_base, asahi_vm_usc_base(f->vm));
		assert_int_not_equal(call->in.queue_create.usc_exec_base, 0);
		assert_int_equal(asahi_queue_id(queue), call->out.queue_create.queue_id);

		assert_ptr_equal(asahi_queue_ref(queue), queue);
		asahi_queue_unref(queue);
		assert_int_equal(asahi_shim_count(DRM_IOCTL_ASAHI_QUEUE_DESTROY), priority);
		asahi_queue_unref(queue);
		assert_int_equal(asahi_shim_count(DRM_IOCTL_ASAHI_QUEUE_DESTROY), priority + 1);
		assert_int_equal(asahi_shim_call(DRM_IOCTL_ASAHI_QUEUE_DESTROY, -1)
					 ->in.queue_destroy.queue_id,
				 call->out.queue_create.queue_id);
	}
	asahi_queue_unref(NULL);
}

static void test_errors(void **state)
{
	const struct fixture *f = *state;
	struct asahi_queue *queue;
	int err;

	/* the first without privileges, the second with them */
	err = asahi_queue_new(f->vm, DRM_ASAHI_PRIORITY_REALTIME, &queue);
	assert_true(err == -EPERM || err == -EOPNOTSUPP);
	asahi_shim_fail(DRM_IOCTL_ASAHI_QUEUE_CREATE, 1, ENOSPC);
	assert_int_equal(asahi_queue_new(f->vm, DRM_ASAHI_PRIORITY_LOW, &queue), -ENOSPC);
}

/* Given back in the wrong order, which references make right */
static void test_references(void **state)
{
	struct asahi_submit *submit;
	struct asahi_device *dev;
	struct asahi_queue *queue;
	struct asahi_vm *vm;

	assert_int_equal(asahi_device_open(NULL, &dev), 0);
	assert_int_equal(asahi_vm_new(dev, &vm), 0);
	assert_int_equal(asahi_queue_new(vm, DRM_ASAHI_PRIORITY_LOW, &queue), 0);
	assert_int_equal(asahi_submit_new(queue, &submit), 0);
	asahi_device_unref(dev);
	asahi_vm_unref(vm);
	asahi_queue_unref(queue);
	asahi_submit_free(submit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		VM_TEST(test_new),
		VM_TEST(test_errors),
		BARE_TEST(test_references),
	};

	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
