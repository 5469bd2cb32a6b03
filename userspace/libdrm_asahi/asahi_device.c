// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "asahi_priv.h"

#define MAX_NODES	64

int asahi_ioctl(const struct asahi_device *dev, unsigned long request,
		void *arg)
{
	return drmIoctl(dev->fd, request, arg) ? -errno : 0;
}

static int device_check_driver(int fd)
{
	drmVersionPtr version = drmGetVersion(fd);
	bool ours;

	if (!version)
		return errno == ENOTTY ? -ENODEV : -errno;
	ours = version->name && !strcmp(version->name, "asahi");
	drmFreeVersion(version);
	return ours ? 0 : -ENODEV;
}

static int device_get_params(struct asahi_device *dev)
{
	struct drm_asahi_get_params args = {
		.pointer = (uintptr_t)&dev->params,
		.size = sizeof(dev->params),
	};

	return asahi_ioctl(dev, DRM_IOCTL_ASAHI_GET_PARAMS, &args);
}

static int device_setup(struct asahi_device *dev)
{
	int err = device_check_driver(dev->fd);

	if (err)
		return err;
	err = device_get_params(dev);
	if (err)
		return err;
	dev->bos = drmHashCreate();
	return dev->bos ? 0 : -ENOMEM;
}

ASAHI_EXPORT int asahi_device_new(int fd, struct asahi_device **out)
{
	struct asahi_device *dev = calloc(1, sizeof(*dev));
	int err;

	if (!dev)
		return -ENOMEM;

	dev->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (dev->fd < 0) {
		err = -errno;
		free(dev);
		return err;
	}
	err = device_setup(dev);
	if (err) {
		close(dev->fd);
		free(dev);
		return err;
	}

	asahi_refs_init(&dev->refs);
	pthread_mutex_init(&dev->bo_lock, NULL);
	*out = dev;
	return 0;
}

static int device_open_node(const char *path, struct asahi_device **dev)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = asahi_device_new(fd, dev);
	close(fd);
	return err;
}

/*
 * Of the nodes that are there but cannot be used, an error other than "not
 * this driver" is worth more to the caller than -ENODEV.
 */
static int device_open_first_node(struct asahi_device **dev)
{
	drmDevicePtr nodes[MAX_NODES];
	int count = drmGetDevices2(0, nodes, MAX_NODES);
	int result = -ENODEV;
	int i;

	/* Without any DRM driver there is not even the folder of the nodes. */
	if (count < 0)
		return count == -ENOENT ? -ENODEV : count;

	for (i = 0; i < count && result; i++) {
		int err;

		if (!(nodes[i]->available_nodes & (1 << DRM_NODE_RENDER)))
			continue;
		err = device_open_node(nodes[i]->nodes[DRM_NODE_RENDER], dev);
		if (!err || result == -ENODEV)
			result = err;
	}
	drmFreeDevices(nodes, count);
	return result;
}

ASAHI_EXPORT int asahi_device_open(const char *path, struct asahi_device **dev)
{
	return path ? device_open_node(path, dev) : device_open_first_node(dev);
}

ASAHI_EXPORT struct asahi_device *asahi_device_ref(struct asahi_device *dev)
{
	asahi_refs_get(&dev->refs);
	return dev;
}

ASAHI_EXPORT void asahi_device_unref(struct asahi_device *dev)
{
	if (!dev || !asahi_refs_put(&dev->refs))
		return;

	drmHashDestroy(dev->bos);
	pthread_mutex_destroy(&dev->bo_lock);
	close(dev->fd);
	free(dev);
}

ASAHI_EXPORT int asahi_device_fd(const struct asahi_device *dev)
{
	return dev->fd;
}

ASAHI_EXPORT const struct drm_asahi_params_global *
asahi_device_params(const struct asahi_device *dev)
{
	return &dev->params;
}

ASAHI_EXPORT int asahi_device_get_time(struct asahi_device *dev,
				       uint64_t *time_ns)
{
	struct drm_asahi_get_time args = { .flags = 0 };
	int err = asahi_ioctl(dev, DRM_IOCTL_ASAHI_GET_TIME, &args);

	if (!err)
		*time_ns = args.gpu_timestamp;
	return err;
}
