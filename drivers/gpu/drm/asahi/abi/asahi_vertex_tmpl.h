/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The vertex half of render commands. Compiled once for each version of the
 * firmware's interface, see asahi_abi.h.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/build_bug.h>
#include <linux/stddef.h>

#include "asahi_fw_buffer.h"
#include "asahi_fw_event.h"
#include "asahi_fw_vertex.h"
#include "asahi_fw_workqueue.h"
#include "asahi_layout_tmpl.h"
#include "asahi_render.h"
#include "asahi_scene.h"
#include "asahi_work.h"

ASAHI_ASSERT_SIZE(asahi_fw_tiling_params, 0xa0, 0xa0, 0xa0);
ASAHI_ASSERT_OFFSET(asahi_fw_tiling_params, helper_cfg, 0x2c, 0x2c, 0x2c);
ASAHI_ASSERT_SIZE(asahi_fw_vertex_params2, 0xa0, 0xa0, 0xa0);

ASAHI_ASSERT_SIZE(asahi_fw_run_vertex, 0x5e0, 0x608, 0x8f4);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, vm_slot, 0x4, 0xc, 0xc);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, notifier, 0xc, 0x14, 0x14);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, buffer_slot, 0x14, 0x1c, 0x1c);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, buffer, 0x1c, 0x24, 0x24);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, scene, 0x24, 0x2c, 0x2c);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, unk_buffer_buf, 0x2c, 0x34, 0x34);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, tpc, 0x45c, 0x464, 0x750);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, microsequence, 0x46c, 0x474, 0x760);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, fragment_stamp_slot, 0x478, 0x480, 0x76c);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, unk_pointee, 0x480, 0x488, 0x774);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, job_params2.preempt_buf1, 0x4a4, 0x4ac, 0x798);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, encoder_params, 0x528, 0x530, 0x81c);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, uses_scratch, 0x560, 0x568, 0x854);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, meta, 0x564, 0x56c, 0x858);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, unk_buf, 0x594, 0x59c, 0x888);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, command_time, 0x5ac, 0x5b4, 0x8a0);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, timestamp_pointers, 0x5b4, 0x5bc, 0x8a8);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, user_timestamp_pointers, 0x5c4, 0x5cc, 0x8b8);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, client_sequence, 0x5d4, 0x5dc, 0x8c8);

#if ASAHI_ABI_VERSION >= ASAHI_V13_5
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, counter, 0, 0x4, 0x4);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, unk_ts, 0, 0x5e5, 0x8d1);
#endif

#if ASAHI_ABI_GEN < ASAHI_G14X
ASAHI_ASSERT_SIZE(asahi_fw_vertex_params1, 0x384, 0x384, 0x384);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, job_params1, 0x38, 0x40, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, tiling_params, 0x3bc, 0x3c4, 0);
#else
ASAHI_ASSERT_OFFSET(asahi_fw_run_vertex, registers, 0, 0, 0x40);
#endif

#if ASAHI_ABI_GEN == ASAHI_G13
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, tpc, 0x20, 0x20, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, utile_config, 0x48, 0x48, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, core_mask, 0x68, 0x68, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, vdm_ctrl_stream_base, 0x90, 0x90, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, tiling_control, 0xa8, 0xa8, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, usc_exec_base_ta, 0xe0, 0xe0, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, unk_f8, 0xf8, 0xf8, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, helper_arg, 0x108, 0x108, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, unk_118, 0x118, 0x118, 0);
#elif ASAHI_ABI_GEN == ASAHI_G14G
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, tpc, 0x18, 0x18, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, utile_config, 0x38, 0x38, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, preempt_buf1, 0x50, 0x50, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, vdm_ctrl_stream_base, 0x70, 0x70, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, usc_exec_base_ta, 0xa8, 0xa8, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, unk_f8, 0xb0, 0xb0, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, helper_arg, 0xc0, 0xc0, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_vertex_params1, unk_118, 0xd0, 0xd0, 0);
#endif

/* Nobody knows what these are. */
#define ASAHI_VERTEX_UNK_IOGPU_54	0x3a0012006b0003ULL
#define ASAHI_VERTEX_UNK_F0		0x1c
#define ASAHI_VERTEX_UNK_118		0x1c
#define ASAHI_VERTEX_UNK_TILING_4	0x88
#define ASAHI_VERTEX_UNK_TILING_24	0x100

/* Settings that share a word with an address. */
#define ASAHI_VERTEX_HEAPMETA_FLAG	BIT_ULL(63)
#define ASAHI_VERTEX_PREEMPT3_FLAG	BIT_ULL(50)

static u64 asahi_vertex_scene_va(const struct asahi_work_args *args, u64 offset)
{
	return args->scene->memory_va + offset;
}

static u32 asahi_vertex_te_screen(const struct asahi_scene_layout *layout)
{
	return (layout->tiles_y - 1) << 12 | (layout->tiles_x - 1);
}

/* Where the second, third and fourth macrotile begin. */
static u32 asahi_vertex_te_mtile(u32 tiles)
{
	return 3 * tiles | 2 * tiles << 9 | tiles << 18;
}

static u32 asahi_vertex_layers(const struct asahi_scene_layout *layout)
{
	return layout->layers > 1 ? 0xe000 | (layout->layers - 1) : 0x8000;
}

#if ASAHI_ABI_GEN == ASAHI_G13
static void asahi_vertex_build_clusters(struct asahi_fw_vertex_params1 *fw,
					const struct asahi_work_args *args)
{
	const struct asahi_scene_layout *layout = &args->command->scene;
	u64 va = args->scene->memory_va;

	fw->core_mask[0] = cpu_to_le32(args->core_masks[0]);
	fw->core_mask[1] = cpu_to_le32(args->core_masks[1]);
	fw->tiling_control = cpu_to_le32(args->tiling_control);
	fw->unk_f0 = cpu_to_le64(ASAHI_VERTEX_UNK_F0 + ALIGN(layout->meta1_blocks, 4));
	if (!layout->clusters)
		return;

	fw->tvb_cluster_tilemaps = cpu_to_le64(va + layout->cluster_tilemaps);
	fw->tvb_cluster_layermeta = cpu_to_le64(va + layout->cluster_layermeta);
	fw->tvb_cluster_meta1 = cpu_to_le64((va + layout->cluster_meta[0]) |
					    (u64)layout->meta1_stride << 50);
	fw->tvb_cluster_meta2 = cpu_to_le64(va + layout->cluster_meta[1]);
	fw->tvb_cluster_meta3 = cpu_to_le64(va + layout->cluster_meta[2]);
	fw->tvb_cluster_meta4 = cpu_to_le64((va + layout->cluster_meta[3]) | 3ULL << 60);
}
#endif

#if ASAHI_ABI_GEN < ASAHI_G14X
static void asahi_vertex_build_params1(struct asahi_fw_vertex_params1 *fw,
				       const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;
	const struct asahi_scene_layout *layout = &args->command->scene;

	fw->unk_0 = cpu_to_le64(0x200);
	fw->unk_8 = cpu_to_le32(0x1e3ce508);
	fw->unk_c = cpu_to_le32(0x1e3ce508);
	fw->tvb_tilemap = cpu_to_le64(asahi_vertex_scene_va(args, layout->tilemap));
	fw->tpc = cpu_to_le64(args->scene->tpc_va);
	fw->tvb_heapmeta = cpu_to_le64(asahi_vertex_scene_va(args, layout->heapmeta) |
				       ASAHI_VERTEX_HEAPMETA_FLAG);
	fw->iogpu_unk_54 = cpu_to_le64(ASAHI_VERTEX_UNK_IOGPU_54);
	fw->iogpu_unk_56 = cpu_to_le64(1);
	fw->utile_config = cpu_to_le32(layout->utile_config);
	fw->ppp_multisamplectl = cpu_to_le64(cmd->ppp_multisamplectl);
	fw->tvb_layermeta = cpu_to_le64(asahi_vertex_scene_va(args, layout->layermeta));
	fw->preempt_buf1 = cpu_to_le64(asahi_vertex_scene_va(args, layout->preempt[0]));
	fw->preempt_buf2 = cpu_to_le64(asahi_vertex_scene_va(args, layout->preempt[1]));
	fw->unk_80 = cpu_to_le64(1);
	fw->preempt_buf3 = cpu_to_le64(asahi_vertex_scene_va(args, layout->preempt[2]) |
				       ASAHI_VERTEX_PREEMPT3_FLAG);
	fw->vdm_ctrl_stream_base = cpu_to_le64(cmd->vdm_ctrl_stream_base);
	fw->usc_exec_base_ta = cpu_to_le64(args->usc_exec_base);
	fw->unk_f8 = cpu_to_le64(0x8c60);
	fw->helper_program = cpu_to_le32(cmd->vertex_helper.binary);
	fw->helper_arg = cpu_to_le64(cmd->vertex_helper.data);
	fw->unk_118 = cpu_to_le32(ASAHI_VERTEX_UNK_118);
#if ASAHI_ABI_GEN == ASAHI_G13
	asahi_vertex_build_clusters(fw, args);
#endif
}

static void asahi_vertex_build_tiling(struct asahi_fw_tiling_params *fw,
				      const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;
	const struct asahi_scene_layout *layout = &args->command->scene;

	fw->rgn_size = cpu_to_le32(layout->region_words);
	fw->unk_4 = cpu_to_le32(ASAHI_VERTEX_UNK_TILING_4);
	fw->ppp_ctrl = cpu_to_le32(cmd->ppp_ctrl);
	fw->x_max = cpu_to_le16(cmd->width_px - 1);
	fw->y_max = cpu_to_le16(cmd->height_px - 1);
	fw->te_screen = cpu_to_le32(asahi_vertex_te_screen(layout));
	fw->te_mtile1 = cpu_to_le32(asahi_vertex_te_mtile(layout->mtile_x));
	fw->te_mtile2 = cpu_to_le32(asahi_vertex_te_mtile(layout->mtile_y));
	fw->tiles_per_mtile = cpu_to_le32(layout->mtile_tiles);
	fw->tpc_stride = cpu_to_le32(layout->tpc_words);
	fw->unk_24 = cpu_to_le32(ASAHI_VERTEX_UNK_TILING_24);
	fw->unk_28 = cpu_to_le32(asahi_vertex_layers(layout));
	fw->helper_cfg = cpu_to_le32(cmd->vertex_helper.cfg);
}
#else
static u64 asahi_vertex_cluster_va(const struct asahi_work_args *args, u64 offset)
{
	return args->command->scene.clusters ? args->scene->memory_va + offset : 0;
}

static void asahi_vertex_build_memory_registers(struct asahi_fw_register_array *fw,
						const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;
	const struct asahi_scene_layout *layout = &args->command->scene;
	u64 tilemap = asahi_vertex_scene_va(args, layout->tilemap);
	u64 cluster_tilemaps = asahi_vertex_cluster_va(args, layout->cluster_tilemaps);
	u64 heapmeta = asahi_vertex_scene_va(args, layout->heapmeta) | ASAHI_VERTEX_HEAPMETA_FLAG;
	u64 preempt1 = asahi_vertex_scene_va(args, layout->preempt[0]);
	u64 preempt2 = asahi_vertex_scene_va(args, layout->preempt[1]);

	asahi_run_add_register(fw, 0x10141, 0x200);
	asahi_run_add_register(fw, 0x1c039, tilemap);
	asahi_run_add_register(fw, 0x1c9c8, tilemap);
	asahi_run_add_register(fw, 0x1c041, cluster_tilemaps);
	asahi_run_add_register(fw, 0x1c9d0, cluster_tilemaps);
	asahi_run_add_register(fw, 0x1c0a1, args->scene->tpc_va);
	asahi_run_add_register(fw, 0x1c031, heapmeta);
	asahi_run_add_register(fw, 0x1c9c0, heapmeta);
	asahi_run_add_register(fw, 0x1c051, ASAHI_VERTEX_UNK_IOGPU_54);
	asahi_run_add_register(fw, 0x1c061, 1);
	asahi_run_add_register(fw, 0x10149, layout->utile_config);
	asahi_run_add_register(fw, 0x10139, cmd->ppp_multisamplectl);
	asahi_run_add_register(fw, 0x10111, preempt1);
	asahi_run_add_register(fw, 0x1c9b0, preempt1);
	asahi_run_add_register(fw, 0x10119, preempt2);
	asahi_run_add_register(fw, 0x1c9b8, preempt2);
	asahi_run_add_register(fw, 0x1c958, 1);
	asahi_run_add_register(fw, 0x1c950, asahi_vertex_scene_va(args, layout->preempt[2]) |
			       ASAHI_VERTEX_PREEMPT3_FLAG);
	asahi_run_add_register(fw, 0x1c930, 0);
	asahi_run_add_register(fw, 0x1c880, cmd->vdm_ctrl_stream_base);
	asahi_run_add_register(fw, 0x1c898, 0);
}

static void asahi_vertex_build_cluster_registers(struct asahi_fw_register_array *fw,
						 const struct asahi_work_args *args)
{
	const struct asahi_scene_layout *layout = &args->command->scene;
	u64 layermeta = asahi_vertex_scene_va(args, layout->layermeta);
	u64 cluster_layermeta = asahi_vertex_cluster_va(args, layout->cluster_layermeta);
	u64 meta4 = asahi_vertex_cluster_va(args, layout->cluster_meta[3]);

	asahi_run_add_register(fw, 0x1c948, asahi_vertex_cluster_va(args, layout->cluster_meta[1]));
	asahi_run_add_register(fw, 0x1c888, asahi_vertex_cluster_va(args, layout->cluster_meta[2]));
	asahi_run_add_register(fw, 0x1c890, args->tiling_control);
	asahi_run_add_register(fw, 0x1c918, 4);
	asahi_run_add_register(fw, 0x1c079, layermeta);
	asahi_run_add_register(fw, 0x1c9d8, layermeta);
	asahi_run_add_register(fw, 0x1c089, cluster_layermeta);
	asahi_run_add_register(fw, 0x1c9e0, cluster_layermeta);
	asahi_run_add_register(fw, 0x16c41, meta4);
	asahi_run_add_register(fw, 0x1ca40, meta4);
	asahi_run_add_register(fw, 0x1c9a8, ASAHI_VERTEX_UNK_F0);
	asahi_run_add_register(fw, 0x1c920, asahi_vertex_cluster_va(args, layout->cluster_meta[0]));
}

static void asahi_vertex_build_tiling_registers(struct asahi_fw_register_array *fw,
						const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;
	const struct asahi_scene_layout *layout = &args->command->scene;

	asahi_run_add_register(fw, 0x10151, 0);
	asahi_run_add_register(fw, 0x1c199, 0);
	asahi_run_add_register(fw, 0x1c1a1, 0);
	asahi_run_add_register(fw, 0x1c1a9, 0);
	asahi_run_add_register(fw, 0x1c1b1, 0);
	asahi_run_add_register(fw, 0x1c1b9, 0);
	asahi_run_add_register(fw, 0x10061, args->usc_exec_base);
	asahi_run_add_register(fw, 0x11801, cmd->vertex_helper.binary);
	asahi_run_add_register(fw, 0x11809, cmd->vertex_helper.data);
	asahi_run_add_register(fw, 0x11f71, cmd->vertex_helper.cfg);
	asahi_run_add_register(fw, 0x1c0b1, layout->region_words);
	asahi_run_add_register(fw, 0x1c850, layout->region_words);
	asahi_run_add_register(fw, 0x10131, ASAHI_VERTEX_UNK_TILING_4);
	asahi_run_add_register(fw, 0x10121, cmd->ppp_ctrl);
	asahi_run_add_register(fw, 0x10129, (u32)(cmd->width_px - 1) | (cmd->height_px - 1) << 16);
	asahi_run_add_register(fw, 0x101b9, asahi_vertex_te_screen(layout));
	asahi_run_add_register(fw, 0x1c069, asahi_vertex_te_mtile(layout->mtile_x));
	asahi_run_add_register(fw, 0x1c071, asahi_vertex_te_mtile(layout->mtile_y));
	asahi_run_add_register(fw, 0x1c081, layout->mtile_tiles);
	asahi_run_add_register(fw, 0x1c0a9, layout->tpc_words);
	asahi_run_add_register(fw, 0x10171, ASAHI_VERTEX_UNK_TILING_24);
	asahi_run_add_register(fw, 0x10169, asahi_vertex_layers(layout));
	asahi_run_add_register(fw, 0x12099, ASAHI_VERTEX_UNK_118);
	asahi_run_add_register(fw, 0x1c9e8, asahi_vertex_layers(layout) & 0x4fff);
}

static void asahi_vertex_build_registers(struct asahi_fw_register_array *fw,
					 const struct asahi_work_args *args)
{
	u64 run_va = args->work->run_va;

	fw->addr = cpu_to_le64(run_va + offsetof(struct asahi_fw_run_vertex, registers));
	asahi_vertex_build_memory_registers(fw, args);
	asahi_vertex_build_cluster_registers(fw, args);
	asahi_vertex_build_tiling_registers(fw, args);
}
#endif

#define ASAHI_VERTEX_MICROSEQ_SIZE (ASAHI_MICROSEQ_COMMON +			\
				    sizeof(struct asahi_fw_start_vertex) +	\
				    sizeof(struct asahi_fw_finalize_vertex))

static u64 asahi_vertex_run_va(const struct asahi_work_args *args, size_t offset)
{
	return args->work->run_va + offset;
}

#define ASAHI_VERTEX_VA(args, member)						\
	cpu_to_le64(asahi_vertex_run_va(args, offsetof(struct asahi_fw_run_vertex, member)))

static void asahi_vertex_start(struct asahi_microseq *seq, const struct asahi_work_args *args)
{
	struct asahi_fw_start_vertex *op;

	seq->start = seq->used;
	op = asahi_microseq_append(seq, sizeof(*op));

	op->header = cpu_to_le32(ASAHI_FW_OP_START_VERTEX);
#if ASAHI_ABI_GEN < ASAHI_G14X
	op->tiling_params = ASAHI_VERTEX_VA(args, tiling_params);
	op->job_params1 = ASAHI_VERTEX_VA(args, job_params1);
#else
	op->registers = ASAHI_VERTEX_VA(args, registers);
#endif
	op->buffer = cpu_to_le64(args->buffer_info_va);
	op->scene = cpu_to_le64(args->scene->va);
	op->stats = cpu_to_le64(args->stats_va);
	op->work_queue = cpu_to_le64(args->queue_info_va);
	op->unk_38 = cpu_to_le32(1);
	op->event_generation = cpu_to_le32(args->queue_id);
	op->unk_pointer = ASAHI_VERTEX_VA(args, unk_pointee);
	op->unk_job_buf = ASAHI_VERTEX_VA(args, unk_buf);
	asahi_attachments_fill(&op->attachments, args->attachments);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	op->notifier_buf = cpu_to_le64(args->notifier_va +
				       offsetof(struct asahi_fw_notifier, state.unk_buf));
	op->unk_178 = cpu_to_le32(!args->command->scene.clustering);
#endif
}

static void asahi_vertex_finalize(struct asahi_microseq *seq,
				  const struct asahi_work_args *args)
{
	struct asahi_fw_finalize_vertex *op;

	seq->finalize = seq->used;
	op = asahi_microseq_append(seq, sizeof(*op));

	op->header = cpu_to_le32(ASAHI_FW_OP_FINALIZE_VERTEX);
	op->scene = cpu_to_le64(args->scene->va);
	op->buffer = cpu_to_le64(args->buffer_info_va);
	op->stats = cpu_to_le64(args->stats_va);
	op->work_queue = cpu_to_le64(args->queue_info_va);
	op->unk_pointer = ASAHI_VERTEX_VA(args, unk_pointee);
	op->restart_branch_offset = asahi_microseq_restart(seq);
	op->has_attachments = cpu_to_le32(!!args->attachments->told);
}

static void asahi_vertex_build_microseq(const struct asahi_work_args *args)
{
	struct asahi_microseq *seq = &args->work->microseq;
	const struct asahi_microseq_times times = {
		.command_time = asahi_vertex_run_va(args,
				offsetof(struct asahi_fw_run_vertex, command_time)),
		.pointers = asahi_vertex_run_va(args,
				offsetof(struct asahi_fw_run_vertex, timestamp_pointers)),
		.user_pointers = asahi_vertex_run_va(args,
				offsetof(struct asahi_fw_run_vertex, user_timestamp_pointers)),
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
		.unk_ts = asahi_vertex_run_va(args, offsetof(struct asahi_fw_run_vertex, unk_ts)),
#endif
		.work_queue = args->queue_info_va,
	};

	asahi_vertex_start(seq, args);
	asahi_microseq_timestamp(seq, true, &times);
	asahi_microseq_wait(seq, ASAHI_FW_WAIT_VERTEX);
	asahi_microseq_timestamp(seq, false, &times);
	asahi_vertex_finalize(seq, args);
	asahi_microseq_retire(seq);
}

static void asahi_vertex_build(const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;
	const struct asahi_scene_layout *layout = &args->command->scene;
	const struct asahi_work *work = args->work;
	struct asahi_fw_run_vertex *fw = work->run;

	asahi_vertex_build_microseq(args);

	fw->tag = cpu_to_le32(ASAHI_FW_CMD_RUN_VERTEX);
	fw->notifier = cpu_to_le64(args->notifier_va);
	fw->buffer = cpu_to_le64(args->buffer_info_va);
	fw->scene = cpu_to_le64(args->scene->va);
	fw->unk_buffer_buf = cpu_to_le64(args->kernel_buffer_va);
#if ASAHI_ABI_GEN < ASAHI_G14X
	asahi_vertex_build_params1(&fw->job_params1, args);
	asahi_vertex_build_tiling(&fw->tiling_params, args);
#else
	asahi_vertex_build_registers(&fw->registers, args);
#endif
	fw->tpc = cpu_to_le64(args->scene->tpc_va);
	fw->tpc_size = cpu_to_le64(layout->tpc_size);
	fw->microsequence = cpu_to_le64(work->microseq.va);
	fw->microsequence_size = cpu_to_le32(work->microseq.used);
	fw->job_params2.preempt_buf1 =
		cpu_to_le64(asahi_vertex_scene_va(args, layout->preempt[0]));
	asahi_run_build_encoder(&fw->encoder_params, cmd->sampler_heap, cmd->sampler_count);
	fw->uses_scratch = cpu_to_le32(!!(cmd->flags & DRM_ASAHI_RENDER_VERTEX_SCRATCH));
	asahi_run_build_times(&fw->timestamp_pointers, &fw->user_timestamp_pointers, work);
	fw->client_sequence = args->queue_id;
}

static void asahi_vertex_patch(struct asahi_work *work,
			       const struct asahi_patch patch[AGX_PIPE_COUNT])
{
	const struct asahi_patch *own = &patch[AGX_PIPE_VERTEX];
	struct asahi_fw_run_vertex *fw = work->run;
	struct asahi_fw_start_vertex *start = work->microseq.map + work->microseq.start;
	struct asahi_fw_finalize_vertex *finalize = work->microseq.map + work->microseq.finalize;

	fw->vm_slot = cpu_to_le32(own->vm_slot);
	fw->buffer_slot = cpu_to_le32(own->buffer_slot);
	fw->fragment_stamp_slot = cpu_to_le32(patch[AGX_PIPE_FRAGMENT].event_slot);
	fw->fragment_stamp_value = cpu_to_le32(patch[AGX_PIPE_FRAGMENT].stamp);
	asahi_run_patch_meta(&fw->meta, own);
	start->vm_slot = cpu_to_le32(own->vm_slot);
	start->buffer_slot = cpu_to_le32(own->buffer_slot);
	start->event_seq = cpu_to_le64(own->event_seq);
	finalize->vm_slot = cpu_to_le32(own->vm_slot);
	finalize->fw_stamp = cpu_to_le64(own->fw_stamp_va);
	finalize->stamp_value = cpu_to_le32(own->stamp);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	fw->counter = cpu_to_le64(own->counter);
	start->counter = cpu_to_le64(own->counter);
#endif
}
