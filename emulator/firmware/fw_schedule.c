// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The scheduler, between the rings of the work queues and the workers.
 *
 * Commands are taken out of a ring in its order, up to a barrier that is closed. What was taken
 * may begin in any order, run side by side and end in any order, except for vertex commands; it is
 * retired in the order of the ring again: the stamp of a command is written when those of all
 * earlier ones have been. Which order it is, and how long a command waits before it begins, is
 * drawn from the seed: a driver or a client that relies on more than barriers promise gets a wrong
 * result sooner or later. A barrier blocks its own ring only.
 *
 * With --unfair the pick among rings of one priority is unfair: some rings have more turns than
 * others, and some keep the pipe until they have begun all that they had when their turn came.
 *
 * Workers, with the firmware's lock held.
 */
#include <inttypes.h>

#include "fw_buffer.h"

/* The most that a command waits before it may begin, in ns; one of the four is drawn for each */
static const uint32_t fw_schedule_delays_ns[] = { 0, 100000, 500000, 2000000 };

static unsigned int fw_schedule_window_size(const struct vagx_firmware *fw)
{
	return fw->config.serial ? 1 : FW_WINDOW;
}

static struct fw_command *fw_schedule_window_at(struct fw_queue *queue, unsigned int i)
{
	return &queue->window[(queue->first + i) % FW_WINDOW];
}

/* Whether the command that was taken last is a barrier that is still closed */
static bool fw_schedule_is_closed(struct fw_queue *queue)
{
	const struct fw_command *last;

	if (!queue->count)
		return false;
	last = fw_schedule_window_at(queue, queue->count - 1);
	return last->type == FW_COMMAND_BARRIER && last->state != FW_COMMAND_DONE;
}

static bool fw_schedule_is_unfair(const struct vagx_firmware *fw)
{
	return fw->config.unfair && !fw->config.serial;
}

enum fw_share fw_schedule_share(const struct vagx_firmware *fw, uint64_t number)
{
	static const enum fw_share shares[] = { FW_SHARE_ALL, FW_SHARE_MORE, FW_SHARE_PLAIN,
						FW_SHARE_PLAIN };

	return shares[fw_draw(fw, FW_DRAW_SHARE, number, 0) % 4];
}

/*
 * Draws the order of a ring's next command. A favoured ring has the smallest of n draws, which is
 * smaller than another ring's draw n times out of n + 1.
 */
uint64_t fw_schedule_order(const struct vagx_firmware *fw, const struct fw_queue *queue)
{
	uint64_t order = fw_draw(fw, FW_DRAW_ORDER, queue->number, queue->taken), draw;

	if (!fw_schedule_is_unfair(fw) || fw_schedule_share(fw, queue->number) != FW_SHARE_MORE)
		return order;
	for (unsigned int i = 1; i < FW_FAVOUR; i++) {
		draw = fw_draw(fw, FW_DRAW_FAVOUR, queue->number, queue->taken * FW_FAVOUR + i);
		if (draw < order)
			order = draw;
	}
	return order;
}

static void fw_schedule_draw_turn(struct vagx_firmware *fw, struct fw_queue *queue,
				  struct fw_command *command)
{
	uint64_t draw = fw_draw(fw, FW_DRAW_DELAY, queue->number, queue->taken);

	if (fw->config.serial) {
		command->order = ++fw->turn;
		return;
	}
	command->order = fw_schedule_order(fw, queue);
	command->start_at = fw_now_ns() + (draw >> 8) % (fw_schedule_delays_ns[draw % 4] + 1);
}

/* Return: the clause about barriers that is broken, or VAGX_KEPT */
static enum vagx_rule fw_schedule_check_barrier(const struct vagx_firmware *fw, uint32_t event,
						uint64_t stamp, uint32_t value)
{
	if (event >= FW_EVENT_SLOTS)
		return VAGX_CLAUSE_FW_BARRIER_slot;
	if (!stamp)
		return VAGX_CLAUSE_FW_BARRIER_null;
	if (stamp & 3)
		return VAGX_CLAUSE_FW_BARRIER_alignment;
	if (value % FW_STAMP_STEP)
		return VAGX_CLAUSE_FW_BARRIER_value;
	if (fw->slot_stamp[event] && fw->slot_stamp[event] != stamp)
		return VAGX_CLAUSE_FW_BARRIER_stamp;
	return VAGX_KEPT;
}

/* Reads what a barrier waits for; false when it is malformed */
static bool fw_schedule_take_barrier(struct fw_worker *worker, struct fw_command *command)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_view barrier = fw_view(&worker->access, FW_S_Barrier, command->va);
	uint64_t stamp = fw_get(&barrier, FW_Barrier_stamp_addr);
	uint32_t event = fw_get(&barrier, FW_Barrier_event),
		 value = fw_get(&barrier, FW_Barrier_wait_value);
	enum vagx_rule clause;

	if (worker->access.failed)
		return true;
	clause = fw_schedule_check_barrier(fw, event, stamp, value);
	if (clause != VAGX_KEPT) {
		vagx_violation(fw->config.report, clause, command->va, "Barrier",
			       "event slot %u, stamp %#" PRIx64 ", value %#x", event, stamp, value);
		return false;
	}
	fw_dump(fw, NULL, &barrier, NULL, 0);
	command->wait_stamp = stamp;
	command->wait_value = value;
	return true;
}

static bool fw_schedule_reject(struct fw_worker *worker, struct fw_queue *queue,
			       const struct fw_command *command)
{
	struct vagx_firmware *fw = worker->fw;

	if (command->type == FW_COMMAND_BLIT)
		vagx_violation(fw->config.report, VAGX_RULE_FW_NOT_YET, command->va, "command",
			       "type %u", command->type);
	else
		vagx_violation(fw->config.report,
			       command->va & 3 ? VAGX_CLAUSE_FW_COMMAND_alignment :
						 VAGX_CLAUSE_FW_COMMAND_type,
			       command->va, "command", "type %#x on pipe %u", command->type, queue->pipe);
	return false;
}

/* Does an InitBuffer when it is taken, so that commands behind it in the ring see the buffer */
static bool fw_schedule_take_init(struct fw_worker *worker, struct fw_queue *queue,
				  struct fw_command *command)
{
	if (!fw_buffer_init(worker, queue, command))
		return false;
	command->state = FW_COMMAND_DONE;
	return true;
}

static bool fw_schedule_take_command(struct fw_worker *worker, struct fw_queue *queue,
				     struct fw_command *command)
{
	if (command->va & 3)
		return fw_schedule_reject(worker, queue, command);
	if (command->type == FW_COMMAND_BARRIER)
		return fw_schedule_take_barrier(worker, command);
	if (command->type == FW_COMMAND_INIT_BUFFER && queue->pipe == FW_PIPE_VERTEX)
		return fw_schedule_take_init(worker, queue, command);
	if (!fw_job_known(queue->pipe, command->type))
		return fw_schedule_reject(worker, queue, command);
	return fw_job_take(worker, queue, command);
}

/* Takes the next command out of a ring */
static void fw_schedule_take(struct fw_worker *worker, struct fw_queue *queue)
{
	struct fw_command *command = fw_schedule_window_at(queue, queue->count);
	struct fw_access *access = &worker->access;
	struct fw_view pointers = fw_view(access, FW_S_QueuePointers, queue->pointers);

	*command = (struct fw_command){ .error = FW_ERROR_ABORTED };
	fw_read(access, queue->ring + queue->rptr * sizeof(command->va), &command->va,
		sizeof(command->va), "queue ring");
	command->type = fw_load32(access, command->va, "command");
	if (access->failed)
		return;
	fw_schedule_draw_turn(worker->fw, queue, command);
	if (!fw_schedule_take_command(worker, queue, command))
		command->state = FW_COMMAND_BAD;
	queue->taken++;
	queue->count++;
	queue->rptr = (queue->rptr + 1) % queue->size;
	fw_set(&pointers, FW_QueuePointers_gpu_rptr, queue->rptr);
}

/* Whether a stamp has come to a value; stamps wrap */
static bool fw_schedule_is_reached(uint32_t stamp, uint32_t value)
{
	return (int32_t)(stamp - value) >= 0;
}

static bool fw_schedule_open_barrier(struct fw_worker *worker, struct fw_queue *queue)
{
	struct fw_command *last;

	if (!fw_schedule_is_closed(queue))
		return false;
	last = fw_schedule_window_at(queue, queue->count - 1);
	if (last->state != FW_COMMAND_WAITS ||
	    !fw_schedule_is_reached(fw_load32(&worker->access, last->wait_stamp, "firmware stamp"),
				    last->wait_value))
		return false;
	last->state = FW_COMMAND_DONE;
	return true;
}

/*
 * Leaves nonsense in the pointers of a ring (command "ring-pointers"), until they are written next
 */
static void fw_schedule_break_pointers(struct vagx_firmware *fw, const struct fw_view *pointers)
{
	fw_set(pointers, FW_QueuePointers_gpu_doneptr, fw->inject.ring_pointers);
	fw_set(pointers, FW_QueuePointers_gpu_rptr, fw->inject.ring_pointers);
	fw->inject.ring_pointers_set = false;
}

/* Retires the oldest command: tells its place in the ring first, then its stamp */
static void fw_schedule_retire(struct fw_worker *worker, struct fw_queue *queue)
{
	struct fw_view pointers = fw_view(&worker->access, FW_S_QueuePointers, queue->pointers);
	struct fw_job_stamp stamp = fw_schedule_window_at(queue, 0)->stamp;

	fw_scene_retire(worker, fw_schedule_window_at(queue, 0));
	if (fw_command_has_stamp(fw_schedule_window_at(queue, 0)->type) && queue->outstanding)
		queue->outstanding--;
	queue->first = (queue->first + 1) % FW_WINDOW;
	queue->count--;
	queue->done = (queue->done + 1) % queue->size;
	fw_set(&pointers, FW_QueuePointers_gpu_doneptr, queue->done);
	if (worker->fw->inject.ring_pointers_set)
		fw_schedule_break_pointers(worker->fw, &pointers);
	if (queue->done == queue->limit)
		fw_queue_deactivate(worker->fw, queue);
	fw_telemetry_tell(worker->fw, &worker->access);
	fw_event_signal(worker->fw, &worker->access, &stamp);
}

/* Reports the oldest command if it is bad, or retires it if it is done; false when it stays */
static bool fw_schedule_finish_oldest(struct fw_worker *worker, struct fw_queue *queue)
{
	struct fw_command *oldest = fw_schedule_window_at(queue, 0);

	if (!queue->count)
		return false;
	if (oldest->state == FW_COMMAND_BAD) {
		oldest->state = FW_COMMAND_REPORTED;
		fw_event_channel_error(worker, oldest->error, queue->slot, oldest->stamp.value);
	}
	if (oldest->state != FW_COMMAND_DONE || worker->fw->inject.hold_stamps)
		return false;
	fw_schedule_retire(worker, queue);
	return true;
}

static bool fw_schedule_is_bad(const struct fw_command *command)
{
	return command->state == FW_COMMAND_BAD || command->state == FW_COMMAND_REPORTED;
}

/* Whether a bad command holds up those behind it in the ring, until the driver recovers it */
static bool fw_schedule_is_stalled(struct fw_queue *queue)
{
	for (unsigned int i = 0; i < queue->count; i++) {
		if (fw_schedule_is_bad(fw_schedule_window_at(queue, i)))
			return true;
	}
	return false;
}

static bool fw_schedule_advance_ring(struct fw_worker *worker, struct fw_queue *queue)
{
	bool advanced = false;

	while (!worker->access.failed &&
	       (fw_schedule_open_barrier(worker, queue) ||
		fw_schedule_finish_oldest(worker, queue)))
		advanced = true;
	while (!worker->access.failed && queue->active && queue->rptr != queue->limit &&
	       queue->count < fw_schedule_window_size(worker->fw) &&
	       !fw_schedule_is_closed(queue) && !fw_schedule_is_stalled(queue)) {
		fw_schedule_take(worker, queue);
		advanced = true;
	}
	return advanced && !worker->access.failed;
}

bool fw_schedule_advance(struct fw_worker *worker)
{
	struct fw_queue *queue, *next;
	bool advanced = false;

	for (queue = worker->fw->active[worker->pipe]; queue; queue = next) {
		next = queue->active_next;
		advanced |= fw_schedule_advance_ring(worker, queue);
	}
	return advanced;
}

/*
 * Whether a command is better than the best so far. An unfair firmware ignores which was ready
 * first.
 */
static bool fw_schedule_comes_first(const struct vagx_firmware *fw, const struct fw_queue *queue,
				    const struct fw_command *command, const struct fw_queue *other,
				    const struct fw_command *than)
{
	if (!than)
		return true;
	if (queue->priority != other->priority)
		return queue->priority < other->priority;
	if (!fw_schedule_is_unfair(fw) && command->start_at != than->start_at)
		return command->start_at < than->start_at;
	return command->order < than->order;
}

/*
 * Whether the commands of a ring run one after the other. Vertex commands share a buffer: if a
 * later one could have its last page, the earlier one would wait for it, and it for the earlier
 * one's stamp.
 */
static bool fw_schedule_is_ordered(const struct fw_queue *queue)
{
	return queue->pipe == FW_PIPE_VERTEX;
}

/* Return: the first of a ring's commands that can begin and is better than @best, or @best */
static struct fw_command *fw_schedule_pick_from(const struct vagx_firmware *fw,
						struct fw_queue *queue, uint64_t now,
						const struct fw_queue *other,
						struct fw_command *best, uint64_t *again)
{
	for (unsigned int i = 0; i < queue->count; i++) {
		struct fw_command *command = fw_schedule_window_at(queue, i);

		/* Commands before a bad one go on, as it is reported when they are retired */
		if (fw_schedule_is_bad(command))
			break;
		if (command->state != FW_COMMAND_WAITS || command->type == FW_COMMAND_BARRIER) {
			if (command->state == FW_COMMAND_RUNS && fw_schedule_is_ordered(queue))
				break;
			continue;
		}
		if (command->start_at > now) {
			if (command->start_at < *again)
				*again = command->start_at;
		} else if (fw_schedule_comes_first(fw, queue, command, other, best)) {
			best = command;
			other = queue;
		}
		if (fw_schedule_is_ordered(queue))
			break;
	}
	return best;
}

/* Return: how many commands were taken out of the ring before the first that has not begun */
static uint64_t fw_schedule_first_waiting(struct fw_queue *queue)
{
	for (unsigned int i = 0; i < queue->count; i++) {
		const struct fw_command *command = fw_schedule_window_at(queue, i);

		if (command->state == FW_COMMAND_WAITS && command->type != FW_COMMAND_BARRIER)
			return queue->taken - queue->count + i;
	}
	return queue->taken;
}

/* Return: the ring that keeps a pipe for itself, or NULL if none does, or it is blocked just now */
static struct fw_queue *fw_schedule_find_keeper(struct vagx_firmware *fw, enum fw_pipe pipe)
{
	struct fw_queue *keeper = fw->keeper[pipe];
	uint64_t first;

	if (!keeper)
		return NULL;
	first = fw_schedule_first_waiting(keeper);
	if (first >= fw->kept_until[pipe]) {
		fw->keeper[pipe] = NULL;
		return NULL;
	}
	if (fw_schedule_is_stalled(keeper) ||
	    (first == keeper->taken && fw_schedule_is_closed(keeper)))
		return NULL;
	return keeper;
}

/* Lets a ring that was picked keep the pipe, until it has begun all commands that are announced */
static void fw_schedule_keep(struct vagx_firmware *fw, struct fw_queue *queue)
{
	if (!fw_schedule_is_unfair(fw) || fw->keeper[queue->pipe] ||
	    fw_schedule_share(fw, queue->number) != FW_SHARE_ALL)
		return;
	fw->keeper[queue->pipe] = queue;
	fw->kept_until[queue->pipe] =
		queue->taken + (queue->limit + queue->size - queue->rptr) % queue->size;
}

struct fw_command *fw_schedule_pick(struct fw_worker *worker, struct fw_queue **from,
				    uint64_t *again)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_queue *queue, *keeper = fw_schedule_find_keeper(fw, worker->pipe);
	struct fw_command *best = NULL, *found;
	uint64_t now = fw_now_ns();

	*again = UINT64_MAX;
	if (fw->config.serial && fw->on_units)
		return NULL;
	for (queue = fw->active[worker->pipe]; queue; queue = queue->active_next) {
		if (keeper && queue != keeper && queue->priority >= keeper->priority)
			continue;
		found = fw_schedule_pick_from(fw, queue, now, *from, best, again);
		if (found != best) {
			best = found;
			*from = queue;
		}
	}
	if (best)
		fw_schedule_keep(fw, *from);
	return best;
}
