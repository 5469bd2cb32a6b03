// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Texture instructions: loads of texels, sampling, and writes of pixels (mesa
 * src/asahi/compiler/agx_nir_lower_texture.c encodes their coordinates). Runs on the thread of
 * the core that executes the instruction.
 */
#include <errno.h>

#include "gpu/texture.h"

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

void vagx_exec_texture_load(struct simdgroup *sg, const struct op *op)
{
	struct texture t = {
		.sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM],
		.cache = vagx_texture_cache(sg, op),
	};
	uint32_t left;

	if (!t.cache || !core_texture_supported(&t))
		return;
	for (left = sg->exec; left && !texture_failed(&t); left &= left - 1)
		core_texture_load_lane(&t, __builtin_ctz(left));
}

/* Sampling */

/* Writes element @n of the destination, in all active lanes */
static void core_texture_set_components(struct texture *t, unsigned int n, const uint32_t *bits)
{
	struct agx_operand one = t->op->dst;

	one.value += n * (one.size / 16);
	one.count = 1;
	if (one.value + one.size / 16u <= t->sg->core->register_halves)
		write_lanes(t->sg, &one, bits);
}

/* Converts a channel to halves in lanes whose results are floats */
static void core_texture_convert(const struct texture_results *results, unsigned int channel,
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

/*
 * All lanes are sampled before any result is written: results may overwrite the coordinates,
 * which the derivatives of a quad are computed from.
 */
void vagx_exec_texture_sample(struct simdgroup *sg, const struct op *op)
{
	struct texture t = {
		.sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM], .samples = true,
		.cache = vagx_texture_cache(sg, op),
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
static bool core_texture_find_target(struct texture *t, struct vagx_image *target,
				     unsigned int *level, unsigned int lane)
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

static void core_texture_write_lane(struct texture *t, struct vagx_image *target, unsigned int lane)
{
	const struct agx_operand *source = &t->op->src[0], *coord = &t->op->src[3];
	unsigned int n = texture_operand_coordinates(t->dim), i;
	uint32_t value[4], layer, sample;
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];
	struct agx_texel at = { .x = 0 };
	void *p;

	if (!core_texture_find_target(t, target, &at.level, lane))
		return;
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
	p = (void *)(uintptr_t)vagx_texture_client(t, vagx_image_address(t->image, &at),
						   t->image->layout.element_bytes, VAGX_WRITE);
	if (p)
		memcpy(p, bits, t->image->layout.element_bytes);
}

/* Writes to single pixels; those outside of the image are dropped, as those of helper lanes */
void vagx_exec_image_write(struct simdgroup *sg, const struct op *op)
{
	struct texture t = { .sg = sg, .op = op, .dim = op->mod[AGX_MOD_DIM] };
	struct vagx_image target;
	uint32_t left;

	for (left = vagx_stage_storing(sg); left && !texture_failed(&t); left &= left - 1)
		core_texture_write_lane(&t, &target, __builtin_ctz(left));
	vagx_texture_invalidate(sg->core);
}
