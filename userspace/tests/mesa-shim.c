// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * To be preloaded into a program that uses stock Mesa's Vulkan driver: takes
 * the place of libdrm's functions and shows it the fake device of fake_drm.c,
 * whose shaders run on the emulator's cores. So Mesa's shaders can be tried on
 * any host, without kernel and virtual machine.
 *
 * fake_drm.c is compiled with other names for the functions that are here
 * again. Submissions end before they return, so that sync objects only have to
 * remember what happened.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include <drm/asahi_drm.h>

#include "fake_drm.h"

#define MAX_SYNCS	65536

/* What fake_drm.c has under these names */
int fake_drmIoctl(int fd, unsigned long request, void *arg);
int fake_drmGetDevices2(uint32_t flags, drmDevicePtr devices[],
			int max_devices);
int fake_drmCloseBufferHandle(int fd, uint32_t handle);

struct sync {
	bool used;
	bool signaled;
	/* the highest point of a timeline */
	uint64_t point;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct sync syncs[MAX_SYNCS];

static struct sync *find(uint32_t handle)
{
	return handle && handle < MAX_SYNCS && syncs[handle].used ?
		       &syncs[handle] : NULL;
}

static int result(int err)
{
	errno = err;
	return err ? -1 : 0;
}

static void signal_point(struct sync *sync, uint64_t point)
{
	sync->signaled = true;
	if (point > sync->point)
		sync->point = point;
	pthread_cond_broadcast(&changed);
}

static int submit(int fd, const struct drm_asahi_submit *args)
{
	const struct drm_asahi_sync *out =
		(const struct drm_asahi_sync *)(uintptr_t)args->syncs +
		args->in_sync_count;
	struct drm_asahi_submit alone = *args;
	uint32_t i;

	alone.in_sync_count = 0;
	alone.out_sync_count = 0;
	if (args->cmdbuf_size && fake_drmIoctl(fd, DRM_IOCTL_ASAHI_SUBMIT, &alone))
		return errno;
	for (i = 0; i < args->out_sync_count; i++) {
		struct sync *sync = find(out[i].handle);

		if (!sync)
			return ENOENT;
		signal_point(sync, out[i].timeline_value);
	}
	return 0;
}

int drmIoctl(int fd, unsigned long request, void *arg)
{
	struct drm_gem_close *gem_close = arg;
	int err = 0;

	pthread_mutex_lock(&lock);
	if (request == DRM_IOCTL_ASAHI_SUBMIT)
		err = submit(fd, arg);
	else if (request == DRM_IOCTL_GEM_CLOSE)
		err = fake_drmCloseBufferHandle(fd, gem_close->handle) ? errno :
									 0;
	else
		err = fake_drmIoctl(fd, request, arg) ? errno : 0;
	pthread_mutex_unlock(&lock);
	return result(err);
}

int drmGetDevices2(uint32_t flags, drmDevicePtr devices[], int max_devices)
{
	int count = 1;

	if (devices && max_devices > 0) {
		count = fake_drmGetDevices2(flags, devices, max_devices);
		devices[0]->bustype = DRM_BUS_PLATFORM;
	}
	return count;
}

int drmGetDevice2(int fd, uint32_t flags, drmDevicePtr *device)
{
	return drmGetDevices2(flags, device, 1) == 1 ? 0 : -ENODEV;
}

int drmGetDeviceFromDevId(dev_t id, uint32_t flags, drmDevicePtr *device)
{
	return drmGetDevice2(-1, flags, device);
}

void drmFreeDevice(drmDevicePtr *device)
{
	*device = NULL;
}

int drmGetCap(int fd, uint64_t capability, uint64_t *value)
{
	*value = capability == DRM_CAP_SYNCOBJ ||
		 capability == DRM_CAP_SYNCOBJ_TIMELINE;
	return 0;
}

int drmSyncobjCreate(int fd, uint32_t flags, uint32_t *handle)
{
	uint32_t i;

	pthread_mutex_lock(&lock);
	for (i = 1; i < MAX_SYNCS && syncs[i].used; i++)
		;
	if (i < MAX_SYNCS)
		syncs[i] = (struct sync){
			.used = true,
			.signaled = flags & DRM_SYNCOBJ_CREATE_SIGNALED,
		};
	pthread_mutex_unlock(&lock);
	*handle = i;
	return result(i < MAX_SYNCS ? 0 : ENOSPC);
}

int drmSyncobjDestroy(int fd, uint32_t handle)
{
	struct sync *sync;

	pthread_mutex_lock(&lock);
	sync = find(handle);
	if (sync)
		sync->used = false;
	pthread_mutex_unlock(&lock);
	return result(sync ? 0 : EINVAL);
}

static int for_each(const uint32_t *handles, uint32_t count,
		    void (*fn)(struct sync *, uint64_t), const uint64_t *points)
{
	int err = 0;
	uint32_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < count && !err; i++) {
		struct sync *sync = find(handles[i]);

		if (sync)
			fn(sync, points ? points[i] : 0);
		else
			err = ENOENT;
	}
	pthread_mutex_unlock(&lock);
	return result(err);
}

static void reset(struct sync *sync, uint64_t point)
{
	sync->signaled = false;
	sync->point = 0;
}

int drmSyncobjReset(int fd, const uint32_t *handles, uint32_t count)
{
	return for_each(handles, count, reset, NULL);
}

int drmSyncobjSignal(int fd, const uint32_t *handles, uint32_t count)
{
	return for_each(handles, count, signal_point, NULL);
}

int drmSyncobjTimelineSignal(int fd, const uint32_t *handles, uint64_t *points,
			     uint32_t count)
{
	return for_each(handles, count, signal_point, points);
}

int drmSyncobjQuery2(int fd, uint32_t *handles, uint64_t *points,
		     uint32_t count, uint32_t flags)
{
	uint32_t i;
	int err = 0;

	pthread_mutex_lock(&lock);
	for (i = 0; i < count; i++) {
		struct sync *sync = find(handles[i]);

		points[i] = sync ? sync->point : 0;
		err = sync ? err : ENOENT;
	}
	pthread_mutex_unlock(&lock);
	return result(err);
}

int drmSyncobjTransfer(int fd, uint32_t dst, uint64_t dst_point, uint32_t src,
		       uint64_t src_point, uint32_t flags)
{
	struct sync *to, *from;

	pthread_mutex_lock(&lock);
	to = find(dst);
	from = find(src);
	if (to && from && from->signaled && from->point >= src_point)
		signal_point(to, dst_point);
	pthread_mutex_unlock(&lock);
	return result(to && from ? 0 : ENOENT);
}

static bool reached(const uint32_t *handles, const uint64_t *points,
		    unsigned int count, bool all, uint32_t *first)
{
	unsigned int i, n = 0;

	for (i = 0; i < count; i++) {
		const struct sync *sync = find(handles[i]);

		if (!sync || !sync->signaled ||
		    (points && sync->point < points[i]))
			continue;
		if (!n++ && first)
			*first = i;
	}
	return all ? n == count : n > 0;
}

int drmSyncobjTimelineWait(int fd, uint32_t *handles, uint64_t *points,
			   unsigned int count, int64_t timeout_nsec,
			   unsigned int flags, uint32_t *first)
{
	struct timespec until = {
		.tv_sec = timeout_nsec / 1000000000,
		.tv_nsec = timeout_nsec % 1000000000,
	};
	bool all = flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
	int err = 0;

	pthread_mutex_lock(&lock);
	while (!reached(handles, points, count, all, first) && !err)
		err = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC,
					     &until);
	pthread_mutex_unlock(&lock);
	return err == ETIMEDOUT ? -ETIME : -err;
}

int drmSyncobjWait(int fd, uint32_t *handles, unsigned int count,
		   int64_t timeout_nsec, unsigned int flags, uint32_t *first)
{
	return drmSyncobjTimelineWait(fd, handles, NULL, count, timeout_nsec,
				      flags, first);
}

/* A file with the sync object's number in it */
int drmSyncobjHandleToFD(int fd, uint32_t handle, int *obj_fd)
{
	*obj_fd = memfd_create("fake-syncobj", MFD_CLOEXEC);
	if (*obj_fd < 0 ||
	    pwrite(*obj_fd, &handle, sizeof(handle), 0) != sizeof(handle))
		return result(EIO);
	return 0;
}

int drmSyncobjFDToHandle(int fd, int obj_fd, uint32_t *handle)
{
	if (pread(obj_fd, handle, sizeof(*handle), 0) != sizeof(*handle))
		return result(EINVAL);
	return 0;
}

/* All is over already: any file does, and any file says that it is */
int drmSyncobjExportSyncFile(int fd, uint32_t handle, int *sync_file_fd)
{
	return drmSyncobjHandleToFD(fd, handle, sync_file_fd);
}

int drmSyncobjImportSyncFile(int fd, uint32_t handle, int sync_file_fd)
{
	return drmSyncobjSignal(fd, &handle, 1);
}
