/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the files share that sample all lanes at once, see texture_lanes.c.
 */
#ifndef VAGX_TEXTURE_LANES_H
#define VAGX_TEXTURE_LANES_H

#include "gpu/texture.h"

/* A direction of the image: coordinates in it */
struct texture_axis {
	float at[LANES];
	/* what taps are displaced along; 0 where there is one */
	double along[LANES];
	/* in texels */
	int32_t offset[LANES];
	/* texels of level 0 */
	uint32_t size;
	/* AGX_WRAP_* */
	unsigned int wrap;
};

/* All lanes of an instruction */
struct texture_lanes {
	struct texture *t;
	struct texture_axis x, y;
	uint32_t layer[LANES];
	/* levels, and how much of the next one is between the two: 0 to 255/256 */
	uint32_t level[LANES];
	float part[LANES];
	uint32_t taps[LANES];
	unsigned int most_taps;
	/* the filter is a linear one */
	bool linear;
	/* lanes that have another filter, or need something else of texture_filter.c */
	uint32_t others;
};

/* Texels beside each other in one direction, and how much the second one weighs */
struct texture_neighbours {
	int32_t at[2][LANES];
	float weight[LANES];
};

/* What is read of a level, which may be another one for each lane */
struct texture_corners {
	uint32_t level[LANES];
	struct texture_neighbours x, y;
	/* how much texels weigh, by bits of x and y */
	float part[4][LANES];
};

/* Numbers that are operands, one after the other */
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

/* Lanes where there is something */
static inline uint32_t texture_lanes_of(const uint32_t *value)
{
	uint32_t lanes = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		lanes |= value[i] ? lane_bits.v[i] : 0;
	return lanes;
}

/* texture_lanes_lod.c */
/* Whether it is known how the instruction gives levels of detail */
bool vagx_texture_lanes_has_levels(const struct texture *t);
/* Levels, taps, and the filter */
void vagx_texture_lanes_levels(struct texture_lanes *s);

/* texture_lanes_filter.c */
/* Of some lanes: four channels. Lanes whose texels cannot be read become others. */
void vagx_texture_lanes_filter(struct texture_lanes *s, const struct texture_corners *corners,
			       uint32_t lanes, struct lanes channel[4]);

#endif /* VAGX_TEXTURE_LANES_H */
