// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Work queues: the messages that announce them, and the workers that take
 * their commands, one thread for each pipe.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw_internal.h"

#define FW_GPU_BUF_SIZE	0x2c18

static unsigned int bucket_of(uint64_t info)
{
	return (info >> 4 ^ info >> 14) % FW_QUEUE_BUCKETS;
}

static struct fw_queue *find_queue(struct vagx_firmware *fw, uint64_t info)
{
	struct fw_queue *queue = fw->bucket[bucket_of(info)];

	while (queue && queue->info != info)
		queue = queue->bucket_next;
	return queue;
}

static void activate(struct vagx_firmware *fw, struct fw_queue *queue)
{
	if (queue->active)
		return;
	queue->active = true;
	queue->turn = ++fw->turn;
	queue->active_next = fw->active[queue->pipe];
	fw->active[queue->pipe] = queue;
}

static void deactivate(struct vagx_firmware *fw, struct fw_queue *queue)
{
	struct fw_queue **p = &fw->active[queue->pipe];

	if (!queue->active)
		return;
	while (*p != queue)
		p = &(*p)->active_next;
	*p = queue->active_next;
	queue->active = false;
	if (fw->slot_owner[queue->slot] == queue)
		fw->slot_owner[queue->slot] = NULL;
}

static void forget(struct vagx_firmware *fw, struct fw_queue *queue)
{
	struct fw_queue **p = &fw->bucket[bucket_of(queue->info)];

	deactivate(fw, queue);
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
			forget(fw, fw->bucket[i]);
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
				vagx_violation(fw->config.report, VAGX_RULE_FW_DC_CONTEXT, context,
					       "DestroyContext", "queue %#" PRIx64 " of it is busy",
					       queue->info);
				continue;
			}
			forget(fw, queue);
		}
	}
}

struct fw_expected {
	enum fw_field_id field;
	uint64_t value;
};

static void check_fields(struct vagx_firmware *fw, enum vagx_rule rule, const struct fw_view *view,
			 const struct fw_expected *expected, unsigned int count)
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

static void check_priority(struct vagx_firmware *fw, const struct fw_view *info, unsigned int pipe)
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

static struct fw_queue *new_queue(struct vagx_firmware *fw, uint64_t va, unsigned int pipe)
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
	uint64_t ring = fw_get(&info, FW_QueueInfo_rb_addr),
		 buf = fw_get(&info, FW_QueueInfo_gpu_buf_addr);
	uint32_t size = fw_get(&pointers, FW_QueuePointers_rb_size);
	struct fw_queue *queue;

	if (fw->access.failed)
		return NULL;
	if (size < 2 || size > FW_QUEUE_RING_MAX || fw_get(&pointers, FW_QueuePointers_gpu_rptr) ||
	    fw_get(&pointers, FW_QueuePointers_gpu_doneptr) ||
	    !fw_get(&info, FW_QueueInfo_job_list_addr) ||
	    !fw_mapped(&fw->access, ring, size * 8, VAGX_READ) ||
	    !fw_mapped(&fw->access, buf, FW_GPU_BUF_SIZE, VAGX_WRITE)) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_QUEUE_INFO, va, "QueueInfo",
			       "ring of %#x at %#" PRIx64 ", buffer at %#" PRIx64, size, ring, buf);
		fw_crash(fw, "queue %#" PRIx64 " is unusable", va);
		return NULL;
	}
	check_fields(fw, VAGX_RULE_FW_QUEUE_INFO, &info, in_info,
		     sizeof(in_info) / sizeof(in_info[0]));
	check_fields(fw, VAGX_RULE_FW_QUEUE_CONTEXT, &context, in_context,
		     sizeof(in_context) / sizeof(in_context[0]));
	check_priority(fw, &info, pipe);
	if (fw->access.failed)
		return NULL;

	queue = fw->queue_count < FW_MAX_QUEUES ? calloc(1, sizeof(*queue)) : NULL;
	if (!queue) {
		fw_crash(fw, "too many queues");
		return NULL;
	}
	queue->info = va;
	queue->pointers = pointers.va;
	queue->context = context.va;
	queue->ring = ring;
	queue->size = size;
	queue->pipe = pipe;
	queue->bucket_next = fw->bucket[bucket_of(va)];
	fw->bucket[bucket_of(va)] = queue;
	fw->queue_count++;
	return queue;
}

/* Whether @head lies ahead of what was announced, and not ahead of what is in memory */
static bool check_head(struct vagx_firmware *fw, struct fw_queue *queue, uint32_t head)
{
	struct fw_view pointers = fw_view(&fw->access, FW_S_QueuePointers, queue->pointers);
	uint32_t wptr = fw_get(&pointers, FW_QueuePointers_cpu_wptr);
	uint32_t fresh, there;

	if (fw->access.failed)
		return false;
	if (head >= queue->size || wptr >= queue->size) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_RUN_WPTR, queue->pointers,
			       "QueuePointers", "%#x, %#x in a ring of %#x", head, wptr,
			       queue->size);
		fw_crash(fw, "queue %#" PRIx64 ": write pointer out of range", queue->info);
		return false;
	}
	fresh = (head + queue->size - queue->limit) % queue->size;
	there = (wptr + queue->size - queue->limit) % queue->size;
	if (!fresh || fresh > there) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_RUN_WPTR, queue->pointers,
			       "QueuePointers", "%#x is announced, %#x in memory, %#x known", head,
			       wptr, queue->limit);
		return false;
	}
	return true;
}

void fw_queue_run(struct vagx_firmware *fw, unsigned int channel, uint64_t va)
{
	struct fw_view msg = fw_view(&fw->access, FW_S_RunMsg, va);
	struct fw_view globals = fw_view(&fw->access, FW_S_Globals, fw->globals);
	uint64_t info = fw_get(&msg, FW_RunMsg_cmdqueue_addr);
	uint32_t pipe = fw_get(&msg, FW_RunMsg_queue_type), head = fw_get(&msg, FW_RunMsg_head);
	uint32_t slot = fw_get(&msg, FW_RunMsg_event_number),
		 is_new = fw_get(&msg, FW_RunMsg_new_queue);
	struct fw_queue *queue = find_queue(fw, info);

	if (fw->access.failed)
		return;
	if (!fw->initialized)
		vagx_violation(fw->config.report, VAGX_RULE_FW_DC_FIRST, va, fw->pipe[channel].name,
			       "runs a queue before it");
	if (!fw_get(&globals, FW_Globals_unk_atomic))
		vagx_violation(fw->config.report, VAGX_RULE_FW_RUN_PENDING,
			       fw_va(&globals, FW_Globals_unk_atomic), "Globals",
			       "no submission is pending");
	if (pipe != channel % FW_PIPES || (queue && queue->pipe != pipe)) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_RUN_PIPE, va, fw->pipe[channel].name,
			       "queue of type %u", pipe);
		return;
	}
	if (is_new > 1 || is_new != !queue) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_RUN_NEW, info, "RunMsg",
			       "new is %u, the queue is %s", is_new, queue ? "known" : "unknown");
		if (!queue)
			return;
	}
	if (!queue)
		queue = new_queue(fw, info, pipe);
	if (!queue || !check_head(fw, queue, head))
		return;
	if (slot >= FW_EVENT_SLOTS || (fw->slot_owner[slot] && fw->slot_owner[slot] != queue) ||
	    (queue->active && queue->slot != slot)) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_RUN_EVENT_SLOT, info, "RunMsg",
			       "event slot %u", slot);
		return;
	}
	queue->slot = slot;
	queue->priority = channel / FW_PIPES;
	queue->limit = head;
	fw->slot_owner[slot] = queue;
	activate(fw, queue);
	pthread_cond_broadcast(&fw->work);
}

static void set_done(struct fw_access *access, struct fw_queue *queue)
{
	struct fw_view pointers = fw_view(access, FW_S_QueuePointers, queue->pointers);

	queue->rptr = (queue->rptr + 1) % queue->size;
	fw_set(&pointers, FW_QueuePointers_gpu_rptr, queue->rptr);
	fw_set(&pointers, FW_QueuePointers_gpu_doneptr, queue->rptr);
}

/* The first command is over: the next one, or the end of this run */
static void advance(struct vagx_firmware *fw, struct fw_access *access, struct fw_queue *queue)
{
	set_done(access, queue);
	queue->turn = ++fw->turn;
	if (queue->rptr == queue->limit)
		deactivate(fw, queue);
}

void fw_queue_recover(struct vagx_firmware *fw, uint64_t info, unsigned int pipe, uint32_t value)
{
	struct fw_queue *queue = find_queue(fw, info);

	if (fw->access.failed)
		return;
	if (!queue || !queue->stalled || queue->pipe != pipe ||
	    (queue->bad.notifier && queue->bad.value != value)) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_DC_RECOVER, info, "RecoverChannel",
			       "pipe %u, value %#x: %s", pipe, value,
			       queue && queue->stalled ? "not its" : "no such error");
		return;
	}
	queue->stalled = false;
	advance(fw, &fw->access, queue);
	fw_event_signal(fw, &fw->access, &queue->bad);
	pthread_cond_broadcast(&fw->work);
}

/* A barrier as the first command; false when it is malformed */
static bool start_barrier(struct fw_worker *worker, struct fw_queue *queue, uint64_t va)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_view barrier = fw_view(&worker->access, FW_S_Barrier, va);
	uint64_t stamp = fw_get(&barrier, FW_Barrier_stamp_addr);
	uint32_t event = fw_get(&barrier, FW_Barrier_event),
		 value = fw_get(&barrier, FW_Barrier_wait_value);

	if (worker->access.failed)
		return true;
	if (event >= FW_EVENT_SLOTS || !stamp || stamp & 3 || value % FW_STAMP_STEP ||
	    (fw->slot_stamp[event] && fw->slot_stamp[event] != stamp)) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_BARRIER, va, "Barrier",
			       "event slot %u, stamp %#" PRIx64 ", value %#x", event, stamp, value);
		return false;
	}
	queue->wait_stamp = stamp;
	queue->wait_value = value;
	queue->blocked = true;
	return true;
}

static bool barrier_open(struct fw_worker *worker, struct fw_queue *queue)
{
	return fw_stamp_reached(fw_load32(&worker->access, queue->wait_stamp, "firmware stamp"),
				queue->wait_value);
}

static void stall(struct fw_worker *worker, struct fw_queue *queue,
		  const struct fw_job_stamp *stamp)
{
	queue->stalled = true;
	queue->bad = *stamp;
	fw_event_channel_error(worker, FW_ERROR_ABORTED, queue->slot, stamp->value);
}

static void bad_command(struct fw_worker *worker, struct fw_queue *queue, uint64_t va,
			uint32_t type)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_job_stamp none = { 0 };

	if (type == FW_COMMAND_VERTEX || type == FW_COMMAND_FRAGMENT || type == FW_COMMAND_BLIT ||
	    type == FW_COMMAND_INIT_BUFFER)
		vagx_violation(fw->config.report, VAGX_RULE_FW_NOT_YET, va, "command", "type %u",
			       type);
	else
		vagx_violation(fw->config.report, VAGX_RULE_FW_COMMAND, va, "command",
			       "type %#x on pipe %u", type, queue->pipe);
	stall(worker, queue, &none);
}

static void run_compute(struct fw_worker *worker, struct fw_queue *queue, uint64_t va)
{
	struct fw_job_stamp stamp = { 0 };

	switch (fw_compute(worker, queue, va, &stamp)) {
	case FW_OUTCOME_DONE:
		advance(worker->fw, &worker->access, queue);
		fw_event_signal(worker->fw, &worker->access, &stamp);
		break;
	case FW_OUTCOME_BAD:
		stall(worker, queue, &stamp);
		break;
	case FW_OUTCOME_GONE:
		break;
	}
}

static void run_first(struct fw_worker *worker, struct fw_queue *queue)
{
	uint64_t va = 0;
	uint32_t type;

	fw_read(&worker->access, queue->ring + queue->rptr * sizeof(va), &va, sizeof(va),
		"queue ring");
	type = fw_load32(&worker->access, va, "command");
	if (worker->access.failed)
		return;
	if (type == FW_COMMAND_BARRIER && !(va & 3) && start_barrier(worker, queue, va))
		return;
	if (type == FW_COMMAND_COMPUTE && queue->pipe == FW_PIPE_COMPUTE && !(va & 3))
		run_compute(worker, queue, va);
	else
		bad_command(worker, queue, va, type);
}

/* The queue whose turn it is: by priority, then in the order of their last commands */
static struct fw_queue *pick(struct fw_worker *worker)
{
	struct fw_queue *best = NULL;

	for (struct fw_queue *queue = worker->fw->active[worker->pipe]; queue;
	     queue = queue->active_next) {
		if (queue->stalled || (queue->blocked && !barrier_open(worker, queue)))
			continue;
		if (!best || queue->priority < best->priority ||
		    (queue->priority == best->priority && queue->turn < best->turn))
			best = queue;
	}
	return worker->access.failed ? NULL : best;
}

void *fw_worker_main(void *arg)
{
	struct fw_worker *worker = arg;
	struct vagx_firmware *fw = worker->fw;
	struct fw_queue *queue;

	pthread_mutex_lock(&fw->lock);
	while (!fw->stopping) {
		worker->access.failed = false;
		queue = fw->state == FW_STATE_READY && !fw->halted ? pick(worker) : NULL;
		if (queue && queue->blocked) {
			queue->blocked = false;
			advance(fw, &worker->access, queue);
		} else if (queue) {
			worker->queue = queue;
			run_first(worker, queue);
			worker->queue = NULL;
		}
		if (fw->state == FW_STATE_READY)
			fw_check(fw, &worker->access);
		if (!queue)
			pthread_cond_wait(&fw->work, &fw->lock);
		else
			pthread_cond_broadcast(&fw->work);
	}
	pthread_mutex_unlock(&fw->lock);
	return NULL;
}
