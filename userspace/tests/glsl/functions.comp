#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

void main()
{
	float a = mod(number(0), 6.0), b = abs(mod(number(1), 9.0)) + 0.01;

	put(sin(a));
	put(cos(a));
	put(exp2(a));
	put(exp(a * 0.5));
	put(log2(b));
	put(log(b));
	put(pow(b, 1.7));
	put(tan(a * 0.2));
	put(atan(a));
	put(atan(a, b));
	put(asin(a / 6.0));
	put(acos(a / 6.0));
	put(length(vec2(a, b)));
	put(normalize(vec3(a, b, 1.0)).y);
	put(smoothstep(0.0, 6.0, a));
	put(tanh(a));
}
