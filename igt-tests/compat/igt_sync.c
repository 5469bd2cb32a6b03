// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * See igt_syncobj.h, sw_sync.h and dmabuf_sync_file.h.
 */
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "dmabuf_sync_file.h"
#include "igt.h"
#include "igt_syncobj.h"
#include "sw_sync.h"

uint32_t syncobj_create(int fd, uint32_t flags)
{
	struct drm_syncobj_create args = { .flags = flags };

	do_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &args);
	return args.handle;
}

void syncobj_destroy(int fd, uint32_t handle)
{
	struct drm_syncobj_destroy args = { .handle = handle };

	do_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &args);
}

int syncobj_handle_to_fd(int fd, uint32_t handle, uint32_t flags)
{
	struct drm_syncobj_handle args = { .handle = handle, .flags = flags, .fd = -1 };

	do_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &args);
	return args.fd;
}

uint32_t syncobj_fd_to_handle(int fd, int syncobj_fd, uint32_t flags)
{
	struct drm_syncobj_handle args = { .fd = syncobj_fd, .flags = flags };

	do_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &args);
	return args.handle;
}

void syncobj_import_sync_file(int fd, uint32_t handle, int sync_file)
{
	struct drm_syncobj_handle args = {
		.handle = handle,
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
		.fd = sync_file,
	};

	do_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &args);
}

int syncobj_wait_err(int fd, uint32_t *handles, uint32_t count, uint64_t abs_timeout_nsec,
		     uint32_t flags)
{
	struct drm_syncobj_wait args = {
		.handles = (uintptr_t)handles,
		.timeout_nsec = abs_timeout_nsec,
		.count_handles = count,
		.flags = flags,
	};

	return drmIoctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &args) ? -errno : 0;
}

bool syncobj_timeline_wait(int fd, uint32_t *handles, uint64_t *points, unsigned int num_handles,
			   int64_t timeout_nsec, unsigned int flags, uint32_t *first_signaled)
{
	struct drm_syncobj_timeline_wait args = {
		.handles = (uintptr_t)handles,
		.points = (uintptr_t)points,
		.timeout_nsec = timeout_nsec,
		.count_handles = num_handles,
		.flags = flags,
	};
	int ret = drmIoctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &args);

	igt_assert_f(!ret || errno == ETIME, "%s\n", strerror(errno));
	if (!ret && first_signaled)
		*first_signaled = args.first_signaled;
	return !ret;
}

void syncobj_binary_to_timeline(int fd, uint32_t timeline_handle, uint64_t point,
				uint32_t binary_handle)
{
	struct drm_syncobj_transfer args = {
		.src_handle = binary_handle,
		.dst_handle = timeline_handle,
		.dst_point = point,
	};

	do_ioctl(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &args);
}

void syncobj_timeline_to_binary(int fd, uint32_t binary_handle, uint32_t timeline_handle,
				uint64_t point, uint32_t flags)
{
	struct drm_syncobj_transfer args = {
		.src_handle = timeline_handle,
		.dst_handle = binary_handle,
		.src_point = point,
		.flags = flags,
	};

	do_ioctl(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &args);
}

/* The kernel's interface for tests of fences. */
#define SW_SYNC		"/sys/kernel/debug/sync/sw_sync"

struct sw_sync_create_fence {
	uint32_t value;
	char name[32];
	int32_t fence;
};

#define SW_SYNC_CREATE_FENCE	_IOWR('W', 0, struct sw_sync_create_fence)
#define SW_SYNC_INC		_IOW('W', 1, uint32_t)

void igt_require_sw_sync(void)
{
	igt_require_f(!access(SW_SYNC, R_OK | W_OK), "a kernel with sw_sync\n");
}

int sw_sync_timeline_create(void)
{
	int fd = open(SW_SYNC, O_RDWR);

	igt_assert_fd(fd);
	return fd;
}

int sw_sync_timeline_create_fence(int timeline, uint32_t seqno)
{
	struct sw_sync_create_fence args = { .value = seqno };

	do_ioctl(timeline, SW_SYNC_CREATE_FENCE, &args);
	return args.fence;
}

void sw_sync_timeline_inc(int timeline, uint32_t count)
{
	do_ioctl(timeline, SW_SYNC_INC, &count);
}

int sync_fence_merge(int fence1, int fence2)
{
	struct sync_merge_data args = { .name = "merged", .fd2 = fence2, .fence = -1 };

	return ioctl(fence1, SYNC_IOC_MERGE, &args) ? -errno : args.fence;
}

int sync_fence_count(int fence)
{
	struct sync_file_info info = { .num_fences = 0 };

	return ioctl(fence, SYNC_IOC_FILE_INFO, &info) ? -errno : (int)info.num_fences;
}

int sync_fence_status(int fence)
{
	struct sync_file_info info = { .num_fences = 0 };

	return ioctl(fence, SYNC_IOC_FILE_INFO, &info) ? -errno : info.status;
}

int dmabuf_export_sync_file(int dmabuf, uint32_t flags)
{
	struct dma_buf_export_sync_file args = { .flags = flags, .fd = -1 };

	do_ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &args);
	return args.fd;
}

void dmabuf_import_sync_file(int dmabuf, uint32_t flags, int sync_fd)
{
	struct dma_buf_import_sync_file args = { .flags = flags, .fd = sync_fd };

	do_ioctl(dmabuf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &args);
}

bool dmabuf_busy(int dmabuf, uint32_t flags)
{
	struct pollfd pfd = {
		.fd = dmabuf,
		.events = flags & DMA_BUF_SYNC_WRITE ? POLLOUT : POLLIN,
	};

	return !poll(&pfd, 1, 0);
}
