// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The SoCs: what their GPUs say they are, the register ranges that the firmware accesses, and the
 * versions of the firmware that run there. Constants: any thread, no lock.
 *
 * Sources: m1n1 proxyclient/m1n1/agx/initdata.py and rust/src/gpu/hw/, asahi hw/; where those two
 * differ, what asahi does runs on the machines.
 */
#include <stddef.h>
#include <string.h>

#include "agx/agx_regs.h"
#include "soc.h"

#define G13	AGX_ID_GENERATION_G13
#define G14G	AGX_ID_GENERATION_G14G
#define G14X	AGX_ID_GENERATION_G14X

/* Units that have the same code on all SoCs */
#define COMMON_UNITS						\
	[VAGX_GPU_UNIT_USC] = AGX_FAULT_UNIT_UL1C,		\
	[VAGX_GPU_UNIT_VDM_CS] = AGX_FAULT_UNIT_GVDM_CSD,	\
	[VAGX_GPU_UNIT_VDM] = AGX_FAULT_UNIT_GVDM_ILF,		\
	[VAGX_GPU_UNIT_PPP] = AGX_FAULT_UNIT_PPP,		\
	[VAGX_GPU_UNIT_TE] = AGX_FAULT_UNIT_TE,			\
	[VAGX_GPU_UNIT_ISP] = AGX_FAULT_UNIT_RAS,		\
	[VAGX_GPU_UNIT_ZLS] = AGX_FAULT_UNIT_ZLS

static const struct vagx_gpu_units soc_plain_units = {
	.code = {
		COMMON_UNITS,
		[VAGX_GPU_UNIT_CDM_CS] = AGX_FAULT_UNIT_GCDM_CS_KS0,
		[VAGX_GPU_UNIT_CDM] = AGX_FAULT_UNIT_GCDM_KS0,
	},
};

static const struct vagx_gpu_units soc_g14x_units = {
	.code = {
		COMMON_UNITS,
		[VAGX_GPU_UNIT_CDM_CS] = AGX_FAULT_UNIT_GCDM_CS,
		[VAGX_GPU_UNIT_CDM] = AGX_FAULT_UNIT_GCDM_ID,
	},
};

#define ONE(phys, size, write)		{ phys, size, 1, 0, 1, write }
#define EACH_DIE(phys, size, dies)	{ phys, size, 1, 0, dies, false }
#define CACHES(count, dies)		{ 0x200000000, 0xd8000, count, 0x1000000, dies, true }

static const struct vagx_io_range soc_t8103_io[VAGX_IO_RANGES] = {
	[0] = ONE(0x204d00000, 0x1c000, true),
	[1] = ONE(0x20e100000, 0x4000, false),
	[2] = ONE(0x23b104000, 0x4000, true),
	[3] = ONE(0x204000000, 0x20000, true),
	[7] = ONE(0x23b2e8000, 0x1000, false),
	[8] = ONE(0x23bc00000, 0x1000, true),
	[9] = ONE(0x204d80000, 0x5000, true),
	[10] = ONE(0x204d61000, 0x1000, true),
	[11] = ONE(0x200000000, 0xd6400, true),
	[13] = ONE(0x23b738000, 0x1000, true),
};

static const struct vagx_io_range soc_t8112_io[VAGX_IO_RANGES] = {
	[0] = ONE(0x204d00000, 0x14000, true),
	[1] = ONE(0x20e100000, 0x4000, false),
	[2] = ONE(0x23b0c4000, 0x4000, true),
	[3] = ONE(0x204000000, 0x20000, true),
	[7] = ONE(0x23b2c0000, 0x1000, false),
	[9] = ONE(0x204d80000, 0x8000, true),
	[10] = ONE(0x204d61000, 0x1000, true),
	[11] = ONE(0x200000000, 0xd6400, true),
	[16] = ONE(0x204e00000, 0x10000, true),
	[17] = ONE(0x27d050000, 0x4000, true),
	[18] = ONE(0x23b3d0000, 0x1000, true),
	[19] = ONE(0x23b3c0000, 0x1000, false),
};

static const struct vagx_io_range soc_t6000_io[VAGX_IO_RANGES] = {
	[0] = ONE(0x404d00000, 0x1c000, true),
	[1] = ONE(0x20e100000, 0x4000, false),
	[2] = ONE(0x28e104000, 0x4000, true),
	[3] = ONE(0x404000000, 0x20000, true),
	[7] = EACH_DIE(0x28e494000, 0x4000, 1),
	[9] = ONE(0x404d80000, 0x8000, true),
	[10] = ONE(0x204d61000, 0x1000, true),
	[11] = CACHES(4, 1),
	[14] = ONE(0x2643c4000, 0x1000, true),
	[18] = ONE(0x28e3d0000, 0x1000, true),
	[19] = ONE(0x28e3c0000, 0x2000, false),
};

static const struct vagx_io_range soc_t6001_io[VAGX_IO_RANGES] = {
	[0] = ONE(0x404d00000, 0x1c000, true),
	[1] = ONE(0x20e100000, 0x4000, false),
	[2] = ONE(0x28e104000, 0x4000, true),
	[3] = ONE(0x404000000, 0x20000, true),
	[7] = EACH_DIE(0x28e494000, 0x4000, 1),
	[9] = ONE(0x404d80000, 0x8000, true),
	[10] = ONE(0x204d61000, 0x1000, true),
	[11] = CACHES(8, 1),
	[14] = ONE(0x2643c4000, 0x1000, true),
	[18] = ONE(0x28e3d0000, 0x1000, true),
	[19] = ONE(0x28e3c0000, 0x2000, false),
};

static const struct vagx_io_range soc_t6002_io[VAGX_IO_RANGES] = {
	[0] = ONE(0x404d00000, 0x1c000, true),
	[1] = ONE(0x20e100000, 0x4000, false),
	[2] = ONE(0x28e104000, 0x4000, true),
	[3] = ONE(0x404000000, 0x20000, true),
	[7] = EACH_DIE(0x28e494000, 0x4000, 2),
	[9] = ONE(0x404d80000, 0x8000, true),
	[10] = ONE(0x204d61000, 0x1000, true),
	[11] = CACHES(8, 2),
	[14] = ONE(0x2643c4000, 0x1000, true),
	[15] = ONE(0x22643c4000, 0x1000, true),
	[18] = ONE(0x28e3d0000, 0x1000, true),
	[19] = ONE(0x28e3c0000, 0x2000, false),
};

static const struct vagx_io_range soc_t6020_io[VAGX_IO_RANGES] = {
	[0] = ONE(0x404d00000, 0x144000, true),
	[1] = ONE(0x20e100000, 0x4000, false),
	[2] = ONE(0x28e106000, 0x4000, true),
	[3] = ONE(0x404000000, 0x20000, true),
	[7] = EACH_DIE(0x28e460000, 0x4000, 1),
	[9] = ONE(0x404e08000, 0x8000, true),
	[11] = CACHES(4, 1),
	[12] = ONE(0x28e118000, 0x4000, false),
	[18] = ONE(0x28e3d0000, 0x4000, true),
	[19] = ONE(0x28e3c0000, 0x4000, false),
	[20] = ONE(0x28e3d8000, 0x4000, true),
	[21] = { 0x404eac000, 0x4000, 1, 0, 1, true },
};

static const struct vagx_io_range soc_t6021_io[VAGX_IO_RANGES] = {
	[0] = ONE(0x404d00000, 0x144000, true),
	[1] = ONE(0x20e100000, 0x4000, false),
	[2] = ONE(0x28e106000, 0x4000, true),
	[3] = ONE(0x404000000, 0x20000, true),
	[7] = EACH_DIE(0x28e478000, 0x4000, 1),
	[9] = ONE(0x404e08000, 0x8000, true),
	[11] = CACHES(8, 1),
	[12] = ONE(0x28e118000, 0x4000, false),
	[18] = ONE(0x28e3d0000, 0x4000, true),
	[19] = ONE(0x28e3c0000, 0x4000, false),
	[20] = ONE(0x28e3d8000, 0x4000, true),
	[21] = { 0x404eac000, 0x4000, 1, 0, 1, true },
};

static const struct vagx_io_range soc_t6022_io[VAGX_IO_RANGES] = {
	[0] = ONE(0x404d00000, 0x144000, true),
	[1] = ONE(0x20e100000, 0x4000, false),
	[2] = ONE(0x28e106000, 0x4000, true),
	[3] = ONE(0x404000000, 0x20000, true),
	[7] = EACH_DIE(0x28e478000, 0x4000, 2),
	[9] = ONE(0x404e08000, 0x8000, true),
	[11] = CACHES(8, 2),
	[12] = ONE(0x28e118000, 0x4000, false),
	[18] = ONE(0x28e3d0000, 0x4000, true),
	[19] = ONE(0x28e3c0000, 0x4000, false),
	[20] = ONE(0x28e3d8000, 0x4000, true),
	[21] = { 0x404eac000, 0x4000, 1, 0, 2, true },
};

/*
 * What m1n1 maps instead, and machines run with (proxyclient agx/initdata.py): it lets the firmware
 * write nowhere in 16 to 18 of T8112, has the caches of 11 side by side as if there were no gaps
 * between them, 7 where T6021 has it, and 7 and 21 of one die alone.
 */
#define SIDE_BY_SIDE(count)	{ 0x200000000, 0xd8000, count, 0xd8000, 1, true }
#define T600X_IO_M1N1(caches)	[7] = ONE(0x28e494000, 0x1000, false), [11] = SIDE_BY_SIDE(caches)
#define T602X_IO_M1N1(caches)	[7] = ONE(0x28e478000, 0x4000, false), [11] = SIDE_BY_SIDE(caches), \
				[21] = ONE(0x404eac000, 0x4000, true)

static const struct vagx_io_range soc_t8112_io_m1n1[VAGX_IO_RANGES] = {
	[16] = ONE(0x204e00000, 0x10000, false),
	[17] = ONE(0x27d050000, 0x4000, false),
	[18] = ONE(0x23b3d0000, 0x1000, false),
};

static const struct vagx_io_range soc_t6000_io_m1n1[VAGX_IO_RANGES] = { T600X_IO_M1N1(4) };
static const struct vagx_io_range soc_t6001_io_m1n1[VAGX_IO_RANGES] = { T600X_IO_M1N1(8) };
static const struct vagx_io_range soc_t6002_io_m1n1[VAGX_IO_RANGES] = { T600X_IO_M1N1(16) };
static const struct vagx_io_range soc_t6020_io_m1n1[VAGX_IO_RANGES] = { T602X_IO_M1N1(4) };
static const struct vagx_io_range soc_t6021_io_m1n1[VAGX_IO_RANGES] = { T602X_IO_M1N1(8) };
static const struct vagx_io_range soc_t6022_io_m1n1[VAGX_IO_RANGES] = { T602X_IO_M1N1(16) };

/*
 * Generation, variant, revision, dies, clusters, cores per cluster. All that an M1 says is in a
 * public kernel log of the Rust driver (leifliddy/asahi-fedora-builder, issue 27): GPU ID
 * registers 4021100 40a04 30808 40404 1320300 101311. No such log was found of another SoC.
 * Assumed are therefore their revisions; four geometry pipelines, which is the Rust driver's bound;
 * and, on the rest of G13 and G14G, an M1's words of unknown meaning. On G14X these are 0.
 */
#define FOUR_GPS	.gps = 4, .unk_counts_2 = 0x404
#define M1_WORDS	FOUR_GPS, .unk_08 = 0x40a04, .unk_18 = 0x1320300, \
			.unk_counts_1 = 0x30800, .unk_clusters = 0x100311

static const struct vagx_soc soc_socs[] = {
	{
		.name = "t8103", .chip = "M1",
		.id = { G13, AGX_ID_VARIANT_G, 0x11, 1, 1, 8, M1_WORDS },
		.oas_bits = 40,
		.chip_id = 0x8103,
		.core_id = 11,
		.units = &soc_plain_units,
		.io = soc_t8103_io,
	},
	{
		.name = "t8112", .chip = "M2",
		.id = { G14G, AGX_ID_VARIANT_G, 0x00, 1, 1, 10, M1_WORDS },
		.oas_bits = 40,
		.chip_id = 0x8112,
		.core_id = 15,
		.units = &soc_plain_units,
		.io = soc_t8112_io,
		.io_m1n1 = soc_t8112_io_m1n1,
	},
	{
		.name = "t6000", .chip = "M1 Pro",
		.id = { G13, AGX_ID_VARIANT_S, 0x10, 1, 2, 8, M1_WORDS },
		.oas_bits = 42,
		.chip_id = 0x6000,
		.core_id = 12,
		.units = &soc_plain_units,
		.io = soc_t6000_io,
		.io_m1n1 = soc_t6000_io_m1n1,
	},
	{
		.name = "t6001", .chip = "M1 Max",
		.id = { G13, AGX_ID_VARIANT_CD, 0x10, 1, 4, 8, M1_WORDS },
		.oas_bits = 42,
		.chip_id = 0x6001,
		.core_id = 13,
		.units = &soc_plain_units,
		.io = soc_t6001_io,
		.io_m1n1 = soc_t6001_io_m1n1,
	},
	{
		.name = "t6002", .chip = "M1 Ultra",
		.id = { G13, AGX_ID_VARIANT_CD, 0x10, 2, 8, 8, M1_WORDS },
		.oas_bits = 42,
		.chip_id = 0x6002,
		.core_id = 13,
		.units = &soc_plain_units,
		.io = soc_t6002_io,
		.io_m1n1 = soc_t6002_io_m1n1,
	},
	{
		.name = "t6020", .chip = "M2 Pro",
		.id = { G14X, AGX_ID_VARIANT_S, 0x11, 1, 2, 10, FOUR_GPS },
		.oas_bits = 42,
		.chip_id = 0x6020,
		.core_id = 16,
		.units = &soc_g14x_units,
		.io = soc_t6020_io,
		.io_m1n1 = soc_t6020_io_m1n1,
		.sram = 0x404d60000,
		.sram_size = 0x20000,
	},
	{
		.name = "t6021", .chip = "M2 Max",
		.id = { G14X, AGX_ID_VARIANT_CD, 0x11, 1, 4, 10, FOUR_GPS },
		.oas_bits = 42,
		.chip_id = 0x6021,
		.core_id = 17,
		.units = &soc_g14x_units,
		.io = soc_t6021_io,
		.io_m1n1 = soc_t6021_io_m1n1,
		.sram = 0x404d60000,
		.sram_size = 0x20000,
	},
	{
		.name = "t6022", .chip = "M2 Ultra",
		.id = { G14X, AGX_ID_VARIANT_CD, 0x11, 2, 8, 10, FOUR_GPS },
		.oas_bits = 42,
		.chip_id = 0x6022,
		.core_id = 18,
		.units = &soc_g14x_units,
		.io = soc_t6022_io,
		.io_m1n1 = soc_t6022_io_m1n1,
		.sram = 0x404d60000,
		.sram_size = 0x20000,
	},
};

uint32_t vagx_gpu_core_mask(const struct vagx_gpu_id *id, unsigned int cluster)
{
	bool binned = false;

	if (cluster >= id->clusters)
		return 0;
	for (unsigned int i = 0; i < id->clusters; i++)
		binned |= id->core_mask[i];
	return binned ? id->core_mask[cluster] : (UINT32_C(1) << id->cores) - 1;
}

unsigned int vagx_gpu_active_cores(const struct vagx_gpu_id *id)
{
	unsigned int cores = 0;

	for (unsigned int i = 0; i < id->clusters; i++)
		cores += __builtin_popcount(vagx_gpu_core_mask(id, i));
	return cores;
}

static const struct {
	const char *firmware;
	uint8_t generation;
	enum fw_abi abi;
} soc_abis[] = {
	{ "13.5", G13, FW_ABI_13_5 },
	{ "13.5", G14G, FW_ABI_13_5_G14 },
	{ "13.5", G14X, FW_ABI_13_5_G14X },
	{ "12.3", G13, FW_ABI_12_3 },
	{ "12.4", G14G, FW_ABI_12_4 },
};

const struct vagx_soc *vagx_soc_at(unsigned int index)
{
	return index < sizeof(soc_socs) / sizeof(soc_socs[0]) ? &soc_socs[index] : NULL;
}

const struct vagx_soc *vagx_soc_find(const char *name)
{
	const struct vagx_soc *soc;

	for (unsigned int i = 0; (soc = vagx_soc_at(i)); i++) {
		if (!strcmp(name, soc->name))
			break;
	}
	return soc;
}

bool vagx_soc_abi(const struct vagx_soc *soc, const char *firmware, enum fw_abi *abi)
{
	for (unsigned int i = 0; i < sizeof(soc_abis) / sizeof(soc_abis[0]); i++) {
		if (soc_abis[i].generation != soc->id.generation ||
		    strcmp(firmware, soc_abis[i].firmware))
			continue;
		*abi = soc_abis[i].abi;
		return true;
	}
	return false;
}

const char *vagx_soc_firmware(const struct vagx_soc *soc, unsigned int index)
{
	for (unsigned int i = 0; i < sizeof(soc_abis) / sizeof(soc_abis[0]); i++) {
		if (soc_abis[i].generation == soc->id.generation && !index--)
			return soc_abis[i].firmware;
	}
	return NULL;
}
