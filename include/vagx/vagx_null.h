/* SPDX-License-Identifier: MIT */
/*
 * The ioctl of vagx-null, the driver without a device: what the module and
 * asahi-bench have to agree about. It is no interface for anybody else.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef VAGX_NULL_H
#define VAGX_NULL_H

#include <linux/types.h>

#define VAGX_NULL_NAME			"vagx-null"

/**
 * struct vagx_null_submit - a job that does nothing
 * @syncobj: handle of a sync object, which gets the job's fence
 * @pad: 0
 */
struct vagx_null_submit {
	__u32 syncobj;
	__u32 pad;
};

#define DRM_VAGX_NULL_SUBMIT		0x00
#define DRM_IOCTL_VAGX_NULL_SUBMIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_VAGX_NULL_SUBMIT, struct vagx_null_submit)

#endif /* VAGX_NULL_H */
