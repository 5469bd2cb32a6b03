// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The memory regions that the boot loader leaves behind.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/of_reserved_mem.h>

#include <asm/byteorder.h>

#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_abi.h"
#include "asahi_device.h"
#include "asahi_handoff.h"
#include "asahi_initdata.h"
#include "asahi_region.h"

/* Of the root of the kernel half, those that may be in use: the firmware's and the host's. */
#define ASAHI_REGION_ROOT_ENTRIES 8

static int asahi_region_map(struct asahi_device *adev, enum asahi_region_id id,
			    const char *name, size_t size)
{
	struct asahi_region *region = &adev->region[id];
	struct device *dev = adev->drm.dev;
	struct resource res;

	if (of_reserved_mem_region_to_resource_byname(dev->of_node, name, &res)) {
		drm_err(&adev->drm, "memory region \"%s\" is missing or disabled\n", name);
		return -ENODEV;
	}

	if (resource_size(&res) < size) {
		drm_err(&adev->drm, "memory region \"%s\" has %#llx bytes, needs %#zx\n", name,
			(u64)resource_size(&res), size);
		return -ENODEV;
	}

	region->map = devm_memremap(dev, res.start, resource_size(&res), MEMREMAP_WB);
	if (IS_ERR(region->map)) {
		drm_err(&adev->drm, "memory region \"%s\" cannot be mapped\n", name);
		return PTR_ERR(region->map);
	}

	region->phys = res.start;
	return 0;
}

/**
 * asahi_regions_map() - map all of the boot loader's memory regions
 * @adev: device with its ABI
 *
 * Before the coprocessor is started: a device tree without them must not cost
 * a reboot. Process context, probe only. Says in the log what is wrong.
 *
 * Return: 0, -ENODEV if one is missing, disabled or too small, or -ENOMEM.
 */
int asahi_regions_map(struct asahi_device *adev)
{
	const struct asahi_initdata_abi *abi = adev->abi->initdata;
	const struct {
		enum asahi_region_id id;
		const char *name;
		size_t size;
	} regions[ASAHI_REGIONS] = {
		{ ASAHI_REGION_HANDOFF, "handoff", AGX_HANDOFF_SIZE },
		{ ASAHI_REGION_TTBS, "ttbs", AGX_TTBS_SIZE },
		{ ASAHI_REGION_PAGETABLES, "pagetables", AGX_UAT_KERNEL_ROOT_SIZE },
		{ ASAHI_REGION_HW_CAL_A, "hw-cal-a", abi->hwdata_a_size },
		{ ASAHI_REGION_HW_CAL_B, "hw-cal-b", abi->hwdata_b_size },
		{ ASAHI_REGION_GLOBALS, "globals", abi->globals_size },
	};
	int ret;

	for (unsigned int i = 0; i < ARRAY_SIZE(regions); i++) {
		ret = asahi_region_map(adev, regions[i].id, regions[i].name, regions[i].size);
		if (ret)
			return ret;
	}

	return 0;
}

static void asahi_region_print_handoff(const struct asahi_handoff *h, struct drm_printer *p)
{
	drm_printf(p, "handoff magic_ap %#llx magic_fw %#llx\n",
		   le64_to_cpu(READ_ONCE(h->magic_ap)), le64_to_cpu(READ_ONCE(h->magic_fw)));
	drm_printf(p, "handoff lock_ap %u lock_fw %u turn %u cur_slot %#x\n",
		   READ_ONCE(h->lock_ap), READ_ONCE(h->lock_fw), le32_to_cpu(READ_ONCE(h->turn)),
		   le32_to_cpu(READ_ONCE(h->cur_slot)));
	for (unsigned int i = 0; i < AGX_HANDOFF_FLUSH_COUNT; i++)
		if (READ_ONCE(h->flush[i].state))
			drm_printf(p, "handoff flush[%u] state %llu\n", i,
				   le64_to_cpu(READ_ONCE(h->flush[i].state)));
	drm_printf(p, "handoff unk2 %#x unk3 %#llx\n", READ_ONCE(h->unk2),
		   le64_to_cpu(READ_ONCE(h->unk3)));
}

/**
 * asahi_regions_print() - print what the regions shared with the firmware hold
 * @adev: device after asahi_regions_map()
 * @p: where to
 *
 * Reads alone, without the handoff lock: what changes meanwhile may be printed before or
 * after the change. Process context.
 */
void asahi_regions_print(struct asahi_device *adev, struct drm_printer *p)
{
	const __le64 *ttbs = adev->region[ASAHI_REGION_TTBS].map;
	const __le64 *root = adev->region[ASAHI_REGION_PAGETABLES].map;

	asahi_region_print_handoff(adev->region[ASAHI_REGION_HANDOFF].map, p);
	for (unsigned int i = 0; i < AGX_UAT_CONTEXTS; i++)
		drm_printf(p, "ttbs[%u] %#llx %#llx\n", i, le64_to_cpu(READ_ONCE(ttbs[2 * i])),
			   le64_to_cpu(READ_ONCE(ttbs[2 * i + 1])));
	for (unsigned int i = 0; i < ASAHI_REGION_ROOT_ENTRIES; i++)
		drm_printf(p, "root[%u] %#llx\n", i, le64_to_cpu(READ_ONCE(root[i])));
}
