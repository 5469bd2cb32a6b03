/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Scenes: how a render pass is divided into tiles, and the memory of one render.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_SCENE_H
#define ASAHI_SCENE_H

#include <linux/types.h>

struct asahi_hw;
struct drm_asahi_cmd_render;

/** ASAHI_SCENE_ALIGN - alignment of the parts of a scene in a VM */
#define ASAHI_SCENE_ALIGN	0x8000

/**
 * ASAHI_SCENE_MAX_BYTES - what a scene may take in a VM, and its queue's tail
 * pointer cache likewise
 *
 * Size, layers and clusters multiply. This is far more than any framebuffer
 * needs that fits into memory itself.
 */
#define ASAHI_SCENE_MAX_BYTES	0x40000000ULL

/** ASAHI_SCENE_PREEMPT - preemption buffers of a scene */
#define ASAHI_SCENE_PREEMPT	3

/** ASAHI_SCENE_CLUSTER_META - metadata buffers that clusters share */
#define ASAHI_SCENE_CLUSTER_META	4

/**
 * struct asahi_scene_layout - how a framebuffer is divided, and where what is
 * @tiles_x: tiles of 32 × 32 pixels, horizontally
 * @tiles_y: the same, vertically
 * @layers: layers
 * @utile_config: size of a tile of the tilebuffer, and samples, as the hardware
 *	wants them
 * @mtile_x: tiles of a macrotile, horizontally; there are 4 × 4 macrotiles
 * @mtile_y: the same, vertically
 * @mtile_tiles: tiles of a macrotile
 * @mtile_utiles_x: tilebuffer's tiles of a macrotile, horizontally
 * @mtile_utiles_y: the same, vertically
 * @region_words: 32-bit words of the tilemap for each macrotile
 * @tpc_words: 32-bit words of the tail pointer cache for each macrotile
 * @tib_blocks: blocks of 2 KiB that a tile takes of the tilebuffer
 * @meta1_stride: blocks of the first metadata buffer for each layer; 0 without
 *	clustering
 * @meta1_blocks: all blocks of it
 * @clustering: vertex work is spread over clusters
 * @clusters: the GPU has several clusters, so that there is memory for that
 * @min_blocks: blocks that the vertex buffer has to have at least
 * @tpc_size: bytes of the tail pointer cache
 * @size: bytes of the memory that the following are offsets in
 * @user_buffer: for the firmware
 * @heapmeta: state of the vertex buffer
 * @layermeta: state of layers, behind @heapmeta
 * @tilemap: what the tiler says to the ISP
 * @preempt: what the GPU saves when it is interrupted
 * @aux_fb: for partial renders
 * @cluster_tilemaps: valid if @clusters
 * @cluster_layermeta: likewise
 * @cluster_meta: likewise
 */
struct asahi_scene_layout {
	u32 tiles_x;
	u32 tiles_y;
	u32 layers;
	u32 utile_config;
	u32 mtile_x;
	u32 mtile_y;
	u32 mtile_tiles;
	u32 mtile_utiles_x;
	u32 mtile_utiles_y;
	u32 region_words;
	u32 tpc_words;
	u32 tib_blocks;
	u32 meta1_stride;
	u32 meta1_blocks;
	bool clustering;
	bool clusters;
	u32 min_blocks;
	u64 tpc_size;
	u64 size;
	u64 user_buffer;
	u64 heapmeta;
	u64 layermeta;
	u64 tilemap;
	u64 preempt[ASAHI_SCENE_PREEMPT];
	u64 aux_fb;
	u64 cluster_tilemaps;
	u64 cluster_layermeta;
	u64 cluster_meta[ASAHI_SCENE_CLUSTER_META];
};

/**
 * struct asahi_scene - the memory of one render
 * @map: Scene structure
 * @va: firmware address of that
 * @memory_va: GPU address of what its layout describes
 * @control_word_va: GPU address of a word for G14X; 0 for others
 * @tpc_va: GPU address of the tail pointer cache
 */
struct asahi_scene {
	void *map;
	u64 va;
	u64 memory_va;
	u64 control_word_va;
	u64 tpc_va;
};

int asahi_scene_measure(struct asahi_scene_layout *layout, const struct asahi_hw *hw,
			unsigned int clusters, const struct drm_asahi_cmd_render *cmd);

#endif
