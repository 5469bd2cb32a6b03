// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * RTKit: booting the firmware, doorbells, notifications.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/soc/apple/rtkit.h>
#include <linux/workqueue.h>

#include <drm/drm_print.h>

#include <agx/agx_rtkit.h>
#include <agx/agx_uat.h>

#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_heap.h"
#include "asahi_rtkit.h"
#include "asahi_trace.h"

/**
 * DOC: RTKit
 *
 * The kernel's RTKit library sets rules that shape this file:
 *
 * - It hands on messages, and crashes, from one ordered worker. Waiting there
 *   for another message would wait for ever, so nothing here does.
 * - On the way to that worker it allocates atomically, and drops the message
 *   when that fails. A lost notification could be a lost completion, hence
 *   notifications are taken before, in interrupt context, where all they do is
 *   queue a work item that always exists.
 * - A send waits for room in the mailbox, interruptibly, and two waits at once
 *   disturb each other. So one mutex covers all sends, and they are made from
 *   kernel threads only, which get no signals: tasks of user space leave a note
 *   in a bitmap for a worker. Notes may coalesce, as doorbells carry nothing
 *   but "look at this ring".
 * - Reinitialising flushes that worker, and is not to be done in it. The crash
 *   callback only says that there was a crash.
 */

/**
 * struct asahi_rtkit - the coprocessor
 * @adev: device
 * @rtk: the library's part; NULL before init and after unplug
 * @heap: memory for the firmware's buffers
 * @wq: for @post
 * @post: sends what is in @posted
 * @posted: doorbells that tasks of user space want rung
 */
struct asahi_rtkit {
	struct asahi_device *adev;
	struct apple_rtkit *rtk;
	struct asahi_heap *heap;
	/** @send_lock: protects sends and changes of @rtk */
	struct mutex send_lock;
	struct workqueue_struct *wq;
	struct work_struct post;
	DECLARE_BITMAP(posted, ASAHI_DOORBELL_FWCTL + 1);
};

/* Callbacks of the library. */

static void rtkit_crashed(void *cookie, const void *crashlog, size_t size)
{
	struct asahi_device *adev = cookie;

	asahi_channel_report_crash(adev);
}

static bool rtkit_recv_early(void *cookie, u8 endpoint, u64 message)
{
	struct asahi_device *adev = cookie;

	if (endpoint != AGX_EP_FIRMWARE || (message & AGX_MSG_TYPE_MASK) != AGX_MSG_NOTIFY)
		return false;

	trace_asahi_notify(adev);
	asahi_channel_notify(adev);
	return true;
}

static void rtkit_recv(void *cookie, u8 endpoint, u64 message)
{
	struct asahi_device *adev = cookie;

	drm_err_ratelimited(&adev->drm, "unknown message %#llx from endpoint %#x\n", message,
			    endpoint);
}

static int rtkit_shmem_setup(void *cookie, struct apple_rtkit_shmem *shmem)
{
	struct asahi_device *adev = cookie;
	struct asahi_fwbuf *buf;
	int err;

	/* The GPU's firmware has no memory of its own that we could map. */
	if (shmem->iova || !shmem->size)
		return -EINVAL;

	buf = kzalloc_obj(*buf);
	if (!buf)
		return -ENOMEM;

	err = asahi_heap_alloc(adev->rtkit->heap, shmem->size, AGX_PAGE_SIZE, buf);
	if (err) {
		kfree(buf);
		return err;
	}

	shmem->buffer = buf->map;
	shmem->iova = buf->va;
	shmem->private = buf;
	return 0;
}

static void rtkit_shmem_destroy(void *cookie, struct apple_rtkit_shmem *shmem)
{
	struct asahi_fwbuf *buf = shmem->private;

	if (!buf)
		return;

	asahi_heap_free(buf);
	kfree(buf);
	shmem->private = NULL;
}

static const struct apple_rtkit_ops rtkit_ops = {
	.crashed = rtkit_crashed,
	.recv_message = rtkit_recv,
	.recv_message_early = rtkit_recv_early,
	.shmem_setup = rtkit_shmem_setup,
	.shmem_destroy = rtkit_shmem_destroy,
};

/* Doorbells. */

static int send_locked(struct asahi_rtkit *rtkit, u8 endpoint, u64 message)
{
	lockdep_assert_held(&rtkit->send_lock);

	if (!rtkit->rtk || asahi_device_dead(rtkit->adev))
		return -ENODEV;

	return apple_rtkit_send_message(rtkit->rtk, endpoint, message, NULL, false);
}

static int ring(struct asahi_rtkit *rtkit, unsigned int channel)
{
	u64 message = AGX_MSG_DOORBELL | channel;

	if (channel == ASAHI_DOORBELL_FWCTL)
		message = AGX_MSG_FWCTL;

	guard(mutex)(&rtkit->send_lock);
	trace_asahi_doorbell(rtkit->adev, channel);
	return send_locked(rtkit, AGX_EP_DOORBELL, message);
}

/**
 * asahi_rtkit_doorbell() - ring a doorbell
 * @adev: device
 * @channel: pipe and priority, AGX_DOORBELL_KICK or
 *	AGX_DOORBELL_DEVICE_CONTROL
 *
 * What was written to memory before is visible to the firmware when the bell
 * rings. From kernel threads only; may sleep up to half a second; allocates
 * nothing.
 *
 * Return: 0, -ENODEV if the device is dead, or the mailbox's error.
 */
int asahi_rtkit_doorbell(struct asahi_device *adev, u8 channel)
{
	WARN_ON_ONCE(!(current->flags & PF_KTHREAD));
	return ring(adev->rtkit, channel);
}

static void post_work(struct work_struct *work)
{
	struct asahi_rtkit *rtkit = container_of(work, struct asahi_rtkit, post);
	unsigned int channel;
	int err;

	for_each_set_bit(channel, rtkit->posted, ASAHI_DOORBELL_FWCTL + 1) {
		clear_bit(channel, rtkit->posted);
		/* Nothing is lost before the bell is rung for it. */
		smp_mb__after_atomic();
		err = ring(rtkit, channel);
		if (err && err != -ENODEV)
			drm_err_ratelimited(&rtkit->adev->drm, "doorbell %#x failed: %d\n",
					    channel, err);
	}
}

/**
 * asahi_rtkit_post() - have a doorbell rung
 * @adev: device
 * @channel: as for asahi_rtkit_doorbell(), or ASAHI_DOORBELL_FWCTL
 *
 * Any context.
 */
void asahi_rtkit_post(struct asahi_device *adev, u8 channel)
{
	struct asahi_rtkit *rtkit = adev->rtkit;

	set_bit(channel, rtkit->posted);
	queue_work(rtkit->wq, &rtkit->post);
}

/* Setup. */

/**
 * asahi_rtkit_init() - prepare to talk to the firmware
 * @adev: device with channels
 *
 * From here on notifications may come. Process context, probe only.
 * asahi_rtkit_unplug() and asahi_rtkit_fini() are to be called also after an
 * error.
 *
 * Return: 0, -EPROBE_DEFER if the mailbox is not there yet, -ENOMEM, or another
 * error of the mailbox.
 */
int asahi_rtkit_init(struct asahi_device *adev)
{
	struct asahi_rtkit *rtkit;
	struct apple_rtkit *rtk;

	rtkit = kzalloc_obj(*rtkit);
	if (!rtkit)
		return -ENOMEM;

	rtkit->adev = adev;
	mutex_init(&rtkit->send_lock);
	INIT_WORK(&rtkit->post, post_work);
	adev->rtkit = rtkit;

	rtkit->wq = alloc_ordered_workqueue("asahi-post", WQ_HIGHPRI | WQ_MEM_RECLAIM);
	if (!rtkit->wq)
		return -ENOMEM;

	rtkit->heap = asahi_heap_create(adev, "rtkit", AGX_VA_RTKIT_START, AGX_VA_RTKIT_END,
					ASAHI_PROT_FW_SHARED_RW, &asahi_heap_kernel_mmu, adev);
	if (IS_ERR(rtkit->heap)) {
		int err = PTR_ERR(rtkit->heap);

		rtkit->heap = NULL;
		return err;
	}

	rtk = apple_rtkit_init(adev->drm.dev, adev, NULL, 0, &rtkit_ops);
	if (IS_ERR(rtk))
		return PTR_ERR(rtk);

	rtkit->rtk = rtk;
	return 0;
}

/*
 * Boot and stop wait for the firmware interruptibly. Half a boot or half a stop
 * is what nobody has tried to recover from, so a signal to the task that binds
 * or unbinds must not cut them short: they run in a worker.
 */
struct rtkit_call {
	struct work_struct work;
	struct asahi_rtkit *rtkit;
	u64 initdata_va;
	bool wake;
	int err;
};

static int call_on_worker(struct asahi_rtkit *rtkit, work_func_t fn, struct rtkit_call *call)
{
	call->rtkit = rtkit;
	INIT_WORK_ONSTACK(&call->work, fn);
	queue_work(rtkit->wq, &call->work);
	flush_work(&call->work);
	destroy_work_on_stack(&call->work);
	return call->err;
}

static int start_locked(struct asahi_rtkit *rtkit, u64 initdata_va)
{
	int err;

	err = apple_rtkit_start_ep(rtkit->rtk, AGX_EP_FIRMWARE);
	if (err)
		return err;

	err = apple_rtkit_start_ep(rtkit->rtk, AGX_EP_DOORBELL);
	if (err)
		return err;

	WRITE_ONCE(rtkit->adev->fw_state, ASAHI_FW_RUNNING);
	err = send_locked(rtkit, AGX_EP_FIRMWARE,
			  AGX_MSG_INIT | (initdata_va & AGX_MSG_INIT_ADDR_MASK));
	if (err)
		return err;

	err = send_locked(rtkit, AGX_EP_DOORBELL,
			  AGX_MSG_DOORBELL | AGX_DOORBELL_DEVICE_CONTROL);
	if (err)
		return err;

	return send_locked(rtkit, AGX_EP_DOORBELL, AGX_MSG_DOORBELL | AGX_DOORBELL_KICK);
}

static void boot_work(struct work_struct *work)
{
	struct rtkit_call *call = container_of(work, struct rtkit_call, work);
	struct asahi_rtkit *rtkit = call->rtkit;
	struct drm_device *drm = &rtkit->adev->drm;

	call->err = call->wake ? apple_rtkit_wake(rtkit->rtk) : apple_rtkit_boot(rtkit->rtk);
	if (call->err) {
		drm_err(drm, "the firmware does not %s: %d\n", call->wake ? "wake" : "boot",
			call->err);
		return;
	}

	guard(mutex)(&rtkit->send_lock);
	call->err = start_locked(rtkit, call->initdata_va);
	if (call->err)
		drm_err(drm, "the firmware cannot be initialised: %d\n", call->err);
}

/**
 * asahi_rtkit_boot() - start the firmware on its InitData
 * @adev: device
 * @initdata_va: address of InitData
 *
 * Process context, probe only. Takes a second for each of the steps at most.
 *
 * Return: 0, or a negative error that has been logged.
 */
int asahi_rtkit_boot(struct asahi_device *adev, u64 initdata_va)
{
	struct rtkit_call call = {
		.initdata_va = initdata_va,
		.wake = adev->fw_state == ASAHI_FW_STOPPED,
	};

	return call_on_worker(adev->rtkit, boot_work, &call);
}

static void stop_work(struct work_struct *work)
{
	struct rtkit_call *call = container_of(work, struct rtkit_call, work);
	struct asahi_rtkit *rtkit = call->rtkit;
	struct apple_rtkit *rtk;

	scoped_guard(mutex, &rtkit->send_lock) {
		rtk = rtkit->rtk;
		rtkit->rtk = NULL;
	}

	if (apple_rtkit_is_running(rtk))
		call->err = apple_rtkit_quiesce(rtk);
	if (call->err)
		drm_err(&rtkit->adev->drm, "the firmware cannot be stopped: %d\n", call->err);

	apple_rtkit_free(rtk);
}

/**
 * asahi_rtkit_unplug() - stop the firmware
 * @adev: device; nothing sends any more
 *
 * The firmware is quiesced, the gentlest of its states from which it can be
 * woken. If it does not comply, the caller's next step is to take all memory
 * away from it. Process context, remove and failed probe only; takes two
 * seconds at most.
 */
void asahi_rtkit_unplug(struct asahi_device *adev)
{
	struct asahi_rtkit *rtkit = adev->rtkit;
	struct rtkit_call call = {};

	if (!rtkit || !rtkit->rtk)
		return;

	call_on_worker(rtkit, stop_work, &call);
	if (adev->fw_state == ASAHI_FW_RUNNING)
		WRITE_ONCE(adev->fw_state, ASAHI_FW_STOPPED);
}

/**
 * asahi_rtkit_fini() - free what is left
 * @adev: device, after asahi_rtkit_unplug()
 *
 * Process context.
 */
void asahi_rtkit_fini(struct asahi_device *adev)
{
	struct asahi_rtkit *rtkit = adev->rtkit;

	if (!rtkit)
		return;

	if (rtkit->wq)
		destroy_workqueue(rtkit->wq);
	asahi_heap_destroy(rtkit->heap);
	mutex_destroy(&rtkit->send_lock);
	kfree(rtkit);
	adev->rtkit = NULL;
}
