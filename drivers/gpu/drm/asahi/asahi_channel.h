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

struct asahi_block;
struct asahi_device;
struct asahi_fwlog;
struct drm_printer;

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
 * @ASAHI_DC_GROW_TVB_ACK: answer to a request for a larger vertex buffer
 */
enum asahi_dc_type {
	ASAHI_DC_INITIALIZE,
	ASAHI_DC_DESTROY_CONTEXT,
	ASAHI_DC_RECOVER_CHANNEL,
	ASAHI_DC_GROW_TVB_ACK,
};

/**
 * struct asahi_dc_msg - a device control message
 * @type: which
 * @destroy_context: for ASAHI_DC_DESTROY_CONTEXT: bytes 0, 1, 4 and 23 (hex)
 *	of the context's data, and its address
 * @recover_channel: for ASAHI_DC_RECOVER_CHANNEL: the pipe, the address of the
 *	QueueInfo, and the stamp value that failed
 * @grow_tvb_ack: for ASAHI_DC_GROW_TVB_ACK: what the request said, and how often
 *	the firmware has halted
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
		struct {
			u32 buffer_slot;
			u32 vm_slot;
			u32 counter;
			u64 halt_count;
		} grow_tvb_ack;
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
 * struct asahi_channel_layout - addresses of all rings
 * @pipe: work pipes by priority and kind
 * @device_control: device control
 * @fwctl: firmware control
 * @event: events
 * @log: firmware log
 * @ktrace: firmware trace
 * @stats: statistics
 * @log_payload: texts of the log
 */
struct asahi_channel_layout {
	struct asahi_channel_va pipe[AGX_PRIORITY_COUNT][AGX_PIPE_COUNT];
	struct asahi_channel_va device_control;
	struct asahi_channel_va fwctl;
	struct asahi_channel_va event;
	struct asahi_channel_va log;
	struct asahi_channel_va ktrace;
	struct asahi_channel_va stats;
	u64 log_payload;
};

/**
 * struct asahi_channel_ops - who is told of what the firmware says
 *
 * What reads events calls @stamps, a bottom half as a rule. The notification worker calls the
 * others one after the other: in process context, in the critical section of fences.
 * They may sleep for a bounded time, but only stamps are received meanwhile. They must
 * neither allocate with GFP_KERNEL nor wait for fences, because what they do may have to
 * happen before a fence signals.
 */
struct asahi_channel_ops {
	/**
	 * @stamps: stamps have changed; one bit for each event slot. Any context but
	 * hard interrupts, never twice at once, maybe beside one of the others
	 */
	void (*stamps)(struct asahi_device *adev, const u32 mask[4]);
	/** @fault: the MMU refused an access, and the firmware has halted */
	void (*fault)(struct asahi_device *adev);
	/**
	 * @timeout: work took too long, and the firmware has halted. @counter says
	 * how many there were, @event_slot whose it is; negative if unknown.
	 */
	void (*timeout)(struct asahi_device *adev, u32 counter, int event_slot);
	/**
	 * @channel_error: the firmware gives up an entry of a ring: of the pipe
	 * @pipe, the work with event slot @slot and stamp value @value
	 */
	void (*channel_error)(struct asahi_device *adev, u32 type, u32 pipe, u32 slot,
			      u32 value);
	/**
	 * @grow: the vertex buffer in @buffer_slot is too small for a render that
	 * runs in context @vm_slot; the firmware waits for an answer, which is not
	 * given from here, since who sends it waits for the firmware
	 */
	void (*grow)(struct asahi_device *adev, u32 vm_slot, u32 buffer_slot, u32 counter);
};

extern const struct asahi_block asahi_block_channel;

void asahi_channel_set_ops(struct asahi_device *adev, const struct asahi_channel_ops *ops);

int asahi_channel_reserve(struct asahi_device *adev, unsigned int prio, unsigned int pipe);
bool asahi_channel_try_reserve(struct asahi_device *adev, unsigned int prio, unsigned int pipe);
void asahi_channel_unreserve(struct asahi_device *adev, unsigned int prio, unsigned int pipe);
bool asahi_channel_pipe_read(struct asahi_device *adev, unsigned int prio, unsigned int pipe);
int asahi_channel_run(struct asahi_device *adev, unsigned int prio,
		      const struct asahi_pipe_msg *msg);
int asahi_channel_device_control(struct asahi_device *adev, const struct asahi_dc_msg *msg);
bool asahi_channel_dc_read(struct asahi_device *adev);
void asahi_channel_post_initialize(struct asahi_device *adev);
int asahi_channel_wait_initialized(struct asahi_device *adev);
int asahi_channel_fwctl(struct asahi_device *adev, const struct asahi_fwctl_msg *msg);
int asahi_channel_flush_cache(struct asahi_device *adev);
void asahi_channel_notify(struct asahi_device *adev);
void asahi_channel_sync(struct asahi_device *adev);
void asahi_channel_drain(struct asahi_device *adev);
u32 asahi_channel_signs(struct asahi_device *adev);
int asahi_channel_ping(struct asahi_device *adev);
struct asahi_fwlog *asahi_channel_fwlog(struct asahi_device *adev);
void asahi_channel_print(struct asahi_device *adev, struct drm_printer *p);
void asahi_channel_layout(struct asahi_device *adev, struct asahi_channel_layout *layout);

#endif
