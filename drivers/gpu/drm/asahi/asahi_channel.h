/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Channels: the rings between driver and firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_CHANNEL_H
#define ASAHI_CHANNEL_H

#include <linux/types.h>

#include <agx/agx_rtkit.h>

struct asahi_device;

/**
 * struct asahi_pipe_msg - "this work queue has new entries"
 * @pipe_type: AGX_PIPE_VERTEX, _FRAGMENT or _COMPUTE
 * @queue_va: address of the QueueInfo
 * @wptr: the work queue's new write pointer
 * @event_slot: event that the queue's stamps signal
 * @is_new: first message for this queue
 */
struct asahi_pipe_msg {
	u32 pipe_type;
	u64 queue_va;
	u32 wptr;
	u32 event_slot;
	bool is_new;
};

/**
 * enum asahi_dc_type - device control messages, numbered by no ABI
 * @ASAHI_DC_INITIALIZE: take over initdata
 * @ASAHI_DC_DESTROY_CONTEXT: forget a GPU context and flush the cache
 * @ASAHI_DC_RECOVER_CHANNEL: restart a work queue after a channel error
 */
enum asahi_dc_type {
	ASAHI_DC_INITIALIZE,
	ASAHI_DC_DESTROY_CONTEXT,
	ASAHI_DC_RECOVER_CHANNEL,
};

/**
 * struct asahi_dc_msg - a device control message
 * @type: which
 * @destroy_context: for ASAHI_DC_DESTROY_CONTEXT: bytes 0, 1, 4 and 23 (hex)
 *	of the context's data, and its address
 * @recover_channel: for ASAHI_DC_RECOVER_CHANNEL: the pipe, the address of the
 *	QueueInfo, and the stamp value that failed
 */
struct asahi_dc_msg {
	enum asahi_dc_type type;
	union {
		struct {
			u8 ctx_0, ctx_1, ctx_4, ctx_23;
			u64 context_va;
		} destroy_context;
		struct {
			u32 pipe_type;
			u64 queue_va;
			u32 event_value;
		} recover_channel;
	};
};

/**
 * struct asahi_fwctl_msg - a firmware control message: flush a cached range
 * @va: first byte
 * @slot: context, or AGX_HANDOFF_FLUSH_KERNEL
 * @pages: number of pages
 */
struct asahi_fwctl_msg {
	u64 va;
	u32 slot;
	u16 pages;
};

/**
 * struct asahi_channel_va - addresses of a ring
 * @state: pointers; for the log, those of all levels
 * @ring: entries; for the log, those of all levels
 */
struct asahi_channel_va {
	u64 state;
	u64 ring;
};

/**
 * struct asahi_channels_layout - addresses of all rings
 * @pipe: work pipes by priority and kind
 * @device_control: device control
 * @fwctl: firmware control
 * @event: events
 * @log: firmware log
 * @ktrace: firmware trace
 * @stats: statistics
 * @log_payload: texts of the log
 */
struct asahi_channels_layout {
	struct asahi_channel_va pipe[AGX_PRIORITY_COUNT][AGX_PIPE_COUNT];
	struct asahi_channel_va device_control;
	struct asahi_channel_va fwctl;
	struct asahi_channel_va event;
	struct asahi_channel_va log;
	struct asahi_channel_va ktrace;
	struct asahi_channel_va stats;
	u64 log_payload;
};

int asahi_channels_init(struct asahi_device *adev);
void asahi_channels_unplug(struct asahi_device *adev);
void asahi_channels_fini(struct asahi_device *adev);

int asahi_channel_reserve(struct asahi_device *adev, unsigned int prio, unsigned int pipe);
void asahi_channel_unreserve(struct asahi_device *adev, unsigned int prio, unsigned int pipe);
int asahi_channel_run(struct asahi_device *adev, unsigned int prio,
		      const struct asahi_pipe_msg *msg);
int asahi_channel_device_control(struct asahi_device *adev, const struct asahi_dc_msg *msg);
void asahi_channel_post_initialize(struct asahi_device *adev);
int asahi_channel_wait_initialized(struct asahi_device *adev);
int asahi_channel_fwctl(struct asahi_device *adev, const struct asahi_fwctl_msg *msg);
int asahi_channel_flush_cache(struct asahi_device *adev);
void asahi_channel_notify(struct asahi_device *adev);
void asahi_channel_report_crash(struct asahi_device *adev);
void asahi_channels_layout(struct asahi_device *adev, struct asahi_channels_layout *layout);

/*
 * What the notification worker calls. It is one ordered worker: these run one
 * after the other, in process context, and may sleep for a bounded time, but
 * while they do nothing else is received. They must neither allocate with
 * GFP_KERNEL nor wait for fences, because completions come after them.
 */
void asahi_event_stamps(struct asahi_device *adev, const u32 mask[4]);
void asahi_recovery_fault(struct asahi_device *adev);
void asahi_recovery_timeout(struct asahi_device *adev, u32 counter, int event_slot);
void asahi_recovery_channel_error(struct asahi_device *adev, u32 type, u32 pipe, u32 slot,
				  u32 value);
void asahi_recovery_fw_crashed(struct asahi_device *adev);

#endif
