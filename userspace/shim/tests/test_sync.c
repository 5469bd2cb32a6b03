// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Sync objects, timelines, sync files.
 */
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>

#include "shim_test.h"

#define ALL		DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL
#define FOR_SUBMIT	DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT
#define AVAILABLE	DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE

static void test_life(void **state)
{
	struct drm_syncobj_create create = { .flags = 2 };
	uint32_t signalled, handle;
	int fd;

	assert_int_equal(call(FD(state), DRM_IOCTL_SYNCOBJ_CREATE, &create), EINVAL);
	assert_int_equal(drmSyncobjCreate(FD(state), DRM_SYNCOBJ_CREATE_SIGNALED, &signalled), 0);
	assert_int_equal(drmSyncobjWait(FD(state), &signalled, 1, 0, 0, NULL), 0);
	assert_int_equal(drmSyncobjReset(FD(state), &signalled, 1), 0);
	assert_int_equal(drmSyncobjWait(FD(state), &signalled, 1, 0, 0, NULL), -EINVAL);
	assert_int_equal(drmSyncobjWait(FD(state), &signalled, 1, 0, FOR_SUBMIT, NULL), -ETIME);

	assert_int_equal(drmSyncobjHandleToFD(FD(state), signalled, &fd), 0);
	assert_int_equal(drmSyncobjFDToHandle(FD(state), fd, &handle), 0);
	assert_int_not_equal(handle, signalled);
	assert_int_equal(drmSyncobjDestroy(FD(state), signalled), 0);
	/* the same object under another name */
	assert_int_equal(drmSyncobjSignal(FD(state), &handle, 1), 0);
	assert_int_equal(drmSyncobjFDToHandle(FD(state), fd, &signalled), 0);
	assert_int_equal(drmSyncobjWait(FD(state), &signalled, 1, 0, 0, NULL), 0);
	close(fd);
	assert_int_equal(drmSyncobjFDToHandle(FD(state), FD(state), &handle), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(drmSyncobjDestroy(FD(state), 99), -1);
	assert_int_equal(errno, EINVAL);
}

static void test_wait_flags(void **state)
{
	uint32_t some[3] = { new_syncobj(FD(state)), new_syncobj(FD(state)), new_syncobj(FD(state)) };
	uint32_t first = 99, wrong = 77;

	assert_int_equal(drmSyncobjSignal(FD(state), &some[1], 1), 0);
	assert_int_equal(drmSyncobjWait(FD(state), some, 3, 0, FOR_SUBMIT, &first), 0);
	assert_int_equal(first, 1);
	assert_int_equal(drmSyncobjWait(FD(state), some, 3, 0, FOR_SUBMIT | ALL, NULL), -ETIME);
	assert_int_equal(drmSyncobjWait(FD(state), some, 3, 0, ALL, NULL), -EINVAL);
	assert_int_equal(drmSyncobjSignal(FD(state), some, 3), 0);
	assert_int_equal(drmSyncobjWait(FD(state), some, 3, 0, ALL, NULL), 0);
	assert_int_equal(drmSyncobjWait(FD(state), &wrong, 1, 0, FOR_SUBMIT, NULL), -ENOENT);
	assert_int_equal(drmSyncobjWait(FD(state), some, 1, 0, 0x80, NULL), -EINVAL);
	/* a flag of timelines only */
	assert_int_equal(drmSyncobjWait(FD(state), some, 1, 0, AVAILABLE, NULL), -EINVAL);
}

static void test_deadline(void **state)
{
	uint32_t syncobj = new_syncobj(FD(state));
	int64_t until = now_ns() + 40 * MS;

	assert_int_equal(drmSyncobjWait(FD(state), &syncobj, 1, until, FOR_SUBMIT, NULL), -ETIME);
	assert_true(now_ns() >= until);
	assert_int_equal(drmSyncobjWait(FD(state), &syncobj, 1, INT64_MIN, FOR_SUBMIT, NULL), -ETIME);
}

struct later {
	int fd;
	uint32_t syncobj;
	uint64_t point;
};

static void *later_run(void *arg)
{
	const struct timespec a_while = { .tv_nsec = 40 * MS };
	struct later *later = arg;

	nanosleep(&a_while, NULL);
	drmSyncobjTimelineSignal(later->fd, &later->syncobj, &later->point, 1);
	return NULL;
}

static void test_wait_for_another_thread(void **state)
{
	struct later later = { FD(state), new_syncobj(FD(state)), 5 };
	uint64_t point = 4;
	pthread_t thread;

	pthread_create(&thread, NULL, later_run, &later);
	assert_int_equal(drmSyncobjTimelineWait(FD(state), &later.syncobj, &point, 1, INT64_MAX,
						FOR_SUBMIT, NULL), 0);
	pthread_join(thread, NULL);
}

static uint64_t query(int fd, uint32_t syncobj, uint32_t flags)
{
	uint64_t point = 99;

	assert_int_equal(drmSyncobjQuery2(fd, &syncobj, &point, 1, flags), 0);
	return point;
}

static int look(int fd, uint32_t syncobj, uint64_t point, uint32_t flags)
{
	return drmSyncobjTimelineWait(fd, &syncobj, &point, 1, 0, flags, NULL);
}

/* Points 10 and 20 are submitted, and signalled one after the other. */
static void test_timeline(void **state)
{
	uint32_t line = new_syncobj(FD(state)), queue = new_queue(FD(state), new_vm(FD(state)));
	uint32_t other = new_queue(FD(state), new_vm(FD(state)));

	hold_jobs();
	assert_int_equal(query(FD(state), line, 0), 0);
	assert_int_equal(submit(FD(state), queue, 0, 0, line, 10), 0);
	assert_int_equal(submit(FD(state), other, 0, 0, line, 20), 0);
	assert_int_equal(num_held, 2);
	assert_int_equal(query(FD(state), line, DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED), 20);
	assert_int_equal(query(FD(state), line, 0), 0);
	assert_int_equal(look(FD(state), line, 10, 0), -ETIME);
	assert_int_equal(look(FD(state), line, 10, AVAILABLE), 0);
	assert_int_equal(look(FD(state), line, 21, 0), -EINVAL);
	assert_int_equal(look(FD(state), line, 21, AVAILABLE), -ETIME);
	assert_int_equal(look(FD(state), line, 21, FOR_SUBMIT), -ETIME);

	/* A later point that is done is not reached before the earlier one is. */
	asahi_shim_job_done(held[1], 0);
	assert_int_equal(query(FD(state), line, 0), 0);
	assert_int_equal(look(FD(state), line, 20, 0), -ETIME);
	asahi_shim_job_done(held[0], 0);
	assert_int_equal(query(FD(state), line, 0), 20);
	assert_int_equal(look(FD(state), line, 1, 0), 0);
	assert_int_equal(look(FD(state), line, 20, 0), 0);

	/* Points that were passed long ago are reached while a new one is under way. */
	assert_int_equal(submit(FD(state), queue, 0, 0, line, 30), 0);
	assert_int_equal(query(FD(state), line, 0), 20);
	assert_int_equal(look(FD(state), line, 15, 0), 0);
	assert_int_equal(look(FD(state), line, 30, 0), -ETIME);
	asahi_shim_job_done(held[2], 0);
	assert_int_equal(query(FD(state), line, 0), 30);
}

/* A point that was reached is submitted once more: who waits for it waits for that */
static void test_point_again(void **state)
{
	uint32_t line = new_syncobj(FD(state)), queue = new_queue(FD(state), new_vm(FD(state)));
	uint64_t point = 5;

	hold_jobs();
	assert_int_equal(drmSyncobjTimelineSignal(FD(state), &line, &point, 1), 0);
	assert_int_equal(look(FD(state), line, 5, 0), 0);
	assert_int_equal(submit(FD(state), queue, 0, 0, line, 5), 0);
	assert_int_equal(look(FD(state), line, 5, 0), -ETIME);
	assert_int_equal(look(FD(state), line, 3, 0), -ETIME);
	asahi_shim_job_done(held[0], 0);
	assert_int_equal(look(FD(state), line, 5, 0), 0);
	assert_int_equal(query(FD(state), line, 0), 5);
}

/* Many links, none of them signalled */
static void test_long_timeline(void **state)
{
	uint32_t line = new_syncobj(FD(state)), queue = new_queue(FD(state), new_vm(FD(state)));
	uint64_t point;

	hold_jobs();
	assert_int_equal(submit(FD(state), queue, 0, 0, line, 1), 0);
	for (point = 2; point < 1000; point++)
		assert_int_equal(drmSyncobjTimelineSignal(FD(state), &line, &point, 1), 0);
	assert_int_equal(look(FD(state), line, 999, 0), -ETIME);
	asahi_shim_job_done(held[0], 0);
	assert_int_equal(look(FD(state), line, 999, 0), 0);
}

static void test_transfer(void **state)
{
	uint32_t line = new_syncobj(FD(state)), binary = new_syncobj(FD(state));
	uint64_t point = 3;

	assert_int_equal(drmSyncobjTransfer(FD(state), binary, 0, line, 3, 0), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(drmSyncobjTimelineSignal(FD(state), &line, &point, 1), 0);
	assert_int_equal(drmSyncobjTransfer(FD(state), binary, 0, line, 3, 0), 0);
	assert_int_equal(drmSyncobjWait(FD(state), &binary, 1, 0, 0, NULL), 0);
	assert_int_equal(drmSyncobjTransfer(FD(state), line, 8, binary, 0, 0), 0);
	assert_int_equal(query(FD(state), line, 0), 8);
	assert_int_equal(drmSyncobjTransfer(FD(state), line, 8, 77, 0, 0), -1);
	assert_int_equal(errno, ENOENT);
}

static int status(int fd)
{
	struct sync_file_info info = { .num_fences = 0 };

	assert_int_equal(call(fd, SYNC_IOC_FILE_INFO, &info), 0);
	assert_int_equal(info.num_fences, 1);
	return info.status;
}

static bool readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLIN);
}

/* Nobody adds the point: as in the kernel, the call ends after five seconds. */
static void test_transfer_in_vain(void **state)
{
	uint32_t line = new_syncobj(FD(state)), binary = new_syncobj(FD(state));
	time_t begin = time(NULL);

	assert_int_equal(drmSyncobjTransfer(FD(state), binary, 0, line, 3, FOR_SUBMIT), -1);
	assert_int_equal(errno, ETIME);
	assert_in_range(time(NULL) - begin, 4, 30);
}

static void test_sync_files(void **state)
{
	uint32_t queue = new_queue(FD(state), new_vm(FD(state)));
	uint32_t out = new_syncobj(FD(state)), imported = new_syncobj(FD(state));
	struct sync_merge_data merge = { .name = "both" };
	int running, done;

	hold_jobs();
	assert_int_equal(drmSyncobjExportSyncFile(FD(state), out, &running), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(submit(FD(state), queue, 0, 0, out, 0), 0);
	assert_int_equal(drmSyncobjExportSyncFile(FD(state), out, &running), 0);
	assert_int_equal(drmSyncobjSignal(FD(state), &out, 1), 0);
	assert_int_equal(drmSyncobjExportSyncFile(FD(state), out, &done), 0);
	assert_int_equal(status(done), 1);
	assert_true(readable(done));
	assert_int_equal(status(running), 0);
	assert_false(readable(running));

	merge.fd2 = running;
	assert_int_equal(call(done, SYNC_IOC_MERGE, &merge), 0);
	assert_false(readable(merge.fence));
	assert_int_equal(drmSyncobjImportSyncFile(FD(state), imported, merge.fence), 0);
	assert_int_equal(drmSyncobjWait(FD(state), &imported, 1, 0, 0, NULL), -ETIME);

	asahi_shim_job_done(held[0], -EIO);
	assert_int_equal(status(running), -EIO);
	assert_true(readable(running));
	assert_true(readable(merge.fence));
	assert_int_equal(drmSyncobjWait(FD(state), &imported, 1, 0, 0, NULL), 0);
	assert_int_equal(drmSyncobjImportSyncFile(FD(state), imported, FD(state)), -1);
	assert_int_equal(errno, EINVAL);
	close(running);
	close(done);
	close(merge.fence);
}

static void test_eventfd(void **state)
{
	uint32_t line = new_syncobj(FD(state)), queue = new_queue(FD(state), new_vm(FD(state)));
	int there = eventfd(0, EFD_NONBLOCK), reached = eventfd(0, EFD_NONBLOCK);

	hold_jobs();
	assert_int_equal(drmSyncobjEventfd(FD(state), line, 4, there, AVAILABLE), 0);
	assert_int_equal(drmSyncobjEventfd(FD(state), line, 4, reached, 0), 0);
	assert_false(readable(there));
	assert_int_equal(submit(FD(state), queue, 0, 0, line, 4), 0);
	assert_true(readable(there));
	assert_false(readable(reached));
	asahi_shim_job_done(held[0], 0);
	assert_true(readable(reached));
	close(there);
	close(reached);
}

static void *signal_later(void *arg)
{
	const struct timespec time = { .tv_nsec = 50 * MS };

	nanosleep(&time, NULL);
	asahi_shim_job_done(held[0], 0);
	return arg;
}

/* Who gives a DMA buffer a fence waits for it; who asks for one gets one that is over. */
static void test_dma_buf_fences(void **state)
{
	uint32_t queue = new_queue(FD(state), new_vm(FD(state))), out = new_syncobj(FD(state));
	struct dma_buf_import_sync_file give = { .flags = DMA_BUF_SYNC_WRITE };
	struct dma_buf_export_sync_file take = { .flags = DMA_BUF_SYNC_READ };
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ };
	int64_t start = now_ns();
	pthread_t thread;
	int dma_buf;

	hold_jobs();
	assert_int_equal(drmPrimeHandleToFD(FD(state), new_bo(FD(state), PAGE), 0, &dma_buf), 0);
	assert_int_equal(submit(FD(state), queue, 0, 0, out, 0), 0);
	assert_int_equal(drmSyncobjExportSyncFile(FD(state), out, &give.fd), 0);
	assert_int_equal(pthread_create(&thread, NULL, signal_later, NULL), 0);
	assert_int_equal(call(dma_buf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &give), 0);
	assert_true(now_ns() - start >= 50 * MS);
	pthread_join(thread, NULL);
	assert_int_equal(call(dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &take), 0);
	assert_int_equal(status(take.fd), 1);
	assert_int_equal(call(dma_buf, DMA_BUF_IOCTL_SYNC, &sync), 0);

	close(take.fd);
	take.flags = 0;
	assert_int_equal(call(dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &take), EINVAL);
	give.flags = DMA_BUF_SYNC_RW | DMA_BUF_SYNC_END;
	assert_int_equal(call(dma_buf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &give), EINVAL);
	give.flags = DMA_BUF_SYNC_RW;
	close(give.fd);
	give.fd = dma_buf;
	assert_int_equal(call(dma_buf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &give), EINVAL);
	close(dma_buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NODE_TEST(test_life),
		NODE_TEST(test_wait_flags),
		NODE_TEST(test_deadline),
		NODE_TEST(test_wait_for_another_thread),
		NODE_TEST(test_timeline),
		NODE_TEST(test_point_again),
		NODE_TEST(test_long_timeline),
		NODE_TEST(test_transfer),
		NODE_TEST(test_transfer_in_vain),
		NODE_TEST(test_sync_files),
		NODE_TEST(test_dma_buf_fences),
		NODE_TEST(test_eventfd),
	};

	return cmocka_run_group_tests_name("sync", tests, NULL, NULL);
}
