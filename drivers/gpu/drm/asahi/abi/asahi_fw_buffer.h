/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Firmware structures: tiled vertex buffers and scenes.
 *
 * Sources: Rust driver, fw/buffer.rs; m1n1, fw/agx/microsequence.py and
 * fw/agx/cmdqueue.py.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FW_BUFFER_H
#define ASAHI_FW_BUFFER_H

#include <linux/types.h>

#include "asahi_fw_common.h"

/* How much of the lists is filled; the firmware reads it for each render. */
struct asahi_fw_block_control {
	__le32 total;			/* blocks */
	__le32 wptr;			/* the same */
	__le32 unk_8;
	__u8 pad_c[0x34];
} __packed;

struct asahi_fw_buffer_counter {
	__le32 count;			/* renders so far */
	__u8 pad_4[0x3c];
} __packed;

/* How much renders have used; the firmware writes there. */
struct asahi_fw_buffer_stats {
	__le32 max_pages;		/* of any render since the last reset */
	__le32 max_b;
	__le32 overflow_count;
	__le32 gpu_c;
	__u8 pad_10[0x10];
	__le32 reset;			/* 1: begin again */
	__u8 pad_24[0x1c];
} __packed;

/* An entry of the list of blocks. */
struct asahi_fw_block {
	__le32 page;			/* number of its first page */
	__le32 unk_4;
} __packed;

/* Have the firmware take a buffer into a slot. */
struct asahi_fw_init_buffer {
	__le32 tag;
	__le32 vm_slot;
	__le32 buffer_slot;
	__le32 unk_c;
	__le32 block_count;
	__le64 buffer;			/* struct asahi_fw_buffer_info */
	__le32 stamp_value;		/* value that the render's vertex work will write */
} __packed;

#ifdef ASAHI_ABI_VERSION
struct asahi_fw_buffer_info {
	__le32 gpu_counter;
	__le32 unk_4;
	__le32 last_id;
	__le32 cur_id;			/* signed; -1: none */
	__le32 unk_10;
	__le32 gpu_counter2;
	__le32 unk_18;
#if ASAHI_ABI_VERSION < ASAHI_V13_5 || ASAHI_ABI_GEN >= ASAHI_G14X
	__le32 unk_1c;
#endif
	__le64 page_list;		/* numbers of pages, 32 bits each */
	__le32 page_list_size;		/* bytes */
	__le32 page_count;
	__le32 max_blocks;
	__le32 block_count;
	__le32 unk_38;
	__le64 block_list;		/* array of struct asahi_fw_block */
	__le64 block_control;		/* struct asahi_fw_block_control */
	__le32 last_page;
	__le32 gpu_page_ptr1;
	__le32 gpu_page_ptr2;
	__le32 unk_58;
	__le32 block_size;		/* bytes */
	__le64 unk_60;
	__le64 counter;			/* struct asahi_fw_buffer_counter */
	__le32 unk_70;
	__le32 unk_74;
	__le32 unk_78;
	__le32 unk_7c;
	__le32 unk_80;
	__le32 max_pages;
	__le32 max_pages_nomemless;	/* without memoryless render targets */
	__le32 unk_8c;
	__u8 unk_90[0x30];
} __packed;

struct asahi_fw_scene {
#if ASAHI_ABI_GEN >= ASAHI_G14X
	__le64 control_word;
	__le64 control_word2;		/* the same */
#endif
	__le32 pass_page_count;		/* the firmware's */
	__le32 unk_4;
	__le64 unk_8;
	__le64 unk_10;
	__le64 user_buffer;
	__le32 unk_20;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 unk_28;
#endif
	__le64 stats;			/* struct asahi_fw_buffer_stats */
	__le32 total_page_count;	/* the firmware's */
#if ASAHI_ABI_GEN < ASAHI_G14X
	__le64 unk_30;
	__le64 unk_38;
#endif
} __packed;
#endif

#endif
