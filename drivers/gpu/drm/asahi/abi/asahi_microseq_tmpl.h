/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Operations of microsequences. Compiled once for each version of the
 * firmware's interface, see asahi_abi.h.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/build_bug.h>
#include <linux/stddef.h>

#include "asahi_fw_compute.h"
#include "asahi_fw_microseq.h"
#include "asahi_layout_tmpl.h"
#include "asahi_microseq.h"

ASAHI_ASSERT_SIZE(asahi_fw_attachments, 0x104, 0x104, 0x104);
static_assert(ASAHI_FW_ATTACHMENTS == 16);

ASAHI_ASSERT_SIZE(asahi_fw_op_timestamp, 0x34, 0x3c, 0x3c);
ASAHI_ASSERT_SIZE(asahi_fw_start_compute, 0x154, 0x16c, 0x174);
ASAHI_ASSERT_OFFSET(asahi_fw_start_compute, vm_slot, 0x24, 0x24, 0x2c);
ASAHI_ASSERT_OFFSET(asahi_fw_start_compute, event_seq, 0x30, 0x30, 0x38);
ASAHI_ASSERT_OFFSET(asahi_fw_start_compute, attachments, 0x4c, 0x4c, 0x54);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_compute, fw_stamp, 0x2c, 0x28, 0x28);
ASAHI_ASSERT_SIZE(asahi_fw_start_vertex, 0x17c, 0x18c, 0x194);
ASAHI_ASSERT_OFFSET(asahi_fw_start_vertex, job_params1, 0xc, 0xc, 0xc);
ASAHI_ASSERT_OFFSET(asahi_fw_start_vertex, buffer, 0x14, 0x14, 0x1c);
ASAHI_ASSERT_OFFSET(asahi_fw_start_vertex, vm_slot, 0x34, 0x34, 0x3c);
ASAHI_ASSERT_OFFSET(asahi_fw_start_vertex, buffer_slot, 0x40, 0x40, 0x48);
ASAHI_ASSERT_OFFSET(asahi_fw_start_vertex, event_seq, 0x48, 0x48, 0x50);
ASAHI_ASSERT_OFFSET(asahi_fw_start_vertex, unk_job_buf, 0x5c, 0x5c, 0x64);
ASAHI_ASSERT_OFFSET(asahi_fw_start_vertex, attachments, 0x70, 0x70, 0x78);
ASAHI_ASSERT_OFFSET(asahi_fw_start_vertex, unk_178, 0x178, 0x188, 0x190);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_vertex, vm_slot, 0x24, 0x24, 0x24);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_vertex, fw_stamp, 0x3c, 0x3c, 0x3c);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_vertex, stamp_value, 0x44, 0x44, 0x44);
ASAHI_ASSERT_SIZE(asahi_fw_start_fragment, 0x194, 0x1ac, 0x1b4);
ASAHI_ASSERT_OFFSET(asahi_fw_start_fragment, job_params1, 0xc, 0xc, 0xc);
ASAHI_ASSERT_OFFSET(asahi_fw_start_fragment, scene, 0x14, 0x14, 0x1c);
ASAHI_ASSERT_OFFSET(asahi_fw_start_fragment, work_item, 0x44, 0x44, 0x4c);
ASAHI_ASSERT_OFFSET(asahi_fw_start_fragment, vm_slot, 0x4c, 0x4c, 0x54);
ASAHI_ASSERT_OFFSET(asahi_fw_start_fragment, buffer_slot, 0x58, 0x58, 0x60);
ASAHI_ASSERT_OFFSET(asahi_fw_start_fragment, event_seq, 0x60, 0x60, 0x68);
ASAHI_ASSERT_OFFSET(asahi_fw_start_fragment, unk_758_flag, 0x6c, 0x6c, 0x74);
ASAHI_ASSERT_OFFSET(asahi_fw_start_fragment, attachments, 0x8c, 0x94, 0x9c);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_fragment, fw_stamp, 0xc, 0xc, 0xc);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_fragment, scene, 0x1c, 0x1c, 0x1c);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_fragment, unk_2c, 0x2c, 0x2c, 0x2c);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_fragment, vm_slot, 0x5c, 0x5c, 0x5c);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_fragment, unk_758_flag, 0x64, 0x64, 0x64);

#if ASAHI_ABI_VERSION >= ASAHI_V13_5
ASAHI_ASSERT_OFFSET(asahi_fw_start_compute, unk_flag, 0, 0x154, 0x15c);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_compute, unk_flag, 0, 0x6d, 0x6d);
ASAHI_ASSERT_OFFSET(asahi_fw_start_vertex, notifier_buf, 0, 0x180, 0x188);
ASAHI_ASSERT_OFFSET(asahi_fw_start_fragment, counter, 0, 0x19c, 0x1a4);
#endif

#if ASAHI_ABI_GEN == ASAHI_G13
ASAHI_ASSERT_SIZE(asahi_fw_finalize_compute, 0x64, 0x7c, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_compute, restart_branch_offset, 0x5c, 0x58, 0);
ASAHI_ASSERT_SIZE(asahi_fw_finalize_vertex, 0x74, 0x84, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_vertex, restart_branch_offset, 0x6c, 0x6c, 0);
ASAHI_ASSERT_SIZE(asahi_fw_finalize_fragment, 0x9c, 0xb4, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_fragment, restart_branch_offset, 0x94, 0x9c, 0);
#else
ASAHI_ASSERT_SIZE(asahi_fw_finalize_compute, 0x6c, 0x7c, 0x7c);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_compute, restart_branch_offset, 0x64, 0x58, 0x58);
ASAHI_ASSERT_SIZE(asahi_fw_finalize_vertex, 0x7c, 0x84, 0x84);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_vertex, restart_branch_offset, 0x74, 0x6c, 0x6c);
ASAHI_ASSERT_SIZE(asahi_fw_finalize_fragment, 0xa4, 0xb4, 0xb4);
ASAHI_ASSERT_OFFSET(asahi_fw_finalize_fragment, restart_branch_offset, 0x9c, 0x9c, 0x9c);
#endif

/* Bytes of a sequence around its start and finalize operations. */
#define ASAHI_MICROSEQ_COMMON (2 * sizeof(struct asahi_fw_op_timestamp) +	\
			       2 * sizeof(struct asahi_fw_op))

/**
 * struct asahi_microseq_times - where a command has its times
 * @command_time: address of its command_time
 * @pointers: address of its timestamp_pointers
 * @user_pointers: address of its user_timestamp_pointers
 * @unk_ts: address of its context_store_req; unused before 13.5
 * @work_queue: QueueInfo of the work queue that it goes to
 */
struct asahi_microseq_times {
	u64 command_time;
	u64 pointers;
	u64 user_pointers;
	u64 unk_ts;
	u64 work_queue;
};

/* Have the time of the work's start or end stored. */
static void asahi_microseq_timestamp(struct asahi_microseq *seq, bool start,
				     const struct asahi_microseq_times *times)
{
	struct asahi_fw_op_timestamp *op = asahi_microseq_append(seq, sizeof(*op));
	u64 pointer = times->pointers;

	if (start) {
		op->header = cpu_to_le32(ASAHI_FW_OP_TIMESTAMP_START);
		pointer += offsetof(struct asahi_fw_timestamp_pointers, start_addr);
	} else {
		op->header = cpu_to_le32(ASAHI_FW_OP_TIMESTAMP_END);
		pointer += offsetof(struct asahi_fw_timestamp_pointers, end_addr);
	}

	op->cur_ts = cpu_to_le64(times->command_time);
	op->start_ts = cpu_to_le64(times->pointers);
	op->update_ts = cpu_to_le64(pointer);
	op->work_queue = cpu_to_le64(times->work_queue);
	op->unk_24 = cpu_to_le64(times->user_pointers);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	op->unk_ts = cpu_to_le64(times->unk_ts);
#endif
}

/* Wait until the pipe has done the work. */
static void asahi_microseq_wait(struct asahi_microseq *seq, u32 pipe)
{
	struct asahi_fw_op *op = asahi_microseq_append(seq, sizeof(*op));

#if ASAHI_ABI_GEN < ASAHI_G14X
	op->header = cpu_to_le32(ASAHI_FW_OP_WAIT_FOR_IDLE | pipe);
#else
	op->header = cpu_to_le32(ASAHI_FW_OP_WAIT_FOR_IDLE2);
#endif
}

/* How far back the start is, for work that was preempted. */
static __le32 asahi_microseq_restart(const struct asahi_microseq *seq)
{
	return cpu_to_le32((s32)seq->start - (s32)seq->finalize);
}

/* Write the stamps. */
static void asahi_microseq_retire(struct asahi_microseq *seq)
{
	struct asahi_fw_op *op = asahi_microseq_append(seq, sizeof(*op));

	op->header = cpu_to_le32(ASAHI_FW_OP_RETIRE_STAMP);
}
