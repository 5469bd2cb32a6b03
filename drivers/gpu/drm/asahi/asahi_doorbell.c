// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Doorbells: the sending side of the firmware's mailbox.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/soc/apple/rtkit.h>

#include <drm/drm_print.h>

#include <agx/agx_rtkit.h>

#include "asahi_device.h"
#include "asahi_doorbell.h"
#include "asahi_state.h"
#include "asahi_trace.h"
#include "asahi_watchdog.h"

/**
 * DOC: Doorbells
 *
 * A send waits for room in the mailbox, interruptibly, and two waits at once disturb each
 * other. So one mutex covers all sends, and they are made from kernel threads only, which
 * get no signals: tasks of user space leave a note in a bitmap for a worker. Notes may
 * coalesce, as doorbells carry nothing but "look at this ring".
 */

/*
 * The mailbox was full for half a second. The library must not wait for it again before it
 * was empty: it would enable its interrupt twice. So this waits for a sign of life. With
 * that the mailbox has room, and the library has nothing to wait for.
 */
static int asahi_doorbell_send_again(struct asahi_doorbell *doorbell, u8 endpoint, u64 message)
{
	struct asahi_device *adev = doorbell->adev;
	u32 signs = asahi_watchdog_signs(adev);
	int ret;

	lockdep_assert_held(&doorbell->lock);

	ret = asahi_wait_until(adev, ASAHI_DEBT_MAILBOX, asahi_watchdog_signs(adev) != signs);
	if (ret)
		return ret;

	ret = apple_rtkit_send_message(doorbell->rtk, endpoint, message, NULL, true);
	if (ret == -ETIMEDOUT)
		asahi_watchdog_give_up(adev, ASAHI_DEBT_MAILBOX);
	return ret;
}

/**
 * asahi_doorbell_send_locked() - send a message to the firmware
 * @doorbell: the sending side, with its lock held
 * @endpoint: endpoint of the firmware's
 * @message: message
 *
 * From kernel threads only; allocates nothing. Waits for a firmware that has halted, and
 * for room in the mailbox, as long as the watchdog allows.
 *
 * Return: 0, -ENODEV if the firmware does not run, or the mailbox's error.
 */
int asahi_doorbell_send_locked(struct asahi_doorbell *doorbell, u8 endpoint, u64 message)
{
	struct asahi_device *adev = doorbell->adev;
	int ret;

	lockdep_assert_held(&doorbell->lock);

	if (!doorbell->rtk || !asahi_state_fw_alive(adev))
		return -ENODEV;

	/* A firmware that has halted takes nothing out of its mailbox. */
	ret = asahi_wait_until(adev, ASAHI_DEBT_MAILBOX, !asahi_watchdog_halted(adev));
	if (ret)
		return ret;

	ret = apple_rtkit_send_message(doorbell->rtk, endpoint, message, NULL, false);
	return ret == -ETIMEDOUT ? asahi_doorbell_send_again(doorbell, endpoint, message) : ret;
}

static int asahi_doorbell_send(struct asahi_doorbell *doorbell, unsigned int channel)
{
	u64 message = AGX_MSG_DOORBELL | channel;

	if (channel == ASAHI_DOORBELL_FWCTL)
		message = AGX_MSG_FWCTL;

	guard(mutex)(&doorbell->lock);
	trace_asahi_doorbell(doorbell->adev, channel);
	return asahi_doorbell_send_locked(doorbell, AGX_EP_DOORBELL, message);
}

/**
 * asahi_doorbell_ring() - ring a doorbell
 * @adev: device
 * @channel: pipe and priority, AGX_DOORBELL_KICK or
 *	AGX_DOORBELL_DEVICE_CONTROL
 *
 * What was written to memory before is visible to the firmware when the bell
 * rings. From kernel threads only; sleeps for room in the mailbox, as long as the
 * watchdog allows; allocates nothing.
 *
 * Return: 0, -ENODEV if the device is dead, or the mailbox's error.
 */
int asahi_doorbell_ring(struct asahi_device *adev, u8 channel)
{
	WARN_ON_ONCE(!(current->flags & PF_KTHREAD));
	return asahi_doorbell_send(adev->doorbell, channel);
}

static void asahi_doorbell_post_work(struct work_struct *work)
{
	struct asahi_doorbell *doorbell = container_of(work, struct asahi_doorbell, post);
	unsigned int channel;
	int ret;

	for_each_set_bit(channel, doorbell->posted, ASAHI_DOORBELL_FWCTL + 1) {
		clear_bit(channel, doorbell->posted);
		/* Nothing is lost before the bell is rung for it. */
		smp_mb__after_atomic();
		ret = asahi_doorbell_send(doorbell, channel);
		if (ret && ret != -ENODEV)
			drm_err_ratelimited(&doorbell->adev->drm, "doorbell %#x failed: %d\n",
					    channel, ret);
	}
}

/**
 * asahi_doorbell_post() - have a doorbell rung
 * @adev: device
 * @channel: as for asahi_doorbell_ring(), or ASAHI_DOORBELL_FWCTL
 *
 * Any context.
 */
void asahi_doorbell_post(struct asahi_device *adev, u8 channel)
{
	struct asahi_doorbell *doorbell = adev->doorbell;

	set_bit(channel, doorbell->posted);
	queue_work(doorbell->wq, &doorbell->post);
}

/**
 * asahi_doorbell_init() - make what sends to the firmware
 * @adev: device
 *
 * Process context, probe only. asahi_doorbell_fini() is to be called also after an error.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_doorbell_init(struct asahi_device *adev)
{
	struct asahi_doorbell *doorbell = kzalloc_obj(*doorbell);

	if (!doorbell)
		return -ENOMEM;

	doorbell->adev = adev;
	mutex_init(&doorbell->lock);
	INIT_WORK(&doorbell->post, asahi_doorbell_post_work);
	adev->doorbell = doorbell;

	doorbell->wq = alloc_ordered_workqueue("asahi-post", WQ_HIGHPRI | WQ_MEM_RECLAIM);
	return doorbell->wq ? 0 : -ENOMEM;
}

/**
 * asahi_doorbell_fini() - undo asahi_doorbell_init()
 * @adev: device; nobody sends any more
 *
 * Process context.
 */
void asahi_doorbell_fini(struct asahi_device *adev)
{
	struct asahi_doorbell *doorbell = adev->doorbell;

	if (!doorbell)
		return;

	if (doorbell->wq)
		destroy_workqueue(doorbell->wq);
	mutex_destroy(&doorbell->lock);
	kfree(doorbell);
	adev->doorbell = NULL;
}
