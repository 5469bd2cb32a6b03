// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(triangles) in;
layout(triangle_strip, max_vertices = 6) out;

layout(location = 0) in vec4 colour[];
layout(location = 0) out vec4 out_colour;

// Two triangles, each half as large, of one colour each
void main()
{
	for (int copy = 0; copy < 2; copy++) {
		for (int i = 0; i < 3; i++) {
			gl_Position = gl_in[i].gl_Position;
			gl_Position.xy = gl_Position.xy * 0.5 + float(2 * copy - 1) * 0.4;
			out_colour = colour[copy];
			EmitVertex();
		}
		EndPrimitive();
	}
}
