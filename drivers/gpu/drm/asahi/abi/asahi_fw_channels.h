/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Firmware structures: rings and the messages on them.
 *
 * Sources: Rust driver, fw/channels.rs and channel.rs; m1n1, fw/agx/channels.py.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FW_CHANNELS_H
#define ASAHI_FW_CHANNELS_H

#include "asahi_fw_common.h"

/* Ring sizes in entries. */
#define ASAHI_FW_TX_ENTRIES		0x100
#define ASAHI_FW_FWCTL_ENTRIES		0x100
#define ASAHI_FW_EVENT_ENTRIES		0x100
#define ASAHI_FW_LOG_ENTRIES		0x100	/* per level */
#define ASAHI_FW_LOG_LEVELS		6
#define ASAHI_FW_KTRACE_ENTRIES		0x200
#define ASAHI_FW_STATS_ENTRIES		0x100

/* Each pointer has a line of its own: one side writes it, the other reads. */
struct asahi_fw_channel_state {
	__le32 read_ptr;
	__u8 pad_4[0x1c];
	__le32 write_ptr;
	__u8 pad_24[0xc];
} __packed;

struct asahi_fw_fwctl_state {
	__le32 read_ptr;
	__u8 pad_4[0xc];
	__le32 write_ptr;
	__u8 pad_14[0xc];
} __packed;

/* Addresses of a ring, as the firmware is told them. */
struct asahi_fw_channel_ring {
	__le64 state;
	__le64 ring;
} __packed;

struct asahi_fw_fwctl_msg {
	__le64 addr;
	__le32 unk_8;
	__le32 slot;
	__le16 page_count;
	__le16 unk_12;
} __packed;

#define ASAHI_FWCTL_UNK_12		2

struct asahi_fw_event_msg {
	__le32 type;
	union {
		__u8 raw[0x34];
		struct {
			__le32 firing[4];
			__le16 unk_14;
		} __packed flag;
		struct {
			__le32 counter;
			__le32 unk_8;
			__le32 event_slot;	/* negative: none */
		} __packed timeout;
		struct {
			__le32 vm_slot;
			__le32 buffer_slot;
			__le32 counter;
		} __packed grow_tvb;
		struct {
			__le32 error_type;
			__le32 pipe_type;
			__le32 event_slot;
			__le32 event_value;
		} __packed channel_error;
	} __packed;
} __packed;

#define ASAHI_FW_EVENT_FAULT		0
#define ASAHI_FW_EVENT_FLAG		1
#define ASAHI_FW_EVENT_TIMEOUT		4
#define ASAHI_FW_EVENT_GROW_TVB		7
#define ASAHI_FW_EVENT_CHANNEL_ERROR	8

struct asahi_fw_log_msg {
	__le32 msg_type;
	__le32 pad_4;
	__le64 msg_index;
	__u8 pad_10[0x28];
} __packed;

#define ASAHI_FW_LOG_MSG		2

struct asahi_fw_log_payload {
	__le32 msg_type;
	__le32 seq_no;
	__le64 timestamp;
	__u8 msg[0xc8];
} __packed;

#define ASAHI_FW_LOG_PAYLOAD		3

struct asahi_fw_ktrace_msg {
	__le32 msg_type;
	__le64 timestamp;
	__le64 args[4];
	__u8 code;
	__u8 channel;
	__u8 pad_2e;
	__u8 thread;
	__le64 unk_flag;
} __packed;

#define ASAHI_FW_KTRACE_MSG		5

/*
 * Statistics. Versions differ in nothing but the padding at the end. Times are in ticks, and
 * nothing is known of what is called unk, least and most.
 */
struct asahi_fw_stats_msg {
	__le32 type;
	union {
		__le32 raw[15];
		struct {
			__u8 unk_4[0x18];
			__le64 power;		/* in units of 1/8192 mW */
		} __packed power;
		struct {
			__le64 ticks;		/* that it was off before it went on, or on */
		} __packed power_switch;
		struct {
			__le64 timestamp;
			__le32 percent[4];
		} __packed utilisation;
		struct {
			__le64 active;		/* in units of 10 ms */
			__le32 unk_c[3];
			__le32 power;		/* in mW */
		} __packed average_power;
		struct {
			__le32 unk_4;
			__le32 sensor;		/* not written where there is none */
			__le32 value;		/* in units of 1/64 degree Celsius, times scale */
			__le32 scale;
			__le32 least;
			__le32 most;
		} __packed temperature;
		struct {
			__le64 timestamp;
			__le64 last_busy;
			__le32 active;
			__le32 off;
			__le32 unk_1c;
			__le32 state;
			__le32 unk_24[2];
		} __packed power_state;
		struct {
			__le64 timestamp;
			__le32 busy;
		} __packed fw_busy;
		struct {
			__u8 unk_4[8];
			__le32 least;
			__le32 unk_10;
			__le32 most;
			__le32 unk_18;
		} __packed state_range;
	} __packed;
} __packed;

#define ASAHI_FW_STATS_POWER		0x0
#define ASAHI_FW_STATS_POWER_ON		0x2
#define ASAHI_FW_STATS_POWER_OFF	0x3
#define ASAHI_FW_STATS_UTILISATION	0x4
#define ASAHI_FW_STATS_AVERAGE_POWER	0x9
#define ASAHI_FW_STATS_TEMPERATURE	0xa
#define ASAHI_FW_STATS_POWER_STATE	0xb
#define ASAHI_FW_STATS_FW_BUSY		0xc
#define ASAHI_FW_STATS_STATE_RANGE	0xd
#define ASAHI_FW_STATS_SENSOR		0xe
#define ASAHI_FW_STATS_TYPES		0xf

#ifdef ASAHI_ABI_VERSION

#if ASAHI_ABI_VERSION >= ASAHI_V13_5 && ASAHI_ABI_GEN == ASAHI_G14G
#define ASAHI_FW_TX_MSG_SIZE		0x40
#else
#define ASAHI_FW_TX_MSG_SIZE		0x30
#endif

#if ASAHI_ABI_VERSION >= ASAHI_V13_5
#define ASAHI_FW_STATS_MSG_SIZE		0x40
#else
#define ASAHI_FW_STATS_MSG_SIZE		0x30
#endif

struct asahi_fw_pipe_msg {
	__le32 pipe_type;
	__le64 work_queue;
	__le32 wptr;
	__le32 event_slot;
	__u8 is_new;
	__u8 pad_15[ASAHI_FW_TX_MSG_SIZE - 0x15];
} __packed;

#if ASAHI_ABI_VERSION >= ASAHI_V13_5
#define ASAHI_FW_DC_GROW_TVB_ACK	0x0e
#define ASAHI_FW_DC_RECOVER_CHANNEL	0x0f
#define ASAHI_FW_DC_IDLE_POWER_OFF	0x10
#define ASAHI_FW_DC_DESTROY_CONTEXT	0x18
#define ASAHI_FW_DC_INITIALIZE		0x1a
#else
#define ASAHI_FW_DC_GROW_TVB_ACK	0x0d
#define ASAHI_FW_DC_RECOVER_CHANNEL	0x0e
#define ASAHI_FW_DC_IDLE_POWER_OFF	0x0f
#define ASAHI_FW_DC_DESTROY_CONTEXT	0x17
#define ASAHI_FW_DC_INITIALIZE		0x19
#endif

struct asahi_fw_dc_grow_tvb_ack {
	__le32 type;
	__le32 unk_4;
	__le32 buffer_slot;
	__le32 vm_slot;
	__le32 counter;
	__le32 subpipe;
	__le64 halt_count;
	__u8 pad_20[ASAHI_FW_TX_MSG_SIZE - 0x20];
} __packed;

struct asahi_fw_dc_recover_channel {
	__le32 type;
	__le32 pipe_type;
	__le64 work_queue;
	__le32 event_value;
	__u8 pad_14[ASAHI_FW_TX_MSG_SIZE - 0x14];
} __packed;

struct asahi_fw_dc_destroy_context {
	__le32 type;
	__le32 unk_4;
	__u8 ctx_23;
#if ASAHI_ABI_VERSION < ASAHI_V13_5
	__u8 pad_9[3];
#endif
	__le32 unk_c;
	__le32 unk_10;
	__u8 ctx_0;
	__u8 ctx_1;
	__u8 ctx_4;
#if ASAHI_ABI_VERSION < ASAHI_V13_5
	__u8 pad_17;
	__le32 unk_18;
	__le64 gpu_context;
	__u8 pad_24[ASAHI_FW_TX_MSG_SIZE - 0x24];
#else
	__le64 gpu_context;
	__u8 pad_1c[ASAHI_FW_TX_MSG_SIZE - 0x1c];
#endif
} __packed;

struct asahi_fw_dc_initialize {
	__le32 type;
	__u8 pad_4[ASAHI_FW_TX_MSG_SIZE - 0x4];
} __packed;

#endif /* ASAHI_ABI_VERSION */

#endif
