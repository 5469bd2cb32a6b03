// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Compute commands and the interpreter of their microsequences (m1n1
 * fw/agx/cmdqueue.py WorkCommandCP, fw/agx/microsequence.py).
 */
#include <inttypes.h>
#include <string.h>

#include "../clock.h"
#include "../gpu/gpu.h"
#include "fw_internal.h"

#define FW_MSEQ_MAX		0x4000
#define FW_WAIT_COMPUTE		0x00800001
#define FW_WAIT_COMPUTE_G14X	0x00000002
#define FW_OP_END_WORD		0x40000018
#define FW_TIMESTAMP_START	0x80
#define FW_ATTACHMENTS		16
#define FW_CONTEXTS		64

enum fw_mseq_stage { FW_MSEQ_BEFORE, FW_MSEQ_STARTED, FW_MSEQ_WAITED, FW_MSEQ_FINALIZED };

/**
 * struct fw_job - a compute command under way
 * @worker: who runs it
 * @queue: whose it is
 * @command: the RunCompute structure
 * @meta: its JobMeta
 * @stamp: what its end is signalled with
 * @job: what the units are given
 * @start: address of the operation that started it, within the microsequence
 * @stage: how far the microsequence has come
 * @gone: the firmware stopped under it
 */
struct fw_job {
	struct fw_worker *worker;
	struct fw_queue *queue;
	struct fw_view command;
	struct fw_view meta;
	struct fw_job_stamp *stamp;
	struct vagx_compute_job job;
	uint64_t start;
	enum fw_mseq_stage stage;
	bool gone;
};

static struct vagx_report *report_of(struct fw_job *job)
{
	return job->worker->fw->config.report;
}

static bool check_stamp(struct fw_job *job)
{
	struct fw_job_stamp *stamp = job->stamp;
	struct fw_access *access = &job->worker->access;
	uint32_t now, ahead;
	uint64_t pte;

	stamp->cpu_stamp = fw_get(&job->meta, FW_JobMeta_stamp_addr);
	stamp->fw_stamp = fw_get(&job->meta, FW_JobMeta_fw_stamp_addr);
	stamp->value = fw_get(&job->meta, FW_JobMeta_stamp_value);
	stamp->slot = fw_get(&job->meta, FW_JobMeta_stamp_slot);
	if (access->failed)
		return false;
	if (stamp->slot != job->queue->slot || !stamp->cpu_stamp || !stamp->fw_stamp ||
	    (stamp->cpu_stamp | stamp->fw_stamp) & 3) {
		vagx_violation(report_of(job), VAGX_RULE_FW_COMMAND_STAMP, job->meta.va, "JobMeta",
			       "event slot %u in a queue with %u, stamps %#" PRIx64 " %#" PRIx64,
			       stamp->slot, job->queue->slot, stamp->cpu_stamp, stamp->fw_stamp);
		return false;
	}
	pte = vagx_uat_pte(job->worker->fw->config.uat, 0, stamp->cpu_stamp);
	if ((pte & VAGX_PTE_VALID) && VAGX_PTE_ATTR(pte) != VAGX_ATTR_SHARED)
		vagx_violation(report_of(job), VAGX_RULE_FW_INIT_SHARED, stamp->cpu_stamp,
			       "JobMeta", "the driver's stamp is not");
	now = fw_load32(access, stamp->fw_stamp, "firmware stamp");
	ahead = stamp->value - now;
	if (!access->failed && (stamp->value % FW_STAMP_STEP || !ahead ||
				ahead > FW_STAMPS_OUTSTANDING * FW_STAMP_STEP))
		vagx_violation(report_of(job), VAGX_RULE_FW_COMMAND_STAMP, job->meta.va, "JobMeta",
			       "%#x follows %#x", stamp->value, now);
	job->worker->fw->slot_stamp[stamp->slot] = stamp->fw_stamp;
	return !access->failed;
}

static bool check_notifier(struct fw_job *job)
{
	uint64_t va = fw_get(&job->command, FW_RunCompute_event_control_addr);
	struct fw_view control = fw_view(&job->worker->access, FW_S_EventControl, va);
	uint64_t threshold = fw_get(&control, FW_EventControl_event_count_addr);
	uint64_t tail = UINT64_MAX;

	if (job->worker->access.failed)
		return false;
	if (fw_has(&control, FW_EventControl_unk_buf))
		fw_read(&job->worker->access, fw_va(&control, FW_EventControl_unk_buf), &tail,
			sizeof(tail), "EventControl");
	if (!threshold || threshold & 3 || fw_get(&control, FW_EventControl_unk_10) != 0x50 ||
	    tail != UINT64_MAX)
		vagx_violation(report_of(job), VAGX_RULE_FW_COMMAND_NOTIFIER, va, "EventControl",
			       "threshold at %#" PRIx64 ", 10 is %#" PRIx64 ", the end %#" PRIx64,
			       threshold, fw_get(&control, FW_EventControl_unk_10), tail);
	if (!threshold || threshold & 3)
		return false;
	job->stamp->notifier = va;
	return !job->worker->access.failed;
}

static void check_info(struct fw_job *job, const struct fw_view *info)
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
			vagx_violation(report_of(job), VAGX_RULE_FW_COMMAND_INFO,
				       fw_va(info, fixed[i].field), "ComputeInfo",
				       "%s is %#" PRIx64, fw_fields[fixed[i].field].name, found);
	}
}

static void expect_pointer(struct fw_job *job, const struct fw_view *op, enum fw_field_id field,
			   uint64_t target)
{
	uint64_t found = fw_get(op, field);

	if (fw_has(op, field) && !op->access->failed && found != target)
		vagx_violation(report_of(job), VAGX_RULE_FW_MSEQ_POINTER, fw_va(op, field),
			       fw_structs[op->type].name, "%s is %#" PRIx64 " instead of %#" PRIx64,
			       fw_fields[field].name, found, target);
}

static void expect_value(struct fw_job *job, const struct fw_view *op, enum fw_field_id field,
			 uint64_t value)
{
	uint64_t found = fw_get(op, field);

	if (fw_has(op, field) && !op->access->failed && found != value)
		vagx_violation(report_of(job), VAGX_RULE_FW_MSEQ_FIELD, fw_va(op, field),
			       fw_structs[op->type].name, "%s is %#" PRIx64 " instead of %#" PRIx64,
			       fw_fields[field].name, found, value);
}

static void bad_operation(struct fw_job *job, uint64_t va, uint32_t word, const char *why)
{
	vagx_violation(report_of(job), VAGX_RULE_FW_MSEQ_OPERATION, va, "microsequence",
		       "%#010x %s", word, why);
}

static void check_attachments(struct fw_job *job, const struct fw_view *op)
{
	uint32_t count = fw_get(op, FW_StartCompute_num_attachments);

	if (count > FW_ATTACHMENTS) {
		vagx_violation(report_of(job), VAGX_RULE_FW_MSEQ_ATTACHMENT, op->va, "StartCompute",
			       "%u attachments", count);
		return;
	}
	for (unsigned int i = 0; i < count; i++) {
		struct fw_view attachment =
			fw_sub(op, FW_StartCompute_attachments, FW_S_Attachment, i);
		uint64_t address = fw_get(&attachment, FW_Attachment_address);
		uint32_t size = fw_get(&attachment, FW_Attachment_size);

		if (!op->access->failed && (!address || !size))
			vagx_violation(report_of(job), VAGX_RULE_FW_MSEQ_ATTACHMENT, attachment.va,
				       "Attachment", "%u: %#x lines at %#" PRIx64, i, size,
				       address);
	}
}

static bool op_start(struct fw_job *job, const struct fw_view *op)
{
	struct fw_view *command = &job->command;
	struct fw_view info =
		fw_view(op->access, FW_S_ComputeInfo, fw_get(op, FW_StartCompute_computeinfo_addr));
	struct fw_view info2 = fw_view(op->access, FW_S_ComputeInfo2,
				       fw_get(op, FW_StartCompute_computeinfo2_addr));
	struct fw_view encoder =
		fw_sub(command, FW_RunCompute_encoder_params, FW_S_EncoderParams, 0);
	uint64_t pointee = fw_get(op, FW_StartCompute_unk_buf_addr);

	if (job->stage != FW_MSEQ_BEFORE) {
		bad_operation(job, op->va, FW_OP_START_COMPUTE, "starts again");
		return false;
	}
	/* m1n1 has it point to unk_buf, the Rust driver to the word before, and both work */
	if (pointee != fw_va(command, FW_RunCompute_unk_buf) &&
	    pointee != fw_va(command, FW_RunCompute_unk_2c))
		expect_pointer(job, op, FW_StartCompute_unk_buf_addr,
			       fw_va(command, FW_RunCompute_unk_buf));
	expect_pointer(job, op, FW_StartCompute_computeinfo_addr,
		       fw_va(command, FW_RunCompute_compute_info));
	expect_pointer(job, op, FW_StartCompute_computeinfo2_addr,
		       fw_va(command, FW_RunCompute_compute_info2));
	expect_pointer(job, op, FW_StartCompute_cmdqueue_ptr, job->queue->info);
	expect_pointer(job, op, FW_StartCompute_unk_flag_addr,
		       fw_va(command, FW_RunCompute_unk_flag));
	expect_value(job, op, FW_StartCompute_context_id, job->job.vm_slot);
	expect_value(job, op, FW_StartCompute_uuid, fw_get(&job->meta, FW_JobMeta_uuid));
	expect_value(job, op, FW_StartCompute_counter, fw_get(command, FW_RunCompute_counter));
	check_attachments(job, op);
	check_info(job, &info);

	job->job.cdm_base = fw_get(&info, FW_ComputeInfo_encoder);
	job->job.usc_base = fw_get(&info, FW_ComputeInfo_pipeline_base);
	job->job.helper_program = fw_get(&info, FW_ComputeInfo_helper_program);
	job->job.helper_data = fw_get(&info, FW_ComputeInfo_helper_arg);
	job->job.helper_cfg = fw_get(&info, FW_ComputeInfo_helper_cfg);
	job->job.cdm_end = fw_get(&info2, FW_ComputeInfo2_encoder_end);
	job->job.sampler_base = fw_get(&encoder, FW_EncoderParams_sampler_array);
	job->job.sampler_count = fw_get(&encoder, FW_EncoderParams_sampler_count);
	job->start = op->va;
	job->stage = FW_MSEQ_STARTED;
	return true;
}

static void store_time(struct fw_job *job, uint64_t va, uint64_t now)
{
	if (va)
		fw_write(&job->worker->access, va, &now, sizeof(now), "timestamp");
}

static bool op_timestamp(struct fw_job *job, const struct fw_view *op)
{
	bool start = fw_get(op, FW_Timestamp_unk_3) & FW_TIMESTAMP_START;
	struct fw_view *command = &job->command;
	uint64_t now = vagx_clock_now(job->worker->fw->config.clock);
	static const struct {
		enum fw_field_id op, command;
	} lists[] = {
		{ FW_Timestamp_ts_pointers_addr, FW_RunCompute_ts_pointers },
		{ FW_Timestamp_user_ts_pointers_addr, FW_RunCompute_user_ts_pointers },
	};

	if (job->stage != (start ? FW_MSEQ_STARTED : FW_MSEQ_WAITED)) {
		bad_operation(job, op->va, FW_OP_TIMESTAMP, "comes at the wrong time");
		return false;
	}
	expect_pointer(job, op, FW_Timestamp_ts0_addr, fw_va(command, FW_RunCompute_ts1));
	expect_pointer(job, op, FW_Timestamp_cmdqueue_ptr, job->queue->info);
	expect_value(job, op, FW_Timestamp_uuid, fw_get(&job->meta, FW_JobMeta_uuid));
	store_time(job, fw_get(op, FW_Timestamp_ts0_addr), now);
	for (unsigned int i = 0; i < 2; i++) {
		struct fw_view list =
			fw_view(op->access, FW_S_TimestampPointers, fw_get(op, lists[i].op));

		expect_pointer(job, op, lists[i].op, fw_va(command, lists[i].command));
		store_time(job,
			   fw_get(&list, start ? FW_TimestampPointers_start_addr
					       : FW_TimestampPointers_end_addr),
			   now);
	}
	return true;
}

static enum vagx_gpu_status run_on_units(struct fw_job *job, struct vagx_uat_fault *fault,
					 unsigned int *unit)
{
	struct fw_worker *worker = job->worker;
	struct vagx_firmware *fw = worker->fw;
	unsigned int timeout =
		fw->config.job_timeout_ms ? fw->config.job_timeout_ms : VAGX_FW_DEFAULT_TIMEOUT_MS;
	enum vagx_gpu_status status = VAGX_GPU_CANCELLED;
	uint64_t ttb = 0;
	bool switched;

	worker->deadline = fw_now_ns() + timeout * 1000000ULL;
	worker->on_gpu = true;
	fw_poke(fw);
	pthread_mutex_unlock(&fw->lock);

	switched = fw_handoff_switch(fw, job->job.vm_slot, &ttb);
	if (switched && !(ttb & 1))
		vagx_violation(report_of(job), VAGX_RULE_FW_COMMAND_CONTEXT, job->command.va,
			       "RunCompute", "context %u is not bound", job->job.vm_slot);
	if (switched) {
		status = vagx_gpu_compute(fw->config.gpu, &job->job, fault, unit);
		fw_handoff_switch(fw, 0, NULL);
	}

	pthread_mutex_lock(&fw->lock);
	worker->on_gpu = false;
	if (!switched)
		fw_crash(fw, "the handoff lock cannot be taken");
	return status;
}

static bool op_wait(struct fw_job *job, const struct fw_view *op, uint32_t word)
{
	struct vagx_firmware *fw = job->worker->fw;
	uint32_t usual = fw->abi == FW_ABI_13_5_G14X ? FW_WAIT_COMPUTE_G14X : FW_WAIT_COMPUTE;
	struct vagx_uat_fault fault = { 0 };
	unsigned int unit = 0;
	enum vagx_gpu_status status;
	bool alive = true;

	if (job->stage != FW_MSEQ_STARTED) {
		bad_operation(job, op->va, word, "waits for nothing");
		return false;
	}
	if (word != usual)
		vagx_violation(report_of(job), VAGX_RULE_FW_MSEQ_WAIT, op->va, "microsequence",
			       "%#010x", word);
	if (job->worker->access.failed)
		return false;

	fw_event_pending(job->worker, job->stamp);
	status = run_on_units(job, &fault, &unit);
	if (fw->state != FW_STATE_READY)
		alive = false;
	else if (status == VAGX_GPU_FAULT)
		alive = fw_event_fault(job->worker, &fault, unit);
	else if (status == VAGX_GPU_CANCELLED)
		alive = fw_event_timeout(job->worker, job->stamp->slot);
	if (!alive) {
		job->gone = true;
		return false;
	}
	fw_event_not_pending(job->worker);
	job->stage = FW_MSEQ_WAITED;
	return true;
}

static bool op_finalize(struct fw_job *job, const struct fw_view *op)
{
	struct fw_view *command = &job->command;
	int64_t restart = fw_get(op, FW_FinalizeCompute_restart_branch_offset);

	if (job->stage != FW_MSEQ_WAITED) {
		bad_operation(job, op->va, FW_OP_FINALIZE_COMPUTE, "comes before its wait");
		return false;
	}
	expect_pointer(job, op, FW_FinalizeCompute_cmdqueue_ptr, job->queue->info);
	expect_pointer(job, op, FW_FinalizeCompute_computeinfo2_addr,
		       fw_va(command, FW_RunCompute_compute_info2));
	expect_pointer(job, op, FW_FinalizeCompute_stamp, job->stamp->fw_stamp);
	expect_value(job, op, FW_FinalizeCompute_context_id, job->job.vm_slot);
	expect_value(job, op, FW_FinalizeCompute_uuid, fw_get(&job->meta, FW_JobMeta_uuid));
	expect_value(job, op, FW_FinalizeCompute_stamp_value, job->stamp->value);
	if (op->va + restart != job->start)
		vagx_violation(report_of(job), VAGX_RULE_FW_MSEQ_RESTART, op->va, "FinalizeCompute",
			       "%" PRId64 " leads to %#" PRIx64, restart, op->va + restart);
	job->stage = FW_MSEQ_FINALIZED;
	return true;
}

static enum fw_struct_id op_type(uint32_t word)
{
	switch (word & 0x3f) {
	case FW_OP_WAIT:
	case FW_WAIT_COMPUTE_G14X:
		return FW_S_Wait;
	case FW_OP_END:
		return FW_S_End;
	case FW_OP_TIMESTAMP:
		return FW_S_Timestamp;
	case FW_OP_START_COMPUTE:
		return FW_S_StartCompute;
	case FW_OP_FINALIZE_COMPUTE:
		return FW_S_FinalizeCompute;
	default:
		return FW_STRUCT_COUNT;
	}
}

static bool run_op(struct fw_job *job, const struct fw_view *op, uint32_t word)
{
	switch (op->type) {
	case FW_S_StartCompute:
		return op_start(job, op);
	case FW_S_Timestamp:
		return op_timestamp(job, op);
	case FW_S_Wait:
		return op_wait(job, op, word);
	case FW_S_FinalizeCompute:
		return op_finalize(job, op);
	default:
		if (job->stage == FW_MSEQ_FINALIZED && word == FW_OP_END_WORD)
			return true;
		bad_operation(job, op->va, word, "ends too early or with other flags");
		return false;
	}
}

static bool run_microsequence(struct fw_job *job, uint64_t va, uint32_t size)
{
	struct fw_access *access = &job->worker->access;
	uint32_t offset = 0;

	while (offset < size && !access->failed) {
		uint32_t word = fw_load32(access, va + offset, "microsequence");
		struct fw_view op = fw_view(access, op_type(word), va + offset);

		if (access->failed)
			return false;
		if (op.type == FW_STRUCT_COUNT || fw_size(&op) > size - offset) {
			bad_operation(job, op.va, word, "is unknown or cut off");
			return false;
		}
		if (!run_op(job, &op, word))
			return false;
		offset += fw_size(&op);
		if (op.type != FW_S_End)
			continue;
		if (offset != size)
			bad_operation(job, op.va, word, "is not the last operation");
		return offset == size;
	}
	if (!access->failed)
		bad_operation(job, va, 0, "has no end");
	return false;
}

enum fw_outcome fw_compute(struct fw_worker *worker, struct fw_queue *queue, uint64_t va,
			   struct fw_job_stamp *stamp)
{
	struct fw_access *access = &worker->access;
	struct fw_job job = {
		.worker = worker,
		.queue = queue,
		.command = fw_view(access, FW_S_RunCompute, va),
		.stamp = stamp,
	};
	uint64_t sequence = fw_get(&job.command, FW_RunCompute_microsequence_ptr);
	uint32_t size = fw_get(&job.command, FW_RunCompute_microsequence_size);
	bool done;

	job.meta = fw_sub(&job.command, FW_RunCompute_job_meta, FW_S_JobMeta, 0);
	job.job.vm_slot = fw_get(&job.command, FW_RunCompute_context_id);
	fw_cache_use(worker->fw->cache, access, va, fw_size(&job.command), "RunCompute");
	if (!check_stamp(&job) || !check_notifier(&job))
		return FW_OUTCOME_BAD;
	if (!job.job.vm_slot || job.job.vm_slot >= FW_CONTEXTS) {
		vagx_violation(report_of(&job), VAGX_RULE_FW_COMMAND_CONTEXT, va, "RunCompute",
			       "context %u", job.job.vm_slot);
		return FW_OUTCOME_BAD;
	}
	if (!sequence || sequence & 3 || size & 3 || !size || size > FW_MSEQ_MAX) {
		vagx_violation(report_of(&job), VAGX_RULE_FW_MSEQ_OPERATION, va, "RunCompute",
			       "%#x bytes of microsequence at %#" PRIx64, size, sequence);
		return FW_OUTCOME_BAD;
	}
	fw_cache_use(worker->fw->cache, access, sequence, size, "microsequence");

	done = run_microsequence(&job, sequence, size);
	if (job.gone || worker->fw->state != FW_STATE_READY)
		return FW_OUTCOME_GONE;
	if (!done)
		return FW_OUTCOME_BAD;
	fw_cache_retire(worker->fw->cache, access, va, fw_size(&job.command));
	fw_cache_retire(worker->fw->cache, access, sequence, size);
	return FW_OUTCOME_DONE;
}
