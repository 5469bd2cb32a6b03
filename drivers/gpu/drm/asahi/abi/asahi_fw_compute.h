/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Firmware structures: compute commands.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FW_COMPUTE_H
#define ASAHI_FW_COMPUTE_H

#include <linux/types.h>

#include "asahi_fw_common.h"
#include "asahi_fw_job.h"

/* G13 and G14G only: G14X has a list of registers instead. */
struct asahi_fw_compute_params1 {
	__le64 preempt_buf1;
	__le64 cdm_ctrl_stream_base;
	__le64 preempt_buf2;
	__le64 preempt_buf3;
	__le64 preempt_buf4;
	__le64 preempt_buf5;
	__le64 usc_exec_base_cp;
	__le64 unk_38;
	__le32 helper_program;
	__le32 unk_44;
	__le64 helper_arg;
	__le32 helper_cfg;
	__le32 unk_54;
	__le32 unk_58;
	__le32 unk_5c;
	__le32 iogpu_unk_40;
	__u8 pad_64[0xfc];
} __packed;

#ifdef ASAHI_ABI_VERSION
struct asahi_fw_compute_params2 {
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 unk_0_0;
#endif
	__u8 unk_0[0x24];
	__le64 preempt_buf1;
	__le64 cdm_ctrl_stream_end;
	__u8 unk_34[0x20];
	__le32 unk_g14x;
	__le32 unk_58;
#if ASAHI_ABI_VERSION < ASAHI_V13_5
	__le32 unk_5c;
#endif
} __packed;

struct asahi_fw_run_compute {
	__le32 tag;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 counter;
#endif
	__le32 unk_4;
	__le32 vm_slot;
	__le64 notifier;		/* struct asahi_fw_notifier */
	__le32 unk_pointee;
#if ASAHI_ABI_GEN < ASAHI_G14X
	__u8 pad_14[0x50];
	struct asahi_fw_compute_params1 job_params1;
#else
	struct asahi_fw_register_array registers;
#endif
	__u8 pad_1d0[0x20];
	__le64 microsequence;
	__le32 microsequence_size;
	struct asahi_fw_compute_params2 job_params2;
	struct asahi_fw_encoder_params encoder_params;
	struct asahi_fw_job_meta meta;
	__le64 command_time;
	struct asahi_fw_timestamp_pointers timestamp_pointers;
	struct asahi_fw_timestamp_pointers user_timestamp_pointers;
	__u8 client_sequence;
	__u8 pad_2d1[3];
	__le32 unk_2d4;
	__u8 unk_2d8;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 context_store_req;
	__le64 context_store_compl;
	__u8 unk_2e9[0x14];
	__le32 unk_flag;
	__u8 unk_pad[0x10];
#endif
	__u8 pad_end[3];
} __packed;
#endif

#endif
