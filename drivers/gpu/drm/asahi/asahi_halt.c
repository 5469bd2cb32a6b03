// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Halts: the firmware goes on after a failure of work.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/workqueue.h>

#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_halt.h"
#include "asahi_initdata.h"
#include "asahi_state.h"
#include "asahi_trace.h"
#include "asahi_watchdog.h"

/**
 * DOC: Halts
 *
 * After a fault or a timeout the firmware halts, and goes on when it is told to. It may
 * halt later than the message about the failure arrives. The notification worker waits
 * for a moment. Then a worker looks again from time to time, until the firmware has
 * halted or ASAHI_WATCHDOG_HALT_MS are over. A firmware that does not halt at all goes
 * on by itself; if it does not, the watchdog finds that out.
 *
 * This block also tells the watchdog how the firmware is asked, and whether it has
 * halted, since both need the rings.
 */

/* How long the notification worker waits for a halt; the Rust driver waits as long. */
#define ASAHI_HALT_WAIT_US	(100 * USEC_PER_MSEC)

/* How often it is looked for a late halt. */
#define ASAHI_HALT_POLL_MS	10

/**
 * struct asahi_halt - what is known of the latest halt
 * @adev: device
 * @late: looks for a late halt
 * @until: when that ends, in jiffies; changes with @late idle or in it
 * @what: failure after which the firmware has to halt: a constant
 * @wq: for @late; fences wait for it
 */
struct asahi_halt {
	struct asahi_device *adev;
	struct delayed_work late;
	unsigned long until;
	const char *what;
	struct workqueue_struct *wq;
};

static void asahi_halt_late_work(struct work_struct *work)
{
	struct asahi_halt *halt = container_of(to_delayed_work(work), struct asahi_halt, late);
	struct asahi_device *adev = halt->adev;

	if (!asahi_state_fw_alive(adev))
		return;

	if (!asahi_initdata_resume(adev, 0)) {
		trace_asahi_recover(adev, 0, halt->what, 0);
		return;
	}

	if (time_after(jiffies, halt->until))
		drm_err(&adev->drm, "firmware does not halt after a %s\n", halt->what);
	else
		queue_delayed_work(halt->wq, &halt->late, msecs_to_jiffies(ASAHI_HALT_POLL_MS));
}

/**
 * asahi_halt_end() - have the firmware go on after a failure of work
 * @adev: device
 * @what: what has failed, a constant
 *
 * All that the firmware is to find has been written. Waits for its halt for a short
 * time; a halt that comes later is looked for. From the notification worker only, in
 * the critical section of fences; allocates nothing.
 */
void asahi_halt_end(struct asahi_device *adev, const char *what)
{
	struct asahi_halt *halt = adev->halt;
	int ret;

	/* An earlier halt that has not been seen is answered together with this one. */
	cancel_delayed_work_sync(&halt->late);

	ret = asahi_initdata_resume(adev, ASAHI_HALT_WAIT_US);
	trace_asahi_recover(adev, 0, what, ret);
	if (!ret)
		return;

	drm_dbg(&adev->drm, "firmware halts late after a %s\n", what);
	halt->what = what;
	halt->until = jiffies + msecs_to_jiffies(ASAHI_WATCHDOG_HALT_MS);
	queue_delayed_work(halt->wq, &halt->late, msecs_to_jiffies(ASAHI_HALT_POLL_MS));
}

static const struct asahi_watchdog_ops asahi_halt_watchdog_ops = {
	.signs = asahi_channel_signs,
	.ask = asahi_channel_ping,
	.halted = asahi_initdata_halted,
};

static int asahi_halt_init(struct asahi_device *adev)
{
	struct asahi_halt *halt = kzalloc_obj(*halt);

	if (!halt)
		return -ENOMEM;

	halt->wq = alloc_ordered_workqueue("asahi-halt", WQ_HIGHPRI | WQ_MEM_RECLAIM);
	if (!halt->wq) {
		kfree(halt);
		return -ENOMEM;
	}

	halt->adev = adev;
	INIT_DELAYED_WORK(&halt->late, asahi_halt_late_work);
	adev->halt = halt;
	asahi_watchdog_set_ops(adev, &asahi_halt_watchdog_ops);
	return 0;
}

/* The firmware is stopped, and forgets that it was to halt. */
static void asahi_halt_pre_reset(struct asahi_device *adev)
{
	cancel_delayed_work_sync(&adev->halt->late);
}

static int asahi_halt_suspend(struct asahi_device *adev)
{
	cancel_delayed_work_sync(&adev->halt->late);
	return 0;
}

static void asahi_halt_unplug(struct asahi_device *adev)
{
	if (adev->halt)
		cancel_delayed_work_sync(&adev->halt->late);
}

static void asahi_halt_fini(struct asahi_device *adev)
{
	struct asahi_halt *halt = adev->halt;

	if (!halt)
		return;

	asahi_watchdog_set_ops(adev, NULL);
	destroy_workqueue(halt->wq);
	kfree(halt);
	adev->halt = NULL;
}

const struct asahi_block asahi_block_halt = {
	.name = "halt",
	.init = asahi_halt_init,
	.unplug = asahi_halt_unplug,
	.suspend = asahi_halt_suspend,
	.pre_reset = asahi_halt_pre_reset,
	.fini = asahi_halt_fini,
};
