// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of which memory of other devices the GPU can map.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/scatterlist.h>
#include <linux/sizes.h>

#include "asahi_gem.h"

struct piece {
	dma_addr_t addr;
	unsigned int len;
};

struct memory_case {
	const char *name;
	struct piece pieces[3];
	u64 size;
	bool mappable;
};

static const struct memory_case memory_cases[] = {
	{ "one piece", { { SZ_1G, SZ_64K } }, SZ_64K, true },
	{ "several pieces", { { SZ_1G, SZ_16K }, { SZ_1M, SZ_32K } }, 3 * SZ_16K, true },
	{ "more than needed", { { SZ_1G, SZ_64K } }, SZ_16K, true },
	{ "less than needed", { { SZ_1G, SZ_16K } }, SZ_32K, false },
	{ "nothing", { }, SZ_16K, false },
	{ "unaligned address", { { SZ_1G + SZ_4K, SZ_16K } }, SZ_16K, false },
	{ "unaligned length", { { SZ_1G, SZ_16K + SZ_4K } }, SZ_16K, false },
	{ "unaligned piece in the middle",
	  { { SZ_1G, SZ_16K }, { SZ_1M, SZ_4K }, { SZ_2M, SZ_16K } }, SZ_16K, false },
	{ "unaligned by one byte", { { SZ_1G + 1, SZ_16K } }, SZ_16K, false },
};

KUNIT_ARRAY_PARAM_DESC(memory, memory_cases, name);

static void asahi_test_mappable(struct kunit *test)
{
	const struct memory_case *c = test->param_value;
	struct scatterlist sg[ARRAY_SIZE(c->pieces)];
	struct sg_table sgt = { .sgl = sg, .orig_nents = ARRAY_SIZE(sg) };
	unsigned int i;

	sg_init_table(sg, ARRAY_SIZE(sg));
	for (i = 0; i < ARRAY_SIZE(sg) && c->pieces[i].len; i++) {
		sg_dma_address(&sg[i]) = c->pieces[i].addr;
		sg_dma_len(&sg[i]) = c->pieces[i].len;
		sgt.nents++;
	}

	KUNIT_EXPECT_EQ(test, c->mappable, asahi_gem_mappable(&sgt, c->size));
}

static struct kunit_case asahi_gem_cases[] = {
	KUNIT_CASE_PARAM(asahi_test_mappable, memory_gen_params),
	{}
};

static struct kunit_suite asahi_gem_suite = {
	.name = "asahi_gem",
	.test_cases = asahi_gem_cases,
};

kunit_test_suite(asahi_gem_suite);
