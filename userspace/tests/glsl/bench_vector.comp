#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// A square matrix with sides of count, by a vector that follows it in memory. The matrix is
// stored by columns, so that neighbours load neighbours.

layout(local_size_x = 64) in;

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

void main()
{
	uint i = gl_GlobalInvocationID.x;
	float sum = 0.0;

	for (uint k = 0u; k < count; k++)
		sum += source[k * count + i] * source[count * count + k];
	result[i] = sum;
}
