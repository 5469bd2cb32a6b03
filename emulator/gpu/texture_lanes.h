/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Textures of all lanes at once: what texture_lanes.c and texture_lanes_*.c share for sampling,
 * and texture_lanes_texel.c gives to the instructions that load or write single texels.
 */
#ifndef VAGX_TEXTURE_LANES_H
#define VAGX_TEXTURE_LANES_H

#include "gpu/texture.h"

/* An axis of the image, x or y */
struct texture_axis {
	/* coordinates, as the shader gives them */
	float at[LANES];
	/* component of the footprint's major axis; 0 where there is one tap */
	double major_axis[LANES];
	/* texel offset */
	int32_t offset[LANES];
	/* width or height of level 0, in texels */
	uint32_t size;
	/* AGX_WRAP_* */
	unsigned int wrap;
};

/* All lanes of an instruction */
struct texture_lanes {
	struct texture *t;
	struct texture_axis x, y;
	uint32_t layer[LANES];
	/* mip level, and the weight of the next one: 0 to 255/256 */
	uint32_t level[LANES];
	float level_weight[LANES];
	uint32_t taps[LANES];
	unsigned int max_taps;
	/* the filter is linear, else nearest */
	bool linear;
	/* lanes that have another filter, or need the scalar path of texture_sample.c otherwise */
	uint32_t fallback;
};

/* Two neighbouring texels on an axis, and the weight of the second one */
struct texture_neighbours {
	int32_t at[2][LANES];
	float weight[LANES];
};

/* The four texels of a bilinear filter, in a mip level of each lane's */
struct texture_bilinear {
	uint32_t level[LANES];
	struct texture_neighbours x, y;
	/* weights of the texels, which are numbered by a bit of x and one of y */
	float weight[4][LANES];
};

/* For each texel of a bilinear filter: its number among all texels of the cache */
struct texture_places {
	uint32_t at[4][LANES];
};

/**
 * struct texel_lanes - a texel of each lane, all in one level of an image
 * @image: the image; neither sparse nor block-compressed
 * @level: mip level
 * @x: column
 * @y: row
 * @z: layer, or third coordinate
 * @sample: sample
 * @va: addresses
 * @host: where these are, of the lanes that have been found
 */
struct texel_lanes {
	const struct vagx_image *image;
	unsigned int level;
	struct lanes x, y, z, sample;
	uint64_t va[LANES];
	uint8_t *host[LANES];
};

/* Reads element @n of a vector of 16-bit or 32-bit floats, in all lanes */
static inline void texture_read_numbers(struct texture *t, const struct agx_operand *o,
					unsigned int n, float *number)
{
	struct lanes tmp;
	const uint32_t *word = texture_operand_lanes(t->sg, o, n, &tmp);
	unsigned int i;

	if (o->size == 16) {
		for (i = 0; i < LANES; i++)
			number[i] = float_from_half(word[i]);
	} else {
		memcpy(number, word, LANES * sizeof(*number));
	}
}

/* A mask of the lanes whose value is not 0 */
static inline uint32_t texture_nonzero_lanes(const uint32_t *value)
{
	uint32_t lanes = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		lanes |= value[i] ? lane_bits.v[i] : 0;
	return lanes;
}

/* texture_lanes_lod.c */
/* Whether these loops can compute the instruction's kind of level of detail */
bool vagx_texture_lanes_has_levels(const struct texture *t);
/* Computes mip levels, their weights, taps and major axes, and chooses the filter */
void vagx_texture_lanes_levels(struct texture_lanes *s);

/* texture_lanes_box.c */
/* Finds where texels are while their blocks are cached, of lanes without texels some place */
void vagx_texture_lanes_places(const struct texture_lanes *s,
			       const struct texture_bilinear *bilinear,
			       struct texture_places *places);
/*
 * Has the texels of those lanes cached that have the level and the layer of the first one, if
 * they are near each other. Return: a mask of these lanes; *@is_cached: whether they are.
 */
uint32_t vagx_texture_lanes_box(const struct texture_lanes *s,
				const struct texture_bilinear *bilinear, uint32_t lanes,
				bool *is_cached);

/* texture_lanes_filter.c */
/* Filters the texels of some lanes; those whose texels cannot be read join s->fallback */
void vagx_texture_lanes_filter(struct texture_lanes *s, const struct texture_bilinear *bilinear,
			       uint32_t lanes, struct lanes channel[4]);

/* texture_lanes_texel.c */
/* Reads the coordinates of all lanes, with layers and samples */
void vagx_texel_lanes_read(struct texture *t, struct texel_lanes *s);
/* Adds texel offsets, signed numbers of four bits, to so many coordinates */
void vagx_texel_lanes_move(struct texel_lanes *s, const uint32_t *offset, unsigned int count);
/* The lanes whose texels are inside of an image of that size, as a mask */
uint32_t vagx_texel_lanes_inside(const struct texel_lanes *s, uint32_t width, uint32_t height,
				 uint32_t depth);
/* Finds the texels of lanes in memory. Return: false if they have to be taken one by one. */
bool vagx_texel_lanes_find(struct texture *t, struct texel_lanes *s, uint32_t lanes,
			   enum vagx_access access);
/* Copies texels that have been found: to words, 0 in all other lanes; and from words, in order */
void vagx_texel_lanes_gather(const struct texel_lanes *s, uint32_t lanes, struct lanes word[4]);
void vagx_texel_lanes_scatter(const struct texel_lanes *s, uint32_t lanes,
			      const struct lanes word[4]);

#endif /* VAGX_TEXTURE_LANES_H */
