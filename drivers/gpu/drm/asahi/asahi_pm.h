/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Power management: system sleep, runtime PM, shutdown.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_PM_H
#define ASAHI_PM_H

struct asahi_device;
struct dev_pm_ops;
struct platform_device;

extern const struct dev_pm_ops asahi_pm_ops;

int asahi_pm_init(struct asahi_device *adev);
void asahi_pm_enable(struct asahi_device *adev);
void asahi_pm_disable(struct asahi_device *adev);
void asahi_pm_fini(struct asahi_device *adev);
void asahi_pm_shutdown(struct platform_device *pdev);

int asahi_pm_get(struct asahi_device *adev);
void asahi_pm_put(struct asahi_device *adev);

#endif
