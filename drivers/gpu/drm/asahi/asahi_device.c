// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The device: probe and remove.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/of_reserved_mem.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/seq_file.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include <kunit/visibility.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include <agx/agx_regs.h>
#include <agx/agx_uat.h>

#include "asahi_abi.h"
#include "asahi_block.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_handoff.h"
#include "asahi_hw.h"
#include "asahi_initdata.h"
#include "asahi_pm.h"
#include "asahi_power.h"
#include "asahi_reset.h"
#include "asahi_rest.h"
#include "asahi_stage.h"
#include "asahi_state.h"
#include "asahi_tlb.h"

/**
 * DOC: Life of the device
 *
 * Probe brings the blocks up (asahi_block.c). There are two ends. Unplug, when
 * the driver is unbound or probe fails, stops all activity: first the submissions,
 * then, when what was in flight has ended, the firmware; last, the MMU is cut off
 * and DMA mappings are given up, so that nothing but the kernel reaches the memory
 * any more. Release, when the last file is closed, frees the memory. In between,
 * files may still be open; their ioctls fail with -ENODEV, and what they close is
 * freed as ever.
 */

/* Far beyond the clocks of any GPU, so that nothing but garbage is refused. */
#define ASAHI_DEVICE_LEAST_MHZ	100
#define ASAHI_DEVICE_MOST_MHZ	10000

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
/* One that sleeps or is lost has nothing at work. */
static unsigned int asahi_device_rest_levels(struct asahi_device *adev)
{
	unsigned int levels = ASAHI_REST_FLIGHT | ASAHI_REST_IDLE;

	if (asahi_state_get(adev) == ASAHI_STATE_RUNNING)
		levels |= ASAHI_REST_AWAKE;
	if (list_empty(&adev->drm.filelist))
		levels |= ASAHI_REST_CLOSED;
	return levels;
}

static int asahi_device_show_rest(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct asahi_device *adev = to_asahi_device(entry->dev);
	struct drm_printer p = drm_seq_file_printer(m);
	struct asahi_rest rest = { .p = &p };
	enum asahi_state_id state;

	guard(mutex)(&adev->verbs);

	state = asahi_state_get(adev);
	if (state == ASAHI_STATE_FAILED || state == ASAHI_STATE_RESETTING) {
		seq_printf(m, "state: %s\n", asahi_state_name(state));
		return 0;
	}

	rest.levels = asahi_device_rest_levels(adev);
	asahi_reset_at_rest(adev, &rest);
	asahi_blocks_at_rest(adev, &rest);
	if (!rest.broken)
		seq_printf(m, "at rest, %s and %s\n", asahi_state_name(state),
			   rest.levels & ASAHI_REST_CLOSED ? "closed" : "open");
	return 0;
}

static void asahi_device_init_rest(struct asahi_device *adev)
{
	adev->complete = true;
	drm_debugfs_add_file(&adev->drm, "at-rest", asahi_device_show_rest, NULL);
}

/* Before its hardware goes, which may have failed meanwhile. */
static void asahi_device_check_awake(struct asahi_device *adev)
{
	if (adev->complete && asahi_state_get(adev) == ASAHI_STATE_RUNNING)
		asahi_blocks_check_rest(adev, ASAHI_REST_AWAKE, "not at rest before unplug:");
}

static void asahi_device_check_gone(struct asahi_device *adev)
{
	if (adev->complete)
		asahi_blocks_check_rest(adev, ASAHI_REST_FLIGHT | ASAHI_REST_CLOSED,
					"not at rest at the end:");
}
#else
static void asahi_device_init_rest(struct asahi_device *adev)
{
}

static void asahi_device_check_awake(struct asahi_device *adev)
{
}

static void asahi_device_check_gone(struct asahi_device *adev)
{
}
#endif

/* Also after a failed probe. */
static void asahi_device_unplug(struct asahi_device *adev)
{
	asahi_reset_disable(adev);
	asahi_pm_disable(adev);
	scoped_guard(mutex, &adev->verbs) {
		asahi_device_check_awake(adev);
		asahi_blocks_unplug(adev);
		asahi_state_unplug(adev);
	}
	asahi_power_unhold(adev);
	asahi_pm_fini(adev);
}

static void asahi_device_release(struct drm_device *drm, void *data)
{
	struct asahi_device *adev = to_asahi_device(drm);

	asahi_device_check_gone(adev);
	asahi_blocks_fini(adev);
	asahi_reset_fini(adev);
	mutex_destroy(&adev->verbs);
	asahi_count_dec(ASAHI_COUNT_DEVICE);
}

static void asahi_device_iounmap(void *regs)
{
	iounmap((void __iomem *)regs);
}

/* Does not claim the region: the mailbox, a device of its own, lies inside "asc". */
static void __iomem *asahi_device_ioremap(struct platform_device *pdev, const char *name,
					  size_t size)
{
	struct resource *res;
	void __iomem *regs;
	int ret;

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

	ret = devm_add_action_or_reset(&pdev->dev, asahi_device_iounmap,
				       (__force void *)regs);
	return ret ? IOMEM_ERR_PTR(ret) : regs;
}

static int asahi_device_select_abi(struct platform_device *pdev, const struct asahi_hw *hw,
				   const struct asahi_abi **abi)
{
	struct device *dev = &pdev->dev;
	u32 version[3];

	if (of_property_count_u32_elems(dev->of_node, "apple,firmware-abi") != 3 ||
	    of_property_read_u32_array(dev->of_node, "apple,firmware-abi", version, 3))
		return dev_err_probe(dev, -ENODEV,
				     "no usable \"apple,firmware-abi\": three numbers are expected\n");

	if (!version[0])
		return dev_err_probe(dev, -ENODEV,
				     "the boot loader names no firmware, m1n1 1.6 or later does\n");

	*abi = asahi_abi_select(version, hw->gen);
	if (!*abi)
		return dev_err_probe(dev, -ENODEV, "unknown firmware %u.%u.%u on %s\n",
				     version[0], version[1], version[2], hw->name);

	return 0;
}

static int asahi_device_check_machine(struct device *dev)
{
	if (IS_ENABLED(CONFIG_ARM64) && PAGE_SIZE != AGX_PAGE_SIZE)
		return dev_err_probe(dev, -ENODEV,
				     "this GPU needs a kernel with pages of 16 KiB\n");

	if (!asahi_tlb_supported())
		return dev_err_probe(dev, -ENODEV,
				     "this CPU lacks outer-shareable and range TLB invalidation\n");

	return 0;
}

/* Registers of a GPU without power stop the machine. */
static int asahi_device_check_power(struct device *dev)
{
	if (device_property_present(dev, "power-domains"))
		return 0;

	return dev_err_probe(dev, -ENODEV,
			     "the device tree names no power domain (\"power-domains\")\n");
}

/* Before the coprocessor is started: what follows is not to be done twice. */
static int asahi_device_check_mailbox(struct device *dev)
{
	struct device_node *np __free(device_node) = of_parse_phandle(dev->of_node, "mboxes", 0);
	struct platform_device *mbox = np ? of_find_device_by_node(np) : NULL;
	bool bound;

	if (!np)
		return dev_err_probe(dev, -ENODEV,
				     "the device tree names no mailbox (\"mboxes\")\n");
	if (!mbox)
		return -EPROBE_DEFER;

	bound = device_is_bound(&mbox->dev);
	put_device(&mbox->dev);
	return bound ? 0 : -EPROBE_DEFER;
}

/* All that a report of a problem begins with, in one line. */
static void asahi_device_say(struct asahi_device *adev)
{
	const struct drm_asahi_params_global *params = &adev->params;
	const char *loader = NULL;
	unsigned int cores = 0;
	u32 firmware[3] = {};
	char masks[80] = "";
	int len = 0;

	for (unsigned int i = 0; i < params->num_clusters_total; i++) {
		cores += hweight64(params->core_masks[i]);
		len += scnprintf(masks + len, sizeof(masks) - len, " %#llx", params->core_masks[i]);
	}

	of_property_read_u32_array(adev->drm.dev->of_node, "apple,firmware-abi", firmware, 3);
	if (of_chosen)
		of_property_read_string(of_chosen, "asahi,m1n1-stage2-version", &loader);
	drm_info(&adev->drm,
		 "%s of T%x, revision %c%u, %u cores by cluster:%s, firmware %u.%u.%u, boot loader %s\n",
		 adev->hw->name, params->chip_id, 'A' + (params->gpu_revision >> 4),
		 params->gpu_revision & 0xf, cores, masks, firmware[0], firmware[1], firmware[2],
		 loader ?: "unknown");
}

/* What may be read while the coprocessor does not run. */
static int asahi_device_look(struct asahi_device *adev)
{
	struct drm_printer p = asahi_stage_printer(adev);

	if (adev->stage == ASAHI_STAGE_ALL)
		return 0;

	drm_printf(&p, "before the coprocessor is started\n");
	asahi_hw_print_cpu(adev, &p);
	asahi_stage_print_regions(adev, &p);
	return asahi_stage_end(adev, ASAHI_STAGE_MAPPED, "nothing has been started");
}

static int asahi_device_map_region(struct asahi_device *adev, enum asahi_region_id id,
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
static int asahi_device_check_filled(struct asahi_device *adev, enum asahi_region_id id,
				     const char *name, size_t size)
{
	if (memchr_inv(adev->region[id].map, 0, size))
		return 0;

	drm_err(&adev->drm, "memory region \"%s\" is all zeroes, m1n1 1.6 or later fills it in\n",
		name);
	return -ENODEV;
}

/* The clocks of performance states are calibration whose range is known. */
VISIBLE_IF_KUNIT int asahi_device_check_clocks(struct asahi_device *adev)
{
	u32 most = asahi_initdata_highest_mhz(adev->region[ASAHI_REGION_HW_CAL_B].map +
					      adev->abi->initdata->frequencies);

	if (most >= ASAHI_DEVICE_LEAST_MHZ && most <= ASAHI_DEVICE_MOST_MHZ)
		return 0;

	drm_err(&adev->drm, "memory region \"hw-cal-b\" is of other firmware or damaged: highest clock %u MHz, expected %u to %u\n",
		most, ASAHI_DEVICE_LEAST_MHZ, ASAHI_DEVICE_MOST_MHZ);
	return -ENODEV;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_device_check_clocks);

static int asahi_device_check_regions(struct asahi_device *adev)
{
	const struct asahi_initdata_abi *abi = adev->abi->initdata;
	int ret;

	ret = asahi_device_check_filled(adev, ASAHI_REGION_HW_CAL_A, "hw-cal-a",
					abi->hwdata_a_size);
	if (!ret)
		ret = asahi_device_check_filled(adev, ASAHI_REGION_HW_CAL_B, "hw-cal-b",
						abi->hwdata_b_size);
	if (!ret)
		ret = asahi_device_check_filled(adev, ASAHI_REGION_GLOBALS, "globals",
						abi->globals_size);
	if (!ret)
		ret = asahi_device_check_clocks(adev);

	return ret;
}

/*
 * All of the boot loader's memory regions, before the coprocessor is started: a device tree
 * without them must not cost a reboot. Says in the log what is wrong.
 */
static int asahi_device_map_regions(struct asahi_device *adev)
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
		ret = asahi_device_map_region(adev, regions[i].id, regions[i].name,
					      regions[i].size);
		if (ret)
			return ret;
	}

	return asahi_device_check_regions(adev);
}

/* Everything from the coprocessor's start to the registration. */
static int asahi_device_start(struct asahi_device *adev)
{
	int ret;

	ret = asahi_device_look(adev);
	if (ret)
		return ret;

	scoped_guard(mutex, &adev->verbs) {
		ret = asahi_blocks_init(adev);
		if (ret)
			return ret;
	}
	asahi_device_init_rest(adev);

	if (!asahi_state_move(adev, ASAHI_STATE_STARTING, ASAHI_STATE_RUNNING))
		return -ENODEV;

	asahi_reset_enable(adev);
	asahi_pm_enable(adev);
	ret = drm_dev_register(&adev->drm, 0);
	if (!ret)
		asahi_device_say(adev);
	return ret;
}

/**
 * asahi_device_probe() - bring a GPU up
 * @pdev: platform device, becomes the owner
 * @driver: DRM driver
 *
 * Process context.
 *
 * Return: 0, -EPROBE_DEFER if the mailbox is not there yet, or a negative error
 * that has been logged; -ENODEV also if the parameter "stage" asks to stop.
 */
int asahi_device_probe(struct platform_device *pdev, const struct drm_driver *driver)
{
	const struct asahi_hw *hw = of_device_get_match_data(&pdev->dev);
	const struct asahi_abi *abi;
	struct asahi_device *adev;
	int ret;

	ret = asahi_device_check_machine(&pdev->dev);
	if (ret)
		return ret;

	ret = asahi_device_select_abi(pdev, hw, &abi);
	if (ret)
		return ret;

	ret = asahi_device_check_power(&pdev->dev);
	if (ret)
		return ret;

	ret = asahi_device_check_mailbox(&pdev->dev);
	if (ret)
		return ret;

	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(hw->oas_bits));
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "no DMA to %u bits of address\n",
				     hw->oas_bits);
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	dma_set_seg_boundary(&pdev->dev, ULONG_MAX);

	adev = devm_drm_dev_alloc(&pdev->dev, driver, struct asahi_device, drm);
	if (IS_ERR(adev))
		return PTR_ERR(adev);

	adev->hw = hw;
	adev->abi = abi;
	asahi_stage_begin(adev);
	adev->coherent = device_get_dma_attr(&pdev->dev) == DEV_DMA_COHERENT;
	mutex_init(&adev->verbs);
	asahi_state_init(&adev->state);
	asahi_watchdog_init(&adev->watchdog, adev);
	platform_set_drvdata(pdev, adev);

	asahi_count_inc(ASAHI_COUNT_DEVICE);
	ret = drmm_add_action_or_reset(&adev->drm, asahi_device_release, NULL);
	if (ret)
		return ret;

	ret = asahi_reset_init(adev);
	if (ret)
		return ret;

	adev->asc = asahi_device_ioremap(pdev, "asc", AGX_ASC_SIZE);
	if (IS_ERR(adev->asc))
		return PTR_ERR(adev->asc);

	adev->sgx = asahi_device_ioremap(pdev, "sgx", AGX_SGX_SIZE);
	if (IS_ERR(adev->sgx))
		return PTR_ERR(adev->sgx);

	ret = asahi_device_map_regions(adev);
	if (ret)
		return ret;

	ret = asahi_power_init(adev);
	if (ret)
		return ret;

	ret = asahi_pm_init(adev);
	if (ret)
		return ret;

	ret = asahi_device_start(adev);
	if (ret)
		asahi_device_unplug(adev);
	/* For a probe that was to stop there is nothing to be said of a failure. */
	return ret == -ECANCELED ? -ENODEV : ret;
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
	asahi_device_unplug(adev);
}
