// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Doorbells: the sending side of the firmware's mailbox.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/soc/apple/rtkit.h>

#include <kunit/visibility.h>

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
 * other. So one mutex covers all sends that may wait, and they are made from kernel threads
 * only, which get no signals. Tasks of user space try: if the mailbox's library can send
 * without a wait and there is room, the bell has rung. Otherwise they leave a note in a bitmap
 * for a worker. Notes may coalesce, as doorbells carry nothing but "look at this ring". No
 * bell is tried while a note is left, so that those of one task ring in their order, but for
 * that of AGX_DOORBELL_KICK, which comes before all others.
 */

static_assert(ASAHI_DOORBELL_FWCTL < BITS_PER_LONG);

/* Mainline's library always waits; a patch for it is beside this driver's series. */
#ifndef apple_rtkit_try_send_message
static int apple_rtkit_try_send_message(struct apple_rtkit *rtk, u8 ep, u64 message)
{
	return -EBUSY;
}
#endif

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

static u64 asahi_doorbell_message(unsigned int channel)
{
	return channel == ASAHI_DOORBELL_FWCTL ? AGX_MSG_FWCTL : AGX_MSG_DOORBELL | channel;
}

static int asahi_doorbell_send(struct asahi_doorbell *doorbell, unsigned int channel)
{
	guard(mutex)(&doorbell->lock);
	trace_asahi_doorbell(doorbell->adev, channel);
	return asahi_doorbell_send_locked(doorbell, AGX_EP_DOORBELL,
					  asahi_doorbell_message(channel));
}

static bool asahi_doorbell_try_locked(struct asahi_doorbell *doorbell, u8 channel)
{
	struct asahi_device *adev = doorbell->adev;

	lockdep_assert_held(&doorbell->lock);

	if (!doorbell->rtk || !asahi_state_fw_alive(adev) || asahi_watchdog_halted(adev))
		return false;
	if (apple_rtkit_try_send_message(doorbell->rtk, AGX_EP_DOORBELL,
					 asahi_doorbell_message(channel)))
		return false;

	trace_asahi_doorbell(adev, channel);
	return true;
}

/* Ring a doorbell without a wait, or not at all. */
static bool asahi_doorbell_try(struct asahi_doorbell *doorbell, u8 channel)
{
	bool rung;

	if (atomic_read_acquire(&doorbell->left) || !mutex_trylock(&doorbell->lock))
		return false;

	rung = asahi_doorbell_try_locked(doorbell, channel);
	mutex_unlock(&doorbell->lock);

	return rung;
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

/**
 * asahi_doorbell_next() - which bell rings next
 * @posted: notes that are left, as they were at one moment
 *
 * The firmware is to be awake before it is told of work.
 *
 * Return: the bell, or a larger number than that of each bell.
 */
VISIBLE_IF_KUNIT unsigned int asahi_doorbell_next(unsigned long posted)
{
	if (posted & BIT(AGX_DOORBELL_KICK))
		return AGX_DOORBELL_KICK;

	return posted ? __ffs(posted) : BITS_PER_LONG;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_doorbell_next);

static void asahi_doorbell_post_work(struct work_struct *work)
{
	struct asahi_doorbell *doorbell = container_of(work, struct asahi_doorbell, post);
	unsigned int channel;
	int ret;

	/* All notes are in one word: whoever sees a note sees those that were left before it. */
	while ((channel = asahi_doorbell_next(READ_ONCE(doorbell->posted))) < BITS_PER_LONG) {
		clear_bit(channel, &doorbell->posted);
		/* Nothing is lost before the bell is rung for it. */
		smp_mb__after_atomic();
		ret = asahi_doorbell_send(doorbell, channel);
		atomic_dec_return_release(&doorbell->left);
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

	/* A full barrier: notes are seen in the order in which they are left. */
	atomic_inc_return(&doorbell->left);
	if (test_and_set_bit(channel, &doorbell->posted))
		atomic_dec(&doorbell->left);
	queue_work(doorbell->wq, &doorbell->post);
}

/**
 * asahi_doorbell_note() - ring a doorbell, or have it rung
 * @adev: device
 * @channel: as for asahi_doorbell_ring()
 *
 * For tasks of user space. Does not wait for the mailbox: if it is full, or its library cannot
 * tell, a worker rings later. What was written to memory before is visible to the firmware
 * then. Process context; allocates nothing.
 *
 * Return: 0.
 */
int asahi_doorbell_note(struct asahi_device *adev, u8 channel)
{
	if (!asahi_doorbell_try(adev->doorbell, channel))
		asahi_doorbell_post(adev, channel);

	return 0;
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
