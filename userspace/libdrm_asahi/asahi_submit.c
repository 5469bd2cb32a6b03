// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <linux/sync_file.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "asahi_priv.h"

/* Far above what the kernel takes, and its double still fits into 32 bits. */
#define ARRAY_MAX	(UINT32_C(1) << 30)

/* An array of bytes that grows. */
struct array {
	uint8_t *data;
	size_t used;
	size_t size;
};

struct asahi_submit {
	struct asahi_queue *queue;
	int error;
	/* struct drm_asahi_sync; the kernel wants both kinds in one array */
	struct array waits;
	struct array signals;
	struct array cmdbuf;
};

static int submit_array_add(struct array *array, const void *data, size_t size)
{
	size_t want = array->size ? array->size : 256;
	uint8_t *grown;

	if (size > ARRAY_MAX - array->used)
		return -E2BIG;
	while (want < array->used + size)
		want *= 2;
	if (want != array->size) {
		grown = realloc(array->data, want);
		if (!grown)
			return -ENOMEM;
		array->data = grown;
		array->size = want;
	}
	if (size)
		memcpy(array->data + array->used, data, size);
	array->used += size;
	return 0;
}

static void submit_array_fini(struct array *array)
{
	free(array->data);
	*array = (struct array){ 0 };
}

static void submit_add(struct asahi_submit *submit, struct array *array,
		       const void *data, size_t size)
{
	if (!submit->error)
		submit->error = submit_array_add(array, data, size);
}

ASAHI_EXPORT int asahi_submit_new(struct asahi_queue *queue,
				  struct asahi_submit **out)
{
	struct asahi_submit *submit = calloc(1, sizeof(*submit));

	if (!submit)
		return -ENOMEM;
	submit->queue = asahi_queue_ref(queue);
	*out = submit;
	return 0;
}

ASAHI_EXPORT void asahi_submit_free(struct asahi_submit *submit)
{
	if (!submit)
		return;
	submit_array_fini(&submit->waits);
	submit_array_fini(&submit->signals);
	submit_array_fini(&submit->cmdbuf);
	asahi_queue_unref(submit->queue);
	free(submit);
}

ASAHI_EXPORT void asahi_submit_reset(struct asahi_submit *submit)
{
	submit->error = 0;
	submit->waits.used = 0;
	submit->signals.used = 0;
	submit->cmdbuf.used = 0;
}

static void submit_sync(struct asahi_submit *submit, struct array *array,
			uint32_t syncobj, uint64_t point)
{
	const struct drm_asahi_sync sync = {
		.sync_type = point ? DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ :
				     DRM_ASAHI_SYNC_SYNCOBJ,
		.handle = syncobj,
		.timeline_value = point,
	};

	submit_add(submit, array, &sync, sizeof(sync));
}

ASAHI_EXPORT void asahi_submit_wait(struct asahi_submit *submit,
				    uint32_t syncobj, uint64_t point)
{
	submit_sync(submit, &submit->waits, syncobj, point);
}

ASAHI_EXPORT void asahi_submit_signal(struct asahi_submit *submit,
				      uint32_t syncobj, uint64_t point)
{
	submit_sync(submit, &submit->signals, syncobj, point);
}

ASAHI_EXPORT void asahi_submit_raw(struct asahi_submit *submit,
				   const void *data, size_t size)
{
	submit_add(submit, &submit->cmdbuf, data, size);
}

static void submit_command(struct asahi_submit *submit,
			   enum drm_asahi_cmd_type type,
			   struct asahi_barrier barrier, const void *payload,
			   size_t size)
{
	const struct drm_asahi_cmd_header header = {
		.cmd_type = type,
		.size = size,
		.vdm_barrier = barrier.vdm,
		.cdm_barrier = barrier.cdm,
	};

	asahi_submit_raw(submit, &header, sizeof(header));
	asahi_submit_raw(submit, payload, size);
}

ASAHI_EXPORT void asahi_submit_render(struct asahi_submit *submit,
				      const struct drm_asahi_cmd_render *cmd,
				      struct asahi_barrier barrier)
{
	submit_command(submit, DRM_ASAHI_CMD_RENDER, barrier, cmd,
		       sizeof(*cmd));
}

ASAHI_EXPORT void asahi_submit_compute(struct asahi_submit *submit,
				       const struct drm_asahi_cmd_compute *cmd,
				       struct asahi_barrier barrier)
{
	submit_command(submit, DRM_ASAHI_CMD_COMPUTE, barrier, cmd,
		       sizeof(*cmd));
}

ASAHI_EXPORT void
asahi_submit_attachments(struct asahi_submit *submit,
			 enum drm_asahi_cmd_type type,
			 const struct drm_asahi_attachment *attachments,
			 uint32_t count)
{
	if (count > UINT16_MAX / sizeof(*attachments)) {
		if (!submit->error)
			submit->error = -E2BIG;
		return;
	}
	submit_command(submit, type, ASAHI_BARRIER_NONE, attachments,
		       count * sizeof(*attachments));
}

static int submit_ioctl(struct asahi_submit *submit, struct array *syncs)
{
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)syncs->data,
		.cmdbuf = (uintptr_t)submit->cmdbuf.data,
		.queue_id = submit->queue->id,
		.in_sync_count =
			submit->waits.used / sizeof(struct drm_asahi_sync),
		.out_sync_count =
			submit->signals.used / sizeof(struct drm_asahi_sync),
		.cmdbuf_size = submit->cmdbuf.used,
	};

	return asahi_ioctl(submit->queue->vm->dev, DRM_IOCTL_ASAHI_SUBMIT,
			   &args);
}

ASAHI_EXPORT int asahi_submit_flush(struct asahi_submit *submit)
{
	struct array syncs = { 0 };
	int err = submit->error;

	if (!err)
		err = submit_array_add(&syncs, submit->waits.data, submit->waits.used);
	if (!err)
		err = submit_array_add(&syncs, submit->signals.data,
				       submit->signals.used);
	if (!err)
		err = submit_ioctl(submit, &syncs);
	submit_array_fini(&syncs);
	if (!err)
		asahi_submit_reset(submit);
	return err;
}

ASAHI_EXPORT int asahi_submit_run(struct asahi_submit *submit,
				  int64_t timeout_ns)
{
	struct asahi_device *dev = submit->queue->vm->dev;
	size_t signals = submit->signals.used;
	uint32_t syncobj;
	int err;

	if (submit->error)
		return submit->error;
	if (drmSyncobjCreate(dev->fd, 0, &syncobj))
		return -errno;
	asahi_submit_signal(submit, syncobj, 0);
	err = asahi_submit_flush(submit);
	if (err) {
		submit->signals.used = signals;
		submit->error = 0;
	} else {
		err = asahi_fence_wait(dev, syncobj, timeout_ns);
	}
	drmSyncobjDestroy(dev->fd, syncobj);
	return err;
}

static int64_t submit_deadline(int64_t timeout_ns)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
	if (timeout_ns < 0)
		return ns;
	return timeout_ns > INT64_MAX - ns ? INT64_MAX : ns + timeout_ns;
}

static int submit_sync_file_error(int fd)
{
	struct sync_file_info info = { .num_fences = 0 };

	if (drmIoctl(fd, SYNC_IOC_FILE_INFO, &info))
		return -errno;
	return info.status < 0 ? info.status : 0;
}

ASAHI_EXPORT int asahi_fence_wait(struct asahi_device *dev, uint32_t syncobj,
				  int64_t timeout_ns)
{
	int err;
	int fd;

	err = drmSyncobjWait(dev->fd, &syncobj, 1, submit_deadline(timeout_ns),
			     DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, NULL);
	if (err)
		return err;
	if (drmSyncobjExportSyncFile(dev->fd, syncobj, &fd))
		return -errno;
	err = submit_sync_file_error(fd);
	close(fd);
	return err;
}
