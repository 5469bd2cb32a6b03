#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

void main()
{
	float a = number(0), b = number(1), c = number(2);
	int exponent;

	put(a + b);
	put(a - b);
	put(a * b);
	precise float product = a * b;
	put(product + c);
	put(a / b);
	put(1.0 / c);
	put(sqrt(abs(a)));
	put(inversesqrt(abs(b)));
	put(floor(a));
	put(ceil(b));
	put(trunc(a));
	put(roundEven(b));
	put(fract(c));
	put(mod(a, 3.0));
	put(min(a, b));
	put(max(b, c));
	put(clamp(a, 0.0, 1.0));
	put(abs(a) - sign(b));
	put(mix(a, b, 0.25));
	put(step(a, b));
	put(a < b);
	put(a >= b);
	put(a != a);
	put(a == b || b > c);
	put(dot(vec3(a, b, c), vec3(0.5, 0.25, 2.0)));
	put(ldexp(a, 3));
	put(frexp(b, exponent));
	put(exponent);
	put(-a);
	put(b / 1e30 * 1e30);
}
