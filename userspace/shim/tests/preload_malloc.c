// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * An allocator to be preloaded beside the shim. As jemalloc does, it asks mmap() for memory, from
 * the first allocation of the process on, and holds its lock while the process is forked. It
 * never gives memory back. An allocation within an allocation ends the process.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK	(UINT64_C(4) << 20)
#define ALIGN	UINT64_C(16)

static pthread_mutex_t malloc_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int malloc_depth;
static uintptr_t malloc_next, malloc_end;

static void malloc_before_fork(void)
{
	pthread_mutex_lock(&malloc_lock);
}

static void malloc_after_fork(void)
{
	pthread_mutex_unlock(&malloc_lock);
}

/* Makes room for a number of bytes. With the lock held. Return: whether there is some. */
static int malloc_grow(uint64_t size)
{
	static int begun;
	void *map;

	if (!begun) {
		begun = 1;
		pthread_atfork(malloc_before_fork, malloc_after_fork, malloc_after_fork);
	}
	size = size > CHUNK ? (size + 4095) & ~UINT64_C(4095) : CHUNK;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return 0;
	malloc_next = (uintptr_t)map;
	malloc_end = malloc_next + size;
	return 1;
}

static void *malloc_aligned(size_t align, size_t size)
{
	uintptr_t at = 0;

	if (size > SIZE_MAX / 2 || align > SIZE_MAX / 4)
		return NULL;
	if (malloc_depth++)
		abort();
	pthread_mutex_lock(&malloc_lock);
	align = align < ALIGN ? ALIGN : align;
	/* The size is in front of the memory. */
	if (malloc_end - malloc_next >= size + align + ALIGN || malloc_grow(size + align + ALIGN)) {
		at = (malloc_next + ALIGN + align - 1) & ~(align - 1);
		((uint64_t *)at)[-1] = size;
		malloc_next = at + size;
	}
	pthread_mutex_unlock(&malloc_lock);
	malloc_depth--;
	if (!at)
		errno = ENOMEM;
	return (void *)at;
}

void *malloc(size_t size)
{
	return malloc_aligned(ALIGN, size);
}

/* Memory of mmap() is zero, and none is used twice. */
void *calloc(size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return NULL;
	return malloc_aligned(ALIGN, count * size);
}

void *realloc(void *old, size_t size)
{
	void *memory = malloc_aligned(ALIGN, size);
	uint64_t had = old ? ((uint64_t *)old)[-1] : 0;

	if (memory && had)
		memcpy(memory, old, had < size ? had : size);
	return memory;
}

void free(void *memory)
{
}

void *aligned_alloc(size_t align, size_t size)
{
	return malloc_aligned(align, size);
}

void *memalign(size_t align, size_t size);
void *memalign(size_t align, size_t size)
{
	return malloc_aligned(align, size);
}

int posix_memalign(void **memory, size_t align, size_t size)
{
	*memory = malloc_aligned(align, size);
	return *memory ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *memory);
size_t malloc_usable_size(void *memory)
{
	return memory ? ((uint64_t *)memory)[-1] : 0;
}
