/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * An encoder of AArch64: appends instructions to a buffer. It knows nothing of AGX, and keeps no
 * state besides the buffer.
 */
#ifndef VAGX_JIT_ARM64_H
#define VAGX_JIT_ARM64_H

#include "buffer.h"

/** enum arm64_op - instructions, the rows of arm64.def */
enum arm64_op {
#define ARM64(id, text, opcode, shift, scale, base)	ARM64_##id,
#include "arm64.def"
	ARM64_OPS
};

/* General register 31 is the stack pointer, where an instruction can have it at all */
#define ARM64_SP	31
/* The link register */
#define ARM64_LR	30

/** enum arm64_condition - conditions of branches, by their codes; the lowest bit inverts them */
enum arm64_condition {
	ARM64_EQUAL = 0,
	ARM64_NOT_EQUAL = 1,
	ARM64_LOWER = 3,
	ARM64_GREATER = 12,
};

/*
 * The functions below append at most 16 bytes each. The caller has reserved them.
 */

/**
 * vagx_arm64() - append an instruction
 * @code: buffer
 * @op: row of the table, without an immediate
 * @d: destination; of stores the source
 * @n: first source; 0 if there is none
 * @m: second source; 0 if there is none
 */
void vagx_arm64(struct code_buf *code, enum arm64_op op, unsigned int d, unsigned int n,
		unsigned int m);
/** vagx_arm64_imm() - the same for a row with an immediate, which has to be one that it can have */
void vagx_arm64_imm(struct code_buf *code, enum arm64_op op, unsigned int d, unsigned int n,
		    unsigned int m, unsigned int imm);
/** vagx_arm64_constant() - set register @d to @value by one to four instructions */
void vagx_arm64_constant(struct code_buf *code, unsigned int d, uint64_t value);

/**
 * vagx_arm64_jump() - append a branch whose target is not known yet
 * @code: buffer
 * Return: where it is, for vagx_arm64_set_target()
 */
size_t vagx_arm64_jump(struct code_buf *code);
/** vagx_arm64_jump_if() - the same on a condition, as far: the opposite one skips the branch */
size_t vagx_arm64_jump_if(struct code_buf *code, enum arm64_condition condition);
/** vagx_arm64_set_target() - have the branch at @at go to offset @target, within 128 MiB */
void vagx_arm64_set_target(struct code_buf *code, size_t at, size_t target);

#endif /* VAGX_JIT_ARM64_H */
