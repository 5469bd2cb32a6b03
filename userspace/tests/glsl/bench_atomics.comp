#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// Many threads that add to few words

layout(local_size_x = 64) in;

layout(set = 0, binding = 1) buffer Result {
	uint result[];
};
layout(push_constant) uniform Constants {
	uint count;
	uint constant;
};

void main()
{
	uint i = gl_GlobalInvocationID.x;

	for (uint round = 0u; round < constant; round++)
		atomicAdd(result[(i + round) & 3u], (i & 7u) + 1u);
}
