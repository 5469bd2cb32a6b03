// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Recovery: what happens when work or the firmware fails.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/atomic.h>
#include <linux/dma-fence.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <drm/drm_print.h>

#include "asahi_channel.h"
#include "asahi_coredump.h"
#include "asahi_device.h"
#include "asahi_event.h"
#include "asahi_hw.h"
#include "asahi_initdata.h"
#include "asahi_queue.h"
#include "asahi_recovery.h"
#include "asahi_trace.h"

/**
 * DOC: Recovery
 *
 * The firmware tells of four kinds of failure:
 *
 * * a *fault*: the MMU refused an access. Which one is in a register.
 * * a *timeout*: work took too long. The message names its event slot.
 * * a *channel error*: the firmware could not make sense of a ring's entry.
 *   The message names the event slot and the stamp. That ring stands still until
 *   the firmware is told to recover it; all others go on.
 * * a *crash*, which RTKit tells.
 *
 * After a fault or a timeout the GPU was stopped and the firmware halts. It
 * leaves a table of the stamps of all work that was running. Each is the
 * culprit's or a bystander's: after a fault, those in the VM context that it
 * happened in are guilty, after a timeout the one that is named. They are
 * marked, and the firmware is told to resume. It then retires the marked work
 * by writing its stamps, and goes on with the rings. Only then do fences signal,
 * because until then the GPU may use the jobs' memory.
 *
 * The jobs that follow a guilty one on its queue fail, too, and the queue takes
 * no more: what they would read was never written. Other queues go on; a
 * bystander's owner sees ECANCELED and may submit again.
 *
 * After a crash, and when the firmware stops answering, nothing will complete
 * any more: the device is dead, and all fences signal with ENODEV.
 */

/**
 * struct asahi_recovery - state of recovery
 * @adev: device
 * @wq: where @abandon_work runs; has a rescuer, because fences wait for it
 * @abandon_work: fails all jobs of a dead device
 * @dump: core dump of the latest culprit
 */
struct asahi_recovery {
	struct asahi_device *adev;
	struct workqueue_struct *wq;
	struct work_struct abandon_work;
	struct asahi_coredump *dump;
};

static void asahi_recovery_abandon(struct work_struct *work)
{
	struct asahi_recovery *recovery = container_of(work, struct asahi_recovery,
						       abandon_work);
	bool cookie = dma_fence_begin_signalling();

	asahi_queues_abandon(recovery->adev);
	dma_fence_end_signalling(cookie);
}

/**
 * asahi_recovery_init() - prepare for failures
 * @adev: device
 *
 * What is needed in the critical section of fences is allocated here. Process
 * context.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_recovery_init(struct asahi_device *adev)
{
	struct asahi_recovery *recovery;

	recovery = kzalloc_obj(*recovery);
	if (!recovery)
		return -ENOMEM;

	recovery->adev = adev;
	INIT_WORK(&recovery->abandon_work, asahi_recovery_abandon);

	recovery->wq = alloc_ordered_workqueue("asahi-recovery", WQ_MEM_RECLAIM);
	if (!recovery->wq)
		goto err_free;

	recovery->dump = asahi_coredump_create(adev);
	if (!recovery->dump)
		goto err_wq;

	adev->recovery = recovery;

	return 0;

err_wq:
	destroy_workqueue(recovery->wq);
err_free:
	kfree(recovery);
	return -ENOMEM;
}

/**
 * asahi_recovery_unplug() - wait for what is going on
 * @adev: dead device after asahi_queues_unplug()
 *
 * Process context.
 */
void asahi_recovery_unplug(struct asahi_device *adev)
{
	flush_workqueue(adev->recovery->wq);
	asahi_coredump_flush(adev->recovery->dump);
}

/**
 * asahi_recovery_fini() - undo asahi_recovery_init()
 * @adev: device without queues
 *
 * Process context.
 */
void asahi_recovery_fini(struct asahi_device *adev)
{
	struct asahi_recovery *recovery = adev->recovery;

	if (!recovery)
		return;

	destroy_workqueue(recovery->wq);
	asahi_coredump_destroy(recovery->dump);
	kfree(recovery);
	adev->recovery = NULL;
}

/**
 * asahi_recovery_wedged() - the firmware does not work any more
 * @adev: device
 * @why: end of a sentence that begins with "firmware is stuck: "
 *
 * All fences signal soon. Process or atomic context, not from interrupts, any
 * locks.
 */
void asahi_recovery_wedged(struct asahi_device *adev, const char *why)
{
	/* Also when it is being removed: that sees to the jobs itself. */
	if (asahi_device_dead(adev))
		return;

	drm_err(&adev->drm, "firmware is stuck: %s\n", why);
	asahi_device_set_dead(adev);
	queue_work(adev->recovery->wq, &adev->recovery->abandon_work);
}

static void asahi_recovery_print_fault(struct asahi_device *adev,
				       const struct asahi_fault_info *info)
{
	drm_err_ratelimited(&adev->drm,
			    "GPU fault: %s of %#llx in context %u, unit %s (%#x), %s\n",
			    info->read ? "read" : "write", info->address, info->slot,
			    asahi_hw_fault_unit(info), info->unit, asahi_hw_fault_reason(info));
	trace_asahi_fault(adev, info);
}

/* Mark all work that was running. */
static void asahi_recovery_mark_pending(struct asahi_device *adev, int culprit,
					struct asahi_failure *failure)
{
	struct asahi_pending_stamp stamp;
	struct asahi_queue *queue;

	for (unsigned int i = 0; i < ASAHI_PENDING_STAMPS; i++) {
		if (!asahi_initdata_take_pending(adev, i, &stamp))
			continue;

		failure->named = culprit >= 0 && stamp.event_slot == culprit;
		failure->bystander = culprit >= 0 && stamp.event_slot != culprit;
		drm_dbg(&adev->drm, "was running: event %u, stamp %#x, flags %#x\n",
			stamp.event_slot, stamp.value, stamp.flags);

		queue = asahi_event_get_owner(adev, stamp.event_slot);
		if (!queue) {
			drm_err(&adev->drm, "event %u has failed work but no owner\n",
				stamp.event_slot);
			continue;
		}

		asahi_queue_mark_failed(queue, stamp.event_slot, stamp.value, failure);
		asahi_queue_put(queue);
	}
}

static void asahi_recovery_handle(struct asahi_device *adev, const char *what, int error,
				  int culprit)
{
	struct asahi_failure failure = { .error = error };
	bool cookie = dma_fence_begin_signalling();
	struct asahi_fault_info info;
	int ret;

	/* Jobs that wait behind this are not stuck. */
	asahi_event_note_progress(adev);

	if (asahi_hw_read_fault(adev, &info)) {
		asahi_recovery_print_fault(adev, &info);
		failure.fault = &info;
	}

	asahi_recovery_mark_pending(adev, culprit, &failure);

	ret = asahi_initdata_resume(adev);
	if (ret)
		drm_err(&adev->drm, "firmware does not halt after a %s\n", what);
	trace_asahi_recover(adev, what, ret);

	dma_fence_end_signalling(cookie);
}

/**
 * asahi_recovery_fault() - the firmware tells of a fault
 * @adev: device
 *
 * Runs in the notification worker.
 */
void asahi_recovery_fault(struct asahi_device *adev)
{
	asahi_recovery_handle(adev, "fault", -EIO, -1);
}

/**
 * asahi_recovery_timeout() - the firmware tells of a timeout
 * @adev: device
 * @counter: how many there were
 * @event_slot: event slot of the work that took too long; negative if unknown
 *
 * Runs in the notification worker.
 */
void asahi_recovery_timeout(struct asahi_device *adev, u32 counter, int event_slot)
{
	drm_err_ratelimited(&adev->drm, "GPU timeout %u: event %d\n", counter, event_slot);
	asahi_recovery_handle(adev, "timeout", -ETIMEDOUT, event_slot);
}

/**
 * asahi_recovery_channel_error() - the firmware gives up an entry of a ring
 * @adev: device
 * @type: kind of error
 * @pipe: AGX_PIPE_*
 * @slot: event slot of the work
 * @value: stamp value of the work
 *
 * Runs in the notification worker.
 */
void asahi_recovery_channel_error(struct asahi_device *adev, u32 type, u32 pipe, u32 slot,
				  u32 value)
{
	struct asahi_failure failure = { .error = -EIO, .named = true };
	bool cookie = dma_fence_begin_signalling();
	struct asahi_queue *queue;

	drm_err_ratelimited(&adev->drm, "channel error %u: pipe %u, event %u, stamp %#x\n", type,
			    pipe, slot, value);
	asahi_event_note_progress(adev);

	queue = asahi_event_get_owner(adev, slot);
	if (!queue) {
		drm_err(&adev->drm, "event %u has failed work but no owner\n", slot);
		goto out;
	}

	asahi_queue_channel_error(queue, slot, value, &failure);
	asahi_queue_put(queue);
out:
	dma_fence_end_signalling(cookie);
}

/**
 * asahi_recovery_fw_crashed() - the firmware has crashed
 * @adev: device
 *
 * Runs in the notification worker.
 */
void asahi_recovery_fw_crashed(struct asahi_device *adev)
{
	bool cookie = dma_fence_begin_signalling();

	asahi_device_set_dead(adev);
	asahi_queues_abandon(adev);
	dma_fence_end_signalling(cookie);
}

/**
 * asahi_recovery_coredump() - where to put a core dump
 * @adev: device
 *
 * Return: the device's core dump.
 */
struct asahi_coredump *asahi_recovery_coredump(struct asahi_device *adev)
{
	return adev->recovery->dump;
}
