// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(triangles) in;
layout(triangle_strip, max_vertices = 9) out;

layout(location = 0) in vec4 colour[];
layout(location = 0) out vec4 out_colour;

// The triangle, in another colour on each of three layers
void main()
{
	for (int layer = 0; layer < 3; layer++) {
		for (int i = 0; i < 3; i++) {
			gl_Position = gl_in[i].gl_Position;
			gl_Layer = layer;
			out_colour = colour[layer];
			EmitVertex();
		}
		EndPrimitive();
	}
}
