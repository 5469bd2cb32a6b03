// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The names of vectors.h in the language of x86.
 */
#include "x86_names.h"

enum x86_vector vagx_x86_of_op(enum vector_op op)
{
	static const uint8_t rows[VECTOR_OPS] = {
		[VECTOR_ADD] = X86_ADD,
		[VECTOR_ADD16] = X86_ADD16,
		[VECTOR_SUB] = X86_SUB,
		[VECTOR_SUB16_SATURATED] = X86_SUB16_SATURATED,
		[VECTOR_MUL] = X86_MUL,
		[VECTOR_MIN] = X86_MIN,
		[VECTOR_MAX] = X86_MAX,
		[VECTOR_MIN_UNSIGNED] = X86_MIN_UNSIGNED,
		[VECTOR_AND] = X86_AND,
		[VECTOR_OR] = X86_OR,
		[VECTOR_XOR] = X86_XOR,
		[VECTOR_SHL] = X86_SHL,
		[VECTOR_SHR] = X86_SHR,
		[VECTOR_SAR] = X86_SAR,
		[VECTOR_SHL_IMM] = X86_SHL_IMM,
		[VECTOR_SHR_IMM] = X86_SHR_IMM,
		[VECTOR_SAR_IMM] = X86_SAR_IMM,
		[VECTOR_FADD] = X86_FADD,
		[VECTOR_FMUL] = X86_FMUL,
		[VECTOR_FDIV] = X86_FDIV,
		[VECTOR_FMIN] = X86_FMIN,
		[VECTOR_FMAX] = X86_FMAX,
		[VECTOR_FMA132] = X86_FMA132,
		[VECTOR_FMA213] = X86_FMA213,
		[VECTOR_FMA231] = X86_FMA231,
		[VECTOR_ROUND] = X86_ROUND,
		[VECTOR_INT_TO_FLOAT] = X86_INT_TO_FLOAT,
		[VECTOR_UINT_TO_FLOAT] = X86_UINT_TO_FLOAT,
		[VECTOR_FLOAT_TO_INT] = X86_FLOAT_TO_INT,
		[VECTOR_FLOAT_TO_INT_ZERO] = X86_FLOAT_TO_INT_ZERO,
		[VECTOR_FLOAT_TO_UINT] = X86_FLOAT_TO_UINT,
		[VECTOR_FLOAT_TO_UINT_ZERO] = X86_FLOAT_TO_UINT_ZERO,
	};

	return rows[op];
}

unsigned int vagx_x86_of_imm(enum vector_op op, unsigned int imm)
{
	/* directions have the same numbers; with bit 3 no exception is noted */
	return op == VECTOR_ROUND ? imm | 8 : imm;
}

enum x86_predicate vagx_x86_of_predicate(enum predicate predicate)
{
	static const uint8_t immediates[] = {
		[COMPARE_EQ] = X86_CMP_EQ,
		[COMPARE_LT] = X86_CMP_LT,
		[COMPARE_LE] = X86_CMP_LE,
		[COMPARE_NE] = X86_CMP_NE,
		[COMPARE_GE] = X86_CMP_GE,
		[COMPARE_GT] = X86_CMP_GT,
	};

	return immediates[predicate];
}

enum x86_float_predicate vagx_x86_of_float_predicate(enum predicate predicate)
{
	static const uint8_t immediates[] = {
		[COMPARE_EQ] = X86_FLOAT_EQ,
		[COMPARE_LT] = X86_FLOAT_LT,
		[COMPARE_LE] = X86_FLOAT_LE,
		[COMPARE_NE] = X86_FLOAT_NEQ,
		[COMPARE_GE] = X86_FLOAT_GE,
		[COMPARE_GT] = X86_FLOAT_GT,
		[COMPARE_UNORDERED] = X86_FLOAT_UNORDERED,
	};

	return immediates[predicate];
}
