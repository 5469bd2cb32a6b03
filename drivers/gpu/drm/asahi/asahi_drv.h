/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * DRM driver: files.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_DRV_H
#define ASAHI_DRV_H

#include <linux/types.h>
#include <linux/xarray.h>

#include <drm/drm_file.h>

struct asahi_device;
struct asahi_client;

/** ASAHI_MAX_COMMANDS - hardware commands per SUBMIT at most */
#define ASAHI_MAX_COMMANDS 64
/** ASAHI_MAX_ATTACHMENTS - attachments per command at most */
#define ASAHI_MAX_ATTACHMENTS 16

/**
 * struct asahi_file - one open of the device
 *
 * Lives from open to the last close, and holds a reference to the device
 * through its DRM file.
 */
struct asahi_file {
	/** @adev: device */
	struct asahi_device *adev;
	/** @drm_file: base, for handles and sync objects */
	struct drm_file *drm_file;
	/** @vms: struct asahi_vm by ID, from 1; xa_lock protects it */
	struct xarray vms;
	/** @queues: struct asahi_queue by ID, from 1; xa_lock protects it */
	struct xarray queues;
	/** @timestamps: struct asahi_timestamps by handle, from 1; xa_lock protects it */
	struct xarray timestamps;
	/** @client: who it is and what its queues have used; outlives the file */
	struct asahi_client *client;
	/** @closing: nobody has it open any more; set once, before all the rest */
	bool closing;
};

/**
 * to_asahi_file() - get the driver's part of an open file
 * @file: DRM file
 *
 * Return: the driver's part.
 */
static inline struct asahi_file *to_asahi_file(struct drm_file *file)
{
	return file->driver_priv;
}

#endif
