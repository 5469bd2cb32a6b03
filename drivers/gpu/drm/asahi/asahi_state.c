// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The device's state, and who may change it.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/export.h>

#include <drm/drm_print.h>

#include "asahi_device.h"
#include "asahi_state.h"
#include "asahi_trace.h"

/**
 * DOC: States
 *
 * ::
 *
 *                                         suspend
 *      STARTING ---------> RUNNING <-------------------> SUSPENDED
 *          |               |     ^         resume         |     |
 *          | fail     fail |     | done                   |     |
 *          |               |     |       restart          |     |
 *          |               |     |  +---------------------+     |
 *          |               v     |  v                           |
 *          +----------> FAILED --> RESETTING --> WEDGED         |
 *                        ^  ^       |      give up              |
 *                        |  +-------+                           |
 *                        |    fail                              |
 *                        +--------------------------------------+
 *                                         fail
 *
 *      any of them ---> UNPLUGGED
 *
 * The watchdog decides that the firmware is lost, and calls asahi_state_fail(),
 * with whatever locks are held there: that only notes the reason, of which the
 * first one counts, and queues the reset worker. From then on nobody waits for
 * the firmware any more, since asahi_state_fw_alive() is false. All other
 * transitions are made by the code that runs the blocks' verbs, under one mutex.
 * A firmware that fails during a reset makes for another one.
 *
 * A device that sleeps wakes up by "resume" if its firmware has gone on all the
 * time, and by "restart", a reset with nothing to be lost, if it was stopped.
 *
 * Two questions are asked all over the driver, and neither needs a lock, as
 * the answer may be outdated when it arrives and all callers cope with that:
 * asahi_state_lost(), will nothing ever complete again, and
 * asahi_state_fw_alive(), is there anybody to answer now.
 */

static const unsigned int asahi_state_next[ASAHI_STATES] = {
	[ASAHI_STATE_STARTING] = BIT(ASAHI_STATE_RUNNING) | BIT(ASAHI_STATE_FAILED) |
				 BIT(ASAHI_STATE_UNPLUGGED),
	[ASAHI_STATE_RUNNING] = BIT(ASAHI_STATE_FAILED) | BIT(ASAHI_STATE_SUSPENDED) |
				BIT(ASAHI_STATE_UNPLUGGED),
	[ASAHI_STATE_FAILED] = BIT(ASAHI_STATE_RESETTING) | BIT(ASAHI_STATE_UNPLUGGED),
	[ASAHI_STATE_RESETTING] = BIT(ASAHI_STATE_RUNNING) | BIT(ASAHI_STATE_FAILED) |
				  BIT(ASAHI_STATE_WEDGED) | BIT(ASAHI_STATE_UNPLUGGED),
	[ASAHI_STATE_SUSPENDED] = BIT(ASAHI_STATE_RUNNING) | BIT(ASAHI_STATE_FAILED) |
				  BIT(ASAHI_STATE_RESETTING) | BIT(ASAHI_STATE_UNPLUGGED),
	[ASAHI_STATE_WEDGED] = BIT(ASAHI_STATE_UNPLUGGED),
};

static const char * const asahi_state_names[ASAHI_STATES] = {
	[ASAHI_STATE_STARTING] = "starting",
	[ASAHI_STATE_RUNNING] = "running",
	[ASAHI_STATE_FAILED] = "failed",
	[ASAHI_STATE_RESETTING] = "resetting",
	[ASAHI_STATE_SUSPENDED] = "suspended",
	[ASAHI_STATE_WEDGED] = "wedged",
	[ASAHI_STATE_UNPLUGGED] = "unplugged",
};

/**
 * asahi_state_init() - begin with STARTING and a fresh firmware
 * @state: state of a device, zeroed
 *
 * Any context.
 */
void asahi_state_init(struct asahi_state *state)
{
	spin_lock_init(&state->lock);
	state->now = ASAHI_STATE_STARTING;
	state->fw = ASAHI_FW_FRESH;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_init);

/**
 * asahi_state_legal() - is there such a transition?
 * @from: state
 * @to: another
 *
 * Any context.
 *
 * Return: true if the drawing has it.
 */
bool asahi_state_legal(enum asahi_state_id from, enum asahi_state_id to)
{
	return asahi_state_next[from] & BIT(to);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_legal);

/**
 * asahi_state_move() - change the state
 * @adev: device
 * @from: state that it is in, as far as the caller knows
 * @to: a state that may follow
 *
 * Any context, any locks.
 *
 * Return: false if it was in another state; nothing has changed then.
 */
bool asahi_state_move(struct asahi_device *adev, enum asahi_state_id from,
		      enum asahi_state_id to)
{
	struct asahi_state *state = &adev->state;

	if (WARN_ON_ONCE(!asahi_state_legal(from, to)))
		return false;

	guard(spinlock_irqsave)(&state->lock);
	if (state->now != from)
		return false;

	WRITE_ONCE(state->now, to);
	if (to == ASAHI_STATE_RUNNING)
		state->why = NULL;
	trace_asahi_state(adev, asahi_state_names[from], asahi_state_names[to], "");
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_move);

/**
 * asahi_state_unplug() - the hardware is gone, or must not be touched any more
 * @adev: device
 *
 * Any context, any locks.
 */
void asahi_state_unplug(struct asahi_device *adev)
{
	struct asahi_state *state = &adev->state;

	guard(spinlock_irqsave)(&state->lock);
	trace_asahi_state(adev, asahi_state_names[state->now],
			  asahi_state_names[ASAHI_STATE_UNPLUGGED], "");
	WRITE_ONCE(state->now, ASAHI_STATE_UNPLUGGED);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_unplug);

static bool asahi_state_try_fail(struct asahi_device *adev, const char *why)
{
	struct asahi_state *state = &adev->state;

	guard(spinlock_irqsave)(&state->lock);

	if (!asahi_state_legal(state->now, ASAHI_STATE_FAILED))
		return false;
	/* Nothing is wrong with a firmware that has not been started again yet. */
	if (state->now == ASAHI_STATE_RESETTING && state->fw != ASAHI_FW_RUNNING)
		return false;

	trace_asahi_state(adev, asahi_state_names[state->now],
			  asahi_state_names[ASAHI_STATE_FAILED], why);
	WRITE_ONCE(state->now, ASAHI_STATE_FAILED);
	if (state->fw == ASAHI_FW_RUNNING)
		WRITE_ONCE(state->fw, ASAHI_FW_FAILED);
	state->why = why;
	return true;
}

/**
 * asahi_state_fail() - the firmware does not do its part
 * @adev: device
 * @why: end of a sentence that begins with "firmware failed: "; must stay
 *
 * The first reason counts; nothing happens when it has failed already, or the
 * device goes away. Otherwise all fences of what is in flight signal soon.
 * Process or atomic context, not from hard interrupts, any locks.
 */
void asahi_state_fail(struct asahi_device *adev, const char *why)
{
	struct asahi_state *state = &adev->state;

	if (!asahi_state_try_fail(adev, why))
		return;

	drm_err(&adev->drm, "firmware failed: %s\n", why);
	if (state->wq)
		queue_work(state->wq, state->reset);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_fail);

/**
 * asahi_state_begin_reset() - change the state to RESETTING
 * @adev: device
 * @from: FAILED or SUSPENDED
 * @doomed: it is known already that the firmware is not going to start again
 *
 * Any context, any locks.
 *
 * Return: false if the device was in another state; nothing has changed then.
 */
bool asahi_state_begin_reset(struct asahi_device *adev, enum asahi_state_id from, bool doomed)
{
	if (!asahi_state_move(adev, from, ASAHI_STATE_RESETTING))
		return false;

	WRITE_ONCE(adev->state.doomed, doomed);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_begin_reset);

/**
 * asahi_state_repeat_reset() - a reset has not succeeded, though the next one may
 * @adev: device in state RESETTING, or FAILED already
 *
 * Any context, any locks.
 */
void asahi_state_repeat_reset(struct asahi_device *adev)
{
	struct asahi_state *state = &adev->state;

	asahi_state_move(adev, ASAHI_STATE_RESETTING, ASAHI_STATE_FAILED);
	if (state->wq)
		queue_work(state->wq, state->reset);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_repeat_reset);

/**
 * asahi_state_set_fw() - the firmware has been started or stopped
 * @adev: device
 * @fw: how far it is now
 *
 * Any context.
 */
void asahi_state_set_fw(struct asahi_device *adev, enum asahi_fw_state fw)
{
	guard(spinlock_irqsave)(&adev->state.lock);
	WRITE_ONCE(adev->state.fw, fw);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_set_fw);

/**
 * asahi_state_get() - the state
 * @adev: device
 *
 * Any context; may be outdated at once.
 *
 * Return: the state.
 */
enum asahi_state_id asahi_state_get(struct asahi_device *adev)
{
	return READ_ONCE(adev->state.now);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_get);

/**
 * asahi_state_fw() - how far the firmware is
 * @adev: device
 *
 * Any context.
 *
 * Return: what asahi_state_set_fw() was told last.
 */
enum asahi_fw_state asahi_state_fw(struct asahi_device *adev)
{
	return READ_ONCE(adev->state.fw);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_fw);

/**
 * asahi_state_lost() - is it all over?
 * @adev: device
 *
 * Any context. The answer may change from false to true at any time, never
 * back.
 *
 * Return: true if nothing will ever complete again.
 */
bool asahi_state_lost(struct asahi_device *adev)
{
	enum asahi_state_id now = asahi_state_get(adev);

	return now == ASAHI_STATE_WEDGED || now == ASAHI_STATE_UNPLUGGED;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_lost);

/**
 * asahi_state_doomed() - is this reset going to fail?
 * @adev: device in state RESETTING
 *
 * For pre_reset verbs.
 *
 * Return: true if it is known that the device is going to be wedged.
 */
bool asahi_state_doomed(struct asahi_device *adev)
{
	return READ_ONCE(adev->state.doomed);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_doomed);

/**
 * asahi_state_fw_alive() - is there anybody to answer?
 * @adev: device
 *
 * Any context. It is no promise that an answer will come, but all waits for
 * the firmware end when this becomes false.
 *
 * Return: true from the firmware's start until it is stopped or fails; also while
 * the device goes away, for what has to be flushed then.
 */
bool asahi_state_fw_alive(struct asahi_device *adev)
{
	if (asahi_state_fw(adev) != ASAHI_FW_RUNNING)
		return false;

	switch (asahi_state_get(adev)) {
	case ASAHI_STATE_FAILED:
	case ASAHI_STATE_WEDGED:
		return false;
	default:
		return true;
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_fw_alive);

/**
 * asahi_state_name() - name of a state, for people
 * @id: state
 *
 * Any context.
 *
 * Return: a constant.
 */
const char *asahi_state_name(enum asahi_state_id id)
{
	return asahi_state_names[id];
}
EXPORT_SYMBOL_IF_KUNIT(asahi_state_name);
