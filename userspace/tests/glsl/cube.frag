// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(binding = 0) uniform samplerCube nearest;
layout(binding = 1) uniform samplerCube linear;
layout(binding = 2) uniform samplerCubeArray array;
layout(binding = 3) uniform samplerCube mips;

layout(location = 1) in vec2 coordinate;
layout(location = 0) out vec4 pixel;

// Four times all directions
void main()
{
	vec2 inside = fract(coordinate * 2.0);
	uvec2 cell = uvec2(gl_FragCoord.xy) / 32u;
	vec2 angle = vec2(6.2832, 3.1416) * (inside - vec2(0.01, 0.5));
	vec3 direction = vec3(cos(angle.x) * cos(angle.y), sin(angle.y),
			      sin(angle.x) * cos(angle.y));

	switch (cell.y * 2u + cell.x) {
	case 0:
		pixel = textureLod(nearest, direction, 0.0);
		break;
	case 1:
		pixel = textureLod(linear, direction, 0.0);
		break;
	case 2:
		pixel = textureLod(array, vec4(direction, 1.2), 0.0);
		break;
	case 3:
		pixel = textureLod(mips, direction, inside.x * 2.0);
		break;
	}
}
