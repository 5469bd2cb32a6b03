// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(binding = 0) uniform sampler2DShadow linear;
layout(binding = 1) uniform sampler2DShadow nearest;
layout(binding = 2) uniform sampler2DArrayShadow array;
layout(binding = 3) uniform samplerCubeShadow cube;

layout(location = 1) in vec2 coordinate;
layout(location = 0) out vec4 pixel;

void main()
{
	vec2 inside = fract(coordinate * 4.0) * 1.3 + 0.013;
	uvec2 cell = uvec2(gl_FragCoord.xy) / 16u;
	vec3 direction = vec3(inside - 0.7, 0.6);
	float shade = 0.0;

	pixel = vec4(0.0);
	switch (cell.y * 4u + cell.x) {
	case 0:
		shade = textureLod(linear, vec3(inside, 0.3), 0.0);
		break;
	case 1:
		shade = textureLod(linear, vec3(inside, inside.x), 0.0);
		break;
	case 2:
		shade = textureLod(nearest, vec3(inside, 0.4), 0.0);
		break;
	case 3:
		// depths of 16 bits are never above this
		shade = textureLod(nearest, vec3(inside, 1.7), 0.0);
		break;
	case 4:
		shade = textureGrad(array, vec4(inside, 1.0, 0.5), vec2(0.1),
				    vec2(0.2));
		break;
	case 5:
		shade = textureGrad(array, vec4(inside, 2.3, 0.5), vec2(0.1),
				    vec2(0.2));
		break;
	case 6:
		shade = textureLodOffset(linear, vec3(inside, 0.6), 0.0,
					 ivec2(-3, 2));
		break;
	case 7:
		shade = textureLodOffset(nearest, vec3(inside, 0.6), 0.0,
					 ivec2(7, -8));
		break;
	case 8:
		pixel = textureGather(linear, inside, 0.5);
		break;
	case 9:
		pixel = textureGatherOffset(nearest, inside, 0.3, ivec2(5, -6));
		break;
	case 10:
		pixel = textureGather(array, vec3(inside, 1.0), 0.7);
		break;
	case 11:
		pixel = textureGather(cube, direction, 0.4);
		break;
	default:
		shade = textureGrad(cube, vec4(cell.x == 0u ? direction :
				    cell.x == 1u ? direction.zxy :
				    cell.x == 2u ? -direction :
				    -direction.yzx, 0.45), vec3(0.0), vec3(0.0));
		break;
	}
	pixel.rgb += shade;
	pixel.a = 1.0;
}
