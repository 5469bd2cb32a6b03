/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Firmware structures: microsequences, the small programs that the firmware
 * runs for each command.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FW_MICROSEQ_H
#define ASAHI_FW_MICROSEQ_H

#include <linux/types.h>

#include "asahi_fw_common.h"

/* Opcodes, with the arguments that are always the same. */
#define ASAHI_FW_OP_WAIT_FOR_IDLE	0x01
#define ASAHI_FW_OP_WAIT_FOR_IDLE2	0x02
#define ASAHI_FW_OP_RETIRE_STAMP	0x40000018
#define ASAHI_FW_OP_TIMESTAMP_END	0x19
#define ASAHI_FW_OP_TIMESTAMP_START	0x80000019
#define ASAHI_FW_OP_START_VERTEX	0x22
#define ASAHI_FW_OP_FINALIZE_VERTEX	0x23
#define ASAHI_FW_OP_START_FRAGMENT	0x24
#define ASAHI_FW_OP_FINALIZE_FRAGMENT	0x25
#define ASAHI_FW_OP_START_COMPUTE	0x29
#define ASAHI_FW_OP_FINALIZE_COMPUTE	0x2a

/* Which pipe ASAHI_FW_OP_WAIT_FOR_IDLE waits for. */
#define ASAHI_FW_WAIT_VERTEX		(1 << 8)
#define ASAHI_FW_WAIT_FRAGMENT		(1 << 16)
#define ASAHI_FW_WAIT_COMPUTE		(1 << 23)

#define ASAHI_FW_ATTACHMENTS		16

struct asahi_fw_attachment {
	__le64 address;
	__le32 size;			/* lines of 128 bytes */
	__le16 unk_c;
	__le16 unk_e;
} __packed;

struct asahi_fw_attachments {
	struct asahi_fw_attachment list[ASAHI_FW_ATTACHMENTS];
	__le32 count;
} __packed;

/* An operation without operands. */
struct asahi_fw_op {
	__le32 header;
} __packed;

#ifdef ASAHI_ABI_VERSION
struct asahi_fw_op_timestamp {
	__le32 header;
	__le64 cur_ts;
	__le64 start_ts;
	__le64 update_ts;
	__le64 work_queue;
	__le64 unk_24;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 unk_ts;
#endif
	__le32 uuid;
	__le32 unk_30_padding;
} __packed;

struct asahi_fw_start_vertex {
	__le32 header;
	__le64 tiling_params;
	__le64 job_params1;
#if ASAHI_ABI_GEN >= ASAHI_G14X
	__le64 registers;
#endif
	__le64 buffer;			/* struct asahi_fw_buffer_info */
	__le64 scene;			/* struct asahi_fw_scene */
	__le64 stats;
	__le64 work_queue;		/* struct asahi_fw_queue_info */
	__le32 vm_slot;
	__le32 unk_38;
	__le32 event_generation;
	__le32 buffer_slot;
	__le32 unk_44;
	__le64 event_seq;
	__le32 unk_50;
	__le64 unk_pointer;		/* the command's unk_pointee */
	__le64 unk_job_buf;		/* the command's unk_buf */
	__le32 unk_64;
	__le32 unk_68;
	__le32 uuid;
	struct asahi_fw_attachments attachments;
	__le32 padding;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 counter;
	__le64 notifier_buf;
#endif
	__le32 unk_178;			/* 1: not clustered; 13.5 only */
} __packed;

struct asahi_fw_finalize_vertex {
	__le32 header;
	__le64 scene;
	__le64 buffer;
	__le64 stats;
	__le64 work_queue;
	__le32 vm_slot;
	__le32 unk_28;
	__le64 unk_pointer;
	__le32 unk_34;
	__le32 uuid;
	__le64 fw_stamp;
	__le32 stamp_value;
	__le64 unk_48;
	__le32 unk_50;
	__le32 unk_54;
	__le64 unk_58;
	__le32 unk_60;
	__le32 unk_64;
	__le32 unk_68;
#if ASAHI_ABI_VERSION < ASAHI_V13_5 && ASAHI_ABI_GEN >= ASAHI_G14G
	__le64 unk_68_g14;
#endif
	__le32 restart_branch_offset;	/* signed, back to the start operation */
	__le32 has_attachments;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_74[0x10];
#endif
} __packed;

struct asahi_fw_start_fragment {
	__le32 header;
	__le64 job_params2;
	__le64 job_params1;
#if ASAHI_ABI_GEN >= ASAHI_G14X
	__le64 registers;
#endif
	__le64 scene;
	__le64 stats;
	__le64 busy_flag;
	__le64 tvb_overflow_count;
	__le64 unk_pointer;
	__le64 work_queue;
	__le64 work_item;		/* the command */
	__le32 vm_slot;
	__le32 unk_50;
	__le32 event_generation;
	__le32 buffer_slot;
	__le32 sync_grow;
	__le64 event_seq;
	__le32 unk_68;
	__le64 unk_758_flag;
	__le64 unk_job_buf;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 unk_7c_0;
#endif
	__le32 unk_7c;
	__le32 unk_80;
	__le32 unk_84;
	__le32 uuid;
	struct asahi_fw_attachments attachments;
	__le32 padding;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 counter;
	__le64 notifier_buf;
#endif
} __packed;

struct asahi_fw_finalize_fragment {
	__le32 header;
	__le32 uuid;
	__le32 unk_8;
	__le64 fw_stamp;
	__le32 stamp_value;
	__le32 unk_18;
	__le64 scene;
	__le64 buffer;
	__le64 unk_2c;
	__le64 stats;
	__le64 unk_pointer;
	__le64 busy_flag;
	__le64 work_queue;
	__le64 work_item;
	__le32 vm_slot;
	__le32 unk_60;
	__le64 unk_758_flag;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 unk_6c_0;
#endif
	__le64 unk_6c;
	__le64 unk_74;
	__le64 unk_7c;
	__le64 unk_84;
	__le64 unk_8c;
#if ASAHI_ABI_VERSION < ASAHI_V13_5 && ASAHI_ABI_GEN == ASAHI_G14G
	__le64 unk_8c_g14;
#endif
	__le32 restart_branch_offset;	/* signed, back to the start operation */
	__le32 has_attachments;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_9c[0x10];
#endif
} __packed;

struct asahi_fw_start_compute {
	__le32 header;
	__le64 unk_pointer;		/* the command's unk_pointee */
	__le64 job_params1;
#if ASAHI_ABI_GEN >= ASAHI_G14X
	__le64 registers;
#endif
	__le64 stats;
	__le64 work_queue;		/* struct asahi_fw_queue_info */
	__le32 vm_slot;
	__le32 unk_28;
	__le32 event_generation;
	__le64 event_seq;
	__le32 unk_38;
	__le64 job_params2;
	__le32 unk_44;
	__le32 uuid;
	struct asahi_fw_attachments attachments;
	__le32 padding;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 unk_flag;
	__le64 counter;
	__le64 notifier_buf;
#endif
} __packed;

struct asahi_fw_finalize_compute {
	__le32 header;
	__le64 stats;
	__le64 work_queue;
	__le32 vm_slot;
#if ASAHI_ABI_VERSION < ASAHI_V13_5
	__le32 unk_18;
#endif
	__le64 job_params2;
	__le32 unk_24;
	__le32 uuid;
	__le64 fw_stamp;
	__le32 stamp_value;
	__le32 unk_38;
	__le32 unk_3c;
	__le32 unk_40;
	__le32 unk_44;
	__le32 unk_48;
	__le32 unk_4c;
	__le32 unk_50;
	__le32 unk_54;
	__le32 unk_58;
#if ASAHI_ABI_VERSION < ASAHI_V13_5 && ASAHI_ABI_GEN == ASAHI_G14G
	__le64 unk_5c_g14;
#endif
	__le32 restart_branch_offset;	/* signed, back to the start operation */
	__le32 has_attachments;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_64[0xd];
	__le64 unk_flag;
	__u8 unk_79[7];
#endif
} __packed;
#endif

#endif
