// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * RTKit: booting and stopping the firmware, notifications.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/soc/apple/rtkit.h>
#include <linux/workqueue.h>

#include <drm/drm_print.h>

#include <agx/agx_rtkit.h>
#include <agx/agx_uat.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_doorbell.h"
#include "asahi_fwlog.h"
#include "asahi_heap.h"
#include "asahi_hw.h"
#include "asahi_power.h"
#include "asahi_rest.h"
#include "asahi_rtkit.h"
#include "asahi_stage.h"
#include "asahi_telemetry.h"
#include "asahi_trace.h"
#include "asahi_uat.h"
#include "asahi_watchdog.h"

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
 * - Reinitialising flushes that worker, and is not to be done in it. The crash
 *   callback only says that there was a crash.
 * - When the firmware starts, it asks for buffers. After a reset it gets those
 *   that it had before: jobs wait for the reset, so nothing may be allocated.
 */

/* The library's: crash log, system log, reports, operating system's log. */
#define ASAHI_RTKIT_BUFFERS 4

/**
 * struct asahi_rtkit_buffer - memory that the firmware has asked for
 * @buf: memory
 * @used: it has it
 */
struct asahi_rtkit_buffer {
	struct asahi_fwbuf buf;
	bool used;
};

/**
 * struct asahi_rtkit - the coprocessor
 * @adev: device
 * @heap: memory for the firmware's buffers
 * @buffer: these buffers; the library's worker's, or ours when that is idle
 */
struct asahi_rtkit {
	struct asahi_device *adev;
	struct asahi_heap *heap;
	struct asahi_rtkit_buffer buffer[ASAHI_RTKIT_BUFFERS];
};

/* Callbacks of the library. */

static void asahi_rtkit_crashed(void *cookie, const void *crashlog, size_t size)
{
	struct asahi_device *adev = cookie;

	asahi_fwlog_keep_crash(asahi_channel_fwlog(adev), crashlog, size);
	/* A reset empties the mailbox: what it finds there is known, or of no interest. */
	if (asahi_state_fw_alive(adev))
		asahi_watchdog_give_up(adev, ASAHI_DEBT_CRASH);
}

static bool asahi_rtkit_recv_early(void *cookie, u8 endpoint, u64 message)
{
	struct asahi_device *adev = cookie;

	if (endpoint != AGX_EP_FIRMWARE || (message & AGX_MSG_TYPE_MASK) != AGX_MSG_NOTIFY)
		return false;

	trace_asahi_notify(adev);
	asahi_channel_notify(adev);
	return true;
}

static void asahi_rtkit_recv(void *cookie, u8 endpoint, u64 message)
{
	struct asahi_device *adev = cookie;

	drm_dbg(&adev->drm, "unknown message %#llx from endpoint %#x\n", message, endpoint);
	asahi_telemetry_unknown(adev, ASAHI_SOURCE_MAILBOX, endpoint);
}

/* One that it had before, or else a place for a new one. */
static struct asahi_rtkit_buffer *asahi_rtkit_find_buffer(struct asahi_rtkit *rtkit, size_t size)
{
	struct asahi_rtkit_buffer *buffer, *empty = NULL;

	for (unsigned int i = 0; i < ASAHI_RTKIT_BUFFERS; i++) {
		buffer = &rtkit->buffer[i];
		if (!buffer->used && buffer->buf.size == size)
			return buffer;
		if (!buffer->used && (!empty || !buffer->buf.size))
			empty = buffer;
	}

	return empty;
}

static int asahi_rtkit_shmem_setup(void *cookie, struct apple_rtkit_shmem *shmem)
{
	struct asahi_device *adev = cookie;
	struct asahi_rtkit_buffer *buffer;
	int ret;

	/* The GPU's firmware has no memory of its own that we could map. */
	if (shmem->iova || !shmem->size)
		return -EINVAL;

	buffer = asahi_rtkit_find_buffer(adev->rtkit, shmem->size);
	if (!buffer)
		return -ENOSPC;

	if (buffer->buf.size == shmem->size) {
		memset(buffer->buf.map, 0, shmem->size);
	} else {
		asahi_heap_free(&buffer->buf);
		ret = asahi_heap_alloc(adev->rtkit->heap, shmem->size, AGX_PAGE_SIZE,
				       &buffer->buf);
		if (ret)
			return ret;
	}

	buffer->used = true;
	shmem->buffer = buffer->buf.map;
	shmem->iova = buffer->buf.va;
	shmem->private = buffer;
	return 0;
}

static void asahi_rtkit_shmem_destroy(void *cookie, struct apple_rtkit_shmem *shmem)
{
	struct asahi_rtkit_buffer *buffer = shmem->private;

	if (buffer)
		buffer->used = false;
	shmem->private = NULL;
}

static const struct apple_rtkit_ops asahi_rtkit_ops = {
	.crashed = asahi_rtkit_crashed,
	.recv_message = asahi_rtkit_recv,
	.recv_message_early = asahi_rtkit_recv_early,
	.shmem_setup = asahi_rtkit_shmem_setup,
	.shmem_destroy = asahi_rtkit_shmem_destroy,
};

/**
 * asahi_rtkit_is_crashed() - has the firmware said that it has crashed?
 * @adev: device
 *
 * The library knows it, and sends nothing more, before it tells; the driver hears of it
 * soon. Process context.
 *
 * Return: true if so.
 */
bool asahi_rtkit_is_crashed(struct asahi_device *adev)
{
	struct asahi_doorbell *doorbell = adev->doorbell;

	guard(mutex)(&doorbell->lock);
	return doorbell->rtk && apple_rtkit_is_crashed(doorbell->rtk);
}

/* Setup. */

/* From here on notifications may come. */
static int asahi_rtkit_prepare(struct asahi_device *adev)
{
	struct asahi_rtkit *rtkit;
	struct apple_rtkit *rtk;
	int ret;

	rtkit = kzalloc_obj(*rtkit);
	if (!rtkit)
		return -ENOMEM;

	rtkit->adev = adev;
	adev->rtkit = rtkit;

	ret = asahi_doorbell_init(adev);
	if (ret)
		return ret;

	rtkit->heap = asahi_heap_create_kernel(adev, "rtkit", AGX_VA_RTKIT_START,
					       AGX_VA_RTKIT_END, ASAHI_PROT_FW_SHARED_RW);
	if (IS_ERR(rtkit->heap)) {
		ret = PTR_ERR(rtkit->heap);
		rtkit->heap = NULL;
		return ret;
	}

	rtk = apple_rtkit_init(adev->drm.dev, adev, NULL, 0, &asahi_rtkit_ops);
	if (IS_ERR(rtk))
		return PTR_ERR(rtk);

	adev->doorbell->rtk = rtk;
	return 0;
}

/* How long a probe that is to stop listens to the firmware. */
#define ASAHI_RTKIT_LISTEN_MS	1000

/*
 * Boot and stop wait for the firmware interruptibly. Half a boot or half a stop
 * is what nobody has tried to recover from, so a signal to the task that binds
 * or unbinds must not cut them short: they run in a worker.
 */
struct asahi_rtkit_call {
	struct work_struct work;
	struct asahi_doorbell *doorbell;
	u64 initdata_va;
	bool wake;
	bool stopped;
	int ret;
};

static int asahi_rtkit_call_on_worker(struct asahi_device *adev, work_func_t fn,
				      struct asahi_rtkit_call *call)
{
	call->doorbell = adev->doorbell;
	INIT_WORK_ONSTACK(&call->work, fn);
	queue_work(call->doorbell->wq, &call->work);
	flush_work(&call->work);
	destroy_work_on_stack(&call->work);
	return call->ret;
}

static int asahi_rtkit_start_locked(struct asahi_doorbell *doorbell, u64 initdata_va)
{
	int ret;

	ret = apple_rtkit_start_ep(doorbell->rtk, AGX_EP_FIRMWARE);
	if (ret)
		return ret;

	ret = apple_rtkit_start_ep(doorbell->rtk, AGX_EP_DOORBELL);
	if (ret)
		return ret;

	asahi_state_set_fw(doorbell->adev, ASAHI_FW_RUNNING);
	ret = asahi_doorbell_send_locked(doorbell, AGX_EP_FIRMWARE,
					 AGX_MSG_INIT | (initdata_va & AGX_MSG_INIT_ADDR_MASK));
	if (ret)
		return ret;

	ret = asahi_doorbell_send_locked(doorbell, AGX_EP_DOORBELL,
					 AGX_MSG_DOORBELL | AGX_DOORBELL_DEVICE_CONTROL);
	if (ret)
		return ret;

	return asahi_doorbell_send_locked(doorbell, AGX_EP_DOORBELL,
					  AGX_MSG_DOORBELL | AGX_DOORBELL_KICK);
}

static int asahi_rtkit_look(struct asahi_device *adev, enum asahi_stage stage, const char *found)
{
	struct drm_printer p = asahi_stage_printer(adev);

	if (adev->stage != stage)
		return 0;

	/* Whatever follows of itself has happened by then. */
	msleep(ASAHI_RTKIT_LISTEN_MS);
	drm_printf(&p, "a second later: %s\n", found);
	asahi_stage_print_regions(adev, &p);
	asahi_fwlog_print(asahi_channel_fwlog(adev), &p);
	return asahi_stage_end(adev, stage, found);
}

static void asahi_rtkit_boot_work(struct work_struct *work)
{
	struct asahi_rtkit_call *call = container_of(work, struct asahi_rtkit_call, work);
	struct asahi_doorbell *doorbell = call->doorbell;
	struct drm_device *drm = &doorbell->adev->drm;

	call->ret = call->wake ? apple_rtkit_wake(doorbell->rtk) :
				 apple_rtkit_boot(doorbell->rtk);
	if (call->ret) {
		drm_err(drm, "the firmware does not %s: %d\n", call->wake ? "wake" : "boot",
			call->ret);
		return;
	}

	call->ret = asahi_rtkit_look(doorbell->adev, ASAHI_STAGE_RTKIT, "RTKit has booted");
	if (call->ret)
		return;

	guard(mutex)(&doorbell->lock);
	call->ret = asahi_rtkit_start_locked(doorbell, call->initdata_va);
	if (call->ret)
		drm_err(drm, "the firmware cannot be initialised: %d\n", call->ret);
}

/*
 * Start the firmware on its InitData. Takes a second for each step of the boot at
 * most, and five for the firmware to look at its rings.
 *
 * Returns -ETIMEDOUT if it has started but does not do that.
 */
static int asahi_rtkit_boot(struct asahi_device *adev)
{
	struct asahi_rtkit_call call = {
		.initdata_va = adev->initdata_va,
		.wake = asahi_state_fw(adev) == ASAHI_FW_STOPPED,
	};
	int ret;

	asahi_channel_post_initialize(adev);
	ret = asahi_rtkit_call_on_worker(adev, asahi_rtkit_boot_work, &call);
	if (ret)
		return ret == -ETIMEDOUT ? -EIO : ret;

	return asahi_channel_wait_initialized(adev);
}

static void asahi_rtkit_quiesce_work(struct work_struct *work)
{
	struct asahi_rtkit_call *call = container_of(work, struct asahi_rtkit_call, work);
	struct apple_rtkit *rtk = call->doorbell->rtk;

	if (apple_rtkit_is_running(rtk)) {
		call->ret = apple_rtkit_quiesce(rtk);
		call->stopped = !call->ret;
	}
	if (call->ret)
		drm_err(&call->doorbell->adev->drm, "the firmware cannot be stopped: %d\n",
			call->ret);
}

/*
 * The firmware is quiesced, the gentlest of its states from which it can be
 * woken. Takes two seconds at most. Nobody waits for it, or rings a doorbell,
 * from the moment that it is told to stop.
 */
static int asahi_rtkit_quiesce(struct asahi_device *adev)
{
	struct asahi_rtkit_call call = {};
	int ret;

	scoped_guard(mutex, &adev->doorbell->lock)
		if (asahi_state_fw(adev) == ASAHI_FW_RUNNING)
			asahi_state_set_fw(adev, ASAHI_FW_STOPPED);

	ret = asahi_rtkit_call_on_worker(adev, asahi_rtkit_quiesce_work, &call);
	if (ret)
		asahi_state_set_fw(adev, ASAHI_FW_FAILED);
	/* It has booted without an InitData, and does not boot again. */
	else if (call.stopped && asahi_state_fw(adev) == ASAHI_FW_FRESH)
		asahi_state_set_fw(adev, ASAHI_FW_STOPPED);
	return ret;
}

/**
 * asahi_rtkit_shutdown() - stop the firmware before the machine goes down
 * @adev: device whose work the firmware may still be at
 *
 * Whether it can be started again does not matter any more, so what is unproven does
 * not either. Its cache is flushed before. Takes a few seconds at most. Process context.
 */
void asahi_rtkit_shutdown(struct asahi_device *adev)
{
	if (asahi_state_fw(adev) != ASAHI_FW_RUNNING)
		return;

	/* What it has not flushed by the time that it is stopped, it may write at any time. */
	asahi_heaps_quiesce(adev->heaps);
	asahi_rtkit_quiesce(adev);
}

/* The firmware starts without anything that it knew. */
static void asahi_rtkit_forget(struct asahi_device *adev)
{
	asahi_uat_forget_firmware(adev);
	asahi_state_set_fw(adev, ASAHI_FW_FRESH);
}

/*
 * The coprocessor is stopped first, so that it says nothing more; what it has
 * said is taken out of the mailbox; only then the library may be reinitialised,
 * or it would mistake old messages for new ones. Who handles a fault reads a
 * register of the GPU, so that is over before the power goes. Reinitialising waits for the
 * library's worker, which allocates, and the send lock is taken where fences are
 * signalled, so it is not held then. Nobody sends: the firmware is not alive, and
 * who was sending when it failed has been waited for.
 */
static void asahi_rtkit_kill(struct asahi_device *adev)
{
	struct asahi_doorbell *doorbell = adev->doorbell;
	int ret;

	if (!asahi_power_can_cut(adev))
		return;

	scoped_guard(mutex, &doorbell->lock)
		asahi_hw_stop_cpu(adev);

	apple_rtkit_poll(doorbell->rtk);
	ret = apple_rtkit_reinit(doorbell->rtk);
	asahi_channel_drain(adev);
	if (!ret)
		ret = asahi_power_cut(adev);
	if (!ret)
		asahi_rtkit_forget(adev);
	else
		drm_err(&adev->drm, "the power domain cannot be switched off: %d\n", ret);
}

/* What was stopped for a sleep may have lost its power in it, or not. */
static void asahi_rtkit_wake_up(struct asahi_device *adev)
{
	if (asahi_power_was_cut(adev) && !apple_rtkit_reinit(adev->doorbell->rtk))
		asahi_rtkit_forget(adev);
}

static int asahi_rtkit_init(struct asahi_device *adev)
{
	int ret;

	ret = asahi_rtkit_prepare(adev);
	if (ret)
		return ret;

	asahi_heaps_resume(adev->heaps);
	ret = asahi_rtkit_boot(adev);
	if (ret == -ETIMEDOUT) {
		/* Nobody else waits for that. */
		drm_warn(&adev->drm, "the firmware is slow to start on its InitData\n");
		ret = 0;
	}
	if (!ret)
		return asahi_rtkit_look(adev, ASAHI_STAGE_FIRMWARE,
					"the firmware runs on its InitData");
	if (ret != -ECANCELED)
		drm_err(&adev->drm, "the firmware does not start on its InitData: %d\n", ret);
	return ret;
}

/*
 * If the firmware does not comply, the next step is to take all memory away from
 * it.
 */
static void asahi_rtkit_unplug(struct asahi_device *adev)
{
	struct asahi_doorbell *doorbell = adev->doorbell;
	struct apple_rtkit *rtk;

	if (!doorbell || !doorbell->rtk)
		return;

	/* What it has not flushed by the time that it is stopped, it may write at any time. */
	asahi_heaps_quiesce(adev->heaps);
	asahi_state_unplug(adev);
	asahi_rtkit_quiesce(adev);

	scoped_guard(mutex, &doorbell->lock) {
		rtk = doorbell->rtk;
		doorbell->rtk = NULL;
	}
	apple_rtkit_free(rtk);
}

static int asahi_rtkit_suspend(struct asahi_device *adev)
{
	if (!asahi_allows(ASAHI_UNPROVEN_POWER))
		return 0;

	if (asahi_heaps_quiesce(adev->heaps) || asahi_rtkit_quiesce(adev)) {
		/* The next firmware caches again. */
		asahi_heaps_resume(adev->heaps);
		asahi_watchdog_give_up(adev, ASAHI_DEBT_SLEEP);
		return -EBUSY;
	}

	return 0;
}

static int asahi_rtkit_resume(struct asahi_device *adev)
{
	if (asahi_state_fw(adev) == ASAHI_FW_STOPPED)
		asahi_watchdog_give_up(adev, ASAHI_DEBT_AWAKE);
	else if (asahi_channel_ping(adev))
		asahi_watchdog_give_up(adev, ASAHI_DEBT_ANSWER);

	return 0;
}

static void asahi_rtkit_pre_reset(struct asahi_device *adev)
{
	/* The last words of the firmware count. */
	asahi_channel_sync(adev);

	switch (asahi_state_fw(adev)) {
	case ASAHI_FW_FAILED:
		asahi_rtkit_kill(adev);
		/*
		 * What cannot be stopped may go on with its work. That must not reach
		 * memory whose fences say that the work is over, and they signal next.
		 */
		if (asahi_state_fw(adev) == ASAHI_FW_FAILED)
			asahi_uat_revoke_clients(adev);
		break;
	case ASAHI_FW_STOPPED:
		asahi_rtkit_wake_up(adev);
		break;
	default:
		break;
	}
}

static int asahi_rtkit_post_reset(struct asahi_device *adev)
{
	int ret = asahi_rtkit_boot(adev);

	/* It is somewhere in its boot, so the next try begins without power. */
	if (ret)
		asahi_state_set_fw(adev, ASAHI_FW_FAILED);
	return ret;
}

static void asahi_rtkit_fini(struct asahi_device *adev)
{
	struct asahi_rtkit *rtkit = adev->rtkit;

	if (!rtkit)
		return;

	asahi_doorbell_fini(adev);
	for (unsigned int i = 0; i < ASAHI_RTKIT_BUFFERS; i++)
		asahi_heap_free(&rtkit->buffer[i].buf);
	asahi_heap_destroy(rtkit->heap);
	kfree(rtkit);
	adev->rtkit = NULL;
}

static void asahi_rtkit_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_doorbell *doorbell = adev->doorbell;
	/* This changes without a lock. Whoever asks for IDLE looks again. */
	bool posted = READ_ONCE(doorbell->posted);

	guard(mutex)(&doorbell->lock);
	asahi_rest_expect(rest, ASAHI_REST_AWAKE, doorbell->rtk, "nothing can be sent");
	asahi_rest_expect(rest, ASAHI_REST_IDLE | ASAHI_REST_AWAKE,
			  !posted, "doorbells have not been rung");
}

const struct asahi_block asahi_block_rtkit = {
	.name = "rtkit",
	.unannotated = true,
	.init = asahi_rtkit_init,
	.unplug = asahi_rtkit_unplug,
	.suspend = asahi_rtkit_suspend,
	.resume = asahi_rtkit_resume,
	.pre_reset = asahi_rtkit_pre_reset,
	.post_reset = asahi_rtkit_post_reset,
	.fini = asahi_rtkit_fini,
	.at_rest = asahi_rest_ptr(asahi_rtkit_at_rest),
};
