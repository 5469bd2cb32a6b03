// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Scenes: how a render pass is divided into tiles, and the memory of one render.
 *
 * Sources: Rust driver, queue/render.rs and buffer.rs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/align.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include <kunit/visibility.h>

#include <drm/asahi_drm.h>

#include "asahi_hw.h"
#include "asahi_scene.h"

/**
 * DOC: Scenes
 *
 * The vertex half of a render sorts primitives into tiles, the fragment half
 * works on tile after tile. The primitives are in the queue's tiled vertex buffer
 * (asahi_tvb.c). The fragment half finds them through a *tilemap*, which belongs to
 * the render. The scene of a render is all memory that only this render needs: the
 * tilemap, metadata of the buffer, room for the GPU's state when it is interrupted,
 * and on GPUs with several clusters the messages between these.
 *
 * A scene is zeroed memory in the VM, allocated when the render is submitted and
 * freed after it. Its size follows from the size of the framebuffer. A
 * framebuffer has tiles of 32 × 32 pixels, and 4 × 4 macrotiles. The tilebuffer may
 * be too small for such a tile; then it works on quarters or halves ("utiles").
 */

#define ASAHI_SCENE_TILE		32	/* pixels */
#define ASAHI_SCENE_MTILES		4	/* in each direction */
#define ASAHI_SCENE_REGION_BYTES	5	/* of the tilemap, for each utile */
#define ASAHI_SCENE_TPC_BYTES		8	/* of the tail pointer cache, likewise */
#define ASAHI_SCENE_TIB_BLOCK		2048	/* bytes */

#define ASAHI_SCENE_USER_BUFFER		0x80
#define ASAHI_SCENE_USER_BUFFER_CLUSTERS 0x10080
#define ASAHI_SCENE_HEAPMETA		0x200
#define ASAHI_SCENE_LAYERMETA		0x100
#define ASAHI_SCENE_AUX_FB		0x8000
#define ASAHI_SCENE_META1_BLOCK		0x44
#define ASAHI_SCENE_META_ALIGN		0x80

/* Nobody knows what these bytes are; a block of metadata stands for as many. */
#define ASAHI_SCENE_META1_SPAN		0x1980

/* Tiles of the framebuffer for which the vertex buffer has a block at least. */
#define ASAHI_SCENE_TILES_PER_BLOCK	128
#define ASAHI_SCENE_MIN_BLOCKS_STEP	8

static void asahi_scene_divide(struct asahi_scene_layout *layout,
			       const struct drm_asahi_cmd_render *cmd)
{
	u32 utiles_x = ASAHI_SCENE_TILE / cmd->utile_width_px;
	u32 utiles_y = ASAHI_SCENE_TILE / cmd->utile_height_px;
	u32 utile_bytes = cmd->utile_width_px * cmd->utile_height_px * cmd->samples *
			  cmd->sample_size_B;
	u32 mtile_utiles;

	layout->layers = cmd->layers;
	layout->tiles_x = DIV_ROUND_UP(cmd->width_px, ASAHI_SCENE_TILE);
	layout->tiles_y = DIV_ROUND_UP(cmd->height_px, ASAHI_SCENE_TILE);
	layout->mtile_x = ALIGN(DIV_ROUND_UP(layout->tiles_x, ASAHI_SCENE_MTILES), 4);
	layout->mtile_y = ALIGN(DIV_ROUND_UP(layout->tiles_y, ASAHI_SCENE_MTILES), 4);
	layout->mtile_tiles = layout->mtile_x * layout->mtile_y;
	layout->mtile_utiles_x = layout->mtile_x * utiles_x;
	layout->mtile_utiles_y = layout->mtile_y * utiles_y;
	mtile_utiles = layout->mtile_utiles_x * layout->mtile_utiles_y;

	layout->utile_config = cmd->utile_width_px / 16 << 12 | cmd->utile_height_px / 16 << 14 |
			       ilog2(cmd->samples);
	layout->tib_blocks = DIV_ROUND_UP(utile_bytes, ASAHI_SCENE_TIB_BLOCK);
	layout->region_words = ALIGN(ASAHI_SCENE_REGION_BYTES * mtile_utiles, 4) / 4;
	layout->tpc_words = ASAHI_SCENE_TPC_BYTES * mtile_utiles / 4;
}

static void asahi_scene_cluster(struct asahi_scene_layout *layout, const struct asahi_hw *hw,
				unsigned int clusters, const struct drm_asahi_cmd_render *cmd)
{
	u32 utiles = (ASAHI_SCENE_TILE / cmd->utile_width_px) *
		     (ASAHI_SCENE_TILE / cmd->utile_height_px);
	u32 span = ALIGN(layout->tiles_x, 2) * ALIGN(layout->tiles_y, 4) * utiles;

	layout->clusters = clusters > 1;
	layout->clustering = layout->clusters &&
			     !(cmd->flags & DRM_ASAHI_RENDER_NO_VERTEX_CLUSTERING);
	layout->min_blocks = ALIGN(DIV_ROUND_UP(layout->tiles_x * layout->tiles_y,
						ASAHI_SCENE_TILES_PER_BLOCK),
				   ASAHI_SCENE_MIN_BLOCKS_STEP);
	if (!layout->clustering)
		return;

	layout->min_blocks = max(layout->min_blocks, 7 + 2 * layout->layers);
	layout->meta1_stride = DIV_ROUND_UP(span, ASAHI_SCENE_META1_SPAN);
	layout->meta1_blocks = layout->meta1_stride;
	if (hw->gen != ASAHI_GEN_G14X)
		layout->meta1_blocks *= layout->layers;
}

static u64 asahi_scene_take(struct asahi_scene_layout *layout, u64 size)
{
	u64 offset = layout->size;

	layout->size = ALIGN(offset + size, ASAHI_SCENE_ALIGN);

	return offset;
}

static void asahi_scene_place_clusters(struct asahi_scene_layout *layout,
				       const struct asahi_hw_render *hw, u64 tilemap_size,
				       u64 layermeta_size)
{
	u64 size[ASAHI_SCENE_CLUSTER_META] = {
		(u64)layout->meta1_blocks * ASAHI_SCENE_META1_BLOCK,
		hw->cluster_meta[0], hw->cluster_meta[1], hw->cluster_meta[2],
	};
	u64 offset = layermeta_size * hw->cluster_splits;

	layout->cluster_tilemaps = asahi_scene_take(layout, tilemap_size * hw->cluster_splits);

	layout->cluster_layermeta = layout->size;
	for (unsigned int i = 0; i < ASAHI_SCENE_CLUSTER_META; i++) {
		layout->cluster_meta[i] = layout->size + offset;
		offset += ALIGN(size[i], ASAHI_SCENE_META_ALIGN);
	}
	asahi_scene_take(layout, offset);
}

static void asahi_scene_place(struct asahi_scene_layout *layout, const struct asahi_hw_render *hw,
			      unsigned int clusters)
{
	u64 mtiles = (u64)ASAHI_SCENE_MTILES * ASAHI_SCENE_MTILES * layout->layers;
	u64 tilemap_size = mtiles * layout->region_words * sizeof(u32);
	u64 layermeta_size = layout->layers > 1 ? ASAHI_SCENE_LAYERMETA : 0;
	unsigned int savers = clusters > 1 ? clusters + 1 : 1;
	u64 preempt_size = 0;

	layout->tpc_size = mtiles * layout->tpc_words * sizeof(u32) *
			   (layout->clustering ? clusters : 1);

	layout->user_buffer = asahi_scene_take(layout, clusters > 1 ?
					       ASAHI_SCENE_USER_BUFFER_CLUSTERS :
					       ASAHI_SCENE_USER_BUFFER);
	layout->heapmeta = asahi_scene_take(layout, ASAHI_SCENE_HEAPMETA + layermeta_size);
	layout->layermeta = layout->heapmeta + ASAHI_SCENE_HEAPMETA;
	layout->tilemap = asahi_scene_take(layout, tilemap_size);

	for (unsigned int i = 0; i < ASAHI_SCENE_PREEMPT; i++) {
		layout->preempt[i] = layout->size + preempt_size;
		preempt_size += (u64)hw->preempt_size[i] * savers;
	}
	asahi_scene_take(layout, preempt_size);

	layout->aux_fb = asahi_scene_take(layout, ASAHI_SCENE_AUX_FB);

	if (layout->clusters)
		asahi_scene_place_clusters(layout, hw, tilemap_size, layermeta_size);
}

/**
 * asahi_scene_measure() - find out what a render needs
 * @layout: gets it
 * @hw: constants of the SoC
 * @clusters: clusters that the GPU has
 * @cmd: render command, checked by asahi_render_check()
 *
 * Pure arithmetic, any context. No step overflows: dimensions are below 2^15,
 * layers and clusters below 2^12.
 *
 * Return: 0, or -ENOMEM if it needs more than ASAHI_SCENE_MAX_BYTES.
 */
int asahi_scene_measure(struct asahi_scene_layout *layout, const struct asahi_hw *hw,
			unsigned int clusters, const struct drm_asahi_cmd_render *cmd)
{
	*layout = (struct asahi_scene_layout) {};

	asahi_scene_divide(layout, cmd);
	asahi_scene_cluster(layout, hw, clusters, cmd);
	asahi_scene_place(layout, hw->render, clusters);

	if (layout->size > ASAHI_SCENE_MAX_BYTES || layout->tpc_size > ASAHI_SCENE_MAX_BYTES)
		return -ENOMEM;

	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_scene_measure);
