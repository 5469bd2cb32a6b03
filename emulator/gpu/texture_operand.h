/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Operands of texture instructions: vectors of consecutive registers, of which a shader may
 * have fewer than the instruction names. Registers that a thread does not have read as 0.
 */
#ifndef VAGX_TEXTURE_OPERAND_H
#define VAGX_TEXTURE_OPERAND_H

#include "core_float.h"
#include "core_internal.h"

/* Whether element @n of a vector lies in registers that the thread has */
static inline bool texture_operand_exists(const struct simdgroup *sg, const struct agx_operand *o,
					  unsigned int n)
{
	return o->type != AGX_OPERAND_REG ||
	       o->value + (n + 1) * (o->size / 16) <= sg->core->register_halves;
}

/** texture_operand_lanes() - read element @n of a vector, in all lanes; @tmp may be used */
static inline const uint32_t *texture_operand_lanes(struct simdgroup *sg,
						    const struct agx_operand *o, unsigned int n,
						    struct lanes *tmp)
{
	struct agx_operand one = *o;

	if (!texture_operand_exists(sg, o, n))
		return splat(tmp, 0);
	one.value += n * (o->size / 16);
	return read_lanes(sg, &one, tmp);
}

/** texture_operand_agrees() - whether an operand has the same value in all active lanes */
static inline bool texture_operand_agrees(struct simdgroup *sg, const struct agx_operand *o)
{
	const uint32_t *mask = sg->mask.v;
	struct lanes tmp;
	const uint32_t *word;
	uint32_t differ = 0, first;
	unsigned int i;

	if (o->type != AGX_OPERAND_REG || !sg->exec)
		return true;
	word = texture_operand_lanes(sg, o, 0, &tmp);
	first = word[__builtin_ctz(sg->exec)];
	for (i = 0; i < LANES; i++)
		differ |= (word[i] ^ first) & mask[i];
	return !differ;
}

/** texture_operand_word() - read element @n of a vector, in one lane */
static inline uint32_t texture_operand_word(struct simdgroup *sg, const struct agx_operand *o,
					    unsigned int n, unsigned int lane)
{
	const unsigned int half = o->value + n * (o->size / 16);
	struct lanes tmp;
	uint32_t word;

	if (o->type != AGX_OPERAND_REG)
		return texture_operand_lanes(sg, o, n, &tmp)[lane];
	if (!texture_operand_exists(sg, o, n))
		return 0;
	word = sg->reg[half / 2].v[lane];
	if (o->size != 16)
		return word;
	word = word >> half % 2 * 16 & 0xffff;
	return o->sign_extend ? (uint32_t)extend16(word) : word;
}

/** texture_operand_float() - read element @n of a vector of 16-bit or 32-bit floats, in one lane */
static inline float texture_operand_float(struct simdgroup *sg, const struct agx_operand *o,
					  unsigned int n, unsigned int lane)
{
	uint32_t bits = texture_operand_word(sg, o, n, lane);

	return o->size == 16 ? float_from_half(bits) : bits_float(bits);
}

/** texture_operand_coordinates() - the number of coordinates before the word of layer and sample */
static inline unsigned int texture_operand_coordinates(unsigned int dim)
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

#endif /* VAGX_TEXTURE_OPERAND_H */
