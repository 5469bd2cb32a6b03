// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Special registers, and instructions across the lanes of a simdgroup or a quad: ballots,
 * shuffles, reductions and exclusive prefix scans (applegpu "applegpu.py"). Reductions go through
 * the active lanes in order, so that sums of floats do not depend on the host. Runs on the
 * thread of the core that executes the instruction.
 */
#include <float.h>
#include <math.h>

#include "core_compare.h"
#include "core_float.h"

#define QUAD	4

/*
 * Divides the number of a thread in its group, below 2^11. It is at least half of one divided by
 * the size away from the next whole number, more than a float's rounding can be.
 */
INLINE uint32_t simd_divide(uint32_t thread, uint32_t size)
{
	return (uint32_t)(int32_t)(((float)(int32_t)thread + 0.5f) / (float)(int32_t)size);
}

/* Position of each thread in its threadgroup */
CLONES static void simd_find_positions(struct simdgroup *sg)
{
	const uint32_t *size = sg->placed;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		uint32_t thread = sg->first + i;
		uint32_t row = size[0] ? simd_divide(thread, size[0]) : 0;
		uint32_t layer = simd_divide(row, size[1]);

		sg->place[PLACE_X].v[i] = thread - row * size[0];
		sg->place[PLACE_Y].v[i] = row - layer * size[1];
		sg->place[PLACE_Z].v[i] = layer;
		sg->place[PLACE_LANE].v[i] = i;
	}
}

void vagx_simd_place(struct simdgroup *sg)
{
	const struct vagx_core *core = sg->core;
	bool is_row = core->size[1] * core->size[2] == 1;
	/* a row of threads has the same positions, however long it is */
	const uint32_t size[3] = { is_row ? 0 : core->size[0], core->size[1], core->size[2] };
	unsigned int i;

	sg->first = sg->index * LANES;
	for (i = 0; i < 3; i++) {
		uint32_t group = core->group[i], origin = group * core->launch->local[i];

		/* one by one: the host waits if it loads what has just been stored in parts */
		if (group != sg->group[i])
			sg->group[i] = group;
		if (origin != sg->origin[i])
			sg->origin[i] = origin;
	}
	if (!memcmp(sg->placed, size, sizeof(size)))
		return;
	memcpy(sg->placed, size, sizeof(size));
	simd_find_positions(sg);
}

/* The number of active lanes before each one, within groups of @width lanes */
static void simd_active_index(uint32_t exec, unsigned int width,
			      struct lanes *value)
{
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		uint32_t before = exec & ((1u << i) - 1);

		value->v[i] = __builtin_popcount(before >> (i & ~(width - 1)));
	}
}

/* The number of active lanes in each group of @width lanes */
static void simd_active_total(uint32_t exec, unsigned int width,
			      struct lanes *value)
{
	uint32_t mask = width == LANES ? ALL_LANES : (1u << width) - 1;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		value->v[i] = __builtin_popcount(exec >> (i & ~(width - 1)) &
						 mask);
}

/* Special registers that differ among threads */
static void simd_thread_register(const struct simdgroup *sg, unsigned int sr,
				 struct lanes *value)
{
	unsigned int axis, i;

	switch (sr) {
	case AGX_SR_THREAD_IN_GROUP_X:
	case AGX_SR_THREAD_IN_GROUP_Y:
	case AGX_SR_THREAD_IN_GROUP_Z:
		*value = sg->place[PLACE_X + sr - AGX_SR_THREAD_IN_GROUP_X];
		break;
	case AGX_SR_THREAD_IN_GRID_X:
	case AGX_SR_THREAD_IN_GRID_Y:
	case AGX_SR_THREAD_IN_GRID_Z:
		axis = sr - AGX_SR_THREAD_IN_GRID_X;
		for (i = 0; i < LANES; i++)
			value->v[i] = sg->place[PLACE_X + axis].v[i] + sg->origin[axis];
		break;
	case AGX_SR_THREAD_INDEX:
		for (i = 0; i < LANES; i++)
			value->v[i] = sg->first + i;
		break;
	case AGX_SR_LANE:
		*value = sg->place[PLACE_LANE];
		break;
	case AGX_SR_QUAD_ACTIVE_INDEX:
		simd_active_index(sg->exec, QUAD, value);
		break;
	case AGX_SR_QUAD_ACTIVE_TOTAL:
		simd_active_total(sg->exec, QUAD, value);
		break;
	case AGX_SR_SIMD_ACTIVE_INDEX:
		simd_active_index(sg->exec, LANES, value);
		break;
	default:
		simd_active_total(sg->exec, LANES, value);
	}
}

/* Special registers that are the same in all threads; those of fragments are 0 here */
static uint32_t simd_group_register(const struct simdgroup *sg, unsigned int sr)
{
	const struct vagx_core *core = sg->core;

	switch (sr) {
	case AGX_SR_GROUP_X:
	case AGX_SR_GROUP_Y:
	case AGX_SR_GROUP_Z:
		return sg->group[sr - AGX_SR_GROUP_X];
	case AGX_SR_GROUP_SIZE_X:
	case AGX_SR_GROUP_SIZE_Y:
	case AGX_SR_GROUP_SIZE_Z:
		return core->size[sr - AGX_SR_GROUP_SIZE_X];
	case AGX_SR_LOCAL_SIZE_X:
	case AGX_SR_LOCAL_SIZE_Y:
	case AGX_SR_LOCAL_SIZE_Z:
		return core->launch->local[sr - AGX_SR_LOCAL_SIZE_X];
	case AGX_SR_SIMDGROUP:
		return sg->index;
	case AGX_SR_CORE_INDEX:
		return core->config.index;
	case AGX_SR_VM_SLOT:
		return core->launch->vm_slot;
	case AGX_SR_IS_ACTIVE:
		return 1;
	default:
		return 0;
	}
}

static bool simd_is_thread_register(unsigned int sr)
{
	return (sr >= AGX_SR_THREAD_IN_GRID_X && sr <= AGX_SR_THREAD_IN_GRID_Z) ||
	       (sr >= AGX_SR_THREAD_IN_GROUP_X && sr <= AGX_SR_LANE) ||
	       (sr >= AGX_SR_QUAD_ACTIVE_INDEX && sr <= AGX_SR_SIMD_ACTIVE_TOTAL);
}

void vagx_exec_get_sr(struct simdgroup *sg, const struct op *op)
{
	unsigned int sr = op->mod[AGX_MOD_SR];
	struct lanes value;

	if (!vagx_stage_register(sg, sr, &value)) {
		if (simd_is_thread_register(sr))
			simd_thread_register(sg, sr, &value);
		else
			splat(&value, simd_group_register(sg, sr));
	}
	write_lanes(sg, &op->dst, value.v);
}

/* Writes the mask of active lanes that vote, of the simdgroup or of each quad */
static void simd_write_ballot(struct simdgroup *sg, const struct op *op,
			      const struct lanes *votes)
{
	uint32_t ballot = 0;
	struct lanes value;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		ballot |= votes->v[i] & 1u << i;
	ballot &= sg->exec;

	splat(&value, ballot);
	if (op->opcode != AGX_OP_BALLOT_ACTIVE &&
	    op->mod[AGX_MOD_QUAD] == AGX_WIDTH_QUAD) {
		for (i = 0; i < LANES; i++)
			value.v[i] = ballot >> (i & ~(QUAD - 1)) & 0xf;
	}
	write_lanes(sg, &op->dst, value.v);
}

void vagx_exec_ballot_active(struct simdgroup *sg, const struct op *op)
{
	simd_write_ballot(sg, op, &sg->mask);
}

void vagx_exec_icmp_ballot(struct simdgroup *sg, const struct op *op)
{
	struct lanes votes;

	compare_integers(sg, op, &votes);
	simd_write_ballot(sg, op, &votes);
}

void vagx_exec_fcmp_ballot(struct simdgroup *sg, const struct op *op)
{
	struct lanes votes;

	compare_floats(sg, op, &votes);
	simd_write_ballot(sg, op, &votes);
}

/* The lane that a thread's value comes from, which may be outside of the simdgroup or quad */
static int simd_source_lane(const struct op *op, int lane, int index)
{
	switch (op->mod[AGX_MOD_OP]) {
	case AGX_SHUFFLE_XOR:
		return lane ^ index;
	case AGX_SHUFFLE_UP:
		return lane - index;
	case AGX_SHUFFLE_DOWN:
		return lane + index;
	default:
		return index;
	}
}

/*
 * Hardware shuffles whole quads, after it has shuffled within each quad by the low bits of the
 * index, which are those of all threads of the quad, even inactive ones, or'ed together (applegpu
 * "applegpu.py", simd_shuffle). Mesa's compiler keeps the index of inactive threads at 0 by code
 * that each thread runs (src/asahi/compiler/agx_lower_divergent_shuffle.c), so those that do not
 * exist cannot count.
 */
static void simd_shuffle_in_quads(const struct simdgroup *sg, const struct op *op,
				  const uint32_t *value, const uint32_t *index,
				  struct lanes *result)
{
	unsigned int quad, i;

	for (quad = 0; quad < LANES; quad += QUAD) {
		uint32_t low = 0;

		for (i = 0; i < QUAD; i++)
			low |= sg->exists >> (quad + i) & 1 ? index[quad + i] & 3 : 0;
		for (i = 0; i < QUAD; i++)
			result->v[quad + i] =
				value[quad + (simd_source_lane(op, i, low) & 3)];
	}
}

void vagx_exec_shuffle(struct simdgroup *sg, const struct op *op)
{
	bool quads = op->mod[AGX_MOD_QUAD] == AGX_WIDTH_QUAD;
	int width = quads ? QUAD : LANES;
	struct lanes tv, ti, moved, result;
	const uint32_t *value = read_lanes(sg, &op->src[0], &tv);
	const uint32_t *index = read_lanes(sg, &op->src[1], &ti);
	int i;

	simd_shuffle_in_quads(sg, op, value, index, &moved);
	for (i = 0; i < LANES; i++) {
		int lane = i & (width - 1);
		int from = simd_source_lane(op, lane, index[i] & 0xffff);

		if (op->mod[AGX_MOD_ROTATE])
			from &= width - 1;
		if (from < 0 || from >= width)
			result.v[i] = value[i];
		else if (quads)
			result.v[i] = moved.v[i];
		else
			result.v[i] = moved.v[(from & ~3) | (i & 3)];
	}
	write_lanes(sg, &op->dst, result.v);
}

static uint32_t simd_reduce_integers(unsigned int kind, uint32_t a, uint32_t b)
{
	switch (kind) {
	case AGX_REDUCE_AND:
		return a & b;
	case AGX_REDUCE_OR:
		return a | b;
	case AGX_REDUCE_XOR:
		return a ^ b;
	case AGX_REDUCE_IADD:
		return a + b;
	case AGX_REDUCE_SMIN:
		return (int32_t)a < (int32_t)b ? a : b;
	case AGX_REDUCE_SMAX:
		return (int32_t)a > (int32_t)b ? a : b;
	case AGX_REDUCE_UMIN:
		return a < b ? a : b;
	default:
		return a > b ? a : b;
	}
}

static float simd_reduce_floats(unsigned int kind, float a, float b)
{
	switch (kind) {
	case AGX_REDUCE_FADD:
		return a + b;
	case AGX_REDUCE_FMUL:
		return a * b;
	case AGX_REDUCE_FMIN:
		return fminf(a, b);
	default:
		return fmaxf(a, b);
	}
}

static bool simd_reduces_floats(unsigned int kind)
{
	return kind == AGX_REDUCE_FADD || kind == AGX_REDUCE_FMUL ||
	       kind == AGX_REDUCE_FMIN || kind == AGX_REDUCE_FMAX;
}

/* The identity element of a reduction, for sources of @size bits */
static uint32_t simd_identity(unsigned int kind, unsigned int size)
{
	switch (kind) {
	case AGX_REDUCE_AND:
	case AGX_REDUCE_UMIN:
		return ~0u;
	case AGX_REDUCE_SMIN:
		return size == 16 ? 0x7fff : 0x7fffffff;
	case AGX_REDUCE_SMAX:
		return size == 16 ? 0xffff8000 : 0x80000000;
	case AGX_REDUCE_FMUL:
		return float_bits(1.0f);
	case AGX_REDUCE_FMIN:
		return float_bits(INFINITY);
	case AGX_REDUCE_FMAX:
		return float_bits(-INFINITY);
	default:
		return 0;
	}
}

/* Rounds an intermediate result to the destination's size, as hardware adds halves */
static float simd_round_to_destination(float value, const struct op *op)
{
	return float_from_register(op->dst.size, register_from_float(op->dst.size, value));
}

static uint32_t simd_combine(const struct op *op, uint32_t a, uint32_t b)
{
	unsigned int kind = op->mod[AGX_MOD_OP];

	if (!simd_reduces_floats(kind))
		return simd_reduce_integers(kind, a, b);
	return float_bits(simd_round_to_destination(simd_reduce_floats(kind, bits_float(a),
								       bits_float(b)), op));
}

/* Reads the source as bits of floats, or integers that are extended as the operation needs it */
static void simd_read_source(const struct simdgroup *sg, const struct op *op,
			     struct lanes *value)
{
	struct agx_operand source = op->src[0];
	unsigned int kind = op->mod[AGX_MOD_OP];
	struct lanes tmp;

	if (simd_reduces_floats(kind)) {
		struct float_lanes floats;

		/* The operand is encoded as an integer: raw bits if immediate */
		if (source.type == AGX_OPERAND_IMM) {
			splat(value, float_bits(float_from_half(source.value)));
			return;
		}
		read_float_lanes(sg, &source, &floats);
		memcpy(value, &floats, sizeof(*value));
		return;
	}
	source.sign_extend = kind == AGX_REDUCE_SMIN || kind == AGX_REDUCE_SMAX;
	memcpy(value, read_lanes(sg, &source, &tmp), sizeof(*value));
}

/* Reduces the active lanes of a group, or scans them: the prefix excludes the lane itself */
static void simd_scan(struct simdgroup *sg, const struct op *op,
		      struct lanes *value, unsigned int first,
		      unsigned int width)
{
	uint32_t sum = simd_identity(op->mod[AGX_MOD_OP], op->src[0].size);
	unsigned int i;

	for (i = first; i < first + width; i++) {
		uint32_t own = value->v[i];

		/* the prefix of a lane is the sum before it */
		if (op->mod[AGX_MOD_PREFIX])
			value->v[i] = sum;
		if (sg->exec >> i & 1)
			sum = simd_combine(op, sum, own);
	}
	for (i = first; !op->mod[AGX_MOD_PREFIX] && i < first + width; i++)
		value->v[i] = sum;
}

void vagx_exec_reduce(struct simdgroup *sg, const struct op *op)
{
	unsigned int width = op->opcode == AGX_OP_QUAD_REDUCE ? QUAD : LANES;
	struct lanes value;
	unsigned int i;

	simd_read_source(sg, op, &value);
	for (i = 0; i < LANES; i += width)
		simd_scan(sg, op, &value, i, width);
	if (simd_reduces_floats(op->mod[AGX_MOD_OP]) && op->dst.size == 16) {
		for (i = 0; i < LANES; i++)
			value.v[i] = half_from_float(bits_float(value.v[i]));
	}
	write_lanes(sg, &op->dst, value.v);
}
