// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of compute commands and work queues, firmware 13.5 on G13: what is patched, and
 * what depends on the command. Offsets are asserted in the templates, and a reviewed list
 * has the values of all fields; of some addresses it has the kind of memory alone.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/unaligned.h>

#include <agx/agx_uat.h>

#include "asahi_abi.h"
#include "asahi_fw_microseq.h"
#include "asahi_job.h"
#include "asahi_work.h"

#define RUN_VA		0xffffffa600010080ull
#define MICROSEQ_VA	0xffffffa000020100ull
#define TIMES_VA	0xffffffa800030180ull
#define PREEMPT_VA	0x7fe0000080ull
#define PREEMPT1_SIZE	0x7f80
#define INFO_VA		0xffffffa000040200ull
#define NOTIFIER_VA	0xffffffa000050280ull
#define STATS_VA	0xffffffa000060300ull
#define STAMP_VA	0xffffffa800070380ull
#define FW_STAMP_VA	0xffffffa000080400ull

/* Offsets of the patched operations of the microsequence, and its end */
#define START		0
#define FINALIZE	0x1e8
#define END		0x268

/**
 * struct fixture - a compute command
 * @abi: operations under test
 * @command: the user's side of it
 * @user_times: where the user wants its times
 * @work: the work that it becomes
 * @run: RunCompute
 * @microseq: its microsequence
 */
struct fixture {
	const struct asahi_job_abi *abi;
	struct asahi_command_args command;
	struct asahi_user_times user_times;
	struct asahi_work work;
	u8 run[0x400];
	u8 microseq[0x400];
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

static int compute_test_init(struct kunit *test)
{
	static const u32 version[3] = { 13, 5, 0 };
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;

	f->abi = asahi_abi_select(version, ASAHI_GEN_G13)->job;
	f->command.preempt1_size = PREEMPT1_SIZE;
	f->command.compute = (struct drm_asahi_cmd_compute) {
		.sampler_count = 7,
		.cdm_ctrl_stream_base = 0x1100004000,
		.cdm_ctrl_stream_end = 0x1100004100,
		.sampler_heap = 0x1200000000,
		.helper = { .binary = 0x81, .cfg = 0x40, .data = 0x1300000000 },
	};
	test->priv = f;

	return 0;
}

static void build(struct fixture *f)
{
	const struct asahi_work_abi *abi = &f->abi->work[AGX_PIPE_COMPUTE];

	f->work = (struct asahi_work) {
		.pipe = AGX_PIPE_COMPUTE,
		.run = f->run,
		.run_va = RUN_VA,
		.run_size = abi->run_size,
		.microseq = {
			.map = f->microseq,
			.va = MICROSEQ_VA,
			.size = abi->microseq_size,
		},
		.times_va = TIMES_VA,
		.user_times = f->user_times,
	};

	f->abi->work[AGX_PIPE_COMPUTE].build(&(struct asahi_work_args) {
		.work = &f->work,
		.command = &f->command,
		.attachments = &f->command.stage[AGX_PIPE_COMPUTE].attachments,
		.preempt_va = PREEMPT_VA,
		.queue_info_va = INFO_VA,
		.notifier_va = NOTIFIER_VA,
		.stats_va = STATS_VA,
		.usc_exec_base = 0x1000000000,
		.queue_id = 0x1234,
	});
}

static void patch(struct fixture *f)
{
	const struct asahi_patch patch[AGX_PIPE_COUNT] = {
		[AGX_PIPE_COMPUTE] = {
			.vm_slot = 42,
			.event_slot = 99,
			.stamp_va = STAMP_VA,
			.fw_stamp_va = FW_STAMP_VA,
			.stamp = 0x4200,
			.event_seq = 0x1000000007,
			.counter = 0x123456789a,
			.flush_stamps = 1,
		},
	};

	f->abi->work[AGX_PIPE_COMPUTE].patch(&f->work, patch);
}

static void command_has_its_times(struct kunit *test)
{
	struct fixture *f = test->priv;

	build(f);
	KUNIT_EXPECT_EQ(test, run64(f, 0x2b8), TIMES_VA);
	KUNIT_EXPECT_EQ(test, run64(f, 0x2c0), TIMES_VA + 8);
	/* Where there is no object there is no address either. */
	KUNIT_EXPECT_EQ(test, run64(f, 0x2c8), 0);
	KUNIT_EXPECT_EQ(test, run64(f, 0x2d0), 0);

	f->user_times = (struct asahi_user_times) {
		.start.va = AGX_VA_TIMESTAMP_START + 8,
		.end.va = AGX_VA_TIMESTAMP_START + 0x10000,
	};
	build(f);
	KUNIT_EXPECT_EQ(test, run64(f, 0x2c8), AGX_VA_TIMESTAMP_START + 8);
	KUNIT_EXPECT_EQ(test, run64(f, 0x2d0), AGX_VA_TIMESTAMP_START + 0x10000);
}

static void attachments_are_passed_on(struct kunit *test)
{
	static const struct drm_asahi_attachment list[] = {
		{ .pointer = 0x1500000000, .size = 128 },
		/* a hint of nothing */
		{ .pointer = 0x1500000000, .size = 0 },
		{ .pointer = 0x1400000000, .size = 5 * 128 - 1 },
	};
	struct fixture *f = test->priv;

	build(f);
	KUNIT_EXPECT_EQ(test, seq32(f, START + 0x14c), 0);
	KUNIT_EXPECT_EQ(test, seq32(f, FINALIZE + 0x5c), 0);

	f->command.stage[AGX_PIPE_COMPUTE].attachments = (struct asahi_attachments) {
		.list = list,
		.count = ARRAY_SIZE(list),
		.told = 2,
	};
	build(f);
	KUNIT_EXPECT_EQ(test, seq64(f, START + 0x4c + 0x10), 0x1400000000);
	KUNIT_EXPECT_EQ(test, seq32(f, START + 0x4c + 0x18), 5);
	KUNIT_EXPECT_EQ(test, seq32(f, START + 0x14c), 2);
	KUNIT_EXPECT_EQ(test, seq32(f, FINALIZE + 0x5c), 1);
}

static void patch_sets_slots_and_stamps(struct kunit *test)
{
	struct fixture *f = test->priv;

	build(f);
	patch(f);
	KUNIT_EXPECT_EQ(test, run64(f, 0x4), 0x123456789a);
	KUNIT_EXPECT_EQ(test, run32(f, 0x10), 42);
	KUNIT_EXPECT_EQ(test, run64(f, 0x284 + 0x04), STAMP_VA);
	KUNIT_EXPECT_EQ(test, run64(f, 0x284 + 0x0c), FW_STAMP_VA);
	KUNIT_EXPECT_EQ(test, run32(f, 0x284 + 0x14), 0x4200);
	KUNIT_EXPECT_EQ(test, run32(f, 0x284 + 0x18), 99);
	KUNIT_EXPECT_EQ(test, run32(f, 0x284 + 0x20), 1);
	KUNIT_EXPECT_EQ(test, run32(f, 0x284 + 0x28), 7);
	KUNIT_EXPECT_EQ(test, seq32(f, START + 0x24), 42);
	KUNIT_EXPECT_EQ(test, seq64(f, START + 0x30), 0x1000000007);
	KUNIT_EXPECT_EQ(test, seq64(f, START + 0x15c), 0x123456789a);
	KUNIT_EXPECT_EQ(test, seq32(f, FINALIZE + 0x14), 42);
	KUNIT_EXPECT_EQ(test, seq64(f, FINALIZE + 0x28), FW_STAMP_VA);
	KUNIT_EXPECT_EQ(test, seq32(f, FINALIZE + 0x30), 0x4200);
}

/* Everything else was there before. */
static void patch_touches_nothing_else(struct kunit *test)
{
	static const struct {
		size_t offset, size;
	} in_run[] = { { 0x4, 8 }, { 0x10, 4 }, { 0x288, 0x18 }, { 0x2a4, 4 },
			{ 0x2ac, 4 } },
	  in_seq[] = { { START + 0x24, 4 }, { START + 0x30, 8 }, { START + 0x15c, 8 },
		       { FINALIZE + 0x14, 4 }, { FINALIZE + 0x28, 12 } };
	struct fixture *f = test->priv;
	struct fixture *before = kunit_kzalloc(test, sizeof(*before), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, before);
	build(f);
	*before = *f;
	patch(f);
	for (int i = 0; i < ARRAY_SIZE(in_run); i++)
		memcpy(f->run + in_run[i].offset, before->run + in_run[i].offset,
		       in_run[i].size);
	for (int i = 0; i < ARRAY_SIZE(in_seq); i++)
		memcpy(f->microseq + in_seq[i].offset, before->microseq + in_seq[i].offset,
		       in_seq[i].size);
	KUNIT_EXPECT_MEMEQ(test, f->run, before->run, sizeof(f->run));
	KUNIT_EXPECT_MEMEQ(test, f->microseq, before->microseq, sizeof(f->microseq));
}

static void stays_in_its_memory(struct kunit *test)
{
	struct fixture *f = test->priv;

	build(f);
	patch(f);
	KUNIT_ASSERT_LT(test, f->work.run_size, sizeof(f->run));
	KUNIT_EXPECT_NULL(test, memchr_inv(f->run + f->work.run_size, 0,
					   sizeof(f->run) - f->work.run_size));
	KUNIT_EXPECT_EQ(test, f->work.microseq.size, END);
	KUNIT_EXPECT_NULL(test, memchr_inv(f->microseq + END, 0, sizeof(f->microseq) - END));
}

static void queue_info_has_its_addresses(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->abi->queue_info_init(f->run, &(struct asahi_queue_info) {
		.state_va = 0x1000,
		.ring_va = 0x2000,
		.notifier_list_va = 0x3000,
		.gpu_buf_va = 0x4000,
		.context_va = 0x5000,
		.pipe = AGX_PIPE_VERTEX,
	});
	for (int i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, run64(f, 8 * i), 0x1000 * (i + 1));
	KUNIT_EXPECT_EQ(test, run64(f, 0xa4), 0x5000);
}

static void compute_is_not_preempted(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->abi->queue_info_init(f->run, &(struct asahi_queue_info) {
		.priority = 3,
		.pipe = AGX_PIPE_COMPUTE,
	});
	KUNIT_EXPECT_EQ(test, run32(f, 0x30), 0);
	KUNIT_EXPECT_EQ(test, run32(f, 0x34), 3);
	KUNIT_EXPECT_EQ(test, run32(f, 0x48), 1);
}

static void notifier_has_its_threshold(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->abi->notifier_init(f->run, 0x1000, 7);
	KUNIT_EXPECT_EQ(test, run64(f, 0), 0x1000);
	KUNIT_EXPECT_EQ(test, run32(f, 0x8), 7);
}

static struct kunit_case compute_tests[] = {
	KUNIT_CASE(command_has_its_times),
	KUNIT_CASE(attachments_are_passed_on),
	KUNIT_CASE(patch_sets_slots_and_stamps),
	KUNIT_CASE(patch_touches_nothing_else),
	KUNIT_CASE(stays_in_its_memory),
	KUNIT_CASE(queue_info_has_its_addresses),
	KUNIT_CASE(compute_is_not_preempted),
	KUNIT_CASE(notifier_has_its_threshold),
	{}
};

static struct kunit_suite compute_suite = {
	.name = "asahi_compute",
	.init = compute_test_init,
	.test_cases = compute_tests,
};

kunit_test_suite(compute_suite);
