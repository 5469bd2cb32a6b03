// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(binding = 0) uniform sampler2D nearest;
layout(binding = 1) uniform sampler2D mips;
layout(binding = 2) uniform sampler2D bordered;

layout(location = 1) in vec2 coordinate;
layout(location = 0) out vec4 pixel;

const ivec2 offsets[4] = ivec2[](ivec2(-8, 0), ivec2(7, 1), ivec2(0, -5),
				 ivec2(3, 3));

// Each square of 16 pixels shows the texture in another way
void main()
{
	vec2 inside = fract(coordinate * 4.0) * 1.2 - 0.0871;
	uvec2 cell = uvec2(gl_FragCoord.xy) / 16u;

	// levels that are not between two
	vec4 automatic = texture(nearest, inside);
	vec4 biased = texture(nearest, inside, 2.0);
	vec2 lod = textureQueryLod(nearest, inside);

	switch (cell.y * 4u + cell.x) {
	case 0:
		pixel = textureLod(mips, inside, 0.0);
		break;
	case 1:
		pixel = textureLod(mips, inside, inside.x * 5.0);
		break;
	case 2:
		pixel = textureGrad(mips, inside, vec2(0.125, 0.0),
				    vec2(0.0, 0.0625));
		break;
	case 3:
		pixel = textureGrad(bordered, inside, vec2(0.0, 0.001),
				    vec2(0.01, 0.125));
		break;
	case 4:
		pixel = textureOffset(nearest, inside, ivec2(3, -2));
		break;
	case 5:
		pixel = textureLodOffset(mips, inside, 1.0, ivec2(-8, 7));
		break;
	case 6:
		pixel = texelFetchOffset(nearest, ivec2(inside * 16.0), 1,
					 ivec2(-1, 2));
		break;
	case 7:
		pixel = textureGradOffset(nearest, inside, vec2(0.06, 0.0),
					  vec2(0.0), ivec2(1, 1));
		break;
	case 8:
		pixel = textureGather(nearest, inside, 0);
		break;
	case 9:
		pixel = textureGather(mips, inside, 1);
		break;
	case 10:
		pixel = textureGather(bordered, inside, 2);
		break;
	case 11:
		pixel = textureGatherOffset(mips, inside, ivec2(-3, 4), 3);
		break;
	case 12:
		pixel = textureGatherOffsets(mips, inside, offsets, 0);
		break;
	case 13:
		pixel = vec4(lod.x / 4.0, lod.y / 4.0, 0.0, 1.0);
		break;
	case 14:
		pixel = biased;
		break;
	case 15:
		pixel = automatic;
		break;
	}
}
