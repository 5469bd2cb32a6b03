/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the files of texture instructions share: core_texture.c has the
 * instructions and their operands, texture_state.c descriptors, texture_lod.c
 * levels of detail, texture_filter.c filters, texture_cube.c the faces of cubes,
 * texture_texel.c texels, texture_cache.c what a core remembers of them.
 */
#ifndef VAGX_TEXTURE_H
#define VAGX_TEXTURE_H

#include "core_float.h"
#include "core_internal.h"
#include "agx_packets.h"
#include "gpu/image.h"

#define CUBE_FACES	6

/* Texels that a core remembers, see texture_cache.c: 32 by 32 of each of two levels */
#define TEXTURE_TEXELS	2048
/* And images */
#define TEXTURE_IMAGES	8

/* Four channels: floats' bits, or integers */
typedef uint32_t texel_bits __attribute__((vector_size(16)));
typedef float texel_floats __attribute__((vector_size(16)));

/* A texel that has been read; a @tag is that of its image, 0 where there is none */
struct cached_texel {
	texel_bits value;
	uint64_t key;
	uint64_t tag;
};

/* What a descriptor says, and what its texels are marked with since @epoch */
struct cached_image {
	uint8_t state[VAGX_TEXTURE_BYTES];
	bool shadow;
	bool used;
	uint64_t epoch;
	uint64_t tag;
	struct vagx_image image;
};

struct texture_cache {
	struct cached_texel texel[TEXTURE_TEXELS];
	struct cached_image image[TEXTURE_IMAGES];
	/* which one was asked for last, and which one makes room next */
	unsigned int last;
	unsigned int next;
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
 * What tells a texel from the others of its image, never 0: up to 14 bits of x and y, 20
 * of layers
 */
static inline uint64_t texture_key(const struct agx_texel *at)
{
	return (at->x | (uint64_t)at->y << 14 | (uint64_t)at->layer << 28 |
		(uint64_t)at->level << 48 | (uint64_t)at->sample << 56) + 1;
}

/* Neighbours have different places, and so have most texels of different images */
static inline struct cached_texel *texture_place(struct texture *t, const struct agx_texel *at)
{
	unsigned int place = (at->x & 31) | (at->y & 31) << 5 | (at->level & 1) << 10;

	place += (unsigned int)t->tag * 677 + at->layer * 89;
	return &t->cache->texel[place % TEXTURE_TEXELS];
}

/* texture_texel.c: a texel that is in the image; false if it is in no memory */
bool vagx_texture_read_value(struct texture *t, const struct agx_texel *at, texel_bits *value);

/* The same of one that may have been read before */
static inline bool texture_value(struct texture *t, const struct agx_texel *at,
				 texel_bits *value)
{
	const struct cached_texel *cached = texture_place(t, at);

	if (!t->remembers || cached->tag != t->tag || cached->key != texture_key(at))
		return vagx_texture_read_value(t, at, value);
	*value = cached->value;
	return true;
}

/* core_texture.c: the operands of one lane; of a vector, or of one number after the other */
uint32_t vagx_texture_word(struct simdgroup *sg, const struct agx_operand *o, unsigned int n,
			   unsigned int lane);
float vagx_texture_number(struct simdgroup *sg, const struct agx_operand *o, unsigned int n,
			  unsigned int lane);
/* How many coordinates there are before the last word, of layer and sample */
unsigned int vagx_texture_coordinates(unsigned int dim);

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

/* texture_cube.c */
/* The face that a direction leads to, and where it does; from 0 to 1 */
unsigned int vagx_cube_project(const double direction[3], double at[2]);
/* How a position on a face changes with a direction */
void vagx_cube_derive(const double direction[3], const double change[3], double at[2]);
/*
 * What a texel beside a face is on another one; a place's z is six times a layer and
 * the face. False beyond a corner, where there is none.
 */
bool vagx_cube_neighbour(struct place *p, uint32_t size);

#endif /* VAGX_TEXTURE_H */
