/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Initdata operations of one version of the firmware's interface, see
 * asahi_abi.h.
 *
 * Sources: Rust driver, initdata.rs and gpu.rs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include "asahi_fw_initdata.h"
#include "asahi_layout_tmpl.h"

ASAHI_ASSERT_SIZE(asahi_fw_hwdata_b, 0xb6c, 0x1884, 0x1884);
ASAHI_ASSERT_OFFSET(asahi_fw_hwdata_b, io_mappings, 0x1d0, 0x640, 0x640);
ASAHI_ASSERT_OFFSET(asahi_fw_hwdata_b, frequencies, 0x574, 0xa90, 0xa90);
ASAHI_ASSERT_SIZE(asahi_fw_globals, 0x11d40, 0x12394, 0x1715c);
ASAHI_ASSERT_OFFSET(asahi_fw_globals, pending_submissions, 0x8904, 0x8974, 0xd1c0);
ASAHI_ASSERT_OFFSET(asahi_fw_globals, fault_control, 0x10e80, 0x10fd8, 0x15820);
ASAHI_ASSERT_OFFSET(asahi_fw_globals, pending_stamps, 0x1103c, 0x111a8, 0x159f0);
ASAHI_ASSERT_SIZE(asahi_fw_initdata, 0xb4, 0xbc, 0xbc);
ASAHI_ASSERT_OFFSET(asahi_fw_initdata, host_mapped_fw_allocations, 0xa0, 0xa8, 0xa8);
ASAHI_ASSERT_SIZE(asahi_fw_runtime_pointers, 0x6bc0, 0x6bc0, 0xb3b0);
ASAHI_ASSERT_OFFSET(asahi_fw_runtime_pointers, unk_160, 0x160, 0x160, 0x160);
ASAHI_ASSERT_OFFSET(asahi_fw_runtime_pointers, stats_vtx, 0x170, 0x170, 0x170);
ASAHI_ASSERT_OFFSET(asahi_fw_runtime_pointers, unkptr_1b8, 0x1b8, 0x1b8, 0x1b8);
ASAHI_ASSERT_OFFSET(asahi_fw_runtime_pointers, buffer_mgr_ctl_gpu_addr, 0x214, 0x214, 0x204);
ASAHI_ASSERT_OFFSET(asahi_fw_runtime_pointers, gpu_scratch.unk_6b38, 0x6b38, 0x6b38, 0xb328);
ASAHI_ASSERT_SIZE(asahi_fw_status, 0x80, 0x80, 0x80);
ASAHI_ASSERT_SIZE(asahi_fw_status_flags, 0x70, 0x70, 0x70);
ASAHI_ASSERT_OFFSET(asahi_fw_status_flags, halted, 0x10, 0x10, 0x10);
ASAHI_ASSERT_OFFSET(asahi_fw_status_flags, resume, 0x20, 0x20, 0x20);
ASAHI_ASSERT_SIZE(asahi_fw_uat_level_info, 0x20, 0x20, 0x20);
ASAHI_ASSERT_SIZE(asahi_fw_io_mapping, 0x20, 0x20, 0x20);

static_assert(sizeof_field(struct asahi_fw_hwdata_b, frequencies) ==
	      ASAHI_PERF_STATES * sizeof(__le32));

static struct asahi_fw_channel_ring asahi_fill_ring(const struct asahi_channel_va *va)
{
	return (struct asahi_fw_channel_ring){
		.state = cpu_to_le64(va->state),
		.ring = cpu_to_le64(va->ring),
	};
}

static void asahi_fill_runtime(const struct asahi_initdata_layout *layout)
{
	struct asahi_fw_runtime_pointers *runtime = layout->map[ASAHI_INITDATA_RUNTIME];
	const struct asahi_channel_layout *ch = &layout->channels;
	unsigned int prio;

	for (prio = 0; prio < AGX_PRIORITY_COUNT; prio++) {
		struct asahi_fw_pipe_channels *pipes = &runtime->pipes[prio];

		pipes->vtx = asahi_fill_ring(&ch->pipe[prio][AGX_PIPE_VERTEX]);
		pipes->frag = asahi_fill_ring(&ch->pipe[prio][AGX_PIPE_FRAGMENT]);
		pipes->comp = asahi_fill_ring(&ch->pipe[prio][AGX_PIPE_COMPUTE]);
	}

	runtime->device_control = asahi_fill_ring(&ch->device_control);
	runtime->event = asahi_fill_ring(&ch->event);
	runtime->fw_log = asahi_fill_ring(&ch->log);
	runtime->ktrace = asahi_fill_ring(&ch->ktrace);
	runtime->stats = asahi_fill_ring(&ch->stats);
	runtime->fwlog_buf = cpu_to_le64(ch->log_payload);

	runtime->stats_vtx = cpu_to_le64(layout->va[ASAHI_INITDATA_STATS_VTX]);
	runtime->stats_frag = cpu_to_le64(layout->va[ASAHI_INITDATA_STATS_FRAG]);
	runtime->stats_comp = cpu_to_le64(layout->va[ASAHI_INITDATA_STATS_COMP]);
	runtime->hwdata_a = cpu_to_le64(layout->va[ASAHI_INITDATA_HWDATA_A]);
	runtime->hwdata_b = cpu_to_le64(layout->va[ASAHI_INITDATA_HWDATA_B]);
	runtime->hwdata_b_2 = runtime->hwdata_b;
	runtime->unkptr_190 = cpu_to_le64(layout->va[ASAHI_INITDATA_UNK_190]);
	runtime->unkptr_198 = cpu_to_le64(layout->va[ASAHI_INITDATA_UNK_198]);
	runtime->unkptr_1b8 = cpu_to_le64(layout->va[ASAHI_INITDATA_UNK_1B8]);
#if ASAHI_ABI_GEN < ASAHI_G14X
	runtime->unkptr_1c0 = cpu_to_le64(layout->va[ASAHI_INITDATA_UNK_1C0]);
	runtime->unkptr_1c8 = cpu_to_le64(layout->va[ASAHI_INITDATA_UNK_1C8]);
#endif
	runtime->buffer_mgr_ctl_gpu_addr = cpu_to_le64(AGX_VA_BUFMGR_LOW);
	runtime->buffer_mgr_ctl_fw_addr = cpu_to_le64(AGX_VA_BUFMGR);
	runtime->gpu_scratch.unk_6b38 = cpu_to_le32(0xff);
}

static void asahi_fill_stats(const struct asahi_initdata_layout *layout)
{
	struct asahi_fw_stats_frag *frag = layout->map[ASAHI_INITDATA_STATS_FRAG];

	frag->stats.cur_stamp_id = cpu_to_le32(-1);
	frag->stats.unk_id = cpu_to_le32(-1);
}

static void asahi_fill_hwdata_b(struct asahi_device *adev,
				const struct asahi_initdata_layout *layout)
{
	struct asahi_fw_hwdata_b *hwdata = layout->map[ASAHI_INITDATA_HWDATA_B];
	unsigned int i;

	for (i = 0; i < ASAHI_FW_IO_MAPPINGS; i++) {
		const struct asahi_io_map *io = &adev->hw->io_maps[i];
		struct asahi_fw_io_mapping *fw = &hwdata->io_mappings[i];
		unsigned int dies = io->per_die ? adev->hw->num_dies : 1;

		if (!io->size)
			continue;

		fw->phys_addr = cpu_to_le64(io->base);
		fw->virt_addr = cpu_to_le64(layout->io_va[i]);
		fw->total_size = cpu_to_le32(io->size * io->count * dies);
		fw->element_size = cpu_to_le32(io->size);
		fw->readwrite = cpu_to_le64(io->writable);
	}

#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	if (layout->sram_va)
		hwdata->sgx_sram_ptr = cpu_to_le64(layout->sram_va);
#endif
}

static void asahi_fill_uat_level(struct asahi_fw_uat_level_info *level, unsigned int shift,
				 unsigned int entries, unsigned int oas_bits)
{
	level->index_shift = shift;
	level->unk_1 = 14;
	level->unk_2 = 14;
	level->unk_3 = 8;
	level->unk_4 = cpu_to_le16(0x4000);
	level->num_entries = cpu_to_le16(entries);
	level->unk_8 = cpu_to_le64(1);
	level->unk_10 = cpu_to_le64(GENMASK_ULL(oas_bits - 1, AGX_PAGE_SHIFT));
	level->index_mask = cpu_to_le64((u64)(entries - 1) << shift);
}

static void asahi_fill_root(struct asahi_device *adev, const struct asahi_initdata_layout *layout)
{
	struct asahi_fw_initdata *root = layout->map[ASAHI_INITDATA_ROOT];
	unsigned int oas_bits = adev->hw->oas_bits;

#if ASAHI_ABI_VERSION >= ASAHI_V13_5 && ASAHI_ABI_GEN >= ASAHI_G14X
	root->ver_info[0] = cpu_to_le16(0xb390);
	root->ver_info[1] = cpu_to_le16(0x70f8);
	root->ver_info[2] = cpu_to_le16(0x601);
	root->ver_info[3] = cpu_to_le16(0xb0);
#elif ASAHI_ABI_VERSION >= ASAHI_V13_5
	root->ver_info[0] = cpu_to_le16(0x6ba0);
	root->ver_info[1] = cpu_to_le16(0x1f28);
	root->ver_info[2] = cpu_to_le16(0x601);
	root->ver_info[3] = cpu_to_le16(0xb0);
#endif
	root->unk_buf = cpu_to_le64(layout->va[ASAHI_INITDATA_UNK_BUF]);
	root->runtime_pointers = cpu_to_le64(layout->va[ASAHI_INITDATA_RUNTIME]);
	root->globals = cpu_to_le64(layout->va[ASAHI_INITDATA_GLOBALS]);
	root->fw_status = cpu_to_le64(layout->va[ASAHI_INITDATA_FW_STATUS]);
	root->uat_page_size = cpu_to_le16(AGX_PAGE_SIZE);
	root->uat_page_bits = AGX_PAGE_SHIFT;
	root->uat_num_levels = AGX_UAT_LEVELS;
	asahi_fill_uat_level(&root->uat_level_info[0], AGX_UAT_L1_SHIFT, AGX_UAT_L1_ENTRIES,
			     oas_bits);
	asahi_fill_uat_level(&root->uat_level_info[1], AGX_UAT_L2_SHIFT, AGX_UAT_L2_ENTRIES,
			     oas_bits);
	asahi_fill_uat_level(&root->uat_level_info[2], AGX_UAT_L3_SHIFT, AGX_UAT_L3_ENTRIES,
			     oas_bits);
	root->host_mapped_fw_allocations = cpu_to_le32(1);
}

static void asahi_fill_initdata(struct asahi_device *adev,
				const struct asahi_initdata_layout *layout)
{
	struct asahi_fw_status *status = layout->map[ASAHI_INITDATA_FW_STATUS];

	status->fwctl_channel = asahi_fill_ring(&layout->channels.fwctl);
	asahi_fill_stats(layout);
	asahi_fill_hwdata_b(adev, layout);
	asahi_fill_runtime(layout);
	asahi_fill_root(adev, layout);
}

static const struct asahi_initdata_abi asahi_initdata_abi = {
	.hwdata_a_size = ASAHI_FW_HWDATA_A_SIZE,
	.hwdata_b_size = sizeof(struct asahi_fw_hwdata_b),
	.globals_size = sizeof(struct asahi_fw_globals),
	.initdata_size = sizeof(struct asahi_fw_initdata),
	.runtime_size = sizeof(struct asahi_fw_runtime_pointers),
	.stats_size = {
		[AGX_PIPE_VERTEX] = sizeof(struct asahi_fw_stats_vtx),
		[AGX_PIPE_FRAGMENT] = sizeof(struct asahi_fw_stats_frag),
		[AGX_PIPE_COMPUTE] = sizeof(struct asahi_fw_stats_comp),
	},
	.stats_offset = {
		[AGX_PIPE_VERTEX] = offsetof(struct asahi_fw_stats_vtx, stats),
		[AGX_PIPE_FRAGMENT] = offsetof(struct asahi_fw_stats_frag, stats),
		[AGX_PIPE_COMPUTE] = offsetof(struct asahi_fw_stats_comp, stats),
	},
	.frequencies = offsetof(struct asahi_fw_hwdata_b, frequencies),
	.fault_control = offsetof(struct asahi_fw_globals, fault_control),
	.pending_submissions = offsetof(struct asahi_fw_globals, pending_submissions),
	.pending_stamps = offsetof(struct asahi_fw_globals, pending_stamps),
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	.pending_slot_shift = 4,
#else
	.pending_slot_shift = 3,
#endif
	.fill = asahi_fill_initdata,
};
