// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(push_constant) uniform Constants {
	vec4 step;
};

layout(location = 0) in vec4 position;
layout(location = 1) in vec4 colour;
layout(location = 2) in vec2 coordinate;

layout(location = 0) out vec4 out_colour;
layout(location = 1) out vec2 out_coordinate;

void main()
{
	gl_Position = position + float(gl_InstanceIndex) * step;
	out_colour = colour;
	out_coordinate = coordinate;
}
