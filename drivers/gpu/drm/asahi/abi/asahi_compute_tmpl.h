/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Compute commands. Compiled once for each version of the firmware's
 * interface, see asahi_abi.h.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/build_bug.h>
#include <linux/stddef.h>

#include "asahi_fw_compute.h"
#include "asahi_fw_event.h"
#include "asahi_fw_workqueue.h"
#include "asahi_layout_tmpl.h"
#include "asahi_work.h"

ASAHI_ASSERT_SIZE(asahi_fw_compute_params1, 0x160, 0x160, 0x160);
ASAHI_ASSERT_OFFSET(asahi_fw_compute_params1, usc_exec_base_cp, 0x30, 0x30, 0x30);
ASAHI_ASSERT_OFFSET(asahi_fw_compute_params1, unk_58, 0x58, 0x58, 0x58);
ASAHI_ASSERT_OFFSET(asahi_fw_compute_params2, preempt_buf1, 0x24, 0x28, 0x28);
ASAHI_ASSERT_OFFSET(asahi_fw_compute_params2, cdm_ctrl_stream_end, 0x2c, 0x30, 0x30);

ASAHI_ASSERT_SIZE(asahi_fw_run_compute, 0x2dc, 0x31c, 0x87c);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, vm_slot, 0x8, 0x10, 0x10);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, notifier, 0xc, 0x14, 0x14);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, unk_pointee, 0x14, 0x1c, 0x1c);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, microsequence, 0x1e8, 0x1f0, 0x750);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, microsequence_size, 0x1f0, 0x1f8, 0x758);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, job_params2, 0x1f4, 0x1fc, 0x75c);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, encoder_params, 0x254, 0x25c, 0x7bc);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, meta, 0x27c, 0x284, 0x7e4);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, command_time, 0x2a8, 0x2b0, 0x810);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, timestamp_pointers, 0x2b0, 0x2b8, 0x818);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, user_timestamp_pointers, 0x2c0, 0x2c8, 0x828);

#if ASAHI_ABI_VERSION >= ASAHI_V13_5
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, counter, 0, 0x4, 0x4);
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, unk_flag, 0, 0x305, 0x865);
#endif

#if ASAHI_ABI_GEN < ASAHI_G14X
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, job_params1, 0x68, 0x70, 0);
#else
ASAHI_ASSERT_OFFSET(asahi_fw_run_compute, registers, 0, 0, 0x20);
#endif

#if ASAHI_ABI_GEN < ASAHI_G14X
static void asahi_compute_params1_build(struct asahi_fw_compute_params1 *fw,
					const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_compute *cmd = &args->command->compute;
	u64 tail = args->preempt_va + args->command->preempt1_size;

	fw->preempt_buf1 = cpu_to_le64(args->preempt_va);
	fw->cdm_ctrl_stream_base = cpu_to_le64(cmd->cdm_ctrl_stream_base);
	fw->preempt_buf2 = cpu_to_le64(tail);
	fw->preempt_buf3 = cpu_to_le64(tail + 8);
	fw->preempt_buf4 = cpu_to_le64(tail + 16);
	fw->preempt_buf5 = cpu_to_le64(tail + 24);
	fw->usc_exec_base_cp = cpu_to_le64(args->usc_exec_base);
	fw->unk_38 = cpu_to_le64(0x8c60);
	fw->helper_program = cpu_to_le32(cmd->helper.binary);
	fw->helper_arg = cpu_to_le64(cmd->helper.data);
	fw->helper_cfg = cpu_to_le32(cmd->helper.cfg);
	fw->unk_58 = cpu_to_le32(1);
}
#else
static void asahi_compute_registers_build(struct asahi_fw_register_array *fw, u64 va,
					  const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_compute *cmd = &args->command->compute;
	u64 tail = args->preempt_va + args->command->preempt1_size;

	fw->addr = cpu_to_le64(va);
	asahi_run_add_register(fw, 0x1a510, args->preempt_va);
	asahi_run_add_register(fw, 0x1a420, cmd->cdm_ctrl_stream_base);
	asahi_run_add_register(fw, 0x1a4d0, tail);
	asahi_run_add_register(fw, 0x1a4d8, tail + 8);
	asahi_run_add_register(fw, 0x1a4e0, tail + 16);
	asahi_run_add_register(fw, 0x1a4e8, tail + 24);
	asahi_run_add_register(fw, 0x10071, args->usc_exec_base);
	asahi_run_add_register(fw, 0x11841, cmd->helper.binary);
	asahi_run_add_register(fw, 0x11849, cmd->helper.data);
	asahi_run_add_register(fw, 0x11f81, cmd->helper.cfg);
	asahi_run_add_register(fw, 0x1a440, 0x24201);
	asahi_run_add_register(fw, 0x12091, 0);
}
#endif

#define ASAHI_COMPUTE_MICROSEQ_SIZE (ASAHI_MICROSEQ_COMMON +			\
				     sizeof(struct asahi_fw_start_compute) +	\
				     sizeof(struct asahi_fw_finalize_compute))

static u64 asahi_compute_params2_va(const struct asahi_work_args *args)
{
	return args->work->run_va + offsetof(struct asahi_fw_run_compute, job_params2);
}

#if ASAHI_ABI_VERSION >= ASAHI_V13_5
static u64 asahi_compute_flag_va(const struct asahi_work_args *args)
{
	return args->work->run_va + offsetof(struct asahi_fw_run_compute, unk_flag);
}
#endif

static void asahi_compute_start(struct asahi_microseq *seq, const struct asahi_work_args *args)
{
	u64 run_va = args->work->run_va;
	struct asahi_fw_start_compute *op;

	seq->start = seq->used;
	op = asahi_microseq_append(seq, sizeof(*op));

	op->header = cpu_to_le32(ASAHI_FW_OP_START_COMPUTE);
	op->unk_pointer = cpu_to_le64(run_va + offsetof(struct asahi_fw_run_compute, unk_pointee));
#if ASAHI_ABI_GEN < ASAHI_G14X
	op->job_params1 = cpu_to_le64(run_va + offsetof(struct asahi_fw_run_compute, job_params1));
#else
	op->registers = cpu_to_le64(run_va + offsetof(struct asahi_fw_run_compute, registers));
#endif
	op->stats = cpu_to_le64(args->stats_va);
	op->work_queue = cpu_to_le64(args->queue_info_va);
	op->unk_28 = cpu_to_le32(1);
	op->event_generation = cpu_to_le32(args->queue_id);
	op->job_params2 = cpu_to_le64(asahi_compute_params2_va(args));
	asahi_attachments_fill(&op->attachments, args->attachments);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	op->unk_flag = cpu_to_le64(asahi_compute_flag_va(args));
	op->notifier_buf = cpu_to_le64(args->notifier_va +
				       offsetof(struct asahi_fw_notifier, state.unk_buf));
#endif
}

static void asahi_compute_finalize(struct asahi_microseq *seq,
				   const struct asahi_work_args *args)
{
	struct asahi_fw_finalize_compute *op;

	seq->finalize = seq->used;
	op = asahi_microseq_append(seq, sizeof(*op));

	op->header = cpu_to_le32(ASAHI_FW_OP_FINALIZE_COMPUTE);
	op->stats = cpu_to_le64(args->stats_va);
	op->work_queue = cpu_to_le64(args->queue_info_va);
	op->job_params2 = cpu_to_le64(asahi_compute_params2_va(args));
	op->restart_branch_offset = asahi_microseq_restart(seq);
	op->has_attachments = cpu_to_le32(!!args->attachments->told);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	op->unk_flag = cpu_to_le64(asahi_compute_flag_va(args));
#endif
}

static void asahi_compute_microseq_build(const struct asahi_work_args *args)
{
	struct asahi_microseq *seq = &args->work->microseq;
	u64 run_va = args->work->run_va;
	const struct asahi_microseq_times times = {
		.command_time = run_va + offsetof(struct asahi_fw_run_compute, command_time),
		.pointers = run_va + offsetof(struct asahi_fw_run_compute, timestamp_pointers),
		.user_pointers = run_va +
			offsetof(struct asahi_fw_run_compute, user_timestamp_pointers),
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
		.unk_ts = run_va + offsetof(struct asahi_fw_run_compute, context_store_req),
#endif
		.work_queue = args->queue_info_va,
	};

	asahi_compute_start(seq, args);
	asahi_microseq_timestamp(seq, true, &times);
	asahi_microseq_wait(seq, ASAHI_FW_WAIT_COMPUTE);
	asahi_microseq_timestamp(seq, false, &times);
	asahi_compute_finalize(seq, args);
	asahi_microseq_retire(seq);
}

static void asahi_compute_build(const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_compute *cmd = &args->command->compute;
	const struct asahi_work *work = args->work;
	struct asahi_fw_run_compute *fw = work->run;

	asahi_compute_microseq_build(args);

	fw->tag = cpu_to_le32(ASAHI_FW_CMD_RUN_COMPUTE);
	fw->notifier = cpu_to_le64(args->notifier_va);
#if ASAHI_ABI_GEN < ASAHI_G14X
	asahi_compute_params1_build(&fw->job_params1, args);
#else
	asahi_compute_registers_build(&fw->registers, work->run_va +
				      offsetof(struct asahi_fw_run_compute, registers), args);
	fw->job_params2.unk_g14x = cpu_to_le32(0x24201);
#endif
	fw->microsequence = cpu_to_le64(work->microseq.va);
	fw->microsequence_size = cpu_to_le32(work->microseq.used);
	fw->job_params2.preempt_buf1 = cpu_to_le64(args->preempt_va);
	fw->job_params2.cdm_ctrl_stream_end = cpu_to_le64(cmd->cdm_ctrl_stream_end);
	asahi_run_build_encoder(&fw->encoder_params, cmd->sampler_heap, cmd->sampler_count);
	asahi_run_build_times(&fw->timestamp_pointers, &fw->user_timestamp_pointers, work);
	fw->client_sequence = args->queue_id;
}

static void asahi_compute_patch(struct asahi_work *work,
				const struct asahi_patch patch[AGX_PIPE_COUNT])
{
	const struct asahi_patch *own = &patch[AGX_PIPE_COMPUTE];
	struct asahi_fw_run_compute *fw = work->run;
	struct asahi_fw_start_compute *start = work->microseq.map + work->microseq.start;
	struct asahi_fw_finalize_compute *finalize = work->microseq.map + work->microseq.finalize;

	fw->vm_slot = cpu_to_le32(own->vm_slot);
	asahi_run_patch_meta(&fw->meta, own);
	start->vm_slot = cpu_to_le32(own->vm_slot);
	start->event_seq = cpu_to_le64(own->event_seq);
	finalize->vm_slot = cpu_to_le32(own->vm_slot);
	finalize->fw_stamp = cpu_to_le64(own->fw_stamp_va);
	finalize->stamp_value = cpu_to_le32(own->stamp);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	fw->counter = cpu_to_le64(own->counter);
	start->counter = cpu_to_le64(own->counter);
#endif
}
