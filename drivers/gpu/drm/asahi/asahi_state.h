/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The device's state, and who may change it.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_STATE_H
#define ASAHI_STATE_H

#include <linux/compiler.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct asahi_device;

/**
 * enum asahi_state_id - states of the device
 * @ASAHI_STATE_STARTING: being probed
 * @ASAHI_STATE_RUNNING: at work
 * @ASAHI_STATE_FAILED: the firmware has crashed or is stuck; the reset worker
 *	has not begun yet
 * @ASAHI_STATE_RESETTING: the reset worker is at it
 * @ASAHI_STATE_SUSPENDED: asleep
 * @ASAHI_STATE_WEDGED: the firmware has failed for good
 * @ASAHI_STATE_UNPLUGGED: the driver has been unbound, or probe failed
 * @ASAHI_STATES: number of states
 */
enum asahi_state_id {
	ASAHI_STATE_STARTING,
	ASAHI_STATE_RUNNING,
	ASAHI_STATE_FAILED,
	ASAHI_STATE_RESETTING,
	ASAHI_STATE_SUSPENDED,
	ASAHI_STATE_WEDGED,
	ASAHI_STATE_UNPLUGGED,
	ASAHI_STATES,
};

/**
 * enum asahi_fw_state - how far the firmware is
 * @ASAHI_FW_FRESH: has not had an InitData since it was started
 * @ASAHI_FW_RUNNING: has had one, works
 * @ASAHI_FW_STOPPED: has booted, mostly with one, and has been quiesced
 * @ASAHI_FW_FAILED: has had one, and has crashed or is stuck
 */
enum asahi_fw_state {
	ASAHI_FW_FRESH,
	ASAHI_FW_RUNNING,
	ASAHI_FW_STOPPED,
	ASAHI_FW_FAILED,
};

/**
 * struct asahi_state - state of one device
 * @why: what made it fail first; a constant, or NULL
 * @doomed: the reset that is under way is going to fail
 * @reset: worker that asahi_state_fail() queues
 * @wq: where
 */
struct asahi_state {
	/** @lock: protects all changes; taken inside of everything else */
	spinlock_t lock;
	/** @now: the state; read at any time */
	enum asahi_state_id now;
	/** @fw: how far the firmware is; read at any time */
	enum asahi_fw_state fw;
	const char *why;
	bool doomed;
	struct work_struct *reset;
	struct workqueue_struct *wq;
};

void asahi_state_init(struct asahi_state *state);
bool asahi_state_legal(enum asahi_state_id from, enum asahi_state_id to);
bool asahi_state_move(struct asahi_device *adev, enum asahi_state_id from,
		      enum asahi_state_id to);
void asahi_state_unplug(struct asahi_device *adev);
void asahi_state_fail(struct asahi_device *adev, const char *why);
bool asahi_state_begin_reset(struct asahi_device *adev, enum asahi_state_id from, bool doomed);
void asahi_state_repeat_reset(struct asahi_device *adev);
void asahi_state_set_fw(struct asahi_device *adev, enum asahi_fw_state fw);

enum asahi_state_id asahi_state_get(struct asahi_device *adev);
enum asahi_fw_state asahi_state_fw(struct asahi_device *adev);
bool asahi_state_lost(struct asahi_device *adev);
bool asahi_state_doomed(struct asahi_device *adev);
bool asahi_state_fw_alive(struct asahi_device *adev);
const char *asahi_state_name(enum asahi_state_id id);

#endif
