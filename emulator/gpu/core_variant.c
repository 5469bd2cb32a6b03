// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Chooses the variant of a function by the shapes of an instruction's operands. Read only tables;
 * called by the decoder, from any core's thread.
 */
#include "core_variant.h"

#define VARIANTS_OF(id, name, sources)						\
	extern vagx_exec_fn *const vagx_variants_##name[VARIANTS_##sources];
#include "core_variant.def"
#undef VARIANTS_OF

static const struct {
	vagx_exec_fn *const *variant;
	unsigned int sources;
} variant_rows[AGX_OP_COUNT] = {
#define VARIANTS_OF(id, name, sources_)						\
	[AGX_OP_##id] = { .variant = vagx_variants_##name, .sources = sources_ },
#include "core_variant.def"
};

static enum shape variant_shape_of(const struct agx_operand *o)
{
	if (o->type != AGX_OPERAND_REG)
		return SHAPE_SCALAR;
	return o->size == 16 ? SHAPE_HALF : SHAPE_WORD;
}

/* Whether a source has modifiers; those of a scalar are applied once, before the loop */
static bool variant_is_modified(const struct agx_operand *o)
{
	return o->type == AGX_OPERAND_REG && (o->absolute || o->negate);
}

vagx_exec_fn *vagx_variant_of(const struct op *op)
{
	unsigned int sources = variant_rows[op->opcode].sources, index = 0, i;

	if (!sources || op->dst.type != AGX_OPERAND_REG || op->dst.size > 32 ||
	    op->mod[AGX_MOD_SATURATE] || op->mod[AGX_MOD_SHIFT])
		return NULL;
	for (i = 0; i < sources; i++) {
		if (variant_is_modified(&op->src[i]))
			return NULL;
		index = index * SHAPE_COUNT + variant_shape_of(&op->src[i]);
	}
	return variant_rows[op->opcode].variant[index];
}
