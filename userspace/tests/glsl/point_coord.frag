// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 pixel;

void main()
{
	pixel = vec4(gl_PointCoord, colour.b, 1);
}
