#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// Each texel of an image, with its channels in another order

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, rgba8) uniform readonly image2D from;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D to;

void main()
{
	ivec2 at = ivec2(gl_GlobalInvocationID.xy);

	imageStore(to, at, imageLoad(from, at).bgra);
}
