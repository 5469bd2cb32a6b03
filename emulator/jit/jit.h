/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The compiler for shader cores: turns decoded programs into code of the host's processor. The
 * interpreter remains the reference: it runs what is seldom run, and again what the code finds
 * to be special, so that results are equal to the bit.
 */
#ifndef VAGX_JIT_H
#define VAGX_JIT_H

#include <stdbool.h>
#include <stdint.h>

struct simdgroup;
struct vagx_jit;
struct vagx_native;
struct vagx_report;

/** enum vagx_jit_mode - what runs shaders */
enum vagx_jit_mode {
	/** @VAGX_JIT_OFF: the interpreter */
	VAGX_JIT_OFF,
	/** @VAGX_JIT_ON: native code, for programs that run often */
	VAGX_JIT_ON,
	/** @VAGX_JIT_ALL: native code, for all programs from their first use on */
	VAGX_JIT_ALL,
	/** @VAGX_JIT_CHECK: both, for all programs; a difference fails the job */
	VAGX_JIT_CHECK,
};

/** struct vagx_jit_config - configuration of the compiler */
struct vagx_jit_config {
	/** @mode: what runs shaders */
	enum vagx_jit_mode mode;
	/** @avx2: use AVX2 even if the processor has AVX-512 */
	bool avx2;
	/** @code_size: bytes of memory for code at most; 0 for the usual 64 MiB */
	uint32_t code_size;
};

/**
 * vagx_jit_parse() - read a configuration
 * @text: "off", "on", "all" or "check"; on x86-64 ",avx2" behind it, or not
 * @config: gets the configuration
 *
 * Return: whether it is one.
 */
bool vagx_jit_parse(const char *text, struct vagx_jit_config *config);

/** struct vagx_slice - what is left of a simdgroup's time slice, and what was done in it */
struct vagx_slice {
	/** @left: instructions; can become negative, as native code counts at jumps only */
	int64_t left;
	/** @thread_instructions: instructions done, counted once per active thread */
	uint64_t thread_instructions;
	/** @lanes_done: native code's: lanes that need not be done again, times four */
	uint32_t lanes_done;
};

/** struct vagx_jit_stats - counters since vagx_jit_new() */
struct vagx_jit_stats {
	/** @programs: programs compiled */
	uint64_t programs;
	/** @instructions: instructions of these */
	uint64_t instructions;
	/** @native: instructions of these that do not call functions */
	uint64_t native;
	/** @bytes: bytes of code */
	uint64_t bytes;
	/** @nanoseconds: processor time that compiling them took */
	uint64_t nanoseconds;
	/** @refused: programs for which there was no memory, or which were too long */
	uint64_t refused;
};

/**
 * vagx_jit_new() - make a compiler
 * @config: configuration
 * @report: takes messages; may be NULL
 *
 * Cores share it. Where the processor or the system does not allow native code, a message says so
 * and the interpreter serves.
 *
 * Return: the compiler; NULL for %VAGX_JIT_OFF, when native code is not possible, or when there is
 * no memory.
 */
struct vagx_jit *vagx_jit_new(const struct vagx_jit_config *config, struct vagx_report *report);

/**
 * vagx_jit_free() - free a compiler
 * @jit: compiler whose programs are gone, or NULL
 */
void vagx_jit_free(struct vagx_jit *jit);

/** vagx_jit_get_stats() - read the counters; all 0 if @jit is NULL */
void vagx_jit_get_stats(struct vagx_jit *jit, struct vagx_jit_stats *stats);

/** vagx_jit_checks() - whether what is done in another way is compared; false if @jit is NULL */
bool vagx_jit_checks(const struct vagx_jit *jit);

/**
 * vagx_jit_enter() - a simdgroup begins a time slice in a program
 * @jit: compiler, or NULL
 * @sg: simdgroup
 *
 * Compiles the program when it has become worth it; other threads interpret it meanwhile.
 *
 * Return: the program's code, which lives as long as the program; NULL if it is interpreted.
 */
const struct vagx_native *vagx_jit_enter(struct vagx_jit *jit, const struct simdgroup *sg);

/**
 * vagx_jit_run() - run a simdgroup by native code, until its slice ends or its state changes
 * @native: code of the simdgroup's program
 * @sg: simdgroup that runs; it can be in another program afterwards
 * @slice: its time slice
 */
void vagx_jit_run(const struct vagx_native *native, struct simdgroup *sg,
		  struct vagx_slice *slice);

#endif /* VAGX_JIT_H */
