/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Firmware structures: what all commands share.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FW_JOB_H
#define ASAHI_FW_JOB_H

#include <linux/types.h>

#include "asahi_fw_common.h"

/* Identifies a command, its stamps and its event. Not on an even address. */
struct asahi_fw_job_meta {
	__le16 unk_0;
	__u8 unk_2;
	__u8 no_preemption;
	__le64 stamp;			/* the copy that the kernel reads */
	__le64 fw_stamp;		/* the copy that barriers wait on */
	__le32 stamp_value;
	__le32 stamp_slot;
	__le32 evctl_index;
	__le32 flush_stamps;
	__le32 uuid;
	__le32 event_seq;
} __packed;

struct asahi_fw_encoder_params {
	__le32 unk_8;
	__le32 sync_grow;
	__le32 unk_10;
	__le32 encoder_id;
	__le32 unk_18;
	__le32 unk_mask;
	__le64 sampler_array;
	__le32 sampler_count;
	__le32 sampler_max;
} __packed;

struct asahi_fw_timestamps {
	__le64 start;
	__le64 end;
} __packed;

struct asahi_fw_timestamp_pointers {
	__le64 start_addr;
	__le64 end_addr;
} __packed;

/* What G14X has instead of parameters with names of their own. */
struct asahi_fw_register {
	__le32 number;
	__le64 value;
} __packed;

#define ASAHI_FW_REGISTERS 128

struct asahi_fw_register_array {
	struct asahi_fw_register registers[ASAHI_FW_REGISTERS];
	__u8 pad[0x100];
	__le64 addr;			/* of registers[] */
	__le16 count;
	__le16 length;			/* bytes in use */
	__le32 unk_pad;
} __packed;

#endif
