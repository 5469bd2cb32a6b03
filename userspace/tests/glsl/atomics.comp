#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

/* Operations whose outcome does not depend on the order */
void main()
{
	uint a = word(0);
	uint n = gl_GlobalInvocationID.x;

	if (n < 16u)
		put(0u);
	/* From here on everything is in rows that the host sets to zero */
	atomicAdd(result[count + (a & 7u)], a);
	atomicMin(result[2u * count + (a & 7u)], a | 1u);
	atomicMax(result[3u * count + (a & 7u)], a);
	atomicAnd(result[4u * count + (a & 7u)], a);
	atomicOr(result[5u * count + (a & 7u)], a);
	atomicXor(result[6u * count + (a & 7u)], a);
	/* The last of all is the one that makes it full */
	uint before = atomicAdd(result[7u * count], 1u);
	if (before == count - 1u)
		result[7u * count + 1u] = 0x600du;
	/* One of all wins */
	if (atomicCompSwap(result[7u * count + 2u], 0u, 1u) == 0u)
		atomicAdd(result[7u * count + 3u], 1u);
	if (atomicExchange(result[7u * count + 4u], 5u) == 0u)
		atomicAdd(result[7u * count + 5u], 1u);
}
