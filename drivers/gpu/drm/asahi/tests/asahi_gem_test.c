// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of buffer objects: which memory of other devices the GPU can map, where
 * an offset is, and what an exported object has to be like.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem_shmem_helper.h>

#include "asahi_block.h"
#include "asahi_device.h"
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

/* Every offset is found, in the piece that a walk from the first one finds. */
static void asahi_test_index(struct kunit *test)
{
	static const unsigned int pages[] = { 1, 3, 1, 1, 7, 2, 1, 64, 1 };
	struct scatterlist sg[ARRAY_SIZE(pages)];
	struct sg_table sgt = { .sgl = sg, .orig_nents = ARRAY_SIZE(sg), .nents = ARRAY_SIZE(sg) };
	struct asahi_gem_index *index;
	u64 offset = 0, start = 0;
	unsigned int i;

	sg_init_table(sg, ARRAY_SIZE(sg));
	for (i = 0; i < ARRAY_SIZE(pages); i++)
		sg_dma_len(&sg[i]) = pages[i] * SZ_16K;

	index = asahi_gem_index_create(&sgt);
	KUNIT_ASSERT_NOT_NULL(test, index);
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		for (; offset < start + pages[i] * SZ_16K; offset += SZ_16K) {
			KUNIT_EXPECT_PTR_EQ(test, asahi_gem_index_find(index, offset)->sg, &sg[i]);
			KUNIT_EXPECT_EQ(test, asahi_gem_index_find(index, offset)->start, start);
		}
		start = offset;
	}
	kvfree(index);
}

static const struct file_operations asahi_gem_test_fops = {
	.owner = THIS_MODULE,
};

static const struct drm_driver asahi_gem_test_driver = {
	.driver_features = DRIVER_GEM,
	.gem_create_object = asahi_gem_create_object,
	.fops = &asahi_gem_test_fops,
	.name = "asahi-gem-test",
	.desc = "objects for tests",
	.major = 1,
};

/* What an importer maps for the kernel was written back from the caches before. */
static void asahi_test_export(struct kunit *test)
{
	struct device *dev = kunit_device_register(test, "asahi-gem");
	struct drm_gem_shmem_object *shmem;
	struct asahi_device *adev;
	struct dma_buf *dma_buf;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)), 0);
	adev = devm_drm_dev_alloc(dev, &asahi_gem_test_driver, struct asahi_device, drm);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, adev);
	KUNIT_ASSERT_EQ(test, asahi_block_gem.init(adev), 0);

	shmem = drm_gem_shmem_create(&adev->drm, SZ_64K);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, shmem);
	shmem->map_wc = true;
	KUNIT_EXPECT_NULL(test, shmem->sgt);
	dma_buf = shmem->base.funcs->export(&shmem->base, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dma_buf);
	KUNIT_EXPECT_NOT_NULL(test, shmem->sgt);

	dma_buf_put(dma_buf);
	drm_gem_object_put(&shmem->base);
	asahi_block_gem.fini(adev);
}

static struct kunit_case asahi_gem_cases[] = {
	KUNIT_CASE_PARAM(asahi_test_mappable, memory_gen_params),
	KUNIT_CASE(asahi_test_index),
	KUNIT_CASE(asahi_test_export),
	{}
};

static struct kunit_suite asahi_gem_suite = {
	.name = "asahi_gem",
	.test_cases = asahi_gem_cases,
};

kunit_test_suite(asahi_gem_suite);

MODULE_IMPORT_NS("DMA_BUF");
