// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Numbers that decide what the hardware leaves open: which of two commands
 * begins first, and when.
 */
#include "draw.h"

/* Spreads any change of its input over all bits (the finalizer of splitmix64) */
static uint64_t draw_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

uint64_t vagx_draw(uint64_t seed, unsigned int purpose, uint64_t a, uint64_t b)
{
	return draw_mix(draw_mix(draw_mix(seed + purpose) + a) + b);
}
