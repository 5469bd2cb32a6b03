// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of buffer objects: which memory of other devices the GPU can map, where
 * an offset is, when there is memory and when it is clean.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>

#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_gem.h"
#include "asahi_gem_priv.h"
#include "asahi_rest.h"
#include "asahi_rest_test.h"

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
	.fops = &asahi_gem_test_fops,
	.name = "asahi-gem-test",
	.desc = "objects for tests",
	.major = 1,
};

static struct asahi_device *create_device(struct kunit *test)
{
	struct device_dma_parameters *parms = kunit_kzalloc(test, sizeof(*parms), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-gem");
	struct asahi_device *adev;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	KUNIT_ASSERT_NOT_NULL(test, parms);
	dev->dma_parms = parms;
	dma_set_max_seg_size(dev, UINT_MAX);
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)), 0);
	adev = devm_drm_dev_alloc(dev, &asahi_gem_test_driver, struct asahi_device, drm);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, adev);
	KUNIT_ASSERT_EQ(test, asahi_block_gem.init(adev), 0);
	return adev;
}

static struct asahi_gem *create_object(struct kunit *test, struct asahi_device *adev,
				       bool map_wc)
{
	struct drm_gem_object *obj = asahi_gem_alloc(adev, SZ_64K, map_wc, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, obj);
	return to_asahi_gem(obj);
}

static void destroy(struct kunit *test, struct asahi_device *adev, struct asahi_gem *gem)
{
	drm_gem_object_put(&gem->base);
	expect_at_rest(test, &asahi_block_gem, adev, ASAHI_REST_IDLE | ASAHI_REST_CLOSED);
	asahi_block_gem.fini(adev);
}

static void vmap_gem(struct kunit *test, struct asahi_gem *gem, struct iosys_map *map)
{
	dma_resv_lock(gem->base.resv, NULL);
	KUNIT_ASSERT_EQ(test, gem->base.funcs->vmap(&gem->base, map), 0);
	dma_resv_unlock(gem->base.resv);
}

static void vunmap_gem(struct asahi_gem *gem, struct iosys_map *map)
{
	dma_resv_lock(gem->base.resv, NULL);
	gem->base.funcs->vunmap(&gem->base, map);
	dma_resv_unlock(gem->base.resv);
}

/* Neither making nor exporting an object takes memory, a pin does; it ends with the last. */
static void asahi_test_pins(struct kunit *test)
{
	struct asahi_device *adev = create_device(test);
	struct asahi_gem *gem = create_object(test, adev, false);
	struct iosys_map map, other;
	struct dma_buf *dma_buf;

	dma_buf = gem->base.funcs->export(&gem->base, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dma_buf);
	KUNIT_EXPECT_NULL(test, gem->pages);

	vmap_gem(test, gem, &map);
	KUNIT_EXPECT_NOT_NULL(test, gem->pages);
	KUNIT_EXPECT_EQ(test, gem->pins, 1);
	vmap_gem(test, gem, &other);
	KUNIT_EXPECT_PTR_EQ(test, map.vaddr, other.vaddr);
	KUNIT_EXPECT_EQ(test, gem->pins, 1);

	KUNIT_EXPECT_EQ(test, asahi_gem_pin(&gem->base), 0);
	KUNIT_EXPECT_EQ(test, gem->pins, 2);
	vunmap_gem(gem, &other);
	KUNIT_EXPECT_EQ(test, gem->pins, 2);
	vunmap_gem(gem, &map);
	KUNIT_EXPECT_EQ(test, gem->pins, 1);
	asahi_gem_unpin(&gem->base);
	KUNIT_EXPECT_EQ(test, gem->pins, 0);

	/* A thread of the kernel leaves the last reference to a worker. */
	dma_buf_put(dma_buf);
	flush_delayed_fput();
	destroy(test, adev, gem);
}

/* What the kernel maps write-combined was written back from the caches before. */
static void asahi_test_vmap_clean(struct kunit *test)
{
	struct asahi_device *adev = create_device(test);
	struct asahi_gem *gem = create_object(test, adev, true);
	struct iosys_map map;

	vmap_gem(test, gem, &map);
	KUNIT_EXPECT_NOT_NULL(test, gem->sgt);
	KUNIT_EXPECT_TRUE(test, gem->clean);
	vunmap_gem(gem, &map);

	destroy(test, adev, gem);
}

/* A bind finds the memory, and all of it is there as long as the bind is under way. */
static void asahi_test_bind(struct kunit *test)
{
	struct asahi_device *adev = create_device(test);
	struct asahi_gem *gem = create_object(test, adev, true);
	struct asahi_gem_piece piece;

	KUNIT_ASSERT_EQ(test, asahi_gem_begin_bind(&gem->base, 3 * SZ_16K, &piece), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gem->binds), 1);
	KUNIT_EXPECT_EQ(test, gem->pins, 0);
	KUNIT_EXPECT_EQ(test, sg_dma_address(piece.sg) + 3 * SZ_16K - piece.start,
			page_to_phys(gem->pages[3 * SZ_16K >> PAGE_SHIFT]));
	asahi_gem_end_bind(&gem->base);
	KUNIT_EXPECT_EQ(test, atomic_read(&gem->binds), 0);

	destroy(test, adev, gem);
}

/* Without a device there is memory, but nothing says that the caches are clean. */
static void asahi_test_unplugged(struct kunit *test)
{
	struct asahi_device *adev = create_device(test);
	struct asahi_gem *gem = create_object(test, adev, true);
	struct asahi_gem_piece piece;
	struct iosys_map map;

	adev->drm.unplugged = true;
	vmap_gem(test, gem, &map);
	KUNIT_EXPECT_NOT_NULL(test, gem->pages);
	KUNIT_EXPECT_NULL(test, gem->sgt);
	KUNIT_EXPECT_FALSE(test, gem->clean);
	expect_at_rest(test, &asahi_block_gem, adev, ASAHI_REST_AWAKE);
	KUNIT_EXPECT_EQ(test, asahi_gem_begin_bind(&gem->base, 0, &piece), -ENODEV);
	KUNIT_EXPECT_EQ(test, atomic_read(&gem->binds), 0);
	vunmap_gem(gem, &map);

	destroy(test, adev, gem);
}

/* Unplug takes the DMA mapping only: what was cleaned by it is still clean. */
static void asahi_test_unplug(struct kunit *test)
{
	struct asahi_device *adev = create_device(test);
	struct asahi_gem *gem = create_object(test, adev, true);
	struct iosys_map map;

	vmap_gem(test, gem, &map);
	*(u32 *)map.vaddr = 0x12345678;
	asahi_block_gem.unplug(adev);
	KUNIT_EXPECT_NULL(test, gem->sgt);
	KUNIT_EXPECT_NULL(test, gem->index);
	KUNIT_EXPECT_NOT_NULL(test, gem->pages);
	KUNIT_EXPECT_TRUE(test, gem->clean);
	KUNIT_EXPECT_EQ(test, *(u32 *)map.vaddr, 0x12345678);
	vunmap_gem(gem, &map);

	destroy(test, adev, gem);
}

static struct kunit_case asahi_gem_cases[] = {
	KUNIT_CASE_PARAM(asahi_test_mappable, memory_gen_params),
	KUNIT_CASE(asahi_test_index),
	KUNIT_CASE(asahi_test_pins),
	KUNIT_CASE(asahi_test_vmap_clean),
	KUNIT_CASE(asahi_test_bind),
	KUNIT_CASE(asahi_test_unplugged),
	KUNIT_CASE(asahi_test_unplug),
	{}
};

static struct kunit_suite asahi_gem_suite = {
	.name = "asahi_gem",
	.test_cases = asahi_gem_cases,
};

kunit_test_suite(asahi_gem_suite);

MODULE_IMPORT_NS("DMA_BUF");
