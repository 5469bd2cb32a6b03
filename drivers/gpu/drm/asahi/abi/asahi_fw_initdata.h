/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Firmware structures: InitData and what hangs off it.
 *
 * HwDataA, HwDataB and Globals come filled in from the boot loader; most of
 * what is in them sets up power management and is of no interest here.
 *
 * Sources: Rust driver, fw/initdata.rs and initdata.rs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FW_INITDATA_H
#define ASAHI_FW_INITDATA_H

#include "asahi_fw_channels.h"
#include "asahi_fw_common.h"

struct asahi_fw_status_flags {
	__le64 halt_count;
	__u8 pad_8[0x8];
	__le32 halted;
	__u8 pad_14[0xc];
	__le32 resume;
	__u8 pad_24[0xc];
	__le32 unk_40;
	__u8 pad_34[0xc];
	__le32 unk_ctr;
	__u8 pad_44[0xc];
	__le32 unk_60;
	__u8 pad_54[0xc];
	__le32 unk_70;
	__u8 pad_64[0xc];
} __packed;

struct asahi_fw_status {
	struct asahi_fw_channel_ring fwctl_channel;
	struct asahi_fw_status_flags flags;
} __packed;

struct asahi_fw_pending_stamp {
	__le32 info;		/* bit 0: valid; slot, position depends on version */
	__le32 wait_value;
} __packed;

#define ASAHI_FW_PENDING_STAMPS		0x100
#define ASAHI_FW_PENDING_STAMP_VALID	0x1

struct asahi_fw_uat_level_info {
	__u8 unk_3;
	__u8 unk_1;
	__u8 unk_2;
	__u8 index_shift;
	__le16 num_entries;
	__le16 unk_4;
	__le64 unk_8;
	__le64 unk_10;
	__le64 index_mask;
} __packed;

struct asahi_fw_io_mapping {
	__le64 phys_addr;
	__le64 virt_addr;
	__le32 total_size;
	__le32 element_size;
	__le64 readwrite;
} __packed;

#ifdef ASAHI_ABI_VERSION

struct asahi_fw_pipe_channels {
	struct asahi_fw_channel_ring vtx;
	struct asahi_fw_channel_ring frag;
	struct asahi_fw_channel_ring comp;
} __packed;

#if ASAHI_ABI_GEN >= ASAHI_G14X
#define ASAHI_FW_HWDATA_A_SIZE		0x6c34
#elif ASAHI_ABI_VERSION >= ASAHI_V13_5
#define ASAHI_FW_HWDATA_A_SIZE		0x421c
#else
#define ASAHI_FW_HWDATA_A_SIZE		0x3d6c
#endif

#if ASAHI_ABI_VERSION >= ASAHI_V13_5
#define ASAHI_FW_IO_MAPPINGS		0x19
#define ASAHI_FW_YUV_MATRICES		0x3f
#else
#define ASAHI_FW_IO_MAPPINGS		0x14
#define ASAHI_FW_YUV_MATRICES		0xf
#endif

struct asahi_fw_hwdata_b_aux_pstates {
	__le32 cs_max_pstate;
	__le32 cs_frequencies[0x10];
	__le32 cs_voltages[0x10][2];
	__le32 cs_voltages_sram[0x10][2];
	__le32 cs_unkpad;
	__le32 afr_max_pstate;
	__le32 afr_frequencies[0x8];
	__le32 afr_voltages[0x8][2];
	__le32 afr_voltages_sram[0x8][2];
	__le32 afr_unkpad;
} __packed;

struct asahi_fw_hwdata_b {
#if ASAHI_ABI_VERSION < ASAHI_V13_5
	__le64 unk_0;
#endif
	__le64 unk_8;
#if ASAHI_ABI_VERSION < ASAHI_V13_5
	__le64 unk_10;
#endif
	__le64 unk_18;
	__le64 unk_20;
	__le64 unk_28;
	__le64 unk_30;
	__le64 timestamp_area_base;
	__u8 pad_40[0x20];
	__le16 yuv_matrices[ASAHI_FW_YUV_MATRICES][3][4];
	__u8 pad_1c8[0x8];
	struct asahi_fw_io_mapping io_mappings[ASAHI_FW_IO_MAPPINGS];
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le64 sgx_sram_ptr;
#endif
	__le32 chip_id;
	__le32 unk_454;
	__le32 unk_458;
	__le32 unk_45c;
	__le32 unk_460;
	__le32 unk_464;
	__le32 unk_468;
	__le32 unk_46c;
	__le32 unk_470;
	__le32 unk_474;
	__le32 unk_478;
	__le32 unk_47c;
	__le32 unk_480;
	__le32 unk_484;
	__le32 unk_488;
	__le32 unk_48c;
	__le32 base_clock_khz;
	__le32 power_sample_period;
	__u8 pad_498[0x4];
	__le32 unk_49c;
	__le32 unk_4a0;
	__le32 unk_4a4;
	__u8 pad_4a8[0x4];
	__le32 unk_4ac;
	__u8 pad_4b0[0x8];
	__le32 unk_4b8;
	__u8 unk_4bc[0x4];
	__le32 unk_4c0;
	__le32 unk_4c4;
	__le32 unk_4c8;
	__le32 unk_4cc;
	__le32 unk_4d0;
	__le32 unk_4d4;
	__u8 unk_4d8[0x4];
	__le32 unk_4dc;
	__le64 unk_4e0;
	__le32 unk_4e8;
	__le32 unk_4ec;
	__le32 unk_4f0;
	__le32 unk_4f4;
	__le32 unk_4f8;
	__le32 unk_4fc;
	__le32 unk_500;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 unk_504_0;
#endif
	__le32 unk_504;
	__le32 unk_508;
	__le32 unk_50c;
	__le32 unk_510;
	__le32 unk_514;
	__le32 unk_518;
	__le32 unk_51c;
	__le32 unk_520;
	__le32 unk_524;
	__le32 unk_528;
	__le32 unk_52c;
	__le32 unk_530;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 unk_534_0;
#endif
	__le32 unk_534;
	__le32 unk_538;
	__le32 num_frags;
	__le32 unk_540;
	__le32 unk_544;
	__le32 unk_548;
	__le32 unk_54c;
	__le32 unk_550;
	__le32 unk_554;
	__le64 uat_ttb_base;
	__le32 gpu_core_id;
	__le32 gpu_rev_id;
	__le32 num_cores;
	__le32 max_pstate;
#if ASAHI_ABI_VERSION < ASAHI_V13_5
	__le32 num_pstates;
#endif
	__le32 frequencies[0x10];
	__le32 voltages[0x10][8];
	__le32 voltages_sram[0x10][8];
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_9f4_0[64];
#endif
	__le32 sram_k[0x10];
	__le32 unk_9f4[0x10];
	__le32 rel_max_powers[0x10];
	__le32 rel_boost_freqs[0x10];
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 unk_arr_0[32];
	struct asahi_fw_hwdata_b_aux_pstates aux_ps;
	__u8 pad_ac4_0[0x44c];
#else
	__le32 min_sram_volt;
	__le32 unk_ab8;
	__le32 unk_abc;
	__le32 unk_ac0;
#endif
	__u8 pad_ac4[0x8];
	__le32 unk_acc;
	__le32 unk_ad0;
	__u8 pad_ad4[0x10];
	__le32 unk_ae4[4];
	__u8 pad_af4[0x4];
	__le32 unk_af8;
	__u8 pad_afc[0x8];
	__le32 unk_b04;
	__le32 unk_b08;
	__le32 unk_b0c;
#if ASAHI_ABI_GEN >= ASAHI_G14X
	__u8 pad_b10_0[0x8];
#endif
	__le32 unk_b10;
	__le64 timer_offset;
	__le32 unk_b1c;
	__le32 unk_b20;
	__le32 unk_b24;
	__le32 unk_b28;
	__le32 unk_b2c;
	__le32 unk_b30;
	__le32 unk_b34;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 unk_b38_0;
	__le32 unk_b38_4;
	__le32 unk_b38_8;
#endif
	__le32 unk_b38[0xc];
	__le32 unk_b68;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_b6c[0xd0];
#if ASAHI_ABI_GEN >= ASAHI_G14X
	__u8 unk_c3c_0[0x8];
#else
	__u8 unk_c3c_8[0x10];
#endif
	__u8 unk_c3c_18[0x20];
	__le32 unk_c3c;
#endif
} __packed;

/* Opaque but for what must be set up; the sizes are generous. */
struct asahi_fw_stats_vtx {
	__le32 total_cmds;
	__u8 stats[0x3000];
} __packed;

struct asahi_fw_stats_frag_body {
#if ASAHI_ABI_GEN >= ASAHI_G14X
	__u8 unk1_0[0x910];
#endif
	__u8 unk1[0x100];
	__le32 cur_stamp_id;
	__u8 unk2[0x14];
	__le32 unk_id;
	__u8 unk3[0x1000];
} __packed;

struct asahi_fw_stats_frag {
	__le32 total_cmds;
	__le32 unk_4;
	struct asahi_fw_stats_frag_body stats;
} __packed;

struct asahi_fw_stats_comp {
	__u8 stats[0x3000];
} __packed;

struct asahi_fw_runtime_scratch {
	__u8 unk_280[0x6800];
	__le32 unk_6a80;
	__le32 gpu_idle;
	__u8 pad_6a88[0x14];
	__le32 unk_6a9c;
	__le32 unk_ctr0;
	__le32 unk_ctr1;
	__le32 unk_6aa8;
	__le32 unk_6aac;
	__le32 unk_ctr2;
	__le32 unk_6ab4;
	__le32 unk_6ab8;
	__le32 unk_6abc;
	__le32 unk_6ac0;
	__le32 unk_6ac4;
	__le32 unk_ctr3;
	__le32 unk_6acc;
	__le32 unk_6ad0;
	__le32 unk_6ad4;
	__le32 unk_6ad8;
	__le32 unk_6adc;
	__le32 unk_6ae0;
	__le32 unk_6ae4;
	__le32 unk_6ae8;
	__le32 unk_6aec;
	__le32 unk_6af0;
	__le32 unk_ctr4;
	__le32 unk_ctr5;
	__le32 unk_6afc;
	__u8 pad_6b00[0x38];
#if ASAHI_ABI_GEN >= ASAHI_G14X
	__u8 pad_6b00_extra[0x4800];
#endif
	__le32 unk_6b38;
	__u8 pad_6b3c[0x84];
} __packed;

struct asahi_fw_runtime_pointers {
	struct asahi_fw_pipe_channels pipes[4];		/* by priority */
	struct asahi_fw_channel_ring device_control;
	struct asahi_fw_channel_ring event;
	struct asahi_fw_channel_ring fw_log;
	struct asahi_fw_channel_ring ktrace;
	struct asahi_fw_channel_ring stats;
	__u8 pad_110[0x50];
	__le64 unk_160;
	__le64 unk_168;
	__le64 stats_vtx;
	__le64 stats_frag;
	__le64 stats_comp;
	__le64 hwdata_a;
	__le64 unkptr_190;
	__le64 unkptr_198;
	__le64 hwdata_b;
	__le64 hwdata_b_2;
	__le64 fwlog_buf;
	__le64 unkptr_1b8;
#if ASAHI_ABI_GEN < ASAHI_G14X
	__le64 unkptr_1c0;
	__le64 unkptr_1c8;
#endif
	__le32 unk_1d0;
	__le32 unk_1d4;
	__u8 unk_1d8[0x3c];
	__le64 buffer_mgr_ctl_gpu_addr;
	__le64 buffer_mgr_ctl_fw_addr;
	__u8 pad_224[0x5c];
	struct asahi_fw_runtime_scratch gpu_scratch;
} __packed;

struct asahi_fw_fault_info {
	__le32 unk_0;
	__le32 unk_4;
	__le32 queue_uuid;
	__le32 unk_c;
	__le32 unk_10;
	__le32 unk_14;
} __packed;

struct asahi_fw_globals_sub {
	__le16 unk_54;
	__le16 unk_56;
	__le16 unk_58;
	__le32 unk_5a;
	__le32 unk_5e;
	__le32 unk_62;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_66_0[0xc];
#endif
	__le32 unk_66;
	__u8 unk_6a[0x16];
} __packed;

struct asahi_fw_power_zone {
	__le32 target;
	__le32 target_off;
	__le32 filter_tc;
} __packed;

struct asahi_fw_hwdata_shared1 {
	__le32 table[16];
	__u8 unk_44[0x60];
	__le32 unk_a4;
	__le32 unk_a8;
} __packed;

struct asahi_fw_hwdata_shared2_curve {
	__le32 unk_0;
	__le32 unk_4;
	__le16 t1[16];
	__le16 t2[16];
	__le32 t3[8][16];
} __packed;

struct asahi_fw_hwdata_shared2 {
	__le32 table[10];
	__u8 unk_28[0x10];
	__le32 g14_unk_0[5];
	__le32 g14_unk_14;
	__le32 g14_unk_18[8];
	struct asahi_fw_hwdata_shared2_curve g14_curve1;
	struct asahi_fw_hwdata_shared2_curve g14_curve2;
	__le32 unk_500;
	__le32 unk_504;
	__le32 unk_508;
	__le32 unk_50c;
} __packed;

struct asahi_fw_hwdata_shared3 {
	__le32 unk_0;
	__le32 unk_4;
	__le32 unk_8;
	__le32 table[16];
	__le32 unk_4c;
} __packed;

struct asahi_fw_globals {
	__le32 ktrace_enable;
	__u8 unk_4[0x20];
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 unk_24_0;
#endif
	__le32 unk_24;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 debug;
	__le32 unk_28_4;
#endif
	__le32 unk_28;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 unk_2c_0;
#endif
	__le32 unk_2c;
	__le32 unk_30;
	__le32 unk_34;
	__u8 unk_38[0x1c];
	struct asahi_fw_globals_sub sub;
	__u8 unk_80[0xf80];
	__u8 unk_1000[0x7000];
	__u8 unk_8000[0x900];
#if ASAHI_ABI_GEN >= ASAHI_G14X
	__u8 unk_8900_pad[0x484c];
#endif
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_8900_pad2[0x54];
#endif
	__le32 unk_8900;
	__le32 pending_submissions;
	__le32 max_power;
	__le32 max_pstate_scaled;
	__le32 max_pstate_scaled_2;
	__le32 unk_8914;
	__le32 unk_8918;
	__le32 max_pstate_scaled_3;
	__le32 unk_8920;
	__le32 power_zone_count;
	__le32 avg_power_filter_tc_periods;
	__le32 avg_power_ki_dt;
	__le32 avg_power_kp;
	__le32 avg_power_min_duty_cycle;
	__le32 avg_power_target_filter_tc;
	struct asahi_fw_power_zone power_zones[5];
	__u8 unk_8978[0x44];
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_89bc_0[0x3c];
#endif
	__le32 unk_89bc;
	__le32 fast_die0_release_temp;
	__le32 unk_89c4;
	__le32 fast_die0_prop_tgt_delta;
	__le32 fast_die0_kp;
	__le32 fast_die0_ki_dt;
	__u8 unk_89d4[0xc];
	__le32 unk_89e0;
	__le32 max_power_2;
	__le32 ppm_kp;
	__le32 ppm_ki_dt;
	__le32 unk_89f0;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_89f4_0[0x8];
	__le32 unk_89f4_8;
	__u8 unk_89f4_c[0x50];
	__u8 unk_89f4_5c[0xc];
#endif
	__le32 unk_89f4;
	struct asahi_fw_hwdata_shared1 hws1;
	struct asahi_fw_hwdata_shared2 hws2;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 idle_off_standby_timer;
	__le32 unk_hws2_4[8];
	__le32 unk_hws2_24;
#endif
	__le32 unk_hws2_28;
	struct asahi_fw_hwdata_shared3 hws3;
	__u8 unk_9004[8];
	__le32 unk_900c;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 unk_9010_0;
	__u8 unk_9010_4[0x14];
#endif
	__u8 unk_9010[0x2c];
	__le32 unk_903c;
	__u8 unk_9040[0xc0];
	__u8 unk_9100[0x6f00];
	__u8 unk_10000[0xe50];
	__le32 unk_10e50;
	__u8 unk_10e54[0x2c];
#if ASAHI_ABI_VERSION >= ASAHI_V13_5 && ASAHI_ABI_GEN < ASAHI_G14X
	__u8 unk_x_pad[0x4];
#endif
	__le32 fault_control;
	__le32 do_init;
	__u8 unk_10e88[0x188];
	__le64 idle_ts;
	__le64 idle_unk;
	__le32 progress_check_interval_3d;
	__le32 progress_check_interval_ta;
	__le32 progress_check_interval_cl;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 unk_1102c_0;
	__le32 unk_1102c_4;
	__le32 unk_1102c_8;
	__le32 unk_1102c_c;
	__le32 unk_1102c_10;
#endif
	__le32 unk_1102c;
	__le32 idle_off_delay_ms;
	__le32 fender_idle_off_delay_ms;
	__le32 fw_early_wake_timeout_ms;
	struct asahi_fw_pending_stamp pending_stamps[ASAHI_FW_PENDING_STAMPS];
	__u8 ps_pad_0[0x8];
	__u8 unkpad_ps[0x78];
	__le32 unk_117bc;
	struct asahi_fw_fault_info fault_info;
	__le32 counter;
	__le32 unk_118dc;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_118e0_0[0x9c];
#endif
#if ASAHI_ABI_GEN >= ASAHI_G14X
	__u8 unk_118e0_9c[0x580];
#endif
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_118e0_9c_x[0x8];
#endif
	__le32 cl_context_switch_timeout_ms;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le32 cl_kill_timeout_ms;
#endif
	__le32 cdm_context_store_latency_threshold;
	__le32 unk_118e8;
	__u8 unk_118ec[0x400];
	__u8 unk_11cec[0x54];
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__u8 unk_11d40[0x19c];
	__le32 unk_11edc;
	__u8 unk_11ee0[0x1c];
	__le32 unk_11efc;
	__u8 unk_11f00[0x280];
#endif
} __packed;

struct asahi_fw_initdata {
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	__le16 ver_info[4];
#endif
	__le64 unk_buf;
	__le32 unk_8;
	__le32 unk_c;
	__le64 runtime_pointers;
	__le64 globals;
	__le64 fw_status;
	__le16 uat_page_size;
	__u8 uat_page_bits;
	__u8 uat_num_levels;
	struct asahi_fw_uat_level_info uat_level_info[3];
	__u8 pad_8c[0x14];
	__le32 host_mapped_fw_allocations;	/* or the firmware panics */
	__le32 unk_ac;
	__le32 unk_b0;
	__le32 unk_b4;
	__le32 unk_b8;
} __packed;

#endif /* ASAHI_ABI_VERSION */

#endif
