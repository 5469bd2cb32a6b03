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
/* Pixels that levels of detail are found for together */
#define TEXTURE_QUAD	4
/* Where filters have their weights: fractions of 1/256 */
#define TEXTURE_WEIGHTS	256.0f

/* Texels that a core remembers, see texture_cache.c: squares of so many in each direction */
#define TEXTURE_SIDE	8u
#define TEXTURE_SQUARE	(TEXTURE_SIDE * TEXTURE_SIDE)
#define TEXTURE_SQUARES	32
/* And those of images whose texels are bytes */
#define TEXTURE_BYTE_SQUARES	256
/* Images, and samplers */
#define TEXTURE_IMAGES	8
#define TEXTURE_SAMPLERS	8

/* Four channels: floats' bits, or integers */
typedef uint32_t texel_bits __attribute__((vector_size(16)));
typedef float texel_floats __attribute__((vector_size(16)));

/* Which square it is; a @tag is that of its image, 0 where there is none */
struct texture_square {
	uint64_t key;
	uint64_t tag;
	/* a bit for each texel that has been read, row after row */
	uint64_t there;
};

/* What a descriptor says, and what its texels are marked with since @epoch */
struct cached_image {
	uint8_t state[VAGX_TEXTURE_BYTES];
	bool shadow;
	bool used;
	uint64_t epoch;
	uint64_t tag;
	struct vagx_image image;
	/* if it has bytes */
	const float *numbers[4];
};

struct cached_sampler {
	uint8_t bytes[VAGX_SAMPLER_BYTES];
	bool used;
	struct agx_sampler sampler;
};

struct texture_cache {
	struct texture_square byte_square[TEXTURE_BYTE_SQUARES];
	struct texture_square square[TEXTURE_SQUARES];
	uint32_t bytes[TEXTURE_BYTE_SQUARES][TEXTURE_SQUARE];
	texel_bits texel[TEXTURE_SQUARES][TEXTURE_SQUARE];
	struct cached_image image[TEXTURE_IMAGES];
	/* which one was asked for last, and which one makes room next */
	unsigned int last;
	unsigned int next;
	struct cached_sampler sampler[TEXTURE_SAMPLERS];
	unsigned int next_sampler;
	/* of the launch that the texels were read in */
	uint64_t serial;
	/* texels of earlier ones are forgotten */
	uint64_t epoch;
	uint64_t tags;
};

/* What a pixel covers: so many taps of a level along a line, if it is anisotropic */
struct footprint {
	float lod;
	/* before the sampler's limits, for shaders that ask */
	float unclamped;
	unsigned int taps;
	double along[3];
};

/* A texture instruction of one simdgroup */
struct texture {
	struct simdgroup *sg;
	const struct op *op;
	unsigned int dim;
	/* of the lane that is looked at */
	const struct vagx_image *image;
	/* of it, that is written */
	unsigned int level;
	struct agx_sampler sampler;
	uint8_t state[VAGX_TEXTURE_BYTES];
	/* of instructions that read */
	struct texture_cache *cache;
	/* it samples, and texels of the image are remembered, with this mark */
	bool samples;
	bool remembers;
	uint64_t tag;
	/* what bytes mean in each channel, if texels are such */
	const float *const *numbers;
	/* what cannot be read does not fail the job: it will be tried again */
	bool tries;
	/* where the descriptors of the last lane were, if only those tell lanes apart */
	uint32_t image_index;
	uint32_t sampler_index;
	/* of the block of compression that was looked at last, and the key of its place */
	uint8_t codes[AGX_LAYOUT_CODES];
	uint64_t codes_key;
	/* what the sampler was unpacked from */
	uint8_t sampler_bytes[VAGX_SAMPLER_BYTES];
	bool has_sampler;
	/* what the pixels of a quad cover, if it has been found: its number, counted from 1 */
	unsigned int quad;
	struct footprint of_quad;
	/* of the sampler, if it has one of its own */
	uint32_t border[4];
	/* it has read pages that are not there */
	bool missing;
	/* texels that are added to where it samples */
	int offset[3];
	/* what texels are compared with, if the instruction compares */
	float reference;
};

/* What lanes have sampled: channels, and which lanes have floats, or missed a page */
struct texture_results {
	struct lanes channel[4];
	uint32_t floats;
	uint32_t missing;
};

/* A square of bytes that memory has been asked for, so as not to wait for one after the other */
struct texture_expected {
	const uint8_t *bytes;
	unsigned int place;
};

/* A texel to be read, which can be outside */
struct place {
	int64_t x, y, z;
	uint32_t sample;
};

/* Where a lane samples: coordinates of a cube are those of its face */
struct spot {
	double at[3];
	uint32_t layer;
};

/* How the coordinates of a pixel differ from those to its right, and below */
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

static inline uint32_t texture_level_size(uint32_t size, unsigned int level)
{
	return size >> level ? size >> level : 1;
}

static inline uint32_t texture_level_depth(const struct texture *t, unsigned int level)
{
	const uint32_t layers = t->image->layout.layers;

	return texture_is_3d(t) ? texture_level_size(layers, level) : layers;
}

/*
 * What tells a square from the others of its image, never 0: up to 14 bits of x and y, 20
 * of layers
 */
static inline uint64_t texture_square_key(const struct agx_texel *at)
{
	return (at->x / TEXTURE_SIDE | (uint64_t)(at->y / TEXTURE_SIDE) << 11 |
		(uint64_t)at->layer << 22 | (uint64_t)at->level << 42 |
		(uint64_t)at->sample << 46) + 1;
}

/* Neighbours have different places, and so have most squares of different images */
static inline unsigned int texture_place(const struct texture *t, const struct agx_texel *at)
{
	return (at->x / TEXTURE_SIDE & 15) + (at->y / TEXTURE_SIDE & 15) * 16 +
	       (at->level & 1) * 136 + at->layer * 11 + (unsigned int)t->tag * 37;
}

static inline bool texture_is_square(const struct texture *t,
				     const struct texture_square *square, uint64_t key)
{
	return square->tag == t->tag && square->key == key;
}

static inline unsigned int texture_in_square(uint32_t x, uint32_t y)
{
	return y % TEXTURE_SIDE * TEXTURE_SIDE + x % TEXTURE_SIDE;
}

/* texture_texel.c: a texel that is in the image; false if it is in no memory */
bool vagx_texture_read_texel(struct texture *t, const struct agx_texel *at, texel_bits *value);
/*
 * The same where an image is remembered: if its texels are bytes, the four that a shader
 * sees; else values. NULL if it is in no memory.
 */
const uint32_t *vagx_texture_read_bytes(struct texture *t, const struct agx_texel *at);
const texel_bits *vagx_texture_read_values(struct texture *t, const struct agx_texel *at);
/* Texels of one square that are to be read soon: false if they are there, or not together */
bool vagx_texture_expect(struct texture *t, const struct agx_texel *at,
			 struct texture_expected *expected);
void vagx_texture_read_expected(struct texture *t, const struct texture_expected *expected);

/* The same of texels that may have been read before */
static inline const uint32_t *texture_bytes(struct texture *t, const struct agx_texel *at)
{
	const unsigned int place = texture_place(t, at) % TEXTURE_BYTE_SQUARES;
	const unsigned int in = texture_in_square(at->x, at->y);
	const struct texture_square *square = &t->cache->byte_square[place];

	if (texture_is_square(t, square, texture_square_key(at)) && square->there >> in & 1)
		return &t->cache->bytes[place][in];
	return vagx_texture_read_bytes(t, at);
}

static inline const texel_bits *texture_values(struct texture *t, const struct agx_texel *at)
{
	const unsigned int place = texture_place(t, at) % TEXTURE_SQUARES;
	const unsigned int in = texture_in_square(at->x, at->y);
	const struct texture_square *square = &t->cache->square[place];

	if (texture_is_square(t, square, texture_square_key(at)) && square->there >> in & 1)
		return &t->cache->texel[place][in];
	return vagx_texture_read_values(t, at);
}

/* Of sparse images none is remembered: each lane is to hear of pages that are missing */
static inline bool texture_value(struct texture *t, const struct agx_texel *at,
				 texel_bits *value)
{
	const float *const *n = t->numbers;
	const texel_bits *values;
	const uint32_t *bytes;
	texel_floats numbers;

	if (!t->remembers)
		return vagx_texture_read_texel(t, at, value);
	if (n) {
		bytes = texture_bytes(t, at);
		if (!bytes)
			return false;
		numbers = (texel_floats){ n[0][*bytes & 0xff], n[1][*bytes >> 8 & 0xff],
					  n[2][*bytes >> 16 & 0xff], n[3][*bytes >> 24] };
		*value = (texel_bits)numbers;
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

/* texture_lanes.c: the same of all at once; false if that cannot be, and nothing is done */
bool vagx_texture_sample_lanes(struct texture *t, struct texture_results *results);

/* texture_state.c */
/* Memory of the client; NULL if the job has failed */
const void *vagx_texture_client(struct texture *t, uint64_t va, size_t bytes,
				enum vagx_access access);
/* Descriptors: in state registers, or in memory with an offset in a register */
bool vagx_texture_read_state(struct texture *t, const struct agx_operand *heap,
			     const struct agx_operand *state, unsigned int lane);
bool vagx_texture_find_image(struct texture *t, unsigned int lane);
bool vagx_texture_find_sampler(struct texture *t, unsigned int lane);

/* texture_lod.c */
/*
 * What a pixel covers: a level that is not limited yet, and taps. On a cube, a gradient is
 * one of directions, from where the lane looks.
 */
void vagx_texture_cover(struct texture *t, unsigned int lane, const struct gradient *given,
			struct footprint *f);
bool vagx_texture_footprint(struct texture *t, unsigned int lane, struct footprint *f);
/* The level that is sampled, counted from the first one, with what is between two levels */
float vagx_texture_level(const struct texture *t, float lod);

/* texture_filter.c */
/* Outside is nothing: false */
bool vagx_texture_read(struct texture *t, const struct place *p, unsigned int level,
		       uint32_t value[4]);
void vagx_texture_sample(struct texture *t, const struct spot *spot, const struct footprint *f,
			 float value[4]);
/* One channel of the four texels that a linear filter would weigh */
void vagx_texture_gather(struct texture *t, const struct spot *spot, unsigned int channel,
			 uint32_t value[4]);

/* texture_cache.c */
/* Of the launch that runs; NULL if there is no memory, and the job has failed */
struct texture_cache *vagx_texture_cache(struct simdgroup *sg, const struct op *op);
/*
 * What a descriptor says; of one that is compared with, all channels are the first. Until
 * another image is found in the cache. Return: NULL and why if it is not supported.
 */
const struct cached_image *vagx_texture_cached_image(struct texture_cache *cache,
						     const uint8_t *state, bool shadow,
						     const char **why);

/* What a sampler's bytes say, until another one is asked for */
const struct agx_sampler *vagx_texture_cached_sampler(struct texture_cache *cache,
						      const uint8_t *bytes);

/* texture_cube.c */
/* The face that a direction leads to, and where it does; from 0 to 1 */
unsigned int vagx_cube_project(const double direction[3], double at[2]);
/* How a position on a face changes with a direction */
void vagx_cube_derive(const double direction[3], const double change[3], double at[2]);
/* A place in a face's plane, which may be beside the face: what is seen there, of which layer */
uint32_t vagx_cube_fold(uint32_t layer, double at[2]);
/*
 * What a texel beside a face is on another one; a place's z is six times a layer and
 * the face. False beyond a corner, where there is none.
 */
bool vagx_cube_neighbour(struct place *p, uint32_t size);

#endif /* VAGX_TEXTURE_H */
