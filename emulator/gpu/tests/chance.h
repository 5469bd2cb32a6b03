/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Random numbers of tests: the same on every machine, by a seed that a failure prints and that
 * the environment can change (VAGX_SEED).
 */
#ifndef CHANCE_H
#define CHANCE_H

#include <stdint.h>
#include <stdlib.h>

#define CHANCE_SEED	1

/** struct chance - the state of a sequence (SplitMix64) */
struct chance {
	uint64_t seed;
	uint64_t state;
};

/** chance_begin() - begin a sequence: number @stream of the seed's */
static inline struct chance chance_begin(uint64_t stream)
{
	const char *seed = getenv("VAGX_SEED");
	struct chance c = { .seed = seed ? strtoull(seed, NULL, 0) : CHANCE_SEED };

	c.state = c.seed * 0xd1342543de82ef95 + stream * 0x2545f4914f6cdd1d;
	return c;
}

/** chance_bits() - the next 32 bits */
static inline uint32_t chance_bits(struct chance *c)
{
	uint64_t z = c->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (uint32_t)((z ^ z >> 31) >> 32);
}

/** chance_pick() - a number from 0 to @count - 1 */
static inline unsigned int chance_pick(struct chance *c, unsigned int count)
{
	return (unsigned int)((uint64_t)chance_bits(c) * count >> 32);
}

/** chance_fraction() - a number from 0 to 1, without 1, of 24 bits: a float has all of them */
static inline double chance_fraction(struct chance *c)
{
	return (chance_bits(c) >> 8) * 0x1p-24;
}

#endif /* CHANCE_H */
