#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#include "common.glsl"

void put(uint16_t value)
{
	put(uint(value));
}

void put(float16_t value)
{
	put(uint(float16BitsToUint16(value)));
}

void main()
{
	uint16_t a = uint16_t(word(0)), b = uint16_t(word(1));
	int16_t sa = int16_t(a), sb = int16_t(b);
	float16_t f = float16_t(number(0)), g = float16_t(number(1));

	put(a + b);
	put(a * b);
	put(a - b);
	put(a >> (b & uint16_t(15)));
	put(int(sa) * int(sb));
	put(uint16_t(min(sa, sb)));
	put(uint16_t(max(a, b)));
	put(a < b);
	put(sa < sb);
	put(uint16_t(sa / (sb | int16_t(1))));
	put(f + g);
	put(f * g);
	put(min(f, g));
	put(f < g);
	put(float(f) + float(g));
	put(floor(f));
	put(float16_t(sa));
	put(uint16_t(abs(f)));
	put(-f);
}
