#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// The corners of a rectangle, as a strip of two triangles

layout(push_constant) uniform Constants {
	vec4 rectangle;
	vec4 colour;
	vec2 repeats;
};

layout(location = 0) out vec4 out_colour;
layout(location = 1) out vec2 coordinate;

void main()
{
	vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);

	gl_Position = vec4(rectangle.xy + corner * rectangle.zw, 0.5, 1.0);
	out_colour = colour;
	coordinate = corner * repeats;
}
