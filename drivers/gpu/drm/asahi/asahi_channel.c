// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Channels: the rings between driver and firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/iopoll.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <drm/drm_print.h>

#include <agx/agx_rtkit.h>

#include "asahi_abi.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_fw_channels.h"
#include "asahi_heap.h"
#include "asahi_recovery.h"
#include "asahi_ring.h"
#include "asahi_rtkit.h"

/**
 * DOC: Channels
 *
 * To the firmware: twelve pipes (vertex, fragment and compute work at each of
 * four priorities), device control, and firmware control for cache flushes.
 * Each has a lock of its own, under which nothing is allocated and no fence is
 * waited for, since jobs start through them.
 *
 * From the firmware: events, log, ktrace and statistics. One ordered worker
 * empties them all after each notification; it is the only reader.
 */

/* The firmware reads a ring at once unless it is in trouble. */
#define ANSWER_TIMEOUT_US		(1 * USEC_PER_SEC)
#define ANSWER_POLL_US			50

#define STATS_MSG_MAX			0x40

/**
 * struct tx_channel - a channel to the firmware
 * @ring: ring
 * @state: memory of the pointers
 * @entries: memory of the entries
 * @reserved: entries that have been promised; pipes only
 */
struct tx_channel {
	/** @lock: protects @ring and @reserved */
	struct mutex lock;
	struct asahi_tx_ring ring;
	struct asahi_fwbuf state;
	struct asahi_fwbuf entries;
	unsigned int reserved;
};

/**
 * struct rx_channel - a channel from the firmware
 * @ring: one ring, or one for each log level; the worker's alone
 * @rings: how many
 * @state: memory of the pointers
 * @entries: memory of the entries
 * @broken: a pointer was out of range; nothing is read any more
 */
struct rx_channel {
	struct asahi_rx_ring ring[ASAHI_FW_LOG_LEVELS];
	unsigned int rings;
	struct asahi_fwbuf state;
	struct asahi_fwbuf entries;
	bool broken;
};

/**
 * struct asahi_channels - all channels
 * @adev: device
 * @pipe: work pipes by priority and kind
 * @device_control: device control
 * @fwctl: firmware control
 * @event: events
 * @log: firmware log, one ring for each level
 * @log_payload: texts of the log
 * @ktrace: firmware trace
 * @stats: power statistics
 * @wq: ordered, for @notify only
 * @notify: the worker that reads
 * @crashed: the firmware has crashed; set once
 * @crash_handled: and recovery knows; the worker's alone
 */
struct asahi_channels {
	struct asahi_device *adev;
	struct tx_channel pipe[AGX_PRIORITY_COUNT][AGX_PIPE_COUNT];
	struct tx_channel device_control;
	struct tx_channel fwctl;
	struct rx_channel event;
	struct rx_channel log;
	struct asahi_fwbuf log_payload;
	struct rx_channel ktrace;
	struct rx_channel stats;
	struct workqueue_struct *wq;
	struct work_struct notify;
	bool crashed;
	bool crash_handled;
};

/* To the firmware. */

static int wait_room(struct asahi_device *adev, struct tx_channel *ch)
{
	bool full;

	lockdep_assert_held(&ch->lock);

	if (!asahi_tx_ring_full(&ch->ring))
		return 0;

	return read_poll_timeout(asahi_tx_ring_full, full,
				 !full || asahi_device_dead(adev), ANSWER_POLL_US,
				 ANSWER_TIMEOUT_US, false, &ch->ring);
}

static int wait_drained(struct asahi_device *adev, struct tx_channel *ch)
{
	bool drained;
	int err;

	lockdep_assert_held(&ch->lock);

	err = read_poll_timeout(asahi_tx_ring_drained, drained,
				drained || asahi_device_dead(adev), ANSWER_POLL_US,
				ANSWER_TIMEOUT_US, false, &ch->ring);
	if (err)
		return err;
	return drained ? 0 : -ENODEV;
}

static bool try_reserve(struct tx_channel *ch)
{
	guard(mutex)(&ch->lock);

	if (asahi_tx_ring_room(&ch->ring) <= ch->reserved)
		return false;

	ch->reserved++;
	return true;
}

/**
 * asahi_channel_reserve() - wait until there is room for a message of new work
 * @adev: device
 * @prio: firmware priority, 0 (highest) to 3
 * @pipe: AGX_PIPE_*
 *
 * The room stays until asahi_channel_run() or asahi_channel_unreserve().
 * Process context, with no lock that the notification worker takes: a firmware
 * that has halted reads nothing until that worker lets it go on. May sleep up
 * to a second if the firmware is behind; allocates nothing.
 *
 * Return: 0, -ENODEV if the device is dead, -ETIMEDOUT if the ring stayed full.
 */
int asahi_channel_reserve(struct asahi_device *adev, unsigned int prio, unsigned int pipe)
{
	struct tx_channel *ch = &adev->channels->pipe[prio][pipe];
	bool reserved;
	int err;

	err = read_poll_timeout(try_reserve, reserved, reserved || asahi_device_dead(adev),
				ANSWER_POLL_US, ANSWER_TIMEOUT_US, false, ch);
	if (err)
		return err;
	return reserved ? 0 : -ENODEV;
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
	struct tx_channel *ch = &adev->channels->pipe[prio][pipe];

	guard(mutex)(&ch->lock);
	ch->reserved--;
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
 * Return: 0, -ENODEV if the device is dead.
 */
int asahi_channel_run(struct asahi_device *adev, unsigned int prio,
		      const struct asahi_pipe_msg *msg)
{
	struct tx_channel *ch;

	if (WARN_ON_ONCE(prio >= AGX_PRIORITY_COUNT || msg->pipe_type >= AGX_PIPE_COUNT))
		return -EINVAL;

	ch = &adev->channels->pipe[prio][msg->pipe_type];
	guard(mutex)(&ch->lock);

	ch->reserved--;
	if (asahi_device_dead(adev))
		return -ENODEV;

	adev->abi->channel->encode_pipe(asahi_tx_ring_entry(&ch->ring), msg);
	asahi_tx_ring_commit(&ch->ring);
	return 0;
}

/**
 * asahi_channel_device_control() - have the firmware do something
 * @adev: device
 * @msg: what
 *
 * Waits until the firmware has read the message, a second at most; a firmware
 * that has not by then is declared dead. Process context, may sleep; allocates
 * nothing.
 *
 * Return: 0, -ENODEV if the firmware does not run or died, -ETIMEDOUT.
 */
int asahi_channel_device_control(struct asahi_device *adev, const struct asahi_dc_msg *msg)
{
	struct tx_channel *ch = &adev->channels->device_control;
	int err;

	guard(mutex)(&ch->lock);

	if (!asahi_device_fw_running(adev))
		return -ENODEV;

	err = wait_room(adev, ch);
	if (!err) {
		adev->abi->channel->encode_dc(asahi_tx_ring_entry(&ch->ring), msg);
		asahi_tx_ring_commit(&ch->ring);
		asahi_rtkit_post(adev, AGX_DOORBELL_DEVICE_CONTROL);
		err = wait_drained(adev, ch);
	}

	if (err == -ETIMEDOUT)
		asahi_recovery_wedged(adev, "it does not read device control messages");
	return err;
}

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
	/* A context that cannot be: nothing is destroyed, the flush is done. */
	const struct asahi_dc_msg msg = {
		.type = ASAHI_DC_DESTROY_CONTEXT,
		.destroy_context = { .ctx_0 = 0xff, .ctx_1 = 0xff },
	};

	if (!asahi_device_fw_running(adev))
		return 0;

	return asahi_channel_device_control(adev, &msg);
}

/**
 * asahi_channel_post_initialize() - leave the first message for the firmware
 * @adev: device
 *
 * Process context, probe only; the doorbell comes with the boot.
 */
void asahi_channel_post_initialize(struct asahi_device *adev)
{
	const struct asahi_dc_msg msg = { .type = ASAHI_DC_INITIALIZE };
	struct tx_channel *ch = &adev->channels->device_control;

	guard(mutex)(&ch->lock);
	adev->abi->channel->encode_dc(asahi_tx_ring_entry(&ch->ring), &msg);
	asahi_tx_ring_commit(&ch->ring);
}

/**
 * asahi_channel_wait_initialized() - wait until the firmware has started on its rings
 * @adev: device, booted
 *
 * Process context, probe only; takes a second at most.
 *
 * Return: 0, -ENODEV if the firmware crashed, -ETIMEDOUT.
 */
int asahi_channel_wait_initialized(struct asahi_device *adev)
{
	struct tx_channel *ch = &adev->channels->device_control;

	guard(mutex)(&ch->lock);
	return wait_drained(adev, ch);
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
	struct tx_channel *ch = &adev->channels->fwctl;
	struct asahi_fw_fwctl_msg *entry;
	int err;

	guard(mutex)(&ch->lock);

	err = wait_room(adev, ch);
	if (err)
		return err;

	entry = asahi_tx_ring_entry(&ch->ring);
	entry->addr = cpu_to_le64(msg->va);
	entry->slot = cpu_to_le32(msg->slot);
	entry->page_count = cpu_to_le16(msg->pages);
	entry->unk_12 = cpu_to_le16(ASAHI_FWCTL_UNK_12);
	asahi_tx_ring_commit(&ch->ring);
	asahi_rtkit_post(adev, ASAHI_DOORBELL_FWCTL);
	return wait_drained(adev, ch);
}

/* From the firmware. */

static int rx_get(struct asahi_channels *chs, struct rx_channel *ch, unsigned int index,
		  void *entry, const char *name)
{
	int ret;

	if (ch->broken)
		return 0;

	ret = asahi_rx_ring_get(&ch->ring[index], entry);
	if (ret < 0) {
		ch->broken = true;
		drm_err(&chs->adev->drm, "the firmware's write pointer of ring %s is broken\n",
			name);
		return 0;
	}

	return ret;
}

static void handle_event(struct asahi_device *adev, const struct asahi_fw_event_msg *msg)
{
	u32 type = le32_to_cpu(msg->type);
	u32 mask[4];
	unsigned int i;

	switch (type) {
	case ASAHI_FW_EVENT_FLAG:
		for (i = 0; i < ARRAY_SIZE(mask); i++)
			mask[i] = le32_to_cpu(msg->flag.firing[i]);
		asahi_event_stamps(adev, mask);
		break;
	case ASAHI_FW_EVENT_FAULT:
		asahi_recovery_fault(adev);
		break;
	case ASAHI_FW_EVENT_TIMEOUT:
		asahi_recovery_timeout(adev, le32_to_cpu(msg->timeout.counter),
				       (s32)le32_to_cpu(msg->timeout.event_slot));
		break;
	case ASAHI_FW_EVENT_CHANNEL_ERROR:
		asahi_recovery_channel_error(adev, le32_to_cpu(msg->channel_error.error_type),
					     le32_to_cpu(msg->channel_error.pipe_type),
					     le32_to_cpu(msg->channel_error.event_slot),
					     le32_to_cpu(msg->channel_error.event_value));
		break;
	default:
		drm_err_ratelimited(&adev->drm, "unexpected firmware event %u\n", type);
	}
}

static bool poll_events(struct asahi_channels *chs)
{
	struct asahi_fw_event_msg msg;
	unsigned int n;

	for (n = 0; n < ASAHI_FW_EVENT_ENTRIES; n++) {
		if (!rx_get(chs, &chs->event, 0, &msg, "event"))
			return false;
		handle_event(chs->adev, &msg);
	}

	return true;
}

/* The firmware's levels: debug, info, notice, warning, error, critical. */
#define LOG_LEVEL_WARNING	3

static void print_log(struct asahi_device *adev, unsigned int level, const char *text, int len)
{
	if (level < LOG_LEVEL_WARNING)
		drm_dbg(&adev->drm, "firmware log %u: %*pE\n", level, len, text);
	else if (level == LOG_LEVEL_WARNING)
		dev_warn_ratelimited(adev->drm.dev, "firmware: %*pE\n", len, text);
	else
		dev_err_ratelimited(adev->drm.dev, "firmware: %*pE\n", len, text);
}

static void handle_log(struct asahi_channels *chs, unsigned int level,
		       const struct asahi_fw_log_msg *msg)
{
	const struct asahi_fw_log_payload *payloads = chs->log_payload.map;
	u64 index = le64_to_cpu(msg->msg_index);
	struct asahi_fw_log_payload payload;

	if (msg->msg_type != cpu_to_le32(ASAHI_FW_LOG_MSG) || index >= ASAHI_FW_LOG_ENTRIES) {
		drm_dbg(&chs->adev->drm, "malformed firmware log entry: type %u, index %llu\n",
			le32_to_cpu(msg->msg_type), index);
		return;
	}

	memcpy(&payload, &payloads[level * ASAHI_FW_LOG_ENTRIES + index], sizeof(payload));
	if (payload.msg_type != cpu_to_le32(ASAHI_FW_LOG_PAYLOAD)) {
		drm_dbg(&chs->adev->drm, "malformed firmware log text: type %u\n",
			le32_to_cpu(payload.msg_type));
		return;
	}

	print_log(chs->adev, level, payload.msg,
		  strnlen((const char *)payload.msg, sizeof(payload.msg)));
}

static bool poll_log(struct asahi_channels *chs)
{
	struct asahi_fw_log_msg msg;
	unsigned int level, n;
	bool more = false;

	for (level = 0; level < ASAHI_FW_LOG_LEVELS; level++) {
		for (n = 0; n < ASAHI_FW_LOG_ENTRIES; n++) {
			if (!rx_get(chs, &chs->log, level, &msg, "log"))
				break;
			handle_log(chs, level, &msg);
		}
		more |= n == ASAHI_FW_LOG_ENTRIES;
	}

	return more;
}

static bool poll_ktrace(struct asahi_channels *chs)
{
	struct asahi_fw_ktrace_msg msg;
	unsigned int n;

	for (n = 0; n < ASAHI_FW_KTRACE_ENTRIES; n++) {
		if (!rx_get(chs, &chs->ktrace, 0, &msg, "ktrace"))
			return false;
		drm_dbg(&chs->adev->drm, "firmware trace: code %u channel %u thread %u\n",
			msg.code, msg.channel, msg.thread);
	}

	return true;
}

/* Power statistics: read, so that the firmware goes on, and not used. */
static bool poll_stats(struct asahi_channels *chs)
{
	u8 msg[STATS_MSG_MAX];
	unsigned int n;

	for (n = 0; n < ASAHI_FW_STATS_ENTRIES; n++) {
		if (!rx_get(chs, &chs->stats, 0, msg, "stats"))
			return false;
	}

	return true;
}

static void notify_work(struct work_struct *work)
{
	struct asahi_channels *chs = container_of(work, struct asahi_channels, notify);
	bool more;

	more = poll_log(chs);
	more |= poll_ktrace(chs);
	more |= poll_stats(chs);
	more |= poll_events(chs);

	if (READ_ONCE(chs->crashed) && !chs->crash_handled) {
		chs->crash_handled = true;
		asahi_recovery_fw_crashed(chs->adev);
	}

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
	queue_work(adev->channels->wq, &adev->channels->notify);
}

/**
 * asahi_channel_report_crash() - the firmware has crashed
 * @adev: device
 *
 * Declares the device dead, and has the notification worker call
 * asahi_recovery_fw_crashed() once. Any context.
 */
void asahi_channel_report_crash(struct asahi_device *adev)
{
	asahi_device_set_dead(adev);
	WRITE_ONCE(adev->channels->crashed, true);
	asahi_channel_notify(adev);
}

/* Setup. */

static int tx_init(struct asahi_device *adev, struct tx_channel *ch, enum asahi_heap_id heap,
		   u32 count, u32 entry_size)
{
	struct asahi_fw_channel_state *state;
	int err;

	err = asahi_heap_alloc(adev->heap[ASAHI_HEAP_SHARED], sizeof(*state), 0, &ch->state);
	if (err)
		return err;

	err = asahi_heap_alloc(adev->heap[heap], (size_t)count * entry_size, 0, &ch->entries);
	if (err)
		return err;

	state = ch->state.map;
	ch->ring.rptr = &state->read_ptr;
	ch->ring.wptr = &state->write_ptr;
	ch->ring.entries = ch->entries.map;
	ch->ring.entry_size = entry_size;
	ch->ring.count = count;
	return 0;
}

static int fwctl_init(struct asahi_device *adev, struct tx_channel *ch)
{
	struct asahi_fw_fwctl_state *state;
	int err;

	err = tx_init(adev, ch, ASAHI_HEAP_SHARED, ASAHI_FW_FWCTL_ENTRIES,
		      sizeof(struct asahi_fw_fwctl_msg));
	if (err)
		return err;

	/* Same pointers, closer together. */
	state = ch->state.map;
	ch->ring.rptr = &state->read_ptr;
	ch->ring.wptr = &state->write_ptr;
	return 0;
}

static int rx_init(struct asahi_device *adev, struct rx_channel *ch, unsigned int rings,
		   u32 count, u32 entry_size)
{
	struct asahi_heap *heap = adev->heap[ASAHI_HEAP_SHARED];
	struct asahi_fw_channel_state *state;
	unsigned int i;
	int err;

	err = asahi_heap_alloc(heap, rings * sizeof(*state), 0, &ch->state);
	if (err)
		return err;

	err = asahi_heap_alloc(heap, (size_t)rings * count * entry_size, 0, &ch->entries);
	if (err)
		return err;

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

static void tx_fini(struct tx_channel *ch)
{
	asahi_heap_free(&ch->entries);
	asahi_heap_free(&ch->state);
	mutex_destroy(&ch->lock);
}

static void rx_fini(struct rx_channel *ch)
{
	asahi_heap_free(&ch->entries);
	asahi_heap_free(&ch->state);
}

static void init_locks(struct asahi_channels *chs)
{
	unsigned int prio, pipe;

	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++) {
		for (pipe = 0; pipe < AGX_PIPE_COUNT; pipe++)
			mutex_init(&chs->pipe[prio][pipe].lock);
	}
	mutex_init(&chs->device_control.lock);
	mutex_init(&chs->fwctl.lock);
}

static int init_pipes(struct asahi_channels *chs)
{
	const struct asahi_channel_abi *abi = chs->adev->abi->channel;
	unsigned int prio, pipe;
	int err;

	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++) {
		for (pipe = 0; pipe < AGX_PIPE_COUNT; pipe++) {
			err = tx_init(chs->adev, &chs->pipe[prio][pipe], ASAHI_HEAP_PRIVATE,
				      ASAHI_FW_TX_ENTRIES, abi->pipe_msg_size);
			if (err)
				return err;
		}
	}

	return 0;
}

static int init_rx(struct asahi_channels *chs)
{
	struct asahi_device *adev = chs->adev;
	int err;

	err = rx_init(adev, &chs->event, 1, ASAHI_FW_EVENT_ENTRIES,
		      sizeof(struct asahi_fw_event_msg));
	if (err)
		return err;

	err = rx_init(adev, &chs->log, ASAHI_FW_LOG_LEVELS, ASAHI_FW_LOG_ENTRIES,
		      sizeof(struct asahi_fw_log_msg));
	if (err)
		return err;

	err = rx_init(adev, &chs->ktrace, 1, ASAHI_FW_KTRACE_ENTRIES,
		      sizeof(struct asahi_fw_ktrace_msg));
	if (err)
		return err;

	err = rx_init(adev, &chs->stats, 1, ASAHI_FW_STATS_ENTRIES,
		      adev->abi->channel->stats_msg_size);
	if (err)
		return err;

	return asahi_heap_alloc(adev->heap[ASAHI_HEAP_SHARED],
				ASAHI_FW_LOG_LEVELS * ASAHI_FW_LOG_ENTRIES *
				sizeof(struct asahi_fw_log_payload), 0, &chs->log_payload);
}

/**
 * asahi_channels_init() - make all rings
 * @adev: device with heaps
 *
 * Process context, probe only. asahi_channels_fini() is to be called also
 * after an error.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_channels_init(struct asahi_device *adev)
{
	const struct asahi_channel_abi *abi = adev->abi->channel;
	struct asahi_channels *chs;
	int err;

	if (WARN_ON(abi->stats_msg_size > STATS_MSG_MAX))
		return -EINVAL;

	chs = kzalloc_obj(*chs);
	if (!chs)
		return -ENOMEM;

	chs->adev = adev;
	init_locks(chs);
	INIT_WORK(&chs->notify, notify_work);
	adev->channels = chs;

	chs->wq = alloc_ordered_workqueue("asahi-notify", WQ_HIGHPRI | WQ_MEM_RECLAIM);
	if (!chs->wq)
		return -ENOMEM;

	err = init_pipes(chs);
	if (err)
		return err;

	err = tx_init(adev, &chs->device_control, ASAHI_HEAP_PRIVATE, ASAHI_FW_TX_ENTRIES,
		      abi->dc_msg_size);
	if (err)
		return err;

	err = fwctl_init(adev, &chs->fwctl);
	if (err)
		return err;

	return init_rx(chs);
}

/**
 * asahi_channels_unplug() - stop the notification worker
 * @adev: device; no notification comes any more
 *
 * What the firmware has written until now has been handled when this returns.
 * Process context, may sleep.
 */
void asahi_channels_unplug(struct asahi_device *adev)
{
	struct asahi_channels *chs = adev->channels;

	if (chs && chs->wq)
		drain_workqueue(chs->wq);
}

/**
 * asahi_channels_fini() - free all rings
 * @adev: device, after asahi_channels_unplug()
 *
 * Process context, may sleep.
 */
void asahi_channels_fini(struct asahi_device *adev)
{
	struct asahi_channels *chs = adev->channels;
	unsigned int prio, pipe;

	if (!chs)
		return;

	if (chs->wq)
		destroy_workqueue(chs->wq);

	asahi_heap_free(&chs->log_payload);
	rx_fini(&chs->stats);
	rx_fini(&chs->ktrace);
	rx_fini(&chs->log);
	rx_fini(&chs->event);
	tx_fini(&chs->fwctl);
	tx_fini(&chs->device_control);
	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++) {
		for (pipe = 0; pipe < AGX_PIPE_COUNT; pipe++)
			tx_fini(&chs->pipe[prio][pipe]);
	}

	kfree(chs);
	adev->channels = NULL;
}

static struct asahi_channel_va tx_va(const struct tx_channel *ch)
{
	return (struct asahi_channel_va){ .state = ch->state.va, .ring = ch->entries.va };
}

static struct asahi_channel_va rx_va(const struct rx_channel *ch)
{
	return (struct asahi_channel_va){ .state = ch->state.va, .ring = ch->entries.va };
}

/**
 * asahi_channels_layout() - where the rings are
 * @adev: device
 * @layout: addresses
 *
 * Any context between init and fini.
 */
void asahi_channels_layout(struct asahi_device *adev, struct asahi_channels_layout *layout)
{
	struct asahi_channels *chs = adev->channels;
	unsigned int prio, pipe;

	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++) {
		for (pipe = 0; pipe < AGX_PIPE_COUNT; pipe++)
			layout->pipe[prio][pipe] = tx_va(&chs->pipe[prio][pipe]);
	}
	layout->device_control = tx_va(&chs->device_control);
	layout->fwctl = tx_va(&chs->fwctl);
	layout->event = rx_va(&chs->event);
	layout->log = rx_va(&chs->log);
	layout->ktrace = rx_va(&chs->ktrace);
	layout->stats = rx_va(&chs->stats);
	layout->log_payload = chs->log_payload.va;
}
