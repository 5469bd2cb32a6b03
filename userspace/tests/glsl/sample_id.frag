// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 pixel;

// A sample's place on the colour's edge shows, and which it is
void main()
{
	pixel = vec4(colour.r, float(gl_SampleID) * 0.25, fract(gl_FragCoord.x * 0.5), 1);
}
