// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(quads, fractional_odd_spacing, cw) in;

layout(location = 0) in vec4 colour[];
layout(location = 0) out vec4 out_colour;

void main()
{
	vec2 at = gl_TessCoord.xy;

	gl_Position = mix(mix(gl_in[0].gl_Position, gl_in[1].gl_Position, at.x),
			  mix(gl_in[3].gl_Position, gl_in[2].gl_Position, at.x), at.y);
	out_colour = mix(mix(colour[0], colour[1], at.x), mix(colour[3], colour[2], at.x), at.y);
}
