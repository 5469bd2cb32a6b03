// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <pthread.h>
#include <time.h>
#include <xf86drm.h>

#include "fixture.h"

static const struct drm_syncobj_wait *last_wait(void)
{
	return &asahi_shim_call(DRM_IOCTL_SYNCOBJ_WAIT, -1)->in.syncobj_wait;
}

static void test_arguments(void **state)
{
	const struct fixture *f = *state;
	uint32_t syncobj = new_syncobj(f);
	const struct asahi_shim_call *call;
	int64_t before, after;

	assert_int_equal(drmSyncobjSignal(f->fd, &syncobj, 1), 0);
	before = now_ns();
	assert_int_equal(asahi_fence_wait(f->dev, syncobj, LONG_TIME), 0);
	after = now_ns();
	call = asahi_shim_call(DRM_IOCTL_SYNCOBJ_WAIT, -1);
	assert_int_equal(call->num_handles, 1);
	assert_int_equal(call->handles[0], syncobj);
	assert_int_equal(last_wait()->flags, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT);
	/* an absolute time */
	assert_true(last_wait()->timeout_nsec >= before + LONG_TIME);
	assert_true(last_wait()->timeout_nsec <= after + LONG_TIME);
	destroy_syncobj(f, syncobj);
}

/* Times that are over, or that only look over */
static void test_times(void **state)
{
	const struct fixture *f = *state;
	uint32_t syncobj = new_syncobj(f);
	int64_t before = now_ns();

	assert_int_equal(asahi_fence_wait(f->dev, syncobj, 0), -ETIME);
	assert_int_equal(asahi_fence_wait(f->dev, syncobj, -1), -ETIME);
	assert_int_equal(asahi_fence_wait(f->dev, syncobj, INT64_MIN), -ETIME);
	assert_int_equal(asahi_fence_wait(f->dev, syncobj, 30 * MS), -ETIME);
	assert_true(now_ns() - before >= 30 * MS);
	destroy_syncobj(f, syncobj);
	assert_int_equal(asahi_fence_wait(f->dev, syncobj, 0), -ENOENT);
}

/* For what nobody has submitted yet */
static void test_later(void **state)
{
	const struct fixture *f = *state;
	uint32_t syncobj = new_syncobj(f);
	struct later *later = signal_later(f, syncobj);

	assert_int_equal(asahi_fence_wait(f->dev, syncobj, LONG_TIME), 0);
	later_join(later);
	destroy_syncobj(f, syncobj);
}

static void test_forever(void **state)
{
	const struct fixture *f = *state;
	uint32_t syncobj = new_syncobj(f);
	struct later *later = signal_later(f, syncobj);

	assert_int_equal(asahi_fence_wait(f->dev, syncobj, INT64_MAX), 0);
	assert_int_equal(last_wait()->timeout_nsec, INT64_MAX);
	later_join(later);
	destroy_syncobj(f, syncobj);
}

/* A job that another thread ends */
struct slow {
	pthread_t thread;
	struct asahi_shim_job *job;
	int error;
};

static void *slow_run(void *arg)
{
	const struct timespec a_while = { .tv_nsec = 50 * MS };
	struct slow *slow = arg;

	nanosleep(&a_while, NULL);
	asahi_shim_job_done(slow->job, slow->error);
	return NULL;
}

static void slow_submit(void *priv, struct asahi_shim_job *job)
{
	struct slow *slow = priv;

	slow->job = job;
	pthread_create(&slow->thread, NULL, slow_run, slow);
}

static void wait_for_slow(const struct fixture *f, int error)
{
	struct slow slow = { .error = error };
	const struct asahi_shim_backend backend = { .submit = slow_submit, .priv = &slow };
	uint32_t syncobj = new_syncobj(f);

	asahi_shim_set_backend(&backend);
	add_command(f);
	asahi_submit_signal(f->submit, syncobj, 0);
	assert_int_equal(asahi_submit_flush(f->submit), 0);
	assert_int_equal(asahi_fence_wait(f->dev, syncobj, 0), -ETIME);
	assert_int_equal(asahi_fence_wait(f->dev, syncobj, LONG_TIME), error);
	pthread_join(slow.thread, NULL);
	destroy_syncobj(f, syncobj);
}

static void test_slow_job(void **state)
{
	wait_for_slow(*state, 0);
}

/* libdrm's wait does not tell; ours does, with each error that a fence can have. */
static void test_error(void **state)
{
	static const int errors[] = { -EIO, -ETIMEDOUT, -ECANCELED, -ENODEV };
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		wait_for_slow(f, errors[i]);
		/* that queue has failed */
		asahi_submit_free(f->submit);
		asahi_queue_unref(f->queue);
		assert_int_equal(asahi_queue_new(f->vm, DRM_ASAHI_PRIORITY_LOW, &f->queue), 0);
		assert_int_equal(asahi_submit_new(f->queue, &f->submit), 0);
	}
}

static void test_failures(void **state)
{
	const struct fixture *f = *state;
	uint32_t syncobj = new_syncobj(f);

	assert_int_equal(drmSyncobjSignal(f->fd, &syncobj, 1), 0);
	asahi_shim_fail(DRM_IOCTL_SYNCOBJ_WAIT, 1, ENODEV);
	assert_int_equal(asahi_fence_wait(f->dev, syncobj, 0), -ENODEV);
	asahi_shim_fail(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, 1, EMFILE);
	assert_int_equal(asahi_fence_wait(f->dev, syncobj, 0), -EMFILE);
	asahi_shim_fail(SYNC_IOC_FILE_INFO, 1, ENOMEM);
	assert_int_equal(asahi_fence_wait(f->dev, syncobj, 0), -ENOMEM);
	assert_int_equal(asahi_fence_wait(f->dev, syncobj, 0), 0);
	destroy_syncobj(f, syncobj);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVICE_TEST(test_arguments),
		DEVICE_TEST(test_times),
		DEVICE_TEST(test_later),
		DEVICE_TEST(test_forever),
		QUEUE_TEST(test_slow_job),
		QUEUE_TEST(test_error),
		DEVICE_TEST(test_failures),
	};

	return cmocka_run_group_tests_name("sync", tests, NULL, NULL);
}
