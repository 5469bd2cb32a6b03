// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The end of commands, and failures.
 *
 * A command that is retired has its stamps written, and its notifier counts it. When the count
 * comes to the notifier's threshold, one event tells of all slots that it has counted stamps of.
 * An event that finds its ring full is kept, and the main thread tries again.
 *
 * After a fault or a timeout all jobs are cancelled. Once the units are empty the firmware halts
 * and sends an event, in either order (--halt-delay), and the worker whose job failed waits until
 * the driver has resumed. Commands that were on the units meanwhile share its fate.
 *
 * With the firmware's lock held, which is dropped while a worker waits on @work.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw_internal.h"

#define FW_PENDING_VALID	1

static void fw_event_notify(struct vagx_firmware *fw)
{
	fw->config.send(fw->config.ctx, VAGX_FW_EP_FIRMWARE, FW_NOTIFICATION);
}

static bool fw_event_push_event(struct fw_access *access, struct vagx_firmware *fw,
				const uint8_t *bytes, size_t len)
{
	uint64_t va;

	if (fw->inject.event_ring_broken)
		return true;
	va = fw_ring_room(access, fw, &fw->event);
	if (!va)
		return false;
	fw_write(access, va, bytes, len, "EventMsg");
	fw_ring_push(access, &fw->event);
	fw_event_notify(fw);
	return true;
}

static bool fw_event_any_flag(const uint32_t *flags)
{
	return flags[0] | flags[1] | flags[2] | flags[3];
}

/* Stores a field in a message, where the table has it for this ABI */
static void fw_event_put_field(struct vagx_firmware *fw, uint8_t *bytes, enum fw_field_id field,
			       uint64_t value)
{
	memcpy(bytes + fw_fields[field].offset[fw->abi], &value, fw_field_size(field));
}

static bool fw_event_push_flags(struct fw_access *access, struct vagx_firmware *fw,
				const uint32_t *flags)
{
	struct fw_deferred event = { 0 };

	fw_event_put_field(fw, event.bytes, FW_EventMsg_msg_type, FW_EVENT_FLAG);
	memcpy(event.bytes + fw_fields[FW_EventFlag_firing].offset[fw->abi], flags,
	       FW_EVENT_SLOTS / 8);
	return fw_event_push_event(access, fw, event.bytes, sizeof(event.bytes));
}

static void fw_event_send_flags(struct fw_access *access, struct vagx_firmware *fw,
				const uint32_t *flags)
{
	if (!fw->deferred_count && !fw_event_any_flag(fw->deferred_flags) &&
	    fw_event_push_flags(access, fw, flags))
		return;
	for (unsigned int i = 0; i < FW_EVENT_WORDS; i++)
		fw->deferred_flags[i] |= flags[i];
	fw_poke(fw);
}

static void fw_event_send_event(struct fw_access *access, struct vagx_firmware *fw,
				const struct fw_deferred *event)
{
	if (!fw->deferred_count &&
	    fw_event_push_event(access, fw, event->bytes, sizeof(event->bytes)))
		return;
	if (fw->deferred_count == FW_DEFERRED_EVENTS) {
		vagx_log(fw->config.report, VAGX_LOG_ERROR,
			 "firmware: the driver reads no events, one is lost");
		return;
	}
	fw->deferred[fw->deferred_count++] = *event;
	fw_poke(fw);
}

bool fw_event_to_retry(const struct vagx_firmware *fw)
{
	return fw->deferred_count || fw_event_any_flag(fw->deferred_flags);
}

/* Sends events that found their ring full, until it is full again. Main thread. */
void fw_event_retry(struct vagx_firmware *fw)
{
	while (fw->deferred_count && fw_event_push_event(&fw->access, fw, fw->deferred[0].bytes,
							 sizeof(fw->deferred[0].bytes))) {
		fw->deferred_count--;
		memmove(fw->deferred, fw->deferred + 1,
			fw->deferred_count * sizeof(fw->deferred[0]));
	}
	if (!fw->deferred_count && fw_event_any_flag(fw->deferred_flags) &&
	    fw_event_push_flags(&fw->access, fw, fw->deferred_flags))
		memset(fw->deferred_flags, 0, sizeof(fw->deferred_flags));
}

static struct fw_view fw_event_pending_stamp(struct fw_worker *worker, unsigned int index)
{
	struct fw_view globals = fw_view(&worker->access, FW_S_Globals, worker->fw->globals);

	return fw_sub(&globals, FW_Globals_pending_stamps, FW_S_PendingStamp, index);
}

/*
 * Return: a free entry, drawn by the seed. No source says how the real firmware chooses one, so
 * the driver has to look at all of them.
 */
static unsigned int fw_event_free_entry(struct fw_worker *worker, const struct fw_job_stamp *stamp)
{
	struct vagx_firmware *fw = worker->fw;
	unsigned int i = worker->pipe;

	if (!fw->config.serial)
		i = fw_draw(fw, FW_DRAW_PENDING, stamp->slot, stamp->value) % FW_PENDING_STAMPS;
	while (fw->pending_used[i])
		i = (i + 1) % FW_PENDING_STAMPS;
	return i;
}

/*
 * Enters a stamp into the table that the driver walks to find the commands that a fault concerns
 * (m1n1 agx/__init__.py, asahi gpu.rs). Return: the entry.
 */
unsigned int fw_event_pending(struct fw_worker *worker, const struct fw_job_stamp *stamp)
{
	unsigned int index = fw_event_free_entry(worker, stamp);
	struct fw_view pending = fw_event_pending_stamp(worker, index);
	unsigned int shift = worker->fw->abi >= FW_ABI_13_5 ? 4 : 3;

	worker->fw->pending_used[index] = true;
	fw_set(&pending, FW_PendingStamp_wait_value, stamp->value);
	fw_set(&pending, FW_PendingStamp_info, stamp->slot << shift | FW_PENDING_VALID);
	return index;
}

void fw_event_not_pending(struct fw_worker *worker, unsigned int index)
{
	struct fw_view pending = fw_event_pending_stamp(worker, index);

	worker->fw->pending_used[index] = false;
	fw_set(&pending, FW_PendingStamp_info, 0);
	fw_set(&pending, FW_PendingStamp_wait_value, 0);
}

static struct fw_notifier *fw_event_find_notifier(struct vagx_firmware *fw, uint64_t va)
{
	struct fw_notifier *notifier;

	for (notifier = fw->notifiers; notifier; notifier = notifier->next) {
		if (notifier->va == va)
			return notifier;
	}
	notifier = fw->notifier_count < FW_MAX_NOTIFIERS ? calloc(1, sizeof(*notifier)) : NULL;
	if (!notifier) {
		fw_crash(fw, "too many notifiers wait for their thresholds");
		return NULL;
	}
	notifier->va = va;
	notifier->next = fw->notifiers;
	fw->notifiers = notifier;
	fw->notifier_count++;
	return notifier;
}

static void fw_event_drop_notifier(struct vagx_firmware *fw, struct fw_notifier *notifier)
{
	struct fw_notifier **p = &fw->notifiers;

	while (*p != notifier)
		p = &(*p)->next;
	*p = notifier->next;
	fw->notifier_count--;
	free(notifier);
}

/*
 * Lets the event come up to --event-delay after its stamps, by the seed. Stamps that come
 * meanwhile join it.
 */
static void fw_event_send_flags_late(struct vagx_firmware *fw, const uint32_t *flags,
				     const struct fw_job_stamp *stamp)
{
	uint64_t draw = fw_draw(fw, FW_DRAW_EVENT, stamp->slot, stamp->value);

	for (unsigned int i = 0; i < FW_EVENT_WORDS; i++)
		fw->late_flags[i] |= flags[i];
	if (fw->late_due)
		return;
	fw->late_due = fw_now_ns() + draw % (fw->config.event_delay_ms * UINT64_C(1000000) + 1);
	fw_poke(fw);
}

/* A firmware that has halted tells of no stamps until it is resumed */
uint64_t fw_event_late(struct vagx_firmware *fw, uint64_t now_ns)
{
	uint32_t flags[FW_EVENT_WORDS];

	if (!fw->late_due || fw->halted)
		return 0;
	if (fw->late_due > now_ns)
		return fw->late_due;
	fw->late_due = 0;
	memcpy(flags, fw->late_flags, sizeof(flags));
	memset(fw->late_flags, 0, sizeof(fw->late_flags));
	fw_event_send_flags(&fw->access, fw, flags);
	return 0;
}

/*
 * Counts a command in its notifier. The driver raises the threshold that the count has to reach,
 * and the event waits for that, so that one event can stand for several commands.
 */
static void fw_event_count_command(struct vagx_firmware *fw, struct fw_access *access,
				   const struct fw_job_stamp *stamp)
{
	struct fw_view control = fw_view(access, FW_S_EventControl, stamp->notifier);
	uint32_t count = fw_get(&control, FW_EventControl_cur_count) + 1;
	uint32_t threshold =
		fw_load32(access, fw_get(&control, FW_EventControl_event_count_addr), "threshold");
	struct fw_notifier *notifier;

	fw_set(&control, FW_EventControl_cur_count, count);
	if (access->failed)
		return;
	if (!fw->config.late_threshold && (int32_t)(count - threshold) > 0)
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_COMMAND_NOTIFIER_threshold,
			       stamp->notifier, "EventControl", "%u commands finished, the threshold is %u", count,
			       threshold);
	notifier = fw_event_find_notifier(fw, stamp->notifier);
	if (!notifier)
		return;
	notifier->fired[stamp->slot / 32] |= 1U << (stamp->slot % 32);
	if ((int32_t)(count - threshold) < 0)
		return;
	if (fw->config.event_delay_ms)
		fw_event_send_flags_late(fw, notifier->fired, stamp);
	else
		fw_event_send_flags(access, fw, notifier->fired);
	fw_event_drop_notifier(fw, notifier);
}

void fw_event_signal(struct vagx_firmware *fw, struct fw_access *access,
		     const struct fw_job_stamp *stamp)
{
	if (!stamp->notifier)
		return;
	fw_store32(access, stamp->fw_stamp, stamp->value, "firmware stamp");
	fw_store32(access, stamp->cpu_stamp, stamp->value + fw->inject.stamp_step, "stamp");
	fw_event_count_command(fw, access, stamp);
	fw_wake_pipes(fw);
}

void fw_event_channel_error(struct fw_worker *worker, unsigned int type, unsigned int slot,
			    uint32_t value)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_deferred event = { 0 };

	fw_event_put_field(fw, event.bytes, FW_EventMsg_msg_type, FW_EVENT_CHANNEL_ERROR);
	fw_event_put_field(fw, event.bytes, FW_EventChannelError_error_type, type);
	fw_event_put_field(fw, event.bytes, FW_EventChannelError_pipe_type, worker->pipe);
	fw_event_put_field(fw, event.bytes, FW_EventChannelError_event_slot, slot);
	fw_event_put_field(fw, event.bytes, FW_EventChannelError_event_value, value);
	fw_event_send_event(&worker->access, fw, &event);
	fw_log(&worker->access, fw, FW_LOG_WARNING,
	       "channel error %u on pipe %u, event slot %u, value %#x", type, worker->pipe, slot,
	       value);
}

void fw_event_grow(struct fw_access *access, struct vagx_firmware *fw, uint32_t context,
		   uint32_t slot, uint32_t counter)
{
	struct fw_deferred event = { 0 };

	fw_event_put_field(fw, event.bytes, FW_EventMsg_msg_type, FW_EVENT_GROW);
	fw_event_put_field(fw, event.bytes, FW_EventGrowTvb_vm_id, context);
	fw_event_put_field(fw, event.bytes, FW_EventGrowTvb_bm_id, slot);
	fw_event_put_field(fw, event.bytes, FW_EventGrowTvb_counter, counter);
	fw_event_send_event(access, fw, &event);
}

bool fw_event_wait_resume(struct fw_worker *worker)
{
	struct vagx_firmware *fw = worker->fw;

	while ((fw->halting || fw->halted) && fw->state == FW_STATE_READY)
		pthread_cond_wait(&fw->work, &fw->lock);
	return fw->state == FW_STATE_READY;
}

/*
 * Takes all jobs off the units; false when the firmware stopped instead. A job that was there
 * stays pending until the driver has resumed, and is retired afterwards: it shares the fate of the
 * one that failed. Only one failure at a time gets here; those that come meanwhile are part of it.
 */
static bool fw_event_clear_units(struct fw_worker *worker)
{
	struct vagx_firmware *fw = worker->fw;

	fw->halting = true;
	for (unsigned int i = 0; i < FW_WORKERS; i++)
		fw_cancel(&fw->worker[i]);
	while (fw->on_units && fw->state == FW_STATE_READY)
		pthread_cond_wait(&fw->work, &fw->lock);
	return fw->state == FW_STATE_READY;
}

static struct fw_view fw_event_status(struct fw_worker *worker)
{
	return fw_view(&worker->access, FW_S_FwStatus, worker->fw->status);
}

static void fw_event_halt(struct fw_worker *worker)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_view status = fw_event_status(worker);

	fw->halting = false;
	fw->halted = true;
	fw_set(&status, FW_FwStatus_halt_count, fw_get(&status, FW_FwStatus_halt_count) + 1);
	fw_set(&status, FW_FwStatus_halted, 1);
	fw_poke(fw);
}

/*
 * Tells of a failure and halts, in the order that the configuration asks for. How long real
 * firmware takes is not known: the Rust driver waits 100 ms for the halt. Until it has halted
 * the firmware reads its rings, but starts nothing. Returns when the driver has resumed; false
 * when the firmware stopped instead.
 */
static bool fw_event_tell_and_halt(struct fw_worker *worker, const struct fw_deferred *event)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_view status = fw_event_status(worker);
	uint64_t until;
	struct timespec time;

	if (!fw->config.halt_delay_ms) {
		fw_event_halt(worker);
		fw_event_send_event(&worker->access, fw, event);
		return fw_event_wait_resume(worker);
	}

	fw_event_send_event(&worker->access, fw, event);
	until = fw_now_ns() + fw_draw(fw, FW_DRAW_HALT, fw_get(&status, FW_FwStatus_halt_count), 0) %
				      (fw->config.halt_delay_ms * UINT64_C(1000000) + 1);
	time = (struct timespec){ .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };
	while (fw->state == FW_STATE_READY && fw_now_ns() < until)
		pthread_cond_timedwait(&fw->work, &fw->lock, &time);
	if (fw->state != FW_STATE_READY)
		return false;
	fw_event_halt(worker);
	return fw_event_wait_resume(worker);
}

static void fw_event_set_fault_register(struct vagx_firmware *fw,
					const struct vagx_uat_fault *fault, unsigned int unit)
{
	if (fw->inject.fault_register_set && fw->config.set_fault_value)
		fw->config.set_fault_value(fw->config.ctx, fw->inject.fault_register);
	else
		fw->config.set_fault_regs(fw->config.ctx, fault, unit);
	fw->inject.fault_register_set = false;
}

bool fw_event_fault(struct fw_worker *worker, const struct vagx_uat_fault *fault, unsigned int unit)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_deferred event = { 0 };

	if (!fw_event_clear_units(worker))
		return false;
	fw_event_set_fault_register(fw, fault, unit);
	fw_log(&worker->access, fw, FW_LOG_WARNING,
	       "GPU fault: %s of %#" PRIx64 " in context %u, unit %#x: %s",
	       vagx_access_name(fault->access), fault->va, fault->slot, unit,
	       vagx_fault_reason_name(fault->reason));
	fw_event_put_field(fw, event.bytes, FW_EventMsg_msg_type, FW_EVENT_FAULT);
	return fw_event_tell_and_halt(worker, &event);
}

bool fw_event_timeout(struct fw_worker *worker, unsigned int slot)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_deferred event = { 0 };
	uint32_t named = fw->inject.timeout_slot_set ? (uint32_t)fw->inject.timeout_slot : slot;
	struct fw_view status = fw_event_status(worker);

	fw->inject.timeout_slot_set = false;
	if (!fw_event_clear_units(worker))
		return false;
	fw_log(&worker->access, fw, FW_LOG_WARNING, "timeout on pipe %u, event slot %d",
	       worker->pipe, (int)named);
	fw_event_put_field(fw, event.bytes, FW_EventMsg_msg_type, FW_EVENT_TIMEOUT);
	fw_event_put_field(fw, event.bytes, FW_EventTimeout_counter,
			   fw_get(&status, FW_FwStatus_halt_count));
	fw_event_put_field(fw, event.bytes, FW_EventTimeout_stamp_index, named);
	return fw_event_tell_and_halt(worker, &event);
}

/*
 * Leaves a timeout to a worker, as it has to wait until the units are empty. Return: 0, or -EBUSY.
 */
int fw_event_inject_timeout(struct vagx_firmware *fw, int slot)
{
	if (fw->halted || fw->halting || fw->inject.timeout_now)
		return -EBUSY;
	fw->inject.timeout_slot_set = true;
	fw->inject.timeout_slot = slot;
	fw->inject.timeout_now = true;
	fw_wake(fw);
	return 0;
}

/* Looks whether the driver has resumed the firmware, which it does by a write to memory */
void fw_event_poll_resume(struct vagx_firmware *fw)
{
	struct fw_view status = fw_view(&fw->access, FW_S_FwStatus, fw->status);

	if (!fw_get(&status, FW_FwStatus_resume))
		return;
	if (!fw->halted || fw_get(&status, FW_FwStatus_halted))
		vagx_violation(fw->config.report,
			       fw->halted ? VAGX_CLAUSE_FW_RESUME_cleared :
					    VAGX_CLAUSE_FW_RESUME_halted,
			       fw->status, "FwStatus", fw->halted ? "resumes without having cleared halted"
					  : "the firmware had not halted");
	fw_set(&status, FW_FwStatus_resume, 0);
	if (!fw->halted)
		return;
	fw->halted = false;
	fw->config.set_fault_regs(fw->config.ctx, NULL, 0);
	fw_wake(fw);
}

int fw_event_inject(struct vagx_firmware *fw, const uint32_t *words)
{
	struct fw_deferred event;

	_Static_assert(sizeof(event.bytes) == VAGX_FW_EVENT_WORDS * 4, "an event's words");
	memcpy(event.bytes, words, sizeof(event.bytes));
	fw_event_send_event(&fw->access, fw, &event);
	return 0;
}

void fw_event_break_ring(struct vagx_firmware *fw)
{
	struct fw_view ring = fw_view(&fw->access, FW_S_RingState, fw->event.state);

	fw->inject.event_ring_broken = true;
	fw_set(&ring, FW_RingState_write_ptr, UINT32_MAX);
	fw_event_notify(fw);
}

void fw_event_forget_all(struct vagx_firmware *fw)
{
	while (fw->notifiers)
		fw_event_drop_notifier(fw, fw->notifiers);
	fw->deferred_count = 0;
	memset(fw->deferred_flags, 0, sizeof(fw->deferred_flags));
	fw->late_due = 0;
	memset(fw->late_flags, 0, sizeof(fw->late_flags));
	memset(fw->pending_used, 0, sizeof(fw->pending_used));
	fw->halting = false;
	fw->halted = false;
}
