// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * What the firmware tells beside events and statistics: its log, and now and then a message of
 * trace, so that its ring moves. With the firmware's lock held.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../clock.h"
#include "fw_internal.h"

/* First word of the payload (m1n1 fw/agx/channels.py) */
#define FW_LOG_PAYLOAD	3

/*
 * Kinds of trace (m1n1 fw/agx/channels.py), sent with each FW_TRACE_EVERY-th message that
 * announces work
 */
#define FW_KTRACE_MESSAGE	5
#define FW_KTRACE_CHANNEL	0
#define FW_KTRACE_STAMP_COMPUTE	0x0e
/* The thread "bg"; no source says which one it is that traces stamps */
#define FW_KTRACE_THREAD	1
#define FW_TRACE_EVERY		16

/* The largest of these messages, the payload of the log */
#define FW_LOG_MESSAGE_MAX	0xd8

/*
 * Return: where the next message goes, or 0 when the ring is full, which breaks a rule: it is lost
 */
static uint64_t fw_log_room(struct fw_access *access, struct vagx_firmware *fw,
			    struct fw_ring *ring)
{
	uint64_t va = fw_ring_room(access, fw, ring);

	if (!va && !access->failed && fw->state == FW_STATE_READY)
		vagx_violation(fw->config.report, VAGX_RULE_FW_RING_UNREAD, ring->state, ring->name,
			       "is full, messages are lost");
	return va;
}

/*
 * Clears the message that is about to be written, so that no byte of an earlier one is left in it:
 * readers look at padding, too (m1n1 wants it to be zero)
 */
static void fw_log_clear(const struct fw_view *msg)
{
	static const uint8_t zeroes[FW_LOG_MESSAGE_MAX];

	fw_write(msg->access, msg->va, zeroes, fw_size(msg), fw_structs[msg->type].name);
}

static void fw_log_write_ktrace(struct vagx_firmware *fw)
{
	uint64_t va = fw_log_room(&fw->access, fw, &fw->ktrace);
	struct fw_view msg = fw_view(&fw->access, FW_S_KTraceMsg, va);

	if (!va)
		return;
	fw_log_clear(&msg);
	fw_set(&msg, FW_KTraceMsg_msg_type, FW_KTRACE_MESSAGE);
	fw_set(&msg, FW_KTraceMsg_timestamp, vagx_clock_now(fw->config.clock));
	fw_set(&msg, FW_KTraceMsg_args, fw->traced);
	fw_set(&msg, FW_KTraceMsg_code, FW_KTRACE_STAMP_COMPUTE);
	fw_set(&msg, FW_KTraceMsg_channel, FW_KTRACE_CHANNEL);
	fw_set(&msg, FW_KTraceMsg_thread, FW_KTRACE_THREAD);
	fw_ring_push(&fw->access, &fw->ktrace);
}

/*
 * Sends a message of trace now and then, so that its ring moves. The real firmware traces what
 * Globals enable. The guest is not notified: the event of the work that has arrived will do.
 */
void fw_log_trace(struct vagx_firmware *fw)
{
	if (fw->traced++ % FW_TRACE_EVERY || fw->state != FW_STATE_READY)
		return;
	fw_log_write_ktrace(fw);
}

void fw_log(struct fw_access *access, struct vagx_firmware *fw, unsigned int channel,
	    const char *fmt, ...)
{
	struct fw_ring *ring = &fw->log[channel];
	struct fw_view payload, entry;
	char text[0xc8];
	uint64_t va;
	va_list args;

	memset(text, 0, sizeof(text));
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	vagx_log(fw->config.report, VAGX_LOG_DEBUG, "firmware log: %s", text);

	if (fw->state != FW_STATE_READY)
		return;
	va = fw_log_room(access, fw, ring);
	if (!va)
		return;
	entry = fw_view(access, FW_S_FwLogEntry, va);
	payload = fw_view(access, FW_S_FwLogMsg, fw->log_payload);
	payload.va += (channel * ring->count + ring->index) * fw_size(&payload);
	fw_log_clear(&payload);
	fw_log_clear(&entry);
	fw_set(&payload, FW_FwLogMsg_msg_type, FW_LOG_PAYLOAD);
	fw_set(&payload, FW_FwLogMsg_seq_no, fw->log_seq++);
	fw_set(&payload, FW_FwLogMsg_timestamp, vagx_clock_now(fw->config.clock));
	fw_write(access, fw_va(&payload, FW_FwLogMsg_msg), text, sizeof(text), "FwLogMsg");
	fw_set(&entry, FW_FwLogEntry_msg_type, FW_LOG_ENTRY);
	fw_set(&entry, FW_FwLogEntry_msg_index, ring->index);
	fw_ring_push(access, ring);
	fw->config.send(fw->config.ctx, VAGX_FW_EP_FIRMWARE, FW_NOTIFICATION);
}
