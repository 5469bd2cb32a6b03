/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Doorbells: the sending side of the firmware's mailbox.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_DOORBELL_H
#define ASAHI_DOORBELL_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct apple_rtkit;
struct asahi_device;

/** ASAHI_DOORBELL_FWCTL - the firmware control ring's, for asahi_doorbell_post() */
#define ASAHI_DOORBELL_FWCTL 0x20

/** typedef asahi_doorbell_fn - rings a doorbell: asahi_doorbell_ring() or asahi_doorbell_note() */
typedef int (*asahi_doorbell_fn)(struct asahi_device *adev, u8 channel);

/**
 * struct asahi_doorbell - the sending side of the mailbox
 * @adev: device
 * @rtk: the library's part; NULL before the firmware was booted and after unplug
 * @wq: for @post, and for what else waits for the firmware without signals
 * @post: sends what is in @posted
 * @posted: doorbells that are left to @post, a bit each
 * @left: how many of them have not been rung
 */
struct asahi_doorbell {
	struct asahi_device *adev;
	struct apple_rtkit *rtk;
	/** @lock: protects sends and changes of @rtk */
	struct mutex lock;
	struct workqueue_struct *wq;
	struct work_struct post;
	unsigned long posted;
	atomic_t left;
};

int asahi_doorbell_init(struct asahi_device *adev);
void asahi_doorbell_fini(struct asahi_device *adev);

int asahi_doorbell_send_locked(struct asahi_doorbell *doorbell, u8 endpoint, u64 message);
int asahi_doorbell_ring(struct asahi_device *adev, u8 channel);
int asahi_doorbell_note(struct asahi_device *adev, u8 channel);
void asahi_doorbell_post(struct asahi_device *adev, u8 channel);

#if IS_ENABLED(CONFIG_KUNIT)
unsigned int asahi_doorbell_next(unsigned long posted);
#endif

#endif
