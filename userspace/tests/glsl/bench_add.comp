#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// As little as a dispatch can do

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
	result[gl_GlobalInvocationID.x] += constant;
}
