// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What is known of each SoC, the identification registers and the MMU fault
 * registers.
 *
 * Sources: Rust driver, hw/t8103.rs and its siblings, regs.rs; m1n1,
 * agx/initdata.py.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/io.h>
#include <linux/iopoll.h>
#include <linux/time64.h>

#include <asm/byteorder.h>

#include <drm/drm_print.h>

#include <agx/agx_regs.h>
#include <agx/agx_uat.h>

#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_handoff.h"
#include "asahi_hw.h"
#include "asahi_power.h"
#include "asahi_stage.h"

#define FIELD(value, name)	(((value) >> AGX_##name##_SHIFT) & AGX_##name##_MASK)

static const struct asahi_io_map asahi_hw_io_maps_t8103[ASAHI_IO_MAPS] = {
	[0]  = { 0x204d00000, 0x1c000, 1, 0, true },	/* fender */
	[1]  = { 0x20e100000, 0x4000, 1, 0, false },	/* interrupt controller's timer */
	[2]  = { 0x23b104000, 0x4000, 1, 0, true },	/* software interrupts */
	[3]  = { 0x204000000, 0x20000, 1, 0, true },	/* GPU */
	[7]  = { 0x23b2e8000, 0x1000, 1, 0, false },	/* temperature sensors */
	[8]  = { 0x23bc00000, 0x1000, 1, 0, true },	/* power manager's doorbell */
	[9]  = { 0x204d80000, 0x5000, 1, 0, true },	/* metrology sensors */
	[10] = { 0x204d61000, 0x1000, 1, 0, true },	/* GMGIF, AF */
	[11] = { 0x200000000, 0xd6400, 1, 0, true },	/* memory cache */
	[13] = { 0x23b738000, 0x1000, 1, 0, true },	/* power manager's scratch */
};

static const struct asahi_io_map asahi_hw_io_maps_t8112[ASAHI_IO_MAPS] = {
	[0]  = { 0x204d00000, 0x14000, 1, 0, true },	/* fender */
	[1]  = { 0x20e100000, 0x4000, 1, 0, false },	/* interrupt controller's timer */
	[2]  = { 0x23b0c4000, 0x4000, 1, 0, true },	/* software interrupts */
	[3]  = { 0x204000000, 0x20000, 1, 0, true },	/* GPU */
	[7]  = { 0x23b2c0000, 0x1000, 1, 0, false },	/* temperature sensors */
	[9]  = { 0x204d80000, 0x8000, 1, 0, true },	/* metrology sensors */
	[10] = { 0x204d61000, 0x1000, 1, 0, true },	/* GMGIF, AF */
	[11] = { 0x200000000, 0xd6400, 1, 0, true },	/* memory cache */
	[16] = { 0x204e00000, 0x10000, 1, 0, true },	/* CRE */
	[17] = { 0x27d050000, 0x4000, 1, 0, true },	/* streaming codec */
	[18] = { 0x23b3d0000, 0x1000, 1, 0, true },
	[19] = { 0x23b3c0000, 0x1000, 1, 0, false },
};

static const struct asahi_io_map asahi_hw_io_maps_t6000[ASAHI_IO_MAPS] = {
	[0]  = { 0x404d00000, 0x1c000, 1, 0, true },	/* fender */
	[1]  = { 0x20e100000, 0x4000, 1, 0, false },	/* interrupt controller's timer */
	[2]  = { 0x28e104000, 0x4000, 1, 0, true },	/* software interrupts */
	[3]  = { 0x404000000, 0x20000, 1, 0, true },	/* GPU */
	[7]  = { 0x28e494000, 0x4000, 1, 0, false, true },	/* temperature sensors */
	[9]  = { 0x404d80000, 0x8000, 1, 0, true },	/* metrology sensors */
	[10] = { 0x204d61000, 0x1000, 1, 0, true },	/* GMGIF, AF */
	[11] = { 0x200000000, 0xd8000, 4, 0x1000000, true, true },	/* memory caches */
	[14] = { 0x2643c4000, 0x1000, 1, 0, true },	/* NIA's idle register, die 0 */
	[18] = { 0x28e3d0000, 0x1000, 1, 0, true },
	[19] = { 0x28e3c0000, 0x2000, 1, 0, false },
};

static const struct asahi_io_map asahi_hw_io_maps_t6001[ASAHI_IO_MAPS] = {
	[0]  = { 0x404d00000, 0x1c000, 1, 0, true },	/* fender */
	[1]  = { 0x20e100000, 0x4000, 1, 0, false },	/* interrupt controller's timer */
	[2]  = { 0x28e104000, 0x4000, 1, 0, true },	/* software interrupts */
	[3]  = { 0x404000000, 0x20000, 1, 0, true },	/* GPU */
	[7]  = { 0x28e494000, 0x4000, 1, 0, false, true },	/* temperature sensors */
	[9]  = { 0x404d80000, 0x8000, 1, 0, true },	/* metrology sensors */
	[10] = { 0x204d61000, 0x1000, 1, 0, true },	/* GMGIF, AF */
	[11] = { 0x200000000, 0xd8000, 8, 0x1000000, true, true },	/* memory caches */
	[14] = { 0x2643c4000, 0x1000, 1, 0, true },	/* NIA's idle register, die 0 */
	[18] = { 0x28e3d0000, 0x1000, 1, 0, true },
	[19] = { 0x28e3c0000, 0x2000, 1, 0, false },
};

static const struct asahi_io_map asahi_hw_io_maps_t6002[ASAHI_IO_MAPS] = {
	[0]  = { 0x404d00000, 0x1c000, 1, 0, true },	/* fender */
	[1]  = { 0x20e100000, 0x4000, 1, 0, false },	/* interrupt controller's timer */
	[2]  = { 0x28e104000, 0x4000, 1, 0, true },	/* software interrupts */
	[3]  = { 0x404000000, 0x20000, 1, 0, true },	/* GPU */
	[7]  = { 0x28e494000, 0x4000, 1, 0, false, true },	/* temperature sensors */
	[9]  = { 0x404d80000, 0x8000, 1, 0, true },	/* metrology sensors */
	[10] = { 0x204d61000, 0x1000, 1, 0, true },	/* GMGIF, AF */
	[11] = { 0x200000000, 0xd8000, 8, 0x1000000, true, true },	/* memory caches */
	[14] = { 0x2643c4000, 0x1000, 1, 0, true },	/* NIA's idle register, die 0 */
	[15] = { 0x22643c4000, 0x1000, 1, 0, true },	/* NIA's idle register, die 1 */
	[18] = { 0x28e3d0000, 0x1000, 1, 0, true },
	[19] = { 0x28e3c0000, 0x2000, 1, 0, false },
};

static const struct asahi_io_map asahi_hw_io_maps_t6020[ASAHI_IO_MAPS] = {
	[0]  = { 0x404d00000, 0x144000, 1, 0, true },	/* fender */
	[1]  = { 0x20e100000, 0x4000, 1, 0, false },	/* interrupt controller's timer */
	[2]  = { 0x28e106000, 0x4000, 1, 0, true },	/* software interrupts */
	[3]  = { 0x404000000, 0x20000, 1, 0, true },	/* GPU */
	[7]  = { 0x28e460000, 0x4000, 1, 0, false, true },	/* temperature sensors */
	[9]  = { 0x404e08000, 0x8000, 1, 0, true },	/* metrology sensors */
	[11] = { 0x200000000, 0xd8000, 4, 0x1000000, true, true },	/* memory caches */
	[12] = { 0x28e118000, 0x4000, 1, 0, false },	/* interrupt controller's banks */
	[18] = { 0x28e3d0000, 0x4000, 1, 0, true },
	[19] = { 0x28e3c0000, 0x4000, 1, 0, false },
	[20] = { 0x28e3d8000, 0x4000, 1, 0, true },
	[21] = { 0x404eac000, 0x4000, 1, 0, true, true },
};

static const struct asahi_io_map asahi_hw_io_maps_t6021[ASAHI_IO_MAPS] = {
	[0]  = { 0x404d00000, 0x144000, 1, 0, true },	/* fender */
	[1]  = { 0x20e100000, 0x4000, 1, 0, false },	/* interrupt controller's timer */
	[2]  = { 0x28e106000, 0x4000, 1, 0, true },	/* software interrupts */
	[3]  = { 0x404000000, 0x20000, 1, 0, true },	/* GPU */
	[7]  = { 0x28e478000, 0x4000, 1, 0, false, true },	/* temperature sensors */
	[9]  = { 0x404e08000, 0x8000, 1, 0, true },	/* metrology sensors */
	[11] = { 0x200000000, 0xd8000, 8, 0x1000000, true, true },	/* memory caches */
	[12] = { 0x28e118000, 0x4000, 1, 0, false },	/* interrupt controller's banks */
	[18] = { 0x28e3d0000, 0x4000, 1, 0, true },
	[19] = { 0x28e3c0000, 0x4000, 1, 0, false },
	[20] = { 0x28e3d8000, 0x4000, 1, 0, true },
	[21] = { 0x404eac000, 0x4000, 1, 0, true, true },
};

static const struct asahi_hw_render asahi_hw_render_t8103 = {
	.tiling_control = 0xa041,
	.preempt_size = { 0x540, 0x280, 0x20 },
};

/* The firmware is told no tiling control. */
static const struct asahi_hw_render asahi_hw_render_t8112 = {
	.preempt_size = { 0x540, 0x280, 0x20 },
};

static const struct asahi_hw_render asahi_hw_render_t600x = {
	.tiling_control = 0xa540,
	.preempt_size = { 0x540, 0x280, 0x20 },
	.cluster_splits = 16,
	.cluster_meta = { 0x600, 0x1400, 0x300 },
};

/* Found in traces; may be larger than needed. */
static const struct asahi_hw_render asahi_hw_render_t602x = {
	.tiling_control = 0x180340,
	.preempt_size = { 0x540, 0x280, 0x40 },
	.cluster_splits = 64,
	.cluster_meta = { 0xc00, 0x2800, 0x800 },
};

const struct asahi_hw asahi_hw_t8103 = {
	.name = "G13G",
	.chip_id = 0x8103,
	.gen = ASAHI_GEN_G13,
	.uapi_generation = 13,
	.variant = 'G',
	.oas_bits = 40,
	.num_dies = 1,
	.max_clusters = 1,
	.max_cores = 8,
	.max_gps = 4,
	.compute_preempt1_size = 0x7f80,
	.render = &asahi_hw_render_t8103,
	.io_maps = asahi_hw_io_maps_t8103,
};
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_t8103);

const struct asahi_hw asahi_hw_t6000 = {
	.name = "G13S",
	.chip_id = 0x6000,
	.gen = ASAHI_GEN_G13,
	.uapi_generation = 13,
	.variant = 'S',
	.oas_bits = 42,
	.num_dies = 1,
	.max_clusters = 2,
	.max_cores = 8,
	.max_gps = 4,
	.compute_preempt1_size = 0x3bd00,
	.io_maps = asahi_hw_io_maps_t6000,

	.render = &asahi_hw_render_t600x,
};
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_t6000);

const struct asahi_hw asahi_hw_t6001 = {
	.name = "G13C",
	.chip_id = 0x6001,
	.gen = ASAHI_GEN_G13,
	.uapi_generation = 13,
	.variant = 'C',
	.oas_bits = 42,
	.num_dies = 1,
	.max_clusters = 4,
	.max_cores = 8,
	.max_gps = 4,
	.compute_preempt1_size = 0x3bd00,
	.io_maps = asahi_hw_io_maps_t6001,

	.render = &asahi_hw_render_t600x,
};
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_t6001);

const struct asahi_hw asahi_hw_t6002 = {
	.name = "G13D",
	.chip_id = 0x6002,
	.gen = ASAHI_GEN_G13,
	.uapi_generation = 13,
	.variant = 'D',
	.oas_bits = 42,
	.num_dies = 2,
	.max_clusters = 8,
	.max_cores = 8,
	.max_gps = 4,
	.compute_preempt1_size = 0x3bd00,
	.io_maps = asahi_hw_io_maps_t6002,

	.render = &asahi_hw_render_t600x,
};
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_t6002);

const struct asahi_hw asahi_hw_t8112 = {
	.name = "G14G",
	.chip_id = 0x8112,
	.gen = ASAHI_GEN_G14G,
	.uapi_generation = 14,
	.variant = 'G',
	.oas_bits = 40,
	.num_dies = 1,
	.max_clusters = 1,
	.max_cores = 10,
	.max_gps = 4,
	.compute_preempt1_size = 0x10000,
	.io_maps = asahi_hw_io_maps_t8112,

	.render = &asahi_hw_render_t8112,
};
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_t8112);

const struct asahi_hw asahi_hw_t6020 = {
	.name = "G14S",
	.chip_id = 0x6020,
	.gen = ASAHI_GEN_G14X,
	.uapi_generation = 14,
	.variant = 'S',
	.oas_bits = 42,
	.num_dies = 1,
	.max_clusters = 2,
	.max_cores = 10,
	.max_gps = 4,
	.compute_preempt1_size = 0x25980,
	.io_maps = asahi_hw_io_maps_t6020,

	.render = &asahi_hw_render_t602x,
	.sram_base = 0x404d60000,
	.sram_size = 0x20000,
};
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_t6020);

const struct asahi_hw asahi_hw_t6021 = {
	.name = "G14C",
	.chip_id = 0x6021,
	.gen = ASAHI_GEN_G14X,
	.uapi_generation = 14,
	.variant = 'C',
	.oas_bits = 42,
	.num_dies = 1,
	.max_clusters = 4,
	.max_cores = 10,
	.max_gps = 4,
	.compute_preempt1_size = 0x25980,
	.io_maps = asahi_hw_io_maps_t6021,

	.render = &asahi_hw_render_t602x,
	.sram_base = 0x404d60000,
	.sram_size = 0x20000,
};
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_t6021);

const struct asahi_hw asahi_hw_t6022 = {
	.name = "G14D",
	.chip_id = 0x6022,
	.gen = ASAHI_GEN_G14X,
	.uapi_generation = 14,
	.variant = 'D',
	.oas_bits = 42,
	.num_dies = 2,
	.max_clusters = 8,
	.max_cores = 10,
	.max_gps = 4,
	.compute_preempt1_size = 0x4b300,
	.io_maps = asahi_hw_io_maps_t6021,

	.render = &asahi_hw_render_t602x,
	.sram_base = 0x404d60000,
	.sram_size = 0x20000,
};
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_t6022);

/**
 * asahi_hw_unpack_cores() - split the packed core masks by cluster
 * @packed: masks as read, without gaps between clusters
 * @words: number of words in @packed
 * @cores: bits per cluster, 1 to 32
 * @clusters: number of clusters
 * @masks: one mask per cluster
 *
 * Pure arithmetic, any context.
 *
 * Return: 0, or -EINVAL if cores remain that belong to no cluster.
 */
int asahi_hw_unpack_cores(const u32 *packed, unsigned int words, unsigned int cores,
			  unsigned int clusters, u64 *masks)
{
	unsigned int bit;

	for (bit = 0; bit < words * 32; bit++) {
		unsigned int cluster = bit / cores;

		if (!(packed[bit / 32] & BIT(bit % 32)))
			continue;
		if (cluster >= clusters)
			return -EINVAL;
		masks[cluster] |= BIT_ULL(bit % cores);
	}

	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_unpack_cores);

static char asahi_hw_variant_of(u32 version, unsigned int clusters)
{
	switch (FIELD(version, ID_VARIANT)) {
	case AGX_ID_VARIANT_G:
		return 'G';
	case AGX_ID_VARIANT_S:
		return 'S';
	case AGX_ID_VARIANT_CD:
		return clusters > 4 ? 'D' : 'C';
	default:
		return '?';
	}
}

static bool asahi_hw_is_generation(u32 version, enum asahi_gen gen)
{
	switch (FIELD(version, ID_GENERATION)) {
	case AGX_ID_GENERATION_G13:
		return gen == ASAHI_GEN_G13;
	case AGX_ID_GENERATION_G14G:
		return gen == ASAHI_GEN_G14G;
	case AGX_ID_GENERATION_G14X:
		return gen == ASAHI_GEN_G14X;
	default:
		return false;
	}
}

/**
 * asahi_hw_identify() - see whether registers and table agree
 * @hw: constants of the SoC
 * @id: registers as read
 * @params: gets what there is, clusters, cores and revision
 *
 * Pure arithmetic, any context.
 *
 * Return: NULL, or what is wrong.
 */
const char *asahi_hw_identify(const struct asahi_hw *hw, const struct asahi_hw_id *id,
			      struct drm_asahi_params_global *params)
{
	u32 cores = FIELD(id->counts_1, ID_CORES);
	u32 clusters;

	if (hw->gen == ASAHI_GEN_G14X)
		clusters = FIELD(id->counts_1, ID_CLUSTERS_PER_DIE) *
			   FIELD(id->counts_1, ID_DIES);
	else
		clusters = FIELD(id->clusters, ID_CLUSTERS);

	if (!asahi_hw_is_generation(id->version, hw->gen))
		return "another generation";
	if (asahi_hw_variant_of(id->version, clusters) != hw->variant)
		return "another variant";
	if (!clusters || clusters > hw->max_clusters)
		return "implausible number of clusters";
	if (!cores || cores > hw->max_cores)
		return "implausible number of cores";
	if (FIELD(id->counts_2, ID_GPS) > hw->max_gps)
		return "implausible number of geometry pipes";
	if (asahi_hw_unpack_cores(id->core_masks, ARRAY_SIZE(id->core_masks), cores, clusters,
				  params->core_masks))
		return "more cores than the clusters can have";

	params->gpu_generation = hw->uapi_generation;
	params->gpu_variant = hw->variant;
	params->gpu_revision = FIELD(id->version, ID_REVISION);
	params->chip_id = hw->chip_id;
	params->num_dies = hw->num_dies;
	params->num_clusters_total = clusters;
	params->num_cores_per_cluster = cores;
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_identify);

static void asahi_hw_read_id(struct asahi_device *adev, struct asahi_hw_id *id)
{
	unsigned int i;

	id->version = readl_relaxed(adev->sgx + AGX_SGX_ID_VERSION);
	id->counts_1 = readl_relaxed(adev->sgx + AGX_SGX_ID_COUNTS_1);
	id->counts_2 = readl_relaxed(adev->sgx + AGX_SGX_ID_COUNTS_2);
	id->clusters = readl_relaxed(adev->sgx + AGX_SGX_ID_CLUSTERS);

	if (adev->hw->gen != ASAHI_GEN_G14X) {
		id->core_masks[0] = readl_relaxed(adev->sgx + AGX_SGX_CORE_MASK_0);
		id->core_masks[1] = readl_relaxed(adev->sgx + AGX_SGX_CORE_MASK_1);
		return;
	}

	for (i = 0; i < ARRAY_SIZE(id->core_masks); i++)
		id->core_masks[i] = readl_relaxed(adev->sgx + AGX_SGX_CORE_MASKS_G14X +
						  i * sizeof(u32));
}

static void asahi_hw_print_id(struct asahi_device *adev, struct drm_printer *p)
{
	struct asahi_hw_id id = {};

	asahi_hw_read_id(adev, &id);
	drm_printf(p, "id version %#x counts_1 %#x counts_2 %#x clusters %#x\n", id.version,
		   id.counts_1, id.counts_2, id.clusters);
	for (unsigned int i = 0; i < ARRAY_SIZE(id.core_masks); i++)
		drm_printf(p, "id core_masks[%u] %#x\n", i, id.core_masks[i]);
}

static int asahi_hw_identify_gpu(struct asahi_device *adev)
{
	struct drm_asahi_params_global *params = &adev->params;
	struct asahi_hw_id id = {};
	const char *wrong;

	asahi_hw_read_id(adev, &id);
	wrong = asahi_hw_identify(adev->hw, &id, params);
	if (wrong) {
		drm_err(&adev->drm, "the GPU is not a %s: %s (ID %#x %#x %#x %#x)\n",
			adev->hw->name, wrong, id.version, id.counts_1, id.counts_2,
			id.clusters);
		return -ENODEV;
	}

	adev->core_masks[0] = id.core_masks[0];
	adev->core_masks[1] = id.core_masks[1];
	params->vm_start = AGX_VA_USER_START;
	params->vm_end = AGX_VA_USER_END;
	params->vm_kernel_min_size = AGX_VM_KERNEL_MIN_SIZE;
	params->max_commands_per_submission = ASAHI_MAX_COMMANDS;
	params->max_attachments = ASAHI_MAX_ATTACHMENTS;
	params->command_timestamp_frequency_hz = NSEC_PER_SEC;
	return 0;
}

/* Does no harm if it runs already. Returns whether it had been started before. */
static bool asahi_hw_start_cpu(struct asahi_device *adev)
{
	u32 control = readl_relaxed(adev->asc + AGX_ASC_CPU_CONTROL);

	writel_relaxed(control | AGX_ASC_CPU_CONTROL_RUN, adev->asc + AGX_ASC_CPU_CONTROL);
	return control & AGX_ASC_CPU_CONTROL_RUN;
}

/**
 * asahi_hw_stop_cpu() - stop the coprocessor
 * @adev: device whose power domain is on
 *
 * In the middle of whatever it does: it says nothing more, and only after its
 * power was off can it be started again. Any context.
 */
void asahi_hw_stop_cpu(struct asahi_device *adev)
{
	u32 control = readl_relaxed(adev->asc + AGX_ASC_CPU_CONTROL);

	writel_relaxed(control & ~AGX_ASC_CPU_CONTROL_RUN, adev->asc + AGX_ASC_CPU_CONTROL);
}

/**
 * asahi_hw_print_cpu() - print the coprocessor's control register
 * @adev: device whose power domain is on
 * @p: where to
 *
 * Any context that @p allows.
 */
void asahi_hw_print_cpu(struct asahi_device *adev, struct drm_printer *p)
{
	drm_printf(p, "cpu_control %#x\n", readl_relaxed(adev->asc + AGX_ASC_CPU_CONTROL));
}

#define ASAHI_HW_ANNOUNCE_POLL_US	(1 * USEC_PER_MSEC)
#define ASAHI_HW_ANNOUNCE_TIMEOUT_US	(1 * USEC_PER_SEC)

static bool asahi_hw_has_announced(struct asahi_device *adev)
{
	const struct asahi_handoff *handoff = adev->region[ASAHI_REGION_HANDOFF].map;

	return READ_ONCE(handoff->magic_fw) == cpu_to_le64(AGX_HANDOFF_MAGIC);
}

/*
 * Whether the identification can be read at once, or not before the firmware has announced
 * itself, and whether it does that before the host does, is what a machine has to tell.
 */
static int asahi_hw_look(struct asahi_device *adev)
{
	struct drm_printer p = asahi_stage_printer(adev);
	bool announced;

	if (adev->stage != ASAHI_STAGE_CPU)
		return 0;

	drm_printf(&p, "at once after the coprocessor's start\n");
	asahi_hw_print_cpu(adev, &p);
	asahi_hw_print_id(adev, &p);
	read_poll_timeout(asahi_hw_has_announced, announced, announced, ASAHI_HW_ANNOUNCE_POLL_US,
			  ASAHI_HW_ANNOUNCE_TIMEOUT_US, false, adev);
	drm_printf(&p, "a second after the coprocessor's start, or when it announced itself\n");
	asahi_hw_print_id(adev, &p);
	asahi_stage_print_regions(adev, &p);
	return asahi_stage_end(adev, ASAHI_STAGE_CPU,
			       announced ? "the coprocessor runs and has announced itself" :
					   "the coprocessor runs and waits for the host");
}

/* The coprocessor runs from here on: the handoff needs it. */
static int asahi_hw_init(struct asahi_device *adev)
{
	int ret;

	ret = asahi_power_hold(adev);
	if (ret)
		return ret;

	adev->was_started = asahi_hw_start_cpu(adev);
	ret = asahi_hw_look(adev);
	return ret ?: asahi_hw_identify_gpu(adev);
}

static int asahi_hw_post_reset(struct asahi_device *adev)
{
	int ret;

	ret = asahi_power_restore(adev);
	if (ret)
		return ret;

	asahi_hw_start_cpu(adev);
	return 0;
}

const struct asahi_block asahi_block_hw = {
	.name = "hw",
	.init = asahi_hw_init,
	.post_reset = asahi_hw_post_reset,
};

/**
 * asahi_hw_decode_fault() - take a fault register apart
 * @raw: the fault register
 * @addr: the address register; used on G14X only
 * @g14x: the GPU is of that generation
 * @info: decoded
 *
 * Pure arithmetic, any context.
 */
void asahi_hw_decode_fault(u64 raw, u64 addr, bool g14x, struct asahi_fault_info *info)
{
	u64 line = g14x ? addr : raw >> AGX_FAULT_ADDR_SHIFT;

	info->raw = raw;
	info->address = line << AGX_FAULT_ADDR_UNIT_SHIFT;
	info->slot = FIELD(raw, FAULT_SLOT);
	info->unit = FIELD(raw, FAULT_UNIT);
	info->reason = FIELD(raw, FAULT_REASON);
	info->level = FIELD(raw, FAULT_LEVEL);
	info->sideband = FIELD(raw, FAULT_SIDEBAND);
	info->read = raw & AGX_FAULT_READ;
	info->g14x = g14x;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_decode_fault);

/**
 * asahi_hw_read_fault() - read the MMU's fault status
 * @adev: device; not unplugged
 * @info: the fault
 *
 * Any context.
 *
 * Return: false if there is none.
 */
bool asahi_hw_read_fault(struct asahi_device *adev, struct asahi_fault_info *info)
{
	bool g14x = adev->hw->gen == ASAHI_GEN_G14X;
	u64 raw, addr = 0;

	raw = readq_relaxed(adev->sgx + (g14x ? AGX_SGX_FAULT_INFO_G14X : AGX_SGX_FAULT_INFO));
	if (!(raw & AGX_FAULT_VALID))
		return false;

	if (g14x)
		addr = readq_relaxed(adev->sgx + AGX_SGX_FAULT_ADDR_G14X);

	asahi_hw_decode_fault(raw, addr, g14x, info);
	return true;
}

static const char * const asahi_hw_grouped_units[0x10] = {
	[AGX_FAULT_UNIT_DCMP] = "DCMP",
	[AGX_FAULT_UNIT_UL1C] = "UL1C",
	[AGX_FAULT_UNIT_CMP] = "CMP",
	[AGX_FAULT_UNIT_GSL1] = "GSL1",
	[AGX_FAULT_UNIT_IAP] = "IAP",
	[AGX_FAULT_UNIT_VCE] = "VCE",
	[AGX_FAULT_UNIT_TE] = "TE",
	[AGX_FAULT_UNIT_RAS] = "RAS",
	[AGX_FAULT_UNIT_VDM] = "VDM",
	[AGX_FAULT_UNIT_PPP] = "PPP",
	[AGX_FAULT_UNIT_IPF] = "IPF",
	[AGX_FAULT_UNIT_IPF_CPF] = "IPF_CPF",
	[AGX_FAULT_UNIT_VF] = "VF",
	[AGX_FAULT_UNIT_VF_CPF] = "VF_CPF",
	[AGX_FAULT_UNIT_ZLS] = "ZLS",
};

static const char * const asahi_hw_single_units[] = {
	[AGX_FAULT_UNIT_DPM - AGX_FAULT_UNIT_GROUPED_END] = "dPM",
	[AGX_FAULT_UNIT_DCDM_KS0 - AGX_FAULT_UNIT_GROUPED_END] = "dCDM_KS0",
	[AGX_FAULT_UNIT_DCDM_KS1 - AGX_FAULT_UNIT_GROUPED_END] = "dCDM_KS1",
	[AGX_FAULT_UNIT_DCDM_KS2 - AGX_FAULT_UNIT_GROUPED_END] = "dCDM_KS2",
	[AGX_FAULT_UNIT_DIPP - AGX_FAULT_UNIT_GROUPED_END] = "dIPP",
	[AGX_FAULT_UNIT_DIPP_CS - AGX_FAULT_UNIT_GROUPED_END] = "dIPP_CS",
	[AGX_FAULT_UNIT_DVDM_CSD - AGX_FAULT_UNIT_GROUPED_END] = "dVDM_CSD",
	[AGX_FAULT_UNIT_DVDM_SSD - AGX_FAULT_UNIT_GROUPED_END] = "dVDM_SSD",
	[AGX_FAULT_UNIT_DVDM_ILF - AGX_FAULT_UNIT_GROUPED_END] = "dVDM_ILF",
	[AGX_FAULT_UNIT_DVDM_ILD - AGX_FAULT_UNIT_GROUPED_END] = "dVDM_ILD",
	[AGX_FAULT_UNIT_DRDE0 - AGX_FAULT_UNIT_GROUPED_END] = "dRDE0",
	[AGX_FAULT_UNIT_DRDE1 - AGX_FAULT_UNIT_GROUPED_END] = "dRDE1",
	[AGX_FAULT_UNIT_FC - AGX_FAULT_UNIT_GROUPED_END] = "FC",
	[AGX_FAULT_UNIT_GSL2 - AGX_FAULT_UNIT_GROUPED_END] = "GSL2",
};

static const char * const asahi_hw_twofold_units[0x10] = {
	[AGX_FAULT_UNIT_GPM & 0xf] = "gPM",
	[AGX_FAULT_UNIT_GVDM_CSD & 0xf] = "gVDM_CSD",
	[AGX_FAULT_UNIT_GVDM_SSD & 0xf] = "gVDM_SSD",
	[AGX_FAULT_UNIT_GVDM_ILF & 0xf] = "gVDM_ILF",
	[AGX_FAULT_UNIT_GVDM_TFP & 0xf] = "gVDM_TFP",
	[AGX_FAULT_UNIT_GVDM_MMB & 0xf] = "gVDM_MMB",
	[AGX_FAULT_UNIT_GCDM_CS_KS0 & 0xf] = "gCDM_CS_KS0",
	[AGX_FAULT_UNIT_GCDM_CS_KS1 & 0xf] = "gCDM_CS_KS1",
	[AGX_FAULT_UNIT_GCDM_CS_KS2 & 0xf] = "gCDM_CS_KS2",
	[AGX_FAULT_UNIT_GCDM_KS0 & 0xf] = "gCDM_KS0",
	[AGX_FAULT_UNIT_GCDM_KS1 & 0xf] = "gCDM_KS1",
	[AGX_FAULT_UNIT_GCDM_KS2 & 0xf] = "gCDM_KS2",
	[AGX_FAULT_UNIT_GIPP & 0xf] = "gIPP",
	[AGX_FAULT_UNIT_GIPP_CS & 0xf] = "gIPP_CS",
	[AGX_FAULT_UNIT_GRDE0 & 0xf] = "gRDE0",
	[AGX_FAULT_UNIT_GRDE1 & 0xf] = "gRDE1",
};

static const char * const asahi_hw_twofold_units_g14x[0x10] = {
	[AGX_FAULT_UNIT_GPM & 0xf] = "gPM",
	[AGX_FAULT_UNIT_GVDM_CSD & 0xf] = "gVDM_CSD",
	[AGX_FAULT_UNIT_GVDM_SSD & 0xf] = "gVDM_SSD",
	[AGX_FAULT_UNIT_GVDM_ILF & 0xf] = "gVDM_ILF",
	[AGX_FAULT_UNIT_GVDM_TFP & 0xf] = "gVDM_TFP",
	[AGX_FAULT_UNIT_GVDM_MMB & 0xf] = "gVDM_MMB",
	[AGX_FAULT_UNIT_GRDE_G14X & 0xf] = "gRDE",
};

static const char * const asahi_hw_single_units_g14x[0x10] = {
	[AGX_FAULT_UNIT_GCDM_CS & 0xf] = "gCDM_CS",
	[AGX_FAULT_UNIT_GCDM_ID & 0xf] = "gCDM_ID",
	[AGX_FAULT_UNIT_GCDM_CSR & 0xf] = "gCDM_CSR",
	[AGX_FAULT_UNIT_GCDM_CSW & 0xf] = "gCDM_CSW",
	[AGX_FAULT_UNIT_GCDM_CTXR & 0xf] = "gCDM_CTXR",
	[AGX_FAULT_UNIT_GCDM_CTXW & 0xf] = "gCDM_CTXW",
	[AGX_FAULT_UNIT_GIPP_G14X & 0xf] = "gIPP",
	[AGX_FAULT_UNIT_GIPP_CS_G14X & 0xf] = "gIPP_CS",
	[AGX_FAULT_UNIT_GKSM_RCE & 0xf] = "gKSM_RCE",
};

/**
 * asahi_hw_fault_unit() - name of the unit that faulted
 * @info: fault
 *
 * Return: a constant; "unknown" for codes that are not in the table.
 */
const char *asahi_hw_fault_unit(const struct asahi_fault_info *info)
{
	unsigned int single = info->unit - AGX_FAULT_UNIT_GROUPED_END;
	unsigned int index = info->unit & 0xf;
	const char *name = NULL;

	if (info->unit < AGX_FAULT_UNIT_GROUPED_END)
		name = asahi_hw_grouped_units[index];
	else if (single < ARRAY_SIZE(asahi_hw_single_units))
		name = asahi_hw_single_units[single];
	else if (info->unit >= AGX_FAULT_UNIT_TWICE)
		name = info->g14x ? asahi_hw_twofold_units_g14x[index] :
				    asahi_hw_twofold_units[index];
	else if (info->unit >= AGX_FAULT_UNIT_GCDM_CS && info->g14x)
		name = asahi_hw_single_units_g14x[index];

	return name ?: "unknown";
}
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_fault_unit);

/**
 * asahi_hw_fault_reason() - why an access faulted
 * @info: fault
 *
 * Return: a constant.
 */
const char *asahi_hw_fault_reason(const struct asahi_fault_info *info)
{
	switch (info->reason) {
	case AGX_FAULT_REASON_UNMAPPED:
		return "unmapped";
	case AGX_FAULT_REASON_ACCESS_FLAG:
		return "access flag";
	case AGX_FAULT_REASON_WRITE_ONLY:
		return "write-only";
	case AGX_FAULT_REASON_READ_ONLY:
		return "read-only";
	case AGX_FAULT_REASON_NO_ACCESS:
		return "no access";
	default:
		return "unknown";
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_hw_fault_reason);
