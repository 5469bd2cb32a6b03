// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of MMU contexts and firmware flushes, on made-up regions.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/static_stub.h>
#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>

#include <agx/agx_uat.h>

#include "asahi_aspace.h"
#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_handoff.h"
#include "asahi_hw.h"
#include "asahi_rest_test.h"
#include "asahi_state.h"
#include "asahi_tlb.h"
#include "asahi_uat.h"

#define VA		(AGX_VA_USER_START + SZ_32M)
#define PAGE		AGX_PAGE_SIZE
/* Where the driver's own memory for jobs begins */
#define VIEW		0x40000000ULL
#define FLUSH_UNKNOWN	7
/* Pages of one request */
#define FLUSH_PAGES	0x8000

/* For how long nothing is asked of firmware that was late, and more, in milliseconds */
#define FLUSH_PAUSE	1100
/* Later than any test, unless that flushes the work */
#define NEVER		600000

/**
 * struct fake - a device of which only the MMU exists, and its firmware
 * @test: test
 * @adev: device
 * @handoff: handoff region
 * @ttbs: table of bases, two words for each context
 * @root: root of the kernel half
 * @as: address spaces of two VMs
 * @answer: state that the firmware leaves after a flush
 * @late: and when, in milliseconds after it has read the request
 * @requests: how many it has read
 * @va: first address of the last of them
 * @pages: pages of it
 * @late_work: answers then
 * @watch: context whose base is noted when it is invalidated
 * @ttb_at_tlbi: that base
 * @slot_at_tlbi: context of the first address space at that moment
 * @tlbis: how often @watch was invalidated
 * @overtake: during that, gives the context to the first address space again
 * @overtakes: whether @overtake is to be tried
 * @overtook: @overtake has returned
 * @overtook_tlbi: before the invalidation was done
 */
struct fake {
	struct kunit *test;
	struct asahi_device adev;
	struct asahi_handoff handoff;
	__le64 ttbs[2 * AGX_UAT_CONTEXTS];
	__le64 root[AGX_UAT_KERNEL_ROOT_SIZE / sizeof(__le64)];
	struct asahi_aspace as[2];
	u64 answer;
	unsigned int late;
	unsigned int requests;
	u64 va;
	u32 pages;
	struct delayed_work late_work;
	unsigned int watch;
	u64 ttb_at_tlbi;
	int slot_at_tlbi;
	unsigned int tlbis;
	struct work_struct overtake;
	bool overtakes;
	bool overtook;
	bool overtook_tlbi;
};

static struct fake *the_fake(void)
{
	return kunit_get_current_test()->priv;
}

static u64 ttb(struct fake *fake, unsigned int slot)
{
	return le64_to_cpu(fake->ttbs[2 * slot]);
}

static void fake_all(void)
{
}

static void fake_asid(unsigned int asid)
{
	struct fake *fake = the_fake();

	if (asid != fake->watch)
		return;
	fake->tlbis++;
	fake->ttb_at_tlbi = ttb(fake, asid);
	fake->slot_at_tlbi = fake->as[0].slot;
	if (!fake->overtakes)
		return;
	fake->overtakes = false;
	schedule_work(&fake->overtake);
	msleep(50);
	fake->overtook_tlbi = READ_ONCE(fake->overtook);
}

/* As a job of another queue of the VM, or the one after the job that was lost. */
static void overtake(struct work_struct *work)
{
	struct fake *fake = container_of(work, struct fake, overtake);

	if (atomic_read(&fake->as[0].barred))
		asahi_uat_unbar(&fake->as[0]);
	asahi_uat_attach(&fake->as[0], fake->watch);
	WRITE_ONCE(fake->overtook, true);
}

static void fake_ranges(unsigned int asid, const struct asahi_ranges *ranges)
{
}

static void answer_late(struct work_struct *work)
{
	struct fake *fake = container_of(to_delayed_work(work), struct fake, late_work);

	WRITE_ONCE(fake->handoff.flush[AGX_HANDOFF_FLUSH_KERNEL].state,
		   cpu_to_le64(fake->answer));
}

static int fake_fwctl(struct asahi_device *adev, const struct asahi_fwctl_msg *msg)
{
	struct fake *fake = container_of(adev, struct fake, adev);
	struct asahi_handoff_flush *flush = &fake->handoff.flush[msg->slot];

	fake->requests++;
	fake->va = msg->va;
	fake->pages = msg->pages;
	KUNIT_EXPECT_EQ(fake->test, le64_to_cpu(flush->state), AGX_HANDOFF_FLUSH_REQUESTED);
	KUNIT_EXPECT_EQ(fake->test, le64_to_cpu(flush->addr), msg->va);
	KUNIT_EXPECT_EQ(fake->test, le64_to_cpu(flush->size), msg->pages * PAGE);
	if (fake->late)
		schedule_delayed_work(&fake->late_work, msecs_to_jiffies(fake->late));
	else
		WRITE_ONCE(flush->state, cpu_to_le64(fake->answer));
	return 0;
}

/* As the boot loader leaves it. */
static void forget(struct fake *fake)
{
	memset(&fake->handoff, 0, sizeof(fake->handoff));
	memset(fake->as, 0, sizeof(fake->as));
	fake->handoff.magic_fw = cpu_to_le64(AGX_HANDOFF_MAGIC);
	asahi_state_init(&fake->adev.state);
	asahi_watchdog_init(&fake->adev.watchdog, &fake->adev);
}

static int uat_test_init(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-uat");

	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	fake->test = test;
	fake->adev.drm.dev = dev;
	fake->adev.hw = &asahi_hw_t8103;
	fake->adev.region[ASAHI_REGION_HANDOFF].map = &fake->handoff;
	fake->adev.region[ASAHI_REGION_TTBS].map = fake->ttbs;
	fake->adev.region[ASAHI_REGION_PAGETABLES].map = fake->root;
	forget(fake);
	fake->answer = AGX_HANDOFF_FLUSH_DONE;
	INIT_DELAYED_WORK(&fake->late_work, answer_late);
	INIT_WORK(&fake->overtake, overtake);
	test->priv = fake;

	kunit_activate_static_stub(test, asahi_tlb_invalidate_all, fake_all);
	kunit_activate_static_stub(test, asahi_tlb_invalidate_asid, fake_asid);
	kunit_activate_static_stub(test, asahi_tlb_invalidate_ranges, fake_ranges);
	kunit_activate_static_stub(test, asahi_channel_fwctl, fake_fwctl);
	return 0;
}

static struct fake *start(struct kunit *test)
{
	struct fake *fake = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, asahi_block_uat.init(&fake->adev), 0);
	for (i = 0; i < ARRAY_SIZE(fake->as); i++) {
		KUNIT_ASSERT_EQ(test, asahi_aspace_init(&fake->as[i], &fake->adev), 0);
		KUNIT_ASSERT_EQ(test, asahi_aspace_init_view(&fake->as[i], VIEW, 2 * VIEW), 0);
	}
	/* As after the boot of the firmware. */
	KUNIT_ASSERT_TRUE(test, asahi_state_move(&fake->adev, ASAHI_STATE_STARTING,
						 ASAHI_STATE_RUNNING));
	asahi_state_set_fw(&fake->adev, ASAHI_FW_RUNNING);
	return fake;
}

static void stop(struct fake *fake)
{
	unsigned int i;

	flush_delayed_work(&fake->late_work);
	asahi_block_uat.unplug(&fake->adev);
	for (i = 0; i < ARRAY_SIZE(fake->as); i++) {
		KUNIT_EXPECT_EQ(fake->test, fake->as[i].slot, ASAHI_ASPACE_NO_SLOT);
		asahi_aspace_fini(&fake->as[i]);
	}
	for (i = 1; i < AGX_UAT_CONTEXTS; i++)
		KUNIT_EXPECT_EQ(fake->test, ttb(fake, i), 0);
	expect_at_rest(fake->test, &asahi_block_uat, &fake->adev,
		       ASAHI_REST_FLIGHT | ASAHI_REST_CLOSED);
	asahi_block_uat.fini(&fake->adev);
}

/* Nobody's work may start in a context in which another VM's translations are left. */
static void nobody_overtakes(struct kunit *test)
{
	struct fake *fake = start(test);

	asahi_uat_attach(&fake->as[1], 5);
	fake->watch = 5;
	fake->overtakes = true;
	asahi_uat_attach(&fake->as[0], 5);
	flush_work(&fake->overtake);
	KUNIT_EXPECT_EQ(test, fake->tlbis, 1);
	KUNIT_EXPECT_TRUE(test, fake->overtook);
	KUNIT_EXPECT_FALSE(test, fake->overtook_tlbi);
	stop(fake);
}

static void contexts_change_hands(struct kunit *test)
{
	struct fake *fake = start(test);
	u64 first = asahi_pgtable_root(&fake->as[0].pgt) | AGX_TTBR_VALID;
	u64 second = asahi_pgtable_root(&fake->as[1].pgt) | AGX_TTBR_VALID;

	asahi_uat_attach(&fake->as[0], 5);
	KUNIT_EXPECT_EQ(test, fake->as[0].slot, 5);
	KUNIT_EXPECT_EQ(test, ttb(fake, 5), first | 5ULL << AGX_TTBR_ASID_SHIFT);

	/* The former owner is named until its translations are gone, and not longer. */
	fake->watch = 5;
	asahi_uat_attach(&fake->as[1], 5);
	KUNIT_EXPECT_EQ(test, fake->tlbis, 1);
	KUNIT_EXPECT_EQ(test, fake->slot_at_tlbi, 5);
	KUNIT_EXPECT_EQ(test, fake->ttb_at_tlbi, second | 5ULL << AGX_TTBR_ASID_SHIFT);
	KUNIT_EXPECT_EQ(test, fake->as[0].slot, ASAHI_ASPACE_NO_SLOT);
	KUNIT_EXPECT_EQ(test, fake->as[1].slot, 5);

	/* An address space that gets another context gives the first one back. */
	asahi_uat_attach(&fake->as[1], 6);
	KUNIT_EXPECT_EQ(test, ttb(fake, 5), 0);
	KUNIT_EXPECT_EQ(test, ttb(fake, 6), second | 6ULL << AGX_TTBR_ASID_SHIFT);

	fake->watch = 6;
	fake->tlbis = 0;
	asahi_uat_detach(&fake->as[1]);
	KUNIT_EXPECT_EQ(test, fake->tlbis, 1);
	KUNIT_EXPECT_EQ(test, fake->ttb_at_tlbi, 0);
	KUNIT_EXPECT_EQ(test, fake->as[1].slot, ASAHI_ASPACE_NO_SLOT);
	stop(fake);
}

/* Nothing is left behind that would make the next probe take it for the second. */
static void failed_probe_takes_back(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->handoff.magic_fw = 0;
	KUNIT_EXPECT_EQ(test, asahi_block_uat.init(&fake->adev), -ENODEV);
	KUNIT_EXPECT_TRUE(test, asahi_handoff_was_used(&fake->handoff));
	asahi_block_uat.unplug(&fake->adev);
	KUNIT_EXPECT_FALSE(test, asahi_handoff_was_used(&fake->handoff));
	expect_at_rest(test, &asahi_block_uat, &fake->adev,
		       ASAHI_REST_FLIGHT | ASAHI_REST_CLOSED);
	asahi_block_uat.fini(&fake->adev);
}

static void used_firmware_is_refused(struct kunit *test)
{
	struct fake *fake = test->priv;

	if (asahi_allows(ASAHI_UNPROVEN_AGAIN))
		kunit_skip(test, "the module parameter \"unproven\" allows it");

	asahi_handoff_announce(&fake->handoff);
	fake->adev.was_started = true;
	KUNIT_EXPECT_EQ(test, asahi_block_uat.init(&fake->adev), -ENODEV);
	asahi_block_uat.unplug(&fake->adev);
	/* That has not been taken back: it was another's. */
	KUNIT_EXPECT_TRUE(test, asahi_handoff_was_used(&fake->handoff));
	asahi_block_uat.fini(&fake->adev);
}

static int flush_kernel(struct fake *fake)
{
	return asahi_uat_fw_flush(&fake->adev.kernel_as, AGX_VA_PRIVATE_START, 4 * PAGE);
}

static void flush_results(struct kunit *test)
{
	struct fake *fake = start(test);

	KUNIT_EXPECT_EQ(test, flush_kernel(fake), 0);

	/* Ready when the request has been read, or some time later. */
	fake->late = 100;
	KUNIT_EXPECT_EQ(test, flush_kernel(fake), 0);

	/* What nobody has seen so far says nothing of the memory, nor of the device. */
	fake->late = 0;
	fake->answer = FLUSH_UNKNOWN;
	KUNIT_EXPECT_EQ(test, flush_kernel(fake), -EIO);
	KUNIT_EXPECT_EQ(test, asahi_state_get(&fake->adev), ASAHI_STATE_RUNNING);
	fake->answer = AGX_HANDOFF_FLUSH_DONE;
	KUNIT_EXPECT_EQ(test, flush_kernel(fake), 0);
	KUNIT_EXPECT_EQ(test, fake->requests, 4);
	stop(fake);
}

static void flush_that_is_too_late(struct kunit *test)
{
	struct fake *fake = start(test);
	ktime_t begin = ktime_get();

	fake->late = NEVER;
	KUNIT_EXPECT_EQ(test, flush_kernel(fake), -ETIMEDOUT);
	KUNIT_EXPECT_LT(test, ktime_ms_delta(ktime_get(), begin), 2500);
	KUNIT_EXPECT_EQ(test, asahi_state_get(&fake->adev), ASAHI_STATE_RUNNING);

	/* Others do not wait as long, and ask for nothing. */
	begin = ktime_get();
	KUNIT_EXPECT_EQ(test, flush_kernel(fake), -ETIMEDOUT);
	KUNIT_EXPECT_LT(test, ktime_ms_delta(ktime_get(), begin), 800);

	/* Nor does who comes when it is asked again, but the old request is not answered. */
	msleep(FLUSH_PAUSE);
	KUNIT_EXPECT_EQ(test, flush_kernel(fake), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fake->requests, 1);

	/* The late answer is not taken for one to a later request. */
	msleep(FLUSH_PAUSE);
	flush_delayed_work(&fake->late_work);
	fake->late = 0;
	fake->answer = FLUSH_UNKNOWN;
	KUNIT_EXPECT_EQ(test, flush_kernel(fake), -EIO);
	KUNIT_EXPECT_EQ(test, fake->requests, 2);
	stop(fake);
}

/* Only what the firmware is in at the moment can be in its cache. */
static void flushes_of_vms(struct kunit *test)
{
	struct fake *fake = start(test);

	KUNIT_EXPECT_EQ(test, asahi_uat_fw_flush(&fake->as[0], VA, PAGE), 0);
	asahi_uat_attach(&fake->as[0], 9);
	KUNIT_EXPECT_EQ(test, asahi_uat_fw_flush(&fake->as[0], VA, PAGE), 0);
	KUNIT_EXPECT_EQ(test, fake->requests, 0);
	fake->handoff.cur_slot = cpu_to_le32(9);
	KUNIT_EXPECT_EQ(test, asahi_uat_fw_flush(&fake->as[0], VA, PAGE), 0);
	KUNIT_EXPECT_EQ(test, fake->requests, 1);
	fake->handoff.cur_slot = 0;

	/* One that has failed cannot be asked, and one that was never started need not. */
	asahi_state_set_fw(&fake->adev, ASAHI_FW_FAILED);
	KUNIT_EXPECT_EQ(test, flush_kernel(fake), -ENODEV);
	asahi_state_set_fw(&fake->adev, ASAHI_FW_FRESH);
	KUNIT_EXPECT_EQ(test, flush_kernel(fake), 0);
	KUNIT_EXPECT_EQ(test, fake->requests, 1);
	stop(fake);
}

/* A request has so many pages and no more; nothing is left out between two of them. */
static void flushes_in_pieces(struct kunit *test)
{
	const u64 va = AGX_VA_PRIVATE_START, most = FLUSH_PAGES * PAGE;
	struct fake *fake = start(test);
	struct asahi_aspace *as = &fake->adev.kernel_as;

	KUNIT_EXPECT_EQ(test, asahi_uat_fw_flush(as, va, most), 0);
	KUNIT_EXPECT_EQ(test, fake->requests, 1);
	KUNIT_EXPECT_EQ(test, fake->pages, FLUSH_PAGES);

	KUNIT_EXPECT_EQ(test, asahi_uat_fw_flush(as, va, most + PAGE), 0);
	KUNIT_EXPECT_EQ(test, fake->requests, 3);
	KUNIT_EXPECT_EQ(test, fake->va, va + most);
	KUNIT_EXPECT_EQ(test, fake->pages, 1);

	/* What was not done is not hidden by what was. */
	fake->answer = FLUSH_UNKNOWN;
	KUNIT_EXPECT_EQ(test, asahi_uat_fw_flush(as, va, 2 * most), -EIO);
	KUNIT_EXPECT_EQ(test, fake->requests, 4);
	fake->answer = AGX_HANDOFF_FLUSH_DONE;
	stop(fake);
}

/* What a context leads to. */
static u64 base(struct fake *fake, unsigned int slot)
{
	return ttb(fake, slot) & AGX_TTBR_ADDR_MASK;
}

static u64 all_of(struct fake *fake, unsigned int i)
{
	return asahi_aspace_root(&fake->as[i], ASAHI_VIEW_ALL);
}

static u64 kernel_of(struct fake *fake, unsigned int i)
{
	return asahi_aspace_root(&fake->as[i], ASAHI_VIEW_KERNEL);
}

/* An address space that is barred for two lost jobs is back after the second. */
static void bars(struct kunit *test)
{
	struct fake *fake = start(test);

	asahi_uat_attach(&fake->as[0], 5);
	asahi_uat_attach(&fake->as[1], 6);
	asahi_uat_bar(&fake->as[0]);
	asahi_uat_drop_barred(&fake->as[0], ASAHI_VIEW_KERNEL);
	KUNIT_EXPECT_EQ(test, base(fake, 5), kernel_of(fake, 0));
	KUNIT_EXPECT_EQ(test, base(fake, 6), all_of(fake, 1));
	/* What the driver has there can still go, and is invalidated then. */
	KUNIT_EXPECT_EQ(test, fake->as[0].slot, 5);
	KUNIT_EXPECT_FALSE(test, asahi_uat_is_attached(&fake->as[0], 5));

	asahi_uat_bar(&fake->as[0]);
	asahi_uat_drop_barred(&fake->as[0], ASAHI_VIEW_KERNEL);
	asahi_uat_attach(&fake->as[0], 5);
	KUNIT_EXPECT_EQ(test, base(fake, 5), kernel_of(fake, 0));
	asahi_uat_unbar(&fake->as[0]);
	asahi_uat_attach(&fake->as[0], 5);
	KUNIT_EXPECT_EQ(test, base(fake, 5), kernel_of(fake, 0));

	/* In another context it finds nothing of its former owner's. */
	asahi_uat_attach(&fake->as[0], 6);
	KUNIT_EXPECT_EQ(test, ttb(fake, 5), 0);
	KUNIT_EXPECT_EQ(test, base(fake, 6), kernel_of(fake, 0));
	KUNIT_EXPECT_EQ(test, fake->as[1].slot, ASAHI_ASPACE_NO_SLOT);

	asahi_uat_unbar(&fake->as[0]);
	asahi_uat_attach(&fake->as[0], 6);
	KUNIT_EXPECT_EQ(test, base(fake, 6), all_of(fake, 0));
	KUNIT_EXPECT_TRUE(test, asahi_uat_is_attached(&fake->as[0], 6));
	stop(fake);
}

/* Work that survives that finds nothing at all, in any context. */
static void empties(struct kunit *test)
{
	struct fake *fake = start(test);

	asahi_uat_attach(&fake->as[0], 5);
	asahi_uat_bar(&fake->as[0]);
	asahi_uat_drop_barred(&fake->as[0], ASAHI_VIEW_KERNEL);
	asahi_uat_drop_barred(&fake->as[0], ASAHI_VIEW_NONE);
	KUNIT_EXPECT_EQ(test, ttb(fake, 5), 0);
	asahi_uat_drop_barred(&fake->as[0], ASAHI_VIEW_KERNEL);
	asahi_uat_attach(&fake->as[0], 5);
	KUNIT_EXPECT_EQ(test, ttb(fake, 5), 0);
	asahi_uat_attach(&fake->as[0], 6);
	KUNIT_EXPECT_EQ(test, ttb(fake, 6), 0);

	asahi_uat_unbar(&fake->as[0]);
	asahi_uat_attach(&fake->as[0], 6);
	KUNIT_EXPECT_EQ(test, base(fake, 6), all_of(fake, 0));
	stop(fake);
}

/* The lost job has ended before its memory was taken away: another one may be in there. */
static void bars_too_late(struct kunit *test)
{
	struct fake *fake = start(test);

	asahi_uat_attach(&fake->as[0], 5);
	asahi_uat_bar(&fake->as[0]);
	asahi_uat_unbar(&fake->as[0]);
	asahi_uat_drop_barred(&fake->as[0], ASAHI_VIEW_KERNEL);
	KUNIT_EXPECT_EQ(test, base(fake, 5), all_of(fake, 0));
	KUNIT_EXPECT_TRUE(test, asahi_uat_is_attached(&fake->as[0], 5));
	stop(fake);
}

/* A job whose address space is barred, but not cut off yet, does not get it back. */
static void bars_before_it_cuts(struct kunit *test)
{
	struct fake *fake = start(test);

	asahi_uat_attach(&fake->as[0], 5);
	asahi_uat_bar(&fake->as[0]);
	asahi_uat_attach(&fake->as[0], 6);
	KUNIT_EXPECT_EQ(test, ttb(fake, 5), 0);
	KUNIT_EXPECT_EQ(test, base(fake, 6), kernel_of(fake, 0));
	asahi_uat_drop_barred(&fake->as[0], ASAHI_VIEW_KERNEL);
	asahi_uat_unbar(&fake->as[0]);
	asahi_uat_attach(&fake->as[0], 6);
	KUNIT_EXPECT_EQ(test, base(fake, 6), all_of(fake, 0));
	stop(fake);
}

/* The lost job ends, and the next one comes, while its memory is still being taken away. */
static void next_job_waits_for_the_cut(struct kunit *test)
{
	struct fake *fake = start(test);

	asahi_uat_attach(&fake->as[0], 5);
	fake->watch = 5;
	fake->overtakes = true;
	asahi_uat_bar(&fake->as[0]);
	asahi_uat_drop_barred(&fake->as[0], ASAHI_VIEW_KERNEL);
	flush_work(&fake->overtake);
	KUNIT_EXPECT_TRUE(test, fake->overtook);
	KUNIT_EXPECT_FALSE(test, fake->overtook_tlbi);
	KUNIT_EXPECT_EQ(test, base(fake, 5), all_of(fake, 0));
	KUNIT_EXPECT_EQ(test, fake->as[0].slot, 5);
	stop(fake);
}

/* At shutdown, jobs that come find as little as jobs that run. */
static void strips(struct kunit *test)
{
	struct fake *fake = start(test);

	asahi_uat_attach(&fake->as[0], 5);
	asahi_uat_strip_clients(&fake->adev);
	KUNIT_EXPECT_EQ(test, base(fake, 5), kernel_of(fake, 0));
	asahi_uat_attach(&fake->as[0], 5);
	KUNIT_EXPECT_EQ(test, base(fake, 5), kernel_of(fake, 0));
	asahi_uat_attach(&fake->as[1], 6);
	KUNIT_EXPECT_EQ(test, base(fake, 6), kernel_of(fake, 1));
	stop(fake);
}

/* If the firmware has failed, contexts are emptied instead. */
static void strips_after_a_failure(struct kunit *test)
{
	struct fake *fake = start(test);

	asahi_uat_attach(&fake->as[0], 5);
	asahi_uat_attach(&fake->as[1], 6);
	asahi_state_set_fw(&fake->adev, ASAHI_FW_FAILED);
	fake->handoff.lock_fw = 1;
	asahi_uat_strip_clients(&fake->adev);
	KUNIT_EXPECT_EQ(test, ttb(fake, 5), 0);
	KUNIT_EXPECT_EQ(test, ttb(fake, 6), 0);
	fake->handoff.lock_fw = 0;
	stop(fake);
}

static void resets(struct kunit *test)
{
	struct fake *fake = start(test);

	asahi_uat_attach(&fake->as[0], 5);
	fake->handoff.lock_fw = 1;
	fake->handoff.cur_slot = cpu_to_le32(5);
	asahi_block_uat.pre_reset(&fake->adev);
	KUNIT_EXPECT_EQ(test, fake->as[0].slot, ASAHI_ASPACE_NO_SLOT);
	KUNIT_EXPECT_EQ(test, ttb(fake, 5), 0);

	/* Tables change meanwhile, but nobody gets a context. */
	KUNIT_EXPECT_EQ(test, asahi_aspace_map(&fake->as[0], VA, 0, PAGE,
					       ASAHI_PROT_GPU_SHARED_RW), 0);
	asahi_uat_attach(&fake->as[0], 5);
	KUNIT_EXPECT_EQ(test, ttb(fake, 5), 0);

	/* What the dead firmware has left behind is not taken for the new one's. */
	asahi_uat_forget_firmware(&fake->adev);
	KUNIT_EXPECT_EQ(test, asahi_block_uat.post_reset(&fake->adev), -ENODEV);
	asahi_uat_forget_firmware(&fake->adev);
	fake->handoff.magic_fw = cpu_to_le64(AGX_HANDOFF_MAGIC);
	KUNIT_EXPECT_EQ(test, asahi_block_uat.post_reset(&fake->adev), 0);
	KUNIT_EXPECT_TRUE(test, asahi_handoff_was_used(&fake->handoff));
	KUNIT_EXPECT_EQ(test, asahi_handoff_current_slot(&fake->handoff), 0);
	KUNIT_EXPECT_EQ(test, ttb(fake, 0),
			le64_to_cpu(fake->ttbs[0]) & (AGX_TTBR_ADDR_MASK | AGX_TTBR_VALID));
	asahi_uat_attach(&fake->as[0], 5);
	KUNIT_EXPECT_EQ(test, fake->as[0].slot, 5);
	KUNIT_EXPECT_NE(test, ttb(fake, 5), 0);
	stop(fake);
}

static int attach_second(void *data)
{
	struct fake *fake = data;

	asahi_uat_attach(&fake->as[1], 6);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

/* Whether an unmap ended before someone else had waited for long enough. */
static bool invalidation_is_first(struct kunit *test)
{
	struct task_struct *thread;
	struct fake *fake;
	bool first;

	forget(test->priv);
	fake = start(test);
	asahi_uat_attach(&fake->as[0], 5);
	KUNIT_ASSERT_EQ(test, asahi_aspace_map(&fake->as[0], VA, 0, 2 * PAGE,
					       ASAHI_PROT_GPU_SHARED_RW), 0);
	fake->handoff.lock_fw = 1;
	fake->handoff.turn = cpu_to_le32(1);
	thread = kthread_run(attach_second, fake, "asahi-uat-attach");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	msleep(20);

	KUNIT_EXPECT_EQ(test, asahi_aspace_unmap(&fake->as[0], VA, PAGE,
						 ASAHI_PROT_GPU_SHARED_RW), 0);
	first = fake->as[1].slot == ASAHI_ASPACE_NO_SLOT;

	/* It is late with the lock, and is not given up for that at once. */
	msleep(300);
	KUNIT_EXPECT_EQ(test, fake->as[1].slot, ASAHI_ASPACE_NO_SLOT);
	fake->handoff.turn = 0;
	fake->handoff.lock_fw = 0;
	kthread_stop(thread);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->adev.watchdog.late[ASAHI_DEBT_HANDOFF]), 1);
	KUNIT_EXPECT_EQ(test, asahi_state_get(&fake->adev), ASAHI_STATE_RUNNING);
	KUNIT_EXPECT_EQ(test, fake->as[1].slot, 6);
	stop(fake);
	return first;
}

/*
 * Someone waits for the handoff lock; changing translations is not his business. A
 * slow machine may be late once, but not each time.
 */
static void invalidation_does_not_wait(struct kunit *test)
{
	bool first = false;

	for (unsigned int i = 0; i < 10 && !first; i++)
		first = invalidation_is_first(test);
	KUNIT_EXPECT_TRUE(test, first);
}

static struct kunit_case uat_cases[] = {
	KUNIT_CASE(contexts_change_hands),
	KUNIT_CASE(nobody_overtakes),
	KUNIT_CASE_SLOW(failed_probe_takes_back),
	KUNIT_CASE(used_firmware_is_refused),
	KUNIT_CASE(flush_results),
	KUNIT_CASE_SLOW(flush_that_is_too_late),
	KUNIT_CASE(flushes_of_vms),
	KUNIT_CASE(flushes_in_pieces),
	KUNIT_CASE(bars),
	KUNIT_CASE(empties),
	KUNIT_CASE(bars_too_late),
	KUNIT_CASE(bars_before_it_cuts),
	KUNIT_CASE(next_job_waits_for_the_cut),
	KUNIT_CASE(strips),
	KUNIT_CASE(strips_after_a_failure),
	KUNIT_CASE_SLOW(resets),
	KUNIT_CASE(invalidation_does_not_wait),
	{}
};

static struct kunit_suite uat_suite = {
	.name = "asahi_uat",
	.init = uat_test_init,
	.test_cases = uat_cases,
};

kunit_test_suite(uat_suite);
