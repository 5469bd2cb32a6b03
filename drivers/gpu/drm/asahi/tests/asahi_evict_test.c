// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of eviction: which objects lose their memory, in which order, and what their
 * mappings are like afterwards.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/static_stub.h>
#include <kunit/test.h>

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/delay.h>
#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/idr.h>
#include <linux/iosys-map.h>
#include <linux/jiffies.h>
#include <linux/list_lru.h>
#include <linux/llist.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/rcupdate.h>
#include <linux/scatterlist.h>
#include <linux/shrinker.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/uaccess.h>

#include <drm/asahi_drm.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_batch.h"
#include "asahi_block.h"
#include "asahi_client.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_evict.h"
#include "asahi_gem.h"
#include "asahi_gem_priv.h"
#include "asahi_heap.h"
#include "asahi_hw.h"
#include "asahi_lru.h"
#include "asahi_pgtable.h"
#include "asahi_reclaim.h"
#include "asahi_rest.h"
#include "asahi_rest_test.h"
#include "asahi_tlb.h"
#include "asahi_vm.h"
#include "asahi_vm_bind.h"
#include "asahi_vm_dump.h"
#include "asahi_vm_priv.h"

#define PAGE		AGX_PAGE_SIZE
#define PAGES		256
/* One half of the pages is in one table, the other in the next. */
#define VA		(0x100000000ULL - PAGES / 2 * PAGE)
#define KERNEL_RANGE	0x7000000000ULL
#define KERNEL_RANGE_END 0x7100000000ULL

#define OBJECTS		5
#define OBJECT_PAGES	16
/* This one is private to the first address space. */
#define PRIVATE		3
#define VMS		4
#define SLOT		5

#define RO		DRM_ASAHI_BIND_READ
#define WO		DRM_ASAHI_BIND_WRITE
#define RW		(DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE)
#define SINGLE		DRM_ASAHI_BIND_SINGLE_PAGE
#define UNBIND		DRM_ASAHI_BIND_UNBIND
#define STEPS		3000
/* Address spaces that random changes are made to. */
#define MODEL_VMS	2

/* What asahi_reclaim.c allows. */
#define TRIES		4
#define WAITS		3
#define IDLE_MS		1000

#define DUMP_BYTES	SZ_64K

/**
 * struct place - what a page of an address space is to lead to
 * @object: its number and 1, 0 for nothing
 * @page: page of the object
 * @prot: protection, as in an entry
 */
struct place {
	unsigned int object;
	unsigned int page;
	u64 prot;
};

/**
 * struct fixture - a client with a few address spaces and objects
 * @adev: device
 * @drm_file: handles
 * @afile: file of @drm_file
 * @vm: address spaces, of IDs from 1 on
 * @gem: the objects; the handle of each is its number and 1
 * @user: user memory for one operation
 * @model: what the pages from VA on are to be
 * @invalidations: how often something was invalidated
 * @successes: how many of the next allocations of tables are not to fail
 * @failures: how many of those after them are to fail
 * @fence_lock: of fences
 * @sc: what the kernel asks
 * @swap: there is some
 */
struct fixture {
	struct asahi_device *adev;
	struct drm_file drm_file;
	struct asahi_file afile;
	struct asahi_vm *vm[VMS];
	struct asahi_gem *gem[OBJECTS];
	unsigned long user;
	struct place model[VMS][PAGES];
	unsigned int invalidations;
	unsigned int successes;
	unsigned int failures;
	/* Fences that are made ask for one. */
	spinlock_t fence_lock;
	struct shrink_control sc;
	bool swap;
};

static const struct file_operations evict_test_fops = {
	.owner = THIS_MODULE,
};

static const struct drm_driver evict_test_driver = {
	.driver_features = DRIVER_GEM,
	.fops = &evict_test_fops,
	.gem_prime_import_sg_table = asahi_gem_prime_import_sg_table,
	.name = "asahi-evict-test",
	.desc = "objects that go and come back",
	.major = 1,
};

static const char *evict_test_fence_name(struct dma_fence *fence)
{
	return "test";
}

static const struct dma_fence_ops evict_test_fence_ops = {
	.get_driver_name = evict_test_fence_name,
	.get_timeline_name = evict_test_fence_name,
};

static void fake_asid(unsigned int asid)
{
	struct fixture *f = kunit_get_current_test()->priv;

	f->invalidations++;
}

static void fake_ranges(unsigned int asid, const struct asahi_ranges *ranges)
{
	struct fixture *f = kunit_get_current_test()->priv;

	f->invalidations++;
}

static struct device *make_dma_device(struct kunit *test, const char *name)
{
	struct device_dma_parameters *parms = kunit_kzalloc(test, sizeof(*parms), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, name);

	KUNIT_ASSERT_NOT_NULL(test, parms);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64)), 0);
	dev->dma_parms = parms;
	dma_set_max_seg_size(dev, UINT_MAX);
	return dev;
}

static void make_device(struct kunit *test, struct fixture *f)
{
	struct device *dev = make_dma_device(test, "asahi-evict");

	f->adev = devm_drm_dev_alloc(dev, &evict_test_driver, struct asahi_device, drm);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->adev);
	f->adev->hw = &asahi_hw_t8103;
	asahi_state_init(&f->adev->state);
	KUNIT_ASSERT_EQ(test, asahi_block_gem.init(f->adev), 0);
}

static void make_object(struct kunit *test, unsigned int number)
{
	struct fixture *f = test->priv;
	struct drm_gem_object *resv_obj = NULL, *obj;

	if (number == PRIVATE)
		resv_obj = asahi_vm_resv_obj(f->vm[0]);
	obj = asahi_gem_alloc(f->adev, OBJECT_PAGES * PAGE, number % 2, resv_obj);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, obj);
	f->gem[number] = to_asahi_gem(obj);
	KUNIT_ASSERT_EQ(test, idr_alloc(&f->drm_file.object_idr, obj, number + 1, number + 2,
					GFP_KERNEL), number + 1);
}

static void make_vm(struct kunit *test, unsigned int number)
{
	struct fixture *f = test->priv;

	f->vm[number] = asahi_vm_alloc(&f->afile, KERNEL_RANGE, KERNEL_RANGE_END);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->vm[number]);
	f->vm[number]->as.slot = SLOT + number;
	KUNIT_ASSERT_EQ(test, xa_err(xa_store(&f->afile.vms, number + 1, f->vm[number],
					      GFP_KERNEL)), 0);
}

static int evict_test_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	spin_lock_init(&f->fence_lock);
	make_device(test, f);

	INIT_RADIX_TREE(&f->drm_file.object_idr.idr_rt, IDR_RT_MARKER);
	spin_lock_init(&f->drm_file.table_lock);
	f->afile.adev = f->adev;
	f->afile.drm_file = &f->drm_file;
	f->afile.client = asahi_client_create(1);
	KUNIT_ASSERT_NOT_NULL(test, f->afile.client);
	xa_init_flags(&f->afile.vms, XA_FLAGS_ALLOC1);
	for (unsigned int i = 0; i < VMS; i++)
		make_vm(test, i);
	for (unsigned int i = 0; i < OBJECTS; i++)
		make_object(test, i);

	f->user = kunit_vm_mmap(test, NULL, 0, sizeof(struct drm_asahi_gem_bind_op),
				PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, f->user, 0);

	kunit_activate_static_stub(test, asahi_tlb_invalidate_asid, fake_asid);
	kunit_activate_static_stub(test, asahi_tlb_invalidate_ranges, fake_ranges);
	return 0;
}

static void release_vm(struct asahi_vm *vm)
{
	vm->as.slot = ASAHI_ASPACE_NO_SLOT;
	asahi_vm_unmap_all(vm);
	asahi_lru_fini_vm(vm);
	asahi_aspace_fini(&vm->as);
	drm_gpuvm_put(&vm->base);
}

static void evict_test_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	for (unsigned int i = 0; i < VMS; i++)
		if (!IS_ERR_OR_NULL(f->vm[i]))
			release_vm(f->vm[i]);
	xa_destroy(&f->afile.vms);
	idr_destroy(&f->drm_file.object_idr);
	for (unsigned int i = 0; i < OBJECTS; i++) {
		if (!f->gem[i])
			continue;
		KUNIT_EXPECT_EQ(test, kref_read(&f->gem[i]->base.refcount), 1);
		drm_gem_object_put(&f->gem[i]->base);
	}
	if (f->afile.client)
		asahi_client_put(f->afile.client);
	expect_at_rest(test, &asahi_block_gem, f->adev,
		       ASAHI_REST_IDLE | ASAHI_REST_AWAKE | ASAHI_REST_CLOSED);
	expect_at_rest(test, &asahi_block_reclaim, f->adev, ASAHI_REST_CLOSED);
	KUNIT_EXPECT_EQ(test, list_lru_count(&f->adev->reclaim.loose), 0);
	asahi_block_gem.fini(f->adev);
}

static u64 entry(struct fixture *f, unsigned int vm, unsigned int page)
{
	return asahi_pgtable_lookup(&f->vm[vm]->as.pgt, VA + page * PAGE);
}

static u64 prot_of(u32 flags)
{
	if (!(flags & DRM_ASAHI_BIND_WRITE))
		return AGX_PROT_GPU_SHARED_RO;
	return flags & DRM_ASAHI_BIND_READ ? AGX_PROT_GPU_SHARED_RW : AGX_PROT_GPU_SHARED_WO;
}

static void note(struct fixture *f, unsigned int vm, u32 flags, unsigned int object,
		 unsigned int page, unsigned int count, unsigned int at)
{
	for (unsigned int i = 0; i < count; i++)
		f->model[vm][at + i] = flags == UNBIND ? (struct place) { } : (struct place) {
			.object = object + 1,
			.page = flags & SINGLE ? page : page + i,
			.prot = prot_of(flags),
		};
}

/* Page numbers, of the object and from VA on. */
static void bind(struct kunit *test, unsigned int vm, u32 flags, unsigned int object,
		 unsigned int page, unsigned int count, unsigned int at)
{
	struct fixture *f = test->priv;
	const struct drm_asahi_gem_bind_op op = {
		.flags = flags,
		.handle = flags == UNBIND ? 0 : object + 1,
		.offset = flags == UNBIND ? 0 : page * PAGE,
		.range = count * PAGE,
		.addr = VA + at * PAGE,
	};
	const struct drm_asahi_vm_bind args = {
		.vm_id = vm + 1,
		.num_binds = 1,
		.stride = sizeof(op),
		.userptr = f->user,
	};

	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)f->user, &op, sizeof(op)), 0);
	KUNIT_ASSERT_EQ(test, asahi_vm_bind(&f->afile, &args), 0);
	note(f, vm, flags, object, page, count, at);
}

/* As SUBMIT does before it makes a job. */
static void restore(struct kunit *test, unsigned int vm)
{
	struct fixture *f = test->priv;
	struct asahi_vm_lock lock;

	KUNIT_ASSERT_EQ(test, asahi_reclaim_lock_submit(f->vm[vm], &lock), 0);
	asahi_vm_unlock_submit(f->vm[vm], &lock);
}

static u64 page_addr(struct fixture *f, const struct place *place)
{
	return page_to_phys(f->gem[place->object - 1]->pages[place->page * (PAGE / PAGE_SIZE)]);
}

static void expect_model(struct kunit *test, unsigned int vm)
{
	struct fixture *f = test->priv;

	for (unsigned int i = 0; i < PAGES; i++) {
		const struct place *place = &f->model[vm][i];
		u64 pte = entry(f, vm, i);

		if (!place->object) {
			KUNIT_ASSERT_EQ_MSG(test, pte, 0, "VM %u page %u", vm, i);
			continue;
		}
		KUNIT_ASSERT_NOT_NULL(test, f->gem[place->object - 1]->pages);
		KUNIT_ASSERT_EQ_MSG(test, pte & AGX_TTBR_ADDR_MASK, page_addr(f, place),
				    "VM %u page %u", vm, i);
		KUNIT_ASSERT_EQ_MSG(test, pte & AGX_PTE_PROT_MASK, place->prot, "VM %u page %u",
				    vm, i);
	}
}

static void expect_nothing(struct kunit *test, unsigned int vm)
{
	struct fixture *f = test->priv;

	for (unsigned int i = 0; i < PAGES; i++)
		KUNIT_ASSERT_EQ_MSG(test, entry(f, vm, i), 0, "VM %u page %u", vm, i);
}

static unsigned long scan_all(struct fixture *f)
{
	return asahi_reclaim_scan(f->adev, ULONG_MAX, true);
}

static const unsigned long object_pages = OBJECT_PAGES * PAGE / PAGE_SIZE;

/* All kinds of mappings come back as they were, and the contents do. */
static void kinds(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct iosys_map map;

	bind(test, 0, RW, 0, 0, OBJECT_PAGES, 0);
	bind(test, 0, RO, 0, 3, 2, 20);
	bind(test, 0, WO, 0, 7, 1, 30);
	bind(test, 0, RW | SINGLE, 0, 5, 100, 40);
	bind(test, 0, RW, PRIVATE, 1, 4, 200);
	expect_model(test, 0);

	dma_resv_lock(f->gem[0]->base.resv, NULL);
	KUNIT_ASSERT_EQ(test, asahi_gem_vmap(&f->gem[0]->base, &map), 0);
	strscpy((char *)map.vaddr, "what is in it", 32);
	asahi_gem_vunmap(&f->gem[0]->base, &map);
	dma_resv_unlock(f->gem[0]->base.resv);

	f->invalidations = 0;
	KUNIT_EXPECT_EQ(test, scan_all(f), 2 * object_pages);
	KUNIT_EXPECT_EQ(test, f->invalidations, 2);
	KUNIT_EXPECT_NULL(test, f->gem[0]->pages);
	KUNIT_EXPECT_NULL(test, f->gem[0]->sgt);
	KUNIT_EXPECT_NULL(test, f->gem[0]->index);
	KUNIT_EXPECT_FALSE(test, f->gem[0]->clean);
	expect_nothing(test, 0);
	KUNIT_EXPECT_EQ(test, scan_all(f), 0);

	restore(test, 0);
	expect_model(test, 0);
	dma_resv_lock(f->gem[0]->base.resv, NULL);
	KUNIT_ASSERT_EQ(test, asahi_gem_vmap(&f->gem[0]->base, &map), 0);
	KUNIT_EXPECT_STREQ(test, (char *)map.vaddr, "what is in it");
	asahi_gem_vunmap(&f->gem[0]->base, &map);
	dma_resv_unlock(f->gem[0]->base.resv);
}

/* What is mapped or cut meanwhile is so after the next SUBMIT. */
static void changes_while_away(struct kunit *test)
{
	struct fixture *f = test->priv;

	bind(test, 0, RW, 0, 0, OBJECT_PAGES, 0);
	bind(test, 0, RO, 1, 0, OBJECT_PAGES, 100);
	KUNIT_EXPECT_EQ(test, scan_all(f), 2 * object_pages);

	bind(test, 0, UNBIND, 0, 0, 3, 5);
	bind(test, 0, RO, 0, 4, 4, 50);
	bind(test, 0, WO, 2, 0, 2, 104);
	/* What was not away is there at once. */
	KUNIT_EXPECT_NE(test, entry(f, 0, 104), 0);
	KUNIT_EXPECT_EQ(test, entry(f, 0, 50), 0);
	KUNIT_EXPECT_EQ(test, entry(f, 0, 103), 0);

	restore(test, 0);
	expect_model(test, 0);

	/* So is what went altogether. */
	KUNIT_EXPECT_EQ(test, scan_all(f), 3 * object_pages);
	bind(test, 0, UNBIND, 0, 0, PAGES, 0);
	restore(test, 0);
	expect_nothing(test, 0);
	KUNIT_EXPECT_NULL(test, f->gem[0]->pages);
}

/* What somebody needs stays: pinned for long, or by a bind under way. */
static void needed(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct asahi_gem_piece piece;

	bind(test, 0, RW, 0, 0, OBJECT_PAGES, 0);
	bind(test, 0, RW, 1, 0, OBJECT_PAGES, 20);

	KUNIT_ASSERT_EQ(test, asahi_gem_pin(&f->gem[0]->base), 0);
	KUNIT_EXPECT_EQ(test, f->gem[0]->place, ASAHI_GEM_STAYS);
	KUNIT_ASSERT_EQ(test, asahi_gem_begin_bind(&f->gem[1]->base, 0, &piece), 0);
	KUNIT_EXPECT_EQ(test, scan_all(f), 0);
	expect_model(test, 0);

	asahi_gem_end_bind(&f->gem[1]->base);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	KUNIT_EXPECT_NULL(test, f->gem[1]->pages);
	asahi_gem_unpin(&f->gem[0]->base);
	KUNIT_EXPECT_PTR_EQ(test, f->gem[0]->lru, &f->vm[0]->reclaim.lru);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	expect_nothing(test, 0);
}

static struct dma_fence *add_work(struct kunit *test, unsigned int vm)
{
	struct dma_fence *fence = kunit_kzalloc(test, sizeof(*fence), GFP_KERNEL);
	struct fixture *f = test->priv;
	struct asahi_vm_lock lock;

	KUNIT_ASSERT_NOT_NULL(test, fence);
	dma_fence_init(fence, &evict_test_fence_ops, &f->fence_lock, dma_fence_context_alloc(1),
		       1);
	KUNIT_ASSERT_EQ(test, asahi_reclaim_lock_submit(f->vm[vm], &lock), 0);
	asahi_vm_add_fence(f->vm[vm], &lock, fence);
	asahi_vm_unlock_submit(f->vm[vm], &lock);
	return fence;
}

/*
 * Nothing of an address space that is at work goes, nor what was bound after that began or
 * has been unbound since.
 */
static void busy(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct dma_fence *fence;
	unsigned long start;

	bind(test, 0, RW, 0, 0, OBJECT_PAGES, 0);
	bind(test, 0, RW, PRIVATE, 0, OBJECT_PAGES, 20);
	bind(test, 1, RW, 1, 0, OBJECT_PAGES, 0);
	bind(test, 1, RW, 0, 0, OBJECT_PAGES, 40);
	fence = add_work(test, 0);
	bind(test, 0, RW, 2, 0, OBJECT_PAGES, 60);
	bind(test, 0, UNBIND, 0, 0, OBJECT_PAGES, 20);

	dma_resv_lock(f->gem[2]->base.resv, NULL);
	KUNIT_EXPECT_FALSE(test, asahi_evict_object(&f->gem[2]->base, NULL));
	dma_resv_unlock(f->gem[2]->base.resv);

	start = jiffies;
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	KUNIT_EXPECT_LT(test, jiffies_to_msecs(jiffies - start), 1000);
	KUNIT_EXPECT_LE(test, atomic_long_read(&f->adev->reclaim.waits), 3);
	KUNIT_EXPECT_NULL(test, f->gem[1]->pages);
	KUNIT_EXPECT_NOT_NULL(test, f->gem[PRIVATE]->pages);
	expect_model(test, 0);

	dma_fence_signal(fence);
	KUNIT_EXPECT_EQ(test, scan_all(f), 3 * object_pages);
	expect_nothing(test, 0);
	expect_nothing(test, 1);
}

static void expect_place(struct kunit *test, const struct asahi_gem *gem,
			 enum asahi_gem_place place, const struct asahi_vm *vm)
{
	KUNIT_EXPECT_EQ(test, gem->place, place);
	KUNIT_EXPECT_PTR_EQ(test, gem->lru, vm ? &vm->reclaim.lru : NULL);
	KUNIT_EXPECT_EQ(test, list_empty(&gem->loose),
			place == ASAHI_GEM_STAYS || place == ASAHI_GEM_MAPPED);
}

/* Lists: of no address space, of one, of several; and back. */
static void lists(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct asahi_gem *gem = f->gem[0];

	expect_place(test, gem, ASAHI_GEM_STAYS, NULL);
	bind(test, 0, RW, 0, 0, 1, 0);
	expect_place(test, gem, ASAHI_GEM_MAPPED, f->vm[0]);
	KUNIT_EXPECT_EQ(test, f->vm[0]->reclaim.lru.count, object_pages);
	bind(test, 1, RW, 0, 0, 1, 0);
	expect_place(test, gem, ASAHI_GEM_SHARED, NULL);
	KUNIT_EXPECT_EQ(test, f->vm[0]->reclaim.lru.count, 0);
	bind(test, 0, UNBIND, 0, 0, 1, 0);
	expect_place(test, gem, ASAHI_GEM_MAPPED, f->vm[1]);
	bind(test, 1, UNBIND, 0, 0, 1, 0);
	expect_place(test, gem, ASAHI_GEM_UNBOUND, NULL);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	expect_place(test, gem, ASAHI_GEM_STAYS, NULL);
	KUNIT_EXPECT_NULL(test, gem->pages);

	/* Evicted from both, it is in that one's list which has it back. */
	bind(test, 0, RW, 0, 0, 1, 0);
	bind(test, 1, RW, 0, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	restore(test, 1);
	expect_place(test, gem, ASAHI_GEM_MAPPED, f->vm[1]);
	expect_nothing(test, 0);
	expect_model(test, 1);
	restore(test, 0);
	expect_place(test, gem, ASAHI_GEM_SHARED, NULL);
	expect_model(test, 0);
}

/* The address space that has been idle for longest goes first, and no more than needed. */
static void order(struct kunit *test)
{
	struct fixture *f = test->priv;

	bind(test, 0, RW, 0, 0, 1, 0);
	bind(test, 1, RW, 1, 0, 1, 0);
	f->vm[0]->reclaim.used = jiffies - 5 * HZ;
	f->vm[1]->reclaim.used = jiffies - 10 * HZ;
	KUNIT_EXPECT_EQ(test, asahi_reclaim_scan(f->adev, 1, false), object_pages);
	KUNIT_EXPECT_NULL(test, f->gem[1]->pages);
	KUNIT_EXPECT_NOT_NULL(test, f->gem[0]->pages);

	/* One that has just been used is for those who are at their wits' end. */
	f->vm[0]->reclaim.used = jiffies;
	KUNIT_EXPECT_EQ(test, asahi_reclaim_scan(f->adev, 1, false), 0);
	KUNIT_EXPECT_EQ(test, asahi_reclaim_scan(f->adev, 1, true), object_pages);
	KUNIT_EXPECT_NULL(test, f->gem[0]->pages);

	/* What is mapped nowhere goes before all of them. */
	restore(test, 0);
	restore(test, 1);
	KUNIT_ASSERT_EQ(test, asahi_gem_pin(&f->gem[2]->base), 0);
	asahi_gem_unpin(&f->gem[2]->base);
	KUNIT_EXPECT_EQ(test, asahi_reclaim_scan(f->adev, 1, true), object_pages);
	KUNIT_EXPECT_NULL(test, f->gem[2]->pages);
}

/* Without waiting, an address space goes that is idle for so long, and none that is for less. */
static void idle_time(struct kunit *test)
{
	const unsigned long limit = msecs_to_jiffies(IDLE_MS);
	struct fixture *f = test->priv;
	unsigned long now, freed;

	bind(test, 0, RW, 0, 0, 1, 0);
	do {
		restore(test, 0);
		now = jiffies;
		f->vm[0]->reclaim.used = now - limit + 1;
		freed = asahi_reclaim_scan(f->adev, 1, false);
		/* A tick in between makes it idle for long enough. */
	} while (freed && time_after(jiffies, now));
	KUNIT_EXPECT_EQ(test, freed, 0);

	f->vm[0]->reclaim.used = jiffies - limit;
	KUNIT_EXPECT_EQ(test, asahi_reclaim_scan(f->adev, 1, false), object_pages);
}

/* A scan waits for so many address spaces that are at work, and for none beyond. */
static void waits(struct kunit *test)
{
	static const unsigned int objects[VMS] = { 0, 1, 2, 4 };
	struct fixture *f = test->priv;
	struct dma_fence *fence[VMS];

	static_assert(WAITS + 1 == VMS);
	for (unsigned int i = 0; i < VMS; i++)
		bind(test, i, RW, objects[i], 0, 1, 0);
	for (unsigned int i = 0; i < WAITS; i++)
		fence[i] = add_work(test, i);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&f->adev->reclaim.waits), WAITS);

	fence[WAITS] = add_work(test, WAITS);
	KUNIT_EXPECT_EQ(test, scan_all(f), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&f->adev->reclaim.waits), 2 * WAITS);

	for (unsigned int i = 0; i < VMS; i++)
		dma_fence_signal(fence[i]);
	KUNIT_EXPECT_EQ(test, scan_all(f), VMS * object_pages);
}

/* An address space whose tables somebody changes keeps what it has; the other does not. */
static void locked(struct kunit *test)
{
	struct fixture *f = test->priv;

	bind(test, 0, RW, 0, 0, 4, 0);
	bind(test, 1, RW, 0, 0, 4, 0);

	mutex_lock(&f->vm[1]->as.lock);
	KUNIT_EXPECT_EQ(test, scan_all(f), 0);
	mutex_unlock(&f->vm[1]->as.lock);
	KUNIT_EXPECT_NOT_NULL(test, f->gem[0]->pages);
	expect_model(test, 1);
	restore(test, 0);
	expect_model(test, 0);

	mutex_lock(&f->gem[0]->base.gpuva.lock);
	KUNIT_EXPECT_EQ(test, scan_all(f), 0);
	mutex_unlock(&f->gem[0]->base.gpuva.lock);
	dma_resv_lock(f->gem[0]->base.resv, NULL);
	KUNIT_EXPECT_EQ(test, scan_all(f), 0);
	dma_resv_unlock(f->gem[0]->base.resv);
	expect_model(test, 0);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
}

static int fake_flush(struct asahi_device *adev)
{
	return 0;
}

static struct page *fake_alloc(gfp_t gfp)
{
	struct fixture *f = kunit_get_current_test()->priv;

	if (f->successes)
		f->successes--;
	else if (f->failures && f->failures--)
		return NULL;
	return alloc_pages(gfp | __GFP_ZERO, get_order(AGX_PAGE_SIZE));
}

/* Of the only test that runs */
static atomic_t fake_freed;

static void fake_free(struct llist_node *list)
{
	for (; list; list = list->next)
		atomic_inc(&fake_freed);
}

/* The batch waits for others, unless it is hurried. */
static void put_into_batch(struct fixture *f, struct llist_node *node, u64 bytes)
{
	guard(rcu)();
	asahi_batch_add(f->adev->batch, node, bytes);
}

static void make_heaps(struct kunit *test)
{
	struct fixture *f = test->priv;

	atomic_set(&fake_freed, 0);
	f->adev->batch = asahi_batch_create(3600 * 1000, fake_free);
	KUNIT_ASSERT_NOT_NULL(test, f->adev->batch);

	f->adev->heaps = asahi_heaps_create(f->adev, fake_flush);
	KUNIT_ASSERT_NOT_NULL(test, f->adev->heaps);
}

static void drop_heaps(struct fixture *f)
{
	asahi_heaps_unplug(f->adev->heaps);
	asahi_heaps_destroy(f->adev->heaps);
	asahi_batch_destroy(f->adev->batch);
}

/* What a SUBMIT cannot restore at once it tries again, a few times; then nothing has changed. */
static void no_memory(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct asahi_vm_lock lock;
	int ret;

	make_heaps(test);
	kunit_activate_static_stub(test, asahi_pgtable_alloc_page, fake_alloc);
	bind(test, 0, RW, 0, 0, OBJECT_PAGES, 0);
	bind(test, 0, RW, PRIVATE, 0, OBJECT_PAGES, PAGES / 2);
	KUNIT_EXPECT_EQ(test, scan_all(f), 2 * object_pages);

	/* Each try ends with the first allocation that fails. */
	f->failures = TRIES - 1;
	restore(test, 0);
	KUNIT_EXPECT_EQ(test, f->failures, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&f->adev->reclaim.failures), TRIES - 1);
	expect_model(test, 0);

	/* One object gets its two tables, the other does not get its one. */
	KUNIT_EXPECT_EQ(test, scan_all(f), 2 * object_pages);
	f->successes = 2;
	f->failures = TRIES;
	ret = asahi_reclaim_lock_submit(f->vm[0], &lock);
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	if (!ret)
		asahi_vm_unlock_submit(f->vm[0], &lock);
	KUNIT_EXPECT_EQ(test, f->failures, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&f->adev->reclaim.failures), 2 * (TRIES - 1));
	expect_nothing(test, 0);
	restore(test, 0);
	expect_model(test, 0);

	drop_heaps(f);
}

/* Objects that cannot go are looked at once, and others go nevertheless. */
static void once(struct kunit *test)
{
	struct fixture *f = test->priv;

	for (unsigned int i = 0; i < PRIVATE; i++) {
		KUNIT_ASSERT_EQ(test, asahi_gem_pin(&f->gem[i]->base), 0);
		asahi_gem_unpin(&f->gem[i]->base);
		expect_place(test, f->gem[i], ASAHI_GEM_UNBOUND, NULL);
	}
	bind(test, 0, RW, PRIVATE, 0, 1, 0);

	dma_resv_lock(f->gem[0]->base.resv, NULL);
	KUNIT_EXPECT_EQ(test, asahi_reclaim_scan(f->adev, ULONG_MAX, false), 2 * object_pages);
	dma_resv_unlock(f->gem[0]->base.resv);
	KUNIT_EXPECT_EQ(test, asahi_reclaim_scan(f->adev, ULONG_MAX, true), 2 * object_pages);
}

static struct shrink_control *control(struct fixture *f, unsigned long pages)
{
	f->sc = (struct shrink_control) {
		.gfp_mask = GFP_KERNEL,
		.nid = page_to_nid(virt_to_page(f->vm[0])),
		.nr_to_scan = pages,
	};
	return &f->sc;
}

static bool fake_swap(struct mem_cgroup *memcg)
{
	struct fixture *f = kunit_get_current_test()->priv;

	return f->swap;
}

/*
 * What the kernel is told, and what it gets: nothing without swap, but it must not stop asking
 * for as long as there is an address space.
 */
static void shrinker(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct shrinker shrinker = { .private_data = f->adev };
	struct llist_node node;

	make_heaps(test);
	kunit_activate_static_stub(test, asahi_reclaim_may_swap, fake_swap);
	bind(test, 0, RW, 0, 0, 1, 0);
	bind(test, 0, RW, 1, 0, 1, 1);
	bind(test, 1, RW, 1, 0, 1, 0);
	KUNIT_ASSERT_EQ(test, asahi_gem_pin(&f->gem[2]->base), 0);
	asahi_gem_unpin(&f->gem[2]->base);

	KUNIT_EXPECT_EQ(test, asahi_reclaim_count(&shrinker, control(f, 0)), 0);
	KUNIT_EXPECT_EQ(test, asahi_reclaim_shrink(&shrinker, control(f, 1)), SHRINK_STOP);
	KUNIT_EXPECT_NOT_NULL(test, f->gem[2]->pages);

	/* Jobs that are over count, too, and are freed. */
	put_into_batch(f, &node, SZ_64K);
	KUNIT_EXPECT_EQ(test, asahi_reclaim_count(&shrinker, control(f, 0)),
			SZ_64K >> PAGE_SHIFT);
	KUNIT_EXPECT_EQ(test, asahi_reclaim_shrink(&shrinker, control(f, 1)), SHRINK_STOP);
	for (unsigned int i = 0; i < 1000 && !atomic_read(&fake_freed); i++)
		fsleep(USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake_freed), 1);
	KUNIT_EXPECT_EQ(test, asahi_reclaim_count(&shrinker, control(f, 0)), 0);

	/* Shared objects are for callers that may wait. */
	f->swap = true;
	KUNIT_EXPECT_EQ(test, asahi_reclaim_count(&shrinker, control(f, 0)), 3 * object_pages);
	control(f, 0)->gfp_mask = GFP_NOWAIT;
	KUNIT_EXPECT_EQ(test, asahi_reclaim_count(&shrinker, &f->sc), 2 * object_pages);

	/* The kernel hears how much more than a page that was. */
	KUNIT_EXPECT_EQ(test, asahi_reclaim_shrink(&shrinker, control(f, 1)), object_pages);
	KUNIT_EXPECT_EQ(test, f->sc.nr_scanned, object_pages);
	KUNIT_EXPECT_NULL(test, f->gem[2]->pages);
	KUNIT_EXPECT_EQ(test, asahi_reclaim_shrink(&shrinker, control(f, ULONG_MAX)),
			2 * object_pages);
	KUNIT_EXPECT_EQ(test, asahi_reclaim_count(&shrinker, control(f, 0)), 0);

	for (unsigned int i = 0; i < VMS; i++) {
		release_vm(f->vm[i]);
		f->vm[i] = NULL;
	}
	KUNIT_EXPECT_EQ(test, asahi_reclaim_count(&shrinker, control(f, 0)), SHRINK_EMPTY);
	drop_heaps(f);
}

/* Everything goes before a process is killed, but only where that helps. */
static void oom(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct llist_node node;
	unsigned long pages = 1;

	make_heaps(test);
	kunit_activate_static_stub(test, asahi_reclaim_may_swap, fake_swap);
	bind(test, 0, RW, 0, 0, 1, 0);
	bind(test, 0, RW, 1, 0, 1, 1);
	bind(test, 1, RW, 1, 0, 1, 0);

	put_into_batch(f, &node, 0);
	KUNIT_EXPECT_EQ(test, asahi_reclaim_oom(&f->adev->reclaim.oom, 0, &pages), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, pages, 1);
	/* It has been waited for. */
	KUNIT_EXPECT_EQ(test, atomic_read(&fake_freed), 1);
	KUNIT_EXPECT_NOT_NULL(test, f->gem[0]->pages);

	f->swap = true;
	KUNIT_EXPECT_EQ(test, asahi_reclaim_oom(&f->adev->reclaim.oom, 0, &pages), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, pages, 1 + 2 * object_pages);
	expect_nothing(test, 0);
	expect_nothing(test, 1);
	drop_heaps(f);
}

static struct dma_buf *export(struct kunit *test, struct asahi_gem *gem)
{
	struct dma_buf *dma_buf = gem->base.funcs->export(&gem->base, 0);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dma_buf);
	return dma_buf;
}

/* A thread of the kernel puts files by a worker. */
static void put_dma_buf(struct dma_buf *dma_buf)
{
	dma_buf_put(dma_buf);
	flush_delayed_fput();
}

/* An object that another device is attached to stays, also between that one's mappings. */
static void attached(struct kunit *test)
{
	struct device *importer = make_dma_device(test, "asahi-evict-importer");
	struct fixture *f = test->priv;
	struct asahi_gem *gem = f->gem[0];
	struct dma_buf_attachment *first, *second;
	struct dma_buf *dma_buf;
	struct sg_table *sgt;

	bind(test, 0, RW, 0, 0, OBJECT_PAGES, 0);
	dma_buf = export(test, gem);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);

	/* It has its memory from then on, and the GPU gets it back, too. */
	first = dma_buf_attach(dma_buf, importer);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, first);
	KUNIT_EXPECT_EQ(test, gem->pins, 1);
	expect_place(test, gem, ASAHI_GEM_STAYS, NULL);
	KUNIT_EXPECT_NOT_NULL(test, gem->pages);
	KUNIT_EXPECT_EQ(test, scan_all(f), 0);
	restore(test, 0);
	KUNIT_EXPECT_EQ(test, scan_all(f), 0);
	expect_model(test, 0);

	/* No list has it, and a scan that has it already leaves it alone. */
	dma_resv_lock(gem->base.resv, NULL);
	KUNIT_EXPECT_FALSE(test, asahi_evict_object(&gem->base, NULL));
	dma_resv_unlock(gem->base.resv);
	expect_model(test, 0);

	sgt = dma_buf_map_attachment_unlocked(first, DMA_BIDIRECTIONAL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sgt);
	KUNIT_EXPECT_PTR_EQ(test, sg_page(sgt->sgl), gem->pages[0]);
	KUNIT_EXPECT_EQ(test, scan_all(f), 0);
	dma_buf_unmap_attachment_unlocked(first, sgt, DMA_BIDIRECTIONAL);
	KUNIT_EXPECT_EQ(test, scan_all(f), 0);

	second = dma_buf_attach(dma_buf, importer);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, second);
	dma_buf_detach(dma_buf, first);
	KUNIT_EXPECT_EQ(test, scan_all(f), 0);
	expect_model(test, 0);

	dma_buf_detach(dma_buf, second);
	expect_place(test, gem, ASAHI_GEM_MAPPED, f->vm[0]);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	expect_nothing(test, 0);
	put_dma_buf(dma_buf);
}

static struct sg_table *exporter_map(struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	struct sg_table *sgt = kzalloc_obj(*sgt);

	if (!sgt)
		return ERR_PTR(-ENOMEM);
	if (sg_alloc_table(sgt, 1, GFP_KERNEL)) {
		kfree(sgt);
		return ERR_PTR(-ENOMEM);
	}
	sg_set_page(sgt->sgl, attach->dmabuf->priv, attach->dmabuf->size, 0);
	if (dma_map_sgtable(attach->dev, sgt, dir, 0)) {
		sg_free_table(sgt);
		kfree(sgt);
		return ERR_PTR(-ENOMEM);
	}
	return sgt;
}

static void exporter_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			   enum dma_data_direction dir)
{
	dma_unmap_sgtable(attach->dev, sgt, dir, 0);
	sg_free_table(sgt);
	kfree(sgt);
}

static void exporter_release(struct dma_buf *dma_buf)
{
	__free_pages(dma_buf->priv, get_order(dma_buf->size));
}

static const struct dma_buf_ops exporter_ops = {
	.map_dma_buf = exporter_map,
	.unmap_dma_buf = exporter_unmap,
	.release = exporter_release,
};

/* Of so many pages as an object, in one piece. */
static struct dma_buf *make_foreign(struct kunit *test)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dma_buf;

	info.ops = &exporter_ops;
	info.size = OBJECT_PAGES * PAGE;
	info.priv = alloc_pages(GFP_KERNEL | __GFP_ZERO, get_order(info.size));
	KUNIT_ASSERT_NOT_NULL(test, info.priv);
	dma_buf = dma_buf_export(&info);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dma_buf);
	return dma_buf;
}

/* Another device's memory stays where it is, while all beside it goes. */
static void imported(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct dma_buf *dma_buf = make_foreign(test);
	struct drm_gem_object *obj = drm_gem_prime_import(&f->adev->drm, dma_buf);
	u64 phys = page_to_phys((struct page *)dma_buf->priv);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, obj);
	KUNIT_ASSERT_EQ(test, idr_alloc(&f->drm_file.object_idr, obj, OBJECTS + 1, OBJECTS + 2,
					GFP_KERNEL), OBJECTS + 1);
	bind(test, 0, RW, OBJECTS, 3, 1, 0);
	bind(test, 0, RW, 0, 0, 1, 1);
	expect_place(test, to_asahi_gem(obj), ASAHI_GEM_STAYS, NULL);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	KUNIT_EXPECT_NOT_NULL(test, to_asahi_gem(obj)->sgt);
	KUNIT_EXPECT_EQ(test, entry(f, 0, 0) & AGX_TTBR_ADDR_MASK, phys + 3 * PAGE);
	KUNIT_EXPECT_EQ(test, entry(f, 0, 1), 0);

	restore(test, 0);
	KUNIT_EXPECT_EQ(test, entry(f, 0, 0) & AGX_TTBR_ADDR_MASK, phys + 3 * PAGE);
	KUNIT_EXPECT_NE(test, entry(f, 0, 1), 0);

	bind(test, 0, UNBIND, 0, 0, 2, 0);
	expect_place(test, to_asahi_gem(obj), ASAHI_GEM_STAYS, NULL);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	idr_remove(&f->drm_file.object_idr, OBJECTS + 1);
	drm_gem_object_put(obj);
	put_dma_buf(dma_buf);
}

KUNIT_DEFINE_ACTION_WRAPPER(kvfree_action, kvfree, const void *);

static char *dump_vm(struct kunit *test, unsigned int vm)
{
	char *text = kunit_kzalloc(test, DUMP_BYTES, GFP_KERNEL);
	struct drm_print_iterator iter = { .data = text, .remain = DUMP_BYTES - 1 };
	struct drm_printer p = drm_coredump_printer(&iter);
	struct fixture *f = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, text);
	asahi_vm_print(f->vm[vm], &p);
	asahi_vm_print_walk(f->vm[vm], VA, &p);
	return text;
}

/*
 * A dump says which mappings' memory is away and has nothing of it, reads up to where that
 * begins, and gets nothing back.
 */
static void dumped(struct kunit *test)
{
	const size_t bytes = 2 * OBJECT_PAGES * PAGE;
	char *buf = kvmalloc(bytes, GFP_KERNEL), *text;
	struct fixture *f = test->priv;
	struct iosys_map map;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, kvfree_action, buf), 0);
	bind(test, 0, RW, 0, 0, OBJECT_PAGES, 0);
	bind(test, 0, RW, 1, 0, OBJECT_PAGES, OBJECT_PAGES);
	KUNIT_EXPECT_EQ(test, asahi_vm_read(f->vm[0], VA, buf, bytes), bytes);
	KUNIT_EXPECT_NULL(test, strstr(dump_vm(test, 0), " evicted"));

	/* The second one stays. */
	KUNIT_ASSERT_EQ(test, asahi_gem_pin(&f->gem[1]->base), 0);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	text = dump_vm(test, 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "40000 rw offset 0x0 size 0x40000 evicted\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "80000 rw offset 0x0 size 0x40000\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, " invalid\n"));
	KUNIT_EXPECT_EQ(test, asahi_vm_read(f->vm[0], VA, buf, bytes), 0);
	KUNIT_EXPECT_EQ(test, asahi_vm_read(f->vm[0], VA + bytes / 2, buf, bytes), bytes / 2);
	asahi_gem_unpin(&f->gem[1]->base);

	/* What the CPU got back the GPU has not, yet its contents can be read. */
	KUNIT_ASSERT_EQ(test, asahi_gem_pin(&f->gem[0]->base), 0);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	KUNIT_EXPECT_EQ(test, asahi_vm_read(f->vm[0], VA, buf, bytes), bytes / 2);
	asahi_gem_unpin(&f->gem[0]->base);
	KUNIT_EXPECT_EQ(test, scan_all(f), object_pages);
	KUNIT_EXPECT_EQ(test, asahi_vm_read(f->vm[0], VA, buf, bytes), 0);
	KUNIT_EXPECT_NULL(test, f->gem[0]->pages);
	KUNIT_EXPECT_NULL(test, f->gem[1]->pages);
	expect_nothing(test, 0);
	restore(test, 0);
	expect_model(test, 0);

	/* A mapping that repeats a page is read as the GPU reads it. */
	dma_resv_lock(f->gem[2]->base.resv, NULL);
	KUNIT_ASSERT_EQ(test, asahi_gem_vmap(&f->gem[2]->base, &map), 0);
	memset(map.vaddr + PAGE, 0x5a, PAGE);
	asahi_gem_vunmap(&f->gem[2]->base, &map);
	dma_resv_unlock(f->gem[2]->base.resv);
	bind(test, 0, RW | SINGLE, 2, 1, 2, 2 * OBJECT_PAGES);
	KUNIT_EXPECT_EQ(test, asahi_vm_read(f->vm[0], VA + bytes, buf, 3 * PAGE), 2 * PAGE);
	KUNIT_EXPECT_NULL(test, memchr_inv(buf, 0x5a, 2 * PAGE));
	KUNIT_EXPECT_NOT_NULL(test, strstr(dump_vm(test, 0), " repeated "));
}

/* Thousands of things happen; page tables are as the model says after each SUBMIT. */
static void model(struct kunit *test)
{
	static const u32 flags[] = { RW, RO, WO, RW | SINGLE, RO | SINGLE, UNBIND };
	struct fixture *f = test->priv;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 25);
	for (unsigned int i = 0; i < STEPS; i++) {
		unsigned int vm = prandom_u32_state(&rnd) % MODEL_VMS;
		unsigned int object = prandom_u32_state(&rnd) % (vm ? PRIVATE : OBJECTS);
		u32 flag = flags[prandom_u32_state(&rnd) % ARRAY_SIZE(flags)];
		unsigned int page = prandom_u32_state(&rnd) % OBJECT_PAGES;
		unsigned int count = 1 + prandom_u32_state(&rnd) % (OBJECT_PAGES - page);
		unsigned int at = prandom_u32_state(&rnd) % (PAGES - OBJECT_PAGES);

		switch (prandom_u32_state(&rnd) % 8) {
		case 0:
			asahi_reclaim_scan(f->adev, 1 + prandom_u32_state(&rnd) % 64, true);
			break;
		case 1:
			scan_all(f);
			expect_nothing(test, vm);
			break;
		case 2:
			restore(test, vm);
			expect_model(test, vm);
			break;
		default:
			bind(test, vm, flag, object, page, count, at);
		}
	}
}

static struct kunit_case asahi_evict_cases[] = {
	KUNIT_CASE(kinds),
	KUNIT_CASE(changes_while_away),
	KUNIT_CASE(needed),
	KUNIT_CASE(busy),
	KUNIT_CASE(lists),
	KUNIT_CASE(order),
	KUNIT_CASE(idle_time),
	KUNIT_CASE(waits),
	KUNIT_CASE(locked),
	KUNIT_CASE(no_memory),
	KUNIT_CASE(once),
	KUNIT_CASE(shrinker),
	KUNIT_CASE(oom),
	KUNIT_CASE(attached),
	KUNIT_CASE(imported),
	KUNIT_CASE(dumped),
	KUNIT_CASE_SLOW(model),
	{}
};

static struct kunit_suite asahi_evict_suite = {
	.name = "asahi_evict",
	.init = evict_test_init,
	.exit = evict_test_exit,
	.test_cases = asahi_evict_cases,
};

kunit_test_suite(asahi_evict_suite);
