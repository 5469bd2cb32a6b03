/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the arithmetic instructions compute, in plain C and whole numbers: the
 * opinion that the shader core's is compared with. It was written from the
 * published descriptions (applegpu "docs.html", "applegpu.py", "fma.py") and
 * has nothing of the core but the names of instructions.
 */
#ifndef ALU_REFERENCE_H
#define ALU_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "agx_isa.h"

#define ALU_LANES	32

/** struct alu_source - a source of an instruction, in all threads */
struct alu_source {
	/** @bits: what is in the register; of an immediate, its eight bits */
	uint64_t bits[ALU_LANES];
	/** @size: bits of a register or uniform, 8 for an immediate */
	unsigned int size;
	/** @small_float: an immediate that stands for a float */
	bool small_float;
	bool absolute;
	bool negate;
	bool sign_extend;
};

/** struct alu_question - an instruction and what it gets */
struct alu_question {
	enum agx_opcode op;
	struct alu_source src[4];
	unsigned int dst_size;
	/** @active: threads that execute it, a bit each */
	uint32_t active;
	/* Modifiers */
	bool saturate;
	bool rotate;
	unsigned int shift;
	unsigned int cond;
	unsigned int round;
	unsigned int bitmask;
	unsigned int kind;
	bool quad;
	bool prefix;
	uint64_t immediate;
};

/** struct alu_answer - what active threads have in their destination */
struct alu_answer {
	uint64_t bits[ALU_LANES];
	/** @ulps: how many units of the last place it may be away, as a float */
	unsigned int ulps;
	/** @is_float: any NaN with the pattern of the one NaN */
	bool is_float;
};

/**
 * alu_reference() - compute an instruction
 *
 * Return: false for what the descriptions don't say.
 */
bool alu_reference(const struct alu_question *question, struct alu_answer *answer);

/** alu_is_covered() - whether there is a reference for an instruction */
bool alu_is_covered(enum agx_opcode op);

#endif /* ALU_REFERENCE_H */
