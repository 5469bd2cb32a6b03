/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The device: what its blocks share.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_DEVICE_H
#define ASAHI_DEVICE_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/types.h>

#include <drm/asahi_drm.h>
#include <drm/drm_device.h>

#include "asahi_gem.h"
#include "asahi_heap.h"

struct asahi_abi;
struct asahi_channels;
struct asahi_events;
struct asahi_hw;
struct asahi_initdata;
struct asahi_queues;
struct asahi_recovery;
struct asahi_rtkit;
struct asahi_slots;
struct asahi_uat;
struct platform_device;

/**
 * enum asahi_fw_state - how far the firmware is
 * @ASAHI_FW_FRESH: has not had an InitData since it was started
 * @ASAHI_FW_RUNNING: has had one, works
 * @ASAHI_FW_STOPPED: has had one, and has been quiesced
 */
enum asahi_fw_state {
	ASAHI_FW_FRESH,
	ASAHI_FW_RUNNING,
	ASAHI_FW_STOPPED,
};

/**
 * struct asahi_device - one GPU
 *
 * Lives until the last reference to @drm is gone, which may be long after
 * unbind. Each block owns what its pointer points to: asahi_X_init() sets the
 * pointer, asahi_X_unplug() stops the block's activity when the hardware goes
 * away, asahi_X_fini() releases it. All three run in process context, from
 * probe and remove only.
 *
 * Everything but @dead and @fw_state is constant between probe and the end of remove.
 */
struct asahi_device {
	/** @drm: base */
	struct drm_device drm;
	/** @hw: constants of this SoC */
	const struct asahi_hw *hw;
	/** @abi: operations that depend on the firmware's version */
	const struct asahi_abi *abi;
	/** @asc: control registers of the coprocessor */
	void __iomem *asc;
	/** @sgx: registers of the GPU */
	void __iomem *sgx;
	/** @coherent: the GPU sees what is in the CPU's caches, says the device tree */
	bool coherent;
	/** @params: what GET_PARAMS answers */
	struct drm_asahi_params_global params;

	/** @rtkit: mailbox protocol and doorbells */
	struct asahi_rtkit *rtkit;
	/** @uat: MMU contexts and the kernel half's page table */
	struct asahi_uat *uat;
	/** @heap: firmware-visible memory in the kernel half */
	struct asahi_heap *heap[ASAHI_HEAP_COUNT];
	/** @heaps: these and all others, those of VMs too */
	struct asahi_heap_list heaps;
	/** @gems: all buffer objects */
	struct asahi_gem_list gems;
	/** @initdata: root structure of the firmware interface */
	struct asahi_initdata *initdata;
	/** @channels: rings between driver and firmware */
	struct asahi_channels *channels;
	/** @events: stamps and their event slots */
	struct asahi_events *events;
	/** @slots: VM contexts and events, taken when a job is about to run */
	struct asahi_slots *slots;
	/** @queues: all queues, and their workers */
	struct asahi_queues *queues;
	/** @recovery: handling of faults, timeouts and crashes */
	struct asahi_recovery *recovery;

	/** @dead: firmware crashed or device unplugged; never reset */
	bool dead;
	/** @fw_state: how far the firmware is */
	enum asahi_fw_state fw_state;
};

/**
 * to_asahi_device() - get the device from its base
 * @drm: DRM device
 *
 * Return: the device that contains @drm.
 */
static inline struct asahi_device *to_asahi_device(struct drm_device *drm)
{
	return container_of(drm, struct asahi_device, drm);
}

/**
 * asahi_device_dead() - firmware crashed or device unplugged
 * @adev: device
 *
 * Any context. The answer may change from false to true at any time, never
 * back.
 *
 * Return: true if nothing will ever complete again.
 */
static inline bool asahi_device_dead(struct asahi_device *adev)
{
	return READ_ONCE(adev->dead);
}

/**
 * asahi_device_set_dead() - declare that nothing will complete any more
 * @adev: device
 *
 * Any context.
 */
static inline void asahi_device_set_dead(struct asahi_device *adev)
{
	WRITE_ONCE(adev->dead, true);
}

/**
 * asahi_device_fw_running() - is there anybody to answer?
 * @adev: device
 *
 * Any context. Tells early from late, for what is torn down in both; it is no
 * promise that an answer will come.
 *
 * Return: true from the firmware's start until it is stopped or dead.
 */
static inline bool asahi_device_fw_running(struct asahi_device *adev)
{
	return READ_ONCE(adev->fw_state) == ASAHI_FW_RUNNING && !asahi_device_dead(adev);
}

int asahi_device_probe(struct platform_device *pdev, const struct drm_driver *driver);
void asahi_device_remove(struct asahi_device *adev);
int asahi_device_map_region(struct asahi_device *adev, const char *name, size_t size,
			    void **map, phys_addr_t *phys);

/* Module parameters; read-only after load. */
extern bool asahi_unproven;
extern int asahi_fault_control;

#endif
