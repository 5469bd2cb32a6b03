// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 pixel;

// Other samples in each second column
void main()
{
	gl_SampleMask[0] = (uint(gl_FragCoord.x) & 1u) != 0u ? 6 : 1;
	pixel = colour;
}
