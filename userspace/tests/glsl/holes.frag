// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 pixel;

// Drops every other block of four by four pixels
void main()
{
	uvec2 block = uvec2(gl_FragCoord.xy) / 4u;

	if (((block.x ^ block.y) & 1u) != 0u)
		discard;
	pixel = colour;
}
