// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Texture instructions: loads of texels, sampling, and writes of pixels. (mesa
 * src/asahi/compiler/agx_nir_lower_texture.c for what coordinates are made of)
 */
#include <errno.h>

#include "gpu/texture.h"

/* Operands */

uint32_t vagx_texture_word(struct simdgroup *sg, const struct agx_operand *o, unsigned int n,
			   unsigned int lane)
{
	struct agx_operand one = *o;
	struct lanes tmp;

	if (o->type == AGX_OPERAND_REG &&
	    o->value + (n + 1) * (o->size / 16) > sg->core->register_halves)
		return 0;
	one.value += n * (o->size / 16);
	return read_lanes(sg, &one, &tmp)[lane];
}

float vagx_texture_number(struct simdgroup *sg, const struct agx_operand *o, unsigned int n,
			  unsigned int lane)
{
	uint32_t bits = vagx_texture_word(sg, o, n, lane);

	return o->size == 16 ? float_from_half(bits) : bits_float(bits);
}

unsigned int vagx_texture_coordinates(unsigned int dim)
{
	switch (dim) {
	case AGX_DIM_1D:
	case AGX_DIM_1D_ARRAY:
		return 1;
	case AGX_DIM_3D:
	case AGX_DIM_CUBE:
	case AGX_DIM_CUBE_ARRAY:
		return 3;
	default:
		return 2;
	}
}

/* The last word has a sample and a layer, if there are both, else either */
static void last_word(struct texture *t, const struct agx_operand *coord, unsigned int lane,
		      uint32_t *layer, uint32_t *sample)
{
	uint32_t word;

	*layer = *sample = 0;
	if (t->dim == AGX_DIM_1D || t->dim == AGX_DIM_2D || t->dim == AGX_DIM_3D ||
	    t->dim == AGX_DIM_CUBE)
		return;
	word = vagx_texture_word(t->sg, coord, vagx_texture_coordinates(t->dim), lane);
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

/* Signed numbers of four bits */
static void set_offset(struct texture *t, uint32_t word)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		t->offset[i] = (int32_t)(word << (28 - 4 * i)) >> 28;
}

/* What a shader compares with is a float, and an offset that is there, too, is behind it */
static void read_extras(struct texture *t, unsigned int lane)
{
	const struct agx_operand *o = &t->op->src[5];
	uint32_t bits;

	if (o->type == AGX_OPERAND_NONE)
		return;
	if (!t->op->mod[AGX_MOD_SHADOW]) {
		set_offset(t, vagx_texture_word(t->sg, o, 0, lane));
		return;
	}
	bits = vagx_texture_word(t->sg, o, 0, lane);
	if (o->size == 16) {
		bits |= vagx_texture_word(t->sg, o, 1, lane) << 16;
		set_offset(t, vagx_texture_word(t->sg, o, 2, lane));
	}
	t->reference = bits_float(bits);
}

static void set_component(struct texture *t, unsigned int lane, unsigned int n, uint32_t bits)
{
	const struct agx_operand *o = &t->op->dst;
	unsigned int half = o->value + n * (o->size / 16), shift = half % 2 * 16;
	uint32_t *reg;

	if (half + o->size / 16 > t->sg->core->register_halves)
		return;
	reg = &t->sg->reg[half / 2].v[lane];
	if (o->size == 16)
		*reg = (*reg & ~(0xffffu << shift)) | (bits & 0xffff) << shift;
	else
		*reg = bits;
}

/*
 * To floats of 16 bits if they are floats. Behind the four channels, a shader that asks
 * is told whether pages were missing.
 */
static void set_result(struct texture *t, unsigned int lane, const uint32_t value[4],
		       bool floats)
{
	unsigned int mask = t->op->mod[AGX_MOD_MASK], i, n = 0;

	for (i = 0; i < 4; i++) {
		bool to_half = t->op->dst.size == 16 && floats;

		if (mask >> i & 1)
			set_component(t, lane, n++, to_half ?
				      half_from_float(bits_float(value[i])) : value[i]);
	}
	if (t->op->mod[AGX_MOD_SPARSE])
		set_component(t, lane, n, t->missing);
}

/* Where the answer about pages is if there are fewer channels is not known */
static bool supported(struct texture *t)
{
	if (!t->op->mod[AGX_MOD_SPARSE] || t->op->mod[AGX_MOD_MASK] == 0xf)
		return true;
	vagx_core_fail(t->sg, t->op, -EILSEQ, "residency with channels 0x%x is not supported",
		       t->op->mod[AGX_MOD_MASK]);
	return false;
}

/* Loads */

static void load_lane(struct texture *t, unsigned int lane)
{
	const struct agx_operand *coord = &t->op->src[3], *lod = &t->op->src[4];
	unsigned int n = vagx_texture_coordinates(t->dim);
	uint32_t value[4], layer, sample, level = 0;
	int64_t c[3] = { 0 };
	struct place at;
	unsigned int i;

	t->missing = false;
	if (!vagx_texture_find_image(t, lane))
		return;
	if (lod->type == AGX_OPERAND_REG || lod->type == AGX_OPERAND_UNIFORM)
		level = vagx_texture_word(t->sg, lod, 0, lane) & 0xffff;
	last_word(t, coord, lane, &layer, &sample);
	read_extras(t, lane);
	for (i = 0; i < n; i++)
		c[i] = (int64_t)(int32_t)vagx_texture_word(t->sg, coord, i, lane) + t->offset[i];
	at = (struct place){
		.x = c[0],
		.y = c[1],
		.z = n > 2 ? c[2] : (int64_t)layer,
		.sample = sample,
	};
	vagx_texture_read(t, &at, t->image->first_level + level, value);
	if (!texture_failed(t))
		set_result(t, lane, value, !vagx_image_is_integer(t->image));
}

void vagx_exec_texture_load(struct simdgroup *sg, const struct op *op)
{
	struct texture t = {
		.sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM],
		.cache = vagx_texture_cache(sg, op),
	};
	uint32_t left;

	if (!t.cache || !supported(&t))
		return;
	for (left = sg->exec; left && !texture_failed(&t); left &= left - 1)
		load_lane(&t, __builtin_ctz(left));
}

/* Sampling */

static struct spot find_spot(struct texture *t, unsigned int lane)
{
	const struct agx_operand *coord = &t->op->src[3];
	unsigned int n = vagx_texture_coordinates(t->dim), i;
	struct spot s = { { 0 }, 0 };
	uint32_t sample;
	double c[3] = { 0 };

	last_word(t, coord, lane, &s.layer, &sample);
	for (i = 0; i < n; i++)
		c[i] = vagx_texture_number(t->sg, coord, i, lane);
	if (texture_is_cube(t))
		s.layer = s.layer * CUBE_FACES + vagx_cube_project(c, s.at);
	else
		memcpy(s.at, c, sizeof(c));
	return s;
}

struct sampled {
	uint32_t bits[4];
	bool floats;
	bool missing;
};

static void sample_lane(struct texture *t, unsigned int lane, struct sampled *result)
{
	const unsigned int gather = t->op->mod[AGX_MOD_GATHER];
	float value[4] = { 0 };
	struct footprint f;
	struct spot s;

	t->missing = false;
	if (!vagx_texture_find_image(t, lane) || !vagx_texture_find_sampler(t, lane))
		return;
	s = find_spot(t, lane);
	read_extras(t, lane);
	result->floats = !vagx_image_is_integer(t->image);
	if (!vagx_texture_footprint(t, lane, &f))
		return;
	if (gather) {
		/* odd numbers, in the order of channels */
		vagx_texture_gather(t, &s, gather / 2 % 4, result->bits);
	} else if (t->op->mod[AGX_MOD_QUERY_LOD]) {
		result->bits[0] = float_bits(vagx_texture_level(t, f.lod));
		result->bits[1] = float_bits(f.unclamped);
		result->floats = true;
	} else {
		vagx_texture_sample(t, &s, &f, value);
		memcpy(result->bits, value, sizeof(value));
	}
	result->missing = t->missing;
}

/*
 * All lanes read before any is written to: results may take the place of the coordinates,
 * which the neighbours in a quad compare theirs with.
 */
void vagx_exec_texture_sample(struct simdgroup *sg, const struct op *op)
{
	struct texture t = {
		.sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM], .samples = true,
		.cache = vagx_texture_cache(sg, op),
	};
	struct sampled results[LANES] = { { { 0 }, false, false } };
	uint32_t left;

	if (!t.cache || !supported(&t))
		return;
	for (left = sg->exec; left && !texture_failed(&t); left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		sample_lane(&t, lane, &results[lane]);
	}
	for (left = sg->exec; left && !texture_failed(&t); left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		t.missing = results[lane].missing;
		set_result(&t, lane, results[lane].bits, results[lane].floats);
	}
}

/* Writes */

static bool find_target(struct texture *t, struct vagx_image *target, unsigned int *level,
			unsigned int lane)
{
	uint8_t last[VAGX_TEXTURE_BYTES];
	const char *why;

	memcpy(last, t->state, sizeof(last));
	if (!vagx_texture_read_state(t, &t->op->src[1], &t->op->src[2], lane))
		return false;
	if (t->image && !memcmp(last, t->state, sizeof(last))) {
		*level = t->level;
		return true;
	}
	if (vagx_image_from_pbe(target, level, t->state, &why) &&
	    !vagx_image_has_metadata(target, *level)) {
		t->level = *level;
		t->image = target;
		return true;
	}
	why = why ? why : "single pixels of a compressed image";
	vagx_core_fail(t->sg, t->op, -EILSEQ, "PBE: %s is not supported", why);
	return false;
}

static void write_lane(struct texture *t, struct vagx_image *target, unsigned int lane)
{
	const struct agx_operand *source = &t->op->src[0], *coord = &t->op->src[3];
	unsigned int n = vagx_texture_coordinates(t->dim), i;
	uint32_t value[4], layer, sample;
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];
	struct agx_texel at = { .x = 0 };
	void *p;

	if (!find_target(t, target, &at.level, lane))
		return;
	last_word(t, coord, lane, &layer, &sample);
	at.x = vagx_texture_word(t->sg, coord, 0, lane);
	at.y = n > 1 ? vagx_texture_word(t->sg, coord, 1, lane) : 0;
	at.layer = n > 2 ? vagx_texture_word(t->sg, coord, 2, lane) : layer;
	at.sample = sample;
	if (at.x >= t->image->layout.level[at.level].width ||
	    at.y >= t->image->layout.level[at.level].height ||
	    at.layer >= t->image->layout.layers || at.sample >= t->image->layout.samples)
		return;
	for (i = 0; i < 4; i++)
		value[i] = vagx_image_is_integer(t->image) ?
			   vagx_texture_word(t->sg, source, i, lane) :
			   float_bits(vagx_texture_number(t->sg, source, i, lane));
	vagx_image_encode_values(t->image, value, bits);
	p = (void *)(uintptr_t)vagx_texture_client(t, vagx_image_address(t->image, &at),
						   t->image->layout.element_bytes, VAGX_WRITE);
	if (p)
		memcpy(p, bits, t->image->layout.element_bytes);
}

/* What is outside vanishes */
void vagx_exec_image_write(struct simdgroup *sg, const struct op *op)
{
	struct texture t = { .sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM] };
	struct vagx_image target;
	uint32_t left;

	for (left = vagx_stage_storing(sg); left && !texture_failed(&t); left &= left - 1)
		write_lane(&t, &target, __builtin_ctz(left));
	vagx_texture_forget(sg->core);
}
