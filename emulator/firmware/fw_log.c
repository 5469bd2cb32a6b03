// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../clock.h"
#include "fw_internal.h"

/*
 * First words of the announcing entry (asahi fw/channels.rs) and of the payload (m1n1
 * fw/agx/channels.py)
 */
#define FW_LOG_ENTRY	2
#define FW_LOG_PAYLOAD	3

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
	va = fw_ring_room(access, fw, ring);
	if (!va)
		return;
	entry = fw_view(access, FW_S_FwLogEntry, va);
	payload = fw_view(access, FW_S_FwLogMsg, fw->log_payload);
	payload.va += (channel * ring->count + ring->index) * fw_size(&payload);
	fw_set(&payload, FW_FwLogMsg_msg_type, FW_LOG_PAYLOAD);
	fw_set(&payload, FW_FwLogMsg_seq_no, fw->log_seq++);
	fw_set(&payload, FW_FwLogMsg_timestamp, vagx_clock_now(fw->config.clock));
	fw_write(access, fw_va(&payload, FW_FwLogMsg_msg), text, sizeof(text), "FwLogMsg");
	fw_set(&entry, FW_FwLogEntry_msg_type, FW_LOG_ENTRY);
	fw_set(&entry, FW_FwLogEntry_msg_index, ring->index);
	fw_ring_push(access, ring);
	fw->config.send(fw->config.ctx, VAGX_FW_EP_FIRMWARE, FW_NOTIFICATION);
}
