// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory that the firmware sees: the heaps of the kernel half.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include <linux/err.h>
#include <linux/limits.h>
#include <linux/sizes.h>

#include <agx/agx_uat.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_heap.h"
#include "asahi_rest.h"
#include "asahi_state.h"

#define ASAHI_HEAP_KERNEL_BLOCK	SZ_1M

static const struct {
	const char *name;
	u64 start;
	u64 end;
	enum asahi_prot prot;
} asahi_heap_kernel[ASAHI_HEAP_COUNT] = {
	[ASAHI_HEAP_PRIVATE] = {
		"private", AGX_VA_PRIVATE_START, AGX_VA_PRIVATE_END, ASAHI_PROT_FW_PRIV_RW,
	},
	[ASAHI_HEAP_GPU_RO] = {
		"gpu-ro", AGX_VA_GPU_RO_START, AGX_VA_GPU_RO_END, ASAHI_PROT_GPU_RO_FW_PRIV_RW,
	},
	[ASAHI_HEAP_SHARED] = {
		"shared", AGX_VA_SHARED_START, AGX_VA_SHARED_END, ASAHI_PROT_FW_SHARED_RW,
	},
	[ASAHI_HEAP_SHARED_RO] = {
		"shared-ro", AGX_VA_SHARED_RO_START, AGX_VA_SHARED_RO_END,
		ASAHI_PROT_FW_SHARED_RO,
	},
	[ASAHI_HEAP_GPU_SHARED] = {
		"gpu-shared", AGX_VA_GPU_SHARED_START, AGX_VA_GPU_SHARED_END,
		ASAHI_PROT_GPU_FW_SHARED_RW,
	},
};

/**
 * asahi_heap_create_kernel() - make a heap in the kernel half
 * @adev: device
 * @name: for messages; must stay
 * @start: first address, page aligned
 * @end: end of the addresses, page aligned
 * @prot: who may do what
 *
 * Process context, may sleep.
 *
 * Return: as asahi_heap_create().
 */
struct asahi_heap *asahi_heap_create_kernel(struct asahi_device *adev, const char *name,
					    u64 start, u64 end, enum asahi_prot prot)
{
	const struct asahi_heap_args args = {
		.name = name,
		.start = start,
		.end = end,
		.prot = prot,
		.mmu = &asahi_heap_mmu_aspace,
		.mmu_priv = &adev->kernel_as,
		.block_min = ASAHI_HEAP_KERNEL_BLOCK,
		.keep = asahi_prot_is_cached(prot) && !asahi_allows(ASAHI_UNPROVEN_FLUSH) ?
				U64_MAX : ASAHI_HEAP_KERNEL_BLOCK,
	};

	KUNIT_STATIC_STUB_REDIRECT(asahi_heap_create_kernel, adev, name, start, end, prot);
	return asahi_heap_create(adev->heaps, &args);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_heap_create_kernel);

/* Firmware that has been stopped was made to flush before; see asahi_heaps_quiesce(). */
static int asahi_heap_flush_cache(struct asahi_device *adev)
{
	if (asahi_state_fw(adev) == ASAHI_FW_FRESH)
		return 0;
	if (!asahi_state_fw_alive(adev))
		return -ENODEV;

	return asahi_channel_flush_cache(adev);
}

static int asahi_heap_init(struct asahi_device *adev)
{
	adev->heaps = asahi_heaps_create(adev, asahi_heap_flush_cache);
	if (!adev->heaps)
		return -ENOMEM;

	for (unsigned int i = 0; i < ASAHI_HEAP_COUNT; i++) {
		struct asahi_heap *heap;

		heap = asahi_heap_create_kernel(adev, asahi_heap_kernel[i].name,
						asahi_heap_kernel[i].start,
						asahi_heap_kernel[i].end,
						asahi_heap_kernel[i].prot);
		if (IS_ERR(heap))
			return PTR_ERR(heap);
		adev->heap[i] = heap;
	}

	return 0;
}

static void asahi_heap_unplug_all(struct asahi_device *adev)
{
	if (adev->heaps)
		asahi_heaps_unplug(adev->heaps);
}

/* Whatever has put the firmware to sleep has flushed its cache before. */
static int asahi_heap_resume(struct asahi_device *adev)
{
	asahi_heaps_resume(adev->heaps);
	return 0;
}

/* Garbage is flushed by the new firmware like its own. */
static int asahi_heap_post_reset(struct asahi_device *adev)
{
	asahi_heaps_forget_cache(adev->heaps);
	return 0;
}

static void asahi_heap_fini(struct asahi_device *adev)
{
	for (unsigned int i = 0; i < ASAHI_HEAP_COUNT; i++) {
		asahi_heap_destroy(adev->heap[i]);
		adev->heap[i] = NULL;
	}

	if (adev->heaps)
		asahi_heaps_destroy(adev->heaps);
	adev->heaps = NULL;
}

static void asahi_heap_kernel_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	asahi_heaps_at_rest(adev->heaps, rest);
}

const struct asahi_block asahi_block_heap = {
	.name = "heap",
	.init = asahi_heap_init,
	.unplug = asahi_heap_unplug_all,
	.resume = asahi_heap_resume,
	.post_reset = asahi_heap_post_reset,
	.fini = asahi_heap_fini,
	.at_rest = asahi_rest_ptr(asahi_heap_kernel_at_rest),
};
EXPORT_SYMBOL_IF_KUNIT(asahi_block_heap);
