// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * When jobs run, what backends see of them, how they end.
 */
#include "shim_test.h"

static bool is_done(int fd, uint32_t syncobj)
{
	return !drmSyncobjWait(fd, &syncobj, 1, 0, 0, NULL);
}

/* In the order of the queue, when what is waited for has come */
static void test_order(void **state)
{
	uint32_t vm = new_vm(FD(state)), queue = new_queue(FD(state), vm);
	uint32_t other = new_queue(FD(state), vm);
	uint32_t a = new_syncobj(FD(state)), b = new_syncobj(FD(state)), c = new_syncobj(FD(state));
	uint64_t number;

	hold_jobs();
	assert_int_equal(submit(FD(state), queue, 0, 0, a, 0), 0);
	number = held[0]->queue;
	assert_int_equal(submit(FD(state), queue, 0, 0, b, 0), 0);
	assert_int_equal(num_held, 1);
	assert_int_equal(submit(FD(state), other, b, 0, c, 0), 0);
	assert_int_equal(num_held, 1);
	assert_false(is_done(FD(state), a));
	asahi_shim_job_done(held[0], 0);
	assert_true(is_done(FD(state), a));
	assert_int_equal(num_held, 2);
	assert_int_equal(held[1]->queue, number);
	asahi_shim_job_done(held[1], 0);
	assert_int_equal(num_held, 3);
	assert_int_not_equal(held[2]->queue, number);
	assert_false(is_done(FD(state), c));
	asahi_shim_job_done(held[2], 0);
	assert_true(is_done(FD(state), c));
}

static void test_in_sync(void **state)
{
	uint32_t queue = new_queue(FD(state), new_vm(FD(state)));
	uint32_t in = new_syncobj(FD(state)), out = new_syncobj(FD(state)), blocker;
	struct asahi_shim_objects o;
	uint64_t point = 2;

	/* what nobody has submitted can't be waited for */
	assert_int_equal(submit(FD(state), queue, in, 0, out, 0), EINVAL);
	assert_int_equal(submit(FD(state), queue, in, 2, out, 0), EINVAL);
	assert_int_equal(submit(FD(state), queue, 77, 0, out, 0), ENOENT);
	assert_int_equal(submit(FD(state), queue, 0, 0, 77, 0), ENOENT);

	hold_jobs();
	blocker = new_queue(FD(state), new_vm(FD(state)));
	assert_int_equal(submit(FD(state), blocker, 0, 0, in, 2), 0);
	assert_int_equal(submit(FD(state), queue, in, 2, out, 0), 0);
	assert_int_equal(num_held, 1);
	/* what it waits for is the fence, whatever becomes of the sync object */
	assert_int_equal(drmSyncobjReset(FD(state), &in, 1), 0);
	assert_int_equal(drmSyncobjTimelineSignal(FD(state), &in, &point, 1), 0);
	assert_int_equal(num_held, 1);
	asahi_shim_objects(&o);
	assert_int_equal(o.jobs, 2);
	asahi_shim_job_done(held[0], 0);
	assert_int_equal(num_held, 2);
	asahi_shim_job_done(held[1], 0);
	asahi_shim_objects(&o);
	assert_int_equal(o.jobs, 0);
}

/* What a backend sees: the commands, and the address space at that time */
static void test_view(void **state)
{
	uint32_t vm = new_vm(FD(state)), queue = new_queue(FD(state), vm);
	uint32_t bo = new_bo(FD(state), 2 * PAGE);
	const struct drm_asahi_gem_bind_op op = {
		.flags = DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
		.handle = bo,
		.addr = 16 * GIB,
		.range = PAGE,
		.offset = PAGE,
	};
	struct drm_asahi_gem_mmap_offset mmap_args = { .handle = bo };
	struct drm_asahi_cmd_compute cmd;
	const struct asahi_shim_mapping *m;
	uint64_t size;
	char *memory;

	hold_jobs();
	assert_int_equal(bind_bo(FD(state), vm, op), 0);
	assert_int_equal(submit(FD(state), queue, 0, 0, 0, 0), 0);
	assert_int_equal(held[0]->usc_exec_base, 4 * GIB);
	assert_int_equal(held[0]->num_commands, 1);
	assert_int_equal(held[0]->commands->header.cmd_type, DRM_ASAHI_CMD_COMPUTE);
	memcpy(&cmd, held[0]->commands->payload, sizeof(cmd));
	assert_int_equal(cmd.cdm_ctrl_stream_base, 5 * GIB);
	assert_int_equal(held[0]->num_mappings, 1);
	m = held[0]->mappings;
	assert_int_equal(m->addr, 16 * GIB);
	assert_int_equal(m->size, PAGE);
	assert_int_equal(m->flags, DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE);

	/* the memory stays the job's, whoever lets go of it */
	memory = map_memory(&size);
	assert_true(m->offset + m->size <= size);
	assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, &mmap_args), 0);
	memory[m->offset] = 'x';
	assert_int_equal(drmCloseBufferHandle(FD(state), bo), 0);
	assert_int_equal(memory[m->offset], 'x');
	asahi_shim_job_done(held[0], 0);
	unmap_memory(memory, size);
}

/* Return: the error of a fence that has signalled, 0 if it has none */
static int fence_error(int fd, uint32_t syncobj)
{
	struct sync_file_info info = { .num_fences = 0 };
	int file;

	assert_int_equal(drmSyncobjExportSyncFile(fd, syncobj, &file), 0);
	assert_int_equal(call(file, SYNC_IOC_FILE_INFO, &info), 0);
	close(file);
	assert_int_not_equal(info.status, 0);
	return info.status < 0 ? info.status : 0;
}

/* A job has failed: what waits behind it is cancelled, what comes later runs. */
static void test_failure(void **state)
{
	uint32_t queue = new_queue(FD(state), new_vm(FD(state)));
	uint32_t a = new_syncobj(FD(state)), b = new_syncobj(FD(state));
	uint32_t c = new_syncobj(FD(state));

	hold_jobs();
	assert_int_equal(submit(FD(state), queue, 0, 0, a, 0), 0);
	assert_int_equal(submit(FD(state), queue, 0, 0, b, 0), 0);
	asahi_shim_job_done(held[0], -ETIMEDOUT);
	assert_int_equal(num_held, 1);
	assert_true(is_done(FD(state), b));
	assert_int_equal(fence_error(FD(state), a), -ETIMEDOUT);
	assert_int_equal(fence_error(FD(state), b), -ECANCELED);
	assert_int_equal(submit(FD(state), queue, 0, 0, c, 0), 0);
	assert_int_equal(num_held, 2);
	assert_false(is_done(FD(state), c));
	asahi_shim_job_done(held[1], 0);
	assert_true(is_done(FD(state), c));
}

/*
 * What waits for another queue when its own fails is cancelled when its turn comes, and
 * does not take along what was submitted after the failure.
 */
static void test_failure_before_waiting(void **state)
{
	uint32_t queue = new_queue(FD(state), new_vm(FD(state)));
	uint32_t blocker = new_queue(FD(state), new_vm(FD(state)));
	uint32_t in = new_syncobj(FD(state)), early = new_syncobj(FD(state));
	uint32_t later = new_syncobj(FD(state));

	hold_jobs();
	assert_int_equal(submit(FD(state), blocker, 0, 0, in, 0), 0);
	assert_int_equal(submit(FD(state), queue, 0, 0, 0, 0), 0);
	assert_int_equal(submit(FD(state), queue, in, 0, early, 0), 0);
	asahi_shim_job_done(held[1], -EIO);
	assert_int_equal(submit(FD(state), queue, 0, 0, later, 0), 0);
	assert_int_equal(num_held, 2);
	assert_false(is_done(FD(state), early));
	asahi_shim_job_done(held[0], 0);
	assert_int_equal(fence_error(FD(state), early), -ECANCELED);
	assert_int_equal(num_held, 3);
	assert_false(is_done(FD(state), later));
	asahi_shim_job_done(held[2], 0);
	assert_int_equal(fence_error(FD(state), later), 0);
}

/* A queue that is destroyed waits for a second, then cancels what waits. */
static void test_destroy(void **state)
{
	uint32_t queue = new_queue(FD(state), new_vm(FD(state)));
	uint32_t blocker = new_queue(FD(state), new_vm(FD(state)));
	struct drm_asahi_queue_destroy args = { .queue_id = queue };
	uint32_t in = new_syncobj(FD(state)), out = new_syncobj(FD(state));
	int64_t start;

	hold_jobs();
	assert_int_equal(submit(FD(state), blocker, 0, 0, in, 0), 0);
	assert_int_equal(submit(FD(state), queue, in, 0, out, 0), 0);
	start = now_ns();
	assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_QUEUE_DESTROY, &args), 0);
	assert_true(now_ns() - start >= 900 * MS);
	assert_true(is_done(FD(state), out));
	assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_QUEUE_DESTROY, &args), ENOENT);
	asahi_shim_job_done(held[0], 0);
	assert_int_equal(num_held, 1);
}

/* A chain of jobs, each of which ends inside of the backend */
static void done_at_once(void *priv, struct asahi_shim_job *job)
{
	++*(unsigned int *)priv;
	asahi_shim_job_done(job, 0);
}

static void test_many(void **state)
{
	uint32_t queue = new_queue(FD(state), new_vm(FD(state)));
	uint32_t blocker = new_queue(FD(state), new_vm(FD(state)));
	uint32_t line = new_syncobj(FD(state));
	unsigned int count = 0, i;
	const struct asahi_shim_backend backend = { done_at_once, &count };

	hold_jobs();
	assert_int_equal(submit(FD(state), blocker, 0, 0, line, 1), 0);
	for (i = 1; i <= 500; i++)
		assert_int_equal(submit(FD(state), queue, line, i, line, i + 1), 0);
	asahi_shim_set_backend(&backend);
	asahi_shim_job_done(held[0], 0);
	assert_int_equal(count, 500);
	assert_true(is_done(FD(state), line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NODE_TEST(test_order),
		NODE_TEST(test_in_sync),
		NODE_TEST(test_view),
		NODE_TEST(test_failure),
		NODE_TEST(test_failure_before_waiting),
		NODE_TEST(test_destroy),
		NODE_TEST(test_many),
	};

	return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
