// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Power: the GPU's power domain.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/pm_domain.h>
#include <linux/pm_runtime.h>
#include <linux/slab.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "asahi_device.h"
#include "asahi_power.h"

/**
 * DOC: Power
 *
 * The GPU and its coprocessor are in one power domain, which the kernel's core
 * switches: off when the system sleeps, off when the driver is unbound or its
 * probe has failed. Under a running firmware that is not known to be safe, and
 * a firmware that has been started once is not known to start again. So once it
 * has started the coprocessor the driver holds the domain, by a notifier that
 * refuses the switch-off. The notifier belongs to the domain and not to the
 * device, and stays when the driver leaves; therefore the module stays, too.
 *
 * With the module parameter "unproven" the domain is let go when the firmware
 * has been stopped: in system sleep, in runtime suspend, when the driver is
 * unbound, and in a reset, which needs it off.
 */

/* The end of a system transition keeps the domain on for a moment longer. */
#define ASAHI_POWER_CUT_TRIES		20
#define ASAHI_POWER_CUT_WAIT_MS		50

/**
 * struct asahi_power_hold - what keeps a domain on
 * @link: in asahi_power_holds
 * @domain: the domain
 * @nb: registered with the domain, until the module goes
 * @release: it may be switched off
 * @was_cut: it has been, since asahi_power_restore()
 */
struct asahi_power_hold {
	struct list_head link;
	struct dev_pm_domain *domain;
	struct notifier_block nb;
	bool release;
	bool was_cut;
};

/**
 * struct asahi_power - power of one device
 * @hold: what keeps its domain on; NULL before the coprocessor is started, and
 *	if there is no domain
 * @forced: asahi_power_cut() has suspended the device behind the back of its users
 *
 * @forced is protected by the device's mutex for verbs.
 */
struct asahi_power {
	struct asahi_power_hold *hold;
	bool forced;
};

/* Protects the list. */
static DEFINE_MUTEX(asahi_power_lock);
static LIST_HEAD(asahi_power_holds);

/* In atomic context, with the domain's lock held. */
static int asahi_power_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct asahi_power_hold *hold = container_of(nb, struct asahi_power_hold, nb);

	switch (action) {
	case GENPD_NOTIFY_PRE_OFF:
		return READ_ONCE(hold->release) ? NOTIFY_OK : NOTIFY_BAD;
	case GENPD_NOTIFY_OFF:
		WRITE_ONCE(hold->was_cut, true);
		break;
	}

	return NOTIFY_OK;
}

/* After a failed probe it is there already. */
static struct asahi_power_hold *asahi_power_find_hold(struct device *dev)
{
	struct asahi_power_hold *hold;

	lockdep_assert_held(&asahi_power_lock);

	list_for_each_entry(hold, &asahi_power_holds, link)
		if (hold->domain == dev->pm_domain)
			return hold;

	return NULL;
}

/**
 * asahi_power_hold() - keep the domain on from now on
 * @adev: device whose coprocessor is about to be started
 *
 * Without the parameter "unproven" this is for good: nobody switches the domain
 * off as long as the kernel runs. Process context, probe only.
 *
 * Return: 0, also if there is no domain, or -ENOMEM.
 */
int asahi_power_hold(struct asahi_device *adev)
{
	struct device *dev = adev->drm.dev;
	struct asahi_power_hold *hold;
	int ret;

	/* What is never given back refers to the module's code. */
	if (!asahi_allows(ASAHI_UNPROVEN_UNBIND) || !asahi_allows(ASAHI_UNPROVEN_POWER))
		__module_get(THIS_MODULE);
	if (!dev->pm_domain)
		return 0;

	guard(mutex)(&asahi_power_lock);

	hold = asahi_power_find_hold(dev);
	if (hold) {
		adev->power->hold = hold;
		return 0;
	}

	hold = kzalloc_obj(*hold);
	if (!hold)
		return -ENOMEM;

	hold->domain = dev->pm_domain;
	hold->nb.notifier_call = asahi_power_notify;
	ret = dev_pm_genpd_add_notifier(dev, &hold->nb);
	if (ret) {
		kfree(hold);
		/* A domain of some other kind, such as ACPI's. */
		return ret == -ENODEV ? 0 : ret;
	}

	list_add(&hold->link, &asahi_power_holds);
	adev->power->hold = hold;
	return 0;
}

/**
 * asahi_power_unhold() - let the domain go
 * @adev: device that was unplugged
 *
 * Only with the parameter "unproven". The domain goes off some time after the
 * driver has left. Process context.
 */
void asahi_power_unhold(struct asahi_device *adev)
{
	struct asahi_power_hold *hold = adev->power->hold;

	if (!hold || !asahi_allows(ASAHI_UNPROVEN_POWER))
		return;

	guard(mutex)(&asahi_power_lock);

	dev_pm_genpd_remove_notifier(adev->drm.dev);
	list_del(&hold->link);
	kfree(hold);
	adev->power->hold = NULL;
}

/**
 * asahi_power_allow_off() - may the kernel's core switch the domain off?
 * @adev: device
 * @allow: whether it may
 *
 * Any context.
 */
void asahi_power_allow_off(struct asahi_device *adev, bool allow)
{
	if (adev->power->hold)
		WRITE_ONCE(adev->power->hold->release, allow);
}

/**
 * asahi_power_can_cut() - may asahi_power_cut() be called?
 * @adev: device
 *
 * Any context.
 *
 * Return: true with a domain, where "unproven" has resets.
 */
bool asahi_power_can_cut(struct asahi_device *adev)
{
	return asahi_allows(ASAHI_UNPROVEN_RESET) && adev->power->hold;
}

/**
 * asahi_power_was_cut() - has the domain been off?
 * @adev: device
 *
 * Any context.
 *
 * Return: true if it has been, since asahi_power_restore().
 */
bool asahi_power_was_cut(struct asahi_device *adev)
{
	return adev->power->hold && READ_ONCE(adev->power->hold->was_cut);
}

/*
 * The references make the device count as used: only then force_resume() resumes
 * it. They also keep runtime PM from beginning anything meanwhile, and what it
 * has begun before has ended after the barrier.
 */
static int asahi_power_force_off(struct asahi_device *adev)
{
	struct device *dev = adev->drm.dev;
	int ret;

	pm_runtime_get_noresume(dev);
	pm_runtime_get_noresume(dev);
	pm_runtime_barrier(dev);
	adev->power->forced = true;
	ret = pm_runtime_force_suspend(dev);
	if (ret) {
		adev->power->forced = false;
		pm_runtime_put_noidle(dev);
		pm_runtime_put_noidle(dev);
	}
	return ret;
}

static int asahi_power_force_on(struct asahi_device *adev)
{
	struct device *dev = adev->drm.dev;
	int ret;

	if (!adev->power->forced)
		return 0;

	ret = pm_runtime_force_resume(dev);
	adev->power->forced = false;
	pm_runtime_put_noidle(dev);
	pm_runtime_put_noidle(dev);
	return ret;
}

static int asahi_power_try_cut(struct asahi_device *adev)
{
	int ret;

	ret = asahi_power_force_off(adev);
	if (ret)
		return ret;
	if (asahi_power_was_cut(adev))
		return 0;

	asahi_power_force_on(adev);
	return -EBUSY;
}

/**
 * asahi_power_cut() - switch the domain off
 * @adev: device whose coprocessor has been stopped, and whose registers nobody
 *	touches until asahi_power_restore()
 *
 * Does nothing if it has been off since then. Only with the parameter
 * "unproven". Process context, with the mutex for verbs held; takes up to a
 * second when others keep the domain on; allocates nothing.
 *
 * Return: 0, -EOPNOTSUPP without domain or parameter, -EBUSY if it stays on.
 */
int asahi_power_cut(struct asahi_device *adev)
{
	int ret = -EBUSY;

	lockdep_assert_held(&adev->verbs);

	if (!asahi_power_can_cut(adev))
		return -EOPNOTSUPP;
	if (asahi_power_was_cut(adev))
		return 0;

	asahi_power_allow_off(adev, true);
	for (unsigned int i = 0; i < ASAHI_POWER_CUT_TRIES; i++) {
		ret = asahi_power_try_cut(adev);
		if (ret != -EBUSY)
			break;
		msleep(ASAHI_POWER_CUT_WAIT_MS);
	}
	asahi_power_allow_off(adev, false);

	return ret;
}

/**
 * asahi_power_restore() - have the domain on, and keep it on
 * @adev: device
 *
 * Process context, with the mutex for verbs held; allocates nothing.
 *
 * Return: 0 or a negative error of the domain's.
 */
int asahi_power_restore(struct asahi_device *adev)
{
	int ret;

	lockdep_assert_held(&adev->verbs);

	asahi_power_allow_off(adev, false);
	ret = asahi_power_force_on(adev);
	if (adev->power->hold)
		WRITE_ONCE(adev->power->hold->was_cut, false);
	return ret;
}

/**
 * asahi_power_is_forced() - is it asahi_power_cut() or asahi_power_restore()?
 * @adev: device
 *
 * For callbacks of runtime PM, which these two call.
 *
 * Return: true if so: the callback has nothing to do.
 */
bool asahi_power_is_forced(struct asahi_device *adev)
{
	return adev->power->forced;
}

/**
 * asahi_power_init() - prepare to hold a domain
 * @adev: device
 *
 * Process context, probe only. What is allocated lives as long as the device.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_power_init(struct asahi_device *adev)
{
	adev->power = drmm_kzalloc(&adev->drm, sizeof(*adev->power), GFP_KERNEL);

	return adev->power ? 0 : -ENOMEM;
}
