/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Memory for native code. Each piece is mapped twice, for writing and for executing, so that no
 * address can ever be written and executed: systems that enforce this can stay as strict as
 * they are.
 */
#ifndef VAGX_JIT_CODE_H
#define VAGX_JIT_CODE_H

#include <stddef.h>
#include <stdint.h>

struct vagx_arena;
struct vagx_arena_chunk;

/** VAGX_ARENA_MAX - bytes of code that an arena usually holds at most */
#define VAGX_ARENA_MAX	(64u << 20)

/** struct vagx_code - a piece of code in an arena */
struct vagx_code {
	/** @run: its first byte, which can be executed and read */
	const uint8_t *run;
	/** @length: bytes of it */
	size_t length;
	/** @chunk: where it is from */
	struct vagx_arena_chunk *chunk;
};

/**
 * vagx_arena_new() - make an empty arena
 * @max: bytes that it holds at most; 0 for VAGX_ARENA_MAX
 *
 * Return: NULL when there is no memory.
 */
struct vagx_arena *vagx_arena_new(size_t max);

/** vagx_arena_free() - free an arena whose pieces have all been given back, or NULL */
void vagx_arena_free(struct vagx_arena *arena);

/**
 * vagx_arena_add() - copy code to an arena
 * @arena: arena
 * @bytes: the code, which must not depend on its address
 * @length: bytes of it
 * @code: the result
 *
 * May be called by several threads.
 *
 * Return: 0; -ENOSPC when the arena is full; -ENOMEM; or the error of a system that does not
 * let memory be executed.
 */
int vagx_arena_add(struct vagx_arena *arena, const void *bytes, size_t length,
		   struct vagx_code *code);

/**
 * vagx_code_see() - have this thread see code that another one has added
 *
 * After a thread has read that there is code, and before it executes it for the first time: its
 * processor may have fetched instructions ahead, of a piece that was there before.
 */
static inline void vagx_code_see(void)
{
#ifdef __aarch64__
	__asm__ volatile("isb" ::: "memory");
#endif
}

/** vagx_arena_remove() - give a piece back, which no thread executes. By any thread. */
void vagx_arena_remove(struct vagx_arena *arena, const struct vagx_code *code);

#endif /* VAGX_JIT_CODE_H */
