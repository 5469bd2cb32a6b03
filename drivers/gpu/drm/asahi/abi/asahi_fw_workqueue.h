/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Firmware structures: work queues and barriers.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FW_WORKQUEUE_H
#define ASAHI_FW_WORKQUEUE_H

#include <linux/types.h>

#include "asahi_fw_common.h"

/* First word of every entry that a work queue's ring points to. */
#define ASAHI_FW_CMD_RUN_VERTEX		0
#define ASAHI_FW_CMD_RUN_FRAGMENT	1
#define ASAHI_FW_CMD_RUN_COMPUTE	3
#define ASAHI_FW_CMD_BARRIER		4
#define ASAHI_FW_CMD_INIT_BUFFER	6

/* struct asahi_fw_barrier::uuid of a barrier that the user asked for. */
#define ASAHI_FW_BARRIER_UUID		0xffffbbbb

/*
 * Wait for a stamp. Only 13.5 on G14X reads the second half; all others
 * accept it.
 */
struct asahi_fw_barrier {
	__le32 tag;
	__le64 wait_stamp;		/* the firmware's copy */
	__le32 wait_value;
	__le32 wait_slot;
	__le32 stamp_self;		/* value that the waiting work will write */
	__le32 uuid;
	__le32 external_barrier;
	__le32 internal_barrier_type;
	__u8 pad_24[0x1c];
} __packed;

/* What the firmware's scheduler keeps of a queue; it writes there. */
struct asahi_fw_gpu_context_data {
	__u8 unk_0;
	__u8 unk_1;
	__u8 unk_2[2];
	__u8 unk_4;
	__u8 unk_5;
	__u8 unk_6[0x18];
	__u8 unk_1e;
	__u8 unk_1f;
	__u8 unk_20[3];
	__u8 unk_23;
	__u8 unk_24[0x1c];
} __packed;

/* Pointers into a ring, in entries, each in its own sixteen bytes. */
struct asahi_fw_ring_state {
	__le32 gpu_doneptr;
	__u8 pad_4[0xc];
	__le32 unk_10;
	__u8 pad_14[0xc];
	__le32 unk_20;
	__u8 pad_24[0xc];
	__le32 gpu_rptr;
	__u8 pad_34[0xc];
	__le32 cpu_wptr;
	__u8 pad_44[0xc];
	__le32 rb_size;
	__u8 pad_54[0xc];
} __packed;

struct asahi_fw_priority {
	__le32 unk_0;
	__le32 unk_4;
	__le64 unk_8;
	__le32 unk_10;
	__le32 unk_14;
	__le32 unk_18;
} __packed;

#ifdef ASAHI_ABI_VERSION
struct asahi_fw_queue_info {
	__le64 state;			/* struct asahi_fw_ring_state */
	__le64 ring;			/* array of addresses */
	__le64 notifier_list;
	__le64 gpu_buf;
	__le32 gpu_rptr1;
	__le32 gpu_rptr2;
	__le32 gpu_rptr3;
	__le32 event_id;
	struct asahi_fw_priority priority;
	__le32 unk_4c;
	__le32 uuid;
	__le32 unk_54;
	__le64 unk_58;
	__le32 busy;
	__u8 pad_64[0x20];
#if ASAHI_ABI_VERSION >= ASAHI_V13_5 && ASAHI_ABI_GEN < ASAHI_G14X
	__le32 unk_84_0;
#endif
	__le32 unk_84_state;
	__le32 error_count;
	__le32 unk_8c;
	__le32 unk_90;
	__le32 unk_94;
	__le32 pending;
	__le32 unk_9c;
	__le64 gpu_context;		/* struct asahi_fw_gpu_context_data */
	__le64 unk_a8;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5 && ASAHI_ABI_GEN < ASAHI_G14X
	__le32 unk_b0;
#endif
} __packed;
#endif

#endif
