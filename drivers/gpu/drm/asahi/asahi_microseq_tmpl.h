/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Microsequences. Compiled once for each version of the firmware's interface,
 * see asahi_abi.h.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/build_bug.h>
#include <linux/stddef.h>

#include "asahi_fw_compute.h"
#include "asahi_fw_event.h"
#include "asahi_fw_microseq.h"
#include "asahi_job.h"

static_assert(sizeof(struct asahi_fw_attachments) == 0x104);
static_assert(ASAHI_FW_ATTACHMENTS == 16);

#if ASAHI_ABI_VERSION < ASAHI_V13_5
static_assert(sizeof(struct asahi_fw_op_timestamp) == 0x34);
static_assert(sizeof(struct asahi_fw_start_compute) == 0x154);
#else
static_assert(sizeof(struct asahi_fw_op_timestamp) == 0x3c);
#endif

#if ASAHI_ABI_VERSION < ASAHI_V13_5 && ASAHI_ABI_GEN == ASAHI_G13
static_assert(sizeof(struct asahi_fw_finalize_compute) == 0x64);
#elif ASAHI_ABI_VERSION < ASAHI_V13_5
static_assert(sizeof(struct asahi_fw_finalize_compute) == 0x6c);
#else
static_assert(sizeof(struct asahi_fw_finalize_compute) == 0x7c);
static_assert(offsetof(struct asahi_fw_finalize_compute, fw_stamp) == 0x28);
static_assert(offsetof(struct asahi_fw_finalize_compute, restart_branch_offset) == 0x58);
static_assert(offsetof(struct asahi_fw_finalize_compute, unk_flag) == 0x6d);
#endif

#if ASAHI_ABI_VERSION >= ASAHI_V13_5 && ASAHI_ABI_GEN < ASAHI_G14X
static_assert(sizeof(struct asahi_fw_start_compute) == 0x16c);
static_assert(offsetof(struct asahi_fw_start_compute, vm_slot) == 0x24);
static_assert(offsetof(struct asahi_fw_start_compute, event_seq) == 0x30);
static_assert(offsetof(struct asahi_fw_start_compute, attachments) == 0x4c);
static_assert(offsetof(struct asahi_fw_start_compute, unk_flag) == 0x154);
#elif ASAHI_ABI_VERSION >= ASAHI_V13_5
static_assert(sizeof(struct asahi_fw_start_compute) == 0x174);
#endif

/**
 * struct asahi_compute_microseq - the program of a compute command
 * @start: starts the command
 * @wait: waits for the pipe
 * @finalize: completes it, or goes back to @start if it was preempted
 * @retire: writes the stamp
 */
struct asahi_compute_microseq {
	struct asahi_fw_start_compute start;
	struct asahi_fw_op wait;
	struct asahi_fw_finalize_compute finalize;
	struct asahi_fw_op retire;
} __packed;

static void asahi_compute_microseq_build(const struct asahi_compute_args *args)
{
	struct asahi_compute_microseq *seq = args->microseq;
	struct asahi_fw_start_compute *start = &seq->start;
	struct asahi_fw_finalize_compute *finalize = &seq->finalize;
	u64 params2 = args->run_va + offsetof(struct asahi_fw_run_compute, job_params2);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	u64 flag = args->run_va + offsetof(struct asahi_fw_run_compute, unk_flag);
#endif

	start->header = cpu_to_le32(ASAHI_FW_OP_START_COMPUTE);
	start->unk_pointer = cpu_to_le64(args->run_va +
					 offsetof(struct asahi_fw_run_compute, unk_pointee));
#if ASAHI_ABI_GEN < ASAHI_G14X
	start->job_params1 = cpu_to_le64(args->run_va +
					 offsetof(struct asahi_fw_run_compute, job_params1));
#else
	start->registers = cpu_to_le64(args->run_va +
				       offsetof(struct asahi_fw_run_compute, registers));
#endif
	start->stats = cpu_to_le64(args->stats_va);
	start->work_queue = cpu_to_le64(args->queue_info_va);
	start->unk_28 = cpu_to_le32(1);
	start->event_generation = cpu_to_le32(args->queue_id);
	start->job_params2 = cpu_to_le64(params2);
	start->attachments = args->args->attachments;
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	start->unk_flag = cpu_to_le64(flag);
	start->counter = cpu_to_le64(args->counter);
	start->notifier_buf = cpu_to_le64(args->notifier_va +
					  offsetof(struct asahi_fw_notifier, state.unk_buf));
#endif

#if ASAHI_ABI_GEN < ASAHI_G14X
	seq->wait.header = cpu_to_le32(ASAHI_FW_OP_WAIT_FOR_IDLE | ASAHI_FW_WAIT_COMPUTE);
#else
	seq->wait.header = cpu_to_le32(ASAHI_FW_OP_WAIT_FOR_IDLE2);
#endif

	finalize->header = cpu_to_le32(ASAHI_FW_OP_FINALIZE_COMPUTE);
	finalize->stats = cpu_to_le64(args->stats_va);
	finalize->work_queue = cpu_to_le64(args->queue_info_va);
	finalize->job_params2 = cpu_to_le64(params2);
	finalize->restart_branch_offset =
		cpu_to_le32(-(int)offsetof(struct asahi_compute_microseq, finalize));
	finalize->has_attachments = cpu_to_le32(!!args->args->attachments.count);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	finalize->unk_flag = cpu_to_le64(flag);
#endif

	seq->retire.header = cpu_to_le32(ASAHI_FW_OP_RETIRE_STAMP);
}

static void asahi_compute_microseq_patch(struct asahi_compute_microseq *seq,
					 const struct asahi_patch *patch)
{
	seq->start.vm_slot = cpu_to_le32(patch->vm_slot);
	seq->start.event_seq = cpu_to_le64(patch->event_seq);
	seq->finalize.vm_slot = cpu_to_le32(patch->vm_slot);
	seq->finalize.fw_stamp = cpu_to_le64(patch->fw_stamp_va);
	seq->finalize.stamp_value = cpu_to_le32(patch->stamp);
}
