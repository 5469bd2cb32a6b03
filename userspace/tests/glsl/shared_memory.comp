#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

shared uint words[64];
shared vec4 vectors[64];
shared uint histogram[16];
shared uint largest;

void main()
{
	uint i = gl_LocalInvocationIndex;
	uint a = word(0);

	words[i] = a;
	vectors[i] = vec4(float(a & 0xffu), float(i), 1.0, 2.0);
	if (i < 16u)
		histogram[i] = 0u;
	if (i == 0u)
		largest = 0u;
	barrier();

	/* the sum of the group, as a tree */
	for (uint step = 32u; step > 0u; step >>= 1) {
		if (i < step)
			words[i] += words[i + step];
		barrier();
	}
	put(words[0]);
	put(vectors[63u - i].x + vectors[(i * 5u) & 63u].y);

	atomicAdd(histogram[a & 15u], 1u);
	atomicMax(largest, a);
	barrier();
	put(histogram[i & 15u]);
	put(largest);
}
