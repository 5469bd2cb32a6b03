/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the files of texture instructions share: core_texture.c has the instructions,
 * texture_operand.h their operands, texture_state.c descriptors, texture_sample.c the
 * sampling of one lane, texture_lod.c levels of detail, texture_filter.c filters,
 * texture_cube.c the faces of cubes, texture_texel.c texels, texture_cache.c what a core
 * caches of them. texture_lanes.c and texture_lanes_*.c sample for all lanes at once where
 * the instruction and the image are usual ones.
 */
#ifndef VAGX_TEXTURE_H
#define VAGX_TEXTURE_H

#include "core_float.h"
#include "core_internal.h"
#include "agx_packets.h"
#include "gpu/image.h"
#include "gpu/texture_operand.h"

#define CUBE_FACES	6
/* Lanes of a quad: two rows of two pixels, whose differences are the gradients */
#define TEXTURE_QUAD	4
/* Weights of filters are multiples of 1/256 */
#define TEXTURE_WEIGHTS	256.0f

/*
 * The texel cache of a core, see texture_cache.c: direct-mapped, in blocks of 8 by 8 texels,
 * each with a valid bit. There are so many of RGBA8, and of four channels of 32 bits.
 */
#define TEXTURE_BLOCK_SIDE	8u
#define TEXTURE_BLOCK_TEXELS	(TEXTURE_BLOCK_SIDE * TEXTURE_BLOCK_SIDE)
#define TEXTURE_BLOCKS		256
/* Descriptors that are kept unpacked */
#define TEXTURE_IMAGES	8
#define TEXTURE_SAMPLERS	8
/*
 * The number, in a register, of the first sampler of the heap; lesser ones are state registers
 * (mesa src/gallium/drivers/asahi/agx_uniforms.c)
 */
#define TEXTURE_FIRST_OF_HEAP	28u

/* Four channels: bits of floats, or integers */
typedef uint32_t texel_bits __attribute__((vector_size(16)));
typedef float texel_floats __attribute__((vector_size(16)));

/*
 * A block of the texel cache: @tag names its image (0: the block is empty), @key its position
 * in the image; @valid has a bit for each texel that has been read, row by row.
 */
struct texture_block {
	uint64_t key;
	uint64_t tag;
	uint64_t valid;
};

/*
 * An unpacked image descriptor. @state is its key, together with @shadow (the instruction
 * compares depths). Blocks of the image are cached with @tag; an image gets a new tag when
 * @epoch is not the cache's any more, so that its old blocks miss.
 */
struct cached_image {
	uint8_t state[VAGX_TEXTURE_BYTES];
	bool shadow;
	bool used;
	uint64_t epoch;
	uint64_t tag;
	struct vagx_image image;
	/* of an RGBA8 image: the value of each of 256 bytes, for each channel */
	const float *unorm8[4];
};

struct cached_sampler {
	uint8_t bytes[VAGX_SAMPLER_BYTES];
	bool used;
	struct agx_sampler sampler;
};

struct texture_cache {
	struct texture_block byte_block[TEXTURE_BLOCKS];
	struct texture_block block[TEXTURE_BLOCKS];
	struct cached_image image[TEXTURE_IMAGES];
	/* index of the image that was found last, and of the one that is replaced next */
	unsigned int last;
	unsigned int next;
	struct cached_sampler sampler[TEXTURE_SAMPLERS];
	unsigned int next_sampler;
	/* serial of the launch in which texels were read; 0 for none */
	uint64_t serial;
	/* counts invalidations: by a barrier, a write of the core, another launch */
	uint64_t epoch;
	/* the last tag that was given out */
	uint64_t tags;
	/* what is above begins with 0, what is below holds anything */
	uint32_t bytes[TEXTURE_BLOCKS][TEXTURE_BLOCK_TEXELS];
	texel_bits texel[TEXTURE_BLOCKS][TEXTURE_BLOCK_TEXELS];
};

/*
 * The footprint of a pixel in the texture: the level of detail, and for an anisotropic filter
 * how many taps lie along the major axis of the ellipse, which spans @major_axis in texture
 * coordinates
 */
struct footprint {
	float lod;
	/* before it is clamped to the sampler's range, for queries of the level of detail */
	float unclamped;
	unsigned int taps;
	double major_axis[3];
};

/* A texture instruction of one simdgroup */
struct texture {
	struct simdgroup *sg;
	const struct op *op;
	unsigned int dim;
	/* the image, sampler and descriptor of the lane that is being executed */
	const struct vagx_image *image;
	/* the level to be written, of instructions that write */
	unsigned int level;
	struct agx_sampler sampler;
	uint8_t state[VAGX_TEXTURE_BYTES];
	/* the core's cache; NULL for instructions that write */
	struct texture_cache *cache;
	/* the sanitizer follows which lane reaches which texels */
	bool is_followed;
	unsigned int lane;
	/* the instruction samples, so it may use cached texels; loads do not */
	bool samples;
	/* texels of the image are cached, with this tag */
	bool cached;
	uint64_t tag;
	/* of an RGBA8 image: the value of each of 256 bytes, for each channel; else NULL */
	const float *const *unorm8;
	/* a fault is not reported: texture_lanes.c has the lane executed again by itself */
	bool speculative;
	/* indices of the last lane's descriptors: those of the next one are often the same */
	uint32_t image_index;
	uint32_t sampler_index;
	/* compression metadata that was read last, and texture_block_key() of its block */
	uint8_t codes[AGX_LAYOUT_CODES];
	uint64_t codes_key;
	/* the packet that @sampler was unpacked from */
	uint8_t sampler_bytes[VAGX_SAMPLER_BYTES];
	bool has_sampler;
	/* number of the quad whose footprint is known, counted from 1; 0 for none */
	unsigned int quad;
	struct footprint quad_footprint;
	/* custom border colour, as the sampler has it */
	uint32_t border[4];
	/* a sparse page that was read is not resident */
	bool missing;
	/* texel offset, -8 to 7 on each axis */
	int offset[3];
	/* depth that texels are compared with */
	float reference;
};

/*
 * Results of all lanes: four channels, and masks of the lanes whose channels are floats, and of
 * those that have read a page that is not resident
 */
struct texture_results {
	struct lanes channel[4];
	uint32_t floats;
	uint32_t missing;
};

/* A block whose bytes are being prefetched, and its index in the cache */
struct texture_prefetch {
	const uint8_t *bytes;
	unsigned int index;
};

/* Integer texel coordinates, which may be outside of the image; @z is the layer or the depth */
struct texel_coords {
	int64_t x, y, z;
	uint32_t sample;
};

/*
 * Texture coordinates, normalised to 0 to 1 or in texels, and the array layer. On a cube map
 * they are those of a face, and the layer is 6 times the cube plus the face.
 */
struct texcoord {
	double at[3];
	uint32_t layer;
};

/* Derivatives of the texture coordinates: per pixel to the right, and per pixel down */
struct gradient {
	double x[3], y[3];
};

static inline bool texture_failed(const struct texture *t)
{
	return t->sg->state == SIMDGROUP_FAILED;
}

static inline bool texture_is_3d(const struct texture *t)
{
	return t->dim == AGX_DIM_3D;
}

static inline bool texture_is_cube(const struct texture *t)
{
	return t->dim == AGX_DIM_CUBE || t->dim == AGX_DIM_CUBE_ARRAY;
}

/* Width, height or depth of a mip level, in texels */
static inline uint32_t texture_level_size(uint32_t size, unsigned int level)
{
	return size >> level ? size >> level : 1;
}

/* Depth of a mip level, or the number of layers if the image is no 3D one */
static inline uint32_t texture_level_depth(const struct texture *t, unsigned int level)
{
	const uint32_t layers = t->image->layout.layers;

	return texture_is_3d(t) ? texture_level_size(layers, level) : layers;
}

/*
 * The position of a texel's block in its image, as a number that is never 0: 11 bits of x and y
 * each, 20 of the layer, 4 of the level, and the sample
 */
static inline uint64_t texture_block_key(const struct agx_texel *at)
{
	return (at->x / TEXTURE_BLOCK_SIDE | (uint64_t)(at->y / TEXTURE_BLOCK_SIDE) << 11 |
		(uint64_t)at->layer << 22 | (uint64_t)at->level << 42 |
		(uint64_t)at->sample << 46) + 1;
}

/*
 * Hashes a texel's block to an index in the cache. Blocks of the same 16 by 16
 * neighbourhood never collide; levels, layers and images are spread by odd multiples.
 */
static inline unsigned int texture_cache_index(const struct texture *t, const struct agx_texel *at)
{
	return ((at->x / TEXTURE_BLOCK_SIDE & 15) + (at->y / TEXTURE_BLOCK_SIDE & 15) * 16 +
		(at->level & 1) * 136 + at->layer * 11 + (unsigned int)t->tag * 37) %
	       TEXTURE_BLOCKS;
}

static inline bool texture_block_hit(const struct texture *t,
				     const struct texture_block *block, uint64_t key)
{
	return block->tag == t->tag && block->key == key;
}

/* The number of a texel in its block, row by row */
static inline unsigned int texture_in_block(uint32_t x, uint32_t y)
{
	return y % TEXTURE_BLOCK_SIDE * TEXTURE_BLOCK_SIDE + x % TEXTURE_BLOCK_SIDE;
}

/* texture_texel.c; all texels have to be inside of the image */
/* Has the sanitizer note that the lane reads a texel; not in sparse images */
void vagx_texture_follow(struct texture *t, const struct agx_texel *at);
/* Reads and decodes a texel, past the cache. Return: false if it cannot be read. */
bool vagx_texture_read_texel(struct texture *t, const struct agx_texel *at, texel_bits *value);
/*
 * Moves @at to the texel of its compression block that has its value: another one in a block of
 * a single colour. Codes may be invalid, as Mesa makes compressed textures in memory that
 * something else has used, and loads tiles of them that it is about to draw over: texels are
 * undefined then, which is no fault (*@is_known is false). Return: whether codes could be read.
 */
bool vagx_texture_find_in_block(struct texture *t, struct agx_texel *at, bool *is_known);
/*
 * Read a texel into the cache: the bytes of an RGBA8 image, swizzled, or four decoded channels.
 * Return: the cached texel, or NULL if it cannot be read.
 */
const uint32_t *vagx_texture_read_bytes(struct texture *t, const struct agx_texel *at);
const texel_bits *vagx_texture_read_values(struct texture *t, const struct agx_texel *at);
/*
 * Prefetches the block of a texel of an RGBA8 image. Return: false if it is cached, or is not
 * contiguous in memory; else vagx_texture_read_prefetched() is to be called.
 */
bool vagx_texture_prefetch(struct texture *t, const struct agx_texel *at,
			   struct texture_prefetch *prefetch);
void vagx_texture_read_prefetched(struct texture *t, const struct texture_prefetch *prefetch);
/*
 * Reads all channels of a texel's block, of an image that is no RGBA8 one. Return: false if they
 * are not contiguous in memory, or cannot be read.
 */
bool vagx_texture_read_block(struct texture *t, const struct agx_texel *at);

/* The bytes of a texel of an RGBA8 image, swizzled, from the cache; NULL if it cannot be read */
static inline const uint32_t *texture_bytes(struct texture *t, const struct agx_texel *at)
{
	const unsigned int index = texture_cache_index(t, at);
	const unsigned int in = texture_in_block(at->x, at->y);
	const struct texture_block *block = &t->cache->byte_block[index];

	if (texture_block_hit(t, block, texture_block_key(at)) && block->valid >> in & 1)
		return &t->cache->bytes[index][in];
	return vagx_texture_read_bytes(t, at);
}

/* The four channels of a texel, from the cache; NULL if it cannot be read */
static inline const texel_bits *texture_values(struct texture *t, const struct agx_texel *at)
{
	const unsigned int index = texture_cache_index(t, at);
	const unsigned int in = texture_in_block(at->x, at->y);
	const struct texture_block *block = &t->cache->block[index];

	if (texture_block_hit(t, block, texture_block_key(at)) && block->valid >> in & 1)
		return &t->cache->texel[index][in];
	return vagx_texture_read_values(t, at);
}

/*
 * Reads the four channels of a texel, from the cache where there is one: not for sparse images,
 * as each lane is told of its pages. Return: false if it cannot be read.
 */
static inline bool texture_value(struct texture *t, const struct agx_texel *at,
				 texel_bits *value)
{
	const float *const *n = t->unorm8;
	const texel_bits *values;
	const uint32_t *bytes;
	texel_floats unorm8;

	if (t->is_followed)
		vagx_texture_follow(t, at);
	if (!t->cached)
		return vagx_texture_read_texel(t, at, value);
	if (n) {
		bytes = texture_bytes(t, at);
		if (!bytes)
			return false;
		unorm8 = (texel_floats){ n[0][*bytes & 0xff], n[1][*bytes >> 8 & 0xff],
					 n[2][*bytes >> 16 & 0xff], n[3][*bytes >> 24] };
		*value = (texel_bits)unorm8;
		return true;
	}
	values = texture_values(t, at);
	if (values)
		*value = *values;
	return values;
}

/* texture_sample.c */
/* The last coordinate's word: a sample in the low half and a layer in the high one, or either */
void vagx_texture_read_last_word(struct texture *t, const struct agx_operand *coord,
				 unsigned int lane, uint32_t *layer, uint32_t *sample);
/* The float that texels are compared with, and the texel offset behind it, if there are such */
void vagx_texture_read_extras(struct texture *t, unsigned int lane);
/* Samples for one lane; for all lanes, one after the other */
void vagx_texture_sample_lane(struct texture *t, unsigned int lane,
			      struct texture_results *results);
void vagx_texture_sample_each(struct texture *t, struct texture_results *results);

/*
 * texture_lanes.c: samples for all lanes at once. Return: false, with nothing done, if the
 * instruction or the image needs vagx_texture_sample_each().
 */
bool vagx_texture_sample_lanes(struct texture *t, struct texture_results *results);

/* texture_state.c */
/* Translates a client's address. Return: NULL, and the job has failed unless t->speculative. */
const void *vagx_texture_client(struct texture *t, uint64_t va, size_t bytes,
				enum vagx_access access);
/*
 * Reads a lane's image descriptor to t->state, from a state register or, if there is a heap,
 * from memory. Return: false if the job has failed, as all three.
 */
bool vagx_texture_read_state(struct texture *t, const struct agx_operand *heap,
			     const struct agx_operand *state, unsigned int lane);
/*
 * Unpacks the PBE packet of an image that is written, unless it is that of the core's last write,
 * as it mostly is. Return: the image, until the next write; NULL and @why if it is not supported.
 */
const struct vagx_image *vagx_texture_written_image(struct vagx_core *core, const uint8_t *state,
						    unsigned int *level, const char **why);
/* Find a lane's image and sampler, and what t caches of them */
bool vagx_texture_find_image(struct texture *t, unsigned int lane);
bool vagx_texture_find_sampler(struct texture *t, unsigned int lane);

/* texture_lod.c */
/* The level of detail where a pixel's step is so many texels of the first level */
float vagx_texture_lod(double texels);
/* Computes the footprint of a gradient that is so many texels long to the right, and down */
void vagx_texture_shape_footprint(const struct texture *t, const struct gradient *given,
				  double right, double down, struct footprint *f);
/*
 * Computes the footprint of a gradient, whose level of detail is not clamped yet. On a cube map
 * it is the gradient of the direction, at the direction that the lane samples.
 */
void vagx_texture_gradient_footprint(struct texture *t, unsigned int lane,
				     const struct gradient *given, struct footprint *f);
/* Computes the footprint of a lane. Return: false if the job has failed. */
bool vagx_texture_footprint(struct texture *t, unsigned int lane, struct footprint *f);
/* The mip level to be sampled, counted from the first one; fractions are between two levels */
float vagx_texture_level(const struct texture *t, float lod);

/* texture_filter.c */
/* Reads a texel; outside of the image it is 0, and false is returned */
bool vagx_texture_read(struct texture *t, const struct texel_coords *p, unsigned int level,
		       uint32_t value[4]);
/* Filters the texels of a footprint around a coordinate */
void vagx_texture_sample(struct texture *t, const struct texcoord *texcoord,
			 const struct footprint *f, float value[4]);
/* Gathers one channel of the four texels that a linear filter would weigh */
void vagx_texture_gather(struct texture *t, const struct texcoord *texcoord, unsigned int channel,
			 uint32_t value[4]);

/* texture_cache.c */
/* The core's cache, for the launch that runs; NULL without memory, and the job has failed */
struct texture_cache *vagx_texture_cache(struct simdgroup *sg, const struct op *op);
/*
 * Unpacks an image descriptor, or finds it in the cache. With @shadow all channels are the first
 * one, the depth. Return: the image, until another one is looked for; NULL and @why if it is
 * not supported.
 */
const struct cached_image *vagx_texture_cached_image(struct texture_cache *cache,
						     const uint8_t *state, bool shadow,
						     const char **why);

/* Unpacks a sampler, or finds it in the cache. Return: it, until another one is looked for. */
const struct agx_sampler *vagx_texture_cached_sampler(struct texture_cache *cache,
						      const uint8_t *bytes);

/* texture_cube.c */
/* Projects a direction to a face: its number, and coordinates on it from 0 to 1 */
unsigned int vagx_cube_project(const double direction[3], double at[2]);
/* The derivative of that projection along a change of the direction */
void vagx_cube_derive(const double direction[3], const double change[3], double at[2]);
/*
 * Moves a coordinate in the plane of a face, which may be beside the face, to the face that is
 * seen there. Return: its layer.
 */
uint32_t vagx_cube_fold(uint32_t layer, double at[2]);
/*
 * Moves a texel beside a face to the neighbouring face. Return: false for a texel beyond a
 * corner of the face, where there is none.
 */
bool vagx_cube_neighbour(struct texel_coords *p, uint32_t size);

#endif /* VAGX_TEXTURE_H */
