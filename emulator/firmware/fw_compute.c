// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Compute commands: checks parameters and operations, and fills the registers of the units (m1n1
 * fw/agx/cmdqueue.py WorkCommandCP, fw/agx/microsequence.py). A worker, with the firmware's lock
 * held, but for fw_compute_run().
 */
#include <inttypes.h>

#include "fw_job.h"

#define FW_WAIT_COMPUTE		0x00800001
#define FW_WAIT_COMPUTE_G14X	0x00000002
#define FW_PREEMPT_ALIGN	0x8000

static void fw_compute_check_info(struct fw_job *job, const struct fw_view *info)
{
	static const struct {
		enum fw_field_id field;
		uint64_t value;
	} fixed[] = {
		{ FW_ComputeInfo_unk_38, 0x8c60 },
		{ FW_ComputeInfo_unk_58, 1 },
	};

	for (unsigned int i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		uint64_t found = fw_get(info, fixed[i].field);

		if (!info->access->failed && found != fixed[i].value)
			vagx_violation(fw_job_report(job), VAGX_RULE_FW_COMMAND_INFO,
				       fw_va(info, fixed[i].field), "ComputeInfo",
				       "%s is %#" PRIx64, fw_fields[fixed[i].field].name, found);
	}
}

static void fw_compute_check_preempt(struct fw_job *job, const struct fw_view *info)
{
	uint64_t at = fw_registers_word(&job->registers, info, FW_ComputeInfo_iogpu_deflake_1);

	if (!info->access->failed && at % FW_PREEMPT_ALIGN)
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_COMMAND_PREEMPT,
			       fw_va(info, FW_ComputeInfo_iogpu_deflake_1), "ComputeInfo",
			       "they are at %#" PRIx64, at);
}

/* Return: address of the statistics, which all queues of the pipe share */
static uint64_t fw_compute_stats_of(struct fw_job *job)
{
	struct fw_view runtime =
		fw_view(job->view.access, FW_S_RuntimePointers, job->worker->fw->runtime);

	return fw_get(&runtime, FW_RuntimePointers_stats_cp_addr);
}

static void fw_compute_check_start(struct fw_job *job, const struct fw_view *op)
{
	struct fw_view *command = &job->view;
	struct fw_view control = fw_view(op->access, FW_S_EventControl, job->stamp->notifier);
	uint64_t pointee = fw_get(op, FW_StartCompute_unk_buf_addr);

	/* m1n1 has it point to unk_buf, the Rust driver to the word before, and both work */
	if (pointee != fw_va(command, FW_RunCompute_unk_buf) &&
	    pointee != fw_va(command, FW_RunCompute_unk_2c))
		fw_job_expect_pointer(job, op, FW_StartCompute_unk_buf_addr,
				      fw_va(command, FW_RunCompute_unk_buf));
	fw_job_expect_pointer(job, op, FW_StartCompute_computeinfo_addr,
			      job->registers.count ? 0 :
						     fw_va(command, FW_RunCompute_compute_info));
	fw_job_expect_pointer(job, op, FW_StartCompute_registers_addr,
			      fw_va(command, FW_RunCompute_registers));
	fw_job_expect_pointer(job, op, FW_StartCompute_computeinfo2_addr,
			      fw_va(command, FW_RunCompute_compute_info2));
	fw_job_expect_pointer(job, op, FW_StartCompute_stats_ptr, fw_compute_stats_of(job));
	fw_job_expect_pointer(job, op, FW_StartCompute_cmdqueue_ptr, job->queue->info);
	fw_job_expect_pointer(job, op, FW_StartCompute_unk_flag_addr,
			      fw_va(command, FW_RunCompute_unk_flag));
	fw_job_expect_pointer(job, op, FW_StartCompute_event_ctrl_buf_addr,
			      fw_va(&control, FW_EventControl_unk_buf));
	fw_job_expect_value(job, op, FW_StartCompute_context_id, job->vm_slot);
	fw_job_expect_value(job, op, FW_StartCompute_uuid, fw_get(&job->meta, FW_JobMeta_uuid));
	fw_job_expect_value(job, op, FW_StartCompute_counter1,
			    fw_get(&control, FW_EventControl_submission_id));
	fw_job_hint_sequence(job, op, FW_StartCompute_counter2, (uint32_t)job->command->sequence);
	fw_job_hint_sequence(job, op, FW_StartCompute_unk_34, job->command->sequence >> 32);
	fw_job_expect_value(job, op, FW_StartCompute_counter,
			    fw_get(command, FW_RunCompute_counter));
	fw_job_check_attachments(job, op, FW_StartCompute_num_attachments,
				 FW_StartCompute_attachments);
}

static void fw_compute_start(struct fw_job *job, const struct fw_view *op)
{
	struct fw_view info = fw_sub(&job->view, FW_RunCompute_compute_info, FW_S_ComputeInfo, 0);
	struct fw_view info2 =
		fw_sub(&job->view, FW_RunCompute_compute_info2, FW_S_ComputeInfo2, 0);
	struct fw_view encoder =
		fw_sub(&job->view, FW_RunCompute_encoder_params, FW_S_EncoderParams, 0);
	const struct fw_registers *registers = &job->registers;

	if (fw_has(&job->view, FW_RunCompute_registers))
		fw_job_load_registers(job, FW_REGISTERS_COMPUTE, FW_RunCompute_registers,
				      FW_RunCompute_registers_addr, FW_RunCompute_register_count,
				      FW_RunCompute_registers_length);
	else
		fw_compute_check_info(job, &info);
	fw_compute_check_preempt(job, &info);
	fw_compute_check_start(job, op);
	job->compute = (struct vagx_compute_registers){
		.cdm_base = fw_registers_word(registers, &info, FW_ComputeInfo_encoder),
		.cdm_end = fw_get(&info2, FW_ComputeInfo2_encoder_end),
		.usc_base = fw_registers_word(registers, &info, FW_ComputeInfo_pipeline_base),
		.helper_program =
			fw_registers_word(registers, &info, FW_ComputeInfo_helper_program),
		.helper_data = fw_registers_word(registers, &info, FW_ComputeInfo_helper_arg),
		.helper_cfg = fw_registers_word(registers, &info, FW_ComputeInfo_helper_cfg),
		.sampler_base = fw_get(&encoder, FW_EncoderParams_sampler_array),
		.sampler_count = fw_get(&encoder, FW_EncoderParams_sampler_count),
	};
}

static void fw_compute_finalize(struct fw_job *job, const struct fw_view *op)
{
	struct fw_view *command = &job->view;

	fw_job_expect_pointer(job, op, FW_FinalizeCompute_unkptr_4, fw_compute_stats_of(job));
	fw_job_expect_pointer(job, op, FW_FinalizeCompute_cmdqueue_ptr, job->queue->info);
	fw_job_expect_pointer(job, op, FW_FinalizeCompute_computeinfo2_addr,
			      fw_va(command, FW_RunCompute_compute_info2));
	fw_job_expect_pointer(job, op, FW_FinalizeCompute_stamp, job->stamp->fw_stamp);
	fw_job_expect_pointer(job, op, FW_FinalizeCompute_unkptr_71,
			      fw_va(command, FW_RunCompute_unk_flag));
	fw_job_expect_value(job, op, FW_FinalizeCompute_context_id, job->vm_slot);
	fw_job_expect_value(job, op, FW_FinalizeCompute_uuid, fw_get(&job->meta, FW_JobMeta_uuid));
	fw_job_expect_value(job, op, FW_FinalizeCompute_stamp_value, job->stamp->value);
	fw_job_check_restart(job, op, FW_FinalizeCompute_restart_branch_offset);
}

static enum vagx_gpu_status fw_compute_run(struct fw_job *job, struct vagx_job *units,
					   struct vagx_uat_fault *fault, unsigned int *unit)
{
	return vagx_job_compute(units, &job->compute, fault, unit);
}

const struct fw_job_kind fw_compute_kind = {
	.command = FW_COMMAND_COMPUTE,
	.pipe = FW_PIPE_COMPUTE,
	.type = FW_S_RunCompute,
	.context_id = FW_RunCompute_context_id,
	.event_control_addr = FW_RunCompute_event_control_addr,
	.microsequence_ptr = FW_RunCompute_microsequence_ptr,
	.microsequence_size = FW_RunCompute_microsequence_size,
	.job_meta = FW_RunCompute_job_meta,
	.ts1 = FW_RunCompute_ts1,
	.ts_pointers = FW_RunCompute_ts_pointers,
	.user_ts_pointers = FW_RunCompute_user_ts_pointers,
	.unk_ts = FW_RunCompute_unk_ts,
	.unk_ts2 = FW_RunCompute_unk_ts2,
	.start_op = FW_OP_START_COMPUTE,
	.start_type = FW_S_StartCompute,
	.finalize_op = FW_OP_FINALIZE_COMPUTE,
	.finalize_type = FW_S_FinalizeCompute,
	.wait = FW_WAIT_COMPUTE,
	.wait_g14x = FW_WAIT_COMPUTE_G14X,
	.start = fw_compute_start,
	.finalize = fw_compute_finalize,
	.run = fw_compute_run,
};
