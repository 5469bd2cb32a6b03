/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the functions for loads and stores of all instruction sets share, inlined in them.
 */
#ifndef VAGX_JIT_MEMORY_H
#define VAGX_JIT_MEMORY_H

#include "build.h"

/** memory_shift() - the shift of an index in device memory; 3 does what 2 does */
INLINE unsigned int memory_shift(const struct op *op)
{
	unsigned int shift = op->mod[AGX_MOD_SHIFT];

	return shift < 3 ? shift : 2;
}

/** memory_read() - an element of 1 << @log2_size bytes */
INLINE uint32_t memory_read(const uint8_t *p, unsigned int log2_size)
{
	switch (log2_size) {
	case 0:
		return __atomic_load_n(p, __ATOMIC_RELAXED);
	case 1:
		return __atomic_load_n((const uint16_t *)(const void *)p, __ATOMIC_RELAXED);
	default:
		return __atomic_load_n((const uint32_t *)(const void *)p, __ATOMIC_RELAXED);
	}
}

/** memory_write() - store an element of 1 << @log2_size bytes */
INLINE void memory_write(uint8_t *p, unsigned int log2_size, uint32_t value)
{
	switch (log2_size) {
	case 0:
		__atomic_store_n(p, (uint8_t)value, __ATOMIC_RELAXED);
		break;
	case 1:
		__atomic_store_n((uint16_t *)(void *)p, (uint16_t)value, __ATOMIC_RELAXED);
		break;
	default:
		__atomic_store_n((uint32_t *)(void *)p, value, __ATOMIC_RELAXED);
	}
}

/* Bytes behind a row that the simdgroups after the next ones access, if they go on in it */
#define MEMORY_AHEAD	2048

/**
 * memory_prefetch() - have the host fetch what follows a row of so many bytes
 *
 * Between the rows of two simdgroups are too many instructions for the host to find the next one in
 * time. The address need not be mapped.
 */
INLINE void memory_prefetch(const uint8_t *host, unsigned int bytes, bool is_store)
{
	unsigned int at;

	for (at = MEMORY_AHEAD; at < MEMORY_AHEAD + bytes; at += 64) {
		if (is_store)
			__builtin_prefetch(host + at, 1);
		else
			__builtin_prefetch(host + at, 0);
	}
}

#endif /* VAGX_JIT_MEMORY_H */
