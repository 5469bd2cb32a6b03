// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The memory regions that the boot loader leaves behind.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/err.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/of_reserved_mem.h>
#include <linux/string.h>

#include <kunit/visibility.h>

#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_abi.h"
#include "asahi_device.h"
#include "asahi_handoff.h"
#include "asahi_initdata.h"
#include "asahi_region.h"

/* Far beyond the clocks of any GPU, so that nothing but garbage is refused. */
#define ASAHI_REGION_LEAST_MHZ	100
#define ASAHI_REGION_MOST_MHZ	10000

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

/* The firmware crashes on calibration that nobody has written. */
static int asahi_region_check_filled(struct asahi_device *adev, enum asahi_region_id id,
				     const char *name, size_t size)
{
	if (memchr_inv(adev->region[id].map, 0, size))
		return 0;

	drm_err(&adev->drm, "memory region \"%s\" is all zeroes, m1n1 1.6 or later fills it in\n",
		name);
	return -ENODEV;
}

/* The clocks of performance states are calibration whose range is known. */
VISIBLE_IF_KUNIT int asahi_region_check_clocks(struct asahi_device *adev)
{
	u32 most = asahi_initdata_highest_mhz(adev->region[ASAHI_REGION_HW_CAL_B].map +
					      adev->abi->initdata->frequencies);

	if (most >= ASAHI_REGION_LEAST_MHZ && most <= ASAHI_REGION_MOST_MHZ)
		return 0;

	drm_err(&adev->drm, "memory region \"hw-cal-b\" is of other firmware or damaged: highest clock %u MHz, expected %u to %u\n",
		most, ASAHI_REGION_LEAST_MHZ, ASAHI_REGION_MOST_MHZ);
	return -ENODEV;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_region_check_clocks);

static int asahi_regions_check(struct asahi_device *adev)
{
	const struct asahi_initdata_abi *abi = adev->abi->initdata;
	int ret;

	ret = asahi_region_check_filled(adev, ASAHI_REGION_HW_CAL_A, "hw-cal-a",
					abi->hwdata_a_size);
	if (!ret)
		ret = asahi_region_check_filled(adev, ASAHI_REGION_HW_CAL_B, "hw-cal-b",
						abi->hwdata_b_size);
	if (!ret)
		ret = asahi_region_check_filled(adev, ASAHI_REGION_GLOBALS, "globals",
						abi->globals_size);
	if (!ret)
		ret = asahi_region_check_clocks(adev);

	return ret;
}

/**
 * asahi_regions_map() - map all of the boot loader's memory regions
 * @adev: device with its ABI
 *
 * Before the coprocessor is started: a device tree without them must not cost
 * a reboot. Process context, probe only. Says in the log what is wrong.
 *
 * Return: 0, -ENODEV if one is missing, disabled, too small or not filled in, or -ENOMEM.
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

	return asahi_regions_check(adev);
}
