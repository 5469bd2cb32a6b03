// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) \
	X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

#define IMAGE(n) layout(binding = n) uniform sampler2D image##n;
EACH(IMAGE)

layout(location = 1) in vec2 coordinate;
layout(location = 0) out vec4 pixel;

#define SAMPLE(n) case n: \
	pixel = textureLod(image##n, inside, 0.0); \
	break;

// One texture after the other, in rows of four
void main()
{
	vec2 inside = fract(coordinate * 4.0);
	uvec2 cell = uvec2(coordinate * 4.0);

	pixel = vec4(0.0);
	switch (cell.y * 4u + cell.x) {
	EACH(SAMPLE)
	}
	// what is negative is to be seen, too
	if (any(lessThan(pixel, vec4(0.0))))
		pixel = vec4(0.5) - 0.5 * pixel;
}
