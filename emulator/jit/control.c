// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Code around arithmetic: calls of the interpreter's functions, the execution mask
 * (gpu/core_flow.c says what its instructions do), jumps.
 *
 * The simdgroup's fields for the execution mask follow each change; what else of it native code
 * keeps is the instruction set's (vectors.h).
 */
#include "build.h"

#define OFFSET_OF(field)	((uint32_t)offsetof(struct simdgroup, field))

/* Functions that do not compute with floats can be called in native code's mode of them */
static bool control_keeps_mode(const struct op *op)
{
	switch (op->opcode) {
	case AGX_OP_GET_SR:
	case AGX_OP_BFI:
	case AGX_OP_BFEIL:
	case AGX_OP_EXTR:
	case AGX_OP_SHLHI:
	case AGX_OP_SHRHI:
	case AGX_OP_ASRH:
	case AGX_OP_IADD:
	case AGX_OP_ISUB:
	case AGX_OP_IMUL:
	case AGX_OP_IMADD:
	case AGX_OP_IMSUB:
	case AGX_OP_BITREV:
	case AGX_OP_POPCNT:
	case AGX_OP_FFS:
	case AGX_OP_INTL:
	case AGX_OP_SHUFFLE:
	case AGX_OP_ATOMIC:
	case AGX_OP_LOCAL_ATOMIC:
		return true;
	default:
		return false;
	}
}

void vagx_build_call(struct build *b, uint32_t pc)
{
	const struct op *op = &b->program->op[pc];
	vagx_exec_fn *fn = vagx_stack_find_any(op, b->vectors->memory);
	bool keeps = fn || control_keeps_mode(op);

	if (!fn)
		fn = vagx_memory_find_atomic(op);
	if (!fn)
		fn = op->run;
	vagx_build_end_segment(b, pc);
	vagx_build_forget(b);
	b->vectors->before_call(b);
	vagx_host_set_field(b, OFFSET_OF(pc), pc + 1);
	/* the lanes that are active before the instruction are counted */
	vagx_build_commit(b, pc + 1);
	vagx_host_call(b, fn, op, !keeps && !b->in_c_mode);
	/* it stays so for the next call, unless native code comes in between */
	b->in_c_mode |= !keeps;
	b->vectors->after_call(b);
	vagx_host_clear_result(b);
	if (vagx_build_leaves(op)) {
		vagx_host_set_target(b, vagx_host_jump(b), b->leave);
		return;
	}
	_Static_assert(SIMDGROUP_RUNS == 0, "code compares with 0");
	vagx_host_test_field(b, OFFSET_OF(state));
	vagx_host_set_target(b, vagx_host_jump_if(b, HOST_NOT_ZERO), b->leave);
}

/* Adds @n to the levels of lanes of a mask; levels have 16 bits, and the upper ones stay */
static void control_add_level(struct build *b, enum mask mask, unsigned int levels, uint32_t n)
{
	b->vectors->constant(b, mask, VEC_SCRATCH, n);
	b->vectors->op(b, VECTOR_ADD16, MASK_ALL, levels, levels, vagx_build_vector(VEC_SCRATCH));
}

/* Clears the levels of lanes of a mask */
static void control_clear_level(struct build *b, enum mask mask, unsigned int levels)
{
	b->vectors->op(b, VECTOR_AND, mask, levels, levels, vagx_build_constant(b, 0xffff0000));
}

/* MASK_LEVEL = lanes whose level is as the predicate says; levels are no negative numbers */
static void control_compare_level(struct build *b, unsigned int levels,
				  enum predicate predicate, uint32_t n)
{
	b->vectors->op(b, VECTOR_AND, MASK_ALL, VEC_SCRATCH, levels,
		       vagx_build_constant(b, 0xffff));
	b->vectors->compare_int(b, MASK_LEVEL, true, VEC_SCRATCH, vagx_build_constant(b, n),
				predicate);
}

/* Active are the lanes at level 0 that have not stopped */
static void control_activate(struct build *b, unsigned int levels)
{
	b->vectors->zero_levels(b, levels);
	b->vectors->valid(b);
}

/* Active lanes where the condition holds stay active; others get level 1, inactive ones @nest more */
static void control_if(struct build *b, unsigned int levels, uint32_t nest)
{
	const struct vectors *vectors = b->vectors;

	/* also lanes that have stopped */
	vectors->zero_levels(b, levels);
	if (nest) {
		vectors->mask(b, MASK_NOT, MASK_LEVEL, MASK_EXEC, MASK_ALL);
		control_add_level(b, MASK_LEVEL, levels, nest);
	}
	vectors->mask(b, MASK_AND_NOT, MASK_LEVEL, MASK_COND, MASK_EXEC);
	control_add_level(b, MASK_LEVEL, levels, 1);
	control_activate(b, levels);
}

/* Lanes at level 0 get @nest; those at level 1 become active where the condition holds */
static void control_else(struct build *b, unsigned int levels, uint32_t nest)
{
	const struct vectors *vectors = b->vectors;

	vectors->zero_levels(b, levels);
	control_compare_level(b, levels, COMPARE_EQ, 1);
	vectors->mask(b, MASK_AND, MASK_LEVEL, MASK_LEVEL, MASK_COND);
	control_clear_level(b, MASK_LEVEL, levels);
	if (nest)
		control_add_level(b, MASK_EXEC, levels, nest);
	control_activate(b, levels);
}

/* Lanes below @nest are active where the condition holds, else they get that level */
static void control_while(struct build *b, unsigned int levels, uint32_t nest)
{
	const struct vectors *vectors = b->vectors;

	/* no level is below 0 */
	if (!nest) {
		control_activate(b, levels);
		return;
	}
	control_compare_level(b, levels, COMPARE_LT, nest);
	control_clear_level(b, MASK_LEVEL, levels);
	vectors->mask(b, MASK_AND, MASK_EXEC, MASK_COND, MASK_LEVEL);
	vectors->mask(b, MASK_AND_NOT, MASK_LEVEL, MASK_COND, MASK_LEVEL);
	control_add_level(b, MASK_LEVEL, levels, nest);
	vectors->valid(b);
}

/* Levels go down by @nest, to 0 at least */
static void control_pop(struct build *b, unsigned int levels, uint32_t nest)
{
	if (nest) {
		b->vectors->copy(b, MASK_ALL, VEC_SCRATCH, vagx_build_constant(b, nest));
		b->vectors->op(b, VECTOR_SUB16_SATURATED, MASK_ALL, levels, levels,
			       vagx_build_vector(VEC_SCRATCH));
	}
	control_activate(b, levels);
}

typedef void control_flow_fn(struct build *b, unsigned int levels, uint32_t nest);

/* An instruction that changes the execution mask */
struct control_flow {
	control_flow_fn *fn;
	bool compares;
	bool is_float;
};

static const struct control_flow control_flows[AGX_OP_COUNT] = {
	[AGX_OP_IF_ICMP] = { control_if, true, false },
	[AGX_OP_IF_FCMP] = { control_if, true, true },
	[AGX_OP_ELSE_ICMP] = { control_else, true, false },
	[AGX_OP_ELSE_FCMP] = { control_else, true, true },
	[AGX_OP_WHILE_ICMP] = { control_while, true, false },
	[AGX_OP_WHILE_FCMP] = { control_while, true, true },
	[AGX_OP_POP_EXEC] = { control_pop, false, false },
	[AGX_OP_UPDATE_EXEC] = { control_pop, false, false },
};

bool vagx_build_changes_exec(const struct op *op)
{
	return control_flows[op->opcode].fn;
}

/* Goes on at @next in the version of the code that is for the lanes that are active now */
static void control_change_version(struct build *b, uint32_t next)
{
	bool is_full = b->version == VERSION_FULL;

	/* where it compares, C chooses the version */
	if (b->segmented || !b->entry[VERSION_FULL])
		return;
	vagx_host_test_active(b);
	vagx_build_jump_to(b, vagx_host_jump_if(b, is_full ? HOST_NOT_ZERO : HOST_ZERO),
			   is_full ? VERSION_MASKED : VERSION_FULL, next);
}

bool vagx_build_flow(struct build *b, const struct op *op, uint32_t pc)
{
	const struct control_flow *flow = &control_flows[op->opcode];
	unsigned int levels;

	if (!flow->fn)
		return false;
	/* a segment of its own: the lanes that were active before it are counted */
	vagx_build_end_segment(b, pc);
	b->in_flow = true;
	vagx_build_begin(b);
	b->clock++;
	b->temps = 0;
	if (flow->compares)
		vagx_build_condition(b, op, flow->is_float);
	levels = vagx_build_canonical(b, 0);
	flow->fn(b, levels, op->mod[AGX_MOD_NEST]);
	b->cache[levels - VEC_CACHE].dirty = true;
	b->exec_changed = true;
	vagx_build_end_segment(b, pc + 1);
	b->in_flow = false;
	control_change_version(b, pc + 1);
	return true;
}

bool vagx_build_is_jump(const struct op *op)
{
	return op->run == vagx_exec_jmp_any || op->run == vagx_exec_jmp_none ||
	       op->run == vagx_exec_goto;
}

bool vagx_build_leaves(const struct op *op)
{
	switch (op->opcode) {
	case AGX_OP_STOP:
	case AGX_OP_TRAP:
	case AGX_OP_CALL:
	case AGX_OP_CALL_REG:
	case AGX_OP_RET:
	case AGX_OP_BARRIER:
		return true;
	default:
		return op->run == vagx_exec_illegal || op->run == vagx_exec_unsupported ||
		       op->run == vagx_exec_no_register || op->run == vagx_exec_fetch_fault;
	}
}

bool vagx_build_jump(struct build *b, const struct op *op, uint32_t pc)
{
	size_t over = 0, goes_on;

	if (!vagx_build_is_jump(op))
		return false;
	vagx_build_commit(b, pc + 1);
	vagx_build_forget(b);
	vagx_build_native_mode(b);
	if (op->run != vagx_exec_goto) {
		b->vectors->test_exec(b);
		over = vagx_host_jump_if(b, op->run == vagx_exec_jmp_any ? HOST_ZERO :
									   HOST_NOT_ZERO);
	}
	if (op->target <= pc) {
		/* a loop ends with the time slice */
		vagx_host_test_slice(b);
		goes_on = vagx_host_jump_if(b, HOST_POSITIVE);
		vagx_build_leave(b, op->target);
		vagx_host_set_target(b, goes_on, b->code.length);
	}
	vagx_build_jump_to(b, vagx_host_jump(b), b->version, op->target);
	if (over)
		vagx_host_set_target(b, over, b->code.length);
	return true;
}
