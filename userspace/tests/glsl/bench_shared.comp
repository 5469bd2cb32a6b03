#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// Sums over all threads of a group, one after the other

#define GROUP 256u

layout(local_size_x = 256) in;

layout(set = 0, binding = 1) buffer Result {
	uint result[];
};
layout(push_constant) uniform Constants {
	uint count;
	uint constant;
};

shared uint words[GROUP];

void main()
{
	uint i = gl_LocalInvocationIndex;
	uint value = gl_GlobalInvocationID.x;

	for (uint round = 0u; round < constant; round++) {
		words[i] = value;
		barrier();
		for (uint step = GROUP / 2u; step > 0u; step >>= 1) {
			if (i < step)
				words[i] += words[i + step];
			barrier();
		}
		value = value * 3u + words[0];
		barrier();
	}
	result[gl_GlobalInvocationID.x] = value;
}
