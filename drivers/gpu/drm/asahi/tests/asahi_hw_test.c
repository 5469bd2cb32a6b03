// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of core masks, fault registers, TLB invalidations and the choice of
 * the firmware's interface.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/bitfield.h>
#include <linux/sizes.h>

#include <drm/asahi_drm.h>

#include <agx/agx_regs.h>
#include <agx/agx_uat.h>

#include "asahi_abi.h"
#include "asahi_hw.h"
#include "asahi_tlb.h"

/* Core masks. */

static void cores_of_one_cluster(struct kunit *test)
{
	const u32 packed[2] = { 0x7f, 0 };
	u64 masks[1] = {};

	KUNIT_EXPECT_EQ(test, asahi_hw_unpack_cores(packed, 2, 8, 1, masks), 0);
	KUNIT_EXPECT_EQ(test, masks[0], 0x7f);
}

static void cores_across_words(struct kunit *test)
{
	/* Ten to a cluster: the fourth begins in one word and ends in the next. */
	const u32 packed[3] = { 0xffffffff, 0x000000ff, 0 };
	u64 masks[4] = {};
	unsigned int i;

	KUNIT_EXPECT_EQ(test, asahi_hw_unpack_cores(packed, 3, 10, 4, masks), 0);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, masks[i], 0x3ff);
}

static void cores_with_gaps(struct kunit *test)
{
	const u32 packed[2] = { 0xfe7fff7f, 0 };
	u64 masks[4] = {};

	KUNIT_EXPECT_EQ(test, asahi_hw_unpack_cores(packed, 2, 8, 4, masks), 0);
	KUNIT_EXPECT_EQ(test, masks[0], 0x7f);
	KUNIT_EXPECT_EQ(test, masks[1], 0xff);
	KUNIT_EXPECT_EQ(test, masks[2], 0x7f);
	KUNIT_EXPECT_EQ(test, masks[3], 0xfe);
}

static void cores_left_over(struct kunit *test)
{
	const u32 packed[2] = { 0x1ff, 0 };
	u64 masks[1] = {};

	KUNIT_EXPECT_EQ(test, asahi_hw_unpack_cores(packed, 2, 8, 1, masks), -EINVAL);
}

/* Identification. */

struct id_case {
	const struct asahi_hw *hw;
	struct asahi_hw_id id;
};

/* As the largest model of each kind would answer. */
static const struct id_case id_cases[] = {
	{ &asahi_hw_t8103, { 0x04021100, 0x808, 4 << 16, 1 << 12, { 0xff } } },
	{ &asahi_hw_t6000, { 0x04032000, 0x808, 4 << 16, 2 << 12, { 0xffff } } },
	{ &asahi_hw_t6001, { 0x04042000, 0x808, 4 << 16, 4 << 12, { 0xffffffff } } },
	{ &asahi_hw_t6002, { 0x04042000, 0x808, 4 << 16, 8 << 12, { ~0u, ~0u } } },
	{ &asahi_hw_t8112, { 0x05020000, 0xa0a, 4 << 16, 1 << 12, { 0x3ff } } },
	{ &asahi_hw_t6020, { 0x06032100, 0x1020a, 4 << 16, 0, { 0xfffff } } },
	{ &asahi_hw_t6021, { 0x06042100, 0x1040a, 4 << 16, 0, { ~0u, 0xff } } },
	{ &asahi_hw_t6022, { 0x06042100, 0x2040a, 4 << 16, 0, { ~0u, ~0u, 0xffff } } },
};

static void identify_each(struct kunit *test)
{
	struct drm_asahi_params_global *params;
	unsigned int i, j;

	params = kunit_kzalloc(test, sizeof(*params), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, params);

	for (i = 0; i < ARRAY_SIZE(id_cases); i++) {
		const struct asahi_hw *hw = id_cases[i].hw;

		memset(params, 0, sizeof(*params));
		KUNIT_EXPECT_STREQ(test, asahi_hw_identify(hw, &id_cases[i].id, params) ?: "", "");
		KUNIT_EXPECT_EQ(test, params->chip_id, hw->chip_id);
		KUNIT_EXPECT_EQ(test, params->gpu_variant, hw->variant);
		KUNIT_EXPECT_EQ(test, params->num_clusters_total, hw->max_clusters);
		KUNIT_EXPECT_EQ(test, params->num_cores_per_cluster, hw->max_cores);
		KUNIT_EXPECT_EQ(test, params->gpu_revision, id_cases[i].id.version >> 8 & 0xff);
		for (j = 0; j < hw->max_clusters; j++)
			KUNIT_EXPECT_EQ(test, params->core_masks[j], BIT(hw->max_cores) - 1);
		KUNIT_EXPECT_EQ(test, params->core_masks[j], 0);
	}
}

static void identify_no_other(struct kunit *test)
{
	struct drm_asahi_params_global *params;
	unsigned int i, j;

	params = kunit_kzalloc(test, sizeof(*params), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, params);

	for (i = 0; i < ARRAY_SIZE(id_cases); i++) {
		for (j = 0; j < ARRAY_SIZE(id_cases); j++) {
			if (i == j)
				continue;
			KUNIT_EXPECT_NOT_NULL(test, asahi_hw_identify(id_cases[i].hw,
								      &id_cases[j].id, params));
		}
	}
}

static void identify_nonsense(struct kunit *test)
{
	struct drm_asahi_params_global *params;
	struct asahi_hw_id good = id_cases[0].id, id;

	params = kunit_kzalloc(test, sizeof(*params), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, params);

	id = good;
	id.version = U32_MAX;
	KUNIT_EXPECT_STREQ(test, asahi_hw_identify(&asahi_hw_t8103, &id, params),
			   "another generation");
	id = good;
	id.version = 0x04090000;
	KUNIT_EXPECT_STREQ(test, asahi_hw_identify(&asahi_hw_t8103, &id, params),
			   "another variant");
	id = good;
	id.clusters = 0;
	KUNIT_EXPECT_STREQ(test, asahi_hw_identify(&asahi_hw_t8103, &id, params),
			   "implausible number of clusters");
	id = good;
	id.counts_1 = 0x0900;
	KUNIT_EXPECT_STREQ(test, asahi_hw_identify(&asahi_hw_t8103, &id, params),
			   "implausible number of cores");
	id = good;
	id.counts_1 = 0xff;
	KUNIT_EXPECT_STREQ(test, asahi_hw_identify(&asahi_hw_t8103, &id, params),
			   "implausible number of cores");
	id = good;
	id.counts_2 = 5 << 16;
	KUNIT_EXPECT_STREQ(test, asahi_hw_identify(&asahi_hw_t8103, &id, params),
			   "implausible number of geometry pipes");
	id = good;
	id.core_masks[1] = 1;
	KUNIT_EXPECT_STREQ(test, asahi_hw_identify(&asahi_hw_t8103, &id, params),
			   "more cores than the clusters can have");
}

/* Faults. */

static void fault_fields(struct kunit *test)
{
	struct asahi_fault_info info;
	u64 raw = AGX_FAULT_VALID | 3 << 1 | AGX_FAULT_READ | 2 << 7 | 0x21ULL << 9 |
		  0x2aULL << 17 | 0x55ULL << 23 | (0x1234567880ULL >> 6) << 30;

	asahi_hw_decode_fault(raw, 0, false, &info);
	KUNIT_EXPECT_EQ(test, info.raw, raw);
	KUNIT_EXPECT_EQ(test, info.address, 0x1234567880ULL);
	KUNIT_EXPECT_EQ(test, info.slot, 0x2a);
	KUNIT_EXPECT_EQ(test, info.unit, 0x21);
	KUNIT_EXPECT_EQ(test, info.reason, AGX_FAULT_REASON_READ_ONLY);
	KUNIT_EXPECT_EQ(test, info.level, 2);
	KUNIT_EXPECT_EQ(test, info.sideband, 0x55);
	KUNIT_EXPECT_TRUE(test, info.read);
	KUNIT_EXPECT_STREQ(test, asahi_hw_fault_unit(&info), "UL1C");
	KUNIT_EXPECT_STREQ(test, asahi_hw_fault_reason(&info), "read-only");
}

static void fault_address_of_g14x(struct kunit *test)
{
	struct asahi_fault_info info;

	asahi_hw_decode_fault(AGX_FAULT_VALID, 0x7654321000ULL >> 6, true, &info);
	KUNIT_EXPECT_EQ(test, info.address, 0x7654321000ULL);
	KUNIT_EXPECT_FALSE(test, info.read);
	KUNIT_EXPECT_STREQ(test, asahi_hw_fault_reason(&info), "unmapped");
}

static unsigned int count_named_units(bool g14x)
{
	struct asahi_fault_info info = { .g14x = g14x };
	unsigned int code, named = 0;

	for (code = 0; code < 0x100; code++) {
		info.unit = code;
		named += strcmp(asahi_hw_fault_unit(&info), "unknown") != 0;
	}
	return named;
}

static void fault_names(struct kunit *test)
{
	struct asahi_fault_info info = {};
	unsigned int code, named;

	/* Fifteen in each of ten groups, those of which there is one, and pairs. */
	KUNIT_EXPECT_EQ(test, count_named_units(false), 15 * 10 + 14 + 2 * 16);
	KUNIT_EXPECT_EQ(test, count_named_units(true), 15 * 10 + 14 + 9 + 2 * 7);

	info.unit = 0xe6;
	KUNIT_EXPECT_STREQ(test, asahi_hw_fault_unit(&info), "gCDM_CS_KS0");
	info.unit = 0xf9;
	KUNIT_EXPECT_STREQ(test, asahi_hw_fault_unit(&info), "gCDM_KS0");
	info.unit = 0xd1;
	KUNIT_EXPECT_STREQ(test, asahi_hw_fault_unit(&info), "unknown");
	info.g14x = true;
	KUNIT_EXPECT_STREQ(test, asahi_hw_fault_unit(&info), "gCDM_ID");
	info.unit = 0xf6;
	KUNIT_EXPECT_STREQ(test, asahi_hw_fault_unit(&info), "gRDE");

	named = 0;
	for (code = 0; code <= AGX_FAULT_REASON_MASK; code++) {
		info.reason = code;
		named += strcmp(asahi_hw_fault_reason(&info), "unknown") != 0;
	}
	KUNIT_EXPECT_EQ(test, named, 5);
}

/* TLB invalidation. */

static u64 covered_by(struct kunit *test, const struct asahi_tlbi *tlbi, u64 va, u16 asid)
{
	u64 scale, num;

	KUNIT_EXPECT_EQ(test, tlbi->arg >> 48, asid);

	if (tlbi->op == ASAHI_TLBI_PAGE) {
		KUNIT_EXPECT_EQ(test, tlbi->arg & GENMASK_ULL(43, 0),
				va >> 12 & GENMASK_ULL(43, 0));
		return 1;
	}

	KUNIT_EXPECT_EQ(test, tlbi->arg >> 46 & 3, 2);
	KUNIT_EXPECT_EQ(test, tlbi->arg >> 37 & 3, 0);
	KUNIT_EXPECT_EQ(test, tlbi->arg & GENMASK_ULL(36, 0), va >> 14 & GENMASK_ULL(36, 0));
	scale = tlbi->arg >> 44 & 3;
	num = tlbi->arg >> 39 & 0x1f;
	return (num + 1) << (5 * scale + 1);
}

static void tlbi_covers_exactly(struct kunit *test)
{
	static const u64 sizes[] = {
		1, 2, 3, 31, 63, 64, 65, 66, 2047, 2048, 2049, 65535, 65536, 65537,
		1 << 21, (1 << 21) + 1, 1 << 25, (1 << 25) - 1,
	};
	static const u64 starts[] = { 0, AGX_PAGE_SIZE, 0x7fffff8000ULL, AGX_VA_KERNEL_START };
	struct asahi_tlbi tlbi;
	unsigned int i, j, n;

	for (i = 0; i < ARRAY_SIZE(sizes) * ARRAY_SIZE(starts); i++) {
		u64 start = starts[i / ARRAY_SIZE(sizes)], pages = sizes[i % ARRAY_SIZE(sizes)];
		u64 va = start, left = pages, done = 0;

		for (n = 0; n < 100; n++) {
			u64 at = va;

			if (!asahi_tlb_next(&va, &left, i, &tlbi))
				break;
			done += covered_by(test, &tlbi, at, i);
			KUNIT_EXPECT_EQ(test, va, start + done * AGX_PAGE_SIZE);
			KUNIT_EXPECT_EQ(test, left, pages - done);
		}
		KUNIT_EXPECT_EQ(test, done, pages);
	}

	/* A whole VM's range does not take many instructions. */
	for (j = 0; j < 2; j++) {
		u64 va = 0, left = (1 << 25) - j;

		for (n = 0; asahi_tlb_next(&va, &left, 1, &tlbi); n++)
			;
		KUNIT_EXPECT_LE(test, n, 20);
	}
}

static void tlbi_of_nothing(struct kunit *test)
{
	u64 va = AGX_PAGE_SIZE, pages = 0;
	struct asahi_tlbi tlbi;

	KUNIT_EXPECT_FALSE(test, asahi_tlb_next(&va, &pages, 1, &tlbi));
	KUNIT_EXPECT_EQ(test, va, AGX_PAGE_SIZE);
}

/* Versions. */

static const struct asahi_abi *select(u32 major, u32 minor, u32 patch, enum asahi_gen gen)
{
	const u32 version[3] = { major, minor, patch };

	return asahi_abi_select(version, gen);
}

static void versions(struct kunit *test)
{
	const struct asahi_abi *abis[] = {
		select(12, 3, 0, ASAHI_GEN_G13), select(13, 5, 0, ASAHI_GEN_G13),
		select(12, 4, 0, ASAHI_GEN_G14G), select(13, 5, 0, ASAHI_GEN_G14G),
		select(13, 5, 0, ASAHI_GEN_G14X),
	};
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(abis); i++) {
		KUNIT_EXPECT_NOT_NULL(test, abis[i]);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_PTR_NE(test, abis[i], abis[j]);
	}

	KUNIT_EXPECT_NULL(test, select(12, 3, 0, ASAHI_GEN_G14G));
	KUNIT_EXPECT_NULL(test, select(12, 3, 0, ASAHI_GEN_G14X));
	KUNIT_EXPECT_NULL(test, select(12, 4, 0, ASAHI_GEN_G13));
	KUNIT_EXPECT_NULL(test, select(12, 4, 0, ASAHI_GEN_G14X));
	KUNIT_EXPECT_NULL(test, select(13, 5, 1, ASAHI_GEN_G13));
	KUNIT_EXPECT_NULL(test, select(0, 0, 0, ASAHI_GEN_G13));
}

/* Registers that the firmware accesses. */

static void io_map_is_sound(struct kunit *test, const struct asahi_io_map *io)
{
	if (!io->size)
		return;

	KUNIT_EXPECT_GT(test, io->count, 0);
	KUNIT_EXPECT_TRUE(test, io->count == 1 || io->stride >= io->size);
	/* For the firmware, elements and dies lie side by side. */
	if (io->count > 1 || io->per_die) {
		KUNIT_EXPECT_EQ(test, io->base & AGX_PAGE_MASK, 0);
		KUNIT_EXPECT_EQ(test, io->size & AGX_PAGE_MASK, 0);
		KUNIT_EXPECT_EQ(test, io->stride & AGX_PAGE_MASK, 0);
	}
}

static void io_maps(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(id_cases); i++) {
		const struct asahi_io_map *maps = id_cases[i].hw->io_maps;

		KUNIT_ASSERT_NOT_NULL(test, maps);
		for (j = 0; j < ASAHI_IO_MAPS; j++)
			io_map_is_sound(test, &maps[j]);
	}
}

static struct kunit_case hw_cases[] = {
	KUNIT_CASE(cores_of_one_cluster),
	KUNIT_CASE(cores_across_words),
	KUNIT_CASE(cores_with_gaps),
	KUNIT_CASE(cores_left_over),
	KUNIT_CASE(identify_each),
	KUNIT_CASE(identify_no_other),
	KUNIT_CASE(identify_nonsense),
	KUNIT_CASE(fault_fields),
	KUNIT_CASE(fault_address_of_g14x),
	KUNIT_CASE(fault_names),
	KUNIT_CASE(tlbi_covers_exactly),
	KUNIT_CASE(tlbi_of_nothing),
	KUNIT_CASE(versions),
	KUNIT_CASE(io_maps),
	{}
};

static struct kunit_suite hw_suite = {
	.name = "asahi_hw",
	.test_cases = hw_cases,
};

kunit_test_suite(hw_suite);
