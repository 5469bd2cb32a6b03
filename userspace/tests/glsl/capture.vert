// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(push_constant) uniform Constants {
	vec4 step;
};

layout(location = 0) in vec4 position;
layout(location = 1) in vec4 colour;

layout(location = 0, xfb_buffer = 0, xfb_stride = 32, xfb_offset = 0) out vec4 out_colour;
layout(location = 1, xfb_buffer = 0, xfb_offset = 16) out vec4 moved;

void main()
{
	gl_Position = position + float(gl_InstanceIndex) * step;
	moved = gl_Position;
	out_colour = colour;
}
