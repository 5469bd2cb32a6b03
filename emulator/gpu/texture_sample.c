// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Sampling by one lane: operands are read, the footprint is found (texture_lod.c), the texels
 * are filtered (texture_filter.c). It is the path for whatever texture_lanes.c cannot do for
 * all lanes at once. Coordinates, layers and offsets are encoded as Mesa's
 * src/asahi/compiler/agx_nir_lower_texture.c makes them. Runs on the thread of the core that
 * executes the instruction.
 */
#include "gpu/texture.h"

void vagx_texture_read_last_word(struct texture *t, const struct agx_operand *coord,
				   unsigned int lane, uint32_t *layer, uint32_t *sample)
{
	uint32_t word;

	*layer = *sample = 0;
	if (t->dim == AGX_DIM_1D || t->dim == AGX_DIM_2D || t->dim == AGX_DIM_3D ||
	    t->dim == AGX_DIM_CUBE)
		return;
	word = texture_operand_word(t->sg, coord, texture_operand_coordinates(t->dim), lane);
	switch (t->dim) {
	case AGX_DIM_2D_MS_ARRAY:
		*sample = word & 0xffff;
		*layer = word >> 16;
		break;
	case AGX_DIM_2D_MS:
		*sample = word & 0xffff;
		break;
	case AGX_DIM_1D_ARRAY:
	case AGX_DIM_2D_ARRAY:
	case AGX_DIM_CUBE_ARRAY:
		*layer = word & 0xffff;
		break;
	default:
		break;
	}
}

/* Unpacks a texel offset: signed numbers of four bits for x, y and z */
static void texture_sample_set_offset(struct texture *t, uint32_t word)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		t->offset[i] = (int32_t)(word << (28 - 4 * i)) >> 28;
}

void vagx_texture_read_extras(struct texture *t, unsigned int lane)
{
	const struct agx_operand *o = &t->op->src[5];
	uint32_t bits;

	if (o->type == AGX_OPERAND_NONE)
		return;
	if (!t->op->mod[AGX_MOD_SHADOW]) {
		texture_sample_set_offset(t, texture_operand_word(t->sg, o, 0, lane));
		return;
	}
	bits = texture_operand_word(t->sg, o, 0, lane);
	if (o->size == 16) {
		bits |= texture_operand_word(t->sg, o, 1, lane) << 16;
		texture_sample_set_offset(t, texture_operand_word(t->sg, o, 2, lane));
	}
	t->reference = bits_float(bits);
}

/* Reads a lane's coordinates and layer, and projects a direction to a face of a cube map */
static struct texcoord texture_sample_read_coordinates(struct texture *t, unsigned int lane)
{
	const struct agx_operand *coord = &t->op->src[3];
	unsigned int n = texture_operand_coordinates(t->dim), i;
	const uint32_t last = t->image->layout.layers / CUBE_FACES - 1;
	struct texcoord s = { { 0 }, 0 };
	uint32_t sample;
	double c[3] = { 0 };

	vagx_texture_read_last_word(t, coord, lane, &s.layer, &sample);
	for (i = 0; i < n; i++)
		c[i] = texture_operand_float(t->sg, coord, i, lane);
	/* beyond the last cube it is the last one, with the face of the direction */
	if (texture_is_cube(t))
		s.layer = (s.layer < last ? s.layer : last) * CUBE_FACES +
			  vagx_cube_project(c, s.at);
	else
		memcpy(s.at, c, sizeof(c));
	return s;
}

void vagx_texture_sample_lane(struct texture *t, unsigned int lane,
			      struct texture_results *results)
{
	const unsigned int gather = t->op->mod[AGX_MOD_GATHER];
	uint32_t bits[4] = { 0 };
	float value[4];
	unsigned int i;
	struct footprint f;
	struct texcoord s;
	bool floats;

	t->lane = lane;
	t->missing = false;
	if (!vagx_texture_find_image(t, lane) || !vagx_texture_find_sampler(t, lane))
		return;
	s = texture_sample_read_coordinates(t, lane);
	vagx_texture_read_extras(t, lane);
	floats = !vagx_image_is_integer(t->image);
	if (!vagx_texture_footprint(t, lane, &f))
		return;
	if (gather) {
		/* odd numbers, in the order of channels */
		vagx_texture_gather(t, &s, gather / 2 % 4, bits);
	} else if (t->op->mod[AGX_MOD_QUERY_LOD]) {
		bits[0] = float_bits(vagx_texture_level(t, f.lod));
		bits[1] = float_bits(f.unclamped);
		floats = true;
	} else {
		vagx_texture_sample(t, &s, &f, value);
		memcpy(bits, value, sizeof(value));
	}
	for (i = 0; i < 4; i++)
		results->channel[i].v[lane] = bits[i];
	results->floats |= (uint32_t)floats << lane;
	results->missing |= (uint32_t)t->missing << lane;
}

void vagx_texture_sample_each(struct texture *t, struct texture_results *results)
{
	uint32_t left;

	for (left = t->sg->exec; left && !texture_failed(t); left &= left - 1)
		vagx_texture_sample_lane(t, __builtin_ctz(left), results);
}
