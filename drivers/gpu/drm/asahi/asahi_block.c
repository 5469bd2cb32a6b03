// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Blocks: what the device is made of, and their order.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/array_size.h>
#include <linux/dma-fence.h>
#include <linux/types.h>

#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_coredump.h"
#include "asahi_device.h"
#include "asahi_event.h"
#include "asahi_gem.h"
#include "asahi_growth.h"
#include "asahi_halt.h"
#include "asahi_heap.h"
#include "asahi_hw.h"
#include "asahi_hwmon.h"
#include "asahi_initdata.h"
#include "asahi_job.h"
#include "asahi_knobs.h"
#include "asahi_reclaim.h"
#include "asahi_recovery.h"
#include "asahi_rest.h"
#include "asahi_rtkit.h"
#include "asahi_sched.h"
#include "asahi_telemetry.h"
#include "asahi_timeline.h"
#include "asahi_timestamps.h"
#include "asahi_stashes.h"
#include "asahi_trim.h"
#include "asahi_uat.h"
#include "asahi_watchdog.h"

/**
 * DOC: Blocks
 *
 * A block may use those before it in this order:
 *
 * * *hw* starts the coprocessor and identifies the GPU;
 * * *knobs* has what can be changed for an experiment;
 * * *gem*, *timestamps* and *heap* hold memory, *job* has that of jobs freed, and *uat*
 *   makes memory visible to GPU and firmware: it comes after them, because on the way down
 *   nothing may be visible any more when memory is given back;
 * * *telemetry* keeps what the firmware tells of itself;
 * * *hwmon* shows power and temperature of that;
 * * *channel*, *initdata* and *event* are what the firmware reads and writes;
 * * *coredump* keeps evidence;
 * * *watchdog* knows what the firmware owes, and *halt* has it go on after failures;
 * * *timeline* knows the jobs in flight;
 * * *growth* answers the firmware, which asks for memory;
 * * *recovery* hears what the firmware says of them, through *channel*;
 * * *rtkit* starts and stops the firmware;
 * * *sched* hands it work;
 * * *stashes* takes memory from queues that have no new work;
 * * *trim* takes more from queues that have none;
 * * *reclaim* takes memory from objects that nobody uses.
 *
 * init, resume, post_reset and wedge go forward, unplug, suspend, pre_reset and fini
 * backward. So on the way down *trim* and *sched* come first, and nothing more is
 * handed to the firmware; then *rtkit* stops it; then *timeline* fails what it has not
 * completed; last goes the memory.
 */
static const struct asahi_block * const asahi_blocks[] = {
	&asahi_block_hw,
	&asahi_block_knobs,
	&asahi_block_gem,
	&asahi_block_timestamps,
	&asahi_block_heap,
	&asahi_block_job,
	&asahi_block_uat,
	&asahi_block_telemetry,
	&asahi_block_hwmon,
	&asahi_block_channel,
	&asahi_block_initdata,
	&asahi_block_event,
	&asahi_block_coredump,
	&asahi_block_watchdog,
	&asahi_block_halt,
	&asahi_block_timeline,
	&asahi_block_growth,
	&asahi_block_recovery,
	&asahi_block_rtkit,
	&asahi_block_sched,
	&asahi_block_stashes,
	&asahi_block_trim,
	&asahi_block_reclaim,
};

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)

/**
 * asahi_blocks_at_rest() - find what is left although there is nothing to be done
 * @adev: device, all of whose blocks have been initialised
 * @rest: what is known of it, and where to say what is left
 *
 * Backward: *sched* takes the lock of each timeline, so whoever was completing a job there
 * has done so before the other blocks are asked. Process context, with the mutex for verbs
 * held, or when the last reference is gone.
 */
void asahi_blocks_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	for (unsigned int i = adev->blocks; i--;) {
		if (!asahi_blocks[i]->at_rest)
			continue;
		rest->name = asahi_blocks[i]->name;
		asahi_blocks[i]->at_rest(adev, rest);
	}
}

/**
 * asahi_blocks_check_rest() - log what is left although there is nothing to be done
 * @adev: as for asahi_blocks_at_rest()
 * @levels: what is known of it, enum asahi_rest_level but IDLE
 * @when: what each line begins with
 *
 * Context as for asahi_blocks_at_rest().
 */
void asahi_blocks_check_rest(struct asahi_device *adev, unsigned int levels, const char *when)
{
	struct drm_printer p = drm_err_printer(&adev->drm, when);
	struct asahi_rest rest = { .levels = levels, .p = &p };

	asahi_blocks_at_rest(adev, &rest);
}

#endif

/**
 * asahi_blocks_init() - bring all blocks up
 * @adev: device
 *
 * Process context, probe only. asahi_blocks_unplug() and asahi_blocks_fini() are
 * to be called also after an error.
 *
 * Return: 0 or a negative error.
 */
int asahi_blocks_init(struct asahi_device *adev)
{
	int ret;

	for (unsigned int i = 0; i < ARRAY_SIZE(asahi_blocks); i++) {
		adev->blocks = i + 1;
		if (!asahi_blocks[i]->init)
			continue;
		ret = asahi_blocks[i]->init(adev);
		if (ret) {
			drm_dbg(&adev->drm, "%s cannot be initialised: %d\n",
				asahi_blocks[i]->name, ret);
			return ret;
		}
	}

	asahi_blocks_check_rest(adev, ASAHI_REST_START | ASAHI_REST_AWAKE, "not at rest at first:");
	return 0;
}

/**
 * asahi_blocks_unplug() - the hardware goes away
 * @adev: device, also after asahi_blocks_init() has failed
 *
 * Process context.
 */
void asahi_blocks_unplug(struct asahi_device *adev)
{
	for (unsigned int i = adev->blocks; i--;)
		if (asahi_blocks[i]->unplug)
			asahi_blocks[i]->unplug(adev);
}

/* Those from a block on, which the caller has not to undo. */
static int asahi_blocks_resume_from(struct asahi_device *adev, unsigned int first)
{
	int ret;

	for (unsigned int i = first; i < ARRAY_SIZE(asahi_blocks); i++) {
		if (!asahi_blocks[i]->resume)
			continue;
		ret = asahi_blocks[i]->resume(adev);
		if (ret) {
			drm_err(&adev->drm, "%s cannot be resumed: %d\n",
				asahi_blocks[i]->name, ret);
			return ret;
		}
	}

	asahi_blocks_check_rest(adev, ASAHI_REST_AWAKE, "not at rest after resume:");
	return 0;
}

/**
 * asahi_blocks_suspend() - put all blocks to sleep
 * @adev: device
 *
 * Process context.
 *
 * Return: 0, or the error of a block that refuses; all are awake again then, as
 * far as they can be.
 */
int asahi_blocks_suspend(struct asahi_device *adev)
{
	int ret;

	for (unsigned int i = ARRAY_SIZE(asahi_blocks); i--;) {
		if (!asahi_blocks[i]->suspend)
			continue;
		ret = asahi_blocks[i]->suspend(adev);
		if (ret) {
			drm_dbg(&adev->drm, "%s cannot be suspended: %d\n",
				asahi_blocks[i]->name, ret);
			asahi_blocks_resume_from(adev, i + 1);
			return ret;
		}
	}

	asahi_blocks_check_rest(adev, ASAHI_REST_FLIGHT, "not at rest after suspend:");
	return 0;
}

/**
 * asahi_blocks_resume() - wake all blocks up
 * @adev: device
 *
 * Process context.
 *
 * Return: 0, or the error of the first block that cannot.
 */
int asahi_blocks_resume(struct asahi_device *adev)
{
	return asahi_blocks_resume_from(adev, 0);
}

static void asahi_blocks_pre_reset_one(struct asahi_device *adev,
				       const struct asahi_block *block)
{
	bool cookie;

	if (block->unannotated) {
		block->pre_reset(adev);
		return;
	}

	cookie = dma_fence_begin_signalling();
	block->pre_reset(adev);
	dma_fence_end_signalling(cookie);
}

static int asahi_blocks_post_reset_one(struct asahi_device *adev,
				       const struct asahi_block *block)
{
	bool cookie;
	int ret;

	if (block->unannotated)
		return block->post_reset(adev);

	cookie = dma_fence_begin_signalling();
	ret = block->post_reset(adev);
	dma_fence_end_signalling(cookie);
	return ret;
}

/**
 * asahi_blocks_pre_reset() - stop everything after a failure
 * @adev: device
 *
 * Process context. Fences of jobs in flight wait for it, so but for the blocks
 * that say otherwise each verb is a critical section of fences.
 */
void asahi_blocks_pre_reset(struct asahi_device *adev)
{
	for (unsigned int i = ARRAY_SIZE(asahi_blocks); i--;)
		if (asahi_blocks[i]->pre_reset)
			asahi_blocks_pre_reset_one(adev, asahi_blocks[i]);

	asahi_blocks_check_rest(adev, ASAHI_REST_FLIGHT, "not at rest before reset:");
}

/**
 * asahi_blocks_post_reset() - make everything ready again
 * @adev: device
 *
 * Process context; allocates nothing, as jobs wait for it. Critical sections of
 * fences as in asahi_blocks_pre_reset().
 *
 * Return: 0, or the error of the first block that cannot.
 */
int asahi_blocks_post_reset(struct asahi_device *adev)
{
	int ret;

	for (unsigned int i = 0; i < ARRAY_SIZE(asahi_blocks); i++) {
		if (!asahi_blocks[i]->post_reset)
			continue;
		ret = asahi_blocks_post_reset_one(adev, asahi_blocks[i]);
		if (ret) {
			drm_err(&adev->drm, "%s cannot be reset: %d\n",
				asahi_blocks[i]->name, ret);
			return ret;
		}
	}

	asahi_blocks_check_rest(adev, ASAHI_REST_AWAKE, "not at rest after reset:");
	return 0;
}

/**
 * asahi_blocks_wedge() - say that the device is lost
 * @adev: device after asahi_blocks_pre_reset()
 *
 * Process context, in the critical section of fences.
 */
void asahi_blocks_wedge(struct asahi_device *adev)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(asahi_blocks); i++)
		if (asahi_blocks[i]->wedge)
			asahi_blocks[i]->wedge(adev);
}

/**
 * asahi_blocks_fini() - free all blocks
 * @adev: device after asahi_blocks_unplug(), without references
 *
 * Process context.
 */
void asahi_blocks_fini(struct asahi_device *adev)
{
	for (unsigned int i = adev->blocks; i--;)
		if (asahi_blocks[i]->fini)
			asahi_blocks[i]->fini(adev);
}
