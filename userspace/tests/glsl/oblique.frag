// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(binding = 0) uniform sampler2D flat_stripes;
layout(binding = 1) uniform samplerCube cube_stripes;
layout(binding = 2) uniform samplerCube cube_blurred;

layout(location = 1) in vec2 coordinate;
layout(location = 0) out vec4 pixel;

// Around the middle of the sides, whose edges are between pixels: lavapipe mixes no faces
vec3 around(vec2 at)
{
	float turn = 6.2832 * at.x;

	return vec3(cos(turn), 0.2 * at.y - 0.1, sin(turn));
}

// From pixel to pixel many texels along the stripes, and few across them
void main()
{
	vec2 inside = fract(coordinate * 2.0);
	uvec2 cell = uvec2(gl_FragCoord.xy) / 32u;

	vec4 planar = texture(flat_stripes, inside * vec2(4.0, 0.3));
	vec4 sharp = texture(cube_stripes, around(inside));
	vec4 blurred = texture(cube_blurred, around(inside));
	vec4 up = texture(cube_stripes, vec3(1.0, 4.0 * inside.x, 0.5 * inside.y - 0.2));

	switch (cell.y * 2u + cell.x) {
	case 0:
		pixel = planar;
		break;
	case 1:
		pixel = sharp;
		break;
	case 2:
		pixel = blurred;
		break;
	case 3:
		pixel = up;
		break;
	}
}
