// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Between the rings of the work queues and the workers.
 *
 * Commands are taken out of a ring in its order, up to a barrier that is
 * closed. What was taken may begin in any order, run side by side and end in
 * any order, except for vertex commands; retired it is in the order of the ring
 * again: the stamp of a command is written when those of all earlier ones have
 * been. Which order it is, and how long a command waits before it begins, is
 * drawn from the seed: a driver or a client that relies on more than barriers
 * promise gets a wrong result sooner or later. A barrier blocks its own ring
 * only.
 */
#include <inttypes.h>

#include "fw_buffer.h"

/* The longest delays of a command: a quarter of them has each */
static const uint32_t fw_delays_ns[] = { 0, 100000, 500000, 2000000 };

static unsigned int window_size(const struct vagx_firmware *fw)
{
	return fw->config.serial ? 1 : FW_WINDOW;
}

static struct fw_command *window_at(struct fw_queue *queue, unsigned int i)
{
	return &queue->window[(queue->first + i) % FW_WINDOW];
}

/* What was taken last is a barrier that is still closed */
static bool is_closed(struct fw_queue *queue)
{
	const struct fw_command *last;

	if (!queue->count)
		return false;
	last = window_at(queue, queue->count - 1);
	return last->type == FW_COMMAND_BARRIER && last->state != FW_COMMAND_DONE;
}

static void draw_turn(struct vagx_firmware *fw, struct fw_queue *queue, struct fw_command *command)
{
	uint64_t draw = fw_draw(fw, FW_DRAW_DELAY, queue->number, queue->taken);

	if (fw->config.serial) {
		command->order = ++fw->turn;
		return;
	}
	command->order = fw_draw(fw, FW_DRAW_ORDER, queue->number, queue->taken);
	command->start_at = fw_now_ns() + (draw >> 8) % (fw_delays_ns[draw % 4] + 1);
}

/* What a barrier waits for; false when it is malformed */
static bool take_barrier(struct fw_worker *worker, struct fw_command *command)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_view barrier = fw_view(&worker->access, FW_S_Barrier, command->va);
	uint64_t stamp = fw_get(&barrier, FW_Barrier_stamp_addr);
	uint32_t event = fw_get(&barrier, FW_Barrier_event),
		 value = fw_get(&barrier, FW_Barrier_wait_value);

	if (worker->access.failed)
		return true;
	if (event >= FW_EVENT_SLOTS || !stamp || stamp & 3 || value % FW_STAMP_STEP ||
	    (fw->slot_stamp[event] && fw->slot_stamp[event] != stamp)) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_BARRIER, command->va, "Barrier",
			       "event slot %u, stamp %#" PRIx64 ", value %#x", event, stamp, value);
		return false;
	}
	fw_dump(fw, NULL, &barrier, NULL, 0);
	command->wait_stamp = stamp;
	command->wait_value = value;
	return true;
}

static bool reject(struct fw_worker *worker, struct fw_queue *queue,
		   const struct fw_command *command)
{
	struct vagx_firmware *fw = worker->fw;

	if (command->type == FW_COMMAND_BLIT)
		vagx_violation(fw->config.report, VAGX_RULE_FW_NOT_YET, command->va, "command",
			       "type %u", command->type);
	else
		vagx_violation(fw->config.report, VAGX_RULE_FW_COMMAND, command->va, "command",
			       "type %#x on pipe %u", command->type, queue->pipe);
	return false;
}

/* It is over as soon as it is its turn: what is behind it in the ring sees the buffer */
static bool take_init(struct fw_worker *worker, struct fw_queue *queue, struct fw_command *command)
{
	if (!fw_buffer_init(worker, queue, command))
		return false;
	command->state = FW_COMMAND_DONE;
	return true;
}

static bool take_command(struct fw_worker *worker, struct fw_queue *queue,
			 struct fw_command *command)
{
	if (command->va & 3)
		return reject(worker, queue, command);
	if (command->type == FW_COMMAND_BARRIER)
		return take_barrier(worker, command);
	if (command->type == FW_COMMAND_INIT_BUFFER && queue->pipe == FW_PIPE_VERTEX)
		return take_init(worker, queue, command);
	if (!fw_job_known(queue->pipe, command->type))
		return reject(worker, queue, command);
	return fw_job_take(worker, queue, command);
}

/* The next command of a ring, in the order of the ring */
static void take(struct fw_worker *worker, struct fw_queue *queue)
{
	struct fw_command *command = window_at(queue, queue->count);
	struct fw_access *access = &worker->access;
	struct fw_view pointers = fw_view(access, FW_S_QueuePointers, queue->pointers);

	*command = (struct fw_command){ .error = FW_ERROR_ABORTED };
	fw_read(access, queue->ring + queue->rptr * sizeof(command->va), &command->va,
		sizeof(command->va), "queue ring");
	command->type = fw_load32(access, command->va, "command");
	if (access->failed)
		return;
	draw_turn(worker->fw, queue, command);
	if (!take_command(worker, queue, command))
		command->state = FW_COMMAND_BAD;
	queue->taken++;
	queue->count++;
	queue->rptr = (queue->rptr + 1) % queue->size;
	fw_set(&pointers, FW_QueuePointers_gpu_rptr, queue->rptr);
}

static bool open_barrier(struct fw_worker *worker, struct fw_queue *queue)
{
	struct fw_command *last;

	if (!is_closed(queue))
		return false;
	last = window_at(queue, queue->count - 1);
	if (last->state != FW_COMMAND_WAITS ||
	    !fw_stamp_reached(fw_load32(&worker->access, last->wait_stamp, "firmware stamp"),
			      last->wait_value))
		return false;
	last->state = FW_COMMAND_DONE;
	return true;
}

/* Until the next command of that ring is over, or taken */
static void break_pointers(struct vagx_firmware *fw, const struct fw_view *pointers)
{
	fw_set(pointers, FW_QueuePointers_gpu_doneptr, fw->inject.ring_pointers);
	fw_set(pointers, FW_QueuePointers_gpu_rptr, fw->inject.ring_pointers);
	fw->inject.ring_pointers_set = false;
}

/* The oldest command is over: its place in the ring, and then its stamp, say so */
static void retire(struct fw_worker *worker, struct fw_queue *queue)
{
	struct fw_view pointers = fw_view(&worker->access, FW_S_QueuePointers, queue->pointers);
	struct fw_job_stamp stamp = window_at(queue, 0)->stamp;

	fw_scene_retire(worker, window_at(queue, 0));
	if (fw_command_has_stamp(window_at(queue, 0)->type) && queue->outstanding)
		queue->outstanding--;
	queue->first = (queue->first + 1) % FW_WINDOW;
	queue->count--;
	queue->done = (queue->done + 1) % queue->size;
	fw_set(&pointers, FW_QueuePointers_gpu_doneptr, queue->done);
	if (worker->fw->inject.ring_pointers_set)
		break_pointers(worker->fw, &pointers);
	if (queue->done == queue->limit)
		fw_queue_deactivate(worker->fw, queue);
	fw_event_signal(worker->fw, &worker->access, &stamp);
}

/* False when the oldest command has to stay */
static bool finish_oldest(struct fw_worker *worker, struct fw_queue *queue)
{
	struct fw_command *oldest = window_at(queue, 0);

	if (!queue->count)
		return false;
	if (oldest->state == FW_COMMAND_BAD) {
		oldest->state = FW_COMMAND_REPORTED;
		fw_event_channel_error(worker, oldest->error, queue->slot, oldest->stamp.value);
	}
	if (oldest->state != FW_COMMAND_DONE || worker->fw->inject.hold_stamps)
		return false;
	retire(worker, queue);
	return true;
}

static bool is_bad(const struct fw_command *command)
{
	return command->state == FW_COMMAND_BAD || command->state == FW_COMMAND_REPORTED;
}

/* A bad command holds up what is behind it in its ring, until the driver recovers it */
static bool is_stalled(struct fw_queue *queue)
{
	for (unsigned int i = 0; i < queue->count; i++) {
		if (is_bad(window_at(queue, i)))
			return true;
	}
	return false;
}

static bool advance(struct fw_worker *worker, struct fw_queue *queue)
{
	bool advanced = false;

	while (!worker->access.failed &&
	       (open_barrier(worker, queue) || finish_oldest(worker, queue)))
		advanced = true;
	while (!worker->access.failed && queue->active && queue->rptr != queue->limit &&
	       queue->count < window_size(worker->fw) && !is_closed(queue) &&
	       !is_stalled(queue)) {
		take(worker, queue);
		advanced = true;
	}
	return advanced && !worker->access.failed;
}

bool fw_rings_advance(struct fw_worker *worker)
{
	struct fw_queue *queue, *next;
	bool advanced = false;

	for (queue = worker->fw->active[worker->pipe]; queue; queue = next) {
		next = queue->active_next;
		advanced |= advance(worker, queue);
	}
	return advanced;
}

static bool comes_first(const struct fw_queue *queue, const struct fw_command *command,
			const struct fw_queue *other, const struct fw_command *than)
{
	if (!than)
		return true;
	if (queue->priority != other->priority)
		return queue->priority < other->priority;
	if (command->start_at != than->start_at)
		return command->start_at < than->start_at;
	return command->order < than->order;
}

/*
 * Vertex commands of a ring share a buffer, so one after the other: if a later one could have its
 * last page, the earlier one would wait for it, and it for the earlier one's stamp.
 */
static bool is_ordered(const struct fw_queue *queue)
{
	return queue->pipe == FW_PIPE_VERTEX;
}

/* The first of a ring's commands that can begin and is not worse than @best */
static struct fw_command *pick_from(struct fw_queue *queue, uint64_t now,
				    const struct fw_queue *other, struct fw_command *best,
				    uint64_t *again)
{
	for (unsigned int i = 0; i < queue->count; i++) {
		struct fw_command *command = window_at(queue, i);

		/* Those before it go on, or its turn to be reported would never come */
		if (is_bad(command))
			break;
		if (command->state != FW_COMMAND_WAITS || command->type == FW_COMMAND_BARRIER) {
			if (command->state == FW_COMMAND_RUNS && is_ordered(queue))
				break;
			continue;
		}
		if (command->start_at > now) {
			if (command->start_at < *again)
				*again = command->start_at;
		} else if (comes_first(queue, command, other, best)) {
			best = command;
			other = queue;
		}
		if (is_ordered(queue))
			break;
	}
	return best;
}

struct fw_command *fw_rings_pick(struct fw_worker *worker, struct fw_queue **from, uint64_t *again)
{
	struct fw_command *best = NULL, *found;
	struct fw_queue *queue;
	uint64_t now = fw_now_ns();

	*again = UINT64_MAX;
	if (worker->fw->config.serial && worker->fw->on_units)
		return NULL;
	for (queue = worker->fw->active[worker->pipe]; queue; queue = queue->active_next) {
		found = pick_from(queue, now, *from, best, again);
		if (found != best) {
			best = found;
			*from = queue;
		}
	}
	return best;
}
