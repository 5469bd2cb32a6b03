#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

void main()
{
	uint n = gl_GlobalInvocationID.x;
	precise vec2 c = vec2(float(n & 63u), float(n >> 6)) * (1.0 / 32.0) -
			 vec2(1.5, 1.0);
	precise vec2 z = vec2(0.0);
	uint i;

	for (i = 0u; i < constant; i++) {
		precise float xx = z.x * z.x, yy = z.y * z.y;

		if (xx + yy > 4.0)
			break;
		precise float xy = z.x * z.y;
		z = vec2(xx - yy, xy + xy) + c;
	}
	put(i);
}
