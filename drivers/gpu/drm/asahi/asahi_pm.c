// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Power management: system sleep, runtime PM, shutdown.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/pm_runtime.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_heap.h"
#include "asahi_pm.h"
#include "asahi_power.h"
#include "asahi_reset.h"
#include "asahi_rtkit.h"
#include "asahi_state.h"
#include "asahi_uat.h"
#include "asahi_watchdog.h"

/**
 * DOC: Sleep
 *
 * System sleep, by default, does nothing to the coprocessor: submission stops,
 * what is in flight is waited for, and after the sleep the firmware is asked for
 * a sign of life. If none comes it has failed. A GPU that is still busy after the
 * wait makes the system stay awake.
 *
 * With the module parameter "unproven" the firmware flushes its cache and is
 * stopped, and the power domain may go off. Waking up is then a reset in which
 * nothing is lost. Runtime PM does the same, though not before user space writes
 * "auto" to power/control, and only while nobody has the device open. Without the
 * parameter the device counts as used all the time, and "auto" has no effect.
 */

/* How long the GPU may be unused before it is suspended at run time. */
#define ASAHI_PM_AUTOSUSPEND_MS	1000

/**
 * struct asahi_pm - power management of one device
 * @asleep: system sleep has suspended it; protected by the mutex for verbs
 * @enabled: runtime PM may suspend it when nobody uses it
 */
struct asahi_pm {
	bool asleep;
	bool enabled;
};

/* Changes nothing when it fails, or has had the device reset. */
static int asahi_pm_stop(struct asahi_device *adev)
{
	int ret;

	lockdep_assert_held(&adev->verbs);

	if (asahi_state_get(adev) != ASAHI_STATE_RUNNING)
		return -EBUSY;

	ret = asahi_blocks_suspend(adev);
	if (ret)
		return ret;

	/* What is stopped now is for the reset to start again; that firmware caches again. */
	if (!asahi_state_move(adev, ASAHI_STATE_RUNNING, ASAHI_STATE_SUSPENDED)) {
		asahi_heaps_resume(adev->heaps);
		return -EBUSY;
	}

	asahi_power_allow_off(adev, asahi_allows(ASAHI_UNPROVEN_POWER));
	return 0;
}

static void asahi_pm_start(struct asahi_device *adev)
{
	lockdep_assert_held(&adev->verbs);

	if (asahi_allows(ASAHI_UNPROVEN_POWER)) {
		asahi_power_allow_off(adev, false);
		asahi_heaps_resume(adev->heaps);
		asahi_reset_restart(adev);
		return;
	}

	/* When it has failed, a reset starts what is stopped. */
	if (!asahi_blocks_resume(adev))
		asahi_state_move(adev, ASAHI_STATE_SUSPENDED, ASAHI_STATE_RUNNING);
	else
		asahi_watchdog_give_up(adev, ASAHI_DEBT_WAKE);
}

static int asahi_pm_suspend(struct device *dev)
{
	struct asahi_device *adev = dev_get_drvdata(dev);
	int ret;

	/* From here to the end of resume nothing but these two touch the device. */
	asahi_reset_disable(adev);
	guard(mutex)(&adev->verbs);

	if (asahi_state_lost(adev) || asahi_state_get(adev) == ASAHI_STATE_SUSPENDED)
		return 0;

	ret = asahi_pm_stop(adev);
	if (ret) {
		drm_info(&adev->drm, "too busy to sleep: %d\n", ret);
		asahi_reset_enable(adev);
		return ret;
	}

	adev->pm->asleep = true;
	return 0;
}

static int asahi_pm_resume(struct device *dev)
{
	struct asahi_device *adev = dev_get_drvdata(dev);

	guard(mutex)(&adev->verbs);

	if (adev->pm->asleep)
		asahi_pm_start(adev);
	adev->pm->asleep = false;
	asahi_reset_enable(adev);
	return 0;
}

/*
 * Runtime PM must not wait for a reset: that waits for runtime PM when it
 * switches the domain off. It tries again later.
 */
static int asahi_pm_runtime_suspend(struct device *dev)
{
	struct asahi_device *adev = dev_get_drvdata(dev);
	int ret;

	if (asahi_power_is_forced(adev))
		return 0;
	if (!mutex_trylock(&adev->verbs))
		return -EBUSY;

	ret = asahi_state_lost(adev) ? -EBUSY : asahi_pm_stop(adev);
	mutex_unlock(&adev->verbs);
	if (ret)
		pm_runtime_mark_last_busy(dev);
	return ret;
}

static int asahi_pm_runtime_resume(struct device *dev)
{
	struct asahi_device *adev = dev_get_drvdata(dev);

	if (asahi_power_is_forced(adev))
		return 0;

	guard(mutex)(&adev->verbs);
	if (asahi_state_get(adev) == ASAHI_STATE_SUSPENDED)
		asahi_pm_start(adev);
	return 0;
}

const struct dev_pm_ops asahi_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(asahi_pm_suspend, asahi_pm_resume)
	RUNTIME_PM_OPS(asahi_pm_runtime_suspend, asahi_pm_runtime_resume, NULL)
};

/**
 * asahi_pm_shutdown() - &platform_driver.shutdown
 * @pdev: device
 *
 * Submission stops and work is waited for, as if the system went to sleep. Then the
 * memory of clients is taken away from the GPU, the firmware is stopped, and all other
 * memory goes, whatever is still busy: after kexec it belongs to the next kernel. What
 * is left of user space finds the device gone. Process context.
 */
void asahi_pm_shutdown(struct platform_device *pdev)
{
	struct asahi_device *adev = platform_get_drvdata(pdev);

	if (!adev)
		return;

	asahi_reset_disable(adev);
	guard(mutex)(&adev->verbs);
	if (asahi_pm_stop(adev))
		drm_info(&adev->drm, "the GPU is at work, or has failed, at shutdown\n");

	asahi_uat_strip_clients(adev);
	asahi_rtkit_shutdown(adev);
	asahi_state_unplug(adev);
	asahi_uat_cut_off(adev);
}

/* Setup */

/**
 * asahi_pm_get() - have the device awake
 * @adev: device
 *
 * Process context. With the parameter "unproven" it may sleep until a suspended
 * firmware has started; it does not wait for a reset, during which the device is
 * awake. To be paired with asahi_pm_put().
 *
 * Return: 0 or a negative error.
 */
int asahi_pm_get(struct asahi_device *adev)
{
	return pm_runtime_resume_and_get(adev->drm.dev);
}

/**
 * asahi_pm_put() - the device may sleep for all the caller cares
 * @adev: device
 *
 * Any context; nothing happens at once.
 */
void asahi_pm_put(struct asahi_device *adev)
{
	pm_runtime_mark_last_busy(adev->drm.dev);
	pm_runtime_put_autosuspend(adev->drm.dev);
}

/**
 * asahi_pm_init() - prepare for runtime PM
 * @adev: device whose domain is on
 *
 * The device does not sleep before asahi_pm_enable(). Process context, probe
 * only.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_pm_init(struct asahi_device *adev)
{
	struct device *dev = adev->drm.dev;
	int ret;

	adev->pm = drmm_kzalloc(&adev->drm, sizeof(*adev->pm), GFP_KERNEL);
	if (!adev->pm)
		return -ENOMEM;

	pm_runtime_get_noresume(dev);
	pm_runtime_set_active(dev);
	pm_runtime_set_autosuspend_delay(dev, ASAHI_PM_AUTOSUSPEND_MS);
	pm_runtime_use_autosuspend(dev);
	pm_runtime_forbid(dev);
	ret = devm_pm_runtime_enable(dev);
	if (ret)
		asahi_pm_fini(adev);
	return ret;
}

/**
 * asahi_pm_enable() - let runtime PM do its work
 * @adev: device in full operation
 *
 * Only with the parameter "unproven", and only when user space asks for it.
 * Process context.
 */
void asahi_pm_enable(struct asahi_device *adev)
{
	if (!asahi_allows(ASAHI_UNPROVEN_POWER))
		return;

	adev->pm->enabled = true;
	asahi_pm_put(adev);
}

/**
 * asahi_pm_disable() - undo asahi_pm_enable()
 * @adev: device that goes away
 *
 * The device is awake afterwards. Process context.
 */
void asahi_pm_disable(struct asahi_device *adev)
{
	if (adev->pm->enabled)
		pm_runtime_get_sync(adev->drm.dev);
	adev->pm->enabled = false;
}

/**
 * asahi_pm_fini() - undo asahi_pm_init()
 * @adev: device that was unplugged
 *
 * Process context, before the driver has left.
 */
void asahi_pm_fini(struct asahi_device *adev)
{
	struct device *dev = adev->drm.dev;

	pm_runtime_dont_use_autosuspend(dev);
	pm_runtime_allow(dev);
	pm_runtime_put_noidle(dev);
}
