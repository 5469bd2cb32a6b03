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
#include "asahi_fw_workqueue.h"
#include "asahi_job.h"

static_assert(sizeof(struct asahi_fw_job_meta) == 0x2c);
static_assert(sizeof(struct asahi_fw_encoder_params) == 0x28);
static_assert(sizeof(struct asahi_fw_compute_params1) == 0x160);
static_assert(offsetof(struct asahi_fw_compute_params1, usc_exec_base_cp) == 0x30);
static_assert(offsetof(struct asahi_fw_compute_params1, unk_58) == 0x58);
static_assert(sizeof(struct asahi_fw_register_array) == 0x710);

#if ASAHI_ABI_VERSION < ASAHI_V13_5
static_assert(sizeof(struct asahi_fw_run_compute) == 0x2dc);
#elif ASAHI_ABI_GEN >= ASAHI_G14X
static_assert(sizeof(struct asahi_fw_run_compute) == 0x87c);
#else
static_assert(sizeof(struct asahi_fw_run_compute) == 0x31c);
static_assert(offsetof(struct asahi_fw_run_compute, counter) == 0x4);
static_assert(offsetof(struct asahi_fw_run_compute, vm_slot) == 0x10);
static_assert(offsetof(struct asahi_fw_run_compute, notifier) == 0x14);
static_assert(offsetof(struct asahi_fw_run_compute, unk_pointee) == 0x1c);
static_assert(offsetof(struct asahi_fw_run_compute, job_params1) == 0x70);
static_assert(offsetof(struct asahi_fw_run_compute, microsequence) == 0x1f0);
static_assert(offsetof(struct asahi_fw_run_compute, microsequence_size) == 0x1f8);
static_assert(offsetof(struct asahi_fw_run_compute, job_params2) == 0x1fc);
static_assert(offsetof(struct asahi_fw_compute_params2, preempt_buf1) == 0x28);
static_assert(offsetof(struct asahi_fw_compute_params2, cdm_ctrl_stream_end) == 0x30);
static_assert(offsetof(struct asahi_fw_run_compute, encoder_params) == 0x25c);
static_assert(offsetof(struct asahi_fw_run_compute, meta) == 0x284);
static_assert(offsetof(struct asahi_fw_run_compute, command_time) == 0x2b0);
static_assert(offsetof(struct asahi_fw_run_compute, timestamp_pointers) == 0x2b8);
static_assert(offsetof(struct asahi_fw_run_compute, user_timestamp_pointers) == 0x2c8);
static_assert(offsetof(struct asahi_fw_run_compute, unk_flag) == 0x305);
#endif

#if ASAHI_ABI_GEN < ASAHI_G14X
static void asahi_compute_params1_build(struct asahi_fw_compute_params1 *fw,
					const struct asahi_compute_args *args)
{
	const struct drm_asahi_cmd_compute *cmd = &args->args->compute;
	u64 tail = args->preempt_va + args->preempt1_size;

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
static void asahi_compute_register(struct asahi_fw_register_array *fw, u32 number, u64 value)
{
	unsigned int count = le16_to_cpu(fw->count);

	fw->registers[count].number = cpu_to_le32(number);
	fw->registers[count].value = cpu_to_le64(value);
	fw->count = cpu_to_le16(count + 1);
	fw->length = cpu_to_le16((count + 1) * sizeof(fw->registers[0]));
}

static void asahi_compute_registers_build(struct asahi_fw_register_array *fw, u64 va,
					  const struct asahi_compute_args *args)
{
	const struct drm_asahi_cmd_compute *cmd = &args->args->compute;
	u64 tail = args->preempt_va + args->preempt1_size;

	fw->addr = cpu_to_le64(va);
	asahi_compute_register(fw, 0x1a510, args->preempt_va);
	asahi_compute_register(fw, 0x1a420, cmd->cdm_ctrl_stream_base);
	asahi_compute_register(fw, 0x1a4d0, tail);
	asahi_compute_register(fw, 0x1a4d8, tail + 8);
	asahi_compute_register(fw, 0x1a4e0, tail + 16);
	asahi_compute_register(fw, 0x1a4e8, tail + 24);
	asahi_compute_register(fw, 0x10071, args->usc_exec_base);
	asahi_compute_register(fw, 0x11841, cmd->helper.binary);
	asahi_compute_register(fw, 0x11849, cmd->helper.data);
	asahi_compute_register(fw, 0x11f81, cmd->helper.cfg);
	asahi_compute_register(fw, 0x1a440, 0x24201);
	asahi_compute_register(fw, 0x12091, 0);
}
#endif

static void asahi_compute_build(const struct asahi_compute_args *args)
{
	const struct drm_asahi_cmd_compute *cmd = &args->args->compute;
	struct asahi_fw_run_compute *fw = args->run;

	fw->tag = cpu_to_le32(ASAHI_FW_CMD_RUN_COMPUTE);
	fw->notifier = cpu_to_le64(args->notifier_va);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	fw->counter = cpu_to_le64(args->counter);
#endif
#if ASAHI_ABI_GEN < ASAHI_G14X
	asahi_compute_params1_build(&fw->job_params1, args);
#else
	asahi_compute_registers_build(&fw->registers, args->run_va +
				      offsetof(struct asahi_fw_run_compute, registers), args);
	fw->job_params2.unk_g14x = cpu_to_le32(0x24201);
#endif
	fw->microsequence = cpu_to_le64(args->microseq_va);
	fw->microsequence_size = cpu_to_le32(sizeof(struct asahi_compute_microseq));
	fw->job_params2.preempt_buf1 = cpu_to_le64(args->preempt_va);
	fw->job_params2.cdm_ctrl_stream_end = cpu_to_le64(cmd->cdm_ctrl_stream_end);
	fw->encoder_params.unk_mask = cpu_to_le32(0xffffffff);
	fw->encoder_params.sampler_array = cpu_to_le64(cmd->sampler_heap);
	fw->encoder_params.sampler_count = cpu_to_le32(cmd->sampler_count);
	fw->encoder_params.sampler_max = cpu_to_le32(cmd->sampler_count + 1);
	fw->timestamp_pointers.start_addr =
		cpu_to_le64(args->timestamps_va + offsetof(struct asahi_fw_timestamps, start));
	fw->timestamp_pointers.end_addr =
		cpu_to_le64(args->timestamps_va + offsetof(struct asahi_fw_timestamps, end));
	fw->client_sequence = args->queue_id;

	asahi_compute_microseq_build(args);
}

static void asahi_compute_patch(void *run, void *microseq, const struct asahi_patch *patch)
{
	struct asahi_fw_run_compute *fw = run;

	fw->vm_slot = cpu_to_le32(patch->vm_slot);
	fw->meta.stamp = cpu_to_le64(patch->stamp_va);
	fw->meta.fw_stamp = cpu_to_le64(patch->fw_stamp_va);
	fw->meta.stamp_value = cpu_to_le32(patch->stamp);
	fw->meta.stamp_slot = cpu_to_le32(patch->event_slot);
	fw->meta.event_seq = cpu_to_le32(patch->event_seq);

	asahi_compute_microseq_patch(microseq, patch);
}
