/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The fragment half of render commands. Compiled once for each version of the
 * firmware's interface, see asahi_abi.h.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/build_bug.h>
#include <linux/stddef.h>

#include "asahi_fw_event.h"
#include "asahi_fw_fragment.h"
#include "asahi_fw_workqueue.h"
#include "asahi_knobs.h"
#include "asahi_layout_tmpl.h"
#include "asahi_render.h"
#include "asahi_scene.h"
#include "asahi_work.h"

ASAHI_ASSERT_SIZE(asahi_fw_fragment_params2, 0xf0, 0xf0, 0xf0);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params2, utiles_per_mtile_y, 0x20, 0x20, 0x20);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params2, helper_cfg, 0x40, 0x40, 0x40);

ASAHI_ASSERT_SIZE(asahi_fw_run_fragment, 0x930, 0x96c, 0xc44);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, vm_slot, 0x4, 0xc, 0xc);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, microsequence, 0xc, 0x14, 0x14);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, notifier, 0x18, 0x20, 0x20);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, scene, 0x28, 0x30, 0x30);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, tvb_tilemap, 0x38, 0x40, 0x40);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, samples, 0x48, 0x50, 0x50);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, tiles_per_mtile_y, 0x4c, 0x54, 0x54);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, isp_merge_upper_x, 0x60, 0x68, 0x68);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, tile_count, 0x70, 0x78, 0x78);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, job_params3, 0x4b0, 0x4b8, 0x790);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, unk_758_flag, 0x758, 0x770, 0xa48);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, busy_flag, 0x870, 0x888, 0xb60);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, tvb_overflow_count, 0x874, 0x88c, 0xb64);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, encoder_params, 0x87c, 0x894, 0xb6c);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, process_empty_tiles, 0x8a4, 0x8bc, 0xb94);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, unk_pointee, 0x8b0, 0x8c8, 0xba0);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, meta, 0x8b4, 0x8d0, 0xba8);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, unk_buf, 0x8e4, 0x900, 0xbd8);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, command_time, 0x8fc, 0x918, 0xbf0);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, timestamp_pointers, 0x904, 0x920, 0xbf8);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, user_timestamp_pointers, 0x914, 0x930, 0xc08);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, client_sequence, 0x924, 0x940, 0xc18);

ASAHI_ASSERT_SIZE(asahi_fw_fragment_params3, 0x2a8, 0x2b8, 0x2b8);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params3, isp_scissor_base, 0x10, 0x10, 0x10);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params3, unk_partial_bg, 0x158, 0x158, 0x158);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params3, partial_bg, 0x188, 0x188, 0x188);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params3, z_load, 0x1a8, 0x1a8, 0x1a8);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params3, s_load, 0x1d8, 0x1d8, 0x1d8);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params3, tib_blocks, 0x218, 0x218, 0x218);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params3, tile_config, 0x230, 0x238, 0x238);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params3, partial_eot.rsrc_spec, 0x26c, 0x274, 0x274);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params3, isp_bgobjdepth, 0x280, 0x288, 0x288);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params3, isp_zls_pixels, 0x2a0, 0x2b0, 0x2b0);

#if ASAHI_ABI_VERSION >= ASAHI_V13_5
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, counter, 0, 0x4, 0x4);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, unk_ts, 0, 0x949, 0xc21);
#endif

#if ASAHI_ABI_GEN < ASAHI_G14X
ASAHI_ASSERT_SIZE(asahi_fw_fragment_params1, 0x348, 0x348, 0x348);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params1, isp_zls_pixels, 0x40, 0x48, 0x48);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, job_params1, 0x78, 0x80, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, job_params2, 0x3c0, 0x3c8, 0);
#else
ASAHI_ASSERT_OFFSET(asahi_fw_run_fragment, registers, 0, 0, 0x80);
#endif

#if ASAHI_ABI_GEN == ASAHI_G13
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params1, z_load, 0x58, 0x60, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params1, tvb_tilemap, 0xd8, 0xe0, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params1, usc_exec_base_isp, 0x138, 0x140, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params1, unk_158, 0x158, 0x160, 0);
#elif ASAHI_ABI_GEN == ASAHI_G14G
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params1, z_load, 0x68, 0x70, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params1, tvb_tilemap, 0x108, 0x110, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params1, usc_exec_base_isp, 0x168, 0x170, 0);
ASAHI_ASSERT_OFFSET(asahi_fw_fragment_params1, unk_158, 0x188, 0x190, 0);
#endif

/* Nobody knows what these are. */
#define ASAHI_FRAGMENT_UNK_AUX_FB	0x100000
#define ASAHI_FRAGMENT_UNK_158		0x1c
#if ASAHI_ABI_GEN >= ASAHI_G14G
#define ASAHI_FRAGMENT_UNK_G14		0x4040404
#else
#define ASAHI_FRAGMENT_UNK_G14		0
#endif

static u64 asahi_fragment_scene_va(const struct asahi_work_args *args, u64 offset)
{
	return args->scene->memory_va + offset;
}

static u64 asahi_fragment_run_va(const struct asahi_work_args *args, size_t offset)
{
	return args->work->run_va + offset;
}

static u32 asahi_fragment_isp_ctl(const struct drm_asahi_cmd_render *cmd)
{
	return 0xc000 | (cmd->flags & DRM_ASAHI_RENDER_DBIAS_IS_INT);
}

static u64 asahi_fragment_tile_config(const struct drm_asahi_cmd_render *cmd)
{
	bool empty = cmd->flags & DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES;

	return 0x280 | (cmd->layers > 1) | (empty ? 0x10000 : 0);
}

/* Bytes of the tilemap for each macrotile. */
static u64 asahi_fragment_mtile_stride(const struct asahi_scene_layout *layout)
{
	return (u64)layout->region_words * sizeof(u32) << 24;
}

static u32 asahi_fragment_te_screen(const struct asahi_scene_layout *layout)
{
	return (layout->tiles_y - 1) << 12 | (layout->tiles_x - 1);
}

#if ASAHI_ABI_GEN < ASAHI_G14X
static void asahi_fragment_build_zls(struct asahi_fw_fragment_params1 *fw,
				     const struct drm_asahi_cmd_render *cmd)
{
	fw->isp_zls_pixels = cpu_to_le64(cmd->isp_zls_pixels);
	fw->zls_ctrl = cpu_to_le64(cmd->zls_ctrl);
	fw->z_load = cpu_to_le64(cmd->depth.base);
	fw->z_store = cpu_to_le64(cmd->depth.base);
	fw->s_load = cpu_to_le64(cmd->stencil.base);
	fw->s_store = cpu_to_le64(cmd->stencil.base);
	fw->z_load_stride = cpu_to_le64(cmd->depth.stride);
	fw->z_store_stride = cpu_to_le64(cmd->depth.stride);
	fw->s_load_stride = cpu_to_le64(cmd->stencil.stride);
	fw->s_store_stride = cpu_to_le64(cmd->stencil.stride);
	fw->z_load_comp = cpu_to_le64(cmd->depth.comp_base);
	fw->z_load_comp_stride = cpu_to_le64(cmd->depth.comp_stride);
	fw->z_store_comp = cpu_to_le64(cmd->depth.comp_base);
	fw->z_store_comp_stride = cpu_to_le64(cmd->depth.comp_stride);
	fw->s_load_comp = cpu_to_le64(cmd->stencil.comp_base);
	fw->s_load_comp_stride = cpu_to_le64(cmd->stencil.comp_stride);
	fw->s_store_comp = cpu_to_le64(cmd->stencil.comp_base);
	fw->s_store_comp_stride = cpu_to_le64(cmd->stencil.comp_stride);
}
#endif

static void asahi_fragment_build_aux_fb(struct asahi_fw_aux_fb_info *fw,
					const struct drm_asahi_cmd_render *cmd)
{
	fw->isp_ctl = cpu_to_le32(asahi_fragment_isp_ctl(cmd));
	fw->width = cpu_to_le32(cmd->width_px);
	fw->height = cpu_to_le32(cmd->height_px);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	fw->unk_10 = cpu_to_le64(ASAHI_FRAGMENT_UNK_AUX_FB);
#endif
}

#if ASAHI_ABI_GEN < ASAHI_G14X
static void asahi_fragment_build_params1(struct asahi_fw_fragment_params1 *fw,
					 const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;
	const struct asahi_scene_layout *layout = &args->command->scene;

	fw->utile_config = cpu_to_le32(layout->utile_config);
	fw->bg.rsrc_spec = cpu_to_le64(cmd->bg.rsrc_spec);
	fw->bg.address = cpu_to_le64(cmd->bg.usc);
	fw->ppp_multisamplectl = cpu_to_le64(cmd->ppp_multisamplectl);
	fw->isp_scissor_base = cpu_to_le64(cmd->isp_scissor_base);
	fw->isp_dbias_base = cpu_to_le64(cmd->isp_dbias_base);
	fw->isp_oclqry_base = cpu_to_le64(cmd->isp_oclqry_base);
	asahi_fragment_build_aux_fb(&fw->aux_fb_info, cmd);
	asahi_fragment_build_zls(fw, cmd);
#if ASAHI_ABI_GEN >= ASAHI_G14G
	fw->unk_58_g14_0 = cpu_to_le64(ASAHI_FRAGMENT_UNK_G14);
#endif
	fw->tvb_tilemap = cpu_to_le64(asahi_fragment_scene_va(args, layout->tilemap));
	fw->tvb_layermeta = cpu_to_le64(asahi_fragment_scene_va(args, layout->layermeta));
	fw->mtile_stride = cpu_to_le64(asahi_fragment_mtile_stride(layout));
	fw->tvb_heapmeta = cpu_to_le64(asahi_fragment_scene_va(args, layout->heapmeta));
	fw->tile_config = cpu_to_le64(asahi_fragment_tile_config(cmd));
	fw->aux_fb = cpu_to_le64(asahi_fragment_scene_va(args, layout->aux_fb));
	fw->usc_exec_base_isp = cpu_to_le64(args->usc_exec_base);
	fw->unk_140 = cpu_to_le64(0x8c60);
	fw->helper_program = cpu_to_le32(cmd->fragment_helper.binary);
	fw->helper_arg = cpu_to_le64(cmd->fragment_helper.data);
	fw->unk_158 = cpu_to_le64(ASAHI_FRAGMENT_UNK_158);
}

static void asahi_fragment_build_params2(struct asahi_fw_fragment_params2 *fw,
					 const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;
	const struct asahi_scene_layout *layout = &args->command->scene;
	u32 bgobjvals = cmd->isp_bgobjvals;

#if ASAHI_ABI_GEN < ASAHI_G14G
	bgobjvals |= 0x400;
#endif
	fw->eot_rsrc_spec = cpu_to_le32(cmd->eot.rsrc_spec);
	fw->eot_usc = cpu_to_le32(cmd->eot.usc);
	fw->isp_merge_upper_x = cpu_to_le32(cmd->isp_merge_upper_x);
	fw->isp_merge_upper_y = cpu_to_le32(cmd->isp_merge_upper_y);
	fw->utiles_per_mtile_y = cpu_to_le16(layout->mtile_utiles_y);
	fw->utiles_per_mtile_x = cpu_to_le16(layout->mtile_utiles_x);
	fw->tile_counts = cpu_to_le32(asahi_fragment_te_screen(layout));
	fw->tib_blocks = cpu_to_le32(layout->tib_blocks);
	fw->isp_bgobjdepth = cpu_to_le32(cmd->isp_bgobjdepth);
	fw->isp_bgobjvals = cpu_to_le32(bgobjvals);
	fw->unk_3c = cpu_to_le32(1);
	fw->helper_cfg = cpu_to_le32(cmd->fragment_helper.cfg);
}
#else
static void asahi_fragment_build_isp_registers(struct asahi_fw_register_array *fw,
					       const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;
	const struct asahi_scene_layout *layout = &args->command->scene;
	u32 mtile = layout->mtile_utiles_y | layout->mtile_utiles_x << 16;

	asahi_run_add_register(fw, 0x1739, 1);
	asahi_run_add_register(fw, 0x10009, layout->utile_config);
	asahi_run_add_register(fw, 0x15379, cmd->eot.rsrc_spec);
	asahi_run_add_register(fw, 0x15381, cmd->eot.usc);
	asahi_run_add_register(fw, 0x15369, cmd->bg.rsrc_spec);
	asahi_run_add_register(fw, 0x15371, cmd->bg.usc);
	asahi_run_add_register(fw, 0x15131, cmd->isp_merge_upper_x);
	asahi_run_add_register(fw, 0x15139, cmd->isp_merge_upper_y);
	asahi_run_add_register(fw, 0x100a1, 0);
	asahi_run_add_register(fw, 0x15069, 0);
	asahi_run_add_register(fw, 0x15071, 0);
	asahi_run_add_register(fw, 0x16058, 0);
	asahi_run_add_register(fw, 0x10019, cmd->ppp_multisamplectl);
	asahi_run_add_register(fw, 0x100b1, mtile);
	asahi_run_add_register(fw, 0x16030, mtile);
	asahi_run_add_register(fw, 0x100d9, asahi_fragment_te_screen(layout));
	asahi_run_add_register(fw, 0x16098, asahi_fragment_scene_va(args, layout->heapmeta));
	asahi_run_add_register(fw, 0x15109, cmd->isp_scissor_base);
	asahi_run_add_register(fw, 0x15101, cmd->isp_dbias_base);
	asahi_run_add_register(fw, 0x15021, asahi_fragment_isp_ctl(cmd));
	asahi_run_add_register(fw, 0x15211, (u64)cmd->height_px << 32 | cmd->width_px);
	asahi_run_add_register(fw, 0x15049, ASAHI_FRAGMENT_UNK_AUX_FB);
	asahi_run_add_register(fw, 0x10051, layout->tib_blocks);
}

static void asahi_fragment_build_zls_registers(struct asahi_fw_register_array *fw,
					       const struct drm_asahi_cmd_render *cmd)
{
	asahi_run_add_register(fw, 0x15321, cmd->isp_zls_pixels);
	asahi_run_add_register(fw, 0x15301, cmd->isp_bgobjdepth);
	asahi_run_add_register(fw, 0x15309, cmd->isp_bgobjvals);
	asahi_run_add_register(fw, 0x15311, cmd->isp_oclqry_base);
	asahi_run_add_register(fw, 0x15319, cmd->zls_ctrl);
	asahi_run_add_register(fw, 0x15349, ASAHI_FRAGMENT_UNK_G14);
	asahi_run_add_register(fw, 0x15351, 0);
	asahi_run_add_register(fw, 0x15329, cmd->depth.base);
	asahi_run_add_register(fw, 0x15331, cmd->depth.base);
	asahi_run_add_register(fw, 0x15339, cmd->stencil.base);
	asahi_run_add_register(fw, 0x15341, cmd->stencil.base);
	asahi_run_add_register(fw, 0x15231, 0);
	asahi_run_add_register(fw, 0x15221, 0);
	asahi_run_add_register(fw, 0x15239, 0);
	asahi_run_add_register(fw, 0x15229, 0);
	asahi_run_add_register(fw, 0x15401, cmd->depth.stride);
	asahi_run_add_register(fw, 0x15421, cmd->depth.stride);
	asahi_run_add_register(fw, 0x15409, cmd->stencil.stride);
	asahi_run_add_register(fw, 0x15429, cmd->stencil.stride);
	asahi_run_add_register(fw, 0x153c1, cmd->depth.comp_base);
	asahi_run_add_register(fw, 0x15411, cmd->depth.comp_stride);
	asahi_run_add_register(fw, 0x153c9, cmd->depth.comp_base);
	asahi_run_add_register(fw, 0x15431, cmd->depth.comp_stride);
	asahi_run_add_register(fw, 0x153d1, cmd->stencil.comp_base);
	asahi_run_add_register(fw, 0x15419, cmd->stencil.comp_stride);
	asahi_run_add_register(fw, 0x153d9, cmd->stencil.comp_base);
	asahi_run_add_register(fw, 0x15439, cmd->stencil.comp_stride);
}

static void asahi_fragment_build_tile_registers(struct asahi_fw_register_array *fw,
						const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;
	const struct asahi_scene_layout *layout = &args->command->scene;
	u64 aux_fb = asahi_fragment_scene_va(args, layout->aux_fb);
	u64 tiles = 0x2000036011ULL | (u64)(layout->layers > 1) << 32 |
		    (u64)(layout->tiles_x - 1) << 44 | (u64)(layout->tiles_y - 1) << 53 |
		    (u64)(layout->utile_config & 0xf000) << 28;

	asahi_run_add_register(fw, 0x16429, asahi_fragment_scene_va(args, layout->tilemap));
	asahi_run_add_register(fw, 0x16060, asahi_fragment_scene_va(args, layout->layermeta));
	asahi_run_add_register(fw, 0x16431, asahi_fragment_mtile_stride(layout));
	asahi_run_add_register(fw, 0x10039, asahi_fragment_tile_config(cmd));
	asahi_run_add_register(fw, 0x16451, 0);
	asahi_run_add_register(fw, 0x11821, cmd->fragment_helper.binary);
	asahi_run_add_register(fw, 0x11829, cmd->fragment_helper.data);
	asahi_run_add_register(fw, 0x11f79, cmd->fragment_helper.cfg);
	asahi_run_add_register(fw, 0x15359, 0);
	asahi_run_add_register(fw, 0x10069, args->usc_exec_base);
	asahi_run_add_register(fw, 0x16020, 0);
	asahi_run_add_register(fw, 0x16461, aux_fb);
	asahi_run_add_register(fw, 0x16090, aux_fb);
	asahi_run_add_register(fw, 0x120a1, ASAHI_FRAGMENT_UNK_158);
	asahi_run_add_register(fw, 0x160a8, 0);
	asahi_run_add_register(fw, 0x16068, tiles);
	asahi_run_add_register(fw, 0x160b8, 0);
}

static void asahi_fragment_build_registers(struct asahi_fw_register_array *fw,
					   const struct asahi_work_args *args)
{
	u64 run_va = args->work->run_va;

	fw->addr = cpu_to_le64(run_va + offsetof(struct asahi_fw_run_fragment, registers));
	asahi_fragment_build_isp_registers(fw, args);
	asahi_fragment_build_zls_registers(fw, &args->command->render);
	asahi_fragment_build_tile_registers(fw, args);
}
#endif

static void asahi_fragment_build_partial_zls(struct asahi_fw_fragment_params3 *fw,
					     const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;

	fw->zls_ctrl = cpu_to_le64(cmd->zls_ctrl);
	fw->unk_290 = cpu_to_le64(asahi_knob(args->knobs, ASAHI_KNOB_UNK_290,
					     ASAHI_FRAGMENT_UNK_G14));
	fw->z_load = cpu_to_le64(cmd->depth.base);
	fw->z_partial_stride = cpu_to_le64(cmd->depth.stride);
	fw->z_partial_comp_stride = cpu_to_le64(cmd->depth.comp_stride);
	fw->z_store = cpu_to_le64(cmd->depth.base);
	fw->z_partial = cpu_to_le64(cmd->depth.base);
	fw->z_partial_comp = cpu_to_le64(cmd->depth.comp_base);
	fw->s_load = cpu_to_le64(cmd->stencil.base);
	fw->s_partial_stride = cpu_to_le64(cmd->stencil.stride);
	fw->s_partial_comp_stride = cpu_to_le64(cmd->stencil.comp_stride);
	fw->s_store = cpu_to_le64(cmd->stencil.base);
	fw->s_partial = cpu_to_le64(cmd->stencil.base);
	fw->s_partial_comp = cpu_to_le64(cmd->stencil.comp_base);
	fw->isp_zls_pixels = cpu_to_le64(cmd->isp_zls_pixels);
}

static void asahi_fragment_build_params3(struct asahi_fw_fragment_params3 *fw,
					 const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;

	fw->isp_dbias_base.ptr = cpu_to_le64(cmd->isp_dbias_base);
	fw->isp_scissor_base.ptr = cpu_to_le64(cmd->isp_scissor_base);
	fw->isp_oclqry_base = cpu_to_le64(cmd->isp_oclqry_base);
	fw->unk_partial_bg.rsrc_spec = cpu_to_le64(cmd->partial_bg.rsrc_spec);
	fw->unk_partial_bg.address = cpu_to_le64(cmd->partial_bg.usc);
	fw->partial_bg = fw->unk_partial_bg;
	asahi_fragment_build_partial_zls(fw, args);
	fw->tib_blocks = cpu_to_le32(args->command->scene.tib_blocks);
	asahi_fragment_build_aux_fb(&fw->aux_fb_info, cmd);
	fw->tile_config = cpu_to_le64(asahi_fragment_tile_config(cmd));
	fw->unk_partial_eot.rsrc_spec = cpu_to_le32(cmd->partial_eot.rsrc_spec);
	fw->unk_partial_eot.address = cpu_to_le32(cmd->partial_eot.usc);
	fw->partial_eot = fw->unk_partial_eot;
	fw->isp_bgobjdepth = cpu_to_le32(cmd->isp_bgobjdepth);
	fw->isp_bgobjvals = cpu_to_le32(cmd->isp_bgobjvals);
	fw->sample_size = cpu_to_le32(cmd->sample_size_B);
}

#define ASAHI_FRAGMENT_MICROSEQ_SIZE (ASAHI_MICROSEQ_COMMON +			\
				      sizeof(struct asahi_fw_start_fragment) +	\
				      sizeof(struct asahi_fw_finalize_fragment))

#define ASAHI_FRAGMENT_VA(args, member)						\
	cpu_to_le64(asahi_fragment_run_va(args, offsetof(struct asahi_fw_run_fragment, member)))

static void asahi_fragment_start(struct asahi_microseq *seq, const struct asahi_work_args *args)
{
	struct asahi_fw_start_fragment *op;

	seq->start = seq->used;
	op = asahi_microseq_append(seq, sizeof(*op));

	op->header = cpu_to_le32(ASAHI_FW_OP_START_FRAGMENT);
#if ASAHI_ABI_GEN < ASAHI_G14X
	op->job_params2 = ASAHI_FRAGMENT_VA(args, job_params2);
	op->job_params1 = ASAHI_FRAGMENT_VA(args, job_params1);
#else
	op->registers = ASAHI_FRAGMENT_VA(args, registers);
#endif
	op->scene = cpu_to_le64(args->scene->va);
	op->stats = cpu_to_le64(args->stats_va);
	op->busy_flag = ASAHI_FRAGMENT_VA(args, busy_flag);
	op->tvb_overflow_count = ASAHI_FRAGMENT_VA(args, tvb_overflow_count);
	op->unk_pointer = ASAHI_FRAGMENT_VA(args, unk_pointee);
	op->work_queue = cpu_to_le64(args->queue_info_va);
	op->work_item = cpu_to_le64(args->work->run_va);
	op->unk_50 = cpu_to_le32(1);
	op->event_generation = cpu_to_le32(args->queue_id);
	op->unk_758_flag = ASAHI_FRAGMENT_VA(args, unk_758_flag);
	op->unk_job_buf = ASAHI_FRAGMENT_VA(args, unk_buf);
	asahi_attachments_fill(&op->attachments, args->attachments);
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
	op->notifier_buf = cpu_to_le64(args->notifier_va +
				       offsetof(struct asahi_fw_notifier, state.unk_buf));
#endif
}

static void asahi_fragment_finalize(struct asahi_microseq *seq,
				    const struct asahi_work_args *args)
{
	struct asahi_fw_finalize_fragment *op;

	seq->finalize = seq->used;
	op = asahi_microseq_append(seq, sizeof(*op));

	op->header = cpu_to_le32(ASAHI_FW_OP_FINALIZE_FRAGMENT);
	op->scene = cpu_to_le64(args->scene->va);
	op->buffer = cpu_to_le64(args->buffer_info_va);
	op->unk_2c = cpu_to_le64(1);
	op->stats = cpu_to_le64(args->stats_va);
	op->unk_pointer = ASAHI_FRAGMENT_VA(args, unk_pointee);
	op->busy_flag = ASAHI_FRAGMENT_VA(args, busy_flag);
	op->work_queue = cpu_to_le64(args->queue_info_va);
	op->work_item = cpu_to_le64(args->work->run_va);
	op->unk_758_flag = ASAHI_FRAGMENT_VA(args, unk_758_flag);
	op->restart_branch_offset = asahi_microseq_restart(seq);
	op->has_attachments = cpu_to_le32(!!args->attachments->told);
}

static void asahi_fragment_build_microseq(const struct asahi_work_args *args)
{
	struct asahi_microseq *seq = &args->work->microseq;
	const struct asahi_microseq_times times = {
		.command_time = asahi_fragment_run_va(args,
				offsetof(struct asahi_fw_run_fragment, command_time)),
		.pointers = asahi_fragment_run_va(args,
				offsetof(struct asahi_fw_run_fragment, timestamp_pointers)),
		.user_pointers = asahi_fragment_run_va(args,
				offsetof(struct asahi_fw_run_fragment, user_timestamp_pointers)),
#if ASAHI_ABI_VERSION >= ASAHI_V13_5
		.unk_ts = asahi_fragment_run_va(args,
				offsetof(struct asahi_fw_run_fragment, unk_ts)),
#endif
		.work_queue = args->queue_info_va,
	};

	asahi_fragment_start(seq, args);
	asahi_microseq_timestamp(seq, true, &times);
	asahi_microseq_wait(seq, ASAHI_FW_WAIT_FRAGMENT);
	asahi_microseq_timestamp(seq, false, &times);
	asahi_fragment_finalize(seq, args);
	asahi_microseq_retire(seq);
}

static void asahi_fragment_build_run(struct asahi_fw_run_fragment *fw,
				     const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;
	const struct asahi_scene_layout *layout = &args->command->scene;

	fw->tag = cpu_to_le32(ASAHI_FW_CMD_RUN_FRAGMENT);
	fw->microsequence = cpu_to_le64(args->work->microseq.va);
	fw->microsequence_size = cpu_to_le32(args->work->microseq.used);
	fw->notifier = cpu_to_le64(args->notifier_va);
	fw->buffer = cpu_to_le64(args->buffer_info_va);
	fw->scene = cpu_to_le64(args->scene->va);
	fw->unk_buffer_buf = cpu_to_le64(args->kernel_buffer_va);
	fw->tvb_tilemap = cpu_to_le64(asahi_fragment_scene_va(args, layout->tilemap));
	fw->ppp_multisamplectl = cpu_to_le64(cmd->ppp_multisamplectl);
	fw->samples = cpu_to_le32(cmd->samples);
	fw->tiles_per_mtile_y = cpu_to_le16(layout->mtile_y);
	fw->tiles_per_mtile_x = cpu_to_le16(layout->mtile_x);
	fw->isp_merge_upper_x = cpu_to_le32(cmd->isp_merge_upper_x);
	fw->isp_merge_upper_y = cpu_to_le32(cmd->isp_merge_upper_y);
	fw->tile_count = cpu_to_le64((u64)layout->tiles_x * layout->tiles_y);
#if ASAHI_ABI_GEN < ASAHI_G14X
	asahi_fragment_build_params1(&fw->job_params1, args);
	asahi_fragment_build_params2(&fw->job_params2, args);
	fw->unk_buf[2] = cpu_to_le64(1);
#else
	asahi_fragment_build_registers(&fw->registers, args);
#endif
}

static void asahi_fragment_build(const struct asahi_work_args *args)
{
	const struct drm_asahi_cmd_render *cmd = &args->command->render;
	struct asahi_fw_run_fragment *fw = args->work->run;

	asahi_fragment_build_microseq(args);
	asahi_fragment_build_run(fw, args);
	asahi_fragment_build_params3(&fw->job_params3, args);
	asahi_run_build_encoder(&fw->encoder_params, cmd->sampler_heap, cmd->sampler_count);
	fw->process_empty_tiles =
		cpu_to_le32(!!(cmd->flags & DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES));
	fw->no_clear_pipeline_textures = cpu_to_le32(1);
	asahi_run_build_times(&fw->timestamp_pointers, &fw->user_timestamp_pointers, args->work);
	fw->client_sequence = args->queue_id;
}

static void asahi_fragment_patch(struct asahi_work *work,
				 const struct asahi_patch patch[AGX_PIPE_COUNT])
{
	const struct asahi_patch *own = &patch[AGX_PIPE_FRAGMENT];
	struct asahi_fw_run_fragment *fw = work->run;
	struct asahi_fw_start_fragment *start = work->microseq.map + work->microseq.start;
	struct asahi_fw_finalize_fragment *finalize =
		work->microseq.map + work->microseq.finalize;

	fw->vm_slot = cpu_to_le32(own->vm_slot);
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
