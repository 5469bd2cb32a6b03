/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Work queues, as far as they depend on the firmware's version. Compiled once
 * for each, see asahi_abi.h.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/build_bug.h>
#include <linux/stddef.h>

#include "asahi_fw_event.h"
#include "asahi_fw_workqueue.h"
#include "asahi_job.h"
#include "asahi_layout_tmpl.h"

ASAHI_ASSERT_SIZE(asahi_fw_barrier, 0x40, 0x40, 0x40);
ASAHI_ASSERT_OFFSET(asahi_fw_barrier, wait_value, 0xc, 0xc, 0xc);
ASAHI_ASSERT_SIZE(asahi_fw_gpu_context_data, 0x40, 0x40, 0x40);
ASAHI_ASSERT_OFFSET(asahi_fw_gpu_context_data, unk_1e, 0x1e, 0x1e, 0x1e);
ASAHI_ASSERT_OFFSET(asahi_fw_gpu_context_data, unk_23, 0x23, 0x23, 0x23);
ASAHI_ASSERT_SIZE(asahi_fw_ring_state, 0x60, 0x60, 0x60);
ASAHI_ASSERT_OFFSET(asahi_fw_ring_state, gpu_rptr, 0x30, 0x30, 0x30);
ASAHI_ASSERT_OFFSET(asahi_fw_ring_state, cpu_wptr, 0x40, 0x40, 0x40);
ASAHI_ASSERT_OFFSET(asahi_fw_ring_state, rb_size, 0x50, 0x50, 0x50);
ASAHI_ASSERT_SIZE(asahi_fw_queue_info, 0xb0, 0xb8, 0xb0);
ASAHI_ASSERT_OFFSET(asahi_fw_queue_info, event_id, 0x2c, 0x2c, 0x2c);
ASAHI_ASSERT_OFFSET(asahi_fw_queue_info, unk_4c, 0x4c, 0x4c, 0x4c);
ASAHI_ASSERT_OFFSET(asahi_fw_queue_info, unk_54, 0x54, 0x54, 0x54);
ASAHI_ASSERT_OFFSET(asahi_fw_queue_info, gpu_context, 0xa0, 0xa4, 0xa0);
ASAHI_ASSERT_SIZE(asahi_fw_notifier_list, 0x18, 0x18, 0x18);
ASAHI_ASSERT_OFFSET(asahi_fw_notifier, unk_10, 0x10, 0x10, 0x10);

#if ASAHI_ABI_VERSION >= ASAHI_V13_5
ASAHI_ASSERT_OFFSET(asahi_fw_notifier, state.unk_buf, 0, 0xa8, 0xa8);
#endif

#if ASAHI_ABI_GEN == ASAHI_G13
ASAHI_ASSERT_SIZE(asahi_fw_notifier, 0xa8, 0xb0, 0);
#else
ASAHI_ASSERT_SIZE(asahi_fw_notifier, 0xc0, 0xb0, 0xb0);
#endif

static const struct asahi_fw_priority asahi_priorities[AGX_PRIORITY_COUNT] = {
	{
		.unk_8 = cpu_to_le64(0xffffffffffff0000),
		.unk_10 = cpu_to_le32(1),
		.unk_18 = cpu_to_le32(1),
	}, {
		.unk_0 = cpu_to_le32(1),
		.unk_4 = cpu_to_le32(1),
		.unk_8 = cpu_to_le64(0xffffffff00000000),
	}, {
		.unk_0 = cpu_to_le32(2),
		.unk_4 = cpu_to_le32(2),
		.unk_8 = cpu_to_le64(0xffff000000000000),
		.unk_18 = cpu_to_le32(2),
	}, {
		.unk_0 = cpu_to_le32(3),
		.unk_4 = cpu_to_le32(3),
		.unk_18 = cpu_to_le32(3),
	},
};

static void asahi_workqueue_build_info(void *map, const struct asahi_queue_info *info)
{
	struct asahi_fw_queue_info *fw = map;

	fw->state = cpu_to_le64(info->state_va);
	fw->ring = cpu_to_le64(info->ring_va);
	fw->notifier_list = cpu_to_le64(info->notifier_list_va);
	fw->gpu_buf = cpu_to_le64(info->gpu_buf_va);
	fw->event_id = cpu_to_le32(-1);
	fw->priority = asahi_priorities[info->priority];
	fw->unk_4c = cpu_to_le32(-1);
	fw->uuid = cpu_to_le32(info->uuid);
	fw->unk_54 = cpu_to_le32(-1);
	fw->gpu_context = cpu_to_le64(info->context_va);

	/* Preemption of compute work is not understood: the firmware must not. */
	if (info->pipe == AGX_PIPE_COMPUTE) {
		fw->priority.unk_0 = 0;
		fw->priority.unk_18 = cpu_to_le32(1);
	}
}

static void asahi_workqueue_build_notifier(void *map, u64 threshold_va, u32 queue_id)
{
	struct asahi_fw_notifier *fw = map;

	fw->threshold = cpu_to_le64(threshold_va);
	fw->generation = cpu_to_le32(queue_id);
	fw->unk_10 = cpu_to_le32(0x50);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	memset(fw->state.unk_buf, 0xff, sizeof(fw->state.unk_buf));
#endif
}
