// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The shadow of registers, for each 16-bit register and each lane: whether a load still writes it,
 * whether its last use was announced, and whether its value was computed from what nothing has
 * written. The last one follows values as Valgrind's memcheck and MemorySanitizer do: copies and
 * arithmetic are no mistake, only what decides about control flow, addresses and output is. A
 * result is unwritten if one of its sources is; which bits of it are is not followed.
 */
#include "gpu/core_compare.h"
#include "sanitizer/shadow.h"

/* The destination with all that is written to it */
struct agx_operand shadow_result(const struct op *op)
{
	struct agx_operand result = op->dst;

	result.count = (uint8_t)agx_isa_result_count(op->opcode, &op->dst,
						     op->mod[AGX_MOD_FORMAT],
						     op->mod[AGX_MOD_SPARSE]);
	return result;
}

/* The shadow of a uniform: that it is set is known of the launch */
static struct source_state registers_read_uniform(const struct step *step,
						  const struct agx_operand *o)
{
	unsigned int half = (unsigned int)o->value, end = half + o->count * o->size / 16u;
	const uint64_t *set = step->sg->core->launch->uniforms_set;
	struct source_state state = { 0 };

	for (; half < end && half < VAGX_CORE_UNIFORMS; half++) {
		if (set[half / 64] >> half % 64 & 1)
			continue;
		state.unwritten = step->exec;
		state.origin = (struct origin){ ORIGIN_UNIFORM, half };
	}
	return state;
}

struct source_state shadow_read(const struct step *step, const struct agx_operand *o)
{
	struct source_state state = { 0 };
	unsigned int half;

	if (o->type == AGX_OPERAND_UNIFORM)
		return registers_read_uniform(step, o);
	if (o->type != AGX_OPERAND_REG)
		return state;
	for (half = (unsigned int)o->value; half < shadow_end_of(o); half++) {
		const struct shadow_register *r = &step->shadow->reg[half];
		uint32_t lanes = r->unwritten & step->exec;

		if (lanes && !state.unwritten)
			state.origin = r->origin;
		state.unwritten |= lanes;
	}
	return state;
}

/* Reports */

void shadow_report_unwritten(const struct step *step, enum finding_kind kind,
			     const struct source_state *state)
{
	static const char *const texts[] = {
		[ORIGIN_REGISTER] = "register",
		[ORIGIN_LOCAL] = "byte of local memory",
		[ORIGIN_PRIVATE] = "byte of private memory",
		[ORIGIN_UNIFORM] = "uniform",
		[ORIGIN_TILE] = "byte of the tile",
	};
	unsigned int number = state->origin.number;

	if (!state->unwritten)
		return;
	if (state->origin.kind == ORIGIN_REGISTER || state->origin.kind == ORIGIN_UNIFORM)
		finding_report(step->sg, step->op, kind, state->unwritten, ": %s %s%u%c",
			       texts[state->origin.kind],
			       state->origin.kind == ORIGIN_UNIFORM ? "u" : "r",
			       number / 2, number % 2 ? 'h' : 'l');
	else
		finding_report(step->sg, step->op, kind, state->unwritten, ": %s 0x%x",
			       texts[state->origin.kind], number);
}

static void registers_check_source(const struct step *step, unsigned int n)
{
	struct agx_operand source = step->op->src[n];
	const struct agx_operand *o = &source;
	unsigned int half;

	source.count = (uint8_t)agx_isa_source_count(step->op->opcode, n, &source);
	if (o->type != AGX_OPERAND_REG)
		return;
	for (half = (unsigned int)o->value; half < shadow_end_of(o); half++) {
		const struct shadow_register *r = &step->shadow->reg[half];
		uint32_t pending = (r->pending[0] | r->pending[1]) & step->exec;
		uint32_t discarded = r->discarded & step->exec;

		if (pending)
			finding_report(step->sg, step->op, FINDING_PENDING_READ, pending,
				       ": r%u%c, of group %s", half / 2, half % 2 ? 'h' : 'l',
				       r->pending[0] & step->exec ? "a" : "b");
		if (discarded)
			finding_report(step->sg, step->op, FINDING_DISCARDED_READ, discarded,
				       ": r%u%c", half / 2, half % 2 ? 'h' : 'l');
	}
}

/* Loads of one group write in their order */
static void registers_check_destination(const struct step *step)
{
	const struct agx_operand result = shadow_result(step->op);
	unsigned int own = step->op->mod[AGX_MOD_GROUP] & 1, half;

	if (result.type != AGX_OPERAND_REG)
		return;
	for (half = (unsigned int)result.value; half < shadow_end_of(&result); half++) {
		const struct shadow_register *r = &step->shadow->reg[half];
		uint32_t pending = r->pending[!own] | (step->later ? 0 : r->pending[own]);

		if (pending & step->exec)
			finding_report(step->sg, step->op, FINDING_PENDING_WRITE,
				       pending & step->exec, ": r%u%c", half / 2,
				       half % 2 ? 'h' : 'l');
	}
}

void shadow_check_registers(const struct step *step)
{
	unsigned int i;

	for (i = 0; i < MAX_SRCS; i++)
		registers_check_source(step, i);
	registers_check_destination(step);
}

/* Values */

static void registers_join(struct step *step, const struct source_state *state)
{
	if (state->unwritten && !step->unwritten)
		step->origin = state->origin;
	step->unwritten |= state->unwritten;
}

/* Joins sources from @first to before @end. Return: what they say. */
static struct source_state registers_read_sources(const struct step *step, unsigned int first,
					       unsigned int end)
{
	struct source_state all = { 0 };
	unsigned int i;

	for (i = first; i < end; i++) {
		const struct source_state one = shadow_read(step, &step->op->src[i]);

		if (one.unwritten && !all.unwritten)
			all.origin = one.origin;
		all.unwritten |= one.unwritten;
	}
	return all;
}

/* Only the lanes of a comparison matter whose control flow it decides */
static void registers_check_branch(struct step *step)
{
	const struct lanes *level = &step->sg->reg[0];
	uint32_t exec = step->exec;
	struct source_state state;
	unsigned int i;

	if (step->op->opcode == AGX_OP_ELSE_ICMP || step->op->opcode == AGX_OP_ELSE_FCMP) {
		step->exec = 0;
		for (i = 0; i < LANES; i++)
			step->exec |= (level->v[i] & 0xffff) == 1 ? 1u << i : 0;
		step->exec &= step->sg->valid;
	}
	state = registers_read_sources(step, 0, 2);
	shadow_report_unwritten(step, FINDING_UNWRITTEN_BRANCH, &state);
	step->exec = exec;
}

/*
 * What a fragment stores to its tile is output, unless it is a helper. Compute shaders use tiles as
 * memory, also for pixels that they do not write to the image in the end.
 */
static void registers_check_tile(struct step *step)
{
	struct source_state value = shadow_read(step, &step->op->src[0]);

	value.unwritten &= vagx_stage_storing(step->sg);
	if (step->sg->core->fragments)
		shadow_report_unwritten(step, FINDING_UNWRITTEN_OUTPUT, &value);
}

/* Lanes in which the choices of a selection are the same */
static uint32_t registers_find_same(const struct step *step)
{
	struct lanes tmp_yes, tmp_no;
	const uint32_t *yes = read_lanes(step->sg, &step->op->src[2], &tmp_yes);
	const uint32_t *no = read_lanes(step->sg, &step->op->src[3], &tmp_no);
	uint32_t same = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		same |= yes[i] == no[i] ? 1u << i : 0;
	return same;
}

/*
 * A selection is what it selects, unless what it selects by is unwritten. That does not matter
 * where both choices are the same: so does Mesa compute "a and b" where b is unknown unless a.
 */
static void registers_compute_selection(struct step *step)
{
	struct source_state compared = registers_read_sources(step, 0, 2);
	struct source_state yes = shadow_read(step, &step->op->src[2]);
	struct source_state no = shadow_read(step, &step->op->src[3]);
	uint32_t taken = 0;
	struct lanes mask;
	unsigned int i;

	compared.unwritten &= ~registers_find_same(step) | yes.unwritten | no.unwritten;

	if (step->op->opcode == AGX_OP_ICSEL)
		compare_integers(step->sg, step->op, &mask);
	else
		compare_floats(step->sg, step->op, &mask);
	for (i = 0; i < LANES; i++)
		taken |= mask.v[i] & 1u << i;
	yes.unwritten &= taken;
	no.unwritten &= ~taken;
	registers_join(step, &compared);
	registers_join(step, &yes);
	registers_join(step, &no);
}

/* What the lanes of a simdgroup or a quad compute together is unwritten if a part of it is */
static void registers_compute_together(struct step *step, uint32_t group)
{
	struct source_state all = registers_read_sources(step, 0, MAX_SRCS);
	uint32_t lanes = 0;
	unsigned int i;

	for (i = 0; i < LANES; i += group) {
		uint32_t mask = (group == LANES ? ALL_LANES : (1u << group) - 1) << i;

		lanes |= all.unwritten & mask ? mask : 0;
	}
	all.unwritten = lanes & step->exec;
	registers_join(step, &all);
}

void shadow_compute(struct step *step)
{
	const struct op *op = step->op;
	struct source_state all;

	switch (op->opcode) {
	case AGX_OP_IF_ICMP:
	case AGX_OP_IF_FCMP:
	case AGX_OP_ELSE_ICMP:
	case AGX_OP_ELSE_FCMP:
	case AGX_OP_WHILE_ICMP:
	case AGX_OP_WHILE_FCMP:
		registers_check_branch(step);
		break;
	case AGX_OP_RET:
	case AGX_OP_CALL_REG:
	case AGX_OP_STACK_ADJUST:
	case AGX_OP_SAMPLE_MASK:
		all = registers_read_sources(step, 0, MAX_SRCS);
		shadow_report_unwritten(step, FINDING_UNWRITTEN_BRANCH, &all);
		break;
	case AGX_OP_ST_VAR:
	case AGX_OP_ZS_EMIT:
	case AGX_OP_UNIFORM_STORE:
		all = registers_read_sources(step, 0, MAX_SRCS);
		shadow_report_unwritten(step, FINDING_UNWRITTEN_OUTPUT, &all);
		break;
	case AGX_OP_ST_TILE:
		registers_check_tile(step);
		break;
	case AGX_OP_ICSEL:
	case AGX_OP_FCSEL:
		registers_compute_selection(step);
		break;
	case AGX_OP_ICMP_BALLOT:
	case AGX_OP_FCMP_BALLOT:
	case AGX_OP_SIMD_REDUCE:
		registers_compute_together(step, LANES);
		break;
	case AGX_OP_QUAD_REDUCE:
	case AGX_OP_DFDX:
	case AGX_OP_DFDY:
		registers_compute_together(step, 4);
		break;
	case AGX_OP_SHUFFLE:
		/* which lane's value it is is not followed */
		all = shadow_read(step, &op->src[1]);
		registers_join(step, &all);
		break;
	default:
		all = registers_read_sources(step, 0, MAX_SRCS);
		registers_join(step, &all);
	}
}

/* Afterwards */

static void registers_note_discards(const struct step *step)
{
	unsigned int i, half;

	for (i = 0; i < MAX_SRCS; i++) {
		const struct agx_operand *o = &step->op->src[i];

		if (o->type != AGX_OPERAND_REG || !o->discard)
			continue;
		for (half = (unsigned int)o->value; half < shadow_end_of(o); half++)
			step->shadow->reg[half].discarded |= step->exec;
	}
}

void shadow_note_registers(const struct step *step)
{
	const struct agx_operand result = shadow_result(step->op);
	unsigned int group = step->op->mod[AGX_MOD_GROUP] & 1, half;

	for (half = 0; step->op->opcode == AGX_OP_WAIT && half < step->shadow->halves;
	     half++)
		step->shadow->reg[half].pending[group] = 0;
	registers_note_discards(step);
	if (result.type != AGX_OPERAND_REG)
		return;
	for (half = (unsigned int)result.value; half < shadow_end_of(&result); half++) {
		struct shadow_register *r = &step->shadow->reg[half];

		r->discarded &= ~step->exec;
		if (step->unwritten)
			r->origin = step->origin;
		r->unwritten = (r->unwritten & ~step->exec) | step->unwritten;
		if (step->later)
			r->pending[group] |= step->exec;
	}
}
