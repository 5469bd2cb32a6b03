// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * An arena of chunks, each of memory that is mapped twice. A chunk is filled from its
 * beginning, and is empty again when all of its pieces have been given back: programs of one
 * context come and go together, so chunks do empty.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "code.h"

/* Bytes of a chunk; a larger piece has one of its own */
#define CHUNK	(1u << 20)
/* Pieces begin at lines of the host's caches */
#define ALIGN	64u

struct vagx_arena_chunk {
	struct vagx_arena_chunk *next;
	/* the two mappings of the same memory */
	uint8_t *write;
	const uint8_t *run;
	size_t size;
	/* bytes from the beginning that are or were in use */
	size_t filled;
	unsigned int pieces;
};

struct vagx_arena {
	/* everything below */
	pthread_mutex_t lock;
	struct vagx_arena_chunk *chunks;
	size_t size;
	size_t max;
};

struct vagx_arena *vagx_arena_new(size_t max)
{
	struct vagx_arena *arena = calloc(1, sizeof(*arena));

	if (!arena)
		return NULL;
	arena->max = max ? max : VAGX_ARENA_MAX;
	pthread_mutex_init(&arena->lock, NULL);
	return arena;
}

static void code_free_chunk(struct vagx_arena_chunk *chunk)
{
	if (chunk->write)
		munmap(chunk->write, chunk->size);
	if (chunk->run)
		munmap((void *)chunk->run, chunk->size);
	free(chunk);
}

void vagx_arena_free(struct vagx_arena *arena)
{
	if (!arena)
		return;
	while (arena->chunks) {
		struct vagx_arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		code_free_chunk(chunk);
	}
	pthread_mutex_destroy(&arena->lock);
	free(arena);
}

/*
 * Maps memory twice. A process that forks keeps it to itself: the child would share what it writes.
 * Anonymous memory, unlike a file's, has names in perf (jit.c). Return: 0 or the system's error.
 */
static int code_map_twice(struct vagx_arena_chunk *chunk)
{
	void *write = mmap(NULL, chunk->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	void *run;

	if (write == MAP_FAILED)
		return -errno;
	chunk->write = write;
	/* of shared memory, a part without a length is mapped once more */
	run = mremap(write, 0, chunk->size, MREMAP_MAYMOVE);
	if (run == MAP_FAILED)
		return -errno;
	chunk->run = run;
	if (mprotect(run, chunk->size, PROT_READ | PROT_EXEC) ||
	    madvise(run, chunk->size, MADV_DONTFORK) ||
	    madvise(write, chunk->size, MADV_DONTFORK))
		return -errno;
	return 0;
}

/* Adds an empty chunk of at least @size bytes. With the lock held. */
static int code_grow(struct vagx_arena *arena, size_t size)
{
	struct vagx_arena_chunk *chunk;
	int err;

	size = size > CHUNK ? (size + CHUNK - 1) / CHUNK * CHUNK : CHUNK;
	if (arena->size + size > arena->max)
		return -ENOSPC;
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	chunk->size = size;
	err = code_map_twice(chunk);
	if (err) {
		code_free_chunk(chunk);
		return err;
	}
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	arena->size += size;
	return 0;
}

/* A chunk with room. With the lock held. */
static struct vagx_arena_chunk *code_find_room(struct vagx_arena *arena, size_t size)
{
	struct vagx_arena_chunk *chunk;

	for (chunk = arena->chunks; chunk; chunk = chunk->next) {
		if (chunk->size - chunk->filled >= size)
			return chunk;
	}
	return NULL;
}

/* Puts code behind what a chunk has. Caches of instructions need not see writes by themselves. */
static void code_write(struct vagx_arena_chunk *chunk, const void *bytes, size_t length)
{
	char *write = (char *)chunk->write + chunk->filled;
	char *run = (char *)chunk->run + chunk->filled;

	memcpy(write, bytes, length);
	/* data go to memory from the one address, instructions come from it by the other */
	__builtin___clear_cache(write, write + length);
	__builtin___clear_cache(run, run + length);
}

int vagx_arena_add(struct vagx_arena *arena, const void *bytes, size_t length,
		   struct vagx_code *code)
{
	size_t size = (length + ALIGN - 1) / ALIGN * ALIGN;
	struct vagx_arena_chunk *chunk;
	int err = 0;

	if (length > arena->max)
		return -ENOSPC;
	pthread_mutex_lock(&arena->lock);
	chunk = code_find_room(arena, size);
	if (!chunk) {
		err = code_grow(arena, size);
		chunk = err ? NULL : arena->chunks;
	}
	if (chunk) {
		code->chunk = chunk;
		code->run = chunk->run + chunk->filled;
		code->length = length;
		code_write(chunk, bytes, length);
		chunk->filled += size;
		chunk->pieces++;
	}
	pthread_mutex_unlock(&arena->lock);
	return err;
}

/* Unmaps a chunk that is empty, unless it is the only one. With the lock held. */
static void code_shrink(struct vagx_arena *arena, struct vagx_arena_chunk *chunk)
{
	struct vagx_arena_chunk **link = &arena->chunks;

	chunk->filled = 0;
	if (arena->chunks == chunk && !chunk->next)
		return;
	while (*link != chunk)
		link = &(*link)->next;
	*link = chunk->next;
	arena->size -= chunk->size;
	code_free_chunk(chunk);
}

void vagx_arena_remove(struct vagx_arena *arena, const struct vagx_code *code)
{
	pthread_mutex_lock(&arena->lock);
	if (!--code->chunk->pieces)
		code_shrink(arena, code->chunk);
	pthread_mutex_unlock(&arena->lock);
}
