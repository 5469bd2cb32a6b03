/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Rendering as the firmware sees it, by tile-based deferred rendering: vertex work bins
 * primitives into the tiles that they touch, fragment work draws the tiles. Between the two,
 * vertices, primitives and lists are in pages of the tiled vertex buffer (TVB).
 */
#ifndef VAGX_RENDER_H
#define VAGX_RENDER_H

#include "gpu/gpu.h"

/** VAGX_TVB_PAGE_SIZE - bytes of a page of the tiled vertex buffer */
#define VAGX_TVB_PAGE_SIZE	0x8000
/** VAGX_RENDER_MAX_SIZE - bound on width and height */
#define VAGX_RENDER_MAX_SIZE	16384
/** VAGX_RENDER_MAX_LAYERS - bound on layers */
#define VAGX_RENDER_MAX_LAYERS	2048

/** struct vagx_render_geometry - size of the image; vertex and fragment work agree */
struct vagx_render_geometry {
	/** @width: pixels, 1 to VAGX_RENDER_MAX_SIZE */
	uint32_t width;
	/** @height: pixels, 1 to VAGX_RENDER_MAX_SIZE */
	uint32_t height;
	/** @layers: 1 to VAGX_RENDER_MAX_LAYERS */
	uint32_t layers;
	/** @samples: samples of a pixel: 1, 2, 4 */
	uint32_t samples;
	/** @utile_width: pixels of a tile: 16, 32 */
	uint32_t utile_width;
	/** @utile_height: pixels of a tile: 16, 32 */
	uint32_t utile_height;
};

/** struct vagx_render_shaders - registers for shaders of all stages, besides their USC words */
struct vagx_render_shaders {
	/** @usc_base: base of all 32-bit USC addresses */
	uint64_t usc_base;
	/** @sampler_base: bindless sampler heap */
	uint64_t sampler_base;
	/** @sampler_count: samplers in the heap */
	uint32_t sampler_count;
	/** @helper_program: tagged USC address of the helper; it need not run */
	uint32_t helper_program;
	/** @helper_cfg: further bits for the helper */
	uint32_t helper_cfg;
	/** @helper_data: argument that the helper reads */
	uint64_t helper_data;
};

/**
 * struct vagx_tvb_memory - addresses of a scene, in the client's address space
 *
 * All addresses are without the flags that registers have in their upper bits.
 * A macrotile is a 16th of the image, 4 by 4, of whole 32 by 32 tiles in both
 * directions, whose number is a multiple of four.
 */
struct vagx_tvb_memory {
	/**
	 * @tilemap: 5 bytes for each tile, macrotile by macrotile, each of
	 * those rounded up to 4 bytes, layer by layer. Written by vertex work.
	 */
	uint64_t tilemap;
	/**
	 * @tpc: tail pointer cache, 8 bytes for each tile, likewise. Vertex
	 * work's own; fragment work leaves it 0.
	 */
	uint64_t tpc;
	/** @heap_meta: 0x200 bytes, which lead to the pages in use */
	uint64_t heap_meta;
	/** @layer_meta: with more than one layer 0x100 bytes; else not used */
	uint64_t layer_meta;
};

/** struct vagx_vertex_registers - registers of vertex work */
struct vagx_vertex_registers {
	/** @vdm_base: first word of the vertex control stream */
	uint64_t vdm_base;
	/** @geometry: of the image */
	struct vagx_render_geometry geometry;
	/** @tvb: of the scene */
	struct vagx_tvb_memory tvb;
	/** @shaders: registers for shaders */
	struct vagx_render_shaders shaders;
	/** @ppp_control: 0x202 */
	uint32_t ppp_control;
	/**
	 * @ppp_multisample: a byte for each sample, the first one lowest: its position in a
	 * pixel in 16ths, x in the lower four bits
	 */
	uint64_t ppp_multisample;
};

/** struct vagx_tile_program - a program that is run for each tile */
struct vagx_tile_program {
	/** @usc: USC words, relative to the base; the 6 lowest bits don't count */
	uint32_t usc;
	/** @spec: what it has, a Shader counts packet */
	uint32_t spec;
};

/** struct vagx_zs_plane - a depth or stencil image */
struct vagx_zs_plane {
	/** @base: its first layer */
	uint64_t base;
	/** @stride: from layer to layer, as the register has it */
	uint64_t stride;
	/** @comp_base: compression metadata, 0 without */
	uint64_t comp_base;
	/** @comp_stride: of the metadata, as the register has it */
	uint64_t comp_stride;
};

/** struct vagx_zs_planes - one image for each use */
struct vagx_zs_planes {
	/** @load: loaded at the beginning of tiles */
	struct vagx_zs_plane load;
	/** @store: stored at the end of tiles */
	struct vagx_zs_plane store;
	/** @partial: stored by partial renders, and loaded by the next one */
	struct vagx_zs_plane partial;
};

/** struct vagx_fragment_registers - registers of fragment work */
struct vagx_fragment_registers {
	/** @geometry: size of the image, as for vertex work */
	struct vagx_render_geometry geometry;
	/** @tvb: the scene, as for vertex work */
	struct vagx_tvb_memory tvb;
	/** @shaders: registers for shaders */
	struct vagx_render_shaders shaders;
	/** @ppp_multisample: as vertex work's */
	uint64_t ppp_multisample;
	/** @scissor_base: array of scissor records */
	uint64_t scissor_base;
	/** @depth_bias_base: array of depth bias records */
	uint64_t depth_bias_base;
	/** @visibility_base: array of 64-bit occlusion results */
	uint64_t visibility_base;
	/** @background: program that fills a tile */
	struct vagx_tile_program background;
	/** @end_of_tile: program that writes a tile out */
	struct vagx_tile_program end_of_tile;
	/** @partial_background: program that fills a tile after a partial render */
	struct vagx_tile_program partial_background;
	/** @partial_end_of_tile: program that writes a tile out in a partial render */
	struct vagx_tile_program partial_end_of_tile;
	/** @isp_control: bit 18: constant depth biases are depths, not units of the last place */
	uint32_t isp_control;
	/** @isp_bgobjdepth: depth that tiles begin with, a float */
	uint32_t isp_bgobjdepth;
	/** @isp_bgobjvals: stencil that tiles begin with, in the lower 8 bits */
	uint32_t isp_bgobjvals;
	/** @zls_control: loads and stores of depth and stencil, and their formats */
	uint64_t zls_control;
	/** @partial_zls_control: zls_control for partial renders */
	uint64_t partial_zls_control;
	/** @zls_pixels: size of the depth and stencil images */
	uint32_t zls_pixels;
	/** @depth: depth images */
	struct vagx_zs_planes depth;
	/** @stencil: stencil images */
	struct vagx_zs_planes stencil;
	/** @sample_size: bytes of a sample in a tile */
	uint32_t sample_size;
	/** @process_empty_tiles: tiles without a primitive are drawn, too */
	bool process_empty_tiles;
};

/**
 * struct vagx_tvb_pages - the pages that the driver handed over
 *
 * Called by the thread that runs the job.
 */
struct vagx_tvb_pages {
	/**
	 * @take: address of a page of VAGX_TVB_PAGE_SIZE bytes that nothing
	 * uses, aligned to its size and below 2^39; 0 when none is left
	 */
	uint64_t (*take)(void *owner);
	/**
	 * @give: a page is used no more. The address comes from memory that
	 * the guest can write: it may be anything.
	 */
	void (*give)(void *owner, uint64_t page);
	/** @owner: first argument of both */
	void *owner;
};

/** enum vagx_fragment_mode - purpose of fragment work */
enum vagx_fragment_mode {
	/** @VAGX_FRAGMENT_FINAL: the last one of a render */
	VAGX_FRAGMENT_FINAL,
	/** @VAGX_FRAGMENT_PARTIAL: partial render: draws what is stored, to free its pages */
	VAGX_FRAGMENT_PARTIAL,
};

/**
 * vagx_job_vertex() - run vertex work, to its end or until pages are out
 * @job: new job, or one for which this has returned VAGX_GPU_OVERFLOW or
 *	 VAGX_GPU_STARVED
 * @registers: its registers; the same whenever it goes on
 * @pages: allocator of pages, which fragment work gives back
 * @fault: the first fault, valid when VAGX_GPU_FAULT is returned
 * @unit: code of the unit that it is reported for, valid likewise
 *
 * The first run empties the scene: the tilemap and the heap metadata. After work was cancelled or
 * has faulted, the caller takes the pages back.
 *
 * On VAGX_GPU_OVERFLOW all primitives that were read are in the pages: a
 * partial render (VAGX_FRAGMENT_PARTIAL) draws them and gives the pages back.
 * Calling again then goes on with the next primitive. On VAGX_GPU_STARVED all
 * pages are not enough for a single primitive; they have been given back, and
 * going on makes sense with more of them only.
 */
enum vagx_gpu_status vagx_job_vertex(struct vagx_job *job,
				     const struct vagx_vertex_registers *registers,
				     const struct vagx_tvb_pages *pages,
				     struct vagx_uat_fault *fault, unsigned int *unit);

/**
 * vagx_job_fragment() - run fragment work, to its end
 * @job: new job
 * @registers: its registers
 * @pages: takes the scene's pages back when they have been drawn
 * @mode: which programs begin and end a tile, together with whether there has
 *	  been a partial render of this scene
 * @fault: the first fault, valid when VAGX_GPU_FAULT is returned
 * @unit: code of the unit that it is reported for, valid likewise
 *
 * The scene is empty afterwards. A job that is cancelled or faults gives back
 * what it can find.
 */
enum vagx_gpu_status vagx_job_fragment(struct vagx_job *job,
				       const struct vagx_fragment_registers *registers,
				       const struct vagx_tvb_pages *pages,
				       enum vagx_fragment_mode mode,
				       struct vagx_uat_fault *fault, unsigned int *unit);

#endif /* VAGX_RENDER_H */
