/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What depends on the version of the firmware's interface.
 *
 * One source, several layouts: the *_tmpl.h files hold the functions, the
 * asahi_fw_*.h files the structures, and each asahi_abi_*.c compiles them
 * once for its version and exports one operations table. Everything else in
 * the driver is the same for all versions.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_ABI_H
#define ASAHI_ABI_H

#include <linux/types.h>

#include "asahi_hw.h"

struct asahi_dc_msg;
struct asahi_device;
struct asahi_initdata_layout;
struct asahi_job_abi;
struct asahi_pending_stamp;
struct asahi_pipe_msg;

/**
 * struct asahi_initdata_abi - initdata operations
 * @hwdata_a_size: bytes of HwDataA that the boot loader must hand over
 * @hwdata_b_size: bytes of HwDataB that the boot loader must hand over
 * @globals_size: bytes of Globals that the boot loader must hand over
 * @initdata_size: bytes of InitData
 * @runtime_size: bytes of RuntimePointers
 * @stats_size: bytes of the statistics of each pipe, vertex first
 * @stats_offset: offset of the address that commands get, in each of them
 * @frequencies: offset in HwDataB of the clocks of all performance states, in
 *	MHz, ASAHI_PERF_STATES words
 * @fault_control: offset of that word in Globals
 * @pending_submissions: offset of that word in Globals
 * @pending_stamps: offset of that table in Globals
 * @pending_slot_shift: position of the event slot in an entry's first word
 * @fill: fill in everything, once all addresses are known
 */
struct asahi_initdata_abi {
	size_t hwdata_a_size;
	size_t hwdata_b_size;
	size_t globals_size;
	size_t initdata_size;
	size_t runtime_size;
	size_t stats_size[3];
	size_t stats_offset[3];
	size_t frequencies;
	size_t fault_control;
	size_t pending_submissions;
	size_t pending_stamps;
	unsigned int pending_slot_shift;
	void (*fill)(struct asahi_device *adev, const struct asahi_initdata_layout *layout);
};

/**
 * struct asahi_channel_abi - channel operations
 * @pipe_msg_size: bytes of an entry of a work pipe's ring
 * @dc_msg_size: bytes of an entry of the device control ring
 * @stats_msg_size: bytes of an entry of the statistics ring
 * @encode_pipe: write a pipe message into a zeroed entry
 * @encode_dc: write a device control message into a zeroed entry
 */
struct asahi_channel_abi {
	size_t pipe_msg_size;
	size_t dc_msg_size;
	size_t stats_msg_size;
	void (*encode_pipe)(void *entry, const struct asahi_pipe_msg *msg);
	void (*encode_dc)(void *entry, const struct asahi_dc_msg *msg);
};

/**
 * struct asahi_abi - one version of the firmware's interface
 * @initdata: initdata operations
 * @channel: channel operations
 * @job: work queue and command operations
 */
struct asahi_abi {
	const struct asahi_initdata_abi *initdata;
	const struct asahi_channel_abi *channel;
	const struct asahi_job_abi *job;
};

extern const struct asahi_abi asahi_abi_g13_12_3;
extern const struct asahi_abi asahi_abi_g13_13_5;
extern const struct asahi_abi asahi_abi_g14g_12_4;
extern const struct asahi_abi asahi_abi_g14g_13_5;
extern const struct asahi_abi asahi_abi_g14x_13_5;

const struct asahi_abi *asahi_abi_select(const u32 version[3], enum asahi_gen gen);

#endif
