/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What can be said of a shader's code without running it: loads whose result is used before the
 * wait for it, registers that are read after their last use was announced, or that nothing has
 * written, and code that runs out. For people who write compilers.
 *
 * Asynchronous instructions have a group, a or b, and "wait" waits for all of one (Mesa
 * "src/asahi/compiler/agx_insert_waits.c"). That a source may be lost after a last use ("^") is
 * what Mesa's compiler assumes ("agx_register_allocate.c"); no machine has been asked.
 */
#ifndef AGX_LINT_H
#define AGX_LINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx_isa.h"

/** enum agx_lint_kind - what is found */
enum agx_lint_kind {
	/** @AGX_LINT_READS_PENDING: reads a register that a load may still write */
	AGX_LINT_READS_PENDING,
	/** @AGX_LINT_WRITES_PENDING: writes a register that a load may still write */
	AGX_LINT_WRITES_PENDING,
	/** @AGX_LINT_READS_DISCARDED: reads a register after its last use was announced */
	AGX_LINT_READS_DISCARDED,
	/**
	 * @AGX_LINT_READS_UNWRITTEN: reads a register that no path has written; compilers do so for
	 * values that do not matter
	 */
	AGX_LINT_READS_UNWRITTEN,
	/** @AGX_LINT_REGISTER: has a register that the thread does not have */
	AGX_LINT_REGISTER,
	/** @AGX_LINT_UNKNOWN: is no instruction that is known */
	AGX_LINT_UNKNOWN,
	/** @AGX_LINT_RUNS_OUT: goes on behind the end of the code */
	AGX_LINT_RUNS_OUT,
	/** @AGX_LINT_TARGET: jumps to an address outside of the code */
	AGX_LINT_TARGET,
	AGX_LINT_KINDS
};

/** struct agx_lint_finding - one thing that is found, once for each place */
struct agx_lint_finding {
	/** @kind: what it is */
	enum agx_lint_kind kind;
	/** @offset: bytes from the code's beginning to the instruction */
	size_t offset;
	/** @instr: the instruction; NULL for AGX_LINT_UNKNOWN */
	const struct agx_instr *instr;
	/** @half: number of the first 16-bit register that is meant, where one is */
	unsigned int half;
};

/** struct agx_lint - how to look at code */
struct agx_lint {
	/** @registers: 16-bit registers that a thread has; 0 for all that there are */
	unsigned int registers;
	/** @unwritten: report AGX_LINT_READS_UNWRITTEN */
	bool unwritten;
	/** @entry: bytes from the code's beginning to the instruction that threads begin at */
	size_t entry;
	/**
	 * @known: for each two bytes of code, whether they are known; NULL if all of them are.
	 * A path ends without a finding where they are not, and behind the code.
	 */
	const uint8_t *known;
	/** @report: takes findings, by offset */
	void (*report)(void *ctx, const struct agx_lint_finding *finding);
	/** @ctx: its first argument */
	void *ctx;
};

/**
 * agx_lint_code() - look for mistakes in code
 * @lint: how
 * @code: the code, from its first instruction on
 * @size: bytes of it
 *
 * Follows the flow of control from where threads begin on, so that what cannot be reached is
 * not looked at. Code behind jumps to registers is not known.
 *
 * Return: number of findings; -1 when there is no memory.
 */
int agx_lint_code(const struct agx_lint *lint, const uint8_t *code, size_t size);

/** agx_lint_text() - what is found, in words that go on behind "this instruction" */
const char *agx_lint_text(enum agx_lint_kind kind);

#endif /* AGX_LINT_H */
