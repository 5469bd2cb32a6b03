/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Comparisons: the conditions of instructions, inlined in the functions that run them.
 */
#ifndef VAGX_CORE_COMPARE_H
#define VAGX_CORE_COMPARE_H

#include "core_float_lanes.h"

#define COMPARE_LOOP(result, type, a_, b_, expression)				\
	do {									\
		unsigned int i_;						\
										\
		for (i_ = 0; i_ < LANES; i_++) {				\
			type a = (type)(a_)[i_], b = (type)(b_)[i_];		\
										\
			(result)->v[i_] = -(uint32_t)(expression) ^ invert;	\
		}								\
	} while (0)

/**
 * compare_integers() - the condition of an instruction, for every lane
 * @sg: simdgroup
 * @op: instruction: compares its first two sources by AGX_MOD_COND
 * @result: all ones where it holds, else 0
 */
static inline void compare_integers(const struct simdgroup *sg, const struct op *op,
				    struct lanes *result)
{
	unsigned int cond = op->mod[AGX_MOD_COND];
	bool is_signed = cond & AGX_ICOND_SEQ;
	uint32_t invert = cond & AGX_ICOND_NE ? ~0u : 0;
	/* unsigned order is signed order with inverted sign bits */
	uint32_t bias = is_signed ? 0 : 0x80000000;
	struct lanes ta, tb;
	const uint32_t *x = read_extended(sg, &op->src[0], is_signed, &ta);
	const uint32_t *y = read_extended(sg, &op->src[1], is_signed, &tb);

	switch (cond & 3) {
	case AGX_ICOND_EQ:
		COMPARE_LOOP(result, uint32_t, x, y, a == b);
		break;
	case AGX_ICOND_ULT:
		COMPARE_LOOP(result, uint32_t, x, y, (int32_t)(a ^ bias) < (int32_t)(b ^ bias));
		break;
	default:
		COMPARE_LOOP(result, uint32_t, x, y, (int32_t)(a ^ bias) > (int32_t)(b ^ bias));
	}
}

/** compare_floats() - as compare_integers(), for floats */
static inline void compare_floats(const struct simdgroup *sg, const struct op *op,
				  struct lanes *result)
{
	unsigned int cond = op->mod[AGX_MOD_COND];
	uint32_t invert = cond & AGX_FCOND_NE ? ~0u : 0;
	struct float_lanes x, y;

	read_floats(sg, &op->src[0], &x);
	read_floats(sg, &op->src[1], &y);
	switch (cond & 7) {
	case AGX_FCOND_EQ:
		COMPARE_LOOP(result, float, x.v, y.v, a == b);
		break;
	case AGX_FCOND_LT:
		COMPARE_LOOP(result, float, x.v, y.v, a < b);
		break;
	case AGX_FCOND_GT:
		COMPARE_LOOP(result, float, x.v, y.v, a > b);
		break;
	case AGX_FCOND_LTN:
		COMPARE_LOOP(result, float, x.v, y.v, a < b || b != b);
		break;
	case AGX_FCOND_GE:
		COMPARE_LOOP(result, float, x.v, y.v, a >= b);
		break;
	case AGX_FCOND_LE:
		COMPARE_LOOP(result, float, x.v, y.v, a <= b);
		break;
	default:
		COMPARE_LOOP(result, float, x.v, y.v, a > b || b != b);
	}
}

#endif /* VAGX_CORE_COMPARE_H */
