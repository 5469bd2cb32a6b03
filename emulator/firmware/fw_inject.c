// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Does what the control socket asks for, most of which makes the firmware fail. It happens on the
 * main thread with the lock held, as it may have to wait for the driver, which the MMIO thread
 * must not do.
 */
#include <errno.h>

#include "fw_buffer.h"

void fw_inject_clear(struct fw_inject *inject)
{
	*inject = (struct fw_inject){ .channel_error = { -1, -1, -1 } };
}

static int fw_inject_on_pipe(struct vagx_firmware *fw, const struct vagx_fw_injection *what)
{
	if (what->pipe >= FW_PIPES)
		return -EINVAL;
	if (what->kind == VAGX_FW_INJECT_HANG)
		fw->inject.hang[what->pipe] = true;
	else
		fw->inject.channel_error[what->pipe] = what->value;
	return 0;
}

static void fw_inject_set_silence(struct vagx_firmware *fw, bool on)
{
	fw->inject.silent = on;
	fw_wake(fw);
}

static void fw_inject_hold_stamps(struct vagx_firmware *fw, bool on)
{
	fw->inject.hold_stamps = on;
	fw_wake(fw);
}

/*
 * Puts @word into a ring of the firmware's, or into the text of a line of its log, and notifies
 * the driver. Return: 0, or -ENOSPC when the ring is full.
 */
static int fw_inject_message(struct vagx_firmware *fw, enum vagx_fw_ring where,
			     const uint32_t *word)
{
	struct fw_ring *ring = where == VAGX_FW_RING_KTRACE ? &fw->ktrace :
			       where == VAGX_FW_RING_STATISTICS ? &fw->stats :
			       &fw->log[FW_LOG_INIT];
	struct fw_view text = fw_view(&fw->access, FW_S_FwLogMsg, fw->log_payload);
	uint64_t va = fw_ring_room(&fw->access, fw, ring);
	struct fw_view entry = fw_view(&fw->access, FW_S_FwLogEntry, va);

	if (!va)
		return -ENOSPC;
	if (where == VAGX_FW_RING_LOG_TEXT) {
		text.va += (FW_LOG_INIT * ring->count + ring->index) * fw_size(&text);
		fw_set(&entry, FW_FwLogEntry_msg_type, FW_LOG_ENTRY);
		fw_set(&entry, FW_FwLogEntry_msg_index, ring->index);
		va = text.va;
	}
	fw_write(&fw->access, va, word, VAGX_FW_EVENT_WORDS * sizeof(*word), ring->name);
	fw_ring_push(&fw->access, ring);
	fw->config.send(fw->config.ctx, VAGX_FW_EP_FIRMWARE, FW_NOTIFICATION);
	return 0;
}

/* Injections that need the channels, and so a firmware that is up */
static int fw_inject_when_ready(struct vagx_firmware *fw, const struct vagx_fw_injection *what)
{
	if (fw->state != FW_STATE_READY)
		return -ENODEV;
	switch (what->kind) {
	case VAGX_FW_INJECT_TIMEOUT:
		return fw_event_inject_timeout(fw, what->value);
	case VAGX_FW_INJECT_EVENT:
		if (what->word[0] == FW_EVENT_GROW)
			fw_grow_asked(fw, what->word[1], what->word[2], what->word[3]);
		return fw_event_inject(fw, what->word);
	case VAGX_FW_INJECT_BREAK_EVENT_RING:
		fw_event_break_ring(fw);
		return 0;
	case VAGX_FW_INJECT_GROW:
		fw_grow_ask(fw, what->word[0], what->word[1]);
		return 0;
	case VAGX_FW_INJECT_MESSAGE:
		return fw_inject_message(fw, what->value, what->word);
	case VAGX_FW_INJECT_LOG_FLOOD:
		for (int64_t i = 0; i < what->value; i++)
			fw_log(&fw->access, fw, FW_LOG_WARNING, "line %d of a flood", (int)i);
		return 0;
	default:
		fw_log(&fw->access, fw, what->value, "%s", what->text);
		return 0;
	}
}

int fw_inject(struct vagx_firmware *fw, const struct vagx_fw_injection *what)
{
	switch (what->kind) {
	case VAGX_FW_INJECT_CRASH:
		if (fw->state != FW_STATE_STARTED && fw->state != FW_STATE_READY)
			return -ENODEV;
		fw_crash(fw, "%s", what->text);
		return 0;
	case VAGX_FW_INJECT_SILENCE:
		fw_inject_set_silence(fw, what->value);
		return 0;
	case VAGX_FW_INJECT_HOLD_LOCK:
		return fw_handoff_hold(fw, what->value);
	case VAGX_FW_INJECT_CHANNEL_ERROR:
	case VAGX_FW_INJECT_HANG:
		return fw_inject_on_pipe(fw, what);
	case VAGX_FW_INJECT_FAULT_REGISTER:
		fw->inject.fault_register_set = true;
		fw->inject.fault_register = what->value;
		return 0;
	case VAGX_FW_INJECT_HOLD_STAMPS:
		fw_inject_hold_stamps(fw, what->value);
		return 0;
	case VAGX_FW_INJECT_LATE_FLUSH:
		fw->inject.late_flush_ms = what->value;
		return 0;
	case VAGX_FW_INJECT_FLUSH_STATE:
		fw->inject.flush_state_set = true;
		fw->inject.flush_state = what->value;
		return 0;
	case VAGX_FW_INJECT_WRONG_STAMP:
		fw->inject.stamp_step = what->value;
		return 0;
	case VAGX_FW_INJECT_RING_POINTERS:
		fw->inject.ring_pointers_set = true;
		fw->inject.ring_pointers = what->value;
		return 0;
	case VAGX_FW_INJECT_LOG_FLOOD:
	case VAGX_FW_INJECT_TIMEOUT:
	case VAGX_FW_INJECT_EVENT:
	case VAGX_FW_INJECT_BREAK_EVENT_RING:
	case VAGX_FW_INJECT_LOG:
	case VAGX_FW_INJECT_GROW:
	case VAGX_FW_INJECT_MESSAGE:
		return fw_inject_when_ready(fw, what);
	}
	return -EINVAL;
}
