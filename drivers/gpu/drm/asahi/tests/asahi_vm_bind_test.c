// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of VM_BIND against a model of mappings and one of TLBs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/static_stub.h>
#include <kunit/test.h>

#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include <drm/asahi_drm.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include <agx/agx_uat.h>

#include "asahi_block.h"
#include "asahi_client.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_gem.h"
#include "asahi_gem_priv.h"
#include "asahi_hw.h"
#include "asahi_lru.h"
#include "asahi_tlb.h"
#include "asahi_vm.h"
#include "asahi_vm_bind.h"
#include "asahi_vm_priv.h"

#define PAGE		AGX_PAGE_SIZE
#define BLOCK_PAGES	AGX_UAT_L3_ENTRIES
#define BLOCKS		4
#define PAGES		(BLOCKS * BLOCK_PAGES)
/* Two blocks before a border of level 1, and two behind it. */
#define VA		(BIT_ULL(AGX_UAT_L1_SHIFT) - BLOCKS / 2 * (u64)SZ_32M)
#define RESERVED_START	0x7000000000ULL
#define RESERVED_END	0x7100000000ULL

#define OBJECTS		2
#define OBJECT_PAGES	64
/* Made-up memory of an object, in one piece: nothing looks behind an entry. */
#define LARGE		1
#define LARGE_PAGES	(2 * BLOCK_PAGES)
#define LARGE_MEM	0x80000000ULL
#define MAX_OPS		32
#define VM		1
#define SLOT		5

#define SHOW		DRM_ASAHI_BIND_READ
#define SINGLE		(DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_SINGLE_PAGE)
#define UNBIND		DRM_ASAHI_BIND_UNBIND

/**
 * struct fixture - a client with an address space and two objects
 * @adev: device
 * @drm_file: handles
 * @afile: file of @drm_file
 * @vm: address space, which has context SLOT
 * @gem: the objects, of OBJECT_PAGES pages; the handle of each is its number and 1
 * @references: to each of @gem, in the beginning
 * @pa: where the pages of @gem are
 * @large: the memory of object LARGE, if that has LARGE_PAGES pages
 * @is_large: it has
 * @user: user memory for MAX_OPS operations
 * @model: what each page from VA on is to lead to, 0 for nothing
 * @tlb: the entry of each page that TLBs have, which is whatever could be in them
 * @tlb_blocks: the same of each block, if it is a block entry
 * @invalidations: how often something was invalidated
 * @last: what was invalidated last; no ranges for the context
 * @torn: entries that went from one page to another with no invalidation in between, and
 *	such of blocks that did so, or to a table
 */
struct fixture {
	struct asahi_device *adev;
	struct drm_file drm_file;
	struct asahi_file afile;
	struct asahi_vm *vm;
	struct drm_gem_object *gem[OBJECTS];
	unsigned int references[OBJECTS];
	u64 pa[OBJECTS][OBJECT_PAGES];
	struct scatterlist large;
	bool is_large;
	unsigned long user;
	u64 model[PAGES];
	u64 tlb[PAGES];
	u64 tlb_blocks[BLOCKS];
	unsigned int invalidations;
	struct asahi_ranges last;
	unsigned int torn;
};

static const struct file_operations bind_test_fops = {
	.owner = THIS_MODULE,
};

static const struct drm_driver bind_test_driver = {
	.driver_features = DRIVER_GEM,
	.fops = &bind_test_fops,
	.name = "asahi-bind-test",
	.desc = "binds for tests",
	.major = 1,
};

static u64 entry(struct fixture *f, unsigned int page)
{
	return asahi_pgtable_lookup(&f->vm->as.pgt, VA + page * PAGE);
}

static u64 block_entry(struct fixture *f, unsigned int block)
{
	struct asahi_pt_walk walk;

	asahi_pgtable_walk(&f->vm->as.pgt, VA + block * (u64)SZ_32M, &walk);
	return walk.levels > 1 ? walk.entry[1] : 0;
}

static bool is_block(u64 entry)
{
	return (entry & AGX_PTE_TYPE_MASK) == AGX_PTE_BLOCK;
}

/* The entry of a block goes when all of it is named. */
static void refresh_blocks(struct fixture *f, u64 start, u64 end)
{
	for (unsigned int i = 0; i < BLOCKS; i++) {
		u64 va = VA + i * (u64)SZ_32M, now = block_entry(f, i);

		if (va < start || va + SZ_32M > end)
			continue;
		if (f->tlb_blocks[i] && now && now != f->tlb_blocks[i])
			f->torn++;
		f->tlb_blocks[i] = is_block(now) ? now : 0;
	}
}

/* TLBs look an entry up again as soon as it was invalidated. */
static void refresh(struct fixture *f, u64 start, u64 end)
{
	refresh_blocks(f, start, end);
	for (unsigned int i = 0; i < PAGES; i++) {
		u64 now;

		if (VA + i * PAGE < start || VA + i * PAGE >= end)
			continue;
		now = entry(f, i);
		if (f->tlb[i] && now && (f->tlb[i] ^ now) & AGX_TTBR_ADDR_MASK)
			f->torn++;
		f->tlb[i] = now;
	}
}

static void fake_asid(unsigned int asid)
{
	struct fixture *f = kunit_get_current_test()->priv;

	KUNIT_EXPECT_EQ(kunit_get_current_test(), asid, SLOT);
	f->invalidations++;
	f->last.count = 0;
	refresh(f, 0, U64_MAX);
}

static void fake_ranges(unsigned int asid, const struct asahi_ranges *ranges)
{
	struct fixture *f = kunit_get_current_test()->priv;

	KUNIT_EXPECT_EQ(kunit_get_current_test(), asid, SLOT);
	f->invalidations++;
	f->last = *ranges;
	for (unsigned int i = 0; i < ranges->count; i++)
		refresh(f, ranges->range[i].start, ranges->range[i].end);
}

static void make_object(struct kunit *test, unsigned int number)
{
	struct fixture *f = test->priv;
	struct asahi_gem_piece piece;
	unsigned int i;

	f->gem[number] = asahi_gem_alloc(f->adev, OBJECT_PAGES * PAGE, false, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->gem[number]);
	KUNIT_ASSERT_EQ(test, asahi_gem_pin(f->gem[number]), 0);
	KUNIT_ASSERT_EQ(test, idr_alloc(&f->drm_file.object_idr, f->gem[number], number + 1,
					number + 2, GFP_KERNEL), number + 1);
	for (i = 0; i < OBJECT_PAGES; i++) {
		asahi_gem_find(f->gem[number], i * PAGE, &piece);
		f->pa[number][i] = sg_dma_address(piece.sg) + i * PAGE - piece.start;
	}
	f->references[number] = kref_read(&f->gem[number]->refcount);
}

static void make_large(struct kunit *test)
{
	struct asahi_gem_index *index = kvmalloc_flex(*index, piece, 1, GFP_KERNEL);
	struct fixture *f = test->priv;
	struct asahi_gem *gem = to_asahi_gem(f->gem[LARGE]);

	KUNIT_ASSERT_NOT_NULL(test, index);
	sg_init_table(&f->large, 1);
	sg_dma_address(&f->large) = LARGE_MEM;
	sg_dma_len(&f->large) = LARGE_PAGES * PAGE;
	index->count = 1;
	index->piece[0] = (struct asahi_gem_piece){ .sg = &f->large };
	kvfree(gem->index);
	gem->index = index;
	gem->base.size = LARGE_PAGES * PAGE;
	f->is_large = true;
	f->vm->as.pgt.blocks = true;
}

static void make_device(struct kunit *test, struct fixture *f)
{
	struct device_dma_parameters *parms = kunit_kzalloc(test, sizeof(*parms), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-vm-bind");

	KUNIT_ASSERT_NOT_NULL(test, parms);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)), 0);
	dev->dma_parms = parms;
	dma_set_max_seg_size(dev, UINT_MAX);
	f->adev = devm_drm_dev_alloc(dev, &bind_test_driver, struct asahi_device, drm);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->adev);
	f->adev->hw = &asahi_hw_t8103;
	asahi_state_init(&f->adev->state);
	KUNIT_ASSERT_EQ(test, asahi_block_gem.init(f->adev), 0);
}

static int bind_test_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	make_device(test, f);

	INIT_RADIX_TREE(&f->drm_file.object_idr.idr_rt, IDR_RT_MARKER);
	spin_lock_init(&f->drm_file.table_lock);
	f->afile.adev = f->adev;
	f->afile.drm_file = &f->drm_file;
	f->afile.client = asahi_client_create(1);
	KUNIT_ASSERT_NOT_NULL(test, f->afile.client);
	xa_init_flags(&f->afile.vms, XA_FLAGS_ALLOC1);
	for (unsigned int i = 0; i < OBJECTS; i++)
		make_object(test, i);

	f->vm = asahi_vm_alloc(&f->afile, RESERVED_START, RESERVED_END);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->vm);
	f->vm->as.slot = SLOT;
	KUNIT_ASSERT_EQ(test, xa_err(xa_store(&f->afile.vms, VM, f->vm, GFP_KERNEL)), 0);

	f->user = kunit_vm_mmap(test, NULL, 0, MAX_OPS * sizeof(struct drm_asahi_gem_bind_op),
				PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, f->user, 0);

	kunit_activate_static_stub(test, asahi_tlb_invalidate_asid, fake_asid);
	kunit_activate_static_stub(test, asahi_tlb_invalidate_ranges, fake_ranges);
	return 0;
}

static void bind_test_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	if (!IS_ERR_OR_NULL(f->vm)) {
		f->vm->as.slot = ASAHI_ASPACE_NO_SLOT;
		asahi_vm_unmap_all(f->vm);
		asahi_lru_fini_vm(f->vm);
		asahi_aspace_fini(&f->vm->as);
		drm_gpuvm_put(&f->vm->base);
	}
	xa_destroy(&f->afile.vms);
	idr_destroy(&f->drm_file.object_idr);
	for (unsigned int i = 0; i < OBJECTS; i++) {
		if (!f->gem[i])
			continue;
		/* What looked it up, and what mapped it, has let go of it. */
		KUNIT_EXPECT_EQ(test, kref_read(&f->gem[i]->refcount), f->references[i]);
		f->gem[i]->size = OBJECT_PAGES * PAGE;
		asahi_gem_unpin(f->gem[i]);
		drm_gem_object_put(f->gem[i]);
	}
	if (f->afile.client)
		asahi_client_put(f->afile.client);
	asahi_block_gem.fini(f->adev);
}

/* Page numbers, of the object and from VA on. */
static struct drm_asahi_gem_bind_op op(u32 flags, u32 object, u64 page, u64 count, u64 at)
{
	struct drm_asahi_gem_bind_op op = {
		.flags = flags,
		.range = count * PAGE,
		.addr = VA + at * PAGE,
	};

	if (flags != UNBIND) {
		op.handle = object + 1;
		op.offset = page * PAGE;
	}
	return op;
}

static int bind(struct fixture *f, const struct drm_asahi_gem_bind_op *ops, unsigned int count)
{
	const struct drm_asahi_vm_bind args = {
		.vm_id = VM,
		.num_binds = count,
		.stride = sizeof(*ops),
		.userptr = f->user,
	};

	if (copy_to_user((void __user *)f->user, ops, count * sizeof(*ops)))
		return -EFAULT;

	f->invalidations = 0;
	memset(&f->last, 0, sizeof(f->last));
	/* Everything that is mapped has been used. */
	for (unsigned int i = 0; i < PAGES; i++)
		f->tlb[i] = entry(f, i);
	for (unsigned int i = 0; i < BLOCKS; i++)
		f->tlb_blocks[i] = is_block(block_entry(f, i)) ? block_entry(f, i) : 0;
	return asahi_vm_bind(&f->afile, &args);
}

static u64 page_pa(struct fixture *f, unsigned int object, u64 page)
{
	return object == LARGE && f->is_large ? LARGE_MEM + page * PAGE : f->pa[object][page];
}

static void model_op(struct fixture *f, const struct drm_asahi_gem_bind_op *op)
{
	u64 at = (op->addr - VA) / PAGE, first = op->offset / PAGE;

	for (u64 i = 0; i < op->range / PAGE; i++) {
		u64 page = op->flags == SINGLE ? first : first + i;

		f->model[at + i] = op->flags == UNBIND ?
			0 : page_pa(f, op->handle - 1, page);
	}
}

/* A mapping's structure says of its pages what the model does. Return: pages that are wrong. */
static unsigned int vma_mistakes(struct fixture *f, const struct asahi_vma *vma)
{
	const struct drm_gpuva *va = &vma->base;
	u64 at = (va->va.addr - VA) / PAGE, first = va->gem.offset / PAGE;
	u32 object = va->gem.obj == f->gem[LARGE] ? LARGE : 0;
	unsigned int wrong = 0;

	if (!va->vm_bo || va->vm_bo->obj != va->gem.obj || vma->prot != ASAHI_PROT_GPU_SHARED_RO)
		return PAGES;

	for (u64 i = 0; i < va->va.range / PAGE; i++)
		wrong += f->model[at + i] != page_pa(f, object, vma->single ? first : first + i);
	return wrong;
}

/*
 * Mappings are as in the model, and TLBs have nothing else. Return: pages that are wrong,
 * each as often as something is wrong with it.
 */
static unsigned int mistakes(struct fixture *f)
{
	struct drm_gpuva *va;
	unsigned int wrong = f->torn;

	for (unsigned int i = 0; i < PAGES; i++) {
		u64 now = entry(f, i);

		wrong += (now & AGX_TTBR_ADDR_MASK) != f->model[i];
		wrong += f->tlb[i] && f->tlb[i] != now;
	}
	for (unsigned int i = 0; i < BLOCKS; i++)
		wrong += f->tlb_blocks[i] && f->tlb_blocks[i] != block_entry(f, i);
	drm_gpuvm_for_each_va(va, &f->vm->base)
		if (va != &f->vm->base.kernel_alloc_node)
			wrong += vma_mistakes(f, to_asahi_vma(va));
	return wrong;
}

static void expect_bind(struct kunit *test, const struct drm_asahi_gem_bind_op *ops,
			unsigned int count)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, bind(f, ops, count), 0);
	for (unsigned int i = 0; i < count; i++)
		model_op(f, &ops[i]);
	KUNIT_EXPECT_EQ(test, mistakes(f), 0);
}

static void nothing_is_replaced(struct kunit *test)
{
	const struct drm_asahi_gem_bind_op ops[] = {
		op(SHOW, 0, 0, 4, 10), op(SHOW, 1, 0, 4, 20), op(UNBIND, 0, 0, 9, 100),
	};
	struct fixture *f = test->priv;

	expect_bind(test, ops, ARRAY_SIZE(ops));
	KUNIT_EXPECT_EQ(test, f->invalidations, 0);
}

/* Also where the array is in no order. */
static void few_places(struct kunit *test)
{
	const struct drm_asahi_gem_bind_op all = op(SHOW, 0, 0, OBJECT_PAGES, 0);
	const struct drm_asahi_gem_bind_op ops[] = {
		op(SHOW, 1, 3, 2, 30), op(SHOW, 1, 9, 4, 10), op(UNBIND, 0, 0, 3, 20),
	};
	struct fixture *f = test->priv;

	expect_bind(test, &all, 1);
	expect_bind(test, ops, ARRAY_SIZE(ops));
	KUNIT_EXPECT_EQ(test, f->invalidations, 1);
	KUNIT_ASSERT_EQ(test, f->last.count, ARRAY_SIZE(ops));
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		KUNIT_EXPECT_EQ(test, f->last.range[i].start, ops[i].addr);
		KUNIT_EXPECT_EQ(test, f->last.range[i].end, ops[i].addr + ops[i].range);
	}
}

static void many_places(struct kunit *test)
{
	struct drm_asahi_gem_bind_op ops[MAX_OPS];
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < MAX_OPS; i++)
		ops[i] = op(SHOW, 0, i, 1, 2 * i);
	expect_bind(test, ops, MAX_OPS);
	KUNIT_EXPECT_EQ(test, f->invalidations, 0);

	for (i = 0; i < MAX_OPS; i++)
		ops[i] = op(SHOW, 1, i, 1, 2 * i);
	expect_bind(test, ops, MAX_OPS);
	/* One of the context. */
	KUNIT_EXPECT_EQ(test, f->invalidations, 1);
	KUNIT_EXPECT_EQ(test, f->last.count, 0);
}

static const struct drm_gpuva *mapping(struct fixture *f, unsigned int page)
{
	return drm_gpuva_find_first(&f->vm->base, VA + page * PAGE, PAGE);
}

/* The structure stays, and shows another place, kind or object. */
static void same_addresses(struct kunit *test)
{
	const struct drm_asahi_gem_bind_op ops[] = {
		op(SHOW, 0, 0, 4, 10), op(SHOW, 0, 8, 4, 10), op(SINGLE, 0, 8, 4, 10),
		op(SINGLE, 1, 3, 4, 10), op(SHOW, 1, 9, 4, 10), op(SHOW, 0, 5, 4, 10),
	};
	const struct drm_asahi_gem_bind_op none = op(UNBIND, 0, 0, 4, 10);
	const struct drm_gpuva *first, *second;
	struct fixture *f = test->priv;

	expect_bind(test, &ops[0], 1);
	first = mapping(f, 10);
	for (unsigned int i = 1; i < ARRAY_SIZE(ops); i++) {
		u32 other = !(ops[i].handle - 1);

		expect_bind(test, &ops[i], 1);
		KUNIT_EXPECT_EQ(test, f->invalidations, 1);
		second = mapping(f, 10);
		KUNIT_EXPECT_PTR_EQ(test, second, first);
		/* The other one is in no address space any more. */
		KUNIT_EXPECT_EQ(test, kref_read(&f->gem[other]->refcount), f->references[other]);
	}
	expect_bind(test, &none, 1);
	KUNIT_EXPECT_NULL(test, mapping(f, 10));
}

/* Tiles of a range of one repeated page come, change and go. */
static void tiles(struct kunit *test)
{
	const struct drm_asahi_gem_bind_op all = op(SINGLE, 0, 7, PAGES - 2, 1);
	const struct drm_asahi_gem_bind_op none = op(UNBIND, 0, 0, PAGES, 0);
	struct drm_asahi_gem_bind_op ops[BLOCKS];
	struct fixture *f = test->priv;
	unsigned int round, i;

	expect_bind(test, &all, 1);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < BLOCKS; i++)
			ops[i] = op(SHOW, round % 2, 4 * i, 4, i * BLOCK_PAGES + 50);
		expect_bind(test, ops, BLOCKS);
		KUNIT_EXPECT_EQ(test, f->invalidations, 1);
	}
	expect_bind(test, &all, 1);
	KUNIT_EXPECT_EQ(test, f->invalidations, 1);
	expect_bind(test, &none, 1);
	KUNIT_EXPECT_EQ(test, f->invalidations, 1);
	KUNIT_EXPECT_EQ(test, f->vm->as.pgt.pages, 0);
}

/* One mapping is cut into many, from its ends and in its middle, also twice at one place. */
static void cuts(struct kunit *test)
{
	const struct drm_asahi_gem_bind_op whole = op(SHOW, 0, 0, OBJECT_PAGES, 0);
	const struct drm_asahi_gem_bind_op ops[] = {
		op(UNBIND, 0, 0, 2, 0), op(UNBIND, 0, 0, 2, 2), op(SHOW, 1, 0, 4, 10),
		op(SHOW, 1, 4, 4, 14), op(UNBIND, 0, 0, 1, 20), op(UNBIND, 0, 0, 1, 22),
		op(UNBIND, 0, 0, 1, 24), op(SHOW, 1, 9, 20, 30), op(UNBIND, 0, 0, 90, 63),
	};

	expect_bind(test, &whole, 1);
	expect_bind(test, ops, ARRAY_SIZE(ops));
	expect_bind(test, ops, ARRAY_SIZE(ops));
}

/* The last one counts, and each page is invalid and invalidated before it shows another. */
static void overlaps(struct kunit *test)
{
	const struct drm_asahi_gem_bind_op ops[] = {
		op(SHOW, 0, 0, 20, 0), op(SHOW, 1, 0, 10, 5), op(UNBIND, 0, 0, 3, 8),
		op(SHOW, 0, 9, 1, 9), op(SINGLE, 1, 2, 2 * BLOCK_PAGES, 15),
		op(SHOW, 0, 20, 4, BLOCK_PAGES + 3), op(SHOW, 0, 3, 1, 9),
	};
	const struct drm_asahi_gem_bind_op ascending[] = {
		op(SHOW, 0, 0, 20, 0), op(SHOW, 1, 0, 20, 19), op(UNBIND, 0, 0, 5, 38),
	};

	expect_bind(test, ops, ARRAY_SIZE(ops));
	expect_bind(test, ops, ARRAY_SIZE(ops));
	expect_bind(test, ascending, ARRAY_SIZE(ascending));
}

/* Whatever is looked up before an error is found is let go of again. */
static void failures(struct kunit *test)
{
	struct drm_asahi_gem_bind_op ops[] = {
		op(SHOW, 0, 0, 4, 0), op(SHOW, 0, 4, 4, 4), op(UNBIND, 0, 0, 1, 50),
		op(SHOW, 0, 8, 4, 8), op(SHOW, 1, 0, 4, 12), op(SHOW, 1, 4, 4, 16),
		op(SHOW, OBJECTS, 0, 4, 20),
	};
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, bind(f, ops, ARRAY_SIZE(ops)), -ENOENT);
	KUNIT_EXPECT_EQ(test, mistakes(f), 0);
	ops[ARRAY_SIZE(ops) - 1].handle = 2;
	ops[ARRAY_SIZE(ops) - 1].offset = OBJECT_PAGES * PAGE;
	KUNIT_EXPECT_EQ(test, bind(f, ops, ARRAY_SIZE(ops)), -EINVAL);
	KUNIT_EXPECT_EQ(test, mistakes(f), 0);
	KUNIT_EXPECT_EQ(test, f->invalidations, 0);
	for (unsigned int i = 0; i < OBJECTS; i++)
		KUNIT_EXPECT_EQ(test, kref_read(&f->gem[i]->refcount), f->references[i]);
	expect_bind(test, ops, ARRAY_SIZE(ops) - 1);
}

/* A file can have two handles of an object. */
static void two_handles(struct kunit *test)
{
	struct drm_asahi_gem_bind_op ops[] = {
		op(SHOW, 0, 0, 4, 0), op(SHOW, 0, 4, 4, 4), op(SHOW, 0, 8, 4, 8),
	};
	const struct drm_asahi_gem_bind_op none = op(UNBIND, 0, 0, PAGES, 0);
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, idr_alloc(&f->drm_file.object_idr, f->gem[0], OBJECTS + 1, 0,
					GFP_KERNEL), OBJECTS + 1);
	ops[1].handle = OBJECTS + 1;
	KUNIT_EXPECT_EQ(test, bind(f, ops, ARRAY_SIZE(ops)), 0);
	expect_bind(test, &none, 1);
	KUNIT_EXPECT_EQ(test, kref_read(&f->gem[0]->refcount), f->references[0]);
}

static unsigned int count_blocks(struct fixture *f)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < BLOCKS; i++)
		count += is_block(block_entry(f, i));
	return count;
}

/* Blocks come, and go as a whole. */
static void whole_blocks(struct kunit *test)
{
	const struct drm_asahi_gem_bind_op all = op(SHOW, LARGE, 0, LARGE_PAGES, BLOCK_PAGES);
	const struct drm_asahi_gem_bind_op again = op(SHOW, LARGE, BLOCK_PAGES, BLOCK_PAGES,
						      BLOCK_PAGES);
	const struct drm_asahi_gem_bind_op none = op(UNBIND, 0, 0, PAGES, 0);
	struct fixture *f = test->priv;

	make_large(test);
	expect_bind(test, &all, 1);
	KUNIT_EXPECT_EQ(test, f->invalidations, 0);
	KUNIT_EXPECT_EQ(test, count_blocks(f), 2);
	/* One table of level 2 at each side of the border, and no other. */
	KUNIT_EXPECT_EQ(test, f->vm->as.pgt.pages, 2);

	expect_bind(test, &again, 1);
	KUNIT_EXPECT_EQ(test, f->invalidations, 1);
	KUNIT_EXPECT_EQ(test, count_blocks(f), 2);
	expect_bind(test, &none, 1);
	KUNIT_EXPECT_EQ(test, f->invalidations, 1);
	KUNIT_EXPECT_EQ(test, f->vm->as.pgt.pages, 0);
}

/* Several are split with one invalidation, before the one of what changes. */
static void cut_blocks(struct kunit *test)
{
	const struct drm_asahi_gem_bind_op all = op(SHOW, LARGE, 0, LARGE_PAGES, BLOCK_PAGES);
	const struct drm_asahi_gem_bind_op ops[] = {
		op(UNBIND, 0, 0, 1, BLOCK_PAGES + 5), op(UNBIND, 0, 0, 1, BLOCK_PAGES + 7),
		op(SHOW, 0, 0, 9, 2 * BLOCK_PAGES + 50),
	};
	struct fixture *f = test->priv;

	make_large(test);
	expect_bind(test, &all, 1);
	expect_bind(test, ops, ARRAY_SIZE(ops));
	KUNIT_EXPECT_EQ(test, f->invalidations, 2);
	KUNIT_EXPECT_EQ(test, count_blocks(f), 0);
	expect_bind(test, &all, 1);
	KUNIT_EXPECT_EQ(test, f->invalidations, 1);
	KUNIT_EXPECT_EQ(test, count_blocks(f), 2);
}

#define ROUNDS		120
#define ROUND_OPS	6

/* Near the borders of blocks more often than elsewhere. */
static u32 random_page(struct rnd_state *rnd)
{
	u32 page = prandom_u32_state(rnd) % PAGES;

	if (prandom_u32_state(rnd) % 2)
		page = ALIGN_DOWN(page, BLOCK_PAGES) + prandom_u32_state(rnd) % 32;
	return page;
}

static struct drm_asahi_gem_bind_op random_op(struct fixture *f, struct rnd_state *rnd)
{
	static const u32 kinds[] = { SHOW, SHOW, SINGLE, UNBIND };
	u32 flags = kinds[prandom_u32_state(rnd) % ARRAY_SIZE(kinds)];
	u32 object = prandom_u32_state(rnd) % OBJECTS;
	u32 pages = object == LARGE && f->is_large ? LARGE_PAGES : OBJECT_PAGES;
	u32 at = random_page(rnd), end = random_page(rnd);
	u32 first = prandom_u32_state(rnd) % pages;
	u32 count = end > at ? end - at : 1 + prandom_u32_state(rnd) % 16;
	const struct drm_gpuva *va;

	if (flags != SHOW && prandom_u32_state(rnd) % 2) {
		at = ALIGN_DOWN(at, BLOCK_PAGES);
		count = BLOCK_PAGES;
	}
	/* Instead of one that is there. */
	va = mapping(f, at);
	if (va && prandom_u32_state(rnd) % 4 == 0) {
		at = (va->va.addr - VA) / PAGE;
		count = va->va.range / PAGE;
		first %= pages - min(pages - 1, count);
	}
	/* As blocks need it. */
	if (pages == LARGE_PAGES && prandom_u32_state(rnd) % 2)
		first = at % BLOCK_PAGES;
	if (flags == SHOW)
		count = min(count, pages - first);
	count = min(count, PAGES - at);
	return op(flags, object, first, count, at);
}

static void random_rounds(struct kunit *test)
{
	struct drm_asahi_gem_bind_op ops[ROUND_OPS];
	struct fixture *f = test->priv;
	struct rnd_state rnd;
	unsigned int round, i, blocks = 0;

	prandom_seed_state(&rnd, 23);
	for (round = 0; round < ROUNDS; round++) {
		u32 count = 1 + prandom_u32_state(&rnd) % ROUND_OPS;

		for (i = 0; i < count; i++) {
			ops[i] = random_op(f, &rnd);
			model_op(f, &ops[i]);
		}
		KUNIT_ASSERT_EQ(test, bind(f, ops, count), 0);
		KUNIT_ASSERT_EQ_MSG(test, mistakes(f), 0, "in round %u", round);
		/* A table per block at most, two of level 2. */
		KUNIT_ASSERT_LE(test, f->vm->as.pgt.pages, BLOCKS + 2);
		blocks += count_blocks(f);
	}
	KUNIT_EXPECT_EQ(test, !!blocks, f->is_large);
}

static void random_arrays(struct kunit *test)
{
	random_rounds(test);
}

static void random_arrays_with_blocks(struct kunit *test)
{
	make_large(test);
	random_rounds(test);
}

static struct kunit_case bind_cases[] = {
	KUNIT_CASE(nothing_is_replaced),
	KUNIT_CASE(few_places),
	KUNIT_CASE(many_places),
	KUNIT_CASE(same_addresses),
	KUNIT_CASE(tiles),
	KUNIT_CASE(cuts),
	KUNIT_CASE(overlaps),
	KUNIT_CASE(failures),
	KUNIT_CASE(two_handles),
	KUNIT_CASE(random_arrays),
	KUNIT_CASE(whole_blocks),
	KUNIT_CASE(cut_blocks),
	KUNIT_CASE(random_arrays_with_blocks),
	{}
};

static struct kunit_suite bind_suite = {
	.name = "asahi_vm_bind",
	.init = bind_test_init,
	.exit = bind_test_exit,
	.test_cases = bind_cases,
};

kunit_test_suite(bind_suite);
