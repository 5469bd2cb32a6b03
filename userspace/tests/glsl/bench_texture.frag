#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

layout(set = 0, binding = 0) uniform sampler2D image;

layout(location = 1) in vec2 coordinate;
layout(location = 0) out vec4 pixel;

void main()
{
	pixel = texture(image, coordinate);
}
