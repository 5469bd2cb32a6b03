// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Control flow by an execution mask stack (applegpu "applegpu.py", execution mask stack
 * instructions): all threads of a simdgroup are at the same instruction, and r0l of a thread
 * counts the levels of control flow that have to end before it is active again. Threads at
 * level 0 are active. Also barriers, stops, and the errors that the decoder puts in the place of
 * instructions. Runs on the thread of the core.
 */
#include <errno.h>

#include "core_compare.h"
#include "core_internal.h"

static uint32_t flow_get_level(const struct simdgroup *sg, unsigned int lane)
{
	return sg->reg[0].v[lane] & 0xffff;
}

/* Sets the levels of all threads, and activates those at level 0 */
static void flow_set_levels(struct simdgroup *sg, const struct lanes *level)
{
	uint32_t *reg = sg->reg[0].v, exec = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		uint32_t low = level->v[i] & 0xffff;

		reg[i] = (reg[i] & 0xffff0000) | low;
		exec |= low ? 0 : lane_bits.v[i];
	}
	set_exec(sg, exec);
}

static void flow_do_if(struct simdgroup *sg, const struct op *op, const struct lanes *taken)
{
	uint32_t nest = op->mod[AGX_MOD_NEST];
	struct lanes level;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		uint32_t old = flow_get_level(sg, i);

		level.v[i] = old ? old + nest : taken->v[i] ? 0 : 1;
	}
	flow_set_levels(sg, &level);
}

static void flow_do_else(struct simdgroup *sg, const struct op *op, const struct lanes *taken)
{
	uint32_t nest = op->mod[AGX_MOD_NEST];
	struct lanes level;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		uint32_t old = flow_get_level(sg, i), other = taken->v[i] ? 0 : 1;

		level.v[i] = !old ? nest : old == 1 ? other : old;
	}
	flow_set_levels(sg, &level);
}

static void flow_do_while(struct simdgroup *sg, const struct op *op, const struct lanes *taken)
{
	uint32_t nest = op->mod[AGX_MOD_NEST];
	struct lanes level;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		uint32_t old = flow_get_level(sg, i), other = taken->v[i] ? 0 : nest;

		level.v[i] = old < nest ? other : old;
	}
	flow_set_levels(sg, &level);
}

void vagx_exec_if_icmp(struct simdgroup *sg, const struct op *op)
{
	struct lanes taken;

	compare_integers(sg, op, &taken);
	flow_do_if(sg, op, &taken);
}

void vagx_exec_else_icmp(struct simdgroup *sg, const struct op *op)
{
	struct lanes taken;

	compare_integers(sg, op, &taken);
	flow_do_else(sg, op, &taken);
}

void vagx_exec_while_icmp(struct simdgroup *sg, const struct op *op)
{
	struct lanes taken;

	compare_integers(sg, op, &taken);
	flow_do_while(sg, op, &taken);
}

void vagx_exec_if_fcmp(struct simdgroup *sg, const struct op *op)
{
	struct lanes taken;

	compare_floats(sg, op, &taken);
	flow_do_if(sg, op, &taken);
}

void vagx_exec_else_fcmp(struct simdgroup *sg, const struct op *op)
{
	struct lanes taken;

	compare_floats(sg, op, &taken);
	flow_do_else(sg, op, &taken);
}

void vagx_exec_while_fcmp(struct simdgroup *sg, const struct op *op)
{
	struct lanes taken;

	compare_floats(sg, op, &taken);
	flow_do_while(sg, op, &taken);
}

void vagx_exec_pop_exec(struct simdgroup *sg, const struct op *op)
{
	uint32_t nest = op->mod[AGX_MOD_NEST];
	struct lanes level;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		uint32_t old = flow_get_level(sg, i);

		level.v[i] = old > nest ? old - nest : 0;
	}
	flow_set_levels(sg, &level);
}

void vagx_exec_update_exec(struct simdgroup *sg, const struct op *op)
{
	struct lanes level;
	unsigned int i;

	(void)op;
	for (i = 0; i < LANES; i++)
		level.v[i] = flow_get_level(sg, i);
	flow_set_levels(sg, &level);
}

void vagx_exec_jmp_any(struct simdgroup *sg, const struct op *op)
{
	if (sg->exec)
		sg->pc = op->target;
}

void vagx_exec_jmp_none(struct simdgroup *sg, const struct op *op)
{
	if (!sg->exec)
		sg->pc = op->target;
}

void vagx_exec_goto(struct simdgroup *sg, const struct op *op)
{
	sg->pc = op->target;
}

/* r1 is the link register: the low half of the address is enough */
static void flow_set_link(struct simdgroup *sg, const struct op *op)
{
	struct lanes link;

	splat(&link, (uint32_t)(op->va + op->length));
	write_register(sg, 1, link.v);
}

void vagx_exec_call(struct simdgroup *sg, const struct op *op)
{
	flow_set_link(sg, op);
	sg->pc = op->target;
}

static void flow_jump_to_register(struct simdgroup *sg, const struct op *op)
{
	unsigned int lane = sg->exec ? __builtin_ctz(sg->exec) : 0;
	uint32_t low = sg->reg[op->src[0].value / 2].v[lane];

	vagx_core_jump(sg, (op->va & ~0xffffffffULL) | low);
}

void vagx_exec_jmp_reg(struct simdgroup *sg, const struct op *op)
{
	flow_jump_to_register(sg, op);
}

void vagx_exec_call_reg(struct simdgroup *sg, const struct op *op)
{
	/* The target can be the link register itself */
	flow_jump_to_register(sg, op);
	flow_set_link(sg, op);
}

/*
 * Ends the active threads. Mesa ends some of the threads in the middle of a program without a jump
 * around the stop: the others go on behind it. The code there is decoded only now, as behind most
 * stops there is none.
 */
void vagx_exec_stop(struct simdgroup *sg, const struct op *op)
{
	sg->valid &= ~sg->exec;
	if (!sg->valid) {
		sg->state = SIMDGROUP_DONE;
		return;
	}
	set_exec(sg, 0);
	vagx_core_jump(sg, op->va + op->length);
}

void vagx_exec_barrier(struct simdgroup *sg, const struct op *op)
{
	(void)op;
	sg->state = SIMDGROUP_WAITS;
}

/* Accesses are performed at once and in order, so a fence only has to invalidate cached texels */
void vagx_exec_memory_barrier(struct simdgroup *sg, const struct op *op)
{
	(void)op;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	vagx_texture_invalidate(sg->core);
}

void vagx_exec_nothing(struct simdgroup *sg, const struct op *op)
{
	(void)sg;
	(void)op;
}

void vagx_exec_trap(struct simdgroup *sg, const struct op *op)
{
	vagx_core_fail(sg, op, -EILSEQ, "trap");
}

void vagx_exec_illegal(struct simdgroup *sg, const struct op *op)
{
	vagx_core_fail(sg, op, -EILSEQ, "unknown instruction");
}

void vagx_exec_unsupported(struct simdgroup *sg, const struct op *op)
{
	vagx_core_fail(sg, op, -EILSEQ, "instruction %s is not supported",
		       agx_isa_op_name(op->opcode));
}

void vagx_exec_no_register(struct simdgroup *sg, const struct op *op)
{
	vagx_core_fail(sg, op, -EILSEQ,
		       "%s names a register behind the %u halves of the thread",
		       agx_isa_op_name(op->opcode), sg->core->register_halves);
}

void vagx_exec_fetch_fault(struct simdgroup *sg, const struct op *op)
{
	uint64_t next = (op->va | VAGX_UAT_PAGE_MASK) + 1;
	struct vagx_core *core = sg->core;

	/* An instruction can reach into a page that isn't there */
	if (vagx_tlb_ptr(core->config.tlb, op->va, 2, VAGX_EXEC, &core->fault))
		vagx_tlb_ptr(core->config.tlb, next, 1, VAGX_EXEC, &core->fault);
	vagx_core_fail(sg, op, -EFAULT, "instruction fetch");
}
