// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(triangles, equal_spacing, ccw) in;

layout(location = 0) in vec4 colour[];
layout(location = 0) out vec4 out_colour;

// The middles of edges bend inwards, so that how often an edge is divided shows
void main()
{
	vec3 at = gl_TessCoord;
	vec3 bent = at * at;

	bent /= bent.x + bent.y + bent.z;
	gl_Position = vec4(0, 0, 0.5, 1);
	for (int i = 0; i < 3; i++)
		gl_Position.xy += (0.4 * at[i] + 0.6 * bent[i] - 0.2 * at[(i + 1) % 3] *
				   at[(i + 2) % 3]) * gl_in[i].gl_Position.xy;
	out_colour = at.x * colour[0] + at.y * colour[1] + at.z * colour[2];
}
