// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Code for special registers that say where a thread is in its threadgroup and in the grid. The
 * simdgroup has them in memory (struct simdgroup, vagx_simd_place()). Fragments and ends of tiles
 * have others by the same names: their programs call the interpreter's function (core_simd.c).
 */
#include "build.h"

/* A word of the simdgroup, for all lanes */
static struct value place_scalar(size_t offset)
{
	return (struct value){ .is_scalar = true, .base = GPR_SG, .disp = (int32_t)offset };
}

/* What each lane has */
static struct value place_lanes(struct build *b, unsigned int place)
{
	unsigned int t = vagx_build_temp(b);

	b->vectors->load(b, t, REGISTERS + place);
	return vagx_build_vector(t);
}

/* What each lane has, and a word of the simdgroup */
static struct value place_sum(struct build *b, unsigned int place, size_t offset)
{
	struct value v = place_lanes(b, place);

	b->vectors->op(b, VECTOR_ADD, MASK_ALL, v.vec, v.vec, place_scalar(offset));
	return v;
}

bool vagx_build_lower_place(struct build *b, const struct op *op)
{
	unsigned int sr = op->mod[AGX_MOD_SR], axis;
	struct value v;

	b->temps = 0;
	if (op->opcode != AGX_OP_GET_SR || b->stage != STAGE_GROUPS || op->dst.type != AGX_OPERAND_REG ||
	    op->dst.size > 32)
		return false;
	switch (sr) {
	case AGX_SR_THREAD_IN_GROUP_X:
	case AGX_SR_THREAD_IN_GROUP_Y:
	case AGX_SR_THREAD_IN_GROUP_Z:
		v = place_lanes(b, PLACE_X + sr - AGX_SR_THREAD_IN_GROUP_X);
		break;
	case AGX_SR_THREAD_IN_GRID_X:
	case AGX_SR_THREAD_IN_GRID_Y:
	case AGX_SR_THREAD_IN_GRID_Z:
		axis = sr - AGX_SR_THREAD_IN_GRID_X;
		v = place_sum(b, PLACE_X + axis, offsetof(struct simdgroup, origin[axis]));
		break;
	case AGX_SR_GROUP_X:
	case AGX_SR_GROUP_Y:
	case AGX_SR_GROUP_Z:
		axis = sr - AGX_SR_GROUP_X;
		v = place_scalar(offsetof(struct simdgroup, group[axis]));
		break;
	case AGX_SR_THREAD_INDEX:
		v = place_sum(b, PLACE_LANE, offsetof(struct simdgroup, first));
		break;
	case AGX_SR_SIMDGROUP:
		v = place_scalar(offsetof(struct simdgroup, index));
		break;
	case AGX_SR_LANE:
		v = place_lanes(b, PLACE_LANE);
		break;
	default:
		return false;
	}
	b->of_stage = true;
	vagx_build_write_int(b, op, v);
	return true;
}
