/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What x86 calls the instructions and comparisons of vectors.h: the rows of x86.def and
 * immediates.
 */
#ifndef VAGX_JIT_X86_NAMES_H
#define VAGX_JIT_X86_NAMES_H

#include "vectors.h"
#include "x86.h"

/** vagx_x86_of_op() - the row of an instruction */
enum x86_vector vagx_x86_of_op(enum vector_op op);
/** vagx_x86_of_imm() - the immediate of an instruction */
unsigned int vagx_x86_of_imm(enum vector_op op, unsigned int imm);
/** vagx_x86_of_predicate() - a comparison of integers */
enum x86_predicate vagx_x86_of_predicate(enum predicate predicate);
/** vagx_x86_of_float_predicate() - a comparison of floats */
enum x86_float_predicate vagx_x86_of_float_predicate(enum predicate predicate);

#endif /* VAGX_JIT_X86_NAMES_H */
