/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is known of each SoC, the identification registers and the MMU fault
 * registers.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_HW_H
#define ASAHI_HW_H

#include <linux/types.h>

struct asahi_block;
struct asahi_device;
struct drm_printer;
struct drm_asahi_params_global;

/**
 * enum asahi_gen - GPU generations that the firmware's interface tells apart
 * @ASAHI_GEN_G13: G13G, G13S, G13C, G13D
 * @ASAHI_GEN_G14G: G14G
 * @ASAHI_GEN_G14X: G14S, G14C, G14D
 */
enum asahi_gen {
	ASAHI_GEN_G13,
	ASAHI_GEN_G14G,
	ASAHI_GEN_G14X,
};

/**
 * struct asahi_io_map - a range of registers that the firmware accesses
 * @base: physical address, not necessarily page aligned
 * @size: bytes of one element; 0 marks an unused index
 * @count: number of elements, @stride apart
 * @stride: distance of elements in bytes
 * @writable: the firmware writes there
 * @per_die: repeated on every die of the SoC
 */
struct asahi_io_map {
	u64 base;
	u32 size;
	u32 count;
	u32 stride;
	bool writable;
	bool per_die;
};

/**
 * ASAHI_FAULT_CONTROL_SOFT - fault control under which shaders do not fault
 *
 * Their loads from nowhere give zero, their stores go nowhere.
 */
#define ASAHI_FAULT_CONTROL_SOFT 0xb

/** ASAHI_IO_MAPS - entries of the table in HwDataB that any ABI has */
#define ASAHI_IO_MAPS 25

/** ASAHI_PERF_STATES - performance states that HwDataB has room for */
#define ASAHI_PERF_STATES 16

/**
 * struct asahi_hw_render - what render commands depend on
 * @tiling_control: setting of the tiler
 * @preempt_size: bytes of the preemption buffers, for each cluster and, if there
 *	are several, once more
 * @cluster_splits: parts that clusters divide tilemaps into
 * @cluster_meta: bytes of the second and following metadata buffers of clusters
 */
struct asahi_hw_render {
	u32 tiling_control;
	u32 preempt_size[3];
	u32 cluster_splits;
	u32 cluster_meta[3];
};

/**
 * struct asahi_hw - constants of one SoC
 * @name: name of the GPU, as in "G13G"
 * @chip_id: SoC number in BCD, 0x8103 for T8103
 * @gen: generation, selects the firmware interface together with its version
 * @uapi_generation: as GET_PARAMS reports it, 13 or 14
 * @variant: 'G', 'S', 'C' or 'D'
 * @oas_bits: width of physical addresses that the GPU can emit
 * @num_dies: number of dies
 * @max_clusters: clusters at most, on all dies
 * @max_cores: cores per cluster at most
 * @max_gps: geometry pipes per cluster at most
 * @compute_preempt1_size: bytes of a compute command's first preemption buffer
 * @render: what render commands depend on
 * @io_maps: registers to be mapped for the firmware
 * @sram_base: physical address of the GPU's SRAM, or 0
 * @sram_size: bytes of the GPU's SRAM
 */
struct asahi_hw {
	const char *name;
	u32 chip_id;
	enum asahi_gen gen;
	u32 uapi_generation;
	char variant;
	unsigned int oas_bits;
	unsigned int num_dies;
	unsigned int max_clusters;
	unsigned int max_cores;
	unsigned int max_gps;
	u32 compute_preempt1_size;
	const struct asahi_hw_render *render;
	const struct asahi_io_map *io_maps;
	u64 sram_base;
	u32 sram_size;
};

/**
 * struct asahi_hw_id - identification registers
 * @version: generation, variant, revision
 * @counts_1: cores, and on G14X clusters and dies
 * @counts_2: geometry pipes
 * @clusters: clusters, on G13 and G14G
 * @core_masks: which cores are there, without gaps between clusters
 */
struct asahi_hw_id {
	u32 version;
	u32 counts_1;
	u32 counts_2;
	u32 clusters;
	u32 core_masks[3];
};

/**
 * struct asahi_fault_info - one MMU fault, decoded
 * @raw: fault register as read
 * @address: GPU virtual address, multiple of 64
 * @slot: VM context that was active
 * @unit: code of the hardware unit, AGX_FAULT_UNIT_*
 * @reason: AGX_FAULT_REASON_*
 * @level: level of the table walk that ended it
 * @sideband: bits that travel with the access, meaning unknown
 * @read: true for a read, false for a write
 * @g14x: the GPU is of that generation, whose units are others
 */
struct asahi_fault_info {
	u64 raw;
	u64 address;
	u8 slot;
	u8 unit;
	u8 reason;
	u8 level;
	u8 sideband;
	bool read;
	bool g14x;
};

extern const struct asahi_hw asahi_hw_t8103;
extern const struct asahi_hw asahi_hw_t8112;
extern const struct asahi_hw asahi_hw_t6000;
extern const struct asahi_hw asahi_hw_t6001;
extern const struct asahi_hw asahi_hw_t6002;
extern const struct asahi_hw asahi_hw_t6020;
extern const struct asahi_hw asahi_hw_t6021;
extern const struct asahi_hw asahi_hw_t6022;

extern const struct asahi_block asahi_block_hw;

void asahi_hw_stop_cpu(struct asahi_device *adev);
void asahi_hw_print_cpu(struct asahi_device *adev, struct drm_printer *p);
const char *asahi_hw_identify(const struct asahi_hw *hw, const struct asahi_hw_id *id,
			      struct drm_asahi_params_global *params);
int asahi_hw_unpack_cores(const u32 *packed, unsigned int words, unsigned int cores,
			  unsigned int clusters, u64 *masks);
bool asahi_hw_read_fault(struct asahi_device *adev, struct asahi_fault_info *info);
void asahi_hw_decode_fault(u64 raw, u64 addr, bool g14x, struct asahi_fault_info *info);
const char *asahi_hw_fault_unit(const struct asahi_fault_info *info);
const char *asahi_hw_fault_reason(const struct asahi_fault_info *info);

#endif
