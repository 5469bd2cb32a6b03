// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of render commands: what is patched, the lists of registers, and what depends on
 * the SoC. Offsets are asserted in the templates, and a reviewed list has the values of all
 * fields; of some addresses it has the kind of memory alone.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/unaligned.h>

#include "asahi_abi.h"
#include "asahi_fw_microseq.h"
#include "asahi_hw.h"
#include "asahi_job.h"
#include "asahi_knobs.h"
#include "asahi_render.h"
#include "asahi_scene.h"
#include "asahi_tvb.h"
#include "asahi_work.h"

#define RUN_VA		0xffffffa600010080ull
#define MICROSEQ_VA	0xffffffa000020100ull
#define TIMES_VA	0xffffffa800030180ull
#define SCENE_VA	0xffffffa800038200ull
#define MEMORY_VA	0x7e00008000ull
#define WORD_VA		0xffffffac00004000ull
#define TPC_VA		0x7f00008000ull
#define BUFFER_VA	0xffffffa000041200ull
#define KERNEL_VA	0xffffffa800042200ull
#define INFO_VA		0xffffffa000040200ull
#define NOTIFIER_VA	0xffffffa000050280ull
#define STATS_VA	0xffffffa000060300ull
#define STAMP_VA	0xffffffa800070380ull
#define FW_STAMP_VA	0xffffffa000080400ull

/**
 * struct fixture - one half of a render command
 * @abi: operations under test
 * @hw: SoC that it is for
 * @clusters: clusters of that
 * @knobs: knobs of the device, or NULL
 * @command: the user's side of it
 * @work: the work that it becomes
 * @run: Run structure
 * @microseq: its microsequence
 * @scene: Scene structure
 */
struct fixture {
	const struct asahi_job_abi *abi;
	const struct asahi_hw *hw;
	unsigned int clusters;
	const struct asahi_knobs *knobs;
	struct asahi_command_args command;
	struct asahi_work work;
	u8 run[0xd00];
	u8 microseq[0x400];
	u8 scene[0x80];
};

static u32 run32(struct fixture *f, size_t offset)
{
	return get_unaligned_le32(f->run + offset);
}

static u64 run64(struct fixture *f, size_t offset)
{
	return get_unaligned_le64(f->run + offset);
}

static u32 seq32(struct fixture *f, size_t offset)
{
	return get_unaligned_le32(f->microseq + offset);
}

static u64 seq64(struct fixture *f, size_t offset)
{
	return get_unaligned_le64(f->microseq + offset);
}

static const struct drm_asahi_cmd_render command = {
	.flags = DRM_ASAHI_RENDER_VERTEX_SCRATCH | DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES |
		 DRM_ASAHI_RENDER_DBIAS_IS_INT,
	.isp_zls_pixels = 0x780438,
	.vdm_ctrl_stream_base = 0x1100004000,
	.vertex_helper = { .binary = 0x81, .cfg = 0x40, .data = 0x1300000000 },
	.fragment_helper = { .binary = 0x181, .cfg = 0x41, .data = 0x1300004000 },
	.isp_scissor_base = 0x1400000000,
	.isp_dbias_base = 0x1400004000,
	.isp_oclqry_base = 0x1400008000,
	.depth = { .base = 0x1500000000, .comp_base = 0x1500100000, .stride = 0x80000,
		   .comp_stride = 0x8000 },
	.stencil = { .base = 0x1600000000, .comp_base = 0x1600100000, .stride = 0x20000,
		     .comp_stride = 0x2000 },
	.zls_ctrl = 0x1234567890,
	.ppp_multisamplectl = 0x88aa,
	.sampler_heap = 0x1200000000,
	.ppp_ctrl = 0x201,
	.width_px = 1920,
	.height_px = 1080,
	.layers = 2,
	.sampler_count = 7,
	.utile_width_px = 16,
	.utile_height_px = 16,
	.samples = 4,
	.sample_size_B = 8,
	.isp_merge_upper_x = 0x3a6c8b44,
	.isp_merge_upper_y = 0x3ad23c5d,
	.bg = { .usc = 0x1004, .rsrc_spec = 0x5 },
	.eot = { .usc = 0x2004, .rsrc_spec = 0x6 },
	.partial_bg = { .usc = 0x3004, .rsrc_spec = 0x7 },
	.partial_eot = { .usc = 0x4004, .rsrc_spec = 0x8 },
	.isp_bgobjdepth = 0x3f800000,
	.isp_bgobjvals = 0x305,
};

static struct fixture *fixture(struct kunit *test, const u32 version[3],
			       const struct asahi_hw *hw, unsigned int clusters)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	const struct asahi_abi *abi = asahi_abi_select(version, hw->gen);

	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_ASSERT_NOT_NULL(test, abi);
	f->abi = abi->job;
	f->hw = hw;
	f->clusters = clusters;
	f->command.render = command;

	return f;
}

static struct fixture *g13_13_5(struct kunit *test)
{
	return fixture(test, (const u32[]) { 13, 5, 0 }, &asahi_hw_t6002, 8);
}

static struct fixture *g14g_13_5(struct kunit *test)
{
	return fixture(test, (const u32[]) { 13, 5, 0 }, &asahi_hw_t8112, 1);
}

static struct fixture *g14x_13_5(struct kunit *test)
{
	return fixture(test, (const u32[]) { 13, 5, 0 }, &asahi_hw_t6020, 2);
}

static void build(struct kunit *test, struct fixture *f, unsigned int pipe)
{
	const struct asahi_work_abi *abi = &f->abi->work[pipe];
	const struct asahi_scene scene = {
		.map = f->scene,
		.va = SCENE_VA,
		.memory_va = MEMORY_VA,
		.control_word_va = WORD_VA,
		.tpc_va = TPC_VA,
	};
	const struct asahi_work_args args = {
		.work = &f->work,
		.command = &f->command,
		.attachments = &f->command.stage[pipe].attachments,
		.scene = &scene,
		.buffer_info_va = BUFFER_VA,
		.kernel_buffer_va = KERNEL_VA,
		.queue_info_va = INFO_VA,
		.notifier_va = NOTIFIER_VA,
		.stats_va = STATS_VA,
		.usc_exec_base = 0x1000000000,
		.queue_id = 0x1234,
		.tiling_control = 0xa540,
		.core_masks = { 0xfefefefe, 0x7f7f7f7f },
		.knobs = f->knobs,
	};

	KUNIT_ASSERT_EQ(test, asahi_scene_measure(&f->command.scene, f->hw, f->clusters,
						  &f->command.render), 0);
	f->work = (struct asahi_work) {
		.pipe = pipe,
		.run = f->run,
		.run_va = RUN_VA,
		.run_size = abi->run_size,
		.microseq = {
			.map = f->microseq,
			.va = MICROSEQ_VA,
			.size = abi->microseq_size,
		},
		.times_va = TIMES_VA,
	};
	f->abi->tvb.scene_init(&scene, &f->command.scene, STATS_VA);
	abi->build(&args);
}

static void patch(struct fixture *f)
{
	const struct asahi_patch patch[AGX_PIPE_COUNT] = {
		[AGX_PIPE_VERTEX] = {
			.vm_slot = 42,
			.event_slot = 99,
			.buffer_slot = 126,
			.stamp_va = STAMP_VA,
			.fw_stamp_va = FW_STAMP_VA,
			.stamp = 0x4200,
			.event_seq = 0x1000000007,
			.counter = 0x123456789b,
		},
		[AGX_PIPE_FRAGMENT] = {
			.vm_slot = 42,
			.event_slot = 98,
			.buffer_slot = 126,
			.stamp_va = STAMP_VA + 0x100,
			.fw_stamp_va = FW_STAMP_VA + 0x100,
			.stamp = 0x7700,
			.event_seq = 0x1000000009,
			.counter = 0x123456789a,
		},
	};

	f->abi->work[f->work.pipe].patch(&f->work, patch);
}

static void vertex_command_has_its_addresses(struct kunit *test)
{
	struct fixture *f = g13_13_5(test);

	build(test, f, AGX_PIPE_VERTEX);
	KUNIT_EXPECT_EQ(test, run64(f, 0x34), KERNEL_VA);
	KUNIT_EXPECT_EQ(test, run64(f, 0x5bc), TIMES_VA);
	KUNIT_EXPECT_EQ(test, run64(f, 0x5c4), TIMES_VA + 8);
}

/* Without clusters there is none of their memory. */
static void vertex_params_of_one_cluster(struct kunit *test)
{
	static const size_t null[] = { 0x18, 0x40, 0x60, 0x98, 0xa0, 0xe8 };
	struct fixture *f = fixture(test, (const u32[]) { 13, 5, 0 }, &asahi_hw_t8103, 1);

	f->command.render.layers = 1;
	f->command.render.flags = 0;
	build(test, f, AGX_PIPE_VERTEX);
	for (int i = 0; i < ARRAY_SIZE(null); i++)
		KUNIT_EXPECT_EQ(test, run64(f, 0x40 + null[i]), 0);
	KUNIT_EXPECT_EQ(test, run64(f, 0x40 + 0xf0), 0x1c);
	KUNIT_EXPECT_EQ(test, run32(f, 0x3c4 + 0x28), 0x8000);
	KUNIT_EXPECT_EQ(test, run32(f, 0x568), 0);
	/* nor is there clustering */
	KUNIT_EXPECT_EQ(test, seq32(f, 0x188), 1);
}

static void vertex_patch(struct kunit *test)
{
	struct fixture *f = g13_13_5(test);
	const size_t finalize = 0x18c + 0x3c + 4 + 0x3c;

	build(test, f, AGX_PIPE_VERTEX);
	patch(f);
	KUNIT_EXPECT_EQ(test, run64(f, 0x4), 0x123456789b);
	KUNIT_EXPECT_EQ(test, run32(f, 0xc), 42);
	KUNIT_EXPECT_EQ(test, run32(f, 0x1c), 126);
	KUNIT_EXPECT_EQ(test, run32(f, 0x480), 98);
	KUNIT_EXPECT_EQ(test, run32(f, 0x484), 0x7700);
	KUNIT_EXPECT_EQ(test, run64(f, 0x56c + 0x04), STAMP_VA);
	KUNIT_EXPECT_EQ(test, run64(f, 0x56c + 0x0c), FW_STAMP_VA);
	KUNIT_EXPECT_EQ(test, run32(f, 0x56c + 0x14), 0x4200);
	KUNIT_EXPECT_EQ(test, run32(f, 0x56c + 0x18), 99);
	KUNIT_EXPECT_EQ(test, run32(f, 0x56c + 0x28), 7);
	KUNIT_EXPECT_EQ(test, seq32(f, 0x34), 42);
	KUNIT_EXPECT_EQ(test, seq32(f, 0x40), 126);
	KUNIT_EXPECT_EQ(test, seq64(f, 0x48), 0x1000000007);
	KUNIT_EXPECT_EQ(test, seq64(f, 0x178), 0x123456789b);
	KUNIT_EXPECT_EQ(test, seq32(f, finalize + 0x24), 42);
	KUNIT_EXPECT_EQ(test, seq64(f, finalize + 0x3c), FW_STAMP_VA);
	KUNIT_EXPECT_EQ(test, seq32(f, finalize + 0x44), 0x4200);
}

static void fragment_command_has_its_addresses(struct kunit *test)
{
	struct fixture *f = g13_13_5(test);

	build(test, f, AGX_PIPE_FRAGMENT);
	KUNIT_EXPECT_EQ(test, run64(f, 0x38), KERNEL_VA);
	KUNIT_EXPECT_EQ(test, run64(f, 0x920), TIMES_VA);
	KUNIT_EXPECT_EQ(test, run64(f, 0x928), TIMES_VA + 8);
}

/* The offset is that of both, since the parts before it are equal in size. */
static void fragment_has_what_a_knob_says(struct kunit *test)
{
	const size_t unk_290 = 0x4b8 + 0x1a0;
	struct fixture *f = g13_13_5(test);
	struct asahi_knobs knobs;

	build(test, f, AGX_PIPE_FRAGMENT);
	KUNIT_EXPECT_EQ(test, run64(f, unk_290), 0);

	asahi_knobs_init(&knobs);
	f->knobs = &knobs;
	build(test, f, AGX_PIPE_FRAGMENT);
	KUNIT_EXPECT_EQ(test, run64(f, unk_290), 0);

	knobs.value[ASAHI_KNOB_UNK_290] = 0x4040404;
	build(test, f, AGX_PIPE_FRAGMENT);
	KUNIT_EXPECT_EQ(test, run64(f, unk_290), 0x4040404);

	f = g14g_13_5(test);
	build(test, f, AGX_PIPE_FRAGMENT);
	KUNIT_EXPECT_EQ(test, run64(f, unk_290), 0x4040404);
	knobs.value[ASAHI_KNOB_UNK_290] = 0;
	f->knobs = &knobs;
	build(test, f, AGX_PIPE_FRAGMENT);
	KUNIT_EXPECT_EQ(test, run64(f, unk_290), 0);
}

static void fragment_patch(struct kunit *test)
{
	struct fixture *f = g13_13_5(test);
	const size_t finalize = 0x1ac + 0x3c + 4 + 0x3c;

	build(test, f, AGX_PIPE_FRAGMENT);
	patch(f);
	KUNIT_EXPECT_EQ(test, run64(f, 0x4), 0x123456789a);
	KUNIT_EXPECT_EQ(test, run32(f, 0xc), 42);
	KUNIT_EXPECT_EQ(test, run64(f, 0x8d0 + 0x04), STAMP_VA + 0x100);
	KUNIT_EXPECT_EQ(test, run32(f, 0x8d0 + 0x14), 0x7700);
	KUNIT_EXPECT_EQ(test, run32(f, 0x8d0 + 0x18), 98);
	KUNIT_EXPECT_EQ(test, seq32(f, 0x4c), 42);
	KUNIT_EXPECT_EQ(test, seq32(f, 0x58), 126);
	KUNIT_EXPECT_EQ(test, seq64(f, 0x60), 0x1000000009);
	KUNIT_EXPECT_EQ(test, seq64(f, 0x19c), 0x123456789a);
	KUNIT_EXPECT_EQ(test, seq64(f, finalize + 0x0c), FW_STAMP_VA + 0x100);
	KUNIT_EXPECT_EQ(test, seq32(f, finalize + 0x14), 0x7700);
	KUNIT_EXPECT_EQ(test, seq32(f, finalize + 0x5c), 42);
}

static const u32 vertex_registers[] = {
	0x10141, 0x1c039, 0x1c9c8, 0x1c041, 0x1c9d0, 0x1c0a1, 0x1c031, 0x1c9c0, 0x1c051, 0x1c061,
	0x10149, 0x10139, 0x10111, 0x1c9b0, 0x10119, 0x1c9b8, 0x1c958, 0x1c950, 0x1c930, 0x1c880,
	0x1c898, 0x1c948, 0x1c888, 0x1c890, 0x1c918, 0x1c079, 0x1c9d8, 0x1c089, 0x1c9e0, 0x16c41,
	0x1ca40, 0x1c9a8, 0x1c920, 0x10151, 0x1c199, 0x1c1a1, 0x1c1a9, 0x1c1b1, 0x1c1b9, 0x10061,
	0x11801, 0x11809, 0x11f71, 0x1c0b1, 0x1c850, 0x10131, 0x10121, 0x10129, 0x101b9, 0x1c069,
	0x1c071, 0x1c081, 0x1c0a9, 0x10171, 0x10169, 0x12099, 0x1c9e8,
};

static const u32 fragment_registers[] = {
	0x01739, 0x10009, 0x15379, 0x15381, 0x15369, 0x15371, 0x15131, 0x15139, 0x100a1, 0x15069,
	0x15071, 0x16058, 0x10019, 0x100b1, 0x16030, 0x100d9, 0x16098, 0x15109, 0x15101, 0x15021,
	0x15211, 0x15049, 0x10051, 0x15321, 0x15301, 0x15309, 0x15311, 0x15319, 0x15349, 0x15351,
	0x15329, 0x15331, 0x15339, 0x15341, 0x15231, 0x15221, 0x15239, 0x15229, 0x15401, 0x15421,
	0x15409, 0x15429, 0x153c1, 0x15411, 0x153c9, 0x15431, 0x153d1, 0x15419, 0x153d9, 0x15439,
	0x16429, 0x16060, 0x16431, 0x10039, 0x16451, 0x11821, 0x11829, 0x11f79, 0x15359, 0x10069,
	0x16020, 0x16461, 0x16090, 0x120a1, 0x160a8, 0x16068, 0x160b8,
};

static void expect_registers(struct kunit *test, struct fixture *f, size_t at,
			     const u32 *numbers, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		KUNIT_EXPECT_EQ_MSG(test, run32(f, at + 12 * i), numbers[i], "register %u", i);
	KUNIT_EXPECT_EQ(test, run64(f, at + 0x700), RUN_VA + at);
	KUNIT_EXPECT_EQ(test, run32(f, at + 0x708), count | count * 12 << 16);
}

static void vertex_registers_of_g14x(struct kunit *test)
{
	struct fixture *f = g14x_13_5(test);

	build(test, f, AGX_PIPE_VERTEX);
	expect_registers(test, f, 0x40, vertex_registers, ARRAY_SIZE(vertex_registers));
}

static void fragment_registers_of_g14x(struct kunit *test)
{
	struct fixture *f = g14x_13_5(test);

	build(test, f, AGX_PIPE_FRAGMENT);
	expect_registers(test, f, 0x80, fragment_registers, ARRAY_SIZE(fragment_registers));
}

/* The older firmware has the same at other places, and no counter. */
static void patches_of_12_3(struct kunit *test)
{
	struct fixture *f = fixture(test, (const u32[]) { 12, 3, 0 }, &asahi_hw_t8103, 1);

	build(test, f, AGX_PIPE_VERTEX);
	patch(f);
	KUNIT_EXPECT_EQ(test, run32(f, 0x4), 42);

	f = fixture(test, (const u32[]) { 12, 3, 0 }, &asahi_hw_t8103, 1);
	build(test, f, AGX_PIPE_FRAGMENT);
	patch(f);
	KUNIT_EXPECT_EQ(test, run32(f, 0x4), 42);
}

static struct kunit_case render_tests[] = {
	KUNIT_CASE(vertex_command_has_its_addresses),
	KUNIT_CASE(vertex_params_of_one_cluster),
	KUNIT_CASE(vertex_patch),
	KUNIT_CASE(fragment_command_has_its_addresses),
	KUNIT_CASE(fragment_has_what_a_knob_says),
	KUNIT_CASE(fragment_patch),
	KUNIT_CASE(vertex_registers_of_g14x),
	KUNIT_CASE(fragment_registers_of_g14x),
	KUNIT_CASE(patches_of_12_3),
	{}
};

static struct kunit_suite render_suite = {
	.name = "asahi_render",
	.test_cases = render_tests,
};

kunit_test_suite(render_suite);
