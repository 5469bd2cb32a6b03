#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// Takes its time. A processor knows the result without going all the rounds: each of them
// is a multiplication and an addition.

layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Source {
	uint source[];
};
layout(set = 0, binding = 1) buffer Result {
	uint result[];
};
layout(push_constant) uniform Constants {
	uint rounds;
	uint constant;
};

void main()
{
	uint n = source[gl_GlobalInvocationID.x] + constant;
	uint i;

	for (i = 0u; i < rounds; i++)
		n = n * 1664525u + 1013904223u;
	result[gl_GlobalInvocationID.x] = n;
}
