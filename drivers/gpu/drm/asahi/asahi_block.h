/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Blocks: what the device is made of.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_BLOCK_H
#define ASAHI_BLOCK_H

#include <linux/kconfig.h>
#include <linux/types.h>

struct asahi_device;
struct asahi_rest;

/**
 * struct asahi_block - one part of the driver, and what it does in the device's life
 *
 * The blocks are called one after the other, in an order that stands in
 * asahi_block.c and nowhere else. A block may use those that come before it.
 * All verbs run in process context and may sleep, and but for @fini with
 * &asahi_device.verbs held, so never two of them at a time; each may be NULL.
 */
struct asahi_block {
	/** @name: for messages */
	const char *name;
	/**
	 * @unannotated: @pre_reset and @post_reset wait for a library of the kernel
	 * that allocates memory, which lockdep would rightly object to inside of
	 * the critical section of fences. Jobs wait for them all the same.
	 */
	bool unannotated;
	/**
	 * @init: probe. Whether it fails or not, @unplug and @fini follow some
	 * day, and cope with what is missing. 0 or a negative error that has been
	 * logged.
	 */
	int (*init)(struct asahi_device *adev);
	/** @unplug: the hardware goes away; files may stay open */
	void (*unplug)(struct asahi_device *adev);
	/**
	 * @suspend: the system or the device goes to sleep. 0, or a negative
	 * error, with nothing changed; then @resume runs for those blocks that were
	 * suspended before, unless there is a reset.
	 */
	int (*suspend)(struct asahi_device *adev);
	/**
	 * @resume: and wakes up, with nothing lost. 0 or a negative error, which
	 * makes for a reset. If the firmware has been stopped, @pre_reset and
	 * @post_reset follow @suspend instead.
	 */
	int (*resume)(struct asahi_device *adev);
	/**
	 * @pre_reset: the firmware has failed. Stop, forget what it was told, fail
	 * what was in flight; in the critical section of fences.
	 */
	void (*pre_reset)(struct asahi_device *adev);
	/**
	 * @post_reset: the firmware is about to start again; make everything that
	 * it reads look as it did after @init. Jobs wait for this: nothing that
	 * waits for a fence may be waited for, so no allocation. 0 or a negative
	 * error that has been logged: then the whole reset is tried again, unless
	 * that was done often enough.
	 */
	int (*post_reset)(struct asahi_device *adev);
	/**
	 * @wedge: after @pre_reset, there will be no @post_reset: the device is
	 * lost. Let those who wait for their turn find that out; in the critical
	 * section of fences.
	 */
	void (*wedge)(struct asahi_device *adev);
	/** @fini: the last reference is gone; free */
	void (*fini)(struct asahi_device *adev);
	/**
	 * @at_rest: say what is left although there is nothing to be done (asahi_rest.h).
	 * Changes nothing; may wait for locks, for nothing else. Also after the last
	 * reference is gone, before @fini. NULL without CONFIG_DRM_ASAHI_DEBUG.
	 */
	void (*at_rest)(struct asahi_device *adev, struct asahi_rest *rest);
};

int asahi_blocks_init(struct asahi_device *adev);
void asahi_blocks_unplug(struct asahi_device *adev);
int asahi_blocks_suspend(struct asahi_device *adev);
int asahi_blocks_resume(struct asahi_device *adev);
void asahi_blocks_pre_reset(struct asahi_device *adev);
int asahi_blocks_post_reset(struct asahi_device *adev);
void asahi_blocks_wedge(struct asahi_device *adev);
void asahi_blocks_fini(struct asahi_device *adev);

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
void asahi_blocks_at_rest(struct asahi_device *adev, struct asahi_rest *rest);
void asahi_blocks_check_rest(struct asahi_device *adev, unsigned int levels, const char *when);
#else
static inline void asahi_blocks_check_rest(struct asahi_device *adev, unsigned int levels,
					   const char *when)
{
}
#endif

#endif
