// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of render commands: what is refused, and how much memory the others need.
 * Sizes were calculated by hand.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/jiffies.h>
#include <linux/sizes.h>

#include <drm/asahi_drm.h>

#include "asahi_fw_buffer.h"
#include "asahi_hw.h"
#include "asahi_render.h"
#include "asahi_scene.h"
#include "asahi_tvb.h"

static const struct drm_asahi_cmd_render vga = {
	.width_px = 640,
	.height_px = 480,
	.layers = 1,
	.utile_width_px = 32,
	.utile_height_px = 32,
	.samples = 1,
	.sample_size_B = 4,
};

static const struct drm_asahi_cmd_render stereo = {
	.width_px = 1920,
	.height_px = 1080,
	.layers = 2,
	.utile_width_px = 16,
	.utile_height_px = 16,
	.samples = 4,
	.sample_size_B = 8,
};

/*
 * Validation
 */

#define REFUSED(test, member, value) do {					\
	struct drm_asahi_cmd_render cmd_ = vga;					\
										\
	cmd_.member = (value);							\
	KUNIT_EXPECT_NOT_NULL_MSG(test, asahi_render_check(&cmd_), #member " = " #value); \
} while (0)

#define ACCEPTED(test, member, value) do {					\
	struct drm_asahi_cmd_render cmd_ = vga;					\
										\
	cmd_.member = (value);							\
	KUNIT_EXPECT_NULL_MSG(test, asahi_render_check(&cmd_), #member " = " #value); \
} while (0)

static void nothing_is_refused_in_vain(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, asahi_render_check(&vga));
	KUNIT_EXPECT_NULL(test, asahi_render_check(&stereo));
	ACCEPTED(test, flags, 0x40007);
	ACCEPTED(test, width_px, 1);
	ACCEPTED(test, width_px, 16384);
	ACCEPTED(test, height_px, 16384);
	ACCEPTED(test, layers, 2048);
	ACCEPTED(test, utile_height_px, 16);
	ACCEPTED(test, samples, 4);
	ACCEPTED(test, sample_size_B, 0);
	ACCEPTED(test, sample_size_B, 31);
	ACCEPTED(test, isp_bgobjvals, 0x300);
	ACCEPTED(test, eot.usc, 0xffffffff);
	ACCEPTED(test, bg.rsrc_spec, 0xffffffff);
	ACCEPTED(test, zls_ctrl, ~0ULL);
	ACCEPTED(test, depth.base, 0x4000);
	ACCEPTED(test, stencil.base, 0x7fffff7fffULL);
	ACCEPTED(test, sampler_count, 0xffff);
}

static void flags_are_refused(struct kunit *test)
{
	for (int i = 0; i < 32; i++)
		if (!(BIT(i) & 0x40007))
			REFUSED(test, flags, BIT(i));
}

static void dimensions_are_refused(struct kunit *test)
{
	REFUSED(test, width_px, 0);
	REFUSED(test, width_px, 16385);
	REFUSED(test, height_px, 0);
	REFUSED(test, height_px, 16385);
	REFUSED(test, layers, 0);
	REFUSED(test, layers, 2049);
}

static void tilebuffer_is_refused(struct kunit *test)
{
	REFUSED(test, utile_width_px, 0);
	REFUSED(test, utile_width_px, 16);
	REFUSED(test, utile_width_px, 64);
	REFUSED(test, utile_height_px, 0);
	REFUSED(test, utile_height_px, 8);
	REFUSED(test, samples, 0);
	REFUSED(test, samples, 3);
	REFUSED(test, samples, 8);
	/* 32 * 32 * 32 bytes */
	REFUSED(test, sample_size_B, 32);
}

/* The page tables say what is reached there. */
static void addresses_are_handed_on(struct kunit *test)
{
	ACCEPTED(test, vdm_ctrl_stream_base, 0x3fff);
	ACCEPTED(test, vdm_ctrl_stream_base, 0x7fffff8000ULL);
	ACCEPTED(test, isp_scissor_base, 1ULL << 39);
	ACCEPTED(test, isp_dbias_base, 1ULL << 39);
	ACCEPTED(test, isp_oclqry_base, 1ULL << 39);
	ACCEPTED(test, depth.base, 0xffffffa800000000ULL);
	ACCEPTED(test, depth.comp_base, 1ULL << 63);
	ACCEPTED(test, stencil.base, 1ULL << 39);
	ACCEPTED(test, stencil.comp_base, 1ULL << 39);
	ACCEPTED(test, sampler_heap, 1ULL << 39);
}

/*
 * Scenes
 */

static void scene_of_one_cluster(struct kunit *test)
{
	struct asahi_scene_layout l;

	KUNIT_ASSERT_EQ(test, asahi_scene_measure(&l, &asahi_hw_t8103, 1, &vga), 0);
	KUNIT_EXPECT_EQ(test, l.tiles_x, 20);
	KUNIT_EXPECT_EQ(test, l.tiles_y, 15);
	KUNIT_EXPECT_EQ(test, l.layers, 1);
	KUNIT_EXPECT_EQ(test, l.utile_config, 0xa000);
	KUNIT_EXPECT_EQ(test, l.mtile_x, 8);
	KUNIT_EXPECT_EQ(test, l.mtile_y, 4);
	KUNIT_EXPECT_EQ(test, l.mtile_tiles, 32);
	KUNIT_EXPECT_EQ(test, l.mtile_utiles_x, 8);
	KUNIT_EXPECT_EQ(test, l.mtile_utiles_y, 4);
	KUNIT_EXPECT_EQ(test, l.region_words, 40);
	KUNIT_EXPECT_EQ(test, l.tpc_words, 64);
	KUNIT_EXPECT_EQ(test, l.tpc_size, 4096);
	KUNIT_EXPECT_EQ(test, l.tib_blocks, 2);
	KUNIT_EXPECT_EQ(test, l.min_blocks, 8);
	KUNIT_EXPECT_FALSE(test, l.clusters);
	KUNIT_EXPECT_FALSE(test, l.clustering);
	KUNIT_EXPECT_EQ(test, l.meta1_stride, 0);
	KUNIT_EXPECT_EQ(test, l.user_buffer, 0);
	KUNIT_EXPECT_EQ(test, l.heapmeta, 0x8000);
	KUNIT_EXPECT_EQ(test, l.layermeta, 0x8200);
	KUNIT_EXPECT_EQ(test, l.tilemap, 0x10000);
	KUNIT_EXPECT_EQ(test, l.preempt[0], 0x18000);
	KUNIT_EXPECT_EQ(test, l.preempt[1], 0x18540);
	KUNIT_EXPECT_EQ(test, l.preempt[2], 0x187c0);
	KUNIT_EXPECT_EQ(test, l.aux_fb, 0x20000);
	KUNIT_EXPECT_EQ(test, l.size, 0x28000);
}

static void scene_of_eight_clusters(struct kunit *test)
{
	struct asahi_scene_layout l;

	KUNIT_ASSERT_EQ(test, asahi_scene_measure(&l, &asahi_hw_t6002, 8, &stereo), 0);
	KUNIT_EXPECT_EQ(test, l.utile_config, 0x5002);
	KUNIT_EXPECT_EQ(test, l.mtile_tiles, 192);
	KUNIT_EXPECT_EQ(test, l.mtile_utiles_x, 32);
	KUNIT_EXPECT_EQ(test, l.mtile_utiles_y, 24);
	KUNIT_EXPECT_EQ(test, l.region_words, 960);
	KUNIT_EXPECT_EQ(test, l.tpc_words, 1536);
	KUNIT_EXPECT_EQ(test, l.tpc_size, 0x180000);
	KUNIT_EXPECT_EQ(test, l.tib_blocks, 4);
	KUNIT_EXPECT_EQ(test, l.min_blocks, 16);
	KUNIT_EXPECT_TRUE(test, l.clustering);
	KUNIT_EXPECT_EQ(test, l.meta1_stride, 2);
	KUNIT_EXPECT_EQ(test, l.meta1_blocks, 4);
	KUNIT_EXPECT_EQ(test, l.heapmeta, 0x18000);
	KUNIT_EXPECT_EQ(test, l.tilemap, 0x20000);
	KUNIT_EXPECT_EQ(test, l.preempt[0], 0x40000);
	KUNIT_EXPECT_EQ(test, l.preempt[1], 0x42f40);
	KUNIT_EXPECT_EQ(test, l.preempt[2], 0x445c0);
	KUNIT_EXPECT_EQ(test, l.aux_fb, 0x48000);
	KUNIT_EXPECT_EQ(test, l.cluster_tilemaps, 0x50000);
	KUNIT_EXPECT_EQ(test, l.cluster_layermeta, 0x230000);
	KUNIT_EXPECT_EQ(test, l.cluster_meta[0], 0x231000);
	KUNIT_EXPECT_EQ(test, l.cluster_meta[1], 0x231180);
	KUNIT_EXPECT_EQ(test, l.cluster_meta[2], 0x231780);
	KUNIT_EXPECT_EQ(test, l.cluster_meta[3], 0x232b80);
	KUNIT_EXPECT_EQ(test, l.size, 0x238000);
}

/* There is memory for all clusters, but only one writes. */
static void scene_without_clustering(struct kunit *test)
{
	struct drm_asahi_cmd_render cmd = stereo;
	struct asahi_scene_layout l;

	cmd.flags = DRM_ASAHI_RENDER_NO_VERTEX_CLUSTERING;
	KUNIT_ASSERT_EQ(test, asahi_scene_measure(&l, &asahi_hw_t6002, 8, &cmd), 0);
	KUNIT_EXPECT_TRUE(test, l.clusters);
	KUNIT_EXPECT_FALSE(test, l.clustering);
	KUNIT_EXPECT_EQ(test, l.tpc_size, 0x30000);
	KUNIT_EXPECT_EQ(test, l.meta1_stride, 0);
	KUNIT_EXPECT_EQ(test, l.meta1_blocks, 0);
	KUNIT_EXPECT_EQ(test, l.cluster_meta[0], 0x231000);
	KUNIT_EXPECT_EQ(test, l.cluster_meta[1], 0x231000);
	KUNIT_EXPECT_EQ(test, l.preempt[1], 0x42f40);
}

static void scene_of_g14x(struct kunit *test)
{
	struct asahi_scene_layout l;

	KUNIT_ASSERT_EQ(test, asahi_scene_measure(&l, &asahi_hw_t6020, 2, &stereo), 0);
	KUNIT_EXPECT_EQ(test, l.meta1_stride, 2);
	/* not for each layer */
	KUNIT_EXPECT_EQ(test, l.meta1_blocks, 2);
	KUNIT_EXPECT_EQ(test, l.preempt[2] - l.preempt[0], 3 * 0x7c0);
	KUNIT_EXPECT_EQ(test, l.cluster_layermeta - l.cluster_tilemaps, 64 * 0x1e000);
	KUNIT_EXPECT_EQ(test, l.cluster_meta[3] - l.cluster_meta[2], 0x2800);
}

/* What a cluster needs at least counts by layers. */
static void layers_need_blocks(struct kunit *test)
{
	struct drm_asahi_cmd_render cmd = vga;
	struct asahi_scene_layout l;

	cmd.layers = 20;
	KUNIT_ASSERT_EQ(test, asahi_scene_measure(&l, &asahi_hw_t6000, 2, &cmd), 0);
	KUNIT_EXPECT_EQ(test, l.min_blocks, 47);
	KUNIT_ASSERT_EQ(test, asahi_scene_measure(&l, &asahi_hw_t8103, 1, &cmd), 0);
	KUNIT_EXPECT_EQ(test, l.min_blocks, 8);
}

static void scene_is_bounded(struct kunit *test)
{
	struct drm_asahi_cmd_render cmd = stereo;
	struct asahi_scene_layout l;

	cmd.width_px = 16384;
	cmd.height_px = 16384;
	cmd.layers = 1;
	KUNIT_ASSERT_EQ(test, asahi_scene_measure(&l, &asahi_hw_t8103, 1, &cmd), 0);
	KUNIT_EXPECT_EQ(test, l.region_words, 81920);
	KUNIT_EXPECT_EQ(test, l.tpc_size, 8388608);
	KUNIT_EXPECT_EQ(test, l.aux_fb - l.tilemap, 5242880 + 0x8000);
	KUNIT_EXPECT_EQ(test, l.min_blocks, 2048);

	cmd.layers = 2048;
	KUNIT_EXPECT_EQ(test, asahi_scene_measure(&l, &asahi_hw_t8103, 1, &cmd), -ENOMEM);
	KUNIT_EXPECT_EQ(test, asahi_scene_measure(&l, &asahi_hw_t6022, 8, &cmd), -ENOMEM);
	/* 64 * 81920 * 2048 bytes of tilemap, 64 times more for clusters */
	KUNIT_EXPECT_GT(test, l.size, 65 * 10737418240ULL);
	KUNIT_EXPECT_EQ(test, l.tpc_size, 8 * 2048 * 8388608ULL);
}

/* Everything but the preemption buffer takes 0x20000 bytes, see scene_of_one_cluster(). */
static void scene_takes_so_much_and_no_more(struct kunit *test)
{
	struct asahi_hw_render render = { .preempt_size = { SZ_1G - 0x20000 } };
	struct asahi_hw hw = { .render = &render };
	struct asahi_scene_layout l;

	KUNIT_EXPECT_EQ(test, asahi_scene_measure(&l, &hw, 1, &vga), 0);
	KUNIT_EXPECT_EQ(test, l.size, SZ_1G);
	render.preempt_size[2] = 1;
	KUNIT_EXPECT_EQ(test, asahi_scene_measure(&l, &hw, 1, &vga), -ENOMEM);
	KUNIT_EXPECT_EQ(test, l.size, SZ_1G + 0x8000);
}

/* The tail pointer cache has the same limit: 128 bytes for each tile and layer. */
static void tail_pointers_take_so_much_and_no_more(struct kunit *test)
{
	struct drm_asahi_cmd_render cmd = vga;
	struct asahi_scene_layout l;

	cmd.width_px = 8192;
	cmd.height_px = 8192;
	cmd.layers = 2048;
	KUNIT_EXPECT_EQ(test, asahi_scene_measure(&l, &asahi_hw_t8103, 1, &cmd), 0);
	KUNIT_EXPECT_EQ(test, l.tpc_size, SZ_1G);
	KUNIT_EXPECT_LT(test, l.size, SZ_1G);

	/* Nothing is above the limit by less. */
	cmd.width_px = 12800;
	cmd.height_px = 7168;
	cmd.layers = 1498;
	KUNIT_EXPECT_EQ(test, asahi_scene_measure(&l, &asahi_hw_t8103, 1, &cmd), -ENOMEM);
	KUNIT_EXPECT_EQ(test, l.tpc_size, SZ_1G + 24576);
	KUNIT_EXPECT_LT(test, l.size, SZ_1G);
}

/*
 * Vertex buffers
 */

static void buffer_grows_from_use(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(0, 0, 0), 8);
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(0, 0, 24), 24);
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(0, 40, 24), 40);
	/* twice of 16 pages is 8 blocks */
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(16, 8, 8), 8);
	/* of 17 it is 9, so there are to be three times of 17 pages */
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(17, 8, 8), 13);
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(17, 8, 16), 16);
}

static void growth_from_use_is_bounded(struct kunit *test)
{
	/* three times of 2,922 pages are 0x890 blocks, of 2,924 they are 0x891 */
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(2922, 8, 8), 0x890);
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(2924, 8, 8), 0x891);
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(2925, 8, 8), 0x891);
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(0xffffffff, 8, 8), 0x891);
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(0xffffffff, 0x891, 8), 0x891);
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(0xffffffff, 0x1000, 8), 0x1000);
	KUNIT_EXPECT_EQ(test, asahi_tvb_want_blocks(0xffffffff, 8, 0x1000), 0x1000);
}

static void blocks_are_listed(struct kunit *test)
{
	struct asahi_fw_block blocks[3] = {};
	__le32 pages[12] = {};

	asahi_tvb_list_block(pages, blocks, 0, 0x7000008000ULL);
	asahi_tvb_list_block(pages, blocks, 2, 0x7000200000ULL);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(blocks[0].page), 0xe00001);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(blocks[1].page), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(blocks[2].page), 0xe00040);
	for (int i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, le32_to_cpu(pages[i]), 0xe00001 + i);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(pages[4 + i]), 0);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(pages[8 + i]), 0xe00040 + i);
	}
}

static void large_buffers_are_trimmed(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, asahi_tvb_is_large(0, 0));
	/* a small framebuffer's, with what is to spare */
	KUNIT_EXPECT_FALSE(test, asahi_tvb_is_large(8 + 10, 0x10000));
	KUNIT_EXPECT_TRUE(test, asahi_tvb_is_large(8 + 11, 0x10000));
	/* many layers */
	KUNIT_EXPECT_TRUE(test, asahi_tvb_is_large(8 + 10, 0x10001));
}

static void idle_buffers_are_trimmed(struct kunit *test)
{
	struct asahi_tvb tvb = { .used_at = -3UL };
	unsigned long idle = msecs_to_jiffies(ASAHI_TVB_IDLE_MS);

	KUNIT_EXPECT_FALSE(test, asahi_tvb_is_idle(&tvb, tvb.used_at));
	KUNIT_EXPECT_FALSE(test, asahi_tvb_is_idle(&tvb, tvb.used_at + idle - 1));
	KUNIT_EXPECT_TRUE(test, asahi_tvb_is_idle(&tvb, tvb.used_at + idle));
	KUNIT_EXPECT_TRUE(test, asahi_tvb_is_idle(&tvb, tvb.used_at + 2 * idle));
}

static struct kunit_case scene_tests[] = {
	KUNIT_CASE(nothing_is_refused_in_vain),
	KUNIT_CASE(flags_are_refused),
	KUNIT_CASE(dimensions_are_refused),
	KUNIT_CASE(tilebuffer_is_refused),
	KUNIT_CASE(addresses_are_handed_on),
	KUNIT_CASE(scene_of_one_cluster),
	KUNIT_CASE(scene_of_eight_clusters),
	KUNIT_CASE(scene_without_clustering),
	KUNIT_CASE(scene_of_g14x),
	KUNIT_CASE(layers_need_blocks),
	KUNIT_CASE(scene_is_bounded),
	KUNIT_CASE(scene_takes_so_much_and_no_more),
	KUNIT_CASE(tail_pointers_take_so_much_and_no_more),
	KUNIT_CASE(buffer_grows_from_use),
	KUNIT_CASE(growth_from_use_is_bounded),
	KUNIT_CASE(blocks_are_listed),
	KUNIT_CASE(large_buffers_are_trimmed),
	KUNIT_CASE(idle_buffers_are_trimmed),
	{}
};

static struct kunit_suite scene_suite = {
	.name = "asahi_scene",
	.test_cases = scene_tests,
};

kunit_test_suite(scene_suite);
