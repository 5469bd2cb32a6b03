// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * InitData: the root of what driver and firmware share, and access to the
 * few words in it that change at run time.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/iopoll.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_abi.h"
#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_fw_initdata.h"
#include "asahi_heap.h"
#include "asahi_initdata.h"
#include "asahi_rest.h"
#include "asahi_telemetry.h"
#include "asahi_uat.h"

/**
 * DOC: InitData
 *
 * The boot loader has prepared three structures in reserved memory: HwDataA
 * and HwDataB describe the hardware, most of all its power management, Globals
 * holds settings and the firmware's state. The driver copies them, adds what
 * only it knows, such as the addresses of registers and rings, and passes the
 * root of it all with the INIT message.
 */

#define HALT_POLL_US		20

/* Dies of one SoC lie this far apart. */
#define DIE_STRIDE		0x2000000000ULL

/**
 * struct asahi_initdata - the initdata
 * @layout: where everything is
 * @part: memory
 * @pending: submissions that have not ended, as Globals says
 */
struct asahi_initdata {
	struct asahi_initdata_layout layout;
	struct asahi_fwbuf part[ASAHI_INITDATA_PARTS];
	/** @lock: protects @pending */
	spinlock_t lock;
	u32 pending;
};

static void *asahi_initdata_part_map(struct asahi_device *adev, enum asahi_initdata_part part)
{
	return adev->initdata->layout.map[part];
}

/**
 * asahi_initdata_stats_va() - the statistics that commands name
 * @adev: device
 * @pipe: AGX_PIPE_*
 *
 * Return: address of the statistics of that kind of work.
 */
u64 asahi_initdata_stats_va(struct asahi_device *adev, unsigned int pipe)
{
	return adev->initdata->layout.va[ASAHI_INITDATA_STATS_VTX + pipe] +
	       adev->abi->initdata->stats_offset[pipe];
}

static void asahi_initdata_add_pending(struct asahi_device *adev, int delta)
{
	struct asahi_initdata *initdata = adev->initdata;
	__le32 *word = asahi_initdata_part_map(adev, ASAHI_INITDATA_GLOBALS) +
		       adev->abi->initdata->pending_submissions;

	guard(spinlock_irqsave)(&initdata->lock);
	initdata->pending += delta;
	WRITE_ONCE(*word, cpu_to_le32(initdata->pending));
}

/**
 * asahi_initdata_begin_submission() - keep the firmware awake
 * @adev: device
 *
 * To be followed by a kick, and paired with asahi_initdata_end_submission().
 * Any context.
 */
void asahi_initdata_begin_submission(struct asahi_device *adev)
{
	asahi_initdata_add_pending(adev, 1);
}

/**
 * asahi_initdata_end_submission() - a submission has completed
 * @adev: device
 *
 * Any context.
 */
void asahi_initdata_end_submission(struct asahi_device *adev)
{
	asahi_initdata_add_pending(adev, -1);
}

/**
 * asahi_initdata_take_pending() - look at one entry of the pending stamps
 * @adev: device whose firmware has told of a fault or a timeout, and so has filled
 *	in the entries, though it may not have halted yet
 * @index: entry, below ASAHI_PENDING_STAMPS
 * @stamp: the work that was in progress
 *
 * Clears the entry. Any context, one caller at a time.
 *
 * Return: false if the entry was empty.
 */
bool asahi_initdata_take_pending(struct asahi_device *adev, unsigned int index,
				 struct asahi_pending_stamp *stamp)
{
	const struct asahi_initdata_abi *abi = adev->abi->initdata;
	struct asahi_fw_pending_stamp *table =
		asahi_initdata_part_map(adev, ASAHI_INITDATA_GLOBALS) + abi->pending_stamps;
	u32 info;

	BUILD_BUG_ON(ASAHI_PENDING_STAMPS != ASAHI_FW_PENDING_STAMPS);

	info = le32_to_cpu(READ_ONCE(table[index].info));
	if (!(info & ASAHI_FW_PENDING_STAMP_VALID))
		return false;

	stamp->event_slot = info >> abi->pending_slot_shift & 0x7f;
	stamp->flags = info & GENMASK(abi->pending_slot_shift - 1, 0);
	stamp->value = le32_to_cpu(READ_ONCE(table[index].wait_value));
	WRITE_ONCE(table[index].info, 0);
	WRITE_ONCE(table[index].wait_value, 0);
	return true;
}

static u32 asahi_initdata_read_halted(const struct asahi_fw_status *status)
{
	return le32_to_cpu(READ_ONCE(status->flags.halted));
}

/**
 * asahi_initdata_halted() - has the firmware halted?
 * @adev: device
 *
 * Any context.
 *
 * Return: true from its halt until it is told to go on.
 */
bool asahi_initdata_halted(struct asahi_device *adev)
{
	return asahi_initdata_read_halted(asahi_initdata_part_map(adev,
								  ASAHI_INITDATA_FW_STATUS));
}

/**
 * asahi_initdata_resume() - let the firmware go on after it has halted
 * @adev: device
 * @timeout_us: how long to wait for its halt, microseconds; 0 looks once
 *
 * Process context, may sleep; allocates nothing.
 *
 * Return: 0, or -ETIMEDOUT if it did not halt.
 */
int asahi_initdata_resume(struct asahi_device *adev, u64 timeout_us)
{
	struct asahi_fw_status *status = asahi_initdata_part_map(adev, ASAHI_INITDATA_FW_STATUS);
	u32 halted;
	int ret;

	if (timeout_us)
		ret = read_poll_timeout(asahi_initdata_read_halted, halted, halted, HALT_POLL_US,
					timeout_us, false, status);
	else
		ret = asahi_initdata_read_halted(status) ? 0 : -ETIMEDOUT;
	if (ret)
		return ret;

	/* What recovery has written is seen before the firmware goes on. */
	dma_mb();
	WRITE_ONCE(status->flags.halted, 0);
	dma_wmb();
	WRITE_ONCE(status->flags.resume, cpu_to_le32(1));
	return 0;
}

/**
 * asahi_initdata_halt_count() - how often the firmware has halted
 * @adev: device
 *
 * Any context.
 *
 * Return: number of halts since it was started.
 */
u64 asahi_initdata_halt_count(struct asahi_device *adev)
{
	struct asahi_fw_status *status;

	KUNIT_STATIC_STUB_REDIRECT(asahi_initdata_halt_count, adev);
	status = asahi_initdata_part_map(adev, ASAHI_INITDATA_FW_STATUS);

	return le64_to_cpu(READ_ONCE(status->flags.halt_count));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_initdata_halt_count);

/* Setup. */

static int asahi_initdata_alloc_part(struct asahi_device *adev, enum asahi_initdata_part part,
				     enum asahi_heap_id heap, size_t size, size_t align)
{
	struct asahi_initdata *initdata = adev->initdata;
	struct asahi_fwbuf *buf = &initdata->part[part];
	int ret;

	ret = asahi_heap_alloc(adev->heap[heap], size, align, buf);
	if (ret)
		return ret;

	initdata->layout.map[part] = buf->map;
	initdata->layout.va[part] = buf->va;
	return 0;
}

static int asahi_initdata_alloc_parts(struct asahi_device *adev)
{
	const struct asahi_initdata_abi *abi = adev->abi->initdata;
	const struct {
		enum asahi_initdata_part part;
		enum asahi_heap_id heap;
		size_t size;
		size_t align;
	} parts[ASAHI_INITDATA_PARTS] = {
		{ ASAHI_INITDATA_ROOT, ASAHI_HEAP_PRIVATE, abi->initdata_size },
		{ ASAHI_INITDATA_RUNTIME, ASAHI_HEAP_PRIVATE, abi->runtime_size },
		{ ASAHI_INITDATA_GLOBALS, ASAHI_HEAP_PRIVATE, abi->globals_size },
		{ ASAHI_INITDATA_HWDATA_A, ASAHI_HEAP_PRIVATE, abi->hwdata_a_size },
		{ ASAHI_INITDATA_HWDATA_B, ASAHI_HEAP_PRIVATE, abi->hwdata_b_size },
		{ ASAHI_INITDATA_FW_STATUS, ASAHI_HEAP_SHARED, sizeof(struct asahi_fw_status) },
		{ ASAHI_INITDATA_STATS_VTX, ASAHI_HEAP_PRIVATE, abi->stats_size[0] },
		{ ASAHI_INITDATA_STATS_FRAG, ASAHI_HEAP_PRIVATE, abi->stats_size[1] },
		{ ASAHI_INITDATA_STATS_COMP, ASAHI_HEAP_PRIVATE, abi->stats_size[2] },
		{ ASAHI_INITDATA_UNK_BUF, ASAHI_HEAP_SHARED_RO, 0x4000 },
		{ ASAHI_INITDATA_UNK_190, ASAHI_HEAP_PRIVATE, 0x80 },
		{ ASAHI_INITDATA_UNK_198, ASAHI_HEAP_PRIVATE, 0xc0 },
		{ ASAHI_INITDATA_UNK_1B8, ASAHI_HEAP_PRIVATE, 0x1000 },
		{ ASAHI_INITDATA_UNK_1C0, ASAHI_HEAP_PRIVATE, 0x300 },
		{ ASAHI_INITDATA_UNK_1C8, ASAHI_HEAP_PRIVATE, 0x1000 },
		{ ASAHI_INITDATA_BUFMGR, ASAHI_HEAP_SHARED, AGX_PAGE_SIZE, AGX_PAGE_SIZE },
	};
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		ret = asahi_initdata_alloc_part(adev, parts[i].part, parts[i].heap,
						parts[i].size, parts[i].align);
		if (ret)
			return ret;
	}

	return 0;
}

/* As the Rust driver does, whatever the boot loader has chosen. */
static void asahi_initdata_set_fault_control(struct asahi_device *adev)
{
	__le32 *word = asahi_initdata_part_map(adev, ASAHI_INITDATA_GLOBALS) +
		       adev->abi->initdata->fault_control;

	*word = cpu_to_le32(asahi_fault_control);
}

/**
 * asahi_initdata_highest_mhz() - find the highest clock of a table of performance states
 * @mhz: clocks in MHz as HwDataB has them, ASAHI_PERF_STATES of them
 *
 * Any context.
 *
 * Return: the clock in MHz, any number if the boot loader has not written the table.
 */
u32 asahi_initdata_highest_mhz(const __le32 *mhz)
{
	u32 most = 0;

	for (unsigned int i = 0; i < ASAHI_PERF_STATES; i++)
		most = max(most, le32_to_cpu(mhz[i]));

	return most;
}

static void asahi_initdata_read_frequencies(struct asahi_device *adev)
{
	const __le32 *mhz = asahi_initdata_part_map(adev, ASAHI_INITDATA_HWDATA_B) +
			    adev->abi->initdata->frequencies;

	adev->params.max_frequency_khz = asahi_initdata_highest_mhz(mhz) * 1000;
	asahi_telemetry_set_frequencies(adev, mhz);
}

static void asahi_initdata_copy_region(struct asahi_device *adev, enum asahi_initdata_part part,
				       enum asahi_region_id id)
{
	const struct asahi_fwbuf *buf = &adev->initdata->part[part];

	memcpy(buf->map, adev->region[id].map, buf->size);
}

/* Where each side of the buffer manager expects to find its control page. */
static int asahi_initdata_map_bufmgr(struct asahi_device *adev)
{
	dma_addr_t dma = asahi_heap_dma_addr(&adev->initdata->part[ASAHI_INITDATA_BUFMGR]);
	int ret;

	ret = asahi_aspace_map(asahi_uat_low(adev), AGX_VA_BUFMGR_LOW, dma, AGX_PAGE_SIZE,
			       ASAHI_PROT_GPU_SHARED_RW);
	if (ret)
		return ret;

	return asahi_aspace_map(&adev->kernel_as, AGX_VA_BUFMGR, dma, AGX_PAGE_SIZE,
				ASAHI_PROT_FW_SHARED_RW);
}

/* Elements of one range lie side by side for the firmware, on whole pages. */
static int asahi_initdata_map_io(struct asahi_device *adev, const struct asahi_io_map *io,
				 u64 *next, u64 *va)
{
	u64 offset = io->base & AGX_PAGE_MASK;
	u64 size = ALIGN(offset + io->size, AGX_PAGE_SIZE);
	unsigned int die, dies = io->per_die ? adev->hw->num_dies : 1;
	unsigned int element;
	int ret;

	*va = *next + offset;

	for (die = 0; die < dies; die++) {
		for (element = 0; element < io->count; element++) {
			u64 base = io->base - offset + die * DIE_STRIDE +
				   (u64)element * io->stride;

			ret = asahi_aspace_map(&adev->kernel_as, *next, base, size,
					       io->writable ? ASAHI_PROT_FW_MMIO_RW :
					       ASAHI_PROT_FW_MMIO_RO);
			if (ret)
				return ret;
			*next += size;
		}
	}

	/* One page in between catches what runs over the end. */
	*next += AGX_PAGE_SIZE;
	return 0;
}

static int asahi_initdata_map_all_io(struct asahi_device *adev)
{
	struct asahi_initdata_layout *layout = &adev->initdata->layout;
	u64 next = AGX_VA_MMIO_START;
	unsigned int i;
	int ret;

	for (i = 0; i < ASAHI_IO_MAPS; i++) {
		if (!adev->hw->io_maps[i].size)
			continue;
		ret = asahi_initdata_map_io(adev, &adev->hw->io_maps[i], &next, &layout->io_va[i]);
		if (ret)
			return ret;
	}

	if (!adev->hw->sram_size)
		return 0;

	layout->sram_va = next;
	return asahi_aspace_map(&adev->kernel_as, next, adev->hw->sram_base, adev->hw->sram_size,
				ASAHI_PROT_FW_SHARED_RW);
}

/* Fills in what the firmware finds when it starts. All memory is zeroed. */
static void asahi_initdata_build(struct asahi_device *adev)
{
	struct asahi_initdata *initdata = adev->initdata;

	asahi_initdata_copy_region(adev, ASAHI_INITDATA_HWDATA_A, ASAHI_REGION_HW_CAL_A);
	asahi_initdata_copy_region(adev, ASAHI_INITDATA_HWDATA_B, ASAHI_REGION_HW_CAL_B);
	asahi_initdata_copy_region(adev, ASAHI_INITDATA_GLOBALS, ASAHI_REGION_GLOBALS);
	asahi_initdata_set_fault_control(adev);
	/* Nothing is left of whoever drove the GPU before. */
	asahi_initdata_add_pending(adev, 0);
	asahi_channel_layout(adev, &initdata->layout.channels);
	adev->abi->initdata->fill(adev, &initdata->layout);
}

/* What is mapped here stays until the MMU is unplugged. */
static int asahi_initdata_init(struct asahi_device *adev)
{
	struct asahi_initdata *initdata;
	int ret;

	initdata = kzalloc_obj(*initdata);
	if (!initdata)
		return -ENOMEM;

	spin_lock_init(&initdata->lock);
	adev->initdata = initdata;

	ret = asahi_initdata_alloc_parts(adev);
	if (ret)
		return ret;
	adev->initdata_va = initdata->layout.va[ASAHI_INITDATA_ROOT];

	ret = asahi_initdata_map_bufmgr(adev);
	if (ret)
		return ret;

	ret = asahi_initdata_map_all_io(adev);
	if (ret)
		return ret;

	asahi_initdata_build(adev);
	asahi_initdata_read_frequencies(adev);
	if (asahi_fault_control == ASAHI_FAULT_CONTROL_SOFT)
		adev->params.features |= DRM_ASAHI_FEATURE_SOFT_FAULTS;
	return 0;
}

static int asahi_initdata_post_reset(struct asahi_device *adev)
{
	struct asahi_initdata *initdata = adev->initdata;
	unsigned int i;

	for (i = 0; i < ASAHI_INITDATA_PARTS; i++)
		memset(initdata->part[i].map, 0, initdata->part[i].size);

	scoped_guard(spinlock_irqsave, &initdata->lock)
		initdata->pending = 0;
	asahi_initdata_build(adev);
	return 0;
}

static void asahi_initdata_fini(struct asahi_device *adev)
{
	struct asahi_initdata *initdata = adev->initdata;
	unsigned int i;

	if (!initdata)
		return;

	for (i = 0; i < ASAHI_INITDATA_PARTS; i++)
		asahi_heap_free(&initdata->part[i]);
	kfree(initdata);
	adev->initdata = NULL;
}

static void asahi_initdata_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_initdata *initdata = adev->initdata;

	guard(spinlock_irqsave)(&initdata->lock);
	asahi_rest_expect(rest, ASAHI_REST_FLIGHT, !initdata->pending,
			  "%u submissions keep the firmware awake", initdata->pending);
}

const struct asahi_block asahi_block_initdata = {
	.name = "initdata",
	.init = asahi_initdata_init,
	.post_reset = asahi_initdata_post_reset,
	.fini = asahi_initdata_fini,
	.at_rest = asahi_rest_ptr(asahi_initdata_at_rest),
};
