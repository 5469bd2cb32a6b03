/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Firmware structures: the fragment half of render commands.
 *
 * Sources: Rust driver, fw/fragment.rs; m1n1, fw/agx/cmdqueue.py.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FW_FRAGMENT_H
#define ASAHI_FW_FRAGMENT_H

#include <linux/types.h>

#include "asahi_fw_common.h"
#include "asahi_fw_job.h"

struct asahi_fw_background_program {
	__le64 rsrc_spec;
	__le64 address;
} __packed;

struct asahi_fw_eot_program {
	__le64 unk_0;
	__le32 unk_8;
	__le32 rsrc_spec;
	__le32 unk_10;
	__le32 address;
	__le32 unk_18;
	__le32 pad_1c;
} __packed;

struct asahi_fw_array_addr {
	__le64 ptr;
	__le64 pad_8;
} __packed;

/* G13 and G14G only, as params1. */
struct asahi_fw_fragment_params2 {
	__le32 eot_rsrc_spec;
	__le32 eot_usc;
	__le32 unk_8;
	__le32 unk_c;
	__le32 isp_merge_upper_x;
	__le32 isp_merge_upper_y;
	__le64 unk_18;
	__le16 utiles_per_mtile_y;
	__le16 utiles_per_mtile_x;
	__le32 unk_24;
	__le32 tile_counts;
	__le32 tib_blocks;		/* of the tilebuffer, 2 KiB each */
	__le32 isp_bgobjdepth;
	__le32 isp_bgobjvals;
	__le32 unk_38;
	__le32 unk_3c;
	__le32 helper_cfg;
	__u8 pad_44[0xac];
} __packed;

#ifdef ASAHI_ABI_VERSION
struct asahi_fw_aux_fb_info {
	__le32 isp_ctl;
	__le32 unk_4;
	__le32 width;
	__le32 height;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 unk_10;
#endif
} __packed;

struct asahi_fw_fragment_params1 {
	__le32 utile_config;
	__le32 unk_4;
	struct asahi_fw_background_program bg;
	__le64 ppp_multisamplectl;
	__le64 isp_scissor_base;
	__le64 isp_dbias_base;
	struct asahi_fw_aux_fb_info aux_fb_info;
	__le64 isp_zls_pixels;
	__le64 isp_oclqry_base;
	__le64 zls_ctrl;
#if ASAHI_ABI_GEN >= ASAHI_G14G
	__le64 unk_58_g14_0;
	__le64 unk_58_g14_8;
#endif
	__le64 z_load;
	__le64 z_store;
	__le64 s_load;
	__le64 s_store;
#if ASAHI_ABI_GEN >= ASAHI_G14G
	__u8 unk_68_g14_0[0x20];
#endif
	__le64 z_load_stride;
	__le64 z_store_stride;
	__le64 s_load_stride;
	__le64 s_store_stride;
	__le64 z_load_comp;
	__le64 z_load_comp_stride;
	__le64 z_store_comp;
	__le64 z_store_comp_stride;
	__le64 s_load_comp;
	__le64 s_load_comp_stride;
	__le64 s_store_comp;
	__le64 s_store_comp_stride;
	__le64 tvb_tilemap;
	__le64 tvb_layermeta;
	__le64 mtile_stride;
	__le64 tvb_heapmeta;
	__le64 tile_config;
	__le64 aux_fb;
	__le64 unk_108[6];
	__le64 usc_exec_base_isp;
	__le64 unk_140;
	__le32 helper_program;
	__le32 unk_14c;
	__le64 helper_arg;
	__le64 unk_158;
	__le64 unk_160;
#if ASAHI_ABI_GEN < ASAHI_G14G
	__u8 pad_168[0x1d8];
#else
	__u8 pad_168[0x1a8];
#endif
#if ASAHI_ABI_VERSION < ASAHI_V13_5
	__u8 pad_340[8];
#endif
} __packed;

/* What partial renders differ in. */
struct asahi_fw_fragment_params3 {
	struct asahi_fw_array_addr isp_dbias_base;
	struct asahi_fw_array_addr isp_scissor_base;
	__le64 isp_oclqry_base;
	__le64 unk_118;
	__le64 unk_120[0x25];
	struct asahi_fw_background_program unk_partial_bg;
	__le64 unk_258;
	__le64 unk_260;
	__le64 unk_268;
	__le64 unk_270;
	struct asahi_fw_background_program partial_bg;
	__le64 zls_ctrl;
	__le64 unk_290;
	__le64 z_load;
	__le64 z_partial_stride;
	__le64 z_partial_comp_stride;
	__le64 z_store;
	__le64 z_partial;
	__le64 z_partial_comp;
	__le64 s_load;
	__le64 s_partial_stride;
	__le64 s_partial_comp_stride;
	__le64 s_store;
	__le64 s_partial;
	__le64 s_partial_comp;
	__le64 unk_2f8[2];
	__le32 tib_blocks;
	__le32 unk_30c;
	struct asahi_fw_aux_fb_info aux_fb_info;
	__le64 tile_config;
	__u8 pad_328[8];
	struct asahi_fw_eot_program unk_partial_eot;
	struct asahi_fw_eot_program partial_eot;
	__le32 isp_bgobjdepth;
	__le32 isp_bgobjvals;
	__le32 sample_size;		/* bytes */
	__le32 unk_37c;
	__le64 unk_380;
	__le64 unk_388;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 unk_390_0;
#endif
	__le64 isp_zls_pixels;
} __packed;

struct asahi_fw_run_fragment {
	__le32 tag;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 counter;
#endif
	__le32 vm_slot;
	__le32 unk_8;
	__le64 microsequence;
	__le32 microsequence_size;
	__le64 notifier;		/* struct asahi_fw_notifier */
	__le64 buffer;			/* struct asahi_fw_buffer_info */
	__le64 scene;			/* struct asahi_fw_scene */
	__le64 unk_buffer_buf;
	__le64 tvb_tilemap;
	__le64 ppp_multisamplectl;
	__le32 samples;
	__le16 tiles_per_mtile_y;
	__le16 tiles_per_mtile_x;
	__le64 unk_50;
	__le64 unk_58;
	__le32 isp_merge_upper_x;
	__le32 isp_merge_upper_y;
	__le64 unk_68;
	__le64 tile_count;
#if ASAHI_ABI_GEN < ASAHI_G14X
	struct asahi_fw_fragment_params1 job_params1;
	struct asahi_fw_fragment_params2 job_params2;
#else
	struct asahi_fw_register_array registers;
#endif
	struct asahi_fw_fragment_params3 job_params3;
	__le32 unk_758_flag;
	__le32 unk_75c_flag;
	__u8 unk_760[0x110];
	__le32 busy_flag;
	__le32 tvb_overflow_count;	/* the firmware's */
	__le32 unk_878;
	struct asahi_fw_encoder_params encoder_params;
	__le32 process_empty_tiles;
	__le32 no_clear_pipeline_textures;
	__le32 msaa_zs;
	__le32 unk_pointee;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 unk_v13_3;
#endif
	struct asahi_fw_job_meta meta;
	__le32 unk_after_meta;
	__le64 unk_buf[3];
	__le64 command_time;
	struct asahi_fw_timestamp_pointers timestamp_pointers;
	struct asahi_fw_timestamp_pointers user_timestamp_pointers;
	__u8 client_sequence;
	__u8 pad_925[3];
	__le32 unk_928;
	__u8 unk_92c;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 unk_ts;
	__u8 unk_92d_8[0x1b];
#endif
#if ASAHI_ABI_VERSION < ASAHI_V13_5
	__u8 pad_92d[3];
#endif
} __packed;
#endif

#endif
