// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(location = 0) in vec4 position;
layout(location = 1) in vec4 colour;

layout(location = 0) out vec4 out_colour;

void main()
{
	// what is interpolated across a point is divided by W and multiplied again
	gl_Position = position * (1 + 3 * colour.r);
	gl_PointSize = colour.a * 16;
	out_colour = colour;
}
