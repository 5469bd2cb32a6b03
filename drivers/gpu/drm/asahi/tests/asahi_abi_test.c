// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of what the firmware is told: messages and initdata, byte for byte,
 * with the offsets written out.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/unaligned.h>

#include <agx/agx_rtkit.h>
#include <agx/agx_uat.h>

#include "asahi_abi.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_hw.h"
#include "asahi_initdata.h"

static const struct asahi_abi *g13_13_5(struct kunit *test)
{
	static const u32 version[3] = { 13, 5, 0 };
	const struct asahi_abi *abi = asahi_abi_select(version, ASAHI_GEN_G13);

	KUNIT_ASSERT_NOT_NULL(test, abi);
	return abi;
}

/**
 * struct version - what is different in the versions
 * @version: firmware
 * @gen: generation
 * @hwdata_a: bytes of HwDataA
 * @hwdata_b: bytes of HwDataB
 * @globals: bytes of Globals
 * @initdata: bytes of InitData
 * @runtime: bytes of RuntimePointers
 * @tx_msg: bytes of a message to the firmware
 * @stats_msg: bytes of a message with statistics
 * @pending_submissions: offset in Globals
 * @pending_stamps: offset in Globals
 * @fault_control: offset in Globals
 * @slot_shift: position of the slot in a pending stamp
 * @io_mappings: offset in HwDataB
 * @bufmgr: offset in RuntimePointers
 * @oas_mask: offset in InitData, of the first level's
 * @host_mapped: offset in InitData
 * @initialize: type of that message
 */
struct version {
	u32 version[3];
	enum asahi_gen gen;
	size_t hwdata_a, hwdata_b, globals, initdata, runtime, tx_msg, stats_msg;
	size_t pending_submissions, pending_stamps, fault_control;
	unsigned int slot_shift;
	size_t io_mappings, bufmgr, oas_mask, host_mapped;
	u32 initialize;
};

static const struct version abi_versions[] = {
	{
		{ 12, 3, 0 }, ASAHI_GEN_G13, 0x3d6c, 0xb6c, 0x11d40, 0xb4, 0x6bc0, 0x30, 0x30,
		0x8904, 0x1103c, 0x10e80, 3, 0x1d0, 0x214, 0x3c, 0xa0, 0x19,
	}, {
		{ 12, 4, 0 }, ASAHI_GEN_G14G, 0x3d6c, 0xb6c, 0x11d40, 0xb4, 0x6bc0, 0x30, 0x30,
		0x8904, 0x1103c, 0x10e80, 3, 0x1d0, 0x214, 0x3c, 0xa0, 0x19,
	}, {
		{ 13, 5, 0 }, ASAHI_GEN_G13, 0x421c, 0x1884, 0x12394, 0xbc, 0x6bc0, 0x30, 0x40,
		0x8974, 0x111a8, 0x10fd8, 4, 0x640, 0x214, 0x44, 0xa8, 0x1a,
	}, {
		{ 13, 5, 0 }, ASAHI_GEN_G14G, 0x421c, 0x1884, 0x12394, 0xbc, 0x6bc0, 0x40, 0x40,
		0x8974, 0x111a8, 0x10fd8, 4, 0x640, 0x214, 0x44, 0xa8, 0x1a,
	}, {
		{ 13, 5, 0 }, ASAHI_GEN_G14X, 0x6c34, 0x1884, 0x1715c, 0xbc, 0xb3b0, 0x30, 0x40,
		0xd1c0, 0x159f0, 0x15820, 4, 0x640, 0x204, 0x44, 0xa8, 0x1a,
	},
};

static void sizes_and_offsets(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(abi_versions); i++) {
		const struct version *v = &abi_versions[i];
		const struct asahi_abi *abi = asahi_abi_select(v->version, v->gen);

		KUNIT_ASSERT_NOT_NULL(test, abi);
		KUNIT_EXPECT_EQ(test, abi->initdata->hwdata_a_size, v->hwdata_a);
		KUNIT_EXPECT_EQ(test, abi->initdata->hwdata_b_size, v->hwdata_b);
		KUNIT_EXPECT_EQ(test, abi->initdata->globals_size, v->globals);
		KUNIT_EXPECT_EQ(test, abi->initdata->initdata_size, v->initdata);
		KUNIT_EXPECT_EQ(test, abi->initdata->runtime_size, v->runtime);
		KUNIT_EXPECT_EQ(test, abi->initdata->pending_submissions, v->pending_submissions);
		KUNIT_EXPECT_EQ(test, abi->initdata->pending_stamps, v->pending_stamps);
		KUNIT_EXPECT_EQ(test, abi->initdata->pending_slot_shift, v->slot_shift);
		KUNIT_EXPECT_EQ(test, abi->initdata->fault_control, v->fault_control);
		KUNIT_EXPECT_EQ(test, abi->channel->pipe_msg_size, v->tx_msg);
		KUNIT_EXPECT_EQ(test, abi->channel->dc_msg_size, v->tx_msg);
		KUNIT_EXPECT_EQ(test, abi->channel->stats_msg_size, v->stats_msg);
	}
}

static void initialize_of_each_version(struct kunit *test)
{
	static const struct asahi_dc_msg msg = { .type = ASAHI_DC_INITIALIZE };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(abi_versions); i++) {
		const struct version *v = &abi_versions[i];
		u8 entry[0x40] = {};

		asahi_abi_select(v->version, v->gen)->channel->encode_dc(entry, &msg);
		KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry), v->initialize);
	}
}

static void pipe_message(struct kunit *test)
{
	const struct asahi_pipe_msg msg = {
		.pipe_type = AGX_PIPE_COMPUTE,
		.queue_va = 0xffffffa012345680ULL,
		.wptr = 0x55,
		.event_slot = 0x7f,
		.is_new = true,
	};
	u8 entry[0x30] = {};

	g13_13_5(test)->channel->encode_pipe(entry, &msg);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry + 0x0), 2);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(entry + 0x4), msg.queue_va);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry + 0xc), 0x55);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry + 0x10), 0x7f);
	KUNIT_EXPECT_EQ(test, entry[0x14], 1);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(entry + 0x15, 0, 0x1b));
}

static void device_control_messages(struct kunit *test)
{
	const struct asahi_dc_msg initialize = { .type = ASAHI_DC_INITIALIZE };
	const struct asahi_dc_msg destroy = {
		.type = ASAHI_DC_DESTROY_CONTEXT,
		.destroy_context = {
			.ctx_0 = 0xa0, .ctx_1 = 0xa1, .ctx_4 = 0xa4, .ctx_23 = 0xb3,
			.context_va = 0xffffffa800000100ULL,
		},
	};
	const struct asahi_dc_msg grow = {
		.type = ASAHI_DC_GROW_TVB_ACK,
		.grow_tvb_ack = {
			.buffer_slot = 126, .vm_slot = 63, .counter = 7,
			.halt_count = 0x123456789aULL,
		},
	};
	const struct asahi_dc_msg recover = {
		.type = ASAHI_DC_RECOVER_CHANNEL,
		.recover_channel = {
			.pipe_type = AGX_PIPE_FRAGMENT,
			.queue_va = 0xffffffa000000200ULL,
			.event_value = 0x1200,
		},
	};
	const struct asahi_channel_abi *abi = g13_13_5(test)->channel;
	u8 entry[0x30] = {};

	abi->encode_dc(entry, &initialize);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry), 0x1a);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(entry + 4, 0, 0x2c));

	memset(entry, 0, sizeof(entry));
	abi->encode_dc(entry, &destroy);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry), 0x18);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry + 4), 0);
	KUNIT_EXPECT_EQ(test, entry[0x8], 0xb3);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(entry + 0x9, 0, 8));
	KUNIT_EXPECT_EQ(test, entry[0x11], 0xa0);
	KUNIT_EXPECT_EQ(test, entry[0x12], 0xa1);
	KUNIT_EXPECT_EQ(test, entry[0x13], 0xa4);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(entry + 0x14), 0xffffffa800000100ULL);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(entry + 0x1c, 0, 0x14));

	memset(entry, 0, sizeof(entry));
	abi->encode_dc(entry, &recover);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry), 0xf);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry + 4), 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(entry + 8), 0xffffffa000000200ULL);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry + 0x10), 0x1200);

	memset(entry, 0, sizeof(entry));
	abi->encode_dc(entry, &grow);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry), 0xe);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry + 4), 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry + 8), 126);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry + 0xc), 63);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry + 0x10), 7);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(entry + 0x14), 0);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(entry + 0x18), 0x123456789aULL);
}

/* Addresses that tell what they are the address of. */
#define PART_VA(part)	(AGX_VA_PRIVATE_START + 0x100000ULL * ((part) + 1))
#define SRAM_VA		(AGX_VA_MMIO_START + 0x10000000ULL)
#define IO_VA(index)	(AGX_VA_MMIO_START + 0x100000ULL * (index))
#define RING_VA(n)	(AGX_VA_SHARED_START + 0x10000ULL * (n))

static struct asahi_channel_va ring_va(unsigned int n)
{
	return (struct asahi_channel_va){ RING_VA(n), RING_VA(n) + 0x8000 };
}

static struct asahi_initdata_layout *filled_as(struct kunit *test, const struct asahi_hw *hw,
					       const struct asahi_abi *abi)
{
	struct asahi_initdata_layout *layout;
	struct asahi_device *adev;
	unsigned int i;

	adev = kunit_kzalloc(test, sizeof(*adev), GFP_KERNEL);
	layout = kunit_kzalloc(test, sizeof(*layout), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, adev);
	KUNIT_ASSERT_NOT_NULL(test, layout);
	adev->hw = hw;
	adev->abi = abi;

	for (i = 0; i < ASAHI_INITDATA_PARTS; i++) {
		layout->map[i] = kunit_kzalloc(test, 0x18000, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, layout->map[i]);
		layout->va[i] = PART_VA(i);
	}
	for (i = 0; i < ASAHI_IO_MAPS; i++)
		layout->io_va[i] = hw->io_maps[i].size ? IO_VA(i) : 0;
	layout->sram_va = hw->sram_size ? SRAM_VA : 0;
	for (i = 0; i < AGX_PRIORITY_COUNT * AGX_PIPE_COUNT; i++)
		layout->channels.pipe[i / AGX_PIPE_COUNT][i % AGX_PIPE_COUNT] = ring_va(i);
	layout->channels.device_control = ring_va(12);
	layout->channels.event = ring_va(13);
	layout->channels.log = ring_va(14);
	layout->channels.ktrace = ring_va(15);
	layout->channels.stats = ring_va(16);
	layout->channels.fwctl = ring_va(17);
	layout->channels.log_payload = RING_VA(18);

	abi->initdata->fill(adev, layout);
	return layout;
}

static struct asahi_initdata_layout *filled(struct kunit *test)
{
	return filled_as(test, &asahi_hw_t8103, g13_13_5(test));
}

static void root(struct kunit *test)
{
	struct asahi_initdata_layout *layout = filled(test);
	u8 *p = layout->map[ASAHI_INITDATA_ROOT];

	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p), 0x00b006011f286ba0ULL);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 0x8), PART_VA(ASAHI_INITDATA_UNK_BUF));
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 0x18), PART_VA(ASAHI_INITDATA_RUNTIME));
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 0x20), PART_VA(ASAHI_INITDATA_GLOBALS));
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 0x28), PART_VA(ASAHI_INITDATA_FW_STATUS));
	KUNIT_EXPECT_EQ(test, get_unaligned_le16(p + 0x30), 0x4000);
	KUNIT_EXPECT_EQ(test, p[0x32], 14);
	KUNIT_EXPECT_EQ(test, p[0x33], 3);
	/* Level 1: constants, shift, entries, table size, masks. */
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(p + 0x34), 0x240e0e08);
	KUNIT_EXPECT_EQ(test, get_unaligned_le16(p + 0x38), 8);
	KUNIT_EXPECT_EQ(test, get_unaligned_le16(p + 0x3a), 0x4000);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 0x3c), 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 0x44), 0xffffffc000ULL);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 0x4c), 0x7000000000ULL);
	KUNIT_EXPECT_EQ(test, p[0x57], 25);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 0x6c), 0xffe000000ULL);
	KUNIT_EXPECT_EQ(test, p[0x77], 14);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 0x8c), 0x1ffc000ULL);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(p + 0xa8), 1);
}

static void runtime_pointers(struct kunit *test)
{
	static const struct {
		unsigned int offset;
		u64 value;
	} words[] = {
		{ 0xc0, RING_VA(12) }, { 0xc8, RING_VA(12) + 0x8000 },
		{ 0xd0, RING_VA(13) }, { 0xe0, RING_VA(14) },
		{ 0xf0, RING_VA(15) }, { 0x100, RING_VA(16) },
		{ 0x170, PART_VA(ASAHI_INITDATA_STATS_VTX) },
		{ 0x178, PART_VA(ASAHI_INITDATA_STATS_FRAG) },
		{ 0x180, PART_VA(ASAHI_INITDATA_STATS_COMP) },
		{ 0x188, PART_VA(ASAHI_INITDATA_HWDATA_A) },
		{ 0x190, PART_VA(ASAHI_INITDATA_UNK_190) },
		{ 0x198, PART_VA(ASAHI_INITDATA_UNK_198) },
		{ 0x1a0, PART_VA(ASAHI_INITDATA_HWDATA_B) },
		{ 0x1a8, PART_VA(ASAHI_INITDATA_HWDATA_B) },
		{ 0x1b0, RING_VA(18) },
		{ 0x1b8, PART_VA(ASAHI_INITDATA_UNK_1B8) },
		{ 0x1c0, PART_VA(ASAHI_INITDATA_UNK_1C0) },
		{ 0x1c8, PART_VA(ASAHI_INITDATA_UNK_1C8) },
		{ 0x214, 0x2000000000ULL }, { 0x21c, 0xffffffaeffff0000ULL },
		{ 0x6b38, 0xff },
	};
	struct asahi_initdata_layout *layout = filled(test);
	u8 *p = layout->map[ASAHI_INITDATA_RUNTIME];
	unsigned int i;

	for (i = 0; i < 12; i++) {
		KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + i * 0x10), RING_VA(i));
		KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + i * 0x10 + 8), RING_VA(i) + 0x8000);
	}
	for (i = 0; i < ARRAY_SIZE(words); i++)
		KUNIT_EXPECT_EQ_MSG(test, get_unaligned_le64(p + words[i].offset), words[i].value,
				    "at %#x", words[i].offset);
}

static void io_mappings(struct kunit *test)
{
	struct asahi_initdata_layout *layout = filled(test);
	u8 *p = layout->map[ASAHI_INITDATA_HWDATA_B] + 0x640;
	unsigned int i, used = 0;

	for (i = 0; i < 25; i++, p += 0x20) {
		if (!get_unaligned_le64(p))
			continue;
		used |= BIT(i);
		KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 8), IO_VA(i));
		KUNIT_EXPECT_EQ(test, get_unaligned_le32(p + 0x10), get_unaligned_le32(p + 0x14));
	}
	KUNIT_EXPECT_EQ(test, used, 0x2f8f);

	p = layout->map[ASAHI_INITDATA_HWDATA_B] + 0x640;
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p), 0x204d00000ULL);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(p + 0x10), 0x1c000);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 0x18), 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(p + 0x20 + 0x18), 0);
}

/**
 * struct soc - what the firmware is told of a SoC
 * @hw: the SoC
 * @used: indices of its register ranges
 * @caches: bytes of the memory caches' registers, of all and of each
 * @cache: index 11 is that of the memory caches
 * @oas_mask: page numbers
 */
struct soc {
	const struct asahi_hw *hw;
	u32 used, caches, cache;
	u64 oas_mask;
};

static const struct soc socs[] = {
	{ &asahi_hw_t8103, 0x002f8f, 0xd6400, 0xd6400, 0xffffffc000 },
	{ &asahi_hw_t8112, 0x0f0e8f, 0xd6400, 0xd6400, 0xffffffc000 },
	{ &asahi_hw_t6000, 0x0c4e8f, 4 * 0xd8000, 0xd8000, 0x3ffffffc000 },
	{ &asahi_hw_t6001, 0x0c4e8f, 8 * 0xd8000, 0xd8000, 0x3ffffffc000 },
	{ &asahi_hw_t6002, 0x0cce8f, 16 * 0xd8000, 0xd8000, 0x3ffffffc000 },
	{ &asahi_hw_t6020, 0x3c1a8f, 4 * 0xd8000, 0xd8000, 0x3ffffffc000 },
	{ &asahi_hw_t6021, 0x3c1a8f, 8 * 0xd8000, 0xd8000, 0x3ffffffc000 },
	{ &asahi_hw_t6022, 0x3c1a8f, 16 * 0xd8000, 0xd8000, 0x3ffffffc000 },
};

static void initdata_of(struct kunit *test, const struct version *v, const struct soc *soc)
{
	struct asahi_initdata_layout *layout =
		filled_as(test, soc->hw, asahi_abi_select(v->version, v->gen));
	u8 *root = layout->map[ASAHI_INITDATA_ROOT];
	u8 *runtime = layout->map[ASAHI_INITDATA_RUNTIME];
	u8 *hwdata = layout->map[ASAHI_INITDATA_HWDATA_B];
	u8 *io = hwdata + v->io_mappings;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, get_unaligned_le64(root + v->oas_mask), soc->oas_mask);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(root + v->host_mapped), 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(runtime + v->bufmgr), AGX_VA_BUFMGR_LOW);
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(runtime + v->bufmgr + 8), AGX_VA_BUFMGR);

	for (i = 0; i < 20 || (i < 25 && v->version[0] > 12); i++) {
		bool used = soc->used & BIT(i);

		KUNIT_EXPECT_EQ(test, get_unaligned_le64(io + i * 0x20 + 8), used ? IO_VA(i) : 0);
		KUNIT_EXPECT_EQ(test, !!get_unaligned_le64(io + i * 0x20), used);
	}
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(io + 11 * 0x20), 0x200000000ULL);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(io + 11 * 0x20 + 0x10), soc->caches);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(io + 11 * 0x20 + 0x14), soc->cache);
	if (v->version[0] > 12)
		KUNIT_EXPECT_EQ(test, get_unaligned_le64(hwdata + 0x960),
				v->gen == ASAHI_GEN_G14X ? SRAM_VA : 0);
}

static void initdata_of_each(struct kunit *test)
{
	unsigned int i, j, combinations = 0;

	for (i = 0; i < ARRAY_SIZE(abi_versions); i++) {
		for (j = 0; j < ARRAY_SIZE(socs); j++) {
			if (socs[j].hw->gen != abi_versions[i].gen)
				continue;
			initdata_of(test, &abi_versions[i], &socs[j]);
			combinations++;
		}
	}
	KUNIT_EXPECT_EQ(test, combinations, 13);
}

static void status_and_statistics(struct kunit *test)
{
	struct asahi_initdata_layout *layout = filled(test);
	u8 *status = layout->map[ASAHI_INITDATA_FW_STATUS];
	u8 *frag = layout->map[ASAHI_INITDATA_STATS_FRAG];

	KUNIT_EXPECT_EQ(test, get_unaligned_le64(status), RING_VA(17));
	KUNIT_EXPECT_EQ(test, get_unaligned_le64(status + 8), RING_VA(17) + 0x8000);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(frag + 0x108), U32_MAX);
	KUNIT_EXPECT_EQ(test, get_unaligned_le32(frag + 0x120), U32_MAX);
}

static struct kunit_case abi_cases[] = {
	KUNIT_CASE(sizes_and_offsets),
	KUNIT_CASE(initialize_of_each_version),
	KUNIT_CASE(pipe_message),
	KUNIT_CASE(device_control_messages),
	KUNIT_CASE(root),
	KUNIT_CASE(runtime_pointers),
	KUNIT_CASE(io_mappings),
	KUNIT_CASE(initdata_of_each),
	KUNIT_CASE(status_and_statistics),
	{}
};

static struct kunit_suite abi_suite = {
	.name = "asahi_abi",
	.test_cases = abi_cases,
};

kunit_test_suite(abi_suite);
