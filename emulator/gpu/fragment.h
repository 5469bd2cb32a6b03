/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the files of fragment work share. Tiles are shared out to the cores; a
 * core draws a tile at a time, primitive after primitive, fragments in groups of
 * quads. So the order within a tile is kept, and among tiles there is none, as
 * in hardware.
 */
#ifndef VAGX_FRAGMENT_H
#define VAGX_FRAGMENT_H

#include "gpu/clones.h"
#include "gpu/gpu_internal.h"
#include "gpu/image.h"
#include "gpu/scene.h"
#include "gpu/stage.h"
#include "gpu/tvb.h"

#define FRAGMENT_TILE_SIZE	32
#define FRAGMENT_TILE_PIXELS	(FRAGMENT_TILE_SIZE * FRAGMENT_TILE_SIZE)
#define FRAGMENT_MAX_PLANES	256
#define FRAGMENT_MAX_BINDINGS	127
#define FRAGMENT_QUADS		(VAGX_SIMD_WIDTH / 4)
/* Blocks of so many by so many pixels have a bit of a word for each, line by line */
#define FRAGMENT_BLOCK		8

/**
 * struct zs_face - how depth and stencil of one face are tested
 * @reference: of stencil
 * @write_mask: likewise
 * @read_mask: likewise
 * @stencil_compare: likewise
 * @pass: what becomes of stencil if all passes
 * @depth_fail: if depth does not pass
 * @stencil_fail: if stencil does not
 * @depth_func: of depth
 * @depth_write: depth that passes is kept
 * @stencil_test: there is a test of stencil
 */
struct zs_face {
	uint8_t reference, write_mask, read_mask;
	unsigned int stencil_compare, pass, depth_fail, stencil_fail;
	unsigned int depth_func;
	bool depth_write, stencil_test;
};

/**
 * struct fragment_draw - a draw, as its primitives need it
 * @va: where it is in the scene
 * @next: in its bucket
 * @state: state of primitive processing
 * @face: what of it is about depth and stencil, of fronts and of backs
 * @uvs_words: words of a vertex
 * @shades: it has a shader that is to run
 * @launch: that shader
 * @bindings: of its coefficient registers
 * @num_bindings: how many
 * @num_planes: coefficient registers
 * @scissor: for each viewport
 * @bias: depth bias
 * @failure: it cannot be drawn, and why
 * @users: workers that draw it; protected by the job's lock of draws
 *
 * Nothing else changes once it is among the job's draws.
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
 * struct fragment_primitive - a primitive, as its pixels need it
 * @serial: tells it from others of the tile
 * @draw: its draw
 * @setup: what it covers
 * @solver: what its planes have in common
 * @words: UVS words of its vertices
 * @id: its number
 * @scissor: that of its viewport
 * @z: depth over the window
 * @z_bias: what is added to it
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
 * struct fragment_group - fragments that wait for more of them
 * @fragments: what the shader gets
 * @quads: how many quads there are
 * @primitives: how many primitives they are of
 * @serial: of the last one
 * @pixels: a bit for each pixel of the tile that is among them, line by line
 * @draw: what all of them belong to
 * @planes: coefficient registers of each primitive
 * @primitive: of each quad: its place in what follows
 * @z: of each primitive: depth over the window
 * @z_bias: likewise
 * @back: likewise: it shows its back
 * @scissor: likewise
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
 * @registers: what it was told
 * @tvb: its scene as a whole
 * @all: tiles without a primitive are drawn, too
 * @background: fills a tile
 * @end_of_tile: writes it out
 * @zls: what is loaded and stored
 * @zs_load: images that depth and stencil come from; no address: they do not
 * @zs_store: where they go, likewise
 * @quantise: depth has 16 bits
 * @failure: the first tile's that has failed; kept with the GPU's lock
 * @lock: protects what follows
 * @draws: draws that have been looked at, by their address
 * @num_draws: how many
 * @worker: what each core works with, by its index; each is used by that core alone
 *
 * The job's own thread writes what is before @failure, and only while no tile is
 * drawn: workers read it.
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
 * struct fragment_worker - what a core draws tiles with
 * @job: for whom
 * @core: the core
 * @tvb: the scene, with the core's translations
 * @failure: why something has returned -EFAULT
 * @failed: a test has
 * @tile: the tile
 * @memory: colours of its samples
 * @reached: bytes of them that a program may have written, in any tile; behind them all is 0
 * @depth: of its samples
 * @stencil: likewise
 * @group: fragments that wait
 * @primitive: the primitive that is drawn; its draw is in use, if there is one
 */
struct fragment_worker {
	struct fragment_job *job;
	struct gpu_core *core;
	struct tvb tvb;
	struct gpu_failure failure;
	bool failed;
	struct vagx_tile tile;
	uint8_t memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];
	size_t reached;
	float depth[FRAGMENT_TILE_PIXELS * VAGX_MAX_SAMPLES];
	uint8_t stencil[FRAGMENT_TILE_PIXELS * VAGX_MAX_SAMPLES];
	struct fragment_group group;
	struct fragment_primitive primitive;
};

static inline unsigned int fragment_sample(const struct fragment_worker *w, unsigned int x,
					   unsigned int y, unsigned int s)
{
	return (y * w->tile.width + x) * w->tile.samples + s;
}

/* All of them return 0, -EFAULT with a failure, or -ECANCELED */

/* fragment_memory.c */
int fragment_fault(struct fragment_worker *w, const struct vagx_uat_fault *fault,
		   unsigned int unit);
/* Programs of a launch are going to store to tiles */
void fragment_reach(struct fragment_worker *w, const struct vagx_launch *launch);
/* Memory of the client; NULL with a fault */
void *fragment_ptr(struct fragment_worker *w, uint64_t va, size_t bytes, enum vagx_access access,
		   unsigned int unit);

/* fragment_draw.c */
/* The draw at an address becomes that of the worker's primitives */
int fragment_use_draw(struct fragment_worker *w, uint64_t va);
void fragment_leave_draw(struct fragment_worker *w);
void fragment_drop_draws(struct fragment_job *f);

/* raster.c: draws &fragment_worker.primitive into the tile */
int fragment_raster(struct fragment_worker *w);

/* shade.c */
/* A block in the tile, with the pixels that are covered for each sample, some at least */
int fragment_add_block(struct fragment_worker *w, unsigned int x, unsigned int y,
		       const uint64_t covered[VAGX_MAX_SAMPLES]);
/* Shades what waits */
int fragment_flush(struct fragment_worker *w);

/* zs.c */
/* Of one face, whichever packet it is in */
struct zs_face zs_find_face(const struct ppp_state *state, bool back);
/* Tests samples of a pixel of the tile; the ones that passed. A query can fail: &w->failed */
unsigned int zs_test(struct fragment_worker *w, const struct fragment_draw *draw, bool back,
		     unsigned int x, unsigned int y, unsigned int samples, const float *depth,
		     const uint8_t *stencil);
/* Tests samples of a block of the primitive, and leaves those that passed; nothing is counted */
void zs_test_block(struct fragment_worker *w, unsigned int x, unsigned int y,
		   uint64_t live[VAGX_MAX_SAMPLES]);
/* Counts samples that have passed, a bit each. That can fail: &w->failed */
void zs_count(struct fragment_worker *w, const struct ppp_state *state, uint32_t passed);
/* Depth as it is tested and written: in the range of the viewport, whoever it is from */
float zs_clamp(float depth, const struct agx_scissor *scissor);
/* The depth of a primitive at a sample */
float zs_depth(const struct fragment_worker *w, const struct setup_plane *z, double bias,
	       const struct agx_scissor *scissor, unsigned int x, unsigned int y, unsigned int s);

/* zs_plane.c */
int zs_init(struct fragment_job *f, enum vagx_fragment_mode mode, uint32_t partials);
int zs_load_tile(struct fragment_worker *w);
int zs_store_tile(struct fragment_worker *w);

#endif /* VAGX_FRAGMENT_H */
