#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// The product of two square matrices with sides of count, tile by tile through shared
// memory. Each thread has one result.

#define TILE 16u

layout(local_size_x = 16, local_size_y = 16) in;

layout(set = 0, binding = 0) readonly buffer Source {
	float source[];
};
layout(set = 0, binding = 1) writeonly buffer Result {
	float result[];
};
layout(push_constant) uniform Constants {
	uint count;
	uint constant;
};

shared float left[TILE][TILE];
shared float right[TILE][TILE];

void main()
{
	uvec2 at = gl_GlobalInvocationID.xy, i = gl_LocalInvocationID.xy;
	float sum = 0.0;

	for (uint first = 0u; first < count; first += TILE) {
		left[i.y][i.x] = source[at.y * count + first + i.x];
		right[i.y][i.x] = source[(count + first + i.y) * count + at.x];
		barrier();
		for (uint k = 0u; k < TILE; k++)
			sum += left[i.y][k] * right[k][i.x];
		barrier();
	}
	result[at.y * count + at.x] = sum;
}
