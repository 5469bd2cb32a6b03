#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

uint collatz(uint n)
{
	uint steps = 0u;

	while (n != 1u && steps < 500u) {
		n = (n & 1u) != 0u ? 3u * n + 1u : n >> 1;
		steps++;
	}
	return steps;
}

uint chosen(uint n)
{
	switch (n % 7u) {
	case 0u:
		return n * 3u;
	case 1u:
	case 2u:
		n += 100u;
	case 3u:
		n ^= 0x55u;
		break;
	case 4u:
		for (uint i = 0u; i < 5u; i++)
			n = n * 5u + i;
		break;
	default:
		return 1u;
	}
	return n;
}

uint search(uint start)
{
	uint sum = 0u;

	for (uint i = 0u; i < 30u; i++) {
		uint w = word(start + i);

		if ((w & 3u) == 0u)
			continue;
		for (uint j = 0u; j < 4u; j++) {
			if ((w >> j & 0x101u) == 0x101u)
				break;
			sum += j + i;
			if (sum > 200u)
				return sum;
		}
		if ((w & 0x700u) == 0x300u)
			break;
	}
	return sum * 2u;
}

void main()
{
	uint a = word(0) % 1000u + 1u;

	put(collatz(a));
	put(chosen(a));
	put(search(a));
	if (a > 500u) {
		if ((a & 1u) != 0u)
			put(a);
		else
			put(a * 2u);
	} else if (a > 250u) {
		put(7u);
	} else {
		put(a > 100u && (a & 2u) != 0u ? 1u : 0u);
	}
	do {
		a = a * 11u % 1009u;
	} while (a > 20u);
	put(a);
}
