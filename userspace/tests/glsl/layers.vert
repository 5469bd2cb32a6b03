// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450
#extension GL_ARB_shader_viewport_layer_array : require

layout(push_constant) uniform Constants {
	vec4 step;
};

layout(location = 0) in vec4 position;
layout(location = 1) in vec4 colour;

layout(location = 0) out vec4 out_colour;

void main()
{
	gl_Position = position + float(gl_InstanceIndex) * step;
	gl_Layer = gl_InstanceIndex;
	out_colour = colour;
}
