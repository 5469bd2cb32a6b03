// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Commands that run on the units. Each has a stamp, a notifier and a microsequence, whose
 * operations are interpreted one after the other: one starts the job, a wait runs it on the units,
 * one finalizes it (m1n1 fw/agx/cmdqueue.py, fw/agx/microsequence.py). Vertex, fragment and
 * compute commands differ by their struct fw_job_kind.
 *
 * A worker, with the firmware's lock held. The lock is dropped while the job is on the units;
 * whoever cancels it, or takes all work off the units, does so meanwhile.
 */
#include "fw_job.h"

#include <inttypes.h>

#include "../clock.h"
#include "fw_buffer.h"

#define FW_MSEQ_MAX		0x4000
#define FW_WAIT2		0x02
#define FW_OP_END_WORD		0x40000018
#define FW_TIMESTAMP_START	0x80
#define FW_WRITE32_VALUE	0x20
#define FW_CONTEXTS		64

static const struct fw_job_kind *const fw_job_kinds[] = {
	&fw_vertex_kind,
	&fw_fragment_kind,
	&fw_compute_kind,
};

static const struct fw_job_kind *fw_job_kind_of(enum fw_pipe pipe, uint32_t type)
{
	for (unsigned int i = 0; i < sizeof(fw_job_kinds) / sizeof(fw_job_kinds[0]); i++) {
		if (fw_job_kinds[i]->command == type && fw_job_kinds[i]->pipe == pipe)
			return fw_job_kinds[i];
	}
	return NULL;
}

bool fw_job_known(enum fw_pipe pipe, uint32_t type)
{
	return fw_job_kind_of(pipe, type);
}

static const char *fw_job_name_of(const struct fw_job *job)
{
	return fw_structs[job->kind->type].name;
}

static void fw_job_init_job(struct fw_job *job, struct fw_worker *worker, struct fw_queue *queue,
			    struct fw_command *command)
{
	*job = (struct fw_job){
		.worker = worker,
		.queue = queue,
		.kind = fw_job_kind_of(queue->pipe, command->type),
		.command = command,
		.stamp = &command->stamp,
	};
	job->view = fw_view(&worker->access, job->kind->type, command->va);
	job->meta = fw_sub(&job->view, job->kind->job_meta, FW_S_JobMeta, 0);
	job->vm_slot = fw_get(&job->view, job->kind->context_id);
}

/* Dumps a structure of a command, with the places that its addresses may lead to */
static void fw_job_dump(struct fw_job *job, const struct fw_view *view)
{
	struct vagx_firmware *fw = job->worker->fw;
	const struct fw_scene *scene = fw_scene_find(fw, job->command->scene);
	struct fw_view runtime = fw_view(view->access, FW_S_RuntimePointers, fw->runtime);
	const struct fw_dump_place near[] = {
		fw_dump_place(job->kind->type, job->view.va),
		fw_dump_place(FW_S_QueueInfo, job->queue->info),
		fw_dump_place(FW_S_EventControl, job->stamp->notifier),
		fw_dump_place(FW_S_BufferThing, job->command->scene),
		fw_dump_place(FW_S_BufferInfo, scene ? scene->info : 0),
		fw_dump_place(FW_S_StatsTa, fw_get(&runtime, FW_RuntimePointers_stats_ta_addr)),
		fw_dump_place(FW_S_Stats3d, fw_get(&runtime, FW_RuntimePointers_stats_3d_addr)),
		fw_dump_place_named("StatsCp", fw_get(&runtime, FW_RuntimePointers_stats_cp_addr)),
		fw_dump_place_named("microsequence",
				    fw_get(&job->view, job->kind->microsequence_ptr)),
		fw_dump_place_named("stamp", job->stamp->cpu_stamp),
		fw_dump_place_named("firmware's stamp", job->stamp->fw_stamp),
	};

	fw_dump(fw, view == &job->view ? NULL : fw_job_name_of(job), view, near,
		sizeof(near) / sizeof(near[0]));
}

/* Stamp and notifier, which signal the end of a command */

/* Return: the clause about where a command's stamps are that is broken, or VAGX_KEPT */
static enum vagx_rule fw_job_check_stamp_place(const struct fw_job *job,
					       const struct fw_job_stamp *stamp)
{
	if (stamp->slot != job->queue->slot)
		return VAGX_CLAUSE_FW_COMMAND_STAMP_slot;
	if (!stamp->cpu_stamp)
		return VAGX_CLAUSE_FW_COMMAND_STAMP_null;
	if (!stamp->fw_stamp)
		return VAGX_CLAUSE_FW_COMMAND_STAMP_fw_null;
	if (stamp->cpu_stamp & 3)
		return VAGX_CLAUSE_FW_COMMAND_STAMP_alignment;
	if (stamp->fw_stamp & 3)
		return VAGX_CLAUSE_FW_COMMAND_STAMP_fw_alignment;
	return VAGX_KEPT;
}

static bool fw_job_take_stamp(struct fw_job *job, struct fw_job_stamp *stamp)
{
	enum vagx_rule clause;
	uint64_t pte;

	stamp->cpu_stamp = fw_get(&job->meta, FW_JobMeta_stamp_addr);
	stamp->fw_stamp = fw_get(&job->meta, FW_JobMeta_fw_stamp_addr);
	stamp->value = fw_get(&job->meta, FW_JobMeta_stamp_value);
	stamp->slot = fw_get(&job->meta, FW_JobMeta_stamp_slot);
	if (job->view.access->failed)
		return false;
	clause = fw_job_check_stamp_place(job, stamp);
	if (clause != VAGX_KEPT) {
		vagx_violation(fw_job_report(job), clause, job->meta.va, "JobMeta",
			       "event slot %u in a queue with %u, stamps %#" PRIx64 " %#" PRIx64,
			       stamp->slot, job->queue->slot, stamp->cpu_stamp, stamp->fw_stamp);
		return false;
	}
	pte = vagx_uat_pte(job->worker->fw->config.uat, 0, stamp->cpu_stamp);
	if ((pte & VAGX_PTE_VALID) && VAGX_PTE_ATTR(pte) != VAGX_ATTR_SHARED)
		vagx_violation(fw_job_report(job), VAGX_CLAUSE_FW_INIT_SHARED_stamp,
			       stamp->cpu_stamp, "JobMeta", "the driver's stamp is not in shared memory");
	job->worker->fw->slot_stamp[stamp->slot] = stamp->fw_stamp;
	return true;
}

/* Compares a stamp with that of the command before it, and with the one that was written last */
static void fw_job_check_stamp(struct fw_job *job, const struct fw_job_stamp *stamp)
{
	struct fw_queue *queue = job->queue;
	uint32_t now = fw_load32(job->view.access, stamp->fw_stamp, "firmware stamp");
	uint32_t last = queue->has_stamp ? queue->last_stamp : now;
	uint32_t ahead = stamp->value - now;

	enum vagx_rule clause = VAGX_KEPT;

	if (job->view.access->failed)
		return;
	if (stamp->value % FW_STAMP_STEP)
		clause = VAGX_CLAUSE_FW_COMMAND_STAMP_step;
	else if ((int32_t)(stamp->value - last) <= 0)
		clause = VAGX_CLAUSE_FW_COMMAND_STAMP_order;
	else if (ahead > FW_STAMPS_OUTSTANDING * FW_STAMP_STEP)
		clause = VAGX_CLAUSE_FW_COMMAND_STAMP_ahead;
	vagx_violation(fw_job_report(job), clause, job->meta.va, "JobMeta",
		       "%#x follows %#x, %#x was reached", stamp->value, last, now);
	queue->last_stamp = stamp->value;
	queue->has_stamp = true;
}

/* Return: the clause about a notifier that is broken, or VAGX_KEPT */
static enum vagx_rule fw_job_check_notifier(const struct fw_view *control, uint64_t threshold,
					    uint64_t tail)
{
	if (!threshold)
		return VAGX_CLAUSE_FW_COMMAND_NOTIFIER_null;
	if (threshold & 3)
		return VAGX_CLAUSE_FW_COMMAND_NOTIFIER_alignment;
	if (fw_get(control, FW_EventControl_unk_10) != 0x50)
		return VAGX_CLAUSE_FW_COMMAND_NOTIFIER_word;
	if (tail != UINT64_MAX)
		return VAGX_CLAUSE_FW_COMMAND_NOTIFIER_end;
	return VAGX_KEPT;
}

static bool fw_job_take_notifier(struct fw_job *job, struct fw_job_stamp *stamp)
{
	struct fw_access *access = job->view.access;
	uint64_t va = fw_get(&job->view, job->kind->event_control_addr);
	struct fw_view control = fw_view(access, FW_S_EventControl, va);
	uint64_t threshold = fw_get(&control, FW_EventControl_event_count_addr);
	uint64_t tail = UINT64_MAX;

	if (access->failed)
		return false;
	if (fw_has(&control, FW_EventControl_unk_buf))
		fw_read(access, fw_va(&control, FW_EventControl_unk_buf), &tail, sizeof(tail),
			"EventControl");
	vagx_violation(fw_job_report(job), fw_job_check_notifier(&control, threshold, tail), va,
		       "EventControl",
		       "threshold at %#" PRIx64 ", 10 is %#" PRIx64 ", the end %#" PRIx64,
		       threshold, fw_get(&control, FW_EventControl_unk_10), tail);
	if (!threshold || threshold & 3)
		return false;
	stamp->notifier = va;
	return !access->failed;
}

bool fw_job_take(struct fw_worker *worker, struct fw_queue *queue, struct fw_command *command)
{
	int *error = &worker->fw->inject.channel_error[queue->pipe];
	struct fw_job job;

	fw_job_init_job(&job, worker, queue, command);
	command->sequence = queue->stamped++;
	fw_cache_use(worker->fw->cache, &worker->access, command->va, fw_size(&job.view),
		     fw_job_name_of(&job));
	fw_check_poison(&worker->access, command->va, fw_size(&job.view), fw_job_name_of(&job));
	if (!fw_job_take_stamp(&job, &command->stamp))
		return false;
	fw_job_check_stamp(&job, &command->stamp);
	fw_job_hint_sequence(&job, &job.meta, FW_JobMeta_queue_cmd_count,
			     (uint32_t)command->sequence);
	if (!fw_job_take_notifier(&job, &command->stamp))
		return false;
	if (!job.vm_slot || job.vm_slot >= FW_CONTEXTS) {
		vagx_violation(fw_job_report(&job),
			       job.vm_slot ? VAGX_CLAUSE_FW_COMMAND_CONTEXT_range :
					     VAGX_CLAUSE_FW_COMMAND_CONTEXT_kernel,
			       command->va, fw_job_name_of(&job), "context %u", job.vm_slot);
		return false;
	}
	if (job.kind->take && !job.kind->take(&job, command))
		return false;
	if (*error < 0)
		return true;
	command->error = *error;
	*error = -1;
	return false;
}

static bool fw_job_bad_operation(struct fw_job *job, enum vagx_rule clause, uint64_t va,
				 uint32_t word)
{
	vagx_violation(fw_job_report(job), clause, va, "microsequence", "%#010x", word);
	return false;
}

/* Operations of all kinds of commands */

static bool fw_job_op_start(struct fw_job *job, const struct fw_view *op)
{
	if (job->stage != FW_JOB_BEFORE)
		return fw_job_bad_operation(job, VAGX_CLAUSE_FW_MSEQ_OPERATION_start, op->va,
					    job->kind->start_op);
	job->kind->start(job, op);
	job->start = op->va;
	job->stage = FW_JOB_STARTED;
	return true;
}

static void fw_job_store_time(struct fw_job *job, const struct fw_view *op, uint64_t va,
			      uint64_t now)
{
	bool own = va == fw_va(&job->view, job->kind->ts1);

	if (!va)
		return;
	/* A command's own word may be anywhere, others have to be aligned */
	if (va & 7 && !own)
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_MSEQ_TIMESTAMP, va,
			       fw_structs[op->type].name,
			       "a time would be stored at an address that is not aligned");
	fw_write(op->access, va, &now, sizeof(now), "timestamp");
}

/*
 * Checks where a client's time goes: its memory is coherent, and not for the GPU (asahi gpu.rs
 * map_timestamp_buffer). The Rust driver has a window of addresses for it, m1n1 another.
 */
static void fw_job_check_user_time(struct fw_job *job, const struct fw_view *op, uint64_t va)
{
	uint64_t pte = vagx_uat_pte(op->access->uat, 0, va);

	if (pte && (pte & AGX_PTE_PROT_MASK) != AGX_PROT_FW_SHARED_RW)
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_MSEQ_USER_TIME, va,
			       fw_structs[op->type].name,
			       "a client's time is in memory with protection %#" PRIx64,
			       (uint64_t)(pte & AGX_PTE_PROT_MASK));
}

/* Clients get nanoseconds (asahi file.rs command_timestamp_frequency_hz), the driver ticks */
static uint64_t fw_job_user_time(struct fw_job *job, uint64_t ticks)
{
	uint64_t frequency = vagx_clock_frequency(job->worker->fw->config.clock);

	return (unsigned __int128)ticks * 1000000000 / frequency;
}

/*
 * Checks a word that leads to different words of the command in the references. The firmware does
 * not follow unk_addr, which is 0xdeadbeef in m1n1.
 */
static void fw_job_check_time_word(struct fw_job *job, const struct fw_view *op)
{
	uint64_t ts = fw_get(op, FW_Timestamp_unk_ts_addr);

	if (op->access->failed)
		return;
	if (fw_has(op, FW_Timestamp_unk_ts_addr) && ts != fw_va(&job->view, job->kind->unk_ts) &&
	    ts != fw_va(&job->view, job->kind->unk_ts2))
		fw_job_expect_pointer(job, op, FW_Timestamp_unk_ts_addr,
				      fw_va(&job->view, job->kind->unk_ts));
}

/*
 * Stores the time in the command itself, and where its two pairs of pointers lead, the driver's
 * and its client's, which may be empty.
 */
static bool fw_job_op_timestamp(struct fw_job *job, const struct fw_view *op)
{
	bool start = fw_get(op, FW_Timestamp_unk_3) & FW_TIMESTAMP_START;
	uint64_t now = vagx_clock_now(job->worker->fw->config.clock);
	const struct {
		enum fw_field_id op, command;
		bool user;
	} lists[] = {
		{ FW_Timestamp_ts_pointers_addr, job->kind->ts_pointers, false },
		{ FW_Timestamp_user_ts_pointers_addr, job->kind->user_ts_pointers, true },
	};

	if (job->stage != (start ? FW_JOB_STARTED : FW_JOB_WAITED))
		return fw_job_bad_operation(job, VAGX_CLAUSE_FW_MSEQ_OPERATION_time, op->va,
					    FW_OP_TIMESTAMP);
	fw_job_expect_pointer(job, op, FW_Timestamp_ts0_addr, fw_va(&job->view, job->kind->ts1));
	fw_job_expect_pointer(job, op, FW_Timestamp_cmdqueue_ptr, job->queue->info);
	fw_job_expect_value(job, op, FW_Timestamp_uuid, fw_get(&job->meta, FW_JobMeta_uuid));
	fw_job_check_time_word(job, op);
	fw_job_store_time(job, op, fw_get(op, FW_Timestamp_ts0_addr), now);
	for (unsigned int i = 0; i < 2; i++) {
		struct fw_view list =
			fw_view(op->access, FW_S_TimestampPointers, fw_get(op, lists[i].op));
		uint64_t va = fw_get(&list, start ? FW_TimestampPointers_start_addr :
						    FW_TimestampPointers_end_addr);

		fw_job_expect_pointer(job, op, lists[i].op, fw_va(&job->view, lists[i].command));
		if (va && lists[i].user)
			fw_job_check_user_time(job, op, va);
		fw_job_store_time(job, op, va, lists[i].user ? fw_job_user_time(job, now) : now);
	}
	return true;
}

static bool fw_job_op_finalize(struct fw_job *job, const struct fw_view *op)
{
	if (job->stage != FW_JOB_WAITED)
		return fw_job_bad_operation(job, VAGX_CLAUSE_FW_MSEQ_OPERATION_finalize, op->va,
					    job->kind->finalize_op);
	job->kind->finalize(job, op);
	job->stage = FW_JOB_FINALIZED;
	return true;
}

static bool fw_job_op_end(struct fw_job *job, const struct fw_view *op, uint32_t word)
{
	if (job->stage == FW_JOB_FINALIZED && word == FW_OP_END_WORD)
		return true;
	return fw_job_bad_operation(job,
				    word == FW_OP_END_WORD ? VAGX_CLAUSE_FW_MSEQ_OPERATION_end_early :
							     VAGX_CLAUSE_FW_MSEQ_OPERATION_end_flags,
				    op->va, word);
}

static bool fw_job_op_write32(struct fw_job *job, const struct fw_view *op)
{
	uint64_t va = fw_get(op, FW_Write32_addr);

	if (fw_get(op, FW_Write32_unk_3) != FW_WRITE32_VALUE)
		return fw_job_bad_operation(job, VAGX_CLAUSE_FW_MSEQ_OPERATION_write_flags, op->va,
					    FW_OP_WRITE32);
	if (va & 3)
		return fw_job_bad_operation(job, VAGX_CLAUSE_FW_MSEQ_OPERATION_write_alignment, op->va,
					    FW_OP_WRITE32);
	fw_store32(op->access, va, fw_get(op, FW_Write32_val), "Write32");
	return true;
}

/* On the units */

/* A command that hangs reads the word at HANG_VA each HANG_STEP_NS */
#define HANG_STEP_NS	10000000
#define HANG_VA		(UINT64_C(1) << 36)

/*
 * Pretends to be on the units until it is cancelled, and reads memory again and again. What it
 * reads does not matter, but it faults when its context has other tables than it began with, and
 * nothing is mapped there. Lock held, and dropped in between.
 */
static enum vagx_gpu_status fw_job_hang(struct fw_job *job, struct vagx_uat_fault *fault)
{
	struct fw_worker *worker = job->worker;
	struct vagx_firmware *fw = worker->fw;
	const uint64_t ttb = vagx_uat_ttb(fw->config.uat, job->vm_slot, 0);
	uint32_t word;

	vagx_log(fw->config.report, VAGX_LOG_INFO, "firmware: a command hangs, as it was asked to");
	while (!worker->cancelled) {
		uint64_t until = fw_now_ns() + HANG_STEP_NS;
		struct timespec time = { .tv_sec = until / 1000000000,
					 .tv_nsec = until % 1000000000 };

		pthread_cond_timedwait(&fw->work, &fw->lock, &time);
		if (vagx_uat_ttb(fw->config.uat, job->vm_slot, 0) != ttb &&
		    vagx_uat_read(fw->config.uat, job->vm_slot, HANG_VA, &word, sizeof(word),
				  VAGX_AGENT_GPU, fault))
			return VAGX_GPU_FAULT;
	}
	return VAGX_GPU_CANCELLED;
}

static enum vagx_gpu_status fw_job_run_unlocked(struct fw_job *job, struct vagx_uat_fault *fault,
						unsigned int *unit)
{
	struct fw_worker *worker = job->worker;
	struct vagx_firmware *fw = worker->fw;
	enum vagx_gpu_status status = VAGX_GPU_CANCELLED;
	uint64_t ttb = 0;
	bool entered;

	pthread_mutex_unlock(&fw->lock);
	entered = fw_handoff_enter(fw, job->vm_slot, &ttb);
	if (entered && !(ttb & 1))
		vagx_violation(fw_job_report(job), VAGX_CLAUSE_FW_COMMAND_CONTEXT_unbound, job->view.va,
			       fw_job_name_of(job), "context %u is not bound", job->vm_slot);
	if (entered) {
		status = job->kind->run(job, worker->job, fault, unit);
		fw_handoff_leave(fw);
	}
	pthread_mutex_lock(&fw->lock);
	if (!entered)
		fw_crash(fw, "the handoff lock cannot be taken");
	return status;
}

static bool fw_job_enter_units(struct fw_job *job)
{
	struct fw_worker *worker = job->worker;
	struct vagx_firmware *fw = worker->fw;
	bool *hangs = &fw->inject.hang[worker->pipe];

	worker->job = vagx_job_new(fw->config.gpu, job->vm_slot);
	if (!worker->job) {
		fw_crash(fw, "no memory for a job");
		return false;
	}
	worker->pending = fw_event_pending(worker, job->stamp);
	worker->started = fw_now_ns();
	worker->cancelled = false;
	worker->timed_out = false;
	worker->hangs = *hangs;
	*hangs = false;
	fw->on_units++;
	fw_telemetry_units(fw);
	fw_poke(fw);
	return true;
}

static void fw_job_leave_units(struct fw_worker *worker)
{
	struct vagx_firmware *fw = worker->fw;

	vagx_job_free(worker->job);
	worker->job = NULL;
	fw->on_units--;
	fw_telemetry_units(fw);
	pthread_cond_broadcast(&fw->work);
}

/*
 * Runs a job on the units; false when the firmware stopped meanwhile. A fault or timeout takes
 * down all jobs on the units. A job that was there while another one failed is treated like that
 * one, even if it had just ended: its stamp stays pending until the driver resumes.
 */
static bool fw_job_run_on_units(struct fw_job *job)
{
	struct fw_worker *worker = job->worker;
	struct vagx_firmware *fw = worker->fw;
	struct vagx_uat_fault fault = { 0 };
	enum vagx_gpu_status status;
	unsigned int unit = 0;
	bool alive = true;

	if (!fw_job_enter_units(job))
		return false;
	if (worker->hangs)
		status = fw_job_hang(job, &fault);
	else
		status = fw_job_run_unlocked(job, &fault, &unit);
	fw_job_leave_units(worker);

	fw_wait_while_silent(fw);
	if (fw->state != FW_STATE_READY)
		return false;
	if (fw->halting || fw->halted)
		alive = fw_event_wait_resume(worker);
	else if (status == VAGX_GPU_FAULT)
		alive = fw_event_fault(worker, &fault, unit);
	else if (status == VAGX_GPU_CANCELLED)
		alive = fw_event_timeout(worker, job->stamp->slot);
	if (alive)
		fw_event_not_pending(worker, worker->pending);
	return alive;
}

static bool fw_job_op_wait(struct fw_job *job, const struct fw_view *op, uint32_t word)
{
	bool g14x = job->worker->fw->abi == FW_ABI_13_5_G14X;

	if (job->stage != FW_JOB_STARTED)
		return fw_job_bad_operation(job, VAGX_CLAUSE_FW_MSEQ_OPERATION_wait, op->va, word);
	if (word != (g14x ? job->kind->wait_g14x : job->kind->wait))
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_MSEQ_WAIT, op->va, "microsequence",
			       "%#010x", word);
	if (op->access->failed)
		return false;
	if (!fw_job_run_on_units(job)) {
		job->gone = true;
		return false;
	}
	job->stage = FW_JOB_WAITED;
	return true;
}

/* The interpreter */

static enum fw_struct_id fw_job_op_type(const struct fw_job *job, uint32_t word)
{
	uint32_t op = word & 0x3f;

	if (op == job->kind->start_op)
		return job->kind->start_type;
	if (op == job->kind->finalize_op)
		return job->kind->finalize_type;
	switch (op) {
	case FW_OP_WAIT:
	case FW_WAIT2:
		return FW_S_Wait;
	case FW_OP_WRITE32:
		return FW_S_Write32;
	case FW_OP_END:
		return FW_S_End;
	case FW_OP_TIMESTAMP:
		return FW_S_Timestamp;
	default:
		return FW_STRUCT_COUNT;
	}
}

static bool fw_job_run_op(struct fw_job *job, const struct fw_view *op, uint32_t word)
{
	if (job->worker->fw->config.dump)
		fw_job_dump(job, op);
	if (op->type == job->kind->start_type)
		return fw_job_op_start(job, op);
	if (op->type == job->kind->finalize_type)
		return fw_job_op_finalize(job, op);
	switch (op->type) {
	case FW_S_Timestamp:
		return fw_job_op_timestamp(job, op);
	case FW_S_Write32:
		return fw_job_op_write32(job, op);
	case FW_S_Wait:
		return fw_job_op_wait(job, op, word);
	default:
		return fw_job_op_end(job, op, word);
	}
}

static bool fw_job_run_microsequence(struct fw_job *job, uint64_t va, uint32_t size)
{
	struct fw_access *access = job->view.access;
	uint32_t offset = 0;

	while (offset < size && !access->failed) {
		uint32_t word = fw_load32(access, va + offset, "microsequence");
		struct fw_view op = fw_view(access, fw_job_op_type(job, word), va + offset);

		if (access->failed)
			return false;
		if (op.type == FW_STRUCT_COUNT)
			return fw_job_bad_operation(job, VAGX_CLAUSE_FW_MSEQ_OPERATION_unknown,
						    op.va, word);
		if (fw_size(&op) > size - offset)
			return fw_job_bad_operation(job, VAGX_CLAUSE_FW_MSEQ_OPERATION_cut, op.va,
						    word);
		if (!fw_job_run_op(job, &op, word))
			return false;
		offset += fw_size(&op);
		if (op.type != FW_S_End)
			continue;
		if (offset != size)
			return fw_job_bad_operation(job, VAGX_CLAUSE_FW_MSEQ_OPERATION_last, op.va,
						    word);
		return true;
	}
	if (!access->failed)
		fw_job_bad_operation(job, VAGX_CLAUSE_FW_MSEQ_OPERATION_end, va, 0);
	return false;
}

/* Return: the clause about where a microsequence is that is broken, or VAGX_KEPT */
static enum vagx_rule fw_job_check_sequence(uint64_t sequence, uint32_t size)
{
	if (!sequence)
		return VAGX_CLAUSE_FW_MSEQ_OPERATION_null;
	if (sequence & 3)
		return VAGX_CLAUSE_FW_MSEQ_OPERATION_alignment;
	if (!size)
		return VAGX_CLAUSE_FW_MSEQ_OPERATION_empty;
	if (size & 3)
		return VAGX_CLAUSE_FW_MSEQ_OPERATION_size;
	if (size > FW_MSEQ_MAX)
		return VAGX_CLAUSE_FW_MSEQ_OPERATION_large;
	return VAGX_KEPT;
}

enum fw_outcome fw_job_run(struct fw_worker *worker, struct fw_queue *queue,
			   struct fw_command *command)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_access *access = &worker->access;
	struct fw_view control;
	enum vagx_rule clause;
	uint64_t sequence;
	struct fw_job job;
	uint32_t size;
	bool done;

	fw_job_init_job(&job, worker, queue, command);
	sequence = fw_get(&job.view, job.kind->microsequence_ptr);
	size = fw_get(&job.view, job.kind->microsequence_size);
	clause = fw_job_check_sequence(sequence, size);
	if (clause != VAGX_KEPT) {
		vagx_violation(fw_job_report(&job), clause, command->va, fw_job_name_of(&job), "%#x bytes of microsequence at %#" PRIx64,
			       size, sequence);
		return FW_OUTCOME_BAD;
	}
	fw_cache_use(fw->cache, access, sequence, size, "microsequence");
	fw_check_poison(access, sequence, size, "microsequence");
	control = fw_view(access, FW_S_EventControl, job.stamp->notifier);
	/*
	 * Both commands of a render share a notifier. It is dumped with the vertex command alone,
	 * as its count depends on the order afterwards.
	 */
	if (fw->config.dump && job.kind != &fw_fragment_kind)
		fw_job_dump(&job, &control);
	if (fw->config.dump)
		fw_job_dump(&job, &job.view);

	done = fw_job_run_microsequence(&job, sequence, size);
	if (job.gone || fw->state != FW_STATE_READY)
		return FW_OUTCOME_GONE;
	if (!done)
		return FW_OUTCOME_BAD;
	fw_cache_retire(fw->cache, access, command->va, fw_size(&job.view));
	fw_cache_retire(fw->cache, access, sequence, size);
	return FW_OUTCOME_DONE;
}
