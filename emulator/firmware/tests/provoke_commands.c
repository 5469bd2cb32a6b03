// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Provocations of rules about queues, commands and microsequences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "provoke.h"

/* Pipe messages and queues */

static void provoke_run_pipe(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 1, 6);
	rig_count(rig, &queue);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	rig_announce(rig, &queue, 2);
	queue.pipe = 2;
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	rig_announce(rig, &queue, 2);
}

static void provoke_run_channel(struct rig *rig)
{
	struct rig_queue queue;
	struct rig_ptr msg;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_count(rig, &queue);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0x100).va);
	rig_message(rig, &queue, 2);
	msg = rig->channel[8].entries;
	put(msg, FW_RunMsg_queue_type, 1);
	rig_doorbell(rig, 2 | 2 << 2);
}

/* Announces a barrier that stays closed after @change had a look at the message */
static void announce_changed(struct rig *rig, struct rig_queue *queue, enum fw_field_id field,
			     uint64_t value)
{
	struct rig_ring *ring = &rig->channel[8];
	struct rig_ptr msg = { .host = ring->entries.host +
				       ring->wptr * fw_structs[FW_S_RunMsg].size[RIG_ABI] };

	rig_count(rig, queue);
	rig_push(rig, queue, rig_barrier_new(rig, 7, 0x100).va);
	rig_message(rig, queue, 2);
	put(msg, field, value);
	rig_doorbell(rig, 2 | 2 << 2);
}

static void provoke_run_new_value(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	announce_changed(rig, &queue, FW_RunMsg_new_queue, 2);
}

static void provoke_run_new_known(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	announce_changed(rig, &queue, FW_RunMsg_new_queue, 1);
	announce_changed(rig, &queue, FW_RunMsg_new_queue, 1);
}

static void provoke_run_slot_change(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	announce_changed(rig, &queue, FW_RunMsg_event_number, 6);
	announce_changed(rig, &queue, FW_RunMsg_event_number, 8);
}

static void provoke_run_nothing(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	announce_changed(rig, &queue, FW_RunMsg_head, 0);
}

static void provoke_run_wild_memory(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_count(rig, &queue);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0x100).va);
	put(queue.pointers, FW_QueuePointers_cpu_wptr, 0x500);
	rig_announce(rig, &queue, 2);
}

static void provoke_run_new(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	queue.known = true;
	rig_count(rig, &queue);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	rig_announce(rig, &queue, 2);
}

static void provoke_run_event_slot(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	queue.slot = 128;
	rig_count(rig, &queue);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	rig_announce(rig, &queue, 2);
}

static void provoke_run_shared_slot(struct rig *rig)
{
	struct rig_queue queue[2];

	rig_boot(rig);
	for (unsigned int i = 0; i < 2; i++) {
		rig_queue_new(rig, &queue[i], 2, 6);
		rig_count(rig, &queue[i]);
		rig_push(rig, &queue[i], rig_barrier_new(rig, 7, 0x100).va);
		rig_announce(rig, &queue[i], 2);
	}
}

static void provoke_run_wptr(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_count(rig, &queue);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	put(queue.pointers, FW_QueuePointers_cpu_wptr, 0);
	rig_announce(rig, &queue, 2);
}

static void provoke_run_wild_wptr(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_count(rig, &queue);
	queue.wptr = 0xfffffff0;
	put(queue.pointers, FW_QueuePointers_cpu_wptr, 0xfffffff0);
	rig_announce(rig, &queue, 2);
}

static void provoke_run_pending(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	rig_announce(rig, &queue, 2);
}

CHANGED(queue_info)
{
	put(queue->info, FW_QueueInfo_unk_54, 0);
}

CHANGED(queue_size)
{
	put(queue->pointers, FW_QueuePointers_rb_size, 0x7fffffff);
}

CHANGED(queue_small)
{
	put(queue->pointers, FW_QueuePointers_rb_size, 1);
}

CHANGED(queue_read)
{
	put(queue->pointers, FW_QueuePointers_gpu_rptr, 1);
}

CHANGED(queue_done)
{
	put(queue->pointers, FW_QueuePointers_gpu_doneptr, 1);
}

CHANGED(queue_gpu_buf)
{
	put(queue->info, FW_QueueInfo_gpu_buf_addr, 0);
}

CHANGED(queue_ring)
{
	put(queue->info, FW_QueueInfo_rb_addr, 0xffffffa5ff000000);
}

CHANGED(queue_no_job_list)
{
	put(queue->info, FW_QueueInfo_job_list_addr, 0);
}

CHANGED(queue_job_list)
{
	put(queue->list, FW_JobList_last_head, queue->list.va + 8);
}

CHANGED(queue_priority)
{
	put(queue->info, FW_QueueInfo_unk_38, 0x1234);
}

CHANGED(queue_context)
{
	put(queue->context, FW_GpuContextData_unk_1e, 0);
}

/* Commands */

CHANGED(command)
{
	put(command->command, FW_RunCompute_magic, 0x55);
}

CHANGED(command_odd)
{
	command->command.va += 2;
}

CHANGED(not_yet)
{
	put(command->command, FW_RunCompute_magic, 2);
}

/* What the firmware reads, what it is never seen to read, and what InitData leads to */
CHANGED(poison_read)
{
	memset(meta_of(command).host, 0xaa, fw_structs[FW_S_JobMeta].size[RIG_ABI]);
}

CHANGED(poison_object)
{
	memset(sub(command->command, FW_RunCompute_unk_1c4, FW_S_JobMeta, 0).host, 0x6b, 0x20);
}

CHANGED(poison_sequence)
{
	memset(sub(finalize_of(command), FW_FinalizeCompute_unk_38, FW_S_JobMeta, 0).host, 0xfe, 24);
}

static void provoke_poison_init(struct rig *rig)
{
	struct rig_ptr ring = rig_alloc(rig, RIG_PRIVATE, 0x300);

	memset(ring.host + 0x200, 0x5a, 0x100);
	put(rig->runtime, FW_RuntimePointers_unkptr_1c0, ring.va);
	rig_boot(rig);
}

CHANGED(command_address)
{
	command->command.va = 0xffffffa5deadbee0;
}

CHANGED(command_context)
{
	put(command->command, FW_RunCompute_context_id, 0);
}

CHANGED(command_context_range)
{
	put(command->command, FW_RunCompute_context_id, 64);
}

CHANGED(command_unbound)
{
	rig_forget_context(rig);
}

CHANGED(command_stamp)
{
	put(meta_of(command), FW_JobMeta_stamp_value, 0x123);
	put(finalize_of(command), FW_FinalizeCompute_stamp_value, 0x123);
}

CHANGED(command_sequence)
{
	flip(meta_of(command), FW_JobMeta_queue_cmd_count);
}

CHANGED(command_stamp_far)
{
	put(meta_of(command), FW_JobMeta_stamp_value, 127 * 0x100);
	put(finalize_of(command), FW_FinalizeCompute_stamp_value, 127 * 0x100);
}

/* One more than may be outstanding; the window of what runs never sees it */
static void provoke_command_stamps_many(struct rig *rig)
{
	struct rig_command command[127];
	struct rig_queue queue;

	rig_boot(rig);
	rig_hang(rig, true);
	rig_queue_new(rig, &queue, 2, 6);
	for (unsigned int i = 0; i < 127; i++) {
		assert_int_equal(rig_findings(rig), 0);
		rig_compute_new(rig, &queue, &command[i]);
		rig_count(rig, &queue);
		rig_push(rig, &queue, command[i].command.va);
	}
	rig_announce(rig, &queue, 2);
	assert_true(rig_wait_rule(rig, VAGX_RULE_FW_COMMAND_STAMP));
	rig_hang(rig, false);
}

CHANGED(command_preempt)
{
	put(info_of(command), FW_ComputeInfo_iogpu_deflake_1, 0x1100004000);
}

/* Both are taken before the first is over, so what is in memory says nothing */
static void provoke_command_stamp_twice(struct rig *rig)
{
	struct rig_command command[2];
	struct rig_queue queue;

	rig_boot(rig);
	rig_hang(rig, true);
	rig_queue_new(rig, &queue, 2, 6);
	for (unsigned int i = 0; i < 2; i++) {
		rig_compute_new(rig, &queue, &command[i]);
		queue.stamp = 0;
		rig_count(rig, &queue);
		rig_push(rig, &queue, command[i].command.va);
	}
	rig_announce(rig, &queue, 2);
	assert_true(rig_wait_rule(rig, VAGX_RULE_FW_COMMAND_STAMP));
	rig_hang(rig, false);
}

CHANGED(command_stamp_slot)
{
	put(meta_of(command), FW_JobMeta_stamp_slot, 0x7fffffff);
}

CHANGED(command_no_stamp)
{
	put(meta_of(command), FW_JobMeta_stamp_addr, 0);
}

CHANGED(command_no_fw_stamp)
{
	put(meta_of(command), FW_JobMeta_fw_stamp_addr, 0);
}

CHANGED(command_odd_stamp)
{
	put(meta_of(command), FW_JobMeta_stamp_addr, rig->stamps.va + 4 * queue->slot + 2);
}

CHANGED(command_odd_fw_stamp)
{
	put(meta_of(command), FW_JobMeta_fw_stamp_addr, rig->fw_stamps.va + 4 * queue->slot + 2);
}

CHANGED(notifier_null)
{
	put(queue->notifier, FW_EventControl_event_count_addr, 0);
}

CHANGED(notifier_odd)
{
	put(queue->notifier, FW_EventControl_event_count_addr, queue->threshold.va + 2);
}

CHANGED(notifier_end)
{
	memset(queue->notifier.host + fw_fields[FW_EventControl_unk_buf].offset[RIG_ABI], 0, 8);
}

CHANGED(command_notifier)
{
	put(queue->notifier, FW_EventControl_unk_10, 0);
}

CHANGED(command_threshold)
{
	*(uint32_t *)queue->threshold.host = UINT32_MAX;
}

CHANGED(command_info)
{
	put(info_of(command), FW_ComputeInfo_unk_38, 0);
}

/* A barrier in the place of the command, for the stamp of another slot */
static void make_barrier(struct rig *rig, struct rig_command *command, enum fw_field_id field,
			 uint64_t value)
{
	command->command = rig_barrier_new(rig, 7, 0x100);
	put(command->command, field, value);
}

CHANGED(barrier)
{
	make_barrier(rig, command, FW_Barrier_event, 128);
}

CHANGED(barrier_null)
{
	make_barrier(rig, command, FW_Barrier_stamp_addr, 0);
}

CHANGED(barrier_odd)
{
	make_barrier(rig, command, FW_Barrier_stamp_addr, rig->fw_stamps.va + 4 * 7 + 2);
}

CHANGED(barrier_value)
{
	make_barrier(rig, command, FW_Barrier_wait_value, 0x180);
}

/* The firmware knows the stamp of a slot when it has had a command there */
static void provoke_barrier_stamp(struct rig *rig)
{
	struct rig_command command;
	struct rig_queue queue, other;
	struct rig_ptr barrier;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_queue_new(rig, &other, 2, 7);
	rig_compute_new(rig, &other, &command);
	rig_submit(rig, &other, command.command.va);
	assert_true(rig_wait_stamp(rig, 7, 0x100));
	barrier = rig_barrier_new(rig, 7, 0x100);
	put(barrier, FW_Barrier_stamp_addr, rig->fw_stamps.va + 4 * 8);
	rig_submit(rig, &queue, barrier.va);
}

/* Microsequences */

CHANGED(mseq_operation)
{
	command->sequence.host[command->finalize] = 0x3f;
}

CHANGED(mseq_size)
{
	put(command->command, FW_RunCompute_microsequence_size, 0xfffffffc);
}

CHANGED(mseq_order)
{
	command->sequence.host[0] = 0x2a;
}

CHANGED(mseq_no_end)
{
	put(command->command, FW_RunCompute_microsequence_size, command->end);
}

CHANGED(mseq_null)
{
	put(command->command, FW_RunCompute_microsequence_ptr, 0);
}

CHANGED(mseq_odd)
{
	put(command->command, FW_RunCompute_microsequence_ptr, command->sequence.va + 2);
}

CHANGED(mseq_empty)
{
	put(command->command, FW_RunCompute_microsequence_size, 0);
}

CHANGED(mseq_odd_size)
{
	put(command->command, FW_RunCompute_microsequence_size, command->end + 2);
}

CHANGED(mseq_cut)
{
	put(command->command, FW_RunCompute_microsequence_size, command->finalize + 8);
}

static uint32_t *wait_of(struct rig_command *command)
{
	return (uint32_t *)(command->sequence.host + command->finalize -
			    fw_structs[FW_S_Timestamp].size[RIG_ABI] - 4);
}

/* A word of the sequence in the place of the wait, which is as long */
CHANGED(mseq_end_early)
{
	*wait_of(command) = 0x40000018;
}

CHANGED(mseq_end_flags)
{
	*(uint32_t *)(command->sequence.host + command->end) = 0x18;
}

CHANGED(mseq_last)
{
	*(uint32_t *)(command->sequence.host + command->end + 4) = 0x40000018;
	put(command->command, FW_RunCompute_microsequence_size, command->end + 8);
}

/* Puts @size bytes of an operation at an offset of the sequence, in front of what is there */
static void insert(struct rig_command *command, uint32_t offset, const void *op, uint32_t size)
{
	uint8_t *at = command->sequence.host + offset;

	memmove(at + size, at, command->end + 4 - offset);
	memcpy(at, op, size);
	put(command->command, FW_RunCompute_microsequence_size, command->end + 4 + size);
}

CHANGED(mseq_wait_first)
{
	insert(command, 0, &(uint32_t){ 0x00800001 }, 4);
}

CHANGED(mseq_time_first)
{
	uint32_t start = fw_structs[FW_S_StartCompute].size[RIG_ABI];
	uint32_t size = fw_structs[FW_S_Timestamp].size[RIG_ABI];
	uint8_t op[256];

	memcpy(op, command->sequence.host + start, size);
	insert(command, 0, op, size);
}

/* The time of the end, before the wait */
CHANGED(mseq_time_early)
{
	uint32_t start = fw_structs[FW_S_StartCompute].size[RIG_ABI];
	struct rig_ptr op = { .host = command->sequence.host + start };

	put(op, FW_Timestamp_unk_3, 0);
}

CHANGED(mseq_start_twice)
{
	uint32_t size = fw_structs[FW_S_StartCompute].size[RIG_ABI];
	uint8_t op[1024];

	memcpy(op, command->sequence.host, size);
	insert(command, size, op, size);
}

static void insert_write(struct rig_command *command, uint32_t flags, uint64_t va)
{
	uint8_t bytes[64] = { 0 };
	struct rig_ptr op = { .host = bytes };

	put(op, FW_Write32_magic, 0x0e);
	put(op, FW_Write32_unk_3, flags);
	put(op, FW_Write32_addr, va);
	insert(command, command->finalize, bytes, fw_structs[FW_S_Write32].size[RIG_ABI]);
}

CHANGED(mseq_write_flags)
{
	insert_write(command, 0, rig_alloc(rig, RIG_SHARED, 4).va);
}

CHANGED(mseq_write_odd)
{
	insert_write(command, 0x20, rig_alloc(rig, RIG_SHARED, 8).va + 2);
}

CHANGED(mseq_pointer)
{
	put(command->sequence, FW_StartCompute_cmdqueue_ptr, queue->info.va + 0x80);
}

CHANGED(mseq_stats)
{
	put(command->sequence, FW_StartCompute_stats_ptr, queue->info.va);
}

CHANGED(mseq_event_control)
{
	put(command->sequence, FW_StartCompute_event_ctrl_buf_addr, queue->notifier.va);
}

CHANGED(mseq_final_stats)
{
	put(finalize_of(command), FW_FinalizeCompute_unkptr_4, 0);
}

CHANGED(mseq_final_flag)
{
	put(finalize_of(command), FW_FinalizeCompute_unkptr_71, command->command.va);
}

/* The first of the two follows the start */
static struct rig_ptr timestamp_of(struct rig_command *command)
{
	uint32_t offset = fw_structs[FW_S_StartCompute].size[RIG_ABI];

	return (struct rig_ptr){ .host = command->sequence.host + offset };
}

CHANGED(mseq_time_words)
{
	put(timestamp_of(command), FW_Timestamp_unk_ts_addr, command->command.va);
}

static void ask_user_time(struct rig_command *command, uint64_t va)
{
	struct rig_ptr list = sub(command->command, FW_RunCompute_user_ts_pointers,
				  FW_S_TimestampPointers, 0);

	put(list, FW_TimestampPointers_start_addr, va);
}

CHANGED(mseq_time_place)
{
	ask_user_time(command, rig_alloc(rig, RIG_TIMESTAMP, 16).va + 4);
}

CHANGED(mseq_user_time_cached)
{
	uint64_t va = rig_alloc(rig, RIG_TIMESTAMP, 16).va;

	make_cached(rig, va);
	ask_user_time(command, va);
}

CHANGED(mseq_user_time_unbound)
{
	uint64_t va = rig_alloc(rig, RIG_TIMESTAMP, 16).va;

	clear_pte(rig, va);
	ask_user_time(command, va);
}

CHANGED(mseq_time_nowhere)
{
	struct rig_ptr list = sub(command->command, FW_RunCompute_ts_pointers,
				  FW_S_TimestampPointers, 0);

	put(list, FW_TimestampPointers_end_addr, 0x1234567890);
}

CHANGED(mseq_wait)
{
	uint32_t wait = command->finalize - fw_structs[FW_S_Timestamp].size[RIG_ABI] - 4;

	command->sequence.host[wait + 1] = 1;
}

CHANGED(mseq_restart)
{
	put(finalize_of(command), FW_FinalizeCompute_restart_branch_offset, -4);
}

CHANGED(mseq_attachment)
{
	put(command->sequence, FW_StartCompute_num_attachments, 1);
}

CHANGED(mseq_attachment_count)
{
	put(command->sequence, FW_StartCompute_num_attachments, 0xffffffff);
}

CHANGED(mseq_attachment_size)
{
	put(command->sequence, FW_StartCompute_num_attachments, 1);
	put(sub(command->sequence, FW_StartCompute_attachments, FW_S_Attachment, 0),
	    FW_Attachment_address, 0x1500000000);
}

CHANGED(mseq_field)
{
	flip(finalize_of(command), FW_FinalizeCompute_uuid);
}

CHANGED(mseq_sequence)
{
	flip(command->sequence, FW_StartCompute_counter2);
}

CHANGED(mseq_generation)
{
	flip(command->sequence, FW_StartCompute_counter1);
}

/* Recovery */

static void provoke_resume(struct rig *rig)
{
	rig_boot(rig);
	rig_resume(rig);
	rig_doorbell(rig, 0x10);
}

/* The firmware has halted; the driver resumes it and says that it still has */
static void provoke_resume_halted(struct rig *rig)
{
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_hang(rig, true);
	rig_queue_new(rig, &queue, 2, 6);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	rig_wait_event(rig);
	put(rig->status, FW_FwStatus_resume, 1);
}

const struct provocation provoke_commands[] = {
	CLAUSE(FW_UNMAPPED, access, command_address, CRASHES),
	PROVOKE(FW_POISON, poison_read, GOES_ON,
		ALSO(VAGX_CLAUSE_FW_COMMAND_STAMP_slot)),
	PROVOKE(FW_POISON, poison_object, GOES_ON),
	PROVOKE(FW_POISON, poison_sequence, GOES_ON),
	PROVOKE(FW_POISON, poison_init, GOES_ON,
		ALSO(VAGX_CLAUSE_FW_INIT_OWN_memory)),
	CLAUSE(FW_RUN_PIPE, queue, run_pipe, GOES_ON),
	CLAUSE(FW_RUN_PIPE, channel, run_channel, GOES_ON),
	CLAUSE(FW_RUN_NEW, unknown, run_new, GOES_ON),
	CLAUSE(FW_RUN_NEW, value, run_new_value, GOES_ON),
	CLAUSE(FW_RUN_NEW, known, run_new_known, GOES_ON),
	CLAUSE(FW_RUN_EVENT_SLOT, range, run_event_slot, GOES_ON),
	CLAUSE(FW_RUN_EVENT_SLOT, owner, run_shared_slot, GOES_ON),
	CLAUSE(FW_RUN_EVENT_SLOT, change, run_slot_change, GOES_ON),
	CLAUSE(FW_RUN_WPTR, ahead, run_wptr, GOES_ON),
	CLAUSE(FW_RUN_WPTR, head, run_wild_wptr, CRASHES),
	CLAUSE(FW_RUN_WPTR, memory, run_wild_memory, CRASHES),
	CLAUSE(FW_RUN_WPTR, nothing, run_nothing, GOES_ON),
	PROVOKE(FW_RUN_PENDING, run_pending, GOES_ON),
	CLAUSE(FW_QUEUE_INFO, word, queue_info, GOES_ON),
	CLAUSE(FW_QUEUE_INFO, large, queue_size, CRASHES),
	CLAUSE(FW_QUEUE_INFO, small, queue_small, CRASHES),
	CLAUSE(FW_QUEUE_INFO, read, queue_read, CRASHES),
	CLAUSE(FW_QUEUE_INFO, done, queue_done, CRASHES),
	CLAUSE(FW_QUEUE_INFO, gpu_buf, queue_gpu_buf, CRASHES),
	CLAUSE(FW_QUEUE_INFO, ring, queue_ring, CRASHES),
	CLAUSE(FW_QUEUE_INFO, job_list, queue_no_job_list, CRASHES),
	PROVOKE(FW_QUEUE_JOBLIST, queue_job_list, GOES_ON),
	PROVOKE(FW_QUEUE_PRIORITY, queue_priority, GOES_ON),
	PROVOKE(FW_QUEUE_CONTEXT, queue_context, GOES_ON),
	CLAUSE(FW_COMMAND, type, command, GOES_ON),
	CLAUSE(FW_COMMAND, alignment, command_odd, GOES_ON),
	PROVOKE(FW_NOT_YET, not_yet, GOES_ON),
	CLAUSE(FW_COMMAND_CONTEXT, kernel, command_context, GOES_ON),
	CLAUSE(FW_COMMAND_CONTEXT, range, command_context_range, GOES_ON),
	CLAUSE(FW_COMMAND_CONTEXT, unbound, command_unbound, GOES_ON),
	CLAUSE(FW_COMMAND_STAMP, step, command_stamp, GOES_ON),
	CLAUSE(FW_COMMAND_STAMP, slot, command_stamp_slot, GOES_ON),
	CLAUSE(FW_COMMAND_STAMP, null, command_no_stamp, GOES_ON),
	CLAUSE(FW_COMMAND_STAMP, fw_null, command_no_fw_stamp, GOES_ON),
	CLAUSE(FW_COMMAND_STAMP, alignment, command_odd_stamp, GOES_ON),
	CLAUSE(FW_COMMAND_STAMP, fw_alignment, command_odd_fw_stamp, GOES_ON),
	CLAUSE(FW_COMMAND_STAMP, order, command_stamp_twice, GOES_ON),
	CLAUSE(FW_COMMAND_STAMP, ahead, command_stamp_far, GOES_ON),
	CLAUSE(FW_COMMAND_STAMP, many, command_stamps_many, GOES_ON),
	PROVOKE(FW_COMMAND_PREEMPT, command_preempt, GOES_ON),
	PROVOKE(FW_COMMAND_SEQUENCE, command_sequence, GOES_ON),
	PROVOKE(FW_COMMAND_SEQUENCE, mseq_sequence, GOES_ON),
	CLAUSE(FW_COMMAND_NOTIFIER, word, command_notifier, GOES_ON),
	CLAUSE(FW_COMMAND_NOTIFIER, null, notifier_null, GOES_ON),
	CLAUSE(FW_COMMAND_NOTIFIER, alignment, notifier_odd, GOES_ON),
	CLAUSE(FW_COMMAND_NOTIFIER, end, notifier_end, GOES_ON),
	CLAUSE(FW_COMMAND_NOTIFIER, threshold, command_threshold, GOES_ON),
	PROVOKE(FW_COMMAND_INFO, command_info, GOES_ON),
	CLAUSE(FW_BARRIER, slot, barrier, GOES_ON),
	CLAUSE(FW_BARRIER, null, barrier_null, GOES_ON),
	CLAUSE(FW_BARRIER, alignment, barrier_odd, GOES_ON),
	CLAUSE(FW_BARRIER, value, barrier_value, GOES_ON),
	CLAUSE(FW_BARRIER, stamp, barrier_stamp, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, unknown, mseq_operation, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, large, mseq_size, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, null, mseq_null, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, alignment, mseq_odd, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, empty, mseq_empty, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, size, mseq_odd_size, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, cut, mseq_cut, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, start, mseq_start_twice, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, wait, mseq_wait_first, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, time, mseq_time_first, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, time, mseq_time_early, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, write_flags, mseq_write_flags, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, write_alignment, mseq_write_odd, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, end_early, mseq_end_early, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, end_flags, mseq_end_flags, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, last, mseq_last, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, finalize, mseq_order, GOES_ON),
	CLAUSE(FW_MSEQ_OPERATION, end, mseq_no_end, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_pointer, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_stats, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_event_control, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_final_stats, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_final_flag, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_time_words, GOES_ON),
	PROVOKE(FW_MSEQ_TIMESTAMP, mseq_time_place, GOES_ON),
	CLAUSE(FW_UNMAPPED, access, mseq_time_nowhere, CRASHES),
	PROVOKE(FW_MSEQ_USER_TIME, mseq_user_time_cached, GOES_ON),
	CLAUSE(FW_UNMAPPED, access, mseq_user_time_unbound, CRASHES),
	PROVOKE(FW_MSEQ_WAIT, mseq_wait, GOES_ON),
	PROVOKE(FW_MSEQ_RESTART, mseq_restart, GOES_ON),
	CLAUSE(FW_MSEQ_ATTACHMENT, address, mseq_attachment, GOES_ON),
	CLAUSE(FW_MSEQ_ATTACHMENT, count, mseq_attachment_count, GOES_ON),
	CLAUSE(FW_MSEQ_ATTACHMENT, size, mseq_attachment_size, GOES_ON),
	PROVOKE(FW_MSEQ_FIELD, mseq_field, GOES_ON),
	PROVOKE(FW_MSEQ_FIELD, mseq_generation, GOES_ON),
	CLAUSE(FW_RESUME, halted, resume, GOES_ON),
	CLAUSE(FW_RESUME, cleared, resume_halted, GOES_ON, .timeout_ms = RIG_TIMEOUT_MS),
};

const unsigned int provoke_commands_count = sizeof(provoke_commands) / sizeof(provoke_commands[0]);
