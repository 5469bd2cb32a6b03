/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Firmware structures: the vertex half of render commands.
 *
 * Sources: Rust driver, fw/vertex.rs; m1n1, fw/agx/cmdqueue.py.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FW_VERTEX_H
#define ASAHI_FW_VERTEX_H

#include <linux/types.h>

#include "asahi_fw_common.h"
#include "asahi_fw_job.h"

/* G13 and G14G only, as the next one. */
struct asahi_fw_tiling_params {
	__le32 rgn_size;		/* words of the tilemap per macrotile */
	__le32 unk_4;
	__le32 ppp_ctrl;
	__le16 x_max;
	__le16 y_max;
	__le32 te_screen;
	__le32 te_mtile1;
	__le32 te_mtile2;
	__le32 tiles_per_mtile;
	__le32 tpc_stride;		/* words */
	__le32 unk_24;
	__le32 unk_28;			/* layers */
	__le32 helper_cfg;
	__u8 pad_30[0x70];
} __packed;

struct asahi_fw_vertex_params2 {
	__le32 unk_480[4];
	__le64 unk_498;
	__le32 unk_4a0;
	__le64 preempt_buf1;
	__le32 unk_4ac;
	__le64 unk_4b0;
	__le32 unk_4b8;
	__le64 unk_4bc;
	__u8 pad_4c4[0x48];
	__le32 unk_50c;
	__le64 unk_510;
	__le64 unk_518;
	__le64 unk_520;
} __packed;

#ifdef ASAHI_ABI_VERSION
struct asahi_fw_vertex_params1 {
	__le64 unk_0;
	__le32 unk_8;
	__le32 unk_c;
	__le64 tvb_tilemap;
#if ASAHI_ABI_GEN < ASAHI_G14G
	__le64 tvb_cluster_tilemaps;
#endif
	__le64 tpc;
	__le64 tvb_heapmeta;
	__le64 iogpu_unk_54;
	__le64 iogpu_unk_56;
#if ASAHI_ABI_GEN < ASAHI_G14G
	__le64 tvb_cluster_meta1;
#endif
	__le32 utile_config;
	__le32 unk_4c;
	__le64 ppp_multisamplectl;
	__le64 tvb_layermeta;
#if ASAHI_ABI_GEN < ASAHI_G14G
	__le64 tvb_cluster_layermeta;
	__le32 core_mask[2];
#endif
	__le64 preempt_buf1;
	__le64 preempt_buf2;
	__le64 unk_80;
	__le64 preempt_buf3;
	__le64 vdm_ctrl_stream_base;
#if ASAHI_ABI_GEN < ASAHI_G14G
	__le64 tvb_cluster_meta2;
	__le64 tvb_cluster_meta3;
	__le32 tiling_control;
	__le32 unk_ac;
#endif
	__le64 unk_b0[6];
	__le64 usc_exec_base_ta;
#if ASAHI_ABI_GEN < ASAHI_G14G
	__le64 tvb_cluster_meta4;
	__le64 unk_f0;
#endif
	__le64 unk_f8;
	__le32 helper_program;
	__le32 unk_104;
	__le64 helper_arg;
	__le64 unk_110;
	__le32 unk_118;
#if ASAHI_ABI_GEN < ASAHI_G14G
	__u8 pad_11c[0x268];
#else
	__u8 pad_11c[0x2b0];
#endif
} __packed;

struct asahi_fw_run_vertex {
	__le32 tag;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 counter;
#endif
	__le32 vm_slot;
	__le32 unk_8;
	__le64 notifier;		/* struct asahi_fw_notifier */
	__le32 buffer_slot;
	__le32 unk_1c;
	__le64 buffer;			/* struct asahi_fw_buffer_info */
	__le64 scene;			/* struct asahi_fw_scene */
	__le64 unk_buffer_buf;
	__le32 unk_34;
#if ASAHI_ABI_GEN < ASAHI_G14X
	struct asahi_fw_vertex_params1 job_params1;
	struct asahi_fw_tiling_params tiling_params;
#else
	struct asahi_fw_register_array registers;
#endif
	__le64 tpc;
	__le64 tpc_size;		/* bytes */
	__le64 microsequence;
	__le32 microsequence_size;
	__le32 fragment_stamp_slot;
	__le32 fragment_stamp_value;
	__le32 unk_pointee;
	__le32 unk_pad;
	struct asahi_fw_vertex_params2 job_params2;
	struct asahi_fw_encoder_params encoder_params;
	__le32 unk_55c;
	__le32 unk_560;
	__le32 sync_grow;
	__le32 unk_568;
	__le32 uses_scratch;
	struct asahi_fw_job_meta meta;
	__le32 unk_after_meta;
	__le64 unk_buf[3];
	__le64 command_time;
	struct asahi_fw_timestamp_pointers timestamp_pointers;
	struct asahi_fw_timestamp_pointers user_timestamp_pointers;
	__u8 client_sequence;
	__u8 pad_5d5[3];
	__le32 unk_5d8;
	__u8 unk_5dc;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 unk_ts;
	__u8 unk_5dd_8[0x1b];
#endif
#if ASAHI_ABI_VERSION < ASAHI_V13_5
	__u8 pad_5dd[3];
#endif
} __packed;
#endif

#endif
