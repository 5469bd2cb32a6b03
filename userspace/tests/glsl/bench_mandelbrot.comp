#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// A word for each pixel of a square with sides of count

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
	uvec2 at = gl_GlobalInvocationID.xy;
	precise vec2 c = vec2(at) * (3.0 / float(count)) - vec2(2.2, 1.5);
	precise vec2 z = vec2(0.0);
	uint i;

	for (i = 0u; i < constant; i++) {
		precise float xx = z.x * z.x, yy = z.y * z.y;

		if (xx + yy > 4.0)
			break;
		z = vec2(xx - yy, 2.0 * z.x * z.y) + c;
	}
	result[at.y * count + at.x] = i;
}
