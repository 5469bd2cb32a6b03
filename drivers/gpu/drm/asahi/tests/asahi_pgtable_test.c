// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the page tables.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/static_stub.h>
#include <kunit/test.h>

#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>

#include <agx/agx_uat.h>

#include "asahi_debugfs.h"
#include "asahi_pgtable.h"

#define OAS_BITS	42
#define PAGE		AGX_PAGE_SIZE
#define LEAF		SZ_32M
#define GIB		SZ_1G

/* Made-up memory: nothing looks behind a page entry. */
#define MEM		0x80000000ULL

#define RW		ASAHI_PROT_GPU_SHARED_RW
#define RO		ASAHI_PROT_GPU_SHARED_RO

#define PTE_BITS	(AGX_PTE_TYPE | AGX_PTE_AF | AGX_PTE_OS | AGX_PTE_NG)
#define PTE_RW(pa)	((pa) | PTE_BITS | AGX_PROT_GPU_SHARED_RW)
#define PTE_RO(pa)	((pa) | PTE_BITS | AGX_PROT_GPU_SHARED_RO)

struct change {
	enum asahi_pt_op op;
	u64 va;
	u64 size;
	u64 pa;
};

static struct asahi_pgtable *new_tree(struct kunit *test)
{
	struct asahi_pgtable *pt = kunit_kzalloc(test, sizeof(*pt), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-pgtable");

	KUNIT_ASSERT_NOT_NULL(test, pt);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	KUNIT_ASSERT_EQ(test, 0, asahi_pgtable_init_user(pt, dev, OAS_BITS));
	return pt;
}

static void free_tree(struct kunit *test, struct asahi_pgtable *pt)
{
	asahi_pgtable_fini(pt);
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
}

/* What the MMU finds: from a physical root, through the entries alone. */
static u64 walk_from(u64 root, u64 va, unsigned int levels)
{
	const u64 mask = GENMASK_ULL(OAS_BITS - 1, AGX_PAGE_SHIFT);
	const unsigned int shift[] = {
		AGX_UAT_L1_SHIFT, AGX_UAT_L2_SHIFT, AGX_UAT_L3_SHIFT,
	};
	u64 entry = root | AGX_PTE_TYPE;
	unsigned int i;

	va &= GENMASK_ULL(AGX_UAT_IAS - 1, 0);
	for (i = 0; i < levels; i++) {
		const __le64 *table = phys_to_virt(entry & mask);

		if ((entry & AGX_PTE_TYPE_MASK) != AGX_PTE_TYPE)
			return 0;
		entry = le64_to_cpu(table[(va >> shift[i]) % AGX_UAT_L3_ENTRIES]);
	}

	return entry;
}

static u64 walk_levels(struct asahi_pgtable *pt, u64 va, unsigned int levels)
{
	return walk_from(asahi_pgtable_root(pt), va, levels);
}

static bool is_block(u64 entry)
{
	return (entry & AGX_PTE_TYPE_MASK) == AGX_PTE_BLOCK;
}

static u64 walk(struct asahi_pgtable *pt, u64 va)
{
	u64 block = walk_levels(pt, va, 2);

	if (is_block(block))
		return (block | AGX_PTE_TYPE) + ALIGN_DOWN(va % LEAF, PAGE);
	return walk_levels(pt, va, AGX_UAT_LEVELS);
}

static void expect_walk(struct kunit *test, struct asahi_pgtable *pt, u64 va)
{
	struct asahi_pt_walk found;
	unsigned int i;

	asahi_pgtable_walk(pt, va, &found);
	for (i = 0; i < found.levels; i++)
		KUNIT_EXPECT_EQ_MSG(test, found.entry[i], walk_levels(pt, va, i + 1),
				    "va %#llx, level %u", va, i + 1);
	if (found.levels < AGX_UAT_LEVELS && !is_block(found.entry[found.levels - 1]))
		KUNIT_EXPECT_EQ_MSG(test, found.entry[found.levels - 1], 0, "va %#llx", va);
}

static void expect(struct kunit *test, struct asahi_pgtable *pt, u64 va, u64 pte)
{
	expect_walk(test, pt, va);
	KUNIT_EXPECT_EQ_MSG(test, walk(pt, va), pte, "va %#llx", va);
	KUNIT_EXPECT_EQ_MSG(test, asahi_pgtable_lookup(pt, va), pte, "va %#llx", va);
}

/* An object's memory in one piece. */
static struct scatterlist piece(const struct change *c)
{
	struct scatterlist sg;

	sg_init_table(&sg, 1);
	sg_dma_address(&sg) = c->pa;
	sg_dma_len(&sg) = c->size;
	return sg;
}

static int reserve(struct asahi_pt_pool *pool, const struct change *c)
{
	struct scatterlist sg = piece(c);

	if (c->op == ASAHI_PT_MAP)
		return asahi_pgtable_reserve_sg(pool->pt, pool, c->va, &sg, 0, c->size);
	return asahi_pgtable_reserve(pool->pt, pool, c->va, c->size, c->op);
}

static void apply(struct asahi_pt_pool *pool, const struct change *c)
{
	struct scatterlist sg = piece(c);

	switch (c->op) {
	case ASAHI_PT_MAP:
		asahi_pgtable_map_sg(pool->pt, pool, c->va, &sg, 0, c->size, RW);
		break;
	case ASAHI_PT_MAP_SINGLE:
		asahi_pgtable_map_single(pool->pt, pool, c->va, c->pa, c->size, RO);
		break;
	case ASAHI_PT_UNMAP:
		asahi_pgtable_unmap(pool->pt, pool, c->va, c->size);
		break;
	}
}

/* Leaves in the list what has to be invalidated in between, for whoever looks at all of it. */
static void split(struct asahi_pt_pool *pool)
{
	asahi_pgtable_break(pool->pt, pool);
	asahi_pgtable_make(pool->pt, pool);
}

static int transact(struct asahi_pgtable *pt, const struct change *changes,
		    unsigned int count, struct asahi_pt_pool *pool)
{
	unsigned int i;
	int ret = 0;

	asahi_pt_pool_init(pool, pt);
	for (i = 0; i < count && !ret; i++)
		ret = reserve(pool, &changes[i]);
	if (!ret)
		split(pool);
	for (i = 0; i < count && !ret; i++)
		apply(pool, &changes[i]);

	asahi_pt_pool_settle(pool);
	asahi_pt_pool_fini(pool);
	return ret;
}

static struct asahi_pt_pool do_change(struct kunit *test, struct asahi_pgtable *pt,
				      struct change c)
{
	struct asahi_pt_pool pool;

	KUNIT_ASSERT_EQ(test, 0, transact(pt, &c, 1, &pool));
	return pool;
}

static bool flushes(const struct asahi_pt_pool *pool, u64 va)
{
	return asahi_ranges_meet(&pool->flush, va, va + PAGE);
}

#define MAP(va, size, pa)	((struct change){ ASAHI_PT_MAP, va, size, pa })
#define SINGLE(va, size, pa)	((struct change){ ASAHI_PT_MAP_SINGLE, va, size, pa })
#define UNMAP(va, size)		((struct change){ ASAHI_PT_UNMAP, va, size, 0 })

static void asahi_test_map_one(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree(test);
	struct asahi_pt_pool pool;

	expect(test, pt, PAGE, 0);
	pool = do_change(test, pt, MAP(PAGE, PAGE, MEM));
	/* What was never mapped is in no TLB. */
	KUNIT_EXPECT_EQ(test, 0, pool.flush.count);
	expect(test, pt, 0, 0);
	expect(test, pt, PAGE, PTE_RW(MEM));
	expect(test, pt, 2 * PAGE, 0);
	KUNIT_EXPECT_EQ(test, 2, pt->pages);

	pool = do_change(test, pt, UNMAP(PAGE, PAGE));
	KUNIT_EXPECT_TRUE(test, flushes(&pool, PAGE));
	expect(test, pt, PAGE, 0);
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
	free_tree(test, pt);
}

static void asahi_test_map_across(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree(test);
	u64 border = BIT_ULL(AGX_UAT_L1_SHIFT);
	u64 i;

	/* Over a border of level 1, so with two tables of each kind. */
	do_change(test, pt, MAP(border - 3 * PAGE, 6 * PAGE, MEM));
	KUNIT_EXPECT_EQ(test, 4, pt->pages);
	for (i = 0; i < 6; i++)
		expect(test, pt, border + (i - 3) * PAGE, PTE_RW(MEM + i * PAGE));
	expect(test, pt, border - 4 * PAGE, 0);
	expect(test, pt, border + 3 * PAGE, 0);

	do_change(test, pt, UNMAP(border, 3 * PAGE));
	KUNIT_EXPECT_EQ(test, 2, pt->pages);
	expect(test, pt, border, 0);
	expect(test, pt, border - PAGE, PTE_RW(MEM + 2 * PAGE));
	free_tree(test, pt);
}

static void asahi_test_protections(struct kunit *test)
{
	static const u64 bits[ASAHI_PROT_COUNT] = {
		[ASAHI_PROT_FW_MMIO_RW]		= 0x0040000000000044,
		[ASAHI_PROT_FW_MMIO_RO]		= 0x0000000000000044,
		[ASAHI_PROT_FW_SHARED_RW]	= 0x0040000000000048,
		[ASAHI_PROT_FW_SHARED_RO]	= 0x0000000000000048,
		[ASAHI_PROT_FW_PRIV_RW]		= 0x0040000000000040,
		[ASAHI_PROT_GPU_FW_SHARED_RW]	= 0x0060000000000008,
		[ASAHI_PROT_GPU_FW_PRIV_RW]	= 0x0060000000000000,
		[ASAHI_PROT_GPU_RO_FW_PRIV_RW]	= 0x0060000000000040,
		[ASAHI_PROT_GPU_SHARED_RW]	= 0x0040000000000088,
		[ASAHI_PROT_GPU_SHARED_RO]	= 0x0000000000000088,
		[ASAHI_PROT_GPU_SHARED_WO]	= 0x0020000000000088,
	};
	struct asahi_pgtable *pt = new_tree(test);
	struct asahi_pt_pool pool;
	enum asahi_prot prot;

	asahi_pt_pool_init(&pool, pt);
	KUNIT_ASSERT_EQ(test, 0, asahi_pgtable_reserve(pt, &pool, LEAF, LEAF, ASAHI_PT_MAP));
	for (prot = 0; prot < ASAHI_PROT_COUNT; prot++)
		asahi_pgtable_map(pt, &pool, LEAF + prot * PAGE, MEM, PAGE, prot);
	asahi_pt_pool_settle(&pool);
	asahi_pt_pool_fini(&pool);

	for (prot = 0; prot < ASAHI_PROT_COUNT; prot++)
		expect(test, pt, LEAF + prot * PAGE, MEM | PTE_BITS | bits[prot]);

	asahi_pt_pool_init(&pool, pt);
	asahi_pgtable_protect(pt, &pool, LEAF, 2 * LEAF, ASAHI_PROT_FW_SHARED_RW);
	KUNIT_EXPECT_TRUE(test, asahi_pt_pool_settle(&pool));
	asahi_pt_pool_fini(&pool);

	for (prot = 0; prot < ASAHI_PROT_COUNT; prot++)
		expect(test, pt, LEAF + prot * PAGE,
		       MEM | PTE_BITS | bits[ASAHI_PROT_FW_SHARED_RW]);
	expect(test, pt, LEAF + ASAHI_PROT_COUNT * PAGE, 0);
	free_tree(test, pt);
}

static void asahi_test_kernel_tree(struct kunit *test)
{
	struct asahi_pgtable *pt = kunit_kzalloc(test, sizeof(*pt), GFP_KERNEL);
	__le64 *root = (__le64 *)get_zeroed_page(GFP_KERNEL);
	struct asahi_pt_pool pool;
	u64 va = AGX_VA_KERNEL_END - 2 * PAGE;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, pt);
	KUNIT_ASSERT_NOT_NULL(test, root);
	for (i = 0; i < AGX_UAT_L1_ENTRIES; i++)
		root[i] = cpu_to_le64(0x5a5a5a5a00000000ULL + i);

	asahi_pgtable_init_kernel(pt, NULL, OAS_BITS, root, virt_to_phys(root));
	asahi_pt_pool_init(&pool, pt);
	KUNIT_ASSERT_EQ(test, 0,
			asahi_pgtable_reserve(pt, &pool, va, 2 * PAGE, ASAHI_PT_MAP));
	asahi_pgtable_map(pt, &pool, va, MEM, 2 * PAGE, ASAHI_PROT_FW_SHARED_RW);
	asahi_pt_pool_settle(&pool);
	asahi_pt_pool_fini(&pool);

	/* Global, unlike what user trees map. */
	expect(test, pt, va + PAGE,
	       (MEM + PAGE) | AGX_PTE_TYPE | AGX_PTE_AF | AGX_PTE_OS |
	       AGX_PROT_FW_SHARED_RW);

	/* Tables stay, of which every context has a copy of the pointers. */
	pool = do_change(test, pt, UNMAP(AGX_VA_KERNEL_END - LEAF, LEAF));
	expect(test, pt, va + PAGE, 0);
	KUNIT_EXPECT_FALSE(test, pool.flush_tables);
	KUNIT_EXPECT_EQ(test, 2, pt->pages);
	asahi_pgtable_fini(pt);
	KUNIT_EXPECT_EQ(test, 0, pt->pages);

	/* The firmware's entries are none of the driver's business. */
	for (i = 0; i < AGX_UAT_L1_ENTRIES; i++)
		KUNIT_EXPECT_EQ(test, le64_to_cpu(root[i]),
				i == AGX_UAT_KERNEL_L1_INDEX ? 0 : 0x5a5a5a5a00000000ULL + i);
	free_page((unsigned long)root);
}

static void asahi_test_single_is_cheap(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree(test);
	u64 start = 64ULL * GIB - PAGE;
	u64 size = 64ULL * GIB + 2 * PAGE;
	struct asahi_pt_pool pool;

	do_change(test, pt, SINGLE(start, size, MEM));
	/* Three of level 2, the shared leaf, one for each end. */
	KUNIT_EXPECT_EQ(test, 6, pt->pages);
	expect(test, pt, start - PAGE, 0);
	expect(test, pt, start, PTE_RO(MEM));
	expect(test, pt, start + 33ULL * GIB, PTE_RO(MEM));
	expect(test, pt, start + size - PAGE, PTE_RO(MEM));
	expect(test, pt, start + size, 0);

	pool = do_change(test, pt, UNMAP(start, size));
	KUNIT_EXPECT_TRUE(test, flushes(&pool, start));
	KUNIT_EXPECT_TRUE(test, flushes(&pool, start + 33ULL * GIB));
	KUNIT_EXPECT_TRUE(test, flushes(&pool, start + size - PAGE));
	KUNIT_EXPECT_TRUE(test, pool.flush_tables);
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
	free_tree(test, pt);
}

static void asahi_test_single_splits(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree(test);
	u64 va = 4ULL * GIB;

	do_change(test, pt, SINGLE(va, GIB, MEM));
	KUNIT_EXPECT_EQ(test, 2, pt->pages);

	/* A hole, a page and a whole block of something else. */
	do_change(test, pt, UNMAP(va + LEAF + 5 * PAGE, PAGE));
	KUNIT_EXPECT_EQ(test, 3, pt->pages);
	do_change(test, pt, MAP(va + LEAF + 7 * PAGE, PAGE, 2 * MEM));
	KUNIT_EXPECT_EQ(test, 3, pt->pages);
	do_change(test, pt, MAP(va + 4 * LEAF, LEAF, 3 * MEM));
	KUNIT_EXPECT_EQ(test, 4, pt->pages);

	expect(test, pt, va + LEAF - PAGE, PTE_RO(MEM));
	expect(test, pt, va + LEAF + 4 * PAGE, PTE_RO(MEM));
	expect(test, pt, va + LEAF + 5 * PAGE, 0);
	expect(test, pt, va + LEAF + 6 * PAGE, PTE_RO(MEM));
	expect(test, pt, va + LEAF + 7 * PAGE, PTE_RW(2 * MEM));
	expect(test, pt, va + 4 * LEAF - PAGE, PTE_RO(MEM));
	expect(test, pt, va + 4 * LEAF + PAGE, PTE_RW(3 * MEM + PAGE));
	expect(test, pt, va + 5 * LEAF, PTE_RO(MEM));
	expect(test, pt, va + GIB - PAGE, PTE_RO(MEM));

	/* And back again. */
	do_change(test, pt, SINGLE(va, GIB, MEM));
	KUNIT_EXPECT_EQ(test, 2, pt->pages);
	expect(test, pt, va + LEAF + 5 * PAGE, PTE_RO(MEM));
	do_change(test, pt, UNMAP(va, GIB));
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
	free_tree(test, pt);
}

static void asahi_test_order_in_transaction(struct kunit *test)
{
	static const struct change changes[] = {
		{ ASAHI_PT_MAP_SINGLE, 0x100000000ULL, SZ_256M, MEM },
		{ ASAHI_PT_UNMAP, 0x100000000ULL + PAGE, PAGE, 0 },
		{ ASAHI_PT_MAP, 0x100000000ULL + LEAF + 3 * PAGE, PAGE, 2 * MEM },
		{ ASAHI_PT_MAP_SINGLE, 0x100000000ULL + 2 * LEAF, 2 * LEAF, 3 * MEM },
		{ ASAHI_PT_MAP, 0x100000000ULL + 3 * LEAF - PAGE, 2 * PAGE, 4 * MEM },
		{ ASAHI_PT_UNMAP, 0x100000000ULL + 6 * LEAF, 2 * LEAF, 0 },
		{ ASAHI_PT_MAP, 0x100000000ULL + 6 * LEAF, PAGE, 5 * MEM },
	};
	struct asahi_pgtable *pt = new_tree(test);
	struct asahi_pt_pool pool;
	u64 va = changes[0].va;

	KUNIT_ASSERT_EQ(test, 0, transact(pt, changes, ARRAY_SIZE(changes), &pool));
	expect(test, pt, va, PTE_RO(MEM));
	expect(test, pt, va + PAGE, 0);
	expect(test, pt, va + 2 * PAGE, PTE_RO(MEM));
	expect(test, pt, va + LEAF + 3 * PAGE, PTE_RW(2 * MEM));
	expect(test, pt, va + LEAF + 4 * PAGE, PTE_RO(MEM));
	expect(test, pt, va + 2 * LEAF, PTE_RO(3 * MEM));
	expect(test, pt, va + 3 * LEAF - PAGE, PTE_RW(4 * MEM));
	expect(test, pt, va + 3 * LEAF, PTE_RW(4 * MEM + PAGE));
	expect(test, pt, va + 3 * LEAF + PAGE, PTE_RO(3 * MEM));
	expect(test, pt, va + 5 * LEAF, PTE_RO(MEM));
	expect(test, pt, va + 6 * LEAF, PTE_RW(5 * MEM));
	expect(test, pt, va + 6 * LEAF + PAGE, 0);
	expect(test, pt, va + 7 * LEAF, 0);

	do_change(test, pt, UNMAP(va, SZ_256M));
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
	free_tree(test, pt);
}

static void asahi_test_reserve_is_invisible(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree(test);
	struct asahi_pt_pool pool;

	do_change(test, pt, SINGLE(GIB, 4 * LEAF, MEM));
	asahi_pt_pool_init(&pool, pt);
	KUNIT_ASSERT_EQ(test, 0, asahi_pgtable_reserve(pt, &pool, GIB + PAGE, 8 * LEAF,
						       ASAHI_PT_MAP));
	expect(test, pt, GIB, PTE_RO(MEM));
	expect(test, pt, GIB + PAGE, PTE_RO(MEM));
	expect(test, pt, GIB + 4 * LEAF, 0);
	/* Given up: what was only reserved goes again. */
	asahi_pt_pool_settle(&pool);
	asahi_pt_pool_fini(&pool);
	expect(test, pt, GIB + PAGE, PTE_RO(MEM));
	expect(test, pt, GIB + 4 * LEAF, 0);

	do_change(test, pt, UNMAP(GIB, 4 * LEAF));
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
	free_tree(test, pt);
}

static void asahi_test_unmap_nothing(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree(test);

	/* Nothing to remove, in a tree without tables: not an error. */
	do_change(test, pt, UNMAP(PAGE, 511ULL * GIB));
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
	free_tree(test, pt);
}

static struct asahi_pgtable *new_tree_of_blocks(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree(test);

	pt->blocks = true;
	return pt;
}

/* Of a table that is already there. */
#define BLOCK_RW(pa)	((PTE_RW(pa) & ~AGX_PTE_TYPE_MASK) | AGX_PTE_BLOCK)

static void asahi_test_block(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree_of_blocks(test);
	struct asahi_pt_pool pool;
	u64 i;

	/* Two whole blocks, and a page at each end that needs a leaf. */
	do_change(test, pt, MAP(GIB - PAGE, 2 * LEAF + 2 * PAGE, MEM - PAGE));
	KUNIT_EXPECT_EQ(test, 3, pt->pages);
	KUNIT_EXPECT_EQ(test, walk_levels(pt, GIB, 2), BLOCK_RW(MEM));
	KUNIT_EXPECT_EQ(test, walk_levels(pt, GIB + LEAF, 2), BLOCK_RW(MEM + LEAF));
	for (i = 0; i < 2 * LEAF + 2 * PAGE; i += LEAF / 4)
		expect(test, pt, GIB - PAGE + i, PTE_RW(MEM - PAGE + i));
	expect(test, pt, GIB + 2 * LEAF, PTE_RW(MEM + 2 * LEAF));
	expect(test, pt, GIB + 2 * LEAF + PAGE, 0);

	/* The same again is no change; other memory is, of all of the block. */
	pool = do_change(test, pt, MAP(GIB, LEAF, MEM));
	KUNIT_EXPECT_EQ(test, 0, pool.flush.count);
	pool = do_change(test, pt, MAP(GIB, LEAF, 2 * MEM));
	KUNIT_EXPECT_TRUE(test, flushes(&pool, GIB));
	KUNIT_EXPECT_TRUE(test, flushes(&pool, GIB + LEAF - PAGE));
	KUNIT_EXPECT_FALSE(test, pool.flush_tables);
	expect(test, pt, GIB + LEAF - PAGE, PTE_RW(2 * MEM + LEAF - PAGE));

	pool = do_change(test, pt, UNMAP(GIB, LEAF));
	KUNIT_EXPECT_TRUE(test, flushes(&pool, GIB));
	KUNIT_EXPECT_TRUE(test, flushes(&pool, GIB + LEAF - PAGE));
	KUNIT_EXPECT_FALSE(test, pool.flush_tables);
	expect(test, pt, GIB + PAGE, 0);
	expect(test, pt, GIB + LEAF, PTE_RW(MEM + LEAF));

	do_change(test, pt, UNMAP(GIB - PAGE, 2 * LEAF + 2 * PAGE));
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
	free_tree(test, pt);
}

static void asahi_test_no_block(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree_of_blocks(test);
	struct scatterlist sg[2];
	struct asahi_pt_pool pool;

	/* Not aligned, in memory or in the address space. */
	do_change(test, pt, MAP(GIB, LEAF, MEM + PAGE));
	do_change(test, pt, MAP(GIB + LEAF + PAGE, LEAF, MEM));
	/* In two pieces that are next to each other only by address. */
	sg_init_table(sg, ARRAY_SIZE(sg));
	sg_dma_address(&sg[0]) = MEM;
	sg_dma_len(&sg[0]) = LEAF / 2;
	sg_dma_address(&sg[1]) = 2 * MEM + LEAF / 2;
	sg_dma_len(&sg[1]) = LEAF / 2;
	asahi_pt_pool_init(&pool, pt);
	KUNIT_ASSERT_EQ(test, 0, asahi_pgtable_reserve_sg(pt, &pool, 2ULL * GIB, sg, 0, LEAF));
	asahi_pgtable_map_sg(pt, &pool, 2ULL * GIB, sg, 0, LEAF, RW);
	asahi_pt_pool_settle(&pool);
	asahi_pt_pool_fini(&pool);

	KUNIT_EXPECT_FALSE(test, is_block(walk_levels(pt, GIB, 2)));
	KUNIT_EXPECT_FALSE(test, is_block(walk_levels(pt, GIB + LEAF, 2)));
	KUNIT_EXPECT_FALSE(test, is_block(walk_levels(pt, 2ULL * GIB, 2)));
	expect(test, pt, GIB + PAGE, PTE_RW(MEM + 2 * PAGE));
	expect(test, pt, GIB + LEAF + 2 * PAGE, PTE_RW(MEM + PAGE));
	expect(test, pt, 2ULL * GIB + LEAF / 2, PTE_RW(2 * MEM + LEAF / 2));

	/* And nowhere, if nobody has allowed it. */
	do_change(test, pt, UNMAP(0, 4ULL * GIB));
	pt->blocks = false;
	do_change(test, pt, MAP(GIB, LEAF, MEM));
	KUNIT_EXPECT_FALSE(test, is_block(walk_levels(pt, GIB, 2)));
	do_change(test, pt, UNMAP(GIB, LEAF));
	free_tree(test, pt);
}

/* Broken, invalidated, and made again: at no time there are a block and a leaf. */
static void asahi_test_split(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree_of_blocks(test);
	struct asahi_pt_pool pool;
	u64 va = GIB + LEAF;

	do_change(test, pt, MAP(GIB, 3 * LEAF, MEM));
	asahi_pt_pool_init(&pool, pt);
	KUNIT_ASSERT_EQ(test, 0, asahi_pgtable_reserve(pt, &pool, va + 3 * PAGE, PAGE,
						       ASAHI_PT_UNMAP));
	/* Once more, as binds of the same block do. */
	KUNIT_ASSERT_EQ(test, 0, asahi_pgtable_reserve(pt, &pool, va + 9 * PAGE, PAGE,
						       ASAHI_PT_MAP));
	KUNIT_EXPECT_EQ(test, 2, pt->pages);
	KUNIT_EXPECT_TRUE(test, is_block(walk_levels(pt, va, 2)));
	KUNIT_EXPECT_EQ(test, 0, pool.flush.count);

	asahi_pgtable_break(pt, &pool);
	KUNIT_EXPECT_EQ(test, 0, walk_levels(pt, va, 2));
	KUNIT_EXPECT_TRUE(test, flushes(&pool, va));
	KUNIT_EXPECT_TRUE(test, flushes(&pool, va + LEAF - PAGE));
	KUNIT_EXPECT_FALSE(test, flushes(&pool, va - PAGE));
	KUNIT_EXPECT_FALSE(test, flushes(&pool, va + LEAF));
	pool.flush.count = 0;

	asahi_pgtable_make(pt, &pool);
	KUNIT_EXPECT_EQ(test, 0, pool.flush.count);
	expect(test, pt, va, PTE_RW(MEM + LEAF));
	expect(test, pt, va + LEAF - PAGE, PTE_RW(MEM + 2 * LEAF - PAGE));
	asahi_pgtable_unmap(pt, &pool, va + 3 * PAGE, PAGE);
	asahi_pt_pool_settle(&pool);
	asahi_pt_pool_fini(&pool);

	expect(test, pt, va + 2 * PAGE, PTE_RW(MEM + LEAF + 2 * PAGE));
	expect(test, pt, va + 3 * PAGE, 0);
	expect(test, pt, va + 4 * PAGE, PTE_RW(MEM + LEAF + 4 * PAGE));
	KUNIT_EXPECT_TRUE(test, is_block(walk_levels(pt, GIB, 2)));
	KUNIT_EXPECT_TRUE(test, is_block(walk_levels(pt, GIB + 2 * LEAF, 2)));
	do_change(test, pt, UNMAP(GIB, 3 * LEAF));
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
	free_tree(test, pt);
}

static void asahi_test_split_given_up(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree_of_blocks(test);
	struct asahi_pt_pool pool;

	do_change(test, pt, MAP(GIB, LEAF, MEM));
	asahi_pt_pool_init(&pool, pt);
	KUNIT_ASSERT_EQ(test, 0, asahi_pgtable_reserve(pt, &pool, GIB, PAGE, ASAHI_PT_UNMAP));
	KUNIT_EXPECT_FALSE(test, asahi_pt_pool_settle(&pool));
	asahi_pt_pool_fini(&pool);
	KUNIT_EXPECT_EQ(test, 1, pt->pages);
	KUNIT_EXPECT_EQ(test, walk_levels(pt, GIB, 2), BLOCK_RW(MEM));

	/* Nothing is left of it that the next one could find. */
	do_change(test, pt, UNMAP(GIB + PAGE, PAGE));
	expect(test, pt, GIB, PTE_RW(MEM));
	expect(test, pt, GIB + PAGE, 0);
	do_change(test, pt, UNMAP(GIB, LEAF));
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
	free_tree(test, pt);
}

static int blocks_counted(void)
{
	return atomic_read(&asahi_counts[ASAHI_COUNT_PGTABLE_BLOCK]);
}

/* Also where nothing is unmapped before the tree goes, as with an address space. */
static void asahi_test_blocks_are_counted(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree_of_blocks(test);
	int before = blocks_counted();

	do_change(test, pt, MAP(GIB, 5 * LEAF, MEM));
	KUNIT_EXPECT_EQ(test, blocks_counted(), before + 5);
	do_change(test, pt, MAP(GIB, LEAF, 2 * MEM));
	KUNIT_EXPECT_EQ(test, blocks_counted(), before + 5);
	do_change(test, pt, UNMAP(GIB + PAGE, PAGE));
	KUNIT_EXPECT_EQ(test, blocks_counted(), before + 4);
	do_change(test, pt, SINGLE(GIB + LEAF, LEAF, MEM));
	KUNIT_EXPECT_EQ(test, blocks_counted(), before + 3);
	do_change(test, pt, UNMAP(GIB + 2 * LEAF, LEAF));
	KUNIT_EXPECT_EQ(test, blocks_counted(), before + 2);
	free_tree(test, pt);
	KUNIT_EXPECT_EQ(test, blocks_counted(), before);
}

/* The allocation that fails next, counted down; 0 for none. */
static unsigned int fail_after;

static struct page *failing_alloc_page(gfp_t gfp)
{
	if (!--fail_after)
		return NULL;

	return alloc_pages(gfp | __GFP_ZERO, get_order(AGX_PAGE_SIZE));
}

static void allocation_fails(struct kunit *test, struct asahi_pgtable *pt)
{
	static const struct change changes[] = {
		{ ASAHI_PT_MAP, 0x200000000ULL - PAGE, 2 * LEAF, 7 * MEM },
		{ ASAHI_PT_MAP_SINGLE, 0x1000000000ULL - 3 * PAGE, SZ_256M, 8 * MEM },
		{ ASAHI_PT_UNMAP, 0x100000000ULL + LEAF + PAGE, PAGE, 0 },
		{ ASAHI_PT_UNMAP, 0x300000000ULL + LEAF - PAGE, 2 * PAGE, 0 },
	};
	struct asahi_pt_pool pool;
	unsigned int n = 0;
	int ret;

	do_change(test, pt, SINGLE(0x100000000ULL, SZ_256M, MEM));
	do_change(test, pt, MAP(0x300000000ULL, 2 * LEAF, 3 * MEM));
	do_change(test, pt, MAP(0x200000000ULL, PAGE, 2 * MEM));

	kunit_activate_static_stub(test, asahi_pgtable_alloc_page, failing_alloc_page);
	for (;;) {
		fail_after = ++n;
		ret = transact(pt, changes, ARRAY_SIZE(changes), &pool);
		if (!ret)
			break;

		KUNIT_ASSERT_EQ(test, -ENOMEM, ret);
		expect(test, pt, 0x200000000ULL - PAGE, 0);
		expect(test, pt, 0x200000000ULL, PTE_RW(2 * MEM));
		expect(test, pt, 0x200000000ULL + PAGE, 0);
		expect(test, pt, 0x1000000000ULL, 0);
		expect(test, pt, 0x100000000ULL + LEAF + PAGE, PTE_RO(MEM));
		expect(test, pt, 0x300000000ULL + LEAF, PTE_RW(3 * MEM + LEAF));
	}
	kunit_deactivate_static_stub(test, asahi_pgtable_alloc_page);

	KUNIT_EXPECT_GT(test, n, 6);
	expect(test, pt, 0x200000000ULL, PTE_RW(7 * MEM + PAGE));
	expect(test, pt, 0x1000000000ULL, PTE_RO(8 * MEM));
	expect(test, pt, 0x100000000ULL + LEAF + PAGE, 0);
	expect(test, pt, 0x300000000ULL + LEAF, 0);
	expect(test, pt, 0x300000000ULL + LEAF + PAGE, PTE_RW(3 * MEM + LEAF + PAGE));

	do_change(test, pt, UNMAP(PAGE, 511ULL * GIB));
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
	free_tree(test, pt);
}

static void asahi_test_allocation_fails(struct kunit *test)
{
	allocation_fails(test, new_tree(test));
}

static void asahi_test_block_allocation_fails(struct kunit *test)
{
	allocation_fails(test, new_tree_of_blocks(test));
}

#define PART_START	(BIT_ULL(AGX_UAT_L1_SHIFT) - 2 * (u64)LEAF)
#define PART_END	(BIT_ULL(AGX_UAT_L1_SHIFT) + 2 * (u64)LEAF)

static u64 walk_stripped(struct asahi_pgtable *pt, u64 va, unsigned int levels)
{
	return walk_from(asahi_pgtable_stripped_root(pt), va, levels);
}

/* The second root leads to the part, and to nothing beside it. */
static void asahi_test_stripped(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree(test);

	KUNIT_EXPECT_EQ(test, asahi_pgtable_stripped_root(pt), 0);
	KUNIT_ASSERT_EQ(test, asahi_pgtable_init_stripped(pt, PART_START, PART_END), 0);
	KUNIT_EXPECT_EQ(test, pt->stripped.pages, 3);
	KUNIT_EXPECT_NE(test, asahi_pgtable_stripped_root(pt), asahi_pgtable_root(pt));

	do_change(test, pt, MAP(PART_START - PAGE, 4ULL * LEAF + 2 * PAGE, MEM));
	KUNIT_EXPECT_EQ(test, walk_stripped(pt, PART_START - PAGE, 3), 0);
	KUNIT_EXPECT_EQ(test, walk_stripped(pt, PART_START, 3), PTE_RW(MEM + PAGE));
	KUNIT_EXPECT_EQ(test, walk_stripped(pt, PART_END - PAGE, 3), PTE_RW(MEM + 4ULL * LEAF));
	KUNIT_EXPECT_EQ(test, walk_stripped(pt, PART_END, 3), 0);

	/* A page that goes, and a leaf that comes with it. */
	do_change(test, pt, UNMAP(PART_START + PAGE, PAGE));
	KUNIT_EXPECT_EQ(test, walk_stripped(pt, PART_START + PAGE, 3), 0);
	do_change(test, pt, UNMAP(PART_START, 4ULL * LEAF));
	KUNIT_EXPECT_EQ(test, walk_stripped(pt, PART_START, 2), 0);
	KUNIT_EXPECT_EQ(test, walk_stripped(pt, PART_END - PAGE, 2), 0);

	do_change(test, pt, UNMAP(PART_START - PAGE, PAGE));
	do_change(test, pt, UNMAP(PART_END, PAGE));
	free_tree(test, pt);
	KUNIT_EXPECT_EQ(test, pt->stripped.pages, 0);
	KUNIT_EXPECT_EQ(test, asahi_pgtable_stripped_root(pt), 0);
}

/* Root and two tables: whichever is not to be had, nothing stays. */
static void asahi_test_stripped_allocation_fails(struct kunit *test)
{
	struct asahi_pgtable *pt = new_tree(test);

	kunit_activate_static_stub(test, asahi_pgtable_alloc_page, failing_alloc_page);
	for (unsigned int n = 1; n <= 3; n++) {
		fail_after = n;
		KUNIT_EXPECT_EQ(test, asahi_pgtable_init_stripped(pt, PART_START, PART_END),
				-ENOMEM);
		fail_after = 0;
		free_tree(test, pt);
		KUNIT_EXPECT_EQ(test, pt->stripped.pages, 0);
		KUNIT_ASSERT_EQ(test, asahi_pgtable_init_user(pt, pt->dev, OAS_BITS), 0);
	}
	kunit_deactivate_static_stub(test, asahi_pgtable_alloc_page);
	free_tree(test, pt);
}

/*
 * Random transactions against a plain array of what each page should show, at
 * a place where both a block border and a level 1 border are crossed.
 */
#define RANDOM_BLOCKS	6
#define RANDOM_PAGES	(RANDOM_BLOCKS * AGX_UAT_L3_ENTRIES)
#define RANDOM_START	(BIT_ULL(AGX_UAT_L1_SHIFT) - RANDOM_BLOCKS / 2 * (u64)LEAF)
#define RANDOM_CHANGES	6
#define RANDOM_ROUNDS	150

static struct change random_change(struct rnd_state *rnd)
{
	u32 first = prandom_u32_state(rnd) % RANDOM_PAGES;
	u32 count = 1 + prandom_u32_state(rnd) % (RANDOM_PAGES - first);
	struct change c;

	/* Small ones and whole blocks as often as anything. */
	switch (prandom_u32_state(rnd) % 3) {
	case 0:
		count = 1 + count % 16;
		count = min(count, RANDOM_PAGES - first);
		break;
	case 1:
		first = ALIGN_DOWN(first, AGX_UAT_L3_ENTRIES);
		count = AGX_UAT_L3_ENTRIES *
			(1 + count % (RANDOM_BLOCKS - first / AGX_UAT_L3_ENTRIES));
		break;
	}

	c.op = prandom_u32_state(rnd) % 3;
	c.va = RANDOM_START + first * PAGE;
	c.size = count * PAGE;
	c.pa = MEM + (prandom_u32_state(rnd) % SZ_64K) * PAGE;
	/* Memory that could be mapped by blocks as often as not. */
	if (prandom_u32_state(rnd) % 2)
		c.pa = ALIGN_DOWN(c.pa, LEAF) + c.va % LEAF;
	return c;
}

static void model_change(u64 *model, const struct change *c)
{
	u64 first = (c->va - RANDOM_START) / PAGE;
	u64 i;

	for (i = 0; i < c->size / PAGE; i++) {
		if (c->op == ASAHI_PT_MAP)
			model[first + i] = PTE_RW(c->pa + i * PAGE);
		else if (c->op == ASAHI_PT_MAP_SINGLE)
			model[first + i] = PTE_RO(c->pa);
		else
			model[first + i] = 0;
	}
}

/* Everything that lost its translation has to be inside what is flushed. */
static unsigned int compare(struct asahi_pgtable *pt, const u64 *model, const u64 *old,
			    const struct asahi_pt_pool *pool)
{
	unsigned int i, bad = 0;

	for (i = 0; i < RANDOM_PAGES; i++) {
		u64 va = RANDOM_START + i * PAGE;

		if (walk(pt, va) != model[i] || asahi_pgtable_lookup(pt, va) != model[i])
			bad++;
		if (old[i] && old[i] != model[i] && !flushes(pool, va))
			bad++;
	}

	return bad;
}

/* The pointers to tables that the MMU can have cached: one per block and level. */
struct pointers {
	u64 entry[RANDOM_BLOCKS][AGX_UAT_LEVELS - 1];
};

static struct pointers get_pointers(struct asahi_pgtable *pt)
{
	struct pointers p;
	unsigned int i, level;

	for (i = 0; i < RANDOM_BLOCKS; i++)
		for (level = 1; level < AGX_UAT_LEVELS; level++)
			p.entry[i][level - 1] = walk_levels(pt, RANDOM_START + i * (u64)LEAF,
							    level);
	return p;
}

static bool pointers_lost(const struct pointers *before, const struct pointers *after)
{
	const u64 *old = &before->entry[0][0], *new = &after->entry[0][0];
	unsigned int i;

	for (i = 0; i < sizeof(*before) / sizeof(u64); i++)
		if (old[i] && old[i] != new[i] && !is_block(old[i]))
			return true;

	return false;
}

/* Blocks that are no more have to be invalidated from their first page to the last. */
static bool blocks_lost(const struct pointers *before, const struct pointers *after,
			const struct asahi_pt_pool *pool)
{
	unsigned int i, page;

	for (i = 0; i < RANDOM_BLOCKS; i++) {
		if (!is_block(before->entry[i][1]) || before->entry[i][1] == after->entry[i][1])
			continue;
		for (page = 0; page < AGX_UAT_L3_ENTRIES; page++)
			if (!flushes(pool, RANDOM_START + i * (u64)LEAF + page * PAGE))
				return true;
	}

	return false;
}

static bool stripped_differs(struct asahi_pgtable *pt)
{
	for (unsigned int i = 0; i < RANDOM_BLOCKS; i++) {
		u64 va = RANDOM_START + i * (u64)LEAF;
		bool part = va >= PART_START && va < PART_END;

		if (walk_stripped(pt, va, 2) != (part ? walk_levels(pt, va, 2) : 0))
			return true;
	}

	return false;
}

static unsigned int count_blocks(const struct pointers *p)
{
	unsigned int i, count = 0;

	for (i = 0; i < RANDOM_BLOCKS; i++)
		count += is_block(p->entry[i][1]);
	return count;
}

static void random_changes(struct kunit *test, struct asahi_pgtable *pt)
{
	u64 *model = vzalloc(2 * RANDOM_PAGES * sizeof(*model));
	u64 *old = model + RANDOM_PAGES;
	struct change changes[RANDOM_CHANGES];
	struct asahi_pt_pool pool;
	struct rnd_state rnd;
	struct pointers before, after;
	unsigned int round, i, count, blocks = 0, bad = 0;

	KUNIT_ASSERT_NOT_NULL(test, model);
	KUNIT_ASSERT_EQ(test, asahi_pgtable_init_stripped(pt, PART_START, PART_END), 0);
	prandom_seed_state(&rnd, 13);

	for (round = 0; round < RANDOM_ROUNDS && !bad; round++) {
		memcpy(old, model, RANDOM_PAGES * sizeof(*model));
		before = get_pointers(pt);
		count = 1 + prandom_u32_state(&rnd) % RANDOM_CHANGES;
		for (i = 0; i < count; i++) {
			changes[i] = random_change(&rnd);
			model_change(model, &changes[i]);
		}

		bad += transact(pt, changes, count, &pool) != 0;
		bad += compare(pt, model, old, &pool);
		bad += stripped_differs(pt);
		after = get_pointers(pt);
		bad += pointers_lost(&before, &after) && !pool.flush_tables;
		bad += blocks_lost(&before, &after, &pool);
		blocks += count_blocks(&after);
		/* A table per block at most, two of level 2. */
		bad += pt->pages > RANDOM_BLOCKS + 2;
	}
	KUNIT_EXPECT_EQ_MSG(test, 0, bad, "in round %u", round);
	KUNIT_EXPECT_EQ_MSG(test, !!blocks, pt->blocks, "%u blocks", blocks);

	do_change(test, pt, UNMAP(RANDOM_START, RANDOM_PAGES * PAGE));
	KUNIT_EXPECT_EQ(test, 0, pt->pages);
	vfree(model);
	free_tree(test, pt);
}

static void asahi_test_random(struct kunit *test)
{
	random_changes(test, new_tree(test));
}

static void asahi_test_block_random(struct kunit *test)
{
	random_changes(test, new_tree_of_blocks(test));
}

static struct kunit_case asahi_pgtable_cases[] = {
	KUNIT_CASE(asahi_test_map_one),
	KUNIT_CASE(asahi_test_map_across),
	KUNIT_CASE(asahi_test_protections),
	KUNIT_CASE(asahi_test_kernel_tree),
	KUNIT_CASE(asahi_test_single_is_cheap),
	KUNIT_CASE(asahi_test_single_splits),
	KUNIT_CASE(asahi_test_order_in_transaction),
	KUNIT_CASE(asahi_test_reserve_is_invisible),
	KUNIT_CASE(asahi_test_unmap_nothing),
	KUNIT_CASE(asahi_test_allocation_fails),
	KUNIT_CASE(asahi_test_stripped),
	KUNIT_CASE(asahi_test_stripped_allocation_fails),
	KUNIT_CASE(asahi_test_random),
	KUNIT_CASE(asahi_test_block),
	KUNIT_CASE(asahi_test_no_block),
	KUNIT_CASE(asahi_test_split),
	KUNIT_CASE(asahi_test_split_given_up),
	KUNIT_CASE(asahi_test_blocks_are_counted),
	KUNIT_CASE(asahi_test_block_allocation_fails),
	KUNIT_CASE(asahi_test_block_random),
	{}
};

static struct kunit_suite asahi_pgtable_suite = {
	.name = "asahi_pgtable",
	.test_cases = asahi_pgtable_cases,
};

kunit_test_suite(asahi_pgtable_suite);
