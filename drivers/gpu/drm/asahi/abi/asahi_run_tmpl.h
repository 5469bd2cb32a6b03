/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What all kinds of commands have in common. Compiled once for each version of the
 * firmware's interface, see asahi_abi.h.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/build_bug.h>
#include <linux/stddef.h>

#include "asahi_fw_job.h"
#include "asahi_layout_tmpl.h"
#include "asahi_work.h"

ASAHI_ASSERT_SIZE(asahi_fw_job_meta, 0x2c, 0x2c, 0x2c);
ASAHI_ASSERT_SIZE(asahi_fw_encoder_params, 0x28, 0x28, 0x28);
ASAHI_ASSERT_SIZE(asahi_fw_register_array, 0x710, 0x710, 0x710);

#if ASAHI_ABI_GEN >= ASAHI_G14X
static void asahi_run_add_register(struct asahi_fw_register_array *fw, u32 number, u64 value)
{
	unsigned int count = le16_to_cpu(fw->count);

	fw->registers[count].number = cpu_to_le32(number);
	fw->registers[count].value = cpu_to_le64(value);
	fw->count = cpu_to_le16(count + 1);
	fw->length = cpu_to_le16((count + 1) * sizeof(fw->registers[0]));
}
#endif

static void asahi_run_build_encoder(struct asahi_fw_encoder_params *fw, u64 sampler_heap,
				    u32 sampler_count)
{
	fw->unk_mask = cpu_to_le32(0xffffffff);
	fw->sampler_array = cpu_to_le64(sampler_heap);
	fw->sampler_count = cpu_to_le32(sampler_count);
	fw->sampler_max = cpu_to_le32(sampler_count + 1);
}

static void asahi_run_build_times(struct asahi_fw_timestamp_pointers *own,
				  struct asahi_fw_timestamp_pointers *user,
				  const struct asahi_work *work)
{
	own->start_addr =
		cpu_to_le64(work->times_va + offsetof(struct asahi_fw_timestamps, start));
	own->end_addr = cpu_to_le64(work->times_va + offsetof(struct asahi_fw_timestamps, end));
	user->start_addr = cpu_to_le64(work->user_times.start.va);
	user->end_addr = cpu_to_le64(work->user_times.end.va);
}

static void asahi_run_patch_meta(struct asahi_fw_job_meta *fw, const struct asahi_patch *patch)
{
	fw->stamp = cpu_to_le64(patch->stamp_va);
	fw->fw_stamp = cpu_to_le64(patch->fw_stamp_va);
	fw->stamp_value = cpu_to_le32(patch->stamp);
	fw->stamp_slot = cpu_to_le32(patch->event_slot);
	fw->flush_stamps = cpu_to_le32(patch->flush_stamps);
	fw->event_seq = cpu_to_le32(patch->event_seq);
}
