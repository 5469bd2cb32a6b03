// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450
#extension GL_ARB_sparse_texture2 : require

layout(binding = 0) uniform sampler2DArray blocks;
layout(binding = 1) uniform sampler2DArray edges;
layout(binding = 2) uniform sampler2DArray oblong;
layout(binding = 3) uniform sampler2DArray small;

layout(location = 1) in vec2 coordinate;
layout(location = 0) out vec4 pixel;

// What is not there is pink: lavapipe reads it nevertheless
vec4 shown(int code, vec4 texel)
{
	return sparseTexelsResidentARB(code) ? texel : vec4(1.0, 0.0, 1.0, 1.0);
}

// A channel of four texels, two that are beside where they are looked for, or one channel
int look_rarely(sampler2DArray image, vec3 place, int level, out vec4 texel)
{
	const ivec2 beside = ivec2(-5, 7);
	ivec2 size = textureSize(image, level).xy;
	ivec2 at = clamp(ivec2(place.xy * size), ivec2(5, 0), size - ivec2(1, 8));
	int code;

	switch (level) {
	case 0:
		return sparseTextureGatherARB(image, place, texel, 2);
	case 1:
		return sparseTexelFetchOffsetARB(image, ivec3(at, place.z), level, beside, texel);
	case 2:
		return sparseTextureLodOffsetARB(image, place, 0.25, beside, texel);
	default:
		code = sparseTextureLodARB(image, place, 0.25, texel);
		texel = texel.gggg;
		return code;
	}
}

// Filtered in two ways, loaded, or as above. Lavapipe does not say what is there if a filter
// between two levels is on one of them.
vec4 look(sampler2DArray image, vec2 at, uvec2 which, uint how)
{
	int layer = int(which.x) % textureSize(image, 0).z;
	int level = int(which.y);
	vec3 place = vec3(at, layer);
	vec4 texel = vec4(0.0);
	int code;

	switch (how) {
	case 0:
		code = sparseTextureLodARB(image, place, level + 0.25, texel);
		break;
	case 1:
		code = sparseTextureLodARB(image, place, level + 0.6, texel);
		break;
	case 2:
		code = sparseTexelFetchARB(image, ivec3(at * textureSize(image, level).xy, layer),
					   level, texel);
		break;
	default:
		code = look_rarely(image, place, level, texel);
		break;
	}
	return shown(code, texel);
}

// An image in each row; all of a level, of the layers beside each other, in 16 pixels
void main()
{
	uvec2 cell = uvec2(gl_FragCoord.xy) / 64u;
	uvec2 which = uvec2(gl_FragCoord.xy) / 16u % 4u;
	vec2 at = fract(gl_FragCoord.xy / 16.0);

	switch (cell.y) {
	case 0:
		pixel = look(blocks, at, which, cell.x);
		break;
	case 1:
		pixel = look(edges, at, which, cell.x);
		break;
	case 2:
		pixel = look(oblong, at, which, cell.x);
		break;
	case 3:
		pixel = look(small, at, which, cell.x);
		break;
	}
}
