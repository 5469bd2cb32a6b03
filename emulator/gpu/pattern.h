/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What a seed chooses. What registers and memory have before anybody writes them: garbage, as on
 * a machine, but the same in each run with a seed. A shader that relies on it fails here, too.
 *
 * Each half of a word is a number of 20,544 or more and a 16-bit float of at least 32, and each
 * word a float of at least 2^33, all of either sign. So garbage is neither a small number, nor the
 * index of anything, nor one that comparisons treat in a way of their own; a pair of words is no
 * address.
 */
#ifndef VAGX_PATTERN_H
#define VAGX_PATTERN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** enum vagx_pattern_space - whose garbage it is */
enum vagx_pattern_space {
	VAGX_PATTERN_REGISTERS,
	VAGX_PATTERN_UNIFORMS,
	VAGX_PATTERN_SHARED,
	VAGX_PATTERN_PRIVATE,
	VAGX_PATTERN_TILE,
	VAGX_PATTERN_OUTPUTS,
};

/** VAGX_PATTERN_LINE - bytes after which garbage in memory repeats */
#define VAGX_PATTERN_LINE	64

/** vagx_pattern_mix() - a number in which each bit depends on all bits of a seed and of @n */
static inline uint32_t vagx_pattern_mix(uint32_t seed, uint32_t n)
{
	uint32_t x = (seed + 1) * 0x9e3779b1u ^ n * 0x85ebca77u;

	x = (x ^ x >> 15) * 0x2c1b3c6du;
	x = (x ^ x >> 12) * 0x297a2d39u;
	return x ^ x >> 15;
}

/** vagx_pattern_pick() - a number below @bound, by a seed and @n */
static inline uint32_t vagx_pattern_pick(uint32_t seed, uint32_t n, uint32_t bound)
{
	return (uint32_t)((uint64_t)vagx_pattern_mix(seed, n) * bound >> 32);
}

/** vagx_pattern() - word @n of a space */
static inline uint32_t vagx_pattern(uint32_t seed, enum vagx_pattern_space space, uint32_t n)
{
	return (vagx_pattern_mix(seed, (uint32_t)space << 16 | n) & 0x8fff8fff) | 0x50405040;
}

/** vagx_pattern_fill() - fill memory that begins at a multiple of VAGX_PATTERN_LINE of a space */
static inline void vagx_pattern_fill(uint32_t seed, enum vagx_pattern_space space, void *memory,
				     size_t bytes)
{
	uint32_t line[VAGX_PATTERN_LINE / sizeof(uint32_t)];
	uint8_t *to = memory;
	unsigned int i;

	if (!bytes)
		return;
	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++)
		line[i] = vagx_pattern(seed, space, i);
	for (; bytes >= sizeof(line); bytes -= sizeof(line), to += sizeof(line))
		memcpy(to, line, sizeof(line));
	memcpy(to, line, bytes);
}

#endif /* VAGX_PATTERN_H */
