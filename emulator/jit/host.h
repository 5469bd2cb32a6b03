/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What a processor has to offer to the rest of the compiler besides vectors (vectors.h): the entry
 * of native code and the way back, jumps, calls and counters. Each kind of processor has these
 * functions in a file of its own: x86_host.c, arm64_host.c. All but the last one append code.
 */
#ifndef VAGX_JIT_HOST_H
#define VAGX_JIT_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
#define HOST_GPR(x86, arm64)	(x86)
#else
#define HOST_GPR(x86, arm64)	(arm64)
#endif

struct build;
struct op;
struct simdgroup;
struct vagx_jit_config;
struct vectors;

/** enum gpr - general registers of native code, which functions in C keep */
enum gpr {
	/** @GPR_SG: struct simdgroup */
	GPR_SG = HOST_GPR(3, 19),	/* RBX, X19 */
	/** @GPR_ACTIVE: number of active lanes */
	GPR_ACTIVE = HOST_GPR(5, 20),	/* RBP, X20 */
	/** @GPR_COUNT: thread instructions since the entry */
	GPR_COUNT = HOST_GPR(12, 21),
	/** @GPR_UNIFORMS: uniform registers */
	GPR_UNIFORMS = HOST_GPR(13, 22),
	/** @GPR_POOL: constants */
	GPR_POOL = HOST_GPR(14, 23),
	/** @GPR_SLICE: struct vagx_slice */
	GPR_SLICE = HOST_GPR(15, 24),
};

/** enum host_condition - when jumps are taken, after a comparison with 0 */
enum host_condition {
	HOST_ZERO,
	HOST_NOT_ZERO,
	/** @HOST_POSITIVE: of signed numbers */
	HOST_POSITIVE,
	/** @HOST_LESS: of unsigned numbers, after vagx_host_compare_field() */
	HOST_LESS,
};

/** vagx_host_enter() - the beginning of vagx_native_fn: the registers and floats of native code */
void vagx_host_enter(struct build *b);
/** vagx_host_enter_at() - its end: go to the place where the code is entered */
void vagx_host_enter_at(struct build *b);
/** vagx_host_leave() - return to C with the result, in C's mode of floats */
void vagx_host_leave(struct build *b);

/** vagx_host_native_mode() - have floats be native code's, where they may be C's */
void vagx_host_native_mode(struct build *b);
/**
 * vagx_host_call() - call a function of C with the simdgroup and an instruction
 * @b: build
 * @fn: function
 * @op: instruction
 * @c_mode: change floats from native code's to C's before it
 */
void vagx_host_call(struct build *b, void (*fn)(struct simdgroup *sg, const struct op *op),
		    const struct op *op, bool c_mode);

/** vagx_host_set_result() - the result of vagx_native_fn */
void vagx_host_set_result(struct build *b, uint32_t result);
/** vagx_host_clear_result() - the same for 0; changes what comparisons have left */
void vagx_host_clear_result(struct build *b);
/** vagx_host_set_field() - a field of 32 bits of the simdgroup, at @offset */
void vagx_host_set_field(struct build *b, uint32_t offset, uint32_t value);
/** vagx_host_count() - take @count instructions off the slice, and count each for active lanes */
void vagx_host_count(struct build *b, uint32_t count);
/** vagx_host_load_uniform() - a uniform of 16 bits, extended, for copy_scalar() in vectors.h */
void vagx_host_load_uniform(struct build *b, unsigned int half, bool sign_extend);

/** vagx_host_test_field() - compare a field of 32 bits of the simdgroup with 0 */
void vagx_host_test_field(struct build *b, uint32_t offset);
/** vagx_host_compare_field() - compare a field of 32 bits of the simdgroup with @value */
void vagx_host_compare_field(struct build *b, uint32_t offset, uint32_t value);
/** vagx_host_test_active() - compare with 0 how many lanes are not active */
void vagx_host_test_active(struct build *b);
/** vagx_host_test_slice() - compare the instructions that are left of the slice with 0 */
void vagx_host_test_slice(struct build *b);
/** vagx_host_jump() - a jump. Return: where it is, for vagx_host_set_target() */
size_t vagx_host_jump(struct build *b);
/** vagx_host_jump_if() - the same after a comparison */
size_t vagx_host_jump_if(struct build *b, enum host_condition condition);
/** vagx_host_set_target() - have the jump at @at go to offset @target of the code */
void vagx_host_set_target(struct build *b, size_t at, size_t target);

/**
 * vagx_host_vectors() - choose the vectors that this processor has
 * @config: configuration
 * @why: gets the reason if there are none, for people
 *
 * Return: NULL if it has none that the compiler knows.
 */
const struct vectors *vagx_host_vectors(const struct vagx_jit_config *config, const char **why);

#endif /* VAGX_JIT_HOST_H */
