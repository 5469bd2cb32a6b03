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
#include <linux/kconfig.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include <drm/asahi_drm.h>
#include <drm/drm_device.h>

#include "asahi_aspace.h"
#include "asahi_gem.h"
#include "asahi_heap.h"
#include "asahi_params.h"
#include "asahi_reclaim.h"
#include "asahi_state.h"
#include "asahi_vm.h"
#include "asahi_watchdog.h"

struct asahi_abi;
struct asahi_batch;
struct asahi_channels;
struct asahi_coredumps;
struct asahi_doorbell;
struct asahi_events;
struct asahi_growth;
struct asahi_halt;
struct asahi_hw;
struct asahi_initdata;
struct asahi_knobs;
struct asahi_owners;
struct asahi_pm;
struct asahi_power;
struct asahi_reset;
struct asahi_rtkit;
struct asahi_sched;
struct asahi_slots;
struct asahi_stashes;
struct asahi_telemetry;
struct asahi_timelines;
struct asahi_timestamp_window;
struct asahi_trim;
struct asahi_uat;
struct platform_device;

/**
 * enum asahi_region_id - regions, by what they hold
 * @ASAHI_REGION_HANDOFF: the handoff region, shared with the firmware
 * @ASAHI_REGION_TTBS: the table of contexts, shared with the firmware
 * @ASAHI_REGION_PAGETABLES: root of the kernel half, shared with the firmware
 * @ASAHI_REGION_HW_CAL_A: calibration, HwDataA
 * @ASAHI_REGION_HW_CAL_B: calibration, HwDataB
 * @ASAHI_REGION_GLOBALS: calibration, Globals
 * @ASAHI_REGIONS: number of regions
 */
enum asahi_region_id {
	ASAHI_REGION_HANDOFF,
	ASAHI_REGION_TTBS,
	ASAHI_REGION_PAGETABLES,
	ASAHI_REGION_HW_CAL_A,
	ASAHI_REGION_HW_CAL_B,
	ASAHI_REGION_GLOBALS,
	ASAHI_REGIONS,
};

/**
 * struct asahi_region - one of them
 * @map: where it is mapped, until the driver is unbound
 * @phys: where it is
 */
struct asahi_region {
	void *map;
	phys_addr_t phys;
};

/**
 * struct asahi_device - one GPU
 *
 * Lives until the last reference to @drm is gone, which may be long after
 * unbind. Each block (asahi_block.h) owns what its pointer points to.
 *
 * Everything but @verbs, @state and @watchdog is constant between probe and the end of
 * remove.
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
	/** @region: the boot loader's memory regions */
	struct asahi_region region[ASAHI_REGIONS];
	/** @stage: how far it is brought up, enum asahi_stage */
	unsigned int stage;
	/** @was_started: the coprocessor had been started before this probe */
	bool was_started;
	/** @coherent: the GPU sees what is in the CPU's caches, says the device tree */
	bool coherent;
	/** @core_masks: which cores there are, as the registers of G13 say */
	u32 core_masks[2];
	/** @params: what GET_PARAMS answers */
	struct drm_asahi_params_global params;

	/** @knobs: words that can be changed for an experiment */
	struct asahi_knobs *knobs;
	/** @doorbell: sends to the firmware */
	struct asahi_doorbell *doorbell;
	/** @rtkit: the coprocessor, and buffers that it has asked for */
	struct asahi_rtkit *rtkit;
	/** @uat: MMU contexts */
	struct asahi_uat *uat;
	/** @kernel_as: the kernel half; usable once there is @uat */
	struct asahi_aspace kernel_as;
	/** @heap: firmware-visible memory in the kernel half */
	struct asahi_heap *heap[ASAHI_HEAP_COUNT];
	/** @heaps: these and all others, those of VMs too */
	struct asahi_heaps *heaps;
	/** @gems: all buffer objects */
	struct asahi_gem_list gems;
	/** @reclaim: which of them may lose their memory */
	struct asahi_reclaim reclaim;
	/** @batch: jobs that are over, and are to be freed */
	struct asahi_batch *batch;
	/** @timestamp_window: addresses of the memory that clients have registered for times */
	struct asahi_timestamp_window *timestamp_window;
	/** @vms: all address spaces of clients */
	struct asahi_vm_list vms;
	/** @initdata: root structure of the firmware interface */
	struct asahi_initdata *initdata;
	/** @initdata_va: its address, which INIT passes to the firmware */
	u64 initdata_va;
	/** @telemetry: what the firmware tells of itself */
	struct asahi_telemetry *telemetry;
	/** @hwmon: where programs look for power and temperature, or NULL */
	struct device *hwmon;
	/** @channels: rings between driver and firmware */
	struct asahi_channels *channels;
	/** @events: stamps and their event slots */
	struct asahi_events *events;
	/** @slots: VM contexts and events, taken when a job is about to run */
	struct asahi_slots *slots;
	/** @timelines: what makes fences of busy queues signal in time */
	struct asahi_timelines *timelines;
	/** @growth: what answers the firmware that asks for larger vertex buffers */
	struct asahi_growth *growth;
	/** @buffer_owners: by slot, which queue renders with a vertex buffer */
	struct asahi_owners *buffer_owners;
	/** @sched: all queues, and their workers */
	struct asahi_sched *sched;
	/** @stashes: what gives back memory that idle queues keep for their next jobs */
	struct asahi_stashes *stashes;
	/** @trim: what gives back memory of idle queues */
	struct asahi_trim *trim;
	/** @halt: what has the firmware go on after a failure of work */
	struct asahi_halt *halt;
	/** @dumps: core dumps */
	struct asahi_coredumps *dumps;

	/** @verbs: held while verbs of blocks run, but for fini */
	struct mutex verbs;
	/** @power: the power domain */
	struct asahi_power *power;
	/** @pm: system sleep and runtime PM */
	struct asahi_pm *pm;
	/** @state: what the device is doing */
	struct asahi_state state;
	/** @watchdog: what the firmware owes */
	struct asahi_watchdog watchdog;
	/** @reset: what follows a failure of the firmware */
	struct asahi_reset *reset;
	/** @blocks: how many blocks have been initialised; of asahi_block.c */
	unsigned int blocks;
#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
	/** @complete: all of them have, without an error */
	bool complete;
#endif
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

int asahi_device_probe(struct platform_device *pdev, const struct drm_driver *driver);
void asahi_device_remove(struct asahi_device *adev);

#if IS_ENABLED(CONFIG_KUNIT)
int asahi_device_check_clocks(struct asahi_device *adev);
#endif

#endif
