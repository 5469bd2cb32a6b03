// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Reset: what follows a failure of the firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/dma-fence.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_coredump.h"
#include "asahi_device.h"
#include "asahi_event.h"
#include "asahi_power.h"
#include "asahi_reset.h"
#include "asahi_rest.h"
#include "asahi_state.h"

/**
 * DOC: Reset
 *
 * When the firmware has crashed or is stuck, a worker stops all blocks, has the
 * power domain switched off and on, builds what the firmware reads as it was
 * after probe, and starts the firmware again. Clients keep their address spaces,
 * buffers and queues. Jobs in flight are lost: their fences signal with
 * -ECANCELED, unless they had been found guilty of something. Jobs that were
 * waiting for their turn run afterwards.
 *
 * All that is in the critical section of fences: of the lost jobs, and of those
 * that wait. So the driver allocates nothing, and all its waits are bounded. The
 * RTKit library does allocate, when the firmware asks for buffers and for each
 * message, and stopping and starting waits for it. That is beyond the driver's
 * control; lockdep is told of the critical section in all blocks but that one.
 *
 * No domain can be switched off between the beginning and the end of a system
 * transition. Therefore the worker is frozen before it: a reset under way ends
 * first, and what fails later makes the transition fail, or waits for its end.
 *
 * Starting a firmware again has never been tried on Apple hardware, so all this
 * is behind the module parameter "unproven". Without it, or without a power
 * domain, or when firmware fails again and again with nothing done in between,
 * the device is wedged: all work fails with -ENODEV until the next boot, and
 * user space is told.
 */

/* So often in a row, and so fast, with no work completed in between. */
#define ASAHI_RESET_MAX		5
#define ASAHI_RESET_WINDOW_MS	30000

/**
 * struct asahi_reset - the reset worker
 * @adev: device
 * @wq: where it runs; has a rescuer, because fences wait for it; frozen while the
 *	system goes to sleep and wakes up, because domains stay on meanwhile
 * @work: the worker
 * @count: resets in a row without any progress in between
 * @progress: what asahi_event_progress() said after the last one
 * @last: when that was, in jiffies
 *
 * All but the first three are protected by the device's mutex for verbs.
 */
struct asahi_reset {
	struct asahi_device *adev;
	struct workqueue_struct *wq;
	struct work_struct work;
	unsigned int count;
	u64 progress;
	unsigned long last;
};

/* Is there hope? */
static bool asahi_reset_worthwhile(struct asahi_reset *reset)
{
	unsigned long window = msecs_to_jiffies(ASAHI_RESET_WINDOW_MS);

	if (asahi_event_progress(reset->adev) != reset->progress ||
	    time_after(jiffies, reset->last + window))
		reset->count = 0;

	return reset->count++ < ASAHI_RESET_MAX;
}

/* From RESETTING to RUNNING if all goes well; else nothing runs any more. */
static int asahi_reset_blocks(struct asahi_device *adev)
{
	asahi_blocks_pre_reset(adev);

	/* What is not known to have stopped cannot be started. */
	if (asahi_state_doomed(adev) || asahi_state_fw(adev) == ASAHI_FW_FAILED)
		return -EOPNOTSUPP;

	return asahi_blocks_post_reset(adev);
}

static void asahi_reset_wedge(struct asahi_device *adev)
{
	const bool rebind = asahi_allows(ASAHI_UNPROVEN_UNBIND) &&
			    asahi_allows(ASAHI_UNPROVEN_POWER);
	bool cookie;

	if (!asahi_state_move(adev, ASAHI_STATE_RESETTING, ASAHI_STATE_WEDGED))
		return;

	cookie = dma_fence_begin_signalling();
	asahi_blocks_wedge(adev);
	dma_fence_end_signalling(cookie);

	drm_err(&adev->drm, "the GPU is lost until the next boot\n");
	/* Binding again switches the power off and on. Else nothing helps but a reboot. */
	drm_dev_wedged_event(&adev->drm, rebind ? DRM_WEDGE_RECOVERY_REBIND : 0, NULL);
}

/* From RESETTING to whatever comes out. */
static bool asahi_reset_run(struct asahi_device *adev)
{
	int ret;

	lockdep_assert_held(&adev->verbs);

	ret = asahi_reset_blocks(adev);
	if (!ret)
		return asahi_state_move(adev, ASAHI_STATE_RESETTING, ASAHI_STATE_RUNNING);

	/* Another try; the worker counts them. */
	if (ret != -EOPNOTSUPP)
		asahi_state_repeat_reset(adev);
	else
		asahi_reset_wedge(adev);
	return false;
}

/* What it completed, and what it said, before it failed. */
static void asahi_reset_capture(struct asahi_device *adev)
{
	bool cookie = dma_fence_begin_signalling();

	asahi_channel_sync(adev);
	asahi_coredump_capture_device(adev, adev->state.why);
	dma_fence_end_signalling(cookie);
}

static void asahi_reset_work(struct work_struct *work)
{
	struct asahi_reset *reset = container_of(work, struct asahi_reset, work);
	struct asahi_device *adev = reset->adev;
	ktime_t start = ktime_get();
	bool doomed, done;

	guard(mutex)(&adev->verbs);

	if (asahi_state_get(adev) != ASAHI_STATE_FAILED)
		return;

	doomed = !asahi_power_can_cut(adev) || !asahi_reset_worthwhile(reset);
	if (!asahi_state_begin_reset(adev, ASAHI_STATE_FAILED, doomed))
		return;

	asahi_reset_capture(adev);
	done = asahi_reset_run(adev);
	reset->progress = asahi_event_progress(adev);
	reset->last = jiffies;
	if (!done)
		return;

	drm_info(&adev->drm, "the firmware has been restarted in %lld ms\n",
		 ktime_ms_delta(ktime_get(), start));
	drm_dev_wedged_event(&adev->drm, DRM_WEDGE_RECOVERY_NONE, NULL);
}

/**
 * asahi_reset_restart() - start again what was put to sleep
 * @adev: device in state SUSPENDED, whose firmware has been stopped
 *
 * A reset with nothing to be lost. If it fails the worker tries again. Process
 * context, with the mutex for verbs held.
 */
void asahi_reset_restart(struct asahi_device *adev)
{
	if (asahi_state_begin_reset(adev, ASAHI_STATE_SUSPENDED, false))
		asahi_reset_run(adev);
}

/**
 * asahi_reset_init() - prepare for failures of the firmware
 * @adev: device
 *
 * Nothing is done about failures before asahi_reset_enable(). Process context.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_reset_init(struct asahi_device *adev)
{
	struct asahi_reset *reset;

	reset = kzalloc_obj(*reset);
	if (!reset)
		return -ENOMEM;

	reset->wq = alloc_ordered_workqueue("asahi-reset", WQ_MEM_RECLAIM | WQ_FREEZABLE);
	if (!reset->wq) {
		kfree(reset);
		return -ENOMEM;
	}

	reset->adev = adev;
	reset->last = jiffies;
	INIT_WORK(&reset->work, asahi_reset_work);
	disable_work(&reset->work);
	adev->state.reset = &reset->work;
	adev->state.wq = reset->wq;
	adev->reset = reset;
	return 0;
}

/**
 * asahi_reset_enable() - act upon failures from now on
 * @adev: device
 *
 * Also upon one that has happened already. Process context.
 */
void asahi_reset_enable(struct asahi_device *adev)
{
	struct asahi_reset *reset = adev->reset;

	enable_work(&reset->work);
	if (asahi_state_get(adev) == ASAHI_STATE_FAILED)
		queue_work(reset->wq, &reset->work);
}

/**
 * asahi_reset_disable() - do not act upon failures for now
 * @adev: device
 *
 * Waits until a reset that is under way has ended. Process context, not with the
 * mutex for verbs held. To be paired with asahi_reset_enable(), or followed by
 * asahi_reset_fini().
 */
void asahi_reset_disable(struct asahi_device *adev)
{
	disable_work_sync(&adev->reset->work);
}

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
/**
 * asahi_reset_at_rest() - say so if failures have no consequences
 * @adev: device
 * @rest: what is known of it
 *
 * Any context.
 */
void asahi_reset_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	rest->name = "reset";
	asahi_rest_expect(rest, ASAHI_REST_IDLE | ASAHI_REST_AWAKE,
			  !asahi_rest_disabled(&adev->reset->work),
			  "nothing acts upon failures");
}
#endif

/**
 * asahi_reset_fini() - undo asahi_reset_init()
 * @adev: device after asahi_reset_disable()
 *
 * Process context.
 */
void asahi_reset_fini(struct asahi_device *adev)
{
	struct asahi_reset *reset = adev->reset;

	if (!reset)
		return;

	destroy_workqueue(reset->wq);
	kfree(reset);
	adev->reset = NULL;
}
