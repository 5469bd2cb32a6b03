// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Texture and sampler descriptors: finds a lane's, in state registers or in memory (bindless),
 * and has them unpacked. Preshaders load state registers. Runs on the thread of the core that
 * executes the instruction.
 */
#include <errno.h>

#include "gpu/texture.h"

const void *vagx_texture_client(struct texture *t, uint64_t va, size_t bytes,
				enum vagx_access access)
{
	struct vagx_core *core = t->sg->core;
	const void *p = vagx_tlb_ptr(core->config.tlb, va, bytes, access, &core->fault);

	if (!p && !t->speculative)
		vagx_core_fail(t->sg, t->op, -EFAULT, "texture memory at 0x%llx",
			       (unsigned long long)va);
	return p;
}

bool vagx_texture_read_state(struct texture *t, const struct agx_operand *heap,
			     const struct agx_operand *state, unsigned int lane)
{
	uint32_t index = texture_operand_word(t->sg, state, 0, lane);
	struct wide_lanes base;
	const uint8_t *p;

	if (heap->type == AGX_OPERAND_NONE) {
		if (index >= VAGX_CORE_TEXTURES) {
			vagx_core_fail(t->sg, t->op, -ERANGE, "texture state %u", index);
			return false;
		}
		memcpy(t->state, t->sg->core->launch->textures[index], sizeof(t->state));
		return true;
	}
	read_wide_lanes(t->sg, heap, &base);
	/* 24 bytes can lie in two pages: they are multiples of 8 */
	for (unsigned int i = 0; i < 3; i++) {
		p = vagx_texture_client(t, (base.v[lane] + index + 8 * i) & ~7ULL, 8, VAGX_READ);
		if (!p)
			return false;
		memcpy(t->state + 8 * i, p, 8);
	}
	return true;
}

const struct vagx_image *vagx_texture_written_image(struct vagx_core *core, const uint8_t *state,
						    unsigned int *level, const char **why)
{
	struct written_image *last = &core->written;

	if (!last->is_valid || memcmp(last->state, state, sizeof(last->state))) {
		last->is_valid = vagx_image_from_pbe(&last->image, &last->level, state, why);
		memcpy(last->state, state, sizeof(last->state));
	}
	*level = last->level;
	return last->is_valid ? &last->image : NULL;
}

/* Skips the search if a register index, which most lanes share, is that of the last lane */
bool vagx_texture_find_image(struct texture *t, unsigned int lane)
{
	uint32_t index = texture_operand_word(t->sg, &t->op->src[1], 0, lane);
	const struct cached_image *found;
	const char *why;

	if (t->image && t->image_index == index && t->op->src[0].type != AGX_OPERAND_REG)
		return true;
	if (!vagx_texture_read_state(t, &t->op->src[0], &t->op->src[1], lane))
		return false;
	found = vagx_texture_cached_image(t->cache, t->state, t->op->mod[AGX_MOD_SHADOW], &why);
	if (!found) {
		vagx_core_fail(t->sg, t->op, -EILSEQ, "Texture: %s is not supported", why);
		return false;
	}
	if (!t->image || t->tag != found->tag) {
		t->codes_key = 0;
		t->quad = 0;
	}
	t->image = &found->image;
	t->image_index = index;
	t->tag = found->tag;
	t->cached = t->samples && !found->image.sparse && !found->image.nothing;
	t->unorm8 = vagx_image_is_rgba8_unorm(&found->image) ? found->unorm8 : NULL;
	return true;
}

/* Unpacks a sampler packet unless it is the last lane's. Return: false for what is unsupported. */
static bool texture_state_unpack_sampler(struct texture *t, const uint8_t *bytes)
{
	if (t->has_sampler && !memcmp(t->sampler_bytes, bytes, sizeof(t->sampler_bytes)))
		return true;
	t->sampler = *vagx_texture_cached_sampler(t->cache, bytes);
	if (t->sampler.magnify > AGX_FILTER_LINEAR || t->sampler.minify > AGX_FILTER_LINEAR) {
		vagx_core_fail(t->sg, t->op, -EILSEQ, "Sampler: cubic filters are not supported");
		return false;
	}
	memcpy(t->sampler_bytes, bytes, sizeof(t->sampler_bytes));
	t->quad = 0;
	t->has_sampler = true;
	return true;
}

bool vagx_texture_find_sampler(struct texture *t, unsigned int lane)
{
	const struct vagx_launch *launch = t->sg->core->launch;
	const struct agx_operand *o = &t->op->src[2];
	uint32_t index = texture_operand_word(t->sg, o, 0, lane);
	bool of_heap = o->type == AGX_OPERAND_REG && index >= TEXTURE_FIRST_OF_HEAP;
	const uint8_t *bytes;

	if (t->has_sampler && t->sampler_index == index)
		return true;
	if (of_heap ? index - TEXTURE_FIRST_OF_HEAP >= launch->sampler_count :
		      index >= VAGX_CORE_SAMPLERS) {
		vagx_core_fail(t->sg, t->op, -ERANGE, "sampler %u", index);
		return false;
	}
	bytes = of_heap ? vagx_texture_client(t, launch->sampler_heap +
					      8ULL * (index - TEXTURE_FIRST_OF_HEAP), 8, VAGX_READ) :
			  launch->samplers[index];
	if (!bytes || !texture_state_unpack_sampler(t, bytes))
		return false;
	t->sampler_index = index;
	if (t->sampler.border_colour != AGX_BORDER_CUSTOM)
		return true;
	if (of_heap || !launch->extended_samplers) {
		vagx_core_fail(t->sg, t->op, -EILSEQ, "Sampler: border colour without one");
		return false;
	}
	memcpy(t->border, launch->borders[index], sizeof(t->border));
	return true;
}

/* State registers: only a preshader may write them, as all threads have the same */

void vagx_exec_texture_state(struct simdgroup *sg, const struct op *op)
{
	struct texture t = { .sg = sg, .op = op };
	unsigned int lane = sg->exec ? __builtin_ctz(sg->exec) : 0;

	if (!sg->core->preshader_of)
		vagx_core_fail(sg, op, -EILSEQ, "texture state outside of a preshader");
	else if (op->dst.value >= VAGX_CORE_TEXTURES)
		vagx_core_fail(sg, op, -ERANGE, "texture state %d", op->dst.value);
	else if (sg->exec && vagx_texture_read_state(&t, &op->src[0], &op->src[1], lane))
		memcpy(sg->core->preshader_of->textures[op->dst.value], t.state, sizeof(t.state));
}

void vagx_exec_sampler_state(struct simdgroup *sg, const struct op *op)
{
	struct texture t = { .sg = sg, .op = op };
	unsigned int lane = sg->exec ? __builtin_ctz(sg->exec) : 0;
	struct wide_lanes base;
	const void *p;

	if (!sg->core->preshader_of || op->dst.value >= VAGX_CORE_SAMPLERS) {
		vagx_core_fail(sg, op, -EILSEQ, "sampler state %d", op->dst.value);
		return;
	}
	read_wide_lanes(sg, &op->src[0], &base);
	p = vagx_texture_client(&t, (base.v[lane] +
				     texture_operand_word(sg, &op->src[1], 0, lane)) & ~7ULL,
				8, VAGX_READ);
	if (p && sg->exec)
		memcpy(sg->core->preshader_of->samplers[op->dst.value], p, 8);
}
