#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// Never ends unless somebody writes to the first word of the result. It stores all the
// time, so that no compiler may take it for a loop without an effect.

layout(local_size_x = 64) in;

layout(set = 0, binding = 1) coherent volatile buffer Result {
	uint result[];
};

void main()
{
	uint n = 0u;

	while (result[0] != 0xffffffffu) {
		n++;
		result[1u + gl_LocalInvocationIndex] = n;
		memoryBarrierBuffer();
	}
}
