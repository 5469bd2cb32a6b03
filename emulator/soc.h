/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_SOC_H
#define VAGX_SOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "gpu/gpu.h"

/*
 * What differs between the SoCs: the identity of the GPU, its address bits, the
 * codes of its units, and the registers that its firmware needs.
 */

#define VAGX_MAX_CLUSTERS	8

/**
 * struct vagx_gpu_id - what a GPU says about itself
 * @generation: 4 G13, 5 G14G, 6 G14X
 * @variant: 2 G, 3 S, 4 C and D
 * @revision: 0x11 is B1
 * @dies: how many there are
 * @clusters: of all dies
 * @cores: per cluster, whether they are there or were fused off
 * @gps: geometry pipelines
 * @core_mask: cores of each cluster that are there; all are if all masks are 0
 * @unk_08: a register of unknown meaning
 * @unk_18: another one
 * @unk_counts_1: what the register with @cores has in bits of unknown meaning
 * @unk_counts_2: the same of the register with @gps
 * @unk_clusters: the same of the register with @clusters
 */
struct vagx_gpu_id {
	uint8_t generation;
	uint8_t variant;
	uint8_t revision;
	uint8_t dies;
	uint8_t clusters;
	uint8_t cores;
	uint8_t gps;
	uint16_t core_mask[VAGX_MAX_CLUSTERS];
	uint32_t unk_08, unk_18;
	uint32_t unk_counts_1, unk_counts_2, unk_clusters;
};

/* Entries of HwDataB's table of register ranges that any firmware has */
#define VAGX_IO_RANGES	25

/* Registers of one die lie so far from those of the next */
#define VAGX_DIE_STRIDE	0x2000000000ULL

/**
 * struct vagx_io_range - registers that the firmware accesses
 * @phys: address of the first
 * @size: bytes of each element, 0: there is no such range
 * @count: elements of a die
 * @stride: from one element to the next
 * @dies: on how many dies they are
 * @write: the firmware is told that it may write there
 */
struct vagx_io_range {
	uint64_t phys;
	uint32_t size;
	uint32_t count;
	uint32_t stride;
	uint32_t dies;
	bool write;
};

/**
 * struct vagx_soc - a SoC
 * @name: as the device tree has it
 * @chip: what people call it
 * @id: its GPU
 * @oas_bits: of physical addresses in page tables
 * @chip_id: its number, as the firmware knows it
 * @core_id: the firmware's number of the GPU's kind
 * @units: codes of units in the fault register
 * @io: registers that the firmware accesses, VAGX_IO_RANGES of them
 * @io_m1n1: those that m1n1 has in the place of some, for entries with a size; or NULL
 * @sram: the GPU's memory on the chip, or 0
 * @sram_size: bytes of it
 */
struct vagx_soc {
	const char *name;
	const char *chip;
	struct vagx_gpu_id id;
	unsigned int oas_bits;
	uint32_t chip_id;
	uint32_t core_id;
	const struct vagx_gpu_units *units;
	const struct vagx_io_range *io;
	const struct vagx_io_range *io_m1n1;
	uint64_t sram;
	uint32_t sram_size;
};

/* The SoC of that name, or NULL */
const struct vagx_soc *vagx_soc_find(const char *name);

/* The SoCs in turn, then NULL */
const struct vagx_soc *vagx_soc_at(unsigned int index);

/**
 * vagx_soc_abi() - the firmware's interface
 * @firmware: version, "13.5"
 * @abi: set unless there is none
 *
 * Return: whether that firmware runs on that SoC.
 */
bool vagx_soc_abi(const struct vagx_soc *soc, const char *firmware, enum fw_abi *abi);

/* The versions of firmware that run there, the newest first, then NULL */
const char *vagx_soc_firmware(const struct vagx_soc *soc, unsigned int index);

/* All cores, also those that were fused off */
static inline unsigned int vagx_soc_cores(const struct vagx_soc *soc)
{
	return soc->id.clusters * soc->id.cores;
}

/* The range that m1n1 has instead of that of @io, or NULL if it has the same */
static inline const struct vagx_io_range *vagx_soc_io_m1n1(const struct vagx_soc *soc,
							  unsigned int index)
{
	return soc->io_m1n1 && soc->io_m1n1[index].size ? &soc->io_m1n1[index] : NULL;
}

/* The cores of a cluster that are there */
uint32_t vagx_gpu_core_mask(const struct vagx_gpu_id *id, unsigned int cluster);

/* How many cores of all clusters are there */
unsigned int vagx_gpu_active_cores(const struct vagx_gpu_id *id);

#endif
