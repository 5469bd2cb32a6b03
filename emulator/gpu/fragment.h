/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the files of fragment work share. Cores take tiles of the job one by one, and draw the
 * primitives of a tile in order, their fragments in groups of quads. So the order within a tile
 * is kept, and among tiles there is none, as in hardware. A core has a worker, which its thread
 * alone uses; workers share the job and its draws.
 */
#ifndef VAGX_FRAGMENT_H
#define VAGX_FRAGMENT_H

#include "gpu/clones.h"
#include "gpu/gpu_internal.h"
#include "gpu/image.h"
#include "gpu/scene.h"
#include "gpu/stage.h"
#include "gpu/tvb.h"

/* Pixels of the largest tile: of a row, and all */
#define FRAGMENT_TILE_SIZE	32
#define FRAGMENT_TILE_PIXELS	(FRAGMENT_TILE_SIZE * FRAGMENT_TILE_SIZE)
#define FRAGMENT_MAX_PLANES	256
#define FRAGMENT_MAX_BINDINGS	127
/* Quads of a group, which one simdgroup shades */
#define FRAGMENT_QUADS		(VAGX_SIMD_WIDTH / 4)
/* Pixels of a block in x and y; masks of blocks have a bit for each pixel, row by row */
#define FRAGMENT_BLOCK		8

/**
 * struct zs_face - depth and stencil state of front faces or of back faces
 * @reference: stencil reference
 * @write_mask: stencil write mask
 * @read_mask: stencil read mask
 * @stencil_compare: stencil function, AGX_ZS_FUNC_*
 * @pass: stencil operation if both tests pass, AGX_STENCIL_OP_*
 * @depth_fail: stencil operation if the depth test fails
 * @stencil_fail: stencil operation if the stencil test fails
 * @depth_func: depth function, AGX_ZS_FUNC_*
 * @depth_write: depth is written if both tests pass
 * @stencil_test: the stencil test is enabled
 */
struct zs_face {
	uint8_t reference, write_mask, read_mask;
	unsigned int stencil_compare, pass, depth_fail, stencil_fail;
	unsigned int depth_func;
	bool depth_write, stencil_test;
};

/**
 * struct fragment_draw - a draw, unpacked, with its shader
 * @va: its address in the scene
 * @next: next draw of the hash bucket
 * @state: state of primitive processing
 * @face: its depth and stencil state, of front faces and of back faces
 * @uvs_words: words of a vertex
 * @shades: a fragment shader is to run
 * @launch: that shader
 * @bindings: bindings of varyings to coefficient registers
 * @num_bindings: number of these
 * @num_planes: number of coefficient registers
 * @scissor: scissor and depth range of each viewport
 * @bias: depth bias
 * @failure: why it cannot be drawn, if it cannot
 * @users: workers that draw it; protected by &fragment_job.lock
 *
 * All but @users and @next is read only once the draw is among the job's.
 */
struct fragment_draw {
	uint64_t va;
	struct fragment_draw *next;
	struct gpu_failure failure;
	unsigned int users;
	struct ppp_state state;
	struct zs_face face[2];
	unsigned int uvs_words;
	bool shades;
	struct vagx_launch launch;
	struct agx_cf_binding bindings[FRAGMENT_MAX_BINDINGS];
	unsigned int num_bindings;
	unsigned int num_planes;
	struct agx_scissor scissor[PPP_VIEWPORTS];
	struct agx_depth_bias bias;
};

/**
 * struct fragment_primitive - a primitive that is rasterised
 * @serial: number that differs among the primitives of a tile
 * @draw: its draw
 * @setup: its polygon in the window
 * @solver: what its plane equations share
 * @words: UVS words of its vertices
 * @id: primitive number, as shaders see it
 * @scissor: scissor and depth range of its viewport
 * @z: plane equation of the depth
 * @z_bias: depth bias, added to it
 */
struct fragment_primitive {
	uint64_t serial;
	struct fragment_draw *draw;
	struct setup setup;
	struct setup_solver solver;
	uint32_t words[3][VAGX_MAX_UVS_WORDS + 1];
	uint32_t id;
	const struct agx_scissor *scissor;
	struct setup_plane z;
	double z_bias;
};

/**
 * struct fragment_group - fragments that are gathered until a simdgroup is full
 * @fragments: the shader's input
 * @quads: number of quads
 * @primitives: number of primitives that they belong to
 * @serial: serial of the last one
 * @pixels: mask of the tile's pixels that are in the group, a word for each row
 * @draw: the draw of all of them
 * @planes: coefficient registers of each primitive
 * @primitive: for each quad the index of its primitive in the arrays below
 * @z: for each primitive the plane equation of the depth
 * @z_bias: for each primitive its depth bias
 * @back: for each primitive whether it is back-facing
 * @scissor: for each primitive its scissor and depth range
 */
struct fragment_group {
	struct vagx_fragments fragments;
	unsigned int quads;
	unsigned int primitives;
	uint64_t serial;
	uint32_t pixels[FRAGMENT_TILE_SIZE];
	struct fragment_draw *draw;
	struct vagx_plane planes[FRAGMENT_QUADS][FRAGMENT_MAX_PLANES];
	unsigned int primitive[FRAGMENT_QUADS];
	struct setup_plane z[FRAGMENT_QUADS];
	double z_bias[FRAGMENT_QUADS];
	bool back[FRAGMENT_QUADS];
	const struct agx_scissor *scissor[FRAGMENT_QUADS];
};

#define FRAGMENT_BUCKETS	64

struct fragment_worker;

/**
 * struct fragment_job - fragment work
 * @base: the job
 * @registers: the job's registers
 * @tvb: its scene, for the job's own thread
 * @all: tiles without a primitive are drawn, too
 * @background: program that fills a tile
 * @end_of_tile: program that writes a tile out
 * @zls: what is loaded and stored of depth and stencil
 * @zs_load: depth and stencil image to load; address 0 for none
 * @zs_store: depth and stencil image to store; address 0 for none
 * @quantise: depth has 16 bits
 * @failure: failure of the first tile that has failed; protected by the GPU's lock
 * @lock: protects @draws, @num_draws, and &fragment_draw.users
 * @draws: unpacked draws, hashed by their address
 * @num_draws: number of these
 * @worker: worker of each core, by its index; used by the core's thread alone
 *
 * The job's own thread writes what is before @failure, while no tile is drawn; workers read it.
 */
struct fragment_job {
	struct vagx_job *base;
	const struct vagx_fragment_registers *registers;
	struct tvb tvb;
	bool all;
	struct vagx_launch background;
	struct vagx_launch end_of_tile;
	struct agx_zls_control zls;
	struct vagx_image zs_load[2];
	struct vagx_image zs_store[2];
	bool quantise;
	struct gpu_failure failure;
	pthread_mutex_t lock;
	struct fragment_draw *draws[FRAGMENT_BUCKETS];
	unsigned int num_draws;
	struct fragment_worker *worker[VAGX_GPU_MAX_CORES];
};

/**
 * struct fragment_worker - state of a core that draws tiles
 * @job: fragment work
 * @core: the core
 * @tvb: the scene, translated by the core's TLB
 * @failure: details of the last -EFAULT
 * @failed: a depth test has failed with -EFAULT, within a shader
 * @tile: the tile that is drawn
 * @memory: its colour buffer
 * @written_bytes: bytes of @memory that programs may have written, in any tile; the rest is 0
 * @depth: depth of each sample
 * @stencil: stencil of each sample
 * @group: fragments that wait to be shaded
 * @primitive: the primitive that is drawn; holds a reference to its draw, if it has one
 */
struct fragment_worker {
	struct fragment_job *job;
	struct gpu_core *core;
	struct tvb tvb;
	struct gpu_failure failure;
	bool failed;
	struct vagx_tile tile;
	uint8_t memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];
	size_t written_bytes;
	float depth[FRAGMENT_TILE_PIXELS * VAGX_MAX_SAMPLES];
	uint8_t stencil[FRAGMENT_TILE_PIXELS * VAGX_MAX_SAMPLES];
	struct fragment_group group;
	struct fragment_primitive primitive;
};

/* Index of sample @s of pixel (x, y) of the tile, in depth and stencil */
static inline unsigned int fragment_sample(const struct fragment_worker *w, unsigned int x,
					   unsigned int y, unsigned int s)
{
	return (y * w->tile.width + x) * w->tile.samples + s;
}

/* All of them return 0, -EFAULT with a failure, or -ECANCELED */

/* fragment_memory.c */
/* Records a fault of a unit. Return: -EFAULT. */
int fragment_fault(struct fragment_worker *w, const struct vagx_uat_fault *fault,
		   unsigned int unit);
/* Notes how far a launch's programs may write to a tile, which has to be cleared as far then */
void fragment_mark_written(struct fragment_worker *w, const struct vagx_launch *launch);
/* Translates a client's address. Return: NULL, with a recorded fault. */
void *fragment_ptr(struct fragment_worker *w, uint64_t va, size_t bytes, enum vagx_access access,
		   unsigned int unit);

/* fragment_draw.c */
/* Makes the draw at an address the current one: finds or unpacks it, and takes a reference */
int fragment_use_draw(struct fragment_worker *w, uint64_t va);
/* Gives up the reference to the current draw */
void fragment_put_draw(struct fragment_worker *w);
/* Frees all draws without a reference. With the job's lock held, or without workers. */
void fragment_drop_draws(struct fragment_job *f);

/* raster.c: rasterises &fragment_worker.primitive into the tile */
int fragment_raster(struct fragment_worker *w);

/* shade.c */
/*
 * Tests and gathers the fragments of a block of pixels at (x, y) in the tile. @covered: a mask of
 * the covered pixels for each sample; at least one of all is set.
 */
int fragment_add_block(struct fragment_worker *w, unsigned int x, unsigned int y,
		       const uint64_t covered[VAGX_MAX_SAMPLES]);
/* Shades the fragments that wait */
int fragment_flush(struct fragment_worker *w);

/* zs.c */
/* Collects the depth and stencil state of front or back faces from the packets */
struct zs_face zs_unpack_face(const struct ppp_state *state, bool back);
/*
 * Tests samples of a pixel of the tile and counts them. @samples: mask of these; @depth: one for
 * each; @stencil: reference of the shader, or NULL. Return: the mask of those that passed. If the
 * counter faults, w->failed is set.
 */
unsigned int zs_test(struct fragment_worker *w, const struct fragment_draw *draw, bool back,
		     unsigned int x, unsigned int y, unsigned int samples, const float *depth,
		     const uint8_t *stencil);
/* Tests samples of a block of the primitive, and leaves those in @live that passed; counts none */
void zs_test_block(struct fragment_worker *w, unsigned int x, unsigned int y,
		   uint64_t live[VAGX_MAX_SAMPLES]);
/* Counts samples that have passed, a bit each. If the counter faults, w->failed is set. */
void zs_count(struct fragment_worker *w, const struct ppp_state *state, uint32_t passed);
/* Clamps a depth to the viewport's range, as it is tested and written */
float zs_clamp(float depth, const struct agx_scissor *scissor);
/* The depth of a primitive at sample @s of pixel (x, y) of the tile, biased and clamped */
float zs_depth(const struct fragment_worker *w, const struct setup_plane *z, double bias,
	       const struct agx_scissor *scissor, unsigned int x, unsigned int y, unsigned int s);

/* zs_plane.c */
/* Finds the images that the job loads and stores; @partials: partial renders of the scene so far */
int zs_init(struct fragment_job *f, enum vagx_fragment_mode mode, uint32_t partials);
/* Fills depth and stencil of a tile: from the images, or else with the background object's */
int zs_load_tile(struct fragment_worker *w);
/* Stores depth and stencil of a tile to the images, if there are any */
int zs_store_tile(struct fragment_worker *w);

#endif /* VAGX_FRAGMENT_H */
