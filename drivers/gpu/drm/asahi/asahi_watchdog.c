// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Watchdog: what the firmware owes, and when it is given up.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/seq_file.h>
#include <linux/time64.h>
#include <linux/workqueue.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_rest.h"
#include "asahi_state.h"
#include "asahi_watchdog.h"

/**
 * DOC: Watchdog
 *
 * The firmware judges work that runs: it ends a command that makes no progress, and
 * tells. The driver judges the firmware, and all of that is done here: nobody else gives
 * it up. What it owes, and what follows when it does not pay, is a table in this file.
 *
 * **Debts.** A debt that is not paid in time is counted, and logged once for each start
 * of the firmware. The firmware is asked for a sign of life, by a device control message
 * that changes nothing, until it answers. One that has read none of at least
 * ASAHI_WATCHDOG_STRIKES such messages, and has done nothing else for
 * ASAHI_WATCHDOG_SILENCE_MS, is given up. One that gives signs of life is given up for
 * some debts after a longer time, because the driver cannot go on without them, and for
 * others never.
 *
 * **Halts.** After a fault or a timeout the firmware halts, reads nothing, and goes on
 * when it is told to. Time in which it has halted does not count in any wait, up to
 * ASAHI_WATCHDOG_HALT_MS.
 *
 * **Work.** Every ASAHI_WATCHDOG_LOOK_MS the watchdog looks at each queue that has work in
 * flight:
 *
 * * Progress is a stamp or a start of a command of the queue, not a whole job.
 * * Work that has started belongs to the firmware. It may run for as long as it likes,
 *   but not longer than the module parameter ``hang_limit`` without progress.
 * * Work that has not started is waiting while work of its own or a higher priority is
 *   completed, without a limit. Otherwise the limit is ``hang_limit`` as well.
 * * Work that has ended, or that the firmware has taken down after a failure, and that it
 *   does not retire, has the same limit.
 * * The firmware is asked for a sign of life when ASAHI_WATCHDOG_STRIKES looks in a row
 *   find running or unretired work without progress, or a GPU that does nothing although
 *   it has work. That work is announced again, if the firmware has not read of it.
 * * Work that is over its limit is lost: the memory of its client is taken away, so that it
 *   faults and the firmware takes it down. That costs its queue, and other work in the
 *   same address space; the rest of the device goes on.
 *   Nobody has tried that on Apple hardware: where shaders ignore what is not mapped (see
 *   the module parameter ``fault_control``), work may go on without its memory.
 * * If that work is still there ASAHI_WATCHDOG_STRIKES looks later, the firmware is given
 *   up. One look before that, the context of work that still runs is emptied (see "UAT").
 *   While it has not started, and the GPU does other work, the firmware is given up after
 *   another ``hang_limit`` only.
 */

/* Looks, or unread messages, in a row before something follows. */
#define ASAHI_WATCHDOG_STRIKES		3

/* And for so long there was no other sign of life. */
#define ASAHI_WATCHDOG_SILENCE_MS	10000

/* Time between two looks of a wait: short at first, and a part of a wait that lasts. */
#define ASAHI_WAIT_POLL_US		50
#define ASAHI_WAIT_POLL_LAST_US		2000
#define ASAHI_WAIT_POLL_PART		8

/* Lasts: the firmware is never given up for that while it gives signs of life. */
#define ASAHI_DEBT_NEVER		U32_MAX

/**
 * struct asahi_debt_rule - what follows from a debt
 * @why: what is wrong, in words that follow "firmware failed: "
 * @late_ms: after so long the debt is late, milliseconds
 * @lost_ms: after so long the firmware is given up, whatever signs of life it gives; or
 *	ASAHI_DEBT_NEVER: whoever waits goes on without it
 * @ask: it is asked for a sign of life in between
 */
struct asahi_debt_rule {
	const char *why;
	u32 late_ms;
	u32 lost_ms;
	bool ask;
};

/* The table of lifecycle.rst is checked against this one, line by line. */
static const struct asahi_debt_rule asahi_debt_rules[ASAHI_DEBTS] = {
	[ASAHI_DEBT_CRASH] =   { "it has crashed", 0, 0, false },
	[ASAHI_DEBT_EVENTS] =  { "its event ring is broken", 0, 0, false },
	[ASAHI_DEBT_SLEEP] =   { "it does not go to sleep", 0, 0, false },
	[ASAHI_DEBT_AWAKE] =   { "it was stopped for a sleep that failed", 0, 0, false },
	[ASAHI_DEBT_ANSWER] =  { "it does not answer after sleep", 0, 0, false },
	[ASAHI_DEBT_WAKE] =    { "it does not wake up", 0, 0, false },
	[ASAHI_DEBT_MAILBOX] = { "it does not empty its mailbox", 500, 10000, true },
	[ASAHI_DEBT_WORK] =    { "it takes no more work", 1000, 30000, true },
	[ASAHI_DEBT_HANDOFF] = { "it keeps the handoff lock", 100, 10000, true },
	[ASAHI_DEBT_CONTROL] = { "it does not read device control messages", 1000,
				 ASAHI_DEBT_NEVER, true },
	[ASAHI_DEBT_START] =   { "it is slow to start on its rings", 5000,
				 ASAHI_DEBT_NEVER, false },
	[ASAHI_DEBT_FLUSH] =   { "it does not read requests for flushes", 1000,
				 ASAHI_DEBT_NEVER, true },
	[ASAHI_DEBT_GROWTH] =  { "it reads no answer about a vertex buffer", 2000,
				 ASAHI_DEBT_NEVER, true },
	[ASAHI_DEBT_STAMP] =   { "it completes work that it was not given", 0,
				 ASAHI_DEBT_NEVER, false },
	[ASAHI_DEBT_JOB] =     { "it does not complete a job", 0, 0, false },
	[ASAHI_DEBT_RETIRE] =  { "it does not retire what has failed", 0, 0, false },
};

/**
 * asahi_watchdog_init() - begin with a firmware that owes nothing
 * @watchdog: watchdog of a device, zeroed
 * @adev: device
 *
 * Any context.
 */
void asahi_watchdog_init(struct asahi_watchdog *watchdog, struct asahi_device *adev)
{
	watchdog->adev = adev;
	spin_lock_init(&watchdog->lock);
	watchdog->running_at = jiffies - msecs_to_jiffies(2 * ASAHI_WATCHDOG_LOOK_MS);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_watchdog_init);

/**
 * asahi_watchdog_set_ops() - say how the firmware is asked
 * @adev: device whose firmware does not run yet, or not any more
 * @ops: how; NULL before the rings are gone
 *
 * Process context.
 */
void asahi_watchdog_set_ops(struct asahi_device *adev, const struct asahi_watchdog_ops *ops)
{
	adev->watchdog.ops = ops;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_watchdog_set_ops);

/**
 * asahi_watchdog_give_up() - the driver cannot go on with this firmware
 * @adev: device
 * @debt: what the firmware has not done
 *
 * See asahi_state_fail() for what follows. Process or atomic context, not from hard
 * interrupts, any locks.
 */
void asahi_watchdog_give_up(struct asahi_device *adev, enum asahi_debt debt)
{
	asahi_state_fail(adev, asahi_debt_rules[debt].why);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_watchdog_give_up);

/**
 * asahi_watchdog_signs() - what the firmware has done so far
 * @adev: device
 *
 * Any context.
 *
 * Return: a number that changes with every sign of life.
 */
u32 asahi_watchdog_signs(struct asahi_device *adev)
{
	const struct asahi_watchdog_ops *ops = adev->watchdog.ops;

	return ops ? ops->signs(adev) : 0;
}

/**
 * asahi_watchdog_halted() - does the firmware wait to be told to go on?
 * @adev: device
 *
 * Any context.
 *
 * Return: true if so.
 */
bool asahi_watchdog_halted(struct asahi_device *adev)
{
	const struct asahi_watchdog_ops *ops = adev->watchdog.ops;

	return ops && ops->halted(adev);
}

/* A message was not read. Returns whether the firmware has been silent for too long. */
static bool asahi_watchdog_strike(struct asahi_device *adev)
{
	struct asahi_watchdog *watchdog = &adev->watchdog;
	u32 signs = asahi_watchdog_signs(adev);
	ktime_t now = ktime_get();

	guard(spinlock)(&watchdog->lock);
	if (signs != watchdog->strike_signs)
		watchdog->strikes = 0;
	if (!watchdog->strikes)
		watchdog->silent_since = now;
	watchdog->strike_signs = signs;

	return ++watchdog->strikes >= ASAHI_WATCHDOG_STRIKES &&
	       ktime_ms_delta(now, watchdog->silent_since) >= ASAHI_WATCHDOG_SILENCE_MS;
}

/**
 * asahi_watchdog_late() - the firmware has not paid a debt in time
 * @adev: device
 * @debt: what it owes
 *
 * It is counted, and the firmware is asked for a sign of life where the table says so.
 * Any context but hard interrupts, any locks.
 */
void asahi_watchdog_late(struct asahi_device *adev, enum asahi_debt debt)
{
	const struct asahi_debt_rule *rule = &asahi_debt_rules[debt];
	struct asahi_watchdog *watchdog = &adev->watchdog;

	if (!asahi_state_fw_alive(adev))
		return;

	if (atomic_inc_return(&watchdog->late[debt]) == 1)
		drm_warn(&adev->drm, "firmware error, not fatal: %s\n", rule->why);
	else
		drm_dbg(&adev->drm, "firmware error again: %s\n", rule->why);

	if (debt == ASAHI_DEBT_CONTROL && asahi_watchdog_strike(adev))
		asahi_watchdog_give_up(adev, debt);
	else if (rule->ask && watchdog->wq)
		queue_work(watchdog->wq, &watchdog->ask);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_watchdog_late);

/**
 * asahi_watchdog_paid() - the firmware has paid a debt
 * @adev: device
 * @debt: what it owed; only that of device control is remembered
 *
 * Any context.
 */
void asahi_watchdog_paid(struct asahi_device *adev, enum asahi_debt debt)
{
	struct asahi_watchdog *watchdog = &adev->watchdog;

	if (debt != ASAHI_DEBT_CONTROL)
		return;

	guard(spinlock)(&watchdog->lock);
	watchdog->strikes = 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_watchdog_paid);

static void asahi_watchdog_ask_work(struct work_struct *work)
{
	struct asahi_watchdog *watchdog = container_of(work, struct asahi_watchdog, ask);
	struct asahi_device *adev = watchdog->adev;

	/* It ends: each message that is not read is a strike, or there was a sign of life. */
	while (asahi_state_fw_alive(adev) && watchdog->ops) {
		u32 signs = asahi_watchdog_signs(adev);

		if (!watchdog->ops->ask(adev) || asahi_watchdog_signs(adev) != signs)
			return;
	}
}

/* Waits. */

/**
 * asahi_wait_begin() - begin to wait for the firmware
 * @wait: is filled in
 * @adev: device
 * @debt: what the firmware owes
 *
 * For asahi_wait_until().
 */
void asahi_wait_begin(struct asahi_wait *wait, struct asahi_device *adev, enum asahi_debt debt)
{
	*wait = (struct asahi_wait) {
		.adev = adev,
		.debt = debt,
		.looked = ktime_get(),
	};
}
EXPORT_SYMBOL_IF_KUNIT(asahi_wait_begin);

static void asahi_wait_count(struct asahi_wait *wait)
{
	ktime_t now = ktime_get();
	s64 passed_us = ktime_us_delta(now, wait->looked);

	wait->looked = now;
	if (wait->halted_us < ASAHI_WATCHDOG_HALT_MS * USEC_PER_MSEC &&
	    asahi_watchdog_halted(wait->adev))
		wait->halted_us += passed_us;
	else
		wait->waited_us += passed_us;
}

static void asahi_wait_rest(const struct asahi_wait *wait)
{
	s64 part_us = (wait->waited_us + wait->halted_us) / ASAHI_WAIT_POLL_PART;
	u32 rest_us = clamp_t(s64, part_us, ASAHI_WAIT_POLL_US, ASAHI_WAIT_POLL_LAST_US);

	usleep_range(rest_us / 4, rest_us);
}

/**
 * asahi_wait_on() - wait a little for the firmware
 * @wait: wait that has begun
 *
 * For asahi_wait_until(). Process context; sleeps.
 *
 * Return: 0 to look again; -ENODEV if the firmware is not alive, or has been given up;
 * -ETIMEDOUT if it is late and the caller is to go on without it.
 */
int asahi_wait_on(struct asahi_wait *wait)
{
	const struct asahi_debt_rule *rule = &asahi_debt_rules[wait->debt];

	if (!asahi_state_fw_alive(wait->adev))
		return -ENODEV;

	asahi_wait_count(wait);
	if (!wait->late && wait->waited_us >= (s64)rule->late_ms * USEC_PER_MSEC) {
		wait->late = true;
		asahi_watchdog_late(wait->adev, wait->debt);
		if (rule->lost_ms == ASAHI_DEBT_NEVER)
			return -ETIMEDOUT;
	}
	if (wait->late && wait->waited_us >= (s64)rule->lost_ms * USEC_PER_MSEC) {
		asahi_watchdog_give_up(wait->adev, wait->debt);
		return -ENODEV;
	}

	asahi_wait_rest(wait);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_wait_on);

/* Work. */

/**
 * asahi_watchdog_judge() - find out whether the firmware is late with a queue's work
 * @queue: what is known from earlier looks; is changed
 * @look: what there is now
 * @limit_ms: how long work may take without progress, milliseconds
 *
 * See "Watchdog" for the rules. With the lock of the queue's timeline held.
 *
 * Return: what is to be done.
 */
enum asahi_remedy asahi_watchdog_judge(struct asahi_watchdog_queue *queue,
				       const struct asahi_watchdog_look *look, s64 limit_ms)
{
	const s64 patience_ms = ASAHI_WATCHDOG_STRIKES * ASAHI_WATCHDOG_LOOK_MS;
	const s64 empty_ms = patience_ms - ASAHI_WATCHDOG_LOOK_MS;
	bool moved = !queue->moved || look->key != queue->key;
	bool passed = !look->running && !look->owed && look->others != queue->others;
	s64 silent_ms;
	bool waits;

	queue->key = look->key;
	queue->others = look->others;
	/* What comes after its memory was taken away is no progress of others. */
	if (moved || (passed && !queue->cut))
		queue->moved = look->now;
	if (moved) {
		queue->cut = false;
		queue->emptied = false;
	}

	if (moved || passed || look->running || look->busy)
		queue->strikes = 0;
	else
		queue->strikes++;

	silent_ms = ktime_ms_delta(look->now, queue->moved);
	/* What waits cannot fault before it starts. */
	waits = look->busy && !look->running && !look->owed;
	if (queue->cut && silent_ms >= (waits ? limit_ms : patience_ms))
		return ASAHI_REMEDY_GIVE_UP;
	if (!queue->cut && silent_ms >= limit_ms) {
		queue->cut = true;
		queue->moved = look->now;
		return ASAHI_REMEDY_CUT;
	}
	if (queue->cut && look->running && !queue->emptied && silent_ms >= empty_ms) {
		queue->emptied = true;
		return ASAHI_REMEDY_EMPTY;
	}
	if (look->running || look->owed)
		return silent_ms >= patience_ms ? ASAHI_REMEDY_ASK : ASAHI_REMEDY_NONE;

	return queue->strikes >= ASAHI_WATCHDOG_STRIKES ? ASAHI_REMEDY_ANNOUNCE :
							  ASAHI_REMEDY_NONE;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_watchdog_judge);

/**
 * asahi_watchdog_note_running() - work was seen to run
 * @adev: device
 *
 * Any context.
 */
void asahi_watchdog_note_running(struct asahi_device *adev)
{
	WRITE_ONCE(adev->watchdog.running_at, jiffies);
}

/**
 * asahi_watchdog_saw_running() - was work seen to run lately?
 * @adev: device
 *
 * A queue with running work is looked at once in each interval, as all others are, but
 * at another time: lately means two intervals. Any context.
 *
 * Return: true if so.
 */
bool asahi_watchdog_saw_running(struct asahi_device *adev)
{
	return time_before(jiffies, READ_ONCE(adev->watchdog.running_at) +
				    msecs_to_jiffies(2 * ASAHI_WATCHDOG_LOOK_MS));
}

/* The block. */

static int asahi_watchdog_show(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct asahi_device *adev = to_asahi_device(entry->dev);

	for (unsigned int i = 0; i < ASAHI_DEBTS; i++)
		seq_printf(m, "%d %s\n", atomic_read(&adev->watchdog.late[i]),
			   asahi_debt_rules[i].why);
	return 0;
}

static int asahi_watchdog_block_init(struct asahi_device *adev)
{
	struct asahi_watchdog *watchdog = &adev->watchdog;

	INIT_WORK(&watchdog->ask, asahi_watchdog_ask_work);
	watchdog->wq = alloc_ordered_workqueue("asahi-watchdog", WQ_HIGHPRI | WQ_MEM_RECLAIM);
	if (!watchdog->wq)
		return -ENOMEM;

	drm_debugfs_add_file(&adev->drm, "watchdog", asahi_watchdog_show, NULL);
	return 0;
}

static void asahi_watchdog_unplug(struct asahi_device *adev)
{
	if (adev->watchdog.wq)
		cancel_work_sync(&adev->watchdog.ask);
}

static int asahi_watchdog_suspend(struct asahi_device *adev)
{
	cancel_work_sync(&adev->watchdog.ask);
	return 0;
}

/* Another firmware owes nothing. */
static void asahi_watchdog_pre_reset(struct asahi_device *adev)
{
	struct asahi_watchdog *watchdog = &adev->watchdog;

	cancel_work_sync(&watchdog->ask);
	asahi_watchdog_paid(adev, ASAHI_DEBT_CONTROL);
	for (unsigned int i = 0; i < ASAHI_DEBTS; i++)
		atomic_set(&watchdog->late[i], 0);
}

static void asahi_watchdog_fini(struct asahi_device *adev)
{
	struct asahi_watchdog *watchdog = &adev->watchdog;

	if (!watchdog->wq)
		return;

	destroy_workqueue(watchdog->wq);
	watchdog->wq = NULL;
}

static void asahi_watchdog_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	asahi_rest_expect(rest, ASAHI_REST_AWAKE, adev->watchdog.ops,
			  "the firmware cannot be asked");
	asahi_rest_expect(rest, ASAHI_REST_IDLE, !work_busy(&adev->watchdog.ask),
			  "the firmware is being asked");
}

const struct asahi_block asahi_block_watchdog = {
	.name = "watchdog",
	.init = asahi_watchdog_block_init,
	.unplug = asahi_watchdog_unplug,
	.suspend = asahi_watchdog_suspend,
	.pre_reset = asahi_watchdog_pre_reset,
	.fini = asahi_watchdog_fini,
	.at_rest = asahi_rest_ptr(asahi_watchdog_at_rest),
};
