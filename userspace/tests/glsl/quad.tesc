// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(vertices = 4) out;

layout(location = 0) in vec4 colour[];
layout(location = 0) out vec4 out_colour[];

void main()
{
	gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
	out_colour[gl_InvocationID] = colour[gl_InvocationID];
	gl_TessLevelInner[0] = 3;
	gl_TessLevelInner[1] = 2;
	gl_TessLevelOuter[0] = 2;
	gl_TessLevelOuter[1] = 3;
	gl_TessLevelOuter[2] = 4;
	gl_TessLevelOuter[3] = 5;
}
