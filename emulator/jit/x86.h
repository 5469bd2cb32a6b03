/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * An encoder of x86-64 with AVX-512: appends instructions to a buffer. It knows nothing of AGX,
 * and keeps no state besides the buffer. Used by one thread at a time.
 */
#ifndef VAGX_JIT_X86_H
#define VAGX_JIT_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/** enum x86_vector - vector instructions, the rows of x86.def */
enum x86_vector {
#define X86_VECTOR(id, name, map, prefix, opcode, w, form)	X86_##id,
#include "x86.def"
	X86_VECTORS
};

/** enum x86_narrow - further ones of 256 bits, the rows of x86_narrow.def */
enum x86_narrow {
#define X86_NARROW(id, name, map, prefix, opcode, w, form)	X86_256_##id,
#include "x86_narrow.def"
	X86_NARROWS
};

/** enum x86_gpr - general registers, by their numbers */
enum x86_gpr {
	X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI,
	X86_R8, X86_R9, X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

/** enum x86_condition - conditions of jumps, by their codes */
enum x86_condition {
	X86_CARRY = 2,
	X86_NOT_CARRY = 3,
	X86_EQUAL = 4,
	X86_NOT_EQUAL = 5,
	X86_GREATER = 15,
};

/** enum x86_predicate - immediate of X86_CMP and X86_CMP_UNSIGNED */
enum x86_predicate {
	X86_CMP_EQ,
	X86_CMP_LT,
	X86_CMP_LE,
	X86_CMP_NE = 4,
	X86_CMP_GE,
	X86_CMP_GT,
};

/** enum x86_float_predicate - immediate of X86_CMP_FLOAT: quiet, false for NaN but the last two */
enum x86_float_predicate {
	X86_FLOAT_EQ = 0x00,
	X86_FLOAT_LT = 0x11,
	X86_FLOAT_LE = 0x12,
	X86_FLOAT_GE = 0x1d,
	X86_FLOAT_GT = 0x1e,
	X86_FLOAT_ORDERED = 0x07,
	X86_FLOAT_UNORDERED = 0x03,
	X86_FLOAT_NEQ_UNORDERED = 0x04,
	X86_FLOAT_NEQ = 0x0c,
};

/** enum x86_rounding - rounding of one instruction, instead of that of MXCSR */
enum x86_rounding {
	X86_ROUND_DOWN = 1,
	X86_ROUND_UP = 2,
	X86_ROUND_ZERO = 3,
};

/** enum x86_mask_op - two-source instructions for mask registers of 16 bits: opcode of KxxxW */
enum x86_mask_op {
	X86_KAND = 0x41,
	X86_KANDN = 0x42,
	X86_KOR = 0x45,
	X86_KXNOR = 0x46,
	X86_KXOR = 0x47,
	X86_KUNPCK = 0x4b,
};

/** struct x86_rm - the last source of a vector instruction: a register or memory */
struct x86_rm {
	/** @is_memory: it is at @base + @disp; else in vector register @reg */
	bool is_memory;
	/** @is_broadcast: one element in memory, for all lanes */
	bool is_broadcast;
	/** @is_indexed: RCX is added to the address; 256 bits only */
	bool is_indexed;
	/** @reg: number, 0 to 31 */
	uint8_t reg;
	/** @base: enum x86_gpr; neither X86_RSP nor X86_R12 */
	uint8_t base;
	/** @disp: bytes */
	int32_t disp;
};

/** struct x86_masking - how a vector instruction treats the lanes of its destination */
struct x86_masking {
	/** @k: mask register, 1 to 7; 0 for all lanes */
	uint8_t k;
	/** @zero: lanes that are off become 0 instead of keeping their values */
	bool zero;
	/** @rounding: enum x86_rounding, for sources in registers; 0 for that of MXCSR */
	uint8_t rounding;
};

/* The usual operands */
#define X86_REG(number)		((struct x86_rm){ .reg = (number) })
#define X86_MEMORY(b, d)	((struct x86_rm){ .is_memory = true, .base = (b), .disp = (d) })
#define X86_SPLAT(b, d)		((struct x86_rm){ .is_memory = true, .is_broadcast = true,	\
						  .base = (b), .disp = (d) })
#define X86_ALL_LANES		((struct x86_masking){ .k = 0 })
#define X86_MASKED(mask)	((struct x86_masking){ .k = (mask) })
#define X86_ZEROED(mask)	((struct x86_masking){ .k = (mask), .zero = true })
#define X86_ROUNDED(mode)	((struct x86_masking){ .rounding = (mode) })

/*
 * The functions below append at most 16 bytes each. The caller has reserved them.
 */

/**
 * vagx_x86_vector() - append a vector instruction
 * @code: buffer
 * @op: row of the table
 * @reg: destination: a vector register, or a mask register of comparisons; of X86_STORE the source
 * @v: first source; ignored for instructions that have one source only
 * @rm: last source; of X86_STORE the destination
 * @masking: lanes
 */
void vagx_x86_vector(struct code_buf *code, enum x86_vector op, unsigned int reg, unsigned int v,
		     struct x86_rm rm, struct x86_masking masking);
/** vagx_x86_vector_imm() - the same with an immediate byte, or the count of a shift */
void vagx_x86_vector_imm(struct code_buf *code, enum x86_vector op, unsigned int reg,
			 unsigned int v, struct x86_rm rm, struct x86_masking masking,
			 unsigned int imm);

/**
 * vagx_x86_256() - append a vector instruction of 256 bits, without masks and broadcasts
 * @code: buffer
 * @op: row of x86.def that AVX2 has, too
 * @reg: destination; of X86_STORE the source; 0 to 15, as all registers
 * @v: first source; ignored for instructions that have one source only
 * @rm: last source; of X86_STORE the destination
 */
void vagx_x86_256(struct code_buf *code, enum x86_vector op, unsigned int reg, unsigned int v,
		  struct x86_rm rm);
/** vagx_x86_256_imm() - the same with an immediate byte, or the count of a shift */
void vagx_x86_256_imm(struct code_buf *code, enum x86_vector op, unsigned int reg, unsigned int v,
		      struct x86_rm rm, unsigned int imm);
/** vagx_x86_narrow() - the same for a row of x86_narrow.def */
void vagx_x86_narrow(struct code_buf *code, enum x86_narrow op, unsigned int reg, unsigned int v,
		     struct x86_rm rm);
/** vagx_x86_narrow_imm() - the same with an immediate byte */
void vagx_x86_narrow_imm(struct code_buf *code, enum x86_narrow op, unsigned int reg,
			 unsigned int v, struct x86_rm rm, unsigned int imm);

/** vagx_x86_mask() - @dst = @a op @b, for mask registers */
void vagx_x86_mask(struct code_buf *code, enum x86_mask_op op, unsigned int dst, unsigned int a,
		   unsigned int b);
/** vagx_x86_mask_not() - @dst = ~@a */
void vagx_x86_mask_not(struct code_buf *code, unsigned int dst, unsigned int a);
/** vagx_x86_mask_test() - zero flag: @a | @b is 0; carry flag: it is all ones */
void vagx_x86_mask_test(struct code_buf *code, unsigned int a, unsigned int b);
/** vagx_x86_mask_load() - load 16 bits of memory to a mask register; @base is none of R8 to R15 */
void vagx_x86_mask_load(struct code_buf *code, unsigned int k, unsigned int base, int32_t disp);
/** vagx_x86_mask_to_eax() - copy 32 bits of a mask register to EAX */
void vagx_x86_mask_to_eax(struct code_buf *code, unsigned int k);

/**
 * vagx_x86_jump() - append a jump or a call whose target is not known yet
 * @code: buffer
 * Return: where its displacement is, for vagx_x86_set_target()
 */
size_t vagx_x86_jump(struct code_buf *code);
/** vagx_x86_jump_if() - the same for a conditional jump */
size_t vagx_x86_jump_if(struct code_buf *code, enum x86_condition condition);
/** vagx_x86_call() - the same for a call */
size_t vagx_x86_call(struct code_buf *code);
/** vagx_x86_set_target() - have the jump or call at @at go to offset @target of the code */
void vagx_x86_set_target(struct code_buf *code, size_t at, size_t target);

#endif /* VAGX_JIT_X86_H */
