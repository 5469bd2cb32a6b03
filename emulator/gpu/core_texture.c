// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Texture instructions: loads of texels, sampling, and writes of pixels (mesa
 * src/asahi/compiler/agx_nir_lower_texture.c encodes their coordinates). Runs on the thread of
 * the core that executes the instruction.
 */
#include <errno.h>

#include "gpu/texture_lanes.h"

/* Writes element @n of the destination, in one lane; what the thread has no register for is lost */
static void core_texture_set_component(struct texture *t, unsigned int lane, unsigned int n,
				       uint32_t bits)
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
 * Writes the channels of the mask to consecutive registers, floats as halves if those have 16
 * bits. Behind them is, if the shader asks for it, whether pages were not resident.
 */
static void core_texture_set_result(struct texture *t, unsigned int lane, const uint32_t value[4],
				    bool floats)
{
	unsigned int mask = t->op->mod[AGX_MOD_MASK], i, n = 0;

	for (i = 0; i < 4; i++) {
		bool to_half = t->op->dst.size == 16 && floats;

		if (mask >> i & 1)
			core_texture_set_component(t, lane, n++,
						   to_half ? half_from_float(bits_float(value[i]))
							   : value[i]);
	}
	if (t->op->mod[AGX_MOD_SPARSE])
		core_texture_set_component(t, lane, n, t->missing);
}

/* Writes element @n of the destination, in all active lanes */
INLINE void core_texture_set_components(struct texture *t, unsigned int n, const uint32_t *bits)
{
	struct agx_operand one = t->op->dst;

	one.value += n * (one.size / 16);
	one.count = 1;
	if (one.value + one.size / 16u <= t->sg->core->register_halves)
		write_lanes(t->sg, &one, bits);
}

/* Converts a channel to halves in lanes whose results are floats */
INLINE void core_texture_convert(const struct texture_results *results, unsigned int channel,
				 struct lanes *bits)
{
	const uint32_t *value = results->channel[channel].v;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const uint32_t half = half_from_float(bits_float(value[i]));

		bits->v[i] = results->floats & lane_bits.v[i] ? half : value[i];
	}
}

/* As core_texture_set_result(), for all active lanes */
CLONES static void core_texture_set_results(struct texture *t,
					    const struct texture_results *results)
{
	unsigned int mask = t->op->mod[AGX_MOD_MASK], i, n = 0;
	struct lanes bits;

	for (i = 0; i < 4; i++) {
		if (!(mask >> i & 1))
			continue;
		if (t->op->dst.size != 16) {
			core_texture_set_components(t, n++, results->channel[i].v);
			continue;
		}
		core_texture_convert(results, i, &bits);
		core_texture_set_components(t, n++, bits.v);
	}
	if (!t->op->mod[AGX_MOD_SPARSE])
		return;
	for (i = 0; i < LANES; i++)
		bits.v[i] = (results->missing & lane_bits.v[i]) != 0;
	core_texture_set_components(t, n, bits.v);
}

/* Fails for what is unknown: the register of the residency where the mask has fewer channels */
static bool core_texture_supported(struct texture *t)
{
	if (!t->op->mod[AGX_MOD_SPARSE] || t->op->mod[AGX_MOD_MASK] == 0xf)
		return true;
	vagx_core_fail(t->sg, t->op, -EILSEQ, "residency with channels 0x%x is not supported",
		       t->op->mod[AGX_MOD_MASK]);
	return false;
}

/* Loads */

static void core_texture_load_lane(struct texture *t, unsigned int lane)
{
	const struct agx_operand *coord = &t->op->src[3], *lod = &t->op->src[4];
	unsigned int n = texture_operand_coordinates(t->dim);
	uint32_t value[4], layer, sample, level = 0;
	int64_t c[3] = { 0 };
	struct texel_coords at;
	unsigned int i;

	t->lane = lane;
	t->missing = false;
	if (!vagx_texture_find_image(t, lane))
		return;
	if (lod->type == AGX_OPERAND_REG || lod->type == AGX_OPERAND_UNIFORM)
		level = texture_operand_word(t->sg, lod, 0, lane) & 0xffff;
	vagx_texture_read_last_word(t, coord, lane, &layer, &sample);
	vagx_texture_read_extras(t, lane);
	for (i = 0; i < n; i++)
		c[i] = (int64_t)(int32_t)texture_operand_word(t->sg, coord, i, lane) + t->offset[i];
	at = (struct texel_coords){
		.x = c[0],
		.y = c[1],
		.z = n > 2 ? c[2] : (int64_t)layer,
		.sample = sample,
	};
	vagx_texture_read(t, &at, t->image->first_level + level, value);
	if (!texture_failed(t))
		core_texture_set_result(t, lane, value, !vagx_image_is_integer(t->image));
}

/* Whether all lanes may be loaded at once, as far as that is seen without the descriptor */
static bool core_texture_is_uniform_load(const struct texture *t)
{
	const struct agx_operand *src = t->op->src;

	return t->sg->exec && !t->op->mod[AGX_MOD_SHADOW] && !t->op->mod[AGX_MOD_SPARSE] &&
	       src[0].type != AGX_OPERAND_REG && texture_operand_agrees(t->sg, &src[1]) &&
	       texture_operand_agrees(t->sg, &src[4]);
}

/* The level of all lanes, counted from the image's first one */
static unsigned int core_texture_load_level(const struct texture *t)
{
	const struct agx_operand *lod = &t->op->src[4];
	const unsigned int first = __builtin_ctz(t->sg->exec);

	if (lod->type != AGX_OPERAND_REG && lod->type != AGX_OPERAND_UNIFORM)
		return 0;
	return texture_operand_word(t->sg, lod, 0, first) & 0xffff;
}

/* Reads the coordinates of a load. Return: a mask of the lanes that are inside of the image. */
static uint32_t core_texture_find_loaded(struct texture *t, struct texel_lanes *s)
{
	const struct agx_operand *offset = &t->op->src[5];
	const struct agx_layout *layout = &t->image->layout;
	struct lanes tmp;

	s->image = t->image;
	s->level = t->image->first_level + core_texture_load_level(t);
	if (s->level >= layout->levels)
		return 0;
	vagx_texel_lanes_read(t, s);
	if (offset->type != AGX_OPERAND_NONE)
		vagx_texel_lanes_move(s, texture_operand_lanes(t->sg, offset, 0, &tmp),
				      texture_operand_coordinates(t->dim));
	return t->sg->exec & vagx_texel_lanes_inside(s, texture_level_size(layout->width, s->level),
						     texture_level_size(layout->height, s->level),
						     texture_level_depth(t, s->level));
}

/* Results outside of the image are 0, whatever the swizzle says */
CLONES static void core_texture_clear_outside(struct lanes *channel, uint32_t inside)
{
	unsigned int i;

	for (i = 0; i < LANES; i++)
		channel->v[i] = inside & lane_bits.v[i] ? channel->v[i] : 0;
}

/* Has the sanitizer note that lanes reach texels, which have been found */
static void core_texture_follow(struct texture *t, const struct texel_lanes *s, uint32_t lanes,
				bool is_store)
{
	for (; t->is_followed && lanes; lanes &= lanes - 1) {
		const unsigned int lane = __builtin_ctz(lanes);

		t->sg->core->follow_texel(t->sg, t->op, lane, s->va[lane],
					  t->image->layout.element_bytes, is_store);
	}
}

/* Loads a texel in each lane. Return: false, with nothing done, if they have to take turns. */
static bool core_texture_load_lanes(struct texture *t)
{
	struct texture_results results = { .missing = 0 };
	struct texel_lanes s;
	struct lanes word[4];
	uint32_t inside;
	unsigned int i;

	if (!core_texture_is_uniform_load(t))
		return false;
	if (!vagx_texture_find_image(t, __builtin_ctz(t->sg->exec)))
		return true;
	if (t->image->sparse || t->image->block || t->image->nothing)
		return false;
	inside = core_texture_find_loaded(t, &s);
	if (!vagx_texel_lanes_find(t, &s, inside, VAGX_READ))
		return false;
	core_texture_follow(t, &s, inside, false);
	vagx_texel_lanes_gather(&s, inside, word);
	vagx_image_decode_lanes(t->image, word, results.channel);
	for (i = 0; i < 4 && ~inside; i++)
		core_texture_clear_outside(&results.channel[i], inside);
	results.floats = vagx_image_is_integer(t->image) ? 0 : ALL_LANES;
	core_texture_set_results(t, &results);
	return true;
}

void vagx_exec_texture_load(struct simdgroup *sg, const struct op *op)
{
	struct texture t = {
		.sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM],
		.cache = vagx_texture_cache(sg, op),
		.is_followed = sg->core->follow_texel,
	};
	uint32_t left;

	if (!t.cache || !core_texture_supported(&t) || core_texture_load_lanes(&t))
		return;
	for (left = sg->exec; left && !texture_failed(&t); left &= left - 1)
		core_texture_load_lane(&t, __builtin_ctz(left));
}

/* Sampling */

/*
 * All lanes are sampled before any result is written: results may overwrite the coordinates,
 * which the derivatives of a quad are computed from.
 */
void vagx_exec_texture_sample(struct simdgroup *sg, const struct op *op)
{
	struct texture t = {
		.sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM], .samples = true,
		.cache = vagx_texture_cache(sg, op),
		.is_followed = sg->core->follow_texel,
	};
	struct texture_results results = { .floats = 0 };

	if (!t.cache || !core_texture_supported(&t))
		return;
	if (!vagx_texture_sample_lanes(&t, &results))
		vagx_texture_sample_each(&t, &results);
	if (!texture_failed(&t))
		core_texture_set_results(&t, &results);
}

/* Writes */

/* Finds the image and the level that a lane writes to; the last lane's if they are the same */
static bool core_texture_find_target(struct texture *t, unsigned int lane)
{
	const char *why = NULL;

	if (!vagx_texture_read_state(t, &t->op->src[1], &t->op->src[2], lane))
		return false;
	t->image = vagx_texture_written_image(t->sg->core, t->state, &t->level, &why);
	if (t->image && !vagx_image_has_metadata(t->image, t->level))
		return true;
	why = why ? why : "single pixels of a compressed image";
	vagx_core_fail(t->sg, t->op, -EILSEQ, "PBE: %s is not supported", why);
	return false;
}

static void core_texture_write_lane(struct texture *t, unsigned int lane)
{
	const struct agx_operand *source = &t->op->src[0], *coord = &t->op->src[3];
	unsigned int n = texture_operand_coordinates(t->dim), i;
	uint32_t value[4], layer, sample;
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];
	struct agx_texel at = { .x = 0 };
	uint64_t va;
	void *p;

	if (!core_texture_find_target(t, lane))
		return;
	at.level = t->level;
	vagx_texture_read_last_word(t, coord, lane, &layer, &sample);
	at.x = texture_operand_word(t->sg, coord, 0, lane);
	at.y = n > 1 ? texture_operand_word(t->sg, coord, 1, lane) : 0;
	at.layer = n > 2 ? texture_operand_word(t->sg, coord, 2, lane) : layer;
	at.sample = sample;
	if (at.x >= t->image->layout.level[at.level].width ||
	    at.y >= t->image->layout.level[at.level].height ||
	    at.layer >= t->image->layout.layers || at.sample >= t->image->layout.samples)
		return;
	for (i = 0; i < 4; i++)
		value[i] = vagx_image_is_integer(t->image) ?
			   texture_operand_word(t->sg, source, i, lane) :
			   float_bits(texture_operand_float(t->sg, source, i, lane));
	vagx_image_encode_values(t->image, value, bits);
	va = vagx_image_address(t->image, &at);
	if (t->is_followed)
		t->sg->core->follow_texel(t->sg, t->op, lane, va,
					  t->image->layout.element_bytes, true);
	p = (void *)(uintptr_t)vagx_texture_client(t, va, t->image->layout.element_bytes,
						   VAGX_WRITE);
	if (p)
		memcpy(p, bits, t->image->layout.element_bytes);
}

/* The colours of all lanes, as vagx_image_encode_lanes() takes them */
CLONES static void core_texture_read_colours(struct texture *t, struct lanes value[4])
{
	const struct agx_operand *source = &t->op->src[0];
	const bool halves = source->size == 16 && !vagx_image_is_integer(t->image);
	unsigned int n, i;

	for (n = 0; n < 4; n++) {
		struct lanes tmp;
		const uint32_t *word = texture_operand_lanes(t->sg, source, n, &tmp);

		for (i = 0; !halves && i < LANES; i++)
			value[n].v[i] = word[i];
		for (i = 0; halves && i < LANES; i++)
			value[n].v[i] = float_bits(float_from_half(word[i]));
	}
}

/* Writes a pixel in each lane. Return: false, with nothing done, if they have to take turns. */
static bool core_texture_write_lanes(struct texture *t, uint32_t lanes)
{
	struct lanes value[4], word[4];
	const struct agx_layout *layout;
	struct texel_lanes s;

	if (!lanes || t->op->src[1].type == AGX_OPERAND_REG ||
	    !texture_operand_agrees(t->sg, &t->op->src[2]))
		return false;
	if (!core_texture_find_target(t, __builtin_ctz(lanes)))
		return true;
	layout = &t->image->layout;
	s.image = t->image;
	s.level = t->level;
	vagx_texel_lanes_read(t, &s);
	lanes &= vagx_texel_lanes_inside(&s, layout->level[s.level].width,
					 layout->level[s.level].height, layout->layers);
	if (!vagx_texel_lanes_find(t, &s, lanes, VAGX_WRITE))
		return false;
	core_texture_follow(t, &s, lanes, true);
	core_texture_read_colours(t, value);
	vagx_image_encode_lanes(t->image, value, word);
	vagx_texel_lanes_scatter(&s, lanes, word);
	return true;
}

/* Writes to single pixels; those outside of the image are dropped, as those of helper lanes */
void vagx_exec_image_write(struct simdgroup *sg, const struct op *op)
{
	struct texture t = {
		.sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM],
		.is_followed = sg->core->follow_texel,
	};
	uint32_t left = vagx_stage_storing(sg);

	if (core_texture_write_lanes(&t, left))
		left = 0;
	for (; left && !texture_failed(&t); left &= left - 1)
		core_texture_write_lane(&t, __builtin_ctz(left));
	vagx_texture_invalidate(sg->core);
}
