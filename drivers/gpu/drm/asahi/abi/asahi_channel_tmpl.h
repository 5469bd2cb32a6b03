/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Channel operations of one version of the firmware's interface, see
 * asahi_abi.h.
 *
 * Sources: Rust driver, fw/channels.rs and gpu.rs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include "asahi_fw_channels.h"
#include "asahi_layout_tmpl.h"

static_assert(sizeof(struct asahi_fw_pipe_msg) == ASAHI_FW_TX_MSG_SIZE);
ASAHI_ASSERT_OFFSET(asahi_fw_pipe_msg, work_queue, 0x4, 0x4, 0x4);
ASAHI_ASSERT_OFFSET(asahi_fw_pipe_msg, is_new, 0x14, 0x14, 0x14);
static_assert(sizeof(struct asahi_fw_dc_grow_tvb_ack) == ASAHI_FW_TX_MSG_SIZE);
static_assert(sizeof(struct asahi_fw_dc_recover_channel) == ASAHI_FW_TX_MSG_SIZE);
static_assert(sizeof(struct asahi_fw_dc_destroy_context) == ASAHI_FW_TX_MSG_SIZE);
static_assert(sizeof(struct asahi_fw_dc_initialize) == ASAHI_FW_TX_MSG_SIZE);
ASAHI_ASSERT_OFFSET(asahi_fw_dc_destroy_context, ctx_23, 0x8, 0x8, 0x8);
ASAHI_ASSERT_OFFSET(asahi_fw_dc_destroy_context, ctx_0, 0x14, 0x11, 0x11);
ASAHI_ASSERT_OFFSET(asahi_fw_dc_destroy_context, gpu_context, 0x1c, 0x14, 0x14);
ASAHI_ASSERT_SIZE(asahi_fw_channel_state, 0x30, 0x30, 0x30);
ASAHI_ASSERT_OFFSET(asahi_fw_channel_state, write_ptr, 0x20, 0x20, 0x20);
ASAHI_ASSERT_SIZE(asahi_fw_fwctl_state, 0x20, 0x20, 0x20);
ASAHI_ASSERT_OFFSET(asahi_fw_fwctl_state, write_ptr, 0x10, 0x10, 0x10);
ASAHI_ASSERT_SIZE(asahi_fw_fwctl_msg, 0x14, 0x14, 0x14);
ASAHI_ASSERT_SIZE(asahi_fw_event_msg, 0x38, 0x38, 0x38);
ASAHI_ASSERT_SIZE(asahi_fw_log_msg, 0x38, 0x38, 0x38);
ASAHI_ASSERT_SIZE(asahi_fw_log_payload, 0xd8, 0xd8, 0xd8);
ASAHI_ASSERT_SIZE(asahi_fw_ktrace_msg, 0x38, 0x38, 0x38);
static_assert(sizeof(struct asahi_fw_stats_msg) >= ASAHI_FW_STATS_MSG_SIZE);
ASAHI_ASSERT_OFFSET(asahi_fw_stats_msg, power.power, 0x1c, 0x1c, 0x1c);
ASAHI_ASSERT_OFFSET(asahi_fw_stats_msg, utilisation.percent, 0xc, 0xc, 0xc);
ASAHI_ASSERT_OFFSET(asahi_fw_stats_msg, average_power.power, 0x18, 0x18, 0x18);
ASAHI_ASSERT_OFFSET(asahi_fw_stats_msg, temperature.value, 0xc, 0xc, 0xc);
ASAHI_ASSERT_OFFSET(asahi_fw_stats_msg, power_state.state, 0x20, 0x20, 0x20);
ASAHI_ASSERT_OFFSET(asahi_fw_stats_msg, state_range.most, 0x14, 0x14, 0x14);

static void asahi_encode_pipe(void *entry, const struct asahi_pipe_msg *msg)
{
	struct asahi_fw_pipe_msg *fw = entry;

	fw->pipe_type = cpu_to_le32(msg->pipe_type);
	fw->work_queue = cpu_to_le64(msg->queue_va);
	fw->wptr = cpu_to_le32(msg->wptr);
	fw->event_slot = cpu_to_le32(msg->event_slot);
	fw->is_new = msg->is_new;
}

static void asahi_encode_destroy_context(void *entry, const struct asahi_dc_msg *msg)
{
	struct asahi_fw_dc_destroy_context *fw = entry;

	fw->type = cpu_to_le32(ASAHI_FW_DC_DESTROY_CONTEXT);
	fw->ctx_23 = msg->destroy_context.ctx_23;
	fw->ctx_0 = msg->destroy_context.ctx_0;
	fw->ctx_1 = msg->destroy_context.ctx_1;
	fw->ctx_4 = msg->destroy_context.ctx_4;
	fw->gpu_context = cpu_to_le64(msg->destroy_context.context_va);
}

static void asahi_encode_recover_channel(void *entry, const struct asahi_dc_msg *msg)
{
	struct asahi_fw_dc_recover_channel *fw = entry;

	fw->type = cpu_to_le32(ASAHI_FW_DC_RECOVER_CHANNEL);
	fw->pipe_type = cpu_to_le32(msg->recover_channel.pipe_type);
	fw->work_queue = cpu_to_le64(msg->recover_channel.queue_va);
	fw->event_value = cpu_to_le32(msg->recover_channel.event_value);
}

static void asahi_encode_grow_tvb_ack(void *entry, const struct asahi_dc_msg *msg)
{
	struct asahi_fw_dc_grow_tvb_ack *fw = entry;

	fw->type = cpu_to_le32(ASAHI_FW_DC_GROW_TVB_ACK);
	fw->unk_4 = cpu_to_le32(1);
	fw->buffer_slot = cpu_to_le32(msg->grow_tvb_ack.buffer_slot);
	fw->vm_slot = cpu_to_le32(msg->grow_tvb_ack.vm_slot);
	fw->counter = cpu_to_le32(msg->grow_tvb_ack.counter);
	fw->halt_count = cpu_to_le64(msg->grow_tvb_ack.halt_count);
}

static void asahi_encode_dc(void *entry, const struct asahi_dc_msg *msg)
{
	struct asahi_fw_dc_initialize *fw = entry;

	switch (msg->type) {
	case ASAHI_DC_INITIALIZE:
		fw->type = cpu_to_le32(ASAHI_FW_DC_INITIALIZE);
		break;
	case ASAHI_DC_DESTROY_CONTEXT:
		asahi_encode_destroy_context(entry, msg);
		break;
	case ASAHI_DC_RECOVER_CHANNEL:
		asahi_encode_recover_channel(entry, msg);
		break;
	case ASAHI_DC_GROW_TVB_ACK:
		asahi_encode_grow_tvb_ack(entry, msg);
		break;
	}
}

static const struct asahi_channel_abi asahi_channel_abi = {
	.pipe_msg_size = sizeof(struct asahi_fw_pipe_msg),
	.dc_msg_size = sizeof(struct asahi_fw_dc_initialize),
	.stats_msg_size = ASAHI_FW_STATS_MSG_SIZE,
	.encode_pipe = asahi_encode_pipe,
	.encode_dc = asahi_encode_dc,
};
