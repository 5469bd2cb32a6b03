// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Registers of the vertex and fragment units for a render command, and its vertex buffer.
 *
 * The slot's memory for vertex buffers is divided for each render anew: metadata of heap and
 * layers, then the tilemap and the tail pointer cache, whose sizes follow from the image's
 * tiles, and pages in what is left. The free pages are a stack. The units take
 * pages and give them back in the job's thread, so that there is no lock.
 */
#include <stdlib.h>

#include "agx_packets.h"
#include "vagx_render.h"

#define MACROTILES	16
#define HEAP_META	0x4000
#define LAYER_META	0x4000
#define MIN_PAGES	4

/* The scene */

static uint64_t vagx_render_align(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

/*
 * Return: the tiles of a macrotile in one direction: a quarter of the image, rounded up to
 * multiples of four blocks of 32 pixels.
 */
static uint64_t vagx_render_macrotile(uint32_t pixels, unsigned int tile)
{
	uint64_t blocks = vagx_render_align(pixels, 32) / 32;

	return vagx_render_align((blocks + 3) / 4, 4) * (32 / tile);
}

bool shim_tvb_init(struct shim_tvb *tvb, const struct drm_asahi_cmd_render *cmd)
{
	uint64_t tiles = vagx_render_macrotile(cmd->width_px, cmd->utile_width_px) *
			 vagx_render_macrotile(cmd->height_px, cmd->utile_height_px);
	uint64_t tilemap = vagx_render_align(
		MACROTILES * vagx_render_align(tiles * 5, 4) * cmd->layers, 0x4000);
	uint64_t tpc = vagx_render_align(MACROTILES * tiles * 8 * cmd->layers, 0x4000);
	uint64_t used =
		vagx_render_align(HEAP_META + LAYER_META + tilemap + tpc, VAGX_TVB_PAGE_SIZE);
	uint64_t pages = used < tvb->size ? (tvb->size - used) / VAGX_TVB_PAGE_SIZE : 0;

	if (pages < MIN_PAGES)
		return false;
	if (tvb->most_pages && pages > tvb->most_pages)
		pages = tvb->most_pages;
	tvb->free = calloc(pages, sizeof(*tvb->free));
	if (!tvb->free)
		return false;
	tvb->memory = (struct vagx_tvb_memory){
		.heap_meta = tvb->va,
		.layer_meta = tvb->va + HEAP_META,
		.tilemap = tvb->va + HEAP_META + LAYER_META,
		.tpc = tvb->va + HEAP_META + LAYER_META + tilemap,
	};
	tvb->num_pages = pages;
	for (tvb->num_free = 0; tvb->num_free < pages; tvb->num_free++)
		tvb->free[tvb->num_free] = tvb->va + used + tvb->num_free * VAGX_TVB_PAGE_SIZE;
	return true;
}

void shim_tvb_fini(struct shim_tvb *tvb)
{
	free(tvb->free);
}

static uint64_t vagx_render_page_take(void *owner)
{
	struct shim_tvb *tvb = owner;

	return tvb->num_free ? tvb->free[--tvb->num_free] : 0;
}

/*
 * Takes a page back. Units read the address from memory that a program can write, so it is
 * ignored unless it is a page of this buffer and one is missing.
 */
static void vagx_render_page_give(void *owner, uint64_t page)
{
	struct shim_tvb *tvb = owner;

	if (page >= tvb->va && page - tvb->va < tvb->size && !(page % VAGX_TVB_PAGE_SIZE) &&
	    tvb->num_free < tvb->num_pages)
		tvb->free[tvb->num_free++] = page;
}

struct vagx_tvb_pages shim_tvb_pages(struct shim_tvb *tvb)
{
	return (struct vagx_tvb_pages){
		.take = vagx_render_page_take, .give = vagx_render_page_give, .owner = tvb};
}

/* Registers */

static struct vagx_render_geometry vagx_render_geometry(const struct drm_asahi_cmd_render *cmd)
{
	return (struct vagx_render_geometry){
		.width = cmd->width_px,
		.height = cmd->height_px,
		.layers = cmd->layers,
		.samples = cmd->samples,
		.utile_width = cmd->utile_width_px,
		.utile_height = cmd->utile_height_px,
	};
}

static struct vagx_render_shaders vagx_render_shaders(const struct drm_asahi_cmd_render *cmd,
						      const struct drm_asahi_helper_program *helper,
						      uint64_t usc_base)
{
	return (struct vagx_render_shaders){
		.usc_base = usc_base,
		.sampler_base = cmd->sampler_heap,
		.sampler_count = cmd->sampler_count,
		.helper_program = helper->binary,
		.helper_cfg = helper->cfg,
		.helper_data = helper->data,
	};
}

struct vagx_vertex_registers shim_vertex_registers(const struct drm_asahi_cmd_render *cmd,
						   const struct shim_tvb *tvb, uint64_t usc_base)
{
	return (struct vagx_vertex_registers){
		.vdm_base = cmd->vdm_ctrl_stream_base,
		.geometry = vagx_render_geometry(cmd),
		.tvb = tvb->memory,
		.shaders = vagx_render_shaders(cmd, &cmd->vertex_helper, usc_base),
		.ppp_control = cmd->ppp_ctrl,
		.ppp_multisample = cmd->ppp_multisamplectl,
	};
}

static struct vagx_tile_program vagx_render_program(const struct drm_asahi_bg_eot *bg_eot)
{
	return (struct vagx_tile_program){ .usc = bg_eot->usc, .spec = bg_eot->rsrc_spec };
}

static struct vagx_zs_planes vagx_render_planes(const struct drm_asahi_zls_buffer *buffer)
{
	const struct vagx_zs_plane plane = {
		.base = buffer->base,
		.stride = buffer->stride,
		.comp_base = buffer->comp_base,
		.comp_stride = buffer->comp_stride,
	};

	return (struct vagx_zs_planes){ .load = plane, .store = plane, .partial = plane };
}

/* Return: the control word for partial renders: they load again what they store. */
static uint64_t vagx_render_partial_zls_control(uint64_t zls_ctrl)
{
	struct agx_zls_control control;

	agx_packet_unpack(AGX_PACKET_zls_control, &zls_ctrl, &control, NULL);
	control.z_load = control.z_store;
	control.s_load = control.s_store;
	agx_packet_pack(AGX_PACKET_zls_control, &zls_ctrl, &control, NULL);
	return zls_ctrl;
}

struct vagx_fragment_registers shim_fragment_registers(const struct drm_asahi_cmd_render *cmd,
						       const struct shim_tvb *tvb,
						       uint64_t usc_base)
{
	return (struct vagx_fragment_registers){
		.geometry = vagx_render_geometry(cmd),
		.tvb = tvb->memory,
		.shaders = vagx_render_shaders(cmd, &cmd->fragment_helper, usc_base),
		.ppp_multisample = cmd->ppp_multisamplectl,
		.scissor_base = cmd->isp_scissor_base,
		.depth_bias_base = cmd->isp_dbias_base,
		.visibility_base = cmd->isp_oclqry_base,
		.background = vagx_render_program(&cmd->bg),
		.end_of_tile = vagx_render_program(&cmd->eot),
		.partial_background = vagx_render_program(&cmd->partial_bg),
		.partial_end_of_tile = vagx_render_program(&cmd->partial_eot),
		/* the bit in the register is the same as in the flags */
		.isp_control = cmd->flags & DRM_ASAHI_RENDER_DBIAS_IS_INT,
		.isp_bgobjdepth = cmd->isp_bgobjdepth,
		.isp_bgobjvals = cmd->isp_bgobjvals,
		.zls_control = cmd->zls_ctrl,
		.partial_zls_control = vagx_render_partial_zls_control(cmd->zls_ctrl),
		.zls_pixels = cmd->isp_zls_pixels,
		.depth = vagx_render_planes(&cmd->depth),
		.stencil = vagx_render_planes(&cmd->stencil),
		.sample_size = cmd->sample_size_B,
		.process_empty_tiles = cmd->flags & DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES,
	};
}
