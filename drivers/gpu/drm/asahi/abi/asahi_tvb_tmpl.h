/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Tiled vertex buffers and scenes. Compiled once for each version of the
 * firmware's interface, see asahi_abi.h.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/build_bug.h>
#include <linux/stddef.h>

#include <drm/drm_print.h>

#include "asahi_fw_buffer.h"
#include "asahi_layout_tmpl.h"
#include "asahi_scene.h"
#include "asahi_tvb.h"

ASAHI_ASSERT_SIZE(asahi_fw_block_control, 0x40, 0x40, 0x40);
ASAHI_ASSERT_SIZE(asahi_fw_buffer_counter, 0x40, 0x40, 0x40);
ASAHI_ASSERT_SIZE(asahi_fw_buffer_stats, 0x40, 0x40, 0x40);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_stats, reset, 0x20, 0x20, 0x20);
ASAHI_ASSERT_SIZE(asahi_fw_block, 0x8, 0x8, 0x8);
ASAHI_ASSERT_SIZE(asahi_fw_init_buffer, 0x20, 0x20, 0x20);
ASAHI_ASSERT_OFFSET(asahi_fw_init_buffer, buffer, 0x14, 0x14, 0x14);
ASAHI_ASSERT_OFFSET(asahi_fw_init_buffer, stamp_value, 0x1c, 0x1c, 0x1c);

ASAHI_ASSERT_SIZE(asahi_fw_buffer_info, 0xc0, 0xbc, 0xc0);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_info, cur_id, 0xc, 0xc, 0xc);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_info, page_list, 0x20, 0x1c, 0x20);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_info, page_count, 0x2c, 0x28, 0x2c);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_info, block_count, 0x34, 0x30, 0x34);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_info, block_list, 0x3c, 0x38, 0x3c);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_info, block_control, 0x44, 0x40, 0x44);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_info, last_page, 0x4c, 0x48, 0x4c);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_info, block_size, 0x5c, 0x58, 0x5c);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_info, counter, 0x68, 0x64, 0x68);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_info, unk_80, 0x80, 0x7c, 0x80);
ASAHI_ASSERT_OFFSET(asahi_fw_buffer_info, max_pages_nomemless, 0x88, 0x84, 0x88);
ASAHI_ASSERT_SIZE(asahi_fw_scene, 0x40, 0x48, 0x48);
ASAHI_ASSERT_OFFSET(asahi_fw_scene, pass_page_count, 0, 0, 0x10);
ASAHI_ASSERT_OFFSET(asahi_fw_scene, user_buffer, 0x18, 0x18, 0x28);
ASAHI_ASSERT_OFFSET(asahi_fw_scene, stats, 0x24, 0x2c, 0x3c);
ASAHI_ASSERT_OFFSET(asahi_fw_scene, total_page_count, 0x2c, 0x34, 0x44);

static void asahi_tvb_build_info(void *map, const struct asahi_tvb_info *info)
{
	struct asahi_fw_buffer_info *fw = map;

	fw->cur_id = cpu_to_le32(-1);
	fw->page_list = cpu_to_le64(info->page_list_va);
	fw->page_list_size = cpu_to_le32(ASAHI_TVB_MAX_PAGES * sizeof(__le32));
	fw->max_blocks = cpu_to_le32(ASAHI_TVB_MAX_BLOCKS);
	fw->block_list = cpu_to_le64(info->block_list_va);
	fw->block_control = cpu_to_le64(info->control_va);
	fw->block_size = cpu_to_le32(ASAHI_TVB_BLOCK_SIZE);
	fw->counter = cpu_to_le64(info->counter_va);
	fw->unk_80 = cpu_to_le32(1);
	fw->max_pages = cpu_to_le32(ASAHI_TVB_MAX_PAGES);
	fw->max_pages_nomemless = cpu_to_le32(ASAHI_TVB_MAX_PAGES_NOMEMLESS);
}

static void asahi_tvb_set_blocks(void *map, unsigned int blocks)
{
	struct asahi_fw_buffer_info *fw = map;
	u32 pages = blocks * ASAHI_TVB_BLOCK_PAGES;

	fw->page_count = cpu_to_le32(pages);
	fw->block_count = cpu_to_le32(blocks);
	fw->last_page = cpu_to_le32(pages - 1);
}

static void asahi_tvb_print_info(const void *map, struct drm_printer *p)
{
	const struct asahi_fw_buffer_info *fw = map;

	drm_printf(p, "  noted: counters %u %u, renders %d %d, ", le32_to_cpu(fw->gpu_counter),
		   le32_to_cpu(fw->gpu_counter2), (int)le32_to_cpu(fw->last_id),
		   (int)le32_to_cpu(fw->cur_id));
	drm_printf(p, "blocks %u, pages %u, the last %u, at %u %u\n",
		   le32_to_cpu(fw->block_count), le32_to_cpu(fw->page_count),
		   le32_to_cpu(fw->last_page), le32_to_cpu(fw->gpu_page_ptr1),
		   le32_to_cpu(fw->gpu_page_ptr2));
}

static void asahi_tvb_build_scene(const struct asahi_scene *scene,
				  const struct asahi_scene_layout *layout, u64 stats_va)
{
	struct asahi_fw_scene *fw = scene->map;

#if ASAHI_ABI_GEN >= ASAHI_G14X
	fw->control_word = cpu_to_le64(scene->control_word_va);
	fw->control_word2 = cpu_to_le64(scene->control_word_va);
#endif
	fw->user_buffer = cpu_to_le64(scene->memory_va + layout->user_buffer);
	fw->stats = cpu_to_le64(stats_va);
}

static void asahi_tvb_print_scene(const void *map, struct drm_printer *p)
{
	const struct asahi_fw_scene *fw = map;

	drm_printf(p, "  scene pages: %u in this pass, %u in all\n",
		   le32_to_cpu(fw->pass_page_count), le32_to_cpu(fw->total_page_count));
}
