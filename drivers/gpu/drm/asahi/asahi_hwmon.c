// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Hwmon: power and temperature, where programs that monitor look for them.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/hwmon.h>
#include <linux/kconfig.h>
#include <linux/minmax.h>
#include <linux/pm_runtime.h>

#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_hwmon.h"
#include "asahi_params.h"
#include "asahi_telemetry.h"

/**
 * DOC: Hwmon
 *
 * With ``unproven=sensors`` power and temperature of the firmware's statistics are in a hwmon
 * device named "asahi". The units of both come from one source, and programs take hwmon's
 * figures for measured ones. So it is not there until somebody has compared them on a machine.
 *
 * Reading does not wake the GPU. Of one that sleeps, and of what the firmware has not told,
 * reads fail with ENODATA.
 */

/**
 * struct asahi_hwmon_attribute - a figure
 * @type: hwmon's type of it
 * @attr: hwmon's number of it
 * @reading: what the firmware tells
 */
struct asahi_hwmon_attribute {
	enum hwmon_sensor_types type;
	u32 attr;
	enum asahi_reading reading;
};

/* hwmon's units are those of the readings: microwatts and thousandths of a degree Celsius. */
static const struct asahi_hwmon_attribute asahi_hwmon_attributes[] = {
	{ hwmon_power, hwmon_power_input, ASAHI_READING_POWER },
	{ hwmon_power, hwmon_power_average, ASAHI_READING_AVERAGE_POWER },
	{ hwmon_temp, hwmon_temp_input, ASAHI_READING_TEMPERATURE },
};

static umode_t asahi_hwmon_is_visible(const void *data, enum hwmon_sensor_types type, u32 attr,
				      int channel)
{
	return 0444;
}

static int asahi_hwmon_read(struct device *dev, enum hwmon_sensor_types type, u32 attr,
			    int channel, long *val)
{
	struct asahi_device *adev = dev_get_drvdata(dev);
	u64 value;

	if (pm_runtime_suspended(adev->drm.dev))
		return -ENODATA;

	for (unsigned int i = 0; i < ARRAY_SIZE(asahi_hwmon_attributes); i++) {
		const struct asahi_hwmon_attribute *attribute = &asahi_hwmon_attributes[i];

		if (attribute->type != type || attribute->attr != attr)
			continue;
		if (!asahi_telemetry_reading(adev, attribute->reading, &value))
			return -ENODATA;
		*val = min(value, LONG_MAX);
		return 0;
	}

	return -EOPNOTSUPP;
}

static int asahi_hwmon_read_string(struct device *dev, enum hwmon_sensor_types type, u32 attr,
				   int channel, const char **str)
{
	*str = "GPU";
	return 0;
}

static const struct hwmon_ops asahi_hwmon_ops = {
	.is_visible = asahi_hwmon_is_visible,
	.read = asahi_hwmon_read,
	.read_string = asahi_hwmon_read_string,
};

static const struct hwmon_channel_info * const asahi_hwmon_channels[] = {
	HWMON_CHANNEL_INFO(power, HWMON_P_INPUT | HWMON_P_AVERAGE | HWMON_P_LABEL),
	HWMON_CHANNEL_INFO(temp, HWMON_T_INPUT | HWMON_T_LABEL),
	NULL
};

static const struct hwmon_chip_info asahi_hwmon_chip = {
	.ops = &asahi_hwmon_ops,
	.info = asahi_hwmon_channels,
};

/* The GPU works without. */
static int asahi_hwmon_init(struct asahi_device *adev)
{
	struct device *hwmon;

	if (!IS_REACHABLE(CONFIG_HWMON) || !asahi_allows(ASAHI_UNPROVEN_SENSORS))
		return 0;

	hwmon = hwmon_device_register_with_info(adev->drm.dev, "asahi", adev, &asahi_hwmon_chip,
						NULL);
	if (IS_ERR(hwmon))
		drm_warn(&adev->drm, "power and temperature are not in hwmon: %pe\n", hwmon);
	else
		adev->hwmon = hwmon;
	return 0;
}

/* Waits for readers, who wait for nothing. */
static void asahi_hwmon_unplug(struct asahi_device *adev)
{
	if (!IS_REACHABLE(CONFIG_HWMON) || !adev->hwmon)
		return;

	hwmon_device_unregister(adev->hwmon);
	adev->hwmon = NULL;
}

const struct asahi_block asahi_block_hwmon = {
	.name = "hwmon",
	.init = asahi_hwmon_init,
	.unplug = asahi_hwmon_unplug,
};
