// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Which registers a program may read before it writes them: all but those that are written in
 * all threads before anything reads them. The instructions up to the first one with an effect
 * besides its operands are looked at, so that the rest of a program can be anything. Threads that
 * do not exist write nothing: where they can be seen, by shuffles or in quads, it is all
 * registers. They get garbage that depends on nothing but the seed (pattern.h). So nobody sees
 * what other programs, or other contexts, have left, and each run is like the one before.
 */
#include "core_internal.h"

/* What an instruction does with registers */
enum registers_use {
	/* it may go on in another program, or nothing is known of it */
	REGISTERS_ANY,
	/* it may read those of other threads of the simdgroup */
	REGISTERS_OF_ALL,
	/* it may read those of other threads of the quad */
	REGISTERS_OF_QUAD,
	/* it reads no other thread's */
	REGISTERS_OWN,
	/* besides, it reads its sources, then writes its destination in all active threads */
	REGISTERS_PLAIN,
};

static const uint8_t registers_uses[AGX_OP_COUNT] = {
	[AGX_OP_MOV_IMM16] = REGISTERS_PLAIN,
	[AGX_OP_MOV_IMM32] = REGISTERS_PLAIN,
	[AGX_OP_GET_SR] = REGISTERS_PLAIN,
	[AGX_OP_MOV] = REGISTERS_PLAIN,
	[AGX_OP_IADD] = REGISTERS_PLAIN,
	[AGX_OP_ISUB] = REGISTERS_PLAIN,
	[AGX_OP_IMUL] = REGISTERS_PLAIN,
	[AGX_OP_IMADD] = REGISTERS_PLAIN,
	[AGX_OP_IMSUB] = REGISTERS_PLAIN,
	[AGX_OP_U8_TO_F] = REGISTERS_PLAIN,
	[AGX_OP_S8_TO_F] = REGISTERS_PLAIN,
	[AGX_OP_U16_TO_F] = REGISTERS_PLAIN,
	[AGX_OP_S16_TO_F] = REGISTERS_PLAIN,
	[AGX_OP_U32_TO_F] = REGISTERS_PLAIN,
	[AGX_OP_S32_TO_F] = REGISTERS_PLAIN,
	[AGX_OP_F_TO_U16] = REGISTERS_PLAIN,
	[AGX_OP_F_TO_S16] = REGISTERS_PLAIN,
	[AGX_OP_F_TO_U32] = REGISTERS_PLAIN,
	[AGX_OP_F_TO_S32] = REGISTERS_PLAIN,
	[AGX_OP_SHL] = REGISTERS_PLAIN,
	[AGX_OP_SHR] = REGISTERS_PLAIN,
	[AGX_OP_ASR] = REGISTERS_PLAIN,
	[AGX_OP_BFI] = REGISTERS_PLAIN,
	[AGX_OP_BFEIL] = REGISTERS_PLAIN,
	[AGX_OP_EXTR] = REGISTERS_PLAIN,
	[AGX_OP_SHLHI] = REGISTERS_PLAIN,
	[AGX_OP_SHRHI] = REGISTERS_PLAIN,
	[AGX_OP_ASRH] = REGISTERS_PLAIN,
	[AGX_OP_BITREV] = REGISTERS_PLAIN,
	[AGX_OP_POPCNT] = REGISTERS_PLAIN,
	[AGX_OP_FFS] = REGISTERS_PLAIN,
	[AGX_OP_INTL] = REGISTERS_PLAIN,
	[AGX_OP_AND] = REGISTERS_PLAIN,
	[AGX_OP_OR] = REGISTERS_PLAIN,
	[AGX_OP_XOR] = REGISTERS_PLAIN,
	[AGX_OP_NOT] = REGISTERS_PLAIN,
	[AGX_OP_ANDN1] = REGISTERS_PLAIN,
	[AGX_OP_ANDN2] = REGISTERS_PLAIN,
	[AGX_OP_NOR] = REGISTERS_PLAIN,
	[AGX_OP_XNOR] = REGISTERS_PLAIN,
	[AGX_OP_ORN1] = REGISTERS_PLAIN,
	[AGX_OP_ORN2] = REGISTERS_PLAIN,
	[AGX_OP_NAND] = REGISTERS_PLAIN,
	[AGX_OP_ICSEL] = REGISTERS_PLAIN,
	[AGX_OP_FCSEL] = REGISTERS_PLAIN,
	[AGX_OP_FADD] = REGISTERS_PLAIN,
	[AGX_OP_FMUL] = REGISTERS_PLAIN,
	[AGX_OP_FFMA] = REGISTERS_PLAIN,
	[AGX_OP_HADD] = REGISTERS_PLAIN,
	[AGX_OP_HMUL] = REGISTERS_PLAIN,
	[AGX_OP_HFMA] = REGISTERS_PLAIN,
	[AGX_OP_RINT] = REGISTERS_PLAIN,
	[AGX_OP_FLOOR] = REGISTERS_PLAIN,
	[AGX_OP_CEIL] = REGISTERS_PLAIN,
	[AGX_OP_TRUNC] = REGISTERS_PLAIN,
	[AGX_OP_RCP] = REGISTERS_PLAIN,
	[AGX_OP_RSQRT] = REGISTERS_PLAIN,
	[AGX_OP_RSQRTS] = REGISTERS_PLAIN,
	[AGX_OP_LOG2] = REGISTERS_PLAIN,
	[AGX_OP_EXP2] = REGISTERS_PLAIN,
	[AGX_OP_SINC] = REGISTERS_PLAIN,
	[AGX_OP_SINR] = REGISTERS_PLAIN,
	[AGX_OP_LOAD] = REGISTERS_PLAIN,
	[AGX_OP_STORE] = REGISTERS_PLAIN,
	[AGX_OP_LOCAL_LOAD] = REGISTERS_PLAIN,
	[AGX_OP_LOCAL_STORE] = REGISTERS_PLAIN,
	[AGX_OP_WAIT] = REGISTERS_PLAIN,

	[AGX_OP_STOP] = REGISTERS_OWN,
	[AGX_OP_TRAP] = REGISTERS_OWN,
	[AGX_OP_JMP_INCOMPLETE] = REGISTERS_OWN,
	[AGX_OP_JMP_ANY] = REGISTERS_OWN,
	[AGX_OP_JMP_NONE] = REGISTERS_OWN,
	[AGX_OP_IF_ICMP] = REGISTERS_OWN,
	[AGX_OP_IF_FCMP] = REGISTERS_OWN,
	[AGX_OP_ELSE_ICMP] = REGISTERS_OWN,
	[AGX_OP_ELSE_FCMP] = REGISTERS_OWN,
	[AGX_OP_WHILE_ICMP] = REGISTERS_OWN,
	[AGX_OP_WHILE_FCMP] = REGISTERS_OWN,
	[AGX_OP_POP_EXEC] = REGISTERS_OWN,
	[AGX_OP_UPDATE_EXEC] = REGISTERS_OWN,
	[AGX_OP_ATOMIC] = REGISTERS_OWN,
	[AGX_OP_LOCAL_ATOMIC] = REGISTERS_OWN,
	[AGX_OP_STACK_ADJUST] = REGISTERS_OWN,
	[AGX_OP_STACK_LOAD] = REGISTERS_OWN,
	[AGX_OP_STACK_STORE] = REGISTERS_OWN,
	[AGX_OP_BARRIER] = REGISTERS_OWN,
	[AGX_OP_MEMORY_BARRIER] = REGISTERS_OWN,
	[AGX_OP_MEMORY_BARRIER_2] = REGISTERS_OWN,
	[AGX_OP_MEMORY_BARRIER_3] = REGISTERS_OWN,
	[AGX_OP_DEVICE_BARRIER_1] = REGISTERS_OWN,
	[AGX_OP_DEVICE_BARRIER_2] = REGISTERS_OWN,
	[AGX_OP_PIXEL_WAIT] = REGISTERS_PLAIN,
	[AGX_OP_PIXEL_RELEASE] = REGISTERS_PLAIN,
	[AGX_OP_NO_VAR] = REGISTERS_PLAIN,
	[AGX_OP_ST_VAR] = REGISTERS_PLAIN,
	[AGX_OP_ITER] = REGISTERS_PLAIN,
	[AGX_OP_ITER_PROJECTED] = REGISTERS_PLAIN,
	[AGX_OP_LDCF] = REGISTERS_PLAIN,
	[AGX_OP_LD_TILE] = REGISTERS_OWN,

	[AGX_OP_SAMPLE_INT] = REGISTERS_OF_QUAD,
	[AGX_OP_SAMPLE_FLOAT] = REGISTERS_OF_QUAD,
	[AGX_OP_DFDX] = REGISTERS_OF_QUAD,
	[AGX_OP_DFDY] = REGISTERS_OF_QUAD,
	[AGX_OP_BALLOT_ACTIVE] = REGISTERS_OF_ALL,
	[AGX_OP_ICMP_BALLOT] = REGISTERS_OF_ALL,
	[AGX_OP_FCMP_BALLOT] = REGISTERS_OF_ALL,
	[AGX_OP_SHUFFLE] = REGISTERS_OF_ALL,
	[AGX_OP_QUAD_REDUCE] = REGISTERS_OF_ALL,
	[AGX_OP_SIMD_REDUCE] = REGISTERS_OF_ALL,
	[AGX_OP_IMAGE_WRITE] = REGISTERS_OF_ALL,
	[AGX_OP_IMAGE_WRITE_BLOCK] = REGISTERS_OF_ALL,
	[AGX_OP_ST_TILE] = REGISTERS_PLAIN,
	[AGX_OP_SAMPLE_MASK] = REGISTERS_PLAIN,
	[AGX_OP_ZS_EMIT] = REGISTERS_PLAIN,
};

/* Sets of 16-bit registers */
struct registers_set {
	uint64_t word[AGX_ISA_REGISTERS / 64];
};

static bool registers_has(const struct registers_set *set, unsigned int half)
{
	return set->word[half / 64] >> half % 64 & 1;
}

/* Adds the registers of an operand to a set, except for those in another set */
static void registers_add(struct registers_set *set, const struct agx_operand *o,
			  const struct registers_set *except)
{
	unsigned int half, end = (unsigned int)o->value + o->count * o->size / 16u;

	if (o->type != AGX_OPERAND_REG)
		return;
	/* the decoder refuses operands that end behind the last register */
	for (half = (unsigned int)o->value; half < end; half++) {
		if (!registers_has(except, half))
			set->word[half / 64] |= 1ull << half % 64;
	}
}

/* What the instruction of a program does that sees most registers */
static enum registers_use registers_use_of(const struct program *p)
{
	enum registers_use most = REGISTERS_OWN;
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		const struct op *op = &p->op[i];
		enum registers_use use = registers_uses[op->opcode];

		if (!op->replaced && use < most)
			most = use;
	}
	return most;
}

/* The threads that have to exist so that what does not exist is not seen, for each thread */
static const uint8_t registers_threads[] = {
	[REGISTERS_ANY] = 1,
	[REGISTERS_OF_ALL] = LANES,
	[REGISTERS_OF_QUAD] = 4,
	[REGISTERS_OWN] = 1,
};

/* Finds the registers that are written before they are read, in all threads */
static void registers_find_written(const struct program *p, struct registers_set *written)
{
	struct registers_set read = { 0 };
	const struct op *op = p->op;
	unsigned int i;

	for (; !op->replaced && registers_uses[op->opcode] == REGISTERS_PLAIN; op++) {
		for (i = 0; i < MAX_SRCS; i++)
			registers_add(&read, &op->src[i], written);
		registers_add(written, &op->dst, &read);
	}
}

void vagx_registers_find_unwritten(struct program *p)
{
	struct registers_set written = { 0 };
	enum registers_use use = registers_use_of(p);
	unsigned int reg;

	p->sees = registers_threads[use];
	if (use != REGISTERS_ANY)
		registers_find_written(p, &written);
	p->num_unwritten = 0;
	for (reg = 0; reg < (p->register_halves + 1) / 2; reg++) {
		if (!registers_has(&written, 2 * reg) || !registers_has(&written, 2 * reg + 1))
			p->unwritten[p->num_unwritten++] = (uint8_t)reg;
	}
}
