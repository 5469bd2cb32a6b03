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
 * struct fragment_entry - what the job's tables of states and draws have in common
 * @next: next one of the hash bucket
 * @hash: hash of its key
 * @users: references
 * @loaded: it is complete, and read only from now on
 * @failure: why nothing can be drawn with it, if so
 *
 * @next, @users and @loaded are protected by &fragment_job.lock.
 */
struct fragment_entry {
	struct fragment_entry *next;
	uint64_t hash;
	unsigned int users;
	bool loaded;
	struct gpu_failure failure;
};

/* The word of a PPP Fragment shader packet that is the address of the shader's USC words */
#define FRAGMENT_PIPELINE	1
/* Stands for any of these words in a state's key */
#define FRAGMENT_SOME_PIPELINE	64u

/**
 * struct fragment_state - state that draws share, unpacked: all but the shader's USC words
 * @entry: users are the draws that have it
 * @key: what vertex work has stored; the address of the shader's USC words is
 *	FRAGMENT_SOME_PIPELINE, or 0 if there is none
 * @ppp: state of primitive processing
 * @face: depth and stencil state, of front faces and of back faces
 * @uvs_words: words of a vertex
 * @shades: a fragment shader is to run
 * @bindings: bindings of varyings to coefficient registers
 * @num_bindings: number of these
 * @num_planes: number of coefficient registers
 * @scissor: scissor and depth range of each viewport
 * @bias: depth bias
 */
struct fragment_state {
	struct fragment_entry entry;
	struct scene_draw key;
	struct ppp_state ppp;
	struct zs_face face[2];
	unsigned int uvs_words;
	bool shades;
	struct agx_cf_binding bindings[FRAGMENT_MAX_BINDINGS];
	unsigned int num_bindings;
	unsigned int num_planes;
	struct agx_scissor scissor[PPP_VIEWPORTS];
	struct agx_depth_bias bias;
};

/**
 * struct fragment_draw - a state with a shader
 * @entry: users are the workers that draw it
 * @older: the draw that was last used before this one; protected by &fragment_job.lock
 * @newer: the draw that was first used after it; likewise
 * @state: its state; has a reference
 * @pipeline: the word of the state that has the address of the shader's USC words
 * @launch: its fragment shader, if the state shades
 */
struct fragment_draw {
	struct fragment_entry entry;
	struct fragment_draw *older, *newer;
	struct fragment_state *state;
	uint32_t pipeline;
	struct vagx_launch launch;
};

/**
 * struct fragment_primitive - a primitive that is rasterised
 * @serial: number of the primitive among those that the worker has drawn; one of two tiles has two
 * @draw: its draw
 * @draw_va: address of the draw in the scene; 0 for none
 * @number: of the draw in its job
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
	uint64_t draw_va;
	uint32_t number;
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
 * @made: serial of the primitive that the first of these were made for
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
	uint64_t made;
	unsigned int primitive[FRAGMENT_QUADS];
	struct setup_plane z[FRAGMENT_QUADS];
	double z_bias[FRAGMENT_QUADS];
	bool back[FRAGMENT_QUADS];
	const struct agx_scissor *scissor[FRAGMENT_QUADS];
};

/* Of the hash tables of states and draws */
#define FRAGMENT_STATE_BUCKETS	256
#define FRAGMENT_DRAW_BUCKETS	4096

/**
 * struct fragment_draws - the draws of a job, and their states
 * @state: states, hashed by their key
 * @draw: draws, hashed by state and shader
 * @count: number of draws
 * @oldest: the draw that was not used for longest
 * @newest: the draw that was used last
 * @spare: freed draws, linked by @older: memory that has been used
 */
struct fragment_draws {
	struct fragment_entry *state[FRAGMENT_STATE_BUCKETS];
	struct fragment_entry *draw[FRAGMENT_DRAW_BUCKETS];
	unsigned int count;
	struct fragment_draw *oldest, *newest;
	struct fragment_draw *spare;
};

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
 * @lock: protects @draws, and what they say
 * @is_loaded: a state or a draw has become complete
 * @draws: unpacked draws and states
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
	pthread_cond_t is_loaded;
	struct fragment_draws draws;
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
 * @reached_bytes: bytes of @memory that programs may reach, in any tile; they begin as garbage
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
	size_t reached_bytes;
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
/* Notes how far a launch's programs may reach into a tile, which is garbage as far at first */
void fragment_mark_reached(struct fragment_worker *w, const struct vagx_launch *launch);
/* Has a tile begin as garbage, from byte @from on */
void fragment_spoil_tile(struct fragment_worker *w, size_t from);
/* Translates a client's address. Return: NULL, with a recorded fault. */
void *fragment_ptr(struct fragment_worker *w, uint64_t va, size_t bytes, enum vagx_access access,
		   unsigned int unit);

/* fragment_draw.c */
/* Makes the draw at an address the current one: finds or unpacks it, and takes a reference */
int fragment_use_draw(struct fragment_worker *w, uint64_t va);
/* Gives up the reference to the current draw */
void fragment_put_draw(struct fragment_worker *w);
/* Frees all draws. Without workers. */
void fragment_drop_draws(struct fragment_job *f);
/* Reads from the client's memory, which a unit needs */
int fragment_read_client(struct fragment_worker *w, uint64_t va, void *buf, size_t len,
			 unsigned int unit);
/* Records what is not supported at an address. Return: -EFAULT. */
int fragment_unsupported(struct fragment_worker *w, uint64_t va, const char *packet,
			 const char *what);
/* Adds an entry that is being loaded to a bucket, with a reference. With the lock held. */
void fragment_entry_add(struct fragment_entry **bucket, struct fragment_entry *entry,
			uint64_t hash);
/* Completes an entry after @err, and keeps the worker's failure with it. Takes the lock. */
void fragment_entry_loaded(struct fragment_worker *w, struct fragment_entry *entry, int err);
/* Takes a reference to an entry, and waits until it is loaded. With the lock held. */
void fragment_entry_use(struct fragment_job *f, struct fragment_entry *entry);
/* Takes an entry out of its bucket, and frees what is in it. With the lock held. */
void fragment_entry_remove(struct fragment_entry **bucket, struct fragment_entry *entry);

/* fragment_state.c */
/*
 * Finds or unpacks the state of the draw at @va, whose words are @stored without the shader's
 * address, and takes a reference. @last: a state that may be the same, or NULL. With the lock
 * held, which is given up meanwhile. Return: NULL without memory.
 */
struct fragment_state *fragment_get_state(struct fragment_worker *w, uint64_t va,
					  const struct scene_draw *stored,
					  struct fragment_state *last);
/* Gives up a reference. With the lock held. */
void fragment_put_state(struct fragment_job *f, struct fragment_state *state);

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
unsigned int zs_test(struct fragment_worker *w, const struct fragment_state *state, bool back,
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
