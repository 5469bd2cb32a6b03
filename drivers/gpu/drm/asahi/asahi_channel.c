// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Channels: the rings between driver and firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/iopoll.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_print.h>

#include <agx/agx_rtkit.h>

#include "asahi_abi.h"
#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_doorbell.h"
#include "asahi_fw_channels.h"
#include "asahi_fwlog.h"
#include "asahi_heap.h"
#include "asahi_relay.h"
#include "asahi_rest.h"
#include "asahi_ring.h"
#include "asahi_state.h"
#include "asahi_telemetry.h"
#include "asahi_watchdog.h"

/**
 * DOC: Channels
 *
 * To the firmware: twelve pipes (vertex, fragment and compute work at each of
 * four priorities), device control, and firmware control for cache flushes.
 * Each has a spinlock of its own. Jobs start through the pipes, also from the ioctls of
 * clients that are scheduled badly, so nobody can be held up by one that sleeps with it. Those
 * that wait for the firmware to read a control message are kept apart by a mutex, under which
 * nothing is allocated and no fence is waited for.
 *
 * From the firmware: events, log, ktrace and statistics. After each notification a
 * bottom half reads the events. It has the stamps looked at that the firmware tells of,
 * without waking up anybody, and leaves all other events to an ordered worker (see
 * "Relay"). The worker is the only reader of the other rings, and runs when there is
 * something for it. Both hand events up through &struct asahi_channel_ops, so that the
 * rings know nothing of work and of recovery. Where sleep and reset need to know what the
 * firmware has said, they disable the bottom half and read the events themselves.
 *
 * A write pointer of the event ring that is outside the ring means that no
 * completion and no failure can be received any more: the firmware is given up.
 * The other rings only inform, so a broken one is not read any more.
 *
 * A device control message is waited for until the firmware has read it. If it
 * does not in a second, the caller is told and goes on: that happens where the
 * firmware is busy, and what the message asked for is done later or never. The
 * watchdog judges a firmware that does not read.
 */

/**
 * struct asahi_tx_channel - a channel to the firmware
 * @ring: ring
 * @state: memory of the pointers
 * @entries: memory of the entries
 */
struct asahi_tx_channel {
	/**
	 * @sender: held by a sender that waits until there is room or until its message is
	 * read, as nobody does with a pipe, and by verbs; taken before @lock
	 */
	struct mutex sender;
	/** @lock: protects @ring */
	spinlock_t lock;
	struct asahi_tx_ring ring;
	struct asahi_fwbuf state;
	struct asahi_fwbuf entries;
};

/**
 * struct asahi_rx_channel - a channel from the firmware
 * @ring: one ring, or one for each log level; its reader's alone
 * @rings: how many
 * @state: memory of the pointers
 * @entries: memory of the entries
 * @broken: a pointer was out of range; nothing is read any more
 */
struct asahi_rx_channel {
	struct asahi_rx_ring ring[ASAHI_FW_LOG_LEVELS];
	unsigned int rings;
	struct asahi_fwbuf state;
	struct asahi_fwbuf entries;
	bool broken;
};

/**
 * struct asahi_channels - all channels
 * @adev: device
 * @ops: who is told of events; constant once the firmware runs
 * @pipe: work pipes by priority and kind
 * @device_control: device control
 * @fwctl: firmware control
 * @event: events
 * @log: firmware log, one ring for each level
 * @log_payload: texts of the log
 * @fwlog: its last lines
 * @ktrace: firmware trace
 * @stats: power statistics
 * @bell: bottom half that reads @event
 * @relay: events that it leaves to @notify
 * @wq: ordered, for @notify only
 * @notify: worker that reads the other rings, and handles what @bell leaves to it
 * @heard: entries that the firmware has sent
 * @deaf: nothing is read any more, since the firmware has failed and goes on writing; changes
 *	with the device's mutex for verbs
 */
struct asahi_channels {
	struct asahi_device *adev;
	const struct asahi_channel_ops *ops;
	struct asahi_tx_channel pipe[AGX_PRIORITY_COUNT][AGX_PIPE_COUNT];
	struct asahi_tx_channel device_control;
	struct asahi_tx_channel fwctl;
	struct asahi_rx_channel event;
	struct asahi_rx_channel log;
	struct asahi_fwbuf log_payload;
	struct asahi_fwlog *fwlog;
	struct asahi_rx_channel ktrace;
	struct asahi_rx_channel stats;
	struct work_struct bell;
	struct asahi_relay relay;
	struct workqueue_struct *wq;
	struct work_struct notify;
	atomic_t heard;
	bool deaf;
};

static const char * const asahi_channel_pipes[AGX_PIPE_COUNT] = {
	"vertex", "fragment", "compute"
};

/* To the firmware. */

static int asahi_channel_wait_room(struct asahi_device *adev, struct asahi_tx_channel *ch,
				   enum asahi_debt debt)
{
	lockdep_assert_held(&ch->sender);

	return asahi_wait_until(adev, debt, !asahi_tx_ring_full(&ch->ring));
}

static int asahi_channel_wait_drained(struct asahi_device *adev, struct asahi_tx_channel *ch,
				      enum asahi_debt debt)
{
	lockdep_assert_held(&ch->sender);

	return asahi_wait_until(adev, debt, asahi_tx_ring_drained(&ch->ring));
}

/**
 * asahi_channel_try_reserve() - as asahi_channel_reserve(), without a wait
 * @adev: device
 * @prio: firmware priority, 0 (highest) to 3
 * @pipe: AGX_PIPE_*
 *
 * Process context; allocates nothing.
 *
 * Return: true if there was room.
 */
bool asahi_channel_try_reserve(struct asahi_device *adev, unsigned int prio, unsigned int pipe)
{
	struct asahi_tx_channel *ch = &adev->channels->pipe[prio][pipe];

	guard(spinlock)(&ch->lock);

	return asahi_tx_ring_reserve(&ch->ring);
}

/**
 * asahi_channel_reserve() - wait until there is room for a message of new work
 * @adev: device
 * @prio: firmware priority, 0 (highest) to 3
 * @pipe: AGX_PIPE_*
 *
 * The room stays until asahi_channel_run() or asahi_channel_unreserve().
 * Process context, with no lock that the notification worker takes: a firmware
 * that has halted reads nothing until that worker lets it go on. Waits as long
 * as the watchdog allows if the firmware is behind; allocates nothing.
 *
 * Return: 0, -ENODEV if the firmware is not alive, or has been given up for that.
 */
int asahi_channel_reserve(struct asahi_device *adev, unsigned int prio, unsigned int pipe)
{
	return asahi_wait_until(adev, ASAHI_DEBT_WORK,
				asahi_channel_try_reserve(adev, prio, pipe));
}

/**
 * asahi_channel_unreserve() - give room for a message back
 * @adev: device
 * @prio: as for asahi_channel_reserve()
 * @pipe: as for asahi_channel_reserve()
 *
 * Process context; allocates nothing.
 */
void asahi_channel_unreserve(struct asahi_device *adev, unsigned int prio, unsigned int pipe)
{
	struct asahi_tx_channel *ch = &adev->channels->pipe[prio][pipe];

	guard(spinlock)(&ch->lock);
	ch->ring.reserved--;
}

/**
 * asahi_channel_pipe_read() - has the firmware read of all work?
 * @adev: device
 * @prio: as for asahi_channel_reserve()
 * @pipe: as for asahi_channel_reserve()
 *
 * May be wrong about messages that are being sent meanwhile. Any context.
 *
 * Return: true if no message of new work is left in the ring.
 */
bool asahi_channel_pipe_read(struct asahi_device *adev, unsigned int prio, unsigned int pipe)
{
	return asahi_tx_ring_drained(&adev->channels->pipe[prio][pipe].ring);
}

/**
 * asahi_channel_run() - tell the firmware of new work
 * @adev: device
 * @prio: firmware priority, 0 (highest) to 3
 * @msg: the work; room for it was reserved
 *
 * The doorbell is the caller's to ring, after all messages of a job. Process
 * context; does not wait for the firmware; allocates nothing.
 *
 * Return: 0, -ENODEV if the firmware is not alive.
 */
int asahi_channel_run(struct asahi_device *adev, unsigned int prio,
		      const struct asahi_pipe_msg *msg)
{
	struct asahi_tx_channel *ch;

	if (WARN_ON_ONCE(prio >= AGX_PRIORITY_COUNT || msg->pipe_type >= AGX_PIPE_COUNT))
		return -EINVAL;

	ch = &adev->channels->pipe[prio][msg->pipe_type];
	guard(spinlock)(&ch->lock);

	ch->ring.reserved--;
	if (!asahi_state_fw_alive(adev))
		return -ENODEV;

	adev->abi->channel->encode_pipe(asahi_tx_ring_entry(&ch->ring), msg);
	asahi_tx_ring_commit(&ch->ring);
	return 0;
}

static void asahi_channel_put_dc(struct asahi_device *adev, const struct asahi_dc_msg *msg)
{
	struct asahi_tx_channel *ch = &adev->channels->device_control;

	guard(spinlock)(&ch->lock);
	adev->abi->channel->encode_dc(asahi_tx_ring_entry(&ch->ring), msg);
	asahi_tx_ring_commit(&ch->ring);
}

static int asahi_channel_send_dc(struct asahi_device *adev, const struct asahi_dc_msg *msg)
{
	struct asahi_tx_channel *ch = &adev->channels->device_control;
	int ret;

	lockdep_assert_held(&ch->sender);

	ret = asahi_channel_wait_room(adev, ch, ASAHI_DEBT_CONTROL);
	if (ret)
		return ret == -ETIMEDOUT ? -EBUSY : ret;

	asahi_channel_put_dc(adev, msg);
	asahi_doorbell_post(adev, AGX_DOORBELL_DEVICE_CONTROL);

	return asahi_channel_wait_drained(adev, ch, ASAHI_DEBT_CONTROL);
}

/**
 * asahi_channel_device_control() - have the firmware do something
 * @adev: device
 * @msg: what
 *
 * Waits until the firmware has read the message, two seconds at most if its
 * ring is full, and longer only while it has halted. What was not read in that
 * time stays in the ring, so the firmware may still come to it: whatever @msg
 * refers to must not be freed then. The watchdog hears of it. Process context,
 * may sleep; allocates nothing.
 *
 * Return: 0; -ENODEV if the firmware does not run or died; -ETIMEDOUT if it has
 * not read the message; -EBUSY if there was no room for it in the ring.
 */
int asahi_channel_device_control(struct asahi_device *adev, const struct asahi_dc_msg *msg)
{
	struct asahi_channels *chs = adev->channels;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(asahi_channel_device_control, adev, msg);
	guard(mutex)(&chs->device_control.sender);

	if (!asahi_state_fw_alive(adev))
		return -ENODEV;

	ret = asahi_channel_send_dc(adev, msg);
	if (!ret)
		asahi_watchdog_paid(adev, ASAHI_DEBT_CONTROL);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_channel_device_control);

/**
 * asahi_channel_dc_read() - has the firmware read all device control messages?
 * @adev: device
 *
 * May be wrong about messages that are being sent meanwhile. Any context.
 *
 * Return: true if it has, and is alive.
 */
bool asahi_channel_dc_read(struct asahi_device *adev)
{
	return asahi_state_fw_alive(adev) &&
	       asahi_tx_ring_drained(&adev->channels->device_control.ring);
}

/* A context that cannot be: nothing is destroyed, but the cache is flushed. */
static const struct asahi_dc_msg asahi_channel_flush_msg = {
	.type = ASAHI_DC_DESTROY_CONTEXT,
	.destroy_context = { .ctx_0 = 0xff, .ctx_1 = 0xff },
};

/**
 * asahi_channel_flush_cache() - flush the firmware's whole cache
 * @adev: device
 *
 * Process context, may sleep; allocates nothing.
 *
 * Return: as asahi_channel_device_control(); 0 also if the firmware does not
 * run, since it caches nothing then.
 */
int asahi_channel_flush_cache(struct asahi_device *adev)
{
	if (!asahi_state_fw_alive(adev))
		return 0;

	return asahi_channel_device_control(adev, &asahi_channel_flush_msg);
}

/**
 * asahi_channel_signs() - what the firmware has done so far
 * @adev: device that has rings
 *
 * May be wrong about what happens meanwhile. Any context.
 *
 * Return: a number that changes when it sends or reads anything through a ring.
 */
u32 asahi_channel_signs(struct asahi_device *adev)
{
	struct asahi_channels *chs = adev->channels;
	u32 signs = atomic_read(&chs->heard);

	for (unsigned int prio = 0; prio < AGX_PRIORITY_COUNT; prio++)
		for (unsigned int pipe = 0; pipe < AGX_PIPE_COUNT; pipe++)
			signs += asahi_tx_ring_read_so_far(&chs->pipe[prio][pipe].ring);
	signs += asahi_tx_ring_read_so_far(&chs->device_control.ring);
	signs += asahi_tx_ring_read_so_far(&chs->fwctl.ring);
	return signs;
}

/**
 * asahi_channel_ping() - does the firmware answer?
 * @adev: device whose firmware should run
 *
 * Sends a message that changes nothing and waits until it is read, a second at
 * most. Process context, may sleep; allocates nothing.
 *
 * Return: as asahi_channel_device_control().
 */
int asahi_channel_ping(struct asahi_device *adev)
{
	return asahi_channel_device_control(adev, &asahi_channel_flush_msg);
}

/**
 * asahi_channel_post_initialize() - leave the first message for the firmware
 * @adev: device whose rings are as new
 *
 * Process context, before the firmware is started; the doorbell comes with the
 * boot.
 */
void asahi_channel_post_initialize(struct asahi_device *adev)
{
	const struct asahi_dc_msg msg = { .type = ASAHI_DC_INITIALIZE };

	asahi_channel_put_dc(adev, &msg);
}

/**
 * asahi_channel_wait_initialized() - wait until the firmware has started on its rings
 * @adev: device, booted
 *
 * Process context; takes five seconds at most.
 *
 * Return: 0, -ENODEV if the firmware crashed, -ETIMEDOUT.
 */
int asahi_channel_wait_initialized(struct asahi_device *adev)
{
	struct asahi_tx_channel *ch = &adev->channels->device_control;

	guard(mutex)(&ch->sender);
	return asahi_channel_wait_drained(adev, ch, ASAHI_DEBT_START);
}

static void asahi_channel_put_fwctl(struct asahi_tx_channel *ch, const struct asahi_fwctl_msg *msg)
{
	struct asahi_fw_fwctl_msg *entry;

	guard(spinlock)(&ch->lock);
	entry = asahi_tx_ring_entry(&ch->ring);
	entry->addr = cpu_to_le64(msg->va);
	entry->slot = cpu_to_le32(msg->slot);
	entry->page_count = cpu_to_le16(msg->pages);
	entry->unk_12 = cpu_to_le16(ASAHI_FWCTL_UNK_12);
	asahi_tx_ring_commit(&ch->ring);
}

/**
 * asahi_channel_fwctl() - ask for the flush of a cached range
 * @adev: device
 * @msg: the range
 *
 * Waits until the firmware has read the message, a second at most. Process
 * context, may sleep; allocates nothing.
 *
 * Return: 0, -ENODEV if the firmware died, -ETIMEDOUT.
 */
int asahi_channel_fwctl(struct asahi_device *adev, const struct asahi_fwctl_msg *msg)
{
	struct asahi_tx_channel *ch = &adev->channels->fwctl;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(asahi_channel_fwctl, adev, msg);
	guard(mutex)(&ch->sender);

	ret = asahi_channel_wait_room(adev, ch, ASAHI_DEBT_FLUSH);
	if (ret)
		return ret;

	asahi_channel_put_fwctl(ch, msg);
	asahi_doorbell_post(adev, ASAHI_DOORBELL_FWCTL);
	return asahi_channel_wait_drained(adev, ch, ASAHI_DEBT_FLUSH);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_channel_fwctl);

/* From the firmware. */

/* The event ring carries completions and failures; the others only inform. */
static void asahi_channel_rx_broken(struct asahi_channels *chs, struct asahi_rx_channel *ch,
				    const char *name)
{
	WRITE_ONCE(ch->broken, true);
	drm_err(&chs->adev->drm, "the firmware's write pointer of ring %s is broken\n", name);
	if (ch == &chs->event)
		asahi_watchdog_give_up(chs->adev, ASAHI_DEBT_EVENTS);
}

static bool asahi_channel_rx_get(struct asahi_channels *chs, struct asahi_rx_channel *ch,
				 void *entry, const char *name)
{
	int ret;

	if (ch->broken)
		return false;

	ret = asahi_rx_ring_get(&ch->ring[0], entry);
	if (ret < 0)
		asahi_channel_rx_broken(chs, ch, name);
	if (ret <= 0)
		return false;

	atomic_inc(&chs->heard);
	return true;
}

static void asahi_channel_handle_event(struct asahi_channels *chs,
				       const struct asahi_fw_event_msg *msg)
{
	const struct asahi_channel_ops *ops = chs->ops;
	struct asahi_device *adev = chs->adev;
	u32 type = le32_to_cpu(msg->type);

	switch (type) {
	case ASAHI_FW_EVENT_FAULT:
		ops->fault(adev);
		break;
	case ASAHI_FW_EVENT_TIMEOUT:
		ops->timeout(adev, le32_to_cpu(msg->timeout.counter),
			     (s32)le32_to_cpu(msg->timeout.event_slot));
		break;
	case ASAHI_FW_EVENT_GROW_TVB:
		ops->grow(adev, le32_to_cpu(msg->grow_tvb.vm_slot),
			  le32_to_cpu(msg->grow_tvb.buffer_slot),
			  le32_to_cpu(msg->grow_tvb.counter));
		break;
	case ASAHI_FW_EVENT_CHANNEL_ERROR:
		ops->channel_error(adev, le32_to_cpu(msg->channel_error.error_type),
				   le32_to_cpu(msg->channel_error.pipe_type),
				   le32_to_cpu(msg->channel_error.event_slot),
				   le32_to_cpu(msg->channel_error.event_value));
		break;
	default:
		asahi_telemetry_unknown(adev, ASAHI_SOURCE_EVENT, type);
	}
}

/* Returns whether there may be more. */
static bool asahi_channel_poll_relay(struct asahi_channels *chs)
{
	struct asahi_fw_event_msg msg;
	unsigned int n;

	for (n = 0; n < ASAHI_RELAY_EVENTS; n++) {
		if (!asahi_relay_get(&chs->relay, &msg))
			break;
		asahi_channel_handle_event(chs, &msg);
	}

	/* It has left in the ring what there was no room for. */
	if (n)
		queue_work(system_bh_wq, &chs->bell);

	return n == ASAHI_RELAY_EVENTS;
}

static void asahi_channel_stamps(void *priv, const u32 mask[4])
{
	struct asahi_channels *chs = priv;

	chs->ops->stamps(chs->adev, mask);
}

/* Returns whether there may be more. */
static bool asahi_channel_read_events(struct asahi_channels *chs)
{
	unsigned int count;
	int ret;

	/* A probe may have failed before there was a ring. */
	if (chs->event.broken || !chs->event.rings)
		return false;

	ret = asahi_relay_read(&chs->relay, &chs->event.ring[0], asahi_channel_stamps, chs, &count);
	atomic_add(count, &chs->heard);
	if (ret < 0)
		asahi_channel_rx_broken(chs, &chs->event, "event");

	return ret > 0;
}

static bool asahi_channel_unread(const struct asahi_rx_channel *ch)
{
	if (READ_ONCE(ch->broken))
		return false;

	for (unsigned int i = 0; i < ch->rings; i++)
		if (asahi_rx_ring_unread(&ch->ring[i]))
			return true;

	return false;
}

/* What the firmware writes after this look, it tells of once more. */
static bool asahi_channel_needs_worker(struct asahi_channels *chs)
{
	return !asahi_relay_empty(&chs->relay) || asahi_channel_unread(&chs->log) ||
	       asahi_channel_unread(&chs->ktrace) || asahi_channel_unread(&chs->stats);
}

/* Returns whether there may be more to read. */
static bool asahi_channel_answer(struct asahi_channels *chs)
{
	bool more = asahi_channel_read_events(chs);

	if (asahi_channel_needs_worker(chs))
		queue_work(chs->wq, &chs->notify);

	return more;
}

static void asahi_channel_bell_work(struct work_struct *work)
{
	struct asahi_channels *chs = container_of(work, struct asahi_channels, bell);

	if (asahi_channel_answer(chs))
		queue_work(system_bh_wq, &chs->bell);
}

static void asahi_channel_print_log(const struct asahi_fwlog_line *line, void *priv)
{
	struct asahi_device *adev = priv;

	if (line->level < ASAHI_FWLOG_WARNING)
		drm_dbg(&adev->drm, "firmware log %u: %*pE\n", line->level, line->len,
			line->text);
	else if (line->level == ASAHI_FWLOG_WARNING)
		dev_warn_ratelimited(adev->drm.dev, "firmware: %*pE\n", line->len, line->text);
	else
		dev_err_ratelimited(adev->drm.dev, "firmware: %*pE\n", line->len, line->text);
}

static void asahi_channel_count_log(enum asahi_source source, u32 type, void *priv)
{
	asahi_telemetry_unknown(priv, source, type);
}

static const struct asahi_fwlog_sink asahi_channel_log_sink = {
	.line = asahi_channel_print_log,
	.unknown = asahi_channel_count_log,
};

static bool asahi_channel_read_log(struct asahi_channels *chs, unsigned int level)
{
	const struct asahi_fw_log_payload *payloads = chs->log_payload.map;
	int ret;

	if (chs->log.broken)
		return false;

	ret = asahi_fwlog_read(chs->fwlog, &chs->log.ring[level], level,
			       payloads + level * ASAHI_FW_LOG_ENTRIES, &asahi_channel_log_sink,
			       chs->adev);
	if (ret < 0)
		asahi_channel_rx_broken(chs, &chs->log, "log");
	if (ret <= 0)
		return false;

	atomic_inc(&chs->heard);
	return true;
}

static bool asahi_channel_poll_log(struct asahi_channels *chs)
{
	unsigned int level, n;
	bool more = false;

	for (level = 0; level < ASAHI_FW_LOG_LEVELS; level++) {
		for (n = 0; n < ASAHI_FW_LOG_ENTRIES; n++) {
			if (!asahi_channel_read_log(chs, level))
				break;
		}
		more |= n == ASAHI_FW_LOG_ENTRIES;
	}

	return more;
}

static void asahi_channel_handle_ktrace(struct asahi_channels *chs,
					const struct asahi_fw_ktrace_msg *msg)
{
	if (msg->msg_type != cpu_to_le32(ASAHI_FW_KTRACE_MSG)) {
		asahi_telemetry_unknown(chs->adev, ASAHI_SOURCE_KTRACE,
					le32_to_cpu(msg->msg_type));
		return;
	}

	drm_dbg(&chs->adev->drm, "firmware trace: code %u channel %u thread %u\n", msg->code,
		msg->channel, msg->thread);
}

static bool asahi_channel_poll_ktrace(struct asahi_channels *chs)
{
	struct asahi_fw_ktrace_msg msg;
	unsigned int n;

	for (n = 0; n < ASAHI_FW_KTRACE_ENTRIES; n++) {
		if (!asahi_channel_rx_get(chs, &chs->ktrace, &msg, "ktrace"))
			return false;
		asahi_channel_handle_ktrace(chs, &msg);
	}

	return true;
}

static bool asahi_channel_poll_stats(struct asahi_channels *chs)
{
	/* Versions whose messages are shorter do not write the end. */
	struct asahi_fw_stats_msg msg = {};
	unsigned int n;

	for (n = 0; n < ASAHI_FW_STATS_ENTRIES; n++) {
		if (!asahi_channel_rx_get(chs, &chs->stats, &msg, "stats"))
			return false;
		asahi_telemetry_message(chs->adev, &msg);
	}

	return true;
}

static void asahi_channel_notify_work(struct work_struct *work)
{
	struct asahi_channels *chs = container_of(work, struct asahi_channels, notify);
	bool more;

	more = asahi_channel_poll_log(chs);
	more |= asahi_channel_poll_ktrace(chs);
	more |= asahi_channel_poll_stats(chs);
	more |= asahi_channel_poll_relay(chs);

	/* Others of this work's priority get their turn in between. */
	if (more)
		queue_work(chs->wq, &chs->notify);
}

/**
 * asahi_channel_notify() - the firmware has written something
 * @adev: device
 *
 * Any context.
 */
void asahi_channel_notify(struct asahi_device *adev)
{
	queue_work(system_bh_wq, &adev->channels->bell);
}

/**
 * asahi_channel_set_ops() - say who is told of events
 * @adev: device whose firmware has not been started
 * @ops: functions that live as long as the device
 *
 * Process context.
 */
void asahi_channel_set_ops(struct asahi_device *adev, const struct asahi_channel_ops *ops)
{
	adev->channels->ops = ops;
}

/**
 * asahi_channel_fwlog() - the firmware's last lines and last words
 * @adev: device with channels
 *
 * Return: the log, which lives as long as the device.
 */
struct asahi_fwlog *asahi_channel_fwlog(struct asahi_device *adev)
{
	return adev->channels->fwlog;
}

static int asahi_channel_show_log(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct drm_printer p = drm_seq_file_printer(m);

	asahi_fwlog_print(asahi_channel_fwlog(to_asahi_device(entry->dev)), &p);
	return 0;
}

static int asahi_channel_show_crash(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct drm_printer p = drm_seq_file_printer(m);

	asahi_fwlog_print_crash(asahi_channel_fwlog(to_asahi_device(entry->dev)), &p);
	return 0;
}

static void asahi_channel_init_debugfs(struct asahi_device *adev)
{
	drm_debugfs_add_file(&adev->drm, "firmware-log", asahi_channel_show_log, NULL);
	drm_debugfs_add_file(&adev->drm, "firmware-crash", asahi_channel_show_crash, NULL);
}

/**
 * asahi_channel_sync() - read what the firmware has written until now
 * @adev: device with channels
 *
 * Process context, in a verb, not from the notification worker and where that may
 * not be waited for; sleeps.
 */
void asahi_channel_sync(struct asahi_device *adev)
{
	struct asahi_channels *chs = adev->channels;

	if (chs->deaf)
		return;

	/* The caller may be a worker that has a rescuer, and must not flush a bottom half. */
	disable_work_sync(&chs->bell);
	asahi_channel_answer(chs);
	/* Also for what came meanwhile. */
	enable_and_queue_work(system_bh_wq, &chs->bell);
	flush_work(&chs->notify);
}

/**
 * asahi_channel_drain() - handle all that a stopped firmware has written
 * @adev: device, with channels or without
 *
 * Nothing is being handled after this, and no register is read for it, until
 * asahi_channel_notify() is called again. The firmware writes no more, or this may
 * not end. Process context, in a verb, not from the notification worker and where
 * that may not be waited for; sleeps.
 */
void asahi_channel_drain(struct asahi_device *adev)
{
	struct asahi_channels *chs = adev->channels;

	if (!chs || !chs->wq || chs->deaf)
		return;

	/* As in asahi_channel_sync(). What there is no room for stays in the ring for a while. */
	disable_work_sync(&chs->bell);
	do {
		asahi_channel_answer(chs);
		flush_work(&chs->notify);
	} while (asahi_channel_unread(&chs->event) || work_busy(&chs->notify));
	enable_work(&chs->bell);
}

/* Life. */

static int asahi_channel_tx_init(struct asahi_device *adev, struct asahi_tx_channel *ch,
				 enum asahi_heap_id heap, u32 count, u32 entry_size)
{
	struct asahi_fw_channel_state *state;
	int ret;

	ret = asahi_heap_alloc(adev->heap[ASAHI_HEAP_SHARED], sizeof(*state), 0, &ch->state);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(adev->heap[heap], (size_t)count * entry_size, 0, &ch->entries);
	if (ret)
		return ret;

	state = ch->state.map;
	ch->ring.rptr = &state->read_ptr;
	ch->ring.wptr = &state->write_ptr;
	ch->ring.entries = ch->entries.map;
	ch->ring.entry_size = entry_size;
	ch->ring.count = count;
	return 0;
}

static int asahi_channel_fwctl_init(struct asahi_device *adev, struct asahi_tx_channel *ch)
{
	struct asahi_fw_fwctl_state *state;
	int ret;

	ret = asahi_channel_tx_init(adev, ch, ASAHI_HEAP_SHARED, ASAHI_FW_FWCTL_ENTRIES,
				    sizeof(struct asahi_fw_fwctl_msg));
	if (ret)
		return ret;

	/* Same pointers, closer together. */
	state = ch->state.map;
	ch->ring.rptr = &state->read_ptr;
	ch->ring.wptr = &state->write_ptr;
	return 0;
}

static int asahi_channel_rx_init(struct asahi_device *adev, struct asahi_rx_channel *ch,
				 unsigned int rings, u32 count, u32 entry_size)
{
	struct asahi_heap *heap = adev->heap[ASAHI_HEAP_SHARED];
	struct asahi_fw_channel_state *state;
	unsigned int i;
	int ret;

	ret = asahi_heap_alloc(heap, rings * sizeof(*state), 0, &ch->state);
	if (ret)
		return ret;

	ret = asahi_heap_alloc(heap, (size_t)rings * count * entry_size, 0, &ch->entries);
	if (ret)
		return ret;

	state = ch->state.map;
	ch->rings = rings;
	for (i = 0; i < rings; i++) {
		ch->ring[i].rptr = &state[i].read_ptr;
		ch->ring[i].wptr = &state[i].write_ptr;
		ch->ring[i].entries = ch->entries.map + (size_t)i * count * entry_size;
		ch->ring[i].entry_size = entry_size;
		ch->ring[i].count = count;
	}

	return 0;
}

static void asahi_channel_tx_fini(struct asahi_tx_channel *ch)
{
	asahi_heap_free(&ch->entries);
	asahi_heap_free(&ch->state);
	mutex_destroy(&ch->sender);
}

static void asahi_channel_rx_fini(struct asahi_rx_channel *ch)
{
	asahi_heap_free(&ch->entries);
	asahi_heap_free(&ch->state);
}

static void asahi_channel_clear(struct asahi_fwbuf *buf)
{
	memset(buf->map, 0, buf->size);
}

static void asahi_channel_tx_reset(struct asahi_tx_channel *ch)
{
	guard(mutex)(&ch->sender);
	guard(spinlock)(&ch->lock);

	WRITE_ONCE(ch->ring.next, 0);
	asahi_channel_clear(&ch->state);
	asahi_channel_clear(&ch->entries);
}

static void asahi_channel_rx_reset(struct asahi_rx_channel *ch)
{
	for (unsigned int i = 0; i < ch->rings; i++)
		WRITE_ONCE(ch->ring[i].next, 0);
	WRITE_ONCE(ch->broken, false);
	asahi_channel_clear(&ch->state);
	asahi_channel_clear(&ch->entries);
}

static void asahi_channel_init_lock(struct asahi_tx_channel *ch)
{
	mutex_init(&ch->sender);
	spin_lock_init(&ch->lock);
}

static void asahi_channel_init_locks(struct asahi_channels *chs)
{
	unsigned int prio, pipe;

	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++) {
		for (pipe = 0; pipe < AGX_PIPE_COUNT; pipe++)
			asahi_channel_init_lock(&chs->pipe[prio][pipe]);
	}
	asahi_channel_init_lock(&chs->device_control);
	asahi_channel_init_lock(&chs->fwctl);
}

static int asahi_channel_init_tx(struct asahi_channels *chs)
{
	const struct asahi_channel_abi *abi = chs->adev->abi->channel;
	unsigned int prio, pipe;
	int ret;

	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++) {
		for (pipe = 0; pipe < AGX_PIPE_COUNT; pipe++) {
			ret = asahi_channel_tx_init(chs->adev, &chs->pipe[prio][pipe],
						    ASAHI_HEAP_PRIVATE, ASAHI_FW_TX_ENTRIES,
						    abi->pipe_msg_size);
			if (ret)
				return ret;
		}
	}

	ret = asahi_channel_tx_init(chs->adev, &chs->device_control, ASAHI_HEAP_PRIVATE,
				    ASAHI_FW_TX_ENTRIES, abi->dc_msg_size);
	if (ret)
		return ret;

	return asahi_channel_fwctl_init(chs->adev, &chs->fwctl);
}

static int asahi_channel_init_rx(struct asahi_channels *chs)
{
	struct asahi_device *adev = chs->adev;
	int ret;

	ret = asahi_channel_rx_init(adev, &chs->event, 1, ASAHI_FW_EVENT_ENTRIES,
				    sizeof(struct asahi_fw_event_msg));
	if (ret)
		return ret;

	ret = asahi_channel_rx_init(adev, &chs->log, ASAHI_FW_LOG_LEVELS, ASAHI_FW_LOG_ENTRIES,
				    sizeof(struct asahi_fw_log_msg));
	if (ret)
		return ret;

	ret = asahi_channel_rx_init(adev, &chs->ktrace, 1, ASAHI_FW_KTRACE_ENTRIES,
				    sizeof(struct asahi_fw_ktrace_msg));
	if (ret)
		return ret;

	ret = asahi_channel_rx_init(adev, &chs->stats, 1, ASAHI_FW_STATS_ENTRIES,
				    adev->abi->channel->stats_msg_size);
	if (ret)
		return ret;

	return asahi_heap_alloc(adev->heap[ASAHI_HEAP_SHARED],
				ASAHI_FW_LOG_LEVELS * ASAHI_FW_LOG_ENTRIES *
				sizeof(struct asahi_fw_log_payload), 0, &chs->log_payload);
}

static int asahi_channel_init(struct asahi_device *adev)
{
	struct asahi_channels *chs;
	int ret;

	if (WARN_ON(adev->abi->channel->stats_msg_size > sizeof(struct asahi_fw_stats_msg)))
		return -EINVAL;

	chs = kzalloc_obj(*chs);
	if (!chs)
		return -ENOMEM;

	chs->adev = adev;
	asahi_channel_init_locks(chs);
	INIT_WORK(&chs->bell, asahi_channel_bell_work);
	INIT_WORK(&chs->notify, asahi_channel_notify_work);
	asahi_relay_init(&chs->relay);
	adev->channels = chs;

	chs->fwlog = asahi_fwlog_create();
	if (!chs->fwlog)
		return -ENOMEM;

	chs->wq = alloc_ordered_workqueue("asahi-notify", WQ_HIGHPRI | WQ_MEM_RECLAIM);
	if (!chs->wq)
		return -ENOMEM;

	asahi_channel_init_debugfs(adev);

	ret = asahi_channel_init_tx(chs);
	if (ret)
		return ret;

	return asahi_channel_init_rx(chs);
}

static int asahi_channel_suspend(struct asahi_device *adev)
{
	asahi_channel_sync(adev);
	return 0;
}

/*
 * A firmware that could not be stopped goes on writing and telling, so that reading would
 * never come to an end. It is not started again, and nobody listens to it any more. The
 * worker and the bottom half have each other run, which does nothing where that is disabled.
 */
static void asahi_channel_pre_reset(struct asahi_device *adev)
{
	if (asahi_state_fw(adev) != ASAHI_FW_FAILED) {
		asahi_channel_drain(adev);
		return;
	}

	disable_work_sync(&adev->channels->bell);
	disable_work_sync(&adev->channels->notify);
	adev->channels->deaf = true;
}

/* A notification may have been lost in the meantime. */
static int asahi_channel_resume(struct asahi_device *adev)
{
	asahi_channel_notify(adev);
	return 0;
}

/*
 * Neither the firmware nor anything that reads touches the rings now. Those who have
 * reserved room keep it: they give it back when they find that the firmware
 * failed, or use it afterwards.
 */
static int asahi_channel_post_reset(struct asahi_device *adev)
{
	struct asahi_channels *chs = adev->channels;
	unsigned int prio, pipe;

	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++) {
		for (pipe = 0; pipe < AGX_PIPE_COUNT; pipe++)
			asahi_channel_tx_reset(&chs->pipe[prio][pipe]);
	}
	asahi_channel_tx_reset(&chs->device_control);
	asahi_channel_tx_reset(&chs->fwctl);
	asahi_channel_rx_reset(&chs->event);
	asahi_channel_rx_reset(&chs->log);
	asahi_channel_clear(&chs->log_payload);
	asahi_channel_rx_reset(&chs->ktrace);
	asahi_channel_rx_reset(&chs->stats);
	return 0;
}

static void asahi_channel_fini(struct asahi_device *adev)
{
	struct asahi_channels *chs = adev->channels;
	unsigned int prio, pipe;

	if (!chs)
		return;

	/* Each may have the other one run. */
	disable_work_sync(&chs->bell);
	if (chs->wq)
		destroy_workqueue(chs->wq);

	asahi_heap_free(&chs->log_payload);
	asahi_channel_rx_fini(&chs->stats);
	asahi_channel_rx_fini(&chs->ktrace);
	asahi_channel_rx_fini(&chs->log);
	asahi_channel_rx_fini(&chs->event);
	asahi_channel_tx_fini(&chs->fwctl);
	asahi_channel_tx_fini(&chs->device_control);
	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++) {
		for (pipe = 0; pipe < AGX_PIPE_COUNT; pipe++)
			asahi_channel_tx_fini(&chs->pipe[prio][pipe]);
	}

	asahi_fwlog_destroy(chs->fwlog);
	kfree(chs);
	adev->channels = NULL;
}

static void asahi_channel_tx_at_rest(struct asahi_tx_channel *ch, const char *name,
				     unsigned int prio, struct asahi_rest *rest)
{
	/* One that waits until the firmware has read its message is the sender. */
	asahi_rest_expect(rest, ASAHI_REST_IDLE | ASAHI_REST_AWAKE,
			  asahi_tx_ring_drained(&ch->ring),
			  "the firmware has not read ring %s of priority %u", name, prio);
	guard(mutex)(&ch->sender);
	guard(spinlock)(&ch->lock);
	asahi_rest_expect(rest, ASAHI_REST_FLIGHT, !ch->ring.reserved,
			  "ring %s of priority %u has %u entries reserved", name, prio,
			  ch->ring.reserved);
}

static void asahi_channel_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_channels *chs = adev->channels;
	const struct asahi_rx_ring *event = &chs->event.ring[0];
	unsigned int prio, pipe;

	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++)
		for (pipe = 0; pipe < AGX_PIPE_COUNT; pipe++)
			asahi_channel_tx_at_rest(&chs->pipe[prio][pipe],
						 asahi_channel_pipes[pipe], prio, rest);
	asahi_channel_tx_at_rest(&chs->device_control, "device control", 0, rest);
	asahi_channel_tx_at_rest(&chs->fwctl, "firmware control", 0, rest);

	asahi_rest_expect(rest, ASAHI_REST_AWAKE, !asahi_rest_disabled(&chs->bell),
			  "the bottom half that reads is disabled");
	asahi_rest_expect(rest, ASAHI_REST_AWAKE, !asahi_rest_disabled(&chs->notify),
			  "the worker that reads is disabled");
	asahi_rest_expect(rest, ASAHI_REST_IDLE | ASAHI_REST_AWAKE,
			  asahi_relay_empty(&chs->relay), "events have not been handled");
	asahi_rest_expect(rest, ASAHI_REST_IDLE | ASAHI_REST_AWAKE,
			  READ_ONCE(chs->event.broken) ||
			  le32_to_cpu(READ_ONCE(*event->wptr)) == READ_ONCE(event->next),
			  "events have not been read");
}

/* Not before the firmware is stopped: notifications come until then. */
const struct asahi_block asahi_block_channel = {
	.name = "channel",
	.init = asahi_channel_init,
	.unplug = asahi_channel_drain,
	.suspend = asahi_channel_suspend,
	.resume = asahi_channel_resume,
	.pre_reset = asahi_channel_pre_reset,
	.post_reset = asahi_channel_post_reset,
	.fini = asahi_channel_fini,
	.at_rest = asahi_rest_ptr(asahi_channel_at_rest),
};

static struct asahi_channel_va asahi_channel_tx_va(const struct asahi_tx_channel *ch)
{
	return (struct asahi_channel_va){ .state = ch->state.va, .ring = ch->entries.va };
}

static struct asahi_channel_va asahi_channel_rx_va(const struct asahi_rx_channel *ch)
{
	return (struct asahi_channel_va){ .state = ch->state.va, .ring = ch->entries.va };
}

/**
 * asahi_channel_layout() - where the rings are
 * @adev: device
 * @layout: addresses
 *
 * Any context between init and fini.
 */
void asahi_channel_layout(struct asahi_device *adev, struct asahi_channel_layout *layout)
{
	struct asahi_channels *chs = adev->channels;
	unsigned int prio, pipe;

	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++) {
		for (pipe = 0; pipe < AGX_PIPE_COUNT; pipe++)
			layout->pipe[prio][pipe] = asahi_channel_tx_va(&chs->pipe[prio][pipe]);
	}
	layout->device_control = asahi_channel_tx_va(&chs->device_control);
	layout->fwctl = asahi_channel_tx_va(&chs->fwctl);
	layout->event = asahi_channel_rx_va(&chs->event);
	layout->log = asahi_channel_rx_va(&chs->log);
	layout->ktrace = asahi_channel_rx_va(&chs->ktrace);
	layout->stats = asahi_channel_rx_va(&chs->stats);
	layout->log_payload = chs->log_payload.va;
}

static void asahi_channel_print_tx(const char *name, const struct asahi_tx_channel *ch,
				   struct drm_printer *p)
{
	drm_printf(p, "  to firmware: %s written %u read %u\n", name, READ_ONCE(ch->ring.next),
		   le32_to_cpu(READ_ONCE(*ch->ring.rptr)));
}

static void asahi_channel_print_rx(const char *name, const struct asahi_rx_channel *ch,
				   struct drm_printer *p)
{
	for (unsigned int i = 0; i < ch->rings; i++)
		drm_printf(p, "  from firmware: %s written %u read %u%s\n", name,
			   le32_to_cpu(READ_ONCE(*ch->ring[i].wptr)),
			   READ_ONCE(ch->ring[i].next), READ_ONCE(ch->broken) ? " broken" : "");
}

/**
 * asahi_channel_print() - print the pointers of all rings
 * @adev: device with channels
 * @p: where to
 *
 * As they are at the moment, without any lock. Any context between init and fini.
 */
void asahi_channel_print(struct asahi_device *adev, struct drm_printer *p)
{
	struct asahi_channels *chs = adev->channels;
	unsigned int prio, pipe;

	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++) {
		for (pipe = 0; pipe < AGX_PIPE_COUNT; pipe++)
			asahi_channel_print_tx(asahi_channel_pipes[pipe],
					       &chs->pipe[prio][pipe], p);
	}
	asahi_channel_print_tx("device control", &chs->device_control, p);
	asahi_channel_print_tx("firmware control", &chs->fwctl, p);
	asahi_channel_print_rx("event", &chs->event, p);
	asahi_channel_print_rx("log", &chs->log, p);
	asahi_channel_print_rx("ktrace", &chs->ktrace, p);
	asahi_channel_print_rx("statistics", &chs->stats, p);
}
