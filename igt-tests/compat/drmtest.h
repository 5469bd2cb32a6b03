/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Opening devices, as in IGT GPU Tools.
 */
#ifndef DRMTEST_H
#define DRMTEST_H

#include <xf86drm.h>

#include "igt_core.h"

#define DRIVER_ASAHI	(1 << 12)

/* do_ioctl - an ioctl that has to succeed */
#define do_ioctl(fd, request, arg)					\
	do {								\
		int igt_ret = drmIoctl(fd, request, arg);		\
									\
		igt_assert_f(!igt_ret, #request ": %s\n",		\
			     strerror(errno));				\
	} while (0)

/* do_ioctl_err - an ioctl that has to fail in a certain way */
#define do_ioctl_err(fd, request, arg, err)				\
	do {								\
		int igt_ret = drmIoctl(fd, request, arg);		\
									\
		igt_assert_f(igt_ret == -1, #request " succeeded\n");	\
		igt_assert_f(errno == (err), #request ": %s, not %s\n",	\
			     strerror(errno), strerror(err));		\
	} while (0)

/* drm_open_driver_render - skips when there is no such device */
int drm_open_driver_render(int driver);
/* drm_reopen_driver - the same node once more */
int drm_reopen_driver(int fd);
int drm_close_driver(int fd);

#endif
