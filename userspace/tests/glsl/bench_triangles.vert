#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// Triangles all over the screen, each in a square of a quarter of its sides

layout(location = 0) out vec4 colour;

// Numbers from 0 to 1 that look like chance, and are exact
vec4 some(uint n)
{
	uint bits = n * 747796405u + 2891336453u;

	bits = ((bits >> ((bits >> 28) + 4u)) ^ bits) * 277803737u;
	bits = (bits >> 22) ^ bits;
	return vec4((uvec4(bits) >> uvec4(0u, 8u, 16u, 24u)) & 255u) / 256.0;
}

void main()
{
	uint triangle = uint(gl_VertexIndex) / 3u;
	vec2 middle = some(1000u + triangle).xy * 1.75 - 0.875;
	vec2 corner = some(uint(gl_VertexIndex)).xy * 0.5 - 0.25;

	gl_Position = vec4(middle + corner, 0.5, 1.0);
	colour = vec4(some(2000u + triangle).rgb, 1.0);
}
