// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Device control messages: tells their numbers, which changed with 13.3, apart and does what they
 * say (m1n1 fw/agx/channels.py; RecoverChannel and IdlePowerOff: asahi fw/channels.rs). The main
 * thread, with the lock held.
 */
#include <inttypes.h>

#include "fw_buffer.h"

enum fw_control {
	FW_CONTROL_UNKNOWN,
	FW_CONTROL_KNOWN,		/* without effect here */
	FW_CONTROL_GROW_ACK,
	FW_CONTROL_RECOVER_CHANNEL,
	FW_CONTROL_DESTROY_CONTEXT,
	FW_CONTROL_WRITE32,
	FW_CONTROL_INITIALIZE,
};

static enum fw_control fw_control_kind(enum fw_abi abi, uint32_t type)
{
	uint32_t shift = abi >= FW_ABI_13_5;

	switch (type) {
	case 0x09:
	case 0x0b:
	case 0x0c:
	case 0x13:
	case 0x1e:
	case 0x23:
		return FW_CONTROL_KNOWN;
	}
	switch (type - shift) {
	case 0x0d:
		return FW_CONTROL_GROW_ACK;
	case 0x0e:
		return FW_CONTROL_RECOVER_CHANNEL;
	case 0x0f:
		return FW_CONTROL_KNOWN;	/* IdlePowerOff */
	case 0x17:
		return FW_CONTROL_DESTROY_CONTEXT;
	case 0x18:
		return FW_CONTROL_WRITE32;
	case 0x19:
		return FW_CONTROL_INITIALIZE;
	}
	return FW_CONTROL_UNKNOWN;
}

/* On 12.x the numbers lie in unk_14's bytes (m1n1's one example has ff ff there) */
static uint8_t fw_control_context_byte(const struct fw_view *msg, enum fw_field_id field,
				       unsigned int byte)
{
	if (fw_has(msg, field))
		return fw_get(msg, field);
	return fw_get(msg, FW_DcDestroyContext_unk_14) >> (8 * byte);
}

/* Return: the clause about the numbers of a context that is broken, or VAGX_KEPT */
static enum vagx_rule fw_control_check_numbers(const struct fw_view *data, uint8_t ctx_0,
					       uint8_t ctx_1)
{
	if (!data->va && ctx_0 != 0xff)
		return VAGX_CLAUSE_FW_DC_CONTEXT_none_0;
	if (!data->va && ctx_1 != 0xff)
		return VAGX_CLAUSE_FW_DC_CONTEXT_none_1;
	if (data->va && ctx_0 != fw_get(data, FW_GpuContextData_queue_table_index))
		return VAGX_CLAUSE_FW_DC_CONTEXT_queue_table;
	if (data->va && ctx_1 != fw_get(data, FW_GpuContextData_pid_table_index))
		return VAGX_CLAUSE_FW_DC_CONTEXT_pid_table;
	return VAGX_KEPT;
}

static void fw_control_destroy_context(struct vagx_firmware *fw, uint64_t va)
{
	struct fw_view msg = fw_view(&fw->access, FW_S_DcDestroyContext, va);
	uint64_t context = fw_get(&msg, FW_DcDestroyContext_context_addr);
	uint8_t ctx_0 = fw_control_context_byte(&msg, FW_DcDestroyContext_ctx_0, 0);
	uint8_t ctx_1 = fw_control_context_byte(&msg, FW_DcDestroyContext_ctx_1, 1);
	struct fw_view data = fw_view(&fw->access, FW_S_GpuContextData, context);

	vagx_violation(fw->config.report, fw_control_check_numbers(&data, ctx_0, ctx_1), va,
		       "DestroyContext", "numbers %02x %02x, context %#" PRIx64, ctx_0, ctx_1,
		       context);
	if (context) {
		fw_queue_destroy_context(fw, context);
		fw_buffers_destroy_context(fw, context);
	}
	fw_cache_sweep(fw->cache, &fw->access);
	fw_cache_flush_all(fw->cache, &fw->access);
}

static void fw_control_write32(struct vagx_firmware *fw, uint64_t va)
{
	struct fw_view msg = fw_view(&fw->access, FW_S_DcWrite32, va);
	uint64_t addr = fw_get(&msg, FW_DcWrite32_addr);

	if (addr & 3)
		vagx_violation(fw->config.report, VAGX_RULE_FW_DC_WRITE32, va, "Write32",
			       "to %#" PRIx64, addr);
	else
		fw_store32(&fw->access, addr, fw_get(&msg, FW_DcWrite32_data), "Write32");
}

void fw_control_message(struct vagx_firmware *fw, uint64_t va)
{
	struct fw_view msg = fw_view(&fw->access, FW_S_DcMsg, va);
	uint32_t type = fw_get(&msg, FW_DcMsg_msg_type);
	enum fw_control kind = fw_control_kind(fw->abi, type);
	struct fw_view recover;

	if (fw->access.failed)
		return;
	if (fw->initialized == (kind == FW_CONTROL_INITIALIZE))
		vagx_violation(fw->config.report,
			       fw->initialized ? VAGX_CLAUSE_FW_DC_FIRST_twice :
						 VAGX_CLAUSE_FW_DC_FIRST_message,
			       va, "device control", "got message %#x", type);

	switch (kind) {
	case FW_CONTROL_UNKNOWN:
		vagx_violation(fw->config.report, VAGX_RULE_FW_DC_UNKNOWN, va, "device control",
			       "message %#x", type);
		break;
	case FW_CONTROL_KNOWN:
		vagx_log(fw->config.report, VAGX_LOG_DEBUG,
			 "firmware: device control %#x has no effect here", type);
		break;
	case FW_CONTROL_GROW_ACK:
		fw_grow_acknowledged(fw, va);
		break;
	case FW_CONTROL_RECOVER_CHANNEL:
		recover = fw_view(&fw->access, FW_S_DcRecoverChannel, va);
		fw_queue_recover(fw, fw_get(&recover, FW_DcRecoverChannel_work_queue),
				 fw_get(&recover, FW_DcRecoverChannel_pipe_type),
				 fw_get(&recover, FW_DcRecoverChannel_event_value));
		break;
	case FW_CONTROL_DESTROY_CONTEXT:
		fw_control_destroy_context(fw, va);
		break;
	case FW_CONTROL_WRITE32:
		fw_control_write32(fw, va);
		break;
	case FW_CONTROL_INITIALIZE:
		fw->initialized = true;
		fw_log(&fw->access, fw, FW_LOG_INIT, "device control is initialized");
		break;
	}
}
