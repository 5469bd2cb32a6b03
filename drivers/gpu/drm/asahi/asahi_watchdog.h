/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Watchdog: what the firmware owes, and when it is given up.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_WATCHDOG_H
#define ASAHI_WATCHDOG_H

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct asahi_block;
struct asahi_device;

/** ASAHI_WATCHDOG_LOOK_MS - how often a queue with work in flight is looked at */
#define ASAHI_WATCHDOG_LOOK_MS 10000

/** ASAHI_WATCHDOG_LOOK_TIME - the same in jiffies */
#define ASAHI_WATCHDOG_LOOK_TIME msecs_to_jiffies(ASAHI_WATCHDOG_LOOK_MS)

/**
 * ASAHI_WATCHDOG_HALT_MS - how long the firmware may be halted
 *
 * For so long a halt after a failure is looked for, and for so long all other waits
 * stand still while the firmware has halted.
 */
#define ASAHI_WATCHDOG_HALT_MS 10000

/**
 * enum asahi_debt - what the firmware owes
 * @ASAHI_DEBT_CRASH: not to crash
 * @ASAHI_DEBT_EVENTS: an event ring with valid pointers
 * @ASAHI_DEBT_SLEEP: to stop for sleep
 * @ASAHI_DEBT_AWAKE: to go on when sleep fails
 * @ASAHI_DEBT_ANSWER: to answer after sleep
 * @ASAHI_DEBT_WAKE: to wake up
 * @ASAHI_DEBT_MAILBOX: to take messages out of its mailbox
 * @ASAHI_DEBT_WORK: to take work out of the rings of pipes
 * @ASAHI_DEBT_HANDOFF: to give the handoff lock back
 * @ASAHI_DEBT_CONTROL: to read device control messages
 * @ASAHI_DEBT_START: to read the first of them
 * @ASAHI_DEBT_FLUSH: to read requests for flushes
 * @ASAHI_DEBT_GROWTH: room for answers about vertex buffers
 * @ASAHI_DEBT_STAMP: stamps that work was given
 * @ASAHI_DEBT_JOB: to complete work that runs
 * @ASAHI_DEBT_RETIRE: to retire work that it has taken down
 * @ASAHI_DEBTS: number of debts
 */
enum asahi_debt {
	ASAHI_DEBT_CRASH,
	ASAHI_DEBT_EVENTS,
	ASAHI_DEBT_SLEEP,
	ASAHI_DEBT_AWAKE,
	ASAHI_DEBT_ANSWER,
	ASAHI_DEBT_WAKE,
	ASAHI_DEBT_MAILBOX,
	ASAHI_DEBT_WORK,
	ASAHI_DEBT_HANDOFF,
	ASAHI_DEBT_CONTROL,
	ASAHI_DEBT_START,
	ASAHI_DEBT_FLUSH,
	ASAHI_DEBT_GROWTH,
	ASAHI_DEBT_STAMP,
	ASAHI_DEBT_JOB,
	ASAHI_DEBT_RETIRE,
	ASAHI_DEBTS,
};

/**
 * struct asahi_watchdog_ops - how the firmware is asked
 * @signs: a number that changes with everything that the firmware does by itself, or
 *	reads; any context
 * @ask: have the firmware read a message that changes nothing; process context, takes
 *	two seconds at most; reports an unread message to asahi_watchdog_late()
 * @halted: whether the firmware has halted and waits to be told to go on; any context
 */
struct asahi_watchdog_ops {
	u32 (*signs)(struct asahi_device *adev);
	int (*ask)(struct asahi_device *adev);
	bool (*halted)(struct asahi_device *adev);
};

/**
 * struct asahi_watchdog - what the watchdog knows of a device
 *
 * Private to asahi_watchdog.c, but for its place in &struct asahi_device: it is told of
 * failures before the first block is up.
 */
struct asahi_watchdog {
	/** @ops: constant while the firmware runs; NULL while there are no rings */
	const struct asahi_watchdog_ops *ops;
	/** @late: how often each debt was not paid in time */
	atomic_t late[ASAHI_DEBTS];
	/** @lock: protects @strikes, @strike_signs and @silent_since; a leaf */
	spinlock_t lock;
	/** @strikes: device control messages in a row that were not read, in silence */
	unsigned int strikes;
	/** @strike_signs: signs of life at the last of them */
	u32 strike_signs;
	/** @silent_since: time of the first of them */
	ktime_t silent_since;
	/** @running_at: when work was last seen to run, in jiffies */
	unsigned long running_at;
	/** @adev: device, for @ask */
	struct asahi_device *adev;
	/** @wq: for @ask only; NULL before the block is up */
	struct workqueue_struct *wq;
	/** @ask: asks the firmware for a sign of life */
	struct work_struct ask;
};

/**
 * struct asahi_wait - one wait for the firmware
 * @adev: device
 * @debt: what is waited for
 * @looked: time of the last look
 * @waited_us: how long the firmware could have paid, microseconds
 * @halted_us: how long it could not, because it had halted
 * @late: it is late, and the watchdog knows
 */
struct asahi_wait {
	struct asahi_device *adev;
	enum asahi_debt debt;
	ktime_t looked;
	s64 waited_us;
	s64 halted_us;
	bool late;
};

/**
 * asahi_wait_until() - wait for the firmware
 * @_adev: device
 * @_debt: what it owes
 * @_cond: true when it has paid; evaluated again and again
 *
 * Sleeps between two looks. Time in which the firmware has halted does not count, up to
 * ASAHI_WATCHDOG_HALT_MS. Process context; allocates nothing.
 *
 * Return: 0; -ENODEV if the firmware is not alive, or has been given up for that;
 * -ETIMEDOUT if it is late and the caller is to go on without it.
 */
#define asahi_wait_until(_adev, _debt, _cond) \
({ \
	struct asahi_wait __wait; \
	int __ret = 0; \
	asahi_wait_begin(&__wait, _adev, _debt); \
	for (;;) { \
		if (_cond) { \
			__ret = 0; \
			break; \
		} \
		if (__ret) \
			break; \
		__ret = asahi_wait_on(&__wait); \
	} \
	__ret; \
})

/**
 * struct asahi_watchdog_look - state of a queue's work, at one look
 * @now: time of the look
 * @key: number that changes with each stamp and each start of the queue's work
 * @others: number that grows with each job that is completed at the queue's
 *	priority or above
 * @running: work of the queue has started and not ended
 * @busy: the GPU has run or completed work of anybody since the last look
 * @owed: the firmware has to retire work of the queue, for which it does not need the GPU
 */
struct asahi_watchdog_look {
	ktime_t now;
	u64 key;
	u64 others;
	bool running;
	bool busy;
	bool owed;
};

/**
 * struct asahi_watchdog_queue - memory of the looks at a queue
 * @key: of the last look
 * @others: of the last look
 * @moved: time of the last look that found one of these changed
 * @strikes: looks in a row that found a GPU that does nothing although it has work
 * @cut: the memory of the queue's client has been taken away, at @moved
 * @emptied: and then everything
 *
 * Protected by the lock of the queue's timeline.
 */
struct asahi_watchdog_queue {
	u64 key;
	u64 others;
	ktime_t moved;
	unsigned int strikes;
	bool cut;
	bool emptied;
};

/**
 * enum asahi_remedy - what is to be done about a queue's work
 * @ASAHI_REMEDY_NONE: nothing
 * @ASAHI_REMEDY_ASK: the firmware has to give a sign of life
 * @ASAHI_REMEDY_ANNOUNCE: likewise, and to be told of the work again
 * @ASAHI_REMEDY_CUT: the work is lost, and its client's memory has to be taken away
 * @ASAHI_REMEDY_EMPTY: that did not help, and all that its context leads to has to go
 * @ASAHI_REMEDY_GIVE_UP: that did not help, and the firmware has to be given up
 */
enum asahi_remedy {
	ASAHI_REMEDY_NONE,
	ASAHI_REMEDY_ASK,
	ASAHI_REMEDY_ANNOUNCE,
	ASAHI_REMEDY_CUT,
	ASAHI_REMEDY_EMPTY,
	ASAHI_REMEDY_GIVE_UP,
};

extern const struct asahi_block asahi_block_watchdog;

void asahi_watchdog_init(struct asahi_watchdog *watchdog, struct asahi_device *adev);
void asahi_watchdog_set_ops(struct asahi_device *adev, const struct asahi_watchdog_ops *ops);

void asahi_watchdog_give_up(struct asahi_device *adev, enum asahi_debt debt);
void asahi_watchdog_late(struct asahi_device *adev, enum asahi_debt debt);
void asahi_watchdog_paid(struct asahi_device *adev, enum asahi_debt debt);
u32 asahi_watchdog_signs(struct asahi_device *adev);
bool asahi_watchdog_halted(struct asahi_device *adev);

void asahi_wait_begin(struct asahi_wait *wait, struct asahi_device *adev, enum asahi_debt debt);
int asahi_wait_on(struct asahi_wait *wait);

enum asahi_remedy asahi_watchdog_judge(struct asahi_watchdog_queue *queue,
				       const struct asahi_watchdog_look *look, s64 limit_ms);
void asahi_watchdog_note_running(struct asahi_device *adev);
bool asahi_watchdog_saw_running(struct asahi_device *adev);

#endif
