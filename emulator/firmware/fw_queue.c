// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Work queues: a hash table by the address of their QueueInfo, and for each pipe a list of those
 * that have commands. The driver makes a queue known by the first message that announces commands
 * of it, and takes it away with its GPU context. The main thread, with the lock held; workers take
 * a queue off its pipe's list when its last command is retired.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw_internal.h"

#define FW_GPU_BUF_SIZE	0x2c18

static unsigned int fw_queue_bucket_of(uint64_t info)
{
	return (info >> 4 ^ info >> 14) % FW_QUEUE_BUCKETS;
}

static struct fw_queue *fw_queue_find_queue(struct vagx_firmware *fw, uint64_t info)
{
	struct fw_queue *queue = fw->bucket[fw_queue_bucket_of(info)];

	while (queue && queue->info != info)
		queue = queue->bucket_next;
	return queue;
}

static void fw_queue_activate(struct vagx_firmware *fw, struct fw_queue *queue)
{
	if (queue->active)
		return;
	queue->active = true;
	queue->has_stamp = false;
	queue->active_next = fw->active[queue->pipe];
	fw->active[queue->pipe] = queue;
}

void fw_queue_deactivate(struct vagx_firmware *fw, struct fw_queue *queue)
{
	struct fw_queue **p = &fw->active[queue->pipe];

	if (!queue->active)
		return;
	while (*p != queue)
		p = &(*p)->active_next;
	*p = queue->active_next;
	queue->active = false;
	if (fw->keeper[queue->pipe] == queue)
		fw->keeper[queue->pipe] = NULL;
	if (fw->slot_owner[queue->slot] == queue)
		fw->slot_owner[queue->slot] = NULL;
}

static void fw_queue_forget(struct vagx_firmware *fw, struct fw_queue *queue)
{
	struct fw_queue **p = &fw->bucket[fw_queue_bucket_of(queue->info)];

	fw_queue_deactivate(fw, queue);
	while (*p != queue)
		p = &(*p)->bucket_next;
	*p = queue->bucket_next;
	fw->queue_count--;
	free(queue);
}

void fw_queue_forget_all(struct vagx_firmware *fw)
{
	for (unsigned int i = 0; i < FW_QUEUE_BUCKETS; i++) {
		while (fw->bucket[i])
			fw_queue_forget(fw, fw->bucket[i]);
	}
	memset(fw->slot_stamp, 0, sizeof(fw->slot_stamp));
}

void fw_queue_destroy_context(struct vagx_firmware *fw, uint64_t context)
{
	for (unsigned int i = 0; i < FW_QUEUE_BUCKETS; i++) {
		struct fw_queue *queue, *next;

		for (queue = fw->bucket[i]; queue; queue = next) {
			next = queue->bucket_next;
			if (queue->context != context)
				continue;
			if (queue->active) {
				vagx_violation(fw->config.report, VAGX_CLAUSE_FW_DC_CONTEXT_busy,
					       context, "DestroyContext", "queue %#" PRIx64 " of it is busy",
					       queue->info);
				continue;
			}
			fw_queue_forget(fw, queue);
		}
	}
}

struct fw_expected {
	enum fw_field_id field;
	uint64_t value;
};

static void fw_queue_check_fields(struct vagx_firmware *fw, enum vagx_rule rule,
				  const struct fw_view *view, const struct fw_expected *expected,
				  unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		uint64_t found = fw_get(view, expected[i].field);

		if (view->access->failed)
			return;
		if (fw_has(view, expected[i].field) && found != expected[i].value)
			vagx_violation(fw->config.report, rule, fw_va(view, expected[i].field),
				       fw_structs[view->type].name, "%s is %#" PRIx64,
				       fw_fields[expected[i].field].name, found);
	}
}

static void fw_queue_check_priority(struct vagx_firmware *fw, const struct fw_view *info,
				    unsigned int pipe)
{
	static const struct {
		uint32_t a, b;
		uint64_t c;
		uint32_t d, e, f;
	} tuple[FW_PRIORITIES] = {
		{ 0, 0, 0xffffffffffff0000, 1, 0, 1 },
		{ 1, 1, 0xffffffff00000000, 0, 0, 0 },
		{ 2, 2, 0xffff000000000000, 0, 0, 2 },
		{ 3, 3, 0x0000000000000000, 0, 0, 3 },
	};
	uint32_t first = fw_get(info, FW_QueueInfo_priority),
		 last = fw_get(info, FW_QueueInfo_prio5);

	for (unsigned int i = 0; i < FW_PRIORITIES; i++) {
		/* The Rust driver keeps compute from being preempted (workqueue.rs) */
		bool plain = first == tuple[i].a && last == tuple[i].f;
		bool pinned = pipe == FW_PIPE_COMPUTE && first == 0 && last == 1;

		if ((plain || pinned) && fw_get(info, FW_QueueInfo_unk_34) == tuple[i].b &&
		    fw_get(info, FW_QueueInfo_unk_38) == tuple[i].c &&
		    fw_get(info, FW_QueueInfo_unk_40) == tuple[i].d &&
		    fw_get(info, FW_QueueInfo_unk_44) == tuple[i].e)
			return;
	}
	if (!info->access->failed)
		vagx_violation(fw->config.report, VAGX_RULE_FW_QUEUE_PRIORITY,
			       fw_va(info, FW_QueueInfo_priority), "QueueInfo", "priority %u, %u",
			       first, last);
}

/* Checks what the firmware cannot do without; reports the first field that is wrong */
static bool fw_queue_check_usable(struct vagx_firmware *fw, const struct fw_view *info,
				  const struct fw_view *pointers)
{
	uint32_t size = fw_get(pointers, FW_QueuePointers_rb_size);
	const struct {
		const struct fw_view *view;
		enum fw_field_id field;
		enum vagx_rule clause;
		bool good;
	} checks[] = {
		{ pointers, FW_QueuePointers_rb_size, VAGX_CLAUSE_FW_QUEUE_INFO_small, size >= 2 },
		{ pointers, FW_QueuePointers_rb_size, VAGX_CLAUSE_FW_QUEUE_INFO_large,
		  size <= FW_QUEUE_RING_MAX },
		{ pointers, FW_QueuePointers_gpu_rptr, VAGX_CLAUSE_FW_QUEUE_INFO_read,
		  !fw_get(pointers, FW_QueuePointers_gpu_rptr) },
		{ pointers, FW_QueuePointers_gpu_doneptr, VAGX_CLAUSE_FW_QUEUE_INFO_done,
		  !fw_get(pointers, FW_QueuePointers_gpu_doneptr) },
		{ info, FW_QueueInfo_rb_addr, VAGX_CLAUSE_FW_QUEUE_INFO_ring,
		  size <= FW_QUEUE_RING_MAX &&
			  fw_mapped(&fw->access, fw_get(info, FW_QueueInfo_rb_addr), size * 8,
				    VAGX_READ) },
		{ info, FW_QueueInfo_job_list_addr, VAGX_CLAUSE_FW_QUEUE_INFO_job_list,
		  fw_mapped(&fw->access, fw_get(info, FW_QueueInfo_job_list_addr),
			    fw_structs[FW_S_JobList].size[fw->abi], VAGX_WRITE) },
		{ info, FW_QueueInfo_gpu_buf_addr, VAGX_CLAUSE_FW_QUEUE_INFO_gpu_buf,
		  fw_mapped(&fw->access, fw_get(info, FW_QueueInfo_gpu_buf_addr), FW_GPU_BUF_SIZE,
			    VAGX_WRITE) },
	};

	for (unsigned int i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		const struct fw_view *view = checks[i].view;

		if (checks[i].good)
			continue;
		vagx_violation(fw->config.report, checks[i].clause,
			       fw_va(view, checks[i].field), fw_structs[view->type].name,
			       "%s is %#" PRIx64, fw_fields[checks[i].field].name,
			       fw_get(view, checks[i].field));
		return false;
	}
	return true;
}

static void fw_queue_check_job_list(struct vagx_firmware *fw, const struct fw_view *info)
{
	struct fw_view list = fw_view(&fw->access, FW_S_JobList,
				      fw_get(info, FW_QueueInfo_job_list_addr));
	const struct fw_expected empty[] = {
		{ FW_JobList_first_job, 0 },
		{ FW_JobList_last_head, list.va },
		{ FW_JobList_unkptr_10, 0 },
	};

	fw_queue_check_fields(fw, VAGX_RULE_FW_QUEUE_JOBLIST, &list, empty, 3);
}

static const char *const fw_queue_pipe_names[FW_PIPES] = { "vertex", "fragment", "compute" };

static void fw_queue_dump_queue(struct vagx_firmware *fw, const struct fw_view *info,
				const struct fw_view *pointers, const struct fw_view *context,
				unsigned int pipe)
{
	const struct fw_view list = fw_view(&fw->access, FW_S_JobList,
					    fw_get(info, FW_QueueInfo_job_list_addr));
	const struct fw_view *const views[] = { info, pointers, context, &list };
	const struct fw_dump_place near[] = {
		fw_dump_place(FW_S_QueueInfo, info->va),
		fw_dump_place(FW_S_QueuePointers, pointers->va),
		fw_dump_place(FW_S_GpuContextData, context->va),
		fw_dump_place(FW_S_JobList, list.va),
	};

	for (unsigned int i = 0; i < 4; i++)
		fw_dump(fw, fw_queue_pipe_names[pipe], views[i], near, 4);
}

static struct fw_queue *fw_queue_new_queue(struct vagx_firmware *fw, uint64_t va, unsigned int pipe)
{
	static const struct fw_expected in_info[] = {
		{ FW_QueueInfo_event_id, UINT64_MAX }, { FW_QueueInfo_unk_4c, UINT64_MAX },
		{ FW_QueueInfo_unk_54, UINT64_MAX },   { FW_QueueInfo_busy, 0 },
		{ FW_QueueInfo_gpu_rptr1, 0 },	       { FW_QueueInfo_gpu_rptr2, 0 },
		{ FW_QueueInfo_gpu_rptr3, 0 },	       { FW_QueueInfo_has_commands, 0 },
		{ FW_QueueInfo_inflight_commands, 0 },
	};
	static const struct fw_expected in_context[] = {
		{ FW_GpuContextData_queue_table_index, 0xff },
		{ FW_GpuContextData_pid_table_index, 0xff },
		{ FW_GpuContextData_unk_5, 1 },
		{ FW_GpuContextData_unk_1e, 0xff },
		{ FW_GpuContextData_unk_23, 2 },
	};
	struct fw_view info = fw_view(&fw->access, FW_S_QueueInfo, va);
	struct fw_view pointers =
		fw_view(&fw->access, FW_S_QueuePointers, fw_get(&info, FW_QueueInfo_pointers_addr));
	struct fw_view context = fw_view(&fw->access, FW_S_GpuContextData,
					 fw_get(&info, FW_QueueInfo_gpu_context_addr));
	uint64_t ring = fw_get(&info, FW_QueueInfo_rb_addr);
	uint32_t size = fw_get(&pointers, FW_QueuePointers_rb_size);
	struct fw_queue *queue;

	if (fw->access.failed)
		return NULL;
	if (!fw_queue_check_usable(fw, &info, &pointers)) {
		fw_crash(fw, "queue %#" PRIx64 " is unusable", va);
		return NULL;
	}
	fw_queue_check_job_list(fw, &info);
	fw_queue_check_fields(fw, VAGX_CLAUSE_FW_QUEUE_INFO_word, &info, in_info,
			      sizeof(in_info) / sizeof(in_info[0]));
	fw_queue_check_fields(fw, VAGX_RULE_FW_QUEUE_CONTEXT, &context, in_context,
			      sizeof(in_context) / sizeof(in_context[0]));
	fw_queue_check_priority(fw, &info, pipe);
	if (fw->access.failed)
		return NULL;

	queue = fw->queue_count < FW_MAX_QUEUES ? calloc(1, sizeof(*queue)) : NULL;
	if (!queue) {
		fw_crash(fw, "too many queues");
		return NULL;
	}
	if (fw->config.dump)
		fw_queue_dump_queue(fw, &info, &pointers, &context, pipe);
	queue->info = va;
	queue->pointers = pointers.va;
	queue->context = context.va;
	queue->ring = ring;
	queue->size = size;
	queue->pipe = pipe;
	queue->number = fw->queue_number++;
	queue->bucket_next = fw->bucket[fw_queue_bucket_of(va)];
	fw->bucket[fw_queue_bucket_of(va)] = queue;
	fw->queue_count++;
	return queue;
}

/* Whether @head lies ahead of what was announced, and not ahead of what is in memory */
static bool fw_queue_check_head(struct vagx_firmware *fw, struct fw_queue *queue, uint32_t head)
{
	struct fw_view pointers = fw_view(&fw->access, FW_S_QueuePointers, queue->pointers);
	uint32_t wptr = fw_get(&pointers, FW_QueuePointers_cpu_wptr);
	uint32_t fresh, there;

	if (fw->access.failed)
		return false;
	if (head >= queue->size || wptr >= queue->size) {
		vagx_violation(fw->config.report,
			       head >= queue->size ? VAGX_CLAUSE_FW_RUN_WPTR_head :
						     VAGX_CLAUSE_FW_RUN_WPTR_memory,
			       queue->pointers, "QueuePointers", "%#x, %#x in a ring of %#x", head, wptr,
			       queue->size);
		fw_crash(fw, "queue %#" PRIx64 ": write pointer out of range", queue->info);
		return false;
	}
	fresh = (head + queue->size - queue->limit) % queue->size;
	there = (wptr + queue->size - queue->limit) % queue->size;
	if (!fresh || fresh > there) {
		vagx_violation(fw->config.report,
			       fresh ? VAGX_CLAUSE_FW_RUN_WPTR_ahead :
				       VAGX_CLAUSE_FW_RUN_WPTR_nothing,
			       queue->pointers, "QueuePointers", "%#x is announced, %#x in memory, %#x known", head,
			       wptr, queue->limit);
		return false;
	}
	return true;
}

/* Whether an entry of the ring is a command with a stamp; no fault if it is not there */
static bool fw_queue_entry_has_stamp(struct vagx_firmware *fw, const struct fw_queue *queue,
				     uint32_t entry)
{
	uint64_t va;

	fw_read(&fw->access, queue->ring + entry * sizeof(va), &va, sizeof(va), "queue ring");
	if (fw->access.failed || !(vagx_uat_pte(fw->config.uat, 0, va) & VAGX_PTE_VALID) || va & 3)
		return false;
	return fw_command_has_stamp(fw_load32(&fw->access, va, "command"));
}

/* Counts the announced commands that have stamps: only so many may be ahead of what was retired */
static void fw_queue_count_stamps(struct vagx_firmware *fw, struct fw_queue *queue, uint32_t head)
{
	for (uint32_t i = queue->limit; i != head; i = (i + 1) % queue->size)
		queue->outstanding += fw_queue_entry_has_stamp(fw, queue, i);
	if (queue->outstanding > FW_STAMPS_OUTSTANDING)
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_COMMAND_STAMP_many,
			       queue->pointers, "QueuePointers", "%u commands with stamps are outstanding",
			       queue->outstanding);
}

/* Return: the clause about the event slot of a message that is broken, or VAGX_KEPT */
static enum vagx_rule fw_queue_check_slot(const struct vagx_firmware *fw,
					  const struct fw_queue *queue, uint32_t slot)
{
	if (slot >= FW_EVENT_SLOTS)
		return VAGX_CLAUSE_FW_RUN_EVENT_SLOT_range;
	if (fw->slot_owner[slot] && fw->slot_owner[slot] != queue)
		return VAGX_CLAUSE_FW_RUN_EVENT_SLOT_owner;
	if (queue->active && queue->slot != slot)
		return VAGX_CLAUSE_FW_RUN_EVENT_SLOT_change;
	return VAGX_KEPT;
}

/* Return: the clause about a message's word "new" that is broken, or VAGX_KEPT */
static enum vagx_rule fw_queue_check_new(const struct fw_queue *queue, uint32_t is_new)
{
	if (is_new > 1)
		return VAGX_CLAUSE_FW_RUN_NEW_value;
	if (is_new && queue)
		return VAGX_CLAUSE_FW_RUN_NEW_known;
	if (!is_new && !queue)
		return VAGX_CLAUSE_FW_RUN_NEW_unknown;
	return VAGX_KEPT;
}

void fw_queue_run(struct vagx_firmware *fw, unsigned int channel, uint64_t va)
{
	struct fw_view msg = fw_view(&fw->access, FW_S_RunMsg, va);
	struct fw_view globals = fw_view(&fw->access, FW_S_Globals, fw->globals);
	uint64_t info = fw_get(&msg, FW_RunMsg_cmdqueue_addr);
	uint32_t pipe = fw_get(&msg, FW_RunMsg_queue_type), head = fw_get(&msg, FW_RunMsg_head);
	uint32_t slot = fw_get(&msg, FW_RunMsg_event_number),
		 is_new = fw_get(&msg, FW_RunMsg_new_queue);
	struct fw_queue *queue = fw_queue_find_queue(fw, info);
	struct fw_dump_place near;
	enum vagx_rule clause;

	if (fw->access.failed)
		return;
	if (!fw->initialized)
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_DC_FIRST_queue, va,
			       fw->pipe[channel].name, "a queue runs before device control is initialized");
	/*
	 * The Rust driver counts there while the firmware runs and flushes nothing, so memory has
	 * to be read
	 */
	fw_cache_discard(fw->cache, fw_va(&globals, FW_Globals_unk_atomic), sizeof(uint32_t));
	if (!fw_get(&globals, FW_Globals_unk_atomic))
		vagx_violation(fw->config.report, VAGX_RULE_FW_RUN_PENDING,
			       fw_va(&globals, FW_Globals_unk_atomic), "Globals",
			       "no submission is pending");
	if (pipe != channel % FW_PIPES || (queue && queue->pipe != pipe)) {
		vagx_violation(fw->config.report,
			       pipe != channel % FW_PIPES ? VAGX_CLAUSE_FW_RUN_PIPE_channel :
							    VAGX_CLAUSE_FW_RUN_PIPE_queue,
			       va, fw->pipe[channel].name, "queue of type %u", pipe);
		return;
	}
	clause = fw_queue_check_new(queue, is_new);
	vagx_violation(fw->config.report, clause, info, "RunMsg", "new is %u, the queue is %s",
		       is_new, queue ? "known" : "unknown");
	if (clause != VAGX_KEPT && !queue)
		return;
	if (!queue)
		queue = fw_queue_new_queue(fw, info, pipe);
	if (!queue || !fw_queue_check_head(fw, queue, head))
		return;
	near = fw_dump_place(FW_S_QueueInfo, info);
	fw_dump(fw, fw_queue_pipe_names[pipe], &msg, &near, 1);
	clause = fw_queue_check_slot(fw, queue, slot);
	if (clause != VAGX_KEPT) {
		vagx_violation(fw->config.report, clause, info, "RunMsg", "event slot %u", slot);
		return;
	}
	fw_queue_count_stamps(fw, queue, head);
	queue->slot = slot;
	queue->priority = channel / FW_PIPES;
	queue->limit = head;
	fw->slot_owner[slot] = queue;
	fw_queue_activate(fw, queue);
	pthread_cond_signal(&fw->pipe_work[queue->pipe]);
}

/* Goes on behind the oldest command of a queue, as that alone can have been reported */
void fw_queue_recover(struct vagx_firmware *fw, uint64_t info, unsigned int pipe, uint32_t value)
{
	struct fw_queue *queue = fw_queue_find_queue(fw, info);
	struct fw_command *command = queue ? &queue->window[queue->first] : NULL;
	enum vagx_rule clause = VAGX_KEPT;

	if (fw->access.failed)
		return;
	if (!queue || !queue->count || command->state != FW_COMMAND_REPORTED)
		clause = VAGX_CLAUSE_FW_DC_RECOVER_failed;
	else if (queue->pipe != pipe)
		clause = VAGX_CLAUSE_FW_DC_RECOVER_pipe;
	else if (command->stamp.notifier && command->stamp.value != value)
		clause = VAGX_CLAUSE_FW_DC_RECOVER_value;
	if (clause != VAGX_KEPT) {
		vagx_violation(fw->config.report, clause, info, "RecoverChannel",
			       "pipe %u, value %#x", pipe, value);
		return;
	}
	command->state = FW_COMMAND_DONE;
	fw_wake_pipes(fw);
}
