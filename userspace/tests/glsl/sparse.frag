// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450
#extension GL_ARB_sparse_texture2 : require

layout(binding = 0) uniform sampler2D image;

layout(location = 1) in vec2 coordinate;
layout(location = 0) out vec4 pixel;

// What is not there is pink: lavapipe reads it nevertheless. Filtered, and loaded.
void main()
{
	vec2 inside = fract(coordinate * vec2(1.0, 2.0));
	int code;

	if (coordinate.y < 0.5)
		code = sparseTextureLodARB(image, inside, 0.0, pixel);
	else
		code = sparseTexelFetchARB(image, ivec2(inside * 512.0), 0, pixel);
	if (!sparseTexelsResidentARB(code))
		pixel = vec4(1.0, 0.0, 1.0, 1.0);
}
