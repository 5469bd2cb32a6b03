/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Firmware structures: how completed work is counted and announced.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FW_EVENT_H
#define ASAHI_FW_EVENT_H

#include <linux/types.h>

#include "asahi_fw_common.h"

struct asahi_fw_list_head {
	__le64 prev;
	__le64 next;
} __packed;

struct asahi_fw_notifier_list {
	struct asahi_fw_list_head list_head;
	__le64 unkptr_10;
} __packed;

/* Pieces of work that have to complete before the firmware sends an event. */
struct asahi_fw_threshold {
	__le64 value;
} __packed;

#ifdef ASAHI_ABI_VERSION
struct asahi_fw_notifier_state {
	__le32 unk_14;
	__le64 unk_18;
	__le32 unk_20;
	__le32 vm_slot;
	__le32 has_vtx;
	__le64 pstamp_vtx[4];
	__le32 has_frag;
	__le64 pstamp_frag[4];
	__le32 has_comp;
	__le64 pstamp_comp[4];
#if ASAHI_ABI_VERSION < ASAHI_V13_5 && ASAHI_ABI_GEN >= ASAHI_G14G
	__u8 unk_98_g14_0[0x14];
#endif
	__le32 in_list;
	struct asahi_fw_list_head list_head;
#if ASAHI_ABI_VERSION < ASAHI_V13_5 && ASAHI_ABI_GEN >= ASAHI_G14G
	__u8 unk_a8_g14_0[4];
#endif
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_buf[8];
#endif
} __packed;

struct asahi_fw_notifier {
	__le64 threshold;		/* struct asahi_fw_threshold */
	__le32 generation;
	__le32 cur_count;
	__le32 unk_10;
	struct asahi_fw_notifier_state state;
} __packed;
#endif

#endif
