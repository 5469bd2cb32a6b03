// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The device: probe and remove.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/of_reserved_mem.h>
#include <linux/platform_device.h>
#include <linux/property.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include <agx/agx_regs.h>

#include "asahi_abi.h"
#include "asahi_channel.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_event.h"
#include "asahi_hw.h"
#include "asahi_initdata.h"
#include "asahi_queue.h"
#include "asahi_recovery.h"
#include "asahi_rtkit.h"
#include "asahi_uat.h"

/**
 * DOC: Life of the device
 *
 * Probe builds the blocks in an order in which each finds what it needs. There
 * are two ends. Unplug, when the driver is unbound or probe fails, stops all
 * activity: first the submissions, then the firmware, then what waits for
 * either; last, the MMU is cut off and DMA mappings are given up, so that
 * nothing but the kernel reaches the memory any more. Release, when the last
 * file is closed, frees the memory. In between, files may still be open; their
 * ioctls fail with -ENODEV, and what they close is freed as ever.
 */

/* Also after a failed probe, when some of the blocks do not exist. */
static void device_unplug(struct asahi_device *adev)
{
	asahi_device_set_dead(adev);
	if (adev->queues)
		asahi_queues_stop(adev);
	asahi_rtkit_unplug(adev);
	asahi_channels_unplug(adev);
	if (adev->queues)
		asahi_queues_unplug(adev);
	if (adev->recovery)
		asahi_recovery_unplug(adev);
	asahi_uat_unplug(adev);
	asahi_gem_list_unplug(&adev->gems);
	asahi_heaps_unplug(adev);
}

static void device_release(struct drm_device *drm, void *data)
{
	struct asahi_device *adev = to_asahi_device(drm);

	asahi_rtkit_fini(adev);
	asahi_queues_fini(adev);
	asahi_recovery_fini(adev);
	asahi_events_fini(adev);
	asahi_initdata_fini(adev);
	asahi_channels_fini(adev);
	asahi_heaps_fini(adev);
	asahi_uat_fini(adev);
	asahi_count_dec(ASAHI_COUNT_DEVICE);
}

/**
 * asahi_device_map_region() - map one of the boot loader's memory regions
 * @adev: device
 * @name: its name in memory-region-names
 * @size: bytes that it must have at least
 * @map: where it is mapped, until the driver is unbound
 * @phys: where it is; may be NULL
 *
 * Process context, probe only. Says in the log what is wrong.
 *
 * Return: 0, -ENODEV if it is missing, disabled or too small, or -ENOMEM.
 */
int asahi_device_map_region(struct asahi_device *adev, const char *name, size_t size,
			    void **map, phys_addr_t *phys)
{
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

	*map = devm_memremap(dev, res.start, resource_size(&res), MEMREMAP_WB);
	if (IS_ERR(*map)) {
		drm_err(&adev->drm, "memory region \"%s\" cannot be mapped\n", name);
		return PTR_ERR(*map);
	}

	if (phys)
		*phys = res.start;
	return 0;
}

static void unmap_registers(void *regs)
{
	iounmap((void __iomem *)regs);
}

/* Does not claim the region: the mailbox, a device of its own, lies inside "asc". */
static void __iomem *map_registers(struct platform_device *pdev, const char *name, size_t size)
{
	struct resource *res;
	void __iomem *regs;
	int err;

	res = platform_get_resource_byname(pdev, IORESOURCE_MEM, name);
	if (!res || resource_size(res) < size)
		return IOMEM_ERR_PTR(dev_err_probe(&pdev->dev, -ENODEV,
						   "registers \"%s\" are missing or too few\n",
						   name));

	if (res->flags & IORESOURCE_MEM_NONPOSTED)
		regs = ioremap_np(res->start, resource_size(res));
	else
		regs = ioremap(res->start, resource_size(res));
	if (!regs)
		return IOMEM_ERR_PTR(-ENOMEM);

	err = devm_add_action_or_reset(&pdev->dev, unmap_registers, (__force void *)regs);
	return err ? IOMEM_ERR_PTR(err) : regs;
}

static int select_abi(struct platform_device *pdev, const struct asahi_hw *hw,
		      const struct asahi_abi **abi)
{
	struct device *dev = &pdev->dev;
	u32 version[3];
	int err;

	if (of_property_count_u32_elems(dev->of_node, "apple,firmware-abi") != 3 ||
	    of_property_read_u32_array(dev->of_node, "apple,firmware-abi", version, 3))
		return dev_err_probe(dev, -ENODEV, "no usable \"apple,firmware-abi\"\n");

	err = asahi_abi_select(version, hw->gen, abi);
	if (err == -ENOENT)
		return dev_err_probe(dev, -ENODEV, "unknown firmware %u.%u.%u on %s\n",
				     version[0], version[1], version[2], hw->name);
	if (err || !hw->io_maps)
		return dev_err_probe(dev, -ENODEV,
				     "%s with firmware %u.%u.%u is not supported yet\n",
				     hw->name, version[0], version[1], version[2]);

	return 0;
}

/* Before the coprocessor is started: what follows is not to be done twice. */
static int check_mailbox(struct device *dev)
{
	struct device_node *np __free(device_node) = of_parse_phandle(dev->of_node, "mboxes", 0);
	struct platform_device *mbox = np ? of_find_device_by_node(np) : NULL;
	bool bound;

	if (!np)
		return dev_err_probe(dev, -ENODEV, "no mailbox\n");
	if (!mbox)
		return -EPROBE_DEFER;

	bound = device_is_bound(&mbox->dev);
	put_device(&mbox->dev);
	return bound ? 0 : -EPROBE_DEFER;
}

/* Everything from the coprocessor's start to the registration. */
static int device_start(struct asahi_device *adev)
{
	bool was_started;
	int err;

	/* The handoff needs the firmware running. */
	was_started = asahi_hw_start_cpu(adev);

	err = asahi_uat_init(adev, was_started);
	if (err)
		return err;

	err = asahi_hw_init(adev);
	if (err)
		return err;

	err = asahi_heaps_init(adev);
	if (err)
		return err;

	err = asahi_channels_init(adev);
	if (err)
		return err;

	err = asahi_initdata_init(adev);
	if (err)
		return err;

	err = asahi_events_init(adev);
	if (err)
		return err;

	err = asahi_recovery_init(adev);
	if (err)
		return err;

	err = asahi_queues_init(adev);
	if (err)
		return err;

	err = asahi_rtkit_init(adev);
	if (err)
		return err;

	asahi_channel_post_initialize(adev);
	err = asahi_rtkit_boot(adev, asahi_initdata_va(adev));
	if (err)
		return err;

	err = asahi_channel_wait_initialized(adev);
	if (err) {
		drm_err(&adev->drm, "the firmware does not start on its InitData: %d\n", err);
		return err;
	}

	return drm_dev_register(&adev->drm, 0);
}

/**
 * asahi_device_probe() - bring a GPU up
 * @pdev: platform device, becomes the owner
 * @driver: DRM driver
 *
 * Process context.
 *
 * Return: 0, -EPROBE_DEFER if the mailbox is not there yet, or a negative error
 * that has been logged.
 */
int asahi_device_probe(struct platform_device *pdev, const struct drm_driver *driver)
{
	const struct asahi_hw *hw = of_device_get_match_data(&pdev->dev);
	const struct asahi_abi *abi;
	struct asahi_device *adev;
	int err;

	err = select_abi(pdev, hw, &abi);
	if (err)
		return err;

	err = check_mailbox(&pdev->dev);
	if (err)
		return err;

	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(hw->oas_bits));
	if (err)
		return dev_err_probe(&pdev->dev, err, "no DMA to %u bits of address\n",
				     hw->oas_bits);
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	dma_set_seg_boundary(&pdev->dev, ULONG_MAX);

	adev = devm_drm_dev_alloc(&pdev->dev, driver, struct asahi_device, drm);
	if (IS_ERR(adev))
		return PTR_ERR(adev);

	adev->hw = hw;
	adev->abi = abi;
	adev->coherent = device_get_dma_attr(&pdev->dev) == DEV_DMA_COHERENT;
	asahi_heap_list_init(&adev->heaps);
	asahi_gem_list_init(&adev->gems);
	platform_set_drvdata(pdev, adev);

	asahi_count_inc(ASAHI_COUNT_DEVICE);
	err = drmm_add_action_or_reset(&adev->drm, device_release, NULL);
	if (err)
		return err;

	adev->asc = map_registers(pdev, "asc", AGX_ASC_SIZE);
	if (IS_ERR(adev->asc))
		return PTR_ERR(adev->asc);

	adev->sgx = map_registers(pdev, "sgx", AGX_SGX_SIZE);
	if (IS_ERR(adev->sgx))
		return PTR_ERR(adev->sgx);

	err = device_start(adev);
	if (err)
		device_unplug(adev);
	return err;
}

/**
 * asahi_device_remove() - take a GPU down
 * @adev: device
 *
 * Process context. Files may be open and jobs in flight.
 */
void asahi_device_remove(struct asahi_device *adev)
{
	drm_dev_unplug(&adev->drm);
	device_unplug(adev);
}
